/* store/sqlite/statement.h - prepared statements, kept for the life of the connection. */
#ifndef CULEX_STORE_SQLITE_STATEMENT_H
#define CULEX_STORE_SQLITE_STATEMENT_H

#include <sqlite3.h>

#include "store/store.h"

struct culex_sqlite;

enum culex_sqlite_statement {
#define STATEMENT(name, sql) CULEX__SQLITE_##name,
#include "store/sqlite/statement.def"
    CULEX__SQLITE_STATEMENT_COUNT
};

/* All of them; a borrowed handle's are prepared one by one when they are first bound. */
culex_status culex__sqlite_prepare(struct culex_sqlite *store, culex_error *error);

/* The statement, reset, with its parameters bound by `types`: 'i' int64_t; 't' const char *,
 * NULL for NULL; 'b' const void * and size_t, NULL for NULL; 'u' culex_uuid *. Texts and bytes are
 * borrowed until the statement is next bound or ended. */
sqlite3_stmt *culex__sqlite_bind(struct culex_sqlite *store, enum culex_sqlite_statement which,
                                 const char *types, ...);

/* 1: there is a row; 0: no more; negative: failed. End the statement afterwards in any case. */
int culex__sqlite_next(struct culex_sqlite *store, sqlite3_stmt *statement, culex_error *error);
void culex__sqlite_end(sqlite3_stmt *statement);

/* Steps a bound statement that returns no rows to its end, and ends it. */
culex_status culex__sqlite_finish(struct culex_sqlite *store, sqlite3_stmt *statement,
                                  culex_error *error);

/* The first column of the first row, or `otherwise` when there is none or it is NULL. */
culex_status culex__sqlite_first_int(struct culex_sqlite *store, sqlite3_stmt *statement,
                                     int64_t otherwise, int64_t *ret_value, culex_error *error);

/* The first value of the first row of `sql`, 0 when there is none. */
culex_status culex__sqlite_ask(struct culex_sqlite *store, const char *sql, int64_t *ret_value,
                               culex_error *error);
/* The same for a pragma of the schema that holds the store's tables. */
culex_status culex__sqlite_ask_pragma(struct culex_sqlite *store, const char *pragma,
                                      int64_t *ret_value, culex_error *error);

/* The first columns of at most `max` rows. */
culex_status culex__sqlite_collect(struct culex_sqlite *store, sqlite3_stmt *statement, size_t max,
                                   int64_t *ret_values, size_t *ret_count, culex_error *error);

#endif
