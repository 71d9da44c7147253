/* culex/spool.h - enqueue while the store is away.
 *
 * A client of a Redis store that was opened with culex_client_options.spool, or with $CULEX_SPOOL,
 * has a file on this machine: a spool. What it enqueues while the store cannot be reached goes
 * there, and from there to the store once that is back. For the program such a call is CULEX_OK:
 * when it returns, the run is on the disk. Its id is all zeroes, since the store makes ids, and its
 * outcome CULEX_ENQUEUE_SPOOLED. Several clients and processes of one user may share a spool. A
 * client without one pays nothing; one with it looks into the file at each enqueue.
 *
 * When. A client with a spool gives the store half the time that a call may take. CULEX_ECONNECT,
 * CULEX_EUNKNOWN and CULEX_EBUSY mean that it is away. Whatever the store refuses, a queue that is
 * full for instance, is the error that it always is. A call with options->ticket is never spooled,
 * since only the store knows what became of an earlier one.
 *
 * Order. While some of a queue's runs wait in the spool, all that is enqueued into this queue goes
 * behind them. They come into the queue in their order.
 *
 * Once. A spooled run has its program's idempotency key, with the window that the program gave it,
 * or else one of its own, which the store remembers for seven days: whatever is sent twice, also by
 * another process after this one died, is one run. A call that got no answer, whose runs may be in
 * the store, is spooled with its ticket, which tells for ten minutes whether they are. What can be
 * told no more, as the store has been asked for it and came back when window or ticket were over,
 * is not sent again: it stands aside until somebody decides. So does a run whose program's key had
 * its window end while the run waited, asked for or not: sent then, it could come beside one that
 * the key has brought before, or make a later run its repeat. A key's window is to be longer than
 * the store may be away.
 *
 * Meaning. A delay counts from the program's call; so does an expiry, from when the run would have
 * been due, and a run whose time to begin is over by then becomes dead as any expired one. `at` is
 * what it was. How long a run has waited this machine's clock tells: one that is set forward while
 * runs wait makes them late, and one that is set back, by no more than they have waited. Unique
 * keys, their windows, and limits are judged when the run reaches the store, and the time when the
 * run was created is that.
 *
 * Who forwards. Each call that enqueues, once the store is back: a few hundred runs before its own.
 * culex_client_forward, and the program culex-spool. A run that the store will never take, as it
 * is, stands aside with the reason and holds up none. A queue that takes nothing for now (it is
 * full, a right is missing, it has moved to another node of a cluster) keeps its runs in the spool,
 * in order, and holds up no other queue.
 *
 * Bounds. The spool takes spool_runs runs and spool_bytes bytes, those that stand aside included;
 * then, and when the disk is full, enqueuing is CULEX_EFULL, and nothing that was spooled is lost:
 * to forward it, to put it back and to drop it takes no room. CULEX_ESTORE: the disk failed; where
 * it did not confirm a write, the text says so, and the run may be in the spool all the same.
 *
 * Lines. A client with a spool says on standard error, in lines like a worker's, when the first run
 * is spooled, once a minute how many wait, when one is put aside, and when none waits any more.
 *
 * The file is readable by its user alone: it holds params. Beside it lie FILE-journal and
 * FILE-lock. It belongs on a local disk, and to one store: while it has runs, a client of another
 * store or prefix gets CULEX_EINVAL from each call that enqueues or looks into it. */
#ifndef CULEX_SPOOL_H
#define CULEX_SPOOL_H

#include <culex/client.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is in a spool. */
typedef struct culex_spool_stats {
    uint64_t runs;     /* that wait for the store */
    uint64_t aside;    /* that it will not take, or that may be there already */
    uint64_t bytes;    /* of both */
    int64_t oldest_ms; /* when the first of those that wait was enqueued, by this machine's clock,
                          ms since 1970; 0: none waits */
} culex_spool_stats;

/* Fills *ret_stats. Asks the file alone. CULEX_EINVAL for a client without a spool; so are the
 * following ones. */
CULEX_API CULEX_MUST_USE culex_status culex_client_spool_stats(culex_client *client,
                                                               culex_spool_stats *ret_stats,
                                                               culex_error *error);

typedef struct culex_forward_counts {
    uint64_t forwarded; /* are in the store by now */
    uint64_t aside;     /* were put aside */
    uint64_t left;      /* wait still */
} culex_forward_counts;

/* Forwards up to `limit` runs (0: 1000), for at most the time that a call may take; call again
 * while counts.left is not 0. *ret_counts (may be NULL) is filled also on failure, which loses
 * nothing. CULEX_ECONNECT: the store is away, or went away meanwhile; what it was asked for last is
 * among those left, and is sent again. CULEX_EBUSY: another client forwards or changes the file
 * just now, or another thread has this one. What a queue refused for now, CULEX_EFULL for instance,
 * is the result when everything else was forwarded. */
CULEX_API CULEX_MUST_USE culex_status culex_client_forward(culex_client *client, size_t limit,
                                                           culex_forward_counts *ret_counts,
                                                           culex_error *error);

/* A run that stands aside. Everything it points to is borrowed. */
typedef struct culex_spool_run {
    uint64_t number; /* by which the two calls below know it */
    const char *queue;
    const char *job;     /* wire name; "" when the entry is damaged */
    int64_t enqueued_ms; /* by this machine's clock, ms since 1970 */
    const char *reason;
    culex_bytes payload;
} culex_spool_run;

/* Called for each; return false to stop. It must not use the client. */
typedef bool (*culex_spool_visitor)(const culex_spool_run *run, void *user);

/* Visits what stands aside, the oldest first. */
CULEX_API CULEX_MUST_USE culex_status culex_client_spool_aside(culex_client *client,
                                                               culex_spool_visitor visit,
                                                               void *user, culex_error *error);

/* Puts run `number`, or with 0 all that stand aside, back among those that wait, each in its place.
 * One of which the reason says that it may be in the store is enqueued then, be it there or not.
 * *ret_count (may be NULL): how many. CULEX_ENOTFOUND when `number` does not stand aside. */
CULEX_API CULEX_MUST_USE culex_status culex_client_spool_again(culex_client *client,
                                                               uint64_t number, uint64_t *ret_count,
                                                               culex_error *error);

/* Deletes run `number`, or with 0 all that stand aside; otherwise the same. */
CULEX_API CULEX_MUST_USE culex_status culex_client_spool_drop(culex_client *client, uint64_t number,
                                                              uint64_t *ret_count,
                                                              culex_error *error);

/* A function of another type for a callback is an error; see culex/typed.h. */
#ifdef CULEX_TYPED
#define culex_client_spool_aside(...) CULEX_TYPED(culex_client_spool_aside, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
