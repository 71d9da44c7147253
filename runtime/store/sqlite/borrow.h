/* store/sqlite/borrow.h - a store on a handle that belongs to somebody else. */
#ifndef CULEX_STORE_SQLITE_BORROW_H
#define CULEX_STORE_SQLITE_BORROW_H

#include "store/store.h"

struct sqlite3;

/* An enqueue-only store on `db`, which is in a transaction: see culex/sqlite.h. */
culex_status culex__sqlite_borrow(struct sqlite3 *db, const char *schema,
                                  const struct culex_env *env, struct culex_store **ret_store,
                                  culex_error *error);

/* The same, as a program that runs with this version of SQLite. */
culex_status culex__sqlite_borrow_as(int library_version, struct sqlite3 *db, const char *schema,
                                     const struct culex_env *env, struct culex_store **ret_store,
                                     culex_error *error);

#endif
