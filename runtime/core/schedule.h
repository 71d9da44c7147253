/* core/schedule.h - when a periodic job is due, by the store's clock. */
#ifndef CULEX_CORE_SCHEDULE_H
#define CULEX_CORE_SCHEDULE_H

#include <stdint.h>

#include <culex/job.h>

#include "core/cron.h"
#include "core/zone.h"

enum {
    CULEX_MISSED_SKIP_MS = 60000, /* CULEX_MISSED_SKIP: so old a tick is gone */
    CULEX_MISSED_ALL_MAX = 100    /* CULEX_MISSED_ALL: so many of the newest are made up for */
};

/* Of a job, ready to be asked. The bytes of its zone stay with whoever has read them. */
struct culex__schedule {
    int64_t every_ms; /* 0: by the calendar */
    struct culex__cron cron;
    struct culex__zone zone;
    culex_missed missed;
};

/* When to ask the store for a run next, and how far the tick after that is away. */
struct culex__tick_plan {
    int64_t tick_ms;     /* INT64_MAX: never */
    int64_t interval_ms; /* 1 or more */
};

/* `mark_ms` is the newest tick that was taken. It is due when it is at most `now_ms`. A mark that
 * is after now, because the clock was set back, hides no tick of the calendar that is to come. */
struct culex__tick_plan culex__schedule_plan(const struct culex__schedule *schedule,
                                             int64_t mark_ms, int64_t now_ms);

/* The tick to go for next, ms: of the grid mark + k * interval (k >= 1) the newest one that is
 * not after `now_ms`, so that ticks missed in a pause count once; without such a one,
 * mark + interval. It is due when it is at most `now_ms`. An interval below 1 counts as 1;
 * the result saturates at INT64_MAX. */
int64_t culex__schedule_next_tick(int64_t mark_ms, int64_t interval_ms, int64_t now_ms);

#endif
