/* ops/command/range.h - thresholds of monitors: when a value is a reason to warn. */
#ifndef OPS_COMMAND_RANGE_H
#define OPS_COMMAND_RANGE_H

#include <stdbool.h>

#include <culex/error.h>

/* A range as monitors write it: "10" is 0 to 10, "10:" 10 and more, "~:10" 10 and less, "10:20",
 * and "@10:20" the reverse. A value outside of it is a reason, of the reverse one within it. */
struct ops_range {
    bool is_set, is_reverse, has_low, has_high;
    double low, high;
};

/* The values at which to warn and at which things are critical: "W,C", each of which may be empty.
 * Of times a number has its unit behind it, but for 0; of others it is plain. */
struct ops_threshold {
    struct ops_range warning, critical;
};

/* CULEX_EUSAGE for any other text, and where all that is a reason to warn is critical. `name` is
 * the option's. */
culex_status ops_threshold_read(const char *name, const char *text, bool is_time,
                                struct ops_threshold *ret_threshold, culex_error *error);
bool ops_range_alerts(const struct ops_range *range, double value);

enum { OPS_RANGE_SIZE = 64 };
/* As plain numbers, in seconds: "" when it is not set. */
const char *ops_range_format(const struct ops_range *range, char ret_text[OPS_RANGE_SIZE]);

#endif
