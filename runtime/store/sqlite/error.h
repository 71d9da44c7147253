/* store/sqlite/error.h - SQLite's result codes in Culex's words. */
#ifndef CULEX_STORE_SQLITE_ERROR_H
#define CULEX_STORE_SQLITE_ERROR_H

#include "store/store.h"

struct culex_sqlite;

/* The status for result code `rc`, with a text that names the file and what to do. */
culex_status culex__sqlite_fail(struct culex_sqlite *store, int rc, culex_error *error);
culex_status culex__sqlite_no_memory(culex_error *error);
/* The row at fault is named by the text; nothing is known to be wrong with the file. */
culex_status culex__sqlite_bad_row(struct culex_sqlite *store, culex_error *error);
/* The same of a run, which FSCK puts aside. */
culex_status culex__sqlite_bad_run(struct culex_sqlite *store, culex_error *error);

#endif
