#include "worker/wake.h"

#include "core/patience.h"
#include "worker/appetite.h"
#include "worker/beacon.h"
#include "worker/share.h"
#include "worker/worker_private.h"

void culex__wake_reset(culex_worker *worker)
{
    worker->wake = (struct culex_wake){.fd = -1};
}

static void disarm(culex_worker *worker)
{
    culex__beacon_watch(worker, CULEX_SOURCE_WAKE, -1);
    worker->store->ops->wake_disarm(worker->store);
    worker->wake.is_armed = false;
}

void culex__wake_leave(culex_worker *worker)
{
    if (!worker->wake.was_armed)
        return;
    disarm(worker);
    worker->wake.was_armed = false;
    culex__lanes_set_hinting(worker);
}

static bool lane_is_well(const struct culex_lane *lane)
{
    return lane->greeting.is_done && lane->trouble.failures == 0 && !culex__share_is_full(lane);
}

/* Lanes in trouble do not count: they stay likely for as long as that lasts. Nor do those that have
 * as many runs as they may: others are to be heard of meanwhile. */
static bool any_likely(const culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        if (worker->lanes[i].outlook.is_likely && lane_is_well(&worker->lanes[i]))
            return true;
    }
    return false;
}

/* The store waits for exactly the lanes that are well. One in trouble among them would make it
 * refuse the wait for all; what comes to one that is full is for other workers. */
static bool all_well_are_awaited(const culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        if (worker->lanes[i].is_awaited != lane_is_well(&worker->lanes[i]))
            return false;
    }
    return true;
}

/* Of a queue that is full by now we may have taken the wake-up that was meant for others. */
static void full_hand_on(culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        struct culex_lane *lane = &worker->lanes[i];
        if (lane->is_awaited && culex__share_is_full(lane))
            culex__outlook_set_hinting(lane);
    }
}

/* When the set of queues has changed, the wait is a new one, which begins with a look at each. */
static size_t awaited_choose(culex_worker *worker)
{
    size_t count = 0;
    if (worker->wake.is_armed) {
        disarm(worker);
        full_hand_on(worker);
    }
    worker->wake.was_armed = worker->wake.was_armed && all_well_are_awaited(worker);
    bool were_awaited = culex__units_are_awaited(worker);
    for (size_t i = 0; i < worker->lane_count; i++) {
        struct culex_lane *lane = &worker->lanes[i];
        lane->is_awaited = lane_is_well(lane);
        if (lane->is_awaited)
            worker->awaited_names[count++] = lane->name;
    }
    worker->wake.was_armed = worker->wake.was_armed && were_awaited;
    if (count > 0 && count < CULEX_STORE_BATCH_MAX)
        count += culex__units_await(worker, worker->awaited_names + count,
                                    CULEX_STORE_BATCH_MAX - count);
    return count;
}

/* The store cannot be waited for now; it is asked again later. */
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
           !(worker->wake.is_armed && all_well_are_awaited(worker) &&
             culex__units_are_awaited(worker));
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

int64_t culex__wake_next_ns(const culex_worker *worker, int64_t now_ns)
{
    const struct culex_wake *wake = &worker->wake;
    bool is_later = wake->failures > 0 && wake->retry_ns > now_ns;
    return is_later && culex__worker_has_room(worker) ? wake->retry_ns : INT64_MAX;
}

void culex__wake_take(culex_worker *worker)
{
    bool is_woken = false;
    culex_error error = {0};
    culex__beacon_watch(worker, CULEX_SOURCE_WAKE, -1); /* the store may close it now */
    worker->wake.is_armed = false;
    culex_status status = worker->store->ops->wake_take(worker->store, &is_woken, &error);
    if (status != CULEX_OK) {
        wake_fail(worker, &error);
        return;
    }
    worker->wake.failures = 0;
    if (!is_woken)
        return;
    full_hand_on(worker);
    if (culex__worker_has_room(worker) && !worker->solitude.is_on)
        culex__lanes_set_likely(worker);
    else
        culex__lanes_set_hinting(worker);
}
