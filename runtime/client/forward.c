#include "client/forward.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <culex/spool.h>

#include "base/error.h"
#include "client/client_private.h"
#include "client/spooling.h"
#include "store/template.h"

enum {
    WITH_A_CALL = 400, /* runs that an enqueue forwards before its own */
    LIMIT = 1000,      /* of culex_client_forward, unless it says another */
    KEY_SIZE = 64
};
/* How long the store remembers the key of a spooled run that its program gave none. */
#define WINDOW_MS (7 * INT64_C(86400000))

#define DOUBT                                                                                      \
    "it may be in the store: it was sent and got no answer, and the time in which the store "      \
    "would know it is over; look there, then enqueue it again or drop it"
#define LATE                                                                                       \
    "the window of its idempotency key was over before it came to the store: sent now it may "     \
    "double a run that the key has brought, or make a later one its repeat; look there, then "     \
    "enqueue it again or drop it"

/* What one call of the store takes. */
struct load {
    struct culex_spool_batch batch;
    struct culex_new_run runs[CULEX_SPOOL_BATCH_MAX];
    struct culex_run_limit limits[CULEX_SPOOL_BATCH_MAX][CULEX_RUN_LIMITS_MAX];
    char keys[CULEX_SPOOL_BATCH_MAX][KEY_SIZE];
    struct culex_enqueue_result results[CULEX_SPOOL_BATCH_MAX];
    struct culex_spool_change changes[CULEX_SPOOL_BATCH_MAX];
    char texts[CULEX_SPOOL_BATCH_MAX][CULEX_ERROR_TEXT_SIZE]; /* of changes that say why */
};

struct forwarding {
    culex_client *client;
    struct culex_spooling *spooling;
    int64_t deadline_ns;
    size_t most;                          /* runs that it may still take out */
    size_t narrow;                        /* so many of the next ones go one by one */
    char after[CULEX_QUEUE_NAME_MAX + 1]; /* queues up to this one are done with */
    culex_forward_counts counts;
    culex_error held; /* why a queue keeps its runs; CULEX_OK: none does */
    struct load *load;
};

/* --- a batch ----------------------------------------------------------------------------- */

static int64_t store_now_ms(const struct forwarding *forwarding)
{
    const culex_client *client = forwarding->client;
    return culex__storeclock_now_ms(&client->clock, client->env);
}

static int64_t window_of(const struct culex_spool_entry *entry)
{
    return entry->key != NULL ? entry->window_ms : WINDOW_MS;
}

/* Its key may be forgotten before this try has reached the store. */
static bool is_doubtful(const struct forwarding *forwarding, const struct culex_spool_entry *entry)
{
    int64_t age_ms = store_now_ms(forwarding) - entry->tried_ms;
    return !entry->has_ticket && entry->tried_ms != 0 &&
           age_ms + forwarding->client->timeout_ms >= window_of(entry);
}

/* How long it has waited, as this machine's clock tells; one that was set back makes it not less
 * than nothing. */
static int64_t age_ms_of(const struct forwarding *forwarding, const struct culex_spool_entry *entry)
{
    int64_t age_ms = culex__env_clock_ms(forwarding->client->env) - entry->asked_ms;
    return age_ms > 0 ? age_ms : 0;
}

/* Its program's key would not say what it said when the program gave it. */
static bool is_late(const struct forwarding *forwarding, const struct culex_spool_entry *entry)
{
    return entry->key != NULL && !entry->is_again &&
           age_ms_of(forwarding, entry) >= entry->window_ms;
}

static void aside_set(struct load *load, size_t index, const char *text)
{
    snprintf(load->texts[index], sizeof load->texts[index], "%s", text);
    load->changes[index].fate = CULEX_SPOOL_ASIDE;
    load->changes[index].text = load->texts[index];
}

static int64_t min_ms(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Delays count from when the program asked. An expiry counts from when the run would have been due:
 * that was no earlier than it was asked for, also when its time to begin had passed by then. */
static void times_set(const struct forwarding *forwarding, const struct culex_spool_entry *entry,
                      struct culex_new_run *run)
{
    int64_t age_ms = age_ms_of(forwarding, entry);
    int64_t late_ms = age_ms - entry->delay_ms;
    if (entry->at_ms > 0)
        late_ms = min_ms(age_ms, store_now_ms(forwarding) - entry->at_ms);
    run->at_ms = entry->at_ms;
    run->delay_ms = entry->delay_ms > age_ms ? entry->delay_ms - age_ms : 0;
    if (run->expires_ms > 0 && late_ms > 0)
        run->expires_ms = run->expires_ms > late_ms ? run->expires_ms - late_ms : 1;
}

static void key_set(struct load *load, size_t index)
{
    const struct culex_spool_entry *entry = &load->batch.entries[index];
    struct culex_new_run *run = &load->runs[index];
    run->idempotency_key = entry->key;
    run->window_ms = entry->key != NULL ? entry->window_ms : 0;
    if (entry->has_ticket)
        return; /* as the call was */
    snprintf(load->keys[index], sizeof load->keys[index], "culex-spool:%016" PRIx64 ":%" PRId64,
             entry->salt, entry->number);
    run->idempotency_key = entry->key != NULL ? entry->key : load->keys[index];
    run->window_ms = window_of(entry);
}

static bool entry_read(struct load *load, size_t index)
{
    const struct culex_spool_entry *entry = &load->batch.entries[index];
    struct culex_ticket ticket;
    return culex__template_read(entry->body, entry->body_len, load->limits[index],
                                &load->runs[index], NULL) == CULEX_OK &&
           (!entry->has_ticket || culex__ticket_parse(entry->ticket, &ticket));
}

/* False when one of them is to stand aside before the store is asked. */
static bool load_make(struct forwarding *forwarding)
{
    struct load *load = forwarding->load;
    bool is_good = true;
    for (size_t i = 0; i < load->batch.count; i++) {
        const struct culex_spool_entry *entry = &load->batch.entries[i];
        load->changes[i] = (struct culex_spool_change){.number = entry->number};
        if (is_doubtful(forwarding, entry))
            aside_set(load, i, DOUBT);
        else if (is_late(forwarding, entry))
            aside_set(load, i, LATE);
        else if (!entry_read(load, i))
            aside_set(load, i, "its entry in the spool is damaged and cannot be read");
        if (load->changes[i].fate == CULEX_SPOOL_ASIDE) {
            is_good = false;
            continue;
        }
        times_set(forwarding, entry, &load->runs[i]);
        key_set(load, i);
    }
    return is_good;
}

/* On a full disk one by one, for which there is always room. */
static culex_status changes_write(struct forwarding *forwarding, culex_error *error)
{
    const struct load *load = forwarding->load;
    struct culex_spool *file = forwarding->spooling->file;
    culex_status status = culex__spool_change(file, load->changes, load->batch.count, error);
    if (status != CULEX_EFULL)
        return status;
    status = CULEX_OK;
    for (size_t i = 0; i < load->batch.count && status == CULEX_OK; i++)
        status = culex__spool_change(file, &load->changes[i], 1, error);
    return status;
}

/* Writes what has become of the batch. */
static culex_status load_settle(struct forwarding *forwarding, culex_error *error)
{
    struct load *load = forwarding->load;
    culex_status status = changes_write(forwarding, error);
    if (status != CULEX_OK)
        return status;
    for (size_t i = 0; i < load->batch.count; i++) {
        bool is_gone = load->changes[i].fate == CULEX_SPOOL_GONE;
        bool is_aside = load->changes[i].fate == CULEX_SPOOL_ASIDE;
        forwarding->counts.forwarded += is_gone;
        forwarding->counts.aside += is_aside;
        forwarding->most -= (is_gone || is_aside) && forwarding->most > 0;
        if (is_aside)
            culex__spooling_tell_aside(forwarding->spooling, load->batch.entries[i].queue,
                                       load->texts[i]);
    }
    return CULEX_OK;
}

/* Before the store is asked: who dies behind this has them sent again. */
static culex_status load_mark(struct forwarding *forwarding, culex_error *error)
{
    struct load *load = forwarding->load;
    for (size_t i = 0; i < load->batch.count; i++) {
        const struct culex_spool_entry *entry = &load->batch.entries[i];
        bool is_new = !entry->has_ticket && entry->tried_ms == 0;
        load->changes[i].fate = is_new ? CULEX_SPOOL_TRIED : CULEX_SPOOL_KEPT;
        load->changes[i].tried_ms = store_now_ms(forwarding);
    }
    return changes_write(forwarding, error);
}

/* What is not there, as far as this try goes: it may be there by an earlier one. */
static void untried_set(struct load *load, size_t index)
{
    const struct culex_spool_entry *entry = &load->batch.entries[index];
    load->changes[index].fate =
        !entry->has_ticket && entry->tried_ms == 0 ? CULEX_SPOOL_UNTRIED : CULEX_SPOOL_KEPT;
}

static void queue_hold(struct forwarding *forwarding, const culex_error *reason)
{
    const char *queue = forwarding->load->batch.entries[0].queue;
    snprintf(forwarding->after, sizeof forwarding->after, "%s", queue);
    forwarding->narrow = 0; /* that was for this queue's */
    forwarding->held = *reason;
    forwarding->spooling->reason = *reason;
}

/* --- what the store said ----------------------------------------------------------------- */

/* Then the store knows the call by its ticket, and brings no more of it however often it comes. */
static bool has_brought(const struct load *load)
{
    for (size_t i = 0; i < load->batch.count; i++) {
        enum culex_enqueued outcome = load->results[i].outcome;
        if (outcome == CULEX_ENQUEUED_NEW || outcome == CULEX_ENQUEUED_REPLACED)
            return true;
    }
    return false;
}

/* What found its queue full. Of a call that came in in part the rest is not there, and never will
 * be with its ticket: it goes by keys of its own. */
static void full_judge(struct forwarding *forwarding, size_t index)
{
    struct load *load = forwarding->load;
    culex_error error;
    untried_set(load, index);
    if (load->batch.entries[index].has_ticket && has_brought(load))
        load->changes[index].fate = CULEX_SPOOL_UNTRIED;
    culex__fail(&error, CULEX_EFULL, "queue '%s' is full", load->batch.entries[index].queue);
    queue_hold(forwarding, &error);
}

static void result_judge(struct forwarding *forwarding, size_t index)
{
    struct load *load = forwarding->load;
    const struct culex_spool_entry *entry = &load->batch.entries[index];
    const struct culex_enqueue_result *result = &load->results[index];
    char id[CULEX_UUID_TEXT_SIZE];
    culex_error error;
    culex_uuid_format(result->id, id);
    load->changes[index].fate = CULEX_SPOOL_GONE;
    if (result->outcome == CULEX_ENQUEUED_FULL) {
        full_judge(forwarding, index);
    } else if (result->outcome == CULEX_ENQUEUED_CONFLICT) {
        culex__fail(&error, CULEX_ECONFLICT,
                    "run %s was enqueued with this idempotency key and with another job or other "
                    "params",
                    id);
        aside_set(load, index, error.text);
    } else if (result->outcome == CULEX_ENQUEUED_UNIQUE_TAKEN && entry->is_strict) {
        culex__fail(&error, CULEX_EUNIQUE, "run %s holds this unique key", id);
        aside_set(load, index, error.text);
    }
}

/* Not CULEX_EUNSUPPORTED, which is of the store as it is now: a cluster's node sends elsewhere. */
static bool is_for_good(culex_status status)
{
    return status == CULEX_EINVAL || status == CULEX_ELIMIT || status == CULEX_ECONFLICT ||
           status == CULEX_EEXPIRED;
}

/* Behind these the run may be in the store: the answer could not be read, or came from the midst of
 * what was to be done. */
static bool is_open(culex_status status)
{
    return status == CULEX_ENOMEM || status == CULEX_ECORRUPT || status == CULEX_ESTORE;
}

/* Nothing of it was enqueued, as far as that is known. Of several runs one may be at fault, so that
 * each is asked for. */
static culex_status refusal_judge(struct forwarding *forwarding, const culex_error *refusal,
                                  culex_error *error)
{
    struct load *load = forwarding->load;
    bool has_ticket = load->batch.entries[0].has_ticket;
    bool is_one = load->batch.count == 1 || has_ticket;
    bool is_over = has_ticket && refusal->code == CULEX_EEXPIRED;
    for (size_t i = 0; i < load->batch.count; i++) {
        if (is_open(refusal->code))
            load->changes[i].fate = CULEX_SPOOL_KEPT;
        else
            untried_set(load, i);
        if (is_one && is_for_good(refusal->code))
            aside_set(load, i, is_over ? DOUBT : refusal->text);
    }
    if (!is_one)
        forwarding->narrow = load->batch.count;
    else if (!is_for_good(refusal->code))
        queue_hold(forwarding, refusal);
    return load_settle(forwarding, error);
}

/* To whoever forwards nothing is unknown: what may be there stays, and is sent again. */
static culex_status away_judge(struct forwarding *forwarding, int64_t spent_ns, culex_error *reason,
                               culex_error *error)
{
    struct load *load = forwarding->load;
    bool is_unknown = reason->code == CULEX_EUNKNOWN;
    culex_status status = CULEX_OK;
    reason->code = CULEX_ECONNECT;
    culex__spooling_note_away(forwarding->spooling, spent_ns, reason);
    for (size_t i = 0; i < load->batch.count && !is_unknown; i++)
        untried_set(load, i);
    if (!is_unknown)
        status = load_settle(forwarding, error);
    if (status == CULEX_OK && error != NULL)
        *error = *reason;
    return status == CULEX_OK ? CULEX_ECONNECT : status;
}

static culex_status load_send(struct forwarding *forwarding, culex_error *error)
{
    struct load *load = forwarding->load;
    const struct culex_env *env = forwarding->client->env;
    struct culex_store *store = forwarding->client->store;
    const struct culex_spool_entry *first = &load->batch.entries[0];
    struct culex_ticket ticket = {0};
    if (first->has_ticket)
        culex__ticket_parse(first->ticket, &ticket); /* it has been read before */
    culex_error refusal = {0};
    int64_t begin_ns = culex__env_boottime_ns(env);
    culex_status status =
        store->ops->enqueue(store, first->queue, first->has_ticket ? &ticket : NULL, load->runs,
                            load->batch.count, load->results, &refusal);
    if (culex__effort_is_passing(status))
        return away_judge(forwarding, culex__env_boottime_ns(env) - begin_ns, &refusal, error);
    if (status != CULEX_OK)
        return refusal_judge(forwarding, &refusal, error);
    for (size_t i = 0; i < load->batch.count; i++)
        result_judge(forwarding, i);
    return load_settle(forwarding, error);
}

static culex_status load_forward(struct forwarding *forwarding, culex_error *error)
{
    if (!load_make(forwarding))
        return load_settle(forwarding, error); /* the others come with the next batch */
    culex_status status = load_mark(forwarding, error);
    return status == CULEX_OK ? load_send(forwarding, error) : status;
}

/* --- all of them ------------------------------------------------------------------------- */

static size_t batch_most(struct forwarding *forwarding)
{
    if (forwarding->narrow > 0) {
        forwarding->narrow--;
        return 1;
    }
    return forwarding->most < CULEX_SPOOL_BATCH_MAX ? forwarding->most : CULEX_SPOOL_BATCH_MAX;
}

static culex_status batches_forward(struct forwarding *forwarding, culex_error *error)
{
    const struct culex_env *env = forwarding->client->env;
    struct culex_spool_batch *batch = &forwarding->load->batch;
    culex_status status = CULEX_OK;
    while (status == CULEX_OK && forwarding->most > 0 &&
           culex__env_boottime_ns(env) < forwarding->deadline_ns) {
        status = culex__spool_next(forwarding->spooling->file, forwarding->after,
                                   batch_most(forwarding), batch, error);
        if (status != CULEX_OK || batch->count == 0)
            break;
        status = load_forward(forwarding, error);
        culex__spool_batch_release(batch);
    }
    return status;
}

/* Asks the store for its time. A connection that the server's end has cut is found so, and the
 * second try makes another one. */
static culex_status store_probe(struct forwarding *forwarding, culex_error *error)
{
    culex_client *client = forwarding->client;
    int64_t begin_ns = culex__env_boottime_ns(client->env);
    culex_error reason = {0};
    culex_status status = culex__client_sync_clock(client, &reason);
    if (culex__effort_is_passing(status))
        status = culex__client_sync_clock(client, &reason);
    if (culex__effort_is_passing(status)) {
        status = reason.code = CULEX_ECONNECT; /* nothing was asked for that could be unknown */
        culex__spooling_note_away(forwarding->spooling,
                                  culex__env_boottime_ns(client->env) - begin_ns, &reason);
    } else
        forwarding->spooling->away_until_ns = 0;
    if (status != CULEX_OK && error != NULL)
        *error = reason;
    return status;
}

/* With the lock. */
static culex_status forward_locked(struct forwarding *forwarding, culex_error *error)
{
    culex_status status = store_probe(forwarding, error);
    if (status != CULEX_OK)
        return status;
    forwarding->load = malloc(sizeof *forwarding->load);
    if (forwarding->load == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory to forward runs");
    status = batches_forward(forwarding, error);
    free(forwarding->load);
    return status;
}

/* *ret_is_ours: false when another client forwards. */
static culex_status forward(struct forwarding *forwarding, bool *ret_is_ours, culex_error *error)
{
    struct culex_spool *file = forwarding->spooling->file;
    culex_status status = culex__spool_lock(file, ret_is_ours, error);
    if (status == CULEX_OK && *ret_is_ours)
        status = forward_locked(forwarding, error);
    culex__spool_unlock(file);
    return status;
}

static struct forwarding forwarding_make(culex_client *client, const struct culex_effort *effort,
                                         size_t most)
{
    assert(client->spooling != NULL);
    return (struct forwarding){.client = client,
                               .spooling = client->spooling,
                               .deadline_ns = effort->deadline_ns,
                               .most = most};
}

static culex_status look(const struct forwarding *forwarding, const char *queue,
                         struct culex_spool_state *ret_state, culex_error *error)
{
    culex_status status = culex__spool_look(forwarding->spooling->file, queue, ret_state, error);
    if (status == CULEX_OK)
        culex__spooling_note_state(forwarding->spooling, ret_state);
    return status;
}

/* What keeps others from being forwarded is told as the reason why they wait; the call itself goes
 * on, to the store or into the spool. */
culex_status culex__forward_before(struct culex_effort *effort, const char *queue,
                                   bool *ret_must_wait, culex_error *error)
{
    struct forwarding forwarding = forwarding_make(effort->client, effort, WITH_A_CALL);
    struct culex_spooling *spooling = forwarding.spooling;
    int64_t now_ns = culex__env_boottime_ns(effort->client->env);
    forwarding.deadline_ns = now_ns + (effort->deadline_ns - now_ns) / 2; /* the call has a half */
    struct culex_spool_state state = {0};
    culex_error reason = {0};
    bool is_ours;
    *ret_must_wait = false;
    culex_status status = look(&forwarding, queue, &state, error);
    if (status != CULEX_OK || state.runs == 0)
        return status;
    if (!culex__spooling_is_away(spooling)) {
        spooling->reason = (culex_error){.code = CULEX_OK}; /* what it was before may be over */
        if (forward(&forwarding, &is_ours, &reason) != CULEX_OK)
            spooling->reason = reason;
        status = look(&forwarding, queue, &state, error);
    }
    *ret_must_wait = state.has_queue || culex__spooling_is_away(spooling);
    if (*ret_must_wait && spooling->reason.code == CULEX_OK)
        culex__fail(&spooling->reason, CULEX_EBUSY, "queue '%s' has others before it", queue);
    return status;
}

/* --- what programs call ------------------------------------------------------------------ */

static culex_status spool_begin(culex_client *client, struct culex_effort *ret_effort,
                                culex_error *error)
{
    if (client == NULL)
        return culex__fail(error, CULEX_EINVAL, "no client");
    if (client->spooling == NULL)
        return culex__fail(error, CULEX_EINVAL,
                           "this client has no spool: name a file in options.spool or in "
                           "CULEX_SPOOL; a store in a file or in memory has none");
    return culex__effort_begin(client, ret_effort, error);
}

culex_status culex_client_spool_stats(culex_client *client, culex_spool_stats *ret_stats,
                                      culex_error *error)
{
    struct culex_effort effort;
    struct culex_spool_state state = {0};
    int64_t oldest_ms = 0;
    if (ret_stats == NULL)
        return culex__fail(error, CULEX_EINVAL, "no place for the figures");
    culex_status status = spool_begin(client, &effort, error);
    if (status != CULEX_OK)
        return status;
    status = culex__spool_look(client->spooling->file, NULL, &state, error);
    if (status == CULEX_OK)
        status = culex__spool_oldest(client->spooling->file, &oldest_ms, error);
    if (status == CULEX_OK)
        *ret_stats = (culex_spool_stats){state.runs, state.aside, state.bytes, oldest_ms};
    return culex__effort_end(&effort, status, error);
}

static culex_status forward_all(struct forwarding *forwarding, culex_error *error)
{
    bool is_ours = true;
    struct culex_spool_state state = {0};
    culex_status status = look(forwarding, NULL, &state, error);
    if (status == CULEX_OK && state.runs > 0) {
        status = forward(forwarding, &is_ours, error);
        if (status == CULEX_OK && !is_ours)
            status = culex__fail(error, CULEX_EBUSY,
                                 "another client forwards what is in this spool just now");
        culex_status looked = look(forwarding, NULL, &state, status == CULEX_OK ? error : NULL);
        status = status == CULEX_OK ? looked : status;
    }
    forwarding->counts.left = state.runs;
    if (status == CULEX_OK && forwarding->held.code != CULEX_OK) {
        status = forwarding->held.code;
        if (error != NULL)
            *error = forwarding->held;
    }
    return status;
}

culex_status culex_client_forward(culex_client *client, size_t limit,
                                  culex_forward_counts *ret_counts, culex_error *error)
{
    struct culex_effort effort;
    culex_status status = spool_begin(client, &effort, error);
    if (status != CULEX_OK)
        return status;
    struct forwarding forwarding = forwarding_make(client, &effort, limit > 0 ? limit : LIMIT);
    status = forward_all(&forwarding, error);
    if (ret_counts != NULL)
        *ret_counts = forwarding.counts;
    return culex__effort_end(&effort, status, error);
}

static bool aside_show(const struct culex_spool_entry *entry, culex_spool_visitor visit, void *user)
{
    struct culex_run_limit limits[CULEX_RUN_LIMITS_MAX];
    struct culex_new_run run = {.job = ""};
    culex_spool_run shown = {.number = (uint64_t)entry->number,
                             .queue = entry->queue,
                             .enqueued_ms = entry->asked_ms,
                             .reason = entry->aside};
    if (culex__template_read(entry->body, entry->body_len, limits, &run, NULL) != CULEX_OK)
        run = (struct culex_new_run){.job = ""};
    shown.job = run.job;
    shown.payload = (culex_bytes){run.payload, run.payload_len};
    return visit(&shown, user);
}

/* One by one, so that the file is free while the visitor looks. */
static culex_status aside_walk(struct culex_spool *file, struct culex_spool_batch *batch,
                               culex_spool_visitor visit, void *user, culex_error *error)
{
    int64_t number = 0;
    bool is_wanted = true;
    culex_status status = CULEX_OK;
    while (is_wanted) {
        status = culex__spool_next_aside(file, number, batch, error);
        if (status != CULEX_OK || batch->count == 0)
            break;
        number = batch->entries[0].number;
        is_wanted = aside_show(&batch->entries[0], visit, user);
        culex__spool_batch_release(batch);
    }
    return status;
}

culex_status(culex_client_spool_aside)(culex_client *client, culex_spool_visitor visit, void *user,
                                       culex_error *error)
{
    struct culex_effort effort;
    if (visit == NULL)
        return culex__fail(error, CULEX_EINVAL, "no visitor");
    culex_status status = spool_begin(client, &effort, error);
    if (status != CULEX_OK)
        return status;
    struct culex_spool_batch *batch = malloc(sizeof *batch);
    status = batch != NULL ? aside_walk(client->spooling->file, batch, visit, user, error)
                           : culex__fail(error, CULEX_ENOMEM, "no memory for a run of the spool");
    free(batch);
    return culex__effort_end(&effort, status, error);
}

typedef culex_status (*aside_fn)(struct culex_spool *spool, int64_t number, uint64_t *ret_count,
                                 culex_error *error);

static culex_status aside_settle(culex_client *client, aside_fn settle, uint64_t number,
                                 uint64_t *ret_count, culex_error *error)
{
    struct culex_effort effort;
    uint64_t count = 0;
    culex_status status = spool_begin(client, &effort, error);
    if (status != CULEX_OK)
        return status;
    int64_t wanted = number <= INT64_MAX ? (int64_t)number : INT64_MAX;
    status = settle(client->spooling->file, wanted, &count, error);
    if (status == CULEX_OK && number != 0 && count == 0)
        status = culex__fail(error, CULEX_ENOTFOUND, "no run %" PRIu64 " stands aside in the spool",
                             number);
    if (status == CULEX_OK && ret_count != NULL)
        *ret_count = count;
    return culex__effort_end(&effort, status, error);
}

culex_status culex_client_spool_again(culex_client *client, uint64_t number, uint64_t *ret_count,
                                      culex_error *error)
{
    return aside_settle(client, culex__spool_again, number, ret_count, error);
}

culex_status culex_client_spool_drop(culex_client *client, uint64_t number, uint64_t *ret_count,
                                     culex_error *error)
{
    return aside_settle(client, culex__spool_drop, number, ret_count, error);
}
