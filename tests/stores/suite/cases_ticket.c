/* suite/cases_ticket.c - the ids that stores make, and enqueue calls that are repeated. */
#include "suite.h"

#include "core/run_id.h"

#include "cases.h"

enum { HORIZON_MS = 10 * SUITE_MINUTE_MS };

/* --- ids -------------------------------------------------------------------------------------- */

static struct culex_run_id_parts parts_of(culex_uuid id)
{
    struct culex_run_id_parts parts = {.number = 0};
    assert_true(culex__run_id_read(id, &parts));
    return parts;
}

/* Of the next run, whose number is behind `last`, where both are of one lane. */
static struct culex_run_id_parts assert_next(struct suite *suite, struct culex_run_id_parts last)
{
    struct culex_run_id_parts parts = parts_of(suite_put(suite));
    assert_int_equal(parts.ms, suite->now_ms);
    assert_int_equal(parts.salt, last.salt);
    assert_true(parts.lane != last.lane || parts.number > last.number);
    return parts;
}

void case_id__has_the_time_the_salt_of_its_queue_and_a_number(struct suite *suite)
{
    struct culex_run_id_parts parts = parts_of(suite_put(suite));
    assert_int_equal(parts.ms, suite->now_ms);
    assert_int_equal(parts.number, 1);
    for (int i = 0; i < 5; i++) {
        suite->now_ms += i;
        parts = assert_next(suite, parts);
    }
}

void case_id__is_of_the_same_queue_by_any_handle(struct suite *suite)
{
    if (strcmp(suite->kind, "model") == 0)
        skip(); /* a model has no second handle */
    struct culex_run_id_parts parts = parts_of(suite_put(suite));
    for (int i = 0; i < 4; i++) {
        struct culex_store *first = suite->store;
        suite->store = suite_open_again(suite);
        parts = assert_next(suite, parts);
        suite->store->ops->close(suite->store);
        suite->store = first;
        parts = assert_next(suite, parts);
    }
}

/* Whatever becomes of its run, of all runs, or of the clock. */
void case_id__is_never_given_twice(struct suite *suite)
{
    culex_uuid id = suite_put(suite);
    struct culex_run_id_parts parts = parts_of(id);
    suite_cancel(suite, id);
    assert_ok(suite->store->ops->forget(suite->store, suite->queue, id, NULL));
    parts = assert_next(suite, parts);
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 9), 1);
    parts = assert_next(suite, parts);
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 9), 1);
    suite_fsck(suite, true);
    parts = assert_next(suite, parts);
    suite->now_ms -= SUITE_MINUTE_MS;
    parts = assert_next(suite, parts);
    for (int minute = 0; minute < 30; minute++)
        suite_pass(suite, SUITE_MINUTE_MS);
    assert_next(suite, parts);
}

void case_id__of_a_batch_follow_one_another(struct suite *suite)
{
    enum { COUNT = CULEX_STORE_BATCH_MAX };
    static struct culex_new_run runs[COUNT];
    static struct culex_enqueue_result results[COUNT];
    for (int i = 0; i < COUNT; i++)
        runs[i] = suite_run(suite);
    suite_put_many(suite, runs, COUNT, results);
    struct culex_run_id_parts last = parts_of(results[0].id);
    for (int i = 1; i < COUNT; i++) {
        struct culex_run_id_parts parts = parts_of(results[i].id);
        assert_int_equal(parts.salt, last.salt);
        assert_true(parts.lane != last.lane || parts.number > last.number);
        last = parts;
    }
}

/* --- repeats ---------------------------------------------------------------------------------- */

static culex_status call(struct suite *suite, struct culex_ticket ticket,
                         const struct culex_new_run *run, struct culex_enqueue_result *ret_result)
{
    return suite_call(suite, &ticket, run, 1, ret_result);
}

static struct culex_enqueue_result call_new(struct suite *suite, struct culex_ticket ticket,
                                            const struct culex_new_run *run)
{
    struct culex_enqueue_result result;
    assert_ok(call(suite, ticket, run, &result));
    assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
    return result;
}

static void assert_refused(struct suite *suite, struct culex_ticket ticket,
                           const struct culex_new_run *run, culex_status status)
{
    struct culex_enqueue_result result;
    uint64_t before = suite_stats(suite).enqueued;
    assert_int_equal(call(suite, ticket, run, &result), status);
    assert_int_equal(suite_stats(suite).enqueued, before);
}

/* With the answer that it got. */
static void assert_repeat(struct suite *suite, struct culex_ticket ticket,
                          const struct culex_new_run *run, struct culex_enqueue_result before)
{
    struct culex_enqueue_result result;
    uint64_t enqueued = suite_stats(suite).enqueued;
    assert_ok(call(suite, ticket, run, &result));
    assert_int_equal(result.outcome, before.outcome);
    assert_true(suite_same_id(result.id, before.id));
    assert_int_equal(suite_stats(suite).enqueued, enqueued);
}

enum { MIXED = 7 };

/* A batch in which every outcome is: new, taken, duplicate, conflict and full. */
static void mixed_make(struct suite *suite, struct culex_new_run runs[MIXED])
{
    for (int i = 0; i < MIXED; i++)
        runs[i] = suite_run(suite);
    runs[1].unique_key = runs[2].unique_key = "ab";
    runs[3].idempotency_key = runs[4].idempotency_key = runs[5].idempotency_key = "order 7";
    runs[3].window_ms = runs[4].window_ms = runs[5].window_ms = SUITE_MINUTE_MS;
    runs[4].content = runs[3].content;
    suite_hello(suite, "host/1", ANN);
    assert_ok(suite->store->ops->limit(suite->store, suite->queue, 3, NULL));
}

void case_ticket__repeat_is_answered_as_the_call_was(struct suite *suite)
{
    static const enum culex_enqueued outcomes[MIXED] = {
        CULEX_ENQUEUED_NEW, CULEX_ENQUEUED_NEW,       CULEX_ENQUEUED_UNIQUE_TAKEN,
        CULEX_ENQUEUED_NEW, CULEX_ENQUEUED_DUPLICATE, CULEX_ENQUEUED_CONFLICT,
        CULEX_ENQUEUED_FULL};
    struct culex_new_run runs[MIXED];
    struct culex_enqueue_result first[MIXED], again[MIXED];
    struct culex_ticket ticket = suite_ticket(suite);
    mixed_make(suite, runs);
    assert_ok(suite_call(suite, &ticket, runs, MIXED, first));
    for (int round = 0; round < 3; round++) {
        assert_ok(suite_call(suite, &ticket, runs, MIXED, again));
        for (int i = 0; i < MIXED; i++) {
            assert_int_equal(again[i].outcome, outcomes[i]);
            assert_true(suite_same_id(again[i].id, first[i].id));
        }
        assert_int_equal(suite_stats(suite).enqueued, 3);
        /* By then nothing of what led to these answers holds any more. */
        suite_pass(suite, 2 * SUITE_MINUTE_MS);
        assert_ok(suite->store->ops->limit(suite->store, suite->queue, 0, NULL));
        suite_purge(suite, CULEX_RUN_WAITING, 9);
    }
}

void case_ticket__repeat_outlives_the_runs(struct suite *suite)
{
    struct culex_new_run runs[3] = {suite_run(suite), suite_run(suite), suite_run(suite)};
    struct culex_enqueue_result results[3];
    struct culex_ticket tickets[3];
    runs[0].keep_success_ms = 0;
    for (int i = 0; i < 3; i++) {
        tickets[i] = suite_ticket(suite);
        results[i] = call_new(suite, tickets[i], &runs[i]);
    }
    uint32_t attempt = suite_take(suite, ANN, results[0].id);
    assert_repeat(suite, tickets[0], &runs[0], results[0]);
    suite_end(suite, ANN, results[0].id, attempt, CULEX_EVENT_DONE, 0);
    suite_cancel(suite, results[1].id);
    assert_repeat(suite, tickets[1], &runs[1], results[1]);
    assert_ok(suite->store->ops->forget(suite->store, suite->queue, results[1].id, NULL));
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 9), 1);
    for (int i = 0; i < 3; i++) {
        assert_null(suite_get(suite, results[i].id));
        assert_repeat(suite, tickets[i], &runs[i], results[i]);
    }
    assert_int_equal(suite_claim(suite, ANN, 9), 0);
}

void case_ticket__repeat_by_another_handle_is_known(struct suite *suite)
{
    if (strcmp(suite->kind, "model") == 0)
        skip(); /* a model has no second handle */
    struct culex_new_run run = suite_run(suite);
    struct culex_ticket ticket = suite_ticket(suite);
    struct culex_enqueue_result result = call_new(suite, ticket, &run);
    struct culex_store *first = suite->store;
    suite->store = suite_open_again(suite);
    assert_repeat(suite, ticket, &run, result);
    suite->store->ops->close(suite->store);
    suite->store = first;
}

/* Whoever repeats computes another delay, and its program may have changed meanwhile. */
void case_ticket__contents_and_keys_make_the_call(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite), other;
    struct culex_ticket ticket = suite_ticket(suite);
    run.idempotency_key = "k";
    run.window_ms = SUITE_MINUTE_MS;
    struct culex_enqueue_result result = call_new(suite, ticket, &run);
    other = run;
    other.delay_ms = 5000;
    other.priority = 9 - run.priority;
    other.tags = "late";
    other.window_ms = 1;
    other.attempts_max++;
    assert_repeat(suite, ticket, &other, result);
    assert_string_equal(suite_get(suite, result.id)->tags, "");
    assert_state(suite, result.id, CULEX_RUN_WAITING);
    other = run, other.content ^= 1;
    assert_refused(suite, ticket, &other, CULEX_ECONFLICT);
    other = run, other.content ^= UINT64_C(1) << 63; /* both ends of the hash count */
    assert_refused(suite, ticket, &other, CULEX_ECONFLICT);
    other = run, other.idempotency_key = "K";
    assert_refused(suite, ticket, &other, CULEX_ECONFLICT);
    other = run, other.idempotency_key = NULL;
    assert_refused(suite, ticket, &other, CULEX_ECONFLICT);
    assert_repeat(suite, ticket, &run, result);
}

void case_ticket__number_and_order_make_the_call(struct suite *suite)
{
    struct culex_new_run runs[3] = {suite_run(suite), suite_run(suite), suite_run(suite)};
    struct culex_new_run turned[2] = {runs[1], runs[0]};
    struct culex_enqueue_result results[3];
    struct culex_ticket ticket = suite_ticket(suite);
    assert_ok(suite_call(suite, &ticket, runs, 2, results));
    assert_int_equal(suite_call(suite, &ticket, runs, 1, results), CULEX_ECONFLICT);
    assert_int_equal(suite_call(suite, &ticket, runs, 3, results), CULEX_ECONFLICT);
    assert_int_equal(suite_call(suite, &ticket, turned, 2, results), CULEX_ECONFLICT);
    assert_ok(suite_call(suite, &ticket, runs, 2, results));
    assert_int_equal(suite_stats(suite).enqueued, 2);
}

void case_ticket__only_the_last_call_is_repeated(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite), next = suite_run(suite);
    struct culex_ticket last = suite_ticket(suite), first = last;
    call_new(suite, first, &run);
    culex__ticket_next(&last, suite->now_ms);
    struct culex_enqueue_result result = call_new(suite, last, &next);
    assert_refused(suite, first, &run, CULEX_ECONFLICT);
    assert_repeat(suite, last, &next, result);
    /* One that was never seen, and one that is too old besides. */
    first.sequence -= 4096;
    assert_refused(suite, first, &run, CULEX_ECONFLICT);
    first.sequence -= (uint64_t)4096 * 2 * HORIZON_MS;
    assert_refused(suite, first, &run, CULEX_ECONFLICT);
    last.sequence++;
    call_new(suite, last, &run);
    assert_int_equal(suite_stats(suite).enqueued, 3);
}

/* Stores may keep calls whose runs were all new in another way than others. */
/* However a store writes them: each is greater than the one before, whichever digit turns over. */
void case_ticket__sequences_compare_as_numbers(struct suite *suite)
{
    struct culex_ticket ticket = suite_ticket(suite);
    uint64_t first = ticket.sequence;
    struct culex_new_run run = suite_run(suite);
    for (uint64_t count = 0; count < 4096; count += count < 300 ? 1 : 251) {
        struct culex_ticket passed = ticket;
        struct culex_enqueue_result result;
        ticket.sequence = first + count;
        result = call_new(suite, ticket, &run);
        assert_repeat(suite, ticket, &run, result);
        if (count > 0)
            assert_int_equal(suite_call(suite, &passed, &run, 1, &result), CULEX_ECONFLICT);
    }
}

void case_ticket__plain_and_mixed_calls_follow_each_other(struct suite *suite)
{
    struct culex_new_run runs[2] = {suite_run(suite), suite_run(suite)}, plain = suite_run(suite);
    struct culex_enqueue_result mixed[2], again[2];
    struct culex_ticket last = suite_ticket(suite), before = last;
    runs[0].unique_key = runs[1].unique_key = "ab";
    for (int round = 0; round < 2; round++) {
        struct culex_enqueue_result result = call_new(suite, before, &plain);
        assert_repeat(suite, before, &plain, result);
        culex__ticket_next(&last, suite->now_ms);
        assert_ok(suite_call(suite, &last, runs, 2, mixed));
        assert_int_equal(mixed[1].outcome, CULEX_ENQUEUED_UNIQUE_TAKEN);
        assert_refused(suite, before, &plain, CULEX_ECONFLICT);
        assert_ok(suite_call(suite, &last, runs, 2, again));
        assert_true(suite_same_id(again[0].id, mixed[0].id));
        assert_true(suite_same_id(again[1].id, mixed[0].id));
        suite_cancel(suite, mixed[0].id);
        struct culex_ticket done = last;
        before = culex__ticket_next(&last, suite->now_ms);
        call_new(suite, before, &plain);
        assert_int_equal(suite_call(suite, &done, runs, 2, again), CULEX_ECONFLICT);
        before = culex__ticket_next(&last, suite->now_ms);
    }
}

void case_ticket__is_another_call_in_another_queue(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_ticket ticket = suite_ticket(suite);
    struct culex_enqueue_result mail = call_new(suite, ticket, &run);
    strcpy(suite->queue, "batch");
    struct culex_enqueue_result batch = call_new(suite, ticket, &run);
    assert_repeat(suite, ticket, &run, batch);
    struct culex_ticket later = ticket;
    culex__ticket_next(&later, suite->now_ms);
    call_new(suite, later, &run);
    strcpy(suite->queue, "mail");
    assert_repeat(suite, ticket, &run, mail);
}

void case_ticket__producers_are_apart(struct suite *suite)
{
    enum { COUNT = 6 };
    static const uint64_t names[COUNT] = {
        1, 2, 16, UINT64_C(1) << 32, UINT64_C(1) << 61, CULEX_TICKET_PRODUCER_MAX};
    struct culex_new_run run = suite_run(suite);
    struct culex_enqueue_result results[COUNT];
    struct culex_ticket ticket = suite_ticket(suite);
    for (int i = 0; i < COUNT; i++) {
        ticket.producer = names[i];
        results[i] = call_new(suite, ticket, &run);
    }
    for (int i = 0; i < COUNT; i++) {
        ticket.producer = names[i];
        assert_repeat(suite, ticket, &run, results[i]);
    }
    assert_int_equal(suite_stats(suite).enqueued, COUNT);
}

/* It may be made again when there is room, with other runs too; and the call before it is still
 * the last one. */
void case_ticket__call_that_brought_no_run_is_not_remembered(struct suite *suite)
{
    struct culex_new_run first = suite_run(suite), run = suite_run(suite), other = suite_run(suite);
    struct culex_ticket before = suite_ticket(suite), ticket = before;
    struct culex_enqueue_result full, result = call_new(suite, before, &first);
    culex__ticket_next(&ticket, suite->now_ms);
    assert_ok(suite->store->ops->limit(suite->store, suite->queue, 1, NULL));
    assert_ok(call(suite, ticket, &run, &full));
    assert_int_equal(full.outcome, CULEX_ENQUEUED_FULL);
    assert_ok(call(suite, ticket, &other, &full));
    assert_int_equal(full.outcome, CULEX_ENQUEUED_FULL);
    assert_repeat(suite, before, &first, result);
    assert_ok(suite->store->ops->limit(suite->store, suite->queue, 0, NULL));
    result = call_new(suite, ticket, &other);
    assert_repeat(suite, ticket, &other, result);
    assert_refused(suite, before, &first, CULEX_ECONFLICT);
}

void case_ticket__none_is_a_call_that_nobody_repeats(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_enqueue_result first, second;
    assert_ok(suite_call(suite, NULL, &run, 1, &first));
    assert_ok(suite_call(suite, NULL, &run, 1, &second));
    assert_int_equal(first.outcome, CULEX_ENQUEUED_NEW);
    assert_int_equal(second.outcome, CULEX_ENQUEUED_NEW);
    assert_false(suite_same_id(first.id, second.id));
    assert_int_equal(suite_claim(suite, ANN, 9), 2);
}

/* --- times ------------------------------------------------------------------------------------ */

void case_ticket__time_far_from_now_is_refused(struct suite *suite)
{
    static const struct {
        int64_t off_ms;
        culex_status status;
    } rows[] = {
        {-HORIZON_MS - 1, CULEX_EEXPIRED}, {-HORIZON_MS, CULEX_OK},     {HORIZON_MS, CULEX_OK},
        {HORIZON_MS + 1, CULEX_EEXPIRED},  {-86400000, CULEX_EEXPIRED}, {86400000, CULEX_EEXPIRED}};
    struct culex_new_run run = suite_run(suite);
    suite_put(suite);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct culex_ticket ticket = suite_ticket(suite);
        /* What is counted within the ms is no time. */
        ticket.sequence = ((uint64_t)(suite->now_ms + rows[i].off_ms) << 12) + i % 2 * 4095;
        if (rows[i].status == CULEX_OK)
            call_new(suite, ticket, &run);
        else
            assert_refused(suite, ticket, &run, rows[i].status);
    }
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], 3);
}

/* The call of `ticket` is answered up to `last_ms`, whether a worker comes by or not, and refused
 * then. */
static void assert_remembered_until(struct suite *suite, struct culex_ticket ticket,
                                    const struct culex_new_run *run,
                                    struct culex_enqueue_result result, int64_t last_ms)
{
    suite->now_ms = last_ms - SUITE_SECOND_MS;
    assert_repeat(suite, ticket, run, result);
    suite_pass(suite, SUITE_SECOND_MS);
    assert_repeat(suite, ticket, run, result);
    suite->now_ms += 1;
    assert_refused(suite, ticket, run, CULEX_EEXPIRED);
    suite_pass(suite, 5 * SUITE_MINUTE_MS);
    assert_refused(suite, ticket, run, CULEX_EEXPIRED);
}

/* However old it is by then. */
void case_ticket__last_call_is_remembered_from_when_it_was_made(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_ticket ticket = suite_ticket(suite);
    suite->now_ms += 9 * SUITE_MINUTE_MS;
    struct culex_enqueue_result result = call_new(suite, ticket, &run);
    assert_remembered_until(suite, ticket, &run, result, suite->now_ms + HORIZON_MS);
}

void case_ticket__of_a_clock_ahead_is_remembered_from_its_own_time(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_ticket ticket = suite_ticket(suite);
    suite->now_ms -= 9 * SUITE_MINUTE_MS;
    struct culex_enqueue_result result = call_new(suite, ticket, &run);
    assert_remembered_until(suite, ticket, &run, result, suite->now_ms + 19 * SUITE_MINUTE_MS);
}

/* The producer was to be forgotten earlier. */
void case_ticket__next_one_of_a_clock_ahead_is_remembered_from_its_own_time(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_ticket first = suite_ticket(suite);
    call_new(suite, first, &run);
    suite->now_ms += 5 * SUITE_MINUTE_MS;
    struct culex_ticket ticket = culex__ticket_next(&first, suite->now_ms);
    suite->now_ms -= 5 * SUITE_MINUTE_MS;
    struct culex_enqueue_result result = call_new(suite, ticket, &run);
    assert_remembered_until(suite, ticket, &run, result, suite->now_ms + 15 * SUITE_MINUTE_MS);
}

/* The producer is remembered for a while longer. */
void case_ticket__too_old_behind_one_that_nearly_was(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_ticket last = suite_ticket(suite), first = last;
    suite->now_ms += 10 * SUITE_SECOND_MS;
    struct culex_ticket second = culex__ticket_next(&last, suite->now_ms);
    suite->now_ms += HORIZON_MS - 10 * SUITE_SECOND_MS;
    call_new(suite, first, &run);
    suite->now_ms += 40 * SUITE_SECOND_MS;
    assert_refused(suite, second, &run, CULEX_EEXPIRED);
}

void case_ticket__repeat_does_not_make_it_longer(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_ticket ticket = suite_ticket(suite);
    struct culex_enqueue_result result = call_new(suite, ticket, &run);
    int64_t last_ms = suite->now_ms + HORIZON_MS;
    suite->now_ms += HORIZON_MS / 2;
    assert_repeat(suite, ticket, &run, result);
    assert_remembered_until(suite, ticket, &run, result, last_ms);
}

void case_ticket__last_call_is_known_after_the_clock_was_set_back(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_ticket ticket = suite_ticket(suite), next = ticket;
    struct culex_enqueue_result result = call_new(suite, ticket, &run);
    suite->now_ms -= 86400000;
    assert_repeat(suite, ticket, &run, result);
    next.sequence++;
    assert_refused(suite, next, &run, CULEX_EEXPIRED);
    assert_repeat(suite, ticket, &run, result);
}

/* A producer of which nothing is remembered is as one that never was. */
void case_ticket__forgotten_producer_begins_anew(struct suite *suite)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_ticket ticket = suite_ticket(suite);
    call_new(suite, ticket, &run);
    suite->now_ms += HORIZON_MS + 1;
    struct culex_ticket old = {ticket.producer, (uint64_t)(suite->now_ms - HORIZON_MS) << 12};
    call_new(suite, old, &run);
    assert_int_equal(suite_stats(suite).enqueued, 2);
}

/* --- what is kept ----------------------------------------------------------------------------- */

static void producers_call(struct suite *suite, int count)
{
    struct culex_new_run run = suite_run(suite);
    for (int i = 0; i < count; i++)
        call_new(suite, suite_ticket(suite), &run);
}

void case_ticket__idle_worker_forgets_all_producers(struct suite *suite)
{
    producers_call(suite, 300);
    if (suite_remembered(suite) >= 0)
        assert_int_equal(suite_remembered(suite), 300);
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 500), 300);
    suite->now_ms += HORIZON_MS + 2 * SUITE_MINUTE_MS;
    for (int i = 0; i < 20; i++)
        assert_int_equal(suite_claim(suite, ANN, 1), 0);
    if (suite_remembered(suite) >= 0)
        assert_int_equal(suite_remembered(suite), 0);
}

/* Where no worker comes by, producers that come and go would fill the store. */
void case_ticket__calls_forget_more_producers_than_they_add(struct suite *suite)
{
    for (int round = 0; round < 6; round++) {
        producers_call(suite, 100);
        suite->now_ms += HORIZON_MS + 2 * SUITE_MINUTE_MS;
    }
    producers_call(suite, 100);
    assert_in_range(suite_remembered(suite) + 1, 0, 201);
}

/* --- calls together --------------------------------------------------------------------------- */

enum { EACH = 5 };

struct calls {
    struct culex_ticket tickets[EACH];
    struct culex_new_run runs[EACH];
    struct culex_enqueue_result results[EACH];
};

static struct calls calls_make(struct suite *suite)
{
    struct calls calls;
    for (int i = 0; i < EACH; i++) {
        calls.tickets[i] = suite_ticket(suite);
        calls.runs[i] = suite_run(suite);
    }
    return calls;
}

static culex_status calls_try(struct suite *suite, struct calls *calls)
{
    return suite->store->ops->enqueue_each(suite->store, suite->queue, calls->tickets, calls->runs,
                                           EACH, calls->results, NULL);
}

static struct calls calls_new(struct suite *suite)
{
    struct calls calls = calls_make(suite);
    assert_ok(calls_try(suite, &calls));
    for (int i = 0; i < EACH; i++)
        assert_int_equal(calls.results[i].outcome, CULEX_ENQUEUED_NEW);
    return calls;
}

/* Nothing is done, and nothing is remembered of it. */
static void assert_all_refused(struct suite *suite, struct calls *calls, culex_status status)
{
    uint64_t before = suite_stats(suite).enqueued;
    assert_int_equal(calls_try(suite, calls), status);
    assert_int_equal(suite_stats(suite).enqueued, before);
}

void case_each__is_a_call_of_its_own(struct suite *suite)
{
    struct calls calls = calls_new(suite);
    assert_int_equal(suite_stats(suite).enqueued, EACH);
    suite_hello(suite, "host/1", ANN);
    for (int i = 0; i < EACH; i++) {
        assert_int_equal(parts_of(calls.results[i].id).ms, suite->now_ms);
        suite_end(suite, ANN, calls.results[i].id, suite_take(suite, ANN, calls.results[i].id),
                  CULEX_EVENT_DONE, 0);
    }
}

void case_each__outcome_is_its_own(struct suite *suite)
{
    static const enum culex_enqueued outcomes[EACH] = {
        CULEX_ENQUEUED_NEW, CULEX_ENQUEUED_UNIQUE_TAKEN, CULEX_ENQUEUED_NEW,
        CULEX_ENQUEUED_DUPLICATE, CULEX_ENQUEUED_FULL};
    struct calls calls = calls_make(suite);
    calls.runs[0].unique_key = calls.runs[1].unique_key = "ab";
    calls.runs[2].idempotency_key = calls.runs[3].idempotency_key = "order 7";
    calls.runs[2].window_ms = calls.runs[3].window_ms = SUITE_MINUTE_MS;
    calls.runs[3].content = calls.runs[2].content;
    suite_hello(suite, "host/1", ANN);
    assert_ok(suite->store->ops->limit(suite->store, suite->queue, 2, NULL));
    assert_ok(calls_try(suite, &calls));
    for (int i = 0; i < EACH; i++)
        assert_int_equal(calls.results[i].outcome, outcomes[i]);
    assert_true(suite_same_id(calls.results[1].id, calls.results[0].id));
    assert_true(suite_same_id(calls.results[3].id, calls.results[2].id));
    assert_repeat(suite, calls.tickets[0], &calls.runs[0], calls.results[0]);
    assert_repeat(suite, calls.tickets[2], &calls.runs[2], calls.results[2]);
}

void case_each__is_repeated_alone(struct suite *suite)
{
    struct calls calls = calls_new(suite);
    for (int i = EACH - 1; i >= 0; i--)
        assert_repeat(suite, calls.tickets[i], &calls.runs[i], calls.results[i]);
    calls.runs[1].content++;
    assert_refused(suite, calls.tickets[1], &calls.runs[1], CULEX_ECONFLICT);
    suite_pass(suite, HORIZON_MS);
    assert_repeat(suite, calls.tickets[4], &calls.runs[4], calls.results[4]);
    suite_pass(suite, 1);
    assert_refused(suite, calls.tickets[4], &calls.runs[4], CULEX_EEXPIRED);
}

void case_each__that_brought_no_run_is_not_remembered(struct suite *suite)
{
    struct calls calls = calls_make(suite);
    for (int i = 0; i < EACH; i++)
        calls.runs[i].unique_key = "ab";
    assert_ok(calls_try(suite, &calls));
    suite_cancel(suite, calls.results[0].id);
    call_new(suite, calls.tickets[3], &calls.runs[3]);
    assert_repeat(suite, calls.tickets[0], &calls.runs[0], calls.results[0]);
}

void case_each__known_call_refuses_all(struct suite *suite)
{
    struct calls calls = calls_make(suite);
    call_new(suite, calls.tickets[EACH - 1], &calls.runs[EACH - 1]);
    assert_all_refused(suite, &calls, CULEX_ECONFLICT);
    calls.runs[EACH - 1].content++;
    assert_all_refused(suite, &calls, CULEX_ECONFLICT);
    call_new(suite, calls.tickets[0], &calls.runs[0]);
}

void case_each__past_call_refuses_all(struct suite *suite)
{
    struct calls calls = calls_make(suite);
    struct culex_ticket later = calls.tickets[0];
    later.sequence++;
    call_new(suite, later, &calls.runs[0]);
    assert_all_refused(suite, &calls, CULEX_ECONFLICT);
    suite->now_ms += HORIZON_MS + 1; /* that one is over now, and so are the tickets */
    assert_all_refused(suite, &calls, CULEX_EEXPIRED);
    for (int i = 0; i < EACH; i++)
        calls.tickets[i].sequence += (uint64_t)HORIZON_MS << 12;
    assert_ok(calls_try(suite, &calls));
}

void case_each__time_far_from_now_refuses_all(struct suite *suite)
{
    struct calls calls = calls_make(suite);
    suite_hello(suite, "host/1", ANN);
    suite_pass(suite, HORIZON_MS);
    for (int i = 0; i < EACH - 1; i++)
        calls.tickets[i] = suite_ticket(suite);
    suite_pass(suite, 1);
    assert_all_refused(suite, &calls, CULEX_EEXPIRED);
    calls.tickets[EACH - 1] = suite_ticket(suite);
    calls.tickets[EACH - 1].sequence += (uint64_t)(HORIZON_MS + 1) << 12;
    assert_all_refused(suite, &calls, CULEX_EEXPIRED);
    calls.tickets[EACH - 1].sequence -= UINT64_C(1) << 12;
    assert_ok(calls_try(suite, &calls));
}

/* A request that was under way while its threads went on by themselves. */
void case_each__is_known_to_whoever_comes_late(struct suite *suite)
{
    struct calls calls = calls_make(suite);
    struct culex_enqueue_result result = call_new(suite, calls.tickets[1], &calls.runs[1]);
    assert_all_refused(suite, &calls, CULEX_ECONFLICT);
    for (int i = 0; i < EACH; i++) {
        if (i != 1)
            call_new(suite, calls.tickets[i], &calls.runs[i]);
    }
    assert_repeat(suite, calls.tickets[1], &calls.runs[1], result);
    assert_all_refused(suite, &calls, CULEX_ECONFLICT);
    assert_int_equal(suite_stats(suite).enqueued, EACH);
}

void case_each__forgets_more_producers_than_it_adds(struct suite *suite)
{
    for (int round = 0; round < 7; round++) {
        for (int i = 0; i < 20; i++)
            calls_new(suite);
        if (round < 6)
            suite->now_ms += HORIZON_MS + 2 * SUITE_MINUTE_MS;
    }
    assert_in_range(suite_remembered(suite) + 1, 0, 20 * EACH * 2 + 1);
}

void case_each__of_wrong_arguments_is_refused(struct suite *suite)
{
    static struct culex_ticket tickets[CULEX_STORE_EACH_MAX + 1];
    static struct culex_new_run runs[CULEX_STORE_EACH_MAX + 1];
    static struct culex_enqueue_result results[CULEX_STORE_EACH_MAX + 1];
    const struct culex_store_ops *ops = suite->store->ops;
    enum { MOST = CULEX_STORE_EACH_MAX };
    for (int i = 0; i <= MOST; i++) {
        tickets[i] = suite_ticket(suite);
        runs[i] = suite_run(suite);
    }
    assert_int_equal(
        ops->enqueue_each(suite->store, suite->queue, tickets, runs, MOST + 1, results, NULL),
        CULEX_ELIMIT);
    assert_int_equal(ops->enqueue_each(suite->store, suite->queue, tickets, runs, 0, results, NULL),
                     CULEX_ELIMIT);
    struct culex_ticket second = tickets[1];
    tickets[1] = tickets[0];
    assert_int_equal(ops->enqueue_each(suite->store, suite->queue, tickets, runs, 2, results, NULL),
                     CULEX_EINVAL);
    tickets[1] = (struct culex_ticket){0};
    assert_int_equal(ops->enqueue_each(suite->store, suite->queue, tickets, runs, 2, results, NULL),
                     CULEX_EINVAL);
    tickets[1] = second;
    runs[1].attempts_max = 0;
    assert_int_equal(ops->enqueue_each(suite->store, suite->queue, tickets, runs, 2, results, NULL),
                     CULEX_EINVAL);
    runs[1].attempts_max = 1;
    assert_ok(ops->enqueue_each(suite->store, suite->queue, tickets, runs, MOST, results, NULL));
}
