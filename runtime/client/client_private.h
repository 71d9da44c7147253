/* client/client_private.h - inside a client: shared by client.c and enqueue.c. */
#ifndef CULEX_CLIENT_CLIENT_PRIVATE_H
#define CULEX_CLIENT_CLIENT_PRIVATE_H

#include <sys/types.h>

#include <culex/client.h>

#include "store/store.h"
#include "core/uuid7.h"
#include "platform/storeclock.h"
#include "base/turn.h"

struct culex_effort;

struct culex_client {
    const struct culex_env *env;
    pid_t owner;        /* the process that opened it */
    bool is_lent;       /* to handlers, who cannot close it */
    int64_t timeout_ms; /* of one public call */

    struct culex_turn turn; /* guards everything below */
    struct culex_store *store;
    atomic_int_fast64_t until_ns; /* boot time, when the call under way ends; 0 between calls */
    struct culex_storeclock clock;
    struct culex_uuid7 ids;
    uint64_t random[256]; /* bits in stock for ids, used from the end */
    size_t random_left;
    culex_buf payloads; /* kept from call to call */
};

/* Takes over `store` (closed also on failure). For tests and culex_client_open. */
culex_status culex__client_create(struct culex_store *store, int64_t timeout_ms,
                                  const struct culex_env *env, culex_client **ret_client,
                                  culex_error *error);

/* The same without asking the store for anything yet, for handlers: only culex__client_free ends
 * it. NULL without memory. */
culex_client *culex__client_lend(struct culex_store *store, int64_t timeout_ms,
                                 const struct culex_env *env);

/* As culex_client_close, of lent ones too. */
void culex__client_free(culex_client *client);

/* Before the first id: learns the store's clock unless it is known. Nothing has been sent when it
 * fails, and its status says so. */
culex_status culex__client_know_clock(struct culex_effort *effort, culex_error *error);

/* The next id. In its turn, as all that follows. */
culex_uuid culex__client_next_id(culex_client *client);

/* Learns the store's clock again and forgets how far ids had got. */
culex_status culex__client_sync_clock(culex_client *client, culex_error *error);

/* One operation of a public call; `arg` is what it needs and where its answer goes. */
typedef culex_status (*culex_client_fn)(struct culex_store *store, void *arg, culex_error *error);

/* Calls `function` as an effort of its own. */
culex_status culex__client_perform(culex_client *client, culex_client_fn function, void *arg,
                                   culex_error *error);

/* How one public call copes with other threads and a store in trouble: it waits for its turn and
 * repeats until its time is up. Nothing that it does takes longer. */
struct culex_effort {
    culex_client *client;
    int64_t deadline_ns;
    uint32_t failures;
    bool is_unknown; /* a try may have been applied without our knowing */
};

/* CULEX_EINVAL in a process forked from the one that opened the client: connection, ids to come and
 * perhaps the turn are the parent's there, and two processes that used them would draw equal ids.
 * CULEX_EBUSY when other threads used the client for as long as this call may take. After CULEX_OK
 * the client is the caller's until culex__effort_end. */
culex_status culex__effort_begin(culex_client *client, struct culex_effort *ret_effort,
                                 culex_error *error);

/* True when the try that gave `status` should be repeated; it has waited then. */
bool culex__effort_again(struct culex_effort *effort, culex_status status);

/* The status of the tries so far: CULEX_EUNKNOWN when one may have been applied and the last one
 * got no certain answer. */
culex_status culex__effort_judge(const struct culex_effort *effort, culex_status status,
                                 culex_error *error);

/* Judges, and gives the client back. */
culex_status culex__effort_end(const struct culex_effort *effort, culex_status status,
                               culex_error *error);

#endif
