/* handler/chain.h - a chain at work: from the result of a run to the run of the next step. */
#ifndef CULEX_HANDLER_CHAIN_H
#define CULEX_HANDLER_CHAIN_H

#include "core/chain.h"
#include "handler/run.h"

/* Those that a worker has registered. */
struct culex_chains {
    const culex_chain *const *all; /* borrowed */
    size_t count;
};

/* The job of the next step. CULEX_EUNDERSTAND: no chain that is registered here has it. */
culex_status culex__chain_next(const struct culex_run *run, struct culex_rest rest,
                               const culex_job_type **ret_next, culex_error *error);

/* The run is done: enqueues that of `next` as a follow-up, or makes it a failure that says why not.
 */
void culex__chain_go_on(struct culex_run *run, const culex_job_type *next, struct culex_rest rest);

#endif
