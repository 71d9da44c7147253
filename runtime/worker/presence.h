/* worker/presence.h - the worker's entry in its store's registry, and what is wished of it there.
 *
 * It tells the store of itself at its start, every 2.5 s, and at once when it has taken up a wish
 * or begins to stop; at its end the entry goes. Nothing depends on it: where the store cannot be
 * told, the worker works on, and others do not see it. */
#ifndef CULEX_WORKER_PRESENCE_H
#define CULEX_WORKER_PRESENCE_H

#include <culex/worker.h>

#include "base/notice.h"
#include "worker/identity.h"

struct culex_presence {
    bool is_on;      /* it tells of itself */
    bool is_listed;  /* the store may have an entry */
    bool is_parting; /* it was told that the worker stops */
    char id[CULEX_SESSION_SIZE];
    int64_t born_ns;
    int64_t tell_ns;      /* boot time at which it tells next */
    uint64_t heard;       /* number of the newest wish that was taken up */
    bool is_quiet;        /* nothing is claimed */
    unsigned concurrency; /* runs at a time; 0: as it was started */
    struct culex_notice notice;
};

/* At the start of a worker's life. */
void culex__presence_reset(culex_worker *worker);

/* Tells, when it is time, and takes up what is wished. */
void culex__presence_turn(culex_worker *worker, int64_t now_ns);

/* So many runs at a time from now on, but no more than it was started with. False when that is what
 * it has. The last word counts: this, or a wish. */
bool culex__presence_set_concurrency(culex_worker *worker, unsigned wanted);

/* Boot time of that; INT64_MAX for never. */
int64_t culex__presence_next_ns(const culex_worker *worker);

/* At its end: takes the entry away, unless the store is not to be reached. */
void culex__presence_leave(culex_worker *worker);

#endif
