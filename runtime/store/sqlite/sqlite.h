/* store/sqlite/sqlite.h - what the files of the SQLite store share.
 *
 * sqlite.c opens and closes; sqlite/transaction.c brackets every operation: one BEGIN IMMEDIATE
 * per call, never held while anything but SQL runs. Within a transaction the row of the queue
 * concerned is loaded once (sqlite/queue.c), changed in memory, and saved before COMMIT.
 * sqlite/run.c moves a run from state to state, always by core/run.h.
 *
 * Order of claims. Exact: runs without delay, in one priority, in the order of their enqueue
 * transactions (at_ms never decreases within a queue, seq breaks ties), also when the clock is set
 * back; released runs before all others, the last released first. Approximate: a delayed run that
 * became due stands among the waiting ones by the time it was due, as if it had been enqueued then.
 *
 * memory:NAME is the same code on SQLite's memdb, which all connections of the process share. It
 * has no WAL and lets readers see a writer's work, so there every operation takes the write lock.
 */
#ifndef CULEX_STORE_SQLITE_SQLITE_H
#define CULEX_STORE_SQLITE_SQLITE_H

#include <limits.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "store/store.h"
#include "store/sqlite/reserve.h"

enum {
    CULEX__SQLITE_APPLICATION_ID = 0x43756c78, /* "Culx" */
    CULEX__SQLITE_WAL_RESET_FIXED = 3051003,   /* see sqlite/checkpoint.c */
    CULEX__SQLITE_BATCH_MAX = 4096,            /* runs, acks, beats or grants in one call */
    CULEX__SQLITE_SESSION_SIZE = 33,
    CULEX__SQLITE_ADDRESS_SIZE = 48,
    CULEX__SQLITE_WAKE_MAX = 64,
    /* A longer payload gets a row of its own, so that changing its run does not rewrite it. */
    CULEX__SQLITE_INLINE_MAX = 1024,
    CULEX__SQLITE_PAGE_BYTES = 2048, /* of new files: see connect_file */
};

enum culex_sqlite_statement {
#define STATEMENT(name, sql) CULEX__SQLITE_##name,
#include "store/sqlite/statement.def"
    CULEX__SQLITE_STATEMENT_COUNT
};

/* Row of table queue. */
struct culex_sqlite_queue {
    const char *name; /* borrowed from the request */
    int64_t key;      /* 0: not in the file */
    int64_t is_paused, capacity, front, newest_ms, longest_lease_ms;
    int64_t kept[CULEX_RUN_STATE_COUNT]; /* runs per stored state; [SCHEDULED] stays 0 */
    int64_t enqueued, done, failed, crashed, lost, dead, cancelled, stale;
    bool is_changed;
    bool has_new_work; /* an idle worker should be told after COMMIT */
    bool is_new;       /* the row was made by this call */
};

/* The part of a run that changes, and what its changes depend on. */
struct culex_sqlite_run {
    int64_t seq;
    culex_uuid id;
    culex_run_state state; /* never SCHEDULED: see is_delayed */
    bool is_delayed;
    int priority;
    int64_t at_ms;
    uint32_t attempt;
    struct culex_run_counters counters;
    char owner[CULEX__SQLITE_SESSION_SIZE];
    bool is_started;
    bool is_cancel_requested;
    int64_t limit_ms, timeout_ms, keep_success_ms, keep_failure_ms, expires_at_ms;
    int64_t payload_len;
};

enum { CULEX__SQLITE_RUN_COLUMN_COUNT = 21 };
enum culex_sqlite_run_tail {
    CULEX__SQLITE_COLUMN_CREATED = CULEX__SQLITE_RUN_COLUMN_COUNT,
    CULEX__SQLITE_COLUMN_FINGERPRINT,
    CULEX__SQLITE_COLUMN_CHECKSUM,
    CULEX__SQLITE_COLUMN_JOB,
    CULEX__SQLITE_COLUMN_TAGS,
    CULEX__SQLITE_COLUMN_ERROR,
    CULEX__SQLITE_COLUMN_RESULT,
    CULEX__SQLITE_COLUMN_PAYLOAD,
    CULEX__SQLITE_COLUMN_PROGRESS,
};

/* Where to knock after COMMIT, and this handle's own door: see sqlite/wake.c. */
struct culex_sqlite_wake {
    int epoll_fd, socket_fd, inotify_fd, send_fd; /* -1: not open */
    char address[CULEX__SQLITE_ADDRESS_SIZE];     /* own; "" while not registered */
    char *queues;                                 /* armed ones, NUL-ended each; "" at the end */
    bool is_armed;
    int64_t known_due_ms; /* the caller knows that a delayed run is due then */
    size_t target_count;
    char targets[CULEX__SQLITE_WAKE_MAX][CULEX__SQLITE_ADDRESS_SIZE];
    char dead[CULEX__SQLITE_ADDRESS_SIZE]; /* a registration to remove; "" for none */
};

/* The row of the last queue that this handle wrote. It holds as long as SQLite's data version
 * tells that no other connection has written since. */
struct culex_sqlite_recent {
    struct culex_sqlite_queue queue;
    char *name;       /* NULL: none */
    uint32_t version; /* right after the COMMIT that wrote it */
    bool is_saved;    /* in the transaction under way */
    bool is_current;  /* the transaction under way began with it */
    bool has_targets; /* wake.targets are those of this queue */
    size_t target_count;
};

struct culex_sqlite_inode {
    dev_t device;
    ino_t number; /* 0: not known */
};

/* The file's length, and the state of the log at which it was found to be enough. */
struct culex_sqlite_extent {
    int64_t bytes, wanted;
    uint32_t salt[2], written_back;
};

/* The last frame of the log, when it was last looked at. */
struct culex_sqlite_frame {
    uint32_t number, salt[2]; /* number 0: none */
};

/* What stood behind the names when they were opened. */
struct culex_sqlite_place {
    struct culex_sqlite_inode file, log, index;
    struct culex_sqlite_extent extent;
    struct culex_sqlite_frame last_frame;
    struct timespec modified; /* of the file, when its header was last read */
    int64_t mark;             /* the store's: see sqlite/place.c */
    /* Pages are missing, or another store's, or others may write unseen: nothing more is written,
     * not at the close either. */
    bool is_lost;
};

/* What follows '?' in the URL. */
struct culex_sqlite_options {
    bool accepts_network; /* accept-network=1 */
    bool has_no_reserve;  /* reserve=0 */
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
    bool is_checkpointing; /* which is no reason to wait long for anybody */
    int64_t timeout_ms;
    int64_t deadline_ns; /* of the operation under way */
    int64_t now_ms;      /* the store's clock at its begin */
    bool is_writing;
    sqlite3_stmt *statements[CULEX__SQLITE_STATEMENT_COUNT];
    struct culex_sqlite_wake wake;
    struct culex_sqlite_recent recent;
    struct culex_sqlite_reserve reserve;
    struct culex_sqlite_place place;
    /* The last step that found nothing and so left no memo in the file. */
    struct {
        char session[CULEX__SQLITE_SESSION_SIZE];
        uint64_t nonce;
        char *queue;
    } idle;
};

/* --- sqlite.c --------------------------------------------------------------------------- */

/* Opens what stands behind "sqlite:" or "memory:" in a URL. `options` may be NULL. */
culex_status culex__sqlite_open(const char *rest, bool is_memory,
                                const struct culex_store_options *options,
                                const struct culex_env *env, struct culex_store **ret_store,
                                culex_error *error);

/* As culex__sqlite_open, pretending that SQLite has `version`: the tests' way to both
 * checkpoint schemes. */
culex_status culex__sqlite_open_as(int version, const char *rest, bool is_memory,
                                   const struct culex_store_options *options,
                                   const struct culex_env *env, struct culex_store **ret_store,
                                   culex_error *error);

static inline struct culex_sqlite *culex__sqlite_of(struct culex_store *base)
{
    return (struct culex_sqlite *)base;
}

/* --- sqlite/option.c ----------------------------------------------------------------------- */

/* `rest` is PATH[?NAME=VALUE[&...]]. CULEX_EURL for what it does not know, and for a file without a
 * path. */
culex_status culex__sqlite_option_read(const char *rest, bool is_memory,
                                       struct culex_sqlite_options *ret_options,
                                       culex_error *error);
/* Its path, or the name of a store in memory, owned; NULL when out of memory. */
char *culex__sqlite_option_path(const char *rest);

/* --- sqlite/borrow.c ----------------------------------------------------------------------- */

culex_status culex__sqlite_borrow_as(int library_version, struct sqlite3 *db, const char *schema,
                                     const struct culex_env *env, struct culex_store **ret_store,
                                     culex_error *error);

/* --- sqlite/error.c ---------------------------------------------------------------------- */

/* The status for result code `rc`, with a text that names the file and what to do. */
culex_status culex__sqlite_fail(struct culex_sqlite *store, int rc, culex_error *error);
culex_status culex__sqlite_no_memory(culex_error *error);
/* The row at fault is named by the text; nothing is known to be wrong with the file. */
culex_status culex__sqlite_bad_row(struct culex_sqlite *store, culex_error *error);

/* --- sqlite/file.c ----------------------------------------------------------------------- */

/* CULEX_ECORRUPT for another program's file, CULEX_EVERSION for one of another format. */
culex_status culex__sqlite_check_identity(const struct culex_sqlite *store, int64_t application,
                                          int64_t version, culex_error *error);

/* Opens the connection at store->path, creating the file with mode 0600, checks whose it is,
 * and brings the schema in. `options` may be NULL. */
culex_status culex__sqlite_file_open(struct culex_sqlite *store,
                                     const struct culex_store_options *options, culex_error *error);

/* --- sqlite/place.c ---------------------------------------------------------------------- */

/* Before the file is made, or used for the first time: CULEX_ECORRUPT when it is gone or empty, and
 * the log or the index of the store that was there are not. */
culex_status culex__sqlite_place_check_left(const struct culex_sqlite *store, culex_error *error);
/* The last statement of the schema: gives a new store its mark. */
culex_status culex__sqlite_place_mark(struct culex_sqlite *store, culex_error *error);
/* At the end of the opening: which file and which log it is. */
culex_status culex__sqlite_place_note(struct culex_sqlite *store, culex_error *error);
/* CULEX_EMOVED when one of the names leads elsewhere by now, or nowhere, or pages of the file or
 * frames of the log are missing. */
culex_status culex__sqlite_place_check(struct culex_sqlite *store, culex_error *error);
/* After CULEX_ECORRUPT at the opening: the same, with a better text where there is one. */
culex_status culex__sqlite_place_explain(struct culex_sqlite *store, culex_error *error);
culex_status culex__sqlite_place_check_borrowed(const struct culex_sqlite *store,
                                                culex_error *error);

/* --- sqlite/names.c ---------------------------------------------------------------------- */

/* Before SQLite opens the file, or with a borrowed handle: CULEX_ECORRUPT when it has several
 * names, and store->path is not the one by which it is used, or not the only one. */
culex_status culex__sqlite_names_check(const struct culex_sqlite *store, culex_error *error);

/* --- sqlite/index.c ---------------------------------------------------------------------- */

/* Is the file, of `bytes` bytes, shorter than the pages that only it can have? Then extent->wanted
 * is the length of the whole database. False as well where it cannot be told. `extent` is what was
 * found before, zeroed at first: only when the file has shrunk since, or the log was written back,
 * is there more to do than a look at the index's first bytes. */
bool culex__sqlite_index_is_cut(const struct culex_sqlite *store, int64_t bytes,
                                struct culex_sqlite_extent *extent);
/* Are frames missing from the log that others can read only there? False as well where it cannot
 * be told. `last` is zeroed at first, and noted anew when all is well. */
bool culex__sqlite_index_log_is_cut(const struct culex_sqlite *store,
                                    struct culex_sqlite_frame *last);

/* --- sqlite/filesystem.c -------------------------------------------------------------------- */

enum { CULEX__SQLITE_TYPE_SIZE = 64 };

struct culex_sqlite_filesystem {
    bool is_network; /* no memory is shared between its users */
    bool is_fuse;
    char name[CULEX__SQLITE_TYPE_SIZE]; /* for people */
};

/* False, with errno set, when the folder cannot be asked. */
bool culex__sqlite_filesystem_read(const char *folder, struct culex_sqlite_filesystem *ret_system);
/* By statfs's f_type. */
bool culex__sqlite_is_network(long magic);
/* By a type as in mountinfo, "fuse.sshfs". */
bool culex__sqlite_is_network_fuse(const char *type);
/* The type of what is mounted as `device` (st_dev), by a file like /proc/self/mountinfo. */
bool culex__sqlite_mount_type(const char *mountinfo, uint64_t device,
                              char ret_type[CULEX__SQLITE_TYPE_SIZE]);

/* --- sqlite/doctor.c ------------------------------------------------------------------------ */

culex_status culex__sqlite_doctor(struct culex_store *base, struct culex_report *report,
                                  culex_error *error);

/* --- sqlite/statement.c ------------------------------------------------------------------- */

/* All of them; a borrowed handle's are prepared one by one when they are first bound. */
culex_status culex__sqlite_prepare(struct culex_sqlite *store, culex_error *error);

/* The statement, reset, with its parameters bound by `types`: 'i' int64_t; 't' const char *,
 * NULL for NULL; 'b' const void * and size_t, NULL for NULL; 'u' culex_uuid *. Texts and bytes are
 * borrowed until the statement is next bound or ended. */
sqlite3_stmt *culex__sqlite_bind(struct culex_sqlite *store, enum culex_sqlite_statement which,
                                 const char *types, ...);

/* 1: there is a row; 0: no more; negative: failed. End the statement afterwards in any case. */
int culex__sqlite_next(struct culex_sqlite *store, sqlite3_stmt *statement, culex_error *error);
void culex__sqlite_end(sqlite3_stmt *statement);

/* Steps a bound statement that returns no rows to its end, and ends it. */
culex_status culex__sqlite_finish(struct culex_sqlite *store, sqlite3_stmt *statement,
                                  culex_error *error);

/* The first column of the first row, or `otherwise` when there is none or it is NULL. */
culex_status culex__sqlite_first_int(struct culex_sqlite *store, sqlite3_stmt *statement,
                                     int64_t otherwise, int64_t *ret_value, culex_error *error);

/* The first value of the first row of `sql`, 0 when there is none. */
culex_status culex__sqlite_ask(struct culex_sqlite *store, const char *sql, int64_t *ret_value,
                               culex_error *error);
/* The same for a pragma of the schema that holds the store's tables. */
culex_status culex__sqlite_ask_pragma(struct culex_sqlite *store, const char *pragma,
                                      int64_t *ret_value, culex_error *error);

/* First columns of at most `max` rows. */
culex_status culex__sqlite_collect(struct culex_sqlite *store, sqlite3_stmt *statement, size_t max,
                                   int64_t *ret_values, size_t *ret_count, culex_error *error);

/* --- sqlite/transaction.c ------------------------------------------------------------------- */

/* Every begin is followed by one end. */
culex_status culex__sqlite_begin(struct culex_sqlite *store, culex_error *error);
culex_status culex__sqlite_begin_read(struct culex_sqlite *store, culex_error *error);

/* COMMIT when `status` is CULEX_OK, else ROLLBACK; returns the outcome. Knocks at idle workers. */
culex_status culex__sqlite_end_transaction(struct culex_sqlite *store, culex_status status,
                                           culex_error *error);

/* --- sqlite/checkpoint.c --------------------------------------------------------------------- */

culex_status culex__sqlite_guard_open(struct culex_sqlite *store, culex_error *error);
/* Around every write transaction. */
culex_status culex__sqlite_guard_enter(struct culex_sqlite *store, culex_error *error);
void culex__sqlite_guard_leave(struct culex_sqlite *store);
/* Checkpoints when the WAL has grown, or `always`; a checkpoint that finds no room to run is
 * tried again later. */
void culex__sqlite_guard_checkpoint(struct culex_sqlite *store, bool always);
/* What a checkpoint came to. */
enum culex_sqlite_written {
    CULEX__SQLITE_WRITTEN_BACK,    /* all of it: the log is used again from its start */
    CULEX__SQLITE_WRITTEN_NOT,     /* other users of the file are in the way */
    CULEX__SQLITE_WRITTEN_NO_ROOM, /* the file would have to grow on a full disk */
};
/* Writes back what can be, under either scheme; the log is cut off when `is_cutting`. */
enum culex_sqlite_written culex__sqlite_checkpoint(struct culex_sqlite *store, bool is_cutting);
/* Bytes of a log that should have been written back long ago, else 0. */
int64_t culex__sqlite_log_overhang(const struct culex_sqlite *store);
void culex__sqlite_guard_close(struct culex_sqlite *store);
/* Without a last checkpoint: it is for another process to do. */
void culex__sqlite_guard_abandon(struct culex_sqlite *store);

/* --- sqlite/queue.c -------------------------------------------------------------------------- */

/* Loads the queue's row. Not there: a zeroed one with key 0, or a new one when `is_wanted`. */
culex_status culex__sqlite_queue_load(struct culex_sqlite *store, const char *name, bool is_wanted,
                                      struct culex_sqlite_queue *ret_queue, culex_error *error);
/* The same for a queue that must be there: CULEX_ENOTFOUND. */
culex_status culex__sqlite_queue_need(struct culex_sqlite *store, const char *name,
                                      struct culex_sqlite_queue *ret_queue, culex_error *error);
/* In place of the next function, for one that was wanted for a run: is it new and was the run
 * refused, it goes again. */
culex_status culex__sqlite_queue_settle(struct culex_sqlite *store,
                                        struct culex_sqlite_queue *queue, culex_error *error);
/* Saves what has changed and looks up whom to tell. Last step before the transaction's end. */
culex_status culex__sqlite_queue_save(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                      culex_error *error);
/* At the transaction's begin, and after its end: is the kept row still, or again, true? */
void culex__sqlite_queue_begin(struct culex_sqlite *store);
void culex__sqlite_queue_end(struct culex_sqlite *store, bool is_committed);
/* The place of a run that is ready now, at the back or the front of its priority. */
int64_t culex__sqlite_queue_back(struct culex_sqlite *store, struct culex_sqlite_queue *queue);
int64_t culex__sqlite_queue_front(struct culex_sqlite_queue *queue);
/* No ready run has a later place. */
int64_t culex__sqlite_queue_horizon(const struct culex_sqlite *store,
                                    const struct culex_sqlite_queue *queue);

/* --- sqlite/run.c ---------------------------------------------------------------------------- */

/* Saturating, for times that come from outside. */
static inline int64_t culex__sqlite_later(int64_t at_ms, int64_t delay_ms)
{
    if (delay_ms <= 0)
        return at_ms;
    return at_ms > INT64_MAX / 4 - delay_ms || delay_ms > INT64_MAX / 4 ? INT64_MAX / 4
                                                                        : at_ms + delay_ms;
}

/* The time a version-7 id begins with. */
static inline int64_t culex__sqlite_id_time_ms(culex_uuid id)
{
    int64_t ms = 0;
    for (int i = 0; i < 6; i++)
        ms = ms << 8 | id.b[i];
    return ms;
}

/* A change to a run: an event with what comes along. */
struct culex_sqlite_move {
    enum culex_run_event event;
    int64_t delay_ms;
    bool is_doubted; /* the holder vanished */
    const char *text;
    const void *result;
    size_t result_len;
};

/* Checks the bytes of a run before they are trusted. */
uint64_t culex__sqlite_checksum(culex_uuid id, const char *job, const void *payload, size_t len);

/* Puts a row whose values cannot be read aside: dead for good, with what it held as its error text.
 * `from` is the state that the queue's counters have it in. */
culex_status culex__sqlite_run_aside(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                     culex_run_state from, int64_t seq, culex_error *error);

/* False when the row's values are outside their ranges. */
bool culex__sqlite_run_read(sqlite3_stmt *statement, struct culex_sqlite_run *ret_run);
culex_status culex__sqlite_run_save(struct culex_sqlite *store, const struct culex_sqlite_run *run,
                                    const char *error_text, culex_error *error);
/* The bound statement's only row; CULEX_ENOTFOUND (without a text) when there is none. */
culex_status culex__sqlite_run_one(struct culex_sqlite *store, sqlite3_stmt *statement,
                                   struct culex_sqlite_run *ret_run, culex_error *error);
/* Applies the event by the rules, counts it, saves run. CULEX_ESTATE when it is not allowed. */
culex_status culex__sqlite_run_move(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                    struct culex_sqlite_run *run,
                                    const struct culex_sqlite_move *move, culex_error *error);
/* Takes an active run from a holder that is gone; `how` it went begins the text of a loss. */
culex_status culex__sqlite_run_vanish(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                      struct culex_sqlite_run *run, const char *how,
                                      culex_error *error);
/* Deletes the run; its id is remembered within the horizon. */
culex_status culex__sqlite_run_forget(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                      const struct culex_sqlite_run *run, culex_error *error);
/* The payload of the row that `statement` (with RUN_TAIL) stands on. It is borrowed until the
 * statement moves; `*ret_holder`, when not NULL, is to be ended then. False: it is missing. */
bool culex__sqlite_run_payload(struct culex_sqlite *store, sqlite3_stmt *statement,
                               const struct culex_sqlite_run *run, const void **ret_payload,
                               sqlite3_stmt **ret_holder);
/* What the world calls the run's state: a delayed one is scheduled until its time. */
culex_run_state culex__sqlite_run_state(const struct culex_sqlite *store,
                                        const struct culex_sqlite_run *run);

/* --- sqlite/enqueue.c ------------------------------------------------------------------ */

/* The body of ENQUEUE within a transaction, with the queue's row loaded. */
culex_status culex__sqlite_enqueue_one(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                       const struct culex_new_run *run,
                                       struct culex_enqueue_result *ret_result, culex_error *error);
/* Within a transaction that is under way. */
culex_status culex__sqlite_enqueue_within(struct culex_sqlite *store, const char *name,
                                          const struct culex_new_run *runs, size_t count,
                                          struct culex_enqueue_result *results, culex_error *error);
culex_status culex__sqlite_enqueue(struct culex_store *base, const char *queue,
                                   const struct culex_new_run *runs, size_t count,
                                   struct culex_enqueue_result *results, culex_error *error);
culex_status culex__sqlite_tick(struct culex_store *base, const struct culex_tick *tick,
                                struct culex_tick_reply *ret_reply, culex_error *error);

/* --- sqlite/step.c, sqlite/claim.c, sqlite/memo.c -------------------------------------- */

culex_status culex__sqlite_step(struct culex_store *base, const struct culex_step *step,
                                struct culex_step_reply *ret_reply, culex_error *error);
void culex__sqlite_step_release(struct culex_store *base, struct culex_step_reply *reply);

/* Grants up to step->want ready runs into reply->grants. *ret_is_cut tells that it stopped early
 * although more may be there. */
culex_status culex__sqlite_claim(struct culex_sqlite *store, struct culex_sqlite_queue *queue,
                                 const struct culex_step *step, struct culex_step_reply *reply,
                                 bool *ret_is_cut, culex_error *error);
/* Grants the run again, when the session still holds this attempt. */
culex_status culex__sqlite_claim_again(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue,
                                       const struct culex_step *step, culex_uuid id,
                                       uint32_t attempt, struct culex_step_reply *reply,
                                       culex_error *error);

/* Answers a step that is not new: from the memo when this nonce is the session's last, as one that
 * came late when it is smaller. */
culex_status culex__sqlite_memo_recall(struct culex_sqlite *store,
                                       const struct culex_sqlite_queue *queue,
                                       const struct culex_step *step,
                                       struct culex_step_reply *reply, bool *ret_is_old,
                                       culex_error *error);
/* From now on each step of `session` is one that came late: its memo has the greatest nonce and
 * no answers. */
culex_status culex__sqlite_memo_replace(struct culex_sqlite *store,
                                        const struct culex_sqlite_queue *queue, const char *session,
                                        culex_error *error);
culex_status culex__sqlite_memo_keep(struct culex_sqlite *store,
                                     const struct culex_sqlite_queue *queue,
                                     const struct culex_step *step,
                                     const struct culex_step_reply *reply, culex_error *error);

/* --- sqlite/manage.c ------------------------------------------------------------------- */

culex_status culex__sqlite_hello(struct culex_store *base, const char *queue, const char *worker,
                                 const char *session, size_t *ret_released, int64_t *ret_now_ms,
                                 culex_error *error);
culex_status culex__sqlite_cancel(struct culex_store *base, const char *queue, culex_uuid id,
                                  culex_run_state *ret_state, culex_error *error);
culex_status culex__sqlite_retry(struct culex_store *base, const char *queue, culex_uuid id,
                                 culex_error *error);
culex_status culex__sqlite_forget(struct culex_store *base, const char *queue, culex_uuid id,
                                  culex_error *error);
culex_status culex__sqlite_limit_queue(struct culex_store *base, const char *queue, uint64_t most,
                                       culex_error *error);
culex_status culex__sqlite_pause_queue(struct culex_store *base, const char *queue, bool is_paused,
                                       culex_error *error);
culex_status culex__sqlite_purge(struct culex_store *base, const char *queue, culex_run_state state,
                                 size_t limit, size_t *ret_deleted, culex_error *error);

/* --- sqlite/inspect.c ------------------------------------------------------------------ */

culex_status culex__sqlite_stats(struct culex_store *base, const char *queue,
                                 culex_queue_stats *ret_stats, culex_error *error);
culex_status culex__sqlite_get(struct culex_store *base, const char *queue, culex_uuid id,
                               culex_run_info **ret_run, culex_error *error);
culex_status culex__sqlite_list(struct culex_store *base, const char *queue, culex_run_state state,
                                uint64_t cursor, size_t limit, struct culex_list_reply *ret_reply,
                                culex_error *error);
void culex__sqlite_list_release(struct culex_store *base, struct culex_list_reply *reply);
culex_status culex__sqlite_queues(struct culex_store *base, char ***ret_names, culex_error *error);
culex_status culex__sqlite_now(struct culex_store *base, int64_t *ret_now_ms, culex_error *error);

/* --- sqlite/fsck.c --------------------------------------------------------------------- */

culex_status culex__sqlite_fsck(struct culex_store *base, const char *queue, uint64_t cursor,
                                bool is_repairing, struct culex_fsck_reply *ret_reply,
                                culex_error *error);

/* --- sqlite/wake.c --------------------------------------------------------------------- */

void culex__sqlite_wake_init(struct culex_sqlite *store);
/* Within a transaction: remembers whom to tell about work in `queue`. */
culex_status culex__sqlite_wake_aim(struct culex_sqlite *store, const char *queue,
                                    culex_error *error);
/* After COMMIT: tells one of them. */
void culex__sqlite_wake_send(struct culex_sqlite *store);
culex_status culex__sqlite_wake_arm(struct culex_store *base, const char *const *queues,
                                    size_t count, int64_t timeout_ms, int *ret_fd,
                                    culex_error *error);
culex_status culex__sqlite_wake_take(struct culex_store *base, bool *ret_woken, culex_error *error);
void culex__sqlite_wake_disarm(struct culex_store *base);
void culex__sqlite_wake_close(struct culex_sqlite *store);
/* Closes the descriptors and leaves everything else to the process that they came from. */
void culex__sqlite_wake_abandon(struct culex_sqlite *store);

/* --- sqlite/heritage.c ----------------------------------------------------------------- */

/* Before SQLite opens store->path: CULEX_EUNSUPPORTED when this process was forked while it was
 * open. Leave it when SQLite has closed it. */
culex_status culex__sqlite_heritage_enter(struct culex_sqlite *store, culex_error *error);
void culex__sqlite_heritage_leave(struct culex_sqlite *store);

#endif
