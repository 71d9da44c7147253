/* cron.h - the five fields of a cron text: minute hour day month weekday. */
#ifndef CULEXC_CRON_H
#define CULEXC_CRON_H

#include <stdbool.h>
#include <stdint.h>

enum { CRON_MINUTE, CRON_HOUR, CRON_DAY, CRON_MONTH, CRON_WEEKDAY, CRON_FIELDS };

struct cron {
    uint64_t sets[CRON_FIELDS]; /* bit N: N is chosen; Sunday is 0 */
};

/* NULL, or what is wrong with the text. */
const char *cron_read(const char *text, struct cron *ret_cron);

/* No day of any year is chosen. */
bool cron_never_fires(const struct cron *cron);

/* Both a day of the month and a weekday are chosen: either is enough. */
bool cron_has_either_day(const struct cron *cron);

/* The first of the local minutes of a day, from `from` up to `to`, at which it fires; -1: none. */
int cron_minute_between(const struct cron *cron, int from, int to);

#endif
