/* The store's clock against ours: even time is no news, a jump is, and it does no harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int64_t jump_ms;

static culex_outcome act_jump(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    if (n == 2)
        world->store_skew_ms += jump_ms;
    world_pass(world, 100);
    return CULEX_DONE;
}

/* Five runs one after another; the clock jumps during the second. */
static unsigned lines_after(struct world *world, int64_t jump, const char *says)
{
    const culex_worker_options options = {
        .drain = true, .concurrency = 1, .batch = 1, .lease_ms = 20000};
    culex_job_type type = number_type();
    culex_uuid ids[5];
    jump_ms = jump;
    world->act = act_jump;
    for (int i = 0; i < 5; i++)
        ids[i] = world_enqueue(world, &type, i + 1);
    world_worker(world, options, &type);
    world_run(world);
    for (int i = 0; i < 5; i++)
        assert_int_equal(world_state(world, ids[i]), CULEX_RUN_DONE);
    return world_log_count(world, says);
}

static void test_even_clock_is_no_news(void **state)
{
    assert_int_equal(lines_after(*state, 0, "clock jumped"), 0);
}

static void test_jump_below_a_quarter_of_a_lease_is_no_news(void **state)
{
    assert_int_equal(lines_after(*state, 4800, "clock jumped"), 0);
}

static void test_jump_ahead_is_told_once(void **state)
{
    assert_int_equal(lines_after(*state, 5200, "the store's clock jumped ahead by 5"), 1);
}

static void test_jump_back_is_told_once(void **state)
{
    assert_int_equal(lines_after(*state, -3600000, "the store's clock jumped back by 1h"), 1);
}

/* A reply that was long under way looks like a clock that went back; it is not one. */
static void test_slow_replies_are_no_jumps(void **state)
{
    struct world *world = *state;
    struct culex_storeclock clock = {.is_known = false};
    int64_t ms = culex__env_boottime_ms(&world->env), sent;
    assert_int_equal(culex__storeclock_learn(&clock, &world->env, 1000000, ms), 0);
    sent = ms;
    world_pass(world, 9000); /* answered at once, arrived late */
    assert_int_equal(culex__storeclock_learn(&clock, &world->env, 1000001, sent), 0);
    sent = culex__env_boottime_ms(&world->env);
    world_pass(world, 10); /* and the next one in time */
    assert_int_equal(culex__storeclock_learn(&clock, &world->env, 1009005, sent), 0);
    world_pass(world, 1000);
    sent = culex__env_boottime_ms(&world->env);
    assert_int_equal(culex__storeclock_learn(&clock, &world->env, 1009005, sent), -1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_even_clock_is_no_news, setup, teardown),
        cmocka_unit_test_setup_teardown(test_jump_below_a_quarter_of_a_lease_is_no_news, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_jump_ahead_is_told_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_jump_back_is_told_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_slow_replies_are_no_jumps, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
