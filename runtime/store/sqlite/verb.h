/* store/sqlite/verb.h - the bracket around every verb on a queue: its transaction, the queue's row,
 * and who is woken.
 *
 * A verb that writes runs between a begin under the write lock and a COMMIT. The row of its queue
 * is loaded before it and saved behind it. When the verb made work, an idle worker is chosen
 * within the transaction and told after the COMMIT. */
#ifndef CULEX_STORE_SQLITE_VERB_H
#define CULEX_STORE_SQLITE_VERB_H

#include "store/sqlite/queue.h"
#include "store/sqlite/wake.h"

/* What is done with a queue that has no row. */
enum culex_sqlite_absent {
    CULEX__SQLITE_ABSENT_EMPTY,   /* the verb sees a zeroed row with key 0 */
    CULEX__SQLITE_ABSENT_REFUSED, /* CULEX_ENOTFOUND */
    CULEX__SQLITE_ABSENT_MADE,    /* it gets one */
};

/* The body of a verb, within the transaction. Nothing of it lasts when it fails. */
typedef culex_status (*culex_sqlite_verb_fn)(struct culex_sqlite *store,
                                             struct culex_sqlite_queue *queue, void *request,
                                             culex_error *error);

/* `name` is borrowed. store->now_ms is the time of the transaction, also afterwards. */
culex_status culex__sqlite_verb_write(struct culex_sqlite *store, const char *name,
                                      enum culex_sqlite_absent absent, culex_sqlite_verb_fn verb,
                                      void *request, culex_error *error);

/* The same for one that only reads: what it changes in the row is not saved. */
culex_status culex__sqlite_verb_read(struct culex_sqlite *store, const char *name,
                                     enum culex_sqlite_absent absent, culex_sqlite_verb_fn verb,
                                     void *request, culex_error *error);

/* The inner half of verb_write, in a transaction that somebody else began: nobody is woken. */
culex_status culex__sqlite_verb_within(struct culex_sqlite *store, const char *name,
                                       enum culex_sqlite_absent absent, culex_sqlite_verb_fn verb,
                                       void *request, culex_error *error);

/* The same, and whom to tell of it behind the COMMIT, by culex__sqlite_wake_send_later. */
culex_status culex__sqlite_verb_part(struct culex_sqlite *store, const char *name,
                                     enum culex_sqlite_absent absent, culex_sqlite_verb_fn verb,
                                     void *request, struct culex_sqlite_aim *ret_aim,
                                     culex_error *error);

#endif
