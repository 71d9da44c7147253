/* Every verb and outcome, on a file under both checkpoint schemes and in memory. */
#include "fixture.h"

#include <sys/stat.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ONE "aaaaaaaaaaaaaaaa"
#define TWO "bbbbbbbbbbbbbbbb"

static const culex_uuid nobody = {{1}}; /* no run's id */

/* cmocka's group state: which store. */
enum kind { KIND_GUARDED, KIND_PLAIN, KIND_MEMORY };

static int setup(void **state, enum kind kind)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture_init(fixture);
    if (kind == KIND_MEMORY) {
        struct culex_store_options options = {.timeout_ms = fixture->timeout_ms};
        assert_int_equal(culex__sqlite_open(fixture->folder, true, &options, &fixture->env,
                                            &fixture->store, NULL),
                         CULEX_OK);
    } else {
        fixture->store =
            fixture_open(fixture, kind == KIND_GUARDED ? 3040001 : CULEX__SQLITE_WAL_RESET_FIXED);
    }
    *state = fixture;
    return 0;
}

static int setup_guarded(void **state)
{
    return setup(state, KIND_GUARDED);
}

static int setup_plain(void **state)
{
    return setup(state, KIND_PLAIN);
}

static int setup_memory(void **state)
{
    return setup(state, KIND_MEMORY);
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    if (!culex__sqlite_of(fixture->store)->is_memory)
        assert_sound(fixture);
    fixture_release(fixture);
    free(fixture);
    return 0;
}

static culex_uuid put(struct fixture *fixture, const char *payload)
{
    struct culex_new_run run = fixture_run(payload, strlen(payload));
    return fixture_put(fixture->store, "q", &run);
}

static struct culex_step_reply step(struct fixture *fixture, const char *session, uint32_t want)
{
    return fixture_step(fixture->store, "q", session, want, NULL, 0);
}

/* Claims the only ready run and checks which one it is. */
static uint32_t claim(struct fixture *fixture, const char *session, culex_uuid id)
{
    struct culex_step_reply reply = step(fixture, session, 1);
    assert_int_equal(reply.grant_count, 1);
    assert_memory_equal(&reply.grants[0].facts.id, &id, sizeof id);
    uint32_t attempt = reply.grants[0].facts.attempt;
    fixture->store->ops->step_release(fixture->store, &reply);
    return attempt;
}

static enum culex_answer ack(struct fixture *fixture, const char *session, culex_uuid id,
                             uint32_t attempt, enum culex_run_event event, int64_t delay_ms,
                             const char *text)
{
    struct culex_ack report = {
        .id = id, .attempt = attempt, .event = event, .delay_ms = delay_ms, .text = text};
    struct culex_step_reply reply = fixture_step(fixture->store, "q", session, 0, &report, 1);
    enum culex_answer answer = reply.acks[0];
    fixture->store->ops->step_release(fixture->store, &reply);
    return answer;
}

static culex_run_info *get(struct fixture *fixture, culex_uuid id)
{
    culex_run_info *info = NULL;
    culex_error error = {.text = ""};
    if (fixture->store->ops->get(fixture->store, "q", id, &info, &error) != CULEX_OK)
        fail_msg("get: %s", error.text);
    return info;
}

static culex_run_state state_of(struct fixture *fixture, culex_uuid id)
{
    culex_run_info *info = get(fixture, id);
    culex_run_state state = info->state;
    culex_run_info_free(info);
    return state;
}

static bool is_gone(struct fixture *fixture, culex_uuid id)
{
    culex_run_info *info;
    return fixture->store->ops->get(fixture->store, "q", id, &info, NULL) == CULEX_ENOTFOUND;
}

static culex_queue_stats stats(struct fixture *fixture)
{
    culex_queue_stats stats;
    assert_int_equal(fixture->store->ops->stats(fixture->store, "q", &stats, NULL), CULEX_OK);
    return stats;
}

/* --- enqueue -------------------------------------------------------------------------------- */

static void test_enqueue__refuses_what_is_out_of_range(void **state)
{
    struct fixture *fixture = *state;
    struct culex_new_run run = fixture_run("x", 1);
    struct culex_enqueue_result result;
    run.priority = 10;
    assert_int_equal(
        fixture->store->ops->enqueue(fixture->store, "q", NULL, &run, 1, &result, NULL),
        CULEX_EINVAL);
    run.priority = 0;
    run.attempts_max = 0;
    assert_int_equal(
        fixture->store->ops->enqueue(fixture->store, "q", NULL, &run, 1, &result, NULL),
        CULEX_EINVAL);
}

static void test_enqueue__unique_key_is_held_until_the_end(void **state)
{
    struct fixture *fixture = *state;
    struct culex_new_run first = fixture_run("x", 1), second = fixture_run("x", 1);
    struct culex_enqueue_result result;
    first.unique_key = second.unique_key = "abc123";
    first.unique_while = second.unique_while = CULEX_UNIQUE_LIVE;
    culex_uuid first_id = fixture_put(fixture->store, "q", &first);
    assert_int_equal(
        fixture->store->ops->enqueue(fixture->store, "q", NULL, &second, 1, &result, NULL),
        CULEX_OK);
    assert_int_equal(result.outcome, CULEX_ENQUEUED_UNIQUE_TAKEN);
    assert_memory_equal(&result.id, &first_id, sizeof first_id);
    ack(fixture, ONE, first_id, claim(fixture, ONE, first_id), CULEX_EVENT_DISCARD, 0, "no");
    assert_int_equal(fixture_enqueue(fixture->store, "q", &second), CULEX_ENQUEUED_NEW);
    /* The dead one cannot come back while the second lives. */
    assert_int_equal(fixture->store->ops->retry(fixture->store, "q", first_id, NULL),
                     CULEX_EUNIQUE);
}

/* --- claims ---------------------------------------------------------------------------------- */

static void test_claim__order_is_priority_then_age(void **state)
{
    struct fixture *fixture = *state;
    static const char *const expected[] = {"high", "first", "second", "third"};
    struct culex_new_run high = fixture_run("high", 4);
    put(fixture, "first");
    put(fixture, "second");
    fixture->now_ms -= 5000; /* the clock is set back: order and readiness stay */
    put(fixture, "third");
    high.priority = 9;
    fixture_enqueue(fixture->store, "q", &high);
    struct culex_step_reply reply = step(fixture, ONE, 10);
    assert_int_equal(reply.grant_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(reply.grants[i].payload_len, strlen(expected[i]));
        assert_memory_equal(reply.grants[i].payload, expected[i], strlen(expected[i]));
        assert_string_equal(reply.grants[i].job, "test.job");
    }
    fixture->store->ops->step_release(fixture->store, &reply);
}

static void test_claim__released_run_goes_to_the_front(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid first = put(fixture, "first"), second = put(fixture, "second");
    uint32_t attempt = claim(fixture, ONE, first);
    assert_int_equal(ack(fixture, ONE, first, attempt, CULEX_EVENT_RELEASE, 0, NULL),
                     CULEX_ANSWER_OK);
    assert_int_equal(claim(fixture, ONE, first), attempt + 1);
    claim(fixture, ONE, second);
}

static void test_claim__scheduled_run_waits_for_its_time(void **state)
{
    struct fixture *fixture = *state;
    struct culex_new_run run = fixture_run("x", 1);
    run.delay_ms = 5000;
    culex_uuid id = fixture_put(fixture->store, "q", &run);
    struct culex_step_reply reply = step(fixture, ONE, 1);
    assert_int_equal(reply.grant_count, 0);
    assert_int_equal(reply.due_in_ms, 5000);
    assert_false(reply.is_empty);
    fixture->store->ops->step_release(fixture->store, &reply);
    assert_int_equal(state_of(fixture, id), CULEX_RUN_SCHEDULED);
    assert_int_equal(stats(fixture).count[CULEX_RUN_SCHEDULED], 1);
    fixture->now_ms += 5000;
    assert_int_equal(state_of(fixture, id), CULEX_RUN_WAITING);
    assert_int_equal(stats(fixture).count[CULEX_RUN_WAITING], 1);
    claim(fixture, ONE, id);
}

static void test_claim__expired_run_dies_unstarted(void **state)
{
    struct fixture *fixture = *state;
    struct culex_new_run run = fixture_run("x", 1);
    run.expires_ms = 1000;
    culex_uuid id = fixture_put(fixture->store, "q", &run);
    fixture->now_ms += 1000;
    struct culex_step_reply reply = step(fixture, ONE, 1);
    assert_int_equal(reply.grant_count, 0);
    fixture->store->ops->step_release(fixture->store, &reply);
    culex_run_info *info = get(fixture, id);
    assert_int_equal(info->state, CULEX_RUN_DEAD);
    assert_string_equal(info->error_text, "expired");
    culex_run_info_free(info);
}

static void test_claim__suspect_is_granted_alone(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid suspect = put(fixture, "suspect");
    for (int i = 0; i < CULEX_SUSPECT_LOSSES; i++) {
        claim(fixture, ONE, suspect);
        fixture->now_ms += 30000;
    }
    put(fixture, "other");
    struct culex_step_reply reply = step(fixture, TWO, 8);
    assert_int_equal(reply.grant_count, 1);
    assert_memory_equal(&reply.grants[0].facts.id, &suspect, sizeof suspect);
    assert_int_equal(reply.grants[0].facts.counters.losses, CULEX_SUSPECT_LOSSES);
    fixture->store->ops->step_release(fixture->store, &reply);
    reply = step(fixture, TWO, 8);
    assert_int_equal(reply.grant_count, 1);
    fixture->store->ops->step_release(fixture->store, &reply);
}

static void test_claim__byte_budget_holds_beyond_the_first(void **state)
{
    struct fixture *fixture = *state;
    char big[4000];
    memset(big, 'x', sizeof big);
    for (int i = 0; i < 3; i++) {
        struct culex_new_run run = fixture_run(big, sizeof big);
        fixture_enqueue(fixture->store, "q", &run);
    }
    struct culex_step request = {
        .queue = "q", .session = ONE, .nonce = 1, .want = 3, .max_bytes = 4000, .lease_ms = 1000};
    struct culex_step_reply reply;
    assert_int_equal(fixture->store->ops->step(fixture->store, &request, &reply, NULL), CULEX_OK);
    assert_int_equal(reply.grant_count, 2);
    assert_memory_equal(reply.grants[1].payload, big, sizeof big);
    fixture->store->ops->step_release(fixture->store, &reply);
}

static void test_claim__paused_queue_gives_nothing(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid id = put(fixture, "x");
    assert_int_equal(fixture->store->ops->pause(fixture->store, "q", true, NULL), CULEX_OK);
    struct culex_step_reply reply = step(fixture, ONE, 1);
    assert_int_equal(reply.grant_count, 0);
    assert_true(reply.is_paused);
    fixture->store->ops->step_release(fixture->store, &reply);
    assert_true(stats(fixture).paused);
    assert_int_equal(fixture->store->ops->pause(fixture->store, "q", false, NULL), CULEX_OK);
    claim(fixture, ONE, id);
}

/* --- acks, beats, the fence, the nonce ------------------------------------------------- */

static void test_ack__done_removes_the_payload_and_keeps_the_result(void **state)
{
    struct fixture *fixture = *state;
    char big[5000] = "big";
    struct culex_new_run run = fixture_run(big, sizeof big);
    culex_uuid id = fixture_put(fixture->store, "q", &run);
    uint32_t attempt = claim(fixture, ONE, id);
    struct culex_ack report = {
        .id = id, .attempt = attempt, .event = CULEX_EVENT_DONE, .result = "42", .result_len = 2};
    struct culex_step_reply reply = fixture_step(fixture->store, "q", ONE, 0, &report, 1);
    assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
    assert_true(reply.is_empty);
    fixture->store->ops->step_release(fixture->store, &reply);
    culex_run_info *info = get(fixture, id);
    assert_int_equal(info->state, CULEX_RUN_DONE);
    assert_int_equal(info->payload.len, 0);
    assert_int_equal(info->result.len, 2);
    assert_memory_equal(info->result.data, "42", 2);
    culex_run_info_free(info);
    fixture->now_ms += 999;        /* it is kept a second */
    reply = step(fixture, ONE, 0); /* purges what is over */
    fixture->store->ops->step_release(fixture->store, &reply);
    assert_int_equal(ack(fixture, ONE, id, attempt, CULEX_EVENT_DONE, 0, NULL),
                     CULEX_ANSWER_REPEATED);
    fixture->now_ms += 1;
    ack(fixture, ONE, id, attempt, CULEX_EVENT_DONE, 0, NULL);
    assert_int_equal(ack(fixture, ONE, id, attempt, CULEX_EVENT_DONE, 0, NULL), CULEX_ANSWER_GONE);
    assert_int_equal(stats(fixture).done, 1);
}

static void test_ack__failures_back_off_and_end_dead(void **state)
{
    struct fixture *fixture = *state;
    struct culex_new_run run = fixture_run("x", 1);
    run.attempts_max = 2;
    culex_uuid id = fixture_put(fixture->store, "q", &run);
    ack(fixture, ONE, id, claim(fixture, ONE, id), CULEX_EVENT_FAIL, 2000, "first");
    culex_run_info *info = get(fixture, id);
    assert_int_equal(info->state, CULEX_RUN_SCHEDULED);
    assert_int_equal(info->at_ms, fixture->now_ms + 2000);
    assert_string_equal(info->error_text, "first");
    culex_run_info_free(info);
    fixture->now_ms += 2000;
    ack(fixture, ONE, id, claim(fixture, ONE, id), CULEX_EVENT_CRASH, 2000, "second");
    info = get(fixture, id);
    assert_int_equal(info->state, CULEX_RUN_DEAD);
    assert_int_equal(info->failures, 1);
    assert_int_equal(info->crashes, 1);
    assert_int_equal(info->payload.len, 1);
    culex_run_info_free(info);
    assert_int_equal(fixture->store->ops->retry(fixture->store, "q", id, NULL), CULEX_OK);
    assert_int_equal(fixture->store->ops->retry(fixture->store, "q", id, NULL), CULEX_ESTATE);
    assert_int_equal(claim(fixture, ONE, id), 3);
    culex_queue_stats now = stats(fixture);
    assert_int_equal(now.failed, 1);
    assert_int_equal(now.crashed, 1);
    assert_int_equal(now.dead, 1);
}

static void test_fence__only_the_holder_is_heard(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid id = put(fixture, "x");
    uint32_t attempt = claim(fixture, ONE, id);
    assert_int_equal(ack(fixture, TWO, id, attempt, CULEX_EVENT_DONE, 0, NULL), CULEX_ANSWER_STALE);
    assert_int_equal(ack(fixture, ONE, id, attempt + 1, CULEX_EVENT_DONE, 0, NULL),
                     CULEX_ANSWER_STALE);
    fixture->now_ms += 30000;
    assert_int_equal(claim(fixture, TWO, id), attempt + 1);
    assert_int_equal(ack(fixture, ONE, id, attempt, CULEX_EVENT_DONE, 0, NULL), CULEX_ANSWER_STALE);
    assert_int_equal(state_of(fixture, id), CULEX_RUN_ACTIVE);
    assert_int_equal(ack(fixture, TWO, id, attempt + 1, CULEX_EVENT_DONE, 0, NULL),
                     CULEX_ANSWER_OK);
    assert_int_equal(ack(fixture, ONE, nobody, 1, CULEX_EVENT_DONE, 0, NULL), CULEX_ANSWER_GONE);
    assert_int_equal(stats(fixture).stale, 3);
    assert_int_equal(stats(fixture).lost, 1);
}

static enum culex_answer beat(struct fixture *fixture, const char *session, culex_uuid id,
                              uint32_t attempt)
{
    struct culex_beat report = {.id = id, .attempt = attempt};
    struct culex_step request = {
        .queue = "q", .session = session, .lease_ms = 30000, .beats = &report, .beat_count = 1};
    struct culex_step_reply reply;
    request.nonce = fixture_nonce();
    assert_int_equal(fixture->store->ops->step(fixture->store, &request, &reply, NULL), CULEX_OK);
    enum culex_answer answer = reply.beats[0];
    fixture->store->ops->step_release(fixture->store, &reply);
    return answer;
}

static void test_beat__extends_no_further_than_the_timeout(void **state)
{
    struct fixture *fixture = *state;
    struct culex_new_run run = fixture_run("x", 1);
    run.timeout_ms = 40000;
    culex_uuid id = fixture_put(fixture->store, "q", &run);
    int64_t start = fixture->now_ms;
    uint32_t attempt = claim(fixture, ONE, id);
    fixture->now_ms += 20000;
    assert_int_equal(beat(fixture, ONE, id, attempt), CULEX_ANSWER_OK);
    fixture->now_ms += 20000;
    assert_int_equal(beat(fixture, ONE, id, attempt), CULEX_ANSWER_OK);
    culex_run_info *info = get(fixture, id);
    assert_int_equal(info->at_ms, start + 40000 + CULEX_TIMEOUT_SLACK_MS);
    culex_run_info_free(info);
    assert_int_equal(beat(fixture, TWO, id, attempt), CULEX_ANSWER_STALE);
    assert_int_equal(beat(fixture, ONE, nobody, attempt), CULEX_ANSWER_GONE);
}

static void test_cancel__ends_what_waits_and_asks_what_runs(void **state)
{
    struct fixture *fixture = *state;
    const struct culex_store_ops *ops = fixture->store->ops;
    culex_run_state after;
    culex_uuid active = put(fixture, "active");
    uint32_t attempt = claim(fixture, ONE, active);
    culex_uuid waiting = put(fixture, "waiting");
    struct culex_new_run later = fixture_run("x", 1);
    later.delay_ms = 1000;
    culex_uuid later_id = fixture_put(fixture->store, "q", &later);
    assert_int_equal(ops->cancel(fixture->store, "q", waiting, &after, NULL), CULEX_OK);
    assert_int_equal(after, CULEX_RUN_CANCELLED);
    assert_int_equal(ops->cancel(fixture->store, "q", later_id, &after, NULL), CULEX_OK);
    assert_int_equal(after, CULEX_RUN_CANCELLED);
    assert_int_equal(ops->cancel(fixture->store, "q", waiting, &after, NULL), CULEX_ESTATE);
    assert_int_equal(ops->cancel(fixture->store, "q", active, &after, NULL), CULEX_OK);
    assert_int_equal(after, CULEX_RUN_ACTIVE);
    assert_int_equal(beat(fixture, ONE, active, attempt), CULEX_ANSWER_CANCEL);
    assert_int_equal(ack(fixture, ONE, active, attempt, CULEX_EVENT_RELEASE, 0, NULL),
                     CULEX_ANSWER_OK);
    assert_int_equal(state_of(fixture, active), CULEX_RUN_CANCELLED);
    assert_int_equal(stats(fixture).cancelled, 3);
    assert_int_equal(ops->cancel(fixture->store, "q", nobody, &after, NULL), CULEX_ENOTFOUND);
}

static void test_nonce__repeat_changes_nothing_and_answers_the_same(void **state)
{
    struct fixture *fixture = *state;
    const struct culex_store_ops *ops = fixture->store->ops;
    culex_uuid first = put(fixture, "first"), second = put(fixture, "second");
    uint32_t attempt = claim(fixture, ONE, first);
    struct culex_ack report = {
        .id = first, .attempt = attempt, .event = CULEX_EVENT_FAIL, .delay_ms = 60000};
    struct culex_step request = {.queue = "q",
                                 .session = ONE,
                                 .nonce = fixture_nonce(),
                                 .want = 1,
                                 .max_bytes = 1000,
                                 .lease_ms = 30000,
                                 .acks = &report,
                                 .ack_count = 1};
    struct culex_step_reply reply;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ops->step(fixture->store, &request, &reply, NULL), CULEX_OK);
        assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
        assert_int_equal(reply.grant_count, 1);
        assert_memory_equal(&reply.grants[0].facts.id, &second, sizeof second);
        assert_int_equal(reply.grants[0].facts.attempt, 1);
        assert_memory_equal(reply.grants[0].payload, "second", 6);
        ops->step_release(fixture->store, &reply);
    }
    assert_int_equal(stats(fixture).failed, 1);
    assert_int_equal(stats(fixture).stale, 0);
    /* A grant that was lost meanwhile is not given again. */
    fixture->now_ms += 30000;
    reply = fixture_step(fixture->store, "q", TWO, 0, NULL, 0);
    ops->step_release(fixture->store, &reply);
    assert_int_equal(ops->step(fixture->store, &request, &reply, NULL), CULEX_OK);
    assert_int_equal(reply.grant_count, 0);
    ops->step_release(fixture->store, &reply);
}

static void test_nonce__repeat_of_an_empty_step_stays_empty(void **state)
{
    struct fixture *fixture = *state;
    struct culex_step request = {
        .queue = "q", .session = ONE, .nonce = 5, .want = 1, .lease_ms = 1000};
    struct culex_step_reply reply;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(fixture->store->ops->step(fixture->store, &request, &reply, NULL),
                         CULEX_OK);
        assert_int_equal(reply.grant_count, 0);
        fixture->store->ops->step_release(fixture->store, &reply);
        put(fixture, "x");
    }
}

/* --- the other verbs ------------------------------------------------------------------- */

static void test_hello__new_session_gives_back_what_the_old_one_held(void **state)
{
    struct fixture *fixture = *state;
    const struct culex_store_ops *ops = fixture->store->ops;
    size_t released = 9;
    int64_t now;
    assert_int_equal(ops->hello(fixture->store, "q", "w1", ONE, &released, &now, NULL), CULEX_OK);
    assert_int_equal(released, 0);
    assert_int_equal(now, fixture->now_ms);
    culex_uuid first = put(fixture, "first"), second = put(fixture, "second");
    claim(fixture, ONE, first);
    claim(fixture, ONE, second);
    assert_int_equal(ops->hello(fixture->store, "q", "w1", ONE, &released, &now, NULL), CULEX_OK);
    assert_int_equal(released, 0);
    assert_int_equal(ops->hello(fixture->store, "q", "w1", TWO, &released, &now, NULL), CULEX_OK);
    assert_int_equal(released, 2);
    assert_int_equal(claim(fixture, TWO, first), 2);
    assert_int_equal(claim(fixture, TWO, second), 2);
    assert_int_equal(ack(fixture, ONE, first, 1, CULEX_EVENT_DONE, 0, NULL), CULEX_ANSWER_STALE);
}

static void test_tick__enqueues_only_behind_the_mark(void **state)
{
    struct fixture *fixture = *state;
    struct culex_new_run run = fixture_run("x", 1);
    struct culex_tick tick = {.queue = "q", .schedule = "sweep", .interval_ms = 1000, .run = &run};
    struct culex_tick_reply reply;
    assert_int_equal(fixture->store->ops->tick(fixture->store, &tick, &reply, NULL), CULEX_OK);
    assert_true(reply.is_enqueued);
    assert_int_equal(reply.mark_ms, fixture->now_ms);
    struct culex_step_reply taken = step(fixture, ONE, 1);
    assert_int_equal(taken.grant_count, 1);
    culex_uuid id = taken.grants[0].facts.id;
    fixture->store->ops->step_release(fixture->store, &taken);
    assert_int_equal(ack(fixture, ONE, id, 1, CULEX_EVENT_DONE, 0, NULL), CULEX_ANSWER_OK);
    fixture->now_ms += 999;
    assert_int_equal(fixture->store->ops->tick(fixture->store, &tick, &reply, NULL), CULEX_OK);
    assert_false(reply.is_enqueued);
    assert_int_equal(reply.mark_ms, fixture->now_ms - 999);
    fixture->now_ms += 1;
    assert_int_equal(fixture->store->ops->tick(fixture->store, &tick, &reply, NULL), CULEX_OK);
    assert_true(reply.is_enqueued);
    assert_int_equal(stats(fixture).enqueued, 2);
}

/* While a verb waits for the write lock, its holder's time goes on, and then the lock is free. */
static struct fixture *holder_fixture;
static sqlite3 *holder;

static void holder_nap(int64_t ms)
{
    if (holder == NULL)
        return;
    holder_fixture->now_ms += ms;
    assert_int_equal(sqlite3_exec(holder, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(holder);
    holder = NULL;
}

static int holder_poll(void *self, struct pollfd *fds, nfds_t count, int timeout_ms)
{
    (void)self, (void)fds, (void)count, (void)timeout_ms;
    holder_nap(1000);
    return 0;
}

static void test_tick__of_who_waited_for_the_lock_is_of_when_it_was_free(void **state)
{
    struct fixture *fixture = *state;
    struct culex_store *store = fixture->store;
    struct culex_new_run run = fixture_run("{}", 2);
    struct culex_tick tick = {
        .queue = "q", .schedule = "test.job", .interval_ms = 100, .may_overlap = true, .run = &run};
    struct culex_tick_reply reply;
    assert_int_equal(store->ops->tick(store, &tick, &reply, NULL), CULEX_OK);
    int64_t began_ms = fixture->now_ms;
    holder_fixture = fixture;
    assert_int_equal(sqlite3_open(fixture->path, &holder), SQLITE_OK);
    assert_int_equal(sqlite3_exec(holder, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    fixture->env.poll = holder_poll;
    assert_int_equal(store->ops->tick(store, &tick, &reply, NULL), CULEX_OK);
    assert_null(holder); /* so it waited */
    assert_true(reply.is_enqueued);
    assert_int_equal(reply.now_ms, began_ms + 1000);
    assert_int_equal(reply.mark_ms, began_ms + 1000);
}

static void test_list__pages_through_one_state(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 7; i++)
        put(fixture, "x");
    struct culex_new_run later = fixture_run("x", 1);
    later.delay_ms = 1000;
    fixture_enqueue(fixture->store, "q", &later);
    fixture_enqueue(fixture->store, "other", &later);
    struct culex_list_reply page;
    culex_list_cursor cursor = CULEX_LIST_START;
    size_t seen = 0;
    do {
        assert_int_equal(fixture->store->ops->list(fixture->store, "q",
                                                   CULEX_LIST_OF(CULEX_RUN_WAITING), cursor, 3,
                                                   &page, NULL),
                         CULEX_OK);
        cursor = page.cursor;
        seen += page.count;
        assert_true(page.count == 0 || page.runs[0].state == CULEX_RUN_WAITING);
        fixture->store->ops->list_release(fixture->store, &page);
    } while (cursor.place != 0);
    assert_int_equal(seen, 7);
}

static void test_purge_and_forget__only_what_is_in_that_state_goes(void **state)
{
    struct fixture *fixture = *state;
    const struct culex_store_ops *ops = fixture->store->ops;
    struct culex_purge_reply purged;
    for (int i = 0; i < 5; i++)
        put(fixture, "x");
    struct culex_new_run later = fixture_run("x", 1);
    later.delay_ms = 1000;
    culex_uuid later_id = fixture_put(fixture->store, "q", &later);
    assert_int_equal(ops->forget(fixture->store, "q", later_id, NULL), CULEX_ESTATE);
    assert_int_equal(ops->purge(fixture->store, "q", CULEX_RUN_ACTIVE, 1, &purged, NULL),
                     CULEX_EINVAL);
    assert_int_equal(ops->purge(fixture->store, "q", CULEX_RUN_WAITING, 3, &purged, NULL),
                     CULEX_OK);
    assert_int_equal(purged.deleted, 3);
    assert_int_equal(ops->purge(fixture->store, "q", CULEX_RUN_WAITING, 3, &purged, NULL),
                     CULEX_OK);
    assert_int_equal(purged.deleted, 2);
    assert_int_equal(ops->purge(fixture->store, "q", CULEX_RUN_SCHEDULED, 3, &purged, NULL),
                     CULEX_OK);
    assert_int_equal(purged.deleted, 1);
    culex_uuid id = put(fixture, "x");
    ack(fixture, ONE, id, claim(fixture, ONE, id), CULEX_EVENT_DISCARD, 0, "no");
    assert_int_equal(ops->forget(fixture->store, "q", id, NULL), CULEX_OK);
    assert_true(is_gone(fixture, id));
    id = put(fixture, "x");
    ack(fixture, ONE, id, claim(fixture, ONE, id), CULEX_EVENT_DISCARD, 0, "no");
    assert_int_equal(ops->purge(fixture->store, "q", CULEX_RUN_DEAD, 9, &purged, NULL), CULEX_OK);
    assert_int_equal(purged.deleted, 1);
}

static void test_queues__are_listed_by_name(void **state)
{
    struct fixture *fixture = *state;
    char **names;
    size_t released;
    int64_t now;
    assert_int_equal(fixture->store->ops->queues(fixture->store, &names, NULL), CULEX_OK);
    assert_null(names[0]);
    free(names);
    put(fixture, "x");
    fixture->store->ops->hello(fixture->store, "a", "w", ONE, &released, &now, NULL);
    assert_int_equal(fixture->store->ops->queues(fixture->store, &names, NULL), CULEX_OK);
    assert_string_equal(names[0], "a");
    assert_string_equal(names[1], "q");
    assert_null(names[2]);
    free(names);
}

static void test_unknown_queue__is_empty(void **state)
{
    struct fixture *fixture = *state;
    struct culex_step_reply reply = step(fixture, ONE, 1);
    assert_true(reply.is_empty);
    assert_int_equal(reply.due_in_ms, -1);
    assert_int_equal(reply.grant_count, 0);
    fixture->store->ops->step_release(fixture->store, &reply);
    culex_queue_stats stats; /* a step begins none */
    assert_int_equal(fixture->store->ops->stats(fixture->store, "q", &stats, NULL),
                     CULEX_ENOTFOUND);
}

/* --- several threads ------------------------------------------------------------------- */

enum { THREADS = 4, RUNS_PER_THREAD = 100 };

struct thread {
    struct fixture *fixture;
    bool is_memory;
    unsigned claimed;
    bool has_failed;
};

static culex_status open_again(const struct thread *thread, struct culex_store **ret_store)
{
    struct culex_store_options options = {.timeout_ms = 20000, .synchronous = "off"};
    const char *rest = thread->is_memory ? thread->fixture->folder : thread->fixture->path;
    return culex__sqlite_open(rest, thread->is_memory, &options, &thread->fixture->env, ret_store,
                              NULL);
}

static void *thread_main(void *user)
{
    struct thread *thread = user;
    struct culex_store *store;
    if (open_again(thread, &store) != CULEX_OK) {
        thread->has_failed = true;
        return NULL;
    }
    for (int i = 0; i < RUNS_PER_THREAD && !thread->has_failed; i++) {
        struct culex_new_run run = fixture_run("x", 1);
        struct culex_enqueue_result result;
        struct culex_step request = {
            .queue = "q", .session = ONE, .nonce = 0, .want = 1, .lease_ms = 1000000};
        char session[17];
        snprintf(session, sizeof session, "%016llx", (unsigned long long)(uintptr_t)thread);
        request.session = session;
        request.nonce = (uint64_t)i;
        struct culex_step_reply reply;
        if (store->ops->enqueue(store, "q", NULL, &run, 1, &result, NULL) != CULEX_OK ||
            store->ops->step(store, &request, &reply, NULL) != CULEX_OK) {
            thread->has_failed = true;
            break;
        }
        thread->claimed += (unsigned)reply.grant_count;
        store->ops->step_release(store, &reply);
    }
    store->ops->close(store);
    return NULL;
}

static void test_threads__share_one_store(void **state)
{
    struct fixture *fixture = *state;
    struct thread threads[THREADS];
    pthread_t ids[THREADS];
    unsigned claimed = 0;
    for (int i = 0; i < THREADS; i++) {
        threads[i] =
            (struct thread){fixture, culex__sqlite_of(fixture->store)->is_memory, 0, false};
        assert_int_equal(pthread_create(&ids[i], NULL, thread_main, &threads[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
        assert_false(threads[i].has_failed);
        claimed += threads[i].claimed;
    }
    assert_int_equal(claimed, THREADS * RUNS_PER_THREAD);
    assert_int_equal(stats(fixture).count[CULEX_RUN_ACTIVE], THREADS * RUNS_PER_THREAD);
}

/* --- a SQLite that was built in another way ------------------------------------------------- */

/* Whatever is deleted stays in the file, as in a SQLite that was built without options. */
static int deleted_keep(sqlite3 *db, char **ret_text, const struct sqlite3_api_routines *api)
{
    (void)ret_text, (void)api;
    return sqlite3_exec(db, "PRAGMA secure_delete=OFF", NULL, NULL, NULL);
}

static int keeping_begin(void **state)
{
    (void)state;
    return sqlite3_auto_extension((void (*)(void))deleted_keep);
}

static int keeping_end(void **state)
{
    (void)state;
    sqlite3_reset_auto_extension();
    return 0;
}

/* Once all users have closed it, and so have written the log back. */
static bool file_holds(struct fixture *fixture, const char *text)
{
    enum { FILE_MAX = 1 << 20 };
    fixture->store->ops->close(fixture->store);
    FILE *file = fopen(fixture->path, "r");
    char *bytes = malloc(FILE_MAX);
    size_t len = fread(bytes, 1, FILE_MAX, file);
    bool is_there = memmem(bytes, len, text, strlen(text)) != NULL;
    free(bytes);
    fclose(file);
    fixture->store = fixture_open(fixture, 3040001);
    return is_there;
}

static void test_any_build__purged_payload_is_overwritten(void **state)
{
    struct fixture *fixture = *state;
    struct culex_purge_reply purged;
    put(fixture, "number of a card");
    assert_true(file_holds(fixture, "number of a card"));
    assert_int_equal(
        fixture->store->ops->purge(fixture->store, "q", CULEX_RUN_WAITING, 1, &purged, NULL),
        CULEX_OK);
    assert_int_equal(purged.deleted, 1);
    assert_false(file_holds(fixture, "number of a card"));
}

/* --- log lines ---------------------------------------------------------------------------- */

static int64_t wal_size(struct fixture *fixture)
{
    struct stat info;
    char path[128];
    snprintf(path, sizeof path, "%s-wal", fixture->path);
    assert_int_equal(stat(path, &info), 0);
    return info.st_size;
}

static void lines_tell(struct fixture *fixture, culex_uuid id, const char *text)
{
    struct culex_beat beat = {.id = id, .attempt = 1, .log = {text, strlen(text), 1000}};
    struct culex_step step = {.queue = "q",
                              .session = ONE,
                              .nonce = fixture_nonce(),
                              .lease_ms = 30000,
                              .beats = &beat,
                              .beat_count = 1};
    struct culex_step_reply reply;
    assert_int_equal(fixture->store->ops->step(fixture->store, &step, &reply, NULL), CULEX_OK);
    assert_int_equal(reply.beats[0], CULEX_ANSWER_OK);
    fixture->store->ops->step_release(fixture->store, &reply);
}

/* A beat of a run that has kept 250 KiB writes about as much as of one that has kept nothing. */
static void test_log__a_new_line_costs_no_more_behind_many(void **state)
{
    struct fixture *fixture = *state;
    if (culex__sqlite_of(fixture->store)->is_memory)
        return;
    struct culex_new_run run = fixture_own_run("x", 1);
    culex_uuid id = fixture_put(fixture->store, "q", &run);
    char *text = calloc(250, 1007 + 1);
    assert_non_null(text);
    for (size_t i = 0; i < 250; i++)
        snprintf(text + i * 1007, 1008, "1|1|3|%01000zu\n", i);
    struct culex_step_reply reply = fixture_step(fixture->store, "q", ONE, 1, NULL, 0);
    fixture->store->ops->step_release(fixture->store, &reply);
    lines_tell(fixture, id, text);
    int64_t before = wal_size(fixture);
    for (int i = 0; i < 10; i++)
        lines_tell(fixture, id, "1|1|3|one\n");
    assert_in_range(wal_size(fixture) - before, 10, 10 * 12 * 4096);
    free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, SETUP, teardown)
#define TESTS                                                                                      \
    TEST(test_enqueue__refuses_what_is_out_of_range),                                              \
        TEST(test_enqueue__unique_key_is_held_until_the_end),                                      \
        TEST(test_claim__order_is_priority_then_age),                                              \
        TEST(test_log__a_new_line_costs_no_more_behind_many),                                      \
        TEST(test_claim__released_run_goes_to_the_front),                                          \
        TEST(test_claim__scheduled_run_waits_for_its_time),                                        \
        TEST(test_claim__expired_run_dies_unstarted), TEST(test_claim__suspect_is_granted_alone),  \
        TEST(test_claim__byte_budget_holds_beyond_the_first),                                      \
        TEST(test_claim__paused_queue_gives_nothing),                                              \
        TEST(test_ack__done_removes_the_payload_and_keeps_the_result),                             \
        TEST(test_ack__failures_back_off_and_end_dead),                                            \
        TEST(test_fence__only_the_holder_is_heard),                                                \
        TEST(test_beat__extends_no_further_than_the_timeout),                                      \
        TEST(test_cancel__ends_what_waits_and_asks_what_runs),                                     \
        TEST(test_nonce__repeat_changes_nothing_and_answers_the_same),                             \
        TEST(test_nonce__repeat_of_an_empty_step_stays_empty),                                     \
        TEST(test_hello__new_session_gives_back_what_the_old_one_held),                            \
        TEST(test_tick__enqueues_only_behind_the_mark), TEST(test_list__pages_through_one_state),  \
        TEST(test_purge_and_forget__only_what_is_in_that_state_goes),                              \
        TEST(test_queues__are_listed_by_name), TEST(test_unknown_queue__is_empty),                 \
        TEST(test_threads__share_one_store)

int main(void)
{
#define SETUP setup_guarded
    const struct CMUnitTest guarded[] = {TESTS};
#undef SETUP
#define SETUP setup_plain
    const struct CMUnitTest plain[] = {TESTS};
#undef SETUP
#define SETUP setup_memory
    const struct CMUnitTest memory[] = {TESTS};
#undef SETUP
    const struct CMUnitTest waiting[] = {cmocka_unit_test_setup_teardown(
        test_tick__of_who_waited_for_the_lock_is_of_when_it_was_free, setup_guarded, teardown)};
    const struct CMUnitTest keeping[] = {cmocka_unit_test_setup_teardown(
        test_any_build__purged_payload_is_overwritten, setup_guarded, teardown)};
    int failed = cmocka_run_group_tests_name("file, guarded checkpoints", guarded, NULL, NULL);
    failed += cmocka_run_group_tests_name("file, SQLite's checkpoints", plain, NULL, NULL);
    failed += cmocka_run_group_tests_name("memory", memory, NULL, NULL);
    failed += cmocka_run_group_tests_name("file, somebody has its lock", waiting, NULL, NULL);
    failed += cmocka_run_group_tests_name("file, deleted pages kept", keeping, keeping_begin,
                                          keeping_end);
    return failed;
}
