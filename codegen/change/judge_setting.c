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

/* What is counted in each queue apart is counted anew in the other one. */
static void judge_queue(struct setting_pair *pair, const struct rule *rule)
{
    struct rule told = *rule;
    bool is_counted = pair->before->unique != NULL || pair->before->schedule != NULL ||
                      pair->before->limits != NULL;
    if (is_counted)
        told.help = "keep a worker on the old queue until it is empty; unique keys, limits and "
                    "schedules are counted in each queue apart, so until then, and until all "
                    "programs are new, there are two of each";
    judge_text(pair, &told);
}

#define OFFSET(member) offsetof(struct lock_settings, member)
static const struct rule rules[] = {
    {DIAG_QUEUE_CHANGED, judge_queue, OFFSET(queue), "the job waits in another queue", "",
     "keep a worker on the old queue until it is empty"},
    {DIAG_UNIQUE_KEY_CHANGED, judge_key, OFFSET(unique_key), "runs are unique by another key", "",
     NULL},
    {DIAG_UNIQUE_CHANGED, judge_text, OFFSET(unique), "runs are unique by another rule", "", NULL},
    {DIAG_BACKOFF_CHANGED, judge_both, OFFSET(backoff), "failed runs are retried at other times",
     "", NULL},
    {DIAG_SCHEDULE_CHANGED, judge_both, OFFSET(schedule), "the job has another schedule", "", NULL},
    {DIAG_SCHEDULE_REMOVED, judge_gone, OFFSET(schedule), "the job has no schedule any more", "",
     NULL},
#define LOCKED(member, key, unit, judge, rule, suffix, text)                                       \
    {DIAG_##rule, judge_##judge, OFFSET(key), text, suffix, NULL},
#include "settings.def"
};

/* ---- limits ---- */

/* What is said of the limits of one kind when they changed. */
struct limit_rule {
    enum diag_id id;
    void (*judge)(struct setting_pair *pair, const struct limit_rule *rule);
    const char *kind, *text;
};

/* The next limit from `at` on that is of this kind. */
static const struct lock_limit *limit_of(const struct lock_limit *at, const char *kind)
{
    while (at != NULL && strcmp(at->kind, kind) != 0)
        at = at->next;
    return at;
}

static const struct lock_limit *limit_find(const struct lock_limit *at, const char *kind,
                                           const char *key)
{
    while ((at = limit_of(at, kind)) != NULL && strcmp(at->key, key) != 0)
        at = at->next;
    return at;
}

/* The first limit of the kind whose key `others` lack. */
static const struct lock_limit *limit_alone(const struct lock_limit *at,
                                            const struct lock_limit *others, const char *kind)
{
    while ((at = limit_of(at, kind)) != NULL && limit_find(others, kind, at->key) != NULL)
        at = at->next;
    return at;
}

static void limit_write(struct buf *buf, const struct lock_limit *limit)
{
    if (strcmp(limit->kind, "needs") == 0) {
        buf_printf(buf, "\"%s\" %" PRId64, limit->key, limit->count);
        return;
    }
    if (limit->per_ms >= 0)
        buf_printf(buf, "%" PRId64 " per %" PRId64 " ms burst %" PRId64, limit->count,
                   limit->per_ms, limit->burst);
    else if (limit->count >= 0)
        buf_printf(buf, "%" PRId64, limit->count);
    if (*limit->key != '\0')
        buf_printf(buf, "%sby (%s)", limit->count >= 0 ? " " : "", limit->key);
}

/* All of one kind. */
static const char *limits_text(struct arena *arena, const struct lock_limit *at, const char *kind)
{
    struct buf buf = {0};
    buf_text(&buf, limit_of(at, kind) == NULL ? "none" : "");
    for (at = limit_of(at, kind); at != NULL; at = limit_of(at->next, kind)) {
        if (buf.len > 0)
            buf_text(&buf, "; ");
        limit_write(&buf, at);
    }
    const char *text = arena_copy(arena, buf.data, buf.len);
    buf_release(&buf);
    return text;
}

static void report_limits(struct setting_pair *pair, const struct limit_rule *rule)
{
    pair->spot.was = limits_text(pair->judge->change->arena, pair->before->limits, rule->kind);
    judge_report(pair->judge, rule->id, &pair->spot, "%s", rule->text);
}

/* A limit by one key has become one by another. */
static void judge_limit_key(struct setting_pair *pair, const struct limit_rule *rule)
{
    const struct lock_limit *before = pair->before->limits, *after = pair->after->limits;
    if (limit_alone(before, after, rule->kind) != NULL &&
        limit_alone(after, before, rule->kind) != NULL)
        report_limits(pair, rule);
}

static bool is_same_number(const struct lock_limit *a, const struct lock_limit *b)
{
    return a->count == b->count && a->per_ms == b->per_ms && a->burst == b->burst;
}

/* Whether the limits without a partner of the same key are as many, with the same numbers. */
static bool is_same_alone(const struct lock_limit *before, const struct lock_limit *after,
                          const char *kind)
{
    const struct lock_limit *gone = limit_alone(before, after, kind);
    const struct lock_limit *come = limit_alone(after, before, kind);
    while (gone != NULL && come != NULL && is_same_number(gone, come)) {
        gone = limit_alone(gone->next, after, kind);
        come = limit_alone(come->next, before, kind);
    }
    return gone == NULL && come == NULL;
}

static size_t limits_count(const struct lock_limit *at, const char *kind)
{
    size_t count = 0;
    for (at = limit_of(at, kind); at != NULL; at = limit_of(at->next, kind))
        count++;
    return count;
}

/* There is one more, or one less. */
static void judge_limit_count(struct setting_pair *pair, const struct limit_rule *rule)
{
    if (limits_count(pair->before->limits, rule->kind) !=
        limits_count(pair->after->limits, rule->kind))
        report_limits(pair, rule);
}

/* One has another number. */
static void judge_limit(struct setting_pair *pair, const struct limit_rule *rule)
{
    const struct lock_limit *before = pair->before->limits, *after = pair->after->limits;
    bool is_same = is_same_alone(before, after, rule->kind) ||
                   limits_count(before, rule->kind) != limits_count(after, rule->kind);
    for (const struct lock_limit *at = limit_of(before, rule->kind); at != NULL;
         at = limit_of(at->next, rule->kind)) {
        const struct lock_limit *now = limit_find(after, rule->kind, at->key);
        is_same = is_same && (now == NULL || is_same_number(now, at));
    }
    if (!is_same)
        report_limits(pair, rule);
}

/* Any difference. */
static void judge_fair(struct setting_pair *pair, const struct limit_rule *rule)
{
    const struct lock_limit *before = limit_of(pair->before->limits, rule->kind);
    const struct lock_limit *after = limit_of(pair->after->limits, rule->kind);
    const char *was = before != NULL ? before->key : "", *is = after != NULL ? after->key : "";
    if (strcmp(was, is) != 0)
        report_limits(pair, rule);
}

/* Any difference: they are sorted. */
static void judge_needs(struct setting_pair *pair, const struct limit_rule *rule)
{
    struct arena *arena = pair->judge->change->arena;
    const char *was = limits_text(arena, pair->before->limits, rule->kind);
    if (strcmp(was, limits_text(arena, pair->after->limits, rule->kind)) != 0)
        report_limits(pair, rule);
}

static const struct limit_rule limit_rules[] = {
    {DIAG_CONCURRENCY_KEY_CHANGED, judge_limit_key, "concurrency",
     "concurrency is counted by another key"},
    {DIAG_RATE_KEY_CHANGED, judge_limit_key, "rate", "the rate is counted by another key"},
    {DIAG_LIMIT_SET_CHANGED, judge_limit_count, "concurrency",
     "new runs have another set of 'concurrency'"},
    {DIAG_LIMIT_SET_CHANGED, judge_limit_count, "rate", "new runs have another set of 'rate'"},
    {DIAG_CONCURRENCY_CHANGED, judge_limit, "concurrency",
     "another number of runs may go on at a time"},
    {DIAG_RATE_CHANGED, judge_limit, "rate", "runs are started at another rate"},
    {DIAG_FAIR_CHANGED, judge_fair, "fair", "runs take turns by another rule"},
    {DIAG_NEEDS_CHANGED, judge_needs, "needs", "runs need something else of a worker"},
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
        for (size_t i = 0; i < sizeof(limit_rules) / sizeof(limit_rules[0]); i++) {
            if (limit_rules[i].id == (enum diag_id)id)
                limit_rules[i].judge(&pair, &limit_rules[i]);
        }
    }
}
