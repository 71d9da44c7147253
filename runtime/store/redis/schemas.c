/* store/redis/schemas.c - the texts of schemas: SCHEMA_PUBLISH, SCHEMAS, SCHEMA_TEXT, and which
 * of them go: SCHEMA_SWEEP and SCHEMA_DROP. */
#include "store/redis/redis.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "store/argument.h"
#include "store/redis/scripts.h"
#include "store/refusal.h"
#include "store/schema_list.h"

enum { HEX = 16, HEX_SIZE = HEX + 1 };

static void hex_add(struct culex__redis_request *request, uint64_t number)
{
    char text[HEX_SIZE] = "";
    if (number != 0)
        snprintf(text, sizeof text, "%016" PRIx64, number);
    culex__redis_request_text(request, text);
}

static void id_add(struct culex__redis_request *request, const struct culex_schema_id *id)
{
    culex__redis_request_text(request, id->job);
    hex_add(request, id->fingerprint);
    hex_add(request, id->digest);
}

/* --- SCHEMA_PUBLISH ----------------------------------------------------------------------------
 */

static culex_status publish_answer(struct culex__redis *redis, const redisReply *reply,
                                   const char *queue, culex_error *error)
{
    if (reply->type == REDIS_REPLY_INTEGER && reply->integer == 1)
        return CULEX_OK;
    if (reply->type == REDIS_REPLY_INTEGER && reply->integer == 0)
        return culex__refuse_queue(queue, error);
    if (reply->type == REDIS_REPLY_STRING && strcmp(reply->str, "full") == 0)
        return culex__refuse_schemas(queue, error);
    return culex__redis_bad_reply(redis, "SCHEMA_PUBLISH", error);
}

culex_status culex__redis_schema_publish(struct culex_store *base, const char *queue,
                                         const struct culex_schema_text *schema, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_schema_publish;
    redisReply *reply = NULL;
    assert(culex__argument_schema_publish(queue, schema, NULL) == CULEX_OK);
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    id_add(&redis->request, &schema->id);
    culex__redis_request_add(&redis->request, schema->text, schema->len);
    culex__redis_request_int(&redis->request, CULEX_STORE_SCHEMAS_MAX);
    status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = publish_answer(redis, reply, queue, error);
    freeReplyObject(reply);
    return status;
}

/* --- SCHEMAS -----------------------------------------------------------------------------------
 */

/* ORDER SCHEMAS: of each, as redis/schemas.lua answers. */
enum { ROW_FIELD, ROW_TOLD, ROW_LEN, ROW_ITEMS };

/* The number before a '|' at `at`, where the rest begins. NULL for what is none. */
static const char *hex_read(const char *at, uint64_t *ret_number)
{
    char *end;
    *ret_number = strtoull(at, &end, 16);
    return end == at + HEX && *end == '|' ? end + 1 : NULL;
}

/* FINGERPRINT|DIGEST|JOB. */
static bool id_read(const char *field, struct culex_schema_id *ret_id)
{
    const char *at = hex_read(field, &ret_id->fingerprint);
    at = at != NULL ? hex_read(at, &ret_id->digest) : NULL;
    ret_id->job = at;
    return at != NULL;
}

/* What it points to belongs to the reply. False for what is no row. */
static bool row_read(const redisReply *reply, size_t at, struct culex_schema_row *ret_row)
{
    const char *field;
    size_t field_len;
    int64_t len;
    if (!culex__redis_reply_text(reply, at + ROW_FIELD, &field, &field_len) ||
        strlen(field) != field_len || !id_read(field, &ret_row->id) ||
        !culex__redis_reply_int(reply, at + ROW_TOLD, &ret_row->told_ms) ||
        !culex__redis_reply_int(reply, at + ROW_LEN, &len) || len < 0)
        return false;
    ret_row->len = (size_t)len;
    return true;
}

/* From element `first` on. */
static culex_status rows_read(struct culex__redis *redis, const redisReply *reply, size_t first,
                              struct culex_schema_list *list, culex_error *error)
{
    struct culex_schema_row row;
    if (!culex__redis_reply_int(reply, 0, &list->now_ms) || reply->elements < first ||
        (reply->elements - first) % ROW_ITEMS != 0)
        return culex__redis_bad_reply(redis, "SCHEMAS", error);
    for (size_t at = first; at < reply->elements; at += ROW_ITEMS) {
        if (!row_read(reply, at, &row))
            return culex__redis_bad_reply(redis, "SCHEMAS", error);
        if (!culex__schema_list_add(list, &row))
            return culex__fail(error, CULEX_ENOMEM, "no memory for the schemas");
    }
    culex__schema_list_sort(list);
    return CULEX_OK;
}

culex_status culex__redis_schemas(struct culex_store *base, const char *queue,
                                  struct culex_schema_list *ret_list, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_schemas;
    struct culex_schema_list list = {0};
    redisReply *reply = NULL;
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_request_int(&redis->request, CULEX_STORE_SCHEMAS_MAX);
    status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = rows_read(redis, reply, 1, &list, error);
    freeReplyObject(reply);
    if (status == CULEX_OK)
        *ret_list = list;
    else
        culex__schema_list_release(&list);
    return status;
}

/* --- SCHEMA_TEXT -------------------------------------------------------------------------------
 */

static culex_status text_answer(struct culex__redis *redis, const redisReply *reply,
                                culex_buf *text, culex_error *error)
{
    if (reply->type != REDIS_REPLY_STRING)
        return culex__redis_bad_reply(redis, "SCHEMA_TEXT", error);
    return culex__buf_append(text, reply->str, reply->len) == CULEX_OK
               ? CULEX_OK
               : culex__fail(error, CULEX_ENOMEM, "no memory for the text of a schema");
}

culex_status culex__redis_schema_text(struct culex_store *base, const char *queue,
                                      const struct culex_schema_id *id, culex_buf *ret_text,
                                      culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_schema_text;
    redisReply *reply = NULL;
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    id_add(&redis->request, id);
    status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    if (culex__redis_is_empty(reply))
        status = culex__refuse_schema(queue, id, error);
    else
        status = text_answer(redis, reply, ret_text, error);
    freeReplyObject(reply);
    return status;
}

/* --- SCHEMA_SWEEP and SCHEMA_DROP --------------------------------------------------------------
 */

static culex_status sweep_answer(struct culex__redis *redis, const redisReply *reply,
                                 const char *queue, struct culex_schema_list *list,
                                 uint64_t *ret_arrivals, culex_error *error)
{
    int64_t arrivals;
    if (culex__redis_is_empty(reply))
        return culex__refuse_queue(queue, error);
    if (!culex__redis_reply_int(reply, 1, &arrivals) || arrivals < 0)
        return culex__redis_bad_reply(redis, "SCHEMA_SWEEP", error);
    *ret_arrivals = (uint64_t)arrivals;
    return rows_read(redis, reply, 2, list, error);
}

culex_status culex__redis_schema_sweep(struct culex_store *base, const char *queue,
                                       struct culex_schema_list *ret_list, uint64_t *ret_arrivals,
                                       culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_schema_sweep;
    struct culex_schema_list list = {0};
    uint64_t arrivals = 0;
    redisReply *reply = NULL;
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status == CULEX_OK)
        status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = sweep_answer(redis, reply, queue, &list, &arrivals, error);
    freeReplyObject(reply);
    if (status != CULEX_OK) {
        culex__schema_list_release(&list);
        return status;
    }
    *ret_list = list;
    *ret_arrivals = arrivals;
    return CULEX_OK;
}

culex_status culex__redis_schema_drop(struct culex_store *base, const char *queue,
                                      const struct culex_schema_drop *drop, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_schema_drop;
    redisReply *reply = NULL;
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    id_add(&redis->request, &drop->id);
    culex__redis_request_int(&redis->request, drop->looked_ms);
    culex__redis_request_int(&redis->request, (int64_t)drop->arrivals);
    status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    if (reply->type != REDIS_REPLY_INTEGER)
        status = culex__redis_bad_reply(redis, "SCHEMA_DROP", error);
    else if (reply->integer == 0)
        status = culex__refuse_queue(queue, error);
    freeReplyObject(reply);
    return status;
}
