/* worker/setup.h - what a worker needs before its loop and gives back after it. */
#ifndef CULEX_WORKER_SETUP_H
#define CULEX_WORKER_SETUP_H

#include <culex/worker.h>

/* Makes the plan, starts the executor and reads where the store is. */
culex_status culex__worker_begin(culex_worker *worker, culex_error *error);

/* Opens the store after that, and makes known that there is one more worker. One that cannot be
 * reached yet is no failure: worker->store stays NULL, and culex__opening_next_ns tells when to
 * call again. */
culex_status culex__worker_open(culex_worker *worker, culex_error *error);

/* What can be said of the worker's options, its jobs and the store's URL without a store: as
 * the two above would say it, warnings about queues included. Nothing is left of that. */
culex_status culex__worker_rehearse(culex_worker *worker, culex_error *error);

/* Gives back what begin took, also when it failed half-way. */
void culex__worker_end(culex_worker *worker);

#endif
