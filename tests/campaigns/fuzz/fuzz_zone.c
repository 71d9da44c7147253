/* fuzz_zone - any bytes as a file of the tz database: refused, or a zone whose spans lie side by
 * side for all time, and in which cron texts fire in order, forwards and backwards alike. */
#include <stdlib.h>

#include "core/cron_time.h"
#include "fuzz.h"

enum { STEPS = 8 };

unsigned fuzz_taken;

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void spans_check(const struct culex__zone *zone, int64_t at_s)
{
    struct culex__zone_span span = culex__zone_span_at(zone, at_s);
    for (int step = 0; step < STEPS; step++) {
        require(span.from_s <= at_s && at_s < span.until_s);
        require(span.offset_s >= CULEX_ZONE_OFFSET_MIN && span.offset_s <= CULEX_ZONE_OFFSET_MAX);
        if (span.until_s == INT64_MAX)
            return;
        struct culex__zone_span next = culex__zone_span_at(zone, span.until_s);
        require(next.from_s == span.until_s);
        at_s = span.until_s;
        span = next;
    }
}

static void fires_check(const struct culex__zone *zone, const char *fields, int64_t at_ms)
{
    struct culex__cron cron;
    int64_t next_ms, last_ms;
    require(culex__cron_read(fields, &cron) == NULL);
    for (int step = 0; step < STEPS; step++) {
        if (!culex__cron_time_next(&cron, zone, at_ms, &next_ms))
            return;
        require(next_ms > at_ms);
        require(culex__cron_time_last(&cron, zone, next_ms, &last_ms) && last_ms == next_ms);
        require(!culex__cron_time_last(&cron, zone, next_ms - 1, &last_ms) || last_ms <= at_ms ||
                step == 0);
        at_ms = next_ms;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t instants_s[] = {INT64_MIN, -62135596801, -1, 1325239200, 253402300799};
    static const char *const texts[] = {"30 2 * * *", "45 * 28-31 * *", "@yearly"};
    struct culex__zone zone;
    if (culex__zone_read(data, size, &zone) != NULL)
        return 0;
    fuzz_taken++;
    for (size_t i = 0; i < sizeof instants_s / sizeof instants_s[0]; i++)
        spans_check(&zone, instants_s[i]);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        fires_check(&zone, texts[i], INT64_C(1325239200000));
    return 0;
}
