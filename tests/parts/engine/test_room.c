/* A store that runs out of room: the worker goes on, and its log says so, once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

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

#define SHORT "the store is short of room"
#define NONE  "the store has no room"
#define AGAIN "the store has room again"

enum { RUNS = 8 };
static const enum culex_room *course;
static int64_t between_ms;

static culex_outcome act_course(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    world->room = course[n - 1];
    world_pass(world, between_ms);
    return CULEX_DONE;
}

/* Runs one after another, after each of which the store has what `rooms` says. */
static void work(struct world *world, const enum culex_room rooms[RUNS], int64_t pause_ms)
{
    const culex_worker_options options = {
        .drain = true, .concurrency = 1, .batch = 1, .lease_ms = 60000};
    culex_job_type type = number_type();
    course = rooms;
    between_ms = pause_ms;
    world->act = act_course;
    for (int i = 0; i < RUNS; i++)
        world_enqueue(world, &type, i + 1);
    world_worker(world, options, &type);
    world_run(world);
    assert_int_equal(world->calls, RUNS);
}

static void test_shortage_and_its_end_are_told_once(void **state)
{
    static const enum culex_room rooms[RUNS] = {
        CULEX_ROOM_ENOUGH, CULEX_ROOM_SHORT, CULEX_ROOM_SHORT,  CULEX_ROOM_SHORT,
        CULEX_ROOM_SHORT,  CULEX_ROOM_SHORT, CULEX_ROOM_ENOUGH, CULEX_ROOM_ENOUGH};
    struct world *world = *state;
    work(world, rooms, 100);
    assert_int_equal(world_log_count(world, SHORT), 1);
    assert_int_equal(world_log_count(world, AGAIN), 1);
    assert_int_equal(world_log_count(world, NONE), 0);
}

static void test_worse_shortage_is_told_at_once(void **state)
{
    static const enum culex_room rooms[RUNS] = {CULEX_ROOM_SHORT, CULEX_ROOM_NONE,  CULEX_ROOM_NONE,
                                                CULEX_ROOM_SHORT, CULEX_ROOM_SHORT, CULEX_ROOM_NONE,
                                                CULEX_ROOM_NONE,  CULEX_ROOM_ENOUGH};
    struct world *world = *state;
    work(world, rooms, 100);
    assert_int_equal(world_log_count(world, SHORT), 1);
    assert_int_equal(world_log_count(world, NONE), 1);
    assert_int_equal(world_log_count(world, AGAIN), 1);
}

static void test_shortage_that_comes_and_goes_is_one_pair_of_lines(void **state)
{
    static const enum culex_room rooms[RUNS] = {
        CULEX_ROOM_SHORT, CULEX_ROOM_ENOUGH, CULEX_ROOM_SHORT, CULEX_ROOM_ENOUGH,
        CULEX_ROOM_SHORT, CULEX_ROOM_ENOUGH, CULEX_ROOM_SHORT, CULEX_ROOM_ENOUGH};
    struct world *world = *state;
    work(world, rooms, 100);
    assert_int_equal(world_log_count(world, SHORT), 1);
    assert_int_equal(world_log_count(world, AGAIN), 1);
}

static void test_shortage_that_lasts_is_told_every_minute(void **state)
{
    static const enum culex_room rooms[RUNS] = {
        CULEX_ROOM_SHORT, CULEX_ROOM_SHORT, CULEX_ROOM_SHORT, CULEX_ROOM_SHORT,
        CULEX_ROOM_SHORT, CULEX_ROOM_SHORT, CULEX_ROOM_SHORT, CULEX_ROOM_SHORT};
    struct world *world = *state;
    work(world, rooms, 20000);
    assert_in_range(world_log_count(world, SHORT), 2, 3);
    assert_int_equal(world_log_count(world, AGAIN), 0);
}

int main(void)
{
#define UNIT(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        UNIT(test_shortage_and_its_end_are_told_once),
        UNIT(test_worse_shortage_is_told_at_once),
        UNIT(test_shortage_that_comes_and_goes_is_one_pair_of_lines),
        UNIT(test_shortage_that_lasts_is_told_every_minute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
