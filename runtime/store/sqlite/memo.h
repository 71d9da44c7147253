/* store/sqlite/memo.h - what a session's last step was answered. */
#ifndef CULEX_STORE_SQLITE_MEMO_H
#define CULEX_STORE_SQLITE_MEMO_H

#include "store/sqlite/queue.h"

struct culex_sqlite;

/* Answers a step that is not new: from the memo when this nonce is the session's last, as one that
 * came late when it is smaller. */
culex_status culex__sqlite_memo_recall(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue,
                                       const struct culex_step *step,
                                       struct culex_step_reply *reply, bool *ret_is_old,
                                       culex_error *error);
/* HELLO's: a session that is not known yet gets a memo of no step. */
culex_status culex__sqlite_memo_begin(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue, const char *session,
                                      culex_error *error);
/* Ends `session`: its memo has the greatest nonce and no answers, so that each of its steps counts
 * as one that came late. */
culex_status culex__sqlite_memo_replace(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, const char *session,
                                        culex_error *error);
culex_status culex__sqlite_memo_keep(struct culex_sqlite *store,
                                     const struct culex_sqlite_queue *queue,
                                     const struct culex_step *step,
                                     const struct culex_step_reply *reply, culex_error *error);

#endif
