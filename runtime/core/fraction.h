/* core/fraction.h - decimals of a second, in timestamps and durations. */
#ifndef CULEX_CORE_FRACTION_H
#define CULEX_CORE_FRACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes ".5" for 500000000: no trailing zeros, nothing for 0. At most ten characters, no NUL. */
size_t culex__fraction_format(uint32_t nanos, char *ret_text);

/* Reads "." and one to nine digits at *at, if there, and moves past them. False when the point
 * is followed by none or by more than nine: nothing is cut off silently. */
bool culex__fraction_take(const char **at, const char *end, uint32_t *ret_nanos);

/* seconds * 10^9 + nanos, with 0 <= nanos < 10^9; false when that is out of range. */
bool culex__nanos_make(int64_t seconds, uint32_t nanos, int64_t *ret_nanos);

#endif
