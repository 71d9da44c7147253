#include "core/timestamp.h"

#include <assert.h>

#include "core/fraction.h"

enum { DAY_SECONDS = 86400, ERA_YEARS = 400, ERA_DAYS = 146097, EPOCH_DAYS = 719468 };

struct date {
    int64_t year;
    unsigned month;
    unsigned day;
};

/* Days since 1970-01-01. Years count from March here, so that the leap day comes last. */
static int64_t date_days(struct date date)
{
    int64_t year = date.month <= 2 ? date.year - 1 : date.year;
    int64_t era = year / ERA_YEARS; /* four-digit years are not negative */
    int64_t year_of_era = year - era * ERA_YEARS;
    int64_t month = date.month > 2 ? date.month - 3 : date.month + 9;
    int64_t day_of_year = (153 * month + 2) / 5 + date.day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * ERA_DAYS + day_of_era - EPOCH_DAYS;
}

/* The inverse, for the years 1677 to 2262. */
static struct date days_date(int64_t days)
{
    int64_t shifted = days + EPOCH_DAYS;
    int64_t era = shifted / ERA_DAYS;
    int64_t day_of_era = shifted - era * ERA_DAYS;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    struct date date = {
        .year = year_of_era + era * ERA_YEARS + (month >= 10 ? 1 : 0),
        .month = (unsigned)(month < 10 ? month + 3 : month - 9),
        .day = (unsigned)(day_of_year - (153 * month + 2) / 5 + 1),
    };
    return date;
}

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
    int64_t second_of_day = (seconds % DAY_SECONDS + DAY_SECONDS) % DAY_SECONDS;
    struct date date = days_date((seconds - second_of_day) / DAY_SECONDS);
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

static bool date_exists(struct date date)
{
    static const unsigned char month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (date.month < 1 || date.month > 12 || date.day < 1)
        return false;
    bool is_leap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0);
    unsigned extra = is_leap && date.month == 2 ? 1 : 0;
    return date.day <= month_days[date.month - 1] + extra;
}

static bool take_date(const char **at, const char *end, int64_t *ret_days)
{
    struct date date;
    unsigned year;
    if (!take_number(at, end, 4, '-', &year) || !take_number(at, end, 2, '-', &date.month) ||
        !take_number(at, end, 2, 'T', &date.day))
        return false;
    date.year = (int64_t)year;
    if (!date_exists(date))
        return false;
    *ret_days = date_days(date);
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
    return culex__nanos_make(days * DAY_SECONDS + second - offset, nanos, ret_time);
}
