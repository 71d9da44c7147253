/* suite/cases_settle.c - ends of runs: each event in each state, leases, beats, repeats. */
#include "suite.h"

#include "cases.h"

#include "base/limits.h"

/* --- every state x every event --------------------------------------------------------- */

enum { DELAY_MS = 60000, EXPIRES_MS = 600000, LEASE_MS = 1200000, KEEP_MS = 864000000 };

static uint32_t take_long(struct suite *suite)
{
    struct culex_step step = suite_step_make(suite, ANN, 1);
    step.lease_ms = LEASE_MS;
    assert_int_equal(suite_step(suite, &step), 1);
    return suite->reply.grants[0].facts.attempt;
}

/* A run in `state`, alone in a queue of its own; *ret_attempt as a worker would say it. */
static culex_uuid reach(struct suite *suite, culex_run_state state, uint32_t *ret_attempt)
{
    struct culex_new_run run = suite_run(suite);
    snprintf(suite->queue, sizeof suite->queue, "queue-%u", (unsigned)suite->serial);
    run.delay_ms = state == CULEX_RUN_SCHEDULED ? DELAY_MS : 0;
    run.expires_ms = EXPIRES_MS;
    run.keep_success_ms = run.keep_failure_ms = KEEP_MS;
    culex_uuid id = suite_put_run(suite, &run);
    *ret_attempt = 0;
    if (state == CULEX_RUN_ACTIVE || state == CULEX_RUN_DONE || state == CULEX_RUN_DEAD)
        *ret_attempt = take_long(suite);
    if (state == CULEX_RUN_DONE)
        suite_end(suite, ANN, id, *ret_attempt, CULEX_EVENT_DONE, 0);
    if (state == CULEX_RUN_DEAD)
        suite_end(suite, ANN, id, *ret_attempt, CULEX_EVENT_DISCARD, 0);
    if (state == CULEX_RUN_CANCELLED)
        suite_cancel(suite, id);
    assert_state(suite, id, state);
    return id;
}

/* Lets the world cause `event`, as far as it can. Results are sent under the right fence. */
static void cause(struct suite *suite, enum culex_run_event event, culex_uuid id,
                  culex_run_state state, uint32_t attempt)
{
    const struct culex_store_ops *ops = suite->store->ops;
    bool is_active = state == CULEX_RUN_ACTIVE;
    culex_run_state ret_state;
    switch (event) {
    case CULEX_EVENT_DUE:
        suite_pass(suite, DELAY_MS);
        break;
    case CULEX_EVENT_CLAIM:
        suite_claim(suite, BOB, 1);
        break;
    case CULEX_EVENT_LOSS:
        suite_pass(suite, is_active ? LEASE_MS : 0);
        break;
    case CULEX_EVENT_EXPIRE:
        suite->now_ms += state == CULEX_RUN_SCHEDULED ? 0 : EXPIRES_MS + 1;
        suite_claim(suite, BOB, 1);
        break;
    case CULEX_EVENT_CANCEL: {
        bool is_final = state >= CULEX_RUN_DONE;
        assert_int_equal(ops->cancel(suite->store, suite->queue, id, &ret_state, NULL),
                         is_final ? CULEX_ESTATE : CULEX_OK);
        break;
    }
    case CULEX_EVENT_RETRY:
        assert_int_equal(ops->retry(suite->store, suite->queue, id, NULL),
                         state == CULEX_RUN_DEAD ? CULEX_OK : CULEX_ESTATE);
        break;
    default: {
        enum culex_answer answer = suite_end(suite, ANN, id, attempt, event, DELAY_MS);
        if (is_active)
            assert_int_equal(answer, CULEX_ANSWER_OK);
        else if (answer != CULEX_ANSWER_REPEATED)
            assert_int_equal(answer, CULEX_ANSWER_STALE);
    }
    }
}

static culex_run_state expected(culex_run_state state, enum culex_run_event event)
{
    static const struct {
        culex_run_state from;
        enum culex_run_event event;
        culex_run_state to;
    } rows[] = {
        {CULEX_RUN_SCHEDULED, CULEX_EVENT_DUE, CULEX_RUN_WAITING},
        {CULEX_RUN_SCHEDULED, CULEX_EVENT_CANCEL, CULEX_RUN_CANCELLED},
        {CULEX_RUN_WAITING, CULEX_EVENT_CLAIM, CULEX_RUN_ACTIVE},
        {CULEX_RUN_WAITING, CULEX_EVENT_EXPIRE, CULEX_RUN_DEAD},
        {CULEX_RUN_WAITING, CULEX_EVENT_CANCEL, CULEX_RUN_CANCELLED},
        {CULEX_RUN_ACTIVE, CULEX_EVENT_DONE, CULEX_RUN_DONE},
        {CULEX_RUN_ACTIVE, CULEX_EVENT_FAIL, CULEX_RUN_SCHEDULED},
        {CULEX_RUN_ACTIVE, CULEX_EVENT_CRASH, CULEX_RUN_SCHEDULED},
        {CULEX_RUN_ACTIVE, CULEX_EVENT_LOSS, CULEX_RUN_WAITING},
        {CULEX_RUN_ACTIVE, CULEX_EVENT_RELEASE, CULEX_RUN_SCHEDULED}, /* sent with a delay */
        {CULEX_RUN_ACTIVE, CULEX_EVENT_DISCARD, CULEX_RUN_DEAD},
        {CULEX_RUN_DEAD, CULEX_EVENT_RETRY, CULEX_RUN_WAITING},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].from == state && rows[i].event == event)
            return rows[i].to;
    }
    return state;
}

void case_settle__every_event_in_every_state(struct suite *suite)
{
    for (culex_run_state state = 0; state < CULEX_RUN_STATE_COUNT; state++) {
        for (enum culex_run_event event = 0; event < CULEX_EVENT_COUNT; event++) {
            uint32_t attempt;
            culex_uuid id = reach(suite, state, &attempt);
            culex_queue_stats before = suite_stats(suite);
            cause(suite, event, id, state, attempt);
            if (suite_state(suite, id) != expected(state, event))
                fail_msg("%s, event %d: %s", culex_run_state_name(state), (int)event,
                         culex_run_state_name(suite->info->state));
            culex_queue_stats after = suite_stats(suite);
            for (culex_run_state s = 0; s < CULEX_RUN_STATE_COUNT; s++)
                assert_int_equal(after.count[s], s == suite->info->state);
            if (expected(state, event) == state)
                assert_int_equal(after.done + after.failed + after.crashed + after.dead,
                                 before.done + before.failed + before.crashed + before.dead);
        }
    }
}

void case_settle__flagged_run_is_cancelled_unless_it_succeeds(struct suite *suite)
{
    static const struct {
        enum culex_run_event event;
        culex_run_state to;
    } rows[] = {
        {CULEX_EVENT_DONE, CULEX_RUN_DONE},         {CULEX_EVENT_FAIL, CULEX_RUN_CANCELLED},
        {CULEX_EVENT_CRASH, CULEX_RUN_CANCELLED},   {CULEX_EVENT_LOSS, CULEX_RUN_CANCELLED},
        {CULEX_EVENT_RELEASE, CULEX_RUN_CANCELLED}, {CULEX_EVENT_DISCARD, CULEX_RUN_DEAD},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t attempt;
        culex_uuid id = reach(suite, CULEX_RUN_ACTIVE, &attempt);
        suite_cancel(suite, id);
        assert_state(suite, id, CULEX_RUN_ACTIVE);
        assert_true(suite->info->cancel_requested);
        cause(suite, rows[i].event, id, CULEX_RUN_ACTIVE, attempt);
        assert_state(suite, id, rows[i].to);
        assert_int_equal(suite_stats(suite).cancelled, rows[i].to == CULEX_RUN_CANCELLED);
    }
}

/* --- ends --------------------------------------------------------------------------------- */

void case_settle__done_keeps_result_and_drops_payload(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    static const char result[] = "{\"ok\":true}\n\"'|\x01\xff";
    uint32_t attempt = suite_take(suite, ANN, id);
    struct culex_ack ack = {.id = id,
                            .attempt = attempt,
                            .event = CULEX_EVENT_DONE,
                            .result = result,
                            .result_len = sizeof result - 1};
    assert_int_equal(suite_ack(suite, ANN, ack), CULEX_ANSWER_OK);
    const culex_run_info *run = suite_get(suite, id);
    assert_int_equal(run->state, CULEX_RUN_DONE);
    assert_int_equal(run->payload.len, 0);
    assert_int_equal(run->result.len, sizeof result - 1);
    assert_memory_equal(run->result.data, result, sizeof result - 1);
    assert_int_equal(run->at_ms, suite->now_ms + SUITE_MINUTE_MS);
    assert_int_equal(suite_stats(suite).done, 1);
}

/* As many as one claim takes, claimed together; kept for so long when they succeed. */
enum { TOGETHER = 60 };
static void put_claimed(struct suite *suite, int64_t keep_ms, culex_uuid ids[TOGETHER])
{
    struct culex_new_run runs[TOGETHER];
    struct culex_enqueue_result results[TOGETHER];
    for (int i = 0; i < TOGETHER; i++) {
        runs[i] = suite_run(suite);
        runs[i].keep_success_ms = keep_ms;
    }
    suite_put_many(suite, runs, TOGETHER, results);
    assert_int_equal(suite_claim(suite, ANN, TOGETHER), TOGETHER);
    for (int i = 0; i < TOGETHER; i++)
        ids[i] = results[i].id;
}

/* Each is kept until a moment of its own, and there are more of these than a store may expect. */
void case_settle__runs_of_one_claim_end_one_by_one(struct suite *suite)
{
    culex_uuid ids[TOGETHER];
    put_claimed(suite, 5000, ids);
    for (int i = 0; i < TOGETHER; i++) {
        suite->now_ms++;
        int at = i * 7 % TOGETHER;
        assert_int_equal(suite_end(suite, ANN, ids[at], 1, CULEX_EVENT_DONE, 0), CULEX_ANSWER_OK);
        assert_int_equal(suite_end(suite, ANN, ids[at], 1, CULEX_EVENT_DONE, 0),
                         CULEX_ANSWER_REPEATED);
        assert_int_equal(suite_stats(suite).count[CULEX_RUN_ACTIVE], TOGETHER - 1 - i);
        assert_int_equal(suite_end(suite, BOB, ids[at], 1, CULEX_EVENT_DONE, 0),
                         CULEX_ANSWER_STALE);
    }
    suite_pass(suite, 5000 - TOGETHER);
    for (int i = 0; i < TOGETHER; i++) {
        assert_int_equal(suite_stats(suite).count[CULEX_RUN_DONE], TOGETHER - i);
        assert_state(suite, ids[i * 7 % TOGETHER], CULEX_RUN_DONE);
        suite_pass(suite, 1);
        assert_null(suite_get(suite, ids[i * 7 % TOGETHER]));
    }
}

/* Some succeed, some fail, one goes back; what is left is lost, from the first on. */
void case_settle__runs_of_one_claim_end_in_several_ways(struct suite *suite)
{
    culex_uuid ids[TOGETHER];
    put_claimed(suite, 0, ids);
    for (int i = 10; i < 50; i++) {
        enum culex_run_event event = i % 2 != 0 ? CULEX_EVENT_DONE : CULEX_EVENT_FAIL;
        assert_int_equal(suite_end(suite, ANN, ids[i], 1, event, 600000), CULEX_ANSWER_OK);
    }
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_SCHEDULED], 20);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_ACTIVE], 20);
    assert_int_equal(suite_end(suite, ANN, ids[21], 1, CULEX_EVENT_DONE, 0), CULEX_ANSWER_GONE);
    suite_pass(suite, SUITE_LEASE_MS);
    assert_int_equal(suite_stats(suite).lost, 20);
    assert_int_equal(suite_claim(suite, BOB, TOGETHER), 20);
    for (int i = 0; i < 10; i++) {
        assert_true(suite_same_id(suite->reply.grants[i].facts.id, ids[i]));
        assert_true(suite_same_id(suite->reply.grants[10 + i].facts.id, ids[50 + i]));
        assert_int_equal(suite->reply.grants[i].facts.counters.losses, 1);
    }
    assert_int_equal(suite_end(suite, ANN, ids[0], 1, CULEX_EVENT_DONE, 0), CULEX_ANSWER_STALE);
}

/* Tells that all of one claim have succeeded; returns how many of these results are refused. */
static uint64_t refused_together(struct suite *suite, const char *session,
                                 const culex_uuid ids[TOGETHER], int64_t claim_ms)
{
    struct culex_ack acks[TOGETHER];
    struct culex_step step = suite_step_make(suite, session, 0);
    uint64_t before = suite_stats(suite).stale, refused = 0;
    for (int i = 0; i < TOGETHER; i++)
        acks[i] = (struct culex_ack){
            .id = ids[i], .attempt = 1, .event = CULEX_EVENT_DONE, .claim_ms = claim_ms};
    step.acks = acks, step.ack_count = TOGETHER;
    suite_step(suite, &step);
    for (int i = 0; i < TOGETHER; i++)
        refused += suite->reply.acks[i] == CULEX_ANSWER_STALE;
    assert_int_equal(suite_stats(suite).stale, before + refused);
    return refused;
}

/* Ten of one claim had begun: these are lost. Each result of the others is refused and counted
 * while the run is known, whoever has it by then. */
void case_settle__figures_of_what_a_claim_lost(struct suite *suite)
{
    enum { BEGUN = 10 };
    culex_uuid ids[TOGETHER];
    struct culex_new_run runs[TOGETHER];
    struct culex_enqueue_result results[TOGETHER];
    for (int i = 0; i < TOGETHER; i++)
        runs[i] = suite_run(suite);
    suite_put_many(suite, runs, TOGETHER, results);
    for (int i = 0; i < TOGETHER; i++)
        ids[i] = results[i].id;
    assert_int_equal(suite_claim_for(suite, ANN, TOGETHER, BEGUN, true), TOGETHER);
    int64_t claim_ms = suite->reply.grants[0].facts.claim_ms;
    assert_int_equal(refused_together(suite, BOB, ids, claim_ms), TOGETHER);
    suite_pass(suite, SUITE_LEASE_MS);
    suite_pass(suite, 0);
    assert_int_equal(suite_stats(suite).lost, BEGUN);
    assert_int_equal(refused_together(suite, ANN, ids, claim_ms), TOGETHER); /* they wait */
    assert_int_equal(suite_claim(suite, BOB, TOGETHER), TOGETHER);
    for (int i = 0; i < TOGETHER; i++)
        assert_int_equal(suite_end(suite, BOB, ids[i], 2, CULEX_EVENT_DONE, 0), CULEX_ANSWER_OK);
    assert_int_equal(refused_together(suite, ANN, ids, claim_ms), TOGETHER);
    suite_pass(suite, SUITE_MINUTE_MS);
    suite_pass(suite, 0);
    assert_int_equal(refused_together(suite, ANN, ids, claim_ms), 0); /* gone */
    assert_int_equal(suite_stats(suite).lost, BEGUN);
    assert_int_equal(suite_stats(suite).done, TOGETHER);
}

/* What one claim gave may be of several kinds: each is kept as long as its own wants. */
void case_settle__runs_of_one_claim_are_kept_each_for_its_time(struct suite *suite)
{
    enum { RUNS = 6 };
    struct culex_new_run runs[RUNS];
    struct culex_enqueue_result results[RUNS];
    struct culex_ack acks[RUNS];
    for (int i = 0; i < RUNS; i++) {
        runs[i] = suite_run(suite);
        runs[i].keep_success_ms = i % 3 * 1000;
    }
    suite_put_many(suite, runs, RUNS, results);
    assert_int_equal(suite_claim(suite, ANN, RUNS), RUNS);
    for (int i = 0; i < RUNS; i++)
        acks[i] = (struct culex_ack){.id = results[i].id, .attempt = 1, .event = CULEX_EVENT_DONE};
    struct culex_step step = suite_step_make(suite, ANN, 0);
    step.acks = acks, step.ack_count = RUNS;
    suite_step(suite, &step);
    for (int i = 0; i < RUNS; i++)
        assert_int_equal(suite->reply.acks[i], CULEX_ANSWER_OK);
    for (int kept = 4; kept >= 0; kept -= 2) {
        assert_int_equal(suite_stats(suite).count[CULEX_RUN_DONE], kept);
        assert_int_equal(suite_state(suite, results[1].id),
                         kept == 4 ? CULEX_RUN_DONE : CULEX_RUN_STATE_COUNT);
        suite_pass(suite, 1000);
    }
}

/* The ends of one step, in no order: of two claims, doubled, of nobody. */
void case_settle__ends_of_a_step_in_any_order(struct suite *suite)
{
    culex_uuid ids[TOGETHER];
    struct culex_ack acks[2 * TOGETHER];
    put_claimed(suite, 60000, ids);
    culex_uuid other = suite_put(suite), waiting = suite_put(suite);
    suite_take(suite, ANN, other);
    for (int i = 0; i < TOGETHER; i++)
        acks[i] = (struct culex_ack){
            .id = ids[(i * 37 + 5) % TOGETHER], .attempt = 1, .event = CULEX_EVENT_DONE};
    acks[3].event = CULEX_EVENT_RELEASE;
    acks[8].attempt = 2;
    acks[20].id = other;
    acks[30].id = waiting;
    acks[40].id = suite_id(suite);
    struct culex_step step = suite_step_make(suite, ANN, 0);
    step.acks = acks, step.ack_count = TOGETHER;
    suite_step(suite, &step);
    for (int i = 0; i < TOGETHER; i++)
        assert_int_equal(suite->reply.acks[i], i == 8 || i == 30 ? CULEX_ANSWER_STALE
                                               : i == 40         ? CULEX_ANSWER_GONE
                                                                 : CULEX_ANSWER_OK);
    assert_state(suite, acks[3].id, CULEX_RUN_WAITING);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_DONE], TOGETHER - 4);
    assert_int_equal(suite_stats(suite).done, TOGETHER - 4);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_ACTIVE], 4);
}

/* Beats tell of all, or of some, of what one claim gave: these live, and the others do not. */
void case_beat__some_of_one_claim_live_on(struct suite *suite)
{
    culex_uuid ids[TOGETHER];
    struct culex_beat beats[TOGETHER];
    put_claimed(suite, 60000, ids);
    for (int i = 0; i < TOGETHER; i++)
        beats[i] = (struct culex_beat){.id = ids[i], .attempt = 1};
    struct culex_step step = suite_step_make(suite, ANN, 0);
    suite->now_ms += SUITE_LEASE_MS - 1;
    step.beats = beats, step.beat_count = TOGETHER;
    suite_step(suite, &step);
    suite_pass(suite, SUITE_LEASE_MS - 1);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_ACTIVE], TOGETHER);
    step.nonce = suite_step_make(suite, ANN, 0).nonce;
    step.beats = beats + 10, step.beat_count = 20;
    suite_step(suite, &step);
    suite_pass(suite, 1);
    assert_int_equal(suite_stats(suite).lost, CULEX_REAP_MAX); /* a step takes no more back */
    suite_pass(suite, 0);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_ACTIVE], 20);
    assert_int_equal(suite_stats(suite).lost, TOGETHER - 20);
    assert_int_equal(suite_end(suite, ANN, ids[15], 1, CULEX_EVENT_DONE, 0), CULEX_ANSWER_OK);
}

/* Whoever has others at work beside what it holds is not to be charged for any of it. */
void case_beat__excuses_all_of_one_claim(struct suite *suite)
{
    culex_uuid ids[TOGETHER];
    struct culex_beat beats[TOGETHER];
    put_claimed(suite, 60000, ids);
    for (int i = 0; i < TOGETHER; i++)
        beats[i] = (struct culex_beat){.id = ids[i], .attempt = 1, .is_excused = i != 50};
    struct culex_step step = suite_step_make(suite, ANN, 0);
    step.beats = beats, step.beat_count = TOGETHER;
    suite_step(suite, &step);
    suite_pass(suite, SUITE_LEASE_MS);
    suite_pass(suite, 0);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_ACTIVE], 0);
    assert_int_equal(suite_stats(suite).lost, 1);
}

/* The least of several timeouts may end the lease of them all, as beats make it longer together; a
 * run of its own has its own. */
static void several_timeouts_beat(struct suite *suite, int64_t lease_ms)
{
    struct culex_new_run runs[3] = {suite_run(suite), suite_run(suite), suite_run(suite)};
    struct culex_enqueue_result results[3];
    struct culex_beat beats[3];
    for (int i = 0; i < 3; i++)
        runs[i].timeout_ms = i * 4000;
    suite_put_many(suite, runs, 3, results);
    assert_int_equal(suite_claim(suite, ANN, 3), 3);
    for (int i = 0; i < 3; i++)
        beats[i] = (struct culex_beat){.id = results[i].id, .attempt = 1};
    struct culex_step step = suite_step_make(suite, ANN, 0);
    step.beats = beats, step.beat_count = 3;
    step.lease_ms = lease_ms;
    suite_step(suite, &step);
    suite_pass(suite, 4000 + CULEX_TIMEOUT_SLACK_MS - 1);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_ACTIVE], 3);
    suite_pass(suite, 1);
    assert_state(suite, results[1].id, CULEX_RUN_WAITING);
}

void case_beat__limit_of_runs_with_several_timeouts(struct suite *suite)
{
    several_timeouts_beat(suite, 1000000);
    snprintf(suite->queue, sizeof suite->queue, "between");
    several_timeouts_beat(suite, 4000 + CULEX_TIMEOUT_SLACK_MS + 1000); /* less than the longest */
}

void case_settle__done_is_forgotten_after_its_time(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.keep_success_ms = SUITE_LEASE_MS + 1000;
    culex_uuid id = suite_put_run(suite, &run);
    suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_DONE, 0);
    suite_pass(suite, SUITE_LEASE_MS + 999);
    assert_state(suite, id, CULEX_RUN_DONE);
    suite_pass(suite, 2);
    suite_pass(suite, 1000);
    assert_null(suite_get(suite, id));
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_DONE], 0);
    assert_int_equal(suite_stats(suite).done, 1);
    assert_int_equal(suite_end(suite, ANN, id, 1, CULEX_EVENT_DONE, 0), CULEX_ANSWER_GONE);
}

void case_settle__done_is_kept_no_longer_than_asked(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.keep_success_ms = 1000;
    culex_uuid run_id = suite_put_run(suite, &run);
    suite_end(suite, ANN, run_id, suite_take(suite, ANN, run_id), CULEX_EVENT_DONE, 0);
    assert_int_equal(suite->reply.due_in_ms, 1000);
    suite_pass(suite, 999);
    assert_state(suite, run_id, CULEX_RUN_DONE);
    suite_pass(suite, 1);
    assert_null(suite_get(suite, run_id));
    assert_int_equal(suite->reply.due_in_ms, -1);
}

/* Nothing of it is left; the report is still known by its nonce. */
void case_settle__done_kept_for_0s_is_gone_at_its_ack(struct suite *suite)
{
    static const char *const results[] = {NULL, "{\"sum\":4}"};
    struct culex_new_run run = suite_run(suite);
    run.keep_success_ms = 0;
    run.unique_key = "0aa0";
    for (int i = 0; i < 2; i++) {
        culex_uuid id = suite_put_run(suite, &run);
        struct culex_ack ack = {.id = id,
                                .attempt = suite_take(suite, ANN, id),
                                .event = CULEX_EVENT_DONE,
                                .result = results[i],
                                .result_len = results[i] != NULL ? strlen(results[i]) : 0};
        struct culex_step step = suite_step_make(suite, ANN, 0);
        step.acks = &ack;
        step.ack_count = 1;
        suite_step(suite, &step);
        assert_int_equal(suite->reply.acks[0], CULEX_ANSWER_OK);
        assert_true(suite->reply.is_empty);
        assert_null(suite_get(suite, id));
        assert_int_equal(suite_stats(suite).count[CULEX_RUN_DONE], 0);
        suite_step(suite, &step);
        assert_int_equal(suite->reply.acks[0], CULEX_ANSWER_OK);
        assert_int_equal(suite_stats(suite).done, i + 1);
        assert_int_equal(suite_ack(suite, ANN, ack), CULEX_ANSWER_GONE);
    }
}

/* Claims a batch and reports the one before it, as a busy worker does. */
static size_t batch_turn(struct suite *suite, struct culex_ack *acks, size_t count, uint32_t want)
{
    struct culex_step step = suite_step_make(suite, ANN, want);
    step.acks = acks;
    step.ack_count = count;
    suite_step(suite, &step);
    for (size_t i = 0; i < suite->reply.grant_count; i++)
        acks[i] = (struct culex_ack){.id = suite->reply.grants[i].facts.id,
                                     .attempt = suite->reply.grants[i].facts.attempt,
                                     .event = CULEX_EVENT_DONE};
    return suite->reply.grant_count;
}

/* What is claimed together ends one by one, or in parts, and whoever is still at work says so. */
void case_settle__part_of_a_claim_ends_without_the_rest(struct suite *suite)
{
    enum { COUNT = 5, FIRST = 1, ENDED = 2 };
    culex_uuid ids[COUNT];
    struct culex_ack acks[ENDED];
    for (int i = 0; i < COUNT; i++)
        suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, COUNT), COUNT);
    int64_t claim_ms = suite->reply.grants[0].facts.claim_ms;
    for (int i = 0; i < COUNT; i++)
        ids[i] = suite->reply.grants[i].facts.id;
    for (int i = 0; i < ENDED; i++)
        acks[i] = (struct culex_ack){
            .id = ids[FIRST + i], .attempt = 1, .event = CULEX_EVENT_DONE, .claim_ms = claim_ms};
    struct culex_beat beat = {.id = ids[FIRST + ENDED], .attempt = 1};
    struct culex_step step = suite_step_make(suite, ANN, 0);
    step.acks = acks;
    step.ack_count = ENDED;
    step.beats = &beat;
    step.beat_count = 1;
    suite_step(suite, &step);
    assert_int_equal(suite->reply.acks[0], CULEX_ANSWER_OK);
    assert_int_equal(suite->reply.acks[1], CULEX_ANSWER_OK);
    assert_int_equal(suite->reply.beats[0], CULEX_ANSWER_OK);
    for (int i = 0; i < COUNT; i++)
        assert_state(suite, ids[i],
                     i >= FIRST && i < FIRST + ENDED ? CULEX_RUN_DONE : CULEX_RUN_ACTIVE);
    assert_int_equal(suite_stats(suite).done, ENDED);
}

/* However large its batches: or the records of a busy queue would only ever grow in number. */
static void forgets_more(struct suite *suite, enum culex_run_event event, culex_run_state state)
{
    enum { BATCH = 200, TURNS = 5 };
    struct culex_ack acks[BATCH];
    struct culex_new_run run = suite_run(suite);
    size_t count = 0;
    run.keep_success_ms = run.keep_failure_ms = 1;
    for (int i = 0; i < BATCH * TURNS; i++)
        suite_put_run(suite, &run);
    for (int turn = 0; turn <= TURNS; turn++) {
        for (size_t i = 0; i < count; i++)
            acks[i].event = event;
        count = batch_turn(suite, acks, count, BATCH);
        assert_int_equal(count, turn < TURNS ? BATCH : 0);
        assert_int_equal(suite_stats(suite).count[state], turn > 0 ? BATCH : 0);
        suite->now_ms += 1;
    }
}

void case_settle__a_step_forgets_more_than_it_adds(struct suite *suite)
{
    forgets_more(suite, CULEX_EVENT_DONE, CULEX_RUN_DONE);
}

void case_settle__a_step_forgets_more_dead_than_it_adds(struct suite *suite)
{
    forgets_more(suite, CULEX_EVENT_DISCARD, CULEX_RUN_DEAD);
}

/* In bounded steps, each of which says when to come again: at once while more is due, later than
 * a second otherwise, so that runs which ended one after the other do not wake a worker each. */
void case_settle__what_is_due_to_be_forgotten_asks_for_steps(struct suite *suite)
{
    enum { RUNS = 200 };
    struct culex_ack acks[RUNS];
    struct culex_new_run run = suite_run(suite);
    run.keep_success_ms = 5000;
    for (int i = 0; i < RUNS; i++)
        suite_put_run(suite, &run);
    batch_turn(suite, acks, 0, RUNS);
    batch_turn(suite, acks, RUNS, 0);
    assert_int_equal(suite->reply.due_in_ms, 5000);
    suite_pass(suite, 4500);
    assert_int_equal(suite->reply.due_in_ms, 1000);
    suite->now_ms += 500;
    int steps = 1;
    for (suite_pass(suite, 0); suite->reply.due_in_ms != -1 && steps < 20; steps++) {
        assert_int_equal(suite->reply.due_in_ms, 0);
        suite_pass(suite, 0);
    }
    assert_in_range(steps, 2, 10);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_DONE], 0);
}

void case_settle__done_again_is_repeated(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    assert_int_equal(suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0), CULEX_ANSWER_OK);
    assert_int_equal(suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0),
                     CULEX_ANSWER_REPEATED);
    assert_int_equal(suite_end(suite, ANN, id, attempt, CULEX_EVENT_FAIL, 0), CULEX_ANSWER_STALE);
    assert_int_equal(suite_end(suite, BOB, id, attempt, CULEX_EVENT_DONE, 0), CULEX_ANSWER_STALE);
    assert_int_equal(suite_stats(suite).done, 1);
    assert_state(suite, id, CULEX_RUN_DONE);
}

void case_settle__retries_start_at_0_2_10_28_60_seconds(struct suite *suite)
{
    static const int64_t starts_ms[] = {0, 2000, 10000, 28000, 60000};
    culex_uuid id = suite_put(suite);
    int64_t began_ms = suite->now_ms;
    for (int n = 1; n <= 5; n++) {
        if (n > 1) {
            suite->now_ms = began_ms + starts_ms[n - 1] - 1;
            assert_int_equal(suite_claim(suite, ANN, 1), 0);
        }
        suite->now_ms = began_ms + starts_ms[n - 1];
        uint32_t attempt = suite_take(suite, ANN, id);
        assert_int_equal(attempt, n);
        char text[16];
        snprintf(text, sizeof text, "failure %d", n);
        struct culex_ack ack = {.id = id,
                                .attempt = attempt,
                                .event = CULEX_EVENT_FAIL,
                                .delay_ms = 2000 * n * n,
                                .text = text};
        assert_int_equal(suite_ack(suite, ANN, ack), CULEX_ANSWER_OK);
        const culex_run_info *run = suite_get(suite, id);
        assert_int_equal(run->state, n < 5 ? CULEX_RUN_SCHEDULED : CULEX_RUN_DEAD);
        assert_int_equal(run->failures, n);
        assert_string_equal(run->error_text, text);
    }
    culex_queue_stats stats = suite_stats(suite);
    assert_int_equal(stats.failed, 5);
    assert_int_equal(stats.dead, 1);
}

void case_settle__dead_keeps_text_and_payload_its_time(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    struct culex_ack ack = {.id = id,
                            .attempt = suite_take(suite, ANN, id),
                            .event = CULEX_EVENT_DISCARD,
                            .text = "no such customer"};
    assert_int_equal(suite_ack(suite, ANN, ack), CULEX_ANSWER_OK);
    suite_pass(suite, 60 * SUITE_MINUTE_MS - 1);
    const culex_run_info *run = suite_get(suite, id);
    assert_non_null(run);
    assert_int_equal(run->state, CULEX_RUN_DEAD);
    assert_int_equal(run->at_ms, suite->now_ms + 1);
    assert_string_equal(run->error_text, "no such customer");
    assert_int_equal(run->payload.len, 2);
    suite_pass(suite, 2);
    suite_pass(suite, 1000);
    assert_null(suite_get(suite, id));
}

static void end_next(struct suite *suite, culex_uuid id, enum culex_run_event event)
{
    uint32_t attempt = suite_take(suite, ANN, id);
    assert_int_equal(suite_end(suite, ANN, id, attempt, event, 0), CULEX_ANSWER_OK);
}

void case_settle__third_crash_in_a_row_is_death(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.attempts_max = 100;
    culex_uuid id = suite_put_run(suite, &run);
    end_next(suite, id, CULEX_EVENT_CRASH);
    end_next(suite, id, CULEX_EVENT_CRASH);
    assert_int_not_equal(suite_state(suite, id), CULEX_RUN_DEAD);
    end_next(suite, id, CULEX_EVENT_CRASH);
    assert_state(suite, id, CULEX_RUN_DEAD);
    assert_int_equal(suite->info->crashes, 3);
    assert_int_equal(suite_stats(suite).crashed, 3);
}

void case_settle__text_of_the_last_crash_is_kept(struct suite *suite)
{
    static const char *const texts[] = {"SIGSEGV in step 1", "", "SIGSEGV in step 2", NULL};
    struct culex_new_run run = suite_run(suite);
    run.attempts_max = 4;
    culex_uuid id = suite_put_run(suite, &run);
    for (uint32_t n = 0; n < 3; n++) {
        struct culex_ack ack = {.id = id, .event = CULEX_EVENT_CRASH, .text = texts[n]};
        ack.attempt = suite_take(suite, ANN, id);
        assert_int_equal(suite_ack(suite, ANN, ack), CULEX_ANSWER_OK);
        suite_get(suite, id);
        assert_string_equal(suite->info->error_text, texts[n][0] != '\0' ? texts[n] : texts[0]);
    }
    assert_state(suite, id, CULEX_RUN_DEAD);
}

void case_settle__failure_breaks_the_crash_streak(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.attempts_max = 100;
    culex_uuid id = suite_put_run(suite, &run);
    for (int i = 0; i < 3; i++) {
        end_next(suite, id, CULEX_EVENT_CRASH);
        end_next(suite, id, CULEX_EVENT_CRASH);
        end_next(suite, id, CULEX_EVENT_FAIL);
    }
    assert_int_not_equal(suite_state(suite, id), CULEX_RUN_DEAD);
    assert_int_equal(suite->info->crashes, 6);
    assert_int_equal(suite->info->failures, 3);
}

void case_settle__release_and_loss_do_not_break_the_crash_streak(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.attempts_max = 100;
    culex_uuid id = suite_put_run(suite, &run);
    end_next(suite, id, CULEX_EVENT_CRASH);
    end_next(suite, id, CULEX_EVENT_RELEASE);
    end_next(suite, id, CULEX_EVENT_CRASH);
    suite_take(suite, ANN, id);
    suite_pass(suite, SUITE_LEASE_MS);
    end_next(suite, id, CULEX_EVENT_CRASH);
    assert_state(suite, id, CULEX_RUN_DEAD);
}

void case_settle__failures_and_crashes_share_the_attempts(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.attempts_max = 3;
    culex_uuid id = suite_put_run(suite, &run);
    end_next(suite, id, CULEX_EVENT_FAIL);
    end_next(suite, id, CULEX_EVENT_CRASH);
    assert_int_not_equal(suite_state(suite, id), CULEX_RUN_DEAD);
    end_next(suite, id, CULEX_EVENT_FAIL);
    assert_state(suite, id, CULEX_RUN_DEAD);
}

void case_settle__tenth_loss_is_death(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.attempts_max = 1; /* losses do not use attempts up */
    culex_uuid id = suite_put_run(suite, &run);
    for (int n = 1; n <= 10; n++) {
        assert_int_equal(suite_take(suite, ANN, id), n);
        suite_pass(suite, SUITE_LEASE_MS);
        assert_state(suite, id, n < 10 ? CULEX_RUN_WAITING : CULEX_RUN_DEAD);
        assert_int_equal(suite->info->losses, n);
    }
    assert_string_equal(suite->info->error_text,
                        "the lease of " ANN "-10 ran out before the worker said how the run ended "
                        "(loss 10 of 10)");
    assert_int_equal(suite_stats(suite).lost, 10);
    assert_int_equal(suite_stats(suite).dead, 1);
}

/* --- leases and a clock that is set back ------------------------------------------------ */

static void clock_back(struct suite *suite, int64_t ms)
{
    suite->now_ms -= ms;
    suite_pass(suite, 0);
}

void case_lease__of_a_dead_holder_ends_soon_after_the_clock_was_set_back(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    suite_take(suite, ANN, id);
    clock_back(suite, SUITE_MINUTE_MS * 60);
    assert_in_range(suite->reply.due_in_ms, 0, SUITE_LEASE_MS);
    suite_pass(suite, SUITE_LEASE_MS - 1);
    assert_state(suite, id, CULEX_RUN_ACTIVE);
    suite_pass(suite, 1);
    assert_state(suite, id, CULEX_RUN_WAITING);
    assert_int_equal(suite_claim(suite, BOB, 1), 1);
}

void case_lease__of_a_living_holder_goes_on_after_the_clock_was_set_back(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    clock_back(suite, SUITE_MINUTE_MS * 60);
    for (int n = 0; n < 4; n++) {
        suite_pass(suite, SUITE_LEASE_MS / 2);
        assert_int_equal(suite_beat(suite, ANN, id, attempt, SUITE_LEASE_MS), CULEX_ANSWER_OK);
    }
    assert_int_equal(suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0), CULEX_ANSWER_OK);
}

/* Not by that of the one who looks: workers of one queue may have different ones. */
void case_lease__is_measured_by_the_longest_that_was_given(struct suite *suite)
{
    culex_uuid claimed = suite_put(suite), beaten = suite_put(suite);
    struct culex_step step = suite_step_make(suite, ANN, 1);
    step.lease_ms = 10 * SUITE_LEASE_MS;
    assert_int_equal(suite_step(suite, &step), 1);
    int64_t end_ms = suite->now_ms + step.lease_ms;
    uint32_t attempt = suite_take(suite, BOB, beaten);
    suite_pass(suite, 0);
    assert_int_equal(suite_get(suite, claimed)->at_ms, end_ms);
    end_ms = suite->now_ms + 20 * SUITE_LEASE_MS;
    suite_beat(suite, BOB, beaten, attempt, 20 * SUITE_LEASE_MS);
    suite_pass(suite, 1000);
    assert_int_equal(suite_get(suite, beaten)->at_ms, end_ms);
    clock_back(suite, SUITE_MINUTE_MS * 60 * 24);
    assert_int_equal(suite_get(suite, beaten)->at_ms, suite->now_ms + 20 * SUITE_LEASE_MS);
    assert_int_equal(suite_get(suite, claimed)->at_ms, suite->now_ms + 20 * SUITE_LEASE_MS);
}

/* Less than a second is not worth a look: each end is a little later, that is all. */
void case_lease__stands_when_the_clock_goes_back_by_less_than_a_second(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    suite_take(suite, ANN, id);
    int64_t end_ms = suite->now_ms + SUITE_LEASE_MS;
    clock_back(suite, 1000);
    assert_int_equal(suite_get(suite, id)->at_ms, end_ms);
    clock_back(suite, 1);
    assert_int_equal(suite_get(suite, id)->at_ms, suite->now_ms + SUITE_LEASE_MS);
}

/* A step cuts a bounded share of them, and the next ones the rest, at once. */
void case_lease__many_are_cut_after_the_clock_was_set_back(struct suite *suite)
{
    enum { MANY = 100, STEPS = 10 };
    for (int n = 0; n < MANY; n++)
        suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, MANY), MANY);
    suite->now_ms -= SUITE_MINUTE_MS * 60;
    for (int n = 0; n < STEPS; n++)
        suite_pass(suite, 0);
    for (int n = 0; n < STEPS; n++)
        suite_pass(suite, n == 0 ? SUITE_LEASE_MS : 0);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], MANY);
}

void case_settle__release_charges_nothing(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.attempts_max = 1;
    culex_uuid id = suite_put_run(suite, &run);
    for (int n = 1; n <= 20; n++)
        end_next(suite, id, CULEX_EVENT_RELEASE);
    assert_state(suite, id, CULEX_RUN_WAITING);
    assert_int_equal(suite->info->attempt, 20);
    assert_int_equal(suite->info->failures + suite->info->crashes + suite->info->losses, 0);
}

void case_settle__release_with_delay_is_scheduled(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_RELEASE, 3000);
    assert_state(suite, id, CULEX_RUN_SCHEDULED);
    assert_int_equal(suite->info->at_ms, suite->now_ms + 3000);
    suite->now_ms += 2999;
    assert_int_equal(suite_claim(suite, ANN, 1), 0);
    suite->now_ms += 1;
    assert_int_equal(suite_take(suite, ANN, id), 2);
}

void case_settle__release_keeps_its_reason(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    for (int n = 0; n < 2; n++) {
        struct culex_ack ack = {.id = id,
                                .attempt = suite_take(suite, ANN, id),
                                .event = CULEX_EVENT_RELEASE,
                                .delay_ms = 1000 * n,
                                .text = n == 0 ? "at once" : "later"};
        assert_int_equal(suite_ack(suite, ANN, ack), CULEX_ANSWER_OK);
        assert_string_equal(suite_get(suite, id)->error_text, ack.text);
        assert_int_equal(suite->info->failures + suite->info->crashes + suite->info->losses, 0);
    }
    suite->now_ms += 1000;
    suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_RELEASE, 0);
    assert_string_equal(suite_get(suite, id)->error_text, "later");
}

void case_settle__error_text_of_4_kib_is_kept(struct suite *suite)
{
    static const char piece[] = "'; DROP TABLE run;-- \"|%s\\\n\t$1 \xe2\x82\xac ";
    char text[4096 + 1];
    for (size_t i = 0; i < sizeof text - 1; i++)
        text[i] = piece[i % (sizeof piece - 1)];
    memset(text + sizeof text - 9, 'x', 8); /* no character is cut */
    text[sizeof text - 1] = '\0';
    culex_uuid id = suite_put(suite);
    struct culex_ack ack = {.id = id,
                            .attempt = suite_take(suite, ANN, id),
                            .event = CULEX_EVENT_FAIL,
                            .delay_ms = 1000,
                            .text = text};
    assert_int_equal(suite_ack(suite, ANN, ack), CULEX_ANSWER_OK);
    assert_string_equal(suite_get(suite, id)->error_text, text);
}

/* --- the fence ------------------------------------------------------------------------------ */

void case_settle__wrong_attempt_is_stale(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    static const uint32_t wrong[] = {0, 2, 1000, UINT32_MAX};
    static const enum culex_run_event events[] = {CULEX_EVENT_DONE, CULEX_EVENT_FAIL,
                                                  CULEX_EVENT_CRASH, CULEX_EVENT_RELEASE,
                                                  CULEX_EVENT_DISCARD};
    for (size_t i = 0; i < 4; i++) {
        for (size_t e = 0; e < 5; e++)
            assert_int_equal(suite_end(suite, ANN, id, wrong[i], events[e], 0), CULEX_ANSWER_STALE);
    }
    assert_state(suite, id, CULEX_RUN_ACTIVE);
    assert_int_equal(suite_stats(suite).stale, 20);
    assert_int_equal(suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0), CULEX_ANSWER_OK);
}

void case_settle__wrong_session_is_stale(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    assert_int_equal(suite_end(suite, BOB, id, attempt, CULEX_EVENT_DONE, 0), CULEX_ANSWER_STALE);
    assert_int_equal(suite_end(suite, BOB, id, attempt, CULEX_EVENT_FAIL, 0), CULEX_ANSWER_STALE);
    assert_state(suite, id, CULEX_RUN_ACTIVE);
    assert_int_equal(suite_get(suite, id)->failures, 0);
    assert_int_equal(suite_stats(suite).stale, 2);
}

void case_settle__unknown_run_is_gone(struct suite *suite)
{
    culex_uuid id = suite_id(suite);
    assert_int_equal(suite_end(suite, ANN, id, 1, CULEX_EVENT_DONE, 0), CULEX_ANSWER_GONE);
    assert_int_equal(suite_beat(suite, ANN, id, 1, 1000), CULEX_ANSWER_GONE);
    assert_null(suite_get(suite, id));
}

void case_settle__late_result_counts_until_the_lease_is_reaped(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    suite->now_ms += 10 * SUITE_LEASE_MS;
    assert_int_equal(suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0), CULEX_ANSWER_OK);
    assert_state(suite, id, CULEX_RUN_DONE);
    assert_int_equal(suite_stats(suite).lost, 0);
}

void case_settle__result_after_the_reap_is_stale(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    suite_pass(suite, SUITE_LEASE_MS);
    assert_int_equal(suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0), CULEX_ANSWER_STALE);
    assert_int_equal(suite_take(suite, BOB, id), 2);
    assert_int_equal(suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0), CULEX_ANSWER_STALE);
    assert_int_equal(suite_end(suite, ANN, id, 2, CULEX_EVENT_DONE, 0), CULEX_ANSWER_STALE);
    assert_state(suite, id, CULEX_RUN_ACTIVE);
    assert_int_equal(suite_get(suite, id)->losses, 1);
}

void case_settle__fail_with_no_delay_may_start_in_the_same_step(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    struct culex_ack ack = {
        .id = id, .attempt = suite_take(suite, ANN, id), .event = CULEX_EVENT_FAIL};
    struct culex_step step = suite_step_make(suite, ANN, 1);
    step.acks = &ack;
    step.ack_count = 1;
    assert_int_equal(suite_step(suite, &step), 1);
    assert_int_equal(suite->reply.grants[0].facts.attempt, 2);
}

/* What executes handlers was killed with the handler in it: the worker knows, and lives. */
void case_settle__loss_that_the_worker_tells_is_charged(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    struct culex_ack ack = {
        .id = id, .attempt = attempt, .event = CULEX_EVENT_LOSS, .text = "killed with its zygote"};
    assert_int_equal(suite_ack(suite, ANN, ack), CULEX_ANSWER_OK);
    assert_state(suite, id, CULEX_RUN_WAITING);
    assert_int_equal(suite->info->losses, 1);
    assert_string_equal(suite->info->error_text, "killed with its zygote");
    assert_int_equal(suite_stats(suite).lost, 1);
    assert_int_equal(suite_claim_for(suite, ANN, 1, 0, false), 0); /* in doubt */
    for (int n = 2; n <= 10; n++) {
        ack.attempt = suite_take(suite, ANN, id);
        assert_int_equal(suite_ack(suite, ANN, ack), CULEX_ANSWER_OK);
    }
    assert_state(suite, id, CULEX_RUN_DEAD);
}

void case_settle__report_of_the_worker_ends_the_doubt(struct suite *suite)
{
    static const enum culex_run_event events[] = {CULEX_EVENT_FAIL, CULEX_EVENT_CRASH,
                                                  CULEX_EVENT_RELEASE};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        culex_uuid id = suite_put(suite);
        suite_take(suite, ANN, id);
        suite_pass(suite, SUITE_LEASE_MS);
        assert_int_equal(suite_claim_for(suite, ANN, 1, 0, false), 0);
        uint32_t attempt = suite_take(suite, ANN, id);
        suite_end(suite, ANN, id, attempt, events[i], 0);
        assert_int_equal(suite_claim_for(suite, ANN, 1, 0, false), 1);
        suite_end(suite, ANN, id, attempt + 1, CULEX_EVENT_DONE, 0);
    }
}

void case_settle__all_lost_leases_are_reaped_in_bounded_steps(struct suite *suite)
{
    for (int i = 0; i < 150; i++)
        suite_put(suite);
    for (int i = 0; i < 5; i++)
        assert_int_equal(suite_claim(suite, ANN, 30), 30);
    suite->now_ms += SUITE_LEASE_MS;
    int steps = 0;
    for (; steps < 20 && suite_stats(suite).lost < 150; steps++) {
        suite_pass(suite, 0);
        if (suite_stats(suite).lost < 150)
            assert_int_equal(suite->reply.due_in_ms, 0); /* says that there is more to do */
    }
    assert_in_range(steps, 2, 10);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], 150);
}

void case_beat__extends_the_lease(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    suite->now_ms += SUITE_LEASE_MS - 1;
    assert_int_equal(suite_beat(suite, ANN, id, attempt, SUITE_LEASE_MS), CULEX_ANSWER_OK);
    assert_int_equal(suite_get(suite, id)->at_ms, suite->now_ms + SUITE_LEASE_MS);
    suite_pass(suite, SUITE_LEASE_MS - 1);
    assert_state(suite, id, CULEX_RUN_ACTIVE);
    suite_pass(suite, 1);
    assert_state(suite, id, CULEX_RUN_WAITING);
}

void case_beat__not_beyond_the_timeout(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.timeout_ms = 20000;
    culex_uuid id = suite_put_run(suite, &run);
    uint32_t attempt = suite_take(suite, ANN, id);
    int64_t end_ms = suite->now_ms + 20000 + CULEX_TIMEOUT_SLACK_MS;
    suite->now_ms += 20000;
    suite_beat(suite, ANN, id, attempt, SUITE_LEASE_MS);
    assert_int_equal(suite_get(suite, id)->at_ms, end_ms);
    suite->now_ms = end_ms - 1;
    suite_beat(suite, ANN, id, attempt, SUITE_LEASE_MS);
    suite_pass(suite, 1);
    assert_state(suite, id, CULEX_RUN_WAITING);
    assert_int_equal(suite->info->losses, 1);
}

/* A run with a timeout of 20 s that ANN holds; *ret_limit_ms is where its leases end at last. */
static struct culex_beat limited_take(struct suite *suite, int64_t *ret_limit_ms)
{
    struct culex_new_run run = suite_run(suite);
    run.timeout_ms = 20000;
    culex_uuid id = suite_put_run(suite, &run);
    uint32_t attempt = suite_take(suite, ANN, id);
    *ret_limit_ms = suite->now_ms + 20000 + CULEX_TIMEOUT_SLACK_MS;
    return (struct culex_beat){.id = id, .attempt = attempt};
}

void case_beat__extension_moves_the_limit(struct suite *suite)
{
    int64_t limit_ms;
    struct culex_beat beat = limited_take(suite, &limit_ms);
    suite->now_ms += 5000;
    beat.extend_ms = 30000;
    assert_int_equal(suite_tell(suite, ANN, beat), CULEX_ANSWER_OK);
    limit_ms = suite->now_ms + 30000 + CULEX_TIMEOUT_SLACK_MS;
    beat.extend_ms = 0;
    while (suite->now_ms + SUITE_LEASE_MS < limit_ms) {
        suite->now_ms += SUITE_LEASE_MS / 2;
        assert_int_equal(suite_tell(suite, ANN, beat), CULEX_ANSWER_OK);
    }
    assert_int_equal(suite_get(suite, beat.id)->at_ms, limit_ms);
}

void case_beat__extension_never_shortens(struct suite *suite)
{
    int64_t limit_ms;
    struct culex_beat beat = limited_take(suite, &limit_ms);
    suite->now_ms = limit_ms - SUITE_LEASE_MS / 2;
    suite->now_ms -= SUITE_LEASE_MS;
    suite_tell(suite, ANN, beat);
    suite->now_ms += SUITE_LEASE_MS - 1;
    beat.extend_ms = 1;
    assert_int_equal(suite_tell(suite, ANN, beat), CULEX_ANSWER_OK);
    assert_int_equal(suite_get(suite, beat.id)->at_ms, limit_ms);
}

void case_beat__extension_holds_for_a_second_beat_of_the_step(struct suite *suite)
{
    int64_t limit_ms;
    struct culex_beat beats[2];
    beats[0] = beats[1] = limited_take(suite, &limit_ms);
    beats[0].extend_ms = 60000;
    while (suite->now_ms + SUITE_LEASE_MS <= limit_ms) {
        suite_tell(suite, ANN, beats[1]);
        suite->now_ms += SUITE_LEASE_MS / 3;
    }
    struct culex_step step = suite_step_make(suite, ANN, 0);
    step.beats = beats;
    step.beat_count = 2;
    suite_step(suite, &step);
    assert_int_equal(suite->reply.beats[1], CULEX_ANSWER_OK);
    assert_int_equal(suite_get(suite, beats[0].id)->at_ms, suite->now_ms + SUITE_LEASE_MS);
}

void case_beat__extension_without_timeout_changes_nothing(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    struct culex_beat beat = {.id = id, .attempt = attempt, .extend_ms = 1};
    for (int n = 0; n < 5; n++) {
        suite->now_ms += SUITE_LEASE_MS / 2;
        assert_int_equal(suite_tell(suite, ANN, beat), CULEX_ANSWER_OK);
        assert_int_equal(suite_get(suite, id)->at_ms, suite->now_ms + SUITE_LEASE_MS);
    }
}

static void assert_progress(struct suite *suite, culex_uuid id, int percent, const char *text)
{
    suite_get(suite, id);
    assert_int_equal(suite->info->progress, percent);
    assert_string_equal(suite->info->progress_text, text);
}

void case_beat__progress_is_kept_until_the_next_claim(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    struct culex_beat beat = {.id = id, .attempt = suite_take(suite, ANN, id)};
    assert_progress(suite, id, -1, "");
    beat.progress = "40 two of \"five\" | caf\xc3\xa9";
    suite_tell(suite, ANN, beat);
    assert_progress(suite, id, 40, beat.progress + 3);
    beat.progress = NULL;
    suite_tell(suite, ANN, beat);
    assert_progress(suite, id, 40, "two of \"five\" | caf\xc3\xa9");
    beat.progress = "-1 last words";
    assert_int_equal(suite_tell(suite, BOB, beat), CULEX_ANSWER_STALE);
    suite_tell(suite, ANN, beat);
    suite_end(suite, ANN, id, beat.attempt, CULEX_EVENT_FAIL, 0);
    assert_progress(suite, id, -1, "last words");
    assert_int_equal(suite_take(suite, BOB, id), 2);
    assert_progress(suite, id, -1, "");
}

void case_settle__last_progress_comes_with_the_end(struct suite *suite)
{
    static const enum culex_run_event events[] = {CULEX_EVENT_DONE, CULEX_EVENT_FAIL,
                                                  CULEX_EVENT_CRASH, CULEX_EVENT_DISCARD,
                                                  CULEX_EVENT_RELEASE};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        culex_uuid id = suite_put(suite);
        uint32_t attempt = suite_take(suite, ANN, id);
        struct culex_beat beat = {.id = id, .attempt = attempt, .progress = "40 half"};
        struct culex_ack ack = {.id = id,
                                .attempt = attempt,
                                .event = events[i],
                                .delay_ms = 60000,
                                .progress = "99 all | but \"one\""};
        suite_tell(suite, ANN, beat);
        assert_int_equal(suite_ack(suite, BOB, ack), CULEX_ANSWER_STALE);
        assert_progress(suite, id, 40, "half");
        assert_int_equal(suite_ack(suite, ANN, ack), CULEX_ANSWER_OK);
        assert_progress(suite, id, 99, "all | but \"one\"");
    }
}

/* Without a new one the old one stays, also with a result and a text. */
void case_settle__progress_out_of_form_is_refused_whole(struct suite *suite)
{
    char long_text[CULEX_PROGRESS_MAX + 2] = "";
    const char *const bad[] = {long_text, "5 \xff"};
    memset(long_text, 'x', CULEX_PROGRESS_MAX + 1);
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    struct culex_beat beat = {.id = id, .attempt = attempt, .progress = "40 half"};
    suite_tell(suite, ANN, beat);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct culex_ack ack = {
            .id = id, .attempt = attempt, .event = CULEX_EVENT_DONE, .progress = bad[i]};
        struct culex_step step = suite_step_make(suite, ANN, 0);
        struct culex_step_reply reply = {0};
        step.acks = &ack;
        step.ack_count = 1;
        assert_int_equal(suite->store->ops->step(suite->store, &step, &reply, NULL), CULEX_EINVAL);
    }
    assert_int_equal(suite_state(suite, id), CULEX_RUN_ACTIVE);
    struct culex_ack ack = {.id = id,
                            .attempt = attempt,
                            .event = CULEX_EVENT_DONE,
                            .result = "7",
                            .result_len = 1,
                            .progress = ""};
    assert_int_equal(suite_ack(suite, ANN, ack), CULEX_ANSWER_OK);
    assert_progress(suite, id, 40, "half");
}

void case_beat__progress_out_of_form_is_refused_whole(struct suite *suite)
{
    char long_text[CULEX_PROGRESS_MAX + 2] = "";
    const char *const bad[] = {long_text, "5 \xff"};
    memset(long_text, 'x', CULEX_PROGRESS_MAX + 1);
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    int64_t at_ms = suite_get(suite, id)->at_ms;
    suite->now_ms += 1000;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct culex_beat beat = {.id = id, .attempt = attempt, .progress = bad[i]};
        struct culex_step step = suite_step_make(suite, ANN, 0);
        struct culex_step_reply reply = {0};
        step.beats = &beat;
        step.beat_count = 1;
        assert_int_equal(suite->store->ops->step(suite->store, &step, &reply, NULL), CULEX_EINVAL);
    }
    assert_int_equal(suite_get(suite, id)->at_ms, at_ms);
    assert_progress(suite, id, -1, "");
}

void case_beat__tells_of_a_start(struct suite *suite)
{
    culex_uuid ids[2] = {suite_put(suite), suite_put(suite)};
    assert_int_equal(suite_claim_for(suite, ANN, 2, 0, false), 2);
    for (int i = 0; i < 2; i++) {
        struct culex_beat beat = {.id = ids[i], .attempt = 1, .is_started = i == 1};
        assert_int_equal(suite_tell(suite, ANN, beat), CULEX_ANSWER_OK);
    }
    struct culex_beat late = {.id = ids[1], .attempt = 1};
    assert_int_equal(suite_tell(suite, ANN, late),
                     CULEX_ANSWER_OK); /* it has started all the same */
    suite_pass(suite, SUITE_LEASE_MS);
    for (int i = 0; i < 2; i++)
        assert_int_equal(suite_get(suite, ids[i])->losses, i);
}

void case_beat__from_another_session_is_stale(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    suite->now_ms += 1000;
    assert_int_equal(suite_beat(suite, BOB, id, attempt, SUITE_LEASE_MS), CULEX_ANSWER_STALE);
    assert_int_equal(suite_beat(suite, ANN, id, attempt + 1, SUITE_LEASE_MS), CULEX_ANSWER_STALE);
    assert_int_equal(suite_get(suite, id)->at_ms, suite->now_ms - 1000 + SUITE_LEASE_MS);
}

void case_beat__tells_of_a_cancellation(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    suite_cancel(suite, id);
    assert_int_equal(suite_beat(suite, BOB, id, attempt, SUITE_LEASE_MS), CULEX_ANSWER_STALE);
    assert_int_equal(suite_beat(suite, ANN, id, attempt, SUITE_LEASE_MS), CULEX_ANSWER_CANCEL);
    assert_state(suite, id, CULEX_RUN_ACTIVE);
    assert_int_equal(suite_end(suite, ANN, id, attempt, CULEX_EVENT_RELEASE, 0), CULEX_ANSWER_OK);
    assert_state(suite, id, CULEX_RUN_CANCELLED);
}

void case_hello__new_session_releases_what_the_old_one_held(struct suite *suite)
{
    culex_uuid ids[3] = {suite_put(suite), suite_put(suite), suite_put(suite)};
    assert_int_equal(suite_hello(suite, "host/1", ANN), 0);
    assert_int_equal(suite_claim_for(suite, ANN, 2, 0, false), 2);
    assert_int_equal(suite_hello(suite, "host/1", ANN), 0);
    assert_state(suite, ids[0], CULEX_RUN_ACTIVE);
    assert_int_equal(suite_hello(suite, "host/1", BOB), 2);
    assert_int_equal(suite_hello(suite, "host/1", BOB), 0); /* each counts what it did itself */
    for (int i = 0; i < 2; i++) {
        assert_state(suite, ids[i], CULEX_RUN_WAITING);
        assert_int_equal(suite->info->attempt, 1);
        assert_int_equal(suite->info->failures + suite->info->losses + suite->info->crashes, 0);
    }
    assert_int_equal(suite_claim(suite, BOB, 2), 2); /* in front of the third */
    for (int i = 0; i < 2; i++)
        assert_int_equal(suite->reply.grants[i].facts.attempt, 2);
    assert_state(suite, ids[2], CULEX_RUN_WAITING);
}

void case_hello__what_had_started_is_charged(struct suite *suite)
{
    culex_uuid ids[3] = {suite_put(suite), suite_put(suite), suite_put(suite)};
    suite_hello(suite, "host/1", ANN);
    assert_int_equal(suite_claim_for(suite, ANN, 3, 1, false), 3);
    struct culex_beat beat = {.id = ids[2], .attempt = 1, .is_started = true};
    suite_tell(suite, ANN, beat);
    assert_int_equal(suite_hello(suite, "host/1", BOB), 3);
    for (int i = 0; i < 3; i++) {
        assert_state(suite, ids[i], CULEX_RUN_WAITING);
        assert_int_equal(suite->info->losses, i == 1 ? 0 : 1);
    }
    assert_int_equal(suite_stats(suite).lost, 2);
    assert_int_equal(suite_claim_for(suite, BOB, 3, 0, false), 0); /* all of them are in doubt */
}

/* More than one call of a bounded store can take, between leases of others that end before and
 * after. */
void case_hello__takes_2000_leases_back_in_order(struct suite *suite)
{
    enum { COUNT = 2000, EACH = 100 };
    static culex_uuid ids[COUNT];
    for (int i = 0; i < COUNT; i++)
        ids[i] = suite_put(suite);
    suite_hello(suite, "host/1", ANN);
    for (int n = 0; n < COUNT; n += EACH) {
        assert_int_equal(suite_claim_for(suite, ANN, EACH, 0, false), EACH);
        suite->now_ms += n % 200 == 0;
    }
    for (int i = 0; i < 700; i++)
        suite_put(suite);
    for (int n = 0; n < 700; n += EACH) {
        struct culex_step step = suite_step_make(suite, EVE, EACH);
        step.lease_ms = n < 350 ? 1000 : 10 * SUITE_LEASE_MS;
        assert_int_equal(suite_step(suite, &step), EACH);
    }
    assert_int_equal(suite_hello(suite, "host/1", BOB), COUNT);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_ACTIVE], 700);
    for (int n = 0; n < COUNT; n += EACH) {
        assert_int_equal(suite_claim(suite, BOB, EACH), EACH);
        for (int i = 0; i < EACH; i++)
            assert_true(suite_same_id(suite->reply.grants[i].facts.id, ids[n + i]));
    }
}

void case_hello__old_session_is_fenced_off(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    suite_hello(suite, "host/1", ANN);
    uint32_t attempt = suite_take(suite, ANN, id);
    assert_int_equal(suite_hello(suite, "host/1", BOB), 1);
    assert_int_equal(suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0), CULEX_ANSWER_STALE);
    assert_int_equal(suite_beat(suite, ANN, id, attempt, 1000), CULEX_ANSWER_STALE);
    assert_state(suite, id, CULEX_RUN_WAITING);
    uint32_t newer = suite_take(suite, BOB, id);
    assert_int_equal(suite_end(suite, ANN, id, newer, CULEX_EVENT_DONE, 0), CULEX_ANSWER_STALE);
    assert_int_equal(suite_end(suite, BOB, id, newer, CULEX_EVENT_DONE, 0), CULEX_ANSWER_OK);
}

/* Two live workers under one name: the older one must learn of it, and do no harm until then. */
void case_hello__replaced_session_is_told_and_gets_nothing(struct suite *suite)
{
    suite_hello(suite, "host/1", ANN);
    assert_int_equal(suite_claim(suite, ANN, 1), 0);
    assert_false(suite->reply.is_replaced);
    suite_hello(suite, "host/1", ANN);
    culex_uuid id = suite_put(suite);
    suite_hello(suite, "host/1", BOB);
    assert_int_equal(suite_claim(suite, ANN, 1), 0);
    assert_true(suite->reply.is_replaced);
    assert_state(suite, id, CULEX_RUN_WAITING);
    assert_int_equal(suite_claim(suite, ANN, 1), 0); /* and again */
    assert_true(suite->reply.is_replaced);
    assert_false(suite->reply.is_late);
    assert_int_equal(suite_claim(suite, BOB, 1), 1);
    assert_false(suite->reply.is_replaced);
    assert_int_equal(suite_hello(suite, "host/2", EVE), 0);
    assert_int_equal(suite_claim(suite, EVE, 1), 0);
    assert_false(suite->reply.is_replaced);
}

void case_hello__leaves_other_workers_alone(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    suite_hello(suite, "host/1", ANN);
    suite_hello(suite, "host/10", BOB);
    suite_take(suite, BOB, id);
    assert_int_equal(suite_hello(suite, "host/1", EVE), 0);
    assert_state(suite, id, CULEX_RUN_ACTIVE);
    assert_int_equal(suite_end(suite, BOB, id, 1, CULEX_EVENT_DONE, 0), CULEX_ANSWER_OK);
}

/* Its own HELLO may be long past. */
void case_hello__knows_a_worker_that_called_within_the_hour(struct suite *suite)
{
    suite_hello(suite, "host/1", ANN);
    suite->now_ms += 59 * SUITE_MINUTE_MS;
    culex_uuid first = suite_put(suite), second = suite_put(suite);
    suite_end(suite, ANN, first, suite_take(suite, ANN, first), CULEX_EVENT_DONE, 0);
    suite->now_ms += 2 * SUITE_MINUTE_MS;
    suite_take(suite, ANN, second);
    suite_hello(suite, "host/2", EVE);
    assert_int_equal(suite_hello(suite, "host/1", BOB), 1);
    assert_state(suite, second, CULEX_RUN_WAITING);
}

/* However long that is: until then nobody else gets its run. */
void case_hello__knows_a_worker_for_as_long_as_its_lease(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    suite_hello(suite, "host/1", ANN);
    struct culex_step step = suite_step_make(suite, ANN, 1);
    step.lease_ms = 240 * SUITE_MINUTE_MS;
    assert_int_equal(suite_step(suite, &step), 1);
    suite->now_ms += 200 * SUITE_MINUTE_MS;
    for (int i = 0; i < 3; i++) {
        suite_pass(suite, 2 * SUITE_MINUTE_MS);
        suite_hello(suite, "host/2", EVE);
    }
    assert_int_equal(suite_hello(suite, "host/1", BOB), 1);
    assert_state(suite, id, CULEX_RUN_WAITING);
}

void case_hello__flagged_run_is_cancelled(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    suite_hello(suite, "host/1", ANN);
    suite_take(suite, ANN, id);
    suite_cancel(suite, id);
    suite_hello(suite, "host/1", BOB);
    assert_state(suite, id, CULEX_RUN_CANCELLED);
    assert_int_equal(suite_claim(suite, BOB, 1), 0);
}
