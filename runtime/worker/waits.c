#include "worker/waits.h"

#include "core/patience.h"
#include "worker/capacity.h"
#include "worker/overstay.h"
#include "worker/repair.h"
#include "worker/solitude.h"
#include "worker/tick.h"
#include "worker/worker_private.h"

enum { QUIET_MS = 1 }; /* executors may hold back short runs' ends this long */

/* A token that we took and cannot use must reach another worker. */
static void lanes_set_hinting(culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++)
        worker->lanes[i].is_hinting = true;
}

void culex__wake_leave(culex_worker *worker)
{
    if (!worker->wake.was_armed)
        return;
    worker->store->ops->wake_disarm(worker->store);
    worker->wake.is_armed = worker->wake.was_armed = false;
    lanes_set_hinting(worker);
}

static bool lane_is_well(const struct culex_lane *lane)
{
    return lane->has_hello && lane->failures == 0;
}

/* One in trouble stays likely as long as that lasts, and the others sleep beside it. */
static bool any_likely(const culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        if (worker->lanes[i].is_likely && lane_is_well(&worker->lanes[i]))
            return true;
    }
    return false;
}

static int64_t lane_next_ns(const struct culex_lane *lane)
{
    const culex_worker *worker = lane->worker;
    int64_t next_ns = INT64_MAX;
    if (lane->flight_count > 0)
        next_ns = lane->beat_ns;
    if (culex__worker_has_room(worker) && culex__solitude_lets_claim(lane))
        next_ns =
            lane->is_likely
                ? 0
                : culex__min_ns(next_ns, culex__min_ns(lane->due_ns, culex__worker_look_ns(lane)));
    if (!lane->has_hello && worker->refusal.code != CULEX_OK)
        return INT64_MAX;
    if (lane->ends.count > 0 || lane->step.is_pending || !lane->has_hello || lane->is_hinting)
        next_ns = 0;
    next_ns = culex__min_ns(next_ns, culex__repair_next_ns(lane));
    if (next_ns < lane->retry_ns)
        next_ns = lane->retry_ns;
    if (worker->outage.is_on && next_ns < worker->outage.until_ns)
        next_ns = worker->outage.until_ns;
    return culex__min_ns(next_ns, lane->flight_count > 0 ? lane->end_ns : INT64_MAX);
}

/* When the loop has something to do by itself. */
static int64_t worker_next_ns(const culex_worker *worker, size_t queued, int64_t now_ns)
{
    int64_t next_ns = now_ns + CULEX_LOOK_MS * CULEX_MS_NS;
    for (size_t i = 0; i < worker->lane_count; i++)
        next_ns = culex__min_ns(next_ns, lane_next_ns(&worker->lanes[i]));
    int64_t tick_ns = culex__ticks_next_ns(worker);
    if (worker->phase == CULEX_WORKER_RUNNING)
        next_ns = culex__min_ns(
            next_ns, tick_ns > worker->outage.until_ns ? tick_ns : worker->outage.until_ns);
    next_ns =
        culex__min_ns(next_ns, culex__min_ns(worker->phase_ns, culex__overstay_next_ns(worker)));
    next_ns = culex__min_ns(next_ns, culex__solitude_next_ns(worker));
    if (worker->wake.failures > 0 && worker->wake.retry_ns > now_ns &&
        culex__worker_has_room(worker))
        next_ns = culex__min_ns(next_ns, worker->wake.retry_ns);
    if (worker->phase >= CULEX_WORKER_CANCELLING)
        next_ns =
            culex__min_ns(next_ns, worker->patient_ns > now_ns ? worker->patient_ns : INT64_MAX);
    if (queued > 0)
        next_ns = culex__min_ns(next_ns, worker->progress_ns + CULEX_STALL_MS * CULEX_MS_NS);
    /* Results may be gathering, or their announcement held back. */
    if (queued > 0 && culex__worker_runs_are_short(worker) &&
        next_ns < now_ns + QUIET_MS * CULEX_MS_NS)
        next_ns = now_ns + QUIET_MS * CULEX_MS_NS;
    else if (queued > 0 && culex__worker_runs_are_short(worker))
        next_ns = culex__min_ns(next_ns, now_ns + QUIET_MS * CULEX_MS_NS);
    return next_ns;
}

/* One in trouble would refuse the wait for all. */
static bool all_well_are_awaited(const culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        if (worker->lanes[i].is_awaited != lane_is_well(&worker->lanes[i]))
            return false;
    }
    return true;
}

/* Another set of queues than the last one is a wait of its own, which begins with a look. */
static size_t awaited_choose(culex_worker *worker)
{
    size_t count = 0;
    if (worker->wake.is_armed)
        worker->store->ops->wake_disarm(worker->store);
    worker->wake.is_armed = false;
    worker->wake.was_armed = worker->wake.was_armed && all_well_are_awaited(worker);
    for (size_t i = 0; i < worker->lane_count; i++) {
        struct culex_lane *lane = &worker->lanes[i];
        lane->is_awaited = lane_is_well(lane);
        if (lane->is_awaited)
            worker->awaited_names[count++] = lane->name;
    }
    return count;
}

/* The store has no wait for us now; it is asked again later. */
static void wake_fail(culex_worker *worker, const culex_error *error)
{
    int64_t wait_ms = culex__patience_ms(++worker->wake.failures, culex__env_random(worker->env));
    worker->wake.fd = -1;
    worker->wake.is_armed = worker->wake.was_armed = false;
    worker->wake.retry_ns = culex__worker_now_ns(worker) + wait_ms * CULEX_MS_NS;
    culex__log_write(&worker->log, CULEX_LOG_DEBUG, NULL, "no wake-ups for now: %s", error->text);
}

static bool may_arm(const culex_worker *worker, int64_t now_ns)
{
    return !any_likely(worker) && culex__worker_has_room(worker) && !worker->solitude.is_on &&
           now_ns >= worker->outage.until_ns && now_ns >= worker->wake.retry_ns &&
           !(worker->wake.is_armed && all_well_are_awaited(worker));
}

bool culex__wake_arm(culex_worker *worker, int64_t now_ns)
{
    culex_error error = {0};
    int fd = -1;
    if (!may_arm(worker, now_ns))
        return true;
    size_t count = awaited_choose(worker);
    if (count == 0)
        return true;
    culex_status status = worker->store->ops->wake_arm(worker->store, worker->awaited_names, count,
                                                       CULEX_LOOK_MS, &fd, &error);
    if (status != CULEX_OK) {
        wake_fail(worker, &error);
        return true;
    }
    bool is_new = fd >= 0 && (fd != worker->wake.fd || !worker->wake.was_armed);
    worker->wake.fd = fd;
    worker->wake.is_armed = fd >= 0;
    worker->wake.was_armed = true;
    if (is_new)
        culex__lanes_set_likely(worker);
    return !is_new;
}

static void wake_take(culex_worker *worker)
{
    bool is_woken = false;
    culex_error error = {0};
    worker->wake.is_armed = false;
    culex_status status = worker->store->ops->wake_take(worker->store, &is_woken, &error);
    if (status != CULEX_OK) {
        wake_fail(worker, &error);
        return;
    }
    worker->wake.failures = 0;
    if (!is_woken)
        return;
    if (culex__worker_has_room(worker) && !worker->solitude.is_on)
        culex__lanes_set_likely(worker);
    else
        lanes_set_hinting(worker);
}

void culex__worker_wait(culex_worker *worker, int64_t now_ns)
{
    size_t queued = worker->executor->ops->queued(worker->executor);
    int64_t next_ns = worker_next_ns(worker, queued, now_ns);
    struct pollfd fds[3] = {
        {.fd = worker->stop_fd, .events = POLLIN},
        {.fd = worker->executor->ops->fd(worker->executor), .events = POLLIN},
        {.fd = worker->wake.is_armed ? worker->wake.fd : -1, .events = POLLIN},
    };
    int64_t wait_ns = next_ns > now_ns ? next_ns - now_ns : 0;
    int64_t wait_ms = (wait_ns + CULEX_MS_NS - 1) / CULEX_MS_NS;
    int ready = worker->env->poll(worker->env->self, fds, 3, (int)wait_ms);
    if (ready > 0 && fds[2].revents != 0)
        wake_take(worker);
}
