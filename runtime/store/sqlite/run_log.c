/* store/sqlite/run_log.c - RUN_LOG: the log lines that a run has kept. */
#include "base/buf.h"
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

static culex_status lines_read(struct culex_sqlite *store, int64_t seq, culex_buf *lines,
                               culex_error *error)
{
    sqlite3_stmt *row = SQL_BIND(store, LOG_GET, SQL_INT(seq));
    int has = culex__sqlite_next(store, row, error);
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    if (has > 0 && culex__buf_append(lines, sqlite3_column_blob(row, 0),
                                     (size_t)sqlite3_column_bytes(row, 0)) != CULEX_OK)
        status = culex__sqlite_no_memory(error);
    culex__sqlite_end(row);
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
