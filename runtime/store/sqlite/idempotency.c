#include "store/sqlite/idempotency.h"

#include <string.h>

#include "store/sqlite/error.h"
#include "store/sqlite/run.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

culex_status culex__sqlite_key_find(struct culex_sqlite *store,
                                    const struct culex_sqlite_queue *queue,
                                    const struct culex_new_run *run,
                                    struct culex_enqueue_result *result, culex_error *error)
{
    if (!culex__sqlite_has_key(run))
        return CULEX_OK;
    sqlite3_stmt *row = SQL_BIND(store, KEY_GET, SQL_INT(queue->key),
                                 SQL_TEXT(run->idempotency_key), SQL_INT(store->now_ms));
    int has = culex__sqlite_next(store, row, error);
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    if (has > 0) {
        bool is_same = (uint64_t)sqlite3_column_int64(row, 0) == run->content;
        result->outcome = is_same ? CULEX_ENQUEUED_DUPLICATE : CULEX_ENQUEUED_CONFLICT;
        if (sqlite3_column_bytes(row, 1) == (int)sizeof result->id)
            memcpy(&result->id, sqlite3_column_blob(row, 1), sizeof result->id);
        else
            status = culex__sqlite_bad_row(store, error);
    }
    culex__sqlite_end(row);
    return status;
}

culex_status culex__sqlite_key_keep(struct culex_sqlite *store,
                                    const struct culex_sqlite_queue *queue,
                                    const struct culex_new_run *run, culex_uuid id,
                                    culex_error *error)
{
    int64_t until_ms = culex__sqlite_later(store->now_ms, run->window_ms);
    return culex__sqlite_finish(
        store,
        SQL_BIND(store, KEY_SET, SQL_INT(queue->key), SQL_TEXT(run->idempotency_key),
                 SQL_INT((int64_t)run->content), SQL_ID(&id), SQL_INT(until_ms)),
        error);
}

static culex_status key_forget(struct culex_sqlite *store, bool *ret_is_gone, culex_error *error)
{
    sqlite3_stmt *row = SQL_BIND(store, KEY_OVER, SQL_INT(store->now_ms));
    int has = culex__sqlite_next(store, row, error);
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    *ret_is_gone = has > 0;
    if (has > 0)
        status =
            culex__sqlite_finish(store,
                                 SQL_BIND(store, KEY_DELETE, SQL_INT(sqlite3_column_int64(row, 0)),
                                          SQL_TEXT((const char *)sqlite3_column_text(row, 1))),
                                 error);
    culex__sqlite_end(row);
    return status;
}

culex_status culex__sqlite_keys_forget(struct culex_sqlite *store, size_t added, culex_error *error)
{
    bool is_gone = true;
    culex_status status = CULEX_OK;
    for (size_t i = 0; i < added + CULEX_FORGET_MAX && is_gone && status == CULEX_OK; i++)
        status = key_forget(store, &is_gone, error);
    return status;
}
