/* store/sqlite/index.h - how long the file and its log have to be, by the log's index. */
#ifndef CULEX_STORE_SQLITE_INDEX_H
#define CULEX_STORE_SQLITE_INDEX_H

#include "store/store.h"

struct culex_sqlite;

/* The file's length, and the state of the log at which it was found to be enough. */
struct culex_sqlite_extent {
    int64_t bytes, wanted;
    uint32_t salt[2], written_back;
};

/* The last frame of the log, when it was last looked at. */
struct culex_sqlite_frame {
    uint32_t number, salt[2]; /* number 0: none */
};

/* Is the file, of `bytes` bytes, shorter than the pages that only it can have? Then extent->wanted
 * is the length of the whole database. False as well where it cannot be told. `extent` is what was
 * found before, zeroed at first: only when the file has shrunk since, or the log was written back,
 * is there more to do than a look at the index's first bytes. */
bool culex__sqlite_index_is_cut(const struct culex_sqlite *store, int64_t bytes,
                                struct culex_sqlite_extent *extent);
/* Are frames missing from the log that others can read only there? False as well where it cannot
 * be told. `bytes` is its length a moment ago, -1 when it is not known. `last` is zeroed at first,
 * and noted anew when all is well. */
bool culex__sqlite_index_log_is_cut(const struct culex_sqlite *store, int64_t bytes,
                                    struct culex_sqlite_frame *last);

#endif
