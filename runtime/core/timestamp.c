#include "core/timestamp.h"

#include <assert.h>

#include "core/date.h"
#include "core/fraction.h"

static char *put_number(char *at, unsigned value, unsigned width)
{
    for (unsigned digit = width; digit-- > 0; value /= 10)
        at[digit] = (char)('0' + value % 10);
    assert(value == 0); /* it has no more digits */
    return at + width;
}

static char *put_char(char *at, char value)
{
    *at = value;
    return at + 1;
}

size_t culex__timestamp_format(culex_time time, char *ret_text)
{
    int64_t nanos = time % CULEX_SECOND;
    int64_t seconds = time / CULEX_SECOND;
    if (nanos < 0) {
        nanos += CULEX_SECOND;
        seconds--;
    }
    int64_t days = culex__floor_div(seconds, CULEX_DAY_SECONDS);
    int64_t second_of_day = seconds - days * CULEX_DAY_SECONDS;
    struct culex__date date = culex__days_date(days);
    char *at = put_number(ret_text, (unsigned)date.year, 4);
    at = put_number(put_char(at, '-'), date.month, 2);
    at = put_number(put_char(at, '-'), date.day, 2);
    at = put_number(put_char(at, 'T'), (unsigned)(second_of_day / 3600), 2);
    at = put_number(put_char(at, ':'), (unsigned)(second_of_day / 60 % 60), 2);
    at = put_number(put_char(at, ':'), (unsigned)(second_of_day % 60), 2);
    at += culex__fraction_format((uint32_t)nanos, at);
    return (size_t)(put_char(at, 'Z') - ret_text);
}

/* `width` digits followed by `after` (0 for none). */
static bool take_number(const char **at, const char *end, unsigned width, char after,
                        unsigned *ret_value)
{
    if ((size_t)(end - *at) < width + (after != 0))
        return false;
    unsigned value = 0;
    for (unsigned digit = 0; digit < width; digit++) {
        unsigned char c = (unsigned char)*(*at)++;
        if (c < '0' || c > '9')
            return false;
        value = value * 10 + (c - '0');
    }
    *ret_value = value;
    return after == 0 || *(*at)++ == after;
}

static bool date_exists(struct culex__date date)
{
    return date.month >= 1 && date.month <= 12 && date.day >= 1 &&
           date.day <= culex__month_days(date.year, date.month);
}

static bool take_date(const char **at, const char *end, int64_t *ret_days)
{
    struct culex__date date;
    unsigned year;
    if (!take_number(at, end, 4, '-', &year) || !take_number(at, end, 2, '-', &date.month) ||
        !take_number(at, end, 2, 'T', &date.day))
        return false;
    date.year = (int64_t)year;
    if (!date_exists(date))
        return false;
    *ret_days = culex__date_days(date);
    return true;
}

static bool take_clock(const char **at, const char *end, int64_t *ret_second)
{
    unsigned hour;
    unsigned minute;
    unsigned second;
    if (!take_number(at, end, 2, ':', &hour) || !take_number(at, end, 2, ':', &minute) ||
        !take_number(at, end, 2, 0, &second))
        return false;
    *ret_second = (int64_t)hour * 3600 + minute * 60 + second;
    return hour < 24 && minute < 60 && second < 60;
}

/* 'Z', "+02:00" or "-05:30": how far local time is ahead, in seconds. */
static bool take_offset(const char **at, const char *end, int64_t *ret_seconds)
{
    if (*at == end)
        return false;
    char sign = *(*at)++;
    *ret_seconds = 0;
    if (sign == 'Z')
        return true;
    unsigned hour;
    unsigned minute;
    if (sign != '+' && sign != '-')
        return false;
    if (!take_number(at, end, 2, ':', &hour) || !take_number(at, end, 2, 0, &minute))
        return false;
    int64_t seconds = (int64_t)hour * 3600 + minute * 60;
    *ret_seconds = sign == '-' ? -seconds : seconds;
    return hour < 24 && minute < 60;
}

bool culex__timestamp_parse(const char *text, size_t len, culex_time *ret_time)
{
    const char *at = text;
    const char *end = text + len;
    int64_t days;
    int64_t second;
    int64_t offset;
    uint32_t nanos;
    if (!take_date(&at, end, &days) || !take_clock(&at, end, &second) ||
        !culex__fraction_take(&at, end, &nanos) || !take_offset(&at, end, &offset) || at != end)
        return false;
    return culex__nanos_make(days * CULEX_DAY_SECONDS + second - offset, nanos, ret_time);
}
