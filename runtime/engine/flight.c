#include "engine/worker_private.h"

#include <stdlib.h>
#include <string.h>

/* --- pool ------------------------------------------------------------------------------ */

struct culex_run *culex__flight_alloc(culex_worker *worker)
{
    struct culex_run *run = worker->free_runs;
    if (run == NULL)
        return culex__run_create();
    worker->free_runs = run->next;
    run->next = NULL;
    return run;
}

void culex__flight_recycle(culex_worker *worker, struct culex_run *run)
{
    run->next = worker->free_runs;
    worker->free_runs = run;
}

/* --- the lane's list --------------------------------------------------------------------- */

static void flight_add(struct culex_lane *lane, struct culex_run *run)
{
    run->slot = lane->flight_count;
    lane->flights[lane->flight_count++] = run;
    lane->worker->flight_count++;
}

static void flight_remove(struct culex_run *run)
{
    struct culex_lane *lane = run->lane;
    struct culex_run *last = lane->flights[--lane->flight_count];
    lane->flights[run->slot] = last;
    last->slot = run->slot;
    lane->worker->flight_count--;
}

static int64_t min_ns(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* --- grants ------------------------------------------------------------------------------- */

static const struct culex_job *job_find(const culex_worker *worker, const char *wire)
{
    for (size_t i = 0; i < worker->job_count; i++) {
        if (strcmp(worker->jobs[i].type->wire, wire) == 0)
            return &worker->jobs[i];
    }
    return NULL;
}

static void run_reset(struct culex_run *run, struct culex_lane *lane)
{
    const culex_worker *worker = lane->worker;
    run->lane = lane;
    run->log = &worker->executor->log;
    memcpy(run->queue, lane->name, sizeof run->queue);
    atomic_store_explicit(&run->is_cancelled, false, memory_order_relaxed);
    atomic_store_explicit(&run->started_ns, 0, memory_order_relaxed);
    run->end = (struct culex_execution_end){0};
    run->has_result = false;
    run->is_in_executor = run->is_settled = run->has_cancel = false;
    run->job = (struct culex_job){0};
}

static void run_fill(struct culex_run *run, const struct culex_grant *grant, int64_t sent_ns)
{
    const culex_worker *worker = run->lane->worker;
    int64_t lease_ns = worker->options.lease_ms * 1000000;
    run->id = grant->id;
    run->attempt = grant->attempt;
    run->counters = grant->counters;
    run->created_at_ms = grant->created_at_ms;
    run->timeout_ms = grant->timeout_ms;
    run->claimed_ns = run->beat_ns = sent_ns;
    run->lease_ns = sent_ns + lease_ns - lease_ns / 10;
    run->deadline_ns = grant->timeout_ms > 0 && grant->timeout_ms < INT64_MAX / 2000000
                           ? sent_ns + grant->timeout_ms * 1000000
                           : INT64_MAX;
}

static void settle_release(struct culex_run *run, int64_t delay_ms)
{
    run->end = (struct culex_execution_end){.event = CULEX_EVENT_RELEASE, .delay_ms = delay_ms};
    culex__lane_settle(run->lane, run);
}

/* A newer producer may be ahead of us in a rolling deploy: not the run's fault. */
static void settle_unknown(struct culex_run *run, const char *wire)
{
    struct culex_log_subject subject = {.job = wire, .id = &run->id, .attempt = run->attempt};
    int64_t delay_ms = culex__run_unknown_delay_ms(run->attempt);
    culex__log_write(&run->lane->worker->log, CULEX_LOG_WARNING, &subject,
                     "no handler is registered for this job; given back for %d s",
                     (int)(delay_ms / 1000));
    settle_release(run, delay_ms);
}

/* False when the run went back instead of to the executor. */
static bool grant_accept(struct culex_run *run, const struct culex_grant *grant, int64_t sent_ns)
{
    culex_worker *worker = run->lane->worker;
    run_fill(run, grant, sent_ns);
    const struct culex_job *job = job_find(worker, grant->job);
    if (job == NULL) {
        settle_unknown(run, grant->job);
        return false;
    }
    run->job = *job;
    if (worker->phase != CULEX_WORKER_RUNNING) {
        settle_release(run, 0);
        return false;
    }
    if (!culex__run_set_payload(run, grant->payload, grant->payload_len)) {
        settle_release(run, culex__run_unknown_delay_ms(1));
        return false;
    }
    return true;
}

void culex__flight_take(struct culex_lane *lane, const struct culex_grant *grants, size_t count,
                        int64_t sent_ns)
{
    culex_worker *worker = lane->worker;
    size_t accepted = 0;
    for (size_t i = 0; i < count; i++) {
        struct culex_run *run = culex__flight_alloc(worker);
        if (run == NULL)
            break; /* the lease ends by itself, charged as a loss */
        run_reset(run, lane);
        if (!grant_accept(run, &grants[i], sent_ns))
            continue;
        flight_add(lane, run);
        run->is_in_executor = true;
        lane->end_ns = min_ns(lane->end_ns, min_ns(run->lease_ns, run->deadline_ns));
        lane->beat_ns = min_ns(lane->beat_ns, sent_ns + worker->options.lease_ms * 1000000 / 3);
        worker->scratch[accepted++] = run;
    }
    if (accepted == 0)
        return;
    if (worker->executor_count == 0)
        worker->progress_ns = culex__worker_now_ns(worker);
    worker->executor_count += accepted;
    worker->executor->ops->submit(worker->executor, worker->scratch, accepted);
}

/* --- ends --------------------------------------------------------------------------------- */

/* A struct that carries the end of `run` to the store while the handler still uses `run`. */
static struct culex_run *ghost_make(const struct culex_run *run)
{
    culex_worker *worker = run->lane->worker;
    struct culex_run *ghost = culex__flight_alloc(worker);
    if (ghost == NULL)
        return NULL;
    run_reset(ghost, run->lane);
    ghost->job = run->job;
    ghost->id = run->id;
    ghost->attempt = run->attempt;
    ghost->counters = run->counters;
    ghost->timeout_ms = run->timeout_ms;
    ghost->has_cancel = run->has_cancel;
    return ghost;
}

/* From now on the handler's answer means nothing. */
static void flight_give_up(struct culex_run *run)
{
    culex_worker *worker = run->lane->worker;
    run->is_settled = true;
    flight_remove(run);
    worker->executor->ops->cancel(worker->executor, run, INT64_MAX, INT64_MAX);
}

static void flight_set_timed_out(struct culex_run *run)
{
    char span[CULEX_LOG_SPAN_SIZE];
    culex__log_format_span(run->timeout_ms, span);
    culex_run_fail(run, "timed out after %s", span);
    run->end.event = CULEX_EVENT_FAIL;
    run->end.is_snoozed = run->end.is_not_understood = false;
    run->lane->worker->counts.timed_out++;
}

/* The store takes no result after its lease, which ends with the timeout. So the failure is
 * told at once, while the handler, which cannot be killed, is asked to stop. */
static void flight_time_out(struct culex_run *run)
{
    struct culex_run *ghost = ghost_make(run);
    flight_give_up(run);
    if (ghost == NULL)
        return;
    if (atomic_load_explicit(&run->started_ns, memory_order_relaxed) == 0) {
        settle_release(ghost, 0);
        return;
    }
    flight_set_timed_out(ghost);
    culex__lane_settle(ghost->lane, ghost);
}

void culex__flight_lose(struct culex_run *run)
{
    culex_worker *worker = run->lane->worker;
    struct culex_log_subject subject = culex__run_subject(run);
    worker->counts.lost++;
    culex__log_write(&worker->log, CULEX_LOG_WARNING, &subject,
                     "lease lost; the handler is asked to stop and its result will be discarded");
    flight_give_up(run);
}

void culex__flight_attend(struct culex_lane *lane, int64_t now_ns)
{
    if (now_ns < lane->end_ns)
        return;
    lane->end_ns = INT64_MAX;
    for (size_t i = lane->flight_count; i-- > 0;) {
        struct culex_run *run = lane->flights[i];
        if (now_ns >= run->deadline_ns)
            flight_time_out(run);
        else if (now_ns >= run->lease_ns)
            culex__flight_lose(run);
        else
            lane->end_ns = min_ns(lane->end_ns, min_ns(run->lease_ns, run->deadline_ns));
    }
}

static void worker_learn_duration(culex_worker *worker, const struct culex_run *run)
{
    worker->average_ns += (run->end.duration_ns - worker->average_ns) / 8;
}

static void flight_land(struct culex_run *run)
{
    culex_worker *worker = run->lane->worker;
    run->is_in_executor = false;
    worker->executor_count--;
    if (run->is_settled) {
        culex__flight_recycle(worker, run);
        return;
    }
    flight_remove(run);
    worker_learn_duration(worker, run);
    if (culex__worker_now_ns(worker) >= run->deadline_ns)
        flight_set_timed_out(run);
    culex__lane_settle(run->lane, run);
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
    worker->executor_count -= count;
    for (size_t i = 0; i < count; i++) {
        struct culex_run *run = worker->scratch[i];
        run->is_in_executor = false;
        if (run->is_settled) {
            culex__flight_recycle(worker, run);
            continue;
        }
        flight_remove(run);
        settle_release(run, 0);
    }
}

static void flights_each(culex_worker *worker, void (*visit)(struct culex_run *run))
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        for (size_t k = worker->lanes[i].flight_count; k-- > 0;)
            visit(worker->lanes[i].flights[k]);
    }
}

static void flight_cancel(struct culex_run *run)
{
    struct culex_executor *executor = run->lane->worker->executor;
    executor->ops->cancel(executor, run, INT64_MAX, INT64_MAX);
}

void culex__flight_cancel_all(culex_worker *worker)
{
    flights_each(worker, flight_cancel);
}

static void flight_abandon(struct culex_run *run)
{
    struct culex_run *ghost = ghost_make(run);
    struct culex_log_subject subject = culex__run_subject(run);
    culex__log_write(&run->lane->worker->log, CULEX_LOG_WARNING, &subject,
                     "the handler does not return; the run is given back while it goes on");
    flight_give_up(run);
    if (ghost != NULL)
        settle_release(ghost, 0);
}

void culex__flight_abandon_all(culex_worker *worker)
{
    flights_each(worker, flight_abandon);
}
