/* wide.h - integers of up to 128 bits, exactly, on every build machine. */
#ifndef CULEXC_WIDE_H
#define CULEXC_WIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sign and magnitude; zero is never negative. */
struct wide {
    bool negative;
    uint64_t hi;
    uint64_t lo;
};

enum { WIDE_TEXT_BYTES = 42 }; /* sign, 39 digits, NUL */

/* Reads decimal, 0x or 0b digits; '_' between digits is skipped. False when the
 * number needs more than 128 bits. The caller has checked the digits. */
bool wide_parse(const char *digits, size_t len, struct wide *ret_wide);

struct wide wide_from(int64_t value);
struct wide wide_negate(struct wide value);

/* Negative, zero or positive as `a` is less than, equal to or greater than `b`. */
int wide_compare(struct wide a, struct wide b);

/* False when `value` does not fit; *ret_value is then left alone. */
bool wide_to_int64(struct wide value, int64_t *ret_value);

/* Adds one; false at 2^128 - 1. */
bool wide_increment(struct wide *value);

/* The decimal text, with a '-' when negative. */
void wide_format(struct wide value, char text[WIDE_TEXT_BYTES]);

/* The least and the greatest value of a signed or unsigned type of `bits` bits. */
struct wide wide_type_min(unsigned bits, bool is_signed);
struct wide wide_type_max(unsigned bits, bool is_signed);

#endif
