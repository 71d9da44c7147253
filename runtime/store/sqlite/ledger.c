#include "store/sqlite/ledger.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/needs.h"
#include "store/sqlite/error.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

struct culex_sqlite_ledger {
    struct culex_sqlite_limit **limits;
    size_t limit_count;
    struct culex_sqlite_counter **counters;
    size_t counter_count;
    size_t *places; /* of counters, by a hash of limit and key: 1 more than the index, 0 for none */
    size_t place_count;
    bool is_cutting; /* what is read from now on: culex__sqlite_ledger_cut */
    enum {
        NEEDS_UNKNOWN,
        NEEDS_NONE,
        NEEDS_THERE
    } needs; /* whether a limit of the queue is that */
};

/* --- memory --------------------------------------------------------------------------------- */

static struct culex_sqlite_ledger *ledger_of(struct culex_sqlite *store)
{
    if (store->ledger == NULL)
        store->ledger = calloc(1, sizeof *store->ledger);
    return store->ledger;
}

/* Room for one more in an array of pointers, which has room for a power of two. */
static bool room_make(void *array, size_t count)
{
    void **pointers;
    memcpy(&pointers, array, sizeof pointers);
    if ((count & (count - 1)) != 0)
        return true;
    pointers = realloc(pointers, (count == 0 ? 1 : 2 * count) * sizeof *pointers);
    if (pointers == NULL)
        return false;
    memcpy(array, &pointers, sizeof pointers);
    return true;
}

static size_t hash_of(const struct culex_sqlite_limit *limit, const char *key)
{
    uint64_t hash = (uint64_t)limit->number * UINT64_C(0x9e3779b97f4a7c15);
    for (; *key != '\0'; key++)
        hash = (hash ^ (unsigned char)*key) * UINT64_C(1099511628211);
    return (size_t)(hash ^ hash >> 32);
}

/* Where the counter stands, or would stand. */
static size_t *place_of(const struct culex_sqlite_ledger *ledger,
                        const struct culex_sqlite_limit *limit, const char *key)
{
    size_t at = hash_of(limit, key) & (ledger->place_count - 1);
    for (;; at = (at + 1) & (ledger->place_count - 1)) {
        const struct culex_sqlite_counter *counter =
            ledger->places[at] > 0 ? ledger->counters[ledger->places[at] - 1] : NULL;
        if (counter == NULL || (counter->limit == limit && strcmp(counter->key, key) == 0))
            return &ledger->places[at];
    }
}

/* At least half of the places are free. */
static bool places_widen(struct culex_sqlite_ledger *ledger)
{
    if (ledger->place_count > 2 * (ledger->counter_count + 1))
        return true;
    size_t wider = ledger->place_count == 0 ? 16 : 2 * ledger->place_count;
    size_t *places = calloc(wider, sizeof *places);
    if (places == NULL)
        return false;
    free(ledger->places);
    ledger->places = places;
    ledger->place_count = wider;
    for (size_t i = 0; i < ledger->counter_count; i++)
        *place_of(ledger, ledger->counters[i]->limit, ledger->counters[i]->key) = i + 1;
    return true;
}

void culex__sqlite_ledger_clear(struct culex_sqlite *store)
{
    struct culex_sqlite_ledger *ledger = store->ledger;
    if (ledger == NULL)
        return;
    for (size_t i = 0; i < ledger->limit_count; i++)
        free(ledger->limits[i]);
    for (size_t i = 0; i < ledger->counter_count; i++)
        free(ledger->counters[i]);
    free(ledger->limits);
    free(ledger->counters);
    free(ledger->places);
    *ledger = (struct culex_sqlite_ledger){.limits = NULL};
}

void culex__sqlite_ledger_free(struct culex_sqlite *store)
{
    culex__sqlite_ledger_clear(store);
    free(store->ledger);
    store->ledger = NULL;
}

/* --- limits --------------------------------------------------------------------------------- */

static culex_limit_value value_read(sqlite3_stmt *row, int column)
{
    return (culex_limit_value){(uint32_t)sqlite3_column_int64(row, column),
                               sqlite3_column_int64(row, column + 1),
                               (uint32_t)sqlite3_column_int64(row, column + 2)};
}

static bool value_is_good(const struct culex_sqlite_limit *limit, const culex_limit_value *value)
{
    return culex__limit_value_check(limit->name, limit->kind, value, NULL) == CULEX_OK;
}

/* Numbers that are damaged hold nobody up until the next run tells them, and stop no queue. */
static void damage_mend(struct culex_sqlite_limit *limit)
{
    if (!value_is_good(limit, &limit->declared)) {
        limit->kind = CULEX_LIMIT_CONCURRENCY;
        limit->declared = (culex_limit_value){.count = CULEX_LIMIT_COUNT_MAX};
        limit->set.count = 0;
        limit->is_damaged = true;
    } else if (limit->set.count != 0 && !value_is_good(limit, &limit->set)) {
        limit->set.count = 0;
        limit->is_damaged = true;
    }
}

static void limit_read(sqlite3_stmt *row, struct culex_sqlite_limit *limit)
{
    const char *swept = (const char *)sqlite3_column_text(row, 8);
    limit->number = sqlite3_column_int64(row, 0);
    limit->kind = (enum culex_limit_kind)sqlite3_column_int64(row, 1);
    limit->declared = value_read(row, 2);
    limit->set = value_read(row, 5);
    limit->is_swept = swept != NULL;
    snprintf(limit->swept, sizeof limit->swept, "%s", swept != NULL ? swept : "");
    limit->keys = sqlite3_column_int64(row, 9);
    limit->active = sqlite3_column_int64(row, 10);
    limit->parked = sqlite3_column_int64(row, 11);
    damage_mend(limit);
}

/* Put into the ledger; not there in the file: number 0. */
static culex_status limit_load(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               const char *name, struct culex_sqlite_limit **ret_limit,
                               culex_error *error)
{
    struct culex_sqlite_ledger *ledger = ledger_of(store);
    struct culex_sqlite_limit *limit = calloc(1, sizeof *limit);
    if (ledger == NULL || limit == NULL || !room_make(&ledger->limits, ledger->limit_count)) {
        free(limit);
        return culex__sqlite_no_memory(error);
    }
    snprintf(limit->name, sizeof limit->name, "%s", name);
    sqlite3_stmt *row = SQL_BIND(store, LIMIT_GET, SQL_INT(queue->key), SQL_TEXT(name));
    int has = culex__sqlite_next(store, row, error);
    if (has > 0)
        limit_read(row, limit);
    culex__sqlite_end(row);
    if (has < 0) {
        free(limit);
        return (culex_status)has;
    }
    ledger->limits[ledger->limit_count++] = *ret_limit = limit;
    return CULEX_OK;
}

static culex_status limit_find(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               const char *name, struct culex_sqlite_limit **ret_limit,
                               culex_error *error)
{
    const struct culex_sqlite_ledger *ledger = store->ledger;
    for (size_t i = 0; ledger != NULL && i < ledger->limit_count; i++) {
        if (strcmp(ledger->limits[i]->name, name) == 0) {
            *ret_limit = ledger->limits[i];
            return CULEX_OK;
        }
    }
    return limit_load(store, queue, name, ret_limit, error);
}

culex_status culex__sqlite_ledger_limit(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, const char *name,
                                        struct culex_sqlite_limit **ret_limit, culex_error *error)
{
    struct culex_sqlite_limit *limit = NULL;
    culex_status status = limit_find(store, queue, name, &limit, error);
    *ret_limit = limit != NULL && limit->number != 0 ? limit : NULL;
    return status;
}

int64_t culex__sqlite_limit_fill_ms(const struct culex_sqlite_limit *limit)
{
    const culex_limit_value *value = culex__sqlite_limit_value(limit);
    return limit->kind == CULEX_LIMIT_RATE ? culex__bucket_token_us(value) * value->burst / 1000 + 1
                                           : 0;
}

void culex__sqlite_ledger_sweep(struct culex_sqlite_queue *queue, struct culex_sqlite_limit *limit)
{
    int64_t full_ms = culex__sqlite_limit_fill_ms(limit);
    limit->is_changed = true;
    queue->is_changed = queue->is_changed || full_ms > queue->longest_fill_ms;
    queue->longest_fill_ms = full_ms > queue->longest_fill_ms ? full_ms : queue->longest_fill_ms;
    if (limit->parked == 0 && limit->keys == 0)
        return;
    limit->is_swept = true;
    limit->swept[0] = '\0';
    queue->is_changed = queue->is_changed || queue->sweeps == 0;
    queue->sweeps = 1;
    queue->has_new_work = true;
}

culex_status culex__sqlite_ledger_tell(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       const struct culex_run_limit *told,
                                       struct culex_sqlite_limit **ret_limit, culex_error *error)
{
    const culex_limit_value value = {told->count, told->per_ms, told->burst};
    struct culex_sqlite_limit *limit = NULL;
    culex_status status = limit_find(store, queue, told->name, &limit, error);
    *ret_limit = limit;
    if (limit == NULL || (limit->number != 0 && limit->kind == told->kind &&
                          culex__limit_value_is_same(&limit->declared, &value)))
        return status;
    if (limit->number != 0 && limit->kind != told->kind)
        limit->set = (culex_limit_value){.count = 0};
    bool is_new = limit->number == 0;
    limit->kind = told->kind;
    limit->declared = value;
    if (is_new) {
        status = culex__sqlite_finish(
            store, SQL_BIND(store, LIMIT_ADD, SQL_INT(queue->key), SQL_TEXT(limit->name)), error);
        limit->number = sqlite3_last_insert_rowid(store->db);
        queue->limits++;
        queue->is_changed = true;
    }
    culex__sqlite_ledger_sweep(queue, limit);
    return status;
}

static struct culex_sqlite_value swept_value(const struct culex_sqlite_limit *limit)
{
    return SQL_TEXT(limit->is_swept ? limit->swept : NULL);
}

static culex_status limit_save(struct culex_sqlite *store, struct culex_sqlite_limit *limit,
                               culex_error *error)
{
    const culex_limit_value *declared = &limit->declared, *set = &limit->set;
    limit->is_changed = false;
    return culex__sqlite_finish(
        store,
        SQL_BIND(store, LIMIT_SAVE, SQL_INT(limit->number), SQL_INT(limit->kind),
                 SQL_INT(declared->count), SQL_INT(declared->per_ms), SQL_INT(declared->burst),
                 SQL_INT(set->count), SQL_INT(set->per_ms), SQL_INT(set->burst), swept_value(limit),
                 SQL_INT(limit->keys), SQL_INT(limit->active), SQL_INT(limit->parked)),
        error);
}

/* --- keys ----------------------------------------------------------------------------------- */

static void saved_note(struct culex_sqlite_counter *counter)
{
    counter->saved.active = counter->active;
    counter->saved.standing = counter->standing;
    counter->saved.parked = counter->parked;
    counter->saved.held = counter->held;
    counter->is_turned = false;
    counter->saved.tat_us = counter->tat_us;
    counter->saved.look_ms = counter->look_ms;
}

/* A bucket is never further from being full than an empty one. */
static void bucket_cut(const struct culex_sqlite *store, struct culex_sqlite_counter *counter)
{
    const struct culex_sqlite_limit *limit = counter->limit;
    if (limit->kind == CULEX_LIMIT_RATE && counter->tat_us > store->now_ms * 1000)
        counter->tat_us =
            culex__bucket_cut(culex__sqlite_limit_value(limit), counter->tat_us, store->now_ms);
}

culex_status culex__sqlite_ledger_cut(struct culex_sqlite *store, culex_error *error)
{
    struct culex_sqlite_ledger *ledger = ledger_of(store);
    if (ledger == NULL)
        return culex__sqlite_no_memory(error);
    ledger->is_cutting = true;
    for (size_t i = 0; i < ledger->counter_count; i++)
        bucket_cut(store, ledger->counters[i]);
    return CULEX_OK;
}

static void turn_read(sqlite3_stmt *row, struct culex_sqlite_counter *counter)
{
    const char *turn = (const char *)sqlite3_column_text(row, 7);
    counter->has_turn = turn != NULL;
    snprintf(counter->turn, sizeof counter->turn, "%s", turn != NULL ? turn : "");
    counter->turn_ms = sqlite3_column_int64(row, 8);
}

static culex_status counter_read(struct culex_sqlite *store, struct culex_sqlite_counter *counter,
                                 culex_error *error)
{
    sqlite3_stmt *row =
        SQL_BIND(store, COUNTER_GET, SQL_INT(counter->limit->number), SQL_TEXT(counter->key));
    int has = culex__sqlite_next(store, row, error);
    counter->look_ms = INT64_MAX;
    if (has > 0) {
        counter->number = sqlite3_column_int64(row, 0);
        counter->active = sqlite3_column_int64(row, 1);
        counter->standing = sqlite3_column_int64(row, 2);
        counter->parked = sqlite3_column_int64(row, 3);
        counter->tat_us = sqlite3_column_int64(row, 4);
        if (sqlite3_column_type(row, 5) != SQLITE_NULL)
            counter->look_ms = sqlite3_column_int64(row, 5);
        counter->held = sqlite3_column_int64(row, 6);
        turn_read(row, counter);
    }
    culex__sqlite_end(row);
    /* A look that nobody has had time for is still wanted; a rate's is found anew. */
    bool is_due = counter->limit->kind == CULEX_LIMIT_RATE ? counter->look_ms <= store->now_ms
                                                           : counter->look_ms != INT64_MAX;
    counter->is_freed = is_due && counter->parked > 0;
    saved_note(counter);
    if (store->ledger->is_cutting)
        bucket_cut(store, counter);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

static culex_status counter_add(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                struct culex_sqlite_counter *counter, culex_error *error)
{
    culex_status status =
        culex__sqlite_finish(store,
                             SQL_BIND(store, COUNTER_ADD, SQL_INT(counter->limit->number),
                                      SQL_INT(queue->key), SQL_TEXT(counter->key)),
                             error);
    counter->number = sqlite3_last_insert_rowid(store->db);
    counter->limit->keys += counter->whole == counter;
    counter->limit->is_changed = true;
    return status;
}

culex_status culex__sqlite_ledger_number(struct culex_sqlite *store,
                                         const struct culex_sqlite_queue *queue,
                                         struct culex_sqlite_counter *counter, int64_t *ret_number,
                                         culex_error *error)
{
    culex_status status =
        counter->number == 0 ? counter_add(store, queue, counter, error) : CULEX_OK;
    *ret_number = counter->number;
    return status;
}

static culex_status counter_load(struct culex_sqlite *store, struct culex_sqlite_limit *limit,
                                 const char *key, struct culex_sqlite_counter **ret_counter,
                                 culex_error *error)
{
    struct culex_sqlite_ledger *ledger = ledger_of(store);
    struct culex_sqlite_counter *counter = calloc(1, sizeof *counter);
    if (ledger == NULL || counter == NULL || !places_widen(ledger) ||
        !room_make(&ledger->counters, ledger->counter_count)) {
        free(counter);
        return culex__sqlite_no_memory(error);
    }
    counter->limit = limit;
    counter->whole = counter;
    snprintf(counter->key, sizeof counter->key, "%s", key);
    *place_of(ledger, limit, key) = ledger->counter_count + 1;
    ledger->counters[ledger->counter_count++] = *ret_counter = counter;
    return counter_read(store, counter, error);
}

static culex_status counter_find(struct culex_sqlite *store, struct culex_sqlite_limit *limit,
                                 const char *key, struct culex_sqlite_counter **ret_counter,
                                 culex_error *error)
{
    const struct culex_sqlite_ledger *ledger = store->ledger;
    size_t index = ledger->place_count > 0 ? *place_of(ledger, limit, key) : 0;
    if (index == 0)
        return counter_load(store, limit, key, ret_counter, error);
    *ret_counter = ledger->counters[index - 1];
    return CULEX_OK;
}

culex_status culex__sqlite_ledger_counter(struct culex_sqlite *store,
                                          struct culex_sqlite_limit *limit, const char *key,
                                          struct culex_sqlite_counter **ret_counter,
                                          culex_error *error)
{
    char whole[CULEX__SQLITE_KEY_SIZE];
    size_t len = strcspn(key, (const char[]){CULEX__SQLITE_PART, '\0'});
    culex_status status = counter_find(store, limit, key, ret_counter, error);
    if (status != CULEX_OK || key[len] == '\0')
        return status;
    snprintf(whole, sizeof whole, "%.*s", (int)len, key);
    return counter_find(store, limit, whole, &(*ret_counter)->whole, error);
}

culex_status culex__sqlite_ledger_part(struct culex_sqlite *store, struct culex_sqlite_limit *limit,
                                       const char *key, const char *needs,
                                       struct culex_sqlite_counter **ret_counter,
                                       culex_error *error)
{
    char part[CULEX__SQLITE_KEY_SIZE];
    if (needs[0] == '\0')
        return culex__sqlite_ledger_counter(store, limit, key, ret_counter, error);
    snprintf(part, sizeof part, "%s%c%s", key, CULEX__SQLITE_PART, needs);
    return culex__sqlite_ledger_counter(store, limit, part, ret_counter, error);
}

culex_status culex__sqlite_ledger_numbered(struct culex_sqlite *store,
                                           const struct culex_sqlite_queue *queue, int64_t number,
                                           struct culex_sqlite_counter **ret_counter,
                                           culex_error *error)
{
    char name[CULEX_LIMIT_NAME_MAX + 1] = "", key[CULEX__SQLITE_KEY_SIZE] = "";
    struct culex_sqlite_limit *limit = NULL;
    *ret_counter = NULL;
    sqlite3_stmt *row = SQL_BIND(store, COUNTER_NAMES, SQL_INT(number), SQL_INT(queue->key));
    int has = culex__sqlite_next(store, row, error);
    if (has > 0) {
        snprintf(name, sizeof name, "%s", (const char *)sqlite3_column_text(row, 0));
        snprintf(key, sizeof key, "%s", (const char *)sqlite3_column_text(row, 1));
    }
    culex__sqlite_end(row);
    if (has <= 0)
        return has < 0 ? (culex_status)has : CULEX_OK;
    culex_status status = culex__sqlite_ledger_limit(store, queue, name, &limit, error);
    return status == CULEX_OK && limit != NULL
               ? culex__sqlite_ledger_counter(store, limit, key, ret_counter, error)
               : status;
}

/* --- writing back --------------------------------------------------------------------------- */

/* From now until the next token comes, be there others or not: those may be wanted by runs that
 * stand in the ready order. 0: none comes, the bucket is full. */
static int64_t token_in_ms(const struct culex_sqlite *store,
                           const struct culex_sqlite_counter *counter)
{
    const culex_limit_value *value = culex__sqlite_limit_value(counter->limit);
    int64_t tat_us = counter->whole->tat_us;
    uint32_t tokens = culex__bucket_tokens(value, tat_us, store->now_ms);
    return tokens < value->burst ? culex__bucket_wait_ms(value, tat_us, store->now_ms, tokens + 1)
                                 : 0;
}

/* When it is to be looked at: at once, for somebody who may have room, by whatever clock; when a
 * token comes that somebody waits for; when the bucket is full, to forget it. */
static int64_t look_at(const struct culex_sqlite *store, const struct culex_sqlite_counter *counter)
{
    const struct culex_sqlite_limit *limit = counter->limit;
    int64_t now_ms = store->now_ms, wait_ms = 0;
    if (limit->kind == CULEX_LIMIT_NEEDS)
        return INT64_MAX;
    if (counter->parked > 0 && counter->is_freed)
        return 0;
    if (limit->kind == CULEX_LIMIT_RATE && counter->parked > 0)
        wait_ms = token_in_ms(store, counter);
    if (counter->parked > 0)
        return wait_ms > 0 ? now_ms + wait_ms : INT64_MAX;
    if (limit->kind != CULEX_LIMIT_RATE || counter->tat_us <= now_ms * 1000)
        return INT64_MAX;
    wait_ms = (counter->tat_us - now_ms * 1000 + 999) / 1000;
    return now_ms + (wait_ms > CULEX_FORGET_GAP_MS ? wait_ms : CULEX_FORGET_GAP_MS);
}

static bool is_over(const struct culex_sqlite *store, const struct culex_sqlite_counter *counter)
{
    bool is_full =
        counter->limit->kind != CULEX_LIMIT_RATE || counter->tat_us <= store->now_ms * 1000;
    return counter->active + counter->standing + counter->parked + counter->held == 0 && is_full &&
           !counter->is_wanted;
}

static bool is_same(const struct culex_sqlite_counter *counter)
{
    return counter->active == counter->saved.active &&
           counter->standing == counter->saved.standing &&
           counter->parked == counter->saved.parked && counter->held == counter->saved.held &&
           counter->tat_us == counter->saved.tat_us && counter->look_ms == counter->saved.look_ms &&
           !counter->is_turned;
}

static culex_status counter_drop(struct culex_sqlite *store, struct culex_sqlite_counter *counter,
                                 culex_error *error)
{
    int64_t number = counter->number;
    counter->number = 0;
    counter->has_turn = false;
    counter->tat_us = 0;
    counter->look_ms = INT64_MAX;
    saved_note(counter);
    counter->limit->keys -= counter->whole == counter;
    counter->limit->is_changed = true;
    return culex__sqlite_finish(store, SQL_BIND(store, COUNTER_DROP, SQL_INT(number)), error);
}

/* Runs that need this have come, or are left behind by one that was claimed. */
static void needs_ring(struct culex_sqlite *store, struct culex_sqlite_counter *counter)
{
    bool is_news = counter->is_rung || counter->parked > counter->saved.parked;
    counter->is_rung = false;
    if (counter->limit->kind == CULEX_LIMIT_NEEDS && counter->parked > 0 && is_news)
        culex__sqlite_bells_ring(&store->wake.bells, culex__needs_of_limit(counter->limit->name));
}

static culex_status counter_save(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                 struct culex_sqlite_counter *counter, culex_error *error)
{
    struct culex_sqlite_limit *limit = counter->limit;
    bool is_void = is_over(store, counter);
    culex_status status = CULEX_OK;
    int64_t number;
    if (counter->number == 0 && is_void)
        return CULEX_OK;
    if (counter->number == 0)
        status = culex__sqlite_ledger_number(store, queue, counter, &number, error);
    if (status != CULEX_OK)
        return status;
    counter->whole->is_wanted =
        counter->whole->is_wanted || (counter->whole != counter && !is_void);
    int64_t parked = counter->parked + counter->held - counter->saved.parked - counter->saved.held;
    bool is_moved = counter->active != counter->saved.active || parked != 0;
    limit->active += counter->active - counter->saved.active;
    limit->parked += parked;
    limit->is_changed = limit->is_changed || is_moved;
    needs_ring(store, counter);
    if (is_void)
        return counter_drop(store, counter, error);
    counter->look_ms = look_at(store, counter);
    counter->is_turned = counter->is_turned || (counter->has_turn && counter->parked == 0);
    counter->has_turn = counter->has_turn && counter->parked > 0;
    /* Who sleeps knows of no look that early. */
    queue->has_new_work = queue->has_new_work || counter->look_ms <= store->now_ms ||
                          (counter->parked > 0 && counter->look_ms < counter->saved.look_ms);
    if (is_same(counter))
        return CULEX_OK;
    saved_note(counter);
    const struct culex_sqlite_value look =
        counter->look_ms == INT64_MAX ? SQL_TEXT(NULL) : SQL_INT(counter->look_ms);
    return culex__sqlite_finish(
        store,
        SQL_BIND(store, COUNTER_SAVE, SQL_INT(counter->number), SQL_INT(counter->active),
                 SQL_INT(counter->standing), SQL_INT(counter->parked), SQL_INT(counter->tat_us),
                 look, SQL_INT(counter->held), SQL_TEXT(counter->has_turn ? counter->turn : NULL),
                 SQL_INT(counter->turn_ms)),
        error);
}

/* --- parts of a key -------------------------------------------------------------------------- */

/* Whether a run of the queue ever needed something: keys have parts only there. */
static culex_status needs_ask(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                              bool *ret_are_there, culex_error *error)
{
    struct culex_sqlite_ledger *ledger = store->ledger;
    int64_t is_there = 0;
    culex_status status = CULEX_OK;
    if (ledger->needs == NEEDS_UNKNOWN) {
        status = culex__sqlite_first_int(store, SQL_BIND(store, NEEDS_ANY, SQL_INT(queue->key)), 0,
                                         &is_there, error);
        ledger->needs = is_there != 0 ? NEEDS_THERE : NEEDS_NONE;
    }
    *ret_are_there = ledger->needs == NEEDS_THERE;
    return status;
}

/* A slot is free for whoever is parked in one of the parts. */
static culex_status slot_spread(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                const struct culex_sqlite_counter *whole, culex_error *error)
{
    int64_t numbers[CULEX_NEEDS_LOOK_MAX];
    size_t count = 0;
    culex_status status =
        culex__sqlite_collect(store,
                              SQL_BIND(store, PARTS_PARKED, SQL_INT(whole->limit->number),
                                       SQL_TEXT(whole->key), SQL_INT(CULEX_NEEDS_LOOK_MAX)),
                              CULEX_NEEDS_LOOK_MAX, numbers, &count, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++) {
        struct culex_sqlite_counter *part;
        status = culex__sqlite_ledger_numbered(store, queue, numbers[i], &part, error);
        if (status == CULEX_OK && part != NULL)
            part->is_freed = true;
    }
    return status;
}

/* Parts that are in memory already: where the first run was parked in this transaction, the row
 * does not say so yet. */
static void parts_tell_known(const struct culex_sqlite_ledger *ledger)
{
    for (size_t i = 0; i < ledger->counter_count; i++) {
        struct culex_sqlite_counter *part = ledger->counters[i];
        if (part->whole != part && part->whole->is_spread && part->parked > 0)
            part->is_freed = true;
    }
}

static culex_status parts_tell(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               culex_error *error)
{
    const struct culex_sqlite_ledger *ledger = store->ledger;
    culex_status status = CULEX_OK;
    parts_tell_known(ledger);
    for (size_t i = 0; i < ledger->counter_count && status == CULEX_OK; i++) {
        struct culex_sqlite_counter *counter = ledger->counters[i];
        bool has_parts = false;
        if (!counter->is_spread)
            continue;
        counter->is_spread = false;
        status = needs_ask(store, queue, &has_parts, error);
        if (status == CULEX_OK && has_parts)
            status = slot_spread(store, queue, counter, error);
    }
    return status;
}

/* A key of which nothing else is left keeps its row for as long as a part has one. */
static culex_status whole_look(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               struct culex_sqlite_counter *whole, culex_error *error)
{
    bool has_parts = false;
    int64_t is_there = 0;
    if (whole->number == 0 || whole->is_wanted || !is_over(store, whole) ||
        whole->limit->kind == CULEX_LIMIT_NEEDS)
        return CULEX_OK;
    culex_status status = needs_ask(store, queue, &has_parts, error);
    if (status == CULEX_OK && has_parts)
        status = culex__sqlite_first_int(
            store, SQL_BIND(store, PARTS_ANY, SQL_INT(whole->limit->number), SQL_TEXT(whole->key)),
            0, &is_there, error);
    whole->is_wanted = is_there != 0;
    return status;
}

/* The parts first, which tell whether the key is wanted. */
static culex_status counters_save(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                  culex_error *error)
{
    const struct culex_sqlite_ledger *ledger = store->ledger;
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < ledger->counter_count; i++)
        ledger->counters[i]->is_wanted = false;
    for (size_t i = 0; i < ledger->counter_count && status == CULEX_OK; i++) {
        if (ledger->counters[i]->whole != ledger->counters[i])
            status = counter_save(store, queue, ledger->counters[i], error);
    }
    for (size_t i = 0; i < ledger->counter_count && status == CULEX_OK; i++) {
        if (ledger->counters[i]->whole != ledger->counters[i])
            continue;
        status = whole_look(store, queue, ledger->counters[i], error);
        if (status == CULEX_OK)
            status = counter_save(store, queue, ledger->counters[i], error);
    }
    return status;
}

culex_status culex__sqlite_ledger_save(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       culex_error *error)
{
    const struct culex_sqlite_ledger *ledger = store->ledger;
    culex_status status = ledger != NULL ? parts_tell(store, queue, error) : CULEX_OK;
    if (status == CULEX_OK && ledger != NULL)
        status = counters_save(store, queue, error);
    for (size_t i = 0; ledger != NULL && i < ledger->limit_count && status == CULEX_OK; i++) {
        if (ledger->limits[i]->is_changed)
            status = limit_save(store, ledger->limits[i], error);
    }
    return status;
}
