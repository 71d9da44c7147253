/* metrics/http.h - the seam between a worker and libculex-metrics, which alone knows libmicrohttpd.
 *
 * The worker loads that library when its program is asked for metrics, and finds the table below in
 * it by name: so programs that nobody asks neither link nor load an HTTP server. The library calls
 * nothing of libculex but the function that it is given, and links none of it: a program that has
 * Culex linked statically has one copy of it all the same. */
#ifndef CULEX_METRICS_HTTP_H
#define CULEX_METRICS_HTTP_H

#include <stdbool.h>
#include <stddef.h>

enum { CULEX_METRICS_HTTP_VERSION = 1 /* of what stands here */ };

/* The page, in one of two formats (core/exposition.h), to be freed by free(); NULL: there is none
 * now. Called on the server's own thread, for one request at a time. */
typedef char *(*culex_metrics_page)(void *user, bool is_plain, size_t *ret_len);

struct culex_metrics_http {
    int version;

    /* Serves the page at GET /metrics, on a thread of its own, to whoever connects to `fd`, which
     * listens. Takes `fd`. NULL, and `fd` stays the caller's, when it cannot. */
    void *(*start)(int fd, culex_metrics_page page, void *user);

    /* Waits for the page that is being written, and closes all that it has open. */
    void (*stop)(void *server);
};

#define CULEX_METRICS_HTTP_NAME    "culex_metrics_http_of_libculex_metrics"
#define CULEX_METRICS_HTTP_LIBRARY "libculex-metrics.so.0"

#endif
