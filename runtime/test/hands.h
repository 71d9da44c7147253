/* test/hands.h - the executor of a kit: calls handlers on the loop's own thread.
 *
 * It has one hand, and takes a run when the loop collects: so one is claimed at a time, and what a
 * handler changes in the store is seen by the next claim. */
#ifndef CULEX_TEST_HANDS_H
#define CULEX_TEST_HANDS_H

#include <culex_test.h>

#include "executor/executor.h"
#include "handler/loan.h"
#include "handler/run_list.h"

struct culex_hands {
    struct culex_executor base;
    struct culex_home_store home;
    struct culex_loan loan;
    culex_arena *arena; /* of a handler */
    struct culex_run_list to_start;
    struct culex_run *run;        /* at work */
    struct culex_job job;         /* as it was registered */
    struct culex_test_call *call; /* what is told of it; NULL: nothing yet, or without memory */
    bool is_called;               /* its handler was */
    size_t calls;                 /* of handlers, in this pass */
    size_t refusals;              /* runs that hooks kept from their handlers */
    size_t most;                  /* in this pass */
    struct {                      /* while the clock shows one time */
        size_t most;              /* 0: no bound */
        size_t turns;
        int64_t at_ms;
        bool is_over; /* one more was due, and went back to the store */
    } instant;
    bool is_crashing;                 /* the next call ends so */
    struct culex_process_hooks hooks; /* that have been opened */
    void *process;                    /* what they have made */
};

/* Runs that this pass has executed. */
static inline size_t culex__hands_turns(const struct culex_hands *hands)
{
    return hands->calls + hands->refusals;
}

/* False without memory. */
bool culex__hands_init(culex_test *test);
void culex__hands_end(culex_test *test);

/* An executor's make: see worker_private.h. The kit is the world's. */
culex_status culex__hands_make(const struct culex_executor_config *config,
                               struct culex_executor **ret_executor, culex_error *error);

/* The store has flagged run `id`. */
void culex__hands_flag(culex_test *test, culex_uuid id);

#endif
