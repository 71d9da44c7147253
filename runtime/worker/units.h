/* worker/units.h - what the worker offers, and how much of it is free.
 *
 * A run that needs units has them from its grant until the executor has given it back, also when it
 * was given up meanwhile and its handler goes on. What a step offers is promised until its answer
 * has come: no other step offers it as well. The promise ends earlier where a call has failed that
 * brought nothing for certain, or none that could still be held: a queue in lasting trouble keeps
 * nothing from others, and is offered anew what is free when it is tried again. */
#ifndef CULEX_WORKER_UNITS_H
#define CULEX_WORKER_UNITS_H

#include <culex/worker.h>

#include "core/needs.h"
#include "store/store.h"

struct culex_flight;
struct culex_lane;

struct culex_units {
    struct culex_needs offers; /* all */
    struct culex_needs free;
    int64_t in_use[CULEX_OFFERS_MAX]; /* of each, in their order */
    char **bells; /* what jobs of ours need, each behind its queue, as wake_arm takes it */
    size_t bell_count;
    uint64_t awaited; /* which of them the store waits for, as a hash */
};

/* Of a run in flight: units of each offer, in their order. */
struct culex_units_held {
    bool is_any;
    uint16_t of[CULEX_OFFERS_MAX];
};

/* Of a lane. */
struct culex_units_wish {
    bool is_short; /* runs wait in its queue that fit when more is free */
};

/* At the start of a worker's life; false when memory is out. Says which jobs it can never run. */
bool culex__units_begin(culex_worker *worker);
void culex__units_end(culex_worker *worker);

/* Whether the worker offers what runs of the job need, be it free or not. */
bool culex__units_serve(const culex_worker *worker, const culex_job_type *type);

/* Sets what the lane's step offers, a new one or one that is to be tried again: then `offers` stays
 * as it is while that is promised. */
void culex__units_offer(const struct culex_lane *lane, int64_t now_ns,
                        char offers[CULEX__NEEDS_SIZE]);
/* Its answer has come. */
void culex__units_take_reply(struct culex_lane *lane, uint32_t want,
                             const struct culex_step_reply *reply);

/* A granted run has what it needs; and gives it back. Then lanes that wait for it ask again. */
void culex__units_hold(struct culex_flight *flight, const char *needs);
void culex__units_let_go(struct culex_flight *flight);

/* Puts what the store is to tell of, beside the queues, into `names`, at most `most`. */
size_t culex__units_await(culex_worker *worker, const char **names, size_t most);
/* The same as the last time. */
bool culex__units_are_awaited(const culex_worker *worker);

#endif
