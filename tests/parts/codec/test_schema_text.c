/* Texts of schemas: written from descriptors, read to descriptors that do the same, and refused
 * when they are anything else. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <culex/schema.h>

#include "base/buf.h"
#include "core/schema_form.h"
#include "core/schema_text.h"
#include "schema.h"

#include "attributes_job.h"
#include "chains_job.h"
#include "limits_job.h"
#include "mail_job.h"
#include "metadata_job.h"
#include "nightly_job.h"
#include "own_types_job.h"
#include "retries_job.h"
#include "schedules_job.h"
#include "settings_job.h"
#include "text_job.h"
#include "types_defaults_job.h"
#include "types_job.h"
#include "types_optional_job.h"
#include "words_job.h"

static const culex_job_type *const jobs[] = {
    &attr_old_report_job_type,
    &attr_limits_job_type,
    &shop_media_upload_job_type,
    &shop_media_resize_job_type,
    &shop_media_announce_job_type,
    &shop_render_page_job_type,
    &shop_index_document_job_type,
    &shop_warn_owner_job_type,
    &shop_sync_account_job_type,
    &shop_rebuild_everything_job_type,
    &shop_cut_film_job_type,
    &shop_mail_send_email_job_type,
    &shop_poll_feed_job_type,
    &shop_count_runs_job_type,
    &shop_reports_close_books_job_type,
    &shop_reports_heartbeat_job_type,
    &shop_own_charge_job_type,
    &quick_retry_job_type,
    &retry_for_two_days_job_type,
    &retry_for_an_hour_job_type,
    &linear_retry_job_type,
    &power_retry_job_type,
    &doubling_retry_job_type,
    &stepped_retry_job_type,
    &shop_periodic_ticking_job_type,
    &shop_periodic_beside_job_type,
    &shop_periodic_alone_job_type,
    &shop_periodic_nightly_job_type,
    &shop_periodic_weekly_job_type,
    &shop_periodic_hourly_job_type,
    &shop_periodic_once_job_type,
    &plain_job_type,
    &from_defaults_job_type,
    &no_retry_job_type,
    &bounded_job_type,
    &logged_job_type,
    &ticking_job_type,
    &text_nasty_job_type,
    &kitchen_defaults_of_all_job_type,
    &kitchen_required_of_all_job_type,
    &kitchen_optional_of_all_job_type,
    &words_job_type,
};
enum { JOBS = sizeof jobs / sizeof jobs[0] };

/* The text of a job, which the caller frees. */
static char *write(const culex_job_type *type, size_t *ret_len)
{
    char *text = NULL;
    culex_error error = {0};
    culex_status status = culex_schema_write(type, &text, ret_len, &error);
    if (status != CULEX_OK)
        fail_msg("%s: %s", type->name, error.text);
    assert_int_equal(strlen(text), *ret_len);
    return text;
}

static culex_schema *read(const char *text, size_t len)
{
    culex_schema *schema = NULL;
    culex_error error = {0};
    if (culex_schema_read(text, len, &schema, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return schema;
}

static void test_text__of_what_was_read_is_the_text_that_was_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < JOBS; i++) {
        size_t len, again_len;
        char *text = write(jobs[i], &len);
        culex_schema *schema = read(text, len);
        char *again = write(culex_schema_type(schema), &again_len);
        assert_string_equal(text, again);
        free(text);
        free(again);
        culex_schema_free(schema);
    }
}

/* What nobody writes by name above: the settings themselves. */
static void assert_same_settings(const culex_job_type *left, const culex_job_type *right)
{
    assert_string_equal(left->name, right->name);
    assert_string_equal(left->wire, right->wire);
    assert_string_equal(left->queue, right->queue);
    assert_true(left->fingerprint == right->fingerprint);
    assert_int_equal(left->priority, right->priority);
    assert_true(left->timeout_ms == right->timeout_ms);
    assert_true(left->expires_ms == right->expires_ms);
    assert_true(left->keep_success_ms == right->keep_success_ms);
    assert_true(left->keep_failure_ms == right->keep_failure_ms);
    assert_true(left->keep_log == right->keep_log && left->memory_bytes == right->memory_bytes);
    assert_true(left->retry.max == right->retry.max && left->retry.for_ms == right->retry.for_ms);
    assert_true(left->retry.backoff == right->retry.backoff);
    assert_true(left->retry.base_ms == right->retry.base_ms);
    assert_true(left->retry.cap_ms == right->retry.cap_ms);
    assert_memory_equal(&left->retry.factor, &right->retry.factor, sizeof(double));
    assert_true(left->retry.step_count == right->retry.step_count);
    assert_true(left->schedule.every_ms == right->schedule.every_ms);
    assert_int_equal(left->unique.is_unique, right->unique.is_unique);
    assert_int_equal(left->unique.while_states, right->unique.while_states);
    assert_true(left->unique.by_count == right->unique.by_count);
    if (left->unique.by_count > 0)
        assert_memory_equal(left->unique.by, right->unique.by,
                            left->unique.by_count * sizeof *left->unique.by);
    assert_true(left->limit_count == right->limit_count && left->need_count == right->need_count);
    assert_true(left->tag_count == right->tag_count);
    assert_int_equal(left->doc == NULL, right->doc == NULL);
    assert_int_equal(left->result == NULL, right->result == NULL);
    assert_int_equal(left->metadata == NULL, right->metadata == NULL);
}

static void test_type__has_the_settings_of_the_job(void **state)
{
    (void)state;
    for (size_t i = 0; i < JOBS; i++) {
        size_t len;
        char *text = write(jobs[i], &len);
        culex_schema *schema = read(text, len);
        assert_same_settings(jobs[i], culex_schema_type(schema));
        free(text);
        culex_schema_free(schema);
    }
}

/* ---- payloads ---- */

static void assert_payload_passes(const culex_struct_type *type, const char *text, size_t len)
{
    const void *value;
    culex_error error = {0};
    culex_buf again;
    culex_arena *arena = culex_arena_create();
    culex_buf_init(&again, 0);
    if (culex_decode(type, arena, text, len, &value, &error) != CULEX_OK ||
        culex_encode(type, value, &again, &error) != CULEX_OK)
        fail_msg("%s of %s", error.text, text);
    assert_string_equal(again.data, text);
    culex_buf_release(&again);
    culex_arena_free(arena);
}

/* Random values of `type`, encoded by it, pass through `other` as they are. */
static void assert_values_pass(struct schema_random *random, const culex_struct_type *type,
                               const culex_struct_type *other)
{
    for (int i = 0; i < 50; i++) {
        culex_buf text;
        culex_buf_init(&text, 0);
        const void *value = schema_value(random, type);
        if (culex_encode(type, value, &text, NULL) == CULEX_OK)
            assert_payload_passes(other, text.data, text.len);
        culex_buf_release(&text);
    }
}

static bool has_own_types(const culex_job_type *type)
{
    return type == &shop_own_charge_job_type;
}

static void test_type__reads_and_writes_what_the_job_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < JOBS; i++) {
        struct schema_random random = {.state = 1 + i, .arena = culex_arena_create()};
        size_t len;
        char *text = write(jobs[i], &len);
        culex_schema *schema = read(text, len);
        const culex_job_type *type = culex_schema_type(schema);
        if (!has_own_types(jobs[i])) {
            assert_values_pass(&random, jobs[i]->params, type->params);
            if (type->result != NULL)
                assert_values_pass(&random, jobs[i]->result, type->result);
            if (type->metadata != NULL)
                assert_values_pass(&random, jobs[i]->metadata, type->metadata);
        }
        free(text);
        culex_schema_free(schema);
        culex_arena_free(random.arena);
    }
}

/* What is missing gets the default of the job. */
static void test_type__has_the_defaults_of_the_job(void **state)
{
    culex_error error = {0};
    culex_buf text;
    size_t len;
    (void)state;
    char *schema_text = write(&kitchen_defaults_of_all_job_type, &len);
    culex_schema *schema = read(schema_text, len);
    kitchen_defaults_of_all_job job = kitchen_defaults_of_all_job_make();
    culex_buf_init(&text, 0);
    assert_int_equal(kitchen_defaults_of_all_job_encode(&job, &text, &error), CULEX_OK);
    culex_arena *arena = culex_arena_create();
    const void *value;
    culex_buf again;
    culex_buf_init(&again, 0);
    const culex_struct_type *params = culex_schema_type(schema)->params;
    assert_int_equal(culex_decode(params, arena, "{}", 2, &value, &error), CULEX_OK);
    assert_int_equal(culex_encode(params, value, &again, &error), CULEX_OK);
    assert_string_equal(again.data, text.data);
    culex_buf_release(&again);
    culex_buf_release(&text);
    culex_arena_free(arena);
    culex_schema_free(schema);
    free(schema_text);
}

static void test_own_type__is_a_string_with_its_name(void **state)
{
    static const char payload[] =
        "{\"total\":\"12.50 EUR\",\"parts\":[\"1.00 EUR\",\"2.00 EUR\"],\"range\":[\"1.00 "
        "EUR\",\"9.00 EUR\"],\"budget\":\"5.00 EUR\",\"lines\":[{\"what\":\"x\",\"price\":\"1.00 "
        "EUR\"}]}";
    size_t len;
    (void)state;
    char *text = write(&shop_own_charge_job_type, &len);
    culex_schema *schema = read(text, len);
    const culex_field *total = &culex_schema_type(schema)->params->fields[0];
    assert_int_equal(total->kind, CULEX_KIND_STRING);
    assert_string_equal(total->user_type->name, "shop.own.money");
    assert_payload_passes(shop_own_charge_job_type.params, payload, strlen(payload));
    assert_payload_passes(culex_schema_type(schema)->params, payload, strlen(payload));
    culex_schema_free(schema);
    free(text);
}

/* ---- what a text leaves out ---- */

struct hidden {
    const char *word;
    const char *plain;
    const char *sealed;
};
static const char *const hidden_word = "hush";
static const culex_field hidden_fields[] = {
    {.name = "word",
     .wire = "word",
     .kind = CULEX_KIND_STRING,
     .flags = CULEX_FIELD_SECRET,
     .offset = offsetof(struct hidden, word),
     .def = &hidden_word},
    {.name = "plain",
     .wire = "plain",
     .kind = CULEX_KIND_STRING,
     .offset = offsetof(struct hidden, plain),
     .def = &hidden_word,
     .doc = "What it is."},
    {.name = "sealed",
     .wire = "sealed",
     .kind = CULEX_KIND_STRING,
     .flags = CULEX_FIELD_ENCRYPTED | CULEX_FIELD_SECRET,
     .offset = offsetof(struct hidden, sealed),
     .def = &hidden_word},
};
static const culex_struct_type hidden_type = {"hidden", sizeof(struct hidden), hidden_fields, 3};

static culex_job_type hidden_job(void)
{
    return (culex_job_type){.descriptor_version = CULEX_DESCRIPTOR_VERSION,
                            .name = "hidden",
                            .wire = "hidden",
                            .queue = "hidden",
                            .params = &hidden_type};
}

static size_t occurrences(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        count++;
    return count;
}

static void test_default__of_a_secret_is_left_out_and_left_to_the_worker(void **state)
{
    size_t len, again_len;
    (void)state;
    const culex_job_type job = hidden_job();
    char *text = write(&job, &len);
    assert_int_equal(occurrences(text, "hush"), 1);
    culex_schema *schema = read(text, len);
    const culex_struct_type *params = culex_schema_type(schema)->params;
    assert_true(culex_schema_default_is_withheld(&params->fields[0]));
    assert_false(culex_schema_default_is_withheld(&params->fields[1]));
    assert_true(culex_schema_default_is_withheld(&params->fields[2]));
    assert_payload_passes(params, "{\"plain\":\"a\"}", strlen("{\"plain\":\"a\"}"));
    char *again = write(culex_schema_type(schema), &again_len);
    assert_string_equal(text, again);
    free(again);
    free(text);
    culex_schema_free(schema);
}

static void test_docs__are_left_out_where_the_text_would_be_too_long(void **state)
{
    size_t len;
    (void)state;
    culex_job_type job = hidden_job();
    char *doc = malloc(CULEX_SCHEMA_TEXT_MAX);
    memset(doc, 'd', CULEX_SCHEMA_TEXT_MAX - 1);
    doc[CULEX_SCHEMA_TEXT_MAX - 1] = '\0';
    char *text = write(&job, &len);
    assert_int_equal(occurrences(text, "What it is."), 1);
    free(text);
    job.doc = doc;
    text = write(&job, &len);
    assert_int_equal(occurrences(text, "\"doc\""), 0);
    free(text);
    job.doc = NULL;
    job.queue = doc;
    text = doc;
    assert_int_equal(culex_schema_write(&job, &text, &len, NULL), CULEX_ELIMIT);
    assert_null(text);
    free(doc);
}

/* ---- what is refused ---- */

#define HEAD                                                                                       \
    "{\"schema\":1,\"name\":\"a\",\"wire\":\"a\",\"fingerprint\":\"0123456789abcdef\","            \
    "\"priority\":5,\"timeout_ms\":0,\"expires_ms\":0,\"keep_success_ms\":0,\"keep_failure_ms\":0" \
    ",\"keep_log\":0,\"memory_bytes\":0,\"retry\":{\"max\":0,\"for_ms\":0,\"backoff\":"            \
    "\"constant\",\"base_ms\":0,\"factor\":1,\"cap_ms\":0,\"jitter\":\"none\","                    \
    "\"jitter_ratio\":0},"
#define FIELD(name, more) "{\"name\":\"" name "\",\"shape\":\"single\"," more "}"
#define PARAMS(fields)    "\"params\":{\"name\":\"a\",\"fields\":[" fields "]}"

static const struct {
    const char *text;
    const char *wrong; /* a part of the error's text */
    culex_status status;
} bad[] = {
    {"", "expected an object", CULEX_EDECODE},
    {"[]", "expected an object", CULEX_EDECODE},
    {"{\"schema\":2}", "form 2", CULEX_EUNDERSTAND},
    {"{\"schema\":1}", "name: required", CULEX_EDECODE},
    {HEAD "\"x\":1}", "params: required", CULEX_EDECODE},
    {HEAD PARAMS(FIELD("x", "\"kind\":\"int256\"")) "}", "int256", CULEX_EUNDERSTAND},
    {HEAD PARAMS(FIELD("x", "\"wire\":\"x\"")) "}", "kind: required", CULEX_EDECODE},
    {HEAD PARAMS(FIELD("x\\\"", "\"kind\":\"bool\"")) "}", "no name of a field", CULEX_EDECODE},
    {HEAD PARAMS(FIELD("x", "\"kind\":\"bool\",\"wire\":\"a b\"")) "}", "no name of a field",
     CULEX_EDECODE},
    {HEAD PARAMS(FIELD("x", "\"kind\":\"bool\"") "," FIELD("x", "\"kind\":\"bool\"")) "}",
     "two fields x", CULEX_EDECODE},
    {HEAD PARAMS(
         FIELD("x", "\"kind\":\"bool\"") "," FIELD("y", "\"kind\":\"bool\",\"wire\":\"x\"")) "}",
     "two fields are x", CULEX_EDECODE},
    {HEAD PARAMS(FIELD("x", "\"kind\":\"enum\"")) "}", "without a type", CULEX_EDECODE},
    {HEAD PARAMS(FIELD("x", "\"kind\":\"bool\",\"type\":\"t\"")) "}", "with a type", CULEX_EDECODE},
    {HEAD PARAMS(FIELD("x", "\"kind\":\"enum\",\"type\":\"t\"")) "}", "there is no enum 't'",
     CULEX_EDECODE},
    {HEAD PARAMS(FIELD("x", "\"kind\":\"struct\",\"type\":\"t\"")) "}", "there is no struct 't'",
     CULEX_EDECODE},
    {HEAD PARAMS(FIELD("x", "\"kind\":\"user\",\"type\":\"t\"")) "}", "there is no user 't'",
     CULEX_EDECODE},
    {HEAD PARAMS(FIELD("x", "\"kind\":\"bool\",\"count\":3")) "}", "a count of 3", CULEX_EDECODE},
    {HEAD PARAMS("{\"name\":\"x\",\"shape\":\"array\",\"kind\":\"bool\"}") "}", "a count of 0",
     CULEX_EDECODE},
    {HEAD PARAMS("{\"name\":\"x\",\"shape\":\"list\",\"kind\":\"bool\",\"count\":65536}") "}",
     "a count of 65536", CULEX_EDECODE},
    {HEAD PARAMS(FIELD("x", "\"kind\":\"bool\",\"flags\":[\"optional\",\"required\"]")) "}",
     "optional and required", CULEX_EDECODE},
    {HEAD PARAMS(FIELD("x", "\"kind\":\"int8\",\"default\":\"300\"")) "}", "the default",
     CULEX_EDECODE},
    {HEAD PARAMS(FIELD("x", "\"kind\":\"int8\",\"default\":\"null\"")) "}", "the default",
     CULEX_EDECODE},
    {HEAD PARAMS(FIELD("x", "\"kind\":\"int8\",\"default\":\"1,\\\"y\\\":2\"")) "}", "the default",
     CULEX_EDECODE},
    {HEAD PARAMS(FIELD("x", "\"kind\":\"int8\",\"default\":\"1}\"")) "}", "the default",
     CULEX_EDECODE},
    {HEAD PARAMS(FIELD("x", "\"kind\":\"int8\",\"flags\":[\"optional\"],\"default\":\"1\"")) "}",
     "has a default, and cannot", CULEX_EDECODE},
    {HEAD PARAMS("") ",\"enums\":[{\"name\":\"e\",\"base\":\"string\"}]}", "an enum is no string",
     CULEX_EDECODE},
    {HEAD PARAMS("") ",\"enums\":[{\"name\":\"e\",\"base\":\"int8\",\"values\":[{\"name\":\"A\","
                     "\"value\":128}]}]}",
     "none of int8", CULEX_EDECODE},
    {HEAD PARAMS("") ",\"enums\":[{\"name\":\"e\",\"base\":\"int8\",\"values\":[{\"name\":\"A\","
                     "\"value\":1},{\"name\":\"A\",\"value\":2}]}]}",
     "two values A", CULEX_EDECODE},
    {HEAD PARAMS("") ",\"enums\":[{\"name\":\"e\",\"base\":\"int8\"},{\"name\":\"e\",\"base\":"
                     "\"int8\"}]}",
     "two enums e", CULEX_EDECODE},
    {HEAD PARAMS("") ",\"users\":[{\"name\":\"e\"},{\"name\":\"e\"}]}", "two types e",
     CULEX_EDECODE},
    {HEAD PARAMS("") ",\"structs\":[{\"name\":\"s\"},{\"name\":\"s\"}]}", "two structs s",
     CULEX_EDECODE},
    {HEAD PARAMS("") ",\"structs\":[{\"name\":\"s\",\"fields\":[" FIELD(
         "x", "\"kind\":\"struct\",\"type\":\"s\"") "]}]}",
     "holds itself", CULEX_EDECODE},
    {HEAD PARAMS("") ",\"structs\":[{\"name\":\"s\",\"fields\":[" FIELD(
         "x", "\"kind\":\"struct\",\"type\":\"t\"") "]},{\"name\":\"t\",\"fields\":"
                                                    "[" FIELD("x", "\"kind\":\"struct\","
                                                                   "\"type\":\"s\"") "]}]}",
     "holds itself", CULEX_EDECODE},
    {HEAD PARAMS("") ",\"structs\":[{\"name\":\"s\",\"fields\":[{\"name\":\"x\",\"shape\":"
                     "\"array\",\"count\":65535,\"kind\":\"struct\",\"type\":\"t\"}]},{\"name\":"
                     "\"t\",\"fields\":[{\"name\":\"x\",\"shape\":\"array\",\"count\":65535,"
                     "\"kind\":\"struct\",\"type\":\"u\"}]},{\"name\":\"u\",\"fields\":[{\"name\":"
                     "\"x\",\"shape\":\"array\",\"count\":65535,\"kind\":\"int8\"}]}]}",
     "would have more than", CULEX_EDECODE},
    {HEAD PARAMS("") ",\"unique\":{\"by_all\":false,\"by\":[\"x\"],\"for_ms\":1,\"on_conflict\":"
                     "\"keep\",\"delay_ms\":0}}",
     "no param", CULEX_EDECODE},
    {HEAD PARAMS("") ",\"needs\":[{\"name\":\"gpu\",\"units\":0}]}", "needs 0 of gpu",
     CULEX_EDECODE},
    {HEAD PARAMS("") ",\"!later\":1}", "later", CULEX_EUNDERSTAND},
};

static void test_bad_text__is_refused_with_what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        culex_error error = {0};
        culex_schema *schema = NULL;
        culex_status status = culex_schema_read(bad[i].text, strlen(bad[i].text), &schema, &error);
        if (status != bad[i].status || strstr(error.text, bad[i].wrong) == NULL)
            fail_msg("%s: %s", bad[i].text, error.text);
        assert_null(schema);
    }
}

static void test_depth__of_structs_is_bounded(void **state)
{
    culex_buf text;
    char part[256];
    culex_error error = {0};
    culex_schema *schema;
    (void)state;
    culex_buf_init(&text, 0);
    assert_int_equal(culex__buf_append(&text, HEAD PARAMS("") ",\"structs\":[",
                                       strlen(HEAD PARAMS("") ",\"structs\":[")),
                     CULEX_OK);
    for (int i = 0; i < 40; i++) {
        int len = snprintf(part, sizeof part,
                           "{\"name\":\"s%d\",\"fields\":[{\"name\":\"x\",\"shape\":\"single\","
                           "\"kind\":\"struct\",\"type\":\"s%d\"}]},",
                           i, i + 1);
        assert_int_equal(culex__buf_append(&text, part, (size_t)len), CULEX_OK);
    }
    assert_int_equal(culex__buf_append(&text, "{\"name\":\"s40\"}]}", 16), CULEX_OK);
    assert_int_equal(culex_schema_read(text.data, text.len, &schema, &error), CULEX_EDECODE);
    assert_non_null(strstr(error.text, "structs inside each other"));
    culex_buf_release(&text);
}

/* What is read after all is a job that can be written and used. */
static void assert_harmless(const char *text, size_t len)
{
    culex_schema *schema = NULL;
    culex_error error = {0};
    culex_status status = culex_schema_read(text, len, &schema, &error);
    assert_int_equal(status == CULEX_OK, schema != NULL);
    if (schema == NULL) {
        assert_int_not_equal(error.text[0], '\0');
        return;
    }
    culex_arena *arena = culex_arena_create();
    culex_buf payload;
    const void *value;
    const culex_struct_type *params = culex_schema_type(schema)->params;
    culex_buf_init(&payload, 0);
    if (culex_decode(params, arena, "{}", 2, &value, NULL) == CULEX_OK)
        (void)!culex_encode(params, value, &payload, NULL);
    culex_buf_release(&payload);
    culex_arena_free(arena);
    culex_schema_free(schema);
}

static void test_changed_bytes__are_read_or_refused(void **state)
{
    static const char others[] = {'\0', '"', '}', ']', ',', '0', '9', '-', 'z', '\\', (char)0xFF};
    const culex_job_type *const of[] = {&shop_own_charge_job_type, &shop_media_resize_job_type};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        size_t len;
        char *text = write(of[i], &len);
        char *copy = malloc(len);
        for (size_t at = 0; at < len; at++) {
            memcpy(copy, text, at);
            memcpy(copy + at, text + at + 1, len - at - 1);
            assert_harmless(copy, len - 1);
            memcpy(copy, text, len);
            copy[at] = others[at % sizeof others];
            assert_harmless(copy, len);
            assert_harmless(text, at);
        }
        free(copy);
        free(text);
    }
}

static culex_schema *must_read(const char *text)
{
    culex_schema *schema = NULL;
    culex_error error = {0};
    if (culex_schema_read(text, strlen(text), &schema, &error) != CULEX_OK)
        fail_msg("%s: %s", text, error.text);
    return schema;
}

#define INNER(flags)                                                                               \
    ",\"structs\":[{\"name\":\"s\",\"fields\":[" FIELD(                                            \
        "pin", "\"kind\":\"bool\"," flags) "," FIELD("plain", "\"kind\":\"bool\"") "]}]}"
#define OUTER                                                                                      \
    FIELD("one", "\"kind\":\"struct\",\"type\":\"s\"")                                             \
    "," FIELD("two", "\"kind\":\"struct\",\"type\":\"s\"")

static bool is_hidden(const culex_struct_type *type, const char *name)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (strcmp(type->fields[i].name, name) == 0)
            return (type->fields[i].flags & CULEX_FIELD_SECRET) != 0;
    }
    fail_msg("no field %s", name);
    return false;
}

static void test_what_is_secret_in_another_text__is_hidden(void **state)
{
    culex_schema *plain = must_read(HEAD PARAMS(OUTER) INNER("\"flags\":[]"));
    culex_schema *other = must_read(HEAD PARAMS(OUTER "," FIELD("new", "\"kind\":\"bool\""))
                                        INNER("\"flags\":[\"secret\"]"));
    const culex_struct_type *params = culex_schema_type(plain)->params;
    (void)state;
    assert_int_equal(culex_schema_hide(plain, plain, NULL), CULEX_OK);
    assert_false(is_hidden(params->fields[0].struct_type, "pin"));
    assert_int_equal(culex_schema_hide(plain, other, NULL), CULEX_OK);
    assert_false(is_hidden(params, "one"));
    assert_true(is_hidden(params->fields[0].struct_type, "pin"));
    assert_false(is_hidden(params->fields[0].struct_type, "plain"));
    culex_schema_free(plain);
    assert_int_equal(culex_schema_hide(NULL, other, NULL), CULEX_EINVAL);
    assert_int_equal(culex_schema_hide(other, NULL, NULL), CULEX_EINVAL);
    culex_schema_free(other);
}

static void test_retired_job__is_so_in_its_text(void **state)
{
    char *text = NULL;
    size_t len;
    (void)state;
    for (int is_retired = 0; is_retired <= 1; is_retired++) {
        assert_int_equal(culex__schema_text(jobs[0], is_retired != 0, &text, &len), CULEX_OK);
        culex_schema *schema = must_read(text);
        assert_int_equal(culex_schema_is_retired(schema), is_retired);
        assert_int_equal(strstr(text, "\"retired\":true") != NULL, is_retired);
        culex_schema_free(schema);
        free(text);
    }
    assert_false(culex_schema_is_retired(NULL));
}

static void test_null__is_refused(void **state)
{
    culex_schema *schema;
    (void)state;
    assert_int_equal(culex_schema_read(NULL, 1, &schema, NULL), CULEX_EINVAL);
    assert_int_equal(culex_schema_read("{}", 2, NULL, NULL), CULEX_EINVAL);
    assert_int_equal(culex_schema_write(NULL, NULL, NULL, NULL), CULEX_EINVAL);
    assert_null(culex_schema_type(NULL));
    assert_false(culex_schema_default_is_withheld(NULL));
    culex_schema_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text__of_what_was_read_is_the_text_that_was_read),
        cmocka_unit_test(test_type__has_the_settings_of_the_job),
        cmocka_unit_test(test_type__reads_and_writes_what_the_job_does),
        cmocka_unit_test(test_type__has_the_defaults_of_the_job),
        cmocka_unit_test(test_own_type__is_a_string_with_its_name),
        cmocka_unit_test(test_default__of_a_secret_is_left_out_and_left_to_the_worker),
        cmocka_unit_test(test_docs__are_left_out_where_the_text_would_be_too_long),
        cmocka_unit_test(test_bad_text__is_refused_with_what_is_wrong),
        cmocka_unit_test(test_depth__of_structs_is_bounded),
        cmocka_unit_test(test_changed_bytes__are_read_or_refused),
        cmocka_unit_test(test_what_is_secret_in_another_text__is_hidden),
        cmocka_unit_test(test_retired_job__is_so_in_its_text),
        cmocka_unit_test(test_null__is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
