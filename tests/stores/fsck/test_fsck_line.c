/* fsck/test_fsck_line.c - FSCK of a Redis queue of ordinary runs: bodies, blocks, and what is
 * derived of them, with one thing wrong at a time and with much thrown away at random.
 *
 * As test_fsck_redis.c does it: a report that writes nothing, a repair, a second report of nothing,
 * the offline checker, and a drain that ends every live run once. */
#include "look.h"

#include "core/run_id.h"

#include "redis_check.h"

/* Runs of the line by their place in it. Of the first block two are done and two held, of the
 * second one is done and two are held; behind them all wait but one that was cancelled. */
enum { RUNS = 12, LIVE = 8, HELD = 4, KEPT = 3, CANCELLED = 8, RECORDS = RUNS };
enum { DONE_A, DONE_B, HELD_A, HELD_B, DONE_C, HELD_C, HELD_D, WAITING_A, WAITING_B = 9 };

static culex_uuid ids[RUNS], stranger;

static void end_done(struct fixture *fixture, const char *session, culex_uuid id)
{
    assert_int_equal(fixture_ack(fixture, session, id, 1, CULEX_EVENT_DONE), CULEX_ANSWER_OK);
}

static void claim(struct fixture *fixture, const char *session, uint32_t want, uint32_t ahead)
{
    struct culex_step step = fixture_step(fixture, session, want);
    struct culex_step_reply reply;
    step.ahead = ahead;
    fixture_run_step(fixture, &step, &reply);
    assert_int_equal(reply.grant_count, want);
    fixture->store->ops->step_release(fixture->store, &reply);
}

static void seed(struct fixture *fixture)
{
    struct culex_new_run run = fixture_run();
    culex_run_state state;
    for (int i = 0; i < RUNS; i++)
        ids[i] = fixture_enqueue(fixture, &run);
    claim(fixture, SESSION_A, 4, 0);
    end_done(fixture, SESSION_A, ids[DONE_A]);
    fixture->now_ms += 10;
    end_done(fixture, SESSION_A, ids[DONE_B]);
    claim(fixture, SESSION_B, 3, 2);
    end_done(fixture, SESSION_B, ids[DONE_C]);
    assert_ok(
        fixture->store->ops->cancel(fixture->store, "q", ids[CANCELLED], &state, &call_error));
    stranger = fixture_stranger(fixture);
    assert_true(redis_check(&fixture->server, "culex", "q"));
    assert_int_equal(fixture_say(fixture, "HLEN %s", "culex:{q}:blocks"), 2);
}

static void again(struct fixture *fixture)
{
    void *state = fixture;
    assert_int_equal(fixture_teardown(&state), 0);
    assert_int_equal(fixture_setup(&state), 0);
    seed(fixture);
}

static void say(struct fixture *fixture, const char *verb, const char *name, const char *words)
{
    look_damage(fixture, verb, name, words, stranger);
}

/* One argument of the command, whatever bytes it has. */
static void field_put(struct fixture *fixture, const char *name, const char *field,
                      const char *text)
{
    redisReply *reply =
        redis_server_command(&fixture->server, "HSET %s %s %b", name, field, text, strlen(text));
    assert_non_null(reply);
    assert_int_not_equal(reply->type, REDIS_REPLY_ERROR);
    freeReplyObject(reply);
}

static char *field_get(struct fixture *fixture, const char *name, const char *field)
{
    redisReply *reply = redis_server_command(&fixture->server, "HGET %s %s", name, field);
    assert_non_null(reply);
    assert_int_equal(reply->type, REDIS_REPLY_STRING);
    char *text = strdup(reply->str);
    freeReplyObject(reply);
    assert_non_null(text);
    return text;
}

/* Repairs until nothing is wrong, which a second look must see. */
static void repair(struct fixture *fixture)
{
    culex_fsck_counts found = look_report(fixture);
    assert_true(found.wrong + found.damaged > 0);
    look_fsck(fixture, true);
    found = look_report(fixture);
    assert_int_equal(found.wrong + found.damaged, 0);
    assert_true(redis_check(&fixture->server, "culex", "q"));
}

static void repair_and_drain(struct fixture *fixture, size_t live)
{
    repair(fixture);
    assert_int_equal(look_drain(fixture), live);
    culex_fsck_counts found = look_report(fixture);
    assert_int_equal(found.wrong + found.damaged, 0);
    assert_true(redis_check(&fixture->server, "culex", "q"));
}

/* --- what is derived -------------------------------------------------------------------------- */

static void test_sound_line_counts_nothing(void **state)
{
    again(*state);
    assert_int_equal(look_report(*state).records, RECORDS);
    look_expect_and_drain(*state, 0, 0, LIVE);
}

static const char *const indexes[] = {"spans", "block_leases", "block_ends"};

static void test_lost_index_is_rebuilt(void **state)
{
    for (size_t i = 0; i < 3; i++) {
        again(*state);
        say(*state, "DEL", indexes[i], "");
        look_expect_and_drain(*state, 2, 0, LIVE);
        again(*state);
        say(*state, "ZREM", indexes[i], "5");
        look_expect_and_drain(*state, 1, 0, LIVE);
    }
}

/* Its end is not known: the holders keep the block for the longest lease from now on. */
static void test_lost_lease_is_granted_once_more(void **state)
{
    struct fixture *fixture = *state;
    again(fixture);
    say(fixture, "DEL", "block_leases", "");
    fixture->now_ms += 5000;
    look_fsck(fixture, true);
    end_done(fixture, SESSION_A, ids[HELD_A]);
    fixture->now_ms += 999;
    end_done(fixture, SESSION_A, ids[HELD_B]);
    fixture->now_ms += 1;
    claim(fixture, SESSION_A, 2, 0); /* those that SESSION_B had held */
    assert_int_equal(fixture_ack(fixture, SESSION_B, ids[HELD_C], 1, CULEX_EVENT_DONE),
                     CULEX_ANSWER_STALE);
}

static void test_strange_entry_is_removed(void **state)
{
    for (size_t i = 0; i < 3; i++) {
        again(*state);
        say(*state, "ZADD", indexes[i], "77 77");
        say(*state, "ZADD", indexes[i], "3 short");
        look_expect_and_drain(*state, 2, 0, LIVE);
    }
}

static void test_wrong_score_is_set_right(void **state)
{
    again(*state);
    say(*state, "ZADD", "spans", "3 1");
    repair_and_drain(*state, LIVE);
    again(*state);
    say(*state, "ZADD", "spans", "0 5");
    repair_and_drain(*state, LIVE);
    again(*state);
    say(*state, "ZADD", "block_ends", "17 1");
    look_expect_and_drain(*state, 1, 0, LIVE);
}

/* Of a block that holds nothing any more, or keeps nothing. */
static void test_superfluous_entry_is_removed(void **state)
{
    struct fixture *fixture = *state;
    again(fixture);
    end_done(fixture, SESSION_A, ids[HELD_A]);
    end_done(fixture, SESSION_A, ids[HELD_B]);
    say(fixture, "ZADD", "block_leases", "1750000200000 1");
    look_expect_and_drain(fixture, 1, 0, LIVE - 2);
    again(fixture);
    assert_ok(fixture->store->ops->forget(fixture->store, "q", ids[DONE_C], &call_error));
    say(fixture, "ZADD", "block_ends", "1750000200000 5");
    look_expect_and_drain(fixture, 1, 0, LIVE);
}

static void test_miscounted_runs_are_counted_again(void **state)
{
    static const char *const counts[] = {"held 0", "held 9", "held -7", "held x",
                                         "kept 0", "kept 9", "kept -7", "kept 1.5"};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        again(*state);
        say(*state, "HSET", "meta", counts[i]);
        repair_and_drain(*state, LIVE);
        again(*state);
        char field[5];
        snprintf(field, sizeof field, "%s", counts[i]);
        say(*state, "HDEL", "meta", field);
        look_expect_and_drain(*state, 1, 0, LIVE);
    }
}

/* Where a run must be taken off what is counted. */
static void test_counter_that_is_none_stops_no_repair(void **state)
{
    static const char *const counts[] = {"held x", "kept 1.5"};
    for (int i = 0; i < 2; i++) {
        again(*state);
        say(*state, "HSET", "meta", counts[i]);
        say(*state, "HDEL", "bodies", i == 0 ? "3" : "1");
        repair_and_drain(*state, i == 0 ? LIVE - 1 : LIVE);
    }
}

/* --- the line --------------------------------------------------------------------------------- */

static uint64_t number_of_next(struct fixture *fixture)
{
    struct culex_new_run run = fixture_run();
    struct culex_run_id_parts parts;
    assert_true(culex__run_id_read(fixture_enqueue(fixture, &run), &parts));
    assert_int_equal(parts.lane, 1);
    return parts.number;
}

static void test_lost_line_goes_on_behind_the_greatest(void **state)
{
    static const char *const lines[] = {"0", "3", "10", "abc", "-7", "99999999999999"};
    again(*state);
    say(*state, "HDEL", "meta", "line");
    repair(*state);
    assert_int_equal(number_of_next(*state), RUNS + 1);
    assert_int_equal(look_drain(*state), LIVE + 1);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        again(*state);
        field_put(*state, "culex:{q}:meta", "line", lines[i]);
        repair(*state);
        assert_int_equal(number_of_next(*state), RUNS + 1);
        assert_int_equal(look_drain(*state), LIVE + 1);
    }
}

/* Nothing is left of them, but they were given. */
static void test_lost_line_goes_on_behind_what_was_taken(void **state)
{
    struct fixture *fixture = *state;
    struct culex_purge_reply purged;
    again(fixture);
    assert_int_equal(look_drain(fixture), LIVE);
    assert_ok(
        fixture->store->ops->purge(fixture->store, "q", CULEX_RUN_DONE, 100, &purged, &call_error));
    assert_ok(fixture->store->ops->purge(fixture->store, "q", CULEX_RUN_CANCELLED, 100, &purged,
                                         &call_error));
    assert_int_equal(fixture_say(fixture, "HLEN %s", "culex:{q}:runs"), 0);
    say(fixture, "HDEL", "meta", "line");
    repair(fixture);
    assert_int_equal(number_of_next(fixture), RUNS + 1);
}

/* A run that has a record by now was given its number too. */
static void test_lost_line_goes_on_behind_records(void **state)
{
    struct fixture *fixture = *state;
    culex_run_state after;
    again(fixture);
    assert_ok(fixture->store->ops->cancel(fixture->store, "q", ids[RUNS - 1], &after, &call_error));
    say(fixture, "HDEL", "meta", "line");
    repair(fixture);
    assert_int_equal(number_of_next(fixture), RUNS + 1);
}

/* Brought here from another queue, or from before this one lost its salt: its number means nothing.
 */
static void test_record_of_another_salt_tells_nothing_of_the_line(void **state)
{
    struct fixture *fixture = *state;
    struct culex_run_id_parts parts;
    again(fixture);
    assert_true(culex__run_id_read(ids[CANCELLED], &parts));
    parts.salt ^= 1;
    parts.number = 5000;
    culex_uuid other = culex__run_id_make(parts);
    redisReply *text = redis_server_command(&fixture->server, "HGET culex:{q}:runs %b",
                                            &ids[CANCELLED], sizeof ids[CANCELLED]);
    redisReply *put = redis_server_command(&fixture->server, "HSET culex:{q}:runs %b %b", &other,
                                           sizeof other, text->str, text->len);
    assert_int_equal(put->integer, 1);
    freeReplyObject(text);
    freeReplyObject(put);
    look_fsck(fixture, true);
    assert_int_equal(number_of_next(fixture), RUNS + 1);
}

static void test_lost_taken_is_where_the_blocks_end(void **state)
{
    static const char *const takens[] = {
        "0", "3", "abc", "-7", "13", "1000000000000", "99999999999999"};
    again(*state);
    say(*state, "HDEL", "meta", "taken");
    look_expect_and_drain(*state, 1, 0, LIVE);
    for (size_t i = 0; i < sizeof takens / sizeof takens[0]; i++) {
        again(*state);
        field_put(*state, "culex:{q}:meta", "taken", takens[i]);
        repair(*state);
        assert_int_equal(number_of_next(*state), RUNS + 1);
        assert_int_equal(fixture_say(*state, "HLEN %s", "culex:{q}:runs"), 1); /* all on the line */
        assert_int_equal(look_drain(*state), LIVE + 1);
    }
}

/* As 'line' says that these were given, they can have been taken: then nobody has them. */
static void test_run_behind_what_was_taken_waits_again(void **state)
{
    struct fixture *fixture = *state;
    again(fixture);
    say(fixture, "HSET", "meta", "taken 10");
    say(fixture, "DEL", "wake", "");
    look_expect(fixture, 2, 0);
    assert_int_equal(fixture_say(fixture, "LLEN %s", "culex:{q}:wake"), 1);
    assert_int_equal(fixture_state(fixture, ids[WAITING_A]), CULEX_RUN_WAITING);
    assert_int_equal(fixture_say(fixture, "ZCARD %s", "culex:{q}:urgent"), 2);
    assert_int_equal(look_drain(fixture), LIVE);
}

/* Neither is gone through number by number: the runs are claimed within a few steps. */
static void test_absurd_line_makes_nobody_walk(void **state)
{
    static const char *const fields[] = {"line 1000000000000", "taken 1000000000000",
                                         "line 1000000000000 taken 1000000000000"};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < 3; i++) {
        again(fixture);
        say(fixture, "HSET", "meta", fields[i]);
        repair(fixture);
        number_of_next(fixture);
        fixture->now_ms += 20000;
        size_t grants = 0;
        for (int steps = 0; steps < 5; steps++) {
            struct culex_step step = fixture_step(fixture, SESSION_B, 100);
            struct culex_step_reply reply;
            fixture_run_step(fixture, &step, &reply);
            grants += reply.grant_count;
            fixture->store->ops->step_release(fixture->store, &reply);
        }
        assert_int_equal(grants, LIVE + 1);
    }
}

/* Grants until nobody waits by what a step says, and at most in so many of them. */
static size_t grants_of(struct fixture *fixture, int steps)
{
    size_t grants = 0;
    bool is_empty = false;
    for (int step_count = 0; step_count < steps && !is_empty; step_count++) {
        struct culex_step step = fixture_step(fixture, SESSION_B, 20);
        struct culex_step_reply reply;
        fixture_run_step(fixture, &step, &reply);
        for (size_t i = 0; i < reply.grant_count; i++)
            assert_int_equal(fixture_ack(fixture, SESSION_B, reply.grants[i].facts.id,
                                         reply.grants[i].facts.attempt, CULEX_EVENT_DONE),
                             CULEX_ANSWER_OK);
        grants += reply.grant_count;
        is_empty = reply.is_empty;
        fixture->store->ops->step_release(fixture->store, &reply);
    }
    return grants;
}

/* Then nobody waits by them. Those behind holes, too; and with runs that are held and kept. */
static void test_counts_that_are_too_high_strand_nobody(void **state)
{
    enum { COUNT = 300, HOLES = 200 };
    static const char *const fields[] = {"held 1000", "kept 1000", "held 1000 kept 1000", "held 7",
                                         "held 13 kept 2"};
    struct fixture *fixture = *state;
    struct culex_new_run run = fixture_run();
    for (int shape = 0; shape < 10; shape++) {
        again(fixture);
        culex_uuid line[COUNT];
        culex_run_state after;
        for (int i = 0; i < COUNT; i++)
            line[i] = fixture_enqueue(fixture, &run);
        for (int i = 0; i < HOLES && shape >= 5; i++)
            fixture->store->ops->cancel(fixture->store, "q", line[i], &after, NULL);
        say(fixture, "HSET", "meta", fields[shape % 5]);
        fixture->now_ms += 20000; /* leases end */
        assert_int_equal(grants_of(fixture, 60), LIVE + COUNT - (shape < 5 ? 0 : HOLES));
        look_fsck(fixture, true); /* what nobody had to know may still be wrong */
        assert_true(redis_check(&fixture->server, "culex", "q"));
    }
}

/* By the counts nobody is left when the first of them are granted: the next step is wanted at once.
 */
static void test_who_waits_by_no_count_wants_the_next_step(void **state)
{
    struct fixture *fixture = *state;
    struct culex_new_run run = fixture_run();
    struct culex_step_reply reply;
    again(fixture);
    for (int i = 0; i < 100; i++)
        fixture_enqueue(fixture, &run);
    say(fixture, "HSET", "meta", "kept 1000");
    say(fixture, "HDEL", "meta", "calm");
    struct culex_step step = fixture_step(fixture, SESSION_B, 60);
    fixture_run_step(fixture, &step, &reply);
    assert_in_range(reply.grant_count, 1, 59);
    assert_int_equal(reply.due_in_ms, 0);
    fixture->store->ops->step_release(fixture->store, &reply);
}

/* More holes than a step looks at, and what waits behind them; what was held is told by its block.
 */
static void test_held_that_is_too_high_hides_nobody_behind_holes(void **state)
{
    enum { HOLES = 3000 };
    struct fixture *fixture = *state;
    char line[32];
    again(fixture);
    snprintf(line, sizeof line, "line %d held 9", HOLES);
    say(fixture, "HSET", "meta", line);
    assert_int_equal(number_of_next(fixture), HOLES + 1);
    assert_int_equal(grants_of(fixture, 30), LIVE - HELD + 1);
}

/* More blocks than a step asks: holes are passed by and by, and nobody with them. */
static void test_held_that_is_too_high_in_a_busy_queue_hides_nobody(void **state)
{
    enum { BLOCKS_HELD = 40, HOLES = 600 };
    struct fixture *fixture = *state;
    struct culex_new_run run = fixture_run();
    char line[48];
    for (int i = 0; i < BLOCKS_HELD; i++)
        fixture_enqueue(fixture, &run);
    for (int i = 0; i < BLOCKS_HELD; i++)
        claim(fixture, SESSION_A, 1, 0);
    snprintf(line, sizeof line, "line %d held %d", BLOCKS_HELD + HOLES, BLOCKS_HELD + 5);
    say(fixture, "HSET", "meta", line);
    say(fixture, "HDEL", "meta", "calm");
    fixture_enqueue(fixture, &run);
    size_t grants = 0;
    for (int steps = 0; steps < 4; steps++)
        grants += grants_of(fixture, 1);
    assert_int_equal(grants, 1);
}

/* Numbers in front that nobody has, as of runs that were cancelled one by one. */
static void test_holes_in_front_are_passed(void **state)
{
    enum { HOLES = 3000 };
    struct fixture *fixture = *state;
    char line[32];
    again(fixture);
    snprintf(line, sizeof line, "line %d", HOLES);
    for (int which = WAITING_A; which < RUNS; which++) {
        culex_run_state after;
        fixture->store->ops->cancel(fixture->store, "q", ids[which], &after, NULL);
    }
    say(fixture, "HSET", "meta", line);
    assert_int_equal(number_of_next(fixture), HOLES + 1);
    assert_int_equal(look_fsck(fixture, true).wrong, 0);
    claim(fixture, SESSION_A, 1, 0);
}

/* --- bodies ----------------------------------------------------------------------------------- */

static const char *name_of(int which)
{
    static char name[12];
    snprintf(name, sizeof name, "%d", which + 1);
    return name;
}

#define BODY_HEAD(ms, keep, timeout, attempts, job, fail, hex, tags)                               \
    ms "|" keep "|" timeout "|" attempts "|" job "|" fail "|" hex "|" tags
#define HEX "1122334455667788"

/* A sound one last. */
static const char *const bodies[] = {
    "",
    "x",
    "\n",
    BODY_HEAD("1750000123456", "2000", "0", "3", "j", "60000", HEX, "") "{}",
    BODY_HEAD("x", "2000", "0", "3", "j", "60000", HEX, "") "\n{}",
    BODY_HEAD("1000000000000000000", "2000", "0", "3", "j", "60000", HEX, "") "\n{}",
    BODY_HEAD("1750000123456", "-1", "0", "3", "j", "60000", HEX, "") "\n{}",
    BODY_HEAD("1750000123456", "2000", "1e3", "3", "j", "60000", HEX, "") "\n{}",
    BODY_HEAD("1750000123456", "2000", "0", "", "j", "60000", HEX, "") "\n{}",
    BODY_HEAD("1750000123456", "2000", "0", "4294967296", "j", "60000", HEX, "") "\n{}",
    BODY_HEAD("1750000123456", "2000", "0", "3", "\xff", "60000", HEX, "") "\n{}",
    BODY_HEAD("1750000123456", "2000", "0", "3", "j", "06", HEX, "") "\n{}",
    BODY_HEAD("1750000123456", "2000", "0", "3", "j", "60000", "112233445566778", "") "\n{}",
    BODY_HEAD("1750000123456", "2000", "0", "3", "j", "60000", "112233445566778F", "") "\n{}",
    BODY_HEAD("1750000123456", "2000", "0", "3", "j", "60000", HEX, "a|b") "\n{}",
    BODY_HEAD("1750000123456", "2000", "0", "3", "j", "60000", HEX, "a\r") "\n{}",
    BODY_HEAD("1750000123456", "2000", "0", "3", "j", "60000", HEX, "a,b") "\n{}"};
enum { BODIES = sizeof bodies / sizeof bodies[0] };

static void test_every_kind_of_damage_to_a_body_is_seen(void **state)
{
    again(*state);
    for (size_t i = 0; i < BODIES; i++) {
        field_put(*state, "culex:{q}:bodies", name_of(WAITING_A), bodies[i]);
        culex_fsck_counts counts = look_report(*state);
        assert_int_equal(counts.damaged, i < BODIES - 1);
        assert_int_equal(counts.wrong, 0);
    }
}

static void test_damaged_body_is_put_aside(void **state)
{
    static const int victims[] = {DONE_A, HELD_A, HELD_D, WAITING_A, WAITING_B};
    for (size_t i = 0; i < 5 * (BODIES - 1); i++) {
        int which = victims[i % 5];
        again(*state);
        field_put(*state, "culex:{q}:bodies", name_of(which), bodies[i / 5]);
        look_expect(*state, 0, 1);
        struct fixture *fixture = *state;
        assert_int_equal(fixture_say(fixture, "HLEN %s", "culex:{q}:damaged"), 1);
        assert_int_equal(fixture_say(fixture, "HLEN %s", "culex:{q}:bodies"), RUNS - 2);
        assert_int_equal(fixture_say(fixture, "ZCARD %s", "culex:{q}:dead"), 1);
        assert_int_equal(look_drain(fixture), which == DONE_A ? LIVE : LIVE - 1);
        assert_int_equal(fixture_say(fixture, "ZCARD %s", "culex:{q}:dead"), 1);
    }
}

/* Its id is known as long as its time is. */
static void test_damaged_body_is_found_by_its_id(void **state)
{
    struct fixture *fixture = *state;
    char text[64];
    again(fixture);
    snprintf(text, sizeof text, "%lld|rubbish", (long long)fixture->now_ms - 10);
    field_put(fixture, "culex:{q}:bodies", name_of(WAITING_A), text);
    culex_run_info *run = NULL;
    culex_run_state after;
    culex_error error;
    struct culex_store *store = fixture->store;
    assert_int_equal(store->ops->get(store, "q", ids[WAITING_A], &run, &error), CULEX_ECORRUPT);
    assert_int_equal(store->ops->cancel(store, "q", ids[WAITING_A], &after, &error),
                     CULEX_ECORRUPT);
    look_fsck(fixture, true);
    assert_int_equal(fixture_state(fixture, ids[WAITING_A]), CULEX_RUN_DEAD);
    redisReply *reply = redis_server_command(&fixture->server, "HGET culex:{q}:damaged %b",
                                             &ids[WAITING_A], sizeof ids[WAITING_A]);
    assert_string_equal(reply->str, text);
    freeReplyObject(reply);
}

/* Nobody has called FSCK yet: the others go on. */
static void test_damaged_body_stops_nobody_else(void **state)
{
    static const int victims[] = {HELD_A, WAITING_A};
    for (size_t i = 0; i < 2 * (BODIES - 1); i++) {
        again(*state);
        field_put(*state, "culex:{q}:bodies", name_of(victims[i % 2]), bodies[i / 2]);
        size_t done = look_live_on(*state);
        if (done != LIVE - 1)
            fail_msg("body %zu: %zu runs were done", i / 2, done);
    }
}

static void test_name_that_is_no_number_is_put_aside(void **state)
{
    static const char *const names[] = {"short", "007", "-1", "0", "99999999999999", "1.5"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        again(*state);
        field_put(*state, "culex:{q}:bodies", names[i], bodies[BODIES - 1]);
        look_expect(*state, 0, 1);
        free(field_get(*state, "culex:{q}:damaged", names[i]));
        assert_int_equal(look_drain(*state), LIVE);
    }
}

static void test_block_without_a_body_lets_it_go(void **state)
{
    static const int victims[] = {DONE_A, DONE_C, HELD_A, HELD_D};
    for (size_t i = 0; i < 4; i++) {
        again(*state);
        say(*state, "HDEL", "bodies", name_of(victims[i]));
        look_expect_and_drain(*state, 1, 0, i < 2 ? LIVE : LIVE - 1);
    }
    again(*state);
    say(*state, "HDEL", "bodies", "1 2 3 4"); /* then nothing is left of it */
    look_expect(*state, 4, 0);
    assert_int_equal(fixture_say(*state, "HLEN %s", "culex:{q}:blocks"), 1);
    again(*state);
    say(*state, "DEL", "bodies", "");
    look_expect_and_drain(*state, HELD + KEPT, 0, 0);
}

/* Whose bodies are not read at once. */
static void test_block_of_long_payloads_lets_go_too(void **state)
{
    static char payload[1000] = "{}";
    struct fixture *fixture = *state;
    struct culex_new_run run = fixture_run();
    run.payload = payload;
    run.payload_len = sizeof payload;
    for (int i = 0; i < 3; i++)
        ids[i] = fixture_enqueue(fixture, &run);
    claim(fixture, SESSION_A, 3, 0);
    look_expect(fixture, 0, 0);
    say(fixture, "HDEL", "bodies", "2");
    look_expect_and_drain(fixture, 1, 0, 2);
}

static void test_body_beside_a_record_goes(void **state)
{
    static const int which[] = {CANCELLED, HELD_A};
    struct fixture *fixture = *state;
    for (size_t i = 0; i < 2; i++) {
        again(fixture);
        char *body = field_get(fixture, "culex:{q}:bodies", name_of(WAITING_A));
        culex_run_state after;
        if (which[i] != CANCELLED)
            assert_ok(fixture->store->ops->cancel(fixture->store, "q", ids[which[i]], &after,
                                                  &call_error));
        field_put(fixture, "culex:{q}:bodies", name_of(which[i]), body);
        look_expect_and_drain(fixture, 1, 0, which[i] == CANCELLED ? LIVE : LIVE - 1);
        free(body);
    }
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* A sound one last: of the first block, all of it held. */
static const char *const blocks[] = {
    "",
    "x",
    "|1750000123456|2000|0|0|1111|",
    "nobody|1750000123456|2000|0|0|1111|",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|1750000123456|2000|0|0|1111|",
    "aaaaaaaaaaaaaaaa||2000|0|0|1111|",
    "aaaaaaaaaaaaaaaa|1750000123456|-2|0|0|1111|",
    "aaaaaaaaaaaaaaaa|1750000123456||0|0|1111|",
    "aaaaaaaaaaaaaaaa|1750000123456|2000|0|2|1111|",
    "aaaaaaaaaaaaaaaa|1750000123456|2000|0|0|1151|",
    "aaaaaaaaaaaaaaaa|1750000123456|2000|0|0||",
    "aaaaaaaaaaaaaaaa|1750000123456|2000|0|0|11b1|1750000999999",
    "aaaaaaaaaaaaaaaa|1750000123456|2000|0|0|11a1|,",
    "aaaaaaaaaaaaaaaa|1750000123456|2000|0|0|11a1|07",
    "aaaaaaaaaaaaaaaa|1750000123456|2000|0|0|1111|1750000999999|",
    "aaaaaaaaaaaaaaaa|1750000123456|2000|0|0|1111|"};
enum { BLOCKS = sizeof blocks / sizeof blocks[0] };

static void test_damaged_block_is_put_aside(void **state)
{
    for (size_t i = 0; i < BLOCKS - 1; i++) {
        again(*state);
        field_put(*state, "culex:{q}:blocks", "1", blocks[i]);
        culex_fsck_counts counts = look_report(*state);
        assert_int_equal(counts.damaged, 1);
        assert_int_equal(counts.wrong, 0);
        look_fsck(*state, true);
        assert_int_equal(look_report(*state).wrong, 0);
        assert_true(redis_check(&((struct fixture *)*state)->server, "culex", "q"));
        redisReply *reply = redis_server_command(&((struct fixture *)*state)->server,
                                                 "HGET culex:{q}:damaged %s", "block 1");
        assert_string_equal(reply->str, blocks[i]);
        freeReplyObject(reply);
        assert_int_equal(look_drain(*state), LIVE + 2); /* those of it that were done come again */
    }
}

/* Its held ones wait for FSCK; of one that can be read, what it says is held comes again, done
 * before or not. */
static void test_damaged_block_stops_nobody_else(void **state)
{
    for (size_t i = 0; i < BLOCKS - 1; i++) {
        again(*state);
        field_put(*state, "culex:{q}:blocks", "1", blocks[i]);
        assert_in_range(look_live_on(*state), LIVE - 2, LIVE + 2);
    }
}

static void test_block_that_says_other_things_is_right(void **state)
{
    again(*state);
    field_put(*state, "culex:{q}:blocks", "1", blocks[BLOCKS - 1]);
    repair_and_drain(*state, LIVE + 2);
}

static void test_lost_block_gives_its_runs_back(void **state)
{
    again(*state);
    say(*state, "HDEL", "blocks", "1");
    repair_and_drain(*state, LIVE + 2);
    again(*state);
    say(*state, "DEL", "blocks", "");
    repair_and_drain(*state, RUNS - 1);
}

/* A worker may still be at it, and its word counts no more. */
static void test_run_that_was_given_back_is_fenced(void **state)
{
    struct fixture *fixture = *state;
    again(fixture);
    say(fixture, "HDEL", "blocks", "1");
    repair(fixture);
    assert_int_equal(fixture_ack(fixture, SESSION_A, ids[HELD_A], 1, CULEX_EVENT_DONE),
                     CULEX_ANSWER_STALE);
    culex_run_info *run = NULL;
    assert_ok(fixture->store->ops->get(fixture->store, "q", ids[HELD_A], &run, &call_error));
    assert_int_equal(run->state, CULEX_RUN_WAITING);
    assert_int_equal(run->attempt, 1);
    culex_run_info_free(run);
}

static void test_two_blocks_over_one_number(void **state)
{
    static const char text[] = "cccccccccccccccc|1750000123456|2000|0|0|11|";
    static const char *const names[] = {"2", "3", "4", "6", "7"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        again(*state);
        field_put(*state, "culex:{q}:blocks", names[i], text);
        repair(*state);
        size_t done = look_drain(*state);
        assert_in_range(done, LIVE, RUNS - 1); /* done ones that have lost their block come again */
        assert_int_equal(look_report(*state).wrong, 0);
    }
}

static void test_block_of_nobody_is_dropped(void **state)
{
    static const char text[] = "cccccccccccccccc|1750000123456|2000|0|0|1|";
    static const char *const names[] = {"100", "1000000000000", "17592186044415"};
    for (size_t i = 0; i < 3; i++) {
        again(*state);
        field_put(*state, "culex:{q}:blocks", names[i], text);
        repair(*state);
        assert_int_equal(number_of_next(*state), RUNS + 1);
        assert_int_equal(look_drain(*state), LIVE + 1);
    }
    again(*state);
    field_put(*state, "culex:{q}:blocks", "100", "cccccccccccccccc|1750000123456|2000|0|0|--|");
    look_expect_and_drain(*state, 1, 0, LIVE);
}

/* Whoever finds it calm looks at nothing but the line. */
static void test_repaired_queue_is_not_calm(void **state)
{
    struct fixture *fixture = *state;
    char calm[40];
    again(fixture);
    snprintf(calm, sizeof calm, "calm %lld", (long long)fixture->now_ms + 500);
    say(fixture, "HSET", "meta", calm);
    look_fsck(fixture, false);
    assert_int_equal(fixture_say(fixture, "HEXISTS culex:{q}:meta %s", "calm"), 1);
    look_fsck(fixture, true);
    assert_int_equal(fixture_say(fixture, "HEXISTS culex:{q}:meta %s", "calm"), 0);
}

static void test_time_to_live_is_lifted(void **state)
{
    static const char *const names[] = {"bodies", "blocks", "spans", "block_leases", "block_ends"};
    again(*state);
    for (size_t i = 0; i < 5; i++)
        say(*state, "EXPIRE", names[i], "1000");
    look_expect_and_drain(*state, 5, 0, LIVE);
}

/* --- at random -------------------------------------------------------------------------------- */

static uint32_t chance_state;

static uint32_t chance(uint32_t below)
{
    chance_state = chance_state * 1664525 + 1013904223;
    return (chance_state >> 8) % below;
}

static void life_enqueue(struct fixture *fixture)
{
    struct culex_new_run runs[10];
    struct culex_enqueue_result results[10];
    size_t count = 1 + chance(10);
    bool is_odd = chance(3) == 0;
    for (size_t i = 0; i < count; i++) {
        runs[i] = fixture_run();
        runs[i].keep_success_ms = chance(2) * 100000;
        runs[i].priority = is_odd ? (int)chance(3) : 0;
        runs[i].delay_ms = is_odd ? chance(2) * 3000 : 0;
        runs[i].timeout_ms = chance(2) * 60000;
    }
    assert_ok(
        fixture->store->ops->enqueue(fixture->store, "q", NULL, runs, count, results, &call_error));
}

static void life_step(struct fixture *fixture)
{
    static const enum culex_run_event events[] = {CULEX_EVENT_DONE, CULEX_EVENT_DONE,
                                                  CULEX_EVENT_DONE, CULEX_EVENT_FAIL,
                                                  CULEX_EVENT_RELEASE};
    const char *session = chance(2) == 0 ? SESSION_A : SESSION_B;
    struct culex_step step = fixture_step(fixture, session, 1 + chance(12));
    struct culex_step_reply reply;
    struct culex_ack acks[12];
    fixture_run_step(fixture, &step, &reply);
    size_t count = 0;
    for (size_t i = 0; i < reply.grant_count; i++) {
        if (chance(4) > 0)
            acks[count++] = (struct culex_ack){.id = reply.grants[i].facts.id,
                                               .attempt = reply.grants[i].facts.attempt,
                                               .event = events[chance(5)],
                                               .delay_ms = 500};
    }
    fixture->store->ops->step_release(fixture->store, &reply);
    step = fixture_step(fixture, session, 0);
    step.acks = acks;
    step.ack_count = count;
    fixture_run_step(fixture, &step, &reply);
    fixture->store->ops->step_release(fixture->store, &reply);
}

/* A history that leaves runs wherever they can be. */
static void live(struct fixture *fixture)
{
    for (int i = 0; i < 60; i++) {
        if (chance(2) == 0)
            life_enqueue(fixture);
        else
            life_step(fixture);
        fixture->now_ms += chance(10) == 0 ? 1500 : chance(20);
    }
    assert_true(redis_check(&fixture->server, "culex", "q"));
}

/* Everything but bodies, blocks, runs, payloads, and what cannot be known, each with one chance in
 * `odds`. */
static void throw_away(struct fixture *fixture, uint32_t odds)
{
    static const char *const keys[] = {"ready",  "urgent",       "scheduled",  "scheduled_urgent",
                                       "active", "done",         "cancelled",  "dead",
                                       "spans",  "block_leases", "block_ends", "sessions_seen"};
    static const char *const fields[] = {"line",   "taken", "held",  "kept",
                                         "ghosts", "back",  "front", "number"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (chance(odds) == 0)
            say(fixture, "DEL", keys[i], "");
    }
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (chance(odds) == 0)
            say(fixture, "HDEL", "meta", fields[i]);
    }
    say(fixture, "HDEL", "meta", "calm");
}

static size_t live_count(struct fixture *fixture)
{
    culex_queue_stats stats;
    assert_ok(fixture->store->ops->stats(fixture->store, "q", &stats, &call_error));
    return stats.count[CULEX_RUN_WAITING] + stats.count[CULEX_RUN_SCHEDULED] +
           stats.count[CULEX_RUN_ACTIVE];
}

static void test_all_that_is_derived_is_rebuilt(void **state)
{
    struct fixture *fixture = *state;
    for (uint32_t round = 0; round < 24; round++) {
        void *self = fixture;
        chance_state = round;
        assert_int_equal(fixture_teardown(&self), 0);
        assert_int_equal(fixture_setup(&self), 0);
        live(fixture);
        size_t expected = live_count(fixture);
        throw_away(fixture, 1 + round % 4);
        look_fsck(fixture, true);
        culex_fsck_counts found = look_report(fixture);
        size_t counted = live_count(fixture);
        bool is_sound = redis_check(&fixture->server, "culex", "q");
        if (found.wrong + found.damaged > 0 || counted != expected || !is_sound)
            fail_msg("round %u: %llu wrong, %zu live and not %zu", round,
                     (unsigned long long)found.wrong, counted, expected);
        size_t done = look_drain(fixture);
        if (done != expected)
            fail_msg("round %u: %zu done and not %zu", round, done, expected);
    }
}

/* Shares between which the line moves: nothing is called wrong, and nothing is miscounted by it. */
static void test_line_that_moves_meanwhile_is_not_wrong(void **state)
{
    struct fixture *fixture = *state;
    for (uint32_t round = 0; round < 8; round++) {
        void *self = fixture;
        struct culex_fsck_reply reply = {.cursor = 0};
        int calls = 0;
        chance_state = round;
        assert_int_equal(fixture_teardown(&self), 0);
        assert_int_equal(fixture_setup(&self), 0);
        live(fixture);
        do {
            assert_ok(fixture->store->ops->fsck(fixture->store, "q", reply.cursor, round % 2 == 0,
                                                &reply, &call_error));
            assert_int_equal(reply.counts.wrong + reply.counts.damaged, 0);
            if (chance(2) == 0)
                life_enqueue(fixture);
            if (chance(2) == 0)
                life_step(fixture);
            assert_true(++calls < 10000);
        } while (reply.cursor != 0);
        assert_true(redis_check(&fixture->server, "culex", "q"));
    }
}

/* Counters cannot be compared then, and who asked is told; by itself it is no fault. */
static void test_counters_of_a_line_that_moves_are_left_out_aloud(void **state)
{
    struct fixture *fixture = *state;
    struct culex_new_run run = fixture_run();
    for (int round = 0; round < 4; round++) {
        struct culex_fsck_reply reply = {.cursor = 0};
        uint64_t wrong = 0, skipped = 0;
        bool has_moved = false, is_repairing = round % 2 == 1;
        again(fixture);
        say(fixture, "HSET", "meta", round < 2 ? "held 9" : "held 4");
        do {
            assert_ok(fixture->store->ops->fsck(fixture->store, "q", reply.cursor, is_repairing,
                                                &reply, &call_error));
            wrong += reply.counts.wrong;
            skipped += reply.counts.skipped;
            if (!has_moved && reply.cursor >> 56 == 6) /* the bodies are next */
                fixture_enqueue(fixture, &run), has_moved = true;
        } while (reply.cursor != 0);
        assert_int_equal(wrong, 0);
        assert_int_equal(skipped, 1);
        assert_int_equal(look_fsck(fixture, is_repairing).wrong, round < 2);
        assert_int_equal(look_fsck(fixture, is_repairing).skipped, 0);
    }
}

/* As after a lost reply: each call twice. What was counted twice is no reason to repair. */
static void test_repeated_calls_miscount_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct culex_fsck_reply reply;
    struct culex_new_run run = fixture_run();
    uint64_t cursor = 0;
    again(fixture);
    for (int i = 0; i < 200; i++)
        fixture_enqueue(fixture, &run);
    claim(fixture, SESSION_A, 100, 0); /* so long that the blocks come in portions */
    for (int i = 0; i < 60; i++)
        claim(fixture, SESSION_B, 1, 0);
    do {
        for (int times = 0; times < 2; times++) {
            assert_ok(
                fixture->store->ops->fsck(fixture->store, "q", cursor, true, &reply, &call_error));
            assert_int_equal(reply.counts.wrong + reply.counts.damaged, 0);
        }
        cursor = reply.cursor;
    } while (cursor != 0 && cursor >> 56 < 20);
    assert_true(redis_check(&fixture->server, "culex", "q"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_sound_line_counts_nothing),
        TEST(test_lost_index_is_rebuilt),
        TEST(test_lost_lease_is_granted_once_more),
        TEST(test_strange_entry_is_removed),
        TEST(test_wrong_score_is_set_right),
        TEST(test_superfluous_entry_is_removed),
        TEST(test_miscounted_runs_are_counted_again),
        TEST(test_counter_that_is_none_stops_no_repair),
        TEST(test_lost_line_goes_on_behind_the_greatest),
        TEST(test_lost_line_goes_on_behind_what_was_taken),
        TEST(test_lost_line_goes_on_behind_records),
        TEST(test_record_of_another_salt_tells_nothing_of_the_line),
        TEST(test_lost_taken_is_where_the_blocks_end),
        TEST(test_run_behind_what_was_taken_waits_again),
        TEST(test_absurd_line_makes_nobody_walk),
        TEST(test_counts_that_are_too_high_strand_nobody),
        TEST(test_who_waits_by_no_count_wants_the_next_step),
        TEST(test_held_that_is_too_high_hides_nobody_behind_holes),
        TEST(test_held_that_is_too_high_in_a_busy_queue_hides_nobody),
        TEST(test_holes_in_front_are_passed),
        TEST(test_every_kind_of_damage_to_a_body_is_seen),
        TEST(test_damaged_body_is_put_aside),
        TEST(test_damaged_body_is_found_by_its_id),
        TEST(test_damaged_body_stops_nobody_else),
        TEST(test_name_that_is_no_number_is_put_aside),
        TEST(test_block_without_a_body_lets_it_go),
        TEST(test_block_of_long_payloads_lets_go_too),
        TEST(test_body_beside_a_record_goes),
        TEST(test_damaged_block_is_put_aside),
        TEST(test_damaged_block_stops_nobody_else),
        TEST(test_block_that_says_other_things_is_right),
        TEST(test_lost_block_gives_its_runs_back),
        TEST(test_run_that_was_given_back_is_fenced),
        TEST(test_two_blocks_over_one_number),
        TEST(test_block_of_nobody_is_dropped),
        TEST(test_repaired_queue_is_not_calm),
        TEST(test_time_to_live_is_lifted),
        TEST(test_all_that_is_derived_is_rebuilt),
        TEST(test_line_that_moves_meanwhile_is_not_wrong),
        TEST(test_counters_of_a_line_that_moves_are_left_out_aloud),
        TEST(test_repeated_calls_miscount_nothing),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
