/* worker/flight.h - a run in flight: from the grant to the answer to its ack.
 *
 * The executor has its run for most of that time, and knows nothing of the rest. A handler that
 * does not end keeps its run when the store has to hear of it all the same: then a stand-in, a
 * flight that was never handed over, carries the end. */
#ifndef CULEX_WORKER_FLIGHT_H
#define CULEX_WORKER_FLIGHT_H

#include <culex/worker.h>

#include "handler/execution.h"
#include "worker/overstay.h"
#include "worker/units.h"

struct culex_lane;

/* Where a flight is. flight_pool.c takes it from one of these to the next. */
enum culex_flight_state {
    CULEX_FLIGHT_POOLED,   /* of no run */
    CULEX_FLIGHT_GROUNDED, /* of a run that is not in the executor's hands */
    CULEX_FLIGHT_ALOFT,    /* handed over and in its lane's list */
    CULEX_FLIGHT_GIVEN_UP, /* not yet back from the executor, but its end means nothing any more */
    CULEX_FLIGHT_ENDED     /* its end waits for the store, or for the store's answer */
};

struct culex_flight {
    struct culex_run run; /* first: see culex__flight_of */
    enum culex_flight_state state;
    struct culex_lane *lane;
    int64_t claimed_ns;     /* boot time at send of the claim */
    int64_t beat_ns;        /* boot time at send of the last beat or claim that was granted */
    int64_t deadline_ns;    /* boot time of the timeout, extensions included; INT64_MAX for none.
                               Counted from the claim, or from the grant if that comes later than
                               it, until it strikes or the run is back: then from the start */
    int64_t told_ns;        /* the deadline as the store knows it */
    int64_t term_ns;        /* when it is ended, if it has a process of its own; INT64_MAX: never */
    unsigned progress_told; /* the tag of the last report sent, 0 for none */
    size_t place;           /* in the lane's list */
    struct culex_flight *next_in_roster;
    bool has_cancel;    /* somebody asked to cancel it */
    bool is_timed_out;  /* asked to stop because of its timeout */
    bool has_timed_out; /* that is how it ended */
    bool is_cut_off;    /* asked to stop because the store has not been heard of */
    bool is_excused; /* a suspect that was alone for long: others may be started, as the next beat
                        says */
    struct culex_overstay overstay;
    struct culex_units_held units;

    /* The report of progress that goes with its end to the store, "" for none. */
    char last_progress[CULEX_PROGRESS_MAX + 1];
};

/* Takes back all that the executor has finished by now. Returns how many runs. */
size_t culex__flight_collect(culex_worker *worker);

/* Takes back what has not started and gives it back to the store, uncharged. */
void culex__flight_withdraw(culex_worker *worker);

/* Looks after leases and timeouts of the lane that have run out by `now_ns`. Where one may have, it
 * collects first: what has ended by then is not judged. What should have begun by then and has not
 * is withdrawn. */
void culex__flight_attend(struct culex_lane *lane, int64_t now_ns);

/* Boot time at which that has something to do, INT64_MAX for never. */
int64_t culex__flights_next_ns(const struct culex_lane *lane);

/* Gives up all runs of the lane, ended ones too that the store has not been told of: it has taken
 * them away. */
void culex__flight_lose_all(struct culex_lane *lane);

/* Asks the handlers of all runs in flight to stop, and ends their processes soon after. */
void culex__flight_cancel_all(culex_worker *worker);

/* Somebody asked the store to cancel this run. */
void culex__flight_cancel(struct culex_flight *flight);

/* The run (run.facts) was granted to a claim that was sent at `sent_ns`. */
void culex__flight_claim(struct culex_flight *flight, int64_t sent_ns);

/* So was a beat, which told the store of the deadline `told_ns`. */
void culex__flight_renew(struct culex_flight *flight, int64_t sent_ns, int64_t told_ns);

/* From the ground into the lane's list: its leases, timeouts and beats are looked after from now.
 */
void culex__flight_launch(struct culex_flight *flight);

/* Moves the deadlines of runs whose handlers asked for more time. */
void culex__flight_hear_all(culex_worker *worker);

/* Gives all runs in flight back to the store while their handlers go on. */
void culex__flight_abandon_all(culex_worker *worker);

/* The store says that the run is no longer ours. */
void culex__flight_lose(struct culex_flight *flight);

#endif
