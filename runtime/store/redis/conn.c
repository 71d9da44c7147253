#include "store/redis/conn.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

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
    if (conn->kept != NULL)
        freeReplyObject(conn->kept);
    conn->fd = -1;
    conn->is_owed = false;
    conn->kept = NULL;
    conn->reader = NULL;
    conn->received = 0;
}

bool culex__redis_conn_is_quiet(const struct culex__redis_conn *conn)
{
    struct pollfd wait = {.fd = conn->fd, .events = POLLIN};
    return conn->fd >= 0 && conn->env->poll(conn->env->self, &wait, 1, 0) == 0;
}

/* A path that ends in a number was perhaps written as the URL of a host, which ends in /DB. */
static void database_hint(const char *path, culex_error *error)
{
    char reason[sizeof error->text];
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    const char *number = slash != NULL ? slash + 1 : "";
    if (error == NULL || *number == '\0' || number[strspn(number, "0123456789")] != '\0')
        return;
    snprintf(reason, sizeof reason, "%s", error->text);
    culex__fail(error, error->code,
                "%s (is %s the database? Then write ?db=%s behind the path of the socket)", reason,
                number, number);
}

culex_status culex__redis_conn_connect(struct culex__redis_conn *conn, int64_t deadline_ns,
                                       culex_error *error)
{
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
        database_hint(conn->target->address.path, error);
        return status;
    }
    conn->generation++;
    return CULEX_OK;
}

/* --- bytes --------------------------------------------------------------------------- */

static culex_status conn_fail(struct culex__redis_conn *conn, culex_status code, const char *doing,
                              const char *reason, culex_error *error)
{
    culex__redis_conn_close(conn);
    return culex__fail(error, code, "%s redis at %s: %s", doing, conn->target->label, reason);
}

/* How long to wait at once: what is left, but the caller may move the end meanwhile. 0: nothing. */
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
    assert(request->len == 0 || request->len > room);
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

/* --- answers to what was sent ahead --------------------------------------------------- */

void culex__redis_conn_owe(struct culex__redis_conn *conn)
{
    assert(conn->fd >= 0 && !conn->is_owed); /* two answers could not be told apart */
    conn->is_owed = true;
}

culex_status culex__redis_conn_collect(struct culex__redis_conn *conn, int64_t deadline_ns,
                                       redisReply **ret_reply, culex_error *error)
{
    if (!conn->is_owed)
        return conn_fail(conn, CULEX_EUNKNOWN, "no answer from", "the connection has ended", error);
    *ret_reply = conn->kept;
    conn->kept = NULL;
    conn->is_owed = false;
    return *ret_reply != NULL ? CULEX_OK
                              : culex__redis_conn_receive(conn, deadline_ns, ret_reply, error);
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
    assert(conn->fd >= 0); /* opened by the caller: see greeting.h */
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
