#include "store/sqlite/spool.h"

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
#include "store/sqlite/sqlite.h"
#include "base/error.h"
#include "platform/descriptor.h"
#include "platform/file_limit.h"
#include "platform/filesystem.h"
#include "platform/path.h"

#ifndef SQLITE_OPEN_EXRESCODE
#define SQLITE_OPEN_EXRESCODE 0
#endif

enum {
    APPLICATION_ID = 0x43756c53, /* "CulS" */
    VERSION = 1,
    BUSY_MS = 2000 /* while another process adds or takes out */
};

/* The counts are kept by the file itself, so that no caller can forget them. */
static const char schema[] =
    "CREATE TABLE spool("
    " one INTEGER PRIMARY KEY CHECK(one = 1), name TEXT NOT NULL, place TEXT NOT NULL,"
    " runs INTEGER NOT NULL, aside INTEGER NOT NULL, bytes INTEGER NOT NULL);"
    "CREATE TABLE entry("
    " number INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL, asked_ms INTEGER NOT NULL,"
    " delay_ms INTEGER NOT NULL, at_ms INTEGER NOT NULL, key TEXT, window_ms INTEGER NOT NULL,"
    " ticket BLOB, tried_ms INTEGER NOT NULL, is_strict INTEGER NOT NULL, body BLOB NOT NULL,"
    " aside TEXT);"
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

#define COLUMNS                                                                                    \
    "number, queue, asked_ms, delay_ms, at_ms, key, window_ms, ticket, tried_ms, is_strict, "      \
    "body, "                                                                                       \
    "aside"

enum statement {
    LOOK,
    OLDEST,
    ADD,
    NEXT,
    NEXT_ASIDE,
    TRY,
    UNTRY,
    DELETE,
    PUT_ASIDE,
    AGAIN,
    DROP,
    STATEMENTS
};

static const char *const texts[STATEMENTS] = {
    [LOOK] = "SELECT runs, aside, bytes, ?1 IS NOT NULL AND EXISTS(SELECT 1 FROM entry"
             " WHERE queue = ?1 AND aside IS NULL) FROM spool",
    [OLDEST] = "SELECT asked_ms FROM entry WHERE aside IS NULL ORDER BY number LIMIT 1",
    [ADD] = "INSERT INTO entry(queue, asked_ms, delay_ms, at_ms, key, window_ms, ticket, tried_ms,"
            " is_strict, body) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    [NEXT] =
        "SELECT " COLUMNS " FROM entry WHERE aside IS NULL AND queue = (SELECT queue FROM entry"
        " WHERE aside IS NULL AND queue > ?1 ORDER BY queue LIMIT 1) ORDER BY number LIMIT ?2",
    [NEXT_ASIDE] = "SELECT " COLUMNS " FROM entry WHERE aside IS NOT NULL AND number > ?1"
                   " ORDER BY number LIMIT 1",
    [TRY] = "UPDATE entry SET tried_ms = ?2 WHERE number = ?1 AND tried_ms = 0",
    [UNTRY] = "UPDATE entry SET tried_ms = 0 WHERE number = ?1",
    [DELETE] = "DELETE FROM entry WHERE number = ?1",
    [PUT_ASIDE] = "UPDATE entry SET aside = ?2 WHERE number = ?1",
    [AGAIN] = "UPDATE entry SET aside = NULL, ticket = NULL, tried_ms = 0"
              " WHERE aside IS NOT NULL AND (?1 = 0 OR number = ?1)",
    [DROP] = "DELETE FROM entry WHERE aside IS NOT NULL AND (?1 = 0 OR number = ?1)",
};

struct culex_spool {
    struct culex_sqlite file; /* its path, handle and heritage; the rest is not used */
    const struct culex_env *env;
    dev_t device; /* of the file as it was opened */
    ino_t number;
    char name[CULEX_SPOOL_NAME_SIZE];
    sqlite3_stmt *statements[STATEMENTS];
    struct culex_file_limit limit; /* while an operation is under way */
    int lock_fd;
};

/* --- SQL --------------------------------------------------------------------------------- */

static culex_status fail(struct culex_spool *spool, int rc, culex_error *error)
{
    culex_status status = culex__sqlite_fail(&spool->file, rc, error);
    culex__error_context(error, "the spool");
    if (status != CULEX_EUNKNOWN)
        return status;
    if (error != NULL)
        error->code = CULEX_ESTORE; /* a journal that is not on the disk has changed nothing */
    return CULEX_ESTORE;
}

static culex_status text_run(struct culex_spool *spool, const char *sql, culex_error *error)
{
    int rc = sqlite3_exec(spool->file.db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? CULEX_OK : fail(spool, rc, error);
}

static culex_status number_ask(struct culex_spool *spool, const char *sql, int64_t *ret_number,
                               culex_error *error)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(spool->file.db, sql, -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *ret_number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return rc == SQLITE_ROW ? CULEX_OK : fail(spool, rc, error);
}

static culex_status statement_get(struct culex_spool *spool, enum statement which,
                                  sqlite3_stmt **ret_statement, culex_error *error)
{
    sqlite3_stmt **slot = &spool->statements[which];
    int rc = SQLITE_OK;
    if (*slot == NULL)
        rc = sqlite3_prepare_v3(spool->file.db, texts[which], -1, SQLITE_PREPARE_PERSISTENT, slot,
                                NULL);
    *ret_statement = *slot;
    return rc == SQLITE_OK ? CULEX_OK : fail(spool, rc, error);
}

/* Ends the statement; `rc` is what its last step gave. */
static culex_status statement_end(struct culex_spool *spool, sqlite3_stmt *statement, int rc,
                                  culex_error *error)
{
    culex_status status = rc == SQLITE_DONE || rc == SQLITE_ROW ? CULEX_OK : fail(spool, rc, error);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status;
}

static culex_status moved_tell(const struct culex_spool *spool, culex_error *error)
{
    return culex__fail(error, CULEX_EMOVED,
                       "the spool %s was removed or replaced while it was open: what was in it is "
                       "with whoever has the old file; open the client anew to begin another",
                       spool->file.path);
}

/* What would be written into a file that nobody finds any more would be lost. */
static culex_status place_check(const struct culex_spool *spool, culex_error *error)
{
    struct stat info;
    bool is_there = stat(spool->file.path, &info) == 0 && info.st_dev == spool->device &&
                    info.st_ino == spool->number;
    return is_there ? CULEX_OK : moved_tell(spool, error);
}

static void spool_enter(struct culex_spool *spool)
{
    spool->limit = culex__file_limit_enter();
}

static culex_status spool_leave(struct culex_spool *spool, culex_status status)
{
    culex__file_limit_leave(spool->limit);
    return status;
}

static culex_status change_begin(struct culex_spool *spool, culex_error *error)
{
    spool_enter(spool);
    culex_status status = place_check(spool, error);
    if (status == CULEX_OK)
        status = text_run(spool, "BEGIN IMMEDIATE", error);
    return status;
}

/* A COMMIT that the disk did not confirm is undone as far as others see; it is told as such. */
static culex_status change_end(struct culex_spool *spool, culex_status status, culex_error *error)
{
    if (status == CULEX_OK)
        status = text_run(spool, "COMMIT", error);
    if (status != CULEX_OK && !sqlite3_get_autocommit(spool->file.db))
        sqlite3_exec(spool->file.db, "ROLLBACK", NULL, NULL, NULL);
    return spool_leave(spool, status);
}

/* --- opening ----------------------------------------------------------------------------- */

static culex_status path_take(struct culex_spool *spool, const char *path, culex_error *error)
{
    spool->file.path = culex__path_absolute(path, NULL);
    if (spool->file.path != NULL)
        return CULEX_OK;
    return errno == ENOMEM ? culex__sqlite_no_memory(error)
                           : culex__fail(error, CULEX_EINVAL,
                                         "the spool %s: the folder that this path counts from "
                                         "cannot be told: %s",
                                         path, strerror(errno));
}

static culex_status folder_check(const struct culex_spool *spool, culex_error *error)
{
    struct culex_filesystem system;
    const char *path = spool->file.path;
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
static culex_status file_make(const struct culex_spool *spool, culex_error *error)
{
    struct stat info;
    const char *path = spool->file.path;
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

static culex_status file_connect(struct culex_spool *spool, culex_error *error)
{
    struct stat info;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(spool->file.path, &spool->file.db, flags, NULL);
    if (rc != SQLITE_OK)
        return fail(spool, rc, error);
    sqlite3_busy_timeout(spool->file.db, BUSY_MS);
    if (sqlite3_db_readonly(spool->file.db, "main") == 1)
        return culex__fail(error, CULEX_EREADONLY,
                           "the spool %s cannot be written: make the file and its folder writable",
                           spool->file.path);
    if (stat(spool->file.path, &info) != 0)
        return moved_tell(spool, error);
    spool->device = info.st_dev;
    spool->number = info.st_ino;
    return CULEX_OK;
}

static culex_status identify(struct culex_spool *spool, bool *ret_is_empty, culex_error *error)
{
    int64_t application = 0, version = 0, tables = 0;
    culex_status status = number_ask(spool, "PRAGMA application_id", &application, error);
    if (status == CULEX_OK)
        status = number_ask(spool, "PRAGMA user_version", &version, error);
    if (status == CULEX_OK)
        status = number_ask(spool, "SELECT count(*) FROM sqlite_schema", &tables, error);
    *ret_is_empty = application == 0 && version == 0 && tables == 0;
    if (status != CULEX_OK || *ret_is_empty)
        return status;
    if (application != APPLICATION_ID)
        return culex__fail(
            error, CULEX_ECORRUPT,
            "%s is %s, not a spool; nothing was changed, choose another path", spool->file.path,
            application == CULEX__SQLITE_APPLICATION_ID ? "a store" : "another program's database");
    if (version != VERSION)
        return culex__fail(error, CULEX_EVERSION,
                           "the spool %s has format %" PRId64
                           ", this build reads format %d; nothing "
                           "was changed, forward it with the build that made it",
                           spool->file.path, version, VERSION);
    return CULEX_OK;
}

static culex_status schema_make(struct culex_spool *spool, culex_error *error)
{
    char text[256];
    culex_status status = text_run(spool, schema, error);
    snprintf(text, sizeof text,
             "INSERT INTO spool VALUES(1, '%016" PRIx64 "', '', 0, 0, 0);"
             "PRAGMA application_id=%d; PRAGMA user_version=%d",
             culex__env_random(spool->env), APPLICATION_ID, VERSION);
    return status == CULEX_OK ? text_run(spool, text, error) : status;
}

static culex_status settings_make(struct culex_spool *spool, culex_error *error)
{
    return text_run(spool,
                    "PRAGMA trusted_schema=OFF; PRAGMA synchronous=FULL;"
                    "PRAGMA journal_mode=PERSIST",
                    error);
}

static culex_status place_set(struct culex_spool *spool, const char *place, culex_error *error)
{
    sqlite3_stmt *statement = NULL;
    int rc =
        sqlite3_prepare_v2(spool->file.db, "UPDATE spool SET place = ?1", -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(statement, 1, place, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    sqlite3_finalize(statement);
    return rc == SQLITE_DONE ? CULEX_OK : fail(spool, rc, error);
}

/* Whose runs they are; with none in it, it is for the store that is asked for now. */
static culex_status place_judge(struct culex_spool *spool, sqlite3_stmt *statement,
                                const char *place, bool *ret_is_other, culex_error *error)
{
    const char *name = (const char *)sqlite3_column_text(statement, 0);
    const char *told = (const char *)sqlite3_column_text(statement, 1);
    if (name == NULL || told == NULL || strlen(name) != CULEX_SPOOL_NAME_SIZE - 1)
        return culex__sqlite_bad_row(&spool->file, error);
    strcpy(spool->name, name);
    *ret_is_other = strcmp(told, place) != 0;
    if (!*ret_is_other || sqlite3_column_int64(statement, 2) == 0)
        return CULEX_OK;
    return culex__fail(error, CULEX_EINVAL,
                       "the spool %s holds %lld runs for another store (%s), and this one is %s: "
                       "forward them there first, or name another file",
                       spool->file.path, (long long)sqlite3_column_int64(statement, 2), told,
                       place);
}

static culex_status place_take(struct culex_spool *spool, const char *place, culex_error *error)
{
    sqlite3_stmt *statement = NULL;
    bool is_other = false;
    culex_status status = CULEX_OK;
    int rc = sqlite3_prepare_v2(spool->file.db, "SELECT name, place, runs + aside FROM spool", -1,
                                &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        status = place_judge(spool, statement, place, &is_other, error);
    else
        status =
            rc == SQLITE_DONE ? culex__sqlite_bad_row(&spool->file, error) : fail(spool, rc, error);
    sqlite3_finalize(statement);
    return status == CULEX_OK && is_other ? place_set(spool, place, error) : status;
}

/* In one transaction, or another process that makes the file meanwhile would be met halfway. */
static culex_status identify_at_once(struct culex_spool *spool, culex_error *error)
{
    bool is_empty;
    culex_status status = text_run(spool, "BEGIN", error);
    if (status == CULEX_OK)
        status = identify(spool, &is_empty, error);
    if (!sqlite3_get_autocommit(spool->file.db))
        sqlite3_exec(spool->file.db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* Who comes first makes it; the question is asked again under the lock. */
static culex_status content_open(struct culex_spool *spool, const char *place, culex_error *error)
{
    bool is_empty = false;
    culex_status status = identify_at_once(spool, error);
    if (status == CULEX_OK)
        status = settings_make(spool, error);
    if (status != CULEX_OK)
        return status;
    status = text_run(spool, "BEGIN IMMEDIATE", error);
    if (status == CULEX_OK)
        status = identify(spool, &is_empty, error);
    if (status == CULEX_OK && is_empty)
        status = schema_make(spool, error);
    if (status == CULEX_OK)
        status = place_take(spool, place, error);
    if (status == CULEX_OK)
        status = text_run(spool, "COMMIT", error);
    if (status != CULEX_OK && !sqlite3_get_autocommit(spool->file.db))
        sqlite3_exec(spool->file.db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

static culex_status file_open(struct culex_spool *spool, const char *place, culex_error *error)
{
    culex_status status = folder_check(spool, error);
    if (status == CULEX_OK)
        status = culex__sqlite_heritage_enter(&spool->file, error);
    if (status == CULEX_OK)
        status = file_make(spool, error);
    if (status == CULEX_OK)
        status = file_connect(spool, error);
    if (status == CULEX_OK)
        status = content_open(spool, place, error);
    return status;
}

culex_status culex__spool_open(const char *path, const char *place, const struct culex_env *env,
                               struct culex_spool **ret_spool, culex_error *error)
{
    struct culex_spool *spool = calloc(1, sizeof *spool);
    if (spool == NULL)
        return culex__sqlite_no_memory(error);
    spool->env = env;
    spool->lock_fd = -1;
    culex_status status = path_take(spool, path, error);
    spool_enter(spool);
    if (status == CULEX_OK)
        status = file_open(spool, place, error);
    spool_leave(spool, status);
    if (status != CULEX_OK) {
        culex__spool_close(spool);
        return status;
    }
    *ret_spool = spool;
    return CULEX_OK;
}

void culex__spool_close(struct culex_spool *spool)
{
    spool_enter(spool);
    culex__spool_unlock(spool);
    for (size_t i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(spool->statements[i]);
    sqlite3_close(spool->file.db);
    culex__sqlite_heritage_leave(&spool->file);
    spool_leave(spool, CULEX_OK);
    free(spool->file.path);
    free(spool);
}

/* It stays in the list of files that were inherited, so its memory does too. */
void culex__spool_abandon(struct culex_spool *spool)
{
    culex__descriptor_close(spool->lock_fd);
    spool->lock_fd = -1;
}

const char *culex__spool_path(const struct culex_spool *spool)
{
    return spool->file.path;
}

const char *culex__spool_name(const struct culex_spool *spool)
{
    return spool->name;
}

/* --- looking ----------------------------------------------------------------------------- */

static culex_status look(struct culex_spool *spool, const char *queue,
                         struct culex_spool_state *ret_state, culex_error *error)
{
    sqlite3_stmt *statement;
    culex_status status = statement_get(spool, LOOK, &statement, error);
    if (status != CULEX_OK)
        return status;
    int rc = sqlite3_bind_text(statement, 1, queue, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *ret_state =
            (struct culex_spool_state){.runs = (uint64_t)sqlite3_column_int64(statement, 0),
                                       .aside = (uint64_t)sqlite3_column_int64(statement, 1),
                                       .bytes = (uint64_t)sqlite3_column_int64(statement, 2),
                                       .has_queue = sqlite3_column_int64(statement, 3) != 0};
    status = statement_end(spool, statement, rc, error);
    return status == CULEX_OK && rc != SQLITE_ROW ? culex__sqlite_bad_row(&spool->file, error)
                                                  : status;
}

culex_status culex__spool_look(struct culex_spool *spool, const char *queue,
                               struct culex_spool_state *ret_state, culex_error *error)
{
    spool_enter(spool);
    culex_status status = place_check(spool, error);
    if (status == CULEX_OK)
        status = look(spool, queue, ret_state, error);
    return spool_leave(spool, status);
}

culex_status culex__spool_oldest(struct culex_spool *spool, int64_t *ret_asked_ms,
                                 culex_error *error)
{
    sqlite3_stmt *statement;
    spool_enter(spool);
    culex_status status = statement_get(spool, OLDEST, &statement, error);
    *ret_asked_ms = 0;
    if (status == CULEX_OK) {
        int rc = sqlite3_step(statement);
        if (rc == SQLITE_ROW)
            *ret_asked_ms = sqlite3_column_int64(statement, 0);
        status = statement_end(spool, statement, rc, error);
    }
    return spool_leave(spool, status);
}

/* --- adding ------------------------------------------------------------------------------ */

static culex_status room_check(struct culex_spool *spool, const struct culex_spool_entry *entries,
                               size_t count, uint64_t runs_max, uint64_t bytes_max,
                               culex_error *error)
{
    struct culex_spool_state state = {0};
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += entries[i].body_len;
    culex_status status = look(spool, NULL, &state, error);
    if (status != CULEX_OK)
        return status;
    if (state.runs + state.aside + count <= runs_max && state.bytes + bytes <= bytes_max)
        return CULEX_OK;
    return culex__fail(
        error, CULEX_EFULL,
        "the spool %s is full, with %" PRIu64 " runs (%" PRIu64 " aside) and %" PRIu64
        " bytes: bring the store back, settle what stands "
        "aside (culex-spool), or allow more than %" PRIu64 " runs and %" PRIu64 " bytes",
        spool->file.path, state.runs + state.aside, state.aside, state.bytes, runs_max, bytes_max);
}

static int entry_bind(sqlite3_stmt *statement, const struct culex_spool_entry *entry)
{
    const int64_t numbers[][2] = {{2, entry->asked_ms}, {3, entry->delay_ms},
                                  {4, entry->at_ms},    {6, entry->window_ms},
                                  {8, entry->tried_ms}, {9, entry->is_strict}};
    int rc = sqlite3_bind_text(statement, 1, entry->queue, -1, SQLITE_STATIC);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && rc == SQLITE_OK; i++)
        rc = sqlite3_bind_int64(statement, (int)numbers[i][0], numbers[i][1]);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(statement, 5, entry->key, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK && entry->has_ticket)
        rc = sqlite3_bind_blob(statement, 7, &entry->ticket, sizeof entry->ticket, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_blob64(statement, 10, entry->body, entry->body_len, SQLITE_STATIC);
    return rc;
}

static culex_status entry_add(struct culex_spool *spool, const struct culex_spool_entry *entry,
                              culex_error *error)
{
    sqlite3_stmt *statement;
    culex_status status = statement_get(spool, ADD, &statement, error);
    if (status != CULEX_OK)
        return status;
    int rc = entry_bind(statement, entry);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    return statement_end(spool, statement, rc, error);
}

culex_status culex__spool_add(struct culex_spool *spool, const struct culex_spool_entry *entries,
                              size_t count, uint64_t runs_max, uint64_t bytes_max,
                              culex_error *error)
{
    culex_status status = change_begin(spool, error);
    if (status == CULEX_OK)
        status = room_check(spool, entries, count, runs_max, bytes_max, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = entry_add(spool, &entries[i], error);
    return change_end(spool, status, error);
}

/* --- taking out -------------------------------------------------------------------------- */

static char *room_add(char *at, const void *bytes, size_t len, const char **ret_text)
{
    *ret_text = at;
    if (len > 0)
        memcpy(at, bytes, len);
    at[len] = '\0';
    return at + len + 1;
}

/* Copies what the row points to. False without memory. */
static bool texts_take(sqlite3_stmt *row, struct culex_spool_entry *entry, char **ret_room)
{
    enum { QUEUE = 1, KEY = 5, BODY = 10, ASIDE = 11 };
    static const int columns[] = {QUEUE, KEY, ASIDE, BODY};
    const char *copies[4] = {NULL};
    const void *bytes[4];
    size_t lens[4], total = 0;
    for (size_t i = 0; i < 4; i++) {
        bytes[i] = sqlite3_column_blob(row, columns[i]);
        lens[i] = (size_t)sqlite3_column_bytes(row, columns[i]);
        total += lens[i] + 1;
    }
    char *at = *ret_room = malloc(total);
    if (at == NULL)
        return false;
    for (size_t i = 0; i < 4; i++)
        at = room_add(at, bytes[i], lens[i], &copies[i]);
    entry->queue = copies[0];
    entry->key = sqlite3_column_type(row, KEY) != SQLITE_NULL ? copies[1] : NULL;
    entry->aside = sqlite3_column_type(row, ASIDE) != SQLITE_NULL ? copies[2] : NULL;
    entry->body = copies[3];
    entry->body_len = lens[3];
    return true;
}

static bool entry_take(sqlite3_stmt *row, struct culex_spool_entry *entry, char **ret_room)
{
    *entry = (struct culex_spool_entry){.number = sqlite3_column_int64(row, 0),
                                        .asked_ms = sqlite3_column_int64(row, 2),
                                        .delay_ms = sqlite3_column_int64(row, 3),
                                        .at_ms = sqlite3_column_int64(row, 4),
                                        .window_ms = sqlite3_column_int64(row, 6),
                                        .tried_ms = sqlite3_column_int64(row, 8),
                                        .is_strict = sqlite3_column_int64(row, 9) != 0};
    entry->has_ticket = sqlite3_column_bytes(row, 7) == (int)sizeof entry->ticket;
    if (entry->has_ticket)
        memcpy(&entry->ticket, sqlite3_column_blob(row, 7), sizeof entry->ticket);
    return texts_take(row, entry, ret_room);
}

/* Whether it goes with the first of the batch. */
static bool is_fellow(const struct culex_spool_entry *first, const struct culex_spool_entry *entry)
{
    return first->has_ticket == entry->has_ticket &&
           (!first->has_ticket ||
            memcmp(&first->ticket, &entry->ticket, sizeof first->ticket) == 0);
}

static culex_status rows_take(struct culex_spool *spool, sqlite3_stmt *statement, size_t most,
                              struct culex_spool_batch *batch, culex_error *error)
{
    size_t bytes = 0;
    int rc;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW && batch->count < CULEX_SPOOL_BATCH_MAX) {
        struct culex_spool_entry *entry = &batch->entries[batch->count];
        char **room = &batch->rooms[batch->count];
        if (!entry_take(statement, entry, room)) {
            statement_end(spool, statement, rc, NULL);
            return culex__sqlite_no_memory(error);
        }
        bytes += entry->body_len;
        bool is_over = batch->count > 0 && !entry->has_ticket &&
                       (bytes > CULEX_SPOOL_BATCH_BYTES || batch->count == most);
        if (is_over || !is_fellow(&batch->entries[0], entry)) {
            free(*room);
            break;
        }
        batch->count++;
    }
    return statement_end(spool, statement, rc, error);
}

/* `after` or `number` says where to go on. */
static culex_status batch_take(struct culex_spool *spool, enum statement which, const char *after,
                               int64_t number, size_t most, struct culex_spool_batch *batch,
                               culex_error *error)
{
    sqlite3_stmt *statement;
    batch->count = 0;
    culex_status status = place_check(spool, error);
    if (status == CULEX_OK)
        status = statement_get(spool, which, &statement, error);
    if (status != CULEX_OK)
        return status;
    int rc = after != NULL ? sqlite3_bind_text(statement, 1, after, -1, SQLITE_STATIC)
                           : sqlite3_bind_int64(statement, 1, number);
    if (rc == SQLITE_OK && after != NULL)
        rc = sqlite3_bind_int64(statement, 2, CULEX_SPOOL_BATCH_MAX);
    if (rc != SQLITE_OK)
        return statement_end(spool, statement, rc, error);
    status = rows_take(spool, statement, most, batch, error);
    if (status != CULEX_OK)
        culex__spool_batch_release(batch);
    return status;
}

culex_status culex__spool_next(struct culex_spool *spool, const char *after, size_t most,
                               struct culex_spool_batch *ret_batch, culex_error *error)
{
    spool_enter(spool);
    return spool_leave(spool, batch_take(spool, NEXT, after, 0, most, ret_batch, error));
}

culex_status culex__spool_next_aside(struct culex_spool *spool, int64_t number,
                                     struct culex_spool_batch *ret_batch, culex_error *error)
{
    spool_enter(spool);
    return spool_leave(spool, batch_take(spool, NEXT_ASIDE, NULL, number, 1, ret_batch, error));
}

void culex__spool_batch_release(struct culex_spool_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        free(batch->rooms[i]);
    batch->count = 0;
}

static culex_status change_one(struct culex_spool *spool, const struct culex_spool_change *change,
                               culex_error *error)
{
    static const enum statement statements[] = {[CULEX_SPOOL_TRIED] = TRY,
                                                [CULEX_SPOOL_UNTRIED] = UNTRY,
                                                [CULEX_SPOOL_GONE] = DELETE,
                                                [CULEX_SPOOL_ASIDE] = PUT_ASIDE};
    sqlite3_stmt *statement;
    culex_status status = statement_get(spool, statements[change->fate], &statement, error);
    if (status != CULEX_OK)
        return status;
    int rc = sqlite3_bind_int64(statement, 1, change->number);
    if (rc == SQLITE_OK && change->fate == CULEX_SPOOL_TRIED)
        rc = sqlite3_bind_int64(statement, 2, change->tried_ms);
    if (rc == SQLITE_OK && change->fate == CULEX_SPOOL_ASIDE)
        rc = sqlite3_bind_text(statement, 2, change->text, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    return statement_end(spool, statement, rc, error);
}

culex_status culex__spool_change(struct culex_spool *spool,
                                 const struct culex_spool_change *changes, size_t count,
                                 culex_error *error)
{
    culex_status status = change_begin(spool, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++) {
        if (changes[i].fate != CULEX_SPOOL_KEPT)
            status = change_one(spool, &changes[i], error);
    }
    return change_end(spool, status, error);
}

static culex_status aside_change(struct culex_spool *spool, enum statement which, int64_t number,
                                 uint64_t *ret_count, culex_error *error)
{
    sqlite3_stmt *statement;
    uint64_t count = 0;
    culex_status status = change_begin(spool, error);
    if (status == CULEX_OK)
        status = statement_get(spool, which, &statement, error);
    if (status == CULEX_OK) {
        int rc = sqlite3_bind_int64(statement, 1, number);
        if (rc == SQLITE_OK)
            rc = sqlite3_step(statement);
        count = (uint64_t)sqlite3_changes(spool->file.db);
        status = statement_end(spool, statement, rc, error);
    }
    status = change_end(spool, status, error);
    if (status == CULEX_OK)
        *ret_count = count;
    return status;
}

culex_status culex__spool_again(struct culex_spool *spool, int64_t number, uint64_t *ret_count,
                                culex_error *error)
{
    return aside_change(spool, AGAIN, number, ret_count, error);
}

culex_status culex__spool_drop(struct culex_spool *spool, int64_t number, uint64_t *ret_count,
                               culex_error *error)
{
    return aside_change(spool, DROP, number, ret_count, error);
}

/* --- who forwards ------------------------------------------------------------------------ */

/* A file of its own: closing a descriptor of the database would drop SQLite's locks on it. */
static int lock_open(const struct culex_spool *spool)
{
    char path[CULEX__PATH_SIZE + 8];
    int len = snprintf(path, sizeof path, "%s-lock", spool->file.path);
    if (len < 0 || (size_t)len >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return culex__descriptor_own(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
}

culex_status culex__spool_lock(struct culex_spool *spool, bool *ret_is_ours, culex_error *error)
{
    *ret_is_ours = false;
    if (spool->lock_fd < 0)
        spool->lock_fd = lock_open(spool);
    if (spool->lock_fd < 0)
        return culex__fail(error, errno == EACCES ? CULEX_EDENIED : CULEX_ESTORE,
                           "the spool's lock %s-lock cannot be opened: %s", spool->file.path,
                           strerror(errno));
    *ret_is_ours = flock(spool->lock_fd, LOCK_EX | LOCK_NB) == 0;
    return CULEX_OK;
}

/* The file stays: who removed it while another opens it would let two forward. A process that was
 * forked meanwhile has the descriptor too, so that closing it would not be enough. */
void culex__spool_unlock(struct culex_spool *spool)
{
    if (spool->lock_fd >= 0)
        flock(spool->lock_fd, LOCK_UN);
    culex__descriptor_close(spool->lock_fd);
    spool->lock_fd = -1;
}
