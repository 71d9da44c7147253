#include "handler/tracing.h"

#include "core/trace.h"
#include "handler/run.h"

bool culex__tracing_enter(const struct culex_tracing *tracing, const struct culex_run *run,
                          struct culex_trace *ret_trace, char ret_parent[CULEX_SPAN_ID_SIZE])
{
    bool is_given = culex__trace_find(run->payload, run->payload_len, ret_trace);
    if (!is_given && tracing->begins_all)
        culex__trace_begin(ret_trace, run->facts.id);
    culex__trace_parent_id(ret_trace, ret_parent);
    if (!tracing->has_spans || !culex__trace_is_sampled(ret_trace))
        return false;
    culex__trace_enter(ret_trace, run->terms.fence);
    return true;
}
