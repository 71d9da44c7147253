/* worker/repair.c - FSCK by a worker itself, after the store refused a call.
 *
 * Redis takes nothing back of a script that is refused in its middle: what it leaves strands no
 * run, but may be a final run in no index, a payload without a run, a unique key that nobody holds.
 * The worker looks through a queue in which it has met that, a bounded share at a time between its
 * steps, as soon as they succeed again. */
#include "worker/repair.h"

#include <inttypes.h>

#include "worker/worker_private.h"

enum {
    SHARE_MS = 10,        /* between shares */
    WAITING_MAX = 1000000 /* FSCK takes 32 bytes of ours for each waiting run */
};

/* A connection has one search at a time, so the queues of a worker take turns. */
static bool another_is_under_way(const struct culex_lane *lane)
{
    const struct culex_worker *worker = lane->worker;
    for (size_t i = 0; i < worker->lane_count; i++) {
        const struct culex_lane *other = &worker->lanes[i];
        if (other != lane && other->repair.is_due && other->repair.cursor != 0)
            return true;
    }
    return false;
}

int64_t culex__repair_next_ns(const struct culex_lane *lane)
{
    bool is_possible = lane->repair.is_due && lane->trouble.failures == 0 &&
                       lane->greeting.is_done && !lane->worker->outage.is_on &&
                       lane->worker->phases.current == CULEX_WORKER_RUNNING &&
                       !another_is_under_way(lane);
    return is_possible ? lane->repair.at_ns : INT64_MAX;
}

static void repair_give_up(struct culex_lane *lane, const char *why)
{
    lane->repair = (struct culex_repair){.is_due = false};
    culex__log_write(&lane->worker->log, CULEX_LOG_WARNING, NULL,
                     "queue %s: what refused calls may have left is not cleared away, "
                     "culex_client_fsck does it: %s",
                     lane->name, why);
}

void culex__repair_want(struct culex_lane *lane)
{
    lane->repair = (struct culex_repair){.is_due = true};
}

/* Returns CULEX_OK where no later try can help. It begins anew when the calls succeed again: the
 * place where it was is of that search alone, and another queue may have one by then. */
static culex_status repair_fail(struct culex_lane *lane, culex_status status,
                                const culex_error *error)
{
    if (status == CULEX_EDENIED) {
        repair_give_up(lane, error->text);
        return CULEX_OK;
    }
    if (status == CULEX_ENOTFOUND) { /* the store was emptied: nothing is left to repair */
        lane->repair = (struct culex_repair){.is_due = false};
        return CULEX_OK;
    }
    culex__repair_want(lane);
    return status;
}

static void repair_end(struct culex_lane *lane)
{
    const struct culex_repair *repair = &lane->repair;
    lane->repair.is_due = false;
    culex__log_write(&lane->worker->log, repair->found > 0 ? CULEX_LOG_WARNING : CULEX_LOG_DEBUG,
                     NULL, "queue %s: repaired after refused calls, %" PRIu64 " entries were wrong",
                     lane->name, repair->found);
}

/* False when it cannot or should not be done. */
static bool repair_begin(struct culex_lane *lane, culex_status *ret_status, culex_error *error)
{
    struct culex_store *store = lane->worker->store;
    culex_queue_stats stats;
    if (lane->repair.cursor != 0)
        return true;
    *ret_status = store->ops->stats(store, lane->name, &stats, error);
    if (*ret_status != CULEX_OK)
        return false;
    if (stats.count[CULEX_RUN_WAITING] > WAITING_MAX)
        repair_give_up(lane, "too many runs wait");
    return lane->repair.is_due;
}

culex_status culex__repair_share(struct culex_lane *lane, int64_t now_ns, culex_error *error)
{
    struct culex_store *store = lane->worker->store;
    struct culex_repair *repair = &lane->repair;
    struct culex_fsck_reply reply = {.cursor = 0};
    culex_status status = CULEX_OK;
    if (now_ns < culex__repair_next_ns(lane))
        return CULEX_OK;
    if (repair_begin(lane, &status, error))
        status = store->ops->fsck(store, lane->name, repair->cursor, true, &reply, error);
    if (status != CULEX_OK)
        return repair_fail(lane, status, error);
    if (!repair->is_due)
        return CULEX_OK;
    repair->found += reply.counts.wrong + reply.counts.damaged;
    repair->cursor = reply.cursor;
    repair->at_ns = culex__worker_now_ns(lane->worker) + SHARE_MS * CULEX_MS_NS;
    if (reply.cursor == 0)
        repair_end(lane);
    return CULEX_OK;
}
