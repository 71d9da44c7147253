/* suite/cases_claim.c - which runs a worker is granted, in which order, and who waits. */
#include "suite.h"

#include "cases.h"

void case_claim__higher_priority_first(struct suite *suite)
{
    static const int order[] = {0, 9, 4, 5, 1, 8, 3, 7, 2, 6};
    culex_uuid ids[10];
    for (int i = 0; i < 10; i++) {
        struct culex_new_run run = suite_run(suite);
        run.priority = order[i];
        ids[order[i]] = suite_put_run(suite, &run);
    }
    for (int priority = 9; priority >= 5; priority--)
        suite_take(suite, ANN, ids[priority]);
    assert_int_equal(suite_claim(suite, ANN, 10), 5);
    for (int i = 0; i < 5; i++)
        assert_true(suite_same_id(suite->reply.grants[i].facts.id, ids[4 - i]));
}

void case_claim__same_priority_in_order_of_readiness(struct suite *suite)
{
    struct culex_new_run late = suite_run(suite), soon = suite_run(suite);
    late.delay_ms = 2000;
    soon.delay_ms = 1000;
    culex_uuid late_id = suite_put_run(suite, &late);
    culex_uuid soon_id = suite_put_run(suite, &soon);
    culex_uuid first = suite_put(suite), second = suite_put(suite);
    suite_pass(suite, 1000);
    suite_pass(suite, 1000);
    suite->now_ms += 1;
    culex_uuid last = suite_put(suite);
    suite_take(suite, ANN, first);
    suite_take(suite, ANN, second);
    suite_take(suite, ANN, soon_id);
    suite_take(suite, ANN, late_id);
    suite_take(suite, ANN, last);
}

/* So many runs, one each `gap_ms`. */
static void put_apart(struct suite *suite, culex_uuid *ids, int count, int64_t gap_ms)
{
    for (int i = 0; i < count; i++) {
        suite->now_ms += gap_ms;
        ids[i] = suite_put(suite);
    }
}

static culex_uuid put_delayed(struct suite *suite, int64_t delay_ms)
{
    struct culex_new_run run = suite_run(suite);
    run.delay_ms = delay_ms;
    return suite_put_run(suite, &run);
}

static void take_all(struct suite *suite, const culex_uuid *ids, int count)
{
    for (int i = 0; i < count; i++)
        suite_take(suite, BOB, ids[i]);
}

/* Nobody looks at the queue when its time comes, and others are enqueued before somebody does. */
void case_claim__due_run_keeps_its_place_without_a_worker(struct suite *suite)
{
    culex_uuid early[3], late[40];
    culex_uuid due = put_delayed(suite, 35);
    put_apart(suite, early, 3, 10);
    put_apart(suite, late, 40, 10);
    take_all(suite, early, 3);
    suite_take(suite, ANN, due);
    take_all(suite, late, 40);
}

void case_claim__due_run_keeps_its_place_in_a_pause(struct suite *suite)
{
    culex_uuid early[3], late[40];
    culex_uuid due = put_delayed(suite, 35);
    assert_ok(suite->store->ops->pause(suite->store, suite->queue, true, NULL));
    put_apart(suite, early, 3, 10);
    put_apart(suite, late, 40, 10);
    assert_int_equal(suite_claim(suite, ANN, 1), 0);
    assert_ok(suite->store->ops->pause(suite->store, suite->queue, false, NULL));
    take_all(suite, early, 3);
    suite_take(suite, ANN, due);
    take_all(suite, late, 40);
}

void case_claim__failed_run_keeps_its_place_when_due(struct suite *suite)
{
    culex_uuid early[3], late[40];
    culex_uuid failed = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, failed);
    suite_end(suite, ANN, failed, attempt, CULEX_EVENT_FAIL, 35);
    put_apart(suite, early, 3, 10);
    put_apart(suite, late, 40, 10);
    take_all(suite, early, 3);
    suite_take(suite, ANN, failed);
    take_all(suite, late, 40);
}

/* The first of the row is due before all that waits, the last one behind it. */
void case_claim__due_runs_stand_where_they_came_due(struct suite *suite)
{
    enum { RUNS = 20 };
    culex_uuid plain[RUNS], due[RUNS];
    for (int i = 0; i < RUNS; i++)
        due[i] = put_delayed(suite, 5 + 10 * i);
    put_apart(suite, plain, RUNS, 10);
    suite->now_ms += 10;
    for (int i = 0; i < RUNS; i++) {
        suite_take(suite, ANN, due[i]);
        suite_take(suite, BOB, plain[i]);
    }
}

/* As above, among runs that are not ordinary; every third one of the row is. */
void case_claim__due_runs_stand_among_all_kinds(struct suite *suite)
{
    enum { RUNS = 60 };
    culex_uuid ids[RUNS], due[RUNS];
    for (int i = 0; i < RUNS; i++)
        due[i] = put_delayed(suite, 5 + 10 * i);
    for (int i = 0; i < RUNS; i++) {
        struct culex_new_run run = suite_run(suite);
        run.expires_ms = i % 3 == 0 ? 0 : 600000;
        suite->now_ms += 10;
        ids[i] = suite_put_run(suite, &run);
    }
    suite->now_ms += 10;
    for (int i = 0; i < RUNS; i++) {
        suite_take(suite, ANN, due[i]);
        suite_take(suite, BOB, ids[i]);
    }
}

/* The same in claims of several, and of each once more. */
void case_claim__due_runs_are_granted_in_their_order(struct suite *suite)
{
    enum { RUNS = 60, WANT = 11 };
    culex_uuid ids[2 * RUNS];
    for (int i = 0; i < RUNS; i++)
        ids[2 * i] = put_delayed(suite, 5 + 10 * i);
    for (int i = 0; i < RUNS; i++) {
        struct culex_new_run run = suite_run(suite);
        run.expires_ms = i / 7 % 2 == 0 ? 0 : 600000;
        suite->now_ms += 10;
        ids[2 * i + 1] = suite_put_run(suite, &run);
    }
    for (size_t at = 0; at < 2 * RUNS;) {
        struct culex_step step = suite_step_make(suite, BOB, WANT);
        size_t count = 0;
        for (int times = 0; times < 2; times++) {
            count = suite_step(suite, &step);
            assert_int_equal(count, 2 * RUNS - at < WANT ? 2 * RUNS - at : WANT);
            for (size_t i = 0; i < count; i++)
                assert_true(suite_same_id(suite->reply.grants[i].facts.id, ids[at + i]));
        }
        at += count;
    }
}

/* What came back goes before what came due meanwhile, and what was retried behind it. */
void case_claim__due_run_stands_between_front_and_back(struct suite *suite)
{
    culex_uuid returned = suite_put(suite), dead = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, returned);
    uint32_t last = suite_take(suite, BOB, dead);
    culex_uuid due = put_delayed(suite, 5);
    suite_end(suite, BOB, dead, last, CULEX_EVENT_DISCARD, 0);
    suite->now_ms += 10;
    suite_end(suite, ANN, returned, attempt, CULEX_EVENT_RELEASE, 0);
    assert_ok(suite->store->ops->retry(suite->store, suite->queue, dead, NULL));
    suite->now_ms += 10;
    culex_uuid late = suite_put(suite);
    suite_take(suite, ANN, returned);
    suite_take(suite, ANN, due);
    suite_take(suite, ANN, dead);
    suite_take(suite, ANN, late);
}

/* One that came due and was cancelled is passed, and no other with it. */
void case_claim__due_run_may_be_cancelled(struct suite *suite)
{
    culex_uuid due = put_delayed(suite, 5), next = put_delayed(suite, 15);
    suite->now_ms += 10;
    culex_uuid plain = suite_put(suite);
    suite->now_ms += 10;
    assert_int_equal(suite_claim(suite, ANN, 0), 0);
    suite_cancel(suite, due);
    suite_take(suite, ANN, plain);
    suite_take(suite, ANN, next);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], 0);
    assert_int_equal(suite_claim(suite, ANN, 3), 0);
}

/* More are due than one step makes ready: who came behind the last of them waits for it. */
void case_claim__many_due_runs_stand_where_they_came_due(struct suite *suite)
{
    enum { RUNS = 200, WANT = 90 };
    culex_uuid ids[RUNS];
    size_t at = 0;
    for (int i = 0; i < RUNS; i++) {
        if (i % 100 != 50)
            ids[i] = put_delayed(suite, 5 + 10 * i);
    }
    for (int i = 0; i < RUNS; i++) {
        suite->now_ms += 5;
        if (i % 100 == 50)
            ids[i] = suite_put(suite);
        suite->now_ms += 5;
    }
    for (int steps = 0; at < RUNS && steps < 50; steps++) {
        struct culex_step step = suite_step_make(suite, BOB, WANT);
        size_t count = suite_step(suite, &step);
        for (size_t i = 0; i < count; i++)
            assert_true(suite_same_id(suite->reply.grants[i].facts.id, ids[at + i]));
        at += count;
    }
    assert_int_equal(at, RUNS);
}

/* Whatever a run has that others have not, it waits in the same row with them. */
void case_claim__ordinary_and_other_runs_in_their_order(struct suite *suite)
{
    enum { RUNS = 40 };
    culex_uuid ids[RUNS];
    for (int i = 0; i < RUNS; i++) {
        struct culex_new_run run = suite_run(suite);
        run.expires_ms = i % 5 == 1 || i % 7 == 3 ? 600000 : 0;
        ids[i] = suite_put_run(suite, &run);
    }
    uint32_t attempt = suite_take(suite, ANN, ids[0]);
    suite_end(suite, ANN, ids[0], attempt, CULEX_EVENT_RELEASE, 0);
    suite_cancel(suite, ids[4]);
    suite_cancel(suite, ids[6]);
    memmove(&ids[6], &ids[7], (RUNS - 7) * sizeof ids[0]);
    memmove(&ids[4], &ids[5], (RUNS - 6) * sizeof ids[0]);
    for (size_t at = 0, count; at < RUNS - 2; at += count) {
        struct culex_step step = suite_step_make(suite, BOB, 7);
        for (int times = 0; times < 2; times++) { /* the same once more */
            count = suite_step(suite, &step);
            assert_int_equal(count, RUNS - 2 - at < 7 ? RUNS - 2 - at : 7);
            for (size_t i = 0; i < count; i++)
                assert_true(suite_same_id(suite->reply.grants[i].facts.id, ids[at + i]));
        }
    }
    assert_int_equal(suite_claim(suite, BOB, 7), 0);
}

void case_claim__released_run_goes_to_the_front(struct suite *suite)
{
    culex_uuid first = suite_put(suite), second = suite_put(suite);
    uint32_t attempt = suite_take(suite, ANN, first);
    suite->now_ms += 10;
    suite_end(suite, ANN, first, attempt, CULEX_EVENT_RELEASE, 0);
    suite_take(suite, BOB, first);
    suite_take(suite, BOB, second);
}

void case_claim__lost_runs_go_to_the_front_in_order(struct suite *suite)
{
    culex_uuid first = suite_put(suite), second = suite_put(suite), third = suite_put(suite);
    suite_take(suite, ANN, first);
    suite->now_ms += 10;
    suite_take(suite, ANN, second);
    suite_pass(suite, SUITE_LEASE_MS);
    suite_take(suite, BOB, first);
    suite_take(suite, BOB, second);
    suite_take(suite, BOB, third);
}

/* Whatever they are, the one whose lease ended first comes first; also when somebody says HELLO. */
void case_claim__lost_runs_of_all_kinds_in_order(struct suite *suite)
{
    enum { RUNS = 6 };
    for (int is_replaced = 0; is_replaced < 2; is_replaced++) {
        culex_uuid ids[RUNS];
        suite_hello(suite, "host/1", is_replaced ? BOB : ANN);
        for (int i = 0; i < RUNS; i++) {
            struct culex_new_run run = suite_run(suite);
            run.expires_ms = i % 3 == 1 ? 600000 : 0;
            ids[i] = suite_put_run(suite, &run);
            suite_take(suite, is_replaced ? BOB : ANN, ids[i]);
            suite->now_ms += 10;
        }
        if (is_replaced)
            assert_int_equal(suite_hello(suite, "host/1", EVE), RUNS);
        else
            suite_pass(suite, SUITE_LEASE_MS);
        for (int i = 0; i < RUNS; i++) {
            suite_take(suite, EVE, ids[i]);
            suite_end(suite, EVE, ids[i], 2, CULEX_EVENT_DONE, 0);
        }
    }
}

void case_claim__at_most_what_is_wanted(struct suite *suite)
{
    for (int i = 0; i < 40; i++)
        suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, 0), 0);
    assert_int_equal(suite_claim(suite, ANN, 7), 7);
    assert_int_equal(suite_claim(suite, ANN, 32), 32);
    assert_int_equal(suite_claim(suite, ANN, 32), 1);
    assert_int_equal(suite_claim(suite, ANN, 32), 0);
}

void case_claim__bytes_are_bounded_beyond_the_first(struct suite *suite)
{
    static const char payload[1000];
    for (int i = 0; i < 6; i++) {
        struct culex_new_run run = suite_run(suite);
        run.payload = payload;
        run.payload_len = sizeof payload;
        suite_put_run(suite, &run);
    }
    struct culex_step step = suite_step_make(suite, ANN, 6);
    step.max_bytes = 1;
    assert_int_equal(suite_step(suite, &step), 1);
    step = suite_step_make(suite, ANN, 6);
    step.max_bytes = 2500;
    assert_int_equal(suite_step(suite, &step), 3);
}

void case_claim__bytes_of_short_payloads_count_too(struct suite *suite)
{
    static const char payload[100];
    struct culex_new_run run = suite_run(suite);
    run.payload = payload, run.payload_len = sizeof payload;
    for (int i = 0; i < 10; i++)
        suite_put_run(suite, &run);
    struct culex_step step = suite_step_make(suite, ANN, 10);
    step.max_bytes = 299;
    assert_int_equal(suite_step(suite, &step), 3);
    step = suite_step_make(suite, ANN, 10);
    step.max_bytes = 300;
    assert_int_equal(suite_step(suite, &step), 4);
}

void case_claim__paused_queue_gives_nothing_out(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    assert_ok(suite->store->ops->pause(suite->store, suite->queue, true, NULL));
    assert_int_equal(suite_claim(suite, ANN, 1), 0);
    assert_true(suite->reply.is_paused);
    assert_false(suite->reply.is_empty);
    assert_ok(suite->store->ops->pause(suite->store, suite->queue, false, NULL));
    suite_take(suite, ANN, id);
    assert_false(suite->reply.is_paused);
}

void case_claim__grant_carries_the_run(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.job = "shop.sweep";
    run.timeout_ms = 30000;
    run.payload = "{\"a\":1}";
    run.payload_len = 7;
    culex_uuid id = suite_put_run(suite, &run);
    int64_t created_at_ms = suite->now_ms;
    uint32_t attempt = suite_take(suite, ANN, id);
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_CRASH, 0);
    suite->now_ms += 5;
    attempt = suite_take(suite, ANN, id);
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_FAIL, 0);
    suite_take(suite, ANN, id);
    const struct culex_grant *grant = &suite->reply.grants[0];
    assert_int_equal(grant->facts.attempt, 3);
    assert_int_equal(grant->facts.counters.failures, 1);
    assert_int_equal(grant->facts.counters.crashes, 1);
    assert_int_equal(grant->facts.counters.crash_streak, 0);
    assert_int_equal(grant->facts.counters.losses, 0);
    assert_int_equal(grant->facts.counters.attempts_max, 5);
    assert_string_equal(grant->job, "shop.sweep");
    assert_int_equal(grant->facts.created_at_ms, created_at_ms);
    assert_int_equal(grant->facts.timeout_ms, 30000);
    assert_true(grant->facts.fingerprint == run.fingerprint);
    assert_int_equal(grant->payload_len, 7);
    assert_memory_equal(grant->payload, "{\"a\":1}", 7);
}

void case_claim__a_run_has_one_holder(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    suite_take(suite, ANN, id);
    assert_int_equal(suite_claim(suite, BOB, 9), 0);
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
    suite->now_ms += SUITE_LEASE_MS - 1;
    assert_int_equal(suite_claim(suite, BOB, 9), 0);
    suite->now_ms += 1;
    assert_int_equal(suite_take(suite, BOB, id), 2);
}

void case_claim__expired_run_dies_unstarted(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite), delayed = suite_run(suite);
    run.expires_ms = delayed.expires_ms = 1000;
    delayed.delay_ms = 5000;
    culex_uuid id = suite_put_run(suite, &run);
    culex_uuid delayed_id = suite_put_run(suite, &delayed);
    assert_int_equal(suite_get(suite, id)->expires_at_ms, suite->now_ms + 1000);
    assert_int_equal(suite_get(suite, delayed_id)->expires_at_ms, suite->now_ms + 6000);
    suite->now_ms += 1001;
    assert_int_equal(suite_claim(suite, ANN, 1), 0);
    assert_int_equal(suite->reply.expired_count, 1);
    assert_int_equal(suite_claim(suite, ANN, 1), 0);
    assert_int_equal(suite->reply.expired_count, 0);
    const culex_run_info *info = suite_get(suite, id);
    assert_int_equal(info->state, CULEX_RUN_DEAD);
    assert_int_equal(info->attempt, 0);
    assert_int_equal(info->failures, 0);
    assert_string_equal(info->error_text, "expired");
    assert_int_equal(info->at_ms, suite->now_ms + run.keep_failure_ms);
    assert_int_equal(suite_stats(suite).dead, 1);
    suite->now_ms += 3999 + 500;
    suite_take(suite, ANN, delayed_id);
}

enum { EXPIRES_MS = 3 * SUITE_LEASE_MS };

static culex_uuid put_mortal(struct suite *suite, int priority)
{
    struct culex_new_run run = suite_run(suite);
    run.expires_ms = EXPIRES_MS;
    run.priority = priority;
    return suite_put_run(suite, &run);
}

/* Grants `id` ahead: to a worker that starts another one. */
static void grant_ahead(struct suite *suite, culex_uuid id)
{
    struct culex_new_run first = suite_run(suite);
    first.priority = 9;
    culex_uuid first_id = suite_put_run(suite, &first);
    assert_int_equal(suite_claim_for(suite, EVE, 2, 1, false), 2);
    assert_true(suite_same_id(suite->reply.grants[1].facts.id, id));
    suite_end(suite, EVE, first_id, 1, CULEX_EVENT_DONE, 0);
}

static void assert_expires(struct suite *suite, culex_uuid id, uint32_t attempt)
{
    const culex_run_info *info = suite_get(suite, id);
    assert_int_equal(info->attempt, attempt);
    suite->now_ms = info->expires_at_ms - 1;
    assert_int_equal(suite_claim_for(suite, ANN, 1, 1, false), 1);
    suite_end(suite, ANN, id, attempt + 1, CULEX_EVENT_RELEASE, 0);
    suite->now_ms++;
    assert_int_equal(suite_claim(suite, ANN, 1), 0);
    assert_int_equal(suite->reply.expired_count, 1);
    info = suite_get(suite, id);
    assert_int_equal(info->state, CULEX_RUN_DEAD);
    assert_int_equal(info->attempt, attempt + 1);
    assert_string_equal(info->error_text, "expired");
    assert_int_equal(info->expires_at_ms, suite->now_ms);
}

/* However often it was granted: its date says when somebody must have begun it. */
void case_claim__run_given_back_unstarted_expires(struct suite *suite)
{
    for (int priority = 0; priority < 2; priority++) {
        culex_uuid id = put_mortal(suite, priority);
        grant_ahead(suite, id);
        suite_end(suite, EVE, id, 1, CULEX_EVENT_RELEASE, 0);
        grant_ahead(suite, id);
        suite_end(suite, EVE, id, 2, CULEX_EVENT_RELEASE, 1000);
        suite->now_ms += 1000;
        assert_expires(suite, id, 2);
    }
}

void case_claim__run_lost_unstarted_expires(struct suite *suite)
{
    culex_uuid id = put_mortal(suite, 0);
    grant_ahead(suite, id);
    suite_pass(suite, SUITE_LEASE_MS);
    assert_expires(suite, id, 1);
    suite_hello(suite, "eve", EVE);
    culex_uuid left = put_mortal(suite, 0);
    grant_ahead(suite, left);
    assert_int_equal(suite_hello(suite, "eve", BOB), 1);
    assert_expires(suite, left, 1);
}

static void assert_stays(struct suite *suite, culex_uuid id)
{
    assert_int_equal(suite_get(suite, id)->expires_at_ms, 0);
    suite->now_ms += EXPIRES_MS;
    uint32_t attempt = suite_take(suite, ANN, id);
    assert_int_equal(attempt, 2);
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0);
}

void case_claim__started_run_does_not_expire(struct suite *suite)
{
    static const enum culex_run_event ends[] = {CULEX_EVENT_FAIL, CULEX_EVENT_CRASH,
                                                CULEX_EVENT_LOSS, CULEX_EVENT_RELEASE};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        culex_uuid id = put_mortal(suite, 0);
        grant_ahead(suite, id); /* begun and ended before a beat could say so */
        struct culex_ack ack = {.id = id,
                                .attempt = 1,
                                .event = ends[i],
                                .delay_ms = 1000,
                                .has_begun = ends[i] == CULEX_EVENT_RELEASE,
                                .text = "again"};
        assert_int_equal(suite_ack(suite, EVE, ack), CULEX_ANSWER_OK);
        assert_stays(suite, id);
    }
}

void case_claim__started_run_that_was_lost_does_not_expire(struct suite *suite)
{
    culex_uuid id = put_mortal(suite, 0);
    suite_take(suite, EVE, id);
    suite_pass(suite, SUITE_LEASE_MS);
    assert_stays(suite, id);
    culex_uuid told = put_mortal(suite, 0);
    grant_ahead(suite, told);
    struct culex_beat beat = {.id = told, .attempt = 1, .is_started = true};
    assert_int_equal(suite_tell(suite, EVE, beat), CULEX_ANSWER_OK);
    suite_pass(suite, SUITE_LEASE_MS);
    assert_stays(suite, told);
}

/* Loses the lease of `id` `times` times. */
static void lose(struct suite *suite, culex_uuid id, int times)
{
    for (int i = 0; i < times; i++) {
        suite_take(suite, EVE, id);
        suite_pass(suite, SUITE_LEASE_MS);
    }
}

void case_claim__suspect_is_granted_alone(struct suite *suite)
{
    culex_uuid suspect = suite_put(suite);
    lose(suite, suspect, 1);
    culex_uuid innocent = suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, 9), 2); /* one loss is no suspicion */
    suite_end(suite, ANN, innocent, 1, CULEX_EVENT_DONE, 0);
    suite_pass(suite, SUITE_LEASE_MS);
    assert_int_equal(suite_get(suite, suspect)->losses, 2);
    struct culex_new_run first = suite_run(suite);
    first.priority = 9;
    culex_uuid first_id = suite_put_run(suite, &first);
    suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, 9), 1); /* the suspect does not join it */
    assert_true(suite_same_id(suite->reply.grants[0].facts.id, first_id));
    assert_int_equal(suite_claim(suite, ANN, 9), 1); /* and nobody joins the suspect */
    assert_true(suite_same_id(suite->reply.grants[0].facts.id, suspect));
    assert_int_equal(suite_claim(suite, ANN, 9), 1);
}

/* The three ways to charge a loss to what `session` of "host/1" holds. */
static void lose_by_lease_end(struct suite *suite, const char *session, struct culex_ack loss)
{
    (void)session, (void)loss;
    suite_pass(suite, SUITE_LEASE_MS);
}

static void lose_by_hello(struct suite *suite, const char *session, struct culex_ack loss)
{
    (void)session, (void)loss;
    assert_int_equal(suite_hello(suite, "host/1", BOB), 1);
}

static void lose_by_ack(struct suite *suite, const char *session, struct culex_ack loss)
{
    assert_int_equal(suite_ack(suite, session, loss), CULEX_ANSWER_OK);
}

typedef void lose_fn(struct suite *suite, const char *session, struct culex_ack loss);

/* `session` loses the run; returns another one that was enqueued just before. */
static culex_uuid lose_behind(struct suite *suite, const char *session, culex_uuid id,
                              lose_fn *lose_it)
{
    struct culex_ack loss = {.id = id, .event = CULEX_EVENT_LOSS};
    suite_hello(suite, "host/1", session);
    loss.attempt = suite_take(suite, session, id);
    culex_uuid other = suite_put(suite);
    suite->now_ms += 10;
    lose_it(suite, session, loss);
    return other;
}

/* One loss leads to the front, any other to the back; a suspect that is given back uncharged goes
 * to the front. */
static void suspect_goes_to_the_back(struct suite *suite, lose_fn *lose_it)
{
    culex_uuid id = suite_put(suite), others[3];
    others[0] = lose_behind(suite, "0000000000000001", id, lose_it);
    others[1] = lose_behind(suite, "0000000000000002", id, lose_it);
    for (int i = 0; i < 2; i++) {
        uint32_t attempt = suite_take(suite, EVE, others[i]);
        suite_end(suite, EVE, others[i], attempt, CULEX_EVENT_DONE, 0);
    }
    others[2] = lose_behind(suite, "0000000000000003", id, lose_it);
    assert_int_equal(suite_get(suite, id)->losses, 3);
    suite->now_ms += 10;
    culex_uuid last = suite_put(suite);
    suite_take(suite, EVE, others[2]);
    uint32_t attempt = suite_take(suite, EVE, id);
    suite_end(suite, EVE, id, attempt, CULEX_EVENT_RELEASE, 0);
    suite_take(suite, EVE, id);
    suite_take(suite, EVE, last);
}

void case_claim__suspect_that_is_lost_goes_to_the_back(struct suite *suite)
{
    suspect_goes_to_the_back(suite, lose_by_lease_end);
}

void case_hello__suspect_goes_to_the_back(struct suite *suite)
{
    suspect_goes_to_the_back(suite, lose_by_hello);
}

void case_settle__suspect_goes_to_the_back(struct suite *suite)
{
    suspect_goes_to_the_back(suite, lose_by_ack);
}

/* Of those that the same moment made suspects, any is the first. */
static bool is_among(const culex_uuid *ids, size_t count, culex_uuid id)
{
    for (size_t i = 0; i < count; i++) {
        if (suite_same_id(ids[i], id))
            return true;
    }
    return false;
}

/* In the order of readiness as everybody: none waits behind those that came later for being
 * suspect, and nobody waits for ever behind them. */
void case_claim__suspects_keep_their_turn(struct suite *suite)
{
    culex_uuid suspects[3], others[3];
    for (int i = 0; i < 3; i++)
        suspects[i] = suite_put(suite);
    for (int n = 0; n < 2; n++) {
        assert_int_equal(suite_claim(suite, EVE, 9), 3);
        suite_pass(suite, SUITE_LEASE_MS);
    }
    for (int i = 0; i < 3; i++)
        others[i] = suite_put(suite);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(suite_claim(suite, ANN, 9), 1);
        assert_true(is_among(suspects, 3, suite->reply.grants[0].facts.id));
    }
    assert_int_equal(suite_claim(suite, ANN, 9), 3);
    for (int i = 0; i < 3; i++)
        assert_true(suite_same_id(suite->reply.grants[i].facts.id, others[i]));
}

/* A worker that vanishes whenever it holds `poison`, and else succeeds with all it took. */
static void claim_and_vanish(struct suite *suite, culex_uuid poison)
{
    struct culex_ack acks[16];
    size_t count = suite_claim(suite, ANN, 16);
    for (size_t i = 0; i < count; i++) {
        const struct culex_grant *grant = &suite->reply.grants[i];
        if (suite_same_id(grant->facts.id, poison)) {
            suite_pass(suite, SUITE_LEASE_MS);
            return;
        }
        acks[i] = (struct culex_ack){
            .id = grant->facts.id, .attempt = grant->facts.attempt, .event = CULEX_EVENT_DONE};
    }
    for (size_t i = 0; i < count; i++)
        assert_int_equal(suite_ack(suite, ANN, acks[i]), CULEX_ANSWER_OK);
}

void case_claim__one_poison_among_many_kills_itself_alone(struct suite *suite)
{
    culex_uuid ids[15];
    for (int i = 0; i < 15; i++) {
        struct culex_new_run run = suite_run(suite);
        run.keep_success_ms = 60 * SUITE_MINUTE_MS;
        ids[i] = suite_put_run(suite, &run);
    }
    culex_uuid poison = ids[7];
    for (int n = 0; n < 60; n++)
        claim_and_vanish(suite, poison);
    for (int i = 0; i < 15; i++) {
        assert_state(suite, ids[i], i == 7 ? CULEX_RUN_DEAD : CULEX_RUN_DONE);
        assert_int_equal(suite->info->losses, i == 7 ? 10 : 2); /* blamed no more once alone */
    }
}

/* In company none is granted, and the reply tells that one was met. The others do not wait. */
void case_claim__suspect_keeps_its_place_in_company(struct suite *suite)
{
    culex_uuid suspects[2] = {suite_put(suite), suite_put(suite)};
    for (int n = 0; n < 2; n++) {
        assert_int_equal(suite_claim(suite, EVE, 9), 2);
        suite_pass(suite, SUITE_LEASE_MS);
    }
    culex_uuid others[2] = {suite_put(suite), suite_put(suite)};
    assert_int_equal(suite_claim_for(suite, ANN, 9, 2, false), 1);
    assert_true(is_among(suspects, 2, suite->reply.grants[0].facts.id));
    bool is_first = suite_same_id(suite->reply.grants[0].facts.id, suspects[0]);
    assert_false(suite->reply.has_passed);
    assert_int_equal(suite_claim_for(suite, ANN, 1, 1, true), 1);
    assert_true(suite_same_id(suite->reply.grants[0].facts.id, others[0]));
    assert_true(suite->reply.has_passed);
    assert_int_equal(suite_claim_for(suite, ANN, 9, 0, true), 1);
    assert_true(suite_same_id(suite->reply.grants[0].facts.id, others[1]));
    assert_true(suite->reply.has_passed);
    assert_int_equal(suite_claim_for(suite, ANN, 9, 1, true), 0);
    assert_false(suite->reply.is_held);
    assert_true(suite->reply.has_passed);
    assert_int_equal(suite_claim_for(suite, ANN, 0, 0, true), 0); /* asked for nothing */
    assert_false(suite->reply.has_passed);
    assert_int_equal(suite_claim_for(suite, ANN, 9, 0, false), 0); /* nor ahead of its start */
    assert_true(suite->reply.is_held);
    assert_int_equal(suite_claim_for(suite, ANN, 9, 1, false), 1);
    assert_true(suite_same_id(suite->reply.grants[0].facts.id, suspects[is_first]));
}

/* As what had not started: it goes free, and is in doubt. */
void case_beat__excused_run_is_not_charged(struct suite *suite)
{
    culex_uuid suspect = suite_put(suite);
    lose(suite, suspect, 2);
    uint32_t attempt = suite_take(suite, ANN, suspect);
    struct culex_beat beat = {.id = suspect, .attempt = attempt, .is_excused = true};
    assert_int_equal(suite_tell(suite, ANN, beat), CULEX_ANSWER_OK);
    suite_pass(suite, SUITE_LEASE_MS);
    assert_state(suite, suspect, CULEX_RUN_WAITING);
    assert_int_equal(suite->info->losses, 2);
    assert_int_equal(suite_claim_for(suite, ANN, 1, 0, false), 0);
    assert_true(suite->reply.is_held);
    assert_int_equal(suite_take(suite, ANN, suspect), attempt + 1);
    suite_pass(suite, SUITE_LEASE_MS);
    assert_int_equal(suite_get(suite, suspect)->losses, 3);
}

/* More than one look at the queue finds, with others between and behind them. */
void case_claim__many_suspects_are_passed_by(struct suite *suite)
{
    enum { MANY = 40 };
    culex_uuid suspects[MANY], others[MANY];
    for (int i = 0; i < MANY; i++)
        suspects[i] = suite_put(suite);
    for (int n = 0; n < 2; n++) {
        assert_int_equal(suite_claim(suite, EVE, MANY), n == 0 ? MANY : MANY);
        suite_pass(suite, SUITE_LEASE_MS);
        suite_pass(suite, 0); /* the second share of the reaping */
    }
    for (int i = 0; i < MANY; i++)
        others[i] = suite_put(suite);
    assert_int_equal(suite_claim_for(suite, ANN, 33, 33, true), 33);
    for (int i = 0; i < 33; i++)
        assert_true(suite_same_id(suite->reply.grants[i].facts.id, others[i]));
    assert_int_equal(suite_claim_for(suite, ANN, 33, 33, true), 7);
    assert_int_equal(suite_claim_for(suite, ANN, 33, 33, true), 0);
    int seen = 0;
    while (suite_claim(suite, ANN, 9) > 0) {
        assert_true(is_among(suspects, MANY, suite->reply.grants[0].facts.id));
        seen++;
    }
    assert_int_equal(seen, MANY);
}

/* It dies where it is met, and no worker has to be without company for that. */
void case_claim__expired_suspect_is_not_passed_by(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.retry_for_ms = 2 * SUITE_LEASE_MS;
    culex_uuid suspect = suite_put_run(suite, &run);
    lose(suite, suspect, 2);
    assert_int_equal(suite_claim_for(suite, ANN, 9, 9, true), 0);
    assert_true(suite->reply.has_passed);
    suite->now_ms += 2 * SUITE_LEASE_MS;
    assert_int_equal(suite_claim_for(suite, ANN, 9, 9, true), 0);
    assert_false(suite->reply.has_passed);
    assert_int_equal(suite->reply.expired_count, 1);
    assert_state(suite, suspect, CULEX_RUN_DEAD);
}

void case_claim__lost_before_its_start_is_not_charged(struct suite *suite)
{
    culex_uuid ids[3] = {suite_put(suite), suite_put(suite), suite_put(suite)};
    assert_int_equal(suite_claim_for(suite, ANN, 3, 1, false), 3);
    suite_pass(suite, SUITE_LEASE_MS);
    for (int i = 0; i < 3; i++) {
        assert_state(suite, ids[i], CULEX_RUN_WAITING);
        assert_int_equal(suite->info->losses, i == 0 ? 1 : 0);
    }
    assert_int_equal(suite_stats(suite).lost, 1);
    for (int i = 0; i < 3; i++)
        suite_take(suite, BOB, ids[i]);
}

/* Else what kills its worker could stay uncharged for ever. */
void case_claim__run_in_doubt_waits_for_a_free_handler(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    assert_int_equal(suite_claim_for(suite, ANN, 4, 0, false), 1);
    assert_false(suite->reply.is_held);
    suite_pass(suite, SUITE_LEASE_MS);
    assert_int_equal(suite_claim_for(suite, ANN, 4, 0, false), 0);
    assert_true(suite->reply.is_held);
    assert_int_equal(suite_claim_for(suite, ANN, 4, 1, false), 1);
    suite_pass(suite, SUITE_LEASE_MS);
    assert_int_equal(suite_get(suite, id)->losses, 1);
}

/* A worker that drains would end and leave it there. */
void case_claim__held_run_behind_cancelled_ones_is_not_forgotten(struct suite *suite)
{
    culex_uuid ids[3] = {suite_put(suite), suite_put(suite), suite_put(suite)};
    assert_int_equal(suite_claim_for(suite, ANN, 3, 0, false), 3);
    suite_pass(suite, SUITE_LEASE_MS);
    assert_int_equal(suite_claim_for(suite, ANN, 0, 0, false), 0);
    for (int i = 0; i < 2; i++)
        suite_cancel(suite, ids[i]);
    assert_int_equal(suite_claim_for(suite, ANN, 4, 0, false), 0);
    assert_true(suite->reply.is_held);
    assert_false(suite->reply.is_empty);
    suite_take(suite, ANN, ids[2]);
}

void case_claim__nobody_passes_a_run_in_doubt(struct suite *suite)
{
    culex_uuid ids[4];
    for (int i = 0; i < 2; i++)
        ids[i] = suite_put(suite);
    assert_int_equal(suite_claim_for(suite, ANN, 2, 0, false), 2);
    suite_pass(suite, SUITE_LEASE_MS);
    for (int i = 2; i < 4; i++)
        ids[i] = suite_put(suite);
    assert_int_equal(suite_claim_for(suite, ANN, 4, 1, false), 1);
    assert_true(suite_same_id(suite->reply.grants[0].facts.id, ids[0]));
    assert_true(suite->reply.is_held);
    assert_int_equal(suite_claim_for(suite, ANN, 4, 1, false), 3);
    assert_false(suite->reply.is_held);
    for (int i = 0; i < 3; i++)
        assert_true(suite_same_id(suite->reply.grants[i].facts.id, ids[i + 1]));
}

/* A worker with one handler, which takes it along at the start of `poison`, whatever it has: the
 * others have ended by then. False when there is nothing left to claim. */
static bool work_until_poison(struct suite *suite, const char *session, culex_uuid poison)
{
    struct culex_ack acks[16];
    size_t count = suite_claim_for(suite, session, 16, 1, false), ended = 0;
    for (size_t i = 0; i < count; i++) {
        const struct culex_grant *grant = &suite->reply.grants[i];
        if (suite_same_id(grant->facts.id, poison))
            break;
        acks[ended++] = (struct culex_ack){
            .id = grant->facts.id, .attempt = grant->facts.attempt, .event = CULEX_EVENT_DONE};
    }
    for (size_t i = 0; i < ended; i++)
        assert_int_equal(suite_ack(suite, session, acks[i]), CULEX_ANSWER_OK);
    return count > 0;
}

void case_claim__poison_that_is_fetched_ahead_kills_itself_alone(struct suite *suite)
{
    culex_uuid ids[15];
    for (int i = 0; i < 15; i++) {
        struct culex_new_run run = suite_run(suite);
        run.keep_success_ms = run.keep_failure_ms = 60 * SUITE_MINUTE_MS;
        ids[i] = suite_put_run(suite, &run);
    }
    culex_uuid poison = ids[7];
    for (int n = 0; n < 40; n++) {
        work_until_poison(suite, ANN, poison);
        suite_pass(suite, SUITE_LEASE_MS);
    }
    for (int i = 0; i < 15; i++) {
        assert_state(suite, ids[i], i == 7 ? CULEX_RUN_DEAD : CULEX_RUN_DONE);
        assert_int_equal(suite->info->losses, i == 7 ? 10 : 0);
    }
}

/* As a supervisor does it that starts the worker again and again: no lease ever runs out. */
void case_hello__restarts_under_one_name_end_the_poison_alone(struct suite *suite)
{
    culex_uuid ids[21];
    char session[17];
    for (int i = 0; i < 21; i++) {
        struct culex_new_run run = suite_run(suite);
        run.keep_success_ms = run.keep_failure_ms = 60 * SUITE_MINUTE_MS;
        ids[i] = suite_put_run(suite, &run);
    }
    int lives = 0;
    do {
        snprintf(session, sizeof session, "%016x", ++lives);
        suite_hello(suite, "host/1", session);
        assert_true(lives < 60);
    } while (work_until_poison(suite, session, ids[0]));
    for (int i = 0; i < 21; i++) {
        assert_state(suite, ids[i], i == 0 ? CULEX_RUN_DEAD : CULEX_RUN_DONE);
        assert_int_equal(suite->info->losses, i == 0 ? 10 : 0);
    }
    suite_get(suite, ids[0]);
    assert_string_equal(
        suite->info->error_text,
        "the process of worker host/1 was replaced before the worker said how the run ended "
        "(loss 10 of 10)");
}

void case_claim__repeated_step_grants_the_same(struct suite *suite)
{
    for (int i = 0; i < 6; i++)
        suite_put(suite);
    struct culex_step step = suite_step_make(suite, ANN, 3);
    culex_uuid ids[3];
    assert_int_equal(suite_step(suite, &step), 3);
    int64_t claim_ms = suite->reply.grants[0].facts.claim_ms;
    for (int i = 0; i < 3; i++)
        ids[i] = suite->reply.grants[i].facts.id;
    suite_claim(suite, BOB, 1);
    suite->now_ms += 7;
    assert_int_equal(suite_step(suite, &step), 3);
    for (int i = 0; i < 3; i++) {
        assert_true(suite_same_id(suite->reply.grants[i].facts.id, ids[i]));
        assert_int_equal(suite->reply.grants[i].facts.attempt, 1);
        assert_int_equal(suite->reply.grants[i].facts.claim_ms, claim_ms);
        assert_memory_equal(suite->reply.grants[i].payload, "{}", 2);
        assert_int_equal(suite_get(suite, ids[i])->at_ms, suite->now_ms - 7 + SUITE_LEASE_MS);
    }
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_ACTIVE], 4);
}

void case_claim__repeated_step_applies_acks_once(struct suite *suite)
{
    culex_uuid fails = suite_put(suite), done = suite_put(suite), held = suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, 3), 3);
    struct culex_ack acks[3] = {{.id = fails, .attempt = 1, .event = CULEX_EVENT_FAIL},
                                {.id = done, .attempt = 1, .event = CULEX_EVENT_DONE},
                                {.id = held, .attempt = 2, .event = CULEX_EVENT_DONE}};
    struct culex_beat beat = {.id = held, .attempt = 1};
    struct culex_step step = suite_step_make(suite, ANN, 1);
    step.acks = acks;
    step.ack_count = 3;
    step.beats = &beat;
    step.beat_count = 1;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(suite_step(suite, &step), 1); /* the failed one, due at once */
        assert_int_equal(suite->reply.grants[0].facts.attempt, 2);
        assert_int_equal(suite->reply.acks[0], CULEX_ANSWER_OK);
        assert_int_equal(suite->reply.acks[1], CULEX_ANSWER_OK);
        assert_int_equal(suite->reply.acks[2], CULEX_ANSWER_STALE);
        assert_int_equal(suite->reply.beats[0], CULEX_ANSWER_OK);
    }
    culex_queue_stats stats = suite_stats(suite);
    assert_int_equal(stats.failed, 1);
    assert_int_equal(stats.done, 1);
    assert_int_equal(stats.stale, 1);
    assert_int_equal(suite_get(suite, fails)->failures, 1);
    assert_state(suite, fails, CULEX_RUN_ACTIVE);
}

/* As from a connection that was closed: the session has made another step meanwhile. */
void case_claim__late_step_changes_nothing_and_grants_nothing(struct suite *suite)
{
    culex_uuid acked = suite_put(suite), beaten = suite_put(suite), waiting = suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, 2), 2);
    struct culex_ack ack = {.id = acked, .attempt = 1, .event = CULEX_EVENT_DONE};
    struct culex_beat beat = {.id = beaten, .attempt = 1};
    struct culex_step late = suite_step_make(suite, ANN, 2);
    late.acks = &ack;
    late.ack_count = 1;
    late.beats = &beat;
    late.beat_count = 1;
    struct culex_step next = suite_step_make(suite, ANN, 0);
    next.beats = &beat;
    next.beat_count = 1;
    suite_step(suite, &next);
    assert_false(suite->reply.is_late);
    int64_t lease_end_ms = suite_get(suite, beaten)->at_ms;
    suite->now_ms += 5;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(suite_step(suite, &late), 0);
        assert_int_equal(suite->reply.acks[0], CULEX_ANSWER_STALE);
        assert_int_equal(suite->reply.beats[0], CULEX_ANSWER_STALE);
        assert_true(suite->reply.is_late);
    }
    assert_state(suite, acked, CULEX_RUN_ACTIVE);
    assert_state(suite, waiting, CULEX_RUN_WAITING);
    assert_int_equal(suite_get(suite, beaten)->at_ms, lease_end_ms);
    assert_int_equal(suite_stats(suite).stale, 0);
    suite_step(suite, &next); /* still the last one */
    assert_int_equal(suite->reply.beats[0], CULEX_ANSWER_OK);
    assert_false(suite->reply.is_late);
    assert_int_equal(suite_claim(suite, ANN, 1), 1);
}

void case_claim__nonces_compare_as_numbers(struct suite *suite)
{
    static const uint64_t nonces[] = {0,
                                      9,
                                      10,
                                      15,
                                      16,
                                      255,
                                      256,
                                      UINT64_C(0x7fffffffffffffff),
                                      UINT64_C(0x8000000000000000),
                                      UINT64_MAX - 1,
                                      UINT64_MAX};
    for (size_t i = 0; i < sizeof nonces / sizeof nonces[0]; i++) {
        suite_put(suite);
        struct culex_step step = suite_step_make(suite, ANN, 1);
        for (size_t before = 0; before + 1 < i; before++) {
            step.nonce = nonces[before];
            assert_int_equal(suite_step(suite, &step), 0);
        }
        step.nonce = nonces[i];
        assert_int_equal(suite_step(suite, &step), 1);
    }
}

void case_claim__repeated_step_leaves_out_what_ended(struct suite *suite)
{
    culex_uuid id = suite_put(suite), other = suite_put(suite);
    struct culex_step step = suite_step_make(suite, ANN, 2);
    assert_int_equal(suite_step(suite, &step), 2);
    /* The operator's new session takes the first away; the memory of ANN's step stays. */
    suite_pass(suite, SUITE_LEASE_MS);
    suite_take(suite, BOB, id);
    assert_int_equal(suite_step(suite, &step), 0);
    suite_take(suite, BOB, other);
    assert_int_equal(suite_step(suite, &step), 0);
}

/* Events that only the store or an operator may cause, sent as results by the run's holder. */
void case_claim__nonsense_is_refused_and_changes_nothing(struct suite *suite)
{
    static const enum culex_run_event events[] = {CULEX_EVENT_DUE, CULEX_EVENT_CLAIM,
                                                  CULEX_EVENT_EXPIRE, CULEX_EVENT_CANCEL,
                                                  CULEX_EVENT_RETRY};
    culex_uuid id = suite_put(suite);
    suite_take(suite, ANN, id);
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        struct culex_ack ack = {.id = id, .attempt = 1, .event = events[i]};
        struct culex_step step = suite_step_make(suite, ANN, 1);
        struct culex_step_reply reply;
        step.acks = &ack;
        step.ack_count = 1;
        assert_int_equal(suite->store->ops->step(suite->store, &step, &reply, NULL), CULEX_EINVAL);
        assert_state(suite, id, CULEX_RUN_ACTIVE);
    }
    assert_int_equal(suite_stats(suite).stale, 0);
    assert_int_equal(suite_end(suite, ANN, id, 1, CULEX_EVENT_DONE, 0), CULEX_ANSWER_OK);
}

/* Many that wait for nothing but a worker, and one behind them that is urgent. */
void case_claim__due_urgent_run_overtakes_those_due_before(struct suite *suite)
{
    struct culex_new_run run;
    for (int i = 0; i < 300; i++) {
        run = suite_run(suite);
        run.priority = 0;
        run.delay_ms = 1000;
        suite_put_run(suite, &run);
    }
    run = suite_run(suite);
    run.priority = 9;
    run.delay_ms = 2000;
    culex_uuid id = suite_put_run(suite, &run);
    suite->now_ms += 2000;
    assert_int_equal(suite_claim(suite, ANN, 1), 1);
    assert_memory_equal(&suite->reply.grants[0].facts.id, &id, sizeof id);
}

void case_claim__is_empty_and_due_in_tell_the_outlook(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    suite_claim(suite, ANN, 1);
    assert_true(suite->reply.is_empty);
    assert_int_equal(suite->reply.due_in_ms, -1);
    run.delay_ms = 5000;
    culex_uuid id = suite_put_run(suite, &run);
    suite->now_ms += 1000;
    suite_claim(suite, ANN, 1);
    assert_false(suite->reply.is_empty);
    assert_int_equal(suite->reply.due_in_ms, 4000);
    suite->now_ms += 4000;
    uint32_t attempt = suite_take(suite, ANN, id);
    assert_false(suite->reply.is_empty);
    assert_int_equal(suite->reply.due_in_ms, SUITE_LEASE_MS);
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0);
    assert_true(suite->reply.is_empty);
    suite_put(suite);
    suite_claim(suite, ANN, 0);
    assert_false(suite->reply.is_empty);
}
