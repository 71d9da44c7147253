#include "store/sqlite/log_rows.h"

#include <assert.h>
#include <string.h>

#include "base/buf.h"
#include "store/sqlite/error.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

/* --- as steps bring them, and as their run goes ---------------------------------------------- */

/* The last chunk of a run, and lines on their way behind it. */
struct chunk {
    int64_t seq, number, lines, ends, shown_from;
    culex_buf bytes;
};

/* All zeroes when the run has kept none. */
static culex_status chunk_last(struct culex_sqlite *store, struct chunk *chunk, culex_error *error)
{
    sqlite3_stmt *row = SQL_BIND(store, LOG_LAST, SQL_INT(chunk->seq));
    int has = culex__sqlite_next(store, row, error);
    bool is_whole = true;
    if (has > 0) {
        chunk->number = sqlite3_column_int64(row, 0);
        chunk->lines = sqlite3_column_int64(row, 1);
        chunk->ends = sqlite3_column_int64(row, 2);
        chunk->shown_from = sqlite3_column_int64(row, 3);
        is_whole = culex__buf_append(&chunk->bytes, sqlite3_column_blob(row, 4),
                                     (size_t)sqlite3_column_bytes(row, 4)) == CULEX_OK;
    }
    culex__sqlite_end(row);
    if (has < 0)
        return (culex_status)has;
    return is_whole ? CULEX_OK : culex__sqlite_no_memory(error);
}

static culex_status chunk_put(struct culex_sqlite *store, const struct chunk *chunk,
                              culex_error *error)
{
    return culex__sqlite_finish(store,
                                SQL_BIND(store, LOG_PUT, SQL_INT(chunk->seq),
                                         SQL_INT(chunk->number), SQL_INT(chunk->lines),
                                         SQL_INT(chunk->ends), SQL_INT(chunk->shown_from),
                                         SQL_BYTES(chunk->bytes.data, chunk->bytes.len)),
                                error);
}

/* One line more; the chunk before it is written when it is full. */
static culex_status line_add(struct culex_sqlite *store, struct chunk *chunk, const char *line,
                             size_t len, culex_error *error)
{
    if (chunk->bytes.len > 0 && chunk->bytes.len + len > CULEX_RUN_LOG_CHUNK_BYTES) {
        culex_status status = chunk_put(store, chunk, error);
        if (status != CULEX_OK)
            return status;
        chunk->number++;
        culex__buf_cut(&chunk->bytes, 0);
    }
    chunk->lines++;
    chunk->ends += (int64_t)len;
    return culex__buf_append(&chunk->bytes, line, len) == CULEX_OK ? CULEX_OK
                                                                   : culex__sqlite_no_memory(error);
}

static culex_status lines_add(struct culex_sqlite *store, struct chunk *chunk,
                              const struct culex_log_lines *log, culex_error *error)
{
    culex_status status = CULEX_OK;
    for (size_t at = 0, len; at < log->len && status == CULEX_OK; at += len) {
        const char *stop = memchr(log->bytes + at, '\n', log->len - at);
        assert(stop != NULL); /* store/argument.c */
        len = (size_t)(stop - log->bytes) + 1 - at;
        status = line_add(store, chunk, log->bytes + at, len, error);
    }
    return status;
}

/* The last chunk is written, and chunks go when what is left without them is enough. */
static culex_status lines_keep(struct culex_sqlite *store, struct chunk *chunk,
                               const struct culex_log_lines *log, culex_error *error)
{
    culex_status status = chunk_last(store, chunk, error);
    if (status == CULEX_OK)
        status = lines_add(store, chunk, log, error);
    if (status == CULEX_OK && chunk->shown_from < chunk->lines - (int64_t)log->most)
        chunk->shown_from = chunk->lines - (int64_t)log->most;
    if (status == CULEX_OK)
        status = chunk_put(store, chunk, error);
    if (status != CULEX_OK)
        return status;
    return culex__sqlite_finish(store,
                                SQL_BIND(store, LOG_CUT, SQL_INT(chunk->seq),
                                         SQL_INT(chunk->number), SQL_INT(chunk->shown_from),
                                         SQL_INT(chunk->ends - CULEX_RUN_LOG_BYTES_MAX)),
                                error);
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
    struct chunk chunk = {.seq = seq};
    if (log->len == 0)
        return CULEX_OK;
    store->has_left |= store->leaves_lines;
    if (store->leaves_lines)
        return CULEX_OK;
    culex_buf_init(&chunk.bytes, 0);
    logs_note(queue);
    culex_status status = lines_keep(store, &chunk, log, error);
    culex_buf_release(&chunk.bytes);
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

/* Adds to *wrong what `count` counts; `mend`, of a repair, sets it right. */
static culex_status rows_check(struct culex_sqlite *store, sqlite3_stmt *count, sqlite3_stmt *mend,
                               uint64_t *wrong, culex_error *error)
{
    int64_t found = 0;
    culex_status status = culex__sqlite_first_int(store, count, 0, &found, error);
    *wrong += (uint64_t)found;
    return status == CULEX_OK && found > 0 && mend != NULL
               ? culex__sqlite_finish(store, mend, error)
               : status;
}

culex_status culex__sqlite_logs_check(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                      bool is_repairing, uint64_t *wrong, culex_error *error)
{
    const struct culex_sqlite_value first = SQL_INT(culex__sqlite_queue_first(queue)),
                                    last = SQL_INT(culex__sqlite_queue_last(queue));
    culex_status status = rows_check(
        store, SQL_BIND(store, FSCK_LOGS, first, last),
        is_repairing ? SQL_BIND(store, FSCK_LOGS_DROP, first, last) : NULL, wrong, error);
    if (status == CULEX_OK)
        status = rows_check(store, SQL_BIND(store, FSCK_LOG_BREAKS, first, last),
                            is_repairing ? SQL_BIND(store, FSCK_LOG_BREAKS_CUT, first, last) : NULL,
                            wrong, error);
    if (status == CULEX_OK)
        status = rows_check(store, SQL_BIND(store, FSCK_LOG_SHOWN, first, last),
                            is_repairing ? SQL_BIND(store, FSCK_LOG_SHOWN_SET, first, last) : NULL,
                            wrong, error);
    return status == CULEX_OK ? mark_check(store, queue, wrong, error) : status;
}
