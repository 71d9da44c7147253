/* store/sqlite/waiters.c - what becomes of the notes that WAIT (sqlite/wait.c) has made.
 *
 * The end of a run takes its notes and gathers their addresses, of doors as sqlite/wake.c has them.
 * These are knocked at after the COMMIT. A note whose time is over goes too, with a STEP, or with a
 * WAIT that finds no place for its own; its door is knocked at as well: so the file of a door whose
 * owner was killed is found and removed. */
#include "store/sqlite/waiters.h"

#include <stdlib.h>
#include <string.h>

#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

/* --- who is to be told --------------------------------------------------------------------- */

static void told_add(struct culex_sqlite_told *told, const char *address)
{
    if (told->addresses == NULL)
        told->addresses = malloc(CULEX__SQLITE_TOLD_MAX * sizeof *told->addresses);
    if (told->addresses == NULL || told->count == CULEX__SQLITE_TOLD_MAX ||
        strlen(address) >= CULEX__SQLITE_ADDRESS_SIZE)
        return;
    for (size_t i = 0; i < told->count; i++) {
        if (strcmp(told->addresses[i], address) == 0)
            return;
    }
    strcpy(told->addresses[told->count++], address);
}

/* --- the end ------------------------------------------------------------------------------ */

/* Those of one run: all of them, or those that are over. */
static culex_status notes_take(struct culex_sqlite *store, int64_t seq, bool are_all,
                               bool *ret_is_awaited, culex_error *error)
{
    bool is_noted = false, is_awaited = false;
    int has = 0;
    sqlite3_stmt *statement = SQL_BIND(store, WAIT_LIST, SQL_INT(seq));
    while ((has = culex__sqlite_next(store, statement, error)) > 0) {
        const char *address = (const char *)sqlite3_column_text(statement, 0);
        bool is_over = sqlite3_column_int64(statement, 1) <= store->now_ms;
        is_noted = true;
        is_awaited = is_awaited || (address != NULL && !is_over);
        if (address != NULL && is_over != are_all)
            told_add(&store->wake.told, address);
    }
    culex__sqlite_end(statement);
    *ret_is_awaited = is_awaited;
    if (has < 0 || !is_noted)
        return has < 0 ? (culex_status)has : CULEX_OK;
    return culex__sqlite_finish(
        store,
        SQL_BIND(store, WAIT_DELETE, SQL_INT(seq), SQL_INT(are_all ? INT64_MAX : store->now_ms)),
        error);
}

culex_status culex__sqlite_waiters_end(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       int64_t seq, bool *ret_is_awaited, culex_error *error)
{
    *ret_is_awaited = false;
    return queue->waits == 0 ? CULEX_OK : notes_take(store, seq, true, ret_is_awaited, error);
}

culex_status culex__sqlite_waiters_make_place(struct culex_sqlite *store, int64_t seq,
                                              bool *ret_has_place, culex_error *error)
{
    bool is_awaited;
    int64_t count = 0;
    culex_status status = CULEX_OK;
    for (int look = 0; look < 2 && status == CULEX_OK; look++) {
        status = culex__sqlite_first_int(store, SQL_BIND(store, WAIT_COUNT, SQL_INT(seq)), 0,
                                         &count, error);
        if (count < CULEX_WAITERS_MAX)
            break;
        if (look == 0 && status == CULEX_OK)
            status = notes_take(store, seq, false, &is_awaited, error);
    }
    *ret_has_place = count < CULEX_WAITERS_MAX;
    return status;
}

static culex_status wait_forget(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                                bool *ret_is_gone, culex_error *error)
{
    sqlite3_stmt *row = SQL_BIND(store, WAIT_OVER, SQL_INT(queue->key), SQL_INT(store->now_ms));
    int has = culex__sqlite_next(store, row, error);
    culex_status status = has < 0 ? (culex_status)has : CULEX_OK;
    const char *address = has > 0 ? (const char *)sqlite3_column_text(row, 1) : NULL;
    *ret_is_gone = address != NULL;
    if (address != NULL) {
        told_add(&store->wake.told, address);
        status = culex__sqlite_finish(
            store,
            SQL_BIND(store, WAIT_DROP, SQL_INT(sqlite3_column_int64(row, 0)), SQL_TEXT(address)),
            error);
    }
    culex__sqlite_end(row);
    return status;
}

culex_status culex__sqlite_waiters_forget(struct culex_sqlite *store,
                                          struct culex_sqlite_queue *queue, culex_error *error)
{
    bool is_gone = true;
    int64_t at_ms = 0;
    culex_status status = CULEX_OK;
    if (queue->waits == 0)
        return CULEX_OK;
    for (int i = 0; i < CULEX_FORGET_MAX && is_gone && status == CULEX_OK; i++)
        status = wait_forget(store, queue, &is_gone, error);
    if (status == CULEX_OK)
        status = culex__sqlite_waiters_next(store, queue, &at_ms, error);
    if (status == CULEX_OK && at_ms == INT64_MAX) {
        queue->waits = 0;
        queue->is_changed = true;
    }
    return status;
}

culex_status culex__sqlite_waiters_next(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, int64_t *ret_at_ms,
                                        culex_error *error)
{
    *ret_at_ms = INT64_MAX;
    if (queue->waits == 0)
        return CULEX_OK;
    return culex__sqlite_first_int(store, SQL_BIND(store, WAIT_NEXT, SQL_INT(queue->key)),
                                   INT64_MAX, ret_at_ms, error);
}

/* --- FSCK --------------------------------------------------------------------------------- */

/* What a store's clock may have been ahead when a note was written, before it counts as damage. */
#define CLOCK_SLACK_MS INT64_C(86400000)

/* The field of the queue is told by the rows there are; one that is set and needs not be is the
 * next STEP's. */
static culex_status mark_check(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                               uint64_t *wrong, culex_error *error)
{
    int64_t first;
    if (queue->waits != 0)
        return CULEX_OK;
    culex_status status = culex__sqlite_first_int(
        store, SQL_BIND(store, WAIT_NEXT, SQL_INT(queue->key)), INT64_MAX, &first, error);
    if (status != CULEX_OK || first == INT64_MAX)
        return status;
    ++*wrong;
    queue->waits = 1;
    queue->is_changed = true;
    return CULEX_OK;
}

culex_status culex__sqlite_waiters_check(struct culex_sqlite *store,
                                         struct culex_sqlite_queue *queue, bool is_repairing,
                                         uint64_t *wrong, culex_error *error)
{
    const struct culex_sqlite_value key = SQL_INT(queue->key),
                                    last = SQL_INT(culex__sqlite_later(
                                        store->now_ms,
                                        CULEX_STORE_WAIT_NOTE_MAX_MS + CLOCK_SLACK_MS));
    int64_t count = 0;
    culex_status status =
        culex__sqlite_first_int(store, SQL_BIND(store, FSCK_WAITS, key, last), 0, &count, error);
    *wrong += (uint64_t)count;
    if (status == CULEX_OK && count > 0 && is_repairing)
        status = culex__sqlite_finish(store, SQL_BIND(store, FSCK_WAITS_DROP, key, last), error);
    return status == CULEX_OK ? mark_check(store, queue, wrong, error) : status;
}
