#include "backend/redis.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/redis_record.h"
#include "base/error.h"
#include "redis_scripts.h"

culex_status culex__redis_name_check(const char *what, const char *name, culex_error *error)
{
    size_t len = name == NULL ? 0 : strlen(name);
    if (len == 0 || len > CULEX__REDIS_NAME_MAX)
        return culex__fail(error, CULEX_EINVAL, "the name of a %s has 1 to %d bytes", what,
                           CULEX__REDIS_NAME_MAX);
    if (!culex__redis_name_is_valid(name, len) || strpbrk(name, "{}") != NULL)
        return culex__fail(error, CULEX_EINVAL,
                           "the name of a %s holds '|', '{', '}' or a control character", what);
    return CULEX_OK;
}

int64_t culex__redis_deadline(const struct culex__redis *redis)
{
    return culex__env_boottime_ns(redis->base.env) + redis->timeout_ms * 1000000;
}

int64_t culex__redis_delay(int64_t delay_ms)
{
    if (delay_ms < 0)
        return 0;
    return delay_ms < CULEX__REDIS_DELAY_MAX ? delay_ms : CULEX__REDIS_DELAY_MAX;
}

void culex__redis_key(const struct culex__redis *redis, struct culex__redis_request *request,
                      const char *queue, size_t index)
{
    const char *name = queue == NULL ? ":queues" : culex__redis_key_names[index];
    struct culex__redis_piece pieces[] = {
        {redis->prefix, strlen(redis->prefix)},
        {":{", 2},
        {queue, 0},
        {"}:", 2},
        {name, strlen(name)},
    };
    if (queue == NULL) {
        pieces[1] = pieces[4];
        culex__redis_request_join(request, pieces, 2);
        return;
    }
    pieces[2].len = strlen(queue);
    culex__redis_request_join(request, pieces, 5);
}

culex_status culex__redis_begin(struct culex__redis *redis,
                                const struct culex__redis_script *script, const char *queue,
                                culex_error *error)
{
    const struct culex_env *env = redis->base.env;
    struct culex__redis_request *request = &redis->request;
    culex_status status = culex__redis_name_check("queue", queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_request_reset(request);
    culex__redis_request_int(request, (int64_t)script->key_count);
    for (size_t i = 0; i < script->key_count; i++)
        culex__redis_key(redis, request, queue, script->keys[i]);
    culex__redis_request_int(request,
                             env->store_clock_ms != NULL ? env->store_clock_ms(env->self) : -1);
    return CULEX_OK;
}

/* The first two arguments: how to run the script, and which. */
static culex_status call_once(struct culex__redis *redis, const char *verb, const char *script,
                              size_t len, int64_t deadline_ns, redisReply **ret_reply,
                              culex_error *error)
{
    struct culex__redis_conn *conn = &redis->conn;
    char frame[96];
    int frame_len = snprintf(frame, sizeof frame, "*%zu\r\n$%zu\r\n%s\r\n$%zu\r\n",
                             redis->request.count + 2, strlen(verb), verb, len);
    char *head = malloc((size_t)frame_len + len + 2);
    if (head == NULL)
        return culex__fail(error, CULEX_ENOMEM, "out of memory");
    memcpy(head, frame, (size_t)frame_len);
    memcpy(head + frame_len, script, len);
    memcpy(head + frame_len + len, "\r\n", 2);
    culex_status status = culex__redis_conn_send(conn, head, (size_t)frame_len + len + 2,
                                                 &redis->request, deadline_ns, error);
    free(head);
    if (status == CULEX_OK)
        status = culex__redis_conn_receive(conn, deadline_ns, ret_reply, error);
    return status;
}

static bool is_noscript(const redisReply *reply)
{
    assert(reply != NULL); /* there is one after CULEX_OK */
    return reply->type == REDIS_REPLY_ERROR && culex__redis_refusal_is(reply->str, "NOSCRIPT");
}

culex_status culex__redis_finish(struct culex__redis *redis,
                                 const struct culex__redis_script *script, redisReply **ret_reply,
                                 culex_error *error)
{
    redisReply *reply = NULL;
    int64_t deadline_ns = culex__redis_deadline(redis);
    culex_status status = culex__redis_conn_open(&redis->conn, deadline_ns, error);
    if (status == CULEX_OK)
        status = call_once(redis, "EVALSHA", script->digest, 40, deadline_ns, &reply, error);
    if (status == CULEX_OK && is_noscript(reply)) {
        freeReplyObject(reply);
        status = call_once(redis, "EVAL", script->text, script->len, deadline_ns, &reply, error);
    }
    if (status != CULEX_OK)
        return status;
    if (reply->type == REDIS_REPLY_ERROR) {
        status = culex__redis_conn_refused(&redis->conn, reply->str, error);
        /* A server that lost its role or its data is not the one to talk to: ask anew. */
        if (status == CULEX_EBUSY && !culex__redis_refusal_is(reply->str, "BUSY"))
            culex__redis_conn_close(&redis->conn);
        freeReplyObject(reply);
        return status;
    }
    *ret_reply = reply;
    return CULEX_OK;
}

culex_status culex__redis_bad_reply(const struct culex__redis *redis, const char *script,
                                    culex_error *error)
{
    return culex__fail(error, CULEX_ECORRUPT, "redis at %s answered %s with something else",
                       redis->target.label, script);
}

/* --- queues that are known ------------------------------------------------------------ */

static struct culex__redis_queue *queue_find(struct culex__redis *redis, const char *name)
{
    for (struct culex__redis_queue *at = redis->queues; at != NULL; at = at->next) {
        if (strcmp(at->name, name) == 0)
            return at;
    }
    return NULL;
}

static culex_status queue_probe(struct culex__redis *redis, const char *queue, bool is_worker,
                                culex_error *error)
{
    redisReply *reply = NULL;
    culex_status status = culex__redis_begin(redis, &culex__redis_probe, queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_request_text(&redis->request, is_worker ? "worker" : "producer");
    status = culex__redis_finish(redis, &culex__redis_probe, &reply, error);
    if (status != CULEX_OK)
        return status;
    assert(reply != NULL);
    if (reply->type != REDIS_REPLY_STRING)
        status = culex__redis_bad_reply(redis, "PROBE", error);
    else if (reply->len > 0 && !culex__redis_refusal_is(reply->str, "OOM"))
        status = culex__redis_conn_refused(&redis->conn, reply->str, error);
    freeReplyObject(reply);
    return status;
}

/* PREFIX:queues lies in a slot of its own, so no script can write it. */
static culex_status queue_name_add(struct culex__redis *redis, const char *queue,
                                   culex_error *error)
{
    char key[CULEX__REDIS_PREFIX_MAX + 16];
    snprintf(key, sizeof key, "%s:queues", redis->prefix);
    const char *words[] = {"SADD", key, queue};
    redisReply *reply = NULL;
    int64_t deadline_ns = culex__redis_deadline(redis);
    culex_status status = culex__redis_conn_open(&redis->conn, deadline_ns, error);
    if (status == CULEX_OK)
        status = culex__redis_conn_command(&redis->conn, words, 3, deadline_ns, &reply, error);
    if (status == CULEX_OK)
        freeReplyObject(reply);
    /* No memory for a name: the verb itself will say whether it goes on without. */
    return status == CULEX_EFULL ? CULEX_OK : status;
}

culex_status culex__redis_register(struct culex__redis *redis, const char *queue, bool is_worker,
                                   culex_error *error)
{
    struct culex__redis_queue *known = queue_find(redis, queue);
    if (known != NULL && (known->is_worker || !is_worker))
        return CULEX_OK;
    culex_status status = queue_probe(redis, queue, is_worker, error);
    if (status == CULEX_OK)
        status = queue_name_add(redis, queue, error);
    if (status != CULEX_OK)
        return status;
    if (known == NULL) {
        known = calloc(1, sizeof *known + strlen(queue) + 1);
        if (known == NULL)
            return CULEX_OK; /* it is asked again next time, no more */
        strcpy(known->name, queue);
        known->next = redis->queues;
        redis->queues = known;
    }
    known->is_worker = known->is_worker || is_worker;
    return CULEX_OK;
}
