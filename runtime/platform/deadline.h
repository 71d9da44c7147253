/* platform/deadline.h - until when somebody may wait, for a wait that others can cut short.
 *
 * Boot time, as culex__env_boottime_ns tells it. */
#ifndef CULEX_PLATFORM_DEADLINE_H
#define CULEX_PLATFORM_DEADLINE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct culex_deadline {
    int64_t own_ns;
    /* Counts when it is earlier, and may be moved while somebody waits. NULL, or 0 there: none. */
    const atomic_int_fast64_t *until_ns;
};

static inline int64_t culex__deadline_ns(const struct culex_deadline *deadline)
{
    int64_t until_ns = deadline->until_ns != NULL ? atomic_load(deadline->until_ns) : 0;
    return until_ns != 0 && until_ns < deadline->own_ns ? until_ns : deadline->own_ns;
}

/* How long to wait at once before looking at the deadline again; 0: it is over. */
static inline int culex__deadline_wait_ms(const struct culex_deadline *deadline, int64_t now_ns)
{
    enum { LOOK_MS = 250 };
    int64_t left_ns = culex__deadline_ns(deadline) - now_ns;
    int64_t left_ms = left_ns > 0 ? (left_ns - 1) / 1000000 + 1 : 0;
    return left_ms < LOOK_MS ? (int)left_ms : LOOK_MS;
}

#endif
