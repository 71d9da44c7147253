/* client/enqueue.c - from typed params to runs in the store.
 *
 * Each batch has a ticket before it is sent, and every repeat sends the same one: a reply that got
 * lost can therefore never make a second run. Only a ticket of our own that the store refused as
 * too old or too new, with certainty and at the first try, is replaced, after the store's clock was
 * read again. A batch that stays unknown is the last of its producer: see core/ticket.h.
 *
 * A call with one run that has to wait for the client may go with those of other threads, by
 * client/convoy.h. When that comes to no answer it goes on alone, as after a first try of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <culex/chain.h>

#include "base/buf.h"
#include "base/error.h"
#include "core/chain.h"
#include "core/codec_encode.h"
#include "core/duration.h"
#include "core/queue_name.h"
#include "core/trace.h"
#include "client/after.h"
#include "client/client_private.h"
#include "client/convoy.h"
#include "client/enqueue.h"
#include "client/enqueue_gate.h"
#include "client/enqueue_options.h"
#include "client/forward.h"
#include "client/newrun.h"
#include "client/publishing.h"
#include "client/run_key.h"
#include "client/sealing.h"
#include "client/spooling.h"
#include "client/thread_trace.h"

/* A batch ends early when its payloads pass this. */
enum { BATCH_BYTES = 2 * 1024 * 1024 };

/* One public call. */
struct order {
    culex_client *client;
    const culex_job_type *type;
    struct culex__sealing sealing; /* of the params */
    const char *queue;
    struct culex_new_run policy; /* shared by all runs */
    const char *params;          /* NULL beside `text` */
    const culex_bytes *text;     /* of the one run, encoded already; NULL: `params` are encoded */
    const struct culex_run_keys *keys; /* beside `text` */
    const struct culex_new_run *made;  /* the runs; NULL: they are to be made */
    size_t stride;
    size_t count;
    culex_uuid *ids;                 /* for every run; NULL: not asked for */
    culex_enqueue_outcome *outcomes; /* the same */
    bool is_never_spooled;
    bool has_ticket;            /* the caller's; else each batch has one of the client's */
    struct culex_ticket ticket; /* of the next batch */
    struct culex_rest rest;     /* of a chain, behind the run */
    const char *rest_steps[CULEX_CHAIN_STEPS_MAX];
    const culex_batch *called; /* whose callback the run is; NULL: it is none */
    culex_batch_when called_when;
    const culex_uuid *after; /* the run that it waits for; NULL: none */
    const char *after_queue; /* that one's */
    culex_batch *ret_after;
    char tags[CULEX_TAGS_SIZE];
    const struct culex_trace *trace; /* of the runs; NULL: none */
    struct culex_trace own_trace;    /* that the options tell */
};

struct batch {
    culex_buf *payloads;
    size_t count;                /* 0: not encoded yet */
    struct culex_ticket ticket;  /* producer 0: none yet, or none at all */
    struct culex_new_run *runs;  /* there is room for all of the order, or for the greatest batch */
    struct culex_run_keys *keys; /* the same; used where the job has any */
    struct culex_enqueue_result *results;
    bool is_spooled; /* in place of the results: it waits for the store */
};

/* What a batch takes when the order has more than one run. */
struct batch_room {
    struct culex_new_run runs[CULEX_ENQUEUE_BATCH_MAX];
    struct culex_enqueue_result results[CULEX_ENQUEUE_BATCH_MAX];
};

static culex_status after_apply(struct order *order, const culex_enqueue_options *options,
                                culex_error *error)
{
    order->after = options->after;
    order->after_queue = options->after_queue != NULL ? options->after_queue : order->queue;
    order->ret_after = options->ret_after;
    order->called_when = options->batch_when;
    if (options->batch != NULL)
        return culex__fail(
            error, CULEX_EINVAL,
            "options.after and options.batch are set: a run waits for another, or is "
            "of a batch");
    if (order->count != 1)
        return culex__fail(error, CULEX_EINVAL,
                           "one run at a time waits for another: enqueue them one by one");
    if (order->has_ticket || order->outcomes != NULL || options->has_at)
        return culex__fail(
            error, CULEX_EINVAL,
            "a run that waits for another takes no ticket, but an idempotency key, no "
            "ret_outcomes, as it comes in later, and no instant, but a delay from "
            "then on");
    return culex__queue_check(order->after_queue, error);
}

/* A batch of runs is meant here, not what one call to the store carries. */
static culex_status batch_apply(struct order *order, const culex_enqueue_options *options,
                                culex_error *error)
{
    order->called = NULL;
    order->after = NULL;
    if (options->after != NULL)
        return after_apply(order, options, error);
    if (options->after_queue != NULL || options->ret_after != NULL)
        return culex__fail(error, CULEX_EINVAL,
                           "options.after_queue or options.ret_after is set and options.after is "
                           "not: say which run is waited for");
    if (options->batch == NULL)
        return options->batch_when == CULEX_BATCH_MEMBER
                   ? CULEX_OK
                   : culex__fail(error, CULEX_EINVAL,
                                 "options.batch_when is set, and neither options.batch nor "
                                 "options.after: say which batch or run is waited for");
    culex_status status = culex__batch_check(options->batch, error);
    if (status != CULEX_OK)
        return status;
    if (options->batch_when == CULEX_BATCH_MEMBER) {
        if (strcmp(options->batch->queue, order->queue) != 0)
            return culex__fail(error, CULEX_EINVAL,
                               "the run goes to queue '%s', and its batch is of queue '%s': "
                               "members are in the batch's own, which options.queue can name",
                               order->queue, options->batch->queue);
        order->policy.has_batch = true;
        order->policy.batch = options->batch->id;
        return CULEX_OK;
    }
    order->called = options->batch;
    order->called_when = options->batch_when;
    if (order->count != 1)
        return culex__fail(error, CULEX_EINVAL, "a batch has one callback of each kind");
    if (order->has_ticket || order->outcomes != NULL)
        return culex__fail(error, CULEX_EINVAL,
                           "a callback of a batch takes no ticket, as it comes in once by itself, "
                           "and no ret_outcomes, as it comes in later");
    return CULEX_OK;
}

static culex_status chain_apply(struct order *order, const culex_chain *chain, culex_error *error)
{
    if (chain == NULL)
        return CULEX_OK;
    if (chain->step_count < 2 || chain->step_count > CULEX_CHAIN_STEPS_MAX)
        return culex__fail(error, CULEX_EINVAL, "a chain has 2 to %d steps", CULEX_CHAIN_STEPS_MAX);
    if (strcmp(chain->steps[0]->wire, order->type->wire) != 0)
        return culex__fail(error, CULEX_EINVAL, "chain %s begins with job %s, not with %s",
                           chain->name, chain->steps[0]->name, order->type->name);
    for (size_t i = 1; i < chain->step_count; i++)
        order->rest_steps[i - 1] = chain->steps[i]->wire;
    order->rest = (struct culex_rest){order->rest_steps, chain->step_count - 1};
    return CULEX_OK;
}

static culex_status trace_apply(struct order *order, const culex_enqueue_options *options,
                                culex_error *error)
{
    if (options->traceparent == NULL && options->tracestate == NULL)
        return CULEX_OK;
    if (options->traceparent == NULL)
        return culex__fail(error, CULEX_EINVAL,
                           "options.tracestate is set and options.traceparent is not, without "
                           "which it means nothing");
    order->trace = &order->own_trace;
    return culex__trace_read(options->traceparent, options->tracestate, &order->own_trace, error);
}

/* What is said of one enqueue in place of the schema. */
static culex_status order_apply(struct order *order, const culex_enqueue_options *options,
                                culex_error *error)
{
    culex_status status = culex__enqueue_options_check(options, order->count, error);
    if (status != CULEX_OK)
        return status;
    if (options->has_priority)
        order->policy.priority = options->priority;
    if (options->has_delay || options->has_at)
        order->policy.delay_ms = options->delay > 0 ? culex__duration_ms_up(options->delay) : 0;
    if (options->has_at)
        order->policy.at_ms = culex__duration_ms_up(options->at);
    if (options->has_expires)
        order->policy.expires_ms = culex__duration_ms_up(options->expires);
    if (options->queue != NULL)
        order->queue = options->queue;
    order->outcomes = options->ret_outcomes;
    order->policy.idempotency_key = options->idempotency_key;
    order->policy.window_ms = options->has_idempotency_window
                                  ? culex__duration_ms_up(options->idempotency_window)
                                  : CULEX_WINDOW_DEFAULT_MS;
    order->has_ticket = options->has_ticket && culex__ticket_parse(options->ticket, &order->ticket);
    status = trace_apply(order, options, error);
    if (status == CULEX_OK)
        status = chain_apply(order, options->chain, error);
    return status == CULEX_OK ? batch_apply(order, options, error) : status;
}

static culex_status order_prepare(struct order *order, const culex_enqueue_options *options,
                                  culex_error *error)
{
    const char *const *tags = order->type->tags;
    size_t tag_count = order->type->tag_count;
    order->policy = culex__new_run_make(order->type);
    order->policy.delay_ms = order->type->unique.delay_ms;
    order->queue = culex__job_queue(order->type);
    order->trace = culex__thread_trace();
    if (options != NULL) {
        culex_status status = order_apply(order, options, error);
        if (status != CULEX_OK)
            return status;
        if (options->tag_count > 0) {
            tags = options->tags;
            tag_count = options->tag_count;
        }
    }
    culex_status status = culex__tags_join(tags, tag_count, order->tags, error);
    if (status != CULEX_OK)
        return status;
    order->policy.tags = order->tags;
    return culex__queue_choice_check(order->queue, error);
}

static culex_status text_take(const culex_bytes *text, culex_buf *payloads, culex_error *error)
{
    culex_status status = culex__buf_append(payloads, text->data, text->len);
    if (status == CULEX_ELIMIT)
        return culex__fail(error, status, "a payload has at most %d bytes", CULEX_PAYLOAD_MAX);
    return status == CULEX_OK ? status : culex__fail(error, status, "no memory for a payload");
}

/* What the run is unique by and counted by. Uses the room behind the payloads for a while. */
static culex_status keys_make(const struct order *order, const char *params, culex_buf *payloads,
                              struct culex_run_keys *keys, struct culex_new_run *run,
                              culex_error *error)
{
    if (order->keys == NULL)
        return culex__run_keys_make(order->type, params, payloads, keys, run, error);
    *keys = *order->keys;
    culex__run_keys_lend(keys, run);
    return CULEX_OK;
}

/* What a repeat of the call must have in common with it. */
static uint64_t content_make(const struct order *order, const char *payload, size_t len)
{
    bool is_sealed = order->text == NULL && culex__type_is_sealed(order->type->params);
    return is_sealed ? culex__sealed_content_hash(order->type->wire, payload, len)
                     : culex__content_hash(order->type->wire, payload, len);
}

/* Appends one payload; the bound moves along with the text. Its trace is no part of what is
 * compared. */
static culex_status payload_encode(const struct order *order, size_t index, struct batch *batch,
                                   culex_error *error)
{
    culex_buf *payloads = batch->payloads;
    struct culex_new_run *run = &batch->runs[batch->count];
    size_t before = payloads->len;
    payloads->max = before + CULEX_PAYLOAD_MAX;
    const char *params = order->params != NULL ? order->params + index * order->stride : NULL;
    culex_status status = CULEX_OK;
    if (culex__job_has_keys(order->type))
        status = keys_make(order, params, payloads, &batch->keys[batch->count], run, error);
    if (status == CULEX_OK)
        status = order->text != NULL ? text_take(order->text, payloads, error)
                                     : culex__encode_sealed(&order->sealing, order->type->params,
                                                            params, payloads, error);
    if (status == CULEX_OK)
        status = culex__rest_append(order->rest, payloads, error);
    if (status != CULEX_OK) {
        if (order->count > 1)
            culex__error_context(error, "run %zu", index);
        return status;
    }
    run->content = content_make(order, payloads->data + before, payloads->len - before);
    if (order->trace != NULL)
        culex__trace_append(order->trace, payloads);
    run->payload_len = payloads->len - before;
    return CULEX_OK;
}

/* Encodes as many runs from `first` on as one call may carry. Those that are made go as they are.
 */
static culex_status batch_fill(struct batch *batch, const struct order *order, size_t first,
                               culex_error *error)
{
    culex_buf *payloads = batch->payloads;
    if (order->made != NULL) {
        memcpy(batch->runs, order->made, order->count * sizeof *order->made);
        batch->count = order->count;
        return CULEX_OK;
    }
    payloads->len = 0;
    batch->count = 0;
    while (batch->count < CULEX_ENQUEUE_BATCH_MAX && first + batch->count < order->count &&
           (batch->count == 0 || payloads->len < BATCH_BYTES)) {
        batch->runs[batch->count] = order->policy;
        culex_status status = payload_encode(order, first + batch->count, batch, error);
        /* What precedes a value that does not encode is still sent; it comes first next time. */
        if (status != CULEX_OK && batch->count > 0)
            break;
        if (status != CULEX_OK)
            return status;
        batch->count++;
    }
    /* Only now does the text stay where it is. */
    const char *at = payloads->data;
    for (size_t i = 0; i < batch->count; i++) {
        batch->runs[i].payload = at;
        at += batch->runs[i].payload_len;
    }
    return CULEX_OK;
}

/* --- what the store said ------------------------------------------------------------- */

static void expired_tell(const struct order *order, culex_error *error)
{
    int minutes = CULEX_TICKET_HORIZON_MS / 60000;
    if (order->has_ticket)
        culex__fail(
            error, CULEX_EEXPIRED,
            "this call enqueued nothing: its ticket is more than %d minutes off the store's "
            "clock; where an earlier call with it was unknown, it remains so; otherwise "
            "take a fresh one, and an idempotency key for what is repeated later than that",
            minutes);
    else
        culex__fail(error, CULEX_EEXPIRED,
                    "nothing was enqueued: the store's clock jumps by more than %d minutes; set it "
                    "right and call again",
                    minutes);
}

/* What the store says of the ticket. After a try without an answer that is about the last one
 * alone: the store may have forgotten the call by then, or somebody else has called with the
 * ticket. */
static void refusal_tell(const struct order *order, const struct culex_effort *effort,
                         culex_status status, culex_error *error)
{
    if (status != CULEX_EEXPIRED && status != CULEX_ECONFLICT)
        return;
    if (effort->is_unknown)
        culex__fail(error, status,
                    "a try got no answer, and by the next one the ticket was %s: whether it was "
                    "applied cannot be told",
                    status == CULEX_EEXPIRED ? "too far from the store's clock" : "used otherwise");
    else if (status == CULEX_EEXPIRED)
        expired_tell(order, error);
    else
        culex__fail(error, status,
                    "this call enqueued nothing: its ticket was used before, for other params or "
                    "another key, or is not the newest of its producer; repeat a call as it was, "
                    "and take a fresh ticket for each that is new");
}

static bool is_no_id(culex_uuid id)
{
    return memcmp(&id, &(culex_uuid){{0}}, sizeof id) == 0;
}

static culex_status taken_tell(const struct culex_enqueue_result *result, culex_error *error)
{
    char id[CULEX_UUID_TEXT_SIZE];
    if (is_no_id(result->id))
        return culex__fail(error, CULEX_EUNIQUE, "another run of this call has its unique key");
    culex_uuid_format(result->id, id);
    return culex__fail(error, CULEX_EUNIQUE, "run %s holds this unique key", id);
}

static culex_status result_status(const struct order *order, const struct batch *batch,
                                  size_t index, culex_error *error)
{
    const struct culex_enqueue_result *result = &batch->results[index];
    char id[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(result->id, id);
    switch (result->outcome) {
    case CULEX_ENQUEUED_NEW:
    case CULEX_ENQUEUED_DUPLICATE:
    case CULEX_ENQUEUED_REPLACED:
    case CULEX_ENQUEUED_HELD: /* what it is held for tells */
        return CULEX_OK;
    case CULEX_ENQUEUED_CONFLICT:
        return culex__fail(error, CULEX_ECONFLICT,
                           "%s%s was enqueued with this idempotency key and with another job or "
                           "other params: write what tells them apart into the key",
                           is_no_id(result->id) ? "another run of this call" : "run ",
                           is_no_id(result->id) ? "" : id);
    case CULEX_ENQUEUED_FULL:
        return culex__fail(error, CULEX_EFULL, "queue '%s' is full", order->queue);
    case CULEX_ENQUEUED_UNIQUE_TAKEN:
        return batch->runs[index].unique_refuses ? taken_tell(result, error) : CULEX_OK;
    }
    return culex__fail(error, CULEX_ESTORE, "the store gave an answer that does not exist");
}

static bool order_is_bound(const struct order *order)
{
    return order->made != NULL && order->made[0].is_bound;
}

/* Why a batch that comes whole or not at all has not come. */
static culex_status held_status(const struct order *order, const struct batch *batch,
                                culex_error *error)
{
    for (size_t i = 0; i < batch->count; i++) {
        culex_status status = result_status(order, batch, i, error);
        if (status != CULEX_OK)
            return status;
    }
    return CULEX_OK;
}

/* --- sending --------------------------------------------------------------------------- */

/* The caller's grows by one from batch to batch. Of producer 0: none. */
static struct culex_ticket order_next_ticket(struct order *order)
{
    if (!order->has_ticket && order->client->is_passing)
        return (struct culex_ticket){0};
    if (!order->has_ticket)
        return culex__client_next_ticket_of(order->client, 0);
    struct culex_ticket ticket = order->ticket;
    order->ticket.sequence++;
    return ticket;
}

static culex_status batch_send(const struct order *order, struct batch *batch,
                               struct culex_effort *effort, culex_error *error)
{
    struct culex_store *store = order->client->store;
    const struct culex_ticket *ticket = batch->ticket.producer != 0 ? &batch->ticket : NULL;
    culex_status status;
    do
        status = store->ops->enqueue(store, order->queue, ticket, batch->runs, batch->count,
                                     batch->results, error);
    while (culex__effort_again(effort, status));
    return status;
}

static culex_status batch_insist(struct order *order, struct batch *batch,
                                 struct culex_effort *effort, culex_error *error)
{
    if (batch->ticket.producer == 0)
        batch->ticket = order_next_ticket(order);
    culex_status status = batch_send(order, batch, effort, error);
    if (status != CULEX_EEXPIRED || culex__client_sync_clock(order->client, NULL) != CULEX_OK ||
        order->has_ticket || effort->is_unknown)
        return status;
    batch->ticket = order_next_ticket(order);
    return batch_send(order, batch, effort, error);
}

static void payloads_trim(culex_buf *payloads)
{
    if (payloads->cap <= BATCH_BYTES)
        return;
    culex_buf_release(payloads);
    culex_buf_init(payloads, 0);
}

/* What to do about a call that may have been carried out; a store that cannot be reached says
 * nothing of an earlier call with this ticket, and reads as if it did. */
static void repeat_advise(const struct order *order, culex_status status, culex_error *error)
{
    if (status == CULEX_EUNKNOWN && order->made != NULL)
        culex__error_context(error, "these runs may be in the store, repeat the call with the same "
                                    "items until CULEX_OK");
    else if (status == CULEX_EUNKNOWN)
        culex__error_context(error,
                             "%s may be in the store, repeat the call with the ticket that "
                             "it returns in place of an id until CULEX_OK",
                             order->count > 1 ? "these runs" : "the run");
    else if (order->has_ticket && (status == CULEX_ECONNECT || status == CULEX_EBUSY))
        culex__error_context(error, "this call enqueued nothing, an earlier one with this ticket "
                                    "may have, repeat until CULEX_OK");
}

/* After a try without an answer: a call that brought nothing is not remembered, so that try, should
 * it still be under way, would bring the runs as soon as nothing refuses them any more. Where the
 * first of several is refused, all are. */
static culex_status outcome_judge(const struct order *order, const struct batch *batch,
                                  const struct culex_effort *effort, culex_error *error)
{
    if (!effort->is_unknown)
        return CULEX_OK;
    culex_status status = order_is_bound(order) ? held_status(order, batch, error)
                                                : result_status(order, batch, 0, error);
    if (status == CULEX_OK && batch->results[0].outcome != CULEX_ENQUEUED_UNIQUE_TAKEN)
        return CULEX_OK;
    if (batch->results[0].outcome == CULEX_ENQUEUED_UNIQUE_TAKEN)
        taken_tell(&batch->results[0], error);
    culex__error_context(error, "a try got no answer and may still be under way, and the next one "
                                "was refused");
    if (error != NULL)
        error->code = CULEX_EUNKNOWN;
    return CULEX_EUNKNOWN;
}

/* With the client in its turn, all that is up to this thread alone. */
static culex_status batch_try_alone(struct order *order, struct batch *batch,
                                    struct culex_effort *effort, culex_error *error)
{
    culex_status status = batch_insist(order, batch, effort, error);
    refusal_tell(order, effort, status, error);
    status = culex__effort_judge(effort, status, error);
    if (status == CULEX_OK)
        status = outcome_judge(order, batch, effort, error);
    if (status == CULEX_EUNKNOWN && !order->has_ticket)
        culex__client_leave_producers(order->client);
    return status;
}

/* What became of a call in a convoy: true when it is over, else it goes on alone. */
static bool batch_has_ridden(struct batch *batch, const struct culex_convoy_call *call,
                             struct culex_effort *effort)
{
    batch->ticket = call->ticket;
    batch->results[0] = call->result;
    effort->is_unknown |= call->is_unknown;
    return call->is_answered;
}

/* A call that may be one of a convoy: it has one run, and the client's own ticket. */
static bool order_may_ride(const struct order *order)
{
    return order->count == 1 && !order->has_ticket && !order->policy.has_batch &&
           !order->client->is_passing;
}

/* With the client in its turn. */
static culex_status batch_try(struct order *order, struct batch *batch, size_t first,
                              struct culex_effort *effort, culex_error *error)
{
    culex_status status = order->has_ticket ? CULEX_OK : culex__client_know_clock(effort, error);
    if (status == CULEX_OK && batch->count == 0)
        status = batch_fill(batch, order, first, error);
    if (status != CULEX_OK)
        return status;
    if (batch->ticket.producer == 0 && order_may_ride(order)) {
        struct culex_convoy_call call = {.queue = order->queue, .run = batch->runs};
        culex__convoy_go(effort, &call);
        if (batch_has_ridden(batch, &call, effort))
            return CULEX_OK;
    }
    return batch_try_alone(order, batch, effort, error);
}

/* --- the spool ------------------------------------------------------------------------------ */

/* A call with the caller's ticket is none for it: only the store knows what became of the first. */
static bool order_may_spool(const struct order *order)
{
    return order->client->spooling != NULL && !order->has_ticket && !order->policy.has_batch &&
           !order->client->is_passing && !order->is_never_spooled;
}

static culex_status batch_put(const struct order *order, struct batch *batch,
                              const struct culex_effort *effort, culex_error *error)
{
    culex_client *client = order->client;
    struct culex_spooling_call call = {
        .queue = order->queue, .runs = batch->runs, .count = batch->count};
    if (effort->is_unknown) {
        call.ticket = batch->ticket;
        call.tried_ms = culex__storeclock_now_ms(&client->clock, client->env) - client->timeout_ms;
    }
    return culex__spooling_put(client->spooling, &call, error);
}

/* The store did not take the batch, for `cause`, or was not asked. */
static culex_status batch_spool(const struct order *order, struct batch *batch, size_t first,
                                const struct culex_effort *effort, const culex_error *cause,
                                culex_error *error)
{
    culex_status status = CULEX_OK;
    if (batch->count == 0)
        status = batch_fill(batch, order, first, error);
    if (status == CULEX_OK)
        status = batch_put(order, batch, effort, error);
    batch->is_spooled = status == CULEX_OK;
    if (status == CULEX_OK)
        return status;
    if (cause->code != CULEX_OK)
        culex__error_context(error, "the store is away (%.100s)%s", cause->text,
                             status != CULEX_ESTORE ? ", and nothing was spooled" : "");
    if (!effort->is_unknown)
        return status;
    if (error != NULL)
        error->code = CULEX_EUNKNOWN;
    return CULEX_EUNKNOWN;
}

/* With the client in its turn. A call that a convoy has carried to the store already, and that got
 * no answer, may be there. */
static culex_status batch_try_or_spool(struct order *order, struct batch *batch, size_t first,
                                       struct culex_effort *effort, culex_error *error)
{
    struct culex_spooling *spooling = order->client->spooling;
    culex_error cause = {0};
    bool must_wait = false;
    culex__effort_shorten(effort, order->client->timeout_ms / CULEX_SPOOLING_PART);
    culex_status status = culex__forward_before(effort, order->queue, &must_wait, error);
    if (status != CULEX_OK)
        return status;
    if (!must_wait) {
        int64_t begin_ns = culex__env_boottime_ns(order->client->env);
        status = batch_try(order, batch, first, effort, &cause);
        if (!culex__effort_is_passing(status)) {
            if (status != CULEX_OK && error != NULL)
                *error = cause;
            return status;
        }
        culex__spooling_note_away(spooling, culex__env_boottime_ns(order->client->env) - begin_ns,
                                  &cause);
    }
    return batch_spool(order, batch, first, effort, &cause, error);
}

static void spooled_tell(const struct order *order, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        if (order->ids != NULL)
            order->ids[i] = (culex_uuid){{0}};
        if (order->outcomes != NULL)
            order->outcomes[i] = CULEX_ENQUEUE_SPOOLED;
    }
}

/* --- what is told ---------------------------------------------------------------------------- */

static void result_tell(const struct order *order, const struct culex_enqueue_result *result,
                        size_t index)
{
    static const culex_enqueue_outcome outcomes[] = {
        [CULEX_ENQUEUED_NEW] = CULEX_ENQUEUE_NEW,
        [CULEX_ENQUEUED_DUPLICATE] = CULEX_ENQUEUE_DUPLICATE,
        [CULEX_ENQUEUED_UNIQUE_TAKEN] = CULEX_ENQUEUE_KEPT,
        [CULEX_ENQUEUED_REPLACED] = CULEX_ENQUEUE_REPLACED};
    if (order->ids != NULL)
        order->ids[index] = result->id;
    if (order->outcomes != NULL)
        order->outcomes[index] = outcomes[result->outcome];
}

/* The ids of the runs that are in the store for certain; *ret_enqueued counts them. Behind them
 * that of the run that was in the way, if that ends the order. */
static culex_status results_take(const struct order *order, const struct batch *batch,
                                 size_t *ret_enqueued, culex_error *error)
{
    if (batch->is_spooled) {
        spooled_tell(order, *ret_enqueued, batch->count);
        *ret_enqueued += batch->count;
        return CULEX_OK;
    }
    if (order_is_bound(order)) {
        culex_status status = held_status(order, batch, error);
        if (status != CULEX_OK)
            return status;
    }
    for (size_t i = 0; i < batch->count; i++) {
        culex_status status = result_status(order, batch, i, error);
        if (status == CULEX_OK || status == CULEX_EUNIQUE)
            result_tell(order, &batch->results[i], *ret_enqueued);
        if (status != CULEX_OK)
            return status;
        ++*ret_enqueued;
    }
    return CULEX_OK;
}

static culex_status batch_end(struct order *order, struct batch *batch, culex_status status,
                              size_t *ret_enqueued, culex_error *error)
{
    repeat_advise(order, status, error);
    if (status == CULEX_EUNKNOWN && order->ids != NULL)
        order->ids[*ret_enqueued] = culex__ticket_format(batch->ticket);
    return status == CULEX_OK ? results_take(order, batch, ret_enqueued, error) : status;
}

/* With the client in its turn, which ends here, so that other threads need not wait for the whole
 * of a long order. */
static culex_status batch_turn(struct order *order, struct batch *batch, size_t first,
                               struct culex_effort *effort, culex_error *error)
{
    culex_status status = order_may_spool(order)
                              ? batch_try_or_spool(order, batch, first, effort, error)
                              : batch_try(order, batch, first, effort, error);
    payloads_trim(&order->client->payloads);
    return culex__effort_end(effort, status, error);
}

/* The convoy's try has failed, and no time is left for another one. When another run was refused,
 * it failed for that, and not for this call. */
static culex_status late_tell(const culex_error *cause, culex_status status, culex_error *error)
{
    if (!culex__effort_is_passing(cause->code))
        return status;
    if (error != NULL)
        *error = *cause;
    return cause->code;
}

/* While others have the client: shows them the run. */
static culex_status run_await(struct order *order, struct batch *batch, struct culex_effort *effort,
                              culex_error *error)
{
    culex_error cause = {0};
    struct culex_convoy_call call = {.queue = order->queue,
                                     .run = batch->runs,
                                     .deadline_ns = effort->deadline_ns,
                                     .cause = &cause};
    bool is_carried;
    culex_status status = culex__effort_await(effort, &call, &is_carried, error);
    if (status == CULEX_OK && is_carried) {
        if (batch_has_ridden(batch, &call, effort))
            return CULEX_OK;
        status = culex__effort_await(effort, NULL, NULL, error);
        if (status != CULEX_OK)
            status = late_tell(&cause, status, error);
    }
    if (status != CULEX_OK)
        return culex__effort_judge(effort, status, error);
    return batch_turn(order, batch, 0, effort, error);
}

/* The one run of an order, encoded beside the client's buffer. */
static culex_status run_enqueue_later(struct order *order, struct batch *batch,
                                      struct culex_effort *effort, culex_error *error)
{
    culex_buf payload;
    culex_buf_init(&payload, 0);
    batch->payloads = &payload;
    culex_status status = batch_fill(batch, order, 0, error);
    if (status == CULEX_OK)
        status = run_await(order, batch, effort, error);
    culex_buf_release(&payload);
    batch->payloads = NULL;
    return status;
}

static culex_status batch_go(struct order *order, struct batch *batch, size_t *ret_enqueued,
                             culex_error *error)
{
    struct culex_effort effort;
    culex_status status = culex__effort_start(order->client, &effort, error);
    if (status != CULEX_OK)
        return status;
    batch->payloads = &order->client->payloads;
    batch->count = 0;
    batch->is_spooled = false;
    batch->ticket = (struct culex_ticket){0};
    bool is_ours = culex__effort_enter(&effort);
    if (!is_ours && order_may_ride(order)) {
        status = run_enqueue_later(order, batch, &effort, error);
        return batch_end(order, batch, status, ret_enqueued, error);
    }
    if (!is_ours)
        status = culex__effort_await(&effort, NULL, NULL, error);
    if (status == CULEX_OK)
        status = batch_turn(order, batch, *ret_enqueued, &effort, error);
    return batch_end(order, batch, status, ret_enqueued, error);
}

static culex_status batch_enqueue(struct order *order, struct batch *batch, size_t *ret_enqueued,
                                  culex_error *error)
{
    culex_status status = batch_go(order, batch, ret_enqueued, error);
    if (status == CULEX_OK && !batch->is_spooled && order->type != NULL)
        culex__publishing_note(order->client, order->type, order->queue);
    return status;
}

static culex_status order_run(struct order *order, size_t *ret_enqueued, culex_error *error)
{
    struct batch_room *room = malloc(sizeof *room);
    if (room == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for a batch of runs");
    struct batch batch = {.runs = room->runs, .results = room->results};
    culex_status status = CULEX_OK;
    if (culex__job_has_keys(order->type)) {
        batch.keys = malloc(CULEX_ENQUEUE_BATCH_MAX * sizeof *batch.keys);
        if (batch.keys == NULL)
            status = culex__fail(error, CULEX_ENOMEM, "no memory for a batch of runs");
    }
    while (*ret_enqueued < order->count && status == CULEX_OK)
        status = batch_enqueue(order, &batch, ret_enqueued, error);
    free(batch.keys);
    free(room);
    return status;
}

/* A type that is as it should be is sealed by it: `keys` may be NULL. */
static culex_status order_check_job(struct order *order, const struct culex_keys *keys,
                                    const struct culex_env *env, culex_error *error)
{
    culex_status status = culex__job_type_check(order->type, error);
    if (status != CULEX_OK)
        return status;
    order->sealing = culex__sealing_make(keys, env, order->type, CULEX_SEALED_PARAMS);
    if (order->params == NULL && order->text == NULL && order->count > 0)
        return culex__fail(error, CULEX_EINVAL, "no params");
    if (order->count > 1 && order->stride < order->type->params->size)
        return culex__fail(error, CULEX_EINVAL, "a stride of %zu bytes is less than the params",
                           order->stride);
    return CULEX_OK;
}

static culex_status order_check(struct order *order, culex_error *error)
{
    const culex_client *client = order->client;
    if (client == NULL)
        return culex__fail(error, CULEX_EINVAL, "no client");
    return order_check_job(order, client->keys, client->env, error);
}

/* Of a call that could be enqueued: as the program's hook leaves it, if there is one. The draft is
 * for what the hook has added. */
static culex_status order_pass(struct order *order, const struct culex_enqueue_gate *gate,
                               struct culex_enqueue_draft *draft,
                               const culex_enqueue_options *options, culex_error *error)
{
    if (gate->hook == NULL)
        return CULEX_OK;
    size_t size = order->type->params->size;
    culex_enqueue_call call = {.type = order->type,
                               .params = order->params,
                               .stride = order->count > 1 ? order->stride : size,
                               .count = order->count,
                               .options = &draft->options,
                               .draft = draft};
    culex__enqueue_draft_make(draft, order->type, options);
    culex_status status = culex__enqueue_gate_pass(gate, &call, error);
    return status == CULEX_OK ? order_prepare(order, &draft->options, error) : status;
}

static culex_status order_hand_over(struct order *order, culex__enqueue_take take, void *user,
                                    culex_error *error)
{
    culex_buf payload;
    struct culex_new_run run;
    struct culex_run_keys keys;
    struct batch batch = {.payloads = &payload, .runs = &run, .keys = &keys};
    culex_buf_init(&payload, 0);
    culex_status status = batch_fill(&batch, order, 0, error);
    if (status == CULEX_OK)
        status = take(user, order->queue, &run, error);
    culex_buf_release(&payload);
    return status;
}

/* --- callbacks of batches -------------------------------------------------------------------- */

static culex_status order_give(struct culex_store *store, void *order, culex_error *error)
{
    return store->ops->batch(store, order, error);
}

static culex_status callback_take(void *user, const char *queue, const struct culex_new_run *run,
                                  culex_error *error)
{
    const struct order *order = user;
    const struct culex_follow_up call = {queue, *run};
    struct culex_batch_order given = {.act = CULEX_BATCH_CALL,
                                      .queue = order->called->queue,
                                      .id = order->called->id,
                                      .when = order->called_when,
                                      .call = &call};
    return culex__client_perform(order->client, order_give, &given, error);
}

/* Its key is the batch's, and none of the run, which comes in once as it is. */
static culex_status waiting_take(void *user, const char *queue, const struct culex_new_run *run,
                                 culex_error *error)
{
    const struct order *order = user;
    struct culex_follow_up call = {queue, *run};
    call.run.idempotency_key = NULL;
    struct culex_batch_order given =
        culex__after_order(order->client->env, order->after_queue, *order->after,
                           order->called_when, &call, run->idempotency_key, run->window_ms);
    culex_status status = culex__client_perform(order->client, order_give, &given, error);
    if (order->ret_after != NULL && (status == CULEX_OK || status == CULEX_EUNKNOWN)) {
        order->ret_after->id = given.id;
        snprintf(order->ret_after->queue, sizeof order->ret_after->queue, "%s", given.queue);
    }
    return status;
}

/* The one run of the order. *ret_id, which may be NULL, is its id or the call's ticket. */
static culex_status order_run_one(struct order *order, const culex_enqueue_options *options,
                                  culex_uuid *ret_id, culex_error *error)
{
    size_t enqueued = 0;
    struct culex_new_run run;
    struct culex_run_keys keys;
    struct culex_enqueue_result result;
    struct batch batch = {.runs = &run, .keys = &keys, .results = &result};
    struct culex_enqueue_draft draft;
    culex_status status = order_check(order, error);
    if (status == CULEX_OK)
        status = order_prepare(order, options, error);
    if (status == CULEX_OK)
        status = order_pass(order, &order->client->gate, &draft, options, error);
    if (status != CULEX_OK)
        return status;
    if (order->called != NULL)
        return order_hand_over(order, callback_take, order, error);
    if (order->after != NULL) {
        if (ret_id != NULL)
            memset(ret_id, 0, sizeof *ret_id);
        return order_hand_over(order, waiting_take, order, error);
    }
    order->ids = ret_id;
    return batch_enqueue(order, &batch, &enqueued, error);
}

culex_status culex_client_enqueue(culex_client *client, const culex_job_type *type,
                                  const void *params, const culex_enqueue_options *options,
                                  culex_uuid *ret_id, culex_error *error)
{
    struct order order = {.client = client, .type = type, .params = params, .count = 1};
    return order_run_one(&order, options, ret_id, error);
}

culex_status culex_chain_enqueue(culex_client *client, const culex_chain *chain, const void *params,
                                 const culex_enqueue_options *options, culex_uuid *ret_id,
                                 culex_error *error)
{
    culex_enqueue_options own = options != NULL ? *options : culex_enqueue_options_make();
    if (chain == NULL || chain->step_count == 0)
        return culex__fail(error, CULEX_EINVAL, "no chain");
    own.chain = chain;
    return culex_client_enqueue(client, chain->steps[0], params, &own, ret_id, error);
}

culex_status culex__client_enqueue_text(culex_client *client, const culex_job_type *type,
                                        culex_bytes payload, const struct culex_run_keys *keys,
                                        const culex_enqueue_options *options, culex_uuid *ret_id,
                                        culex_error *error)
{
    struct order order = {
        .client = client, .type = type, .text = &payload, .keys = keys, .count = 1};
    return order_run_one(&order, options, ret_id, error);
}

culex_status culex__client_enqueue_made(const struct culex_enqueue_made *made, culex_error *error)
{
    struct order order = {.client = made->client,
                          .queue = made->queue,
                          .made = made->runs,
                          .count = made->count,
                          .ids = made->ids,
                          .outcomes = made->outcomes,
                          .is_never_spooled = made->is_never_spooled,
                          .has_ticket = made->has_ticket};
    size_t enqueued = 0;
    if (made->has_ticket && !culex__ticket_parse(made->ticket, &order.ticket))
        return culex__fail(error, CULEX_EINVAL, "the id is not a ticket");
    struct batch_room *room = malloc(sizeof *room);
    if (room == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for a batch of runs");
    struct batch batch = {.runs = room->runs, .results = room->results};
    culex_status status = batch_enqueue(&order, &batch, &enqueued, error);
    free(room);
    if (made->ret_enqueued != NULL)
        *made->ret_enqueued = enqueued;
    return status;
}

/* What cannot be where nobody waits for the store. */
static culex_status order_refuse(const struct order *order, const struct culex_enqueue_way *way,
                                 culex_error *error)
{
    if (order->has_ticket || order->outcomes != NULL)
        return culex__fail(error, CULEX_EINVAL, "%s", way->refusal);
    if (order->called != NULL || order->after != NULL || order->policy.has_batch)
        return culex__fail(error, CULEX_EINVAL, "%s", way->batch_refusal);
    return CULEX_OK;
}

culex_status culex__enqueue_make(const struct culex_enqueue_way *way, const culex_job_type *type,
                                 const void *params, const culex_enqueue_options *options,
                                 culex__enqueue_take take, void *user, culex_error *error)
{
    struct order order = {.type = type, .params = params, .count = 1, .rest = way->rest};
    struct culex_enqueue_draft draft;
    culex_status status = order_check_job(&order, way->keys, way->env, error);
    if (status == CULEX_OK)
        status = order_prepare(&order, options, error);
    if (status == CULEX_OK)
        status = order_refuse(&order, way, error);
    if (status == CULEX_OK && way->gate != NULL)
        status = order_pass(&order, way->gate, &draft, options, error);
    if (status == CULEX_OK)
        status = order_refuse(&order, way, error); /* the hook may have added it */
    return status == CULEX_OK ? order_hand_over(&order, take, user, error) : status;
}

culex_status culex_client_enqueue_many(culex_client *client, const culex_job_type *type,
                                       const void *params, size_t stride, size_t count,
                                       const culex_enqueue_options *options, culex_uuid *ret_ids,
                                       size_t *ret_enqueued, culex_error *error)
{
    size_t enqueued = 0;
    struct order order = {.client = client,
                          .type = type,
                          .params = params,
                          .stride = stride,
                          .count = count,
                          .ids = ret_ids};
    if (ret_enqueued != NULL)
        *ret_enqueued = 0;
    culex_status status = order_check(&order, error);
    if (status != CULEX_OK || count == 0)
        return status;
    struct culex_enqueue_draft draft;
    status = order_prepare(&order, options, error);
    if (status == CULEX_OK)
        status = order_pass(&order, &client->gate, &draft, options, error);
    if (status == CULEX_OK && order.called != NULL)
        status = culex__fail(error, CULEX_EINVAL,
                             "the callback of a batch is given by culex_client_enqueue");
    if (status == CULEX_OK && order.after != NULL)
        status = culex__fail(error, CULEX_EINVAL,
                             "a run that waits for another is given by culex_client_enqueue");
    if (status == CULEX_OK)
        status = order_run(&order, &enqueued, error);
    if (ret_enqueued != NULL)
        *ret_enqueued = enqueued;
    return status;
}
