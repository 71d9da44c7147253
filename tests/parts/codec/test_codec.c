/* culex_encode and culex_decode, by example: every kind, every rule, every complaint. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "workbench.h"

/* ---- the format ---- */

static void test_encode__writes_all_but_absent_and_empty_in_schema_order(void **state)
{
    struct kitchen kitchen = kitchen_make();
    assert_string_equal(
        workbench_encode(*state, &kitchen),
        "{\"flag\":false,\"letter\":\"\\u0000\",\"i8\":0,\"i16\":0,\"i32\":-7,\"i64\":0,"
        "\"i128\":\"0\",\"u8\":0,\"u16\":0,\"u32\":0,\"u64\":0,\"u128\":\"0\",\"f32\":0,\"f64\":0,"
        "\"text\":\"no-reply@shop.example\",\"blob\":\"\","
        "\"id\":\"00000000-0000-0000-0000-000000000000\",\"at\":\"1970-01-01T00:00:00Z\","
        "\"wait\":\"0s\",\"lang\":\"EN\",\"price\":{\"minor\":100,\"currency\":\"EUR\"},"
        "\"password\":\"\",\"pin\":0,\"!customer\":0,\"matrix\":[0,0,0,0],"
        "\"pair\":[{\"minor\":1,\"currency\":\"EUR\"},{\"minor\":2,\"currency\":\"USD\"}],"
        "\"tree\":{\"leaf\":0}}");
}

static void test_encode__extreme_values_have_exact_texts(void **state)
{
    struct kitchen kitchen = kitchen_make();
    kitchen.i64 = INT64_MIN;
    kitchen.u64 = UINT64_MAX;
    kitchen.i128 = (culex_int128){0, INT64_MIN};
    kitchen.u128 = (culex_uint128){UINT64_MAX, UINT64_MAX};
    kitchen.f32 = 0.1F;
    kitchen.f64 = -INFINITY;
    kitchen.letter = (char)0xE9;
    kitchen.lang = KITCHEN_LOW;
    kitchen.blob = (culex_bytes){(const uint8_t *)"\xff\xfe", 2};
    const char *text = workbench_encode(*state, &kitchen);
    assert_contains(text, "\"i64\":-9223372036854775808,");
    assert_contains(text, "\"u64\":18446744073709551615,");
    assert_contains(text, "\"i128\":\"-170141183460469231731687303715884105728\",");
    assert_contains(text, "\"u128\":\"340282366920938463463374607431768211455\",");
    assert_contains(text, "\"f32\":0.1,\"f64\":\"-Infinity\",");
    assert_contains(text, "\"letter\":\"\xC3\xA9\",");
    assert_contains(text, "\"lang\":\"LOW\",");
    assert_contains(text, "\"blob\":\"//4=\",");
}

static void test_encode__strings_are_escaped_as_little_as_json_allows(void **state)
{
    struct kitchen kitchen = kitchen_make();
    kitchen.text = "\"\\/\b\f\n\r\t\x01\x1f\x7f\u20ac";
    assert_contains(workbench_encode(*state, &kitchen),
                    "\"text\":\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\u20ac\",");
}

static void test_encode__optional_empty_list_is_there(void **state)
{
    struct kitchen kitchen = kitchen_make();
    kitchen.has_labels = true;
    const struct kitchen *back = workbench_decode(*state, workbench_encode(*state, &kitchen));
    assert_true(back->has_labels && back->labels_len == 0);
    kitchen.has_labels = false;
    back = workbench_decode(*state, workbench_encode(*state, &kitchen));
    assert_false(back->has_labels);
}

static void test_encode__appends_and_on_failure_leaves_the_text_alone(void **state)
{
    struct workbench *bench = *state;
    struct kitchen kitchen = kitchen_make();
    workbench_encode(bench, &kitchen);
    size_t len = bench->buf.len;
    kitchen.text = NULL;
    assert_int_equal(culex_encode(&kitchen_type, &kitchen, &bench->buf, NULL), CULEX_EENCODE);
    assert_int_equal(bench->buf.len, len);
    assert_int_equal(bench->buf.data[len], '\0');
    kitchen.text = "";
    assert_int_equal(culex_encode(&kitchen_type, &kitchen, &bench->buf, NULL), CULEX_OK);
    assert_true(bench->buf.len > len);
    assert_int_equal(strlen(bench->buf.data), bench->buf.len);
}

static void test_encode__stops_at_the_limit_of_the_buffer(void **state)
{
    struct workbench *bench = *state;
    struct kitchen kitchen = kitchen_make();
    workbench_encode(bench, &kitchen);
    size_t len = bench->buf.len;
    culex_buf small;
    culex_buf_init(&small, len);
    assert_int_equal(culex_encode(&kitchen_type, &kitchen, &small, NULL), CULEX_OK);
    culex_buf_release(&small);
    culex_buf_init(&small, len - 1);
    assert_int_equal(culex_encode(&kitchen_type, &kitchen, &small, &bench->error), CULEX_ELIMIT);
    assert_int_equal(small.len, 0);
    culex_buf_release(&small);
}

/* ---- complaints of the encoder ---- */

static void spoil_null_string(struct kitchen *kitchen)
{
    kitchen->text = NULL;
}
static void spoil_utf8(struct kitchen *kitchen)
{
    kitchen->text = "caf\xE9";
}
static void spoil_bytes(struct kitchen *kitchen)
{
    kitchen->blob = (culex_bytes){NULL, 3};
}
static void spoil_bytes_len(struct kitchen *kitchen)
{
    static const uint8_t data[17];
    kitchen->blob = (culex_bytes){data, sizeof data};
}
static void spoil_enum(struct kitchen *kitchen)
{
    kitchen->lang = 77;
}
static void spoil_low(struct kitchen *kitchen)
{
    kitchen->has_percent = true;
}
static void spoil_high(struct kitchen *kitchen)
{
    kitchen->has_percent = true;
    kitchen->percent = 101;
}
static void spoil_flag(struct kitchen *kitchen)
{
    kitchen->percent = 5;
}
static void spoil_flag_of_string(struct kitchen *kitchen)
{
    kitchen->note = "hello";
}
static void spoil_flag_of_list(struct kitchen *kitchen)
{
    kitchen->labels_len = 1;
}
static void spoil_nested(struct kitchen *kitchen)
{
    kitchen->pair[1].currency = "EURO";
}
static void spoil_short(struct kitchen *kitchen)
{
    kitchen->price.currency = "";
}
static void spoil_count(struct kitchen *kitchen)
{
    static const char *const cc[4] = {"a", "b", "c", "d"};
    kitchen->cc = cc;
    kitchen->cc_len = 4;
}
static void spoil_element(struct kitchen *kitchen)
{
    static const char *const cc[3] = {"a", "b", NULL};
    kitchen->cc = cc;
    kitchen->cc_len = 3;
}
static void spoil_list(struct kitchen *kitchen)
{
    kitchen->numbers_len = 1;
}
static void spoil_list_max(struct kitchen *kitchen)
{
    static const int16_t numbers[CULEX_LIST_MAX + 1];
    kitchen->numbers = numbers;
    kitchen->numbers_len = COUNT(numbers);
}

static void test_encode__names_the_field_that_the_schema_forbids(void **state)
{
    static const struct {
        void (*spoil)(struct kitchen *kitchen);
        const char *field;
        const char *text;
    } rows[] = {
        {spoil_null_string, "text", "expected a string, found NULL"},
        {spoil_utf8, "text", "expected UTF-8"},
        {spoil_bytes, "blob", "NULL with a length"},
        {spoil_bytes_len, "blob", "expected at most 16 bytes, found 17"},
        {spoil_enum, "lang", "expected a value of shop.lang, found 77"},
        {spoil_low, "percent", "expected at least 1, found 0"},
        {spoil_high, "percent", "expected at most 100, found 101"},
        {spoil_flag, "percent", "is set and has_percent is not: use ..._set_percent, or set"},
        {spoil_flag_of_string, "note", "has_note is not"},
        {spoil_flag_of_list, "labels", "has_labels is not"},
        {spoil_nested, "pair[1].currency", "expected at most 3 bytes, found 4"},
        {spoil_short, "price.currency", "expected at least 3 bytes, found 0"},
        {spoil_count, "cc", "expected at most 3 elements, found 4"},
        {spoil_element, "cc[2]", "found NULL"},
        {spoil_list, "numbers", "NULL with a length"},
        {spoil_list_max, "numbers", "expected at most 65535 elements, found 65536"},
    };
    struct workbench *bench = *state;
    for (size_t at = 0; at < COUNT(rows); at++) {
        struct kitchen kitchen = kitchen_make();
        rows[at].spoil(&kitchen);
        assert_null(workbench_encode(bench, &kitchen));
        assert_int_equal(bench->error.code, CULEX_EENCODE);
        assert_string_equal(bench->error.field, rows[at].field);
        assert_contains(bench->error.text, rows[at].field);
        assert_contains(bench->error.text, rows[at].text);
    }
}

/* ---- decoding ---- */

static void test_decode__missing_params_take_their_defaults(void **state)
{
    const struct kitchen *kitchen = workbench_decode(*state, " { } ");
    assert_non_null(kitchen);
    assert_int_equal(kitchen->i32, -7);
    assert_string_equal(kitchen->text, "no-reply@shop.example");
    assert_string_equal(kitchen->password, "");
    assert_int_equal(kitchen->lang, KITCHEN_EN);
    assert_string_equal(kitchen->pair[1].currency, "USD");
    assert_false(kitchen->has_note || kitchen->has_percent || kitchen->has_labels);
    assert_int_equal(kitchen->cc_len, 0);
}

static void test_decode__null_is_absent(void **state)
{
    const struct kitchen *kitchen = workbench_decode(
        *state, "{\"i32\":null,\"note\":null,\"cc\":null,\"price\":null,\"labels\":null}");
    assert_non_null(kitchen);
    assert_int_equal(kitchen->i32, -7);
    assert_false(kitchen->has_note || kitchen->has_labels);
    assert_int_equal(kitchen->price.minor, 100);
}

static void test_decode__any_order_white_space_and_unknown_names(void **state)
{
    const struct kitchen *kitchen = workbench_decode(
        *state, "\t{ \"u8\" : 7 ,\r\n\"future\":[{\"a\":[1,2.5e3,\"\\ud83d\\ude00\"]},null,true],"
                "\"i8\":-1,\"\":0, \"i\\u0036\\u0034\":\"12\", \"customer\":5}\n");
    assert_non_null(kitchen);
    assert_int_equal(kitchen->u8, 7);
    assert_int_equal(kitchen->i8, -1);
    assert_int_equal(kitchen->i64, 12);
    assert_int_equal(kitchen->tenant, 5);
}

static void test_decode__escapes_resolve_to_utf8(void **state)
{
    const struct kitchen *kitchen = workbench_decode(
        *state, "{\"text\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\uD83D\\uDE00\","
                "\"blob\":\"\\/\\/4=\",\"letter\":\"\\u00ff\"}");
    assert_non_null(kitchen);
    assert_string_equal(kitchen->text, "\"\\/\b\f\n\r\tA\u00e9\u20ac\U0001F600");
    assert_int_equal(kitchen->blob.len, 2);
    assert_int_equal((unsigned char)kitchen->letter, 0xFF);
}

static void test_decode__every_integer_takes_number_and_string(void **state)
{
    const struct kitchen *kitchen = workbench_decode(
        *state, "{\"i8\":\"-128\",\"i16\":\"32767\",\"u64\":\"18446744073709551615\","
                "\"u32\":4294967295,\"i128\":-170141183460469231731687303715884105728,"
                "\"u128\":340282366920938463463374607431768211455}");
    assert_non_null(kitchen);
    assert_int_equal(kitchen->i8, -128);
    assert_int_equal(kitchen->i16, 32767);
    assert_true(kitchen->u64 == UINT64_MAX && kitchen->u32 == UINT32_MAX);
    assert_true(kitchen->i128.hi == INT64_MIN && kitchen->i128.lo == 0);
    assert_true(kitchen->u128.hi == UINT64_MAX && kitchen->u128.lo == UINT64_MAX);
}

static void test_decode__floats_take_any_json_number_in_range(void **state)
{
    const struct kitchen *kitchen = workbench_decode(
        *state, "{\"f32\":\"NaN\",\"f64\":1e-400,\"matrix\":[1,-2.50e1,\"Infinity\","
                "\"-Infinity\"]}");
    assert_non_null(kitchen);
    assert_true(isnan(kitchen->f32) && kitchen->f64 == 0.0);
    assert_true(kitchen->matrix[1] == -25.0 && isinf(kitchen->matrix[2]));
    assert_true(kitchen->matrix[3] < 0 && isinf(kitchen->matrix[3]));
}

struct complaint {
    const char *payload;
    const char *field;
    const char *text;
};

static void check_complaints(struct workbench *bench, const struct complaint *rows, size_t count,
                             culex_status code)
{
    for (size_t at = 0; at < count; at++) {
        if (workbench_decode(bench, rows[at].payload) != NULL)
            fail_msg("accepted %s", rows[at].payload);
        if (bench->error.code != code || strcmp(bench->error.field, rows[at].field) != 0 ||
            strstr(bench->error.text, rows[at].text) == NULL)
            fail_msg("%s: code %d, field '%s', text '%s'", rows[at].payload, (int)bench->error.code,
                     bench->error.field, bench->error.text);
    }
}

static void test_decode__names_the_field_and_what_was_expected(void **state)
{
    static const struct complaint rows[] = {
        {"{\"flag\":1}", "flag", "expected true or false, found a number"},
        {"{\"i8\":128}", "i8", "expected an integer from -128 to 127, found 128"},
        {"{\"i8\":true}", "i8", "expected an integer from -128 to 127, found a boolean"},
        {"{\"u8\":-1}", "u8", "expected an integer from 0 to 255, found -1"},
        {"{\"u8\":256}", "u8", "found 256"},
        {"{\"i16\":1.0}", "i16", "found 1.0"},
        {"{\"i16\":1e3}", "i16", "found 1e3"},
        {"{\"i16\":-0}", "i16", "found -0"},
        {"{\"i16\":\"+1\"}", "i16", "found +1"},
        {"{\"i16\":\"01\"}", "i16", "found 01"},
        {"{\"i16\":\"\"}", "i16", "expected an integer"},
        {"{\"i64\":9223372036854775808}", "i64", "found 9223372036854775808"},
        {"{\"i128\":1.5}", "i128", "expected an integer of 128 bits, found 1.5"},
        {"{\"u128\":-1}", "u128", "expected an unsigned integer of 128 bits, found -1"},
        {"{\"percent\":0}", "percent", "expected an integer from 1 to 100, found 0"},
        {"{\"percent\":101}", "percent", "found 101"},
        {"{\"f64\":1e400}", "f64", "expected a number in range, found 1e400"},
        {"{\"f32\":3.5e38}", "f32", "expected a number in range of float32, found 3.5e38"},
        {"{\"f64\":\"nan\"}", "f64", "found nan"},
        {"{\"f64\":\"1.5\"}", "f64", "found 1.5"},
        {"{\"letter\":\"\"}", "letter", "expected one character up to U+00FF"},
        {"{\"letter\":\"ab\"}", "letter", "found ab"},
        {"{\"letter\":\"\\u0100\"}", "letter", "expected one character"},
        {"{\"letter\":\"\u20ac\"}", "letter", "expected one character"},
        {"{\"letter\":5}", "letter", "found a number"},
        {"{\"text\":5}", "text", "expected a string, found a number"},
        {"{\"text\":\"a\\u0000b\"}", "text", "U+0000"},
        {"{\"blob\":\"Zg=\"}", "blob", "expected base64 with padding, found Zg="},
        {"{\"blob\":\"AAAAAAAAAAAAAAAAAAAAAAA=\"}", "blob", "expected at most 16 bytes, found 17"},
        {"{\"id\":\"0190f3a1\"}", "id", "expected a UUID, found 0190f3a1"},
        {"{\"at\":\"yesterday\"}", "at", "expected an RFC 3339 time"},
        {"{\"wait\":\"1h\"}", "wait", "expected a duration like \"1.5s\", found 1h"},
        {"{\"lang\":1}", "lang", "expected a name, found a number"},
        {"{\"price\":[]}", "price", "expected an object, found a list"},
        {"{\"price\":{\"minor\":1}}", "price.currency", "required, but not in the payload"},
        {"{\"price\":{\"minor\":null,\"currency\":\"EUR\"}}", "price.minor", "required"},
        {"{\"pair\":[{\"minor\":1,\"currency\":\"EUR\"}]}", "pair", "expected 2 elements, found 1"},
        {"{\"pair\":[]}", "pair", "expected 2 elements, found 0"},
        {"{\"matrix\":[1,2,3,4,5]}", "matrix", "expected 4 elements, found more"},
        {"{\"matrix\":[1,2,null,4]}", "matrix[2]", "found null"},
        {"{\"cc\":[\"a\",\"b\",\"c\",\"d\"]}", "cc", "expected at most 3 elements, found more"},
        {"{\"cc\":[\"a\",7]}", "cc[1]", "expected a string, found a number"},
        {"{\"cc\":{}}", "cc", "expected a list, found an object"},
        {"{\"prices\":[{\"minor\":1,\"currency\":\"EUR\"},{\"minor\":1,\"currency\":\"E\"}]}",
         "prices[1].currency", "expected at least 3 bytes, found 1"},
        {"{\"i8\":1,\"i8\":1}", "i8", "twice"},
        {"{\"customer\":1,\"!customer\":1}", "tenant", "twice"},
        {"{\"i8\":null,\"i8\":1}", "i8", "twice"},
    };
    check_complaints(*state, rows, COUNT(rows), CULEX_EDECODE);
}

static void test_decode__malformed_text_is_refused_with_the_place(void **state)
{
    static const struct complaint rows[] = {
        {"", "", "expected an object, found no value at byte 0"},
        {"null", "", "expected an object, found null"},
        {"[]", "", "expected an object, found a list"},
        {"{", "", "no name where one must be at byte 1"},
        {"{}x", "", "more text behind the payload at byte 2"},
        {"{}{}", "", "more text"},
        {"{\"i8\"}", "", "no ':' after a name at byte 5"},
        {"{\"i8\":1,}", "", "no name"},
        {"{,}", "", "no name"},
        {"{i8:1}", "", "no name"},
        {"{'i8':1}", "", "no name"},
        {"{\"i8\":1 \"u8\":2}", "", "no ',' and no '}'"},
        {"{\"i8\":}", "i8", "found no value"},
        {"{\"i8\":+1}", "i8", "found no value"},
        {"{\"i8\":.5}", "i8", "found no value"},
        {"{\"f64\":1.}", "f64", "malformed number"},
        {"{\"f64\":01}", "f64", "malformed number"},
        {"{\"f64\":-}", "f64", "malformed number"},
        {"{\"f64\":1e}", "f64", "malformed number"},
        {"{\"f64\":1e+}", "f64", "malformed number"},
        {"{\"f64\":NaN}", "f64", "found no value"},
        {"{\"flag\":truex}", "", "no ',' and no '}'"},
        {"{\"flag\":tru}", "flag", "expected true or false"},
        {"{\"text\":\"abc", "text", "string without an end"},
        {"{\"text\":\"a\nb\"}", "text", "raw control character"},
        {"{\"text\":\"a\\x\"}", "text", "malformed escape"},
        {"{\"text\":\"a\\u12g4\"}", "text", "malformed escape"},
        {"{\"text\":\"\\ud83d\"}", "text", "malformed escape"},
        {"{\"text\":\"\\ude00\"}", "text", "malformed escape"},
        {"{\"text\":\"\\ude00\\ude00\"}", "text", "malformed escape"},
        {"{\"text\":\"\\ud83d\\u0041\"}", "text", "malformed escape"},
        {"{\"text\":\"caf\xE9\"}", "text", "string that is not UTF-8"},
        {"{\"text\":\"\xED\xA0\x80\"}", "text", "string that is not UTF-8"},
        {"{\"new\xFF\":1}", "", "string that is not UTF-8"},
        {"{\"new\":\"\xFF\"}", "", "string that is not UTF-8"},
        {"{\"new\":[1,]}", "", "no value where one must be"},
        {"{\"new\":[1}", "", "no ',' and no end"},
        {"{\"new\":{\"a\":1,}}", "", "no name"},
        {"{\"new\":{\"a\" 1}}", "", "no ':'"},
        {"{\"new\":nul}", "", "no value"},
    };
    check_complaints(*state, rows, COUNT(rows), CULEX_EDECODE);
}

static void test_decode__raw_nul_bytes_are_refused(void **state)
{
    static const char string[] = "{\"text\":\"a\0b\"}";
    static const char behind[] = "{}\0";
    assert_null(workbench_decode_bytes(*state, string, sizeof string - 1));
    assert_null(workbench_decode_bytes(*state, behind, sizeof behind - 1));
}

/* A name with U+0000 inside once compared equal up to it and was read beyond the wire name. */
static void test_decode__name_with_nul_inside_is_just_unknown(void **state)
{
    const struct kitchen *kitchen =
        workbench_decode(*state, "{\"i8\\u0000aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\":\"x\"}");
    assert_non_null(kitchen);
    assert_int_equal(kitchen->i8, 0);
}

static void test_decode__what_must_be_understood_is_not_ignored(void **state)
{
    static const struct complaint rows[] = {
        {"{\"!shard\":4}", "", "the payload has shard, which"},
        {"{\"\\u0021shard\":4}", "", "the payload has shard, which"},
        {"{\"price\":{\"!vat\":1}}", "price", "the payload has vat, which"},
        {"{\"lang\":\"DE\"}", "lang", "a value of shop.lang that this program knows, found DE"},
    };
    check_complaints(*state, rows, COUNT(rows), CULEX_EUNDERSTAND);
    assert_non_null(workbench_decode(*state, "{\"!i8\":4,\"new\":{\"!shard\":1}}"));
}

static void test_secrets__no_text_ever_repeats_the_value(void **state)
{
    static const char *const payloads[] = {"{\"pin\":73219}",
                                           "{\"pin\":\"73219\"}",
                                           "{\"pin\":73219.5}",
                                           "{\"password\":73219}",
                                           "{\"password\":\"73219----\"}",
                                           "{\"password\":\"73219\\u0000\"}",
                                           "{\"password\":\"73219\\x\"}",
                                           "{\"password\":\"73219",
                                           "{\"pin\":73219x}"};
    struct workbench *bench = *state;
    for (size_t at = 0; at < COUNT(payloads); at++) {
        assert_null(workbench_decode(bench, payloads[at]));
        assert_null(strstr(bench->error.text, "73219"));
    }
    struct kitchen kitchen = kitchen_make();
    kitchen.pin = 73219;
    assert_null(workbench_encode(bench, &kitchen));
    assert_string_equal(bench->error.field, "pin");
    assert_null(strstr(bench->error.text, "73219"));
}

/* ---- every prefix, and error paths without an error ---- */

static const char whole[] =
    "{\"flag\":true,\"letter\":\"\\u00e9\",\"i8\":-8,\"i128\":\"-5\",\"f64\":1.5e-7,"
    "\"text\":\"caf\xC3\xA9 \\ud83d\\ude00\",\"blob\":\"Zm9v\","
    "\"id\":\"0190f3a1-7c4e-7bcd-8e11-00ffa5b6c7d8\",\"at\":\"2026-11-21T06:20:00.5+02:00\","
    "\"wait\":\"-1.5s\",\"lang\":\"IT\",\"price\":{\"minor\":5,\"currency\":\"USD\"},"
    "\"!customer\":9,\"cc\":[\"a\",\"b\"],\"matrix\":[1,2,3,\"NaN\"],\"new\":{\"a\":[true]}}";

static void test_decode__no_proper_prefix_is_accepted(void **state)
{
    assert_non_null(workbench_decode(*state, whole));
    for (size_t len = 0; len < sizeof whole - 1; len++)
        assert_null(workbench_decode_bytes(*state, whole, len));
}

static void test_decode__works_without_an_error_to_fill(void **state)
{
    struct workbench *bench = *state;
    const void *value = bench;
    assert_int_equal(culex_decode(&kitchen_type, bench->arena, "[", 1, &value, NULL),
                     CULEX_EDECODE);
    assert_int_equal(culex_decode(&kitchen_type, bench->arena, NULL, 0, &value, NULL),
                     CULEX_EDECODE);
    assert_ptr_equal(value, bench); /* outputs change on success only */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORKBENCH_TEST(test_encode__writes_all_but_absent_and_empty_in_schema_order),
        WORKBENCH_TEST(test_encode__extreme_values_have_exact_texts),
        WORKBENCH_TEST(test_encode__strings_are_escaped_as_little_as_json_allows),
        WORKBENCH_TEST(test_encode__optional_empty_list_is_there),
        WORKBENCH_TEST(test_encode__appends_and_on_failure_leaves_the_text_alone),
        WORKBENCH_TEST(test_encode__stops_at_the_limit_of_the_buffer),
        WORKBENCH_TEST(test_encode__names_the_field_that_the_schema_forbids),
        WORKBENCH_TEST(test_decode__missing_params_take_their_defaults),
        WORKBENCH_TEST(test_decode__null_is_absent),
        WORKBENCH_TEST(test_decode__any_order_white_space_and_unknown_names),
        WORKBENCH_TEST(test_decode__escapes_resolve_to_utf8),
        WORKBENCH_TEST(test_decode__every_integer_takes_number_and_string),
        WORKBENCH_TEST(test_decode__floats_take_any_json_number_in_range),
        WORKBENCH_TEST(test_decode__names_the_field_and_what_was_expected),
        WORKBENCH_TEST(test_decode__malformed_text_is_refused_with_the_place),
        WORKBENCH_TEST(test_decode__raw_nul_bytes_are_refused),
        WORKBENCH_TEST(test_decode__name_with_nul_inside_is_just_unknown),
        WORKBENCH_TEST(test_decode__what_must_be_understood_is_not_ignored),
        WORKBENCH_TEST(test_secrets__no_text_ever_repeats_the_value),
        WORKBENCH_TEST(test_decode__no_proper_prefix_is_accepted),
        WORKBENCH_TEST(test_decode__works_without_an_error_to_fill),
    };
    return cmocka_run_group_tests_name("codec", tests, NULL, NULL);
}
