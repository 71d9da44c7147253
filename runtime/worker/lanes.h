/* worker/lanes.h - the lanes of a worker: one for each queue that it serves. */
#ifndef CULEX_WORKER_LANES_H
#define CULEX_WORKER_LANES_H

#include <culex/worker.h>

struct culex_lane;
struct culex_queue_item;

/* Makes them, of the queues in the options or those of the registered jobs. Each begins under the
 * worker's identity, which is chosen before. What was made stays until free when it fails. */
culex_status culex__lanes_create(culex_worker *worker, culex_error *error);

/* The queue's lane, NULL for none. */
struct culex_lane *culex__lanes_find(const culex_worker *worker, const char *queue);

/* The item of the list that the queue comes by: the one that names it, else the first pattern that
 * meets it; NULL for none. */
const struct culex_queue_item *culex__lanes_item(const culex_worker *worker, const char *queue);

/* Adds a lane for what a pattern has found. CULEX_ELIMIT when there is no room for more. */
culex_status culex__lanes_found(culex_worker *worker, const char *queue,
                                const struct culex_queue_item *item, culex_error *error);

/* The options of the queues are these from now on. Returns how many lanes that has changed. */
size_t culex__lanes_retune(culex_worker *worker, const culex_queue_options *rows, size_t count);

/* Frees them with the ends that the store has not heard of. Runs in flight are the executor's. */
void culex__lanes_free(culex_worker *worker);

#endif
