/* core/cron_time.h - when a cron text fires in a time zone.
 *
 * It chooses minutes of the zone's local time. Where no clock is moved, each of them is one
 * instant. Where one is, two kinds of schedules differ:
 *
 *  - One that means times of the day (some hours are not chosen) fires at each of its times once:
 * at the first instant at which the zone's clock has reached it. A time that is skipped is reached
 * by the end of the gap, and several of one gap fire there once, together with that of the gap's
 * end. A time that comes twice fires when it comes first. A day that a zone leaves out
 * (Pacific/Apia, 2011-12-30) is a gap like any other.
 *
 *  - One that follows the running clock (every hour is chosen: `*`, 0-23, or all of them in any
 * other way) fires at each real minute that the clock shows and the text means: at none in place of
 * a gap, and in both passes of an overlap.
 *
 * Instants are ms since 1970-01-01 in UTC. All is computed by days of the calendar: of up to
 * CULEX_CRON_YEARS years, and of these only the months that are chosen. 29 February may be 8 years
 * away (2096 to 2104), and no text is rarer, for a day of the month and a weekday do not narrow
 * each other; so twice as many are looked through, should a zone leave that day out. */
#ifndef CULEX_CORE_CRON_TIME_H
#define CULEX_CORE_CRON_TIME_H

#include "core/cron.h"
#include "core/zone.h"

enum { CULEX_CRON_YEARS = 16 };

/* The first time it fires after `after_ms`. False when there is none within CULEX_CRON_YEARS, and
 * for instants that a culex_time cannot hold (the years 1677 to 2262). */
bool culex__cron_time_next(const struct culex__cron *cron, const struct culex__zone *zone,
                           int64_t after_ms, int64_t *ret_ms);

/* The last time it fired, `upto_ms` included. False as above. */
bool culex__cron_time_last(const struct culex__cron *cron, const struct culex__zone *zone,
                           int64_t upto_ms, int64_t *ret_ms);

#endif
