/* store/redis/batch.c - BATCH and BATCH_LOOK. */
#include "store/redis/redis.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "core/number.h"
#include "core/run.h"
#include "store/argument.h"
#include "store/digest.h"
#include "store/redis/scripts.h"
#include "store/refusal.h"

/* --- OPEN, CALL, CLOSE -------------------------------------------------------------------- */

static bool has_parent(const struct culex_batch_order *order)
{
    static const culex_uuid none;
    return memcmp(&order->parent, &none, sizeof none) != 0;
}

static void open_add(struct culex__redis_request *request, const struct culex_batch_order *order)
{
    culex__redis_request_text(request, "open");
    culex__redis_request_add(request, order->parent.b,
                             has_parent(order) ? sizeof order->parent.b : 0);
    culex__redis_request_int(request, order->open_ms);
    culex__redis_request_int(request, culex__redis_delay(order->keep_ms));
}

/* ORDER BATCH_KIND: as redis/lib_batches.lua calls them. */
static const char *const kinds[] = {
    [CULEX_BATCH_ON_COMPLETE] = "c", [CULEX_BATCH_ON_SUCCESS] = "s", [CULEX_BATCH_ON_DEATH] = "d"};

/* ORDER FOLLOW_UPS: what redis/follow.lua reads, behind an id. */
static void call_add(struct culex__redis_request *request, const struct culex_batch_order *order)
{
    struct culex__redis_request run = {.data = NULL};
    char digest[24];
    culex__redis_run_add(&run, &order->call->run);
    struct culex__redis_piece pieces[] = {
        {order->call->queue, strlen(order->call->queue)},
        {"\n", 1},
        {run.data + CULEX__REDIS_HEAD_ROOM, run.len - CULEX__REDIS_HEAD_ROOM}};
    snprintf(digest, sizeof digest, "%016" PRIx64, culex__callback_digest(order->call));
    culex__redis_request_text(request, kinds[order->when]);
    culex__redis_request_text(request, digest);
    culex__redis_request_join(request, pieces, 3);
    request->is_too_long |= run.is_too_long;
    culex__redis_request_release(&run);
}

static void order_add(struct culex__redis *redis, const struct culex_batch_order *order)
{
    struct culex__redis_request *request = &redis->request;
    culex__redis_request_int(request, redis->call_queue->salt);
    culex__redis_id(redis, order->id);
    if (order->act == CULEX_BATCH_OPEN)
        open_add(request, order);
    else
        culex__redis_request_text(request, order->act == CULEX_BATCH_CALL ? "call" : "close");
    if (order->act == CULEX_BATCH_CALL)
        call_add(request, order);
}

static culex_status answer_judge(struct culex__redis *redis, const redisReply *reply,
                                 const struct culex_batch_order *order, culex_error *error)
{
    char letter = reply->type == REDIS_REPLY_STRING && reply->len > 0 ? reply->str[0] : '\0';
    switch (letter) {
    case 'O':
        return CULEX_OK;
    case '-':
        return culex__refuse_batch(order->queue, error);
    case '.':
        return culex__refuse_ended_batch(order->queue, error);
    case '>':
        return culex__refuse_deep_batch(error);
    case '!':
        return culex__refuse_callback(order->act, error);
    case '=':
        return culex__refuse_parent(order->queue, error);
    case '~':
        return culex__refuse_late_callback(order->queue, order->when, error);
    default:
        return culex__redis_bad_reply(redis, "BATCH", error);
    }
}

/* --- AFTER ------------------------------------------------------------------------------- */

static culex_status after_judge(struct culex__redis *redis, const redisReply *reply,
                                const char *queue, culex_error *error)
{
    char letter = reply->type == REDIS_REPLY_STRING && reply->len > 0 ? reply->str[0] : '\0';
    culex_run_state state;
    switch (letter) {
    case 'O':
        return CULEX_OK;
    case '-':
        return culex__refuse_awaited(queue, error);
    case '+':
        return culex__refuse_crowd(error);
    case '!':
        return culex__refuse_callback(CULEX_BATCH_AFTER, error);
    default:
        if (letter == '.' && reply->len == 2 && culex__run_state_parse(reply->str[1], &state))
            return culex__refuse_ended_run(queue, state, error);
        return culex__redis_bad_reply(redis, "BATCH", error);
    }
}

static culex_status batch_after(struct culex__redis *redis, const struct culex_batch_order *order,
                                culex_error *error)
{
    const struct culex__redis_script *script = &culex__redis_script_after;
    struct culex__redis_request *request = &redis->request;
    redisReply *reply = NULL;
    culex_status status = culex__redis_begin(redis, script, order->queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_id(redis, order->id);
    culex__redis_id(redis, order->run);
    culex__redis_request_int(request, culex__redis_delay(order->keep_ms));
    call_add(request, order);
    status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = after_judge(redis, reply, order->queue, error);
    freeReplyObject(reply);
    return status;
}

/* --- all of them ------------------------------------------------------------------------- */

static culex_status batch_tell(struct culex__redis *redis, const struct culex_batch_order *order,
                               culex_error *error)
{
    redisReply *reply = NULL;
    culex_status status = culex__redis_register(redis, order->queue, false, error);
    if (status == CULEX_OK)
        status = culex__redis_begin(redis, &culex__redis_script_batch, order->queue, error);
    if (status != CULEX_OK)
        return status;
    order_add(redis, order);
    status = culex__redis_finish(redis, &culex__redis_script_batch, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = answer_judge(redis, reply, order, error);
    freeReplyObject(reply);
    return status;
}

culex_status culex__redis_batch(struct culex_store *base, const struct culex_batch_order *order,
                                culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    assert(culex__argument_batch(order, NULL) == CULEX_OK);
    return order->act == CULEX_BATCH_AFTER ? batch_after(redis, order, error)
                                           : batch_tell(redis, order, error);
}

/* --- BATCH_LOOK --------------------------------------------------------------------------- */

/* ORDER BATCH: as redis/lib_batches.lua writes it. */
enum { ADDED, DONE, DEAD, CANCELLED, COUNTS };

static bool info_read(const char *text, size_t len, culex_batch_info *ret_info)
{
    const char *end = text + len, *at = text + 4;
    int64_t counts[COUNTS];
    if (len < 4 || strchr("OCE", text[0]) == NULL || text[1] != '|' || text[3] != '|')
        return false;
    for (size_t i = 0; i < COUNTS; i++) {
        const char *bar = memchr(at, '|', (size_t)(end - at));
        if (bar == NULL || !culex__int64_parse(at, (size_t)(bar - at), &counts[i]) || counts[i] < 0)
            return false;
        at = bar + 1;
    }
    *ret_info = (culex_batch_info){.added = (uint64_t)counts[ADDED],
                                   .done = (uint64_t)counts[DONE],
                                   .dead = (uint64_t)counts[DEAD],
                                   .cancelled = (uint64_t)counts[CANCELLED],
                                   .is_closed = text[0] != 'O',
                                   .is_ended = text[0] == 'E',
                                   .is_expired = text[2] == '1'};
    return true;
}

culex_status culex__redis_batch_look(struct culex_store *base, const char *queue, culex_uuid id,
                                     culex_batch_info *ret_info, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    redisReply *reply = NULL;
    culex_status status = culex__redis_begin(redis, &culex__redis_script_batch_look, queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_id(redis, id);
    status = culex__redis_finish(redis, &culex__redis_script_batch_look, &reply, error);
    if (status != CULEX_OK)
        return status;
    if (reply->type == REDIS_REPLY_STRING && reply->len == 0)
        status = culex__refuse_batch(queue, error);
    else if (reply->type != REDIS_REPLY_STRING || !info_read(reply->str, reply->len, ret_info))
        status = culex__fail(error, CULEX_ECORRUPT,
                             "the batch of queue '%s' is damaged: culex_client_fsck puts it aside",
                             queue);
    freeReplyObject(reply);
    return status;
}

/* --- BATCH_REVIEW ------------------------------------------------------------------------- */

/* ORDER REVIEW: as redis/batch_review.lua answers. */
enum { NOW, OPEN, OPEN_SINCE, DUE, REVIEW_COUNT };

static bool review_read(const redisReply *reply, int64_t *ret_numbers)
{
    bool is_right = reply->type == REDIS_REPLY_ARRAY && reply->elements == REVIEW_COUNT;
    for (size_t i = 0; i < REVIEW_COUNT && is_right; i++) {
        is_right = reply->element[i]->type == REDIS_REPLY_INTEGER;
        ret_numbers[i] = is_right ? reply->element[i]->integer : 0;
    }
    return is_right;
}

static uint64_t count_cap(int64_t count)
{
    return count < CULEX_STORE_REVIEW_MAX ? (uint64_t)count : CULEX_STORE_REVIEW_MAX;
}

culex_status culex__redis_batch_review(struct culex_store *base, const char *queue,
                                       struct culex_batch_review *ret_review, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_batch_review;
    redisReply *reply = NULL;
    int64_t numbers[REVIEW_COUNT];
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status == CULEX_OK)
        status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    if (review_read(reply, numbers))
        *ret_review = (struct culex_batch_review){.open = count_cap(numbers[OPEN]),
                                                  .open_since_ms = numbers[OPEN_SINCE],
                                                  .due = count_cap(numbers[DUE]),
                                                  .now_ms = numbers[NOW]};
    else
        status = culex__redis_bad_reply(redis, "BATCH_REVIEW", error);
    freeReplyObject(reply);
    return status;
}
