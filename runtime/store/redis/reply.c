#include "store/redis/reply.h"

#include <stdio.h>
#include <string.h>

/* The count of an array was an int before hiredis 1.0. */
#if HIREDIS_MAJOR >= 1
typedef size_t item_count;
#else
typedef int item_count;
#endif

static size_t depth_of(const redisReadTask *task)
{
    size_t depth = 0;
    for (; task->parent != NULL; task = task->parent)
        depth++;
    return depth;
}

/* The limits travel as the reader's private data. NULL makes the reader stop with "out of memory".
 */
static void *array_create_bounded(const redisReadTask *task, item_count count)
{
    struct culex__redis_limits *limits = task->privdata;
    size_t depth = depth_of(task);
    if (depth == 0)
        limits->items_left = CULEX__REDIS_REPLY_ITEMS_MAX;
    if (depth >= CULEX__REDIS_REPLY_DEPTH_MAX || (size_t)count > limits->items_left)
        return NULL;
    limits->items_left -= (size_t)count;
    return limits->own->createArray(task, count);
}

redisReader *culex__redis_reader_create(struct culex__redis_limits *limits)
{
    redisReader *reader = redisReaderCreate();
    if (reader == NULL)
        return NULL;
    limits->own = reader->fn;
    limits->functions = *reader->fn;
    limits->functions.createArray = array_create_bounded;
    limits->items_left = CULEX__REDIS_REPLY_ITEMS_MAX;
    reader->privdata = limits;
    reader->fn = &limits->functions;
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

void culex__redis_info_value(const redisReply *info, const char *name, char *ret_value, size_t size)
{
    size_t name_len = strlen(name);
    ret_value[0] = '\0';
    if (info->type != REDIS_REPLY_STRING)
        return;
    for (const char *line = info->str; *line != '\0';) {
        size_t len = strcspn(line, "\r\n");
        if (len > name_len && line[name_len] == ':' && memcmp(line, name, name_len) == 0) {
            len -= name_len + 1;
            snprintf(ret_value, size, "%.*s", (int)(len < size ? len : size - 1),
                     line + name_len + 1);
            return;
        }
        line += len + strspn(line + len, "\r\n");
    }
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

/* ORDER matters: a text may quote another one. */
static const struct culex__redis_refusal refusals[] = {
    {"READONLY", CULEX_EBUSY, true,
     "it is a replica; name the primary in the URL, or wait until the failover is over"},
    {"MASTERDOWN", CULEX_EBUSY, true,
     "it is a replica without its primary; name the primary in the URL, or wait"},
    {"UNBLOCKED", CULEX_EBUSY, true, "it has become a replica; wait until the failover is over"},
    {"LOADING", CULEX_EBUSY, false, "it is still reading its data from disk; wait"},
    {"TRYAGAIN", CULEX_EBUSY, false, "the queue's slot is moving to another node; wait"},
    {"ASK", CULEX_EBUSY, false, "the queue's slot is moving to another node; wait"},
    {"CLUSTERDOWN", CULEX_EBUSY, false, "see CLUSTER INFO on a node; wait, or mend the cluster"},
    {"MOVED", CULEX_EUNSUPPORTED, true,
     "the queue lives on the cluster node that is named there; put that node into the URL"},
    {"CROSSSLOT", CULEX_EUNSUPPORTED, false, "the queues live in different slots of the cluster"},
    {"NOREPLICAS", CULEX_EBUSY, false,
     "fewer replicas follow than min-replicas-to-write wants; mend them or lower it"},
    {"OOM", CULEX_EFULL, false, "it is out of memory: raise maxmemory or make room"},
    {"MISCONF", CULEX_EREADONLY, false,
     "it cannot write to its disk; see its log, make room on the disk or give it the rights"},
    {"NOPERM", CULEX_EDENIED, false, "give the user the rights that SECURITY.md lists"},
    {"NOAUTH", CULEX_EDENIED, false, "it wants a password: redis://user:password@host"},
    {"WRONGPASS", CULEX_EDENIED, false,
     "the user or the password in the URL is wrong, or the user is off"},
    {"DENIED", CULEX_EDENIED, false,
     "protected mode: give the server a password and a bind address"},
    {"BUSY", CULEX_EBUSY, false,
     "somebody's script runs for long; SCRIPT KILL ends one that has not written"},
    {"LAYOUT", CULEX_EVERSION, false,
     "it takes no other: let programs of that version empty it, or choose another prefix"},
    {"DAMAGED", CULEX_ECORRUPT, false,
     "stop its producers and call culex_client_fsck to repair it"},
    {"WRONGTYPE", CULEX_ECORRUPT, false,
     "a key of the queue was written by another program; choose another prefix"},
};

/* Those without a word of their own. A permission that a script lacks is worded in its own way, by
 * Redis 7 and by Redis 8. */
static const struct culex__redis_refusal worded[] = {
    {"The user executing the script can't", CULEX_EDENIED, false,
     "give the user the rights that SECURITY.md lists"},
    {"ACL failure in script", CULEX_EDENIED, false,
     "give the user the rights that SECURITY.md lists"},
    {"max number of clients", CULEX_EBUSY, false, "raise maxclients, or end idle connections"},
};

static const struct culex__redis_refusal unknown = {"", CULEX_ESTORE, false, NULL};

const struct culex__redis_refusal *culex__redis_refusal_find(const char *text)
{
    for (size_t i = 0; i < sizeof worded / sizeof worded[0]; i++) {
        if (strstr(text, worded[i].token) != NULL)
            return &worded[i];
    }
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        if (culex__redis_refusal_is(text, refusals[i].token))
            return &refusals[i];
    }
    return &unknown;
}
