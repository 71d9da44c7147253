#include "worker/metrics_server.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <culex/culex.h>

#include "base/error.h"
#include "metrics/http.h"
#include "platform/path.h"
#include "worker/metrics.h"
#include "worker/worker_private.h"

/* --- the library --------------------------------------------------------------------- */

/* Beside the one that this is in, wherever that was found. "" when it has no such place. */
static void neighbour_path(char ret_path[CULEX__PATH_SIZE])
{
    static const char own = 0; /* an address in it */
    Dl_info info;
    ret_path[0] = '\0';
    if (dladdr(&own, &info) == 0 || info.dli_fname == NULL || info.dli_fname[0] != '/')
        return;
    int folder = (int)(strrchr(info.dli_fname, '/') - info.dli_fname);
    int len = snprintf(ret_path, CULEX__PATH_SIZE, "%.*s/%s", folder, info.dli_fname,
                       CULEX_METRICS_HTTP_LIBRARY);
    if (len < 0 || len >= CULEX__PATH_SIZE)
        ret_path[0] = '\0';
}

static void *library_open(void)
{
    char path[CULEX__PATH_SIZE];
    neighbour_path(path);
    void *library = path[0] != '\0' ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    return library != NULL ? library : dlopen(CULEX_METRICS_HTTP_LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

/* It stays loaded. */
static culex_status http_load(const struct culex_metrics_http **ret_http, culex_error *error)
{
    void *library = library_open();
    if (library == NULL) {
        const char *reason = dlerror();
        return culex__fail(error, CULEX_EUNSUPPORTED,
                           "no metrics without libculex-metrics, which comes with Culex where "
                           "libmicrohttpd is: %s",
                           reason != NULL ? reason : "it cannot be loaded");
    }
    const struct culex_metrics_http *http = dlsym(library, CULEX_METRICS_HTTP_NAME);
    if (http == NULL || http->version != CULEX_METRICS_HTTP_VERSION)
        return culex__fail(error, CULEX_EUNSUPPORTED,
                           "no metrics: libculex-metrics is of another version than Culex %s",
                           CULEX_VERSION);
    *ret_http = http;
    return CULEX_OK;
}

culex_status culex__metrics_server_check(const culex_worker *worker, culex_error *error)
{
    const struct culex_metrics_http *http;
    if (worker->options.metrics == NULL)
        return CULEX_OK;
    culex_status status = http_load(&http, error);
    if (status == CULEX_OK)
        status = culex__listening_foresee(worker->options.metrics, error);
    if (status != CULEX_OK)
        culex__error_context(error, "metrics");
    return status;
}

/* --- the server ---------------------------------------------------------------------- */

static char *page(void *user, bool is_plain, size_t *ret_len)
{
    return culex__metrics_text(user, is_plain, ret_len);
}

static culex_status serve(culex_worker *worker, culex_error *error)
{
    struct culex_metrics_server *server = &worker->metrics_server;
    server->server = server->http->start(server->listening.fd, page, worker);
    if (server->server == NULL) {
        culex__listening_close(&server->listening, false);
        return culex__fail(error, CULEX_ENOMEM, "no thread or memory to serve metrics");
    }
    bool is_file = server->listening.path[0] != '\0';
    culex__log_write(&worker->log, CULEX_LOG_INFO, NULL, "metrics are at %s%s%s",
                     is_file ? "" : "http://", server->listening.shown,
                     is_file ? ", in /metrics" : "/metrics");
    return CULEX_OK;
}

culex_status culex__metrics_server_start(culex_worker *worker, culex_error *error)
{
    const char *address = worker->options.metrics;
    worker->metrics_server = (struct culex_metrics_server){.listening = {.fd = -1}};
    if (address == NULL)
        return CULEX_OK;
    culex_status status = http_load(&worker->metrics_server.http, error);
    if (status == CULEX_OK)
        status = culex__listening_open(address, &worker->metrics_server.listening, error);
    if (status != CULEX_OK) {
        culex__error_context(error, "metrics");
        return status;
    }
    return serve(worker, error);
}

void culex__metrics_server_stop(culex_worker *worker)
{
    struct culex_metrics_server *server = &worker->metrics_server;
    if (server->server == NULL)
        return;
    server->http->stop(server->server);
    culex__listening_close(&server->listening, true);
    server->server = NULL;
}
