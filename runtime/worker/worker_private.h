/* worker/worker_private.h - inside a worker: its loop, its lanes, its flights.
 *
 * The worker's loop runs on one thread, the supervisor, and never runs user code. A lane is
 * one queue with what the worker has there: a step to send, runs in flight, results to
 * send. A run is claimed by a step (then it is in flight, and most of that time in the
 * executor), ends, waits in the lane's `to_ack`, and is recycled when the store has answered.
 *
 *   worker.c    life, registration, phases, the loop and its waits
 *   setup.c     what the loop needs before and gives back after
 *   greeting.c  HELLO to all queues, and the refusal of one
 *   lane.c      STEP: what to send, what the answers mean
 *   solitude.c  a suspect runs alone
 *   flight.c    runs in flight: grants, leases, timeouts, ends
 *   tick.c      periodic jobs
 *   outage.c    trouble with the store
 *   repair.c    FSCK of a queue after such trouble
 *
 * Times named _ns are boot time; INT64_MAX is never. */
#ifndef CULEX_WORKER_WORKER_PRIVATE_H
#define CULEX_WORKER_WORKER_PRIVATE_H

#include <culex/worker.h>

#include "store/store.h"
#include "base/limits.h"
#include "executor/executor.h"
#include "base/notice.h"
#include "platform/storeclock.h"
#include "settings/storesettings.h"
#include "worker/unknown_jobs.h"
#include "platform/path.h"

enum culex_worker_phase {
    CULEX_WORKER_RUNNING,
    CULEX_WORKER_STOPPING,   /* claims nothing more; handlers may finish */
    CULEX_WORKER_CANCELLING, /* handlers were asked to stop */
    CULEX_WORKER_ABANDONING  /* only results are sent; handlers are given up */
};

/* What a step carries, kept until the store has answered for certain. */
struct culex_lane_step {
    bool is_pending; /* sent at least once, and repeated with the same nonce */
    uint64_t nonce;
    uint32_t want;
    uint32_t ahead;  /* of these, for handlers that are at work now */
    int64_t sent_ns; /* first time: leases count from here */
    size_t ack_count;
    size_t beat_count;
    struct culex_ack acks[CULEX_BATCH_MAX];
    struct culex_run *ack_runs[CULEX_BATCH_MAX];
    struct culex_beat beats[CULEX_BATCH_MAX];
    struct culex_run *beat_runs[CULEX_BATCH_MAX];
    int64_t beat_told_ns[CULEX_BATCH_MAX];       /* the run's deadline as this beat tells it */
    unsigned beat_progress_tag[CULEX_BATCH_MAX]; /* of the report that it carries */
    culex_buf texts;                             /* those reports, each with a NUL */
};

/* FSCK of a queue, after the store refused a call that it may have carried out in part. */
struct culex_repair {
    bool is_due;
    uint64_t cursor; /* where to go on */
    uint64_t found;  /* entries that were wrong */
    int64_t at_ns;   /* not before */
};

struct culex_lane {
    struct culex_worker *worker;
    char name[CULEX_QUEUE_NAME_MAX + 1];
    char session[17];    /* under which this worker lives in the queue: its own, or a later one */
    unsigned name_count; /* of the worker, when it last said HELLO */
    bool has_hello;
    bool is_likely;          /* the store may have a run for us now */
    bool is_hinting;         /* a wake-up came that we cannot use: pass it on */
    bool is_empty;           /* as of the last answer */
    bool is_paused;          /* so is this */
    bool is_held;            /* the next run wants a free handler */
    bool is_awaited;         /* the store was asked to tell of its new work */
    bool has_suspects;       /* the newest claim has passed by one */
    int64_t due_ns;          /* when the store wants a STEP */
    int64_t asked_ns;        /* when it was asked last */
    int64_t beat_ns;         /* no run in flight wants a beat earlier */
    int64_t end_ns;          /* no lease or timeout of a run in flight ends earlier */
    int64_t retry_ns;        /* after a failed call: not before */
    uint32_t failures;       /* failed calls in a row */
    uint64_t expired_untold; /* runs that have expired since the last line about it */
    int64_t expired_told_ns;
    struct culex_repair repair;
    struct culex_run **flights;
    size_t flight_count;
    struct culex_run *ack_first; /* results to send, oldest first */
    struct culex_run *ack_last;
    size_t ack_count;
    int64_t ack_ns; /* when the oldest of them came in */
    struct culex_lane_step step;
};

/* See worker/solitude.h. */
struct culex_solitude {
    bool is_on;
    bool had_suspect; /* the newest one, which has done its duty then */
    size_t count;     /* suspects granted of whose end the store has not heard */
    int64_t since_ns; /* when it began, or the time for others did */
    int64_t others_ns;
    int64_t patience_ns;
};

struct culex_tick_state {
    const struct culex_job *job;
    struct culex_lane *lane;
    int64_t tick_ms; /* on the store's clock; 0: as soon as possible */
    int64_t at_ns;
    bool is_refused; /* the newest one was */
    char *payload;
    size_t payload_len;
};

struct culex_outage {
    bool is_on;
    int64_t since_ns;
    int64_t logged_ns;
    culex_status logged_status; /* of the trouble told last */
    int64_t until_ns;           /* no call before, when the store as a whole is away */
    uint32_t failures;
};

/* What the store has room for, as the log tells it. */
struct culex_shortage {
    enum culex_room told;  /* CULEX_ROOM_ENOUGH while the log says nothing of it */
    enum culex_room worst; /* of the newest line */
    int64_t logged_ns;     /* 0: never */
};

/* Runs that no handler of this worker knows. */
struct culex_left {
    uint64_t count;
    char job[CULEX_JOB_NAME_MAX + 1]; /* of the first of them */
    bool has_others;                  /* of other jobs */
};

struct culex_worker_counts {
    uint64_t done, failed, crashed, dead, expired, snoozed, released, not_understood, stale,
        timed_out, lost;
};

typedef culex_status (*culex_executor_make)(const struct culex_executor_config *config,
                                            struct culex_executor **ret_executor,
                                            culex_error *error);

struct culex_worker {
    /* Constant while running. */
    pid_t owner; /* the process that created it */
    culex_worker_options
        options; /* completed: a zero means a default only where `store` has the last word */
    const struct culex_env *env;
    struct culex_log log;
    culex_executor_make executor_make; /* of a test; NULL: as options.isolation says */
    bool is_private;                   /* nobody may look into this process */
    culex_error setup_error;           /* why a job was not registered, or a setup gave up */
    struct culex_store *given_store;   /* of a test; not closed */
    char name[128];
    char session[17];    /* a random token: under which the lanes begin */
    unsigned name_count; /* names that it has had */
    struct culex_job *jobs;
    size_t job_count;
    struct culex_process_hooks hooks;
    int64_t setup_ms; /* the longest that hooks.open may take in a process */
    struct culex_lane *lanes;
    const char **lane_names;
    const char **awaited_names; /* room for as many */
    size_t lane_count;
    int stop_fd; /* each stop adds 1 */
    /* Boot time; no call to the store goes on after it. 0 until somebody asks to stop, who sets it
     * at once, maybe in a signal's handler: a call under way must not outlast the phase. */
    atomic_int_fast64_t until_ns;
    atomic_bool is_running; /* from the beginning of culex_worker_run to its end */
    atomic_bool has_store;  /* before it has one, a stop ends the attempt to reach it at once */

    /* The supervisor's. */
    char *url;                                  /* with its password; wiped at the end */
    struct culex_store_settings store_settings; /* once the URL is known */
    char folder[CULEX__PATH_SIZE]; /* where the process was at the start: relative paths count from
                                      it */
    struct culex_store *store;
    struct culex_store *lent_store; /* of handler threads, under their client's turn */
    atomic_bool is_fed;             /* a handler has enqueued: any lane may have a run */
    struct culex_executor *executor;
    struct culex_storeclock clock;
    int64_t jump_logged_ns; /* newest line about a jump of the store's clock; 0: none */
    enum culex_worker_phase phase;
    int64_t phase_ns;   /* when it ends by itself */
    int64_t patient_ns; /* from CANCELLING on: how long a store that does not answer is asked */
    struct culex_outage outage;
    struct culex_shortage shortage;
    culex_error refusal; /* of a queue, for good; CULEX_OK: none. The run ends with it */
    struct culex_run *free_runs;
    struct culex_run *asked; /* worker/overstay.h */

    size_t flight_count;   /* all lanes */
    size_t executor_count; /* runs in the executor */
    size_t held_count;     /* lanes that are held */
    struct culex_solitude solitude;
    size_t careful_count; /* as long as so many runs have not ended: see culex__worker_limit */
    int64_t average_ns;   /* recent handler time */
    int64_t progress_ns;  /* last time a run came back, or the executor had nothing queued */
    uint64_t nonce;
    size_t lane_turn;
    bool is_armed;
    bool was_armed;
    int wake_fd;
    int64_t arm_retry_ns;
    uint32_t arm_failures;
    struct culex_tick_state *ticks;
    size_t tick_count;
    struct culex_worker_counts counts;
    struct culex_unknown_jobs unknown_jobs;
    struct culex_run **scratch; /* room for every run in the executor */
    bool is_executor_broken;
    int64_t stuck_look_ns;  /* a drain looks then whether anything is left that it can run */
    struct culex_left left; /* what it ended without */
    struct culex_notice drain_notice;
};

/* Sets what a test replaces; NULL members of the arguments keep the real thing. */
void culex__worker_set_env(culex_worker *worker, const struct culex_env *env);
void culex__worker_set_store(culex_worker *worker, struct culex_store *store);
void culex__worker_set_executor(culex_worker *worker, culex_executor_make make);

/* Keeps other processes of this user, debuggers and core dumps out of this process as soon as its
 * executor has been made. */
void culex__worker_set_private(culex_worker *worker);
void culex__worker_set_sink(culex_worker *worker, struct culex_log_sink sink);

/* --- worker.c --- */

static inline int64_t culex__worker_now_ns(const culex_worker *worker)
{
    return culex__env_boottime_ns(worker->env);
}

/* Handlers that can be at work at a time: fewer than wanted while the program's set-up of their
 * processes fails. */
size_t culex__worker_capacity(const culex_worker *worker);

/* Runs to have in flight at most: more than there are handlers while runs are short. No more
 * when this worker's former life left runs behind, until as many have ended: one of them may kill
 * this life too, and should then be the one that is known to have started. Nor while the next run
 * of a lane waits for a free handler. */
size_t culex__worker_limit(const culex_worker *worker);

/* Between two heartbeats of a run: well within its lease, and a second at most, for they carry its
 * progress there and the wish to cancel it back. */
static inline int64_t culex__worker_beat_pause_ns(const culex_worker *worker)
{
    int64_t third_ms = worker->options.lease_ms / 3;
    return (third_ms < 1000 ? third_ms : 1000) * 1000000;
}

/* Every lane may have a run for us. */
void culex__lanes_set_likely(culex_worker *worker);

/* When the lane asks for runs though nothing says that there are any: wake-ups may get lost. */
int64_t culex__worker_look_ns(const struct culex_lane *lane);

/* --- worker_options.c --- */

/* CULEX_EUSAGE names what is out of range. */
culex_status culex__worker_options_check(const culex_worker_options *options, culex_error *error);

/* Puts the default wherever an option is zero, but for the URL, which culex__worker_begin chooses:
 * it may hold a password, and the executor must have been made before. */
void culex__worker_options_complete(culex_worker_options *options);

/* --- worker_errands.c --- */

/* What a handler asks of the store; `user` is the worker. The first for the supervisor's thread,
 * the other for handlers' threads, one at a time. */
void culex__worker_serve(void *user, const char *request, size_t len, culex_buf *answer);
void culex__worker_serve_apart(void *user, const char *request, size_t len, culex_buf *answer);

/* --- outage.c --- */

/* Accounts for a call to the store: logs trouble and its end, sets when to go on. */
void culex__worker_call_failed(culex_worker *worker, struct culex_lane *lane, culex_status status,
                               const culex_error *error);
void culex__worker_call_succeeded(culex_worker *worker, struct culex_lane *lane);

/* Learns the store's clock from the reply to what was sent at `sent_ns`. A jump of more than a
 * quarter of a lease is worth a line, once a minute at most: fences keep it from doing harm, but
 * leases end too early or too late. */
void culex__worker_learn_clock(culex_worker *worker, int64_t store_ms, int64_t sent_ns);

/* Logs that the store is short of room, once a minute, and that it has room again. */
void culex__worker_learn_room(culex_worker *worker, enum culex_room room);

/* A status that no waiting cures: the call of culex_worker_run ends. */
bool culex__status_is_fatal(culex_status status);

/* --- repair.c --- */

/* A call failed: the queue wants FSCK when a part of the call may have been carried out. */
void culex__repair_expect(struct culex_lane *lane, culex_status status);

/* Does the next share of it when it is time. */
void culex__repair_share(struct culex_lane *lane, int64_t now_ns);
int64_t culex__repair_next_ns(const struct culex_lane *lane);

/* --- setup.c --- */

culex_status culex__worker_add_job(culex_worker *worker, const struct culex_job *job,
                                   culex_error *error);

/* Opens the store (waiting for it as long as it takes) and starts the executor. */
culex_status culex__worker_begin(culex_worker *worker, culex_error *error);

/* Gives back what begin took, also when it failed half-way. */
void culex__worker_end(culex_worker *worker);

/* --- drain.c --- */

/* Nothing is left in any lane but runs of jobs that are not registered here, and none of them is
 * being run elsewhere. Reads the store: up to all scheduled and waiting runs when it is true,
 * mostly one page when it is not. False also when the store does not let us list. */
bool culex__drain_is_stuck(const culex_worker *worker, struct culex_left *ret_left);

/* A line, once a minute, when all runs that are left are those of paused queues. */
void culex__drain_tell_paused(culex_worker *worker, int64_t now_ns);

/* --- greeting.c --- */

/* HELLO to each queue that has not had it, if it may be called now. Call it before any step:
 * nothing is claimed until every queue was asked once. Failures are accounted for; CULEX_EMOVED is
 * returned, another fatal one is kept as worker->refusal, after which nobody is greeted any more.
 */
culex_status culex__lanes_greet(culex_worker *worker, culex_error *error);

/* --- lane.c --- */

/* There is something to tell or ask the store about this lane now. */
bool culex__lane_wants_step(struct culex_lane *lane, size_t queued, int64_t now_ns);

/* No failed call keeps the lane waiting. */
bool culex__lane_may_call(const struct culex_lane *lane, int64_t now_ns);

/* One STEP, to a queue that was greeted. Failures are accounted for; CULEX_EMOVED is returned. */
culex_status culex__lane_step(struct culex_lane *lane, culex_error *error);

/* Queues the end of a run (run->end) for the store. */
void culex__lane_settle(struct culex_lane *lane, struct culex_run *run);

/* Drops the end of this attempt if it waits for the store. */
void culex__lane_unsettle(struct culex_lane *lane, culex_uuid id, uint32_t attempt);

/* --- flight.c --- */

/* The registered job of that wire name, or NULL. */
const struct culex_job *culex__worker_job_find(const culex_worker *worker, const char *wire);

/* A run's struct from the pool; NULL when out of memory. */
struct culex_run *culex__flight_alloc(culex_worker *worker);
void culex__flight_recycle(culex_worker *worker, struct culex_run *run);

/* Takes what the store granted and hands it to the executor. */
void culex__flight_take(struct culex_lane *lane, const struct culex_grant *grants, size_t count,
                        int64_t sent_ns);

/* Takes back what the executor has finished. Returns how many runs. */
size_t culex__flight_collect(culex_worker *worker);

/* Takes back what has not started and gives it back to the store, uncharged. */
void culex__flight_withdraw(culex_worker *worker);

/* Looks after leases and timeouts of the lane that have run out by now. */
void culex__flight_attend(struct culex_lane *lane, int64_t now_ns);

/* Gives up all runs in flight of the lane: the store has taken them away. */
void culex__flight_lose_all(struct culex_lane *lane);

/* Asks the handlers of all runs in flight to stop, and ends their processes soon after. */
void culex__flight_cancel_all(culex_worker *worker);

/* Somebody asked the store to cancel this run. */
void culex__flight_cancel(struct culex_run *run);

/* The store has granted a claim or heartbeat that was sent at `sent_ns`. */
void culex__flight_renew(struct culex_run *run, int64_t sent_ns);

/* Moves the deadlines of runs whose handlers asked for more time. */
void culex__flight_hear_all(culex_worker *worker);

/* Gives all runs in flight back to the store while their handlers go on. */
void culex__flight_abandon_all(culex_worker *worker);

/* The store says that the run is no longer ours. */
void culex__flight_lose(struct culex_run *run);

/* --- tick.c --- */

culex_status culex__ticks_create(culex_worker *worker, culex_error *error);
void culex__ticks_free(culex_worker *worker);

/* Enqueues what is due and sets when to look again. */
void culex__ticks_run(culex_worker *worker, int64_t now_ns);
int64_t culex__ticks_next_ns(const culex_worker *worker);

#endif
