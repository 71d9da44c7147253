/* core/duration.h - the text of a culex_duration in a payload: seconds, as in "1.5s". */
#ifndef CULEX_CORE_DURATION_H
#define CULEX_CORE_DURATION_H

#include <culex/types.h>

/* Room for the longest text, without a NUL. */
enum { CULEX_DURATION_TEXT_MAX = 24 };

/* Writes "-1.5s", at most nine decimals, none trailing; no NUL. Returns the length. */
size_t culex__duration_format(culex_duration duration, char *ret_text);

/* Reads that form; false for anything else ("1h", "1.s", "-0s") and what 64 bits cannot hold. */
bool culex__duration_parse(const char *text, size_t len, culex_duration *ret_duration);

/* Positive, but below 100 us, a tenth of the millisecond that stores count in: most likely a plain
 * number that was meant as seconds or milliseconds. */
static inline bool culex__duration_is_slip(culex_duration duration)
{
    return duration > 0 && duration < 100 * CULEX_MICROSECOND;
}

/* In the milliseconds that stores count in; what is begun counts as a whole one. */
static inline int64_t culex__duration_ms_up(culex_duration duration)
{
    return duration / CULEX_MILLISECOND + (duration % CULEX_MILLISECOND > 0 ? 1 : 0);
}

#endif
