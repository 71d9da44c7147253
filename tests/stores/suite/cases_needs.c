/* suite/cases_needs.c - what runs need of a worker: who meets them, how many at a time, in which
 * order. */
#include "suite.h"

#include <string.h>

#include "cases.h"
#include "store/limit_list.h"

#define ONE_GPU "needs gpu:1"
#define LIMIT   "shop.send_email:concurrency"

/* --- short verbs ------------------------------------------------------------------------------ */

static struct culex_run_limit needs_of(const char *name)
{
    return (struct culex_run_limit){CULEX_LIMIT_NEEDS, name, NULL, .count = 0};
}

static struct culex_run_limit at_most(uint32_t count)
{
    return (struct culex_run_limit){CULEX_LIMIT_CONCURRENCY, LIMIT, NULL, .count = count};
}

static culex_uuid put_limited(struct suite *suite, const struct culex_run_limit *limits,
                              size_t count, int priority)
{
    struct culex_new_run run = suite_run(suite);
    run.limits = limits;
    run.limit_count = count;
    run.priority = priority < 0 ? run.priority : priority;
    return suite_put_run(suite, &run);
}

static culex_uuid put(struct suite *suite, const char *needs)
{
    struct culex_run_limit limit = needs_of(needs);
    return put_limited(suite, &limit, 1, -1);
}

static size_t offer(struct suite *suite, const char *session, uint32_t want, const char *offers)
{
    struct culex_step step = suite_step_make(suite, session, want);
    step.offers = offers;
    return suite_step(suite, &step);
}

static void assert_granted(const struct suite *suite, size_t index, culex_uuid id)
{
    assert_true(index < suite->reply.grant_count);
    assert_true(suite_same_id(suite->reply.grants[index].facts.id, id));
}

static void end(struct suite *suite, const char *session, culex_uuid id, enum culex_run_event event,
                int64_t delay_ms)
{
    assert_int_equal(suite_end(suite, session, id, suite_get(suite, id)->attempt, event, delay_ms),
                     CULEX_ANSWER_OK);
}

/* Runs that wait and need this, and those at work, as LIMITS tells. */
static void assert_counts(struct suite *suite, const char *name, uint64_t waiting, uint64_t active)
{
    struct culex_limit_list list = {.rows = NULL};
    assert_ok(suite->store->ops->limits(suite->store, suite->queue, &list, NULL));
    const struct culex_limit_row *row = culex__limit_list_find(&list, name);
    assert_non_null(row);
    assert_int_equal(row->kind, CULEX_LIMIT_NEEDS);
    assert_int_equal(row->parked, waiting);
    assert_int_equal(row->active, active);
    culex__limit_list_release(&list);
}

/* --- who meets them ------------------------------------------------------------------------------
 */

void case_needs__run_waits_for_a_worker_that_offers_it(struct suite *suite)
{
    culex_uuid id = put(suite, ONE_GPU);
    assert_state(suite, id, CULEX_RUN_WAITING);
    assert_int_equal(suite_claim(suite, ANN, 8), 0);
    assert_int_equal(suite->reply.due_in_ms, -1);
    assert_false(suite->reply.is_empty);
    assert_false(suite->reply.is_short);
    assert_int_equal(offer(suite, ANN, 8, "tape:9"), 0);
    assert_false(suite->reply.is_short);
    assert_counts(suite, ONE_GPU, 1, 0);
    assert_int_equal(offer(suite, BOB, 8, "gpu:1"), 1);
    assert_granted(suite, 0, id);
    assert_string_equal(suite->reply.grants[0].needs, "gpu:1");
    assert_counts(suite, ONE_GPU, 0, 1);
    end(suite, BOB, id, CULEX_EVENT_DONE, 0);
    assert_counts(suite, ONE_GPU, 0, 0);
}

void case_needs__others_are_not_held_up(struct suite *suite)
{
    for (int i = 0; i < 300; i++)
        put(suite, ONE_GPU);
    culex_uuid plain = suite_put(suite);
    assert_int_equal(suite_claim(suite, ANN, 8), 1);
    assert_granted(suite, 0, plain);
    assert_null(suite->reply.grants[0].needs);
    assert_true(suite->reply.due_in_ms != 0);
}

void case_needs__no_more_than_is_free(struct suite *suite)
{
    culex_uuid ids[5];
    for (int i = 0; i < 5; i++)
        ids[i] = put(suite, ONE_GPU);
    assert_int_equal(offer(suite, ANN, 8, "gpu:2"), 2);
    assert_granted(suite, 0, ids[0]);
    assert_granted(suite, 1, ids[1]);
    assert_true(suite->reply.is_short);
    assert_int_equal(offer(suite, ANN, 8, "gpu:0"), 0);
    assert_true(suite->reply.is_short);
    assert_int_equal(offer(suite, BOB, 2, "gpu:9"), 2);
    assert_int_equal(offer(suite, BOB, 2, "gpu:7"), 1);
    assert_false(suite->reply.is_short);
}

void case_needs__kinds_share_what_is_free(struct suite *suite)
{
    culex_uuid one = put(suite, ONE_GPU), two = put(suite, "needs gpu:2");
    culex_uuid both = put(suite, "needs gpu:1,tape:1"), tape = put(suite, "needs tape:1");
    assert_int_equal(offer(suite, ANN, 8, "gpu:2,tape:1"), 2);
    assert_granted(suite, 0, one);
    assert_granted(suite, 1, both); /* the one before needs more than is left */
    assert_true(suite->reply.is_short);
    assert_int_equal(offer(suite, BOB, 8, "gpu:2,tape:1"), 2);
    assert_granted(suite, 0, two);
    assert_granted(suite, 1, tape);
}

void case_needs__missing_half_is_not_met(struct suite *suite)
{
    put(suite, "needs gpu:1,tape:1");
    assert_int_equal(offer(suite, ANN, 8, "gpu:9"), 0);
    assert_false(suite->reply.is_short);
    assert_int_equal(offer(suite, ANN, 8, "gpu:9,tape:0"), 0);
    assert_true(suite->reply.is_short);
    assert_int_equal(offer(suite, ANN, 8, "tape:9"), 0);
    assert_int_equal(offer(suite, ANN, 8, "gpu:1,tape:1,wood:1"), 1);
}

void case_needs__names_that_begin_alike_are_told_apart(struct suite *suite)
{
    culex_uuid short_one = put(suite, "needs gp:1"), long_one = put(suite, "needs gpu-2:1");
    assert_int_equal(offer(suite, ANN, 8, "gpu:1"), 0);
    assert_int_equal(offer(suite, ANN, 8, "gp:1"), 1);
    assert_granted(suite, 0, short_one);
    assert_int_equal(offer(suite, ANN, 8, "gpu-2:1"), 1);
    assert_granted(suite, 0, long_one);
}

/* --- the order -----------------------------------------------------------------------------------
 */

void case_needs__come_before_what_needs_nothing(struct suite *suite)
{
    culex_uuid plain = suite_put(suite), gpu = put(suite, ONE_GPU);
    assert_int_equal(offer(suite, ANN, 8, "gpu:1"), 2);
    assert_granted(suite, 0, gpu);
    assert_granted(suite, 1, plain);
}

void case_needs__priority_then_age(struct suite *suite)
{
    struct culex_run_limit gpu = needs_of(ONE_GPU), both = needs_of("needs gpu:1,tape:1");
    culex_uuid ids[4];
    ids[2] = put_limited(suite, &gpu, 1, 2);
    suite_pass(suite, 1);
    ids[3] = put_limited(suite, &both, 1, 2);
    suite_pass(suite, 1);
    ids[0] = put_limited(suite, &both, 1, 9);
    suite_pass(suite, 1);
    ids[1] = put_limited(suite, &gpu, 1, 5);
    assert_int_equal(offer(suite, ANN, 8, "gpu:9,tape:9"), 4);
    for (size_t i = 0; i < 4; i++)
        assert_granted(suite, i, ids[i]);
}

void case_needs__released_run_is_next_itself(struct suite *suite)
{
    culex_uuid first = put(suite, ONE_GPU);
    put(suite, ONE_GPU);
    assert_int_equal(offer(suite, ANN, 1, "gpu:1"), 1);
    end(suite, ANN, first, CULEX_EVENT_RELEASE, 0);
    assert_int_equal(offer(suite, ANN, 1, "gpu:1"), 1);
    assert_granted(suite, 0, first);
}

/* --- what else becomes of them --------------------------------------------------------------- */

void case_needs__delayed_retried_and_lost_runs_wait_for_it_again(struct suite *suite)
{
    struct culex_run_limit gpu = needs_of(ONE_GPU);
    struct culex_new_run run = suite_run(suite);
    run.limits = &gpu;
    run.limit_count = 1;
    run.delay_ms = 5000;
    culex_uuid id = suite_put_run(suite, &run);
    assert_state(suite, id, CULEX_RUN_SCHEDULED);
    assert_int_equal(offer(suite, ANN, 8, "gpu:1"), 0);
    suite_pass(suite, 5000);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    assert_int_equal(offer(suite, ANN, 8, "gpu:1"), 1);
    end(suite, ANN, id, CULEX_EVENT_FAIL, 1000);
    suite_pass(suite, 1000);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    assert_int_equal(offer(suite, ANN, 8, "gpu:1"), 1);
    suite_pass(suite, SUITE_LEASE_MS + 1);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    assert_counts(suite, ONE_GPU, 1, 0);
    assert_int_equal(offer(suite, BOB, 8, "gpu:1"), 1);
    assert_granted(suite, 0, id);
}

void case_needs__run_is_waiting_to_everybody(struct suite *suite)
{
    culex_uuid ids[3];
    struct culex_list_reply page = {.runs = NULL};
    for (int i = 0; i < 3; i++)
        ids[i] = put(suite, ONE_GPU);
    assert_int_equal(suite_stats(suite).count[CULEX_RUN_WAITING], 3);
    assert_ok(suite->store->ops->list(suite->store, suite->queue, CULEX_LIST_OF(CULEX_RUN_WAITING),
                                      CULEX_LIST_START, 10, &page, NULL));
    assert_int_equal(page.count, 3);
    suite->store->ops->list_release(suite->store, &page);
    suite_cancel(suite, ids[0]);
    assert_state(suite, ids[0], CULEX_RUN_CANCELLED);
    assert_counts(suite, ONE_GPU, 2, 0);
    const struct culex_place later = {.has_time = true, .delay_ms = 60000, .priority = -1};
    assert_ok(suite->store->ops->move(suite->store, suite->queue, ids[1], &later, NULL));
    assert_counts(suite, ONE_GPU, 1, 0);
    assert_int_equal(suite_purge(suite, CULEX_RUN_WAITING, 10), 1);
    assert_counts(suite, ONE_GPU, 0, 0);
    suite_pass(suite, 60000);
    assert_int_equal(offer(suite, ANN, 8, "gpu:1"), 1);
    assert_granted(suite, 0, ids[1]);
}

void case_needs__paused_queue_starts_none(struct suite *suite)
{
    put(suite, ONE_GPU);
    assert_ok(suite->store->ops->pause(suite->store, suite->queue, true, NULL));
    assert_int_equal(offer(suite, ANN, 8, "gpu:1"), 0);
    assert_ok(suite->store->ops->pause(suite->store, suite->queue, false, NULL));
    assert_int_equal(offer(suite, ANN, 8, "gpu:1"), 1);
}

void case_needs__expired_run_is_met_when_its_turn_comes(struct suite *suite)
{
    struct culex_run_limit gpu = needs_of(ONE_GPU);
    struct culex_new_run run = suite_run(suite);
    run.limits = &gpu;
    run.limit_count = 1;
    run.expires_ms = 1000;
    culex_uuid id = suite_put_run(suite, &run), fresh = put(suite, ONE_GPU);
    suite_pass(suite, 1000);
    assert_int_equal(offer(suite, ANN, 8, "gpu:1"), 1);
    assert_granted(suite, 0, fresh);
    assert_state(suite, id, CULEX_RUN_DEAD);
}

void case_needs__repeated_step_grants_the_same_once(struct suite *suite)
{
    culex_uuid id = put(suite, ONE_GPU);
    put(suite, ONE_GPU);
    struct culex_step step = suite_step_make(suite, ANN, 8);
    step.offers = "gpu:1";
    assert_int_equal(suite_step(suite, &step), 1);
    assert_int_equal(suite_step(suite, &step), 1);
    assert_granted(suite, 0, id);
    assert_string_equal(suite->reply.grants[0].needs, "gpu:1");
}

void case_needs__replaced_run_needs_what_the_new_one_does(struct suite *suite)
{
    struct culex_run_limit gpu = needs_of(ONE_GPU);
    struct culex_new_run run = suite_run(suite);
    run.unique_key = "ab";
    run.unique_while = CULEX_UNIQUE_LIVE;
    run.unique_replaces = true;
    culex_uuid id = suite_put_run(suite, &run);
    run.limits = &gpu;
    run.limit_count = 1;
    run.content++;
    assert_int_equal(suite_enqueue(suite, &run), CULEX_ENQUEUED_REPLACED);
    assert_int_equal(suite_claim(suite, ANN, 8), 0);
    assert_counts(suite, ONE_GPU, 1, 0);
    gpu.name = "needs tape:1";
    run.content++;
    assert_int_equal(suite_enqueue(suite, &run), CULEX_ENQUEUED_REPLACED);
    assert_int_equal(offer(suite, ANN, 8, "gpu:1"), 0);
    assert_int_equal(offer(suite, ANN, 8, "tape:1"), 1);
    assert_granted(suite, 0, id);
}

/* --- with limits ------------------------------------------------------------------------------ */

void case_needs__limits_come_first(struct suite *suite)
{
    const struct culex_run_limit both[] = {at_most(1), needs_of(ONE_GPU)};
    culex_uuid ids[4];
    for (int i = 0; i < 4; i++)
        ids[i] = put_limited(suite, both, 2, -1);
    assert_int_equal(suite_claim(suite, ANN, 8), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(offer(suite, ANN, 8, "gpu:4"), 1);
        assert_granted(suite, 0, ids[i]);
        assert_int_equal(offer(suite, BOB, 8, "gpu:4"), 0);
        end(suite, ANN, ids[i], CULEX_EVENT_DONE, 0);
    }
    assert_counts(suite, ONE_GPU, 0, 0);
}

void case_needs__fair_share_holds_among_them(struct suite *suite)
{
    struct culex_run_limit both[] = {
        {CULEX_LIMIT_FAIR, "shop.send_email:fair_by_tenant", "many", .count = 0},
        needs_of(ONE_GPU)};
    for (int i = 0; i < 40; i++)
        put_limited(suite, both, 2, -1);
    both[0].key = "few";
    suite_pass(suite, 1);
    culex_uuid other = put_limited(suite, both, 2, -1);
    bool is_met = false;
    for (int i = 0; i < 16 + 10 && !is_met; i++) {
        suite_pass(suite, 1);
        assert_int_equal(offer(suite, ANN, 1, "gpu:1"), 1);
        culex_uuid id = suite->reply.grants[0].facts.id;
        is_met = suite_same_id(id, other);
        end(suite, ANN, id, CULEX_EVENT_DONE, 0);
    }
    assert_true(is_met);
}

/* Runs that nobody can serve wait as long as they must, and others of their key do not. */
/* More are younger than a claim looks at, and their shares come before his by their bytes. */
void case_needs__oldest_is_first_of_many_shares(struct suite *suite)
{
    struct culex_run_limit both[] = {{CULEX_LIMIT_FAIR, "shop.send_email:fair", "z", .count = 0},
                                     needs_of(ONE_GPU)};
    culex_uuid oldest = put_limited(suite, both, 2, -1);
    suite_pass(suite, 1);
    for (int i = 0; i < 20; i++) {
        both[0].key = i % 2 == 0 ? "a" : "b";
        put_limited(suite, both, 2, -1);
    }
    assert_int_equal(offer(suite, ANN, 1, "gpu:1"), 1);
    assert_granted(suite, 0, oldest);
}

void case_needs__of_one_kind_keep_no_slot_from_others(struct suite *suite)
{
    struct culex_run_limit both[] = {at_most(1), needs_of("needs fpga:1")};
    culex_uuid old[3], now[2];
    for (int i = 0; i < 3; i++)
        old[i] = put_limited(suite, both, 2, 9);
    both[1] = needs_of(ONE_GPU);
    for (int i = 0; i < 2; i++)
        now[i] = put_limited(suite, both, 2, -1);
    culex_uuid plain = put_limited(suite, both, 1, -1);
    assert_int_equal(offer(suite, ANN, 8, "gpu:4"), 1);
    assert_granted(suite, 0, now[0]);
    end(suite, ANN, now[0], CULEX_EVENT_DONE, 0);
    assert_int_equal(suite_claim(suite, ANN, 8), 1);
    assert_granted(suite, 0, plain);
    end(suite, ANN, plain, CULEX_EVENT_DONE, 0);
    assert_int_equal(offer(suite, ANN, 8, "gpu:4"), 1);
    assert_granted(suite, 0, now[1]);
    end(suite, ANN, now[1], CULEX_EVENT_DONE, 0);
    assert_int_equal(offer(suite, ANN, 8, "fpga:9"), 1);
    assert_granted(suite, 0, old[0]);
}

void case_needs__of_one_kind_keep_no_share_from_others(struct suite *suite)
{
    struct culex_run_limit both[] = {
        {CULEX_LIMIT_FAIR, "shop.send_email:fair_by_tenant", "many", .count = 0},
        needs_of("needs fpga:1")};
    for (int i = 0; i < 40; i++)
        put_limited(suite, both, 2, -1);
    culex_uuid plain = put_limited(suite, both, 1, -1);
    both[1] = needs_of(ONE_GPU);
    culex_uuid gpu = put_limited(suite, both, 2, -1);
    assert_int_equal(offer(suite, ANN, 8, "gpu:4"), 2);
    assert_granted(suite, 0, gpu);
    assert_granted(suite, 1, plain);
}

void case_needs__slot_that_comes_free_is_there_for_all(struct suite *suite)
{
    struct culex_run_limit both[] = {at_most(1), needs_of(ONE_GPU)};
    culex_uuid gpu = put_limited(suite, both, 2, -1);
    assert_int_equal(offer(suite, ANN, 8, "gpu:1"), 1);
    both[1] = needs_of("needs tape:1");
    culex_uuid tape = put_limited(suite, both, 2, -1);
    culex_uuid plain = put_limited(suite, both, 1, -1);
    assert_int_equal(offer(suite, BOB, 8, "gpu:1,tape:1"), 0);
    end(suite, ANN, gpu, CULEX_EVENT_DONE, 0);
    assert_int_equal(offer(suite, BOB, 8, "tape:1"), 1);
    assert_granted(suite, 0, tape);
    end(suite, BOB, tape, CULEX_EVENT_DONE, 0);
    assert_int_equal(offer(suite, BOB, 8, "gpu:1,tape:1"), 1);
    assert_granted(suite, 0, plain);
}

/* One ends and its slot is gone, for the limit is lower by now; it is parked, and the next frees
 * one. */
void case_needs__slot_is_there_for_who_was_parked_in_the_same_step(struct suite *suite)
{
    const struct culex_run_limit both[] = {at_most(2), needs_of(ONE_GPU)};
    const culex_limit_value one = {.count = 1};
    culex_uuid gpu = put_limited(suite, both, 2, -1), plain = put_limited(suite, both, 1, -1);
    assert_int_equal(offer(suite, ANN, 8, "gpu:1"), 2);
    assert_ok(suite->store->ops->limit_set(suite->store, suite->queue, LIMIT, &one, NULL));
    assert_int_equal(suite_claim(suite, ANN, 0), 0);
    const struct culex_ack acks[] = {{.id = gpu, .attempt = 1, .event = CULEX_EVENT_RELEASE},
                                     {.id = plain, .attempt = 1, .event = CULEX_EVENT_DONE}};
    struct culex_step step = suite_step_make(suite, ANN, 0);
    step.acks = acks;
    step.ack_count = 2;
    suite_step(suite, &step);
    assert_int_equal(offer(suite, BOB, 8, "gpu:1"), 1);
    assert_granted(suite, 0, gpu);
}

void case_needs__token_is_one_for_all(struct suite *suite)
{
    struct culex_run_limit both[] = {{CULEX_LIMIT_RATE, "shop.send_email:rate", NULL, 1, 1000, 1},
                                     needs_of(ONE_GPU)};
    culex_uuid first = put_limited(suite, both, 2, -1), second = put_limited(suite, both, 2, -1);
    culex_uuid plain = put_limited(suite, both, 1, -1);
    assert_int_equal(offer(suite, ANN, 8, "gpu:4"), 1);
    assert_granted(suite, 0, first);
    assert_true(suite->reply.due_in_ms <= 1000 && suite->reply.due_in_ms >= 0);
    suite_pass(suite, 1000);
    assert_int_equal(suite_claim(suite, BOB, 8), 1);
    assert_granted(suite, 0, plain);
    assert_int_equal(offer(suite, ANN, 8, "gpu:4"), 0);
    assert_true(suite->reply.due_in_ms <= 1000 && suite->reply.due_in_ms >= 0);
    suite_pass(suite, 1000);
    assert_int_equal(offer(suite, ANN, 8, "gpu:4"), 1);
    assert_granted(suite, 0, second);
}

void case_needs__raised_limit_lets_in_all(struct suite *suite)
{
    struct culex_run_limit both[] = {at_most(1), needs_of(ONE_GPU)};
    const culex_limit_value three = {.count = 3};
    put_limited(suite, both, 1, -1);
    assert_int_equal(suite_claim(suite, ANN, 8), 1);
    culex_uuid gpu = put_limited(suite, both, 2, -1);
    both[1] = needs_of("needs tape:1");
    culex_uuid tape = put_limited(suite, both, 2, -1);
    assert_ok(suite->store->ops->limit_set(suite->store, suite->queue, LIMIT, &three, NULL));
    assert_int_equal(offer(suite, BOB, 8, "gpu:1,tape:1"), 2);
    assert_granted(suite, 0, gpu);
    assert_granted(suite, 1, tape);
}

/* What is parked for a place counts with its key, whatever it needs. */
void case_needs__key_is_listed_once(struct suite *suite)
{
    struct culex_limit_key_list list = {.rows = NULL};
    struct culex_limit_list limits = {.rows = NULL};
    struct culex_run_limit both[] = {at_most(1), needs_of(ONE_GPU)};
    const char *const keys[] = {"a", "a ", "b"};
    for (int i = 0; i < 3; i++) {
        both[0].key = keys[i];
        for (int k = 0; k < 3; k++)
            put_limited(suite, both, 2, -1);
        put_limited(suite, both, 1, -1);
        put_limited(suite, both, 1, -1);
    }
    assert_int_equal(suite_claim(suite, ANN, 8), 3);
    assert_int_equal(offer(suite, ANN, 8, "gpu:9"), 0);
    assert_ok(suite->store->ops->limits(suite->store, suite->queue, &limits, NULL));
    const struct culex_limit_row *row = culex__limit_list_find(&limits, LIMIT);
    assert_non_null(row);
    assert_int_equal(row->keys, 3);
    assert_int_equal(row->active, 3);
    culex__limit_list_release(&limits);
    const char *after = NULL;
    for (int i = 0; i < 3; i++) {
        assert_ok(suite->store->ops->limit_keys(suite->store, suite->queue, LIMIT, after, 1, &list,
                                                NULL));
        assert_int_equal(list.count, 1);
        assert_int_equal(list.is_more, i < 2);
        assert_string_equal(list.rows[0].key, keys[i]);
        assert_int_equal(list.rows[0].active, 1);
        assert_true(list.rows[0].parked > 0);
        after = keys[i];
        culex__limit_key_list_release(&list);
    }
}

/* Its holder is gone for good: whoever finds that out, the next with the offer has it. */
void case_needs__lost_run_goes_to_the_next_worker(struct suite *suite)
{
    struct culex_run_limit both[] = {at_most(1), needs_of(ONE_GPU)};
    culex_uuid id = put_limited(suite, both, 2, -1);
    assert_int_equal(offer(suite, ANN, 8, "gpu:1"), 1);
    suite_pass(suite, SUITE_LEASE_MS + 1);
    assert_int_equal(suite_claim(suite, BOB, 8), 0);
    assert_int_equal(offer(suite, BOB, 8, "gpu:1"), 1);
    assert_granted(suite, 0, id);
}

/* --- what is refused ------------------------------------------------------------------------- */

static void assert_refused(struct suite *suite, const struct culex_run_limit *limits, size_t count)
{
    struct culex_new_run run = suite_run(suite);
    struct culex_enqueue_result result;
    run.limits = limits;
    run.limit_count = count;
    assert_int_equal(suite_call(suite, NULL, &run, 1, &result), CULEX_EINVAL);
}

void case_needs__what_is_out_of_form_is_refused(struct suite *suite)
{
    static const char *const bad[] = {"needs ",
                                      "needs gpu",
                                      "needs gpu:",
                                      "needs gpu:0",
                                      "needs gpu:1001",
                                      "needs gpu:01",
                                      "needs :1",
                                      "needs Gpu:1",
                                      "needs gpu:1,",
                                      "needs b:1,a:1",
                                      "needs a:1,a:1",
                                      "needs a:1,b:1,c:1,d:1,e:1",
                                      "needs gpu:1 ",
                                      "needs gpu:-1",
                                      "gpu:1",
                                      "needs g pu:1",
                                      "needs abcdefghijklmnopqrstuvwxyz0123456789:1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct culex_run_limit limit = needs_of(bad[i]);
        assert_refused(suite, &limit, 1);
    }
    struct culex_run_limit keyed = needs_of(ONE_GPU), other = at_most(1);
    keyed.key = "a";
    assert_refused(suite, &keyed, 1);
    other.name = ONE_GPU;
    assert_refused(suite, &other, 1);
    const struct culex_run_limit turned[] = {needs_of(ONE_GPU), at_most(1)};
    assert_refused(suite, turned, 2);
}

void case_needs__offer_out_of_form_is_refused(struct suite *suite)
{
    static const char *const bad[] = {"gpu", "gpu:", "gpu:1000001", "b:1,a:1", "a:1,", "Gpu:1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct culex_step step = suite_step_make(suite, ANN, 1);
        struct culex_step_reply reply;
        step.offers = bad[i];
        assert_int_equal(suite->store->ops->step(suite->store, &step, &reply, NULL), CULEX_EINVAL);
    }
}

void case_needs__have_no_number_to_set(struct suite *suite)
{
    const culex_limit_value value = {.count = 3};
    put(suite, ONE_GPU);
    assert_int_equal(
        suite->store->ops->limit_set(suite->store, suite->queue, ONE_GPU, &value, NULL),
        CULEX_EINVAL);
}
