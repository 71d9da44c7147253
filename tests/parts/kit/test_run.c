/* test_run.c - handlers run inline: what is due, in which order, how it ends, and what time does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kit.h"

struct caught caught;

/* --- handlers -----------------------------------------------------------------------------------
 */

struct scene {
    culex_test *test;
    int calls;
    char order[64];
    culex_outcome outcome;
    culex_uuid id;
};

static culex_outcome letter_note(culex_run *run, const kit_letter_job *job, void *user)
{
    struct scene *scene = user;
    scene->calls++;
    scene->id = culex_run_id(run);
    strcat(scene->order, job->to);
    return scene->outcome;
}

static void letter_register(culex_test *test, kit_letter_job_handler handler, struct scene *scene)
{
    scene->test = test;
    assert_int_equal(kit_letter_job_register(culex_test_worker(test), handler, scene), CULEX_OK);
}

/* --- one after the other
 * -------------------------------------------------------------------------- */

static void a_drain_runs_what_is_due(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    letter_register(test, letter_note, &scene);
    assert_int_equal(CULEX_TEST_DRAIN(test), 0);
    culex_uuid id = letter_send(test, "a");
    letter_send(test, "b");
    assert_int_equal(scene.calls, 0);
    assert_int_equal(CULEX_TEST_DRAIN(test), 2);
    assert_string_equal(scene.order, "ab");
    CULEX_TEST_STATE(test, id, CULEX_RUN_DONE);
    CULEX_TEST_IDLE(test);
    assert_int_equal(CULEX_TEST_DRAIN(test), 0);
    assert_int_equal(culex_test_now(test), CULEX_TEST_START);
}

/* Nothing runs meanwhile, and nobody sees the clock move. */
static void a_client_that_waits_is_told_what_has_ended(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    culex_arena *arena = culex_arena_create();
    const kit_letter_result *result = NULL;
    culex_wait_end end;
    letter_register(test, letter_note, &scene);
    culex_uuid id = letter_send(test, "a");
    for (int is_over = 0; is_over < 2; is_over++) {
        assert_int_equal(kit_letter_job_wait(culex_test_client(test), id, culex_seconds(30), arena,
                                             &end, &result, NULL),
                         is_over ? CULEX_OK : CULEX_ESTATE);
        assert_int_equal(end, is_over ? CULEX_WAIT_DONE : CULEX_WAIT_PENDING);
        assert_int_equal(CULEX_TEST_DRAIN(test), !is_over);
    }
    assert_null(result); /* the handler has set none */
    assert_int_equal(culex_test_now(test), CULEX_TEST_START);
    culex_arena_free(arena);
}

static void one_is_run_at_a_time(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    letter_register(test, letter_note, &scene);
    letter_send(test, "a");
    letter_send(test, "b");
    const culex_test_call *call = CULEX_TEST_RUN_ONE(test);
    assert_string_equal(scene.order, "a");
    assert_string_equal(call->job, "kit.letter");
    assert_string_equal(call->queue, "mail");
    assert_int_equal(call->attempt, 1);
    assert_int_equal(call->outcome, CULEX_DONE);
    assert_int_equal(call->at, CULEX_TEST_START);
    assert_memory_equal(&call->id, &scene.id, sizeof call->id);
    CULEX_TEST_COUNT(test, kit_letter_job, 1);
    assert_non_null(CULEX_TEST_RUN_ONE(test));
    assert_null(CULEX_TEST_RUN_ONE(test));
    assert_string_equal(scene.order, "ab");
}

static void priorities_hold(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    culex_enqueue_options options = culex_enqueue_options_make();
    letter_register(test, letter_note, &scene);
    options.has_priority = true;
    for (int priority = 0; priority < 10; priority += 4) {
        char to[2] = {(char)('0' + priority), '\0'};
        kit_letter_job job = kit_letter_job_make(to);
        options.priority = priority;
        assert_int_equal(
            kit_letter_job_enqueue(culex_test_client(test), &job, &options, NULL, NULL), CULEX_OK);
    }
    assert_int_equal(CULEX_TEST_DRAIN(test), 3);
    assert_string_equal(scene.order, "840");
}

static culex_outcome letter_answer(culex_run *run, const kit_letter_job *job, void *user)
{
    struct scene *scene = user;
    kit_receipt_job receipt = kit_receipt_job_make(job->to);
    scene->calls++;
    culex_enqueue_options options = culex_enqueue_options_make();
    options.queue = "never.seen";
    assert_int_equal(kit_receipt_job_enqueue(culex_run_client(run), &receipt, &options, NULL, NULL),
                     CULEX_OK);
    kit_letter_result result = {"blue"};
    assert_int_equal(kit_letter_job_set_result(run, &result, NULL), CULEX_OK);
    culex_run_progress(run, 50, "half of %s", job->to);
    culex_run_log(run, CULEX_LOG_DEBUG, "a letter to %s", job->to);
    return CULEX_DONE;
}

static culex_outcome receipt_note(culex_run *run, const kit_receipt_job *job, void *user)
{
    struct scene *scene = user;
    (void)run;
    strcat(scene->order, job->to);
    return CULEX_DONE;
}

static void follow_ups_run_in_queues_that_are_new(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    culex_run_info *info = NULL;
    letter_register(test, letter_answer, &scene);
    assert_int_equal(kit_receipt_job_register(culex_test_worker(test), receipt_note, &scene),
                     CULEX_OK);
    culex_uuid id = letter_send(test, "ann");
    assert_int_equal(CULEX_TEST_DRAIN(test), 2);
    assert_string_equal(scene.order, "ann");
    assert_int_equal(culex_client_get(culex_test_client(test), "mail", id, &info, NULL), CULEX_OK);
    assert_memory_equal(info->result.data, "{\"stamp\":\"blue\"}", info->result.len);
    assert_int_equal(info->progress, 50);
    culex_run_info_free(info);
}

static void log_lines_are_read_as_of_a_store(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    culex_run_lines *lines = NULL;
    letter_register(test, letter_answer, &scene);
    culex_uuid id = letter_send(test, "ann");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    assert_int_equal(culex_client_run_log(culex_test_client(test), "mail", id, &lines, NULL),
                     CULEX_OK);
    assert_int_equal(lines->count, 1);
    assert_int_equal(lines->items[0].at, culex_test_now(test));
    assert_int_equal(lines->items[0].attempt, 1);
    assert_int_equal(lines->items[0].level, CULEX_LOG_DEBUG);
    assert_string_equal(lines->items[0].text, "a letter to ann");
    culex_run_lines_free(lines);
}

static void jobs_without_a_handler_stay(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    culex_uuid id = letter_send(test, "a");
    letter_send(test, "b");
    kit_letter_job job = kit_letter_job_make("c");
    assert_int_equal(
        kit_letter_job_enqueue_in(culex_test_client(test), &job, culex_hours(5), NULL, NULL),
        CULEX_OK);
    assert_int_equal(CULEX_TEST_DRAIN(test), 0);
    CULEX_TEST_STATE(test, id, CULEX_RUN_WAITING);
    CULEX_TEST_COUNT(test, kit_letter_job, 3);
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_hours(1)), 0);
    CULEX_TEST_STATE(test, id, CULEX_RUN_WAITING);
    letter_register(test, letter_note, &scene);
    assert_int_equal(CULEX_TEST_DRAIN(test), 2);
    assert_string_equal(scene.order, "ab");
    CULEX_TEST_STATE(test, id, CULEX_RUN_DONE);
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_hours(4)), 1);
}

static void a_worker_that_is_run_stops_by_itself(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    letter_register(test, letter_note, &scene);
    for (int i = 0; i < 3; i++) {
        letter_send(test, "a");
        assert_int_equal(culex_worker_run(culex_test_worker(test), NULL), CULEX_OK);
        assert_int_equal(scene.calls, 2 * i + 1);
        letter_send(test, "b");
        assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    }
    assert_int_equal(culex_test_now(test), CULEX_TEST_START);
}

static void a_worker_is_not_started(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    culex_error error = {0};
    letter_register(test, letter_note, &scene);
    letter_send(test, "a");
    assert_int_equal(culex_worker_start(culex_test_worker(test), &error), CULEX_EINVAL);
    assert_string_equal(error.text, "the worker of a test kit is not started: drain it, by "
                                    "culex_test_drain or culex_worker_run");
    assert_int_equal(culex_worker_fd(culex_test_worker(test)), -1);
    assert_int_equal(culex_worker_process(culex_test_worker(test), 5, NULL), CULEX_EINVAL);
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
}

static void what_is_lent_is_the_kits_to_free(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    letter_register(test, letter_note, &scene);
    culex_worker_free(culex_test_worker(test));
    culex_client_close(culex_test_client(test));
    letter_send(test, "a");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
}

/* A store without queues has nothing to wait for. */
static void the_clock_moves_where_nothing_is_due(void **state)
{
    culex_test *test = *state;
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_hours(1)), 0);
    assert_int_equal(culex_test_now(test), CULEX_TEST_START + culex_hours(1));
    kit_letter_job job = kit_letter_job_make("a");
    assert_int_equal(
        kit_letter_job_enqueue_in(culex_test_client(test), &job, culex_days(1000), NULL, NULL),
        CULEX_OK);
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_days(365)), 0);
    assert_int_equal(culex_test_now(test), CULEX_TEST_START + culex_hours(1) + culex_days(365));
}

static void needs_are_offered(void **state)
{
    culex_test *test = *state;
    kit_heavy_job job = kit_heavy_job_make();
    assert_int_equal(culex_test_fake(test, &kit_heavy_job_type, CULEX_DONE, NULL), CULEX_OK);
    assert_int_equal(kit_heavy_job_enqueue(culex_test_client(test), &job, NULL, NULL, NULL),
                     CULEX_OK);
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
}

/* --- time
 * ------------------------------------------------------------------------------------------ */

static void delays_wait_for_the_clock(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    kit_letter_job job = kit_letter_job_make("a");
    letter_register(test, letter_note, &scene);
    assert_int_equal(
        kit_letter_job_enqueue_in(culex_test_client(test), &job, culex_days(3), NULL, NULL),
        CULEX_OK);
    assert_int_equal(CULEX_TEST_DRAIN(test), 0);
    culex_test_advance(test, culex_days(3) - culex_milliseconds(1));
    assert_int_equal(CULEX_TEST_DRAIN(test), 0);
    culex_test_advance(test, culex_milliseconds(1));
    assert_int_equal(scene.calls, 0);
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    assert_int_equal(culex_test_now(test), CULEX_TEST_START + culex_days(3));
}

static void retries_follow_their_policy(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.outcome = CULEX_FAILED};
    letter_register(test, letter_note, &scene);
    culex_uuid id = letter_send(test, "a");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    CULEX_TEST_DELAY(test, kit_letter_job, culex_seconds(10));
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_seconds(10)), 1);
    CULEX_TEST_DELAY(test, kit_letter_job, culex_seconds(60));
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_hours(1)), 2);
    assert_int_equal(culex_test_now(test), CULEX_TEST_START + culex_seconds(10) + culex_hours(1));
    CULEX_TEST_STATE(test, id, CULEX_RUN_DEAD);
    CULEX_TEST_CALLS(test, kit_letter_job, 4);
    const culex_test_call *last = CULEX_TEST_LAST(test, kit_letter_job);
    assert_int_equal(last->at, CULEX_TEST_START + culex_seconds(670));
    assert_int_equal(last->attempt, 4);
    assert_string_equal(last->text, "the handler gave no reason");
    const culex_test_call *second = culex_test_call_at(test, &kit_letter_job_type, 1);
    assert_int_equal(second->at, CULEX_TEST_START + culex_seconds(10));
}

static culex_outcome letter_dawdle(culex_run *run, const kit_letter_job *job, void *user)
{
    struct scene *scene = user;
    (void)job;
    scene->calls++;
    assert_false(culex_run_cancelled(run));
    culex_test_advance(scene->test, culex_seconds(scene->calls == 1   ? 31
                                                  : scene->calls == 2 ? 3600
                                                                      : 29));
    return CULEX_DONE;
}

static void a_handler_that_takes_too_long_has_failed(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    letter_register(test, letter_dawdle, &scene);
    culex_uuid id = letter_send(test, "a");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    CULEX_TEST_DELAY(test, kit_letter_job, culex_seconds(10));
    assert_non_null(
        strstr(CULEX_TEST_RUN(test, kit_letter_job)->error_text, "timed out after 30s"));
    assert_int_equal(CULEX_TEST_LAST(test, kit_letter_job)->outcome, CULEX_FAILED);
    assert_string_equal(CULEX_TEST_LAST(test, kit_letter_job)->text,
                        "timed out after 30s; the handler returned by itself 1s later");
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_seconds(10)), 1);
    CULEX_TEST_DELAY(test, kit_letter_job, culex_seconds(60));
    assert_int_equal(CULEX_TEST_RUN(test, kit_letter_job)->failures, 2);
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_minutes(1)), 1);
    CULEX_TEST_STATE(test, id, CULEX_RUN_DONE);
}

/* The loop of a handler that asks a stand-in, which takes its time, until it is to stop. */
static culex_outcome letter_ask(culex_run *run, const kit_letter_job *job, void *user)
{
    struct scene *scene = user;
    (void)job;
    if (scene->outcome == CULEX_SNOOZED)
        culex_run_extend(run, culex_minutes(1));
    for (scene->calls = 0; scene->calls < 100 && !culex_run_cancelled(run); scene->calls++)
        culex_test_advance(scene->test, culex_seconds(5));
    return culex_run_fail(run, "stopped");
}

static void a_timeout_asks_a_handler_to_stop(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    letter_register(test, letter_ask, &scene);
    letter_send(test, "a");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    assert_int_equal(scene.calls, 6);
    assert_non_null(
        strstr(CULEX_TEST_RUN(test, kit_letter_job)->error_text, "timed out after 30s"));
    scene.outcome = CULEX_SNOOZED; /* it asks for more time */
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_seconds(10)), 1);
    assert_int_equal(scene.calls, 12);
}

static culex_outcome heavy_dawdle(culex_run *run, const kit_heavy_job *job, void *user)
{
    (void)job;
    culex_test_advance(user, culex_days(3));
    assert_false(culex_run_cancelled(run));
    return CULEX_DONE;
}

/* Nor does its lease end meanwhile. */
static void a_handler_without_a_timeout_is_left_alone(void **state)
{
    culex_test *test = *state;
    kit_heavy_job job = kit_heavy_job_make();
    assert_int_equal(kit_heavy_job_register(culex_test_worker(test), heavy_dawdle, test), CULEX_OK);
    assert_int_equal(kit_heavy_job_enqueue(culex_test_client(test), &job, NULL, NULL, NULL),
                     CULEX_OK);
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    assert_int_equal(CULEX_TEST_LAST(test, kit_heavy_job)->outcome, CULEX_DONE);
}

static culex_outcome letter_extend(culex_run *run, const kit_letter_job *job, void *user)
{
    struct scene *scene = user;
    (void)job;
    culex_run_extend(run, culex_minutes(5));
    culex_test_advance(scene->test, culex_minutes(4));
    return CULEX_DONE;
}

static void a_handler_may_ask_for_more_time(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    letter_register(test, letter_extend, &scene);
    culex_uuid id = letter_send(test, "a");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    CULEX_TEST_STATE(test, id, CULEX_RUN_DONE);
}

static void runs_expire_by_the_clock(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    culex_uuid id;
    kit_letter_job job = kit_letter_job_make("a");
    culex_enqueue_options options = culex_enqueue_options_make();
    options.has_expires = true;
    options.expires = culex_minutes(1);
    letter_register(test, letter_note, &scene);
    assert_int_equal(kit_letter_job_enqueue(culex_test_client(test), &job, &options, &id, NULL),
                     CULEX_OK);
    culex_test_advance(test, culex_minutes(2));
    assert_int_equal(CULEX_TEST_DRAIN(test), 0);
    CULEX_TEST_STATE(test, id, CULEX_RUN_DEAD);
}

static void rates_let_through_in_time(void **state)
{
    culex_test *test = *state;
    assert_int_equal(culex_test_fake(test, &kit_rated_job_type, CULEX_DONE, NULL), CULEX_OK);
    for (int i = 0; i < 5; i++) {
        kit_rated_job job = kit_rated_job_make();
        assert_int_equal(kit_rated_job_enqueue(culex_test_client(test), &job, NULL, NULL, NULL),
                         CULEX_OK);
    }
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_minutes(2)), 2);
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_hours(1)), 2);
    assert_int_equal(CULEX_TEST_LAST(test, kit_rated_job)->at, CULEX_TEST_START + culex_minutes(4));
}

static void the_clock_is_set_back(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    letter_register(test, letter_note, &scene);
    culex_test_advance(test, -culex_hours(1));
    assert_int_equal(culex_test_now(test), CULEX_TEST_START);
    letter_send(test, "a");
    culex_test_set_now(test, CULEX_TEST_START - culex_days(30));
    letter_send(test, "b");
    assert_int_equal(CULEX_TEST_DRAIN(test), 2);
    culex_test_set_now(test, CULEX_TEST_START + culex_days(3000));
    letter_send(test, "c");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    assert_string_equal(scene.order, "abc");
}

static void pauses_end_by_the_clock(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    letter_register(test, letter_note, &scene);
    letter_send(test, "a");
    assert_int_equal(
        culex_client_pause_for(culex_test_client(test), "mail", culex_minutes(7), NULL), CULEX_OK);
    assert_int_equal(CULEX_TEST_DRAIN(test), 0);
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_minutes(10)), 1);
    assert_int_equal(CULEX_TEST_LAST(test, kit_letter_job)->at,
                     CULEX_TEST_START + culex_minutes(7));
}

static void records_are_forgotten_in_time(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    letter_register(test, letter_note, &scene);
    culex_uuid id = letter_send(test, "a");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_hours(2)), 0);
    assert_false(culex_test_state_is(test, id, CULEX_RUN_DONE));
}

static void unique_runs_are_kept_apart(void **state)
{
    culex_test *test = *state;
    kit_once_job job = kit_once_job_make(5);
    culex_uuid first, second;
    assert_int_equal(kit_once_job_enqueue(culex_test_client(test), &job, NULL, &first, NULL),
                     CULEX_OK);
    assert_int_equal(kit_once_job_enqueue(culex_test_client(test), &job, NULL, &second, NULL),
                     CULEX_OK);
    assert_memory_equal(&first, &second, sizeof first);
    CULEX_TEST_COUNT(test, kit_once_job, 1);
}

/* --- periodic jobs
 * ---------------------------------------------------------------------------------- */

static culex_outcome hourly_note(culex_run *run, const kit_hourly_job *job, void *user)
{
    (void)run, (void)job;
    ((struct scene *)user)->calls++;
    return CULEX_DONE;
}

static void periodic_jobs_do_not_start(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    assert_int_equal(kit_hourly_job_register(culex_test_worker(test), hourly_note, &scene),
                     CULEX_OK);
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_days(2)), 0);
}

static void periodic_jobs_tick_by_the_clock(void **state)
{
    const culex_test_options options = {.schedules = true};
    culex_test *test = NULL;
    struct scene scene = {.calls = 0};
    (void)state;
    assert_int_equal(culex_test_open(&options, &test, NULL), CULEX_OK);
    assert_int_equal(kit_hourly_job_register(culex_test_worker(test), hourly_note, &scene),
                     CULEX_OK);
    assert_int_equal(culex_test_fake(test, &kit_nightly_job_type, CULEX_DONE, NULL), CULEX_OK);
    assert_int_equal(CULEX_TEST_DRAIN(test), 1); /* the hourly one, at once */
    assert_int_equal(CULEX_TEST_DRAIN(test), 0);
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_hours(24)), 25);
    assert_int_equal(scene.calls, 25);
    CULEX_TEST_CALLS(test, kit_nightly_job, 1);
    assert_int_equal(CULEX_TEST_LAST(test, kit_nightly_job)->at, CULEX_TEST_START + culex_hours(3));
    culex_test_close(test);
}

/* --- what a worker's set-up leaves
 * ------------------------------------------------------------------- */

static int opened, closed;

static culex_status connection_open(void *user, void **ret_process, culex_error *error)
{
    struct scene *scene = user;
    opened++;
    if (scene->calls-- > 0) {
        error->code = CULEX_ECONNECT;
        strcpy(error->text, "no database");
        return CULEX_ECONNECT;
    }
    *ret_process = scene;
    return CULEX_OK;
}

static void connection_close(void *process, void *user)
{
    assert_ptr_equal(process, user);
    closed++;
}

static culex_outcome letter_process(culex_run *run, const kit_letter_job *job, void *user)
{
    (void)job;
    assert_ptr_equal(culex_run_process(run), user);
    return CULEX_DONE;
}

static void the_process_is_set_up_once(void **state)
{
    culex_test *test = NULL;
    struct scene scene = {.calls = 1};
    (void)state;
    opened = closed = 0;
    assert_int_equal(culex_test_open(NULL, &test, NULL), CULEX_OK);
    letter_register(test, letter_process, &scene);
    assert_int_equal(
        culex_worker_on_process(culex_test_worker(test), connection_open, connection_close, &scene),
        CULEX_OK);
    letter_send(test, "a");
    FAILS(test, CULEX_TEST_DRAIN(test),
          "the drain ended: culex_worker_on_process: open failed: no database (EBROKEN)");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    letter_send(test, "b");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    assert_int_equal(opened, 2);
    culex_test_close(test);
    assert_int_equal(closed, 1);
}

/* --- bounds
 * ------------------------------------------------------------------------------------------ */

static culex_outcome letter_again(culex_run *run, const kit_letter_job *job, void *user)
{
    (void)user;
    assert_int_equal(kit_letter_job_enqueue(culex_run_client(run), job, NULL, NULL, NULL),
                     CULEX_OK);
    return CULEX_DONE;
}

static void endless_work_is_a_failure(void **state)
{
    const culex_test_options options = {.most = 20};
    culex_test *test = NULL;
    struct scene scene = {.calls = 0};
    (void)state;
    assert_int_equal(culex_test_open(&options, &test, NULL), CULEX_OK);
    letter_register(test, letter_again, &scene);
    letter_send(test, "a");
    FAILS(
        test, CULEX_TEST_DRAIN(test),
        "the drain ended after 20 calls at one time, the last of job kit.letter: runs that enqueue "
        "others for ever? see culex_test_options.most");
    CULEX_TEST_CALLS(test, kit_letter_job, 20);
    CULEX_TEST_STATE(test, CULEX_TEST_RUN(test, kit_letter_job)->id, CULEX_RUN_WAITING);
    FAILS(
        test, CULEX_TEST_DRAIN_THROUGH(test, culex_hours(1)),
        "the drain ended after 20 calls at one time, the last of job kit.letter: runs that enqueue "
        "others for ever? see culex_test_options.most");
    CULEX_TEST_CALLS(test, kit_letter_job, 40);
    assert_int_equal(culex_test_now(test), CULEX_TEST_START);
    culex_test_close(test);
}

static void as_many_as_allowed_are_none_too_many(void **state)
{
    const culex_test_options options = {.most = 20};
    culex_test *test = NULL;
    struct scene scene = {.calls = 0};
    (void)state;
    assert_int_equal(culex_test_open(&options, &test, NULL), CULEX_OK);
    letter_register(test, letter_note, &scene);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 20; i++) {
            kit_letter_job job = kit_letter_job_make("a");
            assert_int_equal(kit_letter_job_enqueue_in(culex_test_client(test), &job,
                                                       culex_minutes(round), NULL, NULL),
                             CULEX_OK);
        }
    }
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_hours(1)), 60);
    culex_test_close(test);
}

static void many_runs_of_one_time(void **state)
{
    culex_test *test = *state;
    assert_int_equal(culex_test_fake(test, &kit_letter_job_type, CULEX_DONE, NULL), CULEX_OK);
    for (int i = 0; i < 500; i++) {
        kit_letter_job job = kit_letter_job_make("a");
        assert_int_equal(
            kit_letter_job_enqueue_in(culex_test_client(test), &job, culex_hours(1), NULL, NULL),
            CULEX_OK);
    }
    culex_test_advance(test, culex_hours(1));
    assert_int_equal(CULEX_TEST_DRAIN(test), 500);
    assert_int_equal(culex_test_now(test), CULEX_TEST_START + culex_hours(1));
}

/* --- hostile use
 * --------------------------------------------------------------------------------------- */

static culex_outcome letter_drain(culex_run *run, const kit_letter_job *job, void *user)
{
    struct scene *scene = user;
    size_t calls = 77;
    (void)job, (void)run;
    assert_false(culex_test_drain(scene->test, &calls));
    assert_string_equal(culex_test_text(scene->test),
                        "a drain within a drain: a handler must not run others");
    assert_int_equal(kit_receipt_job_register(culex_test_worker(scene->test), receipt_note, scene),
                     CULEX_EINVAL);
    culex_client_close(culex_test_client(scene->test));
    culex_client_close(culex_run_client(run));
    return CULEX_DONE;
}

static void a_handler_must_not_drain(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    letter_register(test, letter_drain, &scene);
    letter_send(test, "a");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    letter_send(test, "b");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
}

static culex_outcome letter_claim(culex_run *run, const kit_letter_job *job, void *user)
{
    struct scene *scene = user;
    (void)job, (void)run;
    CULEX_TEST_ONE(scene->test, kit_letter_job);
    return CULEX_DONE;
}

static void a_jump_out_of_a_handler_leaves_nothing(void **state)
{
    culex_test *test = NULL;
    struct scene scene = {.calls = 0};
    (void)state;
    assert_int_equal(culex_test_open(NULL, &test, NULL), CULEX_OK);
    letter_register(test, letter_claim, &scene);
    letter_send(test, "a");
    culex_test_on_failure(test, failure_catch, &caught);
    if (setjmp(caught.back) == 0) {
        CULEX_TEST_DRAIN(test);
        fail();
    }
    culex_test_close(test);
}

static void kits_are_apart(void **state)
{
    culex_test *test = *state, *other = NULL;
    struct scene scene = {.calls = 0};
    assert_int_equal(culex_test_open(NULL, &other, NULL), CULEX_OK);
    letter_register(test, letter_note, &scene);
    culex_uuid id = letter_send(test, "a");
    culex_test_advance(other, culex_days(1));
    CULEX_TEST_IDLE(other);
    culex_uuid same = letter_send(other, "a");
    assert_int_equal(CULEX_TEST_DRAIN(other), 0);
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    assert_memory_not_equal(&id, &same, sizeof id);
    culex_test_close(other);
}

static culex_uuid id_of_seed(uint64_t seed)
{
    const culex_test_options options = {.seed = seed};
    culex_test *test = NULL;
    assert_int_equal(culex_test_open(&options, &test, NULL), CULEX_OK);
    (void)letter_send(test, "a");
    assert_int_equal(culex_test_fake(test, &kit_letter_job_type, CULEX_FAILED, "no"), CULEX_OK);
    CULEX_TEST_DRAIN_THROUGH(test, culex_hours(5));
    culex_uuid id = letter_send(test, "b");
    culex_test_close(test);
    return id;
}

static void chance_comes_from_the_seed(void **state)
{
    (void)state;
    culex_uuid first = id_of_seed(1), again = id_of_seed(1), other = id_of_seed(2);
    assert_memory_equal(&first, &again, sizeof first);
    assert_memory_not_equal(&first, &other, sizeof first);
}

/* On descriptor 2, which is a file meanwhile. */
static size_t lines_of(int log_level)
{
    const culex_test_options options = {.log_level = log_level};
    culex_test *test = NULL;
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    assert_non_null(file);
    assert_int_equal(dup2(fileno(file), STDERR_FILENO), STDERR_FILENO);
    culex_status status = culex_test_open(&options, &test, NULL);
    (void)letter_send(test, "a");
    CULEX_TEST_DRAIN(test); /* for which there is no handler */
    culex_test_close(test);
    assert_int_equal(dup2(before, STDERR_FILENO), STDERR_FILENO);
    close(before);
    off_t len = lseek(fileno(file), 0, SEEK_END);
    fclose(file);
    assert_int_equal(status, CULEX_OK);
    return (size_t)len;
}

static void lines_are_written_on_request(void **state)
{
    (void)state;
    assert_int_equal(lines_of(0), 0);
    assert_int_equal(lines_of(1), 0);
    assert_true(lines_of(2) > 0);
    assert_true(lines_of(4) > lines_of(2));
}

static void options_are_checked(void **state)
{
    const culex_test_options early = {.start = 5}, loud = {.log_level = 5};
    culex_error error = {0};
    culex_test *test = NULL;
    (void)state;
    assert_int_equal(culex_test_open(&early, &test, &error), CULEX_EINVAL);
    assert_string_equal(error.text,
                        "options.start is before 2001 or after 2149: a culex_time is in "
                        "nanoseconds; culex_time_from_unix(seconds) makes one");
    assert_int_equal(culex_test_open(&loud, &test, &error), CULEX_EINVAL);
    assert_null(test);
    const culex_test_options late = {.start = culex_time_from_unix(2000000000)};
    assert_int_equal(culex_test_open(&late, &test, &error), CULEX_OK);
    assert_int_equal(culex_test_now(test), culex_time_from_unix(2000000000));
    culex_test_close(test);
}

static culex_outcome letter_open(culex_run *run, const kit_letter_job *job, void *user)
{
    culex_client *client = NULL;
    (void)run, (void)job, (void)user;
    assert_int_equal(culex_client_open(NULL, NULL, &client, NULL), CULEX_EURL);
    return CULEX_DONE;
}

static void a_handler_opens_no_other_store(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    letter_register(test, letter_open, &scene);
    letter_send(test, "a");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    assert_int_not_equal(access("culex.db", F_OK), 0);
}

static void the_environment_does_not_matter(void **state)
{
    static const char *const variables[][2] = {{"CULEX_URL", "redis://192.0.2.1"},
                                               {"CULEX_STORE_TIMEOUT", "10ms"},
                                               {"CULEX_SYNCHRONOUS", "normal"},
                                               {"CULEX_PREFIX", "other"},
                                               {"CULEX_ISOLATION", "no such thing"}};
    const size_t count = sizeof variables / sizeof variables[0];
    culex_test *test = NULL;
    struct scene scene = {.calls = 0};
    (void)state;
    for (size_t i = 0; i < count; i++)
        setenv(variables[i][0], variables[i][1], 1);
    assert_int_equal(culex_test_open(NULL, &test, NULL), CULEX_OK);
    letter_register(test, letter_note, &scene);
    letter_send(test, "a");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    culex_test_close(test);
    for (size_t i = 0; i < count; i++)
        unsetenv(variables[i][0]);
}

/* --- hooks ---------------------------------------------------------------------------------------
 */

static culex_outcome refuse_twice(culex_run *run, const void *params, void *user)
{
    (void)params, (void)user;
    return culex_run_attempt(run) > 2 ? CULEX_DONE : culex_run_fail(run, "not yet");
}

static culex_status gate_tag(culex_enqueue_call *call, void *user, culex_error *error)
{
    return culex_enqueue_tag(call, user, error);
}

static culex_outcome letter_follow(culex_run *run, const kit_letter_job *job, void *user)
{
    kit_letter_job next = *job;
    (void)user;
    next.to = "follow-up";
    if (strcmp(job->to, "follow-up") == 0)
        return CULEX_DONE;
    return kit_letter_job_enqueue_from(run, &next, NULL, NULL) == CULEX_OK ? CULEX_DONE
                                                                           : CULEX_FAILED;
}

static void hooks_are_called_in_a_drain(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    const culex_hook refusing = {.name = "refusing", .before = refuse_twice};
    letter_register(test, letter_note, &scene);
    assert_int_equal(culex_worker_add_hook(culex_test_worker(test), NULL, &refusing), CULEX_OK);
    culex_uuid id = letter_send(test, "a");
    const culex_test_call *kept = CULEX_TEST_RUN_ONE(test);
    assert_non_null(kept);
    assert_memory_equal(&kept->id, &id, sizeof id);
    assert_int_equal(kept->outcome, CULEX_FAILED);
    assert_string_equal(kept->text, "hook 'refusing' before the run: not yet");
    assert_string_equal(((const kit_letter_job *)kept->params)->to, "a");
    CULEX_TEST_CALLS(test, kit_letter_job, 0);
    assert_null(CULEX_TEST_RUN_ONE(test));
    CULEX_TEST_STATE(test, id, CULEX_RUN_SCHEDULED);
    culex_run_info *info = NULL;
    assert_int_equal(culex_client_get(culex_test_client(test), "mail", id, &info, NULL), CULEX_OK);
    assert_string_equal(info->error_text, "hook 'refusing' before the run: not yet");
    culex_run_info_free(info);
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, 70 * CULEX_SECOND), 1);
    assert_int_equal(scene.calls, 1);
    CULEX_TEST_STATE(test, id, CULEX_RUN_DONE);
}

static culex_outcome end_otherwise(culex_run *run, const void *params, culex_outcome outcome,
                                   const char *text, void *user)
{
    (void)params, (void)outcome, (void)text;
    return strcmp(user, "snooze") == 0 ? culex_run_snooze(run, culex_minutes(1))
                                       : culex_run_discard(run, "%s", (const char *)user);
}

static void expect_end(culex_test *test, char *word, culex_outcome outcome, const char *text,
                       culex_run_state state)
{
    const culex_hook hook = {.name = word, .after = end_otherwise, .user = word};
    assert_int_equal(culex_worker_add_hook(culex_test_worker(test), NULL, &hook), CULEX_OK);
    culex_uuid id = letter_send(test, "a");
    const culex_test_call *call = CULEX_TEST_RUN_ONE(test);
    assert_int_equal(call->outcome, outcome);
    assert_string_equal(call->text, text);
    CULEX_TEST_STATE(test, id, state);
}

/* As the worker tells the store. */
static void what_hooks_make_of_a_call_is_told(void **state)
{
    static char snooze[] = "snooze", discard[] = "no more";
    struct scene scene = {.calls = 0};
    letter_register(*state, letter_note, &scene);
    expect_end(*state, snooze, CULEX_SNOOZED, "", CULEX_RUN_SCHEDULED);
    expect_end(*state, discard, CULEX_DISCARDED, "hook 'no more' after the run: no more",
               CULEX_RUN_DEAD);
    assert_int_equal(scene.calls, 2);
}

/* No hook has kept it. */
static void what_cannot_be_read_is_no_run_with_hooks_either(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    const culex_hook refusing = {.name = "refusing", .before = refuse_twice};
    kit_once_job once = kit_once_job_make(7);
    culex_job_type other = kit_letter_job_type;
    culex_uuid id;
    other.params = kit_once_job_type.params;
    letter_register(test, letter_note, &scene);
    assert_int_equal(culex_worker_add_hook(culex_test_worker(test), NULL, &refusing), CULEX_OK);
    assert_int_equal(culex_client_enqueue(culex_test_client(test), &other, &once, NULL, &id, NULL),
                     CULEX_OK);
    culex_uuid readable = letter_send(test, "a");
    const culex_test_call *kept = CULEX_TEST_RUN_ONE(test);
    CULEX_TEST_STATE(test, id, CULEX_RUN_DEAD);
    assert_non_null(kept);
    assert_memory_equal(&kept->id, &readable, sizeof readable);
}

static void enqueues_pass_their_hooks(void **state)
{
    culex_test *test = *state;
    struct scene scene = {.calls = 0};
    char own[] = "own", handlers[] = "handlers";
    letter_register(test, letter_follow, &scene);
    assert_int_equal(culex_client_on_enqueue(culex_test_client(test), gate_tag, own, NULL),
                     CULEX_OK);
    assert_int_equal(culex_worker_on_enqueue(culex_test_worker(test), gate_tag, handlers),
                     CULEX_OK);
    letter_send(test, "a");
    assert_string_equal(CULEX_TEST_RUN(test, kit_letter_job)->tags, "post,paper,own");
    assert_non_null(CULEX_TEST_RUN_ONE(test));
    assert_string_equal(CULEX_TEST_RUN(test, kit_letter_job)->tags, "post,paper,handlers");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_KIT(a_drain_runs_what_is_due),
        WITH_KIT(a_client_that_waits_is_told_what_has_ended),
        WITH_KIT(one_is_run_at_a_time),
        WITH_KIT(priorities_hold),
        WITH_KIT(follow_ups_run_in_queues_that_are_new),
        WITH_KIT(log_lines_are_read_as_of_a_store),
        WITH_KIT(jobs_without_a_handler_stay),
        WITH_KIT(a_worker_that_is_run_stops_by_itself),
        WITH_KIT(a_worker_is_not_started),
        WITH_KIT(what_is_lent_is_the_kits_to_free),
        WITH_KIT(the_clock_moves_where_nothing_is_due),
        WITH_KIT(hooks_are_called_in_a_drain),
        WITH_KIT(what_hooks_make_of_a_call_is_told),
        WITH_KIT(what_cannot_be_read_is_no_run_with_hooks_either),
        WITH_KIT(enqueues_pass_their_hooks),
        WITH_KIT(needs_are_offered),
        WITH_KIT(delays_wait_for_the_clock),
        WITH_KIT(retries_follow_their_policy),
        WITH_KIT(a_handler_that_takes_too_long_has_failed),
        WITH_KIT(a_timeout_asks_a_handler_to_stop),
        WITH_KIT(a_handler_without_a_timeout_is_left_alone),
        WITH_KIT(a_handler_may_ask_for_more_time),
        WITH_KIT(runs_expire_by_the_clock),
        WITH_KIT(rates_let_through_in_time),
        WITH_KIT(the_clock_is_set_back),
        WITH_KIT(pauses_end_by_the_clock),
        WITH_KIT(records_are_forgotten_in_time),
        WITH_KIT(unique_runs_are_kept_apart),
        WITH_KIT(periodic_jobs_do_not_start),
        cmocka_unit_test(periodic_jobs_tick_by_the_clock),
        cmocka_unit_test(the_process_is_set_up_once),
        cmocka_unit_test(endless_work_is_a_failure),
        cmocka_unit_test(as_many_as_allowed_are_none_too_many),
        WITH_KIT(many_runs_of_one_time),
        WITH_KIT(a_handler_must_not_drain),
        cmocka_unit_test(a_jump_out_of_a_handler_leaves_nothing),
        WITH_KIT(kits_are_apart),
        cmocka_unit_test(chance_comes_from_the_seed),
        cmocka_unit_test(lines_are_written_on_request),
        cmocka_unit_test(options_are_checked),
        WITH_KIT(a_handler_opens_no_other_store),
        cmocka_unit_test(the_environment_does_not_matter),
    };
    return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
