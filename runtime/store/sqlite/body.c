#include "store/sqlite/body.h"

#include <assert.h>
#include <string.h>

#include "store/sqlite/error.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "base/error.h"
#include "core/run_id.h"

/* --- coming in ---------------------------------------------------------------------------- */

bool culex__sqlite_body_fits(const struct culex_sqlite *store,
                             const struct culex_sqlite_queue *queue,
                             const struct culex_new_run *run)
{
    bool has_key = run->unique_key != NULL && run->unique_key[0] != '\0';
    return run->delay_ms <= 0 && run->at_ms == 0 && run->expires_ms <= 0 && !has_key &&
           run->payload_len <= CULEX__SQLITE_INLINE_MAX && store->now_ms >= queue->newest_ms;
}

enum { KIND_VALUES = 7 };

static culex_status kind_key(struct culex_sqlite *store, const struct culex_new_run *run,
                             int64_t *ret_kind, culex_error *error)
{
    const struct culex_sqlite_value values[KIND_VALUES] = {
        SQL_TEXT(run->job),
        SQL_INT((int64_t)run->fingerprint),
        SQL_INT(run->attempts_max),
        SQL_INT(run->timeout_ms),
        SQL_INT(run->keep_success_ms),
        SQL_INT(run->keep_failure_ms),
        SQL_TEXT(run->tags != NULL ? run->tags : "")};
    culex_status status = culex__sqlite_first_int(
        store, culex__sqlite_bind(store, CULEX__SQLITE_KIND_FIND, values, KIND_VALUES), 0, ret_kind,
        error);
    if (status != CULEX_OK || *ret_kind != 0)
        return status;
    status = culex__sqlite_finish(
        store, culex__sqlite_bind(store, CULEX__SQLITE_KIND_ADD, values, KIND_VALUES), error);
    *ret_kind = sqlite3_last_insert_rowid(store->db);
    return status;
}

culex_status culex__sqlite_body_add(struct culex_sqlite *store,
                                    const struct culex_sqlite_queue *queue, culex_uuid id,
                                    const struct culex_new_run *run, culex_error *error)
{
    int64_t kind;
    const void *payload = run->payload_len > 0 ? run->payload : "";
    uint64_t checksum = culex__sqlite_checksum(id, run->job, payload, run->payload_len);
    culex_status status = kind_key(store, run, &kind, error);
    if (status != CULEX_OK)
        return status;
    return culex__sqlite_finish(store,
                                SQL_BIND(store, BODY_ADD,
                                         SQL_INT(culex__sqlite_queue_seq(queue, id)), SQL_INT(kind),
                                         SQL_INT(store->now_ms), SQL_INT((int64_t)checksum),
                                         SQL_BYTES(payload, run->payload_len)),
                                error);
}

/* --- one of them ---------------------------------------------------------------------------- */

/* CULEX_ENOTFOUND, without a text, when there is none. */
static culex_status body_id(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                            int64_t seq, culex_uuid *ret_id, culex_error *error)
{
    int64_t born_ms;
    culex_status status = culex__sqlite_first_int(store, SQL_BIND(store, BODY_BORN, SQL_INT(seq)),
                                                  INT64_MIN, &born_ms, error);
    if (status != CULEX_OK || born_ms == INT64_MIN)
        return status != CULEX_OK ? status : CULEX_ENOTFOUND;
    return culex__sqlite_queue_id_of(queue, seq, born_ms, ret_id)
               ? CULEX_OK
               : culex__sqlite_bad_row(store, error);
}

/* CULEX_ENOTFOUND too when its id is another one. */
static culex_status body_find(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                              culex_uuid id, culex_error *error)
{
    culex_uuid found;
    culex_status status = body_id(store, queue, culex__sqlite_queue_seq(queue, id), &found, error);
    if (status == CULEX_OK && memcmp(&found, &id, sizeof id) != 0)
        return CULEX_ENOTFOUND;
    return status;
}

culex_status culex__sqlite_body_exists(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue, culex_uuid id,
                                       bool *ret_is_there, culex_error *error)
{
    culex_status status = body_find(store, queue, id, error);
    *ret_is_there = status == CULEX_OK;
    return status == CULEX_ENOTFOUND ? CULEX_OK : status;
}

culex_status culex__sqlite_body_forget(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       int64_t seq, culex_error *error)
{
    queue->kept[CULEX_RUN_WAITING]--;
    queue->is_changed = true;
    return culex__sqlite_finish(store, SQL_BIND(store, BODY_DELETE, SQL_INT(seq)), error);
}

culex_status culex__sqlite_body_adopt(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue, int64_t seq,
                                      culex_error *error)
{
    culex_uuid id;
    culex_status status = body_id(store, queue, seq, &id, error);
    if (status == CULEX_OK)
        status = culex__sqlite_finish(
            store, SQL_BIND(store, BODY_OWN, SQL_INT(seq), SQL_INT(queue->key), SQL_ID(&id)),
            error);
    if (status == CULEX_OK)
        status = culex__sqlite_finish(store, SQL_BIND(store, BODY_DELETE, SQL_INT(seq)), error);
    return status;
}

culex_status culex__sqlite_body_or_run(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue, culex_uuid id,
                                       struct culex_sqlite_run *ret_run, culex_error *error)
{
    int64_t seq = culex__sqlite_queue_seq(queue, id);
    const struct culex_sqlite_value key = SQL_INT(seq), name = SQL_ID(&id);
    culex_status status =
        culex__sqlite_run_one(store, SQL_BIND(store, RUN_FIND, key, name), ret_run, error);
    if (status != CULEX_ENOTFOUND)
        return status;
    status = body_find(store, queue, id, error);
    if (status == CULEX_OK)
        status = culex__sqlite_body_adopt(store, queue, seq, error);
    if (status == CULEX_OK)
        status = culex__sqlite_run_one(store, SQL_BIND(store, RUN_FIND, key, name), ret_run, error);
    return status;
}

/* --- many of them --------------------------------------------------------------------------- */

/* Runs of their own that are ready before the first body, at most `most`; that many too when there
 * is no body. */
static culex_status before_count(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                 int64_t priority, int64_t most, int64_t *ret_count,
                                 culex_error *error)
{
    int64_t place, first = culex__sqlite_queue_lane(queue, priority);
    int64_t last = culex__sqlite_queue_lane(queue, priority + 1) - 1;
    *ret_count = most;
    culex_status status =
        culex__sqlite_first_int(store, SQL_BIND(store, BODY_FIRST, SQL_INT(first), SQL_INT(last)),
                                INT64_MIN, &place, error);
    if (status != CULEX_OK || place == INT64_MIN)
        return status;
    return culex__sqlite_first_int(store,
                                   SQL_BIND(store, READY_BEFORE, SQL_INT(queue->key),
                                            SQL_INT(priority), SQL_INT(place), SQL_INT(most)),
                                   0, ret_count, error);
}

/* The bound: runs that were adopted and then not granted stand before the next body. */
culex_status culex__sqlite_bodies_adopt(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, int64_t priority,
                                        size_t want, size_t look_max, culex_error *error)
{
    enum { ROUND = 64 };
    int64_t seqs[ROUND], before;
    size_t count = ROUND;
    const struct culex_sqlite_value first = SQL_INT(culex__sqlite_queue_lane(queue, priority));
    const struct culex_sqlite_value last =
        SQL_INT(culex__sqlite_queue_lane(queue, priority + 1) - 1);
    culex_status status = before_count(store, queue, priority, (int64_t)look_max, &before, error);
    if (status != CULEX_OK || before >= (int64_t)look_max)
        return status;
    while (status == CULEX_OK && want > 0 && count == ROUND) {
        size_t most = want < ROUND ? want : ROUND;
        status = culex__sqlite_collect(store,
                                       SQL_BIND(store, BODIES, first, last, SQL_INT((int64_t)most)),
                                       most, seqs, &count, error);
        for (size_t i = 0; i < count && status == CULEX_OK; i++)
            status = culex__sqlite_body_adopt(store, queue, seqs[i], error);
        if (status == CULEX_ENOTFOUND) /* a row that was met a moment ago */
            status = culex__sqlite_bad_row(store, error);
        want -= count;
    }
    return status;
}

culex_status culex__sqlite_bodies_priority(struct culex_sqlite *store,
                                           const struct culex_sqlite_queue *queue,
                                           int64_t *priority, culex_error *error)
{
    int64_t seq;
    int64_t last = culex__sqlite_queue_lane(queue, *priority) - 1;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, BODY_LAST, SQL_INT(culex__sqlite_queue_first(queue)), SQL_INT(last)),
        -1, &seq, error);
    *priority = seq < 0 ? -1 : (seq >> CULEX__SQLITE_LANE_SHIFT & CULEX_RUN_LANE_MAX);
    return status;
}

/* --- as runs -------------------------------------------------------------------------------- */

static bool is_body(sqlite3_stmt *statement)
{
    return sqlite3_column_type(statement, CULEX__SQLITE_COLUMN_id) == SQLITE_NULL;
}

static bool id_make(const struct culex_sqlite_queue *queue, sqlite3_stmt *statement,
                    culex_uuid *ret_id)
{
    int64_t seq = sqlite3_column_int64(statement, CULEX__SQLITE_COLUMN_seq);
    int64_t born_ms = sqlite3_column_int64(statement, CULEX__SQLITE_COLUMN_created_at_ms);
    return culex__sqlite_queue_id_of(queue, seq, born_ms, ret_id);
}

bool culex__sqlite_body_read(const struct culex_sqlite_queue *queue, sqlite3_stmt *statement,
                             struct culex_sqlite_run *ret_run)
{
    return culex__sqlite_run_read(statement, ret_run) &&
           (!is_body(statement) || id_make(queue, statement, &ret_run->id));
}

bool culex__sqlite_body_is(const struct culex_sqlite_queue *queue, sqlite3_stmt *statement,
                           culex_uuid id)
{
    culex_uuid made;
    return !is_body(statement) ||
           (id_make(queue, statement, &made) && memcmp(&made, &id, sizeof id) == 0);
}
