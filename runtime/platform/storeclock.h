/* platform/storeclock.h - the store's clock, known here as an offset to the boot time. */
#ifndef CULEX_PLATFORM_STORECLOCK_H
#define CULEX_PLATFORM_STORECLOCK_H

#include <stdbool.h>

#include "platform/env.h"

struct culex_storeclock {
    int64_t offset_ms; /* store clock minus boot time, or up to `slack_ms` less than that */
    int64_t slack_ms;  /* how long the reply that told it was under way */
    bool is_known;
};

/* Learns the clock from a reply to what was sent at `sent_ms` (boot time). Returns by how much the
 * store's clock has jumped against the boot time since the reply before: 0 while it may have gone
 * on evenly, more when it went forward, less when backward. */
static inline int64_t culex__storeclock_learn(struct culex_storeclock *clock,
                                              const struct culex_env *env, int64_t store_ms,
                                              int64_t sent_ms)
{
    int64_t now_ms = culex__env_boottime_ms(env), jump_ms = 0;
    int64_t least_ms = sent_ms + clock->offset_ms;
    int64_t most_ms = now_ms + clock->offset_ms + clock->slack_ms;
    if (clock->is_known && store_ms < least_ms)
        jump_ms = store_ms - least_ms;
    else if (clock->is_known && store_ms > most_ms)
        jump_ms = store_ms - most_ms;
    clock->offset_ms = store_ms - now_ms;
    clock->slack_ms = now_ms - sent_ms;
    clock->is_known = true;
    return jump_ms;
}

/* The same without asking for jumps. */
static inline void culex__storeclock_set(struct culex_storeclock *clock,
                                         const struct culex_env *env, int64_t store_ms)
{
    culex__storeclock_learn(clock, env, store_ms, culex__env_boottime_ms(env));
}

/* Store time now, ms since 1970. */
static inline int64_t culex__storeclock_now_ms(const struct culex_storeclock *clock,
                                               const struct culex_env *env)
{
    return culex__env_boottime_ms(env) + clock->offset_ms;
}

#endif
