/* core/cron.h - the five fields of a cron text: minute hour day month weekday.
 *
 * A field is a list, with commas, of `*`, a value or a range a-b, each maybe with /step; a single
 * value with a step goes on to the end of the field. Months and weekdays have names of three
 * letters, in either case; Sunday is 0 and 7. @hourly @daily @midnight @weekly @monthly @yearly and
 * @annually stand for five fields. When it fires in a time zone, core/cron_time.h says. */
#ifndef CULEX_CORE_CRON_H
#define CULEX_CORE_CRON_H

#include <stdbool.h>
#include <stdint.h>

enum { CULEX_CRON_TEXT_MAX = 255 /* bytes */ };

enum {
    CULEX_CRON_MINUTE,
    CULEX_CRON_HOUR,
    CULEX_CRON_DAY,
    CULEX_CRON_MONTH,
    CULEX_CRON_WEEKDAY,
    CULEX_CRON_FIELDS
};

struct culex__cron {
    uint64_t sets[CULEX_CRON_FIELDS]; /* bit N: N is chosen; Sunday is 0 */
};

/* NULL, or what is wrong with the text. */
const char *culex__cron_read(const char *text, struct culex__cron *ret_cron);

/* No day of any year is chosen. 29 February is a day of some year. */
bool culex__cron_never_fires(const struct culex__cron *cron);

/* Both a day of the month and a weekday are chosen, so that either is enough. A field of which
 * every value is chosen chooses nothing, however it is written. */
bool culex__cron_has_either_day(const struct culex__cron *cron);

/* Every hour is chosen: it goes with the running clock, and does not mean times of the day. */
bool culex__cron_follows_clock(const struct culex__cron *cron);

/* A day of the calendar is chosen. */
bool culex__cron_has_day(const struct culex__cron *cron, unsigned month, unsigned day,
                         unsigned weekday);

/* The first of the local minutes of a day, from `from` up to `to`, at which it fires; -1: none.
 * They may be below 0 or beyond a day. */
int culex__cron_minute_between(const struct culex__cron *cron, int from, int to);

/* The last minute of a day that is not after `upto`, which is below 1440; -1: none. */
int culex__cron_minute_before(const struct culex__cron *cron, int upto);

#endif
