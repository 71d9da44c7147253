/* worker/loop.c - the loop of a worker: results in, STEP, work out, wait.
 *
 * One thread, which never runs a handler: those belong to the executor. Every queue is a lane
 * (lane.c) with its own step, acks and claims; a claimed run is a flight (flight.c) from its claim
 * to the answer to its ack. A turn of the loop collects what executors have finished, steps the
 * lanes that want it, and waits only when none does: for a finished run, a wake-up of the store, a
 * stop, or the next instant at which something is due. Where the program waits in a loop of its own
 * the turns are the same. */
#include "worker/loop.h"

#include <stdio.h>

#include "base/error.h"
#include "worker/appetite.h"
#include "worker/discovery.h"
#include "worker/figures.h"
#include "worker/flight.h"
#include "worker/greeting.h"
#include "worker/manager.h"
#include "worker/metrics.h"
#include "worker/neighbours.h"
#include "worker/order.h"
#include "worker/overstay.h"
#include "worker/pace.h"
#include "worker/phases.h"
#include "worker/presence.h"
#include "worker/reload.h"
#include "worker/schemas.h"
#include "worker/repair.h"
#include "worker/setup.h"
#include "worker/solitude.h"
#include "worker/tick.h"
#include "worker/waits.h"
#include "worker/wake.h"
#include "worker/watch.h"
#include "worker/worker_private.h"

/* Queued runs go back to the store when the handlers before them do not end. */
static void stall_relieve(culex_worker *worker, size_t queued, int64_t now_ns)
{
    if (now_ns < culex__pace_stall_ns(worker, queued))
        return;
    culex__pace_note_stall(worker, now_ns);
    culex__appetites_spoil(worker);
    culex__flight_withdraw(worker);
}

/* Without its executor a worker can only give back what it holds and end. */
static void crew_check(culex_worker *worker)
{
    if (!culex__crew_breaks(worker, culex__worker_now_ns(worker)))
        return;
    culex__log_write(&worker->log, CULEX_LOG_ERROR, NULL, "%s", worker->crew.broken_text);
    culex__flight_withdraw(worker);
    if (worker->phases.current < CULEX_WORKER_CANCELLING)
        culex__phase_enter(worker, CULEX_WORKER_CANCELLING, culex__worker_now_ns(worker));
}

/* A queue that refuses this worker ends it; the other queues get back what it holds of theirs. */
static void refusal_heed(culex_worker *worker)
{
    if (worker->refusal.code != CULEX_OK && worker->phases.current == CULEX_WORKER_RUNNING)
        culex__phase_enter(worker, CULEX_WORKER_STOPPING, culex__worker_now_ns(worker));
}

/* A handler has enqueued, maybe into a queue that is new. */
static void fed_heed(culex_worker *worker)
{
    if (!atomic_exchange(&worker->is_fed, false))
        return;
    culex__lanes_set_likely(worker);
    culex__discovery_want(worker);
}

static void lane_repair(struct culex_lane *lane, int64_t now_ns)
{
    culex_error error = {0};
    culex_status status = culex__repair_share(lane, now_ns, &error);
    if (status != CULEX_OK)
        culex__worker_call_failed(lane->worker, lane, &lane->trouble, status, &error);
}

/* One turn over all lanes. */
static culex_status lanes_step(culex_worker *worker, size_t queued, bool *ret_stepped,
                               culex_error *error)
{
    struct culex_lane *fed = NULL;
    culex__order_turn(worker);
    for (size_t i = 0; i < worker->lane_count; i++) {
        struct culex_lane *lane = culex__order_lane(worker, i);
        int64_t now_ns = culex__worker_now_ns(worker);
        culex__flight_attend(lane, now_ns);
        lane_repair(lane, now_ns);
        if (!culex__lane_wants_step(lane, queued, now_ns))
            continue;
        *ret_stepped = true;
        culex_status status = culex__lane_step(lane, error);
        if (status != CULEX_OK)
            return status;
        if (lane->was_fed)
            fed = lane;
    }
    if (fed != NULL)
        culex__order_note_fed(fed);
    return CULEX_OK;
}

enum turn {
    TURN_BUSY, /* there may be more to do */
    TURN_IDLE, /* there is not, until something happens */
    TURN_LAST  /* the worker is finished */
};

/* A store that was not there is there now, or is to be tried again. */
static culex_status opening_turn(culex_worker *worker, enum turn *ret_turn, culex_error *error)
{
    culex_status status = culex__worker_open(worker, error);
    *ret_turn = worker->store != NULL ? TURN_BUSY : TURN_IDLE;
    return status;
}

/* What is next, after the steps of a turn. */
static enum turn turn_end(culex_worker *worker, bool is_stepped)
{
    int64_t now_ns = culex__worker_now_ns(worker);
    if (culex__worker_is_finished(worker, now_ns)) {
        bool was_armed = worker->wake.was_armed;
        culex__wake_leave(worker); /* a drain takes one more step, for what has come just now */
        return was_armed ? TURN_BUSY : TURN_LAST;
    }
    return !is_stepped && culex__wake_arm(worker, now_ns) ? TURN_IDLE : TURN_BUSY;
}

static culex_status worker_turn(culex_worker *worker, enum turn *ret_turn, culex_error *error)
{
    bool is_stepped = false;
    if (worker->store == NULL)
        return opening_turn(worker, ret_turn, error);
    culex__flight_collect(worker);
    culex__flight_hear_all(worker);
    fed_heed(worker);
    culex__reload_turn(worker);
    crew_check(worker);
    size_t queued = culex__crew_queued(worker);
    int64_t now_ns = culex__worker_now_ns(worker);
    stall_relieve(worker, queued, now_ns);
    culex__phases_advance(worker, now_ns);
    culex__overstay_tell(worker, now_ns);
    if (worker->phases.current == CULEX_WORKER_RUNNING)
        culex__ticks_run(worker, now_ns);
    culex__solitude_turn(worker, now_ns);
    culex_status status = culex__discovery_look(worker, error);
    if (status == CULEX_OK)
        status = culex__lanes_greet(worker, error);
    culex__neighbours_turn(worker, now_ns);
    culex__presence_turn(worker, now_ns);
    culex__figures_turn(worker, now_ns);
    culex__schemas_turn(worker, now_ns);
    culex__watch_turn(worker, now_ns);
    refusal_heed(worker);
    if (status == CULEX_OK)
        status = lanes_step(worker, queued, &is_stepped, error);
    culex__metrics_turn(worker);
    if (status == CULEX_OK)
        *ret_turn = turn_end(worker, is_stepped);
    return status;
}

/* Why they are left, be it those alone that do not need too much. */
static const char *left_reason(const struct culex_left *left)
{
    uint64_t rest = left->count - left->unserved;
    if (rest == 0)
        return "this worker lacks the offers for";
    if (left->unreadable == 0 && left->unserved == 0)
        return "no handler here knows";
    if (left->unreadable == left->count)
        return "this worker cannot read";
    return left->unserved > 0 ? "this worker cannot execute"
                              : "no handler here knows or that this worker cannot read";
}

static culex_status left_tell(const culex_worker *worker, culex_error *error)
{
    const struct culex_left *left = &worker->drain.left;
    char unserved[64] = "";
    if (left->unserved > 0 && left->unserved < left->count)
        snprintf(unserved, sizeof unserved, "; for %llu of them it lacks the offers",
                 (unsigned long long)left->unserved);
    return culex__fail(error, CULEX_ELEFT, "nothing is left but %llu run%s that %s, of job %s%s%s",
                       (unsigned long long)left->count, left->count == 1 ? "" : "s",
                       left_reason(left), left->job, left->has_others ? " and others" : "",
                       unserved);
}

/* Runs that did not come back from their handlers, or whose ends the store has not taken, run again
 * when their leases have ended. */
static culex_status unsent_tell(const culex_worker *worker, culex_error *error)
{
    size_t unsent = culex__worker_unsent(worker) + worker->flight_count;
    if (unsent == 0)
        return CULEX_OK;
    culex__fail(error, CULEX_EUNSENT,
                "%zu results could not be recorded; their runs will run again", unsent);
    culex__log_write(&worker->log, CULEX_LOG_ERROR, NULL, "%s", error->text);
    return CULEX_EUNSENT;
}

/* What ended the loop, when the loop itself went well. */
static culex_status end_reason(const culex_worker *worker, culex_error *error)
{
    if (worker->crew.is_broken)
        return culex__fail(error, CULEX_EBROKEN, "%s", worker->crew.broken_text);
    if (worker->refusal.code != CULEX_OK)
        *error = worker->refusal;
    return worker->refusal.code;
}

/* What the run ends with, whose loop ended with `status` and *error. */
static culex_status end_tell(const culex_worker *worker, culex_status status, culex_error *error)
{
    culex_error unsent = {0};
    culex_status unsent_status = unsent_tell(worker, &unsent);
    if (status != CULEX_OK || (status = end_reason(worker, error)) != CULEX_OK)
        return status;
    if (unsent_status != CULEX_OK)
        *error = unsent;
    if (unsent_status == CULEX_OK && worker->drain.left.count > 0)
        return left_tell(worker, error);
    return unsent_status;
}

culex_status culex__worker_loop(culex_worker *worker, culex_error *error)
{
    enum turn turn = TURN_BUSY;
    culex_status status = CULEX_OK;
    while (status == CULEX_OK && turn != TURN_LAST) {
        status = worker_turn(worker, &turn, error);
        culex__manager_turn(worker, culex__worker_now_ns(worker));
        if (status == CULEX_OK && turn == TURN_IDLE)
            culex__worker_wait(worker, culex__worker_now_ns(worker));
    }
    return end_tell(worker, status, error);
}

culex_status culex__worker_turns(culex_worker *worker, int64_t until_ns, bool *ret_is_over,
                                 culex_error *error)
{
    enum turn turn = TURN_BUSY;
    culex_status status = CULEX_OK;
    *ret_is_over = false;
    if (!culex__worker_hear(worker))
        return CULEX_OK;
    do
        status = worker_turn(worker, &turn, error);
    while (status == CULEX_OK && turn == TURN_BUSY && culex__worker_now_ns(worker) < until_ns);
    *ret_is_over = status != CULEX_OK || turn == TURN_LAST;
    if (*ret_is_over)
        return end_tell(worker, status, error);
    culex__worker_watch(worker, turn == TURN_IDLE);
    return CULEX_OK;
}
