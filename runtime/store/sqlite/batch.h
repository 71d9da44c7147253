/* store/sqlite/batch.h - callbacks of batches that are to come in. */
#ifndef CULEX_STORE_SQLITE_BATCH_H
#define CULEX_STORE_SQLITE_BATCH_H

#include "store/sqlite/queue.h"
#include "store/store.h"

/* Within a STEP: whether some are to be brought; then it has more to do. */
culex_status culex__sqlite_batch_outlook(struct culex_sqlite *store,
                                         const struct culex_sqlite_queue *queue, bool *ret_has_some,
                                         culex_error *error);

/* Behind such a STEP: brings them, each in a transaction of its own. One that stays, because a
 * queue refuses it, is in the reply, with the reason, and keeps those behind it: it is tried again.
 */
void culex__sqlite_batch_bring(struct culex_sqlite *store, const char *queue,
                               struct culex_step_reply *reply);

#endif
