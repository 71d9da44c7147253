/* change.c - compares jobs of the same name, and each job with what may still be stored of its
 * past. */
#include "change.h"

#include <string.h>

#include "judge.h"

static void judge_retired(struct judge *judge, const struct lock_job *before,
                          const struct lock_job *after)
{
    struct spot spot = judge_spot(after);
    if (before->is_retired && !after->is_retired)
        judge_report(judge, DIAG_RETIRED_REMOVED, &spot,
                     "'%s' was retired, and old workers end its runs", after->wire);
    if (!before->is_retired && after->is_retired &&
        judge_report(judge, DIAG_JOB_RETIRED, &spot, "queued runs of '%s' end up dead",
                     after->wire))
        diag_help(judge->change->sink,
                  "register it without a handler (NULL) in a worker of its queue");
}

static void judge_result(struct judge *judge, const struct lock_job *before,
                         const struct lock_job *after)
{
    struct spot spot = judge_spot(after);
    if (before->returns != NULL && after->returns == NULL) {
        judge_report(judge, DIAG_RESULT_REMOVED, &spot, "'%s' returns nothing any more",
                     after->wire);
    } else if (before->returns != NULL) {
        judge->is_result = true;
        judge_block(judge, before->returns, after->returns, &spot);
        judge->is_result = false;
    }
}

/* What no time forgets: whichever run set it last, others read it. */
static void judge_metadata(struct judge *judge, const struct lock_job *before,
                           const struct lock_job *after)
{
    struct spot spot = judge_spot(after);
    if (before->metadata == NULL || after->metadata == NULL)
        return;
    judge->is_metadata = true;
    judge_block(judge, before->metadata, after->metadata, &spot);
    judge->is_metadata = false;
}

/* A break that hurts nobody right now is still worth a word. */
static void say_forgiven(const struct judge *judge, const struct lock_job *job,
                         const char *fingerprint)
{
    struct diag_sink *sink = judge->change->sink;
    if (judge->forgiven == 0)
        return;
    diag_report(sink, DIAG_VERSION_NOT_STORED, job->span,
                "%u of these changes would break runs of version %s of '%s', and none is stored",
                judge->forgiven, fingerprint, job->wire);
    diag_help(sink, "stop what enqueues the old version before the new workers start");
}

static bool is_stored(const struct change *change, const struct lock_job *job,
                      const char *fingerprint)
{
    return change->live == NULL || live_has(change->live, job->wire, fingerprint);
}

/* The versions of one block that the lock remembers; `newest`: what it was when locked, or NULL. */
static void judge_versions(struct judge *judge, const struct lock_version *version,
                           const struct lock_block *newest, const struct lock_block *after,
                           const struct spot *spot)
{
    struct map past;
    struct spot with_past = *spot;
    map_init(&past, &judge->scratch);
    for (struct lock_field *at = newest == NULL ? NULL : newest->fields; at != NULL; at = at->next)
        map_add(&past, at->wire, at);
    with_past.past = &past;
    judge->version = version->fingerprint;
    judge_block(judge, &(struct lock_block){.fields = version->fields}, after, &with_past);
}

static void judge_history(const struct change *change, const struct lock_job *before,
                          const struct lock_job *after)
{
    struct spot spot = judge_spot(after);
    spot.past_block = before->allows;
    for (const struct lock_version *at = before->versions; at != NULL; at = at->next) {
        struct judge judge;
        judge_init(&judge, change);
        judge.is_retired = after->is_retired;
        judge.is_forgiven = !is_stored(change, after, at->fingerprint);
        judge_versions(&judge, at, before->params, after->params, &spot);
        say_forgiven(&judge, after, at->fingerprint);
        judge_release(&judge);
    }
}

/* Results that callers may still read. */
static void judge_results(const struct change *change, const struct lock_job *before,
                          const struct lock_job *after)
{
    struct spot spot = judge_spot(after);
    spot.past_block = before->allows;
    for (const struct lock_version *at = before->results; at != NULL && after->returns != NULL;
         at = at->next) {
        struct judge judge;
        judge_init(&judge, change);
        judge.is_retired = after->is_retired;
        judge.is_result = true;
        judge_versions(&judge, at, before->returns, after->returns, &spot);
        judge_release(&judge);
    }
}

/* What matters to programs that still call the job. */
static void judge_calls(struct judge *judge, const struct lock_job *before,
                        const struct lock_job *after)
{
    struct spot spot = judge_spot(after);
    bool is_forgiven = judge->is_forgiven;
    judge->is_forgiven = false; /* A listing does not tell of results. */
    judge_result(judge, before, after);
    judge_metadata(judge, before, after);
    judge->is_forgiven = is_forgiven;
    spot.was = before->name;
    if (strcmp(before->c, after->c) != 0)
        judge_report(judge, DIAG_JOB_RENAMED, &spot, "the C names of the job are others");
    judge_settings(judge, before, after);
}

static void judge_job(const struct change *change, const struct lock_job *before,
                      const struct lock_job *after)
{
    struct judge judge;
    struct spot spot = judge_spot(after);
    judge_init(&judge, change);
    judge.is_forgiven = !is_stored(change, after, before->fingerprint);
    judge_retired(&judge, before, after);
    judge.is_retired = after->is_retired;
    judge_block(&judge, before->params, after->params, &spot);
    judge_calls(&judge, before, after);
    say_forgiven(&judge, after, before->fingerprint);
    judge_release(&judge);
    judge_history(change, before, after);
    judge_results(change, before, after);
}

/* ---- what the store has ---- */

static void judge_stored(const struct change *change, const struct live_runs *runs)
{
    const struct lock_job *before = lock_job_find(change->before, runs->job);
    const struct lock_job *after = lock_job_find(change->after, runs->job);
    if (after == NULL) {
        if (before == NULL || before->is_retired) /* One of the lock is reported as removed. */
            diag_report(change->sink, DIAG_STORED_JOB_UNKNOWN, runs->span,
                        "the store has runs of '%s', which no schema declares", runs->job);
        return;
    }
    if (strcmp(after->fingerprint, runs->fingerprint) == 0 ||
        (before != NULL && strcmp(before->fingerprint, runs->fingerprint) == 0))
        return;
    for (const struct lock_version *at = before == NULL ? NULL : before->versions; at != NULL;
         at = at->next) {
        if (strcmp(at->fingerprint, runs->fingerprint) == 0)
            return;
    }
    diag_report(change->sink, DIAG_STORED_VERSION_UNKNOWN, runs->span,
                "the store has runs of '%s' in a version that the lock does not know", runs->job);
}

static void judge_all(const struct change *change)
{
    for (const struct lock_job *at = change->after->jobs; at != NULL; at = at->next) {
        const struct lock_job *old = lock_job_find(change->before, at->wire);
        if (old != NULL)
            judge_job(change, old, at);
    }
    judge_lost(change);
    judge_chains(change);
    judge_type_names(change, change->met);
    for (const struct live_runs *at = change->live == NULL ? NULL : change->live->first; at != NULL;
         at = at->next)
        judge_stored(change, at);
}

void change_compare(const struct change *change)
{
    struct change own = *change;
    struct arena scratch = {0};
    struct map met;
    map_init(&met, &scratch);
    own.met = &met;
    judge_all(&own);
    arena_release(&scratch);
}
