/* client/client_private.h - inside a client. */
#ifndef CULEX_CLIENT_CLIENT_PRIVATE_H
#define CULEX_CLIENT_CLIENT_PRIVATE_H

#include <sys/types.h>
#include <unistd.h>

#include <culex/client.h>

#include "client/effort.h"
#include "client/enqueue_gate.h"
#include "client/wait_desk.h"
#include "store/store.h"
#include "core/ticket.h"
#include "platform/storeclock.h"
#include "base/turn.h"

struct culex_claim_secrets;
struct culex_keys;
struct culex_publishing;
struct culex_spooling;

enum { CULEX_CLAIM_LOOKS = 16, CULEX_CLAIM_SECRETS = 64 };

/* What a client that claims runs has said in their names: see client/claim_step.h. */
struct culex_claiming {
    uint64_t salt;  /* of its sessions' names; 0: none is drawn yet */
    uint64_t nonce; /* the greatest that it has sent */
    unsigned next;  /* whose turn it is */
    /* At any time: see client/claim_rest.h. */
    atomic_uint_fast64_t looks[CULEX_CLAIM_LOOKS];
    _Atomic(struct culex_claim_secrets *) secrets[CULEX_CLAIM_SECRETS]; /* client/claim_secrets.h */
};

struct culex_client {
    const struct culex_env *env;
    pid_t owner;        /* the process that opened it */
    bool is_lent;       /* to handlers, who cannot close it */
    bool is_common;     /* of them all in this process: they set no hook */
    bool is_passing;    /* for one call, which nobody repeats: it has no producer */
    int64_t timeout_ms; /* of one public call */
    struct culex_enqueue_gate gate;
    struct culex_keys *own_keys;         /* NULL: none of its own */
    const struct culex_keys *keys;       /* these, or somebody else's */
    struct culex_publishing *publishing; /* NULL: it tells no schemas */

    struct culex_turn turn; /* guards everything below */
    struct culex_store *store;
    atomic_int_fast64_t until_ns; /* boot time, when the call under way ends; 0 between calls */
    unsigned efforts;             /* turns that were taken: a kit tells its calls apart by them */
    bool has_no_convoys;          /* the store has said so */
    struct culex_storeclock clock;
    /* Of this client's enqueue calls, the newest of each of its producers; producer 0: none is
     * drawn yet. The first makes those that go alone; the others come along in a convoy. */
    struct culex_ticket last[CULEX_STORE_EACH_MAX];
    culex_buf payloads;              /* kept from call to call */
    struct culex_spooling *spooling; /* NULL: what cannot be enqueued fails */
    struct culex_claiming claiming;

    struct culex_wait_desk desk; /* has a lock of its own, and what is not under that is as above */
};

/* Takes over `store` (closed also on failure). For tests and culex_client_open. */
culex_status culex__client_create(struct culex_store *store, int64_t timeout_ms,
                                  const struct culex_env *env, culex_client **ret_client,
                                  culex_error *error);

/* Where nothing was found: CULEX_ENOTFOUND, and which name may have been meant, when the store has
 * no such queue. One that cannot be asked counts as there. */
culex_status culex__client_queue_judge(culex_client *client, const char *queue, culex_error *error);

/* CULEX_EINVAL for a time to wait that is so short as a plain number of seconds is. */
culex_status culex__client_timeout_check(culex_duration timeout, culex_error *error);

/* As culex_client_open, of a store that is only looked at: see must_exist in store/store.h. */
culex_status culex__client_open_existing(const char *url, const culex_client_options *options,
                                         culex_client **ret_client, culex_error *error);

/* As culex_client_open, of one that looks into its spool first: it connects when something else is
 * asked for. */
culex_status culex__client_open_spool(const char *url, const culex_client_options *options,
                                      culex_client **ret_client, culex_error *error);

/* As culex__client_create without asking the store for anything yet, for handlers: only
 * culex__client_free ends it. NULL without memory. */
culex_client *culex__client_lend(struct culex_store *store, int64_t timeout_ms,
                                 const struct culex_env *env);

/* As culex_client_close, of lent ones too. */
void culex__client_free(culex_client *client);

/* This process opened it: a forked one has no connection of its own. */
static inline bool culex__client_is_ours(const culex_client *client)
{
    return client->owner == getpid();
}

/* Before the first ticket: learns the store's clock unless it is known. Nothing has been sent when
 * it fails, and its status says so. */
culex_status culex__client_know_clock(struct culex_effort *effort, culex_error *error);

/* That of the next enqueue call of producer `index`, 0 for a call that goes alone. In its turn, as
 * all that follows. */
struct culex_ticket culex__client_next_ticket_of(culex_client *client, size_t index);

/* The client's calls to come are those of other producers, each drawn for its first. What the old
 * ones called last stays their last call, so that it can be repeated. */
void culex__client_leave_producers(culex_client *client);

/* Learns the store's clock again, and leaves the producers, whose sequences may be ahead of it. */
culex_status culex__client_sync_clock(culex_client *client, culex_error *error);

#endif
