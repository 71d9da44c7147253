/* client/enqueue.h - enqueues a payload that was encoded elsewhere. */
#ifndef CULEX_CLIENT_ENQUEUE_H
#define CULEX_CLIENT_ENQUEUE_H

#include <culex/client.h>

#include "client/run_key.h"

/* As culex_client_enqueue, but `payload` is the text of the params; `type->params` is not looked
 * at, it only must not be NULL. Nothing looks into the text either: whoever encoded it answers for
 * it, and a worker that cannot read it says so. So `keys` are those of the run, made of its params;
 * NULL where the job has none. */
culex_status culex__client_enqueue_text(culex_client *client, const culex_job_type *type,
                                        culex_bytes payload, const struct culex_run_keys *keys,
                                        const culex_enqueue_options *options, culex_uuid *ret_id,
                                        culex_error *error);

#endif
