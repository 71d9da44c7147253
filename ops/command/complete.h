/* ops/command/complete.h - what may stand where a command line ends, for shells. */
#ifndef OPS_COMMAND_COMPLETE_H
#define OPS_COMMAND_COMPLETE_H

#include "command/command.h"

/* Prints a line for each word that the last one of `words` may become; those before it are the
 * command line, without the program. It fails never: what cannot be completed gets no line. */
void ops_complete(struct ops *ops, char **words, size_t count);

#endif
