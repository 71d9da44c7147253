#include "client/advice.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/nearest.h"

culex_status culex__advise_run(struct culex_store *store, const char *queue, culex_error *error)
{
    struct culex__nearest nearest = {.word = queue};
    char **names = NULL;
    if (error == NULL || store->ops->queues(store, &names, NULL) != CULEX_OK)
        return CULEX_ENOTFOUND;
    if (!culex__nearest_offer_all(&nearest, names))
        culex__advise_queue(store, queue, error);
    free(names);
    return CULEX_ENOTFOUND;
}

culex_status culex__advise_queue(struct culex_store *store, const char *queue, culex_error *error)
{
    struct culex__nearest nearest = {.word = queue};
    char **names = NULL, meant[128];
    if (error == NULL)
        return CULEX_ENOTFOUND;
    if (store->ops->queues(store, &names, NULL) != CULEX_OK)
        names = NULL; /* not allowed, or out of reach */
    if (culex__nearest_offer_all(&nearest, names))
        nearest.best = NULL; /* a name whose first run was refused */
    culex__fail(error, CULEX_ENOTFOUND,
                "the store has no queue '%s'%s (one begins with its first run or its first worker)",
                queue, culex__nearest_ask(&nearest, meant));
    free(names);
    return CULEX_ENOTFOUND;
}
