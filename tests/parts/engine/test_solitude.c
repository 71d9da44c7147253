/* Suspects run alone in their worker, and others do not wait for ever: worker/solitude.h. The
 * number of a run is how many ms it takes, so none is used twice in a test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

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

static culex_outcome act_for_n_ms(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    world->hang_ms = n;
    return CULEX_DONE;
}

static void step(struct world *world, const char *queue, uint32_t want, uint32_t expected)
{
    static uint64_t nonce;
    struct culex_step_reply reply = {0};
    struct culex_step step = {.queue = queue,
                              .session = "00000000deadbeef",
                              .nonce = ++nonce,
                              .want = want,
                              .max_bytes = 1000,
                              .lease_ms = 1};
    assert_int_equal(world->store->ops->step(world->store, &step, &reply, NULL), CULEX_OK);
    assert_int_equal(reply.grant_count, expected);
    world->store->ops->step_release(world->store, &reply);
}

/* Enqueues a run, the first of its queue, that two workers have vanished with already. */
static culex_uuid suspect_put(struct world *world, const culex_job_type *type, int64_t n)
{
    culex_uuid id = world_enqueue(world, type, n);
    for (int i = 0; i < CULEX_SUSPECT_LOSSES; i++) {
        step(world, type->queue, 1, 1);
        world_pass(world, 2);
        step(world, type->queue, 0, 0);
    }
    return id;
}

static void work_of(struct world *world,
                    culex_outcome (*act)(struct world *world, culex_run *run, int64_t n),
                    culex_executor_make make, culex_worker_options options)
{
    options.drain = true;
    world->act = act;
    world_worker(world, options, &numbers);
    assert_int_equal(
        culex_worker_register(world->worker, &others, number_call, number_handler, world),
        CULEX_OK);
    culex__worker_set_executor(world->worker, make);
    world_run(world);
}

static void work_with(struct world *world, culex_executor_make make, unsigned concurrency)
{
    work_of(world, act_for_n_ms, make, (culex_worker_options){.concurrency = concurrency});
}

static void work(struct world *world, unsigned concurrency)
{
    work_with(world, executor_killing_create, concurrency);
}

/* When the run of that number began. */
static int64_t begin_ms(const struct world *world, int64_t n)
{
    unsigned found = UINT32_MAX;
    for (unsigned i = 0; i < world->calls; i++) {
        if (world->call_n[i] == n) {
            assert_int_equal(found, UINT32_MAX); /* once only */
            found = i;
        }
    }
    assert_true(found < world->calls);
    return world->call_ms[found];
}

static void assert_alone(const struct world *world, int64_t n)
{
    int64_t begin = begin_ms(world, n), end = begin + n;
    assert_true(world->calls <= 256);
    for (unsigned i = 0; i < world->calls; i++) {
        int64_t its_begin = world->call_ms[i], its_end = its_begin + world->call_n[i];
        if (world->call_n[i] != n && its_begin < end && its_end > begin)
            fail_msg("%lld from %lld on beside %lld from %lld on", (long long)world->call_n[i],
                     (long long)its_begin, (long long)n, (long long)begin);
    }
}

/* The step that asks for more while a suspect comes would bring the next one. */
static void test_suspects_come_one_by_one_where_runs_are_short(void **state)
{
    struct world *world = *state;
    culex_uuid suspects[3];
    for (int i = 0; i < 3; i++)
        suspects[i] = world_enqueue(world, &numbers, 1);
    for (int i = 0; i < CULEX_SUSPECT_LOSSES; i++) {
        step(world, "numbers", 3, 3);
        world_pass(world, 2);
        step(world, "numbers", 0, 0);
    }
    for (int i = 0; i < 100; i++)
        world_enqueue(world, &numbers, 0);
    work(world, 2);
    for (int i = 0; i < 3; i++) {
        culex_run_info *run = world_get(world, suspects[i]);
        assert_int_equal(run->state, CULEX_RUN_DONE);
        assert_int_equal(run->attempt, CULEX_SUSPECT_LOSSES + 1);
        culex_run_info_free(run);
    }
}

static void put_one_more(struct world *world)
{
    world_enqueue(world, &numbers, 10);
    world_enqueue(world, &others, 11);
}

static void test_suspect_begins_when_all_have_ended_and_nothing_before_its_end(void **state)
{
    struct world *world = *state;
    suspect_put(world, &numbers, 2000);
    world_enqueue(world, &numbers, 3000);
    world_enqueue(world, &others, 2500);
    world->then = put_one_more;
    world->then_ms = 4000;
    work(world, 4);
    assert_int_equal(world->calls, 5);
    assert_alone(world, 2000);
    assert_in_range(begin_ms(world, 2000), 3000, 3100);
    assert_in_range(begin_ms(world, 10), 5000, 5100);
    assert_in_range(begin_ms(world, 11), 5000, 5100);
    assert_in_range(world->step_count, 10, 100); /* it is not asked for without end */
}

static void test_idle_worker_takes_a_suspect_at_once(void **state)
{
    struct world *world = *state;
    suspect_put(world, &numbers, 100);
    work(world, 4);
    assert_in_range(begin_ms(world, 100), 0, 20);
}

static void test_suspects_have_no_more_than_half_of_the_time(void **state)
{
    struct world *world = *state;
    suspect_put(world, &numbers, 3000);
    suspect_put(world, &others, 3001);
    for (int i = 0; i < 200; i++)
        world_enqueue(world, &numbers, 100);
    work(world, 2); /* ten seconds of other work */
    int64_t one = begin_ms(world, 3000), two = begin_ms(world, 3001);
    int64_t first = one < two ? one : two, second = one < two ? two : one;
    assert_alone(world, 3000);
    assert_alone(world, 3001);
    assert_in_range(first, 1000, 1400);
    assert_in_range(second, first + 6000, first + 6600);
}

/* So many that there is always somebody at work: the worker must stop starting them, for longer and
 * longer. */
static void test_suspect_has_its_turn_beside_long_runs(void **state)
{
    struct world *world = *state;
    suspect_put(world, &numbers, 500);
    for (int i = 0; i < 40; i++)
        world_enqueue(world, &numbers, 4000 + i);
    work(world, 3); /* 53 seconds of other work */
    assert_alone(world, 500);
    assert_in_range(begin_ms(world, 500), 14000, 24000); /* the third try */
    int64_t longest_ms = 0;
    for (unsigned i = 1; i < world->calls; i++) {
        int64_t pause_ms = world->call_ms[i] - world->call_ms[i - 1];
        longest_ms = pause_ms > longest_ms ? pause_ms : longest_ms;
    }
    assert_in_range(longest_ms, 2000, 8000);
}

static void vanish(struct world *world)
{
    world->fault_until_ns = INT64_MAX;
    culex_worker_stop(world->worker);
    culex_worker_stop(world->worker);
}

/* After a minute others are started beside it, and from then on it cannot be charged. */
static void test_long_suspect_is_excused_and_lets_others_start(void **state)
{
    struct world *world = *state;
    suspect_put(world, &numbers, 200000);
    world->then = put_one_more;
    world->then_ms = 30000;
    work(world, 2);
    assert_in_range(begin_ms(world, 10), 60000, 61100);
    assert_in_range(begin_ms(world, 11), 60000, 61100);
    assert_int_equal(world_log_count(world, "others are started again"), 1);
}

static void break_executor(struct world *world)
{
    world->is_broken = true;
}

/* Losses of a suspect whose worker ends so at that time. */
static uint32_t losses_after(struct world *world, void (*end)(struct world *world), int64_t end_ms)
{
    culex_error error = {0};
    culex_uuid id = suspect_put(world, &numbers, 200000);
    world->then = end;
    world->then_ms = end_ms;
    world->act = act_for_n_ms;
    world->manner = WORLD_CRASHING;
    world_worker(world, (culex_worker_options){.concurrency = 2, .lease_ms = 10000}, &numbers);
    culex__worker_set_executor(world->worker,
                               end == vanish ? executor_asking_create : executor_killing_create);
    assert_int_equal(culex_worker_run(world->worker, &error),
                     end == vanish ? CULEX_EUNSENT : CULEX_EBROKEN);
    culex_worker_free(world->worker);
    world->fault_until_ns = 0;
    world_pass(world, 11000);
    step(world, "numbers", 0, 0);
    culex_run_info *run = world_get(world, id);
    uint32_t losses = run->losses;
    assert_int_equal(run->state, CULEX_RUN_WAITING);
    culex_run_info_free(run);
    return losses;
}

static void test_suspect_is_charged_while_it_is_alone(void **state)
{
    assert_int_equal(losses_after(*state, vanish, 50000), 3);
}

static void test_suspect_is_charged_with_its_zygote_while_it_is_alone(void **state)
{
    assert_int_equal(losses_after(*state, break_executor, 50000), 3);
}

static void test_excused_suspect_is_not_charged(void **state)
{
    assert_int_equal(losses_after(*state, vanish, 70000), 2);
}

static void test_excused_suspect_is_not_charged_with_its_zygote(void **state)
{
    assert_int_equal(losses_after(*state, break_executor, 70000), 2);
}

/* Urgent runs are served first as always, beside each other. */
static void test_urgent_runs_go_before_a_suspect(void **state)
{
    struct world *world = *state;
    suspect_put(world, &numbers, 500);
    numbers.priority = 9;
    for (int i = 0; i < 6; i++)
        world_enqueue(world, &numbers, 1500 + i);
    work(world, 3);
    assert_alone(world, 500);
    assert_in_range(begin_ms(world, 500), 3000, 3200);
}

/* A handler that does not return is company, on a thread perhaps for ever: nothing stops for a
 * suspect from the timeout on, at which it is given up. */
static void test_deaf_thread_keeps_suspects_away(void **state)
{
    struct world *world = *state;
    suspect_put(world, &others, 500);
    numbers.timeout_ms = 2000;
    numbers.retry.max = 0;
    world_enqueue(world, &numbers, 20000); /* of the queue that is asked first */
    for (int i = 0; i < 10; i++)
        world_enqueue(world, &others, 1000 + i);
    world->manner = WORLD_STUBBORN;
    work_with(world, executor_asking_create, 2);
    assert_alone(world, 500);
    assert_in_range(begin_ms(world, 500), 20000, 20100);
    for (int64_t n = 1001; n < 1009; n++) {
        int64_t end_ms = begin_ms(world, n) + n;
        assert_in_range(begin_ms(world, n), 2000, 20000);
        assert_in_range(begin_ms(world, n + 1), end_ms, end_ms + 20);
    }
}

static void put_another(struct world *world)
{
    world_enqueue(world, &others, 3000);
}

/* The store has granted the suspect, but its answer comes when another is at work. */
static void test_suspect_that_is_granted_too_late_is_given_back(void **state)
{
    struct world *world = *state;
    suspect_put(world, &numbers, 500);
    world->fault = WORLD_TEAR;
    world->fault_queue = "numbers";
    world->fault_skip = 1; /* the claim that meets it */
    world->fault_count = 7;
    world->then = put_another;
    world->then_ms = 500;
    work(world, 2);
    assert_in_range(begin_ms(world, 3000), 1000, 1100); /* it does not wait for a sick queue */
    assert_alone(world, 500);
    assert_true(world_log_has(world, "given back"));
}

static int64_t last_fault_ms(const struct world *world)
{
    int64_t last_ms = -1;
    for (size_t i = 0; i < world->step_count; i++) {
        if (world->steps[i].fault != WORLD_OK)
            last_ms = world->steps[i].at_ms;
    }
    return last_ms;
}

/* Or that one would be charged for a death of which the suspect is guilty. */
static void test_suspect_begins_when_the_store_knows_of_all_ends(void **state)
{
    struct world *world = *state;
    suspect_put(world, &numbers, 500);
    world_enqueue(world, &others, 100);
    world->fault = WORLD_TEAR;
    world->fault_queue = "others";
    world->fault_skip = 1; /* its claim */
    world->fault_count = 8;
    work(world, 2);
    assert_true(last_fault_ms(world) > 1100);
    assert_true(begin_ms(world, 500) > last_fault_ms(world));
}

static void put_well(struct world *world)
{
    world_enqueue(world, &numbers, 3000);
}

/* Its store would have to hear of that end first, and may not for hours. */
static void test_no_solitude_begins_while_an_end_finds_no_ear(void **state)
{
    struct world *world = *state;
    suspect_put(world, &numbers, 500);
    world_enqueue(world, &others, 100);
    world->fault = WORLD_TEAR;
    world->fault_queue = "others";
    world->fault_skip = 1; /* its claim */
    world->fault_count = 30;
    world->then = put_well;
    world->then_ms = 1500;
    work(world, 2);
    assert_true(last_fault_ms(world) > 5000);
    assert_in_range(begin_ms(world, 3000), 1500, 1600);
    assert_alone(world, 500);
}

/* How long a short run goes on that begins in a solitude. */
static int64_t straggler_ms;

static culex_outcome act_straggle(struct world *world, culex_run *run, int64_t n)
{
    if (n > 0) {
        assert_false(world->ahead.is_out); /* the ends that it tells may get lost */
        return act_for_n_ms(world, run, n);
    }
    world->now_ns += 100000;
    return act_for_n_ms(world, run, world->worker->solitude.is_on ? straggler_ms : 0);
}

static void put_short_ones(struct world *world)
{
    for (int i = 0; i < 200; i++)
        world_enqueue(world, &numbers, 0);
}

/* The solitude begins among short runs, while a step is under way. What that has brought is not at
 * work yet when the next one is sent. */
static void work_among_short_ones(struct world *world, int64_t ms)
{
    straggler_ms = ms;
    culex_uuid id = suspect_put(world, &numbers, 500);
    world_enqueue(world, &others, 998);
    world->then = put_short_ones;
    world->then_ms = 990;
    work_of(world, act_straggle, executor_killing_create,
            (culex_worker_options){.concurrency = 2, .batch = 1});
    assert_true(world->ahead.count > 0);
    assert_in_range(begin_ms(world, 500), 1000, 1100);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->state, CULEX_RUN_DONE);
    assert_int_equal(run->attempt, CULEX_SUSPECT_LOSSES + 1); /* it was not given back */
    culex_run_info_free(run);
}

static void test_suspect_begins_when_the_store_has_heard_of_what_came_last(void **state)
{
    work_among_short_ones(*state, 0);
}

static void test_no_suspect_is_asked_for_beside_what_came_last(void **state)
{
    work_among_short_ones(*state, 20);
}

/* The only handler may be taken already by a claim that has no answer yet. A run that wants it for
 * itself waits for that answer; to ask for it would be in vain, again and again. */
static void test_run_in_doubt_waits_for_a_handler_that_another_queue_may_have(void **state)
{
    struct world *world = *state;
    world_enqueue(world, &others, 100);
    step(world, "others", 1, 1);
    world_pass(world, 2);
    step(world, "others", 0, 0); /* lost once */
    world->fault = WORLD_TEAR;
    world->fault_queue = "numbers";
    world->fault_count = 5;
    work(world, 1);
    assert_true(last_fault_ms(world) > 500);
    assert_true(begin_ms(world, 100) > last_fault_ms(world));
    assert_in_range(world->step_count, 6, 40);
}

static void fall_silent(struct world *world)
{
    world->fault_queue = "numbers";
    world->fault_until_ns = world->now_ns + 600000000;
}

/* A claim that could not be sent is sent again, and the end has to wait for the next step. */
static void test_claim_that_is_sent_again_takes_no_suspect_before_the_ends(void **state)
{
    struct world *world = *state;
    suspect_put(world, &numbers, 500);
    world_enqueue(world, &numbers, 1200);
    world->then = fall_silent;
    world->then_ms = 790;
    work(world, 2);
    assert_alone(world, 500);
    assert_true(last_fault_ms(world) > 1000);
    assert_in_range(begin_ms(world, 500), 1300, 3000);
    size_t grants = 0;
    for (size_t i = 0; i < world->step_count && world->steps[i].ack_count == 0; i++)
        grants += world->steps[i].grant_count;
    assert_int_equal(grants, 1);
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(test_suspect_begins_when_all_have_ended_and_nothing_before_its_end),
        UNIT(test_idle_worker_takes_a_suspect_at_once),
        UNIT(test_suspects_have_no_more_than_half_of_the_time),
        UNIT(test_suspect_has_its_turn_beside_long_runs),
        UNIT(test_long_suspect_is_excused_and_lets_others_start),
        UNIT(test_suspect_is_charged_while_it_is_alone),
        UNIT(test_excused_suspect_is_not_charged),
        UNIT(test_suspect_is_charged_with_its_zygote_while_it_is_alone),
        UNIT(test_excused_suspect_is_not_charged_with_its_zygote),
        UNIT(test_urgent_runs_go_before_a_suspect),
        UNIT(test_suspects_come_one_by_one_where_runs_are_short),
        UNIT(test_deaf_thread_keeps_suspects_away),
        UNIT(test_suspect_that_is_granted_too_late_is_given_back),
        UNIT(test_suspect_begins_when_the_store_knows_of_all_ends),
        UNIT(test_suspect_begins_when_the_store_has_heard_of_what_came_last),
        UNIT(test_no_suspect_is_asked_for_beside_what_came_last),
        UNIT(test_run_in_doubt_waits_for_a_handler_that_another_queue_may_have),
        UNIT(test_no_solitude_begins_while_an_end_finds_no_ear),
        UNIT(test_claim_that_is_sent_again_takes_no_suspect_before_the_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
