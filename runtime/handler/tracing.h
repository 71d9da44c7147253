/* handler/tracing.h - the trace of a run at work, which supervisor and child find out each by
 * itself. */
#ifndef CULEX_HANDLER_TRACING_H
#define CULEX_HANDLER_TRACING_H

#include <stdbool.h>

struct culex_run;
struct culex_trace;

/* What a worker writes. */
struct culex_tracing {
    bool has_spans;  /* one for each attempt of a run whose trace is recorded */
    bool begins_all; /* runs of no trace begin one of their own */
};

/* The trace that the run's handler is in; both of it "" when in none. True: the worker writes a
 * span of this attempt, which is the trace's parent then. Where no span is written the parent stays
 * the one that somebody knows. */
bool culex__tracing_enter(const struct culex_tracing *tracing, const struct culex_run *run,
                          struct culex_trace *ret_trace);

#endif
