#include "client/thread_trace.h"

#include <stddef.h>

#ifdef CULEX_PRODUCER_ONLY /* which runs no handlers */

const struct culex_trace *culex__thread_trace(void)
{
    return NULL;
}

#else

static _Thread_local const struct culex_trace *of_thread;

const struct culex_trace *culex__thread_trace_enter(const struct culex_trace *trace)
{
    const struct culex_trace *before = of_thread;
    of_thread = trace;
    return before;
}

const struct culex_trace *culex__thread_trace(void)
{
    return of_thread;
}

#endif
