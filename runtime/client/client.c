/* client/client.c - the life of a client: opening it, lending it, its clock and its tickets. */
#include "client/claim_secrets.h"
#include "client/client_private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "client/home_store.h"
#include "client/publishing.h"
#include "client/spooling.h"
#include "client/keyfile.h"
#include "settings/storesettings.h"
#include "store/storeurl.h"

/* --- life -------------------------------------------------------------------------- */

culex_status culex__client_sync_clock(culex_client *client, culex_error *error)
{
    int64_t now_ms;
    culex_status status = client->store->ops->now(client->store, &now_ms, error);
    if (status != CULEX_OK)
        return status;
    culex__storeclock_set(&client->clock, client->env, now_ms);
    culex__client_leave_producers(client);
    return CULEX_OK;
}

static culex_client *client_make(struct culex_store *store, int64_t timeout_ms,
                                 const struct culex_env *env)
{
    culex_client *client = calloc(1, sizeof *client);
    if (client == NULL) {
        store->ops->close(store);
        return NULL;
    }
    client->env = env;
    client->owner = getpid();
    client->timeout_ms = timeout_ms;
    client->store = store;
    store->until_ns = &client->until_ns;
    culex__turn_init(&client->turn);
    culex__wait_desk_init(&client->desk, env);
    culex_buf_init(&client->payloads, 0);
    return client;
}

culex_client *culex__client_lend(struct culex_store *store, int64_t timeout_ms,
                                 const struct culex_env *env)
{
    culex_client *client = client_make(store, timeout_ms, env);
    if (client != NULL)
        client->is_lent = true;
    return client;
}

culex_status culex__client_create(struct culex_store *store, int64_t timeout_ms,
                                  const struct culex_env *env, culex_client **ret_client,
                                  culex_error *error)
{
    culex_client *client = client_make(store, timeout_ms, env);
    if (client == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for a client");
    culex_status status = culex__client_sync_clock(client, error);
    if (status != CULEX_OK) {
        culex_client_close(client);
        return status;
    }
    *ret_client = client;
    return CULEX_OK;
}

enum purpose { FOR_USE, TO_LOOK_AT, FOR_ITS_SPOOL };

/* Half the time for each try, so that there is some for a second one; all of it to come in, which
 * is tried once. A client with a spool does not wait so long, for it begins without the store. */
static struct culex_store_options store_options(const struct culex_store_settings *settings,
                                                const culex_client_options *options,
                                                enum purpose purpose, bool has_spool)
{
    return (struct culex_store_options){
        .prefix = settings->prefix,
        .timeout_ms = settings->timeout_ms / 2 + 1,
        .opening_ms = has_spool ? 0 : settings->timeout_ms,
        .synchronous = settings->synchronous,
        .must_exist = options->must_exist || purpose == TO_LOOK_AT,
        .may_be_away = has_spool,
        .connects_later = has_spool && purpose == FOR_ITS_SPOOL,
    };
}

/* A client with a spool begins its life while the store is away, too. */
static culex_status spooling_create(struct culex_store *store, int64_t timeout_ms,
                                    const culex_client_options *options,
                                    const struct culex_env *env, culex_client **ret_client,
                                    culex_error *error)
{
    culex_client *client = client_make(store, timeout_ms, env);
    if (client == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for a client");
    culex_status status = culex__spooling_open(options, store, env, &client->spooling, error);
    if (status != CULEX_OK) {
        culex_client_close(client);
        return status;
    }
    *ret_client = client;
    return CULEX_OK;
}

static culex_status store_client_open(const char *url, const culex_client_options *options,
                                      enum purpose purpose, culex_client **ret_client,
                                      culex_error *error)
{
    const struct culex_env *env = culex__env_system();
    struct culex_store_settings settings;
    struct culex_store_options wanted;
    struct culex_store *store = NULL;
    char *chosen = NULL;
    bool has_spool = false;
    culex_status status = culex__store_url_choose(url, options->url_file, &chosen, error);
    if (status == CULEX_OK)
        status = culex__store_settings_read(chosen, options, &settings, error);
    if (status == CULEX_OK && url == NULL && options->url_file == NULL)
        status = culex__home_store_check(chosen, settings.prefix, error);
    if (status == CULEX_OK && purpose != TO_LOOK_AT)
        status = culex__spooling_want(chosen, options, &has_spool, error);
    if (status == CULEX_OK) {
        wanted = store_options(&settings, options, purpose, has_spool);
        status = culex__store_open(chosen, &wanted, env, &store, error);
    }
    culex__store_url_free(chosen);
    if (status != CULEX_OK)
        return status;
    return has_spool ? spooling_create(store, settings.timeout_ms, options, env, ret_client, error)
                     : culex__client_create(store, settings.timeout_ms, env, ret_client, error);
}

static culex_status client_open(const char *url, const culex_client_options *options,
                                enum purpose purpose, culex_client **ret_client, culex_error *error)
{
    const culex_client_options none = {0};
    struct culex_keys *keys = NULL;
    if (ret_client == NULL)
        return culex__fail(error, CULEX_EINVAL, "no place for the client");
    if (options == NULL)
        options = &none;
    culex_status status = CULEX_OK;
    if (purpose == FOR_USE)
        status = culex__keyfile_read(options->keys, &keys, error);
    if (status == CULEX_OK)
        status = store_client_open(url, options, purpose, ret_client, error);
    if (status != CULEX_OK) {
        culex__keys_free(keys);
        *ret_client = NULL;
        return status;
    }
    (*ret_client)->keys = (*ret_client)->own_keys = keys;
    if (options->publish_schemas)
        status = culex__publishing_create(&(*ret_client)->publishing, error);
    if (status != CULEX_OK) {
        culex_client_close(*ret_client);
        *ret_client = NULL;
    }
    return status;
}

culex_status culex_client_open(const char *url, const culex_client_options *options,
                               culex_client **ret_client, culex_error *error)
{
    return client_open(url, options, FOR_USE, ret_client, error);
}

culex_status culex__client_open_existing(const char *url, const culex_client_options *options,
                                         culex_client **ret_client, culex_error *error)
{
    return client_open(url, options, TO_LOOK_AT, ret_client, error);
}

culex_status culex__client_open_spool(const char *url, const culex_client_options *options,
                                      culex_client **ret_client, culex_error *error)
{
    return client_open(url, options, FOR_ITS_SPOOL, ret_client, error);
}

void culex_client_close(culex_client *client)
{
    if (client != NULL && !client->is_lent)
        culex__client_free(client);
}

void culex__client_free(culex_client *client)
{
    culex__wait_desk_release(&client->desk, culex__client_is_ours(client));
    if (culex__client_is_ours(client)) {
        client->store->ops->close(client->store);
        culex__spooling_close(client->spooling);
        culex__turn_destroy(&client->turn);
    } else {
        culex__store_abandon(client->store); /* its turn may be taken, by nobody who is here */
        culex__spooling_abandon(client->spooling);
    }
#ifndef CULEX_PRODUCER_ONLY /* which has no claims */
    culex__claim_secrets_drop(&client->claiming);
#endif
    culex_buf_release(&client->payloads);
    free(client->publishing);
    culex__keys_free(client->own_keys);
    free(client);
}

/* --- tickets ------------------------------------------------------------------------- */

static uint64_t producer_draw(const struct culex_env *env)
{
    uint64_t producer;
    do
        producer = culex__env_random(env) & CULEX_TICKET_PRODUCER_MAX;
    while (producer == 0);
    return producer;
}

void culex__client_leave_producers(culex_client *client)
{
    memset(client->last, 0, sizeof client->last);
}

/* Holds the store's time: see culex__client_know_clock. */
static struct culex_ticket ticket_next(const culex_client *client, struct culex_ticket *last)
{
    assert(client->clock.is_known);
    if (last->producer == 0)
        last->producer = producer_draw(client->env);
    return culex__ticket_next(last, culex__storeclock_now_ms(&client->clock, client->env));
}

struct culex_ticket culex__client_next_ticket_of(culex_client *client, size_t index)
{
    return ticket_next(client, &client->last[index]);
}

culex_status culex__client_know_clock(struct culex_effort *effort, culex_error *error)
{
    culex_status status = CULEX_OK;
    struct culex_effort own = *effort; /* what is unknown of this call is nothing to the caller's */
    if (effort->client->clock.is_known)
        return CULEX_OK;
    do
        status = culex__client_sync_clock(effort->client, error);
    while (culex__effort_again(&own, status));
    if (status != CULEX_EUNKNOWN)
        return status;
    if (error != NULL)
        error->code = CULEX_ECONNECT;
    return CULEX_ECONNECT;
}

/* Of a producer of its own: whatever the client calls before, the ticket's call is the last one. */
culex_status culex_client_new_ticket(culex_client *client, culex_uuid *ret_ticket,
                                     culex_error *error)
{
    if (client == NULL || ret_ticket == NULL)
        return culex__fail(error, CULEX_EINVAL, "no client or no place for the ticket");
    struct culex_effort effort;
    culex_status status = culex__effort_begin(client, &effort, error);
    if (status != CULEX_OK)
        return status;
    status = culex__client_know_clock(&effort, error);
    if (status == CULEX_OK)
        *ret_ticket = culex__ticket_format(ticket_next(client, &(struct culex_ticket){0}));
    return culex__effort_end(&effort, status, error);
}
