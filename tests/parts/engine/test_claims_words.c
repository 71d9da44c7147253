/* What is said by the token of a claimed run, and what comes of it when it is said again, or when
 * something else is: on real stores. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <culex/claims.h>
#include <culex/schema.h>

#include "client/client_private.h"
#include "redis_server.h"
#include "world.h"

struct place {
    struct redis_server server;
    char folder[40];
    culex_client *client;
    culex_error error; /* of the last word */
};

static int place_setup(void **state, bool is_redis)
{
    struct place *place = calloc(1, sizeof *place);
    char url[160];
    assert_non_null(place);
    *state = place;
    strcpy(place->folder, "/tmp/culex-words-XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    snprintf(url, sizeof url, "sqlite:%s/w.db?synchronous=normal", place->folder);
    if (is_redis) {
        if (!redis_server_start(&place->server, NULL))
            skip();
        snprintf(url, sizeof url, "%s", place->server.url);
    }
    assert_int_equal(culex_client_open(url, NULL, &place->client, NULL), CULEX_OK);
    return 0;
}

static int setup_sqlite(void **state)
{
    return place_setup(state, false);
}

static int setup_redis(void **state)
{
    return place_setup(state, true);
}

static int teardown(void **state)
{
    struct place *place = *state;
    char command[64];
    culex_client_close(place->client);
    redis_server_stop(&place->server);
    snprintf(command, sizeof command, "rm -rf %s", place->folder);
    assert_int_equal(system(command), 0);
    free(place);
    return 0;
}

/* --- short words ----------------------------------------------------------------------------- */

/* In a queue that begins with a run. */
static void publish(struct place *place, const culex_job_type *type)
{
    const culex_job_type first = number_type();
    const struct number params = {0};
    culex_uuid id;
    char *text = NULL;
    size_t len = 0;
    struct culex_store *store = place->client->store;
    assert_int_equal(culex_client_enqueue(place->client, &first, &params, NULL, &id, NULL),
                     CULEX_OK);
    assert_int_equal(culex_client_cancel(place->client, type->queue, id, NULL, NULL), CULEX_OK);
    assert_int_equal(culex_schema_write(type, &text, &len, NULL), CULEX_OK);
    const struct culex_schema_text schema = {{type->wire, type->fingerprint, 1}, text, len};
    assert_int_equal(store->ops->schema_publish(store, type->queue, &schema, NULL), CULEX_OK);
    free(text);
}

/* Enqueued, and claimed. Owned by the caller. */
static culex_claim *claim_new(struct place *place, const culex_job_type *type)
{
    const struct number params = {7};
    culex_claim *claim = NULL;
    assert_int_equal(culex_client_enqueue(place->client, type, &params, NULL, NULL, NULL),
                     CULEX_OK);
    assert_int_equal(culex_client_claim(place->client, type->queue, NULL, &claim, NULL), CULEX_OK);
    assert_non_null(claim);
    return claim;
}

/* "done", or "done RESULT"; "failed"; "dead"; "released"; "goes on". */
static culex_status say(struct place *place, const culex_claim *claim, const char *word)
{
    const culex_claim_failure failure = {.text = "no", .is_final = strcmp(word, "dead") == 0};
    const char *result = strchr(word, '{');
    culex_claim_pulse pulse;
    place->error = (culex_error){0};
    if (strncmp(word, "done", 4) == 0)
        return culex_claim_complete(place->client, claim->token, result,
                                    result != NULL ? strlen(result) : 0, &place->error);
    if (strcmp(word, "goes on") == 0)
        return culex_claim_heartbeat(place->client, claim->token, NULL, &pulse, &place->error);
    if (strcmp(word, "released") == 0)
        return culex_claim_release(place->client, claim->token, 0, &place->error);
    return culex_claim_fail(place->client, claim->token, &failure, &place->error);
}

static culex_run_info *run_of(struct place *place, const culex_claim *claim)
{
    culex_run_info *run = NULL;
    assert_int_equal(culex_client_get(place->client, claim->queue, claim->id, &run, NULL),
                     CULEX_OK);
    return run;
}

/* --- said again ------------------------------------------------------------------------------ */

struct again {
    const char *first, *second;
    culex_status status;
};

/* The first word is the run's end, and stays it. */
static void again_try(struct place *place, const culex_job_type *type, const struct again *again)
{
    culex_claim *claim = claim_new(place, type);
    assert_int_equal(say(place, claim, again->first), CULEX_OK);
    culex_run_info *before = run_of(place, claim);
    culex_status status = say(place, claim, again->second);
    if (status != again->status)
        fail_msg("%s, then %s: %d, %s", again->first, again->second, status, place->error.text);
    culex_run_info *after = run_of(place, claim);
    assert_int_equal(after->state, before->state);
    assert_int_equal(after->failures, before->failures);
    assert_int_equal(after->result.len, before->result.len);
    if (after->result.len > 0)
        assert_memory_equal(after->result.data, before->result.data, after->result.len);
    culex_run_info_free(before);
    culex_run_info_free(after);
    if (again->status == CULEX_ECONFLICT)
        assert_non_null(strstr(place->error.text, "has already ended"));
    status = culex_client_cancel(place->client, claim->queue, claim->id, NULL, NULL);
    assert_true(status == CULEX_OK || status == CULEX_ESTATE);
    culex_claim_free(claim);
}

static void test_completion_counts_once_and_another_one_is_a_conflict(void **state)
{
    static const struct again table[] = {
        {"done", "done", CULEX_OK},
        {"done {\"n\":9}", "done {\"n\":9}", CULEX_OK},
        {"done {\"n\":9}", "done { \"n\" :\n9 }", CULEX_OK},
        {"done {\"n\":9,\"s\":\"a \\\" b\"}", "done {\"n\":9, \"s\":\"a \\\" b\"}", CULEX_OK},
        {"done {\"n\":9}", "done {\"n\":8}", CULEX_ECONFLICT},
        {"done {\"n\":9}", "done {\"n\":99}", CULEX_ECONFLICT},
        {"done {\"s\":\"a b\"}", "done {\"s\":\"ab\"}", CULEX_ECONFLICT},
        {"done {\"s\":\"a\\\" b\"}", "done {\"s\":\"a\\\"  b\"}", CULEX_ECONFLICT},
        {"done {\"n\":9}", "done", CULEX_ECONFLICT},
        {"done", "done {\"n\":9}", CULEX_ECONFLICT},
        {"done {\"n\":9}", "failed", CULEX_ECONFLICT},
        {"done {\"n\":9}", "dead", CULEX_ECONFLICT},
        {"done", "released", CULEX_ECONFLICT},
        {"done", "goes on", CULEX_ESTALE},
        {"failed", "goes on", CULEX_ESTALE},
        {"released", "goes on", CULEX_ESTALE},
        {"failed", "failed", CULEX_ESTALE},
        {"failed", "done", CULEX_ESTALE},
        {"failed", "done {\"n\":9}", CULEX_ESTALE},
        {"failed", "released", CULEX_ESTALE},
        {"dead", "dead", CULEX_ESTALE},
        {"dead", "done", CULEX_ESTALE},
        {"released", "released", CULEX_ESTALE},
        {"released", "failed", CULEX_ESTALE},
        {"released", "done", CULEX_ESTALE},
    };
    struct place *place = *state;
    const culex_job_type type = number_type();
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        again_try(place, &type, &table[i]);
}

struct pair {
    int64_t n, m;
};

/* What the schema reads as the same is the same. */
static void test_results_are_compared_by_the_schema(void **state)
{
    static const struct again table[] = {
        {"done {\"n\":9,\"m\":1}", "done {\"m\":1,\"n\":9}", CULEX_OK},
        {"done {\"n\":9,\"m\":5}", "done {\"n\":9}", CULEX_OK},
        {"done {\"n\":9,\"m\":1}", "done {\"m\":9,\"n\":1}", CULEX_ECONFLICT},
        {"done {\"n\":9,\"m\":1}", "done {\"n\":9}", CULEX_ECONFLICT},
        {"done {\"n\":9,\"m\":1}", "done", CULEX_ECONFLICT},
        {"done", "done {\"n\":9}", CULEX_ECONFLICT},
        {"done {\"n\":9,\"m\":1}", "done {\"n\":\"x\"}", CULEX_EDECODE},
    };
    struct place *place = *state;
    static const int64_t five = 5;
    culex_field fields[2] = {number_struct.fields[0], number_struct.fields[0]};
    const culex_struct_type result = {"t.result", sizeof(struct pair), fields, 2};
    culex_job_type type = number_type();
    fields[0].name = fields[0].wire = "m";
    fields[0].flags = 0;
    fields[0].offset = offsetof(struct pair, m);
    fields[0].def = &five;
    type.result = &result;
    publish(place, &type);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        again_try(place, &type, &table[i]);
}

/* Its run is another's by now, or was given back: nobody asks what it ended with. */
static void test_late_words_are_stale(void **state)
{
    struct place *place = *state;
    const culex_job_type type = number_type();
    culex_claim *first = claim_new(place, &type), *second = NULL;
    assert_int_equal(say(place, first, "released"), CULEX_OK);
    assert_int_equal(culex_client_claim(place->client, "numbers", NULL, &second, NULL), CULEX_OK);
    assert_non_null(second);
    assert_int_equal(say(place, second, "done {\"n\":9}"), CULEX_OK);
    assert_int_equal(say(place, first, "failed"), CULEX_ESTALE);
    assert_int_equal(say(place, first, "released"), CULEX_ESTALE);
    assert_int_equal(say(place, first, "done {\"n\":9}"), CULEX_ESTALE);
    culex_claim_free(first);
    culex_claim_free(second);
}

/* --- secrets --------------------------------------------------------------------------------- */

struct login {
    const char *user, *word;
    int64_t pin;
};

static const culex_field login_fields[] = {
    {.name = "user",
     .wire = "user",
     .kind = CULEX_KIND_STRING,
     .offset = offsetof(struct login, user)},
    {.name = "word",
     .wire = "word",
     .kind = CULEX_KIND_STRING,
     .flags = CULEX_FIELD_SECRET,
     .offset = offsetof(struct login, word)},
    {.name = "pin",
     .wire = "pin",
     .kind = CULEX_KIND_INT64,
     .flags = CULEX_FIELD_SECRET,
     .offset = offsetof(struct login, pin)},
};
static const culex_struct_type login_struct = {"t.number", sizeof(struct login), login_fields, 3};

static culex_claim *login_claim(struct place *place, const culex_job_type *type)
{
    const struct login params = {"ann", "hunter2", 123456};
    culex_claim *claim = NULL;
    assert_int_equal(culex_client_enqueue(place->client, type, &params, NULL, NULL, NULL),
                     CULEX_OK);
    assert_int_equal(culex_client_claim(place->client, type->queue, NULL, &claim, NULL), CULEX_OK);
    assert_non_null(claim);
    return claim;
}

/* A progress and an error text, and what is kept of each. */
static void texts_say(struct place *place, const culex_claim *claim, culex_claim_failure failure,
                      const char *progress, const char *text)
{
    const culex_claim_beat beat = {.has_progress = true,
                                   .progress = 50,
                                   .progress_text = "ann logs in with hunter2, hunter2 or 123456"};
    culex_claim_pulse pulse;
    failure.text = "ann: no hunter2\nnor \"123456\"";
    assert_int_equal(culex_claim_heartbeat(place->client, claim->token, &beat, &pulse, NULL),
                     CULEX_OK);
    culex_run_info *run = run_of(place, claim);
    assert_string_equal(run->progress_text, progress);
    culex_run_info_free(run);
    assert_int_equal(culex_claim_fail(place->client, claim->token, &failure, NULL), CULEX_OK);
    run = run_of(place, claim);
    assert_string_equal(run->error_text, text);
    culex_run_info_free(run);
}

static void test_secret_params_are_hidden_in_texts(void **state)
{
    static const culex_claim_failure failures[] = {
        {.is_final = false},
        {.has_delay = true, .delay = CULEX_MINUTE},
        {.is_final = true},
    };
    struct place *place = *state;
    culex_job_type type = number_type();
    type.params = &login_struct;
    publish(place, &type);
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        culex_claim *claim = login_claim(place, &type);
        texts_say(place, claim, failures[i], "ann logs in with [secret], [secret] or [secret]",
                  "ann: no [secret]\nnor \"[secret]\"");
        culex_claim_free(claim);
    }
}

static void test_secrets_that_nobody_knows_are_kept_in_texts(void **state)
{
    struct place *place = *state;
    culex_job_type type = number_type();
    type.params = &login_struct;
    culex_claim *claim = login_claim(place, &type);
    texts_say(place, claim, (culex_claim_failure){0}, "ann logs in with hunter2, hunter2 or 123456",
              "ann: no hunter2\nnor \"123456\"");
    culex_claim_free(claim);
}

/* A secret at the border of what is kept is hidden as a whole. */
static void test_secrets_are_hidden_before_texts_are_cut(void **state)
{
    enum { LEN = CULEX_ERROR_TEXT_MAX };
    struct place *place = *state;
    culex_job_type type = number_type();
    char text[LEN + 100];
    const culex_claim_failure failure = {.text = text, .is_final = true};
    type.params = &login_struct;
    publish(place, &type);
    culex_claim *claim = login_claim(place, &type);
    memset(text, 'x', sizeof text);
    strcpy(text + LEN - 5, "hunter2 and more");
    assert_int_equal(culex_claim_fail(place->client, claim->token, &failure, NULL), CULEX_OK);
    culex_run_info *run = run_of(place, claim);
    assert_int_equal(strlen(run->error_text), LEN);
    assert_string_equal(run->error_text + LEN - 5, "[secr");
    culex_run_info_free(run);
    culex_claim_free(claim);
}

int main(void)
{
#define ON(store, name)                                                                            \
    {                                                                                              \
#name " on " #store, name, setup_##store, teardown, NULL                                   \
    }
    const struct CMUnitTest tests[] = {
        ON(sqlite, test_completion_counts_once_and_another_one_is_a_conflict),
        ON(redis, test_completion_counts_once_and_another_one_is_a_conflict),
        ON(sqlite, test_results_are_compared_by_the_schema),
        ON(redis, test_results_are_compared_by_the_schema),
        ON(sqlite, test_late_words_are_stale),
        ON(redis, test_late_words_are_stale),
        ON(sqlite, test_secret_params_are_hidden_in_texts),
        ON(redis, test_secret_params_are_hidden_in_texts),
        ON(sqlite, test_secrets_that_nobody_knows_are_kept_in_texts),
        ON(redis, test_secrets_that_nobody_knows_are_kept_in_texts),
        ON(sqlite, test_secrets_are_hidden_before_texts_are_cut),
        ON(redis, test_secrets_are_hidden_before_texts_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
