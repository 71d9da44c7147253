/* worker/crew.h - the crew: a worker's executor, and how many runs it holds.
 *
 * All that the worker asks of its executor is asked here, where also stands what holds of an
 * executor that leaves an operation out. A run is in the crew's hands from submit until it is
 * collected or withdrawn. */
#ifndef CULEX_WORKER_CREW_H
#define CULEX_WORKER_CREW_H

#include <culex/worker.h>

#include "base/limits.h"

struct culex_executor;
struct culex_run;

struct culex_crew {
    struct culex_executor *executor; /* NULL: before start and after end */
    size_t count;                    /* runs in its hands */
    bool is_broken;                  /* see culex__crew_breaks, */
    const char *broken_text;         /* and why */
};

/* Makes the executor that the worker's options ask for. */
culex_status culex__crew_start(culex_worker *worker, culex_error *error);

/* Ends it. What handlers that do not return still hold, the executor frees. Does nothing without
 * one. */
void culex__crew_end(culex_worker *worker);

/* Ties a blank run to the executor: where it logs, and how it tells of news. */
void culex__crew_bind(const culex_worker *worker, struct culex_run *run);

/* These are as the operations of executor.h. Collect and withdraw return CULEX_BATCH_MAX runs at
 * most; there may be more when they return as many. */
void culex__crew_submit(culex_worker *worker, struct culex_run *const *runs, size_t count);
size_t culex__crew_collect(culex_worker *worker, struct culex_run *ret_runs[CULEX_BATCH_MAX]);
size_t culex__crew_withdraw(culex_worker *worker, struct culex_run *ret_runs[CULEX_BATCH_MAX]);
size_t culex__crew_queued(const culex_worker *worker);
int culex__crew_fd(const culex_worker *worker);
void culex__crew_cancel(const culex_worker *worker, struct culex_run *run, int64_t term_ns,
                        int64_t kill_ns);
void culex__crew_renew(const culex_worker *worker, struct culex_run *run);
bool culex__crew_can_kill(const culex_worker *worker);

/* Handlers that can be at work at a time: fewer than wanted while their processes cannot be
 * started, or the program's set-up of them fails. */
size_t culex__crew_capacity(const culex_worker *worker);

/* A handler has asked for more time since the last call. */
bool culex__crew_take_news(const culex_worker *worker);

/* It can run nothing any more. */
bool culex__crew_is_gone(const culex_worker *worker);

/* The same, true once: from then on crew.is_broken says it. A drain has waited in vain by `now_ns`
 * (boot time) when for half a minute it had no process of a handler and could start none; other
 * workers wait on, as for their store. */
bool culex__crew_breaks(culex_worker *worker, int64_t now_ns);

/* When that is so if nothing changes, INT64_MAX for never. */
int64_t culex__crew_next_ns(const culex_worker *worker);

#endif
