#include "store/sqlite/error.h"

#include <errno.h>
#include <string.h>

#include "store/sqlite/sqlite.h"
#include "base/error.h"

/* A write that fails tells the disk's fullness (its quota, the file size limit) from a broken disk
 * by errno only. */
static culex_status status_of_io(int rc, int system_error)
{
    switch (rc) {
    case SQLITE_IOERR_NOMEM:
        return CULEX_ENOMEM;
    case SQLITE_IOERR_CORRUPTFS:
    case SQLITE_IOERR_DATA:
    case SQLITE_IOERR_SHORT_READ: /* a page that the log should hold: it was cut off */
        return CULEX_ECORRUPT;
    case SQLITE_IOERR_WRITE:
    case SQLITE_IOERR_SHMSIZE:
    case SQLITE_IOERR_SHMMAP:
    case SQLITE_IOERR_TRUNCATE:
        return system_error == EIO ? CULEX_ESTORE : CULEX_EFULL;
    case SQLITE_IOERR_FSYNC:
    case SQLITE_IOERR_DIR_FSYNC:
        /* Nobody sees the transaction, but a crash in this moment could bring it back. */
        return CULEX_EUNKNOWN;
    default:
        return CULEX_ESTORE;
    }
}

static culex_status status_of(int rc, int system_error)
{
    switch (rc & 0xff) {
    case SQLITE_NOMEM:
        return CULEX_ENOMEM;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL: /* the log's locks were taken at every one of many tries */
        return CULEX_EBUSY;
    case SQLITE_FULL:
        return CULEX_EFULL;
    case SQLITE_TOOBIG:
        return CULEX_ELIMIT;
    case SQLITE_IOERR:
        return status_of_io(rc, system_error);
    case SQLITE_READONLY:
        return CULEX_EREADONLY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return CULEX_ECORRUPT;
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return CULEX_EDENIED;
    case SQLITE_CANTOPEN:
        return CULEX_ECONNECT;
    default:
        return CULEX_ESTORE;
    }
}

static const char *advice_of(culex_status status, int system_error)
{
    if (system_error == EMFILE)
        return "this process has no descriptors left; close some, or raise its limit (ulimit -n)";
    if (system_error == ENFILE)
        return "this machine has no descriptors left; end what holds many";
    switch (status) {
    case CULEX_EBUSY:
        return "another program holds its lock; end that transaction or raise the timeout";
    case CULEX_EFULL:
        return "make room on the disk (or in the quota); nothing was changed";
    case CULEX_EREADONLY:
        return "make the file and its folder writable";
    case CULEX_ECORRUPT:
        return "check it with \"PRAGMA integrity_check\", or restore it from a copy";
    case CULEX_EUNKNOWN:
        return "the disk did not confirm the write; repeat the call";
    case CULEX_ECONNECT:
    case CULEX_EDENIED:
        return "check that the folder is there and may be used";
    default:
        return "nothing was changed";
    }
}

culex_status culex__sqlite_fail(struct culex_sqlite *store, int rc, culex_error *error)
{
    /* A borrowed handle may give the short codes only. */
    if (store->db != NULL && sqlite3_errcode(store->db) == rc)
        rc = sqlite3_extended_errcode(store->db);
    int system_error = store->db != NULL ? sqlite3_system_errno(store->db) : 0;
    culex_status status = status_of(rc, system_error);
    if (status == CULEX_ENOMEM)
        return culex__sqlite_no_memory(error);
    const char *text = store->db != NULL ? sqlite3_errmsg(store->db) : sqlite3_errstr(rc);
    bool is_system = (rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_IOERR;
    if (is_system && system_error == EACCES)
        status = CULEX_EDENIED;
    return culex__fail(error, status, "%s: %s%s%s (SQLite code %d): %s", store->path, text,
                       is_system && system_error != 0 ? ": " : "",
                       is_system && system_error != 0 ? strerror(system_error) : "", rc,
                       advice_of(status, is_system ? system_error : 0));
}

culex_status culex__sqlite_no_memory(culex_error *error)
{
    return culex__fail(error, CULEX_ENOMEM, "out of memory");
}

culex_status culex__sqlite_bad_row(struct culex_sqlite *store, culex_error *error)
{
    return culex__fail(error, CULEX_ECORRUPT, "%s: a row holds values out of range: %s",
                       store->path, advice_of(CULEX_ECORRUPT, 0));
}

culex_status culex__sqlite_bad_run(struct culex_sqlite *store, culex_error *error)
{
    return culex__fail(error, CULEX_ECORRUPT,
                       "%s: the row of a run holds values out of range: repair the queue with "
                       "culex_client_fsck, which puts it aside",
                       store->path);
}
