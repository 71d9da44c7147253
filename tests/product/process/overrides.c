/* Each override of an enqueue, by the typed call that generated code has, as the store shows the
 * run afterwards. What a test does not override is the schema's: no two of them help each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "choice_job.h"
#include "redis_server.h"

static bool is_redis;

struct scene {
    struct redis_server server;
    culex_client *client;
    culex_enqueue_options options;
    choice_job params;
    culex_run_info *run; /* of the newest `shown` */
};

static int scene_setup(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    const char *url = is_redis ? scene->server.url : "memory:";
    assert_non_null(scene);
    *state = scene;
    if (is_redis && !redis_server_start(&scene->server, NULL))
        return -1;
    scene->options = culex_enqueue_options_make();
    scene->params = choice_job_make();
    return culex_client_open(url, NULL, &scene->client, NULL) == CULEX_OK ? 0 : -1;
}

static int scene_teardown(void **state)
{
    struct scene *scene = *state;
    culex_run_info_free(scene->run);
    culex_client_close(scene->client);
    redis_server_stop(&scene->server);
    free(scene);
    return 0;
}

static culex_uuid enqueued(struct scene *scene)
{
    culex_uuid id;
    culex_error error;
    if (choice_job_enqueue(scene->client, &scene->params, &scene->options, &id, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return id;
}

static const culex_run_info *shown(struct scene *scene, const char *queue, culex_uuid id)
{
    culex_run_info_free(scene->run);
    scene->run = NULL;
    assert_int_equal(culex_client_get(scene->client, queue, id, &scene->run, NULL), CULEX_OK);
    return scene->run;
}

static const culex_run_info *enqueued_run(struct scene *scene)
{
    return shown(scene, "schema", enqueued(scene));
}

static int64_t wait_ms(const culex_run_info *run)
{
    return run->at_ms - run->created_at_ms;
}

static int64_t life_ms(const culex_run_info *run)
{
    return run->expires_at_ms - run->created_at_ms;
}

static void test_nothing_overridden__policy_of_the_schema(void **state)
{
    struct scene *scene = *state;
    const culex_run_info *run = enqueued_run(scene);
    assert_string_equal(run->queue, "schema");
    assert_string_equal(run->tags, "schema");
    assert_int_equal(run->priority, 2);
    assert_int_equal(run->state, CULEX_RUN_WAITING);
    assert_int_equal(life_ms(run), 3600000);
}

static void test_queue_overridden__run_waits_there(void **state)
{
    struct scene *scene = *state;
    scene->options.queue = "call";
    const culex_run_info *run = shown(scene, "call", enqueued(scene));
    assert_string_equal(run->queue, "call");
    assert_int_equal(run->state, CULEX_RUN_WAITING);
}

static void test_priority_overridden__run_has_it(void **state)
{
    struct scene *scene = *state;
    scene->options.has_priority = true;
    scene->options.priority = 7;
    assert_int_equal(enqueued_run(scene)->priority, 7);
    scene->options.priority = 0;
    assert_int_equal(enqueued_run(scene)->priority, 0);
}

static void test_tags_overridden__they_replace_those_of_the_schema(void **state)
{
    struct scene *scene = *state;
    static const char *const tags[] = {"call", "two"};
    scene->options.tags = tags;
    scene->options.tag_count = 2;
    assert_string_equal(enqueued_run(scene)->tags, "call,two");
}

static void test_delay_given__run_is_due_so_much_later(void **state)
{
    struct scene *scene = *state;
    scene->options.has_delay = true;
    scene->options.delay = culex_minutes(5);
    const culex_run_info *run = enqueued_run(scene);
    assert_int_equal(run->state, CULEX_RUN_SCHEDULED);
    assert_int_equal(wait_ms(run), 300000);
    assert_int_equal(life_ms(run), 3900000); /* it expires an hour after it is due */
}

static void test_instant_given__run_is_due_then(void **state)
{
    struct scene *scene = *state;
    scene->options.has_at = true;
    scene->options.at = culex_time_from_unix(INT64_C(4000000000));
    const culex_run_info *run = enqueued_run(scene);
    assert_int_equal(run->state, CULEX_RUN_SCHEDULED);
    assert_true(run->at_ms == INT64_C(4000000000000));
}

static void test_expiry_overridden__it_is_that_of_the_call(void **state)
{
    struct scene *scene = *state;
    scene->options.has_expires = true;
    scene->options.expires = culex_seconds(90);
    assert_int_equal(life_ms(enqueued_run(scene)), 90000);
    scene->options.expires = 1500 * CULEX_MICROSECOND; /* stores keep whole milliseconds */
    assert_int_equal(life_ms(enqueued_run(scene)), 2);
}

static void test_expiry_of_0__the_schemas_is_lifted(void **state)
{
    struct scene *scene = *state;
    scene->options.has_expires = true;
    assert_int_equal(enqueued_run(scene)->expires_at_ms, 0);
}

static void test_idempotency_key_repeated__one_run(void **state)
{
    struct scene *scene = *state;
    scene->options.idempotency_key = "order 7";
    culex_uuid first = enqueued(scene), second = enqueued(scene);
    assert_memory_equal(&first, &second, sizeof first);
    scene->options.idempotency_key = "order 8";
    culex_uuid other = enqueued(scene);
    assert_memory_not_equal(&first, &other, sizeof first);
}

/* A window of 1 ms is over as soon as the store's clock has gone on. */
static void test_window_given__key_is_remembered_so_long(void **state)
{
    struct scene *scene = *state;
    scene->options.idempotency_key = "order 7";
    scene->options.has_idempotency_window = true;
    scene->options.idempotency_window = CULEX_MILLISECOND;
    culex_uuid first = enqueued(scene), second;
    for (int i = 0; i < 10000; i++) {
        second = enqueued(scene);
        if (memcmp(&first, &second, sizeof first) != 0)
            return;
        usleep(1000);
    }
    fail_msg("the key outlives its window");
}

static void test_ticket_repeated__one_run(void **state)
{
    struct scene *scene = *state;
    scene->options.has_ticket = true;
    assert_int_equal(culex_client_new_ticket(scene->client, &scene->options.ticket, NULL),
                     CULEX_OK);
    culex_uuid first = enqueued(scene), second = enqueued(scene);
    assert_memory_equal(&first, &second, sizeof first);
}

static void test_many_runs__each_has_the_overrides(void **state)
{
    struct scene *scene = *state;
    const choice_job params[] = {choice_job_make(), choice_job_make()};
    culex_uuid ids[2];
    scene->options.has_priority = scene->options.has_expires = true;
    scene->options.priority = 9;
    assert_int_equal(
        choice_job_enqueue_many(scene->client, params, 2, &scene->options, ids, NULL, NULL),
        CULEX_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(shown(scene, "schema", ids[i])->priority, 9);
        assert_int_equal(scene->run->expires_at_ms, 0);
    }
}

int main(int argc, char **argv)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, scene_setup, scene_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_nothing_overridden__policy_of_the_schema),
        CASE(test_queue_overridden__run_waits_there),
        CASE(test_priority_overridden__run_has_it),
        CASE(test_tags_overridden__they_replace_those_of_the_schema),
        CASE(test_delay_given__run_is_due_so_much_later),
        CASE(test_instant_given__run_is_due_then),
        CASE(test_expiry_overridden__it_is_that_of_the_call),
        CASE(test_expiry_of_0__the_schemas_is_lifted),
        CASE(test_idempotency_key_repeated__one_run),
        CASE(test_window_given__key_is_remembered_so_long),
        CASE(test_ticket_repeated__one_run),
        CASE(test_many_runs__each_has_the_overrides),
    };
    is_redis = argc > 1 && strcmp(argv[1], "redis") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
