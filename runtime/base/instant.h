/* base/instant.h - reckoning with instants and spans in nanoseconds, whose names end in _ns.
 * INT64_MAX is never. */
#ifndef CULEX_BASE_INSTANT_H
#define CULEX_BASE_INSTANT_H

#include <stdint.h>

#define CULEX_MS_NS INT64_C(1000000) /* a millisecond */

/* The earlier instant, the shorter span. */
static inline int64_t culex__min_ns(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#endif
