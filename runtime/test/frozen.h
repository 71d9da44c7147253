/* test/frozen.h - the world of a kit: a clock that stands, and chance from a seed. */
#ifndef CULEX_TEST_FROZEN_H
#define CULEX_TEST_FROZEN_H

#include <culex_test.h>

#include "platform/env.h"

struct culex_frozen {
    int64_t now_ms;      /* what the clock shows */
    int64_t boottime_ns; /* goes on with it, and through waits that the clock does not show */
    uint64_t seed;
    int64_t until_ms; /* as far as a pass may move the clock; 0: not at all */
    unsigned nudges;  /* short waits that this pass has let pass */
    bool wants_end;   /* the pass has been asked to end */
};

/* The table of `test`, whose frozen.now_ms and .seed are set. */
void culex__frozen_env(culex_test *test);

/* The clock may show `at`. */
bool culex__frozen_takes(culex_time at);

/* A pass of the loop begins. */
void culex__frozen_begin(struct culex_frozen *frozen);

/* Sets the clock on by so much, which is not negative. */
void culex__frozen_pass(struct culex_frozen *frozen, int64_t ms);

#endif
