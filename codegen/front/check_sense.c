/* check_sense.c - settings of one job that contradict each other, though each of them is valid. */
#include <stdlib.h>
#include <string.h>

#include "checker.h"
#include "duration.h"

static const char *text_of(struct checker *checker, int64_t ns)
{
    return duration_format(checker->arena, ns);
}

static void check_unique(struct checker *checker, const struct ir_settings *settings)
{
    const struct ast_setting *unique = settings->set[SETTING_UNIQUE];
    bool is_periodic = settings->set[SETTING_EVERY] != NULL || settings->set[SETTING_CRON] != NULL;
    if (unique == NULL || settings->unique->for_ns >= 0 || settings->expires_ns >= 0 || is_periodic)
        return;
    diag_report(checker->sink, DIAG_UNIQUE_UNBOUNDED, unique->span,
                "one run that nobody works on keeps out all others for ever");
    diag_help(checker->sink, "add 'for DURATION' here, or 'expires' to the job");
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
    check_unique(checker, &job->settings);
    check_overlap(checker, &job->settings);
    check_result(checker, job);
    check_retired(checker, job);
}
