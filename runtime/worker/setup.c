/* worker/setup.c - what a worker needs before its loop and gives back after it. */
#include "worker/worker_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "worker/strange_queues.h"
#include "worker/outage.h"
#include "worker/overstay.h"
#include "worker/setup.h"
#include "worker/crew.h"
#include "worker/flight_pool.h"
#include "worker/discovery.h"
#include "worker/lanes.h"
#include "worker/lifeline.h"
#include "worker/neighbours.h"
#include "core/patience.h"
#include "worker/presence.h"
#include "worker/queue_options.h"
#include "platform/self.h"
#include "worker/solitude.h"
#include "worker/wake.h"
#include "store/register.h"
#include "store/storeurl.h"

/* A worker that was stopped before it has run tries this long to reach its store. */
#define STOPPED_NS INT64_C(2000000000)

/* --- store ----------------------------------------------------------------------------- */

/* Waits a while for the stop descriptor; true when it is time to go. The signal that stops us
 * interrupts the wait, too. */
static bool stop_await(culex_worker *worker, int64_t wait_ms)
{
    struct pollfd fd = {.fd = worker->stop_fd, .events = POLLIN};
    return worker->env->poll(worker->env->self, &fd, 1, (int)wait_ms) > 0 ||
           worker->env->poll(worker->env->self, &fd, 1, 0) > 0;
}

static culex_status settings_read(culex_worker *worker, culex_error *error)
{
    const culex_client_options told = {.timeout_ms = worker->options.store_timeout_ms,
                                       .prefix = worker->options.prefix,
                                       .synchronous = worker->options.synchronous};
    return culex__store_settings_read(worker->url, &told, &worker->store_settings, error);
}

/* A server comes back; the folder of a file may be mounted late, which a drain does not wait for:
 * it is to end. */
static bool is_worth_waiting(const culex_worker *worker, culex_status status, culex_error *error)
{
    const struct culex__store_kind *kind = culex__store_kind_find(worker->url);
    if (culex__status_is_fatal(status))
        return false;
    if (!worker->options.drain || status != CULEX_ECONNECT || kind == NULL || !kind->is_path)
        return true;
    culex__error_context(error, "a drain does not wait for its store");
    return false;
}

/* Our stop may have cut a try short, which says nothing of the store: the one before does. */
static culex_status failure_choose(const culex_worker *worker, culex_error *before,
                                   culex_error *error)
{
    if (before->code != CULEX_OK && atomic_load(&worker->until_ns) != 0)
        *error = *before;
    *before = *error;
    return error->code;
}

static culex_status store_open(culex_worker *worker, culex_error *error)
{
    char masked[256];
    struct culex_store_options options = {.prefix = worker->store_settings.prefix,
                                          .timeout_ms = worker->store_settings.timeout_ms,
                                          .synchronous = worker->store_settings.synchronous,
                                          .folder = worker->folder,
                                          .until_ns = &worker->until_ns};
    if (worker->given_store != NULL) {
        worker->store = worker->given_store;
        worker->store->until_ns = &worker->until_ns;
        return CULEX_OK;
    }
    culex__store_url_mask(worker->url, masked, sizeof masked);
    if (stop_await(worker, 0)) /* asked before the run began */
        atomic_store(&worker->until_ns, culex__worker_now_ns(worker) + STOPPED_NS);
    culex_error before = {0};
    for (uint32_t failures = 1;; failures += failures < UINT32_MAX) {
        culex_status status =
            culex__store_open(worker->url, &options, worker->env, &worker->store, error);
        if (status == CULEX_OK || !is_worth_waiting(worker, status, error))
            return status;
        status = failure_choose(worker, &before, error);
        culex__worker_call_failed(worker, NULL, NULL, status, error);
        if (stop_await(worker, culex__patience_ms(failures, culex__env_random(worker->env)))) {
            culex__error_context(error, "stopped before %s answered", masked);
            return status;
        }
    }
}

/* --- begin and end --------------------------------------------------------------------- */

/* The worker may have been run before. */
static void life_reset(culex_worker *worker)
{
    culex__phases_reset(worker);
    culex__pace_reset(worker);
    culex__wake_reset(worker);
    culex__outage_reset(worker);
    culex__refusal_reset(worker);
    culex__tally_reset(worker);
    culex__drain_reset(worker);
    culex__solitude_reset(worker);
    culex__neighbours_reset(worker);
}

/* Children are forked from this process as it is before the URL is read: without a connection and,
 * unless the program itself holds it, without the store's password. Threads may change folder and
 * environment under us: what comes from there is read before they are. */
static culex_status executor_and_url(culex_worker *worker, culex_error *error)
{
    const culex_worker_options *options = &worker->options;
    bool is_apart = options->isolation != CULEX_ISOLATION_NONE;
    culex_status status = is_apart ? culex__crew_start(worker, error) : CULEX_OK;
    if (status == CULEX_OK && worker->is_private)
        culex__self_conceal();
    if (status == CULEX_OK)
        status = culex__store_url_choose(options->url, options->url_file, &worker->url, error);
    if (status == CULEX_OK)
        status = settings_read(worker, error);
    if (status == CULEX_OK && !is_apart)
        status = culex__crew_start(worker, error);
    return status;
}

static void begin_tell(const culex_worker *worker)
{
    char masked[256];
    culex__store_url_mask(worker->url, masked, sizeof masked);
    culex__log_write(&worker->log, CULEX_LOG_INFO, NULL,
                     "worker %s serves %zu queue(s) at %s, %u runs at a time",
                     worker->identity.name, worker->lane_count, masked,
                     worker->options.concurrency);
    culex__advise_queues(worker);
    culex__queue_options_advise(worker);
}

/* All that needs neither a store nor an executor. */
static culex_status plan_make(culex_worker *worker, culex_error *error)
{
    life_reset(worker);
    culex__identity_choose(worker);
    culex__presence_reset(worker);
    culex__nonce_choose(worker);
    if (getcwd(worker->folder, sizeof worker->folder) == NULL)
        worker->folder[0] = '\0';
    culex_status status = culex__lanes_create(worker, error);
    culex__discovery_reset(worker);
    if (status == CULEX_OK && !culex__units_begin(worker))
        status = culex__fail(error, CULEX_ENOMEM, "no memory for what jobs need");
    if (status == CULEX_OK)
        status = culex__ticks_create(worker, error);
    return status;
}

static void plan_free(culex_worker *worker)
{
    culex__ticks_free(worker);
    culex__units_end(worker);
    culex__lanes_free(worker);
}

culex_status culex__worker_rehearse(culex_worker *worker, culex_error *error)
{
    culex_status status = plan_make(worker, error);
    plan_free(worker);
    if (status == CULEX_OK)
        status = culex__store_url_choose(worker->options.url, worker->options.url_file,
                                         &worker->url, error);
    if (status == CULEX_OK)
        status = culex__store_url_check(worker->url, error);
    if (status == CULEX_OK)
        status = settings_read(worker, error);
    culex__store_url_free(worker->url);
    worker->url = NULL;
    return status;
}

culex_status culex__worker_begin(culex_worker *worker, culex_error *error)
{
    culex_status status = plan_make(worker, error);
    culex__lifeline_open(worker);
    if (status == CULEX_OK)
        status = executor_and_url(worker, error);
    if (status == CULEX_OK)
        status = store_open(worker, error);
    if (status == CULEX_OK)
        status = culex__queues_check(worker, error);
    if (status != CULEX_OK)
        return status;
    culex__lifeline_place(worker);
    culex__neighbours_open(worker);
    atomic_store(&worker->has_store, true);
    begin_tell(worker);
    return CULEX_OK;
}

void culex__worker_end(culex_worker *worker)
{
    culex__crew_end(worker);
    culex__presence_leave(worker);
    culex__overstay_forget_all(worker);
    if (worker->store != NULL)
        culex__tally_tell(worker);
    if (worker->lent_store != NULL)
        worker->lent_store->ops->close(worker->lent_store);
    worker->lent_store = NULL;
    culex__store_url_free(worker->url);
    worker->url = NULL;
    if (worker->store != NULL && worker->given_store == NULL)
        worker->store->ops->close(worker->store);
    worker->store = NULL;
    plan_free(worker);
    culex__flight_pool_free(worker);
    culex__neighbours_close(worker);
    culex__lifeline_close(worker);
}
