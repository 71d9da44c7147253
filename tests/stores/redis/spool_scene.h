/* redis/spool_scene.h - a Redis server that forgets nothing, and clients that share a spool. */
#ifndef CULEX_TESTS_REDIS_SPOOL_SCENE_H
#define CULEX_TESTS_REDIS_SPOOL_SCENE_H

#include <stddef.h>
#include <stdint.h>

#include <culex/culex.h>

#include "redis_server.h"
#include "world.h"

/* A busy machine has time to answer in half of PATIENT_MS; who waits for no answer is HASTY_MS. */
enum { PATIENT_MS = 8000, HASTY_MS = 1000 };

struct scene {
    struct redis_server server;
    char spool[128];
    culex_client *client; /* closed at the end; NULL until a test opens it */
};

/* As set-up and tear-down of a test. */
int scene_begin(void **state);
int scene_end(void **state);

/* runs_max 0: the default. */
culex_client *client_open_for(struct scene *scene, int64_t timeout_ms, uint64_t runs_max);
culex_client *client_open(struct scene *scene, uint64_t runs_max);

/* Enqueues {"n": n}. */
culex_status number_try(culex_client *client, const char *queue, int64_t n,
                        culex_enqueue_outcome *ret_outcome, culex_error *error);
/* Into queue "q". */
void number_add(culex_client *client, int64_t n, culex_enqueue_outcome expected);

void forward_all(culex_client *client);

/* Claims all of a queue, and asserts that they are first, first + 1 ... in this order. */
void claims_expect(struct scene *scene, const char *queue, int64_t first, size_t count);

culex_spool_stats stats_of(culex_client *client);

#endif
