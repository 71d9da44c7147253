/* worker/drain.h - what keeps a drain from its end. */
#ifndef CULEX_WORKER_DRAIN_H
#define CULEX_WORKER_DRAIN_H

#include <culex/worker.h>
#include "base/limits.h"

/* Runs that no handler of this worker knows. */
struct culex_left {
    uint64_t count;
    char job[CULEX_JOB_NAME_MAX + 1]; /* of the first of them */
    bool has_others;                  /* of other jobs */
};

/* All runs that are left are of jobs that are not registered here, and no other worker is running
 * one of them. Reads the store: up to all scheduled and waiting runs when it is true,
 * mostly one page when it is not. False also when the store does not let us list. */
bool culex__drain_is_stuck(const culex_worker *worker, struct culex_left *ret_left);

/* A line, once a minute, when all runs that are left are those of paused queues. */
void culex__drain_tell_paused(culex_worker *worker, int64_t now_ns);

#endif
