/* client/batch.c - batches as programs open, close and look at them. Members and callbacks come in
 * by client/enqueue.c. */
#include <culex/batch.h>

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "client/after.h"
#include "client/client_private.h"
#include "client/enqueue.h"
#include "core/duration.h"
#include "core/queue_name.h"

#define OPEN_DEFAULT_MS (7 * INT64_C(86400000))
#define KEEP_DEFAULT_MS INT64_C(86400000)

_Static_assert(sizeof((culex_batch){{{0}}, ""}.queue) == CULEX_QUEUE_NAME_MAX + 1,
               "a queue's name");
_Static_assert(CULEX_BATCH_TEXT_SIZE == CULEX_QUEUE_NAME_MAX + 1 + CULEX_UUID_TEXT_SIZE,
               "QUEUE/ID and its NUL");

culex_status culex__batch_check(const culex_batch *batch, culex_error *error)
{
    if (batch == NULL || memchr(batch->queue, '\0', sizeof batch->queue) == NULL ||
        culex__queue_check(batch->queue, NULL) != CULEX_OK)
        return culex__fail(error, CULEX_EINVAL, "no batch: culex_batch_open makes one");
    return CULEX_OK;
}

static culex_status batch_check(const culex_client *client, const culex_batch *batch,
                                culex_error *error)
{
    return client != NULL ? culex__batch_check(batch, error)
                          : culex__fail(error, CULEX_EINVAL, "no client");
}

/* --- orders --------------------------------------------------------------------------------- */

static culex_status order_give(struct culex_store *store, void *order, culex_error *error)
{
    return store->ops->batch(store, order, error);
}

/* The same for each call with this key. */
static culex_uuid id_derive(const char *queue, const char *key)
{
    static const char kind[] = "batch";
    struct culex_sha256 hash;
    culex__sha256_begin(&hash);
    culex__sha256_add(&hash, kind, sizeof kind);
    culex__sha256_add(&hash, queue, strlen(queue) + 1);
    culex__sha256_add(&hash, key, strlen(key));
    return culex__batch_id_end(&hash);
}

static culex_status key_apply(const culex_batch_options *options, const char *queue,
                              struct culex_batch_order *order, culex_error *error)
{
    if (options->idempotency_key == NULL)
        return CULEX_OK;
    if (options->again != NULL)
        return culex__fail(error, CULEX_EINVAL,
                           "options.again and options.idempotency_key of a batch are set: repeat "
                           "the call with the key alone");
    if (options->idempotency_key[0] == '\0')
        return culex__fail(error, CULEX_EINVAL, "the idempotency key of the batch is empty");
    order->id = id_derive(queue, options->idempotency_key);
    return CULEX_OK;
}

static culex_status options_apply(const culex_client *client, const culex_batch_options *options,
                                  const char *queue, struct culex_batch_order *order,
                                  culex_error *error)
{
    if (options == NULL)
        return CULEX_OK;
    if (culex__duration_is_slip(options->open_for) || culex__duration_is_slip(options->keep) ||
        options->open_for < 0 || options->keep < 0)
        return culex__fail(error, CULEX_EINVAL,
                           "open_for and keep of a batch are in nanoseconds: write culex_days(1)");
    if (options->open_for > 0)
        order->open_ms = culex__duration_ms_up(options->open_for);
    if (options->keep > 0)
        order->keep_ms = culex__duration_ms_up(options->keep);
    if (options->again != NULL) {
        culex_status status = batch_check(client, options->again, error);
        if (status == CULEX_OK && strcmp(options->again->queue, queue) != 0)
            status = culex__fail(error, CULEX_EINVAL, "the batch to open again is of queue '%s'",
                                 options->again->queue);
        if (status != CULEX_OK)
            return status;
        order->id = options->again->id;
    }
    culex_status status = key_apply(options, queue, order, error);
    if (options->parent == NULL || status != CULEX_OK)
        return status;
    status = batch_check(client, options->parent, error);
    if (status == CULEX_OK && strcmp(options->parent->queue, queue) != 0)
        status = culex__fail(error, CULEX_EINVAL,
                             "the batch is of queue '%s', and what it is in of '%s'", queue,
                             options->parent->queue);
    order->parent = options->parent->id;
    return status;
}

culex_status culex_batch_open(culex_client *client, const char *queue,
                              const culex_batch_options *options, culex_batch *ret_batch,
                              culex_error *error)
{
    struct culex_batch_order order = {.act = CULEX_BATCH_OPEN,
                                      .queue = queue,
                                      .open_ms = OPEN_DEFAULT_MS,
                                      .keep_ms = KEEP_DEFAULT_MS};
    if (client == NULL || ret_batch == NULL)
        return culex__fail(error, CULEX_EINVAL, "no client, or no place for the batch");
    order.id = culex__batch_id_draw(client->env);
    culex_status status = culex__queue_check(queue, error);
    if (status == CULEX_OK)
        status = options_apply(client, options, queue, &order, error);
    *ret_batch = (culex_batch){.queue = ""}; /* of that in `again`, maybe, which was read */
    if (status == CULEX_OK)
        status = culex__client_perform(client, order_give, &order, error);
    if (status != CULEX_OK && status != CULEX_EUNKNOWN)
        return status;
    ret_batch->id = order.id;
    snprintf(ret_batch->queue, sizeof ret_batch->queue, "%s", queue);
    return status;
}

culex_status culex_batch_close(culex_client *client, const culex_batch *batch, culex_error *error)
{
    culex_status status = batch_check(client, batch, error);
    if (status != CULEX_OK)
        return status;
    struct culex_batch_order order = {
        .act = CULEX_BATCH_CLOSE, .queue = batch->queue, .id = batch->id};
    return culex__client_perform(client, order_give, &order, error);
}

/* --- looking -------------------------------------------------------------------------------- */

struct look {
    const culex_batch *batch;
    culex_batch_info info;
};

static culex_status look_take(struct culex_store *store, void *arg, culex_error *error)
{
    struct look *look = arg;
    return store->ops->batch_look(store, look->batch->queue, look->batch->id, &look->info, error);
}

culex_status culex_batch_look(culex_client *client, const culex_batch *batch,
                              culex_batch_info *ret_info, culex_error *error)
{
    struct look look = {.batch = batch};
    if (ret_info == NULL)
        return culex__fail(error, CULEX_EINVAL, "no place for what the batch has come to");
    culex_status status = batch_check(client, batch, error);
    if (status == CULEX_OK)
        status = culex__client_perform(client, look_take, &look, error);
    if (status == CULEX_OK)
        *ret_info = look.info;
    return status;
}

/* --- its name ------------------------------------------------------------------------------- */

void culex_batch_format(const culex_batch *batch, char *ret_text)
{
    char id[CULEX_UUID_TEXT_SIZE];
    if (ret_text == NULL)
        return;
    ret_text[0] = '\0';
    if (batch == NULL)
        return;
    culex_uuid_format(batch->id, id);
    snprintf(ret_text, CULEX_BATCH_TEXT_SIZE, "%s/%s", batch->queue, id);
}

bool culex_batch_parse(const char *text, culex_batch *ret_batch)
{
    culex_batch batch = {.queue = ""};
    const char *slash = text != NULL ? strchr(text, '/') : NULL;
    if (ret_batch == NULL || slash == NULL || (size_t)(slash - text) >= sizeof batch.queue ||
        !culex_uuid_parse(slash + 1, &batch.id))
        return false;
    memcpy(batch.queue, text, (size_t)(slash - text));
    if (culex__queue_check(batch.queue, NULL) != CULEX_OK)
        return false;
    *ret_batch = batch;
    return true;
}
