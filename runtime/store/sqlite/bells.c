#include "store/sqlite/bells.h"

#include <stdio.h>
#include <string.h>

void culex__sqlite_bells_ring(struct culex_sqlite_bells *bells, const char *needs)
{
    for (size_t i = 0; i < bells->count; i++) {
        if (strcmp(bells->of[i].needs, needs) == 0)
            return;
    }
    if (bells->count < CULEX__SQLITE_BELLS_MAX)
        snprintf(bells->of[bells->count++].needs, sizeof bells->of[0].needs, "%s", needs);
}
