#include "client/claim_schema.h"

#include <stdlib.h>
#include <string.h>

#include <culex/claims.h>
#include <culex/schema.h>
#include <culex/schemas.h>

#include "base/error.h"
#include "client/client_private.h"
#include "client/sealing.h"
#include "core/backoff.h"
#include "core/codec_decode.h"
#include "core/codec_encode.h"

/* As culexc has it for a job that says nothing. */
static const culex_retry_policy RETRY_DEFAULT = {
    .max = 4, .backoff = CULEX_BACKOFF_POLYNOMIAL, .base_ms = 2000, .factor = 2};

void culex__claim_subject_release(struct culex_claim_subject *subject)
{
    culex_run_info_free(subject->run);
    culex_schema_free(subject->schema);
}

/* CULEX_ENOTFOUND where the queue does not keep it. A fingerprint of 0 would ask for another one.
 */
static culex_status schema_read(culex_client *client, const char *queue, const char *job,
                                uint64_t fingerprint, culex_schema **ret_schema, culex_error *error)
{
    char *text = NULL;
    size_t len = 0;
    if (fingerprint == 0)
        return culex__fail(error, CULEX_ENOTFOUND, "the run has no schema");
    culex_status status =
        culex_client_schema_text(client, queue, job, fingerprint, 0, &text, &len, error);
    if (status == CULEX_OK)
        status = culex_schema_read(text, len, ret_schema, error);
    free(text);
    return status;
}

/* Nothing is known of it, whatever there is. */
static bool schema_is_lacking(culex_status status)
{
    return status == CULEX_ENOTFOUND || status == CULEX_EUNDERSTAND || status == CULEX_EDECODE;
}

culex_status culex__claim_subject_read(culex_client *client, const struct culex_claim_token *token,
                                       struct culex_claim_subject *ret_subject, culex_error *error)
{
    *ret_subject = (struct culex_claim_subject){NULL, NULL};
    culex_status status =
        culex_client_get(client, token->queue, token->id, &ret_subject->run, error);
    if (status == CULEX_ENOTFOUND)
        return CULEX_OK; /* the token's own call says so */
    const culex_run_info *run = ret_subject->run;
    if (status == CULEX_OK)
        status = schema_read(client, run->queue, run->job, run->fingerprint, &ret_subject->schema,
                             error);
    if (status == CULEX_OK || (run != NULL && schema_is_lacking(status)))
        return CULEX_OK;
    culex__claim_subject_release(ret_subject);
    return status;
}

/* A misspelt name is no member that somebody later knows: nothing of it would be left. */
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
    culex_status status = culex__decode_exact(type->result, arena, result, len, &value, error);
    culex_arena_free(arena);
    return status;
}

culex_status culex__claim_result_check(culex_client *client, const struct culex_claim_token *token,
                                       const void *result, size_t len, culex_error *error)
{
    struct culex_claim_subject subject;
    if (len > CULEX_PAYLOAD_MAX)
        return culex__fail(error, CULEX_ELIMIT, "a result has at most %d bytes", CULEX_PAYLOAD_MAX);
    if (!culex__payload_is_well_formed(result, len))
        return culex__fail(error, CULEX_EDECODE, "the result is no JSON object");
    culex_status status = culex__claim_subject_read(client, token, &subject, error);
    if (status != CULEX_OK)
        return status;
    if (subject.schema != NULL)
        status = result_decode(culex_schema_type(subject.schema), result, len, error);
    culex__claim_subject_release(&subject);
    return status;
}

/* --- said again ------------------------------------------------------------------------------ */

/* A text that is read without the white space between its tokens. It is well formed. */
struct squeeze {
    const char *at, *end;
    bool is_string, is_escaped;
};

/* -1 at the end. */
static int squeeze_next(struct squeeze *squeeze)
{
    while (squeeze->at < squeeze->end) {
        char byte = *squeeze->at++;
        if (!squeeze->is_string && strchr(" \t\r\n", byte) != NULL)
            continue;
        if (byte == '"' && !squeeze->is_escaped)
            squeeze->is_string = !squeeze->is_string;
        squeeze->is_escaped = byte == '\\' && !squeeze->is_escaped;
        return (unsigned char)byte;
    }
    return -1;
}

static bool texts_are_alike(const char *text, size_t len, const char *other, size_t other_len)
{
    struct squeeze one = {.at = text, .end = text + len};
    struct squeeze two = {.at = other, .end = other + other_len};
    int byte;
    do {
        byte = squeeze_next(&one);
        if (byte != squeeze_next(&two))
            return false;
    } while (byte >= 0);
    return true;
}

/* As a worker would have written it: all members, in their order. */
static culex_status result_rewrite(const culex_struct_type *type, const void *result, size_t len,
                                   culex_buf *ret_text, culex_error *error)
{
    const void *value;
    culex_arena *arena = culex_arena_create();
    if (arena == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory to read the result");
    culex_status status = culex_decode(type, arena, result, len, &value, error);
    if (status == CULEX_OK)
        status = culex_encode(type, value, ret_text, error);
    culex_arena_free(arena);
    return status;
}

/* One that the schema does not read is another. */
static culex_status results_compare(const culex_struct_type *type, culex_bytes kept,
                                    const void *result, size_t len, bool *ret_is_same,
                                    culex_error *error)
{
    culex_buf one, two;
    culex_buf_init(&one, 0);
    culex_buf_init(&two, 0);
    culex_status status = result_rewrite(type, kept.data, kept.len, &one, error);
    if (status == CULEX_OK)
        status = result_rewrite(type, result, len, &two, error);
    *ret_is_same =
        status == CULEX_OK && one.len == two.len && memcmp(one.data, two.data, one.len) == 0;
    culex_buf_release(&one);
    culex_buf_release(&two);
    return status == CULEX_ENOMEM ? status : CULEX_OK;
}

culex_status culex__claim_result_compare(culex_client *client,
                                         const struct culex_claim_token *token, const void *result,
                                         size_t len, bool *ret_is_same, culex_error *error)
{
    struct culex_claim_subject subject;
    *ret_is_same = false;
    culex_status status = culex__claim_subject_read(client, token, &subject, error);
    if (status != CULEX_OK)
        return status;
    if (subject.run == NULL)
        return CULEX_ENOTFOUND;
    const culex_job_type *type = culex_schema_type(subject.schema);
    culex_bytes kept = subject.run->result;
    bool has_both = kept.len > 0 && result != NULL;
    *ret_is_same = has_both ? texts_are_alike((const char *)kept.data, kept.len, result, len)
                            : kept.len == 0 && result == NULL;
    if (has_both && !*ret_is_same && type != NULL && type->result != NULL)
        status = results_compare(type->result, kept, result, len, ret_is_same, error);
    culex__claim_subject_release(&subject);
    return status;
}

bool culex__claim_is_complete(culex_client *client, const struct culex_claim_token *token)
{
    culex_run_info *run = NULL;
    if (culex_client_get(client, token->queue, token->id, &run, NULL) != CULEX_OK)
        return false;
    bool is_complete = run->state == CULEX_RUN_DONE && run->attempt == token->attempt;
    culex_run_info_free(run);
    return is_complete;
}

/* --- the next attempt ------------------------------------------------------------------------ */

int64_t culex__claim_backoff_ms(culex_client *client, const struct culex_claim_subject *subject)
{
    const culex_job_type *type = culex_schema_type(subject->schema);
    const culex_run_info *run = subject->run;
    uint32_t failures = run != NULL ? run->failures + run->crashes : 0;
    return culex__backoff_delay_ms(type != NULL ? &type->retry : &RETRY_DEFAULT, failures + 1,
                                   culex__env_random(client->env));
}

/* --- params ---------------------------------------------------------------------------------- */

/* As culex_client_get has the payload, read, and written without seals. */
static culex_status params_write(culex_client *client, const culex_claim *claim,
                                 const culex_job_type *type, culex_buf *ret_text,
                                 culex_error *error)
{
    struct culex__sealing sealing =
        culex__sealing_make(client->keys, client->env, type, CULEX_SEALED_PARAMS);
    const void *params = NULL;
    culex_arena *arena = culex_arena_create();
    if (arena == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory to read the params");
    culex_status status = culex__decode_sealed(&sealing, type->params, arena, claim->payload.data,
                                               claim->payload.len, &params, error);
    sealing.is_plain = true;
    if (status == CULEX_OK)
        status = culex__encode_sealed(&sealing, type->params, params, ret_text, error);
    culex_arena_free(arena);
    return status;
}

culex_status culex_claim_params(culex_client *client, const culex_claim *claim, char **ret_text,
                                size_t *ret_len, culex_error *error)
{
    culex_schema *schema = NULL;
    culex_buf text;
    if (ret_text != NULL)
        *ret_text = NULL;
    if (client == NULL || claim == NULL || ret_text == NULL)
        return culex__fail(error, CULEX_EINVAL,
                           client == NULL  ? "no client"
                           : claim == NULL ? "no claim"
                                           : "no place for the params");
    culex_status status =
        schema_read(client, claim->queue, claim->job, claim->fingerprint, &schema, error);
    if (status != CULEX_OK)
        return status;
    culex_buf_init(&text, 0);
    status = params_write(client, claim, culex_schema_type(schema), &text, error);
    if (status == CULEX_OK && (*ret_text = strndup(text.data, text.len)) == NULL)
        status = culex__fail(error, CULEX_ENOMEM, "no memory for the params");
    if (status == CULEX_OK && ret_len != NULL)
        *ret_len = text.len;
    culex_buf_release(&text);
    culex_schema_free(schema);
    return status;
}
