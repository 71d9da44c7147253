/* platform/command.h - a command of the shell, as a group of processes of its own. */
#ifndef CULEX_PLATFORM_COMMAND_H
#define CULEX_PLATFORM_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts `/bin/sh -c COMMAND` with this environment, which ends with NULL: nothing on its standard
 * input, our two other streams, no blocked or ignored signals. 0 and *ret_pid, or an errno. */
int culex__command_start(const char *command, char *const *environment, pid_t *ret_pid);

/* Whether it has ended, without a wait; *ret_status is then its exit status, 128 and more for one
 * that a signal ended, -1 when somebody else has asked for it. Call it no more once it was true. */
bool culex__command_has_ended(pid_t pid, int *ret_status);

/* Kills it with all that it has started in its group, and waits for its end. Of one that has not
 * ended. */
void culex__command_kill(pid_t pid);

#endif
