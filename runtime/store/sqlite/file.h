/* store/sqlite/file.h - opening a file: whose is it, may we use it, and how. */
#ifndef CULEX_STORE_SQLITE_FILE_H
#define CULEX_STORE_SQLITE_FILE_H

#include "store/store.h"

struct culex_sqlite;

/* CULEX_ECORRUPT for another program's file, CULEX_EVERSION for one of another format. */
culex_status culex__sqlite_check_identity(const struct culex_sqlite *store, int64_t application,
                                          int64_t version, culex_error *error);

/* Opens the connection at store->path, creating the file with mode 0600 unless it must exist,
 * checks whose it is, and brings the schema in. `options` may be NULL. */
culex_status culex__sqlite_file_open(struct culex_sqlite *store,
                                     const struct culex_store_options *options, culex_error *error);

#endif
