/* worker/worker.c - the loop of a worker: results in, STEP, work out, wait.
 *
 * One thread, which never runs a handler: those belong to the executor. Every queue is a lane
 * (lane.c) with its own step, acks and claims; a claimed run is a flight (flight.c) from its claim
 * to the answer to its ack. A turn of the loop collects what executors have finished, steps the
 * lanes that want it, and waits only when none does: for a finished run, a wake-up of the store, a
 * stop, or the next instant at which something is due. */
#include "worker/worker_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "platform/descriptor.h"
#include "platform/events.h"
#include "worker/pace.h"
#include "worker/flight.h"
#include "worker/greeting.h"
#include "worker/jobs.h"
#include "worker/overstay.h"
#include "worker/phases.h"
#include "worker/repair.h"
#include "worker/setup.h"
#include "worker/solitude.h"
#include "worker/tick.h"
#include "worker/waits.h"
#include "worker/wake.h"
#include "worker/worker_options.h"

enum { SETUP_MS = 30000 }; /* what the open function of culex_worker_on_process may take */
#define BROKEN_TEXT                                                                                \
    "the process that starts the children has died: no more runs can be executed, the worker "     \
    "gives back what it holds and ends"

/* --- life ----------------------------------------------------------------------------------- */

culex_status culex_worker_create(const culex_worker_options *options, culex_worker **ret_worker,
                                 culex_error *error)
{
    const culex_worker_options none = {0};
    if (ret_worker == NULL)
        return culex__fail(error, CULEX_EINVAL, "no place for the worker");
    if (options == NULL)
        options = &none;
    culex_status status = culex__worker_options_check(options, error);
    if (status != CULEX_OK)
        return status;
    culex_worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for a worker");
    worker->owner = getpid();
    worker->setup_ms = SETUP_MS;
    worker->options = *options;
    culex__worker_options_complete(&worker->options);
    worker->env = culex__env_system();
    worker->log = (struct culex_log){.sink = culex__log_stderr(),
                                     .env = worker->env,
                                     .format = worker->options.log_format,
                                     .level = worker->options.log_level};
    worker->stop_fd = culex__bell_open();
    if (worker->stop_fd < 0) {
        status = culex__fail(error, CULEX_ENOMEM, "cannot make an eventfd: %s", strerror(errno));
        culex_worker_free(worker);
        return status;
    }
    *ret_worker = worker;
    return CULEX_OK;
}

void culex_worker_free(culex_worker *worker)
{
    if (worker == NULL)
        return;
    culex__descriptor_close(worker->stop_fd);
    free(worker->jobs);
    free(worker);
}

void culex__worker_set_env(culex_worker *worker, const struct culex_env *env)
{
    worker->env = worker->log.env = env;
}

void culex__worker_set_store(culex_worker *worker, struct culex_store *store)
{
    worker->given_store = store;
}

void culex__worker_set_executor(culex_worker *worker, culex_executor_make make)
{
    worker->executor_make = make;
}

void culex__worker_set_private(culex_worker *worker)
{
    worker->is_private = true;
}

void culex__worker_set_sink(culex_worker *worker, struct culex_log_sink sink)
{
    worker->log.sink = sink;
}

/* Where a call that sets the worker up leaves its reason; a later reason replaces it. */
static culex_error *setup_error(culex_worker *worker)
{
    return worker != NULL ? &worker->setup_error : NULL;
}

/* The executor has been made, perhaps in other processes, and would not hear of the change. */
static bool is_too_late(culex_worker *worker, const char *what)
{
    if (worker == NULL || !atomic_load(&worker->is_running))
        return false;
    culex__log_write(&worker->log, CULEX_LOG_ERROR, NULL,
                     "%s was called after culex_worker_run had begun, and is refused", what);
    return true;
}

culex_status culex_worker_register(culex_worker *worker, const culex_job_type *type,
                                   culex_handler_call call, culex_handler_fn handler, void *user)
{
    struct culex_job job = {type, call, handler, user};
    if (is_too_late(worker, "culex_worker_register"))
        return CULEX_EINVAL;
    if (call == NULL || handler == NULL)
        return culex__fail(setup_error(worker), CULEX_EINVAL,
                           "job %s is registered without a handler",
                           type != NULL && type->name != NULL ? type->name : "?");
    return culex__jobs_add(worker, &job, setup_error(worker));
}

culex_status culex_worker_retire(culex_worker *worker, const culex_job_type *type)
{
    struct culex_job job = {type, NULL, NULL, NULL};
    if (is_too_late(worker, "culex_worker_retire"))
        return CULEX_EINVAL;
    return culex__jobs_add(worker, &job, setup_error(worker));
}

int culex_worker_setup_failed(culex_worker *worker, const char *format, ...)
{
    char text[sizeof worker->setup_error.text] = "";
    va_list list;
    if (worker == NULL || format == NULL)
        return 1;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    culex__fail(&worker->setup_error, CULEX_EINVAL, "%s", text);
    return 1;
}

/* A process forked from ours has our signal handlers and our eventfd, and must not stop us. */
void culex_worker_stop(culex_worker *worker)
{
    int before = errno;
    if (worker == NULL || worker->owner != getpid())
        return;
    bool is_first = atomic_load(&worker->until_ns) == 0;
    bool has_grace = is_first && atomic_load(&worker->has_store);
    culex__until_set(worker, has_grace ? worker->options.grace_ms : 0);
    culex__bell_ring(worker->stop_fd);
    errno = before;
}

culex_status culex_worker_on_process(culex_worker *worker, culex_process_open open,
                                     culex_process_close close, void *user)
{
    return culex_worker_on_process_by(worker, NULL, NULL, open, close, user);
}

culex_status culex_worker_on_process_by(culex_worker *worker, culex_process_open_call open_call,
                                        culex_process_close_call close_call,
                                        culex_process_open open, culex_process_close close,
                                        void *user)
{
    if (is_too_late(worker, "culex_worker_on_process"))
        return CULEX_EINVAL;
    if (worker == NULL || open == NULL)
        return culex__fail(setup_error(worker), CULEX_EINVAL,
                           "no function that sets up a child process");
    worker->hooks = (struct culex_process_hooks){open, close, user, open_call, close_call};
    return CULEX_OK;
}

/* --- the loop -------------------------------------------------------------------------- */

/* Queued runs go back to the store when the handlers before them do not end. */
static void stall_relieve(culex_worker *worker, size_t queued, int64_t now_ns)
{
    if (now_ns < culex__pace_stall_ns(worker, queued))
        return;
    culex__pace_note_stall(worker, now_ns);
    culex__flight_withdraw(worker);
}

/* Without its executor a worker can only give back what it holds and end. */
static void crew_check(culex_worker *worker)
{
    if (!culex__crew_breaks(worker))
        return;
    culex__log_write(&worker->log, CULEX_LOG_ERROR, NULL, "%s", BROKEN_TEXT);
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

static void lane_repair(struct culex_lane *lane, int64_t now_ns)
{
    culex_error error = {0};
    culex_status status = culex__repair_share(lane, now_ns, &error);
    if (status != CULEX_OK)
        culex__worker_call_failed(lane->worker, lane, status, &error);
}

/* One turn over all lanes. It begins behind the lane that was given runs last: queues that all have
 * runs take turns at the handlers that become free. */
static culex_status lanes_step(culex_worker *worker, size_t queued, bool *ret_stepped,
                               culex_error *error)
{
    size_t first = worker->lane_turn;
    for (size_t i = 0; i < worker->lane_count; i++) {
        size_t at = (first + i) % worker->lane_count;
        struct culex_lane *lane = &worker->lanes[at];
        size_t runs_before = worker->crew.count;
        int64_t now_ns = culex__worker_now_ns(worker);
        culex__flight_attend(lane, now_ns);
        lane_repair(lane, now_ns);
        if (!culex__lane_wants_step(lane, queued, now_ns))
            continue;
        *ret_stepped = true;
        culex_status status = culex__lane_step(lane, error);
        if (status != CULEX_OK)
            return status;
        if (worker->crew.count > runs_before)
            worker->lane_turn = at + 1;
    }
    return CULEX_OK;
}

static culex_status worker_turn(culex_worker *worker, bool *ret_is_finished, culex_error *error)
{
    bool is_stepped = false;
    culex__flight_collect(worker);
    culex__flight_hear_all(worker);
    if (atomic_exchange(&worker->is_fed, false))
        culex__lanes_set_likely(worker);
    crew_check(worker);
    size_t queued = culex__crew_queued(worker);
    int64_t now_ns = culex__worker_now_ns(worker);
    stall_relieve(worker, queued, now_ns);
    culex__phases_advance(worker, now_ns);
    culex__overstay_tell(worker, now_ns);
    if (worker->phases.current == CULEX_WORKER_RUNNING)
        culex__ticks_run(worker, now_ns);
    culex__solitude_turn(worker, now_ns);
    culex_status status = culex__lanes_greet(worker, error);
    refusal_heed(worker);
    if (status == CULEX_OK)
        status = lanes_step(worker, queued, &is_stepped, error);
    if (status != CULEX_OK)
        return status;
    now_ns = culex__worker_now_ns(worker);
    if (culex__worker_is_finished(worker, now_ns)) {
        *ret_is_finished = !worker->wake.was_armed;
        culex__wake_leave(worker); /* a drain takes one more step, for what has come just now */
        return CULEX_OK;
    }
    if (is_stepped)
        return CULEX_OK;
    if (culex__wake_arm(worker, now_ns))
        culex__worker_wait(worker, now_ns);
    return CULEX_OK;
}

static culex_status worker_loop(culex_worker *worker, culex_error *error)
{
    bool is_finished_now = false;
    culex_status status = CULEX_OK;
    while (status == CULEX_OK && !is_finished_now)
        status = worker_turn(worker, &is_finished_now, error);
    return status;
}

static culex_status left_tell(const culex_worker *worker, culex_error *error)
{
    const struct culex_left *left = &worker->drain.left;
    return culex__fail(
        error, CULEX_ELEFT, "nothing is left but %llu runs that no handler here knows, of job %s%s",
        (unsigned long long)left->count, left->job, left->has_others ? " and others" : "");
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
        return culex__fail(error, CULEX_EBROKEN, "%s", BROKEN_TEXT);
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

culex_status culex_worker_run(culex_worker *worker, culex_error *error)
{
    /* The loop logs the texts of passing troubles, so it needs an error even if the caller gave
     * none. */
    culex_error own = {0};
    if (worker == NULL)
        return culex__fail(error, CULEX_EINVAL, "no worker");
    if (worker->owner != getpid())
        return culex__fail(error, CULEX_EINVAL,
                           "this worker was created by process %ld, from which this one was "
                           "forked: create a worker after fork()",
                           (long)worker->owner);
    if (atomic_exchange(&worker->is_running, true))
        return culex__fail(error, CULEX_EINVAL, "this worker is running already");
    atomic_store(&worker->has_store, false);
    atomic_store(&worker->until_ns, 0);
    culex_status status = culex__worker_begin(worker, &own);
    if (status == CULEX_OK)
        status = end_tell(worker, worker_loop(worker, &own), &own);
    culex__worker_end(worker);
    atomic_store(&worker->is_running, false);
    if (status != CULEX_OK && error != NULL)
        *error = own;
    return status;
}
