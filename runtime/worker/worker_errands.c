/* worker/worker_errands.c - what handlers ask of the worker's store: see errand.h. */
#include "worker/worker_errands.h"

#include "base/error.h"
#include "handler/errand.h"
#include "worker/worker_private.h"

/* On the supervisor's thread, which owns the connection. While the store is known to be away it is
 * not tried for every handler that asks: they ask again. */
void culex__worker_serve(void *user, const char *bytes, size_t len, culex_buf *answer)
{
    culex_worker *worker = user;
    struct culex_store *store = worker->store;
    int64_t now_ns = culex__worker_now_ns(worker);
    if (store == NULL || (worker->outage.is_on && now_ns < worker->outage.until_ns)) {
        culex__errand_refuse(answer, CULEX_ECONNECT, "the worker's store is away");
        return;
    }
    if (culex__errand_serve(store, bytes, len, answer))
        atomic_store(&worker->is_fed, true);
}

static culex_status lent_open(culex_worker *worker, culex_error *error)
{
    struct culex_store_options options = {.prefix = worker->store_settings.prefix,
                                          .timeout_ms = worker->store_settings.timeout_ms / 2 + 1,
                                          .synchronous = worker->store_settings.synchronous,
                                          .folder = worker->folder,
                                          .until_ns = &worker->until_ns};
    if (worker->lent_store != NULL)
        return CULEX_OK;
    if (worker->url == NULL)
        return culex__fail(error, CULEX_ECONNECT, "the worker has no store");
    return culex__store_open(worker->url, &options, worker->env, &worker->lent_store, error);
}

/* On a handler's thread, by a connection of the handlers' own: the worker's belongs to its loop.
 * One at a time, as they share one client. */
void culex__worker_serve_apart(void *user, const char *bytes, size_t len, culex_buf *answer)
{
    culex_worker *worker = user;
    culex_error error = {0};
    culex_status status = lent_open(worker, &error);
    if (status != CULEX_OK)
        culex__errand_refuse(answer, status, error.text);
    else if (culex__errand_serve(worker->lent_store, bytes, len, answer))
        atomic_store(&worker->is_fed, true);
}
