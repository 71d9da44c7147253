/* bench/side.h - the two sides of every figure: the product, and the floor, which is what the store
 * can do at best for the same work by bare calls, without types, fencing, retries or statistics.
 * One program measures both in the same way. Sides exit with a message on any failure. */
#ifndef CULEX_BENCH_SIDE_H
#define CULEX_BENCH_SIDE_H

#include "crowd.h"
#include "meter.h"

struct side {
    struct crowd_work producer; /* enqueues its share */
    struct crowd_work drainer;  /* works off what is there; knobs->count is not looked at */
    /* Works off what comes and tells the meter of each start, until the process gets SIGTERM. */
    void (*consume)(const struct knobs *knobs, struct meter *meter);
    double (*codec)(size_t count); /* params to payload and back, in seconds */
};

extern const struct side product_side;
extern const struct side floor_side;

#endif
