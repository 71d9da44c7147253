/* handler/run_hooks.h - what the program has called around its handlers: see
 * culex_worker_add_hook. */
#ifndef CULEX_HANDLER_RUN_HOOKS_H
#define CULEX_HANDLER_RUN_HOOKS_H

#include <stdbool.h>
#include <stddef.h>

#include <culex/hooks.h>

enum { CULEX_HOOKS_MAX = 64, CULEX_HOOK_NAME_MAX = 64 };

struct culex_run_hook {
    culex_hook hook;
    culex_hook_calls calls;     /* with NULL for all: the hook's functions are called as they are */
    const culex_job_type *type; /* NULL: for all jobs */
};

/* Of a worker. Those for all jobs come first, so that the row is in the order of calls. */
struct culex_run_hooks {
    struct culex_run_hook *rows;
    size_t count;
};

/* Checks and copies it. */
culex_status culex__run_hooks_add(struct culex_run_hooks *hooks, const struct culex_run_hook *hook,
                                  culex_error *error);
void culex__run_hooks_free(struct culex_run_hooks *hooks);

/* True when a run of that job has any. */
bool culex__run_hooks_concern(const struct culex_run_hooks *hooks, const culex_job_type *type);

/* Calls the hooks of run->job.hooks and, in their midst, the handler. What is told of the end is in
 * run->end, as a handler leaves it there. */
culex_outcome culex__run_hooks_call(struct culex_run *run, const void *params);

#endif
