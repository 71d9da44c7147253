#include "worker/order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "worker/appetite.h"
#include "worker/crew.h"
#include "worker/share.h"
#include "worker/worker_private.h"

bool culex__order_init(culex_worker *worker, size_t room)
{
    worker->lane_order =
        (struct culex_lane_order){.rows = calloc(room, sizeof(struct culex_lane *))};
    return worker->lane_order.rows != NULL;
}

void culex__order_free(culex_worker *worker)
{
    free(worker->lane_order.rows);
    worker->lane_order = (struct culex_lane_order){.rows = NULL};
}

static bool contends(const struct culex_lane *lane)
{
    return lane->outlook.is_likely && lane->greeting.is_done && lane->trouble.failures == 0 &&
           !culex__share_is_full(lane);
}

/* A lane that had nothing to do is where the others are. */
static uint64_t time_of(const struct culex_lane *lane)
{
    uint64_t now = lane->worker->lane_order.now;
    return lane->share.used > now ? lane->share.used : now;
}

/* --- who comes first ------------------------------------------------------------------------ */

/* As the list has them; those of one pattern by their names. */
static bool is_listed_before(const struct culex_lane *a, const struct culex_lane *b)
{
    return a->share.rank != b->share.rank ? a->share.rank < b->share.rank
                                          : strcmp(a->name, b->name) < 0;
}

static bool is_before(const struct culex_lane *a, const struct culex_lane *b)
{
    bool is_weighted = a->worker->options.order == CULEX_ORDER_WEIGHTED;
    if (is_weighted && a->share.used != b->share.used)
        return a->share.used < b->share.used;
    return is_listed_before(a, b);
}

/* The rows before it are in order. */
static void row_place(struct culex_lane_order *order, size_t at)
{
    struct culex_lane *lane = order->rows[at];
    for (; at > 0 && is_before(lane, order->rows[at - 1]); at--) {
        order->rows[at] = order->rows[at - 1];
        order->rows[at]->stand.place = at;
    }
    order->rows[at] = lane;
    lane->stand.place = at;
}

void culex__order_add(struct culex_lane *lane)
{
    culex_worker *worker = lane->worker;
    size_t last = worker->lane_count - 1; /* it has been counted */
    worker->lane_order.rows[last] = lane;
    row_place(&worker->lane_order, last);
}

/* The order of the turn before has hardly changed. */
static void rows_sort(culex_worker *worker)
{
    for (size_t i = 1; i < worker->lane_count; i++)
        row_place(&worker->lane_order, i);
}

static void rival_note(struct culex_lane_order *order, const struct culex_lane *lane,
                       uint64_t *first, uint64_t *second)
{
    uint64_t time = time_of(lane);
    order->rivals++;
    order->weights += lane->share.weight;
    if (time < *first || order->leader == NULL) {
        *second = *first;
        *first = time;
        order->leader = lane;
    } else if (time < *second) {
        *second = time;
    }
}

/* What lanes have used is of another time then, which none of them is ahead of. */
void culex__order_set(culex_worker *worker, culex_order order)
{
    worker->options.order = order;
    worker->lane_order.begin = 0;
    for (size_t i = 0; i < worker->lane_count; i++)
        culex__share_begin(&worker->lanes[i], worker->lane_order.now);
    rows_sort(worker);
}

/* In a strict order no lane uses time, so the leader is the first of the rows. */
void culex__order_turn(culex_worker *worker)
{
    struct culex_lane_order *order = &worker->lane_order;
    uint64_t first = UINT64_MAX, second = UINT64_MAX;
    order->rivals = 0;
    order->weights = 0;
    order->leader = NULL;
    if (worker->options.order == CULEX_ORDER_TURNS)
        return;
    if (worker->options.order == CULEX_ORDER_WEIGHTED)
        rows_sort(worker);
    for (size_t i = 0; i < worker->lane_count; i++) {
        struct culex_lane *lane = order->rows[i];
        lane->stand.is_rival = contends(lane);
        if (lane->stand.is_rival)
            rival_note(order, lane, &first, &second);
    }
    if (order->leader != NULL)
        order->now = first;
    order->next = second;
}

struct culex_lane *culex__order_lane(const culex_worker *worker, size_t i)
{
    assert(i < worker->lane_count);
    return worker->lane_order.rows[(worker->lane_order.begin + i) % worker->lane_count];
}

/* --- and how many runs it gets -------------------------------------------------------------- */

/* What a lane may claim before its rivals have had theirs: a batch, or its part of the handlers. */
static uint64_t lead_of(const struct culex_lane *lane)
{
    const struct culex_lane_order *order = &lane->worker->lane_order;
    uint64_t batch = culex__appetite_batch(lane);
    uint64_t part = culex__crew_capacity(lane->worker) * lane->share.weight / order->weights;
    uint64_t lead = batch > part ? batch : part;
    return lead > 0 ? lead : 1;
}

/* The leader may catch up with the second, the others may be ahead of it by no more than a batch.
 */
static size_t weighted_room(const struct culex_lane *lane)
{
    const struct culex_lane_order *order = &lane->worker->lane_order;
    if (order->rivals == (lane->stand.is_rival ? 1 : 0))
        return SIZE_MAX;
    uint64_t lead = lead_of(lane), time = time_of(lane);
    uint64_t from = lane == order->leader ? order->next : order->now;
    if (from >= time)
        return lead + (from - time) * lane->share.weight / CULEX_SHARE_UNIT;
    uint64_t ahead = ((time - from) * lane->share.weight + CULEX_SHARE_UNIT - 1) / CULEX_SHARE_UNIT;
    return lead > ahead ? lead - ahead : 0;
}

static size_t room_in_order(const struct culex_lane *lane)
{
    const culex_worker *worker = lane->worker;
    const struct culex_lane *leader = worker->lane_order.leader;
    if (worker->options.order == CULEX_ORDER_WEIGHTED)
        return weighted_room(lane);
    return leader == NULL || leader == lane || is_listed_before(lane, leader) ? SIZE_MAX : 0;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t culex__order_room(const struct culex_lane *lane, size_t room)
{
    room = least(room, culex__share_room(lane));
    return room > 0 ? least(room, room_in_order(lane)) : 0;
}

void culex__order_note_grants(struct culex_lane *lane, size_t count)
{
    if (lane->worker->options.order == CULEX_ORDER_WEIGHTED)
        culex__share_charge(lane, lane->worker->lane_order.now, count);
}

void culex__order_note_fed(struct culex_lane *lane)
{
    culex_worker *worker = lane->worker;
    if (worker->options.order == CULEX_ORDER_TURNS)
        worker->lane_order.begin = lane->stand.place + 1;
}
