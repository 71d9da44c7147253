/* store/redis/enqueue.c - ENQUEUE and TICK. */
#include "store/redis/redis.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/redis/record.h"
#include "base/error.h"
#include "base/limits.h"
#include "core/record_text.h"
#include "store/redis/scripts.h"
#include "store/argument.h"

static const char *text_or_empty(const char *text)
{
    return text != NULL ? text : "";
}

/* The record from keep_success_ms on: all before that only the server knows. */
static void tail_add(struct culex__redis_request *request, const struct culex_new_run *run)
{
    char keep[24], attempts[24], rest[128];
    const char *key = text_or_empty(run->unique_key), *tags = text_or_empty(run->tags);
    int keep_len =
        snprintf(keep, sizeof keep, "%" PRId64 "|", culex__redis_delay(run->keep_success_ms));
    int attempts_len = snprintf(attempts, sizeof attempts, "|%" PRIu32 "|", run->attempts_max);
    int rest_len =
        snprintf(rest, sizeof rest, "|%d|%" PRId64 "|%" PRId64 "|%016" PRIx64 "|%016" PRIx64 "|",
                 run->priority, culex__redis_delay(run->timeout_ms),
                 culex__redis_delay(run->keep_failure_ms), run->fingerprint, run->content);
    assert(culex__record_text_is_valid(tags, strlen(tags))); /* or the next field would shift */
    assert(culex__record_text_is_valid(key, strlen(key)));
    struct culex__redis_piece pieces[] = {
        {keep, (size_t)keep_len},     {key, strlen(key)},       {attempts, (size_t)attempts_len},
        {run->job, strlen(run->job)}, {rest, (size_t)rest_len}, {tags, strlen(tags)}};
    culex__redis_request_join(request, pieces, sizeof pieces / sizeof pieces[0]);
}

static int64_t at_most(int64_t value, int64_t max)
{
    return value < max ? value : max;
}

static void times_add(struct culex__redis_request *request, const struct culex_new_run *run)
{
    /* Any instant before the first is over, and 0 means none. */
    int64_t at_ms = run->at_ms < 0 ? 1 : at_most(run->at_ms, CULEX__REDIS_INSTANT_MAX);
    int64_t expires_ms = at_most(culex__redis_delay(run->expires_ms), CULEX__REDIS_DELAY_MAX / 2);
    char times[96] = "";
    if (run->delay_ms > 0 || at_ms != 0 || expires_ms > 0 || run->priority != 0)
        snprintf(times, sizeof times, "%" PRId64 "|%" PRId64 "|%" PRId64 "|%d",
                 culex__redis_delay(run->delay_ms), at_ms, expires_ms, run->priority);
    culex__redis_request_text(request, times);
}

/* ORDER ENQUEUE_ARGUMENTS: as redis/lib_enqueue.lua reads them. */
static void run_add(struct culex__redis *redis, const struct culex_new_run *run)
{
    struct culex__redis_request *request = &redis->request;
    assert(run->priority >= 0 && run->priority <= CULEX_PRIORITY_MAX && run->attempts_max > 0);
    culex__redis_id(redis, run->id);
    tail_add(request, run);
    times_add(request, run);
    culex__redis_request_text(request, text_or_empty(run->unique_key));
    culex__redis_request_add(request, run->payload, run->payload_len);
}

static bool outcome_read(char letter, enum culex_enqueued *ret_outcome)
{
    static const char letters[] = "NDCFUE"; /* ORDER ENQUEUED */
    const char *at = letter == '\0' ? NULL : strchr(letters, letter);
    if (at == NULL)
        return false;
    *ret_outcome = (enum culex_enqueued)(at - letters);
    return true;
}

static bool results_read(const redisReply *reply, size_t count,
                         struct culex_enqueue_result *results)
{
    const char *letters, *holder;
    size_t len, holders = 0;
    if (!culex__redis_reply_text(reply, 0, &letters, &len) || len != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        memset(&results[i], 0, sizeof results[i]);
        if (!outcome_read(letters[i], &results[i].outcome))
            return false;
        if (results[i].outcome != CULEX_ENQUEUED_UNIQUE_TAKEN)
            continue;
        if (!culex__redis_reply_text(reply, ++holders, &holder, &len) ||
            len != sizeof results[i].holder)
            return false;
        memcpy(results[i].holder.b, holder, len);
    }
    return reply->elements == holders + 1;
}

culex_status culex__redis_enqueue(struct culex_store *base, const char *queue,
                                  const struct culex_new_run *runs, size_t count,
                                  struct culex_enqueue_result *results, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    assert(count <= CULEX_STORE_BATCH_MAX);
    if (count == 0)
        return CULEX_OK;
    culex_status status = culex__redis_register(redis, queue, false, error);
    if (status == CULEX_OK)
        status = culex__redis_begin(redis, &culex__redis_script_enqueue, queue, error);
    if (status != CULEX_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        run_add(redis, &runs[i]);
    redisReply *reply = NULL;
    status = culex__redis_finish(redis, &culex__redis_script_enqueue, &reply, error);
    if (status != CULEX_OK)
        return status;
    if (!results_read(reply, count, results))
        status = culex__redis_bad_reply(redis, "ENQUEUE", error);
    freeReplyObject(reply);
    return status;
}

culex_status culex__redis_tick(struct culex_store *base, const struct culex_tick *tick,
                               struct culex_tick_reply *ret_reply, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    assert(culex__argument_tick(tick, NULL) == CULEX_OK);
    struct culex_new_run run = *tick->run;
    run.at_ms = 0;
    culex_status status = culex__redis_register(redis, tick->queue, false, error);
    if (status == CULEX_OK)
        status = culex__redis_begin(redis, &culex__redis_script_tick, tick->queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_request_text(&redis->request, tick->schedule);
    culex__redis_request_int(&redis->request, culex__redis_delay(tick->tick_ms));
    culex__redis_request_int(&redis->request, culex__redis_delay(tick->interval_ms));
    run_add(redis, &run);
    redisReply *reply = NULL;
    status = culex__redis_finish(redis, &culex__redis_script_tick, &reply, error);
    if (status != CULEX_OK)
        return status;
    int64_t now_ms, is_enqueued, mark_ms;
    if (culex__redis_reply_int(reply, 0, &now_ms) &&
        culex__redis_reply_int(reply, 1, &is_enqueued) &&
        culex__redis_reply_int(reply, 2, &mark_ms))
        *ret_reply = (struct culex_tick_reply){is_enqueued == 1, mark_ms, now_ms};
    else
        status = culex__redis_bad_reply(redis, "TICK", error);
    freeReplyObject(reply);
    return status;
}
