#include "console/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "console/audit.h"
#include "console/clock.h"
#include "console/guard.h"
#include "console/stream.h"
#include "console/tally.h"

enum {
    REQUEST_BYTES = 16 * 1024, /* line and headers */
    STREAM_BYTES = 8 * 1024,   /* that are sent at once */
    STACK_BYTES = 512 * 1024,
    SMALL_BYTES = 64 * 1024,         /* of a body that the number of connections bounds */
    BODIES_BYTES = 64 * 1024 * 1024, /* of all others that are being read or answered; what is made
                                        of one takes as much once or twice more */
    HEAD_S = 30,                     /* for line and headers, after those of the one before */
    BODY_S = 60,                     /* for the body */
    SEND_S = 60,                     /* for the answer to be taken */
    READING_S = 10,                  /* for each reading of a stream */
    IDLE_S = 180,                    /* more than any of these, and the longest wait */
    STOP_S = 5
};

/* An open connection, and until when what it does now has to be over. */
struct watch {
    int fd;
    atomic_llong deadline_ms; /* 0: none, a request is being answered */
    struct watch *next, *before;
};

struct http {
    struct console *console;
    struct MHD_Daemon *daemon;
    pthread_t watchman;
    atomic_bool is_over;
    pthread_mutex_t lock;
    struct watch watches; /* of the list the head */
};

/* ---- time ----------------------------------------------------------------------------------- */

static void watch_set(struct watch *watch, int seconds)
{
    if (watch != NULL)
        atomic_store(&watch->deadline_ms, seconds > 0 ? ms_now() + seconds * INT64_C(1000) : 0);
}

static struct watch *watch_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

static void connection_add(struct http *http, struct MHD_Connection *connection, void **place)
{
    struct watch *watch = ops_alloc(NULL, sizeof *watch);
    watch->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    watch_set(watch, HEAD_S);
    pthread_mutex_lock(&http->lock);
    watch->before = &http->watches;
    watch->next = http->watches.next;
    http->watches.next->before = watch;
    http->watches.next = watch;
    pthread_mutex_unlock(&http->lock);
    *place = watch;
}

/* The descriptor is closed behind this call, so the watchman touches none that is another's. */
static void connection_remove(struct http *http, struct watch *watch)
{
    if (watch == NULL)
        return;
    pthread_mutex_lock(&http->lock);
    watch->before->next = watch->next;
    watch->next->before = watch->before;
    pthread_mutex_unlock(&http->lock);
    free(watch);
}

static void connection_note(void *user, struct MHD_Connection *connection, void **place,
                            enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        connection_add(user, connection, place);
    else
        connection_remove(user, *place);
}

/* libmicrohttpd counts from the last byte: who sends one now and then would stay for ever. */
static void *watchman_run(void *user)
{
    struct http *http = user;
    const struct timespec pause = {.tv_nsec = 250000000};
    while (!atomic_load(&http->is_over)) {
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&http->lock);
        for (struct watch *watch = http->watches.next; watch != &http->watches;
             watch = watch->next) {
            long long deadline = atomic_load(&watch->deadline_ms);
            if (deadline != 0 && deadline < ms_now())
                shutdown(watch->fd, SHUT_RDWR);
        }
        pthread_mutex_unlock(&http->lock);
    }
    return NULL;
}

/* ---- answers -------------------------------------------------------------------------------- */

/* Nothing of the page comes from elsewhere, and none of its code stands in a text. */
static const char page_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
static const char other_policy[] =
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

static void headers_add(struct MHD_Response *response, const struct request *request)
{
    bool is_page = request->tag != NULL;
    const char *type = request->type != NULL ? request->type : "application/json";
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Content-Security-Policy",
                            is_page ? page_policy : other_policy);
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(response, "Cache-Control", is_page ? "no-cache" : "no-store");
    if (is_page)
        MHD_add_response_header(response, "ETag", request->tag);
}

/* The page's addresses are relative: they need the '/'. */
static void location_add(struct MHD_Response *response, const char *base)
{
    char *text = NULL;
    if (asprintf(&text, "%s/", base) < 0)
        ops_alloc(NULL, SIZE_MAX);
    MHD_add_response_header(response, "Location", text);
    free(text);
}

/* Takes `text`. */
static enum MHD_Result text_send(struct request *request, const struct failure *failure, char *text,
                                 size_t len)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        free(text);
        return MHD_NO;
    }
    headers_add(response, request);
    if (failure != NULL && failure->retry_after_s > 0) {
        char seconds[16];
        snprintf(seconds, sizeof seconds, "%u", failure->retry_after_s);
        MHD_add_response_header(response, "Retry-After", seconds);
    }
    if (failure != NULL && failure->allow[0] != '\0')
        MHD_add_response_header(response, "Allow", failure->allow);
    if (request->status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (failure == NULL && request->is_bare)
        location_add(response, request->console->base);
    watch_set(watch_of(request->connection), SEND_S);
    tally_note(request->console->tally, request->route, request->status);
    enum MHD_Result result = MHD_queue_response(request->connection, request->status, response);
    MHD_destroy_response(response);
    return result;
}

/* What writes an answer; it has memory, or the program ends. */
static void answer_begin(struct request *request, char **text, size_t *len)
{
    request->json = (struct ops_json){.out = open_memstream(text, len)};
    if (request->json.out == NULL)
        ops_alloc(NULL, SIZE_MAX);
}

static void answer_end(struct request *request)
{
    if (fclose(request->json.out) != 0)
        ops_alloc(NULL, SIZE_MAX);
}

static enum MHD_Result failure_send(struct request *request, const struct failure *failure)
{
    char *text = NULL;
    size_t len = 0;
    answer_begin(request, &text, &len);
    ops_json_object(&request->json, NULL);
    failure_json(&request->json, failure);
    ops_json_object_end(&request->json);
    ops_json_line_end(&request->json);
    answer_end(request);
    request->status = failure->status;
    request->type = NULL;
    return text_send(request, failure, text, len);
}

/* ---- streams -------------------------------------------------------------------------------- */

struct feed {
    struct stream *stream;
    struct watch *watch;
};

/* It has the thread of its connection, so it may wait; who does not take what he gets is dropped.
 */
static ssize_t feed_read(void *user, uint64_t at, char *text, size_t size)
{
    struct feed *feed = user;
    (void)at;
    watch_set(feed->watch, 0);
    size_t len = stream_next(feed->stream, text, size);
    watch_set(feed->watch, READING_S);
    return len > 0 ? (ssize_t)len : MHD_CONTENT_READER_END_OF_STREAM;
}

static void feed_free(void *user)
{
    struct feed *feed = user;
    stream_close(feed->stream);
    free(feed);
}

static enum MHD_Result stream_send(struct request *request)
{
    struct stream *stream = stream_open(request->console->streams);
    if (stream == NULL) {
        struct failure failure =
            failure_make(503, "busy", "ask for queues now and then", "too many streams are open");
        failure.retry_after_s = 10;
        return failure_send(request, &failure);
    }
    struct feed *feed = ops_alloc(NULL, sizeof *feed);
    *feed = (struct feed){stream, watch_of(request->connection)};
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, STREAM_BYTES, feed_read, feed, feed_free);
    if (response == NULL) {
        feed_free(feed);
        return MHD_NO;
    }
    request->type = request->route->type;
    headers_add(response, request);
    MHD_add_response_header(response, "X-Accel-Buffering", "no");
    tally_note(request->console->tally, request->route, request->status);
    enum MHD_Result result = MHD_queue_response(request->connection, request->status, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- a request ------------------------------------------------------------------------------ */

/* Where the peer is, "" where it is not known. */
static void peer_format(const struct request *request, char *ret_text, size_t size)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    ret_text[0] = '\0';
    if (info == NULL || info->client_addr == NULL)
        return;
    socklen_t len = info->client_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                             : sizeof(struct sockaddr_in);
    if (info->client_addr->sa_family == AF_UNIX ||
        getnameinfo(info->client_addr, len, ret_text, (socklen_t)size, NULL, 0, NI_NUMERICHOST) !=
            0)
        ret_text[0] = '\0';
}

static void request_audit(struct request *request)
{
    char peer[64];
    if (!route_is_change(request->route) || request->route->is_work)
        return;
    peer_format(request, peer, sizeof peer);
    audit_write(request, peer);
}

/* Somebody wanted a change who may not. */
static void refusal_audit(struct request *request, const struct failure *failure)
{
    char peer[64];
    if ((failure->status != MHD_HTTP_UNAUTHORIZED && failure->status != MHD_HTTP_FORBIDDEN) ||
        request->route == NULL || !route_is_change(request->route))
        return;
    request->status = failure->status;
    request->audited_as = "refused";
    snprintf(request->audited, sizeof request->audited, "%s", failure->code);
    peer_format(request, peer, sizeof peer);
    audit_write(request, peer);
}

/* With a client of the store, where the route needs one. */
static culex_status route_run_with(struct request *request, culex_error *error)
{
    const struct route *route = request->route;
    struct pool *pool = request->console->pool;
    culex_status status = CULEX_OK;
    if (route->client == CLIENT_OF_POOL)
        status = pool_take(pool, route->use, &request->ops.client, error);
    if (status == CULEX_OK)
        status = route->run(request, error);
    pool_give(pool, request->ops.client, status);
    return status;
}

static enum MHD_Result request_answer(struct request *request)
{
    char *text = NULL;
    size_t len = 0;
    culex_error error = {.code = CULEX_OK};
    enum MHD_Result result;
    watch_set(watch_of(request->connection), 0);
    atomic_fetch_add(&request->console->at_work, 1);
    request->is_at_work = true;
    answer_begin(request, &text, &len);
    request->status = request->route->status;
    culex_status status = route_run_with(request, &error);
    answer_end(request);
    if (status == CULEX_OK && request->is_stream) {
        free(text);
        result = stream_send(request);
    } else if (status == CULEX_OK) {
        request_audit(request);
        result = text_send(request, NULL, text, len);
    } else {
        struct failure failure =
            request->refusal.status != 0 ? request->refusal : failure_of(status, &error);
        snprintf(failure.run, sizeof failure.run, "%s", request->in_way);
        free(text);
        request->status = failure.status;
        request_audit(request);
        result = failure_send(request, &failure);
    }
    return result;
}

/* The path behind the base that a proxy puts before it; NULL: it is not under that. */
static const char *path_of(const struct console *console, const char *url)
{
    size_t len = strlen(console->base);
    if (strncmp(url, console->base, len) != 0)
        return NULL;
    return url[len] == '\0' && len > 0 ? "/" : url[len] == '/' ? url + len : NULL;
}

static struct request *request_make(struct console *console, struct MHD_Connection *connection,
                                    const char *method, const char *url)
{
    struct request *request = ops_alloc(NULL, sizeof *request);
    *request =
        (struct request){.console = console,
                         .connection = connection,
                         .method = method,
                         .path = path_of(console, url),
                         .is_bare = console->base[0] != '\0' && strcmp(url, console->base) == 0};
    return request;
}

/* All large bodies together have a bound, too. */
static bool body_reserve(struct request *request, struct failure *ret_failure)
{
    struct console *console = request->console;
    request->reserved = request->body_size > SMALL_BYTES ? request->body_size : 0;
    if (atomic_fetch_add(&console->body_bytes, request->reserved) + request->reserved >
        BODIES_BYTES) {
        atomic_fetch_sub(&console->body_bytes, request->reserved);
        request->reserved = 0;
        *ret_failure = failure_make(503, "busy", NULL, "too many large bodies are being read");
        ret_failure->retry_after_s = 1;
        return false;
    }
    request->body = ops_alloc(NULL, request->body_size + 1);
    request->body[0] = '\0';
    return true;
}

/* No more comes than was told. */
static enum MHD_Result body_add(struct request *request, const char *data, size_t *len)
{
    if (*len > request->body_size - request->body_len)
        return MHD_NO;
    memcpy(request->body + request->body_len, data, *len);
    request->body_len += *len;
    request->body[request->body_len] = '\0';
    *len = 0;
    return MHD_YES;
}

/* Its head is there: what is refused now is refused without its body. */
static enum MHD_Result request_begin(struct request *request)
{
    struct failure failure;
    if (guard_pass(request, &failure) && body_reserve(request, &failure)) {
        watch_set(watch_of(request->connection), BODY_S);
        return MHD_YES;
    }
    refusal_audit(request, &failure);
    return failure_send(request, &failure);
}

static enum MHD_Result request_serve(void *user, struct MHD_Connection *connection, const char *url,
                                     const char *method, const char *version, const char *data,
                                     size_t *data_len, void **place)
{
    struct http *http = user;
    struct request *request = *place;
    (void)version;
    if (request == NULL) {
        *place = request = request_make(http->console, connection, method, url);
        return request_begin(request);
    }
    if (*data_len > 0)
        return body_add(request, data, data_len);
    return request_answer(request);
}

static void request_end(void *user, struct MHD_Connection *connection, void **place,
                        enum MHD_RequestTerminationCode code)
{
    struct request *request = *place;
    (void)user;
    (void)code;
    *place = NULL;
    watch_set(watch_of(connection), HEAD_S);
    if (request == NULL)
        return;
    atomic_fetch_sub(&request->console->at_work, request->is_at_work);
    atomic_fetch_sub(&request->console->body_bytes, request->reserved);
    free(request->body);
    free(request);
}

/* ---- the server ----------------------------------------------------------------------------- */

/* What strangers send is no news. */
static void log_nothing(void *user, const char *format, va_list list)
{
    (void)user;
    (void)format;
    (void)list;
}

static int hex_digit(char letter)
{
    static const char digits[] = "0123456789abcdef";
    char lower = letter >= 'A' && letter <= 'F' ? (char)(letter - 'A' + 'a') : letter;
    const char *at = lower != '\0' ? strchr(digits, lower) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

/* Of a path or a parameter, in place. "%00" stays as it stands: a text would end there, and what is
 * behind it be ignored. */
static size_t text_unescape(void *user, struct MHD_Connection *connection, char *text)
{
    char *put = text;
    (void)user;
    (void)connection;
    for (const char *at = text; *at != '\0'; at++) {
        int high = at[0] == '%' ? hex_digit(at[1]) : -1, low = high >= 0 ? hex_digit(at[2]) : -1;
        bool is_code = low >= 0 && high + low > 0;
        *put++ = is_code ? (char)(high * 16 + low) : *at;
        at += is_code ? 2 : 0;
    }
    *put = '\0';
    return (size_t)(put - text);
}

static struct MHD_Daemon *daemon_start(int fd, struct http *http)
{
    return MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
            MHD_USE_ITC | MHD_USE_ERROR_LOG,
        0, NULL, NULL, request_serve, http, MHD_OPTION_EXTERNAL_LOGGER, log_nothing, NULL,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_UNESCAPE_CALLBACK, text_unescape, NULL,
        MHD_OPTION_CONNECTION_LIMIT, http->console->connections, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES, MHD_OPTION_NOTIFY_COMPLETED, request_end,
        NULL, MHD_OPTION_NOTIFY_CONNECTION, connection_note, http, MHD_OPTION_END);
}

struct http *http_start(int fd, struct console *console)
{
    struct http *http = ops_alloc(NULL, sizeof *http);
    *http = (struct http){.console = console};
    http->watches.next = http->watches.before = &http->watches;
    pthread_mutex_init(&http->lock, NULL);
    http->daemon = daemon_start(fd, http);
    if (http->daemon == NULL || pthread_create(&http->watchman, NULL, watchman_run, http) != 0) {
        if (http->daemon != NULL)
            MHD_stop_daemon(http->daemon);
        free(http);
        return NULL;
    }
    return http;
}

void http_stop(struct http *http)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    int64_t end = ms_now() + STOP_S * INT64_C(1000);
    MHD_socket fd = MHD_quiesce_daemon(http->daemon);
    if (fd != MHD_INVALID_SOCKET)
        close(fd);
    atomic_store(&http->console->is_ending, true);
    while (atomic_load(&http->console->at_work) > 0 && ms_now() < end)
        nanosleep(&pause, NULL);
    MHD_stop_daemon(http->daemon);
    atomic_store(&http->is_over, true);
    pthread_join(http->watchman, NULL);
    pthread_mutex_destroy(&http->lock);
    free(http);
}
