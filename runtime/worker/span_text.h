/* worker/span_text.h - a span of an attempt in OTLP/JSON, the JSON of OpenTelemetry's
 * ExportTraceServiceRequest (opentelemetry-proto 1.x): ids are hex, 64-bit numbers are strings. */
#ifndef CULEX_WORKER_SPAN_TEXT_H
#define CULEX_WORKER_SPAN_TEXT_H

#include <culex/codec.h>

#include "core/trace.h"

struct culex_span {
    const struct culex_trace *trace; /* its parent-id is the span's own */
    const char *parent;              /* 16 digits; "": the span is the first of its trace */
    culex_uuid run;
    uint32_t attempt;
    const char *job, *queue;
    const char *outcome;
    const char *error_type;   /* NULL: it did not fail */
    const char *error;        /* NULL: no words */
    int64_t start_ns, end_ns; /* since 1970 */
    int64_t wait_ms;          /* below 0: not known */
    bool is_dead;
};

/* What stands before the first span of a request and behind its last; between two of them is a
 * comma. `service` and `instance` are UTF-8. */
culex_status culex__span_head_append(culex_buf *text, const char *service, const char *instance);
culex_status culex__span_append(culex_buf *text, const struct culex_span *span);
culex_status culex__span_tail_append(culex_buf *text);

#endif
