/* client/claim_rest.h - looks that are not taken: however many threads of a client wait for a run
 * of one queue, and would take the same, the store is asked as often as for one of them. */
#ifndef CULEX_CLIENT_CLAIM_REST_H
#define CULEX_CLIENT_CLAIM_REST_H

#include <culex/claims.h>

#include "client/client_private.h"

/* So long who waits sleeps between looks. */
enum { CULEX_CLAIM_REST_MS = 100 };

/* Whether the caller is to look for runs of this queue that are of these jobs and need no more than
 * these offers: false when another thread, that would take the same, has begun to less than that
 * time ago. */
bool culex__claim_may_look(culex_client *client, const char *queue,
                           const culex_claim_options *options);

/* There was one, so there may be more: whoever comes next looks. */
void culex__claim_look_again(culex_client *client, const char *queue,
                             const culex_claim_options *options);

#endif
