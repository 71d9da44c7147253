/* store/store.h - what a store can do: one table, one contract, several stores.
 *
 * A store is a constant table of operations plus a struct that embeds
 * struct culex_store first. Every operation is atomic and bounded, takes effect
 * wholly or not at all, and is safe to repeat after CULEX_EUNKNOWN. The meaning of
 * each stands here; sqlite*.c and redis*.c implement it, tests/stores/suite/model.c is the
 * reference, and one conformance suite holds all of them to this page.
 *
 * Time: `now` is the store's own clock (Redis: server TIME; SQLite: this machine's),
 * in ms since 1970, unless env->store_clock_ms replaces it. Callers send delays, not
 * instants, wherever they can.
 *
 * Every operation of a store in a file gives CULEX_EMOVED, and changes nothing, once that file has
 * been removed, replaced, emptied or cut off, or the path by which it was opened leads to another
 * one; only closing the handle and opening another one cures it. So it is with its log. A file or
 * a log that was cut off, or a file beside the log of another store, or a log whose file is gone,
 * is CULEX_ECORRUPT at the opening.
 *
 * A store serves one thread at a time. Strings in requests are borrowed for the
 * call. Replies own their memory until the matching release.
 *
 * Order of claims within a queue: higher priority first; within a priority in the
 * order in which runs became ready. A run released without delay goes to the front, and so
 * do runs whose holder vanished, in the order of their lease ends; a suspect (see run_rules.def)
 * that is charged a loss goes to the back. Runs that become ready there in the same moment may
 * stand in any order.
 *
 * A holder vanishes when its lease runs out, or when its worker says HELLO as another session. Of
 * what it held, a run that had started, as far as the store was told, is charged a loss; one that
 * had not is released uncharged. Both are in doubt from then on, until a worker reports an end of
 * theirs: they are granted only to a handler that starts them at once, so that none can do harm in
 * secret twice.
 *
 * Retention: a done record is kept keep_success_ms, a cancelled one too, a dead one
 * keep_failure_ms. A success that is kept for 0 ms is forgotten at its ack. Forgetting is work of
 * STEP: each forgets more than it adds, and due_in_ms asks for the next.
 * Expiry concerns runs that were never started; RETRY lifts it.
 */
#ifndef CULEX_STORE_STORE_H
#define CULEX_STORE_STORE_H

#include <stdatomic.h>

#include <culex/client.h>
#include <culex/error.h>
#include <culex/maintain.h>

#include "store/report.h"

#include "core/run.h"
#include "platform/env.h"

struct culex_store;
struct sqlite3;

/* --- ENQUEUE ------------------------------------------------------------------- */

struct culex_new_run {
    culex_uuid id;         /* time-ordered (version 7): its first 48 bits are ms since 1970 */
    const char *job;       /* wire name */
    int priority;          /* 0..9 */
    int64_t delay_ms;      /* from now; 0 or less: at once, unless at_ms is set */
    int64_t at_ms;         /* absolute, on the store's clock; 0: not used */
    uint32_t attempts_max; /* at least 1 */
    int64_t expires_ms;    /* 0 never; else dead unless claimed this long after it became due */
    int64_t timeout_ms;    /* 0 none; else beats extend a lease no further than claim + timeout */
    int64_t keep_success_ms;
    int64_t keep_failure_ms;
    uint64_t fingerprint;   /* of the schema */
    uint64_t content;       /* hash of job and payload: tells a repeat from a conflict */
    const char *unique_key; /* NULL or "": none; else hex, at most 64 characters */
    const char *tags;       /* comma-joined, "" for none; neither '|' nor control characters */
    const void *payload;
    size_t payload_len;
};

enum culex_enqueued {
    CULEX_ENQUEUED_NEW,
    CULEX_ENQUEUED_DUPLICATE,    /* this id is there, same content, or is remembered: success */
    CULEX_ENQUEUED_CONFLICT,     /* this id is there with other content */
    CULEX_ENQUEUED_FULL,         /* the queue's limit is reached */
    CULEX_ENQUEUED_UNIQUE_TAKEN, /* a live run holds the unique key: `holder` */
    CULEX_ENQUEUED_EXPIRED /* unknown id whose own time is more than CULEX_ID_HORIZON_MS off */
};

struct culex_enqueue_result {
    enum culex_enqueued outcome;
    culex_uuid holder; /* for UNIQUE_TAKEN */
};

/* --- STEP ---------------------------------------------------------------------- */

/* How an execution ended: the events of run_rules.def that a worker may send. */
struct culex_ack {
    culex_uuid id;
    uint32_t attempt;           /* the fence, with the request's session */
    enum culex_run_event event; /* DONE FAIL CRASH LOSS RELEASE DISCARD; LOSS when what executes
                                   handlers was taken away, and this run was under way */
    int64_t delay_ms;           /* FAIL, CRASH: backoff; RELEASE: 0 = front of the queue; else means
                                   nothing */
    const char *text;   /* error text, valid UTF-8, at most CULEX_ERROR_TEXT_MAX; may be NULL, then
                           the one before stays. RELEASE: why, when it is worth keeping */
    const void *result; /* DONE: kept with the record; may be NULL */
    size_t result_len;
    const char *progress; /* as of a beat: the run's last report, when no beat has told it */
};

/* Extends a lease to now + lease_ms of the request, never past the run's own limit: its timeout
 * and CULEX_TIMEOUT_SLACK_MS after the claim. */
struct culex_beat {
    culex_uuid id;
    uint32_t attempt;
    int64_t extend_ms;    /* more than 0: the limit becomes this and the slack from now, unless it
                             is later already; means nothing for a run without timeout */
    bool is_started;      /* its handler is at work; once said, it holds for the attempt */
    bool is_excused;      /* said in its place: others are at work beside it by now, so the run is
                             not to be charged should its holder vanish */
    const char *progress; /* NULL: as before; else kept with the run until its next claim: valid
                             UTF-8, at most CULEX_PROGRESS_MAX bytes */
};

enum culex_answer {
    CULEX_ANSWER_OK,
    CULEX_ANSWER_REPEATED, /* ack: this very result was recorded before, and the record is there */
    CULEX_ANSWER_STALE,    /* not the holder any more; nothing changed; counted in stats.stale */
    CULEX_ANSWER_GONE,     /* the store knows no such run */
    CULEX_ANSWER_CANCEL    /* beat: still the holder, but somebody asked to cancel the run */
};

struct culex_step {
    const char *queue;
    const char *session; /* this worker process's random token: 16 hex characters */
    uint64_t nonce;      /* greater than all before it of this session in this queue; the same
                            when the step is repeated */
    uint32_t want;       /* most runs to claim; 0 for none */
    uint32_t ahead;      /* so many of these, the last ones, would not start at once */
    bool in_company;     /* what is granted may run beside others: no suspect then, they keep their
                            places */
    uint32_t max_bytes;  /* of payload to claim, beyond the first run */
    int64_t lease_ms;
    const struct culex_ack *acks;
    size_t ack_count;
    const struct culex_beat *beats;
    size_t beat_count;
};

/* Grants that start at once: the first ones. */
static inline uint32_t culex__step_starts(const struct culex_step *step)
{
    return step->ahead < step->want ? step->want - step->ahead : 0;
}

/* A claimed run. */
struct culex_grant {
    struct culex_run_facts facts;
    const char *job; /* wire name */
    const void *payload;
    size_t payload_len;
};

/* What the store has room for. */
enum culex_room {
    CULEX_ROOM_ENOUGH,
    CULEX_ROOM_SHORT, /* enqueues may be refused (CULEX_EFULL); workers go on */
    CULEX_ROOM_NONE   /* claims were left out as well: only results are recorded */
};

struct culex_step_reply {
    int64_t now_ms;
    int64_t due_in_ms; /* until something of this queue wants a STEP (scheduled due, lease end, a
                          record to be forgotten); -1: nothing in sight. Records that are not due
                          yet are forgotten together: not sooner than CULEX_FORGET_GAP_MS */
    bool is_paused;
    bool is_empty; /* nothing scheduled, waiting or active: a drain may end */
    bool is_held;  /* the claim ended at a suspect or a run in doubt, which wants a free handler, a
                      suspect also a step of its own. Not told again */
    bool has_passed;  /* the claim passed by a suspect, which wants a worker without company. Not
                         told again */
    bool is_replaced; /* another session has said HELLO under the name of this one: it is granted
                         nothing any more, and everything it says is STALE */
    enum culex_room room;
    uint32_t expired_count;  /* runs that expired in this step; a repeat says 0 */
    enum culex_answer *acks; /* parallel to the request */
    enum culex_answer *beats;
    struct culex_grant *grants;
    size_t grant_count;
    void *storage; /* the store's own */
};

/* --- other verbs ----------------------------------------------------------------- */

struct culex_tick {
    const char *queue;
    const char *schedule; /* the job's wire name */
    int64_t tick_ms;      /* store clock; 0: now */
    int64_t interval_ms;
    const struct culex_new_run *run; /* at_ms unused; delay_ms may carry the jitter */
};

struct culex_tick_reply {
    bool is_enqueued;
    int64_t mark_ms; /* the schedule's newest tick after the call, 0 for none: the next is due at
                        mark + interval; when that is not after now, this tick was refused */
    int64_t now_ms;
};

/* In place of a state: runs of every state. */
#define CULEX_LIST_ANY CULEX_RUN_STATE_COUNT

struct culex_list_reply {
    culex_run_info *runs; /* payload, result and error text empty */
    size_t count;
    uint64_t cursor; /* 0 at the end */
    void *storage;
};

struct culex_fsck_reply {
    uint64_t cursor; /* where to go on; 0 at the end */
    culex_fsck_counts counts;
};

struct culex_store_ops {
    const char *name; /* "sqlite", "redis" */
    bool tears;       /* a refused call may leave a part behind, which FSCK clears away */

    /* Enqueues up to CULEX_ENQUEUE_BATCH_MAX runs into one queue, sets results[i] for each, and
     * wakes an idle worker. CULEX_OK even when some are refused. CULEX_EFULL when the store itself
     * has no room: then nothing was enqueued. */
    culex_status (*enqueue)(struct culex_store *store, const char *queue,
                            const struct culex_new_run *runs, size_t count,
                            struct culex_enqueue_result *results, culex_error *error);

    /* In this order: acks, beats, a bounded share of cutting (leases that end more than
     * CULEX_LEASE_LOOK_MS later than the longest that was ever given in this queue would, were it
     * given now, end with that one: the clock was set back), of reaping (leases that ran out),
     * promotion and purging, then claims: a due run with a priority is met before others
     * that are due, however many. Acks and beats count only from the session
     * that was granted this very attempt. The same session and nonce again changes
     * nothing and returns the same answers and the grants that still hold. A smaller nonce than the
     * session's last is a request that came late, and whoever sent it has gone on: every ack and
     * beat is STALE, nothing is granted, and nothing changes, not even stats.stale. (A step that
     * had nothing to do need not be remembered beyond the handle that sent it, and there only until
     * that handle's next one.) Expired runs met while claiming
     * become dead with the text "expired". A suspect (see run_rules.def) is granted only as the
     * sole grant of its step, and not in_company: whoever takes it starts nothing beside it. Acks
     * of one step name different runs, and so do beats. Fills `reply`; release it with
     * step_release. */
    culex_status (*step)(struct culex_store *store, const struct culex_step *step,
                         struct culex_step_reply *ret_reply, culex_error *error);
    void (*step_release)(struct culex_store *store, struct culex_step_reply *reply);

    /* Worker `worker` now lives as `session`; whatever its previous session held in this
     * queue is taken back to its place: *ret_released runs, charged or not (see above). Also
     * registers the queue's name. The error text of a charged one names the worker, whose name is
     * at most 127 bytes of UTF-8. A session that was replaced so stays it for as long as sessions
     * are remembered: its steps are answered as those that came late, with is_replaced.
     * *ret_now_ms is the store's clock. */
    culex_status (*hello)(struct culex_store *store, const char *queue, const char *worker,
                          const char *session, size_t *ret_released, int64_t *ret_now_ms,
                          culex_error *error);

    /* The tick, or now when that is earlier, is due when the schedule has no mark yet or when it is
     * an interval or more after the mark. So is now when the mark is more than an interval ahead
     * of it: a clock was wrong. A due tick enqueues the run, unless the schedule's newest run is
     * still scheduled, waiting or active: then that one stands for this tick too. The mark becomes
     * the tick in both cases. When the run is refused (see culex_enqueued, but for FULL) the mark
     * stays, and the tick may be sent again with another id. */
    culex_status (*tick)(struct culex_store *store, const struct culex_tick *tick,
                         struct culex_tick_reply *ret_reply, culex_error *error);

    /* As culex_client_cancel, _retry, _delete, _pause, _resume, _limit, _purge, _stats. A queue
     * begins with its first HELLO, or with the first run that was not refused: before that the
     * last five, and LIST, are CULEX_ENOTFOUND and make none. */
    culex_status (*cancel)(struct culex_store *store, const char *queue, culex_uuid id,
                           culex_run_state *ret_state, culex_error *error);
    culex_status (*retry)(struct culex_store *store, const char *queue, culex_uuid id,
                          culex_error *error);
    culex_status (*forget)(struct culex_store *store, const char *queue, culex_uuid id,
                           culex_error *error);
    culex_status (*pause)(struct culex_store *store, const char *queue, bool is_paused,
                          culex_error *error);
    culex_status (*limit)(struct culex_store *store, const char *queue, uint64_t most,
                          culex_error *error);
    culex_status (*purge)(struct culex_store *store, const char *queue, culex_run_state state,
                          size_t limit, size_t *ret_deleted, culex_error *error);
    culex_status (*stats)(struct culex_store *store, const char *queue,
                          culex_queue_stats *ret_stats, culex_error *error);

    /* *ret_run is owned by the caller: culex_run_info_free. Whatever reads or purges takes a
     * scheduled run whose time has come for waiting, whether a step has moved it or not. */
    culex_status (*get)(struct culex_store *store, const char *queue, culex_uuid id,
                        culex_run_info **ret_run, culex_error *error);

    /* At most `limit` (1..1000) runs from `cursor` on; release with list_release. With
     * CULEX_LIST_ANY a page may have some more, may be empty before the end, has no order, and a
     * run that stays in the store from the first page to the last is on one of them for certain,
     * however its state changes meanwhile; it may be on two. */
    culex_status (*list)(struct culex_store *store, const char *queue, culex_run_state state,
                         uint64_t cursor, size_t limit, struct culex_list_reply *ret_reply,
                         culex_error *error);
    /* Any thread may, whatever others do with the store. */
    void (*list_release)(struct culex_store *store, struct culex_list_reply *reply);

    /* Names of all queues, sorted, as one NULL-terminated block to free() at once. */
    culex_status (*queues)(struct culex_store *store, char ***ret_names, culex_error *error);

    /* Looks at a bounded share of the queue's records and indexes from `cursor` on (0 at first),
     * and repairs what disagrees with the records when told so. Records and payloads that cannot be
     * read are counted as damaged and put aside as dead. Runs that change meanwhile are met in
     * their old or new place, never counted as wrong for it. A cursor other than 0 may go on only
     * with the handle that gave it; elsewhere it is CULEX_EINVAL. */
    culex_status (*fsck)(struct culex_store *store, const char *queue, uint64_t cursor,
                         bool is_repairing, struct culex_fsck_reply *ret_reply, culex_error *error);

    /* Adds what the store's settings promise to `report` (store/report.h). */
    culex_status (*doctor)(struct culex_store *store, struct culex_report *report,
                           culex_error *error);

    /* The store's clock. */
    culex_status (*now)(struct culex_store *store, int64_t *ret_now_ms, culex_error *error);

    /* Wake-ups are hints: a lost one costs latency, never a run.
     * wake_arm asks to be told when one of `queues` gets work; it returns at once and
     * may be called again while armed (no effect). *ret_fd is the descriptor to poll
     * for reading, -1 when the store has no wake-up (the caller then polls at idle_wait).
     * `timeout_ms` bounds how long the store keeps the request.
     * wake_take is called when the descriptor is readable: *ret_woken tells whether work
     * may be there (false: timed out, or noise). After CULEX_OK with a reply taken the
     * caller must arm again. Errors drop the wake-up connection; arming opens a new one. */
    culex_status (*wake_arm)(struct culex_store *store, const char *const *queues, size_t count,
                             int64_t timeout_ms, int *ret_fd, culex_error *error);
    culex_status (*wake_take)(struct culex_store *store, bool *ret_woken, culex_error *error);
    /* Takes the request back: whoever is told from now on is another. What came in just before is
     * lost, so a STEP of each queue must follow, which passes it on. Waits for the store, shortly;
     * cannot fail. Nothing happens when nothing is armed. */
    void (*wake_disarm)(struct culex_store *store);

    /* Frees the store. Accepts half-built ones. */
    void (*close)(struct culex_store *store);

    /* In place of close in a process that was forked from the one that opened the store: frees
     * what it can without a word to the store and without letting go of a lock of either process.
     * NULL: close does no more than that. */
    void (*abandon)(struct culex_store *store);
};

/* First member of every store's own struct. */
struct culex_store {
    const struct culex_store_ops *ops;
    const struct culex_env *env;
    const atomic_int_fast64_t *until_ns; /* of the options */
};

/* The earlier of a deadline of one's own and what the engine allows now. */
static inline int64_t culex__store_earlier_ns(const struct culex_store *store, int64_t own_ns)
{
    const struct culex_deadline deadline = {own_ns, store->until_ns};
    return culex__deadline_ns(&deadline);
}

/* How long a Redis key prefix may be. */
enum { CULEX_STORE_PREFIX_MAX = 64 };

/* What the engine has settled, parameters of the URL included: see culex__store_params_read. */
struct culex_store_options {
    const char *prefix;      /* Redis: NULL means "culex" */
    int64_t timeout_ms;      /* 0: 5000; longest time one operation may take */
    const char *synchronous; /* SQLite: NULL means "full" */
    const char *folder;      /* what a relative path counts from: see platform/path.h */
    /* Boot time; no operation goes on after it. 0, or no such place: none. May be moved while an
     * operation waits, which sees it within 250 ms. */
    const atomic_int_fast64_t *until_ns;
};

/* CULEX_ENOTFOUND, in words that are the same for all stores. */
culex_status culex__store_no_queue(const char *queue, culex_error *error);

/* CULEX_EINVAL for a key prefix that Redis stores do not take. */
culex_status culex__store_prefix_check(const char *prefix, culex_error *error);

/* Hands each parameter of a store's URL that stands for one of culex_store_options, and is not
 * the store's own, to `take`, which borrows the texts and may refuse. CULEX_EURL when the URL
 * cannot be read or has a parameter that is not for this kind of store. */
typedef culex_status (*culex__store_param_fn)(void *user, const char *name, const char *value,
                                              culex_error *error);
culex_status culex__store_params_read(const char *text, culex__store_param_fn take, void *user,
                                      culex_error *error);

/* See abandon above. */
void culex__store_abandon(struct culex_store *store);

/* Opens the store at `url` (never NULL here) by its scheme (store/register.c) and connects at once.
 * CULEX_EURL when no store takes the URL, CULEX_EUNSUPPORTED when this build has not the one that
 * does. `options` may be NULL. */
culex_status culex__store_open(const char *url, const struct culex_store_options *options,
                               const struct culex_env *env, struct culex_store **ret_store,
                               culex_error *error);

/* An enqueue-only store on a handle that is in a transaction: see culex/sqlite.h. */
culex_status culex__sqlite_borrow(struct sqlite3 *db, const char *schema,
                                  const struct culex_env *env, struct culex_store **ret_store,
                                  culex_error *error);

#endif
