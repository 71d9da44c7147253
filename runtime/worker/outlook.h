/* worker/outlook.h - what a lane can expect of its queue, and when it asks for runs: by the store's
 * last answer and by wake-ups. */
#ifndef CULEX_WORKER_OUTLOOK_H
#define CULEX_WORKER_OUTLOOK_H

#include <culex/worker.h>

#include "store/store.h"

struct culex_lane;

enum { CULEX_LOOK_MS = 5000 /* the store is asked at least this often */ };

struct culex_outlook {
    bool is_likely;    /* the store may have a run for us now */
    bool is_hinting;   /* a wake-up came that we cannot use: a step passes it on */
    bool is_empty;     /* as of the last answer */
    bool is_paused;    /* as of the last answer */
    bool has_suspects; /* the newest claim has passed by one */
    int64_t due_ns;    /* when the store wants a STEP */
    int64_t asked_ns;  /* when it was asked last */
};

/* A new lane, which was told nothing yet. */
void culex__outlook_init(struct culex_lane *lane);

/* Takes over what the answer to the lane's step says. `is_cut`: of the runs that it was to claim,
 * more may be waiting. */
void culex__outlook_take(struct culex_lane *lane, const struct culex_step_reply *reply, bool is_cut,
                         int64_t now_ns);

/* The lane may have a run for us; every lane may. */
void culex__outlook_set_likely(struct culex_lane *lane);
void culex__lanes_set_likely(culex_worker *worker);

/* A wake-up that we took and cannot use must reach another worker. */
void culex__outlook_set_hinting(struct culex_lane *lane);
void culex__lanes_set_hinting(culex_worker *worker);

/* At the worker's stop: what comes due in a lane may be known to it alone, and a step tells others.
 */
void culex__lanes_hand_on(culex_worker *worker);

/* Boot time at which the lane asks for runs if it has room, maybe past. It looks even without a
 * wake-up, as those may get lost; soon where none can come: no worker is told of new runs while one
 * of its lanes has some to claim. */
int64_t culex__outlook_next_ns(const struct culex_lane *lane);

#endif
