/* client/claim_step.h - a STEP for a claim, by whichever client has its token.
 *
 * Acks and beats count from the session that claimed, and each step of a session needs a greater
 * nonce than all before it (store/store.h). Where several programs speak for one session nobody
 * counts for all of them: each takes the store's clock, and goes ahead of it when it is told that
 * it came late. A client claims as some sessions in turn, so that two programs seldom meet in one;
 * their number is fixed, for a store remembers each for an hour. */
#ifndef CULEX_CLIENT_CLAIM_STEP_H
#define CULEX_CLIENT_CLAIM_STEP_H

#include "client/client_private.h"

struct culex_claim_step {
    struct culex_step step;                    /* but for its session and nonce */
    char session[CULEX_STORE_SESSION_MAX + 1]; /* "": one of the client's, which is set */
    /* Called once with the reply, in the client's turn; it was asked for `ago_ms` ago. */
    culex_status (*take)(void *arg, const struct culex_step_reply *reply, int64_t ago_ms,
                         culex_error *error);
    void *arg;
    bool was_repeated; /* it was sent again under another nonce, and may have been done before */
};

/* As culex__client_perform. */
culex_status culex__claim_step_perform(culex_client *client, struct culex_claim_step *step,
                                       culex_error *error);

/* CULEX_EINVAL, CULEX_EUNSUPPORTED, or CULEX_OK for a client that can claim. */
culex_status culex__claim_client_check(const culex_client *client, culex_error *error);

/* A lease of 200 ms to a day in ms, 30 s for 0. */
culex_status culex__claim_lease_check(culex_duration lease, int64_t *ret_lease_ms,
                                      culex_error *error);

#endif
