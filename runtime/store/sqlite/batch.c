/* store/sqlite/batch.c - BATCH and BATCH_LOOK, and callbacks that come in. What ends make of
 * batches is in sqlite/members.c. */
#include "store/sqlite/batch.h"

#include <assert.h>
#include <string.h>

#include "store/sqlite/error.h"
#include "store/sqlite/members.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/transaction.h"
#include "store/sqlite/verb.h"
#include "store/sqlite/verbs.h"
#include "store/argument.h"
#include "store/digest.h"
#include "store/refusal.h"
#include "store/template.h"
#include "base/buf.h"
#include "base/error.h"

/* --- OPEN ----------------------------------------------------------------------------------- */

static culex_status batch_add(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                              const struct culex_batch_order *order,
                              const struct culex_sqlite_batch *parent, culex_error *error)
{
    return culex__sqlite_finish(store,
                                SQL_BIND(store, BATCH_ADD, SQL_INT(queue->key), SQL_ID(&order->id),
                                         SQL_INT(order->keep_ms),
                                         SQL_INT(store->now_ms + order->open_ms),
                                         SQL_INT(parent->depth + 1), SQL_INT(parent->key)),
                                error);
}

static culex_status parent_join(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                culex_uuid id, struct culex_sqlite_batch *ret_parent,
                                culex_error *error)
{
    static const culex_uuid none;
    *ret_parent = (struct culex_sqlite_batch){.key = 0};
    if (memcmp(&id, &none, sizeof none) == 0)
        return CULEX_OK;
    culex_status status = culex__sqlite_batch_find_live(store, queue, id, ret_parent, error);
    if (status != CULEX_OK)
        return status;
    if (ret_parent->depth >= CULEX_BATCH_DEPTH_MAX)
        return culex__refuse_deep_batch(error);
    ret_parent->added++;
    return culex__sqlite_batch_save(store, ret_parent, error);
}

static culex_status batch_open(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               const struct culex_batch_order *order, culex_error *error)
{
    struct culex_sqlite_batch parent, before;
    culex_status status = culex__sqlite_batch_find(store, queue, order->id, &before, NULL);
    if (status != CULEX_ENOTFOUND)
        return status;
    status = parent_join(store, queue, order->parent, &parent, error);
    if (status != CULEX_OK)
        return status;
    culex__sqlite_batches_note(queue);
    queue->has_news = true; /* a STEP closes it when nobody does */
    return batch_add(store, queue, order, &parent, error);
}

/* --- CALL ----------------------------------------------------------------------------------- */

/* Whether what it tells has come about. */
static bool is_told(const struct culex_sqlite_batch *batch, culex_batch_when when)
{
    if (when == CULEX_BATCH_ON_DEATH)
        return batch->dead > 0;
    return batch->state == 'E' &&
           (when == CULEX_BATCH_ON_COMPLETE || culex__sqlite_batch_is_success(batch));
}

static culex_status call_add(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                             const struct culex_sqlite_batch *batch,
                             const struct culex_batch_order *order, culex_error *error)
{
    culex_buf run;
    const struct culex_follow_up *call = order->call;
    bool is_due = is_told(batch, order->when);
    culex_buf_init(&run, 0);
    culex_status status = culex__template_write(&call->run, &run, error);
    if (status == CULEX_OK)
        status = culex__sqlite_finish(
            store,
            SQL_BIND(store, CALL_ADD, SQL_INT(batch->key), SQL_INT(order->when),
                     SQL_INT(queue->key), SQL_INT(is_due),
                     SQL_INT((int64_t)culex__callback_digest(call)), SQL_TEXT(call->queue),
                     SQL_INT(call->run.delay_ms), SQL_BYTES(run.data, run.len)),
            error);
    culex_buf_release(&run);
    queue->has_news = queue->has_news || is_due;
    return status;
}

static culex_status batch_call(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               const struct culex_batch_order *order, culex_error *error)
{
    struct culex_sqlite_batch batch;
    culex_status status = culex__sqlite_batch_find(store, queue, order->id, &batch, error);
    if (status != CULEX_OK)
        return status;
    sqlite3_stmt *row = SQL_BIND(store, CALL_FIND, SQL_INT(batch.key), SQL_INT(order->when));
    int has = culex__sqlite_next(store, row, error);
    bool is_same =
        has > 0 && (uint64_t)sqlite3_column_int64(row, 0) == culex__callback_digest(order->call);
    culex__sqlite_end(row);
    if (has < 0)
        return (culex_status)has;
    if (has > 0)
        return is_same ? CULEX_OK : culex__refuse_callback(error);
    return call_add(store, queue, &batch, order, error);
}

/* --- CLOSE ---------------------------------------------------------------------------------- */

static culex_status batch_close(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                const struct culex_batch_order *order, culex_error *error)
{
    struct culex_sqlite_batch batch;
    culex_status status = culex__sqlite_batch_find(store, queue, order->id, &batch, error);
    if (status != CULEX_OK || batch.state != 'O')
        return status;
    batch.state = 'C';
    batch.at_ms = INT64_MAX;
    return culex__sqlite_batch_settle(store, queue, &batch, error);
}

static culex_status order_do(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                             void *request, culex_error *error)
{
    const struct culex_batch_order *order = request;
    if (order->act == CULEX_BATCH_OPEN)
        return batch_open(store, queue, order, error);
    return order->act == CULEX_BATCH_CALL ? batch_call(store, queue, order, error)
                                          : batch_close(store, queue, order, error);
}

culex_status culex__sqlite_batch(struct culex_store *base, const struct culex_batch_order *order,
                                 culex_error *error)
{
    assert(culex__argument_batch(order, NULL) == CULEX_OK);
    struct culex_batch_order copy = *order;
    return culex__sqlite_verb_write(culex__sqlite_of(base), order->queue,
                                    order->act == CULEX_BATCH_OPEN ? CULEX__SQLITE_ABSENT_MADE
                                                                   : CULEX__SQLITE_ABSENT_EMPTY,
                                    order_do, &copy, error);
}

/* --- LOOK ----------------------------------------------------------------------------------- */

struct look {
    culex_uuid id;
    struct culex_sqlite_batch batch;
};

static culex_status look_do(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                            void *request, culex_error *error)
{
    struct look *look = request;
    return culex__sqlite_batch_find(store, queue, look->id, &look->batch, error);
}

culex_status culex__sqlite_batch_look(struct culex_store *base, const char *queue, culex_uuid id,
                                      culex_batch_info *ret_info, culex_error *error)
{
    struct look look = {.id = id};
    culex_status status = culex__sqlite_verb_read(
        culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_EMPTY, look_do, &look, error);
    const struct culex_sqlite_batch *batch = &look.batch;
    if (status == CULEX_OK)
        *ret_info = (culex_batch_info){.added = (uint64_t)batch->added,
                                       .done = (uint64_t)batch->done,
                                       .dead = (uint64_t)batch->dead,
                                       .cancelled = (uint64_t)batch->cancelled,
                                       .is_closed = batch->state != 'O',
                                       .is_ended = batch->state == 'E',
                                       .is_expired = batch->is_expired != 0};
    return status;
}

/* --- callbacks that come in ----------------------------------------------------------------- */

culex_status culex__sqlite_batch_outlook(struct culex_sqlite *store,
                                         const struct culex_sqlite_queue *queue, bool *ret_has_some,
                                         culex_error *error)
{
    int64_t first = 0;
    culex_status status = CULEX_OK;
    if (queue->batches != 0)
        status = culex__sqlite_first_int(store, SQL_BIND(store, CALLS_ANY, SQL_INT(queue->key)), 0,
                                         &first, error);
    *ret_has_some = first != 0;
    return status;
}

enum { ROUNDS_MAX = 64, LEFT_MS = 1000 };

/* One that is to come in. */
struct call {
    int64_t batch, when, delay_ms;
    char target[CULEX_QUEUE_NAME_MAX + 1];
    culex_buf bytes;
};

static bool call_take(sqlite3_stmt *row, struct call *call)
{
    const char *target = (const char *)sqlite3_column_text(row, 2);
    call->batch = sqlite3_column_int64(row, 0);
    call->when = sqlite3_column_int64(row, 1);
    call->delay_ms = sqlite3_column_int64(row, 3);
    if (target == NULL || strlen(target) > CULEX_QUEUE_NAME_MAX)
        return false;
    strcpy(call->target, target);
    const void *bytes = sqlite3_column_blob(row, 4);
    return bytes != NULL &&
           culex__buf_append(&call->bytes, bytes, (size_t)sqlite3_column_bytes(row, 4)) == CULEX_OK;
}

/* *ret_is_there false: there is none. */
static culex_status call_next(struct culex_sqlite *store, const char *queue, struct call *call,
                              bool *ret_is_there, culex_error *error)
{
    sqlite3_stmt *row = SQL_BIND(store, CALL_NEXT, SQL_TEXT(queue));
    int has = culex__sqlite_next(store, row, error);
    bool is_good = has > 0 && call_take(row, call);
    culex__sqlite_end(row);
    *ret_is_there = has > 0;
    if (has < 0)
        return (culex_status)has;
    return has == 0 || is_good ? CULEX_OK : culex__sqlite_no_memory(error);
}

static culex_status call_bring(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               void *request, culex_error *error)
{
    const struct call *call = request;
    struct culex_run_limit limits[CULEX_RUN_LIMITS_MAX];
    struct culex_new_run run;
    culex_status status =
        culex__template_read(call->bytes.data, call->bytes.len, limits, &run, error);
    if (status != CULEX_OK)
        return status;
    run.delay_ms = call->delay_ms;
    status = culex__sqlite_enqueue_unbounded(store, queue, &run, error);
    return status == CULEX_OK
               ? culex__sqlite_finish(
                     store, SQL_BIND(store, CALL_DONE, SQL_INT(call->batch), SQL_INT(call->when)),
                     error)
               : status;
}

/* The first of those of `queue`. */
static culex_status one_bring(struct culex_sqlite *store, const char *queue, struct call *call,
                              bool *ret_is_there, culex_error *error)
{
    struct culex_sqlite_aim aim = {.target_count = 0};
    culex_status status = culex__sqlite_begin(store, error);
    if (status != CULEX_OK)
        return status;
    status = call_next(store, queue, call, ret_is_there, error);
    if (status == CULEX_OK && *ret_is_there)
        status = culex__sqlite_verb_part(store, call->target, CULEX__SQLITE_ABSENT_MADE, call_bring,
                                         call, &aim, error);
    if (status != CULEX_OK)
        culex__error_context(error, "a callback of a batch into queue %s", call->target);
    status = culex__sqlite_end_transaction(store, status, error);
    if (status == CULEX_OK && *ret_is_there)
        culex__sqlite_wake_send_later(store, &aim);
    culex__sqlite_wake_tell(store, status == CULEX_OK);
    return status;
}

static void left_tell(struct culex_step_reply *reply, const culex_error *error)
{
    reply->follow_ups_left = *error;
    reply->is_empty = false;
    if (reply->due_in_ms < 0 || reply->due_in_ms > LEFT_MS)
        reply->due_in_ms = LEFT_MS;
}

void culex__sqlite_batch_bring(struct culex_sqlite *store, const char *queue,
                               struct culex_step_reply *reply)
{
    bool is_there = true;
    culex_status status = CULEX_OK;
    culex_error error = {0};
    struct call call;
    culex_buf_init(&call.bytes, 0);
    for (int i = 0; i < ROUNDS_MAX && is_there && status == CULEX_OK; i++) {
        culex__buf_cut(&call.bytes, 0);
        call.target[0] = '\0';
        status = one_bring(store, queue, &call, &is_there, &error);
        reply->has_brought |= status == CULEX_OK && is_there;
        reply->is_empty = reply->is_empty && strcmp(call.target, queue) != 0;
    }
    culex_buf_release(&call.bytes);
    if (status != CULEX_OK)
        left_tell(reply, &error);
    else if (is_there)
        reply->due_in_ms = 0;
    reply->is_empty = reply->is_empty && !is_there;
}
