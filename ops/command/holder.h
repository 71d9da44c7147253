/* ops/command/holder.h - the worker that has a run at work, as it told the store. */
#ifndef OPS_COMMAND_HOLDER_H
#define OPS_COMMAND_HOLDER_H

#include "command/command.h"

struct ops_holder {
    char id[80], name[80], host[80];
    int64_t pid, since_ms; /* when it claimed the run */
};

/* False when none says so: it is unlisted, has not told yet, up to 10 s after it began, or has more
 * runs at a time than it lists. */
bool ops_holder_find(struct ops *ops, culex_uuid run, struct ops_holder *ret_holder);

#endif
