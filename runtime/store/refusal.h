/* store/refusal.h - why a verb cannot be done to this queue or run: the same words in all stores.
 *
 * Each fills `error`, which may be NULL, and returns its status. */
#ifndef CULEX_STORE_REFUSAL_H
#define CULEX_STORE_REFUSAL_H

#include <culex/client.h>

/* CULEX_ENOTFOUND. */
culex_status culex__refuse_queue(const char *queue, culex_error *error);
culex_status culex__refuse_run(const char *queue, culex_error *error);
culex_status culex__refuse_schedule(const char *queue, const char *schedule, culex_error *error);

/* CULEX_ESTATE. */
culex_status culex__refuse_cancel(culex_run_state state, culex_error *error);
culex_status culex__refuse_retry(culex_error *error);
culex_status culex__refuse_forget(culex_error *error);

/* Of an enqueue call's ticket. CULEX_ECONFLICT: it came with other runs before, or its producer has
 * made a later call by now. CULEX_EEXPIRED: its time is too far from the store's clock. */
culex_status culex__refuse_ticket(culex_error *error);
culex_status culex__refuse_ticket_time(culex_error *error);

/* CULEX_EUNIQUE, for a retry. */
culex_status culex__refuse_rival(culex_error *error);

#endif
