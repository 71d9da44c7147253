/* engine/test_metrics.c - what a worker counts for metrics, on a driven clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

static char *told;      /* by a worker, when its time had come: */
static int64_t tell_ms; /* since the start */

static int setup(void **state)
{
    *state = world_open();
    tell_ms = 7200000;
    return 0;
}

static int teardown(void **state)
{
    world_close(*state);
    free(told);
    told = NULL;
    return 0;
}

static void tell_and_stop(struct world *world)
{
    size_t len = 0;
    told = culex__metrics_text(world->worker, false, &len);
    assert_non_null(told);
    assert_int_equal(strlen(told), len);
    culex_worker_stop(world->worker);
    culex_worker_stop(world->worker);
}

static void run_worker(struct world *world, const culex_job_type *type)
{
    world_worker(world, (culex_worker_options){.concurrency = 3}, type);
    culex__worker_set_executor(world->worker, executor_killing_create);
    assert_true(culex__metrics_begin(world->worker));
    world->then = tell_and_stop;
    world->then_ms = tell_ms;
    world_run(world);
    assert_non_null(told);
}

static void assert_told(const char *line)
{
    char wanted[256];
    snprintf(wanted, sizeof wanted, "\n%s\n", line);
    if (strstr(told, wanted) == NULL)
        fail_msg("%s is not in:\n%s", line, told);
}

#define OF "{job_name=\"t.number\",queue=\"numbers\""

enum { DOES, FAILS, CRASHES, IS_LATE, SNOOZES, DISCARDS };

static culex_outcome act(struct world *world, culex_run *run, int64_t n)
{
    world->hang_ms = n == CRASHES ? 10 : n == IS_LATE ? 60000 : n == DOES ? 30 : 0;
    world->manner = n == CRASHES ? WORLD_CRASHING : WORLD_MORTAL;
    if (n == SNOOZES && culex_run_attempt(run) == 1)
        return culex_run_snooze(run, culex_seconds(5));
    if (n == DISCARDS)
        return culex_run_discard(run, "no");
    return n == FAILS ? CULEX_FAILED : CULEX_DONE;
}

static void test_each_attempt_is_counted_once_by_how_it_ended(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = 1000;
    world->act = act;
    for (int64_t n = DOES; n <= DISCARDS; n++)
        world_enqueue(world, &type, n);
    run_worker(world, &type);
    assert_told("culex_runs_ended_total" OF ",outcome=\"done\"} 2");
    assert_told("culex_runs_ended_total" OF ",outcome=\"failed\"} 6");
    assert_told("culex_runs_ended_total" OF ",outcome=\"timed_out\"} 5");
    assert_told("culex_runs_ended_total" OF ",outcome=\"crashed\"} 3");
    assert_told("culex_runs_ended_total" OF ",outcome=\"snoozed\"} 1");
    assert_told("culex_runs_ended_total" OF ",outcome=\"cancelled\"} 0");
    assert_told("culex_runs_ended_total" OF ",outcome=\"refused\"} 0");
    assert_told("culex_runs_dead_total" OF "} 4");
    assert_told("culex_runs_retried_total" OF "} 10");
    assert_told("culex_run_duration_seconds_count" OF "} 17");
    assert_told("culex_run_wait_seconds_count" OF "} 17");
    assert_told("culex_runs_active 0");
    assert_told("culex_concurrency 3");
    assert_told("culex_store_up 1");
}

static void test_times_are_in_their_buckets(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world->act = act;
    world_enqueue(world, &type, DOES);
    world_pass(world, 2000);
    run_worker(world, &type);
    assert_told("culex_run_duration_seconds_bucket" OF ",le=\"0.01\"} 0");
    assert_told("culex_run_duration_seconds_bucket" OF ",le=\"0.05\"} 1");
    assert_told("culex_run_wait_seconds_bucket" OF ",le=\"1.0\"} 0");
    assert_told("culex_run_wait_seconds_bucket" OF ",le=\"5.0\"} 1");
    assert_told("culex_run_duration_seconds_sum" OF "} 0.030000");
}

static void test_trouble_with_the_store_is_counted(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world->act = act;
    world->fault = WORLD_REFUSE;
    world->fault_count = 3;
    world_enqueue(world, &type, DOES);
    run_worker(world, &type);
    assert_told("culex_store_failed_calls_total 3");
    assert_told("culex_store_outages_total 1");
    assert_told("culex_store_up 1");
    assert_told("culex_runs_ended_total" OF ",outcome=\"done\"} 1");
}

/* Nobody has asked for hours, so what was seen of the queue is too old to be told. */
static void test_old_figures_of_a_queue_are_not_told(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world_enqueue(world, &type, DOES);
    world->act = act;
    run_worker(world, &type);
    assert_null(strstr(told, "culex_queue_runs{"));
    assert_told("# TYPE culex_queue_runs gauge");
}

static void test_figures_of_a_queue_are_told_while_they_are_new(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world->act = act;
    world_enqueue(world, &type, DISCARDS);
    tell_ms = 20000;
    run_worker(world, &type);
    assert_told("culex_queue_runs{queue=\"numbers\",state=\"dead\"} 1");
    assert_told("culex_queue_runs{queue=\"numbers\",state=\"waiting\"} 0");
    assert_told("culex_queue_paused{queue=\"numbers\"} 0");
    assert_told("culex_queue_oldest_waiting_seconds{queue=\"numbers\"} 0.000000");
}

static void test_age_of_the_oldest_run_that_waits_is_told(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world_enqueue(world, &type, DOES);
    assert_int_equal(culex_client_pause(world->client, "numbers", NULL), CULEX_OK);
    world_pass(world, 60000);
    world_enqueue(world, &type, DOES);
    tell_ms = 80000;
    run_worker(world, &type);
    assert_told("culex_queue_runs{queue=\"numbers\",state=\"waiting\"} 2");
    const char *line = strstr(told, "culex_queue_oldest_waiting_seconds{queue=\"numbers\"} ");
    assert_non_null(line);
    assert_in_range(strtol(strchr(line, '}') + 1, NULL, 10), 74, 80);
}

static void test_a_job_without_a_handler_has_no_label_of_its_own(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type(), other = number_type();
    other.name = other.wire = "t.stranger";
    world_enqueue(world, &other, DOES);
    run_worker(world, &type);
    assert_non_null(
        strstr(told, "{job_name=\"(unknown)\",queue=\"numbers\",outcome=\"released\"}"));
    assert_null(strstr(told, "stranger"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_attempt_is_counted_once_by_how_it_ended, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_times_are_in_their_buckets, setup, teardown),
        cmocka_unit_test_setup_teardown(test_trouble_with_the_store_is_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_old_figures_of_a_queue_are_not_told, setup, teardown),
        cmocka_unit_test_setup_teardown(test_figures_of_a_queue_are_told_while_they_are_new, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_age_of_the_oldest_run_that_waits_is_told, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_job_without_a_handler_has_no_label_of_its_own, setup,
                                        teardown),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
