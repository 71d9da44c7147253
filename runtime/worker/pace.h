/* worker/pace.h - how the runs in flight come along: whether they move at all, and what forbids to
 * have more of them than there are handlers. */
#ifndef CULEX_WORKER_PACE_H
#define CULEX_WORKER_PACE_H

#include <culex/worker.h>

struct culex_lane;

enum { CULEX_QUIET_MS = 1 /* executors may hold back short runs' ends this long */ };

struct culex_pace {
    int64_t progress_ns;  /* last time a run came back, or the executor had nothing queued */
    size_t careful_count; /* as long as so many runs have not ended: see culex__pace_is_exact */
    size_t held_count;    /* lanes that are held */
};

/* At the start of a worker's life. */
void culex__pace_reset(culex_worker *worker);

/* A run came back from the executor. */
void culex__pace_note_end(culex_worker *worker);

/* The queue of the executor moves, or begins. */
void culex__pace_note_progress(culex_worker *worker);

/* So many runs of this worker's former life were given back. */
void culex__pace_note_released(culex_worker *worker, size_t count);

/* An unknown number of them was: at most as many as a life with these options has in flight. */
void culex__pace_note_uncounted(culex_worker *worker);

/* The next run of the lane waits for a free handler, or does so no more. */
void culex__pace_set_held(struct culex_lane *lane, bool is_held);

/* Boot time at which `queued` runs have waited for so long beside handlers that stand still that
 * they should go to others; INT64_MAX when none is queued. */
int64_t culex__pace_stall_ns(const culex_worker *worker, size_t queued);

/* That time has come. */
void culex__pace_note_stall(culex_worker *worker, int64_t now_ns);

/* No more runs may be in flight than there are handlers, in two cases. After this worker's former
 * life left runs behind, until as many have ended: one of them may kill this life, too, and the
 * store should then know which had started. And while the next run of a lane waits for a free
 * handler. */
bool culex__pace_is_exact(const culex_worker *worker);

/* The most runs that a life with these options ever has in flight. */
size_t culex__pace_flights_max(const culex_worker *worker);

#endif
