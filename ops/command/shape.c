#include "command/shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- queues ----------------------------------------------------------------------------------- */

uint64_t ops_queue_open(const culex_queue_stats *stats)
{
    return stats->count[CULEX_RUN_SCHEDULED] + stats->count[CULEX_RUN_WAITING] +
           stats->count[CULEX_RUN_ACTIVE];
}

bool ops_queue_is_full(const culex_queue_stats *stats)
{
    return stats->limit > 0 && ops_queue_open(stats) >= stats->limit;
}

void ops_queue_json(struct ops_json *json, const char *queue, const culex_queue_stats *stats,
                    uint64_t parked)
{
    ops_json_text(json, "queue", queue);
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++)
        ops_json_count(json, culex_run_state_name((culex_run_state)state), stats->count[state]);
    ops_json_count(json, "parked", parked);
    ops_json_object(json, "totals");
    ops_json_count(json, "enqueued", stats->enqueued);
    ops_json_count(json, "done", stats->done);
    ops_json_count(json, "failed", stats->failed);
    ops_json_count(json, "crashed", stats->crashed);
    ops_json_count(json, "lost", stats->lost);
    ops_json_count(json, "dead", stats->dead);
    ops_json_count(json, "cancelled", stats->cancelled);
    ops_json_count(json, "stale", stats->stale);
    ops_json_object_end(json);
    ops_json_bool(json, "paused", stats->paused);
    ops_json_int(json, "paused_until_ms", stats->paused_until_ms);
    ops_json_count(json, "capacity", stats->limit);
    ops_json_bool(json, "is_full", ops_queue_is_full(stats));
    ops_json_count(json, "dead_capacity", stats->dead_limit);
    ops_json_int(json, "now_ms", stats->now_ms);
}

/* --- workers ---------------------------------------------------------------------------------- */

static void runs_json(struct ops_json *json, const culex_worker_info *worker)
{
    ops_json_array(json, "runs");
    for (size_t i = 0; i < worker->run_count; i++) {
        ops_json_object(json, NULL);
        ops_json_id(json, "id", worker->runs[i].id);
        ops_json_text(json, "job", worker->runs[i].job);
        ops_json_text(json, "queue", worker->runs[i].queue);
        ops_json_int(json, "since_ms", worker->runs[i].since_ms);
        ops_json_object_end(json);
    }
    ops_json_array_end(json);
    ops_json_count(json, "runs_total", worker->runs_total);
}

static void queues_json(struct ops_json *json, const culex_worker_info *worker)
{
    ops_json_array(json, "queues");
    for (size_t i = 0; i < worker->queue_count; i++) {
        ops_json_object(json, NULL);
        ops_json_text(json, "name", worker->queues[i].name);
        ops_json_count(json, "weight", worker->queues[i].weight);
        ops_json_count(json, "most", worker->queues[i].most);
        ops_json_object_end(json);
    }
    ops_json_array_end(json);
    ops_json_count(json, "queues_total", worker->queues_total);
}

void ops_worker_json(struct ops_json *json, const culex_worker_info *worker)
{
    ops_json_object(json, NULL);
    ops_json_text(json, "id", worker->id);
    ops_json_text(json, "name", worker->name);
    ops_json_text(json, "host", worker->host);
    ops_json_int(json, "pid", worker->pid);
    ops_json_text(json, "version", worker->version);
    ops_json_int(json, "started_ms", worker->started_ms);
    ops_json_int(json, "told_ms", worker->told_ms);
    ops_json_text(json, "isolation", worker->isolation);
    ops_json_text(json, "offers", worker->offers);
    ops_json_count(json, "concurrency", worker->concurrency);
    ops_json_count(json, "concurrency_max", worker->concurrency_max);
    ops_json_bool(json, "is_quiet", worker->is_quiet);
    ops_json_bool(json, "is_stopping", worker->is_stopping);
    ops_json_bool(json, "is_pending", worker->is_pending);
    ops_json_int(json, "memory_bytes", worker->memory_bytes);
    ops_json_int(json, "children_bytes", worker->children_bytes);
    ops_json_count(json, "done", worker->done);
    ops_json_count(json, "failed", worker->failed);
    queues_json(json, worker);
    runs_json(json, worker);
    ops_json_object_end(json);
}

/* --- schedules and schemas ---------------------------------------------------------------------
 */

bool ops_schedule_has_run(const culex_schedule_info *schedule)
{
    static const culex_uuid none;
    return memcmp(&schedule->newest, &none, sizeof none) != 0;
}

void ops_schedule_json(struct ops_json *json, const culex_schedule_info *schedule)
{
    ops_json_object(json, NULL);
    ops_json_text(json, "schedule", schedule->name);
    ops_json_int(json, "last_ms", schedule->last_ms);
    ops_json_int(json, "next_ms", schedule->next_ms);
    if (ops_schedule_has_run(schedule))
        ops_json_id(json, "newest", schedule->newest);
    ops_json_bool(json, "paused", schedule->is_paused);
    ops_json_object_end(json);
}

void ops_schema_json(struct ops_json *json, const char *queue, const culex_schema_info *schema)
{
    char fingerprint[20], digest[20];
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, schema->fingerprint);
    snprintf(digest, sizeof digest, "%016" PRIx64, schema->digest);
    ops_json_object(json, NULL);
    ops_json_text(json, "queue", queue);
    ops_json_text(json, "job", schema->wire);
    ops_json_text(json, "fingerprint", fingerprint);
    ops_json_text(json, "digest", digest);
    ops_json_int(json, "told_ms", schema->told_ms);
    ops_json_count(json, "bytes", schema->text_len);
    ops_json_object_end(json);
}

void ops_live_json(struct ops_json *json, const culex_live_schema *schema, bool with_ended)
{
    char fingerprint[20];
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, schema->fingerprint);
    ops_json_object(json, NULL);
    ops_json_text(json, "job", schema->job);
    ops_json_text(json, "fingerprint", fingerprint);
    ops_json_text(json, "queue", schema->queue);
    ops_json_count(json, "runs", schema->runs);
    ops_json_int(json, "oldest_ms", schema->oldest_ms);
    for (int state = 0; state < CULEX_RUN_STATE_COUNT; state++) {
        bool is_ended = state == CULEX_RUN_DONE || state == CULEX_RUN_CANCELLED;
        if (!is_ended || with_ended)
            ops_json_count(json, culex_run_state_name((culex_run_state)state),
                           schema->count[state]);
    }
    ops_json_object_end(json);
}

/* --- limits and figures ------------------------------------------------------------------------
 */

const char *ops_limit_kind(culex_limit_kind kind)
{
    static const char *const names[] = {[CULEX_LIMIT_CONCURRENCY] = "concurrency",
                                        [CULEX_LIMIT_RATE] = "rate",
                                        [CULEX_LIMIT_FAIR] = "fair",
                                        [CULEX_LIMIT_NEEDS] = "needs"};
    return (size_t)kind < sizeof names / sizeof names[0] && names[kind] != NULL ? names[kind] : "?";
}

static void value_json(struct ops_json *json, const char *name, const culex_limit_value *value)
{
    ops_json_object(json, name);
    ops_json_count(json, "count", value->count);
    ops_json_int(json, "per_ms", value->per_ms);
    ops_json_count(json, "burst", value->burst);
    ops_json_object_end(json);
}

void ops_limit_json(struct ops_json *json, const culex_limit_info *limit)
{
    ops_json_object(json, NULL);
    ops_json_text(json, "limit", limit->name);
    ops_json_text(json, "kind", ops_limit_kind(limit->kind));
    value_json(json, "declared", &limit->declared);
    value_json(json, "in_force", &limit->in_force);
    ops_json_bool(json, "is_set", limit->is_set);
    ops_json_count(json, "keys", limit->keys);
    ops_json_count(json, "active", limit->active);
    ops_json_count(json, "parked", limit->parked);
    ops_json_object_end(json);
}

void ops_limit_key_json(struct ops_json *json, const culex_limit_key_info *key)
{
    ops_json_object(json, NULL);
    ops_json_text(json, "key", key->key);
    ops_json_count(json, "active", key->active);
    ops_json_count(json, "parked", key->parked);
    ops_json_int(json, "next_ms", key->next_ms);
    ops_json_object_end(json);
}

static void spread_json(struct ops_json *json, const char *name, const culex_spread *spread)
{
    ops_json_object(json, name);
    ops_json_count(json, "count", spread->count);
    ops_json_int(json, "p50_us", spread->p50_us);
    ops_json_int(json, "p90_us", spread->p90_us);
    ops_json_int(json, "p99_us", spread->p99_us);
    ops_json_int(json, "max_us", spread->max_us);
    ops_json_array(json, "buckets");
    for (size_t i = 0; i < CULEX_SPREAD_BUCKETS; i++) {
        if (spread->buckets[i] == 0)
            continue;
        ops_json_object(json, NULL);
        ops_json_int(json, "upto_us", culex_spread_bucket_us(i));
        ops_json_count(json, "count", spread->buckets[i]);
        ops_json_object_end(json);
    }
    ops_json_array_end(json);
    ops_json_object_end(json);
}

/* Without a job: of all. */
void ops_figures_json(struct ops_json *json, const char *name, const char *queue,
                      const culex_figures *figures)
{
    ops_json_object(json, name);
    ops_json_text(json, "queue", queue);
    ops_json_text(json, "job", figures->job);
    ops_json_count(json, "done", figures->done);
    ops_json_count(json, "failed", figures->failed);
    ops_json_count(json, "crashed", figures->crashed);
    ops_json_count(json, "lost", figures->lost);
    ops_json_count(json, "dead", figures->dead);
    ops_json_count(json, "cancelled", figures->cancelled);
    spread_json(json, "wait", &figures->wait);
    spread_json(json, "run", &figures->run);
    ops_json_object_end(json);
}

/* --- what was enqueued ------------------------------------------------------------------------ */

static const char *outcome_name(culex_enqueue_outcome outcome)
{
    static const char *const names[] = {[CULEX_ENQUEUE_NEW] = "new",
                                        [CULEX_ENQUEUE_DUPLICATE] = "duplicate",
                                        [CULEX_ENQUEUE_KEPT] = "kept",
                                        [CULEX_ENQUEUE_REPLACED] = "replaced",
                                        [CULEX_ENQUEUE_SPOOLED] = "spooled"};
    return (unsigned)outcome < sizeof names / sizeof names[0] ? names[outcome] : "unknown";
}

void ops_enqueued_json(struct ops_json *json, culex_uuid id, const char *queue, const char *job,
                       culex_enqueue_outcome outcome)
{
    ops_json_object(json, NULL);
    ops_json_id(json, "id", id);
    ops_json_text(json, "queue", queue);
    ops_json_text(json, "job", job);
    ops_json_text(json, "outcome", outcome_name(outcome));
    ops_json_object_end(json);
}
