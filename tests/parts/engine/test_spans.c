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
#include "worker/collector.h"
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

static void test_collector__is_read_or_refused_by_table(void **state)
{
    static const struct {
        const char *url, *host; /* NULL: refused */
        int port;
        const char *path;
    } rows[] = {
        {"http://localhost", "localhost", 4318, "/v1/traces"},
        {"http://10.0.0.1:80/x/y?z=1", "10.0.0.1", 80, "/x/y?z=1"},
        {"http://[::1]:65535/", "::1", 65535, "/"},
        {"http://a_b-c.d:1", "a_b-c.d", 1, "/v1/traces"},
        {"http://", NULL, 0, NULL},
        {"http://[]", NULL, 0, NULL},
        {"http://[::1", NULL, 0, NULL},
        {"http://a:0", NULL, 0, NULL},
        {"http://a:65536", NULL, 0, NULL},
        {"http://a:123456", NULL, 0, NULL},
        {"http://a:", NULL, 0, NULL},
        {"http://a:x", NULL, 0, NULL},
        {"http://user:hunter2@a", NULL, 0, NULL},
        {"http://a/x y", NULL, 0, NULL},
        {"http://a/x\r\nHost: b", NULL, 0, NULL},
        {"http://a#x", NULL, 0, NULL},
        {"https://a", NULL, 0, NULL},
        {"ftp://a", NULL, 0, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct culex_collector collector;
        culex_error error = {0};
        bool is_good = rows[i].host != NULL;
        assert_true(culex__collector_is_url(rows[i].url));
        assert_int_equal(culex__collector_read(rows[i].url, &collector, &error),
                         is_good ? CULEX_OK : CULEX_EUSAGE);
        assert_null(strstr(error.text, "hunter2"));
        if (!is_good)
            continue;
        assert_string_equal(collector.host, rows[i].host);
        assert_int_equal(collector.port, rows[i].port);
        assert_string_equal(collector.path, rows[i].path);
    }
    assert_false(culex__collector_is_url("/var/log/spans:1"));
}

static void test_collector__of_a_long_name_is_refused(void **state)
{
    char url[600] = "http://";
    struct culex_collector collector;
    culex_error error;
    (void)state;
    memset(url + 7, 'a', 255);
    assert_int_equal(culex__collector_read(url, &collector, &error), CULEX_OK);
    strcpy(url + 7 + 255, "a");
    assert_int_equal(culex__collector_read(url, &collector, &error), CULEX_EUSAGE);
    strcpy(url, "http://a/");
    memset(url + 9, 'b', 254);
    url[9 + 254] = '\0';
    assert_int_equal(culex__collector_read(url, &collector, &error), CULEX_OK);
    strcpy(url + 9 + 254, "b");
    assert_int_equal(culex__collector_read(url, &collector, &error), CULEX_EUSAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request__as_a_collector_reads_it),
        cmocka_unit_test(test_words__of_any_bytes_stay_json),
        cmocka_unit_test(test_span__that_finds_no_room_leaves_nothing),
        cmocka_unit_test(test_collector__is_read_or_refused_by_table),
        cmocka_unit_test(test_collector__of_a_long_name_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
