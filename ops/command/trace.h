/* ops/command/trace.h - the trace that a run is of, as its payload tells (schemas/payload.md), and
 * as programs hand it on. */
#ifndef OPS_COMMAND_TRACE_H
#define OPS_COMMAND_TRACE_H

#include <stdbool.h>

#include <culex/types.h>

enum { OPS_TRACEPARENT_SIZE = 56 };

/* "" and false when it is of none. */
bool ops_trace_find(culex_bytes payload, char ret_traceparent[OPS_TRACEPARENT_SIZE]);

/* Whether an enqueue takes it: W3C Trace Context, of any version. */
bool ops_traceparent_is_good(const char *text);

#endif
