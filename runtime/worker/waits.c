#include "worker/waits.h"

#include "worker/appetite.h"
#include "worker/beacon.h"
#include "worker/crew.h"
#include "worker/discovery.h"
#include "worker/figures.h"
#include "worker/flight.h"
#include "worker/greeting.h"
#include "worker/lane.h"
#include "worker/neighbours.h"
#include "worker/opening.h"
#include "worker/overstay.h"
#include "worker/pace.h"
#include "worker/phases.h"
#include "worker/manager.h"
#include "worker/presence.h"
#include "worker/schemas.h"
#include "worker/repair.h"
#include "worker/solitude.h"
#include "worker/tick.h"
#include "worker/wake.h"
#include "worker/watch.h"
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
    next_ns = culex__min_ns(next_ns, culex__figures_next_ns(worker));
    next_ns = culex__min_ns(next_ns, culex__schemas_next_ns(worker));
    next_ns = culex__min_ns(next_ns, culex__watch_next_ns(worker));
    return culex__min_ns(next_ns, culex__pace_stall_ns(worker, queued));
}

/* The same, whoever waits. */
static int64_t work_until_ns(const culex_worker *worker, int64_t now_ns)
{
    if (worker->store == NULL)
        return culex__opening_next_ns(worker);
    size_t queued = culex__crew_queued(worker);
    return culex__worker_is_gathering(worker, queued) ? now_ns + CULEX_QUIET_MS * CULEX_MS_NS
                                                      : worker_next_ns(worker, queued, now_ns);
}

static int64_t wait_until_ns(const culex_worker *worker, int64_t now_ns)
{
    return culex__min_ns(work_until_ns(worker, now_ns), culex__manager_next_ns(worker));
}

/* Until there is a store, only a stop counts. */
static void sources_list(const culex_worker *worker, int ret_fds[CULEX_SOURCE_COUNT])
{
    bool is_open = worker->store != NULL;
    ret_fds[CULEX_SOURCE_STOP] = worker->stop_fd;
    ret_fds[CULEX_SOURCE_CREW] = is_open ? culex__crew_fd(worker) : -1;
    ret_fds[CULEX_SOURCE_WAKE] = is_open && worker->wake.is_armed ? worker->wake.fd : -1;
    ret_fds[CULEX_SOURCE_NEIGHBOURS] = is_open ? worker->neighbours.fd : -1;
    ret_fds[CULEX_SOURCE_RELOAD] = is_open ? worker->reload.bell_fd : -1;
}

/* The others are heard of in a turn. */
static void news_take(culex_worker *worker, unsigned news)
{
    if (news & 1u << CULEX_SOURCE_WAKE)
        culex__wake_take(worker);
    if (news & 1u << CULEX_SOURCE_NEIGHBOURS)
        culex__neighbours_hear(worker);
}

void culex__worker_wait(culex_worker *worker, int64_t now_ns)
{
    int sources[CULEX_SOURCE_COUNT];
    struct pollfd fds[CULEX_SOURCE_COUNT];
    unsigned news = 0;
    int64_t next_ns = wait_until_ns(worker, now_ns);
    sources_list(worker, sources);
    for (int i = 0; i < CULEX_SOURCE_COUNT; i++)
        fds[i] = (struct pollfd){.fd = sources[i], .events = POLLIN};
    int64_t wait_ns = next_ns > now_ns ? next_ns - now_ns : 0;
    int64_t wait_ms = (wait_ns + CULEX_MS_NS - 1) / CULEX_MS_NS;
    int ready = worker->env->poll(worker->env->self, fds, CULEX_SOURCE_COUNT, (int)wait_ms);
    for (int i = 0; i < CULEX_SOURCE_COUNT && ready > 0; i++)
        news |= fds[i].revents != 0 ? 1u << i : 0;
    news_take(worker, news);
}

bool culex__worker_hear(culex_worker *worker)
{
    unsigned news = culex__beacon_take(worker);
    if (news == 0 && culex__worker_now_ns(worker) < worker->beacon.alarm_ns)
        return false;
    news_take(worker, news);
    return true;
}

void culex__worker_watch(culex_worker *worker, bool is_idle)
{
    int sources[CULEX_SOURCE_COUNT];
    bool is_whole = true;
    int64_t now_ns = culex__worker_now_ns(worker);
    int64_t next_ns = is_idle ? wait_until_ns(worker, now_ns) : 0;
    sources_list(worker, sources);
    for (int i = 0; i < CULEX_SOURCE_COUNT; i++)
        is_whole &= culex__beacon_watch(worker, (enum culex_source)i, sources[i]);
    if (!is_whole)
        next_ns = culex__min_ns(next_ns, culex__after_ms(now_ns, worker->options.idle_wait_ms));
    bool is_more = next_ns <= now_ns || culex__beacon_take(worker) != 0;
    culex__beacon_set_alarm(worker, is_more ? 0 : next_ns);
}
