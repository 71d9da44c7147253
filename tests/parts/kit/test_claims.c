/* test_claims.c - each macro of culex_test.h holds, and fails with its text and its line. */
#include <stdio.h>

#include "kit.h"

struct caught caught;

static void letter_send_with(culex_test *test, kit_letter_job *job, culex_enqueue_options *options)
{
    culex_error error = {0};
    if (kit_letter_job_enqueue(culex_test_client(test), job, options, NULL, &error) != CULEX_OK)
        fail_msg("%s", error.text);
}

static void one_is_the_pending_run(void **state)
{
    culex_test *test = *state;
    FAILS(test, CULEX_TEST_ONE(test, kit_letter_job),
          "expected one pending run of kit.letter, found 0; pending: nothing");
    letter_send(test, "ann");
    const kit_letter_job *letter = CULEX_TEST_ONE(test, kit_letter_job);
    assert_string_equal(letter->to, "ann");
    assert_int_equal(letter->copies, 1);
    FAILS(test, CULEX_TEST_ONE(test, kit_receipt_job),
          "expected one pending run of kit.receipt, found 0; pending: 1 of kit.letter");
    letter_send(test, "bob");
    FAILS(test, CULEX_TEST_ONE(test, kit_letter_job),
          "expected one pending run of kit.letter, found 2\n"
          "  in queue mail, waiting: "
          "{\"to\":\"ann\",\"copies\":1,\"format\":\"SMALL\",\"is_urgent\":false}\n"
          "  in queue mail, waiting: "
          "{\"to\":\"bob\",\"copies\":1,\"format\":\"SMALL\",\"is_urgent\":false}");
}

static void enqueued_has_params(void **state)
{
    culex_test *test = *state;
    const kit_line lines[] = {{"stamp", 2}};
    kit_letter_job job = kit_letter_job_make("ann \"the\" \xc3\xa9lf");
    job.copies = -5;
    job.is_urgent = true;
    job.format = KIT_SIZE_LARGE;
    kit_letter_job_set_lines(&job, lines, 1);
    letter_send_with(test, &job, NULL);
    letter_send(test, "bob");
    CULEX_TEST_ENQUEUED(test, kit_letter_job, "to", "ann \"the\" \xc3\xa9lf");
    CULEX_TEST_ENQUEUED(test, kit_letter_job, "copies", "-5", "is_urgent", "true", "format",
                        "LARGE", "lines", "[{\"item\":\"stamp\",\"count\":2}]");
    assert_string_equal(CULEX_TEST_ENQUEUED(test, kit_letter_job, "copies", "1")->to, "bob");
    CULEX_TEST_ENQUEUED(test, kit_letter_job, "lines", "[]", "note", "null");
    FAILS(test, CULEX_TEST_ENQUEUED(test, kit_letter_job, "to", "bob", "copies", "2"),
          "expected one pending run of kit.letter with to = bob, copies = 2, found 0\n"
          "  in queue mail, waiting: {\"to\":\"ann \\\"the\\\" \xc3\xa9lf\",\"copies\":-5,"
          "\"format\":\"LARGE\",\"is_urgent\":true,\"lines\":[{\"item\":\"stamp\",\"count\":2}]}\n"
          "  in queue mail, waiting: "
          "{\"to\":\"bob\",\"copies\":1,\"format\":\"SMALL\",\"is_urgent\":false}");
}

static void params_are_named_right(void **state)
{
    culex_test *test = *state;
    letter_send(test, "ann");
    FAILS(test, CULEX_TEST_ENQUEUED(test, kit_letter_job, "copeis", "1"),
          "kit.letter has no param copeis; did you mean copies?");
    FAILS(test, CULEX_TEST_ENQUEUED(test, kit_letter_job, "copies"),
          "param copies of kit.letter is named without a text");
    FAILS(test, CULEX_TEST_ENQUEUED(test, kit_letter_job, "to", "ann", "copies", NULL),
          "param copies of kit.letter is named without a text");
}

static void secrets_are_not_shown(void **state)
{
    culex_test *test = *state;
    kit_letter_job job = kit_letter_job_make("ann");
    kit_letter_job_set_token(&job, "hunter2000");
    letter_send_with(test, &job, NULL);
    CULEX_TEST_ENQUEUED(test, kit_letter_job, "token", "hunter2000");
    FAILS(test, CULEX_TEST_ENQUEUED(test, kit_letter_job, "token", "hunter2001"),
          "expected one pending run of kit.letter with token = [secret], found 0\n"
          "  in queue mail, waiting: {\"to\":\"ann\",\"copies\":1,\"format\":\"SMALL\","
          "\"is_urgent\":false,\"token\":\"[secret]\"}");
}

static void runs_are_counted(void **state)
{
    culex_test *test = *state;
    CULEX_TEST_NONE(test, kit_letter_job);
    CULEX_TEST_IDLE(test);
    letter_send(test, "ann");
    CULEX_TEST_COUNT(test, kit_letter_job, 1);
    assert_int_equal(culex_test_pending(test, &kit_letter_job_type), 1);
    assert_int_equal(culex_test_pending(test, &kit_receipt_job_type), 0);
    assert_int_equal(culex_test_pending(test, NULL), 1);
    FAILS(test, CULEX_TEST_NONE(test, kit_letter_job),
          "expected 0 pending runs of kit.letter, found 1\n"
          "  in queue mail, waiting: "
          "{\"to\":\"ann\",\"copies\":1,\"format\":\"SMALL\",\"is_urgent\":false}");
    FAILS(test, CULEX_TEST_COUNT(test, kit_receipt_job, 1),
          "expected 1 pending run of kit.receipt, found 0; pending: 1 of kit.letter");
    FAILS(test, CULEX_TEST_IDLE(test),
          "expected 0 pending runs of any job, found 1; pending: 1 of kit.letter");
}

static void many_runs_are_cut(void **state)
{
    culex_test *test = *state;
    for (int i = 0; i < 7; i++)
        letter_send(test, "ann");
    culex_test_on_failure(test, failure_catch, &caught);
    if (setjmp(caught.back) == 0)
        CULEX_TEST_ONE(test, kit_letter_job);
    assert_non_null(strstr(caught.text, "found 7\n"));
    assert_non_null(strstr(caught.text, "\n  and 2 more"));
}

static void a_run_stands_where_it_was_put(void **state)
{
    culex_test *test = *state;
    static const char *const tags[] = {"vip", "tenant:7"};
    kit_letter_job job = kit_letter_job_make("ann");
    culex_enqueue_options options = culex_enqueue_options_make();
    options.queue = "bulk";
    options.has_priority = true;
    options.priority = 7;
    options.has_delay = true;
    options.delay = culex_minutes(5);
    options.tags = tags;
    options.tag_count = 2;
    letter_send_with(test, &job, &options);
    CULEX_TEST_QUEUE(test, kit_letter_job, "bulk");
    CULEX_TEST_PRIORITY(test, kit_letter_job, 7);
    CULEX_TEST_DELAY(test, kit_letter_job, culex_minutes(5));
    CULEX_TEST_TAG(test, kit_letter_job, "vip");
    CULEX_TEST_TAG(test, kit_letter_job, "tenant:7");
    assert_string_equal(CULEX_TEST_RUN(test, kit_letter_job)->queue, "bulk");
    FAILS(test, CULEX_TEST_QUEUE(test, kit_letter_job, "mail"),
          "expected the run of kit.letter in queue mail, it is in bulk");
    FAILS(test, CULEX_TEST_PRIORITY(test, kit_letter_job, 3),
          "expected the run of kit.letter with priority 3, it has 7");
    FAILS(test, CULEX_TEST_DELAY(test, kit_letter_job, 0),
          "expected the run of kit.letter in 0 ms, it is due in 300000 ms");
    FAILS(test, CULEX_TEST_TAG(test, kit_letter_job, "tenant"),
          "expected the run of kit.letter with the tag tenant, it has vip,tenant:7");
    FAILS(test, CULEX_TEST_TAG(test, kit_letter_job, "vip,tenant:7"),
          "expected the run of kit.letter with the tag vip,tenant:7, it has vip,tenant:7");
    FAILS(test, CULEX_TEST_RUN(test, kit_receipt_job),
          "expected one pending run of kit.receipt, found 0; pending: 1 of kit.letter");
    culex_test_advance(test, culex_minutes(2));
    CULEX_TEST_DELAY(test, kit_letter_job, culex_minutes(3));
    culex_test_advance(test, culex_minutes(3));
    CULEX_TEST_DELAY(test, kit_letter_job, 0);
}

/* Plain numbers of seconds are a few nanoseconds. */
static void durations_have_units(void **state)
{
    culex_test *test = *state;
    letter_send(test, "ann");
    FAILS(test, CULEX_TEST_DELAY(test, kit_letter_job, 90),
          "a delay of 90 nanoseconds is too short to be meant: write culex_seconds(90), or "
          "culex_milliseconds, _minutes, _hours, _days");
    FAILS(test, CULEX_TEST_DRAIN_THROUGH(test, 3600),
          "a drain through 3600 nanoseconds is too short to be meant: write culex_seconds(3600), "
          "or culex_milliseconds, _minutes, _hours, _days");
    culex_test_advance(test, 3600);
    FAILS(test, CULEX_TEST_COUNT(test, kit_letter_job, 1),
          "culex_test_advance by 3600 nanoseconds is too short to be meant: write "
          "culex_seconds(3600), or culex_milliseconds, _minutes, _hours, _days");
    CULEX_TEST_COUNT(test, kit_letter_job, 1); /* it is told once */
    CULEX_TEST_DELAY(test, kit_letter_job, 0);
    assert_int_equal(culex_test_now(test), CULEX_TEST_START);
}

static void claim(culex_test *test, int which, culex_uuid id)
{
    switch (which) {
    case 0:
        CULEX_TEST_ONE(test, kit_letter_job);
        break;
    case 1:
        CULEX_TEST_ENQUEUED(test, kit_letter_job, "to", "ann");
        break;
    case 2:
        CULEX_TEST_IDLE(test);
        break;
    case 3:
        CULEX_TEST_QUEUE(test, kit_letter_job, "mail");
        break;
    case 4:
        CULEX_TEST_STATE(test, id, CULEX_RUN_WAITING);
        break;
    case 5:
        CULEX_TEST_DRAIN(test);
        break;
    case 6:
        CULEX_TEST_RUN_ONE(test);
        break;
    case 7:
        CULEX_TEST_CALLS(test, kit_letter_job, 0);
        break;
    default:
        CULEX_TEST_LAST(test, kit_letter_job);
        break;
    }
}

/* What a test does to the clock in vain is told by whichever macro comes next. */
static void instants_have_units(void **state)
{
    culex_test *test = *state;
    culex_uuid id = letter_send(test, "ann");
    for (int i = 0; i < 9; i++) {
        culex_test_set_now(test, 1774742400);
        culex_test_advance(test, 5); /* the first mistake is told */
        culex_test_on_failure(test, failure_catch, &caught);
        if (setjmp(caught.back) == 0) {
            claim(test, i, id);
            fail_msg("claim %d has not failed", i);
        }
        assert_string_equal(
            caught.text,
            "culex_test_set_now to 1970-01-01T00:00:01.7747424Z, which is before 2001 or "
            "after 2149: a culex_time is in nanoseconds; culex_time_from_unix(seconds) makes one");
    }
    culex_test_on_failure(test, fail_test, NULL);
    CULEX_TEST_COUNT(test, kit_letter_job, 1);
    assert_int_equal(culex_test_now(test), CULEX_TEST_START);
}

static void states_and_calls_are_told(void **state)
{
    culex_test *test = *state;
    const culex_uuid nobody = {{1}};
    culex_uuid id = letter_send(test, "ann");
    assert_int_equal(culex_test_fake(test, &kit_letter_job_type, CULEX_DISCARDED, "no stamps"),
                     CULEX_OK);
    CULEX_TEST_STATE(test, id, CULEX_RUN_WAITING);
    CULEX_TEST_CALLS(test, kit_letter_job, 0);
    FAILS(test, CULEX_TEST_LAST(test, kit_letter_job),
          "no handler of kit.letter was called; pending: 1 of kit.letter");
    FAILS(test, CULEX_TEST_PARAMS(test, kit_receipt_job),
          "no handler of kit.receipt was called; pending: 1 of kit.letter");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    CULEX_TEST_STATE(test, id, CULEX_RUN_DEAD);
    CULEX_TEST_CALLS(test, kit_letter_job, 1);
    assert_int_equal(CULEX_TEST_LAST(test, kit_letter_job)->outcome, CULEX_DISCARDED);
    assert_string_equal(CULEX_TEST_LAST(test, kit_letter_job)->text, "no stamps");
    assert_string_equal(CULEX_TEST_PARAMS(test, kit_letter_job)->to, "ann");
    FAILS(test, CULEX_TEST_STATE(test, id, CULEX_RUN_DONE),
          "expected the run of kit.letter done, it is dead: no stamps");
    FAILS(test, CULEX_TEST_STATE(test, nobody, CULEX_RUN_DONE),
          "the store has no run 01000000-0000-0000-0000-000000000000: it never had, or the run is "
          "done and forgotten (by the job's `keep`)");
    FAILS(test, CULEX_TEST_CALLS(test, kit_letter_job, 2),
          "expected 2 calls of handlers of kit.letter, there was 1");
}

static void anything_is_required(void **state)
{
    culex_test *test = *state;
    volatile int count = 0;
    assert_true(CULEX_TEST_REQUIRE(test, ++count == 1));
    FAILS(test, CULEX_TEST_REQUIRE(test, ++count == strcmp("a", "b")),
          "not so: ++count == strcmp(\"a\", \"b\")");
    assert_int_equal(count, 2);
    culex_test_advance(test, 5);
    assert_false(culex_test_is(test, true, "true"));
    assert_true(culex_test_is(test, true, "true"));
}

static void failures_return(void *user, const char *file, int line, const char *text)
{
    (void)file, (void)line, (void)text;
    ++*(int *)user;
}

static void a_failure_may_return(void **state)
{
    culex_test *test = *state;
    int count = 0;
    culex_test_on_failure(test, failures_return, &count);
    assert_null(CULEX_TEST_ONE(test, kit_letter_job));
    assert_null(CULEX_TEST_ENQUEUED(test, kit_letter_job, "to", "ann"));
    assert_null(CULEX_TEST_PARAMS(test, kit_letter_job));
    assert_false(CULEX_TEST_COUNT(test, kit_letter_job, 1));
    assert_int_equal(count, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_KIT(one_is_the_pending_run),
        WITH_KIT(enqueued_has_params),
        WITH_KIT(params_are_named_right),
        WITH_KIT(secrets_are_not_shown),
        WITH_KIT(runs_are_counted),
        WITH_KIT(many_runs_are_cut),
        WITH_KIT(a_run_stands_where_it_was_put),
        WITH_KIT(durations_have_units),
        WITH_KIT(instants_have_units),
        WITH_KIT(states_and_calls_are_told),
        WITH_KIT(anything_is_required),
        WITH_KIT(a_failure_may_return),
    };
    return cmocka_run_group_tests_name("claims", tests, NULL, NULL);
}
