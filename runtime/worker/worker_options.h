/* worker/worker_options.h - the options of a worker: their bounds and their defaults. */
#ifndef CULEX_WORKER_WORKER_OPTIONS_H
#define CULEX_WORKER_WORKER_OPTIONS_H

#include <culex/worker.h>

/* CULEX_EUSAGE names what is out of range. */
culex_status culex__worker_options_check(const culex_worker_options *options, culex_error *error);

/* Puts the default wherever an option is zero, but for the URL, which culex__worker_begin chooses:
 * it may hold a password, and the executor must have been made before. */
void culex__worker_options_complete(culex_worker_options *options);

#endif
