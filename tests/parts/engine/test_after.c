/* Runs that wait for another one, as a client has them. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <culex/batch.h>

#include "world.h"

static const struct number seven = {7};

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

static culex_status put(struct world *world, const culex_enqueue_options *options,
                        culex_uuid *ret_id, culex_error *error)
{
    const culex_job_type type = number_type();
    return culex_client_enqueue(world->client, &type, &seven, options, ret_id, error);
}

static culex_uuid put_one(struct world *world)
{
    culex_uuid id;
    assert_int_equal(put(world, NULL, &id, NULL), CULEX_OK);
    return id;
}

static culex_enqueue_options after(const culex_uuid *id)
{
    culex_enqueue_options options = culex_enqueue_options_make();
    options.after = id;
    return options;
}

static uint64_t enqueued(struct world *world)
{
    culex_queue_stats stats = {0};
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    return stats.enqueued;
}

static void test_run_waits_and_has_no_id(void **state)
{
    struct world *world = *state;
    const culex_uuid first = put_one(world), none = {{0}};
    culex_uuid id = first;
    culex_batch batch;
    culex_batch_info info;
    culex_enqueue_options options = after(&first);
    options.ret_after = &batch;
    assert_int_equal(put(world, &options, &id, NULL), CULEX_OK);
    assert_memory_equal(id.b, none.b, sizeof id.b);
    assert_int_equal(enqueued(world), 1);
    assert_string_equal(batch.queue, "numbers");
    assert_int_equal(culex_batch_look(world->client, &batch, &info, NULL), CULEX_OK);
    assert_int_equal(info.added, 1);
    assert_false(info.is_ended);
    assert_int_equal(culex_client_cancel(world->client, "numbers", first, NULL, NULL), CULEX_OK);
    assert_int_equal(culex_batch_look(world->client, &batch, &info, NULL), CULEX_OK);
    assert_true(info.is_ended);
    assert_int_equal(info.cancelled, 1);
}

static void test_run_that_will_not_be_done_is_refused(void **state)
{
    struct world *world = *state;
    culex_uuid first = put_one(world), strange = {{1}};
    culex_enqueue_options options = after(&strange);
    culex_error error = {0};
    assert_int_equal(put(world, &options, NULL, &error), CULEX_ENOTFOUND);
    assert_non_null(strstr(error.text, "no such run in queue 'numbers'"));
    options = after(&first);
    options.after_queue = "others";
    assert_int_equal(put(world, &options, NULL, &error), CULEX_ENOTFOUND);
    assert_non_null(strstr(error.text, "no such run in queue 'others': options.after_queue names"));
    assert_int_equal(culex_client_cancel(world->client, "numbers", first, NULL, NULL), CULEX_OK);
    options = after(&first);
    assert_int_equal(put(world, &options, NULL, &error), CULEX_ESTATE);
    assert_non_null(strstr(error.text, "is cancelled"));
}

/* A key names the call, however often it is made; without one each is a call of its own. */
static void test_key_makes_a_call_repeatable(void **state)
{
    struct world *world = *state;
    const culex_uuid first = put_one(world);
    culex_batch batches[4];
    culex_enqueue_options options = after(&first);
    for (size_t i = 0; i < 4; i++) {
        options.idempotency_key = i < 2 ? "the check" : NULL;
        options.ret_after = &batches[i];
        assert_int_equal(put(world, &options, NULL, NULL), CULEX_OK);
    }
    assert_memory_equal(&batches[0].id, &batches[1].id, sizeof batches[0].id);
    assert_memory_not_equal(&batches[0].id, &batches[2].id, sizeof batches[0].id);
    assert_memory_not_equal(&batches[2].id, &batches[3].id, sizeof batches[0].id);
    options.idempotency_key = "the check";
    options.has_priority = true;
    options.priority = 3;
    assert_int_equal(put(world, &options, NULL, NULL), CULEX_ECONFLICT);
}

static void test_lost_answer_brings_no_second_one(void **state)
{
    struct world *world = *state;
    const culex_uuid first = put_one(world);
    const culex_enqueue_options options = after(&first);
    world->fault = WORLD_LOSE_REPLY;
    world->fault_count = 1;
    assert_int_equal(put(world, &options, NULL, NULL), CULEX_OK);
    assert_int_equal(culex_client_cancel(world->client, "numbers", first, NULL, NULL), CULEX_OK);
    assert_int_equal(enqueued(world), 1);
}

static void test_what_does_not_go_together_is_refused(void **state)
{
    struct world *world = *state;
    const culex_uuid first = put_one(world);
    const culex_batch batch = {.queue = "numbers"};
    culex_enqueue_outcome outcome;
    culex_enqueue_options wrong[6];
    for (size_t i = 0; i < 6; i++)
        wrong[i] = after(&first);
    wrong[0].batch = &batch;
    wrong[1].ret_outcomes = &outcome;
    wrong[2].has_at = true;
    wrong[2].at = culex_time_now();
    wrong[3].after_queue = "no|name";
    wrong[4].after = NULL;
    wrong[4].after_queue = "numbers";
    wrong[5].has_ticket = true;
    assert_int_equal(culex_client_new_ticket(world->client, &wrong[5].ticket, NULL), CULEX_OK);
    for (size_t i = 0; i < 6; i++) {
        culex_error error = {0};
        assert_int_equal(put(world, &wrong[i], NULL, &error), CULEX_EINVAL);
        assert_string_not_equal(error.text, "");
    }
}

static void test_many_and_items_wait_for_none(void **state)
{
    struct world *world = *state;
    const culex_job_type type = number_type();
    const culex_uuid first = put_one(world);
    const culex_enqueue_options options = after(&first);
    culex_enqueue_item item = culex_enqueue_item_make(&type, &seven, &options);
    culex_error error = {0};
    assert_int_equal(culex_client_enqueue_many(world->client, &type, &seven, sizeof seven, 1,
                                               &options, NULL, NULL, NULL),
                     CULEX_EINVAL);
    assert_int_equal(culex_client_enqueue_all(world->client, &item, 1, &error), CULEX_EINVAL);
    assert_non_null(strstr(error.text, "waits for no other run"));
    assert_int_equal(enqueued(world), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_run_waits_and_has_no_id, setup, teardown),
        cmocka_unit_test_setup_teardown(test_run_that_will_not_be_done_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_key_makes_a_call_repeatable, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lost_answer_brings_no_second_one, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_does_not_go_together_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_and_items_wait_for_none, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
