/* suite/cases_key.c - idempotency keys: one run for each, for as long as was asked. */
#include "suite.h"

#include "cases.h"

enum { WINDOW_MS = 5 * SUITE_MINUTE_MS };

static struct culex_new_run keyed(struct suite *suite, const char *key)
{
    struct culex_new_run run = suite_run(suite);
    run.idempotency_key = key;
    run.window_ms = WINDOW_MS;
    return run;
}

static void assert_outcome(struct suite *suite, const struct culex_new_run *run,
                           enum culex_enqueued outcome, culex_uuid id)
{
    struct culex_enqueue_result result = suite_try(suite, run);
    assert_int_equal(result.outcome, outcome);
    assert_true(suite_same_id(result.id, id));
}

void case_key__second_run_is_a_duplicate_of_the_first(struct suite *suite)
{
    struct culex_new_run run = keyed(suite, "order 7");
    run.keep_success_ms = SUITE_SECOND_MS;
    culex_uuid id = suite_put_run(suite, &run);
    assert_outcome(suite, &run, CULEX_ENQUEUED_DUPLICATE, id);
    uint32_t attempt = suite_take(suite, ANN, id);
    assert_outcome(suite, &run, CULEX_ENQUEUED_DUPLICATE, id);
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0);
    assert_state(suite, id, CULEX_RUN_DONE);
    assert_outcome(suite, &run, CULEX_ENQUEUED_DUPLICATE, id);
    suite_pass(suite, SUITE_SECOND_MS);
    assert_null(suite_get(suite, id));
    assert_outcome(suite, &run, CULEX_ENQUEUED_DUPLICATE, id);
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
    assert_int_equal(suite_stats(suite).enqueued, 1);
}

void case_key__outlives_its_run_however_that_ends(struct suite *suite)
{
    struct culex_new_run deleted = keyed(suite, "deleted"), purged = keyed(suite, "purged");
    struct culex_new_run dead = keyed(suite, "dead");
    culex_uuid deleted_id = suite_put_run(suite, &deleted);
    suite_cancel(suite, deleted_id);
    assert_outcome(suite, &deleted, CULEX_ENQUEUED_DUPLICATE, deleted_id);
    assert_ok(suite->store->ops->forget(suite->store, suite->queue, deleted_id, NULL));
    assert_outcome(suite, &deleted, CULEX_ENQUEUED_DUPLICATE, deleted_id);
    culex_uuid purged_id = suite_put_run(suite, &purged);
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 9), 1);
    assert_outcome(suite, &purged, CULEX_ENQUEUED_DUPLICATE, purged_id);
    culex_uuid dead_id = suite_put_run(suite, &dead);
    suite_end(suite, ANN, dead_id, suite_take(suite, ANN, dead_id), CULEX_EVENT_DISCARD, 0);
    assert_outcome(suite, &dead, CULEX_ENQUEUED_DUPLICATE, dead_id);
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
}

void case_key__with_other_content_is_a_conflict(struct suite *suite)
{
    struct culex_new_run run = keyed(suite, "order 7"), other = run;
    culex_uuid id = suite_put_run(suite, &run);
    other.content ^= 1;
    assert_outcome(suite, &other, CULEX_ENQUEUED_CONFLICT, id);
    other.content ^= 1 | UINT64_C(1) << 63; /* both ends of the hash count */
    assert_outcome(suite, &other, CULEX_ENQUEUED_CONFLICT, id);
    suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_DONE, 0);
    assert_outcome(suite, &other, CULEX_ENQUEUED_CONFLICT, id);
    assert_outcome(suite, &run, CULEX_ENQUEUED_DUPLICATE, id);
}

/* Nothing but the content is compared. */
void case_key__takes_another_delay_for_the_same(struct suite *suite)
{
    struct culex_new_run run = keyed(suite, "order 7"), other = run;
    culex_uuid id = suite_put_run(suite, &run);
    other.delay_ms = 5000;
    other.priority = 9 - run.priority;
    other.tags = "late";
    assert_outcome(suite, &other, CULEX_ENQUEUED_DUPLICATE, id);
    assert_state(suite, id, CULEX_RUN_WAITING);
    assert_string_equal(suite_get(suite, id)->tags, "");
}

/* Steps that forget what is over make no difference. */
static void assert_window(struct suite *suite, const char *key, int64_t window_ms, bool has_steps)
{
    struct culex_new_run run = keyed(suite, key);
    run.window_ms = window_ms;
    culex_uuid id = suite_put_run(suite, &run);
    suite->now_ms += window_ms - 1;
    if (has_steps)
        suite_pass(suite, 0);
    assert_outcome(suite, &run, CULEX_ENQUEUED_DUPLICATE, id);
    suite->now_ms += 1;
    if (has_steps)
        suite_pass(suite, 0);
    assert_false(suite_same_id(suite_put_run(suite, &run), id));
}

void case_key__is_remembered_for_its_window(struct suite *suite)
{
    static const int64_t windows_ms[] = {1, 1000, WINDOW_MS, INT64_C(30) * 86400000};
    for (size_t i = 0; i < sizeof windows_ms / sizeof windows_ms[0]; i++) {
        char key[16];
        snprintf(key, sizeof key, "key %zu", i);
        assert_window(suite, key, windows_ms[i], false);
        suite->now_ms += windows_ms[i];
        assert_window(suite, key, windows_ms[i], true);
        suite->now_ms += windows_ms[i];
    }
}

void case_key__window_counts_from_the_first_run(struct suite *suite)
{
    struct culex_new_run run = keyed(suite, "order 7"), longer = run, other = run;
    culex_uuid id = suite_put_run(suite, &run);
    longer.window_ms = 10 * WINDOW_MS;
    other.window_ms = 10 * WINDOW_MS;
    other.content++;
    suite->now_ms += WINDOW_MS - 1;
    assert_outcome(suite, &longer, CULEX_ENQUEUED_DUPLICATE, id);
    assert_outcome(suite, &other, CULEX_ENQUEUED_CONFLICT, id);
    suite->now_ms += 1;
    culex_uuid second = suite_put_run(suite, &other);
    suite->now_ms += 10 * WINDOW_MS - 1;
    assert_outcome(suite, &run, CULEX_ENQUEUED_CONFLICT, second);
    suite->now_ms += 1;
    suite_put_run(suite, &run);
}

void case_key__is_known_after_the_clock_was_set_back(struct suite *suite)
{
    struct culex_new_run run = keyed(suite, "order 7");
    culex_uuid id = suite_put_run(suite, &run);
    suite->now_ms -= 86400000;
    assert_outcome(suite, &run, CULEX_ENQUEUED_DUPLICATE, id);
}

void case_key__counts_within_its_batch(struct suite *suite)
{
    struct culex_new_run runs[4] = {keyed(suite, "a"), keyed(suite, "b"), keyed(suite, "a"),
                                    keyed(suite, "a")};
    struct culex_enqueue_result results[4];
    runs[2].content = runs[0].content;
    suite_put_many(suite, runs, 4, results);
    assert_int_equal(results[0].outcome, CULEX_ENQUEUED_NEW);
    assert_int_equal(results[1].outcome, CULEX_ENQUEUED_NEW);
    assert_int_equal(results[2].outcome, CULEX_ENQUEUED_DUPLICATE);
    assert_int_equal(results[3].outcome, CULEX_ENQUEUED_CONFLICT);
    assert_true(suite_same_id(results[2].id, results[0].id));
    assert_true(suite_same_id(results[3].id, results[0].id));
    assert_int_equal(suite_claim(suite, ANN, 9), 2);
}

void case_key__comes_before_unique_key_and_limit(struct suite *suite)
{
    struct culex_new_run run = keyed(suite, "order 7"), other, holder = suite_run(suite);
    run.unique_key = holder.unique_key = "ab";
    culex_uuid id = suite_put_run(suite, &run);
    assert_outcome(suite, &run, CULEX_ENQUEUED_DUPLICATE, id);
    suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_DONE, 0);
    culex_uuid holder_id = suite_put_run(suite, &holder);
    assert_ok(suite->store->ops->limit(suite->store, suite->queue, 1, NULL));
    assert_outcome(suite, &run, CULEX_ENQUEUED_DUPLICATE, id);
    other = run, other.content++;
    assert_outcome(suite, &other, CULEX_ENQUEUED_CONFLICT, id);
    /* Without the key: the unique key comes before the limit. */
    run.idempotency_key = NULL;
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, holder_id);
    run.unique_key = NULL;
    assert_outcome(suite, &run, CULEX_ENQUEUED_FULL, (culex_uuid){{0}});
}

void case_key__of_a_refused_run_is_not_remembered(struct suite *suite)
{
    struct culex_new_run run = keyed(suite, "order 7"), holder = suite_run(suite);
    run.unique_key = holder.unique_key = "ab";
    culex_uuid id = suite_put_run(suite, &holder);
    assert_outcome(suite, &run, CULEX_ENQUEUED_UNIQUE_TAKEN, id);
    run.unique_key = NULL;
    assert_ok(suite->store->ops->limit(suite->store, suite->queue, 1, NULL));
    assert_outcome(suite, &run, CULEX_ENQUEUED_FULL, (culex_uuid){{0}});
    assert_ok(suite->store->ops->limit(suite->store, suite->queue, 0, NULL));
    suite_put_run(suite, &run);
}

void case_key__is_another_in_another_queue(struct suite *suite)
{
    struct culex_new_run run = keyed(suite, "order 7");
    culex_uuid mail = suite_put_run(suite, &run);
    strcpy(suite->queue, "batch");
    culex_uuid batch = suite_put_run(suite, &run);
    assert_outcome(suite, &run, CULEX_ENQUEUED_DUPLICATE, batch);
    strcpy(suite->queue, "mail");
    assert_outcome(suite, &run, CULEX_ENQUEUED_DUPLICATE, mail);
}

/* With a ticket the same call is a repeat; another one meets the key. */
void case_key__leaves_a_repeat_its_answer(struct suite *suite)
{
    struct culex_new_run run = keyed(suite, "order 7");
    struct culex_ticket ticket = suite_ticket(suite);
    struct culex_enqueue_result first, again;
    assert_ok(suite_call(suite, &ticket, &run, 1, &first));
    assert_ok(suite_call(suite, &ticket, &run, 1, &again));
    assert_int_equal(again.outcome, CULEX_ENQUEUED_NEW);
    assert_true(suite_same_id(again.id, first.id));
    assert_outcome(suite, &run, CULEX_ENQUEUED_DUPLICATE, first.id);
    assert_ok(suite_call(suite, NULL, &run, 1, &again));
    assert_int_equal(again.outcome, CULEX_ENQUEUED_DUPLICATE);
}

static void assert_answer(struct suite *suite, struct culex_ticket ticket,
                          const struct culex_new_run *run, enum culex_enqueued outcome,
                          culex_uuid id)
{
    struct culex_enqueue_result result;
    assert_ok(suite_call(suite, &ticket, run, 1, &result));
    assert_int_equal(result.outcome, outcome);
    assert_true(suite_same_id(result.id, id));
}

/* It has brought no run. When the key is free, it does, and from then on its repeats hear of that
 * run, whatever it was answered before. */
void case_key__held_off_call_is_judged_anew(struct suite *suite)
{
    struct culex_new_run run = keyed(suite, "order 7");
    struct culex_ticket ticket = suite_ticket(suite);
    struct culex_enqueue_result result;
    culex_uuid first = suite_put_run(suite, &run);
    assert_answer(suite, ticket, &run, CULEX_ENQUEUED_DUPLICATE, first);
    suite->now_ms += WINDOW_MS - 1;
    assert_answer(suite, ticket, &run, CULEX_ENQUEUED_DUPLICATE, first);
    suite->now_ms += 1;
    assert_ok(suite_call(suite, &ticket, &run, 1, &result));
    assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
    assert_false(suite_same_id(result.id, first));
    assert_answer(suite, ticket, &run, CULEX_ENQUEUED_NEW, result.id);
    suite->now_ms += WINDOW_MS;
    assert_answer(suite, ticket, &run, CULEX_ENQUEUED_NEW, result.id);
    assert_int_equal(suite_stats(suite).enqueued, 2);
}

void case_key__is_any_text(struct suite *suite)
{
    static char longest[CULEX_STORE_IDEMPOTENCY_MAX + 1];
    const char *const keys[] = {
        "a",  "A",  " a", "a ",           "a|b", "||", "{mail}", "it's \"50%\"",
        "%b", "\\", "*",  "\xe2\x82\xac", "0",   "-1", "nil",    longest};
    enum { COUNT = sizeof keys / sizeof keys[0] };
    struct culex_new_run runs[COUNT];
    culex_uuid ids[COUNT];
    memset(longest, 'x', sizeof longest - 1);
    for (int i = 0; i < COUNT; i++) {
        runs[i] = keyed(suite, keys[i]);
        ids[i] = suite_put_run(suite, &runs[i]);
    }
    for (int i = 0; i < COUNT; i++)
        assert_outcome(suite, &runs[i], CULEX_ENQUEUED_DUPLICATE, ids[i]);
}

void case_key__that_is_empty_is_none(struct suite *suite)
{
    struct culex_new_run run = keyed(suite, "");
    run.window_ms = 0;
    suite_put_run(suite, &run);
    suite_put_run(suite, &run);
    run.idempotency_key = NULL;
    suite_put_run(suite, &run);
}

/* --- what is kept ----------------------------------------------------------------------------- */

static void keys_put(struct suite *suite, int count)
{
    struct culex_new_run run = keyed(suite, NULL);
    struct culex_enqueue_result result;
    for (int i = 0; i < count; i++) {
        char key[32];
        snprintf(key, sizeof key, "key %llu", (unsigned long long)++suite->serial);
        run.idempotency_key = key;
        assert_ok(suite_call(suite, NULL, &run, 1, &result));
        assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
    }
}

void case_key__idle_worker_forgets_all_whose_window_is_over(struct suite *suite)
{
    keys_put(suite, 300);
    if (suite_remembered(suite) >= 0)
        assert_int_equal(suite_remembered(suite), 300);
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 500), 300);
    suite->now_ms += WINDOW_MS + 2 * SUITE_MINUTE_MS;
    for (int i = 0; i < 20; i++)
        assert_int_equal(suite_claim(suite, ANN, 1), 0);
    if (suite_remembered(suite) >= 0)
        assert_int_equal(suite_remembered(suite), 0);
}

/* Where no worker comes by. */
void case_key__calls_forget_more_than_they_add(struct suite *suite)
{
    for (int round = 0; round < 6; round++) {
        keys_put(suite, 100);
        suite->now_ms += WINDOW_MS + 2 * SUITE_MINUTE_MS;
    }
    keys_put(suite, 100);
    assert_in_range(suite_remembered(suite) + 1, 0, 201);
}
