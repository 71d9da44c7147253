/* culex/client.h - put runs into a store and look after them.
 *
 * A client is one connection to one store. Several threads may use it at once: calls take turns.
 * Calls that enqueue one run, into the same queue and without options->ticket, go to the store
 * together while they wait, in one transaction or script; each has its own outcome, as if it had
 * gone alone. So many threads share one client, a disk or a network, at the price of few calls.
 * It reconnects by itself; a lost connection costs an error, never the client.
 *
 * Every call is bounded by the client's timeout, which includes waiting for its turn, for the
 * resolver of host names and for the network. CULEX_EBUSY: other threads used the client all that
 * time. A resolver that has not answered in time keeps one thread of the process, however many
 * calls follow, until it gives up. culex_client_list, _find, _purge, _queues, _fsck and
 * _enqueue_many make several bounded calls when they have much to do. One thing no program can
 * bound: an SQLite file on a disk that has stopped answering holds its caller in the kernel until
 * the disk goes on.
 *
 * A program that only enqueues and waits may link libculex-client-redis or libculex-client-sqlite
 * in place of libculex (docs/guide.md): of the calls of this header these have all that enqueue,
 * wait, read a run or are about a client's life. The others are missing when such a program is
 * linked.
 *
 * A client belongs to the process that opened it. In a forked one every call returns CULEX_EINVAL
 * and touches nothing of the store; open a client there after fork().
 */
#ifndef CULEX_CLIENT_H
#define CULEX_CLIENT_H

#include <culex/codec.h>
#include <culex/error.h>
#include <culex/job.h>
#include <culex/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct culex_client culex_client;

/* A member that is 0 or NULL takes its value from the store's URL (?store-timeout=2s, ?prefix=shop,
 * ?synchronous=normal), else from CULEX_STORE_TIMEOUT, CULEX_PREFIX or CULEX_SYNCHRONOUS, else it
 * has the default. A variable is refused when it is ill-formed, or where the default would count
 * though it is one typing error from these (CULEX_EUSAGE), and ignored by stores that have no use
 * for it. */
typedef struct culex_client_options {
    int64_t timeout_ms;      /* of one call, 10 ms to a day; by default 5000 */
    const char *prefix;      /* Redis: first part of every key; by default "culex" */
    const char *synchronous; /* SQLite: "full" (by default), "normal" or "off" */
    const char *url_file;    /* see culex_client_open */
    const char *spool;    /* Redis: a file for runs that are enqueued while the store is away, see
                             culex/spool.h; NULL: $CULEX_SPOOL, without that none. No parameter of
                             a URL: it belongs to this machine. Stores in a file or in memory have
                             no use for it */
    uint64_t spool_runs;  /* of the spool: most that it holds, by default 100000 */
    uint64_t spool_bytes; /* of the spool: most bytes of these, by default 256 MiB */
    const char *keys;     /* file of the keys for [[encrypted]] params and results, of this user and
                             readable by nobody else (docs/operating.md); NULL: $CULEX_KEYS, without
                             that none. CULEX_EUSAGE at the opening when it is of no use */
    bool must_exist;      /* SQLite: a file that is not there, or is empty, is CULEX_ECONNECT, and
                             none is made: for programs that look at what others have brought */
    /* The first run of each job that is enqueued has the store told the job's schema, in that run's
     * queue (culex/schemas.h), by a call more. It fails no enqueue, and is not made again: workers
     * that have the job tell it, too. For queues whose workers have other versions of a schema, or
     * are not there yet. CULEX_EUNSUPPORTED in a program that is linked with a library for
     * producers. */
    bool publish_schemas;
} culex_client_options;

/* Opens the store at `url`: "sqlite:PATH", "memory:" or "memory:NAME" (shared by every handle of
 * this process with the same name), "redis://[[user]:password@]host[:port][/db]",
 * "redis+unix:///path/to.sock", "rediss://..." where the build has TLS; each may have parameters
 * (docs/operating.md), and CULEX_EURL names one that it does not take, or what a script has added
 * to a PATH or NAME: a control character, a blank at an end, quotes around it. NULL means the
 * content of options->url_file, else $CULEX_URL or the content of $CULEX_URL_FILE, and without
 * those "sqlite:culex.db"; one that is set but empty is CULEX_EURL. Such a file holds one line, the
 * URL, belongs to this user and is readable by nobody else; any other is refused. A Redis URL
 * without a password gets the one in $CULEX_PASSWORD. A relative PATH means the same file until the
 * client is closed.
 *
 * Connects at once. CULEX_ECONNECT: the text names host and reason; with a spool that is no
 * failure, and what else may be wrong with the store is then told by later calls.
 * CULEX_EUNSUPPORTED: the SQLite store was open in this process's parent at the time of the fork,
 * and SQLite would rely on locks that are not inherited. CULEX_EURL for NULL in a handler: its
 * worker has another store or one in memory, or its process has left the folder that the path of
 * the worker's store counts from; see culex_run_client in culex/worker.h. `options` may be NULL.
 * *ret_client is returned owned. */
CULEX_API CULEX_MUST_USE culex_status culex_client_open(const char *url,
                                                        const culex_client_options *options,
                                                        culex_client **ret_client,
                                                        culex_error *error);

/* Closes the connection and frees the client; in a forked process it frees what it can and leaves
 * the store alone. Accepts NULL. */
CULEX_API void culex_client_close(culex_client *client);

/* What became of an enqueue that is CULEX_OK. */
typedef enum CULEX_INT_ENUM culex_enqueue_outcome {
    CULEX_ENQUEUE_NEW,       /* a run of its own */
    CULEX_ENQUEUE_DUPLICATE, /* its idempotency key brought a run before */
    CULEX_ENQUEUE_KEPT,      /* another run has its unique key, and stays as it is */
    CULEX_ENQUEUE_REPLACED,  /* another run had it, and is now as this one was wanted */
    CULEX_ENQUEUE_SPOOLED /* the store is away: the run waits in the client's spool, and has no id
                             yet. Never of a client without one (culex/spool.h) */
} culex_enqueue_outcome;

/* A batch of runs, of one queue: see culex/batch.h. */
typedef struct culex_batch {
    culex_uuid id;
    char queue[65];
} culex_batch;

/* What an enqueued run is to a batch: one of those that it counts, or its callback, which comes in
 * when the batch tells this. */
typedef enum CULEX_INT_ENUM culex_batch_when {
    CULEX_BATCH_MEMBER,
    CULEX_BATCH_ON_COMPLETE, /* the batch has ended, however its members have */
    CULEX_BATCH_ON_SUCCESS,  /* it has ended, and all of them are done */
    CULEX_BATCH_ON_DEATH,    /* the first of them is dead */
} culex_batch_when;

/* What one call may override of the schema's policy. Zero-initialise, or start from
 * culex_enqueue_options_make(). Strings are borrowed for the call. CULEX_EINVAL for likely
 * mistakes, a value without its flag or seconds in place of nanoseconds; the text says what to
 * write. */
typedef struct culex_enqueue_options {
    bool has_ticket;
    culex_uuid ticket; /* makes the call repeatable: what culex_client_new_ticket gave, or a call
                          that was CULEX_EUNKNOWN; see culex_client_enqueue */
    const char *idempotency_key; /* NULL: none; 1 to 255 bytes of UTF-8 without control characters.
                                    Within the window the queue takes one run for a key, whoever
                                    enqueues it: from a second call nothing comes, and it is
                                    CULEX_OK with the id of the first one's run, be that still
                                    there or not; CULEX_ECONFLICT with another job, chain or other
                                    params.
                                    The same key in another queue is another key, and with `after`
                                    it is one of those who wait for that run; callbacks of a batch
                                    take none */
    bool has_idempotency_window;
    culex_duration idempotency_window; /* how long the store remembers the key, from the call that
                                          brought the run: 1 ms to 30 days, by default a day */
    bool has_delay;
    culex_duration delay; /* culex_seconds(n), _minutes(n), ...; counted by the store's clock;
                             negative counts as 0; 1 ns to 99 us are refused as a number of seconds
                             (an instant that you computed goes into `at`), more than 100 years of
                             365.25 days as a number of milliseconds */
    bool has_at;
    culex_time at;     /* on the store's clock, culex_time_from_unix(seconds) for instance; in the
                          past means now; before 2001 and after 2149 is refused */
    const char *queue; /* NULL: the schema's; 1 to 64 letters, digits, '_', '.', '-'. A new name is
                          a new queue; unique keys and limits are counted in each queue apart */
    bool has_priority;
    int priority;            /* 0..9 */
    const char *const *tags; /* replace the schema's when tag_count > 0 */
    size_t tag_count;
    bool has_expires;
    culex_duration expires; /* in place of the schema's: the run is dead, with the reason "expired",
                               unless it is begun so long after it became due; 0 for never. Bounds
                               as those of `delay`, but none below 0 */
    culex_enqueue_outcome *ret_outcomes; /* NULL, or room for that of each run whose id is told */
    const culex_batch *batch;            /* NULL: none; else see culex/batch.h */
    culex_batch_when batch_when;         /* of a batch; and with `after`, below */
    const culex_chain *chain;            /* that the run begins, whose first job it is of: what a
                                            chain's _enqueue sets; NULL: none. See culex/chain.h */
    const culex_uuid *after; /* NULL: none; else the run that this one waits for: it comes in when
                                that is done. See culex_client_enqueue */
    const char *after_queue; /* that run's; NULL: the one that this run goes to */
    culex_batch *ret_after;  /* NULL, or room for what tells whether it has come in: see below */
    const char *traceparent; /* the trace that the run is of, as W3C Trace Context writes it:
                                "00-", 32 digits, '-', 16 digits, and "-01" where the trace is
                                recorded, else "-00". CULEX_EINVAL names what is wrong. NULL: what a
                                handler enqueues is of its own run's trace, else of none. No key and
                                no ticket is made of it; params that fill a payload go without. See
                                docs/guide.md, "Traces" */
    const char *tracestate;  /* beside it: up to 512 bytes of printable ASCII; NULL: none */
} culex_enqueue_options;

/* Options that override nothing. */
static inline culex_enqueue_options culex_enqueue_options_make(void)
{
    culex_enqueue_options options = {false,
                                     {{0}},
                                     NULL,
                                     false,
                                     0,
                                     false,
                                     0,
                                     false,
                                     0,
                                     NULL,
                                     false,
                                     0,
                                     NULL,
                                     0,
                                     false,
                                     0,
                                     NULL,
                                     NULL,
                                     CULEX_BATCH_MEMBER,
                                     NULL,
                                     NULL,
                                     NULL,
                                     NULL,
                                     NULL,
                                     NULL};
    return options;
}

/* Enqueues one run of `type`. Generated `P_enqueue` functions call this.
 * Borrows `params`. `options` and `ret_id` may be NULL. The store makes the id.
 * CULEX_EUNKNOWN: the store did not answer in time even after retries, and the run may be there or
 * not; or a try got no answer and the next one was refused, for a limit or a key, while the first
 * may still be under way. *ret_id is then no run's id but the ticket of this call: repeat the call,
 * with the same params and that as options->ticket, by this client or by another, until it is
 * CULEX_OK. However often that is, there is one run. Any other failure of such a repeat,
 * CULEX_ECONNECT for instance, is about that call alone: what the first one did is as unknown as
 * before. A call that its idempotency key held off has brought no run: its repeat is judged anew,
 * and brings one when the window is over by then.
 * CULEX_ECONFLICT: the ticket, or the idempotency key, came with other content before, which is the
 * job, its params as they are encoded, and the key. Nothing else is compared, neither delay, at,
 * expiry, priority and tags nor the rest of the schema's policy: a repeat computes another delay.
 * They stay as the first call had them. To change one, cancel the run and enqueue another. A ticket
 * is refused so, too, when it is not the newest that its producer has used in this queue; a key
 * never is. CULEX_EEXPIRED: nothing was enqueued by this call, for the ticket is more than ten
 * minutes old, or the store's clock was set by as much. Where an earlier call with this ticket was
 * CULEX_EUNKNOWN it remains so: a run may have come, ended and been forgotten. What has to be
 * repeated after longer than that takes an idempotency key.
 * Of a job that is `unique`, while another run has the key of this one: CULEX_OK, and *ret_id is
 * that run, which stays as it is, or with `on_conflict replace` is now as this one was wanted;
 * options->ret_outcomes tells. With `on_conflict error` it is CULEX_EUNIQUE, *ret_id is that run
 * too, and the text names it.
 *
 * With options->after the run waits outside of all queues until another one is done, and comes in
 * with what records that: once, whatever dies meanwhile. It has no id before, so *ret_id is all
 * zeroes. options->batch_when tells another end: CULEX_BATCH_ON_DEATH, or CULEX_BATCH_ON_COMPLETE
 * for any, also that the other one is cancelled or deleted. An end that it does not wait for is the
 * end of the wait, too, and the run is dropped: give one more with CULEX_BATCH_ON_COMPLETE to hear
 * of that, or look at *options->ret_after, a batch of the one run that is waited for, with
 * culex_batch_look. A retry of a dead run by an operator brings nothing back, but for a call that
 * is made again then.
 * A run that is done already, and still there, counts: then the new one comes in at once. As with
 * follow-ups, it is a worker of the other run's queue that brings it. CULEX_ENOTFOUND: that run is
 * forgotten, or never was; CULEX_ESTATE: it has ended otherwise; CULEX_ELIMIT: a hundred wait for
 * it already. Neither ticket, at nor ret_outcomes go with it, and no batch. Without an idempotency
 * key a call that is repeated after CULEX_EUNKNOWN may bring a second run. With one, calls with
 * that key for the same end of the same run and into the same queue bring one, until the window is
 * over that begins with that end; of another job, params or options it is CULEX_ECONFLICT. Such a
 * call whose run was dropped is as a first one: CULEX_ESTATE, or it waits for the run that was
 * revived. Plain enqueues with that key are apart from it, and bring a run of their own. A client
 * with a spool asks the store or fails; a Redis user needs the rights of a worker, as for
 * culex_client_wait. */
CULEX_API CULEX_MUST_USE culex_status culex_client_enqueue(culex_client *client,
                                                           const culex_job_type *type,
                                                           const void *params,
                                                           const culex_enqueue_options *options,
                                                           culex_uuid *ret_id, culex_error *error);

/* Enqueues `count` runs whose params are `stride` bytes apart, one round trip per
 * few hundred. All or a prefix: on failure *ret_enqueued (may be NULL) tells how many of
 * the first runs are in the store for certain. `ret_ids`, when not NULL, has room
 * for `count` ids: those of that prefix, and after CULEX_EUNKNOWN behind them the ticket with which
 * the call is repeated for all that follow the prefix.
 * Each round trip has a ticket of its own, options->ticket and those that follow it, and the store
 * remembers the last one alone. So what one round trip carries, up to 200 runs with 2 MiB of
 * params, is repeated with options->ticket as a whole; of more, only what follows the prefix is,
 * and the whole would be CULEX_ECONFLICT. A program that may be interrupted in between calls for
 * 200 at most, with a fresh ticket each time. After CULEX_EFULL the ticket is used if there is a
 * prefix: what follows it takes another. options->idempotency_key is refused for more than one run.
 * CULEX_EUNIQUE, of a job with `on_conflict error`: behind the prefix stands the id of the run that
 * has the key of the next one. What follows in the same round trip may be there all the same.
 */
CULEX_API CULEX_MUST_USE culex_status
culex_client_enqueue_many(culex_client *client, const culex_job_type *type, const void *params,
                          size_t stride, size_t count, const culex_enqueue_options *options,
                          culex_uuid *ret_ids, size_t *ret_enqueued, culex_error *error);

/* One run of a call that enqueues several. Generated `P_enqueue_item` functions make it. */
typedef struct culex_enqueue_item {
    const culex_job_type *type;
    const void *params;                   /* borrowed, as the next */
    const culex_enqueue_options *options; /* NULL: none. CULEX_EINVAL with a ticket or ret_outcomes,
                                             for what follows tells, and with a batch */
    bool is_enqueued; /* the store has it, and *outcome tells how: the next call leaves it out */
    bool is_unknown;  /* it may have it: see culex_client_enqueue_all */
    culex_uuid id; /* of the run, as from culex_client_enqueue; of one that is unknown its ticket */
    culex_enqueue_outcome outcome;
    uint64_t place; /* of one that is unknown: tells its queue from others; not for programs */
} culex_enqueue_item;

/* One that is yet to be enqueued. */
static inline culex_enqueue_item culex_enqueue_item_make(const culex_job_type *type,
                                                         const void *params,
                                                         const culex_enqueue_options *options)
{
    culex_enqueue_item item = {type, params, options, false, false, {{0}}, CULEX_ENQUEUE_NEW, 0};
    return item;
}

/* Enqueues runs of several jobs and into several queues. What goes into one queue comes together,
 * or nothing of it does: also when one run is refused, for its queue is full, its idempotency key
 * is another content's, or its unique key is taken and its job has `on_conflict error`. Queues are
 * served one after the other, in the order in which the items name them first; the first that fails
 * ends the call with its failure, and what came into those before it stays: each item tells. So the
 * call may be made again with the same array, until it is CULEX_OK; after CULEX_EUNKNOWN that is
 * how to learn what became of the runs, and however often it is made, each comes once. Ten minutes
 * later the call is CULEX_EEXPIRED: what has to be repeated after longer takes idempotency keys.
 * At most 200 runs with 2 MiB of params for each queue (CULEX_ELIMIT). All items are judged, and
 * pass the client's hook, before the first is sent. In a spool they are put together as well, but
 * leave it one by one. */
CULEX_API CULEX_MUST_USE culex_status culex_client_enqueue_all(culex_client *client,
                                                               culex_enqueue_item *items,
                                                               size_t count, culex_error *error);

/* A fresh ticket, for a call that will be repeated when its program was interrupted before it got
 * an answer: keep it before the call is made. It is good for one call to one queue, for ten
 * minutes, and the store remembers each for as long: who needs none calls without. */
CULEX_API CULEX_MUST_USE culex_status culex_client_new_ticket(culex_client *client,
                                                              culex_uuid *ret_ticket,
                                                              culex_error *error);

typedef enum CULEX_INT_ENUM culex_run_state {
    CULEX_RUN_SCHEDULED, /* waits for its time */
    CULEX_RUN_WAITING,   /* ready for a worker; also when its time came and no worker did yet */
    CULEX_RUN_ACTIVE,    /* leased by a worker */
    CULEX_RUN_DONE,
    CULEX_RUN_DEAD, /* no retry left; kept for the operator */
    CULEX_RUN_CANCELLED,
    CULEX_RUN_STATE_COUNT
} culex_run_state;

/* "scheduled", "waiting", ...; never NULL. */
CULEX_API const char *culex_run_state_name(culex_run_state state);

/* One run as the store has it. Everything it points to is owned by it. */
typedef struct culex_run_info {
    culex_uuid id;
    culex_run_state state;
    char *job; /* wire name */
    char *queue;
    int priority;
    uint32_t attempt;  /* times a worker was given it: also when it went back before it began */
    uint32_t failures; /* times the handler reported a failure */
    uint32_t crashes;  /* times the child that ran it died */
    uint32_t losses;   /* times its worker vanished while it ran */
    uint32_t attempts_max;
    int64_t created_at_ms; /* store clock, ms since 1970 */
    int64_t at_ms; /* scheduled: due; active: lease end; final: when it is forgotten; waiting: when
                      it was due, 0 for one that had no date, or of which that is not known */
    int64_t expires_at_ms; /* 0 for never: also when it was begun once, and goes on; but with a
                              time for retries, from the first failure on, the end of that */
    uint64_t fingerprint;  /* of the schema that encoded the payload */
    bool cancel_requested;
    char *tags;          /* comma-separated, may be "" */
    char *error_text;    /* of the last failure, or why it had to be given back; "" when none */
    int progress;        /* percent as the handler reported it last, -1 when it did not */
    char *progress_text; /* beside it, "" when none */
    culex_bytes payload; /* empty once the run is done, or when it is longer than 1 MiB */
    culex_bytes result;  /* empty when there is none */
    /* As its job's schema said when it was enqueued; listed runs have no texts of these. */
    int64_t timeout_ms;      /* 0 for none */
    int64_t retry_for_ms;    /* no attempt begins so long after the first failure; 0 for ever */
    int64_t keep_success_ms; /* of its record, after its end */
    int64_t keep_failure_ms;
    char *unique_key;        /* "" for none */
    unsigned unique_while;   /* in these states it holds that key: CULEX_LIST_STATE(...) | ... */
    int64_t unique_until_ms; /* and not beyond this; 0 for no bound */
    char *limits;   /* NAME=KEY;NAME=KEY of each of its limits, "" for none: culex/limits.h;
                       what it needs of a worker is one of them, named "needs NAME:UNITS" */
    bool is_member; /* it has not ended, and a batch counts it or a run waits for it; never
                       told of listed runs */
} culex_run_info;

/* Reads one run, payload included. CULEX_ENOTFOUND when the store has forgotten it
 * or never knew it. *ret_run is returned owned: free with culex_run_info_free. */
CULEX_API CULEX_MUST_USE culex_status culex_client_get(culex_client *client, const char *queue,
                                                       culex_uuid id, culex_run_info **ret_run,
                                                       culex_error *error);

/* Frees what culex_client_get returned. Accepts NULL. */
CULEX_API void culex_run_info_free(culex_run_info *run);

/* What has become of a run that is waited for. */
typedef enum CULEX_INT_ENUM culex_wait_end {
    CULEX_WAIT_PENDING, /* it has not ended; also while a retry of it is to come */
    CULEX_WAIT_DONE,
    CULEX_WAIT_DEAD,
    CULEX_WAIT_CANCELLED,
    CULEX_WAIT_FORGOTTEN /* the store has no such run, or has it no more */
} culex_wait_end;

/* "pending", "done", ...; never NULL. */
CULEX_API const char *culex_wait_end_name(culex_wait_end end);

/* A run that is waited for. Zero-initialise, set `queue` and `id`. */
typedef struct culex_wait {
    const char *queue; /* borrowed */
    culex_uuid id;
    culex_wait_end end;
    culex_run_info *run; /* as it ended, error text and result included; NULL while it is pending
                            and when it is forgotten. Owned by the caller: culex_run_info_free */
} culex_wait;

/* Waits until `enough` more of these runs have ended, all that are pending if there are fewer, or
 * `timeout` is over: CULEX_OK in either case, and each `end` tells. 1 waits for the first of them,
 * `count` for all. Runs whose `end` is no more pending are not asked for again, so the next call
 * may take the same array. At most 1000.
 * The store tells the client of an end. All threads that wait with one client share one connection
 * for that, beside the one for calls, which others go on using meanwhile. In between a call asks
 * once in five seconds, in case that word was lost; once a second where the store refuses to tell
 * (a Redis user without BLPOP, queues in several slots of a cluster), which is said once, on
 * standard error. A run for whose end somebody waits leaves its record for a minute at least,
 * whatever its job's `keep` says, `keep success 0s` included; one that ended before the call is
 * found as long as its record is kept. A timeout of 0 or less asks once; 1 ns to 99 us are refused
 * as a number of seconds. A store that cannot be reached is waited for, too, until the time is
 * over; then the call fails as others do, and what had ended by then is told. So does one with a
 * run whose record is damaged, CULEX_ECORRUPT, once the others have ended. The last question may
 * take as long as any call of the client beyond `timeout`. CULEX_EUNSUPPORTED with culex_run_client
 * where handlers run in children.
 * A handler that waits for a run which its own worker is to execute may wait in vain: it keeps the
 * place that the run needs. */
CULEX_API CULEX_MUST_USE culex_status culex_client_wait(culex_client *client, culex_wait *waits,
                                                        size_t count, size_t enough,
                                                        culex_duration timeout, culex_error *error);

/* Waits for the end of one run of `type` in the schema's queue, as culex_client_wait does, and
 * reads its result. Generated `P_wait` functions call this. CULEX_OK: it is done, and *ret_result,
 * which lives in `arena`, is what it returned, NULL when its handler has set nothing. CULEX_ESTATE:
 * it is dead or cancelled, and the text has that of the run, or it is pending still.
 * CULEX_ENOTFOUND: it is forgotten. *ret_end (may be NULL) tells these apart, and how
 * a run has ended whose result cannot be read (CULEX_ENOKEY, CULEX_EDECODE); it is
 * CULEX_WAIT_PENDING when the call fails otherwise. CULEX_EINVAL for a job that returns nothing,
 * and when the run is of another job. */
CULEX_API CULEX_MUST_USE culex_status culex_client_wait_result(
    culex_client *client, const culex_job_type *type, culex_uuid id, culex_duration timeout,
    culex_arena *arena, culex_wait_end *ret_end, const void **ret_result, culex_error *error);

/* As culex_decode, of the params or the result of a run of `type` as culex_client_get has them,
 * encrypted fields too: they are opened by the client's keys. CULEX_ENOKEY: one is sealed by a key
 * that is not among them. The value lives in `arena`. */
CULEX_API CULEX_MUST_USE culex_status culex_client_decode_params(
    culex_client *client, const culex_job_type *type, culex_arena *arena, const void *text,
    size_t len, const void **ret_params, culex_error *error);
CULEX_API CULEX_MUST_USE culex_status culex_client_decode_result(
    culex_client *client, const culex_job_type *type, culex_arena *arena, const void *text,
    size_t len, const void **ret_result, culex_error *error);

/* A queue begins with its first run or with the first worker that serves it. Until then every call
 * that takes a queue and no run is CULEX_ENOTFOUND, changes nothing, and its text has the name that
 * may have been meant. The text of a run that is not found has it, too, where the queue is missing.
 */

/* Called for each listed run; return false to stop. The run is borrowed. */
typedef bool (*culex_run_visitor)(const culex_run_info *run, void *user);

/* The bit of a state in culex_list_filter.states. */
#define CULEX_LIST_STATE(state) (1u << (state))

/* Which runs are meant: those for which all that is set holds. {0}: all runs. Payloads, results and
 * what a handler said of its progress are never looked at, so a secret param is not found by its
 * value. */
typedef struct culex_list_filter {
    unsigned states; /* CULEX_LIST_STATE(CULEX_RUN_DEAD) | ...; 0: every state */
    const char *job; /* as P_job_type.wire has it; NULL for any */
    const char *tag; /* one that the run has, whole; NULL for any */
    /* A part of the text of the last failure, letter by letter; NULL for any. A run that waits for
     * its retry, or is at work at it, has that text as a dead one has. */
    const char *error_part;
    /* Enqueued, by the store's clock, whatever has become of it since:
     * culex_run_info.created_at_ms. */
    bool has_since;
    culex_time since; /* then or later */
    bool has_before;
    culex_time before; /* earlier than this */
    /* The other way round: from those that the store forgets last to those that it forgets first.
     * Of runs that are kept equally long this is the order of their ends, and the last to end comes
     * first. `states` is that of dead runs alone or of cancelled ones alone then. */
    bool newest_first;
} culex_list_filter;

/* Where a listing goes on: {0} at first. At its end `place` is 0 again; what else is in it is the
 * store's own, and goes on with the same queue and filter only, the values behind its pointers
 * included. */
typedef struct culex_list_cursor {
    uint64_t place;
    culex_uuid run;
} culex_list_cursor;

/* Visits runs of `queue` in `state`, as culex_client_find does with that state alone: at most
 * `limit` (0: 1000), from *cursor on, and stores there where to go on. A run that is in the state
 * from the first call to the last is visited once, whatever becomes of others meanwhile: the
 * visitor may retry, cancel and delete what it is shown. A run that comes, leaves or is moved
 * meanwhile may be missed; and one that moves within its state may be visited twice: an active run
 * whose worker says that it goes on, a waiting one that workers put at another place. A visitor
 * that stops has had its page: *cursor is behind the page, of 100 runs at most. Payload, result,
 * error_text, progress, progress_text, unique_key and limits are left out here, as if the run had
 * none: culex_client_get has them. */
CULEX_API CULEX_MUST_USE culex_status culex_client_list(culex_client *client, const char *queue,
                                                        culex_run_state state,
                                                        culex_list_cursor *cursor, size_t limit,
                                                        culex_run_visitor visit, void *user,
                                                        culex_error *error);

/* As culex_client_list, of the runs that `filter` takes (NULL: of all). The store looks through
 * them; each time it is asked it looks at some thousands at the most, so that it has time for
 * others. When a hundred such looks in a row have found none, the call ends before its `limit`,
 * maybe without a visit: call again until cursor->place is 0.
 *
 * A run that the filter takes from the first call to the last is visited for certain, as above; one
 * that comes to be taken, or is no longer, meanwhile may be missed. With one state in the filter
 * runs come in that state's order. With none or several they come in no order, whatever becomes of
 * their state meanwhile, and one may be visited twice; some more than `limit` may be visited.
 *
 * CULEX_EINVAL for a state that is none, for a job, tag or part that no run can have, for times
 * without has_since or has_before, before 2001, or with nothing between them, and for newest_first
 * of other states. A job that the queue
 * never had is no mistake: it has no runs. */
CULEX_API CULEX_MUST_USE culex_status culex_client_find(culex_client *client, const char *queue,
                                                        const culex_list_filter *filter,
                                                        culex_list_cursor *cursor, size_t limit,
                                                        culex_run_visitor visit, void *user,
                                                        culex_error *error);

/* Scheduled and waiting runs are cancelled at once. An active run is flagged; its
 * worker learns that within about a second and asks the handler to stop. *ret_state (may be NULL)
 * is the state after the call. CULEX_ESTATE when the run is already final. */
CULEX_API CULEX_MUST_USE culex_status culex_client_cancel(culex_client *client, const char *queue,
                                                          culex_uuid id, culex_run_state *ret_state,
                                                          culex_error *error);

/* Puts a dead run back to waiting with a fresh allowance of attempts. CULEX_ESTATE
 * when it is not dead. CULEX_EUNIQUE while another run holds its unique key, and it is one that
 * waiting runs keep: nothing has changed then. It can be retried once the other has ended. */
CULEX_API CULEX_MUST_USE culex_status culex_client_retry(culex_client *client, const char *queue,
                                                         culex_uuid id, culex_error *error);

/* Forgets a run that is final (done, dead, cancelled); CULEX_ESTATE otherwise. */
CULEX_API CULEX_MUST_USE culex_status culex_client_delete(culex_client *client, const char *queue,
                                                          culex_uuid id, culex_error *error);

/* Where a run is to stand: another time, another priority, or both. Zero-initialise. */
typedef struct culex_move {
    bool has_delay;
    culex_duration delay; /* from now; 0 or less: now. Bounds as in culex_enqueue_options */
    bool has_at;
    culex_time at; /* on the store's clock; in the past means now */
    bool has_priority;
    int priority; /* 0..9 */
} culex_move;

/* Gives a run that is scheduled or waiting another time or priority; one that waits may so be put
 * off, and one that is scheduled run now. CULEX_ESTATE, with a text that says which state it is in,
 * when it is at work or over; and when it has failed before and its time for retries is over at
 * the new time. An expiry moves by as much as the run. A priority alone leaves the run its place by
 * age; one that waits and is told to be due now stays where it is. The run, its id, its unique key
 * and its attempts stay what they are. Whoever lists runs and moves what he is shown may be shown
 * it again, at its new place. */
CULEX_API CULEX_MUST_USE culex_status culex_client_move(culex_client *client, const char *queue,
                                                        culex_uuid id, const culex_move *move,
                                                        culex_error *error);

/* Paused queues take runs in but give none out, until culex_client_resume. */
CULEX_API CULEX_MUST_USE culex_status culex_client_pause(culex_client *client, const char *queue,
                                                         culex_error *error);
/* The same for a time, which counts from now by the store's clock: when it is over, workers go on
 * by themselves. It takes the place of a pause that there is, shorter or longer, also of one
 * without an end. CULEX_EINVAL for less than 1 ms, what is likely a plain number of seconds (1 ns
 * to 99 us), and more than 100 years. */
CULEX_API CULEX_MUST_USE culex_status culex_client_pause_for(culex_client *client,
                                                             const char *queue,
                                                             culex_duration duration,
                                                             culex_error *error);
CULEX_API CULEX_MUST_USE culex_status culex_client_resume(culex_client *client, const char *queue,
                                                          culex_error *error);

/* Bounds a backlog: while `most` runs of `queue` are scheduled, waiting or active, enqueues of new
 * ones fail with CULEX_EFULL. 0 lifts the bound. Retries, revived and periodic runs are not
 * refused. */
CULEX_API CULEX_MUST_USE culex_status culex_client_limit(culex_client *client, const char *queue,
                                                         uint64_t most, culex_error *error);

/* Bounds the dead runs of `queue` by their number, beside the time for which each is kept: while
 * there are more than `most`, workers forget those whose time is over first, which are the oldest
 * where all are kept as long. 0, as a queue begins, lifts the bound. */
CULEX_API CULEX_MUST_USE culex_status culex_client_dead_limit(culex_client *client,
                                                              const char *queue, uint64_t most,
                                                              culex_error *error);

/* Deletes up to `limit` runs of `queue` in a state other than active, in pages of 500; which of
 * more go first is the store's affair: no order is promised, neither of age nor of claims.
 * *ret_deleted (may be NULL) tells how many are deleted for certain, also when the call fails. Call
 * again while it equals `limit`. CULEX_EUNKNOWN ends the call at a page without an answer, which
 * may be deleted too: asked for again, it could be the next one. */
CULEX_API CULEX_MUST_USE culex_status culex_client_purge(culex_client *client, const char *queue,
                                                         culex_run_state state, size_t limit,
                                                         size_t *ret_deleted, culex_error *error);

/* What is in a queue and what has happened there. `lost` counts runs that were at work, as far as
 * the store knew, when the lease ran out or the worker came back in a new life; what it had only
 * fetched ahead goes back and counts nowhere, and so do short runs that ended unheard. `stale`
 * counts what comes from a worker that holds the run no more, while the store still has the run.
 * count[CULEX_RUN_DONE] has only runs whose records are still there: unless the schema says another
 * `keep success`, one that succeeded is forgotten 1 s after its end. All of them are in `done`. */
typedef struct culex_queue_stats {
    uint64_t count[CULEX_RUN_STATE_COUNT]; /* runs per state now */
    uint64_t enqueued;                     /* totals since the queue began */
    uint64_t done;
    uint64_t failed; /* failed attempts */
    uint64_t crashed;
    uint64_t lost; /* attempts whose worker vanished */
    uint64_t dead;
    uint64_t cancelled;
    uint64_t stale; /* results and heartbeats refused by the fence */
    uint64_t limit; /* as culex_client_limit set it, 0 for none */
    int64_t now_ms; /* store clock */
    bool paused;
    uint64_t dead_limit;     /* as culex_client_dead_limit set it, 0 for none */
    int64_t paused_until_ms; /* store clock; 0: not paused, or until somebody resumes it */
} culex_queue_stats;

/* Fills *ret_stats with the figures of `queue`. CULEX_ENOTFOUND for a queue that never had a run
 * or a worker. */
CULEX_API CULEX_MUST_USE culex_status culex_client_stats(culex_client *client, const char *queue,
                                                         culex_queue_stats *ret_stats,
                                                         culex_error *error);

/* Called for each queue name; return false to stop. The name is borrowed. */
typedef bool (*culex_queue_visitor)(const char *queue, void *user);

/* Visits every queue that ever had a run or a worker, in alphabetical order. (Redis: also one whose
 * only runs were refused.) */
CULEX_API CULEX_MUST_USE culex_status culex_client_queues(culex_client *client,
                                                          culex_queue_visitor visit, void *user,
                                                          culex_error *error);

/* A function of another type for a callback is an error; see culex/typed.h. */
#ifdef CULEX_TYPED
#define culex_client_list(...)   CULEX_TYPED(culex_client_list, __VA_ARGS__)
#define culex_client_find(...)   CULEX_TYPED(culex_client_find, __VA_ARGS__)
#define culex_client_queues(...) CULEX_TYPED(culex_client_queues, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
