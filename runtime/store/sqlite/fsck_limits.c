#include "store/sqlite/fsck_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/needs.h"
#include "store/sqlite/error.h"
#include "store/sqlite/ledger.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

/* --- where a run stands ----------------------------------------------------------------------- */

/* Whether "NAME=KEY" is one of `limits`. */
static bool is_among(const char *limits, const char *name, const char *key)
{
    char pair[CULEX_LIMIT_NAME_MAX + CULEX_LIMIT_KEY_MAX + 2];
    size_t len = (size_t)snprintf(pair, sizeof pair, "%s=%s", name, key);
    while (limits != NULL && *limits != '\0') {
        size_t own = strcspn(limits, ";");
        if (own == len && memcmp(limits, pair, len) == 0)
            return true;
        limits += own + (limits[own] == ';');
    }
    return false;
}

/* Whether the row of key `key` is for runs with these limits: it is of one of them, and of what
 * they need, if it is a part (sqlite/ledger.h). */
static bool is_own(const char *limits, const char *name, const char *key)
{
    char whole[CULEX__SQLITE_KEY_SIZE];
    size_t len = strcspn(key, (const char[]){CULEX__SQLITE_PART, '\0'}), needs_len = 0;
    const char *needs =
        limits != NULL ? culex__needs_among(limits, strlen(limits), &needs_len) : NULL;
    bool is_of_needs = culex__needs_of_limit(name) != NULL;
    const char *part = key[len] != '\0' ? key + len + 1 : "";
    size_t wanted = needs != NULL && !is_of_needs ? needs_len : 0;
    snprintf(whole, sizeof whole, "%.*s", (int)len, key);
    return is_among(limits, name, whole) && strlen(part) == wanted &&
           (wanted == 0 || memcmp(part, needs, wanted) == 0);
}

/* Parked behind a key that is there, and is one of its own. */
static culex_status is_behind(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                              const struct culex_sqlite_run *run, bool *ret_is_behind,
                              culex_error *error)
{
    sqlite3_stmt *key = SQL_BIND(store, COUNTER_NAMES, SQL_INT(run->aside), SQL_INT(queue->key));
    sqlite3_stmt *own = SQL_BIND(store, RUN_LIMITS, SQL_INT(run->seq));
    int has_key = culex__sqlite_next(store, key, error);
    int has_own = culex__sqlite_next(store, own, error);
    *ret_is_behind =
        has_key > 0 && has_own > 0 &&
        is_own((const char *)sqlite3_column_text(own, 0), (const char *)sqlite3_column_text(key, 0),
               (const char *)sqlite3_column_text(key, 1));
    culex__sqlite_end(key);
    culex__sqlite_end(own);
    return has_key < 0 ? (culex_status)has_key : has_own < 0 ? (culex_status)has_own : CULEX_OK;
}

/* In the ready order nobody asks what a run needs. Where its needs have no key, the claim that
 * meets it makes one. */
static culex_status needs_find(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               const struct culex_sqlite_run *run, int64_t *ret_aside,
                               culex_error *error)
{
    char name[CULEX_LIMIT_NAME_MAX + 1] = "";
    size_t len = 0;
    sqlite3_stmt *row = SQL_BIND(store, RUN_LIMITS, SQL_INT(run->seq));
    int has = culex__sqlite_next(store, row, error);
    const char *limits = has > 0 ? (const char *)sqlite3_column_text(row, 0) : NULL;
    const char *needs = limits != NULL ? culex__needs_among(limits, strlen(limits), &len) : NULL;
    if (needs != NULL)
        snprintf(name, sizeof name, CULEX__NEEDS_WORD "%.*s", (int)len, needs);
    culex__sqlite_end(row);
    if (has < 0 || needs == NULL)
        return has < 0 ? (culex_status)has : CULEX_OK;
    return culex__sqlite_first_int(store,
                                   SQL_BIND(store, NEEDS_KEY, SQL_INT(queue->key), SQL_TEXT(name)),
                                   0, ret_aside, error);
}

culex_status culex__sqlite_fsck_aside(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue,
                                      struct culex_sqlite_run *run, bool *ret_is_wrong,
                                      culex_error *error)
{
    bool is_waiting = run->state == CULEX_RUN_WAITING && run->is_limited, is_there = true;
    int64_t wanted = is_waiting && run->is_delayed ? -1 : 0;
    culex_status status = CULEX_OK;
    if (is_waiting && !run->is_delayed && run->aside > 0) {
        status = is_behind(store, queue, run, &is_there, error);
        wanted = is_there ? run->aside : 0;
    }
    if (status == CULEX_OK && is_waiting && !run->is_delayed && wanted == 0)
        status = needs_find(store, queue, run, &wanted, error);
    *ret_is_wrong = run->aside != wanted;
    run->aside = wanted;
    return status;
}

/* --- what the runs say ------------------------------------------------------------------------ */

struct tally {
    char *pair; /* NAME=KEY, of a part with what its row has behind it */
    int64_t active, standing;
    int64_t aside; /* that are parked, behind whichever of their keys */
    bool is_met;   /* there is a row for it */
};

struct tallies {
    struct tally *of;
    size_t count, room; /* a power of two, or 0 */
};

static size_t hash_of(const char *text, size_t len)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return (size_t)(hash ^ hash >> 32);
}

/* Where it is, or would be. */
static struct tally *tally_at(const struct tallies *tallies, const char *pair, size_t len)
{
    size_t at = hash_of(pair, len) & (tallies->room - 1);
    while (tallies->of[at].pair != NULL &&
           (strlen(tallies->of[at].pair) != len || memcmp(tallies->of[at].pair, pair, len) != 0))
        at = (at + 1) & (tallies->room - 1);
    return &tallies->of[at];
}

static bool tallies_widen(struct tallies *tallies)
{
    if (tallies->room > 2 * tallies->count)
        return true;
    struct tallies wider = {.count = tallies->count,
                            .room = tallies->room == 0 ? 64 : 2 * tallies->room};
    wider.of = calloc(wider.room, sizeof *wider.of);
    if (wider.of == NULL)
        return false;
    for (size_t i = 0; i < tallies->room; i++) {
        const struct tally *old = &tallies->of[i];
        if (old->pair != NULL)
            *tally_at(&wider, old->pair, strlen(old->pair)) = *old;
    }
    free(tallies->of);
    *tallies = wider;
    return true;
}

/* As FSCK_LIMITED tells. */
enum where { STANDING, ACTIVE, ASIDE };

static bool pair_count(struct tallies *tallies, const char *pair, size_t len, enum where where)
{
    if (!tallies_widen(tallies))
        return false;
    struct tally *tally = tally_at(tallies, pair, len);
    if (tally->pair == NULL) {
        tally->pair = strndup(pair, len);
        tallies->count += tally->pair != NULL;
    }
    tally->active += where == ACTIVE;
    tally->standing += where == STANDING;
    tally->aside += where == ASIDE;
    return tally->pair != NULL;
}

/* Of a run that waits, in the part of those with the same needs. */
static bool part_count(struct tallies *tallies, const char *pair, size_t len, const char *needs,
                       size_t needs_len, enum where where)
{
    char part[CULEX_LIMIT_NAME_MAX + CULEX__SQLITE_KEY_SIZE + 1];
    int size = snprintf(part, sizeof part, "%.*s%c%.*s", (int)len, pair, CULEX__SQLITE_PART,
                        (int)needs_len, needs);
    return size < (int)sizeof part ? pair_count(tallies, part, (size_t)size, where) : true;
}

/* What needs something is parked there, and stands with the others. */
static bool limits_count(struct tallies *tallies, const char *limits, enum where where)
{
    size_t needs_len = 0;
    const char *needs =
        limits != NULL ? culex__needs_among(limits, strlen(limits), &needs_len) : NULL;
    while (limits != NULL && *limits != '\0') {
        size_t len = strcspn(limits, ";");
        bool has_memory = true;
        if (where == ACTIVE || needs == NULL)
            has_memory = pair_count(tallies, limits, len, where);
        else if (culex__needs_of_limit(limits) == NULL)
            has_memory = part_count(tallies, limits, len, needs, needs_len, where);
        if (!has_memory)
            return false;
        limits += len + (limits[len] == ';');
    }
    return true;
}

/* Of rows of the runs' limits, each with an enum where. */
static culex_status rows_count(struct culex_sqlite *store, sqlite3_stmt *row,
                               struct tallies *tallies, culex_error *error)
{
    culex_status status = CULEX_OK;
    int has = 0;
    while (status == CULEX_OK && (has = culex__sqlite_next(store, row, error)) > 0) {
        const char *limits = (const char *)sqlite3_column_text(row, 0);
        if (!limits_count(tallies, limits, (enum where)sqlite3_column_int(row, 1)))
            status = culex__sqlite_no_memory(error);
    }
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : status;
}

static culex_status runs_count(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               struct tallies *tallies, culex_error *error)
{
    const struct culex_sqlite_value first = SQL_INT(culex__sqlite_queue_first(queue)),
                                    last = SQL_INT(culex__sqlite_queue_last(queue));
    return rows_count(store, SQL_BIND(store, FSCK_LIMITED, first, last), tallies, error);
}

static void tallies_free(struct tallies *tallies)
{
    for (size_t i = 0; i < tallies->room; i++)
        free(tallies->of[i].pair);
    free(tallies->of);
}

/* --- what the rows say ------------------------------------------------------------------------ */

struct check {
    struct culex_sqlite *store;
    struct culex_sqlite_queue *queue;
    bool is_repairing;
    uint64_t wrong;
    struct tallies tallies;
};

static culex_status parked_count(struct check *check, int64_t number, int64_t *ret_parked,
                                 culex_error *error)
{
    return culex__sqlite_first_int(
        check->store,
        SQL_BIND(check->store, FSCK_PARKED, SQL_INT(check->queue->key), SQL_INT(number)), 0,
        ret_parked, error);
}

/* Somebody is parked who might begin, and nobody will look. */
static bool is_stuck(const struct culex_sqlite_counter *counter)
{
    const struct culex_sqlite_limit *limit = counter->limit;
    const culex_limit_value *value = culex__sqlite_limit_value(limit);
    if (counter->parked == 0 || counter->look_ms != INT64_MAX || limit->is_swept ||
        limit->kind == CULEX_LIMIT_NEEDS)
        return false;
    if (limit->kind == CULEX_LIMIT_CONCURRENCY)
        return counter->standing < (int64_t)value->count - counter->whole->active;
    if (limit->kind == CULEX_LIMIT_FAIR)
        return counter->standing < CULEX_FAIR_QUEUED;
    return counter->standing == 0; /* else the claim that meets those comes by */
}

/* Nothing is left of it, and nobody will look. */
static bool is_over(const struct check *check, const struct culex_sqlite_counter *counter)
{
    bool is_full =
        counter->limit->kind != CULEX_LIMIT_RATE || counter->tat_us <= check->store->now_ms * 1000;
    return counter->active + counter->standing + counter->parked + counter->held == 0 && is_full &&
           !counter->is_wanted && counter->look_ms == INT64_MAX;
}

/* The row agrees with the runs; repaired it is by the ledger, which is written back. */
static culex_status counter_check(struct check *check, struct culex_sqlite_counter *counter,
                                  culex_error *error)
{
    char pair[CULEX_LIMIT_NAME_MAX + CULEX__SQLITE_KEY_SIZE + 1];
    static const struct tally none;
    int64_t parked;
    size_t len = (size_t)snprintf(pair, sizeof pair, "%s=%s", counter->limit->name, counter->key);
    struct tally *found = check->tallies.room > 0 ? tally_at(&check->tallies, pair, len) : NULL;
    const struct tally *tally = found != NULL && found->pair != NULL ? found : &none;
    if (tally == found)
        found->is_met = true;
    culex_status status = parked_count(check, counter->number, &parked, error);
    int64_t held = counter->limit->kind == CULEX_LIMIT_FAIR ? tally->aside - parked : 0;
    bool is_wrong = counter->active != tally->active || counter->standing != tally->standing ||
                    counter->parked != parked || counter->held != held;
    counter->held = held;
    counter->active = tally->active;
    counter->standing = tally->standing;
    counter->parked = parked;
    is_wrong = is_wrong || is_stuck(counter) || is_over(check, counter) ||
               counter->whole->number == 0; /* a part whose key has no row */
    check->wrong += is_wrong;
    counter->is_freed = counter->is_freed || is_wrong;
    return status;
}

/* The totals of its row, which the ledger moves by what it changes. */
static void totals_check(struct check *check, struct culex_sqlite_limit *limit, int64_t keys,
                         int64_t active, int64_t parked)
{
    if (limit->keys == keys && limit->active == active && limit->parked == parked)
        return;
    check->wrong++;
    limit->keys = keys;
    limit->active = active;
    limit->parked = parked;
    limit->is_changed = true;
}

/* A key keeps its row for as long as a part has one. */
static culex_status parts_look(struct check *check, struct culex_sqlite_counter *counter,
                               culex_error *error)
{
    int64_t is_there = 0;
    culex_status status = CULEX_OK;
    if (counter->whole == counter)
        status = culex__sqlite_first_int(check->store,
                                         SQL_BIND(check->store, PARTS_ANY,
                                                  SQL_INT(counter->limit->number),
                                                  SQL_TEXT(counter->key)),
                                         0, &is_there, error);
    counter->is_wanted = is_there != 0;
    return status;
}

static culex_status keys_check(struct check *check, struct culex_sqlite_limit *limit,
                               culex_error *error)
{
    struct culex_sqlite *store = check->store;
    int64_t keys = 0, active = 0, parked = 0;
    culex_status status = CULEX_OK;
    sqlite3_stmt *row = SQL_BIND(store, COUNTER_PAGE, SQL_INT(limit->number), SQL_TEXT(""),
                                 SQL_INT(1), SQL_INT(INT64_MAX));
    int has = 0;
    while (status == CULEX_OK && (has = culex__sqlite_next(store, row, error)) > 0) {
        struct culex_sqlite_counter *counter;
        const char *key = (const char *)sqlite3_column_text(row, 0);
        active += sqlite3_column_int64(row, 1);
        parked += sqlite3_column_int64(row, 3);
        status =
            culex__sqlite_ledger_counter(store, limit, key != NULL ? key : "", &counter, error);
        if (status == CULEX_OK)
            status = parts_look(check, counter, error);
        if (status == CULEX_OK)
            status = counter_check(check, counter, error);
        keys += status == CULEX_OK && counter->whole == counter;
    }
    culex__sqlite_end(row);
    totals_check(check, limit, keys, active, parked);
    return has < 0 ? (culex_status)has : status;
}

/* A key of runs that has no row: made anew. A limit that is lost cannot be known. */
static culex_status missing_check(struct check *check, const struct tally *tally,
                                  culex_error *error)
{
    char name[CULEX_LIMIT_NAME_MAX + 1];
    size_t len = strcspn(tally->pair, "=");
    struct culex_sqlite_limit *limit = NULL;
    struct culex_sqlite_counter *counter;
    if (tally->is_met || tally->pair[len] != '=' || len > CULEX_LIMIT_NAME_MAX)
        return CULEX_OK;
    snprintf(name, sizeof name, "%.*s", (int)len, tally->pair);
    culex_status status =
        culex__sqlite_ledger_limit(check->store, check->queue, name, &limit, error);
    if (status != CULEX_OK || limit == NULL)
        return status;
    int64_t held = limit->kind == CULEX_LIMIT_FAIR ? tally->aside : 0;
    if (tally->active + tally->standing + held == 0)
        return CULEX_OK;
    check->wrong++;
    if (!check->is_repairing)
        return CULEX_OK;
    status =
        culex__sqlite_ledger_counter(check->store, limit, tally->pair + len + 1, &counter, error);
    if (status != CULEX_OK)
        return status;
    counter->active = tally->active;
    counter->standing = tally->standing;
    counter->held = held;
    return CULEX_OK;
}

/* Numbers that no limit can have: see damage_mend in sqlite/ledger.c. And its keys are looked at,
 * of which the queue has to know. */
static void definition_check(struct check *check, struct culex_sqlite_limit *limit)
{
    check->wrong += limit->is_damaged;
    if (limit->is_damaged)
        culex__sqlite_ledger_sweep(check->queue, limit);
    limit->is_damaged = false;
    if (!limit->is_swept || check->queue->sweeps != 0)
        return;
    check->wrong++;
    check->queue->sweeps = 1;
    check->queue->is_changed = true;
}

/* Keys of a limit that is lost: nobody can count in them, and a STEP would look at them for ever.
 */
static culex_status orphans_check(struct check *check, culex_error *error)
{
    struct culex_sqlite *store = check->store;
    int64_t count = 0;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, FSCK_ORPHANS, SQL_INT(check->queue->key)), 0, &count, error);
    check->wrong += (uint64_t)count;
    if (status != CULEX_OK || count == 0 || !check->is_repairing)
        return status;
    return culex__sqlite_finish(
        store, SQL_BIND(store, FSCK_ORPHANS_DROP, SQL_INT(check->queue->key)), error);
}

/* It may be longer than that of any limit by now, but never than that of all there can be. */
static void fill_check(struct check *check, int64_t fill_ms)
{
    struct culex_sqlite_queue *queue = check->queue;
    if (queue->longest_fill_ms >= fill_ms &&
        queue->longest_fill_ms <= CULEX_LIMIT_PERIOD_MAX_MS + 1)
        return;
    check->wrong++;
    queue->longest_fill_ms = fill_ms;
    queue->is_changed = true;
}

static culex_status limits_check(struct check *check, culex_error *error)
{
    struct culex_sqlite *store = check->store;
    culex_status status = CULEX_OK;
    int64_t count = 0, fill_ms = 0;
    sqlite3_stmt *row = SQL_BIND(store, LIMIT_LIST, SQL_INT(check->queue->key));
    int has = 0;
    while (status == CULEX_OK && (has = culex__sqlite_next(store, row, error)) > 0) {
        struct culex_sqlite_limit *limit = NULL;
        const char *name = (const char *)sqlite3_column_text(row, 12);
        count++;
        status = culex__sqlite_ledger_limit(store, check->queue, name != NULL ? name : "", &limit,
                                            error);
        if (status != CULEX_OK || limit == NULL)
            continue;
        definition_check(check, limit);
        if (culex__sqlite_limit_fill_ms(limit) > fill_ms)
            fill_ms = culex__sqlite_limit_fill_ms(limit);
        status = keys_check(check, limit, error);
    }
    culex__sqlite_end(row);
    if (has == 0)
        fill_check(check, fill_ms);
    if (has == 0 && check->queue->limits != count) {
        check->wrong++;
        check->queue->limits = count;
        check->queue->is_changed = true;
    }
    return has < 0 ? (culex_status)has : status;
}

culex_status culex__sqlite_fsck_limits(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       bool is_repairing, uint64_t *wrong, culex_error *error)
{
    struct check check = {.store = store, .queue = queue, .is_repairing = is_repairing};
    culex_status status = runs_count(store, queue, &check.tallies, error);
    if (status == CULEX_OK)
        status = orphans_check(&check, error);
    if (status == CULEX_OK)
        status = limits_check(&check, error);
    for (size_t i = 0; i < check.tallies.room && status == CULEX_OK; i++) {
        if (check.tallies.of[i].pair != NULL)
            status = missing_check(&check, &check.tallies.of[i], error);
    }
    *wrong += check.wrong;
    tallies_free(&check.tallies);
    if (!is_repairing)
        culex__sqlite_ledger_clear(store);
    return status;
}
