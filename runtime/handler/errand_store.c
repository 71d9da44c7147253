/* handler/errand_store.c - the store as a handler's client has it: see errand.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/instant.h"
#include "handler/errand_batch.h"
#include "handler/errand_metadata.h"
#include "handler/errand_run.h"
#include "store/metadata_list.h"

struct errands {
    struct culex_store base;
    const struct culex_errand_way *way;
    int64_t timeout_ms;
    culex_buf errand;
    culex_buf answer;
    struct culex_errand_reader reader; /* what is left of the answer */
};

static struct errands *errands_of(struct culex_store *store)
{
    return (struct errands *)store;
}

/* --- asking -------------------------------------------------------------------------------- */

static struct culex_errand errand_head(enum culex_errand_verb verb, const char *queue,
                                       const culex_uuid *id, size_t count)
{
    struct culex_errand head;
    memset(&head, 0, sizeof head);
    head.verb = (uint32_t)verb;
    head.count = (uint32_t)count;
    if (id != NULL)
        head.id = *id;
    if (queue != NULL)
        strncpy(head.queue, queue, sizeof head.queue - 1);
    return head;
}

static culex_status errand_begin(struct errands *errands, const struct culex_errand *head)
{
    culex__buf_cut(&errands->errand, 0);
    return culex__buf_append(&errands->errand, head, sizeof *head);
}

static culex_status answer_judge(struct errands *errands, culex_error *error)
{
    struct culex_errand_answer head;
    errands->reader =
        (struct culex_errand_reader){errands->answer.data, errands->answer.len, false};
    culex__errand_copy(&errands->reader, &head, sizeof head);
    if (errands->reader.is_short)
        return culex__fail(error, CULEX_EUNKNOWN, "the worker's answer is cut off");
    if (head.status != CULEX_OK && error != NULL)
        *error = head.error;
    return head.status;
}

static culex_status errand_send(struct errands *errands, culex_status written, culex_error *error)
{
    if (written != CULEX_OK)
        return culex__fail(error, written, "the request is larger than %d bytes or than memory",
                           CULEX_ERRAND_MAX);
    const struct culex_errand_way *way = errands->way;
    int64_t own_ns = culex__env_boottime_ns(errands->base.env) + errands->timeout_ms * CULEX_MS_NS;
    culex__buf_cut(&errands->answer, 0);
    culex_status status =
        way->exchange(way->self, &errands->errand, culex__store_earlier_ns(&errands->base, own_ns),
                      &errands->answer, error);
    return status == CULEX_OK ? answer_judge(errands, error) : status;
}

/* A verb that takes a queue and perhaps an id and returns `len` bytes. */
static culex_status ask(struct culex_store *store, enum culex_errand_verb verb, const char *queue,
                        const culex_uuid *id, void *ret_bytes, size_t len, culex_error *error)
{
    struct errands *errands = errands_of(store);
    struct culex_errand head = errand_head(verb, queue, id, 0);
    culex_status status = errand_send(errands, errand_begin(errands, &head), error);
    if (status == CULEX_OK && len > 0)
        culex__errand_copy(&errands->reader, ret_bytes, len);
    return status;
}

/* --- verbs --------------------------------------------------------------------------------- */

static culex_status enqueue_begin(struct errands *errands, const char *queue,
                                  const struct culex_ticket *ticket, size_t count)
{
    struct culex_errand head = errand_head(CULEX_ERRAND_ENQUEUE, queue, NULL, count);
    if (ticket != NULL)
        head.ticket = *ticket;
    return errand_begin(errands, &head);
}

static culex_status errands_enqueue(struct culex_store *store, const char *queue,
                                    const struct culex_ticket *ticket,
                                    const struct culex_new_run *runs, size_t count,
                                    struct culex_enqueue_result *results, culex_error *error)
{
    struct errands *errands = errands_of(store);
    culex_status status = enqueue_begin(errands, queue, ticket, count);
    for (size_t i = 0; i < count && status == CULEX_OK; i++)
        status = culex__errand_run_append(&errands->errand, &runs[i]);
    status = errand_send(errands, status, error);
    if (status == CULEX_OK)
        culex__errand_copy(&errands->reader, results, count * sizeof results[0]);
    return status;
}

static culex_status errands_now(struct culex_store *store, int64_t *ret_now_ms, culex_error *error)
{
    return ask(store, CULEX_ERRAND_NOW, NULL, NULL, ret_now_ms, sizeof *ret_now_ms, error);
}

static culex_status errands_cancel(struct culex_store *store, const char *queue, culex_uuid id,
                                   culex_run_state *ret_state, culex_error *error)
{
    return ask(store, CULEX_ERRAND_CANCEL, queue, &id, ret_state, sizeof *ret_state, error);
}

static culex_status errands_retry(struct culex_store *store, const char *queue, culex_uuid id,
                                  culex_error *error)
{
    return ask(store, CULEX_ERRAND_RETRY, queue, &id, NULL, 0, error);
}

static culex_status errands_forget(struct culex_store *store, const char *queue, culex_uuid id,
                                   culex_error *error)
{
    return ask(store, CULEX_ERRAND_FORGET, queue, &id, NULL, 0, error);
}

static culex_status errands_stats(struct culex_store *store, const char *queue,
                                  culex_queue_stats *ret_stats, culex_error *error)
{
    return ask(store, CULEX_ERRAND_STATS, queue, NULL, ret_stats, sizeof *ret_stats, error);
}

static culex_status errands_batch(struct culex_store *store, const struct culex_batch_order *order,
                                  culex_error *error)
{
    struct errands *errands = errands_of(store);
    struct culex_errand head = errand_head(CULEX_ERRAND_BATCH, order->queue, NULL, 0);
    culex_status status = errand_begin(errands, &head);
    if (status == CULEX_OK)
        status = culex__errand_batch_append(&errands->errand, order);
    return errand_send(errands, status, error);
}

static culex_status errands_batch_look(struct culex_store *store, const char *queue, culex_uuid id,
                                       culex_batch_info *ret_info, culex_error *error)
{
    return ask(store, CULEX_ERRAND_BATCH_LOOK, queue, &id, ret_info, sizeof *ret_info, error);
}

/* A copy with a NUL behind it; NULL without memory. */
static char *part_take(struct culex_errand_reader *reader, size_t *ret_len)
{
    uint32_t len;
    culex__errand_copy(reader, &len, sizeof len);
    const char *bytes = culex__errand_take(reader, len);
    char *copy = bytes != NULL ? malloc((size_t)len + 1) : NULL;
    if (copy == NULL)
        return NULL;
    memcpy(copy, bytes, len);
    copy[len] = '\0';
    *ret_len = len;
    return copy;
}

static bool info_take(struct culex_errand_reader *reader, culex_run_info *info)
{
    char **texts[] = {&info->job,           &info->queue,      &info->tags,  &info->error_text,
                      &info->progress_text, &info->unique_key, &info->limits};
    size_t len = 0;
    culex__errand_copy(reader, info, sizeof *info);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        *texts[i] = NULL;
    info->payload = info->result = (culex_bytes){0};
    bool is_whole = !reader->is_short;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && is_whole; i++)
        is_whole = (*texts[i] = part_take(reader, &len)) != NULL;
    if (is_whole)
        is_whole =
            (info->payload.data = (const void *)part_take(reader, &info->payload.len)) != NULL;
    if (is_whole)
        is_whole = (info->result.data = (const void *)part_take(reader, &info->result.len)) != NULL;
    return is_whole;
}

static culex_status errands_get(struct culex_store *store, const char *queue, culex_uuid id,
                                culex_run_info **ret_run, culex_error *error)
{
    culex_status status = ask(store, CULEX_ERRAND_GET, queue, &id, NULL, 0, error);
    if (status != CULEX_OK)
        return status;
    culex_run_info *info = calloc(1, sizeof *info);
    if (info == NULL || !info_take(&errands_of(store)->reader, info)) {
        culex_run_info_free(info);
        return culex__fail(error, CULEX_ENOMEM, "no memory for the run");
    }
    *ret_run = info;
    return CULEX_OK;
}

/* --- what a job keeps ------------------------------------------------------------------------ */

static culex_status metadata_ask(struct culex_store *store, enum culex_errand_verb verb,
                                 const char *queue, const struct culex_metadata_set *set,
                                 culex_error *error)
{
    struct errands *errands = errands_of(store);
    struct culex_errand head =
        errand_head(verb, queue, set->holder != NULL ? &set->holder->id : NULL, 0);
    culex_status status = errand_begin(errands, &head);
    if (status == CULEX_OK)
        status = culex__errand_metadata_append(&errands->errand, set);
    return errand_send(errands, status, error);
}

static culex_status errands_metadata_set(struct culex_store *store, const char *queue,
                                         const struct culex_metadata_set *set, culex_error *error)
{
    return metadata_ask(store, CULEX_ERRAND_METADATA_SET, queue, set, error);
}

static culex_status errands_metadata(struct culex_store *store, const char *queue, const char *job,
                                     struct culex_metadata_list *ret_list, culex_error *error)
{
    struct culex_errand_reader *reader = &errands_of(store)->reader;
    struct culex_errand_kept kept;
    struct culex_metadata_list list = {0};
    if (job == NULL)
        return culex__fail(error, CULEX_EUNSUPPORTED, "%s", store->ops->lacks);
    const struct culex_metadata_set asked = {.job = job};
    culex_status status = metadata_ask(store, CULEX_ERRAND_METADATA, queue, &asked, error);
    if (status != CULEX_OK)
        return status;
    culex__errand_copy(reader, &kept, sizeof kept);
    list.now_ms = kept.now_ms;
    const struct culex_metadata_row row = {job, kept.version, kept.set_ms,
                                           culex__errand_take(reader, kept.len), kept.len};
    if (reader->is_short)
        return culex__fail(error, CULEX_EUNKNOWN, "the worker's answer is cut off");
    if (kept.version != 0 && !culex__metadata_list_add(&list, &row))
        return culex__fail(error, CULEX_ENOMEM, "no memory for metadata");
    *ret_list = list;
    return CULEX_OK;
}

/* --- the store ------------------------------------------------------------------------------- */

static void errands_close(struct culex_store *store)
{
    struct errands *errands = errands_of(store);
    culex_buf_release(&errands->errand);
    culex_buf_release(&errands->answer);
    free(errands);
}

/* Clients never step, tick, greet or arm; the operator's verbs are left to clients of their own. */
static const struct culex_store_ops errands_ops = {
    .name = "errand",
    .lacks = "the client of a run enqueues, gets, cancels, retries and deletes runs, opens, closes "
             "and looks at batches, and tells statistics and a job's metadata; for the rest open "
             "one with culex_client_open, outside of handlers",
    .enqueue = errands_enqueue,
    .cancel = errands_cancel,
    .retry = errands_retry,
    .forget = errands_forget,
    .stats = errands_stats,
    .batch = errands_batch,
    .batch_look = errands_batch_look,
    .get = errands_get,
    .metadata = errands_metadata,
    .metadata_set = errands_metadata_set,
    .now = errands_now,
    .close = errands_close,
};

culex_status culex__errand_store_open(const struct culex_errand_way *way, int64_t timeout_ms,
                                      const struct culex_env *env, struct culex_store **ret_store,
                                      culex_error *error)
{
    struct errands *errands = calloc(1, sizeof *errands);
    if (errands == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for a client");
    culex__store_init(&errands->base, &errands_ops, env, NULL);
    errands->way = way;
    errands->timeout_ms = timeout_ms;
    culex_buf_init(&errands->errand, CULEX_ERRAND_MAX);
    culex_buf_init(&errands->answer, CULEX_ERRAND_MAX);
    *ret_store = &errands->base;
    return CULEX_OK;
}
