/* store/sqlite/unique.h - unique keys: who holds one, and who takes it (store/store.h).
 *
 * run.has_key marks the run that was the last to take its key, as long as nobody else has; whether
 * it is the holder, its state and the clock decide. What a key without states was taken by stands
 * in table unique_window until its time is over, and outlives the run. Runs without a key never
 * come here. */
#ifndef CULEX_STORE_SQLITE_UNIQUE_H
#define CULEX_STORE_SQLITE_UNIQUE_H

#include "store/sqlite/queue.h"
#include "store/sqlite/run.h"

struct culex_sqlite;

static inline bool culex__sqlite_is_unique(const struct culex_new_run *run)
{
    return run->unique_key != NULL && run->unique_key[0] != '\0';
}

/* How a key stands. */
struct culex_sqlite_unique {
    bool is_held;
    culex_uuid holder; /* where it is held */
    int64_t marked;    /* key of the run with the mark, 0 for none */
    bool has_window;   /* the table has a row, perhaps one whose time is over */
};

culex_status culex__sqlite_unique_find(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue, const char *key,
                                       struct culex_sqlite_unique *ret_unique, culex_error *error);

/* Takes the key from whom `seen` tells of: another run, or the same as it comes anew, is about to
 * get the mark, or a window. */
culex_status culex__sqlite_unique_clear(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, const char *key,
                                        const struct culex_sqlite_unique *seen, culex_error *error);

/* The run `id` has taken the key of `run`: for a time, if no states keep it. */
culex_status culex__sqlite_window_keep(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue,
                                       const struct culex_new_run *run, culex_uuid id,
                                       culex_error *error);

/* The run is about to be saved in another state, by an ack, a claim or an operator: it has its key
 * again when this is one of its states and nobody holds the key. *ret_is_held when another does. */
culex_status culex__sqlite_unique_return(struct culex_sqlite *store,
                                         const struct culex_sqlite_queue *queue,
                                         struct culex_sqlite_run *run, bool *ret_is_held,
                                         culex_error *error);

/* The same for a dead run that is about to wait: its mark has meant nothing since its end. */
culex_status culex__sqlite_unique_revive(struct culex_sqlite *store,
                                         const struct culex_sqlite_queue *queue,
                                         struct culex_sqlite_run *run, bool *ret_is_held,
                                         culex_error *error);

/* As culex__sqlite_keys_forget, of windows. */
culex_status culex__sqlite_windows_forget(struct culex_sqlite *store, size_t added,
                                          culex_error *error);

#endif
