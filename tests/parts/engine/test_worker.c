/* What a worker does, on a driven clock: outcomes, retries, leases, trouble, stop, drain. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

static const culex_worker_options draining = {.drain = true};

/* Close enough: a call to the store takes a tenth of a ms. */
static void assert_about_ms(int64_t actual, int64_t expected)
{
    if (actual < expected || actual > expected + 60)
        fail_msg("%lld ms is not about %lld ms", (long long)actual, (long long)expected);
}

/* --- outcomes -------------------------------------------------------------------------- */

static void test_done_run_is_recorded_once(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 7);
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 1);
    assert_int_equal(world->call_n[0], 7);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
    assert_true(world_log_has(world, "t.number "));
    assert_true(world_log_has(world, " attempt 1 started\n"));
    assert_true(world_log_has(world, " attempt 1 done in 0.0 ms\n"));
}

static culex_outcome act_fail(struct world *world, culex_run *run, int64_t n)
{
    (void)world;
    assert_int_equal(culex_run_failures(run) + 1, culex_run_attempt(run));
    return culex_run_fail(run, "mail %lld: \x1b[31mno\nroute \xff", (long long)n);
}

/* The default policy: at most 4 retries after 2, 8, 18, 32 s. */
static void test_default_policy_tries_at_0_2_10_28_60_s(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    static const int64_t expected[] = {0, 2000, 10000, 28000, 60000};
    culex_uuid id = world_enqueue(world, &type, 1);
    world->act = act_fail;
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 5);
    for (int i = 0; i < 5; i++)
        assert_about_ms(world->call_ms[i], expected[i]);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->state, CULEX_RUN_DEAD);
    assert_int_equal(run->failures, 5);
    assert_non_null(strstr(run->error_text, "mail 1: "));
    culex_run_info_free(run);
    assert_int_equal(world_log_count(world, "failed: mail 1"), 4);
    assert_int_equal(world_log_count(world, "(in 18s)"), 1);
    assert_int_equal(world_log_count(world, "error t.number"), 1);
    assert_int_equal(world_log_count(world, "dead: mail 1"), 1);
    /* Hostile text stays within its line. */
    assert_false(world_log_has(world, "\x1b"));
}

/* --- what somebody else wrote ---------------------------------------------------------- */

static void assert_damaged(struct world *world, culex_uuid id, const char *part)
{
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->state, CULEX_RUN_DEAD);
    assert_int_equal(run->attempt, 1);
    assert_non_null(strstr(run->error_text, part));
    culex_run_info_free(run);
}

/* Past all checks, as a program that is not ours writes. */
static culex_uuid run_smuggle(struct world *world, const char *job)
{
    struct culex_new_run run = {.job = job,
                                .attempts_max = 3,
                                .keep_failure_ms = 60000,
                                .tags = "",
                                .payload = "{}",
                                .payload_len = 2};
    struct culex_enqueue_result result;
    assert_int_equal(
        world->store->table->enqueue(world->store, "numbers", NULL, &run, 1, &result, NULL),
        CULEX_OK);
    assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
    return result.id;
}

/* It would be given back for ever. */
static void test_run_with_an_endless_job_name_is_dead(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    char job[CULEX_JOB_NAME_MAX + 2];
    memset(job, 'j', sizeof job - 1);
    job[sizeof job - 1] = '\0';
    culex_uuid bad = run_smuggle(world, job), good = world_enqueue(world, &type, 1);
    world_worker(world, draining, &type);
    world_run(world);
    assert_damaged(world, bad, "the name of the job is longer than 255 bytes");
    assert_int_equal(world_state(world, good), CULEX_RUN_DONE);
}

/* Whatever the store hands out: nothing of it is read. */
static void test_granted_payload_over_the_limit_is_never_dispatched(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 1);
    world->payload_lens = CULEX_PAYLOAD_MAX + 1;
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 0);
    assert_damaged(world, id, "the payload is longer than 1048576 bytes");
    assert_true(world_log_has(world, "error t.number"));
}

/* --- ends by the handler's word --------------------------------------------------------- */

static culex_outcome act_discard(struct world *world, culex_run *run, int64_t n)
{
    (void)world;
    (void)n;
    return culex_run_discard(run, "pointless");
}

static void test_discard_is_dead_at_once(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 1);
    world->act = act_discard;
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 1);
    assert_int_equal(world_state(world, id), CULEX_RUN_DEAD);
    assert_true(world_log_has(world, "dead: pointless"));
}

static culex_outcome act_doze(struct world *world, culex_run *run, int64_t n)
{
    (void)world;
    culex_run_extend(run, n);
    return culex_run_snooze(run, n);
}

/* Seconds that were taken for nanoseconds would repeat the run without a pause. */
static void test_snooze_too_short_to_be_meant_fails(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.retry.max = 0;
    type.timeout_ms = 60000;
    culex_uuid id = world_enqueue(world, &type, 30);
    world->act = act_doze;
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 1);
    assert_int_equal(world_state(world, id), CULEX_RUN_DEAD);
    assert_true(world_log_has(world, "culex_run_snooze for 30 ns is too short to be meant"));
    assert_true(world_log_has(world, "culex_run_extend by 30 ns is too short to be meant"));
    assert_true(world_log_has(world, "write culex_seconds(30)"));
}

static culex_outcome act_snooze(struct world *world, culex_run *run, int64_t n)
{
    (void)n;
    if (world->calls == 1)
        return culex_run_snooze(run, 5 * CULEX_SECOND);
    assert_int_equal(culex_run_failures(run), 0);
    return CULEX_DONE;
}

static void test_snooze_comes_back_uncharged(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 1);
    world->act = act_snooze;
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 2);
    assert_about_ms(world->call_ms[1], 5000);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
    assert_true(world_log_has(world, "snoozed for 5s"));
}

/* The retry after 2 and 8 s begins in time, that after 18 more would not. */
static void test_deadline_of_retries_ends_them_before_their_number(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.retry.for_ms = 28000;
    culex_uuid id = world_enqueue(world, &type, 1);
    world->act = act_fail;
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 3);
    assert_about_ms(world->call_ms[2], 10000);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->state, CULEX_RUN_DEAD);
    assert_int_equal(run->failures, 3);
    assert_ptr_equal(strstr(run->error_text, "the retry deadline has passed: mail 1: "),
                     run->error_text);
    culex_run_info_free(run);
    assert_int_equal(world_log_count(world, "failed: mail 1"), 2);
    assert_int_equal(world_log_count(world, "dead: the retry deadline has passed: mail 1"), 1);
}

/* Its date is that of its first start alone. */
static void test_snoozed_run_does_not_expire(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.expires_ms = 2000;
    culex_uuid id = world_enqueue(world, &type, 1);
    world->act = act_snooze;
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 2);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
}

static culex_outcome act_snooze_for_ever(struct world *world, culex_run *run, int64_t n)
{
    (void)n;
    culex_worker_stop(world->worker);
    return culex_run_snooze(run, culex_days(200000));
}

static void test_snooze_ends_where_delays_do(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 1);
    world->act = act_snooze_for_ever;
    world_worker(world, (culex_worker_options){0}, &type);
    world_run(world);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->state, CULEX_RUN_SCHEDULED);
    assert_about_ms(run->at_ms, run->created_at_ms + CULEX_DELAY_MAX_MS);
    culex_run_info_free(run);
}

static culex_outcome act_snooze_at_once(struct world *world, culex_run *run, int64_t n)
{
    (void)n;
    if (world->calls == 1)
        return CULEX_SNOOZED;
    return world->calls < 4 ? culex_run_snooze(run, world->calls == 2 ? 0 : -5) : CULEX_DONE;
}

/* Uncharged and without a pause it would go on for ever, as fast as the machine can. */
static void test_snooze_without_a_delay_pauses_all_the_same(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world_enqueue(world, &type, 1);
    world->act = act_snooze_at_once;
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 4);
    for (int i = 1; i < 4; i++)
        assert_about_ms(world->call_ms[i], 1000 * i);
    assert_true(world_log_has(world, "snoozed for 1s"));
}

static culex_outcome act_nonsense(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    (void)n;
    return world->calls == 1 ? (culex_outcome)7 : CULEX_FAILED;
}

static void test_strange_outcome_is_a_failure(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.retry.max = 1;
    culex_uuid id = world_enqueue(world, &type, 1);
    world->act = act_nonsense;
    world_worker(world, draining, &type);
    world_run(world);
    assert_true(world_log_has(world, "failed: the handler returned 7, which is no outcome"));
    assert_true(world_log_has(world, "dead: the handler gave no reason"));
    assert_int_equal(world_state(world, id), CULEX_RUN_DEAD);
}

static culex_outcome act_result(struct world *world, culex_run *run, int64_t n)
{
    struct number result = {n * 2};
    (void)world;
    assert_non_null(culex_run_alloc(run, 100));
    assert_int_equal(culex_run_set_result(run, &number_struct, &result, NULL), CULEX_OK);
    assert_string_equal(culex_run_queue(run), "numbers");
    assert_string_equal(culex_run_job(run), "t.number");
    assert_true(culex_run_enqueued_at(run) >= WORLD_START_MS * 1000000);
    culex_log(run, "half of %d", 42);
    return CULEX_DONE;
}

static void test_result_is_kept(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.result = &number_struct;
    culex_uuid id = world_enqueue(world, &type, 21);
    world->act = act_result;
    world_worker(world, draining, &type);
    world_run(world);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->result.len, 8);
    assert_memory_equal(run->result.data, "{\"n\":42}", 8);
    culex_run_info_free(run);
    assert_true(world_log_has(world, "attempt 1 half of 42\n"));
}

/* Result types that a handler of t.number may confuse with its own. */
static const culex_field copied_field = {.name = "n",
                                         .wire = "n",
                                         .kind = CULEX_KIND_INT64,
                                         .flags = CULEX_FIELD_REQUIRED,
                                         .offset = offsetof(struct number, n)};
static const culex_field narrow_field = {.name = "n",
                                         .wire = "n",
                                         .kind = CULEX_KIND_INT32,
                                         .flags = CULEX_FIELD_REQUIRED,
                                         .offset = offsetof(struct number, n)};
static const culex_struct_type copied = {"t.number", sizeof(struct number), &copied_field, 1};
static const culex_struct_type changed = {"t.number", sizeof(struct number), &narrow_field, 1};
static const culex_struct_type foreign = {"t.other", sizeof(struct number), &copied_field, 1};

struct offer {
    const culex_struct_type *returned; /* by the job */
    const culex_struct_type *offered;  /* by its handler */
    culex_status status;
    const char *text;
};

static const struct offer *offer;

static culex_outcome act_offer(struct world *world, culex_run *run, int64_t n)
{
    struct number result = {n};
    culex_error error = {0};
    (void)world;
    assert_int_equal(culex_run_set_result(run, offer->offered, &result, &error), offer->status);
    assert_string_equal(error.text, offer->text);
    return CULEX_DONE;
}

static void test_result_is_of_the_job(void **state)
{
    static const struct offer offers[] = {
        {&number_struct, &copied, CULEX_OK, ""},
        {&number_struct, &foreign, CULEX_EINVAL,
         "a result of t.other, but the run is of t.number: call the set_result function that is "
         "generated for t.number"},
        {&number_struct, &changed, CULEX_EINVAL,
         "a result of t.number from another version of its schema than the one that the handler "
         "was registered with: generate and build both from one schema"},
        {NULL, &foreign, CULEX_EINVAL,
         "a result of t.other, but the run is of t.number, which returns nothing: write `returns "
         "{ ... }` behind its params in the schema, and call the set_result function that is "
         "generated for it"}};
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid ids[4];
    world->act = act_offer;
    for (size_t at = 0; at < 4; at++) {
        offer = &offers[at];
        type.result = offer->returned;
        ids[at] = world_enqueue(world, &type, 7);
        world_worker(world, draining, &type);
        world_run(world);
        culex_run_info *run = world_get(world, ids[at]);
        assert_int_equal(run->state, CULEX_RUN_DONE);
        assert_int_equal(run->result.len > 0, offer->status == CULEX_OK);
        culex_run_info_free(run);
    }
}

struct text_result {
    const char *text;
};

static const culex_field text_field = {.name = "text",
                                       .wire = "text",
                                       .kind = CULEX_KIND_STRING,
                                       .flags = CULEX_FIELD_REQUIRED,
                                       .offset = offsetof(struct text_result, text)};
static const culex_struct_type text_result = {"t.number", sizeof(struct text_result), &text_field,
                                              1};

static culex_outcome act_large_result(struct world *world, culex_run *run, int64_t n)
{
    static char large[CULEX_PAYLOAD_MAX + 1];
    struct text_result result = {memset(large, 'x', CULEX_PAYLOAD_MAX)};
    culex_error error;
    (void)world;
    (void)n;
    assert_int_equal(culex_run_set_result(run, &text_result, &result, &error), CULEX_ELIMIT);
    return culex_run_fail(run, "%s", error.text);
}

static void test_large_result_is_refused_as_a_result(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.result = &text_result;
    type.retry.max = 0;
    world_enqueue(world, &type, 1);
    world->act = act_large_result;
    world_worker(world, draining, &type);
    world_run(world);
    assert_true(world_log_has(world, "dead: the result would be larger than 1048576 bytes"));
}

static culex_outcome act_empty_text(struct world *world, culex_run *run, int64_t n)
{
    (void)world;
    (void)n;
    return culex_run_fail(run, "%s", "");
}

static void test_empty_text_is_no_reason(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.retry.max = 0;
    world_enqueue(world, &type, 1);
    world->act = act_empty_text;
    world_worker(world, draining, &type);
    world_run(world);
    assert_true(world_log_has(world, "dead: the handler gave no reason"));
}

/* --- runs that this worker cannot execute ---------------------------------------------- */

static void test_unknown_job_is_given_back_uncharged(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_job_type other = number_type();
    other.name = other.wire = "t.newer";
    culex_uuid id = world_enqueue(world, &other, 1);
    world_enqueue(world, &type, 2);
    culex_worker *worker = world_worker(world, (culex_worker_options){0}, &type);
    world_pass(world, 1);
    culex_worker_stop(worker);
    world->act = NULL;
    world_run(world); /* stops at once, having claimed nothing */
    assert_int_equal(world->calls, 0);
    world_worker(world, (culex_worker_options){.drain = true, .lease_ms = 1000}, &type);
    assert_int_equal(
        culex_worker_register(world->worker, &other, number_call, number_handler, world), CULEX_OK);
    world_run(world);
    assert_int_equal(world->calls, 2);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
}

static culex_outcome act_stop(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    if (n == 99)
        culex_worker_stop(world->worker);
    return CULEX_DONE;
}

static void test_unknown_job_waits_longer_each_time(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_job_type other = number_type();
    culex_enqueue_options late = culex_enqueue_options_make();
    struct number end = {99};
    other.name = other.wire = "t.newer";
    culex_uuid id = world_enqueue(world, &other, 1);
    late.has_delay = true;
    late.delay = 20 * CULEX_SECOND;
    assert_int_equal(culex_client_enqueue(world->client, &type, &end, &late, NULL, NULL), 0);
    world->act = act_stop;
    world_worker(world, (culex_worker_options){0}, &type);
    world_run(world);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->state, CULEX_RUN_SCHEDULED);
    assert_int_equal(run->failures + run->crashes + run->losses, 0);
    assert_int_equal(run->attempt, 3); /* at 0, 5 and 15 s */
    assert_string_equal(run->error_text, "no handler is registered for this job");
    culex_run_info_free(run);
    assert_int_equal(world_log_count(world, "no handler is registered"), 1);
    assert_true(world_log_has(world, "t.newer "));
    assert_true(world_log_has(world, "(3 not understood)"));
}

/* A run of the known job that stops the worker `seconds` from now. */
static void enqueue_stop(struct world *world, int seconds)
{
    culex_job_type type = number_type();
    culex_enqueue_options late = culex_enqueue_options_make();
    struct number end = {99};
    late.has_delay = true;
    late.delay = seconds * CULEX_SECOND;
    assert_int_equal(culex_client_enqueue(world->client, &type, &end, &late, NULL, NULL), 0);
    world->act = act_stop;
}

static void test_unknown_job_expires(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_job_type other = number_type();
    other.name = other.wire = "t.newer";
    other.expires_ms = 7000;
    culex_uuid id = world_enqueue(world, &other, 1);
    enqueue_stop(world, 20);
    world_worker(world, (culex_worker_options){0}, &type);
    world_run(world);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->state, CULEX_RUN_DEAD);
    assert_int_equal(run->attempt, 2); /* at 0 and 5 s */
    assert_string_equal(run->error_text, "expired");
    culex_run_info_free(run);
}

/* What a line of the log says between `before` and `after`, summed over all lines. */
static uint64_t log_sum(const struct world *world, const char *before, const char *after)
{
    uint64_t sum = 0;
    for (const char *at = world->log; (at = strstr(at, before)) != NULL;) {
        char *end;
        at += strlen(before);
        uint64_t value = strtoull(at, &end, 10);
        sum += strncmp(end, after, strlen(after)) == 0 ? value : 0;
    }
    return sum;
}

static void test_unknown_job_is_told_once_a_minute(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_job_type other = number_type();
    other.name = other.wire = "t.newer";
    for (int i = 0; i < 300; i++)
        world_enqueue(world, &other, i);
    enqueue_stop(world, 121);
    world_worker(world, (culex_worker_options){0}, &type);
    world_run(world);
    unsigned lines = world_log_count(world, "no handler is registered");
    assert_in_range(lines, 2, 3); /* at once, and with the first that came 60 s after a line */
    uint64_t told = lines + log_sum(world, "s, and ", " times more since the last line");
    uint64_t all = log_sum(world, "given back (", " not understood)");
    assert_in_range(told, 300 * 4, all); /* four times in the first minute */
}

static void test_unknown_jobs_of_many_names_are_told_together(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    char name[32];
    for (int i = 0; i < 1000; i++) {
        culex_job_type other = number_type();
        snprintf(name, sizeof name, "t.newer%d", i);
        other.name = other.wire = name;
        world_enqueue(world, &other, i);
    }
    enqueue_stop(world, 80); /* they come at 0, 5, 15, 30, 50 and 75 s */
    world_worker(world, (culex_worker_options){0}, &type);
    world_run(world);
    assert_int_equal(world_log_count(world, "no handler is registered"),
                     2 * CULEX__UNKNOWN_JOBS_MAX);
    assert_true(log_sum(world, ", and ", " runs of yet other jobs") >=
                5 * (1000 - CULEX__UNKNOWN_JOBS_MAX));
}

/* Puts bytes into the queue that no schema of ours wrote. */
static culex_uuid enqueue_foreign(struct world *world, const char *payload, uint64_t fingerprint)
{
    struct culex_enqueue_result result;
    struct culex_new_run run = {.job = "t.number",
                                .priority = 5,
                                .attempts_max = 5,
                                .keep_failure_ms = 3600000,
                                .keep_success_ms = 3600000,
                                .fingerprint = fingerprint,
                                .tags = "",
                                .payload = payload,
                                .payload_len = strlen(payload)};
    assert_int_equal(
        world->store->ops->enqueue(world->store, "numbers", NULL, &run, 1, &result, NULL),
        CULEX_OK);
    return result.id;
}

static culex_uuid enqueue_raw(struct world *world, const char *payload)
{
    culex_job_type type = number_type();
    return enqueue_foreign(world, payload, type.fingerprint);
}

static void test_undecodable_payload_is_dead_with_its_bytes(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = enqueue_raw(world, "{\"n\":\"x\"}");
    culex_uuid good = world_enqueue(world, &type, 1);
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 1);
    assert_int_equal(world_state(world, good), CULEX_RUN_DONE);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->state, CULEX_RUN_DEAD);
    assert_int_equal(run->payload.len, 9);
    assert_non_null(strstr(run->error_text, "cannot be decoded: n: expected"));
    culex_run_info_free(run);
}

static void test_payload_of_a_newer_schema_is_given_back(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_enqueue_options late = culex_enqueue_options_make();
    struct number end = {99};
    culex_uuid id = enqueue_raw(world, "{\"n\":1,\"!must\":2}");
    late.has_delay = true;
    late.delay = 2 * CULEX_SECOND;
    assert_int_equal(culex_client_enqueue(world->client, &type, &end, &late, NULL, NULL), 0);
    world->act = act_stop;
    world_worker(world, (culex_worker_options){0}, &type);
    world_run(world);
    assert_int_equal(world_state(world, id), CULEX_RUN_SCHEDULED);
    assert_true(world_log_has(world, "given back for 5s: not understood: "));
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->failures, 0);
    assert_true(strncmp(run->error_text, "not understood: ", 16) == 0);
    assert_non_null(strstr(run->error_text, "must"));
    culex_run_info_free(run);
}

/* What stands against a payload here need not stand against it in the schema that wrote it. */
static void test_whatever_another_schema_wrote_is_given_back(void **state)
{
    static const struct {
        const char *payload;
        bool is_foreign;
        culex_run_state state;
    } rows[] = {
        {"{\"n\":9223372036854775808}", true, CULEX_RUN_SCHEDULED}, /* wider */
        {"{}", true, CULEX_RUN_SCHEDULED},                          /* optional by now */
        {"{\"n\":9223372036854775808}", false, CULEX_RUN_DEAD},
        {"{}", false, CULEX_RUN_DEAD},
        {"{\"n\":\"x\"}", true, CULEX_RUN_SCHEDULED}, /* a string by now, or a timestamp */
        {"{\"n\":1.5}", true, CULEX_RUN_SCHEDULED},
        {"{\"n\":[1,2]}", true, CULEX_RUN_SCHEDULED},
        {"{\"n\":170141183460469231731687303715884105728}", true, CULEX_RUN_SCHEDULED},
        {"{\"n\":\"x\"}", false, CULEX_RUN_DEAD},
        {"{\"n\":9223372036854775808", true, CULEX_RUN_DEAD}, /* no schema wrote that */
        {"[1]", true, CULEX_RUN_DEAD},
    };
    enum { COUNT = sizeof rows / sizeof rows[0] };
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid ids[COUNT];
    for (int i = 0; i < COUNT; i++)
        ids[i] = enqueue_foreign(world, rows[i].payload,
                                 rows[i].is_foreign ? ~type.fingerprint : type.fingerprint);
    culex_enqueue_options late = culex_enqueue_options_make();
    struct number end = {99};
    late.has_delay = true;
    late.delay = 2 * CULEX_SECOND;
    assert_int_equal(culex_client_enqueue(world->client, &type, &end, &late, NULL, NULL), 0);
    world->act = act_stop;
    world_worker(world, (culex_worker_options){0}, &type);
    world_run(world);
    for (int i = 0; i < COUNT; i++) {
        culex_run_info *run = world_get(world, ids[i]);
        if (run->state != rows[i].state)
            fail_msg("%s: %s", rows[i].payload, culex_run_state_name(run->state));
        if (run->state == CULEX_RUN_SCHEDULED)
            assert_int_equal(run->failures + run->crashes + run->losses, 0);
        culex_run_info_free(run);
    }
    assert_true(world_log_has(world, "given back for 5s: not understood: n: expected an integer"));
    assert_true(world_log_has(world, "6 given back (6 not understood)"));
}

/* --- retired jobs ------------------------------------------------------------------- */

static void test_runs_of_a_retired_job_end_dead_and_say_so(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_job_type old = number_type();
    old.name = "t.renamed";
    old.wire = "t.old";
    culex_uuid left = world_enqueue(world, &old, 1), good = world_enqueue(world, &type, 2);
    culex_worker *worker = world_worker(world, draining, &type);
    assert_int_equal(culex_worker_retire(worker, &old), CULEX_OK);
    assert_int_equal(culex_worker_retire(worker, &old), CULEX_EINVAL);
    culex_job_type alien = old; /* of a newer compiler */
    alien.wire = "t.alien";
    alien.descriptor_version++;
    assert_int_equal(culex_worker_retire(worker, &alien), CULEX_EVERSION);
    assert_int_equal(culex_worker_register(worker, &alien, number_call, number_handler, world),
                     CULEX_EVERSION);
    assert_int_equal(culex_worker_register(worker, &old, number_call, number_handler, world),
                     CULEX_EINVAL);
    assert_int_equal(culex_worker_register(worker, &old, NULL, number_handler, world),
                     CULEX_EINVAL);
    world_run(world);
    assert_int_equal(world->calls, 1);
    assert_int_equal(world_state(world, good), CULEX_RUN_DONE);
    culex_run_info *run = world_get(world, left);
    assert_int_equal(run->state, CULEX_RUN_DEAD);
    assert_string_equal(run->error_text, "the job is retired");
    assert_true(run->payload.len > 0);
    culex_run_info_free(run);
    assert_true(world_log_has(world, "dead: the job is retired"));
}

/* --- leases, beats, timeouts, cancel --------------------------------------------------- */

/* Passes time inside the handler; the loop cannot beat meanwhile, as with a frozen supervisor. */
static culex_outcome act_freeze(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    if (world->calls == 1)
        world_pass(world, n);
    return CULEX_DONE;
}

static void test_result_after_the_timeout_is_a_failure(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = 3000;
    type.retry.max = 0;
    culex_uuid id = world_enqueue(world, &type, 4000);
    world->act = act_freeze;
    world_worker(world, draining, &type);
    world_run(world);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->state, CULEX_RUN_DEAD);
    assert_string_equal(run->error_text,
                        "timed out after 3s; the handler returned by itself 1s later");
    culex_run_info_free(run);
}

static void test_result_in_time_is_no_timeout(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = 3000;
    culex_uuid id = world_enqueue(world, &type, 2900);
    world->act = act_freeze;
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
}

/* --- trouble with the store ------------------------------------------------------------ */

static void test_lost_reply_is_repeated_with_the_same_nonce(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 1);
    world->fault = WORLD_LOSE_REPLY;
    world->fault_count = 3;
    world_worker(world, draining, &type);
    world_run(world);
    assert_true(world->step_count > 4);
    for (int i = 1; i <= 3; i++)
        assert_true(world->steps[i].nonce == world->steps[0].nonce);
    assert_true(world->steps[4].nonce != world->steps[0].nonce);
    assert_int_equal(world->steps[0].grant_count, 1);
    assert_int_equal(world->steps[3].grant_count, 1);
    assert_int_equal(world->calls, 1);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->state, CULEX_RUN_DONE);
    assert_int_equal(run->attempt, 1); /* a lost reply costs no attempt */
    culex_run_info_free(run);
}

static culex_outcome act_lose_ack(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    (void)n;
    world->fault = WORLD_LOSE_REPLY;
    world->fault_count = 2;
    return CULEX_DONE;
}

static void test_lost_answer_to_an_ack_is_asked_for_again(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 1);
    world->act = act_lose_ack;
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 1);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
    assert_int_equal(world_log_count(world, " done in "), 1);
    assert_false(world_log_has(world, "refused: the lease"));
}

static culex_outcome act_take_600_ms(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    (void)n;
    world_pass(world, 600);
    return CULEX_DONE;
}

/* The step that claims it was made before the outage, and has reached the store after it. */
static void test_run_granted_after_an_outage_has_all_of_its_time(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = 1000;
    culex_uuid id = world_enqueue(world, &type, 1);
    world->act = act_take_600_ms;
    world->fault_until_ns = world->now_ns + INT64_C(5000000000);
    world_worker(world, draining, &type);
    world_run(world);
    assert_in_range(world->call_ms[0], 5000, 10000);
    assert_int_equal(world->calls, 1);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->state, CULEX_RUN_DONE);
    assert_int_equal(run->attempt, 1);
    assert_int_equal(run->failures, 0);
    culex_run_info_free(run);
}

static void refuse_until_14_s(struct world *world)
{
    world->fault_until_ns = world->now_ns + INT64_C(14000000000);
}

/* Its first try may have been the one that counted, and the lease may have begun then. */
static void test_lease_counts_from_the_first_try_that_may_have_been_applied(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 1);
    world->fault = WORLD_LOSE_REPLY;
    world->fault_count = 1;
    world->then = refuse_until_14_s;
    world->then_ms = 1;
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->steps[1].fault, WORLD_REFUSE);
    assert_int_equal(world->calls, 1);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->state, CULEX_RUN_DONE);
    assert_int_equal(run->attempt, 2);
    assert_int_equal(run->failures + run->losses, 0);
    culex_run_info_free(run);
}

static culex_outcome act_outage(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    (void)n;
    if (world->calls == 1)
        world->fault_until_ns = world->now_ns + INT64_C(150000000000);
    return CULEX_DONE;
}

static void test_lost_store_is_logged_once_a_minute_and_once_when_back(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 1);
    world->act = act_outage;
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world_log_count(world, "the store is in trouble"), 1);
    assert_int_equal(world_log_count(world, "the store is still in trouble"), 2);
    assert_int_equal(world_log_count(world, "the store is back"), 1);
    /* The result of the first attempt was kept and offered as soon as the store was back. */
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
    assert_int_equal(world->calls, 1);
    /* Growing waits: far fewer calls than one per 50 ms, and never longer than 5 s apart. */
    assert_in_range(world->step_count, 30, 120);
    for (size_t i = 1; i < world->step_count; i++)
        assert_true(world->steps[i].at_ms - world->steps[i - 1].at_ms <= 5010);
}

/* Its results and beats are in the calls that are tried. */
static void test_store_in_trouble_is_tried_several_times_in_a_lease(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world_enqueue(world, &type, 1);
    world->act = act_outage;
    world_worker(world, (culex_worker_options){.drain = true, .lease_ms = 4000}, &type);
    world_run(world);
    assert_in_range(world->step_count, 140, 600);
    for (size_t i = 1; i < world->step_count; i++)
        assert_true(world->steps[i].at_ms - world->steps[i - 1].at_ms <= 1010);
}

/* --- stop, drain ----------------------------------------------------------------------- */

static culex_outcome act_stop_first(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    (void)n;
    if (world->calls == 1)
        culex_worker_stop(world->worker);
    return CULEX_DONE;
}

static void test_stop_gives_back_what_has_not_started(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    for (int i = 0; i < 10; i++)
        world_enqueue(world, &type, i);
    world->act = act_stop_first;
    world_worker(world, (culex_worker_options){.concurrency = 4}, &type);
    world_run(world);
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.count[CULEX_RUN_ACTIVE], 0);
    assert_int_equal(stats.count[CULEX_RUN_DONE], world->calls);
    assert_int_equal(stats.count[CULEX_RUN_WAITING], 10 - world->calls);
    assert_true(world->calls < 10);
}

static culex_status process_open(void *user, void **ret_process, culex_error *error)
{
    (void)user, (void)ret_process, (void)error;
    return CULEX_ECONNECT;
}

/* Neither the executor nor the lanes would know of it. */
static culex_outcome act_set_up(struct world *world, culex_run *run, int64_t n)
{
    culex_job_type late = number_type();
    culex_error error = {0};
    (void)run, (void)n;
    late.wire = "t.late";
    assert_int_equal(culex_worker_register(world->worker, &late, number_call, number_handler, NULL),
                     CULEX_EINVAL);
    assert_string_equal(culex_worker_setup_reason(world->worker),
                        "the worker has begun to run, before which it is set up");
    assert_int_equal(culex_worker_retire(world->worker, &late), CULEX_EINVAL);
    assert_int_equal(culex_worker_on_process(world->worker, process_open, NULL, NULL),
                     CULEX_EINVAL);
    assert_int_equal(culex_worker_run(world->worker, &error), CULEX_EINVAL);
    assert_string_equal(error.text, "this worker is running already");
    return CULEX_DONE;
}

static void test_worker_that_runs_is_not_set_up_any_more(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 1);
    world->act = act_set_up;
    culex_worker *worker = world_worker(world, (culex_worker_options){.drain = true}, &type);
    assert_int_equal(culex_worker_run(worker, NULL), CULEX_OK);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
    assert_int_equal(worker->job_count, 1);
    assert_true(worker->hooks.open == NULL);
    assert_int_equal(world_log_count(world, "was called after the worker had begun to run"), 3);
    assert_int_equal(culex_worker_on_process(worker, process_open, NULL, NULL), CULEX_OK);
    culex_worker_free(worker);
    world->worker = NULL;
}

static void test_drain_waits_for_scheduled_runs(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_enqueue_options late = culex_enqueue_options_make();
    struct number one = {1};
    late.has_delay = true;
    late.delay = 90 * CULEX_SECOND;
    assert_int_equal(culex_client_enqueue(world->client, &type, &one, &late, NULL, NULL), 0);
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 1);
    assert_about_ms(world->call_ms[0], 90000);
}

static void scheduled_add(struct world *world, culex_job_type *type, culex_duration delay)
{
    culex_enqueue_options late = culex_enqueue_options_make();
    struct number one = {1};
    late.has_delay = true;
    late.delay = delay;
    assert_int_equal(culex_client_enqueue(world->client, type, &one, &late, NULL, NULL), CULEX_OK);
}

static void test_drain_for_scheduled_runs_is_told_once_a_minute(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    scheduled_add(world, &type, 150 * CULEX_SECOND);
    scheduled_add(world, &type, 130 * CULEX_SECOND);
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 2);
    assert_int_equal(world_log_count(world, "info  the drain waits for 2 scheduled runs, the next "
                                            "at "),
                     3);
    assert_int_equal(world_log_count(world, "the drain waits for 1 scheduled run, the next at "),
                     0);
}

/* A drain of one run, which is due in four seconds. */
static void run_of_soon(struct world *world)
{
    culex_job_type type = number_type();
    scheduled_add(world, &type, 4 * CULEX_SECOND);
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 1);
}

static void test_drain_for_a_run_of_soon_says_nothing(void **state)
{
    struct world *world = *state;
    run_of_soon(world);
    assert_false(world_log_has(world, "the drain waits"));
}

/* A listing may pass all that is kept of ended runs. */
static void test_drain_lists_no_state_that_has_no_runs(void **state)
{
    struct world *world = *state;
    run_of_soon(world);
    assert_in_range(world->lists[CULEX_RUN_SCHEDULED], 1, 20);
    assert_int_equal(world->lists[CULEX_RUN_WAITING], 0);
    assert_int_equal(world->lists[CULEX_RUN_ACTIVE], 0);
}

/* Another worker has the one run that can be claimed. */
static void another_claims(struct world *world, int64_t lease_ms)
{
    struct culex_step_reply reply;
    struct culex_step step = {.queue = "numbers",
                              .session = "feedfacefeedface",
                              .nonce = 1,
                              .want = 1,
                              .lease_ms = lease_ms};
    assert_int_equal(world->store->ops->step(world->store, &step, &reply, NULL), CULEX_OK);
    assert_int_equal(reply.grant_count, 1);
    world->store->ops->step_release(world->store, &reply);
}

static void test_drain_ends_when_only_unknown_jobs_are_left(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type(), newer = number_type();
    culex_error error = {0};
    newer.name = newer.wire = "t.newer";
    world_enqueue(world, &newer, 1);
    world_enqueue(world, &newer, 2);
    world_enqueue(world, &type, 3);
    culex_worker *worker = world_worker(world, draining, &type);
    assert_int_equal(culex_worker_run(worker, &error), CULEX_ELEFT);
    assert_string_equal(error.text, "nothing is left but 2 runs that no handler here knows, of job "
                                    "t.newer");
    assert_int_equal(world->calls, 1);
    assert_true(world_ms(world) < 1000);
    culex_worker_free(worker);
    world->worker = NULL;
}

/* Of this version of the job, and of a schema that wrote something else. */
static void test_drain_ends_when_only_runs_that_cannot_be_read_are_left(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_error error = {0};
    enqueue_foreign(world, "{\"m\":1}", ~type.fingerprint);
    enqueue_foreign(world, "{\"m\":2}", ~type.fingerprint);
    scheduled_add(world, &type, 30 * CULEX_SECOND);
    culex_worker *worker = world_worker(world, draining, &type);
    assert_int_equal(culex_worker_run(worker, &error), CULEX_ELEFT);
    assert_string_equal(error.text,
                        "nothing is left but 2 runs that this worker cannot read, of job t.number");
    assert_int_equal(world->calls, 1); /* the drain waited for the one that it can read */
    assert_in_range(world_ms(world), 30000, 40000);
    assert_true(world_log_has(world, "the drain waits for 1 scheduled run, the next at "));
    culex_worker_free(worker);
    world->worker = NULL;
}

static void test_drain_ends_when_no_run_that_is_left_can_be_run_here(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type(), newer = number_type();
    culex_error error = {0};
    newer.name = newer.wire = "t.newer";
    enqueue_foreign(world, "{\"m\":1}", ~type.fingerprint);
    world_enqueue(world, &newer, 1);
    culex_worker *worker = world_worker(world, draining, &type);
    assert_int_equal(culex_worker_run(worker, &error), CULEX_ELEFT);
    assert_non_null(strstr(error.text, "2 runs that no handler here knows or that this worker "
                                       "cannot read, of job t."));
    assert_non_null(strstr(error.text, " and others"));
    culex_worker_free(worker);
    world->worker = NULL;
}

static void test_drain_waits_for_a_run_beside_unknown_ones(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type(), newer = number_type();
    culex_enqueue_options later = culex_enqueue_options_make();
    struct number number = {4};
    newer.name = newer.wire = "t.newer";
    later.has_delay = true;
    later.delay = 30 * CULEX_SECOND;
    world_enqueue(world, &newer, 1);
    assert_int_equal(culex_client_enqueue(world->client, &type, &number, &later, NULL, NULL),
                     CULEX_OK);
    culex_worker *worker = world_worker(world, draining, &type);
    assert_int_equal(culex_worker_run(worker, NULL), CULEX_ELEFT);
    assert_int_equal(world->calls, 1);
    culex_worker_free(worker);
    world->worker = NULL;
}

/* It may be lost there yet, and then it is ours. */
static void test_drain_waits_for_a_run_that_another_has_beside_unknown_ones(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type(), newer = number_type();
    newer.name = newer.wire = "t.newer";
    world_enqueue(world, &type, 4);
    another_claims(world, 20000);
    world_enqueue(world, &newer, 1);
    culex_worker *worker = world_worker(world, draining, &type);
    assert_int_equal(culex_worker_run(worker, NULL), CULEX_ELEFT);
    assert_int_equal(world->calls, 1);
    culex_worker_free(worker);
    world->worker = NULL;
}

static void resume(struct world *world)
{
    assert_int_equal(culex_client_resume(world->client, "numbers", NULL), CULEX_OK);
}

static void test_drain_of_a_paused_queue_is_told_once_a_minute(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world_enqueue(world, &type, 1);
    assert_int_equal(culex_client_pause(world->client, "numbers", NULL), CULEX_OK);
    world->then = resume;
    world->then_ms = 130000;
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 1);
    assert_in_range(world->call_ms[0], 130000, 140000);
    assert_int_equal(world_log_count(world, "warn  the drain waits for nothing but paused queues: "
                                            "numbers\n"),
                     3);
}

/* Nobody resumes it: the worker asks again at that very moment. */
static void test_pause_for_a_time_ends_without_a_call(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world_enqueue(world, &type, 1);
    assert_int_equal(
        culex_client_pause_for(world->client, "numbers", culex_milliseconds(7123), NULL), CULEX_OK);
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 1);
    assert_in_range(world->call_ms[0], 7123, 7133);
}

static void test_drain_with_other_work_says_nothing_of_paused_queues(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type(), other = number_type();
    culex_enqueue_options late = culex_enqueue_options_make();
    static const char *const queues[] = {"numbers", "others"};
    struct number one = {1};
    other.queue = "others";
    other.name = other.wire = "t.other";
    late.has_delay = true;
    late.delay = 90 * CULEX_SECOND;
    world_enqueue(world, &type, 1);
    assert_int_equal(culex_client_pause(world->client, "numbers", NULL), CULEX_OK);
    assert_int_equal(culex_client_enqueue(world->client, &other, &one, &late, NULL, NULL), 0);
    world->then = resume;
    world->then_ms = 60000;
    world_worker(world, (culex_worker_options){.drain = true, .queues = queues, .queue_count = 2},
                 &type);
    assert_int_equal(
        culex_worker_register(world->worker, &other, number_call, number_handler, world), CULEX_OK);
    world_run(world);
    assert_int_equal(world->calls, 2);
    assert_false(world_log_has(world, "paused queues"));
    assert_true(world_log_has(world, "the drain waits for 1 scheduled run, the next at "));
}

static void test_drain_of_an_empty_queue_ends_at_once(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 0);
    assert_true(world_ms(world) < 100);
}

static void test_queues_option_limits_the_worker(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_job_type other = number_type();
    static const char *const queues[] = {"others"};
    other.name = other.wire = "t.other";
    other.queue = "others";
    culex_uuid left = world_enqueue(world, &type, 1);
    world_enqueue(world, &other, 2);
    world_worker(world, (culex_worker_options){.drain = true, .queues = queues, .queue_count = 1},
                 &type);
    assert_int_equal(
        culex_worker_register(world->worker, &other, number_call, number_handler, world), CULEX_OK);
    world_run(world);
    assert_int_equal(world->calls, 1);
    assert_int_equal(world->call_n[0], 2);
    assert_int_equal(world_state(world, left), CULEX_RUN_WAITING);
}

static void test_queues_that_nothing_feeds_are_warned_of(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_job_type other = number_type();
    static const char *const queues[] = {"numbers", "nubmers", "others", "ohters", "elsewhere"};
    other.queue = "others";
    culex_uuid id = world_enqueue(world, &other, 1);
    assert_int_equal(culex_client_cancel(world->client, "others", id, NULL, NULL), CULEX_OK);
    world_worker(world, (culex_worker_options){.drain = true, .queues = queues, .queue_count = 5},
                 &type);
    world_run(world);
    assert_false(world_log_has(world, "queue numbers:"));
    assert_int_equal(world_log_count(world, "warn  queue nubmers: no job that is registered here "
                                            "goes there, and nobody has used it yet; did you mean "
                                            "numbers?\n"),
                     1);
    assert_true(world_log_has(world,
                              "warn  queue others: no job that is registered here goes there "
                              "by its schema\n"));
    assert_true(world_log_has(world, "used it yet; did you mean others?\n"));
    assert_true(world_log_has(world, "queue elsewhere: no job that is registered here goes there, "
                                     "and nobody has used it yet\n"));
}

/* The worker would make them, and the next one would find them. */
static void test_wrong_queues_alone_end_the_worker_before_they_are_made(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    static const char *const queues[] = {"nubmers", "elsewhere"};
    for (size_t count = 1; count <= 2; count++) {
        culex_error error = {0};
        char **names = NULL;
        world_worker(world,
                     (culex_worker_options){.drain = true, .queues = queues, .queue_count = count},
                     &type);
        assert_int_equal(culex_worker_run(world->worker, &error), CULEX_EUSAGE);
        assert_non_null(strstr(error.text, "goes to queue nubmers"));
        assert_non_null(strstr(error.text, "has no such queue; did you mean numbers? ("));
        assert_int_equal(strstr(error.text, "another of those named") != NULL, count == 2);
        culex_worker_free(world->worker);
        world->worker = NULL;
        assert_int_equal(world->base.ops->queues(&world->base, &names, NULL), CULEX_OK);
        assert_null(names[0]);
        free(names);
    }
}

static void test_bulk_is_claimed_in_batches(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    static struct number many[1000];
    assert_int_equal(culex_client_enqueue_many(world->client, &type, many, sizeof many[0], 1000,
                                               NULL, NULL, NULL, NULL),
                     CULEX_OK);
    world_worker(world, (culex_worker_options){.drain = true, .log_level = 1}, &type);
    world_run(world);
    assert_int_equal(world->calls, 1000);
    /* Prefetch: once runs turn out short, about 32 of them go into one step. */
    assert_true(world->step_count < 70);
}

static culex_outcome act_slow(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    (void)n;
    world_pass(world, 100);
    return CULEX_DONE;
}

static void test_long_runs_are_not_prefetched(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    for (int i = 0; i < 20; i++)
        world_enqueue(world, &type, i);
    world->act = act_slow;
    world_worker(world, (culex_worker_options){.drain = true, .concurrency = 2}, &type);
    world_run(world);
    for (size_t i = 0; i < world->step_count; i++)
        assert_true(world->steps[i].want <= 2);
}

/* --- several queues ------------------------------------------------------------------------ */

enum { FAIR_RUNS = 12, FAIR_MS = 30, FAIR_OTHER = 1000 };

static culex_job_type other_type(void)
{
    culex_job_type other = number_type();
    other.queue = "others";
    other.name = other.wire = "t.other";
    return other;
}

static culex_outcome act_fair(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    world->hang_ms = FAIR_MS + (n == 1); /* of several handlers one is out of step */
    return CULEX_DONE;
}

/* A draining worker of both queues, which end their runs in the order of world->call_n. */
static void run_fair(struct world *world, unsigned concurrency)
{
    culex_job_type type = number_type(), other = other_type();
    for (int i = 0; i < FAIR_RUNS; i++) {
        world_enqueue(world, &type, i);
        world_enqueue(world, &other, FAIR_OTHER + i);
    }
    world->act = act_fair;
    world_worker(world, (culex_worker_options){.drain = true, .concurrency = concurrency}, &type);
    assert_int_equal(
        culex_worker_register(world->worker, &other, number_call, number_handler, world), CULEX_OK);
    culex__worker_set_executor(world->worker, executor_killing_create);
    world_run(world);
    assert_int_equal(world->calls, 2 * FAIR_RUNS);
}

/* The longest row of runs of one queue while the other had runs, too. */
static unsigned longest_row(const struct world *world)
{
    unsigned row = 0, longest = 0, begun[2] = {0};
    for (unsigned i = 0; begun[0] < FAIR_RUNS && begun[1] < FAIR_RUNS; i++) {
        bool is_other = world->call_n[i] >= FAIR_OTHER;
        bool was_other = i > 0 && world->call_n[i - 1] >= FAIR_OTHER;
        row = i > 0 && is_other == was_other ? row + 1 : 1;
        longest = row > longest ? row : longest;
        begun[is_other]++;
    }
    return longest;
}

/* A queue takes all handlers that are free at its turn, then it is the other's. */
static void test_queues_take_turns_at_the_handlers(void **state)
{
    struct world *world = *state;
    for (unsigned concurrency = 1; concurrency <= 4; concurrency++) {
        world->calls = 0;
        run_fair(world, concurrency);
        assert_in_range(longest_row(world), 1, concurrency);
    }
}

enum { BACKLOG = 100 };

static culex_outcome act_backlog(struct world *world, culex_run *run, int64_t n)
{
    if (n == BACKLOG)
        culex_worker_stop(world->worker);
    return act_fair(world, run, n);
}

static void enqueue_other(struct world *world)
{
    culex_job_type other = other_type();
    world_enqueue(world, &other, FAIR_OTHER);
}

static void enqueue_backlog(struct world *world)
{
    culex_job_type type = number_type();
    for (int i = 0; i <= BACKLOG; i++)
        world_enqueue(world, &type, i);
    world->then = enqueue_other;
    world->then_ms = 2000;
}

/* The store tells a worker that has runs to take of no other ones: it asks by itself. */
static void test_run_of_an_empty_queue_overtakes_the_backlog_of_another(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type(), other = other_type();
    unsigned at = 0;
    world->act = act_backlog;
    world->then = enqueue_backlog; /* the worker was idle, and would have been told */
    world->then_ms = 1000;
    world_worker(world, (culex_worker_options){0}, &type);
    assert_int_equal(
        culex_worker_register(world->worker, &other, number_call, number_handler, world), CULEX_OK);
    culex__worker_set_executor(world->worker, executor_killing_create);
    world_run(world);
    while (at < world->calls && world->call_n[at] != FAIR_OTHER)
        at++;
    assert_true(at < world->calls);
    assert_in_range(world->call_ms[at], 2000, 2000 + 100 + 2 * FAIR_MS);
}

/* --- idle ------------------------------------------------------------------------------ */

static void test_idle_worker_hardly_calls(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_enqueue_options late = culex_enqueue_options_make();
    struct number end = {99};
    late.has_delay = true;
    late.delay = 100 * CULEX_SECOND;
    assert_int_equal(culex_client_enqueue(world->client, &type, &end, &late, NULL, NULL), 0);
    world->act = act_stop;
    world_worker(world, (culex_worker_options){0}, &type);
    world_run(world);
    assert_about_ms(world->call_ms[0], 100000);
    assert_true(world->step_count < 50);
}

static void worker_stop(struct world *world)
{
    culex_worker_stop(world->worker);
}

/* What is due to be forgotten is work: all of it goes in a moment, and then nobody wakes for it. */
static void test_idle_worker_forgets_what_is_due(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_queue_stats stats;
    type.keep_success_ms = 10000;
    for (int64_t n = 0; n < 1000; n++)
        world_enqueue(world, &type, n);
    world->then = worker_stop;
    world->then_ms = 12000;
    world_worker(world, (culex_worker_options){.batch = 128}, &type);
    world_run(world);
    assert_int_equal(world->calls, 1000);
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.count[CULEX_RUN_DONE], 0);
    assert_true(world->step_count < 1000 / 64 + 40);
}

/* Another worker was woken, claimed the run after our last look, and was killed. */
static void taken_by_another(struct world *world)
{
    bool is_woken;
    culex_job_type type = number_type();
    world_enqueue(world, &type, 99);
    another_claims(world, 400);
    world->store->ops->wake_take(world->store, &is_woken, NULL);
}

static void test_run_of_a_killed_worker_is_taken_over_within_lease_and_a_second(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    world->act = act_stop;
    world->then = taken_by_another;
    world->then_ms = 10100;
    world_worker(world, (culex_worker_options){.lease_ms = 400}, &type);
    world_run(world);
    assert_int_equal(world->calls, 1);
    assert_true(world->call_ms[0] <= 10100 + 400 + 1000 + 10);
}

static void test_store_without_wake_up_is_asked_at_idle_wait(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_enqueue_options late = culex_enqueue_options_make();
    struct number end = {99};
    late.has_delay = true;
    late.delay = 10 * CULEX_SECOND;
    assert_int_equal(culex_client_enqueue(world->client, &type, &end, &late, NULL, NULL), 0);
    world->has_no_wake = true;
    world->act = act_stop;
    world_worker(world, (culex_worker_options){.idle_wait_ms = 500}, &type);
    world_run(world);
    assert_in_range(world->step_count, 20, 30);
}

/* --- periodic -------------------------------------------------------------------------- */

static culex_outcome act_count_to_five(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    (void)n;
    if (world->calls == 5)
        culex_worker_stop(world->worker);
    return CULEX_DONE;
}

static const int64_t seven = 7;
static const culex_field default_fields[] = {{.name = "n",
                                              .wire = "n",
                                              .kind = CULEX_KIND_INT64,
                                              .offset = offsetof(struct number, n),
                                              .def = &seven}};
static const culex_struct_type default_struct = {"t.sweep", sizeof(struct number), default_fields,
                                                 1};

static culex_job_type sweep_type(void)
{
    culex_job_type type = number_type();
    type.name = type.wire = "t.sweep";
    type.params = &default_struct;
    type.schedule.every_ms = 60000;
    type.retry.max = 0;
    return type;
}

static void test_periodic_job_runs_at_once_and_then_every_interval(void **state)
{
    struct world *world = *state;
    culex_job_type type = sweep_type();
    world->act = act_count_to_five;
    world_worker(world, (culex_worker_options){0}, &type);
    world_run(world);
    assert_int_equal(world->calls, 5);
    for (int i = 0; i < 5; i++) {
        assert_about_ms(world->call_ms[i], 60000 * i);
        assert_int_equal(world->call_n[i], 7);
    }
}

static culex_outcome act_once(struct world *world, culex_run *run, int64_t n)
{
    (void)run, (void)n;
    culex_worker_stop(world->worker);
    return CULEX_DONE;
}

static bool key_look(const culex_limit_key_info *key, void *user)
{
    assert_string_equal(key->key, "7");
    ++*(unsigned *)user;
    return true;
}

static unsigned keys_of(struct world *world, const char *name)
{
    unsigned keys = 0;
    assert_int_equal(
        culex_client_limit_keys(world->client, "numbers", name, NULL, key_look, &keys, NULL),
        CULEX_OK);
    return keys;
}

static bool limit_look(const culex_limit_info *limit, void *user)
{
    bool is_rate = limit->kind == CULEX_LIMIT_RATE;
    assert_int_equal(limit->declared.count, is_rate ? 100 : 3);
    assert_int_equal(limit->declared.per_ms, is_rate ? 60000 : 0);
    assert_int_equal(limit->declared.burst, is_rate ? 5 : 0);
    ++*(unsigned *)user;
    return true;
}

/* It is made from the template that the worker left, by who has no schema. */
static void test_run_out_of_turn_is_unique_and_counted_as_one_in_turn(void **state)
{
    static const uint16_t by_n[] = {0};
    static const culex_limit limits[] = {
        {CULEX_LIMIT_CONCURRENCY, "t.sweep:concurrency_by_n", 3, 0, 0, by_n, 1},
        {CULEX_LIMIT_RATE, "t.sweep:rate_by_n", 100, 60000, 5, by_n, 1}};
    struct world *world = *state;
    culex_job_type type = sweep_type();
    type.unique = (culex_unique){.is_unique = true,
                                 .by = by_n,
                                 .by_count = 1,
                                 .while_states = CULEX_UNIQUE_LIVE,
                                 .on_conflict = CULEX_ON_CONFLICT_KEEP};
    type.limits = limits;
    type.limit_count = 2;
    world->act = act_once;
    world_worker(world, (culex_worker_options){0}, &type);
    world_run(world);
    assert_int_equal(keys_of(world, "t.sweep:concurrency_by_n"), 0);
    for (int i = 0; i < 2; i++) {
        culex_status wanted = i == 0 ? CULEX_OK : CULEX_EUNIQUE;
        assert_int_equal(culex_client_schedule_run(world->client, "numbers", "t.sweep", NULL, NULL),
                         wanted);
        world_pass(world, 1000); /* a call of the same instant would be a repeat of the first */
    }
    unsigned seen = 0;
    assert_int_equal(culex_client_limits(world->client, "numbers", limit_look, &seen, NULL),
                     CULEX_OK);
    assert_int_equal(seen, 2);
    assert_int_equal(keys_of(world, "t.sweep:concurrency_by_n"), 1);
    assert_int_equal(keys_of(world, "t.sweep:rate_by_n"), 1);
}

/* Asks for the run twice: the first one, which `ret_id` names, is in the way of the second. */
static void run_out_of_turn_twice(struct world *world, const culex_job_type *type,
                                  culex_uuid *ret_id, culex_error *error)
{
    culex_uuid in_the_way;
    world->act = act_once;
    world_worker(world, (culex_worker_options){0}, type);
    world_run(world);
    assert_int_equal(culex_client_schedule_run(world->client, "numbers", "t.sweep", ret_id, NULL),
                     CULEX_OK);
    world_pass(world, 1000);
    assert_int_equal(
        culex_client_schedule_run(world->client, "numbers", "t.sweep", &in_the_way, error),
        CULEX_EUNIQUE);
    assert_memory_equal(&in_the_way, ret_id, sizeof in_the_way);
}

static void test_run_out_of_turn_beside_a_live_one_is_told_which_and_why(void **state)
{
    struct world *world = *state;
    culex_job_type type = sweep_type();
    culex_error error = {0};
    culex_uuid id;
    char text[CULEX_UUID_TEXT_SIZE];
    run_out_of_turn_twice(world, &type, &id, &error);
    culex_uuid_format(id, text);
    assert_non_null(strstr(error.text, text));
    assert_non_null(strstr(error.text, "of 't.sweep' has not ended, and its runs may not overlap"));
}

/* A program may ask twice within a ms. */
static void test_runs_out_of_turn_of_one_ms_are_two(void **state)
{
    struct world *world = *state;
    culex_job_type type = sweep_type();
    culex_uuid ids[2];
    type.schedule.may_overlap = true;
    world->act = act_once;
    world_worker(world, (culex_worker_options){0}, &type);
    world_run(world);
    int64_t asked_ns = world->now_ns;
    for (int i = 0; i < 2; i++) {
        world->now_ns = asked_ns;
        assert_int_equal(
            culex_client_schedule_run(world->client, "numbers", "t.sweep", &ids[i], NULL),
            CULEX_OK);
    }
    assert_memory_not_equal(&ids[0], &ids[1], sizeof ids[0]);
}

static void test_run_out_of_turn_whose_key_is_taken_is_told_which_and_why(void **state)
{
    struct world *world = *state;
    culex_job_type type = sweep_type();
    culex_error error = {0};
    culex_uuid id;
    char text[CULEX_UUID_TEXT_SIZE];
    type.schedule.may_overlap = true;
    type.unique = (culex_unique){.is_unique = true,
                                 .while_states = CULEX_UNIQUE_LIVE,
                                 .on_conflict = CULEX_ON_CONFLICT_KEEP};
    run_out_of_turn_twice(world, &type, &id, &error);
    culex_uuid_format(id, text);
    assert_non_null(strstr(error.text, text));
    assert_non_null(strstr(error.text, "holds the unique key of the run that 't.sweep' would"));
}

/* At random, and never beyond it. */
static void test_jitter_puts_each_run_off(void **state)
{
    struct world *world = *state;
    culex_job_type type = sweep_type();
    int64_t least_ms = INT64_MAX, most_ms = 0;
    type.schedule.jitter_ms = 10000;
    world->act = act_count_to_five;
    world_worker(world, (culex_worker_options){0}, &type);
    world_run(world);
    assert_int_equal(world->calls, 5);
    for (int i = 0; i < 5; i++) {
        int64_t off_ms = world->call_ms[i] - 60000 * i;
        assert_in_range(off_ms, 0, 10100);
        least_ms = off_ms < least_ms ? off_ms : least_ms;
        most_ms = off_ms > most_ms ? off_ms : most_ms;
    }
    assert_true(most_ms - least_ms > 1000);
}

/* Each run brings the next one, until ticks fail no more: that of the seventh is the tick's. */
static culex_outcome act_enqueue_the_next(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    if (n == 7)
        culex_worker_stop(world->worker);
    else {
        culex_job_type type = sweep_type();
        world_enqueue(world, &type, 1);
        world->tick_failures = world->calls < 6 ? UINT_MAX : 0;
    }
    return CULEX_DONE;
}

/* As on a full disk, where nothing new is taken: what the store holds goes on, the ends of runs and
 * their beats among it. The periodic run comes as soon as it can be had. */
static void test_ticks_that_fail_hold_up_no_steps(void **state)
{
    struct world *world = *state;
    culex_job_type type = sweep_type();
    world->act = act_enqueue_the_next;
    world->tick_failures = UINT_MAX;
    world_worker(world, (culex_worker_options){0}, &type);
    world_enqueue(world, &type, 1);
    world_run(world);
    for (int i = 1; i < 6; i++)
        assert_in_range(world->call_ms[i] - world->call_ms[i - 1], 0, 50);
    assert_int_equal(world->call_n[world->calls - 1], 7);
    assert_int_equal(world_log_count(world, "the store is in trouble"), 1);
    assert_int_equal(world_log_count(world, "the store is back"), 1);
}

/* A drain goes on until what is due has been asked for. */
static void test_drain_waits_for_a_tick_that_fails(void **state)
{
    struct world *world = *state;
    culex_job_type type = sweep_type();
    world->tick_failures = 5;
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 1);
}

/* And lets the tick after the second one be refused. */
static culex_outcome act_refuse_and_count_to_five(struct world *world, culex_run *run, int64_t n)
{
    if (world->calls == 2)
        world->tick_refusals = 2;
    return act_count_to_five(world, run, n);
}

/* A second apart, and told once for as long as it goes on. The first tick that is taken begins the
 * grid, and one that is taken late does not move it. */
static void test_refused_tick_is_sent_again_until_it_is_taken(void **state)
{
    static const int64_t taken_ms[] = {3000, 63000, 125000, 183000, 243000};
    struct world *world = *state;
    culex_job_type type = sweep_type();
    world->act = act_refuse_and_count_to_five;
    world->tick_refusals = 3;
    world_worker(world, (culex_worker_options){0}, &type);
    world_run(world);
    assert_int_equal(world->calls, 5);
    for (int i = 0; i < 5; i++)
        assert_about_ms(world->call_ms[i], taken_ms[i]);
    assert_int_equal(world_log_count(world, "the periodic run is due and was refused"), 2);
}

/* No later than the tick after. */
static void test_refused_tick_of_a_short_interval_is_sent_again_after_it(void **state)
{
    struct world *world = *state;
    culex_job_type type = sweep_type();
    type.schedule.every_ms = 200;
    world->act = act_count_to_five;
    world->tick_refusals = 1;
    world_worker(world, (culex_worker_options){0}, &type);
    world_run(world);
    assert_about_ms(world->call_ms[0], 200);
}

static void test_restarted_worker_does_not_tick_again(void **state)
{
    struct world *world = *state;
    culex_job_type type = sweep_type();
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 1);
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 1);
    world_pass(world, 200000); /* three missed ticks count once */
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 2);
}

/* --- by the calendar: the world begins at some second of an hour ----------------------------- */

enum { HOUR_MS = 3600000 };

static culex_job_type hourly_type(culex_missed missed)
{
    culex_job_type type = sweep_type();
    type.schedule = (culex_schedule){.cron = "0 * * * *", .zone = "UTC", .missed = missed};
    return type;
}

/* Until the next full hour. */
static int64_t hour_in_ms(const struct world *world)
{
    int64_t now_ms;
    assert_int_equal(world->store->ops->now(world->store, &now_ms, NULL), CULEX_OK);
    return HOUR_MS - now_ms % HOUR_MS;
}

static void test_job_by_the_calendar_runs_at_its_times(void **state)
{
    struct world *world = *state;
    culex_job_type type = hourly_type(CULEX_MISSED_ONCE);
    int64_t first_ms = hour_in_ms(world);
    world->act = act_count_to_five;
    world_worker(world, (culex_worker_options){0}, &type);
    world_run(world);
    assert_int_equal(world->calls, 5);
    for (int i = 0; i < 5; i++)
        assert_about_ms(world->call_ms[i], first_ms + HOUR_MS * i);
}

/* A new schedule has missed nothing; later, with nobody there, three ticks pass. */
static unsigned calls_after_three_missed(struct world *world, culex_missed missed)
{
    culex_job_type type = hourly_type(missed);
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 0);
    world_pass(world, 3 * HOUR_MS);
    world_worker(world, draining, &type);
    world_run(world);
    world_worker(world, draining, &type);
    world_run(world);
    return world->calls;
}

static void test_missed_ticks_have_one_run(void **state)
{
    assert_int_equal(calls_after_three_missed(*state, CULEX_MISSED_ONCE), 1);
}

static void test_missed_ticks_are_skipped(void **state)
{
    assert_int_equal(calls_after_three_missed(*state, CULEX_MISSED_SKIP), 0);
}

static void test_each_missed_tick_has_its_run(void **state)
{
    assert_int_equal(calls_after_three_missed(*state, CULEX_MISSED_ALL), 3);
}

static void test_zone_that_this_machine_lacks_is_told(void **state)
{
    struct world *world = *state;
    culex_job_type type = hourly_type(CULEX_MISSED_ONCE);
    culex_error error = {0};
    type.schedule.zone = "Middle/Earth";
    culex_worker *worker = world_worker(world, draining, &type);
    assert_int_equal(culex_worker_run(worker, &error), CULEX_ENOTFOUND);
    assert_non_null(strstr(error.text, "periodic job t.sweep: time zone 'Middle/Earth'"));
    culex_worker_free(worker);
}

static void test_retired_periodic_job_ticks_no_more(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type(), sweep = sweep_type();
    culex_queue_stats stats;
    culex_worker *worker = world_worker(world, draining, &type);
    assert_int_equal(culex_worker_retire(worker, &sweep), CULEX_OK);
    world_run(world);
    assert_int_equal(world->calls, 0);
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.enqueued, 0);
}

/* --- identity -------------------------------------------------------------------------- */

static culex_outcome act_take_name(struct world *world, culex_run *run, int64_t n)
{
    size_t released = 0;
    int64_t now_ms;
    (void)run;
    if (world->calls == 1)
        assert_int_equal(world->store->ops->hello(world->store, "numbers", "box-1",
                                                  "00000000deadbeef", &released, &now_ms, NULL),
                         CULEX_OK);
    if (world->calls == 3)
        culex_worker_stop(world->worker);
    (void)n;
    return CULEX_DONE;
}

/* A process named box-1 has claimed `held` of so many runs, and is gone. */
static void former_life_leave(struct world *world, const culex_job_type *type, int runs,
                              uint32_t held)
{
    size_t released;
    int64_t now_ms;
    struct culex_step_reply reply = {0};
    struct culex_step step = {.queue = "numbers",
                              .session = "00000000deadbeef",
                              .nonce = 1,
                              .want = held,
                              .max_bytes = 1000,
                              .lease_ms = 3600000};
    for (int i = 0; i < runs; i++)
        world_enqueue(world, type, i);
    assert_int_equal(world->store->ops->hello(world->store, "numbers", "box-1", step.session,
                                              &released, &now_ms, NULL),
                     CULEX_OK);
    assert_int_equal(world->store->ops->step(world->store, &step, &reply, NULL), CULEX_OK);
    assert_int_equal(reply.grant_count, held);
    world->store->ops->step_release(world->store, &reply);
}

static void test_same_name_gets_its_runs_back_at_once(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    former_life_leave(world, &type, 1, 1);
    world_worker(world, (culex_worker_options){.drain = true, .name = "box-1"}, &type);
    world_run(world);
    assert_int_equal(world->calls, 1);
    assert_true(world_ms(world) < 1000);
    assert_true(world_log_has(world, "1 runs of this worker's former life were given back"));
}

/* As many as the former life may have had in flight. */
enum {
    FORMER_CONCURRENCY = 2,
    FORMER_BATCH = 8,
    FORMER_HELD = FORMER_CONCURRENCY + 2 * FORMER_BATCH
};

/* The runs that were granted before the worker first asked for more than it has handlers. */
static size_t granted_before_ahead(const struct world *world)
{
    size_t granted = 0, at = 0;
    for (; at < world->step_count && world->steps[at].want <= FORMER_CONCURRENCY; at++)
        granted += world->steps[at].grant_count;
    assert_true(at < world->step_count); /* in the end it does, for runs are short */
    return granted;
}

static size_t careful_most;

static culex_outcome act_count_while_careful(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    (void)n;
    size_t runs = world->worker->flight_count + (world->ahead.is_out ? world->ahead.want : 0);
    if (world->worker->pace.careful_count > 0 && runs > careful_most)
        careful_most = runs;
    return CULEX_DONE;
}

static void work_as_box_1(struct world *world, unsigned batch)
{
    culex_job_type type = number_type();
    careful_most = 0;
    world->act = act_count_while_careful;
    former_life_leave(world, &type, 100, FORMER_HELD);
    world_worker(
        world,
        (culex_worker_options){
            .drain = true, .name = "box-1", .concurrency = FORMER_CONCURRENCY, .batch = batch},
        &type);
    world_run(world);
    assert_int_equal(world->calls, 100);
    assert_true(granted_before_ahead(world) >= FORMER_HELD);
    assert_in_range(careful_most, 1, FORMER_CONCURRENCY);
}

static void test_nothing_is_fetched_ahead_until_the_former_lifes_runs_have_ended(void **state)
{
    struct world *world = *state;
    work_as_box_1(world, FORMER_BATCH);
    assert_true(world_log_has(world, "18 runs of this worker's former life were given back"));
    assert_false(world_log_has(world, "was lost"));
}

static void test_nothing_is_fetched_ahead_by_time_either(void **state)
{
    work_as_box_1(*state, 0);
}

/* The repeat counts what it takes back itself: nothing. */
static void test_lost_answer_to_hello_leaves_the_worker_careful(void **state)
{
    struct world *world = *state;
    world->hello_losses = 2;
    work_as_box_1(world, FORMER_BATCH);
    assert_int_equal(world_log_count(world, "queue numbers: an answer to HELLO was lost"), 1);
}

/* Both alive, as when two machines start with one configuration. */
static void test_worker_whose_name_is_taken_goes_on_under_another(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = 0;
    world_worker(world, (culex_worker_options){.name = "box-1"}, &type);
    world->act = act_take_name;
    culex_uuid first = world_enqueue(world, &type, 1), second = world_enqueue(world, &type, 2);
    world_run(world);
    assert_int_equal(world->calls, 3); /* the first one twice */
    assert_int_equal(world_state(world, first), CULEX_RUN_DONE);
    assert_int_equal(world_state(world, second), CULEX_RUN_DONE);
    assert_int_equal(world_log_count(world, "error another worker has started under the name box-1 "
                                            "and was given the runs that this one held; this one "
                                            "goes on as box-1-"),
                     1);
    assert_true(world_log_has(world, "result refused"));
}

static void take_name_in_an_outage(struct world *world)
{
    size_t released = 0;
    int64_t now_ms;
    assert_int_equal(world->store->ops->hello(world->store, "numbers", "box-1", "00000000deadbeef",
                                              &released, &now_ms, NULL),
                     CULEX_OK);
    assert_int_equal(released, 1);
    world->fault_until_ns = world->now_ns + INT64_C(1500000000);
}

static culex_outcome act_take_1500_ms_at_first(struct world *world, culex_run *run, int64_t n)
{
    (void)run;
    (void)n;
    world->hang_ms = world->calls == 1 ? 1500 : 0;
    return CULEX_DONE;
}

/* The run ends while its beat is refused. By the time the store tells that the name is taken, its
 * end waits for the next step, which would be of another session. */
static void test_end_that_waited_while_the_name_was_taken_is_dropped(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 1);
    world->act = act_take_1500_ms_at_first;
    world->then = take_name_in_an_outage;
    world->then_ms = 500;
    world_worker(world, (culex_worker_options){.name = "box-1", .drain = true}, &type);
    culex__worker_set_executor(world->worker, executor_killing_create);
    world_run(world);
    size_t acks = 0;
    for (size_t i = 0; i < world->step_count; i++)
        acks += world->steps[i].fault == WORLD_OK ? world->steps[i].ack_count : 0;
    assert_int_equal(world->calls, 2);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
    assert_int_equal(acks, 1);
    assert_int_equal(
        world_log_count(world, "lease lost; the result came too late and is discarded"), 1);
    assert_false(world_log_has(world, "result refused"));
}

static void test_expired_runs_are_told_once_a_minute(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.expires_ms = 1000;
    for (int i = 0; i < 300; i++)
        world_enqueue(world, &type, i);
    world_pass(world, 2000);
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world->calls, 0);
    assert_int_equal(world_log_count(world, "warn  queue numbers: "), 1);
    assert_true(world_log_has(world, "runs expired before a worker came for them and are dead"));
    assert_true(world_log_has(world, "(0 dead), 0 cancelled, 300 expired, "));
}

static void test_memory_limit_without_processes_is_said_to_be_ignored(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.memory_bytes = 1 << 20;
    static const char text[] = "the memory limit of job t.number is not enforced";
    world_worker(world, (culex_worker_options){.drain = true}, &type);
    world_run(world);
    assert_int_equal(world_log_count(world, text), 0);
    world_worker(world, (culex_worker_options){.drain = true, .isolation = CULEX_ISOLATION_NONE},
                 &type);
    world_run(world);
    assert_int_equal(world_log_count(world, text), 1);
}

static void test_memory_limit_of_each_process_alone_is_told_once(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    static const char text[] = "bounds each process of a run by itself; --cgroup DIR bounds them";
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world_log_count(world, text), 0);
    type.memory_bytes = 1 << 20;
    world_worker(world, (culex_worker_options){.drain = true, .cgroup = "/some/group"}, &type);
    world_run(world);
    assert_int_equal(world_log_count(world, text), 0);
    world_worker(world, draining, &type);
    world_run(world);
    assert_int_equal(world_log_count(world, text), 1);
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(test_snooze_ends_where_delays_do),
        UNIT(test_done_run_is_recorded_once),
        UNIT(test_default_policy_tries_at_0_2_10_28_60_s),
        UNIT(test_run_with_an_endless_job_name_is_dead),
        UNIT(test_granted_payload_over_the_limit_is_never_dispatched),
        UNIT(test_discard_is_dead_at_once),
        UNIT(test_snooze_comes_back_uncharged),
        UNIT(test_snooze_without_a_delay_pauses_all_the_same),
        UNIT(test_deadline_of_retries_ends_them_before_their_number),
        UNIT(test_snoozed_run_does_not_expire),
        UNIT(test_snooze_too_short_to_be_meant_fails),
        UNIT(test_strange_outcome_is_a_failure),
        UNIT(test_result_is_kept),
        UNIT(test_result_is_of_the_job),
        UNIT(test_large_result_is_refused_as_a_result),
        UNIT(test_empty_text_is_no_reason),
        UNIT(test_unknown_job_is_given_back_uncharged),
        UNIT(test_unknown_job_waits_longer_each_time),
        UNIT(test_unknown_job_expires),
        UNIT(test_unknown_job_is_told_once_a_minute),
        UNIT(test_unknown_jobs_of_many_names_are_told_together),
        UNIT(test_undecodable_payload_is_dead_with_its_bytes),
        UNIT(test_payload_of_a_newer_schema_is_given_back),
        UNIT(test_whatever_another_schema_wrote_is_given_back),
        UNIT(test_runs_of_a_retired_job_end_dead_and_say_so),
        UNIT(test_result_after_the_timeout_is_a_failure),
        UNIT(test_result_in_time_is_no_timeout),
        UNIT(test_lost_reply_is_repeated_with_the_same_nonce),
        UNIT(test_lost_answer_to_an_ack_is_asked_for_again),
        UNIT(test_run_granted_after_an_outage_has_all_of_its_time),
        UNIT(test_lease_counts_from_the_first_try_that_may_have_been_applied),
        UNIT(test_lost_store_is_logged_once_a_minute_and_once_when_back),
        UNIT(test_store_in_trouble_is_tried_several_times_in_a_lease),
        UNIT(test_stop_gives_back_what_has_not_started),
        UNIT(test_worker_that_runs_is_not_set_up_any_more),
        UNIT(test_drain_waits_for_scheduled_runs),
        UNIT(test_drain_ends_when_only_unknown_jobs_are_left),
        UNIT(test_drain_ends_when_only_runs_that_cannot_be_read_are_left),
        UNIT(test_drain_ends_when_no_run_that_is_left_can_be_run_here),
        UNIT(test_drain_waits_for_a_run_beside_unknown_ones),
        UNIT(test_drain_waits_for_a_run_that_another_has_beside_unknown_ones),
        UNIT(test_drain_for_scheduled_runs_is_told_once_a_minute),
        UNIT(test_drain_lists_no_state_that_has_no_runs),
        UNIT(test_drain_for_a_run_of_soon_says_nothing),
        UNIT(test_drain_of_a_paused_queue_is_told_once_a_minute),
        UNIT(test_pause_for_a_time_ends_without_a_call),
        UNIT(test_drain_with_other_work_says_nothing_of_paused_queues),
        UNIT(test_queues_take_turns_at_the_handlers),
        UNIT(test_run_of_an_empty_queue_overtakes_the_backlog_of_another),
        UNIT(test_drain_of_an_empty_queue_ends_at_once),
        UNIT(test_queues_option_limits_the_worker),
        UNIT(test_queues_that_nothing_feeds_are_warned_of),
        UNIT(test_wrong_queues_alone_end_the_worker_before_they_are_made),
        UNIT(test_bulk_is_claimed_in_batches),
        UNIT(test_long_runs_are_not_prefetched),
        UNIT(test_idle_worker_hardly_calls),
        UNIT(test_idle_worker_forgets_what_is_due),
        UNIT(test_run_of_a_killed_worker_is_taken_over_within_lease_and_a_second),
        UNIT(test_store_without_wake_up_is_asked_at_idle_wait),
        UNIT(test_periodic_job_runs_at_once_and_then_every_interval),
        UNIT(test_run_out_of_turn_is_unique_and_counted_as_one_in_turn),
        UNIT(test_runs_out_of_turn_of_one_ms_are_two),
        UNIT(test_run_out_of_turn_whose_key_is_taken_is_told_which_and_why),
        UNIT(test_run_out_of_turn_beside_a_live_one_is_told_which_and_why),
        UNIT(test_jitter_puts_each_run_off),
        UNIT(test_ticks_that_fail_hold_up_no_steps),
        UNIT(test_drain_waits_for_a_tick_that_fails),
        UNIT(test_refused_tick_is_sent_again_until_it_is_taken),
        UNIT(test_refused_tick_of_a_short_interval_is_sent_again_after_it),
        UNIT(test_restarted_worker_does_not_tick_again),
        UNIT(test_job_by_the_calendar_runs_at_its_times),
        UNIT(test_missed_ticks_have_one_run),
        UNIT(test_missed_ticks_are_skipped),
        UNIT(test_each_missed_tick_has_its_run),
        UNIT(test_zone_that_this_machine_lacks_is_told),
        UNIT(test_retired_periodic_job_ticks_no_more),
        UNIT(test_same_name_gets_its_runs_back_at_once),
        UNIT(test_nothing_is_fetched_ahead_until_the_former_lifes_runs_have_ended),
        UNIT(test_nothing_is_fetched_ahead_by_time_either),
        UNIT(test_lost_answer_to_hello_leaves_the_worker_careful),
        UNIT(test_worker_whose_name_is_taken_goes_on_under_another),
        UNIT(test_end_that_waited_while_the_name_was_taken_is_dropped),
        UNIT(test_expired_runs_are_told_once_a_minute),
        UNIT(test_memory_limit_without_processes_is_said_to_be_ignored),
        UNIT(test_memory_limit_of_each_process_alone_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
