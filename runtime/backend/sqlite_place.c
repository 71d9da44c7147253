/* backend/sqlite_place.c - is the file that is open still the one that others find?
 *
 * A database that is removed, or replaced by a copy, lives on in those who have it open: they would
 * go on to write, and be told that all is well, into a file that nobody reads. The same holds for
 * its log. So each transaction compares both names with the files that were found at the opening,
 * before anything is written, and looks whether the file has lost pages: what is written into one
 * that was cut off, or overwritten by a shorter copy, is as lost. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/sqlite.h"
#include "base/error.h"

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

static culex_status fail_log(const struct culex_sqlite *store, culex_error *error)
{
    return culex__fail(error, CULEX_EMOVED,
                       "%s-wal, the log of the store, was removed or replaced while it was open "
                       "here. Nothing was changed; end all programs that use the store before it "
                       "is opened anew: they bring what the log held into the file when they end",
                       store->path);
}

static culex_status check_length(struct culex_sqlite *store, int64_t bytes, culex_status status,
                                 const char *when, culex_error *error)
{
    store->place.is_cut = culex__sqlite_index_is_cut(store, bytes, &store->place.extent);
    if (!store->place.is_cut)
        return CULEX_OK;
    return culex__fail(error, status,
                       "%s %s at %lld bytes: its pages take %lld, and what is missing is lost. "
                       "Nothing was changed; end all programs that use the store, remove %s-wal "
                       "and %s-shm, and put a copy in its place",
                       store->path, when, (long long)bytes, (long long)store->place.extent.wanted,
                       store->path, store->path);
}

/* At the opening, beside others who have it open; alone, SQLite itself refuses it. Without a log
 * there is no index to ask, and asking would make one. */
static culex_status check_length_first(struct culex_sqlite *store, culex_error *error)
{
    struct stat file, log;
    if (stat(store->path, &file) != 0 || stat(log_name(store), &log) != 0)
        return CULEX_OK;
    store->place.log = inode_of(&log);
    return check_length(store, file.st_size, CULEX_ECORRUPT, "is cut off", error);
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
    /* The two looks at the name, SQLite's and this one, have met the same file. */
    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &is_moved);
    if (is_moved)
        return fail(store, "replaced", error);
    return check_length_first(store, error);
}

/* A name that cannot be asked for another reason (a folder that was closed to us) says nothing. */
static bool is_gone(int cause)
{
    return cause == ENOENT || cause == ENOTDIR;
}

static culex_status check_log(const struct culex_sqlite *store, culex_error *error)
{
    struct stat info;
    if (store->place.log.number == 0)
        return CULEX_OK;
    bool is_there = stat(log_name(store), &info) == 0;
    if (is_there ? is_at(&store->place.log, &info) : !is_gone(errno))
        return CULEX_OK;
    return fail_log(store, error);
}

culex_status culex__sqlite_place_check(struct culex_sqlite *store, culex_error *error)
{
    struct stat info;
    if (store->place.file.number == 0)
        return CULEX_OK;
    if (stat(store->path, &info) != 0)
        return is_gone(errno) ? fail(store, "removed", error) : CULEX_OK;
    if (!is_at(&store->place.file, &info))
        return fail(store, "replaced by another file", error);
    if (info.st_size < HEADER_BYTES) {
        store->place.is_cut = true;
        return fail(store, "emptied", error);
    }
    culex_status status = check_log(store, error);
    if (status != CULEX_OK || store->place.log.number == 0)
        return status;
    return check_length(store, info.st_size, CULEX_EMOVED, "was cut off while it was open here",
                        error);
}

culex_status culex__sqlite_place_check_borrowed(const struct culex_sqlite *store,
                                                culex_error *error)
{
    int is_moved = 0;
    sqlite3_file_control(store->db, store->schema, SQLITE_FCNTL_HAS_MOVED, &is_moved);
    return is_moved ? fail(store, "removed or replaced", error) : CULEX_OK;
}
