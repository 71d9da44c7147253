/* ops/console/query.h - numbers in the query of a request. */
#ifndef OPS_CONSOLE_QUERY_H
#define OPS_CONSOLE_QUERY_H

#include "console/request.h"

/* The parameter `name`, 1 to `most`; *ret_count stays as it is without it. CULEX_EUSAGE blames the
 * parameter. */
culex_status query_count(const struct request *request, const char *name, uint64_t most,
                         uint64_t *ret_count, culex_error *error);

#endif
