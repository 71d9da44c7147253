/* engine/executor.h - where handlers run: the seam between the worker's loop and user code.
 *
 * The supervisor hands runs over, polls one descriptor, and takes them back ended.
 * Handlers run on threads (executor_threads.c); child processes can take their place
 * behind the same table. All functions are called by the supervisor only, and none
 * of them waits for a handler except `stop`, which is bounded. */
#ifndef CULEX_ENGINE_EXECUTOR_H
#define CULEX_ENGINE_EXECUTOR_H

#include "engine/execution.h"

struct culex_executor;

struct culex_executor_ops {
    const char *name; /* "threads" */

    /* Readable when runs may be collected. */
    int (*fd)(struct culex_executor *executor);

    /* Takes over `count` runs, to be started in this order. Cannot fail. */
    void (*submit)(struct culex_executor *executor, struct culex_run *const *runs, size_t count);

    /* Returns ended runs, at most `max`; the rest keeps the descriptor readable. */
    size_t (*collect)(struct culex_executor *executor, struct culex_run **ret_runs, size_t max);

    /* Returns runs that have not started, newest first; they will not start any more. */
    size_t (*withdraw)(struct culex_executor *executor, struct culex_run **ret_runs, size_t max);

    /* Runs handed over and not yet started. */
    size_t (*queued)(struct culex_executor *executor);

    /* Asks the run's handler to stop: sets the flag; processes may add a signal. */
    void (*cancel)(struct culex_executor *executor, struct culex_run *run);

    /* Called once, when nothing is queued. Ends the executor; runs whose handlers do not
     * return before `deadline_ns` (boot time) are abandoned: the executor keeps and frees
     * them, and they must not be touched any more. Returns how many were abandoned, and
     * frees the executor itself as soon as nothing uses it. */
    size_t (*stop)(struct culex_executor *executor, int64_t deadline_ns);
};

/* First member of every executor's own struct. */
struct culex_executor {
    const struct culex_executor_ops *ops;
    struct culex_log log; /* for the runs: outlives the worker when a handler is stuck */
};

/* `count` handler threads (at least 1). *ret_executor is returned owned: end it with stop. */
culex_status culex__executor_threads_create(unsigned count, const struct culex_log *log,
                                            const struct culex_env *env,
                                            struct culex_executor **ret_executor,
                                            culex_error *error);

#endif
