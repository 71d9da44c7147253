/* store/sqlite/follow_up.h - runs that come in with the end of others: the parts of a STEP's
 * transaction that belong to other queues, or to its own once more. */
#ifndef CULEX_STORE_SQLITE_FOLLOW_UP_H
#define CULEX_STORE_SQLITE_FOLLOW_UP_H

#include "store/sqlite/verb.h"

/* Whether an ack of the step has any. */
bool culex__sqlite_has_follow_ups(const struct culex_step *step);

/* In place of culex__sqlite_verb_write for such a step: `verb` on the step's queue, which sets
 * `reply` and leaves *is_repeat false for a step that is new, and then, of the acks that are OK,
 * the follow-ups. *ret_refused: the queue that failed to take them in, of the step; NULL: the
 * failure is another one. */
culex_status culex__sqlite_follow_ups_write(struct culex_sqlite *store,
                                            const struct culex_step *step,
                                            culex_sqlite_verb_fn verb, void *request,
                                            struct culex_step_reply *reply, const bool *is_repeat,
                                            const char **ret_refused, culex_error *error);

/* Whether `status` is one that the same step would meet again. */
bool culex__sqlite_refusal_lasts(culex_status status);

/* Copies the step's acks; those with follow-ups into `queue` are failures with `text` there. */
void culex__sqlite_follow_ups_refuse(const struct culex_step *step, const char *queue,
                                     const char *text, struct culex_ack *ret_acks);

#endif
