/* store/sqlite/statement.h - prepared statements, kept for the life of the connection. */
#ifndef CULEX_STORE_SQLITE_STATEMENT_H
#define CULEX_STORE_SQLITE_STATEMENT_H

#include <sqlite3.h>

#include "store/sqlite/columns.h"
#include "store/store.h"

struct culex_sqlite;

enum culex_sqlite_statement {
#ifdef CULEX_PRODUCER_ONLY
#define STATEMENT_OF_PRODUCERS(name, sql) CULEX__SQLITE_##name,
#define STATEMENT(name, sql)
#else
#define STATEMENT(name, sql) CULEX__SQLITE_##name,
#endif
#include "store/sqlite/statement.def"
    CULEX__SQLITE_STATEMENT_COUNT
};

/* What a library for producers has no text of is nowhere either: one that comes to a code of it is
 * refused by the linker. */
#ifdef CULEX_PRODUCER_ONLY
#define STATEMENT_OF_PRODUCERS(name, sql)
#define STATEMENT(name, sql) extern const enum culex_sqlite_statement CULEX__SQLITE_##name;
#include "store/sqlite/statement.def"
#endif

/* All of them; a borrowed handle's are prepared one by one when they are first bound. */
culex_status culex__sqlite_prepare(struct culex_sqlite *store, culex_error *error);

/* What is bound to a parameter. Texts and bytes are borrowed until the statement is next bound or
 * ended; NULL stands for NULL. */
struct culex_sqlite_value {
    enum {
        CULEX__SQLITE_VALUE_MISSING, /* a hole in a list: a bug */
        CULEX__SQLITE_VALUE_INT,
        CULEX__SQLITE_VALUE_TEXT,
        CULEX__SQLITE_VALUE_BYTES,
    } kind;
    int64_t number;
    const void *bytes;
    size_t len;
};

static inline struct culex_sqlite_value SQL_INT(int64_t number) {
    return (struct culex_sqlite_value){.kind = CULEX__SQLITE_VALUE_INT, .number = number};
}

static inline struct culex_sqlite_value
SQL_TEXT(const char *text) {
    return (struct culex_sqlite_value){.kind = CULEX__SQLITE_VALUE_TEXT, .bytes = text};
}

static inline struct culex_sqlite_value
SQL_BYTES(const void *bytes, size_t len) {
    return (struct culex_sqlite_value){
        .kind = CULEX__SQLITE_VALUE_BYTES, .bytes = bytes, .len = len};
}

static inline struct culex_sqlite_value
SQL_ID(const culex_uuid *id) {
    return SQL_BYTES(id, sizeof *id);
}

/* The statement, ready to be stepped, with `values` for its `count` parameters in the order in
 * which they first appear. Nobody may be walking it. */
sqlite3_stmt *
culex__sqlite_bind(struct culex_sqlite *store, enum culex_sqlite_statement which,
                   const struct culex_sqlite_value *values, size_t count);

/* The same with a name of statement.def and the values themselves, of which there is one at least.
 */
#define SQL_BIND(store, name, ...)                                                                 \
    culex__sqlite_bind(store, CULEX__SQLITE_##name,                                                \
                       (const struct culex_sqlite_value[]){__VA_ARGS__},                           \
                       sizeof((const struct culex_sqlite_value[]){__VA_ARGS__}) /                  \
                           sizeof(struct culex_sqlite_value))

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
