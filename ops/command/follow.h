/* ops/command/follow.h - runs as they come and change. */
#ifndef OPS_COMMAND_FOLLOW_H
#define OPS_COMMAND_FOLLOW_H

#include "command/command.h"

/* `runs --follow`: a line for each event of a run that the filter takes, from now on, with what the
 * event tells and not what has become of the run since; until an interrupt, which is CULEX_OK, or
 * --limit lines. A queue that keeps no events is CULEX_ESTATE. */
culex_status ops_runs_follow(struct ops *ops, culex_error *error);

#endif
