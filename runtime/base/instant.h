/* base/instant.h - reckoning with instants and spans in nanoseconds, whose names end in _ns.
 * INT64_MAX is never. */
#ifndef CULEX_BASE_INSTANT_H
#define CULEX_BASE_INSTANT_H

#include <stdint.h>

#define CULEX_MS_NS INT64_C(1000000) /* a millisecond */

#define CULEX_MS_MAX (INT64_MAX / 2 / CULEX_MS_NS) /* spans of as many ms, or more, do not end */

/* So many ms after the instant. */
static inline int64_t culex__after_ms(int64_t now_ns, int64_t span_ms)
{
    return span_ms < CULEX_MS_MAX ? now_ns + span_ms * CULEX_MS_NS : INT64_MAX;
}

/* The earlier instant, the shorter span. */
static inline int64_t culex__min_ns(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#endif
