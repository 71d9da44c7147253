#include "store/sqlite/lease.h"

#include <stdio.h>

#include "store/sqlite/body.h"
#include "store/sqlite/run.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

static culex_status run_lose(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                             int64_t seq, culex_error *error)
{
    struct culex_sqlite_run run;
    bool is_aside;
    char how[128];
    culex_status status =
        culex__sqlite_run_or_aside(store, queue, CULEX_RUN_ACTIVE, seq, &run, &is_aside, error);
    if (status != CULEX_OK || is_aside)
        return status;
    snprintf(how, sizeof how, "the lease of %s-%u ran out", run.owner, run.attempt);
    return culex__sqlite_run_vanish(store, queue, &run, how, error);
}

/* Of blocks that are over, so many runs that none of the first ones is missing among those of their
 * own. */
static culex_status blocks_end(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               culex_error *error)
{
    size_t left = CULEX_REAP_MAX, count;
    struct culex_sqlite_block block;
    culex_status status = CULEX_OK;
    while (status == CULEX_OK && left > 0) {
        status = culex__sqlite_block_one(
            store, SQL_BIND(store, BLOCK_OVER, SQL_INT(queue->key), SQL_INT(store->now_ms)), &block,
            error);
        if (status == CULEX_OK)
            status = culex__sqlite_block_adopt(store, queue, &block, left, &count, error);
        left -= status == CULEX_OK ? count : 0;
    }
    return status == CULEX_ENOTFOUND ? CULEX_OK : status;
}

culex_status culex__sqlite_leases_reap(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       culex_error *error)
{
    int64_t seqs[CULEX_REAP_MAX];
    size_t count = 0;
    if (queue->kept[CULEX_RUN_ACTIVE] == 0)
        return CULEX_OK;
    culex_status status = blocks_end(store, queue, error);
    if (status == CULEX_OK)
        status = culex__sqlite_collect(store,
                                       SQL_BIND(store, LEASE_OVER, SQL_INT(queue->key),
                                                SQL_INT(store->now_ms), SQL_INT(CULEX_REAP_MAX)),
                                       CULEX_REAP_MAX, seqs, &count, error);
    /* Most go to the front: the first one last, so that it is first again. */
    while (status == CULEX_OK && count > 0)
        status = run_lose(store, queue, seqs[--count], error);
    return status;
}

static culex_status lease_cut(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              int64_t seq, culex_error *error)
{
    struct culex_sqlite_run run;
    bool is_aside;
    culex_status status =
        culex__sqlite_run_or_aside(store, queue, CULEX_RUN_ACTIVE, seq, &run, &is_aside, error);
    if (status != CULEX_OK || is_aside)
        return status;
    int64_t at_ms = culex__sqlite_later(store->now_ms, queue->longest_lease_ms);
    return culex__sqlite_finish(store,
                                SQL_BIND(store, RUN_EXTEND, SQL_INT(seq), SQL_INT(at_ms),
                                         SQL_INT(run.limit_ms), SQL_TEXT(NULL), SQL_INT(0)),
                                error);
}

culex_status culex__sqlite_leases_cut(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                      culex_error *error)
{
    int64_t seqs[CULEX_REAP_MAX];
    size_t count = 0;
    if (queue->kept[CULEX_RUN_ACTIVE] == 0 || queue->longest_lease_ms == 0)
        return CULEX_OK;
    int64_t cut_ms = culex__sqlite_later(store->now_ms, queue->longest_lease_ms);
    int64_t last_ms = culex__sqlite_later(cut_ms, CULEX_LEASE_LOOK_MS);
    culex_status status = culex__sqlite_collect(store,
                                                SQL_BIND(store, LEASE_BEYOND, SQL_INT(queue->key),
                                                         SQL_INT(last_ms), SQL_INT(CULEX_REAP_MAX)),
                                                CULEX_REAP_MAX, seqs, &count, error);
    if (status == CULEX_OK)
        status =
            culex__sqlite_finish(store,
                                 SQL_BIND(store, BLOCK_CUT, SQL_INT(queue->key), SQL_INT(cut_ms),
                                          SQL_INT(last_ms), SQL_INT(CULEX_REAP_MAX)),
                                 error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = lease_cut(store, queue, seqs[i], error);
    return status;
}

culex_status culex__sqlite_leases_next(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue, int64_t *ret_at_ms,
                                       culex_error *error)
{
    int64_t block_ms;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, NEXT_LEASE, SQL_INT(queue->key)), INT64_MAX, ret_at_ms, error);
    if (status == CULEX_OK)
        status = culex__sqlite_first_int(store, SQL_BIND(store, BLOCK_NEXT, SQL_INT(queue->key)),
                                         INT64_MAX, &block_ms, error);
    if (status == CULEX_OK && block_ms < *ret_at_ms)
        *ret_at_ms = block_ms;
    return status;
}
