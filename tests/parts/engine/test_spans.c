/* engine/test_spans.c - spans as text: OTLP/JSON, whatever words are in it and however little room
 * there is. product/process/spans.sh has them written by workers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "core/codec_decode.h"
#include "worker/span_text.h"

static const struct culex_trace trace = {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                                         ""};

static struct culex_span span_make(const char *error)
{
    return (struct culex_span){
        .trace = &trace,
        .parent = "0123456789abcdef",
        .run = {{1, 2, 3}},
        .attempt = 3,
        .job = "mail.send",
        .queue = "mail",
        .outcome = "failed",
        .error_type = "failed",
        .error = error,
        .start_ns = INT64_C(1700000000123456789),
        .end_ns = INT64_C(1700000001000000000),
        .wait_ms = 17,
        .is_dead = true,
    };
}

#define BEGIN                                                                                      \
    "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{"     \
    "\"stringValue\":\"my \\\"mailer\\\"\"}},{\"key\":\"service.instance.id\",\"value\":{"         \
    "\"stringValue\":\"h-1\"}}]},\"scopeSpans\":[{\"scope\":{\"name\":\"culex\",\"version\":"      \
    "\"0.1.0\"},\"spans\":["
#define IDS "{\"traceId\":\"4bf92f3577b34da6a3ce929d0e0e4736\",\"spanId\":\"00f067aa0ba902b7\","
#define ATTRIBUTES                                                                                 \
    "\"attributes\":[{\"key\":\"messaging.system\",\"value\":{\"stringValue\":\"culex\"}},"        \
    "{\"key\":\"messaging.operation.type\",\"value\":{\"stringValue\":\"process\"}},"              \
    "{\"key\":\"messaging.destination.name\",\"value\":{\"stringValue\":\"mail\"}},"               \
    "{\"key\":\"messaging.message.id\",\"value\":{\"stringValue\":"                                \
    "\"01020300-0000-0000-0000-000000000000\"}},"                                                  \
    "{\"key\":\"culex.job\",\"value\":{\"stringValue\":\"mail.send\"}},"                           \
    "{\"key\":\"culex.attempt\",\"value\":{\"intValue\":\"3\"}},"

static void test_request__as_a_collector_reads_it(void **state)
{
    culex_buf text;
    struct culex_span span = span_make("no \"luck\"\n");
    (void)state;
    culex_buf_init(&text, 0);
    assert_int_equal(culex__span_head_append(&text, "my \"mailer\"", "h-1"), CULEX_OK);
    assert_int_equal(culex__span_append(&text, &span), CULEX_OK);
    assert_int_equal(culex__buf_append(&text, ",", 1), CULEX_OK);
    span.parent = "";
    span.error_type = NULL;
    span.wait_ms = -1;
    span.is_dead = false;
    span.outcome = "done";
    assert_int_equal(culex__span_append(&text, &span), CULEX_OK);
    assert_int_equal(culex__span_tail_append(&text), CULEX_OK);
    assert_int_equal(culex__buf_append(&text, "", 1), CULEX_OK);
    assert_string_equal(
        text.data, BEGIN IDS
        "\"parentSpanId\":\"0123456789abcdef\",\"flags\":1,\"name\":\"process mail.send\",\"kind\":"
        "5,\"startTimeUnixNano\":\"1700000000123456789\",\"endTimeUnixNano\":"
        "\"1700000001000000000\"," ATTRIBUTES
        "{\"key\":\"culex.outcome\",\"value\":{\"stringValue\":\"failed\"}},"
        "{\"key\":\"culex.dead\",\"value\":{\"boolValue\":true}},"
        "{\"key\":\"culex.queue_wait_ms\",\"value\":{\"intValue\":\"17\"}},"
        "{\"key\":\"error.type\",\"value\":{\"stringValue\":\"failed\"}}],"
        "\"status\":{\"code\":2,\"message\":\"no \\\"luck\\\"\\u000a\"}}," IDS
        "\"flags\":1,\"name\":\"process mail.send\",\"kind\":5,\"startTimeUnixNano\":"
        "\"1700000000123456789\",\"endTimeUnixNano\":\"1700000001000000000\"," ATTRIBUTES
        "{\"key\":\"culex.outcome\",\"value\":{\"stringValue\":\"done\"}}]}]}]}]}\n");
    culex_buf_release(&text);
}

/* Any byte, alone and among others: the text stays JSON. */
static void test_words__of_any_bytes_stay_json(void **state)
{
    (void)state;
    for (int byte = 1; byte < 256; byte++) {
        char words[] = "a?b";
        culex_buf text;
        words[1] = (char)byte;
        const struct culex_span span = span_make(words);
        culex_buf_init(&text, 0);
        assert_int_equal(culex__span_append(&text, &span), CULEX_OK);
        assert_true(culex__payload_is_well_formed(text.data, text.len));
        culex_buf_release(&text);
    }
}

static void test_span__that_finds_no_room_leaves_nothing(void **state)
{
    const struct culex_span span = span_make("\x01 \xc3\xa4 \"");
    culex_buf whole;
    (void)state;
    culex_buf_init(&whole, 0);
    assert_int_equal(culex__span_append(&whole, &span), CULEX_OK);
    for (size_t max = 1; max <= whole.len + 1; max++) {
        culex_buf text;
        culex_buf_init(&text, max);
        assert_int_equal(culex__buf_append(&text, "[", 1), CULEX_OK);
        bool has_room = max == whole.len + 1;
        assert_int_equal(culex__span_append(&text, &span), has_room ? CULEX_OK : CULEX_ELIMIT);
        assert_int_equal(text.len, has_room ? max : 1);
        culex_buf_release(&text);
    }
    culex_buf_release(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request__as_a_collector_reads_it),
        cmocka_unit_test(test_words__of_any_bytes_stay_json),
        cmocka_unit_test(test_span__that_finds_no_room_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
