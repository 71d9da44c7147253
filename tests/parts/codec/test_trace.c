/* The trace of a run: as a text that somebody gives, and as a payload carries it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "core/codec_decode.h"
#include "core/trace.h"

#define TRACE_ID "4bf92f3577b34da6a3ce929d0e0e4736"
#define GIVEN    "00-" TRACE_ID "-00f067aa0ba902b7-01"

static void expect_wrong(const char *parent, const char *state, const char *text)
{
    struct culex_trace trace;
    culex_error error = {0};
    assert_int_equal(culex__trace_read(parent, state, &trace, &error), CULEX_EINVAL);
    assert_string_equal(error.text, text);
}

static void expect_read(const char *parent, const char *expected)
{
    struct culex_trace trace;
    culex_error error;
    assert_int_equal(culex__trace_read(parent, NULL, &trace, &error), CULEX_OK);
    assert_string_equal(trace.parent, expected);
    assert_string_equal(trace.state, "");
}

static void test_text__is_kept_as_it_was(void **state)
{
    (void)state;
    expect_read(GIVEN, GIVEN);
    expect_read("00-" TRACE_ID "-00f067aa0ba902b7-00", "00-" TRACE_ID "-00f067aa0ba902b7-00");
}

/* Of a later version what is known of it counts; flags that nobody here knows do not. */
static void test_text__of_another_version_becomes_one_of_ours(void **state)
{
    (void)state;
    expect_read("01-" TRACE_ID "-00f067aa0ba902b7-01", GIVEN);
    expect_read("fe-" TRACE_ID "-00f067aa0ba902b7-ff-and-more", GIVEN);
    expect_read("00-" TRACE_ID "-00f067aa0ba902b7-03", GIVEN);
    expect_read("00-" TRACE_ID "-00f067aa0ba902b7-fe", "00-" TRACE_ID "-00f067aa0ba902b7-00");
}

static void test_text__that_is_wrong_is_told_where(void **state)
{
    (void)state;
    expect_wrong("", NULL,
                 "traceparent does not begin with a version, two digits from 0 to 9 and a to f");
    expect_wrong("ff" TRACE_ID, NULL, "traceparent is of version ff, which no text is of");
    expect_wrong("00", NULL, "traceparent has no '-' behind its version");
    expect_wrong("00-" TRACE_ID, NULL,
                 "traceparent has no trace-id of 32 digits from 0 to 9 and a to f behind its "
                 "version");
    expect_wrong("00-00000000000000000000000000000000-00f067aa0ba902b7-01", NULL,
                 "traceparent has a trace-id of zeroes alone");
    expect_wrong("00-" TRACE_ID "-00f067aa0ba902b", NULL,
                 "traceparent has no parent-id of 16 digits from 0 to 9 and a to f behind its "
                 "trace-id");
    expect_wrong("00-" TRACE_ID "-0000000000000000-01", NULL,
                 "traceparent has a parent-id of zeroes alone");
    expect_wrong("00-" TRACE_ID "-00f067aa0ba902b7-0", NULL,
                 "traceparent does not have its flags, two digits from 0 to 9 and a to f, behind "
                 "its parent-id");
    expect_wrong(GIVEN "-", NULL, "traceparent has more behind its flags");
    expect_wrong("01-" TRACE_ID "-00f067aa0ba902b7-012", NULL,
                 "traceparent has more behind its flags");
    expect_wrong(GIVEN, "a=\n", "tracestate has a byte that is no printable ASCII");
}

static bool is_digit(char byte)
{
    return byte != '\0' && strchr("0123456789abcdef", byte) != NULL;
}

/* Each byte of a good text, changed into each other: digits may become digits, and nothing else
 * passes. */
static void test_text__with_one_byte_changed(void **state)
{
    (void)state;
    for (size_t at = 0; at < CULEX_TRACE_LEN; at++) {
        for (int byte = 0; byte < 256; byte++) {
            char text[] = GIVEN;
            char *copy;
            struct culex_trace trace;
            culex_error error;
            text[at] = (char)byte;
            copy = strdup(text); /* so that a sanitizer sees who reads behind its end */
            assert_non_null(copy);
            culex_status status = culex__trace_read(copy, NULL, &trace, &error);
            bool is_good = is_digit(GIVEN[at]) ? is_digit(text[at]) : text[at] == GIVEN[at];
            assert_int_equal(status, is_good ? CULEX_OK : CULEX_EINVAL);
            if (is_good && at > 2 && at < CULEX_TRACE_LEN - 2)
                assert_string_equal(trace.parent, text);
            free(copy);
        }
    }
}

static void test_state__has_its_bounds(void **state)
{
    char text[CULEX_TRACE_STATE_SIZE + 1];
    struct culex_trace trace;
    culex_error error;
    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[CULEX_TRACE_STATE_MAX + 1] = '\0';
    expect_wrong(GIVEN, text, "tracestate is longer than 512 bytes");
    text[CULEX_TRACE_STATE_MAX] = '\0';
    assert_int_equal(culex__trace_read(GIVEN, text, &trace, &error), CULEX_OK);
    assert_string_equal(trace.state, text);
}

/* --- in payloads ---------------------------------------------------------------------------------
 */

static void trace_make(struct culex_trace *trace, const char *state)
{
    culex_error error;
    assert_int_equal(culex__trace_read(GIVEN, state, trace, &error), CULEX_OK);
}

/* `expected` NULL: the payload has none. */
static void expect_found(const char *payload, size_t len, const char *parent, const char *state)
{
    struct culex_trace trace;
    char *copy = malloc(len + 1); /* for a sanitizer, as above */
    assert_non_null(copy);
    memcpy(copy, payload, len);
    assert_int_equal(culex__trace_find(copy, len, &trace), parent != NULL);
    assert_string_equal(trace.parent, parent != NULL ? parent : "");
    assert_string_equal(trace.state, state != NULL ? state : "");
    free(copy);
}

static void expect_appended(const char *payload, const char *state, const char *expected)
{
    culex_buf text;
    struct culex_trace trace;
    trace_make(&trace, state);
    culex_buf_init(&text, 0);
    assert_int_equal(culex__buf_append(&text, payload, strlen(payload)), CULEX_OK);
    culex__trace_append(&trace, &text);
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.data, expected, text.len);
    culex_buf_release(&text);
}

static void test_payload__has_it_last(void **state)
{
    (void)state;
    expect_appended("{}", NULL, "{\"culex.trace\":\"" GIVEN "\"}");
    expect_appended("{ }", NULL, "{ \"culex.trace\":\"" GIVEN "\"}");
    expect_appended("{\"n\":7}", NULL, "{\"n\":7,\"culex.trace\":\"" GIVEN "\"}");
    expect_appended("{\"n\":7}", "a=1,b=\"\\",
                    "{\"n\":7,\"culex.tracestate\":\"a=1,b=\\\"\\\\\",\"culex.trace\":\"" GIVEN
                    "\"}");
}

static void test_payload__without_a_trace_stays_as_it_was(void **state)
{
    const struct culex_trace none = {"", ""};
    culex_buf text;
    (void)state;
    culex_buf_init(&text, 0);
    assert_int_equal(culex__buf_append(&text, "{}", 2), CULEX_OK);
    culex__trace_append(&none, &text);
    assert_int_equal(text.len, 2);
    assert_memory_equal(text.data, "{}", 2);
    culex_buf_release(&text);
    expect_appended("", NULL, ""); /* what is no object becomes none */
    expect_appended("}", NULL, "}");
    expect_appended("[1]", NULL, "[1]");
}

static void test_payload__that_is_full_goes_without(void **state)
{
    static const size_t lost = sizeof "{\"n\":7,\"culex.trace\":\"" GIVEN "\"}" - 1;
    struct culex_trace trace;
    (void)state;
    trace_make(&trace, NULL);
    for (size_t max = 7; max <= lost; max++) {
        culex_buf text;
        culex_buf_init(&text, max);
        assert_int_equal(culex__buf_append(&text, "{\"n\":7}", 7), CULEX_OK);
        culex__trace_append(&trace, &text);
        assert_int_equal(text.len, max == lost ? lost : 7);
        assert_memory_equal(text.data, max == lost ? "{\"n\":7,\"" : "{\"n\":7}", 7);
        culex_buf_release(&text);
    }
}

static void test_payload__gives_it_back(void **state)
{
    static const char *const payloads[] = {"{}", "{\"n\":7}", "{\"text\":\"\\\"culex.trace\\\"\"}"};
    char all[97], longest[CULEX_TRACE_STATE_SIZE];
    (void)state;
    for (int i = 0; i < 95; i++)
        all[i] = (char)(' ' + i);
    all[95] = '\0';
    memset(longest, '"', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    const char *const states[] = {"",   "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
                                  all,  longest,
                                  "\\", "\"culex.tracestate\":\""};
    for (size_t i = 0; i < sizeof payloads / sizeof payloads[0]; i++) {
        for (size_t k = 0; k < sizeof states / sizeof states[0]; k++) {
            culex_buf text;
            struct culex_trace trace;
            trace_make(&trace, states[k]);
            culex_buf_init(&text, 0);
            assert_int_equal(culex__buf_append(&text, payloads[i], strlen(payloads[i])), CULEX_OK);
            culex__trace_append(&trace, &text);
            assert_true(culex__payload_is_well_formed(text.data, text.len));
            expect_found(text.data, text.len, GIVEN, states[k]);
            culex_buf_release(&text);
        }
    }
}

#define MEMBER "\"culex.trace\":\"" GIVEN "\""

/* Values are nobody's trace, and what somebody else wrote there is none. */
static void test_payload__of_another_form_has_none(void **state)
{
    static const char *const none[] = {
        "",
        "}",
        "{}",
        "\"}",
        MEMBER "}",
        "{\"a\":{" MEMBER "}}",
        "{" MEMBER ",\"n\":7}",
        "{" MEMBER "} ",
        "[" MEMBER "}",
        "{\"a\":\"\\" MEMBER "}",
        "{\"culex.trace\":\"00-" TRACE_ID "-00f067aa0ba902b7-0g\"}",
        "{\"culex.trace\":\"00-" TRACE_ID "-0000000000000000-01\"}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        expect_found(none[i], strlen(none[i]), NULL, NULL);
}

static void test_payload__with_a_state_that_is_no_use_has_the_rest(void **state)
{
    static const char *const heads[] = {
        "{\"culex.tracestate\":\"a=1\",\"text\":\"x\",",
        "{\"culex.tracestate\":\"a=\xc3\xa4\",",
        "{\"culex.tracestate\":7,",
        "{\"text\":\"\\\"culex.tracestate\\\":\\\"\",",
        "\"culex.tracestate\":\",",
        "\",",
    };
    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        char text[256];
        int len = snprintf(text, sizeof text, "%s" MEMBER "}", heads[i]);
        expect_found(text, (size_t)len, GIVEN, NULL);
    }
}

/* Every cut and every changed byte: the answer is a trace that could have been given, or none. */
static void test_payload__that_is_damaged(void **state)
{
    static const char whole[] =
        "{\"n\":7,\"culex.tracestate\":\"a=\\\"\\\\\",\"culex.trace\":\"" GIVEN "\"}";
    (void)state;
    for (size_t at = 0; at < sizeof whole - 1; at++) {
        expect_found(whole, at, NULL, NULL);
        for (int byte = 0; byte < 256; byte++) {
            char text[sizeof whole], *copy = malloc(sizeof whole - 1);
            struct culex_trace trace, again;
            culex_error error;
            assert_non_null(copy);
            memcpy(text, whole, sizeof whole);
            text[at] = (char)byte;
            memcpy(copy, text, sizeof whole - 1);
            if (culex__trace_find(copy, sizeof whole - 1, &trace))
                assert_int_equal(culex__trace_read(trace.parent, trace.state, &again, &error),
                                 CULEX_OK);
            free(copy);
        }
    }
}

/* --- spans ---------------------------------------------------------------------------------------
 */

static void test_span__is_of_its_attempt_alone(void **state)
{
    struct culex_trace one, same, other;
    (void)state;
    trace_make(&one, NULL);
    trace_make(&same, NULL);
    trace_make(&other, NULL);
    culex__trace_enter(&one, "0197-1-a");
    culex__trace_enter(&same, "0197-1-a");
    culex__trace_enter(&other, "0197-2-a");
    assert_string_equal(one.parent, same.parent);
    assert_string_not_equal(one.parent, other.parent);
    assert_string_not_equal(one.parent, GIVEN);
    assert_memory_equal(one.parent, GIVEN, 36); /* version and trace-id */
    assert_string_equal(one.parent + 52, "-01");
    expect_read(one.parent, one.parent);
}

static void test_trace__that_a_run_begins_has_its_id(void **state)
{
    struct culex_trace trace;
    culex_uuid id;
    (void)state;
    for (size_t i = 0; i < sizeof id.b; i++)
        id.b[i] = (uint8_t)(0xf0 + i);
    culex__trace_begin(&trace, id);
    assert_string_equal(trace.parent, "00-f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff-0000000000000000-01");
    assert_true(culex__trace_is_sampled(&trace));
    culex__trace_enter(&trace, "0197-1-a");
    expect_read(trace.parent, trace.parent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text__is_kept_as_it_was),
        cmocka_unit_test(test_text__of_another_version_becomes_one_of_ours),
        cmocka_unit_test(test_text__that_is_wrong_is_told_where),
        cmocka_unit_test(test_text__with_one_byte_changed),
        cmocka_unit_test(test_state__has_its_bounds),
        cmocka_unit_test(test_payload__has_it_last),
        cmocka_unit_test(test_payload__without_a_trace_stays_as_it_was),
        cmocka_unit_test(test_payload__that_is_full_goes_without),
        cmocka_unit_test(test_payload__gives_it_back),
        cmocka_unit_test(test_payload__of_another_form_has_none),
        cmocka_unit_test(test_payload__with_a_state_that_is_no_use_has_the_rest),
        cmocka_unit_test(test_payload__that_is_damaged),
        cmocka_unit_test(test_span__is_of_its_attempt_alone),
        cmocka_unit_test(test_trace__that_a_run_begins_has_its_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
