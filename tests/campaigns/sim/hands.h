/* sim/hands.h - what else of the hands others use: see hands.c. */
#ifndef CULEX_SIM_HANDS_H
#define CULEX_SIM_HANDS_H

#include "world.h"

enum sim_fate {
    SIM_FATE_DONE,
    SIM_FATE_RESULT, /* done, with a result */
    SIM_FATE_FAIL,
    SIM_FATE_CRASH,
    SIM_FATE_MURDER, /* takes its worker along */
    SIM_FATE_DISCARD,
    SIM_FATE_SNOOZE,
    SIM_FATE_NEVER /* returns only when it is cancelled, if then */
};

/* Registered as every job's call; its user is the process. */
culex_outcome sim_handler_call(culex_run *run, culex_handler_fn handler, const void *params,
                               void *user);

/* Accepts NULL. After the worker's end. */
void sim_hands_free(struct sim_hands *hands);

/* Violation when a run goes on, and its worker means it, `slack_ns` after its lease. */
void sim_hands_check(const struct sim_hands *hands, int64_t slack_ns);

/* Handlers at work. Accepts NULL. */
size_t sim_hands_busy(const struct sim_hands *hands);

#endif
