#include "store/sqlite/transaction.h"

#include <assert.h>

#include "store/sqlite/checkpoint.h"
#include "store/sqlite/clock.h"
#include "store/sqlite/place.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

/* Severe errors (a full disk, no memory) may have rolled back already. */
static void roll_back(struct culex_sqlite *store)
{
    for (int i = 0; i < CULEX__SQLITE_STATEMENT_COUNT; i++)
        sqlite3_reset(store->statements[i]);
    if (!sqlite3_get_autocommit(store->db)) {
        sqlite3_step(culex__sqlite_bind(store, CULEX__SQLITE_ROLLBACK, NULL, 0));
        culex__sqlite_end(store->statements[CULEX__SQLITE_ROLLBACK]);
    }
}

static culex_status begin(struct culex_sqlite *store, enum culex_sqlite_statement how,
                          culex_error *error)
{
    /* A ROLLBACK can fail too, without memory. */
    if (!sqlite3_get_autocommit(store->db))
        roll_back(store);
    store->is_writing = how == CULEX__SQLITE_BEGIN_WRITE;
    culex_status status = culex__sqlite_place_check(store, error);
    if (status == CULEX_OK && store->is_writing)
        status = culex__sqlite_guard_enter(store, error);
    if (status != CULEX_OK)
        return status;
    status = culex__sqlite_finish(store, culex__sqlite_bind(store, how, NULL, 0), error);
    if (status != CULEX_OK && store->is_writing)
        culex__sqlite_guard_leave(store);
    if (status == CULEX_OK) {
        culex__sqlite_clock_read(store);
        culex__sqlite_queue_begin(store);
    }
    return status;
}

culex_status culex__sqlite_begin(struct culex_sqlite *store, culex_error *error)
{
    culex__sqlite_clock_start(store);
    return begin(store, CULEX__SQLITE_BEGIN_WRITE, error);
}

culex_status culex__sqlite_begin_read(struct culex_sqlite *store, culex_error *error)
{
    culex__sqlite_clock_start(store);
    return begin(store, store->is_memory ? CULEX__SQLITE_BEGIN_WRITE : CULEX__SQLITE_BEGIN, error);
}

culex_status culex__sqlite_end_transaction(struct culex_sqlite *store, culex_status status,
                                           culex_error *error)
{
    assert(status != CULEX_OK || !sqlite3_get_autocommit(store->db)); /* nothing gave it up */
    if (status == CULEX_OK)
        status = culex__sqlite_finish(
            store, culex__sqlite_bind(store, CULEX__SQLITE_COMMIT, NULL, 0), error);
    if (status != CULEX_OK)
        roll_back(store);
    culex__sqlite_queue_end(store, status == CULEX_OK);
    if (store->is_writing)
        culex__sqlite_guard_leave(store);
    if (status == CULEX_OK && store->is_writing)
        culex__sqlite_guard_checkpoint(store, false);
    return status;
}
