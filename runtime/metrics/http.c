/* metrics/http.c - the HTTP of metrics, by libmicrohttpd: all that libculex-metrics has. */
#include "metrics/http.h"

#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Whoever may connect can hold this much of the worker and no more: descriptors are few (1024 in
 * most processes), and what is beyond the limit waits to be taken in. */
enum { CONNECTIONS = 64, TIMEOUT_S = 10, REQUEST_BYTES = 8192 };

struct server {
    struct MHD_Daemon *daemon;
    culex_metrics_page page;
    void *user;
};

static const char plain_type[] = "text/plain; version=0.0.4; charset=utf-8";
static const char open_type[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned code,
                              struct MHD_Response *response, const char *type)
{
    if (response == NULL)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    enum MHD_Result result = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned code, const char *text)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), (void *)(size_t)text, MHD_RESPMEM_PERSISTENT);
    return answer(connection, code, response, "text/plain; charset=utf-8");
}

/* Older readers ask for text and would take anything: what they cannot read is not meant. */
static bool wants_plain(struct MHD_Connection *connection)
{
    const char *accepted =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
    return accepted != NULL && strstr(accepted, "text/plain") != NULL &&
           strstr(accepted, "application/openmetrics-text") == NULL;
}

static enum MHD_Result page_answer(const struct server *server, struct MHD_Connection *connection)
{
    size_t len = 0;
    bool is_plain = wants_plain(connection);
    char *text = server->page(server->user, is_plain, &len);
    if (text == NULL)
        return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "there is no memory for it\n");
    struct MHD_Response *response =
        MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
    if (response == NULL)
        free(text);
    return answer(connection, MHD_HTTP_OK, response, is_plain ? plain_type : open_type);
}

/* Each request is answered when its headers are there, and a body is not read: the connection ends
 * then. */
static enum MHD_Result request_serve(void *user, struct MHD_Connection *connection, const char *url,
                                     const char *method, const char *version, const char *data,
                                     size_t *data_len, void **request)
{
    const struct server *server = user;
    (void)version;
    (void)data;
    (void)data_len;
    (void)request;
    if (strcmp(url, "/metrics") != 0)
        return refuse(connection, MHD_HTTP_NOT_FOUND, "metrics are at /metrics\n");
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "use GET or HEAD\n");
    return page_answer(server, connection);
}

/* What strangers send is no news of the worker's. */
static void log_nothing(void *user, const char *format, va_list list)
{
    (void)user;
    (void)format;
    (void)list;
}

static struct MHD_Daemon *daemon_start(int fd, struct server *server)
{
    return MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG, 0, NULL, NULL,
                            request_serve, server, MHD_OPTION_EXTERNAL_LOGGER, log_nothing, NULL,
                            MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
                            (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
                            (unsigned)TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                            (size_t)REQUEST_BYTES, MHD_OPTION_END);
}

/* Signals are the program's: its own threads take them. */
static void *start(int fd, culex_metrics_page page, void *user)
{
    sigset_t all, before;
    struct server *server = calloc(1, sizeof *server);
    if (server == NULL)
        return NULL;
    server->page = page;
    server->user = user;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    server->daemon = daemon_start(fd, server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (server->daemon == NULL) {
        free(server);
        return NULL;
    }
    return server;
}

static void stop(void *user)
{
    struct server *server = user;
    MHD_stop_daemon(server->daemon);
    free(server);
}

extern const struct culex_metrics_http culex_metrics_http_of_libculex_metrics;
__attribute__((visibility("default")))
const struct culex_metrics_http culex_metrics_http_of_libculex_metrics = {
    CULEX_METRICS_HTTP_VERSION, start, stop};
