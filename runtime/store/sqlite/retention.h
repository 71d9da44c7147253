/* store/sqlite/retention.h - what STEP forgets: ended runs whose time is over, calls and keys that
 * no longer have to be remembered, sessions that have fallen silent. */
#ifndef CULEX_STORE_SQLITE_RETENTION_H
#define CULEX_STORE_SQLITE_RETENTION_H

#include "store/sqlite/queue.h"

struct culex_sqlite;

/* Forgets a bounded share: of each final state more than the `added` runs that this step has ended.
 */
culex_status culex__sqlite_retention_forget(struct culex_sqlite *store,
                                            struct culex_sqlite_queue *queue, size_t added,
                                            culex_error *error);

/* Forgets ordinary runs that are done and kept until `until_ms` at most; *ret_count of them, which
 * is `most` when there may be more. */
culex_status culex__sqlite_ended_forget(struct culex_sqlite *store,
                                        struct culex_sqlite_queue *queue, int64_t until_ms,
                                        size_t most, size_t *ret_count, culex_error *error);

/* When what is kept of ended runs wants the next step, INT64_MAX for never: see
 * CULEX_FORGET_GAP_MS. */
culex_status culex__sqlite_retention_next(struct culex_sqlite *store,
                                          const struct culex_sqlite_queue *queue,
                                          int64_t *ret_at_ms, culex_error *error);

#endif
