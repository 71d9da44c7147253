/* client/claim_schema.h - what the schema of a claimed run says, where its queue keeps it. */
#ifndef CULEX_CLIENT_CLAIM_SCHEMA_H
#define CULEX_CLIENT_CLAIM_SCHEMA_H

#include <culex/schema.h>

#include "client/claim_token.h"

/* A run, and the schema that it was enqueued with. */
struct culex_claim_subject {
    culex_run_info *run;  /* NULL: there is none */
    culex_schema *schema; /* NULL: the queue does not keep it, or it is of a later version */
};

/* *ret_subject is to be released where it is CULEX_OK. */
culex_status culex__claim_subject_read(culex_client *client, const struct culex_claim_token *token,
                                       struct culex_claim_subject *ret_subject, culex_error *error);
void culex__claim_subject_release(struct culex_claim_subject *subject);

/* Whether the result is one of the run's job. CULEX_EDECODE and CULEX_EINVAL say why it is not,
 * CULEX_EUNSUPPORTED that it has encrypted fields. CULEX_OK for a run that is no more. */
culex_status culex__claim_result_check(culex_client *client, const struct culex_claim_token *token,
                                       const void *result, size_t len, culex_error *error);

/* Whether the run, whose end is DONE, has ended with that very result, be it written otherwise;
 * NULL is none. CULEX_ENOTFOUND: its record is no more. */
culex_status culex__claim_result_compare(culex_client *client,
                                         const struct culex_claim_token *token, const void *result,
                                         size_t len, bool *ret_is_same, culex_error *error);

/* Whether this attempt has completed the run. False where that cannot be asked. */
bool culex__claim_is_complete(culex_client *client, const struct culex_claim_token *token);

/* How long the run waits after the failure of this attempt. */
int64_t culex__claim_backoff_ms(culex_client *client, const struct culex_claim_subject *subject);

#endif
