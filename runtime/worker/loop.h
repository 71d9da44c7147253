/* worker/loop.h - the loop of a worker: results in, STEP, work out, wait. */
#ifndef CULEX_WORKER_LOOP_H
#define CULEX_WORKER_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include <culex/worker.h>

/* From culex__worker_begin until the worker is finished. Returns what its run ends with. */
culex_status culex__worker_loop(culex_worker *worker, culex_error *error);

/* A part of that, without a wait: the turns that there is something to do in, but none that would
 * begin at `until_ns` (boot time) or later, beside the first. *ret_is_over: it was the last part,
 * and the status is what the run ends with. */
culex_status culex__worker_turns(culex_worker *worker, int64_t until_ns, bool *ret_is_over,
                                 culex_error *error);

#endif
