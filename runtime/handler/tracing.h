/* handler/tracing.h - the trace of a run at work, which supervisor and child find out each by
 * itself. */
#ifndef CULEX_HANDLER_TRACING_H
#define CULEX_HANDLER_TRACING_H

#include <stdbool.h>

#include "core/trace.h"

struct culex_run;

/* What a worker writes. */
struct culex_tracing {
    bool has_spans;  /* one for each attempt of a run whose trace is recorded */
    bool begins_all; /* beside that: runs of no trace begin one of their own */
};

/* The trace that the run's handler is in; both of it "" when in none. True: the worker writes a
 * span of this attempt, which is the trace's parent then, and *ret_parent is the id of its own
 * parent, "" for the first of a trace. Where no span is written the parent stays the one that
 * somebody knows. */
bool culex__tracing_enter(const struct culex_tracing *tracing, const struct culex_run *run,
                          struct culex_trace *ret_trace, char ret_parent[CULEX_SPAN_ID_SIZE]);

#endif
