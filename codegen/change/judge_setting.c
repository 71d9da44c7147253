/* judge_setting.c - settings of a job. What is stored keeps its meaning, but operators should
 * know. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "judge.h"

struct setting_pair {
    struct judge *judge;
    const struct lock_settings *before, *after;
    struct spot spot;
};

/* A setting in the lock, and what is said when it changed. */
struct rule {
    enum diag_id id;
    void (*judge)(struct setting_pair *pair, const struct rule *rule);
    size_t offset; /* in struct lock_settings */
    const char *text;
    const char *suffix; /* of numbers: what they count */
    const char *help;   /* NULL: none */
};

static const char *text_of(const struct lock_settings *settings, const struct rule *rule)
{
    const char *text;
    memcpy(&text, (const char *)settings + rule->offset, sizeof(text));
    return text;
}

static int64_t number_of(const struct lock_settings *settings, const struct rule *rule)
{
    int64_t number;
    memcpy(&number, (const char *)settings + rule->offset, sizeof(number));
    return number;
}

static void report(struct setting_pair *pair, const struct rule *rule, const char *was)
{
    pair->spot.was = was;
    if (judge_report(pair->judge, rule->id, &pair->spot, "%s", rule->text) && rule->help != NULL)
        diag_help(pair->judge->change->sink, "%s", rule->help);
}

static const char *number_text(struct setting_pair *pair, const struct rule *rule, int64_t number)
{
    return number < 0
               ? "none"
               : arena_printf(pair->judge->change->arena, "%" PRId64 "%s", number, rule->suffix);
}

/* Any change counts, also from or to no limit. */
static void judge_changed(struct setting_pair *pair, const struct rule *rule)
{
    int64_t before = number_of(pair->before, rule);
    if (before != number_of(pair->after, rule))
        report(pair, rule, number_text(pair, rule, before));
}

/* Only a lower number counts; not set is the highest. */
static void judge_lowered(struct setting_pair *pair, const struct rule *rule)
{
    int64_t before = number_of(pair->before, rule), after = number_of(pair->after, rule);
    if (after >= 0 && (before < 0 || before > after))
        report(pair, rule, number_text(pair, rule, before));
}

/* Any change counts, also from or to nothing. */
static void judge_text(struct setting_pair *pair, const struct rule *rule)
{
    const char *before = text_of(pair->before, rule), *after = text_of(pair->after, rule);
    before = before != NULL ? before : "none";
    if (strcmp(before, after != NULL ? after : "none") != 0)
        report(pair, rule, before);
}

static bool both_differ(struct setting_pair *pair, const struct rule *rule)
{
    const char *before = text_of(pair->before, rule), *after = text_of(pair->after, rule);
    return before != NULL && after != NULL && strcmp(before, after) != 0;
}

/* Only a changed key counts: where the setting is missing on one side, there is none. */
static void judge_key(struct setting_pair *pair, const struct rule *rule)
{
    if (both_differ(pair, rule))
        report(pair, rule,
               arena_printf(pair->judge->change->arena, "by (%s)", text_of(pair->before, rule)));
}

/* Both sides must have it. A job without retries has no backoff, nor has an old lock; a schedule
 * that was removed has a rule of its own. */
static void judge_both(struct setting_pair *pair, const struct rule *rule)
{
    if (both_differ(pair, rule))
        report(pair, rule, text_of(pair->before, rule));
}

static void judge_gone(struct setting_pair *pair, const struct rule *rule)
{
    const char *before = text_of(pair->before, rule);
    if (before != NULL && text_of(pair->after, rule) == NULL)
        report(pair, rule, before);
}

#define OFFSET(member) offsetof(struct lock_settings, member)
static const struct rule rules[] = {
    {DIAG_QUEUE_CHANGED, judge_text, OFFSET(queue), "the job waits in another queue", "",
     "keep a worker on the old queue until it is empty"},
    {DIAG_UNIQUE_KEY_CHANGED, judge_key, OFFSET(unique_key), "runs are unique by another key", "",
     NULL},
    {DIAG_CONCURRENCY_KEY_CHANGED, judge_key, OFFSET(concurrency_key),
     "concurrency is counted by another key", "", NULL},
    {DIAG_RATE_KEY_CHANGED, judge_key, OFFSET(rate_key), "the rate is counted by another key", "",
     NULL},
    {DIAG_UNIQUE_CHANGED, judge_text, OFFSET(unique), "runs are unique by another rule", "", NULL},
    {DIAG_CONCURRENCY_CHANGED, judge_changed, OFFSET(concurrency),
     "another number of runs may go on at a time", "", NULL},
    {DIAG_RATE_CHANGED, judge_text, OFFSET(rate), "runs are started at another rate", "", NULL},
    {DIAG_BACKOFF_CHANGED, judge_both, OFFSET(backoff), "failed runs are retried at other times",
     "", NULL},
    {DIAG_SCHEDULE_CHANGED, judge_both, OFFSET(schedule), "the job has another schedule", "", NULL},
    {DIAG_SCHEDULE_REMOVED, judge_gone, OFFSET(schedule), "the job has no schedule any more", "",
     NULL},
#define LOCKED(member, key, unit, judge, rule, suffix, text)                                       \
    {DIAG_##rule, judge_##judge, OFFSET(key), text, suffix, NULL},
#include "settings.def"
};

/* In the order of breaking_ids.def. */
void judge_settings(struct judge *judge, const struct lock_job *before,
                    const struct lock_job *after)
{
    struct setting_pair pair = {
        judge, before->settings, after->settings, {.span = after->span, .block = after->allows}};
    for (int id = 0; id < DIAG_COUNT; id++) {
        for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
            if (rules[i].id == (enum diag_id)id)
                rules[i].judge(&pair, &rules[i]);
        }
    }
}
