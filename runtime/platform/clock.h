/* platform/clock.h - the machine's clocks, for what stands below struct culex_env. Whoever is given
 * an env asks that one, so that a test can give the time. */
#ifndef CULEX_PLATFORM_CLOCK_H
#define CULEX_PLATFORM_CLOCK_H

#include <stdint.h>

/* Wall clock, ms since 1970. */
int64_t culex__clock_wall_ms(void);

/* Counts on through a suspend, where the system has such a clock; ns. */
int64_t culex__clock_boottime_ns(void);

#endif
