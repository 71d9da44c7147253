#include "store/sqlite/clock.h"

#include <time.h>

#include "store/sqlite/sqlite.h"

void culex__sqlite_clock_read(struct culex_sqlite *store)
{
    const struct culex_env *env = store->base.env;
    store->now_ms =
        env->store_clock_ms != NULL ? env->store_clock_ms(env->self) : culex__env_clock_ms(env);
}

void culex__sqlite_clock_start(struct culex_sqlite *store)
{
    store->deadline_ns = culex__env_boottime_ns(store->base.env) + store->timeout_ms * 1000000;
    culex__sqlite_clock_read(store);
}

/* A write transaction takes some tens of microseconds, so the first tries come soon; jitter keeps
 * waiting writers from meeting again. */
bool culex__sqlite_clock_pause(struct culex_sqlite *store, int tries)
{
    enum { SHORT_TRIES = 8, SHORT_NS = 100000, LONG_MS = 8, TRIES_MAX = 1 << 20 };
    const struct culex_env *env = store->base.env;
    int64_t end_ns = culex__store_earlier_ns(&store->base, store->deadline_ns);
    if (culex__env_boottime_ns(env) >= end_ns || tries > TRIES_MAX)
        return false;
    uint64_t random = culex__env_random(env);
    if (tries < SHORT_TRIES) {
        struct timespec nap = {0, SHORT_NS / 2 + (long)(random % SHORT_NS)};
        nanosleep(&nap, NULL);
    } else {
        env->poll(env->self, NULL, 0, 1 + (int)(random % LONG_MS));
    }
    return true;
}
