/* worker/worker.c - a worker as its program sees it: made, told what it serves, run, stopped. */
#include "worker/worker_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <culex/chain.h>

#include "base/error.h"
#include "client/newrun.h"
#include "platform/descriptor.h"
#include "platform/events.h"
#include "worker/beacon.h"
#include "worker/jobs.h"
#include "worker/loop.h"
#include "worker/phases.h"
#include "worker/reload.h"
#include "worker/setup.h"
#include "worker/waits.h"
#include "worker/worker_options.h"

enum { SETUP_MS = 30000 }; /* what the open function of culex_worker_on_process may take */

/* --- life ----------------------------------------------------------------------------------- */

culex_status culex_worker_create(const culex_worker_options *options, culex_worker **ret_worker,
                                 culex_error *error)
{
    const culex_worker_options none = {0};
    if (ret_worker == NULL)
        return culex__fail(error, CULEX_EINVAL, "no place for the worker");
    *ret_worker = NULL;
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
    atomic_store(&worker->grace_ms, worker->options.grace_ms);
    culex__reload_init(worker);
    culex__beacon_init(worker);
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

void culex__worker_set_keys(culex_worker *worker, const struct culex_keys *keys)
{
    worker->keys = keys;
    worker->has_given_keys = true;
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

void culex__worker_set_unscheduled(culex_worker *worker)
{
    worker->is_unscheduled = true;
}

void culex__worker_set_telling(culex_worker *worker)
{
    worker->is_telling = true;
}

void culex__worker_set_lent(culex_worker *worker)
{
    worker->is_lent = true;
}

void culex__worker_set_private(culex_worker *worker)
{
    worker->is_private = true;
}

void culex__worker_set_sink(culex_worker *worker, struct culex_log_sink sink)
{
    worker->log.sink = sink;
}

/* --- what it serves -------------------------------------------------------------------------- */

/* Where a call that sets the worker up leaves its reason; a later reason replaces it. */
static culex_error *setup_error(culex_worker *worker)
{
    return worker != NULL ? &worker->setup_error : NULL;
}

/* The executor has been made, perhaps in other processes, and would not hear of the change. */
static bool is_too_late(culex_worker *worker, const char *what)
{
    if (worker == NULL || atomic_load(&worker->life) == CULEX_LIFE_NONE)
        return false;
    culex__log_write(&worker->log, CULEX_LOG_ERROR, NULL,
                     "%s was called after the worker had begun to run, and is refused", what);
    return true;
}

culex_status culex_worker_register(culex_worker *worker, const culex_job_type *type,
                                   culex_handler_call call, culex_handler_fn handler, void *user)
{
    struct culex_job job = {.type = type, .call = call, .handler = handler, .user = user};
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
    struct culex_job job = {.type = type};
    if (is_too_late(worker, "culex_worker_retire"))
        return CULEX_EINVAL;
    return culex__jobs_add(worker, &job, setup_error(worker));
}

/* A chain that is there already is nothing new. */
static bool has_chain(const culex_worker *worker, const culex_chain *chain)
{
    for (size_t i = 0; i < worker->chain_count; i++) {
        if (worker->chains[i] == chain)
            return true;
    }
    return false;
}

culex_status culex_worker_register_chain(culex_worker *worker, const culex_chain *chain)
{
    if (is_too_late(worker, "culex_worker_register_chain"))
        return CULEX_EINVAL;
    if (worker == NULL || chain == NULL || chain->step_count < 2)
        return culex__fail(setup_error(worker), CULEX_EINVAL, "no worker, or no chain to register");
    for (size_t i = 0; i < chain->step_count; i++) {
        culex_status status = culex__job_type_check(chain->steps[i], setup_error(worker));
        if (status != CULEX_OK)
            return status;
    }
    if (has_chain(worker, chain))
        return CULEX_OK;
    const culex_chain **chains =
        realloc(worker->chains, (worker->chain_count + 1) * sizeof(*chains));
    if (chains == NULL)
        return culex__fail(setup_error(worker), CULEX_ENOMEM, "no memory for chain %s",
                           chain->name);
    worker->chains = chains;
    worker->chains[worker->chain_count++] = chain;
    return CULEX_OK;
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

const char *culex_worker_setup_reason(culex_worker *worker)
{
    if (worker == NULL)
        return "";
    /* Handlers may ask, whose threads share it. */
    if (atomic_load(&worker->life) != CULEX_LIFE_NONE)
        return "the worker has begun to run, before which it is set up";
    return worker->setup_error.text;
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

/* The job's own pointer to its type: another file of the program may have another. */
static culex_status job_of_hook(culex_worker *worker, const culex_job_type **type)
{
    culex_status status = culex__job_type_check(*type, &worker->setup_error);
    if (status != CULEX_OK)
        return status;
    const struct culex_job *job = culex__jobs_find(worker, (*type)->wire);
    if (job == NULL || job->call == NULL)
        return culex__fail(&worker->setup_error, CULEX_EINVAL,
                           job == NULL ? "job %s gets a hook and is not registered: register it "
                                         "before"
                                       : "job %s gets a hook and is retired: its runs are never "
                                         "executed",
                           (*type)->name);
    *type = job->type;
    return CULEX_OK;
}

culex_status culex_worker_add_hook(culex_worker *worker, const culex_job_type *type,
                                   const culex_hook *hook)
{
    return culex_worker_add_hook_by(worker, type, hook, NULL);
}

culex_status culex_worker_add_hook_by(culex_worker *worker, const culex_job_type *type,
                                      const culex_hook *hook, const culex_hook_calls *calls)
{
    struct culex_run_hook row = {.type = type};
    culex_status status = CULEX_OK;
    if (is_too_late(worker, "culex_worker_add_hook"))
        return CULEX_EINVAL;
    if (worker == NULL || hook == NULL)
        return culex__fail(setup_error(worker), CULEX_EINVAL, "no hook to add");
    row.hook = *hook;
    if (calls != NULL)
        row.calls = *calls;
    if (type != NULL)
        status = job_of_hook(worker, &row.type);
    return status == CULEX_OK ? culex__run_hooks_add(&worker->run_hooks, &row, &worker->setup_error)
                              : status;
}

culex_status culex_worker_on_enqueue(culex_worker *worker, culex_enqueue_hook hook, void *user)
{
    return culex_worker_on_enqueue_by(worker, NULL, hook, user);
}

culex_status culex_worker_on_enqueue_by(culex_worker *worker, culex_enqueue_hook_call call,
                                        culex_enqueue_hook hook, void *user)
{
    if (worker == NULL || is_too_late(worker, "culex_worker_on_enqueue"))
        return CULEX_EINVAL;
    worker->gate = (struct culex_enqueue_gate){hook, call, user};
    return CULEX_OK;
}

/* --- run and stop ----------------------------------------------------------------------------- */

/* A process forked from ours has our signal handlers and our eventfd, and must not stop us. */
void culex_worker_stop(culex_worker *worker)
{
    int before = errno;
    if (worker == NULL || worker->owner != getpid())
        return;
    bool is_first = atomic_load(&worker->until_ns) == 0;
    bool has_grace = is_first && atomic_load(&worker->has_store);
    culex__until_set(worker, has_grace ? atomic_load(&worker->grace_ms) : 0);
    culex__bell_ring(worker->stop_fd);
    errno = before;
}

/* From one hand into another; false when it is in none of the kind. */
static bool life_take(culex_worker *worker, int from, int to)
{
    return atomic_compare_exchange_strong(&worker->life, &from, to);
}

static culex_status owner_check(const culex_worker *worker, culex_error *error)
{
    if (worker == NULL)
        return culex__fail(error, CULEX_EINVAL, "no worker");
    if (worker->owner == getpid())
        return CULEX_OK;
    return culex__fail(error, CULEX_EINVAL,
                       "this worker was created by process %ld, from which this one was "
                       "forked: create a worker after fork()",
                       (long)worker->owner);
}

static culex_status life_begin(culex_worker *worker, culex_error *error)
{
    culex_status status = owner_check(worker, error);
    if (status != CULEX_OK)
        return status;
    if (!life_take(worker, CULEX_LIFE_NONE, CULEX_LIFE_BUSY))
        return culex__fail(error, CULEX_EINVAL, "this worker is running already");
    /* The bell first: a stop in between is over with the one or stays with the other. */
    if (worker->has_lived)
        culex__bell_take(worker->stop_fd);
    atomic_store(&worker->has_store, false);
    atomic_store(&worker->until_ns, 0);
    return CULEX_OK;
}

/* *own is what it ended with, told to a caller who wants to know. */
static culex_status life_end(culex_worker *worker, culex_status status, const culex_error *own,
                             culex_error *error)
{
    culex__beacon_quench(worker);
    culex__worker_end(worker);
    worker->has_lived = true;
    atomic_store(&worker->life, CULEX_LIFE_NONE);
    if (status != CULEX_OK && error != NULL)
        *error = *own;
    return status;
}

/* Stops it without grace, and waits for that. */
static culex_status life_cut(culex_worker *worker)
{
    culex_error own = {0};
    culex_worker_stop(worker);
    culex_worker_stop(worker);
    return life_end(worker, culex__worker_loop(worker, &own), &own, NULL);
}

/* Nobody would be woken any more. */
static culex_status beacon_missed(culex_worker *worker, culex_error *error)
{
    culex__beacon_lose(worker);
    life_cut(worker);
    return culex__fail(error, CULEX_EBROKEN,
                       "the program has closed the descriptor of culex_worker_fd");
}

/* The loop logs the texts of passing troubles, so each of these has an error of its own, even if
 * the caller gave none. */
culex_status culex_worker_run(culex_worker *worker, culex_error *error)
{
    culex_error own = {0};
    culex_status status = life_begin(worker, error);
    if (status != CULEX_OK)
        return status;
    status = culex__worker_begin(worker, &own);
    if (status == CULEX_OK)
        status = culex__worker_loop(worker, &own);
    return life_end(worker, status, &own, error);
}

/* It has nothing to wait for: what comes is seen by a drain, and the clock stands. */
culex_status culex_worker_start(culex_worker *worker, culex_error *error)
{
    culex_error own = {0};
    culex_status status = owner_check(worker, error);
    if (status == CULEX_OK && worker->is_lent)
        status = culex__fail(error, CULEX_EINVAL,
                             "the worker of a test kit is not started: drain it, by "
                             "culex_test_drain or culex_worker_run");
    if (status == CULEX_OK)
        status = life_begin(worker, error);
    if (status != CULEX_OK)
        return status;
    bool had_beacon = worker->beacon.fd >= 0;
    status = culex__beacon_open(worker, &own);
    if (status == CULEX_OK)
        status = culex__worker_begin(worker, &own);
    if (status != CULEX_OK && !had_beacon)
        culex__beacon_free(worker);
    if (status != CULEX_OK)
        return life_end(worker, status, &own, error);
    culex__worker_watch(worker, false);
    atomic_store(&worker->life, CULEX_LIFE_STARTED);
    return CULEX_OK;
}

int culex_worker_fd(const culex_worker *worker)
{
    return worker != NULL && worker->owner == getpid() ? atomic_load(&worker->beacon.fd) : -1;
}

culex_status culex_worker_process(culex_worker *worker, int64_t budget_ms, culex_error *error)
{
    culex_error own = {0};
    bool is_over = false;
    culex_status status = owner_check(worker, error);
    if (status != CULEX_OK)
        return status;
    if (budget_ms < 0)
        return culex__fail(error, CULEX_EINVAL, "a budget of %lld ms", (long long)budget_ms);
    if (!life_take(worker, CULEX_LIFE_STARTED, CULEX_LIFE_BUSY))
        return culex__fail(error, CULEX_EINVAL,
                           "this worker was not started, is over, or is in another call");
    if (!culex__beacon_is_whole(worker))
        return beacon_missed(worker, error);
    int64_t until_ns = culex__after_ms(culex__worker_now_ns(worker), budget_ms);
    status = culex__worker_turns(worker, until_ns, &is_over, &own);
    if (!is_over) {
        atomic_store(&worker->life, CULEX_LIFE_STARTED);
        return CULEX_OK;
    }
    life_end(worker, status, &own, error);
    return status != CULEX_OK
               ? status
               : culex__fail(error, CULEX_EOVER, "the worker has %s",
                             worker->phases.current == CULEX_WORKER_RUNNING ? "drained its queues"
                                                                            : "stopped as asked");
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Of one that was started: without grace, but its runs go back to the store. */
static void finish(culex_worker *worker)
{
    if (worker->owner == getpid() && life_take(worker, CULEX_LIFE_STARTED, CULEX_LIFE_BUSY))
        life_cut(worker);
}

void culex__worker_free(culex_worker *worker)
{
    finish(worker);
    culex__descriptor_close(worker->stop_fd);
    culex__reload_free(worker);
    culex__beacon_free(worker);
    culex__run_hooks_free(&worker->run_hooks);
    free(worker->jobs);
    free(worker->chains);
    free(worker);
}

void culex_worker_free(culex_worker *worker)
{
    if (worker != NULL && !worker->is_lent)
        culex__worker_free(worker);
}
