/* engine/advice.h - what a worker says at its start about settings that look like mistakes. */
#ifndef CULEX_ENGINE_ADVICE_H
#define CULEX_ENGINE_ADVICE_H

#include "engine/worker_private.h"

/* Warns of each variable in `environment` (as environ) whose name begins like ours and means
 * nothing, with the name that may have been meant. Values are not shown. */
void culex__advise_variables(const struct culex_log *log, char *const *environment);

/* Warns of queues in options.queues that no registered job feeds: runs come there only from
 * producers that name the queue. Asks the store, which must be open, for the names it knows. */
void culex__advise_queues(const culex_worker *worker);

#endif
