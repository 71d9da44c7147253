#include "store/sqlite/retention.h"

#include "store/sqlite/block.h"
#include "store/sqlite/idempotency.h"
#include "store/sqlite/kind.h"
#include "store/sqlite/members.h"
#include "store/sqlite/producer.h"
#include "store/sqlite/run.h"
#include "store/sqlite/session.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/unique.h"
#include "store/sqlite/waiters.h"

static culex_status forget_one(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               culex_run_state state, int64_t seq, culex_error *error)
{
    struct culex_sqlite_run run;
    bool is_aside;
    culex_status status =
        culex__sqlite_run_or_aside(store, queue, state, seq, &run, &is_aside, error);
    if (status != CULEX_OK || is_aside)
        return status;
    return culex__sqlite_run_forget(store, queue, &run, error);
}

/* At most `left` runs of one final state whose time is over at `until_ms`, the first by that. */
static culex_status state_forget(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                 size_t left, int64_t until_ms, culex_run_state state,
                                 culex_error *error)
{
    int64_t seqs[CULEX_FORGET_MAX];
    size_t count = CULEX_FORGET_MAX;
    culex_status status = CULEX_OK;
    while (status == CULEX_OK && count == CULEX_FORGET_MAX && left > 0) {
        size_t most = left < CULEX_FORGET_MAX ? left : CULEX_FORGET_MAX;
        status = culex__sqlite_collect(store,
                                       SQL_BIND(store, FINAL_OVER, SQL_INT(queue->key),
                                                SQL_TEXT(culex__sqlite_state_text(state)),
                                                SQL_INT(until_ms), SQL_INT((int64_t)most)),
                                       most, seqs, &count, error);
        for (size_t i = 0; i < count && status == CULEX_OK; i++)
            status = forget_one(store, queue, state, seqs[i], error);
        left -= most;
    }
    return status;
}

/* The first `most` of these bits, or all. */
static int64_t bits_first(int64_t bits, size_t most)
{
    int64_t rest = bits;
    while (rest != 0 && most-- > 0)
        rest &= rest - 1;
    return bits & ~rest;
}

culex_status culex__sqlite_ended_forget(struct culex_sqlite *store,
                                        struct culex_sqlite_queue *queue, int64_t until_ms,
                                        size_t most, size_t *ret_count, culex_error *error)
{
    struct culex_sqlite_end end;
    culex_status status = CULEX_OK;
    *ret_count = 0;
    while (status == CULEX_OK && *ret_count < most) {
        status = culex__sqlite_end_one(
            store, SQL_BIND(store, ENDED_OVER, SQL_INT(queue->key), SQL_INT(until_ms)), &end,
            error);
        if (status != CULEX_OK)
            break;
        int64_t over = bits_first(end.runs, most - *ret_count);
        if (over != 0)
            status = culex__sqlite_block_bodies_delete(store, end.first, over, error);
        end.runs &= ~over;
        if (status == CULEX_OK)
            status = culex__sqlite_end_save(store, &end, error);
        *ret_count += (size_t)culex__sqlite_bits_count(over);
    }
    queue->kept[CULEX_RUN_DONE] -= (int64_t)*ret_count;
    queue->is_changed = queue->is_changed || *ret_count > 0;
    return status == CULEX_ENOTFOUND ? CULEX_OK : status;
}

/* So many dead runs are more than may be kept. */
static int64_t dead_excess(const struct culex_sqlite_queue *queue)
{
    return queue->dead_most > 0 ? queue->kept[CULEX_RUN_DEAD] - queue->dead_most : 0;
}

static const culex_run_state finals[] = {CULEX_RUN_DONE, CULEX_RUN_DEAD, CULEX_RUN_CANCELLED};

enum { FINAL_COUNT = sizeof finals / sizeof finals[0] };

culex_status culex__sqlite_retention_forget(struct culex_sqlite *store,
                                            struct culex_sqlite_queue *queue, size_t added,
                                            culex_error *error)
{
    size_t count, most = CULEX_FORGET_MAX + added;
    culex_status status = CULEX_OK;
    if (queue->kept[CULEX_RUN_DONE] > 0)
        status = culex__sqlite_ended_forget(store, queue, store->now_ms, most, &count, error);
    for (size_t i = 0; i < FINAL_COUNT && status == CULEX_OK; i++) {
        if (queue->kept[finals[i]] > 0)
            status = state_forget(store, queue, most, store->now_ms, finals[i], error);
    }
    int64_t excess = dead_excess(queue);
    if (status == CULEX_OK && excess > 0)
        status = state_forget(store, queue, excess < (int64_t)most ? (size_t)excess : most,
                              INT64_MAX, CULEX_RUN_DEAD, error);
    if (status == CULEX_OK)
        status = culex__sqlite_producers_forget(store, queue, error);
    if (status == CULEX_OK)
        status = culex__sqlite_kinds_sweep(store, queue, added, error);
    if (status == CULEX_OK)
        status = culex__sqlite_keys_forget(store, 0, error);
    if (status == CULEX_OK)
        status = culex__sqlite_windows_forget(store, 0, error);
    if (status == CULEX_OK)
        status = culex__sqlite_waiters_forget(store, queue, error);
    if (status == CULEX_OK)
        status = culex__sqlite_batches_forget(store, queue, error);
    return status == CULEX_OK ? culex__sqlite_silent_look(store, error) : status;
}

culex_status culex__sqlite_retention_next(struct culex_sqlite *store,
                                          const struct culex_sqlite_queue *queue,
                                          int64_t *ret_at_ms, culex_error *error)
{
    int64_t first = INT64_MAX, at_ms;
    culex_status status = CULEX_OK;
    if (queue->kept[CULEX_RUN_DONE] > 0)
        status = culex__sqlite_first_int(store, SQL_BIND(store, ENDED_NEXT, SQL_INT(queue->key)),
                                         INT64_MAX, &first, error);
    for (size_t i = 0; i < FINAL_COUNT && status == CULEX_OK; i++) {
        if (queue->kept[finals[i]] == 0)
            continue;
        status = culex__sqlite_first_int(store,
                                         SQL_BIND(store, NEXT_FINAL, SQL_INT(queue->key),
                                                  SQL_TEXT(culex__sqlite_state_text(finals[i]))),
                                         INT64_MAX, &at_ms, error);
        if (status == CULEX_OK && at_ms < first)
            first = at_ms;
    }
    if (status == CULEX_OK)
        status = culex__sqlite_waiters_next(store, queue, &at_ms, error);
    if (status == CULEX_OK && at_ms < first)
        first = at_ms;
    if (status == CULEX_OK)
        status = culex__sqlite_batches_next(store, queue, &at_ms, error);
    if (status == CULEX_OK && at_ms < first)
        first = at_ms;
    if (first > store->now_ms && first < store->now_ms + CULEX_FORGET_GAP_MS)
        first = store->now_ms + CULEX_FORGET_GAP_MS;
    *ret_at_ms = dead_excess(queue) > 0 ? store->now_ms : first;
    return status;
}
