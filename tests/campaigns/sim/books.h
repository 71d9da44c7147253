/* sim/books.h - the oracle's books: what its own files share.
 *
 *   books.c   runs, grants, the history and how it is printed
 *   change.c  what may become of a record, and why
 *   answer.c  what a call may be answered
 *   follow.c  follow-ups: who asked for them, and which came in
 *   wait.c    waits for ends of runs
 *   batch.c   batches: members, and which callbacks came
 *   enqueue.c the same of ENQUEUE and ENQUEUE_EACH: tickets, keys, limits
 *   oracle.c  engine and producers, snapshots, life; witness.c feeds it from the virtual Redis */
#ifndef CULEX_SIM_BOOKS_H
#define CULEX_SIM_BOOKS_H

#include "world.h"

enum note {
    NOTE_CHANGE,
    NOTE_GRANT,
    NOTE_GRANT_AGAIN,
    NOTE_ACK,
    NOTE_BEAT,
    NOTE_STARTED,
    NOTE_ENDED,
    NOTE_ACKNOWLEDGED,
    NOTE_ROLLED_BACK
};

struct entry {
    uint64_t step;
    int64_t now_ns, store_ms;
    enum note note;
    enum sim_verb verb;
    struct sim_record before, after;
    uint32_t attempt;
    int event;
    char answer;
    char session[SIM_SESSION_SIZE];
};

/* One execution that was granted. */
struct grant {
    uint32_t attempt;
    char session[SIM_SESSION_SIZE];
    uint64_t epoch;
    int64_t sure_ns;      /* boot time until which the worker surely has it, */
    int64_t promised_ns;  /* and until which it has if it heard the answer to the last beat */
    int64_t lease_end_ns; /* by which it has surely lost it */
    bool is_started, is_ended, is_dropped, is_acked, is_accepted;
    bool has_begun;   /* its handler was called, which may be long after is_started */
    bool is_given_up; /* its worker had given it up when its handler came to its end */
    enum culex_run_event ended_as;
    uint64_t nonce;                    /* of the step that granted it */
    uint64_t ack_nonce, refused_nonce; /* of the step that answered a beat with STALE */
};

struct run {
    culex_uuid id;
    struct sim_record record; /* state '-': not in the store */
    struct sim_record marked; /* when the last snapshot was taken */
    bool is_marked;
    bool was_created;
    bool is_acknowledged;
    char queue[8], payload[SIM_PAYLOAD_SIZE];
    uint64_t birth;       /* the call that has brought it, 0 once that was answered */
    unsigned completions; /* in this life */
    char unkept_as;       /* the state that it would have if it had left a record */
    struct grant *grants;
    size_t grant_count;
    struct entry *entries;
    size_t entry_count, entry_cap;
};

struct session {
    int64_t idle_since_ns; /* steps without any effect, within a second */
    unsigned idle_count;
    char name[SIM_SESSION_SIZE], queue[64];
    uint64_t nonce, newest_nonce; /* requests of closed connections may come late */
    bool has_nonce, was_idle;     /* it had nothing to do: a store need not remember that */
    bool is_replaced;             /* its worker lives as another session */
    bool was_fast;                /* its last step was done by step_fast.lua */
    char acks[SIM_CALL_MAX + 1], beats[SIM_CALL_MAX + 1];
};

struct schedule {
    char name[96];
    int64_t mark_ms, marked_ms;
    int64_t asking; /* of the last run out of turn; 0: not known */
    bool has_mark;
    bool is_paused; /* for certain */
};

/* An enqueue call that has brought runs. */
struct order {
    char queue[64];
    struct culex_ticket ticket;
    culex_uuid first; /* of the runs, or the one that it has replaced */
    char answer;      /* N, or R */
    uint64_t epoch;
    int64_t last_ms; /* remembered up to and with this */
};

/* What an idempotency key has brought: as producers were told, or the store itself. */
struct keyed {
    char key[16], payload[SIM_PAYLOAD_SIZE];
    culex_uuid id;
    uint64_t epoch;
    int64_t until_ms;
};

struct named {
    char name[128], session[SIM_SESSION_SIZE], marked[SIM_SESSION_SIZE];
};

struct sim_oracle {
    struct sim_world *world;
    struct sim_dict index; /* id to run's place, as a score */
    struct run **runs;
    size_t run_count, run_cap, live;
    struct session *sessions, *marked_sessions;
    size_t session_count, marked_count;
    struct schedule *schedules;
    size_t schedule_count;
    struct named *workers;
    size_t worker_count;
    struct order *orders;
    size_t order_count;
    struct keys {
        struct keyed *list;
        size_t count;
    } told, kept, windows; /* windows: of unique keys */
    struct tickets {
        struct culex_ticket *list;
        size_t count;
    } left, refused;        /* see sim_oracle_left and sim_oracle_refused */
    struct asking *askings; /* follow.c */
    size_t asking_count;
    struct wait *waits; /* wait.c */
    size_t wait_count;
    struct batch *batches; /* batch.c */
    size_t batch_count;
    int64_t callback_count;
    struct sim_call call;
    uint64_t calls;
    bool is_in_call;
    uint64_t epoch;
    size_t lost;
    int64_t clock_min_ms, clock_max_ms;
};

/* Made when there is none yet, as one whose window is over. */
struct keyed *sim_keyed_find(struct keys *keys, const char *key);

/* Judges the answer of ENQUEUE or ENQUEUE_EACH. */
void sim_enqueue_check(struct sim_oracle *oracle);

/* A run has come, with this record, that is a follow-up, or should be one. */
void sim_follow_came(struct sim_oracle *oracle, const struct run *run,
                     const struct sim_record *record);
/* The step's ack of this place is accepted; or it was before, and is repeated. */
void sim_follow_accepted(struct sim_oracle *oracle, size_t at);
void sim_follow_repeated(const struct sim_oracle *oracle, size_t at);
/* At the end of a step. */
void sim_follow_step_check(struct sim_oracle *oracle);
void sim_follow_mark(struct sim_oracle *oracle);
void sim_follow_roll_back(struct sim_oracle *oracle);

/* The answer to an order for a batch, or to an enqueue of members. */
void sim_batch_ordered(struct sim_oracle *oracle);
void sim_batch_enqueued(struct sim_oracle *oracle);
/* The call brings a member. */
void sim_batch_joined(struct sim_oracle *oracle, culex_uuid id);
/* A run that may be a member is live no more. `end`: D X C. */
void sim_batch_member_ended(struct sim_oracle *oracle, const struct run *run, char end);
/* A callback has come. */
bool sim_batch_is_callback(const char *payload);
void sim_batch_came(struct sim_oracle *oracle, const struct run *run);
/* At the end of a call that has brought runs. */
void sim_batch_call_check(struct sim_oracle *oracle);
void sim_batch_mark(struct sim_oracle *oracle);
void sim_batch_roll_back(struct sim_oracle *oracle);

/* A run is in this state now, by whatever. */
void sim_wait_look(const struct sim_oracle *oracle, const struct run *run, char state);

/* Whoever is at a suspect has nothing else. */
void sim_company_check(struct sim_oracle *oracle, const char *session, culex_uuid id);

/* Names of enum sim_verb. */
extern const char *const sim_verbs[];

bool sim_is_final(char state);
bool sim_is_live(char state);

/* NULL when there never was such a run; made when there is none yet. */
struct run *sim_run_find(const struct sim_oracle *oracle, culex_uuid id);
struct run *sim_run_get(struct sim_oracle *oracle, culex_uuid id);

/* A new line of the run's history, filled but for what the note is about. */
struct entry *sim_entry_add(struct sim_oracle *oracle, struct run *run, enum note note);

/* The newest grant of this attempt to this session; NULL when there is none. */
struct grant *sim_grant_find(const struct run *run, uint32_t attempt, const char *session);

/* Who the worker of this name is now; made when it is new. */
struct named *sim_worker_find(struct sim_oracle *oracle, const char *queue, const char *worker);

/* Judges what run->record becomes. */
void sim_change_check(struct sim_oracle *oracle, struct run *run, const struct sim_record *after);

#endif
