/* worker/schemas.h - what the worker tells the store of the schemas of its jobs.
 *
 * Each lane tells those of all jobs when its queue has been greeted, and again each hour, one in a
 * turn of the loop: so many jobs do not keep runs waiting. The store writes nothing where it was
 * told the same a short time ago, by whichever worker. A store that does not take one is told the
 * others, and that one an hour later. */
#ifndef CULEX_WORKER_SCHEMAS_H
#define CULEX_WORKER_SCHEMAS_H

#include <culex/worker.h>

#include "base/notice.h"

/* Of one lane; all zero at first. */
struct culex_lane_schemas {
    size_t next;    /* job that is told next */
    int64_t due_ns; /* boot time of that call */
    struct culex_notice notice;
};

/* Boot time at which lanes have something to tell. */
int64_t culex__schemas_next_ns(const culex_worker *worker);

/* Tells what is due by now. */
void culex__schemas_turn(culex_worker *worker, int64_t now_ns);

#endif
