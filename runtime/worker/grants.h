/* worker/grants.h - what the store granted: to the executor, or back. */
#ifndef CULEX_WORKER_GRANTS_H
#define CULEX_WORKER_GRANTS_H

#include <culex/worker.h>

#include "store/store.h"

struct culex_lane;

/* Takes what a step granted that was sent at `sent_ns`, and hands it to the executor. */
void culex__grants_take(struct culex_lane *lane, const struct culex_grant *grants, size_t count,
                        int64_t sent_ns);

#endif
