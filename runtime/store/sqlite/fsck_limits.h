/* store/sqlite/fsck_limits.h - FSCK's share of limits: what is counted of them, compared with the
 * runs. */
#ifndef CULEX_STORE_SQLITE_FSCK_LIMITS_H
#define CULEX_STORE_SQLITE_FSCK_LIMITS_H

#include "store/sqlite/run.h"

/* Sets *ret_is_wrong when the run cannot stand where its row says, and in the run where it does. */
culex_status culex__sqlite_fsck_aside(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue,
                                      struct culex_sqlite_run *run, bool *ret_is_wrong,
                                      culex_error *error);

/* All keys of all limits of the queue; takes as long as it has runs. Adds what is wrong to *wrong.
 */
culex_status culex__sqlite_fsck_limits(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       bool is_repairing, uint64_t *wrong, culex_error *error);

#endif
