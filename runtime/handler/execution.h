/* handler/execution.h - the call of a handler for a run. */
#ifndef CULEX_HANDLER_EXECUTION_H
#define CULEX_HANDLER_EXECUTION_H

#include "handler/run.h"

/* Calls the handler on the calling thread and fills run->end. Resets `arena`; NULL, which
 * means that there was no memory for one, releases the run. */
void culex__run_execute(struct culex_run *run, culex_arena *arena, const struct culex_env *env);

#endif
