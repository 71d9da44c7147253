/* store/sqlite/transaction.c - one bounded transaction per operation. */
#include "store/sqlite/sqlite.h"

#include <time.h>

#include "base/error.h"

void culex__sqlite_start(struct culex_sqlite *store)
{
    const struct culex_env *env = store->base.env;
    store->deadline_ns = culex__env_boottime_ns(env) + store->timeout_ms * 1000000;
    store->now_ms =
        env->store_clock_ms != NULL ? env->store_clock_ms(env->self) : culex__env_clock_ms(env);
}

/* A write transaction takes some tens of microseconds, so the first tries come soon; jitter keeps
 * waiting writers from meeting again. */
bool culex__sqlite_pause(struct culex_sqlite *store, int tries)
{
    enum { SHORT_TRIES = 8, SHORT_NS = 100000, LONG_MS = 8, TRIES_MAX = 1 << 20 };
    const struct culex_env *env = store->base.env;
    int64_t end_ns = culex__store_earlier_ns(&store->base, store->deadline_ns);
    if (culex__env_boottime_ns(env) >= end_ns || tries > TRIES_MAX)
        return false;
    uint64_t random = culex__env_random(env);
    if (tries < SHORT_TRIES) {
        struct timespec nap = {0, SHORT_NS / 2 + (long)(random % SHORT_NS)};
        nanosleep(&nap, NULL);
    } else {
        env->poll(env->self, NULL, 0, 1 + (int)(random % LONG_MS));
    }
    return true;
}

/* Severe errors (a full disk, no memory) may have rolled back already. */
static void roll_back(struct culex_sqlite *store)
{
    for (int i = 0; i < CULEX__SQLITE_STATEMENT_COUNT; i++)
        sqlite3_reset(store->statements[i]);
    if (!sqlite3_get_autocommit(store->db)) {
        sqlite3_step(culex__sqlite_bind(store, CULEX__SQLITE_ROLLBACK, ""));
        culex__sqlite_end(store->statements[CULEX__SQLITE_ROLLBACK]);
    }
}

static culex_status begin(struct culex_sqlite *store, enum culex_sqlite_statement how,
                          culex_error *error)
{
    /* A ROLLBACK can fail too, without memory. */
    if (!sqlite3_get_autocommit(store->db))
        roll_back(store);
    store->wake.target_count = 0;
    store->is_writing = how == CULEX__SQLITE_BEGIN_WRITE;
    culex_status status = culex__sqlite_place_check(store, error);
    if (status == CULEX_OK && store->is_writing)
        status = culex__sqlite_guard_enter(store, error);
    if (status != CULEX_OK)
        return status;
    status = culex__sqlite_finish(store, culex__sqlite_bind(store, how, ""), error);
    if (status != CULEX_OK && store->is_writing)
        culex__sqlite_guard_leave(store);
    if (status == CULEX_OK)
        culex__sqlite_queue_begin(store);
    return status;
}

culex_status culex__sqlite_begin(struct culex_sqlite *store, culex_error *error)
{
    culex__sqlite_start(store);
    return begin(store, CULEX__SQLITE_BEGIN_WRITE, error);
}

culex_status culex__sqlite_begin_read(struct culex_sqlite *store, culex_error *error)
{
    culex__sqlite_start(store);
    return begin(store, store->is_memory ? CULEX__SQLITE_BEGIN_WRITE : CULEX__SQLITE_BEGIN, error);
}

culex_status culex__sqlite_end_transaction(struct culex_sqlite *store, culex_status status,
                                           culex_error *error)
{
    if (status == CULEX_OK)
        status =
            culex__sqlite_finish(store, culex__sqlite_bind(store, CULEX__SQLITE_COMMIT, ""), error);
    if (status != CULEX_OK)
        roll_back(store);
    culex__sqlite_queue_end(store, status == CULEX_OK);
    if (store->is_writing)
        culex__sqlite_guard_leave(store);
    if (status == CULEX_OK && store->is_writing) {
        culex__sqlite_guard_checkpoint(store, false);
        culex__sqlite_wake_send(store);
    }
    return status;
}
