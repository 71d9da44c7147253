/* store/redis/redis.h - the Redis store: its struct, and the verbs of its files.
 *
 * Each file may call those below it, never one above:
 *
 *   opening.c   opening, closing, the table of operations
 *   doctor.c    what the server's settings promise, by what the next three find
 *   access.c    who gets at the queues            durability.c   what survives a crash
 *   facts.c     what the doctor asks the server
 *   step.c      STEP                              follow_up.c    runs that come in with its ends
 *   batch.c     BATCH and BATCH_LOOK
 *   enqueue.c   ENQUEUE, TICK, SCHEDULE_RUN
 *   schedules.c the other verbs on schedules      workers.c      the registry of workers
 *   manage.c    HELLO, what an operator changes   info.c         what he reads
 *   limits.c    the verbs on limits               fsck.c         FSCK, a share a call
 *   wait.c      WAIT, and sleeping until a run has ended
 *   metadata.c  what jobs keep from run to run
 *   schemas.c   the texts of schemas
 *   figures.c   what workers count of runs
 *   events.c    what became of runs
 *   wake.c      sleeping until there is work
 *   call.c      one script, called once: keys, arguments, EVALSHA and EVAL
 *   greeting.c  makes a connection ready          conn.c         the connection
 *   request.c   what goes over it                 reply.c        what comes back
 *   record.c    the text of a run's record        target.c       what the URL says
 *   unpack.c    the texts of scripts that are packed
 *
 * schemas/record.md specifies keys and records. */
#ifndef CULEX_STORE_REDIS_REDIS_H
#define CULEX_STORE_REDIS_REDIS_H

#include "store/redis/greeting.h"
#include "store/redis/script.h"

enum { CULEX__REDIS_WAITER_SIZE = 17 };
enum { CULEX__REDIS_PREFIX_MAX = CULEX_STORE_PREFIX_MAX, CULEX__REDIS_TIMEOUT_MS = 5000 };

/* What stands in keys in the place of a queue for what belongs to none: no queue has such a name.
 */
#define CULEX__REDIS_NO_QUEUE "#"

/* Lanes of ids (core/run_id.h). */
enum { CULEX__REDIS_LANE_RECORDS, CULEX__REDIS_LANE_LINE };

/* 126 years, and the year 2160: with these, no sum of instants and delays reaches 10^13, up to
 * which Lua's texts of them are exact. */
#define CULEX__REDIS_DELAY_MAX   INT64_C(4000000000000)
#define CULEX__REDIS_INSTANT_MAX INT64_C(6000000000000)

/* A queue that this store has written to: the last thousand of them are known. */
struct culex__redis_queue {
    struct culex__redis_queue *next;
    enum culex__redis_level level; /* of the commands that were tried */
    uint64_t generation;           /* on the connection with this number; 0: to be tried again */
    int64_t
        named_until_ns; /* until then it is taken to stand in PREFIX:queues; 0: never put there */
    uint32_t salt;      /* of the ids of its runs, should this store begin it (core/run_id.h) */
    /* Follow-ups into it, and listing those that it keeps, are not tried before; why they were not
     * brought. */
    int64_t follow_ns;
    int64_t follow_from; /* the place of those that are looked at next, behind some that stay */
    culex_error follow_error;
    /* By its last step here, the next one may be tried fast until then; 0: it may not. */
    int64_t calm_until_ns;
    bool tells_events; /* by its last step here: then a fast one says which runs have ended */
    char name[];
};

struct culex__redis_wake {
    struct culex__redis_conn conn;
    bool is_armed;
    int64_t until_ns; /* by then the server should have answered */
};

/* The step that was sent ahead: see step_send in store.h. */
struct culex__redis_ahead {
    struct culex__redis_queue *queue; /* NULL: none was */
    uint64_t nonce;
    char session[CULEX_STORE_SESSION_MAX + 1];
};

struct culex__redis {
    struct culex_store base;
    struct culex__redis_target target;
    struct culex__redis_conn conn;
    struct culex__redis_request request; /* kept between calls for its memory */
    struct culex__redis_wake wake;
    struct culex__redis_ahead ahead;
    char waiter[CULEX__REDIS_WAITER_SIZE]; /* see redis/wait.c; "": it has none yet */
    struct culex__redis_queue *queues;
    struct culex__redis_queue *call_queue; /* of the call under way; NULL: it only reads */
    enum culex__redis_level call_level;
    struct culex__redis_fsck *fsck; /* NULL: none under way */
    char prefix[CULEX__REDIS_PREFIX_MAX + 1];
    int64_t timeout_ms;
    bool is_never_fast; /* set by tests that compare both scripts of STEP */
};

static inline struct culex__redis *culex__redis_of(struct culex_store *base)
{
    return (struct culex__redis *)base;
}

/* --- redis/call.c -------------------------------------------------------------------- */

/* What is known of the queue, made when there is nothing yet; NULL when out of memory. */
struct culex__redis_queue *culex__redis_queue_find(struct culex__redis *redis, const char *name);

/* Starts a call of `script` on `queue`, or on CULEX__REDIS_NO_QUEUE: keys and the time. */
culex_status culex__redis_begin(struct culex__redis *redis,
                                const struct culex__redis_script *script, const char *queue,
                                culex_error *error);

/* The same of a script that takes one more key, of the queue `other`, behind its own. */
culex_status culex__redis_begin_beside(struct culex__redis *redis,
                                       const struct culex__redis_script *script, const char *queue,
                                       const char *other, size_t key, culex_error *error);

static inline void culex__redis_id(struct culex__redis *redis, culex_uuid id)
{
    culex__redis_request_add(&redis->request, id.b, sizeof id.b);
}

/* Sends the call and returns the script's answer; freeReplyObject() frees it. On a connection on
 * which nothing was written to the queue yet, it first tries the commands that scripts need: one
 * that is denied midway would leave a script half done. */
culex_status culex__redis_finish(struct culex__redis *redis,
                                 const struct culex__redis_script *script, redisReply **ret_reply,
                                 culex_error *error);

/* Sends the call, whose answer culex__redis_collect() waits for; another call may come between.
 * False, and nothing was sent, where more than that is to be done first. */
bool culex__redis_finish_later(struct culex__redis *redis,
                               const struct culex__redis_script *script);

/* As culex__redis_finish, of what was sent. *ret_reply is NULL when the server does not know the
 * script: then nothing was done. */
culex_status culex__redis_collect(struct culex__redis *redis, redisReply **ret_reply,
                                  culex_error *error);

/* "not what the script answers": damaged on the way, or by another program. */
culex_status culex__redis_bad_reply(struct culex__redis *redis, const char *script,
                                    culex_error *error);

/* The instant by which a call that begins now must be over, boot time. */
int64_t culex__redis_deadline(const struct culex__redis *redis);

/* `delay_ms` as scripts take it: not negative, not beyond CULEX__REDIS_DELAY_MAX. */
int64_t culex__redis_delay(int64_t delay_ms);

/* Puts the name of `queue` into PREFIX:queues once more when this store did so a while ago. */
void culex__redis_announce(struct culex__redis *redis, const char *queue);

/* It is time for that. */
bool culex__redis_wants_announcement(const struct culex__redis *redis,
                                     const struct culex__redis_queue *queue);

/* CULEX_OK when the user may do what scripts of this level do to a queue, else the refusal. */
culex_status culex__redis_try(struct culex__redis *redis, const char *queue,
                              enum culex__redis_level level, culex_error *error);

/* Puts the name of `queue` into PREFIX:queues, now and again, the first time after trying the
 * commands that its scripts will need. */
culex_status culex__redis_register(struct culex__redis *redis, const char *queue, bool is_worker,
                                   culex_error *error);

/* Key `index` of `queue`, or PREFIX:queues for a NULL queue, as an argument of `request`. */
void culex__redis_key(const struct culex__redis *redis, struct culex__redis_request *request,
                      const char *queue, size_t index);

/* --- redis/unpack.c ------------------------------------------------------------------ */

/* The first `len` bytes of the packed texts, to be freed; NULL when out of memory. */
char *culex__redis_unpack(size_t len);

/* --- redis/enqueue.c ----------------------------------------------------------------- */

/* ORDER ENQUEUE_ARGUMENTS: a run as redis/lib_enqueue.lua reads it, six arguments. */
void culex__redis_run_add(struct culex__redis_request *request, const struct culex_new_run *run);

/* --- redis/follow_up.c --------------------------------------------------------------- */

/* Adds as one argument what `ack`, which has follow-ups, says besides the event: the result, and
 * for each of their queues its name and the runs. ORDER FOLLOW_UPS: redis/lib_acks.lua keeps it. */
void culex__redis_follow_ups_add(struct culex__redis_request *request, const struct culex_ack *ack);

/* Behind a STEP that says that some are kept: brings them. Those that stay, because a queue refuses
 * them or cannot be reached, are in the reply, with the reason; they are tried again in a while. */
void culex__redis_follow_ups_bring(struct culex__redis *redis, const struct culex_step *step,
                                   struct culex_step_reply *reply);

/* --- redis/wake.c -------------------------------------------------------------------- */

/* WAKE_ARM, of lists that are told by a queue's name and, behind a blank, what follows in theirs.
 */
culex_status culex__redis_wake_arm_at(struct culex_store *base, const char *const *bells,
                                      size_t count, int64_t timeout_ms, int *ret_fd,
                                      culex_error *error);

/* --- verbs --------------------------------------------------------------------------- */

/* culex__redis_enqueue and so on, each as store/verbs.def promises it. */
#define VERB(name, effect, parameters, arguments, check)                                           \
    culex_status culex__redis_##name parameters;
#include "store/verbs.def"
#undef VERB

bool culex__redis_step_send(struct culex_store *base, const struct culex_step *step);
void culex__redis_step_release(struct culex_store *base, struct culex_step_reply *reply);
void culex__redis_list_release(struct culex_store *base, struct culex_list_reply *reply);
void culex__redis_wake_disarm(struct culex_store *base);
/* Forgets the FSCK under way, if any. */
void culex__redis_fsck_release(struct culex__redis *redis);

#endif
