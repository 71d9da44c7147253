/* sim/line.h - ordinary runs in the virtual Redis, as records: what bodies and blocks say together.
 *
 * It knows the key layout, and nothing of the scripts. */
#ifndef CULEX_SIM_LINE_H
#define CULEX_SIM_LINE_H

#include "oracle.h"

/* Visits those of a queue by their numbers. What cannot be read is a violation. */
void sim_line_each(struct sim_world *world, const char *queue,
                   void (*visit)(void *user, culex_uuid id, const struct sim_record *record),
                   void *user);

/* Is there one of this id in the queue? */
bool sim_line_has(struct sim_world *world, const char *queue, culex_uuid id);

/* Is this an id of theirs, wherever the run is now? */
bool sim_line_is_ordinary(culex_uuid id);

/* Of the run with this number; zeroes when there is none. */
culex_uuid sim_line_id(struct sim_world *world, const char *queue, int64_t number);

/* Every number that was taken is in one block, every other in none; blocks are in their indexes,
 * and held and kept runs are counted. */
void sim_line_check(struct sim_world *world, const char *queue);

#endif
