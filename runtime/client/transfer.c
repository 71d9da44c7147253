/* client/transfer.c - runs of another store, as they were there: see culex/transfer.h.
 *
 * What a run may be the store's own check of an enqueue judges (store/argument.c). */
#include <stdlib.h>
#include <string.h>

#include <culex/transfer.h>

#include "base/error.h"
#include "core/duration.h"
#include "client/client_private.h"
#include "client/enqueue.h"
#include "client/newrun.h"

/* As of one enqueue call: the first run may be longer. */
enum { PART_BYTES = 2 * 1024 * 1024 };

/* What one round trip takes. */
struct part {
    struct culex_new_run runs[CULEX_ENQUEUE_BATCH_MAX];
    struct culex_run_limit limits[CULEX_ENQUEUE_BATCH_MAX][CULEX_RUN_LIMITS_MAX];
    culex_uuid ids[CULEX_ENQUEUE_BATCH_MAX];
    culex_enqueue_outcome outcomes[CULEX_ENQUEUE_BATCH_MAX];
    size_t count;
};

static culex_status run_check(const culex_transfer_run *run, culex_error *error)
{
    if (run->key == NULL || run->key[0] == '\0')
        return culex__fail(error, CULEX_EINVAL,
                           "a run without an idempotency key could come twice");
    if (run->job == NULL)
        return culex__fail(error, CULEX_EINVAL, "no job");
    if (run->limit_count > CULEX_RUN_LIMITS_MAX)
        return culex__fail(error, CULEX_ELIMIT, "a run has at most %d limits",
                           (int)CULEX_RUN_LIMITS_MAX);
    if (run->limits == NULL && run->limit_count > 0)
        return culex__fail(error, CULEX_EINVAL, "no limits, though limit_count is %zu",
                           run->limit_count);
    if (run->payload.data == NULL && run->payload.len > 0)
        return culex__fail(error, CULEX_EINVAL, "no payload, though it has %zu bytes",
                           run->payload.len);
    if (run->payload.len > CULEX_PAYLOAD_BYTES_MAX)
        return culex__fail(error, CULEX_ELIMIT, "a payload has at most %d bytes",
                           (int)CULEX_PAYLOAD_BYTES_MAX);
    return CULEX_OK;
}

static void limits_fill(const culex_transfer_run *run, struct culex_run_limit *limits)
{
    for (size_t i = 0; i < run->limit_count; i++) {
        const culex_transfer_limit *limit = &run->limits[i];
        limits[i] = (struct culex_run_limit){.kind = limit->kind,
                                             .name = limit->name,
                                             .key = limit->key != NULL ? limit->key : "",
                                             .count = limit->value.count,
                                             .per_ms = limit->value.per_ms,
                                             .burst = limit->value.burst};
    }
}

static void run_fill(const culex_transfer_run *run, culex_duration window,
                     struct culex_run_limit *limits, struct culex_new_run *ret_run)
{
    limits_fill(run, limits);
    *ret_run = (struct culex_new_run){
        .job = run->job,
        .priority = run->priority,
        .at_ms = run->at > 0 ? culex__duration_ms_up(run->at) : 0,
        .attempts_max = run->attempts_max,
        .expires_ms = run->expires_ms,
        .retry_for_ms = run->retry_for_ms,
        .timeout_ms = run->timeout_ms,
        .keep_success_ms = run->keep_success_ms,
        .keep_failure_ms = run->keep_failure_ms,
        .fingerprint = run->fingerprint,
        .content = culex__content_hash(run->job, run->payload.data, run->payload.len),
        .unique_key = run->unique_key,
        .unique_while = run->unique_while,
        .unique_for_ms = run->unique_for_ms,
        .idempotency_key = run->key,
        .window_ms = culex__duration_ms_up(window),
        .tags = run->tags != NULL ? run->tags : "",
        .payload = run->payload.data,
        .payload_len = run->payload.len,
        .limits = limits,
        .limit_count = run->limit_count,
    };
}

/* As many of the runs as one round trip carries. */
static culex_status part_fill(struct part *part, const culex_transfer_run *runs, size_t count,
                              culex_duration window, culex_error *error)
{
    size_t bytes = 0;
    for (part->count = 0; part->count < CULEX_ENQUEUE_BATCH_MAX && part->count < count;
         part->count++) {
        const culex_transfer_run *run = &runs[part->count];
        culex_status status = run_check(run, error);
        if (status != CULEX_OK)
            return status;
        bytes += run->payload.len;
        if (part->count > 0 && bytes > PART_BYTES)
            break;
        run_fill(run, window, part->limits[part->count], &part->runs[part->count]);
    }
    return CULEX_OK;
}

/* A run whose key is another's content is told, and holds up none of those behind it. */
static culex_status part_send(culex_client *client, const char *queue, struct part *part,
                              culex_transfer_run *runs, size_t *ret_done, culex_error *error)
{
    size_t done = 0;
    const struct culex_enqueue_made made = {.client = client,
                                            .queue = queue,
                                            .runs = part->runs,
                                            .count = part->count,
                                            .is_never_spooled = true,
                                            .ids = part->ids,
                                            .outcomes = part->outcomes,
                                            .ret_enqueued = &done};
    culex_status status = culex__client_enqueue_made(&made, error);
    for (size_t i = 0; i < done; i++) {
        runs[i].status = CULEX_OK;
        runs[i].id = part->ids[i];
        runs[i].outcome = part->outcomes[i];
    }
    if (status == CULEX_ECONFLICT && done < part->count) {
        runs[done++].status = CULEX_ECONFLICT;
        status = CULEX_OK;
    }
    *ret_done += done;
    return status;
}

static culex_status runs_send(culex_client *client, const char *queue, culex_transfer_run *runs,
                              size_t count, culex_duration window, size_t *ret_done,
                              culex_error *error)
{
    struct part *part = malloc(sizeof *part);
    culex_status status = CULEX_OK;
    if (part == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for a batch of runs");
    while (status == CULEX_OK && *ret_done < count) {
        status = part_fill(part, runs + *ret_done, count - *ret_done, window, error);
        if (status == CULEX_OK)
            status = part_send(client, queue, part, runs + *ret_done, ret_done, error);
    }
    free(part);
    return status;
}

culex_status culex_client_transfer(culex_client *client, const char *queue,
                                   culex_transfer_run *runs, size_t count, culex_duration window,
                                   size_t *ret_done, culex_error *error)
{
    size_t done = 0;
    if (ret_done != NULL)
        *ret_done = 0;
    if (client == NULL || queue == NULL)
        return culex__fail(error, CULEX_EINVAL, client == NULL ? "no client" : "no queue");
    if (runs == NULL && count > 0)
        return culex__fail(error, CULEX_EINVAL, "no runs");
    if (window < CULEX_MILLISECOND || window > CULEX_WINDOW_MAX_MS * CULEX_MILLISECOND)
        return culex__fail(error, CULEX_EINVAL, "a window of 1 ms to 30 days");
    culex_status status = runs_send(client, queue, runs, count, window, &done, error);
    if (ret_done != NULL)
        *ret_done = done;
    return status;
}
