/* worker/tick.h - periodic jobs: every worker asks, the store enqueues once. */
#ifndef CULEX_WORKER_TICK_H
#define CULEX_WORKER_TICK_H

#include <culex/worker.h>

#include "core/schedule.h"
#include "store/store.h"
#include "worker/outage.h"

struct culex_job;
struct culex_lane;

struct culex_tick_state {
    const struct culex_job *job;
    struct culex_lane *lane;
    struct culex__schedule schedule;
    uint8_t *zone;                /* the bytes of its zone; NULL without one */
    bool has_begun;               /* the store has a mark of it */
    bool has_told;                /* and knows of this worker what runs, and when */
    struct culex__tick_plan plan; /* on the store's clock; at first 0, as soon as possible */
    int64_t at_ns;
    struct culex_trouble trouble; /* of the newest ones */
    bool is_refused;              /* the newest one was */
    struct culex_new_run run;
    struct culex_run_keys *keys;       /* what the run borrows, where it has any */
    culex_buf payload, tags, template; /* the run's */
};

culex_status culex__ticks_create(culex_worker *worker, culex_error *error);
void culex__ticks_free(culex_worker *worker);

/* Enqueues what is due and sets when to look again. */
void culex__ticks_run(culex_worker *worker, int64_t now_ns);

/* Some are due, though trouble with the store may keep them waiting. */
bool culex__ticks_are_due(const culex_worker *worker, int64_t now_ns);

/* Boot time at which there is something to enqueue, INT64_MAX for never. */
int64_t culex__ticks_next_ns(const culex_worker *worker);

#endif
