/* worker/tally.h - what became of a worker's runs, counted for the line with which it ends. */
#ifndef CULEX_WORKER_TALLY_H
#define CULEX_WORKER_TALLY_H

#include <culex/worker.h>

enum culex_tally_row {
    CULEX_TALLY_DONE,
    CULEX_TALLY_FAILED,
    CULEX_TALLY_CRASHED,
    CULEX_TALLY_DEAD,      /* counted as failed or crashed, too */
    CULEX_TALLY_CANCELLED, /* while they ran here, however their handlers ended; no failures */
    CULEX_TALLY_EXPIRED,
    CULEX_TALLY_SNOOZED,
    CULEX_TALLY_RELEASED,
    CULEX_TALLY_NOT_UNDERSTOOD,
    CULEX_TALLY_STALE, /* results that the store refused */
    CULEX_TALLY_TIMED_OUT,
    CULEX_TALLY_LOST,
    CULEX_TALLY_ROWS
};

struct culex_tally {
    uint64_t counts[CULEX_TALLY_ROWS];
};

/* At the start of a worker's life. */
void culex__tally_reset(culex_worker *worker);

void culex__tally_add(culex_worker *worker, enum culex_tally_row row, uint64_t count);

/* Logs it, as the worker ends. */
void culex__tally_tell(const culex_worker *worker);

#endif
