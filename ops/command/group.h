/* ops/command/group.h - dead runs, counted by what they failed with. */
#ifndef OPS_COMMAND_GROUP_H
#define OPS_COMMAND_GROUP_H

#include "command/command.h"

/* `runs --by error`: of all runs that the filter takes, by job and first line of the error. */
culex_status ops_runs_by_error(struct ops *ops, culex_error *error);

#endif
