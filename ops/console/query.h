/* ops/console/query.h - what the query of a request has, checked. */
#ifndef OPS_CONSOLE_QUERY_H
#define OPS_CONSOLE_QUERY_H

#include "console/request.h"

/* The parameter `name`, 1 to `most`; *ret_count stays as it is without it. CULEX_EUSAGE blames the
 * parameter. */
culex_status query_count(const struct request *request, const char *name, uint64_t most,
                         uint64_t *ret_count, culex_error *error);
/* The parameter "queue", NULL without it. CULEX_EUSAGE, too. */
culex_status query_queue(const struct request *request, const char **ret_queue, culex_error *error);

#endif
