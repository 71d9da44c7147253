/* store/sqlite/borrow.c - a store on a handle that belongs to somebody else, in whose transaction
 * it enqueues. It opens, begins and commits nothing. */
#include "store/sqlite/borrow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/sqlite/clock.h"
#include "store/sqlite/error.h"
#include "store/sqlite/file.h"
#include "store/sqlite/names.h"
#include "store/sqlite/place.h"
#include "store/sqlite/reserve.h"
#include "store/sqlite/room.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/verbs.h"
#include "store/sqlite/wake.h"
#include "base/error.h"

static void borrowed_close(struct culex_store *base)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    if (store == NULL)
        return;
    for (int i = 0; i < CULEX__SQLITE_STATEMENT_COUNT; i++)
        sqlite3_finalize(store->statements[i]);
    culex__event_notes_release(&store->events);
    free(store->recent.name);
    free(store->path);
    free(store->schema);
    free(store);
}

static culex_status borrowed_now(struct culex_store *base, int64_t *ret_now_ms, culex_error *error)
{
    (void)error;
    culex__sqlite_clock_start(culex__sqlite_of(base));
    *ret_now_ms = culex__sqlite_of(base)->now_ms;
    return CULEX_OK;
}

static culex_status run_text(struct culex_sqlite *store, const char *sql, culex_error *error)
{
    int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? CULEX_OK : culex__sqlite_fail(store, rc, error);
}

/* A savepoint, so that a run is in the transaction as a whole or not at all. */
static culex_status borrowed_enqueue(struct culex_store *base, const char *queue,
                                     const struct culex_ticket *ticket,
                                     const struct culex_new_run *runs, size_t count,
                                     struct culex_enqueue_result *results, culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    enum culex_sqlite_reserve_level level = culex__sqlite_reserve_level_at(store->path);
    if (ticket != NULL)
        return culex__fail(error, CULEX_EUNSUPPORTED,
                           "an enqueue within a transaction takes no ticket: it is there if and "
                           "only if the transaction is");
    culex_status status = culex__sqlite_place_check_borrowed(store, error);
    if (status == CULEX_OK)
        status = culex__sqlite_room_check(store, level, error);
    if (status != CULEX_OK)
        return status;
    culex__sqlite_clock_start(store);
    status = run_text(store, "SAVEPOINT culex_enqueue", error);
    if (status != CULEX_OK)
        return status;
    status = culex__sqlite_enqueue_within(store, queue, runs, count, results, error);
    for (int i = 0; i < CULEX__SQLITE_STATEMENT_COUNT; i++)
        sqlite3_reset(store->statements[i]);
    if (status != CULEX_OK)
        sqlite3_exec(store->db, "ROLLBACK TO culex_enqueue", NULL, NULL, NULL);
    culex_status released = sqlite3_get_autocommit(store->db)
                                ? status
                                : run_text(store, "RELEASE culex_enqueue", error);
    status = culex__sqlite_enqueue_end(runs, count, results, status);
    return status != CULEX_OK ? status : released;
}

static const struct culex_store_ops operations = {
    .name = "sqlite",
    .lacks =
        "culex_sqlite_enqueue enqueues runs and members of batches alone: callbacks of a batch and "
        "runs that wait for another (options.after) are enqueued by culex_client_enqueue",
    .enqueue = borrowed_enqueue,
    .now = borrowed_now,
    .close = borrowed_close,
};

/* --- may it be used -------------------------------------------------------------------- */

static culex_status check_handle(struct sqlite3 *db, const char *schema, culex_error *error)
{
    const char *path = sqlite3_db_filename(db, schema);
    if (path == NULL)
        return culex__fail(error, CULEX_EINVAL, "the handle has no database '%s'", schema);
    if (sqlite3_get_autocommit(db))
        return culex__fail(error, CULEX_EINVAL,
                           "%s: the handle is not in a transaction; begin one with BEGIN IMMEDIATE",
                           path);
    return CULEX_OK;
}

/* The handle's own checkpoints would run beside our writers, without our lock. */
static culex_status check_checkpoints(struct culex_sqlite *store, culex_error *error)
{
    int64_t pages = 0;
    if (!store->is_guarded)
        return CULEX_OK;
    culex_status status = culex__sqlite_ask_pragma(store, "wal_autocheckpoint", &pages, error);
    if (status == CULEX_OK && pages > 0)
        return culex__fail(error, CULEX_EUNSUPPORTED,
                           "%s: SQLite %s can damage a file when one program checkpoints while "
                           "another writes; run \"PRAGMA wal_autocheckpoint=0\" on this handle "
                           "(Culex checkpoints for it), or use SQLite 3.51.3",
                           store->path, sqlite3_libversion());
    return status;
}

static culex_status check_store(struct culex_sqlite *store, culex_error *error)
{
    int64_t application = 0, version = 0;
    culex_status status = culex__sqlite_ask_pragma(store, "application_id", &application, error);
    if (status == CULEX_OK)
        status = culex__sqlite_ask_pragma(store, "user_version", &version, error);
    if (status == CULEX_OK)
        status = culex__sqlite_check_identity(store, application, version, error);
    return status == CULEX_OK ? check_checkpoints(store, error) : status;
}

culex_status culex__sqlite_borrow_as(int library_version, struct sqlite3 *db, const char *schema,
                                     const struct culex_env *env, struct culex_store **ret_store,
                                     culex_error *error)
{
    schema = schema != NULL ? schema : "main";
    culex_status status = check_handle(db, schema, error);
    if (status != CULEX_OK)
        return status;
    struct culex_sqlite *store = calloc(1, sizeof *store);
    if (store == NULL)
        return culex__sqlite_no_memory(error);
    culex__store_init(&store->base, &operations, env, NULL);
    store->db = db;
    store->is_guarded = library_version < CULEX__SQLITE_WAL_RESET_FIXED;
    store->lock_fd = store->reserve.fd = store->place.log_fd = -1;
    culex__sqlite_wake_init(store);
    store->schema = strdup(schema);
    store->path = strdup(sqlite3_db_filename(db, schema));
    status = store->schema != NULL && store->path != NULL ? check_store(store, error)
                                                          : culex__sqlite_no_memory(error);
    if (status == CULEX_OK)
        status = culex__sqlite_names_check(store, error);
    if (status == CULEX_OK)
        *ret_store = &store->base;
    else
        borrowed_close(&store->base);
    return status;
}

culex_status culex__sqlite_borrow(struct sqlite3 *db, const char *schema,
                                  const struct culex_env *env, struct culex_store **ret_store,
                                  culex_error *error)
{
    return culex__sqlite_borrow_as(sqlite3_libversion_number(), db, schema, env, ret_store, error);
}
