#include "redis_check_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fields of a record that are looked at; 0 is the version. ORDER RECORD_FIELD. */
enum {
    FIELD_STATE = 1,
    FIELD_ATTEMPT = 2,
    FIELD_AT = 4,
    FIELD_EXPIRES = 8,
    FIELD_BEHIND = 13,
    FIELD_UNIQUE = 22,
    FIELD_PRIORITY = 23,
    FIELD_WHILE = 25,
    FIELD_UNTIL = 26,
    FIELD_COUNT = 28
};

enum { ID_BYTES = 16 };

struct record {
    const redisReply *id;
    char text[8192];
    const char *fields[FIELD_COUNT];
};

bool key_space_complain(const struct key_space *keys, const char *what, const redisReply *id)
{
    fprintf(stderr, "redis_check: %s:{%s}: %s", keys->prefix, keys->queue, what);
    for (size_t i = 0; id != NULL && i < id->len; i++)
        fprintf(stderr, "%s%02x", i == 0 ? " " : "", (unsigned char)id->str[i]);
    fputc('\n', stderr);
    return false;
}

redisReply *key_space_ask(const struct key_space *keys, const char *command, const char *name,
                          const char *rest)
{
    char line[256];
    snprintf(line, sizeof line, "%s %s:{%s}:%s%s", command, keys->prefix, keys->queue, name, rest);
    redisReply *reply = redis_server_command(keys->server, line);
    if (reply == NULL || reply->type == REDIS_REPLY_ERROR) {
        fprintf(stderr, "redis_check: %s: %s\n", line, reply == NULL ? "no answer" : reply->str);
        exit(1);
    }
    return reply;
}

static bool is_same(const redisReply *left, const redisReply *right)
{
    return left->len == right->len && memcmp(left->str, right->str, left->len) == 0;
}

static bool record_read(const redisReply *id, const redisReply *text, struct record *ret_record)
{
    if (id->len != ID_BYTES || text->len >= sizeof ret_record->text)
        return false;
    memcpy(ret_record->text, text->str, text->len + 1);
    ret_record->id = id;
    char *rest = ret_record->text;
    for (int i = 0; i < FIELD_COUNT; i++)
        ret_record->fields[i] = strsep(&rest, "|");
    return ret_record->fields[FIELD_COUNT - 1] != NULL && rest == NULL;
}

static int id_compare(const redisReply *left, const redisReply *right)
{
    int order = memcmp(left->str, right->str, left->len < right->len ? left->len : right->len);
    return order != 0 ? order : (left->len > right->len) - (left->len < right->len);
}

static int by_id(const void *left, const void *right, void *runs)
{
    const redisReply *all = runs;
    return id_compare(all->element[*(const size_t *)left], all->element[*(const size_t *)right]);
}

/* A storm leaves hundreds of thousands of runs: no walk for each entry of an index. */
size_t *key_space_order(redisReply *hash)
{
    size_t count = hash->elements / 2;
    size_t *order = calloc(count + 1, sizeof *order);
    if (order == NULL)
        abort();
    for (size_t i = 0; i < count; i++)
        order[i] = 2 * i;
    qsort_r(order, count, sizeof *order, by_id, hash);
    return order;
}

/* The value of a field; NULL when there is none. */
static const redisReply *value_find(const redisReply *hash, const size_t *order,
                                    const redisReply *name)
{
    size_t low = 0, high = hash->elements / 2;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int relation = id_compare(hash->element[order[middle]], name);
        if (relation == 0)
            return hash->element[order[middle] + 1];
        if (relation < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* False when there is no such run. */
static bool record_find(const struct key_space *keys, const redisReply *id,
                        struct record *ret_record)
{
    const redisReply *text = value_find(keys->runs, keys->order, id);
    return text != NULL && record_read(id, text, ret_record);
}

static bool is_in_state(const struct record *record, const char *states)
{
    return strchr(states, record->fields[FIELD_STATE][0]) != NULL;
}

static size_t runs_in_state(const struct key_space *keys, const char *states)
{
    size_t count = 0;
    struct record record;
    for (size_t i = 0; i + 1 < keys->runs->elements; i += 2)
        count += record_read(keys->runs->element[i], keys->runs->element[i + 1], &record) &&
                 is_in_state(&record, states);
    return count;
}

/* Members are distinct, so equal counts and no stranger mean: each run, once. */
static bool check_set(const struct key_space *keys, const char *name, const char *state)
{
    redisReply *set = key_space_ask(keys, "ZRANGE", name, " 0 -1 WITHSCORES");
    struct record record;
    bool is_good = true;
    for (size_t i = 0; i + 1 < set->elements && is_good; i += 2) {
        if (!record_find(keys, set->element[i], &record) || !is_in_state(&record, state))
            is_good = key_space_complain(keys, name, set->element[i]);
        else if (strcmp(record.fields[FIELD_AT], set->element[i + 1]->str) != 0)
            is_good = key_space_complain(keys, "an entry has another time than its record",
                                         set->element[i]);
    }
    if (is_good && set->elements / 2 != runs_in_state(keys, state))
        is_good = key_space_complain(keys, "an index lacks runs", NULL);
    freeReplyObject(set);
    return is_good;
}

/* The scheduled ones of a priority stand in both sets, at the same time. */
static bool check_scheduled_urgent(const struct key_space *keys)
{
    redisReply *set = key_space_ask(keys, "ZRANGE", "scheduled_urgent", " 0 -1 WITHSCORES");
    struct record record;
    bool is_good = true;
    size_t expected = 0;
    for (size_t i = 0; i + 1 < set->elements && is_good; i += 2) {
        if (!record_find(keys, set->element[i], &record) || !is_in_state(&record, "S") ||
            record.fields[FIELD_PRIORITY][0] == '0' ||
            strcmp(record.fields[FIELD_AT], set->element[i + 1]->str) != 0)
            is_good =
                key_space_complain(keys, "a stranger among the scheduled urgent", set->element[i]);
    }
    for (size_t i = 0; i + 1 < keys->runs->elements; i += 2)
        expected += record_read(keys->runs->element[i], keys->runs->element[i + 1], &record) &&
                    is_in_state(&record, "S") && record.fields[FIELD_PRIORITY][0] != '0';
    if (is_good && set->elements / 2 != expected)
        is_good = key_space_complain(keys, "a scheduled urgent run is in one set only", NULL);
    freeReplyObject(set);
    return is_good;
}

int64_t key_space_number(const struct key_space *keys, const char *field)
{
    redisReply *reply = key_space_ask(keys, "HGET", "meta ", field);
    int64_t number = reply->str != NULL ? strtoll(reply->str, NULL, 10) : 0;
    freeReplyObject(reply);
    return number;
}

/* What stands in the ready list: an id and, in decimal, the number of the line after which it
 * comes. */
static bool ready_read(const redisReply *entry, redisReply *ret_id)
{
    *ret_id = *entry;
    ret_id->len = ID_BYTES;
    return entry->len > ID_BYTES &&
           strspn(entry->str + ID_BYTES, "0123456789@") == entry->len - ID_BYTES;
}

static bool is_earlier_in(const redisReply *list, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        redisReply left, right;
        if (ready_read(list->element[i], &left) && ready_read(list->element[index], &right) &&
            is_same(&left, &right))
            return true;
    }
    return false;
}

/* Parked behind one of its limits: it stands in no place of the ready order. */
static bool is_parked(const struct record *record)
{
    return record->fields[FIELD_STATE][0] == 'W' && atoi(record->fields[FIELD_BEHIND]) > 1;
}

static size_t runs_parked(const struct key_space *keys)
{
    size_t count = 0;
    struct record record;
    for (size_t i = 0; i + 1 < keys->runs->elements; i += 2)
        count += record_read(keys->runs->element[i], keys->runs->element[i + 1], &record) &&
                 is_parked(&record);
    return count;
}

/* The priority that a score of `urgent` tells: it is order - priority * 2^44. */
static int64_t priority_of(const redisReply *score)
{
    return ((INT64_C(1) << 43) - strtoll(score->str, NULL, 10)) / (INT64_C(1) << 44);
}

/* Waiting runs, and each in the band of its priority; adds how many. */
static bool check_urgent(const struct key_space *keys, size_t *waiting)
{
    redisReply *urgent = key_space_ask(keys, "ZRANGE", "urgent", " 0 -1 WITHSCORES");
    struct record record;
    bool is_good = true;
    for (size_t i = 0; i + 1 < urgent->elements && is_good; i += 2, (*waiting)++) {
        if (!record_find(keys, urgent->element[i], &record) || !is_in_state(&record, "W") ||
            is_parked(&record) ||
            priority_of(urgent->element[i + 1]) != record.fields[FIELD_PRIORITY][0] - '0')
            is_good = key_space_complain(keys, "a stranger among the urgent", urgent->element[i]);
    }
    freeReplyObject(urgent);
    return is_good;
}

static bool is_among(const redisReply *set, const redisReply *id)
{
    for (size_t i = 0; i < set->elements; i++) {
        if (is_same(set->element[i], id))
            return true;
    }
    return false;
}

/* The urgent set and the ready list together hold every waiting run once; the list may hold
 * ghosts beside, as many as meta says. */
static bool check_ready(const struct key_space *keys)
{
    redisReply *ready = key_space_ask(keys, "LRANGE", "ready", " 0 -1");
    redisReply *urgent = key_space_ask(keys, "ZRANGE", "urgent", " 0 -1");
    struct record record;
    size_t waiting = 0;
    int64_t ghosts = 0;
    bool is_good = check_urgent(keys, &waiting);
    for (size_t i = 0; i < ready->elements && is_good; i++) {
        redisReply id;
        bool is_waiting = ready_read(ready->element[i], &id) && record_find(keys, &id, &record) &&
                          is_in_state(&record, "W") && record.fields[FIELD_PRIORITY][0] == '0' &&
                          !is_parked(&record) && !is_earlier_in(ready, i) && !is_among(urgent, &id);
        waiting += is_waiting;
        ghosts += !is_waiting;
    }
    if (is_good && waiting + runs_parked(keys) != runs_in_state(keys, "W"))
        is_good = key_space_complain(keys, "a waiting run is not ready", NULL);
    if (is_good && ghosts != key_space_number(keys, "ghosts"))
        is_good = key_space_complain(keys, "ghosts are miscounted", NULL);
    freeReplyObject(urgent);
    freeReplyObject(ready);
    return is_good;
}

/* A final run may have lost its payload, which is written beside it then. */
static size_t payloads_lost(const struct key_space *keys)
{
    redisReply *errors = key_space_ask(keys, "HGETALL", "errors", "");
    struct record record;
    size_t count = 0;
    for (size_t i = 0; i + 1 < errors->elements; i += 2)
        count += strcmp(errors->element[i + 1]->str, "the payload is missing") == 0 &&
                 record_find(keys, errors->element[i], &record) && is_in_state(&record, "XC");
    freeReplyObject(errors);
    return count;
}

/* Every field of the hash belongs to a run in one of `states`; all of these have one when
 * `is_complete`. */
static bool check_hash(const struct key_space *keys, const char *name, const char *states,
                       bool is_complete)
{
    redisReply *fields = key_space_ask(keys, "HKEYS", name, "");
    struct record record;
    bool is_good = true;
    for (size_t i = 0; i < fields->elements && is_good; i++) {
        if (!record_find(keys, fields->element[i], &record) || !is_in_state(&record, states))
            is_good = key_space_complain(keys, name, fields->element[i]);
    }
    if (is_good && is_complete &&
        fields->elements + payloads_lost(keys) != runs_in_state(keys, states))
        is_good = key_space_complain(keys, "a run lacks its payload", NULL);
    freeReplyObject(fields);
    return is_good;
}

/* Nobody else can have taken its unique key since it came: not while it was in another state, or
 * over. */
static bool is_certain_holder(const struct record *record)
{
    int states = atoi(record->fields[FIELD_WHILE]);
    bool is_kept = states == 7 || (states == 3 && strcmp(record->fields[FIELD_ATTEMPT], "0") == 0);
    return is_in_state(record, "SWA") && record->fields[FIELD_UNIQUE][0] != '\0' && is_kept &&
           strcmp(record->fields[FIELD_EXPIRES], "0") == 0 &&
           strcmp(record->fields[FIELD_UNTIL], "0") == 0;
}

static size_t certain_holders(const struct key_space *keys)
{
    size_t count = 0;
    struct record record;
    for (size_t i = 0; i + 1 < keys->runs->elements; i += 2)
        count += record_read(keys->runs->element[i], keys->runs->element[i + 1], &record) &&
                 is_certain_holder(&record);
    return count;
}

/* The end of the key's time, which stands behind the id, is where it is looked for. */
static bool has_end(const redisReply *ends, const redisReply *key, const redisReply *entry)
{
    for (size_t i = 0; i + 1 < ends->elements; i += 2) {
        if (is_same(ends->element[i], key))
            return strcmp(ends->element[i + 1]->str, entry->str + ID_BYTES) == 0;
    }
    return false;
}

static bool check_unique(const struct key_space *keys)
{
    redisReply *held = key_space_ask(keys, "HGETALL", "unique", "");
    redisReply *ends = key_space_ask(keys, "ZRANGE", "unique_until", " 0 -1 WITHSCORES");
    struct record record;
    bool is_good = true;
    size_t certain = 0, windows = 0;
    for (size_t i = 0; i + 1 < held->elements && is_good; i += 2) {
        const redisReply *key = held->element[i], *entry = held->element[i + 1];
        if (entry->len > ID_BYTES) {
            windows++;
            if (!has_end(ends, key, entry))
                is_good = key_space_complain(keys, "a unique key would be kept for ever", entry);
        } else if (!record_find(keys, entry, &record) || !is_in_state(&record, "SWA") ||
                   strcmp(record.fields[FIELD_UNIQUE], key->str) != 0) {
            is_good = key_space_complain(keys, "a unique key is held by a stranger", entry);
        } else {
            certain += is_certain_holder(&record);
        }
    }
    if (is_good && certain != certain_holders(keys))
        is_good = key_space_complain(keys, "a live run does not hold its unique key", NULL);
    if (is_good && windows != ends->elements / 2)
        is_good = key_space_complain(keys, "the time of a unique key is that of nobody", NULL);
    freeReplyObject(held);
    freeReplyObject(ends);
    return is_good;
}

static bool check_records(const struct key_space *keys)
{
    struct record record;
    for (size_t i = 0; i + 1 < keys->runs->elements; i += 2) {
        if (!record_read(keys->runs->element[i], keys->runs->element[i + 1], &record))
            return key_space_complain(keys, "a record does not parse", keys->runs->element[i]);
    }
    return true;
}

/* What stands in a remembered value behind so many bars; the id at a key's end is in no one's way.
 */
static long long value_time(const redisReply *value, int bars)
{
    const char *at = value->str;
    for (; bars > 0 && at != NULL; bars--) {
        at = strchr(at, '|');
        at += at != NULL;
    }
    return at != NULL ? strtoll(at, NULL, 10) : -1;
}

/* Whatever is remembered is listed, under the time of its value, or nobody would forget it; and
 * nothing else is. */
static bool check_remembered(const struct key_space *keys, const char *name, const char *list,
                             int bars)
{
    redisReply *hash = key_space_ask(keys, "HGETALL", name, "");
    redisReply *listed = key_space_ask(keys, "ZRANGE", list, " 0 -1 WITHSCORES");
    size_t *order = key_space_order(hash);
    bool is_good = hash->elements == listed->elements || key_space_complain(keys, list, NULL);
    for (size_t i = 0; i + 1 < listed->elements && is_good; i += 2) {
        const redisReply *value = value_find(hash, order, listed->element[i]);
        if (value == NULL ||
            value_time(value, bars) != strtoll(listed->element[i + 1]->str, NULL, 10))
            is_good = key_space_complain(keys, list, listed->element[i]);
    }
    free(order);
    freeReplyObject(listed);
    freeReplyObject(hash);
    return is_good;
}

bool key_space_has_record(const struct key_space *keys, const void *id)
{
    char bytes[ID_BYTES];
    memcpy(bytes, id, sizeof bytes);
    const redisReply name = {.str = bytes, .len = sizeof bytes};
    return value_find(keys->runs, keys->order, &name) != NULL;
}

bool redis_check(const struct redis_server *server, const char *prefix, const char *queue)
{
    struct key_space keys = {.server = server, .prefix = prefix, .queue = queue};
    keys.runs = key_space_ask(&keys, "HGETALL", "runs", "");
    keys.order = key_space_order(keys.runs);
    bool is_good = check_records(&keys) && check_set(&keys, "scheduled", "S") &&
                   check_set(&keys, "active", "A") && check_set(&keys, "done", "D") &&
                   check_set(&keys, "dead", "X") && check_set(&keys, "cancelled", "C") &&
                   check_scheduled_urgent(&keys) && check_ready(&keys) &&
                   check_hash(&keys, "payloads", "SWAXC", true) &&
                   check_hash(&keys, "results", "D", false) &&
                   check_hash(&keys, "errors", "SWADXC", false) &&
                   check_hash(&keys, "progress", "SWADXC", false) && check_unique(&keys) &&
                   check_remembered(&keys, "producers", "producers_until", 1) &&
                   check_remembered(&keys, "keys", "keys_until", 0) && redis_check_line(&keys) &&
                   redis_check_limits(&keys);
    free(keys.order);
    freeReplyObject(keys.runs);
    return is_good;
}
