#include "store/sqlite/lease.h"

#include <stdio.h>

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

culex_status culex__sqlite_leases_reap(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       culex_error *error)
{
    int64_t seqs[CULEX_REAP_MAX];
    size_t count = 0;
    if (queue->kept[CULEX_RUN_ACTIVE] == 0)
        return CULEX_OK;
    culex_status status =
        culex__sqlite_collect(store,
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
    int64_t last_ms = culex__sqlite_later(store->now_ms, queue->longest_lease_ms);
    last_ms = culex__sqlite_later(last_ms, CULEX_LEASE_LOOK_MS);
    culex_status status = culex__sqlite_collect(store,
                                                SQL_BIND(store, LEASE_BEYOND, SQL_INT(queue->key),
                                                         SQL_INT(last_ms), SQL_INT(CULEX_REAP_MAX)),
                                                CULEX_REAP_MAX, seqs, &count, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = lease_cut(store, queue, seqs[i], error);
    return status;
}
