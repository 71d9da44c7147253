#include "store/sqlite/fsck_batches.h"

#include "store/sqlite/members.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

enum { ROUND = 64 };

/* --- counts ---------------------------------------------------------------------------------- */

/* The field of the queue is told by the rows there are. */
static culex_status mark_check(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               uint64_t *wrong, culex_error *error)
{
    int64_t any;
    if (queue->batches != 0)
        return CULEX_OK;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, BATCH_ANY, SQL_INT(queue->key)), 0, &any, error);
    if (status == CULEX_OK && any != 0) {
        ++*wrong;
        culex__sqlite_batches_note(queue);
    }
    return status;
}

/* Members whose run is not there, or has ended: what brought that end told nobody. Those of no
 * batch go before, as their runs may be in others. */
static culex_status strays_end(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               culex_error *error)
{
    int64_t seqs[ROUND];
    size_t count = ROUND;
    culex_status status = culex__sqlite_finish(store,
                                               SQL_BIND(store, FSCK_MEMBERS_DROP,
                                                        SQL_INT(culex__sqlite_queue_first(queue)),
                                                        SQL_INT(culex__sqlite_queue_last(queue))),
                                               error);
    while (status == CULEX_OK && count == ROUND) {
        status = culex__sqlite_collect(store,
                                       SQL_BIND(store, FSCK_MEMBERS,
                                                SQL_INT(culex__sqlite_queue_first(queue)),
                                                SQL_INT(culex__sqlite_queue_last(queue))),
                                       ROUND, seqs, &count, error);
        for (size_t i = 0; i < count && status == CULEX_OK; i++)
            status = culex__sqlite_member_end(store, queue, seqs[i], CULEX_RUN_CANCELLED, error);
    }
    return status;
}

static culex_status strays_check(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                 bool is_repairing, uint64_t *wrong, culex_error *error)
{
    int64_t strays = 0;
    culex_status status = culex__sqlite_first_int(
        store,
        SQL_BIND(store, FSCK_MEMBERS_COUNT, SQL_INT(culex__sqlite_queue_first(queue)),
                 SQL_INT(culex__sqlite_queue_last(queue))),
        0, &strays, error);
    *wrong += (uint64_t)strays;
    return status == CULEX_OK && strays > 0 && is_repairing ? strays_end(store, queue, error)
                                                            : status;
}

/* What there is counts; the repair of one before it may have put it right. */
static culex_status batch_recount(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                  int64_t key, culex_error *error)
{
    struct culex_sqlite_batch batch;
    int64_t left = 0;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, FSCK_BATCH_LEFT, SQL_INT(key)), 0, &left, error);
    if (status == CULEX_OK)
        status = culex__sqlite_batch_by_key(store, key, &batch, error);
    if (status != CULEX_OK || batch.state == 'E')
        return status;
    int64_t there = batch.done + batch.dead + batch.cancelled + left;
    if (batch.added > there)
        batch.cancelled += batch.added - there;
    else
        batch.added = there;
    return culex__sqlite_batch_settle(store, queue, &batch, error);
}

static culex_status batches_recount(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                    culex_error *error)
{
    int64_t keys[ROUND];
    size_t count = ROUND;
    culex_status status = CULEX_OK;
    while (status == CULEX_OK && count == ROUND) {
        status = culex__sqlite_collect(store,
                                       SQL_BIND(store, FSCK_BATCHES, SQL_INT(queue->key),
                                                SQL_INT(culex__sqlite_queue_first(queue)),
                                                SQL_INT(culex__sqlite_queue_last(queue))),
                                       ROUND, keys, &count, error);
        for (size_t i = 0; i < count && status == CULEX_OK; i++)
            status = batch_recount(store, queue, keys[i], error);
    }
    return status;
}

static culex_status counts_check(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                 bool is_repairing, uint64_t *wrong, culex_error *error)
{
    int64_t count = 0;
    culex_status status =
        culex__sqlite_first_int(store,
                                SQL_BIND(store, FSCK_BATCHES_COUNT, SQL_INT(queue->key),
                                         SQL_INT(culex__sqlite_queue_first(queue)),
                                         SQL_INT(culex__sqlite_queue_last(queue))),
                                0, &count, error);
    *wrong += (uint64_t)count;
    return status == CULEX_OK && count > 0 && is_repairing ? batches_recount(store, queue, error)
                                                           : status;
}

/* Callbacks of no batch; one that is to come in does. */
static culex_status lost_check(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               bool is_repairing, uint64_t *wrong, culex_error *error)
{
    int64_t count = 0;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, FSCK_CALLS_LOST, SQL_INT(queue->key)), 0, &count, error);
    *wrong += (uint64_t)count;
    return status == CULEX_OK && count > 0 && is_repairing
               ? culex__sqlite_finish(store, SQL_BIND(store, FSCK_CALLS_DROP, SQL_INT(queue->key)),
                                      error)
               : status;
}

culex_status culex__sqlite_fsck_batches(struct culex_sqlite *store,
                                        struct culex_sqlite_queue *queue, bool is_repairing,
                                        uint64_t *wrong, culex_error *error)
{
    culex_status status = mark_check(store, queue, wrong, error);
    if (status == CULEX_OK)
        status = strays_check(store, queue, is_repairing, wrong, error);
    if (status == CULEX_OK)
        status = counts_check(store, queue, is_repairing, wrong, error);
    return status == CULEX_OK ? lost_check(store, queue, is_repairing, wrong, error) : status;
}

/* --- callbacks ------------------------------------------------------------------------------- */

/* What the row of one says beside what it brings. */
struct facts {
    bool is_there, has_run;
    int64_t queue, is_due;
};

static culex_status callback_read(struct culex_sqlite *store, int64_t batch, int when,
                                  struct culex_sqlite_callback *callback, struct facts *ret_facts,
                                  culex_error *error)
{
    sqlite3_stmt *row = SQL_BIND(store, FSCK_CALL, SQL_INT(batch), SQL_INT(when));
    int has = culex__sqlite_next(store, row, error);
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    *ret_facts = (struct facts){.is_there = has > 0};
    if (has > 0) {
        ret_facts->has_run = sqlite3_column_type(row, 4) != SQLITE_NULL;
        ret_facts->queue = sqlite3_column_int64(row, 5);
        ret_facts->is_due = sqlite3_column_int64(row, 6);
        status = culex__sqlite_callback_take(row, callback, error);
    }
    culex__sqlite_end(row);
    return status;
}

/* One that has come in is kept to be known, without its run. */
static bool is_readable(const struct culex_sqlite_callback *callback, const struct facts *facts)
{
    struct culex_run_limit limits[CULEX_RUN_LIMITS_MAX];
    struct culex_new_run run;
    if (!facts->has_run)
        return facts->is_due == 0;
    return facts->is_due != 2 &&
           culex__sqlite_callback_run(callback, limits, &run, NULL) == CULEX_OK;
}

static culex_status callback_check(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                   const struct culex_sqlite_batch *batch, int when,
                                   struct culex_sqlite_callback *callback, bool is_repairing,
                                   culex_fsck_counts *counts, culex_error *error)
{
    struct facts facts;
    culex_status status = callback_read(store, batch->key, when, callback, &facts, error);
    if (status != CULEX_OK || !facts.is_there)
        return status;
    if (!is_readable(callback, &facts)) {
        counts->damaged++;
        return is_repairing
                   ? culex__sqlite_finish(
                         store, SQL_BIND(store, CALL_DROP, SQL_INT(batch->key), SQL_INT(when)),
                         error)
                   : CULEX_OK;
    }
    bool is_late = facts.has_run && facts.is_due == 0 && culex__sqlite_batch_tells(batch, when);
    if (!is_late && facts.queue == queue->key)
        return CULEX_OK;
    counts->wrong++;
    queue->has_news = queue->has_news || is_repairing;
    return is_repairing ? culex__sqlite_finish(store,
                                               SQL_BIND(store, FSCK_CALL_SET, SQL_INT(queue->key),
                                                        SQL_INT(is_late ? 1 : facts.is_due),
                                                        SQL_INT(batch->key), SQL_INT(when)),
                                               error)
                        : CULEX_OK;
}

static culex_status batch_check(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                int64_t key, struct culex_sqlite_callback *callback,
                                bool is_repairing, culex_fsck_counts *counts, culex_error *error)
{
    struct culex_sqlite_batch batch;
    culex_status status = culex__sqlite_batch_by_key(store, key, &batch, error);
    for (int when = CULEX_BATCH_ON_COMPLETE; when <= CULEX_BATCH_ON_DEATH && status == CULEX_OK;
         when++)
        status = callback_check(store, queue, &batch, when, callback, is_repairing, counts, error);
    return status;
}

culex_status culex__sqlite_fsck_callbacks(struct culex_sqlite *store,
                                          struct culex_sqlite_queue *queue, bool is_repairing,
                                          int64_t *place, culex_fsck_counts *counts,
                                          culex_error *error)
{
    struct culex_sqlite_callback callback;
    int64_t keys[ROUND];
    size_t count = 0;
    culex_buf_init(&callback.run, 0);
    culex_status status = culex__sqlite_collect(
        store,
        SQL_BIND(store, FSCK_BATCH_PAGE, SQL_INT(*place), SQL_INT(queue->key), SQL_INT(ROUND)),
        ROUND, keys, &count, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = batch_check(store, queue, keys[i], &callback, is_repairing, counts, error);
    *place = count == ROUND ? keys[ROUND - 1] : 0;
    culex_buf_release(&callback.run);
    return status;
}
