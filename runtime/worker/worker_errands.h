/* worker/worker_errands.h - what handlers ask of the worker's store: see handler/errand.h. */
#ifndef CULEX_WORKER_WORKER_ERRANDS_H
#define CULEX_WORKER_WORKER_ERRANDS_H

#include <stddef.h>
#include <culex/codec.h>

/* What a handler asks of the store; `user` is the worker. The first for the supervisor's thread,
 * the other for handlers' threads, one at a time. */
void culex__worker_serve(void *user, const char *bytes, size_t len, culex_buf *answer);
void culex__worker_serve_apart(void *user, const char *bytes, size_t len, culex_buf *answer);

#endif
