/* store/sqlite/lease.h - leases that STEP looks after, a bounded share each time: those that are
 * over, and those that lie in a time that the clock has left. */
#ifndef CULEX_STORE_SQLITE_LEASE_H
#define CULEX_STORE_SQLITE_LEASE_H

#include "store/sqlite/queue.h"

struct culex_sqlite;

/* Runs whose leases are over are lost by their workers. */
culex_status culex__sqlite_leases_reap(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       culex_error *error);

/* A lease from before the clock was set back would keep its run from others for the length of the
 * jump: it is cut. Its holder, if it lives, beats before the new end. */
culex_status culex__sqlite_leases_cut(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                      culex_error *error);

/* When the first lease of the queue ends, INT64_MAX for never. */
culex_status culex__sqlite_leases_next(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue, int64_t *ret_at_ms,
                                       culex_error *error);

#endif
