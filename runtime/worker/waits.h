/* worker/waits.h - what a worker that has nothing to do waits for: the executor, a wake-up of the
 * store, a stop, or the next instant at which something is due. */
#ifndef CULEX_WORKER_WAITS_H
#define CULEX_WORKER_WAITS_H

#include <culex/worker.h>

/* What the store was asked to tell of new work. */
struct culex_wake {
    int fd;         /* becomes readable with a wake-up; -1: none, the store is asked now and then */
    bool is_armed;  /* a wake-up will come */
    bool was_armed; /* for these queues before, too: what has come since left a mark */
    int64_t retry_ns; /* after a failed call: not before */
    uint32_t failures;
};

enum { CULEX_STALL_MS = 200 }; /* queued runs go back when the handlers stand still this long */

/* Asks the store to tell about new work, when there is nothing to ask it for now. False when it
 * should be asked for runs once more before waiting: what came before the first arming left no
 * mark. */
bool culex__wake_arm(culex_worker *worker, int64_t now_ns);

/* Before the worker gives anything back, or ends: the next wake-up is another's. */
void culex__wake_leave(culex_worker *worker);

/* Waits; takes a wake-up when one came. */
void culex__worker_wait(culex_worker *worker, int64_t now_ns);

#endif
