/* check_schedule.c - when periodic jobs run. */
#include <string.h>

#include "base/zone_name.h"
#include "checker.h"
#include "core/cron.h"
#include "core/cron_time.h"
#include "duration.h"
#include "limits.h"
#include "zone.h"

enum { SAMPLE_TICKS = 200, LEAST_MS = 60000 };

/* -1 for what cannot be read, which is reported. */
static int64_t duration_of(const struct literal *literal)
{
    return literal->kind == LITERAL_DURATION ? literal->duration_ns : -1;
}

static bool name_is(const struct ast_name *name, const char *word)
{
    return name->text != NULL && strcmp(name->text, word) == 0;
}

/* `least_ns` is the shortest time between two ticks; -1 when it is not known. */
static void check_spread(struct checker *checker, const struct ast_spread *spread, int64_t least_ns,
                         struct ir_spread *ret_made)
{
    bool has_jitter = spread->jitter.kind != LITERAL_NONE;
    if (has_jitter && check_setting_duration(checker, &spread->jitter, 0) && least_ns >= 0 &&
        spread->jitter.duration_ns >= least_ns)
        diag_report(checker->sink, DIAG_OUT_OF_RANGE, spread->jitter.span,
                    "the jitter must be shorter than the time between two ticks, %s",
                    duration_format(checker->arena, least_ns));
    ret_made->jitter_ns = has_jitter ? duration_of(&spread->jitter) : 0;
    ret_made->may_overlap = name_is(&spread->overlap, "allow");
}

void check_every(struct setting_check *check, const struct ast_setting *setting)
{
    const struct ast_every *every = &setting->every;
    struct ir_every *made = arena_alloc(check->checker->arena, sizeof(*made));
    bool is_good = check_setting_duration(check->checker, &every->interval, NS_PER_MS);
    made->interval_ns = duration_of(&every->interval);
    check_spread(check->checker, &every->spread, is_good ? made->interval_ns : -1, &made->spread);
    check->settings->every = made;
}

static bool is_zone(const struct literal *literal)
{
    return culex__zone_name_is_good(literal->text, literal->len);
}

static void report_unknown_zone(struct checker *checker, const struct literal *zone)
{
    struct suggestion near = suggestion_start(zone->text);
    struct span inside = {zone->span.source, zone->span.offset + 1, zone->span.length - 2};
    diag_report(checker->sink, DIAG_UNKNOWN_TIME_ZONE, zone->span,
                "this machine's tz database has no zone '%s'", zone->text);
    if (checker->sink->current != NULL) /* Offering names reads the whole database. */
        zone_suggest(checker->arena, &near);
    near.is_doubtful = true; /* A newer database may know the name. */
    diag_suggest(checker->sink, inside, &near);
    if (near.best == NULL)
        diag_help(checker->sink, "names are as \"Europe/Rome\"; should it be a new one, install a "
                                 "newer database, or name its folder in TZDIR");
}

static void report_no_database(struct checker *checker, const struct literal *zone)
{
    diag_report(checker->sink, DIAG_NO_TZ_DATABASE, zone->span,
                "zone '%s' is not looked up: this machine has no tz database", zone->text);
    diag_help(checker->sink, "install one (package tzdata), or name its folder in TZDIR");
}

static void report_unfit_zone(struct checker *checker, const struct literal *zone,
                              const char *fault)
{
    diag_report(checker->sink, DIAG_BAD_TIME_ZONE, zone->span,
                "no job can go by the time zone '%s': %s", zone->text, fault);
    diag_help(checker->sink, "names look like \"Europe/Rome\" or \"UTC\"");
}

static void check_zone(struct checker *checker, const struct literal *zone)
{
    if (!is_zone(zone)) {
        diag_report(checker->sink, DIAG_BAD_TIME_ZONE, zone->span,
                    "this is not the name of a time zone");
        diag_help(checker->sink, "names look like \"Europe/Rome\" or \"UTC\"");
        return;
    }
    const char *fault = NULL;
    enum zone_state state = zone_find(zone->text, &fault);
    if (state == ZONE_UNFIT)
        report_unfit_zone(checker, zone, fault);
    else if (state == ZONE_UNKNOWN)
        report_unknown_zone(checker, zone);
    else if (state == ZONE_NO_DATABASE)
        report_no_database(checker, zone);
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

/* Among the ticks of some years, the clocks of which are never moved; -1 when there are none. */
static int64_t least_distance_ns(const struct culex__cron *cron)
{
    const int64_t from_ms = INT64_C(1767225600000); /* 2026 */
    struct culex__zone utc = {0};
    int64_t least_ms = -1, last_ms, next_ms;
    if (!culex__cron_time_next(cron, &utc, from_ms, &last_ms))
        return -1;
    for (int i = 0; i < SAMPLE_TICKS && least_ms != LEAST_MS &&
                    culex__cron_time_next(cron, &utc, last_ms, &next_ms);
         i++) {
        if (least_ms < 0 || next_ms - last_ms < least_ms)
            least_ms = next_ms - last_ms;
        last_ms = next_ms;
    }
    return least_ms < 0 ? -1 : least_ms * NS_PER_MS;
}

/* False when the text means nothing. */
static bool check_times(struct checker *checker, const struct ast_cron *ast,
                        struct culex__cron *ret_cron)
{
    struct culex__cron cron;
    bool has_text = ast->fields.kind == LITERAL_STRING;
    const char *fault = has_text ? culex__cron_read(ast->fields.text, &cron) : NULL;
    struct span span = ast->fields.span;
    if (fault != NULL)
        diag_report(checker->sink, DIAG_BAD_CRON, span, "%s", fault);
    if (fault != NULL || !has_text)
        return false;
    if (culex__cron_never_fires(&cron))
        diag_report(checker->sink, DIAG_CRON_NEVER, span,
                    "no day of any year is meant by this, so it would never run");
    if (culex__cron_has_either_day(&cron))
        diag_report(checker->sink, DIAG_CRON_EITHER_DAY, span,
                    "this runs on the days of the month and on the weekdays as well");
    if (ast->zone.kind == LITERAL_STRING)
        check_dst(checker, &cron, &ast->zone);
    *ret_cron = cron;
    return true;
}

/* Ticks that are made up for one after the other are due at once, so they lie beside each other. */
static void check_missed(struct checker *checker, const struct ast_cron *cron,
                         struct ir_spread *spread)
{
    if (!name_is(&cron->missed, "all"))
        return;
    if (cron->spread.overlap.text != NULL && !spread->may_overlap)
        diag_report(checker->sink, DIAG_OVERLAP_CONFLICT, cron->spread.overlap.span,
                    "'missed all' starts every missed run at once, which 'overlap skip' forbids");
    spread->may_overlap = true;
}

void check_cron(struct setting_check *check, const struct ast_setting *setting)
{
    struct culex__cron times;
    const struct ast_cron *cron = &setting->cron;
    struct ir_cron *made = arena_alloc(check->checker->arena, sizeof(*made));
    if (cron->zone.kind == LITERAL_STRING)
        check_zone(check->checker, &cron->zone);
    bool is_good = check_times(check->checker, cron, &times);
    bool has_jitter = cron->spread.jitter.kind != LITERAL_NONE;
    check_spread(check->checker, &cron->spread,
                 is_good && has_jitter ? least_distance_ns(&times) : -1, &made->spread);
    check_missed(check->checker, cron, &made->spread);
    made->fields = cron->fields.text;
    made->zone = cron->zone.text;
    made->missed = cron->missed.text != NULL ? cron->missed.text : "once";
    check->settings->cron = made;
}
