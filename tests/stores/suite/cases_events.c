/* suite/cases_events.c - what becomes of runs: told once, in its order, from a position on. */
#include "suite.h"

#include "store/event_entry.h"

#include "cases.h"

static culex_status keep(struct suite *suite, uint64_t most)
{
    return suite->store->ops->events_keep(suite->store, suite->queue, most, NULL);
}

/* A queue that has begun and keeps so many. */
static void begin(struct suite *suite, uint64_t most)
{
    suite_hello(suite, "ann", ANN);
    assert_ok(keep(suite, most));
}

static struct culex_event_list page(struct suite *suite, uint64_t after, size_t most)
{
    struct culex_event_list list = {.of = NULL};
    assert_ok(suite->store->ops->events(suite->store, suite->queue, after, most, &list, NULL));
    return list;
}

static uint64_t newest(struct suite *suite)
{
    struct culex_event_list list = page(suite, CULEX_EVENTS_NOW, 1);
    assert_int_equal(list.count, 0);
    assert_false(list.is_gap);
    assert_int_equal(list.newest, list.position);
    return list.position;
}

/* "KIND ATTEMPT" of each event behind `after`, of the run `id` or of none; "/" behind each. */
static void assert_told_of(struct suite *suite, uint64_t after, const culex_uuid *id,
                           const char *wanted)
{
    struct culex_event_list list = page(suite, after, CULEX_EVENTS_PAGE_MAX);
    char found[1024] = "";
    for (size_t i = 0; i < list.count; i++) {
        const culex_event *event = &list.of[i];
        assert_int_equal(event->position, after + i + 1);
        assert_int_equal(event->at_ms, suite->now_ms);
        bool is_run = event->kind < CULEX_EVENTS_PURGED;
        assert_true(suite_same_id(event->id, is_run && id != NULL ? *id : (culex_uuid){{0}}));
        bool is_named = event->kind <= CULEX_EVENTS_REPLACED;
        assert_string_equal(event->job, is_named ? "shop.send_email" : "");
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s %u/",
                 culex_events_kind_name(event->kind), event->attempt + event->count);
    }
    assert_false(list.is_gap);
    assert_int_equal(list.position, after + list.count);
    assert_string_equal(found, wanted);
    culex__event_list_release(&list);
}

/* A queue with a run that is at work, and the position behind its start. */
static uint64_t at_work(struct suite *suite, culex_uuid *ret_id)
{
    begin(suite, 100);
    *ret_id = suite_put(suite);
    suite_take(suite, ANN, *ret_id);
    return newest(suite);
}

void case_events__life_of_a_run(struct suite *suite)
{
    begin(suite, 100);
    culex_uuid id = suite_put(suite);
    assert_told_of(suite, 0, &id, "enqueued 0/");
    suite_take(suite, ANN, id);
    assert_told_of(suite, 1, &id, "started 1/");
    suite_end(suite, ANN, id, 1, CULEX_EVENT_DONE, 0);
    assert_told_of(suite, 0, &id, "enqueued 0/started 1/done 1/");
}

void case_events__success_that_is_kept_for_no_time(struct suite *suite)
{
    begin(suite, 100);
    struct culex_new_run run = suite_run(suite);
    run.keep_success_ms = 0;
    culex_uuid id = suite_put_run(suite, &run);
    suite_take(suite, ANN, id);
    suite_end(suite, ANN, id, 1, CULEX_EVENT_DONE, 0);
    assert_told_of(suite, 0, &id, "enqueued 0/started 1/done 1/");
}

/* With a result it has a record. */
void case_events__success_with_a_result(struct suite *suite)
{
    culex_uuid id;
    uint64_t after = at_work(suite, &id);
    struct culex_ack ack = {
        .id = id, .attempt = 1, .event = CULEX_EVENT_DONE, .result = "1", .result_len = 1};
    assert_int_equal(suite_ack(suite, ANN, ack), CULEX_ANSWER_OK);
    assert_told_of(suite, after, &id, "done 1/");
}

void case_events__failures(struct suite *suite)
{
    culex_uuid id;
    uint64_t after = at_work(suite, &id);
    suite_end(suite, ANN, id, 1, CULEX_EVENT_FAIL, 0);
    assert_told_of(suite, after, &id, "failed 1/");
    suite_take(suite, ANN, id);
    suite_end(suite, ANN, id, 2, CULEX_EVENT_CRASH, 0);
    suite_take(suite, ANN, id);
    suite_end(suite, ANN, id, 3, CULEX_EVENT_RELEASE, 0);
    suite_take(suite, ANN, id);
    suite_end(suite, ANN, id, 4, CULEX_EVENT_DISCARD, 0);
    assert_told_of(suite, after, &id,
                   "failed 1/started 2/crashed 2/started 3/released 3/started 4/failed 4/dead 4/");
}

void case_events__last_attempt_is_told_before_the_death(struct suite *suite)
{
    begin(suite, 100);
    struct culex_new_run run = suite_run(suite);
    run.attempts_max = 1;
    culex_uuid id = suite_put_run(suite, &run);
    suite_take(suite, ANN, id);
    uint64_t after = newest(suite);
    suite_end(suite, ANN, id, 1, CULEX_EVENT_FAIL, 0);
    assert_told_of(suite, after, &id, "failed 1/dead 1/");
    after = newest(suite);
    assert_ok(suite->store->ops->retry(suite->store, suite->queue, id, NULL));
    assert_told_of(suite, after, &id, "retried 1/");
    assert_int_equal(suite->store->ops->retry(suite->store, suite->queue, id, NULL), CULEX_ESTATE);
    assert_told_of(suite, after, &id, "retried 1/");
}

void case_events__lease_that_ran_out(struct suite *suite)
{
    culex_uuid id;
    uint64_t after = at_work(suite, &id);
    suite_pass(suite, SUITE_LEASE_MS + 1);
    assert_told_of(suite, after, &id, "lost 1/");
}

void case_events__worker_that_was_replaced(struct suite *suite)
{
    culex_uuid id;
    uint64_t after = at_work(suite, &id);
    suite_hello(suite, "ann", BOB);
    assert_told_of(suite, after, &id, "lost 1/");
}

void case_events__expired_run_is_dead(struct suite *suite)
{
    begin(suite, 100);
    struct culex_new_run run = suite_run(suite);
    run.expires_ms = 1000;
    culex_uuid id = suite_put_run(suite, &run);
    uint64_t after = newest(suite);
    suite->now_ms += 1001;
    suite_claim(suite, ANN, 1);
    assert_told_of(suite, after, &id, "dead 0/");
}

void case_events__cancel(struct suite *suite)
{
    begin(suite, 100);
    culex_uuid id = suite_put(suite);
    uint64_t after = newest(suite);
    suite_cancel(suite, id);
    assert_told_of(suite, after, &id, "cancelled 0/");
    after = newest(suite);
    id = suite_put(suite);
    suite_take(suite, ANN, id);
    suite_cancel(suite, id);
    assert_told_of(suite, after, &id, "enqueued 0/started 1/");
    after = newest(suite);
    suite_end(suite, ANN, id, 1, CULEX_EVENT_FAIL, 0);
    assert_told_of(suite, after, &id, "failed 1/cancelled 1/");
}

void case_events__move(struct suite *suite)
{
    begin(suite, 100);
    culex_uuid id = suite_put(suite);
    uint64_t after = newest(suite);
    struct culex_place place = {.priority = suite->priority};
    assert_ok(suite->store->ops->move(suite->store, suite->queue, id, &place, NULL));
    assert_int_equal(newest(suite), after);
    place = (struct culex_place){.has_time = true, .delay_ms = 5000, .priority = -1};
    assert_ok(suite->store->ops->move(suite->store, suite->queue, id, &place, NULL));
    assert_told_of(suite, after, &id, "moved 0/");
}

void case_events__replaced_run(struct suite *suite)
{
    begin(suite, 100);
    struct culex_new_run run = suite_run(suite);
    run.unique_key = "aa";
    run.unique_replaces = true;
    culex_uuid id = suite_put_run(suite, &run);
    uint64_t after = newest(suite);
    assert_int_equal(suite_enqueue(suite, &run), CULEX_ENQUEUED_REPLACED);
    assert_told_of(suite, after, &id, "replaced 0/");
    run.unique_replaces = false;
    assert_int_equal(suite_enqueue(suite, &run), CULEX_ENQUEUED_UNIQUE_TAKEN);
    assert_told_of(suite, after, &id, "replaced 0/");
}

void case_events__deleted_runs(struct suite *suite)
{
    culex_uuid id;
    uint64_t after = at_work(suite, &id);
    suite_end(suite, ANN, id, 1, CULEX_EVENT_DONE, 0);
    assert_int_equal(suite->store->ops->forget(suite->store, suite->queue, id, NULL), CULEX_OK);
    assert_told_of(suite, after, &id, "done 1/forgotten 1/");
    suite_put(suite);
    suite_put(suite);
    after = newest(suite);
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 100), 2);
    assert_told_of(suite, after, NULL, "purged 2/");
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 100), 0);
    assert_told_of(suite, after, NULL, "purged 2/");
}

void case_events__pause(struct suite *suite)
{
    const struct culex_store_ops *ops = suite->store->ops;
    begin(suite, 100);
    assert_ok(ops->pause(suite->store, suite->queue, false, NULL));
    assert_ok(ops->pause(suite->store, suite->queue, true, NULL));
    assert_ok(ops->pause(suite->store, suite->queue, true, NULL));
    assert_told_of(suite, 0, NULL, "paused 0/");
    assert_ok(ops->pause(suite->store, suite->queue, false, NULL));
    assert_ok(ops->pause(suite->store, suite->queue, false, NULL));
    assert_told_of(suite, 0, NULL, "paused 0/resumed 0/");
    assert_ok(ops->pause_for(suite->store, suite->queue, 1000, NULL));
    assert_told_of(suite, 2, NULL, "paused 0/");
    suite_pass(suite, 1001);
    assert_told_of(suite, 3, NULL, "resumed 0/");
}

void case_events__periodic_runs(struct suite *suite)
{
    begin(suite, 100);
    struct culex_new_run run = suite_run(suite);
    struct culex_tick tick = {
        .queue = suite->queue, .schedule = "nightly", .interval_ms = 1000, .run = &run};
    struct culex_tick_reply reply;
    tick.may_overlap = true;
    assert_ok(suite->store->ops->tick(suite->store, &tick, &reply, NULL));
    assert_ok(suite->store->ops->tick(suite->store, &tick, &reply, NULL));
    assert_int_equal(newest(suite), 1);
    struct culex_enqueue_result result;
    for (int i = 0; i < 2; i++)
        assert_ok(suite->store->ops->schedule_run(suite->store, suite->queue, "nightly", 7, &run,
                                                  &result, NULL));
    assert_told_of(suite, 1, &result.id, "enqueued 0/");
}

/* Of runs of one call in their order, and of one run what comes first before what follows. */
void case_events__come_in_their_order(struct suite *suite)
{
    enum { RUNS = 40 };
    struct culex_new_run runs[RUNS];
    struct culex_enqueue_result results[RUNS];
    begin(suite, 1000);
    for (size_t i = 0; i < RUNS; i++)
        runs[i] = suite_run(suite);
    suite_put_many(suite, runs, RUNS, results);
    struct culex_event_list list = page(suite, 0, CULEX_EVENTS_PAGE_MAX);
    assert_int_equal(list.count, RUNS);
    for (size_t i = 0; i < RUNS; i++)
        assert_true(suite_same_id(list.of[i].id, results[i].id));
    culex__event_list_release(&list);
    assert_int_equal(suite_claim(suite, ANN, RUNS), RUNS);
    struct culex_step step = suite_step_make(suite, ANN, 0);
    struct culex_ack acks[RUNS] = {{.attempt = 0}};
    for (size_t i = 0; i < RUNS; i++)
        acks[i] = (struct culex_ack){.id = results[i].id,
                                     .attempt = 1,
                                     .event = CULEX_EVENT_DONE,
                                     .claim_ms = suite->now_ms};
    step.acks = acks;
    step.ack_count = RUNS;
    suite_step(suite, &step);
    list = page(suite, RUNS, CULEX_EVENTS_PAGE_MAX);
    assert_int_equal(list.count, 2 * RUNS);
    for (size_t i = 0; i < 2 * RUNS; i++) {
        assert_int_equal(list.of[i].kind, i < RUNS ? CULEX_EVENTS_STARTED : CULEX_EVENTS_DONE);
        assert_true(suite_same_id(list.of[i].id, results[i % RUNS].id));
        assert_int_equal(list.of[i].position, RUNS + i + 1);
    }
    culex__event_list_release(&list);
}

/* Numbers that follow each other are written together, others are not. */
void case_events__of_every_other_run(struct suite *suite)
{
    enum { RUNS = 9 };
    struct culex_new_run runs[RUNS];
    struct culex_enqueue_result results[RUNS];
    struct culex_ack acks[RUNS];
    begin(suite, 1000);
    for (size_t i = 0; i < RUNS; i++)
        runs[i] = suite_run(suite);
    suite_put_many(suite, runs, RUNS, results);
    assert_int_equal(suite_claim(suite, ANN, RUNS), RUNS);
    for (size_t first = 0; first < 2; first++) {
        uint64_t after = newest(suite);
        struct culex_step step = suite_step_make(suite, ANN, 0);
        for (size_t i = first; i < RUNS; i += 2)
            acks[step.ack_count++] = (struct culex_ack){.id = results[i].id,
                                                        .attempt = 1,
                                                        .event = CULEX_EVENT_DONE,
                                                        .claim_ms = suite->now_ms};
        step.acks = acks;
        suite_step(suite, &step);
        struct culex_event_list list = page(suite, after, CULEX_EVENTS_PAGE_MAX);
        assert_int_equal(list.count, step.ack_count);
        for (size_t i = 0; i < list.count; i++)
            assert_true(suite_same_id(list.of[i].id, results[first + 2 * i].id));
        culex__event_list_release(&list);
    }
}

void case_events__repeated_calls_are_told_once(struct suite *suite)
{
    begin(suite, 100);
    struct culex_new_run run = suite_run(suite);
    struct culex_ticket ticket = suite_ticket(suite);
    struct culex_enqueue_result result;
    for (int i = 0; i < 3; i++)
        assert_ok(suite_call(suite, &ticket, &run, 1, &result));
    assert_told_of(suite, 0, &result.id, "enqueued 0/");
    struct culex_step step = suite_step_make(suite, ANN, 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(suite_step(suite, &step), 1);
    assert_told_of(suite, 1, &result.id, "started 1/");
    struct culex_ack ack = {.id = result.id, .attempt = 1, .event = CULEX_EVENT_FAIL};
    step = suite_step_make(suite, ANN, 0);
    step.acks = &ack;
    step.ack_count = 1;
    for (int i = 0; i < 3; i++)
        suite_step(suite, &step);
    assert_told_of(suite, 2, &result.id, "failed 1/");
    assert_int_equal(suite_end(suite, ANN, result.id, 1, CULEX_EVENT_FAIL, 0), CULEX_ANSWER_STALE);
    assert_told_of(suite, 2, &result.id, "failed 1/");
}

void case_events__refused_calls_tell_nothing(struct suite *suite)
{
    begin(suite, 100);
    assert_ok(suite->store->ops->limit(suite->store, suite->queue, 1, NULL));
    suite_put(suite);
    struct culex_new_run run = suite_run(suite);
    assert_int_equal(suite_enqueue(suite, &run), CULEX_ENQUEUED_FULL);
    struct culex_new_run bound[] = {suite_run(suite), suite_run(suite)};
    struct culex_enqueue_result results[2];
    bound[0].is_bound = bound[1].is_bound = true;
    struct culex_ticket ticket = suite_ticket(suite);
    assert_ok(suite_call(suite, &ticket, bound, 2, results));
    assert_int_equal(newest(suite), 1);
}

void case_events__pages(struct suite *suite)
{
    enum { RUNS = 25 };
    struct culex_new_run runs[RUNS];
    struct culex_enqueue_result results[RUNS];
    begin(suite, 100);
    for (size_t i = 0; i < RUNS; i++)
        runs[i] = suite_run(suite);
    suite_put_many(suite, runs, RUNS, results);
    suite_put(suite);
    uint64_t after = 0;
    for (size_t at = 0; at <= RUNS; at += 4) {
        struct culex_event_list list = page(suite, after, 4);
        assert_int_equal(list.count, at + 4 <= RUNS + 1 ? 4 : 2);
        assert_int_equal(list.of[0].position, after + 1);
        assert_false(list.is_gap);
        after = list.position;
        culex__event_list_release(&list);
    }
    assert_int_equal(after, RUNS + 1);
}

/* What is beyond the number that is kept is told no more, and that it is not. */
void case_events__gap(struct suite *suite)
{
    begin(suite, 10);
    for (int i = 0; i < 200; i++)
        suite_put(suite);
    struct culex_event_list list = page(suite, 189, 100);
    assert_int_equal(list.count, 11 - 1);
    assert_true(list.is_gap);
    assert_int_equal(list.of[0].position, 191);
    culex__event_list_release(&list);
    list = page(suite, 190, 100);
    assert_int_equal(list.count, 10);
    assert_false(list.is_gap);
    assert_int_equal(list.newest, 200);
    assert_int_equal(list.kept, 10);
    culex__event_list_release(&list);
    list = page(suite, CULEX_EVENTS_OLDEST, 3);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.of[0].position, 191);
    assert_false(list.is_gap);
    culex__event_list_release(&list);
    list = page(suite, 1000, 100); /* the store was set back */
    assert_int_equal(list.count, 10);
    assert_true(list.is_gap);
    culex__event_list_release(&list);
}

/* An entry may be kept in part. */
void case_events__fewer_than_one_call_brings(struct suite *suite)
{
    enum { RUNS = 30 };
    struct culex_new_run runs[RUNS];
    struct culex_enqueue_result results[RUNS];
    begin(suite, 10);
    for (size_t i = 0; i < RUNS; i++)
        runs[i] = suite_run(suite);
    suite_put_many(suite, runs, RUNS, results);
    struct culex_event_list list = page(suite, CULEX_EVENTS_OLDEST, 100);
    assert_int_equal(list.count, 10);
    assert_int_equal(list.of[0].position, 21);
    culex__event_list_release(&list);
}

void case_events__are_off_at_first_and_again(struct suite *suite)
{
    suite_put(suite);
    assert_int_equal(newest(suite), 0);
    begin(suite, 5);
    suite_put(suite);
    suite_put(suite);
    assert_int_equal(newest(suite), 2);
    assert_ok(keep(suite, 0));
    assert_ok(keep(suite, 0));
    suite_put(suite);
    struct culex_event_list list = page(suite, 1, 10);
    assert_int_equal(list.count, 0);
    assert_true(list.is_gap);
    assert_int_equal(list.position, 3); /* switching them off took one */
    assert_int_equal(list.newest, 3);
    assert_int_equal(list.kept, 0);
    list = page(suite, CULEX_EVENTS_OLDEST, 10);
    assert_false(list.is_gap);
    assert_ok(keep(suite, 5));
    culex_uuid id = suite_put(suite);
    assert_told_of(suite, 3, &id, "enqueued 0/");
}

void case_events__of_a_queue_that_nobody_has_used(struct suite *suite)
{
    struct culex_event_list list = page(suite, 0, 10);
    assert_int_equal(list.count, 0);
    assert_int_equal(list.position, 0);
    assert_int_equal(keep(suite, 10), CULEX_ENOTFOUND);
    assert_int_equal(newest(suite), 0);
}

void case_events__what_is_out_of_form_is_refused(struct suite *suite)
{
    struct culex_event_list list = {.of = NULL};
    struct culex_store *store = suite->store;
    begin(suite, CULEX_STORE_EVENTS_KEPT_MAX);
    assert_int_equal(keep(suite, CULEX_STORE_EVENTS_KEPT_MAX + 1), CULEX_EINVAL);
    assert_int_equal(store->ops->events(store, suite->queue, 0, 0, &list, NULL), CULEX_EINVAL);
    assert_int_equal(
        store->ops->events(store, suite->queue, 0, CULEX_STORE_EVENTS_PAGE_MAX + 1, &list, NULL),
        CULEX_EINVAL);
    assert_int_equal(store->ops->events(store, suite->queue, UINT64_MAX - 1, 1, &list, NULL),
                     CULEX_EINVAL);
    assert_int_equal(store->ops->events(store, "a b", 0, 1, &list, NULL), CULEX_EINVAL);
    assert_int_equal(store->ops->events_keep(store, "", 1, NULL), CULEX_EINVAL);
}
