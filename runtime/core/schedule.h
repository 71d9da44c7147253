/* core/schedule.h - when a periodic job is due. Pure arithmetic on the store's clock. */
#ifndef CULEX_CORE_SCHEDULE_H
#define CULEX_CORE_SCHEDULE_H

#include <stdint.h>

/* The tick to go for next, ms: of the grid mark + k * interval (k >= 1) the newest one that is
 * not after `now_ms`, so that ticks missed in a pause count once; without such a one,
 * mark + interval. It is due when it is at most `now_ms`. An interval below 1 counts as 1;
 * the result saturates at INT64_MAX. */
int64_t culex__schedule_next_tick(int64_t mark_ms, int64_t interval_ms, int64_t now_ms);

#endif
