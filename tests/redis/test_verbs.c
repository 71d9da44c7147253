/* Every verb of the Redis store and every outcome, on a real server. */
#include "fixture.h"

static void test_step__claims_and_acks(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run(f);
    struct culex_step step = fixture_step(f, SESSION_A, 5);
    struct culex_step_reply reply;
    assert_int_equal(fixture_enqueue(f, &run), CULEX_ENQUEUED_NEW);
    fixture_run_step(f, &step, &reply);
    assert_int_equal(reply.grant_count, 1);
    assert_memory_equal(&reply.grants[0].id, &run.id, sizeof run.id);
    assert_int_equal(reply.grants[0].attempt, 1);
    assert_string_equal(reply.grants[0].job, "shop.send_email");
    assert_int_equal(reply.grants[0].payload_len, 10);
    assert_memory_equal(reply.grants[0].payload, run.payload, 10);
    assert_true(reply.grants[0].fingerprint == run.fingerprint);
    assert_int_equal(reply.grants[0].created_at_ms, f->now_ms);
    assert_int_equal(reply.due_in_ms, 1000);
    assert_int_equal(reply.now_ms, f->now_ms);
    assert_false(reply.is_empty);
    f->backend->ops->step_release(f->backend, &reply);
    assert_int_equal(fixture_state(f, run.id), CULEX_RUN_ACTIVE);
    assert_int_equal(fixture_ack(f, SESSION_A, run.id, 1, CULEX_EVENT_DONE), CULEX_ANSWER_OK);
    assert_int_equal(fixture_state(f, run.id), CULEX_RUN_DONE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_step__claims_and_acks),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
