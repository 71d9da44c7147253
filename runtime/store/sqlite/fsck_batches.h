/* store/sqlite/fsck_batches.h - FSCK's share of batches: their counts, members and callbacks. */
#ifndef CULEX_STORE_SQLITE_FSCK_BATCHES_H
#define CULEX_STORE_SQLITE_FSCK_BATCHES_H

#include "store/sqlite/queue.h"
#include "store/store.h"

/* What is counted of all batches of the queue, against their members; takes as long as it has
 * members that have not ended. A member that is counted and not there counts as cancelled. Adds
 * what is wrong to *wrong. */
culex_status culex__sqlite_fsck_batches(struct culex_sqlite *store,
                                        struct culex_sqlite_queue *queue, bool is_repairing,
                                        uint64_t *wrong, culex_error *error);

/* The callbacks of some batches from *place, a key, on; *place is 0 at the end. One that nobody can
 * read is damaged, and taken away. */
culex_status culex__sqlite_fsck_callbacks(struct culex_sqlite *store,
                                          struct culex_sqlite_queue *queue, bool is_repairing,
                                          int64_t *place, culex_fsck_counts *counts,
                                          culex_error *error);

#endif
