/* store/sqlite/batch.c - BATCH and BATCH_LOOK, and callbacks that come in. What ends make of
 * batches is in sqlite/members.c. */
#include "store/sqlite/batch.h"

#include <assert.h>
#include <string.h>

#include "store/sqlite/body.h"
#include "store/sqlite/follow_up.h"
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
                              const struct culex_batch_order *order, int64_t depth,
                              culex_error *error)
{
    return culex__sqlite_finish(store,
                                SQL_BIND(store, BATCH_ADD, SQL_INT(queue->key), SQL_ID(&order->id),
                                         SQL_INT(order->keep_ms),
                                         SQL_INT(store->now_ms + order->open_ms), SQL_INT(depth),
                                         SQL_ID(&order->parent), SQL_INT(store->now_ms)),
                                error);
}

/* How deep it is in others then, 0 for no parent. */
static culex_status parent_join(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                culex_uuid id, int64_t *ret_depth, culex_error *error)
{
    static const culex_uuid none;
    struct culex_sqlite_batch parent;
    *ret_depth = 0;
    if (memcmp(&id, &none, sizeof none) == 0)
        return CULEX_OK;
    culex_status status = culex__sqlite_batch_find_live(store, queue, id, &parent, error);
    if (status != CULEX_OK)
        return status;
    if (parent.depth >= CULEX_BATCH_DEPTH_MAX)
        return culex__refuse_deep_batch(error);
    *ret_depth = parent.depth;
    parent.added++;
    return culex__sqlite_batch_save(store, &parent, error);
}

/* One that is there stays as it is. */
static culex_status parent_compare(const struct culex_sqlite_batch *batch,
                                   const struct culex_batch_order *order, culex_error *error)
{
    return memcmp(&batch->parent, &order->parent, sizeof order->parent) == 0
               ? CULEX_OK
               : culex__refuse_parent(order->queue, error);
}

static culex_status batch_open(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               const struct culex_batch_order *order, culex_error *error)
{
    struct culex_sqlite_batch batch;
    int64_t depth;
    culex_status status = culex__sqlite_batch_seek(store, queue, order->id, &batch, error);
    if (status != CULEX_OK)
        return status;
    if (batch.key != 0)
        return parent_compare(&batch, order, error);
    status = parent_join(store, queue, order->parent, &depth, error);
    if (status != CULEX_OK)
        return status;
    culex__sqlite_batches_note(queue);
    queue->has_news = true; /* a STEP closes it when nobody does */
    return batch_add(store, queue, order, depth + 1, error);
}

/* --- CALL ----------------------------------------------------------------------------------- */

static culex_status call_add(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                             const struct culex_sqlite_batch *batch,
                             const struct culex_batch_order *order, culex_error *error)
{
    culex_buf run;
    const struct culex_follow_up *call = order->call;
    bool is_due = culex__sqlite_batch_tells(batch, order->when);
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

enum found { FOUND_NONE, FOUND_SAME, FOUND_OTHER };

/* What the batch has of the kind of the order's callback. */
static culex_status call_find(struct culex_sqlite *store, const struct culex_sqlite_batch *batch,
                              const struct culex_batch_order *order, enum found *ret_found,
                              culex_error *error)
{
    sqlite3_stmt *row = SQL_BIND(store, CALL_FIND, SQL_INT(batch->key), SQL_INT(order->when));
    int has = culex__sqlite_next(store, row, error);
    *ret_found = FOUND_NONE;
    if (has > 0)
        *ret_found = (uint64_t)sqlite3_column_int64(row, 0) == culex__callback_digest(order->call)
                         ? FOUND_SAME
                         : FOUND_OTHER;
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

static culex_status batch_call(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               const struct culex_batch_order *order, culex_error *error)
{
    struct culex_sqlite_batch batch;
    enum found found;
    culex_status status = culex__sqlite_batch_find(store, queue, order->id, &batch, error);
    if (status == CULEX_OK)
        status = call_find(store, &batch, order, &found, error);
    if (status != CULEX_OK || found == FOUND_SAME)
        return status;
    if (found == FOUND_OTHER)
        return culex__refuse_callback(order->act, error);
    if (culex__sqlite_batch_never_tells(&batch, order->when))
        return culex__refuse_late_callback(order->queue, order->when, error);
    return call_add(store, queue, &batch, order, error);
}

/* --- AFTER ---------------------------------------------------------------------------------- */

static culex_status crowd_check(struct culex_sqlite *store, int64_t seq, culex_error *error)
{
    int64_t count;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, MEMBER_COUNT, SQL_INT(seq)), 0, &count, error);
    if (status == CULEX_OK && count >= CULEX_RUN_BATCHES_MAX)
        return culex__refuse_crowd(error);
    return status;
}

/* Whether the callback would never come in, once the run has ended as this. */
static bool is_never(culex_run_state state, culex_batch_when when)
{
    return (when == CULEX_BATCH_ON_SUCCESS && state != CULEX_RUN_DONE) ||
           (when == CULEX_BATCH_ON_DEATH && state != CULEX_RUN_DEAD);
}

/* The batch of the order, closed, with a member that is in this state. */
static culex_status after_make(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               const struct culex_batch_order *order, culex_run_state state,
                               struct culex_sqlite_batch *ret_batch, culex_error *error)
{
    culex__sqlite_batches_note(queue);
    culex_status status = batch_add(store, queue, order, 1, error);
    if (status == CULEX_OK)
        status = culex__sqlite_batch_find(store, queue, order->id, ret_batch, error);
    if (status != CULEX_OK)
        return status;
    ret_batch->state = 'C';
    ret_batch->at_ms = INT64_MAX;
    ret_batch->added = 1;
    if (culex__run_state_is_final(state))
        status = culex__sqlite_batch_count(store, queue, ret_batch, state, error);
    else
        status = culex__sqlite_finish(store,
                                      SQL_BIND(store, MEMBER_ADD,
                                               SQL_INT(culex__sqlite_queue_seq(queue, order->run)),
                                               SQL_INT(ret_batch->key)),
                                      error);
    return status == CULEX_OK ? culex__sqlite_batch_settle(store, queue, ret_batch, error) : status;
}

/* Of a repeat: what waits never comes in, as the run has ended otherwise, or is not there. Then the
 * run is looked at as by a first call: somebody may have revived it. */
static culex_status dropped_forget(struct culex_sqlite *store,
                                   const struct culex_batch_order *order,
                                   struct culex_sqlite_batch *batch, culex_error *error)
{
    enum found found;
    if (!culex__sqlite_batch_never_tells(batch, order->when))
        return CULEX_OK;
    culex_status status = call_find(store, batch, order, &found, error);
    if (status != CULEX_OK || found == FOUND_OTHER)
        return status;
    status = culex__sqlite_batch_drop(store, batch, error);
    batch->key = 0;
    return status;
}

static culex_status after_begin(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                const struct culex_batch_order *order, culex_error *error)
{
    struct culex_sqlite_batch batch;
    culex_run_state state;
    culex_status status = culex__sqlite_state_find(store, queue, order->run, true, &state, error);
    if (status != CULEX_OK)
        return status == CULEX_ENOTFOUND ? culex__refuse_awaited(queue->name, error) : status;
    bool is_over = culex__run_state_is_final(state);
    if (is_over && is_never(state, order->when))
        return culex__refuse_ended_run(queue->name, state, error);
    if (!is_over)
        status = crowd_check(store, culex__sqlite_queue_seq(queue, order->run), error);
    if (status == CULEX_OK)
        status = after_make(store, queue, order, state, &batch, error);
    return status == CULEX_OK ? call_add(store, queue, &batch, order, error) : status;
}

static culex_status batch_after(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                const struct culex_batch_order *order, culex_error *error)
{
    struct culex_sqlite_batch batch;
    if (queue->key == 0)
        return culex__refuse_awaited(order->queue, error);
    culex_status status = culex__sqlite_batch_seek(store, queue, order->id, &batch, error);
    if (status == CULEX_OK && batch.key != 0)
        status = dropped_forget(store, order, &batch, error);
    if (status != CULEX_OK)
        return status;
    return batch.key != 0 ? batch_call(store, queue, order, error)
                          : after_begin(store, queue, order, error);
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
    if (order->act == CULEX_BATCH_AFTER)
        return batch_after(store, queue, order, error);
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

/* --- REVIEW --------------------------------------------------------------------------------- */

static culex_status open_count(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                               struct culex_batch_review *review, culex_error *error)
{
    sqlite3_stmt *row =
        SQL_BIND(store, BATCHES_OPEN, SQL_INT(queue->key), SQL_INT(CULEX_STORE_REVIEW_MAX));
    int has = culex__sqlite_next(store, row, error);
    if (has > 0) {
        review->open = (uint64_t)sqlite3_column_int64(row, 0);
        review->open_since_ms = sqlite3_column_int64(row, 1);
    }
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

static culex_status review_do(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              void *request, culex_error *error)
{
    struct culex_batch_review *review = request;
    int64_t due = 0;
    *review = (struct culex_batch_review){.now_ms = store->now_ms};
    if (queue->batches == 0)
        return CULEX_OK;
    culex_status status = open_count(store, queue, review, error);
    if (status == CULEX_OK)
        status = culex__sqlite_first_int(
            store,
            SQL_BIND(store, CALLS_COUNT, SQL_INT(queue->key), SQL_INT(CULEX_STORE_REVIEW_MAX)), 0,
            &due, error);
    review->due = (uint64_t)due;
    return status;
}

culex_status culex__sqlite_batch_review(struct culex_store *base, const char *queue,
                                        struct culex_batch_review *ret_review, culex_error *error)
{
    return culex__sqlite_verb_read(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_EMPTY,
                                   review_do, ret_review, error);
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

enum {
    ROUNDS_MAX = 64, /* of a step; the next one goes on */
    LEFT_MS = 1000   /* until one that was refused is tried again */
};

/* What comes of those of a queue. */
struct bringing {
    struct culex_sqlite *store;
    const char *queue;
    struct culex_step_reply *reply;
    struct culex_sqlite_callback callback; /* the one that is under way */
    bool is_there;                         /* there is one that may be tried */
    bool is_sound;                         /* somebody can read it */
    bool has_left;                         /* there are only others */
};

static culex_status callback_next(struct bringing *all, culex_error *error)
{
    struct culex_sqlite *store = all->store;
    int64_t left = 0;
    all->is_there = false;
    sqlite3_stmt *row =
        SQL_BIND(store, CALL_NEXT, SQL_TEXT(all->queue), SQL_INT(store->now_ms), SQL_INT(LEFT_MS));
    int has = culex__sqlite_next(store, row, error);
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    if (has > 0)
        status = culex__sqlite_callback_take(row, &all->callback, error);
    culex__sqlite_end(row);
    all->is_there = has > 0;
    all->is_sound = all->callback.target[0] != '\0';
    if (has == 0)
        status = culex__sqlite_first_int(store, SQL_BIND(store, CALL_LEFT, SQL_TEXT(all->queue)), 0,
                                         &left, error);
    all->has_left = left != 0;
    return status;
}

static culex_status callback_enqueue(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                     void *request, culex_error *error)
{
    struct bringing *all = request;
    struct culex_run_limit limits[CULEX_RUN_LIMITS_MAX];
    struct culex_new_run run;
    culex_status status = culex__sqlite_callback_run(&all->callback, limits, &run, error);
    all->is_sound = status == CULEX_OK;
    if (status == CULEX_OK)
        status = culex__sqlite_enqueue_unbounded(store, queue, &run, error);
    return status == CULEX_OK
               ? culex__sqlite_finish(store,
                                      SQL_BIND(store, CALL_DONE, SQL_INT(all->callback.batch),
                                               SQL_INT(all->callback.when)),
                                      error)
               : status;
}

static culex_status callback_bring(struct bringing *all, struct culex_sqlite_aim *aim,
                                   culex_error *error)
{
    const char *target = all->callback.target;
    struct culex_run_limit limits[CULEX_RUN_LIMITS_MAX];
    struct culex_new_run run;
    culex_status status =
        all->is_sound ? culex__sqlite_verb_part(all->store, target, CULEX__SQLITE_ABSENT_MADE,
                                                callback_enqueue, all, aim, error)
                      : culex__sqlite_callback_run(&all->callback, limits, &run, error);
    if (status != CULEX_OK)
        culex__error_context(error, "a callback of a batch%s%s",
                             target[0] != '\0' ? " into queue " : "", target);
    return status;
}

/* The next of those that may be tried. */
static culex_status one_bring(struct bringing *all, culex_error *error)
{
    struct culex_sqlite_aim aim = {.target_count = 0};
    culex_status status = culex__sqlite_begin(all->store, error);
    if (status != CULEX_OK)
        return status;
    status = callback_next(all, error);
    if (status == CULEX_OK && all->is_there)
        status = callback_bring(all, &aim, error);
    status = culex__sqlite_end_transaction(all->store, status, error);
    if (status == CULEX_OK && all->is_there)
        culex__sqlite_wake_send_later(all->store, &aim);
    culex__sqlite_wake_tell(all->store, status == CULEX_OK);
    return status;
}

/* It keeps nobody else: it is tried again in a while, or not at all when nobody can read it. */
static culex_status one_leave(struct bringing *all)
{
    culex_error ignored, *error = &ignored; /* the reason why it stays is told */
    struct culex_sqlite *store = all->store;
    culex_status status = culex__sqlite_begin(store, error);
    if (status != CULEX_OK)
        return status;
    int64_t at_ms = culex__sqlite_later(store->now_ms, LEFT_MS);
    status = culex__sqlite_finish(store,
                                  SQL_BIND(store, CALL_LEAVE, SQL_INT(all->is_sound ? 1 : 2),
                                           SQL_INT(at_ms), SQL_INT(all->callback.batch),
                                           SQL_INT(all->callback.when)),
                                  error);
    return culex__sqlite_end_transaction(store, status, error);
}

/* The first reason is told. */
static void left_tell(struct culex_step_reply *reply, const culex_error *error)
{
    if (reply->follow_ups_left.code == CULEX_OK)
        reply->follow_ups_left = *error;
    reply->is_empty = false;
    if (reply->due_in_ms < 0 || reply->due_in_ms > LEFT_MS)
        reply->due_in_ms = LEFT_MS;
}

/* One, or why not. False: that was all, or nothing of the file can be written now. */
static bool some_bring(struct bringing *all)
{
    culex_error error = {0};
    all->is_there = all->is_sound = false;
    culex_status status = one_bring(all, &error);
    if (status == CULEX_OK && all->is_there) {
        all->reply->has_brought = true;
        all->reply->is_empty =
            all->reply->is_empty && strcmp(all->callback.target, all->queue) != 0;
    }
    if (status == CULEX_OK)
        return all->is_there;
    left_tell(all->reply, &error);
    bool is_kept = all->is_there && (!all->is_sound || culex__sqlite_refusal_lasts(status));
    return is_kept && one_leave(all) == CULEX_OK;
}

void culex__sqlite_batch_bring(struct culex_sqlite *store, const char *queue,
                               struct culex_step_reply *reply)
{
    struct bringing all = {.store = store, .queue = queue, .reply = reply};
    const culex_error waits = {.code = CULEX_EBUSY,
                               .text = "callbacks of batches that a queue has refused wait to be "
                                       "tried again"};
    bool is_more = true;
    culex_buf_init(&all.callback.run, 0);
    for (int i = 0; i < ROUNDS_MAX && is_more; i++)
        is_more = some_bring(&all);
    culex_buf_release(&all.callback.run);
    if (is_more)
        reply->due_in_ms = 0;
    if (all.has_left)
        left_tell(reply, &waits);
    reply->is_empty = reply->is_empty && !is_more;
}
