/* check_sense.c - settings of one job that contradict each other, though each of them is valid. */
#include <stdlib.h>
#include <string.h>

#include "checker.h"
#include "duration.h"

static const char *text_of(struct checker *checker, int64_t ns)
{
    return duration_format(checker->arena, ns);
}

static bool holds_while(const struct ir_unique *unique, const char *state)
{
    const struct ast_names *at = unique->states;
    while (at != NULL && strcmp(at->name.text, state) != 0)
        at = at->next;
    return at != NULL;
}

static bool replaces(const struct ir_unique *unique)
{
    return strcmp(unique->on_conflict, "replace") == 0;
}

/* Only a waiting run may stay as it is for ever; one that is replaced is at least the newest. */
static void check_unbounded(struct checker *checker, const struct ir_settings *settings)
{
    const struct ast_setting *setting = settings->set[SETTING_UNIQUE];
    bool is_periodic = settings->set[SETTING_EVERY] != NULL || settings->set[SETTING_CRON] != NULL;
    if (settings->unique->for_ns >= 0 || settings->expires_ns >= 0 || is_periodic ||
        replaces(settings->unique) || !holds_while(settings->unique, "waiting"))
        return;
    diag_report(checker->sink, DIAG_UNIQUE_UNBOUNDED, setting->span,
                "one run that nobody works on keeps out all others for ever");
    diag_help(checker->sink, "add 'for DURATION' here, or 'expires' to the job");
}

static void check_replace(struct checker *checker, const struct ir_settings *settings)
{
    const struct ir_unique *unique = settings->unique;
    bool is_kept_by_active = unique->states == NULL || holds_while(unique, "active");
    if (!replaces(unique) || !is_kept_by_active)
        return;
    diag_report(checker->sink, DIAG_UNIQUE_REPLACE_ACTIVE,
                settings->set[SETTING_UNIQUE]->unique.on_conflict.span,
                "a run that was begun is not replaced, and keeps out what comes after it");
    diag_help(checker->sink, "add 'while (scheduled, waiting)', so that a run takes its key no "
                             "further than to its start");
}

static void check_uniqueness(struct checker *checker, const struct ir_settings *settings)
{
    if (settings->set[SETTING_UNIQUE] == NULL)
        return;
    check_unbounded(checker, settings);
    check_replace(checker, settings);
}

static void check_overlap(struct checker *checker, const struct ir_settings *settings)
{
    const struct ast_setting *every = settings->set[SETTING_EVERY];
    bool is_guarded =
        settings->set[SETTING_UNIQUE] != NULL || settings->set[SETTING_CONCURRENCY] != NULL;
    if (every == NULL || is_guarded || settings->every->interval_ns < 0 ||
        every->every.spread.overlap.text != NULL ||
        settings->timeout_ns <= settings->every->interval_ns)
        return;
    diag_report(checker->sink, DIAG_PERIODIC_OVERLAP, every->span,
                "a run may take %s, and the tick after %s is left out while it does",
                text_of(checker, settings->timeout_ns),
                text_of(checker, settings->every->interval_ns));
    diag_note(checker->sink, settings->set[SETTING_TIMEOUT]->span, "'timeout' is set here");
}

static void check_result(struct checker *checker, const struct ir_job *job)
{
    const struct ast_setting *keep = job->settings.set[SETTING_KEEP];
    if (job->result == NULL || keep == NULL || job->settings.keep_success_ns != 0)
        return;
    diag_report(checker->sink, DIAG_RESULT_NOT_KEPT, keep->span,
                "what '%s' returns is dropped before anybody can read it", job->name);
}

static void check_retired(struct checker *checker, const struct ir_job *job)
{
    const struct ast_setting *periodic = job->settings.set[SETTING_EVERY];
    if (periodic == NULL)
        periodic = job->settings.set[SETTING_CRON];
    if (job->is_retired && periodic != NULL)
        diag_report(checker->sink, DIAG_RETIRED_PERIODIC, periodic->span,
                    "'%s' is retired, so this starts nothing", job->name);
}

void check_sense(struct checker *checker, const struct ir_job *job)
{
    check_uniqueness(checker, &job->settings);
    check_overlap(checker, &job->settings);
    check_result(checker, job);
    check_retired(checker, job);
}
