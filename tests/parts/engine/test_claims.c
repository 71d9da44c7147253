/* Runs that are claimed for others: what is handed over, what a token does, and what becomes of
 * runs whose holder is silent. In the driven world; the storm of test_claims_storm.c is on real
 * stores. */
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <culex/claims.h>
#include <culex/lines.h>
#include <culex/schema.h>

#include "base/error.h"
#include "client/claim_rest.h"
#include "failing_malloc.h"
#include "world.h"

static _Thread_local long countdown = -1; /* allocations until one fails; negative: none does */

bool malloc_fails(void)
{
    return countdown >= 0 && countdown-- == 0;
}

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

/* --- short words ----------------------------------------------------------------------------- */

static culex_uuid put(struct world *world, int64_t n)
{
    culex_job_type type = number_type();
    return world_enqueue(world, &type, n);
}

static culex_uuid put_text(struct world *world, const char *payload)
{
    const struct culex_new_run run = {.job = "t.number",
                                      .priority = 5,
                                      .attempts_max = 5,
                                      .keep_failure_ms = 86400000,
                                      .fingerprint = 1,
                                      .tags = "",
                                      .payload = payload,
                                      .payload_len = strlen(payload)};
    struct culex_enqueue_result result;
    assert_int_equal(
        world->store->ops->enqueue(world->store, "numbers", NULL, &run, 1, &result, NULL),
        CULEX_OK);
    return result.id;
}

/* NULL: there was none. Owned by the caller. */
static culex_claim *claim_by(struct world *world, const culex_claim_options *options)
{
    culex_claim *claim = NULL;
    culex_error error = {0};
    if (culex_client_claim(world->client, "numbers", options, &claim, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return claim;
}

static culex_claim *claim_run(struct world *world, culex_uuid id)
{
    culex_claim *claim = claim_by(world, NULL);
    assert_non_null(claim);
    assert_memory_equal(&claim->id, &id, sizeof id);
    return claim;
}

static void claim_none(struct world *world)
{
    assert_null(claim_by(world, NULL));
}

static void complete(struct world *world, const culex_claim *claim)
{
    culex_error error = {0};
    if (culex_claim_complete(world->client, claim->token, NULL, 0, &error) != CULEX_OK)
        fail_msg("%s", error.text);
}

static culex_claim_pulse beat(struct world *world, const culex_claim *claim, int64_t lease_ms)
{
    const culex_claim_beat beat = {.lease = culex_milliseconds(lease_ms)};
    culex_claim_pulse pulse = {0};
    culex_error error = {0};
    if (culex_claim_heartbeat(world->client, claim->token, &beat, &pulse, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return pulse;
}

/* Everything that the token may say is refused so. */
static void is_refused(struct world *world, const char *token, culex_status status)
{
    culex_claim_pulse pulse;
    culex_error error = {0};
    assert_int_equal(culex_claim_heartbeat(world->client, token, NULL, &pulse, &error), status);
    assert_int_equal(culex_claim_fail(world->client, token, NULL, &error), status);
    assert_int_equal(culex_claim_release(world->client, token, 0, &error), status);
    assert_int_equal(culex_claim_complete(world->client, token, "{\"n\":1}", 7, &error), status);
    assert_int_equal(error.code, status);
    assert_string_not_equal(error.text, "");
}

static void publish_in(struct culex_store *store, const culex_job_type *type)
{
    char *text = NULL;
    size_t len = 0;
    assert_int_equal(culex_schema_write(type, &text, &len, NULL), CULEX_OK);
    const struct culex_schema_text schema = {{type->wire, type->fingerprint, 1}, text, len};
    assert_int_equal(store->ops->schema_publish(store, type->queue, &schema, NULL), CULEX_OK);
    free(text);
}

static void publish(struct world *world, const culex_job_type *type)
{
    publish_in(world->store, type);
}

/* As number_type(), but what the number is nobody shall read. */
static culex_job_type secret_type(void)
{
    static culex_field field;
    static const culex_struct_type params = {"t.number", sizeof(struct number), &field, 1};
    culex_job_type type = number_type();
    field = number_struct.fields[0];
    field.flags |= CULEX_FIELD_SECRET;
    type.params = &params;
    return type;
}

/* What is kept of a progress' text. */
static void text_is_kept(struct world *world, const culex_claim *claim, const char *text,
                         const char *kept)
{
    const culex_claim_beat said = {.has_progress = true, .progress_text = text};
    culex_claim_pulse pulse;
    assert_int_equal(culex_claim_heartbeat(world->client, claim->token, &said, &pulse, NULL),
                     CULEX_OK);
    culex_run_info *run = world_get(world, claim->id);
    assert_string_equal(run->progress_text, kept);
    culex_run_info_free(run);
}

/* --- what is handed over --------------------------------------------------------------------- */

static void test_claim_is_the_run(void **state)
{
    struct world *world = *state;
    culex_uuid id = put(world, 7);
    culex_claim *claim = claim_run(world, id);
    assert_string_equal(claim->queue, "numbers");
    assert_string_equal(claim->job, "t.number");
    assert_int_equal(claim->fingerprint, 1);
    assert_int_equal(claim->attempt, 1);
    assert_int_equal(claim->attempts_max, 5);
    assert_int_equal(claim->failures + claim->crashes + claim->losses, 0);
    assert_string_equal((const char *)claim->payload.data, "{\"n\":7}");
    assert_int_equal(claim->payload.len, 7);
    assert_int_equal(claim->lease_ends_ms, claim->claimed_ms + 30000);
    assert_int_equal(claim->times_out_ms, 0);
    assert_true(strlen(claim->token) < CULEX_CLAIM_TOKEN_SIZE);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->state, CULEX_RUN_ACTIVE);
    assert_in_range(run->at_ms, claim->lease_ends_ms, claim->lease_ends_ms + 1);
    culex_run_info_free(run);
    claim_none(world);
    culex_claim_free(claim);
}

static void test_queue_without_runs_gives_none(void **state)
{
    struct world *world = *state;
    culex_claim *claim = (culex_claim *)world;
    culex_error error = {0};
    assert_int_equal(culex_client_claim(world->client, "nobodys", NULL, &claim, &error), CULEX_OK);
    assert_null(claim);
}

static void test_result_is_kept_and_may_be_said_twice(void **state)
{
    struct world *world = *state;
    culex_uuid id = put(world, 7);
    culex_claim *claim = claim_run(world, id);
    for (int i = 0; i < 2; i++)
        assert_int_equal(culex_claim_complete(world->client, claim->token, "{\"n\":9}", 7, NULL),
                         CULEX_OK);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->state, CULEX_RUN_DONE);
    assert_int_equal(run->result.len, 7);
    assert_memory_equal(run->result.data, "{\"n\":9}", 7);
    culex_run_info_free(run);
    assert_int_equal(culex_claim_fail(world->client, claim->token, NULL, NULL), CULEX_ECONFLICT);
    culex_claim_free(claim);
}

static void test_completion_of_a_forgotten_run_is_told_so(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.keep_success_ms = 0;
    culex_claim *claim = claim_run(world, world_enqueue(world, &type, 7));
    complete(world, claim);
    is_refused(world, claim->token, CULEX_ENOTFOUND);
    culex_claim_free(claim);
}

static void test_params_are_read_by_the_schema(void **state)
{
    struct world *world = *state;
    static const int64_t five = 5;
    struct pair {
        int64_t n, m;
    };
    culex_field fields[2] = {number_struct.fields[0], number_struct.fields[0]};
    const culex_struct_type params = {"t.number", sizeof(struct pair), fields, 2};
    culex_job_type type = number_type();
    char *text = NULL;
    size_t len = 0;
    fields[0].name = fields[0].wire = "m";
    fields[0].flags = 0;
    fields[0].offset = offsetof(struct pair, m);
    fields[0].def = &five;
    type.params = &params;
    culex_claim *claim = claim_run(world, put(world, 7));
    assert_int_equal(culex_claim_params(world->client, claim, &text, &len, NULL), CULEX_ENOTFOUND);
    assert_null(text);
    publish(world, &type);
    assert_int_equal(culex_claim_params(world->client, claim, &text, &len, NULL), CULEX_OK);
    assert_string_equal(text, "{\"m\":5,\"n\":7}");
    assert_int_equal(len, strlen(text));
    free(text);
    complete(world, claim);
    culex_claim_free(claim);
    claim = claim_run(world, put_text(world, "{\"n\":\"seven\"}"));
    assert_int_equal(culex_claim_params(world->client, claim, &text, &len, NULL), CULEX_EDECODE);
    culex_claim_free(claim);
}

/* --- leases ---------------------------------------------------------------------------------- */

static void test_silent_holder_is_charged_a_loss_and_fenced(void **state)
{
    struct world *world = *state;
    culex_uuid id = put(world, 7);
    culex_claim *first = claim_run(world, id);
    world_pass(world, 29000);
    claim_none(world);
    world_pass(world, 2000);
    culex_claim *second = claim_run(world, id);
    assert_int_equal(second->attempt, 2);
    assert_int_equal(second->losses, 1);
    is_refused(world, first->token, CULEX_ESTALE);
    assert_int_equal(world_state(world, id), CULEX_RUN_ACTIVE);
    complete(world, second);
    is_refused(world, first->token, CULEX_ESTALE);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
    culex_claim_free(first);
    culex_claim_free(second);
}

static void test_heartbeats_keep_the_lease_and_tell_progress(void **state)
{
    struct world *world = *state;
    culex_uuid id = put(world, 7);
    culex_claim *claim = claim_run(world, id);
    culex_claim_pulse pulse = {0};
    for (int i = 0; i < 10; i++) {
        world_pass(world, 20000);
        pulse = beat(world, claim, 30000);
        assert_int_equal(pulse.order, CULEX_CLAIM_GO_ON);
        claim_none(world);
    }
    assert_in_range(pulse.lease_ends_ms, claim->claimed_ms + 230000, claim->claimed_ms + 230010);
    const culex_claim_beat said = {
        .has_progress = true, .progress = 40, .progress_text = "half\x01way"};
    assert_int_equal(culex_claim_heartbeat(world->client, claim->token, &said, &pulse, NULL),
                     CULEX_OK);
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->progress, 40);
    assert_string_equal(run->progress_text, "half?way");
    culex_run_info_free(run);
    complete(world, claim);
    culex_claim_free(claim);
}

/* One that only tells how far it is does not take of the time that was asked for. */
static void test_heartbeat_without_a_lease_has_that_of_the_claim(void **state)
{
    struct world *world = *state;
    put(world, 1);
    culex_claim *claim = claim_by(world, &(culex_claim_options){.lease = culex_minutes(5)});
    assert_non_null(claim);
    world_pass(world, 1000);
    assert_int_equal(beat(world, claim, 0).lease_ends_ms, claim->claimed_ms + 1000 + 300000);
    assert_int_equal(beat(world, claim, 2000).lease_ends_ms, claim->claimed_ms + 1000 + 2000);
    assert_int_equal(beat(world, claim, 0).lease_ends_ms, claim->claimed_ms + 1000 + 300000);
    culex_claim_free(claim);
}

static void test_cancel_is_told_by_the_heartbeat(void **state)
{
    struct world *world = *state;
    culex_uuid id = put(world, 7);
    culex_claim *claim = claim_run(world, id);
    assert_int_equal(culex_client_cancel(world->client, "numbers", id, NULL, NULL), CULEX_OK);
    assert_int_equal(beat(world, claim, 30000).order, CULEX_CLAIM_CANCEL);
    assert_int_equal(culex_claim_release(world->client, claim->token, 0, NULL), CULEX_OK);
    assert_int_equal(world_state(world, id), CULEX_RUN_CANCELLED);
    culex_claim_free(claim);
}

static void test_timeout_ends_the_lease(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    type.timeout_ms = 60000;
    culex_uuid id = world_enqueue(world, &type, 7);
    culex_claim *claim = claim_run(world, id);
    assert_int_equal(claim->times_out_ms, claim->claimed_ms + 60000);
    world_pass(world, 25000);
    assert_int_equal(beat(world, claim, 30000).order, CULEX_CLAIM_GO_ON);
    world_pass(world, 25000);
    culex_claim_pulse pulse = beat(world, claim, 30000);
    assert_int_equal(pulse.order, CULEX_CLAIM_GO_ON);
    assert_int_equal(pulse.lease_ends_ms, claim->claimed_ms + 65000);
    world_pass(world, 12000);
    assert_int_equal(beat(world, claim, 30000).order, CULEX_CLAIM_TIME_OUT);
    world_pass(world, 4000);
    culex_claim *next = claim_run(world, id);
    assert_int_equal(next->losses, 1);
    is_refused(world, claim->token, CULEX_ESTALE);
    culex_claim_free(claim);
    culex_claim_free(next);
}

/* --- ends ------------------------------------------------------------------------------------ */

static int64_t retry_in_ms(struct world *world, culex_uuid id)
{
    culex_run_info *run = world_get(world, id);
    int64_t now_ms = 0, at_ms = run->at_ms;
    assert_int_equal(run->state, CULEX_RUN_SCHEDULED);
    assert_int_equal(world->store->ops->now(world->store, &now_ms, NULL), CULEX_OK);
    culex_run_info_free(run);
    return at_ms - now_ms;
}

static void fail_claim(struct world *world, culex_uuid id, const culex_claim_failure *failure)
{
    culex_claim *claim = claim_run(world, id);
    culex_error error = {0};
    if (culex_claim_fail(world->client, claim->token, failure, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    culex_claim_free(claim);
}

static void test_what_claims_failed_by_stays_with_the_run(void **state)
{
    struct world *world = *state;
    culex_uuid id = put(world, 1);
    culex_run_lines *lines = NULL;
    fail_claim(world, id, &(culex_claim_failure){.text = "no\nroute", .has_delay = true});
    world_pass(world, 1);
    fail_claim(world, id, &(culex_claim_failure){.text = "no use", .is_final = true});
    assert_int_equal(culex_client_run_log(world->client, "numbers", id, &lines, NULL), CULEX_OK);
    assert_int_equal(lines->count, 2);
    assert_string_equal(lines->items[0].text, "failed: no route");
    assert_int_equal(lines->items[0].attempt, 1);
    assert_string_equal(lines->items[1].text, "failed: no use");
    assert_int_equal(lines->items[1].level, CULEX_LOG_ERROR);
    culex_run_lines_free(lines);
}

static void test_failures_wait_as_the_schema_says(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid plain = world_enqueue(world, &type, 1);
    fail_claim(world, plain, NULL);
    assert_int_equal(retry_in_ms(world, plain), 2000);
    world_pass(world, 2001);
    fail_claim(world, plain, &(culex_claim_failure){.text = "again"});
    assert_int_equal(retry_in_ms(world, plain), 8000);
    culex_run_info *run = world_get(world, plain);
    assert_string_equal(run->error_text, "again");
    assert_int_equal(run->failures, 2);
    culex_run_info_free(run);
    type.fingerprint = 5;
    type.retry = (culex_retry_policy){.max = 1, .backoff = CULEX_BACKOFF_CONSTANT, .base_ms = 3000};
    publish(world, &type);
    culex_uuid own = world_enqueue(world, &type, 2);
    fail_claim(world, own, NULL);
    assert_int_equal(retry_in_ms(world, own), 3000);
    world_pass(world, 3001);
    fail_claim(world, own, &(culex_claim_failure){.text = "for the last time"});
    assert_int_equal(world_state(world, own), CULEX_RUN_DEAD);
}

static void test_failure_may_name_its_delay_or_be_final(void **state)
{
    struct world *world = *state;
    culex_uuid id = put(world, 1);
    fail_claim(world, id, &(culex_claim_failure){.has_delay = true, .delay = culex_seconds(77)});
    assert_int_equal(retry_in_ms(world, id), 77000);
    world_pass(world, 77001);
    fail_claim(world, id, &(culex_claim_failure){.text = "no use", .is_final = true});
    culex_run_info *run = world_get(world, id);
    assert_int_equal(run->state, CULEX_RUN_DEAD);
    assert_string_equal(run->error_text, "no use");
    culex_run_info_free(run);
}

static void test_release_charges_nothing(void **state)
{
    struct world *world = *state;
    culex_uuid id = put(world, 1);
    put(world, 2);
    culex_claim *claim = claim_run(world, id);
    assert_int_equal(culex_claim_release(world->client, claim->token, 0, NULL), CULEX_OK);
    culex_claim_free(claim);
    claim = claim_run(world, id); /* it is in front */
    assert_int_equal(claim->failures + claim->crashes + claim->losses, 0);
    assert_int_equal(culex_claim_release(world->client, claim->token, culex_seconds(9), NULL),
                     CULEX_OK);
    assert_int_equal(retry_in_ms(world, id), 9000);
    culex_claim_free(claim);
}

static void test_result_must_be_one_of_the_job(void **state)
{
    struct world *world = *state;
    static const char *const bad[] = {
        "", "7", "{", "{\"m\":1}", "{\"n\":1,\"m\":1}", "{\"n\":\"x\"}"};
    culex_job_type type = number_type();
    culex_error error = {0};
    type.result = &number_struct;
    culex_uuid id = world_enqueue(world, &type, 1);
    publish(world, &type);
    culex_claim *claim = claim_run(world, id);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(
            culex_claim_complete(world->client, claim->token, bad[i], strlen(bad[i]), &error),
            CULEX_EDECODE);
    assert_string_equal(error.field, "n");
    assert_int_equal(world_state(world, id), CULEX_RUN_ACTIVE);
    assert_int_equal(culex_claim_complete(world->client, claim->token, "{\"n\":1}", 7, &error),
                     CULEX_OK);
    culex_claim_free(claim);
    type.result = NULL;
    type.fingerprint = 6;
    publish(world, &type);
    claim = claim_run(world, world_enqueue(world, &type, 1));
    assert_int_equal(culex_claim_complete(world->client, claim->token, "{\"n\":1}", 7, &error),
                     CULEX_EINVAL);
    complete(world, claim);
    culex_claim_free(claim);
}

static void test_encrypted_result_is_a_workers(void **state)
{
    struct world *world = *state;
    culex_field field = number_struct.fields[0];
    field.flags |= CULEX_FIELD_ENCRYPTED;
    const culex_struct_type sealed = {"t.number", sizeof(struct number), &field, 1};
    culex_job_type type = number_type();
    type.result = &sealed;
    culex_uuid id = put(world, 1);
    publish(world, &type);
    culex_claim *claim = claim_run(world, id);
    assert_int_equal(culex_claim_complete(world->client, claim->token, "{\"n\":1}", 7, NULL),
                     CULEX_EUNSUPPORTED);
    culex_claim_free(claim);
}

/* --- secrets --------------------------------------------------------------------------------- */

static void test_secrets_are_those_of_the_run(void **state)
{
    enum { RUNS = 3 * CULEX_CLAIM_SECRETS / 2 }; /* some share a place */
    struct world *world = *state;
    culex_job_type type = secret_type();
    culex_claim *claims[RUNS];
    char text[40];
    world_enqueue(world, &type, 0);
    publish(world, &type);
    culex_claim_free(claim_by(world, NULL));
    for (int64_t i = 0; i < RUNS; i++)
        claims[i] = claim_run(world, world_enqueue(world, &type, 1000000 + i));
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < RUNS; i++) {
            snprintf(text, sizeof text, "%d of 999999", 1000000 + i);
            text_is_kept(world, claims[i], text, "[secret] of 999999");
        }
    }
    for (int i = 0; i < RUNS; i++) {
        complete(world, claims[i]);
        culex_claim_free(claims[i]);
    }
    for (int i = 0; i < CULEX_CLAIM_SECRETS; i++)
        assert_null(world->client->claiming.secrets[i]);
}

static void test_schema_that_comes_later_is_asked_for_again(void **state)
{
    struct world *world = *state;
    culex_job_type type = secret_type();
    culex_claim *claim = claim_run(world, world_enqueue(world, &type, 1234567));
    text_is_kept(world, claim, "it is 1234567", "it is 1234567");
    publish(world, &type);
    text_is_kept(world, claim, "now 1234567", "now 1234567");
    world_pass(world, 10001);
    text_is_kept(world, claim, "then 1234567", "then [secret]");
    complete(world, claim);
    culex_claim_free(claim);
}

/* Nobody knows what is secret in it, so any text may show it. */
static void test_run_that_its_schema_does_not_read_has_no_texts(void **state)
{
    struct world *world = *state;
    culex_job_type type = secret_type();
    culex_claim *claim = claim_run(world, put_text(world, "{\"n\":\"seven\"}"));
    publish(world, &type);
    text_is_kept(world, claim, "it is seven", "[secret]");
    complete(world, claim);
    culex_claim_free(claim);
}

/* --- whose turn it is ------------------------------------------------------------------------ */

static void test_pause_priority_and_time_are_kept(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_uuid plain = world_enqueue(world, &type, 1);
    type.priority = 9;
    culex_uuid urgent = world_enqueue(world, &type, 2);
    assert_int_equal(culex_client_pause(world->client, "numbers", NULL), CULEX_OK);
    claim_none(world);
    assert_int_equal(culex_client_resume(world->client, "numbers", NULL), CULEX_OK);
    culex_claim *claim = claim_run(world, urgent);
    complete(world, claim);
    culex_claim_free(claim);
    claim = claim_run(world, plain);
    complete(world, claim);
    culex_claim_free(claim);
    culex_enqueue_options later = culex_enqueue_options_make();
    struct number params = {3};
    culex_uuid id;
    later.has_delay = true;
    later.delay = culex_seconds(5);
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &later, &id, NULL),
                     CULEX_OK);
    claim_none(world);
    claim = claim_by(world, &(culex_claim_options){.wait = culex_seconds(3)});
    assert_null(claim);
    int64_t begin_ms = world_ms(world);
    claim = claim_by(world, &(culex_claim_options){.wait = culex_seconds(60)});
    assert_non_null(claim);
    assert_in_range(world_ms(world) - begin_ms, 1500, 2200);
    culex_claim_free(claim);
}

static void test_limits_and_needs_are_kept(void **state)
{
    struct world *world = *state;
    const culex_limit one = {.kind = CULEX_LIMIT_CONCURRENCY, .name = "t.number:one", .count = 1};
    const culex_need gpu = {"gpu", 1};
    culex_job_type type = number_type();
    type.limits = &one;
    type.limit_count = 1;
    culex_uuid first = world_enqueue(world, &type, 1), second = world_enqueue(world, &type, 2);
    culex_claim *claim = claim_run(world, first);
    claim_none(world);
    complete(world, claim);
    culex_claim_free(claim);
    claim = claim_run(world, second);
    culex_claim_free(claim);
    type = number_type();
    type.needs = &gpu;
    type.need_count = 1;
    culex_uuid needy = world_enqueue(world, &type, 3);
    claim_none(world);
    claim = claim_by(world, &(culex_claim_options){.offers = "gpu:1"});
    assert_non_null(claim);
    assert_memory_equal(&claim->id, &needy, sizeof needy);
    culex_claim_free(claim);
}

static void test_other_jobs_go_back_for_a_second(void **state)
{
    struct world *world = *state;
    const char *const jobs[] = {"t.other", "t.third"};
    const culex_claim_options options = {.jobs = jobs, .job_count = 2};
    culex_job_type other = number_type();
    other.name = other.wire = "t.other";
    culex_uuid first = put(world, 1), second = put(world, 2);
    culex_uuid wanted = world_enqueue(world, &other, 3);
    culex_claim *claim = claim_by(world, &options);
    assert_non_null(claim);
    assert_memory_equal(&claim->id, &wanted, sizeof wanted);
    int64_t wait_ms = retry_in_ms(world, first);
    assert_in_range(wait_ms, 990, 1100);
    assert_in_range(retry_in_ms(world, second), wait_ms, wait_ms + 1);
    culex_run_info *run = world_get(world, first);
    assert_int_equal(run->failures + run->crashes + run->losses, 0);
    assert_string_equal(run->error_text, "a claim wanted other jobs");
    culex_run_info_free(run);
    culex_claim_free(claim);
    assert_null(claim_by(world, &options));
}

/* However often one who does not want them has had them. */
static void test_other_jobs_are_found_by_their_workers_in_their_order(void **state)
{
    enum { RUNS = 100 };
    struct world *world = *state;
    const char *const jobs[] = {"t.other"};
    const culex_claim_options options = {.jobs = jobs, .job_count = 1};
    culex_uuid ids[RUNS];
    for (int i = 0; i < RUNS; i++)
        ids[i] = put(world, i);
    for (int i = 0; i < 100; i++) {
        assert_null(claim_by(world, &options));
        world_pass(world, 300);
    }
    world_pass(world, 1100);
    for (int i = 0; i < RUNS; i++) {
        culex_claim *claim = claim_run(world, ids[i]);
        assert_int_equal(claim->failures + claim->crashes + claim->losses, 0);
        assert_true(claim->attempt > 5);
        culex_claim_free(claim);
    }
}

static void test_steps_of_chains_and_damaged_runs_are_not_handed_over(void **state)
{
    struct world *world = *state;
    culex_uuid step = put_text(world, "{\"n\":1,\"!culex.chain\":[\"t.other\"]}");
    culex_uuid broken = put_text(world, "{\"n\":");
    culex_uuid named = put_text(world, "{\"n\":1,\"s\":\"\\\"!culex.chain\\\":\"}");
    culex_claim *claim = claim_run(world, named);
    culex_run_info *run = world_get(world, step);
    assert_int_equal(run->state, CULEX_RUN_SCHEDULED);
    assert_non_null(strstr(run->error_text, "chain"));
    culex_run_info_free(run);
    assert_int_equal(world_state(world, broken), CULEX_RUN_DEAD);
    culex_claim_free(claim);
}

/* --- tokens ---------------------------------------------------------------------------------- */

static void test_what_is_no_token_is_refused(void **state)
{
    struct world *world = *state;
#define ID "01a1ee57-0e80-7cd1-bfc4-00000000000b"
    static const char *const bad[] = {
        "",
        "c1",
        "c2." ID ".1.00000000000000aa.0.0.numbers",
        "c1.01a1ee57-0e80-7cd1-bfc4-00000000000.1.00000000000000aa.0.0.30000.numbers",
        "c1." ID ".0.00000000000000aa.0.0.30000.numbers",
        "c1." ID ".4294967296.00000000000000aa.0.0.30000.numbers",
        "c1." ID ".01.00000000000000aa.0.0.30000.numbers",
        "c1." ID ".1..0.0.30000.numbers",
        "c1." ID ".1.00000000000000ag.0.0.30000.numbers",
        "c1." ID ".1.00000000000000aa00000000000000aa0.0.0.30000.numbers",
        "c1." ID ".1.00000000000000aa.0.-1.30000.numbers",
        "c1." ID ".1.00000000000000aa.0.9999999999999999999.30000.numbers",
        "c1." ID ".1.00000000000000aa.0.0.30000.",
        "c1." ID ".1.00000000000000aa.0.0.199.numbers",
        "c1." ID ".1.00000000000000aa.0.0.86400001.numbers",
        "c1." ID ".1.00000000000000aa.0.0.numbers",
        "c1." ID ".1.00000000000000aa.0.0",
        "c1." ID ".1.00000000000000aa.0.0.30000.num bers",
        "c1." ID ".1.00000000000000aa.0.0.30000.numbers\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        is_refused(world, bad[i], CULEX_EINVAL);
    char longest[CULEX_CLAIM_TOKEN_SIZE + 1];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    is_refused(world, longest, CULEX_EINVAL);
    is_refused(world, "c1." ID ".1.00000000000000aa.0.0.30000.numbers", CULEX_ENOTFOUND);
    culex_claim *claim = claim_run(world, put(world, 1));
    char forged[CULEX_CLAIM_TOKEN_SIZE];
    strcpy(forged, claim->token);
    char *session = strstr(forged, ".1.") + 3;
    *session = *session == '0' ? '1' : '0';
    is_refused(world, forged, CULEX_ESTALE);
    complete(world, claim);
    culex_claim_free(claim);
}

static void test_options_out_of_bounds_are_refused(void **state)
{
    struct world *world = *state;
    const culex_claim_options bad[] = {
        {.lease = culex_milliseconds(199)},  {.lease = 15},     {.lease = -1},
        {.lease = 25 * CULEX_HOUR},          {.wait = -1},      {.wait = 20},
        {.wait = culex_minutes(61)},         {.offers = "gpu"}, {.job_count = 1},
        {.jobs = (const char *const[]){""}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        culex_claim *claim = NULL;
        assert_int_equal(culex_client_claim(world->client, "numbers", &bad[i], &claim, NULL),
                         CULEX_EINVAL);
        assert_null(claim);
    }
    culex_claim *claim = claim_run(world, put(world, 1));
    culex_claim_pulse pulse;
    const culex_claim_beat beats[] = {{.lease = 1},
                                      {.has_progress = true, .progress = 101},
                                      {.has_progress = true, .progress = -2}};
    for (size_t i = 0; i < sizeof beats / sizeof beats[0]; i++)
        assert_int_equal(
            culex_claim_heartbeat(world->client, claim->token, &beats[i], &pulse, NULL),
            CULEX_EINVAL);
    const culex_claim_failure failures[] = {{.has_delay = true, .delay = -1},
                                            {.has_delay = true, .delay = 30},
                                            {.is_final = true, .has_delay = true}};
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
        assert_int_equal(culex_claim_fail(world->client, claim->token, &failures[i], NULL),
                         CULEX_EINVAL);
    assert_int_equal(culex_claim_release(world->client, claim->token, -1, NULL), CULEX_EINVAL);
    complete(world, claim);
    culex_claim_free(claim);
}

/* Another gateway, whose clock is an hour ahead, speaks for all sessions of the first one. */
static void test_any_client_takes_a_token_whatever_its_clock(void **state)
{
    enum { CLAIMS = 80 };
    struct world *world = *state;
    culex_claim *claims[CLAIMS];
    culex_claim_pulse pulse;
    culex_client *other = NULL;
    assert_int_equal(culex__client_create(&world->base, 5000, &world->env, &other, NULL), CULEX_OK);
    other->clock.offset_ms += 3600000;
    for (int i = 0; i < 3 * CLAIMS; i++)
        put(world, i);
    for (int i = 0; i < CLAIMS; i++) {
        claims[i] = claim_by(world, NULL);
        assert_non_null(claims[i]);
        assert_int_equal(culex_claim_heartbeat(other, claims[i]->token, NULL, &pulse, NULL),
                         CULEX_OK);
    }
    for (int i = 0; i < CLAIMS; i++) {
        culex_claim *more = claim_by(world, NULL);
        assert_non_null(more); /* though its session is ahead */
        assert_int_equal(culex_claim_complete(other, more->token, NULL, 0, NULL), CULEX_OK);
        culex_claim_free(more);
        complete(world, claims[i]);
        culex_claim_free(claims[i]);
    }
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.done, 2 * CLAIMS);
    assert_int_equal(stats.stale, 0);
    culex_client_close(other);
}

static char meddled_session[CULEX_STORE_SESSION_MAX + 1];

/* Another program speaks for the same session. */
static void then_meddle(struct world *world)
{
    const struct culex_beat beat = {.id = {{7}}, .attempt = 1};
    const struct culex_step step = {.queue = "numbers",
                                    .session = meddled_session,
                                    .nonce = world->client->claiming.nonce + 1,
                                    .lease_ms = 1000,
                                    .beats = &beat,
                                    .beat_count = 1};
    struct culex_step_reply reply;
    assert_int_equal(world->store->ops->step(world->store, &step, &reply, NULL), CULEX_OK);
    world->store->ops->step_release(world->store, &reply);
}

/* The answer to what is said next is lost, and its repeat comes late. */
static void meddle(struct world *world, const culex_claim *claim)
{
    sscanf(strstr(claim->token, ".1.") + 3, "%16[0-9a-f]", meddled_session);
    world->fault = WORLD_LOSE_REPLY;
    world->fault_count = 1;
    world->then = then_meddle;
    world->then_ms = world_ms(world) + 1;
}

/* Nobody knows whose doing a refusal is; but that the run is done, as was said, can be seen. */
static void test_lost_answer_is_told_as_such_where_others_speak_meanwhile(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_claim *claim = claim_run(world, put(world, 1));
    meddle(world, claim);
    complete(world, claim);
    assert_null(world->then);
    culex_claim_free(claim);
    type.keep_success_ms = 0;
    claim = claim_run(world, world_enqueue(world, &type, 2));
    meddle(world, claim);
    assert_int_equal(culex_claim_complete(world->client, claim->token, NULL, 0, NULL),
                     CULEX_EUNKNOWN);
    culex_claim_free(claim);
    claim = claim_run(world, put(world, 3));
    meddle(world, claim);
    assert_int_equal(culex_claim_release(world->client, claim->token, 0, NULL), CULEX_EUNKNOWN);
    culex_claim_free(claim);
}

/* --- many who wait --------------------------------------------------------------------------- */

enum { WAITERS = 20 };

static struct {
    const struct culex_store_ops *inner;
    struct culex_store_ops ops;
    atomic_uint steps, looks, schemas;
    culex_status look_status; /* of looks */
} sight;

static culex_status seen_step(struct culex_store *store, const struct culex_step *step,
                              struct culex_step_reply *ret_reply, culex_error *error)
{
    sight.steps++;
    return sight.inner->step(store, step, ret_reply, error);
}

static culex_status seen_get(struct culex_store *store, const char *queue, culex_uuid id,
                             culex_run_info **ret_run, culex_error *error)
{
    sight.looks++;
    if (sight.look_status != CULEX_OK)
        return culex__fail(error, sight.look_status, "not now");
    return sight.inner->get(store, queue, id, ret_run, error);
}

static culex_status seen_schema_text(struct culex_store *store, const char *queue,
                                     const struct culex_schema_id *schema, culex_buf *ret_text,
                                     culex_error *error)
{
    sight.schemas++;
    return sight.inner->schema_text(store, queue, schema, ret_text, error);
}

static culex_client *seen_client(void)
{
    culex_client *client = NULL;
    assert_int_equal(culex_client_open("memory:", NULL, &client, NULL), CULEX_OK);
    sight.inner = client->store->ops;
    sight.ops = *client->store->ops;
    sight.ops.step = seen_step;
    sight.ops.get = seen_get;
    sight.ops.schema_text = seen_schema_text;
    sight.steps = sight.looks = sight.schemas = 0;
    sight.look_status = CULEX_OK;
    client->store->ops = &sight.ops;
    return client;
}

struct waiter {
    pthread_t thread;
    culex_client *client;
    const char *queue;
    culex_duration wait;
    culex_claim *claim;
    culex_status status;
};

static void *waiter_live(void *user)
{
    struct waiter *waiter = user;
    const culex_claim_options options = {.wait = waiter->wait};
    waiter->status =
        culex_client_claim(waiter->client, waiter->queue, &options, &waiter->claim, NULL);
    return NULL;
}

static void waiters_begin(culex_client *client, culex_duration wait, struct waiter *waiters)
{
    for (size_t i = 0; i < WAITERS; i++) {
        waiters[i] = (struct waiter){.client = client, .wait = wait};
        waiters[i].queue = i % 2 == 0 ? "numbers" : "others";
        assert_int_equal(pthread_create(&waiters[i].thread, NULL, waiter_live, &waiters[i]), 0);
    }
}

static size_t waiters_end(struct waiter *waiters)
{
    size_t claims = 0;
    for (size_t i = 0; i < WAITERS; i++) {
        assert_int_equal(pthread_join(waiters[i].thread, NULL), 0);
        assert_int_equal(waiters[i].status, CULEX_OK);
        claims += waiters[i].claim != NULL;
        culex_claim_free(waiters[i].claim);
    }
    return claims;
}

/* The store is asked once by each, and then as by one for each queue. */
static void test_those_who_wait_look_for_each_other(void **state)
{
    struct waiter waiters[WAITERS];
    (void)state;
    culex_client *client = seen_client();
    waiters_begin(client, culex_seconds(1), waiters);
    assert_int_equal(waiters_end(waiters), 0);
    assert_in_range(sight.steps, WAITERS, WAITERS + 2 * 12);
    culex_client_close(client);
}

/* Of two who wake at the same times one alone would look for ever, and leave the runs of the other.
 */
static void test_those_who_want_other_runs_look_for_themselves(void **state)
{
    const char *const jobs[] = {"t.one", "t.two"};
    const culex_claim_options options[] = {{.jobs = jobs, .job_count = 1},
                                           {.jobs = jobs, .job_count = 2},
                                           {.jobs = jobs + 1, .job_count = 1},
                                           {.offers = "gpu:1"},
                                           {.offers = NULL}};
    struct world *world = *state;
    for (size_t i = 0; i < 2 * sizeof options / sizeof options[0]; i++) {
        bool is_first = i < sizeof options / sizeof options[0];
        const culex_claim_options *wanted = &options[i % (sizeof options / sizeof options[0])];
        assert_int_equal(culex__claim_may_look(world->client, "numbers", wanted), is_first);
    }
    world_pass(world, CULEX_CLAIM_REST_MS);
    assert_true(culex__claim_may_look(world->client, "numbers", &options[0]));
}

static void test_each_who_waits_is_given_a_run(void **state)
{
    struct waiter waiters[WAITERS];
    (void)state;
    culex_client *client = seen_client();
    culex_job_type type = number_type();
    waiters_begin(client, culex_minutes(1), waiters);
    for (int64_t i = 0; i < WAITERS; i++) {
        struct number params = {i};
        culex_enqueue_options options = culex_enqueue_options_make();
        options.queue = i % 2 == 0 ? "numbers" : "others";
        assert_int_equal(culex_client_enqueue(client, &type, &params, &options, NULL, NULL),
                         CULEX_OK);
    }
    assert_int_equal(waiters_end(waiters), WAITERS);
    culex_client_close(client);
}

/* Only who says it again has the run looked at. */
static void test_first_word_costs_one_step(void **state)
{
    (void)state;
    culex_client *client = seen_client();
    culex_job_type type = number_type();
    struct number params = {1};
    culex_claim *claim = NULL;
    assert_int_equal(culex_client_enqueue(client, &type, &params, NULL, NULL, NULL), CULEX_OK);
    assert_int_equal(culex_client_claim(client, "numbers", NULL, &claim, NULL), CULEX_OK);
    assert_int_equal(culex_claim_complete(client, claim->token, NULL, 0, NULL), CULEX_OK);
    assert_int_equal(sight.steps, 2);
    assert_int_equal(sight.looks, 0);
    assert_int_equal(culex_claim_complete(client, claim->token, NULL, 0, NULL), CULEX_OK);
    assert_int_equal(sight.steps, 3);
    assert_int_equal(sight.looks, 1);
    culex_claim_free(claim);
    culex_client_close(client);
}

/* The run and its schema are read for the first text about it, and never for none. */
static void test_texts_cost_one_look(void **state)
{
    static const struct {
        culex_claim_beat beat;
        unsigned looks;
    } beats[] = {{{.lease = 0}, 0},
                 {{.has_progress = true, .progress = 5}, 0},
                 {{.has_progress = true, .progress_text = ""}, 0},
                 {{.has_progress = true, .progress_text = "now"}, 1},
                 {{.has_progress = true, .progress_text = "still"}, 1}};
    static const struct {
        culex_claim_failure failure;
        unsigned looks;
    } failures[] = {{{.text = "no use", .is_final = true}, 0}, /* they are known */
                    {{.is_final = true}, 0},
                    {{.has_delay = true}, 0},
                    {{.text = "no"}, 1},
                    {{.text = "no use", .is_final = true}, 1}};
    (void)state;
    culex_client *client = seen_client();
    culex_job_type type = secret_type();
    struct number params = {1234567};
    culex_claim *claim;
    culex_claim_pulse pulse;
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        assert_int_equal(culex_client_enqueue(client, &type, &params, NULL, NULL, NULL), CULEX_OK);
        publish_in(client->store, &type);
        assert_int_equal(culex_client_claim(client, "numbers", NULL, &claim, NULL), CULEX_OK);
        for (size_t k = 0; i == 0 && k < sizeof beats / sizeof beats[0]; k++) {
            assert_int_equal(
                culex_claim_heartbeat(client, claim->token, &beats[k].beat, &pulse, NULL),
                CULEX_OK);
            assert_int_equal(sight.looks, beats[k].looks);
        }
        sight.looks = sight.schemas = 0;
        assert_int_equal(culex_claim_fail(client, claim->token, &failures[i].failure, NULL),
                         CULEX_OK);
        assert_int_equal(sight.looks, failures[i].looks);
        assert_int_equal(sight.schemas, failures[i].looks);
        assert_int_equal(culex_client_cancel(client, "numbers", claim->id, NULL, NULL),
                         failures[i].failure.is_final ? CULEX_ESTATE : CULEX_OK);
        culex_claim_free(claim);
    }
    culex_client_close(client);
}

/* What it ended with cannot be asked, or its record was forgotten in that moment. */
static void test_word_said_again_is_not_taken_unseen(void **state)
{
    (void)state;
    culex_client *client = seen_client();
    culex_job_type type = number_type();
    struct number params = {1};
    culex_claim *claim = NULL;
    assert_int_equal(culex_client_enqueue(client, &type, &params, NULL, NULL, NULL), CULEX_OK);
    assert_int_equal(culex_client_claim(client, "numbers", NULL, &claim, NULL), CULEX_OK);
    assert_int_equal(culex_claim_complete(client, claim->token, NULL, 0, NULL), CULEX_OK);
    sight.look_status = CULEX_EREADONLY;
    assert_int_equal(culex_claim_complete(client, claim->token, NULL, 0, NULL), CULEX_EREADONLY);
    assert_int_equal(culex_claim_release(client, claim->token, 0, NULL), CULEX_ESTALE);
    sight.look_status = CULEX_ENOTFOUND;
    assert_int_equal(culex_claim_complete(client, claim->token, NULL, 0, NULL), CULEX_ENOTFOUND);
    culex_claim_free(claim);
    culex_client_close(client);
}

static void test_handlers_client_claims_nothing(void **state)
{
    struct world *world = *state;
    culex_claim *claim = NULL;
    put(world, 1);
    world->client->is_lent = true;
    assert_int_equal(culex_client_claim(world->client, "numbers", NULL, &claim, NULL),
                     CULEX_EUNSUPPORTED);
    world->client->is_lent = false;
}

/* --- failures, each in its turn -------------------------------------------------------------- */

#define SECRET "1000001"

/* With another result than the first, which is refused. */
static culex_status completion_repeat(culex_client *client, const culex_claim *claim)
{
    culex_status status = culex_claim_complete(client, claim->token, "{\"n\":2}", 7, NULL);
    assert_int_not_equal(status, CULEX_OK);
    if (status == CULEX_ECONFLICT)
        status = culex_claim_complete(client, claim->token, "{\"n\": 1}", 8, NULL);
    return status;
}

/* A gateway's day: two runs, one of which fails once; each completion is said three times. True
 * when all calls were answered. */
static bool day_live(culex_client *client)
{
    static const culex_claim_failure at_once = {.text = "no " SECRET, .has_delay = true};
    static const culex_claim_beat beat = {.has_progress = true, .progress_text = "at " SECRET};
    culex_claim *claim = NULL;
    culex_claim_pulse pulse;
    for (int i = 0; i < 3; i++) {
        if (culex_client_claim(client, "numbers", NULL, &claim, NULL) != CULEX_OK || claim == NULL)
            return false;
        bool is_first = i == 0;
        char *text = NULL;
        culex_status status =
            culex_claim_heartbeat(client, claim->token, is_first ? NULL : &beat, &pulse, NULL);
        if (status == CULEX_OK)
            status = culex_claim_params(client, claim, &text, NULL, NULL);
        if (status == CULEX_ENOTFOUND) /* not all days have a schema */
            status = CULEX_OK;
        free(text);
        if (status == CULEX_OK)
            status = is_first ? culex_claim_fail(client, claim->token, &at_once, NULL)
                              : culex_claim_complete(client, claim->token, "{\"n\":1}", 7, NULL);
        if (status == CULEX_OK && !is_first)
            status = completion_repeat(client, claim);
        culex_claim_free(claim);
        if (status != CULEX_OK)
            return false;
    }
    return true;
}

/* Whatever went wrong, in the end each run is done once: nothing is lost. */
static void rest_do(struct world *world)
{
    culex_queue_stats stats;
    for (int i = 0; i < 20; i++) {
        culex_claim *claim;
        world_pass(world, 31000);
        while ((claim = claim_by(world, NULL)) != NULL) {
            complete(world, claim);
            culex_claim_free(claim);
        }
    }
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.done, 2);
}

/* The n-th step fails, so many times: a few are got over within the call. */
static bool day_of_faults(enum world_fault fault, unsigned nth, unsigned count)
{
    struct world *world = world_open();
    put(world, 1);
    put(world, 2);
    world->fault = fault;
    world->fault_skip = nth;
    world->fault_count = count;
    bool is_whole = day_live(world->client);
    bool has_failed = world->fault_count < count;
    world->fault_count = world->fault_skip = 0;
    rest_do(world);
    world_close(world);
    assert_true(is_whole || count > 100);
    return has_failed;
}

static void test_every_step_fails_once_or_for_long(void **state)
{
    static const enum world_fault faults[] = {WORLD_REFUSE, WORLD_LOSE_REPLY};
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        unsigned nth = 0, long_nth = 0;
        while (day_of_faults(faults[i], nth, 2))
            nth++;
        while (day_of_faults(faults[i], long_nth, 1000000))
            long_nth++;
        assert_int_equal(nth, 13);
        assert_int_equal(long_nth, 13);
    }
}

static bool day_without_memory(long n, long *refusals)
{
    struct world *world = world_open();
    culex_job_type type = secret_type();
    type.result = &number_struct;
    culex_uuid first = world_enqueue(world, &type, 1000001);
    world_enqueue(world, &type, 1000001);
    publish(world, &type);
    countdown = n;
    *refusals += !day_live(world->client);
    bool is_over = countdown >= 0;
    countdown = -1;
    culex_run_info *run = world_get(world, first);
    assert_null(strstr(run->error_text, SECRET));
    assert_null(strstr(run->progress_text, SECRET));
    culex_run_info_free(run);
    rest_do(world);
    world_close(world);
    return is_over;
}

static void test_every_allocation_fails_once(void **state)
{
    long n = 0, refusals = 0;
    (void)state;
    while (n < 5000 && !day_without_memory(n, &refusals))
        n++;
    assert_in_range(n, 20, 4999);
    assert_in_range(refusals, 10, n);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_claim_is_the_run),
        TEST(test_queue_without_runs_gives_none),
        TEST(test_result_is_kept_and_may_be_said_twice),
        TEST(test_completion_of_a_forgotten_run_is_told_so),
        TEST(test_params_are_read_by_the_schema),
        TEST(test_silent_holder_is_charged_a_loss_and_fenced),
        TEST(test_heartbeats_keep_the_lease_and_tell_progress),
        TEST(test_heartbeat_without_a_lease_has_that_of_the_claim),
        TEST(test_cancel_is_told_by_the_heartbeat),
        TEST(test_timeout_ends_the_lease),
        TEST(test_what_claims_failed_by_stays_with_the_run),
        TEST(test_failures_wait_as_the_schema_says),
        TEST(test_failure_may_name_its_delay_or_be_final),
        TEST(test_release_charges_nothing),
        TEST(test_result_must_be_one_of_the_job),
        TEST(test_encrypted_result_is_a_workers),
        TEST(test_secrets_are_those_of_the_run),
        TEST(test_schema_that_comes_later_is_asked_for_again),
        TEST(test_run_that_its_schema_does_not_read_has_no_texts),
        TEST(test_pause_priority_and_time_are_kept),
        TEST(test_limits_and_needs_are_kept),
        TEST(test_other_jobs_go_back_for_a_second),
        TEST(test_other_jobs_are_found_by_their_workers_in_their_order),
        TEST(test_steps_of_chains_and_damaged_runs_are_not_handed_over),
        TEST(test_what_is_no_token_is_refused),
        TEST(test_options_out_of_bounds_are_refused),
        TEST(test_any_client_takes_a_token_whatever_its_clock),
        TEST(test_lost_answer_is_told_as_such_where_others_speak_meanwhile),
        cmocka_unit_test(test_those_who_wait_look_for_each_other),
        TEST(test_those_who_want_other_runs_look_for_themselves),
        cmocka_unit_test(test_each_who_waits_is_given_a_run),
        cmocka_unit_test(test_first_word_costs_one_step),
        cmocka_unit_test(test_word_said_again_is_not_taken_unseen),
        cmocka_unit_test(test_texts_cost_one_look),
        TEST(test_handlers_client_claims_nothing),
        cmocka_unit_test(test_every_step_fails_once_or_for_long),
        cmocka_unit_test(test_every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
