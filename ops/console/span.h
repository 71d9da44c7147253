/* ops/console/span.h - times that requests have as texts, "90s", each between bounds. */
#ifndef OPS_CONSOLE_SPAN_H
#define OPS_CONSOLE_SPAN_H

#include <culex/client.h>

struct span {
    const char *name; /* of the member or parameter */
    culex_duration least, most;
    const char *bounds; /* what is said of another one */
};

/* Of a delay, which may be none, and longer than anybody waits. */
extern const struct span span_delay;
/* Of the lease of a claim. */
extern const struct span span_lease;

/* In whole milliseconds, by which the store counts: what is less than one is none. CULEX_EUSAGE
 * blames the name. */
culex_status span_read(const struct span *span, const char *text, culex_duration *ret_duration,
                       culex_error *error);

#endif
