#include "worker/outlook.h"

#include "worker/worker_private.h"

enum {
    RESTEP_MS = 2,        /* between steps that the store wants at once */
    LOOK_LEAST_MS = 1000, /* where leases are short, the store is asked up to this often */
    DRAIN_LOOK_MS = 200,  /* and while draining, when others hold the last runs */
};

void culex__outlook_init(struct culex_lane *lane)
{
    lane->outlook = (struct culex_outlook){.due_ns = INT64_MAX};
}

void culex__outlook_take(struct culex_lane *lane, const struct culex_step_reply *reply, bool is_cut,
                         int64_t now_ns)
{
    struct culex_outlook *outlook = &lane->outlook;
    int64_t due_ms = reply->due_in_ms > RESTEP_MS ? reply->due_in_ms : RESTEP_MS;
    outlook->asked_ns = now_ns;
    outlook->is_hinting = false;
    if (lane->step.want > 0) {
        outlook->is_likely = reply->is_held || is_cut;
        outlook->has_suspects = reply->has_passed;
    }
    outlook->is_empty = reply->is_empty;
    outlook->is_paused = reply->is_paused;
    outlook->due_ns = reply->due_in_ms < 0 ? INT64_MAX : culex__after_ms(now_ns, due_ms);
}

void culex__outlook_set_likely(struct culex_lane *lane)
{
    lane->outlook.is_likely = true;
}

void culex__lanes_set_likely(culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++)
        worker->lanes[i].outlook.is_likely = true;
}

void culex__outlook_set_hinting(struct culex_lane *lane)
{
    lane->outlook.is_hinting = true;
}

void culex__lanes_set_hinting(culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++)
        worker->lanes[i].outlook.is_hinting = true;
}

void culex__lanes_hand_on(culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        struct culex_outlook *outlook = &worker->lanes[i].outlook;
        outlook->is_hinting |= outlook->due_ns != INT64_MAX;
    }
}

/* An idle worker is not told when others take leases, and must look often enough to take over soon
 * after such a lease ends. */
static int64_t idle_look_ms(const culex_worker *worker)
{
    int64_t third_ms = worker->options.lease_ms / 3;
    return third_ms >= CULEX_LOOK_MS  ? CULEX_LOOK_MS
           : third_ms > LOOK_LEAST_MS ? third_ms
                                      : LOOK_LEAST_MS;
}

static int64_t look_ns(const struct culex_lane *lane)
{
    const culex_worker *worker = lane->worker;
    int64_t wait_ms = worker->wake.is_armed ? idle_look_ms(worker) : worker->options.idle_wait_ms;
    if (worker->options.drain && wait_ms > DRAIN_LOOK_MS)
        wait_ms = DRAIN_LOOK_MS;
    return lane->outlook.asked_ns + wait_ms * CULEX_MS_NS;
}

int64_t culex__outlook_next_ns(const struct culex_lane *lane)
{
    const struct culex_outlook *outlook = &lane->outlook;
    return outlook->is_likely ? 0 : culex__min_ns(outlook->due_ns, look_ns(lane));
}
