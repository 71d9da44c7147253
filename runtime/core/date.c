#include "core/date.h"

#include <stdbool.h>

enum { ERA_YEARS = 400, ERA_DAYS = 146097, EPOCH_DAYS = 719468 };

/* Years count from March here, so that the leap day comes last. */
int64_t culex__date_days(struct culex__date date)
{
    int64_t year = date.month <= 2 ? date.year - 1 : date.year;
    int64_t era = culex__floor_div(year, ERA_YEARS);
    int64_t year_of_era = year - era * ERA_YEARS;
    int64_t month = date.month > 2 ? date.month - 3 : date.month + 9;
    int64_t day_of_year = (153 * month + 2) / 5 + date.day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * ERA_DAYS + day_of_era - EPOCH_DAYS;
}

struct culex__date culex__days_date(int64_t days)
{
    int64_t shifted = days + EPOCH_DAYS;
    int64_t era = culex__floor_div(shifted, ERA_DAYS);
    int64_t day_of_era = shifted - era * ERA_DAYS;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    struct culex__date date = {
        .year = year_of_era + era * ERA_YEARS + (month >= 10 ? 1 : 0),
        .month = (unsigned)(month < 10 ? month + 3 : month - 9),
        .day = (unsigned)(day_of_year - (153 * month + 2) / 5 + 1),
    };
    return date;
}

unsigned culex__month_days(int64_t year, unsigned month)
{
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (is_leap && month == 2 ? 1u : 0u);
}

unsigned culex__days_weekday(int64_t days)
{
    int64_t since_sunday = days + 4; /* 1970-01-01 was a Thursday */
    return (unsigned)(since_sunday - 7 * culex__floor_div(since_sunday, 7));
}
