/* store/redis/metadata.c - what jobs keep from run to run: METADATA and METADATA_SET. */
#include "store/redis/redis.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/argument.h"
#include "store/metadata_list.h"
#include "store/redis/scripts.h"
#include "store/refusal.h"

/* ORDER METADATA: of each job, as redis/metadata.lua answers. */
enum { ROW_JOB, ROW_VERSION, ROW_SET, ROW_BYTES, ROW_ITEMS };

/* What it points to belongs to the reply. False for what is no row. */
static bool row_read(const redisReply *reply, size_t at, struct culex_metadata_row *ret_row)
{
    const char *bytes;
    int64_t version;
    size_t len;
    if (!culex__redis_reply_text(reply, at + ROW_JOB, &ret_row->job, &len) ||
        strlen(ret_row->job) != len || !culex__redis_reply_int(reply, at + ROW_VERSION, &version) ||
        version <= 0 || !culex__redis_reply_int(reply, at + ROW_SET, &ret_row->set_ms) ||
        !culex__redis_reply_text(reply, at + ROW_BYTES, &bytes, &ret_row->len))
        return false;
    ret_row->version = (uint64_t)version;
    ret_row->bytes = bytes;
    return true;
}

static culex_status list_read(struct culex__redis *redis, const redisReply *reply,
                              struct culex_metadata_list *list, culex_error *error)
{
    struct culex_metadata_row row;
    if (!culex__redis_reply_int(reply, 0, &list->now_ms) || reply->elements % ROW_ITEMS != 1)
        return culex__redis_bad_reply(redis, "METADATA", error);
    for (size_t at = 1; at < reply->elements; at += ROW_ITEMS) {
        if (!row_read(reply, at, &row))
            return culex__redis_bad_reply(redis, "METADATA", error);
        if (!culex__metadata_list_add(list, &row))
            return culex__fail(error, CULEX_ENOMEM, "no memory for metadata");
    }
    culex__metadata_list_sort(list);
    return CULEX_OK;
}

culex_status culex__redis_metadata(struct culex_store *base, const char *queue, const char *job,
                                   struct culex_metadata_list *ret_list, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_metadata;
    struct culex_metadata_list list = {0};
    redisReply *reply = NULL;
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_request_text(&redis->request, job != NULL ? job : "");
    culex__redis_request_int(&redis->request, CULEX_STORE_METADATA_MAX);
    status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = list_read(redis, reply, &list, error);
    freeReplyObject(reply);
    if (status == CULEX_OK)
        *ret_list = list;
    else
        culex__metadata_list_release(&list);
    return status;
}

static void version_add(struct culex__redis_request *request, uint64_t version)
{
    char text[24] = "*";
    if (version != CULEX_METADATA_ANY)
        snprintf(text, sizeof text, "%" PRIu64, version);
    culex__redis_request_text(request, text);
}

static void set_add(struct culex__redis *redis, const struct culex_metadata_set *set)
{
    struct culex__redis_request *request = &redis->request;
    culex__redis_request_text(request, set->job);
    version_add(request, set->before);
    version_add(request, set->version);
    culex__redis_request_add(request, set->len > 0 ? set->bytes : "", set->len);
    culex__redis_request_int(request, CULEX_STORE_METADATA_MAX);
    if (set->holder == NULL)
        return;
    culex__redis_id(redis, set->holder->id);
    culex__redis_request_int(request, set->holder->attempt);
    culex__redis_request_text(request, set->holder->session);
}

static culex_status set_answer(struct culex__redis *redis, const redisReply *reply,
                               const char *queue, const struct culex_metadata_set *set,
                               culex_error *error)
{
    if (reply->type == REDIS_REPLY_INTEGER && reply->integer == 1)
        return CULEX_OK;
    if (reply->type == REDIS_REPLY_INTEGER && reply->integer == 0)
        return culex__refuse_queue(queue, error);
    if (reply->type == REDIS_REPLY_STRING && strcmp(reply->str, "conflict") == 0)
        return culex__refuse_metadata(set->job, error);
    if (reply->type == REDIS_REPLY_STRING && strcmp(reply->str, "stale") == 0)
        return culex__refuse_holder(error);
    if (reply->type == REDIS_REPLY_STRING && strcmp(reply->str, "full") == 0)
        return culex__refuse_keeper(queue, error);
    return culex__redis_bad_reply(redis, "METADATA_SET", error);
}

culex_status culex__redis_metadata_set(struct culex_store *base, const char *queue,
                                       const struct culex_metadata_set *set, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_metadata_set;
    redisReply *reply = NULL;
    assert(culex__argument_metadata_set(queue, set, NULL) == CULEX_OK);
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    set_add(redis, set);
    status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = set_answer(redis, reply, queue, set, error);
    freeReplyObject(reply);
    return status;
}
