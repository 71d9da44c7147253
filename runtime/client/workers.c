/* client/workers.c - the registry of workers, as programs and operators see it. */
#include <stdlib.h>
#include <string.h>

#include <culex/workers.h>

#include "base/error.h"
#include "client/client_private.h"
#include "store/worker_list.h"
#include "store/worker_sheet.h"

static culex_status list_ask(struct culex_store *store, void *user, culex_error *error)
{
    return store->ops->workers(store, user, error);
}

/* By name, and then by id: two lives of one name may be listed. */
static int sheet_compare(const void *a, const void *b)
{
    const culex_worker_info *one = &(*(struct culex_sheet *const *)a)->info;
    const culex_worker_info *other = &(*(struct culex_sheet *const *)b)->info;
    int order = strcmp(one->name, other->name);
    return order != 0 ? order : strcmp(one->id, other->id);
}

static void sheets_free(struct culex_sheet **sheets, size_t count)
{
    for (size_t i = 0; sheets != NULL && i < count; i++)
        free(sheets[i]);
    free(sheets);
}

/* NULL when out of memory. */
static struct culex_sheet **sheets_read(const struct culex_worker_list *list)
{
    struct culex_sheet **sheets = calloc(list->count + 1, sizeof(struct culex_sheet *));
    for (size_t i = 0; sheets != NULL && i < list->count; i++) {
        sheets[i] = malloc(sizeof **sheets);
        if (sheets[i] == NULL) {
            sheets_free(sheets, i);
            return NULL;
        }
        culex__sheet_read(&list->rows[i], sheets[i]);
    }
    if (sheets != NULL)
        qsort(sheets, list->count, sizeof(struct culex_sheet *), sheet_compare);
    return sheets;
}

culex_status culex_client_workers(culex_client *client, culex_worker_visitor visit, void *user,
                                  culex_error *error)
{
    struct culex_worker_list list = {0};
    if (client == NULL || visit == NULL)
        return culex__fail(error, CULEX_EINVAL, client == NULL ? "no client" : "no visitor");
    culex_status status = culex__client_perform(client, list_ask, &list, error);
    if (status != CULEX_OK)
        return status;
    struct culex_sheet **sheets = sheets_read(&list);
    if (sheets == NULL)
        status = culex__fail(error, CULEX_ENOMEM, "no memory for a list of workers");
    for (size_t i = 0; sheets != NULL && i < list.count && visit(&sheets[i]->info, user);)
        i++;
    sheets_free(sheets, list.count);
    culex__worker_list_release(&list);
    return status;
}

struct set_call {
    const char *id;
    struct culex_worker_wish wish;
    size_t ret_count;
};

static culex_status set_ask(struct culex_store *store, void *user, culex_error *error)
{
    struct set_call *call = user;
    return store->ops->worker_set(store, call->id, &call->wish, &call->ret_count, error);
}

culex_status culex_client_worker_set(culex_client *client, const char *id,
                                     const culex_worker_order *order, size_t *ret_count,
                                     culex_error *error)
{
    size_t none;
    size_t *count = ret_count != NULL ? ret_count : &none;
    *count = 0;
    if (client == NULL || order == NULL)
        return culex__fail(error, CULEX_EINVAL, client == NULL ? "no client" : "no order");
    struct set_call call = {
        .id = id,
        .wish = {.quiet = order->quiet, .is_stop = order->stop, .concurrency = order->concurrency}};
    culex_status status = culex__client_perform(client, set_ask, &call, error);
    if (status == CULEX_OK)
        *count = call.ret_count;
    return status;
}
