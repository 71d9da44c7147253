/* check_setting.c - the settings of a job and of `defaults`, one by one. */
#include "checker.h"

#include <string.h>

#include "limits.h"
#include "suggest.h"

struct job_check {
    struct checker *checker;
    struct ir_job *job;
    struct ir_settings *settings;
};

static bool is_label(const struct literal *literal)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    return literal->len > 0 && literal->len <= LIMIT_QUEUE_BYTES &&
           strspn(literal->text, allowed) == literal->len;
}

static void check_queue(struct checker *checker, const struct literal *literal,
                        struct ir_settings *settings)
{
    if (literal->kind != LITERAL_STRING)
        return;
    settings->queue = literal->text;
    if (!is_label(literal))
        diag_report(checker->sink, DIAG_BAD_QUEUE_NAME, literal->span,
                    "a queue name is 1 to %u of letters, digits, '_', '.' and '-'",
                    LIMIT_QUEUE_BYTES);
}

static int64_t check_number(struct checker *checker, const struct literal *literal, int64_t min,
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

static void check_tags(struct checker *checker, const struct ast_setting *setting)
{
    unsigned count = 0;
    for (const struct literal *tag = setting->list; tag != NULL; tag = tag->next) {
        if (tag->kind == LITERAL_STRING && !is_label(tag))
            diag_report(checker->sink, DIAG_BAD_TAG, tag->span,
                        "a tag is 1 to %u of letters, digits, '_', '.' and '-'", LIMIT_QUEUE_BYTES);
        if (++count == LIMIT_TAGS + 1)
            diag_report(checker->sink, DIAG_TOO_MANY, tag->span, "more than %u tags", LIMIT_TAGS);
        for (const struct literal *at = setting->list; count <= LIMIT_TAGS && at != tag;
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

/* Of a declared policy, worked out once, without a report: it is reported where it stands. */
static struct ir_retry retry_of(struct checker *checker, struct symbol *symbol)
{
    struct diag_sink quiet;
    struct checker other = *checker;
    if (symbol->retry != NULL)
        return *symbol->retry;
    diag_sink_init(&quiet, checker->arena);
    other.sink = &quiet;
    symbol->retry = arena_alloc(checker->arena, sizeof(*symbol->retry));
    *symbol->retry = retry_default();
    if (symbol->decl->policy != NULL)
        check_policy(&other, symbol->decl->policy, symbol->retry);
    return *symbol->retry;
}

static void check_retry(struct checker *checker, const struct ast_setting *setting,
                        struct ir_settings *settings)
{
    const struct ast_policy *policy = setting->policy;
    settings->retry = retry_default();
    if (policy == NULL && strcmp(setting->word.text, "none") == 0) {
        settings->retry.max = 0;
        return;
    }
    if (policy != NULL) {
        check_policy(checker, policy, &settings->retry);
        return;
    }
    struct symbol *symbol = checker_find(checker, setting->word.text);
    if (symbol != NULL && symbol->decl->kind == DECL_POLICY) {
        settings->retry = retry_of(checker, symbol);
    } else if (!checker->module->is_broken) {
        diag_report(checker->sink, DIAG_UNKNOWN_POLICY, setting->word.span,
                    "no retry_policy is called '%.200s'", setting->word.text);
        struct suggestion near = checker_suggest(checker, setting->word.text, false);
        struct habit habit;
        if (habit_word(HABIT_WORD_RETRY, setting->word.text, &habit))
            habit_help(checker->sink, &habit, setting->word.span);
        else
            diag_suggest(checker->sink, setting->word.span, &near);
    }
}

static void params_find(const struct ir_job *job, struct map *params)
{
    for (struct ir_field *field = job->params; field != NULL; field = field->next)
        map_add(params, field->name, field);
}

static void check_names_once(struct diag_sink *sink, const struct ast_names *names)
{
    struct arena scratch = {0};
    struct map seen;
    map_init(&seen, &scratch);
    for (const struct ast_names *name = names; name != NULL; name = name->next) {
        struct span span = name->name.span;
        if (map_add(&seen, name->name.text, &seen) == NULL)
            continue;
        diag_report(sink, DIAG_DUPLICATE_NAME, span, "'%.64s' is named twice", name->name.text);
        if (span_add_comma(&span))
            diag_fix(sink, FIX_MAYBE_INCORRECT, span, "%s", "");
    }
    arena_release(&scratch);
}

static const char *key_fault(const struct ir_field *field)
{
    if (field->is_optional)
        return "is optional";
    if (field->shape != SHAPE_SINGLE)
        return "is a list";
    if (field->is_secret)
        return "is secret";
    if (field->kind == IR_STRUCT)
        return "is a struct";
    return field->kind == IR_FLOAT32 || field->kind == IR_FLOAT64 ? "is a float" : NULL;
}

static void report_unknown_param(struct job_check *check, const struct ast_name *name)
{
    struct diag_sink *sink = check->checker->sink;
    diag_report(sink, DIAG_UNKNOWN_PARAM, name->span, "this job has no param '%.64s'", name->text);
    if (sink->current == NULL) /* Each name costs a look at all params. */
        return;
    struct suggestion suggestion = suggestion_start(name->text);
    suggestion.is_doubtful = true;
    for (const struct ir_field *at = check->job->params; at != NULL; at = at->next)
        suggestion_offer(&suggestion, at->name);
    diag_suggest(sink, name->span, &suggestion);
}

static void check_key(struct job_check *check, const struct ast_name *name,
                      const struct ir_field *field)
{
    struct diag_sink *sink = check->checker->sink;
    const char *fault = field == NULL ? NULL : key_fault(field);
    if (fault != NULL) {
        diag_report(sink, DIAG_BAD_KEY, name->span, "'%s' %s, so it cannot be a key", field->name,
                    fault);
        diag_note(sink, field->span, "declared here");
    }
    if (field == NULL && !check->checker->module->ast->has_errors)
        report_unknown_param(check, name);
}

static void check_by(struct job_check *check, const struct ast_setting *setting)
{
    struct arena scratch = {0};
    struct map params;
    map_init(&params, &scratch);
    if (setting->by != NULL)
        params_find(check->job, &params);
    check_names_once(check->checker->sink, setting->by);
    for (const struct ast_names *by = setting->by; by != NULL; by = by->next)
        check_key(check, &by->name, map_get(&params, by->name.text));
    arena_release(&scratch);
}

static void check_states(struct job_check *check, const struct ast_setting *setting)
{
    static const char *const states[] = {"scheduled", "waiting", "active"};
    check_names_once(check->checker->sink, setting->states);
    for (const struct ast_names *at = setting->states; at != NULL; at = at->next) {
        struct suggestion suggestion = suggestion_start(at->name.text);
        bool is_known = false;
        for (size_t i = 0; i < 3; i++) {
            is_known |= strcmp(states[i], at->name.text) == 0;
            suggestion_offer(&suggestion, states[i]);
        }
        if (is_known)
            continue;
        diag_report(check->checker->sink, DIAG_UNKNOWN_WORD, at->name.span,
                    "'%.64s' is not scheduled, waiting or active", at->name.text);
        diag_suggest(check->checker->sink, at->name.span, &suggestion);
    }
}

static void check_keep(struct checker *checker, const struct ast_setting *setting,
                       struct ir_settings *settings)
{
    if (setting->value.kind != LITERAL_NONE && check_setting_duration(checker, &setting->value, 0))
        settings->keep_success_ns = setting->value.duration_ns;
    if (setting->extra.kind != LITERAL_NONE && check_setting_duration(checker, &setting->extra, 0))
        settings->keep_failure_ns = setting->extra.duration_ns;
}

/* Behind a report: 0 may have been meant as none at all. */
static void help_without(struct checker *checker, const struct ast_setting *setting)
{
    const struct literal *value = &setting->value;
    bool is_zero = value->kind == LITERAL_DURATION && value->duration_ns == 0;
    is_zero |= value->kind == LITERAL_SIZE && wide_compare(value->integer, wide_from(0)) == 0;
    if (is_zero)
        diag_help(checker->sink, "for no limit leave '%s' out", setting_word(setting->kind));
}

static void apply_limit(struct checker *checker, const struct ast_setting *setting, int64_t *ret_ns)
{
    if (check_setting_duration(checker, &setting->value, NS_PER_MS))
        *ret_ns = setting->value.duration_ns;
    else
        help_without(checker, setting);
}

static void apply_memory(struct checker *checker, const struct ast_setting *setting,
                         struct ir_settings *settings)
{
    settings->memory_bytes = check_number(checker, &setting->value, (int64_t)LIMIT_MEMORY_MIN,
                                          (int64_t)LIMIT_MEMORY_MAX, "memory in bytes");
    help_without(checker, setting);
}

/* The settings that mean the same in `defaults` and in a job. */
static void apply_plain(struct checker *checker, const struct ast_setting *setting,
                        struct ir_settings *settings)
{
    switch (setting->kind) {
    case SETTING_QUEUE:
        check_queue(checker, &setting->value, settings);
        break;
    case SETTING_PRIORITY:
        settings->priority = check_number(checker, &setting->value, 0, LIMIT_PRIORITY, "priority");
        break;
    case SETTING_TIMEOUT:
        apply_limit(checker, setting, &settings->timeout_ns);
        break;
    case SETTING_EXPIRES:
        apply_limit(checker, setting, &settings->expires_ns);
        break;
    case SETTING_KEEP:
        check_keep(checker, setting, settings);
        break;
    case SETTING_MEMORY:
        apply_memory(checker, setting, settings);
        break;
    case SETTING_RETRY:
        check_retry(checker, setting, settings);
        break;
    default:
        check_tags(checker, setting);
        break;
    }
}

static void apply_job_only(struct job_check *check, const struct ast_setting *setting)
{
    struct checker *checker = check->checker;
    switch (setting->kind) {
    case SETTING_UNIQUE:
        if (setting->extra.kind != LITERAL_NONE)
            check_setting_duration(checker, &setting->extra, NS_PER_MS);
        check_states(check, setting);
        break;
    case SETTING_CONCURRENCY:
        check_number(checker, &setting->value, 1, LIMIT_CONCURRENCY, "concurrency");
        break;
    case SETTING_RATE:
        check_number(checker, &setting->value, 1, LIMIT_RATE, "a rate");
        check_setting_duration(checker, &setting->extra, NS_PER_MS);
        if (setting->burst.kind != LITERAL_NONE)
            check_number(checker, &setting->burst, 1, LIMIT_RATE, "a burst");
        break;
    case SETTING_EVERY:
        check_every(checker, setting);
        break;
    default:
        check_cron(checker, setting);
        break;
    }
    check_by(check, setting);
}

static bool is_job_only(enum setting_kind kind)
{
    return kind >= SETTING_UNIQUE && kind <= SETTING_CRON;
}

static bool is_first(struct checker *checker, const struct ast_setting *setting,
                     const struct ast_setting **set)
{
    if (set[setting->kind] == NULL) {
        set[setting->kind] = setting;
        return true;
    }
    diag_report(checker->sink, DIAG_DUPLICATE_SETTING, setting->span, "'%s' is set twice",
                setting_word(setting->kind));
    diag_note(checker->sink, set[setting->kind]->span, "first set here");
    if (setting->kind == SETTING_KEEP)
        diag_help(checker->sink, "both are said in one: keep success 1h, failure 2h");
    return false;
}

static void check_periodic(struct job_check *check)
{
    struct diag_sink *sink = check->checker->sink;
    const struct ast_setting *every = check->settings->set[SETTING_EVERY];
    const struct ast_setting *cron = check->settings->set[SETTING_CRON];
    const struct ast_setting *periodic = every != NULL ? every : cron;
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

/* `queue` stays NULL: it is the job's own. */
static struct ir_settings settings_default(void)
{
    return (struct ir_settings){.timeout_ns = -1,
                                .expires_ns = -1,
                                .keep_success_ns = INT64_C(1000000000),
                                .keep_failure_ns = INT64_C(86400000000000),
                                .memory_bytes = -1,
                                .retry = retry_default()};
}

struct ir_settings check_defaults(struct checker *checker, const struct ast_decl *defaults)
{
    struct ir_settings settings = settings_default();
    const struct ast_setting *set[SETTING_COUNT] = {0};
    if (defaults == NULL)
        return settings;
    for (const struct ast_setting *at = defaults->settings; at != NULL; at = at->next) {
        if (!is_first(checker, at, set))
            continue;
        if (is_job_only(at->kind))
            diag_report(checker->sink, DIAG_SETTING_MISPLACED, at->span,
                        "'%s' belongs to one job, not to defaults", setting_word(at->kind));
        else
            apply_plain(checker, at, &settings);
        if (!is_job_only(at->kind))
            settings.set[at->kind] = at;
    }
    return settings;
}

void check_job_settings(struct checker *checker, struct ir_job *job, const struct ast_decl *decl,
                        const struct ir_settings *defaults)
{
    const struct ast_setting *set[SETTING_COUNT] = {0};
    struct job_check check = {checker, job, &job->settings};
    job->settings = *defaults;
    if (job->settings.queue == NULL)
        job->settings.queue = job->wire;
    for (const struct ast_setting *at = decl->settings; at != NULL; at = at->next) {
        if (!is_first(checker, at, set))
            continue;
        job->settings.set[at->kind] = at;
        if (is_job_only(at->kind))
            apply_job_only(&check, at);
        else
            apply_plain(checker, at, &job->settings);
    }
    bool is_periodic = set[SETTING_EVERY] != NULL || set[SETTING_CRON] != NULL;
    if (is_periodic && set[SETTING_RETRY] == NULL) /* The next tick is the retry. */
        job->settings.retry.max = 0;
    check_periodic(&check);
    check_sense(checker, job);
}
