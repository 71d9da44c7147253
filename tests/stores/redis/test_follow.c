/* Follow-ups that cannot be brought at once: a queue refuses them, a worker dies between the end
 * and the bringing, something else stands where they are kept. None is lost, none comes in twice.
 */
#include "fixture.h"

#include "base/instant.h"
#include "redis_check.h"

static const char *const kept = "ZCARD culex:{q}:%s";

/* Those that stay are tried again in a while: the tests let it pass. */
static int64_t passed_ns;

static int64_t boottime(void *self)
{
    (void)self;
    return culex__env_boottime_ns(culex__env_system()) + passed_ns;
}

static void let_pass(void)
{
    passed_ns += 2000 * CULEX_MS_NS;
}

static int setup(void **state)
{
    struct fixture *f = *state;
    int failed = fixture_setup(state);
    f->env.boottime_ns = boottime;
    return failed;
}

/* Ends a run of "q" with a follow-up in each of two queues; the reply is to be released. */
static void end_with_two(struct fixture *f, struct culex_step_reply *ret_reply)
{
    struct culex_new_run run = fixture_run();
    struct culex_follow_up follow_ups[] = {{"q", fixture_run()}, {"away", fixture_run()}};
    culex_uuid id = fixture_enqueue(f, &run);
    struct culex_ack ack = {.id = id,
                            .attempt = fixture_claim(f, id),
                            .event = CULEX_EVENT_DONE,
                            .follow_ups = follow_ups,
                            .follow_up_count = 2};
    struct culex_step step = fixture_step(f, SESSION_A, 0);
    step.acks = &ack;
    step.ack_count = 1;
    fixture_run_step(f, &step, ret_reply);
    assert_int_equal(ret_reply->acks[0], CULEX_ANSWER_OK);
}

static struct culex_step_reply next_step(struct fixture *f, const char *session)
{
    struct culex_step step = fixture_step(f, session, 0);
    struct culex_step_reply reply;
    fixture_run_step(f, &step, &reply);
    struct culex_step_reply copy = reply; /* but for what it points to */
    f->store->ops->step_release(f->store, &reply);
    return copy;
}

static uint64_t waiting(struct fixture *f, const char *queue)
{
    culex_queue_stats stats;
    assert_ok(f->store->ops->stats(f->store, queue, &stats, &call_error));
    return stats.count[CULEX_RUN_WAITING];
}

static void test_queue_that_refuses_them_gets_them_later(void **state)
{
    struct fixture *f = *state;
    struct culex_step_reply reply;
    fixture_say(f, "HSET culex:{away}:meta layout %s", "99");
    end_with_two(f, &reply);
    assert_int_equal(reply.follow_ups_left.code, CULEX_EVERSION);
    assert_non_null(strstr(reply.follow_ups_left.text, "follow-ups into queue away"));
    assert_false(reply.is_empty);
    assert_in_range(reply.due_in_ms, 0, 1000);
    f->store->ops->step_release(f->store, &reply);
    assert_int_equal(waiting(f, "q"), 1);
    assert_int_equal(fixture_say(f, kept, "follow_ups"), 1);
    assert_int_equal(next_step(f, SESSION_A).follow_ups_left.code, CULEX_EVERSION);
    fixture_say(f, "DEL culex:{away}:%s", "meta");
    reply = next_step(f, SESSION_A); /* too soon for a try */
    assert_int_equal(reply.follow_ups_left.code, CULEX_EVERSION);
    assert_false(reply.is_empty || reply.has_brought);
    let_pass();
    reply = next_step(f, SESSION_B); /* any worker's will do */
    assert_int_equal(reply.follow_ups_left.code, CULEX_OK);
    assert_true(reply.has_brought);
    assert_int_equal(fixture_say(f, kept, "follow_ups"), 0);
    assert_int_equal(waiting(f, "away"), 1);
    assert_int_equal(waiting(f, "q"), 1);
    next_step(f, SESSION_A);
    assert_int_equal(fixture_say(f, "HEXISTS culex:{q}:meta %s", "follow_ups"), 0);
    assert_int_equal(waiting(f, "away"), 1);
    assert_true(redis_check(&f->server, "culex", "q"));
    assert_true(redis_check(&f->server, "culex", "away"));
}

/* As a worker leaves it that dies before it has brought them: a queue is not calm meanwhile, so
 * that no quick step overlooks them. */
static void test_what_a_dead_worker_has_left_is_brought(void **state)
{
    struct fixture *f = *state;
    struct culex_step_reply reply;
    fixture_say(f, "HSET culex:{away}:meta layout %s", "99");
    end_with_two(f, &reply);
    f->store->ops->step_release(f->store, &reply);
    assert_int_equal(fixture_say(f, "HEXISTS culex:{q}:meta %s", "calm"), 0);
    fixture_say(f, "DEL culex:{away}:%s", "meta");
    size_t released;
    int64_t now_ms;
    struct culex_store *other = fixture_open(f, f->server.url);
    struct culex_step step = fixture_step(f, SESSION_B, 1);
    assert_ok(other->ops->hello(other, "q", "bob", SESSION_B, &released, &now_ms, &call_error));
    assert_ok(other->ops->step(other, &step, &reply, &call_error));
    assert_int_equal(reply.follow_ups_left.code, CULEX_OK);
    other->ops->step_release(other, &reply);
    other->ops->close(other);
    assert_int_equal(waiting(f, "away"), 1);
}

static void test_what_cannot_be_read_is_put_aside(void **state)
{
    static const char *const wrongs[] = {"0123456789abcdefq\n$3\r\nab",
                                         "0123456789abcdefq\n$1\r\na\r\n", "0123456789abcdefq\n$x",
                                         /* Of a run in form, and not in sense. */
                                         ("0123456789abcdefq\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"
                                          "$1\r\nd\r\n$1\r\ne\r\n$1\r\nf\r\n")};
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    fixture_enqueue(f, &run);
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        fixture_say(f, "ZADD culex:{q}:follow_ups 1 %s", wrongs[i]);
        fixture_say(f, "HSET culex:{q}:meta follow_ups %s", "1");
        struct culex_step_reply reply = next_step(f, SESSION_A);
        assert_string_equal(reply.follow_ups_left.text, "");
        assert_int_equal(fixture_say(f, kept, "follow_ups"), 0);
        assert_int_equal(fixture_say(f, "HDEL culex:{q}:damaged %s", "0123456789abcdef"), 1);
    }
    assert_int_equal(waiting(f, "q"), 1);
}

static culex_fsck_counts fsck(struct fixture *f, bool is_repairing)
{
    culex_fsck_counts counts = {0};
    uint64_t cursor = 0;
    do {
        struct culex_fsck_reply reply;
        assert_ok(f->store->ops->fsck(f->store, "q", cursor, is_repairing, &reply, &call_error));
        counts.wrong += reply.counts.wrong;
        counts.damaged += reply.counts.damaged;
        cursor = reply.cursor;
    } while (cursor != 0);
    return counts;
}

static void test_fsck_finds_those_that_nobody_looks_for(void **state)
{
    struct fixture *f = *state;
    struct culex_step_reply reply;
    fixture_say(f, "HSET culex:{away}:meta layout %s", "99");
    end_with_two(f, &reply);
    f->store->ops->step_release(f->store, &reply);
    assert_int_equal(fsck(f, false).wrong, 0);
    fixture_say(f, "HDEL culex:{q}:meta %s", "follow_ups");
    fixture_say(f, "ZADD culex:{q}:follow_ups 1 %s", "nowhere");
    assert_int_equal(fsck(f, false).wrong, 1);
    assert_int_equal(fsck(f, true).damaged, 1);
    assert_int_equal(fsck(f, false).wrong, 0);
    fixture_say(f, "DEL culex:{away}:%s", "meta");
    let_pass();
    next_step(f, SESSION_A);
    assert_int_equal(waiting(f, "away"), 1);
}

/* More runs than one call of the script brings, and a name that is none, which is nobody's affair.
 */
static void test_many_are_brought_in_several_calls(void **state)
{
    enum { MANY = 30 };
    static struct culex_follow_up follow_ups[CULEX_FOLLOW_UPS_MAX];
    struct fixture *f = *state;
    struct culex_ack acks[MANY];
    struct culex_new_run run = fixture_run();
    struct culex_step_reply reply;
    for (size_t i = 0; i < CULEX_FOLLOW_UPS_MAX; i++)
        follow_ups[i] = (struct culex_follow_up){"away", fixture_run()};
    for (size_t i = 0; i < MANY; i++) {
        culex_uuid id = fixture_enqueue(f, &run);
        acks[i] = (struct culex_ack){.id = id,
                                     .attempt = fixture_claim(f, id),
                                     .event = CULEX_EVENT_DONE,
                                     .follow_ups = follow_ups,
                                     .follow_up_count = CULEX_FOLLOW_UPS_MAX};
    }
    fixture_say(f, "ZADD culex:{q}:follow_ups 0 %s", "0123456789abcdefno name\nx");
    struct culex_step step = fixture_step(f, SESSION_A, 0);
    step.acks = acks;
    step.ack_count = MANY;
    fixture_run_step(f, &step, &reply);
    assert_string_equal(reply.follow_ups_left.text, "");
    f->store->ops->step_release(f->store, &reply);
    assert_int_equal(waiting(f, "away"), MANY * CULEX_FOLLOW_UPS_MAX);
    assert_int_equal(fixture_say(f, kept, "follow_ups"), 1);
    assert_int_not_equal(next_step(f, SESSION_A).due_in_ms, 0);
    assert_int_equal(fsck(f, true).damaged, 1);
    assert_int_equal(fixture_say(f, kept, "follow_ups"), 0);
}

/* Nothing of it may need memory that the server has not: the end is recorded, what comes in waits.
 */
static void test_server_without_memory_keeps_them(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    culex_uuid id = fixture_enqueue(f, &run);
    struct culex_follow_up follow_up = {"q", fixture_run()};
    struct culex_ack ack = {.id = id,
                            .attempt = fixture_claim(f, id),
                            .event = CULEX_EVENT_DONE,
                            .follow_ups = &follow_up,
                            .follow_up_count = 1};
    struct culex_step step = fixture_step(f, SESSION_A, 0);
    struct culex_step_reply reply;
    step.acks = &ack;
    step.ack_count = 1;
    fixture_say(f, "CONFIG SET maxmemory %s", "1");
    fixture_run_step(f, &step, &reply);
    assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
    assert_int_equal(reply.follow_ups_left.code, CULEX_EFULL);
    f->store->ops->step_release(f->store, &reply);
    assert_int_equal(fixture_state(f, id), CULEX_RUN_DONE);
    fixture_say(f, "CONFIG SET maxmemory %s", "0");
    let_pass();
    assert_string_equal(next_step(f, SESSION_A).follow_ups_left.text, "");
    assert_int_equal(waiting(f, "q"), 1);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_queue_that_refuses_them_gets_them_later),
        TEST(test_what_a_dead_worker_has_left_is_brought),
        TEST(test_what_cannot_be_read_is_put_aside),
        TEST(test_fsck_finds_those_that_nobody_looks_for),
        TEST(test_many_are_brought_in_several_calls),
        TEST(test_server_without_memory_keeps_them),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
