/* sim/command.c - the commands of the virtual Redis, one function each, and their table. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "redis.h"

/* What a command gets. `count` includes the command's own word. */
struct call {
    struct sim_redis *redis;
    const struct sim_arg *args;
    size_t count;
    struct sim_bytes *reply;
};

static const char wrong_type[] =
    "WRONGTYPE Operation against a key holding the wrong kind of value";

/* --- arguments ----------------------------------------------------------------------------- */

bool sim_arg_is(const struct sim_arg *arg, const char *word)
{
    return arg->len == strlen(word) && strncasecmp(arg->data, word, arg->len) == 0;
}

bool sim_arg_int(const struct sim_arg *arg, int64_t *ret_value)
{
    char text[24], *end;
    if (arg->len == 0 || arg->len >= sizeof text)
        return false;
    memcpy(text, arg->data, arg->len);
    text[arg->len] = '\0';
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (*end != '\0' || errno != 0 || text[0] == ' ' || text[0] == '+')
        return false;
    *ret_value = value;
    return true;
}

static bool arg_score(const struct sim_arg *arg, double *ret_score)
{
    char text[48], *end;
    if (arg->len == 0 || arg->len >= sizeof text)
        return false;
    memcpy(text, arg->data, arg->len);
    text[arg->len] = '\0';
    *ret_score = strtod(text, &end);
    return *end == '\0' && !isnan(*ret_score);
}

/* The value at the key args[1]; false after an error reply when it is of another kind. */
static bool find(const struct call *call, enum sim_kind kind, struct sim_value **ret_value)
{
    *ret_value = sim_space_find(&call->redis->space, call->args[1].data, call->args[1].len);
    if (*ret_value == NULL || (*ret_value)->kind == kind)
        return true;
    sim_reply_error(call->reply, wrong_type);
    return false;
}

static bool find_or_make(const struct call *call, enum sim_kind kind, struct sim_value **ret_value)
{
    bool is_new;
    if (!find(call, kind, ret_value))
        return false;
    if (*ret_value == NULL) {
        struct sim_entry *entry =
            sim_dict_put(&call->redis->space, call->args[1].data, call->args[1].len, &is_new);
        *ret_value = entry->slot.value = sim_value_make(kind);
    }
    return true;
}

/* Redis keeps no empty values. */
static void drop_if_empty(const struct call *call, const struct sim_value *value)
{
    if (value != NULL && sim_value_size(value) == 0)
        sim_space_remove(&call->redis->space, call->args[1].data, call->args[1].len);
}

static void syntax_error(const struct call *call)
{
    sim_reply_error(call->reply, "ERR syntax error");
}

static void not_integer(const struct call *call)
{
    sim_reply_error(call->reply, "ERR value is not an integer or out of range");
}

/* Start and stop as Redis takes them, to first and count. */
static void range_of(int64_t start, int64_t stop, size_t size, size_t *ret_first, size_t *ret_count)
{
    int64_t len = (int64_t)size;
    start = start < 0 ? start + len : start;
    stop = stop < 0 ? stop + len : stop;
    start = start < 0 ? 0 : start;
    stop = stop >= len ? len - 1 : stop;
    *ret_first = (size_t)start;
    *ret_count = start > stop || start >= len ? 0 : (size_t)(stop - start + 1);
}

/* --- hashes -------------------------------------------------------------------------------- */

static void line_tell(const struct call *call)
{
    static const char *const names[] = {":bodies", ":blocks", ":block_leases"};
    const struct sim_arg *key = &call->args[1];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t len = strlen(names[i]);
        if (key->len > len && memcmp(key->data + key->len - len, names[i], len) == 0)
            call->redis->is_line_new = true;
    }
}

static void record_tell(const struct call *call, const struct sim_arg *id,
                        const struct sim_text *before, const struct sim_arg *after)
{
    const struct sim_arg *key = &call->args[1];
    if (key->len <= 5 || memcmp(key->data + key->len - 5, ":runs", 5) != 0)
        return;
    call->redis->is_record_new = true;
    if (call->redis->on_record != NULL)
        call->redis->on_record(call->redis->user, key, id, before, after);
}

static void hset(const struct call *call)
{
    struct sim_value *hash;
    int64_t added = 0;
    bool is_new;
    if (call->count % 2 != 0) {
        sim_reply_error(call->reply, "ERR wrong number of arguments for 'hset' command");
        return;
    }
    if (!find_or_make(call, SIM_HASH, &hash))
        return;
    line_tell(call);
    for (size_t i = 2; i < call->count; i += 2) {
        const struct sim_arg *field = &call->args[i], *value = &call->args[i + 1];
        struct sim_entry *entry = sim_dict_put(&hash->dict, field->data, field->len, &is_new);
        record_tell(call, field, is_new ? NULL : entry->slot.text, value);
        sim_text_drop(entry->slot.text);
        entry->slot.text = sim_text_make(value->data, value->len);
        added += is_new;
    }
    sim_reply_int(call->reply, added);
}

static void field_reply(const struct call *call, const struct sim_value *hash,
                        const struct sim_arg *field)
{
    const struct sim_entry *entry =
        hash != NULL ? sim_dict_find(&hash->dict, field->data, field->len) : NULL;
    if (entry == NULL)
        sim_reply_nil(call->reply);
    else
        sim_reply_bulk(call->reply, entry->slot.text->data, entry->slot.text->len);
}

static void hget(const struct call *call)
{
    struct sim_value *hash;
    if (find(call, SIM_HASH, &hash))
        field_reply(call, hash, &call->args[2]);
}

static void hmget(const struct call *call)
{
    struct sim_value *hash;
    if (!find(call, SIM_HASH, &hash))
        return;
    sim_reply_array(call->reply, call->count - 2);
    for (size_t i = 2; i < call->count; i++)
        field_reply(call, hash, &call->args[i]);
}

static void hdel(const struct call *call)
{
    struct sim_value *hash;
    int64_t gone = 0;
    if (!find(call, SIM_HASH, &hash))
        return;
    line_tell(call);
    for (size_t i = 2; i < call->count && hash != NULL; i++) {
        struct sim_entry *entry = sim_dict_find(&hash->dict, call->args[i].data, call->args[i].len);
        if (entry == NULL)
            continue;
        record_tell(call, &call->args[i], entry->slot.text, NULL);
        sim_text_drop(entry->slot.text);
        sim_dict_remove(&hash->dict, entry);
        gone++;
    }
    drop_if_empty(call, hash);
    sim_reply_int(call->reply, gone);
}

static void hlen(const struct call *call)
{
    struct sim_value *hash;
    if (find(call, SIM_HASH, &hash))
        sim_reply_int(call->reply, hash == NULL ? 0 : (int64_t)hash->dict.count);
}

static void hexists(const struct call *call)
{
    struct sim_value *hash;
    if (find(call, SIM_HASH, &hash))
        sim_reply_int(call->reply, hash != NULL && sim_dict_find(&hash->dict, call->args[2].data,
                                                                 call->args[2].len) != NULL);
}

static void hstrlen(const struct call *call)
{
    struct sim_value *hash;
    if (!find(call, SIM_HASH, &hash))
        return;
    const struct sim_entry *entry =
        hash == NULL ? NULL : sim_dict_find(&hash->dict, call->args[2].data, call->args[2].len);
    sim_reply_int(call->reply, entry == NULL ? 0 : (int64_t)entry->slot.text->len);
}

static void hincrby(const struct call *call)
{
    struct sim_value *hash;
    int64_t by, value = 0;
    bool is_new;
    char text[24];
    if (!sim_arg_int(&call->args[3], &by)) {
        not_integer(call);
        return;
    }
    if (!find_or_make(call, SIM_HASH, &hash))
        return;
    struct sim_entry *entry =
        sim_dict_put(&hash->dict, call->args[2].data, call->args[2].len, &is_new);
    if (!is_new) {
        struct sim_arg old = {entry->slot.text->data, entry->slot.text->len};
        if (!sim_arg_int(&old, &value)) {
            sim_reply_error(call->reply, "ERR hash value is not an integer");
            return;
        }
    }
    int len = snprintf(text, sizeof text, "%lld", (long long)(value + by));
    sim_text_drop(entry->slot.text);
    entry->slot.text = sim_text_make(text, (size_t)len);
    sim_reply_int(call->reply, value + by);
}

static void hash_list(const struct call *call, const struct sim_value *hash, bool has_keys,
                      bool has_values)
{
    size_t each = (size_t)has_keys + (size_t)has_values;
    sim_reply_array(call->reply, hash == NULL ? 0 : hash->dict.count * each);
    for (size_t i = 0; hash != NULL && i < hash->dict.cap; i++) {
        const struct sim_entry *entry = &hash->dict.entries[i];
        if (entry->key != NULL && has_keys)
            sim_reply_bulk(call->reply, entry->key->data, entry->key->len);
        if (entry->key != NULL && has_values)
            sim_reply_bulk(call->reply, entry->slot.text->data, entry->slot.text->len);
    }
}

static void hkeys(const struct call *call)
{
    struct sim_value *hash;
    if (find(call, SIM_HASH, &hash))
        hash_list(call, hash, true, false);
}

static void hgetall(const struct call *call)
{
    struct sim_value *hash;
    if (find(call, SIM_HASH, &hash))
        hash_list(call, hash, true, true);
}

/* A small hash comes whole, with any COUNT: so it is in Redis, too. */
static void hscan(const struct call *call)
{
    struct sim_value *hash;
    if (!find(call, SIM_HASH, &hash))
        return;
    sim_reply_array(call->reply, 2);
    sim_reply_text(call->reply, "0");
    hash_list(call, hash, true, true);
}

/* --- lists --------------------------------------------------------------------------------- */

static void push(const struct call *call, bool is_left)
{
    struct sim_value *list;
    if (!find_or_make(call, SIM_LIST, &list))
        return;
    for (size_t i = 2; i < call->count; i++)
        sim_list_push(list, sim_text_make(call->args[i].data, call->args[i].len), is_left);
    call->redis->was_pushed = true;
    sim_reply_int(call->reply, (int64_t)list->count);
}

static void lpush(const struct call *call)
{
    push(call, true);
}

static void rpush(const struct call *call)
{
    push(call, false);
}

static void pop_reply(const struct call *call, struct sim_value *list, bool is_left)
{
    struct sim_text *text = sim_list_pop(list, is_left);
    sim_reply_bulk(call->reply, text->data, text->len);
    sim_text_drop(text);
}

static void pop(const struct call *call, bool is_left)
{
    struct sim_value *list;
    int64_t most = 1;
    bool has_count = call->count == 3;
    if (has_count && (!sim_arg_int(&call->args[2], &most) || most < 0)) {
        sim_reply_error(call->reply, "ERR value is out of range, must be positive");
        return;
    }
    if (!find(call, SIM_LIST, &list))
        return;
    if (list == NULL) {
        if (has_count)
            sim_reply_nil_array(call->reply);
        else
            sim_reply_nil(call->reply);
        return;
    }
    if (has_count && (size_t)most > list->count)
        most = (int64_t)list->count;
    if (has_count)
        sim_reply_array(call->reply, (size_t)most);
    for (int64_t i = 0; i < most; i++)
        pop_reply(call, list, is_left);
    drop_if_empty(call, list);
}

static void lpop(const struct call *call)
{
    pop(call, true);
}

static void rpop(const struct call *call)
{
    pop(call, false);
}

static void llen(const struct call *call)
{
    struct sim_value *list;
    if (find(call, SIM_LIST, &list))
        sim_reply_int(call->reply, list == NULL ? 0 : (int64_t)list->count);
}

static void lrange(const struct call *call)
{
    struct sim_value *list;
    int64_t start, stop;
    size_t first = 0, count = 0;
    if (!sim_arg_int(&call->args[2], &start) || !sim_arg_int(&call->args[3], &stop)) {
        not_integer(call);
        return;
    }
    if (!find(call, SIM_LIST, &list))
        return;
    if (list != NULL)
        range_of(start, stop, list->count, &first, &count);
    sim_reply_array(call->reply, count);
    for (size_t i = 0; i < count; i++) {
        const struct sim_text *text = list->items[list->first + first + i];
        sim_reply_bulk(call->reply, text->data, text->len);
    }
}

static void lset(const struct call *call)
{
    struct sim_value *list;
    int64_t index;
    if (!find(call, SIM_LIST, &list))
        return;
    if (list == NULL) {
        sim_reply_error(call->reply, "ERR no such key");
        return;
    }
    if (!sim_arg_int(&call->args[2], &index)) {
        not_integer(call);
        return;
    }
    index += index < 0 ? (int64_t)list->count : 0;
    if (index < 0 || index >= (int64_t)list->count) {
        sim_reply_error(call->reply, "ERR index out of range");
        return;
    }
    struct sim_text **item = &list->items[list->first + (size_t)index];
    sim_text_drop(*item);
    *item = sim_text_make(call->args[3].data, call->args[3].len);
    sim_reply_status(call->reply, "OK");
}

/* The last place of the entry, among the last entries: the only form that the scripts use. */
static void lpos(const struct call *call)
{
    struct sim_value *list;
    int64_t most;
    if (call->count != 7 || !sim_arg_is(&call->args[3], "RANK") ||
        !sim_arg_is(&call->args[4], "-1") || !sim_arg_is(&call->args[5], "MAXLEN")) {
        syntax_error(call);
        return;
    }
    if (!sim_arg_int(&call->args[6], &most)) {
        not_integer(call);
        return;
    }
    if (most < 0) {
        sim_reply_error(call->reply, "ERR MAXLEN can't be negative");
        return;
    }
    if (!find(call, SIM_LIST, &list))
        return;
    size_t count = list == NULL ? 0 : list->count;
    for (size_t i = count; i-- > 0 && (most == 0 || i + (size_t)most >= count);) {
        const struct sim_text *text = list->items[list->first + i];
        if (sim_text_is(text, call->args[2].data, call->args[2].len)) {
            sim_reply_int(call->reply, (int64_t)i);
            return;
        }
    }
    sim_reply_nil(call->reply);
}

static void lrem(const struct call *call)
{
    struct sim_value *list;
    int64_t wanted, gone = 0;
    if (!sim_arg_int(&call->args[2], &wanted)) {
        not_integer(call);
        return;
    }
    if (!find(call, SIM_LIST, &list))
        return;
    bool is_backward = wanted < 0;
    int64_t most = wanted == 0 ? INT64_MAX : is_backward ? -wanted : wanted;
    for (size_t i = 0; list != NULL && i < list->count && gone < most;) {
        size_t at = list->first + (is_backward ? list->count - 1 - i : i);
        if (!sim_text_is(list->items[at], call->args[3].data, call->args[3].len)) {
            i++;
            continue;
        }
        sim_text_drop(list->items[at]);
        memmove(&list->items[at], &list->items[at + 1],
                (list->first + list->count - at - 1) * sizeof *list->items);
        list->count--;
        gone++;
    }
    drop_if_empty(call, list);
    sim_reply_int(call->reply, gone);
}

static void blpop(const struct call *call)
{
    for (size_t i = 1; i + 1 < call->count; i++) {
        struct call at = {call->redis, call->args + i - 1, 2, call->reply};
        struct sim_value *list;
        if (!find(&at, SIM_LIST, &list))
            return;
        if (list == NULL)
            continue;
        sim_reply_array(call->reply, 2);
        sim_reply_bulk(call->reply, call->args[i].data, call->args[i].len);
        pop_reply(call, list, true);
        drop_if_empty(&at, list);
        return;
    }
    sim_reply_status(call->reply, "BLOCK");
}

/* --- sets ---------------------------------------------------------------------------------- */

static void sadd(const struct call *call)
{
    struct sim_value *set;
    int64_t added = 0;
    bool is_new;
    if (!find_or_make(call, SIM_SET, &set))
        return;
    for (size_t i = 2; i < call->count; i++) {
        sim_dict_put(&set->dict, call->args[i].data, call->args[i].len, &is_new);
        added += is_new;
    }
    sim_reply_int(call->reply, added);
}

static void srem(const struct call *call)
{
    struct sim_value *set;
    int64_t gone = 0;
    if (!find(call, SIM_SET, &set))
        return;
    for (size_t i = 2; i < call->count && set != NULL; i++) {
        struct sim_entry *entry = sim_dict_find(&set->dict, call->args[i].data, call->args[i].len);
        if (entry == NULL)
            continue;
        sim_dict_remove(&set->dict, entry);
        gone++;
    }
    drop_if_empty(call, set);
    sim_reply_int(call->reply, gone);
}

static bool set_has(const struct sim_value *set, const struct sim_arg *member)
{
    return set != NULL && sim_dict_find(&set->dict, member->data, member->len) != NULL;
}

static void sismember(const struct call *call)
{
    struct sim_value *set;
    if (find(call, SIM_SET, &set))
        sim_reply_int(call->reply, set_has(set, &call->args[2]));
}

static void smismember(const struct call *call)
{
    struct sim_value *set;
    if (!find(call, SIM_SET, &set))
        return;
    sim_reply_array(call->reply, call->count - 2);
    for (size_t i = 2; i < call->count; i++)
        sim_reply_int(call->reply, set_has(set, &call->args[i]));
}

static void scard(const struct call *call)
{
    struct sim_value *set;
    if (find(call, SIM_SET, &set))
        sim_reply_int(call->reply, set == NULL ? 0 : (int64_t)set->dict.count);
}

static void smembers(const struct call *call)
{
    struct sim_value *set;
    if (find(call, SIM_SET, &set))
        hash_list(call, set, true, false);
}

static void sscan(const struct call *call)
{
    struct sim_value *set;
    if (!find(call, SIM_SET, &set))
        return;
    sim_reply_array(call->reply, 2);
    sim_reply_text(call->reply, "0");
    hash_list(call, set, true, false);
}

/* --- sorted sets --------------------------------------------------------------------------- */

/* ZADD key XX score member: an entry that is there gets another score. */
static void zadd_known(const struct call *call)
{
    struct sim_value *zset;
    double score = 0;
    const struct sim_arg *member = &call->args[4];
    if (!arg_score(&call->args[3], &score)) {
        sim_reply_error(call->reply, "ERR value is not a valid float");
        return;
    }
    if (!find(call, SIM_ZSET, &zset))
        return;
    if (zset != NULL && sim_dict_find(&zset->dict, member->data, member->len) != NULL)
        sim_zset_put(zset, member->data, member->len, score);
    sim_reply_int(call->reply, 0);
}

static void zadd(const struct call *call)
{
    struct sim_value *zset;
    int64_t added = 0;
    double score = 0;
    if (call->count == 5 && sim_arg_is(&call->args[2], "XX")) {
        zadd_known(call);
        return;
    }
    if (call->count % 2 != 0) {
        syntax_error(call);
        return;
    }
    for (size_t i = 2; i < call->count; i += 2) {
        if (!arg_score(&call->args[i], &score)) {
            sim_reply_error(call->reply, "ERR value is not a valid float");
            return;
        }
    }
    if (!find_or_make(call, SIM_ZSET, &zset))
        return;
    line_tell(call);
    for (size_t i = 2; i < call->count; i += 2) {
        arg_score(&call->args[i], &score);
        added += sim_zset_put(zset, call->args[i + 1].data, call->args[i + 1].len, score);
    }
    sim_reply_int(call->reply, added);
}

static void zrem(const struct call *call)
{
    struct sim_value *zset;
    int64_t gone = 0;
    if (!find(call, SIM_ZSET, &zset))
        return;
    for (size_t i = 2; i < call->count && zset != NULL; i++)
        gone += sim_zset_remove(zset, call->args[i].data, call->args[i].len);
    drop_if_empty(call, zset);
    sim_reply_int(call->reply, gone);
}

static void zcard(const struct call *call)
{
    struct sim_value *zset;
    if (find(call, SIM_ZSET, &zset))
        sim_reply_int(call->reply, zset == NULL ? 0 : (int64_t)zset->dict.count);
}

static void zscore(const struct call *call)
{
    struct sim_value *zset;
    if (!find(call, SIM_ZSET, &zset))
        return;
    const struct sim_entry *entry =
        zset == NULL ? NULL : sim_dict_find(&zset->dict, call->args[2].data, call->args[2].len);
    if (entry == NULL)
        sim_reply_nil(call->reply);
    else
        sim_reply_score(call->reply, entry->slot.score);
}

static void scored_reply(const struct call *call, const struct sim_value *zset, size_t first,
                         size_t count, bool has_scores)
{
    sim_reply_array(call->reply, has_scores ? count * 2 : count);
    for (size_t i = first; i < first + count; i++) {
        sim_reply_bulk(call->reply, zset->sorted[i].member->data, zset->sorted[i].member->len);
        if (has_scores)
            sim_reply_score(call->reply, zset->sorted[i].score);
    }
}

static void zrange(const struct call *call)
{
    struct sim_value *zset;
    int64_t start, stop;
    size_t first = 0, count = 0;
    bool has_scores = call->count == 5 && sim_arg_is(&call->args[4], "WITHSCORES");
    if (call->count > 4 && !has_scores) {
        syntax_error(call);
        return;
    }
    if (!sim_arg_int(&call->args[2], &start) || !sim_arg_int(&call->args[3], &stop)) {
        not_integer(call);
        return;
    }
    if (!find(call, SIM_ZSET, &zset))
        return;
    if (zset != NULL)
        range_of(start, stop, zset->dict.count, &first, &count);
    scored_reply(call, zset, first, count, has_scores);
}

static bool arg_bound(const struct sim_arg *arg, double *ret_score, bool *ret_is_open)
{
    *ret_is_open = arg->len > 0 && arg->data[0] == '(';
    struct sim_arg rest = {arg->data + *ret_is_open, arg->len - *ret_is_open};
    return arg_score(&rest, ret_score);
}

/* First and count of the entries between the bounds args[2] and args[3]. */
static bool bounds_find(const struct call *call, struct sim_value **ret_zset, size_t *ret_first,
                        size_t *ret_count)
{
    double low, high;
    bool is_low_open, is_high_open;
    if (!arg_bound(&call->args[2], &low, &is_low_open) ||
        !arg_bound(&call->args[3], &high, &is_high_open)) {
        sim_reply_error(call->reply, "ERR min or max is not a float");
        return false;
    }
    if (!find(call, SIM_ZSET, ret_zset))
        return false;
    *ret_first = *ret_count = 0;
    if (*ret_zset == NULL)
        return true;
    size_t end = sim_zset_rank(*ret_zset, high, !is_high_open);
    *ret_first = sim_zset_rank(*ret_zset, low, is_low_open);
    *ret_count = end > *ret_first ? end - *ret_first : 0;
    return true;
}

/* What follows the bounds: how many entries are passed and how many are shown, -1 for all. */
struct page {
    int64_t skip, most;
    bool has_scores;
};

static bool page_read(const struct call *call, struct page *ret_page)
{
    size_t at = 4;
    *ret_page = (struct page){.skip = 0, .most = -1};
    while (at < call->count) {
        if (sim_arg_is(&call->args[at], "WITHSCORES")) {
            ret_page->has_scores = true;
            at++;
        } else if (sim_arg_is(&call->args[at], "LIMIT") && at + 2 < call->count) {
            if (!sim_arg_int(&call->args[at + 1], &ret_page->skip) ||
                !sim_arg_int(&call->args[at + 2], &ret_page->most)) {
                not_integer(call);
                return false;
            }
            at += 3;
        } else {
            syntax_error(call);
            return false;
        }
    }
    return true;
}

static void zrangebyscore(const struct call *call)
{
    struct sim_value *zset;
    struct page page;
    size_t first, count;
    if (!page_read(call, &page) || !bounds_find(call, &zset, &first, &count))
        return;
    if (page.skip < 0 || (size_t)page.skip > count)
        page.skip = (int64_t)count;
    first += (size_t)page.skip;
    count -= (size_t)page.skip;
    if (page.most >= 0 && (size_t)page.most < count)
        count = (size_t)page.most;
    scored_reply(call, zset, first, count, page.has_scores);
}

/* From the highest score down. */
static void zrevrangebyscore(const struct call *call)
{
    struct sim_arg args[4];
    struct call turned = *call;
    struct sim_value *zset;
    struct page page;
    size_t first, count;
    if (!page_read(call, &page))
        return;
    memcpy(args, call->args, sizeof args);
    args[2] = call->args[3];
    args[3] = call->args[2];
    turned.args = args;
    if (!bounds_find(&turned, &zset, &first, &count))
        return;
    count -= page.skip >= 0 && (size_t)page.skip < count ? (size_t)page.skip : count;
    size_t shown = page.most >= 0 && (size_t)page.most < count ? (size_t)page.most : count;
    sim_reply_array(call->reply, page.has_scores ? shown * 2 : shown);
    for (size_t i = 0; i < shown; i++) {
        const struct sim_scored *entry = &zset->sorted[first + count - 1 - i];
        sim_reply_bulk(call->reply, entry->member->data, entry->member->len);
        if (page.has_scores)
            sim_reply_score(call->reply, entry->score);
    }
}

static void zscan(const struct call *call)
{
    struct sim_value *zset;
    if (!find(call, SIM_ZSET, &zset))
        return;
    sim_reply_array(call->reply, 2);
    sim_reply_text(call->reply, "0");
    scored_reply(call, zset, 0, zset == NULL ? 0 : zset->dict.count, true);
}

/* Whether the member of an entry is behind the bound: '[' and '(' before a text, '-' and '+'. */
static bool is_behind_lex(const struct sim_scored *entry, const struct sim_arg *bound, bool is_end)
{
    if (bound->len == 1 && (bound->data[0] == '-' || bound->data[0] == '+'))
        return bound->data[0] == '-';
    size_t len = bound->len - 1, own = entry->member->len;
    int order = memcmp(entry->member->data, bound->data + 1, own < len ? own : len);
    order = order != 0 ? order : (own > len) - (own < len);
    bool is_open = bound->data[0] == '(';
    return order > 0 || (order == 0 && is_open == is_end);
}

static bool is_lex_bound(const struct sim_arg *bound)
{
    return bound->len > 0 && (bound->data[0] == '[' || bound->data[0] == '(' ||
                              (bound->len == 1 && strchr("-+", bound->data[0]) != NULL));
}

/* First and count of the entries between the bounds args[2] and args[3], where all have one score.
 */
static bool lex_find(const struct call *call, struct sim_value **ret_zset, size_t *ret_first,
                     size_t *ret_count)
{
    *ret_first = *ret_count = 0;
    if (!is_lex_bound(&call->args[2]) || !is_lex_bound(&call->args[3])) {
        sim_reply_error(call->reply, "ERR min or max not valid string range item");
        return false;
    }
    if (!find(call, SIM_ZSET, ret_zset))
        return false;
    size_t count = *ret_zset != NULL ? (*ret_zset)->dict.count : 0, end = 0;
    while (*ret_first < count &&
           !is_behind_lex(&(*ret_zset)->sorted[*ret_first], &call->args[2], false))
        ++*ret_first;
    for (end = *ret_first;
         end < count && !is_behind_lex(&(*ret_zset)->sorted[end], &call->args[3], true);)
        end++;
    *ret_count = end - *ret_first;
    return true;
}

static void zrangebylex(const struct call *call)
{
    struct sim_value *zset;
    struct page page;
    size_t first, count;
    if (!page_read(call, &page) || !lex_find(call, &zset, &first, &count))
        return;
    if (page.skip < 0 || (size_t)page.skip > count)
        page.skip = (int64_t)count;
    first += (size_t)page.skip;
    count -= (size_t)page.skip;
    if (page.most >= 0 && (size_t)page.most < count)
        count = (size_t)page.most;
    scored_reply(call, zset, first, count, false);
}

static void zlexcount(const struct call *call)
{
    struct sim_value *zset;
    size_t first, count;
    if (lex_find(call, &zset, &first, &count))
        sim_reply_int(call->reply, (int64_t)count);
}

static void zcount(const struct call *call)
{
    struct sim_value *zset;
    size_t first, count;
    if (bounds_find(call, &zset, &first, &count))
        sim_reply_int(call->reply, (int64_t)count);
}

static void range_remove(const struct call *call, struct sim_value *zset, size_t first,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct sim_text *member = sim_text_hold(zset->sorted[first].member);
        sim_zset_remove(zset, member->data, member->len);
        sim_text_drop(member);
    }
    drop_if_empty(call, zset);
    sim_reply_int(call->reply, (int64_t)count);
}

static void zremrangebyrank(const struct call *call)
{
    struct sim_value *zset;
    int64_t start, stop;
    size_t first = 0, count = 0;
    if (!sim_arg_int(&call->args[2], &start) || !sim_arg_int(&call->args[3], &stop)) {
        not_integer(call);
        return;
    }
    if (!find(call, SIM_ZSET, &zset))
        return;
    if (zset != NULL)
        range_of(start, stop, zset->dict.count, &first, &count);
    range_remove(call, zset, first, count);
}

static void zremrangebyscore(const struct call *call)
{
    struct sim_value *zset;
    size_t first, count;
    if (bounds_find(call, &zset, &first, &count))
        range_remove(call, zset, first, count);
}

/* --- keys and the server ------------------------------------------------------------------- */

static void del(const struct call *call)
{
    int64_t gone = 0;
    for (size_t i = 1; i < call->count; i++)
        gone += sim_space_remove(&call->redis->space, call->args[i].data, call->args[i].len);
    sim_reply_int(call->reply, gone);
}

static void exists(const struct call *call)
{
    int64_t there = 0;
    for (size_t i = 1; i < call->count; i++)
        there += sim_space_find(&call->redis->space, call->args[i].data, call->args[i].len) != NULL;
    sim_reply_int(call->reply, there);
}

/* No key here has a time to live. */
static void persist(const struct call *call)
{
    sim_reply_int(call->reply, 0);
}

static void pttl(const struct call *call)
{
    bool is_there =
        sim_space_find(&call->redis->space, call->args[1].data, call->args[1].len) != NULL;
    sim_reply_int(call->reply, is_there ? -1 : -2);
}

static void type(const struct call *call)
{
    static const char *const names[] = {"hash", "list", "set", "zset", "string"};
    const struct sim_value *value =
        sim_space_find(&call->redis->space, call->args[1].data, call->args[1].len);
    sim_reply_status(call->reply, value == NULL ? "none" : names[value->kind]);
}

static void server_time(const struct call *call)
{
    char text[32];
    sim_reply_array(call->reply, 2);
    snprintf(text, sizeof text, "%lld", (long long)(call->redis->now_us / 1000000));
    sim_reply_text(call->reply, text);
    snprintf(text, sizeof text, "%lld", (long long)(call->redis->now_us % 1000000));
    sim_reply_text(call->reply, text);
}

static void info(const struct call *call)
{
    sim_reply_text(call->reply, "# Server\r\nredis_version:7.0.15\r\nrole:master\r\n"
                                "maxmemory:0\r\nmaxmemory_policy:noeviction\r\n"
                                "aof_enabled:1\r\nloading:0\r\n");
}

static void config(const struct call *call)
{
    sim_reply_array(call->reply, 0);
}

static void ok(const struct call *call)
{
    sim_reply_status(call->reply, "OK");
}

static void ping(const struct call *call)
{
    sim_reply_status(call->reply, "PONG");
}

static void eval(const struct call *call)
{
    sim_script_eval(call->redis, call->args, call->count, call->reply);
}

static void script(const struct call *call)
{
    sim_script_command(call->redis, call->args, call->count, call->reply);
}

/* --- the table ----------------------------------------------------------------------------- */

enum flags {
    WRITE = 1,
    DENY_OOM = 2, /* refused when memory is short */
    LOADING = 4,  /* answered while loading */
    OUTER = 8     /* not from scripts */
};

struct command {
    const char *name;
    void (*run)(const struct call *call);
    int arity; /* negative: at least */
    unsigned flags;
};

static const struct command commands[] = {
    {"HSET", hset, -4, WRITE | DENY_OOM},
    {"HGET", hget, 3, 0},
    {"HMGET", hmget, -3, 0},
    {"HDEL", hdel, -3, WRITE},
    {"HLEN", hlen, 2, 0},
    {"HEXISTS", hexists, 3, 0},
    {"HSTRLEN", hstrlen, 3, 0},
    {"HINCRBY", hincrby, 4, WRITE | DENY_OOM},
    {"HKEYS", hkeys, 2, 0},
    {"HGETALL", hgetall, 2, 0},
    {"HSCAN", hscan, -3, 0},
    {"LPUSH", lpush, -3, WRITE | DENY_OOM},
    {"RPUSH", rpush, -3, WRITE | DENY_OOM},
    {"LPOP", lpop, -2, WRITE},
    {"RPOP", rpop, -2, WRITE},
    {"LLEN", llen, 2, 0},
    {"LRANGE", lrange, 4, 0},
    {"LREM", lrem, 4, WRITE},
    {"LSET", lset, 4, WRITE | DENY_OOM},
    {"LPOS", lpos, -3, 0},
    {"BLPOP", blpop, -3, WRITE | OUTER},
    {"SADD", sadd, -3, WRITE | DENY_OOM},
    {"SREM", srem, -3, WRITE},
    {"SISMEMBER", sismember, 3, 0},
    {"SMISMEMBER", smismember, -3, 0},
    {"SCARD", scard, 2, 0},
    {"SMEMBERS", smembers, 2, 0},
    {"SSCAN", sscan, -3, 0},
    {"ZADD", zadd, -4, WRITE | DENY_OOM},
    {"ZREM", zrem, -3, WRITE},
    {"ZCARD", zcard, 2, 0},
    {"ZSCORE", zscore, 3, 0},
    {"ZRANGE", zrange, -4, 0},
    {"ZRANGEBYSCORE", zrangebyscore, -4, 0},
    {"ZREVRANGEBYSCORE", zrevrangebyscore, -4, 0},
    {"ZSCAN", zscan, -3, 0},
    {"ZCOUNT", zcount, 4, 0},
    {"ZRANGEBYLEX", zrangebylex, -4, 0},
    {"ZLEXCOUNT", zlexcount, 4, 0},
    {"ZREMRANGEBYRANK", zremrangebyrank, 4, WRITE},
    {"ZREMRANGEBYSCORE", zremrangebyscore, 4, WRITE},
    {"DEL", del, -2, WRITE},
    {"UNLINK", del, -2, WRITE},
    {"EXISTS", exists, -2, 0},
    {"TYPE", type, 2, 0},
    {"PERSIST", persist, 2, WRITE},
    {"PTTL", pttl, 2, 0},
    {"TIME", server_time, 1, 0},
    {"INFO", info, -1, LOADING | OUTER},
    {"CONFIG", config, -2, LOADING | OUTER},
    {"PING", ping, -1, 0},
    {"AUTH", ok, -2, LOADING | OUTER},
    {"SELECT", ok, 2, LOADING},
    {"CLIENT", ok, -2, LOADING | OUTER},
    {"EVAL", eval, -3, OUTER},
    {"EVALSHA", eval, -3, OUTER},
    {"SCRIPT", script, -2, OUTER},
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0], SLOTS = 256 };

/* A hash of the name's first and last letters and its length that has no collisions in this
 * table would be luck: a short chain of indexes instead. */
static const struct command *command_find(const struct sim_arg *name)
{
    static signed char first[SLOTS], next[COMMAND_COUNT];
    static bool is_ready;
    if (!is_ready) {
        memset(first, -1, sizeof first);
        for (int i = 0; i < COMMAND_COUNT; i++) {
            const char *text = commands[i].name;
            size_t len = strlen(text);
            unsigned slot = ((unsigned)(text[0] & 31) * 7 + (unsigned)(text[len - 1] & 31) * 31 +
                             (unsigned)len * 3) %
                            SLOTS;
            next[i] = first[slot];
            first[slot] = (signed char)i;
        }
        is_ready = true;
    }
    if (name->len == 0)
        return NULL;
    unsigned slot = ((unsigned)(name->data[0] & 31) * 7 +
                     (unsigned)(name->data[name->len - 1] & 31) * 31 + (unsigned)name->len * 3) %
                    SLOTS;
    for (int i = first[slot]; i >= 0; i = next[i]) {
        if (sim_arg_is(name, commands[i].name))
            return &commands[i];
    }
    return NULL;
}

static bool arity_fits(const struct command *command, size_t count)
{
    return command->arity < 0 ? count >= (size_t)-command->arity : count == (size_t)command->arity;
}

/* NULL when the mode lets the command pass. */
static const char *mode_refusal(const struct sim_redis *redis, const struct command *command)
{
    bool is_write = (command->flags & WRITE) != 0;
    switch (redis->mode) {
    case SIM_MODE_OK:
        return NULL;
    case SIM_MODE_LOADING:
        return (command->flags & LOADING) != 0 || redis->in_script
                   ? NULL
                   : "LOADING Redis is loading the dataset in memory";
    case SIM_MODE_BUSY:
        return redis->in_script ? NULL
                                : "BUSY Redis is busy running a script. You can only call SCRIPT "
                                  "KILL or SHUTDOWN NOSAVE.";
    case SIM_MODE_READONLY:
        return is_write ? "READONLY You can't write against a read only replica." : NULL;
    case SIM_MODE_MISCONF:
        return is_write ? "MISCONF Redis is configured to save RDB snapshots, but it's currently "
                          "unable to persist to disk."
                        : NULL;
    case SIM_MODE_OOM:
        return (command->flags & DENY_OOM) != 0 && !(redis->in_script && redis->has_written)
                   ? "OOM command not allowed when used memory > 'maxmemory'."
                   : NULL;
    }
    return NULL;
}

void sim_redis_run(struct sim_redis *redis, const struct sim_arg *args, size_t count,
                   struct sim_bytes *reply)
{
    char text[128];
    const struct command *command = command_find(&args[0]);
    redis->commands++;
    if (command == NULL) {
        snprintf(text, sizeof text, "ERR unknown command '%.*s'", (int)args[0].len, args[0].data);
        sim_reply_error(reply, text);
        return;
    }
    if (!arity_fits(command, count)) {
        snprintf(text, sizeof text, "ERR wrong number of arguments for '%.*s' command",
                 (int)args[0].len, args[0].data);
        sim_reply_error(reply, text);
        return;
    }
    if (redis->in_script && (command->flags & OUTER) != 0) {
        sim_reply_error(reply, "ERR This Redis command is not allowed from script");
        return;
    }
    const char *refusal = mode_refusal(redis, command);
    if (refusal != NULL) {
        sim_reply_error(reply, refusal);
        return;
    }
    if ((command->flags & WRITE) != 0)
        redis->has_written = true;
    struct call call = {redis, args, count, reply};
    command->run(&call);
}
