/* suite/cases_unique.c - unique keys: how long one is kept, and runs that replace others. */
#include "suite.h"

#include "cases.h"

enum {
    WINDOW_MS = SUITE_MINUTE_MS,
    WHILE_SCHEDULED = 1 << CULEX_RUN_SCHEDULED,
    WHILE_WAITING = WHILE_SCHEDULED | 1 << CULEX_RUN_WAITING,
    WHILE_ACTIVE = 1 << CULEX_RUN_ACTIVE
};

static struct culex_new_run unique(struct suite *suite, unsigned states, int64_t for_ms)
{
    struct culex_new_run run = suite_run(suite);
    run.unique_key = "abc";
    run.unique_while = states;
    run.unique_for_ms = for_ms;
    return run;
}

static struct culex_new_run replacing(struct suite *suite, int64_t delay_ms, const char *payload)
{
    struct culex_new_run run = unique(suite, WHILE_WAITING, 0);
    run.unique_replaces = true;
    run.delay_ms = delay_ms;
    run.payload = payload;
    run.payload_len = strlen(payload);
    return run;
}

static void assert_outcome(struct suite *suite, const struct culex_new_run *run,
                           enum culex_enqueued outcome, culex_uuid id)
{
    struct culex_enqueue_result result = suite_try(suite, run);
    assert_int_equal(result.outcome, outcome);
    assert_true(suite_same_id(result.id, id));
}

static void assert_payload(struct suite *suite, const char *payload)
{
    assert_int_equal(suite->reply.grants[0].payload_len, strlen(payload));
    assert_memory_equal(suite->reply.grants[0].payload, payload, strlen(payload));
}

/* Throttle: the first one wins, whatever becomes of it. */
void case_unique__window_holds_to_its_end(struct suite *suite)
{
    struct culex_new_run run = unique(suite, 0, WINDOW_MS);
    run.keep_success_ms = 0;
    culex_uuid id = suite_put_run(suite, &run);
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, id);
    suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_DONE, 0);
    assert_null(suite_get(suite, id));
    suite_pass(suite, WINDOW_MS - 1);
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, id);
    suite->now_ms += 1;
    assert_false(suite_same_id(suite_put_run(suite, &run), id));
}

void case_unique__window_outlives_cancel_and_purge(struct suite *suite)
{
    struct culex_new_run run = unique(suite, 0, WINDOW_MS);
    culex_uuid id = suite_put_run(suite, &run);
    suite_cancel(suite, id);
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, id);
    assert_int_equal(suite_purge(suite, CULEX_RUN_CANCELLED, 9), 1);
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, id);
    suite_pass(suite, WINDOW_MS);
    culex_uuid next = suite_put_run(suite, &run);
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 9), 1);
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, next);
}

void case_unique__states_and_window_end_with_the_first(struct suite *suite)
{
    struct culex_new_run run = unique(suite, CULEX_UNIQUE_LIVE, WINDOW_MS);
    culex_uuid id = suite_put_run(suite, &run);
    suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_DONE, 0);
    id = suite_put_run(suite, &run);
    suite->now_ms += WINDOW_MS - 1;
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, id);
    suite->now_ms += 1;
    culex_uuid next = suite_put_run(suite, &run);
    suite_cancel(suite, id); /* takes nothing from the next one */
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, next);
}

void case_unique__key_is_free_once_claimed_and_back_after_a_release(struct suite *suite)
{
    struct culex_new_run run = unique(suite, WHILE_WAITING, 0);
    culex_uuid id = suite_put_run(suite, &run);
    uint32_t attempt = suite_take(suite, ANN, id);
    culex_uuid second = suite_put_run(suite, &run);
    uint32_t second_attempt = suite_take(suite, BOB, second);
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_FAIL, SUITE_SECOND_MS);
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, id);
    suite_end(suite, BOB, second, second_attempt, CULEX_EVENT_RELEASE, 0);
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, id);
    suite_cancel(suite, id);
    suite_put_run(suite, &run); /* the second one goes on without */
}

void case_unique__run_goes_on_without_a_key_that_is_taken(struct suite *suite)
{
    struct culex_new_run run = unique(suite, WHILE_WAITING, 0);
    culex_uuid id = suite_put_run(suite, &run);
    uint32_t attempt = suite_take(suite, ANN, id);
    culex_uuid second = suite_put_run(suite, &run);
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_RELEASE, 0);
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, second);
    assert_int_equal(suite_claim(suite, ANN, 2), 2);
}

void case_unique__lost_run_has_its_key_again_if_nobody_took_it(struct suite *suite)
{
    struct culex_new_run run = unique(suite, WHILE_WAITING, 0);
    culex_uuid id = suite_put_run(suite, &run);
    suite_take(suite, ANN, id);
    suite_pass(suite, SUITE_LEASE_MS);
    assert_state(suite, id, CULEX_RUN_WAITING);
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, id);
}

static void put_off(struct suite *suite, culex_uuid id, int64_t delay_ms)
{
    const struct culex_place place = {.has_time = true, .delay_ms = delay_ms, .priority = -1};
    assert_ok(suite->store->ops->move(suite->store, suite->queue, id, &place, NULL));
}

/* The first of two runs with one key: it waits, and so has lost it to the second, which is
 * scheduled. */
static culex_uuid put_two_scheduled(struct suite *suite, struct culex_new_run *ret_run,
                                    culex_uuid *ret_second)
{
    *ret_run = unique(suite, WHILE_SCHEDULED, 0);
    ret_run->delay_ms = SUITE_SECOND_MS;
    culex_uuid first = suite_put_run(suite, ret_run);
    suite_pass(suite, SUITE_SECOND_MS);
    assert_state(suite, first, CULEX_RUN_WAITING);
    *ret_second = suite_put_run(suite, ret_run);
    return first;
}

void case_unique__moved_run_has_its_key_again(struct suite *suite)
{
    struct culex_new_run run;
    culex_uuid second, first = put_two_scheduled(suite, &run, &second);
    suite_cancel(suite, second);
    put_off(suite, first, SUITE_SECOND_MS);
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, first);
    put_off(suite, first, 0);
    suite_put_run(suite, &run);
}

void case_unique__moved_run_leaves_its_key_to_who_took_it(struct suite *suite)
{
    struct culex_new_run run;
    culex_uuid second, first = put_two_scheduled(suite, &run, &second);
    put_off(suite, first, SUITE_SECOND_MS);
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, second);
    suite_cancel(suite, second);
    suite_put_run(suite, &run); /* the first one goes on without */
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
}

void case_unique__only_an_active_run_holds_its_key(struct suite *suite)
{
    struct culex_new_run run = unique(suite, WHILE_ACTIVE, 0);
    culex_uuid first = suite_put_run(suite, &run), second = suite_put_run(suite, &run);
    uint32_t attempt = suite_take(suite, ANN, first);
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, first);
    suite_end(suite, ANN, first, attempt, CULEX_EVENT_DONE, 0);
    suite_take(suite, ANN, second);
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, second);
}

void case_unique__expired_run_holds_nothing(struct suite *suite)
{
    struct culex_new_run run = unique(suite, CULEX_UNIQUE_LIVE, 0);
    run.expires_ms = SUITE_SECOND_MS;
    culex_uuid id = suite_put_run(suite, &run);
    suite->now_ms += SUITE_SECOND_MS - 1;
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, id);
    suite->now_ms += 1;
    suite_put_run(suite, &run);
}

/* Debounce: the last one wins, and is pushed back each time. */
void case_unique__replaced_run_is_pushed_back(struct suite *suite)
{
    struct culex_new_run first = replacing(suite, 5000, "{\"n\":1}");
    struct culex_new_run last = replacing(suite, 5000, "{\"n\":2}");
    culex_uuid id = suite_put_run(suite, &first);
    int64_t created_ms = suite->now_ms;
    suite->now_ms += 4000;
    last.tags = "late";
    last.attempts_max = 9;
    last.expires_ms = SUITE_MINUTE_MS;
    assert_outcome(suite, &last, CULEX_ENQUEUED_REPLACED, id);
    const culex_run_info *info = suite_get(suite, id);
    assert_int_equal(info->at_ms, suite->now_ms + 5000);
    assert_int_equal(info->created_at_ms, created_ms);
    assert_string_equal(info->tags, "late");
    assert_int_equal(info->attempts_max, 9);
    assert_int_equal(info->expires_at_ms, suite->now_ms + 5000 + SUITE_MINUTE_MS);
    suite->now_ms += 4999;
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
    suite->now_ms += 1;
    suite_take(suite, ANN, id);
    assert_payload(suite, "{\"n\":2}");
    assert_int_equal(suite_stats(suite).enqueued, 1);
}

void case_unique__waiting_run_is_replaced(struct suite *suite)
{
    static char large[5000];
    memset(large, 'x', sizeof large - 1);
    struct culex_new_run first = replacing(suite, 0, "{\"n\":1}");
    struct culex_new_run last = replacing(suite, 0, large);
    culex_uuid id = suite_put_run(suite, &first);
    assert_outcome(suite, &last, CULEX_ENQUEUED_REPLACED, id);
    last = replacing(suite, SUITE_SECOND_MS, "{\"n\":3}");
    last.priority = 9 - suite->priority;
    assert_outcome(suite, &last, CULEX_ENQUEUED_REPLACED, id);
    assert_state(suite, id, CULEX_RUN_SCHEDULED);
    assert_int_equal(suite_get(suite, id)->priority, 9 - suite->priority);
    last = replacing(suite, 0, large);
    assert_outcome(suite, &last, CULEX_ENQUEUED_REPLACED, id);
    suite_take(suite, ANN, id);
    assert_payload(suite, large);
    assert_int_equal(suite_claim(suite, ANN, 1), 0);
}

void case_unique__waiting_run_keeps_its_place(struct suite *suite)
{
    struct culex_new_run run = replacing(suite, 0, "{\"n\":1}");
    culex_uuid id = suite_put_run(suite, &run);
    suite->now_ms += 1;
    culex_uuid other = suite_put(suite);
    suite->now_ms += 1;
    assert_outcome(suite, &run, CULEX_ENQUEUED_REPLACED, id);
    suite_take(suite, ANN, id);
    suite_take(suite, ANN, other);
}

void case_unique__claimed_run_is_not_replaced(struct suite *suite)
{
    struct culex_new_run run = replacing(suite, 0, "{\"n\":1}");
    struct culex_new_run last = replacing(suite, 0, "{\"n\":2}");
    run.unique_while = last.unique_while = CULEX_UNIQUE_LIVE;
    culex_uuid id = suite_put_run(suite, &run);
    uint32_t attempt = suite_take(suite, ANN, id);
    assert_outcome(suite, &last, CULEX_ENQUEUED_UNIQUE_TAKEN, id);
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_RELEASE, 0);
    assert_outcome(suite, &last, CULEX_ENQUEUED_UNIQUE_TAKEN, id);
    suite_take(suite, ANN, id);
    assert_payload(suite, "{\"n\":1}");
}

/* Its key is kept by waiting alone: so the last one is not lost, but a run of its own. */
static void given_one_yields(struct suite *suite, enum culex_run_event event, int64_t delay_ms)
{
    struct culex_new_run run = replacing(suite, 0, "{\"n\":1}");
    struct culex_new_run last = replacing(suite, 0, "{\"n\":2}");
    culex_uuid id = suite_put_run(suite, &run);
    uint32_t attempt = suite_take(suite, ANN, id);
    suite_end(suite, ANN, id, attempt, event, delay_ms);
    culex_uuid own = suite_put_run(suite, &last);
    assert_false(suite_same_id(own, id));
    struct culex_new_run newer = replacing(suite, 0, "{\"n\":3}");
    assert_outcome(suite, &newer, CULEX_ENQUEUED_REPLACED, own);
    suite_take(suite, ANN, own);
    assert_payload(suite, "{\"n\":3}");
    suite->now_ms += delay_ms;
    suite_take(suite, ANN, id);
    assert_payload(suite, "{\"n\":1}");
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
}

void case_unique__given_run_leaves_its_key_to_the_last_one(struct suite *suite)
{
    given_one_yields(suite, CULEX_EVENT_RELEASE, SUITE_SECOND_MS);
    given_one_yields(suite, CULEX_EVENT_FAIL, SUITE_SECOND_MS);
}

/* Of a window there is one run, whatever comes. */
void case_unique__given_run_keeps_its_window(struct suite *suite)
{
    struct culex_new_run run = replacing(suite, 0, "{\"n\":1}");
    run.unique_while = 0;
    run.unique_for_ms = SUITE_MINUTE_MS;
    culex_uuid id = suite_put_run(suite, &run);
    uint32_t attempt = suite_take(suite, ANN, id);
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_RELEASE, 0);
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, id);
}

/* Where the queue is full the one that waits keeps its key. */
void case_unique__given_run_yields_to_nobody_that_is_refused(struct suite *suite)
{
    struct culex_new_run run = replacing(suite, 0, "{\"n\":1}");
    culex_uuid id = suite_put_run(suite, &run);
    uint32_t attempt = suite_take(suite, ANN, id);
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_RELEASE, 0);
    assert_ok(suite->store->ops->limit(suite->store, suite->queue, 1, NULL));
    assert_int_equal(suite_try(suite, &run).outcome, CULEX_ENQUEUED_FULL);
    assert_ok(suite->store->ops->limit(suite->store, suite->queue, 0, NULL));
    suite_put_run(suite, &run);
}

void case_unique__replaces_twice_in_one_batch(struct suite *suite)
{
    struct culex_new_run runs[3] = {replacing(suite, 0, "{\"n\":1}"),
                                    replacing(suite, 3000, "{\"n\":2}"),
                                    replacing(suite, 2000, "{\"n\":3}")};
    struct culex_enqueue_result results[3];
    suite_put_many(suite, runs, 3, results);
    assert_int_equal(results[0].outcome, CULEX_ENQUEUED_NEW);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(results[i].outcome, CULEX_ENQUEUED_REPLACED);
        assert_true(suite_same_id(results[i].id, results[0].id));
    }
    suite->now_ms += 1999;
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
    suite->now_ms += 1;
    suite_take(suite, ANN, results[0].id);
    assert_payload(suite, "{\"n\":3}");
}

void case_unique__repeated_call_replaces_once(struct suite *suite)
{
    struct culex_new_run first = replacing(suite, 5000, "{\"n\":1}");
    struct culex_new_run second = replacing(suite, 5000, "{\"n\":2}");
    struct culex_new_run last = replacing(suite, 5000, "{\"n\":3}");
    culex_uuid id = suite_put_run(suite, &first);
    struct culex_ticket ticket = suite_ticket(suite);
    struct culex_enqueue_result result;
    assert_ok(suite_call(suite, &ticket, &second, 1, &result));
    assert_int_equal(result.outcome, CULEX_ENQUEUED_REPLACED);
    assert_outcome(suite, &last, CULEX_ENQUEUED_REPLACED, id);
    assert_ok(suite_call(suite, &ticket, &second, 1, &result));
    assert_int_equal(result.outcome, CULEX_ENQUEUED_REPLACED);
    assert_true(suite_same_id(result.id, id));
    suite->now_ms += 5000;
    suite_take(suite, ANN, id);
    assert_payload(suite, "{\"n\":3}");
}

void case_unique__replacing_begins_the_window_anew(struct suite *suite)
{
    struct culex_new_run run = replacing(suite, 5000, "{}");
    run.unique_while = 0;
    run.unique_for_ms = 8000;
    culex_uuid id = suite_put_run(suite, &run);
    suite->now_ms += 4000;
    assert_outcome(suite, &run, CULEX_ENQUEUED_REPLACED, id);
    suite->now_ms += 7999;
    suite_take(suite, ANN, id);
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, id);
    suite->now_ms += 1;
    suite_put_run(suite, &run);
}

void case_unique__tick_replaces_the_holder(struct suite *suite)
{
    struct culex_new_run waiting = replacing(suite, 60000, "{\"n\":1}");
    struct culex_new_run periodic = replacing(suite, 0, "{\"n\":2}");
    culex_uuid id = suite_put_run(suite, &waiting);
    struct culex_tick tick = {
        .queue = suite->queue, .schedule = "report", .interval_ms = 60000, .run = &periodic};
    struct culex_tick_reply reply;
    assert_ok(suite->store->ops->tick(suite->store, &tick, &reply, NULL));
    assert_true(reply.is_enqueued);
    suite_take(suite, ANN, id);
    assert_payload(suite, "{\"n\":2}");
}

static void refused(struct suite *suite, const struct culex_new_run *run, const char *text)
{
    culex_error error;
    struct culex_enqueue_result result;
    assert_int_equal(
        suite->store->ops->enqueue(suite->store, suite->queue, NULL, run, 1, &result, &error),
        CULEX_EINVAL);
    assert_non_null(strstr(error.text, text));
}

void case_unique__states_and_window_have_bounds(struct suite *suite)
{
    struct culex_new_run run = unique(suite, 0, 0);
    refused(suite, &run, "needs states that keep it, or a window");
    run = unique(suite, 1u << CULEX_RUN_DONE, 0);
    refused(suite, &run, "in no other state");
    run = unique(suite, 0, -1);
    refused(suite, &run, "1 ms to 30 days");
    run = unique(suite, 0, CULEX_STORE_UNIQUE_FOR_MAX_MS + 1);
    refused(suite, &run, "1 ms to 30 days");
    run.unique_for_ms--;
    suite_put_run(suite, &run);
}
