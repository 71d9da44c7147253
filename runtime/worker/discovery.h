/* worker/discovery.h - queues that a pattern of the worker's list finds.
 *
 * Which queues there are, the store is asked at the start and from time to time. One that was found
 * is served from then on, also when the store has forgotten it. */
#ifndef CULEX_WORKER_DISCOVERY_H
#define CULEX_WORKER_DISCOVERY_H

#include <culex/worker.h>

#include "base/notice.h"

struct culex_discovery {
    bool is_on;      /* the list has a pattern */
    bool has_looked; /* the store has answered once */
    bool is_wanted;  /* there may be a new queue */
    bool is_full;    /* the worker serves as many as it can */
    int64_t asked_ns;
    struct culex_notice notice; /* of looks that fail */
};

/* At the start of a worker's life; its list has been read. */
void culex__discovery_reset(culex_worker *worker);

/* A handler has enqueued. */
void culex__discovery_want(culex_worker *worker);

/* Asks the store if it is time, and adds lanes. Fails where no queue can ever be found:
 * a store that does not tell which it has must not look like one that has none. */
culex_status culex__discovery_look(culex_worker *worker, culex_error *error);

/* A drain may end: nothing is known that could have made a queue since the last look. */
bool culex__discovery_is_done(const culex_worker *worker);

/* Boot time at which the store is to be asked, INT64_MAX for never. */
int64_t culex__discovery_next_ns(const culex_worker *worker);

#endif
