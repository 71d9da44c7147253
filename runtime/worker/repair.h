/* worker/repair.h - FSCK of a queue, after the store refused a call. */
#ifndef CULEX_WORKER_REPAIR_H
#define CULEX_WORKER_REPAIR_H

#include <culex/worker.h>

struct culex_lane;

/* FSCK of a queue, after the store refused a call that it may have carried out in part. */
struct culex_repair {
    bool is_due;     /* see culex__repair_want */
    uint64_t cursor; /* where to go on */
    uint64_t found;  /* entries that were wrong */
    int64_t at_ns;   /* not before */
};

/* A call may have been carried out in part: the queue is looked through from its beginning. */
void culex__repair_want(struct culex_lane *lane);

/* Does the next share of it when it is time. A failure is to be accounted for as one of every call
 * of the lane. */
culex_status culex__repair_share(struct culex_lane *lane, int64_t now_ns, culex_error *error);

/* Boot time of that, INT64_MAX for never. */
int64_t culex__repair_next_ns(const struct culex_lane *lane);

#endif
