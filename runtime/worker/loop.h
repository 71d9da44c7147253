/* worker/loop.h - the loop of a worker: results in, STEP, work out, wait. */
#ifndef CULEX_WORKER_LOOP_H
#define CULEX_WORKER_LOOP_H

#include <culex/worker.h>

/* From culex__worker_begin until the worker is finished. Returns what its run ends with. */
culex_status culex__worker_loop(culex_worker *worker, culex_error *error);

#endif
