/* check_sense.c - settings of one job that contradict each other, though each of them is valid. */
#include <stdlib.h>
#include <string.h>

#include "checker.h"
#include "duration.h"

static const char *text_of(struct checker *checker, int64_t ns)
{
    return duration_format(checker->arena, ns);
}

static void report_expiry(struct checker *checker, const struct ir_settings *settings, int64_t n,
                          double needed)
{
    const struct ir_retry *retry = &settings->retry;
    diag_report(checker->sink, DIAG_RETRY_AFTER_EXPIRY, settings->set[SETTING_EXPIRES]->span,
                "the run expires before retry %lld of %lld", (long long)n, (long long)retry->max);
    if (settings->set[SETTING_RETRY] != NULL)
        diag_note(checker->sink, settings->set[SETTING_RETRY]->span, "retries are set here");
    diag_help(checker->sink, "%lld of %lld attempts fit in %s%s", (long long)n,
              (long long)retry->max + 1, text_of(checker, settings->expires_ns),
              needed < 1e9 ? arena_printf(checker->arena, "; all need more than %s",
                                          text_of(checker, (int64_t)needed * 1000000000))
                           : "");
}

/* Jitter and the time of the attempts themselves are left out: what is reported is certain. */
static void check_expiry(struct checker *checker, const struct ir_settings *settings)
{
    const struct ir_retry *retry = &settings->retry;
    const struct literal *step = retry->steps;
    double total = 0;
    int64_t lost = 0;
    if (settings->expires_ns < 0 || (retry->base_ns < 0 && step == NULL))
        return;
    for (int64_t n = 1; n <= retry->max; n++) {
        total += ir_retry_delay(retry, n, &step);
        if (lost == 0 && total >= (double)settings->expires_ns / 1e9)
            lost = n;
    }
    if (lost > 0)
        report_expiry(checker, settings, lost, total);
}

static void check_timeout(struct checker *checker, const struct ir_settings *settings)
{
    const struct ast_setting *timeout = settings->set[SETTING_TIMEOUT];
    if (settings->expires_ns < 0 || settings->timeout_ns <= settings->expires_ns ||
        settings->retry.max == 0)
        return;
    diag_report(checker->sink, DIAG_TIMEOUT_AFTER_EXPIRY, timeout->span,
                "an attempt that takes %s is not retried: the run expires after %s",
                text_of(checker, settings->timeout_ns), text_of(checker, settings->expires_ns));
    diag_note(checker->sink, settings->set[SETTING_EXPIRES]->span, "'expires' is set here");
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
        settings->timeout_ns <= settings->every->interval_ns)
        return;
    diag_report(checker->sink, DIAG_PERIODIC_OVERLAP, every->span,
                "a run may take %s, and the next one starts after %s",
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
    check_expiry(checker, &job->settings);
    check_timeout(checker, &job->settings);
    check_unique(checker, &job->settings);
    check_overlap(checker, &job->settings);
    check_result(checker, job);
    check_retired(checker, job);
}
