/* worker/figures.h - what the worker tells the store of how its runs end, and how long they waited
 * and took.
 *
 * A lane counts in memory, by job, and hands that over a second after the first run that is untold,
 * and at its end: so no STEP knows of figures, and an idle worker is silent. What was sent is kept
 * until the store has it for certain, so it counts once; the death of a worker costs what it had
 * not told. */
#ifndef CULEX_WORKER_FIGURES_H
#define CULEX_WORKER_FIGURES_H

#include <culex/worker.h>

#include "base/notice.h"
#include "core/figures.h"
#include "store/store.h"
#include "worker/identity.h"
#include "worker/tally.h"

struct culex_flight;
struct culex_lane;

/* Of one job. */
struct culex_job_figures {
    const culex_job_type *type;
    struct culex_figure figure;
};

/* Rows on their way to the store. */
struct culex_figures_sent {
    struct culex_figure_row rows[CULEX_STORE_FIGURES_MAX];
    char (*texts)[CULEX_FIGURE_TEXT_SIZE];
    size_t count; /* 0: nothing is on its way */
    uint64_t number;
    char session[CULEX_SESSION_SIZE];
    int64_t since_ns; /* of the first try */
};

/* Of one lane. */
struct culex_lane_figures {
    struct culex_job_figures *jobs; /* that have something untold, in no order */
    size_t count, capacity;
    int64_t due_ns; /* of the next call, when there is something to tell */
    uint64_t number;
    struct culex_figures_sent sent;
    struct culex_notice notice;
};

/* Of `flight`, of which the store has taken the end. `before`: the worker's tally before that was
 * counted there. */
void culex__figures_note(struct culex_flight *flight, const struct culex_tally *before);

/* Boot time at which lanes have something to tell. */
int64_t culex__figures_next_ns(const culex_worker *worker);

/* Tells what is due by now. */
void culex__figures_turn(culex_worker *worker, int64_t now_ns);

/* The worker ends: tells what is left, once. */
void culex__figures_leave(culex_worker *worker);

void culex__figures_free(struct culex_lane *lane);

#endif
