/* worker/pace.h - how many runs a worker takes: by what its handlers have done of late. */
#ifndef CULEX_WORKER_PACE_H
#define CULEX_WORKER_PACE_H

#include <culex/worker.h>

struct culex_lane;

enum { CULEX_QUIET_MS = 1 /* executors may hold back short runs' ends this long */ };

struct culex_pace {
    int64_t average_ns;   /* recent handler time */
    int64_t progress_ns;  /* last time a run came back, or the executor had nothing queued */
    size_t careful_count; /* as long as so many runs have not ended: see culex__worker_limit */
    size_t held_count;    /* lanes that are held */
};

/* At the start of a worker's life. */
void culex__pace_reset(culex_worker *worker);

/* A handler took this long. */
void culex__pace_learn(culex_worker *worker, int64_t duration_ns);

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

/* That time has come: handlers are slow from now on. */
void culex__pace_note_stall(culex_worker *worker, int64_t now_ns);

/* While handlers have short runs to do, ends and their announcement may be held back: nothing else
 * needs a look sooner than QUIET_MS from now. */
bool culex__pace_is_gathering(const culex_worker *worker, size_t queued);

/* Runs are so short at present that it pays to collect several claims or ends for one step. */
bool culex__worker_runs_are_short(const culex_worker *worker);

/* The most runs to have in flight. While runs are short they are more than there are handlers, with
 * two exceptions. After this worker's former life left runs behind, until as many have ended: one
 * of them may kill this life, too, and the store should then know which had started. And while
 * the next run of a lane waits for a free handler. */
size_t culex__worker_limit(const culex_worker *worker);

/* It claims, and is below that limit. */
bool culex__worker_has_room(const culex_worker *worker);

#endif
