/* culex/claims.h - runs for workers that are no programs of Culex: claimed one by one, by a program
 * that stands between them and the store.
 *
 * Such a program, as a gateway of HTTP is, claims a run for somebody far away, hands the payload
 * and the token of its lease over, and tells the store by that token what becomes of the run. The
 * token is all that has to be kept: any program that has the store open takes it, whichever claimed
 * the run, so there may be several gateways, and each may be restarted.
 *
 * Runs are claimed under the same rules as a worker's: pauses, limits, priorities, needs, times and
 * expiry count, and so does what other workers do on the queue. While the lease lasts nobody else
 * has the run. When it ends without a word, the run is given back and charged with a loss, as that
 * of a worker that died; whoever claims next, or works on the queue, finds it.
 *
 * The fence is the store's: what a token says counts only as long as its attempt holds the run. A
 * completion after that is CULEX_ESTALE and changes nothing, so one attempt completes a run at the
 * most. It is refused from when the run was given back, not from when the lease ended: where nobody
 * works on the queue in between, one that comes late still counts.
 *
 * A token is no password. Its session, 64 random bits, is in the tokens of other claims of the same
 * client, too: who has one token and knows id and attempt of another run can speak for that one. So
 * all who are given tokens of one gateway trust each other, and it checks who calls it.
 *
 * Values of [[secret]] params are hidden in error texts and progress texts, as a worker hides them
 * (culex/worker.h), where the queue keeps the schema that the run was enqueued with
 * (culex/schemas.h), of several the one that was told last: for the first text about a run the
 * client reads run and schema, two questions to the store, and knows the values for those to come.
 * Where the queue keeps no such schema nobody knows what is secret, and texts are kept as they are;
 * one that is told later counts ten seconds later at the most. All of a text is hidden where the
 * payload is not as its schema has it.
 *
 * What a worker of Culex does and a claim does not: figures and the registry of workers know
 * nothing of claims; nothing enforces a run's timeout but the end of its lease; steps of chains are
 * not claimed, as what comes next is made by a worker that has the chain; encrypted params are
 * sealed in the payload (but see culex_claim_params), and an encrypted result cannot be given.
 * Members of a payload whose names begin with '!' must be understood by whoever executes it.
 *
 * Clients, threads and errors are as in culex/client.h. A handler's client cannot claim
 * (CULEX_EUNSUPPORTED), and a program that is linked with a library for producers has none of these
 * calls. In Redis they need the rights of a worker.
 */
#ifndef CULEX_CLAIMS_H
#define CULEX_CLAIMS_H

#include <culex/client.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CULEX_CLAIM_TOKEN_SIZE = 256 };

/* Zero-initialise. Strings are borrowed for the call. */
typedef struct culex_claim_options {
    const char *const
        *jobs; /* stored names of the jobs that are wanted; NULL: all. A run of another job goes
                  back uncharged for about a second, so a worker that wants it may find it so
                  much later, or some seconds where both look all the time; it keeps its place
                  among those like it, has the error text "a claim wanted other jobs", and what it
                  took of a rate is gone. Behind many of them some 200 a second are passed by.
                  Better have a queue for each kind of worker */
    size_t job_count;
    const char *offers;   /* what there is for runs that need something, "gpu:1"; NULL: nothing */
    culex_duration lease; /* 200 ms to a day; 0: 30 s */
    culex_duration wait;  /* for a run to come, up to an hour; 0: none. A queue is looked at ten
                             times a second, however many threads of a client wait for its runs
                             with the same jobs and offers */
} culex_claim_options;

/* A run that is held. Everything it points to is owned by it. */
typedef struct culex_claim {
    const char *token; /* of its lease: letters, digits and "._-:", less than CULEX_CLAIM_TOKEN_SIZE
                          bytes */
    culex_uuid id;
    const char *queue, *job; /* job: its stored name */
    uint64_t fingerprint;    /* of the schema that encoded the payload: see culex/schemas.h */
    uint32_t attempt;        /* counted from 1 */
    uint32_t failures, crashes, losses; /* before this attempt */
    uint32_t attempts_max;
    culex_bytes payload;            /* as it is stored: a JSON object, with a NUL behind it */
    int64_t created_ms, claimed_ms; /* store clock, ms since 1970, as the next */
    int64_t lease_ends_ms;
    int64_t times_out_ms; /* when its job's timeout is over; 0: it has none */
} culex_claim;

/* Claims the run of `queue` whose turn it is. CULEX_OK and NULL: there was none in that time.
 * *ret_claim is returned owned: culex_claim_free. A queue that nobody has used has no runs.
 * `options` may be NULL. CULEX_EUNKNOWN: a run may be held of which nobody knows; it goes back at
 * the end of its lease. */
CULEX_API CULEX_MUST_USE culex_status culex_client_claim(culex_client *client, const char *queue,
                                                         const culex_claim_options *options,
                                                         culex_claim **ret_claim,
                                                         culex_error *error);

/* The params of a claimed run by the schema that it was enqueued with, as JSON with a NUL that
 * *ret_len (may be NULL) does not count: the defaults of params that the payload lacks are there,
 * but for those that are secret, and encrypted params are opened by the client's keys.
 * CULEX_ENOTFOUND: the queue does not keep that schema (culex/schemas.h), and the payload is all
 * that is known. CULEX_ENOKEY: the client has not the key. CULEX_EDECODE, CULEX_EUNDERSTAND: the
 * payload is not as that schema has it, or the schema is of a later version. CULEX_EUNSUPPORTED:
 * the client has keys, and this program no cipher (it is not linked with culex-seal). Any other
 * status tells nothing of the params: whoever hands out the bare payload then hands out a run
 * without its defaults; release it. *ret_text is returned owned, to be given back with free(). */
CULEX_API CULEX_MUST_USE culex_status culex_claim_params(culex_client *client,
                                                         const culex_claim *claim, char **ret_text,
                                                         size_t *ret_len, culex_error *error);

/* Accepts NULL, and leaves the lease as it is. */
CULEX_API void culex_claim_free(culex_claim *claim);

/* The calls below take the token of a lease. CULEX_EINVAL: it is none. CULEX_ESTALE: that lease
 * does not hold the run any more, which may be another's by now, and nothing was changed.
 * CULEX_ENOTFOUND: the store has no such run, or has it no more. */

/* What whoever executes a run is to do. */
typedef enum CULEX_INT_ENUM culex_claim_order {
    CULEX_CLAIM_GO_ON,
    CULEX_CLAIM_CANCEL, /* somebody has cancelled the run: end it, by a failure or a release, and it
                           is cancelled. A completion still counts */
    CULEX_CLAIM_TIME_OUT /* its job's timeout is over: fail it. Its lease gets no longer */
} culex_claim_order;

/* Zero-initialise. */
typedef struct culex_claim_beat {
    culex_duration lease; /* from now, as of culex_claim_options; 0: as long as the claim's was */
    bool has_progress;
    int progress;              /* percent, -1 for unknown */
    const char *progress_text; /* NULL: none; cut at 250 bytes */
} culex_claim_beat;

typedef struct culex_claim_pulse {
    culex_claim_order order;
    int64_t lease_ends_ms; /* store clock */
} culex_claim_pulse;

/* Makes the lease longer, though not beyond the job's timeout and 5 s, and tells how far the run
 * is. `beat` may be NULL. */
CULEX_API CULEX_MUST_USE culex_status culex_claim_heartbeat(culex_client *client, const char *token,
                                                            const culex_claim_beat *beat,
                                                            culex_claim_pulse *ret_pulse,
                                                            culex_error *error);

/* How an attempt ends is said by one of the three calls below. Said again, or after another one, by
 * the same token, nothing is changed, and the answer is
 *
 *     first       then complete        then fail, release   then heartbeat
 *     complete    OK, or ECONFLICT     ECONFLICT            ESTALE
 *     fail        ESTALE               ESTALE               ESTALE
 *     release     ESTALE               ESTALE               ESTALE
 *
 * A completion said again is CULEX_OK when it says the same: results are compared by what the
 * schema reads in them, where the queue keeps it, and elsewhere as texts, but for white space
 * between tokens. CULEX_ECONFLICT: the run has already ended with another result, and that stands.
 * So it is as long as the record of the run is kept, and CULEX_ENOTFOUND after that. Nothing is
 * remembered of who has failed or given back, so that is as behind the end of a lease. */

/* The run is done. `result`, of `len` bytes, is a JSON object as the job's schema has it, NULL for
 * none. Where the queue keeps the schema that the run was enqueued with (culex/schemas.h) the
 * result is read by it first: CULEX_EDECODE names what does not fit, and the run stays claimed;
 * CULEX_EINVAL: the job returns nothing. */
CULEX_API CULEX_MUST_USE culex_status culex_claim_complete(culex_client *client, const char *token,
                                                           const void *result, size_t len,
                                                           culex_error *error);

/* Zero-initialise. */
typedef struct culex_claim_failure {
    const char *text; /* what went wrong, kept with the run, cut at 4 KiB, and as one of its log
                         lines (culex/lines.h); NULL: nothing was said */
    bool is_final;    /* trying again is pointless: the run is dead */
    bool has_delay;   /* else as the job's `retry` says, where the queue keeps the schema that the
                         run was enqueued with; else 2 s times the square of the failures so far */
    culex_duration delay; /* until the next attempt */
} culex_claim_failure;

/* The attempt has failed. There is another one while the run has any left. `failure` may be NULL.
 */
CULEX_API CULEX_MUST_USE culex_status culex_claim_fail(culex_client *client, const char *token,
                                                       const culex_claim_failure *failure,
                                                       culex_error *error);

/* Gives the run back: it is charged nothing, and others find it at once, or after `delay`. */
CULEX_API CULEX_MUST_USE culex_status culex_claim_release(culex_client *client, const char *token,
                                                          culex_duration delay, culex_error *error);

#ifdef __cplusplus
}
#endif
#endif
