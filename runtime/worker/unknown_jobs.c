#include "worker/unknown_jobs.h"

#include <stdio.h>
#include <string.h>

#define TELL_NS INT64_C(60000000000) /* between lines about one job */

static bool row_is_old(const struct culex_unknown_job *row, int64_t now_ns)
{
    return now_ns - row->told_ns >= TELL_NS;
}

static struct culex_unknown_job *row_find(struct culex_unknown_jobs *jobs, const char *name)
{
    for (size_t i = 0; i < jobs->count; i++) {
        if (strcmp(jobs->rows[i].name, name) == 0)
            return &jobs->rows[i];
    }
    return NULL;
}

/* A row that was never used, or the one that was told longest ago. */
static struct culex_unknown_job *row_free(struct culex_unknown_jobs *jobs, int64_t now_ns)
{
    struct culex_unknown_job *oldest = &jobs->rows[0];
    if (jobs->count < CULEX__UNKNOWN_JOBS_MAX)
        return &jobs->rows[jobs->count++];
    for (size_t i = 1; i < jobs->count; i++) {
        if (jobs->rows[i].told_ns < oldest->told_ns)
            oldest = &jobs->rows[i];
    }
    return row_is_old(oldest, now_ns) ? oldest : NULL;
}

static struct culex_unknown_job *row_begin(struct culex_unknown_jobs *jobs, const char *name,
                                           int64_t now_ns)
{
    struct culex_unknown_job *row = row_free(jobs, now_ns);
    if (row == NULL)
        return NULL;
    jobs->untold += row->untold;
    row->untold = 0;
    snprintf(row->name, sizeof row->name, "%s", name);
    return row;
}

static void row_tell(struct culex_unknown_jobs *jobs, struct culex_unknown_job *row, int64_t now_ns,
                     struct culex_unknown_news *ret_news)
{
    *ret_news = (struct culex_unknown_news){row->untold, jobs->untold};
    row->untold = jobs->untold = 0;
    row->told_ns = now_ns;
}

bool culex__unknown_jobs_note(struct culex_unknown_jobs *jobs, const char *name, int64_t now_ns,
                              struct culex_unknown_news *ret_news)
{
    struct culex_unknown_job *row = row_find(jobs, name);
    bool is_due = row == NULL || row_is_old(row, now_ns);
    if (row == NULL)
        row = row_begin(jobs, name, now_ns);
    if (row != NULL && is_due)
        row_tell(jobs, row, now_ns, ret_news);
    else if (row != NULL)
        row->untold++;
    else
        jobs->untold++;
    return row != NULL && is_due;
}
