#include "client/client_private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "client/advice.h"
#include "client/home_store.h"
#include "client/newrun.h"
#include "core/patience.h"
#include "settings/storesettings.h"
#include "store/storeurl.h"

enum { LIST_LIMIT = 1000, LIST_PAGE = 100 };

/* --- life -------------------------------------------------------------------------- */

static bool client_is_ours(const culex_client *client)
{
    return client->owner == getpid();
}

culex_status culex__client_sync_clock(culex_client *client, culex_error *error)
{
    int64_t now_ms;
    culex_status status = client->store->ops->now(client->store, &now_ms, error);
    if (status != CULEX_OK)
        return status;
    culex__storeclock_set(&client->clock, client->env, now_ms);
    client->ids = (struct culex_uuid7){0};
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

/* Half the time for each try, so that there is some for a second one. */
static culex_status store_open(const char *url, const struct culex_store_settings *settings,
                               const struct culex_env *env, struct culex_store **ret_store,
                               culex_error *error)
{
    struct culex_store_options store = {.prefix = settings->prefix,
                                        .timeout_ms = settings->timeout_ms / 2 + 1,
                                        .synchronous = settings->synchronous};
    return culex__store_open(url, &store, env, ret_store, error);
}

culex_status culex_client_open(const char *url, const culex_client_options *options,
                               culex_client **ret_client, culex_error *error)
{
    const culex_client_options none = {0};
    if (ret_client == NULL)
        return culex__fail(error, CULEX_EINVAL, "no place for the client");
    if (options == NULL)
        options = &none;
    const struct culex_env *env = culex__env_system();
    struct culex_store_settings settings;
    struct culex_store *store = NULL;
    char *chosen = NULL;
    culex_status status = culex__store_url_choose(url, options->url_file, &chosen, error);
    if (status == CULEX_OK)
        status = culex__store_settings_read(chosen, options, &settings, error);
    if (status == CULEX_OK && url == NULL && options->url_file == NULL)
        status = culex__home_store_check(chosen, settings.prefix, error);
    if (status == CULEX_OK)
        status = store_open(chosen, &settings, env, &store, error);
    culex__store_url_free(chosen);
    if (status != CULEX_OK)
        return status;
    return culex__client_create(store, settings.timeout_ms, env, ret_client, error);
}

void culex_client_close(culex_client *client)
{
    if (client != NULL && !client->is_lent)
        culex__client_free(client);
}

void culex__client_free(culex_client *client)
{
    if (client_is_ours(client)) {
        client->store->ops->close(client->store);
        culex__turn_destroy(&client->turn);
    } else
        culex__store_abandon(client->store); /* its turn may be taken, by nobody who is here */
    culex_buf_release(&client->payloads);
    free(client);
}

/* --- ids ----------------------------------------------------------------------------- */

/* System calls for randomness are dear beside an id in a bulk enqueue: bits come in stock. */
static void client_draw(culex_client *client, uint64_t ret_bits[2])
{
    if (client->random_left < 2) {
        client->env->random(client->env->self, client->random, sizeof client->random);
        client->random_left = sizeof client->random / sizeof client->random[0];
    }
    ret_bits[0] = client->random[--client->random_left];
    ret_bits[1] = client->random[--client->random_left];
}

culex_uuid culex__client_next_id(culex_client *client)
{
    uint64_t bits[2];
    client_draw(client, bits);
    return culex__uuid7_next(&client->ids, culex__storeclock_now_ms(&client->clock, client->env),
                             bits);
}

culex_status culex_client_new_id(culex_client *client, culex_uuid *ret_id, culex_error *error)
{
    if (client == NULL || ret_id == NULL)
        return culex__fail(error, CULEX_EINVAL, "no client or no place for the id");
    struct culex_effort effort;
    culex_status status = culex__effort_begin(client, &effort, error);
    if (status != CULEX_OK)
        return status;
    status = culex__client_know_clock(&effort, error);
    if (status == CULEX_OK)
        *ret_id = culex__client_next_id(client);
    return culex__effort_end(&effort, status, error);
}

/* --- effort ---------------------------------------------------------------------------- */

static culex_status foreign_tell(const culex_client *client, culex_error *error)
{
    return culex__fail(error, CULEX_EINVAL,
                       "this client %s process %ld, from which this one was forked: %s",
                       client->is_lent ? "is lent to" : "was opened by", (long)client->owner,
                       client->is_lent ? "let the handler itself ask"
                                       : "open one client in each process, after fork(); a "
                                         "handler has culex_run_client(run)");
}

culex_status culex__effort_begin(culex_client *client, struct culex_effort *ret_effort,
                                 culex_error *error)
{
    int64_t now_ns = culex__env_boottime_ns(client->env);
    int64_t most_ms = INT64_MAX / 2000000;
    int64_t timeout_ms = client->timeout_ms < most_ms ? client->timeout_ms : most_ms;
    *ret_effort =
        (struct culex_effort){.client = client, .deadline_ns = now_ns + timeout_ms * 1000000};
    if (!client_is_ours(client))
        return foreign_tell(client, error);
    if (!culex__turn_take(&client->turn, timeout_ms))
        return culex__fail(error, CULEX_EBUSY,
                           "other threads used this client for all of the %lld ms that a call may "
                           "take; threads that should not wait for each other need clients of "
                           "their own",
                           (long long)client->timeout_ms);
    atomic_store(&client->until_ns, ret_effort->deadline_ns);
    return CULEX_OK;
}

static bool status_is_passing(culex_status status)
{
    return status == CULEX_EUNKNOWN || status == CULEX_ECONNECT || status == CULEX_EBUSY;
}

bool culex__effort_again(struct culex_effort *effort, culex_status status)
{
    const struct culex_env *env = effort->client->env;
    if (!status_is_passing(status))
        return false;
    effort->is_unknown |= status == CULEX_EUNKNOWN;
    effort->failures++;
    int64_t wait_ms = culex__patience_ms(effort->failures, culex__env_random(env));
    int64_t left_ms = (effort->deadline_ns - culex__env_boottime_ns(env)) / 1000000;
    if (wait_ms >= left_ms)
        return false;
    env->poll(env->self, NULL, 0, (int)wait_ms);
    return true;
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

/* Said by a store that has looked at the run itself: whatever an earlier try did shows in it. */
static bool status_is_answer(culex_status status)
{
    return status == CULEX_OK || status == CULEX_ENOTFOUND || status == CULEX_ESTATE ||
           status == CULEX_ECONFLICT || status == CULEX_EUNIQUE;
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
    atomic_store(&effort->client->until_ns, 0);
    culex__turn_give(&effort->client->turn);
    return culex__effort_judge(effort, status, error);
}

/* --- operations on one run or queue ------------------------------------------------------ */

/* Arguments and results of any operation; each uses its own part. */
struct call {
    const char *queue;
    culex_uuid id;
    culex_run_state state;
    size_t limit;
    uint64_t cursor;
    bool is_paused;
    culex_run_state ret_state;
    size_t ret_deleted;
    culex_run_info *ret_run;
    culex_queue_stats *ret_stats;
    struct culex_list_reply ret_list;
    char **ret_names;
};

typedef culex_status (*call_fn)(struct culex_store *store, struct call *call, culex_error *error);

/* What a refusal means when an earlier try of the same call may have been applied:
 * true when that try explains it, so that the call succeeded. */
typedef bool (*call_explains_fn)(struct culex_store *store, struct call *call, culex_status status);

static culex_status client_call(culex_client *client, struct call *call, call_fn function,
                                call_explains_fn explains, culex_error *error)
{
    struct culex_effort effort;
    culex_status status = culex__effort_begin(client, &effort, error);
    if (status != CULEX_OK)
        return status;
    do
        status = function(client->store, call, error);
    while (culex__effort_again(&effort, status));
    if (effort.is_unknown && explains != NULL && explains(client->store, call, status))
        status = CULEX_OK;
    return culex__effort_end(&effort, status, error);
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

static culex_status call_check(const culex_client *client, const char *queue, culex_error *error)
{
    if (client == NULL)
        return culex__fail(error, CULEX_EINVAL, "no client");
    return culex__queue_check(queue, error);
}

static bool run_state(struct culex_store *store, const struct call *call,
                      culex_run_state *ret_state)
{
    culex_run_info *run = NULL;
    if (store->ops->get(store, call->queue, call->id, &run, NULL) != CULEX_OK)
        return false;
    *ret_state = run->state;
    culex_run_info_free(run);
    return true;
}

static culex_status call_get(struct culex_store *store, struct call *call, culex_error *error)
{
    return store->ops->get(store, call->queue, call->id, &call->ret_run, error);
}

culex_status culex_client_get(culex_client *client, const char *queue, culex_uuid id,
                              culex_run_info **ret_run, culex_error *error)
{
    culex_status status = call_check(client, queue, error);
    if (status != CULEX_OK)
        return status;
    if (ret_run == NULL)
        return culex__fail(error, CULEX_EINVAL, "no place for the run");
    struct call call = {.queue = queue, .id = id};
    status = client_call(client, &call, call_get, NULL, error);
    if (status == CULEX_OK)
        *ret_run = call.ret_run;
    return status;
}

void culex_run_info_free(culex_run_info *run)
{
    if (run == NULL)
        return;
    free(run->job);
    free(run->queue);
    free(run->tags);
    free(run->error_text);
    free(run->progress_text);
    free((void *)(uintptr_t)run->payload.data);
    free((void *)(uintptr_t)run->result.data);
    free(run);
}

static culex_status call_cancel(struct culex_store *store, struct call *call, culex_error *error)
{
    return store->ops->cancel(store, call->queue, call->id, &call->ret_state, error);
}

static bool cancel_explains(struct culex_store *store, struct call *call, culex_status status)
{
    return status == CULEX_ESTATE && run_state(store, call, &call->ret_state) &&
           call->ret_state == CULEX_RUN_CANCELLED;
}

culex_status culex_client_cancel(culex_client *client, const char *queue, culex_uuid id,
                                 culex_run_state *ret_state, culex_error *error)
{
    culex_status status = call_check(client, queue, error);
    if (status != CULEX_OK)
        return status;
    struct call call = {.queue = queue, .id = id};
    status = client_call(client, &call, call_cancel, cancel_explains, error);
    if (status == CULEX_OK && ret_state != NULL)
        *ret_state = call.ret_state;
    return status;
}

static culex_status call_retry(struct culex_store *store, struct call *call, culex_error *error)
{
    return store->ops->retry(store, call->queue, call->id, error);
}

static bool retry_explains(struct culex_store *store, struct call *call, culex_status status)
{
    culex_run_state state;
    return status == CULEX_ESTATE && run_state(store, call, &state) && state != CULEX_RUN_CANCELLED;
}

culex_status culex_client_retry(culex_client *client, const char *queue, culex_uuid id,
                                culex_error *error)
{
    culex_status status = call_check(client, queue, error);
    if (status != CULEX_OK)
        return status;
    struct call call = {.queue = queue, .id = id};
    return client_call(client, &call, call_retry, retry_explains, error);
}

static culex_status call_forget(struct culex_store *store, struct call *call, culex_error *error)
{
    return store->ops->forget(store, call->queue, call->id, error);
}

static bool forget_explains(struct culex_store *store, struct call *call, culex_status status)
{
    (void)store;
    (void)call;
    return status == CULEX_ENOTFOUND;
}

culex_status culex_client_delete(culex_client *client, const char *queue, culex_uuid id,
                                 culex_error *error)
{
    culex_status status = call_check(client, queue, error);
    if (status != CULEX_OK)
        return status;
    struct call call = {.queue = queue, .id = id};
    return client_call(client, &call, call_forget, forget_explains, error);
}

/* Of a call that names a queue and no run. */
static culex_status queue_judge(struct culex_store *store, const char *queue, culex_status status,
                                culex_error *error)
{
    return status == CULEX_ENOTFOUND ? culex__advise_queue(store, queue, error) : status;
}

static culex_status call_pause(struct culex_store *store, struct call *call, culex_error *error)
{
    culex_status status = store->ops->pause(store, call->queue, call->is_paused, error);
    return queue_judge(store, call->queue, status, error);
}

static culex_status client_pause(culex_client *client, const char *queue, bool is_paused,
                                 culex_error *error)
{
    culex_status status = call_check(client, queue, error);
    if (status != CULEX_OK)
        return status;
    struct call call = {.queue = queue, .is_paused = is_paused};
    return client_call(client, &call, call_pause, NULL, error);
}

culex_status culex_client_pause(culex_client *client, const char *queue, culex_error *error)
{
    return client_pause(client, queue, true, error);
}

culex_status culex_client_resume(culex_client *client, const char *queue, culex_error *error)
{
    return client_pause(client, queue, false, error);
}

static culex_status call_limit(struct culex_store *store, struct call *call, culex_error *error)
{
    culex_status status = store->ops->limit(store, call->queue, call->limit, error);
    return queue_judge(store, call->queue, status, error);
}

culex_status culex_client_limit(culex_client *client, const char *queue, uint64_t most,
                                culex_error *error)
{
    culex_status status = call_check(client, queue, error);
    if (status != CULEX_OK)
        return status;
    if (most > CULEX_QUEUE_LIMIT_MAX)
        return culex__fail(error, CULEX_EINVAL, "a queue's limit is at most %lld",
                           (long long)CULEX_QUEUE_LIMIT_MAX);
    struct call call = {.queue = queue, .limit = (size_t)most};
    return client_call(client, &call, call_limit, NULL, error);
}

static culex_status call_purge(struct culex_store *store, struct call *call, culex_error *error)
{
    culex_status status =
        store->ops->purge(store, call->queue, call->state, call->limit, &call->ret_deleted, error);
    return queue_judge(store, call->queue, status, error);
}

culex_status culex_client_purge(culex_client *client, const char *queue, culex_run_state state,
                                size_t limit, size_t *ret_deleted, culex_error *error)
{
    culex_status status = call_check(client, queue, error);
    if (status != CULEX_OK)
        return status;
    if ((int)state < 0 || state >= CULEX_RUN_STATE_COUNT || state == CULEX_RUN_ACTIVE)
        return culex__fail(error, CULEX_EINVAL, "runs in this state cannot be purged");
    struct call call = {.queue = queue, .state = state, .limit = limit};
    status = client_call(client, &call, call_purge, NULL, error);
    if (status == CULEX_OK && ret_deleted != NULL)
        *ret_deleted = call.ret_deleted;
    return status;
}

static culex_status call_stats(struct culex_store *store, struct call *call, culex_error *error)
{
    culex_status status = store->ops->stats(store, call->queue, call->ret_stats, error);
    return queue_judge(store, call->queue, status, error);
}

culex_status culex_client_stats(culex_client *client, const char *queue,
                                culex_queue_stats *ret_stats, culex_error *error)
{
    culex_status status = call_check(client, queue, error);
    if (status != CULEX_OK)
        return status;
    if (ret_stats == NULL)
        return culex__fail(error, CULEX_EINVAL, "no place for the statistics");
    culex_queue_stats stats = {0};
    struct call call = {.queue = queue, .ret_stats = &stats};
    status = client_call(client, &call, call_stats, NULL, error);
    if (status == CULEX_OK)
        *ret_stats = stats;
    return status;
}

/* --- lists ----------------------------------------------------------------------------- */

static culex_status call_list(struct culex_store *store, struct call *call, culex_error *error)
{
    culex_status status = store->ops->list(store, call->queue, call->state, call->cursor,
                                           call->limit, &call->ret_list, error);
    return queue_judge(store, call->queue, status, error);
}

/* Visits one page without holding the lock, so that the visitor may use the client.
 * False when the visitor has had enough. */
static bool page_visit(const struct culex_list_reply *page, culex_run_visitor visit, void *user)
{
    for (size_t i = 0; i < page->count; i++) {
        if (!visit(&page->runs[i], user))
            return false;
    }
    return true;
}

culex_status culex_client_list(culex_client *client, const char *queue, culex_run_state state,
                               uint64_t *cursor, size_t limit, culex_run_visitor visit, void *user,
                               culex_error *error)
{
    culex_status status = call_check(client, queue, error);
    if (status != CULEX_OK)
        return status;
    if (cursor == NULL || visit == NULL || (int)state < 0 || state >= CULEX_RUN_STATE_COUNT)
        return culex__fail(error, CULEX_EINVAL, "no cursor, no visitor or no such state");
    size_t left = limit > 0 ? limit : LIST_LIMIT;
    bool is_wanted = true;
    while (is_wanted && left > 0) {
        struct call call = {.queue = queue,
                            .state = state,
                            .cursor = *cursor,
                            .limit = left < LIST_PAGE ? left : LIST_PAGE};
        status = client_call(client, &call, call_list, NULL, error);
        if (status != CULEX_OK)
            return status;
        is_wanted = page_visit(&call.ret_list, visit, user);
        left -= call.ret_list.count < left ? call.ret_list.count : left;
        *cursor = call.ret_list.cursor;
        client->store->ops->list_release(client->store, &call.ret_list);
        if (*cursor == 0)
            break;
    }
    return CULEX_OK;
}

static culex_status call_queues(struct culex_store *store, struct call *call, culex_error *error)
{
    return store->ops->queues(store, &call->ret_names, error);
}

culex_status culex_client_queues(culex_client *client, culex_queue_visitor visit, void *user,
                                 culex_error *error)
{
    if (client == NULL || visit == NULL)
        return culex__fail(error, CULEX_EINVAL, "no client or no visitor");
    struct call call = {0};
    culex_status status = client_call(client, &call, call_queues, NULL, error);
    if (status != CULEX_OK)
        return status;
    for (char **name = call.ret_names; *name != NULL; name++) {
        if (!visit(*name, user))
            break;
    }
    free(call.ret_names);
    return CULEX_OK;
}
