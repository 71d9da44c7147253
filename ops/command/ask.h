/* ops/command/ask.h - what the user is asked before much is changed, and how it goes on. */
#ifndef OPS_COMMAND_ASK_H
#define OPS_COMMAND_ASK_H

#include "command/command.h"

/* Whether the user wants it done: `question` is put on the terminal, unless --yes was said. Where
 * nobody can read and answer it, CULEX_EUSAGE. After a no, ops->code tells so. */
CULEX_PRINTF(4, 5)
culex_status ops_ask(struct ops *ops, bool *ret_is_wanted, culex_error *error, const char *question,
                     ...);

/* From now on SIGINT, SIGTERM and SIGHUP end no call; ops_is_interrupted tells of them. */
void ops_interrupts_catch(void);
bool ops_is_interrupted(void);
/* How far it is, now and then, where somebody looks; `all` 0: not known. */
void ops_progress_show(uint64_t done, uint64_t all);
void ops_progress_end(void);

#endif
