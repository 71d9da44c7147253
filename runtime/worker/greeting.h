/* worker/greeting.h - HELLO to every queue, before anything is claimed from any. */
#ifndef CULEX_WORKER_GREETING_H
#define CULEX_WORKER_GREETING_H

#include <culex/worker.h>

#include "worker/identity.h"

struct culex_lane;

/* As whom the worker lives in a queue. */
struct culex_greeting {
    char session[CULEX_SESSION_SIZE]; /* the worker's own, or a later one */
    unsigned name_count;              /* of the worker's identity at the last HELLO */
    unsigned noted_name; /* which of its names the lifeline has, counted from 1; 0: none */
    bool is_done;
    bool is_optional; /* a pattern has found the queue: should it refuse, it is left alone */
    bool is_barred;   /* it has */
    bool is_lost;     /* a HELLO may have been carried out whose answer did not come */
};

/* A new lane, which has not been greeted. */
void culex__greeting_prepare(struct culex_lane *lane);

/* The lane's queue may refuse the worker without ending it. */
void culex__greeting_make_optional(struct culex_lane *lane);

/* What the worker held there has gone to its namesake. It says HELLO again as somebody else: two
 * that take the name from each other would lose each other's runs for ever. */
void culex__greeting_repeat(struct culex_lane *lane);

/* At the start of a worker's life no queue has refused it. */
void culex__refusal_reset(culex_worker *worker);

/* HELLO to each queue that has not had it, if it may be called now. Call it before any step:
 * nothing is claimed until every queue was asked once. Failures are accounted for; CULEX_EMOVED is
 * returned, another fatal one is kept as worker->refusal, after which nobody is greeted any more.
 */
culex_status culex__lanes_greet(culex_worker *worker, culex_error *error);

/* Boot time at which the lane is to be greeted, INT64_MAX for never. */
int64_t culex__greeting_next_ns(const struct culex_lane *lane);

#endif
