#include "worker/collector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <culex/culex.h>

#include "base/error.h"

enum {
    PORT_DEFAULT = 4318,
    PORT_MAX = 65535,
    STATUS_LEN = 12,     /* "HTTP/1.1 200" */
    REST_MAX = 64 * 1024 /* of an answer */
};

#define SCHEME       "http://"
#define PATH_DEFAULT "/v1/traces"
#define LETTERS      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS       "0123456789"

/* --- the URL -----------------------------------------------------------------------------------
 */

bool culex__collector_is_url(const char *text)
{
    return strstr(text, "://") != NULL;
}

static bool part_copy(const char *from, size_t len, char *ret_part, size_t size)
{
    if (len == 0 || len >= size)
        return false;
    memcpy(ret_part, from, len);
    ret_part[len] = '\0';
    return true;
}

/* What stands behind the host; NULL when that is none. */
static const char *host_take(const char *at, struct culex_collector *to)
{
    to->is_v6 = at[0] == '[';
    at += to->is_v6;
    size_t len = strspn(at, to->is_v6 ? DIGITS "abcdefABCDEF:." : LETTERS DIGITS ".-_");
    if (!part_copy(at, len, to->host, sizeof to->host) || (to->is_v6 && at[len] != ']'))
        return NULL;
    return at + len + to->is_v6;
}

static const char *port_take(const char *at, struct culex_collector *to)
{
    to->port = PORT_DEFAULT;
    if (at[0] != ':')
        return at;
    size_t len = strspn(++at, DIGITS);
    if (len == 0 || len > 5)
        return NULL;
    to->port = atoi(at);
    return to->port >= 1 && to->port <= PORT_MAX ? at + len : NULL;
}

static bool path_take(const char *at, struct culex_collector *to)
{
    if (at[0] == '\0')
        at = PATH_DEFAULT;
    size_t len = strspn(at, LETTERS DIGITS "/-._~%!$&'()*+,;=:@?");
    return at[0] == '/' && at[len] == '\0' && part_copy(at, len, to->path, sizeof to->path);
}

culex_status culex__collector_read(const char *url, struct culex_collector *ret_collector,
                                   culex_error *error)
{
    if (strncmp(url, "https://", strlen("https://")) == 0)
        return culex__fail(error, CULEX_EUSAGE,
                           "traces: there is no TLS here: send them to a collector of this machine "
                           "by http://, which sends them on");
    const char *at = strncmp(url, SCHEME, strlen(SCHEME)) == 0
                         ? host_take(url + strlen(SCHEME), ret_collector)
                         : NULL;
    if (at != NULL)
        at = port_take(at, ret_collector);
    if (at != NULL && path_take(at, ret_collector))
        return CULEX_OK;
    return culex__fail(error, CULEX_EUSAGE,
                       "traces: a collector is written http://HOST:PORT/v1/traces, without a user "
                       "or a password");
}

/* --- the request -------------------------------------------------------------------------------
 */

struct request {
    const struct culex_env *env;
    const struct culex_deadline *deadline;
    int fd;
    culex_error *error;
};

static culex_status late(const struct request *request)
{
    return culex__fail(request->error, CULEX_ECONNECT, "the collector did not answer in time");
}

static culex_status broken(const struct request *request, int reason)
{
    return culex__fail(request->error, CULEX_ECONNECT, "the collector has hung up: %s",
                       strerror(reason));
}

static int left_ms(const struct request *request)
{
    return culex__deadline_wait_ms(request->deadline, culex__env_boottime_ns(request->env));
}

/* False once the deadline is over. */
static bool room_await(const struct request *request)
{
    struct pollfd socket = {.fd = request->fd, .events = POLLOUT};
    int ms;
    while ((ms = left_ms(request)) > 0) {
        if (request->env->poll(request->env->self, &socket, 1, ms) != 0)
            return true; /* for an error, send() has its name */
    }
    return false;
}

static culex_status bytes_send(const struct request *request, const char *bytes, size_t len)
{
    for (size_t sent = 0; sent < len;) {
        ssize_t got = request->env->send(request->env->self, request->fd, bytes + sent, len - sent);
        if (got > 0)
            sent += (size_t)got;
        else if (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
            return broken(request, errno);
        else if (!room_await(request))
            return late(request);
    }
    return CULEX_OK;
}

static culex_status status_receive(const struct request *request, char ret_line[STATUS_LEN + 1])
{
    size_t len = 0;
    memset(ret_line, 0, STATUS_LEN + 1);
    for (int ms; len < STATUS_LEN;) {
        if ((ms = left_ms(request)) == 0)
            return late(request);
        ssize_t got = request->env->recv(request->env->self, request->fd, ret_line + len,
                                         STATUS_LEN - len, ms);
        if (got == 0)
            return broken(request, ECONNRESET);
        if (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
            return broken(request, errno);
        len += got > 0 ? (size_t)got : 0;
    }
    return CULEX_OK;
}

/* To its end, or who sent it would see us hang up on it. What it says is nothing that counts. */
static void rest_receive(const struct request *request)
{
    char bytes[512];
    for (int left = REST_MAX, ms; left > 0 && (ms = left_ms(request)) > 0;) {
        ssize_t got = request->env->recv(request->env->self, request->fd, bytes, sizeof bytes, ms);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
            return;
        left -= got > 0 ? (int)got : 0;
    }
}

static culex_status status_judge(const struct request *request, const char line[STATUS_LEN + 1])
{
    const char *number = line + STATUS_LEN - 3;
    if (strncmp(line, "HTTP/1.", 7) != 0 || strspn(number, DIGITS) != 3)
        return culex__fail(request->error, CULEX_ECONNECT, "what answers there is no HTTP");
    if (number[0] == '2')
        return CULEX_OK;
    return culex__fail(request->error, CULEX_ECONNECT, "the collector answered %s", number);
}

static culex_status head_send(const struct request *request,
                              const struct culex_collector *collector, size_t len)
{
    char head[1024];
    int size = snprintf(head, sizeof head,
                        "POST %s HTTP/1.1\r\nHost: %s%s%s:%d\r\nUser-Agent: culex/" CULEX_VERSION
                        "\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
                        "Connection: close\r\n\r\n",
                        collector->path, collector->is_v6 ? "[" : "", collector->host,
                        collector->is_v6 ? "]" : "", collector->port, len);
    return bytes_send(request, head, (size_t)size);
}

culex_status culex__collector_post(const struct culex_collector *collector,
                                   const struct culex_env *env,
                                   const struct culex_deadline *deadline, const char *body,
                                   size_t len, culex_error *error)
{
    const struct culex_address address = {.host = collector->host, .port = collector->port};
    struct request request = {env, deadline, -1, error};
    char line[STATUS_LEN + 1];
    culex_status status = env->connect(env->self, &address, deadline, &request.fd, error);
    if (status != CULEX_OK)
        return status;
    status = head_send(&request, collector, len);
    if (status == CULEX_OK)
        status = bytes_send(&request, body, len);
    if (status == CULEX_OK)
        status = status_receive(&request, line);
    if (status == CULEX_OK) {
        status = status_judge(&request, line);
        rest_receive(&request);
    }
    env->close(env->self, request.fd);
    return status;
}
