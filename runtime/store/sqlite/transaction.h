/* store/sqlite/transaction.h - one bounded transaction for each operation. */
#ifndef CULEX_STORE_SQLITE_TRANSACTION_H
#define CULEX_STORE_SQLITE_TRANSACTION_H

#include "store/store.h"

struct culex_sqlite;

/* Every begin is followed by one end. */
culex_status culex__sqlite_begin(struct culex_sqlite *store, culex_error *error);
culex_status culex__sqlite_begin_read(struct culex_sqlite *store, culex_error *error);

/* COMMIT when `status` is CULEX_OK, else ROLLBACK; returns the outcome. */
culex_status culex__sqlite_end_transaction(struct culex_sqlite *store, culex_status status,
                                           culex_error *error);

#endif
