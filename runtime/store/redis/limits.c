/* store/redis/limits.c - limits of runs: what is told of them, and what is set. */
#include "store/redis/redis.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "core/number.h"
#include "core/run_limit.h"
#include "store/limit_list.h"
#include "store/redis/scripts.h"
#include "store/refusal.h"

/* --- what the queue says of a limit ------------------------------------------------------------
 */

/* ORDER LIMIT: as redis/lib_slots.lua reads it: kind, then declared and set. */
enum { LIMIT_NUMBERS = 6, LIMIT_TEXT = 160 /* room for a letter and any such numbers */ };

/* Cuts off what is before the next bar, and moves *text behind it. */
static bool number_take(const char **text, int64_t max, int64_t *ret_value)
{
    size_t len = strcspn(*text, "|");
    if (!culex__int64_parse(*text, len, ret_value) || *ret_value < 0 || *ret_value > max)
        return false;
    *text += len + ((*text)[len] == '|');
    return true;
}

static bool limit_read(const char *text, struct culex_limit_row *row)
{
    static const char letters[] = "CRFN"; /* ORDER LIMIT_KIND */
    const char *letter = text[0] != '\0' ? strchr(letters, text[0]) : NULL;
    int64_t numbers[LIMIT_NUMBERS];
    if (letter == NULL || text[1] != '|')
        return false;
    text += 2;
    for (size_t i = 0; i < LIMIT_NUMBERS; i++) {
        if (!number_take(&text, i % 3 == 1 ? INT64_MAX : UINT32_MAX, &numbers[i]))
            return false;
    }
    row->kind = (enum culex_limit_kind)(letter - letters);
    row->declared = (culex_limit_value){(uint32_t)numbers[0], numbers[1], (uint32_t)numbers[2]};
    row->set = (culex_limit_value){(uint32_t)numbers[3], numbers[4], (uint32_t)numbers[5]};
    return text[0] == '\0';
}

static void limit_write(char text[LIMIT_TEXT], const struct culex_limit_row *row)
{
    snprintf(text, LIMIT_TEXT,
             "%c|%" PRIu32 "|%" PRId64 "|%" PRIu32 "|%" PRIu32 "|%" PRId64 "|%" PRIu32,
             "CRFN"[row->kind], row -> declared.count, row->declared.per_ms, row->declared.burst,
             row->set.count, row->set.per_ms, row->set.burst);
}

/* --- LIMIT_SET ---------------------------------------------------------------------------------
 */

/* Says `wanted` of the limit if the queue says `told` of it; ret_text is what it says then. */
static culex_status set_call(struct culex__redis *redis, const char *queue, const char *name,
                             const char *told, const char *wanted, char ret_text[LIMIT_TEXT],
                             culex_error *error)
{
    const struct culex__redis_script *script = &culex__redis_script_limit_set;
    redisReply *reply = NULL;
    const char *text;
    size_t len;
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_request_text(&redis->request, name);
    culex__redis_request_text(&redis->request, told);
    culex__redis_request_text(&redis->request, wanted);
    status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    if (reply->type == REDIS_REPLY_STRING &&
        (text = reply->str, len = (size_t)reply->len) < LIMIT_TEXT)
        memcpy(ret_text, text, len + 1);
    else
        status = culex__redis_bad_reply(redis, script->name, error);
    freeReplyObject(reply);
    return status;
}

/* What the limit shall say that says `text` now. */
static culex_status wanted_make(const char *name, const char *text, const culex_limit_value *value,
                                char ret_wanted[LIMIT_TEXT], culex_error *error)
{
    struct culex_limit_row row = {.name = name};
    if (!limit_read(text, &row))
        return culex__fail(error, CULEX_ECORRUPT,
                           "what the queue says of limit '%s' is damaged: FSCK removes it", name);
    culex_limit_value in_force = row.set.count > 0 ? row.set : row.declared;
    row.set = value != NULL ? *value : (culex_limit_value){.count = 0};
    culex_status status = value != NULL
                              ? culex__limit_value_fill(name, row.kind, &in_force, &row.set, error)
                              : CULEX_OK;
    if (status == CULEX_OK)
        limit_write(ret_wanted, &row);
    return status;
}

/* Reads what is said and says something else, as often as somebody else does so in between. */
culex_status culex__redis_limit_set(struct culex_store *base, const char *queue, const char *name,
                                    const culex_limit_value *value, culex_error *error)
{
    enum { TRIES = 16 };
    struct culex__redis *redis = culex__redis_of(base);
    char told[LIMIT_TEXT] = "", wanted[LIMIT_TEXT] = "", text[LIMIT_TEXT] = "";
    for (int i = 0; i < TRIES; i++) {
        culex_status status = set_call(redis, queue, name, told, wanted, text, error);
        if (status != CULEX_OK)
            return status;
        if (text[0] == '\0')
            return culex__refuse_limit(queue, name, error);
        if (strcmp(text, wanted) == 0)
            return CULEX_OK;
        strcpy(told, text);
        status = wanted_make(name, told, value, wanted, error);
        if (status != CULEX_OK)
            return status;
    }
    return culex__fail(error, CULEX_EUNKNOWN, "limit '%s' is being changed by others all the time",
                       name);
}

/* --- lists -------------------------------------------------------------------------------------
 */

/* A text without a NUL. */
static bool text_read(const redisReply *reply, size_t at, const char **ret_text)
{
    size_t len;
    return culex__redis_reply_text(reply, at, ret_text, &len) && strlen(*ret_text) == len;
}

static bool count_read(const redisReply *reply, size_t at, uint64_t *ret_count)
{
    int64_t value;
    if (!culex__redis_reply_int(reply, at, &value) || value < 0)
        return false;
    *ret_count = (uint64_t)value;
    return true;
}

/* ORDER LIMITS: of each limit, as redis/limits.lua answers. */
enum { ROW_NAME, ROW_TEXT, ROW_KEYS, ROW_ACTIVE, ROW_PARKED, ROW_ITEMS };

static bool row_read(const redisReply *reply, size_t at, struct culex_limit_row *ret_row)
{
    const char *text;
    return text_read(reply, at + ROW_NAME, &ret_row->name) &&
           text_read(reply, at + ROW_TEXT, &text) && limit_read(text, ret_row) &&
           count_read(reply, at + ROW_KEYS, &ret_row->keys) &&
           count_read(reply, at + ROW_ACTIVE, &ret_row->active) &&
           count_read(reply, at + ROW_PARKED, &ret_row->parked);
}

static culex_status rows_read(struct culex__redis *redis, const redisReply *reply,
                              struct culex_limit_list *list, culex_error *error)
{
    struct culex_limit_row row;
    if (!culex__redis_reply_int(reply, 0, &list->now_ms) || reply->elements % ROW_ITEMS != 1)
        return culex__redis_bad_reply(redis, "LIMITS", error);
    for (size_t at = 1; at < reply->elements; at += ROW_ITEMS) {
        if (!row_read(reply, at, &row))
            return culex__redis_bad_reply(redis, "LIMITS", error);
        if (!culex__limit_list_add(list, &row))
            return culex__fail(error, CULEX_ENOMEM, "no memory for a list of limits");
    }
    culex__limit_list_sort(list);
    return CULEX_OK;
}

culex_status culex__redis_limits(struct culex_store *base, const char *queue,
                                 struct culex_limit_list *ret_list, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_limits;
    struct culex_limit_list list = {0};
    redisReply *reply = NULL;
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status == CULEX_OK)
        status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    status = rows_read(redis, reply, &list, error);
    freeReplyObject(reply);
    if (status == CULEX_OK)
        *ret_list = list;
    else
        culex__limit_list_release(&list);
    return status;
}

/* ORDER LIMIT_KEYS: now, whether more follow, and of each key, as redis/limit_keys.lua answers. */
enum { KEYS_NOW, KEYS_MORE, KEYS_HEAD, KEY_TEXT = 0, KEY_ACTIVE, KEY_PARKED, KEY_NEXT, KEY_ITEMS };

static bool key_read(const redisReply *reply, size_t at, struct culex_limit_key_row *ret_row)
{
    return text_read(reply, at + KEY_TEXT, &ret_row->key) &&
           count_read(reply, at + KEY_ACTIVE, &ret_row->active) &&
           count_read(reply, at + KEY_PARKED, &ret_row->parked) &&
           culex__redis_reply_int(reply, at + KEY_NEXT, &ret_row->next_ms);
}

static culex_status keys_read(struct culex__redis *redis, const redisReply *reply,
                              struct culex_limit_key_list *list, culex_error *error)
{
    struct culex_limit_key_row row;
    int64_t more;
    if (!culex__redis_reply_int(reply, KEYS_NOW, &list->now_ms) ||
        !culex__redis_reply_int(reply, KEYS_MORE, &more) ||
        reply->elements % KEY_ITEMS != KEYS_HEAD)
        return culex__redis_bad_reply(redis, "LIMIT_KEYS", error);
    list->is_more = more == 1;
    for (size_t at = KEYS_HEAD; at < reply->elements; at += KEY_ITEMS) {
        if (!key_read(reply, at, &row))
            return culex__redis_bad_reply(redis, "LIMIT_KEYS", error);
        if (!culex__limit_key_list_add(list, &row))
            return culex__fail(error, CULEX_ENOMEM, "no memory for a list of keys");
    }
    return CULEX_OK;
}

culex_status culex__redis_limit_keys(struct culex_store *base, const char *queue, const char *name,
                                     const char *after, size_t most,
                                     struct culex_limit_key_list *ret_list, culex_error *error)
{
    struct culex__redis *redis = culex__redis_of(base);
    const struct culex__redis_script *script = &culex__redis_script_limit_keys;
    struct culex_limit_key_list list = {0};
    redisReply *reply = NULL;
    culex_status status = culex__redis_begin(redis, script, queue, error);
    if (status != CULEX_OK)
        return status;
    culex__redis_request_text(&redis->request, name);
    culex__redis_request_int(&redis->request, (int64_t)most);
    if (after != NULL)
        culex__redis_request_text(&redis->request, after);
    status = culex__redis_finish(redis, script, &reply, error);
    if (status != CULEX_OK)
        return status;
    bool is_known = reply->type != REDIS_REPLY_ARRAY || reply->elements > 0;
    status =
        is_known ? keys_read(redis, reply, &list, error) : culex__refuse_limit(queue, name, error);
    freeReplyObject(reply);
    if (status == CULEX_OK)
        *ret_list = list;
    else
        culex__limit_key_list_release(&list);
    return status;
}
