#include "command/trace.h"

#include <stdio.h>
#include <string.h>

#include "command/scan.h"

/* "00-ID-ID-00" between quotes. A damaged text may say anything there. */
static bool is_traceparent(struct ops_slice value)
{
    static const char form[] = "\"00-                                -                -0 \"";
    if (value.len != sizeof form - 1)
        return false;
    for (size_t i = 0; i < value.len; i++) {
        bool is_digit = value.text[i] != '\0' && strchr("0123456789abcdef", value.text[i]) != NULL;
        if (form[i] == ' ' ? !is_digit : form[i] != value.text[i])
            return false;
    }
    return true;
}

bool ops_trace_find(culex_bytes payload, char ret_traceparent[OPS_TRACEPARENT_SIZE])
{
    struct ops_scan scan;
    struct ops_slice name, value, last = {"", 0};
    ret_traceparent[0] = '\0';
    if (!ops_scan_begin((struct ops_slice){(const char *)payload.data, payload.len}, &scan) ||
        !scan.is_object)
        return false;
    while (ops_scan_next(&scan, &name, &value))
        last = ops_slice_is(name, "culex.trace") ? value : (struct ops_slice){"", 0};
    if (!is_traceparent(last))
        return false;
    snprintf(ret_traceparent, OPS_TRACEPARENT_SIZE, "%.*s", (int)last.len - 2, last.text + 1);
    return true;
}
