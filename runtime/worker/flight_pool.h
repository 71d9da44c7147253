/* worker/flight_pool.h - the structs of runs in flight: made blank from a pool, kept in their
 * lane's list, given back to the pool. */
#ifndef CULEX_WORKER_FLIGHT_POOL_H
#define CULEX_WORKER_FLIGHT_POOL_H

#include <culex/worker.h>

#include "worker/flight.h"

struct culex_lane;

/* One on the ground, for a run of this lane. NULL when out of memory. */
struct culex_flight *culex__flight_begin(struct culex_lane *lane);

/* The flight of a run that came from culex__flight_begin. */
static inline struct culex_flight *culex__flight_of(struct culex_run *run)
{
    return (struct culex_flight *)run;
}

/* Back to the pool, from anywhere but its lane's list. */
void culex__flight_recycle(culex_worker *worker, struct culex_flight *flight);

/* Into the lane's list, which is aloft, and out of it, to the ground. */
void culex__flight_add(struct culex_flight *flight);
void culex__flight_remove(struct culex_flight *flight);

/* Aloft to given up: out of the list, while its run is still with the executor. */
void culex__flight_set_aside(struct culex_flight *flight);

/* From the ground to its end: the store is to hear of it. */
void culex__flight_settle(struct culex_flight *flight);

/* Frees the pool, when the executor has ended: it has freed what was in flight. */
void culex__flight_pool_free(culex_worker *worker);

#endif
