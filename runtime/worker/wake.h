/* worker/wake.h - wake-ups: what the store was asked to tell of new work. */
#ifndef CULEX_WORKER_WAKE_H
#define CULEX_WORKER_WAKE_H

#include <culex/worker.h>

struct culex_wake {
    int fd;         /* becomes readable with a wake-up; -1: none, the store is asked now and then */
    bool is_armed;  /* a wake-up will come */
    bool was_armed; /* it has waited for the same queues before: no run that has come since then can
                       have been missed */
    int64_t retry_ns; /* after a failed call: not before */
    uint32_t failures;
};

/* At the start of a worker's life. */
void culex__wake_reset(culex_worker *worker);

/* Asks the store to tell about new work, when there is nothing to ask it for now. False when
 * the lanes should ask for runs once more before the worker waits: of runs that came before the
 * first arming nothing is told. */
bool culex__wake_arm(culex_worker *worker, int64_t now_ns);

/* Takes a wake-up: its descriptor is readable. */
void culex__wake_take(culex_worker *worker);

/* Boot time at which a store that refused to be asked is asked again; INT64_MAX for never. */
int64_t culex__wake_next_ns(const culex_worker *worker, int64_t now_ns);

/* Before the worker gives anything back, or ends: the next wake-up is another's. */
void culex__wake_leave(culex_worker *worker);

#endif
