/* worker/neighbours.h - workers on this machine that serve the same store: who of them has died.
 *
 * Of a dead one the lifeline is left, without a lock (lifeline.h). Whoever gets the lock takes its
 * entry out of the registry and says HELLO in its place, under its names and as a session that does
 * nothing else: so what it held goes back by the rules of every HELLO. Then the file goes. A worker
 * looks when it starts, and when a file in the folder was closed by its last holder; where the
 * system does not tell that, ten times a second while there are neighbours. */
#ifndef CULEX_WORKER_NEIGHBOURS_H
#define CULEX_WORKER_NEIGHBOURS_H

#include <culex/worker.h>

struct culex_neighbours {
    int fd;          /* readable when there is something to look at; -1: nobody tells */
    int64_t look_ns; /* boot time of the next look; INT64_MAX: none by itself */
    unsigned looks;  /* since the last news */
    bool has_swept;  /* away what dead workers of other stores left behind, once in a life */
};

/* At the start of a worker's life. */
void culex__neighbours_reset(culex_worker *worker);

/* After culex__lifeline_place. */
void culex__neighbours_open(culex_worker *worker);
void culex__neighbours_close(culex_worker *worker);

/* Looks, when it is time. Once a turn of the loop. */
void culex__neighbours_turn(culex_worker *worker, int64_t now_ns);

/* Boot time of that; INT64_MAX for never. */
int64_t culex__neighbours_next_ns(const culex_worker *worker);

/* The descriptor is readable. */
void culex__neighbours_hear(culex_worker *worker);

#endif
