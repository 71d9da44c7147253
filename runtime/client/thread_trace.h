/* client/thread_trace.h - the trace of the run whose handler this thread is in: what it enqueues
 * there, by whichever client, is of that trace unless it is told otherwise. */
#ifndef CULEX_CLIENT_THREAD_TRACE_H
#define CULEX_CLIENT_THREAD_TRACE_H

struct culex_trace;

/* While a handler runs; NULL for none. Borrowed. Returns the one before. */
const struct culex_trace *culex__thread_trace_enter(const struct culex_trace *trace);

/* NULL: none. */
const struct culex_trace *culex__thread_trace(void);

#endif
