/* platform/stack.h - where a signal struck: registers, and the functions that led there. */
#ifndef CULEX_PLATFORM_STACK_H
#define CULEX_PLATFORM_STACK_H

#include <stddef.h>
#include <stdint.h>

/* Loads what culex__stack_frames needs: a signal handler must not load libraries. Processes that
 * are forked later have it. */
void culex__stack_prepare(void);

/* Of the third argument of a signal handler; left alone on machines that are unknown here. */
void culex__stack_registers(const void *context, uint64_t *ret_pc, uint64_t *ret_sp);

/* Return addresses, innermost first, at most `max`: those of the signal handler that calls this
 * come first. 0 on systems that cannot tell. */
size_t culex__stack_frames(uint64_t *ret_frames, size_t max);

/* "SEGV" for SIGSEGV; NULL when it has no name. */
const char *culex__stack_signal_name(int signal);

#endif
