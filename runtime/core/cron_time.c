#include "core/cron_time.h"

#include "core/date.h"

/* Everything here is in seconds; local ones count as if they were of UTC. */
enum { DAY_MINUTES = 1440 };

#define INSTANT_MAX_S (INT64_MAX / 1000000000)
#define HORIZON_S     (INT64_C(366) * CULEX_DAY_SECONDS * CULEX_CRON_YEARS)

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool has_day(const struct culex__cron *cron, int64_t day)
{
    struct culex__date date = culex__days_date(day);
    return culex__cron_has_day(cron, date.month, date.day, culex__days_weekday(day));
}

static bool has_month(const struct culex__cron *cron, struct culex__date date)
{
    return (cron->sets[CULEX_CRON_MONTH] >> date.month & 1) != 0;
}

/* The next day, or the first one of the next month. */
static int64_t day_after(const struct culex__cron *cron, int64_t day)
{
    struct culex__date date = culex__days_date(day);
    return has_month(cron, date) ? day + 1
                                 : day + culex__month_days(date.year, date.month) - date.day + 1;
}

/* The day before, or the last one of the month before. */
static int64_t day_before(const struct culex__cron *cron, int64_t day)
{
    struct culex__date date = culex__days_date(day);
    return has_month(cron, date) ? day - 1 : day - date.day;
}

/* The first local minute that is meant, from `from` on and before `end`. */
static bool local_next(const struct culex__cron *cron, int64_t from, int64_t end,
                       int64_t *ret_local)
{
    int64_t minute = culex__floor_div(from + 59, 60);
    int64_t day = culex__floor_div(minute, DAY_MINUTES);
    int first = (int)(minute - day * DAY_MINUTES);
    for (; day * CULEX_DAY_SECONDS < end; day = day_after(cron, day), first = 0) {
        int found = has_day(cron, day) ? culex__cron_minute_between(cron, first, DAY_MINUTES) : -1;
        *ret_local = day * CULEX_DAY_SECONDS + found * 60;
        if (found >= 0)
            return *ret_local < end;
    }
    return false;
}

/* The last local minute that is meant, from `begin` on and up to `upto`. */
static bool local_last(const struct culex__cron *cron, int64_t begin, int64_t upto,
                       int64_t *ret_local)
{
    int64_t minute = culex__floor_div(upto, 60);
    int64_t day = culex__floor_div(minute, DAY_MINUTES);
    int last = (int)(minute - day * DAY_MINUTES);
    for (; (day + 1) * CULEX_DAY_SECONDS > begin;
         day = day_before(cron, day), last = DAY_MINUTES - 1) {
        int found = has_day(cron, day) ? culex__cron_minute_before(cron, last) : -1;
        *ret_local = day * CULEX_DAY_SECONDS + found * 60;
        if (found >= 0)
            return *ret_local >= begin;
    }
    return false;
}

/* The latest local time that the zone's clock has shown until `at`, that second included. Only
 * moves of the last two days matter, for no clock is further behind another one. */
static int64_t local_reached(const struct culex__zone *zone, int64_t at)
{
    enum { APART_MAX = CULEX_ZONE_OFFSET_MAX - CULEX_ZONE_OFFSET_MIN };
    struct culex__zone_span span = culex__zone_span_at(zone, at);
    int64_t reached = at + span.offset_s;
    while (span.from_s > at - APART_MAX) {
        int64_t moved = span.from_s;
        span = culex__zone_span_at(zone, moved - 1);
        reached = larger(reached, moved - 1 + span.offset_s);
    }
    return reached;
}

/* The first instant at which the zone's clock shows `local` or later. */
static int64_t instant_of(const struct culex__zone *zone, int64_t local)
{
    int64_t at = local - CULEX_ZONE_OFFSET_MAX;
    struct culex__zone_span span = culex__zone_span_at(zone, at);
    while (larger(at, local - span.offset_s) >= span.until_s) {
        at = span.until_s;
        span = culex__zone_span_at(zone, at);
    }
    return larger(at, local - span.offset_s);
}

/* Of times of the day: each that was reached has fired. */
static bool time_next(const struct culex__cron *cron, const struct culex__zone *zone, int64_t after,
                      int64_t *ret_at)
{
    int64_t local, reached = local_reached(zone, after);
    if (!local_next(cron, reached + 1, reached + HORIZON_S, &local))
        return false;
    *ret_at = instant_of(zone, local);
    return true;
}

static bool time_last(const struct culex__cron *cron, const struct culex__zone *zone, int64_t upto,
                      int64_t *ret_at)
{
    int64_t local, reached = local_reached(zone, upto);
    if (!local_last(cron, reached - HORIZON_S, reached, &local))
        return false;
    *ret_at = instant_of(zone, local);
    return true;
}

/* Of the running clock: span by span, for within one nothing is skipped or comes twice. */
static bool running_next(const struct culex__cron *cron, const struct culex__zone *zone,
                         int64_t after, int64_t *ret_at)
{
    int64_t local, until = after + HORIZON_S;
    for (int64_t from = after + 1; from < until;) {
        struct culex__zone_span span = culex__zone_span_at(zone, from);
        int64_t end = smaller(span.until_s, until);
        if (local_next(cron, from + span.offset_s, end + span.offset_s, &local)) {
            *ret_at = local - span.offset_s;
            return true;
        }
        from = end;
    }
    return false;
}

static bool running_last(const struct culex__cron *cron, const struct culex__zone *zone,
                         int64_t upto, int64_t *ret_at)
{
    int64_t local, begin = upto - HORIZON_S;
    for (int64_t at = upto; at >= begin;) {
        struct culex__zone_span span = culex__zone_span_at(zone, at);
        int64_t from = larger(span.from_s, begin);
        if (local_last(cron, from + span.offset_s, at + span.offset_s, &local)) {
            *ret_at = local - span.offset_s;
            return true;
        }
        at = from - 1;
    }
    return false;
}

static bool is_instant(int64_t seconds)
{
    return seconds >= -INSTANT_MAX_S && seconds < INSTANT_MAX_S;
}

bool culex__cron_time_next(const struct culex__cron *cron, const struct culex__zone *zone,
                           int64_t after_ms, int64_t *ret_ms)
{
    int64_t at = 0, after = culex__floor_div(after_ms, 1000);
    bool is_found =
        is_instant(after) && (culex__cron_follows_clock(cron) ? running_next(cron, zone, after, &at)
                                                              : time_next(cron, zone, after, &at));
    if (is_found)
        *ret_ms = at * 1000;
    return is_found;
}

bool culex__cron_time_last(const struct culex__cron *cron, const struct culex__zone *zone,
                           int64_t upto_ms, int64_t *ret_ms)
{
    int64_t at = 0, upto = culex__floor_div(upto_ms, 1000);
    bool is_found =
        is_instant(upto) && (culex__cron_follows_clock(cron) ? running_last(cron, zone, upto, &at)
                                                             : time_last(cron, zone, upto, &at));
    if (is_found)
        *ret_ms = at * 1000;
    return is_found;
}
