/* store/sqlite/names.c - a file that has several names: hard links.
 *
 * SQLite calls the log and its index by the name that it was given, and so do we with the lock and
 * the reserve. Who opens the file by another name writes into a log that nobody else reads, and
 * the pages of the two logs are mixed when they are written back. What stands beside a name tells
 * by which one the store is used; the others are refused before anything is made beside them. */
#include "store/sqlite/names.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/sqlite/beside.h"
#include "store/sqlite/error.h"
#include "store/sqlite/sqlite.h"
#include "base/error.h"
#include "platform/path.h"

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Lock and reserve are made by nobody but us. SQLite makes an empty log for everybody who looks. */
static bool is_used(const struct culex_sqlite *store)
{
    struct stat info;
    return culex__sqlite_beside_look(store->path, "-lock", &info) ||
           culex__sqlite_beside_look(store->path, "-reserve", &info) ||
           (store->schema == NULL && culex__sqlite_beside_look(store->path, "-wal", &info) &&
            info.st_size > 0);
}

static bool has_other_log(const struct culex_sqlite *store, const char *name)
{
    struct stat own, other;
    if (!culex__sqlite_beside_look(name, "-wal", &other) || other.st_size == 0)
        return false;
    return !culex__sqlite_beside_look(store->path, "-wal", &own) || !is_same(&own, &other);
}

/* Does `entry` of the folder name the file too, with a log of its own? Then *ret_name is returned
 * owned. */
static bool is_rival(const struct culex_sqlite *store, const struct stat *file, const char *folder,
                     const char *entry, char **ret_name)
{
    char name[PATH_MAX];
    struct stat info;
    int len = snprintf(name, sizeof name, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, entry);
    if (len <= 0 || (size_t)len >= sizeof name || strcmp(name, store->path) == 0 ||
        lstat(name, &info) != 0 || !is_same(file, &info) || !has_other_log(store, name))
        return false;
    *ret_name = strdup(name);
    return true;
}

/* Only names in the same folder can be found. Sets *ret_name, owned, or NULL without memory. */
static bool rival_find(const struct culex_sqlite *store, const struct stat *file, char **ret_name)
{
    char *folder = culex__path_folder(store->path);
    DIR *entries = folder != NULL ? opendir(folder) : NULL;
    bool is_found = false;
    *ret_name = NULL;
    for (struct dirent *entry; entries != NULL && !is_found && (entry = readdir(entries)) != NULL;)
        is_found = is_rival(store, file, folder, entry->d_name, ret_name);
    if (entries != NULL)
        closedir(entries);
    free(folder);
    return is_found;
}

static culex_status fail_unused(const struct culex_sqlite *store, culex_error *error)
{
    return culex__fail(error, CULEX_ECORRUPT,
                       "%s is one of several names (hard links) of a file, and not the one that "
                       "is in use: others would not see what is written by it. Nothing was "
                       "changed; use the name beside which -lock or -reserve stands, remove the "
                       "other names, or copy the file with VACUUM INTO",
                       store->path);
}

static culex_status fail_rival(const struct culex_sqlite *store, const char *name,
                               culex_error *error)
{
    return culex__fail(error, CULEX_ECORRUPT,
                       "%s and %s are one file (hard links), and the second has a log of its "
                       "own, %s-wal, which may hold runs. Nothing was changed; end all programs "
                       "that use it, copy the file and both logs away, and remove the name that is "
                       "not to be used, with its -wal and -shm",
                       store->path, name, name);
}

culex_status culex__sqlite_names_check(const struct culex_sqlite *store, culex_error *error)
{
    struct stat file;
    char *rival;
    if (stat(store->path, &file) != 0 || file.st_nlink < 2)
        return CULEX_OK;
    if (!is_used(store))
        return fail_unused(store, error);
    if (!rival_find(store, &file, &rival))
        return CULEX_OK;
    culex_status status =
        rival != NULL ? fail_rival(store, rival, error) : culex__sqlite_no_memory(error);
    free(rival);
    return status;
}
