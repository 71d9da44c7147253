/* worker/capacity.h - how many runs a worker takes, and how often it looks for some. */
#ifndef CULEX_WORKER_CAPACITY_H
#define CULEX_WORKER_CAPACITY_H

#include <culex/worker.h>

struct culex_lane;

enum { CULEX_LOOK_MS = 5000 }; /* the store is asked at least this often */

/* Runs take so little time at present that their claims, ends and results are worth collecting. */
bool culex__worker_runs_are_short(const culex_worker *worker);

/* Handlers that can be at work at a time: fewer than wanted while the program's set-up of their
 * processes fails. */
size_t culex__worker_capacity(const culex_worker *worker);

/* Runs to have in flight at most: more than there are handlers while runs are short. No more
 * when this worker's former life left runs behind, until as many have ended: one of them may kill
 * this life too, and should then be the one that is known to have started. Nor while the next run
 * of a lane waits for a free handler. */
size_t culex__worker_limit(const culex_worker *worker);

/* It claims, and is below that limit. */
bool culex__worker_has_room(const culex_worker *worker);

/* Every lane may have a run for us. */
void culex__lanes_set_likely(culex_worker *worker);

/* When the lane asks for runs even without a wake-up, as those may get lost. */
int64_t culex__worker_look_ns(const struct culex_lane *lane);

#endif
