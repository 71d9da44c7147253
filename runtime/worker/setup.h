/* worker/setup.h - what a worker needs before its loop and gives back after it. */
#ifndef CULEX_WORKER_SETUP_H
#define CULEX_WORKER_SETUP_H

#include <culex/worker.h>

/* Opens the store (waiting for it as long as it takes) and starts the executor. */
culex_status culex__worker_begin(culex_worker *worker, culex_error *error);

/* What can be said of the worker's options, its jobs and the store's URL without a store: as
 * culex__worker_begin would say it. Nothing is left of that. */
culex_status culex__worker_rehearse(culex_worker *worker, culex_error *error);

/* Gives back what begin took, also when it failed half-way. */
void culex__worker_end(culex_worker *worker);

#endif
