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
    world->store_mask = 0;          /* the same ids in each world */
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
    for (size_t i = 0; i < count; i++)
        assert_string_equal(events->of[i].job, "t.number");
    if (count > 0)
        assert_int_equal(events->of[count - 1].position, position);
    culex_events_free(events);
}

static uint64_t newest(struct world *world)
{
    culex_events *events = read_events(world, CULEX_EVENTS_NOW, 0);
    uint64_t position = events->position;
    assert_int_equal(events->count, 0);
    assert_false(events->is_gap);
    culex_events_free(events);
    return position;
}

/* So many runs, and the position behind each: ret_places[0] is where they begin. */
static void enqueue_many(struct world *world, size_t count, uint64_t *ret_places)
{
    ret_places[0] = newest(world);
    for (size_t i = 1; i <= count; i++) {
        enqueue(world);
        ret_places[i] = newest(world);
    }
}

static void test_each_follower_goes_on_where_it_was(void **state)
{
    struct world *world = *state;
    uint64_t at[4], begin = newest(world);
    expect(world, CULEX_EVENTS_OLDEST, 0, begin, false);
    enqueue_many(world, 3, at);
    assert_int_equal(at[0], begin);
    expect(world, CULEX_EVENTS_OLDEST, 3, at[3], false);
    expect(world, at[0], 3, at[3], false);
    expect(world, at[1], 2, at[3], false); /* the first one, */
    expect(world, at[1], 2, at[3], false); /* and one that comes later */
    expect(world, at[3], 0, at[3], false);
}

/* Each event has the position behind it, and pages are as long as they are asked for. */
static void test_pages_go_on_behind_each_other(void **state)
{
    struct world *world = *state;
    uint64_t at[8], after = CULEX_EVENTS_OLDEST;
    enqueue_many(world, 7, at);
    for (size_t from = 0; from <= 7; from += 2) {
        culex_events *events = NULL;
        size_t left = 7 - from < 2 ? 7 - from : 2;
        assert_int_equal(culex_client_events(world->client, "numbers", after, 2, 0, &events, NULL),
                         CULEX_OK);
        assert_int_equal(events->count, left);
        for (size_t i = 0; i < left; i++)
            assert_int_equal(events->of[i].position, at[from + i + 1]);
        assert_false(events->is_gap);
        after = events->position;
        assert_int_equal(after, at[from + left]);
        culex_events_free(events);
    }
}

static void test_who_is_too_slow_is_told_of_a_gap(void **state)
{
    struct world *world = *state;
    uint64_t at[KEPT + 3];
    enqueue_many(world, KEPT + 1, at);
    expect(world, at[0], KEPT + 1, at[KEPT + 1], false); /* one more is there */
    expect(world, at[1], KEPT, at[KEPT + 1], false);
    enqueue(world);
    at[KEPT + 2] = newest(world);
    expect(world, at[0], KEPT, at[KEPT + 2], true);
    expect(world, at[1], KEPT, at[KEPT + 2], true);
    expect(world, at[2], KEPT, at[KEPT + 2], false);
    expect(world, CULEX_EVENTS_OLDEST, KEPT, at[KEPT + 2], false);
}

/* The place before the first event is another than the oldest that there is. */
static void test_first_overflow_is_told(void **state)
{
    struct world *world = *state;
    uint64_t begin = newest(world), at[16];
    assert_int_not_equal(begin, CULEX_EVENTS_OLDEST);
    expect(world, CULEX_EVENTS_OLDEST, 0, begin, false);
    enqueue_many(world, 15, at);
    expect(world, begin, KEPT, at[15], true);
}

/* Another world is the same up to where other things happen in it: the same store as it went on
 * from an older state. It has come to the position and beyond, or not. */
static void set_back(void **state, size_t more)
{
    uint64_t at[6], again[16];
    enqueue_many(*state, 5, at);
    world_close(*state);
    setup(state);
    struct world *world = *state;
    enqueue_many(world, 3, again);
    assert_int_equal(again[3], at[3]);
    world_pass(world, 1000);
    enqueue_many(world, more, again);
    expect(world, at[3], more, again[more], false);
    expect(world, at[4], 3 + more, again[more], true);
    expect(world, at[5], 3 + more, again[more], true);
    expect(world, again[more], 0, again[more], false);
}

static void test_store_that_was_set_back_is_a_gap(void **state)
{
    set_back(state, 0);
}

static void test_store_that_was_set_back_to_just_before_is_a_gap(void **state)
{
    set_back(state, 1);
}

static void test_store_that_was_set_back_and_went_as_far_is_a_gap(void **state)
{
    set_back(state, 2);
}

static void test_store_that_was_set_back_and_went_on_is_a_gap(void **state)
{
    set_back(state, 6);
}

static uint64_t kept(struct world *world)
{
    culex_events *events = read_events(world, CULEX_EVENTS_NOW, 0);
    uint64_t count = events->kept;
    culex_events_free(events);
    return count;
}

static void keep(struct world *world, uint64_t most)
{
    assert_int_equal(culex_client_events_keep(world->client, "numbers", most, NULL), CULEX_OK);
}

/* A time in which none were kept is a gap for whoever has followed before or during it. */
static void test_events_that_were_off_are_told(void **state)
{
    struct world *world = *state;
    uint64_t at[4], off, later;
    enqueue_many(world, 3, at);
    assert_int_equal(kept(world), KEPT);
    keep(world, 0);
    assert_int_equal(kept(world), 0);
    off = newest(world);
    enqueue(world);
    expect(world, off, 0, off, false);
    expect(world, at[3], 0, off, true);
    expect(world, CULEX_EVENTS_OLDEST, 0, off, false);
    keep(world, KEPT);
    later = newest(world);
    expect(world, at[3], 0, later, true);
    expect(world, off, 0, later, true);
    expect(world, later, 0, later, false);
    enqueue(world);
    expect(world, at[3], 1, newest(world), true);
    expect(world, off, 1, newest(world), true);
    expect(world, later, 1, newest(world), false);
    expect(world, CULEX_EVENTS_OLDEST, 1, newest(world), false);
}

/* Also where they were off from the start. */
static void test_events_that_were_off_at_first_are_told(void **state)
{
    struct world *world = *state;
    keep(world, 0);
    uint64_t off = newest(world);
    enqueue(world);
    keep(world, KEPT);
    expect(world, off, 0, newest(world), true);
    enqueue(world);
    expect(world, off, 1, newest(world), true);
}

/* Also when there was none before, and none since. */
static void test_events_that_were_off_between_none_are_told(void **state)
{
    struct world *world = *state;
    uint64_t begin = newest(world);
    keep(world, 0);
    enqueue(world);
    keep(world, KEPT);
    expect(world, begin, 0, newest(world), true);
    begin = newest(world);
    keep(world, 0);
    enqueue(world);
    keep(world, KEPT);
    expect(world, begin, 0, newest(world), true);
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
    assert_int_equal(events->position, newest(world));
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

/* A follower frees what it was given, whatever the call has returned. */
static void test_page_of_a_failed_call_is_none(void **state)
{
    struct world *world = *state;
    culex_events *events = read_events(world, CULEX_EVENTS_NOW, 0);
    culex_events_free(events);
    assert_int_equal(culex_client_events(world->client, "numbres", 0, 1, 0, &events, NULL),
                     CULEX_ENOTFOUND);
    assert_null(events);
    culex_events_free(events);
}

static void test_call_that_is_out_of_form_is_refused(void **state)
{
    struct world *world = *state;
    culex_events *events = NULL;
    culex_client *client = world->client;
    assert_int_equal(culex_client_events(client, "numbers", 0, 0, 0, &events, NULL), CULEX_EINVAL);
    assert_int_equal(culex_client_events(client, "numbers", 0, 1, -1, &events, NULL), CULEX_EINVAL);
    culex_error error = {0};
    assert_int_equal(
        culex_client_events(client, "numbers", 0, CULEX_EVENTS_PAGE_MAX + 1, 0, &events, NULL),
        CULEX_EINVAL);
    assert_int_equal(culex_client_events(client, "numbers", 7, 1, 0, &events, &error),
                     CULEX_EINVAL);
    assert_non_null(strstr(error.text, "7 is no position"));
    assert_int_equal(culex_client_events_keep(client, "numbers", CULEX_EVENTS_KEPT_MAX, NULL),
                     CULEX_OK);
    assert_int_equal(culex_client_events_keep(client, "numbers", CULEX_EVENTS_KEPT_MAX + 1, NULL),
                     CULEX_EINVAL);
    assert_int_equal(culex_client_events_keep(client, "numbers", UINT64_MAX, NULL), CULEX_EINVAL);
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
        cmocka_unit_test_setup_teardown(test_pages_go_on_behind_each_other, setup, teardown),
        cmocka_unit_test_setup_teardown(test_first_overflow_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(test_store_that_was_set_back_is_a_gap, setup, teardown),
        cmocka_unit_test_setup_teardown(test_store_that_was_set_back_to_just_before_is_a_gap, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_store_that_was_set_back_and_went_as_far_is_a_gap,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_store_that_was_set_back_and_went_on_is_a_gap, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_events_that_were_off_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(test_events_that_were_off_at_first_are_told, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_events_that_were_off_between_none_are_told, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_wait_ends_with_the_first_event_or_its_time, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_queue_that_is_not_there_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(test_page_of_a_failed_call_is_none, setup, teardown),
        cmocka_unit_test_setup_teardown(test_call_that_is_out_of_form_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
