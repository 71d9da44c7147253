/* client/advice.h - what is said about the name of a queue that looks like a mistake. */
#ifndef CULEX_CLIENT_ADVICE_H
#define CULEX_CLIENT_ADVICE_H

#include "store/store.h"

/* The store has no such queue: `error`, which may be NULL, says so, what makes a queue, and which
 * one may have been meant, as far as the store tells its names. Returns CULEX_ENOTFOUND. */
culex_status culex__advise_queue(struct culex_store *store, const char *queue, culex_error *error);

/* A run was not found: the same when the store has no such queue. Else, and when it does not tell
 * its queues, `error` stays as it is. */
culex_status culex__advise_run(struct culex_store *store, const char *queue, culex_error *error);

#endif
