/* worker/greeting.h - HELLO to every queue, before anything is claimed from any. */
#ifndef CULEX_WORKER_GREETING_H
#define CULEX_WORKER_GREETING_H

#include <culex/worker.h>

/* HELLO to each queue that has not had it, if it may be called now. Call it before any step:
 * nothing is claimed until every queue was asked once. Failures are accounted for; CULEX_EMOVED is
 * returned, another fatal one is kept as worker->refusal, after which nobody is greeted any more.
 */
culex_status culex__lanes_greet(culex_worker *worker, culex_error *error);

struct culex_lane;

/* Boot time at which the lane is to be greeted, INT64_MAX for never. */
int64_t culex__greeting_next_ns(const struct culex_lane *lane);

#endif
