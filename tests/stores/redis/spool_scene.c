#include "spool_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/client_private.h"

culex_client *client_open_for(struct scene *scene, int64_t timeout_ms, uint64_t runs_max)
{
    culex_client *client = NULL;
    culex_error error = {0};
    const culex_client_options options = {
        .timeout_ms = timeout_ms, .spool = scene->spool, .spool_runs = runs_max};
    if (culex_client_open(scene->server.url, &options, &client, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return client;
}

culex_client *client_open(struct scene *scene, uint64_t runs_max)
{
    return client_open_for(scene, PATIENT_MS, runs_max);
}

int scene_begin(void **state)
{
    static const char *const lasting[] = {"--appendonly", "yes", "--appendfsync", "always", NULL};
    struct scene *scene = calloc(1, sizeof *scene);
    if (scene == NULL || !redis_server_start(&scene->server, lasting))
        return -1;
    snprintf(scene->spool, sizeof scene->spool, "%s/spool", scene->server.folder);
    *state = scene;
    return 0;
}

int scene_end(void **state)
{
    struct scene *scene = *state;
    culex_client_close(scene->client);
    redis_server_stop(&scene->server);
    free(scene);
    return 0;
}

culex_status number_try(culex_client *client, const char *queue, int64_t n,
                        culex_enqueue_outcome *ret_outcome, culex_error *error)
{
    const culex_job_type type = number_type();
    const struct number number = {n};
    culex_enqueue_options options = culex_enqueue_options_make();
    options.queue = queue;
    options.ret_outcomes = ret_outcome;
    return culex_client_enqueue(client, &type, &number, &options, NULL, error);
}

void number_add(culex_client *client, int64_t n, culex_enqueue_outcome expected)
{
    culex_error error = {0};
    culex_enqueue_outcome outcome = CULEX_ENQUEUE_NEW;
    if (number_try(client, "q", n, &outcome, &error) != CULEX_OK)
        fail_msg("%lld: %s", (long long)n, error.text);
    assert_int_equal(outcome, expected);
}

void forward_all(culex_client *client)
{
    culex_forward_counts counts = {.left = 1};
    culex_error error = {0};
    while (counts.left > 0) {
        if (culex_client_forward(client, 0, &counts, &error) != CULEX_OK)
            fail_msg("%s", error.text);
    }
}

void claims_expect(struct scene *scene, const char *queue, int64_t first, size_t count)
{
    culex_client *client = NULL;
    culex_error error = {0};
    assert_int_equal(culex_client_open(scene->server.url, NULL, &client, &error), CULEX_OK);
    struct culex_store *store = client->store;
    struct culex_step step = {
        .queue = queue, .session = "aaaaaaaaaaaaaaaa", .nonce = 1, .lease_ms = 60000, .want = 100};
    size_t met = 0;
    for (bool is_over = false; !is_over; step.nonce++) {
        struct culex_step_reply reply;
        if (store->ops->step(store, &step, &reply, &error) != CULEX_OK)
            fail_msg("%s", error.text);
        for (size_t i = 0; i < reply.grant_count; i++, met++) {
            char expected[32];
            int len = snprintf(expected, sizeof expected, "{\"n\":%lld}",
                               (long long)first + (long long)met);
            if ((size_t)len != reply.grants[i].payload_len ||
                memcmp(expected, reply.grants[i].payload, (size_t)len) != 0)
                fail_msg("place %zu: %.*s, not %s", met, (int)reply.grants[i].payload_len,
                         (const char *)reply.grants[i].payload, expected);
        }
        is_over = reply.grant_count == 0;
        store->ops->step_release(store, &reply);
    }
    assert_int_equal(met, count);
    culex_client_close(client);
}

culex_spool_stats stats_of(culex_client *client)
{
    culex_spool_stats stats;
    culex_error error = {0};
    if (culex_client_spool_stats(client, &stats, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return stats;
}
