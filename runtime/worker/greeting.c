/* worker/greeting.c - HELLO to every queue, before anything is claimed from any.
 *
 * A queue may refuse this worker for good: a right is missing, or a slot of the cluster. That ends
 * the worker, and with it what it holds of other queues; where it is restarted again and again,
 * those runs would die of its losses. One that cannot be asked for the moment does not delay the
 * others. Should it refuse later, the worker stops as if somebody had asked it to. */
#include "worker/greeting.h"

#include <string.h>

#include "worker/lane.h"
#include "worker/lifeline.h"
#include "worker/outage.h"
#include "worker/worker_private.h"

void culex__greeting_prepare(struct culex_lane *lane)
{
    lane->greeting = (struct culex_greeting){.is_done = false};
    strcpy(lane->greeting.session, lane->worker->identity.session);
}

void culex__greeting_make_optional(struct culex_lane *lane)
{
    lane->greeting.is_optional = true;
}

/* The first lane that notices renames the worker: the others still live under the old name. */
void culex__greeting_repeat(struct culex_lane *lane)
{
    culex_worker *worker = lane->worker;
    if (lane->greeting.name_count == worker->identity.name_count)
        culex__identity_rename(worker);
    culex__session_choose(worker, lane->greeting.session);
    lane->greeting.is_done = false;
}

static void released_note(const struct culex_lane *lane, size_t released)
{
    culex_worker *worker = lane->worker;
    const struct culex_log_subject subject = {.queue = lane->name};
    culex__pace_note_released(worker, released);
    if (released > 0)
        culex__log_write(&worker->log, CULEX_LOG_WARNING, &subject,
                         "queue %s: %zu runs of this worker's former life were given back",
                         lane->name, released);
}

/* A lost answer leaves unknown how many runs it told of: the repeat does not tell of them again. */
static void uncounted_note(struct culex_lane *lane)
{
    culex_worker *worker = lane->worker;
    const struct culex_log_subject subject = {.queue = lane->name};
    if (!lane->greeting.is_lost)
        return;
    lane->greeting.is_lost = false;
    culex__pace_note_uncounted(worker);
    culex__log_write(&worker->log, CULEX_LOG_WARNING, &subject,
                     "queue %s: an answer to HELLO was lost; runs of this worker's former life "
                     "may have been given back with it",
                     lane->name);
}

/* Once for each name, however often the store has to be asked. */
static void name_note(struct culex_lane *lane)
{
    unsigned number = lane->worker->identity.name_count + 1;
    if (lane->greeting.noted_name == number)
        return;
    lane->greeting.noted_name = number;
    culex__lifeline_note(lane);
}

static culex_status lane_hello(struct culex_lane *lane, culex_error *error)
{
    culex_worker *worker = lane->worker;
    size_t released = 0;
    int64_t now_ms = 0, sent_ns = culex__worker_now_ns(worker);
    name_note(lane);
    culex_status status =
        worker->store->ops->hello(worker->store, lane->name, worker->identity.name,
                                  lane->greeting.session, &released, &now_ms, error);
    if (status != CULEX_OK) {
        lane->greeting.is_lost |= culex__call_may_be_applied(worker->store, status);
        return status;
    }
    culex__worker_learn_clock(worker, now_ms, sent_ns);
    lane->greeting.is_done = true;
    lane->greeting.name_count = worker->identity.name_count;
    culex__outlook_set_likely(lane);
    released_note(lane, released);
    uncounted_note(lane);
    return CULEX_OK;
}

void culex__refusal_reset(culex_worker *worker)
{
    worker->refusal = (culex_error){0};
}

/* With runs at work the worker goes on for a while, so the reason for its end is logged now. */
static void refusal_tell(const struct culex_lane *lane)
{
    const struct culex_worker *worker = lane->worker;
    const struct culex_log_subject subject = {.queue = lane->name};
    if (worker->flight_count > 0)
        culex__log_write(&worker->log, CULEX_LOG_ERROR, &subject,
                         "queue %s refuses this worker, which ends when its runs have: %s",
                         lane->name, worker->refusal.text);
}

static void lane_bar(struct culex_lane *lane, const culex_error *error)
{
    const struct culex_log_subject subject = {.queue = lane->name};
    lane->greeting.is_barred = true;
    culex__log_write(&lane->worker->log, CULEX_LOG_ERROR, &subject,
                     "queue %s refuses this worker and is not served: %s", lane->name, error->text);
}

static culex_status lane_greet(struct culex_lane *lane, culex_error *error)
{
    culex_worker *worker = lane->worker;
    culex_status status = lane_hello(lane, error);
    if (status == CULEX_OK)
        culex__worker_call_succeeded(worker, &lane->trouble);
    else if (culex__status_is_fatal(status) && lane->greeting.is_optional)
        lane_bar(lane, error);
    else if (culex__status_is_fatal(status)) {
        worker->refusal = *error;
        worker->refusal.code = status;
        refusal_tell(lane);
    } else if (status != CULEX_EMOVED)
        culex__worker_call_failed(worker, lane, &lane->trouble, status, error);
    return status == CULEX_EMOVED ? status : CULEX_OK;
}

int64_t culex__greeting_next_ns(const struct culex_lane *lane)
{
    const struct culex_greeting *greeting = &lane->greeting;
    bool is_due =
        !greeting->is_done && !greeting->is_barred && lane->worker->refusal.code == CULEX_OK;
    return is_due ? culex__outage_call_ns(lane) : INT64_MAX;
}

culex_status culex__lanes_greet(culex_worker *worker, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < worker->lane_count && status == CULEX_OK; i++) {
        struct culex_lane *lane = &worker->lanes[i];
        if (culex__worker_now_ns(worker) >= culex__greeting_next_ns(lane))
            status = lane_greet(lane, error);
    }
    return status;
}
