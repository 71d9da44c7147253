/* engine/advice.h - what is said about names that look like mistakes. */
#ifndef CULEX_ENGINE_ADVICE_H
#define CULEX_ENGINE_ADVICE_H

#include "engine/worker_private.h"

/* The store has no such queue: `error`, which may be NULL, says so, what makes a queue, and which
 * one may have been meant, as far as the store tells its names. Returns CULEX_ENOTFOUND. */
culex_status culex__advise_queue(struct culex_backend *backend, const char *queue,
                                 culex_error *error);

/* Warns of each variable in `environment` (as environ) whose name begins like ours and means
 * nothing, with the name that may have been meant. Values are not shown. */
void culex__advise_variables(const struct culex_log *log, char *const *environment);

/* CULEX_EUSAGE when no registered job feeds any queue of the worker, and the store, which must be
 * open, has none of them: its hello would make them, and a wrong name would look right for ever. */
culex_status culex__queues_check(const culex_worker *worker, culex_error *error);

/* Warns of queues in options.queues that no registered job feeds: runs come there only from
 * producers that name the queue. Asks the store, which must be open, for the names it knows. */
void culex__advise_queues(const culex_worker *worker);

#endif
