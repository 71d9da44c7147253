#include "console/trace.h"

#include <string.h>

#include "command/scan.h"
#include "command/trace.h"

/* ---- texts ------------------------------------------------------------------------------------
 */

bool trace_state_is_good(const char *text)
{
    size_t len = strnlen(text, TRACE_STATE_MAX + 1);
    for (size_t i = 0; i < len; i++) {
        if (text[i] < ' ' || text[i] > '~')
            return false;
    }
    return len <= TRACE_STATE_MAX;
}

/* ---- headers ----------------------------------------------------------------------------------
 */

struct states {
    char *text; /* TRACE_STATE_MAX + 1 bytes */
    bool is_bad;
};

/* Several are one list in parts. */
static void state_add(const char *value, void *user)
{
    struct states *states = user;
    size_t len = strlen(states->text), room = TRACE_STATE_MAX + 1 - len;
    if (value[0] == '\0')
        return;
    int added = snprintf(states->text + len, room, "%s%s", len > 0 ? "," : "", value);
    states->is_bad |= (size_t)added >= room || !trace_state_is_good(value);
}

void trace_of_headers(const struct request *request, struct trace *ret_trace)
{
    const char *parent = request_header(request, "traceparent");
    struct states states = {ret_trace->states, false};
    *ret_trace = (struct trace){.parent = NULL};
    if (parent == NULL || request_header_count(request, "traceparent") != 1 ||
        !ops_traceparent_is_good(parent))
        return;
    ret_trace->parent = parent;
    request_header_each(request, "tracestate", state_add, &states);
    if (ret_trace->states[0] != '\0' && !states.is_bad)
        ret_trace->state = ret_trace->states;
}

/* ---- of a run ---------------------------------------------------------------------------------
 */

void trace_json(struct ops_json *json, culex_bytes payload)
{
    char parent[OPS_TRACEPARENT_SIZE];
    struct ops_scan scan;
    struct ops_slice name, value;
    if (!ops_trace_find(payload, parent))
        return;
    ops_json_text(json, "traceparent", parent);
    (void)ops_scan_begin((struct ops_slice){(const char *)payload.data, payload.len}, &scan);
    while (ops_scan_next(&scan, &name, &value)) {
        if (ops_slice_is(name, "culex.tracestate") && value.text[0] == '"')
            ops_json_raw(json, "tracestate", value.text, value.len);
    }
}
