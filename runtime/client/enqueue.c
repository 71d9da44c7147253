/* client/enqueue.c - from typed params to runs in the store.
 *
 * Ids are made before anything is sent, and every repeat sends the same ones: a reply
 * that got lost can therefore never make a second run. Only an id that we made ourselves
 * and that the store refused as too old or too new, with certainty and at the first try, is
 * replaced, after the store's clock was read again. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "core/queue_name.h"
#include "client/client_private.h"
#include "client/enqueue.h"
#include "client/enqueue_options.h"
#include "client/newrun.h"

/* A batch ends early when its payloads pass this. */
enum { BATCH_BYTES = 2 * 1024 * 1024 };

/* One public call. */
struct order {
    culex_client *client;
    const culex_job_type *type;
    const char *queue;
    struct culex_new_run policy; /* shared by all runs */
    const char *params;
    const culex_bytes *text; /* of the one run, encoded already; NULL: `params` are encoded */
    size_t stride;
    size_t count;
    culex_uuid *ids; /* for every run */
    bool is_own_id;  /* ids are made here */
    bool has_ids;    /* they have been made */
    char tags[CULEX_TAGS_SIZE];
};

struct batch {
    size_t first;
    size_t count;
    struct culex_new_run runs[CULEX_ENQUEUE_BATCH_MAX];
    struct culex_enqueue_result results[CULEX_ENQUEUE_BATCH_MAX];
};

static int64_t ns_to_ms_up(int64_t ns)
{
    return ns / 1000000 + (ns % 1000000 > 0 ? 1 : 0);
}

static culex_status order_apply(struct order *order, const culex_enqueue_options *options,
                                culex_error *error)
{
    culex_status status = culex__enqueue_options_check(options, order->count, error);
    if (status != CULEX_OK)
        return status;
    if (options->has_priority)
        order->policy.priority = options->priority;
    if (options->has_delay && options->delay > 0)
        order->policy.delay_ms = ns_to_ms_up(options->delay);
    if (options->has_at)
        order->policy.at_ms = ns_to_ms_up(options->at);
    if (options->queue != NULL)
        order->queue = options->queue;
    order->is_own_id = !options->has_id;
    if (options->has_id)
        order->ids[0] = options->id;
    return CULEX_OK;
}

static culex_status order_prepare(struct order *order, const culex_enqueue_options *options,
                                  culex_error *error)
{
    const char *const *tags = order->type->tags;
    size_t tag_count = order->type->tag_count;
    order->policy = culex__new_run_make(order->type);
    order->queue = culex__job_queue(order->type);
    order->is_own_id = true;
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

/* Appends one payload to the client's buffer; the bound moves along with the text. */
static culex_status payload_encode(const struct order *order, size_t index, size_t *ret_len,
                                   culex_error *error)
{
    culex_buf *payloads = &order->client->payloads;
    size_t before = payloads->len;
    payloads->max = before + CULEX_PAYLOAD_MAX;
    const char *params = order->params + index * order->stride;
    culex_status status = order->text != NULL
                              ? text_take(order->text, payloads, error)
                              : culex_encode(order->type->params, params, payloads, error);
    if (status != CULEX_OK) {
        if (order->count > 1)
            culex__error_context(error, "run %zu", index);
        return status;
    }
    *ret_len = payloads->len - before;
    return CULEX_OK;
}

/* Encodes as many runs from `first` on as one call may carry. */
static culex_status batch_fill(struct batch *batch, const struct order *order, size_t first,
                               culex_error *error)
{
    culex_buf *payloads = &order->client->payloads;
    payloads->len = 0;
    batch->first = first;
    batch->count = 0;
    while (batch->count < CULEX_ENQUEUE_BATCH_MAX && first + batch->count < order->count &&
           (batch->count == 0 || payloads->len < BATCH_BYTES)) {
        struct culex_new_run *run = &batch->runs[batch->count];
        *run = order->policy;
        run->id = order->ids[first + batch->count];
        culex_status status = payload_encode(order, first + batch->count, &run->payload_len, error);
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
        batch->runs[i].content =
            culex__content_hash(order->type->wire, at, batch->runs[i].payload_len);
        at += batch->runs[i].payload_len;
    }
    return CULEX_OK;
}

/* The store knows no run of this id, and would have forgotten one by now: that tells nothing about
 * what was sent before. */
static culex_status expired_status(const struct order *order, const struct culex_effort *effort,
                                   culex_error *error)
{
    int minutes = CULEX_ID_HORIZON_MS / 60000;
    if (effort->is_unknown)
        return culex__fail(error, CULEX_EUNKNOWN,
                           "a try got no answer, and by the next one the store's clock had jumped "
                           "by more than %d minutes: whether it was applied cannot be told",
                           minutes);
    return culex__fail(error, CULEX_EEXPIRED,
                       "the time inside this id is more than %d minutes off the store's clock%s",
                       minutes,
                       order->is_own_id ? ""
                                        : "; where an earlier call with this id was unknown, it "
                                          "remains so");
}

static culex_status result_status(const struct order *order, const struct culex_effort *effort,
                                  const struct culex_enqueue_result *result, culex_error *error)
{
    char holder[CULEX_UUID_TEXT_SIZE];
    switch (result->outcome) {
    case CULEX_ENQUEUED_NEW:
    case CULEX_ENQUEUED_DUPLICATE:
        return CULEX_OK;
    case CULEX_ENQUEUED_CONFLICT:
        return culex__fail(error, CULEX_ECONFLICT,
                           "this id already belongs to a run with other content");
    case CULEX_ENQUEUED_FULL:
        return culex__fail(error, CULEX_EFULL, "queue '%s' is full", order->queue);
    case CULEX_ENQUEUED_UNIQUE_TAKEN:
        culex_uuid_format(result->holder, holder);
        return culex__fail(error, CULEX_EUNIQUE, "run %s holds this unique key", holder);
    case CULEX_ENQUEUED_EXPIRED:
        return expired_status(order, effort, error);
    }
    return culex__fail(error, CULEX_ESTORE, "the store gave an answer that does not exist");
}

static bool batch_has_expired(const struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->results[i].outcome == CULEX_ENQUEUED_EXPIRED)
            return true;
    }
    return false;
}

/* New ids for the refused runs of the batch and for all that follow it. */
static void order_renew_ids(struct order *order, struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->results[i].outcome == CULEX_ENQUEUED_EXPIRED)
            batch->runs[i].id = order->ids[batch->first + i] = culex__client_next_id(order->client);
    }
    for (size_t i = batch->first + batch->count; i < order->count; i++)
        order->ids[i] = culex__client_next_id(order->client);
}

static culex_status batch_send(const struct order *order, struct batch *batch,
                               struct culex_effort *effort, culex_error *error)
{
    struct culex_store *store = order->client->store;
    culex_status status;
    do
        status = store->ops->enqueue(store, order->queue, batch->runs, batch->count, batch->results,
                                     error);
    while (culex__effort_again(effort, status));
    return culex__effort_judge(effort, status, error);
}

static culex_status batch_insist(struct order *order, struct batch *batch,
                                 struct culex_effort *effort, culex_error *error)
{
    culex_status status = batch_send(order, batch, effort, error);
    if (status != CULEX_OK || !order->is_own_id || effort->is_unknown ||
        !batch_has_expired(batch) || culex__client_sync_clock(order->client, NULL) != CULEX_OK)
        return status;
    order_renew_ids(order, batch);
    return batch_send(order, batch, effort, error);
}

static void order_make_ids(struct order *order)
{
    for (size_t i = 0; i < order->count && order->is_own_id && !order->has_ids; i++)
        order->ids[i] = culex__client_next_id(order->client);
    order->has_ids = true;
}

static void payloads_trim(culex_buf *payloads)
{
    if (payloads->cap <= BATCH_BYTES)
        return;
    culex_buf_release(payloads);
    culex_buf_init(payloads, 0);
}

/* What to do about a run that may be in the store; a store that cannot be reached says nothing of
 * an earlier call with this id, and reads as if it did. */
static void repeat_advise(const struct order *order, culex_status status, culex_error *error)
{
    if (status == CULEX_EUNKNOWN)
        culex__error_context(error, "%s may be in the store, repeat with %s until CULEX_OK",
                             order->count > 1 ? "these runs" : "the run",
                             order->count > 1 ? "the id of each" : "its id");
    else if (!order->is_own_id && (status == CULEX_ECONNECT || status == CULEX_EBUSY))
        culex__error_context(error, "this call enqueued nothing, an earlier one with this id may "
                                    "have, repeat until CULEX_OK");
}

/* One turn with the client, so that other threads need not wait for the whole of a long order. */
static culex_status batch_enqueue(struct order *order, struct batch *batch, size_t *ret_enqueued,
                                  culex_error *error)
{
    struct culex_effort effort;
    culex_status status = culex__effort_begin(order->client, &effort, error);
    if (status != CULEX_OK)
        return status;
    batch->count = 0;
    status = culex__client_know_clock(&effort, error);
    if (status == CULEX_OK) {
        order_make_ids(order);
        status = batch_fill(batch, order, *ret_enqueued, error);
    }
    if (status == CULEX_OK)
        status = batch_insist(order, batch, &effort, error);
    payloads_trim(&order->client->payloads);
    status = culex__effort_end(&effort, status, error);
    repeat_advise(order, status, error);
    for (size_t i = 0; i < batch->count && status == CULEX_OK; i++) {
        status = result_status(order, &effort, &batch->results[i], error);
        if (status == CULEX_OK)
            ++*ret_enqueued;
    }
    return status;
}

static culex_status order_run(struct order *order, size_t *ret_enqueued, culex_error *error)
{
    struct batch *batch = malloc(sizeof *batch);
    if (batch == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for a batch of runs");
    culex_status status = CULEX_OK;
    while (*ret_enqueued < order->count && status == CULEX_OK)
        status = batch_enqueue(order, batch, ret_enqueued, error);
    free(batch);
    return status;
}

static culex_status order_check(const struct order *order, culex_error *error)
{
    if (order->client == NULL)
        return culex__fail(error, CULEX_EINVAL, "no client");
    culex_status status = culex__job_type_check(order->type, error);
    if (status != CULEX_OK)
        return status;
    if (order->params == NULL && order->count > 0)
        return culex__fail(error, CULEX_EINVAL, "no params");
    if (order->count > 1 && order->stride < order->type->params->size)
        return culex__fail(error, CULEX_EINVAL, "a stride of %zu bytes is less than the params",
                           order->stride);
    return CULEX_OK;
}

/* The one run of the order, which has room for its id. */
static culex_status order_run_one(struct order *order, const culex_enqueue_options *options,
                                  culex_uuid *ret_id, culex_error *error)
{
    size_t enqueued = 0;
    culex_status status = order_check(order, error);
    if (status == CULEX_OK)
        status = order_prepare(order, options, error);
    if (status != CULEX_OK)
        return status;
    status = order_run(order, &enqueued, error);
    if (ret_id != NULL && (status == CULEX_OK || status == CULEX_EUNKNOWN))
        *ret_id = order->ids[0];
    return status;
}

culex_status culex_client_enqueue(culex_client *client, const culex_job_type *type,
                                  const void *params, const culex_enqueue_options *options,
                                  culex_uuid *ret_id, culex_error *error)
{
    culex_uuid id;
    struct order order = {.client = client, .type = type, .params = params, .count = 1, .ids = &id};
    return order_run_one(&order, options, ret_id, error);
}

culex_status culex__client_enqueue_text(culex_client *client, const culex_job_type *type,
                                        culex_bytes payload, const culex_enqueue_options *options,
                                        culex_uuid *ret_id, culex_error *error)
{
    culex_uuid id;
    struct order order = {
        .client = client, .type = type, .params = "", .text = &payload, .count = 1, .ids = &id};
    return order_run_one(&order, options, ret_id, error);
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
    if (ret_ids == NULL)
        order.ids = calloc(count, sizeof *order.ids);
    if (order.ids == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for %zu ids", count);
    status = order_prepare(&order, options, error);
    if (status == CULEX_OK)
        status = order_run(&order, &enqueued, error);
    if (ret_enqueued != NULL)
        *ret_enqueued = enqueued;
    if (ret_ids == NULL)
        free(order.ids);
    return status;
}
