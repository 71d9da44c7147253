/* suite/cases_schedule.c - what is told of schedules, and what an operator does to them. */
#include "suite.h"

#include <string.h>

#include "cases.h"
#include "store/schedule_list.h"

enum { HOUR_MS = 3600000 };

static struct culex_tick_reply tick(struct suite *suite, struct culex_tick request)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_tick_reply reply = {0};
    request.queue = suite->queue;
    request.schedule = "shop.nightly";
    request.interval_ms = HOUR_MS;
    if (request.run == NULL)
        request.run = &run;
    assert_ok(suite->store->ops->tick(suite->store, &request, &reply, NULL));
    return reply;
}

static struct culex_tick by_calendar(int64_t tick_ms)
{
    return (struct culex_tick){.tick_ms = tick_ms, .is_of_calendar = true};
}

/* As where a worker starts, before the first tick. */
static void begin(struct suite *suite)
{
    struct culex_tick request = {.queue = suite->queue,
                                 .schedule = "shop.nightly",
                                 .interval_ms = 1,
                                 .is_of_calendar = true};
    struct culex_tick_reply reply;
    assert_ok(suite->store->ops->tick(suite->store, &request, &reply, NULL));
}

static struct culex_schedule_list list_all(struct suite *suite)
{
    struct culex_schedule_list list = {.now_ms = -1};
    assert_ok(suite->store->ops->schedules(suite->store, suite->queue, &list, NULL));
    assert_int_equal(list.now_ms, suite->now_ms);
    return list;
}

/* The only one; its texts are gone. */
static struct culex_schedule_row row_of(struct suite *suite)
{
    struct culex_schedule_list list = list_all(suite);
    assert_int_equal(list.count, 1);
    struct culex_schedule_row row = list.rows[0];
    assert_string_equal(row.name, "shop.nightly");
    row.name = NULL;
    row.template = NULL;
    culex__schedule_list_release(&list);
    return row;
}

static void act(struct suite *suite, enum culex_schedule_act what)
{
    assert_ok(
        suite->store->ops->schedule_set(suite->store, suite->queue, "shop.nightly", what, NULL));
}

static struct culex_enqueue_result run_now(struct suite *suite, int64_t asking)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_enqueue_result result;
    assert_ok(suite->store->ops->schedule_run(suite->store, suite->queue, "shop.nightly", asking,
                                              &run, &result, NULL));
    return result;
}

static void finish_newest(struct suite *suite)
{
    assert_int_equal(suite_claim(suite, ANN, 1), 1);
    const struct culex_grant *grant = &suite->reply.grants[0];
    suite_end(suite, ANN, grant->facts.id, grant->facts.attempt, CULEX_EVENT_DONE, 0);
}

void case_schedule__is_listed_from_its_first_mark(struct suite *suite)
{
    struct culex_schedule_list list = list_all(suite);
    assert_int_equal(list.count, 0);
    culex__schedule_list_release(&list);
    tick(suite, by_calendar(suite->now_ms + 5000)); /* still to come: no mark */
    list = list_all(suite);
    assert_int_equal(list.count, 0);
    culex__schedule_list_release(&list);
    begin(suite);
    struct culex_schedule_row row = row_of(suite);
    assert_int_equal(row.mark_ms, suite->now_ms);
    assert_int_equal(row.next_ms, 0);
    assert_int_equal(row.template_len, 0);
    assert_true(row.is_of_calendar);
    assert_false(row.is_paused);
    assert_memory_equal(&row.newest, &(culex_uuid){{0}}, sizeof row.newest);
}

void case_schedule__tells_what_its_ticks_said(struct suite *suite)
{
    int64_t began_ms = suite->now_ms;
    begin(suite);
    struct culex_tick request = by_calendar(began_ms + 5000);
    request.template = "a\0b";
    request.template_len = 3;
    request.may_overlap = true;
    tick(suite, request);
    struct culex_schedule_list list = list_all(suite);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.rows[0].mark_ms, began_ms);
    assert_int_equal(list.rows[0].next_ms, began_ms + 5000);
    assert_true(list.rows[0].may_overlap);
    assert_int_equal(list.rows[0].template_len, 3);
    assert_memory_equal(list.rows[0].template, "a\0b", 3);
    culex__schedule_list_release(&list);
    suite->now_ms += 6000;
    assert_true(tick(suite, by_calendar(began_ms + 5000)).is_enqueued); /* of who has no template */
    struct culex_schedule_row row = row_of(suite);
    assert_int_equal(row.mark_ms, began_ms + 5000);
    assert_int_equal(row.next_ms, began_ms + 5000 + HOUR_MS);
    assert_int_equal(row.template_len, 3);
    assert_false(row.may_overlap);
    assert_int_equal(suite_claim(suite, ANN, 1), 1);
    assert_memory_equal(&row.newest, &suite->reply.grants[0].facts.id, sizeof row.newest);
    tick(suite, by_calendar(began_ms)); /* of a worker that is behind: it knows of no later one */
    assert_int_equal(row_of(suite).next_ms, began_ms + 5000 + HOUR_MS);
}

void case_schedule__by_the_interval_tells_the_next_tick(struct suite *suite)
{
    int64_t began_ms = suite->now_ms;
    tick(suite, (struct culex_tick){.tick_ms = 0});
    assert_int_equal(row_of(suite).next_ms, began_ms + HOUR_MS);
    suite->now_ms += 1000;
    tick(suite, (struct culex_tick){.tick_ms = 0});
    assert_int_equal(row_of(suite).mark_ms, began_ms);
    assert_int_equal(row_of(suite).next_ms, began_ms + HOUR_MS);
    assert_false(row_of(suite).is_of_calendar);
}

void case_schedule__refused_tick_tells_nothing(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite), other = suite_run(suite);
    struct culex_tick request = {.run = &run, .template = "t", .template_len = 1};
    run.unique_key = other.unique_key = "ab";
    suite_put_run(suite, &other);
    assert_false(tick(suite, request).is_enqueued);
    struct culex_schedule_list list = list_all(suite);
    assert_int_equal(list.count, 0);
    culex__schedule_list_release(&list);
    assert_int_equal(suite_fsck(suite, false).wrong, 0);
    finish_newest(suite);
    assert_true(tick(suite, request).is_enqueued);
    assert_int_equal(row_of(suite).template_len, 1);
}

void case_schedule__paused_lets_its_ticks_pass(struct suite *suite)
{
    tick(suite, (struct culex_tick){.tick_ms = 0});
    finish_newest(suite);
    act(suite, CULEX_SCHEDULE_PAUSE);
    assert_true(row_of(suite).is_paused);
    for (int i = 0; i < 3; i++) {
        suite->now_ms += HOUR_MS;
        struct culex_tick_reply reply = tick(suite, (struct culex_tick){.tick_ms = 0});
        assert_false(reply.is_enqueued);
        assert_int_equal(reply.mark_ms, suite->now_ms);
        assert_int_equal(row_of(suite).next_ms, suite->now_ms + HOUR_MS);
    }
    act(suite, CULEX_SCHEDULE_PAUSE);
    act(suite, CULEX_SCHEDULE_RESUME);
    assert_false(row_of(suite).is_paused);
    assert_int_equal(row_of(suite).mark_ms, suite->now_ms);
    suite->now_ms += HOUR_MS;
    assert_true(tick(suite, (struct culex_tick){.tick_ms = 0}).is_enqueued);
}

void case_schedule__resumed_has_missed_nothing(struct suite *suite)
{
    begin(suite);
    act(suite, CULEX_SCHEDULE_PAUSE);
    suite->now_ms += 5000;
    act(suite, CULEX_SCHEDULE_RESUME);
    assert_int_equal(row_of(suite).mark_ms, suite->now_ms);
    assert_false(tick(suite, by_calendar(suite->now_ms - 1)).is_enqueued);
    suite->now_ms += 5000;
    act(suite, CULEX_SCHEDULE_RESUME); /* of one that runs: changes nothing */
    assert_int_equal(row_of(suite).mark_ms, suite->now_ms - 5000);
    assert_true(tick(suite, by_calendar(suite->now_ms)).is_enqueued);
}

/* By the interval a tick that nobody took is taken then. */
void case_schedule__resumed_by_the_interval_keeps_its_mark(struct suite *suite)
{
    int64_t began_ms = suite->now_ms;
    tick(suite, (struct culex_tick){.tick_ms = 0});
    finish_newest(suite);
    act(suite, CULEX_SCHEDULE_PAUSE);
    suite->now_ms += HOUR_MS + 5000;
    act(suite, CULEX_SCHEDULE_RESUME);
    assert_int_equal(row_of(suite).mark_ms, began_ms);
    assert_true(tick(suite, (struct culex_tick){.tick_ms = began_ms + HOUR_MS}).is_enqueued);
}

void case_schedule__forgotten_is_as_new(struct suite *suite)
{
    tick(suite, (struct culex_tick){.tick_ms = 0});
    finish_newest(suite);
    act(suite, CULEX_SCHEDULE_PAUSE);
    act(suite, CULEX_SCHEDULE_FORGET);
    struct culex_schedule_list list = list_all(suite);
    assert_int_equal(list.count, 0);
    culex__schedule_list_release(&list);
    assert_true(tick(suite, (struct culex_tick){.tick_ms = 0}).is_enqueued);
    assert_false(row_of(suite).is_paused);
}

void case_schedule__unknown_is_not_found(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_enqueue_result result;
    culex_error error;
    for (int round = 0; round < 2; round++) {
        error.text[0] = '\0';
        assert_int_equal(suite->store->ops->schedule_set(suite->store, suite->queue, "shop.other",
                                                         CULEX_SCHEDULE_PAUSE, &error),
                         CULEX_ENOTFOUND);
        assert_non_null(strstr(error.text, "no schedule 'shop.other'"));
        assert_int_equal(suite->store->ops->schedule_run(suite->store, suite->queue, "shop.other",
                                                         1, &run, &result, &error),
                         CULEX_ENOTFOUND);
        begin(suite); /* another one is no help */
    }
}

void case_schedule__run_out_of_turn_leaves_the_mark(struct suite *suite)
{
    int64_t began_ms = suite->now_ms;
    begin(suite);
    suite->now_ms += 1000;
    struct culex_enqueue_result result = run_now(suite, suite->now_ms);
    assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
    struct culex_schedule_row row = row_of(suite);
    assert_int_equal(row.mark_ms, began_ms);
    assert_memory_equal(&row.newest, &result.id, sizeof result.id);
    assert_int_equal(suite_claim(suite, ANN, 1), 1);
    assert_memory_equal(&suite->reply.grants[0].facts.id, &result.id, sizeof result.id);
}

void case_schedule__run_out_of_turn_that_is_asked_again_is_one(struct suite *suite)
{
    begin(suite);
    struct culex_enqueue_result first = run_now(suite, 7);
    finish_newest(suite);
    struct culex_enqueue_result again = run_now(suite, 7);
    assert_int_equal(again.outcome, CULEX_ENQUEUED_NEW);
    assert_memory_equal(&again.id, &first.id, sizeof first.id);
    assert_int_equal(suite_stats(suite).enqueued, 1);
    again = run_now(suite, 8);
    assert_int_equal(again.outcome, CULEX_ENQUEUED_NEW);
    assert_memory_not_equal(&again.id, &first.id, sizeof first.id);
    assert_int_equal(suite_stats(suite).enqueued, 2);
}

/* A tick in between, which had a run too, changes nothing. */
void case_schedule__run_out_of_turn_that_is_asked_again_is_told_its_own(struct suite *suite)
{
    begin(suite);
    struct culex_enqueue_result first = run_now(suite, 7);
    struct culex_tick request = by_calendar(suite->now_ms + 1000);
    request.may_overlap = true;
    suite->now_ms += 1000;
    assert_true(tick(suite, request).is_enqueued);
    struct culex_enqueue_result again = run_now(suite, 7);
    assert_int_equal(again.outcome, CULEX_ENQUEUED_NEW);
    assert_memory_equal(&again.id, &first.id, sizeof first.id);
    assert_int_equal(suite_stats(suite).enqueued, 2);
}

/* And is the run for ticks that come while it lives. */
void case_schedule__run_out_of_turn_overlaps_as_a_tick_does(struct suite *suite)
{
    struct culex_tick request = {.may_overlap = true};
    tick(suite, (struct culex_tick){.tick_ms = 0});
    struct culex_uuid live = row_of(suite).newest;
    struct culex_enqueue_result result = run_now(suite, 1);
    assert_int_equal(result.outcome, CULEX_ENQUEUED_UNIQUE_TAKEN);
    assert_memory_equal(&result.id, &live, sizeof live);
    finish_newest(suite);
    assert_int_equal(run_now(suite, 2).outcome, CULEX_ENQUEUED_NEW);
    suite->now_ms += HOUR_MS;
    assert_false(tick(suite, (struct culex_tick){.tick_ms = 0}).is_enqueued);
    suite->now_ms += HOUR_MS;
    assert_true(tick(suite, request).is_enqueued);
    assert_int_equal(run_now(suite, 3).outcome, CULEX_ENQUEUED_NEW);
    assert_int_equal(suite_stats(suite).enqueued, 4);
}

void case_schedule__run_out_of_turn_may_be_refused(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite), other = suite_run(suite);
    struct culex_enqueue_result result;
    begin(suite);
    run.unique_key = other.unique_key = "ab";
    culex_uuid holder = suite_put_run(suite, &other);
    assert_ok(suite->store->ops->schedule_run(suite->store, suite->queue, "shop.nightly", 5, &run,
                                              &result, NULL));
    assert_int_equal(result.outcome, CULEX_ENQUEUED_UNIQUE_TAKEN);
    assert_memory_equal(&result.id, &holder, sizeof holder);
    finish_newest(suite);
    assert_ok(suite->store->ops->schedule_run(suite->store, suite->queue, "shop.nightly", 5, &run,
                                              &result, NULL));
    assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
}

void case_schedule__paused_runs_out_of_turn(struct suite *suite)
{
    begin(suite);
    act(suite, CULEX_SCHEDULE_PAUSE);
    assert_int_equal(run_now(suite, 1).outcome, CULEX_ENQUEUED_NEW);
    assert_true(row_of(suite).is_paused);
    finish_newest(suite);
}

void case_schedule__queues_keep_theirs_apart(struct suite *suite)
{
    char queue[sizeof suite->queue];
    begin(suite);
    snprintf(queue, sizeof queue, "%s", suite->queue);
    snprintf(suite->queue, sizeof suite->queue, "other");
    struct culex_schedule_list list = list_all(suite);
    assert_int_equal(list.count, 0);
    culex__schedule_list_release(&list);
    begin(suite);
    act(suite, CULEX_SCHEDULE_PAUSE);
    snprintf(suite->queue, sizeof suite->queue, "%s", queue);
    assert_false(row_of(suite).is_paused);
}

void case_schedule__many_are_all_listed(struct suite *suite)
{
    enum { MANY = 700 };
    struct culex_new_run run = suite_run(suite);
    char name[32];
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "shop.job%d", i);
        struct culex_tick request = {.queue = suite->queue,
                                     .schedule = name,
                                     .interval_ms = HOUR_MS,
                                     .run = &run,
                                     .template = name,
                                     .template_len = strlen(name)};
        struct culex_tick_reply reply;
        assert_ok(suite->store->ops->tick(suite->store, &request, &reply, NULL));
    }
    struct culex_schedule_list list = list_all(suite);
    assert_int_equal(list.count, MANY);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "shop.job%d", i);
        const struct culex_schedule_row *row = culex__schedule_list_find(&list, name);
        assert_non_null(row);
        assert_int_equal(row->template_len, strlen(name));
        assert_memory_equal(row->template, name, row->template_len);
    }
    culex__schedule_list_release(&list);
}
