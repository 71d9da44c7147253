/* test_sqlite_block.c - ordinary runs in their blocks: what a claim, an ack and a beat change of
 * them, when they become runs of their own, and how their kinds are forgotten. */
#include "fixture.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/sqlite/block.h"
#include "base/limits.h"
#include "core/run_id.h"

#define ONE "aaaaaaaaaaaaaaaa"
#define TWO "bbbbbbbbbbbbbbbb"

enum { MOST = 200, LEASE_MS = 60000 };

/* --- calls ------------------------------------------------------------------------------------ */

static struct culex_new_run run_of(int64_t keep_ms)
{
    struct culex_new_run run = fixture_run("{\"to\":\"x\"}", 10);
    run.keep_success_ms = keep_ms;
    return run;
}

static culex_uuid put(struct fixture *fixture, int64_t keep_ms)
{
    struct culex_new_run run = run_of(keep_ms);
    return fixture_put(fixture->store, "q", &run);
}

static culex_uuid put_own(struct fixture *fixture)
{
    struct culex_new_run run = fixture_own_run("x", 1);
    return fixture_put(fixture->store, "q", &run);
}

/* What a claim has granted. */
struct taken {
    culex_uuid ids[MOST];
    size_t count;
};

static struct culex_step step_as(const char *session)
{
    return (struct culex_step){.queue = "q",
                               .session = session,
                               .nonce = fixture_nonce(),
                               .max_bytes = 1 << 20,
                               .lease_ms = LEASE_MS};
}

static struct culex_step_reply step_go(struct fixture *fixture, const struct culex_step *step)
{
    struct culex_step_reply reply;
    culex_error error = {.text = ""};
    if (fixture->store->ops->step(fixture->store, step, &reply, &error) != CULEX_OK)
        fail_msg("step: %s", error.text);
    return reply;
}

static struct taken taken_of(struct fixture *fixture, const struct culex_step *step)
{
    struct taken taken = {.count = 0};
    struct culex_step_reply reply = step_go(fixture, step);
    taken.count = reply.grant_count;
    assert_in_range(taken.count, 0, MOST);
    for (size_t i = 0; i < taken.count; i++)
        taken.ids[i] = reply.grants[i].facts.id;
    fixture->store->ops->step_release(fixture->store, &reply);
    return taken;
}

static struct taken take(struct fixture *fixture, const char *session, uint32_t want)
{
    struct culex_step step = step_as(session);
    step.want = want;
    return taken_of(fixture, &step);
}

static void assert_taken(const struct taken *taken, const culex_uuid *ids, size_t count)
{
    assert_int_equal(taken->count, count);
    assert_memory_equal(taken->ids, ids, count * sizeof *ids);
}

/* One call with acks as DONE; each is answered `answer`. */
static void done(struct fixture *fixture, const char *session, const culex_uuid *ids, size_t count,
                 enum culex_answer answer)
{
    struct culex_ack acks[MOST];
    for (size_t i = 0; i < count; i++)
        acks[i] = (struct culex_ack){.id = ids[i], .attempt = 1, .event = CULEX_EVENT_DONE};
    struct culex_step_reply reply = fixture_step(fixture->store, "q", session, 0, acks, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(reply.acks[i], answer);
    fixture->store->ops->step_release(fixture->store, &reply);
}

static void end(struct fixture *fixture, const char *session, struct culex_ack ack)
{
    struct culex_step_reply reply = fixture_step(fixture->store, "q", session, 0, &ack, 1);
    assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
    fixture->store->ops->step_release(fixture->store, &reply);
}

static void beat(struct fixture *fixture, struct culex_beat *beats, const culex_uuid *ids,
                 size_t count)
{
    struct culex_step step = step_as(ONE);
    for (size_t i = 0; i < count; i++) {
        beats[i].id = ids[i];
        beats[i].attempt = 1;
    }
    step.beats = beats;
    step.beat_count = count;
    struct culex_step_reply reply = step_go(fixture, &step);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(reply.beats[i], CULEX_ANSWER_OK);
    fixture->store->ops->step_release(fixture->store, &reply);
}

/* State, attempt and at_ms as GET tells them; no payload comes with a done one. */
static void assert_state(struct fixture *fixture, culex_uuid id, culex_run_state state,
                         int64_t at_ms)
{
    culex_run_info *info = NULL;
    assert_int_equal(fixture->store->ops->get(fixture->store, "q", id, &info, NULL), CULEX_OK);
    assert_int_equal(info->state, state);
    assert_int_equal(info->attempt, state != CULEX_RUN_WAITING);
    assert_int_equal(info->at_ms, at_ms);
    assert_int_equal(info->payload.len == 0, state == CULEX_RUN_DONE);
    culex_run_info_free(info);
}

static void assert_gone(struct fixture *fixture, culex_uuid id)
{
    culex_run_info *info = NULL;
    assert_int_equal(fixture->store->ops->get(fixture->store, "q", id, &info, NULL),
                     CULEX_ENOTFOUND);
}

/* Rows of bodies, blocks, ends and runs. */
static void assert_rows(struct fixture *fixture, int bodies, int blocks, int ends, int runs)
{
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM bodies"), bodies);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM block"), blocks);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM ended"), ends);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM run"), runs);
}

static void idle_step(struct fixture *fixture)
{
    struct taken none = take(fixture, TWO, 0);
    assert_int_equal(none.count, 0);
}

static int64_t stat_of(struct fixture *fixture, culex_run_state state)
{
    culex_queue_stats stats;
    assert_int_equal(fixture->store->ops->stats(fixture->store, "q", &stats, NULL), CULEX_OK);
    return (int64_t)stats.count[state];
}

/* --- claims ----------------------------------------------------------------------------------- */

static void test_claim__is_one_row(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid ids[8];
    for (int i = 0; i < 8; i++)
        ids[i] = put(fixture, 0);
    struct taken taken = take(fixture, ONE, 5);
    assert_taken(&taken, ids, 5);
    assert_rows(fixture, 8, 1, 0, 0);
    assert_state(fixture, ids[4], CULEX_RUN_ACTIVE, fixture->now_ms + LEASE_MS);
    assert_state(fixture, ids[5], CULEX_RUN_WAITING, 0);
    taken = take(fixture, TWO, 5);
    assert_taken(&taken, ids + 5, 3);
    assert_int_equal(stat_of(fixture, CULEX_RUN_ACTIVE), 8);
    assert_int_equal(stat_of(fixture, CULEX_RUN_WAITING), 0);
}

static void test_claim__of_many_makes_several_blocks(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid ids[MOST];
    for (int i = 0; i < MOST; i++)
        ids[i] = put(fixture, 0);
    struct taken taken = take(fixture, ONE, MOST);
    assert_taken(&taken, ids, MOST);
    assert_rows(fixture, MOST, 4, 0, 0);
    done(fixture, ONE, ids, MOST, CULEX_ANSWER_OK);
    assert_rows(fixture, 0, 0, 0, 0);
}

/* A later block may go before an earlier one. */
static void test_claim__goes_on_behind_what_is_left(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid ids[6];
    for (int i = 0; i < 6; i++)
        ids[i] = put(fixture, i < 4 ? 0 : 5000);
    take(fixture, ONE, 2);
    take(fixture, TWO, 2);
    done(fixture, TWO, ids + 2, 2, CULEX_ANSWER_OK);
    struct taken taken = take(fixture, ONE, 1);
    assert_taken(&taken, ids + 4, 1);
    done(fixture, ONE, ids + 4, 1, CULEX_ANSWER_OK);
    assert_rows(fixture, 4, 1, 1, 0); /* its end keeps it from being taken again */
    taken = take(fixture, ONE, 2);
    assert_taken(&taken, ids + 5, 1);
}

/* Each stands where it became ready, whichever table it is in. */
static void test_claim__merges_both_worlds(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid ids[6];
    for (int i = 0; i < 6; i++) {
        ids[i] = i % 3 == 1 ? put_own(fixture) : put(fixture, 0);
        fixture->now_ms += i % 2;
    }
    struct taken taken = take(fixture, ONE, 3);
    assert_taken(&taken, ids, 3);
    assert_rows(fixture, 4, 1, 0, 2);
    end(fixture, ONE, (struct culex_ack){ids[1], 1, CULEX_EVENT_RELEASE, .text = NULL});
    taken = take(fixture, ONE, 4);
    assert_int_equal(taken.count, 4);
    assert_memory_equal(&taken.ids[0], &ids[1], sizeof ids[1]);
    assert_memory_equal(&taken.ids[1], &ids[3], 3 * sizeof ids[1]);
}

static void test_claim__goes_by_priority(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid low = put(fixture, 0), high[2];
    struct culex_new_run run = run_of(0);
    run.priority = 9;
    for (int i = 0; i < 2; i++)
        high[i] = fixture_put(fixture->store, "q", &run);
    struct taken taken = take(fixture, ONE, 1);
    assert_taken(&taken, high, 1);
    taken = take(fixture, ONE, 2);
    assert_int_equal(taken.count, 2);
    assert_memory_equal(&taken.ids[0], &high[1], sizeof low);
    assert_memory_equal(&taken.ids[1], &low, sizeof low);
    assert_rows(fixture, 3, 3, 0, 0);
}

/* The lost reply: what is still held is granted again, in the same order. */
static void test_claim__is_repeated(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid ids[5], left[3];
    culex_run_state run_state;
    for (int i = 0; i < 5; i++)
        ids[i] = i == 2 ? put_own(fixture) : put(fixture, 0);
    struct culex_step step = step_as(ONE);
    step.want = 5;
    struct taken taken = taken_of(fixture, &step);
    assert_taken(&taken, ids, 5);
    taken = taken_of(fixture, &step);
    assert_taken(&taken, ids, 5);
    assert_int_equal(fixture_ask(fixture, "SELECT length(answers) FROM memo"), 16 + 20);
    assert_int_equal(fixture->store->ops->cancel(fixture->store, "q", ids[3], &run_state, NULL),
                     CULEX_OK);
    taken = taken_of(fixture, &step); /* as its own run, the same attempt of the same session */
    assert_taken(&taken, ids, 5);
    fixture_sql(fixture,
                "UPDATE block SET held = 1, started = 1; UPDATE queue SET active = 3;"
                "DELETE FROM body WHERE " FIXTURE_BODY " AND seq NOT IN (SELECT first FROM block)");
    left[0] = ids[0];
    left[1] = ids[2];
    left[2] = ids[3];
    taken = taken_of(fixture, &step);
    assert_taken(&taken, left, 3);
}

/* A run that was due later stands behind one with a greater key. */
static void test_claim__is_repeated_in_its_order(void **state)
{
    struct fixture *fixture = *state;
    struct culex_new_run later = run_of(0);
    culex_uuid ids[3];
    later.delay_ms = 1000;
    ids[0] = put(fixture, 0);
    ids[2] = fixture_put(fixture->store, "q", &later);
    ids[1] = put(fixture, 0);
    fixture->now_ms += 1000;
    struct culex_step step = step_as(ONE);
    step.want = 3;
    for (int i = 0; i < 2; i++) {
        struct taken taken = taken_of(fixture, &step);
        assert_taken(&taken, ids, 3);
    }
}

/* Whatever damage makes of the memo, what another session holds stays with it. */
static void test_claim__is_not_repeated_to_others(void **state)
{
    struct fixture *fixture = *state;
    put(fixture, 0);
    put(fixture, 0);
    struct culex_step step = step_as(ONE);
    step.want = 1;
    assert_int_equal(taken_of(fixture, &step).count, 1);
    assert_int_equal(take(fixture, TWO, 1).count, 1);
    fixture_sql(fixture, "UPDATE memo SET answers ="
                         " (SELECT answers FROM memo WHERE session = 'bbbbbbbbbbbbbbbb')");
    assert_int_equal(taken_of(fixture, &step).count, 0);
}

/* It ends dead, with a reason, and stops nobody. */
static void test_claim__of_damaged_ones_goes_on(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid ids[4];
    for (int i = 0; i < 4; i++)
        ids[i] = put(fixture, 0);
    fixture_sql(fixture, "UPDATE body SET payload = x'00' WHERE " FIXTURE_BODY " AND seq % 16 = 2;"
                         "UPDATE body SET kind = 99 WHERE " FIXTURE_BODY " AND seq % 16 = 3");
    culex_uuid whole[] = {ids[0], ids[3]};
    struct taken taken = take(fixture, ONE, 4);
    assert_taken(&taken, whole, 2);
    assert_rows(fixture, 2, 1, 0, 2);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM run WHERE state = 'X' AND"
                                          " error_text LIKE 'damaged in the store:%'"),
                     2);
}

/* Past the checks of producers: what is wrong with it is up to the worker, so it is handed out. */
static void test_claim__hands_out_an_endless_name(void **state)
{
    struct fixture *fixture = *state;
    char job[CULEX_JOB_NAME_MAX + 2];
    struct culex_new_run runs[] = {run_of(0), run_of(0)};
    struct culex_enqueue_result results[2];
    memset(job, 'j', sizeof job - 1);
    job[sizeof job - 1] = '\0';
    runs[0].job = job;
    runs[1].job = job + 1;
    assert_int_equal(
        fixture->store->table->enqueue(fixture->store, "q", NULL, runs, 2, results, NULL),
        CULEX_OK);
    assert_rows(fixture, 1, 0, 0, 1); /* the longest good one is ordinary */
    struct culex_step_reply reply = fixture_step(fixture->store, "q", ONE, 2, NULL, 0);
    assert_int_equal(reply.grant_count, 2);
    for (int i = 0; i < 2; i++)
        assert_string_equal(reply.grants[i].job, runs[i].job);
    fixture->store->ops->step_release(fixture->store, &reply);
}

/* --- acks ------------------------------------------------------------------------------------- */

static void test_ack__of_a_part_leaves_the_rest(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid ids[6], some[3];
    for (int i = 0; i < 6; i++)
        ids[i] = put(fixture, 0);
    take(fixture, ONE, 6);
    some[0] = ids[4];
    some[1] = ids[0];
    some[2] = ids[3];
    done(fixture, ONE, some, 3, CULEX_ANSWER_OK);
    assert_rows(fixture, 3, 1, 0, 0);
    assert_gone(fixture, ids[3]);
    assert_state(fixture, ids[5], CULEX_RUN_ACTIVE, fixture->now_ms + LEASE_MS);
    done(fixture, ONE, some, 3, CULEX_ANSWER_GONE);
    done(fixture, TWO, ids + 1, 1, CULEX_ANSWER_STALE);
    done(fixture, ONE, ids + 1, 2, CULEX_ANSWER_OK);
    done(fixture, ONE, ids + 5, 1, CULEX_ANSWER_OK);
    assert_rows(fixture, 0, 0, 0, 0);
    assert_int_equal(fixture_ask(fixture, "SELECT done FROM queue"), 6);
}

/* What is kept until one moment is one row; a payload goes, one way or the other. */
static void test_ack__keeps_successes_together(void **state)
{
    struct fixture *fixture = *state;
    static const char payload[300];
    struct culex_new_run run = fixture_run(payload, sizeof payload);
    culex_uuid ids[4];
    for (int i = 0; i < 4; i++)
        ids[i] = i < 2 ? put(fixture, 1000) : fixture_put(fixture->store, "q", &run);
    take(fixture, ONE, 4);
    done(fixture, ONE, ids, 3, CULEX_ANSWER_OK);
    done(fixture, ONE, ids + 3, 1, CULEX_ANSWER_OK);
    assert_rows(fixture, 4, 0, 1, 0);
    for (int i = 0; i < 4; i++)
        assert_state(fixture, ids[i], CULEX_RUN_DONE, fixture->now_ms + 1000);
    assert_int_equal(fixture_ask(fixture, "SELECT sum(length(payload)) FROM bodies"), 20);
    fixture->now_ms += 999;
    idle_step(fixture);
    assert_int_equal(stat_of(fixture, CULEX_RUN_DONE), 4);
    fixture->now_ms += 1;
    idle_step(fixture);
    assert_rows(fixture, 0, 0, 0, 0);
    assert_int_equal(stat_of(fixture, CULEX_RUN_DONE), 0);
}

/* In one call, each as long as it wants. */
static void test_ack__knows_how_long_each_is_kept(void **state)
{
    struct fixture *fixture = *state;
    static const int64_t keeps[] = {0, 5000, 5000, 7000, 0};
    culex_uuid ids[5];
    for (int i = 0; i < 5; i++)
        ids[i] = put(fixture, keeps[i]);
    take(fixture, ONE, 5);
    done(fixture, ONE, ids, 5, CULEX_ANSWER_OK);
    assert_rows(fixture, 3, 0, 2, 0);
    assert_gone(fixture, ids[0]);
    assert_gone(fixture, ids[4]);
    assert_state(fixture, ids[2], CULEX_RUN_DONE, fixture->now_ms + 5000);
    assert_state(fixture, ids[3], CULEX_RUN_DONE, fixture->now_ms + 7000);
    fixture->now_ms += 5000;
    idle_step(fixture);
    assert_rows(fixture, 1, 0, 1, 0);
}

/* More at once than a step forgets. */
static void test_ack__is_forgotten_in_portions(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid ids[MOST];
    for (int i = 0; i < MOST; i++)
        ids[i] = put(fixture, 1000);
    take(fixture, ONE, MOST);
    done(fixture, ONE, ids, MOST, CULEX_ANSWER_OK);
    fixture->now_ms += 1000;
    for (int left = MOST; left > 0; left -= CULEX_FORGET_MAX) {
        assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM bodies"), left);
        assert_int_equal(stat_of(fixture, CULEX_RUN_DONE), left);
        idle_step(fixture);
    }
    assert_rows(fixture, 0, 0, 0, 0);
}

static void test_ack__that_says_more_is_of_a_run_of_its_own(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid ids[4];
    for (int i = 0; i < 4; i++)
        ids[i] = put(fixture, 1000);
    take(fixture, ONE, 4);
    end(fixture, ONE,
        (struct culex_ack){ids[0], 1, CULEX_EVENT_DONE, .result = "r", .result_len = 1});
    end(fixture, ONE, (struct culex_ack){ids[1], 1, CULEX_EVENT_FAIL, .text = "no"});
    end(fixture, ONE, (struct culex_ack){ids[2], 1, CULEX_EVENT_DONE, .progress = "50 half"});
    assert_rows(fixture, 1, 1, 0, 3);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM run WHERE state = 'D' AND"
                                          " (result = x'72' OR progress = '50 half')"),
                     2);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM run WHERE state = 'W' AND"
                                          " error_text = 'no' AND failures = 1"),
                     1);
}

static void test_ack__that_was_recorded_is_known(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid ids[2];
    for (int i = 0; i < 2; i++)
        ids[i] = put(fixture, 1000);
    take(fixture, ONE, 2);
    done(fixture, ONE, ids, 2, CULEX_ANSWER_OK);
    done(fixture, ONE, ids, 2, CULEX_ANSWER_REPEATED);
    done(fixture, TWO, ids, 2, CULEX_ANSWER_STALE);
    assert_state(fixture, ids[1], CULEX_RUN_DONE, fixture->now_ms + 1000);
}

static void test_ack__twice_in_a_call_counts_once(void **state)
{
    struct fixture *fixture = *state;
    for (int keep_ms = 0; keep_ms <= 1000; keep_ms += 1000) {
        culex_uuid id = put(fixture, keep_ms);
        struct culex_ack ack = {.event = CULEX_EVENT_DONE, .attempt = 1, .id = id};
        struct culex_ack acks[2] = {ack, ack};
        assert_int_equal(take(fixture, ONE, 1).count, 1);
        struct culex_step_reply reply = fixture_step(fixture->store, "q", ONE, 0, acks, 2);
        assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
        assert_int_equal(reply.acks[1], keep_ms == 0 ? CULEX_ANSWER_GONE : CULEX_ANSWER_REPEATED);
        fixture->store->ops->step_release(fixture->store, &reply);
    }
    assert_int_equal(fixture_ask(fixture, "SELECT done FROM queue"), 2);
}

/* The right number with another time is the id of no run. */
static void test_ack__goes_by_the_whole_id(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid ids[2], other;
    struct culex_beat beats[1] = {{.is_started = true}};
    for (int i = 0; i < 2; i++)
        ids[i] = put(fixture, 0);
    take(fixture, ONE, 2);
    other = ids[0];
    other.b[5] ^= 1;
    done(fixture, ONE, &other, 1, CULEX_ANSWER_GONE);
    assert_rows(fixture, 2, 1, 0, 0);
    struct culex_step step = step_as(ONE);
    beats[0] = (struct culex_beat){.id = other, .attempt = 1};
    step.beats = beats;
    step.beat_count = 1;
    struct culex_step_reply reply = step_go(fixture, &step);
    assert_int_equal(reply.beats[0], CULEX_ANSWER_GONE);
    fixture->store->ops->step_release(fixture->store, &reply);
    done(fixture, ONE, ids, 2, CULEX_ANSWER_OK);
}

/* --- beats and lost leases -------------------------------------------------------------------- */

static void test_beat__of_a_whole_block_is_one_row(void **state)
{
    struct fixture *fixture = *state;
    struct culex_beat beats[3] = {
        {.is_started = true}, {.is_excused = true}, {.is_started = false}};
    culex_uuid ids[3];
    for (int i = 0; i < 3; i++)
        ids[i] = put(fixture, 0);
    struct culex_step step = step_as(ONE);
    step.want = 3;
    step.ahead = 1;
    taken_of(fixture, &step);
    assert_int_equal(fixture_ask(fixture, "SELECT started FROM block"), 3);
    fixture->now_ms += 1000;
    beat(fixture, beats, ids, 3);
    assert_int_equal(fixture_ask(fixture, "SELECT started FROM block"), 1);
    assert_rows(fixture, 3, 1, 0, 0);
    assert_state(fixture, ids[2], CULEX_RUN_ACTIVE, fixture->now_ms + LEASE_MS);
}

/* A block has one lease: who is left out of it keeps his old one. */
static void test_beat__of_a_part_is_of_runs_of_their_own(void **state)
{
    struct fixture *fixture = *state;
    struct culex_beat beats[2] = {{.is_started = true}, {.progress = "10 ten"}};
    culex_uuid ids[3];
    for (int i = 0; i < 3; i++)
        ids[i] = put(fixture, 0);
    take(fixture, ONE, 3);
    fixture->now_ms += 1000;
    beat(fixture, beats, ids, 2);
    assert_rows(fixture, 1, 1, 0, 2);
    assert_state(fixture, ids[0], CULEX_RUN_ACTIVE, fixture->now_ms + LEASE_MS);
    assert_state(fixture, ids[1], CULEX_RUN_ACTIVE, fixture->now_ms + LEASE_MS);
    assert_state(fixture, ids[2], CULEX_RUN_ACTIVE, fixture->now_ms - 1000 + LEASE_MS);
}

/* The least timeout in a block is the limit of its lease. */
static void test_beat__goes_no_further_than_a_timeout(void **state)
{
    struct fixture *fixture = *state;
    struct culex_beat beats[3] = {{.is_started = true}};
    int64_t start_ms = fixture->now_ms, limit_ms = start_ms + 70000 + CULEX_TIMEOUT_SLACK_MS;
    culex_uuid ids[3];
    for (int i = 0; i < 3; i++) {
        struct culex_new_run run = run_of(0);
        run.timeout_ms = i == 0 ? 0 : i * 70000;
        ids[i] = fixture_put(fixture->store, "q", &run);
    }
    take(fixture, ONE, 3);
    fixture->now_ms += 15000;
    beat(fixture, beats, ids, 3);
    assert_rows(fixture, 3, 1, 0, 0);
    fixture->now_ms++;
    beat(fixture, beats, ids, 3);
    assert_rows(fixture, 0, 0, 0, 3);
    assert_state(fixture, ids[0], CULEX_RUN_ACTIVE, fixture->now_ms + LEASE_MS);
    assert_state(fixture, ids[1], CULEX_RUN_ACTIVE, limit_ms);
    assert_state(fixture, ids[2], CULEX_RUN_ACTIVE, fixture->now_ms + LEASE_MS);
}

/* More time is of the run that asked for it alone. */
static void test_beat__for_more_time_is_of_a_run_of_its_own(void **state)
{
    struct fixture *fixture = *state;
    struct culex_beat beats[2] = {{.is_started = true}, {.extend_ms = 200000}};
    culex_uuid ids[2];
    struct culex_new_run run = run_of(0);
    run.timeout_ms = 70000;
    for (int i = 0; i < 2; i++)
        ids[i] = fixture_put(fixture->store, "q", &run);
    int64_t limit_ms = fixture->now_ms + 70000 + CULEX_TIMEOUT_SLACK_MS;
    take(fixture, ONE, 2);
    fixture->now_ms += 1000;
    beat(fixture, beats, ids, 2);
    fixture->now_ms += 50000;
    beat(fixture, beats, ids, 2);
    assert_state(fixture, ids[0], CULEX_RUN_ACTIVE, limit_ms);
    assert_state(fixture, ids[1], CULEX_RUN_ACTIVE, fixture->now_ms + LEASE_MS);
}

/* Who had begun is charged; all are in doubt, and stand where they stood. */
static void test_lost__block_goes_back_as_runs_of_their_own(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid ids[4];
    for (int i = 0; i < 4; i++)
        ids[i] = put(fixture, 0);
    struct culex_step step = step_as(ONE);
    step.want = 3;
    step.ahead = 2;
    taken_of(fixture, &step);
    done(fixture, ONE, ids + 1, 1, CULEX_ANSWER_OK);
    fixture->now_ms += LEASE_MS - 1;
    idle_step(fixture);
    assert_rows(fixture, 3, 1, 0, 0);
    fixture->now_ms++;
    idle_step(fixture);
    assert_rows(fixture, 1, 0, 0, 2);
    assert_int_equal(fixture_ask(fixture, "SELECT sum(losses) FROM run"), 1);
    assert_int_equal(fixture_ask(fixture, "SELECT sum(is_started) FROM run"), 2);
    done(fixture, ONE, ids, 1, CULEX_ANSWER_STALE);
    culex_uuid order[] = {ids[0], ids[2], ids[3]};
    struct taken taken = take(fixture, TWO, 3);
    assert_taken(&taken, order, 3);
}

/* In portions; meanwhile its holder may still tell of the others. */
static void test_lost__large_block_goes_back_bit_by_bit(void **state)
{
    struct fixture *fixture = *state;
    enum { COUNT = CULEX__SQLITE_BLOCK_MAX };
    culex_uuid ids[COUNT];
    for (int i = 0; i < COUNT; i++)
        ids[i] = put(fixture, 0);
    take(fixture, ONE, COUNT);
    fixture->now_ms += LEASE_MS;
    idle_step(fixture);
    assert_rows(fixture, COUNT - CULEX_REAP_MAX, 1, 0, CULEX_REAP_MAX);
    struct culex_ack acks[2] = {{ids[CULEX_REAP_MAX - 1], 1, CULEX_EVENT_DONE, .text = NULL},
                                {ids[CULEX_REAP_MAX], 1, CULEX_EVENT_DONE, .text = NULL}};
    struct culex_step_reply reply = fixture_step(fixture->store, "q", ONE, 0, acks, 2);
    assert_int_equal(reply.acks[0], CULEX_ANSWER_STALE);
    assert_int_equal(reply.acks[1], CULEX_ANSWER_OK);
    fixture->store->ops->step_release(fixture->store, &reply);
    assert_rows(fixture, 0, 0, 0, COUNT - 1);
    assert_int_equal(stat_of(fixture, CULEX_RUN_WAITING), COUNT - 1);
}

/* A lease from a time that the clock has left would last for the length of the jump. */
static void test_lost__lease_ahead_of_the_clock_is_cut(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid id = put(fixture, 0);
    take(fixture, ONE, 1);
    fixture->now_ms -= 86400000;
    idle_step(fixture);
    assert_state(fixture, id, CULEX_RUN_ACTIVE, fixture->now_ms + LEASE_MS);
}

/* Damage, but no reason for a queue to stand still. */
static void test_lost__run_without_a_body_is_not_counted_any_more(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 3; i++)
        put(fixture, 0);
    take(fixture, ONE, 3);
    fixture_sql(fixture, "DELETE FROM body WHERE " FIXTURE_BODY " AND seq % 16 = 2");
    fixture->now_ms += LEASE_MS;
    idle_step(fixture);
    assert_rows(fixture, 0, 0, 0, 2);
    assert_int_equal(stat_of(fixture, CULEX_RUN_ACTIVE), 0);
}

static void test_hello__takes_blocks_back(void **state)
{
    struct fixture *fixture = *state;
    const struct culex_store_ops *ops = fixture->store->ops;
    size_t released;
    int64_t now_ms;
    assert_int_equal(ops->hello(fixture->store, "q", "w", ONE, &released, &now_ms, NULL), CULEX_OK);
    for (int i = 0; i < 100; i++)
        put(fixture, 0);
    take(fixture, ONE, 70);
    take(fixture, TWO, 10);
    assert_int_equal(
        ops->hello(fixture->store, "q", "w", "cccccccccccccccc", &released, &now_ms, NULL),
        CULEX_OK);
    assert_int_equal(released, 70);
    assert_rows(fixture, 30, 1, 0, 70);
    assert_int_equal(stat_of(fixture, CULEX_RUN_ACTIVE), 10);
}

/* --- the operator's verbs --------------------------------------------------------------------- */

static void test_operator__finds_each_where_it_stands(void **state)
{
    struct fixture *fixture = *state;
    const struct culex_store_ops *ops = fixture->store->ops;
    culex_run_state run_state;
    culex_uuid ids[4];
    for (int i = 0; i < 4; i++)
        ids[i] = put(fixture, 5000);
    take(fixture, ONE, 3);
    done(fixture, ONE, ids, 2, CULEX_ANSWER_OK);
    assert_int_equal(ops->forget(fixture->store, "q", ids[2], NULL), CULEX_ESTATE);
    assert_int_equal(ops->retry(fixture->store, "q", ids[0], NULL), CULEX_ESTATE);
    assert_int_equal(ops->cancel(fixture->store, "q", ids[0], &run_state, NULL), CULEX_ESTATE);
    assert_rows(fixture, 4, 1, 1, 0); /* a refused call changes nothing */
    assert_int_equal(ops->forget(fixture->store, "q", ids[0], NULL), CULEX_OK);
    assert_gone(fixture, ids[0]);
    assert_int_equal(ops->cancel(fixture->store, "q", ids[2], &run_state, NULL), CULEX_OK);
    assert_int_equal(run_state, CULEX_RUN_ACTIVE);
    assert_int_equal(ops->cancel(fixture->store, "q", ids[3], &run_state, NULL), CULEX_OK);
    assert_int_equal(run_state, CULEX_RUN_CANCELLED);
    assert_rows(fixture, 1, 0, 1, 2);
    struct culex_step step = step_as(ONE);
    struct culex_beat canceled = {.id = ids[2], .attempt = 1};
    step.beats = &canceled;
    step.beat_count = 1;
    struct culex_step_reply reply = step_go(fixture, &step);
    assert_int_equal(reply.beats[0], CULEX_ANSWER_CANCEL);
    ops->step_release(fixture->store, &reply);
}

static size_t list_count(struct fixture *fixture, culex_run_state state)
{
    struct culex_list_reply page;
    assert_int_equal(fixture->store->ops->list(fixture->store, "q", CULEX_LIST_OF(state),
                                               CULEX_LIST_START, 100, &page, NULL),
                     CULEX_OK);
    size_t count = page.count;
    fixture->store->ops->list_release(fixture->store, &page);
    return count;
}

static size_t purge(struct fixture *fixture, culex_run_state state, size_t limit)
{
    struct culex_purge_reply reply;
    assert_int_equal(fixture->store->ops->purge(fixture->store, "q", state, limit, &reply, NULL),
                     CULEX_OK);
    return reply.deleted;
}

static void test_operator__lists_and_purges_by_state(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid ids[9];
    for (int i = 0; i < 9; i++)
        ids[i] = put(fixture, 5000);
    take(fixture, ONE, 6);
    done(fixture, ONE, ids + 2, 3, CULEX_ANSWER_OK);
    assert_int_equal(list_count(fixture, CULEX_RUN_WAITING), 3);
    assert_int_equal(list_count(fixture, CULEX_RUN_ACTIVE), 3);
    assert_int_equal(list_count(fixture, CULEX_RUN_DONE), 3);
    assert_int_equal(list_count(fixture, CULEX_LIST_ANY), 9);
    assert_int_equal(purge(fixture, CULEX_RUN_DONE, 2), 2);
    assert_int_equal(list_count(fixture, CULEX_RUN_DONE), 1);
    assert_int_equal(purge(fixture, CULEX_RUN_WAITING, 100), 3);
    assert_int_equal(purge(fixture, CULEX_RUN_DONE, 100), 1);
    assert_int_equal(list_count(fixture, CULEX_LIST_ANY), 3);
    done(fixture, ONE, ids, 2, CULEX_ANSWER_OK);
    done(fixture, ONE, ids + 5, 1, CULEX_ANSWER_OK);
}

/* --- waking ----------------------------------------------------------------------------------- */

/* Only what waits is work for somebody else. */
static void test_wake__held_runs_and_kept_ones_are_no_work(void **state)
{
    struct fixture *fixture = *state;
    const struct culex_store_ops *ops = fixture->store->ops;
    const char *const queues[] = {"q"};
    int fd = -1;
    struct culex_new_run later = run_of(0);
    later.delay_ms = 5000;
    fixture_put(fixture->store, "q", &later);
    culex_uuid id = put(fixture, 5000);
    put(fixture, 0);
    take(fixture, ONE, 2);
    done(fixture, ONE, &id, 1, CULEX_ANSWER_OK);
    for (int waiting = 0; waiting < 2; waiting++) {
        assert_int_equal(ops->wake_arm(fixture->store, queues, 1, 10000, &fd, NULL), CULEX_OK);
        struct pollfd door = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&door, 1, 0), waiting);
        ops->wake_disarm(fixture->store);
        put(fixture, 0);
    }
}

/* --- kinds ------------------------------------------------------------------------------------ */

static culex_uuid put_tagged(struct fixture *fixture, int tag)
{
    char text[16];
    struct culex_new_run run = run_of(0);
    snprintf(text, sizeof text, "tag%d", tag);
    run.tags = text;
    return fixture_put(fixture->store, "q", &run);
}

static int64_t kinds_count(struct fixture *fixture)
{
    return fixture_ask(fixture, "SELECT count(*) FROM kind");
}

/* A kind a run, for as long as it may be: what no run has any more does not pile up, and what one
 * has stays. */
static void test_kinds__are_forgotten_when_no_run_has_them(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid first = put_tagged(fixture, 0);
    assert_int_equal(take(fixture, TWO, 1).count, 1);
    for (int i = 1; i <= 1000; i++) {
        culex_uuid id = put_tagged(fixture, i);
        struct taken taken = take(fixture, ONE, 1);
        assert_taken(&taken, &id, 1);
        done(fixture, ONE, &id, 1, CULEX_ANSWER_OK);
        assert_in_range(kinds_count(fixture), 1, 3 * CULEX__SQLITE_KINDS_MIN);
    }
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM bodies JOIN kind USING (kind)"), 1);
    done(fixture, TWO, &first, 1, CULEX_ANSWER_OK);
}

/* While a sweep is under way a kind may find a run again. */
static void test_kinds__stay_when_one_comes_while_they_go(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 2 * CULEX__SQLITE_KINDS_MIN; i++)
        put_tagged(fixture, i);
    int64_t old = fixture_ask(fixture, "SELECT min(kind) FROM kind");
    assert_int_equal(purge(fixture, CULEX_RUN_WAITING, 500), 2 * CULEX__SQLITE_KINDS_MIN);
    idle_step(fixture); /* walks the bodies, of which there are none */
    assert_true(fixture_ask(fixture, "SELECT swept > 0 FROM queue"));
    put_tagged(fixture, 0);
    for (int i = 0; i < 4; i++)
        idle_step(fixture);
    assert_int_equal(fixture_ask(fixture, "SELECT swept FROM queue"), 0);
    assert_int_equal(kinds_count(fixture), 1);
    assert_int_equal(fixture_ask(fixture, "SELECT kind FROM bodies"), old);
    assert_int_equal(take(fixture, ONE, 1).count, 1);
}

static void assert_kinds_are_there(struct fixture *fixture, int64_t bodies)
{
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM bodies"), bodies);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM bodies JOIN kind USING (kind)"),
                     bodies);
}

/* A handle keeps the kind that it has used last; another one's sweep may take it away. */
static void test_kinds__in_hand_are_found_again_after_a_sweep(void **state)
{
    struct fixture *fixture = *state;
    struct culex_store *own = fixture->store;
    put_tagged(fixture, 0);
    fixture->store = fixture_open(fixture, sqlite3_libversion_number());
    for (int i = 1; i < 2 * CULEX__SQLITE_KINDS_MIN; i++)
        put_tagged(fixture, i);
    purge(fixture, CULEX_RUN_WAITING, 500);
    for (int i = 0; i < 8; i++)
        idle_step(fixture);
    assert_int_equal(kinds_count(fixture), 0);
    fixture->store->ops->close(fixture->store);
    fixture->store = own;
    put_tagged(fixture, 0);
    assert_kinds_are_there(fixture, 1);
    assert_int_equal(take(fixture, ONE, 1).count, 1);
}

/* Nor is it there when the call that made it failed. */
static void test_kinds__of_a_failed_call_are_made_again(void **state)
{
    struct fixture *fixture = *state;
    struct culex_new_run run = run_of(0);
    struct culex_enqueue_result result;
    put_tagged(fixture, 0);
    run.tags = "tag1";
    fixture_sql(fixture, "CREATE TRIGGER stop BEFORE INSERT ON body WHEN new." FIXTURE_REAR " BEGIN"
                         " SELECT raise(ABORT, 'no'); END");
    assert_int_not_equal(
        fixture->store->ops->enqueue(fixture->store, "q", NULL, &run, 1, &result, NULL), CULEX_OK);
    fixture_sql(fixture, "DROP TRIGGER stop");
    put_tagged(fixture, 1);
    assert_kinds_are_there(fixture, 2);
}

/* Nobody's id leads to the row behind the bodies. */
static void test_rear__is_no_run(void **state)
{
    struct fixture *fixture = *state;
    const struct culex_store_ops *ops = fixture->store->ops;
    struct culex_run_id_parts parts;
    culex_run_state run_state;
    culex_run_info *info = NULL;
    assert_true(culex__run_id_read(put_tagged(fixture, 0), &parts));
    parts.lane = CULEX_RUN_LANE_MAX;
    parts.number = CULEX_RUN_NUMBER_MAX;
    culex_uuid id = culex__run_id_make(parts);
    assert_int_equal(ops->get(fixture->store, "q", id, &info, NULL), CULEX_ENOTFOUND);
    assert_int_equal(ops->cancel(fixture->store, "q", id, &run_state, NULL), CULEX_ENOTFOUND);
    assert_int_equal(purge(fixture, CULEX_RUN_WAITING, 500), 1);
    assert_int_equal(fixture_ask(fixture, "SELECT checksum FROM body"), 1);
}

/* Each step walks a portion of the bodies. */
static void test_kinds__are_looked_for_in_portions(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < MOST; i++)
        put_tagged(fixture, i);
    int64_t place = 0;
    for (int i = 0; i < MOST / 64; i++) {
        idle_step(fixture);
        int64_t next = fixture_ask(fixture, "SELECT swept FROM queue");
        assert_int_equal(next - place, i == 0 ? next : 64);
        place = next;
    }
    for (int i = 0; i < 3; i++)
        idle_step(fixture);
    assert_int_equal(fixture_ask(fixture, "SELECT swept FROM queue"), 0);
    assert_int_equal(kinds_count(fixture), MOST);
    assert_int_equal(take(fixture, ONE, MOST).count, MOST);
}

/* Also within one call, which asks for a kind once as long as it stays the same. */
static void test_kinds__differ_in_each_of_their_columns(void **state)
{
    struct fixture *fixture = *state;
    enum { COUNT = 8 };
    struct culex_new_run runs[2 * COUNT];
    struct culex_enqueue_result results[2 * COUNT];
    for (int i = 0; i < 2 * COUNT; i++)
        runs[i] = run_of(0);
    runs[1].job = "other.job"; /* each between two that are as all the others */
    runs[3].fingerprint = 1;
    runs[5].attempts_max = 1;
    runs[7].timeout_ms = 1;
    runs[9].keep_success_ms = 1;
    runs[11].keep_failure_ms = 1;
    runs[13].tags = "a";
    assert_int_equal(
        fixture->store->ops->enqueue(fixture->store, "q", NULL, runs, 2 * COUNT, results, NULL),
        CULEX_OK);
    assert_int_equal(kinds_count(fixture), COUNT);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM bodies JOIN kind USING (kind) WHERE"
                                          " keep_success_ms = 1 OR tags = 'a'"),
                     2);
}

/* Those of other queues are their own. */
static void test_kinds__are_of_one_queue(void **state)
{
    struct fixture *fixture = *state;
    struct culex_new_run run = run_of(0);
    put(fixture, 0);
    fixture_put(fixture->store, "other", &run);
    assert_int_equal(kinds_count(fixture), 2);
}

/* --- queues ----------------------------------------------------------------------------------- */

static void test_queues__have_an_end(void **state)
{
    struct fixture *fixture = *state;
    struct culex_new_run run = run_of(0);
    struct culex_enqueue_result result;
    culex_error error = {.text = ""};
    put(fixture, 0);
    fixture_sql(fixture, "INSERT INTO queue (queue, name, salt) VALUES (32767, 'last', 1)");
    fixture_put(fixture->store, "last", &run);
    assert_int_equal(
        fixture->store->ops->enqueue(fixture->store, "next", NULL, &run, 1, &result, &error),
        CULEX_EUNSUPPORTED);
    assert_non_null(strstr(error.text, "has 32767 queues"));
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM queue"), 2);
}

/* The others of the step end as they did, or one follow-up would hold up its worker for ever. */
static void test_queues__one_that_cannot_be_made_fails_those_it_follows(void **state)
{
    struct fixture *fixture = *state;
    struct culex_new_run run = run_of(0);
    struct culex_follow_up follow_up = {"next", run_of(0)};
    culex_uuid ids[2];
    struct culex_ack acks[2];
    fixture_sql(fixture, "INSERT INTO queue (queue, name, salt) VALUES (32767, 'last', 1)");
    for (size_t i = 0; i < 2; i++)
        ids[i] = fixture_put(fixture->store, "last", &run);
    struct culex_step step = {.queue = "last",
                              .session = "00000000000000aa",
                              .nonce = fixture_nonce(),
                              .want = 2,
                              .max_bytes = 1 << 20,
                              .lease_ms = 10000};
    struct culex_step_reply reply;
    assert_int_equal(fixture->store->ops->step(fixture->store, &step, &reply, NULL), CULEX_OK);
    assert_int_equal(reply.grant_count, 2);
    fixture->store->ops->step_release(fixture->store, &reply);
    for (size_t i = 0; i < 2; i++)
        acks[i] = (struct culex_ack){.id = ids[i], .attempt = 1, .event = CULEX_EVENT_DONE};
    acks[1].follow_ups = &follow_up;
    acks[1].follow_up_count = 1;
    step.nonce = fixture_nonce();
    step.want = 0;
    step.acks = acks;
    step.ack_count = 2;
    assert_int_equal(fixture->store->ops->step(fixture->store, &step, &reply, NULL), CULEX_OK);
    assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
    assert_int_equal(reply.acks[1], CULEX_ANSWER_FAILED);
    assert_non_null(strstr(reply.follow_ups_left.text, "a follow-up in queue next"));
    fixture->store->ops->step_release(fixture->store, &reply);
    assert_int_equal(fixture_ask(fixture, "SELECT failed FROM queue WHERE name = 'last'"), 1);
    assert_int_equal(fixture_ask(fixture, "SELECT done FROM queue WHERE name = 'last'"), 1);
}

/* --- runner ----------------------------------------------------------------------------------- */

static int setup(void **state)
{
    int status = fixture_setup(state);
    struct fixture *fixture = *state;
    if (status == 0)
        fixture->store = fixture_open(fixture, sqlite3_libversion_number());
    return status;
}

/* The figures of each state are true. */
static void assert_counts(struct fixture *fixture)
{
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM queues q WHERE"
                                          " pending <> (SELECT count(*) FROM runs r WHERE"
                                          "  r.queue = q.queue AND state = 'W') OR"
                                          " active <> (SELECT count(*) FROM runs r WHERE"
                                          "  r.queue = q.queue AND state = 'A') OR"
                                          " kept_done <> (SELECT count(*) FROM runs r WHERE"
                                          "  r.queue = q.queue AND state = 'D')"),
                     0);
}

static int teardown(void **state)
{
    assert_counts(*state);
    assert_sound(*state);
    return fixture_teardown(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_claim__is_one_row),
        TEST(test_claim__of_many_makes_several_blocks),
        TEST(test_claim__goes_on_behind_what_is_left),
        TEST(test_claim__merges_both_worlds),
        TEST(test_claim__goes_by_priority),
        TEST(test_claim__is_repeated),
        TEST(test_claim__is_repeated_in_its_order),
        TEST(test_claim__is_not_repeated_to_others),
        TEST(test_claim__of_damaged_ones_goes_on),
        TEST(test_claim__hands_out_an_endless_name),
        TEST(test_ack__of_a_part_leaves_the_rest),
        TEST(test_ack__keeps_successes_together),
        TEST(test_ack__knows_how_long_each_is_kept),
        TEST(test_ack__is_forgotten_in_portions),
        TEST(test_ack__that_says_more_is_of_a_run_of_its_own),
        TEST(test_ack__that_was_recorded_is_known),
        TEST(test_ack__twice_in_a_call_counts_once),
        TEST(test_ack__goes_by_the_whole_id),
        TEST(test_beat__of_a_whole_block_is_one_row),
        TEST(test_beat__of_a_part_is_of_runs_of_their_own),
        TEST(test_beat__goes_no_further_than_a_timeout),
        TEST(test_beat__for_more_time_is_of_a_run_of_its_own),
        TEST(test_lost__block_goes_back_as_runs_of_their_own),
        TEST(test_lost__large_block_goes_back_bit_by_bit),
        TEST(test_lost__lease_ahead_of_the_clock_is_cut),
        TEST(test_lost__run_without_a_body_is_not_counted_any_more),
        TEST(test_hello__takes_blocks_back),
        TEST(test_operator__finds_each_where_it_stands),
        TEST(test_operator__lists_and_purges_by_state),
        TEST(test_wake__held_runs_and_kept_ones_are_no_work),
        TEST(test_kinds__are_forgotten_when_no_run_has_them),
        TEST(test_kinds__stay_when_one_comes_while_they_go),
        TEST(test_kinds__in_hand_are_found_again_after_a_sweep),
        TEST(test_kinds__of_a_failed_call_are_made_again),
        TEST(test_rear__is_no_run),
        TEST(test_kinds__are_looked_for_in_portions),
        TEST(test_kinds__differ_in_each_of_their_columns),
        TEST(test_kinds__are_of_one_queue),
        TEST(test_queues__have_an_end),
        TEST(test_queues__one_that_cannot_be_made_fails_those_it_follows),
    };
    return cmocka_run_group_tests_name("sqlite blocks", tests, NULL, NULL);
}
