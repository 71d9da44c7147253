/* store/sqlite/group.h - acks and beats of runs of one block, which change it in one row. */
#ifndef CULEX_STORE_SQLITE_GROUP_H
#define CULEX_STORE_SQLITE_GROUP_H

#include "store/sqlite/queue.h"

struct culex_sqlite;

/* Settles the acks of the step from the `from`-th on, as far as they are plain successes of one
 * block and kept for the same time. *ret_count of them, which may be 0: then the first one is up to
 * the caller. */
culex_status culex__sqlite_group_ack(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                     const struct culex_step *step, size_t from, size_t *ret_count,
                                     culex_error *error);
/* The same for beats, which all get the one lease of their block: when they are all that it holds,
 * and no timeout is in the way. */
culex_status culex__sqlite_group_beat(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue,
                                      const struct culex_step *step, size_t from, size_t *ret_count,
                                      culex_error *error);

#endif
