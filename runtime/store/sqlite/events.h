/* store/sqlite/events.h - what became of runs, as FSCK sees it. */
#ifndef CULEX_STORE_SQLITE_EVENTS_H
#define CULEX_STORE_SQLITE_EVENTS_H

#include "store/sqlite/queue.h"

struct culex_sqlite;

/* FSCK: what cannot be read as entries, or is beyond the newest position, is counted in *wrong, and
 * removed when that is wanted; the position follows. */
culex_status culex__sqlite_events_check(struct culex_sqlite *store,
                                        struct culex_sqlite_queue *queue, bool is_repairing,
                                        uint64_t *wrong, culex_error *error);

#endif
