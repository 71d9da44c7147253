/* check_schedule.c - when periodic jobs run. */
#include <string.h>

#include "checker.h"
#include "cron.h"
#include "limits.h"
#include "zone.h"

void check_every(struct checker *checker, const struct ast_setting *setting)
{
    if (!check_setting_duration(checker, &setting->value, NS_PER_MS) ||
        setting->extra.kind == LITERAL_NONE || !check_setting_duration(checker, &setting->extra, 0))
        return;
    if (setting->extra.duration_ns >= setting->value.duration_ns)
        diag_report(checker->sink, DIAG_OUT_OF_RANGE, setting->extra.span,
                    "the jitter must be shorter than the interval");
}

/* Names as in the tz database. */
static bool is_zone(const struct literal *literal)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/";
    return literal->len > 0 && literal->len <= LIMIT_NAME_BYTES &&
           strspn(literal->text, allowed) == literal->len && literal->text[0] != '/' &&
           literal->text[literal->len - 1] != '/' && strstr(literal->text, "//") == NULL;
}

static void check_zone(struct checker *checker, const struct literal *zone)
{
    if (!is_zone(zone)) {
        diag_report(checker->sink, DIAG_BAD_TIME_ZONE, zone->span,
                    "this is not the name of a time zone");
        diag_help(checker->sink, "names look like \"Europe/Rome\" or \"UTC\"");
    } else if (zone_find(zone->text) == ZONE_UNKNOWN) {
        struct suggestion near = suggestion_start(zone->text);
        struct span inside = {zone->span.source, zone->span.offset + 1, zone->span.length - 2};
        diag_report(checker->sink, DIAG_UNKNOWN_TIME_ZONE, zone->span,
                    "this machine's tz database has no zone '%s'", zone->text);
        if (checker->sink->current != NULL) /* It reads the whole database. */
            zone_suggest(checker->arena, &near);
        near.is_doubtful = true; /* There are newer databases than this one. */
        diag_suggest(checker->sink, inside, &near);
    }
}

/* A job of every hour loses or gains one run of many: nothing to speak of. */
static void check_dst(struct checker *checker, const struct cron *cron, const struct literal *zone)
{
    static const char *const months[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
    struct zone_change changes[2];
    unsigned count = 0;
    bool is_hourly = cron->sets[CRON_HOUR] == (UINT64_C(1) << 24) - 1;
    if (!is_hourly && is_zone(zone))
        count = zone_changes(zone->text, changes);
    for (unsigned i = 0; i < count; i++) {
        const struct zone_change *change = &changes[i];
        int minute = cron_minute_between(cron, change->from, change->to);
        if (minute < 0 || (cron->sets[CRON_MONTH] >> change->month & 1) == 0)
            continue;
        diag_report(checker->sink, DIAG_CRON_DST, zone->span, "in %s, %02d:%02d %s on a day in %s",
                    zone->text, minute / 60, minute % 60,
                    change->is_skipped ? "does not exist" : "comes twice",
                    months[change->month - 1]);
    }
}

void check_cron(struct checker *checker, const struct ast_setting *setting)
{
    struct cron cron;
    bool has_text = setting->value.kind == LITERAL_STRING;
    const char *fault = has_text ? cron_read(setting->value.text, &cron) : NULL;
    struct span span = setting->value.span;
    if (setting->extra.kind == LITERAL_STRING)
        check_zone(checker, &setting->extra);
    if (fault != NULL)
        diag_report(checker->sink, DIAG_BAD_CRON, span, "%s", fault);
    if (fault != NULL || !has_text)
        return;
    if (cron_never_fires(&cron))
        diag_report(checker->sink, DIAG_CRON_NEVER, span,
                    "no day of any year is meant by this, so it would never run");
    if (cron_has_either_day(&cron))
        diag_report(checker->sink, DIAG_CRON_EITHER_DAY, span,
                    "this runs on the days of the month and on the weekdays as well");
    if (setting->extra.kind == LITERAL_STRING)
        check_dst(checker, &cron, &setting->extra);
}
