/* worker/metrics_server.h - where a worker tells its metrics (`--metrics ADDRESS`).
 *
 * The server has a thread of its own and reads what worker/metrics.h counts; libculex-metrics is
 * loaded for it (metrics/http.h). It starts behind the children, which so know nothing of it. */
#ifndef CULEX_WORKER_METRICS_SERVER_H
#define CULEX_WORKER_METRICS_SERVER_H

#include <culex/worker.h>

#include "platform/listening.h"

struct culex_metrics_http;

struct culex_metrics_server {
    const struct culex_metrics_http *http;
    struct culex_listening listening;
    void *server; /* NULL: none */
};

/* Whether the library is there, where the options ask for it. */
culex_status culex__metrics_server_check(const culex_worker *worker, culex_error *error);

/* Does nothing where the options ask for none. CULEX_EUSAGE when nobody can listen there,
 * CULEX_EUNSUPPORTED when the library cannot be loaded. */
culex_status culex__metrics_server_start(culex_worker *worker, culex_error *error);

/* Does nothing without one. */
void culex__metrics_server_stop(culex_worker *worker);

#endif
