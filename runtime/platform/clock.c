#include "platform/clock.h"

#include <time.h>

#include <culex/types.h>

#ifndef CLOCK_BOOTTIME
#define CLOCK_BOOTTIME CLOCK_MONOTONIC
#endif

int64_t culex__clock_wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t culex__clock_boottime_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* As programs ask for it. */
culex_time culex_time_now(void)
{
    return culex__clock_wall_ms() * CULEX_MILLISECOND;
}
