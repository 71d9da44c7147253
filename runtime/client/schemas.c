/* client/schemas.c - the schemas of a queue's jobs, as programs and operators read them. */
#include <culex/schemas.h>

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "client/client_private.h"
#include "store/schema_list.h"

/* Arguments and results of either; each uses its own part. */
struct call {
    const char *queue;
    struct culex_schema_id id;
    struct culex_schema_list ret_list;
    culex_buf ret_text;
};

static culex_status list_ask(struct culex_store *store, void *user, culex_error *error)
{
    struct call *call = user;
    return store->ops->schemas(store, call->queue, &call->ret_list, error);
}

static culex_status text_ask(struct culex_store *store, void *user, culex_error *error)
{
    struct call *call = user;
    culex__buf_cut(&call->ret_text, 0); /* of an attempt before */
    return store->ops->schema_text(store, call->queue, &call->id, &call->ret_text, error);
}

static size_t names_size(const struct culex_schema_list *list)
{
    size_t size = 0;
    for (size_t i = 0; i < list->count; i++)
        size += strlen(list->rows[i].id.job) + 1;
    return size;
}

/* One block: the schemas, and behind them their names. */
static culex_schemas *schemas_make(const struct culex_schema_list *list)
{
    culex_schemas *schemas =
        malloc(sizeof *schemas + list->count * sizeof schemas->items[0] + names_size(list));
    if (schemas == NULL)
        return NULL;
    *schemas =
        (culex_schemas){list->now_ms, list->count, (culex_schema_info *)(void *)(schemas + 1)};
    char *name = (char *)(schemas->items + list->count);
    for (size_t i = 0; i < list->count; i++) {
        const struct culex_schema_row *row = &list->rows[i];
        size_t size = strlen(row->id.job) + 1;
        memcpy(name, row->id.job, size);
        schemas->items[i] =
            (culex_schema_info){name, row->id.fingerprint, row->id.digest, row->told_ms, row->len};
        name += size;
    }
    return schemas;
}

culex_status culex_client_schemas(culex_client *client, const char *queue,
                                  culex_schemas **ret_schemas, culex_error *error)
{
    struct call call = {.queue = queue};
    if (ret_schemas != NULL)
        *ret_schemas = NULL;
    if (client == NULL || ret_schemas == NULL)
        return culex__fail(error, CULEX_EINVAL,
                           client == NULL ? "no client" : "no place for the schemas");
    culex_status status = culex__client_perform(client, list_ask, &call, error);
    if (status != CULEX_OK)
        return status;
    *ret_schemas = schemas_make(&call.ret_list);
    culex__schema_list_release(&call.ret_list);
    return *ret_schemas != NULL ? CULEX_OK
                                : culex__fail(error, CULEX_ENOMEM, "no memory for the schemas");
}

void culex_schemas_free(culex_schemas *schemas)
{
    free(schemas);
}

/* NULL when out of memory. */
static char *text_copy(const culex_buf *text)
{
    char *copy = malloc(text->len + 1);
    if (copy == NULL)
        return NULL;
    if (text->len > 0)
        memcpy(copy, text->data, text->len);
    copy[text->len] = '\0';
    return copy;
}

culex_status culex_client_schema_text(culex_client *client, const char *queue, const char *wire,
                                      uint64_t fingerprint, uint64_t digest, char **ret_text,
                                      size_t *ret_len, culex_error *error)
{
    struct call call = {.queue = queue, .id = {wire, fingerprint, digest}};
    if (ret_text != NULL)
        *ret_text = NULL;
    if (client == NULL || wire == NULL || ret_text == NULL)
        return culex__fail(error, CULEX_EINVAL,
                           client == NULL ? "no client"
                           : wire == NULL ? "no job"
                                          : "no place for the text");
    culex_buf_init(&call.ret_text, 0);
    culex_status status = culex__client_perform(client, text_ask, &call, error);
    if (status == CULEX_OK && (*ret_text = text_copy(&call.ret_text)) == NULL)
        status = culex__fail(error, CULEX_ENOMEM, "no memory for the text of a schema");
    if (status == CULEX_OK && ret_len != NULL)
        *ret_len = call.ret_text.len;
    culex_buf_release(&call.ret_text);
    return status;
}
