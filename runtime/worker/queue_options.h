/* worker/queue_options.h - what the options say of a queue beside the list of queues. */
#ifndef CULEX_WORKER_QUEUE_OPTIONS_H
#define CULEX_WORKER_QUEUE_OPTIONS_H

#include <culex/worker.h>

#include "core/queue_item.h"

/* The item of the list, with the weight and the bound that it leaves open, each by itself. */
struct culex_queue_item culex__queue_options_complete(const culex_worker_options *options,
                                                      const char *queue,
                                                      const struct culex_queue_item *item);

/* CULEX_EUSAGE when some are for a queue that a worker with these options neither serves nor may
 * find: a name with a typing error would count for nobody, in silence. */
culex_status culex__queue_options_check(const culex_worker *worker,
                                        const culex_worker_options *options, culex_error *error);

/* Tells the log of those that meet no queue so far. */
void culex__queue_options_advise(const culex_worker *worker);

#endif
