/* client/schedules.c - the verbs on schedules, as programs and operators call them. */
#include <stdlib.h>
#include <string.h>

#include <culex/schedules.h>

#include "base/error.h"
#include "base/nearest.h"
#include "client/client_private.h"
#include "store/schedule_list.h"
#include "store/template.h"

/* Arguments and results of any of them; each uses its own part. */
struct call {
    const char *queue, *name;
    enum culex_schedule_act act;
    int64_t asking;
    const struct culex_new_run *run;
    struct culex_schedule_list ret_list;
    struct culex_enqueue_result ret_result;
};

static culex_status list_ask(struct culex_store *store, void *user, culex_error *error)
{
    struct call *call = user;
    return store->ops->schedules(store, call->queue, &call->ret_list, error);
}

static culex_status run_ask(struct culex_store *store, void *user, culex_error *error)
{
    struct call *call = user;
    return store->ops->schedule_run(store, call->queue, call->name, call->asking, call->run,
                                    &call->ret_result, error);
}

static int row_compare(const void *a, const void *b)
{
    const struct culex_schedule_row *one = a, *other = b;
    return strcmp(one->name, other->name);
}

culex_status culex_client_schedules(culex_client *client, const char *queue,
                                    culex_schedule_visitor visit, void *user, culex_error *error)
{
    struct call call = {.queue = queue};
    if (client == NULL || visit == NULL)
        return culex__fail(error, CULEX_EINVAL, client == NULL ? "no client" : "no visitor");
    culex_status status = culex__client_perform(client, list_ask, &call, error);
    if (status != CULEX_OK)
        return status;
    const struct culex_schedule_list *list = &call.ret_list;
    if (list->count > 0)
        qsort(list->rows, list->count, sizeof *list->rows, row_compare);
    for (size_t i = 0; i < list->count; i++) {
        const struct culex_schedule_row *row = &list->rows[i];
        const culex_schedule_info info = {row->name, row->mark_ms, row->next_ms, row->newest,
                                          row->is_paused};
        if (!visit(&info, user))
            break;
    }
    if (list->count == 0)
        status = culex__client_queue_judge(client, queue, error);
    culex__schedule_list_release(&call.ret_list);
    return status;
}

/* The store has no schedule of this name, or no such queue: says so, and what may have been meant.
 */
static culex_status schedule_advise(culex_client *client, const struct culex_schedule_list *list,
                                    const struct call *call, culex_error *error)
{
    struct culex__nearest nearest = {.word = call->name};
    char meant[128];
    if (list->count == 0 && culex__client_queue_judge(client, call->queue, error) != CULEX_OK)
        return CULEX_ENOTFOUND;
    for (size_t i = 0; i < list->count; i++)
        culex__nearest_offer(&nearest, list->rows[i].name);
    return culex__fail(error, CULEX_ENOTFOUND,
                       "queue '%s' has no schedule '%s'%s (one begins with its first worker)",
                       call->queue, call->name, culex__nearest_ask(&nearest, meant));
}

static culex_status set(culex_client *client, struct call call, culex_error *error)
{
    if (client == NULL)
        return culex__fail(error, CULEX_EINVAL, "no client");
    struct culex_effort effort;
    culex_status status = culex__effort_begin(client, &effort, error);
    if (status != CULEX_OK)
        return status;
    do
        status =
            client->store->ops->schedule_set(client->store, call.queue, call.name, call.act, error);
    while (culex__effort_again(&effort, status));
    bool was_done = call.act == CULEX_SCHEDULE_FORGET && effort.is_unknown;
    status = culex__effort_end(&effort, was_done && status == CULEX_ENOTFOUND ? CULEX_OK : status,
                               error);
    if (status == CULEX_ENOTFOUND &&
        culex__client_perform(client, list_ask, &call, NULL) == CULEX_OK) {
        schedule_advise(client, &call.ret_list, &call, error);
        culex__schedule_list_release(&call.ret_list);
    }
    return status;
}

culex_status culex_client_schedule_pause(culex_client *client, const char *queue, const char *name,
                                         culex_error *error)
{
    return set(client, (struct call){queue, name, CULEX_SCHEDULE_PAUSE, .asking = 0}, error);
}

culex_status culex_client_schedule_resume(culex_client *client, const char *queue, const char *name,
                                          culex_error *error)
{
    return set(client, (struct call){queue, name, CULEX_SCHEDULE_RESUME, .asking = 0}, error);
}

culex_status culex_client_schedule_delete(culex_client *client, const char *queue, const char *name,
                                          culex_error *error)
{
    return set(client, (struct call){queue, name, CULEX_SCHEDULE_FORGET, .asking = 0}, error);
}

/* A newest run that holds the key as well is told as the newest: it must end in any case. A tick
 * may have come after the list was read: then its run has the key, where there is one. */
static culex_status taken_tell(const struct call *call, const struct culex_schedule_row *row,
                               culex_error *error)
{
    char id[CULEX_UUID_TEXT_SIZE];
    bool is_newest = memcmp(&row->newest, &call->ret_result.id, sizeof row->newest) == 0;
    bool has_key = call->run->unique_key != NULL && call->run->unique_key[0] != '\0';
    culex_uuid_format(call->ret_result.id, id);
    if (!row->may_overlap && (is_newest || !has_key))
        return culex__fail(error, CULEX_EUNIQUE,
                           "run %s of '%s' has not ended, and its runs may not overlap: wait for "
                           "its end, or cancel it",
                           id, call->name);
    return culex__fail(error, CULEX_EUNIQUE,
                       "run %s holds the unique key of the run that '%s' would enqueue: wait for "
                       "its end, or cancel it",
                       id, call->name);
}

static culex_status run_from(culex_client *client, struct call *call,
                             const struct culex_schedule_row *row, culex_error *error)
{
    struct culex_run_limit limits[CULEX_RUN_LIMITS_MAX];
    struct culex_new_run run;
    if (row->template_len == 0)
        return culex__fail(error, CULEX_ESTATE,
                           "no worker has told the store yet what '%s' enqueues: start one",
                           call->name);
    culex_status status =
        culex__template_read(row->template, row->template_len, limits, &run, error);
    if (status != CULEX_OK)
        return status;
    call->run = &run;
    status = culex__client_perform(client, run_ask, call, error);
    if (status == CULEX_OK && call->ret_result.outcome != CULEX_ENQUEUED_NEW &&
        call->ret_result.outcome != CULEX_ENQUEUED_REPLACED)
        status = taken_tell(call, row, error);
    return status;
}

/* Not the time: two programs, or two calls of one, may ask in the same ms. Exact as a number of
 * JSON and of Lua. */
static int64_t asking_choose(const culex_client *client)
{
    return (int64_t)(culex__env_random(client->env) >> 11 | 1);
}

culex_status culex_client_schedule_run(culex_client *client, const char *queue, const char *name,
                                       culex_uuid *ret_id, culex_error *error)
{
    struct call call = {.queue = queue, .name = name};
    if (client == NULL || name == NULL)
        return culex__fail(error, CULEX_EINVAL, client == NULL ? "no client" : "no schedule");
    culex_status status = culex__client_perform(client, list_ask, &call, error);
    if (status != CULEX_OK)
        return status;
    const struct culex_schedule_row *row = culex__schedule_list_find(&call.ret_list, name);
    call.asking = asking_choose(client);
    status = row != NULL ? run_from(client, &call, row, error)
                         : schedule_advise(client, &call.ret_list, &call, error);
    culex__schedule_list_release(&call.ret_list);
    if (ret_id != NULL && (status == CULEX_OK || status == CULEX_EUNIQUE))
        *ret_id = call.ret_result.id;
    return status;
}
