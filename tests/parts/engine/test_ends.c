/* How runs end that do not simply return: crashes, timeouts, cancellations, a stop, a store out
 * of reach, a machine that slept. On a driven clock, with an executor that can kill. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <culex/lines.h>

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

static void run_worker(struct world *world, culex_worker_options options, culex_job_type *type)
{
    world_worker(world, options, type);
    culex__worker_set_executor(world->worker, executor_killing_create);
    world_run(world);
}

static const culex_worker_options draining = {.drain = true};

static void assert_text(struct world *world, culex_uuid id, culex_run_state state, const char *text)
{
    culex_run_info *run = world_get(world, id);
    assert_string_equal(culex_run_state_name(run->state), culex_run_state_name(state));
    assert_string_equal(run->error_text, text);
    culex_run_info_free(run);
}

static void assert_uncharged(struct world *world, culex_uuid id, culex_run_state state)
{
    culex_run_info *run = world_get(world, id);
    if (run->state != state)
        fail_msg("%s, not %s:\n%.3000s", culex_run_state_name(run->state),
                 culex_run_state_name(state), world->log);
    assert_int_equal(run->failures + run->crashes + run->losses, 0);
    culex_run_info_free(run);
}

/* --- crashes --------------------------------------------------------------------------- */

static culex_outcome act_crash(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    (void)n;
    world->hang_ms = 10;
    world->manner = WORLD_CRASHING;
    return CULEX_DONE;
}

static void test_run_that_crashes_three_times_is_dead_and_says_so(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 1);
    world->act = act_crash;
    run_worker(world, draining, &type);
    assert_int_equal(world->calls, 3);
    assert_text(world, id, CULEX_RUN_DEAD,
                "crashed 3 times in a row: killed by SIGSEGV in zoo.c:1");
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->crashes, 3);
    assert_int_equal(run->failures, 0);
    culex_run_info_free(run);
    assert_int_equal(world_log_count(world, " crashed: killed by SIGSEGV in zoo.c:1; next at "), 2);
    assert_int_equal(world_log_count(world, " dead: crashed 3 times in a row: "), 1);
}

static culex_outcome act_overrun_once(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    (void)n;
    world->hang_ms = 10;
    world->manner = world->calls == 1 ? WORLD_OVERTIME : WORLD_STUBBORN;
    return CULEX_DONE;
}

/* A worker that was held up has renewed the lease at the store, and not told the child in time: no
 * handler has crashed. */
static void test_run_that_is_killed_at_a_lease_made_longer_is_charged_a_loss(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 1);
    world->act = act_overrun_once;
    run_worker(world, draining, &type);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->state, CULEX_RUN_DONE);
    assert_int_equal(run->losses, 1);
    assert_int_equal(run->failures + run->crashes, 0);
    culex_run_info_free(run);
    assert_true(world_log_has(world, "it was killed at the end of its lease, which was made longer "
                                     "too late (loss 1 of 10)"));
}

static culex_outcome act_fail_then_crash(struct world *world, culex_run *run, int64_t n)
{
    if (world->calls < 2)
        return culex_run_fail(run, "not today");
    return act_crash(world, run, n);
}

static void test_crash_after_failures_tells_both(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.retry.max = 1;
    culex_uuid id = world_enqueue(world, &type, 1);
    world->act = act_fail_then_crash;
    run_worker(world, draining, &type);
    assert_int_equal(world->calls, 2);
    assert_text(world, id, CULEX_RUN_DEAD,
                "crashed after 1 failures and 0 other crashes: killed by SIGSEGV in zoo.c:1");
}

/* --- timeouts -------------------------------------------------------------------------- */

static culex_outcome act_hang(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    world->hang_ms = n;
    return CULEX_DONE;
}

static void time_out(struct world *world, enum world_manner manner, const char *text)
{
    culex_job_type type = number_type();
    type.timeout_ms = 30000;
    type.retry.max = 0;
    world->manner = manner;
    culex_uuid id = world_enqueue(world, &type, 3600000);
    world->act = act_hang;
    run_worker(world, draining, &type);
    assert_text(world, id, CULEX_RUN_DEAD, text);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->failures, 1); /* not a crash: we ended it */
    assert_int_equal(run->crashes + run->losses, 0);
    culex_run_info_free(run);
}

static void test_timed_out_handler_that_ignores_everything_is_killed(void **state)
{
    time_out(*state, WORLD_STUBBORN, "timed out after 30s; killed by SIGKILL in zoo.c:1");
    assert_in_range(world_ms(*state), 32000, 33000);
}

static void test_timed_out_handler_ends_by_sigterm(void **state)
{
    time_out(*state, WORLD_MORTAL, "timed out after 30s; killed by SIGTERM in zoo.c:1");
    assert_in_range(world_ms(*state), 31000, 32000);
}

static void test_timed_out_handler_may_return_by_itself(void **state)
{
    time_out(*state, WORLD_OBEDIENT,
             "timed out after 30s; the handler returned by itself 100ms later");
}

static culex_outcome act_extend(struct world *world, culex_run *run, int64_t n)
{
    world->hang_ms = n;
    culex_run_extend(run, 100 * CULEX_SECOND);
    culex_run_extend(run, 50 * CULEX_SECOND); /* never shortens */
    culex_run_extend(run, -CULEX_SECOND);
    return CULEX_DONE;
}

static void test_extension_moves_the_timeout(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = 3000;
    type.retry.max = 0;
    culex_uuid id = world_enqueue(world, &type, 90000);
    world->act = act_extend;
    run_worker(world, draining, &type);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
    assert_int_equal(world->calls, 1);
    assert_in_range(world->extended_ms, 1, 100); /* told at once, not with the next regular beat */
    id = world_enqueue(world, &type, 110000);
    run_worker(world, draining, &type);
    assert_text(world, id, CULEX_RUN_DEAD, "timed out after 3s; killed by SIGKILL in zoo.c:1");
}

static culex_outcome act_extend_for_ever(struct world *world, culex_run *run, int64_t n)
{
    world->hang_ms = n;
    culex_run_extend(run, INT64_MAX);
    return CULEX_DONE;
}

static void test_extension_may_have_no_end(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = 3000;
    culex_uuid id = world_enqueue(world, &type, 90000);
    world->act = act_extend_for_ever;
    run_worker(world, draining, &type);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
    assert_int_equal(world->calls, 1);
}

static culex_outcome act_progress(struct world *world, culex_run *run, int64_t n)
{
    world->hang_ms = n;
    culex_run_progress(run, 10, "first");
    culex_run_progress(run, 142, "%s \xff", "half\tway");
    return CULEX_DONE;
}

static void test_progress_goes_with_the_next_heartbeat(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world_enqueue(world, &type, 20000);
    world->act = act_progress;
    world->manner = WORLD_OBEDIENT;
    run_worker(world, draining, &type);
    assert_int_equal(world->progress_count, 1);
    assert_string_equal(world->progress, "100 half\tway ?");
}

static culex_outcome act_lines(struct world *world, culex_run *run, int64_t n)
{
    world->hang_ms = n;
    culex_run_log(run, CULEX_LOG_DEBUG, "first");
    culex_run_log(run, CULEX_LOG_ERROR, "%s \xff", "half\tway");
    culex_log(run, "last");
    return CULEX_DONE;
}

static void assert_lines_then(struct world *world, culex_uuid id, size_t count, const char *failure)
{
    static const char *const texts[] = {"first", "half way ?", "last"};
    static const culex_log_level levels[] = {CULEX_LOG_DEBUG, CULEX_LOG_ERROR, CULEX_LOG_INFO};
    culex_run_lines *lines = NULL;
    assert_int_equal(culex_client_run_log(world->client, "numbers", id, &lines, NULL), CULEX_OK);
    assert_int_equal(lines->count, failure != NULL ? count + 1 : count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(lines->items[i].text, texts[3 - count + i]);
        assert_int_equal(lines->items[i].level, levels[3 - count + i]);
        assert_int_equal(lines->items[i].attempt, 1);
    }
    if (failure != NULL)
        assert_string_equal(lines->items[count].text, failure);
    culex_run_lines_free(lines);
}

static void assert_lines(struct world *world, culex_uuid id, size_t count)
{
    assert_lines_then(world, id, count, NULL);
}

/* Heartbeats bring them where the handler takes its time, else the end does. */
static void test_log_lines_are_kept_once(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    const int64_t hangs_ms[] = {0, 900, 20000};
    type.keep_log = 2;
    type.keep_success_ms = 3600000;
    world->act = act_lines;
    world->manner = WORLD_OBEDIENT;
    for (size_t i = 0; i < 3; i++) {
        culex_uuid id = world_enqueue(world, &type, hangs_ms[i]);
        run_worker(world, draining, &type);
        assert_lines(world, id, 2);
    }
    assert_int_equal(world_log_count(world, "first"), 0); /* below the worker's level */
}

/* The run ends while a heartbeat that brought them is repeated, or its end is. */
static void test_log_lines_come_once_when_answers_are_lost(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.keep_log = 9;
    type.keep_success_ms = 3600000;
    world->act = act_lines;
    world->manner = WORLD_OBEDIENT;
    for (unsigned skip = 0; skip < 6; skip++) {
        culex_uuid id = world_enqueue(world, &type, 1100);
        world->fault = WORLD_LOSE_REPLY;
        world->fault_skip = skip;
        world->fault_queue = "numbers";
        world->fault_count = 2;
        run_worker(world, draining, &type);
        world->fault_count = 0;
        assert_lines(world, id, 3);
    }
}

static void test_log_lines_of_a_job_that_keeps_none_are_not_kept(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.keep_success_ms = 3600000;
    culex_uuid id = world_enqueue(world, &type, 3000);
    world->act = act_lines;
    world->manner = WORLD_OBEDIENT;
    run_worker(world, draining, &type);
    assert_lines(world, id, 0);
    assert_int_equal(world_log_count(world, "last"), 1);
}

static culex_outcome act_flood(struct world *world, culex_run *run, int64_t n)
{
    world->hang_ms = n;
    for (int i = 0; i < 200; i++)
        culex_run_log(run, CULEX_LOG_DEBUG, "%01000d", i);
    return CULEX_DONE;
}

/* What all runs together have to say does not go at once, be it with heartbeats or ends. */
static void test_log_lines_of_all_runs_go_in_portions(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    const int64_t hangs_ms[] = {0, 60000, 3000};
    culex_uuid ids[8];
    type.keep_log = 1000;
    type.keep_success_ms = 3600000;
    world->act = act_flood;
    world->manner = WORLD_OBEDIENT;
    for (size_t n = 0; n < 3; n++) {
        for (size_t i = 0; i < 8; i++)
            ids[i] = world_enqueue(world, &type, hangs_ms[n]);
        run_worker(world, (culex_worker_options){.drain = true, .concurrency = 8}, &type);
        for (size_t i = 0; i < 8; i++) {
            culex_run_lines *lines = NULL;
            assert_int_equal(culex_client_run_log(world->client, "numbers", ids[i], &lines, NULL),
                             CULEX_OK);
            assert_int_equal(lines->count, 200);
            culex_run_lines_free(lines);
        }
        /* Beyond the bound, lines of one end. */
        assert_in_range(world->line_bytes_max, 1, 256 * 1024 + (n == 1 ? 0 : 200 * 1040));
        world->line_bytes_max = 0;
    }
}

/* Those of a heartbeat come again; those of an end are lost, and the log says so. */
static void test_log_lines_that_are_left_out_are_told(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.keep_log = 9;
    type.keep_success_ms = 3600000;
    world->act = act_lines;
    world->manner = WORLD_OBEDIENT;
    culex_uuid id = world_enqueue(world, &type, 20000);
    world->lines_left = 1;
    run_worker(world, draining, &type);
    assert_lines(world, id, 3);
    assert_int_equal(world_log_count(world, "log lines of its runs are not kept"), 1);
    id = world_enqueue(world, &type, 0);
    world->lines_left = 1;
    run_worker(world, draining, &type);
    assert_lines(world, id, 0);
    assert_int_equal(world_log_count(world, "log lines of its runs are not kept"), 2);
}

/* Fails twice, crashes, and is done with its fourth attempt, or fails for ever. */
static culex_outcome act_struggle(struct world *world, culex_run *run, int64_t n)
{
    world->manner = WORLD_OBEDIENT;
    world->hang_ms = 0;
    if (n > 0)
        return culex_run_fail(run, "try %u", world->calls);
    if (world->calls < 3)
        return culex_run_fail(run, "try %u\nwent wrong", world->calls);
    return world->calls == 3 ? act_crash(world, run, n) : CULEX_DONE;
}

static void assert_failure_lines(struct world *world, culex_uuid id, const char *const *texts,
                                 size_t count)
{
    culex_run_lines *lines = NULL;
    assert_int_equal(culex_client_run_log(world->client, "numbers", id, &lines, NULL), CULEX_OK);
    assert_int_equal(lines->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(lines->items[i].text, texts[i]);
        assert_int_equal(lines->items[i].level, CULEX_LOG_ERROR);
    }
    culex_run_lines_free(lines);
}

/* Whatever the job keeps of its log, and how the run ends. */
static void test_what_attempts_failed_by_stays_with_the_run(void **state)
{
    static const char *const texts[] = {"failed: try 1 went wrong", "failed: try 2 went wrong",
                                        "crashed: killed by SIGSEGV in zoo.c:1"};
    struct world *world = *state;
    culex_job_type type = number_type();
    type.keep_success_ms = 3600000;
    world->act = act_struggle;
    for (int64_t keep = 0; keep <= 2; keep++) {
        type.keep_log = keep;
        world->calls = 0;
        culex_uuid id = world_enqueue(world, &type, 0);
        run_worker(world, draining, &type);
        assert_int_equal(world->calls, 4);
        size_t count = keep > 0 ? (size_t)keep : 3;
        assert_failure_lines(world, id, texts + 3 - count, count);
    }
}

static void test_of_many_failures_the_last_eight_stay(void **state)
{
    static const char *const texts[] = {"failed: try 3", "failed: try 4", "failed: try 5",
                                        "failed: try 6", "failed: try 7", "failed: try 8",
                                        "failed: try 9", "failed: try 10"};
    struct world *world = *state;
    culex_job_type type = number_type();
    type.retry.max = 9;
    world->act = act_struggle;
    culex_uuid id = world_enqueue(world, &type, 1);
    run_worker(world, draining, &type);
    assert_int_equal(world->calls, 10);
    assert_failure_lines(world, id, texts, 8);
}

/* --- cancellation and stop --------------------------------------------------------------- */

static culex_uuid the_run;

static void cancel_the_run(struct world *world)
{
    assert_int_equal(culex_client_cancel(world->client, "numbers", the_run, NULL, NULL), 0);
}

/* Learnt with the heartbeat at 2 s, though a third of the lease is 5 s. */
static void cancel_at_1300_ms(struct world *world, enum world_manner manner, int64_t end_ms)
{
    culex_job_type type = number_type();
    the_run = world_enqueue(world, &type, 3600000);
    world->act = act_hang;
    world->manner = manner;
    world->then = cancel_the_run;
    world->then_ms = 1300;
    run_worker(world, draining, &type);
    assert_in_range(world->ended_ms, end_ms, end_ms + 10);
}

static void test_cancelled_handler_may_come_to_its_end(void **state)
{
    cancel_at_1300_ms(*state, WORLD_OBEDIENT, 2100);
    assert_int_equal(world_state(*state, the_run), CULEX_RUN_DONE);
}

static void test_cancelled_handler_gets_sigterm_after_five_seconds(void **state)
{
    cancel_at_1300_ms(*state, WORLD_MORTAL, 7000);
    assert_uncharged(*state, the_run, CULEX_RUN_CANCELLED);
}

static void test_cancelled_handler_is_killed_after_seven_seconds(void **state)
{
    cancel_at_1300_ms(*state, WORLD_STUBBORN, 9000);
    assert_uncharged(*state, the_run, CULEX_RUN_CANCELLED);
    assert_true(world_log_has(*state, "0 done, 0 failed, 0 crashed (0 dead), 1 cancelled, "));
}

static void stop_worker(struct world *world)
{
    culex_worker_stop(world->worker);
}

/* Eight runs that began apart cost their store one step a second, not eight. */
static void test_runs_that_began_apart_beat_together(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_enqueue_options options = culex_enqueue_options_make();
    struct number hour = {3600000};
    options.has_delay = true;
    for (int i = 0; i < 8; i++) {
        options.delay = i * 120 * CULEX_MILLISECOND;
        assert_int_equal(culex_client_enqueue(world->client, &type, &hour, &options, NULL, NULL),
                         CULEX_OK);
    }
    world->act = act_hang;
    world->manner = WORLD_MORTAL;
    world->then = stop_worker;
    world->then_ms = 60500;
    run_worker(world, (culex_worker_options){.concurrency = 8, .grace_ms = -1}, &type);
    size_t beating = 0;
    for (size_t i = 0; i < world->step_count; i++)
        beating += world->steps[i].beat_count > 0;
    assert_in_range(beating, 55, 65);
    assert_in_range(world->step_count, 55, 100);
}

static void stop_after_grace(struct world *world, enum world_manner manner, int64_t end_ms)
{
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 3600000);
    world->act = act_hang;
    world->manner = manner;
    world->then = stop_worker;
    world->then_ms = 1000;
    run_worker(world, (culex_worker_options){.grace_ms = 10000}, &type);
    assert_uncharged(world, id, CULEX_RUN_WAITING);
    assert_true(world_log_has(world, "given back: shutdown"));
    assert_in_range(world_ms(world), end_ms, end_ms + 100);
}

/* --- handlers that nobody can end ------------------------------------------------------- */

static const char OVERSTAY[] = "the handler was asked to stop 2s ago and goes on";

/* One handler on a thread that hears nothing and ends at 60 s; the worker is stopped then. */
static void run_deaf(struct world *world, culex_worker_options options, culex_job_type *type)
{
    world_enqueue(world, type, 60000);
    world->act = act_hang;
    world->manner = WORLD_STUBBORN;
    world->stop_when_ended = true;
    world_worker(world, options, type);
    culex__worker_set_executor(world->worker, executor_asking_create);
    world_run(world);
    assert_in_range(world_ms(world), 60000, 60100);
}

static void expect_told(struct world *world)
{
    assert_true(world_log_has(world, OVERSTAY));
}

static void expect_untold(struct world *world)
{
    assert_false(world_log_has(world, OVERSTAY));
    world->then = expect_told;
    world->then_ms = 12100;
}

static void test_deaf_handler_past_its_timeout_is_told_in_time_and_once(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = 10000;
    type.retry.max = 0;
    world->then = expect_untold;
    world->then_ms = 11900;
    run_deaf(world, (culex_worker_options){0}, &type);
    assert_int_equal(world_log_count(world, OVERSTAY), 1);
}

static void test_next_life_of_a_worker_forgets_who_was_deaf(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = 10000;
    type.retry.max = 0;
    world_enqueue(world, &type, 60000);
    world->act = act_hang;
    world->manner = WORLD_STUBBORN;
    world->then = stop_worker;
    world->then_ms = 10500;
    world_worker(world, (culex_worker_options){.grace_ms = -1}, &type);
    culex__worker_set_executor(world->worker, executor_asking_create);
    assert_int_equal(culex_worker_run(world->worker, NULL), CULEX_OK);
    assert_in_range(world_ms(world), 12000, 13000);
    world->then = stop_worker;
    world->then_ms = 20000;
    world_run(world);
    assert_int_equal(world_log_count(world, OVERSTAY), 1);
}

static void lose_store(struct world *world)
{
    world->fault = WORLD_REFUSE;
    world->fault_count = 40;
}

static void test_deaf_handler_past_its_lease_is_told_once(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world->then = lose_store;
    world->then_ms = 1000;
    run_deaf(world, (culex_worker_options){.lease_ms = 4000}, &type);
    assert_int_equal(world_log_count(world, OVERSTAY), 1);
}

/* It is given up before its first heartbeat could tell what it reported. */
static void test_last_words_before_a_timeout_on_a_thread_are_kept(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = 500;
    type.retry.max = 0;
    culex_uuid id = world_enqueue(world, &type, 1000);
    world->act = act_progress;
    world->manner = WORLD_STUBBORN;
    world_worker(world, draining, &type);
    culex__worker_set_executor(world->worker, executor_asking_create);
    world_run(world);
    culex_run_info *info = world_get(world, id);
    assert_int_equal(info->state, CULEX_RUN_DEAD);
    assert_int_equal(info->progress, 100);
    assert_string_equal(info->progress_text, "half\tway ?");
    culex_run_info_free(info);
}

/* The same of log lines, be the timeout before a heartbeat or behind it. */
static void test_log_lines_before_a_timeout_on_a_thread_are_kept(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.retry.max = 0;
    type.keep_log = 9;
    type.timeout_ms = 500;
    culex_uuid soon = world_enqueue(world, &type, 9000);
    type.timeout_ms = 4000;
    culex_uuid late = world_enqueue(world, &type, 9000);
    world->act = act_lines;
    world->manner = WORLD_STUBBORN;
    world_worker(world, draining, &type);
    culex__worker_set_executor(world->worker, executor_asking_create);
    world_run(world);
    assert_lines_then(world, soon, 3, "failed: timed out after 500ms");
    assert_lines_then(world, late, 3, "failed: timed out after 4s");
}

static void test_handler_that_obeys_its_flag_is_not_told_of(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = 10000;
    type.retry.max = 0;
    world_enqueue(world, &type, 60000);
    world->act = act_hang;
    world->manner = WORLD_OBEDIENT;
    world->then = stop_worker;
    world->then_ms = 20000;
    world_worker(world, (culex_worker_options){0}, &type);
    culex__worker_set_executor(world->worker, executor_asking_create);
    world_run(world);
    assert_true(world_log_has(world, "timed out after 10s"));
    assert_false(world_log_has(world, "was asked to stop"));
}

static void test_stop_ends_a_mortal_handler_by_sigterm_after_the_grace(void **state)
{
    stop_after_grace(*state, WORLD_MORTAL, 11000);
}

static void test_stop_kills_a_stubborn_handler_two_seconds_later(void **state)
{
    stop_after_grace(*state, WORLD_STUBBORN, 13000);
}

/* What comes due meanwhile may be known to this worker alone: it does not wait for the handler. */
static void test_stop_hands_on_at_once_what_comes_due(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    bool is_told = false;
    world_enqueue(world, &type, 3000);
    world->act = act_hang;
    world->manner = WORLD_STUBBORN;
    world->then = stop_worker;
    world->then_ms = 500;
    run_worker(world, (culex_worker_options){.concurrency = 1, .batch = 1, .grace_ms = 10000},
               &type);
    for (size_t i = 0; i < world->step_count; i++)
        is_told |= world->steps[i].at_ms == 500 && world->steps[i].want == 0;
    assert_true(is_told);
}

/* --- what is returned once the flag is up ----------------------------------------------- */

static culex_outcome act_fail(struct world *world, culex_run *run, int64_t n)
{
    world->hang_ms = n;
    return culex_run_fail(run, "asked to stop");
}

static culex_outcome act_discard(struct world *world, culex_run *run, int64_t n)
{
    world->hang_ms = n;
    return culex_run_discard(run, "no use");
}

/* A handler that would go on for `hang_ms` is asked to stop at 2 s and returns 100 ms later. */
static culex_uuid stop_at_1_s(struct world *world, culex_executor_make make, int64_t hang_ms,
                              culex_outcome (*act)(struct world *, culex_run *, int64_t))
{
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, hang_ms);
    world->act = act;
    world->manner = WORLD_POLITE;
    world->then = stop_worker;
    world->then_ms = 1000;
    world_worker(world, (culex_worker_options){.grace_ms = 1000}, &type);
    culex__worker_set_executor(world->worker, make);
    world_run(world);
    return id;
}

static void assert_failures(struct world *world, culex_uuid id, uint32_t failures)
{
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->failures, failures);
    assert_int_equal(run->crashes + run->losses, 0);
    culex_run_info_free(run);
}

static void test_failure_at_a_stop_is_given_back_by_a_process(void **state)
{
    struct world *world = *state;
    culex_uuid id = stop_at_1_s(world, executor_killing_create, 3600000, act_fail);
    assert_uncharged(world, id, CULEX_RUN_WAITING);
    assert_true(world_log_has(world, "given back: shutdown; asked to stop"));
    assert_int_equal(world->ended_ms, 2100);
}

static void test_failure_at_a_stop_is_given_back_by_a_thread(void **state)
{
    struct world *world = *state;
    culex_uuid id = stop_at_1_s(world, executor_asking_create, 3600000, act_fail);
    assert_uncharged(world, id, CULEX_RUN_WAITING);
    assert_true(world_log_has(world, "given back: shutdown; asked to stop"));
    assert_int_equal(world->ended_ms, 2100);
}

static void test_failure_within_the_grace_is_a_failure(void **state)
{
    struct world *world = *state;
    assert_failures(world, stop_at_1_s(world, executor_killing_create, 1990, act_fail), 1);
}

static void test_discard_at_a_stop_is_a_discard(void **state)
{
    struct world *world = *state;
    assert_text(world, stop_at_1_s(world, executor_killing_create, 3600000, act_discard),
                CULEX_RUN_DEAD, "no use");
}

/* The store knows that somebody wants it to end, so it does, and keeps what its handler said. */
static void cancel_then_stop(struct world *world)
{
    cancel_the_run(world);
    world->then = stop_worker;
    world->then_ms = 2050;
}

static void test_failure_of_a_cancelled_run_keeps_its_reason(void **state)
{
    struct world *world = *state;
    world->act = act_fail;
    culex_job_type type = number_type();
    the_run = world_enqueue(world, &type, 3600000);
    world->manner = WORLD_POLITE;
    world->then = cancel_then_stop;
    world->then_ms = 1300;
    run_worker(world, (culex_worker_options){.grace_ms = -1}, &type);
    assert_in_range(world->ended_ms, 2100, 2110);
    assert_text(world, the_run, CULEX_RUN_CANCELLED, "asked to stop");
    assert_true(world_log_has(world, "0 done, 0 failed, 0 crashed (0 dead), 1 cancelled, "));
}

static void test_failure_past_the_timeout_is_one_at_a_stop_too(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = 3000;
    type.retry.max = 0;
    culex_uuid id = world_enqueue(world, &type, 3600000);
    world->act = act_fail;
    world->manner = WORLD_POLITE;
    world->then = stop_worker;
    world->then_ms = 3050;
    run_worker(world, (culex_worker_options){.grace_ms = -1}, &type);
    assert_text(world, id, CULEX_RUN_DEAD,
                "timed out after 3s; the handler returned by itself 100ms later");
}

static void stop_worker_twice(struct world *world)
{
    culex_worker_stop(world->worker);
    culex_worker_stop(world->worker);
}

static void test_second_stop_goes_straight_to_sigterm(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 3600000);
    world->act = act_hang;
    world->manner = WORLD_MORTAL;
    world->then = stop_worker_twice;
    world->then_ms = 1000;
    run_worker(world, (culex_worker_options){.grace_ms = 60000}, &type);
    assert_uncharged(world, id, CULEX_RUN_WAITING);
    assert_in_range(world_ms(world), 1000, 1100);
}

static void lose_store_and_stop(struct world *world)
{
    world->fault = WORLD_REFUSE;
    world->fault_count = UINT_MAX;
    culex_worker_stop(world->worker);
}

/* A store that does not come back holds the end up no longer than handlers may. */
static void stop_without_store(struct world *world, enum world_manner manner, int64_t grace_ms,
                               int64_t end_ms)
{
    culex_job_type type = number_type();
    culex_error error = {0};
    world_enqueue(world, &type, 3600000);
    world->act = act_hang;
    world->manner = manner;
    world->then = lose_store_and_stop;
    world->then_ms = 1000;
    world_worker(world, (culex_worker_options){.grace_ms = grace_ms, .lease_ms = 3600000}, &type);
    culex__worker_set_executor(world->worker, executor_killing_create);
    assert_int_equal(culex_worker_run(world->worker, &error), CULEX_EUNSENT);
    culex_worker_free(world->worker);
    assert_non_null(strstr(error.text, "1 results could not be recorded"));
    assert_in_range(world_ms(world), end_ms, end_ms + 100);
}

static void test_stop_without_store_ends_two_seconds_after_the_grace(void **state)
{
    stop_without_store(*state, WORLD_MORTAL, 10000, 13000);
}

static void test_stop_without_store_does_not_wait_for_a_stubborn_handler(void **state)
{
    stop_without_store(*state, WORLD_STUBBORN, -1, 3000);
}

static void lose_store_and_stop_later(struct world *world)
{
    world->fault = WORLD_REFUSE;
    world->fault_count = UINT_MAX;
    world->then = stop_worker;
    world->then_ms = 9000;
}

/* The reply to the claim under way is lost, and it granted nothing; then nothing is answered. */
static void lose_reply_and_store(struct world *world)
{
    lose_store_and_stop_later(world);
    world->fault = WORLD_LOSE_REPLY;
}

static void stop_idle_worker(struct world *world, void (*then)(struct world *world), int64_t end_ms)
{
    static culex_job_type type; /* until the worker ends */
    type = number_type();
    world->then = then;
    world->then_ms = 1000;
    world_worker(world, (culex_worker_options){.grace_ms = 10000}, &type);
    culex__worker_set_executor(world->worker, executor_killing_create);
    world_run(world);
    assert_in_range(world_ms(world), end_ms, end_ms + 100);
}

/* It holds nothing, and no try of its claim has reached the store. */
static void test_idle_worker_without_store_ends_when_it_is_stopped(void **state)
{
    stop_idle_worker(*state, lose_store_and_stop_later, 9000);
}

/* The claim that was sent may have been granted a run, which would be lost. */
static void test_idle_worker_asks_for_what_it_may_hold_until_it_gives_up(void **state)
{
    stop_idle_worker(*state, lose_reply_and_store, 9000 + 10000 + 2000);
}

/* --- a stop that comes while a step is under way --------------------------------------- */

/* An idle worker, to which the first step after a second does so. Returns how long it has lived on
 * since the last call of world->in_step. */
static int64_t stop_in_step(struct world *world, void (*in_step)(struct world *world))
{
    culex_job_type type = number_type();
    world_worker(world, (culex_worker_options){.grace_ms = 10000}, &type);
    culex__worker_set_executor(world->worker, executor_killing_create);
    world->in_step = in_step;
    world->in_step_ms = 1000;
    world_run(world);
    assert_true(world->in_step != in_step);
    return world_ms(world) - world->in_step_ms;
}

static void test_step_that_a_stop_cuts_short_is_no_trouble_of_the_store(void **state)
{
    struct world *world = *state;
    assert_in_range(stop_in_step(world, stop_worker_twice), 0, 300);
    assert_false(world_log_has(world, "in trouble"));
    assert_false(world_log_has(world, "is back"));
}

static void stay_silent(struct world *world)
{
    world->in_step = stay_silent;
    world->now_ns = culex__store_earlier_ns(&world->base, world->now_ns + 5000000000);
}

static void stop_twice_and_fall_silent(struct world *world)
{
    stop_worker_twice(world);
    world->in_step = stay_silent;
}

/* What is asked after the stop has its time; that the store does not answer that either is told. */
static void test_store_that_is_silent_after_a_step_was_cut_short_is_told(void **state)
{
    struct world *world = *state;
    assert_in_range(stop_in_step(world, stop_twice_and_fall_silent), 1700, 2000);
    assert_int_equal(world_log_count(world, "the store is in trouble"), 1);
}

/* --- claims of many queues at once -------------------------------------------------------- */

enum { TORN_QUEUES = 8, TORN_RUNS = 4 };

static size_t granted(const struct world *world, int64_t until_ms)
{
    size_t count = 0;
    for (size_t i = 0; i < world->step_count && world->steps[i].at_ms < until_ms; i++)
        count += world->steps[i].fault == WORLD_OK ? world->steps[i].grant_count : 0;
    return count;
}

/* Each queue's first claim was carried out and fails. When they are repeated, the worker holds far
 * more runs than it ever asks for, and all but the first have to go back. */
static void test_runs_of_many_torn_claims_go_back_when_handlers_stall(void **state)
{
    struct world *world = *state;
    static const char *const queues[TORN_QUEUES] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    culex_job_type type = number_type();
    for (size_t i = 0; i < TORN_QUEUES; i++) {
        type.queue = queues[i];
        for (size_t k = 0; k < TORN_RUNS; k++)
            world_enqueue(world, &type, 300);
    }
    world->act = act_hang;
    world->fault = WORLD_TEAR;
    world->fault_count = TORN_QUEUES;
    run_worker(world,
               (culex_worker_options){.drain = true,
                                      .concurrency = TORN_RUNS,
                                      .batch = TORN_RUNS,
                                      .queues = queues,
                                      .queue_count = TORN_QUEUES},
               &type);
    assert_int_equal(granted(world, 190), TORN_QUEUES * TORN_RUNS);
    assert_int_equal(world->calls, TORN_QUEUES * TORN_RUNS);
}

static void lend_hands(struct world *world)
{
    world->has_no_hands = false;
}

/* One run, whose handler's process begins only after `ms`. */
static void begin_late(struct world *world, int64_t ms)
{
    culex_job_type type = number_type();
    world_enqueue(world, &type, 10);
    world->act = act_hang;
    world->has_no_hands = true;
    world->then = lend_hands;
    world->then_ms = ms;
    run_worker(world, draining, &type);
    assert_int_equal(world->calls, 1);
}

/* On a busy machine it takes its time, and no other worker need do better. */
static void test_run_waits_for_its_process_to_begin(void **state)
{
    struct world *world = *state;
    begin_late(world, 1900);
    assert_false(world_log_has(world, "attempt 1 given back"));
}

static void test_run_whose_process_does_not_begin_goes_back(void **state)
{
    struct world *world = *state;
    begin_late(world, 2100);
    assert_true(world_log_has(world, "attempt 1 given back"));
}

/* --- the fence ------------------------------------------------------------------------- */

static void cut_store_off(struct world *world)
{
    world->fault_until_ns = INT64_MAX;
}

static void cut_off(struct world *world, enum world_manner manner)
{
    static culex_job_type type; /* until the worker ends */
    type = number_type();
    world_enqueue(world, &type, 3600000);
    world->act = act_hang;
    world->manner = manner;
    world->then = cut_store_off;
    world->then_ms = 10500; /* the beat at 10 s was granted: the lease is over at 25 s */
    world_worker(world, (culex_worker_options){0}, &type);
    culex__worker_set_executor(world->worker, executor_killing_create);
}

static void stop_and_mend(struct world *world)
{
    world->fault_until_ns = 0;
    culex_worker_stop(world->worker);
    culex_worker_stop(world->worker);
}

static void cut_then_mend_at_24(struct world *world)
{
    cut_store_off(world);
    world->then = stop_and_mend;
    world->then_ms = 24000;
}

/* 0.75 of a lease after the last granted heartbeat it ends by SIGTERM, and goes back uncharged
 * as the store is there again before the lease is over. */
static void test_cut_off_worker_stops_its_handlers_before_the_lease_ends(void **state)
{
    struct world *world = *state;
    cut_off(world, WORLD_MORTAL);
    world->then = cut_then_mend_at_24;
    world_run(world);
    assert_true(world_log_has(world, "no heartbeat has reached the store"));
    assert_true(world_log_has(world, "given back: cut off from the store"));
    assert_in_range(world->ended_ms, 10000 + 11250, 10000 + 11260);
}

/* So does one that returns by itself then. */
static void test_failure_of_a_cut_off_handler_is_given_back(void **state)
{
    struct world *world = *state;
    cut_off(world, WORLD_POLITE);
    world->act = act_fail;
    world->then = cut_then_mend_at_24;
    world_run(world);
    assert_true(world_log_has(world, "given back: cut off from the store; asked to stop"));
    assert_in_range(world->ended_ms, 10000 + 11350, 10000 + 11360);
}

static void cut_then_mend_at_40(struct world *world)
{
    cut_store_off(world);
    world->then = stop_and_mend;
    world->then_ms = 40000;
}

static void test_cut_off_worker_kills_and_drops_what_runs_at_its_lease_end(void **state)
{
    struct world *world = *state;
    cut_off(world, WORLD_STUBBORN);
    world->then = cut_then_mend_at_40;
    world_run(world);
    assert_true(world_log_has(world, "lease lost; "));
    assert_in_range(world->ended_ms, 10000 + 13500, 10000 + 13510);
    for (size_t i = 0; i < world->step_count; i++)
        assert_int_equal(world->steps[i].ack_count, 0); /* dropped without a call */
}

/* --- a machine that sleeps ---------------------------------------------------------------- */

static void sleep_for_a_minute(struct world *world)
{
    world_pass(world, 60000);
}

static void test_handler_that_outlived_its_lease_in_a_sleep_is_not_reported(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 20000);
    world->act = act_hang;
    world->manner = WORLD_STUBBORN;
    world->then = sleep_for_a_minute;
    world->then_ms = 6000;
    run_worker(world, draining, &type);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->losses, 1);
    assert_int_equal(run->attempt, 2);
    culex_run_info_free(run);
    assert_true(world_log_has(world, "lease lost; the result came too late and is discarded"));
    assert_false(world_log_has(world, "result refused"));
}

static void test_claim_answered_after_a_sleep_is_not_started(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 1);
    world->step_sleep_ms = 20000; /* between the store's answer and our reading it */
    run_worker(world, draining, &type);
    assert_int_equal(world->calls, 1);
    assert_true(world->call_ms[0] >= 20000);
    assert_int_equal(world_log_count(world, " started\n"), 1);
    assert_int_equal(world_log_count(world, " given back\n"), 1);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->losses, 0);
    culex_run_info_free(run);
}

static void test_run_whose_lease_is_over_is_not_started(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct culex_log log = {
        .sink = {.write = world_sink, .self = world}, .env = &world->env, .level = 3};
    struct culex_run *run = culex__run_create();
    culex_arena *arena = culex_arena_create();
    run->job = (struct culex_job){
        .type = &type, .call = number_call, .handler = number_handler, .user = world};
    run->log = &log;
    assert_true(culex__run_set_payload(run, "{\"n\":1}", 7));
    atomic_store(&run->lease_ns, world->now_ns);
    culex__run_execute(run, arena, &world->env);
    assert_int_equal(run->end.event, CULEX_EVENT_RELEASE);
    assert_int_equal(world->calls, 0);
    atomic_store(&run->lease_ns, world->now_ns + 1);
    culex__run_execute(run, arena, &world->env);
    assert_int_equal(run->end.event, CULEX_EVENT_DONE);
    assert_int_equal(run->end.ended_ns, world->now_ns);
    culex_arena_free(arena);
    culex__run_free(run);
}

/* The store's lease ends with the timeout and its slack, long before a whole lease. */
static void test_lease_of_a_short_timeout_ends_with_its_slack(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = 1000;
    world_enqueue(world, &type, 3600000);
    world->act = act_hang;
    world->manner = WORLD_STUBBORN;
    world->then = sleep_for_a_minute;
    world->then_ms = 500;
    world_worker(world, (culex_worker_options){.lease_ms = 30000}, &type);
    culex__worker_set_executor(world->worker, executor_killing_create);
    world->stop_when_ended = true;
    world_run(world);
    assert_int_equal(world->ended_ms, 1000 + CULEX_TIMEOUT_SLACK_MS * 9 / 10);
}

/* --- suspects, a broken executor --------------------------------------------------------- */

static void test_run_lost_twice_is_told_to_the_executor_as_a_suspect(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world_enqueue(world, &type, 1);
    for (int i = 0; i < 2; i++) {
        struct culex_step_reply reply = {0};
        struct culex_step step = {.queue = "numbers",
                                  .session = "00000000deadbeef",
                                  .nonce = (uint64_t)i + 1,
                                  .want = 1,
                                  .max_bytes = 1000,
                                  .lease_ms = 1000};
        assert_int_equal(world->store->ops->step(world->store, &step, &reply, NULL), CULEX_OK);
        assert_int_equal(reply.grant_count, 1);
        assert_int_equal(reply.grants[0].facts.counters.losses, i);
        world->store->ops->step_release(world->store, &reply);
        world_pass(world, 2000);
    }
    run_worker(world, draining, &type);
    assert_int_equal(world->calls, 1);
    assert_true(world->was_suspect);
}

static void break_executor(struct world *world)
{
    world->is_broken = true;
}

static culex_uuid lose_executor(struct world *world, enum world_manner manner)
{
    static culex_job_type type;
    culex_error error = {0};
    type = number_type();
    culex_uuid id = world_enqueue(world, &type, 3600000);
    world->act = act_hang;
    world->manner = manner;
    world->then = break_executor;
    world->then_ms = 1000;
    world_worker(world, (culex_worker_options){0}, &type);
    culex__worker_set_executor(world->worker, executor_killing_create);
    assert_int_equal(culex_worker_run(world->worker, &error), CULEX_EBROKEN);
    assert_non_null(strstr(error.text, "has died"));
    culex_worker_free(world->worker);
    return id;
}

/* The handler may have done it: the worker charges what was at work, and nothing else. */
static void test_worker_without_its_zygote_charges_a_loss_and_ends_with_an_error(void **state)
{
    struct world *world = *state;
    culex_run_info *run = world_get(world, lose_executor(world, WORLD_CRASHING));
    assert_int_equal(run->state, CULEX_RUN_WAITING);
    assert_int_equal(run->losses, 1);
    assert_int_equal(run->failures + run->crashes, 0);
    assert_string_equal(run->error_text,
                        "its process died with the one that starts them (loss 1 of 10)");
    culex_run_info_free(run);
    assert_true(world_log_has(world, "its process died with the one that starts them"));
}

/* --- no process can be started ------------------------------------------------------------- */

enum { STRANDED_RUNS = 5 };

static culex_uuid strand(struct world *world, culex_worker_options options)
{
    static culex_job_type type;
    culex_uuid first = {0};
    type = number_type();
    for (int i = 0; i < STRANDED_RUNS; i++) {
        culex_uuid id = world_enqueue(world, &type, i);
        first = i == 0 ? id : first;
    }
    world->stranded_ns = world->now_ns;
    world_worker(world, options, &type);
    culex__worker_set_executor(world->worker, executor_killing_create);
    return first;
}

static uint32_t wanted_before(const struct world *world, int64_t ms)
{
    uint32_t wanted = 0;
    for (size_t i = 0; i < world->step_count; i++)
        wanted += world->steps[i].at_ms < ms ? world->steps[i].want : 0;
    return wanted;
}

static void expect_untouched(struct world *world, culex_uuid id)
{
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->state, CULEX_RUN_WAITING);
    assert_int_equal(run->attempt, 0);
    culex_run_info_free(run);
}

static void test_drain_that_can_start_no_process_ends_with_an_error(void **state)
{
    struct world *world = *state;
    culex_error error = {0};
    culex_uuid id = strand(world, (culex_worker_options){.drain = true});
    world->then = stop_worker;
    world->then_ms = 600000;
    assert_int_equal(culex_worker_run(world->worker, &error), CULEX_EBROKEN);
    assert_non_null(strstr(error.text, "no child process could be started for 30 s"));
    assert_true(world_log_has(world, "no child process could be started for 30 s"));
    assert_in_range(world_ms(world), 30000, 30100);
    assert_int_equal(wanted_before(world, INT64_MAX), 0);
    culex_worker_free(world->worker);
    expect_untouched(world, id);
}

static void start_processes(struct world *world)
{
    world->stranded_ns = 0;
}

static void test_drain_goes_on_when_processes_can_be_started_again(void **state)
{
    struct world *world = *state;
    culex_uuid id = strand(world, (culex_worker_options){.drain = true});
    world->then = start_processes;
    world->then_ms = 29000;
    world_run(world);
    assert_int_equal(wanted_before(world, 29000), 0);
    assert_int_equal(world->calls, STRANDED_RUNS);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
}

/* It may be another's processes that use them up. */
static void test_worker_that_can_start_no_process_waits_for_one(void **state)
{
    struct world *world = *state;
    culex_uuid id = strand(world, (culex_worker_options){0});
    world->then = stop_worker;
    world->then_ms = 600000;
    world_run(world);
    assert_true(world_ms(world) >= 600000);
    assert_int_equal(wanted_before(world, INT64_MAX), 0);
    expect_untouched(world, id);
}

static void test_worker_whose_executor_says_nothing_more_ends_all_the_same(void **state)
{
    assert_uncharged(*state, lose_executor(*state, WORLD_STUBBORN), CULEX_RUN_WAITING);
    assert_in_range(world_ms(*state), 4000, 7000);
    assert_true(world_log_has(*state, "1 handlers did not return: their processes are killed"));
}

static char fences[4][CULEX_FENCE_SIZE];

static culex_outcome act_fence(struct world *world, culex_run *run, int64_t n)
{
    (void)n;
    assert_true(world->calls <= 4);
    snprintf(fences[world->calls - 1], sizeof fences[0], "%s", culex_run_fence(run));
    return culex_run_attempt(run) == 1 ? CULEX_FAILED : CULEX_DONE;
}

/* Of two runs, each of which fails once. */
static void run_fenced(struct world *world, culex_uuid ret_ids[2])
{
    culex_job_type type = number_type();
    for (int i = 0; i < 2; i++)
        ret_ids[i] = world_enqueue(world, &type, i);
    world->act = act_fence;
    run_worker(world, draining, &type);
    assert_int_equal(world->calls, 4);
}

static void test_fence_names_run_attempt_and_session(void **state)
{
    struct world *world = *state;
    char id[CULEX_UUID_TEXT_SIZE];
    culex_uuid ids[2];
    run_fenced(world, ids);
    culex_uuid_format(ids[0], id);
    assert_memory_equal(fences[0], id, CULEX_UUID_TEXT_SIZE - 1);
    assert_memory_equal(fences[0] + 36, "-0000000001-", 12);
    assert_int_equal(strspn(fences[0] + 48, "0123456789abcdef"), 16);
    assert_int_equal(strlen(fences[0]), 64);
}

static void test_fence_is_of_one_execution(void **state)
{
    culex_uuid ids[2];
    run_fenced(*state, ids);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < i; k++)
            assert_string_not_equal(fences[i], fences[k]);
    }
}

static void test_fence_of_a_later_attempt_is_greater(void **state)
{
    culex_uuid ids[2];
    run_fenced(*state, ids);
    for (int i = 0; i < 2; i++) {
        int later = strncmp(fences[2], fences[i], 36) == 0 ? 2 : 3;
        assert_memory_equal(fences[later], fences[i], 36);
        assert_true(strcmp(fences[i], fences[later]) < 0);
    }
}

/* --- a queue that refuses the worker ------------------------------------------------------ */

/* Which of the two is asked first must not matter. */
static culex_status run_two_queues(struct world *world, bool is_others_first,
                                   culex_worker_options options)
{
    static culex_job_type type, others;
    culex_error error = {0};
    type = others = number_type();
    others.name = others.wire = "t.other";
    others.queue = "others";
    world_worker(world, options, is_others_first ? &others : &type);
    assert_int_equal(culex_worker_register(world->worker, is_others_first ? &type : &others,
                                           number_call, number_handler, world),
                     CULEX_OK);
    culex__worker_set_executor(world->worker, executor_killing_create);
    culex_status status = culex_worker_run(world->worker, &error);
    if (status != CULEX_OK)
        assert_string_equal(error.text, "injected refusal of others");
    culex_worker_free(world->worker);
    return status;
}

static void test_refused_queue_ends_the_worker_before_it_claims(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 1);
    world->hello_queue = "others";
    world->hello_status = CULEX_EDENIED;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(run_two_queues(world, i % 2, draining), CULEX_EDENIED);
        culex_run_info *run = world_get(world, id);
        assert_int_equal(run->state, CULEX_RUN_WAITING);
        assert_int_equal(run->attempt, 0);
        culex_run_info_free(run);
    }
    assert_int_equal(world->step_count, 0);
    assert_false(world_log_has(world, "others refuses this worker"));
}

static void refuse_others(struct world *world)
{
    world->hello_status = CULEX_EDENIED;
}

static culex_outcome act_for_n_ms(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    world->hang_ms = n;
    return CULEX_DONE;
}

/* One that could not be asked in time, and refuses the worker while a run is at work. The next try
 * may be 5 s away by then. */
static void refuse_later(struct world *world)
{
    world->act = act_for_n_ms;
    world->manner = WORLD_STUBBORN;
    world->hello_queue = "others";
    world->hello_status = CULEX_ESTORE;
    world->then = refuse_others;
    world->then_ms = 1000;
}

static void test_queue_that_refuses_later_lets_the_runs_at_work_end(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 20000), next = world_enqueue(world, &type, 20000);
    refuse_later(world);
    assert_int_equal(run_two_queues(world, false, draining), CULEX_EDENIED);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
    assert_uncharged(world, next, CULEX_RUN_WAITING);
    assert_int_equal(world->calls, 1);
    assert_in_range(world_ms(world), 20000, 20100);
    assert_int_equal(world_log_count(world, "others refuses this worker"), 1);
}

static void test_queue_that_refuses_later_gives_back_after_the_grace(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 3600000);
    refuse_later(world);
    culex_worker_options options = {.grace_ms = 2000};
    assert_int_equal(run_two_queues(world, true, options), CULEX_EDENIED);
    assert_uncharged(world, id, CULEX_RUN_WAITING);
    /* Asked again within 5 s of the second that the refusal takes to come; then grace, flag, end.
     */
    assert_in_range(world_ms(world), 3000, 11000);
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(test_refused_queue_ends_the_worker_before_it_claims),
        UNIT(test_queue_that_refuses_later_lets_the_runs_at_work_end),
        UNIT(test_queue_that_refuses_later_gives_back_after_the_grace),
        UNIT(test_run_that_crashes_three_times_is_dead_and_says_so),
        UNIT(test_run_that_is_killed_at_a_lease_made_longer_is_charged_a_loss),
        UNIT(test_crash_after_failures_tells_both),
        UNIT(test_timed_out_handler_that_ignores_everything_is_killed),
        UNIT(test_timed_out_handler_ends_by_sigterm),
        UNIT(test_timed_out_handler_may_return_by_itself),
        UNIT(test_extension_moves_the_timeout),
        UNIT(test_extension_may_have_no_end),
        UNIT(test_progress_goes_with_the_next_heartbeat),
        UNIT(test_log_lines_are_kept_once),
        UNIT(test_log_lines_come_once_when_answers_are_lost),
        UNIT(test_log_lines_of_a_job_that_keeps_none_are_not_kept),
        UNIT(test_log_lines_of_all_runs_go_in_portions),
        UNIT(test_log_lines_that_are_left_out_are_told),
        UNIT(test_what_attempts_failed_by_stays_with_the_run),
        UNIT(test_of_many_failures_the_last_eight_stay),
        UNIT(test_log_lines_before_a_timeout_on_a_thread_are_kept),
        UNIT(test_cancelled_handler_may_come_to_its_end),
        UNIT(test_cancelled_handler_gets_sigterm_after_five_seconds),
        UNIT(test_cancelled_handler_is_killed_after_seven_seconds),
        UNIT(test_runs_that_began_apart_beat_together),
        UNIT(test_stop_ends_a_mortal_handler_by_sigterm_after_the_grace),
        UNIT(test_stop_kills_a_stubborn_handler_two_seconds_later),
        UNIT(test_stop_hands_on_at_once_what_comes_due),
        UNIT(test_deaf_handler_past_its_timeout_is_told_in_time_and_once),
        UNIT(test_deaf_handler_past_its_lease_is_told_once),
        UNIT(test_next_life_of_a_worker_forgets_who_was_deaf),
        UNIT(test_handler_that_obeys_its_flag_is_not_told_of),
        UNIT(test_last_words_before_a_timeout_on_a_thread_are_kept),
        UNIT(test_failure_at_a_stop_is_given_back_by_a_process),
        UNIT(test_failure_at_a_stop_is_given_back_by_a_thread),
        UNIT(test_failure_within_the_grace_is_a_failure),
        UNIT(test_discard_at_a_stop_is_a_discard),
        UNIT(test_failure_of_a_cancelled_run_keeps_its_reason),
        UNIT(test_failure_past_the_timeout_is_one_at_a_stop_too),
        UNIT(test_failure_of_a_cut_off_handler_is_given_back),
        UNIT(test_second_stop_goes_straight_to_sigterm),
        UNIT(test_stop_without_store_ends_two_seconds_after_the_grace),
        UNIT(test_stop_without_store_does_not_wait_for_a_stubborn_handler),
        UNIT(test_idle_worker_without_store_ends_when_it_is_stopped),
        UNIT(test_idle_worker_asks_for_what_it_may_hold_until_it_gives_up),
        UNIT(test_step_that_a_stop_cuts_short_is_no_trouble_of_the_store),
        UNIT(test_store_that_is_silent_after_a_step_was_cut_short_is_told),
        UNIT(test_runs_of_many_torn_claims_go_back_when_handlers_stall),
        UNIT(test_run_waits_for_its_process_to_begin),
        UNIT(test_run_whose_process_does_not_begin_goes_back),
        UNIT(test_cut_off_worker_stops_its_handlers_before_the_lease_ends),
        UNIT(test_cut_off_worker_kills_and_drops_what_runs_at_its_lease_end),
        UNIT(test_handler_that_outlived_its_lease_in_a_sleep_is_not_reported),
        UNIT(test_claim_answered_after_a_sleep_is_not_started),
        UNIT(test_run_whose_lease_is_over_is_not_started),
        UNIT(test_lease_of_a_short_timeout_ends_with_its_slack),
        UNIT(test_run_lost_twice_is_told_to_the_executor_as_a_suspect),
        UNIT(test_worker_without_its_zygote_charges_a_loss_and_ends_with_an_error),
        UNIT(test_worker_whose_executor_says_nothing_more_ends_all_the_same),
        UNIT(test_drain_that_can_start_no_process_ends_with_an_error),
        UNIT(test_drain_goes_on_when_processes_can_be_started_again),
        UNIT(test_worker_that_can_start_no_process_waits_for_one),
        UNIT(test_fence_names_run_attempt_and_session),
        UNIT(test_fence_is_of_one_execution),
        UNIT(test_fence_of_a_later_attempt_is_greater),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
