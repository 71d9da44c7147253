/* client/after.h - runs that wait for the end of another: each is the callback of a batch of its
 * own, whose one member is that run (CULEX_BATCH_AFTER of store/store.h). */
#ifndef CULEX_CLIENT_AFTER_H
#define CULEX_CLIENT_AFTER_H

#include <culex/client.h>

#include "base/sha256.h"
#include "platform/env.h"
#include "store/store.h"

/* A random UUID for a batch, of version 4: none of a run or a ticket. */
culex_uuid culex__batch_id_draw(const struct culex_env *env);

/* One that is the same for whoever hashes the same. */
culex_uuid culex__batch_id_end(struct culex_sha256 *hash);

/* The order that lets `call` wait for the run `after` of `queue`. Its idempotency key goes into the
 * id of the batch, so that all calls with that key name the same one; a call without has an id of
 * its own. Borrows all but `key`, which is NULL for none. */
struct culex_batch_order culex__after_order(const struct culex_env *env, const char *queue,
                                            culex_uuid after, culex_batch_when when,
                                            const struct culex_follow_up *call, const char *key,
                                            int64_t window_ms);

#endif
