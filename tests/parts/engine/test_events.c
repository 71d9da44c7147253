/* What becomes of runs, as a program reads it: from a position on, with waits and gaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <culex/events.h>

#include "world.h"

enum { KEPT = 10 };

static int setup(void **state)
{
    struct world *world = world_open();
    culex_job_type type = number_type();
    world_enqueue(world, &type, 0); /* a queue is there once it was used */
    assert_int_equal(culex_client_events_keep(world->client, "numbers", KEPT, NULL), CULEX_OK);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    world_close(*state);
    return 0;
}

static void enqueue(struct world *world)
{
    culex_job_type type = number_type();
    world_enqueue(world, &type, 1);
}

/* Owned by the caller. */
static culex_events *read_events(struct world *world, uint64_t after, culex_duration timeout)
{
    culex_events *events = NULL;
    culex_error error = {0};
    if (culex_client_events(world->client, "numbers", after, 100, timeout, &events, &error) !=
        CULEX_OK)
        fail_msg("%s", error.text);
    return events;
}

static void expect(struct world *world, uint64_t after, size_t count, uint64_t position,
                   bool is_gap)
{
    culex_events *events = read_events(world, after, 0);
    assert_int_equal(events->count, count);
    assert_int_equal(events->position, position);
    assert_int_equal(events->is_gap, is_gap);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(events->of[i].position, position - count + 1 + i);
        assert_string_equal(events->of[i].job, "t.number");
    }
    culex_events_free(events);
}

static void test_each_follower_goes_on_where_it_was(void **state)
{
    struct world *world = *state;
    expect(world, CULEX_EVENTS_OLDEST, 0, 0, false);
    enqueue(world);
    expect(world, 0, 1, 1, false);
    enqueue(world);
    enqueue(world);
    expect(world, 1, 2, 3, false); /* the first one, */
    expect(world, 0, 3, 3, false); /* and one that comes later */
    expect(world, 3, 0, 3, false);
    expect(world, CULEX_EVENTS_NOW, 0, 3, false);
}

static void test_who_is_too_slow_is_told_of_a_gap(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < KEPT + 2; i++)
        enqueue(world);
    expect(world, 1, KEPT, KEPT + 2, true);
    expect(world, 2, KEPT, KEPT + 2, false);
    expect(world, CULEX_EVENTS_OLDEST, KEPT, KEPT + 2, false);
    expect(world, 1000, KEPT, KEPT + 2, true); /* the store was set back */
}

static void test_wait_ends_with_the_first_event_or_its_time(void **state)
{
    struct world *world = *state;
    int64_t before_ms = world_ms(world);
    culex_events *events = read_events(world, CULEX_EVENTS_NOW, culex_milliseconds(1000));
    assert_int_equal(events->count, 0);
    assert_in_range(world_ms(world) - before_ms, 999, 1001);
    culex_events_free(events);
    before_ms = world_ms(world);
    world->then = enqueue;
    world->then_ms = before_ms + 500;
    events = read_events(world, CULEX_EVENTS_NOW, culex_seconds(60));
    assert_int_equal(events->count, 1);
    assert_int_equal(events->position, 1);
    assert_in_range(world_ms(world) - before_ms, 500, 700);
    culex_events_free(events);
}

/* Who follows a queue by a wrong name would wait for ever. */
static void test_queue_that_is_not_there_is_told(void **state)
{
    struct world *world = *state;
    culex_events *events = NULL;
    culex_error error = {0};
    const uint64_t places[] = {CULEX_EVENTS_OLDEST, CULEX_EVENTS_NOW};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(culex_client_events(world->client, "numbres", places[i], 100,
                                             culex_seconds(60), &events, &error),
                         CULEX_ENOTFOUND);
        assert_non_null(strstr(error.text, "numbers"));
    }
    assert_int_equal(world_ms(world), 0);
    assert_null(events);
}

static void test_call_that_is_out_of_form_is_refused(void **state)
{
    struct world *world = *state;
    culex_events *events = NULL;
    culex_client *client = world->client;
    assert_int_equal(culex_client_events(client, "numbers", 0, 0, 0, &events, NULL), CULEX_EINVAL);
    assert_int_equal(culex_client_events(client, "numbers", 0, 1, -1, &events, NULL), CULEX_EINVAL);
    culex_error error = {0};
    assert_int_equal(culex_client_events(client, "numbers", 0, 1, 5, &events, &error),
                     CULEX_EINVAL);
    assert_non_null(strstr(error.text, "culex_seconds(n) makes one"));
    assert_int_equal(culex_client_events(client, "a b", 0, 1, 0, &events, NULL), CULEX_EINVAL);
    assert_null(events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_follower_goes_on_where_it_was, setup, teardown),
        cmocka_unit_test_setup_teardown(test_who_is_too_slow_is_told_of_a_gap, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wait_ends_with_the_first_event_or_its_time, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_queue_that_is_not_there_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(test_call_that_is_out_of_form_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
