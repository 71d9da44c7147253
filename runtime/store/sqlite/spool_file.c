#include "store/sqlite/spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "store/sqlite/error.h"
#include "store/sqlite/heritage.h"
#include "base/error.h"
#include "platform/descriptor.h"
#include "platform/filesystem.h"
#include "platform/path.h"

#ifndef SQLITE_OPEN_EXRESCODE
#define SQLITE_OPEN_EXRESCODE 0
#endif

enum {
    APPLICATION_ID = 0x43756c53, /* "CulS" */
    VERSION = 1,
    ROOM_BYTES = 256 * 1024, /* some ten times what one entry needs that is taken out */
    FREE_PAGES = 32,
    BUSY_MS = 2000 /* while another process adds or takes out */
};

/* The counts are kept by the file itself, so that no caller can forget them. */
static const char schema[] =
    "CREATE TABLE spool("
    " one INTEGER PRIMARY KEY CHECK(one = 1), place TEXT NOT NULL,"
    " runs INTEGER NOT NULL, aside INTEGER NOT NULL, bytes INTEGER NOT NULL);"
    "CREATE TABLE entry("
    " number INTEGER PRIMARY KEY AUTOINCREMENT, salt INTEGER NOT NULL, queue TEXT NOT NULL, "
    "asked_ms INTEGER NOT NULL,"
    " delay_ms INTEGER NOT NULL, at_ms INTEGER NOT NULL, key TEXT, window_ms INTEGER NOT NULL,"
    " ticket BLOB, tried_ms INTEGER NOT NULL, is_strict INTEGER NOT NULL, body BLOB NOT NULL,"
    " aside TEXT, is_again INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE room(bytes BLOB NOT NULL);"
    "CREATE INDEX entry_line ON entry(queue, number) WHERE aside IS NULL;"
    "CREATE INDEX entry_aside ON entry(number) WHERE aside IS NOT NULL;"
    "CREATE TRIGGER entry_in AFTER INSERT ON entry BEGIN"
    " UPDATE spool SET runs = runs + 1, bytes = bytes + length(new.body); END;"
    "CREATE TRIGGER entry_out AFTER DELETE ON entry BEGIN"
    " UPDATE spool SET runs = runs - (old.aside IS NULL), aside = aside - (old.aside IS NOT NULL),"
    " bytes = bytes - length(old.body); END;"
    "CREATE TRIGGER entry_moved AFTER UPDATE OF aside ON entry BEGIN"
    " UPDATE spool SET runs = runs + (new.aside IS NULL) - (old.aside IS NULL),"
    " aside = aside + (new.aside IS NOT NULL) - (old.aside IS NOT NULL); END;";

/* --- SQL --------------------------------------------------------------------------------- */

culex_status culex__spool_file_fail(struct culex_spool_file *file, int rc, culex_error *error)
{
    culex_status status = culex__sqlite_fail(&file->sqlite, rc, error);
    culex__error_context(error, "the spool");
    if (status != CULEX_EUNKNOWN)
        return status;
    /* No call with a ticket would settle it: the spool is asked for none. */
    return culex__fail(error, CULEX_ESTORE,
                       "the spool %s: the disk did not confirm a write, so that what was to be "
                       "changed may be so or not: look with culex-spool before you repeat it",
                       file->sqlite.path);
}

static culex_status text_run(struct culex_spool_file *file, const char *sql, culex_error *error)
{
    int rc = sqlite3_exec(file->sqlite.db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? CULEX_OK : culex__spool_file_fail(file, rc, error);
}

static culex_status number_ask(struct culex_spool_file *file, const char *sql, int64_t *ret_number,
                               culex_error *error)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(file->sqlite.db, sql, -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *ret_number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return rc == SQLITE_ROW ? CULEX_OK : culex__spool_file_fail(file, rc, error);
}

static culex_status moved_tell(const struct culex_spool_file *file, culex_error *error)
{
    return culex__fail(error, CULEX_EMOVED,
                       "the spool %s was removed or replaced while it was open: what was in it is "
                       "with whoever has the old file; open the client anew to begin another",
                       file->sqlite.path);
}

/* What would be written into a file that nobody finds any more would be lost. */
static culex_status file_check(const struct culex_spool_file *file, culex_error *error)
{
    struct stat info;
    bool is_there = stat(file->sqlite.path, &info) == 0 && info.st_dev == file->device &&
                    info.st_ino == file->number;
    return is_there ? CULEX_OK : moved_tell(file, error);
}

/* --- whose it is ------------------------------------------------------------------------- */

static culex_status place_judge(struct culex_spool_file *file, sqlite3_stmt *row,
                                culex_error *error)
{
    const char *told = (const char *)sqlite3_column_text(row, 0);
    int64_t runs = sqlite3_column_int64(row, 1);
    if (told == NULL)
        return culex__sqlite_bad_row(&file->sqlite, error);
    if (runs == 0 || strcmp(told, file->place) == 0)
        return CULEX_OK;
    return culex__fail(error, CULEX_EINVAL,
                       "the spool %s holds %" PRId64
                       " runs for another store (%s), and this one is %s: "
                       "forward them there first, or name another file",
                       file->sqlite.path, runs, told, file->place);
}

/* In each transaction: clients of two stores may have opened the file while it was empty. */
static culex_status place_check(struct culex_spool_file *file, culex_error *error)
{
    static const char text[] = "SELECT place, runs + aside FROM spool";
    culex_status status;
    int rc = SQLITE_OK;
    if (file->whose == NULL)
        rc = sqlite3_prepare_v3(file->sqlite.db, text, -1, SQLITE_PREPARE_PERSISTENT, &file->whose,
                                NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(file->whose);
    if (rc == SQLITE_ROW)
        status = place_judge(file, file->whose, error);
    else
        status = rc == SQLITE_DONE ? culex__sqlite_bad_row(&file->sqlite, error)
                                   : culex__spool_file_fail(file, rc, error);
    sqlite3_reset(file->whose);
    return status;
}

culex_status culex__spool_file_take(struct culex_spool_file *file, culex_error *error)
{
    static const char text[] = "UPDATE spool SET place = ?1 WHERE place <> ?1";
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(file->sqlite.db, text, -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(statement, 1, file->place, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    culex_status status = rc == SQLITE_DONE ? CULEX_OK : culex__spool_file_fail(file, rc, error);
    sqlite3_finalize(statement);
    return status;
}

/* --- transactions ------------------------------------------------------------------------ */

static void file_enter(struct culex_spool_file *file)
{
    file->limit = culex__file_limit_enter();
}

static culex_status file_leave(struct culex_spool_file *file, culex_status status)
{
    culex__file_limit_leave(file->limit);
    return status;
}

static culex_status transaction_begin(struct culex_spool_file *file, const char *text,
                                      culex_error *error)
{
    file_enter(file);
    culex_status status = file_check(file, error);
    if (status == CULEX_OK)
        status = text_run(file, text, error);
    return status == CULEX_OK ? place_check(file, error) : status;
}

static void transaction_undo(struct culex_spool_file *file)
{
    if (!sqlite3_get_autocommit(file->sqlite.db))
        sqlite3_exec(file->sqlite.db, "ROLLBACK", NULL, NULL, NULL);
}

culex_status culex__spool_file_look_begin(struct culex_spool_file *file, culex_error *error)
{
    return transaction_begin(file, "BEGIN", error);
}

/* A row of `room` is written, so that its pages are there; what is only let go may be a hole. */
culex_status culex__spool_file_keep_room(struct culex_spool_file *file, culex_error *error)
{
    char text[200];
    snprintf(text, sizeof text,
             "INSERT INTO room SELECT zeroblob(%d) WHERE NOT EXISTS(SELECT 1 FROM room)"
             " AND (SELECT freelist_count FROM pragma_freelist_count) < %d",
             ROOM_BYTES, FREE_PAGES);
    return text_run(file, text, error);
}

culex_status culex__spool_file_use_room(struct culex_spool_file *file, culex_error *error)
{
    return text_run(file, "DELETE FROM room", error);
}

culex_status culex__spool_file_look_end(struct culex_spool_file *file, culex_status status)
{
    transaction_undo(file);
    return file_leave(file, status);
}

culex_status culex__spool_file_change_begin(struct culex_spool_file *file, culex_error *error)
{
    return transaction_begin(file, "BEGIN IMMEDIATE", error);
}

culex_status culex__spool_file_change_end(struct culex_spool_file *file, culex_status status,
                                          culex_error *error)
{
    if (status == CULEX_OK)
        status = text_run(file, "COMMIT", error);
    if (status != CULEX_OK)
        transaction_undo(file);
    return file_leave(file, status);
}

/* --- opening ----------------------------------------------------------------------------- */

static culex_status path_take(struct culex_spool_file *file, const char *path, culex_error *error)
{
    file->sqlite.path = culex__path_absolute(path, NULL);
    if (file->sqlite.path != NULL)
        return CULEX_OK;
    return errno == ENOMEM ? culex__sqlite_no_memory(error)
                           : culex__fail(error, CULEX_EINVAL,
                                         "the spool %s: the folder that this path counts from "
                                         "cannot be told: %s",
                                         path, strerror(errno));
}

static culex_status folder_check(const struct culex_spool_file *file, culex_error *error)
{
    struct culex_filesystem system;
    const char *path = file->sqlite.path;
    char *folder = culex__path_folder(path);
    if (folder == NULL)
        return culex__sqlite_no_memory(error);
    bool is_known = culex__filesystem_read(folder, &system);
    int cause = errno;
    free(folder);
    if (!is_known)
        return culex__fail(error, cause == EACCES ? CULEX_EDENIED : CULEX_ECONNECT,
                           "the spool %s: its folder cannot be used: %s", path, strerror(cause));
    if (system.is_network)
        return culex__fail(error, CULEX_EUNSUPPORTED,
                           "the spool %s is on a network file system (%s), whose locks SQLite "
                           "cannot rely on: name a file on a local disk",
                           path, system.name);
    return CULEX_OK;
}

/* With mknod, not open: closing a descriptor of a database would drop the locks that other
 * connections of this process hold on it. */
static culex_status file_make(const struct culex_spool_file *file, culex_error *error)
{
    struct stat info;
    const char *path = file->sqlite.path;
    if (mknod(path, S_IFREG | 0600, 0) != 0 && errno != EEXIST)
        return culex__fail(error,
                           errno == EACCES || errno == EPERM ? CULEX_EDENIED
                           : errno == EROFS                  ? CULEX_EREADONLY
                           : errno == ENOSPC                 ? CULEX_EFULL
                                                             : CULEX_ECONNECT,
                           "the spool %s cannot be created: %s", path, strerror(errno));
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return culex__fail(error, CULEX_EINVAL, "the spool %s is not a regular file", path);
    return CULEX_OK;
}

static culex_status file_connect(struct culex_spool_file *file, culex_error *error)
{
    struct stat info;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(file->sqlite.path, &file->sqlite.db, flags, NULL);
    if (rc != SQLITE_OK)
        return culex__spool_file_fail(file, rc, error);
    sqlite3_busy_timeout(file->sqlite.db, BUSY_MS);
    if (sqlite3_db_readonly(file->sqlite.db, "main") == 1)
        return culex__fail(error, CULEX_EREADONLY,
                           "the spool %s cannot be written: make the file and its folder writable",
                           file->sqlite.path);
    if (stat(file->sqlite.path, &info) != 0)
        return moved_tell(file, error);
    file->device = info.st_dev;
    file->number = info.st_ino;
    return CULEX_OK;
}

static culex_status identify(struct culex_spool_file *file, bool *ret_is_empty, culex_error *error)
{
    int64_t application = 0, version = 0, tables = 0;
    culex_status status = number_ask(file, "PRAGMA application_id", &application, error);
    if (status == CULEX_OK)
        status = number_ask(file, "PRAGMA user_version", &version, error);
    if (status == CULEX_OK)
        status = number_ask(file, "SELECT count(*) FROM sqlite_schema", &tables, error);
    *ret_is_empty = application == 0 && version == 0 && tables == 0;
    if (status != CULEX_OK || *ret_is_empty)
        return status;
    if (application != APPLICATION_ID)
        return culex__fail(
            error, CULEX_ECORRUPT,
            "%s is %s, not a spool; nothing was changed, choose another path", file->sqlite.path,
            application == CULEX__SQLITE_APPLICATION_ID ? "a store" : "another program's database");
    if (version != VERSION)
        return culex__fail(error, CULEX_EVERSION,
                           "the spool %s has format %" PRId64
                           ", this build reads format %d; nothing "
                           "was changed, forward it with the build that made it",
                           file->sqlite.path, version, VERSION);
    return CULEX_OK;
}

static culex_status schema_make(struct culex_spool_file *file, culex_error *error)
{
    char text[160];
    culex_status status = text_run(file, schema, error);
    snprintf(text, sizeof text,
             "INSERT INTO spool VALUES(1, '', 0, 0, 0);"
             "PRAGMA application_id=%d; PRAGMA user_version=%d",
             APPLICATION_ID, VERSION);
    return status == CULEX_OK ? text_run(file, text, error) : status;
}

/* With the contents of pages that are let go the journal would grow by as much. */
static culex_status settings_make(struct culex_spool_file *file, culex_error *error)
{
    return text_run(file,
                    "PRAGMA trusted_schema=OFF; PRAGMA synchronous=FULL; PRAGMA secure_delete=FAST;"
                    "PRAGMA journal_mode=PERSIST",
                    error);
}

static int64_t journal_bytes(const struct culex_spool_file *file)
{
    struct stat info;
    const char *name = sqlite3_filename_journal(sqlite3_db_filename(file->sqlite.db, "main"));
    return name != NULL && stat(name, &info) == 0 ? info.st_size : 0;
}

/* Changes so many pages at once, for the journal to have room for them, and lets them go. A disk
 * that has none is found when something is added. */
static culex_status journal_reserve(struct culex_spool_file *file, culex_error *error)
{
    char text[400];
    if (journal_bytes(file) >= ROOM_BYTES)
        return CULEX_OK;
    snprintf(text, sizeof text,
             "BEGIN IMMEDIATE; DELETE FROM room; INSERT INTO room VALUES(zeroblob(%d)); COMMIT;"
             "BEGIN IMMEDIATE; UPDATE room SET bytes = randomblob(%d); DELETE FROM room; COMMIT",
             ROOM_BYTES, ROOM_BYTES);
    culex_status status = text_run(file, text, error);
    transaction_undo(file);
    return status == CULEX_EFULL ? CULEX_OK : status;
}

/* In one transaction, or another process that makes the file meanwhile would be met halfway. */
static culex_status identify_at_once(struct culex_spool_file *file, culex_error *error)
{
    bool is_empty;
    culex_status status = text_run(file, "BEGIN", error);
    if (status == CULEX_OK)
        status = identify(file, &is_empty, error);
    transaction_undo(file);
    return status;
}

/* Who comes first makes it; the question is asked again under the lock. */
static culex_status content_open(struct culex_spool_file *file, culex_error *error)
{
    bool is_empty = false;
    culex_status status = identify_at_once(file, error);
    if (status == CULEX_OK)
        status = settings_make(file, error);
    if (status != CULEX_OK)
        return status;
    status = text_run(file, "BEGIN IMMEDIATE", error);
    if (status == CULEX_OK)
        status = identify(file, &is_empty, error);
    if (status == CULEX_OK && is_empty)
        status = schema_make(file, error);
    if (status == CULEX_OK)
        status = place_check(file, error);
    if (status == CULEX_OK)
        status = text_run(file, "COMMIT", error);
    if (status != CULEX_OK)
        transaction_undo(file);
    return status;
}

static culex_status file_open(struct culex_spool_file *file, culex_error *error)
{
    culex_status status = folder_check(file, error);
    if (status == CULEX_OK)
        status = culex__sqlite_heritage_enter(&file->sqlite, error);
    if (status == CULEX_OK)
        status = file_make(file, error);
    if (status == CULEX_OK)
        status = file_connect(file, error);
    if (status == CULEX_OK)
        status = content_open(file, error);
    if (status == CULEX_OK)
        status = journal_reserve(file, error);
    return status;
}

culex_status culex__spool_file_open(struct culex_spool_file *file, const char *path,
                                    const char *place, culex_error *error)
{
    *file = (struct culex_spool_file){.lock_fd = -1};
    culex_status status = path_take(file, path, error);
    file->place = strdup(place);
    if (status == CULEX_OK && file->place == NULL)
        status = culex__sqlite_no_memory(error);
    file_enter(file);
    if (status == CULEX_OK)
        status = file_open(file, error);
    file_leave(file, status);
    return status;
}

void culex__spool_file_close(struct culex_spool_file *file)
{
    file_enter(file);
    culex__spool_file_unlock(file);
    sqlite3_finalize(file->whose);
    sqlite3_close(file->sqlite.db);
    culex__sqlite_heritage_leave(&file->sqlite);
    file_leave(file, CULEX_OK);
    free(file->sqlite.path);
    free(file->place);
}

void culex__spool_file_abandon(struct culex_spool_file *file)
{
    culex__descriptor_close(file->lock_fd);
    file->lock_fd = -1;
}

/* --- who forwards ------------------------------------------------------------------------ */

/* A file of its own: closing a descriptor of the database would drop SQLite's locks on it. */
static int lock_open(const struct culex_spool_file *file)
{
    char path[CULEX__PATH_SIZE + 8];
    int len = snprintf(path, sizeof path, "%s-lock", file->sqlite.path);
    if (len < 0 || (size_t)len >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return culex__descriptor_own(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
}

culex_status culex__spool_file_lock(struct culex_spool_file *file, bool *ret_is_ours,
                                    culex_error *error)
{
    *ret_is_ours = false;
    if (file->lock_fd < 0)
        file->lock_fd = lock_open(file);
    if (file->lock_fd < 0)
        return culex__fail(error, errno == EACCES ? CULEX_EDENIED : CULEX_ESTORE,
                           "the spool's lock %s-lock cannot be opened: %s", file->sqlite.path,
                           strerror(errno));
    *ret_is_ours = flock(file->lock_fd, LOCK_EX | LOCK_NB) == 0;
    return CULEX_OK;
}

/* The file stays: who removed it while another opens it would let two forward. A process that was
 * forked meanwhile has the descriptor too, so that closing it would not be enough. */
void culex__spool_file_unlock(struct culex_spool_file *file)
{
    if (file->lock_fd >= 0)
        flock(file->lock_fd, LOCK_UN);
    culex__descriptor_close(file->lock_fd);
    file->lock_fd = -1;
}
