/* store/sqlite/glance.h - which file a name leads to, and how long it is: looks that each
 * transaction takes at files which each commit changes.
 *
 * stat() would also ask for their times, and reading them for their last access: then Linux gives
 * the file a new time at the next write, or read, which costs as much as that itself. */
#ifndef CULEX_STORE_SQLITE_GLANCE_H
#define CULEX_STORE_SQLITE_GLANCE_H

#include <stdbool.h>
#include <stdint.h>

struct culex_sqlite_glance {
    uint64_t device, number; /* compared with those of other glances only; number 0: not known */
    int64_t bytes;
};

/* False, with errno, when there is no such file, or it cannot be looked at. */
bool culex__sqlite_glance_at(const char *path, struct culex_sqlite_glance *ret_glance);
bool culex__sqlite_glance_in(int fd, struct culex_sqlite_glance *ret_glance);
/* Is it the same file? */
bool culex__sqlite_glance_is_same(const struct culex_sqlite_glance *one,
                                  const struct culex_sqlite_glance *other);
/* Opens it for such reading; -1 when it cannot be opened. Owned, see platform/descriptor.h. */
int culex__sqlite_glance_open(const char *path);

#endif
