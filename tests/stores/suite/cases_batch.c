/* suite/cases_batch.c - batches: what their members' ends come to, and callbacks, each once. */
#include "suite.h"

#include "cases.h"

#define HOUR_MS (60 * INT64_C(60000))

/* A batch of the suite's queue, open for an hour and kept for another. */
static struct culex_batch_order order_of(struct suite *suite, culex_uuid id)
{
    return (struct culex_batch_order){.act = CULEX_BATCH_OPEN,
                                      .queue = suite->queue,
                                      .id = id,
                                      .open_ms = HOUR_MS,
                                      .keep_ms = HOUR_MS};
}

static culex_status give(struct suite *suite, const struct culex_batch_order *order)
{
    return suite->store->ops->batch(suite->store, order, NULL);
}

static culex_uuid open_in(struct suite *suite, culex_uuid parent)
{
    struct culex_batch_order order = order_of(suite, suite_id(suite));
    order.parent = parent;
    assert_ok(give(suite, &order));
    return order.id;
}

static culex_uuid open_one(struct suite *suite)
{
    return open_in(suite, (culex_uuid){{0}});
}

static void close_one(struct suite *suite, culex_uuid id)
{
    struct culex_batch_order order = order_of(suite, id);
    order.act = CULEX_BATCH_CLOSE;
    assert_ok(give(suite, &order));
}

/* Its job tells its kind. */
static struct culex_new_run callback(struct suite *suite, culex_batch_when when)
{
    static const char *const jobs[] = {"", "t.complete", "t.success", "t.death"};
    struct culex_new_run run = suite_run(suite);
    run.job = jobs[when];
    return run;
}

static culex_status call_as(struct suite *suite, culex_uuid id, culex_batch_when when,
                            const char *queue, const struct culex_new_run *run)
{
    const struct culex_follow_up call = {queue, *run};
    struct culex_batch_order order = order_of(suite, id);
    order.act = CULEX_BATCH_CALL;
    order.when = when;
    order.call = &call;
    return give(suite, &order);
}

static culex_status call_when(struct suite *suite, culex_uuid id, culex_batch_when when)
{
    struct culex_new_run run = callback(suite, when);
    return call_as(suite, id, when, "calls", &run);
}

static void call_all(struct suite *suite, culex_uuid id)
{
    for (int when = CULEX_BATCH_ON_COMPLETE; when <= CULEX_BATCH_ON_DEATH; when++)
        assert_ok(call_when(suite, id, (culex_batch_when)when));
}

static culex_uuid member(struct suite *suite, culex_uuid batch)
{
    struct culex_new_run run = suite_run(suite);
    run.has_batch = true;
    run.batch = batch;
    return suite_put_run(suite, &run);
}

static void end(struct suite *suite, culex_uuid id, enum culex_run_event event)
{
    uint32_t attempt = suite_take(suite, ANN, id);
    assert_int_equal(suite_end(suite, ANN, id, attempt, event, 0), CULEX_ANSWER_OK);
}

static culex_batch_info look(struct suite *suite, culex_uuid id)
{
    culex_batch_info info;
    assert_ok(suite->store->ops->batch_look(suite->store, suite->queue, id, &info, NULL));
    return info;
}

static void assert_counts(struct suite *suite, culex_uuid id, uint64_t added, uint64_t done,
                          uint64_t dead, uint64_t cancelled)
{
    culex_batch_info info = look(suite, id);
    assert_int_equal(info.added, added);
    assert_int_equal(info.done, done);
    assert_int_equal(info.dead, dead);
    assert_int_equal(info.cancelled, cancelled);
}

/* A letter for each callback that came in since the last time, sorted: c, d, s. */
static void assert_called(struct suite *suite, const char *letters)
{
    char queue[sizeof suite->queue], found[8] = "";
    size_t counts[3] = {0}, len = 0;
    suite_step(suite, &(struct culex_step){.queue = suite->queue,
                                           .session = BOB,
                                           .nonce = suite_step_make(suite, BOB, 0).nonce});
    assert_string_equal(suite->reply.follow_ups_left.text, "");
    strcpy(queue, suite->queue);
    strcpy(suite->queue, "calls");
    size_t count = suite_claim(suite, EVE, 9);
    for (size_t i = 0; i < count; i++) {
        const char *at = strchr("cds", suite->reply.grants[i].job[2]);
        assert_non_null(at);
        counts[at - "cds"]++;
    }
    strcpy(suite->queue, queue);
    for (size_t i = 0; i < 3; i++) {
        for (; counts[i] > 0 && len < 7; counts[i]--)
            found[len++] = "cds"[i];
    }
    assert_string_equal(found, letters);
}

void case_batch__ends_with_the_last_of_its_members(struct suite *suite)
{
    culex_uuid batch = open_one(suite), first, second;
    call_all(suite, batch);
    first = member(suite, batch);
    second = member(suite, batch);
    close_one(suite, batch);
    end(suite, first, CULEX_EVENT_DONE);
    assert_called(suite, "");
    assert_false(look(suite, batch).is_ended);
    end(suite, second, CULEX_EVENT_DONE);
    assert_true(look(suite, batch).is_ended);
    assert_called(suite, "cs");
    assert_counts(suite, batch, 2, 2, 0, 0);
    assert_called(suite, "");
}

void case_batch__does_not_end_before_it_is_closed(struct suite *suite)
{
    culex_uuid batch = open_one(suite);
    call_all(suite, batch);
    end(suite, member(suite, batch), CULEX_EVENT_DONE);
    assert_called(suite, "");
    assert_false(look(suite, batch).is_closed);
    end(suite, member(suite, batch), CULEX_EVENT_DONE);
    close_one(suite, batch);
    assert_called(suite, "cs");
    close_one(suite, batch);
    assert_called(suite, "");
}

void case_batch__without_members_ends_as_it_is_closed(struct suite *suite)
{
    culex_uuid batch = open_one(suite);
    call_all(suite, batch);
    close_one(suite, batch);
    assert_called(suite, "cs");
}

void case_batch__first_death_is_told_once(struct suite *suite)
{
    culex_uuid batch = open_one(suite), ids[3];
    call_all(suite, batch);
    for (size_t i = 0; i < 3; i++)
        ids[i] = member(suite, batch);
    end(suite, ids[0], CULEX_EVENT_DISCARD);
    assert_called(suite, "d");
    end(suite, ids[1], CULEX_EVENT_DISCARD);
    end(suite, ids[2], CULEX_EVENT_DONE);
    assert_called(suite, "");
    close_one(suite, batch);
    assert_called(suite, "c");
    assert_counts(suite, batch, 3, 1, 2, 0);
}

void case_batch__failure_to_be_retried_is_no_end(struct suite *suite)
{
    culex_uuid batch = open_one(suite), id = member(suite, batch);
    call_all(suite, batch);
    close_one(suite, batch);
    end(suite, id, CULEX_EVENT_FAIL);
    suite_pass(suite, 1);
    assert_called(suite, "");
    end(suite, id, CULEX_EVENT_DONE);
    assert_called(suite, "cs");
}

void case_batch__grows_while_a_member_is_left(struct suite *suite)
{
    culex_uuid batch = open_one(suite), first = member(suite, batch), second;
    call_all(suite, batch);
    close_one(suite, batch);
    uint32_t attempt = suite_take(suite, ANN, first);
    second = member(suite, batch);
    assert_int_equal(suite_end(suite, ANN, first, attempt, CULEX_EVENT_DONE, 0), CULEX_ANSWER_OK);
    assert_called(suite, "");
    end(suite, second, CULEX_EVENT_DONE);
    assert_called(suite, "cs");
}

void case_batch__takes_no_member_once_it_has_ended(struct suite *suite)
{
    culex_uuid batch = open_one(suite);
    struct culex_new_run run = suite_run(suite);
    struct culex_enqueue_result result;
    run.has_batch = true;
    run.batch = suite_id(suite);
    assert_int_equal(suite_call(suite, NULL, &run, 1, &result), CULEX_ENOTFOUND);
    run.batch = batch;
    close_one(suite, batch);
    assert_int_equal(suite_call(suite, NULL, &run, 1, &result), CULEX_ESTATE);
    assert_int_equal(suite_stats(suite).enqueued, 0);
    assert_counts(suite, batch, 0, 0, 0, 0);
}

/* Of each state that a run can be purged in before its end. */
void case_batch__delayed_member_that_is_purged_counts_as_cancelled(struct suite *suite)
{
    culex_uuid batch = open_one(suite);
    struct culex_new_run run = suite_run(suite);
    run.has_batch = true;
    run.batch = batch;
    run.delay_ms = SUITE_MINUTE_MS;
    call_all(suite, batch);
    suite_put_run(suite, &run);
    suite_put_run(suite, &run);
    close_one(suite, batch);
    assert_int_equal(suite_purge(suite, CULEX_RUN_SCHEDULED, 1), 1);
    assert_counts(suite, batch, 2, 0, 0, 1);
    assert_int_equal(suite_purge(suite, CULEX_RUN_SCHEDULED, 10), 1);
    assert_counts(suite, batch, 2, 0, 0, 2);
    assert_called(suite, "c");
}

void case_batch__member_that_goes_counts_as_cancelled(struct suite *suite)
{
    culex_uuid batch = open_one(suite), cancelled = member(suite, batch);
    call_all(suite, batch);
    member(suite, batch);
    close_one(suite, batch);
    suite_cancel(suite, cancelled);
    assert_counts(suite, batch, 2, 0, 0, 1);
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 10), 1);
    assert_counts(suite, batch, 2, 0, 0, 2);
    assert_called(suite, "c");
}

void case_batch__member_that_expires_is_dead(struct suite *suite)
{
    culex_uuid batch = open_one(suite);
    struct culex_new_run run = suite_run(suite);
    call_all(suite, batch);
    run.has_batch = true;
    run.batch = batch;
    run.expires_ms = 1000;
    suite_put_run(suite, &run);
    close_one(suite, batch);
    suite->now_ms += 2000;
    assert_int_equal(suite_claim(suite, ANN, 1), 0);
    assert_called(suite, "cd");
    assert_counts(suite, batch, 1, 0, 1, 0);
}

void case_batch__member_that_is_lost_for_good_is_dead(struct suite *suite)
{
    culex_uuid batch = open_one(suite), id = member(suite, batch);
    call_all(suite, batch);
    close_one(suite, batch);
    for (int i = 0; suite_state(suite, id) != CULEX_RUN_DEAD && i < 20; i++) {
        uint32_t attempt = suite_take(suite, ANN, id);
        suite_beat(suite, ANN, id, attempt, SUITE_LEASE_MS);
        suite_tell(suite, ANN,
                   (struct culex_beat){.id = id, .attempt = attempt, .is_started = true});
        suite_pass(suite, SUITE_LEASE_MS + 1);
    }
    assert_state(suite, id, CULEX_RUN_DEAD);
    assert_called(suite, "cd");
}

void case_batch__member_that_is_kept_for_no_time(struct suite *suite)
{
    culex_uuid batch = open_one(suite);
    struct culex_new_run run = suite_run(suite);
    call_all(suite, batch);
    run.has_batch = true;
    run.batch = batch;
    run.keep_success_ms = 0;
    culex_uuid id = suite_put_run(suite, &run);
    close_one(suite, batch);
    end(suite, id, CULEX_EVENT_DONE);
    assert_null(suite_get(suite, id));
    assert_called(suite, "cs");
}

void case_batch__revived_member_is_counted_already(struct suite *suite)
{
    culex_uuid batch = open_one(suite), id = member(suite, batch);
    call_all(suite, batch);
    end(suite, id, CULEX_EVENT_DISCARD);
    assert_ok(suite->store->ops->retry(suite->store, suite->queue, id, NULL));
    close_one(suite, batch);
    assert_called(suite, "cd");
    end(suite, id, CULEX_EVENT_DISCARD);
    assert_called(suite, "");
    assert_counts(suite, batch, 1, 0, 1, 0);
}

void case_batch__only_new_runs_are_members(struct suite *suite)
{
    culex_uuid batch = open_one(suite);
    struct culex_new_run runs[2] = {suite_run(suite), suite_run(suite)};
    struct culex_enqueue_result results[2];
    for (size_t i = 0; i < 2; i++) {
        runs[i].has_batch = true;
        runs[i].batch = batch;
        runs[i].unique_key = "aa";
        runs[i].unique_while = CULEX_UNIQUE_LIVE;
    }
    suite_put_many(suite, runs, 2, results);
    assert_int_equal(results[1].outcome, CULEX_ENQUEUED_UNIQUE_TAKEN);
    assert_counts(suite, batch, 1, 0, 0, 0);
}

void case_batch__repeats_change_nothing(struct suite *suite)
{
    culex_uuid batch = open_one(suite);
    struct culex_batch_order again = order_of(suite, batch);
    struct culex_ticket ticket = suite_ticket(suite);
    struct culex_new_run run = suite_run(suite);
    struct culex_new_run first = callback(suite, CULEX_BATCH_ON_COMPLETE),
                         other = callback(suite, CULEX_BATCH_ON_COMPLETE);
    struct culex_enqueue_result results[2];
    run.has_batch = true;
    run.batch = batch;
    for (size_t i = 0; i < 2; i++) {
        assert_ok(give(suite, &again));
        assert_ok(call_as(suite, batch, CULEX_BATCH_ON_COMPLETE, "calls", &first));
        assert_ok(suite_call(suite, &ticket, &run, 1, &results[i]));
    }
    assert_true(suite_same_id(results[0].id, results[1].id));
    assert_int_equal(call_as(suite, batch, CULEX_BATCH_ON_COMPLETE, "calls", &other),
                     CULEX_ECONFLICT);
    assert_counts(suite, batch, 1, 0, 0, 0);
    close_one(suite, batch);
    end(suite, results[0].id, CULEX_EVENT_DONE);
    assert_called(suite, "c");
    assert_ok(call_as(suite, batch, CULEX_BATCH_ON_COMPLETE, "calls", &first));
    assert_ok(suite_call(suite, &ticket, &run, 1, &results[1]));
    assert_called(suite, "");
}

/* The same params are not the same callback. */
void case_batch__callback_that_is_to_come_in_otherwise_is_another_one(struct suite *suite)
{
    culex_uuid batch = open_one(suite);
    struct culex_new_run first = callback(suite, CULEX_BATCH_ON_COMPLETE), other = first;
    assert_ok(call_as(suite, batch, CULEX_BATCH_ON_COMPLETE, "calls", &first));
    assert_int_equal(call_as(suite, batch, CULEX_BATCH_ON_COMPLETE, "other", &first),
                     CULEX_ECONFLICT);
    other.delay_ms = 1000;
    assert_int_equal(call_as(suite, batch, CULEX_BATCH_ON_COMPLETE, "calls", &other),
                     CULEX_ECONFLICT);
    other = first;
    other.priority = 3;
    assert_int_equal(call_as(suite, batch, CULEX_BATCH_ON_COMPLETE, "calls", &other),
                     CULEX_ECONFLICT);
    other = first;
    other.expires_ms = 1000;
    assert_int_equal(call_as(suite, batch, CULEX_BATCH_ON_COMPLETE, "calls", &other),
                     CULEX_ECONFLICT);
    other = first;
    other.tags = "t";
    assert_int_equal(call_as(suite, batch, CULEX_BATCH_ON_COMPLETE, "calls", &other),
                     CULEX_ECONFLICT);
    assert_ok(call_as(suite, batch, CULEX_BATCH_ON_COMPLETE, "calls", &first));
}

/* What a key leads to is the answer, whatever became of the batch; what is new is refused. */
void case_batch__that_has_ended_answers_what_a_key_leads_to(struct suite *suite)
{
    culex_uuid batch = open_one(suite);
    struct culex_new_run runs[2] = {suite_run(suite), suite_run(suite)};
    struct culex_enqueue_result result, results[2];
    for (size_t i = 0; i < 2; i++) {
        runs[i].has_batch = true;
        runs[i].batch = batch;
        runs[i].idempotency_key = i == 0 ? "k" : "l";
        runs[i].window_ms = 2 * HOUR_MS;
    }
    culex_uuid id = suite_put_run(suite, &runs[0]);
    close_one(suite, batch);
    end(suite, id, CULEX_EVENT_DONE);
    assert_true(look(suite, batch).is_ended);
    assert_ok(suite_call(suite, NULL, &runs[0], 1, &result));
    assert_int_equal(result.outcome, CULEX_ENQUEUED_DUPLICATE);
    assert_true(suite_same_id(result.id, id));
    assert_int_equal(suite_call(suite, NULL, runs, 2, results), CULEX_ESTATE);
    runs[0].content++;
    assert_ok(suite_call(suite, NULL, &runs[0], 1, &result));
    assert_int_equal(result.outcome, CULEX_ENQUEUED_CONFLICT);
    runs[0].content--;
    suite_pass(suite, HOUR_MS);
    assert_ok(suite_call(suite, NULL, &runs[0], 1, &result));
    assert_int_equal(result.outcome, CULEX_ENQUEUED_DUPLICATE);
    assert_int_equal(suite_call(suite, NULL, runs, 2, results), CULEX_ENOTFOUND);
    suite_pass(suite, HOUR_MS);
    assert_int_equal(suite_call(suite, NULL, &runs[0], 1, &result), CULEX_ENOTFOUND);
}

void case_batch__callback_of_what_is_told_already_comes_in(struct suite *suite)
{
    culex_uuid batch = open_one(suite);
    end(suite, member(suite, batch), CULEX_EVENT_DISCARD);
    close_one(suite, batch);
    assert_ok(call_when(suite, batch, CULEX_BATCH_ON_COMPLETE));
    assert_ok(call_when(suite, batch, CULEX_BATCH_ON_DEATH));
    assert_called(suite, "cd");
}

void case_batch__callback_of_what_can_not_come_about_is_refused(struct suite *suite)
{
    culex_uuid good = open_one(suite), dead = open_one(suite), cancelled = open_one(suite),
               late = open_one(suite);
    close_one(suite, good);
    assert_int_equal(call_when(suite, good, CULEX_BATCH_ON_DEATH), CULEX_ESTATE);
    assert_ok(call_when(suite, good, CULEX_BATCH_ON_SUCCESS));
    end(suite, member(suite, dead), CULEX_EVENT_DISCARD);
    assert_int_equal(call_when(suite, dead, CULEX_BATCH_ON_SUCCESS), CULEX_ESTATE);
    suite_cancel(suite, member(suite, cancelled));
    assert_int_equal(call_when(suite, cancelled, CULEX_BATCH_ON_SUCCESS), CULEX_ESTATE);
    assert_ok(call_when(suite, cancelled, CULEX_BATCH_ON_DEATH)); /* another one may be dead */
    assert_called(suite, "s");
    member(suite, late);
    suite_pass(suite, HOUR_MS);
    assert_int_equal(call_when(suite, late, CULEX_BATCH_ON_SUCCESS), CULEX_ESTATE);
    assert_ok(call_when(suite, late, CULEX_BATCH_ON_DEATH));
}

void case_batch__repeat_of_a_callback_that_never_comes_in_is_known(struct suite *suite)
{
    culex_uuid batch = open_one(suite);
    struct culex_new_run success = callback(suite, CULEX_BATCH_ON_SUCCESS),
                         death = callback(suite, CULEX_BATCH_ON_DEATH);
    assert_ok(call_as(suite, batch, CULEX_BATCH_ON_SUCCESS, "calls", &success));
    assert_ok(call_as(suite, batch, CULEX_BATCH_ON_DEATH, "calls", &death));
    suite_cancel(suite, member(suite, batch));
    close_one(suite, batch);
    assert_ok(call_as(suite, batch, CULEX_BATCH_ON_SUCCESS, "calls", &success));
    assert_ok(call_as(suite, batch, CULEX_BATCH_ON_DEATH, "calls", &death));
    assert_int_equal(call_when(suite, batch, CULEX_BATCH_ON_DEATH), CULEX_ECONFLICT);
    assert_called(suite, "");
}

void case_batch__callback_goes_to_its_own_queue(struct suite *suite)
{
    culex_uuid batch = open_one(suite);
    struct culex_new_run run = callback(suite, CULEX_BATCH_ON_SUCCESS);
    run.delay_ms = 1000;
    run.payload = "{\"n\":7}";
    run.payload_len = strlen(run.payload);
    assert_ok(call_as(suite, batch, CULEX_BATCH_ON_SUCCESS, suite->queue, &run));
    end(suite, member(suite, batch), CULEX_EVENT_DONE);
    close_one(suite, batch);
    suite_pass(suite, 1);
    assert_false(suite->reply.is_empty);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_SCHEDULED], 1);
    suite->now_ms += 1000;
    assert_int_equal(suite_claim(suite, BOB, 9), 1);
    assert_int_equal(suite->reply.grants[0].payload_len, run.payload_len);
    assert_memory_equal(suite->reply.grants[0].payload, run.payload, run.payload_len);
}

void case_batch__that_nobody_closes_ends_by_time(struct suite *suite)
{
    culex_uuid batch = open_one(suite), id = member(suite, batch);
    call_all(suite, batch);
    suite_pass(suite, HOUR_MS - 1);
    assert_false(look(suite, batch).is_closed);
    suite_pass(suite, 1);
    assert_true(look(suite, batch).is_closed);
    assert_true(look(suite, batch).is_expired);
    assert_called(suite, "");
    end(suite, id, CULEX_EVENT_DONE);
    assert_called(suite, "c");
}

void case_batch__is_forgotten_by_time(struct suite *suite)
{
    culex_uuid batch = open_one(suite);
    culex_batch_info info;
    call_all(suite, batch);
    close_one(suite, batch);
    assert_called(suite, "cs");
    suite_pass(suite, HOUR_MS - 1);
    look(suite, batch);
    assert_in_range(suite->reply.due_in_ms, 0, SUITE_SECOND_MS);
    suite_pass(suite, 1);
    assert_int_equal(suite->store->ops->batch_look(suite->store, suite->queue, batch, &info, NULL),
                     CULEX_ENOTFOUND);
}

/* Its callback may look at it, however short it is kept. */
void case_batch__is_kept_until_its_callbacks_are_in(struct suite *suite)
{
    struct culex_batch_order order = order_of(suite, suite_id(suite));
    culex_batch_info info;
    order.keep_ms = 0;
    assert_ok(give(suite, &order));
    call_all(suite, order.id);
    close_one(suite, order.id);
    assert_called(suite, "cs");
    assert_true(look(suite, order.id).is_ended);
    suite_pass(suite, SUITE_MINUTE_MS);
    assert_int_equal(
        suite->store->ops->batch_look(suite->store, suite->queue, order.id, &info, NULL),
        CULEX_ENOTFOUND);
}

static struct culex_batch_review review(struct suite *suite)
{
    struct culex_batch_review review;
    assert_ok(suite->store->ops->batch_review(suite->store, suite->queue, &review, NULL));
    return review;
}

void case_batch__review_counts_what_is_open(struct suite *suite)
{
    struct culex_batch_review found = review(suite);
    assert_int_equal(found.open, 0);
    assert_int_equal(found.open_since_ms, 0);
    culex_uuid first = open_one(suite);
    int64_t began_ms = review(suite).now_ms;
    suite_pass(suite, SUITE_MINUTE_MS);
    culex_uuid second = open_in(suite, first);
    found = review(suite);
    assert_int_equal(found.open, 2);
    assert_int_equal(found.open_since_ms, began_ms);
    assert_int_equal(found.now_ms, began_ms + SUITE_MINUTE_MS);
    close_one(suite, first); /* which has not ended */
    found = review(suite);
    assert_int_equal(found.open, 1);
    assert_int_equal(found.open_since_ms, began_ms + SUITE_MINUTE_MS);
    assert_int_equal(found.due, 0);
    suite_pass(suite, HOUR_MS);
    assert_true(look(suite, second).is_expired);
    assert_int_equal(review(suite).open, 0);
}

void case_batch__review_counts_what_a_step_is_to_bring(struct suite *suite)
{
    culex_uuid batch = open_one(suite), id = member(suite, batch);
    culex_run_state state;
    call_all(suite, batch);
    close_one(suite, batch);
    assert_int_equal(review(suite).due, 0);
    assert_ok(suite->store->ops->cancel(suite->store, suite->queue, id, &state, NULL));
    assert_int_equal(review(suite).due, 1);
    assert_called(suite, "c");
    assert_int_equal(review(suite).due, 0);
}

void case_batch__in_a_batch_is_a_member_of_it(struct suite *suite)
{
    culex_uuid outer = open_one(suite), inner = open_in(suite, outer), bad = open_in(suite, outer);
    culex_uuid good_run = member(suite, inner), bad_run = member(suite, bad);
    call_all(suite, outer);
    close_one(suite, outer);
    close_one(suite, inner);
    close_one(suite, bad);
    end(suite, good_run, CULEX_EVENT_DONE);
    assert_counts(suite, outer, 2, 1, 0, 0);
    assert_called(suite, "");
    end(suite, bad_run, CULEX_EVENT_DISCARD);
    assert_counts(suite, outer, 2, 1, 1, 0);
    assert_called(suite, "cd");
}

static culex_status open_again(struct suite *suite, culex_uuid id, culex_uuid parent)
{
    struct culex_batch_order order = order_of(suite, id);
    order.parent = parent;
    return give(suite, &order);
}

/* Who opens it once more and names what it is in otherwise would wait for nothing. */
void case_batch__is_in_one_batch_only(struct suite *suite)
{
    const culex_uuid none = {{0}};
    culex_uuid outer = open_one(suite), other = open_one(suite), inner = open_in(suite, outer);
    assert_ok(open_again(suite, inner, outer));
    assert_int_equal(open_again(suite, inner, other), CULEX_ECONFLICT);
    assert_int_equal(open_again(suite, inner, none), CULEX_ECONFLICT);
    assert_int_equal(open_again(suite, outer, other), CULEX_ECONFLICT);
    assert_int_equal(open_again(suite, outer, outer), CULEX_ECONFLICT);
    assert_ok(open_again(suite, outer, none));
    assert_counts(suite, outer, 1, 0, 0, 0);
    assert_counts(suite, other, 0, 0, 0, 0);
}

/* Also when that one is forgotten before it. */
void case_batch__that_has_ended_is_known_by_what_it_was_in(struct suite *suite)
{
    struct culex_batch_order order = order_of(suite, suite_id(suite));
    order.keep_ms = SUITE_SECOND_MS;
    assert_ok(give(suite, &order));
    culex_uuid outer = order.id, inner = open_in(suite, outer), other = open_one(suite);
    close_one(suite, inner);
    close_one(suite, outer);
    for (size_t i = 0; i < 2; i++) {
        assert_ok(open_again(suite, inner, outer));
        assert_int_equal(open_again(suite, inner, other), CULEX_ECONFLICT);
        assert_int_equal(open_again(suite, inner, (culex_uuid){{0}}), CULEX_ECONFLICT);
        suite_pass(suite, SUITE_SECOND_MS);
    }
    culex_batch_info info;
    assert_int_equal(suite->store->ops->batch_look(suite->store, suite->queue, outer, &info, NULL),
                     CULEX_ENOTFOUND);
}

void case_batch__is_no_deeper_than_eight(struct suite *suite)
{
    culex_uuid outer = open_one(suite), innermost = outer;
    for (int depth = 2; depth <= 8; depth++)
        innermost = open_in(suite, innermost);
    struct culex_batch_order order = order_of(suite, suite_id(suite));
    order.parent = innermost;
    assert_int_equal(give(suite, &order), CULEX_ELIMIT);
    order.parent = suite_id(suite);
    assert_int_equal(give(suite, &order), CULEX_ENOTFOUND);
    assert_counts(suite, innermost, 0, 0, 0, 0);
}

void case_batch__of_many_members_ends_once(struct suite *suite)
{
    enum { MANY = 200 };
    struct culex_new_run runs[MANY];
    struct culex_enqueue_result results[MANY];
    culex_uuid batch = open_one(suite);
    call_all(suite, batch);
    for (size_t i = 0; i < MANY; i++) {
        runs[i] = suite_run(suite);
        runs[i].has_batch = true;
        runs[i].batch = batch;
    }
    suite_put_many(suite, runs, MANY, results);
    close_one(suite, batch);
    struct culex_ack acks[MANY] = {{.claim_ms = 0}};
    size_t count = suite_claim(suite, ANN, MANY);
    assert_int_equal(count, MANY);
    for (size_t i = 0; i < count; i++)
        acks[i] = (struct culex_ack){.id = suite->reply.grants[i].facts.id,
                                     .attempt = suite->reply.grants[i].facts.attempt,
                                     .event = CULEX_EVENT_DONE};
    struct culex_step step = suite_step_make(suite, ANN, 0);
    step.acks = acks;
    step.ack_count = count;
    suite_step(suite, &step);
    suite_step(suite, &step);
    assert_counts(suite, batch, MANY, MANY, 0, 0);
    assert_called(suite, "cs");
}

void case_batch__what_is_out_of_form_is_refused(struct suite *suite)
{
    struct culex_batch_order order = order_of(suite, (culex_uuid){{0}});
    assert_int_equal(give(suite, &order), CULEX_EINVAL);
    order = order_of(suite, suite_id(suite));
    order.open_ms = 0;
    assert_int_equal(give(suite, &order), CULEX_EINVAL);
    culex_uuid batch = open_one(suite);
    struct culex_new_run run = callback(suite, CULEX_BATCH_ON_DEATH);
    run.idempotency_key = "k";
    run.window_ms = 1000;
    assert_int_equal(call_as(suite, batch, CULEX_BATCH_ON_DEATH, "calls", &run), CULEX_EINVAL);
    struct culex_new_run runs[2] = {suite_run(suite), suite_run(suite)};
    struct culex_enqueue_result results[2];
    runs[1].has_batch = true;
    runs[1].batch = batch;
    assert_int_equal(suite_call(suite, NULL, runs, 2, results), CULEX_EINVAL);
    run = callback(suite, CULEX_BATCH_ON_DEATH);
    assert_int_equal(call_as(suite, batch, CULEX_BATCH_MEMBER, "calls", &run), CULEX_EINVAL);
    batch = suite_id(suite);
    run = callback(suite, CULEX_BATCH_ON_DEATH);
    assert_int_equal(call_as(suite, batch, CULEX_BATCH_ON_DEATH, "calls", &run), CULEX_ENOTFOUND);
}
