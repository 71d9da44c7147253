/* store/sqlite/place.c - is the file that is open still the one that others find?
 *
 * A database that is removed, or replaced by a copy, lives on in those who have it open: they would
 * go on to write, and be told that all is well, into a file that nobody reads. The same holds for
 * its log, and for the log's index, in which those who share the store see each other's commits and
 * locks; and when the path that was given goes by a link, which may be pointed elsewhere. So each
 * transaction compares the names with the files that were found at the opening, before anything is
 * written, and looks whether the file has lost pages, or the log frames: what is written into one
 * that was cut off, or overwritten by a shorter copy, is as lost.
 *
 * A copy of another store, written into the file or put beside the log of this one, would be mixed
 * with it page by page. So each store has a mark of its own in the header of its file: a random
 * "schema version", which SQLite only compares, and raises by one at a VACUUM. */
#include "store/sqlite/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/sqlite/beside.h"
#include "store/sqlite/error.h"
#include "store/sqlite/index.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "base/error.h"
#include "platform/descriptor.h"

enum { HEADER_BYTES = 512 }; /* the smallest page: no database that was written is smaller */

static struct culex_sqlite_inode inode_of(const struct stat *info)
{
    return (struct culex_sqlite_inode){.device = info->st_dev, .number = info->st_ino};
}

static bool is_at(const struct culex_sqlite_inode *inode, const struct stat *info)
{
    return inode->device == info->st_dev && inode->number == info->st_ino;
}

static const char *log_name(const struct culex_sqlite *store)
{
    return sqlite3_filename_wal(sqlite3_db_filename(store->db, "main"));
}

static culex_status fail(const struct culex_sqlite *store, const char *what, culex_error *error)
{
    return culex__fail(error, CULEX_EMOVED,
                       "%s was %s while it was open here: what this program wrote, nobody would "
                       "read. Nothing was changed; put the file back, or open the store anew",
                       store->path, what);
}

static culex_status fail_link(const struct culex_sqlite *store, culex_error *error)
{
    return culex__fail(error, CULEX_EMOVED,
                       "%s leads to another file since it was opened here, which was %s: nobody "
                       "who goes by that name would see what this program writes. Nothing was "
                       "changed; point the link there again, or open the store anew",
                       store->given, store->path);
}

static culex_status fail_log(const struct culex_sqlite *store, culex_error *error)
{
    return culex__fail(error, CULEX_EMOVED,
                       "%s-wal, the log of the store, was removed or replaced while it was open "
                       "here. Nothing was changed; end all programs that use the store before it "
                       "is opened anew: they bring what the log held into the file when they end",
                       store->path);
}

/* Not to be removed, nor written back, by a close that takes itself for the last one. */
static culex_status fail_index(struct culex_sqlite *store, culex_error *error)
{
    store->place.is_lost = true;
    return culex__fail(error, CULEX_EMOVED,
                       "%s-shm, by which those who have the store open see each other, was removed "
                       "or replaced while it was open here: others may write without our knowing. "
                       "Nothing was changed; end all programs that use the store before it is "
                       "opened anew",
                       store->path);
}

static culex_status check_length(struct culex_sqlite *store, int64_t bytes, culex_status status,
                                 const char *when, culex_error *error)
{
    if (!culex__sqlite_index_is_cut(store, bytes, &store->place.extent))
        return CULEX_OK;
    store->place.is_lost = true;
    return culex__fail(error, status,
                       "%s %s at %lld bytes: its pages take %lld, and what is missing is lost. "
                       "Nothing was changed; end all programs that use the store, remove %s-wal "
                       "and %s-shm, and put a copy in its place",
                       store->path, when, (long long)bytes, (long long)store->place.extent.wanted,
                       store->path, store->path);
}

/* `bytes` of the log, which were there a moment ago. */
static culex_status check_frames(struct culex_sqlite *store, int64_t bytes, culex_status status,
                                 const char *when, culex_error *error)
{
    if (!culex__sqlite_index_log_is_cut(store, bytes, &store->place.last_frame))
        return CULEX_OK;
    store->place.is_lost = true;
    return culex__fail(
        error, status,
        "%s-wal, the log of the store, %s: what it held is lost, but for what was in "
        "the file before. Nothing was changed; end all programs that use the store, "
        "and before it is opened anew check it with \"PRAGMA integrity_check\", or "
        "remove %s-wal and %s-shm and put a copy in its place",
        store->path, when, store->path, store->path);
}

/* --- what was left ------------------------------------------------------------------------ */

static bool has_bytes(const struct culex_sqlite *store, const char *suffix)
{
    struct stat info;
    return culex__sqlite_beside_look(store->path, suffix, &info) && info.st_size > 0;
}

/* Beside an empty file SQLite removes the log, with all that was not written back, and shares the
 * index with programs that still have the old file open. Who begins a store at the same time has
 * written into the file before these two are there: so they are looked at first. */
culex_status culex__sqlite_place_check_left(const struct culex_sqlite *store, culex_error *error)
{
    struct stat info;
    const char *left = has_bytes(store, "-wal") ? "-wal" : has_bytes(store, "-shm") ? "-shm" : NULL;
    if (left == NULL)
        return CULEX_OK;
    bool is_there = stat(store->path, &info) == 0;
    if (is_there ? info.st_size > 0 : errno != ENOENT)
        return CULEX_OK;
    return culex__fail(error, CULEX_ECORRUPT,
                       "%s is %s, but %s%s, of the store that was there, is not: it may hold runs, "
                       "and programs may be at work with it. Nothing was changed; put the file "
                       "back, or, to begin a new store, end all programs that use the old one and "
                       "remove %s-wal and %s-shm",
                       store->path, is_there ? "empty" : "gone", store->path, left, store->path,
                       store->path);
}

/* --- whose pages ----------------------------------------------------------------------- */

enum {
    MARK_AT = 40,           /* in the header, four bytes, the highest first */
    MARK_MIN = 1 << 24,     /* of stores with one; in a file that is only begun there are less */
    MARK_STEPS = 64 * 1024, /* VACUUMs that a store may live through */
};

culex_status culex__sqlite_place_mark(struct culex_sqlite *store, culex_error *error)
{
    char sql[64];
    uint32_t random = (uint32_t)culex__env_random(store->base.env) % (INT32_MAX - 2 * MARK_MIN);
    snprintf(sql, sizeof sql, "PRAGMA schema_version=%lu", (unsigned long)random + MARK_MIN);
    int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? CULEX_OK : culex__sqlite_fail(store, rc, error);
}

/* Of the file itself, whatever the log says. 0: not known. */
static int64_t mark_in_file(const struct culex_sqlite *store)
{
    unsigned char bytes[4];
    sqlite3_file *file = NULL;
    int rc = sqlite3_file_control(store->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (rc != SQLITE_OK || file == NULL || file->pMethods == NULL ||
        file->pMethods->xRead(file, bytes, sizeof bytes, MARK_AT) != SQLITE_OK)
        return 0;
    return (int64_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

static bool is_foreign(const struct culex_sqlite *store)
{
    int64_t found = mark_in_file(store), own = store->place.mark;
    return found >= MARK_MIN && own >= MARK_MIN && llabs(found - own) > MARK_STEPS;
}

/* Who writes into the file changes its time: a checkpoint, or a copy. */
static culex_status check_mark(struct culex_sqlite *store, const struct stat *info,
                               culex_error *error)
{
    struct timespec *modified = &store->place.modified;
    if (modified->tv_sec == info->st_mtim.tv_sec && modified->tv_nsec == info->st_mtim.tv_nsec)
        return CULEX_OK;
    if (is_foreign(store)) {
        store->place.is_lost = true;
        return fail(store, "overwritten by a copy of another store", error);
    }
    *modified = info->st_mtim;
    return CULEX_OK;
}

/* The log's pages are those that SQLite shows. */
static culex_status check_mark_first(struct culex_sqlite *store, culex_error *error)
{
    culex_status status =
        culex__sqlite_ask(store, "PRAGMA schema_version", &store->place.mark, error);
    if (status != CULEX_OK || !is_foreign(store))
        return status;
    store->place.is_lost = true;
    return culex__fail(error, CULEX_ECORRUPT,
                       "%s and the log beside it, %s-wal, belong to two stores: one is a copy that "
                       "was put there. Nothing was changed; end all programs that use the store, "
                       "and remove %s-wal and %s-shm, or put back the file that they belong to",
                       store->path, store->path, store->path, store->path);
}

/* --- how long -------------------------------------------------------------------------- */

static void names_note(struct culex_sqlite *store)
{
    struct culex_sqlite_place *place = &store->place;
    if (place->index_name == NULL)
        place->index_name = culex__sqlite_beside_name(store->path, "-shm");
    place->log_name = log_name(store);
}

/* What another one writes may be in the file in a form of its own. */
static bool has_system_vfs(const struct culex_sqlite *store)
{
    sqlite3_vfs *vfs = NULL;
    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
    return vfs != NULL && strcmp(vfs->zName, "unix") == 0;
}

/* And its index; false when there is none. */
static bool log_note(struct culex_sqlite *store)
{
    struct culex_sqlite_place *place = &store->place;
    struct culex_sqlite_glance opened;
    if (!culex__sqlite_glance_at(place->log_name, &place->log))
        return false;
    if (place->index_name != NULL)
        culex__sqlite_glance_at(place->index_name, &place->index);
    culex__descriptor_close(place->log_fd);
    place->log_fd = has_system_vfs(store) ? culex__sqlite_glance_open(place->log_name) : -1;
    bool is_same = place->log_fd >= 0 && culex__sqlite_glance_in(place->log_fd, &opened) &&
                   culex__sqlite_glance_is_same(&place->log, &opened);
    if (!is_same) {
        culex__descriptor_close(place->log_fd);
        place->log_fd = -1;
    }
    return true;
}

/* At the opening, beside others who have it open; alone, SQLite itself refuses it. Without a log
 * there is no index to ask, and asking would make one. */
static culex_status check_length_first(struct culex_sqlite *store, culex_error *error)
{
    struct stat file;
    names_note(store);
    if (stat(store->path, &file) != 0 || !log_note(store))
        return CULEX_OK;
    culex_status status = check_frames(store, store->place.log.bytes, CULEX_ECORRUPT,
                                       "is emptied, cut off or overwritten", error);
    return status == CULEX_OK
               ? check_length(store, file.st_size, CULEX_ECORRUPT, "is cut off", error)
               : status;
}

culex_status culex__sqlite_place_explain(struct culex_sqlite *store, culex_error *error)
{
    if (!store->is_memory && store->db != NULL)
        check_length_first(store, error);
    return CULEX_ECORRUPT;
}

culex_status culex__sqlite_place_note(struct culex_sqlite *store, culex_error *error)
{
    struct stat info;
    int is_moved = 0;
    if (store->is_memory)
        return CULEX_OK;
    if (stat(store->path, &info) != 0)
        return fail(store, "removed", error);
    store->place.file = inode_of(&info);
    /* SQLite opened the file by this name before the stat above: both must have met the same one.
     */
    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &is_moved);
    if (is_moved)
        return fail(store, "replaced", error);
    culex_status status = check_mark_first(store, error);
    return status == CULEX_OK ? check_length_first(store, error) : status;
}

/* Any other error (a folder that was closed to us) does not show that the file is gone. */
static bool is_gone(int cause)
{
    return cause == ENOENT || cause == ENOTDIR;
}

static bool is_still(const struct culex_sqlite_glance *first, const char *name,
                     struct culex_sqlite_glance *ret_glance)
{
    ret_glance->bytes = -1;
    return culex__sqlite_glance_at(name, ret_glance)
               ? culex__sqlite_glance_is_same(first, ret_glance)
               : !is_gone(errno);
}

/* *ret_bytes: its length, -1 when it could not be told. */
static culex_status check_log(const struct culex_sqlite *store, int64_t *ret_bytes,
                              culex_error *error)
{
    struct culex_sqlite_glance glance = {.bytes = -1};
    const struct culex_sqlite_place *place = &store->place;
    bool is_there = place->log.number == 0 || is_still(&place->log, place->log_name, &glance);
    *ret_bytes = glance.bytes;
    return is_there ? CULEX_OK : fail_log(store, error);
}

static culex_status check_index(struct culex_sqlite *store, culex_error *error)
{
    struct culex_sqlite_glance glance;
    const struct culex_sqlite_place *place = &store->place;
    if (place->index.number == 0 || place->index_name == NULL ||
        is_still(&place->index, place->index_name, &glance))
        return CULEX_OK;
    return fail_index(store, error);
}

/* Some switch a link by taking it away first: as long as the name leads nowhere, nobody can
 * have opened another file by it. */
static culex_status check_given(const struct culex_sqlite *store, culex_error *error)
{
    struct stat info;
    if (store->given == NULL || stat(store->given, &info) != 0 || is_at(&store->place.file, &info))
        return CULEX_OK;
    return fail_link(store, error);
}

culex_status culex__sqlite_place_check(struct culex_sqlite *store, culex_error *error)
{
    struct stat info;
    int64_t log_bytes = -1;
    if (store->place.file.number == 0)
        return CULEX_OK;
    if (stat(store->path, &info) != 0)
        return is_gone(errno) ? fail(store, "removed", error) : CULEX_OK;
    if (!is_at(&store->place.file, &info))
        return fail(store, "replaced by another file", error);
    if (info.st_size < HEADER_BYTES) {
        store->place.is_lost = true;
        return fail(store, "emptied", error);
    }
    culex_status status = check_given(store, error);
    if (status == CULEX_OK)
        status = check_index(store, error);
    if (status == CULEX_OK)
        status = check_log(store, &log_bytes, error);
    if (status == CULEX_OK)
        status = check_mark(store, &info, error);
    if (status != CULEX_OK || store->place.log.number == 0)
        return status;
    status = check_frames(store, log_bytes, CULEX_EMOVED,
                          "was emptied, cut off or overwritten while it was open here", error);
    return status == CULEX_OK ? check_length(store, info.st_size, CULEX_EMOVED,
                                             "was cut off while it was open here", error)
                              : status;
}

void culex__sqlite_place_close(struct culex_sqlite *store)
{
    culex__descriptor_close(store->place.log_fd);
    store->place.log_fd = -1;
    free(store->place.index_name);
    store->place.index_name = NULL;
}

culex_status culex__sqlite_place_check_borrowed(const struct culex_sqlite *store,
                                                culex_error *error)
{
    int is_moved = 0;
    sqlite3_file_control(store->db, store->schema, SQLITE_FCNTL_HAS_MOVED, &is_moved);
    return is_moved ? fail(store, "removed or replaced", error) : CULEX_OK;
}

void culex__sqlite_place_tell(const struct culex_store *base, char *ret_text, size_t size)
{
    const struct culex_sqlite *store = (const struct culex_sqlite *)base;
    if (store->place.file.number != 0)
        snprintf(ret_text, size, "sqlite %llu %llu", (unsigned long long)store->place.file.device,
                 (unsigned long long)store->place.file.number);
}
