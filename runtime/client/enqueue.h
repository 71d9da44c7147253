/* client/enqueue.h - enqueues a payload that was encoded elsewhere, or has somebody else enqueue a
 * run. */
#ifndef CULEX_CLIENT_ENQUEUE_H
#define CULEX_CLIENT_ENQUEUE_H

#include <culex/client.h>

#include "client/enqueue_gate.h"
#include "client/run_key.h"
#include "core/chain.h"
#include "store/store.h"

/* As culex_client_enqueue, but `payload` is the text of the params; `type->params` is not looked
 * at, it only must not be NULL. Nothing looks into the text either: whoever encoded it answers for
 * it, and a worker that cannot read it says so. So `keys` are those of the run, made of its params;
 * NULL where the job has none. */
culex_status culex__client_enqueue_text(culex_client *client, const culex_job_type *type,
                                        culex_bytes payload, const struct culex_run_keys *keys,
                                        const culex_enqueue_options *options, culex_uuid *ret_id,
                                        culex_error *error);

/* CULEX_EINVAL: it is none that culex_batch_open has made. Accepts NULL, and any bytes. */
culex_status culex__batch_check(const culex_batch *batch, culex_error *error);

/* Runs of one queue that are made already: when they are bound they come together, or none does.
 * All is borrowed. */
struct culex_enqueue_made {
    culex_client *client;
    const char *queue;
    const struct culex_new_run *runs; /* all of them bound, or none; those have their own keys */
    size_t count;                     /* 1 to CULEX_ENQUEUE_BATCH_MAX */
    bool has_ticket;
    culex_uuid ticket;
    culex_uuid *ids; /* one for each run; after CULEX_EUNKNOWN the first is the call's ticket */
    culex_enqueue_outcome *outcomes;
    bool is_never_spooled; /* a store that is away is a failure */
    size_t *ret_enqueued;  /* of runs that are not bound, on failure too: so many of the first ones
                              are  in; NULL: not asked for */
};

/* As culex_client_enqueue. Another failure than CULEX_EUNKNOWN has brought none that are bound. */
culex_status culex__client_enqueue_made(const struct culex_enqueue_made *made, culex_error *error);

struct culex_env;
struct culex_keys;

/* What an enqueue has of its client or its handler. */
struct culex_enqueue_way {
    const struct culex_enqueue_gate *gate; /* NULL: there is none */
    const struct culex_keys *keys;         /* which seal; the same */
    const struct culex_env *env;
    const char *refusal;       /* why it takes no ticket and no place for the outcome, */
    const char *batch_refusal; /* and is in no batch */
    struct culex_rest rest;    /* of the chain that the run goes on with */
};

/* What culex_client_enqueue would hand to the store, which is `take`'s: it borrows both. With a
 * ticket or a place for the outcome among the options it is CULEX_EINVAL. */
typedef culex_status (*culex__enqueue_take)(void *user, const char *queue,
                                            const struct culex_new_run *run, culex_error *error);
culex_status culex__enqueue_make(const struct culex_enqueue_way *way, const culex_job_type *type,
                                 const void *params, const culex_enqueue_options *options,
                                 culex__enqueue_take take, void *user, culex_error *error);

#endif
