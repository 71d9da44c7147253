#include "store/sqlite/unique.h"

#include <string.h>

#include "store/sqlite/error.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

/* --- whose it is ------------------------------------------------------------------------------ */

static bool is_keeping(int64_t states, culex_run_state state)
{
    return (states >> state & 1) != 0;
}

/* Of the end of a window, and of an expiry. */
static bool is_within(const struct culex_sqlite *store, int64_t until_ms)
{
    return until_ms == 0 || until_ms > store->now_ms;
}

static culex_run_state state_now(const struct culex_sqlite *store, bool is_active, bool is_delayed,
                                 int64_t at_ms)
{
    if (is_active)
        return CULEX_RUN_ACTIVE;
    return is_delayed && at_ms > store->now_ms ? CULEX_RUN_SCHEDULED : CULEX_RUN_WAITING;
}

static culex_status id_read(struct culex_sqlite *store, sqlite3_stmt *row, int column,
                            culex_uuid *ret_id, culex_error *error)
{
    if (sqlite3_column_bytes(row, column) != (int)sizeof *ret_id)
        return culex__sqlite_bad_row(store, error);
    memcpy(ret_id, sqlite3_column_blob(row, column), sizeof *ret_id);
    return CULEX_OK;
}

/* ORDER UNIQUE_RUN: seq, id, is active, is_delayed, at_ms, unique_while, unique_until_ms,
 * expires_at_ms. */
static culex_status marked_read(struct culex_sqlite *store, sqlite3_stmt *row,
                                struct culex_sqlite_unique *unique, culex_error *error)
{
    unique->marked = sqlite3_column_int64(row, 0);
    culex_run_state state =
        state_now(store, sqlite3_column_int(row, 2) != 0, sqlite3_column_int(row, 3) != 0,
                  sqlite3_column_int64(row, 4));
    unique->is_held =
        is_keeping(sqlite3_column_int64(row, 5), state) &&
        is_within(store, sqlite3_column_int64(row, 6)) &&
        (state != CULEX_RUN_WAITING || is_within(store, sqlite3_column_int64(row, 7)));
    return unique->is_held ? id_read(store, row, 1, &unique->holder, error) : CULEX_OK;
}

static culex_status window_read(struct culex_sqlite *store, sqlite3_stmt *row,
                                struct culex_sqlite_unique *unique, culex_error *error)
{
    unique->has_window = true;
    unique->is_held = sqlite3_column_int64(row, 1) > store->now_ms;
    return unique->is_held ? id_read(store, row, 0, &unique->holder, error) : CULEX_OK;
}

/* The statement's row, if there is one, read by `read`. */
static culex_status row_look(struct culex_sqlite *store, sqlite3_stmt *row,
                             culex_status (*read)(struct culex_sqlite *store, sqlite3_stmt *row,
                                                  struct culex_sqlite_unique *unique,
                                                  culex_error *error),
                             struct culex_sqlite_unique *unique, culex_error *error)
{
    int has = culex__sqlite_next(store, row, error);
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    if (has > 0)
        status = read(store, row, unique, error);
    culex__sqlite_end(row);
    return status;
}

culex_status culex__sqlite_unique_find(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue, const char *key,
                                       struct culex_sqlite_unique *ret_unique, culex_error *error)
{
    *ret_unique = (struct culex_sqlite_unique){.is_held = false};
    culex_status status =
        row_look(store, SQL_BIND(store, UNIQUE_RUN, SQL_INT(queue->key), SQL_TEXT(key)),
                 marked_read, ret_unique, error);
    if (status != CULEX_OK || ret_unique->is_held)
        return status;
    return row_look(store, SQL_BIND(store, WINDOW_GET, SQL_INT(queue->key), SQL_TEXT(key)),
                    window_read, ret_unique, error);
}

/* --- taking it -------------------------------------------------------------------------------- */

static culex_status mark_set(struct culex_sqlite *store, int64_t seq, bool has_key,
                             culex_error *error)
{
    return culex__sqlite_finish(store, SQL_BIND(store, UNIQUE_MARK, SQL_INT(seq), SQL_INT(has_key)),
                                error);
}

culex_status culex__sqlite_unique_clear(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, const char *key,
                                        const struct culex_sqlite_unique *seen, culex_error *error)
{
    culex_status status = CULEX_OK;
    if (seen->marked != 0)
        status = mark_set(store, seen->marked, false, error);
    if (status == CULEX_OK && seen->has_window)
        status = culex__sqlite_finish(
            store, SQL_BIND(store, WINDOW_DELETE, SQL_INT(queue->key), SQL_TEXT(key)), error);
    return status;
}

culex_status culex__sqlite_window_keep(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue,
                                       const struct culex_new_run *run, culex_uuid id,
                                       culex_error *error)
{
    if (!culex__sqlite_is_unique(run) || run->unique_while != 0)
        return CULEX_OK;
    int64_t until_ms = store->now_ms + run->unique_for_ms; /* culex__argument_enqueue: 30 days */
    return culex__sqlite_finish(store,
                                SQL_BIND(store, WINDOW_ADD, SQL_INT(queue->key),
                                         SQL_TEXT(run->unique_key), SQL_ID(&id), SQL_INT(until_ms)),
                                error);
}

/* --- coming back ------------------------------------------------------------------------------ */

static culex_status free_take(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                              struct culex_sqlite_run *run, const char *key, bool *ret_is_held,
                              culex_error *error)
{
    struct culex_sqlite_unique unique;
    culex_status status = culex__sqlite_unique_find(store, queue, key, &unique, error);
    *ret_is_held = unique.is_held;
    if (status != CULEX_OK || unique.is_held)
        return status;
    status = culex__sqlite_unique_clear(store, queue, key, &unique, error);
    if (status == CULEX_OK)
        status = mark_set(store, run->seq, true, error);
    run->has_key = status == CULEX_OK;
    return status;
}

culex_status culex__sqlite_unique_return(struct culex_sqlite *store,
                                         const struct culex_sqlite_queue *queue,
                                         struct culex_sqlite_run *run, bool *ret_is_held,
                                         culex_error *error)
{
    culex_run_state state =
        state_now(store, run->state == CULEX_RUN_ACTIVE, run->is_delayed, run->at_ms);
    *ret_is_held = false;
    if (run->has_key || !is_keeping(run->unique_while, state) ||
        !is_within(store, run->unique_until_ms))
        return CULEX_OK;
    sqlite3_stmt *row = SQL_BIND(store, UNIQUE_KEY, SQL_INT(run->seq));
    int has = culex__sqlite_next(store, row, error);
    const char *key = has > 0 ? (const char *)sqlite3_column_text(row, 0) : NULL;
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    if (key != NULL)
        status = free_take(store, queue, run, key, ret_is_held, error);
    culex__sqlite_end(row);
    return status;
}

culex_status culex__sqlite_unique_revive(struct culex_sqlite *store,
                                         const struct culex_sqlite_queue *queue,
                                         struct culex_sqlite_run *run, bool *ret_is_held,
                                         culex_error *error)
{
    struct culex_sqlite_run waiting = *run;
    waiting.state = CULEX_RUN_WAITING;
    waiting.is_delayed = waiting.has_key = false;
    culex_status status = run->has_key ? mark_set(store, run->seq, false, error) : CULEX_OK;
    if (status == CULEX_OK)
        status = culex__sqlite_unique_return(store, queue, &waiting, ret_is_held, error);
    run->has_key = waiting.has_key;
    return status;
}

/* --- forgetting ------------------------------------------------------------------------------- */

static culex_status window_forget(struct culex_sqlite *store, bool *ret_is_gone, culex_error *error)
{
    sqlite3_stmt *row = SQL_BIND(store, WINDOW_OVER, SQL_INT(store->now_ms));
    int has = culex__sqlite_next(store, row, error);
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    *ret_is_gone = has > 0;
    if (has > 0)
        status = culex__sqlite_finish(store,
                                      SQL_BIND(store, WINDOW_DELETE,
                                               SQL_INT(sqlite3_column_int64(row, 0)),
                                               SQL_TEXT((const char *)sqlite3_column_text(row, 1))),
                                      error);
    culex__sqlite_end(row);
    return status;
}

culex_status culex__sqlite_windows_forget(struct culex_sqlite *store, size_t added,
                                          culex_error *error)
{
    bool is_gone = true;
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < added + CULEX_FORGET_MAX && is_gone && status == CULEX_OK; i++)
        status = window_forget(store, &is_gone, error);
    return status;
}
