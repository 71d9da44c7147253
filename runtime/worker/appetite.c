#include "worker/appetite.h"

#include "worker/crew.h"
#include "worker/pace.h"
#include "worker/share.h"
#include "worker/worker_private.h"

enum {
    SHORT_NS = 1000000,     /* runs below this are short */
    LONG_NS = 2000000,      /* from here on none is claimed ahead; nor before a run has ended */
    AHEAD_NS = 4000000,     /* the work of one handler that is claimed ahead, and as long as the */
    STEP_NS_MAX = 10000000, /* store takes to bring more; a run of AHEAD_NS is believed at once */
    STALLED_MS = 1000,      /* what handlers that stand still are taken to need, and any at most */
};

void culex__appetite_init(struct culex_lane *lane)
{
    lane->appetite = (struct culex_appetite){.average_ns = LONG_NS};
}

/* One that has held up whatever was claimed behind it counts as if all were like it, until others
 * show that they are not. */
void culex__appetite_learn(struct culex_lane *lane, int64_t duration_ns)
{
    struct culex_appetite *appetite = &lane->appetite;
    int64_t most_ns = culex__min_ns(duration_ns, STALLED_MS * CULEX_MS_NS);
    if (most_ns >= AHEAD_NS)
        appetite->average_ns = most_ns;
    else
        appetite->average_ns += (most_ns - appetite->average_ns) / 8;
}

void culex__appetite_learn_step(struct culex_lane *lane, int64_t duration_ns)
{
    lane->appetite.step_ns = culex__min_ns(duration_ns, STEP_NS_MAX);
}

void culex__appetites_spoil(culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        if (worker->lanes[i].flight_count > 0)
            worker->lanes[i].appetite.average_ns = STALLED_MS * CULEX_MS_NS;
    }
}

bool culex__appetite_is_quick(const struct culex_lane *lane)
{
    return lane->appetite.average_ns < SHORT_NS;
}

/* --- as many as was asked for ---------------------------------------------------------------- */

/* Whatever is in flight is short; when nothing is, what the lane had. */
static bool all_is_quick(const struct culex_lane *lane)
{
    const culex_worker *worker = lane->worker;
    bool is_quick = true;
    for (size_t i = 0; i < worker->lane_count && is_quick; i++) {
        const struct culex_lane *each = &worker->lanes[i];
        is_quick = each->flight_count == 0 || culex__appetite_is_quick(each);
    }
    return is_quick && (worker->flight_count > 0 || culex__appetite_is_quick(lane));
}

/* That steps under way will bring, or have brought, to any lane, and that are not in flight yet.
 * What a queue in trouble may have granted nobody waits for. */
static size_t runs_to_come(const culex_worker *worker)
{
    size_t count = 0;
    for (size_t i = 0; i < worker->lane_count; i++) {
        const struct culex_lane *lane = &worker->lanes[i];
        bool is_under_way = lane->step.is_pending && lane->trouble.failures == 0;
        count += lane->granted + (is_under_way ? lane->step.want : 0);
    }
    return count;
}

static size_t room_of_batch(const struct culex_lane *lane)
{
    const culex_worker *worker = lane->worker;
    size_t handlers = culex__crew_capacity(worker);
    bool is_ahead = all_is_quick(lane) && !culex__pace_is_exact(worker);
    size_t most = handlers + (is_ahead && handlers > 0 ? 2 * (size_t)worker->options.batch : 0);
    size_t taken = worker->crew.count + runs_to_come(worker);
    return most > taken ? most - taken : 0;
}

/* --- by time --------------------------------------------------------------------------------- */

static bool is_slow(const struct culex_lane *lane)
{
    return lane->appetite.average_ns >= LONG_NS;
}

/* The handlers that are left for short runs: long ones have, or will have, the others, and so have
 * runs that were given up. */
static size_t quick_hands(const culex_worker *worker)
{
    size_t hands = culex__crew_capacity(worker);
    size_t taken = worker->crew.count - worker->flight_count;
    for (size_t i = 0; i < worker->lane_count; i++) {
        const struct culex_lane *lane = &worker->lanes[i];
        taken += is_slow(lane) ? lane->flight_count : 0;
    }
    return hands > taken ? hands - taken : 0;
}

/* Lanes with short runs, or the prospect of some, have parts by their weights. */
static unsigned quick_weights(const struct culex_lane *lane)
{
    const culex_worker *worker = lane->worker;
    unsigned sum = lane->share.weight;
    for (size_t i = 0; i < worker->lane_count; i++) {
        const struct culex_lane *each = &worker->lanes[i];
        bool is_other = each != lane && !is_slow(each);
        if (is_other && (each->flight_count > 0 || each->outlook.is_likely))
            sum += each->share.weight;
    }
    return sum;
}

/* What the lane may claim ahead, in time of one handler. */
static int64_t part_ns(const struct culex_lane *lane, size_t hands)
{
    int64_t all_ns = (int64_t)hands * (AHEAD_NS + lane->appetite.step_ns);
    return all_ns * lane->share.weight / quick_weights(lane);
}

/* What a run takes of that: not so little that more than two batches would fit. */
static int64_t each_ns(const struct culex_lane *lane, int64_t all_ns)
{
    int64_t least_ns = all_ns / (2 * CULEX_BATCH_MAX) + 1;
    return lane->appetite.average_ns > least_ns ? lane->appetite.average_ns : least_ns;
}

static size_t room_by_time(const struct culex_lane *lane)
{
    size_t hands = quick_hands(lane->worker);
    if (hands == 0 || is_slow(lane))
        return hands;
    int64_t all_ns = part_ns(lane, hands);
    size_t most = hands + (size_t)(all_ns / each_ns(lane, all_ns));
    size_t taken = lane->flight_count + lane->granted;
    return most > taken ? most - taken : 0;
}

/* --- both ------------------------------------------------------------------------------------ */

/* None ahead: for now each claimed run has a handler that is free. */
static size_t room_exact(const culex_worker *worker)
{
    size_t handlers = culex__crew_capacity(worker);
    size_t taken = worker->crew.count + runs_to_come(worker);
    return handlers > taken ? handlers - taken : 0;
}

size_t culex__appetite_batch(const struct culex_lane *lane)
{
    const culex_worker *worker = lane->worker;
    size_t hands = culex__crew_capacity(worker);
    if (worker->options.batch > 0)
        return worker->options.batch;
    int64_t all_ns = part_ns(lane, hands);
    size_t half = (size_t)(all_ns / 2 / each_ns(lane, all_ns));
    return half > CULEX_BATCH_MAX ? CULEX_BATCH_MAX : half;
}

size_t culex__appetite_room(const struct culex_lane *lane)
{
    const culex_worker *worker = lane->worker;
    size_t most = worker->options.batch > 0 ? worker->options.batch : CULEX_BATCH_MAX;
    size_t room = worker->options.batch > 0      ? room_of_batch(lane)
                  : culex__pace_is_exact(worker) ? room_exact(worker)
                                                 : room_by_time(lane);
    return room < most ? room : most;
}

bool culex__worker_has_room(const culex_worker *worker)
{
    bool has_room = false;
    for (size_t i = 0; i < worker->lane_count && !has_room; i++)
        has_room =
            !culex__share_is_full(&worker->lanes[i]) && culex__appetite_room(&worker->lanes[i]) > 0;
    return has_room && !worker->presence.is_quiet && worker->phases.current == CULEX_WORKER_RUNNING;
}

bool culex__worker_is_gathering(const culex_worker *worker, size_t queued)
{
    bool is_gathering = false;
    for (size_t i = 0; i < worker->lane_count && !is_gathering; i++) {
        const struct culex_lane *lane = &worker->lanes[i];
        is_gathering =
            lane->flight_count + lane->acks.ends.count > 0 && culex__appetite_is_quick(lane);
    }
    return queued > 0 && is_gathering;
}
