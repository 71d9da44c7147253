/* store/redis/workers.c - the registry of workers. */
#include "store/redis/redis.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "store/argument.h"
#include "store/redis/scripts.h"
#include "store/refusal.h"
#include "store/worker_list.h"

/* --- WORKER_TELL ------------------------------------------------------------------------------ */

/* ORDER WISH: as redis/worker_tell.lua answers. */
static bool wish_read(const redisReply *reply, struct culex_worker_wish *ret_wish)
{
    int64_t number, quiet, stop, concurrency;
    if (!culex__redis_reply_int(reply, 0, &number) || !culex__redis_reply_int(reply, 1, &quiet) ||
        !culex__redis_reply_int(reply, 2, &stop) ||
        !culex__redis_reply_int(reply, 3, &concurrency) || number < 0 || quiet < 0 ||
        quiet > CULEX_SWITCH_OFF || concurrency < 0 || concurrency > CULEX_WORKER_CONCURRENCY_MAX)
        return false;
    *ret_wish = (struct culex_worker_wish){.number = (uint64_t)number,
                                           .quiet = (culex_switch)quiet,
                                           .is_stop = stop == 1,
                                           .concurrency = (uint32_t)concurrency};
    return true;
}

culex_status culex__redis_worker_tell(struct culex_store *base,
                                      const struct culex_worker_tell *tell,
                                      struct culex_worker_wish *ret_wish, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_worker_tell;
    redisReply *reply = NULL;
    assert(culex__argument_worker_tell(tell, NULL) == CULEX_OK);
    culex_status status = culex__redis_begin(redis, script, CULEX__REDIS_NO_QUEUE, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_request_text(&redis->request, tell->id);
    culex__redis_request_int(&redis->request, tell->is_leaving);
    culex__redis_request_int(&redis->request, (int64_t)tell->heard);
    culex__redis_request_int(&redis->request, tell->concurrency);
    culex__redis_request_add(&redis->request, tell->sheet_len > 0 ? tell->sheet : "",
                             tell->is_leaving ? 0 : tell->sheet_len);
    status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    if (culex__redis_is_empty(reply))
        status = culex__refuse_newcomer(error);
    else if (!wish_read(reply, ret_wish))
        status = culex__redis_bad_reply(redis, script->name, error);
    freeReplyObject(reply);
    return status;
}

/* --- WORKERS ---------------------------------------------------------------------------------- */

/* A decimal number and the bar behind it. */
static bool number_take(const char **at, const char *end, uint64_t most, uint64_t *ret_number)
{
    uint64_t number = 0;
    const char *digit = *at;
    for (; digit < end && *digit >= '0' && *digit <= '9'; digit++) {
        if (number > (most - (uint64_t)(*digit - '0')) / 10)
            return false;
        number = number * 10 + (uint64_t)(*digit - '0');
    }
    if (digit == *at || digit == end || *digit != '|')
        return false;
    *at = digit + 1;
    *ret_number = number;
    return true;
}

/* As redis/lib_presence.lua writes it. What it points to belongs to the reply. */
static bool row_read(const redisReply *reply, size_t at, struct culex_worker_row *ret_row)
{
    static const uint64_t most[] = {
        CULEX_STORE_CURSOR_MAX,      CULEX_STORE_CURSOR_MAX, CULEX_WORKER_CONCURRENCY_MAX,
        CULEX_STORE_CURSOR_MAX,      CULEX_SWITCH_OFF,       1,
        CULEX_WORKER_CONCURRENCY_MAX};
    enum { TOLD, HEARD, CONCURRENCY, NUMBER, QUIET, STOP, WISH, FIELDS };
    uint64_t fields[FIELDS];
    const char *id, *text;
    size_t id_len, len;
    if (!culex__redis_reply_text(reply, at, &id, &id_len) || strlen(id) != id_len ||
        !culex__redis_reply_text(reply, at + 1, &text, &len))
        return false;
    const char *end = text + len;
    for (int i = 0; i < FIELDS; i++) {
        if (!number_take(&text, end, most[i], &fields[i]))
            return false;
    }
    *ret_row = (struct culex_worker_row){.id = id,
                                         .told_ms = (int64_t)fields[TOLD],
                                         .heard = fields[HEARD],
                                         .concurrency = (uint32_t)fields[CONCURRENCY],
                                         .wish = {.number = fields[NUMBER],
                                                  .quiet = (culex_switch)fields[QUIET],
                                                  .is_stop = fields[STOP] == 1,
                                                  .concurrency = (uint32_t)fields[WISH]},
                                         .sheet = text,
                                         .sheet_len = (size_t)(end - text)};
    return true;
}

static culex_status list_read(struct culex__redis *redis, const redisReply *reply,
                              struct culex_worker_list *list, culex_error *error)
{
    struct culex_worker_row row;
    if (!culex__redis_reply_int(reply, 0, &list->now_ms) || reply->elements % 2 != 1)
        return culex__redis_bad_reply(redis, "WORKERS", error);
    for (size_t at = 1; at < reply->elements; at += 2) {
        if (!row_read(reply, at, &row))
            return culex__redis_bad_reply(redis, "WORKERS", error);
        if (!culex__worker_list_add(list, &row))
            return culex__fail(error, CULEX_ENOMEM, "no memory for a list of workers");
    }
    return CULEX_OK;
}

culex_status culex__redis_workers(struct culex_store *base, struct culex_worker_list *ret_list,
                                  culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_workers;
    struct culex_worker_list list = {0};
    redisReply *reply = NULL;
    culex_status status = culex__redis_begin(redis, script, CULEX__REDIS_NO_QUEUE, error);
    if (status == CULEX_OK)
        status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = list_read(redis, reply, &list, error);
    freeReplyObject(reply);
    if (status == CULEX_OK)
        *ret_list = list;
    else
        culex__worker_list_release(&list);
    return status;
}

/* --- WORKER_SET ------------------------------------------------------------------------------- */

culex_status culex__redis_worker_set(struct culex_store *base, const char *id,
                                     const struct culex_worker_wish *wish, size_t *ret_count,
                                     culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_worker_set;
    redisReply *reply = NULL;
    assert(culex__argument_worker_set(id, wish, NULL) == CULEX_OK);
    culex_status status = culex__redis_begin(redis, script, CULEX__REDIS_NO_QUEUE, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_request_text(&redis->request, id != NULL ? id : "");
    culex__redis_request_int(&redis->request, (int64_t)wish->quiet);
    culex__redis_request_int(&redis->request, wish->is_stop);
    culex__redis_request_int(&redis->request, wish->concurrency);
    status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    if (reply->type != REDIS_REPLY_INTEGER || reply->integer > CULEX_STORE_WORKERS_MAX ||
        reply->integer < -1 - CULEX_WORKER_CONCURRENCY_MAX || (id == NULL && reply->integer < 0))
        status = culex__redis_bad_reply(redis, script->name, error);
    else if (reply->integer == -1)
        status = culex__refuse_worker(id, error);
    else if (reply->integer < 0)
        status = culex__refuse_concurrency(id, (uint32_t)(-1 - reply->integer), error);
    else
        *ret_count = (size_t)reply->integer;
    freeReplyObject(reply);
    return status;
}
