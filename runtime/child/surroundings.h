/* child/surroundings.h - what a handler may change of its process, and the next run would find.
 *
 * Restored between runs: working directory, umask, environment, interval timers, dispositions of
 * signals, the signal stack, resource limits, nice. Where the kernel does not let us (another user,
 * a lowered hard limit, a sandbox, a timer of timer_create) the process must be replaced. Memory,
 * threads and descriptors are the handler's own affair. */
#ifndef CULEX_CHILD_SURROUNDINGS_H
#define CULEX_CHILD_SURROUNDINGS_H

#include <stdbool.h>

struct culex_surroundings;

/* As they are now; for the life of the process. NULL when there is no memory. */
struct culex_surroundings *culex__surroundings_note(void);

/* What is cheap to look at, three calls of the kernel: directory, umask, alarm() and the names in
 * the environment. False when something cannot be put back. */
bool culex__surroundings_glance(struct culex_surroundings *surroundings);

/* Everything, in about ten microseconds. */
bool culex__surroundings_restore(struct culex_surroundings *surroundings);

#endif
