/* sim/oracle.h - the history of every run, and what must never be in it.
 *
 * The oracle sees each change of a record together with the call that made it, and knows from
 * its own books who holds what. It shares nothing with the product but the record's layout.
 * A violation is printed with the seed, the step and the run's history, and ends the program.
 *
 *   I1 I2 I3 I9 I10  the raw keys: check.c (Redis), store.c (SQLite)
 *   I4  attempts grow by one per claim; (run, attempt, session) is granted once
 *   I5  one accepted end per grant, one completion per life; done is final
 *   I6  an acknowledged enqueue is in the books, and leaves them only by the rules; however often
 *       it is sent, one ticket brings its runs once, and while its window lasts one key one run;
 *       of calls that come in one each is judged by itself: enqueue.c
 *   I7  counters never decrease within a life and never pass their limits
 *   I8  dead runs stay until their time, or an operator acts
 *   I10 of the runs with one unique key, one is live; of a key that is kept for a time one comes
 *       within it, and none is held off later; of one whose run may be replaced one has not begun,
 *       and is as the last call wanted it
 *   I11 every end that the engine took from a handler in time reaches the store, and none that
 *       came after the lease
 *   I12 liveness: after healing every run becomes final, those that were parked too (sim.c)
 *   I13 of one limit and key no more runs are at work than the limit in force has room for, and
 *       none begins while those that were at work when it was lowered are too many: slots.c
 *   I14 handlers of a worker have no more units at once than it offers, none where it offers
 *       none; and I12 for what needs some: hands.c
 *   I15 a follow-up comes in once, if the end of the execution that asked for it was accepted as
 *       done, and not otherwise: follow.c
 *   I16 each callback of a batch comes in once when what it tells is so, and not otherwise: batch.c
 *   I17 who waits for a run is told what was so while the call lasted: wait.c */
#ifndef CULEX_SIM_ORACLE_H
#define CULEX_SIM_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <culex/client.h>
#include <culex/types.h>

#include "core/run.h"
#include "core/ticket.h"
#include "redis.h"

struct sim_world;
struct sim_process;
struct sim_oracle;

enum {
    SIM_SESSION_SIZE = 40,
    SIM_CALL_MAX = 256,
    SIM_RIDERS_MAX = 64,
    SIM_PAYLOAD_SIZE = 48,
    SIM_FOLLOW_UPS_MAX = 3
};

enum sim_verb {
    SIM_OTHER,
    SIM_ENQUEUE,
    SIM_EACH,
    SIM_STEP,
    SIM_HELLO,
    SIM_TICK,
    SIM_SCHEDULE_SET,
    SIM_SCHEDULE_RUN,
    SIM_CANCEL,
    SIM_RETRY,
    SIM_FORGET,
    SIM_PURGE,
    SIM_MOVE,
    SIM_FOLLOW, /* Redis: follow-ups come into their queue */
    SIM_BATCH
};

/* What of a record can change, and what its changes depend on. */
struct sim_record {
    char state; /* S W A D X C; '-' when there is none */
    uint32_t attempt, failures, crashes, crash_streak, losses, attempts_max;
    bool has_cancel;
    bool is_started;            /* active: its handler is at work; waiting: its holder vanished */
    bool is_limited, is_parked; /* has limits; Redis: and stands behind one of them */
    int64_t units;              /* that it needs of a worker */
    int64_t at_ms, expires_at_ms, retry_for_ms, timeout_ms;
    int64_t limit_ms; /* active: no lease reaches further; 0 for none */
    char unique_key[8];
    char owner[SIM_SESSION_SIZE];
    char payload[SIM_PAYLOAD_SIZE]; /* of a new one */
    char queue[8];                  /* the same; "": that of the call */
};

/* What unique keys are like, by their first letter: kept while the run lives; kept for a time,
 * whatever becomes of the run; kept until the run begins, which others may replace till then. */
enum { SIM_UNIQUE_LIVE = 'a', SIM_UNIQUE_WINDOW = 'b', SIM_UNIQUE_REPLACED = 'd' };

/* One of the calls of an ENQUEUE_EACH, which has one run; or an ENQUEUE with one. */
struct sim_rider {
    struct culex_ticket ticket; /* of ENQUEUE_EACH */
    char unique_key[8], key[16], payload[SIM_PAYLOAD_SIZE];
    int64_t delay_ms, window_ms, unique_for_ms;
    /* Filled by the answer. */
    char answer;   /* a letter N D C F U R; 0: not told */
    culex_uuid id; /* but with F */
};

/* One call of the store, as asked. */
struct sim_call {
    enum sim_verb verb;
    char queue[64];
    char session[SIM_SESSION_SIZE];
    char worker[64];
    uint64_t nonce;
    int64_t now_ms, lease_ms, tick_ms, interval_ms;
    int64_t asking;      /* of SCHEDULE_RUN */
    char act;            /* of SCHEDULE_SET: p r f */
    bool is_of_calendar; /* TICK */
    uint32_t want;
    culex_uuid id;              /* of CANCEL, RETRY, FORGET */
    struct culex_ticket ticket; /* of ENQUEUE; of producer 0: none */
    size_t rider_count;         /* 0 for an ENQUEUE of several runs */
    int64_t capacity;           /* the limit of ENQUEUE's queue; 0: none */
    bool has_batch;             /* ENQUEUE: of members; BATCH */
    culex_uuid batch;
    char batch_act; /* BATCH: o open, c call, x close */
    int batch_kind; /* of a call, and the number of its run */
    int64_t batch_number, open_ms;
    char batch_answer;   /* O - . > !; of ENQUEUE - and . only */
    size_t births;       /* runs that the call has brought */
    size_t replacements; /* and those that it has made into what it wanted */
    size_t ack_count, beat_count;
    struct {
        culex_uuid id;
        uint32_t attempt;
        enum culex_run_event event;
        int64_t asking; /* of sim_follow_asking */
        bool is_mine, is_settled, has_progress, has_begun;
    } acks[SIM_CALL_MAX];
    struct sim_beat {
        culex_uuid id;
        uint32_t attempt;
        int64_t extend_ms;
        bool is_mine, has_progress, is_started, is_excused;
    } beats[SIM_CALL_MAX];
    /* Filled by the answer. */
    char ack_answers[SIM_CALL_MAX + 1], beat_answers[SIM_CALL_MAX + 1]; /* letters O R S G C F */
    bool says_late; /* or that the session was replaced */
    size_t grant_count;
    struct {
        culex_uuid id;
        uint32_t attempt, losses;
    } grants[SIM_CALL_MAX];
    bool is_enqueued; /* TICK, SCHEDULE_RUN */
    int64_t mark_ms;
    bool is_failed;              /* the store refused: nothing may have changed */
    bool is_fast;                /* STEP by step_fast.lua */
    bool is_refused, is_too_old; /* ENQUEUE, ENQUEUE_EACH: what is said of a ticket */
    /* The oracle's. */
    bool is_repeat, is_late; /* of the session's last step; sent before that */
    size_t changes, dues;    /* dues: what came about by time alone, in a STEP */
    culex_uuid first;        /* of the runs that it has brought or replaced; zeroed: none */
    struct sim_rider riders[SIM_RIDERS_MAX];
};

struct sim_oracle *sim_oracle_create(struct sim_world *world);
void sim_oracle_free(struct sim_oracle *oracle);

/* Around each call of the store, in the order in which the store does them. */
struct sim_call *sim_oracle_begin(struct sim_oracle *oracle); /* zeroed, to be filled */
void sim_oracle_asked(struct sim_oracle *oracle);             /* it is filled */
void sim_oracle_change(struct sim_oracle *oracle, culex_uuid id, const struct sim_record *after);
void sim_oracle_answered(struct sim_oracle *oracle);

/* The same for the virtual Redis: struct sim_redis has the contracts. */
void sim_oracle_record(void *user, const struct sim_arg *key, const struct sim_arg *id,
                       const struct sim_text *before, const struct sim_arg *after);
void sim_oracle_call(void *user, const char *digest, const struct sim_arg *keys, size_t key_count,
                     const struct sim_arg *args, size_t arg_count);
void sim_oracle_return(void *user, const char *reply, size_t len);
void sim_oracle_mark(struct sim_oracle *oracle); /* a snapshot is taken */
void sim_oracle_roll_back(struct sim_oracle *oracle);

struct sim_call *sim_oracle_call_now(struct sim_oracle *oracle);
struct sim_world *sim_oracle_world(const struct sim_oracle *oracle);
int64_t sim_oracle_now_ms(const struct sim_oracle *oracle);

/* What the engine and its handlers do. `process` names the worker's life. */
void sim_oracle_started(struct sim_oracle *oracle, culex_uuid id, uint32_t attempt,
                        const char *session);
/* Its handler was called. */
void sim_oracle_begun(struct sim_oracle *oracle, culex_uuid id, uint32_t attempt,
                      const char *session);
/* `is_late`: it ended when its lease was over by the worker's own clock. Then, and only then, the
 * store must not hear of it. */
void sim_oracle_ended(struct sim_oracle *oracle, culex_uuid id, uint32_t attempt,
                      const char *session, enum culex_run_event event, bool is_late);
/* It ended after the worker had given it up, maybe long before the store's lease is over: after an
 * answer that was lost the worker counts from the try that may have been the first. */
void sim_oracle_given_up(struct sim_oracle *oracle, culex_uuid id, uint32_t attempt,
                         const char *session);
/* An execution is about to take its worker along: nobody may be charged a third time for it. */
void sim_oracle_murder(struct sim_oracle *oracle, culex_uuid killer, const char *session);
/* The worker's loop came to its own end: whatever it took from its handlers must be settled. */
void sim_oracle_worker_ended(struct sim_oracle *oracle, const char *session);
/* Is this execution, still going on, one that its worker should have given up long ago? */
bool sim_oracle_is_overdue(const struct sim_oracle *oracle, culex_uuid id, uint32_t attempt,
                           const char *session, int64_t slack_ns);

/* An execution asks for follow-ups. Returns the number of what it asks for; the other adds one to
 * that, of at most SIM_FOLLOW_UPS_MAX, and returns what its params must be. */
int64_t sim_follow_ask(struct sim_oracle *oracle, culex_uuid id, uint32_t attempt,
                       const char *session);
int64_t sim_follow_add(struct sim_oracle *oracle, int64_t number, const char *queue,
                       int64_t delay_ms);

/* The number of what was asked for, by the last params in a text; 0 when those are no follow-up's.
 */
int64_t sim_follow_asking(const char *text, size_t len);

/* Somebody waits for the end of a run, with a call that has just begun. sim_wait_told judges what
 * it is told, and sim_wait_end ends that: it returns when the run was first seen as ended in the
 * meantime, -1 for never. */
size_t sim_wait_begin(struct sim_oracle *oracle, const struct sim_process *process, culex_uuid id);
/* Whether a run that the process waits for has ended since this was asked last. */
bool sim_wait_take_news(struct sim_oracle *oracle, const struct sim_process *process);
void sim_wait_told(struct sim_oracle *oracle, size_t place, culex_wait_end end);
int64_t sim_wait_end(struct sim_oracle *oracle, size_t place);

/* A number for the params of a callback of some batch. */
int64_t sim_batch_number(struct sim_oracle *oracle);

/* The n of the last params in a text; -1 for none. */
int64_t sim_number_last(const char *text, size_t len);

/* Whether callbacks still have to come in; violation when that is so. */
bool sim_oracle_has_callbacks(const struct sim_oracle *oracle);
void sim_oracle_check_callbacks(struct sim_oracle *oracle);

/* The same of follow-ups; `when` says to whom reads of it what should have brought them. */
bool sim_oracle_has_follow_ups(const struct sim_oracle *oracle);
void sim_oracle_check_follow_ups(struct sim_oracle *oracle, const char *when);

/* A producer was told that its run is in the store. */
void sim_oracle_acknowledged(struct sim_oracle *oracle, culex_uuid id);

/* Or that it certainly is not, never was, and never will be: nobody repeats the call of this
 * ticket. */
void sim_oracle_refused(struct sim_oracle *oracle, const char *queue, culex_uuid ticket);

/* The call of this ticket has brought runs, *ret_first the first of them, and the store must know
 * it still: whoever repeats it hears of them. A call that an idempotency key held off has brought
 * none, whatever run its producer was told of: it is judged anew, and brings one when the key is
 * free by then. */
bool sim_oracle_must_know(const struct sim_oracle *oracle, const char *queue, culex_uuid ticket,
                          culex_uuid *ret_first);

/* Whoever sent this call in company has got no answer, and goes on without one. */
void sim_oracle_left(struct sim_oracle *oracle, struct culex_ticket ticket);

/* Calls may have seen the store's clock as it stands: one begins, or the clock is about to jump
 * while one lasts, as it waits for a lock. */
void sim_oracle_clock_seen(struct sim_oracle *oracle);

/* A producer was told that `id` is what this key has brought, within the window that it gave. */
void sim_oracle_keyed(struct sim_oracle *oracle, const char *key, culex_uuid id, int64_t window_ms);

/* Whether it holds its unique key, come what may: one that has begun may have lost it. */
bool sim_is_sure_holder(const struct sim_record *record);

/* Runs that are not final. */
size_t sim_oracle_live(const struct sim_oracle *oracle);
size_t sim_oracle_count(const struct sim_oracle *oracle); /* that ever were */
size_t sim_oracle_lost(const struct sim_oracle *oracle);  /* by rolling back */
const struct sim_record *sim_oracle_find(const struct sim_oracle *oracle, culex_uuid id);
void sim_oracle_check_live(struct sim_oracle *oracle); /* violation when a run is not final */
/* Visits all records that are in the store by the books. */
void sim_oracle_each(const struct sim_oracle *oracle,
                     void (*visit)(void *user, culex_uuid id, const struct sim_record *record),
                     void *user);

bool sim_record_parse(const char *text, size_t len, struct sim_record *ret_record);

/* Prints and ends the program with code 3. `id` may be NULL. */
void sim_violation(struct sim_oracle *oracle, const culex_uuid *id, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));

#endif
