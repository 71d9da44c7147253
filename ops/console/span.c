#include "console/span.h"

#include "command/value.h"
#include "console/body.h"

const struct span span_delay = {"delay", 0, 36525 * CULEX_DAY, "at most 36525d"};
const struct span span_lease = {"lease", 200 * CULEX_MILLISECOND, CULEX_DAY, "200ms to 1d"};

culex_status span_read(const struct span *span, const char *text, culex_duration *ret_duration,
                       culex_error *error)
{
    culex_status status = ops_value_duration(span->name, text, ret_duration, error);
    bool is_fraction = *ret_duration > 0 && *ret_duration < CULEX_MILLISECOND;
    if (status == CULEX_OK &&
        (is_fraction || *ret_duration < span->least || *ret_duration > span->most))
        status = ops_usage(error, "%s: %s, in whole milliseconds", span->name, span->bounds);
    *ret_duration -= *ret_duration % CULEX_MILLISECOND;
    return body_blame(status, span->name, error);
}
