/* store/sqlite/checkpoint.c - checkpoints of a SQLite that must not run them beside a writer.
 *
 * SQLite 3.7.0 to 3.51.2 can corrupt a file in WAL mode when one connection writes at the very
 * instant at which another one resets the log after a checkpoint. With such a library
 * (store->is_guarded) automatic checkpoints are off, also at close, and a lock file
 * beside the database (PATH-lock) keeps the two apart: shared around every write transaction,
 * exclusive around a checkpoint. The kernel drops the lock with its holder, however that ends. */
#include "store/sqlite/checkpoint.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "store/sqlite/beside.h"
#include "store/sqlite/clock.h"
#include "store/sqlite/error.h"
#include "store/sqlite/sqlite.h"
#include "base/error.h"
#include "platform/descriptor.h"

/* Pages in the log: from the first figure on we try, from the second on we wait for our turn. A
 * checkpoint costs two fsyncs, and a run some four pages: at 4000 pages they are shared by a
 * thousand single enqueues, and the log stays at 8 MB. */
enum { PAGES_TRY = 4000, PAGES_INSIST = 16000, INSIST_TRIES = 200 };

/* In place of SQLite's own hook: it does the same, and notes the log's length. */
static int on_wal(void *user, sqlite3 *db, const char *name, int pages)
{
    struct culex_sqlite *store = user;
    store->wal_pages = pages;
    if (!store->is_guarded && pages >= PAGES_TRY)
        sqlite3_wal_checkpoint(db, name);
    return SQLITE_OK;
}

culex_status culex__sqlite_guard_open(struct culex_sqlite *store, culex_error *error)
{
    sqlite3_wal_autocheckpoint(store->db, 0);
    sqlite3_wal_hook(store->db, on_wal, store);
    if (!store->is_guarded)
        return CULEX_OK;
    store->lock_fd = culex__sqlite_beside_open(store->path, "-lock");
    int cause = errno;
    if (store->lock_fd < 0 && cause == ENOMEM)
        return culex__sqlite_no_memory(error);
    /* A read-only store writes nothing and needs no lock. */
    if (store->lock_fd < 0 && sqlite3_db_readonly(store->db, "main") != 1)
        return culex__fail(error, CULEX_ECONNECT, "%s-lock cannot be opened: %s", store->path,
                           strerror(cause));
    return CULEX_OK;
}

culex_status culex__sqlite_guard_enter(struct culex_sqlite *store, culex_error *error)
{
    if (!store->is_guarded || store->lock_fd < 0)
        return CULEX_OK;
    for (int tries = 0; flock(store->lock_fd, LOCK_SH | LOCK_NB) != 0; tries++) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return culex__fail(error, CULEX_ESTORE, "%s-lock cannot be locked: %s", store->path,
                               strerror(errno));
        if (!culex__sqlite_clock_pause(store, tries))
            return culex__fail(error, CULEX_EBUSY,
                               "%s: a checkpoint holds %s-lock for too long; end the program "
                               "that runs it or raise the timeout",
                               store->path, store->path);
    }
    return CULEX_OK;
}

void culex__sqlite_guard_leave(struct culex_sqlite *store)
{
    if (store->is_guarded && store->lock_fd >= 0)
        flock(store->lock_fd, LOCK_UN);
}

/* Waits for its turn only when the log has grown far: then it must be written back, however busy
 * the writers are. */
static bool enter_alone(struct culex_sqlite *store, bool is_urgent)
{
    int most = is_urgent ? INSIST_TRIES : 1;
    for (int tries = 0; tries < most; tries++) {
        if (flock(store->lock_fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (tries + 1 < most && !culex__sqlite_clock_pause(store, 0))
            return false;
    }
    return false;
}

/* The commit before it stands whatever happens here, so errors (a full disk) are not the
 * caller's: the pages stay in the log and the next commit tries again. Not a passive one, for that
 * would also run beside a writer who knows nothing of the lock file; this one takes the write lock,
 * for which on_busy waits a moment only. */
static enum culex_sqlite_written run(struct culex_sqlite *store, int mode)
{
    int in_log = 0, written_back = 0;
    assert(sqlite3_get_autocommit(store->db)); /* one's own transaction would keep it waiting */
    store->is_checkpointing = true;
    int rc = sqlite3_wal_checkpoint_v2(store->db, NULL, mode, &in_log, &written_back);
    store->is_checkpointing = false;
    if (rc == SQLITE_OK && in_log == written_back) {
        store->wal_pages = 0;
        return CULEX__SQLITE_WRITTEN_BACK;
    }
    return rc != SQLITE_OK && culex__sqlite_fail(store, rc, NULL) == CULEX_EFULL
               ? CULEX__SQLITE_WRITTEN_NO_ROOM
               : CULEX__SQLITE_WRITTEN_NOT;
}

static enum culex_sqlite_written run_alone(struct culex_sqlite *store, int mode, bool is_urgent)
{
    if (store->lock_fd < 0 || !enter_alone(store, is_urgent))
        return CULEX__SQLITE_WRITTEN_NOT;
    enum culex_sqlite_written written = run(store, mode);
    flock(store->lock_fd, LOCK_UN);
    return written;
}

void culex__sqlite_guard_checkpoint(struct culex_sqlite *store, bool always)
{
    if (store->is_guarded && (always || store->wal_pages >= PAGES_TRY))
        run_alone(store, SQLITE_CHECKPOINT_FULL, store->wal_pages >= PAGES_INSIST);
}

enum culex_sqlite_written culex__sqlite_checkpoint(struct culex_sqlite *store, bool is_cutting)
{
    int mode = is_cutting ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_FULL;
    if (store->is_memory || !sqlite3_get_autocommit(store->db))
        return CULEX__SQLITE_WRITTEN_NOT;
    return store->is_guarded ? run_alone(store, mode, true) : run(store, mode);
}

int64_t culex__sqlite_log_overhang(const struct culex_sqlite *store)
{
    return store->wal_pages > PAGES_TRY ? (int64_t)store->wal_pages * CULEX__SQLITE_PAGE_BYTES : 0;
}

void culex__sqlite_guard_abandon(struct culex_sqlite *store)
{
    culex__descriptor_close(store->lock_fd);
    store->lock_fd = -1;
}

void culex__sqlite_guard_close(struct culex_sqlite *store)
{
    culex__sqlite_clock_start(store);
    if (store->db != NULL && sqlite3_get_autocommit(store->db))
        culex__sqlite_guard_checkpoint(store, true);
    culex__sqlite_guard_abandon(store);
}
