/* bench/crowd.h - the same work in several processes and threads at once, timed together.
 * Every member opens what it needs, then all begin at one signal. */
#ifndef CULEX_BENCH_CROWD_H
#define CULEX_BENCH_CROWD_H

#include <stdbool.h>

#include "knobs.h"

struct crowd_work {
    void *(*open)(const struct knobs *knobs);
    /* `count` is this member's share of knobs->count, `first` the number of its first run. Returns
     * when the work was done, which may be before the member has tidied up. */
    double (*run)(void *member, const struct knobs *knobs, size_t first, size_t count);
    void (*close)(void *member); /* not timed */
    bool can_share;              /* threads may use one member at once */
};

/* On the monotonic clock, which all processes share. */
double now_s(void);

/* Zeroed memory that forked processes share; never freed. */
void *shared_memory(size_t size);

/* Seconds from the signal until the last member has ended its work, knobs->processes times
 * knobs->threads of them. Exits when a member fails. */
double crowd_run(const struct crowd_work *work, const struct knobs *knobs);

#endif
