/* store/sqlite/run_log.c - RUN_LOG: the log lines that a run has kept. */
#include "base/buf.h"
#include "core/run_log.h"
#include "store/refusal.h"
#include "store/sqlite/body.h"
#include "store/sqlite/error.h"
#include "store/sqlite/run.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/verb.h"
#include "store/sqlite/verbs.h"

struct request {
    culex_uuid id;
    culex_buf *lines;
};

/* All chunks, and how many of their lines are kept, by what the last one says. */
static culex_status chunks_read(struct culex_sqlite *store, int64_t seq, culex_buf *chunks,
                                int64_t *ret_shown, culex_error *error)
{
    sqlite3_stmt *row = SQL_BIND(store, LOG_GET, SQL_INT(seq));
    culex_status status = CULEX_OK;
    int has;
    while (status == CULEX_OK && (has = culex__sqlite_next(store, row, error)) != 0) {
        if (has < 0) {
            status = (culex_status)has;
            break;
        }
        *ret_shown = sqlite3_column_int64(row, 0);
        if (culex__buf_append(chunks, sqlite3_column_blob(row, 1),
                              (size_t)sqlite3_column_bytes(row, 1)) != CULEX_OK)
            status = culex__sqlite_no_memory(error);
    }
    culex__sqlite_end(row);
    return status;
}

/* The last lines of the chunks, so many as the run keeps. */
static culex_status lines_read(struct culex_sqlite *store, int64_t seq, culex_buf *lines,
                               culex_error *error)
{
    culex_buf chunks;
    int64_t shown = 0;
    culex_buf_init(&chunks, 0);
    culex_status status = chunks_read(store, seq, &chunks, &shown, error);
    if (shown < 0 || shown > CULEX_RUN_LINES_MAX)
        shown = CULEX_RUN_LINES_MAX; /* damaged */
    size_t excess = culex__run_log_excess(chunks.data, chunks.len, (uint32_t)shown);
    if (status == CULEX_OK && chunks.len > excess &&
        culex__buf_append(lines, chunks.data + excess, chunks.len - excess) != CULEX_OK)
        status = culex__sqlite_no_memory(error);
    culex_buf_release(&chunks);
    return status;
}

/* An ordinary run has none: who brings the first makes it one of table run. */
static culex_status body_look(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                              culex_uuid id, culex_error *error)
{
    culex_run_state state;
    culex_status status = culex__sqlite_body_state(store, queue, id, &state, error);
    return status == CULEX_ENOTFOUND ? culex__refuse_run(queue->name, error) : status;
}

static culex_status run_log(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                            void *user, culex_error *error)
{
    const struct request *request = user;
    struct culex_sqlite_run run;
    int64_t seq = culex__sqlite_queue_seq(queue, request->id);
    culex_status status = culex__sqlite_run_one(
        store, SQL_BIND(store, RUN_FIND, SQL_INT(seq), SQL_ID(&request->id)), &run, error);
    if (status == CULEX_ENOTFOUND)
        return body_look(store, queue, request->id, error);
    return status == CULEX_OK ? lines_read(store, seq, request->lines, error) : status;
}

culex_status culex__sqlite_run_log(struct culex_store *base, const char *queue, culex_uuid id,
                                   culex_buf *ret_lines, culex_error *error)
{
    struct request request = {id, ret_lines};
    return culex__sqlite_verb_read(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_EMPTY,
                                   run_log, &request, error);
}
