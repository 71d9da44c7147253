/* Batches as a client has them: who is enqueued at once, and who is a callback. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <culex/batch.h>
#include <culex/hooks.h>

#include "world.h"

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

static culex_batch batch_open(struct world *world)
{
    culex_batch batch;
    assert_int_equal(culex_batch_open(world->client, "numbers", NULL, &batch, NULL), CULEX_OK);
    return batch;
}

static culex_enqueue_options callback_of(const culex_batch *batch)
{
    culex_enqueue_options options = culex_enqueue_options_make();
    options.batch = batch;
    options.batch_when = CULEX_BATCH_ON_COMPLETE;
    return options;
}

static uint64_t enqueued(struct world *world)
{
    culex_queue_stats stats = {0};
    culex_status status = culex_client_stats(world->client, "numbers", &stats, NULL);
    assert_true(status == CULEX_OK || status == CULEX_ENOTFOUND);
    return stats.enqueued;
}

static void test_callback_waits_for_its_batch(void **state)
{
    struct world *world = *state;
    const culex_job_type type = number_type();
    const struct number params = {7};
    const culex_batch batch = batch_open(world);
    const culex_enqueue_options options = callback_of(&batch);
    culex_batch_info info;
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &options, NULL, NULL),
                     CULEX_OK);
    assert_int_equal(enqueued(world), 0);
    assert_int_equal(culex_batch_look(world->client, &batch, &info, NULL), CULEX_OK);
    assert_int_equal(info.added, 0);
}

/* Whether it was done is not known: the very open can be repeated, and leaves one batch. */
static void test_open_without_an_answer_is_repeated(void **state)
{
    struct world *world = *state;
    culex_batch outer = batch_open(world), inner = {.queue = ""}, twin;
    culex_batch_options options = {.parent = &outer};
    culex_batch_info info;
    world->fault = WORLD_LOSE_REPLY;
    world->fault_count = UINT_MAX;
    assert_int_equal(culex_batch_open(world->client, "numbers", &options, &inner, NULL),
                     CULEX_EUNKNOWN);
    world->fault_count = 0;
    assert_string_equal(inner.queue, "numbers");
    options.again = &inner;
    assert_int_equal(culex_batch_open(world->client, "numbers", &options, &twin, NULL), CULEX_OK);
    assert_memory_equal(twin.id.b, inner.id.b, sizeof twin.id.b);
    assert_string_equal(twin.queue, inner.queue);
    assert_int_equal(culex_batch_look(world->client, &outer, &info, NULL), CULEX_OK);
    assert_int_equal(info.added, 1);
    assert_int_equal(culex_batch_close(world->client, &inner, NULL), CULEX_OK);
    assert_int_equal(culex_batch_close(world->client, &outer, NULL), CULEX_OK);
    assert_int_equal(culex_batch_look(world->client, &outer, &info, NULL), CULEX_OK);
    assert_true(info.is_ended);
    assert_int_equal(culex_batch_open(world->client, "others", &options, &twin, NULL),
                     CULEX_EINVAL);
}

/* By a key it is the same one, in its queue and as long as it is there. */
static void test_open_with_a_key_opens_one_batch(void **state)
{
    struct world *world = *state;
    culex_batch first, again, other;
    culex_batch_options options = {.idempotency_key = "order 7"};
    culex_error error = {0};
    assert_int_equal(culex_batch_open(world->client, "numbers", &options, &first, NULL), CULEX_OK);
    assert_int_equal(culex_batch_open(world->client, "numbers", &options, &again, NULL), CULEX_OK);
    assert_memory_equal(first.id.b, again.id.b, sizeof first.id.b);
    assert_int_equal(culex_batch_open(world->client, "others", &options, &other, NULL), CULEX_OK);
    assert_memory_not_equal(first.id.b, other.id.b, sizeof first.id.b);
    options.idempotency_key = "order 8";
    assert_int_equal(culex_batch_open(world->client, "numbers", &options, &other, NULL), CULEX_OK);
    assert_memory_not_equal(first.id.b, other.id.b, sizeof first.id.b);
    options.again = &first;
    assert_int_equal(culex_batch_open(world->client, "numbers", &options, &other, &error),
                     CULEX_EINVAL);
    assert_non_null(strstr(error.text, "options.idempotency_key"));
    options = (culex_batch_options){.idempotency_key = ""};
    assert_int_equal(culex_batch_open(world->client, "numbers", &options, &other, &error),
                     CULEX_EINVAL);
    assert_non_null(strstr(error.text, "is empty"));
}

/* However many. */
static void test_call_of_many_gives_no_callback(void **state)
{
    struct world *world = *state;
    const culex_job_type type = number_type();
    const struct number params[2] = {{7}, {8}};
    const culex_batch batch = batch_open(world);
    const culex_enqueue_options options = callback_of(&batch);
    for (size_t count = 1; count <= 2; count++) {
        culex_error error = {0};
        assert_int_equal(culex_client_enqueue_many(world->client, &type, params, sizeof params[0],
                                                   count, &options, NULL, NULL, &error),
                         CULEX_EINVAL);
        assert_string_not_equal(error.text, "");
    }
    assert_int_equal(enqueued(world), 0);
}

/* --- hooks -------------------------------------------------------------------------------------
 */

static culex_status take_batch_out(culex_enqueue_call *call, void *user, culex_error *error)
{
    (void)user, (void)error;
    call->options->batch = NULL;
    call->options->batch_when = CULEX_BATCH_MEMBER;
    return CULEX_OK;
}

static void test_hook_that_takes_the_batch_out_leaves_an_ordinary_run(void **state)
{
    struct world *world = *state;
    const culex_job_type type = number_type();
    const struct number params = {7};
    const culex_batch batch = batch_open(world);
    const culex_enqueue_options options = callback_of(&batch);
    culex_uuid id = {{0}};
    assert_int_equal(culex_client_on_enqueue(world->client, take_batch_out, NULL, NULL), CULEX_OK);
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &options, &id, NULL),
                     CULEX_OK);
    assert_int_equal(enqueued(world), 1);
    assert_int_equal(world_state(world, id), CULEX_RUN_WAITING);
}

static culex_status put_batch_in(culex_enqueue_call *call, void *user, culex_error *error)
{
    (void)error;
    call->options->batch = user;
    call->options->batch_when = CULEX_BATCH_ON_COMPLETE;
    return CULEX_OK;
}

/* Where runs are made for others to send: items, as follow-ups. */
static void test_hook_puts_no_batch_where_none_can_be(void **state)
{
    struct world *world = *state;
    const culex_job_type type = number_type();
    const struct number params = {7};
    culex_batch batch = batch_open(world);
    culex_enqueue_item item = culex_enqueue_item_make(&type, &params, NULL);
    culex_error error = {0};
    assert_int_equal(culex_client_on_enqueue(world->client, put_batch_in, &batch, NULL), CULEX_OK);
    assert_int_equal(culex_client_enqueue_all(world->client, &item, 1, &error), CULEX_EINVAL);
    assert_non_null(strstr(error.text, "in no batch"));
    assert_int_equal(enqueued(world), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_callback_waits_for_its_batch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_open_without_an_answer_is_repeated, setup, teardown),
        cmocka_unit_test_setup_teardown(test_open_with_a_key_opens_one_batch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_call_of_many_gives_no_callback, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hook_that_takes_the_batch_out_leaves_an_ordinary_run,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_hook_puts_no_batch_where_none_can_be, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
