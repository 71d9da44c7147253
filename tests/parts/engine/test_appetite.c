/* How many runs a worker claims, by how long they take: worker/appetite.h. The number of a run is
 * how many microseconds it takes. On a driven clock; a step of the store takes 100 us there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "world.h"

enum { AHEAD_US = 4000, STEP_US = 100, DEEP = 2 * CULEX_BATCH_MAX };

static culex_job_type numbers, others;

static int setup(void **state)
{
    numbers = others = number_type();
    others.name = others.wire = "t.other";
    others.queue = "others";
    *state = world_open();
    return 0;
}

static int teardown(void **state)
{
    world_close(*state);
    return 0;
}

static void put(struct world *world, const culex_job_type *type, int64_t us, size_t count)
{
    static struct number many[5000];
    assert_true(count <= sizeof many / sizeof many[0]);
    for (size_t i = 0; i < count; i++)
        many[i].n = us;
    assert_int_equal(culex_client_enqueue_many(world->client, type, many, sizeof many[0], count,
                                               NULL, NULL, NULL, NULL),
                     CULEX_OK);
}

static size_t in_flight_most; /* or asked for by a step under way */

static culex_outcome act_for_n_us(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    size_t in_flight = world->worker->flight_count + (world->ahead.is_out ? world->ahead.want : 0);
    in_flight_most = in_flight > in_flight_most ? in_flight : in_flight_most;
    world->hang_us = n;
    return CULEX_DONE;
}

static void work_with(struct world *world, culex_worker_options options, culex_executor_make make)
{
    in_flight_most = 0;
    options.drain = true;
    options.log_level = 1;
    if (world->act == NULL)
        world->act = act_for_n_us;
    world_worker(world, options, &numbers);
    assert_int_equal(
        culex_worker_register(world->worker, &others, number_call, number_handler, world),
        CULEX_OK);
    culex__worker_set_executor(world->worker, make);
    world_run(world);
}

static void work(struct world *world, culex_worker_options options)
{
    work_with(world, options, executor_killing_create);
}

static uint32_t want_most(const struct world *world, size_t first, size_t end)
{
    uint32_t most = 0;
    for (size_t i = first; i < end && i < world->step_count; i++)
        most = world->steps[i].want > most ? world->steps[i].want : most;
    return most;
}

/* --- how far ahead ------------------------------------------------------------------------- */

static void test_runs_that_take_no_time_are_claimed_by_the_hundred(void **state)
{
    struct world *world = *state;
    put(world, &numbers, 1, 5000);
    work(world, (culex_worker_options){.concurrency = 1});
    assert_int_equal(world->calls, 5000);
    assert_int_equal(world->steps[0].want, 1); /* nothing is known yet */
    assert_in_range(want_most(world, 0, world->step_count), CULEX_BATCH_MAX / 2, CULEX_BATCH_MAX);
    assert_in_range(in_flight_most, CULEX_BATCH_MAX + 2, DEEP + 1);
    assert_true(world->step_count < 100);
}

static void assert_ahead_by_time(struct world *world, int64_t us, unsigned concurrency)
{
    size_t ahead = concurrency * (AHEAD_US + STEP_US) / (size_t)us;
    put(world, &others, us, 20); /* it is known as short, and soon has nothing */
    put(world, &numbers, us, 1000);
    work(world, (culex_worker_options){.concurrency = concurrency});
    assert_in_range(in_flight_most, ahead + concurrency - 2, ahead + concurrency);
}

static void test_work_of_four_ms_is_claimed_ahead(void **state)
{
    assert_ahead_by_time(*state, 100, 1);
}

static void test_work_of_four_ms_is_claimed_ahead_for_each_handler(void **state)
{
    assert_ahead_by_time(*state, 200, 8);
}

static void test_work_of_a_slow_step_is_claimed_besides(void **state)
{
    struct world *world = *state;
    world->step_us = 6000 - STEP_US;
    put(world, &numbers, 100, 1000);
    work(world, (culex_worker_options){.concurrency = 1});
    assert_in_range(in_flight_most, 90, 102);
}

static void test_no_more_is_claimed_ahead_for_a_store_that_hangs(void **state)
{
    struct world *world = *state;
    world->step_us = 2000000;
    put(world, &numbers, 100, 1000);
    work(world, (culex_worker_options){.concurrency = 1});
    assert_in_range(in_flight_most, 120, 142);
}

static void test_batch_that_was_asked_for_stays_what_it_is(void **state)
{
    struct world *world = *state;
    put(world, &numbers, 10, 1000);
    work(world, (culex_worker_options){.concurrency = 2, .batch = 8});
    assert_int_equal(want_most(world, 0, world->step_count), 8);
    assert_in_range(in_flight_most, 2 * 8, 2 + 2 * 8);
}

/* --- who is slow gets none ahead ------------------------------------------------------------ */

static void test_runs_of_some_ms_are_not_claimed_ahead(void **state)
{
    struct world *world = *state;
    for (unsigned batch = 0; batch <= 32; batch += 32) {
        put(world, &numbers, 3000, 100);
        work(world, (culex_worker_options){.concurrency = 2, .batch = batch});
        assert_int_equal(want_most(world, 0, world->step_count), 2);
        assert_int_equal(in_flight_most, 2);
    }
}

static void stop_worker(struct world *world)
{
    culex_worker_stop(world->worker);
    culex_worker_stop(world->worker);
}

/* The store answers when their leases are over, and they go back. */
static void test_runs_that_did_not_start_teach_nothing(void **state)
{
    struct world *world = *state;
    put(world, &numbers, 3000, 200);
    world->step_us = 20000000;
    world->in_step = stop_worker;
    world->in_step_ms = 1000000;
    work(world, (culex_worker_options){.concurrency = 1});
    assert_int_equal(world->calls, 0);
    assert_true(world->step_count > 40);
    assert_int_equal(want_most(world, 0, world->step_count), 1);
}

static size_t slow_end_step;

/* The slow one is the last that there is, and others come at its end. */
static culex_outcome act_slow_one(struct world *world, culex_run *run, int64_t n)
{
    if (n < 20000)
        return act_for_n_us(world, run, n);
    world_pass(world, n / 1000);
    put(world, &numbers, 0, 2000);
    slow_end_step = world->step_count;
    return CULEX_DONE;
}

static void work_with_a_slow_one(struct world *world, int64_t us)
{
    put(world, &numbers, 0, 2000);
    put(world, &numbers, us, 1);
    world->act = act_slow_one;
    work(world, (culex_worker_options){.concurrency = 1});
    assert_int_equal(world->calls, 4001);
    assert_int_equal(want_most(world, 0, slow_end_step), CULEX_BATCH_MAX);
    assert_int_equal(want_most(world, slow_end_step, slow_end_step + 10), 1);
}

static void test_one_slow_run_shrinks_it_at_once_and_short_ones_let_it_grow(void **state)
{
    struct world *world = *state;
    work_with_a_slow_one(world, 20000);
    assert_int_equal(want_most(world, slow_end_step, world->step_count), CULEX_BATCH_MAX);
}

static void test_one_run_of_many_seconds_is_forgotten_after_some_dozens(void **state)
{
    struct world *world = *state;
    work_with_a_slow_one(world, 10000000);
    assert_true(want_most(world, slow_end_step, slow_end_step + 60) > 1);
}

/* --- what is left for others ---------------------------------------------------------------- */

/* What another worker would be given. */
static size_t claim_all(struct world *world)
{
    struct culex_step_reply reply = {0};
    struct culex_step step = {.queue = "numbers",
                              .session = "00000000deadbeef",
                              .nonce = 1,
                              .want = CULEX_BATCH_MAX,
                              .max_bytes = 100000,
                              .lease_ms = 1};
    assert_int_equal(world->store->ops->step(world->store, &step, &reply, NULL), CULEX_OK);
    size_t count = reply.grant_count;
    world->store->ops->step_release(world->store, &reply);
    return count;
}

static size_t left_for_another;

static culex_outcome act_share_at_half(struct world *world, culex_run *run, int64_t n)
{
    if (world->calls == 50)
        left_for_another = claim_all(world);
    return act_for_n_us(world, run, n);
}

static void assert_share(struct world *world, int64_t us, size_t in_flight)
{
    put(world, &numbers, us, 100);
    world->act = act_share_at_half;
    left_for_another = 0;
    work(world, (culex_worker_options){.concurrency = 2});
    assert_in_range(left_for_another, 100 - 50 - in_flight, 100 - 50);
}

static void test_second_worker_gets_its_share_of_slow_runs(void **state)
{
    assert_share(*state, 50000, 2);
}

static void test_second_worker_gets_its_share_of_runs_of_a_millisecond(void **state)
{
    assert_share(*state, 1000, 2 * (AHEAD_US + STEP_US) / 1000 + 2);
}

/* --- handlers that do not come back --------------------------------------------------------- */

static culex_outcome act_for_n_ms(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    world->hang_ms = n;
    return CULEX_DONE;
}

static uint64_t active_of(struct world *world, const char *queue)
{
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(world->client, queue, &stats, NULL), CULEX_OK);
    return stats.count[CULEX_RUN_ACTIVE];
}

static void expect_none_active(struct world *world)
{
    assert_int_equal(active_of(world, "numbers"), 0);
}

static void put_behind_the_deaf(struct world *world)
{
    put(world, &numbers, 0, 5);
    world->then = expect_none_active;
    world->then_ms = 2000;
}

/* Its run has failed, and its thread is not free. */
static void test_nothing_is_claimed_for_a_handler_that_is_deaf(void **state)
{
    struct world *world = *state;
    numbers.timeout_ms = 150;
    numbers.retry.max = 0;
    put(world, &numbers, 0, 20);
    put(world, &numbers, 3000, 1);
    world->act = act_for_n_ms;
    world->manner = WORLD_STUBBORN;
    world->then = put_behind_the_deaf;
    world->then_ms = 1000;
    work_with(world, (culex_worker_options){.concurrency = 1}, executor_asking_create);
    assert_null(world->then);
    assert_int_equal(world->calls, 26);
}

/* --- several queues ------------------------------------------------------------------------- */

enum { SLOW_MS = 100 };

static void put_short_ones(struct world *world)
{
    put(world, &numbers, 0, 1000);
}

static uint64_t active_beside;

static void look_then_go_on(struct world *world)
{
    active_beside = active_of(world, "numbers");
}

static void put_short_ones_then_look(struct world *world)
{
    put_short_ones(world);
    world->then = look_then_go_on;
    world->then_ms += SLOW_MS / 2;
}

/* Both queues are known: the one is short, the other is not. */
static void work_beside_slow_ones(struct world *world, unsigned batch, size_t slow)
{
    put(world, &numbers, 0, 300);
    put(world, &others, SLOW_MS, slow);
    world->act = act_for_n_ms;
    world->then = put_short_ones_then_look;
    world->then_ms = 20;
    active_beside = UINT64_MAX;
    work(world, (culex_worker_options){.concurrency = 2, .batch = batch});
    assert_int_equal(world->calls, 1300 + slow);
}

static void test_nothing_is_claimed_ahead_behind_slow_runs_of_another_queue(void **state)
{
    struct world *world = *state;
    work_beside_slow_ones(world, 0, 2);
    assert_int_equal(active_beside, 0);
}

static void test_nothing_of_a_batch_that_was_asked_for_is_claimed_behind_them(void **state)
{
    struct world *world = *state;
    work_beside_slow_ones(world, 32, 2);
    assert_int_equal(active_beside, 0);
}

static void test_slow_runs_of_one_queue_leave_the_other_deep(void **state)
{
    struct world *world = *state;
    work_beside_slow_ones(world, 0, 1);
    assert_in_range(world_ms(world), SLOW_MS, SLOW_MS + 20);
    assert_int_equal(active_beside, 0); /* they are done */
    assert_int_equal(want_most(world, 0, world->step_count), CULEX_BATCH_MAX);
    assert_int_equal(world->call_n[255], 0);
}

static size_t begun[2], begun_beside;

static culex_outcome act_count(struct world *world, culex_run *run, int64_t n)
{
    begun[n > 100]++;
    if (n <= 100 && begun[0] == 2000)
        begun_beside = begun[1];
    return act_for_n_us(world, run, n);
}

/* The one has ends to tell while the other waits for room. */
static void test_backlogs_of_two_queues_take_turns(void **state)
{
    struct world *world = *state;
    begun[0] = begun[1] = begun_beside = 0;
    put(world, &numbers, 50, 2000);
    put(world, &others, 200, 2000);
    world->act = act_count;
    work(world, (culex_worker_options){.concurrency = 1});
    assert_in_range(begun_beside, 300, 1000);
    assert_in_range(in_flight_most, 40, 60); /* of both: they share what may be claimed ahead */
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(test_runs_that_take_no_time_are_claimed_by_the_hundred),
        UNIT(test_work_of_four_ms_is_claimed_ahead),
        UNIT(test_work_of_four_ms_is_claimed_ahead_for_each_handler),
        UNIT(test_work_of_a_slow_step_is_claimed_besides),
        UNIT(test_no_more_is_claimed_ahead_for_a_store_that_hangs),
        UNIT(test_batch_that_was_asked_for_stays_what_it_is),
        UNIT(test_runs_of_some_ms_are_not_claimed_ahead),
        UNIT(test_runs_that_did_not_start_teach_nothing),
        UNIT(test_one_slow_run_shrinks_it_at_once_and_short_ones_let_it_grow),
        UNIT(test_one_run_of_many_seconds_is_forgotten_after_some_dozens),
        UNIT(test_second_worker_gets_its_share_of_slow_runs),
        UNIT(test_second_worker_gets_its_share_of_runs_of_a_millisecond),
        UNIT(test_nothing_is_claimed_for_a_handler_that_is_deaf),
        UNIT(test_nothing_is_claimed_ahead_behind_slow_runs_of_another_queue),
        UNIT(test_nothing_of_a_batch_that_was_asked_for_is_claimed_behind_them),
        UNIT(test_slow_runs_of_one_queue_leave_the_other_deep),
        UNIT(test_backlogs_of_two_queues_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
