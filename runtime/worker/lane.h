/* worker/lane.h - a lane: one queue with what the worker has there.
 *
 * That is a step to send (STEP), runs in flight, and results that wait for the next step.
 *
 * Where runs are short, and nothing is out of the ordinary, two steps are under way: while the
 * grants of one are worked up here, the store has the next already. Never are two at the store, so
 * one memo of it is enough to repeat the step whose answer was lost. */
#ifndef CULEX_WORKER_LANE_H
#define CULEX_WORKER_LANE_H

#include <culex/worker.h>
#include "base/limits.h"
#include "store/store.h"
#include "worker/acks.h"
#include "worker/appetite.h"
#include "worker/beats.h"
#include "worker/figures.h"
#include "worker/greeting.h"
#include "worker/outage.h"
#include "worker/order.h"
#include "worker/outlook.h"
#include "worker/repair.h"
#include "worker/roster.h"
#include "worker/schemas.h"
#include "worker/share.h"
#include "worker/units.h"
#include "worker/unread.h"

struct culex_flight;

/* A step, which is kept until the store has answered for certain: so are its acks and beats. */
struct culex_lane_step {
    bool is_pending;     /* sent at least once, and repeated with the same nonce */
    bool may_be_applied; /* after a failed try: see culex__call_may_be_applied */
    uint64_t nonce;
    uint32_t want;
    uint32_t ahead;                 /* of these, for handlers that are at work now */
    char offers[CULEX__NEEDS_SIZE]; /* what it has free */
    int64_t sent_ns; /* of the first try that may have been applied: leases count from here */
};

struct culex_lane {
    struct culex_worker *worker;
    char name[CULEX_QUEUE_NAME_MAX + 1];
    struct culex_greeting greeting;
    struct culex_outlook outlook;
    struct culex_appetite appetite;
    struct culex_share share;
    struct culex_units_wish units;
    struct culex_stand stand;
    bool is_held;    /* the next run wants a free handler: culex__pace_set_held */
    bool is_awaited; /* the store was asked to tell of its new work */
    int64_t beat_ns; /* no run in flight wants a beat earlier */
    int64_t end_ns;  /* no lease or timeout of a run in flight ends earlier */
    struct culex_trouble trouble;
    uint64_t expired_untold; /* runs that have expired since the last line about it */
    int64_t expired_told_ns;
    bool has_follow_ups;        /* such as wait, by the last answer */
    int64_t follow_ups_told_ns; /* newest line about such as wait; 0: none */
    int64_t lines_told_ns;      /* about log lines that are not kept */
    struct culex_repair repair;
    struct culex_flight **flights;
    size_t flight_count;
    size_t flight_room;
    struct culex_roster roster;
    struct culex_acks acks;
    struct culex_beats beats;
    struct culex_unread unread;
    struct culex_lane_figures figures;
    struct culex_lane_schemas schemas;
    struct culex_lane_step step;
    size_t granted; /* by the last answer, not in flight yet */
    bool was_fed;   /* the last step has brought runs for the handlers */
};

/* Of the first step of a worker's life: the steps of all lanes count on from it. */
void culex__nonce_choose(culex_worker *worker);

/* Boot time at which there is something to tell or ask the store about this lane; INT64_MAX for
 * never, as before its HELLO. */
int64_t culex__lane_next_ns(const struct culex_lane *lane);

/* That time has come, and nothing is gained by a wait for more. */
bool culex__lane_wants_step(const struct culex_lane *lane, size_t queued, int64_t now_ns);

/* One STEP, to a queue that was greeted. Failures are accounted for; CULEX_EMOVED is returned. */
culex_status culex__lane_step(struct culex_lane *lane, culex_error *error);

#endif
