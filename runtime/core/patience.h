/* core/patience.h - growing, jittered waits between tries at a store that is in trouble. */
#ifndef CULEX_CORE_PATIENCE_H
#define CULEX_CORE_PATIENCE_H

#include <stdint.h>

/* Wait before try number `failures` + 1, ms: uniform in 0..min(50 * 2^(failures - 1), 5000),
 * at least 1. `failures` counts from 1. */
static inline int64_t culex__patience_ms(uint32_t failures, uint64_t random)
{
    uint32_t doublings = failures > 0 ? failures - 1 : 0;
    uint64_t most_ms = doublings < 7 ? UINT64_C(50) << doublings : 5000;
    if (most_ms > 5000)
        most_ms = 5000;
    return (int64_t)(random % most_ms) + 1;
}

#endif
