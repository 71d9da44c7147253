/* worker/unknown_jobs.h - which jobs without a handler the log has told of, and when.
 *
 * Their runs come by the thousand when a producer is deployed first, and each comes again within a
 * minute. So the first run of a job is told at once, and the others with a later one, once a
 * minute. A store may send any number of names: so many have a row, the others are told of
 * together. */
#ifndef CULEX_WORKER_UNKNOWN_JOBS_H
#define CULEX_WORKER_UNKNOWN_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

enum { CULEX__UNKNOWN_JOBS_MAX = 16 };

struct culex_unknown_job {
    char name[CULEX_JOB_NAME_MAX + 1];
    int64_t told_ns;
    uint64_t untold; /* runs since then */
};

/* Zeroed at first. */
struct culex_unknown_jobs {
    struct culex_unknown_job rows[CULEX__UNKNOWN_JOBS_MAX];
    size_t count;
    uint64_t untold; /* runs of jobs that have no row */
};

/* Runs that came since the last line about them. */
struct culex_unknown_news {
    uint64_t more;   /* of the same job, without this one */
    uint64_t others; /* of jobs that have no row */
};

/* A run of job `name` came; no longer than its row holds. True when it is time for a line, which
 * tells of *ret_news too. */
bool culex__unknown_jobs_note(struct culex_unknown_jobs *jobs, const char *name, int64_t now_ns,
                              struct culex_unknown_news *ret_news);

#endif
