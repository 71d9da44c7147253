/* client/events.c - what becomes of runs, as programs read it and follow it. */
#include <culex/events.h>

#include <assert.h>
#include <inttypes.h>
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

/* --- positions -------------------------------------------------------------------------------
 *
 * The store counts the events of a queue from 1 on. A position is the number of the last event that
 * its holder was told, and above it a mark: a digest of that event. When the store was set back and
 * went on from there, another event has the number, or none. So no position is 0, and what came
 * before the first event is another place than CULEX_EVENTS_OLDEST. */

enum {
    NUMBER_BITS = 48,
    MARK_BARE = 1,  /* no event has that number: there was none yet, or it was dropped */
    MARK_OFF = 2,   /* the queue kept none: what happened since is not told */
    MARK_EVENT = 3, /* and up: a digest */
    MARKS = 0xffff - MARK_EVENT,
};

static uint64_t position_make(uint64_t mark, uint64_t number)
{
    return mark << NUMBER_BITS | number;
}

static uint64_t digest_mix(uint64_t digest, uint64_t word)
{
    digest = (digest ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return digest ^ digest >> 29;
}

/* The same in every version, for positions outlive a program. */
static uint64_t event_digest(const culex_event *event)
{
    uint64_t digest = digest_mix(UINT64_C(0x5a17c0de5eed1e55), (uint64_t)event->at_ms);
    for (size_t i = 0; i < sizeof event->id.b; i++)
        digest = digest_mix(digest, event->id.b[i]);
    digest = digest_mix(digest, (uint64_t)event->kind);
    digest = digest_mix(digest, (uint64_t)event->attempt << 32 | event->count);
    return digest ^ digest >> 32;
}

/* Of an event that has its number. */
static uint64_t position_of(const culex_event *event)
{
    return position_make(MARK_EVENT + event_digest(event) % MARKS, event->position);
}

static uint64_t position_mark(uint64_t position)
{
    return position >> NUMBER_BITS;
}

static uint64_t position_number(uint64_t position)
{
    return position & ((UINT64_C(1) << NUMBER_BITS) - 1);
}

/* Whether it names a place among the events, and neither of their ends. */
static bool is_place(uint64_t position)
{
    return position != CULEX_EVENTS_OLDEST && position != CULEX_EVENTS_NOW;
}

static culex_status position_check(uint64_t position, culex_error *error)
{
    uint64_t mark = position_mark(position);
    if (!is_place(position) || (mark > 0 && mark < MARK_EVENT + MARKS))
        return CULEX_OK;
    return culex__fail(error, CULEX_EINVAL,
                       "%" PRIu64
                       " is no position of events: one is told by an event, or by a call "
                       "that has looked for some",
                       position);
}

/* --- looks ----------------------------------------------------------------------------------- */

struct call {
    const char *queue;
    uint64_t after; /* the position that is asked for, */
    size_t most;
    struct culex_event_list list; /* what was found, by numbers, */
    culex_event *of;              /* what is new of that, */
    size_t count;
    uint64_t position; /* and the one to go on from */
};

struct question {
    const struct call *call;
    uint64_t behind; /* a number, or an end of the events */
    size_t most;
    struct culex_event_list list;
};

static culex_status question_ask(struct culex_store *store, void *user, culex_error *error)
{
    struct question *question = user;
    return store->ops->events(store, question->call->queue, question->behind, question->most,
                              &question->list, error);
}

/* Into the call's list, in place of what is there. One more than are to be told: the event of the
 * position. */
static culex_status page_ask(culex_client *client, struct call *call, uint64_t behind,
                             culex_error *error)
{
    struct question question = {.call = call, .behind = behind, .most = call->most + 1};
    culex__event_list_release(&call->list);
    culex_status status = culex__client_perform(client, question_ask, &question, error);
    if (status == CULEX_OK)
        call->list = question.list;
    return status;
}

/* Whether the page from the position's event on is of the history that the position is of. */
static bool is_known(const struct call *call)
{
    const struct culex_event_list *list = &call->list;
    const culex_event *first = list->count > 0 ? list->of : NULL;
    uint64_t number = position_number(call->after), mark = position_mark(call->after);
    if ((mark == MARK_OFF) != (list->kept == 0))
        return false;
    if (mark == MARK_BARE || mark == MARK_OFF)
        return first != NULL ? first->position == number + 1 : list->newest == number;
    return first != NULL && first->position == number && position_of(first) == call->after;
}

/* Whether the page says nothing of what is behind the position: the event before it is missing, or
 * there was room for the position's own only. */
static bool is_blind(const struct call *call, uint64_t number)
{
    const struct culex_event_list *list = &call->list;
    if (number == 0)
        return false;
    return position_mark(call->after) < MARK_EVENT ||
           (list->position == number && list->newest > number);
}

/* So many as it was told; the store keeps one more. */
static uint64_t list_kept(const struct culex_event_list *list)
{
    return list->kept > 0 ? list->kept - 1 : 0;
}

/* From an end of the events on. The oldest one may be kept for its position's sake only, and counts
 * as told. */
static culex_status end_look(culex_client *client, struct call *call, uint64_t end,
                             uint64_t *ret_told, culex_error *error)
{
    culex_status status = page_ask(client, call, end, error);
    uint64_t kept = list_kept(&call->list);
    *ret_told = call->list.newest > kept ? call->list.newest - kept : 0;
    return status;
}

/* The page behind a position whose event is in the store; else all that there is, as a gap. */
static culex_status place_look(culex_client *client, struct call *call, uint64_t *ret_told,
                               culex_error *error)
{
    uint64_t number = position_number(call->after);
    culex_status status = page_ask(client, call, number > 0 ? number - 1 : 0, error);
    *ret_told = number;
    if (status != CULEX_OK)
        return status;
    if (!is_known(call)) {
        status = end_look(client, call, CULEX_EVENTS_OLDEST, ret_told, error);
        call->list.is_gap = true;
        return status;
    }
    return is_blind(call, number) ? page_ask(client, call, number, error) : CULEX_OK;
}

/* What of the list is new. */
static void news_take(struct call *call, uint64_t told)
{
    const struct culex_event_list *list = &call->list;
    size_t skip = 0;
    while (skip < list->count && list->of[skip].position <= told)
        skip++;
    call->of = list->count > 0 ? list->of + skip : NULL;
    call->count = list->count - skip < call->most ? list->count - skip : call->most;
}

/* Of a number whose event the page has not. */
static culex_status position_ask(culex_client *client, struct call *call, uint64_t number,
                                 culex_error *error)
{
    struct question question = {.call = call, .behind = number - 1, .most = 1};
    call->position = position_make(MARK_BARE, number);
    if (number == 0)
        return CULEX_OK;
    culex_status status = culex__client_perform(client, question_ask, &question, error);
    if (status == CULEX_OK && question.list.count > 0 && question.list.of[0].position == number)
        call->position = position_of(&question.list.of[0]);
    culex__event_list_release(&question.list);
    return status;
}

static culex_status position_take(culex_client *client, struct call *call, culex_error *error)
{
    const struct culex_event_list *list = &call->list;
    const culex_event *last = call->count > 0 ? &call->of[call->count - 1] : NULL;
    bool is_cut = last != NULL && last < &list->of[list->count - 1];
    call->position = call->after;
    if (list->kept == 0)
        call->position = position_make(MARK_OFF, list->newest);
    else if (last != NULL && (is_cut || last->position == list->position))
        call->position = position_of(last);
    else if (!is_place(call->after) || list->is_gap ||
             list->position != position_number(call->after))
        return position_ask(client, call, list->position, error);
    return CULEX_OK;
}

static culex_status look(culex_client *client, struct call *call, culex_error *error)
{
    uint64_t told;
    culex_status status = is_place(call->after) ? place_look(client, call, &told, error)
                                                : end_look(client, call, call->after, &told, error);
    if (status != CULEX_OK)
        return status;
    news_take(call, told);
    return position_take(client, call, error);
}

/* The first one. A queue that never had an event may be one that is not there: its name was
 * misspelt, and who waits for its events would wait for ever. */
static culex_status look_first(culex_client *client, struct call *call, culex_error *error)
{
    culex_status status = look(client, call, error);
    if (status != CULEX_OK || call->list.newest > 0 || call->list.kept > 0)
        return status;
    return culex__client_queue_judge(client, call->queue, error);
}

/* Looks until there is something to tell, or the time is over. */
static culex_status look_wait(culex_client *client, struct call *call, int64_t until_ns,
                              culex_error *error)
{
    const struct culex_env *env = client->env;
    culex_status status = look_first(client, call, error);
    for (;;) {
        int64_t left_ms = (until_ns - culex__env_boottime_ns(env)) / CULEX_MS_NS;
        if (status != CULEX_OK || call->count > 0 || call->list.is_gap || left_ms <= 0)
            return status;
        call->after = call->position;
        env->poll(env->self, NULL, 0, left_ms < LOOK_MS ? (int)left_ms : LOOK_MS);
        status = look(client, call, error);
    }
}

/* --- the calls ------------------------------------------------------------------------------- */

static void told_make(const struct call *call, struct told *ret_told)
{
    for (size_t i = 0; i < call->count; i++)
        call->of[i].position = position_of(&call->of[i]);
    ret_told->list = call->list;
    ret_told->events = (culex_events){.of = call->of,
                                      .count = call->count,
                                      .position = call->position,
                                      .is_gap = call->list.is_gap,
                                      .kept = list_kept(&call->list)};
}

static culex_status call_check(const struct call *call, culex_duration timeout, culex_error *error)
{
    if (timeout < 0 || timeout > CULEX_DELAY_MAX_MS * CULEX_MS_NS)
        return culex__fail(error, CULEX_EINVAL, "no time to wait for");
    if (call->most > CULEX_EVENTS_PAGE_MAX || call->most == 0)
        return culex__fail(error, CULEX_EINVAL, "a page has 1 to %d events", CULEX_EVENTS_PAGE_MAX);
    culex_status status = culex__client_timeout_check(timeout, error);
    return status == CULEX_OK ? position_check(call->after, error) : status;
}

culex_status culex_client_events(culex_client *client, const char *queue, uint64_t after,
                                 size_t most, culex_duration timeout, culex_events **ret_events,
                                 culex_error *error)
{
    struct call call = {.queue = queue, .after = after, .most = most};
    if (ret_events != NULL)
        *ret_events = NULL;
    if (client == NULL || ret_events == NULL)
        return culex__fail(error, CULEX_EINVAL,
                           client == NULL ? "no client" : "no place for the events");
    culex_status status = call_check(&call, timeout, error);
    if (status != CULEX_OK)
        return status;
    struct told *told = calloc(1, sizeof *told);
    if (told == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for events");
    status = look_wait(client, &call, culex__env_boottime_ns(client->env) + timeout, error);
    if (status != CULEX_OK) {
        culex__event_list_release(&call.list);
        free(told);
        return status;
    }
    told_make(&call, told);
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
