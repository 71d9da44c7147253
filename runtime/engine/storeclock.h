/* engine/storeclock.h - the store's clock, known here as an offset to the boot time. */
#ifndef CULEX_ENGINE_STORECLOCK_H
#define CULEX_ENGINE_STORECLOCK_H

#include "platform/env.h"

struct culex_storeclock {
    int64_t offset_ms; /* store clock minus boot time */
};

static inline void culex__storeclock_set(struct culex_storeclock *clock,
                                         const struct culex_env *env, int64_t store_ms)
{
    clock->offset_ms = store_ms - culex__env_boottime_ms(env);
}

/* Store time now, ms since 1970. */
static inline int64_t culex__storeclock_now_ms(const struct culex_storeclock *clock,
                                               const struct culex_env *env)
{
    return culex__env_boottime_ms(env) + clock->offset_ms;
}

#endif
