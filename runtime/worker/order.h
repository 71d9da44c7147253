/* worker/order.h - which lane is next, and how many runs it may claim beside the others.
 *
 * TURNS: a turn of the loop begins behind the lane that was given runs last. STRICT: only the first
 * lane that contends may claim. WEIGHTED: the worker has a time of its own, of which a run takes
 * 1/weight. Who has used least of it comes first, and nobody may be further ahead of the others
 * than by a batch. A lane that does not contend has no time: it begins again where the others are,
 * with nothing to make up for.
 *
 * A lane contends while its queue may have a run for us now, it is in no trouble, and it is below
 * its own bound (share.h). What an idle queue could want holds up nobody. */
#ifndef CULEX_WORKER_ORDER_H
#define CULEX_WORKER_ORDER_H

#include <culex/worker.h>

struct culex_lane;

/* How a lane stands among the others. */
struct culex_stand {
    size_t place;  /* in the rows */
    bool is_rival; /* it contended at the beginning of the turn */
};

/* As of the beginning of the turn. */
struct culex_lane_order {
    struct culex_lane **rows; /* all lanes, as they are stepped */
    size_t begin;             /* TURNS: index, modulo their count, of the row that comes first */
    size_t rivals;            /* lanes that contend */
    uint64_t weights;         /* theirs */
    const struct culex_lane *leader; /* the first of them */
    uint64_t now;                    /* the time that it has used; never goes back */
    uint64_t next;                   /* the same of the second */
};

/* Room for so many lanes; false when out of memory. */
bool culex__order_init(culex_worker *worker, size_t room);
void culex__order_free(culex_worker *worker);

/* From the next turn on it is this one. */
void culex__order_set(culex_worker *worker, culex_order order);

/* A new lane: it stands in its place from now on. */
void culex__order_add(struct culex_lane *lane);

/* Before the lanes are stepped. */
void culex__order_turn(culex_worker *worker);

/* The i-th lane of the turn. */
struct culex_lane *culex__order_lane(const culex_worker *worker, size_t i);

/* How many runs the lane may claim now, of `room` that it could take. */
size_t culex__order_room(const struct culex_lane *lane, size_t room);

/* The lane was granted so many runs; handlers have got some of them. */
void culex__order_note_grants(struct culex_lane *lane, size_t count);
void culex__order_note_fed(struct culex_lane *lane);

#endif
