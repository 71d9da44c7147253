/* check_setting.c - the settings of a job and of `defaults`, one by one. */
#include "checker.h"

#include <assert.h>
#include <string.h>

#include "core/queue_name.h"
#include "limits.h"

static bool is_label(const struct literal *literal)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    return literal->len > 0 && literal->len <= LIMIT_QUEUE_BYTES &&
           strspn(literal->text, allowed) == literal->len;
}

static void check_queue(struct setting_check *check, const struct ast_setting *setting)
{
    const struct literal *literal = &setting->value;
    if (literal->kind != LITERAL_STRING)
        return;
    check->settings->queue = literal->text;
    if (!is_label(literal))
        diag_report(check->checker->sink, DIAG_BAD_QUEUE_NAME, literal->span,
                    "a queue name is 1 to %u of " CULEX_QUEUE_LETTERS, LIMIT_QUEUE_BYTES);
}

int64_t check_number(struct checker *checker, const struct literal *literal, int64_t min,
                     int64_t max, const char *what)
{
    int64_t value = min;
    if (literal->kind == LITERAL_POISON || literal->kind == LITERAL_NONE)
        return min;
    bool is_number = literal->kind == LITERAL_INT || literal->kind == LITERAL_SIZE;
    if (!is_number || !wide_to_int64(literal->integer, &value) || value < min || value > max) {
        diag_report(checker->sink, DIAG_OUT_OF_RANGE, literal->span, "%s is %lld to %lld", what,
                    (long long)min, (long long)max);
        return min;
    }
    return value;
}

static void check_tags(struct setting_check *check, const struct ast_setting *setting)
{
    struct checker *checker = check->checker;
    unsigned count = 0;
    check->settings->tags = setting->tags;
    for (const struct literal *tag = setting->tags; tag != NULL; tag = tag->next) {
        if (tag->kind == LITERAL_STRING && !is_label(tag))
            diag_report(checker->sink, DIAG_BAD_TAG, tag->span,
                        "a tag is 1 to %u of " CULEX_QUEUE_LETTERS, LIMIT_QUEUE_BYTES);
        if (++count == LIMIT_TAGS + 1)
            diag_report(checker->sink, DIAG_TOO_MANY, tag->span, "more than %u tags", LIMIT_TAGS);
        for (const struct literal *at = setting->tags; count <= LIMIT_TAGS && at != tag;
             at = at->next) {
            if (at->kind != LITERAL_STRING || tag->kind != LITERAL_STRING ||
                strcmp(at->text, tag->text) != 0)
                continue;
            diag_report(checker->sink, DIAG_DUPLICATE_NAME, tag->span, "this tag is given twice");
            struct span span = tag->span;
            if (span_add_comma(&span))
                diag_fix(checker->sink, FIX_MAYBE_INCORRECT, span, "%s", "");
        }
    }
}

/* After a report: 0 may have been meant as no limit. */
static void help_without(struct checker *checker, enum setting_kind kind,
                         const struct literal *value)
{
    bool is_zero = value->kind == LITERAL_DURATION && value->duration_ns == 0;
    is_zero |= value->kind == LITERAL_SIZE && wide_compare(value->integer, wide_from(0)) == 0;
    if (is_zero)
        diag_help(checker->sink, "for no limit leave '%s' out", setting_word(kind));
}

static void check_part(struct setting_check *check, const struct scalar *scalar,
                       const struct literal *value)
{
    struct checker *checker = check->checker;
    if (scalar->form != FORM_DURATION)
        scalar_set(scalar, check->settings,
                   check_number(checker, value, scalar->least, scalar->most, scalar->what));
    else if (check_duration(checker, value, scalar->least, scalar->most))
        scalar_set(scalar, check->settings, value->duration_ns);
    if (scalar->unset < 0)
        help_without(checker, scalar->setting, value);
}

static void check_scalar(struct setting_check *check, const struct ast_setting *setting)
{
    assert(scalar_of(setting->kind) != NULL);
    check_part(check, scalar_of(setting->kind), &setting->value);
}

static void check_keep(struct setting_check *check, const struct ast_setting *setting)
{
    const struct ast_keep *keep = &setting->keep;
    if (keep->success.kind != LITERAL_NONE)
        check_part(check, &scalars[SCALAR_keep_success_ns], &keep->success);
    if (keep->failure.kind != LITERAL_NONE)
        check_part(check, &scalars[SCALAR_keep_failure_ns], &keep->failure);
    if (keep->log.kind == LITERAL_NONE)
        return;
    check_part(check, &scalars[SCALAR_keep_log], &keep->log);
    if (keep->log.kind == LITERAL_INT && wide_compare(keep->log.integer, wide_from(0)) == 0)
        diag_help(check->checker->sink, "to keep no lines leave 'log' out");
}

static void (*const checks[SETTING_COUNT])(struct setting_check *, const struct ast_setting *) = {
#define SETTING(symbol, word, place, form, text) check_##form,
#include "settings.def"
};

static bool is_first(struct checker *checker, const struct ast_setting *setting,
                     const struct ast_setting **set)
{
    if (set[setting->kind] == NULL || setting_may_repeat(setting->kind)) {
        set[setting->kind] = setting;
        return true;
    }
    diag_report(checker->sink, DIAG_DUPLICATE_SETTING, setting->span, "'%s' is set twice",
                setting_word(setting->kind));
    diag_note(checker->sink, set[setting->kind]->span, "first set here");
    if (setting->kind == SETTING_KEEP)
        diag_help(checker->sink, "all of it is said in one: keep success 1h, failure 2h, log 100");
    return false;
}

static void check_periodic_debounce(struct setting_check *check, const struct ast_setting *periodic)
{
    struct diag_sink *sink = check->checker->sink;
    const struct ast_setting *unique = check->settings->set[SETTING_UNIQUE];
    if (periodic == NULL || unique == NULL || unique->unique.debounce.kind == LITERAL_NONE)
        return;
    diag_report(sink, DIAG_PERIODIC_DEBOUNCE, unique->unique.debounce.span,
                "a periodic run is due at its tick, so it is not put off");
    diag_note(sink, periodic->span, "periodic because of this");
}

static void check_periodic(struct setting_check *check)
{
    struct diag_sink *sink = check->checker->sink;
    const struct ast_setting *every = check->settings->set[SETTING_EVERY];
    const struct ast_setting *cron = check->settings->set[SETTING_CRON];
    const struct ast_setting *periodic = every != NULL ? every : cron;
    check_periodic_debounce(check, periodic);
    if (every != NULL && cron != NULL) {
        diag_report(sink, DIAG_EVERY_AND_CRON, cron->span, "a job has 'every' or 'cron', not both");
        diag_note(sink, every->span, "'every' is here");
    }
    for (const struct ir_field *field = check->job->params; field != NULL; field = field->next) {
        if (periodic == NULL || !field->is_required)
            continue;
        diag_report(sink, DIAG_PERIODIC_REQUIRED, field->span,
                    "nobody is there to pass '%s' to a periodic job", field->name);
        diag_note(sink, periodic->span, "periodic because of this");
        diag_help(sink, "give the param a default or make it optional");
    }
}

struct ir_settings check_defaults(struct checker *checker, const struct ast_decl *defaults)
{
    struct ir_settings settings = settings_default(false);
    struct setting_check check = {checker, NULL, &settings};
    const struct ast_setting *set[SETTING_COUNT] = {0};
    if (defaults == NULL)
        return settings;
    for (const struct ast_setting *at = defaults->settings; at != NULL; at = at->next) {
        if (!is_first(checker, at, set))
            continue;
        if (setting_is_of_job(at->kind)) {
            diag_report(checker->sink, DIAG_SETTING_MISPLACED, at->span,
                        "'%s' belongs to one job, not to defaults", setting_word(at->kind));
            continue;
        }
        checks[at->kind](&check, at);
        settings.set[at->kind] = at;
    }
    return settings;
}

void check_job_settings(struct checker *checker, struct ir_job *job, const struct ast_decl *decl,
                        const struct ir_settings *defaults)
{
    const struct ast_setting *set[SETTING_COUNT] = {0};
    struct setting_check check = {checker, job, &job->settings};
    job->settings = *defaults;
    if (job->settings.queue == NULL)
        job->settings.queue = job->wire;
    for (const struct ast_setting *at = decl->settings; at != NULL; at = at->next) {
        if (!is_first(checker, at, set))
            continue;
        if (job->settings.set[at->kind] == NULL || !setting_may_repeat(at->kind))
            job->settings.set[at->kind] = at;
        checks[at->kind](&check, at);
    }
    bool is_periodic = set[SETTING_EVERY] != NULL || set[SETTING_CRON] != NULL;
    if (is_periodic && set[SETTING_RETRY] == NULL)
        job->settings.retry.max = retry_default(is_periodic).max;
    check_periodic(&check);
    check_sense(checker, job);
}
