/* worker/beats.h - heartbeats of runs in flight: into a step, and what its answers mean. */
#ifndef CULEX_WORKER_BEATS_H
#define CULEX_WORKER_BEATS_H

#include <culex/worker.h>

#include "store/store.h"

struct culex_lane;

/* Puts the beats that are due into the lane's next step. */
void culex__beats_add(struct culex_lane *lane, int64_t now_ns);

/* Renews the leases that were granted; loses and cancels the other runs. */
void culex__beats_take(struct culex_lane *lane, const enum culex_answer *answers);

#endif
