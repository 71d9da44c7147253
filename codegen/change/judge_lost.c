/* judge_lost.c - jobs that are on one side only: removed, renamed or moved to another package. */
#include <string.h>

#include "judge.h"

/* The jobs of today by all that an older one might be known again by; of those that are new, the
 * first of each kind. */
struct roster {
    const struct change *change;
    struct arena scratch;
    struct map names;    /* as written */
    struct map packages; /* "" for none */
    struct map lasts;    /* of new ones: the last part of the name in a store */
    struct map shapes;   /* of new ones: package and fingerprint */
    struct map removed;  /* names of jobs that were removed before */
};

static const char *package_of(const struct lock_job *job)
{
    return job->package == NULL ? "" : job->package;
}

static const char *shape_of(struct arena *arena, const struct lock_job *job)
{
    return arena_printf(arena, "%s %s", package_of(job), job->fingerprint);
}

static void roster_add(struct roster *roster, struct lock_job *job)
{
    map_add(&roster->names, job->name, job);
    map_add(&roster->packages, package_of(job), job);
    if (lock_job_find(roster->change->before, job->wire) != NULL)
        return;
    map_add(&roster->lasts, judge_last_part(job->wire), job);
    map_add(&roster->shapes, shape_of(&roster->scratch, job), job);
}

static void roster_make(struct roster *roster, const struct change *change)
{
    struct map *const maps[] = {&roster->names, &roster->packages, &roster->lasts, &roster->shapes,
                                &roster->removed};
    *roster = (struct roster){.change = change};
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
        map_init(maps[i], &roster->scratch);
    for (struct lock_job *at = change->after->jobs; at != NULL; at = at->next)
        roster_add(roster, at);
    for (struct lock_removed *at = change->before->removed; at != NULL; at = at->next)
        map_add(&roster->removed, at->wire, at);
}

/* A new job with the same last name, when the old package has no job left. */
static const struct lock_job *find_moved(const struct roster *roster, const struct lock_job *old)
{
    if (map_get(&roster->packages, package_of(old)) != NULL)
        return NULL;
    return map_get(&roster->lasts, judge_last_part(old->wire));
}

/* A new job of the same package that takes the same params. */
static const struct lock_job *find_renamed(struct roster *roster, const struct lock_job *old)
{
    return map_get(&roster->shapes, shape_of(&roster->scratch, old));
}

/* The start of a file with jobs of the same package, else of the first file that was named. */
static struct span spot_of_package(const struct roster *roster, const char *package)
{
    const struct lock_job *job = map_get(&roster->packages, package);
    return job == NULL ? roster->change->after->span : (struct span){job->span.source, 0, 0};
}

static void say_was(struct judge *judge, const struct lock_job *old, const struct lock_job *job)
{
    struct spot spot = judge_spot(job);
    spot.was = old->wire;
    if (judge_report(judge, DIAG_WAS_REMOVED, &spot, "'%s' is '%s' in the queue, not '%s'",
                     job->name, old->wire, job->wire))
        diag_help(judge->change->sink, "write: [[was(\"%s\")]]", judge_last_part(old->wire));
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
    struct spot spot = judge_spot(job);
    spot.was = old->wire;
    if (judge_report(judge, DIAG_JOB_RENAMED_WITHOUT_WAS, &spot,
                     "'%s' seems to be '%s' with a new name", job->name, old->wire))
        diag_help(judge->change->sink,
                  "write: [[was(\"%s\")]]; if it is another job, keep the old "
                  "one as: job %s [[retired]];",
                  judge_last_part(old->wire), judge_last_part(old->wire));
}

/* A lock does not name the files of jobs, so a file that was left out of the call looks the
 * same. */
static void say_removed(struct judge *judge, const struct roster *roster,
                        const struct lock_job *old)
{
    struct spot spot = {.span = spot_of_package(roster, package_of(old))};
    spot.was = arena_printf(judge->change->arena, "job %s", old->wire);
    if (judge_report(judge, DIAG_JOB_REMOVED, &spot, "job '%s' was removed", old->wire))
        diag_help(judge->change->sink,
                  "was its file left out of this call? If it is to go, write: "
                  "job %s [[retired]]; until no run of it is left",
                  judge_last_part(old->wire));
}

static void judge_gone(struct roster *roster, struct judge *judge, const struct lock_job *old)
{
    const struct change *change = roster->change;
    const struct lock_job *same = map_get(&roster->names, old->name);
    const struct lock_job *moved = find_moved(roster, old);
    const struct lock_job *renamed = find_renamed(roster, old);
    if (same != NULL && lock_job_find(change->before, same->wire) == NULL)
        say_was(judge, old, same);
    else if (moved != NULL)
        say_moved(judge, old, moved);
    else if (renamed != NULL && !old->is_retired)
        say_renamed(judge, old, renamed);
    else if (!old->is_retired)
        say_removed(judge, roster, old);
    if (judge->forgiven > 0)
        diag_report(change->sink, DIAG_VERSION_NOT_STORED, spot_of_package(roster, package_of(old)),
                    "'%s' is no longer there under that name, and no run of it is stored",
                    old->wire);
}

static void judge_new(const struct roster *roster, struct judge *judge, const struct lock_job *job)
{
    struct spot spot = judge_spot(job);
    if (map_get(&roster->removed, job->wire) != NULL &&
        judge_report(judge, DIAG_JOB_NAME_REUSED, &spot, "'%s' was a job that is removed",
                     job->wire))
        diag_help(roster->change->sink, "choose another name");
}

void judge_lost(const struct change *change)
{
    struct roster roster;
    struct judge judge;
    roster_make(&roster, change);
    judge_init(&judge, change);
    for (const struct lock_job *at = change->after->jobs; at != NULL; at = at->next) {
        if (lock_job_find(change->before, at->wire) == NULL)
            judge_new(&roster, &judge, at);
    }
    for (const struct lock_job *at = change->before->jobs; at != NULL; at = at->next) {
        judge.forgiven = 0;
        judge.is_forgiven = change->live != NULL && !live_has_job(change->live, at->wire);
        if (lock_job_find(change->after, at->wire) == NULL)
            judge_gone(&roster, &judge, at);
    }
    judge_release(&judge);
    arena_release(&roster.scratch);
}
