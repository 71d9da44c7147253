#include "client/metadata.h"

#include <assert.h>
#include <string.h>

#include <culex/metadata.h>

#include "base/buf.h"
#include "base/error.h"
#include "client/client_private.h"
#include "client/newrun.h"
#include "store/metadata_list.h"

/* Arguments and results of any of them; each uses its own part. */
struct call {
    const char *queue, *job;
    struct culex_metadata_set set;
    struct culex_metadata_list ret_list;
};

static culex_status list_ask(struct culex_store *store, void *user, culex_error *error)
{
    struct call *call = user;
    return store->ops->metadata(store, call->queue, call->job, &call->ret_list, error);
}

static culex_status set_ask(struct culex_store *store, void *user, culex_error *error)
{
    struct call *call = user;
    return store->ops->metadata_set(store, call->queue, &call->set, error);
}

/* --- one job ---------------------------------------------------------------------------------- */

static const char nothing[] = "{}"; /* each field has its default */

static culex_status value_read(const struct culex_metadata_place *place,
                               const struct culex_metadata_list *list, culex_arena *arena,
                               void *ret_value, culex_error *error)
{
    const void *value = NULL;
    assert(place->type != NULL); /* whoever has a place has looked */
    const void *text = list->count > 0 ? list->rows[0].bytes : nothing;
    size_t len = list->count > 0 ? list->rows[0].len : sizeof nothing - 1;
    culex_status status = culex_decode(place->type, arena, text, len, &value, error);
    if (status == CULEX_OK)
        memcpy(ret_value, value, place->type->size);
    else
        culex__error_context(error, "the metadata of job %s", place->job);
    return status;
}

culex_status culex__metadata_read(culex_client *client, const struct culex_metadata_place *place,
                                  culex_arena *arena, void *ret_value, uint64_t *ret_version,
                                  culex_error *error)
{
    struct call call = {.queue = place->queue, .job = place->job};
    culex_status status = culex__client_perform(client, list_ask, &call, error);
    if (status != CULEX_OK)
        return status;
    *ret_version = call.ret_list.count > 0 ? call.ret_list.rows[0].version : 0;
    status = value_read(place, &call.ret_list, arena, ret_value, error);
    culex__metadata_list_release(&call.ret_list);
    return status;
}

/* Another one than `before`. */
static uint64_t version_draw(const culex_client *client, uint64_t before)
{
    uint64_t version;
    do
        version = culex__env_random(client->env) & CULEX_METADATA_VERSION_MAX;
    while (version == 0 || version == before);
    return version;
}

culex_status culex__metadata_write(culex_client *client, const struct culex_metadata_place *place,
                                   const void *value, uint64_t *version, culex_error *error)
{
    struct call call = {.queue = place->queue};
    culex_buf text;
    culex_buf_init(&text, 0);
    culex_status status = culex_encode(place->type, value, &text, error);
    if (status == CULEX_OK) {
        call.set = (struct culex_metadata_set){.job = place->job,
                                               .before = *version,
                                               .version = version_draw(client, *version),
                                               .bytes = text.data,
                                               .len = text.len,
                                               .holder = place->holder};
        status = culex__client_perform(client, set_ask, &call, error);
    }
    if (status == CULEX_OK)
        *version = call.set.version;
    culex_buf_release(&text);
    return status;
}

/* --- by a program ----------------------------------------------------------------------------- */

static culex_status type_check(const culex_client *client, const culex_job_type *type,
                               culex_error *error)
{
    if (client == NULL || type == NULL)
        return culex__fail(error, CULEX_EINVAL, client == NULL ? "no client" : "no job");
    culex_status status = culex__job_type_check(type, error);
    if (status == CULEX_OK && type->metadata == NULL)
        return culex__fail(error, CULEX_EINVAL,
                           "%s keeps nothing: write `metadata { ... }` behind its params in the "
                           "schema",
                           type->name);
    return status;
}

culex_status culex_client_metadata_read(culex_client *client, const culex_job_type *type,
                                        culex_arena *arena, void *ret_value, uint64_t *ret_version,
                                        culex_error *error)
{
    culex_status status = type_check(client, type, error);
    if (status != CULEX_OK)
        return status;
    if (arena == NULL || ret_value == NULL || ret_version == NULL)
        return culex__fail(error, CULEX_EINVAL, "no arena, or no place for the metadata");
    const struct culex_metadata_place place = {culex__job_queue(type), type->wire, type->metadata,
                                               NULL};
    return culex__metadata_read(client, &place, arena, ret_value, ret_version, error);
}

culex_status culex_client_metadata_write(culex_client *client, const culex_job_type *type,
                                         const void *value, uint64_t *version, culex_error *error)
{
    culex_status status = type_check(client, type, error);
    if (status != CULEX_OK)
        return status;
    if (value == NULL || version == NULL)
        return culex__fail(error, CULEX_EINVAL, "no metadata, or no version of it");
    const struct culex_metadata_place place = {culex__job_queue(type), type->wire, type->metadata,
                                               NULL};
    return culex__metadata_write(client, &place, value, version, error);
}

culex_status culex_client_metadata(culex_client *client, const char *queue,
                                   culex_metadata_visitor visit, void *user, culex_error *error)
{
    struct call call = {.queue = queue};
    if (client == NULL || visit == NULL)
        return culex__fail(error, CULEX_EINVAL, client == NULL ? "no client" : "no visitor");
    culex_status status = culex__client_perform(client, list_ask, &call, error);
    if (status != CULEX_OK)
        return status;
    for (size_t i = 0; i < call.ret_list.count; i++) {
        const struct culex_metadata_row *row = &call.ret_list.rows[i];
        const culex_metadata_info info = {
            row->job, row->version, row->set_ms, {.data = row->bytes, .len = row->len}};
        if (!visit(&info, user))
            break;
    }
    culex__metadata_list_release(&call.ret_list);
    return CULEX_OK;
}

culex_status culex_client_metadata_delete(culex_client *client, const char *queue, const char *job,
                                          culex_error *error)
{
    struct call call = {.queue = queue, .set = {.job = job, .before = CULEX_METADATA_ANY}};
    if (client == NULL || job == NULL)
        return culex__fail(error, CULEX_EINVAL, client == NULL ? "no client" : "no job");
    return culex__client_perform(client, set_ask, &call, error);
}
