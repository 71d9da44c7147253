/* suite/cases_operate.c - TICK, the operator's verbs, and what a queue tells of itself. */
#include "suite.h"

#include <poll.h>

#include "cases.h"

/* --- TICK ------------------------------------------------------------------------------- */

static struct culex_tick_reply tick_run(struct suite *suite, const struct culex_new_run *run,
                                        int64_t tick_ms)
{
    struct culex_tick request = {.queue = suite->queue,
                                 .schedule = "shop.sweep",
                                 .tick_ms = tick_ms,
                                 .interval_ms = 60000,
                                 .run = run};
    struct culex_tick_reply reply = {0};
    assert_ok(suite->store->ops->tick(suite->store, &request, &reply, NULL));
    assert_int_equal(reply.now_ms, suite->now_ms);
    return reply;
}

static struct culex_tick_reply tick(struct suite *suite, int64_t tick_ms)
{
    struct culex_new_run run = suite_run(suite);
    return tick_run(suite, &run, tick_ms);
}

/* Runs the one that waits. */
static void finish_newest(struct suite *suite)
{
    assert_int_equal(suite_claim(suite, ANN, 1), 1);
    const struct culex_grant *grant = &suite->reply.grants[0];
    suite_end(suite, ANN, grant->facts.id, grant->facts.attempt, CULEX_EVENT_DONE, 0);
}

void case_tick__once_an_interval_for_many_callers(struct suite *suite)
{
    int64_t began_ms = suite->now_ms;
    for (int interval = 0; interval < 3; interval++) {
        for (int caller = 0; caller < 5; caller++) {
            struct culex_tick_reply reply = tick(suite, began_ms + interval * 60000);
            assert_int_equal(reply.is_enqueued, caller == 0);
            assert_int_equal(reply.mark_ms, began_ms + interval * 60000);
        }
        assert_false(tick(suite, began_ms + interval * 60000 + 59999).is_enqueued);
        suite->now_ms += 60000;
        finish_newest(suite);
    }
    assert_int_equal(suite_stats(suite).enqueued, 3);
    assert_int_equal(suite_stats(suite).done, 3);
}

/* Waiting, at work, waiting for its second attempt: it is one run for all ticks until it ends. */
void case_tick__live_run_stands_for_the_next_ones(struct suite *suite)
{
    assert_true(tick(suite, 0).is_enqueued);
    suite->now_ms += 60000;
    struct culex_tick_reply reply = tick(suite, 0);
    assert_false(reply.is_enqueued);
    assert_int_equal(reply.mark_ms, suite->now_ms);
    assert_int_equal(suite_claim(suite, ANN, 9), 1);
    suite->now_ms += 59999;
    assert_int_equal(tick(suite, 0).mark_ms, suite->now_ms - 59999);
    suite->now_ms += 1;
    assert_false(tick(suite, 0).is_enqueued);
    assert_int_equal(suite_stats(suite).enqueued, 1);
    suite->now_ms += 3600000; /* its lease is over: it is claimed again */
    finish_newest(suite);
    assert_true(tick(suite, 0).is_enqueued);
    assert_int_equal(suite_stats(suite).enqueued, 2);
}

/* Another run holds the unique key. */
void case_tick__refused_run_leaves_the_mark(struct suite *suite)
{
    struct culex_new_run other = suite_run(suite), run = suite_run(suite);
    other.unique_key = run.unique_key = "ab";
    suite_put_run(suite, &other);
    struct culex_tick_reply reply = tick_run(suite, &run, 0);
    assert_false(reply.is_enqueued);
    assert_int_equal(reply.mark_ms, 0);
    finish_newest(suite);
    int64_t began_ms = suite->now_ms;
    assert_true(tick_run(suite, &run, 0).is_enqueued);
    finish_newest(suite);
    suite->now_ms += 3600000;
    suite_put_run(suite, &other);
    reply = tick_run(suite, &run, 0);
    assert_false(reply.is_enqueued);
    assert_int_equal(reply.mark_ms, began_ms);
    finish_newest(suite);
    assert_true(tick(suite, 0).is_enqueued);
}

void case_tick__mark_of_a_clock_ahead_is_taken_over(struct suite *suite)
{
    suite->now_ms += 86400000;
    assert_true(tick(suite, 0).is_enqueued);
    finish_newest(suite);
    suite->now_ms -= 86400000;
    struct culex_tick_reply reply = tick(suite, suite->now_ms - 5000);
    assert_true(reply.is_enqueued);
    assert_int_equal(reply.mark_ms, suite->now_ms);
    finish_newest(suite);
    assert_false(tick(suite, 0).is_enqueued);
    suite->now_ms -= 60000; /* within an interval: late, but soon */
    assert_false(tick(suite, 0).is_enqueued);
    suite->now_ms -= 1;
    assert_true(tick(suite, 0).is_enqueued);
}

void case_tick__later_than_now_counts_as_now(struct suite *suite)
{
    struct culex_tick_reply reply = tick(suite, suite->now_ms + 3600000);
    assert_true(reply.is_enqueued);
    assert_int_equal(reply.mark_ms, suite->now_ms);
}

void case_tick__older_tick_is_ignored(struct suite *suite)
{
    assert_true(tick(suite, suite->now_ms).is_enqueued);
    struct culex_tick_reply reply = tick(suite, suite->now_ms - 3600000);
    assert_false(reply.is_enqueued);
    assert_int_equal(reply.mark_ms, suite->now_ms);
}

void case_tick__without_time_means_now(struct suite *suite)
{
    struct culex_tick_reply reply = tick(suite, 0);
    assert_true(reply.is_enqueued);
    assert_int_equal(reply.mark_ms, suite->now_ms);
    finish_newest(suite);
    suite->now_ms += 59999;
    assert_false(tick(suite, 0).is_enqueued);
    suite->now_ms += 1;
    assert_true(tick(suite, 0).is_enqueued);
}

/* Of a schedule whose ticks are at uneven distances, the next one in an hour. */
static struct culex_tick_reply tick_by_calendar(struct suite *suite, int64_t tick_ms, bool has_run,
                                                bool may_overlap)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_tick request = {.queue = suite->queue,
                                 .schedule = "shop.nightly",
                                 .tick_ms = tick_ms,
                                 .interval_ms = 3600000,
                                 .is_of_calendar = true,
                                 .may_overlap = may_overlap,
                                 .run = has_run ? &run : NULL};
    struct culex_tick_reply reply = {0};
    assert_ok(suite->store->ops->tick(suite->store, &request, &reply, NULL));
    return reply;
}

void case_tick__by_the_calendar_is_due_after_the_mark(struct suite *suite)
{
    int64_t began_ms = suite->now_ms;
    for (int caller = 0; caller < 3; caller++)
        assert_int_equal(tick_by_calendar(suite, began_ms - 5000, true, false).is_enqueued,
                         caller == 0);
    finish_newest(suite);
    struct culex_tick_reply reply = tick_by_calendar(suite, began_ms - 5001, true, false);
    assert_false(reply.is_enqueued);
    assert_int_equal(reply.mark_ms, began_ms - 5000);
    reply = tick_by_calendar(suite, began_ms - 4999, true, false);
    assert_true(reply.is_enqueued);
    assert_int_equal(reply.mark_ms, began_ms - 4999);
    assert_false(tick_by_calendar(suite, began_ms - 4000, true, false).is_enqueued);
    finish_newest(suite);
    assert_true(tick_by_calendar(suite, began_ms, true, false).is_enqueued);
    assert_int_equal(tick_by_calendar(suite, began_ms - 4000, true, false).mark_ms, began_ms);
}

/* Or it would be taken twice: a little early, and at its time. */
void case_tick__by_the_calendar_is_not_due_before_its_time(struct suite *suite)
{
    struct culex_tick_reply reply = tick_by_calendar(suite, suite->now_ms + 1, true, false);
    assert_false(reply.is_enqueued);
    assert_int_equal(reply.mark_ms, 0);
    assert_int_equal(tick_by_calendar(suite, suite->now_ms + 1, false, false).mark_ms, 0);
    assert_true(tick_by_calendar(suite, suite->now_ms, true, false).is_enqueued);
    finish_newest(suite);
    assert_int_equal(tick_by_calendar(suite, suite->now_ms + 1, true, false).mark_ms,
                     suite->now_ms);
    suite->now_ms++;
    assert_true(tick_by_calendar(suite, suite->now_ms, true, false).is_enqueued);
}

/* Ticks of the calendar stay where they are, whatever the clock did. */
void case_tick__by_the_calendar_takes_over_a_mark_ahead(struct suite *suite)
{
    suite->now_ms += 86400000;
    assert_true(tick_by_calendar(suite, 0, true, false).is_enqueued);
    finish_newest(suite);
    suite->now_ms -= 3600000; /* as far as to the next tick: late, but soon */
    assert_false(tick_by_calendar(suite, suite->now_ms - 5000, true, false).is_enqueued);
    suite->now_ms -= 1;
    struct culex_tick_reply reply = tick_by_calendar(suite, suite->now_ms - 5000, true, false);
    assert_true(reply.is_enqueued);
    assert_int_equal(reply.mark_ms, suite->now_ms - 5000);
    finish_newest(suite);
    assert_false(tick_by_calendar(suite, suite->now_ms - 5000, true, false).is_enqueued);
}

void case_tick__overlapping_run_stands_for_no_other(struct suite *suite)
{
    int64_t began_ms = suite->now_ms;
    assert_true(tick_by_calendar(suite, began_ms - 3, true, true).is_enqueued);
    assert_true(tick_by_calendar(suite, began_ms - 2, true, true).is_enqueued);
    assert_int_equal(suite_claim(suite, ANN, 9), 2);
    assert_false(tick_by_calendar(suite, began_ms - 1, true, false).is_enqueued);
    assert_true(tick_by_calendar(suite, began_ms, true, true).is_enqueued);
    assert_false(tick_by_calendar(suite, began_ms, true, true).is_enqueued);
    assert_int_equal(suite_stats(suite).enqueued, 3);
}

/* So that a tick is known as missed, if nobody is there when it is due. */
void case_tick__without_a_run_begins_the_schedule(struct suite *suite)
{
    int64_t began_ms = suite->now_ms;
    struct culex_tick_reply reply = tick_by_calendar(suite, 0, false, false);
    assert_false(reply.is_enqueued);
    assert_int_equal(reply.mark_ms, began_ms);
    suite->now_ms += 7200000;
    assert_int_equal(tick_by_calendar(suite, 0, false, false).mark_ms, began_ms);
    assert_false(tick_by_calendar(suite, began_ms, true, false).is_enqueued);
    assert_true(tick_by_calendar(suite, began_ms + 3600000, true, false).is_enqueued);
    assert_int_equal(suite_stats(suite).enqueued, 1);
    suite->now_ms -= 86400000;
    assert_int_equal(tick_by_calendar(suite, 0, false, false).mark_ms, began_ms + 3600000);
}

/* --- CANCEL, RETRY, DELETE ------------------------------------------------------------------ */

static culex_status cancel(struct suite *suite, culex_uuid id, culex_run_state *ret_state)
{
    *ret_state = CULEX_RUN_STATE_COUNT;
    return suite->store->ops->cancel(suite->store, suite->queue, id, ret_state, NULL);
}

void case_cancel__scheduled_and_waiting_at_once(struct suite *suite)
{
    struct culex_new_run delayed = suite_run(suite);
    delayed.delay_ms = 5000;
    culex_uuid delayed_id = suite_put_run(suite, &delayed);
    culex_uuid id = suite_put(suite);
    culex_run_state state;
    assert_ok(cancel(suite, id, &state));
    assert_int_equal(state, CULEX_RUN_CANCELLED);
    assert_ok(cancel(suite, delayed_id, &state));
    assert_int_equal(state, CULEX_RUN_CANCELLED);
    suite->now_ms += 6000;
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
    assert_true(suite->reply.is_empty);
    assert_int_equal(suite_stats(suite).cancelled, 2);
    assert_state(suite, id, CULEX_RUN_CANCELLED);
}

void case_cancel__active_is_flagged(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    suite_take(suite, ANN, id);
    for (int i = 0; i < 2; i++) {
        culex_run_state state;
        assert_ok(cancel(suite, id, &state));
        assert_int_equal(state, CULEX_RUN_ACTIVE);
        assert_true(suite_get(suite, id)->cancel_requested);
    }
    assert_int_equal(suite_stats(suite).cancelled, 0);
}

void case_cancel__final_or_unknown_is_refused(struct suite *suite)
{
    culex_run_state state;
    assert_int_equal(cancel(suite, suite_id(suite), &state), CULEX_ENOTFOUND);
    culex_uuid id = suite_put(suite);
    assert_ok(cancel(suite, id, &state));
    assert_int_equal(cancel(suite, id, &state), CULEX_ESTATE);
    assert_int_equal(state, CULEX_RUN_STATE_COUNT); /* outputs are set on success only */
}

static culex_status retry(struct suite *suite, culex_uuid id)
{
    return suite->store->ops->retry(suite->store, suite->queue, id, NULL);
}

void case_retry__dead_run_starts_afresh(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.attempts_max = 2;
    culex_uuid id = suite_put_run(suite, &run);
    for (int i = 0; i < 2; i++)
        suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_FAIL, 0);
    assert_state(suite, id, CULEX_RUN_DEAD);
    assert_int_equal(retry(suite, suite_id(suite)), CULEX_ENOTFOUND);
    assert_ok(retry(suite, id));
    assert_int_equal(retry(suite, id), CULEX_ESTATE);
    const culex_run_info *info = suite_get(suite, id);
    assert_int_equal(info->state, CULEX_RUN_WAITING);
    assert_int_equal(info->failures, 0);
    assert_int_equal(info->attempt, 2);
    assert_int_equal(suite_take(suite, ANN, id), 3); /* the fence never goes back */
    assert_memory_equal(suite->reply.grants[0].payload, "{}", 2);
    suite_end(suite, ANN, id, 3, CULEX_EVENT_FAIL, 1000);
    assert_state(suite, id, CULEX_RUN_SCHEDULED);
}

void case_retry__refused_while_another_run_has_the_unique_key(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite), other = suite_run(suite);
    run.unique_key = other.unique_key = "0123456789abcdef";
    culex_uuid id = suite_put_run(suite, &run);
    suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_DISCARD, 0);
    culex_uuid other_id = suite_put_run(suite, &other);
    assert_int_equal(retry(suite, id), CULEX_EUNIQUE);
    assert_state(suite, id, CULEX_RUN_DEAD);
    suite_cancel(suite, other_id);
    assert_ok(retry(suite, id));
    assert_int_equal(suite_enqueue(suite, &other), CULEX_ENQUEUED_UNIQUE_TAKEN);
}

/* It would not take the key again while it waits: somebody else may have it. */
void case_retry__key_that_waiting_runs_do_not_keep_refuses_nobody(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite), other = suite_run(suite);
    run.unique_key = other.unique_key = "0123456789abcdef";
    run.unique_while = 1u << CULEX_RUN_ACTIVE;
    culex_uuid id = suite_put_run(suite, &run);
    suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_DISCARD, 0);
    suite_put_run(suite, &other);
    assert_ok(retry(suite, id));
    assert_state(suite, id, CULEX_RUN_WAITING);
    assert_int_equal(suite_enqueue(suite, &other), CULEX_ENQUEUED_UNIQUE_TAKEN);
}

void case_retry__expired_run_may_start(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.expires_ms = 1000;
    culex_uuid id = suite_put_run(suite, &run);
    suite->now_ms += 2000;
    assert_int_equal(suite_claim(suite, ANN, 1), 0);
    assert_ok(retry(suite, id));
    suite_take(suite, ANN, id);
}

void case_forget__final_runs_only(struct suite *suite)
{
    const struct culex_store_ops *ops = suite->store->ops;
    culex_uuid id = suite_put(suite);
    assert_int_equal(ops->forget(suite->store, suite->queue, id, NULL), CULEX_ESTATE);
    uint32_t attempt = suite_take(suite, ANN, id);
    assert_int_equal(ops->forget(suite->store, suite->queue, id, NULL), CULEX_ESTATE);
    suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0);
    assert_ok(ops->forget(suite->store, suite->queue, id, NULL));
    assert_null(suite_get(suite, id));
    assert_int_equal(ops->forget(suite->store, suite->queue, id, NULL), CULEX_ENOTFOUND);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_DONE], 0);
}

/* --- MOVE ------------------------------------------------------------------------------------ */

static culex_status move(struct suite *suite, culex_uuid id, struct culex_place place)
{
    return suite->store->ops->move(suite->store, suite->queue, id, &place, NULL);
}

static const struct culex_place now_place = {.has_time = true, .priority = -1};

static struct culex_place later(int64_t delay_ms)
{
    return (struct culex_place){.has_time = true, .delay_ms = delay_ms, .priority = -1};
}

static struct culex_place ranked(int priority)
{
    return (struct culex_place){.priority = priority};
}

static culex_uuid put_delayed(struct suite *suite, int64_t delay_ms)
{
    struct culex_new_run run = suite_run(suite);
    run.delay_ms = delay_ms;
    return suite_put_run(suite, &run);
}

/* With something that makes it a run of its own from the first. */
static culex_uuid put_odd(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.expires_ms = SUITE_MINUTE_MS;
    return suite_put_run(suite, &run);
}

/* Each kind of waiting run, as stores keep it. */
static void waiting_put(struct suite *suite, culex_uuid ret_ids[4])
{
    ret_ids[0] = suite_put(suite);
    ret_ids[1] = put_odd(suite);
    ret_ids[2] = suite_put(suite);
    suite_end(suite, ANN, ret_ids[0], suite_take(suite, ANN, ret_ids[0]), CULEX_EVENT_RELEASE, 0);
    ret_ids[3] = put_delayed(suite, 1);
    suite->now_ms++;
    suite_pass(suite, 0);
}

void case_move__waiting_run_is_put_off(struct suite *suite)
{
    culex_uuid ids[4];
    waiting_put(suite, ids);
    for (int i = 0; i < 4; i++) {
        for (int again = 0; again < 2; again++) {
            assert_ok(move(suite, ids[i], later(5000)));
            assert_state(suite, ids[i], CULEX_RUN_SCHEDULED);
            assert_int_equal(suite_get(suite, ids[i])->at_ms, suite->now_ms + 5000);
        }
    }
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_SCHEDULED], 4);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], 0);
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
    assert_int_equal(suite->reply.due_in_ms, 5000);
    suite->now_ms += 5000;
    assert_int_equal(suite_claim(suite, ANN, 9), 4);
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
}

/* It comes back to where it came from, and is granted once. */
void case_move__run_that_was_put_off_is_granted_once(struct suite *suite)
{
    culex_uuid ids[4];
    waiting_put(suite, ids);
    for (int i = 0; i < 4; i++) {
        assert_ok(move(suite, ids[i], later(5000)));
        assert_ok(move(suite, ids[i], now_place));
        assert_state(suite, ids[i], CULEX_RUN_WAITING);
    }
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], 4);
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
    assert_int_equal(suite_claim(suite, ANN, 2), 2);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], 2);
    assert_int_equal(suite_claim(suite, BOB, 9), 2);
    assert_int_equal(suite_claim(suite, BOB, 9), 0);
    assert_true(suite_stats(suite).count[CULEX_RUN_WAITING] == 0);
}

/* One that failed after it was moved waits in one place only. */
void case_move__moved_run_that_fails_is_granted_once(struct suite *suite)
{
    culex_uuid other = put_odd(suite), id = put_odd(suite);
    assert_ok(move(suite, id, later(1000)));
    assert_ok(move(suite, id, now_place));
    assert_int_equal(suite_claim(suite, ANN, 2), 2);
    suite_end(suite, ANN, id, 1, CULEX_EVENT_RELEASE, 0);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], 1);
    assert_int_equal(suite_claim(suite, BOB, 9), 1);
    assert_true(suite_same_id(suite->reply.grants[0].facts.id, id));
    assert_int_equal(suite_claim(suite, BOB, 9), 0);
    suite_end(suite, ANN, other, 1, CULEX_EVENT_DONE, 0);
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
}

void case_move__scheduled_run_gets_another_time(struct suite *suite)
{
    culex_uuid id = put_delayed(suite, 5000), other = put_delayed(suite, 6000);
    assert_ok(move(suite, id, later(9000)));
    assert_int_equal(suite_get(suite, id)->at_ms, suite->now_ms + 9000);
    struct culex_place at = {.has_time = true, .at_ms = suite->now_ms + 7000, .priority = -1};
    assert_ok(move(suite, id, at));
    assert_int_equal(suite_get(suite, id)->at_ms, suite->now_ms + 7000);
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
    assert_int_equal(suite->reply.due_in_ms, 6000);
    suite->now_ms += 6999;
    suite_take(suite, ANN, other);
    suite->now_ms++;
    suite_take(suite, ANN, id);
}

void case_move__scheduled_run_is_due_now(struct suite *suite)
{
    culex_uuid id = put_delayed(suite, 5000), waiting = suite_put(suite), third;
    struct culex_place past = {.has_time = true, .at_ms = suite->now_ms - 5000, .priority = -1};
    suite->now_ms++;
    assert_ok(move(suite, id, past));
    assert_state(suite, id, CULEX_RUN_WAITING);
    suite->now_ms++;
    third = suite_put(suite);
    suite_take(suite, ANN, waiting);
    assert_ok(move(suite, id, now_place)); /* it waits already, and stays where it is */
    suite_take(suite, ANN, id);
    suite_take(suite, ANN, third);
}

/* Within its new priority it stands by its age. */
void case_move__priority_changes_and_age_stays(struct suite *suite)
{
    culex_uuid ids[3];
    for (int i = 0; i < 3; i++) {
        ids[i] = suite_put(suite);
        suite->now_ms++;
    }
    assert_ok(move(suite, ids[1], ranked(9)));
    assert_int_equal(suite_get(suite, ids[1])->priority, 9);
    assert_state(suite, ids[1], CULEX_RUN_WAITING);
    assert_ok(move(suite, ids[2], ranked(9)));
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
    suite_take(suite, ANN, ids[1]);
    assert_ok(move(suite, ids[2], ranked(suite->priority)));
    suite_take(suite, ANN, ids[0]);
    suite_take(suite, ANN, ids[2]);
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
}

void case_move__scheduled_run_gets_another_priority(struct suite *suite)
{
    culex_uuid first = put_delayed(suite, 4000), id = put_delayed(suite, 5000);
    assert_ok(move(suite, id, ranked(9)));
    assert_state(suite, id, CULEX_RUN_SCHEDULED);
    assert_int_equal(suite_get(suite, id)->at_ms, suite->now_ms + 5000);
    assert_ok(move(suite, first, ranked(1)));
    assert_ok(move(suite, first, ranked(0)));
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
    suite->now_ms += 5000;
    assert_ok(move(suite, id, ranked(8))); /* due, and nobody has looked */
    suite_take(suite, ANN, id);
    suite_take(suite, ANN, first);
}

void case_move__both_at_once(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    struct culex_place place = {.has_time = true, .delay_ms = 3000, .priority = 7};
    assert_ok(move(suite, id, place));
    assert_int_equal(suite_get(suite, id)->priority, 7);
    assert_state(suite, id, CULEX_RUN_SCHEDULED);
    assert_memory_equal(suite_get(suite, id)->payload.data, "{}", 2);
    suite->now_ms += 3000;
    suite_take(suite, ANN, id);
    assert_memory_equal(suite->reply.grants[0].payload, "{}", 2);
}

void case_move__others_are_refused(struct suite *suite)
{
    culex_error error = {0};
    culex_uuid id = suite_put(suite);
    assert_int_equal(move(suite, suite_id(suite), now_place), CULEX_ENOTFOUND);
    suite_take(suite, ANN, id);
    struct culex_place place = ranked(9);
    assert_int_equal(suite->store->ops->move(suite->store, suite->queue, id, &place, &error),
                     CULEX_ESTATE);
    assert_string_equal(error.text,
                        "the run is active: only one that is scheduled or waiting can be moved");
    assert_int_equal(suite_get(suite, id)->priority, suite->priority);
    suite_end(suite, ANN, id, 1, CULEX_EVENT_DONE, 0);
    assert_int_equal(move(suite, id, later(1000)), CULEX_ESTATE);
    id = suite_put(suite);
    suite_cancel(suite, id);
    assert_int_equal(move(suite, id, now_place), CULEX_ESTATE);
}

void case_move__expiry_moves_along(struct suite *suite)
{
    culex_uuid id = put_odd(suite);
    int64_t expires_ms = suite_get(suite, id)->expires_at_ms;
    suite->now_ms += 1000;
    assert_ok(move(suite, id, later(7000)));
    assert_int_equal(suite_get(suite, id)->expires_at_ms, expires_ms + 7000);
    assert_ok(move(suite, id, later(9000)));
    assert_int_equal(suite_get(suite, id)->expires_at_ms, expires_ms + 9000);
    assert_ok(move(suite, id, now_place));
    assert_int_equal(suite_get(suite, id)->expires_at_ms, expires_ms);
    assert_ok(move(suite, id, ranked(3)));
    assert_int_equal(suite_get(suite, id)->expires_at_ms, expires_ms);
}

void case_move__not_beyond_the_time_for_retries(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.retry_for_ms = 10000;
    culex_uuid id = suite_put_run(suite, &run);
    suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_FAIL, 1000);
    int64_t end_ms = suite_get(suite, id)->expires_at_ms;
    assert_int_equal(move(suite, id, later(10000)), CULEX_ESTATE);
    assert_ok(move(suite, id, later(9999)));
    assert_int_equal(suite_get(suite, id)->expires_at_ms, end_ms);
    assert_ok(move(suite, id, now_place));
    assert_int_equal(suite_take(suite, ANN, id), 2);
    suite_end(suite, ANN, id, 2, CULEX_EVENT_FAIL, 1000);
    assert_state(suite, id, CULEX_RUN_SCHEDULED);
}

/* It is shown once, wherever it was moved, and cancelled and purged as any other. */
void case_move__moved_runs_are_like_others(struct suite *suite)
{
    culex_uuid ids[4];
    struct culex_list_reply page = {0};
    waiting_put(suite, ids);
    for (int i = 0; i < 4; i++) {
        assert_ok(move(suite, ids[i], later(5000)));
        assert_ok(move(suite, ids[i], now_place));
    }
    assert_ok(suite->store->ops->list(suite->store, suite->queue, CULEX_LIST_OF(CULEX_RUN_WAITING),
                                      CULEX_LIST_START, 100, &page, NULL));
    assert_int_equal(page.count, 4);
    suite->store->ops->list_release(suite->store, &page);
    suite_cancel(suite, ids[1]);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], 3);
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 100), 3);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], 0);
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
}

/* Who has just taken runs, and more of them lie there. */
void case_pause__holds_for_who_is_at_work(struct suite *suite)
{
    for (int i = 0; i < 9; i++)
        suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, 1), 1);
    assert_int_equal(suite_claim(suite, ANN, 1), 1);
    assert_ok(suite->store->ops->pause(suite->store, suite->queue, true, NULL));
    assert_int_equal(suite_claim(suite, ANN, 1), 0);
    assert_true(suite->reply.is_paused);
    assert_ok(suite->store->ops->pause(suite->store, suite->queue, false, NULL));
    assert_int_equal(suite_claim(suite, ANN, 1), 1);
}

void case_pause__takes_in_and_gives_nothing_out(struct suite *suite)
{
    culex_uuid held = suite_put(suite);
    suite_take(suite, ANN, held);
    for (int i = 0; i < 2; i++)
        assert_ok(suite->store->ops->pause(suite->store, suite->queue, true, NULL));
    assert_true(suite_stats(suite).paused);
    culex_uuid id = suite_put(suite);
    assert_int_equal(suite_end(suite, ANN, held, 1, CULEX_EVENT_DONE, 0), CULEX_ANSWER_OK);
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
    strcpy(suite->queue, "other");
    suite_take(suite, ANN, suite_put(suite));
    strcpy(suite->queue, "mail");
    for (int i = 0; i < 2; i++)
        assert_ok(suite->store->ops->pause(suite->store, suite->queue, false, NULL));
    assert_false(suite_stats(suite).paused);
    suite_take(suite, ANN, id);
}

static void pause_for(struct suite *suite, int64_t for_ms)
{
    assert_ok(suite->store->ops->pause_for(suite->store, suite->queue, for_ms, NULL));
}

static void assert_paused_until(struct suite *suite, bool is_paused, int64_t until_ms)
{
    culex_queue_stats stats = suite_stats(suite);
    assert_int_equal(stats.paused, is_paused);
    assert_int_equal(stats.paused_until_ms, until_ms);
}

void case_pause_for__queue_goes_on_at_the_instant(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    int64_t until_ms = suite->now_ms + 5000;
    pause_for(suite, 5000);
    assert_paused_until(suite, true, until_ms);
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
    assert_true(suite->reply.is_paused);
    assert_int_equal(suite->reply.due_in_ms, 5000);
    suite->now_ms += 4999;
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
    assert_int_equal(suite->reply.due_in_ms, 1);
    suite_put(suite); /* it takes in as before */
    assert_paused_until(suite, true, until_ms);
    suite->now_ms++;
    assert_paused_until(suite, false, 0);
    suite_take(suite, ANN, id);
    assert_false(suite->reply.is_paused);
}

/* Nothing else wants a step, and nobody resumes it. */
void case_pause_for__empty_queue_asks_for_a_step_too(struct suite *suite)
{
    suite_hello(suite, "host/1", ANN);
    pause_for(suite, 700);
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
    assert_int_equal(suite->reply.due_in_ms, 700);
    assert_true(suite->reply.is_empty);
}

void case_pause_for__later_one_takes_its_place(struct suite *suite)
{
    suite_put(suite);
    const struct culex_store_ops *ops = suite->store->ops;
    pause_for(suite, 9000);
    pause_for(suite, 1000);
    assert_paused_until(suite, true, suite->now_ms + 1000);
    pause_for(suite, 90000);
    assert_paused_until(suite, true, suite->now_ms + 90000);
    assert_ok(ops->pause(suite->store, suite->queue, true, NULL));
    assert_paused_until(suite, true, 0);
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
    assert_int_equal(suite->reply.due_in_ms, -1);
    pause_for(suite, 1000);
    assert_paused_until(suite, true, suite->now_ms + 1000);
    assert_ok(ops->pause(suite->store, suite->queue, false, NULL));
    assert_paused_until(suite, false, 0);
    assert_int_equal(suite_claim(suite, ANN, 9), 1);
}

/* The clock is set back after the pause was over: it comes back only where nobody has looked. */
void case_pause_for__step_ends_it_for_good(struct suite *suite)
{
    suite_put(suite);
    pause_for(suite, 1000);
    suite->now_ms += 1000;
    assert_int_equal(suite_claim(suite, ANN, 9), 1);
    suite->now_ms -= 500;
    assert_paused_until(suite, false, 0);
    suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, 9), 1);
}

/* Runs that come once it is over, before and after a step has seen it. */
void case_pause_for__queue_takes_in_after_it(struct suite *suite)
{
    suite_hello(suite, "host/1", ANN);
    pause_for(suite, 1000);
    suite->now_ms += 1000;
    suite_put(suite);
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
    suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, 1), 1);
    suite_put(suite);
    suite_put(suite);
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
    assert_int_equal(suite_claim(suite, ANN, 9), 3);
    pause_for(suite, 1000);
    suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
}

static void dead_limit(struct suite *suite, uint64_t most)
{
    assert_ok(suite->store->ops->dead_limit(suite->store, suite->queue, most, NULL));
    assert_int_equal(suite_stats(suite).dead_limit, most);
}

static culex_uuid put_dead(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_DISCARD, 0);
    suite->now_ms++;
    return id;
}

void case_dead_limit__oldest_beyond_it_are_forgotten(struct suite *suite)
{
    culex_uuid ids[5];
    for (int i = 0; i < 4; i++)
        ids[i] = put_dead(suite);
    culex_uuid done = suite_put(suite);
    suite_end(suite, ANN, done, suite_take(suite, ANN, done), CULEX_EVENT_DONE, 0);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_DEAD], 4);
    dead_limit(suite, 3);
    suite_pass(suite, 0);
    assert_null(suite_get(suite, ids[0]));
    ids[4] = put_dead(suite);
    suite_pass(suite, 0);
    assert_null(suite_get(suite, ids[1]));
    for (int i = 2; i < 5; i++)
        assert_state(suite, ids[i], CULEX_RUN_DEAD);
    assert_state(suite, done, CULEX_RUN_DONE);
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
    dead_limit(suite, 0);
    put_dead(suite);
    suite_pass(suite, 0);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_DEAD], 4);
}

/* A step forgets no more than it does of what is over, and asks for the next one at once. */
void case_dead_limit__portion_in_each_step(struct suite *suite)
{
    enum { DEAD = CULEX_FORGET_MAX + 20 };
    for (int i = 0; i < DEAD; i++)
        put_dead(suite);
    dead_limit(suite, 5);
    suite_pass(suite, 0);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_DEAD], DEAD - CULEX_FORGET_MAX);
    assert_int_equal(suite->reply.due_in_ms, 0);
    suite_pass(suite, 0);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_DEAD], 5);
    assert_true(suite->reply.due_in_ms > 0);
}

/* --- queues ----------------------------------------------------------------------------- */

enum { QUEUE_VERBS = 9 };

/* What concerns a queue as a whole. */
static culex_status queue_call(struct suite *suite, int verb, int state)
{
    struct culex_store *store = suite->store;
    struct culex_list_reply page = {0};
    culex_queue_stats stats;
    struct culex_purge_reply purged;
    culex_status status;
    switch (verb) {
    case 0:
        return store->ops->pause(store, suite->queue, true, NULL);
    case 1:
        return store->ops->pause(store, suite->queue, false, NULL);
    case 2:
        return store->ops->limit(store, suite->queue, 7, NULL);
    case 3:
        return store->ops->limit(store, suite->queue, 0, NULL);
    case 4:
        return state == CULEX_RUN_ACTIVE || state == CULEX_LIST_ANY
                   ? queue_call(suite, 5, state)
                   : store->ops->purge(store, suite->queue, (culex_run_state)state, 9, &purged,
                                       NULL);
    case 5:
        status = store->ops->list(store, suite->queue, CULEX_LIST_OF((culex_run_state)state),
                                  CULEX_LIST_START, 9, &page, NULL);
        if (status == CULEX_OK)
            store->ops->list_release(store, &page);
        return status;
    case 7:
        return store->ops->dead_limit(store, suite->queue, 0, NULL);
    case 6:
        return store->ops->pause_for(store, suite->queue, 1000, NULL);
    default:
        return store->ops->stats(store, suite->queue, &stats, NULL);
    }
}

static void assert_queue_calls(struct suite *suite, culex_status expected)
{
    for (int verb = 0; verb < QUEUE_VERBS; verb++) {
        for (int state = 0; state <= CULEX_LIST_ANY; state++)
            assert_int_equal(queue_call(suite, verb, state), expected);
    }
}

static size_t queues_count(struct suite *suite)
{
    char **names = NULL;
    size_t count = 0;
    assert_ok(suite->store->ops->queues(suite->store, &names, NULL));
    while (names[count] != NULL)
        count++;
    free(names);
    return count;
}

void case_queue__unknown_is_not_found_and_not_made(struct suite *suite)
{
    culex_error error = {0};
    assert_queue_calls(suite, CULEX_ENOTFOUND);
    assert_queue_calls(suite, CULEX_ENOTFOUND);
    assert_int_equal(queues_count(suite), 0);
    /* The limit of 7 and the pause have left nothing behind. */
    suite_put(suite);
    assert_int_equal(suite_stats(suite).limit, 0);
    assert_false(suite_stats(suite).paused);
    strcpy(suite->queue, "mial");
    suite->store->ops->pause(suite->store, suite->queue, true, &error);
    assert_int_equal(error.code, CULEX_ENOTFOUND);
    assert_true(error.text[0] != '\0');
    assert_int_equal(queues_count(suite), 1);
}

void case_queue__begins_with_its_first_worker(struct suite *suite)
{
    suite_hello(suite, "host/1", ANN);
    assert_queue_calls(suite, CULEX_OK);
    /* Also when all its workers are gone and forgotten. */
    suite_pass(suite, 3 * CULEX_SESSION_TTL_MS);
    suite_hello(suite, "host/2", BOB);
    suite_pass(suite, 3 * CULEX_SESSION_TTL_MS);
    assert_queue_calls(suite, CULEX_OK);
}

/* Its last step may come again after it, and is answered as it was. */
void case_hello__again_leaves_the_last_step_known(struct suite *suite)
{
    suite_hello(suite, "host/1", ANN);
    culex_uuid id = suite_put(suite);
    struct culex_step step = suite_step_make(suite, ANN, 1);
    assert_int_equal(suite_step(suite, &step), 1);
    assert_int_equal(suite_hello(suite, "host/1", ANN), 0);
    assert_int_equal(suite_step(suite, &step), 1);
    assert_true(suite_same_id(suite->reply.grants[0].facts.id, id));
    assert_int_equal(suite->reply.grants[0].facts.attempt, 1);
}

/* By its name its next life takes back what it holds, hours of idleness before or not. */
void case_hello__idle_worker_keeps_its_name(struct suite *suite)
{
    suite_hello(suite, "host/1", ANN);
    for (int minutes = 0; minutes < 180; minutes += 10) {
        suite->now_ms += 10 * SUITE_MINUTE_MS;
        assert_int_equal(suite_claim(suite, ANN, 1), 0);
        suite_hello(suite, "host/2", minutes % 20 == 0 ? EVE : "00000000000000ef");
    }
    suite_take(suite, ANN, suite_put(suite));
    assert_int_equal(suite_hello(suite, "host/1", BOB), 1);
}

void case_queue__begins_with_its_first_run(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.delay_ms = 5000;
    suite_put_run(suite, &run);
    assert_queue_calls(suite, CULEX_OK);
    /* It has been purged by now: a queue that is empty is still there. */
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_SCHEDULED], 0);
}

void case_queue__refused_run_begins_none(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_enqueue_result result;
    struct culex_ticket ticket = suite_ticket(suite);
    suite->now_ms += CULEX_TICKET_HORIZON_MS + 1;
    assert_int_equal(
        suite->store->ops->enqueue(suite->store, suite->queue, &ticket, &run, 1, &result, NULL),
        CULEX_EEXPIRED);
    assert_queue_calls(suite, CULEX_ENOTFOUND);
}

void case_limit__full_queue_refuses_new_runs_only(struct suite *suite)
{
    const struct culex_store_ops *ops = suite->store->ops;
    struct culex_new_run scheduled = suite_run(suite), other;
    suite_hello(suite, "host/1", ANN);
    assert_ok(ops->limit(suite->store, suite->queue, 3, NULL));
    assert_int_equal(suite_stats(suite).limit, 3);
    culex_uuid held = suite_put(suite);
    suite_take(suite, ANN, held);
    scheduled.delay_ms = 5000;
    suite_put_run(suite, &scheduled);
    suite_put(suite);
    other = suite_run(suite);
    struct culex_enqueue_result full = suite_try(suite, &other);
    assert_int_equal(full.outcome, CULEX_ENQUEUED_FULL);
    assert_true(suite_same_id(full.id, (culex_uuid){{0}}));
    assert_int_equal(suite_stats(suite).enqueued, 3);
    suite_end(suite, ANN, held, 1, CULEX_EVENT_FAIL, 1000); /* a retry is not refused */
    assert_int_equal(suite_enqueue(suite, &other), CULEX_ENQUEUED_FULL);
    assert_ok(ops->limit(suite->store, suite->queue, 0, NULL));
    assert_int_equal(suite_enqueue(suite, &other), CULEX_ENQUEUED_NEW);
    assert_int_equal(suite_stats(suite).limit, 0);
}

void case_limit__runs_that_have_ended_do_not_count(struct suite *suite)
{
    struct culex_new_run other = suite_run(suite);
    culex_uuid ended[] = {suite_put(suite), suite_put(suite)};
    for (int i = 0; i < 2; i++)
        suite_take(suite, ANN, ended[i]);
    for (int i = 0; i < 2; i++)
        suite_end(suite, ANN, ended[i], 1, CULEX_EVENT_DONE, 0);
    assert_state(suite, ended[0], CULEX_RUN_DONE);
    assert_ok(suite->store->ops->limit(suite->store, suite->queue, 2, NULL));
    suite_put(suite);
    suite_put(suite);
    assert_int_equal(suite_enqueue(suite, &other), CULEX_ENQUEUED_FULL);
}

/* --- PURGE, LIST, STATS, QUEUES --------------------------------------------------------------- */

void case_purge__stops_at_its_limit(struct suite *suite)
{
    for (int i = 0; i < 10; i++) {
        struct culex_new_run run = suite_run(suite);
        run.delay_ms = i < 3 ? 5000 : 0;
        suite_put_run(suite, &run);
    }
    suite_claim(suite, ANN, 1);
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 4), 4);
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 4), 2);
    assert_int_equal(suite_purge(suite, CULEX_RUN_SCHEDULED, 4), 3);
    assert_int_equal(suite_purge(suite, CULEX_RUN_DEAD, 4), 0);
    culex_queue_stats stats = suite_stats(suite);
    assert_int_equal(stats.count[CULEX_RUN_ACTIVE], 1);
    assert_int_equal(stats.count[CULEX_RUN_WAITING] + stats.count[CULEX_RUN_SCHEDULED], 0);
}

/* The page that was asked for, and no run more; only the last page says that nothing is left. */
void case_purge__page_tells_whether_more_is_left(struct suite *suite)
{
    struct culex_store *store = suite->store;
    struct culex_purge_reply purged = {.is_more = true};
    size_t deleted = 0;
    for (int i = 0; i < 7; i++)
        suite_put(suite);
    assert_ok(store->ops->purge(store, suite->queue, CULEX_RUN_WAITING, 3, &purged, NULL));
    assert_int_equal(purged.deleted, 3);
    assert_true(purged.is_more);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], 4);
    for (int i = 0; i < 7 && purged.is_more; i++) {
        assert_ok(store->ops->purge(store, suite->queue, CULEX_RUN_WAITING, 3, &purged, NULL));
        deleted += purged.deleted;
    }
    assert_int_equal(deleted, 4);
    assert_false(purged.is_more);
}

/* Done runs of several claims, among such that are not done. */
void case_purge__leaves_who_is_at_work(struct suite *suite)
{
    culex_uuid ids[20];
    for (int i = 0; i < 20; i++)
        ids[i] = suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, 8), 8);
    assert_int_equal(suite_claim(suite, BOB, 8), 8);
    for (int i = 0; i < 16; i += 2)
        suite_end(suite, i < 8 ? ANN : BOB, ids[i], 1, CULEX_EVENT_DONE, 0);
    assert_int_equal(suite_purge(suite, CULEX_RUN_DONE, 5), 5);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_DONE], 3);
    assert_int_equal(suite_purge(suite, CULEX_RUN_DONE, 5), 3);
    assert_int_equal(suite_purge(suite, CULEX_RUN_DONE, 5), 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(suite_get(suite, ids[i]) == NULL, i < 16 && i % 2 == 0);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_ACTIVE], 8);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], 4);
    suite_end(suite, ANN, ids[1], 1, CULEX_EVENT_DONE, 0);
    suite_end(suite, BOB, ids[15], 1, CULEX_EVENT_DONE, 0);
}

void case_purge__active_is_refused(struct suite *suite)
{
    suite_take(suite, ANN, suite_put(suite));
    struct culex_purge_reply purged = {.deleted = 99};
    assert_true(suite->store->ops->purge(suite->store, suite->queue, CULEX_RUN_ACTIVE, 4, &purged,
                                         NULL) < 0);
    assert_int_equal(purged.deleted, 99);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_ACTIVE], 1);
}

/* Lists all runs in `state`, `limit` at a time; marks those of `ids` that came. */
static size_t list_all(struct suite *suite, culex_run_state state, size_t limit,
                       const culex_uuid *ids, int *seen, size_t count)
{
    size_t listed = 0;
    culex_list_cursor cursor = CULEX_LIST_START;
    int pages = 0;
    do {
        struct culex_list_reply reply = {0};
        assert_ok(suite->store->ops->list(suite->store, suite->queue, CULEX_LIST_OF(state), cursor,
                                          limit, &reply, NULL));
        assert_true(reply.count <= limit || state == CULEX_LIST_ANY);
        for (size_t i = 0; i < reply.count; i++) {
            if (state != CULEX_LIST_ANY)
                assert_int_equal(reply.runs[i].state, state);
            for (size_t j = 0; j < count; j++)
                seen[j] += suite_same_id(reply.runs[i].id, ids[j]);
        }
        listed += reply.count;
        cursor = reply.cursor;
        suite->store->ops->list_release(suite->store, &reply);
        assert_true(++pages < 1000);
    } while (cursor.place != 0);
    return listed;
}

void case_list__pages_show_each_run_once(struct suite *suite)
{
    enum { COUNT = 60 };
    static const size_t limits[] = {1, 7, 60, 1000};
    culex_uuid ids[COUNT];
    for (int i = 0; i < COUNT; i++) {
        struct culex_new_run run = suite_run(suite);
        run.priority = i % 10;
        ids[i] = suite_put_run(suite, &run);
    }
    for (size_t l = 0; l < 4; l++) {
        int seen[COUNT] = {0};
        assert_int_equal(list_all(suite, CULEX_RUN_WAITING, limits[l], ids, seen, COUNT), COUNT);
        for (int i = 0; i < COUNT; i++)
            assert_int_equal(seen[i], 1);
    }
    for (int i = 0; i < COUNT; i += 2)
        suite_cancel(suite, ids[i]);
    int seen[COUNT] = {0};
    list_all(suite, CULEX_RUN_CANCELLED, 4, ids, seen, COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(seen[i], i % 2 == 0);
    assert_int_equal(list_all(suite, CULEX_RUN_ACTIVE, 4, ids, seen, COUNT), 0);
    assert_int_equal(suite_claim(suite, ANN, 5), 5);
    assert_int_equal(list_all(suite, CULEX_RUN_ACTIVE, 4, ids, seen, COUNT), 5);
    assert_int_equal(list_all(suite, CULEX_RUN_WAITING, 4, ids, seen, COUNT), 25);
}

void case_list__any_state_shows_each_run_wherever_it_is(struct suite *suite)
{
    enum { COUNT = 300 };
    static const size_t limits[] = {1, 7, 1000};
    culex_uuid ids[COUNT];
    int states[CULEX_RUN_STATE_COUNT] = {0};
    for (int i = 0; i < COUNT; i++) {
        struct culex_new_run run = suite_run(suite);
        run.delay_ms = i % 4 == 0 ? 5000 : 0;
        run.priority = i % 3;
        ids[i] = suite_put_run(suite, &run);
        if (i % 4 == 1)
            suite_cancel(suite, ids[i]);
    }
    suite_claim(suite, ANN, 20);
    for (int i = 0; i < COUNT; i++)
        states[suite_get(suite, ids[i])->state]++;
    assert_int_equal(states[CULEX_RUN_SCHEDULED], 75);
    assert_int_equal(states[CULEX_RUN_CANCELLED], 75);
    assert_int_equal(states[CULEX_RUN_ACTIVE], 20);
    for (size_t l = 0; l < 3; l++) {
        int seen[COUNT] = {0};
        list_all(suite, CULEX_LIST_ANY, limits[l], ids, seen, COUNT);
        for (int i = 0; i < COUNT; i++)
            assert_true(seen[i] >= 1);
    }
}

/* Runs are claimed and end between the pages: a walk along the indexes would skip some. */
void case_list__any_state_misses_no_run_that_moves(struct suite *suite)
{
    enum { COUNT = 300 };
    culex_uuid ids[COUNT];
    int seen[COUNT] = {0};
    culex_list_cursor cursor = CULEX_LIST_START;
    for (int i = 0; i < COUNT; i++)
        ids[i] = suite_put(suite);
    do {
        struct culex_list_reply reply = {0};
        assert_ok(suite->store->ops->list(suite->store, suite->queue, CULEX_LIST_OF(CULEX_LIST_ANY),
                                          cursor, 20, &reply, NULL));
        for (size_t i = 0; i < reply.count; i++) {
            for (int j = 0; j < COUNT; j++)
                seen[j] += suite_same_id(reply.runs[i].id, ids[j]);
        }
        cursor = reply.cursor;
        suite->store->ops->list_release(suite->store, &reply);
        suite_claim(suite, ANN, 20);
    } while (cursor.place != 0);
    for (int i = 0; i < COUNT; i++)
        assert_true(seen[i] >= 1);
}

/* Runs of which nothing is known but their kind, and then much more: a store may keep the two
 * apart. */
void case_list__any_state_misses_no_run_that_fails(struct suite *suite)
{
    enum { COUNT = 300 };
    culex_uuid ids[COUNT];
    int seen[COUNT] = {0};
    culex_list_cursor cursor = CULEX_LIST_START;
    for (int i = 0; i < COUNT; i++)
        ids[i] = suite_put(suite);
    do {
        struct culex_list_reply reply = {0};
        assert_ok(suite->store->ops->list(suite->store, suite->queue, CULEX_LIST_OF(CULEX_LIST_ANY),
                                          cursor, 20, &reply, NULL));
        for (size_t i = 0; i < reply.count; i++) {
            for (int j = 0; j < COUNT; j++)
                seen[j] += suite_same_id(reply.runs[i].id, ids[j]);
        }
        cursor = reply.cursor;
        suite->store->ops->list_release(suite->store, &reply);
        size_t count = suite_claim(suite, ANN, 20);
        culex_uuid taken[20];
        for (size_t i = 0; i < count; i++)
            taken[i] = suite->reply.grants[i].facts.id;
        for (size_t i = 0; i < count; i++)
            suite_end(suite, ANN, taken[i], 1, CULEX_EVENT_FAIL, 5000);
    } while (cursor.place != 0);
    for (int i = 0; i < COUNT; i++)
        assert_true(seen[i] >= 1);
}

/* Claimed by two, some ended: the pages of each state show each of its runs once. */
void case_list__pages_show_runs_that_were_claimed_together(struct suite *suite)
{
    enum { COUNT = 60, ANNS = 25, BOBS = 20, ENDED = 9 };
    static const size_t limits[] = {1, 4, 7, 1000};
    culex_uuid ids[COUNT];
    for (int i = 0; i < COUNT; i++)
        ids[i] = suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, ANNS), ANNS);
    assert_int_equal(suite_claim(suite, BOB, BOBS), BOBS);
    for (int i = 0; i < ENDED; i++) {
        suite_end(suite, ANN, ids[2 * i], 1, CULEX_EVENT_DONE, 0);
        suite_end(suite, BOB, ids[ANNS + 2 * i], 1, CULEX_EVENT_DONE, 0);
    }
    for (size_t l = 0; l < sizeof limits / sizeof limits[0]; l++) {
        int active[COUNT] = {0}, done[COUNT] = {0}, waiting[COUNT] = {0};
        list_all(suite, CULEX_RUN_ACTIVE, limits[l], ids, active, COUNT);
        list_all(suite, CULEX_RUN_DONE, limits[l], ids, done, COUNT);
        list_all(suite, CULEX_RUN_WAITING, limits[l], ids, waiting, COUNT);
        for (int i = 0; i < COUNT; i++) {
            int place = i < ANNS ? i : i - ANNS;
            bool is_done = i < ANNS + BOBS && place % 2 == 0 && place < 2 * ENDED;
            assert_int_equal(done[i], is_done);
            assert_int_equal(active[i], i < ANNS + BOBS && !is_done);
            assert_int_equal(waiting[i], i >= ANNS + BOBS);
        }
    }
}

/* Runs that are brought to one state, and what of each a listing has shown. */
struct herd {
    enum herd_kind {
        HERD_DEAD,
        HERD_DONE,
        HERD_CANCELLED,
        HERD_SCHEDULED,
        HERD_WAITING,
        HERD_RETRIED, /* waiting, with a record */
        HERD_DUE,
        HERD_ACTIVE,
        HERD_KINDS
    } kind;
    culex_uuid ids[80];
    int seen[80];
    int count;
    int pages; /* that were asked for */
};

static culex_run_state herd_state(const struct herd *herd)
{
    static const culex_run_state states[HERD_KINDS] = {
        [HERD_DEAD] = CULEX_RUN_DEAD,           [HERD_DONE] = CULEX_RUN_DONE,
        [HERD_CANCELLED] = CULEX_RUN_CANCELLED, [HERD_SCHEDULED] = CULEX_RUN_SCHEDULED,
        [HERD_WAITING] = CULEX_RUN_WAITING,     [HERD_RETRIED] = CULEX_RUN_WAITING,
        [HERD_DUE] = CULEX_RUN_WAITING,         [HERD_ACTIVE] = CULEX_RUN_ACTIVE};
    return states[herd->kind];
}

static void herd_end(struct suite *suite, const struct herd *herd, enum culex_run_event event)
{
    assert_int_equal(suite_claim(suite, ANN, (uint32_t)herd->count), herd->count);
    for (int i = 0; i < herd->count; i++)
        suite_end(suite, ANN, herd->ids[i], 1, event, 0);
}

static void herd_retry(struct suite *suite, const struct herd *herd)
{
    for (int i = 0; i < herd->count; i++)
        assert_ok(suite->store->ops->retry(suite->store, suite->queue, herd->ids[i], NULL));
}

static struct herd herd_make(struct suite *suite, enum herd_kind kind, int count)
{
    struct herd herd = {.kind = kind, .count = count};
    for (int i = 0; i < count; i++) {
        struct culex_new_run run = suite_run(suite);
        run.delay_ms = kind == HERD_SCHEDULED || kind == HERD_DUE ? 5000 + i % 2 : 0;
        herd.ids[i] = suite_put_run(suite, &run);
        if (kind == HERD_CANCELLED)
            suite_cancel(suite, herd.ids[i]);
    }
    if (kind == HERD_DEAD || kind == HERD_RETRIED)
        herd_end(suite, &herd, CULEX_EVENT_DISCARD);
    if (kind == HERD_RETRIED)
        herd_retry(suite, &herd);
    if (kind == HERD_DONE)
        herd_end(suite, &herd, CULEX_EVENT_DONE);
    if (kind == HERD_ACTIVE)
        assert_int_equal(suite_claim(suite, ANN, (uint32_t)count), count);
    suite->now_ms += kind == HERD_DUE ? 5001 : 0;
    return herd;
}

/* Takes run `i` out of its state, in one way or another. */
static void herd_remove(struct suite *suite, const struct herd *herd, int i)
{
    const struct culex_store_ops *ops = suite->store->ops;
    culex_uuid id = herd->ids[i];
    if (herd->kind == HERD_ACTIVE) {
        suite_end(suite, ANN, id, 1, CULEX_EVENT_DONE, 0);
    } else if (herd->kind == HERD_DEAD && i % 2 == 0) {
        assert_ok(ops->retry(suite->store, suite->queue, id, NULL));
    } else {
        if (herd->kind >= HERD_SCHEDULED)
            suite_cancel(suite, id);
        if (herd->kind < HERD_SCHEDULED || i % 4 != 0)
            assert_ok(ops->forget(suite->store, suite->queue, id, NULL));
    }
}

/* -1 for a run that is none of them. */
static int herd_find(const struct herd *herd, culex_uuid id)
{
    for (int i = 0; i < herd->count; i++) {
        if (suite_same_id(herd->ids[i], id))
            return i;
    }
    return -1;
}

/* Another page, of at most 4; false at the end. `shown` gets which runs are on it, -1 behind. */
static bool herd_page(struct suite *suite, struct herd *herd, culex_list_cursor *cursor,
                      int shown[5])
{
    struct culex_list_reply reply = {0};
    size_t count = 0;
    assert_ok(suite->store->ops->list(suite->store, suite->queue, CULEX_LIST_OF(herd_state(herd)),
                                      *cursor, 4, &reply, NULL));
    for (size_t i = 0; i < reply.count; i++) {
        shown[count] = herd_find(herd, reply.runs[i].id);
        if (shown[count] >= 0)
            herd->seen[shown[count++]]++;
    }
    shown[count] = -1;
    assert_true(++herd->pages < 1000);
    *cursor = reply.cursor;
    suite->store->ops->list_release(suite->store, &reply);
    return cursor->place != 0;
}

static void visitor_removes(struct suite *suite, enum herd_kind kind)
{
    struct herd herd = herd_make(suite, kind, 30);
    culex_list_cursor cursor = CULEX_LIST_START;
    int shown[5];
    bool is_more;
    do {
        is_more = herd_page(suite, &herd, &cursor, shown);
        for (int i = 0; shown[i] >= 0; i++)
            herd_remove(suite, &herd, shown[i]);
    } while (is_more);
    for (int i = 0; i < herd.count; i++)
        assert_int_equal(herd.seen[i], 1);
}

void case_list__visitor_may_send_away_what_it_is_shown(struct suite *suite)
{
    for (int kind = 0; kind < HERD_KINDS; kind++) {
        snprintf(suite->queue, sizeof suite->queue, "herd_%d", kind);
        visitor_removes(suite, (enum herd_kind)kind);
    }
}

/* The next of those that are to go, from either end in turn, shown or not. */
static int removal_next(const struct herd *herd, int removed)
{
    int last = (herd->count - 1) / 3, turn = removed / 2;
    return 3 * (removed % 2 == 0 ? turn : last - turn);
}

static void others_remove(struct suite *suite, enum herd_kind kind)
{
    struct herd herd = herd_make(suite, kind, 30);
    culex_list_cursor cursor = CULEX_LIST_START;
    int shown[5], removed = 0;
    while (herd_page(suite, &herd, &cursor, shown)) {
        for (int n = 0; n < 2 && removed < herd.count / 3; n++)
            herd_remove(suite, &herd, removal_next(&herd, removed++));
    }
    assert_true(removed >= 8);
    for (int i = 0; i < herd.count; i++) {
        if (i % 3 != 0)
            assert_int_equal(herd.seen[i], 1);
        else
            assert_true(herd.seen[i] <= 1);
    }
}

void case_list__runs_that_others_remove_hide_none(struct suite *suite)
{
    for (int kind = 0; kind < HERD_KINDS; kind++) {
        snprintf(suite->queue, sizeof suite->queue, "herd_%d", kind);
        others_remove(suite, (enum herd_kind)kind);
    }
}

/* What waits leaves at one end and comes at the other, `claims` and `pushes` of each a page. */
static void line_moves(struct suite *suite, enum herd_kind kind, uint32_t claims, int pushes)
{
    struct herd dead = herd_make(suite, HERD_DEAD, 40);
    struct herd herd = herd_make(suite, kind, 40);
    culex_list_cursor cursor = CULEX_LIST_START;
    int shown[5], pushed = 0;
    while (herd_page(suite, &herd, &cursor, shown)) {
        suite_claim(suite, BOB, claims);
        for (int n = 0; n < pushes && pushed < dead.count; n++)
            assert_ok(
                suite->store->ops->retry(suite->store, suite->queue, dead.ids[pushed++], NULL));
    }
    for (int i = 0; i < herd.count; i++) {
        if (suite_state(suite, herd.ids[i]) == CULEX_RUN_WAITING)
            assert_int_equal(herd.seen[i], 1);
        else
            assert_true(herd.seen[i] <= 1);
    }
}

void case_list__claims_and_pushes_between_pages_hide_none(struct suite *suite)
{
    static const enum herd_kind kinds[] = {HERD_WAITING, HERD_RETRIED};
    static const struct {
        uint32_t claims;
        int pushes;
    } paces[] = {{1, 0}, {0, 3}, {2, 2}, {7, 3}, {5, 6}};
    for (size_t kind = 0; kind < 2; kind++) {
        for (size_t i = 0; i < sizeof paces / sizeof paces[0]; i++) {
            snprintf(suite->queue, sizeof suite->queue, "moves_%zu_%zu", kind, i);
            line_moves(suite, kinds[kind], paces[i].claims, paces[i].pushes);
        }
    }
}

/* As many as a store looks at for one page. */
void case_list__place_among_many_that_came_since_is_found(struct suite *suite)
{
    enum { MANY = 1000 };
    struct culex_new_run runs[MANY];
    struct culex_enqueue_result results[MANY];
    struct herd herd = herd_make(suite, HERD_RETRIED, 12);
    culex_list_cursor cursor = CULEX_LIST_START;
    int shown[5];
    assert_true(herd_page(suite, &herd, &cursor, shown));
    for (int i = 0; i < MANY; i++) {
        runs[i] = suite_run(suite);
        runs[i].expires_ms = SUITE_MINUTE_MS; /* in Redis, one with a record */
    }
    suite_put_many(suite, runs, MANY, results);
    while (herd_page(suite, &herd, &cursor, shown))
        ;
    for (int i = 0; i < herd.count; i++)
        assert_int_equal(herd.seen[i], 1);
}

/* The first four, which a page has shown, end, are retried, and stand behind the others. */
static void shown_come_again(struct suite *suite, struct herd *herd, bool is_expiring)
{
    culex_list_cursor cursor = CULEX_LIST_START;
    int shown[5];
    assert_true(herd_page(suite, herd, &cursor, shown));
    suite->now_ms += SUITE_MINUTE_MS;
    assert_int_equal(suite_claim(suite, ANN, is_expiring ? 1 : 4), is_expiring ? 1 : 4);
    for (int i = 0; i < 4; i++) {
        if (!is_expiring)
            suite_end(suite, ANN, herd->ids[i], 2, CULEX_EVENT_DISCARD, 0);
        assert_ok(suite->store->ops->retry(suite->store, suite->queue, herd->ids[i], NULL));
    }
    for (int i = 0; i < herd->count; i++) {
        struct culex_new_run run = suite_run(suite);
        run.expires_ms = 2 * SUITE_MINUTE_MS;
        suite_put_run(suite, &run);
    }
    while (herd_page(suite, herd, &cursor, shown))
        ;
}

static struct herd herd_expiring(struct suite *suite)
{
    struct herd herd = {.kind = HERD_WAITING, .count = 12};
    for (int i = 0; i < herd.count; i++) {
        struct culex_new_run run = suite_run(suite);
        run.expires_ms = (i < 4 ? 1 : 9) * SUITE_MINUTE_MS;
        herd.ids[i] = suite_put_run(suite, &run);
    }
    return herd;
}

void case_list__run_that_comes_again_hides_none(struct suite *suite)
{
    for (int is_expiring = 0; is_expiring < 2; is_expiring++) {
        snprintf(suite->queue, sizeof suite->queue, "again_%d", is_expiring);
        struct herd herd = is_expiring ? herd_expiring(suite) : herd_make(suite, HERD_RETRIED, 12);
        shown_come_again(suite, &herd, is_expiring);
        for (int i = 4 + is_expiring; i < herd.count; i++)
            assert_int_equal(herd.seen[i], 1);
    }
}

/* It stays in its state, and a STEP puts it elsewhere: it may be shown twice. */
void case_list__run_that_becomes_ready_between_pages_is_shown(struct suite *suite)
{
    struct herd herd = herd_make(suite, HERD_DUE, 40);
    culex_list_cursor cursor = CULEX_LIST_START;
    int shown[5];
    while (herd_page(suite, &herd, &cursor, shown))
        suite_pass(suite, 0);
    for (int i = 0; i < herd.count; i++)
        assert_true(herd.seen[i] >= 1);
}

void case_list__rows_are_as_get_but_for_bytes(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.tags = "a,b";
    run.delay_ms = 5000;
    run.expires_ms = 1000;
    const culex_run_info *info = suite_get(suite, suite_put_run(suite, &run));
    struct culex_list_reply reply = {0};
    assert_ok(suite->store->ops->list(suite->store, suite->queue,
                                      CULEX_LIST_OF(CULEX_RUN_SCHEDULED), CULEX_LIST_START, 10,
                                      &reply, NULL));
    assert_int_equal(reply.count, 1);
    const culex_run_info *row = &reply.runs[0];
    assert_memory_equal(&row->id, &info->id, sizeof info->id);
    assert_string_equal(row->job, info->job);
    assert_string_equal(row->queue, info->queue);
    assert_string_equal(row->tags, "a,b");
    assert_int_equal(row->priority, info->priority);
    assert_int_equal(row->at_ms, info->at_ms);
    assert_int_equal(row->created_at_ms, info->created_at_ms);
    assert_int_equal(row->expires_at_ms, info->expires_at_ms);
    assert_int_equal(row->attempts_max, info->attempts_max);
    assert_true(row->fingerprint == info->fingerprint);
    assert_int_equal(row->payload.len, 0);
    suite->store->ops->list_release(suite->store, &reply);
}

void case_get__success_has_no_payload(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    assert_true(suite_get(suite, id)->payload.len > 0);
    assert_int_equal(suite_claim(suite, ANN, 1), 1);
    assert_true(suite_get(suite, id)->payload.len > 0);
    suite_end(suite, ANN, id, 1, CULEX_EVENT_DONE, 0);
    assert_int_equal(suite_get(suite, id)->payload.len, 0);
}

void case_stats__counts_follow_the_runs(struct suite *suite)
{
    culex_uuid ids[6];
    for (int i = 0; i < 6; i++) {
        struct culex_new_run run = suite_run(suite);
        run.delay_ms = i == 5 ? 5000 : 0;
        ids[i] = suite_put_run(suite, &run);
    }
    assert_int_equal(suite_claim(suite, ANN, 3), 3);
    suite_end(suite, ANN, ids[0], 1, CULEX_EVENT_DONE, 0);
    suite_end(suite, ANN, ids[1], 1, CULEX_EVENT_DISCARD, 0);
    suite_cancel(suite, ids[3]);
    culex_queue_stats stats = suite_stats(suite);
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++)
        assert_int_equal(stats.count[state], 1);
    assert_int_equal(stats.enqueued, 6);
    assert_int_equal(stats.done, 1);
    assert_int_equal(stats.failed, 1);
    assert_int_equal(stats.dead, 1);
    assert_int_equal(stats.cancelled, 1);
    assert_int_equal(stats.crashed + stats.lost + stats.stale, 0);
}

/* Two that are due and were moved by nobody, and one that is not; `ret_ids` in this order. */
static void put_due(struct suite *suite, culex_uuid ret_ids[3])
{
    for (int i = 0; i < 3; i++) {
        struct culex_new_run run = suite_run(suite);
        run.delay_ms = i < 2 ? 5000 : 5001;
        ret_ids[i] = suite_put_run(suite, &run);
    }
    suite->now_ms += 5000;
}

void case_list__due_run_waits_before_any_step(struct suite *suite)
{
    culex_uuid ids[3];
    put_due(suite, ids);
    assert_state(suite, ids[0], CULEX_RUN_WAITING);
    assert_int_equal(suite->info->at_ms, suite->now_ms);
    assert_state(suite, ids[2], CULEX_RUN_SCHEDULED);
    culex_queue_stats stats = suite_stats(suite);
    assert_int_equal(stats.count[CULEX_RUN_WAITING], 2);
    assert_int_equal(stats.count[CULEX_RUN_SCHEDULED], 1);
    suite_put(suite);
    for (size_t limit = 1; limit < 5; limit++) {
        int waiting[3] = {0}, scheduled[3] = {0};
        assert_int_equal(list_all(suite, CULEX_RUN_WAITING, limit, ids, waiting, 3), 3);
        assert_int_equal(list_all(suite, CULEX_RUN_SCHEDULED, limit, ids, scheduled, 3), 1);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(waiting[i], i < 2);
            assert_int_equal(scheduled[i], i == 2);
        }
    }
    struct culex_list_reply reply = {0};
    size_t dated = 0, undated = 0;
    assert_ok(suite->store->ops->list(suite->store, suite->queue, CULEX_LIST_OF(CULEX_LIST_ANY),
                                      CULEX_LIST_START, 100, &reply, NULL));
    for (size_t i = 0; i < reply.count; i++) {
        bool is_waiting = reply.runs[i].state == CULEX_RUN_WAITING;
        dated += is_waiting && reply.runs[i].at_ms == suite->now_ms;
        undated += is_waiting && reply.runs[i].at_ms == 0;
    }
    assert_int_equal(dated, 2);
    assert_int_equal(undated, 1);
    suite->store->ops->list_release(suite->store, &reply);
    assert_int_equal(suite_claim(suite, ANN, 10), 3); /* reading has changed nothing */
}

void case_purge__due_run_counts_as_waiting(struct suite *suite)
{
    culex_uuid ids[3];
    put_due(suite, ids);
    suite_put(suite);
    assert_int_equal(suite_purge(suite, CULEX_RUN_SCHEDULED, 9), 1);
    assert_null(suite_get(suite, ids[2]));
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 2), 2);
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 9), 1);
    assert_int_equal(suite_claim(suite, ANN, 10), 0);
}

void case_queues__are_sorted(struct suite *suite)
{
    static const char *const names[] = {"b", "a:1", "zebra", "a"};
    static const char *const sorted[] = {"a", "a:1", "b", "mail", "zebra"};
    suite_hello(suite, "host/1", ANN); /* registers "mail" */
    for (size_t i = 0; i < 4; i++) {
        strcpy(suite->queue, names[i]);
        suite_put(suite);
    }
    char **listed = NULL;
    assert_ok(suite->store->ops->queues(suite->store, &listed, NULL));
    for (size_t i = 0; i < 5; i++) {
        assert_non_null(listed[i]);
        assert_string_equal(listed[i], sorted[i]);
    }
    assert_null(listed[5]);
    free(listed);
}

void case_now__is_the_stores_clock(struct suite *suite)
{
    int64_t now_ms = 0;
    suite->now_ms += 12345;
    assert_ok(suite->store->ops->now(suite->store, &now_ms, NULL));
    assert_int_equal(now_ms, suite->now_ms);
}

/* --- wake-ups -------------------------------------------------------------------------- */

/* For a queue, or for "QUEUE NEEDS". Skips the case when the store has no wake-up, as the model. */
static int arm_for(struct suite *suite, const char *name)
{
    const char *names[] = {"noise", name};
    int fd = -2;
    assert_ok(suite->store->ops->wake_arm(suite->store, names, 2, 10000, &fd, NULL));
    if (fd == -1)
        skip();
    return fd;
}

static int arm_again(struct suite *suite)
{
    return arm_for(suite, suite->queue);
}

/* As a worker that finds nothing to do. */
static int arm(struct suite *suite)
{
    suite_hello(suite, "host/1", ANN);
    assert_int_equal(suite_claim(suite, ANN, 1), 0);
    return arm_again(suite);
}

/* Whether work is announced in half a minute. Noise is allowed. */
static bool is_woken(struct suite *suite, int fd)
{
    for (int tries = 0; tries < 300; tries++) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        bool woken = false;
        if (poll(&wait, 1, 100) <= 0)
            continue;
        assert_ok(suite->store->ops->wake_take(suite->store, &woken, NULL));
        if (woken)
            return true;
        arm_again(suite);
    }
    return false;
}

void case_wake__enqueue_from_another_handle_wakes(struct suite *suite)
{
    for (int i = 0; i < 3; i++) {
        int fd = arm(suite);
        struct culex_store *first = suite->store, *second = suite_open_again(suite);
        suite->store = second;
        culex_uuid id = suite_put(suite);
        suite->store = first;
        assert_true(is_woken(suite, fd));
        suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_DONE, 0);
        second->ops->close(second);
    }
}

/* As arm(), with no wake-up left over from what was done before. */
static void arm_quietly(struct suite *suite)
{
    bool is_woken = true;
    while (is_woken) {
        struct pollfd wait = {.fd = arm(suite), .events = POLLIN};
        is_woken = poll(&wait, 1, 100) > 0;
        if (is_woken)
            assert_ok(suite->store->ops->wake_take(suite->store, &is_woken, NULL));
    }
}

/* Of two that wait, the one that came first leaves, and gives a run back then. */
void case_wake__who_left_takes_no_wake_up(struct suite *suite)
{
    const char *queues[] = {suite->queue};
    for (int i = 0; i < 10; i++) {
        culex_uuid id = suite_put(suite);
        uint32_t attempt = suite_take(suite, ANN, id);
        arm_quietly(suite);
        struct culex_store *leaving = suite->store, *staying = suite_open_again(suite);
        int fd = -1;
        assert_ok(staying->ops->wake_arm(staying, queues, 1, 10000, &fd, NULL));
        leaving->ops->wake_disarm(leaving);
        suite_end(suite, ANN, id, attempt, CULEX_EVENT_RELEASE, 0);
        suite->store = staying;
        bool is_told = is_woken(suite, fd);
        suite->store = leaving;
        assert_true(is_told);
        suite_end(suite, ANN, id, suite_take(suite, ANN, id), CULEX_EVENT_DONE, 0);
        staying->ops->close(staying);
    }
}

/* One way for a run to become due. */
struct due {
    const char *way;
    void (*prepare)(struct suite *suite,
                    struct due *due);                  /* before a worker waits; NULL: no need */
    void (*act)(struct suite *suite, struct due *due); /* what another handle does then */
    culex_uuid id;
    uint32_t attempt;
};

static void due_put(struct suite *suite, struct due *due)
{
    due->id = suite_put(suite);
}

static void due_put_each(struct suite *suite, struct due *due)
{
    struct culex_ticket ticket = suite_ticket(suite);
    struct culex_new_run run = suite_run(suite);
    struct culex_enqueue_result result;
    assert_ok(suite->store->ops->enqueue_each(suite->store, suite->queue, &ticket, &run, 1, &result,
                                              NULL));
    due->id = result.id;
}

static void due_take(struct suite *suite, struct due *due)
{
    suite_hello(suite, "host/2", BOB);
    due->id = suite_put(suite);
    due->attempt = suite_take(suite, BOB, due->id);
}

static void due_release(struct suite *suite, struct due *due)
{
    suite_end(suite, BOB, due->id, due->attempt, CULEX_EVENT_RELEASE, 0);
}

static void due_replace(struct suite *suite, struct due *due)
{
    (void)due;
    assert_int_equal(suite_hello(suite, "host/2", EVE), 1);
}

/* So that its lease has ended. */
static void due_pass(struct suite *suite, struct due *due)
{
    (void)due;
    suite_pass(suite, SUITE_LEASE_MS + SUITE_SECOND_MS);
}

/* The one run that waits. */
static culex_uuid newest(struct suite *suite)
{
    struct culex_list_reply page = {.count = 0};
    assert_ok(suite->store->ops->list(suite->store, suite->queue, CULEX_LIST_OF(CULEX_RUN_WAITING),
                                      CULEX_LIST_START, 9, &page, NULL));
    assert_int_equal(page.count, 1);
    culex_uuid id = page.runs[0].id;
    suite->store->ops->list_release(suite->store, &page);
    return id;
}

static void due_tick(struct suite *suite, struct due *due)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_tick tick = {
        .queue = suite->queue, .schedule = run.job, .interval_ms = 1000, .run = &run};
    struct culex_tick_reply reply = {.is_enqueued = false};
    assert_ok(suite->store->ops->tick(suite->store, &tick, &reply, NULL));
    assert_true(reply.is_enqueued);
    due->id = newest(suite);
}

static void due_schedule(struct suite *suite, struct due *due)
{
    suite_hello(suite, "host/2", BOB);
    due_tick(suite, due);
    suite_end(suite, BOB, due->id, suite_take(suite, BOB, due->id), CULEX_EVENT_DONE, 0);
}

static void due_schedule_run(struct suite *suite, struct due *due)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_enqueue_result result = {.outcome = CULEX_ENQUEUED_FULL};
    assert_ok(suite->store->ops->schedule_run(suite->store, suite->queue, run.job, 1, &run, &result,
                                              NULL));
    assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
    due->id = result.id;
}

static void due_discard(struct suite *suite, struct due *due)
{
    due_take(suite, due);
    suite_end(suite, BOB, due->id, due->attempt, CULEX_EVENT_DISCARD, 0);
}

static void due_retry(struct suite *suite, struct due *due)
{
    assert_ok(suite->store->ops->retry(suite->store, suite->queue, due->id, NULL));
}

static void due_pause(struct suite *suite, struct due *due)
{
    due_put(suite, due);
    assert_ok(suite->store->ops->pause(suite->store, suite->queue, true, NULL));
}

static void due_resume(struct suite *suite, struct due *due)
{
    (void)due;
    assert_ok(suite->store->ops->pause(suite->store, suite->queue, false, NULL));
}

static void due_put_later(struct suite *suite, struct due *due)
{
    due->id = put_delayed(suite, SUITE_MINUTE_MS);
    suite_pass(suite, 0);
}

static void due_move(struct suite *suite, struct due *due)
{
    assert_ok(move(suite, due->id, now_place));
}

static void due_move_soon(struct suite *suite, struct due *due)
{
    assert_ok(move(suite, due->id, later(1)));
    suite->now_ms++;
}

/* Who waits is woken to see when that is. */
static void due_pause_for(struct suite *suite, struct due *due)
{
    (void)due;
    assert_ok(suite->store->ops->pause_for(suite->store, suite->queue, 1, NULL));
    suite->now_ms++;
}

static void due_pause_empty(struct suite *suite, struct due *due)
{
    (void)due;
    suite_hello(suite, "host/2", BOB);
    assert_ok(suite->store->ops->pause(suite->store, suite->queue, true, NULL));
}

/* It came due meanwhile, and nobody has looked. */
static void due_resume_late(struct suite *suite, struct due *due)
{
    struct culex_new_run run = suite_run(suite);
    run.delay_ms = 1;
    due->id = suite_put_run(suite, &run);
    suite->now_ms++;
    due_resume(suite, due);
}

/* The second of two is parked behind a limit of 1. */
static void due_park(struct suite *suite, struct due *due)
{
    const struct culex_run_limit limit = {CULEX_LIMIT_CONCURRENCY, "j:concurrency", "", .count = 1};
    struct culex_new_run runs[] = {suite_run(suite), suite_run(suite)};
    suite_hello(suite, "host/2", BOB);
    for (int i = 0; i < 2; i++) {
        runs[i].limits = &limit;
        runs[i].limit_count = 1;
        culex_uuid id = suite_put_run(suite, &runs[i]);
        if (i == 0)
            suite_take(suite, BOB, id);
        due->id = id;
    }
}

static void due_raise(struct suite *suite, struct due *due)
{
    const culex_limit_value two = {.count = 2};
    (void)due;
    assert_ok(
        suite->store->ops->limit_set(suite->store, suite->queue, "j:concurrency", &two, NULL));
}

/* What the runs declare is more than what an operator has set. */
static void due_park_by_operator(struct suite *suite, struct due *due)
{
    const culex_limit_value one = {.count = 1};
    const struct culex_run_limit limit = {CULEX_LIMIT_CONCURRENCY, "j:concurrency", "", .count = 2};
    struct culex_new_run run = suite_run(suite);
    due_park(suite, due);
    assert_ok(
        suite->store->ops->limit_set(suite->store, suite->queue, "j:concurrency", &one, NULL));
    run.limits = &limit;
    run.limit_count = 1;
    suite_put_run(suite, &run);
}

/* And another limit has no room. */
static void due_park_twice(struct suite *suite, struct due *due)
{
    const struct culex_run_limit limit = {CULEX_LIMIT_CONCURRENCY, "j:other", "", .count = 1};
    struct culex_new_run run = suite_run(suite);
    due_park(suite, due);
    run.limits = &limit;
    run.limit_count = 1;
    run.priority = 9;
    suite_take(suite, BOB, suite_put_run(suite, &run));
}

/* It is parked itself, by the other limit; of the first it has another key. */
static void due_put_that_declares_more(struct suite *suite, struct due *due)
{
    const struct culex_run_limit limits[] = {
        {CULEX_LIMIT_CONCURRENCY, "j:concurrency", "z", .count = 2},
        {CULEX_LIMIT_CONCURRENCY, "j:other", "", .count = 1}};
    struct culex_new_run run = suite_run(suite);
    (void)due;
    run.limits = limits;
    run.limit_count = 2;
    suite_put_run(suite, &run);
}

static void due_set_free(struct suite *suite, struct due *due)
{
    (void)due;
    assert_ok(
        suite->store->ops->limit_set(suite->store, suite->queue, "j:concurrency", NULL, NULL));
}

/* In which ways each verb of store/verbs.def makes a run due. A new verb has no row here yet, and
 * does not compile before it has one: empty for a verb that makes none. A delay that ends is not
 * among them: who waits knows from its STEP when that is, or is woken to see it. */
#define DUE_enqueue                                                                                \
    {.way = "enqueue", .act = due_put},                                                            \
        {.way = "enqueue, of a run that declares more",                                            \
         .prepare = due_park_twice,                                                                \
         .act = due_put_that_declares_more},
#define DUE_enqueue_each {.way = "enqueue_each", .act = due_put_each},
#define DUE_step                                                                                   \
    {.way = "step, release", .prepare = due_take, .act = due_release},                             \
        {.way = "step, end of a lease", .prepare = due_take, .act = due_pass},
#define DUE_hello {.way = "hello", .prepare = due_take, .act = due_replace},
#define DUE_tick  {.way = "tick", .act = due_tick},
#define DUE_retry {.way = "retry", .prepare = due_discard, .act = due_retry},
#define DUE_pause                                                                                  \
    {.way = "resume", .prepare = due_pause, .act = due_resume},                                    \
        {.way = "resume, late", .prepare = due_pause_empty, .act = due_resume_late},
#define DUE_move                                                                                   \
    {.way = "move to now", .prepare = due_put_later, .act = due_move},                             \
        {.way = "move to a time before all", .prepare = due_put_later, .act = due_move_soon},
#define DUE_pause_for                                                                              \
    {.way = "pause_for, to tell when it ends", .prepare = due_pause, .act = due_pause_for},
#define DUE_schedules
#define DUE_schedule_set
#define DUE_schedule_run {.way = "schedule_run", .prepare = due_schedule, .act = due_schedule_run},
#define DUE_cancel
#define DUE_forget
#define DUE_dead_limit
#define DUE_limit /* counts runs that are taken in, not those that start */
#define DUE_limit_set                                                                              \
    {.way = "limit_set, raised", .prepare = due_park, .act = due_raise},                           \
        {.way = "limit_set, taken away", .prepare = due_park_by_operator, .act = due_set_free},
#define DUE_limits
#define DUE_limit_keys
#define DUE_metadata
#define DUE_metadata_set
#define DUE_schema_publish
#define DUE_schemas
#define DUE_schema_text
#define DUE_schema_sweep
#define DUE_schema_drop
#define DUE_purge
#define DUE_stats
#define DUE_get
#define DUE_list
#define DUE_queues
#define DUE_worker_tell
#define DUE_workers
#define DUE_worker_set
#define DUE_fsck /* what it repairs was damaged: see tests/stores/redis/test_verbs.c */
#define DUE_doctor
#define DUE_now
#define DUE_wake_arm
#define DUE_wake_take
#define DUE_events_keep
#define DUE_events
#define DUE_run_log
#define DUE_figures_add
#define DUE_figures
#define DUE_wait
#define DUE_wait_arm
#define DUE_batch /* cases_batch.c */
#define DUE_batch_look
#define DUE_batch_review

static void assert_wakes(struct suite *suite, struct due *due)
{
    if (due->prepare != NULL)
        due->prepare(suite, due);
    arm_quietly(suite);
    int fd = arm(suite);
    struct culex_store *waiting = suite->store;
    suite->store = suite_open_again(suite);
    due->act(suite, due);
    suite->store->ops->close(suite->store);
    suite->store = waiting;
    if (!is_woken(suite, fd))
        fail_msg("nobody is woken: %s", due->way);
    suite_end(suite, ANN, due->id, suite_take(suite, ANN, due->id), CULEX_EVENT_DONE, 0);
}

void case_wake__each_verb_that_makes_a_run_due(struct suite *suite)
{
    struct due ways[] = {
#define VERB(name, effect, parameters, arguments, check) DUE_##name
#include "store/verbs.def"
#undef VERB
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        snprintf(suite->queue, sizeof suite->queue, "way%zu", i); /* where nobody was replaced */
        assert_wakes(suite, &ways[i]);
    }
}

/* --- who offers what runs need ------------------------------------------------------------------
 */

static const struct culex_run_limit one_gpu = {CULEX_LIMIT_NEEDS, "needs gpu:1", NULL, .count = 0};

static culex_uuid put_needy(struct suite *suite, int64_t delay_ms)
{
    struct culex_new_run run = suite_run(suite);
    run.limits = &one_gpu;
    run.limit_count = 1;
    run.delay_ms = delay_ms;
    return suite_put_run(suite, &run);
}

/* As a worker that offers one and finds nothing to do; in company, nothing but a suspect. */
static int arm_offering(struct suite *suite, bool in_company)
{
    char bell[CULEX_QUEUE_NAME_MAX + 16];
    struct culex_step step = suite_step_make(suite, ANN, 1);
    step.offers = "gpu:1";
    step.in_company = in_company;
    snprintf(bell, sizeof bell, "%s gpu:1", suite->queue);
    assert_int_equal(suite_step(suite, &step), 0);
    return arm_for(suite, bell);
}

static culex_uuid take_needy(struct suite *suite, const char *session, uint32_t *ret_attempt)
{
    struct culex_step step = suite_step_make(suite, session, 1);
    step.offers = "gpu:1";
    assert_int_equal(suite_step(suite, &step), 1);
    *ret_attempt = suite->reply.grants[0].facts.attempt;
    return suite->reply.grants[0].facts.id;
}

static void needy_enqueue(struct suite *suite)
{
    put_needy(suite, 0);
}

/* Its worker gives it back, or is gone for good, which another finds out that offers nothing. */
static void needy_release(struct suite *suite)
{
    uint32_t attempt;
    put_needy(suite, 0);
    culex_uuid id = take_needy(suite, BOB, &attempt);
    suite_end(suite, BOB, id, attempt, CULEX_EVENT_RELEASE, 0);
}

static void needy_lose(struct suite *suite)
{
    uint32_t attempt;
    put_needy(suite, 0);
    take_needy(suite, BOB, &attempt);
    suite->now_ms += SUITE_LEASE_MS + 1;
    assert_int_equal(suite_claim(suite, BOB, 1), 0);
}

static void needy_come_due(struct suite *suite)
{
    put_needy(suite, 1000);
    suite->now_ms += 1000;
    assert_int_equal(suite_claim(suite, BOB, 1), 0);
}

/* One of two is claimed: the next sleeper is to have the other. */
static void needy_leave(struct suite *suite)
{
    uint32_t attempt;
    put_needy(suite, 0);
    put_needy(suite, 0);
    take_needy(suite, BOB, &attempt);
}

void case_wake__each_way_to_wait_for_needs(struct suite *suite)
{
    static void (*const ways[])(struct suite * suite) = {needy_enqueue, needy_release, needy_lose,
                                                         needy_come_due, needy_leave};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        snprintf(suite->queue, sizeof suite->queue, "needy%zu", i);
        suite_hello(suite, "host/1", ANN);
        suite_hello(suite, "host/2", BOB);
        int fd = arm_offering(suite, false);
        struct culex_store *sleeper = suite->store, *other = suite_open_again(suite);
        suite->store = other;
        ways[i](suite);
        suite->store = sleeper;
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        bool woken = false;
        for (int tries = 0; tries < 100 && !woken; tries++) {
            poll(&wait, 1, 100);
            assert_ok(sleeper->ops->wake_take(sleeper, &woken, NULL));
        }
        if (!woken)
            fail_msg("nobody is woken in way %zu", i);
        uint32_t attempt;
        take_needy(suite, ANN, &attempt);
        other->ops->close(other);
    }
}

/* What was put there meanwhile has woken them for nothing. */
void case_wake__resumed_queue_tells_who_offers(struct suite *suite)
{
    const struct culex_store_ops *ops = suite->store->ops;
    suite_hello(suite, "host/1", ANN);
    suite_hello(suite, "host/2", BOB);
    assert_ok(ops->pause(suite->store, suite->queue, true, NULL));
    put_needy(suite, 0);
    bool woken = true;
    int fd = -1;
    for (int tries = 0; tries < 5 && woken; tries++) {
        fd = arm_offering(suite, false);
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        woken = poll(&wait, 1, 100) > 0;
        if (woken)
            assert_ok(ops->wake_take(suite->store, &woken, NULL));
    }
    assert_false(woken);
    struct culex_store *other = suite_open_again(suite);
    assert_ok(other->ops->pause(other, suite->queue, false, NULL));
    other->ops->close(other);
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    for (int tries = 0; tries < 100 && !woken; tries++) {
        poll(&wait, 1, 100);
        assert_ok(ops->wake_take(suite->store, &woken, NULL));
    }
    assert_true(woken);
    uint32_t attempt;
    take_needy(suite, ANN, &attempt);
}

/* A suspect starts alone: a worker with a run at work is not given it, and would ask in vain for as
 * long as that goes on. */
void case_wake__suspect_that_needs_something_is_left_to_its_turn(struct suite *suite)
{
    uint32_t attempt;
    suite_hello(suite, "host/1", ANN);
    suite_hello(suite, "host/2", BOB);
    put_needy(suite, 0);
    for (int i = 0; i < 2; i++) {
        take_needy(suite, BOB, &attempt);
        suite_pass(suite, SUITE_LEASE_MS + 1);
        assert_int_equal(suite_claim(suite, BOB, 1), 0);
    }
    bool is_woken = true;
    for (int tries = 0; tries < 5 && is_woken; tries++) {
        struct pollfd wait = {.fd = arm_offering(suite, true), .events = POLLIN};
        is_woken = poll(&wait, 1, 100) > 0;
        if (is_woken)
            assert_ok(suite->store->ops->wake_take(suite->store, &is_woken, NULL));
    }
    assert_false(is_woken);
}

/* Somebody must come then, and all that wait may sleep beyond it. */
void case_wake__run_that_is_due_before_what_is_known(struct suite *suite)
{
    static const int64_t delays_ms[] = {5000, 1000, 50};
    for (size_t i = 0; i < sizeof delays_ms / sizeof delays_ms[0]; i++) {
        struct culex_new_run run = suite_run(suite);
        run.delay_ms = delays_ms[i];
        arm_quietly(suite);
        int fd = arm(suite);
        struct culex_store *waiting = suite->store;
        suite->store = suite_open_again(suite);
        suite_put_run(suite, &run);
        suite->store->ops->close(suite->store);
        suite->store = waiting;
        if (!is_woken(suite, fd))
            fail_msg("nobody is woken for a run in %d ms", (int)run.delay_ms);
    }
}
