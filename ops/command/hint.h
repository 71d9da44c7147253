/* ops/command/hint.h - what is said where a filter takes no run, for the name in it may be
 * misspelt.
 */
#ifndef OPS_COMMAND_HINT_H
#define OPS_COMMAND_HINT_H

#include "command/command.h"

/* When no run of `queue` has the job, or the tag, of the options: says so on standard error, with
 * the one that may have been meant. Looks through the queue as the filter did; where the store
 * fails meanwhile nothing is said. */
void ops_hint_print(struct ops *ops, const char *queue);

#endif
