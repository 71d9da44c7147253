/* store/store.c - what stores share beside their contract. */
#include "store/store.h"

#include "base/error.h"

culex_status culex__store_no_queue(const char *queue, culex_error *error)
{
    return culex__fail(error, CULEX_ENOTFOUND, "the store has no queue '%s'", queue);
}

void culex__store_abandon(struct culex_store *store)
{
    if (store->ops->abandon != NULL)
        store->ops->abandon(store);
    else
        store->ops->close(store);
}
