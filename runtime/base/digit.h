/* base/digit.h - digits of ASCII, whatever the locale. */
#ifndef CULEX_BASE_DIGIT_H
#define CULEX_BASE_DIGIT_H

#include <stdbool.h>

static inline bool culex__is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* 0 to 15 for a hexadecimal digit, in either case; -1 for what is none. */
static inline int culex__hex_value(char digit)
{
    if (culex__is_digit(digit))
        return digit - '0';
    char lower = (char)(digit | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

#endif
