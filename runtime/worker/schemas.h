/* worker/schemas.h - what the worker tells the store of the schemas of its jobs.
 *
 * Each lane tells those of all jobs when its queue has been greeted, and again each hour, one in a
 * turn of the loop: so many jobs do not keep runs waiting. Where it drains, all at once. The store
 * writes nothing where it was told the same a short time ago, by whichever worker. A store that
 * does not take one is told the others, and that one an hour later.
 *
 * Behind that it has the store forget schemas that nobody tells any more and no run needs. The
 * store gives those that are in question to one worker in an hour; where there are none, that is
 * all. Else it looks through the runs of the queue, a page in a turn, and asks the store to forget
 * what it has not met: see "Schemas" in store/store.h. */
#ifndef CULEX_WORKER_SCHEMAS_H
#define CULEX_WORKER_SCHEMAS_H

#include <culex/worker.h>

#include "base/notice.h"
#include "store/store.h"

struct culex_lane;

/* Schemas for which runs are looked for. */
struct culex_schema_search {
    struct culex_schema_list stale; /* those that no run was met for */
    uint64_t arrivals;
    culex_list_cursor cursor; /* of the next page */
    bool is_on;
};

/* Of one lane; all zero at first. */
struct culex_lane_schemas {
    size_t next;    /* job that is told next */
    int64_t due_ns; /* boot time of that call */
    struct culex_notice notice;
    struct culex_schema_search search;
};

/* Boot time at which lanes have something to tell. */
int64_t culex__schemas_next_ns(const culex_worker *worker);

/* Tells what is due by now, or looks at a page of runs. */
void culex__schemas_turn(culex_worker *worker, int64_t now_ns);

void culex__schemas_free(struct culex_lane *lane);

#endif
