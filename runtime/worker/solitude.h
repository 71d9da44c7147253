/* worker/solitude.h - a suspect has its worker for itself.
 *
 * A run that was lost twice (a suspect, see run_rules.def) may be one that takes its worker along,
 * or may only have stood beside such a one. Which, shows when nothing stands beside it: then a
 * death is charged to nobody else, and no good run is charged a third time for the company it was
 * in. So the store passes by suspects as long as a worker starts runs beside each other. Once a
 * claim has met one, the worker begins a solitude: it starts nothing new, lets what is at work come
 * to its end and the store hear of it, claims again, now for a suspect, and starts nothing else
 * until the store has heard of that one's end.
 *
 * Others pay no more than half of a busy worker's time for this: after a solitude they have as long
 * for themselves as it took, and a second at least, so also at the start of a worker's life. Where
 * what is at work does not come to its end within `patience`, a second at first, the worker goes on
 * with others, for four times as long as it has waited in vain, and waits twice as long the next
 * time: a fifth of its time, and a suspect has its turn in the end, whatever runs beside it. A
 * worker with nothing else to do begins at once. One with a thread whose handler was given up and
 * goes on takes no suspect: that handler is company, and may be for ever.
 *
 * A suspect that runs for long does not keep its worker for ever. After a minute, twice that in
 * each further attempt, an hour at most, others are started again, and the store knows by then that
 * this run cannot be charged with a loss (is_excused). One that takes its worker along later than
 * that goes free, and is watched for longer the next time. */
#ifndef CULEX_WORKER_SOLITUDE_H
#define CULEX_WORKER_SOLITUDE_H

#include <culex/worker.h>

struct culex_flight;
struct culex_lane;

struct culex_solitude {
    bool is_on;
    bool had_suspect; /* the newest one, which has done its duty then */
    size_t count;     /* suspects granted of whose end the store has not heard */
    int64_t since_ns; /* when it began, or the time for others did */
    int64_t others_ns;
    int64_t patience_ns;
};

/* At the start of a worker's life. */
void culex__solitude_reset(culex_worker *worker);

/* Begins or ends a solitude when it is time. Once a turn of the loop, before its steps. */
void culex__solitude_turn(culex_worker *worker, int64_t now_ns);

/* Boot time at which there will be something to begin or end, INT64_MAX for never. */
int64_t culex__solitude_next_ns(const culex_worker *worker);

/* A step of this lane may take a suspect now: nothing else is at work, or may have been granted,
 * and the store knows of all ends. */
bool culex__solitude_is_reached(const struct culex_lane *lane);

/* The lane may claim, for company or for its suspect. */
bool culex__solitude_lets_claim(const struct culex_lane *lane);

/* A suspect was granted. Until it is let go: its end is known to the store, or it is lost. */
void culex__solitude_hold(struct culex_flight *flight);
void culex__solitude_let_go(struct culex_flight *flight);

/* A suspect that comes when it must not be started any more: a step that asked for it was answered
 * too late. */
bool culex__solitude_is_over(const struct culex_flight *flight);

#endif
