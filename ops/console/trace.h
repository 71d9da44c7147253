/* ops/console/trace.h - the trace of a request, as W3C Trace Context has it in headers, for the
 * runs that it enqueues; and that of a run, for whoever executes it. */
#ifndef OPS_CONSOLE_TRACE_H
#define OPS_CONSOLE_TRACE_H

#include "console/request.h"

enum { TRACE_STATE_MAX = 512 };

struct trace {
    const char *parent; /* NULL: none */
    const char *state;  /* NULL: none */
    char states[TRACE_STATE_MAX + 1];
};

/* Whether culex_enqueue_options would take it. */
bool trace_state_is_good(const char *text);

/* That of the headers traceparent and tracestate. What is not well formed there is as if it was
 * missing, for headers are written by what stands between programs. `ret_trace` stays in its place.
 */
void trace_of_headers(const struct request *request, struct trace *ret_trace);

/* The members traceparent and tracestate, where a run's payload has them. */
void trace_json(struct ops_json *json, culex_bytes payload);

#endif
