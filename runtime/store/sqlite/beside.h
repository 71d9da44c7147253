/* store/sqlite/beside.h - the files beside the database, which are named as it is, with a suffix.
 *
 *   -wal, -shm   SQLite's log and the log's index
 *   -lock        keeps writers and checkpoints apart (checkpoint.h)
 *   -reserve     disk space set aside (reserve.h)
 *   .d           the folder of the sockets of idle workers (wake.h)
 */
#ifndef CULEX_STORE_SQLITE_BESIDE_H
#define CULEX_STORE_SQLITE_BESIDE_H

#include <stdbool.h>
#include <sys/stat.h>

/* `path` with `suffix` behind it, owned. NULL, with errno set, when out of memory. */
char *culex__sqlite_beside_name(const char *path, const char *suffix);

/* stat of that file. False with errno. Allocates nothing: it is asked in every transaction. */
bool culex__sqlite_beside_look(const char *path, const char *suffix, struct stat *ret_info);

/* Opens or makes it, with the mode of the database at `path`, for reading and writing, or at least
 * for reading. -1, with errno set, when it cannot be had. */
int culex__sqlite_beside_open(const char *path, const char *suffix);

#endif
