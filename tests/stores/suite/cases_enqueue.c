/* suite/cases_enqueue.c - runs coming in: new, known, unique, delayed. */
#include "suite.h"

#include "base/limits.h"

#include "cases.h"

void case_enqueue__new_run_waits(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    const culex_run_info *run = suite_get(suite, id);
    assert_non_null(run);
    assert_int_equal(run->state, CULEX_RUN_WAITING);
    assert_int_equal(run->attempt, 0);
    assert_int_equal(run->attempts_max, 5);
    assert_int_equal(run->created_at_ms, suite->now_ms);
    assert_int_equal(run->expires_at_ms, 0);
    assert_int_equal(run->priority, suite->priority);
    assert_true(run->fingerprint == 0xfedcba9876543210u);
    assert_string_equal(run->job, "shop.send_email");
    assert_string_equal(run->queue, suite->queue);
    assert_string_equal(run->error_text, "");
    assert_int_equal(suite_stats(suite).enqueued, 1);
}

/* The run at `index` has a payload of its own: ids may be in order while the payloads are not. */
static struct culex_new_run run_numbered(struct suite *suite, size_t index, char text[32])
{
    struct culex_new_run run = suite_run(suite);
    run.payload_len = (size_t)snprintf(text, 32, "{\"index\":%zu}", index);
    run.payload = text;
    return run;
}

static void grant_is(const struct culex_grant *grant, const struct culex_new_run *run,
                     culex_uuid id)
{
    assert_true(suite_same_id(grant->facts.id, id));
    assert_int_equal(grant->payload_len, run->payload_len);
    assert_memory_equal(grant->payload, run->payload, run->payload_len);
}

void case_enqueue__batch_of_many_keeps_its_order(struct suite *suite)
{
    enum { COUNT = 200 };
    char texts[COUNT][32];
    struct culex_new_run runs[COUNT];
    struct culex_enqueue_result results[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        runs[i] = run_numbered(suite, i, texts[i]);
    suite_put_many(suite, runs, COUNT, results);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(results[i].outcome, CULEX_ENQUEUED_NEW);
        suite_take(suite, ANN, results[i].id);
        grant_is(&suite->reply.grants[0], &runs[i], results[i].id);
    }
    assert_int_equal(suite_claim(suite, ANN, 1), 0);
}

/* Stores write so many in parts. */
void case_enqueue__largest_batch_keeps_its_order(struct suite *suite)
{
    enum { COUNT = CULEX_STORE_BATCH_MAX, PART = 100 };
    static char texts[COUNT][32];
    static struct culex_new_run runs[COUNT];
    static struct culex_enqueue_result results[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        runs[i] = run_numbered(suite, i, texts[i]);
    suite_put_many(suite, runs, COUNT, results);
    for (size_t at = 0; at < COUNT; at += PART) {
        assert_int_equal(suite_claim(suite, ANN, PART), PART);
        for (size_t i = 0; i < PART; i++)
            grant_is(&suite->reply.grants[i], &runs[at + i], results[at + i].id);
    }
    assert_int_equal(suite_claim(suite, ANN, 1), 0);
}

void case_enqueue__unique_key_names_its_holder(struct suite *suite)
{
    struct culex_new_run runs[3] = {suite_run(suite), suite_run(suite), suite_run(suite)};
    struct culex_enqueue_result results[3];
    runs[0].unique_key = runs[1].unique_key = "00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff"
                                              "00ff00ff00ff00ff";
    runs[2].unique_key = "00ff";
    suite_put_many(suite, runs, 3, results);
    assert_int_equal(results[0].outcome, CULEX_ENQUEUED_NEW);
    assert_int_equal(results[1].outcome, CULEX_ENQUEUED_UNIQUE_TAKEN);
    assert_true(suite_same_id(results[1].id, results[0].id));
    assert_int_equal(results[2].outcome, CULEX_ENQUEUED_NEW);
    assert_int_equal(suite_enqueue(suite, &runs[0]), CULEX_ENQUEUED_UNIQUE_TAKEN);
    suite_take(suite, ANN, results[0].id);
    assert_int_equal(suite_enqueue(suite, &runs[1]), CULEX_ENQUEUED_UNIQUE_TAKEN);
    suite_pass(suite, SUITE_LEASE_MS);
    struct culex_enqueue_result late = suite_try(suite, &runs[1]);
    assert_int_equal(late.outcome, CULEX_ENQUEUED_UNIQUE_TAKEN);
    assert_true(suite_same_id(late.id, results[0].id));
}

void case_enqueue__unique_key_is_free_after_every_end(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.unique_key = "abc";
    culex_uuid id = suite_put_run(suite, &run);
    suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_DONE, 0);
    id = suite_put_run(suite, &run);
    suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_DISCARD, 0);
    id = suite_put_run(suite, &run);
    suite_cancel(suite, id);
    run.expires_ms = SUITE_SECOND_MS;
    suite_put_run(suite, &run);
    suite->now_ms += 2 * SUITE_SECOND_MS;
    suite_claim(suite, ANN, 1);
    suite_put_run(suite, &run);
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 10), 1);
    suite_put_run(suite, &run);
}

void case_enqueue__delayed_run_starts_when_due(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.delay_ms = 5000;
    culex_uuid id = suite_put_run(suite, &run);
    assert_state(suite, id, CULEX_RUN_SCHEDULED);
    assert_int_equal(suite_get(suite, id)->at_ms, suite->now_ms + 5000);
    suite->now_ms += 4999;
    assert_int_equal(suite_claim(suite, ANN, 1), 0);
    suite->now_ms += 1;
    suite_take(suite, ANN, id);
}

void case_enqueue__timed_run_starts_at_its_time(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.at_ms = suite->now_ms + 7777;
    culex_uuid id = suite_put_run(suite, &run);
    assert_state(suite, id, CULEX_RUN_SCHEDULED);
    suite->now_ms += 7776;
    assert_int_equal(suite_claim(suite, ANN, 1), 0);
    suite->now_ms += 1;
    suite_take(suite, ANN, id);
}

/* All stores keep the bounds that clients and workers hold to. */
void case_enqueue__farthest_time_is_kept(struct suite *suite)
{
    struct culex_new_run timed = suite_run(suite), delayed = suite_run(suite);
    struct culex_new_run released = suite_run(suite);
    timed.at_ms = CULEX_INSTANT_MAX_MS;
    delayed.delay_ms = CULEX_DELAY_MAX_MS;
    culex_uuid timed_id = suite_put_run(suite, &timed);
    culex_uuid delayed_id = suite_put_run(suite, &delayed);
    assert_true(suite_get(suite, timed_id)->at_ms == CULEX_INSTANT_MAX_MS);
    assert_true(suite_get(suite, delayed_id)->at_ms == suite->now_ms + CULEX_DELAY_MAX_MS);
    culex_uuid released_id = suite_put_run(suite, &released);
    uint32_t attempt = suite_take(suite, ANN, released_id);
    suite_end(suite, ANN, released_id, attempt, CULEX_EVENT_RELEASE, CULEX_DELAY_MAX_MS);
    assert_true(suite_get(suite, released_id)->at_ms == suite->now_ms + CULEX_DELAY_MAX_MS);
}

void case_enqueue__time_in_the_past_means_now(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite), negative = suite_run(suite);
    run.at_ms = suite->now_ms - 86400000;
    negative.delay_ms = -5;
    culex_uuid id = suite_put_run(suite, &run);
    culex_uuid negative_id = suite_put_run(suite, &negative);
    assert_state(suite, id, CULEX_RUN_WAITING);
    assert_state(suite, negative_id, CULEX_RUN_WAITING);
    assert_int_equal(suite_claim(suite, ANN, 2), 2);
}

static void refused(struct suite *suite, struct culex_new_run bad)
{
    struct culex_new_run runs[2] = {suite_run(suite), bad};
    struct culex_enqueue_result results[2];
    struct culex_ticket ticket = suite_ticket(suite);
    uint64_t before = suite_stats(suite).enqueued;
    assert_true(suite->store->ops->enqueue(suite->store, suite->queue, &ticket, runs, 2, results,
                                           NULL) < 0);
    assert_int_equal(suite_stats(suite).enqueued, before);
}

void case_enqueue__out_of_range_is_refused_whole(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    suite_put(suite);
    run.priority = 10;
    refused(suite, run);
    run.priority = -1;
    refused(suite, run);
    run = suite_run(suite);
    run.attempts_max = 0;
    refused(suite, run);
}

/* They are outside the contract; a store refuses them or keeps them, and knows its other runs
 * as well as before. */
void case_enqueue__bars_and_control_characters_do_no_harm(struct suite *suite)
{
    static const char *const texts[] = {"a|b", "||||||", "a\nb", "a\x01", "|1|W|0|0"};
    culex_uuid before = suite_put(suite);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct culex_new_run run = suite_run(suite), named = suite_run(suite);
        struct culex_enqueue_result result;
        run.tags = texts[i];
        named.job = texts[i];
        if (suite->store->ops->enqueue(suite->store, suite->queue, NULL, &run, 1, &result, NULL) ==
            CULEX_OK)
            assert_string_equal(suite_get(suite, result.id)->tags, texts[i]);
        if (suite->store->ops->enqueue(suite->store, suite->queue, NULL, &named, 1, &result,
                                       NULL) == CULEX_OK)
            assert_string_equal(suite_get(suite, result.id)->job, texts[i]);
    }
    suite_take(suite, ANN, before);
    size_t kept = (size_t)suite_stats(suite).count[CULEX_RUN_WAITING];
    assert_int_equal(suite_claim(suite, ANN, 20), kept);
}

void case_enqueue__payload_of_1_mib_is_kept(struct suite *suite)
{
    enum { SIZE = 1 << 20 };
    char *payload = malloc(SIZE);
    struct culex_new_run run = suite_run(suite);
    assert_non_null(payload);
    for (size_t i = 0; i < SIZE; i++)
        payload[i] = (char)(i * 31 + i / 4096);
    run.payload = payload;
    run.payload_len = SIZE;
    culex_uuid id = suite_put_run(suite, &run);
    uint32_t attempt = suite_take(suite, ANN, id);
    assert_int_equal(suite->reply.grants[0].payload_len, SIZE);
    assert_memory_equal(suite->reply.grants[0].payload, payload, SIZE);
    assert_int_equal(suite_get(suite, id)->payload.len, SIZE);
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0);
    assert_int_equal(suite_get(suite, id)->payload.len, 0);
    free(payload);
}

void case_enqueue__queues_are_apart(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    culex_uuid id = suite_put_run(suite, &run);
    strcpy(suite->queue, "batch");
    suite_hello(suite, "host/1", ANN);
    assert_null(suite_get(suite, id));
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
    assert_int_equal(suite_stats(suite).enqueued, 0);
    suite_take(suite, ANN, suite_put_run(suite, &run));
    strcpy(suite->queue, "mail");
    assert_state(suite, id, CULEX_RUN_WAITING);
}

void case_enqueue__hostile_bytes_come_back_unchanged(struct suite *suite)
{
    unsigned char payload[4096];
    struct culex_new_run run = suite_run(suite);
    for (size_t i = 0; i < sizeof payload; i++)
        payload[i] = (unsigned char)(i * 7 + i / 256);
    run.payload = payload;
    run.payload_len = sizeof payload;
    run.job = "it's.\"50%\";--\\n\xe2\x82\xac";
    run.tags = "a,'b',\"c\",%d,\\,$1,\xc3\xa9";
    culex_uuid id = suite_put_run(suite, &run);
    const culex_run_info *info = suite_get(suite, id);
    assert_int_equal(info->payload.len, sizeof payload);
    assert_memory_equal(info->payload.data, payload, sizeof payload);
    assert_string_equal(info->job, run.job);
    assert_string_equal(info->tags, run.tags);
    suite_take(suite, ANN, id);
    assert_int_equal(suite->reply.grants[0].payload_len, sizeof payload);
    assert_memory_equal(suite->reply.grants[0].payload, payload, sizeof payload);
    assert_string_equal(suite->reply.grants[0].job, run.job);
}

/* Whoever brings it to another store has to know. */
void case_enqueue__what_was_wanted_is_told(struct suite *suite)
{
    const struct culex_run_limit limits[] = {
        {.kind = CULEX_LIMIT_CONCURRENCY, .name = "j:one", .key = "a+b", .count = 2},
        {.kind = CULEX_LIMIT_RATE, .name = "j:two", .count = 3, .per_ms = 1000, .burst = 4},
        {.kind = CULEX_LIMIT_NEEDS, .name = "needs gpu:1,tape:2"}};
    struct culex_new_run run = suite_run(suite);
    run.timeout_ms = 4000;
    run.retry_for_ms = 5000;
    run.keep_success_ms = 6000;
    run.keep_failure_ms = 7000;
    run.unique_key = "00ab";
    run.unique_while = 1u << CULEX_RUN_WAITING | 1u << CULEX_RUN_ACTIVE;
    run.unique_for_ms = 8000;
    run.limits = limits;
    run.limit_count = 3;
    const culex_run_info *info = suite_get(suite, suite_put_run(suite, &run));
    assert_int_equal(info->timeout_ms, 4000);
    assert_int_equal(info->retry_for_ms, 5000);
    assert_int_equal(info->keep_success_ms, 6000);
    assert_int_equal(info->keep_failure_ms, 7000);
    assert_string_equal(info->unique_key, "00ab");
    assert_int_equal(info->unique_while, run.unique_while);
    assert_int_equal(info->unique_until_ms, suite->now_ms + 8000);
    assert_string_equal(info->limits, "j:one=a+b;j:two=;needs gpu:1,tape:2=");
    assert_false(info->is_member);
    info = suite_get(suite, suite_put(suite));
    assert_string_equal(info->unique_key, "");
    assert_string_equal(info->limits, "");
    assert_int_equal(info->unique_until_ms, 0);
}

void case_enqueue__second_handle_sees_it(struct suite *suite)
{
    if (strcmp(suite->kind, "model") == 0)
        skip();
    culex_uuid id = suite_put(suite);
    struct culex_store *first = suite->store, *second = suite_open_again(suite);
    suite->store = second;
    uint32_t attempt = suite_take(suite, ANN, id);
    second->ops->step_release(second, &suite->reply);
    suite->store = first;
    assert_state(suite, id, CULEX_RUN_ACTIVE);
    assert_int_equal(suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0), CULEX_ANSWER_OK);
    second->ops->close(second);
}
