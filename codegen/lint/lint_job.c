/* lint_job.c - the settings of a job. */
#include "linter.h"

#include <string.h>

#define SECOND INT64_C(1000000000)
#define DAY    (86400 * SECOND)

/* Bounds of what looks meant. */
#define FAILURE_KEPT_MIN (60 * SECOND)
#define KEPT_MAX         (90 * DAY)
static const double delay_days_max = 7;

static bool is_periodic(const struct ir_job *job)
{
    return job->settings.set[SETTING_EVERY] != NULL || job->settings.set[SETTING_CRON] != NULL;
}

/* Where a setting was written, in the job or in the defaults; else the job's name. */
static struct span setting_span(const struct ast_decl *decl, const struct ir_job *job,
                                enum setting_kind kind)
{
    const struct ast_setting *setting = job->settings.set[kind];
    return setting != NULL ? setting->span : decl->name.span;
}

static void lint_schedule(struct linter *linter, const struct ast_decl *decl,
                          const struct ir_job *job)
{
    const struct ir_settings *settings = &job->settings;
    if (settings->timeout_ns >= 0)
        return;
    if (is_periodic(job))
        lint_report(linter, DIAG_PERIODIC_NO_TIMEOUT, decl->name.span,
                    "nothing ends a run of '%s' that hangs", job->name);
    else
        lint_report(linter, DIAG_NO_TIMEOUT, decl->name.span, "'%s' has no timeout", job->name);
}

static void lint_keep(struct linter *linter, const struct ast_decl *decl, const struct ir_job *job)
{
    const struct ir_settings *settings = &job->settings;
    struct span keep = setting_span(decl, job, SETTING_KEEP);
    if (settings->keep_failure_ns < FAILURE_KEPT_MIN)
        lint_report(linter, DIAG_FAILURE_NOT_KEPT, keep,
                    "a run of '%s' that failed is gone almost at once", job->name);
    if (settings->keep_success_ns > KEPT_MAX || settings->keep_failure_ns > KEPT_MAX)
        lint_report(linter, DIAG_KEEP_LONG, keep,
                    "the store keeps every ended run of '%s' for months", job->name);
}

static void lint_retry(struct linter *linter, const struct ast_decl *decl, const struct ir_job *job)
{
    const struct ir_retry *retry = &job->settings.retry;
    const struct literal *step = retry->steps;
    int64_t count = ir_retry_count(retry);
    if (count == 0 || step != NULL)
        return;
    double days = ir_retry_delay(retry, count, &step) / 86400;
    if (days > delay_days_max &&
        lint_report(linter, DIAG_BACKOFF_ENDLESS, setting_span(decl, job, SETTING_RETRY),
                    "retry %lld comes %.0f days after the one before", (long long)count,
                    days < 1e6 ? days : 1e6))
        diag_help(linter->sink, "bound the delay, as in 'cap 6h'");
}

static void lint_queue(struct linter *linter, const struct ast_decl *decl, const struct ir_job *job)
{
    if (job->settings.set[SETTING_QUEUE] == NULL)
        lint_report(linter, DIAG_NO_QUEUE, decl->name.span, "'%s' waits in a queue of its own",
                    job->name);
    if (job->settings.memory_bytes < 0)
        lint_report(linter, DIAG_NO_MEMORY, decl->name.span, "the memory of '%s' has no bound",
                    job->name);
    if (job->settings.set[SETTING_QUEUE] != NULL ||
        map_get(&linter->shared, job->settings.queue) != NULL)
        return;
    for (const struct ast_setting *at = decl->settings; at != NULL; at = at->next) {
        if (at->kind == SETTING_PRIORITY)
            lint_report(linter, DIAG_PRIORITY_ALONE, at->span,
                        "'%s' is alone in its queue, so its priority changes nothing", job->name);
    }
}

void lint_job(struct linter *linter, const struct ast_decl *decl, const struct ir_job *job)
{
    lint_deprecated(linter, decl->attrs);
    lint_fields(linter, decl->fields.first, job->params, LINT_PARAMS);
    lint_fields(linter, decl->returns.first, job->result, LINT_RETURNS);
    lint_fields(linter, decl->metadata.first, job->metadata, LINT_RETURNS);
    if (job->is_retired)
        return;
    lint_schedule(linter, decl, job);
    lint_keep(linter, decl, job);
    lint_retry(linter, decl, job);
    lint_queue(linter, decl, job);
}
