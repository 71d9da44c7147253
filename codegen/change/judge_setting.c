/* Settings: nothing that is stored changes its meaning, but operators should know. */
#include <inttypes.h>
#include <string.h>

#include "judge.h"

struct setting_pair {
    struct judge *judge;
    const struct lock_settings *before, *after;
    struct spot spot;
};

static const char *or_none(const char *text)
{
    return text == NULL ? "none" : text;
}

/* Any change counts, also from or to nothing. `help` may be NULL. */
static void judge_text(struct setting_pair *pair, enum diag_id id, const char *before,
                       const char *after, const char *what, const char *help)
{
    if (strcmp(or_none(before), or_none(after)) == 0)
        return;
    pair->spot.was = or_none(before);
    if (judge_report(pair->judge, id, &pair->spot, "%s", what) && help != NULL)
        diag_help(pair->judge->change->sink, "%s", help);
}

/* Lower, where not set means without end. */
static void judge_lowered(struct setting_pair *pair, enum diag_id id, int64_t before, int64_t after,
                          const char *unit, const char *what)
{
    struct arena *arena = pair->judge->change->arena;
    if (after < 0 || (before >= 0 && before <= after))
        return;
    pair->spot.was = before < 0 ? "none" : arena_printf(arena, "%" PRId64 "%s", before, unit);
    judge_report(pair->judge, id, &pair->spot, "%s", what);
}

static const char *number_text(struct arena *arena, int64_t number)
{
    return number < 0 ? NULL : arena_printf(arena, "%" PRId64, number);
}

/* Without retries on one side, or in a lock of before this was remembered, there is nothing to
 * compare. */
static void judge_backoff(struct setting_pair *pair)
{
    if (pair->before->backoff != NULL && pair->after->backoff != NULL)
        judge_text(pair, DIAG_BACKOFF_CHANGED, pair->before->backoff, pair->after->backoff,
                   "failed runs are retried at other times", NULL);
}

static void judge_rules(struct setting_pair *pair)
{
    const struct lock_settings *old = pair->before, *new = pair->after;
    struct arena *arena = pair->judge->change->arena;
    judge_text(pair, DIAG_PRIORITY_CHANGED, number_text(arena, old->priority),
               number_text(arena, new->priority), "new runs have another priority", NULL);
    judge_text(pair, DIAG_UNIQUE_CHANGED, old->unique, new->unique,
               "runs are unique by another rule", NULL);
    judge_text(pair, DIAG_CONCURRENCY_CHANGED, number_text(arena, old->concurrency),
               number_text(arena, new->concurrency), "another number of runs may go on at a time",
               NULL);
    judge_text(pair, DIAG_RATE_CHANGED, old->rate, new->rate, "runs are started at another rate",
               NULL);
}

static void judge_key(struct setting_pair *pair, enum diag_id id, const char *before,
                      const char *after, const char *what)
{
    if (before == NULL || after == NULL || strcmp(before, after) == 0)
        return; /* Without the setting on one side, no key of it is in use there. */
    pair->spot.was = arena_printf(pair->judge->change->arena, "by (%s)", before);
    judge_report(pair->judge, id, &pair->spot, "%s", what);
}

static void judge_schedule(struct setting_pair *pair)
{
    const char *before = pair->before->schedule, *after = pair->after->schedule;
    if (before == NULL)
        return;
    pair->spot.was = before;
    if (after == NULL)
        judge_report(pair->judge, DIAG_SCHEDULE_REMOVED, &pair->spot,
                     "the job has no schedule any more");
    else if (strcmp(before, after) != 0)
        judge_report(pair->judge, DIAG_SCHEDULE_CHANGED, &pair->spot,
                     "the job has another schedule");
}

void judge_settings(struct judge *judge, const struct lock_job *before,
                    const struct lock_job *after)
{
    const struct lock_settings *old = before->settings, *new = after->settings;
    struct setting_pair pair = {judge, old, new, {.span = after->span, .block = after->allows}};
    judge_text(&pair, DIAG_QUEUE_CHANGED, old->queue, new->queue, "the job waits in another queue",
               "keep a worker on the old queue until it is empty");
    judge_key(&pair, DIAG_UNIQUE_KEY_CHANGED, old->unique_key, new->unique_key,
              "runs are unique by another key");
    judge_key(&pair, DIAG_CONCURRENCY_KEY_CHANGED, old->concurrency_key, new->concurrency_key,
              "concurrency is counted by another key");
    judge_key(&pair, DIAG_RATE_KEY_CHANGED, old->rate_key, new->rate_key,
              "the rate is counted by another key");
    judge_rules(&pair);
    judge_backoff(&pair);
    judge_schedule(&pair);
    judge_lowered(&pair, DIAG_EXPIRES_LOWERED, old->expires_ms, new->expires_ms, " ms",
                  "runs expire earlier");
    judge_lowered(&pair, DIAG_TIMEOUT_LOWERED, old->timeout_ms, new->timeout_ms, " ms",
                  "attempts have less time");
    judge_lowered(&pair, DIAG_RETRY_LOWERED, old->retries, new->retries, "",
                  "failed runs are retried less often");
    judge_lowered(&pair, DIAG_KEEP_LOWERED, old->keep_success_ms, new->keep_success_ms,
                  " ms after success", "records of runs are kept for less time");
    judge_lowered(&pair, DIAG_KEEP_LOWERED, old->keep_failure_ms, new->keep_failure_ms,
                  " ms after failure", "records of failed runs are kept for less time");
    judge_lowered(&pair, DIAG_MEMORY_LOWERED, old->memory, new->memory, " bytes",
                  "attempts have less memory");
}
