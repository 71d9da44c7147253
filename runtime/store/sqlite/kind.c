/* store/sqlite/kind.c - kinds, and how those that no run has any more are forgotten.
 *
 * Nobody counts the runs of a kind: that would be one more row to write in each call. A sweep finds
 * out, once a queue has made so many kinds that it is worth it: it takes a new number, walks the
 * queue's bodies, a portion in each STEP, and gives that number to each kind that it meets; an
 * enqueue gives it to each kind that it uses. When it is at the end, a kind with a smaller number
 * is nobody's: a body that the walk did not meet is gone, or has come since. */
#include "store/sqlite/kind.h"

#include <string.h>

#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

enum { SWEEP_MIN = 64 };

/* --- one of them ---------------------------------------------------------------------------- */

/* 0 when there is none. */
static culex_status kind_find(struct culex_sqlite *store, const struct culex_sqlite_value *values,
                              size_t count, int64_t *ret_kind, int64_t *ret_sweep,
                              culex_error *error)
{
    sqlite3_stmt *row = culex__sqlite_bind(store, CULEX__SQLITE_KIND_FIND, values, count);
    int has = culex__sqlite_next(store, row, error);
    *ret_kind = has > 0 ? sqlite3_column_int64(row, 0) : 0;
    *ret_sweep = has > 0 ? sqlite3_column_int64(row, 1) : 0;
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

static bool kind_read(sqlite3_stmt *row, struct culex_sqlite_kind *ret_kind)
{
    const char *job = (const char *)sqlite3_column_text(row, 0);
    int64_t attempts_max = sqlite3_column_int64(row, 2);
    ret_kind->fingerprint = (uint64_t)sqlite3_column_int64(row, 1);
    ret_kind->attempts_max = (uint32_t)attempts_max;
    ret_kind->timeout_ms = sqlite3_column_int64(row, 3);
    ret_kind->keep_success_ms = sqlite3_column_int64(row, 4);
    if (job == NULL || sqlite3_column_bytes(row, 0) > CULEX_JOB_NAME_MAX)
        return false;
    strcpy(ret_kind->job, job);
    return attempts_max >= 0 && attempts_max <= UINT32_MAX;
}

culex_status culex__sqlite_kind_load(struct culex_sqlite *store, int64_t key,
                                     struct culex_sqlite_kind *kind, culex_error *error)
{
    if (kind->key == key && key != 0)
        return CULEX_OK;
    sqlite3_stmt *row = SQL_BIND(store, KIND_GET, SQL_INT(key));
    int has = culex__sqlite_next(store, row, error);
    kind->is_there = has > 0 && kind_read(row, kind);
    kind->key = has >= 0 ? key : 0;
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

static culex_status kind_seen(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                              int64_t kind, culex_error *error)
{
    return culex__sqlite_finish(
        store, SQL_BIND(store, KIND_SEEN, SQL_INT(kind), SQL_INT(queue->sweep)), error);
}

static culex_status kind_add(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                             const struct culex_sqlite_value *values, size_t count,
                             int64_t *ret_kind, culex_error *error)
{
    culex_status status = culex__sqlite_finish(
        store, culex__sqlite_bind(store, CULEX__SQLITE_KIND_ADD, values, count), error);
    *ret_kind = sqlite3_last_insert_rowid(store->db);
    queue->kinds_left--;
    queue->is_changed = true;
    return status;
}

static bool is_text_same(const char *one, const char *other)
{
    return one == other || strcmp(one != NULL ? one : "", other != NULL ? other : "") == 0;
}

static bool is_kind_same(const struct culex_new_run *one, const struct culex_new_run *other)
{
    return one->fingerprint == other->fingerprint && one->attempts_max == other->attempts_max &&
           one->timeout_ms == other->timeout_ms && one->keep_success_ms == other->keep_success_ms &&
           one->keep_failure_ms == other->keep_failure_ms && is_text_same(one->job, other->job) &&
           is_text_same(one->tags, other->tags);
}

static culex_status kind_get(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                             const struct culex_new_run *run, int64_t *ret_kind, culex_error *error)
{
    const struct culex_sqlite_value values[] = {SQL_INT(queue->sweep),
                                                SQL_INT(queue->key),
                                                SQL_TEXT(run->job),
                                                SQL_INT((int64_t)run->fingerprint),
                                                SQL_INT(run->attempts_max),
                                                SQL_INT(run->timeout_ms),
                                                SQL_INT(run->keep_success_ms),
                                                SQL_INT(run->keep_failure_ms),
                                                SQL_TEXT(run->tags != NULL ? run->tags : "")};
    enum { COUNT = sizeof values / sizeof values[0] };
    int64_t sweep;
    culex_status status = kind_find(store, values + 1, COUNT - 1, ret_kind, &sweep, error);
    if (status != CULEX_OK)
        return status;
    if (*ret_kind == 0)
        return kind_add(store, queue, values, COUNT, ret_kind, error);
    return sweep != queue->sweep ? kind_seen(store, queue, *ret_kind, error) : CULEX_OK;
}

static bool is_recent(const struct culex_sqlite_recent_kind *recent,
                      const struct culex_sqlite_queue *queue, const struct culex_new_run *run)
{
    return recent->key != 0 && recent->queue == queue->key && recent->sweep == queue->sweep &&
           is_kind_same(&recent->run, run);
}

static void recent_keep(struct culex_sqlite_recent_kind *recent,
                        const struct culex_sqlite_queue *queue, const struct culex_new_run *run,
                        int64_t kind)
{
    const char *tags = run->tags != NULL ? run->tags : "";
    recent->key = 0;
    if (strlen(run->job) >= sizeof recent->job || strlen(tags) >= sizeof recent->tags)
        return;
    recent->run = *run;
    recent->run.job = strcpy(recent->job, run->job);
    recent->run.tags = strcpy(recent->tags, tags);
    recent->queue = queue->key;
    recent->sweep = queue->sweep;
    recent->key = kind;
}

culex_status culex__sqlite_kind_of(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                   const struct culex_new_run *run, int64_t *ret_kind,
                                   culex_error *error)
{
    struct culex_sqlite_recent_kind *recent = &store->recent_kind;
    if (is_recent(recent, queue, run)) {
        *ret_kind = recent->key;
        return CULEX_OK;
    }
    culex_status status = kind_get(store, queue, run, ret_kind, error);
    if (status == CULEX_OK)
        recent_keep(recent, queue, run, *ret_kind);
    return status;
}

/* --- the sweep ------------------------------------------------------------------------------ */

static void sweep_begin(struct culex_sqlite_queue *queue)
{
    queue->sweep++;
    queue->swept = culex__sqlite_queue_first(queue);
    queue->is_changed = true;
}

/* The kinds of the next `most` bodies are in use. */
static culex_status bodies_walk(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                size_t most, bool *ret_is_end, culex_error *error)
{
    sqlite3_stmt *row = SQL_BIND(store, KIND_BODIES, SQL_INT(queue->swept),
                                 SQL_INT(culex__sqlite_queue_last(queue)), SQL_INT((int64_t)most));
    int64_t kind = 0;
    size_t count = 0;
    int has = 0;
    culex_status status = CULEX_OK;
    while (status == CULEX_OK && (has = culex__sqlite_next(store, row, error)) > 0) {
        bool is_other = sqlite3_column_int64(row, 1) != kind;
        queue->swept = sqlite3_column_int64(row, 0);
        kind = sqlite3_column_int64(row, 1);
        count++;
        if (is_other)
            status = kind_seen(store, queue, kind, error);
    }
    culex__sqlite_end(row);
    *ret_is_end = count < most;
    return has < 0 ? (culex_status)has : status;
}

static culex_status kinds_forget(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                 size_t most, bool *ret_is_end, culex_error *error)
{
    culex_status status =
        culex__sqlite_finish(store,
                             SQL_BIND(store, KINDS_FORGET, SQL_INT(queue->key),
                                      SQL_INT(queue->sweep), SQL_INT((int64_t)most)),
                             error);
    *ret_is_end = sqlite3_changes(store->db) < (int)most;
    return status;
}

/* The next one is due when there are twice as many, so that its walk is worth it. */
static culex_status sweep_end(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              culex_error *error)
{
    int64_t count;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, KIND_COUNT, SQL_INT(queue->key)), 0, &count, error);
    queue->swept = 0;
    queue->kinds_left = CULEX__SQLITE_KINDS_MIN + count;
    return status;
}

static culex_status sweep_go_on(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                size_t most, culex_error *error)
{
    int64_t last = culex__sqlite_queue_last(queue);
    bool is_end;
    queue->is_changed = true;
    if (queue->swept == last) {
        culex_status status = kinds_forget(store, queue, most, &is_end, error);
        return status == CULEX_OK && is_end ? sweep_end(store, queue, error) : status;
    }
    culex_status status = bodies_walk(store, queue, most, &is_end, error);
    if (is_end)
        queue->swept = last;
    return status;
}

culex_status culex__sqlite_kinds_sweep(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       size_t added, culex_error *error)
{
    if (queue->swept == 0 && queue->kinds_left > 0)
        return CULEX_OK;
    if (queue->swept == 0)
        sweep_begin(queue);
    return sweep_go_on(store, queue, SWEEP_MIN + 2 * added, error);
}
