/* worker/flight.h - runs in flight: from the grant to the end. */
#ifndef CULEX_WORKER_FLIGHT_H
#define CULEX_WORKER_FLIGHT_H

#include <culex/worker.h>

struct culex_lane;

/* Boot time at which its lease, its timeout or the patience with a silent store ends. */
int64_t culex__flight_next_ns(const struct culex_run *run);

/* Takes back what the executor has finished. Returns how many runs. */
size_t culex__flight_collect(culex_worker *worker);

/* Takes back what has not started and gives it back to the store, uncharged. */
void culex__flight_withdraw(culex_worker *worker);

/* Looks after leases and timeouts of the lane that have run out by now. */
void culex__flight_attend(struct culex_lane *lane, int64_t now_ns);

/* Gives up all runs in flight of the lane: the store has taken them away. */
void culex__flight_lose_all(struct culex_lane *lane);

/* Asks the handlers of all runs in flight to stop, and ends their processes soon after. */
void culex__flight_cancel_all(culex_worker *worker);

/* Somebody asked the store to cancel this run. */
void culex__flight_cancel(struct culex_run *run);

/* The store has granted a claim or heartbeat that was sent at `sent_ns`. */
void culex__flight_renew(struct culex_run *run, int64_t sent_ns);

/* Moves the deadlines of runs whose handlers asked for more time. */
void culex__flight_hear_all(culex_worker *worker);

/* Gives all runs in flight back to the store while their handlers go on. */
void culex__flight_abandon_all(culex_worker *worker);

/* The store says that the run is no longer ours. */
void culex__flight_lose(struct culex_run *run);

#endif
