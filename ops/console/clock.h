/* ops/console/clock.h - a time to measure by: no setting of a clock moves it. */
#ifndef OPS_CONSOLE_CLOCK_H
#define OPS_CONSOLE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* In ms, from some moment on. */
static inline int64_t ms_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

#endif
