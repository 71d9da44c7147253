/* worker/repair.h - FSCK of a queue, after the store refused a call. */
#ifndef CULEX_WORKER_REPAIR_H
#define CULEX_WORKER_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

struct culex_lane;

/* FSCK of a queue, after the store refused a call that it may have carried out in part. */
struct culex_repair {
    bool is_due;     /* set by outage.c */
    uint64_t cursor; /* where to go on */
    uint64_t found;  /* entries that were wrong */
    int64_t at_ns;   /* not before */
};

/* Does the next share of it when it is time. */
void culex__repair_share(struct culex_lane *lane, int64_t now_ns);
int64_t culex__repair_next_ns(const struct culex_lane *lane);

#endif
