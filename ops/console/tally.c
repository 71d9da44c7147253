#include "console/tally.h"

#include <stdlib.h>

#include "console/routes.h"

enum { STATUS_MIN = 100, STATUS_MAX = 599, STATUSES = STATUS_MAX - STATUS_MIN + 1 };

struct tally {
    size_t routes;       /* with one more for none of them */
    atomic_ullong *rows; /* owned; of each route one for each status */
};

struct tally *tally_make(void)
{
    struct tally *tally = ops_alloc(NULL, sizeof *tally);
    tally->routes = 1;
    for (const struct route *route = routes; route->path != NULL; route++)
        tally->routes++;
    size_t count = tally->routes * STATUSES;
    tally->rows = ops_alloc(NULL, count * sizeof *tally->rows);
    for (size_t i = 0; i < count; i++)
        atomic_init(&tally->rows[i], 0);
    return tally;
}

void tally_note(struct tally *tally, const struct route *route, unsigned status)
{
    size_t row = route != NULL ? (size_t)(route - routes) : tally->routes - 1;
    if (status >= STATUS_MIN && status <= STATUS_MAX)
        atomic_fetch_add_explicit(&tally->rows[row * STATUSES + status - STATUS_MIN], 1,
                                  memory_order_relaxed);
}

void tally_each(struct tally *tally,
                void (*see)(const char *route, unsigned status, uint64_t count, void *user),
                void *user)
{
    for (size_t i = 0; i < tally->routes * STATUSES; i++) {
        size_t row = i / STATUSES;
        uint64_t count = atomic_load_explicit(&tally->rows[i], memory_order_relaxed);
        if (count > 0)
            see(row + 1 < tally->routes ? routes[row].name : "none",
                STATUS_MIN + (unsigned)(i % STATUSES), count, user);
    }
}

void tally_free(struct tally *tally)
{
    free(tally->rows);
    free(tally);
}
