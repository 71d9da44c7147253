/* suite/cases_bound.c - calls whose runs are bound: all of them come, or none. */
#include "suite.h"

#include "cases.h"

enum { COUNT = 3, WINDOW_MS = 5 * SUITE_MINUTE_MS };

/* Three runs, of which each has another content. */
struct call {
    struct culex_new_run runs[COUNT];
    struct culex_enqueue_result results[COUNT];
};

static struct call call_of(struct suite *suite)
{
    struct call call;
    for (int i = 0; i < COUNT; i++) {
        call.runs[i] = suite_run(suite);
        call.runs[i].is_bound = true;
        call.runs[i].content += (uint64_t)i;
    }
    return call;
}

static void make(struct suite *suite, struct call *call)
{
    struct culex_ticket ticket = suite_ticket(suite);
    assert_ok(suite_call(suite, &ticket, call->runs, COUNT, call->results));
}

/* A letter a run: N, D, C, F, U, R, H. */
static void assert_outcomes(const struct call *call, const char *letters)
{
    char got[COUNT + 1] = "";
    for (int i = 0; i < COUNT; i++)
        got[i] = "NDCFURH"[call->results[i].outcome];
    assert_string_equal(got, letters);
}

static void assert_none(const struct call *call, int index)
{
    assert_true(suite_same_id(call->results[index].id, (culex_uuid){{0}}));
}

static void bound_set(struct suite *suite, uint64_t most)
{
    assert_ok(suite->store->ops->limit(suite->store, suite->queue, most, NULL));
}

void case_bound__all_come_in_their_order(struct suite *suite)
{
    struct call call = call_of(suite);
    call.runs[1].job = "other";
    call.runs[2].delay_ms = SUITE_MINUTE_MS;
    make(suite, &call);
    assert_outcomes(&call, "NNN");
    assert_int_equal(suite_claim(suite, ANN, 9), 2);
    assert_true(suite_same_id(suite->reply.grants[0].facts.id, call.results[0].id));
    assert_true(suite_same_id(suite->reply.grants[1].facts.id, call.results[1].id));
    assert_state(suite, call.results[2].id, CULEX_RUN_SCHEDULED);
}

void case_bound__queue_that_has_no_room_for_all_takes_none(struct suite *suite)
{
    struct call call = call_of(suite);
    struct culex_ticket ticket = suite_ticket(suite);
    suite_put(suite);
    bound_set(suite, 3);
    assert_ok(suite_call(suite, &ticket, call.runs, COUNT, call.results));
    assert_outcomes(&call, "HHF");
    assert_none(&call, 0);
    assert_none(&call, 2);
    assert_int_equal(suite_stats(suite).enqueued, 1);
    assert_int_equal(suite_claim(suite, ANN, 9), 1);
    bound_set(suite, 4);
    assert_ok(suite_call(suite, &ticket, call.runs, COUNT, call.results));
    assert_outcomes(&call, "NNN");
}

void case_bound__repeat_is_answered_as_the_call_was(struct suite *suite)
{
    struct call call = call_of(suite), again = call;
    struct culex_ticket ticket = suite_ticket(suite);
    assert_ok(suite_call(suite, &ticket, call.runs, COUNT, call.results));
    assert_ok(suite_call(suite, &ticket, again.runs, COUNT, again.results));
    assert_outcomes(&again, "NNN");
    for (int i = 0; i < COUNT; i++)
        assert_true(suite_same_id(call.results[i].id, again.results[i].id));
    assert_int_equal(suite_stats(suite).enqueued, COUNT);
}

void case_bound__key_with_other_content_holds_all(struct suite *suite)
{
    struct call call = call_of(suite);
    struct culex_new_run first = suite_run(suite);
    first.idempotency_key = "order 7";
    first.window_ms = WINDOW_MS;
    culex_uuid id = suite_put_run(suite, &first);
    call.runs[1].idempotency_key = "order 7";
    call.runs[1].content = first.content + 9;
    call.runs[2].idempotency_key = "order 8";
    call.runs[1].window_ms = call.runs[2].window_ms = WINDOW_MS;
    make(suite, &call);
    assert_outcomes(&call, "HCH");
    assert_true(suite_same_id(call.results[1].id, id));
    call.runs[1].content = first.content;
    make(suite, &call); /* nothing was remembered of its keys */
    assert_outcomes(&call, "NDN");
    assert_true(suite_same_id(call.results[1].id, id));
}

static void unique_make(struct culex_new_run *run, const char *key)
{
    run->unique_key = key;
    run->unique_while = CULEX_UNIQUE_LIVE;
}

void case_bound__unique_key_that_is_taken_holds_all_if_it_refuses(struct suite *suite)
{
    struct call call = call_of(suite);
    struct culex_new_run holder = suite_run(suite);
    unique_make(&holder, "abc");
    culex_uuid id = suite_put_run(suite, &holder);
    unique_make(&call.runs[2], "abc");
    make(suite, &call);
    assert_outcomes(&call, "NNU");
    call.runs[2].unique_refuses = true;
    unique_make(&call.runs[0], "def");
    make(suite, &call);
    assert_outcomes(&call, "HHU");
    assert_true(suite_same_id(call.results[2].id, id));
    suite_cancel(suite, id);
    make(suite, &call);
    assert_outcomes(&call, "NNN");
}

void case_bound__twins_hold_each_other(struct suite *suite)
{
    struct call call = call_of(suite);
    unique_make(&call.runs[0], "abc");
    unique_make(&call.runs[2], "abc");
    call.runs[2].unique_refuses = true;
    make(suite, &call);
    assert_outcomes(&call, "HHU");
    assert_none(&call, 2); /* what is in its way does not come either */
    call.runs[2].unique_refuses = false;
    make(suite, &call);
    assert_outcomes(&call, "NNU");
    assert_true(suite_same_id(call.results[2].id, call.results[0].id));
}

void case_bound__run_that_would_be_replaced_stays_as_it_is(struct suite *suite)
{
    struct call call = call_of(suite);
    struct culex_new_run holder = suite_run(suite);
    unique_make(&holder, "abc");
    culex_uuid id = suite_put_run(suite, &holder);
    unique_make(&call.runs[0], "abc");
    call.runs[0].unique_replaces = true;
    call.runs[0].priority = 7;
    bound_set(suite, 2);
    make(suite, &call);
    assert_outcomes(&call, "HHF");
    assert_int_equal(suite_get(suite, id)->priority, holder.priority);
    bound_set(suite, 3);
    make(suite, &call);
    assert_outcomes(&call, "RNN");
    assert_int_equal(suite_get(suite, id)->priority, 7);
}

/* The limit as a call tells it that is held, and then by one that comes. */
void case_bound__call_that_is_held_tells_no_limit(struct suite *suite)
{
    struct call call = call_of(suite);
    const struct culex_run_limit one = {.kind = CULEX_LIMIT_CONCURRENCY, .name = "n", .count = 1};
    const struct culex_run_limit two = {.kind = CULEX_LIMIT_CONCURRENCY, .name = "n", .count = 2};
    struct culex_new_run run = suite_run(suite);
    run.limits = &one;
    run.limit_count = 1;
    suite_put_run(suite, &run);
    suite_put_run(suite, &run);
    call.runs[0].limits = &two;
    call.runs[0].limit_count = 1;
    bound_set(suite, 4);
    make(suite, &call);
    assert_outcomes(&call, "HHF");
    assert_int_equal(suite_claim(suite, ANN, 9), 1);
    bound_set(suite, 9);
    make(suite, &call);
    assert_outcomes(&call, "NNN");
    suite_pass(suite, 1);
    assert_int_equal(suite_claim(suite, BOB, 9), 3); /* one of the limit, two without */
}
