#include "core/schedule.h"

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
