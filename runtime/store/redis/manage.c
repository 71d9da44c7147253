/* store/redis/manage.c - the operator's verbs, HELLO, and the store's clock. */
#include "store/redis/redis.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/refusal.h"
#include "base/error.h"
#include "store/redis/scripts.h"
#include "store/argument.h"

/* --- verbs that name one run ---------------------------------------------------------- */

/* Sends the call of `script` on a run; its one-word answer goes to `ret_answer`. */
static culex_status run_answer(struct culex__redis *redis, const struct culex__redis_script *script,
                               const char *queue, char ret_answer[4], culex_error *error)
{
    redisReply *reply = NULL;
    culex_status status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    memset(ret_answer, 0, 4);
    if (reply->type == REDIS_REPLY_STRING && reply->len < 4)
        memcpy(ret_answer, reply->str, (size_t)reply->len);
    else
        status = culex__redis_bad_reply(redis, script->name, error);
    freeReplyObject(reply);
    if (status != CULEX_OK)
        return status;
    if (ret_answer[0] == '\0')
        return culex__refuse_run(queue, error);
    if (ret_answer[0] == '?')
        return culex__fail(error, CULEX_ECORRUPT, "the run's record is damaged");
    return CULEX_OK;
}
/* The same, of one that takes nothing but the run. */
static culex_status run_call(struct culex_store *base, const struct culex__redis_script *script,
                             const char *queue, culex_uuid id, char ret_answer[4],
                             culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_id(redis, id);
    return run_answer(redis, script, queue, ret_answer, error);
}

culex_status culex__redis_cancel(struct culex_store *base, const char *queue, culex_uuid id,
                                 culex_run_state *ret_state, culex_error *error)
{
    char answer[4];
    culex_run_state state;
    culex_status status = run_call(base, &culex__redis_script_cancel, queue, id, answer, error);
    if (status != CULEX_OK)
        return status;
    bool is_final = answer[0] == '!';
    if (!culex__run_state_parse(answer[is_final], &state))
        return culex__redis_bad_reply(culex__redis_of(base), "CANCEL", error);
    if (is_final)
        return culex__refuse_cancel(state, error);
    *ret_state = state;
    return CULEX_OK;
}

culex_status culex__redis_retry(struct culex_store *base, const char *queue, culex_uuid id,
                                culex_error *error)
{
    char answer[4];
    culex_status status = run_call(base, &culex__redis_script_retry, queue, id, answer, error);
    if (status != CULEX_OK)
        return status;
    if (answer[0] == '!')
        return culex__refuse_retry(error);
    if (answer[0] == 'U')
        return culex__refuse_rival(error);
    return CULEX_OK;
}

culex_status culex__redis_forget(struct culex_store *base, const char *queue, culex_uuid id,
                                 culex_error *error)
{
    char answer[4];
    culex_status status = run_call(base, &culex__redis_script_forget, queue, id, answer, error);
    if (status == CULEX_OK && answer[0] == '!')
        return culex__refuse_forget(error);
    return status;
}

culex_status culex__redis_move(struct culex_store *base, const char *queue, culex_uuid id,
                               const struct culex_place *place, culex_error *error)
{
    const struct culex__redis_script *script = &culex__redis_script_move;
    struct culex__redis *redis = culex__redis_of(base);
    char when[48] = "", answer[4];
    culex_run_state state;
    assert(culex__argument_move(queue, place, NULL) == CULEX_OK);
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    if (place->has_time)
        snprintf(when, sizeof when, "%lld|%lld",
                 (long long)(place->delay_ms > 0 ? place->delay_ms : 0), (long long)place->at_ms);
    culex__redis_id(redis, id);
    culex__redis_request_text(&redis->request, when);
    if (place->priority >= 0)
        culex__redis_request_int(&redis->request, place->priority);
    else
        culex__redis_request_text(&redis->request, "");
    status = run_answer(redis, script, queue, answer, error);
    if (status != CULEX_OK || answer[0] == 'O')
        return status;
    if (answer[0] == 'L')
        return culex__refuse_late_move(error);
    if (answer[0] == '!' && culex__run_state_parse(answer[1], &state))
        return culex__refuse_move(state, error);
    return culex__redis_bad_reply(redis, "MOVE", error);
}

/* --- verbs on a queue ----------------------------------------------------------------- */

/* Shares of one call of HELLO: no session holds as much as these can look at. */
enum { HELLO_ROUNDS_MAX = 10000 };

/* Some integers, as HELLO and PURGE answer. */
static culex_status integers_read(struct culex__redis *redis, const char *script,
                                  const redisReply *reply, int64_t *values, size_t count,
                                  culex_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (!culex__redis_reply_int(reply, i, &values[i]) || values[i] < 0)
            return culex__redis_bad_reply(redis, script, error);
    }
    return CULEX_OK;
}

/* One bounded share of HELLO. Values, in and out: now, released, and the place where to go on, 0 at
 * the end: see redis/hello.lua. */
static culex_status hello_once(struct culex__redis *redis, const char *queue, const char *worker,
                               const char *session, int64_t values[4], culex_error *error)
{
    redisReply *reply = NULL;
    culex_status status = culex__redis_begin(redis, &culex__redis_script_hello, queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_request_text(&redis->request, worker);
    culex__redis_request_text(&redis->request, session);
    culex__redis_request_int(&redis->request, values[2]);
    culex__redis_request_int(&redis->request, values[3]);
    status = culex__redis_finish(redis, &culex__redis_script_hello, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = integers_read(redis, "HELLO", reply, values, 4, error);
    freeReplyObject(reply);
    return status;
}

/* After a share was carried out: a status that says that nothing was is none any more. */
static culex_status hello_cut_short(culex_status status, culex_error *error)
{
    if (status != CULEX_ECONNECT && status != CULEX_EBUSY && status != CULEX_EFULL)
        return status;
    if (error != NULL)
        error->code = CULEX_EUNKNOWN;
    return CULEX_EUNKNOWN;
}

/* The server still names a lease to go on at: the session before may hold more runs. */
static culex_status hello_unfinished(const struct culex__redis *redis, size_t released,
                                     culex_error *error)
{
    return culex__fail(error, CULEX_EUNKNOWN,
                       "redis at %s took back %zu runs in %d shares of HELLO and came to no end: "
                       "the new session does not count yet, HELLO is to be repeated",
                       redis->target.label, released, HELLO_ROUNDS_MAX);
}

culex_status culex__redis_hello(struct culex_store *base, const char *queue, const char *worker,
                                const char *session, size_t *ret_released, int64_t *ret_now_ms,
                                culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    int64_t values[4] = {0, 0, -1, 0};
    size_t released = 0, rounds = 0;
    assert(culex__argument_hello(queue, worker, session, NULL) == CULEX_OK);
    culex_status status = culex__redis_register(redis, queue, true, error);
    do {
        if (status == CULEX_OK)
            status = hello_once(redis, queue, worker, session, values, error);
        released += status == CULEX_OK ? (size_t)values[1] : 0;
    } while (status == CULEX_OK && values[2] > 0 && ++rounds < HELLO_ROUNDS_MAX);
    if (status != CULEX_OK)
        return rounds > 0 ? hello_cut_short(status, error) : status;
    if (values[2] > 0)
        return hello_unfinished(redis, released, error);
    *ret_released = released;
    *ret_now_ms = values[0];
    return CULEX_OK;
}

/* Calls `script` with one number; it answers 1, 0 for a queue that is not there. */
static culex_status setting_call(struct culex_store *base, const struct culex__redis_script *script,
                                 const char *queue, int64_t value, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    redisReply *reply = NULL;
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_request_int(&redis->request, value);
    status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    if (reply->type != REDIS_REPLY_INTEGER || reply->integer < 0 || reply->integer > 1)
        status = culex__redis_bad_reply(redis, script->name, error);
    else if (reply->integer == 0)
        status = culex__refuse_queue(queue, error);
    freeReplyObject(reply);
    return status;
}

culex_status culex__redis_pause(struct culex_store *base, const char *queue, bool is_paused,
                                culex_error *error)
{
    return setting_call(base, &culex__redis_script_pause, queue, is_paused ? -1 : 0, error);
}

culex_status culex__redis_pause_for(struct culex_store *base, const char *queue, int64_t for_ms,
                                    culex_error *error)
{
    assert(culex__argument_pause_for(queue, for_ms, NULL) == CULEX_OK);
    return setting_call(base, &culex__redis_script_pause, queue, for_ms, error);
}

culex_status culex__redis_limit(struct culex_store *base, const char *queue, uint64_t most,
                                culex_error *error)
{
    assert(culex__argument_limit(queue, most, NULL) == CULEX_OK);
    return setting_call(base, &culex__redis_script_limit, queue, (int64_t)most, error);
}

culex_status culex__redis_dead_limit(struct culex_store *base, const char *queue, uint64_t most,
                                     culex_error *error)
{
    assert(culex__argument_dead_limit(queue, most, NULL) == CULEX_OK);
    return setting_call(base, &culex__redis_script_dead_limit, queue, (int64_t)most, error);
}

culex_status culex__redis_purge(struct culex_store *base, const char *queue, culex_run_state state,
                                size_t limit, struct culex_purge_reply *ret_reply,
                                culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_purge;
    char letter = culex__run_state_letter(state);
    int64_t values[2] = {0}; /* deleted, left */
    redisReply *reply = NULL;
    assert(culex__argument_purge(queue, state, limit, NULL) == CULEX_OK);
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_request_add(&redis->request, &letter, 1);
    culex__redis_request_int(&redis->request, (int64_t)limit);
    status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = culex__redis_is_empty(reply) ? culex__refuse_queue(queue, error)
                                          : integers_read(redis, "PURGE", reply, values, 2, error);
    freeReplyObject(reply);
    if (status == CULEX_OK && (uint64_t)values[0] > limit)
        return culex__redis_bad_reply(redis, "PURGE", error);
    if (status == CULEX_OK)
        *ret_reply = (struct culex_purge_reply){(size_t)values[0], values[1] > 0};
    return status;
}

culex_status culex__redis_now(struct culex_store *base, int64_t *ret_now_ms, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex_env *env = redis->base.env;
    static const char *const words[] = {"TIME"};
    if (env->store_clock_ms != NULL) {
        *ret_now_ms = env->store_clock_ms(env->self);
        return CULEX_OK;
    }
    redisReply *reply = NULL;
    int64_t deadline_ns = culex__redis_deadline(redis);
    culex_status status = culex__redis_conn_open(&redis->conn, deadline_ns, error);
    if (status == CULEX_OK)
        status = culex__redis_conn_command(&redis->conn, words, 1, deadline_ns, &reply, error);
    if (status != CULEX_OK)
        return status;
    const char *seconds, *micros;
    size_t len;
    if (culex__redis_reply_text(reply, 0, &seconds, &len) && len <= 11 &&
        culex__redis_reply_text(reply, 1, &micros, &len) && len <= 6)
        *ret_now_ms = strtoll(seconds, NULL, 10) * 1000 + strtoll(micros, NULL, 10) / 1000;
    else
        status = culex__redis_bad_reply(redis, "TIME", error);
    freeReplyObject(reply);
    return status;
}
