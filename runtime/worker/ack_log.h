/* worker/ack_log.h - the log's line about the end of a run, and its place in the tally. */
#ifndef CULEX_WORKER_ACK_LOG_H
#define CULEX_WORKER_ACK_LOG_H

#include <culex/worker.h>

#include "store/store.h"

struct culex_flight;

/* The store has given this answer to the ack of the run. */
void culex__ack_log(struct culex_flight *flight, enum culex_answer answer,
                    const struct culex_ack *ack);

#endif
