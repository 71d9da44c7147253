/* store/sqlite/names.h - a file that has several names: hard links. */
#ifndef CULEX_STORE_SQLITE_NAMES_H
#define CULEX_STORE_SQLITE_NAMES_H

#include "store/store.h"

struct culex_sqlite;

/* Before SQLite opens the file, or with a borrowed handle: CULEX_ECORRUPT when it has several
 * names, and store->path is not the one by which it is used, or not the only one. */
culex_status culex__sqlite_names_check(const struct culex_sqlite *store, culex_error *error);

#endif
