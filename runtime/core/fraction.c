#include "core/fraction.h"

#include <assert.h>

enum { DIGITS = 9, SECOND = 1000000000 };

size_t culex__fraction_format(uint32_t nanos, char *ret_text)
{
    assert(nanos < SECOND);
    if (nanos == 0)
        return 0;
    size_t len = DIGITS;
    for (; nanos % 10 == 0; nanos /= 10)
        len--;
    ret_text[0] = '.';
    for (size_t at = len; at > 0; at--, nanos /= 10)
        ret_text[at] = (char)('0' + nanos % 10);
    return len + 1;
}

bool culex__fraction_take(const char **at, const char *end, uint32_t *ret_nanos)
{
    *ret_nanos = 0;
    if (*at == end || **at != '.')
        return true;
    size_t len = 0;
    uint32_t nanos = 0;
    for (++*at; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        if (++len > DIGITS)
            return false;
        nanos = nanos * 10 + (uint32_t)(**at - '0');
    }
    if (len == 0)
        return false;
    for (; len < DIGITS; len++)
        nanos *= 10;
    *ret_nanos = nanos;
    return true;
}

bool culex__nanos_make(int64_t seconds, uint32_t nanos, int64_t *ret_nanos)
{
    assert(nanos < SECOND);
    /* Towards zero first: the lowest instant fits although its whole second does not. */
    int64_t rest = (int64_t)nanos;
    if (seconds < 0 && rest > 0) {
        seconds++;
        rest -= SECOND;
    }
    if (seconds > INT64_MAX / SECOND || seconds < INT64_MIN / SECOND)
        return false;
    int64_t whole = seconds * SECOND;
    if (rest > 0 ? whole > INT64_MAX - rest : whole < INT64_MIN - rest)
        return false;
    *ret_nanos = whole + rest;
    return true;
}
