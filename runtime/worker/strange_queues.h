/* worker/strange_queues.h - queues of a worker that no job of its program feeds: perhaps misspelt.
 */
#ifndef CULEX_WORKER_STRANGE_QUEUES_H
#define CULEX_WORKER_STRANGE_QUEUES_H

#include <culex/worker.h>

/* CULEX_EUSAGE when no registered job feeds any queue of the worker, and the store, which must be
 * open, has none of them: its hello would make them, and a wrong name would look right for ever. A
 * pattern counts only for a drain, which ends before a queue could come that it matches. */
culex_status culex__queues_check(const culex_worker *worker, culex_error *error);

/* Warns of queues in options.queues that no registered job feeds: runs come there only from
 * producers that name the queue. Asks the store for the names it knows; without one, that of a
 * rehearsal, what the jobs say must do. */
void culex__advise_queues(const culex_worker *worker);

#endif
