/* store/redis/call.c - one script, called once: its keys, its rights, its names; see redis.h. */
#include "store/redis/redis.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/record.h"
#include "base/error.h"
#include "base/instant.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "core/run_id.h"
#include "store/redis/scripts.h"

int64_t culex__redis_deadline(const struct culex__redis *redis)
{
    int64_t own_ns = culex__env_boottime_ns(redis->base.env) + redis->timeout_ms * CULEX_MS_NS;
    return culex__store_earlier_ns(&redis->base, own_ns);
}

static_assert(CULEX_DELAY_MAX_MS <= CULEX__REDIS_DELAY_MAX &&
                  CULEX_INSTANT_MAX_MS <= CULEX__REDIS_INSTANT_MAX,
              "the bounds of clients and workers are kept to the ms");

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

/* --- what is known about queues --------------------------------------------------------- */

/* So many are known at a time; what is forgotten is found out again. */
enum { QUEUES_MAX = 1000 };

/* A call holds on to one or two queues, which are the newest, and to that of a step sent ahead. */
static void queues_bound(struct culex__redis *redis)
{
    struct culex__redis_queue **link = &redis->queues;
    for (size_t count = 0; *link != NULL && count < QUEUES_MAX; count++)
        link = &(*link)->next;
    struct culex__redis_queue *last = *link;
    if (last == NULL || last == redis->ahead.queue)
        return;
    *link = last->next;
    free(last);
}

/* The one that was asked for last comes first. */
struct culex__redis_queue *culex__redis_queue_find(struct culex__redis *redis, const char *name)
{
    struct culex__redis_queue **link = &redis->queues, *queue;
    while ((queue = *link) != NULL && strcmp(queue->name, name) != 0)
        link = &queue->next;
    if (queue == NULL) {
        queue = calloc(1, sizeof *queue + strlen(name) + 1);
        if (queue == NULL)
            return NULL;
        strcpy(queue->name, name);
        queue->salt = (uint32_t)culex__env_random(redis->base.env) & CULEX_RUN_SALT_MAX;
    } else {
        *link = queue->next;
    }
    queue->next = redis->queues;
    redis->queues = queue;
    queues_bound(redis);
    return queue;
}

/* --- calls ------------------------------------------------------------------------------- */

/* A key of another queue, behind those of the script. */
struct beside {
    const char *queue; /* NULL: none */
    size_t key;
};

static void request_begin(struct culex__redis *redis, const struct culex__redis_script *script,
                          const char *queue, struct beside beside,
                          struct culex__redis_request *request)
{
    const struct culex_env *env = redis->base.env;
    culex__redis_request_reset(request);
    culex__redis_request_int(request, (int64_t)script->key_count + (beside.queue != NULL));
    for (size_t i = 0; i < script->key_count; i++)
        culex__redis_key(redis, request, queue, script->keys[i]);
    if (beside.queue != NULL)
        culex__redis_key(redis, request, beside.queue, beside.key);
    culex__redis_request_int(request,
                             env->store_clock_ms != NULL ? env->store_clock_ms(env->self) : -1);
}

static culex_status call_begin(struct culex__redis *redis, const struct culex__redis_script *script,
                               const char *queue, struct beside beside, culex_error *error)
{
    /* It becomes a part of keys. */
    assert(strcmp(queue, CULEX__REDIS_NO_QUEUE) == 0 ||
           culex__queue_check(queue, NULL) == CULEX_OK);
    redis->call_level = script->level;
    redis->call_queue = NULL;
    if (redis->call_level != CULEX__REDIS_READS) {
        redis->call_queue = culex__redis_queue_find(redis, queue);
        if (redis->call_queue == NULL)
            return culex__fail(error, CULEX_ENOMEM, "out of memory");
    }
    request_begin(redis, script, queue, beside, &redis->request);
    return CULEX_OK;
}

culex_status culex__redis_begin(struct culex__redis *redis,
                                const struct culex__redis_script *script, const char *queue,
                                culex_error *error)
{
    return call_begin(redis, script, queue, (struct beside){.queue = NULL}, error);
}

culex_status culex__redis_begin_beside(struct culex__redis *redis,
                                       const struct culex__redis_script *script, const char *queue,
                                       const char *other, size_t key, culex_error *error)
{
    return call_begin(redis, script, queue, (struct beside){other, key}, error);
}

/* The first two arguments: how to run the script, and which. */
static culex_status script_send(struct culex__redis *redis, const char *verb, const char *script,
                                size_t len, struct culex__redis_request *request,
                                int64_t deadline_ns, culex_error *error)
{
    struct culex__redis_conn *conn = &redis->conn;
    char frame[96];
    int frame_len = snprintf(frame, sizeof frame, "*%zu\r\n$%zu\r\n%s\r\n$%zu\r\n",
                             request->count + 2, strlen(verb), verb, len);
    char *head = malloc((size_t)frame_len + len + 2);
    if (head == NULL)
        return culex__fail(error, CULEX_ENOMEM, "out of memory");
    memcpy(head, frame, (size_t)frame_len);
    memcpy(head + frame_len, script, len);
    memcpy(head + frame_len + len, "\r\n", 2);
    culex_status status = culex__redis_conn_send(conn, head, (size_t)frame_len + len + 2, request,
                                                 deadline_ns, error);
    free(head);
    return status;
}

static culex_status script_exchange(struct culex__redis *redis, const char *verb,
                                    const char *script, size_t len,
                                    struct culex__redis_request *request, int64_t deadline_ns,
                                    redisReply **ret_reply, culex_error *error)
{
    culex_status status = script_send(redis, verb, script, len, request, deadline_ns, error);
    if (status == CULEX_OK)
        status = culex__redis_conn_receive(&redis->conn, deadline_ns, ret_reply, error);
    return status;
}

static bool is_noscript(const redisReply *reply)
{
    assert(reply != NULL); /* there is one after CULEX_OK */
    return reply->type == REDIS_REPLY_ERROR && culex__redis_refusal_is(reply->str, "NOSCRIPT");
}

/* A refusal as a failure. Where another server may be the right one, the connection goes. */
static culex_status call_refused(struct culex__redis *redis, const char *text, culex_error *error)
{
    culex_status status = culex__redis_conn_refused(&redis->conn, text, error);
    if (culex__redis_refusal_find(text)->is_elsewhere)
        culex__redis_conn_close(&redis->conn);
    return status;
}

/* What came back, unless it is a refusal, which is freed. */
static culex_status script_reply(struct culex__redis *redis, redisReply *reply,
                                 redisReply **ret_reply, culex_error *error)
{
    assert(reply != NULL);
    if (reply->type != REDIS_REPLY_ERROR) {
        *ret_reply = reply;
        return CULEX_OK;
    }
    culex_status status = call_refused(redis, reply->str, error);
    freeReplyObject(reply);
    return status;
}

/* To a server that has not seen it yet. */
static culex_status script_teach(struct culex__redis *redis,
                                 const struct culex__redis_script *script,
                                 struct culex__redis_request *request, int64_t deadline_ns,
                                 redisReply **ret_reply, culex_error *error)
{
    char *unpacked = NULL;
    if (script->text == NULL && (unpacked = culex__redis_unpack(script->at + script->len)) == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for a script");
    const char *text = unpacked != NULL ? unpacked + script->at : script->text;
    culex_status status =
        script_exchange(redis, "EVAL", text, script->len, request, deadline_ns, ret_reply, error);
    free(unpacked);
    return status;
}

/* Runs the script of `request` on the open connection. */
static culex_status script_run(struct culex__redis *redis, const struct culex__redis_script *script,
                               struct culex__redis_request *request, int64_t deadline_ns,
                               redisReply **ret_reply, culex_error *error)
{
    redisReply *reply = NULL;
    culex_status status =
        script_exchange(redis, "EVALSHA", script->digest, 40, request, deadline_ns, &reply, error);
    if (status == CULEX_OK && is_noscript(reply)) {
        freeReplyObject(reply);
        status = script_teach(redis, script, request, deadline_ns, &reply, error);
    }
    if (status != CULEX_OK)
        return status;
    return script_reply(redis, reply, ret_reply, error);
}

static bool queue_is_probed(const struct culex__redis *redis,
                            const struct culex__redis_queue *queue, enum culex__redis_level level)
{
    return queue->generation == redis->conn.generation && queue->level >= level;
}

/* The probe answers with nothing, or with the refusal of the command that failed. */
static culex_status probe_read(struct culex__redis *redis, const redisReply *reply,
                               culex_error *error)
{
    if (reply->type != REDIS_REPLY_STRING)
        return culex__redis_bad_reply(redis, "PROBE", error);
    return reply->len == 0 ? CULEX_OK : call_refused(redis, reply->str, error);
}

/* Permissions belong to a connection, so each new one is asked again. */
static culex_status queue_probe(struct culex__redis *redis, struct culex__redis_queue *queue,
                                enum culex__redis_level level, int64_t deadline_ns,
                                culex_error *error)
{
    static const char *const roles[] = {"producer", "producer", "worker", "operator"};
    struct culex__redis_request request = {.data = NULL};
    redisReply *reply = NULL;
    if (queue_is_probed(redis, queue, level))
        return CULEX_OK;
    request_begin(redis, &culex__redis_script_probe, queue->name, (struct beside){.queue = NULL},
                  &request);
    culex__redis_request_text(&request, roles[level]);
    culex_status status =
        script_run(redis, &culex__redis_script_probe, &request, deadline_ns, &reply, error);
    culex__redis_request_release(&request);
    if (status != CULEX_OK)
        return status;
    assert(reply != NULL); /* there is one after CULEX_OK */
    status = probe_read(redis, reply, error);
    freeReplyObject(reply);
    if (status == CULEX_OK) {
        queue->generation = redis->conn.generation;
        queue->level = level;
    }
    return status;
}

/* A right was withdrawn: until it is back, nothing is sent that would be left half done. */
static void denial_heed(struct culex__redis *redis, culex_status status)
{
    if (status == CULEX_EDENIED && redis->call_queue != NULL)
        redis->call_queue->generation = 0;
}

bool culex__redis_finish_later(struct culex__redis *redis, const struct culex__redis_script *script)
{
    assert(redis->call_queue != NULL);
    if (!queue_is_probed(redis, redis->call_queue, redis->call_level) ||
        !culex__redis_conn_is_quiet(&redis->conn) ||
        script_send(redis, "EVALSHA", script->digest, 40, &redis->request,
                    culex__redis_deadline(redis), NULL) != CULEX_OK)
        return false;
    culex__redis_conn_owe(&redis->conn);
    return true;
}

culex_status culex__redis_collect(struct culex__redis *redis, redisReply **ret_reply,
                                  culex_error *error)
{
    redisReply *reply = NULL;
    culex_status status =
        culex__redis_conn_collect(&redis->conn, culex__redis_deadline(redis), &reply, error);
    if (status != CULEX_OK)
        return status;
    if (is_noscript(reply)) {
        freeReplyObject(reply);
        *ret_reply = NULL;
        return CULEX_OK;
    }
    status = script_reply(redis, reply, ret_reply, error);
    denial_heed(redis, status);
    return status;
}

culex_status culex__redis_finish(struct culex__redis *redis,
                                 const struct culex__redis_script *script, redisReply **ret_reply,
                                 culex_error *error)
{
    int64_t deadline_ns = culex__redis_deadline(redis);
    culex_status status = culex__redis_conn_open(&redis->conn, deadline_ns, error);
    if (status == CULEX_OK && redis->call_queue != NULL)
        status = queue_probe(redis, redis->call_queue, redis->call_level, deadline_ns, error);
    if (status == CULEX_OK)
        status = script_run(redis, script, &redis->request, deadline_ns, ret_reply, error);
    denial_heed(redis, status);
    return status;
}

culex_status culex__redis_bad_reply(struct culex__redis *redis, const char *script,
                                    culex_error *error)
{
    /* Whatever came, what comes next on this connection may be wrong as well. */
    culex__redis_conn_close(&redis->conn);
    return culex__fail(error, CULEX_ECORRUPT, "redis at %s answered %s with something else",
                       redis->target.label, script);
}

/* --- names of queues --------------------------------------------------------------------- */

/* Names are put there again, as the server may have been emptied: two commands in this time. With
 * them an idle worker of one queue sends less than one command a second. */
static const int64_t named_ns = INT64_C(30000000000);

/* No memory for a name, or its slot elsewhere in a cluster: the verb itself goes on without, and
 * only the list of queues lacks one. */
static bool is_name_dispensable(const culex_error *error)
{
    return error->code == CULEX_EFULL || culex__redis_refusal_is(error->text, "MOVED") ||
           culex__redis_refusal_is(error->text, "ASK");
}

/* Workers sleep in BLPOP, which no script can try: here it finds something and returns at once. */
static culex_status blocking_probe(struct culex__redis *redis, const char *queue,
                                   int64_t deadline_ns, culex_error *error)
{
    char key[CULEX__REDIS_PREFIX_MAX + CULEX_QUEUE_NAME_MAX + 16];
    snprintf(key, sizeof key, "%s:{%s}:probe", redis->prefix, queue);
    const char *push[] = {"RPUSH", key, "e"}, *pop[] = {"BLPOP", key, "1"};
    redisReply *reply = NULL;
    culex_status status =
        culex__redis_conn_command(&redis->conn, push, 3, deadline_ns, &reply, error);
    if (status == CULEX_EFULL)
        return CULEX_OK; /* it will be asked when there is memory */
    if (status != CULEX_OK)
        return status;
    freeReplyObject(reply);
    status = culex__redis_conn_command(&redis->conn, pop, 3, deadline_ns, &reply, error);
    if (status != CULEX_OK) {
        const char *drop[] = {"UNLINK", key};
        if (redis->conn.fd < 0 ||
            culex__redis_conn_command(&redis->conn, drop, 2, deadline_ns, &reply, NULL) != CULEX_OK)
            return status;
    }
    freeReplyObject(reply);
    return status;
}

/* PREFIX:queues lies in a slot of its own, so no script can write it. */
static culex_status queue_name_add(struct culex__redis *redis, struct culex__redis_queue *queue,
                                   int64_t deadline_ns, culex_error *error)
{
    char key[CULEX__REDIS_PREFIX_MAX + 16];
    snprintf(key, sizeof key, "%s:queues", redis->prefix);
    const char *words[] = {"SADD", key, queue->name};
    redisReply *reply = NULL;
    culex_error scratch;
    if (error == NULL)
        error = &scratch;
    culex_status status =
        culex__redis_conn_command(&redis->conn, words, 3, deadline_ns, &reply, error);
    if (status != CULEX_OK)
        return is_name_dispensable(error) ? CULEX_OK : status;
    freeReplyObject(reply);
    queue->named_until_ns = culex__env_boottime_ns(redis->base.env) + named_ns;
    return CULEX_OK;
}

bool culex__redis_wants_announcement(const struct culex__redis *redis,
                                     const struct culex__redis_queue *queue)
{
    return queue->named_until_ns != 0 &&
           culex__env_boottime_ns(redis->base.env) >= queue->named_until_ns;
}

/* Somebody may have emptied the server, and filled it again: the queue is looked at anew before its
 * name is written. A failure is not the verb's, and is met by the next one. */
static void queue_name_renew(struct culex__redis *redis, struct culex__redis_queue *queue)
{
    int64_t deadline_ns = culex__redis_deadline(redis);
    if (!culex__redis_wants_announcement(redis, queue))
        return;
    queue->generation = 0;
    if (culex__redis_conn_open(&redis->conn, deadline_ns, NULL) == CULEX_OK &&
        queue_probe(redis, queue, queue->level, deadline_ns, NULL) == CULEX_OK)
        queue_name_add(redis, queue, deadline_ns, NULL);
    queue->named_until_ns = culex__env_boottime_ns(redis->base.env) + named_ns;
}

void culex__redis_announce(struct culex__redis *redis, const char *queue)
{
    struct culex__redis_queue *known = culex__redis_queue_find(redis, queue);
    if (known != NULL)
        queue_name_renew(redis, known);
}

culex_status culex__redis_try(struct culex__redis *redis, const char *queue,
                              enum culex__redis_level level, culex_error *error)
{
    struct culex__redis_queue *known = culex__redis_queue_find(redis, queue);
    int64_t deadline_ns = culex__redis_deadline(redis);
    if (known == NULL)
        return culex__fail(error, CULEX_ENOMEM, "out of memory");
    culex_status status = culex__redis_conn_open(&redis->conn, deadline_ns, error);
    return status == CULEX_OK ? queue_probe(redis, known, level, deadline_ns, error) : status;
}

culex_status culex__redis_register(struct culex__redis *redis, const char *queue, bool is_worker,
                                   culex_error *error)
{
    enum culex__redis_level level = is_worker ? CULEX__REDIS_WORKS : CULEX__REDIS_PRODUCES;
    int64_t deadline_ns = culex__redis_deadline(redis);
    struct culex__redis_queue *known = culex__redis_queue_find(redis, queue);
    if (known == NULL)
        return culex__fail(error, CULEX_ENOMEM, "out of memory");
    if (known->named_until_ns != 0) {
        queue_name_renew(redis, known);
        return CULEX_OK; /* what the verb needs is tried with the verb */
    }
    culex_status status = culex__redis_conn_open(&redis->conn, deadline_ns, error);
    if (status == CULEX_OK)
        status = queue_probe(redis, known, level, deadline_ns, error);
    if (status == CULEX_OK && is_worker)
        status = blocking_probe(redis, queue, deadline_ns, error);
    if (status == CULEX_OK)
        status = queue_name_add(redis, known, deadline_ns, error);
    return status;
}
