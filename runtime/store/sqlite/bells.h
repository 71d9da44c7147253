/* store/sqlite/bells.h - what runs need that have come in a transaction, or were left behind: after
 * COMMIT a worker that waits for such is told, for each (sqlite/wake.c). */
#ifndef CULEX_STORE_SQLITE_BELLS_H
#define CULEX_STORE_SQLITE_BELLS_H

#include <stddef.h>

#include "base/limits.h"

enum { CULEX__SQLITE_BELLS_MAX = 4 /* more at a time, and workers look by themselves */ };

struct culex_sqlite_bells {
    size_t count;
    struct {
        char needs[CULEX_LIMIT_NAME_MAX + 1];
        size_t end; /* of its part of the wake-up's targets */
    } of[CULEX__SQLITE_BELLS_MAX];
};

/* Once for each. */
void culex__sqlite_bells_ring(struct culex_sqlite_bells *bells, const char *needs);

#endif
