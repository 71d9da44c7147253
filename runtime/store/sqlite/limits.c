/* store/sqlite/limits.c - the verbs of limits: what an operator sets, and what he sees. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "store/sqlite/error.h"
#include "store/sqlite/ledger.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/verb.h"
#include "store/sqlite/verbs.h"
#include "store/limit_list.h"
#include "store/refusal.h"

/* --- LIMIT_SET ------------------------------------------------------------------------------ */

struct set_request {
    const char *name;
    const culex_limit_value *value;
};

static culex_status limit_set(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              void *user, culex_error *error)
{
    const struct set_request *request = user;
    culex_limit_value value = {.count = 0};
    struct culex_sqlite_limit *limit = NULL;
    culex_status status = CULEX_OK;
    if (queue->key != 0)
        status = culex__sqlite_ledger_limit(store, queue, request->name, &limit, error);
    if (status == CULEX_OK && limit == NULL)
        return culex__refuse_limit(queue->name, request->name, error);
    if (status == CULEX_OK && request->value != NULL) {
        value = *request->value;
        status = culex__limit_value_fill(limit->name, limit->kind, culex__sqlite_limit_value(limit),
                                         &value, error);
    }
    if (status != CULEX_OK || culex__limit_value_is_same(&value, &limit->set))
        return status;
    limit->set = value;
    culex__sqlite_ledger_sweep(queue, limit);
    return CULEX_OK;
}

culex_status culex__sqlite_limit_set(struct culex_store *base, const char *queue, const char *name,
                                     const culex_limit_value *value, culex_error *error)
{
    struct set_request request = {name, value};
    return culex__sqlite_verb_write(culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_EMPTY,
                                    limit_set, &request, error);
}

/* --- LIMITS --------------------------------------------------------------------------------- */

/* ORDER LIMIT_FACT */
enum {
    FACT_KIND = 1,
    FACT_DECLARED,
    FACT_SET = 5,
    FACT_KEYS = 9,
    FACT_ACTIVE,
    FACT_PARKED,
    FACT_NAME
};

static culex_limit_value value_at(sqlite3_stmt *row, int column)
{
    return (culex_limit_value){(uint32_t)sqlite3_column_int64(row, column),
                               sqlite3_column_int64(row, column + 1),
                               (uint32_t)sqlite3_column_int64(row, column + 2)};
}

static bool limit_add(struct culex_limit_list *list, sqlite3_stmt *row)
{
    const char *name = (const char *)sqlite3_column_text(row, FACT_NAME);
    const struct culex_limit_row limit = {
        .name = name != NULL ? name : "",
        .kind = (enum culex_limit_kind)sqlite3_column_int(row, FACT_KIND),
        .declared = value_at(row, FACT_DECLARED),
        .set = value_at(row, FACT_SET),
        .keys = (uint64_t)sqlite3_column_int64(row, FACT_KEYS),
        .active = (uint64_t)sqlite3_column_int64(row, FACT_ACTIVE),
        .parked = (uint64_t)sqlite3_column_int64(row, FACT_PARKED)};
    return culex__limit_list_add(list, &limit);
}

static culex_status limits_read(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                void *user, culex_error *error)
{
    struct culex_limit_list *list = user;
    sqlite3_stmt *row = SQL_BIND(store, LIMIT_LIST, SQL_INT(queue->key));
    culex_status status = CULEX_OK;
    int has = 0;
    list->now_ms = store->now_ms;
    while (status == CULEX_OK && (has = culex__sqlite_next(store, row, error)) > 0) {
        if (!limit_add(list, row))
            status = culex__sqlite_no_memory(error);
    }
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : status;
}

culex_status culex__sqlite_limits(struct culex_store *base, const char *queue,
                                  struct culex_limit_list *ret_list, culex_error *error)
{
    struct culex_limit_list list = {.rows = NULL};
    culex_status status = culex__sqlite_verb_read(
        culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_EMPTY, limits_read, &list, error);
    if (status == CULEX_OK)
        *ret_list = list;
    else
        culex__limit_list_release(&list);
    return status;
}

/* --- LIMIT_KEYS ----------------------------------------------------------------------------- */

struct keys_request {
    const char *name, *after;
    size_t most;
    struct culex_limit_key_list list;
};

static const char *text_of(sqlite3_stmt *row)
{
    const char *text = (const char *)sqlite3_column_text(row, 0);
    return text != NULL ? text : "";
}

/* Of a row of limit_key, which may be a part: where its key ends (sqlite/ledger.h). */
static size_t whole_len(const char *text)
{
    return strcspn(text, (const char[]){CULEX__SQLITE_PART, '\0'});
}

/* Of the key that was read last: a part of it, which follows behind. */
static bool part_add(struct culex_limit_key_list *list, sqlite3_stmt *row)
{
    const char *text = text_of(row);
    struct culex_limit_key_row *last = list->count > 0 ? &list->rows[list->count - 1] : NULL;
    size_t len = whole_len(text);
    if (text[len] == '\0' || last == NULL || strlen(last->key) != len ||
        memcmp(last->key, text, len) != 0)
        return false;
    last->parked += (uint64_t)sqlite3_column_int64(row, 3);
    return true;
}

static bool key_add(const struct culex_sqlite *store, const struct culex_sqlite_limit *limit,
                    sqlite3_stmt *row, struct culex_limit_key_list *list)
{
    char whole[CULEX__SQLITE_KEY_SIZE];
    int64_t tat_us = sqlite3_column_int64(row, 4);
    struct culex_limit_key_row key = {.key = whole,
                                      .active = (uint64_t)sqlite3_column_int64(row, 1),
                                      .parked = (uint64_t)sqlite3_column_int64(row, 3)};
    snprintf(whole, sizeof whole, "%.*s", (int)whole_len(text_of(row)), text_of(row));
    if (limit->kind == CULEX_LIMIT_RATE)
        key.next_ms =
            culex__bucket_wait_ms(culex__sqlite_limit_value(limit), tat_us, store->now_ms, 1);
    return culex__limit_key_list_add(list, &key);
}

static culex_status page_read(struct culex_sqlite *store, const struct culex_sqlite_limit *limit,
                              struct keys_request *request, culex_error *error)
{
    struct culex_limit_key_list *list = &request->list;
    bool is_first = request->after == NULL;
    char after[CULEX__SQLITE_KEY_SIZE + 1];
    snprintf(after, sizeof after, "%s%c", is_first ? "" : request->after, CULEX__SQLITE_PART + 1);
    sqlite3_stmt *row =
        SQL_BIND(store, COUNTER_PAGE, SQL_INT(limit->number), SQL_TEXT(is_first ? "" : after),
                 SQL_INT(is_first), SQL_INT(INT64_MAX));
    culex_status status = CULEX_OK;
    int has = 0;
    while (status == CULEX_OK && !list->is_more &&
           (has = culex__sqlite_next(store, row, error)) > 0) {
        if (part_add(list, row))
            continue;
        list->is_more = list->count == request->most;
        if (!list->is_more && !key_add(store, limit, row, list))
            status = culex__sqlite_no_memory(error);
    }
    culex__sqlite_end(row);
    return has < 0 ? (culex_status)has : status;
}

static culex_status keys_read(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                              void *user, culex_error *error)
{
    struct keys_request *request = user;
    struct culex_sqlite_limit *limit = NULL;
    culex_status status = CULEX_OK;
    request->list.now_ms = store->now_ms;
    if (queue->key != 0)
        status = culex__sqlite_ledger_limit(store, queue, request->name, &limit, error);
    if (status == CULEX_OK)
        status = limit != NULL ? page_read(store, limit, request, error)
                               : culex__refuse_limit(queue->name, request->name, error);
    culex__sqlite_ledger_clear(store);
    return status;
}

culex_status culex__sqlite_limit_keys(struct culex_store *base, const char *queue, const char *name,
                                      const char *after, size_t most,
                                      struct culex_limit_key_list *ret_list, culex_error *error)
{
    struct keys_request request = {name, after, most, {.rows = NULL}};
    culex_status status = culex__sqlite_verb_read(
        culex__sqlite_of(base), queue, CULEX__SQLITE_ABSENT_EMPTY, keys_read, &request, error);
    if (status == CULEX_OK)
        *ret_list = request.list;
    else
        culex__limit_key_list_release(&request.list);
    return status;
}
