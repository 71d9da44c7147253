#include "client/claim_step.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "client/claim_token.h"

enum {
    SESSIONS = 32,
    LEASE_DEFAULT_MS = 30000,
    LATE_MAX = 12,    /* the last time it is an hour ahead of its clock */
    NONCE_SHIFT = 12, /* a nonce: us since 1970, and some chance below */
};

/* One of the client's, in its turn. */
static void session_choose(culex_client *client, char *ret_session, size_t size)
{
    struct culex_claiming *claiming = &client->claiming;
    if (claiming->salt == 0)
        claiming->salt = culex__env_random(client->env) | 1;
    uint64_t number = claiming->salt + claiming->next++ % SESSIONS;
    snprintf(ret_session, size, "%016" PRIx64, number);
}

/* Greater than all before it of this client. */
static uint64_t nonce_next(culex_client *client)
{
    const struct culex_env *env = client->env;
    uint64_t now_us =
        (uint64_t)(client->clock.offset_ms * 1000 + culex__env_boottime_ns(env) / 1000);
    uint64_t chance = culex__env_random(env) >> (64 - NONCE_SHIFT);
    uint64_t nonce = now_us << NONCE_SHIFT | chance;
    if (nonce <= client->claiming.nonce)
        nonce = client->claiming.nonce + 1 + chance;
    client->claiming.nonce = nonce;
    return nonce;
}

/* Some ms ahead, each time four times as many. */
static uint64_t nonce_ahead(culex_client *client, unsigned tries)
{
    client->claiming.nonce += UINT64_C(1000) << (NONCE_SHIFT + 2 * tries);
    return nonce_next(client);
}

static culex_status step_send(struct culex_effort *effort, struct culex_claim_step *step,
                              struct culex_step_reply *ret_reply, culex_error *error)
{
    struct culex_store *store = effort->client->store;
    for (unsigned tries = 0; tries < LATE_MAX; tries++) {
        culex_status status = store->ops->step(store, &step->step, ret_reply, error);
        if (status != CULEX_OK || !ret_reply->is_late)
            return status;
        store->ops->step_release(store, ret_reply);
        step->was_repeated |= effort->is_unknown;
        step->step.nonce = nonce_ahead(effort->client, tries);
    }
    return culex__fail(error, CULEX_EBUSY, "others speak for this claim at the same time");
}

/* In the client's turn. */
static culex_status step_do(struct culex_effort *effort, struct culex_claim_step *step,
                            culex_error *error)
{
    culex_client *client = effort->client;
    struct culex_step_reply reply;
    culex_status status = culex__client_know_clock(effort, error);
    if (status != CULEX_OK)
        return status;
    if (step->session[0] == '\0')
        session_choose(client, step->session, sizeof step->session);
    step->step.session = step->session;
    step->step.nonce = nonce_next(client);
    int64_t sent_ms = culex__env_boottime_ms(client->env);
    do
        status = step_send(effort, step, &reply, error);
    while (culex__effort_again(effort, status));
    if (status != CULEX_OK)
        return status;
    status = step->take(step->arg, &reply, culex__env_boottime_ms(client->env) - sent_ms, error);
    client->store->ops->step_release(client->store, &reply);
    return status;
}

culex_status culex__claim_step_perform(culex_client *client, struct culex_claim_step *step,
                                       culex_error *error)
{
    struct culex_effort effort;
    step->was_repeated = false;
    culex_status status = culex__effort_begin(client, &effort, error);
    if (status != CULEX_OK)
        return status;
    status = step_do(&effort, step, error);
    return culex__effort_end(&effort, status, error);
}

culex_status culex__claim_client_check(const culex_client *client, culex_error *error)
{
    if (client == NULL)
        return culex__fail(error, CULEX_EINVAL, "no client");
    if (client->is_lent)
        return culex__fail(error, CULEX_EUNSUPPORTED,
                           "the client of a handler claims no runs: open one by "
                           "culex_client_open");
    return CULEX_OK;
}

culex_status culex__claim_lease_check(culex_duration lease, int64_t *ret_lease_ms,
                                      culex_error *error)
{
    *ret_lease_ms = lease == 0 ? LEASE_DEFAULT_MS : lease / CULEX_MILLISECOND;
    if (*ret_lease_ms >= CULEX_CLAIM_LEASE_MIN_MS && *ret_lease_ms <= CULEX_CLAIM_LEASE_MAX_MS)
        return CULEX_OK;
    return culex__fail(error, CULEX_EINVAL,
                       "a lease of %lld ns: it may last from 200 ms to a day; culex_seconds(n) "
                       "makes one",
                       (long long)lease);
}
