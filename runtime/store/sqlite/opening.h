/* store/sqlite/opening.h - the life of the embedded store: one SQLite file, or memory that is
 * shared within the process. */
#ifndef CULEX_STORE_SQLITE_OPENING_H
#define CULEX_STORE_SQLITE_OPENING_H

#include "store/store.h"

/* Opens what stands behind "sqlite:" or "memory:" in a URL. `options` may be NULL. */
culex_status culex__sqlite_open(const char *rest, bool is_memory,
                                const struct culex_store_options *options,
                                const struct culex_env *env, struct culex_store **ret_store,
                                culex_error *error);

/* As culex__sqlite_open, pretending that SQLite has `version`: the tests' way to both
 * checkpoint schemes. */
culex_status culex__sqlite_open_as(int version, const char *rest, bool is_memory,
                                   const struct culex_store_options *options,
                                   const struct culex_env *env, struct culex_store **ret_store,
                                   culex_error *error);

/* The store's own ways to end: see close and abandon in store/store.h. */
void culex__sqlite_close(struct culex_store *base);
void culex__sqlite_abandon(struct culex_store *base);

#endif
