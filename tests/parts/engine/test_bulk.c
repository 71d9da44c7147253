/* Retrying, deleting and cancelling many runs at once, in a driven world. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <culex/bulk.h>

#include "world.h"

enum { RUNS = 250 };

static int setup(void **state)
{
    *state = world_open();
    return 0;
}

static int teardown(void **state)
{
    world_close(*state);
    return 0;
}

/* One run, of the other job when `is_other`; its tags are "a" and, when `tag` is given, that. */
static void put(struct world *world, bool is_other, const char *tag)
{
    culex_job_type type = number_type();
    struct number one = {1};
    const char *const tags[] = {"a", tag};
    culex_enqueue_options options = culex_enqueue_options_make();
    if (is_other)
        type.name = type.wire = "t.other";
    options.tags = tags;
    options.tag_count = tag != NULL ? 2 : 1;
    assert_int_equal(culex_client_enqueue(world->client, &type, &one, &options, NULL, NULL),
                     CULEX_OK);
}

/* Claims up to `count` runs that wait and discards them, so that they are dead. */
static void kill_by(struct world *world, uint32_t count, const char *text)
{
    static uint64_t nonce;
    struct culex_step_reply reply;
    struct culex_ack acks[RUNS];
    struct culex_step step = {.queue = "numbers",
                              .session = "00000000000000aa",
                              .nonce = ++nonce,
                              .want = count,
                              .max_bytes = 1 << 20,
                              .lease_ms = 60000};
    assert_int_equal(world->store->ops->step(world->store, &step, &reply, NULL), CULEX_OK);
    assert_int_equal(reply.grant_count, count);
    for (size_t i = 0; i < count; i++)
        acks[i] = (struct culex_ack){.id = reply.grants[i].facts.id,
                                     .attempt = reply.grants[i].facts.attempt,
                                     .event = CULEX_EVENT_DISCARD,
                                     .text = text};
    world->store->ops->step_release(world->store, &reply);
    step.nonce = ++nonce;
    step.want = 0;
    step.acks = acks;
    step.ack_count = count;
    assert_int_equal(world->store->ops->step(world->store, &step, &reply, NULL), CULEX_OK);
    world->store->ops->step_release(world->store, &reply);
}

static void kill_all(struct world *world, uint32_t count)
{
    kill_by(world, count, NULL);
}

static uint64_t count_of(struct world *world, culex_run_state state)
{
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    return stats.count[state];
}

/* From beginning to end, `limit` runs a call; `visit` is called for each page. */
static culex_bulk_counts bulk(struct world *world, const culex_bulk *wanted, size_t limit,
                              culex_bulk_visitor visit, void *user)
{
    culex_bulk_cursor cursor = {.is_over = false};
    culex_bulk_counts sum = {0}, counts;
    while (!cursor.is_over) {
        culex_error error = {0};
        if (culex_client_bulk(world->client, "numbers", wanted, &cursor, limit, visit, user,
                              &counts, &error) != CULEX_OK)
            fail_msg("%s", error.text);
        assert_true(limit == 0 || counts.looked <= limit);
        sum.looked += counts.looked;
        sum.matched += counts.matched;
        sum.done += counts.done;
        sum.skipped += counts.skipped;
    }
    return sum;
}

static void test_dead_runs_are_retried_in_bounded_calls(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < RUNS; i++)
        put(world, false, NULL);
    kill_all(world, RUNS);
    culex_bulk retry = {.action = CULEX_BULK_RETRY, .is_dry = true};
    culex_bulk_counts counts = bulk(world, &retry, 70, NULL, NULL);
    assert_int_equal(counts.matched, RUNS);
    assert_int_equal(counts.done, 0);
    assert_int_equal(count_of(world, CULEX_RUN_DEAD), RUNS);
    retry.is_dry = false;
    counts = bulk(world, &retry, 70, NULL, NULL);
    assert_int_equal(counts.done, RUNS);
    assert_int_equal(counts.skipped, 0);
    assert_int_equal(count_of(world, CULEX_RUN_WAITING), RUNS);
    counts = bulk(world, &retry, 0, NULL, NULL);
    assert_int_equal(counts.looked, 0);
}

/* By job, tag and time together. */
static void test_only_what_matches_is_touched(void **state)
{
    struct world *world = *state;
    put(world, false, "b");
    put(world, true, "b");
    put(world, true, "ab");
    put(world, true, NULL);
    culex_queue_stats stats;
    world_pass(world, 5000);
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    culex_time later = stats.now_ms * CULEX_MILLISECOND;
    put(world, true, "b");
    culex_bulk cancel = {.action = CULEX_BULK_CANCEL, .is_dry = true};
    assert_int_equal(bulk(world, &cancel, 0, NULL, NULL).matched, 5);
    cancel.filter.tag = "a";
    assert_int_equal(bulk(world, &cancel, 0, NULL, NULL).matched, 5);
    cancel.filter.tag = "b";
    assert_int_equal(bulk(world, &cancel, 0, NULL, NULL).matched, 3);
    cancel.filter.job = "t.other";
    assert_int_equal(bulk(world, &cancel, 0, NULL, NULL).matched, 2);
    cancel.filter.has_before = true;
    cancel.filter.before = later;
    assert_int_equal(bulk(world, &cancel, 0, NULL, NULL).matched, 1);
    cancel.filter.has_since = true;
    cancel.filter.since = later - 60 * CULEX_SECOND;
    cancel.is_dry = false;
    assert_int_equal(bulk(world, &cancel, 0, NULL, NULL).done, 1);
    assert_int_equal(count_of(world, CULEX_RUN_CANCELLED), 1);
    cancel.filter.has_before = false;
    cancel.filter.before = 0;
    cancel.filter.since = later;
    assert_int_equal(bulk(world, &cancel, 0, NULL, NULL).done, 1);
    assert_int_equal(count_of(world, CULEX_RUN_WAITING), 3);
}

static void test_states_can_be_chosen(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < 6; i++)
        put(world, false, NULL);
    kill_all(world, 3);
    culex_bulk all = {.action = CULEX_BULK_CANCEL};
    assert_int_equal(bulk(world, &all, 0, NULL, NULL).done, 3);
    culex_bulk dead = {.action = CULEX_BULK_DELETE,
                       .filter.states = CULEX_LIST_STATE(CULEX_RUN_DEAD)};
    assert_int_equal(bulk(world, &dead, 0, NULL, NULL).done, 3);
    assert_int_equal(count_of(world, CULEX_RUN_DEAD), 0);
    assert_int_equal(count_of(world, CULEX_RUN_CANCELLED), 3);
    dead.filter.states = 0;
    assert_int_equal(bulk(world, &dead, 1, NULL, NULL).done, 3);
}

/* As many runs come as are cancelled. */
static bool put_more(const culex_bulk_counts *counts, void *user)
{
    for (int i = 0; i < 100; i++)
        put(user, false, NULL);
    return counts->looked < 4 * RUNS;
}

static void test_it_ends_though_runs_come_meanwhile(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < RUNS; i++)
        put(world, false, NULL);
    culex_bulk cancel = {.action = CULEX_BULK_CANCEL};
    assert_int_equal(bulk(world, &cancel, 0, put_more, world).looked, RUNS);
}

/* Another run holds its unique key by now. */
static void test_run_that_cannot_be_retried_is_skipped(void **state)
{
    struct world *world = *state;
    struct culex_new_run run = {.job = "t.number",
                                .attempts_max = 1,
                                .keep_failure_ms = 60000,
                                .tags = "",
                                .payload = "{}",
                                .payload_len = 2,
                                .unique_key = "ab",
                                .unique_while = CULEX_UNIQUE_LIVE};
    struct culex_enqueue_result result;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            world->store->ops->enqueue(world->store, "numbers", NULL, &run, 1, &result, NULL),
            CULEX_OK);
        assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
        if (i == 0)
            kill_all(world, 1);
    }
    culex_bulk retry = {.action = CULEX_BULK_RETRY};
    culex_bulk_counts counts = bulk(world, &retry, 0, NULL, NULL);
    assert_int_equal(counts.matched, 1);
    assert_int_equal(counts.done, 0);
    assert_int_equal(counts.skipped, 1);
}

static bool stop(const culex_bulk_counts *counts, void *user)
{
    (void)counts;
    (void)user;
    return false;
}

static void test_visitor_stops_and_the_cursor_goes_on(void **state)
{
    struct world *world = *state;
    culex_bulk_cursor cursor = {.is_over = false};
    culex_bulk_counts counts;
    for (int i = 0; i < RUNS; i++)
        put(world, false, NULL);
    kill_all(world, RUNS);
    culex_bulk delete = {.action = CULEX_BULK_DELETE};
    assert_int_equal(
        culex_client_bulk(world->client, "numbers", &delete, &cursor, 0, stop, NULL, &counts, NULL),
        CULEX_OK);
    assert_int_equal(counts.looked, 100);
    assert_false(cursor.is_over);
    assert_int_equal(
        culex_client_bulk(world->client, "numbers", &delete, &cursor, 0, NULL, NULL, &counts, NULL),
        CULEX_OK);
    assert_int_equal(counts.done, RUNS - 100);
    assert_int_equal(count_of(world, CULEX_RUN_DEAD), 0);
}

/* And leaves the cursor where it was. */
static void test_queue_that_is_not_there_is_told(void **state)
{
    struct world *world = *state;
    culex_bulk_cursor cursor = {.is_over = false};
    culex_error error = {0};
    culex_bulk delete = {.action = CULEX_BULK_DELETE};
    assert_int_equal(
        culex_client_bulk(world->client, "numbers", &delete, &cursor, 0, NULL, NULL, NULL, &error),
        CULEX_ENOTFOUND);
    assert_non_null(strstr(error.text, "no queue 'numbers'"));
    put(world, false, NULL);
    kill_all(world, 1);
    assert_int_equal(bulk(world, &delete, 0, NULL, NULL).done, 1);
}

/* A page of those that died otherwise is looked at as well. */
static void test_error_is_one_of_what_is_matched(void **state)
{
    struct world *world = *state;
    culex_bulk retry = {.action = CULEX_BULK_RETRY, .filter.error_part = "disk full"};
    for (int i = 0; i < 4; i++) {
        put(world, i == 3, NULL);
        kill_by(world, 1, i % 2 == 0 ? "no answer" : "a disk full of letters");
    }
    culex_bulk_counts counts = bulk(world, &retry, 0, NULL, NULL);
    assert_int_equal(counts.looked, 4);
    assert_int_equal(counts.matched, 2);
    assert_int_equal(counts.done, 2);
    assert_int_equal(count_of(world, CULEX_RUN_DEAD), 2);
    retry.filter.error_part = "Disk";
    assert_int_equal(bulk(world, &retry, 0, NULL, NULL).matched, 0);
}

static void refused(struct world *world, culex_bulk wanted, const char *words)
{
    culex_bulk_cursor cursor = {.is_over = false};
    culex_error error = {0};
    assert_int_equal(
        culex_client_bulk(world->client, "numbers", &wanted, &cursor, 0, NULL, NULL, NULL, &error),
        CULEX_EINVAL);
    if (strstr(error.text, words) == NULL)
        fail_msg("%s", error.text);
}

static void test_what_cannot_be_meant_is_refused(void **state)
{
    struct world *world = *state;
    put(world, false, NULL);
    refused(world, (culex_bulk){.filter.states = CULEX_LIST_STATE(CULEX_RUN_DONE)},
            "done runs cannot be retried");
    refused(world,
            (culex_bulk){.action = CULEX_BULK_DELETE,
                         .filter.states = CULEX_LIST_STATE(CULEX_RUN_ACTIVE)},
            "active runs cannot be deleted");
    refused(world, (culex_bulk){.filter.states = 1u << 20}, "CULEX_LIST_STATE");
    refused(world, (culex_bulk){.action = (culex_bulk_action)9}, "none of culex_bulk_action");
    refused(world, (culex_bulk){.filter.since = 1}, "filter.has_since is not");
    refused(world, (culex_bulk){.filter.has_before = true, .filter.before = 1700000000},
            "before 2001");
    culex_time now = INT64_C(1700000000) * CULEX_SECOND;
    refused(world,
            (culex_bulk){.filter.has_before = true,
                         .filter.before = now,
                         .filter.has_since = true,
                         .filter.since = now},
            "no run is enqueued in between");
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(test_dead_runs_are_retried_in_bounded_calls),
        UNIT(test_only_what_matches_is_touched),
        UNIT(test_states_can_be_chosen),
        UNIT(test_it_ends_though_runs_come_meanwhile),
        UNIT(test_run_that_cannot_be_retried_is_skipped),
        UNIT(test_visitor_stops_and_the_cursor_goes_on),
        UNIT(test_queue_that_is_not_there_is_told),
        UNIT(test_error_is_one_of_what_is_matched),
        UNIT(test_what_cannot_be_meant_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
