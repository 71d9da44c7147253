#include "client/claim_schema.h"

#include <stdlib.h>

#include <culex/schema.h>
#include <culex/schemas.h>

#include "base/error.h"
#include "client/client_private.h"
#include "client/sealing.h"
#include "core/backoff.h"
#include "core/codec_decode.h"

/* As culexc has it for a job that says nothing. */
static const culex_retry_policy RETRY_DEFAULT = {
    .max = 4, .backoff = CULEX_BACKOFF_POLYNOMIAL, .base_ms = 2000, .factor = 2};

/* A run, and the schema that it was enqueued with. */
struct subject {
    culex_run_info *run;  /* NULL: there is none */
    culex_schema *schema; /* NULL: the queue does not keep it, or it is of a later version */
};

static void subject_release(struct subject *subject)
{
    culex_run_info_free(subject->run);
    culex_schema_free(subject->schema);
}

static culex_status schema_read(culex_client *client, struct subject *subject, culex_error *error)
{
    const culex_run_info *run = subject->run;
    char *text = NULL;
    size_t len = 0;
    if (run->fingerprint == 0)
        return CULEX_OK;
    culex_status status = culex_client_schema_text(client, run->queue, run->job, run->fingerprint,
                                                   0, &text, &len, error);
    if (status == CULEX_OK)
        status = culex_schema_read(text, len, &subject->schema, error);
    free(text);
    bool is_unknown = status == CULEX_ENOTFOUND || status == CULEX_EUNDERSTAND;
    return is_unknown || status == CULEX_EDECODE ? CULEX_OK : status;
}

static culex_status subject_read(culex_client *client, const struct culex_claim_token *token,
                                 struct subject *ret_subject, culex_error *error)
{
    *ret_subject = (struct subject){NULL, NULL};
    culex_status status =
        culex_client_get(client, token->queue, token->id, &ret_subject->run, error);
    if (status == CULEX_ENOTFOUND)
        return CULEX_OK; /* the token's own call says so */
    if (status == CULEX_OK)
        status = schema_read(client, ret_subject, error);
    if (status != CULEX_OK)
        subject_release(ret_subject);
    return status;
}

static culex_status result_decode(const culex_job_type *type, const void *result, size_t len,
                                  culex_error *error)
{
    const void *value;
    if (type->result == NULL)
        return culex__fail(error, CULEX_EINVAL, "%s returns nothing: complete it without a result",
                           type->name);
    if (culex__type_is_sealed(type->result))
        return culex__fail(error, CULEX_EUNSUPPORTED,
                           "the result of %s has encrypted fields, which only a worker with the "
                           "keys can write",
                           type->name);
    culex_arena *arena = culex_arena_create();
    if (arena == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory to read the result");
    culex_status status = culex_decode(type->result, arena, result, len, &value, error);
    culex_arena_free(arena);
    return status;
}

culex_status culex__claim_result_check(culex_client *client, const struct culex_claim_token *token,
                                       const void *result, size_t len, culex_error *error)
{
    struct subject subject;
    if (len > CULEX_PAYLOAD_MAX)
        return culex__fail(error, CULEX_ELIMIT, "a result has at most %d bytes", CULEX_PAYLOAD_MAX);
    if (!culex__payload_is_well_formed(result, len))
        return culex__fail(error, CULEX_EDECODE, "the result is no JSON object");
    culex_status status = subject_read(client, token, &subject, error);
    if (status != CULEX_OK)
        return status;
    if (subject.schema != NULL)
        status = result_decode(culex_schema_type(subject.schema), result, len, error);
    subject_release(&subject);
    return status;
}

culex_status culex__claim_backoff_ms(culex_client *client, const struct culex_claim_token *token,
                                     int64_t *ret_delay_ms, culex_error *error)
{
    struct subject subject;
    culex_status status = subject_read(client, token, &subject, error);
    if (status != CULEX_OK)
        return status;
    const culex_job_type *type = culex_schema_type(subject.schema);
    uint32_t failures = subject.run != NULL ? subject.run->failures + subject.run->crashes : 0;
    *ret_delay_ms = culex__backoff_delay_ms(type != NULL ? &type->retry : &RETRY_DEFAULT,
                                            failures + 1, culex__env_random(client->env));
    subject_release(&subject);
    return CULEX_OK;
}
