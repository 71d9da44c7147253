#include "store/sqlite/statement.h"

#include <assert.h>
#include <string.h>

#include "store/sqlite/error.h"
#include "store/sqlite/sqlite.h"
#include "base/error.h"

static const char *const texts[CULEX__SQLITE_STATEMENT_COUNT] = {
#define STATEMENT_OF_PRODUCERS(name, sql) sql,
#ifdef CULEX_PRODUCER_ONLY
#define STATEMENT(name, sql)
#else
#define STATEMENT STATEMENT_OF_PRODUCERS
#endif
#include "store/sqlite/statement.def"
};

/* --- texts that name their schema ------------------------------------------------------ */

static bool is_before_table(const char *word, size_t len)
{
    static const char *const words[] = {"FROM", "INTO", "UPDATE", "JOIN"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i]) == len && memcmp(words[i], word, len) == 0)
            return true;
    }
    return false;
}

/* Puts the schema before every table of `sql`, whose keywords are in capitals and followed by one
 * space. NULL when out of memory. */
static char *qualify(const char *schema, const char *sql)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    while (*sql != '\0') {
        size_t len = strcspn(sql, " ");
        bool is_before = is_before_table(sql, len) && sql[len] == ' ' && sql[len + 1] != '(';
        len += sql[len] == ' ';
        sqlite3_str_append(text, sql, (int)len);
        if (is_before)
            sqlite3_str_appendf(text, "\"%w\".", schema);
        sql += len;
    }
    return sqlite3_str_finish(text);
}

static void prepare_borrowed(struct culex_sqlite *store, enum culex_sqlite_statement which)
{
    char *sql = qualify(store->schema, texts[which]);
    if (sql != NULL)
        sqlite3_prepare_v2(store->db, sql, -1, &store->statements[which], NULL);
    sqlite3_free(sql);
}

/* Of a borrowed handle a statement can be missing: then its text could not be prepared. */
static int step(struct culex_sqlite *store, sqlite3_stmt *statement)
{
    if (statement != NULL)
        return sqlite3_step(statement);
    int rc = sqlite3_errcode(store->db);
    return rc == SQLITE_OK || rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_NOMEM : rc;
}

/* --- all of them ----------------------------------------------------------------------- */

culex_status culex__sqlite_prepare(struct culex_sqlite *store, culex_error *error)
{
    for (int i = 0; i < CULEX__SQLITE_STATEMENT_COUNT; i++) {
        int rc = sqlite3_prepare_v3(store->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                    &store->statements[i], NULL);
        if (rc != SQLITE_OK)
            return culex__sqlite_fail(store, rc, error);
    }
    return CULEX_OK;
}

static void bind_one(sqlite3_stmt *statement, int at, const struct culex_sqlite_value *value)
{
    switch (value->kind) {
    case CULEX__SQLITE_VALUE_INT:
        sqlite3_bind_int64(statement, at, value->number);
        break;
    case CULEX__SQLITE_VALUE_TEXT:
        sqlite3_bind_text(statement, at, value->bytes, -1, SQLITE_STATIC);
        break;
    case CULEX__SQLITE_VALUE_BYTES:
        sqlite3_bind_blob64(statement, at, value->bytes, value->len, SQLITE_STATIC);
        break;
    case CULEX__SQLITE_VALUE_MISSING:
        assert(false && "a parameter without a value");
    }
}

/* Binding allocates nothing but for errors of our own making (a wrong index, a running
 * statement), so a failure shows in the step that follows, if at all. */
sqlite3_stmt *culex__sqlite_bind(struct culex_sqlite *store, enum culex_sqlite_statement which,
                                 const struct culex_sqlite_value *values, size_t count)
{
    if (store->statements[which] == NULL && store->schema != NULL)
        prepare_borrowed(store, which);
    sqlite3_stmt *statement = store->statements[which];
    if (statement == NULL)
        return NULL;
    assert(count == (size_t)sqlite3_bind_parameter_count(statement));
    assert(!sqlite3_stmt_busy(statement)); /* whoever walked it has ended it */
    sqlite3_reset(statement);
    for (size_t i = 0; i < count; i++)
        bind_one(statement, (int)i + 1, &values[i]);
    return statement;
}

int culex__sqlite_next(struct culex_sqlite *store, sqlite3_stmt *statement, culex_error *error)
{
    int rc = step(store, statement);
    if (rc == SQLITE_ROW)
        return 1;
    return rc == SQLITE_DONE ? 0 : culex__sqlite_fail(store, rc, error);
}

/* A reset leaves the bindings, which point into memory that the caller is about to take back;
 * nothing reads them before they are bound anew. */
void culex__sqlite_end(sqlite3_stmt *statement)
{
    sqlite3_reset(statement);
}

culex_status culex__sqlite_finish(struct culex_sqlite *store, sqlite3_stmt *statement,
                                  culex_error *error)
{
    int rc = step(store, statement);
    culex_status status =
        rc == SQLITE_DONE || rc == SQLITE_ROW ? CULEX_OK : culex__sqlite_fail(store, rc, error);
    culex__sqlite_end(statement);
    return status;
}

culex_status culex__sqlite_first_int(struct culex_sqlite *store, sqlite3_stmt *statement,
                                     int64_t otherwise, int64_t *ret_value, culex_error *error)
{
    int has = culex__sqlite_next(store, statement, error);
    if (has >= 0) {
        bool is_null = has == 0 || sqlite3_column_type(statement, 0) == SQLITE_NULL;
        *ret_value = is_null ? otherwise : sqlite3_column_int64(statement, 0);
    }
    culex__sqlite_end(statement);
    return has < 0 ? (culex_status)has : CULEX_OK;
}

culex_status culex__sqlite_ask(struct culex_sqlite *store, const char *sql, int64_t *ret_value,
                               culex_error *error)
{
    sqlite3_stmt *statement;
    int rc = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
    if (rc != SQLITE_OK)
        return culex__sqlite_fail(store, rc, error);
    culex_status status = culex__sqlite_first_int(store, statement, 0, ret_value, error);
    sqlite3_finalize(statement);
    return status;
}

culex_status culex__sqlite_ask_pragma(struct culex_sqlite *store, const char *pragma,
                                      int64_t *ret_value, culex_error *error)
{
    const char *schema = store->schema != NULL ? store->schema : "main";
    char *sql = sqlite3_mprintf("PRAGMA \"%w\".%s", schema, pragma);
    if (sql == NULL)
        return culex__sqlite_no_memory(error);
    culex_status status = culex__sqlite_ask(store, sql, ret_value, error);
    sqlite3_free(sql);
    return status;
}

culex_status culex__sqlite_collect(struct culex_sqlite *store, sqlite3_stmt *statement, size_t max,
                                   int64_t *ret_values, size_t *ret_count, culex_error *error)
{
    size_t count = 0;
    int has = 0;
    while (count < max && (has = culex__sqlite_next(store, statement, error)) > 0)
        ret_values[count++] = sqlite3_column_int64(statement, 0);
    culex__sqlite_end(statement);
    if (has < 0)
        return (culex_status)has;
    *ret_count = count;
    return CULEX_OK;
}
