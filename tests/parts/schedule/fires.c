/* fires - prints when cron texts fire, for fires_test.py to compare:
 *
 *     PROGRAM <QUESTIONS
 *
 * A question is a line "FROM UNTIL ZONE FIELDS", the times in minutes since 1970-01-01 in UTC, FROM
 * included. The answer is a line of minutes. Each is asked for backwards too. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/cron_time.h"
#include "platform/zone_file.h"

enum { MINUTE_MS = 60000 };

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fires: %s\n", what);
        exit(1);
    }
}

/* Between two fires there is none, when looked for from behind either. */
static void last_check(const struct culex__cron *cron, const struct culex__zone *zone,
                       int64_t before_ms, int64_t at_ms)
{
    int64_t last_ms = 0;
    require(culex__cron_time_last(cron, zone, at_ms, &last_ms) && last_ms == at_ms,
            "a fire is not its own last one");
    require(culex__cron_time_last(cron, zone, at_ms - 1, &last_ms) && last_ms == before_ms,
            "the last one before a fire is another");
}

static void answer(const struct culex__cron *cron, const struct culex__zone *zone, int64_t from_ms,
                   int64_t until_ms)
{
    int64_t at_ms, before_ms;
    require(culex__cron_time_last(cron, zone, from_ms - 1, &before_ms), "there is no last fire");
    while (culex__cron_time_next(cron, zone, from_ms - 1, &at_ms) && at_ms < until_ms) {
        require(at_ms % MINUTE_MS == 0, "a fire is not at a minute");
        last_check(cron, zone, before_ms, at_ms);
        printf("%" PRId64 " ", at_ms / MINUTE_MS);
        before_ms = at_ms;
        from_ms = at_ms + 1;
    }
    printf("\n");
}

int main(void)
{
    char name[65], fields[128];
    int64_t from, until;
    while (scanf("%" SCNd64 " %" SCNd64 " %64s %127[^\n]", &from, &until, name, fields) == 4) {
        struct culex__cron cron;
        struct culex__zone zone;
        uint8_t *bytes;
        size_t len;
        culex_error error;
        require(culex__zone_file_read(name, &bytes, &len, &error) == CULEX_OK, name);
        require(culex__zone_read(bytes, len, &zone) == NULL, name);
        require(culex__cron_read(fields, &cron) == NULL, fields);
        answer(&cron, &zone, from * MINUTE_MS, until * MINUTE_MS);
        free(bytes);
    }
    return 0;
}
