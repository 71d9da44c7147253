#include "worker/span_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <culex/culex.h>

#include "base/buf.h"
#include "base/utf8.h"

enum { KIND_CONSUMER = 5, STATUS_ERROR = 2, ID_AT = 3, ID_LEN = 32, SPAN_AT = 36, SPAN_LEN = 16 };

/* What fails once fails from then on. */
struct writing {
    culex_buf *text;
    culex_status status;
};

static void put(struct writing *to, const char *bytes, size_t len)
{
    if (to->status == CULEX_OK)
        to->status = culex__buf_append(to->text, bytes, len);
}

/* ASCII of ours, at most 200 bytes. */
static void form(struct writing *to, const char *format, ...) CULEX_PRINTF(2, 3);

static void form(struct writing *to, const char *format, ...)
{
    char text[200];
    va_list list;
    va_start(list, format);
    int len = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    put(to, text, len > 0 ? (size_t)len : 0);
}

/* A string with its quotes. */
static void quote(struct writing *to, const char *words)
{
    size_t len = strlen(words);
    put(to, "\"", 1);
    for (size_t at = 0, size; at < len; at += size) {
        size = culex__utf8_char(words + at, len - at);
        if (size == 0) {
            put(to, "?", 1);
            size = 1;
        } else if ((unsigned char)words[at] < ' ')
            form(to, "\\u%04x", words[at]);
        else if (words[at] == '"' || words[at] == '\\')
            form(to, "\\%c", words[at]);
        else
            put(to, words + at, size);
    }
    put(to, "\"", 1);
}

static void attribute(struct writing *to, const char *key, const char *value)
{
    form(to, "{\"key\":\"%s\",\"value\":{\"stringValue\":", key);
    quote(to, value);
    form(to, "}}");
}

static void number(struct writing *to, const char *key, int64_t value)
{
    form(to, ",{\"key\":\"%s\",\"value\":{\"intValue\":\"%" PRId64 "\"}}", key, value);
}

static void further(struct writing *to, const char *key, const char *value)
{
    form(to, ",");
    attribute(to, key, value);
}

culex_status culex__span_head_append(culex_buf *text, const char *service, const char *instance)
{
    struct writing to = {text, CULEX_OK};
    form(&to, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
    attribute(&to, "service.name", service);
    further(&to, "service.instance.id", instance);
    form(&to, "]},\"scopeSpans\":[{\"scope\":{\"name\":\"culex\",\"version\":\"%s\"},\"spans\":[",
         CULEX_VERSION);
    return to.status;
}

culex_status culex__span_tail_append(culex_buf *text)
{
    struct writing to = {text, CULEX_OK};
    form(&to, "]}]}]}\n");
    return to.status;
}

static void ids(struct writing *to, const struct culex_span *span)
{
    const char *parent = span->trace->parent;
    form(to, "{\"traceId\":\"%.*s\",\"spanId\":\"%.*s\",", ID_LEN, parent + ID_AT, SPAN_LEN,
         parent + SPAN_AT);
    if (span->trace->state[0] != '\0') {
        form(to, "\"traceState\":");
        quote(to, span->trace->state);
        form(to, ",");
    }
    if (span->parent[0] != '\0')
        form(to, "\"parentSpanId\":\"%s\",", span->parent);
}

/* The names of OpenTelemetry's conventions for messaging, and ours. */
static void attributes(struct writing *to, const struct culex_span *span)
{
    char id[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(span->run, id);
    form(to, "\"attributes\":[");
    attribute(to, "messaging.system", "culex");
    further(to, "messaging.operation.type", "process");
    further(to, "messaging.destination.name", span->queue);
    further(to, "messaging.message.id", id);
    further(to, "culex.job", span->job);
    number(to, "culex.attempt", span->attempt);
    further(to, "culex.outcome", span->outcome);
    if (span->is_dead)
        form(to, ",{\"key\":\"culex.dead\",\"value\":{\"boolValue\":true}}");
    if (span->wait_ms >= 0)
        number(to, "culex.queue_wait_ms", span->wait_ms);
    if (span->error_type != NULL)
        further(to, "error.type", span->error_type);
    form(to, "]");
}

culex_status culex__span_append(culex_buf *text, const struct culex_span *span)
{
    struct writing to = {text, CULEX_OK};
    size_t before = text->len;
    ids(&to, span);
    form(&to, "\"flags\":1,\"name\":");
    put(&to, "\"process ", strlen("\"process "));
    put(&to, span->job, strlen(span->job)); /* letters, digits, '_' and '.' */
    form(&to,
         "\",\"kind\":%d,\"startTimeUnixNano\":\"%" PRId64 "\",\"endTimeUnixNano\":\"%" PRId64
         "\",",
         KIND_CONSUMER, span->start_ns, span->end_ns);
    attributes(&to, span);
    if (span->error_type != NULL) {
        form(&to, ",\"status\":{\"code\":%d,\"message\":", STATUS_ERROR);
        quote(&to, span->error != NULL ? span->error : span->error_type);
        form(&to, "}");
    }
    form(&to, "}");
    if (to.status != CULEX_OK)
        culex__buf_cut(text, before);
    return to.status;
}
