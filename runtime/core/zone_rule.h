/* core/zone_rule.h - the rule at the end of a tz file: what a zone's clocks show in all years to
 * come, as the variable TZ of POSIX says it: "CET-1CEST,M3.5.0,M10.5.0/3", with the hours of RFC
 * 8536, version 3, which may be negative or of other days.
 *
 * Times are seconds since 1970-01-01 in UTC; an offset is what local time is ahead. */
#ifndef CULEX_CORE_ZONE_RULE_H
#define CULEX_CORE_ZONE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No clock is further from UTC (RFC 8536), seconds. */
enum { CULEX_ZONE_OFFSET_MIN = -25 * 3600 + 1, CULEX_ZONE_OFFSET_MAX = 26 * 3600 - 1 };

/* From `from_s` on, and before `until_s`, clocks show the same offset. INT64_MIN: since ever,
 * INT64_MAX: for ever. */
struct culex__zone_span {
    int64_t from_s, until_s;
    int32_t offset_s;
};

/* A day of each year, and a time of it by the clock that is to be moved. */
struct culex__zone_day {
    char form; /* 'M': weekday of a week of a month, 'J': 1 to 365, no leap day, 'N': 0 to 365 */
    unsigned week; /* 1 to 5, which is the last one */
    unsigned month;
    unsigned day; /* with 'M' the weekday, Sunday is 0 */
    int32_t time_s;
};

/* All 0 is UTC. */
struct culex__zone_rule {
    int32_t standard_s;
    bool has_summer;
    int32_t summer_s; /* may be below standard_s */
    struct culex__zone_day start, end;
};

/* False for a text that is no such rule. One that has a summer time says when it is. */
bool culex__zone_rule_read(const char *text, size_t len, struct culex__zone_rule *ret_rule);

/* The span that `at_s` lies in. Before the year 1 and after 9999 there is no summer. */
struct culex__zone_span culex__zone_rule_span_at(const struct culex__zone_rule *rule, int64_t at_s);

#endif
