/* core/date.h - days of the Gregorian calendar, counted from 1970-01-01; also for years before it.
 */
#ifndef CULEX_CORE_DATE_H
#define CULEX_CORE_DATE_H

#include <stdint.h>

enum { CULEX_DAY_SECONDS = 86400 };

struct culex__date {
    int64_t year;
    unsigned month;
    unsigned day;
};

/* The day's number, and the date of a number: for years of up to nine digits. */
int64_t culex__date_days(struct culex__date date);
struct culex__date culex__days_date(int64_t days);

/* How many days a month has. */
unsigned culex__month_days(int64_t year, unsigned month);

/* 0 is Sunday. */
unsigned culex__days_weekday(int64_t days);

/* Rounds down, below 0 too. `divisor` is above 0. */
static inline int64_t culex__floor_div(int64_t value, int64_t divisor)
{
    return value / divisor - (value % divisor < 0);
}

#endif
