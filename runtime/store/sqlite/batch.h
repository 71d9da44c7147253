/* store/sqlite/batch.h - callbacks of batches that are to come in. */
#ifndef CULEX_STORE_SQLITE_BATCH_H
#define CULEX_STORE_SQLITE_BATCH_H

#include "store/sqlite/queue.h"
#include "store/store.h"

/* Within a STEP: whether some are to be brought; then it has more to do. */
culex_status culex__sqlite_batch_outlook(struct culex_sqlite *store,
                                         const struct culex_sqlite_queue *queue, bool *ret_has_some,
                                         culex_error *error);

/* Behind such a STEP: brings them, each in a transaction of its own. One that a queue refuses stays
 * and keeps no other; the reply has the first reason, and it is tried again in a second. One that
 * nobody can read is put aside, as the reply says once and FSCK until it is gone. */
void culex__sqlite_batch_bring(struct culex_sqlite *store, const char *queue,
                               struct culex_step_reply *reply);

#endif
