#include "backend/redis_reply.h"

#include <string.h>

/* The count of an array was an int before hiredis 1.0. */
#if HIREDIS_MAJOR >= 1
typedef size_t item_count;
#else
typedef int item_count;
#endif

/* The library's own functions travel as the reader's private data. */
static void *array_create_bounded(const redisReadTask *task, item_count count)
{
    const redisReplyObjectFunctions *own = task->privdata;
    if (count > CULEX__REDIS_REPLY_ITEMS_MAX)
        return NULL; /* the reader reports it as out of memory and stops */
    return own->createArray(task, count);
}

redisReader *culex__redis_reader_create(redisReplyObjectFunctions *functions)
{
    redisReader *reader = redisReaderCreate();
    if (reader == NULL)
        return NULL;
    *functions = *reader->fn;
    functions->createArray = array_create_bounded;
    reader->privdata = reader->fn;
    reader->fn = functions;
    return reader;
}

static const redisReply *item(const redisReply *array, size_t at)
{
    if (array->type != REDIS_REPLY_ARRAY || at >= array->elements)
        return NULL;
    return array->element[at];
}

bool culex__redis_reply_int(const redisReply *array, size_t at, int64_t *ret_value)
{
    const redisReply *found = item(array, at);
    if (found == NULL || found->type != REDIS_REPLY_INTEGER)
        return false;
    *ret_value = found->integer;
    return true;
}

bool culex__redis_reply_text(const redisReply *array, size_t at, const char **ret_text,
                             size_t *ret_len)
{
    const redisReply *found = item(array, at);
    if (found == NULL || found->type != REDIS_REPLY_STRING)
        return false;
    *ret_text = found->str;
    *ret_len = (size_t)found->len;
    return true;
}

bool culex__redis_refusal_is(const char *text, const char *token)
{
    size_t len = strlen(token);
    for (const char *at = text; (at = strstr(at, token)) != NULL; at += len) {
        bool is_start = at == text || at[-1] == '-' || at[-1] == ' ';
        if (is_start && (at[len] == ' ' || at[len] == '\0'))
            return true;
    }
    return false;
}

culex_status culex__redis_refusal_status(const char *text)
{
    static const struct {
        const char *token;
        culex_status status;
    } known[] = {
        {"READONLY", CULEX_EBUSY},    {"LOADING", CULEX_EBUSY},    {"TRYAGAIN", CULEX_EBUSY},
        {"CLUSTERDOWN", CULEX_EBUSY}, {"MASTERDOWN", CULEX_EBUSY}, {"BUSY", CULEX_EBUSY},
        {"NOREPLICAS", CULEX_EBUSY},  {"OOM", CULEX_EFULL},        {"MISCONF", CULEX_EREADONLY},
        {"NOPERM", CULEX_EDENIED},    {"NOAUTH", CULEX_EDENIED},   {"WRONGPASS", CULEX_EDENIED},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (culex__redis_refusal_is(text, known[i].token))
            return known[i].status;
    }
    /* A permission that a script lacks is worded in its own way, by Redis 7 and by Redis 8. */
    if (strstr(text, "The user executing the script can't") != NULL ||
        strstr(text, "ACL failure in script") != NULL)
        return CULEX_EDENIED;
    return CULEX_ESTORE;
}
