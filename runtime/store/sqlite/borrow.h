/* store/sqlite/borrow.h - a store on a handle that belongs to somebody else. */
#ifndef CULEX_STORE_SQLITE_BORROW_H
#define CULEX_STORE_SQLITE_BORROW_H

#include "store/store.h"

culex_status culex__sqlite_borrow_as(int library_version, struct sqlite3 *db, const char *schema,
                                     const struct culex_env *env, struct culex_store **ret_store,
                                     culex_error *error);

#endif
