/* store/sqlite/event_notes.h - what becomes of runs, noted during a verb and saved before its
 * COMMIT. */
#ifndef CULEX_STORE_SQLITE_EVENT_NOTES_H
#define CULEX_STORE_SQLITE_EVENT_NOTES_H

#include "store/sqlite/queue.h"

struct culex_sqlite;

/* `number`: the run's attempt, or how many runs it was. Nothing where the queue keeps none. */
void culex__sqlite_event(struct culex_sqlite *store, const struct culex_sqlite_queue *queue,
                         culex_events_kind kind, culex_uuid id, uint32_t number, const char *job);
/* What was noted becomes one entry of the queue, and some old ones go. */
culex_status culex__sqlite_events_save(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       culex_error *error);
/* What was noted is forgotten. */
void culex__sqlite_events_clear(struct culex_sqlite *store);

/* Positions of events are beyond no number of these; others are in damaged rows only. */
static inline bool culex__sqlite_events_are_good(const struct culex_sqlite_queue *queue)
{
    return queue->events_last >= 0 && queue->events_last < INT64_C(1)
                                                               << (CULEX__SQLITE_QUEUE_SHIFT - 1);
}

/* Rows of entries have their keys by the positions of their last events. */
static inline int64_t culex__sqlite_event_key(const struct culex_sqlite_queue *queue,
                                              uint64_t position)
{
    return culex__sqlite_queue_first(queue) | (int64_t)position;
}
static inline uint64_t culex__sqlite_event_position(const struct culex_sqlite_queue *queue,
                                                    int64_t key)
{
    return (uint64_t)(key - culex__sqlite_queue_first(queue));
}

#endif
