/* store/store.h - what a store can do: one table, one contract, several stores.
 *
 * A store is a constant table of operations plus a struct that embeds
 * struct culex_store first. Every operation is atomic and bounded, takes effect
 * wholly or not at all, and is safe to repeat after CULEX_EUNKNOWN; only a repeated PURGE
 * would delete the next runs, so it is not repeated, and of ENQUEUE_EACH each call is. The meaning
 * of each stands in verbs.def; the folders implement it, tests/stores/suite/model.c is the
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
 * theirs: they are granted only to a handler that starts them at once, so that one that takes its
 * worker down again is charged for it.
 *
 * Ids are made by the store (core/run_id.h), in the call that brings the run. Nothing is remembered
 * of a run whose record is forgotten but its idempotency key, for as long as that is wanted.
 *
 * Unique keys. A run that comes in with one takes it when nobody holds it. With `unique_while` it
 * is the holder whenever it is in one of these states, but not longer than `unique_for_ms`, where
 * that is given; without, it is the holder for so long, whatever becomes of it, and be its record
 * forgotten. One that waits and has expired holds nothing. While a run is in none of its states
 * another may take its key; then it goes on without, unless an ack (but for a loss), a claim, a
 * MOVE or RETRY brings it into one of them at a time when nobody holds the key. Who replaces a run
 * gives it all but its id and the time when it was created: with another delay or priority it
 * stands elsewhere, as if it came in now, and one that waits and may go on at once stays where it
 * is. The time of its key counts anew. Replaced is only what is scheduled or waits and was never
 * claimed.
 *
 * Follow-ups. An ack of DONE that is answered with OK brings its follow-ups, each once: they come
 * in if and only if the run is done, behind what else the STEP does, which grants none of them.
 * Each is judged as by an ENQUEUE without a ticket that passes the queue's bound; one that another
 * run keeps out by a key stays out. A store whose queues share no transaction records them with the
 * end, and then brings them, in this STEP or, when that fails, in the next ones of the run's queue,
 * which is not empty as long as some are left; due_in_ms asks for them. Where all share one, and a
 * queue can never take them in as things are, the run fails, with the reason as its text.
 *
 * Batches. A batch counts runs of one queue, its members, and has up to one callback of each
 * culex_batch_when: a run of any queue that waits outside of all queues. A run that an ENQUEUE with
 * a batch makes anew is a member; what a key leads to is none. The end of a member, done, dead or
 * cancelled, is counted once, by the call that brings it; so is that a member goes which has none,
 * as cancelled. It is no member from then on: what an operator revives is a run like any other. A
 * batch ends when it is closed and none of its members is left; until then it takes new ones. One
 * that nobody closes is closed when its time is over, and counts as expired. A batch may be in
 * another one of its queue, as a member that ends when it does: done when it has succeeded, dead
 * when one of its members is, else cancelled. A callback comes in as a follow-up does, once:
 * ON_DEATH with the first member that is dead, ON_COMPLETE with the end of the batch, ON_SUCCESS
 * with it when all members are done and it has not expired. Nobody else's call fails for one that a
 * queue refuses, and no other waits for it; it stays, and STEPs of the batch's queue, which is not
 * empty then, try again. One that nobody can read is put aside. A
 * batch is forgotten by STEP keep_ms after its end, and not before its callbacks are in.
 * AFTER makes a batch whose one member is a run that is there, which may have been in others
 * before: up to CULEX_RUN_BATCHES_MAX at a time. One that has ended is counted as it has. A repeat
 * whose callback never comes in is as if there were no such batch: the run may be alive again.
 * Refused are an OPEN of one that is there in another parent or in none (CULEX_ECONFLICT), and a
 * CALL for what can not come about any more (CULEX_ESTATE).
 *
 * Figures. Workers tell from time to time how many runs of each job have ended how, how long they
 * had waited and how long they took. The store adds that up by the hours of its clock, and keeps it
 * FIGURES_HOURS. A queue has FIGURES_ROWS_MAX rows of a job and an hour, and one more an hour for
 * what finds no room. No other verb knows of them.
 *
 * Events. While a queue keeps some (EVENTS_KEEP), each verb that changes what culex/events.h tells
 * of notes that in the transaction that changes it, all of one call as one entry, and the newest
 * ones are kept. Their positions are counted from 1 and go on when none are kept for a while; the
 * client makes of them what programs hand back (client/events.c). A queue that keeps none pays for
 * none.
 *
 * Waits. WAIT notes that its handle waits for the end of a run. Whoever brings that end, or deletes
 * the run before it, forgets the note and tells the handle, whose WAKE_TAKE says so; the record of
 * a run that ends while it is waited for is kept CULEX_WAIT_KEEP_MS at the least, also when it
 * would leave none. To be told is a hint, as a wake-up is: who waits looks now and again. A note is
 * good until its time is over, and STEPs forget it then; due_in_ms asks for one.
 *
 * Limits. A run may have up to RUN_LIMITS_MAX; each has a name in its queue, and counts apart by
 * key. CONCURRENCY: never more than `count` runs of one name and key are active. RATE: a claim
 * takes a token out of the bucket of name and key, which holds `burst` of them, gets one back every
 * per_ms / count (core/run_limit.h), and no token twice: what a claimed run took is gone, however
 * it ends. A bucket that is further from being full than an empty one (the clock was set back, the
 * limit was raised) is an empty one from the next STEP on. FAIR: of name and key never more than
 * FAIR_QUEUED runs stand in the ready order, and one more for each priority above 0; the others
 * come in at its back, as if they became ready then, by priority and age, when one of theirs is
 * claimed or ends. And behind every other limit the keys of a run's first share take turns.
 *
 * The claim is the judge: a run is granted only when each of its limits has room. One that has none
 * holds up nobody else: it stands aside, parked behind the first of its limits that has none, and
 * is `waiting` to everybody. Of one priority, runs with the same limits and keys are granted in the
 * order in which they became ready; those that may run in the order of all, but for fair ones,
 * which stand where they came in.
 *
 * Turns: of the runs of one priority that are parked behind a limit and have a share, one of each
 * key of it comes in after another, the oldest of the key first; all without a share count as one
 * key. What goes to the front has no turn: it is first. So however many runs one key has, another's
 * first comes in after one of each at the most, and after those that stand already: no more than
 * the limit has room for (SQLite: for each priority up to theirs) and no more than FAIR_QUEUED and
 * the priority of each key. What waits for a limit takes no place of its share: it keeps nobody of
 * its key from starting who has room. Where runs have turns, who comes in stands no earlier than
 * the one before it.
 *
 * A store may park a run before a claim has met it, so that the ready order is short. What frees
 * room admits the next in the STEP that finds it, a bounded number each; due_in_ms counts when a
 * bucket gets the token that a parked run waits for. Nothing is kept of a key of which no run is at
 * work or waits, once its bucket is full.
 *
 * What a limit is stands once for each name and queue: as the newest run that was enqueued told it,
 * or as LIMIT_SET, which wins. When its kind changes, what was set is gone. What is told of the
 * runs of a batch is judged in their order. Runs that are at work are never taken back.
 *
 * Needs. The last limit of a run may be of kind NEEDS: its name tells what a worker must offer
 * (core/needs.h), and nothing is counted against it. While its other limits have room for it such a
 * run does not stand in the ready order but in one of its own, that of all runs of the queue with
 * the same needs: it is `waiting` to everybody, and who does not offer what it needs never meets
 * it, however many there are. A STEP tells what its worker has free; it is granted first what fits
 * there, each run with fewer units left for those behind it, in the order of claims, and then what
 * needs nothing. To its other limits it counts as one that stands in the ready order, so one that
 * nobody offers for keeps its place there. A run that does not fit holds up nobody who does: one
 * that needs much may wait for long while others take what becomes free. Of the needs that begin
 * with the same name, a STEP looks at NEEDS_LOOK_MAX, by their texts.
 *
 * Metadata. What a job keeps from run to run stands once for each queue that its runs are in, where
 * the run that sets it can be seen to hold its lease in the same call: a queue's keys share a slot.
 * No time forgets it, nor the end of a run.
 *
 * Schemas. What describes a job's params, a text that is opaque here, stands once for each queue,
 * under the job's wire name, the fingerprint of its schema, which runs carry too, and a digest of
 * the text: programs whose texts differ in what the fingerprint does not cover, as a default or
 * what is secret, do not take each other's away. Whoever has the job tells it from time to time.
 * One that nobody has told for SCHEMA_STALE_MS goes when no run of that job and fingerprint is in
 * the queue, in whatever state: a worker begins by SCHEMA_SWEEP, looks through all runs by LIST,
 * and asks for SCHEMA_DROP. No index tells, because each enqueue and each end would pay for it; so
 * that costs a page of LIST for each thousand runs, once an hour at most and only while there is
 * such a schema. A run that came meanwhile may have been missed, so then the schema stays until
 * another look finds the queue quiet: never is one gone that a run needs. Only where a queue has
 * too many, SCHEMA_PUBLISH drops one unseen.
 *
 * Retention: a done record is kept keep_success_ms, a cancelled one too, a dead one
 * keep_failure_ms. A success that is kept for 0 ms is forgotten at its ack. Forgetting is work of
 * STEP: each forgets more than it adds, and due_in_ms asks for the next.
 * Expiry concerns runs that were never started; RETRY lifts it, and MOVE puts it off, or
 * forward, by as much as the run. A run with a time for retries
 * expires once more: its first failure, crash or loss begins that time. One whose next attempt
 * would begin at its end or later is dead at once, and one that still waits then dies as it is
 * claimed; the error text says so before that of the last failure. An attempt that has begun may
 * end later.
 */
#ifndef CULEX_STORE_STORE_H
#define CULEX_STORE_STORE_H

#include <stdatomic.h>

#include <culex/batch.h>
#include <culex/client.h>
#include <culex/error.h>
#include <culex/events.h>
#include <culex/limits.h>
#include <culex/maintain.h>
#include <culex/workers.h>

#include "store/report.h"

#include "base/limits.h"
#include "core/run.h"
#include "core/run_log.h"
#include "core/ticket.h"
#include "platform/env.h"

struct culex_store;

/* --- ENQUEUE ------------------------------------------------------------------- */

/* One of the limits of a run, as it was declared. */
struct culex_run_limit {
    enum culex_limit_kind kind;
    const char *name; /* 1 to CULEX_LIMIT_NAME_MAX bytes: UTF-8 without '|', ';', '=' and control
                         characters; a run has each name once. NEEDS: see core/needs.h */
    const char *key;  /* NULL or "": the limit's only one; else as the name, at most
                         CULEX_LIMIT_KEY_MAX bytes */
    uint32_t count;   /* CONCURRENCY: most that are active; RATE: tokens in per_ms; each 1 to
                         CULEX_LIMIT_COUNT_MAX. FAIR: 0 */
    int64_t per_ms;   /* RATE: 1 to CULEX_LIMIT_PERIOD_MAX_MS, in which a full bucket comes back;
                         at most 1000 tokens in a ms. Else 0 */
    uint32_t burst;   /* RATE: 1 to CULEX_LIMIT_COUNT_MAX. Else 0 */
};

struct culex_new_run {
    const char *job;       /* wire name */
    int priority;          /* 0..9 */
    int64_t delay_ms;      /* from now; 0 or less: at once, unless at_ms is set */
    int64_t at_ms;         /* absolute, on the store's clock; 0: not used */
    uint32_t attempts_max; /* at least 1 */
    int64_t expires_ms;    /* 0 never; else dead unless begun this long after it became due */
    int64_t retry_for_ms;  /* 0 for ever; else no attempt begins so long after the first failure */
    int64_t timeout_ms;    /* 0 none; else beats extend a lease no further than claim + timeout */
    int64_t keep_success_ms; /* 0 or more, as the next */
    int64_t keep_failure_ms;
    uint64_t fingerprint;   /* of the schema */
    uint64_t content;       /* hash of job and payload: tells a repeat from a conflict */
    const char *unique_key; /* NULL or "": none; else hex, at most 64 characters */
    unsigned unique_while;  /* with a key: the states that keep it, bits of CULEX_UNIQUE_LIVE */
    int64_t unique_for_ms;  /* with a key: how long it is kept at most; 0: no such bound */
    bool unique_replaces;   /* a holder that nobody has claimed yet becomes this run; one that was
                               claimed, and waits again, leaves it the key, if that is kept by its
                               states, and not while it is active */
    bool unique_refuses;    /* or that there is a holder is a failure: in a bound call no run comes
                               then */
    bool is_bound;          /* all runs of its call come, or none: see ENQUEUE */
    const char *idempotency_key; /* NULL or "": none; else UTF-8 without control characters, at most
                                    CULEX_STORE_IDEMPOTENCY_MAX bytes */
    int64_t window_ms;           /* how long the store remembers that key; 1 or more with a key */
    const char *tags;            /* comma-joined, "" for none; neither '|' nor control characters */
    const void *payload;
    size_t payload_len; /* at most CULEX_PAYLOAD_BYTES_MAX */
    const struct culex_run_limit *limits;
    size_t limit_count; /* 0 to CULEX_RUN_LIMITS_MAX */
    bool has_batch;     /* see "Batches" above; all runs of one call are of the same */
    culex_uuid batch;   /* of the queue; zeroes without */
};

/* As long as it is not over: the states in which a run may keep its unique key. */
#define CULEX_UNIQUE_LIVE                                                                          \
    (1u << CULEX_RUN_SCHEDULED | 1u << CULEX_RUN_WAITING | 1u << CULEX_RUN_ACTIVE)

enum culex_enqueued {
    CULEX_ENQUEUED_NEW,
    CULEX_ENQUEUED_DUPLICATE,    /* its idempotency key is remembered, same content: success */
    CULEX_ENQUEUED_CONFLICT,     /* it is, with other content */
    CULEX_ENQUEUED_FULL,         /* the queue's limit is reached */
    CULEX_ENQUEUED_UNIQUE_TAKEN, /* another run holds the unique key */
    CULEX_ENQUEUED_REPLACED, /* another run holds it, and is now as this one was wanted: success */
    CULEX_ENQUEUED_HELD /* nothing was against it, but another run of its bound call is refused */
};

struct culex_enqueue_result {
    enum culex_enqueued outcome;
    culex_uuid id; /* of the new run; DUPLICATE, CONFLICT: of the run for which the key was given,
                      be it there or not; UNIQUE_TAKEN, REPLACED: of the holder; FULL, HELD, and
                      when it is a run of this call, which is held: zeroes */
};

/* --- STEP ---------------------------------------------------------------------- */

/* A run that comes in with the end of another one. */
struct culex_follow_up {
    const char *queue;
    struct culex_new_run run;
};

/* How an execution ended. */
struct culex_ack {
    culex_uuid id;
    uint32_t attempt;           /* the fence, with the request's session */
    enum culex_run_event event; /* one that a worker may tell (run_rules.def); LOSS when what
                                   executes handlers was taken away, and this run was under way */
    int64_t delay_ms;           /* FAIL, CRASH: backoff; RELEASE: 0 = front of the queue; not used
                                   with other events */
    bool has_begun;     /* RELEASE: its handler had; any other event says so by itself. What has
                           begun once does not expire */
    const char *text;   /* error text, valid UTF-8, at most CULEX_ERROR_TEXT_MAX; may be NULL, then
                           the one before stays. RELEASE: why, when it is worth keeping */
    const void *result; /* DONE: kept with the record; may be NULL */
    size_t result_len;
    const char *progress;       /* as of a beat: the run's last report, when no beat has told it */
    struct culex_log_lines log; /* as of a beat: those that no beat has told */
    int64_t claim_ms;           /* of the grant's facts; 0 where it is not known, which is dearer */
    const struct culex_follow_up *follow_ups; /* DONE: see "Follow-ups" above */
    size_t follow_up_count;                   /* 0 to CULEX_FOLLOW_UPS_MAX */
};

/* Extends a lease to now + lease_ms of the request, never past the run's own limit: its timeout
 * and CULEX_TIMEOUT_SLACK_MS after the claim. */
struct culex_beat {
    culex_uuid id;
    uint32_t attempt;
    int64_t extend_ms;    /* more than 0: the limit becomes this and the slack from now, unless it
                             is later already; not used for a run without timeout */
    bool is_started;      /* its handler is at work; once said, it holds for the attempt */
    bool is_excused;      /* said in its place: others are at work beside it by now, so the run is
                             not to be charged should its holder vanish */
    const char *progress; /* NULL: as before; else kept with the run until its next claim: valid
                             UTF-8, at most CULEX_PROGRESS_MAX bytes */
    struct culex_log_lines log; /* len 0: none; else they come behind those that the run has, of
                                   which the oldest go, and are kept as long as the run is */
};

enum culex_answer {
    CULEX_ANSWER_OK,
    CULEX_ANSWER_REPEATED, /* ack: this very result was recorded before, and the record is there */
    CULEX_ANSWER_STALE,    /* not the holder any more; nothing changed; counted in stats.stale */
    CULEX_ANSWER_GONE,     /* the store knows no such run */
    CULEX_ANSWER_CANCEL,   /* beat: still the holder, but somebody asked to cancel the run */
    CULEX_ANSWER_FAILED    /* ack: the run has failed for its follow-ups, which are in
                              follow_ups_left; a repeat may say OK */
};

struct culex_step {
    const char *queue;
    const char *session; /* the random token of this worker's life: 16 hex characters */
    uint64_t nonce;      /* greater than all before it of this session in this queue; the same
                            when the step is repeated: then it grants what it did, as far as that is
                            still held, with or without what somebody asked to cancel meanwhile */
    uint32_t want;       /* most runs to claim; 0 for none */
    uint32_t ahead;      /* so many of these, the last ones, would not start at once */
    bool in_company;     /* what is granted may run beside others: no suspect then, they keep their
                            places, but for those that have expired */
    uint32_t max_bytes;  /* of payload to claim, beyond the first run */
    const char *offers;  /* what the worker has free of all that it offers, "gpu:2,tape:0" (see
                            core/needs.h); NULL or "": it offers nothing */
    int64_t lease_ms;    /* 0 or more */
    const struct culex_ack *acks;
    size_t ack_count;
    const struct culex_beat *beats;
    size_t beat_count;
};

/* How many of the wanted runs would start at once. They are the first that are granted. */
static inline uint32_t culex__step_starts(const struct culex_step *step)
{
    return step->ahead < step->want ? step->want - step->ahead : 0;
}

/* A claimed run. */
struct culex_grant {
    struct culex_run_facts facts;
    const char *job;   /* wire name */
    const char *needs; /* as core/needs.h writes them; NULL: none */
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
                          yet are forgotten together: not sooner than CULEX_FORGET_GAP_MS. It may
                          be too early: while runs wait, and by what was retried or forgotten */
    bool is_paused;
    bool is_empty; /* nothing scheduled, waiting or active: a drain may end */
    bool is_held;  /* the claim ended at a suspect or a run in doubt, which wants a free handler, a
                      suspect also a step of its own. Not told again */
    bool has_passed; /* the claim passed by a suspect, which wants a worker without company. Not
                        told again */
    bool is_short;   /* the claim left runs whose needs are offered and do not fit: they want a STEP
                        when the worker has more units free. Not told again */
    bool is_replaced; /* another session has said HELLO under the name of this one: it is granted
                         nothing any more, and everything it says is STALE */
    bool is_late;     /* the session has sent a step with a greater nonce: nothing was done, and who
                         shares the session with others says the same again with one greater still.
                         Not told to one that was replaced */
    culex_error follow_ups_left; /* why some of the queue's follow-ups are still to be brought, or
                                    made their runs fail; CULEX_OK in code: none, as far as this
                                    call knows */
    bool has_brought;            /* follow-ups into some queue */
    enum culex_room room;
    bool lines_left; /* the store is short of room: it has kept none of the log lines that came with
                        beats and ends, all else has been recorded. Not told again */
    uint32_t expired_count;  /* runs that expired in this step; a repeat says 0 */
    enum culex_answer *acks; /* parallel to the request */
    enum culex_answer *beats;
    struct culex_grant *grants; /* at most as many as the step wanted */
    size_t grant_count;
    void *storage; /* the store's own */
};

/* --- BATCH ----------------------------------------------------------------------- */

enum culex_batch_act {
    CULEX_BATCH_OPEN, /* makes it; one that is there stays as it is */
    CULEX_BATCH_CALL, /* gives it its callback of one kind; what that kind tells may be true already
                       */
    CULEX_BATCH_CLOSE, /* no more than members of it, and who knows of them, bring new ones */
    CULEX_BATCH_AFTER, /* makes one of the run `run` alone, closed, and gives it the callback */
};

struct culex_batch_order {
    enum culex_batch_act act;
    const char *queue;
    culex_uuid id;         /* the caller's choice, random */
    culex_uuid parent;     /* OPEN: the batch of the queue that it is in; zeroes: none */
    int64_t open_ms;       /* OPEN: nobody has closed it by then: it is closed; 1 or more */
    int64_t keep_ms;       /* OPEN, AFTER: 0 or more */
    culex_uuid run;        /* AFTER */
    culex_batch_when when; /* CALL, AFTER */
    const struct culex_follow_up *call; /* CALL, AFTER: neither at_ms, idempotency key nor batch */
};

/* What of a queue's batches somebody has to see to. Each is counted up to CULEX_STORE_REVIEW_MAX.
 */
struct culex_batch_review {
    uint64_t open;         /* batches that nobody has closed yet */
    int64_t open_since_ms; /* store clock, of the first one of these; 0: none */
    uint64_t due; /* runs that STEPs of the queue are to bring: callbacks, and, in a store that
                     keeps them for that, follow-ups */
    int64_t now_ms;
};

/* --- other verbs ----------------------------------------------------------------- */

struct culex_tick {
    const char *queue;
    const char *schedule;            /* the job's wire name */
    int64_t tick_ms;                 /* store clock; 0: now */
    int64_t interval_ms;             /* 1 or more, to the next tick */
    bool is_of_calendar;             /* ticks lie at uneven distances */
    bool may_overlap;                /* with the schedule's newest run */
    const struct culex_new_run *run; /* NULL: the schedule begins; at_ms unused; delay_ms may carry
                                        the jitter */
    const void *template;            /* that run (store/template.h), for SCHEDULE_RUN */
    size_t template_len;             /* 0: as it was */
};

struct culex_tick_reply {
    bool is_enqueued;
    int64_t mark_ms; /* the schedule's newest tick after the call, 0 for none: the next is due at
                        mark + interval, or by the calendar the first one after it; when the tick is
                        due still, it was refused */
    int64_t now_ms;
};

/* A schedule as the store keeps it. */
struct culex_schedule_row {
    const char *name;
    int64_t mark_ms;   /* its newest tick */
    int64_t next_ms;   /* the one after it, as the newest TICK told; 0: none has told yet */
    culex_uuid newest; /* run; zeroes: none yet */
    bool is_paused, is_of_calendar, may_overlap;
    const void *template;
    size_t template_len; /* 0: no TICK has told it yet */
};

/* Rows in no order; see store/schedule_list.h. */
struct culex_schedule_list {
    struct culex_schedule_row *rows;
    size_t count, capacity;
    int64_t now_ms; /* store clock */
};

enum culex_schedule_act {
    CULEX_SCHEDULE_PAUSE,  /* ticks are taken without a run */
    CULEX_SCHEDULE_RESUME, /* from now on: ticks of the calendar up to now are not missed */
    CULEX_SCHEDULE_FORGET  /* as if it had never been */
};

/* --- the registry of workers ------------------------------------------------------------- */

/* What somebody wants of a worker; 0 in a member: nothing. */
struct culex_worker_wish {
    uint64_t number; /* greater than that of the wish before; 0: nothing has been wished */
    culex_switch quiet;
    bool is_stop;         /* it should end */
    uint32_t concurrency; /* runs at a time */
};

/* What a worker tells of itself. */
struct culex_worker_tell {
    const char *id;       /* of this life: up to CULEX_STORE_SESSION_MAX hex digits */
    bool is_leaving;      /* it ends: the entry goes; `sheet` is not used */
    uint64_t heard;       /* number of the newest wish that it has taken up; 0: none */
    uint32_t concurrency; /* the most runs at a time that it can have */
    const void *sheet;    /* whatever else there is to tell (store/worker_sheet.h) */
    size_t sheet_len;     /* at most CULEX_STORE_SHEET_MAX */
};

/* An entry. */
struct culex_worker_row {
    const char *id;
    int64_t told_ms; /* store clock */
    uint64_t heard;
    uint32_t concurrency;
    struct culex_worker_wish wish;
    const void *sheet;
    size_t sheet_len;
};

/* Rows in no order; see store/worker_list.h. */
struct culex_worker_list {
    struct culex_worker_row *rows;
    size_t count, capacity;
    int64_t now_ms; /* store clock */
};

/* A limit of a queue. */
struct culex_limit_row {
    const char *name;
    enum culex_limit_kind kind;
    culex_limit_value declared; /* as the newest run told */
    culex_limit_value set;      /* all 0: nothing was set */
    uint64_t keys;              /* that LIMIT_KEYS lists */
    uint64_t active, parked;    /* of all keys; parked: behind this limit */
};

/* Rows by name; see store/limit_list.h. */
struct culex_limit_list {
    struct culex_limit_row *rows;
    size_t count, capacity;
    int64_t now_ms; /* store clock */
};

/* A key of a limit of which something is kept. */
struct culex_limit_key_row {
    const char *key;
    uint64_t active, parked;
    int64_t next_ms; /* RATE: from now until there is a token; 0: there is one. Else 0 */
};

/* Rows by key, by their bytes; see store/limit_list.h. */
struct culex_limit_key_list {
    struct culex_limit_key_row *rows;
    size_t count, capacity;
    bool is_more; /* keys follow behind the last one */
    int64_t now_ms;
};

/* What a job keeps from run to run, in a queue. */
struct culex_metadata_row {
    const char *job;  /* its wire name */
    uint64_t version; /* never 0 */
    int64_t set_ms;   /* store clock, when it was set */
    const void *bytes;
    size_t len;
};

/* Rows by their jobs' names; see store/metadata_list.h. */
struct culex_metadata_list {
    struct culex_metadata_row *rows;
    size_t count, capacity;
    int64_t now_ms; /* store clock */
};

/* Whoever has been given a run. */
struct culex_holder {
    culex_uuid id;
    uint32_t attempt;
    const char *session;
};

struct culex_metadata_set {
    const char *job;
    uint64_t before;  /* the version that it replaces; 0: nothing is kept; CULEX_METADATA_ANY */
    uint64_t version; /* drawn by whoever sets it, up to CULEX_METADATA_VERSION_MAX, so that a
                         repeat is known; 0: nothing is kept of the job any more */
    const void *bytes;
    size_t len;                        /* at most CULEX_METADATA_BYTES_MAX */
    const struct culex_holder *holder; /* set only while it holds the run; NULL: it is no run's */
};

/* Which schema. */
struct culex_schema_id {
    const char *job;      /* wire name */
    uint64_t fingerprint; /* not 0, as is the digest; only who asks for a text may say 0: any */
    uint64_t digest;      /* of its text: culex__schema_digest */
};

/* The text of a schema. */
struct culex_schema_text {
    struct culex_schema_id id;
    const char *text;
    size_t len; /* 1..SCHEMA_BYTES_MAX */
};

/* What is told of it without the text. */
struct culex_schema_row {
    struct culex_schema_id id;
    int64_t told_ms; /* store clock, within SCHEMA_TOLD_GAP_MS of when somebody told it last */
    size_t len;
};

/* Rows by their jobs' names, of a job the newest told first; see store/schema_list.h. */
struct culex_schema_list {
    struct culex_schema_row *rows;
    size_t count, capacity;
    int64_t now_ms; /* store clock */
};

/* A schema that no run needs, as whoever has looked for such a run knows it. */
struct culex_schema_drop {
    struct culex_schema_id id;
    int64_t looked_ms; /* when he began: now_ms of SCHEMA_SWEEP */
    uint64_t arrivals; /* as that told them */
};

#define CULEX_METADATA_ANY         UINT64_MAX
#define CULEX_METADATA_VERSION_MAX ((UINT64_C(1) << 53) - 1)

/* Figures of one job: of an hour, or what is to be added to those of now. */
struct culex_figure_row {
    int64_t hour;     /* since 1970; not used with FIGURES_ADD */
    const char *job;  /* wire name; "" only in an answer: jobs for which there was no row */
    const char *text; /* core/figures.h */
};

/* Rows by hour, and in an hour by job, by its bytes; see store/figure_list.h. */
struct culex_figure_list {
    struct culex_figure_row *rows;
    size_t count, capacity;
    bool is_more; /* rows follow behind the last one */
    int64_t now_ms;
};

/* A page of events, in their order: see store/event_entry.h. */
struct culex_event_job {
    struct culex_event_job *next;
    char name[];
};
struct culex_event_list {
    culex_event *of;
    size_t count, capacity;
    uint64_t position; /* behind all that was looked at */
    uint64_t newest;   /* of the queue, whether it is among them or not; 0: it never had any */
    uint64_t kept;     /* so many are */
    bool is_gap;
    bool is_from_oldest; /* nothing before the first one is missed */
    struct culex_event_job *jobs;
};

/* An entry is there for so long before and after what the store's clock said when it was told. */
enum { CULEX_WORKER_GONE_MS = 30000 };

/* An entry that says the same is written again when it is so old: an idle worker hardly writes. */
enum { CULEX_WORKER_STILL_MS = 10000 };

/* Where a run is to stand that waits or is scheduled. */
struct culex_place {
    bool has_time;    /* else it is due when it was */
    int64_t delay_ms; /* as of a new run, and at_ms */
    int64_t at_ms;
    int priority; /* 0..9; -1: as it was */
};

/* In place of a state: runs of every state. */
#define CULEX_LIST_ANY CULEX_RUN_STATE_COUNT

/* The filter that takes all runs of a state; or of all states, for CULEX_LIST_ANY. */
#define CULEX_LIST_OF(state) (&(const culex_list_filter){.states = culex__list_states(state)})

static inline unsigned culex__list_states(culex_run_state state)
{
    return state == CULEX_LIST_ANY ? 0 : CULEX_LIST_STATE(state);
}

/* Where a listing begins. */
#define CULEX_LIST_START ((culex_list_cursor){.place = 0})

struct culex_list_reply {
    culex_run_info *runs; /* payload, result and error text empty */
    size_t count;
    culex_list_cursor cursor; /* its place is 0 at the end */
    void *storage;
};

/* Frees what the members of `run` own, but not `run`, which may stand in a list. */
void culex__run_info_release(culex_run_info *run);

/* What culex_run_info_free does. Accepts half-built ones, and NULL. */
void culex__run_info_free(culex_run_info *run);

struct culex_purge_reply {
    size_t deleted;
    bool is_more; /* some may be left in that state, even when nothing was deleted */
};

struct culex_fsck_reply {
    uint64_t cursor; /* where to go on; 0 at the end */
    culex_fsck_counts counts;
};

/* The verbs of store/verbs.def, and what has no answer. A table may leave out all but now and
 * close: a verb that is left out is CULEX_EUNSUPPORTED. With enqueue, hello and step, runs are
 * enqueued and worked off; without wake_arm workers ask for work from time to time. step needs
 * step_release, list needs list_release, and wake_arm and wait_arm need wake_take and wake_disarm.
 */
#define CULEX__STORE_PRODUCER_LACKS                                                                \
    "this program is linked with a library that only enqueues; link libculex for this"

struct culex_store_ops {
    const char *name;  /* "sqlite", "redis" */
    const char *lacks; /* the error text for verbs that are left out; NULL: the common one */

#define VERB(name, effect, parameters, arguments, check) culex_status(*name) parameters;
#include "store/verbs.def"
#undef VERB

    /* Hands a step to the store without waiting for what becomes of it: the verb `step` with the
     * same queue, session and nonce, and the same acks and beats, does so, and is as right without.
     * Between the two other verbs may come, and steps of other queues. True when it is on its way.
     * NULL: this store has nobody who would work at it meanwhile. */
    bool (*step_send)(struct culex_store *store, const struct culex_step *step);

    void (*step_release)(struct culex_store *store, struct culex_step_reply *reply);
    /* Any thread may, whatever others do with the store. */
    void (*list_release)(struct culex_store *store, struct culex_list_reply *reply);

    /* Withdraws the request of wake_arm or wait_arm: from now on only others are woken. A wake-up
     * that came just before is lost, so a STEP of each queue must follow, which wakes another
     * worker if there is work. Waits for the store for a short time; cannot fail. Nothing happens
     * when nothing is armed. */
    void (*wake_disarm)(struct culex_store *store);

    /* Writes what tells this store from others that this machine can reach, the same in each
     * process and without a secret; cut to fit. "" when no other process can have it. NULL: the
     * same. */
    void (*place_tell)(const struct culex_store *store, char *ret_text, size_t size);

    /* Frees the store. Accepts half-built ones. */
    void (*close)(struct culex_store *store);

    /* Takes the place of close in a process that was forked from the one that opened the store:
     * frees memory, sends nothing to the store and leaves the locks of both processes as they are.
     * NULL: close does no more than that. */
    void (*abandon)(struct culex_store *store);
};

/* First member of every store's own struct. */
struct culex_store {
    const struct culex_store_ops *ops;   /* for callers: checks the arguments, then asks `table` */
    const struct culex_store_ops *table; /* the store's own */
    const struct culex_env *env;
    const atomic_int_fast64_t *until_ns; /* of the options */
    bool tears;       /* a refused call may leave a part behind, which FSCK clears away */
    bool sends_ahead; /* it has step_send */
};

/* Begins a store whose functions are those of `table`. */
void culex__store_init(struct culex_store *store, const struct culex_store_ops *table,
                       const struct culex_env *env, const atomic_int_fast64_t *until_ns);

/* As place_tell above. */
void culex__store_place_tell(const struct culex_store *store, char *ret_text, size_t size);

/* The earlier of a deadline of one's own and what the caller allows now. */
static inline int64_t culex__store_earlier_ns(const struct culex_store *store, int64_t own_ns)
{
    const struct culex_deadline deadline = {own_ns, store->until_ns};
    return culex__deadline_ns(&deadline);
}

/* What every store takes; store/argument.c refuses the rest. */
enum {
    CULEX_STORE_BATCH_MAX = 1000, /* runs to enqueue, acks, beats, claims, queues to wait for */
    CULEX_STORE_EACH_MAX = 64,    /* runs to enqueue, each as a call of its own */
    CULEX_STORE_PAGE_MAX = 1000,  /* runs on a page of LIST, but for CULEX_LIST_ANY; keys on one of
                                       LIMIT_KEYS */
    CULEX_STORE_PURGE_MAX = 500,  /* runs that one PURGE deletes */
    CULEX_STORE_FIGURES_MAX = 64, /* rows of a call of figures */
    /* One more than programs ask for: the event that a follower was told last, by which its
     * position is found to be of this history. */
    CULEX_STORE_EVENTS_KEPT_MAX = CULEX_EVENTS_KEPT_MAX + 1,
    CULEX_STORE_EVENTS_PAGE_MAX = CULEX_EVENTS_PAGE_MAX + 1,
    CULEX_STORE_EVENTS_BYTES = 262144, /* entries of a page of events, but for its first one */
    CULEX_STORE_REVIEW_MAX = 1000,     /* of what BATCH_REVIEW counts */
    CULEX_STORE_WAIT_MAX = 200,        /* runs that one WAIT asks about */
    CULEX_STORE_SESSION_MAX = 32,      /* hex digits */
    CULEX_STORE_WORKER_MAX = 127,      /* bytes of a worker's name */
    CULEX_STORE_KEY_MAX = 64,          /* bytes of a unique key */
    CULEX_STORE_METADATA_MAX = 256,    /* jobs of a queue that keep metadata */
    CULEX_STORE_SCHEMAS_MAX = 512,     /* schemas that a queue keeps */
    CULEX_STORE_WORKERS_MAX = 2048,    /* entries of the registry of workers */
    CULEX_STORE_SHEET_MAX = 8192,      /* bytes of what a worker tells of itself */
    CULEX_STORE_IDEMPOTENCY_MAX = 255, /* bytes of an idempotency key */
    CULEX_STORE_PREFIX_MAX = 64        /* bytes of a prefix of keys */
};
/* Longest that a note of WAIT is good. */
#define CULEX_STORE_WAIT_NOTE_MAX_MS  INT64_C(60000)
/* Longest that a batch may be open. */
#define CULEX_STORE_BATCH_OPEN_MAX_MS (366 * INT64_C(86400000))
#define CULEX_STORE_CURSOR_MAX        INT64_MAX /* greatest place where a page of LIST begins */
#define CULEX_STORE_PAUSE_MAX_MS      CULEX_DELAY_MAX_MS /* longest pause that ends by itself */
/* Longest window of a unique key. */
#define CULEX_STORE_UNIQUE_FOR_MAX_MS (30 * INT64_C(86400000))

/* What the caller has chosen, parameters of the URL included: see culex__store_params_read. */
struct culex_store_options {
    const char *prefix;      /* Redis: NULL means "culex" */
    int64_t timeout_ms;      /* 0: 5000; longest time one operation may take */
    int64_t opening_ms;      /* 0: as timeout_ms; the same of the opening, which nobody repeats */
    const char *synchronous; /* SQLite: NULL means "full" */
    const char *folder;      /* what a relative path counts from: see platform/path.h */
    bool must_exist;  /* SQLite: CULEX_ECONNECT where a file would be made, or an empty one used */
    bool may_be_away; /* Redis: a server that cannot be reached is no failure of the opening */
    bool connects_later; /* Redis: when it is asked for something first */
    /* Boot time; no operation goes on after it. 0, or no such place: none. May be moved while an
     * operation waits, which sees it within 250 ms. */
    const atomic_int_fast64_t *until_ns;
};

/* CULEX_EINVAL for a prefix of keys that no store takes. */
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
 * CULEX_EURL when no store takes the URL, CULEX_EUNSUPPORTED when this build lacks the one that
 * does. `options` may be NULL. */
culex_status culex__store_open(const char *url, const struct culex_store_options *options,
                               const struct culex_env *env, struct culex_store **ret_store,
                               culex_error *error);

#endif
