/* handler/errand_batch.h - BATCH as an errand: how an order is written and read. */
#ifndef CULEX_HANDLER_ERRAND_BATCH_H
#define CULEX_HANDLER_ERRAND_BATCH_H

#include "handler/errand_run.h"

/* Stands behind the errand's head, and behind it the run of its callback, if it has one. The
 * pointers of `order` mean nothing on the way. */
struct culex_errand_batch {
    struct culex_batch_order order;
    char call_queue[CULEX_QUEUE_NAME_MAX + 1]; /* the callback's; "": there is none */
};

/* What is read of one: the order points into it, and to the errand's texts. */
struct culex_errand_batch_room {
    struct culex_errand_limits limits;
    struct culex_follow_up call;
    char call_queue[CULEX_QUEUE_NAME_MAX + 1];
};

culex_status culex__errand_batch_append(culex_buf *errand, const struct culex_batch_order *order);

/* False for what cannot be read; the store checks the rest. `queue` is that of the errand. */
bool culex__errand_batch_take(struct culex_errand_reader *reader, const char *queue,
                              struct culex_errand_batch_room *room,
                              struct culex_batch_order *ret_order);

#endif
