#include "client/advice.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/nearest.h"

culex_status culex__advise_run(struct culex_store *store, const char *queue, culex_error *error)
{
    culex_queue_stats stats;
    /* Most often the queue is there, and this costs the same however many queues there are. */
    if (error != NULL && store->ops->stats(store, queue, &stats, NULL) == CULEX_ENOTFOUND)
        culex__advise_queue(store, queue, error);
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
