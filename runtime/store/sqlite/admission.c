#include "store/sqlite/admission.h"

#include <stdio.h>

#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

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

/* The limit of the queue that is swept, the first one behind number `after`; NULL: there is none.
 */
static culex_status swept_find(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               int64_t after, struct culex_sqlite_limit **ret_limit,
                               culex_error *error)
{
    char name[CULEX_LIMIT_NAME_MAX + 1];
    sqlite3_stmt *row = SQL_BIND(store, LIMIT_SWEPT, SQL_INT(queue->key), SQL_INT(after));
    int has = culex__sqlite_next(store, row, error);
    if (has > 0)
        snprintf(name, sizeof name, "%s", (const char *)sqlite3_column_text(row, 1));
    culex__sqlite_end(row);
    *ret_limit = NULL;
    if (has > 0)
        return culex__sqlite_ledger_limit(store, queue, name, ret_limit, error);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

/* At most *left of its keys; less by those that there were. */
static culex_status swept_look(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               struct culex_sqlite_limit *limit, size_t *left, culex_error *error)
{
    int64_t numbers[CULEX_REFILL_KEYS_MAX];
    size_t count = 0;
    bool is_first = limit->swept[0] == '\0';
    struct culex_sqlite_counter *counter = NULL;
    culex_status status =
        culex__sqlite_collect(store,
                              SQL_BIND(store, COUNTER_SWEEP, SQL_INT(limit->number),
                                       SQL_TEXT(is_first ? "" : limit->swept + 1),
                                       SQL_INT(is_first), SQL_INT((int64_t)*left)),
                              *left, numbers, &count, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++) {
        status = culex__sqlite_ledger_numbered(store, queue, numbers[i], &counter, error);
        if (status == CULEX_OK && counter != NULL)
            counter->is_freed = true;
    }
    limit->is_swept = count == *left && counter != NULL;
    if (limit->is_swept)
        snprintf(limit->swept, sizeof limit->swept, ">%s", counter->key);
    limit->is_changed = true;
    *left -= count;
    return status;
}

/* Of all limits that have changed; what is left is for the next step. One without keys counts as
 * one key. */
static culex_status swept_maintain(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                   culex_error *error)
{
    struct culex_sqlite_limit *limit = NULL;
    size_t left = CULEX_REFILL_KEYS_MAX;
    culex_status status = swept_find(store, queue, 0, &limit, error);
    if (status == CULEX_OK && limit == NULL) {
        queue->is_changed = queue->is_changed || queue->sweeps != 0;
        queue->sweeps = 0;
    }
    while (status == CULEX_OK && limit != NULL && left > 0) {
        size_t before = left;
        status = swept_look(store, queue, limit, &left, error);
        left -= left == before;
        if (status == CULEX_OK && left > 0)
            status = swept_find(store, queue, limit->number, &limit, error);
    }
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

culex_status culex__sqlite_admission_maintain(struct culex_sqlite *store,
                                              struct culex_sqlite_queue *queue, uint32_t want,
                                              culex_error *error)
{
    size_t most = want > CULEX_PROMOTE_MAX ? want : CULEX_PROMOTE_MAX;
    if (queue->limits == 0)
        return CULEX_OK;
    culex_status status = culex__sqlite_ledger_cut(store, error);
    if (status == CULEX_OK)
        status = looks_cut(store, queue, error);
    if (status == CULEX_OK && queue->sweeps > 0)
        status = swept_maintain(store, queue, error);
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
    char share[CULEX_LIMIT_KEY_MAX + 1];
    struct culex_sqlite_keys keys;
};

/* Of its row; false when there is none. */
static culex_status parked_read(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                sqlite3_stmt *row, struct parked *ret_parked, bool *ret_is_there,
                                culex_error *error)
{
    char text[CULEX__SQLITE_LIMITS_SIZE] = "";
    int has = culex__sqlite_next(store, row, error);
    *ret_is_there = has > 0;
    if (has > 0) {
        const char *limits = (const char *)sqlite3_column_text(row, 3);
        const char *share = (const char *)sqlite3_column_text(row, 4);
        ret_parked->seq = sqlite3_column_int64(row, 0);
        ret_parked->priority = sqlite3_column_int(row, 1);
        ret_parked->at_ms = sqlite3_column_int64(row, 2);
        snprintf(text, sizeof text, "%s", limits != NULL ? limits : "");
        snprintf(ret_parked->share, sizeof ret_parked->share, "%s", share != NULL ? share : "");
    }
    culex__sqlite_end(row);
    if (has <= 0)
        return has < 0 ? (culex_status)has : CULEX_OK;
    return culex__sqlite_keys_read(store, queue, text, &ret_parked->keys, error);
}

/* The first of the highest priority; where they take turns, of the share behind the last one, by
 * the bytes of its key. What came back to the front goes before all turns. */
static culex_status parked_next(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                const struct culex_sqlite_counter *counter,
                                struct parked *ret_parked, bool *ret_is_there, culex_error *error)
{
    struct parked next;
    bool has_next = false;
    culex_status status = parked_read(
        store, queue, SQL_BIND(store, PARKED_FIRST, SQL_INT(queue->key), SQL_INT(counter->number)),
        ret_parked, ret_is_there, error);
    if (status != CULEX_OK || !*ret_is_there || ret_parked->at_ms < 0 || !counter->has_turn)
        return status;
    status = parked_read(store, queue,
                         SQL_BIND(store, PARKED_TURN, SQL_INT(queue->key), SQL_INT(counter->number),
                                  SQL_INT(ret_parked->priority), SQL_TEXT(counter->turn)),
                         &next, &has_next, error);
    if (status == CULEX_OK && has_next)
        *ret_parked = next;
    return status;
}

/* It was its turn: where it stands from now on. It stands behind those that were admitted before
 * it, as far as it can without being later than now, or an older one of another share would
 * overtake them. Behind the share itself all are of one turn. */
static int64_t turn_take(struct culex_sqlite_counter *counter, const struct parked *parked,
                         int64_t back_ms)
{
    bool is_own = culex__sqlite_keys_first_share(&parked->keys) == counter;
    int64_t at_ms = parked->at_ms;
    if (at_ms < 0 || is_own || (parked->share[0] == '\0' && !counter->has_turn))
        return at_ms;
    int64_t behind_ms = counter->has_turn ? counter->turn_ms + 1 : 0;
    behind_ms = behind_ms < back_ms ? behind_ms : back_ms;
    at_ms = at_ms > behind_ms ? at_ms : behind_ms;
    snprintf(counter->turn, sizeof counter->turn, "%s", parked->share);
    counter->has_turn = counter->is_turned = true;
    counter->turn_ms = at_ms;
    return at_ms;
}

/* Where a run of several limits is from now on, which had its turn at `at_ms`: behind another limit
 * it keeps its age, or younger ones of its share would go before it there. */
static int64_t place_after(const struct parked *parked, int64_t aside, int64_t at_ms,
                           int64_t back_ms)
{
    const struct culex_sqlite_counter *needs = culex__sqlite_keys_needs(&parked->keys);
    if (parked->at_ms < 0 || !culex__sqlite_keys_come_last(&parked->keys))
        return at_ms;
    bool stands = aside == CULEX__SQLITE_ASIDE_NOT || (needs != NULL && aside == needs->number);
    return stands ? back_ms : parked->at_ms;
}

/* It takes its place in the ready order, or is parked behind another of its limits. */
static culex_status parked_move(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                struct culex_sqlite_counter *counter, const struct parked *parked,
                                culex_error *error)
{
    int64_t aside, back_ms = culex__sqlite_queue_back(store, queue);
    int64_t at_ms = turn_take(counter, parked, back_ms);
    if (counter->limit->kind == CULEX_LIMIT_FAIR)
        at_ms = back_ms;
    const struct culex_sqlite_rank rank = {parked->priority, at_ms, parked->seq};
    culex_status status =
        culex__sqlite_keys_admit(store, queue, &parked->keys, counter, &rank, &aside, error);
    if (status != CULEX_OK)
        return status;
    if (counter->limit->kind != CULEX_LIMIT_FAIR)
        at_ms = place_after(parked, aside, at_ms, back_ms);
    queue->has_new_work = true;
    return culex__sqlite_finish(
        store, SQL_BIND(store, RUN_STAND, SQL_INT(parked->seq), SQL_INT(aside), SQL_INT(at_ms)),
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
        status = parked_next(store, queue, counter, &parked, &is_there, error);
        if (status != CULEX_OK || !is_there ||
            !culex__sqlite_key_has_place(store, counter, parked.priority)) {
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

/* Of those that are due: the ones that have a key, or those of all runs. */
static culex_status counters_admit(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                   const int64_t *numbers, size_t count, bool are_of_all,
                                   size_t *budget, size_t *moved, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < count && status == CULEX_OK; i++) {
        struct culex_sqlite_counter *counter;
        status = culex__sqlite_ledger_numbered(store, queue, numbers[i], &counter, error);
        if (status == CULEX_OK && counter != NULL && (counter->whole->key[0] == '\0') == are_of_all)
            status = counter_admit(store, queue, counter, budget, moved, error);
    }
    return status;
}

/* Who comes from a key of his own may have to wait behind a limit of all, where younger ones of his
 * share are: those keys come first, and leave half of the budget. */
culex_status culex__sqlite_admission_run(struct culex_sqlite *store,
                                         struct culex_sqlite_queue *queue, size_t *budget,
                                         size_t *ret_moved, culex_error *error)
{
    int64_t numbers[CULEX_REFILL_KEYS_MAX];
    size_t count = 0, rest = *budget / 2, first = *budget - rest;
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
    if (status == CULEX_OK)
        status = counters_admit(store, queue, numbers, count, false, &first, ret_moved, error);
    *budget = first + rest;
    if (status == CULEX_OK)
        status = counters_admit(store, queue, numbers, count, true, budget, ret_moved, error);
    return status;
}

culex_status culex__sqlite_admission_next(struct culex_sqlite *store,
                                          const struct culex_sqlite_queue *queue,
                                          int64_t *ret_at_ms, culex_error *error)
{
    *ret_at_ms = INT64_MAX;
    if (queue->limits == 0)
        return CULEX_OK;
    int64_t is_swept = -1;
    culex_status status = CULEX_OK;
    if (queue->sweeps > 0)
        status = culex__sqlite_first_int(
            store, SQL_BIND(store, LIMIT_SWEPT, SQL_INT(queue->key), SQL_INT(0)), -1, &is_swept,
            error);
    *ret_at_ms = store->now_ms;
    if (status != CULEX_OK || is_swept >= 0)
        return status;
    return culex__sqlite_first_int(store, SQL_BIND(store, COUNTER_NEXT, SQL_INT(queue->key)),
                                   INT64_MAX, ret_at_ms, error);
}
