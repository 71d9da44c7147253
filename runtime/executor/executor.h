/* executor/executor.h - where handlers run: the seam between the worker's loop and user code.
 *
 * The supervisor hands runs over, polls one descriptor, and takes them back ended.
 * Handlers run on threads (executor_threads.c) or in child processes (executor_children.c), which
 * the code calls children.
 * All functions are called by the supervisor only, and none of them waits for a handler
 * except `stop`, which is bounded. */
#ifndef CULEX_EXECUTOR_EXECUTOR_H
#define CULEX_EXECUTOR_EXECUTOR_H

#include "handler/errand.h"
#include "handler/execution.h"
#include "handler/handler_config.h"

struct culex_executor;

struct culex_executor_ops {
    const char *name; /* "threads", "process" */

    /* The times given to `cancel` are kept: every run comes back, at the latest soon after its
     * kill_ns, and none is ever abandoned. */
    bool can_kill;

    /* Readable when runs may be collected. */
    int (*fd)(struct culex_executor *executor);

    /* Takes over `count` runs, to be started in this order. Cannot fail. A run that has not
     * started when its flag is set or its lease_ns is over comes back as RELEASE. One that
     * is_suspect gets a child that has run nothing before and runs nothing after. */
    void (*submit)(struct culex_executor *executor, struct culex_run *const *runs, size_t count);

    /* Returns ended runs, at most `max`; the rest keeps the descriptor readable. */
    size_t (*collect)(struct culex_executor *executor, struct culex_run **ret_runs, size_t max);

    /* Returns runs that have not started, newest first; they will not start any more. */
    size_t (*withdraw)(struct culex_executor *executor, struct culex_run **ret_runs, size_t max);

    /* Runs handed over and not yet started. */
    size_t (*queued)(struct culex_executor *executor);

    /* Asks the run's handler to stop: sets its flag now; SIGTERM at `term_ns` and SIGKILL at
     * `kill_ns` (boot time, INT64_MAX for never) to its process and that one's descendants, if it
     * still runs then. Later calls may only hurry: an earlier time wins. A run that is killed so
     * ends as CRASH with a text that names the signal and where the handler was; the supervisor,
     * which knows why it asked, makes of that what it should be. Threads know only the flag. */
    void (*cancel)(struct culex_executor *executor, struct culex_run *run, int64_t term_ns,
                   int64_t kill_ns);

    /* run->lease_ns has moved, which is 0.9 of a lease from the beat, or earlier. The executor
     * of children kills by itself whatever still runs at that time, even while the supervisor is
     * stopped. NULL when there is nothing to do. */
    void (*renew)(struct culex_executor *executor, struct culex_run *run);

    /* True once it can run nothing any more (its zygote has died). Its runs come back as soon as
     * their children are gone; what has not started can be withdrawn. NULL: never. */
    bool (*is_broken)(struct culex_executor *executor);

    /* Handlers that can be at work at a time: all of them, or, while the program's set-up of a
     * child fails or has not come to its end yet, those in which it has. No more runs
     * should be claimed. After a child could not be started: those in children that there are,
     * until there are as many as wanted. The descriptor becomes readable when there are more.
     * NULL: all. */
    size_t (*capacity)(struct culex_executor *executor);

    /* Since when it has had no child and could start none (boot time); INT64_MAX when that is not
     * so. NULL: never. */
    int64_t (*stranded_ns)(struct culex_executor *executor);

    /* Called once, when nothing is queued. Ends the executor; runs whose handlers do not
     * return before `deadline_ns` (boot time) are abandoned: the executor keeps and frees
     * them, and they must not be touched any more. Children and threads that are in no handler
     * have CULEX_DISMISS_MS besides, for hooks.close. Returns how many were abandoned, and frees
     * the executor itself as soon as nothing uses it. */
    size_t (*stop)(struct culex_executor *executor, int64_t deadline_ns);
};

enum { CULEX_DISMISS_MS = 2000 }; /* for what the program does in hooks.close */

/* First member of every executor's own struct. */
struct culex_executor {
    const struct culex_executor_ops *ops;
    struct culex_log log; /* for the runs: outlives the worker when a handler is stuck */
    atomic_bool has_news; /* a handler asked for more time; the supervisor clears it */
};

struct culex_executor_config {
    culex_isolation isolation;           /* never DEFAULT */
    unsigned count;                      /* handlers at a time, at least 1 */
    struct culex_handler_config handler; /* its log is copied */
    const char *cgroup; /* directory for groups around the children, NULL for none */
    int64_t setup_ms;   /* the longest that hooks.open may take in a process */
    /* What a handler asks of the worker's store by culex_run_client: called on the supervisor's
     * thread by the executor of children, on the handlers' own, one at a time, by the other. */
    culex_errand_serve serve;
    void *serve_user;
};

/* One per kind; *ret_executor is returned owned: end it with stop. The executor of children must
 * be made before the supervisor opens a connection or reads a secret: its zygote is forked here. */
culex_status culex__executor_threads_create(const struct culex_executor_config *config,
                                            struct culex_executor **ret_executor,
                                            culex_error *error);
culex_status culex__executor_children_create(const struct culex_executor_config *config,
                                             struct culex_executor **ret_executor,
                                             culex_error *error);

#endif
