/* bounds/traffic.h - a producer and workers on one queue of a real Redis, in short verbs.
 *
 * The test drives the clock. A call that fails ends the test: nothing fails here by design. */
#ifndef CULEX_TESTS_BOUNDS_TRAFFIC_H
#define CULEX_TESTS_BOUNDS_TRAFFIC_H

#include "store/store.h"

enum { TRAFFIC_LEASE_MS = 15000, TRAFFIC_BATCH_MAX = 256 };

#define TRAFFIC_QUEUE  "mail"
#define TRAFFIC_PREFIX "bounds"

struct traffic {
    struct culex_env env; /* the real one, but for the clock */
    int64_t now_ms;
    uint64_t serial;
    struct culex_store *store;
    struct culex_ticket ticket; /* of the last enqueue */
    culex_uuid newest;          /* enqueued */
};

void traffic_open(struct traffic *traffic, const char *url);
void traffic_close(struct traffic *traffic);

/* A run that is due now, of priority 0, without a key. */
struct culex_new_run traffic_run(struct traffic *traffic);

/* Enqueues runs of which none may be refused, as a client does: with a ticket. */
void traffic_put(struct traffic *traffic, const struct culex_new_run *runs, size_t count);

/* A step of session 0 to 3 with a fresh nonce, to be changed and given to traffic_step. */
struct culex_step traffic_step_make(struct traffic *traffic, int session, uint32_t want);
struct culex_step_reply traffic_step(struct traffic *traffic, const struct culex_step *step);

#endif
