/* handler/errand.h - what a handler's client asks of its worker's store.
 *
 *   culex_run_client() -> errand_store.c --errand--> errand_serve.c -> the worker's store
 *                                          <--answer--
 *
 * A child has neither the URL of the store nor its password, so that its client's store only asks:
 * each call becomes an errand, which the supervisor serves between its turns. Handlers on threads
 * go the same way to a connection of their own. Both ends are the same program, so numbers go as
 * they lie in memory; but the one that asks may be broken, and what it sends is checked like a
 * message from an enemy. */
#ifndef CULEX_HANDLER_ERRAND_H
#define CULEX_HANDLER_ERRAND_H

#include "store/store.h"
#include "base/buf.h"
#include "base/limits.h"

/* Of an errand, and of an answer: a full batch of the client's, or a record with its payload and
 * result. */
enum { CULEX_ERRAND_MAX = 4 * 1024 * 1024 };

enum culex_errand_verb {
    CULEX_ERRAND_NOW = 1,
    CULEX_ERRAND_ENQUEUE,
    CULEX_ERRAND_GET,
    CULEX_ERRAND_CANCEL,
    CULEX_ERRAND_RETRY,
    CULEX_ERRAND_FORGET,
    CULEX_ERRAND_STATS,
    CULEX_ERRAND_BATCH,
    CULEX_ERRAND_BATCH_LOOK,
    CULEX_ERRAND_METADATA,
    CULEX_ERRAND_METADATA_SET
};

/* An errand begins with this; `count` runs follow ENQUEUE, an order BATCH (errand_batch.h). */
struct culex_errand {
    uint32_t verb;
    uint32_t count;
    culex_uuid id;
    struct culex_ticket ticket; /* of ENQUEUE; producer 0: none */
    char queue[CULEX_QUEUE_NAME_MAX + 1];
};

/* An answer begins with this. After CULEX_OK follows what the verb returns: results, a state, the
 * statistics, the time, what a batch has come to, or a run with its seven texts, payload and
 * result, each behind its length, or what a job keeps (errand_metadata.h). */
struct culex_errand_answer {
    culex_status status;
    culex_error error;
};

/* Serves one errand on `store` and fills `answer`, which is empty before. Never fails: what
 * cannot be read or done is what the answer says. True when runs may have been enqueued. */
bool culex__errand_serve(struct culex_store *store, const char *bytes, size_t len,
                         culex_buf *answer);

/* An answer that says `status` and `text` and nothing else. */
void culex__errand_refuse(culex_buf *answer, culex_status status, const char *text);

/* Has an errand served on the calling thread: culex__errand_serve with the right store. */
typedef void (*culex_errand_serve)(void *user, const char *bytes, size_t len, culex_buf *answer);

/* Carries an errand there and its answer back, until `deadline_ns` (boot time). CULEX_ECONNECT:
 * nobody has read it; CULEX_EUNKNOWN: it may be served yet; CULEX_EINVAL: nobody ever will. */
struct culex_errand_way {
    culex_status (*exchange)(void *self, const culex_buf *errand, int64_t deadline_ns,
                             culex_buf *answer, culex_error *error);
    void *self;
};

/* A store that enqueues, gets, cancels, retries and forgets runs, opens, closes and tells of
 * batches, tells statistics and the time, tells and sets what one job keeps, and refuses the rest
 * as CULEX_EUNSUPPORTED. `way` must stay. *ret_store is returned owned. */
culex_status culex__errand_store_open(const struct culex_errand_way *way, int64_t timeout_ms,
                                      const struct culex_env *env, struct culex_store **ret_store,
                                      culex_error *error);

#endif
