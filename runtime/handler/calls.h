/* handler/calls.h - what the runtime does in a handler's name. */
#ifndef CULEX_HANDLER_CALLS_H
#define CULEX_HANDLER_CALLS_H

#include "core/chain.h"
#include "handler/run.h"

/* As culex_run_enqueue; the run goes on with `rest` of a chain. */
culex_status culex__run_follow(struct culex_run *run, const culex_job_type *type,
                               const void *params, const culex_enqueue_options *options,
                               struct culex_rest rest, culex_error *error);

#endif
