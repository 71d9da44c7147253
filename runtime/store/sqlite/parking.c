#include "store/sqlite/parking.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/needs.h"
#include "store/sqlite/error.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

/* --- the keys of a run ---------------------------------------------------------------------- */

static const char *key_of(const struct culex_run_limit *limit)
{
    return limit->key != NULL ? limit->key : "";
}

/* What a run needs, as its limits tell: "" for nothing. */
static const char *needs_told(const struct culex_new_run *run)
{
    const struct culex_run_limit *last =
        run->limit_count > 0 ? &run->limits[run->limit_count - 1] : NULL;
    return last != NULL && last->kind == CULEX_LIMIT_NEEDS ? culex__needs_of_limit(last->name) : "";
}

/* What is counted of a key of a run that needs this. */
static culex_status key_add(struct culex_sqlite *store, struct culex_sqlite_limit *limit,
                            const char *key, const char *needs, struct culex_sqlite_keys *keys,
                            culex_error *error)
{
    return culex__sqlite_ledger_part(store, limit, key,
                                     limit->kind == CULEX_LIMIT_NEEDS ? "" : needs,
                                     &keys->counters[keys->count++], error);
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
            status = key_add(store, limit, key_of(told), needs_told(run), ret_keys, error);
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
    char needs[CULEX_LIMIT_NAME_MAX + 1] = "";
    culex_status status = CULEX_OK;
    size_t len = 0;
    ret_keys->count = 0;
    const char *own = text != NULL ? culex__needs_among(text, strlen(text), &len) : NULL;
    if (own != NULL)
        snprintf(needs, sizeof needs, "%.*s", (int)len, own);
    while (status == CULEX_OK && text != NULL && ret_keys->count < CULEX_RUN_LIMITS_MAX &&
           pair_take(&text, name, key)) {
        struct culex_sqlite_limit *limit;
        status = culex__sqlite_ledger_limit(store, queue, name, &limit, error);
        if (status == CULEX_OK && limit != NULL)
            status = key_add(store, limit, key, needs, ret_keys, error);
    }
    return status;
}

culex_status culex__sqlite_keys_of_row(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue, int64_t seq,
                                       struct culex_sqlite_keys *ret_keys, culex_error *error)
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
        return (int64_t)value->count - counter->whole->active;
    case CULEX_LIMIT_RATE:
        return culex__bucket_tokens(value, counter->whole->tat_us, store->now_ms);
    default:
        return INT64_MAX;
    }
}

static bool is_share(const struct culex_sqlite_counter *counter)
{
    return counter->limit->kind == CULEX_LIMIT_FAIR;
}

struct culex_sqlite_counter *culex__sqlite_keys_first_share(const struct culex_sqlite_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (is_share(keys->counters[i]))
            return keys->counters[i];
    }
    return NULL;
}

const char *culex__sqlite_keys_share(const struct culex_sqlite_keys *keys)
{
    const struct culex_sqlite_counter *share = culex__sqlite_keys_first_share(keys);
    return share != NULL ? share->whole->key : "";
}

bool culex__sqlite_keys_come_last(const struct culex_sqlite_keys *keys)
{
    bool has_key = false;
    for (size_t i = 0; i < keys->count; i++)
        has_key =
            has_key || (!is_share(keys->counters[i]) && keys->counters[i]->whole->key[0] != '\0');
    return has_key && culex__sqlite_keys_first_share(keys) != NULL;
}

/* How many runs up to this priority may stand in the ready order: as many as could begin, and as
 * many again for each priority, so that lower ones never keep it from higher ones. */
bool culex__sqlite_key_has_place(const struct culex_sqlite *store,
                                 const struct culex_sqlite_counter *counter, int priority)
{
    if (counter->limit->kind == CULEX_LIMIT_NEEDS)
        return false;
    if (counter->limit->kind == CULEX_LIMIT_FAIR)
        return counter->standing < CULEX_FAIR_QUEUED + priority;
    int64_t room = room_of(store, counter);
    return room > 0 && counter->standing < room * (priority + 1);
}

/* Whether the first that waits behind the key goes before a run of this rank, which has `share`.
 * Where turns are taken age tells nothing, but of what came back to the front: `by_turn` then. */
static culex_status is_behind_parked(struct culex_sqlite *store,
                                     const struct culex_sqlite_queue *queue,
                                     const struct culex_sqlite_counter *counter,
                                     const struct culex_sqlite_rank *rank, const char *share,
                                     bool by_turn, bool *ret_is_behind, culex_error *error)
{
    sqlite3_stmt *first =
        SQL_BIND(store, PARKED_PLACE, SQL_INT(queue->key), SQL_INT(counter->number));
    int has = culex__sqlite_next(store, first, error);
    *ret_is_behind = false;
    if (has > 0) {
        int priority = sqlite3_column_int(first, 0);
        int64_t at_ms = sqlite3_column_int64(first, 1);
        const char *other = (const char *)sqlite3_column_text(first, 3);
        bool is_older =
            at_ms != rank->at_ms ? at_ms < rank->at_ms : sqlite3_column_int64(first, 2) < rank->seq;
        bool has_share = share[0] != '\0' || (other != NULL && other[0] != '\0');
        bool has_turns = at_ms >= 0 && rank->at_ms >= 0 && (has_share || counter->has_turn);
        *ret_is_behind = priority != rank->priority ? priority > rank->priority
                         : has_turns                ? by_turn
                                                    : is_older;
    }
    culex__sqlite_end(first);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

/* Through which of its limits a run comes first: those of its share alone, those by other keys,
 * those of all. */
static int stage_of(const struct culex_sqlite_counter *counter, const char *share)
{
    const char *key = counter->whole->key;
    return key[0] == '\0' ? 2 : strcmp(key, share) == 0 ? 0 : 1;
}

/* Whether a run that comes from `passed` has been behind the key before. There it waits for
 * nobody's turn again: two keys would send those that are parked behind them to each other for
 * ever. */
static bool is_behind_it(const struct culex_sqlite_keys *keys, size_t index,
                         const struct culex_sqlite_counter *passed)
{
    const char *share = culex__sqlite_keys_share(keys);
    size_t from = 0;
    while (from < keys->count && keys->counters[from] != passed)
        from++;
    if (passed == NULL || from == keys->count)
        return false;
    int stage = stage_of(keys->counters[index], share), last = stage_of(passed, share);
    return stage != last ? stage < last : index < from;
}

/* The first key of the run's, but for `passed`, that has no place for it in the ready order. */
static culex_status first_without_place(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue,
                                        const struct culex_sqlite_keys *keys,
                                        const struct culex_sqlite_counter *passed,
                                        const struct culex_sqlite_rank *rank,
                                        struct culex_sqlite_counter **ret_full, culex_error *error)
{
    const char *share = culex__sqlite_keys_share(keys);
    culex_status status = CULEX_OK;
    *ret_full = NULL;
    for (size_t i = 0; i < keys->count && status == CULEX_OK && *ret_full == NULL; i++) {
        struct culex_sqlite_counter *counter = keys->counters[i];
        bool is_late = !culex__sqlite_key_has_place(store, counter, rank->priority);
        if (counter == passed)
            continue;
        if (!is_late && counter->parked > 0)
            status = is_behind_parked(store, queue, counter, rank, share,
                                      !is_behind_it(keys, i, passed), &is_late, error);
        if (is_late)
            *ret_full = counter;
    }
    return status;
}

/* What it needs, NULL for nothing. To its other limits a run that is parked there stands in the
 * ready order. */
struct culex_sqlite_counter *culex__sqlite_keys_needs(const struct culex_sqlite_keys *keys)
{
    struct culex_sqlite_counter *last = keys->count > 0 ? keys->counters[keys->count - 1] : NULL;
    return last != NULL && last->limit->kind == CULEX_LIMIT_NEEDS ? last : NULL;
}

static size_t limits_of(const struct culex_sqlite_keys *keys)
{
    return keys->count - (culex__sqlite_keys_needs(keys) != NULL);
}

static void stand(const struct culex_sqlite_keys *keys)
{
    for (size_t i = 0; i < limits_of(keys); i++)
        keys->counters[i]->standing++;
}

/* A run with these keys is parked behind `full`, or no longer: its shares know of that. */
static void hold(const struct culex_sqlite_keys *keys, const struct culex_sqlite_counter *full,
                 int64_t by)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (keys->counters[i] != full && is_share(keys->counters[i]))
            keys->counters[i]->held += by;
    }
}

static void stand_leave(const struct culex_sqlite_keys *keys)
{
    for (size_t i = 0; i < limits_of(keys); i++) {
        keys->counters[i]->standing--;
        keys->counters[i]->is_freed = true;
    }
}

/* It stood in the ready order, or in that of what needs the same. */
static void order_leave(const struct culex_sqlite_keys *keys)
{
    struct culex_sqlite_counter *needs = culex__sqlite_keys_needs(keys);
    stand_leave(keys);
    if (needs != NULL)
        needs->parked--;
}

/* Where a run gets its place that is past the limit `passed`, NULL for none. */
static culex_status keys_place(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               const struct culex_sqlite_keys *keys,
                               const struct culex_sqlite_counter *passed,
                               const struct culex_sqlite_rank *rank, int64_t *ret_aside,
                               culex_error *error)
{
    struct culex_sqlite_counter *full;
    culex_status status = first_without_place(store, queue, keys, passed, rank, &full, error);
    *ret_aside = CULEX__SQLITE_ASIDE_NOT;
    if (status != CULEX_OK)
        return status;
    if (full == NULL || full->limit->kind == CULEX_LIMIT_NEEDS)
        stand(keys);
    if (full == NULL)
        return CULEX_OK;
    full->parked++;
    if (full->limit->kind != CULEX_LIMIT_NEEDS)
        hold(keys, full, 1);
    full->is_freed = full->is_freed || culex__sqlite_key_has_place(store, full, rank->priority);
    return culex__sqlite_ledger_number(store, queue, full, ret_aside, error);
}

culex_status culex__sqlite_keys_arrive(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue,
                                       const struct culex_sqlite_keys *keys,
                                       const struct culex_sqlite_rank *rank, int64_t *ret_aside,
                                       culex_error *error)
{
    return keys_place(store, queue, keys, NULL, rank, ret_aside, error);
}

culex_status culex__sqlite_keys_admit(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue,
                                      const struct culex_sqlite_keys *keys,
                                      struct culex_sqlite_counter *passed,
                                      const struct culex_sqlite_rank *rank, int64_t *ret_aside,
                                      culex_error *error)
{
    passed->parked--;
    hold(keys, passed, -1);
    return keys_place(store, queue, keys, passed, rank, ret_aside, error);
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

culex_status culex__sqlite_keys_yield(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue,
                                      const struct culex_sqlite_keys *keys,
                                      const struct culex_sqlite_run *run,
                                      struct culex_sqlite_counter **ret_before, culex_error *error)
{
    const struct culex_sqlite_rank rank = {run->priority, run->at_ms, run->seq};
    culex_status status = CULEX_OK;
    *ret_before = NULL;
    for (size_t i = 0; i < keys->count && status == CULEX_OK && *ret_before == NULL; i++) {
        struct culex_sqlite_counter *counter = keys->counters[i];
        bool is_behind = false;
        if (counter->parked > 0 && counter->limit->kind != CULEX_LIMIT_FAIR &&
            counter->limit->kind != CULEX_LIMIT_NEEDS)
            status = is_behind_parked(store, queue, counter, &rank, culex__sqlite_keys_share(keys),
                                      false, &is_behind, error);
        if (is_behind)
            *ret_before = counter;
    }
    return status;
}

void culex__sqlite_keys_claim(const struct culex_sqlite *store,
                              const struct culex_sqlite_keys *keys)
{
    order_leave(keys);
    for (size_t i = 0; i < keys->count; i++) {
        struct culex_sqlite_counter *whole = keys->counters[i]->whole;
        whole->active++;
        whole->is_rung = whole->limit->kind == CULEX_LIMIT_NEEDS;
        if (whole->limit->kind == CULEX_LIMIT_RATE)
            whole->tat_us = culex__bucket_take(culex__sqlite_limit_value(whole->limit),
                                               whole->tat_us, store->now_ms);
    }
}

void culex__sqlite_keys_park(const struct culex_sqlite_keys *keys,
                             struct culex_sqlite_counter *full)
{
    order_leave(keys);
    full->parked++;
    hold(keys, full, 1);
}

void culex__sqlite_keys_mend(const struct culex_sqlite_keys *keys)
{
    culex__sqlite_keys_needs(keys)->parked++;
}

/* --- a run's row changes -------------------------------------------------------------------- */

static void active_leave(const struct culex_sqlite_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) {
        struct culex_sqlite_counter *whole = keys->counters[i]->whole;
        whole->active--;
        whole->is_freed = whole->is_spread = true;
    }
}

static culex_status parked_leave(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                 const struct culex_sqlite_keys *keys, int64_t number,
                                 culex_error *error)
{
    struct culex_sqlite_counter *counter;
    culex_status status = culex__sqlite_ledger_numbered(store, queue, number, &counter, error);
    if (status != CULEX_OK || counter == NULL)
        return status;
    counter->parked--;
    if (counter->limit->kind == CULEX_LIMIT_NEEDS)
        stand_leave(keys);
    else
        hold(keys, counter, -1);
    return CULEX_OK;
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
    culex_status status = culex__sqlite_keys_of_row(store, queue, run->seq, &keys, error);
    if (status == CULEX_OK && is_waiting && run->aside > 0)
        status = parked_leave(store, queue, &keys, run->aside, error);
    else if (status == CULEX_OK && is_waiting)
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
    const struct culex_sqlite_rank rank = {run->priority, run->at_ms, run->seq};
    culex_status status = culex__sqlite_keys_of_row(store, queue, run->seq, &keys, error);
    return status == CULEX_OK
               ? culex__sqlite_keys_arrive(store, queue, &keys, &rank, &run->aside, error)
               : status;
}
