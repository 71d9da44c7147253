/* worker/share.h - a lane's share of its worker: its weight beside other lanes, and how many of its
 * runs there may be at a time. */
#ifndef CULEX_WORKER_SHARE_H
#define CULEX_WORKER_SHARE_H

#include <culex/worker.h>

#include "core/queue_item.h"

struct culex_lane;

struct culex_share {
    size_t rank;     /* of the item of the list that it comes from */
    unsigned weight; /* 1 unless the order is weighted */
    unsigned most;   /* runs at a time; 0: no bound of its own */
    size_t aside;    /* runs that were given up, and whose handlers go on */
    uint64_t used;   /* of the order's time (order.h), and what is less than a unit of it */
    uint64_t rest;
};

/* What a run takes of the order's time where the weight is 1. */
#define CULEX_SHARE_UNIT (UINT64_C(1) << 20)

/* A new lane. */
void culex__share_init(struct culex_lane *lane, const struct culex_queue_item *item, size_t rank);

/* It has used so much of the order's time. */
void culex__share_begin(struct culex_lane *lane, uint64_t used);

/* Weight and bound are the item's from now on. */
void culex__share_set(struct culex_lane *lane, const struct culex_queue_item *item);

/* The lane has as many runs as it may. A run counts from its grant until the executor has given it
 * back, also when it was given up meanwhile. */
bool culex__share_is_full(const struct culex_lane *lane);

/* Runs that it may have besides; SIZE_MAX without a bound. */
size_t culex__share_room(const struct culex_lane *lane);

/* A flight of the lane was set aside, or came back from there. */
void culex__share_note_aside(struct culex_lane *lane);
void culex__share_note_return(struct culex_lane *lane);

/* It was granted so many runs; its time goes on from `from`, where that is later. */
void culex__share_charge(struct culex_lane *lane, uint64_t from, size_t count);

#endif
