/* quiet_thread.h - a thread beside a worker whose handlers run in children.
 *
 * A fork copies the locks that other threads hold at that moment, and in the copy nobody gives them
 * back. glibc sees to its allocator's; that of an older AddressSanitizer and of an older musl stay
 * held, and so the zygote and all children hang. So whoever runs beside a worker that is about to
 * fork must not be allocating. */
#ifndef QUIET_THREAD_H
#define QUIET_THREAD_H

#include <pthread.h>

/* Starts `main_fn`, and returns when it has begun: to begin allocates. It must allocate nothing
 * until the worker's first handler, or its set-up, has been seen. Ends the program when it cannot
 * be had. */
void quiet_thread_start(pthread_t *ret_thread, void *(*main_fn)(void *), void *user);

#endif
