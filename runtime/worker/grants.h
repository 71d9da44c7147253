/* worker/grants.h - what the store granted: to the executor, or back. */
#ifndef CULEX_WORKER_GRANTS_H
#define CULEX_WORKER_GRANTS_H

#include <culex/worker.h>

#include "store/store.h"

struct culex_lane;

/* A store that was set back to an older state grants runs anew which this worker still has, with
 * the very same attempt. The older executions are dropped, or their ends would count for the newer.
 * Call it while no step of the lane is under way, which might have those ends. */
void culex__grants_forget_twins(struct culex_lane *lane, const struct culex_grant *grants,
                                size_t count);

/* Takes what a step granted that was sent at `sent_ns`, and hands it to the executor. True when
 * that has got any of it. */
bool culex__grants_take(struct culex_lane *lane, const struct culex_grant *grants, size_t count,
                        int64_t sent_ns);

#endif
