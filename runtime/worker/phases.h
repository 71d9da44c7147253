/* worker/phases.h - how a worker comes to its end: it claims nothing more, asks its handlers to
 * stop, gives them up. */
#ifndef CULEX_WORKER_PHASES_H
#define CULEX_WORKER_PHASES_H

#include <culex/worker.h>

enum culex_worker_phase {
    CULEX_WORKER_RUNNING,
    CULEX_WORKER_STOPPING,   /* claims nothing more; handlers may finish */
    CULEX_WORKER_CANCELLING, /* handlers were asked to stop */
    CULEX_WORKER_ABANDONING  /* only results are sent; handlers are given up */
};

struct culex_phases {
    enum culex_worker_phase current;
    int64_t end_ns;     /* when it ends by itself */
    int64_t patient_ns; /* how long a store that does not answer is asked; set by CANCELLING */
};

/* At the start of a worker's life: it runs. */
void culex__phases_reset(culex_worker *worker);

/* No call to the store goes on for longer than `wait_ms` from now. From any thread. */
void culex__until_set(culex_worker *worker, int64_t wait_ms);

void culex__phase_enter(culex_worker *worker, enum culex_worker_phase phase, int64_t now_ns);

/* Enters the phases that stops, and the end of time for a phase, lead to. */
void culex__phases_advance(culex_worker *worker, int64_t now_ns);

/* Boot time after `now_ns` at which advance or is_finished says something else by itself; INT64_MAX
 * for never. */
int64_t culex__phases_next_ns(const culex_worker *worker, int64_t now_ns);

/* Results that the store has not taken. */
size_t culex__worker_unsent(const culex_worker *worker);

/* All is done, or the time for it is over. */
bool culex__worker_is_finished(culex_worker *worker, int64_t now_ns);

#endif
