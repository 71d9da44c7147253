#include "client/claim_text.h"

#include <string.h>

#include <culex/schema.h>

#include "base/error.h"
#include "base/utf8.h"
#include "client/claim_secrets.h"
#include "client/sealing.h"
#include "core/codec_decode.h"
#include "core/secret.h"

/* A schema that is lacking may be told in the meantime; so long it is not asked for again. */
enum { LACKING_MS = 10000 };

/* The struct without its encrypted fields, which whoever executes the run has no more than we have.
 * NULL without memory. */
static const culex_struct_type *plain_type(const culex_struct_type *type, culex_arena *arena)
{
    culex_struct_type *plain = culex_arena_alloc(arena, sizeof *plain);
    culex_field *fields = culex_arena_alloc(arena, type->field_count * sizeof *fields);
    size_t count = 0;
    if (plain == NULL || fields == NULL)
        return NULL;
    for (size_t i = 0; i < type->field_count; i++) {
        if ((type->fields[i].flags & CULEX_FIELD_ENCRYPTED) == 0)
            memcpy(&fields[count++], &type->fields[i], sizeof *fields);
    }
    *plain = *type;
    plain->fields = fields;
    plain->field_count = count;
    return plain;
}

/* CULEX_ENOKEY never comes of it. */
static culex_status params_decode(culex_client *client, const culex_job_type *type,
                                  culex_bytes payload, culex_arena *arena,
                                  const culex_struct_type **ret_type, const void **ret_params,
                                  culex_error *error)
{
    struct culex__sealing sealing =
        culex__sealing_make(client->keys, client->env, type, CULEX_SEALED_PARAMS);
    *ret_type = type->params;
    culex_status status = culex__decode_sealed(&sealing, type->params, arena, payload.data,
                                               payload.len, ret_params, error);
    if (status != CULEX_ENOKEY)
        return status;
    *ret_type = plain_type(type->params, arena);
    if (*ret_type == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory to read the params");
    return culex__decode_sealed(&sealing, *ret_type, arena, payload.data, payload.len, ret_params,
                                error);
}

/* Of a run that its schema does not read. */
static culex_status unreadable(struct culex_claim_secrets *secrets, culex_status status)
{
    secrets->is_unreadable = status != CULEX_OK && status != CULEX_ENOMEM;
    return status == CULEX_ENOMEM ? status : CULEX_OK;
}

static culex_status params_collect(culex_client *client, const struct culex_claim_subject *subject,
                                   struct culex_claim_secrets *secrets, culex_error *error)
{
    const culex_struct_type *type;
    const void *params = NULL;
    culex_arena *arena = culex_arena_create();
    if (arena == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory to read the params");
    culex_status status = params_decode(client, culex_schema_type(subject->schema),
                                        subject->run->payload, arena, &type, &params, error);
    if (status == CULEX_OK && !culex__secrets_collect(type, params, &secrets->texts))
        status = culex__fail(error, CULEX_ENOMEM, "no memory for the secrets of a run");
    culex_arena_free(arena);
    return unreadable(secrets, status);
}

static culex_status secrets_collect(culex_client *client, const struct culex_claim_subject *subject,
                                    struct culex_claim_secrets *secrets, culex_error *error)
{
    if (subject->run != NULL && subject->schema != NULL)
        return params_collect(client, subject, secrets, error);
    secrets->until_ms = culex__env_boottime_ms(client->env) + LACKING_MS;
    return CULEX_OK;
}

static culex_status secrets_make(culex_client *client, const struct culex_claim_token *token,
                                 const struct culex_claim_subject *subject,
                                 struct culex_claim_secrets **ret_secrets, culex_error *error)
{
    struct culex_claim_subject own = {NULL, NULL};
    culex_status status =
        subject == NULL ? culex__claim_subject_read(client, token, &own, error) : CULEX_OK;
    if (status != CULEX_OK)
        return status;
    struct culex_claim_secrets *secrets = culex__claim_secrets_create(token->id);
    status = secrets == NULL
                 ? culex__fail(error, CULEX_ENOMEM, "no memory for the secrets of a run")
                 : secrets_collect(client, subject != NULL ? subject : &own, secrets, error);
    culex__claim_subject_release(&own);
    if (status == CULEX_OK)
        *ret_secrets = secrets;
    else
        culex__claim_secrets_free(secrets);
    return status;
}

/* Some bytes more than can be kept, so that a character at the border is cut as a whole. */
static void text_hide(const struct culex_claim_secrets *secrets, const char *text, char *ret_text,
                      size_t size)
{
    char hidden[CULEX_CLAIM_TEXT_MAX + 8] = CULEX_SECRET_SHOWN;
    size_t len = strlen(CULEX_SECRET_SHOWN);
    if (!secrets->is_unreadable)
        len =
            culex__secrets_scrub(&secrets->texts, text, strlen(text), false, hidden, sizeof hidden);
    culex__utf8_clean(ret_text, size, hidden, len);
}

culex_status culex__claim_text_hide(culex_client *client, const struct culex_claim_token *token,
                                    const struct culex_claim_subject *subject, const char *text,
                                    char *ret_text, size_t size, culex_error *error)
{
    struct culex_claim_secrets *secrets = culex__claim_secrets_take(client, token->id);
    culex_status status = CULEX_OK;
    if (secrets == NULL)
        status = secrets_make(client, token, subject, &secrets, error);
    if (status != CULEX_OK)
        return status;
    text_hide(secrets, text, ret_text, size);
    culex__claim_secrets_put(client, secrets);
    return CULEX_OK;
}

void culex__claim_text_end(culex_client *client, culex_uuid id)
{
    culex__claim_secrets_free(culex__claim_secrets_take(client, id));
}
