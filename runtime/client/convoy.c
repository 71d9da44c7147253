#include "client/convoy.h"

#include <string.h>

#include "client/client_private.h"
#include "base/instant.h"

/* As much as an enqueue call of one thread may carry; and of the time that a call may take, the
 * part that must be left to all: who has less would end the try for the others. */
enum { BYTES_MAX = 2 * 1024 * 1024, PART_LEFT = 4 };

struct convoy {
    struct culex_effort *effort;
    size_t count, bytes;
    int64_t until_ns; /* when the first of the calls ends */
    int64_t least_ns; /* none may end before; 0: not known yet */
    struct culex_convoy_call *calls[CULEX_STORE_EACH_MAX];
    struct culex_ticket tickets[CULEX_STORE_EACH_MAX];
    struct culex_new_run runs[CULEX_STORE_EACH_MAX];
    struct culex_enqueue_result results[CULEX_STORE_EACH_MAX];
};

static void convoy_add(struct convoy *convoy, struct culex_convoy_call *call)
{
    convoy->calls[convoy->count++] = call;
    convoy->bytes += call->run->payload_len;
    convoy->until_ns = culex__min_ns(convoy->until_ns, call->deadline_ns);
}

/* The arrays are filled later, where anybody comes along. */
static void convoy_begin(struct convoy *convoy, struct culex_effort *effort,
                         struct culex_convoy_call *call)
{
    convoy->effort = effort;
    convoy->count = convoy->bytes = 0;
    convoy->until_ns = call->deadline_ns = effort->deadline_ns;
    convoy->least_ns = 0;
    convoy_add(convoy, call);
}

/* Whether there is time for a try of those who are in it and `call`. */
static bool is_in_time(struct convoy *convoy, const struct culex_convoy_call *call)
{
    const culex_client *client = convoy->effort->client;
    if (convoy->least_ns == 0)
        convoy->least_ns =
            culex__after_ms(culex__env_boottime_ns(client->env), client->timeout_ms / PART_LEFT);
    return culex__min_ns(convoy->until_ns, call->deadline_ns) >= convoy->least_ns;
}

static bool convoy_wants(void *user, void *load)
{
    struct convoy *convoy = user;
    struct culex_convoy_call *call = load;
    if (convoy->count == CULEX_STORE_EACH_MAX || !is_in_time(convoy, call) ||
        convoy->bytes + call->run->payload_len > BYTES_MAX ||
        strcmp(call->queue, convoy->calls[0]->queue) != 0)
        return false;
    convoy_add(convoy, call);
    return true;
}

static culex_status convoy_try(struct convoy *convoy, culex_error *error)
{
    culex_client *client = convoy->effort->client;
    struct culex_store *store = client->store;
    for (size_t i = 0; i < convoy->count; i++) {
        convoy->tickets[i] = culex__client_next_ticket_of(client, i);
        convoy->runs[i] = *convoy->calls[i]->run;
    }
    atomic_store(&client->until_ns, convoy->until_ns);
    culex_status status =
        store->ops->enqueue_each(store, convoy->calls[0]->queue, convoy->tickets, convoy->runs,
                                 convoy->count, convoy->results, error);
    atomic_store(&client->until_ns, convoy->effort->deadline_ns);
    return status;
}

static void convoy_tell(struct convoy *convoy, culex_status status, const culex_error *error)
{
    for (size_t i = 0; i < convoy->count; i++) {
        struct culex_convoy_call *call = convoy->calls[i];
        call->ticket = convoy->tickets[i];
        call->is_answered = status == CULEX_OK;
        call->is_unknown = status == CULEX_EUNKNOWN;
        call->result = convoy->results[i];
        if (status != CULEX_OK && call->cause != NULL)
            *call->cause = *error;
    }
}

void culex__convoy_go(struct culex_effort *effort, struct culex_convoy_call *call)
{
    culex_client *client = effort->client;
    struct convoy convoy;
    if (client->has_no_convoys)
        return;
    convoy_begin(&convoy, effort, call);
    struct culex_turn_waiter *others = culex__turn_collect(&client->turn, convoy_wants, &convoy);
    if (others == NULL)
        return;
    culex_error error = {0};
    culex_status status = convoy_try(&convoy, &error);
    convoy_tell(&convoy, status, &error);
    client->has_no_convoys = status == CULEX_EUNSUPPORTED;
    if (status != CULEX_OK)
        culex__client_leave_producers(client); /* to the calls, which go on with their tickets */
    culex__turn_return(&client->turn, others);
}
