#include "live.h"

bool live_has(const struct live *live, const char *job, const char *fingerprint)
{
    struct arena scratch = {0};
    bool has = map_get(&live->versions, arena_printf(&scratch, "%s %s", job, fingerprint)) != NULL;
    arena_release(&scratch);
    return has;
}
