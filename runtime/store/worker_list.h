/* store/worker_list.h - the registry of workers, as a store hands it out; and what its entries
 * mean, the same for all stores. */
#ifndef CULEX_STORE_WORKER_LIST_H
#define CULEX_STORE_WORKER_LIST_H

#include "store/store.h"

/* Copies the row and what it points to. False when out of memory: the list is as it was. A list of
 * zeroes is empty. */
bool culex__worker_list_add(struct culex_worker_list *list, const struct culex_worker_row *row);

/* NULL when it is not in the list. */
const struct culex_worker_row *culex__worker_list_find(const struct culex_worker_list *list,
                                                       const char *id);

/* Leaves an empty list. */
void culex__worker_list_release(struct culex_worker_list *list);

/* Joins `wanted` to the wish of a worker that has heard `heard`, at `now_ms`: see WORKER_SET. False
 * when that changes nothing. */
bool culex__worker_wish_join(struct culex_worker_wish *wish, const struct culex_worker_wish *wanted,
                             uint64_t heard, int64_t now_ms);

/* An entry that was told then is gone. */
static inline bool culex__worker_is_gone(int64_t told_ms, int64_t now_ms)
{
    return told_ms < now_ms - CULEX_WORKER_GONE_MS || told_ms > now_ms + CULEX_WORKER_GONE_MS;
}

static inline bool culex__worker_is_still(int64_t told_ms, int64_t now_ms)
{
    return told_ms <= now_ms && now_ms - told_ms < CULEX_WORKER_STILL_MS;
}

#endif
