#include "worker/flight.h"

#include "worker/acks.h"
#include "worker/flight_pool.h"
#include "worker/overstay.h"
#include "worker/solitude.h"
#include "worker/verdict.h"
#include "worker/worker_private.h"

enum {
    TIMEOUT_TERM_MS = 1000, /* from the timeout's flag to SIGTERM */
    CANCEL_TERM_MS = 5000,  /* from the flag of a user's cancellation to SIGTERM */
    TERM_KILL_MS = 2000,    /* from SIGTERM to SIGKILL; 1 s after a timeout and a lost lease */
    HURRY_KILL_MS = 1000,
    /* The store takes nothing from a run after its timeout and this. */
    SLACK_SAFE_MS = CULEX_TIMEOUT_SLACK_MS - CULEX_TIMEOUT_SLACK_MS / 10,
};
#define MS INT64_C(1000000)

/* --- what is due next ------------------------------------------------------------------- */

/* Without a heartbeat granted until then the store is taken to be out of reach. */
static int64_t fence_ns(const struct culex_run *run)
{
    int64_t lease_ns = run->lane->worker->options.lease_ms * MS;
    return run->is_fenced ? INT64_MAX : run->beat_ns + lease_ns - lease_ns / 4;
}

static int64_t timeout_ns(const struct culex_run *run)
{
    return run->is_timed_out ? INT64_MAX : run->deadline_ns;
}

int64_t culex__flight_next_ns(const struct culex_run *run)
{
    return culex__min_ns(culex__min_ns(run->lease_ns, fence_ns(run)), timeout_ns(run));
}

/* Asks the handler to stop; see executor.h about the times. */
static void flight_ask(struct culex_run *run, int64_t term_ns, int64_t kill_ns)
{
    struct culex_executor *executor = run->lane->worker->executor;
    run->term_ns = culex__min_ns(run->term_ns, term_ns);
    culex__overstay_begin(run);
    executor->ops->cancel(executor, run, term_ns, kill_ns);
}

void culex__flight_renew(struct culex_run *run, int64_t sent_ns)
{
    int64_t lease_ns = run->lane->worker->options.lease_ms * MS;
    int64_t over_ns = sent_ns + lease_ns - lease_ns / 10;
    if (run->told_ns < over_ns - SLACK_SAFE_MS * MS)
        over_ns = run->told_ns + SLACK_SAFE_MS * MS;
    run->beat_ns = sent_ns;
    atomic_store_explicit(&run->lease_ns, over_ns, memory_order_relaxed);
}

/* --- ends --------------------------------------------------------------------------------- */

/* What the handler has reported so far and the store does not know. */
static void progress_copy(struct culex_run *run, struct culex_run *ghost)
{
    char text[CULEX_PROGRESS_MAX + 1];
    if (culex__run_take_progress(run, text) != run->progress_told)
        culex__run_report_progress(ghost, text);
}

/* A struct that carries the end of `run` to the store while the handler still uses `run`. */
static struct culex_run *ghost_make(struct culex_run *run)
{
    culex_worker *worker = run->lane->worker;
    struct culex_run *ghost = culex__flight_alloc(worker);
    if (ghost == NULL)
        return NULL;
    culex__flight_begin(ghost, run->lane);
    if (run->terms.is_suspect)
        culex__solitude_hold(ghost);
    ghost->job = run->job;
    ghost->facts = run->facts;
    ghost->has_cancel = run->has_cancel;
    progress_copy(run, ghost);
    return ghost;
}

/* From now on the handler's answer means nothing. */
static void flight_give_up(struct culex_run *run)
{
    int64_t now_ns = culex__worker_now_ns(run->lane->worker);
    run->is_settled = true;
    culex__flight_remove(run);
    culex__solitude_let_go(run);
    flight_ask(run, now_ns, now_ns + HURRY_KILL_MS * MS);
}

/* A thread cannot be killed, and the store takes no result for ever. So the failure is told at
 * once, while the handler is asked to stop. */
static void flight_leave_timed_out(struct culex_run *run)
{
    struct culex_run *ghost = ghost_make(run);
    flight_give_up(run);
    if (ghost == NULL)
        return;
    if (atomic_load_explicit(&run->started_ns, memory_order_relaxed) == 0) {
        culex__acks_release(ghost, 0);
        return;
    }
    culex__verdict_time_out(ghost, "");
    culex__acks_settle(ghost);
}

static void flight_time_out(struct culex_run *run, int64_t now_ns)
{
    if (!run->lane->worker->executor->ops->can_kill) {
        flight_leave_timed_out(run);
        return;
    }
    int64_t term_ns = now_ns + TIMEOUT_TERM_MS * MS;
    run->is_timed_out = true;
    flight_ask(run, term_ns, term_ns + HURRY_KILL_MS * MS);
}

static void lease_log(const struct culex_run *run, const char *text)
{
    struct culex_log_subject subject = culex__run_subject(run);
    subject.outcome = "lost";
    run->lane->worker->counts.lost++;
    culex__log_write(&run->lane->worker->log, CULEX_LOG_WARNING, &subject, "lease lost; %s", text);
}

void culex__flight_lose(struct culex_run *run)
{
    lease_log(run, "the handler is asked to stop and its result will be discarded");
    flight_give_up(run);
}

void culex__flight_lose_all(struct culex_lane *lane)
{
    while (lane->flight_count > 0)
        culex__flight_lose(lane->flights[lane->flight_count - 1]);
}

/* Another worker may get the run when the lease is over: the handler must have ended by then. */
static void flight_fence(struct culex_run *run, int64_t now_ns)
{
    struct culex_log_subject subject = culex__run_subject(run);
    run->is_fenced = true;
    culex__log_write(&run->lane->worker->log, CULEX_LOG_WARNING, &subject,
                     "no heartbeat has reached the store; the handler is asked to stop before "
                     "its lease is over");
    flight_ask(run, now_ns, run->lease_ns);
}

static void flight_hear(struct culex_run *run)
{
    int64_t until_ns = run->facts.timeout_ms > 0 ? culex__run_extended_ns(run) : 0;
    if (run->is_timed_out || until_ns <= run->deadline_ns)
        return;
    run->deadline_ns = until_ns;
    run->lane->beat_ns = 0;
}

static void flight_attend(struct culex_run *run, int64_t now_ns)
{
    if (now_ns >= timeout_ns(run))
        flight_hear(run);
    if (now_ns >= run->lease_ns)
        culex__flight_lose(run);
    else if (now_ns >= timeout_ns(run))
        flight_time_out(run, now_ns);
    else if (now_ns >= fence_ns(run))
        flight_fence(run, now_ns);
}

void culex__flight_attend(struct culex_lane *lane, int64_t now_ns)
{
    if (now_ns < lane->end_ns)
        return;
    lane->end_ns = INT64_MAX;
    for (size_t i = lane->flight_count; i-- > 0;) {
        struct culex_run *run = lane->flights[i];
        flight_attend(run, now_ns);
        if (!run->is_settled)
            lane->end_ns = culex__min_ns(lane->end_ns, culex__flight_next_ns(run));
    }
}

static void worker_learn_duration(culex_worker *worker, const struct culex_run *run)
{
    worker->average_ns += (run->end.duration_ns - worker->average_ns) / 8;
}

static void executor_leave(struct culex_run *run)
{
    culex_worker *worker = run->lane->worker;
    run->is_in_executor = false;
    culex__overstay_end(run);
    worker->executor_count--;
}

static void flight_land(struct culex_run *run)
{
    culex_worker *worker = run->lane->worker;
    executor_leave(run);
    worker->careful_count -= worker->careful_count > 0;
    if (run->is_settled) {
        culex__flight_recycle(worker, run);
        return;
    }
    culex__flight_remove(run);
    worker_learn_duration(worker, run);
    flight_hear(run);
    if (culex__verdict_reach(run)) {
        culex__acks_settle(run);
        return;
    }
    lease_log(run, "the result came too late and is discarded");
    culex__flight_recycle(worker, run);
}

size_t culex__flight_collect(culex_worker *worker)
{
    struct culex_run *ended[CULEX_BATCH_MAX];
    size_t count = worker->executor->ops->collect(worker->executor, ended, CULEX_BATCH_MAX);
    for (size_t i = 0; i < count; i++)
        flight_land(ended[i]);
    if (count > 0)
        worker->progress_ns = culex__worker_now_ns(worker);
    return count;
}

void culex__flight_withdraw(culex_worker *worker)
{
    size_t count =
        worker->executor->ops->withdraw(worker->executor, worker->scratch, worker->executor_count);
    for (size_t i = 0; i < count; i++) {
        struct culex_run *run = worker->scratch[i];
        executor_leave(run);
        if (run->is_settled) {
            culex__flight_recycle(worker, run);
            continue;
        }
        culex__flight_remove(run);
        culex__acks_release(run, 0);
    }
}

static void flights_each(culex_worker *worker, void (*visit)(struct culex_run *run))
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        for (size_t k = worker->lanes[i].flight_count; k-- > 0;)
            visit(worker->lanes[i].flights[k]);
    }
}

void culex__flight_hear_all(culex_worker *worker)
{
    if (atomic_exchange_explicit(&worker->executor->has_news, false, memory_order_acquire))
        flights_each(worker, flight_hear);
}

void culex__flight_cancel(struct culex_run *run)
{
    int64_t term_ns = culex__worker_now_ns(run->lane->worker) + CANCEL_TERM_MS * MS;
    struct culex_log_subject subject = culex__run_subject(run);
    if (run->has_cancel)
        return;
    run->has_cancel = true;
    flight_ask(run, term_ns, term_ns + TERM_KILL_MS * MS);
    culex__log_write(&run->lane->worker->log, CULEX_LOG_INFO, &subject, "cancellation requested");
}

static void flight_stop(struct culex_run *run)
{
    int64_t now_ns = culex__worker_now_ns(run->lane->worker);
    flight_ask(run, now_ns, now_ns + TERM_KILL_MS * MS);
}

void culex__flight_cancel_all(culex_worker *worker)
{
    flights_each(worker, flight_stop);
}

static void flight_abandon(struct culex_run *run)
{
    struct culex_run *ghost = ghost_make(run);
    struct culex_log_subject subject = culex__run_subject(run);
    culex__log_write(&run->lane->worker->log, CULEX_LOG_WARNING, &subject,
                     "the handler does not return; the run is given back while it goes on");
    flight_give_up(run);
    culex__overstay_end(run);
    if (ghost != NULL)
        culex__acks_release(ghost, 0);
}

void culex__flight_abandon_all(culex_worker *worker)
{
    /* Processes that were killed come back; only a broken executor may not notice. */
    if (worker->executor->ops->can_kill && !worker->is_executor_broken)
        return;
    flights_each(worker, flight_abandon);
}
