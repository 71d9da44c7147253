/* ops/console/guard.h - who is let in: before a body is read, and before anything is asked of the
 * store. */
#ifndef OPS_CONSOLE_GUARD_H
#define OPS_CONSOLE_GUARD_H

#include "console/failure.h"
#include "console/routes.h"

/* Whether the request may go on; else *ret_failure tells why not. Sets request->route and who. */
bool guard_pass(struct request *request, struct failure *ret_failure);

#endif
