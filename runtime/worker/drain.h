/* worker/drain.h - what keeps a drain from its end. */
#ifndef CULEX_WORKER_DRAIN_H
#define CULEX_WORKER_DRAIN_H

#include <culex/worker.h>

#include "base/limits.h"
#include "base/notice.h"

/* Runs that this worker cannot execute: no handler knows them, or it cannot read them. */
struct culex_left {
    uint64_t count;
    uint64_t unserved;                /* of these, those whose job needs what is not offered here */
    uint64_t unreadable;              /* the others whose job has a handler here */
    char job[CULEX_JOB_NAME_MAX + 1]; /* of the first of them */
    bool has_others;                  /* of other jobs */
};

struct culex_drain {
    int64_t look_ns;        /* not before, the store is asked for what is left */
    struct culex_left left; /* what the worker ended without */
    struct culex_notice notice;
    int64_t scheduled_look_ns; /* not before, the store is asked for scheduled runs */
};

/* At the start of a worker's life. */
void culex__drain_reset(culex_worker *worker);

/* All runs that are left are of jobs that are not registered here or need more than is offered, or
 * were given back by this worker, which cannot read them; and no other worker is running one of
 * them. Reads the store: up
 * to all scheduled and waiting runs when it is true, mostly figures and one page when it is not,
 * and that once a second at most. False also when the store does not let us list. What is left
 * stands in drain.left then. */
bool culex__drain_is_stuck(culex_worker *worker, int64_t now_ns);

/* A line, once a minute, when all runs that are left are those of paused queues. */
void culex__drain_tell_paused(culex_worker *worker, int64_t now_ns);

/* A line, once a minute, when all runs that are left are scheduled, paused queues and runs that
 * this worker cannot execute aside, and the first of them is not due for some seconds. Reads the
 * store: some pages a minute, or the figures of a queue once a second. */
void culex__drain_tell_scheduled(culex_worker *worker, int64_t now_ns);

#endif
