/* fsck/test_fsck_sqlite.c - FSCK of an SQLite file with one thing wrong at a time.
 *
 * Each row damages a seeded file by SQL. A report must give the figures and commit nothing; a
 * repair must give them too, leave a file that a second report and the offline checks find sound,
 * and lose no run that can still be executed. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <culex/maintain.h>

#define ONE "aaaaaaaaaaaaaaaa"
#define TWO "bbbbbbbbbbbbbbbb"

enum { LONG = 2000, LIVE_COUNT = 4, SEED_COUNT = 7 };

static void put(struct fixture *fixture, size_t len, int64_t delay_ms)
{
    static const char payload[LONG] = "{\"to\":\"x\"}";
    struct culex_new_run run = fixture_run(payload, len);
    run.delay_ms = delay_ms;
    assert_int_equal(fixture_enqueue(fixture->store, "q", &run), CULEX_ENQUEUED_NEW);
}

/* One of its own from the first, with all its columns in table run. */
static void put_own(struct fixture *fixture)
{
    struct culex_new_run run = fixture_own_run("{\"to\":\"x\"}", 10);
    assert_int_equal(fixture_enqueue(fixture->store, "q", &run), CULEX_ENQUEUED_NEW);
}

static culex_uuid take(struct fixture *fixture)
{
    struct culex_step_reply reply = fixture_step(fixture->store, "q", ONE, 1, NULL, 0);
    assert_int_equal(reply.grant_count, 1);
    culex_uuid id = reply.grants[0].facts.id;
    fixture->store->ops->step_release(fixture->store, &reply);
    return id;
}

static void end(struct fixture *fixture, culex_uuid id, enum culex_run_event event)
{
    struct culex_ack ack = {.id = id, .attempt = 1, .event = event};
    struct culex_step_reply reply = fixture_step(fixture->store, "q", ONE, 0, &ack, 1);
    assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
    fixture->store->ops->step_release(fixture->store, &reply);
}

/* An active, a done, a dead and a cancelled run, one released to the front, a long and a delayed
 * one that never began. */
static void seed(struct fixture *fixture)
{
    for (int i = 0; i < 5; i++)
        put_own(fixture);
    take(fixture);
    end(fixture, take(fixture), CULEX_EVENT_DONE);
    end(fixture, take(fixture), CULEX_EVENT_DISCARD);
    culex_run_state state;
    culex_uuid cancelled = take(fixture);
    assert_int_equal(fixture->store->ops->cancel(fixture->store, "q", cancelled, &state, NULL),
                     CULEX_OK);
    end(fixture, cancelled, CULEX_EVENT_RELEASE);
    end(fixture, take(fixture), CULEX_EVENT_RELEASE);
    put(fixture, LONG, 0);
    put(fixture, 10, 5000);
}

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture_init(fixture);
    fixture->store = fixture_open(fixture, sqlite3_libversion_number());
    seed(fixture);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    assert_sound(fixture);
    fixture_release(fixture);
    free(fixture);
    return 0;
}

static culex_fsck_counts fsck(struct fixture *fixture, const char *queue, bool is_repairing)
{
    struct culex_fsck_reply reply = {.cursor = 0};
    culex_fsck_counts counts = {0};
    culex_error error = {.text = ""};
    int calls = 0;
    do {
        if (fixture->store->ops->fsck(fixture->store, queue, reply.cursor, is_repairing, &reply,
                                      &error) != CULEX_OK)
            fail_msg("fsck: %s", error.text);
        counts.records += reply.counts.records;
        counts.wrong += reply.counts.wrong;
        counts.damaged += reply.counts.damaged;
        assert_true(++calls < 1000);
    } while (reply.cursor != 0);
    return counts;
}

/* A number that changes when anybody else commits. */
static int64_t data_version(sqlite3 *db)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA data_version", -1, &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t version = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return version;
}

static culex_fsck_counts report(struct fixture *fixture)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    int64_t before = data_version(db);
    culex_fsck_counts counts = fsck(fixture, "q", false);
    assert_int_equal(data_version(db), before);
    sqlite3_close(db);
    return counts;
}

static size_t drain(struct fixture *fixture)
{
    size_t done = 0;
    bool is_empty = false;
    fixture->now_ms += 60000;
    for (int calls = 0; calls < 100 && !is_empty; calls++) {
        fixture->now_ms += 1000; /* for the tokens of a rate */
        struct culex_step_reply reply = fixture_step(fixture->store, "q", TWO, 4, NULL, 0);
        struct culex_ack acks[4];
        size_t count = reply.grant_count;
        for (size_t i = 0; i < count; i++)
            acks[i] = (struct culex_ack){.id = reply.grants[i].facts.id,
                                         .attempt = reply.grants[i].facts.attempt,
                                         .event = CULEX_EVENT_DONE};
        fixture->store->ops->step_release(fixture->store, &reply);
        reply = fixture_step(fixture->store, "q", TWO, 0, acks, count);
        is_empty = reply.is_empty;
        done += count;
        fixture->store->ops->step_release(fixture->store, &reply);
    }
    assert_true(is_empty);
    return done;
}

#define PLAIN " WHERE state = 'W' AND at_ms < 0"
#define BULKY " WHERE payload_len > 1024"
/* Three chunks of log lines of each run of one state. */
#define LOGS(state)                                                                                \
    "UPDATE queue SET logs = 1; INSERT INTO run_log SELECT seq, column1, column2, column3,"        \
    " column4, zeroblob(column5) FROM run, (VALUES (3, 5, 50, 0, 2), (4, 7, 53, 0, 3),"            \
    " (5, 8, 54, 6, 1)) WHERE state = '" state "'; "
#define LATER " WHERE state = 'W' AND is_delayed = 1"

static const struct {
    const char *sql;
    unsigned wrong, damaged, live;
} damages[] = {
    {"SELECT 1", 0, 0, 4},
    {"UPDATE queue SET pending = pending + 1", 1, 0, 4},
    {"UPDATE queue SET active = 0", 1, 0, 4},
    {"UPDATE queue SET pending = 0, active = 9, kept_done = 7, kept_dead = 9, kept_cancelled = 4",
     5, 0, 4},
    {"UPDATE queue SET front = 0", 1, 0, 4},
    {"UPDATE body SET checksum = 0 WHERE " FIXTURE_REAR, 1, 0, 4},
    {"UPDATE body SET checksum = 6 WHERE " FIXTURE_REAR, 1, 0, 4},
    {"UPDATE body SET checksum = 8 WHERE " FIXTURE_REAR, 0, 0, 4},
    {"UPDATE run SET payload = zeroblob(10)" PLAIN, 0, 1, 3},
    {"UPDATE run SET payload = NULL" PLAIN, 0, 1, 3},
    {"UPDATE run SET job = 'other.job'" LATER, 0, 1, 3},
    {"UPDATE run SET checksum = checksum + 1" LATER, 0, 1, 3},
    {"UPDATE payload SET bytes = zeroblob(2000)", 0, 1, 3},
    {"DELETE FROM payload", 0, 1, 3},
    {"UPDATE run SET payload = NULL WHERE state = 'X'", 0, 1, 4},
    {"UPDATE run SET payload = NULL WHERE state = 'C'", 0, 1, 4},
    {"INSERT INTO payload SELECT 1 + max(seq), x'00' FROM run", 1, 0, 4},
    {"INSERT INTO payload SELECT seq, x'00' FROM run WHERE state = 'D'", 1, 0, 4},
    {"INSERT INTO run_log SELECT 1 + max(seq), 1, 1, 1, 0, x'00' FROM run", 1, 0, 4},
    {LOGS("D"), 0, 0, 4},
    {LOGS("D") "UPDATE queue SET logs = 0", 1, 0, 4},
    {LOGS("D") "DELETE FROM run_log WHERE chunk <> 4", 0, 0, 4},
    {LOGS("D") "DELETE FROM run_log WHERE chunk = 4", 1, 0, 4},
    {LOGS("D") "UPDATE run_log SET bytes = x'0000' WHERE chunk = 4", 1, 0, 4},
    {LOGS("D") "UPDATE run_log SET ends = 52 WHERE chunk = 4", 2, 0, 4},
    {LOGS("D") "UPDATE run_log SET lines = 7 WHERE chunk = 5", 1, 0, 4},
    {LOGS("D") "UPDATE run_log SET shown_from = 9 WHERE chunk = 5", 1, 0, 4},
    {LOGS("D") "UPDATE run_log SET shown_from = -1 WHERE chunk = 5", 1, 0, 4},
    {LOGS("D") "UPDATE run_log SET lines = 1008 WHERE chunk = 5", 1, 0, 4},
    {"UPDATE queue SET logs = 1", 0, 0, 4},
    {"UPDATE run SET at_ms = 4000000000000" PLAIN, 1, 0, 4},
    {"UPDATE run SET is_delayed = 1 WHERE state = 'A'", 1, 0, 4},
    {"UPDATE run SET is_delayed = 1 WHERE state = 'D'", 1, 0, 4},
    {"UPDATE run SET attempts_max = -1" PLAIN, 0, 1, 3},
    {"UPDATE run SET attempt = 4294967296 WHERE state = 'A'", 0, 1, 3},
    {"UPDATE run SET owner = printf('%99d', 1) WHERE state = 'X'", 0, 1, 4},
};
enum { DAMAGES = sizeof damages / sizeof damages[0] };

static void test_each_damage_is_counted_and_repaired(void **state)
{
    for (size_t i = 0; i < DAMAGES; i++) {
        if (i > 0)
            assert_int_equal(teardown(state) + setup(state), 0);
        struct fixture *fixture = *state;
        fixture_sql(fixture, damages[i].sql);
        for (int is_repairing = 0; is_repairing < 2; is_repairing++) {
            culex_fsck_counts counts = is_repairing ? fsck(fixture, "q", true) : report(fixture);
            if (counts.wrong != damages[i].wrong || counts.damaged != damages[i].damaged)
                fail_msg("%s: %d wrong, %d damaged", damages[i].sql, (int)counts.wrong,
                         (int)counts.damaged);
            assert_int_equal(counts.records, SEED_COUNT);
        }
        culex_fsck_counts after = report(fixture);
        assert_int_equal(after.wrong + after.damaged, 0);
        assert_sound(fixture);
        if (drain(fixture) != damages[i].live)
            fail_msg("%s: not every run was executed", damages[i].sql);
        after = report(fixture);
        assert_int_equal(after.wrong + after.damaged, 0);
    }
}

/* The seed, and two ordinary runs behind it. */
static const struct {
    const char *sql;
    unsigned records, wrong, damaged, live;
} body_damages[] = {
    {"SELECT 1", 9, 0, 0, 6},
    {"UPDATE body SET payload = x'00' WHERE " FIXTURE_BODY " AND seq % 16 = 8", 9, 0, 1, 5},
    {"UPDATE body SET payload = zeroblob(2000) WHERE " FIXTURE_BODY, 9, 0, 2, 4},
    {"UPDATE body SET checksum = checksum + 1 WHERE " FIXTURE_BODY, 9, 0, 2, 4},
    {"UPDATE body SET created_at_ms = created_at_ms + 1 WHERE " FIXTURE_BODY " AND seq % 16 = 8", 9,
     0, 1, 5},
    {"UPDATE body SET kind = 99 WHERE " FIXTURE_BODY " AND seq % 16 = 9", 9, 0, 1, 5},
    {"UPDATE kind SET job = 'other.job'", 9, 0, 2, 4},
    {"DELETE FROM kind", 9, 0, 2, 4},
    {"DELETE FROM body WHERE " FIXTURE_BODY " AND seq % 16 = 9", 8, 1, 0, 5},
    {"INSERT INTO body SELECT seq, 1, created_at_ms, checksum, x'00' FROM run WHERE state = 'W'"
     " AND is_delayed = 1",
     9, 1, 0, 6},
    {"UPDATE body SET checksum = 8 WHERE " FIXTURE_REAR, 9, 1, 0, 6},
    {"DELETE FROM body WHERE " FIXTURE_REAR, 9, 2, 0, 6},
    {"UPDATE body SET payload = x'00' WHERE " FIXTURE_REAR, 9, 2, 0, 6},
    {"UPDATE body SET kind = kind + 1 WHERE " FIXTURE_REAR, 9, 1, 0, 6},
};

static void test_each_damage_of_an_ordinary_run_is_repaired(void **state)
{
    for (size_t i = 0; i < sizeof body_damages / sizeof body_damages[0]; i++) {
        if (i > 0)
            assert_int_equal(teardown(state) + setup(state), 0);
        struct fixture *fixture = *state;
        put(fixture, 10, 0);
        put(fixture, 10, 0);
        assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM bodies"), 2);
        fixture_sql(fixture, body_damages[i].sql);
        for (int is_repairing = 0; is_repairing < 2; is_repairing++) {
            culex_fsck_counts counts = is_repairing ? fsck(fixture, "q", true) : report(fixture);
            if (counts.wrong != body_damages[i].wrong ||
                counts.damaged != body_damages[i].damaged ||
                counts.records != body_damages[i].records)
                fail_msg("%s: %d records, %d wrong, %d damaged", body_damages[i].sql,
                         (int)counts.records, (int)counts.wrong, (int)counts.damaged);
        }
        culex_fsck_counts after = report(fixture);
        assert_int_equal(after.wrong + after.damaged, 0);
        assert_sound(fixture);
        if (drain(fixture) != body_damages[i].live)
            fail_msg("%s: not every run was executed", body_damages[i].sql);
    }
}

/* Of six ordinary runs one is done, three are held and two wait. */
static void seed_block(struct fixture *fixture)
{
    fixture_sql(fixture, "DELETE FROM run; DELETE FROM payload;"
                         "UPDATE queue SET pending = 0, active = 0, kept_done = 0, kept_dead = 0,"
                         " kept_cancelled = 0; UPDATE body SET kind = 0 WHERE " FIXTURE_REAR);
    for (int i = 0; i < 6; i++)
        put(fixture, 10, 0);
    struct culex_step_reply reply = fixture_step(fixture->store, "q", ONE, 4, NULL, 0);
    assert_int_equal(reply.grant_count, 4);
    end(fixture, reply.grants[0].facts.id, CULEX_EVENT_DONE);
    fixture->store->ops->step_release(fixture->store, &reply);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM block JOIN ended USING (first)"),
                     1);
}

/* Another block, of what the third of the four has. */
#define SECOND_BLOCK                                                                               \
    "INSERT INTO block SELECT first + 2, queue, 'bbbbbbbbbbbbbbbb', since_ms, lease_ms,"           \
    " timeout_ms, 1, 1 FROM block"

static const struct {
    const char *sql;
    unsigned records, wrong, damaged, live;
} block_damages[] = {
    /* Done and held: it does not run again. */
    {"UPDATE block SET held = held | 1", 6, 1, 0, 5},
    {"UPDATE ended SET runs = runs | 2; UPDATE queue SET active = active - 1, kept_done = 2", 6, 1,
     0, 4},
    /* Held twice, kept twice: once is enough. */
    {SECOND_BLOCK, 6, 1, 0, 5},
    {"INSERT INTO ended SELECT first, until_ms + 1, queue, session, runs FROM ended", 6, 1, 0, 5},
    /* What a later claim has taken was not of the one before, whatever that tells. */
    {SECOND_BLOCK "; UPDATE block SET held = held - 4 WHERE held > 4; UPDATE ended SET runs = 5", 6,
     1, 0, 5},
    {"INSERT INTO ended SELECT first + 2, until_ms, queue, session, 1 FROM ended;"
     "UPDATE queue SET active = active - 1, kept_done = 2",
     6, 1, 0, 4},
    {"INSERT INTO ended SELECT first + 2, until_ms, queue, session, 1 FROM ended;"
     "UPDATE ended SET runs = 5 WHERE runs = 1 AND first % 4 = 0;"
     "UPDATE block SET held = held - 4; UPDATE queue SET active = active - 1, kept_done = 2",
     6, 1, 0, 4},
    {"SELECT 1", 6, 0, 0, 5},
    {"UPDATE block SET held = held | (1 << 40)", 6, 1, 0, 5},
    {"UPDATE ended SET runs = runs | (1 << 40)", 6, 1, 0, 5},
    {"UPDATE block SET session = printf('%99d', 1)", 6, 0, 0, 5},
    {"DELETE FROM body WHERE " FIXTURE_BODY " AND seq % 16 = 9", 5, 2, 0, 4},
    {"DELETE FROM body WHERE " FIXTURE_BODY " AND seq % 16 = 8", 5, 2, 0, 5},
    {"DELETE FROM body WHERE " FIXTURE_BODY " AND seq % 16 < 12", 2, 6, 0, 2},
    {"UPDATE block SET held = held & 8", 6, 4, 0, 5},
    {"DELETE FROM ended", 6, 3, 0, 6},
    {"UPDATE body SET payload = x'00' WHERE " FIXTURE_BODY " AND seq % 16 < 12", 6, 0, 0, 2},
    {"UPDATE body SET checksum = 9 WHERE " FIXTURE_REAR, 6, 1, 0, 5},
    {"DELETE FROM body WHERE " FIXTURE_BODY
     " AND seq % 16 > 11; UPDATE queue SET pending = 0; UPDATE body SET checksum = 9, kind = 0 "
     "WHERE " FIXTURE_REAR,
     4, 1, 0, 3},
};

static void test_each_damage_of_a_block_is_repaired(void **state)
{
    for (size_t i = 0; i < sizeof block_damages / sizeof block_damages[0]; i++) {
        if (i > 0)
            assert_int_equal(teardown(state) + setup(state), 0);
        struct fixture *fixture = *state;
        seed_block(fixture);
        fixture_sql(fixture, block_damages[i].sql);
        for (int is_repairing = 0; is_repairing < 2; is_repairing++) {
            culex_fsck_counts counts = is_repairing ? fsck(fixture, "q", true) : report(fixture);
            if (counts.wrong != block_damages[i].wrong ||
                counts.damaged != block_damages[i].damaged ||
                counts.records != block_damages[i].records)
                fail_msg("%s: %d records, %d wrong, %d damaged", block_damages[i].sql,
                         (int)counts.records, (int)counts.wrong, (int)counts.damaged);
        }
        culex_fsck_counts after = report(fixture);
        assert_int_equal(after.wrong + after.damaged, 0);
        assert_sound(fixture);
        size_t live = drain(fixture);
        if (live != block_damages[i].live)
            fail_msg("%s: %zu runs were executed", block_damages[i].sql, live);
        after = report(fixture);
        assert_int_equal(after.wrong + after.damaged, 0);
    }
}

/* --- limits ---------------------------------------------------------------------------------- */

static const struct culex_run_limit by_tenant = {CULEX_LIMIT_CONCURRENCY, "j:concurrency", "a",
                                                 .count = 1};
static const struct culex_run_limit by_other = {CULEX_LIMIT_CONCURRENCY, "j:concurrency", "b",
                                                .count = 1};
static const struct culex_run_limit by_rate = {CULEX_LIMIT_RATE, "j:rate",       "k",
                                               .count = 1,       .per_ms = 1000, .burst = 1};
static const struct culex_run_limit by_share = {CULEX_LIMIT_FAIR, "j:fair", "t", .count = 0};

static void put_limited(struct fixture *fixture, const struct culex_run_limit *limit, int priority,
                        int count)
{
    for (int i = 0; i < count; i++) {
        struct culex_new_run run = fixture_own_run("{}", 2);
        run.limits = limit;
        run.limit_count = 1;
        run.priority = priority;
        assert_int_equal(fixture_enqueue(fixture->store, "q", &run), CULEX_ENQUEUED_NEW);
    }
}

enum { LIMITED_COUNT = 4 + 1 + 3 + 18 };

/* Behind the seed: of a slot and of a token one is at work and some are parked, of another slot one
 * stands; a fair share has all its places and some parked. */
static void seed_limited(struct fixture *fixture)
{
    put_limited(fixture, &by_tenant, 9, 1);
    take(fixture);
    put_limited(fixture, &by_rate, 9, 1);
    take(fixture);
    put_limited(fixture, &by_tenant, 0, 3);
    put_limited(fixture, &by_other, 0, 1);
    put_limited(fixture, &by_rate, 0, 2);
    put_limited(fixture, &by_share, 0, 18);
    assert_int_equal(fixture_ask(fixture, "SELECT sum(parked) FROM limit_key"), 3 + 2 + 2);
}

#define OF(kind) " WHERE limits LIKE 'j:" kind "=%' AND state = 'W'"

static const struct limit_damage {
    const char *sql;
    unsigned wrong;
} limit_damages[] = {
    {"SELECT 1", 0},
    /* What a key counts, and then the total of its limit too. */
    {"UPDATE limit_key SET active = 0 WHERE key = 'a'", 2},
    {"UPDATE limit_key SET active = 9 WHERE key = 'a'", 2},
    {"UPDATE limit_key SET parked = 0 WHERE key = 'a'", 2},
    {"UPDATE limit_key SET standing = 0 WHERE key = 't'", 1},
    {"UPDATE limit_key SET standing = 99 WHERE key = 'b'", 1},
    {"UPDATE run_limit SET keys = 0, active = 7, parked = 99", 3},
    {"UPDATE queue SET limits = 0", 1},
    /* Nobody would look. */
    {"UPDATE limit_key SET look_ms = NULL WHERE key = 'k'", 1},
    {"UPDATE run_limit SET swept = '' WHERE name LIKE '%rate';"
     "UPDATE limit_key SET look_ms = NULL WHERE key = 'k'",
     1},
    /* A key is lost, has another name, or is of a limit that is lost. */
    {"DELETE FROM limit_key WHERE key = 'a'", 3 + 1 + 1},
    {"UPDATE limit_key SET key = 'z' WHERE key = 'a'", 3 + 1 + 1},
    {"DELETE FROM run_limit WHERE name LIKE '%concurrency'", 3 + 2 + 1},
    {"INSERT INTO limit_key (run_limit, queue, key, look_ms) SELECT 99, queue, 'x', 0 FROM queue",
     1},
    /* Where runs stand. */
    {"UPDATE run SET aside = 0" OF("concurrency"), 1},
    {"UPDATE run SET aside = 999" OF("rate"), 2 + 1},
    {"UPDATE run SET aside = -1" OF("concurrency") " AND aside = 0", 1},
    {"UPDATE run SET aside = 1 WHERE state = 'A'", 3},
    {"UPDATE run SET aside = 0 WHERE is_delayed = 1", 0},
    /* Numbers that no limit has. */
    {"UPDATE run_limit SET count = 0 WHERE name LIKE '%concurrency'", 1},
    {"UPDATE run_limit SET burst = -1 WHERE name LIKE '%rate'", 1},
    {"UPDATE run_limit SET kind = 77 WHERE name LIKE '%fair'", 1},
    {"UPDATE run_limit SET set_count = -5 WHERE name LIKE '%concurrency'", 1},
    /* The longest time in which a bucket fills: shorter than that of one, or than any. */
    {"UPDATE queue SET longest_fill_ms = 1000", 1},
    {"UPDATE queue SET longest_fill_ms = -1", 1},
    {"UPDATE queue SET longest_fill_ms = 9000000000000000", 1},
    {"UPDATE queue SET longest_fill_ms = 31622400001", 0},
    /* A bucket as of a clock that was ahead: no fault, it is cut. */
    {"UPDATE limit_key SET tat_us = 9000000000000000, look_ms = 9000000000000 WHERE key = 'k'", 0},
};

static void test_each_damage_of_limits_is_repaired(void **state)
{
    for (size_t i = 0; i < sizeof limit_damages / sizeof limit_damages[0]; i++) {
        if (i > 0)
            assert_int_equal(teardown(state) + setup(state), 0);
        struct fixture *fixture = *state;
        seed_limited(fixture);
        fixture_sql(fixture, limit_damages[i].sql);
        for (int is_repairing = 0; is_repairing < 2; is_repairing++) {
            culex_fsck_counts counts = is_repairing ? fsck(fixture, "q", true) : report(fixture);
            if (counts.wrong != limit_damages[i].wrong || counts.damaged != 0)
                fail_msg("%s: %d wrong, %d damaged", limit_damages[i].sql, (int)counts.wrong,
                         (int)counts.damaged);
            assert_int_equal(counts.records, SEED_COUNT + LIMITED_COUNT);
        }
        culex_fsck_counts after = report(fixture);
        assert_int_equal(after.wrong + after.damaged, 0);
        size_t live = drain(fixture);
        if (live != LIVE_COUNT + LIMITED_COUNT)
            fail_msg("%s: %zu runs were executed", limit_damages[i].sql, live);
        after = report(fixture);
        assert_int_equal(after.wrong + after.damaged, 0);
        fixture->now_ms += 3600000;
        drain(fixture);
        assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM limit_key"), 0);
    }
}

/* Of the slot that is taken one of each kind is parked; of another one of each stands, and waits
 * for what it needs. */
static void seed_needs(struct fixture *fixture)
{
    static const char *const keys[] = {"a", "b"}, *const needs[] = {"needs gpu:1", "needs gpu:2"};
    put_limited(fixture, &by_tenant, 9, 1);
    take(fixture);
    for (int i = 0; i < 4; i++) {
        struct culex_new_run run = fixture_own_run("{}", 2);
        struct culex_run_limit limits[] = {by_tenant,
                                           {CULEX_LIMIT_NEEDS, needs[i % 2], NULL, .count = 0}};
        limits[0].key = keys[i / 2];
        run.limits = limits;
        run.limit_count = 2;
        assert_int_equal(fixture_enqueue(fixture->store, "q", &run), CULEX_ENQUEUED_NEW);
    }
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM limit_key"), 2 + 4 + 2);
}

#define PART(key, needs) "'" key "' || char(1) || '" needs "'"

static void test_each_damage_of_needs_is_repaired(void **state)
{
    static const struct limit_damage harms[] = {
        {"SELECT 1", 0},
        {"UPDATE limit_key SET parked = 0 WHERE key = " PART("a", "gpu:1"), 2},
        {"UPDATE limit_key SET standing = 0 WHERE key = " PART("b", "gpu:2"), 1},
        {"UPDATE limit_key SET standing = 9 WHERE key = 'b'", 1},
        {"UPDATE run_limit SET parked = 9 WHERE name = 'needs gpu:1'", 1},
        {"DELETE FROM limit_key WHERE key = " PART("b", "gpu:1"), 1},
        {"DELETE FROM limit_key WHERE key = 'b'", 3},
        {"INSERT INTO limit_key (run_limit, queue, key) SELECT run_limit, queue, " PART(
             "a", "gpu:7") " FROM limit_key WHERE key = 'a'",
         1},
    };
    for (size_t i = 0; i < sizeof harms / sizeof harms[0]; i++) {
        if (i > 0)
            assert_int_equal(teardown(state) + setup(state), 0);
        struct fixture *fixture = *state;
        seed_needs(fixture);
        fixture_sql(fixture, harms[i].sql);
        for (int is_repairing = 0; is_repairing < 2; is_repairing++) {
            culex_fsck_counts counts = is_repairing ? fsck(fixture, "q", true) : report(fixture);
            if (counts.wrong != harms[i].wrong || counts.damaged != 0)
                fail_msg("%s: %d wrong, %d damaged", harms[i].sql, (int)counts.wrong,
                         (int)counts.damaged);
        }
        culex_fsck_counts after = report(fixture);
        assert_int_equal(after.wrong + after.damaged, 0);
        size_t live = drain(fixture);
        if (live != LIVE_COUNT + 5)
            fail_msg("%s: %zu runs were executed", harms[i].sql, live);
        after = report(fixture);
        assert_int_equal(after.wrong + after.damaged, 0);
        assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM limit_key"), 0);
    }
}

static void test_run_of_needs_in_the_ready_order_is_granted_to_nobody(void **state)
{
    struct fixture *fixture = *state;
    seed_needs(fixture);
    fixture_sql(fixture, "UPDATE run SET aside = 0 WHERE limits LIKE '%=b;needs gpu:1='");
    struct culex_step_reply reply;
    const struct culex_step step = {.queue = "q",
                                    .session = "00000000000000aa",
                                    .nonce = fixture_nonce(),
                                    .want = 64,
                                    .max_bytes = 1 << 20,
                                    .lease_ms = 30000};
    assert_int_equal(fixture->store->ops->step(fixture->store, &step, &reply, NULL), CULEX_OK);
    assert_true(reply.grant_count > 0);
    for (size_t i = 0; i < reply.grant_count; i++)
        assert_null(reply.grants[i].needs);
    fixture->store->ops->step_release(fixture->store, &reply);
    assert_int_equal(fixture_ask(fixture,
                                 "SELECT count(*) FROM run WHERE state = 'W' AND aside = 0 AND "
                                 "limits LIKE '%needs%'"),
                     0);
}

/* In the ready order anybody would have it: who meets it there parks it, and so does FSCK. */
static void test_run_of_needs_in_the_ready_order_is_parked(void **state)
{
    for (int is_repaired = 0; is_repaired < 2; is_repaired++) {
        struct fixture *fixture = *state;
        if (is_repaired) {
            assert_int_equal(teardown(state) + setup(state), 0);
            fixture = *state;
        }
        seed_needs(fixture);
        fixture_sql(fixture, "UPDATE run SET aside = 0 WHERE limits LIKE '%=b;needs gpu:1='");
        assert_true(report(fixture).wrong > 0);
        if (is_repaired)
            assert_int_equal(fsck(fixture, "q", true).wrong, 1);
        assert_int_equal(drain(fixture), LIVE_COUNT + 5);
        fsck(fixture, "q", true);
        assert_int_equal(report(fixture).wrong, 0);
    }
}

/* Until somebody repairs it too: the queue goes on, and the next run tells what the limit is. */
static void test_limit_of_damaged_numbers_stops_no_queue(void **state)
{
    struct fixture *fixture = *state;
    seed_limited(fixture);
    fixture_sql(fixture, "UPDATE run_limit SET count = 0 WHERE name LIKE '%concurrency'");
    put_limited(fixture, &by_tenant, 0, 1);
    assert_int_equal(
        fixture_ask(fixture, "SELECT count FROM run_limit WHERE name LIKE '%concurrency'"), 1);
    assert_int_equal(drain(fixture), LIVE_COUNT + LIMITED_COUNT + 1);
}

/* --- unique keys ------------------------------------------------------------------------------ */

/* Behind the seed: a run that keeps its key while it lives, and one whose key a window keeps. */
static void seed_unique(struct fixture *fixture)
{
    struct culex_new_run run = fixture_own_run("{}", 2);
    run.unique_key = "aa";
    run.unique_while = CULEX_UNIQUE_LIVE;
    assert_int_equal(fixture_enqueue(fixture->store, "q", &run), CULEX_ENQUEUED_NEW);
    run.unique_key = "bb";
    run.unique_while = 0;
    run.unique_for_ms = 3600000;
    assert_int_equal(fixture_enqueue(fixture->store, "q", &run), CULEX_ENQUEUED_NEW);
}

/* One that is closed, with one member that has not ended. */
#define BATCH                                                                                      \
    "INSERT INTO batch (batch, queue, id, state, added, keep_ms, at_ms, depth, parent, opened_ms)" \
    " SELECT 1, queue, CAST('the batch of one' AS BLOB), 'C', 1, 1000, 9223372036854775807, 1,"    \
    " zeroblob(16), 1 FROM queue"                                                                  \
    " WHERE name = 'q';"

static const struct {
    const char *sql;
    unsigned wrong;
} key_damages[] = {
    {"SELECT 1", 0},
    /* A mark of no key, of one that a window keeps, of another value, and beside a window. */
    {"UPDATE run SET has_key = 1 WHERE seq = (SELECT max(seq) FROM run WHERE unique_key IS NULL AND"
     " state = 'W')",
     1},
    {"UPDATE run SET has_key = 1 WHERE unique_key = 'bb'", 1},
    {"UPDATE run SET has_key = 7 WHERE unique_key = 'aa'", 1},
    {"INSERT INTO unique_window SELECT queue, 'aa', id, (SELECT until_ms FROM unique_window)"
     " FROM run WHERE unique_key = 'aa'",
     1},
    /* A window that nobody can have asked for. */
    {"UPDATE unique_window SET until_ms = 9000000000000000", 1},
    /* A clock that was ahead. */
    {"UPDATE unique_window SET until_ms = until_ms + 30 * 86400000", 0},
    /* Somebody who waits; whom no step would look for; for what has ended, for nothing, for ever.
     */
    {"INSERT INTO wait SELECT queue, seq, '@x', created_at_ms + 9 FROM run WHERE unique_key = 'aa';"
     " UPDATE queue SET waits = 1",
     0},
    {"INSERT INTO wait SELECT queue, seq, '@x', created_at_ms + 9 FROM run WHERE unique_key = 'aa'",
     1},
    {"INSERT INTO wait SELECT queue, seq, '@x', created_at_ms + 9 FROM run WHERE state = 'X' LIMIT "
     "1;"
     " UPDATE queue SET waits = 1",
     1},
    {"INSERT INTO wait SELECT queue, seq + 99, '@x', created_at_ms + 9 FROM run WHERE unique_key ="
     " 'bb'; UPDATE queue SET waits = 1",
     1},
    {"INSERT INTO wait SELECT queue, seq, '@x', 9000000000000000 FROM run WHERE unique_key = 'aa';"
     " UPDATE queue SET waits = 1",
     1},
    /* Members that wait; whom no step would look for; of what has ended, and of nothing. */
    {BATCH "INSERT INTO member SELECT seq, 1 FROM run WHERE unique_key = 'aa';"
           " UPDATE queue SET batches = 1",
     0},
    {BATCH "INSERT INTO member SELECT seq, 1 FROM run WHERE unique_key = 'aa'", 1},
    {BATCH "INSERT INTO member SELECT seq, 1 FROM run WHERE state = 'X' LIMIT 1;"
           " UPDATE queue SET batches = 1",
     1},
    {BATCH "INSERT INTO member SELECT seq + 99, 1 FROM run WHERE unique_key = 'bb';"
           " UPDATE queue SET batches = 1",
     1},
    /* Events in their form, and out of it. */
    {"INSERT INTO event SELECT queue << 48 | 1,"
     " x'317c357c310a507c307c317c0a000000000000000000000000000000000001' FROM queue;"
     " UPDATE queue SET events_last = 1",
     0},
    {"INSERT INTO event SELECT queue << 48 | 1, x'317c357c310a507c307c317c0a0000' FROM queue"
     " UNION ALL SELECT queue << 48 | 2,"
     " x'317c357c310a507c307c317c0a000000000000000000000000000000000001' FROM queue;"
     " UPDATE queue SET events_last = 2",
     2},
    /* Those of the queue's row too; and positions that are behind a row, or none. */
    {"UPDATE queue SET events_last = 1,"
     " events = x'317c357c310a507c307c317c0a000000000000000000000000000000000001'",
     0},
    {"UPDATE queue SET events_last = 2,"
     " events = x'317c357c310a507c307c317c0a000000000000000000000000000000000001'",
     1},
    {"INSERT INTO event SELECT queue << 48 | 1,"
     " x'317c357c310a507c307c317c0a000000000000000000000000000000000001' FROM queue",
     1},
    {"UPDATE queue SET events_last = -1", 1},
    {"UPDATE queue SET events_last = 1 << 60", 1},
    /* Figures in their form, and out of it. */
    {"INSERT INTO figure SELECT queue, 1, 'j', '1,0,0,0,0,0;2:1;3:1' FROM queue", 0},
    {"INSERT INTO figure SELECT queue, 1, 'j', '1,0,0,0,0,0;2:1;3:1' FROM queue UNION ALL"
     " SELECT queue, 1, 'k', '1,0,0,0,0,0;2:1' FROM queue UNION ALL"
     " SELECT queue, 2, 'k', '' FROM queue",
     2},
};

static void test_each_damage_of_unique_keys_is_repaired(void **state)
{
    for (size_t i = 0; i < sizeof key_damages / sizeof key_damages[0]; i++) {
        if (i > 0)
            assert_int_equal(teardown(state) + setup(state), 0);
        struct fixture *fixture = *state;
        seed_unique(fixture);
        fixture_sql(fixture, key_damages[i].sql);
        for (int is_repairing = 0; is_repairing < 2; is_repairing++) {
            culex_fsck_counts counts = is_repairing ? fsck(fixture, "q", true) : report(fixture);
            if (counts.wrong != key_damages[i].wrong || counts.damaged != 0)
                fail_msg("%s: %d wrong, %d damaged", key_damages[i].sql, (int)counts.wrong,
                         (int)counts.damaged);
            assert_int_equal(counts.records, SEED_COUNT + 2);
        }
        culex_fsck_counts after = report(fixture);
        assert_int_equal(after.wrong + after.damaged, 0);
        assert_int_equal(drain(fixture), LIVE_COUNT + 2);
        fixture->now_ms += INT64_C(32) * 86400000;
        drain(fixture);
        assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM unique_window"), 0);
        assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM wait"), 0);
        assert_int_equal(fixture_ask(fixture, "SELECT sum(waits) FROM queue"), 0);
        assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM batch"), 0);
        assert_int_equal(fixture_ask(fixture, "SELECT sum(batches) FROM queue"), 0);
    }
}

static void test_damaged_run_is_dead_and_says_why(void **state)
{
    struct fixture *fixture = *state;
    fixture_sql(fixture, "UPDATE run SET payload = NULL" PLAIN);
    fixture_sql(fixture, "UPDATE run SET losses = -3" LATER);
    assert_int_equal(fsck(fixture, "q", true).damaged, 2);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM run WHERE state = 'X' AND"
                                          " error_text LIKE 'damaged in the store:%'"),
                     1);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM run WHERE state = 'X' AND"
                                          " error_text LIKE 'the record was damaged:%losses -3%'"),
                     1);
    /* What is put aside stays for whoever looks. */
    fixture->now_ms += INT64_C(1000) * 86400000;
    drain(fixture);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM run WHERE state = 'X' AND"
                                          " error_text LIKE 'the record was damaged:%'"),
                     1);
}

/* Its handler has the payload, and its result counts. */
static void test_active_run_without_payload_may_finish(void **state)
{
    struct fixture *fixture = *state;
    fixture_sql(fixture, "UPDATE run SET payload = NULL WHERE state = 'A'");
    culex_fsck_counts counts = fsck(fixture, "q", true);
    assert_int_equal(counts.wrong + counts.damaged, 0);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM run WHERE state = 'A'"), 1);
}

static void test_other_queue_is_left_alone(void **state)
{
    struct fixture *fixture = *state;
    fixture_sql(fixture, "UPDATE run SET payload = NULL" PLAIN);
    fixture_sql(fixture, "INSERT INTO queue (name, salt) VALUES ('other', 1);"
                         "INSERT INTO body SELECT (queue << 48) + 281474976710655, 0, 0, 0,"
                         " zeroblob(40) FROM queue WHERE name = 'other'");
    culex_fsck_counts counts = fsck(fixture, "other", true);
    assert_int_equal(counts.records + counts.wrong + counts.damaged, 0);
    assert_int_equal(fsck(fixture, "q", false).damaged, 1);
}

static void test_many_rows_take_many_calls(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 450; i++)
        put(fixture, i % 2 == 0 ? LONG : 10, 0);
    fixture_sql(fixture, "UPDATE payload SET bytes = x'00' WHERE seq % 4 = 0;"
                         "UPDATE body SET payload = x'00' WHERE " FIXTURE_BODY " AND seq % 4 = 1");
    int64_t spoilt =
        fixture_ask(fixture, "SELECT (SELECT count(*) FROM payload WHERE seq % 4 = 0) +"
                             " (SELECT count(*) FROM bodies WHERE seq % 4 = 1)");
    assert_true(spoilt > 50);
    culex_fsck_counts counts = fsck(fixture, "q", true);
    assert_int_equal(counts.records, SEED_COUNT + 450);
    assert_int_equal(counts.damaged, spoilt);
    assert_int_equal(drain(fixture), LIVE_COUNT + 450 - spoilt);
}

/* The next run gets none that another one has, nor one that any had. */
static void test_numbers_go_on_behind_those_in_use(void **state)
{
    static const char *const numbers[] = {"0", "6", "7", "100"};
    static const int64_t next[] = {8, 9, 10, 101};
    struct fixture *fixture = *state;
    char sql[128];
    for (size_t i = 0; i < sizeof next / sizeof next[0]; i++) {
        snprintf(sql, sizeof sql, "UPDATE body SET checksum = %s WHERE " FIXTURE_REAR, numbers[i]);
        fixture_sql(fixture, sql);
        fsck(fixture, "q", true);
        put(fixture, 10, 0);
        assert_int_equal(fixture_ask(fixture, "SELECT number FROM queues"), next[i]);
    }
}

/* Without its rear too a queue gives no number again: of whichever kind the last run is, done ones
 * that are kept included. */
static void test_numbers_go_on_without_a_rear(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 4; i++) {
        int64_t last = fixture_ask(fixture, "SELECT max(place) FROM runs") % (1 << 20);
        fixture_sql(fixture, "DELETE FROM body WHERE " FIXTURE_REAR);
        put(fixture, i % 2 == 0 ? LONG : 10, 0);
        assert_in_range(fixture_ask(fixture, "SELECT number FROM queues"), last + 1, last + 64);
        fsck(fixture, "q", true);
        assert_sound(fixture);
        drain(fixture);
    }
}

/* What a damaged id bears is no number: it would use up all that there are. */
static void test_number_of_a_damaged_run_is_not_believed(void **state)
{
    struct fixture *fixture = *state;
    fixture_sql(fixture,
                "UPDATE run SET id = CAST(substr(id, 1, 10) || x'0fffffffffff' AS BLOB)" LATER);
    culex_fsck_counts counts = fsck(fixture, "q", true);
    assert_int_equal(counts.damaged, 1);
    assert_int_equal(counts.wrong, 0);
    assert_int_equal(fixture_ask(fixture, "SELECT number FROM queues"), SEED_COUNT);
}

/* The public call goes from share to share and adds up. */
static void test_client_adds_up_all_shares(void **state)
{
    struct fixture *fixture = *state;
    culex_client *client = NULL;
    culex_fsck_counts counts;
    char url[128];
    for (int i = 0; i < 250; i++)
        put(fixture, 10, 0);
    fixture_sql(fixture, "UPDATE queue SET pending = 0, kept_done = 9");
    fixture_sql(fixture, "UPDATE run SET payload = NULL" LATER);
    snprintf(url, sizeof url, "sqlite:%s", fixture->path);
    assert_int_equal(culex_client_open(url, NULL, &client, NULL), CULEX_OK);
    for (int is_repairing = 0; is_repairing < 2; is_repairing++) {
        assert_int_equal(culex_client_fsck(client, "q", is_repairing != 0, &counts, NULL),
                         CULEX_OK);
        assert_int_equal(counts.records, SEED_COUNT + 250);
        assert_int_equal(counts.wrong, 2);
        assert_int_equal(counts.damaged, 1);
    }
    assert_int_equal(culex_client_fsck(client, "q", false, &counts, NULL), CULEX_OK);
    assert_int_equal(counts.wrong + counts.damaged, 0);
    assert_int_equal(culex_client_fsck(client, "", false, &counts, NULL), CULEX_EINVAL);
    assert_int_equal(culex_client_fsck(NULL, "q", false, &counts, NULL), CULEX_EINVAL);
    assert_int_equal(culex_client_fsck(client, "q", false, NULL, NULL), CULEX_EINVAL);
    culex_client_close(client);
}

static void test_cursor_of_nobody_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct culex_fsck_reply reply;
    culex_error error;
    assert_int_equal(
        fixture->store->ops->fsck(fixture->store, "q", UINT64_MAX, true, &reply, &error),
        CULEX_EINVAL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_each_damage_is_counted_and_repaired),
        TEST(test_each_damage_of_an_ordinary_run_is_repaired),
        TEST(test_each_damage_of_a_block_is_repaired),
        TEST(test_each_damage_of_limits_is_repaired),
        TEST(test_each_damage_of_needs_is_repaired),
        TEST(test_run_of_needs_in_the_ready_order_is_granted_to_nobody),
        TEST(test_run_of_needs_in_the_ready_order_is_parked),
        TEST(test_limit_of_damaged_numbers_stops_no_queue),
        TEST(test_each_damage_of_unique_keys_is_repaired),
        TEST(test_damaged_run_is_dead_and_says_why),
        TEST(test_active_run_without_payload_may_finish),
        TEST(test_other_queue_is_left_alone),
        TEST(test_many_rows_take_many_calls),
        TEST(test_numbers_go_on_behind_those_in_use),
        TEST(test_numbers_go_on_without_a_rear),
        TEST(test_number_of_a_damaged_run_is_not_believed),
        TEST(test_client_adds_up_all_shares),
        TEST(test_cursor_of_nobody_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
