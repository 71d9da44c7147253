/* ops/console/audit.h - a line for each change that was asked for: when, who, what, and its end. */
#ifndef OPS_CONSOLE_AUDIT_H
#define OPS_CONSOLE_AUDIT_H

#include "console/request.h"

/* Writes the line of an answered request, one JSON object, in one piece. */
void audit_write(const struct request *request, const char *peer);

#endif
