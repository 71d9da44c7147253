/* store/redis/events.c - EVENTS_KEEP and EVENTS: what becomes of runs. */
#include "store/redis/redis.h"

#include <assert.h>

#include "base/error.h"
#include "core/number.h"
#include "store/argument.h"
#include "store/event_entry.h"
#include "store/redis/scripts.h"
#include "store/refusal.h"

culex_status culex__redis_events_keep(struct culex_store *base, const char *queue, uint64_t most,
                                      culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_events_keep;
    redisReply *reply = NULL;
    assert(culex__argument_events_keep(queue, most, NULL) == CULEX_OK);
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_request_int(&redis->request, (int64_t)most);
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

/* ORDER EVENTS: as redis/events.lua answers. */
enum { PAGE_LAST, PAGE_KEPT, PAGE_OVER, PAGE_HEAD, ENTRY_POSITION = 0, ENTRY_TEXT, ENTRY_ITEMS };

/* What the entry says is judged by whoever adds it. */
static bool entry_read(const redisReply *reply, size_t at, uint64_t *ret_position,
                       const char **ret_text, size_t *ret_len)
{
    const char *digits;
    size_t len;
    int64_t position;
    if (!culex__redis_reply_text(reply, at + ENTRY_POSITION, &digits, &len) ||
        !culex__int64_parse(digits, len, &position) || position < 0)
        return false;
    *ret_position = (uint64_t)position;
    return culex__redis_reply_text(reply, at + ENTRY_TEXT, ret_text, ret_len);
}

static culex_status page_read(struct culex__redis *redis, const redisReply *reply, uint64_t after,
                              size_t most, struct culex_event_list *list, culex_error *error)
{
    int64_t last, kept, is_over;
    if (!culex__redis_reply_int(reply, PAGE_LAST, &last) || last < 0 ||
        !culex__redis_reply_int(reply, PAGE_KEPT, &kept) || kept < 0 ||
        !culex__redis_reply_int(reply, PAGE_OVER, &is_over) ||
        (reply->elements - PAGE_HEAD) % ENTRY_ITEMS != 0)
        return culex__redis_bad_reply(redis, "EVENTS", error);
    culex__event_page_begin(list, after, (uint64_t)kept, (uint64_t)last);
    for (size_t at = PAGE_HEAD; at < reply->elements; at += ENTRY_ITEMS) {
        const char *text;
        uint64_t position;
        size_t len;
        if (!entry_read(reply, at, &position, &text, &len))
            return culex__redis_bad_reply(redis, "EVENTS", error);
        if (!culex__event_entries_add(list, text, len, position, most))
            return culex__fail(error, CULEX_ENOMEM, "no memory for events");
    }
    if (is_over == 1)
        culex__event_page_end(list, most, (uint64_t)last);
    return CULEX_OK;
}

culex_status culex__redis_events(struct culex_store *base, const char *queue, uint64_t after,
                                 size_t most, struct culex_event_list *ret_list, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_events;
    struct culex_event_list list = {.of = NULL};
    redisReply *reply = NULL;
    assert(culex__argument_events(queue, after, most, NULL) == CULEX_OK);
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    if (after == CULEX_EVENTS_NOW)
        culex__redis_request_text(&redis->request, "-");
    else
        culex__redis_request_int(&redis->request, (int64_t)after);
    culex__redis_request_int(&redis->request, (int64_t)most);
    culex__redis_request_int(&redis->request, CULEX_STORE_EVENTS_BYTES);
    status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = page_read(redis, reply, after, most, &list, error);
    freeReplyObject(reply);
    if (status == CULEX_OK)
        *ret_list = list;
    else
        culex__event_list_release(&list);
    return status;
}
