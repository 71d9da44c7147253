/* client/claim_secrets.h - the secret values of claimed runs that a client knows, kept from one
 * text about a run to the next.
 *
 * Whoever wants them takes them out, and puts them back: so there is no lock, and two threads with
 * texts about one run at a time read it twice. Each run has one place, which it shares with others;
 * who comes last has it. */
#ifndef CULEX_CLIENT_CLAIM_SECRETS_H
#define CULEX_CLIENT_CLAIM_SECRETS_H

#include <culex/codec.h>

#include "client/client_private.h"

struct culex_claim_secrets {
    culex_uuid id;
    int64_t until_ms;   /* boot time; then they are to be read again. 0: never */
    bool is_unreadable; /* nobody knows what is secret: any text may show it */
    culex_buf texts;    /* as core/secret.h has them */
};

/* None of the run `id`. NULL without memory. */
struct culex_claim_secrets *culex__claim_secrets_create(culex_uuid id);

/* Those of the run `id`, owned; NULL: they are not known. */
struct culex_claim_secrets *culex__claim_secrets_take(culex_client *client, culex_uuid id);

/* Takes them over, and keeps them unless they are very large. */
void culex__claim_secrets_put(culex_client *client, struct culex_claim_secrets *secrets);

/* Accepts NULL. */
void culex__claim_secrets_free(struct culex_claim_secrets *secrets);

/* All that are kept. */
void culex__claim_secrets_drop(struct culex_claiming *claiming);

#endif
