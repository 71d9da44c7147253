#include "store/sqlite/log_rows.h"

#include "base/buf.h"
#include "store/sqlite/error.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

/* --- as steps bring them, and as their run goes ---------------------------------------------- */

/* What the run has and the new ones, in `lines`. */
static culex_status lines_join(struct culex_sqlite *store, int64_t seq,
                               const struct culex_log_lines *log, culex_buf *lines,
                               culex_error *error)
{
    sqlite3_stmt *row = SQL_BIND(store, LOG_GET, SQL_INT(seq));
    int has = culex__sqlite_next(store, row, error);
    bool is_whole = true;
    if (has > 0)
        is_whole = culex__buf_append(lines, sqlite3_column_blob(row, 0),
                                     (size_t)sqlite3_column_bytes(row, 0)) == CULEX_OK;
    culex__sqlite_end(row);
    if (has < 0)
        return (culex_status)has;
    is_whole = is_whole && culex__buf_append(lines, log->bytes, log->len) == CULEX_OK;
    return is_whole ? CULEX_OK : culex__sqlite_no_memory(error);
}

static void logs_note(struct culex_sqlite_queue *queue)
{
    queue->is_changed |= queue->logs == 0;
    queue->logs = 1;
}

culex_status culex__sqlite_log_add(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                   int64_t seq, const struct culex_log_lines *log,
                                   culex_error *error)
{
    culex_buf lines;
    if (log->len == 0)
        return CULEX_OK;
    culex_buf_init(&lines, 0);
    culex_status status = lines_join(store, seq, log, &lines, error);
    if (status == CULEX_OK) {
        size_t excess = culex__run_log_excess(lines.data, lines.len, log->most);
        logs_note(queue);
        status = culex__sqlite_finish(store,
                                      SQL_BIND(store, LOG_PUT, SQL_INT(seq),
                                               SQL_BYTES(lines.data + excess, lines.len - excess)),
                                      error);
    }
    culex_buf_release(&lines);
    return status;
}

culex_status culex__sqlite_log_drop(struct culex_sqlite *store,
                                    const struct culex_sqlite_queue *queue, int64_t seq,
                                    culex_error *error)
{
    if (queue->logs == 0)
        return CULEX_OK;
    return culex__sqlite_finish(store, SQL_BIND(store, LOG_DELETE, SQL_INT(seq)), error);
}

/* --- FSCK --------------------------------------------------------------------------------------
 */

/* One that is set and needs not be only costs a look. */
static culex_status mark_check(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               uint64_t *wrong, culex_error *error)
{
    int64_t has_rows = 0;
    if (queue->logs != 0)
        return CULEX_OK;
    culex_status status = culex__sqlite_first_int(
        store,
        SQL_BIND(store, FSCK_LOGS_ANY, SQL_INT(culex__sqlite_queue_first(queue)),
                 SQL_INT(culex__sqlite_queue_last(queue))),
        0, &has_rows, error);
    if (status != CULEX_OK || has_rows == 0)
        return status;
    ++*wrong;
    logs_note(queue);
    return CULEX_OK;
}

culex_status culex__sqlite_logs_check(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                      bool is_repairing, uint64_t *wrong, culex_error *error)
{
    const struct culex_sqlite_value first = SQL_INT(culex__sqlite_queue_first(queue)),
                                    last = SQL_INT(culex__sqlite_queue_last(queue));
    int64_t count = 0;
    culex_status status =
        culex__sqlite_first_int(store, SQL_BIND(store, FSCK_LOGS, first, last), 0, &count, error);
    *wrong += (uint64_t)count;
    if (status == CULEX_OK && count > 0 && is_repairing)
        status = culex__sqlite_finish(store, SQL_BIND(store, FSCK_LOGS_DROP, first, last), error);
    return status == CULEX_OK ? mark_check(store, queue, wrong, error) : status;
}
