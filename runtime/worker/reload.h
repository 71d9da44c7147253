/* worker/reload.h - options that are read again while the worker runs.
 *
 * Somebody rings, maybe in a signal's handler; the loop reads, compares with what was read before,
 * and takes over what may change at work: how many runs there are at a time, also of each queue,
 * its weight and the order; the grace period, the idle wait and the log's level. Anything else
 * counts at the next start, and the log says so. What cannot be read, or is no good, changes
 * nothing. */
#ifndef CULEX_WORKER_RELOAD_H
#define CULEX_WORKER_RELOAD_H

#include <culex/worker.h>

/* What *ret_options points to stays until `settle` is called, which says whether they count now:
 * then it stays until the next ones do. A failure tells its reason, and has nothing to settle. */
typedef culex_status (*culex_options_read)(void *user, culex_worker_options *ret_options,
                                           culex_error *error);
typedef void (*culex_options_settle)(void *user, bool is_taken);

struct culex_reload {
    int bell_fd; /* -1: nobody reads again */
    culex_options_read read;
    culex_options_settle settle;
    void *user;
    culex_worker_options before; /* as they were read last, defaults filled in */
};

/* Of a new worker, which is the first state. */
void culex__reload_init(culex_worker *worker);
void culex__reload_free(culex_worker *worker);

/* From now on `read` is called whenever somebody has rung; before culex_worker_run. False when the
 * system has no descriptor for that. */
bool culex__reload_set(culex_worker *worker, culex_options_read read, culex_options_settle settle,
                       void *user);

/* Any thread, and a signal's handler. */
void culex__reload_ring(culex_worker *worker);

/* Reads, if somebody has rung. */
void culex__reload_turn(culex_worker *worker);

#endif
