#include "store/sqlite/parking.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "store/sqlite/error.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

/* --- the keys of a run ---------------------------------------------------------------------- */

static const char *key_of(const struct culex_run_limit *limit)
{
    return limit->key != NULL ? limit->key : "";
}

culex_status culex__sqlite_keys_tell(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                     const struct culex_new_run *run,
                                     char ret_text[CULEX__SQLITE_LIMITS_SIZE],
                                     struct culex_sqlite_keys *ret_keys, culex_error *error)
{
    culex_status status = CULEX_OK;
    size_t len = 0;
    ret_keys->count = 0;
    ret_text[0] = '\0';
    assert(run->limit_count <= CULEX_RUN_LIMITS_MAX); /* culex__argument_enqueue */
    for (size_t i = 0; i < run->limit_count && status == CULEX_OK; i++) {
        const struct culex_run_limit *told = &run->limits[i];
        struct culex_sqlite_limit *limit;
        len += (size_t)snprintf(ret_text + len, CULEX__SQLITE_LIMITS_SIZE - len, "%s%s=%s",
                                i > 0 ? ";" : "", told->name, key_of(told));
        assert(len < CULEX__SQLITE_LIMITS_SIZE);
        status = culex__sqlite_ledger_tell(store, queue, told, &limit, error);
        if (status == CULEX_OK)
            status = culex__sqlite_ledger_counter(store, queue, limit, key_of(told),
                                                  &ret_keys->counters[ret_keys->count++], error);
    }
    return status;
}

/* Takes "NAME=KEY" from the front of *text; false at its end, or for anything else. */
static bool pair_take(const char **text, char ret_name[CULEX_LIMIT_NAME_MAX + 1],
                      char ret_key[CULEX_LIMIT_KEY_MAX + 1])
{
    size_t name_len = strcspn(*text, "=;");
    if ((*text)[name_len] != '=' || name_len == 0 || name_len > CULEX_LIMIT_NAME_MAX)
        return false;
    memcpy(ret_name, *text, name_len);
    ret_name[name_len] = '\0';
    *text += name_len + 1;
    size_t key_len = strcspn(*text, "=;");
    if ((*text)[key_len] == '=' || key_len > CULEX_LIMIT_KEY_MAX)
        return false;
    memcpy(ret_key, *text, key_len);
    ret_key[key_len] = '\0';
    *text += key_len + ((*text)[key_len] == ';');
    return true;
}

culex_status culex__sqlite_keys_read(struct culex_sqlite *store,
                                     const struct culex_sqlite_queue *queue, const char *text,
                                     struct culex_sqlite_keys *ret_keys, culex_error *error)
{
    char name[CULEX_LIMIT_NAME_MAX + 1], key[CULEX_LIMIT_KEY_MAX + 1];
    culex_status status = CULEX_OK;
    ret_keys->count = 0;
    while (status == CULEX_OK && text != NULL && ret_keys->count < CULEX_RUN_LIMITS_MAX &&
           pair_take(&text, name, key)) {
        struct culex_sqlite_limit *limit;
        status = culex__sqlite_ledger_limit(store, queue, name, &limit, error);
        if (status == CULEX_OK && limit != NULL)
            status = culex__sqlite_ledger_counter(store, queue, limit, key,
                                                  &ret_keys->counters[ret_keys->count++], error);
    }
    return status;
}

/* Of the row `seq`. */
static culex_status keys_of_row(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                int64_t seq, struct culex_sqlite_keys *ret_keys, culex_error *error)
{
    char text[CULEX__SQLITE_LIMITS_SIZE] = "";
    sqlite3_stmt *row = SQL_BIND(store, RUN_LIMITS, SQL_INT(seq));
    int has = culex__sqlite_next(store, row, error);
    const char *limits = has > 0 ? (const char *)sqlite3_column_text(row, 0) : NULL;
    snprintf(text, sizeof text, "%s", limits != NULL ? limits : "");
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has
                   : culex__sqlite_keys_read(store, queue, text, ret_keys, error);
}

/* --- room ----------------------------------------------------------------------------------- */

/* How many could begin now. */
static int64_t room_of(const struct culex_sqlite *store, const struct culex_sqlite_counter *counter)
{
    const culex_limit_value *value = culex__sqlite_limit_value(counter->limit);
    switch (counter->limit->kind) {
    case CULEX_LIMIT_CONCURRENCY:
        return (int64_t)value->count - counter->active;
    case CULEX_LIMIT_RATE:
        return culex__bucket_tokens(value, counter->tat_us, store->now_ms);
    default:
        return INT64_MAX;
    }
}

/* How many runs up to this priority may stand in the ready order: as many as could begin, and as
 * many again for each priority, so that lower ones never keep it from higher ones. */
static bool has_place(const struct culex_sqlite *store, const struct culex_sqlite_counter *counter,
                      int priority)
{
    if (counter->limit->kind == CULEX_LIMIT_FAIR)
        return counter->standing < CULEX_FAIR_QUEUED + priority;
    int64_t room = room_of(store, counter);
    return room > 0 && counter->standing < room * (priority + 1);
}

/* Who comes now is not before those of its priority that wait behind the key. */
static culex_status is_overtaking(struct culex_sqlite *store,
                                  const struct culex_sqlite_queue *queue,
                                  const struct culex_sqlite_counter *counter, int priority,
                                  bool *ret_is_overtaking, culex_error *error)
{
    int64_t highest = -1;
    *ret_is_overtaking = false;
    if (counter->parked == 0)
        return CULEX_OK;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, PARKED_PRIORITY, SQL_INT(queue->key), SQL_INT(counter->number)), -1,
        &highest, error);
    *ret_is_overtaking = highest >= priority;
    return status;
}

/* The first key of the run's, but for `passed`, that has no place for it in the ready order. */
static culex_status first_without_place(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue,
                                        const struct culex_sqlite_keys *keys,
                                        const struct culex_sqlite_counter *passed, int priority,
                                        struct culex_sqlite_counter **ret_full, culex_error *error)
{
    culex_status status = CULEX_OK;
    *ret_full = NULL;
    for (size_t i = 0; i < keys->count && status == CULEX_OK && *ret_full == NULL; i++) {
        struct culex_sqlite_counter *counter = keys->counters[i];
        bool is_late = false;
        if (counter == passed)
            continue;
        if (has_place(store, counter, priority))
            status = is_overtaking(store, queue, counter, priority, &is_late, error);
        else
            is_late = true;
        if (is_late)
            *ret_full = counter;
    }
    return status;
}

static void stand(const struct culex_sqlite_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++)
        keys->counters[i]->standing++;
}

static void stand_leave(const struct culex_sqlite_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) {
        keys->counters[i]->standing--;
        keys->counters[i]->is_freed = true;
    }
}

culex_status culex__sqlite_keys_arrive(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue,
                                       const struct culex_sqlite_keys *keys, int priority,
                                       int64_t *ret_aside, culex_error *error)
{
    struct culex_sqlite_counter *full;
    culex_status status = first_without_place(store, queue, keys, NULL, priority, &full, error);
    *ret_aside = CULEX__SQLITE_ASIDE_NOT;
    if (status != CULEX_OK)
        return status;
    if (full == NULL) {
        stand(keys);
        return CULEX_OK;
    }
    full->parked++;
    full->is_freed = full->is_freed || has_place(store, full, priority);
    *ret_aside = full->number;
    return CULEX_OK;
}

bool culex__sqlite_keys_have_room(const struct culex_sqlite *store,
                                  const struct culex_sqlite_keys *keys,
                                  struct culex_sqlite_counter **ret_full)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (room_of(store, keys->counters[i]) <= 0) {
            *ret_full = keys->counters[i];
            return false;
        }
    }
    return true;
}

void culex__sqlite_keys_claim(const struct culex_sqlite *store,
                              const struct culex_sqlite_keys *keys)
{
    stand_leave(keys);
    for (size_t i = 0; i < keys->count; i++) {
        struct culex_sqlite_counter *counter = keys->counters[i];
        counter->active++;
        if (counter->limit->kind == CULEX_LIMIT_RATE)
            counter->tat_us = culex__bucket_take(culex__sqlite_limit_value(counter->limit),
                                                 counter->tat_us, store->now_ms);
    }
}

void culex__sqlite_keys_park(const struct culex_sqlite_keys *keys,
                             struct culex_sqlite_counter *full)
{
    stand_leave(keys);
    full->parked++;
}

/* --- a run's row changes -------------------------------------------------------------------- */

static void active_leave(const struct culex_sqlite_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) {
        keys->counters[i]->active--;
        keys->counters[i]->is_freed = true;
    }
}

static culex_status parked_leave(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                 int64_t number, culex_error *error)
{
    struct culex_sqlite_counter *counter;
    culex_status status = culex__sqlite_ledger_numbered(store, queue, number, &counter, error);
    if (status == CULEX_OK && counter != NULL)
        counter->parked--;
    return status;
}

culex_status culex__sqlite_parking_leave(struct culex_sqlite *store,
                                         const struct culex_sqlite_queue *queue,
                                         const struct culex_sqlite_run *run, culex_error *error)
{
    struct culex_sqlite_keys keys;
    bool is_waiting = run->state == CULEX_RUN_WAITING;
    if (!run->is_limited || culex__run_state_is_final(run->state) ||
        (is_waiting && run->aside == CULEX__SQLITE_ASIDE_TIMED))
        return CULEX_OK;
    if (is_waiting && run->aside > 0)
        return parked_leave(store, queue, run->aside, error);
    culex_status status = keys_of_row(store, queue, run->seq, &keys, error);
    if (status == CULEX_OK && is_waiting)
        stand_leave(&keys);
    else if (status == CULEX_OK)
        active_leave(&keys);
    return status;
}

culex_status culex__sqlite_parking_arrive(struct culex_sqlite *store,
                                          const struct culex_sqlite_queue *queue,
                                          struct culex_sqlite_run *run, culex_error *error)
{
    struct culex_sqlite_keys keys;
    run->aside = CULEX__SQLITE_ASIDE_NOT;
    if (!run->is_limited || run->state != CULEX_RUN_WAITING)
        return CULEX_OK;
    if (run->is_delayed) {
        run->aside = CULEX__SQLITE_ASIDE_TIMED;
        return CULEX_OK;
    }
    culex_status status = keys_of_row(store, queue, run->seq, &keys, error);
    return status == CULEX_OK
               ? culex__sqlite_keys_arrive(store, queue, &keys, run->priority, &run->aside, error)
               : status;
}

/* --- a STEP's share ------------------------------------------------------------------------- */

static culex_status looks_cut(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                              culex_error *error)
{
    int64_t last_ms = culex__sqlite_later(store->now_ms, queue->longest_fill_ms);
    last_ms = culex__sqlite_later(last_ms, CULEX_LEASE_LOOK_MS);
    return culex__sqlite_finish(store,
                                SQL_BIND(store, COUNTER_CUT, SQL_INT(queue->key), SQL_INT(last_ms),
                                         SQL_INT(store->now_ms), SQL_INT(CULEX_REFILL_KEYS_MAX)),
                                error);
}

/* The limit of the queue that is swept; NULL: none is any more. */
static culex_status swept_find(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               struct culex_sqlite_limit **ret_limit, culex_error *error)
{
    char name[CULEX_LIMIT_NAME_MAX + 1];
    sqlite3_stmt *row = SQL_BIND(store, LIMIT_SWEPT, SQL_INT(queue->key));
    int has = culex__sqlite_next(store, row, error);
    if (has > 0)
        snprintf(name, sizeof name, "%s", (const char *)sqlite3_column_text(row, 1));
    culex__sqlite_end(row);
    *ret_limit = NULL;
    if (has > 0)
        return culex__sqlite_ledger_limit(store, queue, name, ret_limit, error);
    queue->is_changed = queue->is_changed || queue->sweeps != 0;
    queue->sweeps = 0;
    return has < 0 ? (culex_status)has : CULEX_OK;
}

static culex_status swept_look(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               struct culex_sqlite_limit *limit, culex_error *error)
{
    int64_t numbers[CULEX_REFILL_KEYS_MAX];
    size_t count = 0;
    bool is_first = limit->swept[0] == '\0';
    struct culex_sqlite_counter *counter = NULL;
    culex_status status =
        culex__sqlite_collect(store,
                              SQL_BIND(store, COUNTER_SWEEP, SQL_INT(limit->number),
                                       SQL_TEXT(is_first ? "" : limit->swept + 1),
                                       SQL_INT(is_first), SQL_INT(CULEX_REFILL_KEYS_MAX)),
                              CULEX_REFILL_KEYS_MAX, numbers, &count, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++) {
        status = culex__sqlite_ledger_numbered(store, queue, numbers[i], &counter, error);
        if (status == CULEX_OK && counter != NULL)
            counter->is_freed = true;
    }
    limit->is_swept = count == CULEX_REFILL_KEYS_MAX && counter != NULL;
    if (limit->is_swept)
        snprintf(limit->swept, sizeof limit->swept, ">%s", counter->key);
    limit->is_changed = true;
    return status;
}

/* The run's time has come: it takes its place, or is parked, as of then. */
static culex_status timed_arrive(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                 int64_t seq, culex_error *error)
{
    struct culex_sqlite_run run;
    bool is_aside;
    culex_status status =
        culex__sqlite_run_or_aside(store, queue, CULEX_RUN_WAITING, seq, &run, &is_aside, error);
    if (status != CULEX_OK || is_aside)
        return status;
    culex__sqlite_queue_back(store, queue); /* no place is later than the newest one */
    run.is_delayed = false;
    status = culex__sqlite_parking_arrive(store, queue, &run, error);
    queue->has_new_work = queue->has_new_work || run.aside == CULEX__SQLITE_ASIDE_NOT;
    return status == CULEX_OK
               ? culex__sqlite_finish(store,
                                      SQL_BIND(store, RUN_STAND, SQL_INT(seq), SQL_INT(run.aside),
                                               SQL_INT(run.at_ms)),
                                      error)
               : status;
}

/* As many by their time, and as many again that need not wait behind others. */
static culex_status timed_promote(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                  int least, size_t most, culex_error *error)
{
    int64_t seqs[CULEX_STORE_BATCH_MAX];
    size_t count = 0;
    culex_status status =
        culex__sqlite_collect(store,
                              least == 0 ? SQL_BIND(store, TIMED_DUE, SQL_INT(queue->key),
                                                    SQL_INT(store->now_ms), SQL_INT((int64_t)most))
                                         : SQL_BIND(store, TIMED_URGENT, SQL_INT(queue->key),
                                                    SQL_INT(store->now_ms), SQL_INT((int64_t)most)),
                              most, seqs, &count, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = timed_arrive(store, queue, seqs[i], error);
    return status;
}

culex_status culex__sqlite_parking_maintain(struct culex_sqlite *store,
                                            struct culex_sqlite_queue *queue, uint32_t want,
                                            culex_error *error)
{
    struct culex_sqlite_limit *limit = NULL;
    size_t most = want > CULEX_PROMOTE_MAX ? want : CULEX_PROMOTE_MAX;
    if (queue->limits == 0)
        return CULEX_OK;
    culex_status status = looks_cut(store, queue, error);
    if (status == CULEX_OK && queue->sweeps > 0)
        status = swept_find(store, queue, &limit, error);
    if (status == CULEX_OK && limit != NULL)
        status = swept_look(store, queue, limit, error);
    if (status == CULEX_OK)
        status = timed_promote(store, queue, 0, most, error);
    if (status == CULEX_OK)
        status = timed_promote(store, queue, 1, most, error);
    return status;
}

/* --- admission ------------------------------------------------------------------------------ */

/* The one that is next behind a key. */
struct parked {
    int64_t seq, at_ms;
    int priority;
    struct culex_sqlite_keys keys;
};

/* False when nobody is there. */
static culex_status parked_first(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                 const struct culex_sqlite_counter *counter,
                                 struct parked *ret_parked, bool *ret_is_there, culex_error *error)
{
    char text[CULEX__SQLITE_LIMITS_SIZE] = "";
    sqlite3_stmt *row =
        SQL_BIND(store, PARKED_FIRST, SQL_INT(queue->key), SQL_INT(counter->number));
    int has = culex__sqlite_next(store, row, error);
    *ret_is_there = has > 0;
    if (has > 0) {
        const char *limits = (const char *)sqlite3_column_text(row, 3);
        ret_parked->seq = sqlite3_column_int64(row, 0);
        ret_parked->priority = sqlite3_column_int(row, 1);
        ret_parked->at_ms = sqlite3_column_int64(row, 2);
        snprintf(text, sizeof text, "%s", limits != NULL ? limits : "");
    }
    culex__sqlite_end(row);
    if (has <= 0)
        return has < 0 ? (culex_status)has : CULEX_OK;
    return culex__sqlite_keys_read(store, queue, text, &ret_parked->keys, error);
}

/* It takes its place in the ready order, or is parked behind another of its limits. */
static culex_status parked_move(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                struct culex_sqlite_counter *counter, const struct parked *parked,
                                culex_error *error)
{
    struct culex_sqlite_counter *full;
    int64_t at_ms = parked->at_ms;
    culex_status status =
        first_without_place(store, queue, &parked->keys, counter, parked->priority, &full, error);
    if (status != CULEX_OK)
        return status;
    counter->parked--;
    if (counter->limit->kind == CULEX_LIMIT_FAIR)
        at_ms = culex__sqlite_queue_back(store, queue);
    if (full == NULL)
        stand(&parked->keys);
    else
        full->parked++;
    queue->has_new_work = true;
    return culex__sqlite_finish(
        store,
        SQL_BIND(store, RUN_STAND, SQL_INT(parked->seq),
                 SQL_INT(full != NULL ? full->number : CULEX__SQLITE_ASIDE_NOT), SQL_INT(at_ms)),
        error);
}

/* As many as have a place. What is left for the next time stays freed. */
static culex_status counter_admit(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                  struct culex_sqlite_counter *counter, size_t *budget,
                                  size_t *moved, culex_error *error)
{
    culex_status status = CULEX_OK;
    struct parked parked;
    bool is_there = true;
    while (status == CULEX_OK && counter->parked > 0 && *budget > 0) {
        status = parked_first(store, queue, counter, &parked, &is_there, error);
        if (status != CULEX_OK || !is_there || !has_place(store, counter, parked.priority)) {
            counter->is_freed = false;
            return status;
        }
        status = parked_move(store, queue, counter, &parked, error);
        --*budget;
        ++*moved;
    }
    counter->is_freed = counter->parked > 0;
    return status;
}

culex_status culex__sqlite_parking_admit(struct culex_sqlite *store,
                                         struct culex_sqlite_queue *queue, size_t *budget,
                                         size_t *ret_moved, culex_error *error)
{
    int64_t numbers[CULEX_REFILL_KEYS_MAX];
    size_t count = 0;
    *ret_moved = 0;
    if (queue->limits == 0)
        return CULEX_OK;
    culex_status status = culex__sqlite_ledger_save(store, queue, error);
    if (status == CULEX_OK)
        status =
            culex__sqlite_collect(store,
                                  SQL_BIND(store, COUNTER_DUE, SQL_INT(queue->key),
                                           SQL_INT(store->now_ms), SQL_INT(CULEX_REFILL_KEYS_MAX)),
                                  CULEX_REFILL_KEYS_MAX, numbers, &count, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++) {
        struct culex_sqlite_counter *counter;
        status = culex__sqlite_ledger_numbered(store, queue, numbers[i], &counter, error);
        if (status == CULEX_OK && counter != NULL)
            status = counter_admit(store, queue, counter, budget, ret_moved, error);
    }
    return status;
}

culex_status culex__sqlite_parking_next(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, int64_t *ret_at_ms,
                                        culex_error *error)
{
    *ret_at_ms = INT64_MAX;
    if (queue->limits == 0)
        return CULEX_OK;
    int64_t is_swept = -1;
    culex_status status = CULEX_OK;
    if (queue->sweeps > 0)
        status = culex__sqlite_first_int(store, SQL_BIND(store, LIMIT_SWEPT, SQL_INT(queue->key)),
                                         -1, &is_swept, error);
    *ret_at_ms = store->now_ms;
    if (status != CULEX_OK || is_swept >= 0)
        return status;
    return culex__sqlite_first_int(store, SQL_BIND(store, COUNTER_NEXT, SQL_INT(queue->key)),
                                   INT64_MAX, ret_at_ms, error);
}
