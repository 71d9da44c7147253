/* test_failures.c - stand-ins for handlers, crashes, and a store that fails. */
#include "kit.h"

struct caught caught;

/* --- stand-ins
 * ------------------------------------------------------------------------------------ */

static culex_outcome letter_do(culex_run *run, const kit_letter_job *job, void *user)
{
    (void)run, (void)job;
    ++*(int *)user;
    return CULEX_DONE;
}

static void fake(culex_test *test, culex_outcome outcome, const char *text)
{
    assert_int_equal(culex_test_fake(test, &kit_letter_job_type, outcome, text), CULEX_OK);
}

static void fake_once(culex_test *test, culex_outcome outcome, const char *text)
{
    assert_int_equal(culex_test_fake_once(test, &kit_letter_job_type, outcome, text), CULEX_OK);
}

static void a_fake_follows_its_script(void **state)
{
    culex_test *test = *state;
    fake(test, CULEX_FAILED, "busy");
    fake(test, CULEX_SNOOZED, NULL);
    fake(test, CULEX_DONE, NULL);
    culex_uuid id = letter_send(test, "ann");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    assert_string_equal(CULEX_TEST_RUN(test, kit_letter_job)->error_text, "busy");
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_seconds(10)), 1);
    CULEX_TEST_DELAY(test, kit_letter_job, culex_seconds(1));
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_seconds(1)), 1);
    CULEX_TEST_STATE(test, id, CULEX_RUN_DONE);
    letter_send(test, "bob");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    CULEX_TEST_CALLS(test, kit_letter_job, 4);
    assert_int_equal(culex_test_call_at(test, &kit_letter_job_type, 1)->outcome, CULEX_SNOOZED);
    assert_string_equal(CULEX_TEST_PARAMS(test, kit_letter_job)->to, "bob");
    CULEX_TEST_IDLE(test);
}

static void a_fake_stands_before_the_handler(void **state)
{
    culex_test *test = *state;
    int calls = 0;
    assert_int_equal(kit_letter_job_register(culex_test_worker(test), letter_do, &calls), CULEX_OK);
    fake(test, CULEX_DONE, NULL);
    letter_send(test, "ann");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    assert_int_equal(calls, 0);
}

static void a_fake_leaves_room_for_the_handler(void **state)
{
    culex_test *test = *state;
    int calls = 0;
    fake_once(test, CULEX_FAILED, "once");
    letter_send(test, "ann");
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    assert_int_equal(kit_letter_job_register(culex_test_worker(test), letter_do, &calls), CULEX_OK);
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_seconds(10)), 1);
    assert_int_equal(calls, 1);
}

static void single_calls_come_before_the_script(void **state)
{
    culex_test *test = *state;
    fake(test, CULEX_DONE, NULL);
    fake_once(test, CULEX_FAILED, "first");
    fake_once(test, CULEX_FAILED, "second");
    letter_send(test, "ann");
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_minutes(5)), 3);
    assert_string_equal(culex_test_call_at(test, &kit_letter_job_type, 0)->text, "first");
    assert_string_equal(culex_test_call_at(test, &kit_letter_job_type, 1)->text, "second");
    assert_int_equal(CULEX_TEST_LAST(test, kit_letter_job)->outcome, CULEX_DONE);
    assert_null(culex_test_call_at(test, &kit_letter_job_type, 3));
    assert_null(culex_test_call_at(test, &kit_receipt_job_type, 0));
}

static void a_script_that_has_ended_has_no_handler(void **state)
{
    culex_test *test = *state;
    fake_once(test, CULEX_DONE, NULL);
    letter_send(test, "ann");
    letter_send(test, "bob");
    assert_int_equal(CULEX_TEST_DRAIN(test), 2);
    assert_string_equal(CULEX_TEST_LAST(test, kit_letter_job)->text,
                        "the test has no handler for this call");
}

static culex_uuid parcel_send(culex_test *test)
{
    kit_weigh_job job = kit_weigh_job_make("a vase");
    culex_uuid id;
    assert_int_equal(kit_parcel_chain_enqueue(culex_test_client(test), &job, NULL, &id, NULL),
                     CULEX_OK);
    return id;
}

/* What the call is told lives no longer than the call. */
static void weight_fake(culex_test *test, uint32_t grams, bool is_once)
{
    char what[] = "a vase";
    kit_weigh_result result = kit_weigh_result_make(what, grams);
    if (is_once)
        CULEX_TEST_FAKE_RESULT_ONCE(test, kit_weigh_job,
                                    &(kit_weigh_result){.what = what, .grams = grams});
    else
        CULEX_TEST_FAKE_RESULT(test, kit_weigh_job, &result);
    memset(what, 'x', sizeof what - 1);
    result.grams = 0;
}

static void a_fake_returns_what_the_next_step_takes(void **state)
{
    culex_test *test = *state;
    assert_int_equal(culex_worker_register_chain(culex_test_worker(test), &kit_parcel_chain_type),
                     CULEX_OK);
    assert_int_equal(culex_test_fake(test, &kit_stamp_job_type, CULEX_DONE, NULL), CULEX_OK);
    weight_fake(test, 500, false);
    weight_fake(test, 700, true);
    for (int i = 0; i < 3; i++)
        parcel_send(test);
    assert_int_equal(CULEX_TEST_DRAIN(test), 6);
    for (size_t i = 0; i < 3; i++) {
        const kit_stamp_job *stamp =
            culex_test_params(culex_test_call_at(test, &kit_stamp_job_type, i));
        assert_int_equal(stamp->grams, i == 0 ? 700 : 500);
        assert_string_equal(stamp->what, "a vase");
    }
}

static void a_fake_returns_what_is_waited_for(void **state)
{
    culex_test *test = *state;
    const kit_letter_result stamped = kit_letter_result_make("penny black");
    const kit_letter_result *result = NULL;
    culex_arena *arena = culex_arena_create();
    culex_wait_end end;
    CULEX_TEST_FAKE_RESULT(test, kit_letter_job, &stamped);
    culex_uuid id = letter_send(test, "ann");
    CULEX_TEST_DRAIN(test);
    assert_int_equal(
        kit_letter_job_wait(culex_test_client(test), id, 0, arena, &end, &result, NULL), CULEX_OK);
    assert_string_equal(result->stamp, "penny black");
    culex_arena_free(arena);
}

static void what_is_no_result_is_no_fake(void **state)
{
    culex_test *test = *state;
    kit_letter_result nothing = kit_letter_result_make(NULL);
    FAILS(test, CULEX_TEST_FAKE_RESULT(test, kit_letter_job, &nothing),
          "the result of kit.letter: stamp: expected a string, found NULL");
    FAILS(test, CULEX_TEST_FAKE_RESULT_ONCE(test, kit_letter_job, NULL),
          "no result: NULL was given for its value");
    assert_false(culex_test_fake_result(test, &kit_receipt_job_type, &nothing));
    assert_string_equal(culex_test_text(test),
                        "job kit.receipt returns nothing: culex_test_fake says how it ends");
    assert_false(culex_test_fake_result_once(test, NULL, &nothing));
    assert_false(culex_test_fake_result(NULL, &kit_letter_job_type, &nothing));
}

static void a_crash_is_tried_again(void **state)
{
    culex_test *test = *state;
    int calls = 0;
    assert_int_equal(kit_letter_job_register(culex_test_worker(test), letter_do, &calls), CULEX_OK);
    culex_uuid id = letter_send(test, "ann");
    culex_test_crash_next(test);
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    assert_int_equal(CULEX_TEST_RUN(test, kit_letter_job)->crashes, 1);
    assert_string_equal(CULEX_TEST_RUN(test, kit_letter_job)->error_text,
                        "crashed: the test let its process die when the handler had returned");
    CULEX_TEST_DELAY(test, kit_letter_job, culex_seconds(10));
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_seconds(10)), 1);
    assert_int_equal(calls, 2);
    CULEX_TEST_STATE(test, id, CULEX_RUN_DONE);
}

/* --- cancellation
 * ----------------------------------------------------------------------------------- */

struct cancelling {
    culex_test *test;
    bool by_own_client;
    bool was_cancelled;
};

static culex_outcome letter_cancel(culex_run *run, const kit_letter_job *job, void *user)
{
    struct cancelling *cancelling = user;
    culex_client *client =
        cancelling->by_own_client ? culex_run_client(run) : culex_test_client(cancelling->test);
    (void)job;
    assert_false(culex_run_cancelled(run));
    assert_int_equal(culex_client_cancel(client, "mail", culex_run_id(run), NULL, NULL), CULEX_OK);
    cancelling->was_cancelled = culex_run_cancelled(run);
    return culex_run_fail(run, "stopped");
}

static void a_handler_sees_that_it_is_cancelled(void **state)
{
    culex_test *test = *state;
    struct cancelling cancelling = {.test = test};
    assert_int_equal(kit_letter_job_register(culex_test_worker(test), letter_cancel, &cancelling),
                     CULEX_OK);
    for (int i = 0; i < 2; i++) {
        cancelling.by_own_client = i == 1;
        cancelling.was_cancelled = false;
        culex_uuid id = letter_send(test, "ann");
        assert_int_equal(CULEX_TEST_DRAIN(test), 1);
        assert_true(cancelling.was_cancelled);
        CULEX_TEST_STATE(test, id, CULEX_RUN_CANCELLED);
    }
}

/* --- the store
 * --------------------------------------------------------------------------------------- */

static culex_status letter_try(culex_test *test, culex_uuid *ret_id, culex_error *error)
{
    kit_letter_job job = kit_letter_job_make("ann");
    return kit_letter_job_enqueue(culex_test_client(test), &job, NULL, ret_id, error);
}

static void the_next_call_fails(void **state)
{
    culex_test *test = *state;
    static const culex_status statuses[] = {CULEX_ECONNECT, CULEX_EBUSY,   CULEX_EFULL,
                                            CULEX_ESTORE,   CULEX_EDENIED, CULEX_EREADONLY};
    culex_error error = {0};
    (void)letter_send(test, "first");
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        culex_test_fail_store(test, 1, 1, statuses[i]);
        assert_int_equal(letter_try(test, NULL, &error), statuses[i]);
        assert_non_null(strstr(error.text, "(injected by the test)"));
        CULEX_TEST_COUNT(test, kit_letter_job, i + 1);
        assert_int_equal(letter_try(test, NULL, &error), CULEX_OK);
    }
    assert_int_equal(culex_test_now(test), CULEX_TEST_START);
}

static void a_later_call_fails(void **state)
{
    culex_test *test = *state;
    (void)letter_send(test, "first");
    culex_test_fail_store(test, 2, 2, CULEX_ECONNECT);
    assert_int_equal(letter_try(test, NULL, NULL), CULEX_OK);
    assert_int_equal(letter_try(test, NULL, NULL), CULEX_ECONNECT);
    assert_int_equal(letter_try(test, NULL, NULL), CULEX_ECONNECT);
    assert_int_equal(letter_try(test, NULL, NULL), CULEX_OK);
}

/* A client that has called nothing yet looks at the store's clock first. */
static void the_first_call_of_all_is_one(void **state)
{
    culex_test *test = *state;
    culex_test_fail_store(test, 2, 1, CULEX_ECONNECT);
    assert_int_equal(letter_try(test, NULL, NULL), CULEX_OK);
    assert_int_equal(letter_try(test, NULL, NULL), CULEX_ECONNECT);
    assert_int_equal(letter_try(test, NULL, NULL), CULEX_OK);
    CULEX_TEST_COUNT(test, kit_letter_job, 2);
}

/* Of a queue that is unknown the client asks which ones there are. */
static void advice_is_no_call(void **state)
{
    culex_test *test = *state;
    culex_queue_stats stats;
    culex_error error = {0};
    culex_test_fail_store(test, 2, 1, CULEX_ECONNECT);
    assert_int_equal(culex_client_stats(culex_test_client(test), "mial", &stats, &error),
                     CULEX_ENOTFOUND);
    assert_int_equal(letter_try(test, NULL, NULL), CULEX_ECONNECT);
    assert_int_equal(letter_try(test, NULL, NULL), CULEX_OK);
}

/* What one call of a program asks in several parts may be done in part. */
static void a_part_of_many_fails(void **state)
{
    culex_test *test = *state;
    enum { BATCH = 200, MANY = 2 * BATCH };
    static kit_once_job jobs[MANY];
    size_t enqueued = 0;
    for (uint32_t i = 0; i < MANY; i++)
        jobs[i] = kit_once_job_make(i);
    culex_test_fail_store(test, 2, 1, CULEX_EFULL);
    assert_int_equal(
        kit_once_job_enqueue_many(culex_test_client(test), jobs, MANY, NULL, NULL, &enqueued, NULL),
        CULEX_EFULL);
    assert_int_equal(enqueued, BATCH);
    CULEX_TEST_COUNT(test, kit_once_job, BATCH);
}

static void all_calls_fail_until_that_is_lifted(void **state)
{
    culex_test *test = *state;
    culex_test_fail_store(test, 1, 0, CULEX_ECONNECT);
    for (int i = 0; i < 5; i++)
        assert_int_equal(letter_try(test, NULL, NULL), CULEX_ECONNECT);
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(culex_test_client(test), "mail", &stats, NULL),
                     CULEX_ECONNECT);
    culex_test_fail_store(test, 1, 0, CULEX_OK);
    assert_int_equal(letter_try(test, NULL, NULL), CULEX_OK);
    CULEX_TEST_COUNT(test, kit_letter_job, 1);
}

static void an_answer_is_lost(void **state)
{
    culex_test *test = *state;
    culex_uuid ticket, id;
    (void)letter_send(test, "first");
    culex_test_fail_store(test, 1, 1, CULEX_EUNKNOWN);
    assert_int_equal(letter_try(test, &ticket, NULL), CULEX_EUNKNOWN);
    CULEX_TEST_COUNT(test, kit_letter_job, 2);
    culex_enqueue_options options = culex_enqueue_options_make();
    kit_letter_job job = kit_letter_job_make("ann");
    options.has_ticket = true;
    options.ticket = ticket;
    assert_int_equal(kit_letter_job_enqueue(culex_test_client(test), &job, &options, &id, NULL),
                     CULEX_OK);
    CULEX_TEST_COUNT(test, kit_letter_job, 2);
    CULEX_TEST_STATE(test, id, CULEX_RUN_WAITING);
}

static void the_first_answer_of_all_is_lost(void **state)
{
    culex_test *test = *state;
    culex_test_fail_store(test, 1, 1, CULEX_EUNKNOWN);
    assert_int_equal(letter_try(test, NULL, NULL), CULEX_EUNKNOWN);
    CULEX_TEST_COUNT(test, kit_letter_job, 1);
}

/* However often the client asks again, and whatever it could find out. */
static void the_answer_of_a_cancel_is_lost(void **state)
{
    culex_test *test = *state;
    culex_uuid id = letter_send(test, "ann");
    culex_test_fail_store(test, 1, 1, CULEX_EUNKNOWN);
    assert_int_equal(culex_client_cancel(culex_test_client(test), "mail", id, NULL, NULL),
                     CULEX_EUNKNOWN);
    CULEX_TEST_STATE(test, id, CULEX_RUN_CANCELLED);
}

static void a_look_without_an_answer_is_none(void **state)
{
    culex_test *test = *state;
    culex_run_info *info = NULL;
    culex_uuid id = letter_send(test, "ann");
    culex_test_fail_store(test, 1, 1, CULEX_EUNKNOWN);
    assert_int_equal(culex_client_get(culex_test_client(test), "mail", id, &info, NULL),
                     CULEX_EUNKNOWN);
    assert_null(info);
}

static culex_outcome letter_relay(culex_run *run, const kit_letter_job *job, void *user)
{
    culex_error error = {0};
    kit_receipt_job receipt = kit_receipt_job_make(job->to);
    (void)user;
    if (kit_receipt_job_enqueue(culex_run_client(run), &receipt, NULL, NULL, &error) != CULEX_OK)
        return culex_run_fail(run, "%s", culex_status_name(error.code));
    return CULEX_DONE;
}

static void a_handlers_calls_fail_and_the_workers_do_not(void **state)
{
    culex_test *test = *state;
    assert_int_equal(kit_letter_job_register(culex_test_worker(test), letter_relay, NULL),
                     CULEX_OK);
    culex_uuid id = letter_send(test, "ann");
    culex_test_fail_store(test, 1, 0, CULEX_EFULL);
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    assert_string_equal(CULEX_TEST_LAST(test, kit_letter_job)->text, "EFULL");
    CULEX_TEST_NONE(test, kit_receipt_job);
    culex_test_fail_store(test, 1, 0, CULEX_OK);
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_seconds(10)), 1);
    CULEX_TEST_STATE(test, id, CULEX_RUN_DONE);
    assert_string_equal(CULEX_TEST_ONE(test, kit_receipt_job)->to, "ann");
}

static void the_answer_to_a_handlers_first_call_is_lost(void **state)
{
    culex_test *test = *state;
    assert_int_equal(kit_letter_job_register(culex_test_worker(test), letter_relay, NULL),
                     CULEX_OK);
    letter_send(test, "ann");
    culex_test_fail_store(test, 1, 1, CULEX_EUNKNOWN);
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    assert_string_equal(CULEX_TEST_LAST(test, kit_letter_job)->text, "EUNKNOWN");
    assert_string_equal(CULEX_TEST_ONE(test, kit_receipt_job)->to, "ann");
}

static culex_outcome letter_follow(culex_run *run, const kit_letter_job *job, void *user)
{
    kit_receipt_job receipt = kit_receipt_job_make(job->to);
    if (kit_receipt_job_enqueue_from(run, &receipt, NULL, NULL) != CULEX_OK)
        return culex_run_fail(run, "not taken");
    CULEX_TEST_NONE(user, kit_receipt_job);
    return CULEX_DONE;
}

/* What comes in with a run's end comes in once, and asks the store for nothing. */
static void a_follow_up_is_not_doubled(void **state)
{
    culex_test *test = *state;
    assert_int_equal(kit_letter_job_register(culex_test_worker(test), letter_follow, test),
                     CULEX_OK);
    letter_send(test, "ann");
    culex_test_fail_store(test, 1, 0, CULEX_ECONNECT);
    culex_test_crash_next(test);
    assert_int_equal(CULEX_TEST_DRAIN(test), 1);
    CULEX_TEST_NONE(test, kit_receipt_job);
    assert_int_equal(CULEX_TEST_DRAIN_THROUGH(test, culex_seconds(10)), 1);
    CULEX_TEST_COUNT(test, kit_receipt_job, 1);
}

/* A thousand calls that fail, each after seconds of tries, are hours since boot. */
static void the_clock_of_tickets_keeps_up(void **state)
{
    culex_test *test = *state;
    (void)letter_send(test, "first");
    culex_test_fail_store(test, 1, 0, CULEX_ECONNECT);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(letter_try(test, NULL, NULL), CULEX_ECONNECT);
    culex_test_fail_store(test, 1, 0, CULEX_OK);
    assert_int_equal(letter_try(test, NULL, NULL), CULEX_OK);
    assert_int_equal(culex_test_now(test), CULEX_TEST_START);
}

/* --- NULL
 * ---------------------------------------------------------------------------------------------- */

static void nothing_is_no_kit(void **state)
{
    const culex_test_call *call = NULL;
    void *user = NULL;
    (void)state;
    assert_int_equal(culex_test_open(NULL, NULL, NULL), CULEX_EINVAL);
    culex_test_close(NULL);
    assert_null(culex_test_client(NULL));
    assert_null(culex_test_worker(NULL));
    assert_int_equal(culex_test_now(NULL), 0);
    culex_test_advance(NULL, 1);
    culex_test_set_now(NULL, CULEX_TEST_START);
    assert_false(culex_test_run_one(NULL, &call));
    assert_false(culex_test_drain(NULL, NULL));
    assert_false(culex_test_drain_through(NULL, 1, NULL));
    assert_int_equal(culex_test_call_count(NULL, NULL), 0);
    assert_null(culex_test_call_at(NULL, NULL, 0));
    assert_int_equal(culex_test_fake(NULL, &kit_letter_job_type, CULEX_DONE, NULL), CULEX_EINVAL);
    assert_int_equal(culex_test_fake_once(NULL, NULL, CULEX_DONE, NULL), CULEX_EINVAL);
    culex_test_crash_next(NULL);
    culex_test_fail_store(NULL, 1, 1, CULEX_ECONNECT);
    assert_int_equal(culex_test_pending(NULL, NULL), 0);
    assert_null(culex_test_run(NULL, NULL));
    assert_null(culex_test_one(NULL, NULL));
    assert_null(culex_test_find(NULL, NULL, NULL));
    assert_false(culex_test_count_is(NULL, NULL, 0));
    assert_false(culex_test_queue_is(NULL, NULL, NULL));
    assert_false(culex_test_priority_is(NULL, NULL, 0));
    assert_false(culex_test_delay_is(NULL, NULL, 0));
    assert_false(culex_test_tag_is(NULL, NULL, NULL));
    assert_false(culex_test_state_is(NULL, (culex_uuid){{0}}, CULEX_RUN_DONE));
    assert_false(culex_test_calls_are(NULL, NULL, 0));
    assert_null(culex_test_last(NULL, NULL));
    assert_false(culex_test_is(NULL, true, NULL));
    culex_test_on_failure(NULL, NULL, NULL);
    assert_non_null(culex_test_failure_of(NULL, &user));
    assert_non_null(culex_test_failure_of(NULL, NULL));
    assert_string_equal(culex_test_text(NULL), "no test kit: NULL was given for it");
    assert_null(culex_test_params(NULL));
}

static void nothing_is_no_job(void **state)
{
    culex_test *test = *state;
    assert_int_equal(culex_test_fake(test, NULL, CULEX_DONE, NULL), CULEX_EINVAL);
    assert_int_equal(culex_test_fake(test, &kit_letter_job_type, (culex_outcome)9, NULL),
                     CULEX_EINVAL);
    assert_null(culex_test_one(test, NULL));
    assert_string_equal(culex_test_text(test), "no job: NULL was given for its type");
    assert_null(culex_test_find(test, NULL, NULL));
    assert_null(culex_test_last(test, NULL));
    assert_false(culex_test_queue_is(test, NULL, NULL));
    letter_send(test, "ann");
    assert_false(culex_test_queue_is(test, &kit_letter_job_type, NULL));
    assert_false(culex_test_tag_is(test, &kit_letter_job_type, NULL));
    assert_non_null(culex_test_find(test, &kit_letter_job_type, NULL));
    assert_true(culex_test_run_one(test, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_KIT(a_fake_follows_its_script),
        WITH_KIT(a_fake_stands_before_the_handler),
        WITH_KIT(a_fake_leaves_room_for_the_handler),
        WITH_KIT(single_calls_come_before_the_script),
        WITH_KIT(a_script_that_has_ended_has_no_handler),
        WITH_KIT(a_fake_returns_what_the_next_step_takes),
        WITH_KIT(a_fake_returns_what_is_waited_for),
        WITH_KIT(what_is_no_result_is_no_fake),
        WITH_KIT(a_crash_is_tried_again),
        WITH_KIT(a_handler_sees_that_it_is_cancelled),
        WITH_KIT(the_next_call_fails),
        WITH_KIT(a_later_call_fails),
        WITH_KIT(the_first_call_of_all_is_one),
        WITH_KIT(advice_is_no_call),
        WITH_KIT(a_part_of_many_fails),
        WITH_KIT(all_calls_fail_until_that_is_lifted),
        WITH_KIT(an_answer_is_lost),
        WITH_KIT(the_first_answer_of_all_is_lost),
        WITH_KIT(the_answer_of_a_cancel_is_lost),
        WITH_KIT(a_look_without_an_answer_is_none),
        WITH_KIT(a_handlers_calls_fail_and_the_workers_do_not),
        WITH_KIT(the_answer_to_a_handlers_first_call_is_lost),
        WITH_KIT(a_follow_up_is_not_doubled),
        WITH_KIT(the_clock_of_tickets_keeps_up),
        WITH_KIT(nothing_is_no_kit),
        WITH_KIT(nothing_is_no_job),
    };
    return cmocka_run_group_tests_name("failures", tests, NULL, NULL);
}
