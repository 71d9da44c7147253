/* worker/overstay.h - handlers on threads that were asked to stop and go on.
 *
 * Nobody can end them, and each keeps a thread. So that this is not first heard of when the worker
 * stops, a warning names the run PATIENCE_MS after its flag was set, once. */
#ifndef CULEX_WORKER_OVERSTAY_H
#define CULEX_WORKER_OVERSTAY_H

#include <culex/worker.h>

struct culex_flight;

/* Of one flight. */
struct culex_overstay {
    int64_t asked_ns; /* boot time of its flag, when only the handler can end it; 0: none */
    bool is_told;     /* a warning has named it */
    struct culex_flight *next; /* in the worker's list of those */
};

/* The run's flag has been set. Does nothing where the executor kills, nor a second time. */
void culex__overstay_begin(struct culex_flight *flight);

/* It is back from the executor, or has been told of in another way. */
void culex__overstay_end(struct culex_flight *flight);

/* The executor has ended: a handler that is left behind keeps its flight. */
void culex__overstay_forget_all(culex_worker *worker);

/* Warns of those whose time is over. */
void culex__overstay_tell(culex_worker *worker, int64_t now_ns);

/* Boot time at which there will be something to tell, INT64_MAX for never. */
int64_t culex__overstay_next_ns(const culex_worker *worker);

#endif
