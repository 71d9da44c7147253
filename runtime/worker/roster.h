/* worker/roster.h - the runs of a lane by id: those in flight and those whose ends the store has
 * not taken yet. */
#ifndef CULEX_WORKER_ROSTER_H
#define CULEX_WORKER_ROSTER_H

#include <culex/worker.h>

struct culex_flight;
struct culex_lane;

struct culex_roster {
    struct culex_flight **heads; /* of chains, by a hash of the id */
    size_t mask;                 /* their count less one; a power of two less one */
};

/* For about `room` runs. False when out of memory. */
bool culex__roster_init(struct culex_lane *lane, size_t room);
void culex__roster_free(struct culex_lane *lane);

/* The flight is not in it, or is; nothing of its id changes while it is. */
void culex__roster_add(struct culex_flight *flight);
void culex__roster_remove(struct culex_flight *flight);

/* The flight of that attempt of that run, NULL for none. */
struct culex_flight *culex__roster_find(const struct culex_lane *lane, culex_uuid id,
                                        uint32_t attempt);

#endif
