/* client/events.c - what becomes of runs, as programs read it and follow it. */
#include <culex/events.h>

#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/instant.h"
#include "client/client_private.h"
#include "store/event_entry.h"

enum { LOOK_MS = 200 };

/* What is handed out, and the list that it stands on. */
struct told {
    culex_events events;
    struct culex_event_list list;
};

const char *culex_events_kind_name(culex_events_kind kind)
{
    static const char *const names[] = {
        "enqueued", "replaced",  "started", "done",  "failed",    "crashed", "lost",   "released",
        "dead",     "cancelled", "retried", "moved", "forgotten", "purged",  "paused", "resumed"};
    static_assert(sizeof names / sizeof names[0] == CULEX_EVENTS_KIND_COUNT, "a name for each");
    return (size_t)kind < CULEX_EVENTS_KIND_COUNT ? names[kind] : "?";
}

struct call {
    const char *queue;
    uint64_t after;
    size_t most;
    struct culex_event_list list;
};

static culex_status page_ask(struct culex_store *store, void *user, culex_error *error)
{
    struct call *call = user;
    return store->ops->events(store, call->queue, call->after, call->most, &call->list, error);
}

/* The first look. A queue that never had an event may be one that is not there: its name was
 * misspelt, and who waits for its events would wait for ever. */
static culex_status page_first(culex_client *client, struct call *call, culex_error *error)
{
    culex_status status = culex__client_perform(client, page_ask, call, error);
    if (status != CULEX_OK || call->list.count > 0 || call->list.position > 0)
        return status;
    return culex__client_queue_judge(client, call->queue, error);
}

/* Looks until there is something to tell, or the time is over. */
static culex_status page_wait(culex_client *client, struct call *call, int64_t until_ns,
                              culex_error *error)
{
    const struct culex_env *env = client->env;
    culex_status status = page_first(client, call, error);
    for (;;) {
        int64_t left_ms = (until_ns - culex__env_boottime_ns(env)) / CULEX_MS_NS;
        if (status != CULEX_OK || call->list.count > 0 || call->list.is_gap || left_ms <= 0)
            return status;
        call->after = call->list.position; /* of CULEX_EVENTS_NOW it is where we began */
        culex__event_list_release(&call->list);
        env->poll(env->self, NULL, 0, left_ms < LOOK_MS ? (int)left_ms : LOOK_MS);
        status = culex__client_perform(client, page_ask, call, error);
    }
}

culex_status culex_client_events(culex_client *client, const char *queue, uint64_t after,
                                 size_t most, culex_duration timeout, culex_events **ret_events,
                                 culex_error *error)
{
    struct call call = {.queue = queue, .after = after, .most = most};
    if (client == NULL || ret_events == NULL)
        return culex__fail(error, CULEX_EINVAL,
                           client == NULL ? "no client" : "no place for the events");
    if (timeout < 0 || timeout > CULEX_DELAY_MAX_MS * CULEX_MS_NS)
        return culex__fail(error, CULEX_EINVAL, "no time to wait for");
    culex_status status = culex__client_timeout_check(timeout, error);
    if (status != CULEX_OK)
        return status;
    struct told *told = calloc(1, sizeof *told);
    if (told == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for events");
    status = page_wait(client, &call, culex__env_boottime_ns(client->env) + timeout, error);
    if (status != CULEX_OK) {
        free(told);
        return status;
    }
    told->list = call.list;
    told->events = (culex_events){.of = call.list.of,
                                  .count = call.list.count,
                                  .position = call.list.position,
                                  .is_gap = call.list.is_gap};
    *ret_events = &told->events;
    return CULEX_OK;
}

void culex_events_free(culex_events *events)
{
    struct told *told = (struct told *)events;
    if (told == NULL)
        return;
    culex__event_list_release(&told->list);
    free(told);
}
