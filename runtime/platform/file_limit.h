/* platform/file_limit.h - writes of ours beyond the limit of a file's size (`ulimit -f`) fail with
 * EFBIG.
 *
 * The kernel also sends SIGXFSZ to the thread that writes, and by default that ends the program.
 * What a signal does is for the program to decide, not for a library: so the signal is held back
 * only in this thread, and only while the library writes. */
#ifndef CULEX_PLATFORM_FILE_LIMIT_H
#define CULEX_PLATFORM_FILE_LIMIT_H

#include <stdbool.h>

struct culex_file_limit {
    bool is_held; /* by us: a program that holds it back itself decides when to look at it */
};

/* Before a call that may write to a file. Does nothing in a process without such a limit. */
struct culex_file_limit culex__file_limit_enter(void);

/* After it, in the same thread: drops the signals that its writes caused. errno stays. */
void culex__file_limit_leave(struct culex_file_limit limit);

#endif
