#include "worker/schemas.h"

#include <stdlib.h>

#include "base/error.h"
#include "core/schema_text.h"
#include "worker/outage.h"
#include "worker/worker_private.h"

/* Not less than the time within which the store writes nothing, or each second round would be for
 * nothing. */
enum { ROUND_MS = CULEX_SCHEMA_TOLD_GAP_MS, JITTER_MS = ROUND_MS / 10, AWAY_MS = 10000 };

/* Nobody could read what a kit's store, or another that is given, was told. */
static bool is_on(const culex_worker *worker)
{
    return (worker->given_store == NULL || worker->is_telling) &&
           worker->phases.current == CULEX_WORKER_RUNNING;
}

static void round_end(struct culex_lane *lane, int64_t now_ns)
{
    int64_t jitter_ms = (int64_t)(culex__env_random(lane->worker->env) % JITTER_MS);
    lane->schemas.next = 0;
    lane->schemas.due_ns = now_ns + (ROUND_MS + jitter_ms) * CULEX_MS_NS;
}

static culex_status schema_tell(struct culex_lane *lane, const culex_job_type *type,
                                culex_error *error)
{
    struct culex_store *store = lane->worker->store;
    char *text = NULL;
    size_t len = 0;
    culex_status status = culex__schema_text(type, &text, &len);
    if (status != CULEX_OK)
        return culex__fail(error, status, "job %s: its schema cannot be written as a text",
                           type->name);
    const struct culex_schema_text schema = {type->wire, type->fingerprint, text, len};
    status = store->ops->schema_publish(store, lane->name, &schema, error);
    free(text);
    return status;
}

/* A call that was lost is made again; one that was refused only with the next round. */
static void tell_fail(struct culex_lane *lane, culex_status status, const culex_error *error,
                      int64_t now_ns)
{
    struct culex_lane_schemas *schemas = &lane->schemas;
    const struct culex_log_subject subject = {.queue = lane->name};
    if (status == CULEX_ECONNECT || status == CULEX_EUNKNOWN) {
        culex__worker_call_failed(lane->worker, lane, &lane->trouble, status, error);
        schemas->due_ns = now_ns + AWAY_MS * CULEX_MS_NS;
        return;
    }
    schemas->next++;
    if (culex__notice_tell(&schemas->notice, error->text, now_ns))
        culex__log_write(&lane->worker->log, CULEX_LOG_WARNING, &subject,
                         "queue %s: the schemas of its jobs cannot all be told: %s", lane->name,
                         error->text);
}

/* Tells the next one; a type that was made by hand may have none. */
static void tell(struct culex_lane *lane, int64_t now_ns)
{
    const culex_worker *worker = lane->worker;
    struct culex_lane_schemas *schemas = &lane->schemas;
    culex_error error = {0};
    while (schemas->next < worker->job_count && worker->jobs[schemas->next].type->fingerprint == 0)
        schemas->next++;
    if (schemas->next < worker->job_count) {
        culex_status status = schema_tell(lane, worker->jobs[schemas->next].type, &error);
        if (status == CULEX_OK)
            schemas->next++;
        else
            tell_fail(lane, status, &error, now_ns);
    }
    if (schemas->next >= worker->job_count)
        round_end(lane, now_ns);
}

static int64_t lane_next_ns(const struct culex_lane *lane)
{
    int64_t call_ns = culex__outage_call_ns(lane);
    if (!lane->greeting.is_done || lane->greeting.is_barred)
        return INT64_MAX;
    return lane->schemas.due_ns > call_ns ? lane->schemas.due_ns : call_ns;
}

int64_t culex__schemas_next_ns(const culex_worker *worker)
{
    int64_t next_ns = INT64_MAX;
    for (size_t i = 0; i < worker->lane_count && is_on(worker); i++)
        next_ns = culex__min_ns(next_ns, lane_next_ns(&worker->lanes[i]));
    return next_ns;
}

void culex__schemas_turn(culex_worker *worker, int64_t now_ns)
{
    for (size_t i = 0; i < worker->lane_count && is_on(worker); i++) {
        if (now_ns >= lane_next_ns(&worker->lanes[i]))
            tell(&worker->lanes[i], now_ns);
    }
}
