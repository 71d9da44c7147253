/* suite/cases_fsck.c - FSCK of a sound queue, and what it answers in all stores. */
#include "suite.h"

#include "cases.h"

/* What FSCK damages and repairs is each store's own: see tests/stores/fsck. Here is what holds for
 * all. */

static void assert_sound(struct suite *suite, uint64_t records)
{
    for (int is_repairing = 0; is_repairing < 2; is_repairing++) {
        culex_fsck_counts counts = suite_fsck(suite, is_repairing != 0);
        assert_int_equal(counts.records, records);
        assert_int_equal(counts.wrong, 0);
        assert_int_equal(counts.damaged, 0);
    }
}

void case_fsck__unknown_queue_has_nothing(struct suite *suite)
{
    assert_sound(suite, 0);
}

void case_fsck__sound_queue_counts_its_records(struct suite *suite)
{
    struct culex_new_run delayed = suite_run(suite), unique = suite_run(suite);
    delayed.delay_ms = 5000;
    unique.unique_key = "aa";
    suite_put_run(suite, &delayed);
    suite_put_run(suite, &unique);
    culex_uuid done = suite_put(suite), dead = suite_put(suite), freed = suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, 9), 4);
    suite_end(suite, ANN, done, 1, CULEX_EVENT_DONE, 0);
    suite_end(suite, ANN, dead, 1, CULEX_EVENT_DISCARD, 0);
    suite_end(suite, ANN, freed, 1, CULEX_EVENT_RELEASE, 0);
    suite_cancel(suite, suite_put(suite));
    assert_sound(suite, 6);
    suite_pass(suite, 5000);
    assert_sound(suite, 6);
    assert_int_equal(suite_claim(suite, BOB, 9), 2);
}

void case_fsck__other_queues_do_not_count(struct suite *suite)
{
    suite_put(suite);
    snprintf(suite->queue, sizeof suite->queue, "post");
    suite_put(suite);
    suite_put(suite);
    assert_sound(suite, 2);
}

void case_fsck__moving_runs_are_not_wrong(struct suite *suite)
{
    struct culex_fsck_reply reply = {.cursor = 0};
    for (int i = 0; i < 300; i++)
        suite_put(suite);
    for (int calls = 0; calls == 0 || reply.cursor != 0; calls++) {
        assert_ok(suite->store->ops->fsck(suite->store, suite->queue, reply.cursor, calls % 2 == 0,
                                          &reply, NULL));
        assert_int_equal(reply.counts.wrong, 0);
        assert_int_equal(reply.counts.damaged, 0);
        assert_int_equal(suite_claim(suite, ANN, 3), 3);
        suite_end(suite, ANN, suite->reply.grants[1].facts.id, 1, CULEX_EVENT_RELEASE, 0);
        suite_put(suite);
        suite_cancel(suite, suite_put(suite));
    }
    assert_int_equal(suite_fsck(suite, true).wrong, 0);
}

/* A run whose key another one took while it had expired, by a clock that was set back since: it
 * goes on without, until nobody else holds it. */
void case_fsck__key_of_a_run_that_had_expired_is_not_wrong(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.unique_key = "aa";
    run.unique_while = CULEX_UNIQUE_LIVE;
    run.expires_ms = 1000;
    culex_uuid first = suite_put_run(suite, &run);
    suite->now_ms += 2000;
    run.expires_ms = 0;
    culex_uuid second = suite_put_run(suite, &run);
    suite->now_ms -= 1500;
    assert_sound(suite, 2);
    uint32_t attempt = suite_take(suite, ANN, first);
    assert_sound(suite, 2);
    suite_end(suite, ANN, first, attempt, CULEX_EVENT_FAIL, 5000);
    assert_sound(suite, 2);
    suite_cancel(suite, second);
    assert_sound(suite, 2);
    suite_pass(suite, 5000);
    attempt = suite_take(suite, ANN, first);
    assert_sound(suite, 2);
    assert_int_equal(suite_try(suite, &run).outcome, CULEX_ENQUEUED_NEW);
    suite_end(suite, ANN, first, attempt, CULEX_EVENT_RELEASE, 0);
    assert_sound(suite, 3);
}
