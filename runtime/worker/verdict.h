/* worker/verdict.h - what the store is told of how a handler ended. */
#ifndef CULEX_WORKER_VERDICT_H
#define CULEX_WORKER_VERDICT_H

#include <culex/worker.h>

struct culex_flight;

/* Makes it of run.end. False: nothing is told, the lease was over when the handler ended. */
bool culex__verdict_reach(struct culex_flight *flight);

/* A failure in place of however it ended: `how` tells that, "" for nothing. */
void culex__verdict_time_out(struct culex_flight *flight, const char *how);

#endif
