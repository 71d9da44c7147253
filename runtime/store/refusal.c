#include "store/refusal.h"

#include <inttypes.h>

#include "base/error.h"
#include "core/run.h"
#include "store/store.h"

culex_status culex__refuse_queue(const char *queue, culex_error *error)
{
    return culex__fail(error, CULEX_ENOTFOUND, "the store has no queue '%s'", queue);
}

culex_status culex__refuse_run(const char *queue, culex_error *error)
{
    return culex__fail(error, CULEX_ENOTFOUND, "no such run in queue '%s'", queue);
}

culex_status culex__refuse_batch(const char *queue, culex_error *error)
{
    return culex__fail(error, CULEX_ENOTFOUND, "queue '%s' has no such batch", queue);
}

culex_status culex__refuse_ended_batch(const char *queue, culex_error *error)
{
    return culex__fail(error, CULEX_ESTATE, "the batch of queue '%s' has ended", queue);
}

culex_status culex__refuse_deep_batch(culex_error *error)
{
    return culex__fail(error, CULEX_ELIMIT, "at most %d batches in each other",
                       CULEX_BATCH_DEPTH_MAX);
}

culex_status culex__refuse_parent(const char *queue, culex_error *error)
{
    return culex__fail(error, CULEX_ECONFLICT,
                       "the batch of queue '%s' is there, and was opened with another parent or "
                       "none: an inner batch has an idempotency key of its own",
                       queue);
}

culex_status culex__refuse_callback(enum culex_batch_act act, culex_error *error)
{
    return culex__fail(error, CULEX_ECONFLICT,
                       act == CULEX_BATCH_AFTER
                           ? "another run waits by this idempotency key (options.after): repeat "
                             "the call as it was, or give it another key"
                           : "the batch has another callback of this kind");
}

culex_status culex__refuse_late_callback(const char *queue, culex_batch_when when,
                                         culex_error *error)
{
    return culex__fail(error, CULEX_ESTATE,
                       when == CULEX_BATCH_ON_DEATH
                           ? "the batch of queue '%s' has ended and no member is dead, so a "
                             "callback on death would never come in"
                           : "the batch of queue '%s' can not end with success any more, so a "
                             "callback on success would never come in",
                       queue);
}

culex_status culex__refuse_ended_run(const char *queue, culex_run_state state, culex_error *error)
{
    return culex__fail(error, CULEX_ESTATE,
                       "the run of queue '%s' is %s, so what is to come after it never would",
                       queue, culex_run_state_name(state));
}

culex_status culex__refuse_awaited(const char *queue, culex_error *error)
{
    return culex__fail(error, CULEX_ENOTFOUND,
                       "no such run in queue '%s': options.after_queue names the queue of the run "
                       "that is waited for, by default that of the one that waits",
                       queue);
}

culex_status culex__refuse_crowd(culex_error *error)
{
    return culex__fail(error, CULEX_ELIMIT,
                       "at most %d runs wait for one, the batches that it is in counted",
                       CULEX_RUN_BATCHES_MAX);
}

culex_status culex__refuse_schedule(const char *queue, const char *schedule, culex_error *error)
{
    return culex__fail(error, CULEX_ENOTFOUND, "queue '%s' has no schedule '%s'", queue, schedule);
}

culex_status culex__refuse_metadata(const char *job, culex_error *error)
{
    return culex__fail(error, CULEX_ECONFLICT,
                       "the metadata of job '%s' was changed since it was read: read it again",
                       job);
}

culex_status culex__refuse_holder(culex_error *error)
{
    return culex__fail(error, CULEX_ESTALE,
                       "the run is not held any more, and nothing was changed: its lease is over");
}

culex_status culex__refuse_keeper(const char *queue, culex_error *error)
{
    return culex__fail(error, CULEX_ELIMIT, "at most %d jobs of queue '%s' keep metadata",
                       CULEX_STORE_METADATA_MAX, queue);
}

culex_status culex__refuse_schema(const char *queue, const struct culex_schema_id *id,
                                  culex_error *error)
{
    if (id->fingerprint == 0 && id->digest == 0)
        return culex__fail(error, CULEX_ENOTFOUND, "queue '%s' keeps no schema of job '%s'", queue,
                           id->job);
    return culex__fail(error, CULEX_ENOTFOUND,
                       "queue '%s' keeps no schema of job '%s' with %s %016" PRIx64, queue, id->job,
                       id->digest != 0 ? "digest" : "fingerprint",
                       id->digest != 0 ? id->digest : id->fingerprint);
}

culex_status culex__refuse_schemas(const char *queue, culex_error *error)
{
    return culex__fail(error, CULEX_ELIMIT,
                       "queue '%s' keeps at most %d schemas, and each was told within a day", queue,
                       CULEX_STORE_SCHEMAS_MAX);
}

culex_status culex__refuse_worker(const char *id, culex_error *error)
{
    return culex__fail(error, CULEX_ENOTFOUND, "no worker '%s' is at work", id);
}

culex_status culex__refuse_concurrency(const char *id, uint32_t most, culex_error *error)
{
    return culex__fail(error, CULEX_EINVAL, "worker '%s' was started for at most %u runs at a time",
                       id, most);
}

culex_status culex__refuse_newcomer(culex_error *error)
{
    return culex__fail(error, CULEX_ELIMIT, "the store lists at most %d workers",
                       CULEX_STORE_WORKERS_MAX);
}

culex_status culex__refuse_limit(const char *queue, const char *name, culex_error *error)
{
    return culex__fail(error, CULEX_ENOTFOUND,
                       "no run with a limit '%s' was ever enqueued in queue '%s'", name, queue);
}

culex_status culex__refuse_limited(const struct culex_new_run *runs, size_t count,
                                   culex_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (runs[i].limit_count > 0)
            return culex__fail(error, CULEX_EUNSUPPORTED, "run %zu: this store cannot keep limits",
                               i);
    }
    return CULEX_OK;
}

culex_status culex__refuse_cancel(culex_run_state state, culex_error *error)
{
    return culex__fail(error, CULEX_ESTATE, "the run is %s already", culex_run_state_name(state));
}

culex_status culex__refuse_retry(culex_error *error)
{
    return culex__fail(error, CULEX_ESTATE, "only a dead run can be retried");
}

culex_status culex__refuse_forget(culex_error *error)
{
    return culex__fail(error, CULEX_ESTATE, "the run is not over yet");
}

culex_status culex__refuse_move(culex_run_state state, culex_error *error)
{
    return culex__fail(error, CULEX_ESTATE,
                       "the run is %s: only one that is scheduled or waiting can be moved",
                       culex_run_state_name(state));
}

culex_status culex__refuse_late_move(culex_error *error)
{
    return culex__fail(
        error, CULEX_ESTATE,
        "the time for the run's retries is over by then: move it to an earlier time, "
        "or retry it once it is dead");
}

culex_status culex__refuse_ticket(culex_error *error)
{
    return culex__fail(error, CULEX_ECONFLICT,
                       "the ticket came with other runs before, or its producer has made a later "
                       "call in this queue; nothing was enqueued");
}

culex_status culex__refuse_ticket_time(culex_error *error)
{
    return culex__fail(error, CULEX_EEXPIRED,
                       "the ticket's time is more than %d minutes from the store's clock; nothing "
                       "was enqueued by this call",
                       CULEX_TICKET_HORIZON_MS / 60000);
}

culex_status culex__refuse_rival(culex_error *error)
{
    return culex__fail(error, CULEX_EUNIQUE, "another run holds its unique key by now");
}
