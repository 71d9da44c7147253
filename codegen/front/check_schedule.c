/* check_schedule.c - when periodic jobs run. */
#include <string.h>

#include "base/zone_name.h"
#include "checker.h"
#include "core/cron.h"
#include "limits.h"
#include "zone.h"

/* -1 for what cannot be read, which is reported. */
static int64_t duration_of(const struct literal *literal)
{
    return literal->kind == LITERAL_DURATION ? literal->duration_ns : -1;
}

static void check_tick(struct checker *checker, const struct ast_every *every)
{
    if (!check_setting_duration(checker, &every->interval, NS_PER_MS) ||
        every->jitter.kind == LITERAL_NONE || !check_setting_duration(checker, &every->jitter, 0))
        return;
    if (every->jitter.duration_ns >= every->interval.duration_ns)
        diag_report(checker->sink, DIAG_OUT_OF_RANGE, every->jitter.span,
                    "the jitter must be shorter than the interval");
}

void check_every(struct setting_check *check, const struct ast_setting *setting)
{
    const struct ast_every *every = &setting->every;
    struct ir_every *made = arena_alloc(check->checker->arena, sizeof(*made));
    check_tick(check->checker, every);
    made->interval_ns = duration_of(&every->interval);
    made->jitter_ns = every->jitter.kind == LITERAL_NONE ? 0 : duration_of(&every->jitter);
    check->settings->every = made;
}

static bool is_zone(const struct literal *literal)
{
    return culex__zone_name_is_good(literal->text, literal->len);
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
        if (checker->sink->current != NULL) /* Offering names reads the whole database. */
            zone_suggest(checker->arena, &near);
        near.is_doubtful = true; /* A newer database may know the name. */
        diag_suggest(checker->sink, inside, &near);
    }
}

/* What follows the running clock means no time of the day, so it misses none. */
static void check_dst(struct checker *checker, const struct culex__cron *cron,
                      const struct literal *zone)
{
    static const char *const months[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
    struct zone_change changes[2];
    unsigned count = 0;
    if (!culex__cron_follows_clock(cron) && is_zone(zone))
        count = zone_changes(zone->text, changes);
    for (unsigned i = 0; i < count; i++) {
        const struct zone_change *change = &changes[i];
        int minute = culex__cron_minute_between(cron, change->from, change->to);
        if (minute < 0 || (cron->sets[CULEX_CRON_MONTH] >> change->month & 1) == 0)
            continue;
        diag_report(checker->sink, DIAG_CRON_DST, zone->span,
                    "in %s, %02d:%02d %s on a day in %s: it runs %s", zone->text, minute / 60,
                    minute % 60, change->is_skipped ? "does not exist" : "comes twice",
                    months[change->month - 1],
                    change->is_skipped ? "when the clock has gone on" : "the first time");
    }
}

static void check_times(struct checker *checker, const struct ast_cron *ast)
{
    struct culex__cron cron;
    bool has_text = ast->fields.kind == LITERAL_STRING;
    const char *fault = has_text ? culex__cron_read(ast->fields.text, &cron) : NULL;
    struct span span = ast->fields.span;
    if (fault != NULL)
        diag_report(checker->sink, DIAG_BAD_CRON, span, "%s", fault);
    if (fault != NULL || !has_text)
        return;
    if (culex__cron_never_fires(&cron))
        diag_report(checker->sink, DIAG_CRON_NEVER, span,
                    "no day of any year is meant by this, so it would never run");
    if (culex__cron_has_either_day(&cron))
        diag_report(checker->sink, DIAG_CRON_EITHER_DAY, span,
                    "this runs on the days of the month and on the weekdays as well");
    if (ast->zone.kind == LITERAL_STRING)
        check_dst(checker, &cron, &ast->zone);
}

void check_cron(struct setting_check *check, const struct ast_setting *setting)
{
    const struct ast_cron *cron = &setting->cron;
    struct ir_cron *made = arena_alloc(check->checker->arena, sizeof(*made));
    if (cron->zone.kind == LITERAL_STRING)
        check_zone(check->checker, &cron->zone);
    check_times(check->checker, cron);
    made->fields = cron->fields.text;
    made->zone = cron->zone.text;
    made->missed = cron->missed.text != NULL ? cron->missed.text : "once";
    check->settings->cron = made;
}
