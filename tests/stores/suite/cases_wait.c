/* suite/cases_wait.c - waiting for the ends of runs: who is told, and what is kept for him. */
#include "suite.h"

#include <poll.h>

#include "cases.h"

enum { NOTE_MS = 20000 };

/* Of one run, by the handle that the suite has, or by another one. */
static culex_run_state ask_at(struct suite *suite, struct culex_store *store, culex_uuid id,
                              int64_t note_ms)
{
    culex_run_state state;
    assert_ok(store->ops->wait(store, suite->queue, &id, 1, note_ms, &state, NULL));
    return state;
}

static culex_run_state ask(struct suite *suite, culex_uuid id, int64_t note_ms)
{
    return ask_at(suite, suite->store, id, note_ms);
}

/* The model has one handle alone. */
static struct culex_store *other_open(struct suite *suite)
{
    return strcmp(suite->kind, "model") == 0 ? suite->store : suite_open_again(suite);
}

static void other_close(struct suite *suite, struct culex_store *other)
{
    if (other != suite->store)
        other->ops->close(other);
}

/* -1 for the model, which wakes nobody. */
static int arm_at(struct suite *suite, struct culex_store *store)
{
    const char *queues[] = {suite->queue};
    int fd = -1;
    assert_ok(store->ops->wait_arm(store, queues, 1, 10000, &fd, NULL));
    return fd;
}

static int arm(struct suite *suite)
{
    return arm_at(suite, suite->store);
}

/* Whether an end is told within `ms`. */
static bool is_told_at(struct culex_store *store, int fd, int ms)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    bool is_woken = false;
    if (poll(&wait, 1, ms) > 0)
        assert_ok(store->ops->wake_take(store, &is_woken, NULL));
    return is_woken;
}

static void assert_told_at(struct suite *suite, struct culex_store *store, int fd)
{
    assert_true(strcmp(suite->kind, "model") == 0 || is_told_at(store, fd, 10000));
}

static void assert_told(struct suite *suite, int fd)
{
    assert_told_at(suite, suite->store, fd);
}

/* By the other handle, with a run that ends meanwhile: whatever was to be told has been by then. */
static void assert_silence(struct suite *suite, int fd)
{
    struct culex_store *other = other_open(suite);
    culex_uuid id = suite_put(suite);
    int other_fd = arm_at(suite, other);
    ask_at(suite, other, id, NOTE_MS);
    suite_cancel(suite, id);
    assert_told_at(suite, other, other_fd);
    assert_true(fd < 0 || !is_told_at(suite->store, fd, 0));
    other_close(suite, other);
}

void case_wait__tells_the_states(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    culex_uuid ids[6];
    culex_run_state states[6];
    run.delay_ms = SUITE_MINUTE_MS;
    ids[0] = suite_put_run(suite, &run);
    ids[1] = suite_put(suite);
    suite_end(suite, ANN, ids[1], suite_take(suite, ANN, ids[1]), CULEX_EVENT_DONE, 0);
    ids[2] = suite_put(suite);
    suite_end(suite, ANN, ids[2], suite_take(suite, ANN, ids[2]), CULEX_EVENT_DISCARD, 0);
    ids[3] = suite_put(suite);
    suite_take(suite, ANN, ids[3]);
    ids[4] = suite_put(suite);
    ids[5] = suite_id(suite);
    static const culex_run_state expected[] = {CULEX_RUN_SCHEDULED, CULEX_RUN_DONE,
                                               CULEX_RUN_DEAD,      CULEX_RUN_ACTIVE,
                                               CULEX_RUN_WAITING,   CULEX_RUN_STATE_COUNT};
    static const int64_t notes[] = {0, NOTE_MS, NOTE_MS};
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
        assert_ok(
            suite->store->ops->wait(suite->store, suite->queue, ids, 6, notes[i], states, NULL));
        assert_memory_equal(states, expected, sizeof states);
    }
}

void case_wait__in_a_queue_that_nobody_has_used(struct suite *suite)
{
    culex_queue_stats stats;
    assert_int_equal(ask(suite, suite_id(suite), NOTE_MS), CULEX_RUN_STATE_COUNT);
    assert_int_equal(suite->store->ops->stats(suite->store, suite->queue, &stats, NULL),
                     CULEX_ENOTFOUND);
}

/* How a run comes to its end, or goes without one. */
struct way {
    const char *name;
    void (*bring)(struct suite *suite, culex_uuid id);
    culex_run_state state;
};

static void bring_done(struct suite *suite, culex_uuid id)
{
    suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_DONE, 0);
}

static void bring_result(struct suite *suite, culex_uuid id)
{
    struct culex_ack ack = {.id = id, .event = CULEX_EVENT_DONE, .result = "{}", .result_len = 2};
    ack.attempt = suite_take(suite, ANN, id);
    assert_int_equal(suite_ack(suite, ANN, ack), CULEX_ANSWER_OK);
}

static void bring_second_attempt(struct suite *suite, culex_uuid id)
{
    suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_FAIL, 0);
    bring_done(suite, id);
}

static void bring_discard(struct suite *suite, culex_uuid id)
{
    suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_DISCARD, 0);
}

static void bring_cancel(struct suite *suite, culex_uuid id)
{
    suite_cancel(suite, id);
}

static void bring_cancel_at_work(struct suite *suite, culex_uuid id)
{
    uint32_t attempt = suite_take(suite, ANN, id);
    suite_cancel(suite, id);
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_FAIL, 0);
}

static void bring_expiry(struct suite *suite, culex_uuid id)
{
    (void)id;
    suite->now_ms += SUITE_MINUTE_MS / 6;
    assert_int_equal(suite_claim(suite, ANN, 1), 0);
}

static void bring_purge(struct suite *suite, culex_uuid id)
{
    (void)id;
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 9), 1);
}

static void bring_lost_lease(struct suite *suite, culex_uuid id)
{
    suite_take(suite, ANN, id);
    suite_cancel(suite, id);
    suite->now_ms += SUITE_LEASE_MS + 1;
    suite_claim(suite, BOB, 0);
}

static void bring_hello(struct suite *suite, culex_uuid id)
{
    suite_hello(suite, "host/1", ANN);
    suite_take(suite, ANN, id);
    suite_cancel(suite, id);
    suite_hello(suite, "host/1", BOB);
}

static const struct way ways[] = {
    {"done", bring_done, CULEX_RUN_DONE},
    {"done, with a result", bring_result, CULEX_RUN_DONE},
    {"done, at the second attempt", bring_second_attempt, CULEX_RUN_DONE},
    {"dead", bring_discard, CULEX_RUN_DEAD},
    {"cancelled", bring_cancel, CULEX_RUN_CANCELLED},
    {"cancelled at work", bring_cancel_at_work, CULEX_RUN_CANCELLED},
    {"expired", bring_expiry, CULEX_RUN_DEAD},
    {"purged", bring_purge, CULEX_RUN_STATE_COUNT},
    {"lost", bring_lost_lease, CULEX_RUN_CANCELLED},
    {"its worker came back", bring_hello, CULEX_RUN_CANCELLED},
};

/* What is ordinary (see the stores) and what is not: one with a unique key. */
static struct culex_new_run run_of(struct suite *suite, const struct way *way, bool is_ordinary)
{
    struct culex_new_run run = suite_run(suite);
    if (!is_ordinary) {
        run.unique_key = "abc";
        run.unique_while = CULEX_UNIQUE_LIVE;
    }
    if (way->bring == bring_expiry)
        run.expires_ms = 1000;
    run.keep_success_ms = run.keep_failure_ms = 0;
    return run;
}

static void assert_way_is_told(struct suite *suite, const struct way *way, bool is_ordinary)
{
    struct culex_new_run run = run_of(suite, way, is_ordinary);
    culex_uuid id = suite_put_run(suite, &run);
    struct culex_store *waiting = suite->store;
    int fd = arm(suite);
    assert_int_equal(ask(suite, id, NOTE_MS), CULEX_RUN_WAITING);
    struct culex_store *other = other_open(suite);
    suite->store = other;
    way->bring(suite, id);
    suite->store = waiting;
    other_close(suite, other);
    if (fd >= 0 && !is_told_at(waiting, fd, 10000))
        fail_msg("%s%s: nobody is told", is_ordinary ? "" : "not ordinary, ", way->name);
    if (ask(suite, id, NOTE_MS) != way->state)
        fail_msg("%s%s: another state", is_ordinary ? "" : "not ordinary, ", way->name);
    assert_silence(suite, arm(suite));
    waiting->ops->wake_disarm(waiting); /* the next one is in another queue */
}

void case_wait__each_way_to_end_is_told(struct suite *suite)
{
    for (size_t i = 0; i < 2 * sizeof ways / sizeof ways[0]; i++) {
        snprintf(suite->queue, sizeof suite->queue, "way%zu", i); /* where nobody was replaced */
        assert_way_is_told(suite, &ways[i / 2], i % 2 == 0);
    }
}

/* At the end of its time for keeping the record, however short that is by itself. */
static void assert_kept(struct suite *suite, const struct way *way, bool is_ordinary)
{
    struct culex_new_run run = run_of(suite, way, is_ordinary);
    culex_uuid id = suite_put_run(suite, &run);
    arm(suite);
    ask(suite, id, NOTE_MS);
    way->bring(suite, id);
    suite_pass(suite, CULEX_WAIT_KEEP_MS - 1);
    assert_state(suite, id, way->state);
    suite_pass(suite, 1);
    assert_null(suite_get(suite, id));
}

void case_wait__record_stays_for_who_waits(struct suite *suite)
{
    for (size_t i = 0; i < 2 * sizeof ways / sizeof ways[0]; i++) {
        snprintf(suite->queue, sizeof suite->queue, "way%zu", i);
        if (ways[i / 2].state != CULEX_RUN_STATE_COUNT)
            assert_kept(suite, &ways[i / 2], i % 2 == 0);
    }
}

void case_wait__longer_time_of_keeping_stays(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.keep_success_ms = 2 * CULEX_WAIT_KEEP_MS;
    culex_uuid id = suite_put_run(suite, &run);
    arm(suite);
    ask(suite, id, NOTE_MS);
    bring_done(suite, id);
    suite_pass(suite, 2 * CULEX_WAIT_KEEP_MS - 1);
    assert_state(suite, id, CULEX_RUN_DONE);
    suite_pass(suite, 1);
    assert_null(suite_get(suite, id));
}

void case_wait__result_of_a_run_that_is_kept_for_no_time(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.keep_success_ms = 0;
    culex_uuid id = suite_put_run(suite, &run);
    arm(suite);
    ask(suite, id, NOTE_MS);
    bring_result(suite, id);
    const culex_run_info *info = suite_get(suite, id);
    assert_non_null(info);
    assert_int_equal(info->result.len, 2);
}

/* Runs that end in one step, some of which are waited for. */
void case_wait__some_of_a_batch(struct suite *suite)
{
    enum { ALL = 9 };
    struct culex_new_run run = suite_run(suite);
    struct culex_ack acks[ALL];
    culex_uuid ids[ALL];
    run.keep_success_ms = 0;
    for (size_t i = 0; i < ALL; i++)
        ids[i] = suite_put_run(suite, &run);
    int fd = arm(suite);
    ask(suite, ids[3], NOTE_MS);
    assert_int_equal(suite_claim(suite, ANN, ALL), ALL);
    for (size_t i = 0; i < ALL; i++) {
        acks[i] = (struct culex_ack){
            .id = suite->reply.grants[i].facts.id, .attempt = 1, .event = CULEX_EVENT_DONE};
    }
    assert_int_equal(ask(suite, ids[5], NOTE_MS), CULEX_RUN_ACTIVE);
    struct culex_step step = suite_step_make(suite, ANN, 0);
    step.acks = acks;
    step.ack_count = ALL;
    suite_step(suite, &step);
    for (size_t i = 0; i < ALL; i++) {
        assert_int_equal(suite->reply.acks[i], CULEX_ANSWER_OK);
        assert_int_equal(suite_get(suite, ids[i]) != NULL, i == 3 || i == 5);
    }
    assert_told(suite, fd);
    assert_int_equal(suite_stats(suite).done, ALL);
}

void case_wait__claims_keep_their_order(struct suite *suite)
{
    enum { ALL = 6 };
    culex_uuid ids[ALL];
    for (size_t i = 0; i < ALL; i++) {
        ids[i] = suite_put(suite);
        suite->now_ms++;
    }
    arm(suite);
    ask(suite, ids[4], NOTE_MS);
    ask(suite, ids[1], NOTE_MS);
    assert_int_equal(suite_claim(suite, ANN, ALL), ALL);
    for (size_t i = 0; i < ALL; i++)
        assert_true(suite_same_id(suite->reply.grants[i].facts.id, ids[i]));
}

void case_wait__retry_to_come_is_no_end(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.keep_success_ms = 0;
    culex_uuid id = suite_put_run(suite, &run);
    int fd = arm(suite);
    ask(suite, id, NOTE_MS);
    suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_FAIL, 1000);
    assert_silence(suite, fd);
    assert_int_equal(ask(suite, id, 0), CULEX_RUN_SCHEDULED);
    suite_pass(suite, 1000);
    fd = arm(suite);
    bring_done(suite, id);
    assert_told(suite, fd);
    assert_state(suite, id, CULEX_RUN_DONE);
}

void case_wait__note_whose_time_is_over(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.keep_success_ms = 0;
    culex_uuid id = suite_put_run(suite, &run);
    int64_t before = suite_remembered(suite);
    arm(suite);
    ask(suite, id, NOTE_MS);
    if (before >= 0)
        assert_true(suite_remembered(suite) > before);
    uint32_t attempt = suite_take(suite, ANN, id);
    for (int i = 0; i < 4; i++) {
        suite->now_ms += NOTE_MS / 4;
        suite_beat(suite, ANN, id, attempt, SUITE_LEASE_MS);
    }
    suite_pass(suite, 1001); /* the upkeep of a second */
    suite_beat(suite, ANN, id, attempt, SUITE_LEASE_MS);
    if (before >= 0)
        assert_int_equal(suite_remembered(suite), before);
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0);
    assert_null(suite_get(suite, id));
}

/* It is gone with its end, for a beat in the same step too. */
void case_wait__note_that_is_over_keeps_nothing(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.keep_success_ms = 0;
    culex_uuid id = suite_put_run(suite, &run);
    arm(suite);
    ask(suite, id, 1000);
    struct culex_ack ack = {.id = id, .event = CULEX_EVENT_DONE};
    ack.attempt = suite_take(suite, ANN, id);
    suite->now_ms += 1000;
    struct culex_beat beat = {.id = id, .attempt = ack.attempt};
    struct culex_step step = suite_step_make(suite, ANN, 0);
    step.acks = &ack;
    step.beats = &beat;
    step.ack_count = step.beat_count = 1;
    suite_step(suite, &step);
    assert_int_equal(suite->reply.acks[0], CULEX_ANSWER_OK);
    assert_int_equal(suite->reply.beats[0], CULEX_ANSWER_GONE);
    assert_int_equal(suite_stats(suite).stale, 0);
}

void case_wait__step_is_wanted_when_a_note_is_over(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.delay_ms = SUITE_MINUTE_MS;
    culex_uuid id = suite_put_run(suite, &run);
    arm(suite);
    ask(suite, id, NOTE_MS);
    suite_claim(suite, ANN, 1);
    if (strcmp(suite->kind, "model") != 0)
        assert_true(suite->reply.due_in_ms <= NOTE_MS);
}

void case_wait__note_that_is_told_again_is_good_for_longer(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.keep_success_ms = 0;
    run.delay_ms = NOTE_MS;
    culex_uuid id = suite_put_run(suite, &run);
    arm(suite);
    ask(suite, id, NOTE_MS);
    suite->now_ms += NOTE_MS / 2;
    ask(suite, id, NOTE_MS);
    suite->now_ms += NOTE_MS / 2;
    suite_claim(suite, ANN, 0);
    bring_done(suite, id);
    assert_state(suite, id, CULEX_RUN_DONE);
}

void case_wait__nobody_is_told_of_what_he_has_only_looked_at(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.keep_success_ms = 0;
    culex_uuid id = suite_put_run(suite, &run);
    int fd = arm(suite);
    assert_int_equal(ask(suite, id, 0), CULEX_RUN_WAITING);
    bring_done(suite, id);
    assert_null(suite_get(suite, id));
    assert_silence(suite, fd);
}

void case_wait__two_who_wait_for_one(struct suite *suite)
{
    struct culex_store *other = other_open(suite);
    culex_uuid id = suite_put(suite);
    int fd = arm(suite), other_fd = arm_at(suite, other);
    ask(suite, id, NOTE_MS);
    ask_at(suite, other, id, NOTE_MS);
    bring_done(suite, id);
    assert_told(suite, fd);
    assert_told_at(suite, other, other_fd);
    other_close(suite, other);
}

void case_wait__many_of_one_handle(struct suite *suite)
{
    culex_uuid ids[CULEX_STORE_WAIT_MAX];
    culex_run_state states[CULEX_STORE_WAIT_MAX];
    for (size_t i = 0; i < CULEX_STORE_WAIT_MAX; i++)
        ids[i] = suite_put(suite);
    int fd = arm(suite);
    assert_ok(suite->store->ops->wait(suite->store, suite->queue, ids, CULEX_STORE_WAIT_MAX,
                                      NOTE_MS, states, NULL));
    suite_cancel(suite, ids[CULEX_STORE_WAIT_MAX - 1]);
    assert_told(suite, fd);
    assert_ok(suite->store->ops->wait(suite->store, suite->queue, ids, CULEX_STORE_WAIT_MAX,
                                      NOTE_MS, states, NULL));
    for (size_t i = 0; i < CULEX_STORE_WAIT_MAX; i++)
        assert_int_equal(states[i],
                         i + 1 < CULEX_STORE_WAIT_MAX ? CULEX_RUN_WAITING : CULEX_RUN_CANCELLED);
}

/* A listing under way shows what somebody begins to wait for. */
void case_wait__listing_that_goes_on_misses_nothing(struct suite *suite)
{
    enum { ALL = 3 };
    culex_uuid ids[ALL];
    struct culex_list_reply page;
    culex_list_cursor cursor = {0};
    int shown[ALL] = {0};
    for (size_t i = 0; i < ALL; i++)
        ids[i] = suite_put(suite);
    arm(suite);
    do {
        assert_ok(suite->store->ops->list(
            suite->store, suite->queue, CULEX_LIST_OF(CULEX_RUN_WAITING), cursor, 1, &page, NULL));
        for (size_t i = 0; i < ALL && page.count > 0; i++)
            shown[i] += suite_same_id(page.runs[0].id, ids[i]);
        cursor = page.cursor;
        suite->store->ops->list_release(suite->store, &page);
        ask(suite, ids[ALL - 1], NOTE_MS);
    } while (cursor.place != 0);
    for (size_t i = 0; i < ALL; i++)
        assert_true(shown[i] >= 1);
}

/* Whose answer is lost sends the step again, and gets what it was granted. */
void case_wait__repeated_step_grants_what_is_waited_for(struct suite *suite)
{
    enum { ALL = 4 };
    culex_uuid ids[ALL];
    for (size_t i = 0; i < ALL; i++)
        ids[i] = suite_put(suite);
    struct culex_step step = suite_step_make(suite, ANN, ALL);
    suite_step(suite, &step);
    assert_int_equal(suite->reply.grant_count, ALL);
    arm(suite);
    for (size_t i = 0; i < ALL; i++) {
        ask(suite, ids[(i * 3 + 2) % ALL], NOTE_MS);
        suite_step(suite, &step);
        assert_int_equal(suite->reply.grant_count, ALL);
    }
    for (size_t i = 0; i < ALL; i++)
        suite_end(suite, ANN, ids[i], 1, CULEX_EVENT_DONE, 0);
}

static void assert_twice(struct suite *suite, culex_uuid id, culex_run_state state)
{
    culex_uuid none = suite_id(suite), ids[] = {id, none, id, id, none};
    culex_run_state states[5];
    for (int64_t note_ms = NOTE_MS; note_ms >= 0; note_ms -= NOTE_MS) {
        assert_ok(
            suite->store->ops->wait(suite->store, suite->queue, ids, 5, note_ms, states, NULL));
        for (size_t i = 0; i < 5; i++)
            assert_int_equal(states[i], i % 3 == 1 ? CULEX_RUN_STATE_COUNT : state);
    }
}

/* One that waits, and one of several that are at work. */
void case_wait__one_run_twice_in_one_call(struct suite *suite)
{
    culex_uuid ids[3];
    for (size_t i = 0; i < 3; i++)
        ids[i] = suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, 2), 2);
    int fd = arm(suite);
    assert_twice(suite, ids[1], CULEX_RUN_ACTIVE);
    assert_twice(suite, ids[2], CULEX_RUN_WAITING);
    suite_cancel(suite, ids[2]);
    assert_told(suite, fd);
    suite_end(suite, ANN, ids[1], 1, CULEX_EVENT_DONE, 0);
    assert_twice(suite, ids[1], CULEX_RUN_DONE);
    assert_twice(suite, ids[2], CULEX_RUN_CANCELLED);
}

/* Of those who may wait for one run all have gone, and no step has come since. */
void case_wait__notes_that_are_over_take_no_place(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    for (int i = 0; i < CULEX_WAITERS_MAX; i++) {
        struct culex_store *other = other_open(suite);
        arm_at(suite, other);
        ask_at(suite, other, id, NOTE_MS);
        other_close(suite, other);
    }
    int fd = arm(suite);
    suite->now_ms += NOTE_MS;
    ask(suite, id, NOTE_MS);
    suite_cancel(suite, id);
    assert_told(suite, fd);
}

void case_wait__no_more_are_told_than_may_wait(struct suite *suite)
{
    enum { ALL = CULEX_WAITERS_MAX + 1 };
    struct culex_store *others[ALL];
    int fds[ALL];
    culex_uuid id = suite_put(suite);
    if (strcmp(suite->kind, "model") == 0)
        return;
    for (int i = 0; i < ALL; i++) {
        others[i] = other_open(suite);
        fds[i] = arm_at(suite, others[i]);
        ask_at(suite, others[i], id, NOTE_MS);
    }
    suite_cancel(suite, id);
    for (int i = 0; i < CULEX_WAITERS_MAX; i++)
        assert_told_at(suite, others[i], fds[i]);
    assert_false(is_told_at(others[CULEX_WAITERS_MAX], fds[CULEX_WAITERS_MAX], 0));
    for (int i = 0; i < ALL; i++)
        other_close(suite, others[i]);
}

void case_wait__what_is_out_of_form_is_refused(struct suite *suite)
{
    const struct culex_store_ops *ops = suite->store->ops;
    culex_uuid id = suite_put(suite);
    culex_run_state state;
    assert_int_equal(ops->wait(suite->store, suite->queue, &id, 0, 0, &state, NULL), CULEX_ELIMIT);
    assert_int_equal(
        ops->wait(suite->store, suite->queue, &id, CULEX_STORE_WAIT_MAX + 1, 0, &state, NULL),
        CULEX_ELIMIT);
    assert_int_equal(ops->wait(suite->store, suite->queue, &id, 1, -1, &state, NULL), CULEX_EINVAL);
    assert_int_equal(ops->wait(suite->store, suite->queue, &id, 1, CULEX_STORE_WAIT_NOTE_MAX_MS + 1,
                               &state, NULL),
                     CULEX_EINVAL);
    assert_int_equal(ops->wait(suite->store, "no queue", &id, 1, 0, &state, NULL), CULEX_EINVAL);
}
