/* worker/appetite.h - how many runs a lane claims: by what its handlers have done of late.
 *
 * Where runs are short they are claimed ahead of the handlers that will begin them, so that no
 * handler waits for the store. How far ahead is a matter of time, for whoever is claimed ahead
 * waits here while another worker may be idle: of all lanes together, what the handlers get
 * through in a few milliseconds, or, where options.batch is set, twice as many runs as that says.
 * Where runs are long, none is claimed ahead. */
#ifndef CULEX_WORKER_APPETITE_H
#define CULEX_WORKER_APPETITE_H

#include <culex/worker.h>

struct culex_lane;

struct culex_appetite {
    int64_t average_ns; /* recent handler time of the lane's runs */
    int64_t step_ns;    /* how long the store took for the lane's newest step, within bounds */
};

/* A new lane, of which nothing is known: it claims nothing ahead at first. */
void culex__appetite_init(struct culex_lane *lane);

/* A handler took this long for a run of the lane; the store, for its newest step. */
void culex__appetite_learn(struct culex_lane *lane, int64_t duration_ns);
void culex__appetite_learn_step(struct culex_lane *lane, int64_t duration_ns);

/* The handlers stand still: they are slow from now on, for every lane that has runs there. */
void culex__appetites_spoil(culex_worker *worker);

/* The lane's runs are so short at present that it pays to collect several claims or ends for one
 * step. */
bool culex__appetite_is_quick(const struct culex_lane *lane);

/* The most runs of the lane that one step claims, and how many a step may claim now. */
size_t culex__appetite_batch(const struct culex_lane *lane);
size_t culex__appetite_room(const struct culex_lane *lane);

/* The worker claims runs, and a lane has room for some, also by its own bound. */
bool culex__worker_has_room(const culex_worker *worker);

/* While handlers have short runs to do, ends and their announcement may be held back: nothing else
 * needs a look sooner than CULEX_QUIET_MS from now. */
bool culex__worker_is_gathering(const culex_worker *worker, size_t queued);

#endif
