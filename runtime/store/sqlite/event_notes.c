/* store/sqlite/event_notes.c - what becomes of runs, noted and saved.
 *
 * The newest entry always stays, and so tells the last position; where a queue keeps none any more
 * its row does. An enqueue need not write that row. */
#include <string.h>

#include "store/event_entry.h"
#include "store/sqlite/error.h"
#include "store/sqlite/event_notes.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"

culex_status culex__sqlite_events_last(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue, uint64_t *ret_last,
                                       culex_error *error)
{
    int64_t key;
    culex_status status = culex__sqlite_first_int(
        store,
        SQL_BIND(store, EVENT_LAST, SQL_INT(culex__sqlite_queue_first(queue)),
                 SQL_INT(culex__sqlite_queue_last(queue))),
        0, &key, error);
    *ret_last =
        key > culex__sqlite_queue_first(queue) ? culex__sqlite_event_position(queue, key) : 0;
    if (*ret_last < (uint64_t)queue->events_last && queue->events_last > 0)
        *ret_last = (uint64_t)queue->events_last;
    return status;
}

/* --- writing --------------------------------------------------------------------------------- */

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

/* Events between looks for old ones. A look costs a transaction two or three pages, where the
 * entry itself costs one: it must be rare beside steps of a hundred runs. */
enum { TRIM = 2048 };

/* What is beyond the number that is kept, in portions: the more often, the more comes. */
static culex_status trim(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                         uint64_t last, culex_error *error)
{
    uint64_t kept = (uint64_t)queue->events_kept;
    if (last <= kept || last / TRIM == (last - store->events.count) / TRIM)
        return CULEX_OK;
    return culex__sqlite_finish(store,
                                SQL_BIND(store, EVENTS_TRIM,
                                         SQL_INT(culex__sqlite_queue_first(queue)),
                                         SQL_INT(culex__sqlite_event_key(queue, last - kept))),
                                error);
}

/* The head goes before the stretches, in the place that is theirs. */
static culex_status entry_add(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                              uint64_t last, culex_error *error)
{
    struct culex_event_notes *notes = &store->events;
    char head[CULEX_EVENT_HEAD_SIZE];
    size_t len = culex__event_head_write(last, store->now_ms, notes->count, head);
    if (!culex__event_notes_reserve(notes, len))
        return culex__sqlite_no_memory(error);
    memmove(notes->text.data + len, notes->text.data, notes->text.len);
    memcpy(notes->text.data, head, len);
    return culex__sqlite_finish(store,
                                SQL_BIND(store, EVENT_ADD,
                                         SQL_INT(culex__sqlite_event_key(queue, last)),
                                         SQL_BYTES(notes->text.data, len + notes->text.len)),
                                error);
}

culex_status culex__sqlite_events_save(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue, culex_error *error)
{
    uint64_t last;
    if (store->events.is_out_of_memory)
        return culex__sqlite_no_memory(error);
    if (store->events.count == 0)
        return CULEX_OK;
    culex_status status = culex__sqlite_events_last(store, queue, &last, error);
    last += store->events.count;
    if (status == CULEX_OK)
        status = entry_add(store, queue, last, error);
    return status == CULEX_OK ? trim(store, queue, last, error) : status;
}
