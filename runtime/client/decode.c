/* client/decode.c - payloads and results with encrypted fields, by the keys of a client. */
#include "base/error.h"
#include "client/client_private.h"
#include "client/sealing.h"
#include "core/codec_decode.h"

static culex_status decode(culex_client *client, const culex_job_type *type, const char *part,
                           const culex_struct_type *of, culex_arena *arena, const culex_bytes *text,
                           const void **ret_value, culex_error *error)
{
    const struct culex__sealing sealing =
        culex__sealing_make(client->keys, client->env, type, part);
    return culex__decode_sealed(&sealing, of, arena, text->data, text->len, ret_value, error);
}

culex_status culex_client_decode_params(culex_client *client, const culex_job_type *type,
                                        culex_arena *arena, const void *text, size_t len,
                                        const void **ret_params, culex_error *error)
{
    if (client == NULL || type == NULL)
        return culex__fail(error, CULEX_EINVAL, "no client or no job");
    return decode(client, type, CULEX_SEALED_PARAMS, type->params, arena, &(culex_bytes){text, len},
                  ret_params, error);
}

culex_status culex_client_decode_result(culex_client *client, const culex_job_type *type,
                                        culex_arena *arena, const void *text, size_t len,
                                        const void **ret_result, culex_error *error)
{
    if (client == NULL || type == NULL)
        return culex__fail(error, CULEX_EINVAL, "no client or no job");
    return decode(client, type, CULEX_SEALED_RESULT, type->result, arena, &(culex_bytes){text, len},
                  ret_result, error);
}
