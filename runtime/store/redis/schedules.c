/* store/redis/schedules.c - what is told of schedules and done to them. */
#include "store/redis/redis.h"

#include <string.h>

#include "base/error.h"
#include "store/redis/scripts.h"
#include "store/refusal.h"
#include "store/schedule_list.h"

/* ORDER SCHEDULES: of each schedule, as redis/schedules.lua answers. */
enum { ROW_NAME, ROW_MARK, ROW_NEXT, ROW_WORDS, ROW_NEWEST, ROW_TEMPLATE, ROW_ITEMS };

/* What it points to belongs to the reply. False for what is no row. */
static bool row_read(const redisReply *reply, size_t at, struct culex_schedule_row *ret_row)
{
    struct culex_schedule_row row = {0};
    const char *words, *newest, *template;
    size_t len;
    if (!culex__redis_reply_text(reply, at + ROW_NAME, &row.name, &len) ||
        strlen(row.name) != len || !culex__redis_reply_int(reply, at + ROW_MARK, &row.mark_ms) ||
        !culex__redis_reply_int(reply, at + ROW_NEXT, &row.next_ms) ||
        !culex__redis_reply_text(reply, at + ROW_WORDS, &words, &len) ||
        !culex__redis_reply_text(reply, at + ROW_NEWEST, &newest, &len) ||
        len != sizeof row.newest ||
        !culex__redis_reply_text(reply, at + ROW_TEMPLATE, &template, &row.template_len))
        return false;
    memcpy(row.newest.b, newest, sizeof row.newest);
    row.template = template;
    row.is_of_calendar = strchr(words, 'c') != NULL;
    row.may_overlap = strchr(words, 'o') != NULL;
    row.is_paused = strchr(words, 'p') != NULL;
    *ret_row = row;
    return true;
}

static culex_status list_read(struct culex__redis *redis, const redisReply *reply,
                              struct culex_schedule_list *list, culex_error *error)
{
    struct culex_schedule_row row;
    if (!culex__redis_reply_int(reply, 0, &list->now_ms) || reply->elements % ROW_ITEMS != 1)
        return culex__redis_bad_reply(redis, "SCHEDULES", error);
    for (size_t at = 1; at < reply->elements; at += ROW_ITEMS) {
        if (!row_read(reply, at, &row))
            return culex__redis_bad_reply(redis, "SCHEDULES", error);
        if (!culex__schedule_list_add(list, &row))
            return culex__fail(error, CULEX_ENOMEM, "no memory for a list of schedules");
    }
    return CULEX_OK;
}

culex_status culex__redis_schedules(struct culex_store *base, const char *queue,
                                    struct culex_schedule_list *ret_list, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_schedules;
    struct culex_schedule_list list = {0};
    redisReply *reply = NULL;
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status == CULEX_OK)
        status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = list_read(redis, reply, &list, error);
    freeReplyObject(reply);
    if (status == CULEX_OK)
        *ret_list = list;
    else
        culex__schedule_list_release(&list);
    return status;
}

culex_status culex__redis_schedule_set(struct culex_store *base, const char *queue,
                                       const char *schedule, enum culex_schedule_act act,
                                       culex_error *error)
{
    static const char letters[] = "prf"; /* ORDER SCHEDULE_ACT */
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_schedule_set;
    redisReply *reply = NULL;
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_request_add(&redis->request, &letters[act], 1);
    culex__redis_request_text(&redis->request, schedule);
    status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    if (reply->type != REDIS_REPLY_INTEGER || reply->integer < 0 || reply->integer > 1)
        status = culex__redis_bad_reply(redis, script->name, error);
    else if (reply->integer == 0)
        status = culex__refuse_schedule(queue, schedule, error);
    freeReplyObject(reply);
    return status;
}
