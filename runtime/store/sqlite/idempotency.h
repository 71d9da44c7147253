/* store/sqlite/idempotency.h - idempotency keys: which run a key has brought, for as long as that
 * is to be remembered. Runs without a key never come here. */
#ifndef CULEX_STORE_SQLITE_IDEMPOTENCY_H
#define CULEX_STORE_SQLITE_IDEMPOTENCY_H

#include "store/sqlite/queue.h"
#include "store/store.h"

struct culex_sqlite;

static inline bool culex__sqlite_has_key(const struct culex_new_run *run)
{
    return run->idempotency_key != NULL && run->idempotency_key[0] != '\0';
}

/* Sets result to DUPLICATE or CONFLICT when the run's key is remembered, else leaves it alone. */
culex_status culex__sqlite_key_find(struct culex_sqlite *store,
                                    const struct culex_sqlite_queue *queue,
                                    const struct culex_new_run *run,
                                    struct culex_enqueue_result *result, culex_error *error);

/* The run's key has brought `id`. */
culex_status culex__sqlite_key_keep(struct culex_sqlite *store,
                                    const struct culex_sqlite_queue *queue,
                                    const struct culex_new_run *run, culex_uuid id,
                                    culex_error *error);

/* Forgets at most CULEX_FORGET_MAX keys, and `added` more, whose time is over, in whichever queue:
 * one that nobody uses any more is emptied too. */
culex_status culex__sqlite_keys_forget(struct culex_sqlite *store, size_t added,
                                       culex_error *error);

#endif
