/* handler/errand_serve.c - errands on the side of the store: read as words of an enemy, done,
 * answered: see errand.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/queue_name.h"
#include "core/record_text.h"
#include "handler/errand_batch.h"
#include "handler/errand_metadata.h"
#include "handler/errand_run.h"
#include "client/newrun.h"
#include "store/metadata_list.h"

/* --- answers ----------------------------------------------------------------------------- */

/* Without memory for the answer none is sent, and the handler waits until its time is up. */
static void answer_write(culex_buf *answer, culex_status status, const culex_error *error,
                         const void *bytes, size_t len)
{
    struct culex_errand_answer head;
    memset(&head, 0, sizeof head);
    head.status = status;
    if (status != CULEX_OK)
        head.error = *error;
    culex__buf_cut(answer, 0);
    if (culex__buf_append(answer, &head, sizeof head) == CULEX_OK && status == CULEX_OK && len > 0)
        (void)culex__buf_append(answer, bytes, len);
}

void culex__errand_refuse(culex_buf *answer, culex_status status, const char *text)
{
    culex_error error = {0};
    culex__fail(&error, status, "%s", text);
    answer_write(answer, status, &error, NULL, 0);
}

static bool part_append(culex_buf *answer, const void *bytes, size_t len)
{
    uint32_t size = (uint32_t)len;
    return culex__buf_append(answer, &size, sizeof size) == CULEX_OK &&
           (len == 0 || culex__buf_append(answer, bytes, len) == CULEX_OK);
}

static void info_write(culex_buf *answer, const culex_run_info *info)
{
    const char *texts[] = {info->job,           info->queue,      info->tags,  info->error_text,
                           info->progress_text, info->unique_key, info->limits};
    bool is_whole = true;
    answer_write(answer, CULEX_OK, NULL, info, sizeof *info);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        is_whole = is_whole && part_append(answer, texts[i], strlen(texts[i]));
    is_whole = is_whole && part_append(answer, info->payload.data, info->payload.len) &&
               part_append(answer, info->result.data, info->result.len);
    if (!is_whole)
        culex__errand_refuse(answer, CULEX_ENOMEM, "no memory for the answer");
}

/* --- runs to enqueue ----------------------------------------------------------------------- */

static culex_status runs_take(struct culex_errand_reader *reader, uint32_t count,
                              struct culex_errand_limits *limits, struct culex_new_run *runs,
                              culex_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!culex__errand_run_take(reader, &limits[i], &runs[i]))
            return culex__fail(error, CULEX_EINVAL,
                               "the child process asked for something that cannot be read: its "
                               "memory is damaged, or it wrote to a descriptor of ours");
    }
    return CULEX_OK;
}

static void enqueue_serve(struct culex_store *store, const struct culex_errand *errand,
                          struct culex_errand_reader *reader, culex_buf *answer)
{
    struct culex_enqueue_result results[CULEX_ENQUEUE_BATCH_MAX] = {0};
    culex_error error = {0};
    uint32_t count = errand->count;
    const struct culex_ticket *ticket = errand->ticket.producer != 0 ? &errand->ticket : NULL;
    if (count == 0 || count > CULEX_ENQUEUE_BATCH_MAX) {
        culex__errand_refuse(answer, CULEX_EINVAL, "an errand with an impossible number of runs");
        return;
    }
    struct culex_new_run *runs = calloc(count, sizeof *runs);
    struct culex_errand_limits *limits = calloc(count, sizeof *limits);
    culex_status status = runs != NULL && limits != NULL
                              ? runs_take(reader, count, limits, runs, &error)
                              : culex__fail(&error, CULEX_ENOMEM, "no memory for the runs");
    if (status == CULEX_OK)
        status = store->ops->enqueue(store, errand->queue, ticket, runs, count, results, &error);
    answer_write(answer, status, &error, results, count * sizeof results[0]);
    free(limits);
    free(runs);
}

/* --- the other verbs ----------------------------------------------------------------------- */

static void now_serve(struct culex_store *store, culex_buf *answer)
{
    int64_t now_ms = 0;
    culex_error error = {0};
    culex_status status = store->ops->now(store, &now_ms, &error);
    answer_write(answer, status, &error, &now_ms, sizeof now_ms);
}

static void get_serve(struct culex_store *store, const struct culex_errand *errand,
                      culex_buf *answer)
{
    culex_run_info *info = NULL;
    culex_error error = {0};
    culex_status status = store->ops->get(store, errand->queue, errand->id, &info, &error);
    if (status == CULEX_OK)
        info_write(answer, info);
    else
        answer_write(answer, status, &error, NULL, 0);
    culex_run_info_free(info);
}

static void cancel_serve(struct culex_store *store, const struct culex_errand *errand,
                         culex_buf *answer)
{
    culex_run_state state = CULEX_RUN_CANCELLED;
    culex_error error = {0};
    culex_status status = store->ops->cancel(store, errand->queue, errand->id, &state, &error);
    answer_write(answer, status, &error, &state, sizeof state);
}

static void stats_serve(struct culex_store *store, const struct culex_errand *errand,
                        culex_buf *answer)
{
    culex_queue_stats stats = {0};
    culex_error error = {0};
    culex_status status = store->ops->stats(store, errand->queue, &stats, &error);
    answer_write(answer, status, &error, &stats, sizeof stats);
}

static void batch_serve(struct culex_store *store, const struct culex_errand *errand,
                        struct culex_errand_reader *reader, culex_buf *answer)
{
    struct culex_errand_batch_room room;
    struct culex_batch_order order;
    culex_error error = {0};
    if (!culex__errand_batch_take(reader, errand->queue, &room, &order)) {
        culex__errand_refuse(answer, CULEX_EINVAL, "an order for a batch that cannot be read");
        return;
    }
    culex_status status = store->ops->batch(store, &order, &error);
    answer_write(answer, status, &error, NULL, 0);
}

static void batch_look_serve(struct culex_store *store, const struct culex_errand *errand,
                             culex_buf *answer)
{
    culex_batch_info info = {0};
    culex_error error = {0};
    culex_status status = store->ops->batch_look(store, errand->queue, errand->id, &info, &error);
    answer_write(answer, status, &error, &info, sizeof info);
}

static void change_serve(struct culex_store *store, const struct culex_errand *errand,
                         culex_buf *answer)
{
    culex_error error = {0};
    culex_status status = errand->verb == CULEX_ERRAND_RETRY
                              ? store->ops->retry(store, errand->queue, errand->id, &error)
                              : store->ops->forget(store, errand->queue, errand->id, &error);
    answer_write(answer, status, &error, NULL, 0);
}

static void kept_write(culex_buf *answer, const struct culex_metadata_list *list)
{
    const struct culex_metadata_row *row = list->count > 0 ? &list->rows[0] : NULL;
    struct culex_errand_kept kept;
    memset(&kept, 0, sizeof kept);
    kept.now_ms = list->now_ms;
    if (row != NULL) {
        kept.version = row->version;
        kept.set_ms = row->set_ms;
        kept.len = (uint32_t)row->len;
    }
    answer_write(answer, CULEX_OK, NULL, &kept, sizeof kept);
    if (kept.len > 0 && culex__buf_append(answer, row->bytes, row->len) != CULEX_OK)
        culex__errand_refuse(answer, CULEX_ENOMEM, "no memory for the answer");
}

static void metadata_serve(struct culex_store *store, const struct culex_errand *errand,
                           struct culex_errand_reader *reader, culex_buf *answer)
{
    struct culex_errand_metadata record;
    struct culex_holder holder;
    struct culex_metadata_set set;
    struct culex_metadata_list list = {0};
    culex_error error = {0};
    culex_status status;
    if (!culex__errand_metadata_take(reader, &errand->id, &record, &holder, &set)) {
        culex__errand_refuse(answer, CULEX_EINVAL, "metadata that cannot be read");
        return;
    }
    if (errand->verb == CULEX_ERRAND_METADATA)
        status = store->ops->metadata(store, errand->queue, set.job, &list, &error);
    else
        status = store->ops->metadata_set(store, errand->queue, &set, &error);
    if (status == CULEX_OK && errand->verb == CULEX_ERRAND_METADATA)
        kept_write(answer, &list);
    else
        answer_write(answer, status, &error, NULL, 0);
    culex__metadata_list_release(&list);
}

static culex_status errand_take(struct culex_errand_reader *reader, struct culex_errand *ret_errand,
                                culex_error *error)
{
    culex__errand_copy(reader, ret_errand, sizeof *ret_errand);
    if (reader->is_short || ret_errand->queue[CULEX_QUEUE_NAME_MAX] != '\0')
        return culex__fail(error, CULEX_EINVAL, "an errand that cannot be read");
    return ret_errand->verb == CULEX_ERRAND_NOW ? CULEX_OK
                                                : culex__queue_check(ret_errand->queue, error);
}

bool culex__errand_serve(struct culex_store *store, const char *bytes, size_t len,
                         culex_buf *answer)
{
    struct culex_errand_reader reader = {.at = bytes, .left = len};
    struct culex_errand errand;
    culex_error error = {0};
    culex_status status = errand_take(&reader, &errand, &error);
    if (status != CULEX_OK) {
        answer_write(answer, status, &error, NULL, 0);
        return false;
    }
    switch (errand.verb) {
    case CULEX_ERRAND_NOW:
        now_serve(store, answer);
        return false;
    case CULEX_ERRAND_ENQUEUE:
        enqueue_serve(store, &errand, &reader, answer);
        return true;
    case CULEX_ERRAND_GET:
        get_serve(store, &errand, answer);
        return false;
    case CULEX_ERRAND_CANCEL:
        cancel_serve(store, &errand, answer);
        return false;
    case CULEX_ERRAND_RETRY:
    case CULEX_ERRAND_FORGET:
        change_serve(store, &errand, answer);
        return errand.verb == CULEX_ERRAND_RETRY;
    case CULEX_ERRAND_STATS:
        stats_serve(store, &errand, answer);
        return false;
    case CULEX_ERRAND_BATCH:
        batch_serve(store, &errand, &reader, answer);
        return true;
    case CULEX_ERRAND_BATCH_LOOK:
        batch_look_serve(store, &errand, answer);
        return false;
    case CULEX_ERRAND_METADATA:
    case CULEX_ERRAND_METADATA_SET:
        metadata_serve(store, &errand, &reader, answer);
        return false;
    default:
        culex__errand_refuse(answer, CULEX_EINVAL, "an errand of an unknown kind");
        return false;
    }
}
