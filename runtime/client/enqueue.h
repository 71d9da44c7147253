/* client/enqueue.h - enqueues a payload that was encoded elsewhere, or has somebody else enqueue a
 * run. */
#ifndef CULEX_CLIENT_ENQUEUE_H
#define CULEX_CLIENT_ENQUEUE_H

#include <culex/client.h>

#include "client/enqueue_gate.h"
#include "client/run_key.h"
#include "store/store.h"

/* As culex_client_enqueue, but `payload` is the text of the params; `type->params` is not looked
 * at, it only must not be NULL. Nothing looks into the text either: whoever encoded it answers for
 * it, and a worker that cannot read it says so. So `keys` are those of the run, made of its params;
 * NULL where the job has none. */
culex_status culex__client_enqueue_text(culex_client *client, const culex_job_type *type,
                                        culex_bytes payload, const struct culex_run_keys *keys,
                                        const culex_enqueue_options *options, culex_uuid *ret_id,
                                        culex_error *error);

/* What culex_client_enqueue would hand to the store, which is `take`'s: it borrows both. `gate` is
 * passed before; NULL: there is none. No ticket and no place for the outcome may be among the
 * options (CULEX_EINVAL). */
typedef culex_status (*culex__enqueue_take)(void *user, const char *queue,
                                            const struct culex_new_run *run, culex_error *error);
culex_status culex__enqueue_make(const struct culex_enqueue_gate *gate, const culex_job_type *type,
                                 const void *params, const culex_enqueue_options *options,
                                 culex__enqueue_take take, void *user, culex_error *error);

#endif
