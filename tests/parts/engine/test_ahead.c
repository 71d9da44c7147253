/* The next step is sent before the grants of the last are worked up: worker/lane.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

enum { RUNS = 3000, LEASE_MS = 15000 };

static culex_job_type numbers, others;

static int setup(void **state)
{
    struct world *world = world_open();
    world->base.sends_ahead = true;
    numbers = others = number_type();
    others.name = others.wire = "t.other";
    others.queue = "others";
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    world_close(*state);
    return 0;
}

static void put(struct world *world, const culex_job_type *type)
{
    static struct number many[RUNS];
    assert_int_equal(culex_client_enqueue_many(world->client, type, many, sizeof many[0], RUNS,
                                               NULL, NULL, NULL, NULL),
                     CULEX_OK);
}

static void work(struct world *world, culex_worker_options options)
{
    options.drain = true;
    options.log_level = 1;
    world_worker(world, options, &numbers);
    assert_int_equal(
        culex_worker_register(world->worker, &others, number_call, number_handler, world),
        CULEX_OK);
    world_run(world);
}

/* Each once, in its first attempt, and nobody waits for a lease. */
static void done_expect(struct world *world, const char *queue)
{
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(world->client, queue, &stats, NULL), CULEX_OK);
    assert_int_equal(stats.done, RUNS);
    assert_int_equal(stats.stale, 0);
    assert_int_equal(stats.lost, 0);
    assert_int_equal(stats.count[CULEX_RUN_WAITING] + stats.count[CULEX_RUN_ACTIVE], 0);
}

static void test_next_step_is_under_way_while_grants_are_worked_up(void **state)
{
    struct world *world = *state;
    put(world, &numbers);
    work(world, (culex_worker_options){.concurrency = 4});
    assert_int_equal(world->calls, RUNS);
    done_expect(world, "numbers");
    assert_in_range(world->ahead.count, world->step_count / 2, world->step_count);
    assert_false(world->ahead.was_worked_up);
    assert_false(world->ahead.was_bold);
}

/* As many as without: no more than two batches beside those of the handlers. */
static void test_no_more_runs_are_in_flight_for_it(void **state)
{
    struct world *world = *state;
    put(world, &numbers);
    put(world, &others);
    work(world, (culex_worker_options){.concurrency = 4, .batch = 32});
    assert_int_equal(world->calls, 2 * RUNS);
    done_expect(world, "numbers");
    done_expect(world, "others");
    assert_in_range(world->ahead.count, world->step_count / 4, world->step_count);
    assert_in_range(world->ahead.runs_most, 32, 4 + 2 * 32);
}

static void test_no_more_runs_are_claimed_by_time_for_it(void **state)
{
    struct world *world = *state;
    put(world, &numbers);
    work(world, (culex_worker_options){.concurrency = 4});
    assert_in_range(world->ahead.runs_most, CULEX_BATCH_MAX, 4 + 2 * CULEX_BATCH_MAX);
}

static void test_lost_answers_are_asked_for_again(void **state)
{
    struct world *world = *state;
    put(world, &numbers);
    world->ahead.losses = 5;
    work(world, (culex_worker_options){.concurrency = 4});
    assert_int_equal(world->ahead.losses, 0);
    assert_int_equal(world->calls, RUNS);
    done_expect(world, "numbers");
    size_t repeats = 0;
    for (size_t i = 0; i < world->step_count; i++) {
        for (size_t k = 0; k < i; k++)
            repeats += world->steps[i].nonce == world->steps[k].nonce;
    }
    assert_int_equal(repeats, 5);
}

static unsigned numbers_done, others_done, others_late;

static culex_outcome act_compare(struct world *world, culex_run *run, int64_t n)
{
    bool is_other = strcmp(culex_run_job(run), others.name) == 0;
    (void)n;
    world->now_ns += 20000;
    numbers_done += !is_other;
    others_done += is_other;
    if (numbers_done < RUNS && numbers_done > others_done &&
        numbers_done - others_done > others_late)
        others_late = numbers_done - others_done;
    return CULEX_DONE;
}

/* Ends that are collected between do not hide that a queue has had its turn. */
static void test_queues_take_turns_all_the_same(void **state)
{
    struct world *world = *state;
    numbers_done = others_done = others_late = 0;
    put(world, &numbers);
    put(world, &others);
    world->act = act_compare;
    work(world, (culex_worker_options){.concurrency = 1, .batch = 16});
    done_expect(world, "numbers");
    done_expect(world, "others");
    assert_in_range(others_late, 1, 4 * 16);
}

/* Its older execution is dropped before anything is sent that could tell of it, or that end would
 * count for the newer one; and its struct would be given away while the step still has it. */
static void test_run_that_is_granted_anew_is_told_once(void **state)
{
    struct world *world = *state;
    put(world, &numbers);
    world->ahead.wants_twin = true;
    work(world, (culex_worker_options){.concurrency = 4});
    assert_false(world->ahead.wants_twin); /* it came */
    assert_false(world->ahead.was_told);
    assert_int_equal(world->calls, RUNS + 1);
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.done, RUNS);
}

/* A tenth of it is left for the way to the store. */
static culex_outcome act_look_at_lease(struct world *world, culex_run *run, int64_t n)
{
    (void)n;
    world->now_ns += 10000;
    assert_true(run->lease_ns <= world->sent_ns + (LEASE_MS - LEASE_MS / 10) * INT64_C(1000000));
    return CULEX_DONE;
}

/* The lease of a run counts from when its step was sent, not from when its answer was read. */
static void test_lease_counts_from_the_sending(void **state)
{
    struct world *world = *state;
    put(world, &numbers);
    world->act = act_look_at_lease;
    work(world, (culex_worker_options){.concurrency = 4, .lease_ms = LEASE_MS});
    assert_true(world->ahead.count > 0);
    done_expect(world, "numbers");
}

static culex_outcome act_two_ms(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    (void)n;
    world->now_ns += 2000000;
    return CULEX_DONE;
}

static void test_long_runs_wait_for_what_was_granted(void **state)
{
    struct world *world = *state;
    put(world, &numbers);
    world->act = act_two_ms;
    work(world, (culex_worker_options){.concurrency = 4});
    assert_int_equal(world->ahead.count, 0);
    done_expect(world, "numbers");
}

static void test_store_that_is_short_of_room_gets_one_step_at_a_time(void **state)
{
    struct world *world = *state;
    put(world, &numbers);
    world->room = CULEX_ROOM_SHORT;
    work(world, (culex_worker_options){.concurrency = 4});
    assert_int_equal(world->ahead.count, 0);
    done_expect(world, "numbers");
}

static culex_outcome act_stop(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    (void)n;
    if (world->calls == RUNS / 2)
        culex_worker_stop(world->worker);
    return CULEX_DONE;
}

/* What the step brings that was under way goes back, and nobody is charged. */
static void test_stop_gives_back_what_comes_after_it(void **state)
{
    struct world *world = *state;
    culex_queue_stats stats;
    put(world, &numbers);
    world->act = act_stop;
    work(world, (culex_worker_options){.concurrency = 4});
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.done, world->calls);
    assert_int_equal(stats.count[CULEX_RUN_WAITING], RUNS - world->calls);
    assert_int_equal(stats.lost + stats.stale + stats.failed, 0);
    assert_false(world->ahead.is_out);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_next_step_is_under_way_while_grants_are_worked_up),
        TEST(test_no_more_runs_are_in_flight_for_it),
        TEST(test_no_more_runs_are_claimed_by_time_for_it),
        TEST(test_lost_answers_are_asked_for_again),
        TEST(test_queues_take_turns_all_the_same),
        TEST(test_run_that_is_granted_anew_is_told_once),
        TEST(test_lease_counts_from_the_sending),
        TEST(test_long_runs_wait_for_what_was_granted),
        TEST(test_store_that_is_short_of_room_gets_one_step_at_a_time),
        TEST(test_stop_gives_back_what_comes_after_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
