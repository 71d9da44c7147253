#include "client/effort.h"

#include <assert.h>

#include "base/error.h"
#include "base/instant.h"
#include "client/client_private.h"
#include "core/patience.h"

static culex_status foreign_tell(const culex_client *client, culex_error *error)
{
    return culex__fail(error, CULEX_EINVAL,
                       "this client %s process %ld, from which this one was forked: %s",
                       client->is_lent ? "is lent to" : "was opened by", (long)client->owner,
                       client->is_lent ? "let the handler itself ask"
                                       : "open one client in each process, after fork(); a "
                                         "handler has culex_run_client(run)");
}

culex_status culex__effort_start(culex_client *client, struct culex_effort *ret_effort,
                                 culex_error *error)
{
    int64_t now_ns = culex__env_boottime_ns(client->env);
    int64_t timeout_ms = client->timeout_ms < CULEX_MS_MAX ? client->timeout_ms : CULEX_MS_MAX;
    *ret_effort =
        (struct culex_effort){.client = client, .deadline_ns = culex__after_ms(now_ns, timeout_ms)};
    return culex__client_is_ours(client) ? CULEX_OK : foreign_tell(client, error);
}

/* What the call may still take. */
static int64_t effort_left_ms(const struct culex_effort *effort)
{
    int64_t left_ns = effort->deadline_ns - culex__env_boottime_ns(effort->client->env);
    return left_ns > 0 ? left_ns / 1000000 : 0;
}

static void effort_take(const struct culex_effort *effort)
{
    atomic_store(&effort->client->until_ns, effort->deadline_ns);
    effort->client->efforts++;
}

bool culex__effort_enter(struct culex_effort *effort)
{
    if (!culex__turn_try(&effort->client->turn))
        return false;
    effort_take(effort);
    return true;
}

culex_status culex__effort_await(struct culex_effort *effort, void *load, bool *ret_is_carried,
                                 culex_error *error)
{
    culex_client *client = effort->client;
    enum culex_turn_end end = culex__turn_share(&client->turn, load, effort_left_ms(effort));
    if (end == CULEX_TURN_LATE)
        return culex__fail(error, CULEX_EBUSY,
                           "other threads used this client for all of the %lld ms that a call may "
                           "take: the store is slow or silent, or threads that should not wait for "
                           "each other need clients of their own",
                           (long long)client->timeout_ms);
    if (load != NULL)
        *ret_is_carried = end == CULEX_TURN_CARRIED;
    if (end == CULEX_TURN_TAKEN)
        effort_take(effort);
    return CULEX_OK;
}

void culex__effort_shorten(struct culex_effort *effort, int64_t ms)
{
    int64_t now_ns = culex__env_boottime_ns(effort->client->env);
    effort->deadline_ns = culex__min_ns(effort->deadline_ns, culex__after_ms(now_ns, ms));
    effort_take(effort);
}

culex_status culex__effort_begin(culex_client *client, struct culex_effort *ret_effort,
                                 culex_error *error)
{
    culex_status status = culex__effort_start(client, ret_effort, error);
    if (status != CULEX_OK || culex__effort_enter(ret_effort))
        return status;
    return culex__effort_await(ret_effort, NULL, NULL, error);
}

bool culex__effort_is_passing(culex_status status)
{
    return status == CULEX_EUNKNOWN || status == CULEX_ECONNECT || status == CULEX_EBUSY;
}

bool culex__effort_again(struct culex_effort *effort, culex_status status)
{
    const struct culex_env *env = effort->client->env;
    if (!culex__effort_is_passing(status))
        return false;
    effort->is_unknown |= status == CULEX_EUNKNOWN;
    effort->failures++;
    int64_t wait_ms = culex__patience_ms(effort->failures, culex__env_random(env));
    if (wait_ms >= effort_left_ms(effort))
        return false;
    env->poll(env->self, NULL, 0, (int)wait_ms);
    return true;
}

/* Definite answers: an earlier try's effect is already included. */
static bool status_is_answer(culex_status status)
{
    return status == CULEX_OK || status == CULEX_ENOTFOUND || status == CULEX_ESTATE ||
           status == CULEX_EUNIQUE;
}

culex_status culex__effort_judge(const struct culex_effort *effort, culex_status status,
                                 culex_error *error)
{
    if (!effort->is_unknown || status_is_answer(status) || status == CULEX_EUNKNOWN)
        return status;
    if (error != NULL)
        error->code = CULEX_EUNKNOWN;
    return CULEX_EUNKNOWN;
}

culex_status culex__effort_end(const struct culex_effort *effort, culex_status status,
                               culex_error *error)
{
    assert(atomic_load(&effort->client->until_ns) == effort->deadline_ns); /* its turn still */
    atomic_store(&effort->client->until_ns, 0);
    culex__turn_give(&effort->client->turn);
    return culex__effort_judge(effort, status, error);
}

culex_status culex__client_perform(culex_client *client, culex_client_fn function, void *arg,
                                   culex_error *error)
{
    struct culex_effort effort;
    culex_status status = culex__effort_begin(client, &effort, error);
    if (status != CULEX_OK)
        return status;
    do
        status = function(client->store, arg, error);
    while (culex__effort_again(&effort, status));
    return culex__effort_end(&effort, status, error);
}
