/* Runs that the worker holds while no handler has them: queued behind others, given up before they
 * started, or ended and not told to the store yet. On a driven clock. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "store/sqlite/sqlite.h"
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

/* Goes on for as many milliseconds as its parameter says. */
static culex_outcome act_hang(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    world->hang_ms = n;
    return CULEX_DONE;
}

static culex_outcome act_hang_100_us(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    (void)n;
    world->hang_us = 100;
    return CULEX_DONE;
}

static void stop_worker(struct world *world)
{
    culex_worker_stop(world->worker);
}

static void assert_counts(struct world *world, uint64_t waiting, uint64_t active, uint64_t done)
{
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.count[CULEX_RUN_WAITING], waiting);
    assert_int_equal(stats.count[CULEX_RUN_ACTIVE], active);
    assert_int_equal(stats.count[CULEX_RUN_DONE], done);
}

/* --- what is queued ------------------------------------------------------------------------ */

enum { SHORT = 20, BEHIND = 5, LONG_MS = 3000 };

/* Short runs, after which the worker claims more than its one handler can begin, then a long one
 * with others behind it. Returns the last one. */
static culex_uuid enqueue_behind_a_long_one(struct world *world, const culex_job_type *type)
{
    culex_uuid id = {0};
    for (int i = 0; i < SHORT; i++)
        world_enqueue(world, type, 0);
    world_enqueue(world, type, LONG_MS);
    for (int i = 0; i < BEHIND; i++)
        id = world_enqueue(world, type, 0);
    world->act = act_hang;
    return id;
}

static void
run_worker(struct world *world, const culex_job_type *type, culex_worker_options options,
           culex_status (*create)(const struct culex_executor_config *config,
                                  struct culex_executor **ret_executor, culex_error *error))
{
    world_worker(world, options, type);
    culex__worker_set_executor(world->worker, create);
    world_run(world);
}

static void assert_uncharged(struct world *world, culex_uuid id, culex_run_state state,
                             uint32_t attempt)
{
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->state, state);
    assert_int_equal(run->attempt, attempt);
    assert_int_equal(run->failures + run->crashes + run->losses, 0);
    culex_run_info_free(run);
}

static void expect_all_queued(struct world *world)
{
    assert_counts(world, 0, 1 + BEHIND, SHORT);
}

static void expect_none_queued(struct world *world)
{
    assert_counts(world, BEHIND, 1, SHORT);
    assert_int_equal(world->worker->flight_count, 1);
}

static void test_runs_behind_a_long_one_are_given_back_for_others_to_start(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid last = enqueue_behind_a_long_one(world, &type);
    world->then = expect_none_queued;
    world->then_ms = 1000;
    run_worker(world, &type, (culex_worker_options){.drain = true}, executor_killing_create);
    assert_null(world->then);
    assert_int_equal(world->calls, SHORT + 1 + BEHIND);
    assert_counts(world, 0, 0, SHORT + 1 + BEHIND);
    assert_uncharged(world, last, CULEX_RUN_DONE, 2);
}

static void stop_with_a_queue(struct world *world)
{
    expect_all_queued(world);
    culex_worker_stop(world->worker);
}

static void test_stop_gives_back_what_is_queued_and_lets_the_rest_end(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid last = enqueue_behind_a_long_one(world, &type);
    world->then = stop_with_a_queue;
    world->then_ms = 100;
    run_worker(world, &type, (culex_worker_options){.drain = false}, executor_killing_create);
    assert_int_equal(world->calls, SHORT + 1);
    assert_counts(world, BEHIND, 0, SHORT + 1);
    assert_uncharged(world, last, CULEX_RUN_WAITING, 1);
    assert_true(world_log_has(world, "stopping: 1 runs still active"));
    assert_in_range(world_ms(world), LONG_MS, LONG_MS + 100);
}

/* On a thread a timeout gives a run up, also one that has not started, and a stand-in tells the
 * store at once. A worker that claims by number is granted them again; when it is stopped, the
 * executor hands back those that were given up and those that were granted since, and only these
 * are to be told. */
static void test_queued_run_that_was_given_up_is_not_told_again(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = 150;
    type.retry.max = 0;
    culex_uuid last = enqueue_behind_a_long_one(world, &type);
    world->manner = WORLD_STUBBORN;
    world->then = stop_worker;
    world->then_ms = 190;
    run_worker(world, &type, (culex_worker_options){.batch = 32}, executor_asking_create);
    assert_int_equal(world->calls, SHORT + 1);
    assert_counts(world, BEHIND, 0, SHORT);
    assert_uncharged(world, last, CULEX_RUN_WAITING, 2);
    size_t acks = 0;
    for (size_t i = 0; i < world->step_count; i++)
        acks += world->steps[i].ack_count;
    assert_int_equal(acks, SHORT + 1 + 2 * BEHIND);
}

/* --- the time of what was queued ------------------------------------------------------------ */

enum { WAIT_MS = 180, TIMEOUT_MS = 1500 };

/* A run of `ms` that waits for its handler, as it was claimed together with one before it. */
static culex_run_info *
run_behind_another(struct world *world, int64_t ms,
                   culex_status (*create)(const struct culex_executor_config *config,
                                          struct culex_executor **ret_executor, culex_error *error))
{
    culex_job_type type = number_type();
    type.timeout_ms = TIMEOUT_MS;
    type.retry.max = 0;
    for (int i = 0; i < SHORT; i++)
        world_enqueue(world, &type, 0);
    world_enqueue(world, &type, WAIT_MS);
    culex_uuid id = world_enqueue(world, &type, ms);
    world->act = act_hang;
    world->manner = WORLD_STUBBORN;
    run_worker(world, &type, (culex_worker_options){.drain = true}, create);
    assert_int_equal(world->call_ms[SHORT + 1] - world->call_ms[SHORT], WAIT_MS);
    return world_get(world, id);
}

static void test_timeout_counts_from_the_start_and_not_from_the_claim(void **state)
{
    struct world *world = *state;
    culex_run_info *run = run_behind_another(world, TIMEOUT_MS - 50, executor_killing_create);
    assert_int_equal(run->state, CULEX_RUN_DONE);
    assert_int_equal(run->attempt, 1);
    culex_run_info_free(run);
    assert_in_range(world->extended_ms, TIMEOUT_MS, TIMEOUT_MS + 10); /* the store knows */
}

static void test_timeout_on_a_thread_counts_from_the_start_too(void **state)
{
    culex_run_info *run = run_behind_another(*state, TIMEOUT_MS - 50, executor_asking_create);
    assert_int_equal(run->state, CULEX_RUN_DONE);
    culex_run_info_free(run);
}

static culex_outcome act_pass(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    world_pass(world, n);
    return CULEX_DONE;
}

/* It begins and ends between two looks of the worker. */
static void test_timeout_that_nobody_watched_counts_from_the_start_too(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = TIMEOUT_MS;
    type.retry.max = 0;
    for (int i = 0; i < SHORT; i++)
        world_enqueue(world, &type, 0);
    world_enqueue(world, &type, WAIT_MS);
    culex_uuid id = world_enqueue(world, &type, TIMEOUT_MS - 50);
    world->act = act_pass;
    run_worker(world, &type, (culex_worker_options){.drain = true}, executor_inline_create);
    assert_int_equal(world->call_ms[SHORT + 1] - world->call_ms[SHORT], WAIT_MS);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
}

static void test_run_that_waited_has_no_more_than_its_time(void **state)
{
    struct world *world = *state;
    culex_run_info *run = run_behind_another(world, TIMEOUT_MS + 50, executor_killing_create);
    assert_int_equal(run->state, CULEX_RUN_DEAD);
    assert_string_equal(run->error_text,
                        "timed out after 1.5s; the handler returned by itself 50ms later");
    culex_run_info_free(run);
}

/* Its time is over before anybody looked, and a landing is no reason for a step. */
static void test_ends_of_runs_with_a_timeout_gather_as_others_do(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    size_t steps[2];
    world->act = act_hang_100_us;
    for (int i = 0; i < 2; i++) {
        type.timeout_ms = i * TIMEOUT_MS;
        for (int k = 0; k < 200; k++)
            world_enqueue(world, &type, 0);
        steps[i] = world->step_count;
        run_worker(world, &type, (culex_worker_options){.drain = true}, executor_killing_create);
        steps[i] = world->step_count - steps[i];
    }
    assert_int_equal(steps[0], steps[1]);
}

/* --- ends that are heard of late ------------------------------------------------------------ */

enum { MANY = 900, STALL_MS = 3000, LATE_TIMEOUT_MS = 2000 };

/* Short runs, which all end while the store keeps the worker waiting for the answer to the step
 * that asks for the last of them. */
static culex_outcome act_then_stall(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    world->hang_ms = n;
    if (world->calls == 3 * CULEX_BATCH_MAX)
        world->step_sleep_ms = STALL_MS;
    return CULEX_DONE;
}

static void stall_with_many(struct world *world,
                            culex_status (*create)(const struct culex_executor_config *config,
                                                   struct culex_executor **ret_executor,
                                                   culex_error *error))
{
    culex_job_type type = number_type();
    type.timeout_ms = LATE_TIMEOUT_MS;
    type.retry.max = 0;
    for (int i = 0; i < MANY; i++)
        world_enqueue(world, &type, 100);
    world->act = act_then_stall;
    run_worker(world, &type, (culex_worker_options){.concurrency = MANY, .drain = true}, create);
    assert_in_range(world_ms(world), STALL_MS, 2 * STALL_MS);
    assert_int_equal(world->calls, MANY);
    assert_counts(world, 0, 0, MANY);
    assert_false(world_log_has(world, "timed out"));
}

static void test_more_ends_than_a_batch_after_a_stall__none_is_timed_out(void **state)
{
    stall_with_many(*state, executor_killing_create);
}

static void test_more_ends_on_threads_than_a_batch_after_a_stall__none_is_timed_out(void **state)
{
    stall_with_many(*state, executor_asking_create);
}

static void stall(struct world *world)
{
    world->step_sleep_ms = STALL_MS;
}

/* The first queue's step lasts, and the second queue's run ends meanwhile: within one turn. */
static void test_end_during_the_stall_of_another_queue__not_timed_out(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type(), other = number_type();
    type.timeout_ms = other.timeout_ms = LATE_TIMEOUT_MS;
    type.retry.max = other.retry.max = 0;
    other.name = "t.other";
    other.wire = "t.other";
    other.queue = "others";
    world_enqueue(world, &type, 50);
    culex_uuid id = world_enqueue(world, &other, 100);
    world->act = act_hang;
    world->in_step = stall;
    world->in_step_ms = 50;
    world_worker(world, (culex_worker_options){.concurrency = 2, .drain = true}, &type);
    assert_int_equal(
        culex_worker_register(world->worker, &other, number_call, number_handler, world), CULEX_OK);
    culex__worker_set_executor(world->worker, executor_asking_create);
    world_run(world);
    culex_run_info *run = NULL;
    assert_int_equal(culex_client_get(world->client, "others", id, &run, NULL), CULEX_OK);
    assert_int_equal(run->state, CULEX_RUN_DONE);
    culex_run_info_free(run);
    assert_false(world_log_has(world, "timed out"));
}

/* Its child could not tell the end for a while: the worker has asked it to stop by then. */
static void test_end_that_is_told_after_the_timeout_struck__handlers_time_counts(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = LATE_TIMEOUT_MS;
    type.retry.max = 0;
    culex_uuid in_time = world_enqueue(world, &type, LATE_TIMEOUT_MS - 10);
    culex_uuid late = world_enqueue(world, &type, LATE_TIMEOUT_MS + 10);
    world->act = act_hang;
    world->manner = WORLD_STUBBORN;
    world->tell_ms = 500;
    run_worker(world, &type, (culex_worker_options){.concurrency = 2, .drain = true},
               executor_killing_create);
    assert_int_equal(world_state(world, in_time), CULEX_RUN_DONE);
    assert_int_equal(world_state(world, late), CULEX_RUN_DEAD);
    assert_int_equal(
        world_log_count(world, "timed out after 2s; the handler returned by itself 10ms later"), 1);
}

static void hands_come(struct world *world)
{
    world->has_no_hands = false;
}

/* Its claim was answered later than it may take. Then a handler becomes free after a while. */
static void test_grant_that_comes_later_than_its_timeout__has_its_time(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = TIMEOUT_MS;
    culex_uuid id = world_enqueue(world, &type, TIMEOUT_MS - 10);
    world->act = act_hang;
    world->manner = WORLD_STUBBORN;
    world->has_no_hands = true;
    world->step_sleep_ms = STALL_MS;
    world->then = hands_come;
    world->then_ms = STALL_MS + TIMEOUT_MS - 100;
    run_worker(world, &type, (culex_worker_options){.drain = true}, executor_killing_create);
    assert_int_equal(world->calls, 1);
    assert_uncharged(world, id, CULEX_RUN_DONE, 1);
}

static culex_uuid overdue;

/* Nothing of the first attempt is left in the crew, which might begin it just then. */
static void expect_second_attempt(struct world *world)
{
    assert_uncharged(world, overdue, CULEX_RUN_ACTIVE, 2);
    assert_int_equal(world->worker->crew.count, 1);
    world->has_no_hands = false;
}

static void wait_for_all_of_its_time(
    struct world *world,
    culex_status (*create)(const struct culex_executor_config *config,
                           struct culex_executor **ret_executor, culex_error *error))
{
    culex_job_type type = number_type();
    type.timeout_ms = TIMEOUT_MS;
    overdue = world_enqueue(world, &type, 100);
    world->act = act_hang;
    world->has_no_hands = true;
    world->then = expect_second_attempt;
    world->then_ms = TIMEOUT_MS + 100;
    run_worker(world, &type, (culex_worker_options){.drain = true}, create);
    assert_null(world->then);
    assert_int_equal(world->calls, 1);
    assert_uncharged(world, overdue, CULEX_RUN_DONE, 2);
}

static void test_run_that_waits_for_all_of_its_time__is_taken_back(void **state)
{
    wait_for_all_of_its_time(*state, executor_killing_create);
}

static void test_run_that_waits_for_all_of_its_time_on_a_thread__is_taken_back(void **state)
{
    wait_for_all_of_its_time(*state, executor_asking_create);
}

/* Nobody reads what a child says while the store keeps its worker waiting. */
static void test_line_of_the_start_that_waits__is_not_the_handlers_time(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = TIMEOUT_MS;
    type.retry.max = 0;
    culex_uuid id = world_enqueue(world, &type, 0);
    world->start_line_ms = STALL_MS;
    run_worker(world, &type, (culex_worker_options){.drain = true}, executor_inline_create);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
}

static void take_name(struct world *world)
{
    size_t released = 0;
    int64_t now_ms;
    assert_int_equal(world->store->ops->hello(world->store, "numbers", "box-1", "00000000deadbeef",
                                              &released, &now_ms, NULL),
                     CULEX_OK);
    assert_int_equal(released, 1);
}

static void stop_as_the_name_is_taken(struct world *world)
{
    world->in_step = take_name;
    culex_worker_stop(world->worker);
}

/* It is given back, and the store has given it away by then: no work is lost. */
static void test_run_that_another_got_before_it_started__is_no_refused_result(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world_enqueue(world, &type, 0);
    world->has_no_hands = true;
    world->then = stop_as_the_name_is_taken;
    world->then_ms = 500;
    run_worker(world, &type, (culex_worker_options){.name = "box-1"}, executor_killing_create);
    assert_int_equal(world->calls, 0);
    assert_int_equal(world_log_count(world, " not started here: the lease is over"), 1);
    assert_false(world_log_has(world, "result refused"));
}

/* A child whose memory is damaged says anything. */
static void test_handler_that_says_it_took_for_ever__ended_by_now(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = LATE_TIMEOUT_MS;
    type.retry.max = 0;
    culex_uuid id = world_enqueue(world, &type, LATE_TIMEOUT_MS + 10);
    world->act = act_hang;
    world->manner = WORLD_STUBBORN;
    world->said_ns = INT64_MAX;
    run_worker(world, &type, (culex_worker_options){.drain = true}, executor_killing_create);
    culex_run_info *run = world_get(world, id);
    assert_string_equal(run->error_text,
                        "timed out after 2s; the handler returned by itself 10ms later");
    culex_run_info_free(run);
}

/* --- a store that was set back ------------------------------------------------------------- */

static sqlite3 *saved;

static void db_copy(sqlite3 *to, sqlite3 *from)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    assert_non_null(backup);
    assert_int_equal(sqlite3_backup_step(backup, -1), SQLITE_DONE);
    assert_int_equal(sqlite3_backup_finish(backup), SQLITE_OK);
}

static sqlite3 *db_of(struct world *world)
{
    return culex__sqlite_of(world->store)->db;
}

static void set_back(struct world *world)
{
    db_copy(db_of(world), saved);
    world->fault_count = 0;
}

static void cut_off(struct world *world)
{
    world->fault = WORLD_REFUSE;
    world->fault_count = UINT_MAX;
    world->then = set_back;
    world->then_ms = 2500;
}

/* The worker is known to the store and no run is due. */
static void save(struct world *world)
{
    assert_int_equal(sqlite3_open(":memory:", &saved), SQLITE_OK);
    db_copy(saved, db_of(world));
    world->then = cut_off;
    world->then_ms = 500;
}

static culex_uuid enqueue_late(struct world *world, const culex_job_type *type, int64_t n)
{
    culex_enqueue_options late = culex_enqueue_options_make();
    struct number params = {n};
    culex_uuid id;
    late.has_delay = true;
    late.delay = 100 * CULEX_MILLISECOND;
    assert_int_equal(culex_client_enqueue(world->client, type, &params, &late, &id, NULL),
                     CULEX_OK);
    return id;
}

static void work_through_a_set_back(struct world *world, int64_t first_ms)
{
    culex_job_type type = number_type();
    culex_uuid first = enqueue_late(world, &type, first_ms);
    enqueue_late(world, &type, 600);
    world->act = act_hang;
    world->then = save;
    world->then_ms = 50;
    world_worker(world, (culex_worker_options){.concurrency = 2, .drain = true}, &type);
    culex__worker_set_executor(world->worker, executor_killing_create);
    world_run(world);
    sqlite3_close(saved);
    assert_int_equal(world->calls, 4);
    assert_counts(world, 0, 0, 2);
    assert_uncharged(world, first, CULEX_RUN_DONE, 1);
}

/* The first run's end waits behind a step without an answer, which carries the second one's. That
 * step is answered with a grant of the first run, the very same attempt: its older end would be
 * taken for the newer one's. */
static void test_end_from_before_a_set_back_is_not_told_for_the_new_execution(void **state)
{
    struct world *world = *state;
    work_through_a_set_back(world, 2000);
    assert_int_equal(world_log_count(world, "result refused"), 1); /* of the second run's first */
    assert_false(world_log_has(world, "lease lost"));
    assert_true(world_ms(world) >= world->call_ms[2] + 2000);
}

/* The same when it is still at work: the end of that execution would come as the newer one's. */
static void test_run_from_before_a_set_back_is_given_up_for_the_new_execution(void **state)
{
    struct world *world = *state;
    work_through_a_set_back(world, 4000);
    assert_int_equal(world_log_count(world, "lease lost"), 1);
    assert_true(world_ms(world) >= world->call_ms[2] + 4000);
}

/* --- the world itself ---------------------------------------------------------------------- */

/* Tests run beside each other, and the names of doors without files are the machine's. */
static void test_worlds_have_doors_of_their_own(void **state)
{
    static const char *const queues[] = {"numbers"};
    struct world *worlds[] = {*state, world_open()};
    worlds[1]->seed = worlds[0]->seed;
    for (int i = 0; i < 2; i++) {
        struct culex_store *store = worlds[i]->store;
        culex_error error = {0};
        int fd;
        if (store->ops->wake_arm(store, queues, 1, 1000, &fd, &error) != CULEX_OK)
            fail_msg("%s", error.text);
    }
    world_close(worlds[1]);
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(test_runs_behind_a_long_one_are_given_back_for_others_to_start),
        UNIT(test_stop_gives_back_what_is_queued_and_lets_the_rest_end),
        UNIT(test_queued_run_that_was_given_up_is_not_told_again),
        UNIT(test_timeout_counts_from_the_start_and_not_from_the_claim),
        UNIT(test_timeout_on_a_thread_counts_from_the_start_too),
        UNIT(test_timeout_that_nobody_watched_counts_from_the_start_too),
        UNIT(test_run_that_waited_has_no_more_than_its_time),
        UNIT(test_ends_of_runs_with_a_timeout_gather_as_others_do),
        UNIT(test_more_ends_than_a_batch_after_a_stall__none_is_timed_out),
        UNIT(test_more_ends_on_threads_than_a_batch_after_a_stall__none_is_timed_out),
        UNIT(test_end_during_the_stall_of_another_queue__not_timed_out),
        UNIT(test_end_that_is_told_after_the_timeout_struck__handlers_time_counts),
        UNIT(test_grant_that_comes_later_than_its_timeout__has_its_time),
        UNIT(test_run_that_waits_for_all_of_its_time__is_taken_back),
        UNIT(test_run_that_waits_for_all_of_its_time_on_a_thread__is_taken_back),
        UNIT(test_line_of_the_start_that_waits__is_not_the_handlers_time),
        UNIT(test_run_that_another_got_before_it_started__is_no_refused_result),
        UNIT(test_handler_that_says_it_took_for_ever__ended_by_now),
        UNIT(test_end_from_before_a_set_back_is_not_told_for_the_new_execution),
        UNIT(test_run_from_before_a_set_back_is_given_up_for_the_new_execution),
        UNIT(test_worlds_have_doors_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
