/* An index by time would be written with every step. So all rows are walked, round after round and
 * a bounded number at a time: whoever is over is met in the next round. */
#include "store/sqlite/session.h"

#include <stdio.h>

#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

enum { LOOK_MS = 1000 };

struct table {
    enum culex_sqlite_statement next, drop;
};

static culex_status row_drop(struct culex_sqlite *store, const struct table *table,
                             const struct culex_sqlite_round *round, culex_error *error)
{
    struct culex_sqlite_value values[] = {SQL_INT(round->queue), SQL_TEXT(round->name)};
    return culex__sqlite_finish(store, culex__sqlite_bind(store, table->drop, values, 2), error);
}

/* Goes on to the next row; behind the last one, to the beginning. */
static culex_status row_next(struct culex_sqlite *store, const struct table *table,
                             struct culex_sqlite_round *round, int64_t *ret_seen_ms,
                             bool *ret_is_end, culex_error *error)
{
    struct culex_sqlite_value values[] = {SQL_INT(round->queue), SQL_TEXT(round->name)};
    sqlite3_stmt *row = culex__sqlite_bind(store, table->next, values, 2);
    int has = culex__sqlite_next(store, row, error);
    *ret_is_end = has <= 0;
    round->queue = has > 0 ? sqlite3_column_int64(row, 0) : 0;
    *ret_seen_ms = has > 0 ? sqlite3_column_int64(row, 2) : INT64_MAX;
    snprintf(round->name, sizeof round->name, "%s",
             has > 0 ? (const char *)sqlite3_column_text(row, 1) : "");
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

static culex_status rows_forget(struct culex_sqlite *store, const struct table *table,
                                struct culex_sqlite_round *round, culex_error *error)
{
    int64_t before_ms = store->now_ms - CULEX_SESSION_TTL_MS, seen_ms = 0;
    bool is_end = false;
    culex_status status = CULEX_OK;
    for (int i = 0; i < CULEX_FORGET_MAX && !is_end && status == CULEX_OK; i++) {
        status = row_next(store, table, round, &seen_ms, &is_end, error);
        if (status != CULEX_OK || seen_ms >= before_ms)
            continue;
        store->silence.looked_ms = 0; /* where there is one there are more */
        status = row_drop(store, table, round, error);
    }
    return status;
}

culex_status culex__sqlite_silent_forget(struct culex_sqlite *store, culex_error *error)
{
    const struct table memos = {CULEX__SQLITE_MEMO_NEXT, CULEX__SQLITE_MEMO_DROP};
    const struct table workers = {CULEX__SQLITE_WORKER_NEXT, CULEX__SQLITE_WORKER_DROP};
    store->silence.looked_ms = store->now_ms;
    culex_status status = rows_forget(store, &memos, &store->silence.memos, error);
    return status == CULEX_OK ? rows_forget(store, &workers, &store->silence.workers, error)
                              : status;
}

culex_status culex__sqlite_silent_look(struct culex_sqlite *store, culex_error *error)
{
    int64_t since_ms = store->now_ms - store->silence.looked_ms;
    return since_ms >= 0 && since_ms < LOOK_MS ? CULEX_OK
                                               : culex__sqlite_silent_forget(store, error);
}
