/* worker/opening.h - a worker reaches its store: one try at a time, for as long as it takes. */
#ifndef CULEX_WORKER_OPENING_H
#define CULEX_WORKER_OPENING_H

#include <stdint.h>

#include <culex/worker.h>

struct culex_opening {
    uint32_t failures;
    int64_t retry_ns;   /* boot time; not before */
    culex_error newest; /* what the newest try that was not cut short has failed of */
};

/* At the start of a worker's life. */
void culex__opening_reset(culex_worker *worker);

/* Reads what is said of the store beside its URL, which is known. */
culex_status culex__opening_settings(culex_worker *worker, culex_error *error);

/* Tries, if it is time. CULEX_OK with worker->store still NULL: later. Fails for what no waiting
 * cures, and when somebody asks the worker to stop before the store has answered. */
culex_status culex__opening_try(culex_worker *worker, culex_error *error);

/* Boot time of the next try. */
int64_t culex__opening_next_ns(const culex_worker *worker);

#endif
