#include "worker/waits.h"

#include "worker/appetite.h"
#include "worker/crew.h"
#include "worker/discovery.h"
#include "worker/flight.h"
#include "worker/greeting.h"
#include "worker/lane.h"
#include "worker/neighbours.h"
#include "worker/overstay.h"
#include "worker/pace.h"
#include "worker/phases.h"
#include "worker/presence.h"
#include "worker/repair.h"
#include "worker/solitude.h"
#include "worker/tick.h"
#include "worker/wake.h"
#include "worker/worker_private.h"

static int64_t lane_next_ns(const struct culex_lane *lane)
{
    int64_t next_ns = culex__greeting_next_ns(lane);
    next_ns = culex__min_ns(next_ns, culex__lane_next_ns(lane));
    next_ns = culex__min_ns(next_ns, culex__repair_next_ns(lane));
    return culex__min_ns(next_ns, culex__flights_next_ns(lane));
}

/* When the loop has something to do by itself. */
static int64_t worker_next_ns(const culex_worker *worker, size_t queued, int64_t now_ns)
{
    int64_t next_ns = now_ns + CULEX_LOOK_MS * CULEX_MS_NS;
    for (size_t i = 0; i < worker->lane_count; i++)
        next_ns = culex__min_ns(next_ns, lane_next_ns(&worker->lanes[i]));
    next_ns = culex__min_ns(next_ns, culex__ticks_next_ns(worker));
    next_ns = culex__min_ns(next_ns, culex__discovery_next_ns(worker));
    next_ns = culex__min_ns(next_ns, culex__phases_next_ns(worker, now_ns));
    next_ns = culex__min_ns(next_ns, culex__overstay_next_ns(worker));
    next_ns = culex__min_ns(next_ns, culex__crew_next_ns(worker));
    next_ns = culex__min_ns(next_ns, culex__solitude_next_ns(worker));
    next_ns = culex__min_ns(next_ns, culex__wake_next_ns(worker, now_ns));
    next_ns = culex__min_ns(next_ns, culex__neighbours_next_ns(worker));
    next_ns = culex__min_ns(next_ns, culex__presence_next_ns(worker));
    return culex__min_ns(next_ns, culex__pace_stall_ns(worker, queued));
}

void culex__worker_wait(culex_worker *worker, int64_t now_ns)
{
    size_t queued = culex__crew_queued(worker);
    int64_t next_ns = culex__worker_is_gathering(worker, queued)
                          ? now_ns + CULEX_QUIET_MS * CULEX_MS_NS
                          : worker_next_ns(worker, queued, now_ns);
    struct pollfd fds[5] = {
        {.fd = worker->stop_fd, .events = POLLIN},
        {.fd = culex__crew_fd(worker), .events = POLLIN},
        {.fd = worker->wake.is_armed ? worker->wake.fd : -1, .events = POLLIN},
        {.fd = worker->neighbours.fd, .events = POLLIN},
        {.fd = worker->reload.bell_fd, .events = POLLIN},
    };
    int64_t wait_ns = next_ns > now_ns ? next_ns - now_ns : 0;
    int64_t wait_ms = (wait_ns + CULEX_MS_NS - 1) / CULEX_MS_NS;
    int ready = worker->env->poll(worker->env->self, fds, 5, (int)wait_ms);
    if (ready > 0 && fds[2].revents != 0)
        culex__wake_take(worker);
    if (ready > 0 && fds[3].revents != 0)
        culex__neighbours_hear(worker);
}
