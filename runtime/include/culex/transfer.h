/* culex/transfer.h - runs of one store brought into another, as they are, by programs that were
 * built without their schemas: `culex import` is one.
 *
 * What an enqueue makes of a job's schema and params is all that a store keeps of a run, and
 * culex_client_get shows it: payload, policy, keys, limits. Here it goes into another store, and
 * nothing of it is looked into. Applications enqueue by generated functions.
 *
 * The run there is a new one: it has an id of that store, was created when it came, and has not
 * been attempted. Whoever wants its attempts, expiry and retries to go on from where they were says
 * so by less of them. That it comes once, however often that is tried, its idempotency key does.
 * Clients, threads and errors are as in culex/client.h.
 */
#ifndef CULEX_TRANSFER_H
#define CULEX_TRANSFER_H

#include <culex/client.h>
#include <culex/limits.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One of the limits of a run. */
typedef struct culex_transfer_limit {
    culex_limit_kind kind;
    const char *name;        /* as in culex_run_info.limits */
    const char *key;         /* the same; "" or NULL: none */
    culex_limit_value value; /* as culex_limit_info.declared has it */
} culex_transfer_limit;

/* A run that is to come. Zero-initialise; everything it points to is borrowed for the call. */
typedef struct culex_transfer_run {
    const char *key; /* idempotency key, as in culex_enqueue_options; there has to be one */
    const char *job; /* wire name */
    uint64_t fingerprint;
    culex_bytes payload;
    int priority;          /* 0..9 */
    culex_time at;         /* on the store's clock; 0, or in the past: now */
    uint32_t attempts_max; /* at least 1 */
    int64_t expires_ms;    /* 0 for never; else from when it is due. As the next ones */
    int64_t retry_for_ms;  /* see culex_run_info */
    int64_t timeout_ms;
    int64_t keep_success_ms;
    int64_t keep_failure_ms;
    const char *tags;       /* comma-separated; "" or NULL: none */
    const char *unique_key; /* as in culex_run_info, with the next; "" or NULL: none */
    unsigned unique_while;
    int64_t unique_for_ms; /* it is kept so long at most; 0 for no bound, with unique_while alone */
    const culex_transfer_limit *limits; /* at most 9 */
    size_t limit_count;
    culex_status
        status; /* told: CULEX_OK, and `id` and `outcome` tell the rest; CULEX_ECONFLICT: its
                   key brought another job or payload. Else the call did not come to it */
    culex_uuid id;
    culex_enqueue_outcome outcome; /* NEW; DUPLICATE: it had come before; KEPT: another run has its
                                      unique key, and it has not come */
} culex_transfer_run;

/* Brings up to 200 runs with 2 MiB of payload in each round trip, in their order, into `queue`,
 * which begins with them; none is spooled. The store remembers their keys for `window`, 1 ms to 30
 * days. On failure *ret_done (may be NULL) tells how many of the first runs are judged, and so tell
 * their status; what follows may be there all the same: call again with all of them. CULEX_EFULL:
 * the queue takes no more for now. CULEX_EINVAL and CULEX_ELIMIT: a run is none that can be. */
CULEX_API CULEX_MUST_USE culex_status culex_client_transfer(culex_client *client, const char *queue,
                                                            culex_transfer_run *runs, size_t count,
                                                            culex_duration window, size_t *ret_done,
                                                            culex_error *error);

#ifdef __cplusplus
}
#endif
#endif
