/* store/sqlite/spool.h - a file in which runs wait for a store that is away.
 *
 * An SQLite file of its own, with a line of entries for each queue. Several processes may share it.
 * What is added is on the disk when the call returns; what is taken out was settled before. Numbers
 * of entries grow and are never used twice in it. Random bits that stand in each as well tell it
 * from those of a copy of the file, or of what was put back from a copy: both together make an
 * idempotency key. An entry that the store will not take stands aside, with the reason, until
 * somebody decides.
 *
 * On a full disk nothing can be added, and all that is there can be taken out.
 *
 * While it has entries, it is for one store: every call but the closing ones is CULEX_EINVAL for a
 * client of another. An empty one is for the store whose client adds first.
 *
 * A spool serves one thread at a time. After a fork it belongs to the process that opened it. */
#ifndef CULEX_STORE_SQLITE_SPOOL_H
#define CULEX_STORE_SQLITE_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <culex/error.h>
#include <culex/types.h>

#include "base/limits.h"
#include "platform/env.h"

struct culex_spool;

/* One run that waits. */
struct culex_spool_entry {
    int64_t number; /* 1 or more */
    uint64_t salt;  /* random: no other entry, of this file or another, has both */
    const char *queue;
    int64_t asked_ms;  /* by this machine's clock: when the program enqueued it */
    int64_t delay_ms;  /* from then on; 0: none */
    int64_t at_ms;     /* on the store's clock; 0: not used */
    const char *key;   /* the program's idempotency key; NULL: it gave none */
    int64_t window_ms; /* of that key */
    bool has_ticket;
    culex_uuid ticket; /* with which the store was asked, and gave no answer; then there is no key.
                          One that is damaged may be none. Entries with the same one were the runs
                          of one call */
    int64_t tried_ms;  /* by the store's clock: since when it may be there; 0: it is not */
    bool is_strict;    /* a unique key that another run holds is an error */
    bool is_again;     /* it stood aside, and somebody has decided that it is to be sent */
    const void *body;  /* a template (store/template.h) */
    size_t body_len;
    const char *aside; /* why it stands aside; NULL: it does not */
};

struct culex_spool_state {
    uint64_t runs;  /* that wait */
    uint64_t aside; /* that stand aside */
    uint64_t bytes; /* of both */
    bool has_queue; /* some of the queue that was asked for wait */
};

enum { CULEX_SPOOL_BATCH_MAX = 200, CULEX_SPOOL_BATCH_BYTES = 2 * 1024 * 1024 };

/* Makes the file, readable by this user alone, where there is none. `place` says which store this
 * client's entries are for. CULEX_ECORRUPT for a file of
 * another program or a damaged one, CULEX_EVERSION, CULEX_EREADONLY, CULEX_EDENIED, CULEX_EFULL,
 * CULEX_ECONNECT when its folder is missing, CULEX_EUNSUPPORTED on a network's file system and in a
 * process forked while the file was open; nothing is changed then. */
culex_status culex__spool_open(const char *path, const char *place, const struct culex_env *env,
                               struct culex_spool **ret_spool, culex_error *error);
void culex__spool_close(struct culex_spool *spool);

/* In a forked process: leaves the file alone. */
void culex__spool_abandon(struct culex_spool *spool);

const char *culex__spool_path(const struct culex_spool *spool);

/* `queue` may be NULL. */
culex_status culex__spool_look(struct culex_spool *spool, const char *queue,
                               struct culex_spool_state *ret_state, culex_error *error);

/* When the first of those that wait was asked for; 0: none waits. */
culex_status culex__spool_oldest(struct culex_spool *spool, int64_t *ret_asked_ms,
                                 culex_error *error);

/* Puts all of them at the end, or none; their numbers, salts and is_again are not looked at.
 * CULEX_EFULL when there is no room on the disk, or the file would have more than `runs_max`
 * entries or `bytes_max` bytes. */
culex_status culex__spool_add(struct culex_spool *spool, const struct culex_spool_entry *entries,
                              size_t count, uint64_t runs_max, uint64_t bytes_max,
                              culex_error *error);

/* The next entries of one queue. What they point to is theirs: culex__spool_batch_release. */
struct culex_spool_batch {
    size_t count;
    struct culex_spool_entry entries[CULEX_SPOOL_BATCH_MAX];
    char *rooms[CULEX_SPOOL_BATCH_MAX];
};

/* The first ones, at most `most`, of the queue that comes first by name behind `after` ("": of
 * all). When the first has a ticket, all of that ticket and no other; else none with one. */
culex_status culex__spool_next(struct culex_spool *spool, const char *after, size_t most,
                               struct culex_spool_batch *ret_batch, culex_error *error);

/* The first that stands aside behind `number`; none: count 0. */
culex_status culex__spool_next_aside(struct culex_spool *spool, int64_t number,
                                     struct culex_spool_batch *ret_batch, culex_error *error);
void culex__spool_batch_release(struct culex_spool_batch *batch);

/* What becomes of an entry. */
enum culex_spool_fate {
    CULEX_SPOOL_KEPT,    /* nothing */
    CULEX_SPOOL_TRIED,   /* from now on it may be in the store, unless it was so before */
    CULEX_SPOOL_UNTRIED, /* it is not there for certain; its ticket is dropped */
    CULEX_SPOOL_GONE,
    CULEX_SPOOL_ASIDE
};

struct culex_spool_change {
    int64_t number;
    enum culex_spool_fate fate;
    int64_t tried_ms; /* TRIED: by the store's clock */
    const char *text; /* ASIDE: why */
};

/* All of them or none; on a disk that is too full for that it is CULEX_EFULL, and each of them
 * alone is not. Numbers that are not there are passed by. */
culex_status culex__spool_change(struct culex_spool *spool,
                                 const struct culex_spool_change *changes, size_t count,
                                 culex_error *error);

/* Of those that stand aside, all (number 0) or one: puts them back to their places, as if they had
 * never been tried, or deletes them. All of them are so in parts: *ret_count is right on failure,
 * too. */
culex_status culex__spool_again(struct culex_spool *spool, int64_t number, uint64_t *ret_count,
                                culex_error *error);
culex_status culex__spool_drop(struct culex_spool *spool, int64_t number, uint64_t *ret_count,
                               culex_error *error);

/* Whose turn it is to forward: one client at a time, of all processes. False in *ret_is_ours when
 * another one has it; the kernel takes it from a process that dies, once those that it forked
 * meanwhile have ended or run other programs. */
culex_status culex__spool_lock(struct culex_spool *spool, bool *ret_is_ours, culex_error *error);
void culex__spool_unlock(struct culex_spool *spool);

#endif
