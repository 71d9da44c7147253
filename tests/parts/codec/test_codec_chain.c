/* Chains in payloads: the steps that are still to come, and params made of a result. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "chains_job.h"
#include "core/codec_decode.h"

#define TYPE (shop_media_announce_job_type.params)

static const char *const names[] = {"a", "shop.b", "c", "d", "e", "f", "g", "h",
                                    "i", "j",      "k", "l", "m", "n", "o", "p"};

static culex_status rest_read(culex_arena *arena, const char *text, struct culex_rest *ret_rest)
{
    const void *value;
    culex_error error;
    *ret_rest = (struct culex_rest){NULL, 0};
    return culex__decode_params(NULL, TYPE, arena, text, strlen(text), &value, ret_rest, &error);
}

static void test_steps__come_back_as_they_were(void **state)
{
    culex_error error;
    culex_arena *arena = culex_arena_create();
    (void)state;
    for (size_t count = 0; count < CULEX_CHAIN_STEPS_MAX; count++) {
        culex_buf text;
        struct culex_rest rest;
        shop_media_announce_job job = shop_media_announce_job_make("x");
        culex_buf_init(&text, 0);
        assert_int_equal(shop_media_announce_job_encode(&job, &text, &error), CULEX_OK);
        size_t plain = text.len;
        assert_int_equal(culex__rest_append((struct culex_rest){names, count}, &text, &error),
                         CULEX_OK);
        if (count == 0)
            assert_int_equal(text.len, plain); /* what uses none of it has none of it */
        culex__buf_append(&text, "", 1);
        assert_int_equal(rest_read(arena, text.data, &rest), CULEX_OK);
        assert_int_equal(rest.count, count);
        for (size_t i = 0; i < count; i++)
            assert_string_equal(rest.steps[i], names[i]);
        culex_buf_release(&text);
    }
    culex_arena_free(arena);
}

static void test_steps__stand_behind_params_that_are_empty(void **state)
{
    culex_buf text;
    culex_error error;
    (void)state;
    culex_buf_init(&text, 0);
    culex__buf_append(&text, "{}", 2);
    assert_int_equal(culex__rest_append((struct culex_rest){names, 2}, &text, &error), CULEX_OK);
    culex__buf_append(&text, "", 1);
    assert_string_equal(text.data, "{\"!culex.chain\":[\"a\",\"shop.b\"]}");
    culex_buf_release(&text);
}

static void test_steps__may_find_no_room(void **state)
{
    culex_buf text;
    culex_error error;
    (void)state;
    culex_buf_init(&text, 20);
    culex__buf_append(&text, "{\"path\":\"x\"}", 12);
    assert_int_equal(culex__rest_append((struct culex_rest){names, 2}, &text, &error),
                     CULEX_ELIMIT);
    assert_string_equal(error.text, "the payload has no room for the steps of its chain");
    culex_buf_release(&text);
}

/* A later program may write them otherwise: the run goes back, it is not read without them. */
static void test_steps__of_another_form_are_not_understood(void **state)
{
    static const char *const forms[] = {
        "\"a\"",
        "[]",
        "[1]",
        "[\"\"]",
        "{\"a\":1}",
        "null",
        "[\"a\",]",
        "[\"a\"",
        "true",
        "[[\"a\"]]",
        "[\"a\\u0062\"]",
        "[\"a\"],\"!culex.chain\":[\"b\"]",
        ("[\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\","
         "\"a\",\"a\"]")};
    culex_arena *arena = culex_arena_create();
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char text[256];
        struct culex_rest rest;
        snprintf(text, sizeof text, "{\"path\":\"x\",\"!culex.chain\":%s}", forms[i]);
        assert_int_equal(rest_read(arena, text, &rest), CULEX_EUNDERSTAND);
        assert_int_equal(rest.count, 0);
    }
    culex_arena_free(arena);
}

static void test_steps__are_of_the_outermost_object_alone(void **state)
{
    static const char inside[] =
        "{\"path\":\"x\",\"owner\":1,\"original\":{\"width\":1,\"height\":1,"
        "\"!culex.chain\":[\"a\"]}}";
    static const char outside[] = "{\"path\":\"x\",\"!culex.chain\":[\"a\"]}";
    const void *value;
    culex_error error;
    culex_arena *arena = culex_arena_create();
    (void)state;
    assert_int_equal(culex_decode(shop_media_resize_job_type.params, arena, inside, strlen(inside),
                                  &value, &error),
                     CULEX_EUNDERSTAND);
    /* Who looks for params alone passes over them; who writes them by hand may not. */
    assert_int_equal(culex_decode(TYPE, arena, outside, strlen(outside), &value, &error), CULEX_OK);
    assert_int_equal(culex__decode_exact(TYPE, arena, outside, strlen(outside), &value, &error),
                     CULEX_EUNDERSTAND);
    culex_arena_free(arena);
}

/* --- a result becomes params --- */

static shop_media_upload_result result_make(void)
{
    return shop_media_upload_result_make("a.png", 7, shop_media_size_make(3, 4), "t0ken", 9);
}

static void test_result__goes_by_name_and_leaves_defaults(void **state)
{
    shop_media_resize_job job;
    culex_error error;
    shop_media_upload_result result = result_make();
    (void)state;
    memset(&job, 0xff, sizeof job);
    assert_int_equal(culex__result_to_params(shop_media_upload_job_type.result, &result,
                                             shop_media_resize_job_type.params, &job, &error),
                     CULEX_OK);
    assert_string_equal(job.path, "a.png");
    assert_int_equal(job.owner, 7);
    assert_int_equal(job.original.height, 4);
    assert_int_equal(job.to, SHOP_MEDIA_FORMAT_JPEG);
    assert_int_equal(job.labels_len, 0);
    assert_true(job.has_token);
    assert_string_equal(job.token, "t0ken");
}

static void test_result__that_is_absent_leaves_the_param_absent(void **state)
{
    shop_media_announce_job job;
    culex_error error;
    shop_media_resize_result result = shop_media_resize_result_make("b.png");
    (void)state;
    assert_int_equal(culex__result_to_params(shop_media_resize_job_type.result, &result,
                                             shop_media_announce_job_type.params, &job, &error),
                     CULEX_OK);
    assert_string_equal(job.path, "b.png");
    assert_false(job.has_owner);
    shop_media_resize_result_set_owner(&result, 5);
    assert_int_equal(culex__result_to_params(shop_media_resize_job_type.result, &result,
                                             shop_media_announce_job_type.params, &job, &error),
                     CULEX_OK);
    assert_true(job.has_owner);
    assert_int_equal(job.owner, 5);
}

/* Of two versions of a chain; the compiler refuses it in one. */
static void expect_unfit(const culex_struct_type *from, const void *result,
                         const culex_struct_type *to, const char *field, const char *text)
{
    char params[1024];
    culex_error error;
    assert_true(to->size <= sizeof params);
    assert_int_equal(culex__result_to_params(from, result, to, params, &error), CULEX_EENCODE);
    assert_string_equal(error.field, field);
    assert_string_equal(error.text, text);
}

static void test_result__of_another_version_is_refused_where_it_does_not_fit(void **state)
{
    shop_media_upload_result result = result_make();
    shop_media_resize_result less = shop_media_resize_result_make("b.png");
    const culex_struct_type *params = shop_media_resize_job_type.params;
    culex_field fields[8];
    culex_struct_type changed = *params;
    (void)state;
    expect_unfit(shop_media_resize_job_type.result, &less, params, "owner",
                 "required, and not in the result of the step before");
    memcpy(fields, params->fields, params->field_count * sizeof fields[0]);
    changed.fields = fields;
    fields[1].kind = CULEX_KIND_INT64;
    expect_unfit(shop_media_upload_job_type.result, &result, &changed, "owner",
                 "of another type in the result of the step before");
    fields[1] = params->fields[1];
    fields[5].flags &= ~(unsigned)CULEX_FIELD_SECRET;
    expect_unfit(shop_media_upload_job_type.result, &result, &changed, "token",
                 "more hidden in the result of the step before");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps__come_back_as_they_were),
        cmocka_unit_test(test_steps__stand_behind_params_that_are_empty),
        cmocka_unit_test(test_steps__may_find_no_room),
        cmocka_unit_test(test_steps__of_another_form_are_not_understood),
        cmocka_unit_test(test_steps__are_of_the_outermost_object_alone),
        cmocka_unit_test(test_result__goes_by_name_and_leaves_defaults),
        cmocka_unit_test(test_result__that_is_absent_leaves_the_param_absent),
        cmocka_unit_test(test_result__of_another_version_is_refused_where_it_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
