#include "core/duration.h"

#include "core/fraction.h"
#include "core/number.h"

size_t culex__duration_format(culex_duration duration, char *ret_text)
{
    size_t len = 0;
    uint64_t nanos = (uint64_t)duration;
    if (duration < 0) {
        ret_text[len++] = '-';
        nanos = 0 - nanos;
    }
    len += culex__uint64_format(nanos / (uint64_t)CULEX_SECOND, ret_text + len);
    len += culex__fraction_format((uint32_t)(nanos % (uint64_t)CULEX_SECOND), ret_text + len);
    ret_text[len++] = 's';
    return len;
}

/* The sign goes with both parts: -1.5 is -2 s + 500000000 ns. */
static bool negative_make(uint64_t seconds, uint32_t nanos, culex_duration *ret_duration)
{
    if (seconds == 0 && nanos == 0)
        return false;
    if (nanos == 0)
        return culex__nanos_make(-(int64_t)seconds, 0, ret_duration);
    return culex__nanos_make(-(int64_t)seconds - 1, (uint32_t)CULEX_SECOND - nanos, ret_duration);
}

bool culex__duration_parse(const char *text, size_t len, culex_duration *ret_duration)
{
    const char *end = text + len;
    bool is_negative = len > 0 && *text == '-';
    const char *whole = text + is_negative;
    const char *at = whole;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    uint64_t seconds;
    uint32_t nanos;
    if (!culex__uint64_parse(whole, (size_t)(at - whole), &seconds) || seconds > INT64_MAX / 2)
        return false;
    if (!culex__fraction_take(&at, end, &nanos) || end - at != 1 || *at != 's')
        return false;
    if (is_negative)
        return negative_make(seconds, nanos, ret_duration);
    return culex__nanos_make((int64_t)seconds, nanos, ret_duration);
}
