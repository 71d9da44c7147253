/* client/operate.c - the verbs on one run or one queue, as programs and operators call them.
 *
 * A verb is its row (struct verb) and its public function; what all have in common stands in
 * operate(). Arguments are checked by the store's own front (store/verbs.def). */
#include <culex/events.h>

#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "client/advice.h"
#include "client/client_private.h"
#include "client/enqueue_options.h"
#include "core/duration.h"
#include "core/queue_name.h"

/* Arguments and results of any verb; each uses its own part. */
struct call {
    const char *queue;
    culex_uuid id;
    culex_run_state state;
    const culex_list_filter *filter;
    size_t limit;
    uint64_t most;
    int64_t for_ms;
    struct culex_place place;
    culex_list_cursor cursor;
    bool is_paused;
    culex_run_state ret_state;
    struct culex_purge_reply ret_purge;
    culex_run_info *ret_run;
    culex_queue_stats ret_stats;
    struct culex_list_reply ret_list;
};

struct verb {
    culex_status (*ask)(struct culex_store *store, struct call *call, culex_error *error);

    /* What a refusal means when an earlier try of the same call may have been applied: true when
     * that try explains it, so that the call succeeded. NULL: never. */
    bool (*explains)(struct culex_store *store, struct call *call, culex_status status);

    bool is_about_queue; /* and no run */
    bool is_once;        /* a repeat would do more: a lost reply ends the call */
};

static culex_status id_check(culex_uuid id, culex_error *error)
{
    struct culex_ticket ticket;
    if (!culex__ticket_parse(id, &ticket))
        return CULEX_OK;
    return culex__fail(error, CULEX_ENOTFOUND,
                       "this is the ticket of an enqueue call and no run's id: repeat that call "
                       "with it as options.ticket, and take the id from there");
}

static culex_status operate(culex_client *client, const struct verb *verb, struct call *call,
                            culex_error *error)
{
    struct culex_effort effort;
    if (client == NULL)
        return culex__fail(error, CULEX_EINVAL, "no client");
    culex_status status = culex__queue_check(call->queue, error);
    if (status == CULEX_OK && !verb->is_about_queue)
        status = id_check(call->id, error);
    if (status == CULEX_OK)
        status = culex__effort_begin(client, &effort, error);
    if (status != CULEX_OK)
        return status;
    do
        status = verb->ask(client->store, call, error);
    while (!(verb->is_once && status == CULEX_EUNKNOWN) && culex__effort_again(&effort, status));
    if (status == CULEX_ENOTFOUND)
        (verb->is_about_queue ? culex__advise_queue : culex__advise_run)(client->store, call->queue,
                                                                         error);
    if (effort.is_unknown && verb->explains != NULL && verb->explains(client->store, call, status))
        status = CULEX_OK;
    return culex__effort_end(&effort, status, error);
}

/* --- one run ------------------------------------------------------------------------------- */

static culex_status get_ask(struct culex_store *store, struct call *call, culex_error *error)
{
    return store->ops->get(store, call->queue, call->id, &call->ret_run, error);
}

culex_status culex_client_get(culex_client *client, const char *queue, culex_uuid id,
                              culex_run_info **ret_run, culex_error *error)
{
    static const struct verb get = {.ask = get_ask};
    struct call call = {.queue = queue, .id = id};
    if (ret_run == NULL)
        return culex__fail(error, CULEX_EINVAL, "no place for the run");
    culex_status status = operate(client, &get, &call, error);
    *ret_run = status == CULEX_OK ? call.ret_run : NULL;
    return status;
}

void culex_run_info_free(culex_run_info *run)
{
    culex__run_info_free(run);
}

/* False when the store does not tell. */
static bool state_find(struct culex_store *store, const struct call *call,
                       culex_run_state *ret_state)
{
    culex_run_info *run = NULL;
    if (store->ops->get(store, call->queue, call->id, &run, NULL) != CULEX_OK)
        return false;
    *ret_state = run->state;
    culex_run_info_free(run);
    return true;
}

static culex_status cancel_ask(struct culex_store *store, struct call *call, culex_error *error)
{
    return store->ops->cancel(store, call->queue, call->id, &call->ret_state, error);
}

static bool cancel_explains(struct culex_store *store, struct call *call, culex_status status)
{
    return status == CULEX_ESTATE && state_find(store, call, &call->ret_state) &&
           call->ret_state == CULEX_RUN_CANCELLED;
}

culex_status culex_client_cancel(culex_client *client, const char *queue, culex_uuid id,
                                 culex_run_state *ret_state, culex_error *error)
{
    static const struct verb cancel = {.ask = cancel_ask, .explains = cancel_explains};
    struct call call = {.queue = queue, .id = id};
    culex_status status = operate(client, &cancel, &call, error);
    if (status == CULEX_OK && ret_state != NULL)
        *ret_state = call.ret_state;
    return status;
}

static culex_status retry_ask(struct culex_store *store, struct call *call, culex_error *error)
{
    return store->ops->retry(store, call->queue, call->id, error);
}

static bool retry_explains(struct culex_store *store, struct call *call, culex_status status)
{
    culex_run_state state;
    return status == CULEX_ESTATE && state_find(store, call, &state) &&
           state != CULEX_RUN_CANCELLED;
}

culex_status culex_client_retry(culex_client *client, const char *queue, culex_uuid id,
                                culex_error *error)
{
    static const struct verb retry = {.ask = retry_ask, .explains = retry_explains};
    return operate(client, &retry, &(struct call){.queue = queue, .id = id}, error);
}

static culex_status forget_ask(struct culex_store *store, struct call *call, culex_error *error)
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
    static const struct verb forget = {.ask = forget_ask, .explains = forget_explains};
    return operate(client, &forget, &(struct call){.queue = queue, .id = id}, error);
}

static culex_status move_ask(struct culex_store *store, struct call *call, culex_error *error)
{
    return store->ops->move(store, call->queue, call->id, &call->place, error);
}

static culex_status place_make(const culex_move *move, struct culex_place *ret_place,
                               culex_error *error)
{
    culex_status status = culex__move_check("move", move, error);
    if (status != CULEX_OK)
        return status;
    if (!move->has_delay && !move->has_at && !move->has_priority)
        return culex__fail(error, CULEX_EINVAL,
                           "a move to where the run stands: set move.has_delay, move.has_at or "
                           "move.has_priority");
    *ret_place = (struct culex_place){
        .has_time = move->has_delay || move->has_at,
        .delay_ms = move->delay > 0 ? culex__duration_ms_up(move->delay) : 0,
        .at_ms = move->has_at ? culex__duration_ms_up(move->at) : 0,
        .priority = move->has_priority ? move->priority : -1,
    };
    return CULEX_OK;
}

culex_status culex_client_move(culex_client *client, const char *queue, culex_uuid id,
                               const culex_move *move, culex_error *error)
{
    static const struct verb verb = {.ask = move_ask};
    struct call call = {.queue = queue, .id = id};
    if (move == NULL)
        return culex__fail(error, CULEX_EINVAL, "no place to move the run to");
    culex_status status = place_make(move, &call.place, error);
    return status == CULEX_OK ? operate(client, &verb, &call, error) : status;
}

/* --- one queue ----------------------------------------------------------------------------- */

static culex_status pause_ask(struct culex_store *store, struct call *call, culex_error *error)
{
    return store->ops->pause(store, call->queue, call->is_paused, error);
}

static const struct verb pause_verb = {.ask = pause_ask, .is_about_queue = true};

culex_status culex_client_pause(culex_client *client, const char *queue, culex_error *error)
{
    return operate(client, &pause_verb, &(struct call){.queue = queue, .is_paused = true}, error);
}

culex_status culex_client_resume(culex_client *client, const char *queue, culex_error *error)
{
    return operate(client, &pause_verb, &(struct call){.queue = queue, .is_paused = false}, error);
}

static culex_status pause_for_ask(struct culex_store *store, struct call *call, culex_error *error)
{
    return store->ops->pause_for(store, call->queue, call->for_ms, error);
}

static culex_status pause_span_check(culex_duration span, culex_error *error)
{
    if (culex__duration_is_slip(span))
        return culex__fail(error, CULEX_EINVAL,
                           "a pause of %lld nanoseconds is too short to be meant: write "
                           "culex_seconds(%lld), or culex_minutes, _hours, _days",
                           (long long)span, (long long)span);
    if (span < CULEX_MILLISECOND)
        return culex__fail(error, CULEX_EINVAL,
                           "a pause lasts 1 ms or more; culex_client_resume ends one");
    if (span > CULEX_DELAY_MAX_MS * CULEX_MILLISECOND)
        return culex__fail(error, CULEX_EINVAL,
                           "a pause of more than 100 years: culex_client_pause is the one without "
                           "an end");
    return CULEX_OK;
}

culex_status culex_client_pause_for(culex_client *client, const char *queue,
                                    culex_duration duration, culex_error *error)
{
    static const struct verb pause_for = {.ask = pause_for_ask, .is_about_queue = true};
    culex_status status = pause_span_check(duration, error);
    if (status != CULEX_OK)
        return status;
    struct call call = {.queue = queue, .for_ms = culex__duration_ms_up(duration)};
    return operate(client, &pause_for, &call, error);
}

static culex_status limit_ask(struct culex_store *store, struct call *call, culex_error *error)
{
    return store->ops->limit(store, call->queue, call->most, error);
}

culex_status culex_client_limit(culex_client *client, const char *queue, uint64_t most,
                                culex_error *error)
{
    static const struct verb limit = {.ask = limit_ask, .is_about_queue = true};
    return operate(client, &limit, &(struct call){.queue = queue, .most = most}, error);
}

static culex_status dead_limit_ask(struct culex_store *store, struct call *call, culex_error *error)
{
    return store->ops->dead_limit(store, call->queue, call->most, error);
}

culex_status culex_client_dead_limit(culex_client *client, const char *queue, uint64_t most,
                                     culex_error *error)
{
    static const struct verb dead_limit = {.ask = dead_limit_ask, .is_about_queue = true};
    return operate(client, &dead_limit, &(struct call){.queue = queue, .most = most}, error);
}

static culex_status events_keep_ask(struct culex_store *store, struct call *call,
                                    culex_error *error)
{
    return store->ops->events_keep(store, call->queue, call->most, error);
}

culex_status culex_client_events_keep(culex_client *client, const char *queue, uint64_t most,
                                      culex_error *error)
{
    static const struct verb events_keep = {.ask = events_keep_ask, .is_about_queue = true};
    uint64_t more = most > 0 && most < UINT64_MAX ? most + 1 : most; /* see store/store.h */
    return operate(client, &events_keep, &(struct call){.queue = queue, .most = more}, error);
}

static culex_status purge_ask(struct culex_store *store, struct call *call, culex_error *error)
{
    return store->ops->purge(store, call->queue, call->state, call->limit, &call->ret_purge, error);
}

/* Of a call that ended with `status` at a page of `limit` runs. */
static void purge_tell(culex_status status, size_t deleted, size_t limit, culex_error *error)
{
    if (status == CULEX_EUNKNOWN)
        culex__error_context(error, "%zu runs are deleted for certain, up to %zu more perhaps",
                             deleted, limit);
    else if (deleted > 0)
        culex__error_context(error, "after %zu runs were deleted", deleted);
}

/* No queue has as many ghosts (redis/purge.lua) as these pages can drop. */
enum { PURGE_IDLE_PAGES_MAX = 10000 };

culex_status culex_client_purge(culex_client *client, const char *queue, culex_run_state state,
                                size_t limit, size_t *ret_deleted, culex_error *error)
{
    static const struct verb purge = {.ask = purge_ask, .is_about_queue = true, .is_once = true};
    struct call call = {.queue = queue, .state = state, .ret_purge = {.is_more = true}};
    size_t deleted = 0, idle = 0;
    culex_status status = CULEX_OK;
    while (call.ret_purge.is_more && deleted < limit && idle < PURGE_IDLE_PAGES_MAX) {
        size_t left = limit - deleted;
        call.limit = left < CULEX_STORE_PURGE_MAX ? left : CULEX_STORE_PURGE_MAX;
        status = operate(client, &purge, &call, error);
        if (status != CULEX_OK)
            break;
        deleted += call.ret_purge.deleted;
        idle += call.ret_purge.deleted == 0;
    }
    if (status != CULEX_OK)
        purge_tell(status, deleted, call.limit, error);
    if (ret_deleted != NULL)
        *ret_deleted = deleted;
    return status;
}

static culex_status stats_ask(struct culex_store *store, struct call *call, culex_error *error)
{
    return store->ops->stats(store, call->queue, &call->ret_stats, error);
}

culex_status culex_client_stats(culex_client *client, const char *queue,
                                culex_queue_stats *ret_stats, culex_error *error)
{
    static const struct verb stats = {.ask = stats_ask, .is_about_queue = true};
    struct call call = {.queue = queue};
    if (ret_stats == NULL)
        return culex__fail(error, CULEX_EINVAL, "no place for the statistics");
    culex_status status = operate(client, &stats, &call, error);
    if (status == CULEX_OK)
        *ret_stats = call.ret_stats;
    return status;
}

culex_status culex__client_queue_judge(culex_client *client, const char *queue, culex_error *error)
{
    culex_queue_stats stats;
    culex_error missing = {0};
    if (culex_client_stats(client, queue, &stats, &missing) != CULEX_ENOTFOUND)
        return CULEX_OK;
    return culex__fail(error, CULEX_ENOTFOUND, "%s", missing.text);
}

/* --- lists --------------------------------------------------------------------------------- */

/* After so many empty pages in a row a call ends: its caller may want to. */
enum { LIST_LIMIT = 1000, LIST_PAGE = 100, LIST_EMPTY_MAX = 100 };

static culex_status list_ask(struct culex_store *store, struct call *call, culex_error *error)
{
    return store->ops->list(store, call->queue, call->filter, call->cursor, call->limit,
                            &call->ret_list, error);
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

culex_status culex_client_find(culex_client *client, const char *queue,
                               const culex_list_filter *filter, culex_list_cursor *cursor,
                               size_t limit, culex_run_visitor visit, void *user,
                               culex_error *error)
{
    static const struct verb list = {.ask = list_ask, .is_about_queue = true};
    culex_status status = CULEX_OK;
    if (cursor == NULL)
        return culex__fail(error, CULEX_EINVAL, "no cursor");
    if (visit == NULL)
        return culex__fail(error, CULEX_EINVAL, "no visitor");
    size_t left = limit > 0 ? limit : LIST_LIMIT;
    bool is_wanted = true;
    for (int empty = 0; is_wanted && left > 0 && empty < LIST_EMPTY_MAX;) {
        struct call call = {.queue = queue,
                            .filter = filter != NULL ? filter : CULEX_LIST_OF(CULEX_LIST_ANY),
                            .cursor = *cursor,
                            .limit = left < LIST_PAGE ? left : LIST_PAGE};
        status = operate(client, &list, &call, error);
        if (status != CULEX_OK)
            return status;
        is_wanted = page_visit(&call.ret_list, visit, user);
        left -= call.ret_list.count < left ? call.ret_list.count : left;
        empty = call.ret_list.count > 0 ? 0 : empty + 1;
        *cursor = call.ret_list.cursor;
        client->store->ops->list_release(client->store, &call.ret_list);
        if (cursor->place == 0)
            break;
    }
    return CULEX_OK;
}

culex_status culex_client_list(culex_client *client, const char *queue, culex_run_state state,
                               culex_list_cursor *cursor, size_t limit, culex_run_visitor visit,
                               void *user, culex_error *error)
{
    if ((unsigned)state >= CULEX_RUN_STATE_COUNT)
        return culex__fail(error, CULEX_EINVAL, "no such state of runs");
    return culex_client_find(client, queue, CULEX_LIST_OF(state), cursor, limit, visit, user,
                             error);
}

static culex_status queues_call(struct culex_store *store, void *arg, culex_error *error)
{
    return store->ops->queues(store, arg, error);
}

culex_status culex_client_queues(culex_client *client, culex_queue_visitor visit, void *user,
                                 culex_error *error)
{
    char **names = NULL;
    if (client == NULL || visit == NULL)
        return culex__fail(error, CULEX_EINVAL, client == NULL ? "no client" : "no visitor");
    culex_status status = culex__client_perform(client, queues_call, &names, error);
    if (status != CULEX_OK)
        return status;
    for (char **name = names; *name != NULL; name++) {
        if (!visit(*name, user))
            break;
    }
    free(names);
    return CULEX_OK;
}
