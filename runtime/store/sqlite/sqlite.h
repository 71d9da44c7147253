/* store/sqlite/sqlite.h - what the files of the SQLite store share.
 *
 * Each file may call those below it, never one above:
 *
 *   borrow.c      a store on a handle of somebody else's
 *   spool.c       no store: runs that wait for another one
 *   spool_file.c  their file, whose it is, its transactions
 *   opening.c     a store's beginning and end         option.c      what its URL says
 *   room.c        the table of a store's verbs: the reserve stands behind those that write
 *   schedule.c    TICK and the verbs on schedules
 *   workers.c     the registry of workers             metadata.c    what jobs keep from run to run
 *   step.c        STEP
 *   batch.c       BATCH, and callbacks that come in
 *   follow_up.c   runs that come in with the ends of others
 *   enqueue.c     runs coming in
 *   schemas.c     the texts of schemas
 *   manage.c      the operator's verbs, HELLO         inspect.c     the verbs that only read
 *   limits.c      what an operator sets and sees of limits
 *   wait.c        WAIT
 *   fsck.c        the runs, and what is derived       doctor.c      what file and place promise
 *   fsck_limits.c what is counted for limits          figures.c     what workers count of runs
 *   fsck_batches.c  what is counted of batches, and callbacks
 *   events.c      EVENTS_KEEP and EVENTS              run_log.c     RUN_LOG
 *   memo.c        a session's last step               claim.c       granting ready runs
 *   scan_needs.c  runs that need what a worker offers
 *   scan.c        what a claim looks at               grant.c       a row as a grant
 *   group.c       acks and beats of a block's runs    lease.c       leases that are over
 *   retention.c   what is forgotten, and when
 *   verb.c        the bracket of a verb: one BEGIN IMMEDIATE, never held while anything but SQL
 *                 runs; the queue's row loaded before and saved behind; who is woken after it
 *   wake.c        the doors of idle workers
 *   admission.c   parked runs that come in again
 *   producer.c    the last call of each producer     idempotency.c  keys that have brought a run
 *   session.c     sessions that have fallen silent
 *   body.c        ordinary runs: one row, written once
 *   kind.c        what those of one sort have in common
 *   block.c       what has happened to them: claims and successes
 *   run.c         one row of a run, which moves by core/run.h
 *   unique.c      who holds a unique key, and who takes it
 *   waiters.c     who waits for the end of a run, and is told
 *   log_rows.c    log lines that runs keep
 *   members.c     batches, and the ends of their members
 *   parking.c     where runs with limits count, and where they stand
 *   ledger.c      limits and their keys, read once and saved before COMMIT
 *   event_notes.c what becomes of runs, noted by those that change them
 *   bells.c       what runs need that workers are to be told of
 *   transaction.c  one bounded transaction for each operation
 *   queue.c       the row of a queue, changed in memory and saved before COMMIT
 *   rear.c        what an enqueue changes of it
 *   file.c        opening the file                    heritage.c    not one that was inherited
 *   names.c       its hard links                      place.c       is it the one others find
 *   index.c       how long file and log have to be    reserve.c     space for a full disk
 *   glance.c      looks at files that leave no trace
 *   checkpoint.c  writing the log back
 *   statement.c   prepared SQL                        beside.c      files beside the database
 *   clock.c       the time of one operation           error.c       SQLite's result codes
 *
 * Order of claims. Exact: runs without delay, in one priority, in the order of their enqueue
 * transactions (at_ms never decreases within a queue, seq breaks ties; ordinary runs have both from
 * the first, so it is all the same when they become runs of their own), also when the clock is set
 * back; released runs before all others, the last released first. Approximate: a delayed run that
 * became due stands among the waiting ones by the time it was due, as if it had been enqueued then.
 *
 * memory:NAME is the same code on SQLite's memdb, which all connections of the process share. It
 * has no WAL and lets readers see a writer's work, so there every operation takes the write lock.
 */
#ifndef CULEX_STORE_SQLITE_SQLITE_H
#define CULEX_STORE_SQLITE_SQLITE_H

#include <sqlite3.h>
#include <sys/types.h>

#include "store/event_entry.h"
#include "store/sqlite/clock.h"
#include "store/sqlite/kind.h"
#include "store/sqlite/option.h"
#include "store/sqlite/place.h"
#include "store/sqlite/queue.h"
#include "store/sqlite/reserve.h"
#include "store/sqlite/run.h"
#include "store/sqlite/session.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/wake.h"
#include "store/store.h"

enum {
    CULEX__SQLITE_APPLICATION_ID = 0x43756c78, /* "Culx" */
    CULEX__SQLITE_WAL_RESET_FIXED = 3051003,   /* see sqlite/checkpoint.c */
    CULEX__SQLITE_PAGE_BYTES = 2048,           /* of new files: see connect_file */
};

struct culex_sqlite {
    struct culex_store base;
    struct {
        pid_t owner; /* the process that opened the file; 0: not in the list */
        struct culex_sqlite *next;
    } heritage; /* sqlite/heritage.c's */
    struct culex_sqlite_options options;
    sqlite3 *db;
    char *path;   /* absolute, without links: for texts and for the files beside it */
    char *given;  /* absolute, as it was named; NULL when that is the same */
    char *uri;    /* what SQLite opens */
    char *schema; /* whose tables, when the handle is borrowed; else NULL */
    bool is_memory;
    bool is_guarded; /* this SQLite has the WAL-reset bug: see sqlite/checkpoint.c */
    int lock_fd;
    int wal_pages;
    bool is_checkpointing; /* while set, the busy handler waits only briefly */
    int64_t timeout_ms;
    int64_t deadline_ns; /* of the operation under way */
    int64_t now_ms;      /* the store's clock at its begin */
    bool is_writing;
    bool leaves_lines; /* there is no room for log lines: see sqlite/room.c */
    bool has_left;     /* since that was set, some have come */
    sqlite3_stmt *statements[CULEX__SQLITE_STATEMENT_COUNT];
    struct culex_sqlite_wake wake;
    struct culex_sqlite_recent recent;
    struct culex_sqlite_recent_kind recent_kind;
    struct culex_sqlite_reserve reserve;
    struct culex_sqlite_place place;
    /* The last step that found nothing and so left no memo in the file. */
    struct {
        char session[CULEX__SQLITE_SESSION_SIZE];
        uint64_t nonce;
        char *queue;
        int64_t seen_ms; /* of the memo that the step under way has found; INT64_MAX: none */
    } idle;
    struct culex_sqlite_silence silence;
    struct culex_event_notes events;    /* of the verb under way: sqlite/events.c */
    struct culex_sqlite_ledger *ledger; /* NULL: no run with limits was met yet */
};

static inline struct culex_sqlite *culex__sqlite_of(struct culex_store *base)
{
    return (struct culex_sqlite *)base;
}

#endif
