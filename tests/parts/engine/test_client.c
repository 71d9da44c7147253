/* The client: tickets, keys, limits, trouble with the store, and all verbs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <culex/figures.h>
#include <culex/limits.h>
#include <culex/schedules.h>

#include "world.h"

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

static uint64_t enqueued_count(struct world *world)
{
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    return stats.enqueued;
}

static bool is_ticket(culex_uuid id)
{
    struct culex_ticket ticket;
    return culex__ticket_parse(id, &ticket);
}

static culex_enqueue_options with_ticket(culex_uuid ticket)
{
    culex_enqueue_options options = culex_enqueue_options_make();
    options.has_ticket = true;
    options.ticket = ticket;
    return options;
}

/* Its ticket, when it stays without an answer. */
static culex_uuid enqueue_unknown(struct world *world, const culex_job_type *type, int64_t n,
                                  enum world_fault fault)
{
    struct number params = {n};
    culex_uuid ticket = {{0}};
    world->enqueue_fault = fault;
    world->enqueue_fault_count = 100000;
    assert_int_equal(culex_client_enqueue(world->client, type, &params, NULL, &ticket, NULL),
                     CULEX_EUNKNOWN);
    world->enqueue_fault_count = 0;
    assert_true(is_ticket(ticket));
    return ticket;
}

static void test_lost_reply_is_repeated_with_the_same_ticket(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world->enqueue_fault = WORLD_LOSE_REPLY;
    world->enqueue_fault_count = 2;
    culex_uuid id = world_enqueue(world, &type, 1);
    assert_int_equal(enqueued_count(world), 1);
    assert_int_equal(world_state(world, id), CULEX_RUN_WAITING);
}

static void test_unknown_tells_the_ticket_and_takes_no_longer_than_the_timeout(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number params = {1};
    culex_uuid id = {{0}};
    culex_error error = {0};
    int64_t before_ms = world_ms(world);
    culex_enqueue_options again =
        with_ticket(enqueue_unknown(world, &type, params.n, WORLD_LOSE_REPLY));
    assert_true(world_ms(world) - before_ms <= 5000);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(culex_client_enqueue(world->client, &type, &params, &again, &id, NULL),
                         CULEX_OK);
        assert_int_equal(world_state(world, id), CULEX_RUN_WAITING);
    }
    assert_int_equal(enqueued_count(world), 1);
    params.n = 2;
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &again, NULL, &error),
                     CULEX_ECONFLICT);
    assert_non_null(strstr(error.text, "its ticket was used before, for other params"));
    assert_non_null(strstr(error.text, "take a fresh ticket for each that is new"));
}

/* Whatever the client has called since: its later calls are those of another producer. */
static void test_unknown_call_can_be_repeated_after_others(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number params = {1};
    culex_uuid id;
    culex_enqueue_options again =
        with_ticket(enqueue_unknown(world, &type, params.n, WORLD_LOSE_REPLY));
    uint64_t producer = world->ticket.producer;
    for (int64_t n = 2; n < 5; n++)
        world_enqueue(world, &type, n);
    assert_true(world->ticket.producer != producer);
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &again, &id, NULL),
                     CULEX_OK);
    assert_int_equal(world->ticket.producer, producer);
    assert_int_equal(enqueued_count(world), 4);
    assert_int_equal(world_state(world, id), CULEX_RUN_WAITING);
}

/* By any client. */
static void test_unknown_call_can_be_repeated_by_another_client(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number params = {1};
    culex_client *other;
    culex_enqueue_options again =
        with_ticket(enqueue_unknown(world, &type, params.n, WORLD_LOSE_REPLY));
    assert_int_equal(culex__client_create(&world->base, 5000, &world->env, &other, NULL), CULEX_OK);
    assert_int_equal(culex_client_enqueue(other, &type, &params, &again, NULL, NULL), CULEX_OK);
    culex_client_close(other);
    assert_int_equal(enqueued_count(world), 1);
}

/* A try that is told to have failed says so of itself, and the producer stays. */
static void test_certain_failure_leaves_no_producer(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number params = {1};
    world_enqueue(world, &type, params.n);
    struct culex_ticket before = world->ticket;
    world->enqueue_fault = WORLD_REFUSE;
    world->enqueue_fault_count = 100000;
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, NULL, NULL, NULL),
                     CULEX_ECONNECT);
    world->enqueue_fault_count = 0;
    world_enqueue(world, &type, params.n);
    assert_true(world->ticket.producer == before.producer);
    assert_true(world->ticket.sequence > before.sequence);
}

static void test_new_ticket_is_of_one_call_whatever_comes_between(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number params = {1};
    culex_enqueue_options options = culex_enqueue_options_make();
    culex_uuid other, ids[2];
    options.has_ticket = true;
    assert_int_equal(culex_client_new_ticket(world->client, &options.ticket, NULL), CULEX_OK);
    assert_int_equal(culex_client_new_ticket(world->client, &other, NULL), CULEX_OK);
    assert_true(is_ticket(options.ticket) && is_ticket(other));
    for (int i = 0; i < 2; i++) {
        world_enqueue(world, &type, 2 + i);
        assert_int_equal(
            culex_client_enqueue(world->client, &type, &params, &options, &ids[i], NULL), CULEX_OK);
    }
    assert_memory_equal(&ids[0], &ids[1], sizeof ids[0]);
    assert_int_equal(enqueued_count(world), 3);
    options.ticket = other;
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &options, &ids[1], NULL),
                     CULEX_OK);
    assert_memory_not_equal(&ids[0], &ids[1], sizeof ids[0]);
}

static void test_repeat_with_another_delay_priority_or_tags_changes_nothing(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number params = {1};
    static const char *const tags[] = {"urgent"};
    culex_run_info *run;
    culex_uuid id;
    culex_enqueue_options again =
        with_ticket(enqueue_unknown(world, &type, params.n, WORLD_LOSE_REPLY));
    again.has_delay = again.has_priority = true;
    again.delay = culex_hours(1);
    again.priority = 9;
    again.tags = tags;
    again.tag_count = 1;
    type.timeout_ms = 7000;
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &again, &id, NULL),
                     CULEX_OK);
    assert_int_equal(culex_client_get(world->client, "numbers", id, &run, NULL), CULEX_OK);
    assert_int_equal(run->state, CULEX_RUN_WAITING);
    assert_int_equal(run->priority, type.priority);
    assert_string_equal(run->tags, "");
    culex_run_info_free(run);
}

/* Of the key, with any ticket or none, from any client. */
static void test_key_has_one_run_while_it_is_remembered(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number params = {1};
    culex_enqueue_options options = culex_enqueue_options_make();
    culex_uuid first, second;
    culex_error error;
    options.idempotency_key = "order|17/\xc3\xa9";
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &options, &first, NULL),
                     CULEX_OK);
    world_pass(world, CULEX_DAY / CULEX_MILLISECOND - 60000);
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &options, &second, NULL),
                     CULEX_OK);
    assert_memory_equal(&first, &second, sizeof first);
    assert_int_equal(enqueued_count(world), 1);
    params.n = 2;
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &options, NULL, &error),
                     CULEX_ECONFLICT);
    assert_non_null(strstr(error.text, "was enqueued with this idempotency key"));
    world_pass(world, 120000); /* the default is a day from the first call */
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &options, &second, NULL),
                     CULEX_OK);
    assert_memory_not_equal(&first, &second, sizeof first);
}

static void test_key_is_remembered_for_its_window(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number params = {1};
    culex_enqueue_options options = culex_enqueue_options_make();
    options.idempotency_key = "k";
    options.has_idempotency_window = true;
    options.idempotency_window = culex_seconds(10);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(culex_client_enqueue(world->client, &type, &params, &options, NULL, NULL),
                         CULEX_OK);
        assert_int_equal(enqueued_count(world), i < 2 ? 1 : 2);
        world_pass(world, 6000);
    }
}

static void test_unknown_stays_unknown_when_the_store_then_goes_away(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number params = {1};
    culex_uuid id;
    world->enqueue_fault = WORLD_LOSE_REPLY;
    world->enqueue_fault_count = 1;
    struct culex_effort effort;
    assert_int_equal(culex__effort_begin(world->client, &effort, NULL), CULEX_OK);
    assert_true(culex__effort_again(&effort, CULEX_EUNKNOWN));
    assert_true(culex__effort_again(&effort, CULEX_ECONNECT));
    assert_int_equal(culex__effort_judge(&effort, CULEX_ECONNECT, NULL), CULEX_EUNKNOWN);
    assert_int_equal(culex__effort_judge(&effort, CULEX_ECONFLICT, NULL), CULEX_EUNKNOWN);
    assert_int_equal(culex__effort_judge(&effort, CULEX_ESTATE, NULL), CULEX_ESTATE);
    assert_int_equal(culex__effort_judge(&effort, CULEX_EEXPIRED, NULL), CULEX_EUNKNOWN);
    assert_int_equal(culex__effort_end(&effort, CULEX_OK, NULL), CULEX_OK);
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, NULL, &id, NULL),
                     CULEX_OK);
}

static void test_unreachable_store_is_certain(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number params = {1};
    culex_error error = {0};
    world->enqueue_fault = WORLD_REFUSE;
    world->enqueue_fault_count = 100000;
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, NULL, NULL, &error),
                     CULEX_ECONNECT);
    assert_in_range(world->enqueues, 4, 60);
}

static void test_clock_jump_is_learnt_and_the_ticket_made_again(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world_enqueue(world, &type, 1);
    world->store_skew_ms = 3600000;
    culex_uuid id = world_enqueue(world, &type, 2);
    assert_int_equal(world_state(world, id), CULEX_RUN_WAITING);
    world->store_skew_ms = -3600000;
    id = world_enqueue(world, &type, 3);
    assert_int_equal(world_state(world, id), CULEX_RUN_WAITING);
    assert_int_equal(world->enqueues, 5);
}

/* And the clock is learnt all the same, so that a fresh one is good. */
static void test_old_ticket_of_the_caller_is_refused(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number params = {1};
    culex_error error = {0};
    culex_enqueue_options options = culex_enqueue_options_make();
    options.has_ticket = true;
    assert_int_equal(culex_client_new_ticket(world->client, &options.ticket, NULL), CULEX_OK);
    world->store_skew_ms = 3600000;
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &options, NULL, &error),
                     CULEX_EEXPIRED);
    assert_non_null(strstr(error.text, "this call enqueued nothing"));
    assert_non_null(strstr(error.text, "an idempotency key for what is repeated later than that"));
    assert_int_equal(world->enqueues, 1);
    assert_int_equal(culex_client_new_ticket(world->client, &options.ticket, NULL), CULEX_OK);
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &options, NULL, &error),
                     CULEX_OK);
}

/* The first try may have been applied; by the second one the clock has jumped. What the store says
 * then is no more than that it knows nothing. */
static void test_late_repeat_never_gets_a_new_ticket(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number params = {1};
    culex_uuid ticket = {{0}};
    culex_error error;
    world->enqueue_fault = WORLD_LOSE_TRY;
    world->enqueue_fault_count = 1;
    world->store_skew_ms = 3600000;
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, NULL, &ticket, &error),
                     CULEX_EUNKNOWN);
    assert_non_null(strstr(error.text, "cannot be told"));
    culex_enqueue_options again = with_ticket(ticket);
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &again, NULL, &error),
                     CULEX_EEXPIRED);
    assert_non_null(strstr(error.text, "was unknown, it remains so"));
    culex_queue_stats stats; /* nothing came in: not even the queue is there */
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_ENOTFOUND);
}

/* One run waits in a queue that takes no more. */
static culex_uuid queue_fill(struct world *world, const culex_job_type *type)
{
    culex_uuid id = world_enqueue(world, type, 1);
    assert_int_equal(culex_client_limit(world->client, "numbers", 1, NULL), CULEX_OK);
    return id;
}

/* The first try may still be under way, and the store remembers nothing of the second one, which
 * brought nothing: as soon as there is room again the first one would bring the run. */
static void test_refusal_after_a_lost_try_is_unknown(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number params = {2};
    culex_uuid ids[2], ticket = {{0}};
    culex_run_state after;
    culex_error error;
    culex_uuid waiting = queue_fill(world, &type);
    world->enqueue_fault = WORLD_LOSE_TRY;
    world->enqueue_fault_count = 1;
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, NULL, &ticket, &error),
                     CULEX_EUNKNOWN);
    assert_int_equal(error.code, CULEX_EUNKNOWN);
    assert_non_null(strstr(error.text, "queue 'numbers' is full"));
    assert_non_null(strstr(error.text, "may still be under way"));
    assert_non_null(strstr(error.text, "repeat the call with the ticket"));
    assert_int_equal(culex_client_cancel(world->client, "numbers", waiting, &after, NULL),
                     CULEX_OK);
    world_enqueue(world, &type, 3); /* is the next call of another producer */
    assert_int_equal(culex_client_limit(world->client, "numbers", 0, NULL), CULEX_OK);
    culex_enqueue_options again = with_ticket(ticket);
    for (int i = 0; i < 2; i++)
        assert_int_equal(culex_client_enqueue(world->client, &type, &params, &again, &ids[i], NULL),
                         CULEX_OK);
    assert_memory_equal(&ids[0], &ids[1], sizeof ids[0]);
    assert_int_equal(enqueued_count(world), 3);
}

static void test_conflict_of_a_key_after_a_lost_try_is_unknown(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number params = {1};
    culex_enqueue_options options = culex_enqueue_options_make();
    culex_error error;
    culex_uuid id, ticket = {{0}};
    options.idempotency_key = "order 7";
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &options, &id, NULL),
                     CULEX_OK);
    world->enqueue_fault = WORLD_LOSE_TRY;
    world->enqueue_fault_count = 1;
    culex_uuid same;
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &options, &same, NULL),
                     CULEX_OK);
    assert_memory_equal(&same, &id, sizeof id);
    params.n = 2;
    world->enqueue_fault_count = 1;
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &options, &ticket, &error),
                     CULEX_EUNKNOWN);
    assert_true(is_ticket(ticket));
    assert_non_null(strstr(error.text, "with this idempotency key"));
}

/* Some of it is there: that is remembered, and a try that comes late is answered by it. */
static void test_part_of_a_bulk_after_a_lost_try_is_certain(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number many[3] = {{2}, {3}, {4}};
    size_t enqueued = 0;
    queue_fill(world, &type);
    assert_int_equal(culex_client_limit(world->client, "numbers", 3, NULL), CULEX_OK);
    world->enqueue_fault = WORLD_LOSE_TRY;
    world->enqueue_fault_count = 1;
    assert_int_equal(culex_client_enqueue_many(world->client, &type, many, sizeof many[0], 3, NULL,
                                               NULL, &enqueued, NULL),
                     CULEX_EFULL);
    assert_int_equal(enqueued, 2);
}

/* A conflict is about the last try alone: somebody else may have called with the ticket since. */
static void test_conflict_after_a_lost_reply_is_unknown(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number params = {1};
    culex_enqueue_options options = culex_enqueue_options_make();
    culex_error error;
    options.has_ticket = true;
    assert_int_equal(culex_client_new_ticket(world->client, &options.ticket, NULL), CULEX_OK);
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &options, NULL, NULL),
                     CULEX_OK);
    params.n = 2;
    world->enqueue_fault = WORLD_LOSE_TRY;
    world->enqueue_fault_count = 1;
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &options, NULL, &error),
                     CULEX_EUNKNOWN);
    assert_non_null(strstr(error.text, "used otherwise: whether it was applied cannot be told"));
    assert_null(strstr(error.text, "nothing"));
}

/* Nor is any of them counted as enqueued. */
static void test_late_repeat_of_many_is_unknown(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number many[3] = {{1}, {2}, {3}};
    size_t enqueued = 9;
    world->enqueue_fault = WORLD_LOSE_TRY;
    world->enqueue_fault_count = 1;
    world->store_skew_ms = -3600000;
    assert_int_equal(culex_client_enqueue_many(world->client, &type, many, sizeof many[0], 3, NULL,
                                               NULL, &enqueued, NULL),
                     CULEX_EUNKNOWN);
    assert_int_equal(enqueued, 0);
}

static void test_bulk_reports_the_certain_prefix(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    static struct number many[CULEX_ENQUEUE_BATCH_MAX * 2 + 10];
    static culex_uuid ids[CULEX_ENQUEUE_BATCH_MAX * 2 + 10];
    size_t count = sizeof many / sizeof many[0];
    size_t enqueued = 0;
    assert_int_equal(culex_client_enqueue_many(world->client, &type, many, sizeof many[0], count,
                                               NULL, ids, &enqueued, NULL),
                     CULEX_OK);
    assert_int_equal(enqueued, count);
    assert_int_equal(world->enqueues, 3);
    for (size_t i = 1; i < count; i++)
        assert_true(memcmp(&ids[i - 1], &ids[i], sizeof ids[i]) < 0);
    assert_int_equal(culex_client_enqueue_many(world->client, &type, many, sizeof many[0], 0, NULL,
                                               NULL, &enqueued, NULL),
                     CULEX_OK);
    assert_int_equal(enqueued, 0);
}

enum { BULK = CULEX_ENQUEUE_BATCH_MAX * 2 + 10 };

/* Each batch is a call of its own; only what follows the prefix is called again. */
static void test_bulk_is_gone_on_with_from_where_it_stayed_unknown(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    static struct number many[BULK];
    static culex_uuid ids[BULK];
    size_t enqueued = 0, rest = 0;
    world->enqueue_skip = 1;
    world->enqueue_fault = WORLD_LOSE_REPLY;
    world->enqueue_fault_count = 100000;
    assert_int_equal(culex_client_enqueue_many(world->client, &type, many, sizeof many[0], BULK,
                                               NULL, ids, &enqueued, NULL),
                     CULEX_EUNKNOWN);
    world->enqueue_fault_count = 0;
    assert_int_equal(enqueued, CULEX_ENQUEUE_BATCH_MAX);
    assert_true(!is_ticket(ids[enqueued - 1]) && is_ticket(ids[enqueued]));
    culex_enqueue_options again = with_ticket(ids[enqueued]);
    assert_int_equal(culex_client_enqueue_many(world->client, &type, many + enqueued,
                                               sizeof many[0], BULK - enqueued, &again,
                                               ids + enqueued, &rest, NULL),
                     CULEX_OK);
    assert_int_equal(rest, BULK - enqueued);
    assert_int_equal(enqueued_count(world), BULK);
    for (size_t i = 0; i < BULK; i++)
        assert_int_equal(world_state(world, ids[i]), CULEX_RUN_WAITING);
}

static void test_bulk_with_a_ticket_counts_on_from_it(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    static struct number many[BULK];
    struct culex_ticket first;
    culex_enqueue_options options = culex_enqueue_options_make();
    culex_error error;
    options.has_ticket = true;
    assert_int_equal(culex_client_new_ticket(world->client, &options.ticket, NULL), CULEX_OK);
    assert_true(culex__ticket_parse(options.ticket, &first));
    assert_int_equal(culex_client_enqueue_many(world->client, &type, many, sizeof many[0], BULK,
                                               &options, NULL, NULL, NULL),
                     CULEX_OK);
    assert_int_equal(world->enqueues, 3);
    assert_true(world->ticket.producer == first.producer);
    assert_int_equal(world->ticket.sequence, first.sequence + 2);
    /* Only the last batch is remembered. */
    assert_int_equal(culex_client_enqueue_many(world->client, &type, many, sizeof many[0], BULK,
                                               &options, NULL, NULL, &error),
                     CULEX_ECONFLICT);
    assert_non_null(strstr(error.text, "is not the newest of its producer"));
    assert_int_equal(enqueued_count(world), BULK);
}

/* Of as many runs as one round trip carries, the whole call. */
static void test_small_bulk_with_a_ticket_is_repeated_as_a_whole(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number many[CULEX_ENQUEUE_BATCH_MAX] = {{1}};
    static culex_uuid ids[2][CULEX_ENQUEUE_BATCH_MAX];
    culex_enqueue_options options = culex_enqueue_options_make();
    options.has_ticket = true;
    assert_int_equal(culex_client_new_ticket(world->client, &options.ticket, NULL), CULEX_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(culex_client_enqueue_many(world->client, &type, many, sizeof many[0],
                                                   CULEX_ENQUEUE_BATCH_MAX, &options, ids[i], NULL,
                                                   NULL),
                         CULEX_OK);
    assert_memory_equal(ids[0], ids[1], sizeof ids[0]);
    assert_int_equal(enqueued_count(world), CULEX_ENQUEUE_BATCH_MAX);
}

struct text {
    const char *s;
};
static const culex_field text_fields[] = {{.name = "s",
                                           .wire = "s",
                                           .kind = CULEX_KIND_STRING,
                                           .flags = CULEX_FIELD_REQUIRED,
                                           .offset = offsetof(struct text, s)}};
static const culex_struct_type text_struct = {"t.text", sizeof(struct text), text_fields, 1};

static void test_bulk_stops_at_the_value_that_does_not_encode(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct text many[] = {{"a"}, {"b"}, {NULL}, {"d"}};
    size_t enqueued = 0;
    culex_error error = {0};
    type.params = &text_struct;
    assert_int_equal(culex_client_enqueue_many(world->client, &type, many, sizeof many[0], 4, NULL,
                                               NULL, &enqueued, &error),
                     CULEX_EENCODE);
    assert_int_equal(culex_client_enqueue_many(world->client, &type, many + 2, sizeof many[0], 2,
                                               NULL, NULL, NULL, NULL),
                     CULEX_EENCODE);
    assert_int_equal(enqueued, 2);
    assert_string_equal(error.field, "s");
    assert_non_null(strstr(error.text, "run 2"));
}

static void test_payload_over_the_limit_is_refused(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    char *huge = malloc(CULEX_PAYLOAD_MAX + 1);
    type.params = &text_struct;
    memset(huge, 'x', CULEX_PAYLOAD_MAX);
    huge[CULEX_PAYLOAD_MAX] = '\0';
    struct text params = {huge};
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, NULL, NULL, NULL),
                     CULEX_ELIMIT);
    huge[CULEX_PAYLOAD_MAX - 8] = '\0'; /* {"s":""} takes 8 */
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, NULL, NULL, NULL),
                     CULEX_OK);
    free(huge);
}

static void test_wrong_arguments_are_refused(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_job_type alien = number_type();
    struct number params = {1};
    alien.descriptor_version++;
    static const char *const comma[] = {"a,b"};
    static const char *const bar[] = {"a|b"};
    static const char *const empty[] = {""};
    struct {
        culex_enqueue_options options;
        culex_status status;
    } rows[] = {
        {{.has_priority = true, .priority = 10}, CULEX_EINVAL},
        {{.has_priority = true, .priority = -1}, CULEX_EINVAL},
        {{.queue = ""}, CULEX_EINVAL},
        {{.queue = "a b"}, CULEX_EINVAL},
        {{.queue = "{x}"}, CULEX_EINVAL},
        {{.queue = "a:b"}, CULEX_EINVAL},
        {{.queue = "0123456789012345678901234567890123456789012345678901234567890123456789"},
         CULEX_ELIMIT},
        {{.tags = comma, .tag_count = 1}, CULEX_EINVAL},
        {{.tags = bar, .tag_count = 1}, CULEX_EINVAL},
        {{.tags = empty, .tag_count = 1}, CULEX_EINVAL},
        {{.tags = comma, .tag_count = 17}, CULEX_ELIMIT},
        {{.has_delay = true, .has_at = true}, CULEX_EINVAL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(
            culex_client_enqueue(world->client, &type, &params, &rows[i].options, NULL, NULL),
            rows[i].status);
    assert_int_equal(culex_client_enqueue(world->client, &alien, &params, NULL, NULL, NULL),
                     CULEX_EVERSION);
    assert_int_equal(culex_client_enqueue(NULL, &type, &params, NULL, NULL, NULL), CULEX_EINVAL);
    assert_int_equal(culex_client_enqueue(world->client, NULL, &params, NULL, NULL, NULL),
                     CULEX_EINVAL);
    assert_int_equal(culex_client_enqueue(world->client, &type, NULL, NULL, NULL, NULL),
                     CULEX_EINVAL);
    assert_int_equal(world->enqueues, 0);
}

/* The language refuses it as well. Stores may have such a queue from before. */
static void test_colon_in_a_queue_name_is_for_old_queues(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    const culex_enqueue_options options = {.queue = "a:b"};
    const char *params = "{\"n\":1}";
    struct culex_new_run run = {.job = "t.number",
                                .attempts_max = 1,
                                .keep_success_ms = 60000,
                                .tags = "",
                                .payload = params,
                                .payload_len = strlen(params)};
    struct culex_enqueue_result result;
    culex_queue_stats stats;
    culex_error error;
    assert_int_equal(
        culex_client_enqueue(world->client, &type, &(struct number){1}, &options, NULL, &error),
        CULEX_EINVAL);
    assert_string_equal(error.text,
                        "queue name 'a:b': only letters, digits, '_', '.' and '-' are allowed, "
                        "in schemas as in programs");
    assert_int_equal(world->store->ops->enqueue(world->store, "a:b", NULL, &run, 1, &result, NULL),
                     CULEX_OK);
    assert_int_equal(culex_client_stats(world->client, "a:b", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.enqueued, 1);
    world_worker(world,
                 (culex_worker_options){
                     .drain = true, .queues = (const char *const[]){"a:b:1"}, .queue_count = 1},
                 &type);
    world_run(world);
    assert_int_equal(culex_client_stats(world->client, "a:b", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.done, 1);
}

static void test_slip_is_refused_with_what_to_write(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number params = {1};
    static const char *const tags[] = {"a"};
    const culex_uuid random = {{[0] = 1, [6] = 0x4a, [8] = 0x80}};
    const culex_uuid run_id = {{[0] = 1, [6] = 0x7a, [8] = 0x80}};
    static char too_long[CULEX_STORE_IDEMPOTENCY_MAX + 2];
    memset(too_long, 'k', sizeof too_long - 1);
    struct {
        culex_enqueue_options options;
        const char *text;
    } rows[] = {
        {{.delay = CULEX_HOUR}, "options.delay is set and options.has_delay is not"},
        {{.at = WORLD_START_MS * CULEX_MILLISECOND}, "options.has_at is not"},
        {{.priority = 3}, "options.has_priority is not"},
        {{.expires = CULEX_HOUR}, "options.has_expires is not"},
        {{.has_expires = true, .expires = -1}, "options.expires is below 0"},
        {{.has_expires = true, .expires = 30}, "options.expires is 30 nanoseconds"},
        {{.has_expires = true, .expires = culex_days(200000)}, "options.expires is more than 100"},
        {{.ticket = random}, "options.has_ticket is not"},
        {{.idempotency_key = "k", .idempotency_window = CULEX_HOUR},
         "options.has_idempotency_window is not"},
        {{.tags = tags}, "options.tag_count is 0"},
        {{.has_at = true, .at = 1795000000}, "is 1970-01-01T00:00:01.795Z, which is before 2001"},
        {{.has_at = true, .at = WORLD_START_MS}, "culex_time_from_unix(seconds)"},
        {{.has_at = true, .at = WORLD_START_MS * 1000}, "before 2001"},
        {{.has_at = true, .at = INT64_MIN}, "before 2001"},
        {{.has_at = true}, "before 2001"},
        {{.has_delay = true, .delay = 30}, "write culex_seconds(30)"},
        {{.has_delay = true, .delay = 86400}, "write culex_seconds(86400)"},
        {{.has_at = true, .at = culex_time_from_unix(WORLD_START_MS)},
         "is 2262-04-11T23:47:16.854775807Z, which is after 2149: "
         "milliseconds where culex_time_from_unix takes seconds?"},
        {{.has_at = true, .at = CULEX_INSTANT_MAX_MS * CULEX_MILLISECOND + 1}, "after 2149"},
        {{.has_delay = true, .delay = culex_days(200000)},
         "options.delay is more than 100 years: milliseconds where seconds are meant?"},
        {{.has_delay = true, .delay = CULEX_DELAY_MAX_MS * CULEX_MILLISECOND + 1},
         "more than 100 years"},
        {{.has_ticket = true, .ticket = random}, "options.ticket is no ticket"},
        {{.has_ticket = true, .ticket = random}, "culex_client_new_ticket"},
        {{.has_ticket = true}, "options.ticket is no ticket"},
        {{.has_ticket = true, .ticket = run_id}, "options.ticket is the id of a run"},
        {{.idempotency_key = ""}, "leave it NULL for none"},
        {{.idempotency_key = "a\nb"}, "1 to 255 bytes of UTF-8 without control characters"},
        {{.idempotency_key = "a\x7f"}, "without control characters"},
        {{.idempotency_key = "\xff"}, "of UTF-8"},
        {{.idempotency_key = too_long}, "1 to 255 bytes"},
        {{.has_idempotency_window = true, .idempotency_window = CULEX_HOUR},
         "options.idempotency_key is not"},
        {{.idempotency_key = "k", .has_idempotency_window = true, .idempotency_window = 3600},
         "write culex_seconds(3600)"},
        {{.idempotency_key = "k", .has_idempotency_window = true}, "less than 1 ms"},
        {{.idempotency_key = "k", .has_idempotency_window = true, .idempotency_window = -1},
         "less than 1 ms"},
        {{.idempotency_key = "k",
          .has_idempotency_window = true,
          .idempotency_window = CULEX_MILLISECOND - 1},
         "less than 1 ms"},
        {{.idempotency_key = "k",
          .has_idempotency_window = true,
          .idempotency_window = 30 * CULEX_DAY + 1},
         "more than 30 days"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        culex_error error = {0};
        assert_int_equal(
            culex_client_enqueue(world->client, &type, &params, &rows[i].options, NULL, &error),
            CULEX_EINVAL);
        if (strstr(error.text, rows[i].text) == NULL)
            fail_msg("'%s' does not say '%s'", error.text, rows[i].text);
    }
    assert_int_equal(world->enqueues, 0);
}

static void test_slip_of_a_move_is_told_by_the_names_of_a_move(void **state)
{
    struct world *world = *state;
    const culex_uuid run_id = {{[0] = 1, [6] = 0x7a, [8] = 0x80}};
    static const struct {
        culex_move move;
        const char *text;
    } rows[] = {
        {{.priority = 3}, "move.priority is set and move.has_priority is not"},
        {{.delay = CULEX_HOUR}, "move.has_delay is not"},
        {{.at = WORLD_START_MS * CULEX_MILLISECOND}, "move.has_at is not"},
        {{.has_delay = true, .has_at = true}, "move.has_delay and move.has_at are both set"},
        {{.has_delay = true, .delay = 30}, "move.delay is 30 nanoseconds"},
        {{.has_at = true, .at = 1795000000}, "move.at is 1970-01-01"},
        {{.has_priority = true, .priority = 10}, "move.priority is 10, and not from 0 to 9"},
        {{.has_delay = false}, "set move.has_delay, move.has_at or move.has_priority"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        culex_error error = {0};
        assert_int_equal(culex_client_move(world->client, "numbers", run_id, &rows[i].move, &error),
                         CULEX_EINVAL);
        if (strstr(error.text, rows[i].text) == NULL)
            fail_msg("'%s' does not say '%s'", error.text, rows[i].text);
    }
}

static void test_key_of_many_runs_is_refused(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    const struct number many[2] = {{1}, {2}};
    const culex_enqueue_options options = {.idempotency_key = "k"};
    culex_error error;
    assert_int_equal(culex_client_enqueue_many(world->client, &type, many, sizeof many[0], 2,
                                               &options, NULL, NULL, &error),
                     CULEX_EINVAL);
    assert_non_null(strstr(error.text, "one idempotency key cannot stand for 2 runs"));
    assert_int_equal(culex_client_enqueue_many(world->client, &type, many, sizeof many[0], 1,
                                               &options, NULL, NULL, &error),
                     CULEX_OK);
    assert_int_equal(world->enqueues, 1);
}

static void test_ticket_in_place_of_an_id_is_named(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid ticket = enqueue_unknown(world, &type, 1, WORLD_LOSE_REPLY);
    culex_run_info *run;
    culex_error errors[4];
    assert_int_equal(culex_client_get(world->client, "numbers", ticket, &run, &errors[0]),
                     CULEX_ENOTFOUND);
    assert_int_equal(culex_client_cancel(world->client, "numbers", ticket, NULL, &errors[1]),
                     CULEX_ENOTFOUND);
    assert_int_equal(culex_client_retry(world->client, "numbers", ticket, &errors[2]),
                     CULEX_ENOTFOUND);
    assert_int_equal(culex_client_delete(world->client, "numbers", ticket, &errors[3]),
                     CULEX_ENOTFOUND);
    for (int i = 0; i < 4; i++)
        assert_non_null(strstr(errors[i].text, "this is the ticket of an enqueue call"));
}

static void test_what_is_no_slip_is_taken(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number params = {1};
    char longest[CULEX_STORE_IDEMPOTENCY_MAX + 1] = "";
    memset(longest, 'k', sizeof longest - 1);
    culex_enqueue_options rows[] = {
        {.has_delay = true},
        {.has_delay = true, .delay = -1},
        {.has_delay = true, .delay = 100 * CULEX_MICROSECOND},
        {.has_delay = true, .delay = CULEX_DELAY_MAX_MS * CULEX_MILLISECOND},
        {.has_at = true, .at = culex_time_from_unix(978307200)},
        {.has_at = true, .at = CULEX_INSTANT_MAX_MS * CULEX_MILLISECOND},
        {.has_at = true, .at = culex_time_now()},
        {.has_priority = true},
        {.has_expires = true},
        {.has_expires = true, .expires = CULEX_DELAY_MAX_MS * CULEX_MILLISECOND},
        {.idempotency_key = longest},
        {.idempotency_key = "k",
         .has_idempotency_window = true,
         .idempotency_window = CULEX_MILLISECOND},
        {.idempotency_key = "l",
         .has_idempotency_window = true,
         .idempotency_window = 30 * CULEX_DAY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(culex_client_enqueue(world->client, &type, &params, &rows[i], NULL, NULL),
                         CULEX_OK);
}

/* A call that was unknown, and then a store that is away: that reads as "not enqueued". */
static void test_repeat_says_until_when(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    struct number params = {1};
    culex_enqueue_options again = culex_enqueue_options_make();
    culex_error error = {0};
    world->enqueue_fault = WORLD_LOSE_REPLY;
    world->enqueue_fault_count = 100000;
    assert_int_equal(
        culex_client_enqueue(world->client, &type, &params, NULL, &again.ticket, &error),
        CULEX_EUNKNOWN);
    assert_non_null(strstr(error.text,
                           "may be in the store, repeat the call with the ticket that it "
                           "returns in place of an id until CULEX_OK"));
    world->enqueue_fault = WORLD_REFUSE;
    again.has_ticket = true;
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &again, NULL, &error),
                     CULEX_ECONNECT);
    assert_non_null(strstr(error.text, "an earlier one with this ticket may have, repeat until"));
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, NULL, NULL, &error),
                     CULEX_ECONNECT);
    assert_null(strstr(error.text, "repeat"));
}

static void test_durations_end_where_64_bits_do(void **state)
{
    (void)state;
    assert_int_equal(culex_milliseconds(-3), -3000000);
    assert_int_equal(culex_seconds(3600), CULEX_HOUR);
    assert_int_equal(culex_minutes(60), CULEX_HOUR);
    assert_int_equal(culex_hours(24), CULEX_DAY);
    assert_int_equal(culex_days(-2), -48 * CULEX_HOUR);
    assert_int_equal(culex_seconds(INT64_MAX / CULEX_SECOND),
                     INT64_MAX / CULEX_SECOND * CULEX_SECOND);
    assert_true(culex_seconds(INT64_MAX / CULEX_SECOND + 1) == INT64_MAX);
    assert_true(culex_seconds(INT64_MIN / CULEX_SECOND - 1) == INT64_MIN);
    assert_true(culex_days(INT64_MIN) == INT64_MIN);
    assert_true(culex_time_from_unix(1) == CULEX_SECOND);
    assert_true(culex_time_now() > culex_time_from_unix(978307200));
}

static bool run_count(const culex_run_info *run, void *user)
{
    assert_non_null(run->job);
    ++*(size_t *)user;
    return true;
}

static bool queue_count(const char *queue, void *user)
{
    assert_string_equal(queue, "numbers");
    ++*(size_t *)user;
    return true;
}

static void assert_pause_refused(struct world *world, culex_duration span, const char *words)
{
    culex_error error = {0};
    assert_int_equal(culex_client_pause_for(world->client, "numbers", span, &error), CULEX_EINVAL);
    assert_non_null(strstr(error.text, words));
}

static void assert_pause_spans(struct world *world)
{
    culex_queue_stats stats;
    assert_pause_refused(world, 0, "1 ms or more; culex_client_resume ends one");
    assert_pause_refused(world, -CULEX_SECOND, "1 ms or more");
    assert_pause_refused(world, CULEX_MILLISECOND - 1, "1 ms or more");
    assert_pause_refused(world, 30, "write culex_seconds(30)");
    assert_pause_refused(world, INT64_MAX, "culex_client_pause is the one without an end");
    assert_int_equal(culex_client_pause_for(world->client, "numbers", culex_hours(1), NULL),
                     CULEX_OK);
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.paused_until_ms, stats.now_ms + 3600000);
}

static void test_find_takes_what_the_filter_says(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_list_cursor cursor = {.place = 0};
    culex_error error = {0};
    size_t count = 0;
    for (int i = 0; i < 3; i++)
        world_enqueue(world, &type, i);
    assert_int_equal(
        culex_client_find(world->client, "numbers", NULL, &cursor, 0, run_count, &count, NULL),
        CULEX_OK);
    assert_int_equal(count, 3);
    const culex_list_filter ours = {.job = type.wire}, others = {.job = "of.others"};
    assert_int_equal(
        culex_client_find(world->client, "numbers", &ours, &cursor, 0, run_count, &count, NULL),
        CULEX_OK);
    assert_int_equal(count, 6);
    assert_int_equal(
        culex_client_find(world->client, "numbers", &others, &cursor, 0, run_count, &count, NULL),
        CULEX_OK);
    assert_int_equal(count, 6);
    assert_int_equal(cursor.place, 0);
    const culex_list_filter two = {.tag = "a,b"};
    assert_int_equal(
        culex_client_find(world->client, "numbers", &two, &cursor, 0, run_count, &count, &error),
        CULEX_EINVAL);
    assert_non_null(strstr(error.text, "filter.tag is no tag"));
}

static int pages_asked;

static culex_status page_of_none(struct culex_store *store, const char *queue,
                                 const culex_list_filter *filter, culex_list_cursor cursor,
                                 size_t limit, struct culex_list_reply *ret_reply,
                                 culex_error *error)
{
    (void)store, (void)queue, (void)filter, (void)limit, (void)error;
    pages_asked++;
    *ret_reply = (struct culex_list_reply){.cursor = {.place = cursor.place + 1}};
    return CULEX_OK;
}

/* Its caller may have had enough. */
static void test_find_that_finds_none_for_long_comes_back(void **state)
{
    struct world *world = *state;
    const struct culex_store_ops *ops = world->client->store->ops;
    struct culex_store_ops empty = *ops;
    culex_list_cursor cursor = {.place = 0};
    size_t count = 0;
    empty.list = page_of_none;
    world->client->store->ops = &empty;
    assert_int_equal(
        culex_client_find(world->client, "numbers", NULL, &cursor, 0, run_count, &count, NULL),
        CULEX_OK);
    world->client->store->ops = ops;
    assert_int_equal(pages_asked, 100);
    assert_int_equal(cursor.place, 100);
    assert_int_equal(count, 0);
}

static void test_every_verb_reaches_the_store(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid ids[3];
    size_t count = 0;
    culex_list_cursor cursor = {.place = 0};
    culex_run_state after;
    for (int i = 0; i < 3; i++)
        ids[i] = world_enqueue(world, &type, i);
    assert_int_equal(culex_client_list(world->client, "numbers", CULEX_RUN_WAITING, &cursor, 0,
                                       run_count, &count, NULL),
                     CULEX_OK);
    assert_int_equal(count, 3);
    assert_int_equal(cursor.place, 0);
    count = 0;
    assert_int_equal(culex_client_queues(world->client, queue_count, &count, NULL), CULEX_OK);
    assert_int_equal(count, 1);
    assert_int_equal(culex_client_pause(world->client, "numbers", NULL), CULEX_OK);
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    assert_true(stats.paused);
    assert_int_equal(stats.paused_until_ms, 0);
    assert_pause_spans(world);
    assert_int_equal(culex_client_resume(world->client, "numbers", NULL), CULEX_OK);
    assert_int_equal(culex_client_limit(world->client, "numbers", 3, NULL), CULEX_OK);
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.limit, 3);
    struct number more = {9};
    assert_int_equal(culex_client_enqueue(world->client, &type, &more, NULL, NULL, NULL),
                     CULEX_EFULL);
    assert_int_equal(culex_client_limit(world->client, "numbers", 0, NULL), CULEX_OK);
    assert_int_equal(culex_client_limit(world->client, "numbers", UINT64_MAX, NULL), CULEX_EINVAL);
    assert_int_equal(culex_client_cancel(world->client, "numbers", ids[0], &after, NULL), CULEX_OK);
    assert_int_equal(after, CULEX_RUN_CANCELLED);
    assert_int_equal(culex_client_cancel(world->client, "numbers", ids[0], &after, NULL),
                     CULEX_ESTATE);
    assert_int_equal(culex_client_retry(world->client, "numbers", ids[1], NULL), CULEX_ESTATE);
    assert_int_equal(culex_client_delete(world->client, "numbers", ids[0], NULL), CULEX_OK);
    culex_run_info *run = NULL;
    assert_int_equal(culex_client_get(world->client, "numbers", ids[0], &run, NULL),
                     CULEX_ENOTFOUND);
    assert_int_equal(
        culex_client_purge(world->client, "numbers", CULEX_RUN_WAITING, 10, &count, NULL),
        CULEX_OK);
    assert_int_equal(count, 2);
    assert_int_equal(
        culex_client_purge(world->client, "numbers", CULEX_RUN_ACTIVE, 10, &count, NULL),
        CULEX_EINVAL);
}

static size_t waiting_count(struct world *world)
{
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    return (size_t)stats.count[CULEX_RUN_WAITING];
}

/* A page that may have been deleted is not asked for again: that would delete the next one. */
static void test_purge_never_deletes_more_than_its_limit(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_error error = {0};
    size_t deleted = 99;
    for (int i = 0; i < 1200; i++)
        world_enqueue(world, &type, i);
    world->fault = WORLD_LOSE_REPLY;
    world->fault_count = 1;
    assert_int_equal(
        culex_client_purge(world->client, "numbers", CULEX_RUN_WAITING, 10, &deleted, &error),
        CULEX_EUNKNOWN);
    assert_int_equal(deleted, 0);
    assert_int_equal(waiting_count(world), 1190);
    world->fault_skip = 1;
    world->fault_count = 1;
    assert_int_equal(
        culex_client_purge(world->client, "numbers", CULEX_RUN_WAITING, 900, &deleted, &error),
        CULEX_EUNKNOWN);
    assert_int_equal(deleted, 500);
    assert_non_null(strstr(error.text, "500 runs are deleted for certain, up to 400 more"));
    assert_int_equal(waiting_count(world), 290);
    world->fault = WORLD_REFUSE;
    world->fault_count = 1;
    assert_int_equal(
        culex_client_purge(world->client, "numbers", CULEX_RUN_WAITING, 90, &deleted, NULL),
        CULEX_OK);
    assert_int_equal(deleted, 90);
    assert_int_equal(
        culex_client_purge(world->client, "numbers", CULEX_RUN_WAITING, SIZE_MAX, &deleted, NULL),
        CULEX_OK);
    assert_int_equal(deleted, 200);
    assert_int_equal(waiting_count(world), 0);
}

static bool live_count(const culex_live_schema *schema, void *user)
{
    (void)schema;
    ++*(size_t *)user;
    return true;
}

static void test_run_in_a_misspelt_queue_is_told_by_the_queue(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 1), unknown = {{1}};
    culex_run_info *run = NULL;
    culex_error errors[4];
    assert_int_equal(culex_client_get(world->client, "nubmers", id, &run, &errors[0]),
                     CULEX_ENOTFOUND);
    assert_int_equal(culex_client_cancel(world->client, "nubmers", id, NULL, &errors[1]),
                     CULEX_ENOTFOUND);
    assert_int_equal(culex_client_retry(world->client, "nubmers", id, &errors[2]), CULEX_ENOTFOUND);
    assert_int_equal(culex_client_delete(world->client, "nubmers", id, &errors[3]),
                     CULEX_ENOTFOUND);
    for (int i = 0; i < 4; i++)
        assert_non_null(
            strstr(errors[i].text, "no queue 'nubmers'; did you mean numbers? (one begins"));
    assert_int_equal(culex_client_get(world->client, "numbers", unknown, &run, &errors[0]),
                     CULEX_ENOTFOUND);
    assert_null(strstr(errors[0].text, "no queue"));
}

static culex_status queues_unasked(struct culex_store *store, char ***ret_names, culex_error *error)
{
    (void)store, (void)ret_names, (void)error;
    fail_msg("all queues were listed");
    return CULEX_ESTORE;
}

/* A store may hold thousands of queues, and a run that is gone is an everyday answer. */
static void test_unknown_run_of_a_queue_that_is_there_lists_no_queues(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid unknown = {{1}};
    culex_run_info *run = NULL;
    culex_error error;
    world_enqueue(world, &type, 1);
    const struct culex_store_ops *ops = world->client->store->ops;
    struct culex_store_ops unlisted = *ops;
    unlisted.queues = queues_unasked;
    world->client->store->ops = &unlisted;
    culex_status status = culex_client_get(world->client, "numbers", unknown, &run, &error);
    world->client->store->ops = ops;
    assert_int_equal(status, CULEX_ENOTFOUND);
}

static bool figures_pass(const culex_figures *figures, void *user)
{
    (void)figures;
    (void)user;
    return true;
}

static bool limit_pass(const culex_limit_info *limit, void *user)
{
    (void)limit;
    (void)user;
    return true;
}

static bool schedule_pass(const culex_schedule_info *schedule, void *user)
{
    (void)schedule;
    (void)user;
    return true;
}

enum { QUEUE_CALLS = 13 };

/* Every call that takes a queue and no run. */
static culex_status queue_call(culex_client *client, int call, const char *queue,
                               culex_error *error)
{
    size_t count = 0;
    culex_list_cursor cursor = {.place = 0};
    culex_queue_stats stats;
    culex_fsck_counts counts;
    culex_figures figures;
    switch (call) {
    case 0:
        return culex_client_pause(client, queue, error);
    case 1:
        return culex_client_resume(client, queue, error);
    case 2:
        return culex_client_limit(client, queue, 5, error);
    case 3:
        return culex_client_purge(client, queue, CULEX_RUN_DEAD, 5, &count, error);
    case 4:
        return culex_client_list(client, queue, CULEX_RUN_DEAD, &cursor, 0, run_count, &count,
                                 error);
    case 5:
        return culex_client_live(client, queue, false, live_count, &count, error);
    case 6:
        return culex_client_fsck(client, queue, false, &counts, error);
    case 7:
        return culex_client_pause_for(client, queue, CULEX_SECOND, error);
    case 8:
        return culex_client_figures(client, queue, NULL, 1, &figures, error);
    case 9:
        return culex_client_figures_by_job(client, queue, 1, figures_pass, NULL, error);
    case 10:
        return culex_client_limits(client, queue, limit_pass, NULL, error);
    case 11:
        return culex_client_schedules(client, queue, schedule_pass, NULL, error);
    default:
        return culex_client_stats(client, queue, &stats, error);
    }
}

static void test_unknown_queue_is_told_with_the_nearest(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    for (int call = 0; call < QUEUE_CALLS; call++) {
        culex_error error = {0};
        assert_int_equal(queue_call(world->client, call, "numbers", &error), CULEX_ENOTFOUND);
        assert_string_equal(error.text, "the store has no queue 'numbers' (one begins with its "
                                        "first run or its first worker)");
    }
    world_enqueue(world, &type, 1);
    for (int call = 0; call < QUEUE_CALLS; call++) {
        culex_error error = {0};
        assert_int_equal(queue_call(world->client, call, "nubmers", &error), CULEX_ENOTFOUND);
        assert_int_equal(error.code, CULEX_ENOTFOUND);
        assert_non_null(strstr(error.text, "no queue 'nubmers'; did you mean numbers? ("));
        assert_int_equal(queue_call(world->client, call, "letters", &error), CULEX_ENOTFOUND);
        assert_null(strstr(error.text, "did you mean"));
        assert_int_equal(queue_call(world->client, call, "letters", NULL), CULEX_ENOTFOUND);
        assert_int_equal(queue_call(world->client, call, "numbers", &error), CULEX_OK);
    }
}

static void test_repeat_after_a_lost_reply_is_no_error(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 1);
    culex_run_state after;
    world->fault = WORLD_LOSE_REPLY;
    world->fault_count = 1;
    assert_int_equal(culex_client_cancel(world->client, "numbers", id, &after, NULL), CULEX_OK);
    assert_int_equal(after, CULEX_RUN_CANCELLED);
    world->fault_count = 1;
    assert_int_equal(culex_client_delete(world->client, "numbers", id, NULL), CULEX_OK);
}

static void test_open_names_what_is_wrong(void **state)
{
    (void)state;
    culex_client *client = NULL;
    culex_error error = {0};
    assert_int_equal(culex_client_open("ftp://x", NULL, &client, &error), CULEX_EURL);
    assert_int_equal(culex_client_open("redis://127.0.0.1:1/0", NULL, &client, &error),
                     CULEX_ECONNECT);
    assert_non_null(strstr(error.text, "127.0.0.1"));
    assert_null(client);
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(test_unknown_call_can_be_repeated_after_others),
        UNIT(test_unknown_call_can_be_repeated_by_another_client),
        UNIT(test_certain_failure_leaves_no_producer),
        UNIT(test_new_ticket_is_of_one_call_whatever_comes_between),
        UNIT(test_key_has_one_run_while_it_is_remembered),
        UNIT(test_key_is_remembered_for_its_window),
        UNIT(test_conflict_after_a_lost_reply_is_unknown),
        UNIT(test_refusal_after_a_lost_try_is_unknown),
        UNIT(test_conflict_of_a_key_after_a_lost_try_is_unknown),
        UNIT(test_part_of_a_bulk_after_a_lost_try_is_certain),
        UNIT(test_bulk_is_gone_on_with_from_where_it_stayed_unknown),
        UNIT(test_bulk_with_a_ticket_counts_on_from_it),
        UNIT(test_small_bulk_with_a_ticket_is_repeated_as_a_whole),
        UNIT(test_slip_of_a_move_is_told_by_the_names_of_a_move),
        UNIT(test_key_of_many_runs_is_refused),
        UNIT(test_ticket_in_place_of_an_id_is_named),
        UNIT(test_lost_reply_is_repeated_with_the_same_ticket),
        UNIT(test_unknown_tells_the_ticket_and_takes_no_longer_than_the_timeout),
        UNIT(test_repeat_with_another_delay_priority_or_tags_changes_nothing),
        UNIT(test_unknown_stays_unknown_when_the_store_then_goes_away),
        UNIT(test_unreachable_store_is_certain),
        UNIT(test_clock_jump_is_learnt_and_the_ticket_made_again),
        UNIT(test_old_ticket_of_the_caller_is_refused),
        UNIT(test_late_repeat_never_gets_a_new_ticket),
        UNIT(test_late_repeat_of_many_is_unknown),
        UNIT(test_bulk_reports_the_certain_prefix),
        UNIT(test_bulk_stops_at_the_value_that_does_not_encode),
        UNIT(test_payload_over_the_limit_is_refused),
        UNIT(test_wrong_arguments_are_refused),
        UNIT(test_run_in_a_misspelt_queue_is_told_by_the_queue),
        UNIT(test_unknown_run_of_a_queue_that_is_there_lists_no_queues),
        UNIT(test_colon_in_a_queue_name_is_for_old_queues),
        UNIT(test_slip_is_refused_with_what_to_write),
        UNIT(test_what_is_no_slip_is_taken),
        UNIT(test_repeat_says_until_when),
        UNIT(test_durations_end_where_64_bits_do),
        UNIT(test_find_takes_what_the_filter_says),
        UNIT(test_find_that_finds_none_for_long_comes_back),
        UNIT(test_every_verb_reaches_the_store),
        UNIT(test_purge_never_deletes_more_than_its_limit),
        UNIT(test_unknown_queue_is_told_with_the_nearest),
        UNIT(test_repeat_after_a_lost_reply_is_no_error),
        UNIT(test_open_names_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
