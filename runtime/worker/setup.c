/* worker/setup.c - what a worker needs before its loop and gives back after it. */
#include "worker/worker_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "worker/opening.h"
#include "worker/strange_queues.h"
#include "worker/outage.h"
#include "worker/overstay.h"
#include "worker/setup.h"
#include "worker/crew.h"
#include "worker/figures.h"
#include "worker/flight_pool.h"
#include "worker/discovery.h"
#include "worker/lanes.h"
#include "worker/metrics.h"
#include "worker/metrics_server.h"
#include "worker/lifeline.h"
#include "worker/neighbours.h"
#include "worker/on_death.h"
#include "worker/presence.h"
#include "worker/queue_options.h"
#include "platform/self.h"
#include "worker/solitude.h"
#include "worker/wake.h"
#include "worker/watch.h"
#include "client/sealing.h"
#include "client/keyfile.h"
#include "store/register.h"
#include "store/storeurl.h"

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
    culex__watch_reset(worker);
    culex__solitude_reset(worker);
    culex__neighbours_reset(worker);
    culex__opening_reset(worker);
}

/* As far as it tells without its store whether it is one. */
static culex_status url_read(culex_worker *worker, culex_error *error)
{
    const culex_worker_options *options = &worker->options;
    culex_status status =
        culex__store_url_choose(options->url, options->url_file, &worker->url, error);
    if (status == CULEX_OK)
        status = culex__store_url_check(worker->url, error);
    return status == CULEX_OK ? culex__opening_settings(worker, error) : status;
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
        status = url_read(worker, error);
    if (status == CULEX_OK && !is_apart)
        status = culex__crew_start(worker, error);
    return status;
}

static void queues_advise(const culex_worker *worker)
{
    culex__advise_queues(worker);
    culex__queue_options_advise(worker);
}

static void begin_tell(const culex_worker *worker)
{
    char masked[256];
    culex__store_url_mask(worker->url, masked, sizeof masked);
    culex__log_write(&worker->log, CULEX_LOG_INFO, NULL,
                     "worker %s serves %zu queue(s) at %s, %u runs at a time",
                     worker->identity.name, worker->lane_count, masked,
                     worker->options.concurrency);
    queues_advise(worker);
}

static bool job_needs_keys(const struct culex_job *job)
{
    return job->call != NULL &&
           (culex__type_is_sealed(job->type->params) || culex__type_is_sealed(job->type->result));
}

/* A worker without keys would only give such runs back: better that it does not start. */
static culex_status keys_begin(culex_worker *worker, culex_error *error)
{
    if (!worker->has_given_keys) {
        culex_status status = culex__keyfile_read(worker->options.keys, &worker->own_keys, error);
        if (status != CULEX_OK)
            return status;
        worker->keys = worker->own_keys;
    }
    for (size_t i = 0; i < worker->job_count && worker->keys == NULL; i++) {
        if (job_needs_keys(&worker->jobs[i]))
            return culex__fail(error, CULEX_ENOKEY,
                               "job %s has encrypted params or results, and this worker has no "
                               "keys: name their file by --keys, CULEX_KEYS or `keys` of its "
                               "options",
                               worker->jobs[i].type->name);
    }
    return CULEX_OK;
}

static void keys_end(culex_worker *worker)
{
    if (!worker->has_given_keys)
        worker->keys = NULL;
    culex__keys_free(worker->own_keys);
    worker->own_keys = NULL;
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
    culex_status status = keys_begin(worker, error);
    if (status == CULEX_OK)
        status = culex__lanes_create(worker, error);
    culex__discovery_reset(worker);
    if (status == CULEX_OK && worker->options.metrics != NULL && !culex__metrics_begin(worker))
        status = culex__fail(error, CULEX_ENOMEM, "no memory for metrics");
    if (status == CULEX_OK && !culex__units_begin(worker))
        status = culex__fail(error, CULEX_ENOMEM, "no memory for what jobs need");
    if (status == CULEX_OK)
        status = culex__ticks_create(worker, error);
    return status;
}

static void plan_free(culex_worker *worker)
{
    culex__metrics_free(worker);
    keys_end(worker);
    culex__ticks_free(worker);
    culex__units_end(worker);
    culex__lanes_free(worker);
}

culex_status culex__worker_rehearse(culex_worker *worker, culex_error *error)
{
    culex_status status = plan_make(worker, error);
    if (status == CULEX_OK)
        queues_advise(worker);
    plan_free(worker);
    if (status == CULEX_OK)
        status = url_read(worker, error);
    if (status == CULEX_OK)
        status = culex__metrics_server_check(worker, error);
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
        status = culex__on_death_begin(worker, error);
    if (status == CULEX_OK)
        status = culex__spans_begin(worker, error);
    return status == CULEX_OK ? culex__metrics_server_start(worker, error) : status;
}

culex_status culex__worker_open(culex_worker *worker, culex_error *error)
{
    culex_status status = culex__opening_try(worker, error);
    if (status == CULEX_OK && worker->store != NULL)
        status = culex__queues_check(worker, error);
    if (status != CULEX_OK || worker->store == NULL)
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
    culex__figures_leave(worker);
    culex__on_death_end(worker);
    culex__spans_end(worker);
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
    culex__metrics_server_stop(worker);
    plan_free(worker);
    culex__flight_pool_free(worker);
    culex__neighbours_close(worker);
    culex__lifeline_close(worker);
}
