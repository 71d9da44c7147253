/* base/uptime.h - the clock of waits that no test drives: it starts with the machine, nobody sets
 * it, and POSIX has it. Deadlines of runs go by the clock of platform/env.h. */
#ifndef CULEX_BASE_UPTIME_H
#define CULEX_BASE_UPTIME_H

#include <stdint.h>
#include <time.h>

static inline int64_t culex__uptime_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* So many ms from now, for a timed wait of a condition that goes by CLOCK_MONOTONIC. */
static inline struct timespec culex__uptime_after(int64_t ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    int64_t ns = at.tv_nsec + ms % 1000 * 1000000;
    at.tv_sec += (time_t)(ms / 1000 + ns / 1000000000);
    at.tv_nsec = (long)(ns % 1000000000);
    return at;
}

#endif
