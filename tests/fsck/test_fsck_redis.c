/* fsck/test_fsck_redis.c - FSCK of a Redis queue with one thing wrong at a time.
 *
 * Each test seeds a queue with runs in every state, does one damage by hand, and holds a report to
 * the figures and to writing nothing, then a repair to a second report of nothing, to the offline
 * checker, and to a drain that ends every live run once. */
#include "fixture.h"

#include "redis_check.h"

enum {
    WAITING_A,
    WAITING_B,
    WAITING_C,
    URGENT_A,
    URGENT_B,
    SCHEDULED_A,
    SCHEDULED_B,
    ACTIVE_A,
    ACTIVE_B,
    DONE_A,
    DONE_B,
    DEAD_A,
    CANCELLED_A,
    CANCELLED_B,
    SEED_COUNT,
    LIVE_COUNT = 9,
    WORDS_MAX = 8
};

static culex_uuid ids[SEED_COUNT], stranger;

/* --- the queue that is damaged ---------------------------------------------------------- */

static void seed_put(struct fixture *fixture, int which, int priority, int64_t delay_ms)
{
    struct culex_new_run run = fixture_run(fixture);
    run.priority = priority;
    run.delay_ms = delay_ms;
    run.unique_key = which == WAITING_B ? "aa" : which == ACTIVE_B ? "bb" : NULL;
    run.attempts_max = 5;
    assert_int_equal(fixture_enqueue(fixture, &run), CULEX_ENQUEUED_NEW);
    ids[which] = run.id;
}

static void seed_end(struct fixture *fixture, int which, enum culex_run_event event)
{
    struct culex_ack ack = {.id = ids[which], .attempt = 1, .event = event};
    struct culex_step step = fixture_step(fixture, SESSION_A, 0);
    struct culex_step_reply reply;
    ack.text = event == CULEX_EVENT_DISCARD ? "no" : NULL;
    ack.result = event == CULEX_EVENT_DONE ? "1" : NULL;
    ack.result_len = event == CULEX_EVENT_DONE;
    step.acks = &ack;
    step.ack_count = 1;
    fixture_run_step(fixture, &step, &reply);
    assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
    fixture->backend->ops->step_release(fixture->backend, &reply);
}

static void seed_cancel(struct fixture *fixture, int which)
{
    culex_run_state state;
    assert_ok(
        fixture->backend->ops->cancel(fixture->backend, "q", ids[which], &state, &call_error));
}

static void seed(struct fixture *fixture)
{
    struct culex_new_run gone = fixture_run(fixture);
    assert_int_equal(fixture_enqueue(fixture, &gone), CULEX_ENQUEUED_NEW);
    fixture_claim(fixture, gone.id);
    fixture_ack(fixture, SESSION_A, gone.id, 1, CULEX_EVENT_DONE);
    assert_ok(fixture->backend->ops->forget(fixture->backend, "q", gone.id, &call_error));
    for (int which = ACTIVE_A; which <= DEAD_A; which++) {
        seed_put(fixture, which, 0, 0);
        fixture_claim(fixture, ids[which]);
    }
    seed_end(fixture, DONE_A, CULEX_EVENT_DONE);
    seed_end(fixture, DONE_B, CULEX_EVENT_DONE);
    seed_end(fixture, DEAD_A, CULEX_EVENT_DISCARD);
    for (int which = WAITING_A; which <= SCHEDULED_B; which++)
        seed_put(fixture, which,
                 which == URGENT_A   ? 5
                 : which == URGENT_B ? 9
                                     : 0,
                 which >= SCHEDULED_A ? 5000 : 0);
    seed_put(fixture, CANCELLED_A, 0, 5000);
    seed_put(fixture, CANCELLED_B, 0, 0);
    seed_cancel(fixture, CANCELLED_A);
    seed_cancel(fixture, CANCELLED_B); /* leaves a ghost */
    stranger = fixture_id_at(fixture, fixture->now_ms);
    assert_true(redis_check(&fixture->server, "culex", "q"));
}

/* --- looking and repairing -------------------------------------------------------------- */

static culex_fsck_counts fsck(struct fixture *fixture, bool is_repairing)
{
    struct culex_fsck_reply reply = {.cursor = 0};
    culex_fsck_counts counts = {0};
    int calls = 0;
    do {
        assert_ok(fixture->backend->ops->fsck(fixture->backend, "q", reply.cursor, is_repairing,
                                              &reply, &call_error));
        counts.records += reply.counts.records;
        counts.wrong += reply.counts.wrong;
        counts.damaged += reply.counts.damaged;
        assert_true(++calls < 10000);
    } while (reply.cursor != 0);
    return counts;
}

/* Every key of the server with all that it holds, for comparison. */
static char *dump(struct fixture *fixture, size_t *ret_len)
{
    static const char script[] =
        "local all, names = {}, redis.call('KEYS', '*') table.sort(names) "
        "for at, key in ipairs(names) do "
        "all[at] = key .. redis.call('PTTL', key) .. redis.call('DUMP', key) end "
        "return table.concat(all)";
    redisReply *reply = redis_server_command(&fixture->server, "EVAL %s 0", script);
    assert_non_null(reply);
    assert_int_equal(reply->type, REDIS_REPLY_STRING);
    char *text = malloc(reply->len + 1);
    assert_non_null(text);
    memcpy(text, reply->str, reply->len + 1);
    *ret_len = reply->len;
    freeReplyObject(reply);
    return text;
}

static culex_fsck_counts report(struct fixture *fixture)
{
    size_t before_len, after_len;
    char *before = dump(fixture, &before_len);
    culex_fsck_counts counts = fsck(fixture, false);
    char *after = dump(fixture, &after_len);
    assert_int_equal(before_len, after_len);
    assert_memory_equal(before, after, before_len);
    free(before);
    free(after);
    return counts;
}

/* Executes everything; returns how many runs were done. */
static size_t drain(struct fixture *fixture)
{
    size_t done = 0;
    bool is_empty = false;
    fixture->now_ms += 20000; /* leases end, scheduled runs are due */
    for (int calls = 0; calls < 100 && !is_empty; calls++) {
        struct culex_step_reply reply;
        struct culex_step step = fixture_step(fixture, SESSION_B, 4);
        fixture_run_step(fixture, &step, &reply);
        for (size_t i = 0; i < reply.grant_count; i++)
            assert_int_equal(fixture_ack(fixture, SESSION_B, reply.grants[i].id,
                                         reply.grants[i].attempt, CULEX_EVENT_DONE),
                             CULEX_ANSWER_OK);
        done += reply.grant_count;
        is_empty = reply.is_empty;
        fixture->backend->ops->step_release(fixture->backend, &reply);
    }
    assert_true(is_empty);
    return done;
}

static void expect(struct fixture *fixture, uint64_t wrong, uint64_t spoilt)
{
    culex_fsck_counts seen = report(fixture);
    assert_int_equal(seen.wrong, wrong);
    assert_int_equal(seen.damaged, spoilt);
    seen = fsck(fixture, true);
    assert_int_equal(seen.wrong, wrong);
    assert_int_equal(seen.damaged, spoilt);
    assert_true(redis_check(&fixture->server, "culex", "q"));
    seen = report(fixture);
    assert_int_equal(seen.wrong, 0);
    assert_int_equal(seen.damaged, 0);
}

static void expect_and_drain(struct fixture *fixture, uint64_t wrong, uint64_t spoilt, size_t live)
{
    expect(fixture, wrong, spoilt);
    assert_int_equal(drain(fixture), live);
    assert_int_equal(fsck(fixture, false).wrong, 0);
    assert_true(redis_check(&fixture->server, "culex", "q"));
}

/* A command on key `name` of the queue; `%b` of `words` takes the id. */
static void damage(struct fixture *fixture, const char *verb, const char *name, const char *words,
                   culex_uuid id)
{
    char line[256];
    snprintf(line, sizeof line, "%s culex:{q}:%s %s", verb, name, words);
    redisReply *reply = redis_server_command(&fixture->server, line, &id, sizeof id);
    assert_non_null(reply);
    assert_int_not_equal(reply->type, REDIS_REPLY_ERROR);
    freeReplyObject(reply);
}

/* --- tests ------------------------------------------------------------------------------ */

static void test_sound_queue_counts_nothing(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(report(fixture).records, 0);
    seed(fixture);
    assert_int_equal(report(fixture).records, SEED_COUNT);
    expect_and_drain(fixture, 0, 0, LIVE_COUNT);
}

/* An index, how many runs are in it, one of them. */
static const struct {
    const char *name;
    int members, member;
} sets[] = {{"scheduled", 2, SCHEDULED_A}, {"active", 2, ACTIVE_A}, {"done", 2, DONE_A},
            {"dead", 1, DEAD_A},           {"urgent", 2, URGENT_B}, {"cancelled", 2, CANCELLED_B}};
enum { SETS = sizeof sets / sizeof sets[0] };

static void again(struct fixture *fixture)
{
    void *state = fixture;
    assert_int_equal(fixture_teardown(&state), 0);
    assert_int_equal(fixture_setup(&state), 0);
    seed(fixture);
}

static void test_lost_index_is_rebuilt(void **state)
{
    for (size_t i = 0; i < SETS; i++) {
        again(*state);
        damage(*state, "DEL", sets[i].name, "", stranger);
        expect_and_drain(*state, (uint64_t)sets[i].members, 0, LIVE_COUNT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sound_queue_counts_nothing, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_lost_index_is_rebuilt, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
