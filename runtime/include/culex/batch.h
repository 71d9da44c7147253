/* culex/batch.h - runs that are counted together, and what comes in when they have ended.
 *
 * culex_batch_open makes a batch. Callbacks are enqueued with options.batch and options.batch_when,
 * one of each kind at most, of any job and queue: P_enqueue() then gives no id, and the run comes
 * in when the batch tells so. Members are enqueued with options.batch alone, and go to the batch's
 * queue. culex_batch_close says that these were all. docs/guide.md has a program.
 *
 * A batch ends when it is closed and each member is done, dead for good or cancelled; a member that
 * is deleted before that counts as cancelled. Its end, the end of the members and the callbacks are
 * in the store: whatever dies meanwhile, each callback comes in once. A run that an operator
 * revives with culex_client_retry has been counted, and is no member any more.
 *
 * A batch that is closed takes new members as long as it has not ended, so a member may add some
 * while it runs, with culex_run_client(). Once it has ended that is CULEX_ESTATE, but for a run
 * that its idempotency key leads to. Only a run that is new is a member, none that a unique or
 * idempotency key leads to. A callback that is given again must be as before, also in its queue,
 * delay, priority, expiry and tags: another one of its kind is CULEX_ECONFLICT. A new one for what
 * can not come about any more is CULEX_ESTATE: CULEX_BATCH_ON_SUCCESS of a batch with a member that
 * is dead or cancelled or that nobody has closed in time, CULEX_BATCH_ON_DEATH of one that has
 * ended without a dead member. Follow-ups and
 * scheduled jobs are in no batch. A client with a spool sends members to the store or fails.
 *
 * A run that is enqueued with options.after waits for one that is there, and is the callback of a
 * batch that has that one as its member: see culex_client_enqueue.
 *
 * Callbacks come in, and batches that nobody has closed are closed, by the calls of workers of the
 * batch's own queue: without any, neither happens. A callback counts as come in also when another
 * run has its unique key then: that run stands for it, whatever the job's on_conflict says, or is
 * replaced by it as any run would be. culex_sqlite_enqueue takes members, and no callbacks:
 * CULEX_EUNSUPPORTED.
 *
 * All calls also go by the client of a run, culex_run_client(), in any isolation. A handler that is
 * killed or fails behind the open is executed again from its start, so what it does has to find
 * what it did: the batch has an idempotency key, and each member one of its own. Then all attempts
 * fill one batch, a callback that is given again is the same, and so is the close; the batch takes
 * the repeat of a member also when it has ended. A handler that is dead for good in the middle
 * leaves it to open_for.
 *
 * Clients, threads and errors are as in culex/client.h; each call may be repeated.
 */
#ifndef CULEX_BATCH_H
#define CULEX_BATCH_H

#include <culex/client.h>

/* Of the name of a batch, its NUL included. */
#define CULEX_BATCH_TEXT_SIZE 102

#ifdef __cplusplus
extern "C" {
#endif

/* A member that is 0 or NULL takes the default. */
typedef struct culex_batch_options {
    culex_duration open_for;     /* who has not closed it by then never will: it is closed, and ends
                                    without success. By default 7 days, at most 366 */
    culex_duration keep;         /* so long after its end it can be looked at; by default a day */
    const culex_batch *parent;   /* the batch, of the same queue, that it is a member of: done when
                                    it ends with success, dead when a member is, else cancelled; eight
                                    in each other at most */
    const culex_batch *again;    /* the batch of an open that was CULEX_EUNKNOWN, to repeat it */
    const char *idempotency_key; /* each call with it, for this queue, opens the same batch: what a
                                    handler sets, which may be executed again, to one of its run's
                                    id, say. NULL: none */
} culex_batch_options;

typedef struct culex_batch_info {
    uint64_t added; /* members that there ever were, batches among them */
    uint64_t done;  /* of these; what is left is still to end */
    uint64_t dead;
    uint64_t cancelled; /* or deleted */
    bool is_closed;
    bool is_ended;
    bool is_expired; /* nobody has closed it in time */
} culex_batch_info;

/* Begins a batch for runs of `queue`, which begins with it when it is new; one of that key that is
 * there stays as it is, be it closed or ended, and once it is forgotten another one begins.
 * `options` may be NULL. CULEX_ECONFLICT: it is there, and was opened in another parent or in none;
 * a batch in a batch has a key of its own. CULEX_ENOTFOUND and CULEX_ESTATE: there is no such
 * parent, or it has ended; CULEX_ELIMIT: too many in each other. CULEX_EUNKNOWN: the batch may be
 * there, and *ret_batch is it; repeat the call as it is when it has a key, else with it as
 * options.again, or, if a parent waits for it, close it once it can be reached. */
CULEX_API CULEX_MUST_USE culex_status culex_batch_open(culex_client *client, const char *queue,
                                                       const culex_batch_options *options,
                                                       culex_batch *ret_batch, culex_error *error);

/* Its members are there, but for those that members add. One without members ends at once, with
 * success. CULEX_ENOTFOUND: it is forgotten, or never was. */
CULEX_API CULEX_MUST_USE culex_status culex_batch_close(culex_client *client,
                                                        const culex_batch *batch,
                                                        culex_error *error);

/* What it has come to by now. CULEX_ENOTFOUND as above. */
CULEX_API CULEX_MUST_USE culex_status culex_batch_look(culex_client *client,
                                                       const culex_batch *batch,
                                                       culex_batch_info *ret_info,
                                                       culex_error *error);

/* Its name, QUEUE/ID, and back: for params, so that a callback can look at its batch and a member
 * add to it. `ret_text` has room for CULEX_BATCH_TEXT_SIZE. False for what is none. */
CULEX_API void culex_batch_format(const culex_batch *batch, char *ret_text);
CULEX_API bool culex_batch_parse(const char *text, culex_batch *ret_batch);

#ifdef __cplusplus
}
#endif

#endif
