/* change_compare: jobs against jobs, and each job against what is left of its own past. */
#include "change.h"

#include <string.h>

#include "judge.h"

static struct spot spot_of_job(const struct lock_job *job)
{
    return (struct spot){.span = job->span, .block = job->allows};
}

/* ---- jobs that have one of their own on the other side ---- */

static void judge_retired(struct judge *judge, const struct lock_job *before,
                          const struct lock_job *after)
{
    struct spot spot = spot_of_job(after);
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
    struct spot spot = spot_of_job(after);
    if (before->returns != NULL && after->returns == NULL) {
        judge_report(judge, DIAG_RESULT_REMOVED, &spot, "'%s' returns nothing any more",
                     after->wire);
    } else if (before->returns != NULL) {
        judge->is_result = true;
        judge_block(judge, before->returns, after->returns, &spot);
        judge->is_result = false;
    }
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

static void judge_history(const struct change *change, const struct lock_job *before,
                          const struct lock_job *after)
{
    struct spot spot = spot_of_job(after);
    spot.past_block = before->allows;
    spot.past = before->params;
    for (const struct lock_version *at = before->versions; at != NULL; at = at->next) {
        struct lock_block block = {.fields = at->fields};
        struct judge judge;
        judge_init(&judge, change);
        judge.version = at->fingerprint;
        judge.is_retired = after->is_retired;
        judge.is_forgiven = !is_stored(change, after, at->fingerprint);
        judge_block(&judge, &block, after->params, &spot);
        say_forgiven(&judge, after, at->fingerprint);
        judge_release(&judge);
    }
}

/* What matters to those who still call the job. */
static void judge_calls(struct judge *judge, const struct lock_job *before,
                        const struct lock_job *after)
{
    struct spot spot = spot_of_job(after);
    bool is_forgiven = judge->is_forgiven;
    judge->is_forgiven = false; /* Of results a listing says nothing. */
    judge_result(judge, before, after);
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
    struct spot spot = spot_of_job(after);
    judge_init(&judge, change);
    judge.is_forgiven = !is_stored(change, after, before->fingerprint);
    judge_retired(&judge, before, after);
    judge.is_retired = after->is_retired;
    judge_block(&judge, before->params, after->params, &spot);
    judge_calls(&judge, before, after);
    say_forgiven(&judge, after, before->fingerprint);
    judge_release(&judge);
    judge_history(change, before, after);
}

/* ---- jobs that have not ---- */

static const char *last_part(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot == NULL ? name : dot + 1;
}

static bool has_package(const struct lock *lock, const char *package)
{
    const struct lock_job *job = lock->jobs;
    size_t len = package == NULL ? 0 : strlen(package);
    for (; job != NULL; job = job->next) {
        if ((job->package == NULL) == (package == NULL) &&
            (package == NULL || (strlen(job->package) == len && !strcmp(job->package, package))))
            return true;
    }
    return false;
}

static const struct lock_job *find_name(const struct lock *lock, const char *name)
{
    const struct lock_job *job = lock->jobs;
    while (job != NULL && strcmp(job->name, name) != 0)
        job = job->next;
    return job;
}

/* A new job with the same last name, and no job is left in the old package. */
static const struct lock_job *find_moved(const struct change *change, const struct lock_job *old)
{
    const struct lock_job *job = change->after->jobs;
    if (has_package(change->after, old->package))
        return NULL;
    while (job != NULL && (strcmp(last_part(job->wire), last_part(old->wire)) != 0 ||
                           lock_job_find(change->before, job->wire) != NULL))
        job = job->next;
    return job;
}

/* A new job of the same package that takes the same params. */
static const struct lock_job *find_renamed(const struct change *change, const struct lock_job *old)
{
    const struct lock_job *job = change->after->jobs;
    for (; job != NULL; job = job->next) {
        bool is_near = (job->package == NULL) == (old->package == NULL) &&
                       (job->package == NULL || strcmp(job->package, old->package) == 0);
        if (is_near && strcmp(job->fingerprint, old->fingerprint) == 0 &&
            lock_job_find(change->before, job->wire) == NULL)
            return job;
    }
    return NULL;
}

/* The start of a file with jobs of the same package, else of the first file. */
static struct span spot_of_package(const struct lock *lock, const char *package)
{
    for (const struct lock_job *job = lock->jobs; job != NULL && package != NULL; job = job->next) {
        if (job->package != NULL && strcmp(job->package, package) == 0)
            return (struct span){job->span.source, 0, 0};
    }
    return lock->span;
}

static void say_was(struct judge *judge, const struct lock_job *old, const struct lock_job *job)
{
    struct spot spot = spot_of_job(job);
    spot.was = old->wire;
    if (judge_report(judge, DIAG_WAS_REMOVED, &spot, "'%s' is '%s' in the queue, not '%s'",
                     job->name, old->wire, job->wire))
        diag_help(judge->change->sink, "write: [[was(\"%s\")]]", last_part(old->wire));
}

static void say_moved(struct judge *judge, const struct lock_job *old, const struct lock_job *job)
{
    struct spot spot = {.span = {job->span.source, 0, 0}, .block = job->allows};
    spot.was = old->package == NULL ? "no package" : old->package;
    if (judge_report(judge, DIAG_PACKAGE_CHANGED, &spot,
                     "the jobs are in another package, so stored runs do not find them"))
        diag_help(judge->change->sink, "keep the package; new jobs can have another one");
}

static void say_renamed(struct judge *judge, const struct lock_job *old, const struct lock_job *job)
{
    struct spot spot = spot_of_job(job);
    spot.was = old->wire;
    if (judge_report(judge, DIAG_JOB_RENAMED_WITHOUT_WAS, &spot,
                     "'%s' seems to be '%s' with a new name", job->name, old->wire))
        diag_help(judge->change->sink,
                  "write: [[was(\"%s\")]]; if it is another job, keep the old "
                  "one as: job %s [[retired]];",
                  last_part(old->wire), last_part(old->wire));
}

static void say_removed(struct judge *judge, const struct lock_job *old)
{
    struct spot spot = {.span = spot_of_package(judge->change->after, old->package)};
    spot.was = arena_printf(judge->change->arena, "job %s", old->wire);
    if (judge_report(judge, DIAG_JOB_REMOVED, &spot, "job '%s' was removed", old->wire))
        diag_help(judge->change->sink, "write: job %s [[retired]]; until no run of it is left",
                  last_part(old->wire));
}

static bool is_any_stored(const struct change *change, const struct lock_job *job)
{
    if (change->live == NULL)
        return true;
    for (const struct live_runs *at = change->live->first; at != NULL; at = at->next) {
        if (strcmp(at->job, job->wire) == 0)
            return true;
    }
    return false;
}

static void judge_lost(const struct change *change, const struct lock_job *old)
{
    struct judge judge;
    const struct lock_job *same = find_name(change->after, old->name);
    const struct lock_job *moved = find_moved(change, old);
    const struct lock_job *renamed = find_renamed(change, old);
    judge_init(&judge, change);
    judge.is_forgiven = !is_any_stored(change, old);
    if (same != NULL && lock_job_find(change->before, same->wire) == NULL)
        say_was(&judge, old, same);
    else if (moved != NULL)
        say_moved(&judge, old, moved);
    else if (renamed != NULL && !old->is_retired)
        say_renamed(&judge, old, renamed);
    else if (!old->is_retired)
        say_removed(&judge, old);
    if (judge.forgiven > 0)
        diag_report(
            change->sink, DIAG_VERSION_NOT_STORED, spot_of_package(change->after, old->package),
            "'%s' is no longer there under that name, and no run of it is stored", old->wire);
    judge_release(&judge);
}

static void judge_found(const struct change *change, const struct lock_job *job)
{
    struct judge judge;
    struct spot spot = spot_of_job(job);
    const struct lock_removed *at = change->before->removed;
    judge_init(&judge, change);
    while (at != NULL && strcmp(at->wire, job->wire) != 0)
        at = at->next;
    if (at != NULL && judge_report(&judge, DIAG_JOB_NAME_REUSED, &spot,
                                   "'%s' was a job that is removed", job->wire))
        diag_help(change->sink, "choose another name");
    judge_release(&judge);
}

/* ---- what the store has ---- */

static void judge_stored(const struct change *change, const struct live_runs *runs)
{
    const struct lock_job *before = lock_job_find(change->before, runs->job);
    const struct lock_job *after = lock_job_find(change->after, runs->job);
    if (after == NULL) {
        if (before == NULL || before->is_retired) /* Else it is reported as removed. */
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

void change_compare(const struct change *change)
{
    for (const struct lock_job *at = change->after->jobs; at != NULL; at = at->next) {
        const struct lock_job *old = lock_job_find(change->before, at->wire);
        if (old != NULL)
            judge_job(change, old, at);
        else
            judge_found(change, at);
    }
    for (const struct lock_job *at = change->before->jobs; at != NULL; at = at->next) {
        if (lock_job_find(change->after, at->wire) == NULL)
            judge_lost(change, at);
    }
    for (const struct live_runs *at = change->live == NULL ? NULL : change->live->first; at != NULL;
         at = at->next)
        judge_stored(change, at);
}
