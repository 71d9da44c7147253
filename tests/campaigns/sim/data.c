#include "data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *need(void *memory)
{
    if (memory == NULL) {
        fputs("sim: out of memory\n", stderr);
        abort();
    }
    return memory;
}

/* --- texts --------------------------------------------------------------------------------- */

/* FNV-1a */
static uint32_t hash_of(const void *data, size_t len)
{
    const unsigned char *at = data;
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ at[i]) * 16777619u;
    return hash;
}

static struct sim_text *text_make(const void *data, size_t len, uint32_t hash)
{
    struct sim_text *text = need(malloc(sizeof *text + len + 1));
    text->holders = 1;
    text->hash = hash;
    text->len = len;
    if (len > 0)
        memcpy(text->data, data, len);
    text->data[len] = '\0';
    return text;
}

struct sim_text *sim_text_make(const void *data, size_t len)
{
    return text_make(data, len, 0);
}

struct sim_text *sim_text_hold(struct sim_text *text)
{
    text->holders++;
    return text;
}

void sim_text_drop(struct sim_text *text)
{
    if (text != NULL && --text->holders == 0)
        free(text);
}

bool sim_text_is(const struct sim_text *text, const void *data, size_t len)
{
    return text->len == len && memcmp(text->data, data, len) == 0;
}

/* --- dict: linear probing, backward shift on removal ----------------------------------------- */

static struct sim_entry *probe(const struct sim_dict *dict, const void *key, size_t len,
                               uint32_t hash)
{
    size_t mask = dict->cap - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct sim_entry *entry = &dict->entries[i];
        if (entry->key == NULL || (entry->key->hash == hash && sim_text_is(entry->key, key, len)))
            return entry;
    }
}

struct sim_entry *sim_dict_find(const struct sim_dict *dict, const void *key, size_t len)
{
    if (dict->count == 0)
        return NULL;
    struct sim_entry *entry = probe(dict, key, len, hash_of(key, len));
    return entry->key != NULL ? entry : NULL;
}

static void dict_grow(struct sim_dict *dict)
{
    struct sim_dict grown = {.cap = dict->cap == 0 ? 8 : dict->cap * 2, .count = dict->count};
    grown.entries = need(calloc(grown.cap, sizeof *grown.entries));
    for (size_t i = 0; i < dict->cap; i++) {
        const struct sim_entry *entry = &dict->entries[i];
        if (entry->key != NULL)
            *probe(&grown, entry->key->data, entry->key->len, entry->key->hash) = *entry;
    }
    free(dict->entries);
    *dict = grown;
}

struct sim_entry *sim_dict_put(struct sim_dict *dict, const void *key, size_t len, bool *ret_is_new)
{
    uint32_t hash = hash_of(key, len);
    if ((dict->count + 1) * 2 > dict->cap)
        dict_grow(dict);
    struct sim_entry *entry = probe(dict, key, len, hash);
    *ret_is_new = entry->key == NULL;
    if (*ret_is_new) {
        entry->key = text_make(key, len, hash);
        memset(&entry->slot, 0, sizeof entry->slot);
        dict->count++;
    }
    return entry;
}

void sim_dict_remove(struct sim_dict *dict, struct sim_entry *entry)
{
    size_t mask = dict->cap - 1, hole = (size_t)(entry - dict->entries);
    sim_text_drop(entry->key);
    for (size_t i = (hole + 1) & mask; dict->entries[i].key != NULL; i = (i + 1) & mask) {
        size_t home = dict->entries[i].key->hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            dict->entries[hole] = dict->entries[i];
            hole = i;
        }
    }
    dict->entries[hole].key = NULL;
    dict->count--;
}

/* --- values -------------------------------------------------------------------------------- */

struct sim_value *sim_value_make(enum sim_kind kind)
{
    struct sim_value *value = need(calloc(1, sizeof *value));
    value->kind = kind;
    return value;
}

void sim_value_free(struct sim_value *value)
{
    for (size_t i = 0; i < value->dict.cap; i++) {
        struct sim_entry *entry = &value->dict.entries[i];
        if (entry->key != NULL && value->kind == SIM_HASH)
            sim_text_drop(entry->slot.text);
        sim_text_drop(entry->key);
    }
    for (size_t i = 0; i < value->count; i++)
        sim_text_drop(value->items[value->first + i]);
    free(value->dict.entries);
    free(value->sorted);
    free(value->items);
    free(value);
}

static void dict_copy(const struct sim_dict *dict, bool has_texts, struct sim_dict *ret_copy)
{
    *ret_copy = *dict;
    if (dict->cap == 0)
        return;
    ret_copy->entries = need(malloc(dict->cap * sizeof *dict->entries));
    memcpy(ret_copy->entries, dict->entries, dict->cap * sizeof *dict->entries);
    for (size_t i = 0; i < dict->cap; i++) {
        if (dict->entries[i].key == NULL)
            continue;
        sim_text_hold(dict->entries[i].key);
        if (has_texts)
            sim_text_hold(dict->entries[i].slot.text);
    }
}

struct sim_value *sim_value_copy(const struct sim_value *value)
{
    struct sim_value *copy = sim_value_make(value->kind);
    dict_copy(&value->dict, value->kind == SIM_HASH, &copy->dict);
    if (value->kind == SIM_ZSET) {
        copy->sorted_cap = value->dict.count;
        copy->sorted = need(malloc((value->dict.count + 1) * sizeof *copy->sorted));
        memcpy(copy->sorted, value->sorted, value->dict.count * sizeof *copy->sorted);
    }
    for (size_t i = 0; i < value->count; i++)
        sim_list_push(copy, sim_text_hold(value->items[value->first + i]), false);
    return copy;
}

size_t sim_value_size(const struct sim_value *value)
{
    return value->kind == SIM_LIST || value->kind == SIM_STRING ? value->count : value->dict.count;
}

/* --- sorted sets --------------------------------------------------------------------------- */

/* As Redis orders: by score, then by the member's bytes. */
static int scored_compare(const struct sim_scored *entry, double score, const void *member,
                          size_t len)
{
    if (entry->score != score)
        return entry->score < score ? -1 : 1;
    size_t shorter = entry->member->len < len ? entry->member->len : len;
    int order = memcmp(entry->member->data, member, shorter);
    return order != 0 ? order : entry->member->len < len ? -1 : entry->member->len > len;
}

static size_t sorted_place(const struct sim_value *zset, size_t count, double score,
                           const void *member, size_t len)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (scored_compare(&zset->sorted[middle], score, member, len) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void sorted_take(struct sim_value *zset, size_t count, const struct sim_entry *entry)
{
    size_t place = sorted_place(zset, count, entry->slot.score, entry->key->data, entry->key->len);
    memmove(&zset->sorted[place], &zset->sorted[place + 1],
            (count - place - 1) * sizeof *zset->sorted);
}

bool sim_zset_put(struct sim_value *zset, const void *member, size_t len, double score)
{
    bool is_new;
    struct sim_entry *entry = sim_dict_put(&zset->dict, member, len, &is_new);
    size_t count = zset->dict.count - 1; /* of the others */
    if (!is_new && entry->slot.score == score)
        return false;
    if (!is_new)
        sorted_take(zset, count + 1, entry);
    if (zset->sorted_cap < count + 1) {
        zset->sorted_cap = 2 * (count + 4);
        zset->sorted = need(realloc(zset->sorted, zset->sorted_cap * sizeof *zset->sorted));
    }
    size_t place = sorted_place(zset, count, score, member, len);
    memmove(&zset->sorted[place + 1], &zset->sorted[place], (count - place) * sizeof *zset->sorted);
    zset->sorted[place] = (struct sim_scored){score, entry->key};
    entry->slot.score = score;
    return is_new;
}

bool sim_zset_remove(struct sim_value *zset, const void *member, size_t len)
{
    struct sim_entry *entry = sim_dict_find(&zset->dict, member, len);
    if (entry == NULL)
        return false;
    sorted_take(zset, zset->dict.count, entry);
    sim_dict_remove(&zset->dict, entry);
    return true;
}

size_t sim_zset_rank(const struct sim_value *zset, double score, bool is_above)
{
    size_t low = 0, high = zset->dict.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        double at = zset->sorted[middle].score;
        if (at < score || (is_above && at == score))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- lists --------------------------------------------------------------------------------- */

static void list_make_room(struct sim_value *list)
{
    size_t cap = 2 * list->count + 16, first = cap / 4;
    struct sim_text **items = need(malloc(cap * sizeof *items));
    if (list->count > 0)
        memcpy(items + first, list->items + list->first, list->count * sizeof *items);
    free(list->items);
    list->items = items;
    list->items_cap = cap;
    list->first = first;
}

void sim_list_push(struct sim_value *list, struct sim_text *text, bool is_left)
{
    if (is_left ? list->first == 0 : list->first + list->count == list->items_cap)
        list_make_room(list);
    if (is_left)
        list->items[--list->first] = text;
    else
        list->items[list->first + list->count] = text;
    list->count++;
}

struct sim_text *sim_list_pop(struct sim_value *list, bool is_left)
{
    if (list->count == 0)
        return NULL;
    list->count--;
    return is_left ? list->items[list->first++] : list->items[list->first + list->count];
}

/* --- the key space ------------------------------------------------------------------------- */

struct sim_value *sim_space_find(const struct sim_dict *space, const void *key, size_t len)
{
    const struct sim_entry *entry = sim_dict_find(space, key, len);
    return entry != NULL ? entry->slot.value : NULL;
}

bool sim_space_remove(struct sim_dict *space, const void *key, size_t len)
{
    struct sim_entry *entry = sim_dict_find(space, key, len);
    if (entry == NULL)
        return false;
    sim_value_free(entry->slot.value);
    sim_dict_remove(space, entry);
    return true;
}

void sim_space_clear(struct sim_dict *space)
{
    for (size_t i = 0; i < space->cap; i++) {
        if (space->entries[i].key == NULL)
            continue;
        sim_value_free(space->entries[i].slot.value);
        sim_text_drop(space->entries[i].key);
    }
    free(space->entries);
    *space = (struct sim_dict){0};
}

void sim_space_copy(const struct sim_dict *space, struct sim_dict *ret_copy)
{
    dict_copy(space, false, ret_copy);
    for (size_t i = 0; i < space->cap; i++) {
        if (space->entries[i].key != NULL)
            ret_copy->entries[i].slot.value = sim_value_copy(space->entries[i].slot.value);
    }
}
