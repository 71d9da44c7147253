/* fsck/test_fsck_limits.c - FSCK of a Redis queue whose runs have limits, and keys for a time.
 *
 * As test_fsck_redis.c, one damage at a time: an entry that is missing, one too much, one that is
 * nothing. Where limits were damaged the queue is worked off, and nothing of them remains. */
#include "look.h"

#include "redis_check.h"

enum { LIVE_COUNT = 9 };

#define CONCURRENCY(key)                                                                           \
    {                                                                                              \
        CULEX_LIMIT_CONCURRENCY, "j:c", key, 1, 0, 0                                               \
    }
#define WIDE(key)                                                                                  \
    {                                                                                              \
        CULEX_LIMIT_CONCURRENCY, "j:d", key, 5, 0, 0                                               \
    }
#define RATE(key)                                                                                  \
    {                                                                                              \
        CULEX_LIMIT_RATE, "j:r", key, 1, 1000, 1                                                   \
    }
#define FAIR(key)                                                                                  \
    {                                                                                              \
        CULEX_LIMIT_FAIR, "j:f", key, 0, 0, 0                                                      \
    }

/* --- the queue that is damaged --------------------------------------------------------------- */

static culex_uuid at_work; /* at the concurrency's only place */

static culex_uuid put(struct fixture *fixture, const struct culex_run_limit *limits, size_t count)
{
    struct culex_new_run run = fixture_run();
    run.limits = limits;
    run.limit_count = count;
    return fixture_enqueue(fixture, &run);
}

/* Of the concurrency and of the rate one at work and those that are parked; three that stand in the
 * ready order, one at two gates; one whose unique key is kept for a time. */
static void seed(struct fixture *fixture)
{
    static const struct culex_run_limit one = CONCURRENCY("a"), rate = RATE("b"), fair = FAIR("t"),
                                        both[] = {WIDE(""), CONCURRENCY("b")};
    struct culex_new_run run = fixture_run();
    at_work = put(fixture, &one, 1);
    fixture_claim(fixture, at_work);
    fixture_claim(fixture, put(fixture, &rate, 1));
    put(fixture, &one, 1);
    put(fixture, &one, 1);
    put(fixture, &rate, 1);
    put(fixture, &fair, 1);
    put(fixture, &both[0], 1);
    put(fixture, both, 2);
    run.unique_key = "aa";
    run.unique_for_ms = 100000;
    fixture_enqueue(fixture, &run);
    fixture->now_ms += 5;
    assert_true(redis_check(&fixture->server, "culex", "q"));
}

/* What needs something, of two kinds: of a slot one is at work, one of each kind is parked for it;
 * of another slot one of each stands. */
static void seed_needs(struct fixture *fixture)
{
    struct culex_run_limit gpu[] = {CONCURRENCY("a"),
                                    {CULEX_LIMIT_NEEDS, "needs gpu:1", NULL, 0, 0, 0}};
    struct culex_run_limit two[] = {CONCURRENCY("a"),
                                    {CULEX_LIMIT_NEEDS, "needs gpu:2", NULL, 0, 0, 0}};
    at_work = put(fixture, gpu, 1);
    fixture_claim(fixture, at_work);
    put(fixture, gpu, 2);
    put(fixture, two, 2);
    gpu[0].key = two[0].key = "b";
    put(fixture, gpu, 2);
    put(fixture, two, 2);
    fixture->now_ms += 5;
    assert_true(redis_check(&fixture->server, "culex", "q"));
}

static void (*seed_now)(struct fixture *fixture) = seed;
static size_t live_count = LIVE_COUNT;

static void again(struct fixture *fixture)
{
    void *state = fixture;
    assert_int_equal(fixture_teardown(&state), 0);
    assert_int_equal(fixture_setup(&state), 0);
    seed_now(fixture);
}

/* A script that may call `first` for the first member of `slots` that begins so. */
static void damage(struct fixture *fixture, const char *script)
{
    char text[2048];
    snprintf(text, sizeof text,
             "local Q, call = 'culex:{q}:', redis.call "
             "local function first(head) "
             "  for _, member in ipairs(call('ZRANGE', Q .. 'slots', 0, -1)) do "
             "    if string.sub(member, 1, #head) == head then return member end "
             "  end "
             "end "
             "%s return 1",
             script);
    redisReply *reply = redis_server_command(&fixture->server, "EVAL %s 0", text);
    assert_non_null(reply);
    if (reply->type != REDIS_REPLY_INTEGER)
        fail_msg("%s: %s", script, reply->str);
    freeReplyObject(reply);
}

static void assert_nothing_remains(struct fixture *fixture)
{
    static const char *const sets[] = {"slots", "limited", "buckets", "refills", "unique_until"};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        char key[64];
        snprintf(key, sizeof key, "culex:{q}:%s", sets[i]);
        if (fixture_say(fixture, "ZCARD %s", key) != 0)
            fail_msg("something remains in %s", key);
    }
    assert_int_equal(fixture_say(fixture, "HLEN culex:{q}:%s", "unique"), 0);
}

/* --- tests ----------------------------------------------------------------------------------- */

struct damage {
    const char *script;
    unsigned wrong;
};

static void expect_each(struct fixture *fixture, const struct damage *damages, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        again(fixture);
        damage(fixture, damages[i].script);
        culex_fsck_counts seen = look_report(fixture);
        if (seen.wrong != damages[i].wrong || seen.damaged != 0)
            fail_msg("%s: %u wrong, not %u", damages[i].script, (unsigned)seen.wrong,
                     damages[i].wrong);
        look_expect(fixture, damages[i].wrong, 0);
        if (look_live_on(fixture) != live_count)
            fail_msg("%s: not all were done", damages[i].script);
        look_expect(fixture, 0, 0);
        assert_nothing_remains(fixture);
    }
}

#define EXPECT_EACH(state, damages)                                                                \
    expect_each(*(state), damages, sizeof(damages) / sizeof(damages)[0])

static void test_sound_queue_counts_nothing(void **state)
{
    static const struct damage damages[] = {{"", 0}};
    EXPECT_EACH(state, damages);
}

static void test_slots_are_those_of_the_runs(void **state)
{
    static const struct damage damages[] = {
        {"call('ZREM', Q .. 'slots', first('Aj:c=a'))", 1},
        {"call('ZREM', Q .. 'slots', first('Aj:r=b'))", 1},
        {"call('ZREM', Q .. 'slots', first('Wj:f=t'))", 1},
        {"call('ZREM', Q .. 'slots', first('Wj:c=b'))", 1},
        {"call('ZREM', Q .. 'slots', first('Pj:c=a'))", 1},
        {"call('ZREM', Q .. 'slots', first('Pj:r=b'))", 1},
        {"call('ZREM', Q .. 'slots', 'Kj:f=t')", 1},
        {"call('ZREM', Q .. 'slots', 'Kj:c=a')", 1}, /* of three runs */
        {"call('DEL', Q .. 'slots')", 14},
        {"call('ZADD', Q .. 'slots', 0, '', 0, 'x', 0, 'A', 0, 'Pnonsense')", 4},
        {"call('ZADD', Q .. 'slots', 0, 'Aj:c=a\\0' .. string.rep('x', 16))", 1},
        {"call('ZADD', Q .. 'slots', 0, 'Kj:c=of nobody')", 1},
        {"call('ZADD', Q .. 'slots', 0, 'A' .. string.sub(first('Wj:d='), 2))", 1},
        {"call('ZADD', Q .. 'slots', 0, 'W' .. string.sub(first('Pj:c=a'), 2))", 1},
        {"call('ZADD', Q .. 'slots', 0, 'Wj:c=zz\\0' .. string.sub(first('Wj:f=t'), -31))", 1},
    };
    EXPECT_EACH(state, damages);
}

/* Parts of gates, and the order of those who need the same. */
static void test_parts_are_those_of_the_runs(void **state)
{
    static const struct damage damages[] = {
        {"", 0},
        {"call('ZREM', Q .. 'slots', first('Aj:c=a'))", 1},
        {"call('ZREM', Q .. 'slots', first('Pj:c=a\\1gpu:1'))", 1},
        {"call('ZREM', Q .. 'slots', first('Pj:c=a\\1gpu:2'))", 1},
        {"call('ZREM', Q .. 'slots', first('Wj:c=b\\1gpu:2'))", 1},
        {"call('ZREM', Q .. 'slots', first('Pneeds gpu:1='))", 1},
        {"call('ZREM', Q .. 'slots', first('Nj:c=b\\1gpu:1'))", 1},
        {"call('ZREM', Q .. 'slots', first('Nj:c=a\\1gpu:1'))", 1},
        {"call('ZREM', Q .. 'slots', first('Kj:c=b'))", 1},
        {"call('ZREM', Q .. 'slots', first('Kneeds gpu:2='))", 1},
        {"call('ZADD', Q .. 'slots', 0, 'Nj:c=a\\1gpu:9')", 1},
        {"call('ZADD', Q .. 'slots', 0, 'Wj:c=b' .. string.sub(first('Wj:c=b'), 13))", 1},
        {"call('ZADD', Q .. 'slots', 0, 'Pneeds gpu:7=\\0' .. string.rep('1', 15) .. "
         "string.rep('x', 16))",
         1},
        {"call('HSET', Q .. 'limits', 'needs gpu:1', 'nonsense')", 1},
        {"call('HDEL', Q .. 'limits', 'needs gpu:1')", 0},
    };
    seed_now = seed_needs;
    live_count = 5;
    EXPECT_EACH(state, damages);
    seed_now = seed;
    live_count = LIVE_COUNT;
}

/* The place of a run that never was: who is parked comes in once it is free. */
static void test_removed_entry_makes_place(void **state)
{
    struct fixture *fixture = *state;
    struct culex_step_reply reply;
    again(fixture);
    damage(fixture, "call('ZADD', Q .. 'slots', 0, 'Aj:c=a\\0' .. string.rep('x', 16))");
    fixture_ack(fixture, SESSION_A, at_work, 1, CULEX_EVENT_DONE);
    assert_int_equal(look_fsck(fixture, true).wrong, 1);
    struct culex_step step = fixture_step(fixture, SESSION_A, 20);
    fixture_run_step(fixture, &step, &reply);
    fixture->store->ops->step_release(fixture->store, &reply);
    assert_int_equal(fixture_say(fixture, "ZLEXCOUNT culex:{q}:slots [Aj:c=a %s", "(Aj:c=a\x1"), 1);
    look_expect(fixture, 0, 0);
}

/* What was missing stands elsewhere from then on, and so in `slots` too. */
static void test_limited_are_those_that_wait(void **state)
{
    static const struct damage damages[] = {
        {"call('ZREM', Q .. 'limited', string.sub(first('Pj:c=a'), -16))", 2},
        {"call('ZREM', Q .. 'limited', string.sub(first('Wj:f=t'), -16))", 2},
        {"call('ZADD', Q .. 'limited', 5, string.sub(first('Pj:c=a'), -16))", 2},
        {"call('ZADD', Q .. 'limited', 5, string.sub(first('Aj:c=a'), -16))", 1},
        {"call('ZADD', Q .. 'limited', 5, 'short', 6, string.rep('x', 16))", 2},
    };
    EXPECT_EACH(state, damages);
}

static void test_buckets_are_those_of_gates(void **state)
{
    static const struct damage damages[] = {
        {"call('DEL', Q .. 'buckets')", 1}, /* somebody may come in sooner */
        {"call('ZADD', Q .. 'buckets', 'inf', 'j:r=b')", 1},
        {"call('ZADD', Q .. 'buckets', 'inf', 'nonsense')", 1},
        {"call('ZADD', Q .. 'buckets', call('ZSCORE', Q .. 'buckets', 'j:r=b'), 'j:r=c')", 1},
    };
    EXPECT_EACH(state, damages);
}

static void test_refills_are_of_those_who_may_come_in(void **state)
{
    static const struct damage damages[] = {
        {"call('DEL', Q .. 'refills')", 1},
        {"call('ZADD', Q .. 'refills', 'inf', 'j:r=b')", 1},
        {"call('ZADD', Q .. 'refills', 5, 'no=such', 6, 'nonsense', 7, '')", 3},
        {"call('ZADD', Q .. 'refills', 5, 'nonsense\\0')", 1},
    };
    EXPECT_EACH(state, damages);
}

/* A limit that cannot be read, or is lost, limits nothing: those who are parked come in. */
static void test_limits_have_their_form(void **state)
{
    static const struct damage damages[] = {
        {"call('HSET', Q .. 'limits', 'j:c', 'nonsense')", 2},
        {"call('HSET', Q .. 'limits', 'j:c', 'C|-1|0|0|0|0|0')", 2},
        {"call('HSET', Q .. 'limits', 'j:r', 'R|0|1000|1|0|0|0')", 2},
        {"call('HDEL', Q .. 'limits', 'j:c')", 1},
        {"call('HSET', Q .. 'limits', 'nonsense', '', 'j:c\\0', 'j:c=a')", 2},
    };
    EXPECT_EACH(state, damages);
}

static void test_keys_for_a_time_have_it_twice(void **state)
{
    static const struct damage damages[] = {
        {"call('ZREM', Q .. 'unique_until', 'aa')", 1},
        {"call('ZADD', Q .. 'unique_until', 'inf', 'aa')", 1},
        {"call('ZADD', Q .. 'unique_until', 5, 'nobody')", 1},
        {"call('HDEL', Q .. 'unique', 'aa')", 1},
        {"call('HSET', Q .. 'unique', 'aa', 'short')", 2},
        {"call('HSET', Q .. 'unique', 'aa', string.rep('x', 16) .. 'soon')", 2},
        {"call('HSET', Q .. 'unique', 'bb', string.rep('x', 16) .. '12x')", 1},
    };
    EXPECT_EACH(state, damages);
}

static void test_what_tells_of_limits_is_there(void **state)
{
    static const struct damage damages[] = {
        {"call('HDEL', Q .. 'meta', 'limits')", 1},
        {"call('HSET', Q .. 'meta', 'limits', 'nonsense')", 1},
    };
    EXPECT_EACH(state, damages);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_sound_queue_counts_nothing),           TEST(test_slots_are_those_of_the_runs),
        TEST(test_parts_are_those_of_the_runs),          TEST(test_removed_entry_makes_place),
        TEST(test_limited_are_those_that_wait),          TEST(test_buckets_are_those_of_gates),
        TEST(test_refills_are_of_those_who_may_come_in), TEST(test_limits_have_their_form),
        TEST(test_keys_for_a_time_have_it_twice),        TEST(test_what_tells_of_limits_is_there),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
