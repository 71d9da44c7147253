/* Which queue's runs a worker takes, and how many at a time: worker/order.h, worker/share.h, and
 * the queues that patterns find, worker/discovery.h. On a driven clock. The number of a run is how
 * many microseconds it takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/queue_item.h"
#include "world.h"

enum { QUEUES = 3, MANY = 4000, AHEAD = 41 /* runs of 0.1 ms that one handler has ahead */ };

static const char *const names[QUEUES] = {"mail", "report", "scan"};
static culex_job_type job;

/* What the handlers of the test saw. */
static struct sight {
    size_t total[QUEUES];                      /* runs that were enqueued */
    size_t begun[QUEUES];                      /* and have begun */
    size_t most[QUEUES];                       /* had by the worker at a time */
    size_t all_most;                           /* and that of all queues */
    unsigned weight[QUEUES];                   /* 0: not in the comparison */
    double ahead;                              /* of its share was a queue at most, in runs, */
    size_t count;                              /* while all had runs */
    int64_t first_ms[QUEUES], last_ms[QUEUES]; /* beginnings */
    unsigned row[QUEUES];                      /* of the beginnings, the first */
    size_t order_count;
} sight;

static int setup(void **state)
{
    job = number_type();
    job.queue = "mail";
    sight = (struct sight){.all_most = 0};
    *state = world_open();
    return 0;
}

static int teardown(void **state)
{
    world_close(*state);
    return 0;
}

static size_t queue_index(const char *queue)
{
    size_t i = 0;
    while (i + 1 < QUEUES && strcmp(names[i], queue) != 0)
        i++;
    return i;
}

static void put(struct world *world, const char *queue, int64_t us, size_t count)
{
    static struct number many[MANY];
    culex_enqueue_options options = culex_enqueue_options_make();
    assert_true(count <= MANY);
    options.queue = queue;
    for (size_t i = 0; i < count; i++)
        many[i].n = us;
    sight.total[queue_index(queue)] += count;
    assert_int_equal(culex_client_enqueue_many(world->client, &job, many, sizeof many[0], count,
                                               &options, NULL, NULL, NULL),
                     CULEX_OK);
}

/* All that the worker has of each queue, or may be given. */
static void held_note(const struct world *world)
{
    const culex_worker *worker = world->worker;
    size_t all = 0;
    for (size_t i = 0; i < worker->lane_count; i++) {
        const struct culex_lane *lane = &worker->lanes[i];
        size_t asked = lane->step.is_pending ? lane->step.want : lane->granted;
        size_t held = lane->flight_count + lane->share.aside + asked, q = queue_index(lane->name);
        sight.most[q] = held > sight.most[q] ? held : sight.most[q];
        all += lane->flight_count;
    }
    sight.all_most = all > sight.all_most ? all : sight.all_most;
}

/* By how many runs the queue is ahead of what its weight gives it. */
static void share_note(size_t q)
{
    double runs = 0, weights = 0;
    for (size_t i = 0; i < QUEUES; i++) {
        if (sight.weight[i] > 0 && sight.begun[i] >= sight.total[i])
            return;
        weights += sight.weight[i];
        runs += sight.weight[i] > 0 ? (double)sight.begun[i] : 0;
    }
    double ahead = (double)sight.begun[q] - runs * sight.weight[q] / weights;
    ahead = ahead < 0 ? -ahead : ahead;
    sight.ahead = ahead > sight.ahead ? ahead : sight.ahead;
    sight.count++;
}

static culex_outcome act_note(struct world *world, culex_run *run, int64_t n)
{
    size_t q = queue_index(culex_run_queue(run));
    if (sight.begun[q]++ == 0)
        sight.first_ms[q] = world_ms(world);
    sight.last_ms[q] = world_ms(world);
    held_note(world);
    if (sight.weight[q] > 0)
        share_note(q);
    world->hang_us = n;
    return CULEX_DONE;
}

static culex_worker_options serving(const char *const *queues, size_t count)
{
    return (culex_worker_options){
        .queues = queues, .queue_count = count, .drain = true, .log_level = 3};
}

static unsigned weights_seen[QUEUES];

static culex_outcome act_weights(struct world *world, culex_run *run, int64_t n)
{
    for (size_t i = 0; i < world->worker->lane_count; i++)
        weights_seen[queue_index(world->worker->lanes[i].name)] =
            world->worker->lanes[i].share.weight;
    return act_note(world, run, n);
}

static void work_with(struct world *world, culex_worker_options options, culex_executor_make make)
{
    if (world->act == NULL)
        world->act = act_note;
    world_worker(world, options, &job);
    culex__worker_set_executor(world->worker, make);
    world_run(world);
}

static void work(struct world *world, culex_worker_options options)
{
    work_with(world, options, executor_killing_create);
}

/* --- by weight ------------------------------------------------------------------------------- */

static void assert_shares(struct world *world, int64_t mail_us, int64_t report_us, unsigned batch,
                          unsigned concurrency, double most)
{
    static const char *const queues[] = {"mail:3", "report:1"};
    culex_worker_options options = serving(queues, 2);
    options.batch = batch;
    options.concurrency = concurrency;
    sight = (struct sight){.weight = {3, 1}};
    put(world, "mail", mail_us, 900);
    put(world, "report", report_us, 300);
    work(world, options);
    assert_int_equal(sight.begun[0] + sight.begun[1], 1200);
    assert_in_range(sight.count, 1000, 1200);
    if (sight.ahead > most)
        fail_msg("%f runs off its share, and not %f", sight.ahead, most);
}

static void test_three_slow_runs_of_the_heavy_queue_for_each_of_the_light_one(void **state)
{
    for (unsigned concurrency = 1; concurrency <= 5; concurrency++)
        assert_shares(*state, 30000, 30000, 0, concurrency, 0.5 * (1 + concurrency));
}

static void test_shares_of_short_runs_are_kept_to_within_a_batch(void **state)
{
    assert_shares(*state, 1, 1, 16, 1, 16);
    assert_shares(*state, 1, 1, 1, 2, 1);
    assert_shares(*state, 100, 100, 0, 1, AHEAD / 2);
    assert_shares(*state, 100, 100, 0, 4, 4 * AHEAD / 2);
}

static void test_weights_count_runs_and_not_their_time(void **state)
{
    assert_shares(*state, 30000, 100, 0, 2, 40);
    assert_shares(*state, 100, 30000, 0, 2, 40);
}

static void test_weights_of_three_queues_in_order_weighted(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"scan", "mail:1000", "report:500"};
    culex_worker_options options = serving(queues, 3);
    options.order = CULEX_ORDER_WEIGHTED;
    sight = (struct sight){.weight = {1000, 500, 1}};
    put(world, "mail", 5000, 2000);
    put(world, "report", 5000, 1000);
    put(world, "scan", 5000, 4);
    work(world, options);
    assert_true(sight.count > 2000);
    assert_true(sight.ahead <= 2);
    assert_int_equal(sight.begun[2], 4); /* and it has its turn */
}

static size_t begun_by_then[QUEUES];

static void report_late(struct world *world)
{
    memcpy(begun_by_then, sight.begun, sizeof begun_by_then);
    put(world, "report", 1000, 100);
    sight.begun[0] = 0;
    sight.total[0] -= begun_by_then[0];
    sight.weight[0] = sight.weight[1] = 1;
}

/* While it had none the other one took all, which is not to be paid back. */
static void test_queue_that_had_no_runs_has_nothing_to_make_up_for(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"mail:1", "report:1"};
    put(world, "mail", 10000, 1000);
    world->then = report_late;
    world->then_ms = 5000;
    work(world, serving(queues, 2));
    assert_in_range(begun_by_then[0], 400, 510);
    assert_int_equal(sight.begun[0] + begun_by_then[0], 1000);
    assert_in_range(sight.count, 150, 210);
    assert_true(sight.ahead <= 12); /* 100 ms until the empty queue is looked into */
}

static void report_by_a_handler(struct world *world)
{
    report_late(world);
    atomic_store(&world->worker->is_fed, true);
}

/* The same where it comes between two looks, and every queue is believed to have some. */
static void test_queue_that_is_fed_by_a_handler_has_nothing_to_make_up_for(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"mail:1", "report:1"};
    put(world, "mail", 1000, 1000);
    world->then = report_by_a_handler;
    world->then_ms = 495;
    work(world, serving(queues, 2));
    assert_in_range(begun_by_then[0], 400, 500);
    assert_in_range(sight.count, 180, 210);
    assert_true(sight.ahead <= 6);
}

static void test_time_is_counted_exactly_over_any_number_of_runs(void **state)
{
    (void)state;
    static struct culex_lane lane;
    const struct culex_queue_item item = {.weight = 1000};
    culex__share_init(&lane, &item, 0);
    for (size_t i = 0; i < 100000; i++)
        culex__share_charge(&lane, 0, 1);
    assert_int_equal(lane.share.used, 100 * CULEX_SHARE_UNIT);
}

static void test_heavy_queue_has_more_in_hand(void **state)
{
    assert_shares(*state, 100, 100, 0, 1, AHEAD / 2);
    assert_in_range(sight.most[0], 3 * AHEAD / 4, 3 * AHEAD / 4 + 3);
    assert_in_range(sight.most[1], AHEAD / 4 - 2, AHEAD / 4 + 3);
}

static void test_idle_queue_of_great_weight_slows_nobody(void **state)
{
    struct world *world = *state;
    static const char *const one[] = {"mail"}, *const two[] = {"mail:1", "report:1000"};
    put(world, "mail", 100, 2000);
    work(world, serving(one, 1));
    int64_t alone_ns = world->now_ns - 1000000000, begin_ns = world->now_ns;
    put(world, "mail", 100, 2000);
    work(world, serving(two, 2));
    assert_int_equal(sight.begun[0], 4000);
    assert_in_range(world->now_ns - begin_ns, 1, alone_ns + alone_ns / 10);
}

/* --- in the order of the list ---------------------------------------------------------------- */

static void test_strict_order_works_off_the_first_queue_first(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"report", "mail"};
    culex_worker_options options = serving(queues, 2);
    options.order = CULEX_ORDER_STRICT;
    for (int64_t us = 1; us <= 30000; us *= 100) {
        sight = (struct sight){.all_most = 0};
        options.concurrency = us == 1 ? 1 : 3;
        put(world, "mail", us, 200);
        put(world, "report", us, 200);
        work(world, options);
        assert_int_equal(sight.begun[0], 200);
        assert_true(sight.first_ms[0] >= sight.last_ms[1]);
    }
}

static void put_report(struct world *world)
{
    put(world, "report", 30000, 3);
}

static void test_strict_order_lets_new_runs_of_the_first_queue_overtake(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"report", "mail"};
    culex_worker_options options = serving(queues, 2);
    options.order = CULEX_ORDER_STRICT;
    put(world, "mail", 30000, 200);
    world->then = put_report;
    world->then_ms = 1000;
    work(world, options);
    assert_in_range(sight.first_ms[1], 1000, 1000 + 100 + 2 * 30);
    assert_in_range(sight.last_ms[1], sight.first_ms[1] + 60, sight.first_ms[1] + 70);
}

/* --- so many at a time ----------------------------------------------------------------------- */

static void test_queue_has_no_more_runs_at_a_time_than_its_bound(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"mail@2", "report:1@3"};
    culex_worker_options options = serving(queues, 2);
    for (unsigned batch = 0; batch <= 32; batch += 32) {
        for (int64_t us = 1; us <= 100000; us *= 100) {
            sight = (struct sight){.all_most = 0};
            options.concurrency = 8;
            options.batch = batch;
            put(world, "mail", us, 300);
            put(world, "report", us, 300);
            work(world, options);
            assert_int_equal(sight.begun[0] + sight.begun[1], 600);
            assert_int_equal(sight.most[0], 2);
            assert_int_equal(sight.most[1], 3);
        }
    }
}

static bool was_asked;

/* With others' runs to do, and when a run of the bounded queue may have come. */
static culex_outcome act_ask_for_one(struct world *world, culex_run *run, int64_t n)
{
    struct culex_lane *lane = &world->worker->lanes[0];
    int64_t now_ns = culex__worker_now_ns(world->worker);
    if (sight.begun[0] == 100 && lane->flight_count == 0 && lane->acks.ends.count == 0 &&
        !lane->step.is_pending && !was_asked) {
        was_asked = true;
        culex__outlook_set_likely(lane);
        assert_true(culex__lane_wants_step(lane, 1, now_ns));
    }
    return act_note(world, run, n);
}

/* It never has room for as many as it pays to claim together elsewhere. */
static void test_queue_of_short_runs_and_a_small_bound_waits_for_no_company(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"mail@1", "report"};
    put(world, "mail", 100, 100);
    put(world, "report", 100, 4000);
    was_asked = false;
    world->act = act_ask_for_one;
    work(world, serving(queues, 2));
    assert_true(was_asked);
}

static void test_what_one_queue_may_not_have_is_left_to_others(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"mail@1", "report"};
    culex_worker_options options = serving(queues, 2);
    options.concurrency = 4;
    put(world, "mail", 1000000, 10);
    put(world, "report", 1000000, 30);
    work(world, options);
    assert_int_equal(sight.most[0], 1);
    assert_int_equal(sight.all_most, 4);
    assert_in_range(sight.last_ms[1], 9000, 9500);
}

static void test_strict_order_passes_by_a_queue_that_is_at_its_bound(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"mail@1", "report"};
    culex_worker_options options = serving(queues, 2);
    options.order = CULEX_ORDER_STRICT;
    options.concurrency = 2;
    put(world, "mail", 1000000, 5);
    put(world, "report", 1000000, 5);
    work(world, options);
    assert_in_range(sight.first_ms[1], 0, 200);
    assert_in_range(sight.last_ms[1], 4000, 4300);
}

static void put_one_report(struct world *world)
{
    put(world, "report", 0, 1);
}

static culex_outcome act_stop_at_report(struct world *world, culex_run *run, int64_t n)
{
    if (strcmp(culex_run_queue(run), "report") == 0)
        culex_worker_stop(world->worker);
    return act_note(world, run, n);
}

/* It is told of the other queue's runs while one is at its bound and has more. */
static void test_worker_is_woken_for_others_while_one_queue_is_at_its_bound(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"mail@1", "report"};
    culex_worker_options options = serving(queues, 2);
    options.concurrency = 2;
    options.drain = false;
    put(world, "mail", 60000000, 2);
    world->then = put_one_report;
    world->then_ms = 20033;
    world->act = act_stop_at_report;
    work(world, options);
    assert_int_equal(sight.first_ms[1], 20033);
    assert_true(world->step_count < 60); /* a beat a second, and no look ten times a second */
}

static culex_outcome act_bring_another(struct world *world, culex_run *run, int64_t n)
{
    if (sight.begun[0] == 0)
        put(world, "mail", 0, 1);
    return act_note(world, run, n);
}

/* It came while the worker still waited for that queue, and is at its bound: another worker is to
 * hear of it. */
static void test_wake_up_of_a_queue_at_its_bound_is_passed_on(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"mail@1", "report"};
    culex_worker_options options = serving(queues, 2);
    culex_enqueue_options late = culex_enqueue_options_make();
    const struct number minute = {60000000};
    options.concurrency = 2;
    late.has_delay = true;
    late.delay = 10 * CULEX_SECOND;
    assert_int_equal(culex_client_enqueue(world->client, &job, &minute, &late, NULL, NULL), 0);
    world->act = act_bring_another;
    work(world, options);
    size_t hints = 0;
    for (size_t i = 0; i < world->step_count; i++) {
        const struct world_step *step = &world->steps[i];
        hints += step->at_ms >= 10000 && step->at_ms < 10100 && step->want == 0 &&
                 step->ack_count + step->beat_count == 0;
    }
    assert_int_equal(hints, 1);
}

/* A handler on a thread that was given up with its lease is at work all the same. */
static culex_outcome act_stubborn(struct world *world, culex_run *run, int64_t n)
{
    world->manner = WORLD_STUBBORN;
    return act_note(world, run, n);
}

static void store_goes(struct world *world)
{
    world->fault_until_ns = world->now_ns + INT64_C(20000000000);
}

static void test_run_that_was_given_up_counts_while_its_handler_goes_on(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"mail@1"};
    culex_worker_options options = serving(queues, 1);
    options.concurrency = 2;
    options.isolation = CULEX_ISOLATION_NONE;
    put(world, "mail", 60000000, 1);
    put(world, "mail", 0, 1);
    world->then = store_goes;
    world->then_ms = 1000;
    world->act = act_stubborn;
    work_with(world, options, executor_asking_create);
    assert_true(world_log_count(world, "lost") > 0 || world->calls > 2);
    assert_int_equal(sight.most[0], 1);
    assert_true(world->call_ms[1] >= 60000);
}

/* --- queues that patterns find --------------------------------------------------------------- */

static void test_queues_of_a_pattern_are_served(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"s*n", "*a*@1"};
    culex_worker_options options = serving(queues, 2);
    options.concurrency = 4;
    put(world, "mail", 10000, 10);
    put(world, "report", 10000, 10);
    put(world, "scan", 10000, 10);
    work(world, options);
    assert_int_equal(sight.begun[0], 10);
    assert_int_equal(sight.begun[1], 0);
    assert_int_equal(sight.begun[2], 10);
    assert_int_equal(sight.most[0], 1);   /* it has the pattern's bound, */
    assert_in_range(sight.most[2], 2, 4); /* and the earlier pattern is scan's */
    assert_int_equal(world_log_count(world, "queue scan was found by s*n\n"), 1);
}

static void test_name_wins_over_a_pattern(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"*@4", "mail@1"};
    culex_worker_options options = serving(queues, 2);
    options.concurrency = 4;
    put(world, "mail", 10000, 10);
    put(world, "report", 10000, 10);
    work(world, options);
    assert_int_equal(sight.begun[0] + sight.begun[1], 20);
    assert_int_equal(sight.most[0], 1);
    const char *const both[] = {"m*", "mail@1"};
    work(world, serving(both, 2));
    assert_true(world_log_has(world, "warn  no queue of the store matches 'm*': this drain "
                                     "does nothing for it\n"));
}

/* --- options of a queue ---------------------------------------------------------------------- */

static culex_worker_options tuned(const culex_queue_options *rows, size_t count)
{
    return (culex_worker_options){.queue_options = rows,
                                  .queue_option_count = count,
                                  .concurrency = 4,
                                  .drain = true,
                                  .log_level = 3};
}

/* All that jobs go to is served as before: no list of queues is needed for a bound. */
static void test_options_bound_a_queue_of_the_jobs(void **state)
{
    struct world *world = *state;
    static const culex_queue_options rows[] = {
        {"*", .concurrency = 3}, {"mail", .concurrency = 2}, {"mail", .weight = 2}};
    put(world, "mail", 10000, 30);
    work(world, tuned(&rows[1], 1));
    assert_int_equal(sight.most[0], 2);
    sight = (struct sight){.all_most = 0};
    put(world, "mail", 10000, 30);
    work(world, tuned(rows, 2));
    assert_int_equal(sight.most[0], 2); /* the name wins over a pattern, which comes first */
    sight = (struct sight){.all_most = 0};
    put(world, "mail", 10000, 30);
    work(world, tuned(rows, 1));
    assert_int_equal(sight.most[0], 3);
    sight = (struct sight){.all_most = 0};
    const culex_queue_options apart[] = {rows[0], rows[2]};
    put(world, "mail", 10000, 30);
    work(world, tuned(apart, 2)); /* a row for the name that says no bound leaves the pattern's */
    assert_int_equal(sight.most[0], 3);
}

static void test_list_of_queues_wins_over_their_options(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"mail@1", "report:5"};
    static const culex_queue_options rows[] = {{"mail", 7, 3}, {"report", 9, 2}};
    culex_worker_options options = serving(queues, 2);
    options.queue_options = rows;
    options.queue_option_count = 2;
    options.concurrency = 8;
    put(world, "mail", 10000, 20);
    put(world, "report", 10000, 20);
    world_worker(world, options, &job);
    culex__worker_set_executor(world->worker, executor_killing_create);
    world->act = act_weights;
    world_run(world);
    assert_int_equal(sight.most[0], 1);
    assert_int_equal(sight.most[1], 2);
    assert_int_equal(weights_seen[0], 7);
    assert_int_equal(weights_seen[1], 5);
}

static void test_weights_of_options_make_the_order_weighted(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"mail", "report"};
    static const culex_queue_options rows[] = {{"mail", .weight = 3}};
    culex_worker_options options = serving(queues, 2);
    options.queue_options = rows;
    options.queue_option_count = 1;
    options.concurrency = 1;
    sight = (struct sight){.weight = {3, 1}};
    put(world, "mail", 30000, 300);
    put(world, "report", 30000, 100);
    work(world, options);
    assert_true(sight.count > 300);
    assert_true(sight.ahead <= 1);
}

static void test_options_for_a_queue_that_is_not_served_are_refused(void **state)
{
    static const culex_queue_options rows[] = {{"mial", .concurrency = 1}};
    static const char *const queues[] = {"mail", "m*"};
    culex_worker_options options = tuned(rows, 1);
    for (size_t count = 0; count <= 1; count++) {
        culex_error error = {0};
        options.queues = count == 0 ? NULL : queues;
        options.queue_count = count;
        world_worker(*state, options, &job);
        assert_int_equal(culex_worker_run(((struct world *)*state)->worker, &error), CULEX_EUSAGE);
        assert_string_equal(error.text, "there are options for queue 'mial', and this worker "
                                        "serves no such queue; did you mean mail?");
        culex_worker_free(((struct world *)*state)->worker);
        ((struct world *)*state)->worker = NULL;
    }
    options.queues = queues; /* one that may be found yet */
    options.queue_count = 2;
    put(*state, "mail", 1, 1);
    work(*state, options);
    assert_int_equal(sight.begun[0], 1);
}

/* --- queues that patterns find, later --------------------------------------------------------- */

static void put_scan_and_end(struct world *world)
{
    put(world, "scan", 0, 1);
}

static culex_outcome act_note_and_stop(struct world *world, culex_run *run, int64_t n)
{
    culex_worker_stop(world->worker);
    return act_note(world, run, n);
}

static void test_pattern_finds_a_queue_that_comes_later(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"sc*"};
    culex_worker_options options = serving(queues, 1);
    options.drain = false;
    world->then = put_scan_and_end;
    world->then_ms = 7000;
    world->act = act_note_and_stop;
    work(world, options);
    assert_int_equal(sight.begun[2], 1);
    assert_in_range(sight.first_ms[2], 7000, 7000 + 5000 + 10);
    assert_int_equal(
        world_log_count(world, "info  no queue of the store matches 'sc*' yet; it is looked for "
                               "every 5 s\n"),
        1);
}

/* As a queue that does not exist: whoever wrote it into a script is to notice. */
static void test_drain_of_a_pattern_without_a_queue_is_refused(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"rep.*", "sc*"};
    for (size_t count = 1; count <= 2; count++) {
        culex_error error = {0};
        world_worker(world, serving(queues, count), &job);
        assert_int_equal(culex_worker_run(world->worker, &error), CULEX_EUSAGE);
        assert_non_null(strstr(error.text, "no queue of the store matches it"));
        assert_non_null(strstr(error.text, "to a queue that matches 'rep.*'"));
        assert_int_equal(strstr(error.text, "another of those named") != NULL, count == 2);
        culex_worker_free(world->worker);
        world->worker = NULL;
    }
    put(world, "scan", 0, 1);
    work(world, serving(queues, 2));
    assert_int_equal(sight.begun[2], 1);
    assert_true(world_log_has(world, "warn  no queue of the store matches 'rep.*'"));
}

/* The store has no such queue before the job's first tick, or run. */
static void test_pattern_meets_the_queues_of_registered_jobs_at_once(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"m*l"};
    culex_worker_options options = serving(queues, 1);
    options.drain = false;
    static const struct number two = {2};
    culex_field field = number_struct.fields[0];
    field.flags = 0;
    field.def = &two.n;
    const culex_struct_type params = {"t.number", sizeof(struct number), &field, 1};
    job.params = &params;
    job.schedule.every_ms = 60000;
    world->act = act_note_and_stop;
    work(world, options);
    assert_int_equal(sight.begun[0], 1);
    assert_in_range(sight.first_ms[0], 0, 100);
}

static culex_outcome act_follow_up(struct world *world, culex_run *run, int64_t n)
{
    if (sight.begun[0] == 0) {
        put(world, "scan", 0, 1);
        atomic_store(&world->worker->is_fed, true);
    }
    return act_note(world, run, n);
}

static void test_drain_serves_a_queue_that_a_handler_makes(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"*"};
    put(world, "mail", 0, 1);
    world->act = act_follow_up;
    work(world, serving(queues, 1));
    assert_int_equal(sight.begun[2], 1);
    assert_true(world_ms(world) < 1000);
}

static void test_idle_worker_with_a_pattern_hardly_asks(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"*"};
    culex_worker_options options = serving(queues, 1);
    options.drain = false;
    world->then = put_scan_and_end;
    world->then_ms = 100000;
    world->act = act_note_and_stop;
    work(world, options);
    assert_in_range(world->queue_looks, 18, 25);
}

static void test_found_queue_that_refuses_is_left_alone(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"*"};
    put(world, "report", 0, 5);
    put(world, "scan", 0, 5);
    world->hello_queue = "report";
    world->hello_status = CULEX_EDENIED;
    work(world, serving(queues, 1));
    assert_int_equal(sight.begun[1], 0);
    assert_int_equal(sight.begun[2], 5);
    assert_int_equal(world_log_count(world, "queue report refuses this worker and is not served"),
                     1);
}

static void test_store_that_tells_no_queues_ends_a_worker_with_a_pattern(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"mail", "sc*"};
    culex_error error = {0};
    world->queues_status = CULEX_EDENIED;
    world_worker(world, serving(queues, 2), &job);
    assert_int_equal(culex_worker_run(world->worker, &error), CULEX_EDENIED);
    assert_non_null(strstr(error.text, "the store does not tell which queues it has"));
    culex_worker_free(world->worker);
    world->worker = NULL;
}

static void test_worker_finds_no_more_queues_than_it_has_room_for(void **state)
{
    struct world *world = *state;
    static const char *const queues[] = {"many.*"};
    char name[16];
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "many.%03d", i);
        put(world, name, 0, 1);
    }
    work(world, serving(queues, 1));
    assert_in_range(sight.begun[2], 256, 299);
    assert_int_equal(world_log_count(world, "and others are not served"), 1);
}

/* --- how it is written ----------------------------------------------------------------------- */

static void test_items__read_by_table(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
        unsigned weight, most;
        bool is_pattern;
    } rows[] = {
        {"mail", "mail", 1, 0, false},        {"mail:3", "mail", 3, 0, false},
        {"mail@8", "mail", 1, 8, false},      {"mail:1000@1024", "mail", 1000, 1024, false},
        {"mail.*:2@1", "mail.*", 2, 1, true}, {"*", "*", 1, 0, true},
        {"a:b:1", "a:b", 1, 0, false},        {"a:3:1", "a:3", 1, 0, false},
        {"a:b:7@2", "a:b", 7, 2, false},      {"x*y*", "x*y*", 1, 0, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct culex_queue_item item;
        assert_int_equal(culex__queue_item_read(rows[i].text, &item, NULL), CULEX_OK);
        assert_string_equal(item.name, rows[i].name);
        assert_int_equal(item.weight, rows[i].weight);
        assert_int_equal(item.most, rows[i].most);
        assert_int_equal(item.is_pattern, rows[i].is_pattern);
    }
}

static void test_items__refused_by_table(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason;
    } rows[] = {
        {"", "a queue needs a name"},
        {":3", "a queue needs a name"},
        {"@3", "a queue needs a name"},
        {"mail:0", "the weight of queue 'mail' is '0', and not a whole number from 1 to 1000"},
        {"mail:1001", "is '1001'"},
        {"mail:99999999999999999999", "and not a whole number from 1 to 1000"},
        {"mail:-1", "is '-1'"},
        {"mail:2.5", "is '2.5'"},
        {"mail:", "is ''"},
        {"mail:3x", "is '3x'"},
        {"mail:x", "the weight of queue 'mail' is 'x', and not a whole number from 1 to 1000: "
                   "write NAME:WEIGHT@RUNS (of an old queue that is called 'mail:x', 'mail:x:1')"},
        {"mail:x@3", "is 'x'"},
        {"mail@x", "queue 'mail' may have 'x' runs at a time"},
        {"mail@0", "queue 'mail' may have '0' runs at a time"},
        {"mail@", "which is not a whole number from 1 to 1024: write NAME:WEIGHT@RUNS"},
        {"mail:3@", "queue 'mail' may have '' runs at a time, which is not a whole number"},
        {"mail@1025", "'1025'"},
        {"mail@3:2", "'3:2'"},
        {"mail@2@3", "'2@3'"},
        {"mail.*!",
         "queues 'mail.*!': only letters, digits, '_', '.' and '-' are allowed, and '*'"},
        {"ma il",
         "queue name 'ma il': only letters, digits, '_', '.' and '-' are allowed, and ':' in "
         "that of an old queue"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa*", "at most 64 bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct culex_queue_item item;
        culex_error error = {0};
        assert_int_not_equal(culex__queue_item_read(rows[i].text, &item, &error), CULEX_OK);
        if (strstr(error.text, rows[i].reason) == NULL)
            fail_msg("'%s' does not say '%s'", error.text, rows[i].reason);
    }
}

static void test_patterns_meet_by_table(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *name;
        bool meets;
    } rows[] = {
        {"mail.*", "mail.a", true}, {"mail.*", "mail.", true},
        {"mail.*", "mail", false},  {"mail.*", "xmail.a", false},
        {"*", "mail", true},        {"*a", "banana", true},
        {"*a*a", "banana", true},   {"*an", "banana", false},
        {"b*n*a", "banana", true},  {"**", "x", true},
        {"b*nn*", "banana", false}, {"mail", "mail", true},
        {"mail", "mails", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct culex_queue_item item;
        assert_int_equal(culex__queue_item_read(rows[i].pattern, &item, NULL), CULEX_OK);
        if (culex__queue_item_meets(&item, rows[i].name) != rows[i].meets)
            fail_msg("%s and %s", rows[i].pattern, rows[i].name);
    }
}

static void expect_refused(culex_worker_options options, const char *reason)
{
    culex_worker *worker = NULL;
    culex_error error = {0};
    assert_int_equal(culex_worker_create(&options, &worker, &error), CULEX_EUSAGE);
    if (strstr(error.text, reason) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, reason);
}

static void test_lists_that_contradict_themselves_are_refused(void **state)
{
    (void)state;
    static const char *const twice[] = {"mail:2", "report", "mail@3"};
    static const char *const weighted[] = {"mail", "report:2"};
    culex_worker_options options = serving(twice, 3);
    expect_refused(options, "queue 'mail' is named twice");
    options = serving(weighted, 2);
    options.order = CULEX_ORDER_STRICT;
    expect_refused(options, "queue 'report' has a weight, which means nothing in this order");
    options.order = CULEX_ORDER_TURNS;
    expect_refused(options, "queue 'report' has a weight");
    options.order = (culex_order)9;
    expect_refused(options, "no such order");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_three_slow_runs_of_the_heavy_queue_for_each_of_the_light_one),
        TEST(test_shares_of_short_runs_are_kept_to_within_a_batch),
        TEST(test_weights_count_runs_and_not_their_time),
        TEST(test_weights_of_three_queues_in_order_weighted),
        TEST(test_queue_that_had_no_runs_has_nothing_to_make_up_for),
        TEST(test_queue_that_is_fed_by_a_handler_has_nothing_to_make_up_for),
        TEST(test_time_is_counted_exactly_over_any_number_of_runs),
        TEST(test_heavy_queue_has_more_in_hand),
        TEST(test_idle_queue_of_great_weight_slows_nobody),
        TEST(test_strict_order_works_off_the_first_queue_first),
        TEST(test_strict_order_lets_new_runs_of_the_first_queue_overtake),
        TEST(test_queue_has_no_more_runs_at_a_time_than_its_bound),
        TEST(test_queue_of_short_runs_and_a_small_bound_waits_for_no_company),
        TEST(test_what_one_queue_may_not_have_is_left_to_others),
        TEST(test_strict_order_passes_by_a_queue_that_is_at_its_bound),
        TEST(test_worker_is_woken_for_others_while_one_queue_is_at_its_bound),
        TEST(test_wake_up_of_a_queue_at_its_bound_is_passed_on),
        TEST(test_run_that_was_given_up_counts_while_its_handler_goes_on),
        TEST(test_queues_of_a_pattern_are_served),
        TEST(test_name_wins_over_a_pattern),
        TEST(test_options_bound_a_queue_of_the_jobs),
        TEST(test_list_of_queues_wins_over_their_options),
        TEST(test_weights_of_options_make_the_order_weighted),
        TEST(test_options_for_a_queue_that_is_not_served_are_refused),
        TEST(test_pattern_finds_a_queue_that_comes_later),
        TEST(test_drain_of_a_pattern_without_a_queue_is_refused),
        TEST(test_pattern_meets_the_queues_of_registered_jobs_at_once),
        TEST(test_drain_serves_a_queue_that_a_handler_makes),
        TEST(test_idle_worker_with_a_pattern_hardly_asks),
        TEST(test_found_queue_that_refuses_is_left_alone),
        TEST(test_store_that_tells_no_queues_ends_a_worker_with_a_pattern),
        TEST(test_worker_finds_no_more_queues_than_it_has_room_for),
        TEST(test_items__read_by_table),
        TEST(test_items__refused_by_table),
        TEST(test_patterns_meet_by_table),
        TEST(test_lists_that_contradict_themselves_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
