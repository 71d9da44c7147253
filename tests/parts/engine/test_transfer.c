/* Runs of another store, brought as they were there, in a driven world. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <culex/transfer.h>

#include "world.h"

#define WINDOW (30 * CULEX_DAY)

enum { RUNS = 450 };

static int setup(void **state)
{
    *state = world_open();
    return 0;
}

static int teardown(void **state)
{
    world_close(*state);
    return 0;
}

static const uint8_t bytes[] = {0xff, 0x00, '\n', '{'};

static culex_transfer_run run_make(const char *key)
{
    return (culex_transfer_run){.key = key,
                                .job = "t.strange",
                                .fingerprint = 0xfedcba9876543210,
                                .payload = {bytes, sizeof bytes},
                                .priority = 3,
                                .attempts_max = 2,
                                .timeout_ms = 4000,
                                .keep_success_ms = 6000,
                                .keep_failure_ms = 7000,
                                .tags = "a,b"};
}

static culex_status bring(struct world *world, culex_transfer_run *runs, size_t count, size_t *done)
{
    return culex_client_transfer(world->client, "numbers", runs, count, WINDOW, done, NULL);
}

static uint64_t waiting(struct world *world)
{
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    return stats.count[CULEX_RUN_WAITING];
}

static void test_a_run_comes_as_it_was(void **state)
{
    struct world *world = *state;
    const culex_transfer_limit limits[] = {{CULEX_LIMIT_CONCURRENCY, "t:one", "k", {2, 0, 0}},
                                           {CULEX_LIMIT_NEEDS, "needs gpu:1", NULL, {0, 0, 0}}};
    culex_transfer_run run = run_make("one");
    culex_run_info *info = NULL;
    run.unique_key = "00ab";
    run.unique_while = CULEX_LIST_STATE(CULEX_RUN_WAITING);
    run.unique_for_ms = 8000;
    run.retry_for_ms = 5000;
    run.expires_ms = 9000;
    run.limits = limits;
    run.limit_count = 2;
    assert_int_equal(bring(world, &run, 1, NULL), CULEX_OK);
    assert_int_equal(run.status, CULEX_OK);
    assert_int_equal(run.outcome, CULEX_ENQUEUE_NEW);
    assert_int_equal(culex_client_get(world->client, "numbers", run.id, &info, NULL), CULEX_OK);
    assert_int_equal(info->payload.len, sizeof bytes);
    assert_memory_equal(info->payload.data, bytes, sizeof bytes);
    assert_string_equal(info->job, "t.strange");
    assert_true(info->fingerprint == run.fingerprint);
    assert_int_equal(info->priority, 3);
    assert_int_equal(info->attempts_max, 2);
    assert_int_equal(info->timeout_ms, 4000);
    assert_int_equal(info->retry_for_ms, 5000);
    assert_int_equal(info->expires_at_ms, info->created_at_ms + 9000);
    assert_int_equal(info->keep_success_ms, 6000);
    assert_int_equal(info->keep_failure_ms, 7000);
    assert_string_equal(info->tags, "a,b");
    assert_string_equal(info->unique_key, "00ab");
    assert_int_equal(info->unique_until_ms, info->created_at_ms + 8000);
    assert_string_equal(info->limits, "t:one=k;needs gpu:1=");
    culex_run_info_free(info);
}

static void test_a_run_comes_once(void **state)
{
    struct world *world = *state;
    culex_transfer_run *runs = calloc(RUNS, sizeof *runs);
    char(*keys)[16] = calloc(RUNS, sizeof *keys);
    size_t done = 0;
    assert_non_null(runs);
    assert_non_null(keys);
    for (size_t i = 0; i < RUNS; i++) {
        snprintf(keys[i], sizeof keys[i], "%zu", i);
        runs[i] = run_make(keys[i]);
    }
    assert_int_equal(bring(world, runs, 250, &done), CULEX_OK);
    assert_int_equal(done, 250);
    culex_uuid first = runs[0].id;
    assert_int_equal(bring(world, runs, RUNS, &done), CULEX_OK);
    assert_int_equal(done, RUNS);
    assert_int_equal(runs[0].outcome, CULEX_ENQUEUE_DUPLICATE);
    assert_memory_equal(&runs[0].id, &first, sizeof first);
    assert_int_equal(runs[249].outcome, CULEX_ENQUEUE_DUPLICATE);
    assert_int_equal(runs[250].outcome, CULEX_ENQUEUE_NEW);
    assert_int_equal(waiting(world), RUNS);
    free(keys);
    free(runs);
}

static void test_a_lost_answer_doubles_nothing(void **state)
{
    struct world *world = *state;
    culex_transfer_run runs[] = {run_make("one"), run_make("two")};
    world->enqueue_fault = WORLD_LOSE_REPLY;
    world->enqueue_fault_count = 1;
    assert_int_equal(bring(world, runs, 2, NULL), CULEX_OK);
    assert_int_equal(waiting(world), 2);
}

static void test_a_key_of_another_run_is_told_and_holds_up_none(void **state)
{
    struct world *world = *state;
    culex_transfer_run runs[] = {run_make("one"), run_make("one"), run_make("two")};
    size_t done = 0;
    assert_int_equal(bring(world, runs, 1, NULL), CULEX_OK);
    runs[1].job = "t.other";
    assert_int_equal(bring(world, runs, 3, &done), CULEX_OK);
    assert_int_equal(done, 3);
    assert_int_equal(runs[0].outcome, CULEX_ENQUEUE_DUPLICATE);
    assert_int_equal(runs[1].status, CULEX_ECONFLICT);
    assert_int_equal(runs[2].status, CULEX_OK);
    assert_int_equal(waiting(world), 2);
}

static void test_a_unique_key_keeps_a_run_out(void **state)
{
    struct world *world = *state;
    culex_transfer_run runs[] = {run_make("one"), run_make("two")};
    for (size_t i = 0; i < 2; i++) {
        runs[i].unique_key = "00ab";
        runs[i].unique_while = CULEX_LIST_STATE(CULEX_RUN_WAITING);
    }
    assert_int_equal(bring(world, runs, 2, NULL), CULEX_OK);
    assert_int_equal(runs[0].outcome, CULEX_ENQUEUE_NEW);
    assert_int_equal(runs[1].outcome, CULEX_ENQUEUE_KEPT);
    assert_memory_equal(&runs[1].id, &runs[0].id, sizeof runs[0].id);
}

static void test_a_full_queue_tells_how_many_came(void **state)
{
    struct world *world = *state;
    culex_transfer_run runs[] = {run_make("one"), run_make("two"), run_make("three")};
    size_t done = 9;
    assert_int_equal(bring(world, runs, 1, NULL), CULEX_OK);
    assert_int_equal(culex_client_limit(world->client, "numbers", 2, NULL), CULEX_OK);
    assert_int_equal(bring(world, runs, 3, &done), CULEX_EFULL);
    assert_int_equal(done, 2);
    assert_int_equal(waiting(world), 2);
}

static void test_what_is_no_run_is_refused(void **state)
{
    struct world *world = *state;
    culex_error error = {.code = CULEX_OK};
    culex_transfer_run run = run_make("one"), other;
    size_t done = 9;
    assert_int_equal(culex_client_transfer(NULL, "q", &run, 1, WINDOW, &done, &error),
                     CULEX_EINVAL);
    assert_int_equal(done, 0);
    assert_int_equal(culex_client_transfer(world->client, NULL, &run, 1, WINDOW, NULL, &error),
                     CULEX_EINVAL);
    assert_int_equal(culex_client_transfer(world->client, "q", NULL, 1, WINDOW, NULL, &error),
                     CULEX_EINVAL);
    assert_int_equal(culex_client_transfer(world->client, "q", &run, 1, 0, NULL, &error),
                     CULEX_EINVAL);
    assert_int_equal(
        culex_client_transfer(world->client, "q", &run, 1, WINDOW + CULEX_DAY, NULL, &error),
        CULEX_EINVAL);
    assert_int_equal(culex_client_transfer(world->client, "q", NULL, 0, WINDOW, NULL, &error),
                     CULEX_OK);
#define IS_REFUSED(change, status)                                                                 \
    other = run;                                                                                   \
    change;                                                                                        \
    assert_int_equal(bring(world, &other, 1, NULL), status)
    IS_REFUSED(other.key = NULL, CULEX_EINVAL);
    IS_REFUSED(other.key = "", CULEX_EINVAL);
    IS_REFUSED(other.job = NULL, CULEX_EINVAL);
    IS_REFUSED(other.job = "a|b", CULEX_EINVAL);
    IS_REFUSED(other.priority = 10, CULEX_EINVAL);
    IS_REFUSED(other.attempts_max = 0, CULEX_EINVAL);
    IS_REFUSED(other.expires_ms = -1, CULEX_EINVAL);
    IS_REFUSED(other.tags = "a|b", CULEX_EINVAL);
    IS_REFUSED(other.unique_key = "no hex", CULEX_EINVAL);
    IS_REFUSED(other.limit_count = 1, CULEX_EINVAL);
    const culex_transfer_limit nameless = {CULEX_LIMIT_FAIR, NULL, NULL, {0, 0, 0}};
    IS_REFUSED(other.limits = &nameless; other.limit_count = 1, CULEX_EINVAL);
    IS_REFUSED(other.limit_count = 10, CULEX_ELIMIT);
    IS_REFUSED(other.payload.data = NULL, CULEX_EINVAL);
    IS_REFUSED(other.payload.len = 1024 * 1024 + 1, CULEX_ELIMIT);
    assert_int_equal(culex_client_stats(world->client, "numbers", &(culex_queue_stats){0}, NULL),
                     CULEX_ENOTFOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_run_comes_as_it_was, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_run_comes_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_lost_answer_doubles_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_key_of_another_run_is_told_and_holds_up_none, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_unique_key_keeps_a_run_out, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_full_queue_tells_how_many_came, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_no_run_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
