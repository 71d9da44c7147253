#include "core/schedule.h"

#include "core/cron_time.h"

int64_t culex__schedule_next_tick(int64_t mark_ms, int64_t interval_ms, int64_t now_ms)
{
    if (interval_ms < 1)
        interval_ms = 1;
    if (mark_ms > INT64_MAX - interval_ms)
        return INT64_MAX;
    int64_t next_ms = mark_ms + interval_ms;
    if (now_ms < next_ms)
        return next_ms;
    /* Unsigned, because now - next may pass INT64_MAX when the mark is far in the past. */
    uint64_t behind = (uint64_t)now_ms - (uint64_t)next_ms;
    uint64_t skipped = behind - behind % (uint64_t)interval_ms;
    return (int64_t)((uint64_t)next_ms + skipped);
}

static int64_t next_ms(const struct culex__schedule *schedule, int64_t after_ms)
{
    int64_t ms;
    return culex__cron_time_next(&schedule->cron, &schedule->zone, after_ms, &ms) ? ms : INT64_MAX;
}

/* The oldest of the missed ticks that are made up for, of which `last_ms` is the newest. */
static int64_t missed_first(const struct culex__schedule *schedule, int64_t mark_ms,
                            int64_t last_ms)
{
    int64_t first_ms = last_ms, before_ms;
    for (int count = 1; count < CULEX_MISSED_ALL_MAX; count++, first_ms = before_ms) {
        if (!culex__cron_time_last(&schedule->cron, &schedule->zone, first_ms - 1, &before_ms) ||
            before_ms <= mark_ms)
            break;
    }
    return first_ms;
}

static int64_t calendar_tick(const struct culex__schedule *schedule, int64_t mark_ms,
                             int64_t now_ms)
{
    int64_t last_ms;
    bool is_due = culex__cron_time_last(&schedule->cron, &schedule->zone, now_ms, &last_ms) &&
                  last_ms > mark_ms;
    if (is_due && schedule->missed == CULEX_MISSED_ALL)
        return missed_first(schedule, mark_ms, last_ms);
    if (is_due && schedule->missed == CULEX_MISSED_SKIP)
        is_due = now_ms - last_ms < CULEX_MISSED_SKIP_MS;
    return is_due ? last_ms : next_ms(schedule, now_ms);
}

struct culex__tick_plan culex__schedule_plan(const struct culex__schedule *schedule,
                                             int64_t mark_ms, int64_t now_ms)
{
    if (schedule->every_ms > 0)
        return (struct culex__tick_plan){
            culex__schedule_next_tick(mark_ms, schedule->every_ms, now_ms), schedule->every_ms};
    int64_t tick_ms = calendar_tick(schedule, mark_ms, now_ms);
    if (tick_ms == INT64_MAX)
        return (struct culex__tick_plan){INT64_MAX, 1};
    int64_t after_ms = next_ms(schedule, tick_ms);
    return (struct culex__tick_plan){tick_ms, after_ms == INT64_MAX ? 1 : after_ms - tick_ms};
}
