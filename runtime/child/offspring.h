/* child/offspring.h - the processes that a run starts, and that end with it.
 *
 * A child is the subreaper of all that comes from it: what a handler made a daemon,
 * by setsid() and two forks, is its child again as soon as its parent is gone. */
#ifndef CULEX_CHILD_OFFSPRING_H
#define CULEX_CHILD_OFFSPRING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { CULEX_OFFSPRING_KEPT_MAX = 64 };

struct culex_offspring {
    bool is_blind; /* our children cannot be listed (there is no /proc): nothing is ended */
    size_t kept_count;
    pid_t kept[CULEX_OFFSPRING_KEPT_MAX]; /* were there before the first run: the program's */
};

/* Makes this process the one that orphans come to, and notes the children that it has. */
void culex__offspring_adopt(struct culex_offspring *ret_offspring);

/* Kills and reaps all descendants that have come since then. Returns how many of them
 * still ran; costs one call of the kernel when there are no children. *ret_is_left tells
 * that something would not die. */
size_t culex__offspring_end(const struct culex_offspring *offspring, bool *ret_is_left);

#endif
