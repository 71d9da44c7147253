/* store/sqlite/event_notes.c - what becomes of runs, noted and saved.
 *
 * The newest entries are in the queue's row, which most calls write anyway: a page of their own
 * would cost as much as a fifth of a step. When they are too many there, they go into table event
 * together. */
#include "store/sqlite/event_notes.h"

#include <string.h>

#include "store/event_entry.h"
#include "store/sqlite/error.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

void culex__sqlite_event(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                         culex_events_kind kind, culex_uuid id, uint32_t number, const char *job)
{
    if (queue->events_kept > 0)
        culex__event_note(&store->events, kind, number, &id, job);
}

void culex__sqlite_events_clear(struct culex_sqlite *store)
{
    culex__event_notes_clear(&store->events);
}

/* Events between looks for old ones. A look costs a transaction two or three pages: it must be
 * rare beside steps of a hundred runs. */
enum { TRIM = 2048 };

/* What is beyond the number that is kept, in portions: the more often, the more comes. */
static culex_status trim(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                         culex_error *error)
{
    uint64_t kept = (uint64_t)queue->events_kept, last = (uint64_t)queue->events_last;
    if (last <= kept || last / TRIM == (last - store->events.count) / TRIM)
        return CULEX_OK;
    return culex__sqlite_finish(store,
                                SQL_BIND(store, EVENTS_TRIM,
                                         SQL_INT(culex__sqlite_queue_first(queue)),
                                         SQL_INT(culex__sqlite_event_key(queue, last - kept))),
                                error);
}

/* The entries of the row, and the new one behind them. */
static culex_status row_add(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                            culex_error *error)
{
    const culex_buf *entries = &store->events.text;
    queue->events_len = 0;
    if (entries->len <= sizeof queue->events) {
        memcpy(queue->events, entries->data, entries->len);
        queue->events_len = entries->len;
        return CULEX_OK;
    }
    return culex__sqlite_finish(
        store,
        SQL_BIND(store, EVENTS_ADD,
                 SQL_INT(culex__sqlite_event_key(queue, (uint64_t)queue->events_last)),
                 SQL_BYTES(entries->data, entries->len)),
        error);
}

culex_status culex__sqlite_events_save(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       culex_error *error)
{
    struct culex_event_notes *notes = &store->events;
    if (notes->is_out_of_memory)
        return culex__sqlite_no_memory(error);
    if (notes->count == 0)
        return CULEX_OK;
    if (!culex__sqlite_events_are_good(queue))
        return culex__sqlite_bad_row(store, error);
    queue->events_last += (int64_t)notes->count;
    queue->is_changed = true;
    if (!culex__event_notes_end(notes, queue->events, queue->events_len,
                                (uint64_t)queue->events_last, store->now_ms))
        return culex__sqlite_no_memory(error);
    culex_status status = row_add(store, queue, error);
    return status == CULEX_OK ? trim(store, queue, error) : status;
}
