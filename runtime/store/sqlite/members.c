#include "store/sqlite/members.h"

#include <string.h>

#include "store/sqlite/error.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/argument.h"
#include "store/refusal.h"
#include "store/template.h"
#include "base/buf.h"
#include "base/error.h"
#include "core/queue_name.h"

/* --- rows ----------------------------------------------------------------------------------- */

void culex__sqlite_batches_note(struct culex_sqlite_queue *queue)
{
    queue->is_changed |= queue->batches == 0;
    queue->batches = 1;
}

/* ORDER BATCH: as BATCH_COLUMNS of statement.def. CULEX_ENOTFOUND without a text. */
static culex_status batch_read(struct culex_sqlite *store, sqlite3_stmt *row,
                               struct culex_sqlite_batch *ret_batch, culex_error *error)
{
    int has = culex__sqlite_next(store, row, error);
    if (has > 0) {
        const char *state = (const char *)sqlite3_column_text(row, 1);
        const void *parent = sqlite3_column_blob(row, 10);
        *ret_batch = (struct culex_sqlite_batch){.key = sqlite3_column_int64(row, 0),
                                                 .state = state != NULL ? state[0] : 'E',
                                                 .is_expired = sqlite3_column_int64(row, 2),
                                                 .added = sqlite3_column_int64(row, 3),
                                                 .done = sqlite3_column_int64(row, 4),
                                                 .dead = sqlite3_column_int64(row, 5),
                                                 .cancelled = sqlite3_column_int64(row, 6),
                                                 .keep_ms = sqlite3_column_int64(row, 7),
                                                 .at_ms = sqlite3_column_int64(row, 8),
                                                 .depth = sqlite3_column_int64(row, 9)};
        if (parent != NULL && sqlite3_column_bytes(row, 10) == sizeof ret_batch->parent.b)
            memcpy(ret_batch->parent.b, parent, sizeof ret_batch->parent.b);
    }
    culex__sqlite_end(row);
    return has > 0 ? CULEX_OK : has < 0 ? (culex_status)has : CULEX_ENOTFOUND;
}

culex_status culex__sqlite_batch_find(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue, culex_uuid id,
                                      struct culex_sqlite_batch *ret_batch, culex_error *error)
{
    culex_status status = batch_read(
        store, SQL_BIND(store, BATCH_FIND, SQL_INT(queue->key), SQL_ID(&id)), ret_batch, error);
    return status == CULEX_ENOTFOUND ? culex__refuse_batch(queue->name, error) : status;
}

culex_status culex__sqlite_batch_seek(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue, culex_uuid id,
                                      struct culex_sqlite_batch *ret_batch, culex_error *error)
{
    *ret_batch = (struct culex_sqlite_batch){.key = 0};
    culex_status status = batch_read(
        store, SQL_BIND(store, BATCH_FIND, SQL_INT(queue->key), SQL_ID(&id)), ret_batch, error);
    return status == CULEX_ENOTFOUND ? CULEX_OK : status;
}

culex_status culex__sqlite_batch_find_live(struct culex_sqlite *store,
                                           const struct culex_sqlite_queue *queue, culex_uuid id,
                                           struct culex_sqlite_batch *ret_batch, culex_error *error)
{
    culex_status status = culex__sqlite_batch_find(store, queue, id, ret_batch, error);
    return status == CULEX_OK && ret_batch->state == 'E'
               ? culex__refuse_ended_batch(queue->name, error)
               : status;
}

culex_status culex__sqlite_batch_save(struct culex_sqlite *store,
                                      const struct culex_sqlite_batch *batch, culex_error *error)
{
    const char state[] = {batch->state, '\0'};
    return culex__sqlite_finish(
        store,
        SQL_BIND(store, BATCH_SAVE, SQL_TEXT(state), SQL_INT(batch->is_expired),
                 SQL_INT(batch->added), SQL_INT(batch->done), SQL_INT(batch->dead),
                 SQL_INT(batch->cancelled), SQL_INT(batch->at_ms), SQL_INT(batch->key)),
        error);
}

bool culex__sqlite_batch_is_success(const struct culex_sqlite_batch *batch)
{
    return batch->done == batch->added && batch->is_expired == 0;
}

bool culex__sqlite_batch_tells(const struct culex_sqlite_batch *batch, culex_batch_when when)
{
    if (when == CULEX_BATCH_ON_DEATH)
        return batch->dead > 0;
    return batch->state == 'E' &&
           (when == CULEX_BATCH_ON_COMPLETE || culex__sqlite_batch_is_success(batch));
}

bool culex__sqlite_batch_never_tells(const struct culex_sqlite_batch *batch, culex_batch_when when)
{
    if (when == CULEX_BATCH_ON_DEATH)
        return batch->state == 'E' && batch->dead == 0;
    return when == CULEX_BATCH_ON_SUCCESS &&
           (batch->dead + batch->cancelled > 0 || batch->is_expired != 0);
}

culex_status culex__sqlite_batch_by_key(struct culex_sqlite *store, int64_t key,
                                        struct culex_sqlite_batch *ret_batch, culex_error *error)
{
    return batch_read(store, SQL_BIND(store, BATCH_BY, SQL_INT(key)), ret_batch, error);
}

/* --- callbacks ------------------------------------------------------------------------------ */

/* ORDER CALLBACK: as CALL_NEXT and FSCK_CALL of statement.def. */
culex_status culex__sqlite_callback_take(sqlite3_stmt *row, struct culex_sqlite_callback *callback,
                                         culex_error *error)
{
    const char *target = (const char *)sqlite3_column_text(row, 2);
    const void *bytes = sqlite3_column_blob(row, 4);
    callback->batch = sqlite3_column_int64(row, 0);
    callback->when = sqlite3_column_int64(row, 1);
    callback->delay_ms = sqlite3_column_int64(row, 3);
    callback->target[0] = '\0';
    culex__buf_cut(&callback->run, 0);
    if (target == NULL || bytes == NULL || culex__queue_check(target, NULL) != CULEX_OK)
        return CULEX_OK;
    strcpy(callback->target, target);
    size_t len = (size_t)sqlite3_column_bytes(row, 4);
    return culex__buf_append(&callback->run, bytes, len) == CULEX_OK
               ? CULEX_OK
               : culex__sqlite_no_memory(error);
}

culex_status culex__sqlite_callback_run(const struct culex_sqlite_callback *callback,
                                        struct culex_run_limit ret_limits[CULEX_RUN_LIMITS_MAX],
                                        struct culex_new_run *ret_run, culex_error *error)
{
    culex_error why = {.text = "its row is damaged"};
    culex_status status =
        callback->target[0] != '\0'
            ? culex__template_read(callback->run.data, callback->run.len, ret_limits, ret_run, &why)
            : CULEX_ECORRUPT;
    if (status == CULEX_OK) {
        ret_run->delay_ms = callback->delay_ms;
        status = culex__argument_enqueue(callback->target, NULL, ret_run, 1, &why);
    }
    return status == CULEX_OK ? status
                              : culex__fail(error, CULEX_ECORRUPT,
                                            "it cannot be read (%.100s), and is put aside: "
                                            "culex_client_fsck takes it away",
                                            why.text);
}

/* --- ends ----------------------------------------------------------------------------------- */

/* The callback of this kind, if it waits, is to be brought; an idle worker looks for it. */
static culex_status tell(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                         const struct culex_sqlite_batch *batch, culex_batch_when when,
                         culex_error *error)
{
    culex_status status = culex__sqlite_finish(
        store, SQL_BIND(store, CALL_TELL, SQL_INT(batch->key), SQL_INT(when)), error);
    queue->has_news = queue->has_news || sqlite3_changes(store->db) > 0;
    return status;
}

/* Whether it has ended by now; then the callbacks are told. */
static culex_status end_look(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                             struct culex_sqlite_batch *batch, bool *ret_has_ended,
                             culex_error *error)
{
    *ret_has_ended =
        batch->state == 'C' && batch->added <= batch->done + batch->dead + batch->cancelled;
    if (*ret_has_ended) {
        batch->state = 'E';
        batch->at_ms = culex__sqlite_later(store->now_ms, batch->keep_ms);
    }
    culex_status status = culex__sqlite_batch_save(store, batch, error);
    if (status == CULEX_OK && *ret_has_ended)
        status = tell(store, queue, batch, CULEX_BATCH_ON_COMPLETE, error);
    if (status == CULEX_OK && *ret_has_ended && culex__sqlite_batch_is_success(batch))
        status = tell(store, queue, batch, CULEX_BATCH_ON_SUCCESS, error);
    return status;
}

static bool has_parent(const struct culex_sqlite_batch *batch)
{
    static const culex_uuid none;
    return memcmp(&batch->parent, &none, sizeof none) != 0;
}

/* As which a batch that has ended counts in the one that it is in. */
static culex_run_state end_of(const struct culex_sqlite_batch *batch)
{
    if (culex__sqlite_batch_is_success(batch))
        return CULEX_RUN_DONE;
    return batch->dead > 0 ? CULEX_RUN_DEAD : CULEX_RUN_CANCELLED;
}

culex_status culex__sqlite_batch_count(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       struct culex_sqlite_batch *batch, culex_run_state state,
                                       culex_error *error)
{
    batch->done += state == CULEX_RUN_DONE;
    batch->dead += state == CULEX_RUN_DEAD;
    batch->cancelled += state != CULEX_RUN_DONE && state != CULEX_RUN_DEAD;
    return state == CULEX_RUN_DEAD ? tell(store, queue, batch, CULEX_BATCH_ON_DEATH, error)
                                   : CULEX_OK;
}

/* One that is gone or has ended, which only damage leaves members, counts nothing. */
culex_status culex__sqlite_batch_settle(struct culex_sqlite *store,
                                        struct culex_sqlite_queue *queue,
                                        struct culex_sqlite_batch *batch, culex_error *error)
{
    bool has_ended;
    culex_status status = end_look(store, queue, batch, &has_ended, error);
    while (status == CULEX_OK && has_ended && has_parent(batch)) {
        culex_run_state state = end_of(batch);
        status = culex__sqlite_batch_seek(store, queue, batch->parent, batch, error);
        if (status == CULEX_OK && (batch->key == 0 || batch->state == 'E'))
            return CULEX_OK;
        if (status == CULEX_OK)
            status = culex__sqlite_batch_count(store, queue, batch, state, error);
        if (status == CULEX_OK)
            status = end_look(store, queue, batch, &has_ended, error);
    }
    return status;
}

/* The key of the first of its batches, which it leaves; 0: it is in none. */
static culex_status member_take(struct culex_sqlite *store, int64_t seq, int64_t *ret_key,
                                culex_error *error)
{
    culex_status status = culex__sqlite_first_int(store, SQL_BIND(store, MEMBER_FIND, SQL_INT(seq)),
                                                  0, ret_key, error);
    if (status != CULEX_OK || *ret_key == 0)
        return status;
    return culex__sqlite_finish(
        store, SQL_BIND(store, MEMBER_DROP, SQL_INT(seq), SQL_INT(*ret_key)), error);
}

static culex_status membership_end(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                   int64_t key, culex_run_state state, culex_error *error)
{
    struct culex_sqlite_batch batch;
    culex_status status = culex__sqlite_batch_by_key(store, key, &batch, error);
    if (status != CULEX_OK || batch.state == 'E')
        return status == CULEX_ENOTFOUND ? CULEX_OK : status;
    status = culex__sqlite_batch_count(store, queue, &batch, state, error);
    return status == CULEX_OK ? culex__sqlite_batch_settle(store, queue, &batch, error) : status;
}

culex_status culex__sqlite_member_end(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                      int64_t seq, culex_run_state state, culex_error *error)
{
    int64_t key = queue->batches;
    culex_status status = CULEX_OK;
    for (int i = 0; i < CULEX_RUN_BATCHES_MAX && key != 0 && status == CULEX_OK; i++) {
        status = member_take(store, seq, &key, error);
        if (status == CULEX_OK && key != 0)
            status = membership_end(store, queue, key, state, error);
    }
    return status;
}

/* --- new ones ------------------------------------------------------------------------------- */

/* Whether one of them was not answered by what its idempotency key leads to. */
static bool is_any_judged(const struct culex_sqlite_call *call)
{
    for (size_t i = 0; i < call->count; i++) {
        if (call->results[i].outcome != CULEX_ENQUEUED_DUPLICATE &&
            call->results[i].outcome != CULEX_ENQUEUED_CONFLICT)
            return true;
    }
    return false;
}

culex_status culex__sqlite_members_take(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue,
                                        const struct culex_sqlite_call *call, culex_error *error)
{
    struct culex_sqlite_batch batch;
    if (!is_any_judged(call))
        return CULEX_OK;
    culex_status status =
        culex__sqlite_batch_find_live(store, queue, call->runs[0].batch, &batch, error);
    for (size_t i = 0; i < call->count && status == CULEX_OK; i++) {
        if (call->results[i].outcome != CULEX_ENQUEUED_NEW)
            continue;
        int64_t seq = culex__sqlite_queue_seq(queue, call->results[i].id);
        batch.added++;
        status = culex__sqlite_finish(
            store, SQL_BIND(store, MEMBER_ADD, SQL_INT(seq), SQL_INT(batch.key)), error);
    }
    return status == CULEX_OK ? culex__sqlite_batch_save(store, &batch, error) : status;
}

/* --- time ----------------------------------------------------------------------------------- */

culex_status culex__sqlite_batch_drop(struct culex_sqlite *store,
                                      const struct culex_sqlite_batch *batch, culex_error *error)
{
    culex_status status =
        culex__sqlite_finish(store, SQL_BIND(store, CALLS_DROP, SQL_INT(batch->key)), error);
    return status == CULEX_OK ? culex__sqlite_finish(
                                    store, SQL_BIND(store, BATCH_DROP, SQL_INT(batch->key)), error)
                              : status;
}

enum {
    CALL_LEFT_MS = 60000
}; /* a batch is kept as long as one of its callbacks is to be brought */

static culex_status batch_forget(struct culex_sqlite *store, struct culex_sqlite_batch *batch,
                                 culex_error *error)
{
    int64_t calls;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, CALLS_DUE, SQL_INT(batch->key)), 0, &calls, error);
    if (status != CULEX_OK)
        return status;
    if (calls > 0) {
        batch->at_ms = store->now_ms + CALL_LEFT_MS;
        return culex__sqlite_batch_save(store, batch, error);
    }
    return culex__sqlite_batch_drop(store, batch, error);
}

static culex_status batch_over(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               struct culex_sqlite_batch *batch, culex_error *error)
{
    if (batch->state == 'E')
        return batch_forget(store, batch, error);
    batch->is_expired |= batch->state == 'O';
    batch->state = 'C';
    batch->at_ms = INT64_MAX;
    return culex__sqlite_batch_settle(store, queue, batch, error);
}

culex_status culex__sqlite_batches_forget(struct culex_sqlite *store,
                                          struct culex_sqlite_queue *queue, culex_error *error)
{
    struct culex_sqlite_batch batch;
    culex_status status = CULEX_OK;
    if (queue->batches == 0)
        return CULEX_OK;
    for (int i = 0; i < CULEX_FORGET_MAX && status == CULEX_OK; i++) {
        status = batch_read(
            store, SQL_BIND(store, BATCH_OVER, SQL_INT(queue->key), SQL_INT(store->now_ms)), &batch,
            error);
        if (status == CULEX_OK)
            status = batch_over(store, queue, &batch, error);
    }
    if (status != CULEX_ENOTFOUND)
        return status;
    status = culex__sqlite_first_int(store, SQL_BIND(store, BATCH_ANY, SQL_INT(queue->key)), 0,
                                     &batch.key, error);
    queue->is_changed |= batch.key == 0;
    queue->batches = batch.key != 0;
    return status;
}

culex_status culex__sqlite_batches_next(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, int64_t *ret_at_ms,
                                        culex_error *error)
{
    *ret_at_ms = INT64_MAX;
    if (queue->batches == 0)
        return CULEX_OK;
    return culex__sqlite_first_int(store, SQL_BIND(store, BATCH_NEXT, SQL_INT(queue->key)),
                                   INT64_MAX, ret_at_ms, error);
}
