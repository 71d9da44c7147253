#include "store/redis/conn.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* --- where --------------------------------------------------------------------------- */

static culex_status database_read(struct culex__redis_target *target, bool is_socket,
                                  culex_error *error)
{
    const char *text = is_socket ? culex__url_param(&target->url, "db") : target->url.path;
    if (text == NULL || strcmp(text, "") == 0 || (!is_socket && strcmp(text, "/") == 0))
        return CULEX_OK;
    return culex__url_number("the database", is_socket ? text : text + 1, 0, 999999,
                             &target->database, error);
}

static culex_status eviction_read(struct culex__redis_target *target, culex_error *error)
{
    const char *text = culex__url_param(&target->url, "accept-eviction");
    int value = 0;
    culex_status status = CULEX_OK;
    if (text != NULL)
        status = culex__url_number("accept-eviction", text, 0, 1, &value, error);
    target->is_eviction_accepted = value == 1;
    return status;
}

static void identity_read(struct culex__redis_target *target)
{
    const char *user = culex__url_param(&target->url, "user");
    const char *password = culex__url_param(&target->url, "password");
    target->user = user != NULL ? user : target->url.user;
    target->password = password != NULL ? password : target->url.password;
}

static culex_status address_read(struct culex__redis_target *target, bool is_socket,
                                 culex_error *error)
{
    const struct culex__url *url = &target->url;
    if (is_socket && (url->host[0] != '\0' || url->path[0] == '\0'))
        return culex__fail(
            error, CULEX_EURL,
            "store URL: a socket is written as redis+unix:///PATH, with three slashes");
    if (is_socket) {
        target->address.path = url->path;
        snprintf(target->label, sizeof target->label, "%s", url->path);
        return CULEX_OK;
    }
    target->address.host = url->host[0] != '\0' ? url->host : "127.0.0.1";
    target->address.port = url->port != 0 ? url->port : 6379;
    snprintf(target->label, sizeof target->label, "%.128s port %d", target->address.host,
             target->address.port);
    return CULEX_OK;
}

culex_status culex__redis_target_parse(const char *url, struct culex__redis_target *ret_target,
                                       culex_error *error)
{
    struct culex__redis_target target = {.database = 0};
    culex_status status = culex__url_parse(url, &target.url, error);
    if (status != CULEX_OK)
        return status;
    bool is_socket = strcmp(target.url.scheme, "redis+unix") == 0;
    status = address_read(&target, is_socket, error);
    if (status == CULEX_OK)
        status = database_read(&target, is_socket, error);
    if (status == CULEX_OK)
        status = eviction_read(&target, error);
    if (status != CULEX_OK) {
        culex__url_release(&target.url);
        return status;
    }
    identity_read(&target);
    *ret_target = target;
    return CULEX_OK;
}

void culex__redis_target_release(struct culex__redis_target *target)
{
    culex__url_release(&target->url);
}

/* --- requests ------------------------------------------------------------------------ */

void culex__redis_request_reset(struct culex__redis_request *request)
{
    enum { KEPT_MAX = 1024 * 1024 };
    if (request->cap > KEPT_MAX)
        culex__redis_request_release(request); /* one huge batch must not cost memory for ever */
    request->len = request->count = 0;
    request->is_too_long = false;
}

void culex__redis_request_release(struct culex__redis_request *request)
{
    free(request->data);
    memset(request, 0, sizeof *request);
}

/* Room for `len` more bytes; NULL, and the request spoilt, when there is none. */
static char *request_grow(struct culex__redis_request *request, size_t len)
{
    if (request->len < CULEX__REDIS_HEAD_ROOM)
        request->len = CULEX__REDIS_HEAD_ROOM;
    if (request->is_too_long || len > CULEX__REDIS_REQUEST_BYTES_MAX - request->len) {
        request->is_too_long = true;
        return NULL;
    }
    size_t cap = request->cap == 0 ? 4096 : request->cap;
    while (cap < request->len + len)
        cap *= 2;
    if (cap != request->cap) {
        char *data = realloc(request->data, cap);
        if (data == NULL) {
            request->is_too_long = true;
            return NULL;
        }
        request->data = data;
        request->cap = cap;
    }
    return request->data + request->len;
}

/* Decimal digits of `value`, written backwards to end at `end`; returns the first. */
static char *digits_before(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return end;
}

void culex__redis_request_join(struct culex__redis_request *request,
                               const struct culex__redis_piece *pieces, size_t count)
{
    enum { FRAME_MAX = 32 }; /* '$', the length, two line ends */
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].len > CULEX__REDIS_REQUEST_BYTES_MAX - len) {
            request->is_too_long = true;
            return;
        }
        len += pieces[i].len;
    }
    char *to = request_grow(request, len + FRAME_MAX);
    if (to == NULL)
        return;
    char digits[24], *end = digits + sizeof digits, *first = digits_before(end, len);
    *to++ = '$';
    memcpy(to, first, (size_t)(end - first));
    to += end - first;
    *to++ = '\r';
    *to++ = '\n';
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].len > 0)
            memcpy(to, pieces[i].bytes, pieces[i].len);
        to += pieces[i].len;
    }
    *to++ = '\r';
    *to++ = '\n';
    request->len = (size_t)(to - request->data);
    request->count++;
}

void culex__redis_request_add(struct culex__redis_request *request, const void *bytes, size_t len)
{
    struct culex__redis_piece piece = {bytes, len};
    culex__redis_request_join(request, &piece, 1);
}

void culex__redis_request_text(struct culex__redis_request *request, const char *text)
{
    culex__redis_request_add(request, text, strlen(text));
}

void culex__redis_request_int(struct culex__redis_request *request, int64_t value)
{
    char digits[24], *end = digits + sizeof digits;
    char *first = digits_before(end, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    if (value < 0)
        *--first = '-';
    culex__redis_request_add(request, first, (size_t)(end - first));
}

/* --- bytes --------------------------------------------------------------------------- */

void culex__redis_conn_init(struct culex__redis_conn *conn, const struct culex_store *base,
                            const struct culex__redis_target *target)
{
    memset(conn, 0, sizeof *conn);
    conn->base = base;
    conn->env = base->env;
    conn->target = target;
    conn->fd = -1;
}

void culex__redis_conn_close(struct culex__redis_conn *conn)
{
    if (conn->fd >= 0)
        conn->env->close(conn->env->self, conn->fd);
    if (conn->reader != NULL)
        redisReaderFree(conn->reader);
    conn->fd = -1;
    conn->reader = NULL;
    conn->received = 0;
}

static culex_status conn_fail(struct culex__redis_conn *conn, culex_status code, const char *doing,
                              const char *reason, culex_error *error)
{
    culex__redis_conn_close(conn);
    return culex__fail(error, code, "%s redis at %s: %s", doing, conn->target->label, reason);
}

/* How long to wait at once: what is left, but the engine may move the end meanwhile. 0: nothing. */
static int left_ms(const struct culex__redis_conn *conn, int64_t deadline_ns)
{
    const struct culex_deadline deadline = {deadline_ns, conn->base->until_ns};
    return culex__deadline_wait_ms(&deadline, culex__env_boottime_ns(conn->env));
}

/* Waits for room to send until the deadline. 0, or an errno. */
static int room_wait(const struct culex__redis_conn *conn, int64_t deadline_ns)
{
    struct pollfd wait = {.fd = conn->fd, .events = POLLOUT};
    for (;;) {
        int wait_ms = left_ms(conn, deadline_ns);
        if (wait_ms == 0)
            return ETIMEDOUT;
        int ready = conn->env->poll(conn->env->self, &wait, 1, wait_ms);
        if (ready > 0)
            return 0;
        if (ready < 0 && errno != EINTR)
            return errno;
    }
}

static bool is_transient(int reason)
{
    return reason == EAGAIN || reason == EWOULDBLOCK || reason == EINTR;
}

/* Sends all bytes; 0 or an errno. Tries before it polls: there is room nearly always. */
static int bytes_send(const struct culex__redis_conn *conn, const char *bytes, size_t len,
                      int64_t deadline_ns)
{
    while (len > 0) {
        ssize_t sent = conn->env->send(conn->env->self, conn->fd, bytes, len);
        if (sent > 0) {
            bytes += sent;
            len -= (size_t)sent;
            continue;
        }
        if (sent < 0 && !is_transient(errno))
            return errno;
        int reason = room_wait(conn, deadline_ns);
        if (reason != 0)
            return reason;
    }
    return 0;
}

/* Puts the head before the arguments, where there is room for it; a script's text has none. */
static int request_send(const struct culex__redis_conn *conn, const char *head, size_t head_len,
                        struct culex__redis_request *request, int64_t deadline_ns)
{
    const size_t room = CULEX__REDIS_HEAD_ROOM;
    if (request->len == 0)
        return bytes_send(conn, head, head_len, deadline_ns);
    if (head_len <= room) {
        char *begin = request->data + room - head_len;
        memcpy(begin, head, head_len);
        return bytes_send(conn, begin, head_len + request->len - room, deadline_ns);
    }
    int reason = bytes_send(conn, head, head_len, deadline_ns);
    if (reason == 0)
        reason = bytes_send(conn, request->data + room, request->len - room, deadline_ns);
    return reason;
}

/* Bytes that make no reply of ours: whether the request was carried out nobody knows. */
static culex_status conn_misunderstood(struct culex__redis_conn *conn, const char *reason,
                                       culex_error *error)
{
    return conn_fail(conn, CULEX_EUNKNOWN, "not understood: the answer of", reason, error);
}

/* A line that never ends would be searched for its end again and again. A text has the line with
 * its length first, and may be as long as it says. */
static bool is_endless_line(const redisReader *reader)
{
    return reader->len - reader->pos > CULEX__REDIS_REPLY_LINE_MAX &&
           memchr(reader->buf + reader->pos, '\n', CULEX__REDIS_REPLY_LINE_MAX) == NULL;
}

static culex_status reply_decode(struct culex__redis_conn *conn, redisReply **ret_reply,
                                 culex_error *error)
{
    void *reply = NULL;
    assert(conn->reader != NULL); /* connected */
    if (redisReaderGetReply(conn->reader, &reply) != REDIS_OK) {
        char reason[160];
        snprintf(reason, sizeof reason, "%.120s", conn->reader->errstr);
        return conn_misunderstood(conn, reason, error);
    }
    if (reply == NULL && is_endless_line(conn->reader))
        return conn_misunderstood(conn, "a line of it is longer than 64 KiB", error);
    if (reply != NULL) {
        bool has_more = conn->reader->len > conn->reader->pos;
        conn->received = 0;
        if (has_more) {
            freeReplyObject(reply);
            return conn_misunderstood(conn, "more than one reply to a request", error);
        }
    }
    *ret_reply = reply;
    return CULEX_OK;
}

/* Takes what has arrived, after waiting at most `wait_ms` for its first byte. One piece at a time:
 * between pieces the callers look at their deadline. */
static culex_status take(struct culex__redis_conn *conn, int wait_ms, redisReply **ret_reply,
                         culex_error *error)
{
    char bytes[32 * 1024];
    *ret_reply = NULL;
    ssize_t got = conn->env->recv(conn->env->self, conn->fd, bytes, sizeof bytes, wait_ms);
    if (got == 0)
        return conn_fail(conn, CULEX_EUNKNOWN, "no answer from", "the server closed the connection",
                         error);
    if (got < 0 && is_transient(errno))
        return CULEX_OK;
    if (got < 0)
        return conn_fail(conn, CULEX_EUNKNOWN, "no answer from", strerror(errno), error);
    conn->received += (size_t)got;
    if (conn->received > CULEX__REDIS_REPLY_BYTES_MAX)
        return conn_misunderstood(conn, "it is larger than 64 MiB", error);
    if (redisReaderFeed(conn->reader, bytes, (size_t)got) != REDIS_OK)
        return conn_fail(conn, CULEX_ENOMEM, "cannot read from", "out of memory", error);
    return reply_decode(conn, ret_reply, error);
}

culex_status culex__redis_conn_take(struct culex__redis_conn *conn, redisReply **ret_reply,
                                    culex_error *error)
{
    return take(conn, 0, ret_reply, error);
}

culex_status culex__redis_conn_receive(struct culex__redis_conn *conn, int64_t deadline_ns,
                                       redisReply **ret_reply, culex_error *error)
{
    for (;;) {
        int wait_ms = left_ms(conn, deadline_ns);
        if (wait_ms == 0)
            return conn_fail(conn, CULEX_EUNKNOWN, "no answer from", "timed out", error);
        culex_status status = take(conn, wait_ms, ret_reply, error);
        if (status != CULEX_OK || *ret_reply != NULL)
            return status;
    }
}

culex_status culex__redis_conn_refused(const struct culex__redis_conn *conn, const char *text,
                                       culex_error *error)
{
    const struct culex__redis_refusal *refusal = culex__redis_refusal_find(text);
    if (refusal->advice == NULL)
        return culex__fail(error, refusal->status, "redis at %s refused: %.200s",
                           conn->target->label, text);
    return culex__fail(error, refusal->status, "redis at %s refused: %.160s; %s",
                       conn->target->label, text, refusal->advice);
}

/* A server that hangs up at once may have said why: too many clients, protected mode. CULEX_OK
 * when it said nothing. */
static culex_status last_words(struct culex__redis_conn *conn, culex_error *error)
{
    redisReply *reply = NULL;
    culex_status status = take(conn, 0, &reply, NULL);
    if (status != CULEX_OK || reply == NULL)
        return CULEX_OK;
    if (reply->type == REDIS_REPLY_ERROR) {
        status = culex__redis_conn_refused(conn, reply->str, error);
        culex__redis_conn_close(conn);
    }
    freeReplyObject(reply);
    return status;
}

culex_status culex__redis_conn_send(struct culex__redis_conn *conn, const char *head,
                                    size_t head_len, struct culex__redis_request *request,
                                    int64_t deadline_ns, culex_error *error)
{
    if (request->is_too_long)
        return culex__fail(error, CULEX_ELIMIT, "the request is larger than %d MiB or than memory",
                           CULEX__REDIS_REQUEST_BYTES_MAX / 1024 / 1024);
    int reason = request_send(conn, head, head_len, request, deadline_ns);
    if (reason == 0)
        return CULEX_OK;
    /* A part of a request is nothing to the server. */
    culex_status status = last_words(conn, error);
    if (status == CULEX_OK)
        status = conn_fail(conn, CULEX_ECONNECT, "cannot send to", strerror(reason), error);
    return status;
}

culex_status culex__redis_conn_command(struct culex__redis_conn *conn, const char *const *words,
                                       size_t count, int64_t deadline_ns, redisReply **ret_reply,
                                       culex_error *error)
{
    struct culex__redis_request request = {.data = NULL};
    for (size_t i = 0; i < count; i++)
        culex__redis_request_text(&request, words[i]);
    char head[24];
    int head_len = snprintf(head, sizeof head, "*%zu\r\n", count);
    redisReply *reply = NULL;
    culex_status status =
        culex__redis_conn_send(conn, head, (size_t)head_len, &request, deadline_ns, error);
    if (status == CULEX_OK)
        status = culex__redis_conn_receive(conn, deadline_ns, &reply, error);
    if (request.data != NULL)
        culex__wipe(request.data, request.len); /* it may hold the password */
    culex__redis_request_release(&request);
    assert(status != CULEX_OK || reply != NULL);
    if (status == CULEX_OK && reply->type == REDIS_REPLY_ERROR) {
        status = culex__redis_conn_refused(conn, reply->str, error);
        freeReplyObject(reply);
    } else if (status == CULEX_OK) {
        *ret_reply = reply;
    }
    return status;
}

/* --- greeting ------------------------------------------------------------------------ */

/* A command whose reply says no more than that it worked. */
static culex_status say(struct culex__redis_conn *conn, const char *const *words, size_t count,
                        int64_t deadline_ns, culex_error *error)
{
    redisReply *reply = NULL;
    culex_status status = culex__redis_conn_command(conn, words, count, deadline_ns, &reply, error);
    if (status == CULEX_OK)
        freeReplyObject(reply);
    return status;
}

/* Servers that do not know AUTH quote its arguments. */
static void secret_hide(const struct culex__redis_conn *conn, culex_error *error)
{
    const char *password = conn->target->password;
    if (password[0] != '\0' && strstr(error->text, password) != NULL)
        culex__fail(error, error->code, "redis at %s refused the login", conn->target->label);
}

static culex_status authenticate(struct culex__redis_conn *conn, int64_t deadline_ns,
                                 culex_error *error)
{
    const struct culex__redis_target *target = conn->target;
    if (target->password == NULL)
        return CULEX_OK;
    const char *with_user[] = {"AUTH", target->user, target->password};
    const char *without[] = {"AUTH", target->password};
    culex_status status = target->user != NULL ? say(conn, with_user, 3, deadline_ns, error)
                                               : say(conn, without, 2, deadline_ns, error);
    if (status == CULEX_ESTORE)
        status = error->code = CULEX_EDENIED;
    if (status != CULEX_OK)
        secret_hide(conn, error);
    return status;
}

static culex_status database_select(struct culex__redis_conn *conn, int64_t deadline_ns,
                                    culex_error *error)
{
    char number[16];
    snprintf(number, sizeof number, "%d", conn->target->database);
    const char *words[] = {"SELECT", number};
    return conn->target->database == 0 ? CULEX_OK : say(conn, words, 2, deadline_ns, error);
}

static culex_status version_check(const struct culex__redis_conn *conn, const redisReply *reply,
                                  culex_error *error)
{
    char version[32];
    unsigned major, minor;
    culex__redis_info_value(reply, "redis_version", version, sizeof version);
    if (sscanf(version, "%3u.%3u", &major, &minor) == 2 && major * 100 + minor < 602)
        return culex__fail(error, CULEX_EUNSUPPORTED,
                           "redis at %s is version %s; Culex needs 6.2 or newer",
                           conn->target->label, version);
    return CULEX_OK;
}

static culex_status eviction_check(const struct culex__redis_conn *conn, const redisReply *reply,
                                   culex_error *error)
{
    char policy[32];
    culex__redis_info_value(reply, "maxmemory_policy", policy, sizeof policy);
    if (strncmp(policy, "allkeys-", 8) == 0 && !conn->target->is_eviction_accepted)
        return culex__fail(error, CULEX_EUNSUPPORTED,
                           "redis at %s may evict queues (maxmemory-policy %s); set it to "
                           "noeviction or to a volatile policy, or put accept-eviction=1 into the "
                           "URL if losing runs is acceptable",
                           conn->target->label, policy);
    return CULEX_OK;
}

/* A user without INFO is not kept out for that: the checks are advice, not safety. */
static culex_status info_check(struct culex__redis_conn *conn, const char *section,
                               culex_status (*check)(const struct culex__redis_conn *conn,
                                                     const redisReply *reply, culex_error *error),
                               int64_t deadline_ns, culex_error *error)
{
    const char *words[] = {"INFO", section};
    redisReply *reply = NULL;
    culex_status status = culex__redis_conn_command(conn, words, 2, deadline_ns, &reply, error);
    if (status == CULEX_EDENIED && culex__redis_refusal_is(error->text, "NOPERM"))
        return CULEX_OK;
    if (status != CULEX_OK)
        return status;
    status = check(conn, reply, error);
    freeReplyObject(reply);
    return status;
}

static culex_status greet(struct culex__redis_conn *conn, int64_t deadline_ns, culex_error *error)
{
    static const char *const name[] = {"CLIENT", "SETNAME", "culex"};
    culex_error ignored;
    culex_status status = authenticate(conn, deadline_ns, error);
    if (status == CULEX_OK)
        status = database_select(conn, deadline_ns, error);
    if (status == CULEX_OK)
        status = info_check(conn, "server", version_check, deadline_ns, error);
    if (status == CULEX_OK)
        status = info_check(conn, "memory", eviction_check, deadline_ns, error);
    if (status == CULEX_OK) /* only helps whoever reads CLIENT LIST */
        say(conn, name, 3, deadline_ns, &ignored);
    return status;
}

/* Between exchanges nothing may arrive: what does is the server hanging up. */
static bool is_quiet(const struct culex__redis_conn *conn)
{
    struct pollfd wait = {.fd = conn->fd, .events = POLLIN};
    return conn->env->poll(conn->env->self, &wait, 1, 0) == 0;
}

culex_status culex__redis_conn_open(struct culex__redis_conn *conn, int64_t deadline_ns,
                                    culex_error *error)
{
    if (conn->fd >= 0 && is_quiet(conn))
        return CULEX_OK;
    culex_error scratch;
    if (error == NULL) /* the greeting reads its own errors */
        error = &scratch;
    culex__redis_conn_close(conn);
    conn->reader = culex__redis_reader_create(&conn->limits);
    if (conn->reader == NULL)
        return culex__fail(error, CULEX_ENOMEM, "out of memory");
    const struct culex_deadline deadline = {deadline_ns, conn->base->until_ns};
    culex_status status =
        conn->env->connect(conn->env->self, &conn->target->address, &deadline, &conn->fd, error);
    if (status != CULEX_OK) {
        conn->fd = -1;
        culex__redis_conn_close(conn);
        return status;
    }
    conn->generation++;
    status = greet(conn, deadline_ns, error);
    if (status != CULEX_OK)
        culex__redis_conn_close(conn);
    /* No request of the caller's was sent yet, so nothing is unknown. */
    if (status == CULEX_EUNKNOWN)
        status = error->code = CULEX_ECONNECT;
    if (status == CULEX_OK && conn->fd < 0)
        return culex__fail(error, CULEX_ECONNECT, "redis at %s hung up", conn->target->label);
    return status;
}
