#include "console/query.h"

#include <inttypes.h>

#include "command/value.h"
#include "console/body.h"

culex_status query_count(const struct request *request, const char *name, uint64_t most,
                         uint64_t *ret_count, culex_error *error)
{
    const char *text = request_query(request, name);
    culex_status status = text != NULL ? ops_value_count(name, text, ret_count, error) : CULEX_OK;
    if (status == CULEX_OK && (*ret_count == 0 || *ret_count > most))
        status = ops_usage(error, "%s: 1 to %" PRIu64, name, most);
    return body_blame(status, name, error);
}

culex_status query_queue(const struct request *request, const char **ret_queue, culex_error *error)
{
    char ignored[OPS_QUEUE_SIZE];
    *ret_queue = request_query(request, "queue");
    return *ret_queue != NULL
               ? body_blame(ops_value_queue("queue", *ret_queue, ignored, error), "queue", error)
               : CULEX_OK;
}
