/* Batches where something is wrong beside them: a queue refuses a callback, a worker dies before it
 * has brought one, what is kept was damaged. No callback is lost, none comes in twice, no batch
 * ends too early or never. */
#include "fixture.h"

#include "base/instant.h"
#include "redis_check.h"

/* Those that stay are tried again in a while: the tests let it pass. */
static int64_t passed_ns;

static int64_t boottime(void *self)
{
    (void)self;
    return culex__env_boottime_ns(culex__env_system()) + passed_ns;
}

static int setup(void **state)
{
    struct fixture *f = *state;
    int failed = fixture_setup(state);
    f->env.boottime_ns = boottime;
    return failed;
}

static const culex_uuid batch = {"0123456789abcde"};

static void give(struct fixture *f, struct culex_batch_order order)
{
    order.queue = "q";
    order.id = batch;
    order.open_ms = order.keep_ms = 3600000;
    assert_ok(f->store->ops->batch(f->store, &order, &call_error));
}

/* With a callback into queue "away" and one member, which is returned. */
static culex_uuid batch_make(struct fixture *f)
{
    const struct culex_follow_up call = {"away", fixture_run()};
    struct culex_new_run run = fixture_run();
    give(f, (struct culex_batch_order){.act = CULEX_BATCH_OPEN});
    give(f, (struct culex_batch_order){
                .act = CULEX_BATCH_CALL, .when = CULEX_BATCH_ON_COMPLETE, .call = &call});
    run.has_batch = true;
    run.batch = batch;
    culex_uuid id = fixture_enqueue(f, &run);
    give(f, (struct culex_batch_order){.act = CULEX_BATCH_CLOSE});
    return id;
}

static void end(struct fixture *f, culex_uuid id, struct culex_step_reply *ret_reply)
{
    struct culex_ack ack = {.id = id, .attempt = fixture_claim(f, id), .event = CULEX_EVENT_DONE};
    struct culex_step step = fixture_step(f, SESSION_A, 0);
    step.acks = &ack;
    step.ack_count = 1;
    fixture_run_step(f, &step, ret_reply);
}

static uint64_t waiting(struct fixture *f, const char *queue)
{
    culex_queue_stats stats;
    assert_ok(f->store->ops->stats(f->store, queue, &stats, &call_error));
    return stats.count[CULEX_RUN_WAITING];
}

static void pass(struct fixture *f, const char *session)
{
    struct culex_step_reply reply;
    struct culex_step step = fixture_step(f, session, 0);
    passed_ns += 2000 * CULEX_MS_NS;
    fixture_run_step(f, &step, &reply);
    f->store->ops->step_release(f->store, &reply);
}

static void test_queue_that_refuses_a_callback_gets_it_later(void **state)
{
    struct fixture *f = *state;
    struct culex_step_reply reply;
    culex_uuid id = batch_make(f);
    fixture_say(f, "HSET culex:{away}:meta layout %s", "99");
    end(f, id, &reply);
    assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
    assert_int_equal(reply.follow_ups_left.code, CULEX_EVERSION);
    assert_false(reply.is_empty);
    f->store->ops->step_release(f->store, &reply);
    fixture_say(f, "DEL culex:{away}:%s", "meta");
    pass(f, SESSION_B); /* any worker's will do */
    assert_int_equal(waiting(f, "away"), 1);
    pass(f, SESSION_A);
    assert_int_equal(waiting(f, "away"), 1);
    assert_true(redis_check(&f->server, "culex", "q"));
    assert_true(redis_check(&f->server, "culex", "away"));
}

/* Whoever cancels the last one brings nothing himself. */
static void test_callback_of_a_cancel_is_brought_by_the_next_step(void **state)
{
    struct fixture *f = *state;
    culex_run_state after;
    assert_ok(f->store->ops->cancel(f->store, "q", batch_make(f), &after, &call_error));
    assert_int_equal(fixture_say(f, "LLEN culex:{q}:%s", "wake"), 1);
    assert_int_equal(fixture_say(f, "HEXISTS culex:{q}:meta %s", "calm"), 0);
    pass(f, SESSION_A);
    assert_int_equal(waiting(f, "away"), 1);
}

/* However many there are that another queue refuses, and however old. */
static void test_callback_waits_for_no_other_queue(void **state)
{
    struct fixture *f = *state;
    struct culex_step_reply reply;
    culex_uuid id = batch_make(f);
    fixture_say(f, "HSET culex:{shut}:meta layout %s", "99");
    freeReplyObject(redis_server_command(
        &f->server, "EVAL %s 1 culex:{q}:follow_ups",
        "for at = 1, 700 do redis.call('ZADD', KEYS[1], at, string.format('%016d', at) .. "
        "'shut\\n$1\\r\\na\\r\\n') end"));
    fixture_say(f, "HSET culex:{q}:meta follow_ups %s", "700");
    end(f, id, &reply);
    assert_int_equal(reply.follow_ups_left.code, CULEX_EVERSION);
    assert_false(reply.is_empty);
    f->store->ops->step_release(f->store, &reply);
    pass(f, SESSION_A);
    assert_int_equal(waiting(f, "away"), 1);
    assert_int_equal(fixture_say(f, "ZCARD culex:{q}:%s", "follow_ups"), 700);
}

/* Nobody else would look before a while is over; a pause keeps runs from starting, not callbacks
 * from coming in. */
static void test_death_that_a_hello_brings_wakes_a_worker(void **state)
{
    struct fixture *f = *state;
    char session[sizeof SESSION_A] = SESSION_A;
    culex_uuid id = batch_make(f);
    size_t released;
    int64_t now_ms;
    for (int i = 0; fixture_state(f, id) != CULEX_RUN_DEAD && i < 20; i++) {
        struct culex_step_reply reply;
        assert_ok(f->store->ops->pause(f->store, "q", false, &call_error));
        assert_ok(
            f->store->ops->hello(f->store, "q", "ann", session, &released, &now_ms, &call_error));
        struct culex_step step = fixture_step(f, session, 1);
        fixture_run_step(f, &step, &reply);
        assert_int_equal(reply.grant_count, 1);
        struct culex_beat beat = {
            .id = id, .attempt = reply.grants[0].facts.attempt, .is_started = true};
        f->store->ops->step_release(f->store, &reply);
        step = fixture_step(f, session, 0);
        step.beats = &beat;
        step.beat_count = 1;
        fixture_run_step(f, &step, &reply);
        f->store->ops->step_release(f->store, &reply);
        assert_ok(f->store->ops->pause(f->store, "q", true, &call_error));
        fixture_say(f, "DEL culex:{q}:%s", "wake");
        snprintf(session, sizeof session, "%016x", (unsigned)i + 1);
        assert_ok(
            f->store->ops->hello(f->store, "q", "ann", session, &released, &now_ms, &call_error));
    }
    assert_int_equal(fixture_state(f, id), CULEX_RUN_DEAD);
    assert_int_equal(fixture_say(f, "LLEN culex:{q}:%s", "wake"), 1);
}

/* Until then it may be looked at, as it may from the callback itself. */
static void test_batch_is_kept_while_its_callback_waits(void **state)
{
    struct fixture *f = *state;
    struct culex_step_reply reply;
    culex_batch_info info;
    culex_uuid id = batch_make(f);
    fixture_say(f, "HSET culex:{away}:meta layout %s", "99");
    end(f, id, &reply);
    f->store->ops->step_release(f->store, &reply);
    f->now_ms += 3600000;
    pass(f, SESSION_A);
    assert_ok(f->store->ops->batch_look(f->store, "q", batch, &info, &call_error));
    fixture_say(f, "DEL culex:{away}:%s", "meta");
    pass(f, SESSION_A);
    assert_int_equal(waiting(f, "away"), 1);
    f->now_ms += 60000;
    pass(f, SESSION_A);
    assert_int_equal(f->store->ops->batch_look(f->store, "q", batch, &info, NULL), CULEX_ENOTFOUND);
    assert_int_equal(fixture_say(f, "EXISTS culex:{q}:%s", "batches"), 0);
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

static void assert_ends_once(struct fixture *f, culex_uuid id)
{
    struct culex_step_reply reply;
    end(f, id, &reply);
    f->store->ops->step_release(f->store, &reply);
    pass(f, SESSION_A);
    assert_int_equal(waiting(f, "away"), 1);
}

static void test_fsck_finds_what_is_wrong_of_batches(void **state)
{
    /* Where no step would look; without a time; a time without a batch; of no batch; nothing at
     * all. */
    static const char *const wrongs[] = {"HDEL culex:{q}:meta batches",
                                         "ZREM culex:{q}:batches_until %b",
                                         "ZADD culex:{q}:batches_until 1 fedcba9876543210",
                                         "ZADD culex:{q}:batches_until 10000000000001 o%b",
                                         "HSET culex:{q}:batches cfedcba9876543210 %b",
                                         "HSET culex:{q}:batches odd %b"};
    struct fixture *f = *state;
    culex_uuid id = batch_make(f);
    assert_int_equal(fsck(f, false).wrong, 0);
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        freeReplyObject(redis_server_command(&f->server, wrongs[i], batch.b, sizeof batch.b));
        assert_int_equal(fsck(f, false).wrong, 1);
        assert_int_equal(fsck(f, true).wrong, 1);
        assert_int_equal(fsck(f, false).wrong, 0);
    }
    assert_ends_once(f, id);
}

/* The doctor would not see that nobody closes it. */
static void test_fsck_finds_an_open_batch_that_is_not_told_as_one(void **state)
{
    struct fixture *f = *state;
    const struct culex_batch_order order = {
        .act = CULEX_BATCH_OPEN, .queue = "q", .id = {{7}}, .open_ms = 3600000, .keep_ms = 3600000};
    struct culex_batch_review review;
    assert_ok(f->store->ops->batch(f->store, &order, &call_error));
    assert_int_equal(fsck(f, false).wrong, 0);
    freeReplyObject(redis_server_command(&f->server, "ZREM culex:{q}:batches_until o%b", order.id.b,
                                         sizeof order.id.b));
    assert_int_equal(fsck(f, false).wrong, 1);
    assert_int_equal(fsck(f, true).wrong, 1);
    assert_int_equal(fsck(f, false).wrong, 0);
    assert_ok(f->store->ops->batch_review(f->store, "q", &review, &call_error));
    assert_int_equal(review.open, 1);
    assert_in_range(review.open_since_ms, 1, review.now_ms);
}

/* Its run is gone, and told nobody: the batch would wait for ever. */
static void test_fsck_ends_a_member_without_a_run(void **state)
{
    struct fixture *f = *state;
    culex_batch_info info;
    culex_uuid id = batch_make(f);
    freeReplyObject(redis_server_command(&f->server, "HDEL culex:{q}:runs %b", id.b, sizeof id.b));
    fixture_say(f, "DEL culex:{q}:%s", "wake");
    assert_true(fsck(f, true).wrong > 0);
    assert_int_equal(fixture_say(f, "LLEN culex:{q}:%s", "wake"), 1);
    assert_int_equal(fsck(f, false).wrong, 0);
    assert_ok(f->store->ops->batch_look(f->store, "q", batch, &info, &call_error));
    assert_int_equal(info.cancelled, 1);
    pass(f, SESSION_A);
    assert_int_equal(waiting(f, "away"), 1);
}

static void say(struct fixture *f, const char *command)
{
    freeReplyObject(redis_server_command(&f->server, command, batch.b, sizeof batch.b));
}

/* It would wait for ever for what nobody knows of. */
static void test_fsck_counts_members_that_are_gone_as_cancelled(void **state)
{
    struct fixture *f = *state;
    culex_batch_info info;
    culex_uuid id = batch_make(f);
    freeReplyObject(
        redis_server_command(&f->server, "HDEL culex:{q}:batches m%b", id.b, sizeof id.b));
    fixture_say(f, "DEL culex:{q}:%s", "wake");
    assert_int_equal(fsck(f, false).wrong, 1);
    assert_int_equal(fsck(f, true).wrong, 1);
    assert_int_equal(fsck(f, false).wrong, 0);
    assert_int_equal(fixture_say(f, "LLEN culex:{q}:%s", "wake"), 1);
    assert_ok(f->store->ops->batch_look(f->store, "q", batch, &info, &call_error));
    assert_int_equal(info.added, 1);
    assert_int_equal(info.cancelled, 1);
    assert_true(info.is_ended);
    assert_ends_once(f, id);
}

/* What waits for the run beside the batch that is gone still does. */
static void test_fsck_keeps_the_other_batches_of_a_member(void **state)
{
    static const culex_uuid other = {"fedcba987654321"};
    struct fixture *f = *state;
    const struct culex_follow_up call = {"away", fixture_run()};
    culex_uuid id = batch_make(f);
    const struct culex_batch_order order = {.act = CULEX_BATCH_AFTER,
                                            .queue = "q",
                                            .id = other,
                                            .run = id,
                                            .keep_ms = 3600000,
                                            .when = CULEX_BATCH_ON_SUCCESS,
                                            .call = &call};
    assert_ok(f->store->ops->batch(f->store, &order, &call_error));
    assert_int_equal(fsck(f, false).wrong, 0);
    say(f, "HDEL culex:{q}:batches %b");
    say(f, "HDEL culex:{q}:batches c%b");
    say(f, "ZREM culex:{q}:batches_until %b");
    assert_int_equal(fsck(f, false).wrong, 1);
    assert_int_equal(fsck(f, true).wrong, 1);
    assert_int_equal(fsck(f, false).wrong, 0);
    assert_ends_once(f, id);
}

/* And it would not wait for who is there. */
static void test_fsck_counts_members_that_are_there(void **state)
{
    struct fixture *f = *state;
    culex_batch_info info;
    culex_uuid id = batch_make(f);
    freeReplyObject(redis_server_command(
        &f->server, "EVAL %s 1 culex:{q}:batches %b",
        "redis.call('HSET', KEYS[1], ARGV[1], (string.gsub(redis.call('HGET', KEYS[1], ARGV[1]), "
        "'^C|0|1|', 'C|0|0|')))",
        batch.b, sizeof batch.b));
    assert_int_equal(fsck(f, false).wrong, 1);
    assert_int_equal(fsck(f, true).wrong, 1);
    assert_int_equal(fsck(f, false).wrong, 0);
    assert_ok(f->store->ops->batch_look(f->store, "q", batch, &info, &call_error));
    assert_false(info.is_ended);
    assert_int_equal(info.added, 1);
    assert_ends_once(f, id);
}

/* It is lost, and may be given anew. */
static void test_fsck_tells_a_callback_that_is_gone(void **state)
{
    static const char *const damages[] = {"HDEL culex:{q}:batches c%b",
                                          "HSET culex:{q}:batches c%b away"};
    struct fixture *f = *state;
    const struct culex_follow_up call = {"away", fixture_run()};
    culex_uuid id = batch_make(f);
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        say(f, damages[i]);
        assert_int_equal(fsck(f, false).damaged, 1);
        assert_int_equal(fsck(f, true).damaged, 1);
        culex_fsck_counts counts = fsck(f, false);
        assert_int_equal(counts.wrong + counts.damaged, 0);
        give(f, (struct culex_batch_order){
                    .act = CULEX_BATCH_CALL, .when = CULEX_BATCH_ON_COMPLETE, .call = &call});
    }
    assert_ends_once(f, id);
}

static void test_batch_that_cannot_be_read_is_put_aside(void **state)
{
    struct fixture *f = *state;
    culex_batch_info info;
    culex_uuid id = batch_make(f);
    struct culex_step_reply reply;
    freeReplyObject(redis_server_command(&f->server, "HSET culex:{q}:batches %b garbage", batch.b,
                                         sizeof batch.b));
    assert_int_equal(f->store->ops->batch_look(f->store, "q", batch, &info, NULL), CULEX_ECORRUPT);
    end(f, id, &reply);
    assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
    f->store->ops->step_release(f->store, &reply);
    assert_int_equal(fsck(f, true).damaged, 1);
    fsck(f, true); /* what belonged to it */
    culex_fsck_counts counts = fsck(f, false);
    assert_int_equal(counts.wrong + counts.damaged, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_queue_that_refuses_a_callback_gets_it_later),
        TEST(test_callback_of_a_cancel_is_brought_by_the_next_step),
        TEST(test_callback_waits_for_no_other_queue),
        TEST(test_death_that_a_hello_brings_wakes_a_worker),
        TEST(test_batch_is_kept_while_its_callback_waits),
        TEST(test_fsck_finds_what_is_wrong_of_batches),
        TEST(test_fsck_finds_an_open_batch_that_is_not_told_as_one),
        TEST(test_fsck_ends_a_member_without_a_run),
        TEST(test_fsck_counts_members_that_are_gone_as_cancelled),
        TEST(test_fsck_keeps_the_other_batches_of_a_member),
        TEST(test_fsck_counts_members_that_are_there),
        TEST(test_fsck_tells_a_callback_that_is_gone),
        TEST(test_batch_that_cannot_be_read_is_put_aside),
    };
    return cmocka_run_group_tests_name("redis_batch", tests, fixture_group_setup,
                                       fixture_group_teardown);
}
