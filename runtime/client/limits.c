/* client/limits.c - the verbs on limits of runs, as programs and operators call them. */
#include <string.h>

#include <culex/limits.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/nearest.h"
#include "client/client_private.h"
#include "store/limit_list.h"

/* Arguments and results of any of them; each uses its own part. */
struct call {
    const char *queue, *name, *after;
    const culex_limit_value *value;
    struct culex_limit_list ret_limits;
    struct culex_limit_key_list ret_keys;
};

static culex_status limits_ask(struct culex_store *store, void *user, culex_error *error)
{
    struct call *call = user;
    return store->ops->limits(store, call->queue, &call->ret_limits, error);
}

static culex_status keys_ask(struct culex_store *store, void *user, culex_error *error)
{
    struct call *call = user;
    return store->ops->limit_keys(store, call->queue, call->name, call->after, CULEX_STORE_PAGE_MAX,
                                  &call->ret_keys, error);
}

static culex_status set_ask(struct culex_store *store, void *user, culex_error *error)
{
    struct call *call = user;
    return store->ops->limit_set(store, call->queue, call->name, call->value, error);
}

/* The store has no limit of this name: says so, and which one may have been meant. */
static culex_status limit_advise(culex_client *client, struct call *call, culex_status status,
                                 culex_error *error)
{
    struct culex__nearest nearest = {.word = call->name};
    char meant[CULEX_LIMIT_NAME_MAX + 64];
    if (status != CULEX_ENOTFOUND ||
        culex__client_perform(client, limits_ask, call, NULL) != CULEX_OK)
        return status;
    for (size_t i = 0; i < call->ret_limits.count; i++)
        culex__nearest_offer(&nearest, call->ret_limits.rows[i].name);
    culex__fail(error, CULEX_ENOTFOUND,
                "queue '%s' has no limit '%s'%s (one begins with its first run)", call->queue,
                call->name, culex__nearest_ask(&nearest, meant));
    culex__limit_list_release(&call->ret_limits);
    return status;
}

culex_status culex_client_limits(culex_client *client, const char *queue, culex_limit_visitor visit,
                                 void *user, culex_error *error)
{
    struct call call = {.queue = queue};
    if (client == NULL || visit == NULL)
        return culex__fail(error, CULEX_EINVAL, client == NULL ? "no client" : "no visitor");
    culex_status status = culex__client_perform(client, limits_ask, &call, error);
    if (status != CULEX_OK)
        return status;
    for (size_t i = 0; i < call.ret_limits.count; i++) {
        const struct culex_limit_row *row = &call.ret_limits.rows[i];
        bool is_set = row->set.count > 0;
        const culex_limit_info info = {
            row->name, row->kind, row->declared, is_set ? row->set : row->declared,
            is_set,    row->keys, row->active,   row->parked};
        if (!visit(&info, user))
            break;
    }
    if (call.ret_limits.count == 0)
        status = culex__client_queue_judge(client, queue, error);
    culex__limit_list_release(&call.ret_limits);
    return status;
}

/* True when the visitor wants to see more. */
static bool page_show(const struct culex_limit_key_list *page, culex_limit_key_visitor visit,
                      void *user)
{
    for (size_t i = 0; i < page->count; i++) {
        const struct culex_limit_key_row *row = &page->rows[i];
        const culex_limit_key_info info = {row->key, row->active, row->parked, row->next_ms};
        if (!visit(&info, user))
            return false;
    }
    return page->is_more && page->count > 0;
}

culex_status culex_client_limit_keys(culex_client *client, const char *queue, const char *name,
                                     const char *after, culex_limit_key_visitor visit, void *user,
                                     culex_error *error)
{
    struct call call = {.queue = queue, .name = name, .after = after};
    char last[CULEX_LIMIT_KEY_MAX + 1];
    bool goes_on = true;
    culex_status status = CULEX_OK;
    if (client == NULL || name == NULL || visit == NULL)
        return culex__fail(error, CULEX_EINVAL,
                           client == NULL ? "no client"
                           : name == NULL ? "no limit"
                                          : "no visitor");
    while (goes_on && status == CULEX_OK) {
        status = culex__client_perform(client, keys_ask, &call, error);
        if (status != CULEX_OK)
            break;
        goes_on = page_show(&call.ret_keys, visit, user);
        if (goes_on) {
            const char *key = call.ret_keys.rows[call.ret_keys.count - 1].key;
            memcpy(last, key, strnlen(key, CULEX_LIMIT_KEY_MAX) + 1);
            last[CULEX_LIMIT_KEY_MAX] = '\0';
            call.after = last;
        }
        culex__limit_key_list_release(&call.ret_keys);
    }
    return limit_advise(client, &call, status, error);
}

culex_status culex_client_limit_set(culex_client *client, const char *queue, const char *name,
                                    const culex_limit_value *value, culex_error *error)
{
    struct call call = {.queue = queue, .name = name, .value = value};
    if (client == NULL || name == NULL)
        return culex__fail(error, CULEX_EINVAL, client == NULL ? "no client" : "no limit");
    return limit_advise(client, &call, culex__client_perform(client, set_ask, &call, error), error);
}
