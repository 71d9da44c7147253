/* store/sqlite/members.h - batches, and what the ends of their members make of them: see "Batches"
 * in store/store.h. */
#ifndef CULEX_STORE_SQLITE_MEMBERS_H
#define CULEX_STORE_SQLITE_MEMBERS_H

#include <sqlite3.h>

#include <culex/codec.h>

#include "store/sqlite/producer.h"
#include "store/sqlite/queue.h"
#include "store/store.h"

/* Row of table batch. */
struct culex_sqlite_batch {
    int64_t key; /* 0: there is none */
    char state;  /* 'O' open, 'C' closed, 'E' ended */
    int64_t is_expired;
    int64_t added, done, dead, cancelled;
    int64_t keep_ms, at_ms, depth;
    culex_uuid parent; /* the batch that it is in, or was; zeroes: none */
};

/* What a queue's row says of batches: 1 while table batch may have some of it. */
void culex__sqlite_batches_note(struct culex_sqlite_queue *queue);

/* CULEX_ENOTFOUND where there is none. */
culex_status culex__sqlite_batch_find(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue, culex_uuid id,
                                      struct culex_sqlite_batch *ret_batch, culex_error *error);

/* As batch_find, with the key 0 where there is none. */
culex_status culex__sqlite_batch_seek(struct culex_sqlite *store,
                                      const struct culex_sqlite_queue *queue, culex_uuid id,
                                      struct culex_sqlite_batch *ret_batch, culex_error *error);

/* As batch_find, of one that takes new members; CULEX_ESTATE for one that has ended. */
culex_status culex__sqlite_batch_find_live(struct culex_sqlite *store,
                                           const struct culex_sqlite_queue *queue, culex_uuid id,
                                           struct culex_sqlite_batch *ret_batch,
                                           culex_error *error);

culex_status culex__sqlite_batch_save(struct culex_sqlite *store,
                                      const struct culex_sqlite_batch *batch, culex_error *error);

/* A member of it has ended so. To be settled. */
culex_status culex__sqlite_batch_count(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       struct culex_sqlite_batch *batch, culex_run_state state,
                                       culex_error *error);

/* Saves it, and ends it when nothing is left to end; then what it is in may end as well. */
culex_status culex__sqlite_batch_settle(struct culex_sqlite *store,
                                        struct culex_sqlite_queue *queue,
                                        struct culex_sqlite_batch *batch, culex_error *error);

bool culex__sqlite_batch_is_success(const struct culex_sqlite_batch *batch);

/* Whether what such a callback waits for has come about. */
bool culex__sqlite_batch_tells(const struct culex_sqlite_batch *batch, culex_batch_when when);

/* Whether it can not come about any more. */
bool culex__sqlite_batch_never_tells(const struct culex_sqlite_batch *batch, culex_batch_when when);

/* With its callbacks. */
culex_status culex__sqlite_batch_drop(struct culex_sqlite *store,
                                      const struct culex_sqlite_batch *batch, culex_error *error);

/* CULEX_ENOTFOUND, without a text, where there is none. */
culex_status culex__sqlite_batch_by_key(struct culex_sqlite *store, int64_t key,
                                        struct culex_sqlite_batch *ret_batch, culex_error *error);

/* Row of table batch_call. */
struct culex_sqlite_callback {
    int64_t batch, when, delay_ms;
    char target[CULEX_QUEUE_NAME_MAX + 1]; /* "": the row is damaged */
    culex_buf run;                         /* its bytes (store/template.h) */
};

culex_status culex__sqlite_callback_take(sqlite3_stmt *row, struct culex_sqlite_callback *callback,
                                         culex_error *error);

/* What it brings; borrows from it and from `ret_limits`. CULEX_ECORRUPT: nobody can read it. */
culex_status culex__sqlite_callback_run(const struct culex_sqlite_callback *callback,
                                        struct culex_run_limit ret_limits[CULEX_RUN_LIMITS_MAX],
                                        struct culex_new_run *ret_run, culex_error *error);

/* The new runs of a call are members of its batch. CULEX_ENOTFOUND and CULEX_ESTATE, as above, for
 * a call that has a run which its idempotency key does not answer. */
culex_status culex__sqlite_members_take(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue,
                                        const struct culex_sqlite_call *call, culex_error *error);

/* The run ends in this state, or goes without an end, as if it were cancelled. Asks the file for
 * nothing in a queue without batches. */
culex_status culex__sqlite_member_end(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                      int64_t seq, culex_run_state state, culex_error *error);

/* STEP: closes some batches whose time is over, and forgets some. */
culex_status culex__sqlite_batches_forget(struct culex_sqlite *store,
                                          struct culex_sqlite_queue *queue, culex_error *error);
/* When there is more to do: INT64_MAX for never. */
culex_status culex__sqlite_batches_next(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, int64_t *ret_at_ms,
                                        culex_error *error);

#endif
