/* store/refusal.h - why a verb cannot be done to this queue or run: the same words in all stores.
 *
 * Each fills `error`, which may be NULL, and returns its status. */
#ifndef CULEX_STORE_REFUSAL_H
#define CULEX_STORE_REFUSAL_H

#include <culex/client.h>

#include "store/store.h"

/* CULEX_ENOTFOUND. */
culex_status culex__refuse_queue(const char *queue, culex_error *error);
culex_status culex__refuse_batch(const char *queue, culex_error *error);
culex_status culex__refuse_ended_batch(const char *queue, culex_error *error);
culex_status culex__refuse_deep_batch(culex_error *error);
/* CULEX_ECONFLICT: it is there, in another one than the order says, or in none. */
culex_status culex__refuse_parent(const char *queue, culex_error *error);
/* CULEX_ECONFLICT: by this CALL or AFTER another run waits. */
culex_status culex__refuse_callback(enum culex_batch_act act, culex_error *error);
/* CULEX_ESTATE: what such a callback waits for can not come about any more. */
culex_status culex__refuse_late_callback(const char *queue, culex_batch_when when,
                                         culex_error *error);
/* Of AFTER. CULEX_ESTATE: the run has ended as this; CULEX_ELIMIT: it is in too many batches. */
culex_status culex__refuse_ended_run(const char *queue, culex_run_state state, culex_error *error);
culex_status culex__refuse_crowd(culex_error *error);
culex_status culex__refuse_awaited(const char *queue, culex_error *error); /* CULEX_ENOTFOUND */
culex_status culex__refuse_run(const char *queue, culex_error *error);
culex_status culex__refuse_schedule(const char *queue, const char *schedule, culex_error *error);
culex_status culex__refuse_limit(const char *queue, const char *name, culex_error *error);
/* CULEX_EUNSUPPORTED when one of the runs has limits, of a store that keeps none. */
culex_status culex__refuse_limited(const struct culex_new_run *runs, size_t count,
                                   culex_error *error);

/* Of METADATA_SET. CULEX_ECONFLICT: another version is there; CULEX_ESTALE: whoever sets it does
 * not hold its run; CULEX_ELIMIT: too many jobs of the queue keep some. */
culex_status culex__refuse_metadata(const char *job, culex_error *error);
culex_status culex__refuse_holder(culex_error *error);
culex_status culex__refuse_keeper(const char *queue, culex_error *error);

/* CULEX_ENOTFOUND: no such schema, of any fingerprint for 0. CULEX_ELIMIT: there is no room for
 * another one. */
culex_status culex__refuse_schema(const char *queue, const struct culex_schema_id *id,
                                  culex_error *error);
culex_status culex__refuse_schemas(const char *queue, culex_error *error);

culex_status culex__refuse_worker(const char *id, culex_error *error);

/* Of the registry. CULEX_EINVAL: the worker has at most so many runs at a time. CULEX_ELIMIT: there
 * is no room for another one. */
culex_status culex__refuse_concurrency(const char *id, uint32_t most, culex_error *error);
culex_status culex__refuse_newcomer(culex_error *error);

/* CULEX_ESTATE. */
culex_status culex__refuse_cancel(culex_run_state state, culex_error *error);
culex_status culex__refuse_retry(culex_error *error);
culex_status culex__refuse_forget(culex_error *error);
/* Of MOVE: for its state, and when its time for retries is over by then. */
culex_status culex__refuse_move(culex_run_state state, culex_error *error);
culex_status culex__refuse_late_move(culex_error *error);

/* Of an enqueue call's ticket. CULEX_ECONFLICT: it came with other runs before, or its producer has
 * made a later call by now. CULEX_EEXPIRED: its time is too far from the store's clock. */
culex_status culex__refuse_ticket(culex_error *error);
culex_status culex__refuse_ticket_time(culex_error *error);

/* CULEX_EUNIQUE, for a retry. */
culex_status culex__refuse_rival(culex_error *error);

#endif
