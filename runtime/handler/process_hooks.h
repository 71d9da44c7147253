/* handler/process_hooks.h - what the program does once in each child: see culex_worker_on_process.
 */
#ifndef CULEX_HANDLER_PROCESS_HOOKS_H
#define CULEX_HANDLER_PROCESS_HOOKS_H

#include <culex/worker.h>

struct culex_process_hooks {
    culex_process_open open; /* NULL: nothing to do */
    culex_process_close close;
    void *user;
    culex_process_open_call open_call; /* NULL: `open` is called as it is */
    culex_process_close_call close_call;
};

/* Calls `open`, which is there. */
culex_status culex__process_hooks_open(const struct culex_process_hooks *hooks, void **ret_process,
                                       culex_error *error);

/* Calls `close`, which is there. */
void culex__process_hooks_close(const struct culex_process_hooks *hooks, void *process);

#endif
