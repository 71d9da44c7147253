/* program/variables.h - CULEX_* variables that look like mistakes. */
#ifndef CULEX_PROGRAM_VARIABLES_H
#define CULEX_PROGRAM_VARIABLES_H

#include "log/log.h"

/* Warns of each variable in `environment` (as environ) whose name begins like ours and means
 * nothing, with the name that may have been meant. Values are not shown. */
void culex__advise_variables(const struct culex_log *log, char *const *environment);

#endif
