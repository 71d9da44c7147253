/* check_retry.c - retry policies, and the setting that names one or has one. */
#include "checker.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "choice.h"
#include "duration.h"
#include "limits.h"
#include "suggest.h"

#define NS_PER_DAY INT64_C(86400000000000)

bool check_duration(struct checker *checker, const struct literal *literal, int64_t least,
                    int64_t most)
{
    if (literal->kind != LITERAL_DURATION)
        return false;
    if (literal->duration_ns % NS_PER_MS != 0)
        diag_report(checker->sink, DIAG_DURATION_TOO_FINE, literal->span,
                    "the queue keeps time in whole milliseconds");
    else if (literal->duration_ns < least)
        diag_report(checker->sink, DIAG_OUT_OF_RANGE, literal->span,
                    "this duration must be at least %" PRId64 "ms", least / NS_PER_MS);
    else if (literal->duration_ns > most)
        diag_report(checker->sink, DIAG_OUT_OF_RANGE, literal->span,
                    "this duration must be at most %" PRId64 "d", most / NS_PER_DAY);
    else
        return true;
    return false;
}

bool check_setting_duration(struct checker *checker, const struct literal *literal, int64_t least)
{
    return check_duration(checker, literal, least, LIMIT_SETTING_NS);
}

/* Where the parser has found `text`. */
static size_t word_index(const char *const *words, const char *text)
{
    size_t at = choice_find(words, text);
    assert(words[at] != NULL);
    return at;
}

static const char *number_text(struct checker *checker, const struct literal *literal)
{
    char text[WIDE_TEXT_BYTES];
    if (literal->kind == LITERAL_FLOAT)
        return literal->text;
    wide_format(literal->integer, text);
    return arena_copy(checker->arena, text, strlen(text));
}

static void check_factor(struct checker *checker, const struct ast_policy *policy,
                         struct ir_retry *retry)
{
    bool is_power = retry->backoff == BACKOFF_POLYNOMIAL;
    bool is_linear = retry->backoff == BACKOFF_LINEAR;
    retry->factor = is_linear ? "1" : "2";
    if (policy->factor.kind != LITERAL_INT && policy->factor.kind != LITERAL_FLOAT)
        return;
    retry->factor = number_text(checker, &policy->factor);
    double factor = strtod(retry->factor, NULL);
    double min = is_power || is_linear ? 0.001 : 1;
    double max = is_power ? LIMIT_EXPONENT : LIMIT_FACTOR;
    if (factor < min || factor > max)
        diag_report(checker->sink, DIAG_OUT_OF_RANGE, policy->factor.span,
                    "the factor of %s backoff is %g to %g", ir_backoff_words[retry->backoff], min,
                    max);
}

static void check_steps(struct checker *checker, const struct ast_policy *policy,
                        struct ir_retry *retry)
{
    unsigned count = 0;
    retry->factor = NULL;
    retry->base_ns = -1;
    retry->steps = policy->steps;
    for (const struct literal *step = policy->steps; step != NULL; step = step->next) {
        check_setting_duration(checker, step, 0);
        if (++count == LIMIT_STEPS + 1)
            diag_report(checker->sink, DIAG_TOO_MANY, step->span, "more than %u steps",
                        LIMIT_STEPS);
    }
}

static void check_backoff(struct checker *checker, const struct ast_policy *policy,
                          struct ir_retry *retry)
{
    retry->backoff = (enum ir_backoff)word_index(ir_backoff_words, policy->backoff.text);
    if (retry->backoff == BACKOFF_STEPS) {
        check_steps(checker, policy, retry);
        return;
    }
    if (check_setting_duration(checker, &policy->base, NS_PER_MS))
        retry->base_ns = policy->base.duration_ns;
    if (retry->backoff == BACKOFF_CONSTANT)
        retry->factor = NULL;
    else
        check_factor(checker, policy, retry);
    if (policy->cap.kind == LITERAL_NONE || !check_setting_duration(checker, &policy->cap, 0))
        return;
    retry->cap_ns = policy->cap.duration_ns;
    if (retry->cap_ns < retry->base_ns)
        diag_report(checker->sink, DIAG_OUT_OF_RANGE, policy->cap.span,
                    "the cap is below the first delay");
}

static void check_jitter(struct checker *checker, const struct ast_policy *policy,
                         struct ir_retry *retry)
{
    const struct literal *ratio = &policy->jitter_ratio;
    if (policy->jitter.text != NULL)
        retry->jitter = (enum ir_jitter)word_index(ir_jitter_words, policy->jitter.text);
    if (ratio->kind != LITERAL_INT && ratio->kind != LITERAL_FLOAT)
        return;
    retry->jitter = JITTER_RATIO;
    retry->jitter_ratio = number_text(checker, ratio);
    if (strtod(retry->jitter_ratio, NULL) > 1)
        diag_report(checker->sink, DIAG_OUT_OF_RANGE, ratio->span,
                    "jitter is a share of the delay, 0 to 1");
}

static void check_steps_used(struct checker *checker, const struct ir_retry *retry)
{
    const struct literal *step = retry->steps;
    for (int64_t n = 0; n < retry->max && step != NULL; n++)
        step = step->next;
    if (step != NULL)
        diag_report(checker->sink, DIAG_UNUSED_STEP, step->span,
                    "the last retry is number %" PRId64 ", so this step is never taken",
                    retry->max);
}

/* The shortest that a delay of so many seconds can be. */
static double least_delay(const struct ir_retry *retry, double delay)
{
    switch (retry->jitter) {
    case JITTER_FULL:
        return 0;
    case JITTER_EQUAL:
        return delay / 2;
    case JITTER_RATIO:
        return delay * (1 - strtod(retry->jitter_ratio, NULL));
    case JITTER_NONE:
        break;
    }
    return delay;
}

/* Some retry begins within the time for them. */
static void check_retried(struct checker *checker, const struct ast_policy *policy,
                          const struct ir_retry *retry)
{
    const struct literal *step = retry->steps;
    bool has_delay = step != NULL ? step->kind == LITERAL_DURATION : retry->base_ns >= 0;
    if (retry->for_ns < 0 || retry->max == 0 || !has_delay)
        return;
    double delay = least_delay(retry, ir_retry_delay(retry, 1, &step));
    if (delay < (double)retry->for_ns / 1e9)
        return;
    int64_t delay_ns = (int64_t)(delay * 1e3 + 0.5) * NS_PER_MS;
    diag_report(checker->sink, DIAG_RETRY_NEVER, policy->time.span,
                "the first retry comes after %s, so nothing is ever retried",
                duration_format(checker->arena, delay_ns));
}

/* Who says for how long means that, and not also how often. */
static void check_time(struct checker *checker, const struct ast_policy *policy,
                       struct ir_retry *retry)
{
    if (policy->time.kind == LITERAL_NONE ||
        !check_setting_duration(checker, &policy->time, NS_PER_MS))
        return;
    retry->for_ns = policy->time.duration_ns;
    if (policy->max.kind == LITERAL_NONE)
        retry->max = LIMIT_RETRIES;
}

void check_policy(struct checker *checker, const struct ast_policy *policy,
                  struct ir_retry *ret_retry)
{
    struct ir_retry retry = retry_default(false);
    int64_t max = 0;
    check_time(checker, policy, &retry);
    if (policy->max.kind == LITERAL_INT && wide_to_int64(policy->max.integer, &max) && max >= 0 &&
        max <= LIMIT_RETRIES)
        retry.max = max;
    else if (policy->max.kind != LITERAL_NONE && policy->max.kind != LITERAL_POISON)
        diag_report(checker->sink, DIAG_OUT_OF_RANGE, policy->max.span,
                    "max is a number of retries, 0 to %d", LIMIT_RETRIES);
    if (policy->backoff.text != NULL)
        check_backoff(checker, policy, &retry);
    check_jitter(checker, policy, &retry);
    check_steps_used(checker, &retry);
    check_retried(checker, policy, &retry);
    *ret_retry = retry;
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
    *symbol->retry = retry_default(false);
    if (symbol->decl->policy != NULL)
        check_policy(&other, symbol->decl->policy, symbol->retry);
    return *symbol->retry;
}

static void report_unknown_policy(struct checker *checker, const struct ast_name *name)
{
    diag_report(checker->sink, DIAG_UNKNOWN_POLICY, name->span,
                "no retry_policy is called '%.200s'", name->text);
    struct suggestion near = checker_suggest(checker, name->text, false);
    struct habit habit;
    if (habit_word(HABIT_WORD_RETRY, name->text, &habit))
        habit_help(checker->sink, &habit, name->span);
    else
        diag_suggest(checker->sink, name->span, &near);
}

void check_retry(struct setting_check *check, const struct ast_setting *setting)
{
    struct checker *checker = check->checker;
    struct ir_retry *retry = &check->settings->retry;
    const struct ast_name *name = &setting->retry.name;
    *retry = retry_default(false);
    if (setting->retry.policy != NULL) {
        check_policy(checker, setting->retry.policy, retry);
        return;
    }
    if (strcmp(name->text, "none") == 0) {
        retry->max = 0;
        return;
    }
    struct symbol *symbol = checker_find(checker, name->text);
    if (symbol != NULL && symbol->decl->kind == DECL_POLICY)
        *retry = retry_of(checker, symbol);
    else if (!checker->module->is_broken)
        report_unknown_policy(checker, name);
}
