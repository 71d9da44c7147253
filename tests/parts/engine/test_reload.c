/* Options that are read again at work: worker/reload.h. On a driven clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "worker/reload.h"
#include "world.h"

enum { RUNS = 60, RUN_MS = 100 };

static culex_job_type job;

static struct sight {
    culex_worker_options now; /* what is read next */
    culex_status status;
    size_t reads, settled, taken;
    size_t reads_wanted;
    void (*then)(struct world *world); /* at ring_ms */
    size_t most_before, most_after;    /* runs at a time */
    size_t weight;
    int64_t grace_ms, idle_wait_ms;
    int64_t run_ms, ring_ms;
    int64_t begun_ms[RUNS];
    size_t begun;
    int64_t counts_from_ms, counts_to_ms;
    size_t of_mail, of_report;
} sight;

static void ring(struct world *world)
{
    culex__reload_ring(world->worker);
}

static int setup(void **state)
{
    job = number_type();
    job.queue = "mail";
    sight = (struct sight){
        .status = CULEX_OK, .run_ms = RUN_MS, .ring_ms = 1000, .reads_wanted = 1, .then = ring};
    *state = world_open();
    return 0;
}

static int teardown(void **state)
{
    world_close(*state);
    return 0;
}

static culex_status read_now(void *user, culex_worker_options *ret_options, culex_error *error)
{
    (void)user;
    sight.reads++;
    *ret_options = sight.now;
    return sight.status == CULEX_OK ? CULEX_OK
                                    : culex__fail(error, sight.status, "line 3 is wrong");
}

static void settle(void *user, bool is_taken)
{
    (void)user;
    sight.settled++;
    sight.taken += is_taken;
}

/* Those that were at work already go on beside the bound. */
static culex_outcome act_count(struct world *world, culex_run *run, int64_t n)
{
    (void)n;
    size_t held = world->worker->flight_count;
    size_t none = 0, *most = &none;
    if (world_ms(world) < sight.ring_ms)
        most = &sight.most_before;
    else if (world_ms(world) > sight.ring_ms + 2 * sight.run_ms)
        most = &sight.most_after;
    *most = held > *most ? held : *most;
    sight.weight = world->worker->lanes[0].share.weight;
    sight.grace_ms = atomic_load(&world->worker->grace_ms);
    sight.idle_wait_ms = world->worker->options.idle_wait_ms;
    if (sight.begun < RUNS)
        sight.begun_ms[sight.begun++] = world_ms(world);
    if (world_ms(world) >= sight.counts_from_ms && world_ms(world) < sight.counts_to_ms)
        *(strcmp(culex_run_queue(run), "mail") == 0 ? &sight.of_mail : &sight.of_report) += 1;
    world->hang_us = sight.run_ms * 1000;
    return CULEX_DONE;
}

static void put(struct world *world, size_t count)
{
    struct number many[RUNS] = {{0}};
    assert_int_equal(culex_client_enqueue_many(world->client, &job, many, sizeof many[0], count,
                                               NULL, NULL, NULL, NULL),
                     CULEX_OK);
}

/* Begins with 4 handlers, and reads `now` after a while. */
static void work(struct world *world, culex_worker_options before)
{
    before.drain = true;
    before.concurrency = 4;
    before.log_level = before.log_level > 0 ? before.log_level : 3;
    put(world, RUNS);
    world->act = act_count;
    world->then = sight.then;
    world->then_ms = sight.ring_ms;
    world_worker(world, before, &job);
    culex__worker_set_executor(world->worker, executor_killing_create);
    assert_true(culex__reload_set(world->worker, read_now, settle, NULL));
    world_run(world);
    assert_int_equal(sight.reads, sight.reads_wanted);
    assert_int_equal(sight.settled, sight.status == CULEX_OK ? sight.reads_wanted : 0);
}

static culex_worker_options begun(void)
{
    return (culex_worker_options){.drain = true, .concurrency = 4, .log_level = 3};
}

static void test_fewer_runs_at_a_time(void **state)
{
    struct world *world = *state;
    sight.now = begun();
    sight.now.concurrency = 2;
    work(world, begun());
    assert_int_equal(sight.most_before, 4);
    assert_int_equal(sight.most_after, 2);
    assert_true(world_log_has(world, "info  configuration: concurrency is 2\n"));
}

/* Children for more of them are not made later. */
static void test_no_more_runs_at_a_time_than_at_the_start(void **state)
{
    struct world *world = *state;
    sight.now = begun();
    sight.now.concurrency = 9;
    work(world, begun());
    assert_int_equal(sight.most_after, 4);
    assert_true(world_log_has(world, "warn  configuration: concurrency is 4 as at the start; 9 "
                                     "counts at the next one\n"));
}

static void test_bound_and_weight_of_a_queue(void **state)
{
    struct world *world = *state;
    static const culex_queue_options rows[] = {{"mail", .weight = 7, .concurrency = 1}};
    sight.now = begun();
    sight.now.queue_options = rows;
    sight.now.queue_option_count = 1;
    work(world, begun());
    assert_int_equal(sight.most_before, 4);
    assert_int_equal(sight.most_after, 1);
    assert_int_equal(sight.weight, 7);
    assert_true(world_log_has(world, "info  configuration: queue mail: weight 7, at most 1 at a "
                                     "time\n"));
    assert_int_equal(sight.taken, 1);
}

static void test_what_was_claimed_ahead_does_not_begin_beside_a_new_bound(void **state)
{
    static const culex_queue_options rows[] = {{"mail", .concurrency = 1}};
    sight.now = begun();
    sight.now.queue_options = rows;
    sight.now.queue_option_count = 1;
    sight.run_ms = 1;
    sight.ring_ms = 5;
    work(*state, begun());
    assert_in_range(sight.most_before, 8, RUNS);
    assert_int_equal(sight.most_after, 1);
}

static void test_bound_of_a_queue_that_is_taken_away(void **state)
{
    struct world *world = *state;
    static const culex_queue_options rows[] = {{"mail", .concurrency = 1}};
    culex_worker_options before = begun();
    before.queue_options = rows;
    before.queue_option_count = 1;
    sight.now = begun();
    work(world, before);
    assert_int_equal(sight.most_before, 1);
    assert_int_equal(sight.most_after, 4);
    assert_true(world_log_has(world, "info  configuration: queue mail: weight 1, no bound of its "
                                     "own\n"));
}

/* It does not wait for a look that is due anyway. */
static void test_room_that_a_queue_gets_is_used_at_once(void **state)
{
    struct world *world = *state;
    static const culex_queue_options rows[] = {{"mail", .concurrency = 1}};
    culex_worker_options before = begun();
    before.queue_options = rows;
    before.queue_option_count = 1;
    before.idle_wait_ms = 20000;
    sight.now = begun();
    sight.now.idle_wait_ms = 20000;
    sight.run_ms = 10000;
    work(world, before);
    assert_in_range(sight.begun_ms[0], 0, 100);
    assert_in_range(sight.begun_ms[1], 1000, 1100);
    assert_in_range(sight.begun_ms[3], 1000, 1100);
}

static void test_times_and_level(void **state)
{
    struct world *world = *state;
    sight.now = begun();
    sight.now.grace_ms = -1;
    sight.now.idle_wait_ms = 2500;
    culex_worker_options before = begun();
    before.log_level = 2;
    work(world, before);
    assert_int_equal(sight.grace_ms, -1);
    assert_int_equal(sight.idle_wait_ms, 2500);
    assert_true(world_log_has(world, "info  configuration: log-level is info, but for what "
                                     "handlers write\n"));
    assert_true(world_log_has(world, "info  configuration: grace is 0ms\n"));
    assert_true(world_log_has(world, "info  configuration: idle-wait is 2.5s\n"));
}

static void test_what_counts_at_the_next_start_is_told(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"mail"}, *const offers[] = {"gpu=1"};
    static const char *const names[] = {"url",    "queues",    "offer",     "name",
                                        "batch",  "lease",     "unlisted",  "uncounted",
                                        "traces", "trace-all", "log-format"};
    char text[128];
    sight.now = begun();
    sight.now.url = "sqlite:other";
    sight.now.queues = queues;
    sight.now.queue_count = 1;
    sight.now.offers = offers;
    sight.now.offer_count = 1;
    sight.now.name = "x";
    sight.now.batch = 3;
    sight.now.lease_ms = 1000;
    sight.now.unlisted = true;
    sight.now.uncounted = true;
    sight.now.traces = "spans";
    sight.now.trace_all = true;
    sight.now.log_format = CULEX_LOG_JSON;
    work(world, begun());
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(text, sizeof text,
                 "warn  configuration: %s is another one from the next start on\n", names[i]);
        if (!world_log_has(world, text))
            fail_msg("the log does not say: %s", text);
    }
    assert_int_equal(sight.most_after, 4);
}

static void ring_again(struct world *world)
{
    assert_int_equal(sight.taken, 1);
    sight.now = begun();
    sight.now.batch = 3;
    ring(world);
}

static void ring_and_again(struct world *world)
{
    ring(world);
    world->then = ring_again;
    world->then_ms = sight.ring_ms + RUN_MS;
}

/* Of two that were others, one stays so: each is told once, and that one is no news. */
static void test_what_is_taken_back_counts_as_at_the_start(void **state)
{
    struct world *world = *state;
    sight.now = begun();
    sight.now.batch = 3;
    sight.now.name = "x";
    sight.reads_wanted = 2;
    sight.then = ring_and_again;
    work(world, begun());
    assert_int_equal(
        world_log_count(world, "configuration: name is another one from the next start on\n"), 1);
    assert_true(
        world_log_has(world, "info  configuration: name is again what it was at the start\n"));
    assert_int_equal(world_log_count(world, "is again what it was"), 1);
    assert_int_equal(world_log_count(world, "nothing has changed"), 0);
}

static void ring_unchanged(struct world *world)
{
    assert_int_equal(sight.taken, 1);
    ring(world);
}

static void ring_and_unchanged(struct world *world)
{
    ring(world);
    world->then = ring_unchanged;
    world->then_ms = sight.ring_ms + RUN_MS;
}

static void test_what_waits_for_the_next_start_is_told_once(void **state)
{
    struct world *world = *state;
    sight.now = begun();
    sight.now.batch = 3;
    sight.reads_wanted = 2;
    sight.then = ring_and_unchanged;
    work(world, begun());
    assert_int_equal(
        world_log_count(world, "configuration: batch is another one from the next start on\n"), 1);
    assert_true(world_log_has(world, "info  configuration: read again, and nothing has changed\n"));
    assert_int_equal(world_log_count(world, "configuration: "), 2);
}

/* It says of the change that hides it, too. */
static void test_level_that_falls_hides_no_other_change(void **state)
{
    struct world *world = *state;
    sight.now = begun();
    sight.now.log_level = 1;
    sight.now.concurrency = 2;
    work(world, begun());
    assert_true(world_log_has(world, "info  configuration: log-level is error, but for what "
                                     "handlers write\n"));
    assert_true(world_log_has(world, "info  configuration: concurrency is 2\n"));
}

static void test_weight_makes_the_order_weighted_at_once(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"mail", "report"};
    static const culex_queue_options rows[] = {{"mail", .weight = 9}};
    culex_worker_options before = begun();
    culex_enqueue_options options = culex_enqueue_options_make();
    struct number many[200] = {{0}};
    before.queues = queues;
    before.queue_count = 2;
    sight.now = before;
    sight.now.queue_options = rows;
    sight.now.queue_option_count = 1;
    options.queue = "report";
    assert_int_equal(culex_client_enqueue_many(world->client, &job, many, sizeof many[0], 200,
                                               &options, NULL, NULL, NULL),
                     CULEX_OK);
    assert_int_equal(culex_client_enqueue_many(world->client, &job, many, sizeof many[0], 200, NULL,
                                               NULL, NULL, NULL),
                     CULEX_OK);
    sight.counts_from_ms = 1000 + 2 * RUN_MS;
    sight.counts_to_ms = 5000;
    work(world, before);
    assert_true(world_log_has(world, "info  configuration: order is weighted\n"));
    assert_in_range(sight.of_report, 10, 20); /* of 4 * 38, a tenth */
    assert_in_range(sight.of_mail, 120, 150);
}

static void test_nothing_has_changed(void **state)
{
    struct world *world = *state;
    sight.now = begun();
    work(world, begun());
    assert_int_equal(world_log_count(world, "configuration: "), 1);
    assert_true(world_log_has(world, "info  configuration: read again, and nothing has changed\n"));
}

static void assert_kept(struct world *world, const char *says)
{
    work(world, begun());
    assert_int_equal(sight.taken, 0);
    assert_int_equal(sight.most_after, 4);
    assert_int_equal(world_log_count(world, "configuration: "), 1);
    if (!world_log_has(world, says))
        fail_msg("the log does not say: %s", says);
}

static void test_what_cannot_be_read_changes_nothing(void **state)
{
    sight.now = begun();
    sight.now.concurrency = 1;
    sight.status = CULEX_EUSAGE;
    assert_kept(*state, "error configuration: nothing is changed: line 3 is wrong\n");
}

static void test_what_is_no_good_changes_nothing(void **state)
{
    sight.now = begun();
    sight.now.concurrency = 1;
    sight.now.batch = 257;
    assert_kept(*state, "error configuration: nothing is changed: batch is 1 to 256\n");
}

/* By the list that is read, as at the next start: the one at work knows nothing of it. */
static void test_options_for_a_queue_that_is_new_in_the_list(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"mail", "report"};
    static const culex_queue_options rows[] = {{"report", .concurrency = 1}};
    sight.now = begun();
    sight.now.concurrency = 2;
    sight.now.queues = queues;
    sight.now.queue_count = 2;
    sight.now.queue_options = rows;
    sight.now.queue_option_count = 1;
    work(world, begun());
    assert_int_equal(sight.most_after, 2);
    assert_true(world_log_has(world, "there are options for queue 'report', and no such queue is "
                                     "served so far\n"));
}

static void test_options_for_another_queue_change_nothing(void **state)
{
    static const culex_queue_options rows[] = {{"mial", .concurrency = 1}};
    sight.now = begun();
    sight.now.concurrency = 1;
    sight.now.queue_options = rows;
    sight.now.queue_option_count = 1;
    assert_kept(*state, "error configuration: nothing is changed: there are options for queue "
                        "'mial', and this worker serves no such queue; did you mean mail?\n");
}

static void test_worker_without_a_file_is_not_rung(void **state)
{
    struct world *world = *state;
    culex_worker_options options = begun();
    put(world, 1);
    world_worker(world, options, &job);
    culex__reload_ring(world->worker);
    world_run(world);
    assert_int_equal(sight.reads, 0);
    assert_int_equal(world_log_count(world, "configuration"), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_fewer_runs_at_a_time),
        TEST(test_no_more_runs_at_a_time_than_at_the_start),
        TEST(test_bound_and_weight_of_a_queue),
        TEST(test_what_was_claimed_ahead_does_not_begin_beside_a_new_bound),
        TEST(test_bound_of_a_queue_that_is_taken_away),
        TEST(test_room_that_a_queue_gets_is_used_at_once),
        TEST(test_times_and_level),
        TEST(test_what_counts_at_the_next_start_is_told),
        TEST(test_what_is_taken_back_counts_as_at_the_start),
        TEST(test_what_waits_for_the_next_start_is_told_once),
        TEST(test_level_that_falls_hides_no_other_change),
        TEST(test_weight_makes_the_order_weighted_at_once),
        TEST(test_nothing_has_changed),
        TEST(test_what_cannot_be_read_changes_nothing),
        TEST(test_what_is_no_good_changes_nothing),
        TEST(test_options_for_a_queue_that_is_new_in_the_list),
        TEST(test_options_for_another_queue_change_nothing),
        TEST(test_worker_without_a_file_is_not_rung),
    };
    return cmocka_run_group_tests_name("reload", tests, NULL, NULL);
}
