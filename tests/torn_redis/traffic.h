/* torn_redis/traffic.h - producers and workers on one queue of a real Redis, by chance.
 *
 * The test drives the clock. A call that fails ends the test: nothing fails here by design. */
#ifndef CULEX_TESTS_TRAFFIC_H
#define CULEX_TESTS_TRAFFIC_H

#include "backend/backend.h"

enum { TRAFFIC_HELD_MAX = 64, TRAFFIC_LEASE_MS = 15000, TRAFFIC_BATCH_MAX = 256 };

#define TRAFFIC_QUEUE  "mail"
#define TRAFFIC_PREFIX "torn"

struct traffic_held {
    culex_uuid id;
    uint32_t attempt;
    int session;
};

struct traffic {
    struct culex_env env; /* the real one, but for the clock */
    int64_t now_ms;
    uint64_t seed, serial;
    struct culex_backend *backend;
    culex_uuid newest; /* enqueued */
    struct traffic_held held[TRAFFIC_HELD_MAX];
    size_t held_count;
};

/* Below `limit`, from `*seed`, which moves on. */
uint64_t traffic_draw(uint64_t *seed, uint64_t limit);

void traffic_open(struct traffic *traffic, const char *url, uint64_t seed);
void traffic_close(struct traffic *traffic);

/* A run that is due now, of priority 0, without a key. */
struct culex_new_run traffic_run(struct traffic *traffic);

/* Enqueues runs of which none may be refused but for its unique key. */
void traffic_put(struct traffic *traffic, const struct culex_new_run *runs, size_t count);

/* A step of session 0 to 3 with a fresh nonce, to be changed and given to traffic_step. */
struct culex_step traffic_step_make(struct traffic *traffic, int session, uint32_t want);
struct culex_step_reply traffic_step(struct traffic *traffic, const struct culex_step *step);

/* One operation of any kind. */
void traffic_operate(struct traffic *traffic);

/* Works the queue off, time passing; false when it is not empty after many rounds. */
bool traffic_drain(struct traffic *traffic);

#endif
