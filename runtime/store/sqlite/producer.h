/* store/sqlite/producer.h - the last enqueue call of each producer in each queue, which makes it
 * repeatable: see core/ticket.h.
 *
 * Only calls that brought a run are kept; any other may be made again as well. The ids of new runs
 * are counted on from the first one's, so an ordinary call takes a few numbers. Those of the
 * CULEX__SQLITE_LASTS_MAX producers that called last stand in the queue's rear, which every enqueue
 * writes anyway: they pay for no page more. With more of them the oldest go to table producer. */
#ifndef CULEX_STORE_SQLITE_PRODUCER_H
#define CULEX_STORE_SQLITE_PRODUCER_H

#include "store/sqlite/queue.h"
#include "store/store.h"

struct culex_sqlite;

/* An ENQUEUE, and its results. */
struct culex_sqlite_call {
    const struct culex_ticket *ticket; /* NULL: nobody will repeat it */
    const struct culex_new_run *runs;
    size_t count;
    struct culex_enqueue_result *results;
};

/* Sets the results as they were when the call is the producer's last one, which is
 * *ret_is_answered. Fails when its ticket is refused. */
culex_status culex__sqlite_producer_recall(struct culex_sqlite *store,
                                           const struct culex_sqlite_queue *queue,
                                           const struct culex_sqlite_call *call,
                                           bool *ret_is_answered, culex_error *error);

/* Keeps the call as its producer's last one. *ret_wants_forgetting: table producer has grown, or a
 * minute has begun. */
culex_status culex__sqlite_producer_keep(struct culex_sqlite *store,
                                         struct culex_sqlite_queue *queue,
                                         const struct culex_sqlite_call *call,
                                         bool *ret_wants_forgetting, culex_error *error);

/* Forgets the calls in the rear of `queue` whose time is over, and of the table's at most
 * CULEX_FORGET_MAX, in whichever queue: one that nobody uses any more keeps those in its rear. */
culex_status culex__sqlite_producers_forget(struct culex_sqlite *store,
                                            struct culex_sqlite_queue *queue, culex_error *error);

#endif
