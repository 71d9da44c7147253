/* ops/console/openapi.h - the document of the API, from its table of routes. */
#ifndef OPS_CONSOLE_OPENAPI_H
#define OPS_CONSOLE_OPENAPI_H

#include "command/print.h"

void openapi_json(struct ops_json *json);

#endif
