/* bench/flow.h - a producer and a worker at the same time, each a process. */
#ifndef CULEX_BENCH_FLOW_H
#define CULEX_BENCH_FLOW_H

#include "side.h"

/* Enqueues knobs->count runs, or for knobs->seconds, never more than knobs->window ahead of their
 * starts, and with knobs->rate no more a second than that. *ret_count is how many there were;
 * returns seconds until the last one has started. */
double flow_run(const struct side *side, const struct knobs *knobs, size_t *ret_count);

/* Microseconds from the enqueue to the start of knobs->count runs, sorted: on an idle worker, or
 * with knobs->rate runs a second, each counted from when it was to be enqueued. Owned by the
 * caller. */
double *flow_starts(const struct side *side, const struct knobs *knobs);

/* A worker that has nothing to do for knobs->seconds: says "idle" when they begin and "over" at
 * their end, on lines of their own, and ends when standard input does. */
void flow_idle(const struct side *side, const struct knobs *knobs);

#endif
