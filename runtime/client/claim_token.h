/* client/claim_token.h - the token of a lease: a claim as a text that any process can go on with.
 *
 * "c1.ID.ATTEMPT.SESSION.CLAIM.TIMEOUT.LEASE.QUEUE": the fence of the store, when it has granted
 * the run and when the run's timeout is over (ms since 1970 on the store's clock), how many ms its
 * lease has, and where the run is. */
#ifndef CULEX_CLIENT_CLAIM_TOKEN_H
#define CULEX_CLIENT_CLAIM_TOKEN_H

#include <culex/claims.h>

#include "store/store.h"

enum { CULEX_CLAIM_LEASE_MIN_MS = 200, CULEX_CLAIM_LEASE_MAX_MS = 24 * 60 * 60 * 1000 };

struct culex_claim_token {
    culex_uuid id;
    uint32_t attempt;
    char session[CULEX_STORE_SESSION_MAX + 1];
    int64_t claim_ms;     /* for the ack (store/store.h); 0: the store wants none */
    int64_t times_out_ms; /* 0: it has none */
    int64_t lease_ms;     /* that was asked for */
    char queue[CULEX_QUEUE_NAME_MAX + 1];
};

void culex__claim_token_write(const struct culex_claim_token *token,
                              char ret_text[CULEX_CLAIM_TOKEN_SIZE]);

/* CULEX_EINVAL when the text, which may be NULL, was never written by the function above. */
culex_status culex__claim_token_read(const char *text, struct culex_claim_token *ret_token,
                                     culex_error *error);

#endif
