/* store/sqlite/file.c - opening a file: whose is it, may we use it, and how.
 *
 * A file is ours when its application_id says so. An empty one becomes ours. Any other is
 * refused before anything is written: the checks come before journal mode and schema. */
#include "store/sqlite/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite/checkpoint.h"
#include "store/sqlite/clock.h"
#include "store/sqlite/error.h"
#include "store/sqlite/heritage.h"
#include "store/sqlite/names.h"
#include "store/sqlite/place.h"
#include "store/sqlite/reserve.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "base/error.h"
#include "platform/filesystem.h"
#include "platform/path.h"

#ifndef SQLITE_OPEN_EXRESCODE
#define SQLITE_OPEN_EXRESCODE 0
#endif

/* --- the file in the file system ------------------------------------------------------- */

static culex_status check_file_system(const struct culex_sqlite *store, culex_error *error)
{
    struct culex_filesystem system;
    char *folder = culex__path_folder(store->path);
    if (folder == NULL)
        return culex__sqlite_no_memory(error);
    bool is_known = culex__filesystem_read(folder, &system);
    int cause = errno;
    free(folder);
    if (!is_known)
        return culex__fail(error, cause == EACCES ? CULEX_EDENIED : CULEX_ECONNECT,
                           "%s: its folder cannot be used: %s", store->path, strerror(cause));
    if (system.is_network && !store->options.accepts_network)
        return culex__fail(error, CULEX_EUNSUPPORTED,
                           "%s is on a network file system (%s), whose locks and shared memory "
                           "SQLite cannot rely on: the file would be damaged. Use a local disk, or "
                           "Redis; or, when only this machine uses it, sqlite:%s?accept-network=1",
                           store->path, system.name, store->path);
    return CULEX_OK;
}

/* The file is made with mknod, not open: closing a descriptor of a database would drop the locks
 * that other connections of this process hold on it. */
static culex_status create(const struct culex_sqlite *store, culex_error *error)
{
    if (mknod(store->path, S_IFREG | 0600, 0) != 0 && errno != EEXIST)
        return culex__fail(error, errno == EACCES ? CULEX_EDENIED : CULEX_ECONNECT,
                           "%s cannot be created: %s", store->path, strerror(errno));
    return CULEX_OK;
}

static culex_status refuse_missing(const struct culex_sqlite *store, const char *fault,
                                   culex_error *error)
{
    return culex__fail(error, CULEX_ECONNECT,
                       "%s %s; nothing was created: check the path. Enqueuing a run or starting a "
                       "worker makes the store",
                       store->path, fault);
}

static culex_status check_exists(const struct culex_sqlite *store, culex_error *error)
{
    if (access(store->path, F_OK) != 0 && errno == ENOENT)
        return refuse_missing(store, "does not exist", error);
    return CULEX_OK;
}

static culex_status check_regular(const struct culex_sqlite *store, culex_error *error)
{
    struct stat info;
    if (stat(store->path, &info) == 0 && !S_ISREG(info.st_mode))
        return culex__fail(error, CULEX_EURL, "%s is %s", store->path,
                           S_ISDIR(info.st_mode) ? "a folder: name a file in it"
                                                 : "not a regular file");
    return CULEX_OK;
}

/* Some statements (the switch to WAL) answer BUSY without asking the busy handler. */
static culex_status run_text(struct culex_sqlite *store, const char *sql, culex_error *error)
{
    int rc = SQLITE_BUSY;
    for (int tries = 0;; tries++) {
        rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
        if ((rc & 0xff) != SQLITE_BUSY || !culex__sqlite_clock_pause(store, tries))
            break;
    }
    return rc == SQLITE_OK ? CULEX_OK : culex__sqlite_fail(store, rc, error);
}

/* --- whose file ------------------------------------------------------------------------ */

culex_status culex__sqlite_check_identity(const struct culex_sqlite *store, int64_t application,
                                          int64_t version, culex_error *error)
{
    if (application != CULEX__SQLITE_APPLICATION_ID)
        return culex__fail(error, CULEX_ECORRUPT,
                           "%s is another program's database, not a Culex file; nothing was "
                           "changed, choose another path",
                           store->path);
    if (version != CULEX_RECORD_VERSION)
        return culex__fail(error, CULEX_EVERSION,
                           "%s has format %lld, this build of Culex reads format %d; nothing was "
                           "changed, use the build that made it",
                           store->path, (long long)version, CULEX_RECORD_VERSION);
    return CULEX_OK;
}

static culex_status identify(struct culex_sqlite *store, bool *ret_is_empty, culex_error *error)
{
    int64_t application = 0, version = 0, tables = 0;
    culex_status status = culex__sqlite_ask(store, "PRAGMA application_id", &application, error);
    if (status == CULEX_OK)
        status = culex__sqlite_ask(store, "PRAGMA user_version", &version, error);
    if (status == CULEX_OK)
        status = culex__sqlite_ask(store, "SELECT count(*) FROM sqlite_schema", &tables, error);
    if (status != CULEX_OK)
        return status;
    *ret_is_empty = application == 0 && version == 0 && tables == 0;
    return *ret_is_empty ? CULEX_OK
                         : culex__sqlite_check_identity(store, application, version, error);
}

/* In one transaction, or another process that creates the file meanwhile would be met halfway. */
static culex_status identify_at_once(struct culex_sqlite *store, bool *ret_is_empty,
                                     culex_error *error)
{
    /* In memory readers are not kept from a writer's half-done work: see sqlite.h. */
    culex_status status = run_text(store, store->is_memory ? "BEGIN IMMEDIATE" : "BEGIN", error);
    if (status == CULEX_OK)
        status = identify(store, ret_is_empty, error);
    if (status != CULEX_OK)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    else
        status = run_text(store, "ROLLBACK", error);
    return status;
}

/* Another process may be doing the same, so the question is asked again under the lock. */
static culex_status create_schema(struct culex_sqlite *store, culex_error *error)
{
    char identity[96];
    bool is_empty;
    culex_status status = culex__sqlite_guard_enter(store, error);
    if (status != CULEX_OK)
        return status;
    snprintf(identity, sizeof identity, "PRAGMA application_id=%d; PRAGMA user_version=%d",
             CULEX__SQLITE_APPLICATION_ID, CULEX_RECORD_VERSION);
    status = run_text(store, "BEGIN IMMEDIATE", error);
    if (status == CULEX_OK)
        status = identify(store, &is_empty, error);
    if (status == CULEX_OK && is_empty)
        status = run_text(store, sqlite_schema, error);
    if (status == CULEX_OK && is_empty)
        status = run_text(store, identity, error);
    if (status == CULEX_OK && is_empty)
        status = culex__sqlite_place_mark(store, error);
    if (status == CULEX_OK)
        status = run_text(store, "COMMIT", error);
    if (status != CULEX_OK && !sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    culex__sqlite_guard_leave(store);
    return status;
}

/* --- opening --------------------------------------------------------------------------- */

/* Makes the path absolute, so that a later chdir() changes neither the files nor the texts. */
static culex_status anchor(struct culex_sqlite *store, const char *folder, culex_error *error)
{
    errno = ENOMEM;
    char *path = culex__path_absolute(store->path, folder);
    if (path == NULL)
        return errno == ENOMEM
                   ? culex__sqlite_no_memory(error)
                   : culex__fail(error, CULEX_EURL,
                                 "%s: the folder that this path counts from cannot be told: %s",
                                 store->path, strerror(errno));
    free(store->path);
    store->path = path;
    return CULEX_OK;
}

/* A store is made where a link leads, as SQLite does it, and its place is there. */
static culex_status follow(struct culex_sqlite *store, culex_error *error)
{
    char *path = culex__path_follow(store->path);
    if (path == NULL)
        return errno == ENOMEM ? culex__sqlite_no_memory(error)
                               : culex__fail(error, CULEX_ECONNECT, "%s leads nowhere: %s",
                                             store->path, strerror(errno));
    store->given = store->path;
    store->path = path;
    return CULEX_OK;
}

/* From now on the file has the one name that all links lead to: the lock and the other files beside
 * it are found by it. */
static culex_status resolve(struct culex_sqlite *store, culex_error *error)
{
    char *path = realpath(store->path, NULL);
    char *uri = path != NULL ? strdup(path) : NULL;
    if (uri == NULL) {
        int cause = errno;
        free(path);
        if (cause == ENOMEM || path != NULL)
            return culex__sqlite_no_memory(error);
        return culex__fail(error, cause == EACCES ? CULEX_EDENIED : CULEX_ECONNECT, "%s: %s",
                           store->path, strerror(cause));
    }
    free(store->path);
    free(store->uri);
    store->path = path;
    store->uri = uri;
    if (strcmp(store->given, path) == 0) {
        free(store->given);
        store->given = NULL;
    }
    return CULEX_OK;
}

static int on_busy(void *user, int tries)
{
    enum { CHECKPOINT_TRIES = 4 };
    struct culex_sqlite *store = user;
    if (store->is_checkpointing && tries >= CHECKPOINT_TRIES)
        return 0;
    return culex__sqlite_clock_pause(store, tries);
}

static culex_status connect_file(struct culex_sqlite *store, culex_error *error)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (store->is_memory)
        flags |= SQLITE_OPEN_URI | SQLITE_OPEN_CREATE;
    int rc = sqlite3_open_v2(store->uri, &store->db, flags, NULL);
    if (rc != SQLITE_OK)
        return culex__sqlite_fail(store, rc, error);
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_handler(store->db, on_busy, store);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    /* Until we know that the file is ours, closing it must not touch it either. */
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    /* A single enqueue or ack changes a few bytes on each of several pages, and the log takes
     * whole pages: half the default size makes it a quarter faster, and still holds the longest
     * row with its payload (CULEX__SQLITE_INLINE_MAX). Counts for new files only.
     * A log that one large batch has made long is cut to twice the usual length.
     * What is deleted is overwritten, however this SQLite was built: a payload whose run is
     * forgotten does not stay in the file. */
    return run_text(store,
                    "PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY; PRAGMA secure_delete=ON;"
                    " PRAGMA page_size=2048; PRAGMA journal_size_limit=16777216",
                    error);
}

static culex_status set_synchronous(struct culex_sqlite *store, const char *synchronous,
                                    culex_error *error)
{
    static const char *const levels[] = {"full", "normal", "off"};
    static const char *const texts[] = {"PRAGMA synchronous=FULL", "PRAGMA synchronous=NORMAL",
                                        "PRAGMA synchronous=OFF"};
    const char *wanted = synchronous != NULL ? synchronous : levels[0];
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (strcmp(levels[i], wanted) == 0)
            return run_text(store, texts[i], error);
    }
    return culex__fail(error, CULEX_EINVAL, "synchronous is \"%s\": full, normal or off", wanted);
}

/* A new or a restored file may be in another mode. */
static culex_status set_journal(struct culex_sqlite *store, culex_error *error)
{
    if (store->is_memory || sqlite3_db_readonly(store->db, "main") == 1)
        return CULEX_OK;
    if (!store->is_guarded)
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    return run_text(store, "PRAGMA journal_mode=WAL", error);
}

/* At the place that links lead to, where all that belongs to the store lies. */
static culex_status place_prepare(struct culex_sqlite *store, bool must_exist, culex_error *error)
{
    culex_status status = check_file_system(store, error);
    if (status == CULEX_OK)
        status = culex__sqlite_place_check_left(store, error);
    if (status == CULEX_OK)
        status = must_exist ? check_exists(store, error) : create(store, error);
    if (status == CULEX_OK)
        status = check_regular(store, error);
    if (status != CULEX_OK && strcmp(store->given, store->path) != 0)
        culex__error_context(error, "through the link %s", store->given);
    return status;
}

static culex_status find(struct culex_sqlite *store, const struct culex_store_options *options,
                         culex_error *error)
{
    culex_status status = anchor(store, options->folder, error);
    if (status == CULEX_OK)
        status = follow(store, error);
    if (status == CULEX_OK)
        status = place_prepare(store, options->must_exist, error);
    if (status == CULEX_OK)
        status = resolve(store, error);
    return status == CULEX_OK ? culex__sqlite_names_check(store, error) : status;
}

culex_status culex__sqlite_file_open(struct culex_sqlite *store,
                                     const struct culex_store_options *options, culex_error *error)
{
    static const struct culex_store_options defaults = {0};
    bool is_empty = false;
    options = options != NULL ? options : &defaults;
    culex_status status = store->is_memory ? CULEX_OK : find(store, options, error);
    if (status == CULEX_OK)
        status = culex__sqlite_heritage_enter(store, error);
    if (status == CULEX_OK)
        status = connect_file(store, error);
    if (status == CULEX_OK)
        status = identify_at_once(store, &is_empty, error);
    if (status == CULEX_EFULL && culex__sqlite_reserve_lend(store))
        status = identify_at_once(store, &is_empty, error);
    if (status == CULEX_OK && is_empty && options->must_exist && !store->is_memory)
        status = refuse_missing(store, "is empty", error);
    if (status == CULEX_OK)
        status = culex__sqlite_guard_open(store, error);
    if (status == CULEX_OK)
        culex__sqlite_reserve_open(store);
    if (status == CULEX_OK)
        status = set_journal(store, error);
    if (status == CULEX_OK)
        status = set_synchronous(store, options->synchronous, error);
    if (status == CULEX_OK && is_empty)
        status = create_schema(store, error);
    if (status == CULEX_OK)
        status = culex__sqlite_place_note(store, error);
    return status == CULEX_ECORRUPT ? culex__sqlite_place_explain(store, error) : status;
}
