/* Idle workers sleep in the server and are woken by work. */
#include "fixture.h"

#include <poll.h>

static int arm(struct fixture *f, int64_t timeout_ms)
{
    static const char *const queues[] = {"other", "q"};
    int fd = -1;
    assert_ok(f->store->ops->wake_arm(f->store, queues, 2, timeout_ms, &fd, &call_error));
    assert_true(fd >= 0);
    return fd;
}

static bool is_woken(struct fixture *f, int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    bool woken;
    assert_int_equal(poll(&wait, 1, 60000), 1);
    assert_ok(f->store->ops->wake_take(f->store, &woken, &call_error));
    return woken;
}

static void test_wake__enqueue_wakes(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    int fd = arm(f, 60000);
    assert_int_equal(arm(f, 60000), fd);
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&wait, 1, 0), 0);
    fixture_enqueue(f, &run);
    assert_true(is_woken(f, fd));
}

static void test_wake__ends_without_work(void **state)
{
    struct fixture *f = *state;
    assert_false(is_woken(f, arm(f, 20)));
    /* The connection is good for another time. */
    struct culex_new_run run = fixture_run();
    int fd = arm(f, 60000);
    fixture_enqueue(f, &run);
    assert_true(is_woken(f, fd));
}

static long long tokens(struct fixture *f)
{
    return fixture_say(f, "LLEN %s", "culex:{q}:wake");
}

static void test_wake__one_token_and_whoever_leaves_work_leaves_another(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run runs[3];
    culex_uuid ids[3];
    for (int i = 0; i < 3; i++) {
        runs[i] = fixture_run();
        ids[i] = fixture_enqueue(f, &runs[i]);
    }
    assert_int_equal(tokens(f), 1);
    assert_true(is_woken(f, arm(f, 60000)));
    assert_int_equal(tokens(f), 0);
    fixture_claim(f, ids[0]);
    assert_int_equal(tokens(f), 1);
    assert_true(is_woken(f, arm(f, 60000)));
    fixture_claim(f, ids[1]);
    assert_int_equal(tokens(f), 1);
    assert_true(is_woken(f, arm(f, 60000)));
    fixture_claim(f, ids[2]);
    assert_int_equal(tokens(f), 0);
}

static void test_wake__a_release_by_a_full_worker_wakes_another(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    culex_uuid run_id = fixture_enqueue(f, &run);
    assert_true(is_woken(f, arm(f, 60000)));
    fixture_claim(f, run_id);
    int fd = arm(f, 60000);
    assert_int_equal(fixture_ack(f, SESSION_A, run_id, 1, CULEX_EVENT_RELEASE), CULEX_ANSWER_OK);
    assert_true(is_woken(f, fd));
}

/* The token of those who offer what a run needs goes with the last such run. */
static void test_wake__token_of_needs_goes_with_them(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    const struct culex_run_limit limit = {CULEX_LIMIT_NEEDS, "needs gpu:1", NULL, .count = 0};
    struct culex_step_reply reply;
    run.limits = &limit;
    run.limit_count = 1;
    culex_uuid run_id = fixture_enqueue(f, &run);
    assert_int_equal(fixture_say(f, "LLEN %s", "culex:{q}:wake gpu:1"), 1);
    struct culex_step step = fixture_step(f, SESSION_A, 1);
    step.offers = "gpu:1";
    fixture_run_step(f, &step, &reply);
    assert_int_equal(reply.grant_count, 1);
    f->store->ops->step_release(f->store, &reply);
    assert_int_equal(fixture_ack(f, SESSION_A, run_id, 1, CULEX_EVENT_DONE), CULEX_ANSWER_OK);
    assert_int_equal(fixture_say(f, "EXISTS %s", "culex:{q}:wake gpu:1"), 0);
}

/* Who takes a token and has no room passes it on, even with nothing to report. */
static void test_wake__a_full_worker_hands_its_token_on(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    struct culex_step_reply reply;
    fixture_enqueue(f, &run);
    assert_true(is_woken(f, arm(f, 60000)));
    assert_int_equal(tokens(f), 0);
    struct culex_step step = fixture_step(f, SESSION_A, 0);
    fixture_run_step(f, &step, &reply);
    assert_int_equal(reply.grant_count, 0);
    f->store->ops->step_release(f->store, &reply);
    assert_int_equal(tokens(f), 1);
}

/* What comes due later, too: its enqueue has woken nobody else. */
static void test_wake__a_full_worker_hands_on_what_comes_due(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    struct culex_step_reply reply;
    run.delay_ms = 10000;
    fixture_enqueue(f, &run);
    assert_true(is_woken(f, arm(f, 60000)));
    for (uint32_t want = 0; want < 2; want++) {
        struct culex_step step = fixture_step(f, SESSION_A, want);
        fixture_run_step(f, &step, &reply);
        f->store->ops->step_release(f->store, &reply);
        assert_int_equal(tokens(f), want == 0);
        if (want == 0)
            assert_true(is_woken(f, arm(f, 60000)));
    }
    assert_ok(f->store->ops->pause(f->store, "q", true, &call_error));
    struct culex_step step = fixture_step(f, SESSION_A, 0);
    fixture_run_step(f, &step, &reply);
    f->store->ops->step_release(f->store, &reply);
    assert_int_equal(tokens(f), 0);
}

static void test_wake__resume_wakes_and_a_paused_queue_does_not_spin(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    struct culex_step_reply reply;
    fixture_enqueue(f, &run);
    assert_ok(f->store->ops->pause(f->store, "q", true, &call_error));
    assert_true(is_woken(f, arm(f, 60000)));
    struct culex_step step = fixture_step(f, SESSION_A, 1);
    fixture_run_step(f, &step, &reply);
    assert_true(reply.is_paused);
    assert_int_equal(reply.grant_count, 0);
    f->store->ops->step_release(f->store, &reply);
    fixture_enqueue(f, &run);
    assert_int_equal(tokens(f), 0);
    assert_ok(f->store->ops->pause(f->store, "q", false, &call_error));
    assert_int_equal(tokens(f), 1);
}

static void test_wake__a_full_worker_hands_on_when_a_pause_ends(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    struct culex_step_reply reply;
    fixture_enqueue(f, &run);
    assert_true(is_woken(f, arm(f, 60000)));
    assert_ok(f->store->ops->pause_for(f->store, "q", 60000, &call_error));
    assert_true(is_woken(f, arm(f, 60000)));
    for (uint32_t want = 0; want < 2; want++) {
        struct culex_step step = fixture_step(f, SESSION_A, want);
        fixture_run_step(f, &step, &reply);
        assert_true(reply.is_paused);
        f->store->ops->step_release(f->store, &reply);
        assert_int_equal(tokens(f), want == 0);
        if (want == 0)
            assert_true(is_woken(f, arm(f, 60000)));
    }
}

static void test_wake__a_killed_connection_is_an_error_then_a_new_one(void **state)
{
    struct fixture *f = *state;
    int fd = arm(f, 60000);
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    bool woken;
    assert_true(fixture_say(f, "CLIENT KILL TYPE normal SKIPME %s", "yes") >= 1);
    assert_int_equal(poll(&wait, 1, 60000), 1);
    assert_int_not_equal(f->store->ops->wake_take(f->store, &woken, NULL), CULEX_OK);
    struct culex_new_run run = fixture_run();
    fd = arm(f, 60000);
    fixture_enqueue(f, &run);
    assert_true(is_woken(f, fd));
}

/* --- those who wait for an end ----------------------------------------------------------- */

static void note(struct fixture *f, culex_uuid id)
{
    culex_run_state state;
    assert_ok(f->store->ops->wait(f->store, "q", &id, 1, 20000, &state, &call_error));
}

static void cancel(struct fixture *f, culex_uuid id)
{
    culex_run_state state;
    assert_ok(f->store->ops->cancel(f->store, "q", id, &state, &call_error));
}

static void step_at(struct fixture *f, int64_t now_ms)
{
    struct culex_step_reply reply;
    struct culex_step step = fixture_step(f, SESSION_A, 1);
    f->now_ms = now_ms;
    fixture_run_step(f, &step, &reply);
    f->store->ops->step_release(f->store, &reply);
}

static long long lists_left(struct fixture *f)
{
    redisReply *reply = redis_server_command(&f->server, "KEYS culex:{q}:wake*@*");
    assert_non_null(reply);
    long long count = (long long)reply->elements;
    freeReplyObject(reply);
    return count;
}

/* As of one that was killed. */
static void test_wait__word_that_nobody_takes_goes(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    for (int i = 0; i < 3; i++) {
        culex_uuid id = fixture_enqueue(f, &run);
        note(f, id);
        cancel(f, id);
    }
    assert_int_equal(lists_left(f), 1);
    int64_t end_ms = f->now_ms + CULEX_WAIT_KEEP_MS;
    step_at(f, end_ms - 1);
    assert_int_equal(lists_left(f), 1);
    step_at(f, end_ms);
    assert_int_equal(lists_left(f), 0);
    assert_int_equal(fixture_say(f, "EXISTS culex:{q}:waits culex:{q}:%s", "waits_until"), 0);
    assert_int_equal(fixture_say(f, "HEXISTS culex:{q}:meta %s", "waits"), 0);
}

static culex_fsck_counts fsck(struct fixture *f, bool is_repairing)
{
    struct culex_fsck_reply reply = {.cursor = 0};
    culex_fsck_counts counts = {0};
    do {
        assert_ok(
            f->store->ops->fsck(f->store, "q", reply.cursor, is_repairing, &reply, &call_error));
        counts.wrong += reply.counts.wrong;
        counts.damaged += reply.counts.damaged;
    } while (reply.cursor != 0);
    return counts;
}

static void test_wait__fsck_finds_notes_that_would_stay(void **state)
{
    /* Of no run, without a note, where no step would look, for ever, without a time. */
    static const char *const wrongs[] = {
        "HSET culex:{q}:waits 0123456789abcdef %b", "ZADD culex:{q}:waits_until 1 0123456789abcdef",
        "HDEL culex:{q}:meta waits", "ZADD culex:{q}:waits_until 99999999999999 %b",
        "ZREM culex:{q}:waits_until %b"};
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    culex_uuid id = fixture_enqueue(f, &run);
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        note(f, id);
        assert_int_equal(fsck(f, false).wrong, 0);
        freeReplyObject(redis_server_command(&f->server, wrongs[i], id.b, sizeof id.b));
        assert_int_equal(fsck(f, false).wrong, 1);
        assert_int_equal(fsck(f, true).wrong, 1);
        assert_int_equal(fsck(f, false).wrong, 0);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_wake__enqueue_wakes),
        TEST(test_wake__ends_without_work),
        TEST(test_wake__token_of_needs_goes_with_them),
        TEST(test_wake__one_token_and_whoever_leaves_work_leaves_another),
        TEST(test_wake__a_release_by_a_full_worker_wakes_another),
        TEST(test_wake__a_full_worker_hands_its_token_on),
        TEST(test_wake__a_full_worker_hands_on_what_comes_due),
        TEST(test_wake__a_full_worker_hands_on_when_a_pause_ends),
        TEST(test_wake__resume_wakes_and_a_paused_queue_does_not_spin),
        TEST(test_wake__a_killed_connection_is_an_error_then_a_new_one),
        TEST(test_wait__word_that_nobody_takes_goes),
        TEST(test_wait__fsck_finds_notes_that_would_stay),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
