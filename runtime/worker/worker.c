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
#include "client/newrun.h"
#include "worker/overstay.h"
#include "core/patience.h"
#include "worker/solitude.h"
#include "platform/descriptor.h"
#include "platform/events.h"

enum {
    LOOK_MS = 5000,       /* the store is asked at least this often */
    LOOK_LEAST_MS = 1000, /* or, where leases are short, up to this often */
    DRAIN_LIST_MS = 1000, /* while draining: whether all that is left is unknown here */
    DRAIN_LOOK_MS = 200,  /* and while draining, when others hold the last runs */
    SETUP_MS = 30000,     /* of a handlers' process, by the program */
    QUIET_MS = 1,         /* executors may hold back short runs' ends this long */
    STALL_MS = 200,       /* queued runs go back when the handlers stand still this long */
    CANCEL_MS = 2000,     /* from asking handlers to stop to giving them up */
    REAP_MS = 1000,       /* and to wait for those that were killed then */
    ANSWER_MS = 500,      /* and for each call after that, while the store answers */
};
#define MS       INT64_C(1000000)
#define SHORT_NS (1 * MS)
#define BROKEN_TEXT                                                                                \
    "the process that starts handler processes has died: no more runs can be executed, the "       \
    "worker "                                                                                      \
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

/* The newest reason is what the setup ends with. */
static culex_error *setup_error(culex_worker *worker)
{
    return worker != NULL ? &worker->setup_error : NULL;
}

/* Its executor has been made, perhaps in other processes: nothing would come of it. */
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
    return culex__worker_add_job(worker, &job, setup_error(worker));
}

culex_status culex_worker_retire(culex_worker *worker, const culex_job_type *type)
{
    struct culex_job job = {type, NULL, NULL, NULL};
    if (is_too_late(worker, "culex_worker_retire"))
        return CULEX_EINVAL;
    return culex__worker_add_job(worker, &job, setup_error(worker));
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

static void until_set(culex_worker *worker, int64_t wait_ms)
{
    int64_t now_ns = culex__worker_now_ns(worker);
    atomic_store(&worker->until_ns, wait_ms > 0 ? now_ns + wait_ms * MS : now_ns);
}

/* A process forked from ours has our signal handlers and our eventfd, and must not stop us. */
void culex_worker_stop(culex_worker *worker)
{
    int before = errno;
    if (worker == NULL || worker->owner != getpid())
        return;
    bool is_first = atomic_load(&worker->until_ns) == 0;
    bool has_grace = is_first && atomic_load(&worker->has_store);
    until_set(worker, has_grace ? worker->options.grace_ms : 0);
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
                           "no function that sets up a process of handlers");
    worker->hooks = (struct culex_process_hooks){open, close, user, open_call, close_call};
    return CULEX_OK;
}

size_t culex__worker_capacity(const culex_worker *worker)
{
    struct culex_executor *executor = worker->executor;
    return executor->ops->capacity != NULL ? executor->ops->capacity(executor)
                                           : worker->options.concurrency;
}

size_t culex__worker_limit(const culex_worker *worker)
{
    size_t handlers = culex__worker_capacity(worker);
    bool is_exact = worker->careful_count > 0 || worker->held_count > 0;
    return worker->average_ns < SHORT_NS && !is_exact && handlers > 0
               ? handlers + 2 * (size_t)worker->options.batch
               : handlers;
}

/* Nobody tells an idle worker of the lease that another one has just taken: it must find out in
 * time if that one dies. */
static int64_t idle_look_ms(const culex_worker *worker)
{
    int64_t third_ms = worker->options.lease_ms / 3;
    return third_ms >= LOOK_MS ? LOOK_MS : third_ms > LOOK_LEAST_MS ? third_ms : LOOK_LEAST_MS;
}

int64_t culex__worker_look_ns(const struct culex_lane *lane)
{
    const culex_worker *worker = lane->worker;
    int64_t wait_ms = worker->wake_fd < 0 ? worker->options.idle_wait_ms : idle_look_ms(worker);
    if (worker->options.drain && wait_ms > DRAIN_LOOK_MS)
        wait_ms = DRAIN_LOOK_MS;
    return lane->asked_ns + wait_ms * MS;
}

/* --- phases ---------------------------------------------------------------------------- */

/* There is no time for long waits any more. */
static void lanes_hurry(culex_worker *worker)
{
    worker->outage.until_ns = 0;
    for (size_t i = 0; i < worker->lane_count; i++)
        worker->lanes[i].retry_ns = 0;
}

/* A token that we took and cannot use must reach another worker. */
static void lanes_set_hinting(culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++)
        worker->lanes[i].is_hinting = true;
}

/* Before the worker gives anything back, or ends: the wake-up for it is another's. */
static void wake_leave(culex_worker *worker)
{
    if (!worker->was_armed)
        return;
    worker->store->ops->wake_disarm(worker->store);
    worker->is_armed = worker->was_armed = false;
    lanes_set_hinting(worker);
}

static void phase_enter(culex_worker *worker, enum culex_worker_phase phase, int64_t now_ns)
{
    lanes_hurry(worker);
    worker->phase = phase;
    if (phase != CULEX_WORKER_RUNNING)
        wake_leave(worker);
    switch (phase) {
    case CULEX_WORKER_RUNNING:
        worker->phase_ns = INT64_MAX;
        break;
    case CULEX_WORKER_STOPPING:
        if (atomic_load(&worker->until_ns) == 0) /* asked before the run began */
            until_set(worker, worker->options.grace_ms);
        culex__flight_withdraw(worker);
        worker->phase_ns = atomic_load(&worker->until_ns);
        culex__log_write(&worker->log, CULEX_LOG_INFO, NULL, "stopping: %zu runs still active",
                         worker->flight_count);
        break;
    case CULEX_WORKER_CANCELLING:
        until_set(worker, CANCEL_MS);
        worker->patient_ns = atomic_load(&worker->until_ns);
        culex__flight_cancel_all(worker);
        worker->phase_ns = now_ns + CANCEL_MS * MS;
        if (worker->executor->ops->can_kill)
            worker->phase_ns += REAP_MS * MS;
        break;
    case CULEX_WORKER_ABANDONING:
        culex__flight_abandon_all(worker);
        worker->phase_ns = now_ns + worker->store_settings.timeout_ms * MS;
        break;
    }
}

/* A store that does not answer has had its time. */
static bool store_is_given_up(const culex_worker *worker, int64_t now_ns)
{
    return worker->phase >= CULEX_WORKER_CANCELLING && now_ns >= worker->patient_ns &&
           worker->outage.is_on;
}

static uint64_t stops_take(culex_worker *worker)
{
    return culex__bell_take(worker->stop_fd);
}

static void phases_advance(culex_worker *worker, int64_t now_ns)
{
    for (uint64_t stops = stops_take(worker); stops > 0; stops--) {
        if (worker->phase == CULEX_WORKER_RUNNING)
            phase_enter(worker, CULEX_WORKER_STOPPING, now_ns);
        else if (worker->phase == CULEX_WORKER_STOPPING)
            phase_enter(worker, CULEX_WORKER_CANCELLING, now_ns);
        else
            break;
    }
    if (worker->phase == CULEX_WORKER_STOPPING && now_ns >= worker->phase_ns)
        phase_enter(worker, CULEX_WORKER_CANCELLING, now_ns);
    if (worker->phase == CULEX_WORKER_CANCELLING && now_ns >= worker->phase_ns)
        phase_enter(worker, CULEX_WORKER_ABANDONING, now_ns);
    bool is_late = worker->phase >= CULEX_WORKER_CANCELLING &&
                   now_ns >= (int64_t)atomic_load(&worker->until_ns);
    if (is_late && !store_is_given_up(worker, now_ns))
        until_set(worker, ANSWER_MS);
}

static size_t unsent_count(const culex_worker *worker)
{
    size_t count = 0;
    for (size_t i = 0; i < worker->lane_count; i++)
        count += worker->lanes[i].ack_count + worker->lanes[i].step.ack_count;
    return count;
}

/* A step that asked for no run and carries no result need not be repeated. */
static bool steps_are_pending(const culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        const struct culex_lane_step *step = &worker->lanes[i].step;
        if (step->is_pending && (step->want > 0 || step->ack_count > 0))
            return true;
    }
    return false;
}

/* Asked now and then: the answer costs the store more than a step. */
static bool is_stuck(culex_worker *worker, int64_t now_ns)
{
    if (now_ns < worker->stuck_look_ns)
        return false;
    if (culex__drain_is_stuck(worker, &worker->left))
        return true; /* it is asked again after the last step */
    worker->stuck_look_ns = now_ns + DRAIN_LIST_MS * MS;
    worker->left.count = 0;
    return false;
}

static bool is_drained(culex_worker *worker, int64_t now_ns)
{
    bool is_empty = true;
    if (!worker->options.drain || worker->executor_count > 0 || unsent_count(worker) > 0)
        return false;
    for (size_t i = 0; i < worker->lane_count; i++) {
        if (!worker->lanes[i].has_hello || worker->lanes[i].is_likely)
            return false;
        is_empty = is_empty && worker->lanes[i].is_empty;
    }
    if (culex__ticks_next_ns(worker) <= now_ns)
        return false;
    if (is_empty || is_stuck(worker, now_ns))
        return true;
    culex__drain_tell_paused(worker, now_ns);
    return false;
}

static bool is_finished(culex_worker *worker, int64_t now_ns)
{
    if (worker->phase == CULEX_WORKER_RUNNING)
        return is_drained(worker, now_ns);
    if (worker->phase == CULEX_WORKER_ABANDONING && now_ns >= worker->phase_ns)
        return true;
    if (store_is_given_up(worker, now_ns))
        return true; /* whoever stops us has something else to do than to wait for the store */
    bool is_told = unsent_count(worker) == 0 && !steps_are_pending(worker);
    bool is_quiet = worker->executor_count == 0 || worker->phase == CULEX_WORKER_ABANDONING;
    return is_told && is_quiet && worker->flight_count == 0;
}

/* --- waits ----------------------------------------------------------------------------- */

static int64_t min_ns(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool has_room(const culex_worker *worker)
{
    return worker->phase == CULEX_WORKER_RUNNING &&
           worker->executor_count < culex__worker_limit(worker);
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

void culex__lanes_set_likely(culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++)
        worker->lanes[i].is_likely = true;
}

static int64_t lane_next_ns(const struct culex_lane *lane)
{
    const culex_worker *worker = lane->worker;
    int64_t next_ns = INT64_MAX;
    if (lane->flight_count > 0)
        next_ns = lane->beat_ns;
    if (has_room(worker) && culex__solitude_lets_claim(lane))
        next_ns = lane->is_likely
                      ? 0
                      : min_ns(next_ns, min_ns(lane->due_ns, culex__worker_look_ns(lane)));
    if (!lane->has_hello && worker->refusal.code != CULEX_OK)
        return INT64_MAX;
    if (lane->ack_count > 0 || lane->step.is_pending || !lane->has_hello || lane->is_hinting)
        next_ns = 0;
    next_ns = min_ns(next_ns, culex__repair_next_ns(lane));
    if (next_ns < lane->retry_ns)
        next_ns = lane->retry_ns;
    if (worker->outage.is_on && next_ns < worker->outage.until_ns)
        next_ns = worker->outage.until_ns;
    return min_ns(next_ns, lane->flight_count > 0 ? lane->end_ns : INT64_MAX);
}

/* When the loop has something to do by itself. */
static int64_t worker_next_ns(const culex_worker *worker, size_t queued, int64_t now_ns)
{
    int64_t next_ns = now_ns + LOOK_MS * MS;
    for (size_t i = 0; i < worker->lane_count; i++)
        next_ns = min_ns(next_ns, lane_next_ns(&worker->lanes[i]));
    int64_t tick_ns = culex__ticks_next_ns(worker);
    if (worker->phase == CULEX_WORKER_RUNNING)
        next_ns =
            min_ns(next_ns, tick_ns > worker->outage.until_ns ? tick_ns : worker->outage.until_ns);
    next_ns = min_ns(next_ns, min_ns(worker->phase_ns, culex__overstay_next_ns(worker)));
    next_ns = min_ns(next_ns, culex__solitude_next_ns(worker));
    if (worker->arm_failures > 0 && worker->arm_retry_ns > now_ns && has_room(worker))
        next_ns = min_ns(next_ns, worker->arm_retry_ns);
    if (worker->phase >= CULEX_WORKER_CANCELLING)
        next_ns = min_ns(next_ns, worker->patient_ns > now_ns ? worker->patient_ns : INT64_MAX);
    if (queued > 0)
        next_ns = min_ns(next_ns, worker->progress_ns + STALL_MS * MS);
    /* Results may be gathering, or their announcement held back. */
    if (queued > 0 && worker->average_ns < SHORT_NS && next_ns < now_ns + QUIET_MS * MS)
        next_ns = now_ns + QUIET_MS * MS;
    else if (queued > 0 && worker->average_ns < SHORT_NS)
        next_ns = min_ns(next_ns, now_ns + QUIET_MS * MS);
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
    if (worker->is_armed)
        worker->store->ops->wake_disarm(worker->store);
    worker->is_armed = false;
    worker->was_armed = worker->was_armed && all_well_are_awaited(worker);
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
    int64_t wait_ms = culex__patience_ms(++worker->arm_failures, culex__env_random(worker->env));
    worker->wake_fd = -1;
    worker->is_armed = worker->was_armed = false;
    worker->arm_retry_ns = culex__worker_now_ns(worker) + wait_ms * MS;
    culex__log_write(&worker->log, CULEX_LOG_DEBUG, NULL, "no wake-ups for now: %s", error->text);
}

/* Asks the store to tell about new work. False when the stores should be asked once more
 * before waiting: what came in before the first arming left no mark. */
static bool wake_arm(culex_worker *worker, int64_t now_ns)
{
    culex_error error = {0};
    int fd = -1;
    if (!has_room(worker) || worker->solitude.is_on || now_ns < worker->outage.until_ns ||
        now_ns < worker->arm_retry_ns || (worker->is_armed && all_well_are_awaited(worker)))
        return true;
    size_t count = awaited_choose(worker);
    if (count == 0)
        return true;
    culex_status status = worker->store->ops->wake_arm(worker->store, worker->awaited_names, count,
                                                       LOOK_MS, &fd, &error);
    if (status != CULEX_OK) {
        wake_fail(worker, &error);
        return true;
    }
    bool is_new = fd >= 0 && (fd != worker->wake_fd || !worker->was_armed);
    worker->wake_fd = fd;
    worker->is_armed = fd >= 0;
    worker->was_armed = true;
    if (is_new)
        culex__lanes_set_likely(worker);
    return !is_new;
}

static void wake_take(culex_worker *worker)
{
    bool is_woken = false;
    culex_error error = {0};
    worker->is_armed = false;
    culex_status status = worker->store->ops->wake_take(worker->store, &is_woken, &error);
    if (status != CULEX_OK) {
        wake_fail(worker, &error);
        return;
    }
    worker->arm_failures = 0;
    if (!is_woken)
        return;
    if (has_room(worker) && !worker->solitude.is_on)
        culex__lanes_set_likely(worker);
    else
        lanes_set_hinting(worker);
}

static void worker_poll(culex_worker *worker, int64_t next_ns, int64_t now_ns)
{
    struct pollfd fds[3] = {
        {.fd = worker->stop_fd, .events = POLLIN},
        {.fd = worker->executor->ops->fd(worker->executor), .events = POLLIN},
        {.fd = worker->is_armed ? worker->wake_fd : -1, .events = POLLIN},
    };
    int64_t wait_ns = next_ns > now_ns ? next_ns - now_ns : 0;
    int64_t wait_ms = (wait_ns + MS - 1) / MS;
    int ready = worker->env->poll(worker->env->self, fds, 3, (int)wait_ms);
    if (ready > 0 && fds[2].revents != 0)
        wake_take(worker);
}

/* --- the loop -------------------------------------------------------------------------- */

/* Handlers that stand still must not sit on runs that others could start. */
static void stall_relieve(culex_worker *worker, size_t queued, int64_t now_ns)
{
    if (queued == 0 || now_ns - worker->progress_ns < STALL_MS * MS)
        return;
    worker->average_ns = 1000 * MS;
    worker->progress_ns = now_ns;
    culex__flight_withdraw(worker);
}

/* Without its executor a worker can only give back what it holds and end. */
static void executor_check(culex_worker *worker)
{
    struct culex_executor *executor = worker->executor;
    if (worker->is_executor_broken || executor->ops->is_broken == NULL ||
        !executor->ops->is_broken(executor))
        return;
    worker->is_executor_broken = true;
    culex__log_write(&worker->log, CULEX_LOG_ERROR, NULL, "%s", BROKEN_TEXT);
    culex__flight_withdraw(worker);
    if (worker->phase < CULEX_WORKER_CANCELLING)
        phase_enter(worker, CULEX_WORKER_CANCELLING, culex__worker_now_ns(worker));
}

/* Whoever refused this worker ends it; what it holds of other queues is theirs to get back. */
static void refusal_heed(culex_worker *worker)
{
    if (worker->refusal.code != CULEX_OK && worker->phase == CULEX_WORKER_RUNNING)
        phase_enter(worker, CULEX_WORKER_STOPPING, culex__worker_now_ns(worker));
}

/* One turn over all lanes, each time beginning with the next one. */
static culex_status lanes_step(culex_worker *worker, size_t queued, bool *ret_stepped,
                               culex_error *error)
{
    worker->lane_turn++;
    for (size_t i = 0; i < worker->lane_count; i++) {
        struct culex_lane *lane = &worker->lanes[(worker->lane_turn + i) % worker->lane_count];
        int64_t now_ns = culex__worker_now_ns(worker);
        culex__flight_attend(lane, now_ns);
        culex__repair_share(lane, now_ns);
        if (!culex__lane_wants_step(lane, queued, now_ns))
            continue;
        *ret_stepped = true;
        culex_status status = culex__lane_step(lane, error);
        if (status != CULEX_OK)
            return status;
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
    executor_check(worker);
    size_t queued = worker->executor->ops->queued(worker->executor);
    int64_t now_ns = culex__worker_now_ns(worker);
    stall_relieve(worker, queued, now_ns);
    phases_advance(worker, now_ns);
    culex__overstay_tell(worker, now_ns);
    if (worker->phase == CULEX_WORKER_RUNNING)
        culex__ticks_run(worker, now_ns);
    culex__solitude_turn(worker, now_ns);
    culex_status status = culex__lanes_greet(worker, error);
    refusal_heed(worker);
    if (status == CULEX_OK)
        status = lanes_step(worker, queued, &is_stepped, error);
    if (status != CULEX_OK)
        return status;
    now_ns = culex__worker_now_ns(worker);
    if (is_finished(worker, now_ns)) {
        *ret_is_finished = !worker->was_armed;
        wake_leave(worker); /* when drained: one more step, for what has come just now */
        return CULEX_OK;
    }
    if (is_stepped)
        return CULEX_OK;
    if (!any_likely(worker) && !wake_arm(worker, now_ns))
        return CULEX_OK;
    queued = worker->executor->ops->queued(worker->executor);
    worker_poll(worker, worker_next_ns(worker, queued, now_ns), now_ns);
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

/* Runs that never came back from their handlers end with their leases, as do those whose ends
 * nobody took. */
static culex_status left_tell(const culex_worker *worker, culex_error *error)
{
    const struct culex_left *left = &worker->left;
    return culex__fail(
        error, CULEX_ELEFT, "nothing is left but %llu runs that no handler here knows, of job %s%s",
        (unsigned long long)left->count, left->job, left->has_others ? " and others" : "");
}

static culex_status unsent_tell(const culex_worker *worker, culex_error *error)
{
    size_t unsent = unsent_count(worker) + worker->flight_count;
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
    if (worker->is_executor_broken)
        return culex__fail(error, CULEX_EBROKEN, "%s", BROKEN_TEXT);
    if (worker->refusal.code != CULEX_OK)
        *error = worker->refusal;
    return worker->refusal.code;
}

culex_status culex_worker_run(culex_worker *worker, culex_error *error)
{
    /* The loop needs the texts of passing troubles for its log, whoever wants the last one. */
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
    if (status == CULEX_OK) {
        status = worker_loop(worker, &own);
        culex_error unsent = {0};
        if (unsent_tell(worker, &unsent) != CULEX_OK && status == CULEX_OK) {
            status = CULEX_EUNSENT;
            own = unsent;
        }
        culex_error reason = {0};
        if ((status == CULEX_OK || status == CULEX_EUNSENT) &&
            end_reason(worker, &reason) != CULEX_OK) {
            own = reason;
            status = reason.code;
        }
        if (status == CULEX_OK && worker->left.count > 0)
            status = left_tell(worker, &own);
    }
    culex__worker_end(worker);
    atomic_store(&worker->is_running, false);
    if (status != CULEX_OK && error != NULL)
        *error = own;
    return status;
}
