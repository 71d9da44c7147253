#include "worker/capacity.h"

#include "worker/worker_private.h"

enum {
    SHORT_NS = 1000000,   /* runs below this are short */
    LOOK_LEAST_MS = 1000, /* where leases are short, the store is asked up to this often */
    DRAIN_LOOK_MS = 200,  /* and while draining, when others hold the last runs */
};

bool culex__worker_runs_are_short(const culex_worker *worker)
{
    return worker->average_ns < SHORT_NS;
}

size_t culex__worker_capacity(const culex_worker *worker)
{
    struct culex_executor *executor = worker->executor;
    return executor->ops->capacity != NULL ? executor->ops->capacity(executor)
                                           : worker->options.concurrency;
}

size_t culex__worker_limit(const culex_worker *worker)
{
    size_t handlers = culex__worker_capacity(worker);
    bool is_exact = worker->careful_count > 0 || worker->held_count > 0;
    return culex__worker_runs_are_short(worker) && !is_exact && handlers > 0
               ? handlers + 2 * (size_t)worker->options.batch
               : handlers;
}

/* Nobody tells an idle worker of the lease that another one has just taken: it must find out in
 * time if that one dies. */
static int64_t idle_look_ms(const culex_worker *worker)
{
    int64_t third_ms = worker->options.lease_ms / 3;
    return third_ms >= CULEX_LOOK_MS  ? CULEX_LOOK_MS
           : third_ms > LOOK_LEAST_MS ? third_ms
                                      : LOOK_LEAST_MS;
}

int64_t culex__worker_look_ns(const struct culex_lane *lane)
{
    const culex_worker *worker = lane->worker;
    int64_t wait_ms = worker->wake.fd < 0 ? worker->options.idle_wait_ms : idle_look_ms(worker);
    if (worker->options.drain && wait_ms > DRAIN_LOOK_MS)
        wait_ms = DRAIN_LOOK_MS;
    return lane->asked_ns + wait_ms * CULEX_MS_NS;
}

void culex__lanes_set_likely(culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++)
        worker->lanes[i].is_likely = true;
}

bool culex__worker_has_room(const culex_worker *worker)
{
    return worker->phase == CULEX_WORKER_RUNNING &&
           worker->executor_count < culex__worker_limit(worker);
}
