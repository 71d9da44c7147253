/* culex/chain.h - chains of jobs, where each step takes what the one before it returned.
 *
 * A schema says `chain publish { upload; resize; announce; }`, and culexc has checked that the
 * result of each step fits the params of the next. Generated P_chain_enqueue and P_chain_register
 * functions call what stands here.
 *
 * The run of a step comes in with the end of the one before, as a follow-up does
 * (culex_run_enqueue): in the very call that records it as done, or never, and once. Its params are
 * made of the result, name by name; what the next step does not take is dropped, and what the
 * result does not have is at its default. It goes by the settings of its own job, queue, priority
 * and so on, and may be of another queue.
 *
 * A run carries the steps that were still to come when the chain was enqueued. So a chain that has
 * begun goes on as it was, whatever the schema says by then, and a worker that does not know the
 * next step, or nothing of chains, gives the run back before it has begun (see "understood" in
 * schemas/README.md).
 *
 * A step that fails is tried again as its job says. One that dies stops the chain there;
 * culex_client_retry goes on from it. A step that is done and has set no result has failed, and its
 * text says so; so has one whose next step cannot be enqueued.
 *
 * Who cancels the run of a step that is at work asks its handler to stop: a handler that comes to a
 * good end all the same, with CULEX_DONE, lets the chain go on. One that has to stop it returns
 * culex_run_fail when culex_run_cancelled says so.
 *
 * A step counts among the follow-ups of the run before it, of which there are 100 at most, and
 * passes the worker's enqueue hook; a client's hook sees the first step alone, and so tags that it
 * adds are of that one. An idempotency key whose run began another chain, or none, is
 * CULEX_ECONFLICT as it is with other params.
 *
 * In a batch the run of the first step alone is a member, and the batch may end before the chain.
 * A tick of a periodic job begins no chain.
 *
 * The id of a later run is made when it comes in, and cannot be told before. To wait for the end of
 * a chain, have its last step say so, or give each chain a param that tells it and goes from step
 * to step.
 */
#ifndef CULEX_CHAIN_H
#define CULEX_CHAIN_H

#include <culex/client.h>
#include <culex/job.h>
#include <culex/worker.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueues the run of the first step: culex_client_enqueue with options.chain, of which all other
 * options are of that run alone. `params` are of the type that its job has. CULEX_EINVAL: no chain.
 */
CULEX_API CULEX_MUST_USE culex_status culex_chain_enqueue(culex_client *client,
                                                          const culex_chain *chain,
                                                          const void *params,
                                                          const culex_enqueue_options *options,
                                                          culex_uuid *ret_id, culex_error *error);

/* Lets the worker go on with runs of the chain, whose next jobs it then knows; it need not run
 * those. Copies nothing. Before culex_worker_run only, as culex_worker_register. A chain that is
 * registered already stays so. */
CULEX_API CULEX_MUST_USE culex_status culex_worker_register_chain(culex_worker *worker,
                                                                  const culex_chain *chain);

#ifdef __cplusplus
}
#endif
#endif
