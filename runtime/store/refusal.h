/* store/refusal.h - why a verb cannot be done to this queue or run: the same words in all stores.
 *
 * Each fills `error`, which may be NULL, and returns its status. */
#ifndef CULEX_STORE_REFUSAL_H
#define CULEX_STORE_REFUSAL_H

#include <culex/client.h>

/* CULEX_ENOTFOUND. */
culex_status culex__refuse_queue(const char *queue, culex_error *error);
culex_status culex__refuse_run(const char *queue, culex_error *error);

/* CULEX_ESTATE. */
culex_status culex__refuse_cancel(culex_run_state state, culex_error *error);
culex_status culex__refuse_retry(culex_error *error);
culex_status culex__refuse_forget(culex_error *error);

/* CULEX_EUNIQUE, for a retry. */
culex_status culex__refuse_rival(culex_error *error);

#endif
