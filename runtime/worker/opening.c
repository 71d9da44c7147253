#include "worker/opening.h"

#include "base/error.h"
#include "core/patience.h"
#include "store/register.h"
#include "store/storeurl.h"
#include "worker/outage.h"
#include "worker/worker_private.h"

/* A worker that was stopped before it has run tries this long to reach its store. */
#define STOPPED_NS INT64_C(2000000000)

void culex__opening_reset(culex_worker *worker)
{
    worker->opening = (struct culex_opening){.failures = 0};
}

culex_status culex__opening_settings(culex_worker *worker, culex_error *error)
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

static bool is_stopped(const culex_worker *worker)
{
    return atomic_load(&worker->until_ns) != 0;
}

/* Asked before the run began; the bell keeps ringing for the loop. */
static void early_stop_heed(culex_worker *worker)
{
    struct pollfd bell = {.fd = worker->stop_fd, .events = POLLIN};
    if (worker->opening.failures == 0 && worker->env->poll(worker->env->self, &bell, 1, 0) > 0)
        atomic_store(&worker->until_ns, culex__worker_now_ns(worker) + STOPPED_NS);
}

static culex_status give_up(const culex_worker *worker, culex_error *error)
{
    char masked[256];
    culex__store_url_mask(worker->url, masked, sizeof masked);
    *error = worker->opening.newest;
    culex__error_context(error, "stopped before %s answered", masked);
    return error->code;
}

static void try_note(culex_worker *worker, culex_status status, const culex_error *error)
{
    struct culex_opening *opening = &worker->opening;
    /* Our stop may have cut this try short, which says nothing of the store: the one before does.
     */
    if (opening->failures == 0 || !is_stopped(worker))
        opening->newest = *error;
    opening->failures += opening->failures < UINT32_MAX;
    culex__worker_call_failed(worker, NULL, NULL, status, &opening->newest);
    int64_t wait_ms = culex__patience_ms(opening->failures, culex__env_random(worker->env));
    opening->retry_ns = culex__after_ms(culex__worker_now_ns(worker), wait_ms);
}

culex_status culex__opening_try(culex_worker *worker, culex_error *error)
{
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
    early_stop_heed(worker);
    if (worker->opening.failures > 0 && is_stopped(worker))
        return give_up(worker, error);
    if (culex__worker_now_ns(worker) < worker->opening.retry_ns)
        return CULEX_OK;
    culex_status status =
        culex__store_open(worker->url, &options, worker->env, &worker->store, error);
    if (status == CULEX_OK || !is_worth_waiting(worker, status, error))
        return status;
    try_note(worker, status, error);
    return is_stopped(worker) ? give_up(worker, error) : CULEX_OK;
}

int64_t culex__opening_next_ns(const culex_worker *worker)
{
    return worker->opening.retry_ns;
}
