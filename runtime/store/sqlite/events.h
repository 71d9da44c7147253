/* store/sqlite/events.h - what became of runs, as FSCK sees it. */
#ifndef CULEX_STORE_SQLITE_EVENTS_H
#define CULEX_STORE_SQLITE_EVENTS_H

#include "store/sqlite/queue.h"

struct culex_sqlite;

/* FSCK: entries that cannot be read are counted in *wrong, and removed when that is wanted. */
culex_status culex__sqlite_events_check(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, bool is_repairing,
                                        uint64_t *wrong, culex_error *error);

#endif
