/* store/sqlite/clock.h - the time of one operation: when it began, and how long it may take. */
#ifndef CULEX_STORE_SQLITE_CLOCK_H
#define CULEX_STORE_SQLITE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct culex_sqlite;

/* Begins an operation: sets store->now_ms, by the store's clock, and its deadline. */
void culex__sqlite_clock_start(struct culex_sqlite *store);

/* Sets store->now_ms again, when a lock has been waited for: the time of a transaction is never
 * before that of one that had the lock before it, unless the clock was set back meanwhile. */
void culex__sqlite_clock_read(struct culex_sqlite *store);

/* Sleeps a little, longer from try to try; false when the operation's time is over. */
bool culex__sqlite_clock_pause(struct culex_sqlite *store, int tries);

/* Saturating, for times that come from outside. */
static inline int64_t culex__sqlite_later(int64_t at_ms, int64_t delay_ms)
{
    if (delay_ms <= 0)
        return at_ms;
    return at_ms > INT64_MAX / 4 - delay_ms || delay_ms > INT64_MAX / 4 ? INT64_MAX / 4
                                                                        : at_ms + delay_ms;
}

#endif
