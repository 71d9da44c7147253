/* worker/waits.h - what a worker that has nothing to do waits for: the executor, a wake-up of the
 * store, a stop, or the next instant at which something is due. Each module says itself when it is
 * due; here is the earliest of them. */
#ifndef CULEX_WORKER_WAITS_H
#define CULEX_WORKER_WAITS_H

#include <culex/worker.h>

/* Waits; takes a wake-up when one came. */
void culex__worker_wait(culex_worker *worker, int64_t now_ns);

#endif
