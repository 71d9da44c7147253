/* suite/cases_after.c - runs that wait for the end of another, each of which comes in once or
 * never. */
#include "suite.h"

#include "cases.h"

#define HOUR_MS (60 * INT64_C(60000))

/* A run into `queue` after this one has ended, by `id`. */
static culex_status after_as(struct suite *suite, culex_uuid id, culex_uuid run,
                             culex_batch_when when, const char *queue,
                             const struct culex_new_run *what)
{
    const struct culex_follow_up call = {queue, *what};
    const struct culex_batch_order order = {.act = CULEX_BATCH_AFTER,
                                            .queue = suite->queue,
                                            .id = id,
                                            .run = run,
                                            .keep_ms = HOUR_MS,
                                            .when = when,
                                            .call = &call};
    return suite->store->ops->batch(suite->store, &order, NULL);
}

static culex_status after_when(struct suite *suite, culex_uuid run, culex_batch_when when)
{
    struct culex_new_run what = suite_run(suite);
    return after_as(suite, suite_id(suite), run, when, "calls", &what);
}

static culex_status after(struct suite *suite, culex_uuid run)
{
    return after_when(suite, run, CULEX_BATCH_ON_SUCCESS);
}

static culex_uuid put(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    return suite_put_run(suite, &run);
}

/* Kept for a minute, so that there is something to ask of. */
static culex_uuid put_kept(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.keep_success_ms = SUITE_MINUTE_MS;
    return suite_put_run(suite, &run);
}

static void end(struct suite *suite, culex_uuid id, enum culex_run_event event)
{
    uint32_t attempt = suite_take(suite, ANN, id);
    assert_int_equal(suite_end(suite, ANN, id, attempt, event, 0), CULEX_ANSWER_OK);
}

/* How many came in since the last time. */
static void assert_came(struct suite *suite, size_t expected)
{
    char queue[sizeof suite->queue];
    suite_step(suite, &(struct culex_step){.queue = suite->queue,
                                           .session = BOB,
                                           .nonce = suite_step_make(suite, BOB, 0).nonce});
    assert_string_equal(suite->reply.follow_ups_left.text, "");
    strcpy(queue, suite->queue);
    strcpy(suite->queue, "calls");
    assert_int_equal(suite_claim(suite, EVE, 2 * CULEX_RUN_BATCHES_MAX), expected);
    strcpy(suite->queue, queue);
}

static void assert_sound(struct suite *suite)
{
    culex_fsck_counts counts = suite_fsck(suite, false);
    assert_int_equal(counts.wrong, 0);
    assert_int_equal(counts.damaged, 0);
}

void case_after__comes_in_when_the_run_is_done(struct suite *suite)
{
    culex_uuid id = put(suite);
    assert_ok(after(suite, id));
    assert_sound(suite);
    assert_came(suite, 0);
    end(suite, id, CULEX_EVENT_DONE);
    assert_came(suite, 1);
    assert_came(suite, 0);
    assert_sound(suite);
}

void case_after__of_a_run_at_work(struct suite *suite)
{
    culex_uuid id = put(suite);
    uint32_t attempt = suite_take(suite, ANN, id);
    assert_ok(after(suite, id));
    assert_int_equal(suite_end(suite, ANN, id, attempt, CULEX_EVENT_DONE, 0), CULEX_ANSWER_OK);
    assert_came(suite, 1);
}

void case_after__of_a_run_among_others_in_its_claim(struct suite *suite)
{
    culex_uuid ids[5];
    for (size_t i = 0; i < 5; i++)
        ids[i] = put(suite);
    assert_int_equal(suite_claim(suite, ANN, 5), 5);
    assert_ok(after(suite, ids[2]));
    assert_sound(suite);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(suite_end(suite, ANN, ids[i], 1, CULEX_EVENT_DONE, 0), CULEX_ANSWER_OK);
        assert_came(suite, i == 2);
    }
}

void case_after__of_a_delayed_run(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.delay_ms = SUITE_MINUTE_MS;
    culex_uuid id = suite_put_run(suite, &run);
    assert_ok(after(suite, id));
    suite_pass(suite, SUITE_MINUTE_MS);
    end(suite, id, CULEX_EVENT_DONE);
    assert_came(suite, 1);
}

void case_after__failure_to_be_retried_is_no_end(struct suite *suite)
{
    culex_uuid id = put(suite);
    assert_ok(after(suite, id));
    end(suite, id, CULEX_EVENT_FAIL);
    suite_pass(suite, 1);
    assert_came(suite, 0);
    end(suite, id, CULEX_EVENT_DONE);
    assert_came(suite, 1);
}

void case_after__never_comes_in_when_the_run_is_dead_or_cancelled(struct suite *suite)
{
    culex_uuid dead = put(suite), cancelled = put(suite), purged;
    assert_ok(after(suite, dead));
    assert_ok(after(suite, cancelled));
    suite_cancel(suite, cancelled);
    end(suite, dead, CULEX_EVENT_DISCARD);
    purged = put(suite);
    assert_ok(after(suite, purged));
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 10), 1);
    assert_came(suite, 0);
    assert_sound(suite);
}

void case_after__other_ends_may_be_waited_for(struct suite *suite)
{
    culex_uuid dead = put(suite), cancelled = put(suite);
    assert_ok(after_when(suite, dead, CULEX_BATCH_ON_DEATH));
    assert_ok(after_when(suite, dead, CULEX_BATCH_ON_COMPLETE));
    assert_ok(after_when(suite, dead, CULEX_BATCH_ON_SUCCESS));
    assert_ok(after_when(suite, cancelled, CULEX_BATCH_ON_DEATH));
    assert_ok(after_when(suite, cancelled, CULEX_BATCH_ON_COMPLETE));
    suite_cancel(suite, cancelled);
    assert_came(suite, 1);
    end(suite, dead, CULEX_EVENT_DISCARD);
    assert_came(suite, 2);
}

void case_after__of_a_run_that_has_ended(struct suite *suite)
{
    culex_uuid done = put_kept(suite), dead = put(suite), cancelled = put_kept(suite);
    suite_cancel(suite, cancelled);
    end(suite, done, CULEX_EVENT_DONE);
    assert_ok(after(suite, done));
    assert_came(suite, 1);
    end(suite, dead, CULEX_EVENT_DISCARD);
    assert_int_equal(after(suite, dead), CULEX_ESTATE);
    assert_int_equal(after(suite, cancelled), CULEX_ESTATE);
    assert_int_equal(after_when(suite, done, CULEX_BATCH_ON_DEATH), CULEX_ESTATE);
    assert_ok(after_when(suite, dead, CULEX_BATCH_ON_DEATH));
    assert_came(suite, 1);
    assert_sound(suite);
}

void case_after__of_a_run_that_is_not_there(struct suite *suite)
{
    culex_uuid id = put(suite);
    assert_int_equal(after(suite, suite_id(suite)), CULEX_ENOTFOUND);
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 10), 1);
    assert_int_equal(after(suite, id), CULEX_ENOTFOUND);
    strcpy(suite->queue, "nobody.knows");
    assert_int_equal(after(suite, id), CULEX_ENOTFOUND);
}

/* Also when the run that is waited for is forgotten. */
void case_after__repeats_change_nothing(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite), what = suite_run(suite), other = suite_run(suite);
    run.keep_success_ms = 0;
    culex_uuid id = suite_put_run(suite, &run), name = suite_id(suite);
    other.content = what.content + 1;
    for (size_t i = 0; i < 2; i++)
        assert_ok(after_as(suite, name, id, CULEX_BATCH_ON_SUCCESS, "calls", &what));
    assert_int_equal(after_as(suite, name, id, CULEX_BATCH_ON_SUCCESS, "calls", &other),
                     CULEX_ECONFLICT);
    end(suite, id, CULEX_EVENT_DONE);
    assert_ok(after_as(suite, name, id, CULEX_BATCH_ON_SUCCESS, "calls", &what));
    assert_came(suite, 1);
    assert_ok(after_as(suite, name, id, CULEX_BATCH_ON_SUCCESS, "calls", &what));
    assert_came(suite, 0);
    assert_int_equal(after(suite, id), CULEX_ENOTFOUND);
}

/* What waited was dropped as the run ended: the answer is that of a first call. */
void case_after__repeat_of_what_never_comes_in_is_refused(struct suite *suite)
{
    struct culex_new_run what = suite_run(suite), other = suite_run(suite);
    culex_uuid dead = put(suite), done = put_kept(suite), gone = put(suite);
    culex_uuid names[3] = {suite_id(suite), suite_id(suite), suite_id(suite)};
    other.content = what.content + 1;
    assert_ok(after_as(suite, names[0], dead, CULEX_BATCH_ON_SUCCESS, "calls", &what));
    assert_ok(after_as(suite, names[1], done, CULEX_BATCH_ON_DEATH, "calls", &what));
    assert_ok(after_as(suite, names[2], gone, CULEX_BATCH_ON_SUCCESS, "calls", &what));
    end(suite, dead, CULEX_EVENT_DISCARD);
    end(suite, done, CULEX_EVENT_DONE);
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 10), 1);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(after_as(suite, names[0], dead, CULEX_BATCH_ON_SUCCESS, "calls", &what),
                         CULEX_ESTATE);
        assert_int_equal(after_as(suite, names[1], done, CULEX_BATCH_ON_DEATH, "calls", &what),
                         CULEX_ESTATE);
        assert_int_equal(after_as(suite, names[2], gone, CULEX_BATCH_ON_SUCCESS, "calls", &what),
                         CULEX_ENOTFOUND);
    }
    assert_int_equal(after_as(suite, names[0], dead, CULEX_BATCH_ON_SUCCESS, "calls", &other),
                     CULEX_ECONFLICT);
    assert_came(suite, 0);
    assert_sound(suite);
}

static void revive(struct suite *suite, culex_uuid id)
{
    assert_ok(suite->store->ops->retry(suite->store, suite->queue, id, NULL));
}

void case_after__repeat_waits_anew_for_a_run_that_is_revived(struct suite *suite)
{
    struct culex_new_run what = suite_run(suite);
    culex_uuid id = put_kept(suite), name = suite_id(suite), late = suite_id(suite);
    assert_ok(after_as(suite, name, id, CULEX_BATCH_ON_SUCCESS, "calls", &what));
    assert_ok(after_as(suite, late, id, CULEX_BATCH_ON_SUCCESS, "calls", &what));
    end(suite, id, CULEX_EVENT_DISCARD);
    revive(suite, id);
    for (size_t i = 0; i < 2; i++)
        assert_ok(after_as(suite, name, id, CULEX_BATCH_ON_SUCCESS, "calls", &what));
    assert_sound(suite);
    assert_came(suite, 0);
    end(suite, id, CULEX_EVENT_DONE);
    assert_came(suite, 1);
    assert_ok(after_as(suite, late, id, CULEX_BATCH_ON_SUCCESS, "calls", &what));
    assert_came(suite, 1);
    for (size_t i = 0; i < 2; i++) {
        assert_ok(after_as(suite, name, id, CULEX_BATCH_ON_SUCCESS, "calls", &what));
        assert_ok(after_as(suite, late, id, CULEX_BATCH_ON_SUCCESS, "calls", &what));
    }
    assert_came(suite, 0);
    assert_sound(suite);
}

void case_after__a_hundred_wait_for_a_run(struct suite *suite)
{
    culex_uuid id = put(suite);
    for (size_t i = 0; i < CULEX_RUN_BATCHES_MAX; i++)
        assert_ok(after(suite, id));
    assert_int_equal(after(suite, id), CULEX_ELIMIT);
    assert_sound(suite);
    end(suite, id, CULEX_EVENT_DONE);
    assert_came(suite, CULEX_RUN_BATCHES_MAX);
    assert_came(suite, 0);
    assert_sound(suite);
}

void case_after__the_run_is_a_member_until_its_end(struct suite *suite)
{
    culex_uuid id = put_kept(suite);
    assert_false(suite_get(suite, id)->is_member);
    assert_ok(after(suite, id));
    assert_true(suite_get(suite, id)->is_member);
    end(suite, id, CULEX_EVENT_DONE);
    assert_false(suite_get(suite, id)->is_member);
}

void case_after__of_a_member_of_a_batch(struct suite *suite)
{
    struct culex_batch_order order = {.act = CULEX_BATCH_OPEN,
                                      .queue = suite->queue,
                                      .id = suite_id(suite),
                                      .open_ms = HOUR_MS,
                                      .keep_ms = HOUR_MS};
    struct culex_new_run run = suite_run(suite);
    culex_batch_info info;
    assert_ok(suite->store->ops->batch(suite->store, &order, NULL));
    run.has_batch = true;
    run.batch = order.id;
    culex_uuid id = suite_put_run(suite, &run);
    assert_ok(after(suite, id));
    end(suite, id, CULEX_EVENT_DONE);
    assert_came(suite, 1);
    assert_ok(suite->store->ops->batch_look(suite->store, suite->queue, order.id, &info, NULL));
    assert_int_equal(info.done, 1);
    assert_sound(suite);
}

void case_after__of_a_run_that_is_kept_for_no_time(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    run.keep_success_ms = 0;
    culex_uuid id = suite_put_run(suite, &run);
    assert_ok(after(suite, id));
    end(suite, id, CULEX_EVENT_DONE);
    assert_came(suite, 1);
}

void case_after__goes_to_its_own_queue_and_chains(struct suite *suite)
{
    struct culex_new_run what = suite_run(suite);
    culex_uuid id = put(suite);
    assert_ok(after_as(suite, suite_id(suite), id, CULEX_BATCH_ON_SUCCESS, suite->queue, &what));
    end(suite, id, CULEX_EVENT_DONE);
    assert_came(suite, 0);
    assert_int_equal(suite_claim(suite, ANN, 2), 1);
    assert_ok(after(suite, suite->reply.grants[0].facts.id));
    assert_int_equal(suite_end(suite, ANN, suite->reply.grants[0].facts.id, 1, CULEX_EVENT_DONE, 0),
                     CULEX_ANSWER_OK);
    assert_came(suite, 1);
}

void case_after__what_is_out_of_form_is_refused(struct suite *suite)
{
    culex_uuid id = put(suite);
    struct culex_new_run what = suite_run(suite);
    assert_int_equal(after_when(suite, id, CULEX_BATCH_MEMBER), CULEX_EINVAL);
    assert_int_equal(after_as(suite, (culex_uuid){{0}}, id, CULEX_BATCH_ON_SUCCESS, "calls", &what),
                     CULEX_EINVAL);
    assert_int_equal(after_as(suite, suite_id(suite), id, CULEX_BATCH_ON_SUCCESS, "no|name", &what),
                     CULEX_EINVAL);
    what.idempotency_key = "key";
    what.window_ms = 1000;
    assert_int_equal(after_as(suite, suite_id(suite), id, CULEX_BATCH_ON_SUCCESS, "calls", &what),
                     CULEX_EINVAL);
    end(suite, id, CULEX_EVENT_DONE);
    assert_came(suite, 0);
}
