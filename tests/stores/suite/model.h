/* suite/model.h - the reference model: the contract of store/store.h in plain C.
 *
 * An array of runs, searched from end to end; memory is given back at close only. It
 * decides for itself, from the words of store/store.h, and calls none of core/run.c: two
 * opinions are worth more than one. Stores are compared with it, so it must stay small
 * enough to read in one sitting. Sessions are never forgotten here.
 */
#ifndef CULEX_SUITE_MODEL_H
#define CULEX_SUITE_MODEL_H

#include "core/figures.h"
#include "core/needs.h"
#include "store/store.h"

enum { MODEL_BATCH_MAX = CULEX_STORE_BATCH_MAX };

struct model_run {
    culex_uuid id;
    struct model_queue *queue;
    bool is_gone; /* forgotten */
    struct culex_new_run made;
    culex_run_state state;
    uint32_t attempt;
    struct culex_run_counters counters;
    const char *owner; /* session of the newest attempt */
    bool is_started;   /* active: a handler is at it; waiting: its holder vanished */
    bool is_cancel_requested;
    int64_t created_at_ms, expires_at_ms;
    int64_t unique_until_ms; /* 0: its key has no window */
    int64_t at_ms;           /* as in culex_run_info */
    int64_t lease_max_ms;    /* beats extend to here; 0: no bound */
    int64_t place;           /* order among waiting runs: smallest first */
    int64_t ready_ms;        /* when it became ready, by the clock at its furthest */
    int64_t least_ms;        /* that, or with a share the least time of the clock since */
    int64_t most_ms;         /* the same, the furthest: in between is when it came in */
    bool was_clock_behind;   /* the clock had been further before */
    bool was_put_in_front;   /* released or lost: goes before those that queue up */
    bool is_delayed;         /* its time was in the future when it was set */
    bool was_promoted;       /* became ready because its time had come, at `ready_ms` */
    const char *error_text;
    const char *progress; /* as the beat brought it, of the newest attempt */
    const char *log;      /* the lines that it keeps, "" for none */
    const void *result;
    size_t result_len;
    bool is_aside; /* a fair limit has no place for it in the ready order yet */
    bool was_held; /* another one had no room for it, or no place, since it became ready: it takes
                      turns */
    int64_t awaited_ms;        /* until then somebody waits for its end; 0: nobody */
    struct model_batch *batch; /* that it is a member of until it ends; NULL: none */
    bool is_listed; /* for a differential test: in the state of its listing all the time */
    int shown;      /* so often, by that */
};

/* What a session did last in one queue. */
struct model_session {
    struct model_queue *queue;
    const char *name;
    uint64_t nonce;
    bool has_nonce;
    bool is_replaced; /* another session has its worker's name */
    bool is_late;     /* of an answer: the step came behind a later one */
    enum culex_answer acks[MODEL_BATCH_MAX], beats[MODEL_BATCH_MAX];
    culex_uuid ids[MODEL_BATCH_MAX];
    uint32_t attempts[MODEL_BATCH_MAX];
    size_t grant_count;
    struct culex_needs offers; /* what is left of the newest step's */
};

struct model_name { /* a worker's session, or a schedule's mark */
    struct model_queue *queue;
    const char *name;
    const char *session;
    int64_t mark_ms;
    culex_uuid newest; /* run of the schedule */
    int64_t next_ms, asking;
    culex_uuid brought; /* by the call of asking */
    bool is_paused, is_of_calendar, may_overlap;
    const void *template;
    size_t template_len;
};

/* What a producer did last in one queue, of what brought a run. */
struct model_producer {
    struct model_queue *queue;
    struct culex_ticket ticket;
    uint64_t digest;
    int64_t last_ms; /* remembered up to and with this */
    struct culex_enqueue_result *results;
    size_t count;
};

/* An idempotency key. */
struct model_key {
    struct model_queue *queue;
    const char *text;
    uint64_t content;
    culex_uuid id;
    int64_t until_ms; /* not remembered any more then */
};

/* Who was the last to take a unique key. */
struct model_unique {
    struct model_queue *queue;
    const char *text;
    culex_uuid id;
    int64_t until_ms; /* of one without states: it is held until then; else 0 */
    /* A run came back for it at a time when a store may have forgotten that it was held until then,
     * as the clock had been there before: either has it, until the next enqueue tells. */
    bool is_doubtful;
};

/* What a limit is, of one name. */
struct model_limit {
    struct model_queue *queue;
    const char *name;
    enum culex_limit_kind kind;
    culex_limit_value declared, set;
};

/* The bucket of one key of a rate. */
struct model_bucket {
    const struct model_limit *limit;
    const char *key;
    int64_t tat_us; /* when it is full again */
    /* A store may have less, or more: it has forgotten the bucket when it was full, before the
     * clock was set back, or has not cut it yet. */
    int64_t least_us, most_us;
};

/* Of an hour and a job: what was counted. */
struct model_figure {
    struct model_queue *queue;
    int64_t hour;
    const char *job;
    struct culex_figure figure;
    bool is_gone;
};

/* The last call that told figures, of one session. */
struct model_figure_call {
    struct model_queue *queue;
    const char *session;
    uint64_t number;
    int64_t seen_ms;
    bool is_gone;
};

/* Of one key of a fair share, and of runs that need the same: the newest grant. */
struct model_turn {
    const struct model_limit *limit;
    const char *key, *needs;
    uint64_t grant;
};

enum { MODEL_LANES = 16 };

struct model_queue {
    const char *name;
    bool has_salt; /* of its ids; from the first one */
    uint32_t salt;
    uint64_t numbers[MODEL_LANES]; /* of the newest id of each lane */
    culex_queue_stats stats;       /* totals; counts, pause and now are made when asked */
    int64_t paused_until_ms;       /* 0: not paused; INT64_MAX: until it is resumed */
    int64_t longest_lease_ms;
    bool is_begun;           /* a worker said HELLO, or a run was enqueued */
    uint64_t events_kept;    /* 0: none */
    uint64_t events_dropped; /* positions up to this one are told no more */
    culex_event *events;     /* all there were since it began */
    size_t event_count, event_room;
};

/* A batch, with its callbacks by culex_batch_when. */
struct model_batch {
    struct model_queue *queue;
    culex_uuid id;
    culex_batch_info info;
    bool is_gone;
    int64_t keep_ms, at_ms, depth, opened_ms;
    struct model_batch *parent;
    culex_uuid parent_id;          /* zeroes: none */
    const struct model_run *after; /* of AFTER, the run that it is of, until that ends; else NULL */
    struct model_call {
        bool is_given, is_brought;
        struct culex_follow_up call;
    } calls[CULEX_BATCH_ON_DEATH + 1];
};

/* A worker in the registry. */
struct model_presence {
    char id[CULEX_STORE_SESSION_MAX + 1];
    struct culex_worker_row row;
    char sheet[CULEX_STORE_SHEET_MAX];
};

/* What a job keeps in a queue. */
struct model_metadata {
    const struct model_queue *queue;
    char job[CULEX_JOB_NAME_MAX + 1];
    struct culex_metadata_row row; /* version 0: nothing */
    char bytes[CULEX_METADATA_BYTES_MAX];
};

/* The text of a schema, in its order of coming. */
struct model_schema {
    const struct model_queue *queue;
    char job[CULEX_JOB_NAME_MAX + 1];
    struct culex_schema_row row;
    int64_t looked_ms;
    char *text; /* NULL: it is gone */
};

struct model {
    struct culex_store base;
    uint64_t arrivals; /* of all queues, and of runs that were replaced */
    struct model_schema **schemas;
    size_t schema_count;
    struct model_metadata **metadata;
    size_t metadata_count;
    struct model_run **runs;
    size_t run_count;
    struct model_queue **queues;
    size_t queue_count;
    struct model_session **sessions;
    size_t session_count;
    struct model_name **workers;
    size_t worker_count;
    struct model_batch **batches;
    size_t batch_count;
    struct model_presence **presences;
    size_t presence_count;
    struct model_name **schedules;
    size_t schedule_count;
    struct model_producer **producers;
    size_t producer_count;
    struct model_key **keys;
    size_t key_count;
    struct model_unique **uniques;
    size_t unique_count;
    struct model_limit **limits;
    size_t limit_count;
    struct model_bucket **buckets;
    size_t bucket_count;
    struct model_figure **figures;
    size_t figure_count;
    struct model_figure_call **figure_calls;
    size_t figure_call_count;
    struct model_turn **turns;
    size_t turn_count;
    uint64_t grants; /* all there were */
    unsigned told;   /* ends of runs that somebody waited for; the caller takes them */
    uint32_t newest_salt;
    bool has_ties_by_id;     /* the store forgets those of one instant in the order of their ids */
    const culex_uuid *given; /* ids of the next call's runs; NULL: the model makes them */
    const char *id_fault;    /* what is wrong with an id that was given; NULL: nothing */
    int64_t back, front;     /* places given out */
    int64_t newest_ms;       /* the clock at its furthest */
    struct model_block *blocks;
};

struct culex_store *model_open(const struct culex_env *env);

/* The run, gone ones left out; NULL when there is none. */
struct model_run *model_find(struct model *model, const char *queue, culex_uuid id);

/* ENQUEUE and TICK with ids that another store chose: ids[i] is what run i gets, if the model takes
 * it in too. For the next call only. What the contract promises of ids is checked: the first fault
 * stays in `id_fault`. */
void model_give_ids(struct model *model, const culex_uuid *ids);

/* STEP in two halves, for a differential test that lets another store choose the grants.
 * model_step_settle does all but the claims and returns the session's memory, which is
 * already filled when the step is a repeat. A step that comes late counts as a repeat, of nothing.
 */
struct model_session *model_step_settle(struct model *model, const struct culex_step *step,
                                        bool *ret_is_repeat);

/* A STEP of the queue: callbacks of its batches come in. */
void model_callbacks_bring(struct model *model, const struct model_queue *queue);
void model_claim(struct model *model, const struct culex_step *step, struct model_session *session,
                 struct model_run *run);

/* Fills due_in_ms and is_empty; now_ms is given. */
void model_outlook(struct model *model, const struct model_queue *queue,
                   struct culex_step_reply *reply);

/* A store that finds due runs by their time alone takes them for scheduled again when its
 * clock is set back. */
void model_unpromote(struct model *model);

/* The state that readers are told: a scheduled run whose time has come is waiting, before a step
 * has moved it. */
culex_run_state model_state(const struct model *model, const struct model_run *run);
/* What LIST shows, but for where it begins. */
bool model_takes(const struct model *model, const culex_list_filter *filter,
                 const struct model_run *run);

bool model_is_paused(const struct model *model, const struct model_queue *queue);

/* Drops what is forgotten: runs, producers and keys. */
void model_shrink(struct model *model);

/* The run that the model would grant next; NULL when none waits. */
struct model_run *model_next(struct model *model, const struct culex_step *step,
                             const struct model_session *session);
/* What the run needs, "" for nothing. */
const char *model_needs(const struct model_run *run);
/* What the session's step has left to offer has it, or only names it all. */
bool model_fits(const struct model_session *session, const struct model_run *run);
bool model_is_offered(const struct model_session *session, const struct model_run *run);
/* The step gets it not, but what is behind it; or neither, after so many grants. What has expired
 * is not passed: it dies where it is met. */
bool model_is_passed(const struct model *model, const struct culex_step *step,
                     const struct model_run *run);
/* A suspect is passed that stands before `next`, or at all when that is NULL. */
bool model_has_passed(struct model *model, const struct culex_step *step,
                      const struct model_run *next);
bool model_must_wait(const struct culex_step *step, const struct model_run *run, size_t granted);
bool model_is_expired(const struct model *model, const struct model_run *run);
/* It became ready at an instant that is still to come: the clock was set back since. */
bool model_is_early(const struct model *model, const struct model_run *run);
bool model_is_suspect(const struct model_run *run);
void model_expire(struct model *model, struct model_run *run);

/* Nobody promises whether its unique key is free. */
bool model_key_is_doubtful(struct model *model, const struct model_run *run);
/* Each of its limits lets it begin now. */
bool model_has_room(struct model *model, const struct model_run *run);
/* Before each operation: buckets that are full now may be forgotten by it, and who has a share may
 * come in. */
void model_doubt(struct model *model);
/* Whether a store may have no token for it where the model has one. */
bool model_is_open(const struct model *model, const struct model_run *run);
/* The store grants the run: it may have tokens for it that the model has not. Whether it has room
 * then. */
bool model_trust(struct model *model, struct model_run *run);
/* Places in the ready order that are free go to the next of each fair share. */
void model_share(struct model *model, const char *queue);

#endif
