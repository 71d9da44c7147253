/* ops/command/returned.c - which runs of a queue go back again and again. */
#include "command/returned.h"

#include <stdio.h>
#include <string.h>

#include "command/print.h"

enum { JOBS_MAX = 16, ATTEMPTS_LEAST = 3, NAME_MAX_LEN = 255 };

/* The runs of one version of a job that were begun and charged with nothing. */
struct job {
    char name[NAME_MAX_LEN + 1];
    uint64_t fingerprint, runs;
    uint32_t attempts; /* of `id`, which has the most */
    culex_uuid id;
};

struct search {
    struct job jobs[JOBS_MAX];
    size_t count;
};

static struct job *job_find(struct search *search, const culex_run_info *run)
{
    for (size_t i = 0; i < search->count; i++) {
        struct job *job = &search->jobs[i];
        if (job->fingerprint == run->fingerprint && strcmp(job->name, run->job) == 0)
            return job;
    }
    if (search->count == JOBS_MAX)
        return NULL;
    struct job *job = &search->jobs[search->count++];
    *job = (struct job){.fingerprint = run->fingerprint};
    snprintf(job->name, sizeof job->name, "%s", run->job);
    return job;
}

static bool run_see(const culex_run_info *run, void *user)
{
    if (run->attempt < ATTEMPTS_LEAST || run->failures + run->crashes + run->losses > 0)
        return true;
    struct job *job = job_find(user, run);
    if (job == NULL)
        return true;
    job->runs++;
    if (run->attempt > job->attempts) {
        job->attempts = run->attempt;
        job->id = run->id;
    }
    return true;
}

/* A run that snoozes is charged with nothing either, nor one that a claim of other jobs passed by:
 * its text tells them apart. */
static bool is_given_back(const char *text)
{
    static const char *const beginnings[] = {"no handler is registered for this job",
                                             "not understood: "};
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        if (strncmp(text, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    }
    return false;
}

static culex_status job_judge(struct ops *ops, const char *queue, const struct job *job,
                              struct ops_returned *returned, culex_error *error)
{
    culex_run_info *run = NULL;
    culex_status status = culex_client_get(ops->client, queue, job->id, &run, error);
    if (status == CULEX_OK && is_given_back(run->error_text)) {
        if (returned->count == 0)
            snprintf(returned->text, sizeof returned->text, "%.64s, %u times: %s", job->name,
                     (unsigned)job->attempts, run->error_text);
        returned->count += job->runs;
    }
    culex_run_info_free(run);
    return status == CULEX_ENOTFOUND ? CULEX_OK : status;
}

culex_status ops_returned_read(struct ops *ops, const char *queue,
                               struct ops_returned *ret_returned, culex_error *error)
{
    static const culex_run_state states[] = {CULEX_RUN_SCHEDULED, CULEX_RUN_WAITING};
    struct search search = {.count = 0};
    culex_status status = CULEX_OK;
    *ret_returned = (struct ops_returned){.count = 0};
    for (size_t i = 0; i < 2 && status == CULEX_OK; i++) {
        culex_list_cursor cursor = {.place = 0};
        status =
            culex_client_list(ops->client, queue, states[i], &cursor, 0, run_see, &search, error);
    }
    for (size_t i = 0; i < search.count && status == CULEX_OK; i++)
        status = job_judge(ops, queue, &search.jobs[i], ret_returned, error);
    return status;
}
