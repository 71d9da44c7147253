/* store/sqlite/heritage.h - no SQLite file is opened again by a process that inherited it. */
#ifndef CULEX_STORE_SQLITE_HERITAGE_H
#define CULEX_STORE_SQLITE_HERITAGE_H

#include "store/store.h"

struct culex_sqlite;

/* Before SQLite opens store->path: CULEX_EUNSUPPORTED when this process was forked while it was
 * open. Leave it when SQLite has closed it. */
culex_status culex__sqlite_heritage_enter(struct culex_sqlite *store, culex_error *error);
void culex__sqlite_heritage_leave(struct culex_sqlite *store);

#endif
