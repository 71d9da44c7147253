/* store/sqlite/kind.h - what the ordinary runs of one sort have in common: a row of table kind. */
#ifndef CULEX_STORE_SQLITE_KIND_H
#define CULEX_STORE_SQLITE_KIND_H

#include "store/sqlite/queue.h"
#include "store/store.h"
#include "base/limits.h"

struct culex_sqlite;

enum { CULEX__SQLITE_RECENT_TAGS_MAX = 255 };

/* What is asked for of a kind again and again. */
struct culex_sqlite_kind {
    int64_t key; /* 0: nothing was asked for yet */
    bool is_there;
    char job[CULEX_JOB_NAME_MAX + 1];
    uint64_t fingerprint;
    uint32_t attempts_max;
    int64_t timeout_ms, keep_success_ms;
};

/* The kind that this handle has used last in an enqueue. A sweep leaves it as long as it is the one
 * that has given it its number, so what stands here holds while the queue's sweep is the same. */
struct culex_sqlite_recent_kind {
    int64_t key; /* 0: none */
    int64_t queue, sweep;
    struct culex_new_run run; /* its kind's members, with the texts below */
    char job[CULEX_JOB_NAME_MAX + 1], tags[CULEX__SQLITE_RECENT_TAGS_MAX + 1];
};

/* Loads the kind, unless it is there already. One that is missing or damaged is none, and no
 * failure. */
culex_status culex__sqlite_kind_load(struct culex_sqlite *store, int64_t key,
                                     struct culex_sqlite_kind *kind, culex_error *error);

/* The kind of `run`, which is made when there is none. */
culex_status culex__sqlite_kind_of(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                   const struct culex_new_run *run, int64_t *ret_kind,
                                   culex_error *error);
/* A portion of the sweep under way, if there is one, or due. `added`: runs that the call has
 * claimed. */
culex_status culex__sqlite_kinds_sweep(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       size_t added, culex_error *error);

#endif
