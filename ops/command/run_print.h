/* ops/command/run_print.h - runs, as the commands show them. */
#ifndef OPS_COMMAND_RUN_PRINT_H
#define OPS_COMMAND_RUN_PRINT_H

#include <culex/lines.h>

#include "command/print.h"

/* What culex_run_info.at_ms is of a run in that state: "due", "lease ends", "forgotten". */
const char *ops_run_at_name(culex_run_state state);
/* The members that a list has; `json` is within the run's object. */
void ops_run_json(struct ops_json *json, const culex_run_info *run);
/* The member "tags", a list, of tags with commas between them. */
void ops_tags_json(struct ops_json *json, const char *tags);

#endif
