/* store/sqlite/workers.c - the registry of workers. */
#include <assert.h>
#include <string.h>

#include "store/sqlite/clock.h"
#include "store/sqlite/error.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/transaction.h"
#include "store/sqlite/verbs.h"
#include "store/argument.h"
#include "store/refusal.h"
#include "store/worker_list.h"

enum { SWEEP = 8 /* entries that a call removes at most */ };

/* ORDER PRESENCE: the columns of table presence. */
enum {
    COLUMN_ID,
    COLUMN_TOLD,
    COLUMN_HEARD,
    COLUMN_CONCURRENCY,
    COLUMN_NUMBER,
    COLUMN_QUIET,
    COLUMN_STOP,
    COLUMN_WISH,
    COLUMN_SHEET
};

/* What it points to lasts until the statement goes on. */
static struct culex_worker_row row_read(sqlite3_stmt *found)
{
    const char *id = (const char *)sqlite3_column_text(found, COLUMN_ID);
    return (struct culex_worker_row){
        .id = id != NULL ? id : "",
        .told_ms = sqlite3_column_int64(found, COLUMN_TOLD),
        .heard = (uint64_t)sqlite3_column_int64(found, COLUMN_HEARD),
        .concurrency = (uint32_t)sqlite3_column_int64(found, COLUMN_CONCURRENCY),
        .wish = {.number = (uint64_t)sqlite3_column_int64(found, COLUMN_NUMBER),
                 .quiet = (culex_switch)sqlite3_column_int(found, COLUMN_QUIET),
                 .is_stop = sqlite3_column_int(found, COLUMN_STOP) != 0,
                 .concurrency = (uint32_t)sqlite3_column_int64(found, COLUMN_WISH)},
        .sheet = sqlite3_column_blob(found, COLUMN_SHEET),
        .sheet_len = (size_t)sqlite3_column_bytes(found, COLUMN_SHEET)};
}

/* The entries that the statement finds and that are not gone. */
static culex_status rows_read(struct culex_sqlite *store, sqlite3_stmt *found,
                              struct culex_worker_list *list, culex_error *error)
{
    culex_status status = CULEX_OK;
    int has = 0;
    while (status == CULEX_OK && (has = culex__sqlite_next(store, found, error)) > 0) {
        struct culex_worker_row row = row_read(found);
        if (!culex__worker_is_gone(row.told_ms, store->now_ms) &&
            !culex__worker_list_add(list, &row))
            status = culex__sqlite_no_memory(error);
    }
    culex__sqlite_end(found);
    return has < 0 ? (culex_status)has : status;
}

static sqlite3_stmt *find(struct culex_sqlite *store, const char *id)
{
    return id != NULL ? SQL_BIND(store, PRESENCE_GET, SQL_TEXT(id))
                      : culex__sqlite_bind(store, CULEX__SQLITE_PRESENCE_LIST, NULL, 0);
}

/* --- WORKER_TELL ------------------------------------------------------------------------------ */

static culex_status sweep(struct culex_sqlite *store, culex_error *error)
{
    return culex__sqlite_finish(
        store,
        SQL_BIND(store, PRESENCE_SWEEP, SQL_INT(store->now_ms - CULEX_WORKER_GONE_MS),
                 SQL_INT(store->now_ms + CULEX_WORKER_GONE_MS), SQL_INT(SWEEP)),
        error);
}

/* There is room for one more. */
static culex_status room_check(struct culex_sqlite *store, culex_error *error)
{
    int64_t count = 0;
    culex_status status = culex__sqlite_first_int(
        store, culex__sqlite_bind(store, CULEX__SQLITE_PRESENCE_COUNT, NULL, 0), 0, &count, error);
    if (status == CULEX_OK && count >= CULEX_STORE_WORKERS_MAX)
        status = culex__refuse_newcomer(error);
    return status;
}

static culex_status entry_make(struct culex_sqlite *store, const struct culex_worker_tell *tell,
                               const struct culex_worker_wish *wish, culex_error *error)
{
    const void *sheet = tell->sheet_len > 0 ? tell->sheet : "";
    return culex__sqlite_finish(store,
                                SQL_BIND(store, PRESENCE_SET, SQL_TEXT(tell->id),
                                         SQL_INT(store->now_ms), SQL_INT((int64_t)tell->heard),
                                         SQL_INT(tell->concurrency), SQL_INT((int64_t)wish->number),
                                         SQL_INT((int64_t)wish->quiet), SQL_INT(wish->is_stop),
                                         SQL_INT(wish->concurrency),
                                         SQL_BYTES(sheet, tell->sheet_len)),
                                error);
}

static culex_status tell_all(struct culex_sqlite *store, const struct culex_worker_tell *tell,
                             struct culex_worker_wish *ret_wish, culex_error *error)
{
    struct culex_worker_list known = {0};
    if (tell->is_leaving)
        return culex__sqlite_finish(store, SQL_BIND(store, PRESENCE_DROP, SQL_TEXT(tell->id)),
                                    error);
    culex_status status = sweep(store, error);
    if (status == CULEX_OK)
        status = rows_read(store, find(store, tell->id), &known, error);
    if (status == CULEX_OK && known.count > 0)
        *ret_wish = known.rows[0].wish;
    else if (status == CULEX_OK)
        status = room_check(store, error);
    culex__worker_list_release(&known);
    return status == CULEX_OK ? entry_make(store, tell, ret_wish, error) : status;
}

/* The entry says all that already, and is young: nothing is written, and nobody wakes. */
static culex_status tell_is_said(struct culex_sqlite *store, const struct culex_worker_tell *tell,
                                 bool *ret_is_said, struct culex_worker_wish *ret_wish,
                                 culex_error *error)
{
    struct culex_worker_list known = {0};
    culex_status status = culex__sqlite_begin_read(store, error);
    if (status != CULEX_OK)
        return status;
    status = rows_read(store, find(store, tell->id), &known, error);
    status = culex__sqlite_end_transaction(store, status, error);
    const struct culex_worker_row *row = known.count > 0 ? &known.rows[0] : NULL;
    *ret_is_said = status == CULEX_OK && row != NULL && !tell->is_leaving &&
                   culex__worker_is_still(row->told_ms, store->now_ms) &&
                   row->heard == tell->heard && row->concurrency == tell->concurrency &&
                   row->sheet_len == tell->sheet_len &&
                   (tell->sheet_len == 0 || memcmp(row->sheet, tell->sheet, tell->sheet_len) == 0);
    if (*ret_is_said)
        *ret_wish = row->wish;
    culex__worker_list_release(&known);
    return status;
}

culex_status culex__sqlite_worker_tell(struct culex_store *base,
                                       const struct culex_worker_tell *tell,
                                       struct culex_worker_wish *ret_wish, culex_error *error)
{
    assert(culex__argument_worker_tell(tell, NULL) == CULEX_OK);
    struct culex_sqlite *store = culex__sqlite_of(base);
    struct culex_worker_wish wish = {0};
    bool is_said = false;
    culex_status status = tell_is_said(store, tell, &is_said, ret_wish, error);
    if (status == CULEX_OK && !is_said)
        status = culex__sqlite_begin(store, error);
    if (status != CULEX_OK || is_said)
        return status;
    status = tell_all(store, tell, &wish, error);
    status = culex__sqlite_end_transaction(store, status, error);
    if (status == CULEX_OK)
        *ret_wish = wish;
    return status;
}

/* --- WORKERS ---------------------------------------------------------------------------------- */

culex_status culex__sqlite_workers(struct culex_store *base, struct culex_worker_list *ret_list,
                                   culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    struct culex_worker_list list = {0};
    culex_status status = culex__sqlite_begin_read(store, error);
    if (status != CULEX_OK)
        return status;
    list.now_ms = store->now_ms;
    status = rows_read(store, find(store, NULL), &list, error);
    status = culex__sqlite_end_transaction(store, status, error);
    if (status == CULEX_OK)
        *ret_list = list;
    else
        culex__worker_list_release(&list);
    return status;
}

/* --- WORKER_SET ------------------------------------------------------------------------------- */

static culex_status wish_save(struct culex_sqlite *store, struct culex_worker_row *row,
                              const struct culex_worker_wish *wanted, culex_error *error)
{
    struct culex_worker_wish *wish = &row->wish, bounded = *wanted;
    if (bounded.concurrency > row->concurrency)
        bounded.concurrency = row->concurrency;
    if (!culex__worker_wish_join(wish, &bounded, row->heard, store->now_ms))
        return CULEX_OK;
    return culex__sqlite_finish(
        store,
        SQL_BIND(store, PRESENCE_WISH, SQL_TEXT(row->id), SQL_INT((int64_t)wish->number),
                 SQL_INT((int64_t)wish->quiet), SQL_INT(wish->is_stop), SQL_INT(wish->concurrency)),
        error);
}

static culex_status set_all(struct culex_sqlite *store, const char *id,
                            const struct culex_worker_wish *wanted, struct culex_worker_list *list,
                            culex_error *error)
{
    culex_status status = rows_read(store, find(store, id), list, error);
    if (status != CULEX_OK)
        return status;
    if (id != NULL && list->count == 0)
        return culex__refuse_worker(id, error);
    if (id != NULL && wanted->concurrency > list->rows[0].concurrency)
        return culex__refuse_concurrency(id, list->rows[0].concurrency, error);
    for (size_t i = 0; i < list->count && status == CULEX_OK; i++)
        status = wish_save(store, &list->rows[i], wanted, error);
    return status;
}

culex_status culex__sqlite_worker_set(struct culex_store *base, const char *id,
                                      const struct culex_worker_wish *wish, size_t *ret_count,
                                      culex_error *error)
{
    assert(culex__argument_worker_set(id, wish, NULL) == CULEX_OK);
    struct culex_sqlite *store = culex__sqlite_of(base);
    struct culex_worker_list list = {0};
    culex_status status = culex__sqlite_begin(store, error);
    if (status != CULEX_OK)
        return status;
    status = set_all(store, id, wish, &list, error);
    status = culex__sqlite_end_transaction(store, status, error);
    if (status == CULEX_OK)
        *ret_count = list.count;
    culex__worker_list_release(&list);
    return status;
}
