/* client/wait.c - waiting for the ends of runs.
 *
 * A look arms the store, then asks it for the states of all that is pending, which notes them there
 * (store/verbs.def), and reads the runs that have ended. Between looks the thread sleeps at the
 * client's desk (client/wait_desk.h), outside of its turn. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/instant.h"
#include "client/client_private.h"
#include "client/wait_desk.h"
#include "core/queue_name.h"

enum {
    WAITS_MAX = 1000,
    LOOK_MS = 5000,  /* a word that was lost costs no more */
    NOTE_MS = 30000, /* so long the store knows of a client that has died */
};

struct wait_call {
    culex_client *client;
    culex_wait *waits;
    size_t count, enough;
    int64_t deadline_ns;
    bool is_once; /* nothing is noted, and nobody told */
    size_t pending;
    size_t joined; /* of `waits`, those before have a place at the desk while they are pending */
    uint64_t seen; /* wake-ups, before the newest look */
    bool is_leader;
    /* Those whose records cannot be read: they stay pending, and the others are waited for. */
    bool is_damaged[WAITS_MAX];
    size_t damaged;
    culex_error damage; /* of the first */
};

const char *culex_wait_end_name(culex_wait_end end)
{
    static const char *const names[] = {"pending", "done", "dead", "cancelled", "forgotten"};
    return (size_t)end < sizeof names / sizeof names[0] ? names[end] : "unknown";
}

/* --- a look --------------------------------------------------------------------------------- */

static bool end_of(culex_run_state state, culex_wait_end *ret_end)
{
    switch (state) {
    case CULEX_RUN_DONE:
        *ret_end = CULEX_WAIT_DONE;
        return true;
    case CULEX_RUN_DEAD:
        *ret_end = CULEX_WAIT_DEAD;
        return true;
    case CULEX_RUN_CANCELLED:
        *ret_end = CULEX_WAIT_CANCELLED;
        return true;
    default:
        return false;
    }
}

static culex_status damage_note(struct wait_call *call, const culex_wait *wait,
                                const culex_error *trouble)
{
    size_t at = (size_t)(wait - call->waits);
    call->is_damaged[at] = true;
    if (call->damaged++ == 0)
        culex__fail(&call->damage, CULEX_ECORRUPT, "waits[%zu]: %s", at, trouble->text);
    return CULEX_OK;
}

/* Its state was this a moment ago. An operator may have revived the run since. */
static culex_status run_settle(struct wait_call *call, struct culex_store *store, culex_wait *wait,
                               culex_run_state state, culex_error *error)
{
    culex_wait_end end = CULEX_WAIT_FORGOTTEN;
    culex_run_info *run = NULL;
    culex_error trouble = {.code = CULEX_OK};
    if (state != CULEX_RUN_STATE_COUNT && !end_of(state, &end))
        return CULEX_OK;
    culex_status status = CULEX_ENOTFOUND;
    if (state != CULEX_RUN_STATE_COUNT)
        status = store->ops->get(store, wait->queue, wait->id, &run, &trouble);
    if (status == CULEX_ECORRUPT)
        return damage_note(call, wait, &trouble);
    if (status == CULEX_OK && !end_of(run->state, &end)) {
        culex_run_info_free(run);
        return CULEX_OK;
    }
    if (status != CULEX_OK && status != CULEX_ENOTFOUND) {
        if (error != NULL)
            *error = trouble;
        return status;
    }
    wait->end = status == CULEX_OK ? end : CULEX_WAIT_FORGOTTEN;
    wait->run = run;
    call->pending--;
    if (!call->is_once)
        culex__wait_desk_part(&call->client->desk, wait->queue);
    return CULEX_OK;
}

/* A store that is full takes no notes; then only time is lost. */
static culex_status states_ask(const struct wait_call *call, struct culex_store *store,
                               const char *queue, const culex_uuid *ids, size_t count,
                               culex_run_state *states, culex_error *error)
{
    culex_status status = CULEX_EFULL;
    if (!call->is_once)
        status = store->ops->wait(store, queue, ids, count, NOTE_MS, states, error);
    if (status == CULEX_EFULL && error != NULL)
        *error = (culex_error){.code = CULEX_OK};
    if (status == CULEX_EFULL)
        status = store->ops->wait(store, queue, ids, count, 0, states, error);
    return status;
}

/* Those of one queue that are pending, from `first` on, as many as one question takes. `asked`
 * tells which were. */
static culex_status queue_look(struct wait_call *call, struct culex_store *store, size_t first,
                               bool *asked, culex_error *error)
{
    culex_uuid ids[CULEX_STORE_WAIT_MAX];
    size_t places[CULEX_STORE_WAIT_MAX], count = 0;
    culex_run_state states[CULEX_STORE_WAIT_MAX];
    const char *queue = call->waits[first].queue;
    for (size_t i = first; i < call->count && count < CULEX_STORE_WAIT_MAX; i++) {
        culex_wait *wait = &call->waits[i];
        if (asked[i] || wait->end != CULEX_WAIT_PENDING || strcmp(wait->queue, queue) != 0)
            continue;
        asked[i] = true;
        places[count] = i;
        ids[count++] = wait->id;
    }
    culex_status status = states_ask(call, store, queue, ids, count, states, error);
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = run_settle(call, store, &call->waits[places[i]], states[i], error);
    return status;
}

static culex_status desk_join(struct wait_call *call, culex_error *error)
{
    culex_status status = CULEX_OK;
    while (call->joined < call->count && status == CULEX_OK) {
        const culex_wait *wait = &call->waits[call->joined];
        if (wait->end == CULEX_WAIT_PENDING)
            status = culex__wait_desk_join(&call->client->desk, wait->queue, error);
        call->joined += status == CULEX_OK;
    }
    return status;
}

static void desk_leave(struct wait_call *call)
{
    struct culex_wait_desk *desk = &call->client->desk;
    for (size_t i = 0; i < call->joined; i++) {
        if (call->waits[i].end == CULEX_WAIT_PENDING)
            culex__wait_desk_part(desk, call->waits[i].queue);
    }
    culex__wait_desk_leave(desk, call->is_leader);
}

static culex_status look(struct culex_store *store, void *arg, culex_error *error)
{
    struct wait_call *call = arg;
    bool asked[WAITS_MAX];
    memcpy(asked, call->is_damaged, sizeof asked);
    culex_status status = call->is_once ? CULEX_OK : desk_join(call, error);
    if (status == CULEX_OK && !call->is_once)
        status =
            culex__wait_desk_arm(&call->client->desk, store, call->is_leader, &call->seen, error);
    for (size_t i = 0; i < call->count && status == CULEX_OK; i++) {
        if (!asked[i] && call->waits[i].end == CULEX_WAIT_PENDING)
            status = queue_look(call, store, i, asked, error);
    }
    if (status == CULEX_OK && !call->is_once)
        culex__wait_desk_tell(&call->client->desk);
    return status;
}

/* --- between looks -------------------------------------------------------------------------- */

static int64_t left_ms(const struct wait_call *call)
{
    int64_t left_ns = call->deadline_ns - culex__env_boottime_ns(call->client->env);
    return left_ns > 0 ? left_ns / CULEX_MS_NS + 1 : 0;
}

static culex_status damage_tell(const struct wait_call *call, culex_error *error)
{
    if (error != NULL)
        *error = call->damage;
    return call->damage.code;
}

static culex_status wait_all(struct wait_call *call, culex_error *error)
{
    size_t least = call->enough < call->pending ? call->pending - call->enough : 0;
    for (;;) {
        culex_status status = culex__client_perform(call->client, look, call, error);
        int64_t left = left_ms(call);
        if (call->pending <= least)
            return CULEX_OK;
        if (status == CULEX_OK && call->damaged > 0 &&
            (left == 0 || call->pending == call->damaged))
            return damage_tell(call, error);
        if (left == 0 || (status != CULEX_OK && !culex__effort_is_passing(status)))
            return status;
        if (status == CULEX_OK)
            culex__wait_desk_sleep(&call->client->desk, call->client->env, call->seen,
                                   left < LOOK_MS ? left : LOOK_MS, &call->is_leader);
    }
}

/* --- the calls ------------------------------------------------------------------------------ */

culex_status culex__client_timeout_check(culex_duration timeout, culex_error *error)
{
    if (timeout <= 0 || timeout >= 100 * CULEX_MICROSECOND)
        return CULEX_OK;
    return culex__fail(error, CULEX_EINVAL,
                       "a timeout of %lld ns: a culex_duration is in nanoseconds; "
                       "culex_seconds(n) makes one",
                       (long long)timeout);
}

static culex_status waits_check(const culex_wait *waits, size_t count, size_t *ret_pending,
                                culex_error *error)
{
    struct culex_ticket ticket;
    *ret_pending = 0;
    if (count > WAITS_MAX)
        return culex__fail(error, CULEX_ELIMIT, "at most %d runs are waited for at once",
                           WAITS_MAX);
    for (size_t i = 0; i < count; i++) {
        culex_status status = culex__queue_check(waits[i].queue, error);
        if (status != CULEX_OK)
            return status;
        if (culex__ticket_parse(waits[i].id, &ticket))
            return culex__fail(error, CULEX_ENOTFOUND,
                               "waits[%zu] has the ticket of an enqueue call and no run's id", i);
        *ret_pending += waits[i].end == CULEX_WAIT_PENDING;
    }
    return CULEX_OK;
}

culex_status culex_client_wait(culex_client *client, culex_wait *waits, size_t count, size_t enough,
                               culex_duration timeout, culex_error *error)
{
    struct culex_effort effort;
    if (client == NULL || (waits == NULL && count > 0))
        return culex__fail(error, CULEX_EINVAL,
                           client == NULL ? "no client" : "nothing to wait for");
    struct wait_call call = {.client = client,
                             .waits = waits,
                             .count = count,
                             .enough = enough,
                             .is_once = timeout <= 0};
    culex_status status = waits_check(waits, count, &call.pending, error);
    if (status == CULEX_OK)
        status = culex__client_timeout_check(timeout, error);
    if (status == CULEX_OK)
        status = culex__effort_start(client, &effort, error);
    if (status != CULEX_OK || call.pending == 0 || enough == 0)
        return status;
    int64_t wait_ms = timeout / CULEX_MILLISECOND + (timeout % CULEX_MILLISECOND > 0);
    call.deadline_ns =
        culex__after_ms(culex__env_boottime_ns(client->env), call.is_once ? 0 : wait_ms);
    if (!call.is_once)
        status = culex__wait_desk_open(&client->desk, error);
    if (status == CULEX_OK)
        status = wait_all(&call, error);
    desk_leave(&call);
    return status;
}

/* It was waited for in vain; in particular when it is no run of the job. */
static culex_status pending_tell(culex_client *client, const culex_job_type *type,
                                 const culex_wait *wait, culex_error *error)
{
    culex_run_info *run = NULL;
    culex_status status =
        culex__fail(error, CULEX_ESTATE, "the run had not ended when the time was over");
    if (culex_client_get(client, wait->queue, wait->id, &run, NULL) == CULEX_OK &&
        strcmp(run->job, type->wire) != 0)
        status = culex__fail(error, CULEX_EINVAL, "the run is one of job %s, not of %s", run->job,
                             type->wire);
    culex_run_info_free(run);
    return status;
}

static culex_status result_read(culex_client *client, const culex_job_type *type,
                                const culex_wait *wait, culex_arena *arena, const void **ret_result,
                                culex_error *error)
{
    const culex_run_info *run = wait->run;
    if (run != NULL && strcmp(run->job, type->wire) != 0)
        return culex__fail(error, CULEX_EINVAL, "the run is one of job %s, not of %s", run->job,
                           type->wire);
    if (wait->end == CULEX_WAIT_PENDING)
        return pending_tell(client, type, wait, error);
    if (run == NULL)
        return culex__fail(error, CULEX_ENOTFOUND, "queue %s has no such run, or has it no more",
                           wait->queue);
    if (wait->end != CULEX_WAIT_DONE)
        return culex__fail(error, CULEX_ESTATE, "the run is %s%s%s", culex_wait_end_name(wait->end),
                           run->error_text[0] != '\0' ? ": " : "", run->error_text);
    if (run->result.len == 0)
        return CULEX_OK;
    return culex_client_decode_result(client, type, arena, run->result.data, run->result.len,
                                      ret_result, error);
}

culex_status culex_client_wait_result(culex_client *client, const culex_job_type *type,
                                      culex_uuid id, culex_duration timeout, culex_arena *arena,
                                      culex_wait_end *ret_end, const void **ret_result,
                                      culex_error *error)
{
    const void *result = NULL;
    if (ret_end != NULL)
        *ret_end = CULEX_WAIT_PENDING;
    if (type == NULL || type->result == NULL)
        return culex__fail(error, CULEX_EINVAL,
                           type == NULL ? "no job"
                                        : "a job that returns nothing has no result: wait "
                                          "for its runs by culex_client_wait");
    if (arena == NULL || ret_result == NULL)
        return culex__fail(error, CULEX_EINVAL, "no arena or no place for the result");
    culex_wait wait = {.queue = type->queue, .id = id};
    culex_status status = culex_client_wait(client, &wait, 1, 1, timeout, error);
    if (status == CULEX_OK) {
        status = result_read(client, type, &wait, arena, &result, error);
        if (ret_end != NULL && status != CULEX_EINVAL)
            *ret_end = wait.end;
    }
    if (status == CULEX_OK)
        *ret_result = result;
    culex_run_info_free(wait.run);
    return status;
}
