#include "client/publishing.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "client/client_private.h"
#include "core/schema_text.h"
#include "store/schema_list.h"

#ifdef CULEX_PRODUCER_ONLY /* a program with it would be a tenth larger, by what writes a schema   \
                            */
culex_status culex__publishing_create(struct culex_publishing **ret_publishing, culex_error *error)
{
    *ret_publishing = NULL;
    return culex__fail(error, CULEX_EUNSUPPORTED,
                       "publish_schemas: this program is linked with a library for producers, "
                       "which tells no schemas; link libculex");
}

void culex__publishing_note(culex_client *client, const culex_job_type *type, const char *queue)
{
    (void)client;
    (void)type;
    (void)queue;
}
#else
/* Jobs beyond so many are not told. Only grows, and in the client's turn, so that who enqueues
 * looks without waiting for it. */
struct culex_publishing {
    atomic_size_t count;
    const culex_job_type *told[CULEX_STORE_SCHEMAS_MAX];
};

culex_status culex__publishing_create(struct culex_publishing **ret_publishing, culex_error *error)
{
    *ret_publishing = calloc(1, sizeof **ret_publishing);
    return *ret_publishing != NULL ? CULEX_OK
                                   : culex__fail(error, CULEX_ENOMEM, "no memory for a client");
}

static bool is_told(struct culex_publishing *publishing, const culex_job_type *type)
{
    size_t count = atomic_load_explicit(&publishing->count, memory_order_acquire);
    for (size_t i = 0; i < count; i++) {
        if (publishing->told[i] == type)
            return true;
    }
    return count == CULEX_STORE_SCHEMAS_MAX;
}

static void told_add(struct culex_publishing *publishing, const culex_job_type *type)
{
    size_t count = atomic_load_explicit(&publishing->count, memory_order_relaxed);
    publishing->told[count] = type;
    atomic_store_explicit(&publishing->count, count + 1, memory_order_release);
}

struct call {
    culex_client *client;
    const culex_job_type *type;
    const char *queue;
    struct culex_schema_text schema;
};

static culex_status schema_tell(struct culex_store *store, void *user, culex_error *error)
{
    struct call *call = user;
    if (!is_told(call->client->publishing, call->type)) /* by another thread by now */
        told_add(call->client->publishing, call->type);
    return store->ops->schema_publish(store, call->queue, &call->schema, error);
}

/* The run is in the store, whatever becomes of this: a failure is no failure of the enqueue, and
 * the job's workers tell the schema, too. */
void culex__publishing_note(culex_client *client, const culex_job_type *type, const char *queue)
{
    struct call call = {.client = client, .type = type, .queue = queue};
    char *text = NULL;
    if (client->publishing == NULL || type->fingerprint == 0 || is_told(client->publishing, type) ||
        culex__schema_text(type, false, &text, &call.schema.len) != CULEX_OK)
        return;
    call.schema.id = (struct culex_schema_id){type->wire, type->fingerprint,
                                              culex__schema_digest(text, call.schema.len)};
    call.schema.text = text;
    culex_status status = culex__client_perform(client, schema_tell, &call, NULL);
    (void)status;
    free(text);
}
#endif
