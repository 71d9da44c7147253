/* handler/run_metadata.c - what a handler's job keeps: culex_run_metadata_get and _set.
 *
 * They go the way of the client that handlers are lent, with the fence of the run. */
#include <culex/metadata.h>

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "client/metadata.h"
#include "handler/loan.h"
#include "handler/run.h"

static culex_status run_check(const culex_run *run, const culex_struct_type *type,
                              culex_error *error)
{
    if (run == NULL || run->arena == NULL || run->loan == NULL)
        return culex__fail(error, CULEX_EINVAL, "no run, or one whose handler is not at work");
    if (type == NULL || type != run->job.type->metadata)
        return culex__fail(error, CULEX_EINVAL,
                           "metadata of another job, but the run is of %s: call the functions that "
                           "are generated for it, which has `metadata { ... }` in its schema",
                           run->job.type->name);
    return CULEX_OK;
}

/* NULL, and the error tells, where the handler has forked the process, or memory is out. */
static culex_client *client_find(culex_run *run, culex_error *error)
{
    culex_client *client = culex_run_client(run);
    if (client == NULL)
        culex__fail(error, CULEX_EINVAL,
                    "no memory for a client, or a process that the handler has forked");
    return client;
}

static struct culex_metadata_place place_of(const culex_run *run)
{
    return (struct culex_metadata_place){
        .queue = run->terms.queue, .job = run->job.type->wire, .type = run->job.type->metadata};
}

culex_status culex_run_metadata_get(culex_run *run, const culex_struct_type *type, void *ret_value,
                                    uint64_t *ret_version, culex_error *error)
{
    culex_status status = run_check(run, type, error);
    if (status != CULEX_OK)
        return status;
    if (ret_value == NULL || ret_version == NULL)
        return culex__fail(error, CULEX_EINVAL, "no place for the metadata or its version");
    culex_client *client = client_find(run, error);
    if (client == NULL)
        return CULEX_EINVAL;
    const struct culex_metadata_place place = place_of(run);
    return culex__metadata_read(client, &place, run->arena, ret_value, ret_version, error);
}

culex_status culex_run_metadata_set(culex_run *run, const culex_struct_type *type,
                                    const void *value, uint64_t *version, culex_error *error)
{
    culex_status status = run_check(run, type, error);
    if (status != CULEX_OK)
        return status;
    if (value == NULL || version == NULL)
        return culex__fail(error, CULEX_EINVAL, "no metadata, or no version of it");
    culex_client *client = client_find(run, error);
    if (client == NULL)
        return CULEX_EINVAL;
    assert(run->terms.fence != NULL);
    const char *session = strrchr(run->terms.fence, '-'); /* "ID-ATTEMPT-SESSION" */
    const struct culex_holder holder = {run->facts.id, run->facts.attempt,
                                        session != NULL ? session + 1 : ""};
    struct culex_metadata_place place = place_of(run);
    place.holder = &holder;
    return culex__metadata_write(client, &place, value, version, error);
}
