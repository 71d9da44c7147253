/* worker/metrics_text.c - what a worker has counted, as text. Any thread may write it. */
#include "worker/metrics.h"

#include <string.h>

#include <culex/culex.h>

#include "platform/env.h"
#include "worker/worker_private.h"

enum {
    TEXT_MAX = 16 * 1024 * 1024,
    FRESH_MS = 120000 /* twice as long as one round over all queues may take */
};

static const char *const end_words[CULEX_METRIC_ENDS] = {
    "done", "failed", "timed_out", "crashed", "lost", "cancelled", "released", "snoozed", "refused",
};

const char *culex__metric_end_name(enum culex_metric_end end)
{
    return end_words[end];
}

static uint64_t counter_get(const culex_counter *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void times_put(struct culex_exposition *out, const struct culex_metric_label *labels,
                      size_t count, const struct culex_times_counted *times)
{
    struct culex_metric_times now = {.sum_us = counter_get(&times->sum_us)};
    for (size_t i = 0; i < CULEX_METRIC_BUCKETS; i++)
        now.of[i] = counter_get(&times->of[i]);
    culex__exposition_put_times(out, labels, count, &now);
}

static void number_put(struct culex_exposition *out, const char *name, enum culex_metric_type type,
                       const char *unit, const char *help, uint64_t value)
{
    const struct culex_metric metric = {name, type, unit, help};
    culex__exposition_family(out, &metric);
    culex__exposition_put(out, NULL, 0, value);
}

/* --- what there is of each queue, and of each job in it ------------------------------ */

static const struct culex_queue_counted *queue_first(const culex_worker *worker)
{
    return atomic_load_explicit(&worker->metrics->queues, memory_order_acquire);
}

static const struct culex_queue_counted *queue_next(const struct culex_queue_counted *queue)
{
    return atomic_load_explicit(&queue->next, memory_order_relaxed);
}

/* Words that no job can have for a name. The label is not `job`, which Prometheus sets itself. */
static const char *job_name(const struct culex_job_counted *job)
{
    return job->is_rest ? "(others)" : job->type != NULL ? job->type->name : "(unknown)";
}

typedef void (*job_put)(struct culex_exposition *out, const struct culex_job_counted *job,
                        const struct culex_metric_label *labels);

static void ends_put(struct culex_exposition *out, const struct culex_job_counted *job,
                     const struct culex_metric_label *labels)
{
    for (size_t i = 0; i < CULEX_METRIC_ENDS; i++) {
        const struct culex_metric_label all[] = {labels[0], labels[1], {"outcome", end_words[i]}};
        culex__exposition_put(out, all, 3, counter_get(&job->ends[i]));
    }
}

static void dead_put(struct culex_exposition *out, const struct culex_job_counted *job,
                     const struct culex_metric_label *labels)
{
    culex__exposition_put(out, labels, 2, counter_get(&job->dead));
}

static void retried_put(struct culex_exposition *out, const struct culex_job_counted *job,
                        const struct culex_metric_label *labels)
{
    culex__exposition_put(out, labels, 2, counter_get(&job->retried));
}

static void waited_put(struct culex_exposition *out, const struct culex_job_counted *job,
                       const struct culex_metric_label *labels)
{
    times_put(out, labels, 2, &job->waited);
}

static void ran_put(struct culex_exposition *out, const struct culex_job_counted *job,
                    const struct culex_metric_label *labels)
{
    times_put(out, labels, 2, &job->ran);
}

static void queue_jobs_put(struct culex_exposition *out, const struct culex_queue_counted *queue,
                           job_put put)
{
    const struct culex_job_counted *job = atomic_load_explicit(&queue->jobs, memory_order_acquire);
    for (; job != NULL; job = atomic_load_explicit(&job->next, memory_order_relaxed)) {
        const struct culex_metric_label labels[] = {{"job_name", job_name(job)},
                                                    {"queue", queue->name}};
        put(out, job, labels);
    }
}

static const struct {
    struct culex_metric metric;
    job_put put;
} of_jobs[] = {
    {{"culex_runs_ended", CULEX_METRIC_COUNTER, NULL,
      "Attempts that this worker has brought to an end, by how they ended."},
     ends_put},
    {{"culex_runs_dead", CULEX_METRIC_COUNTER, NULL,
      "Runs that are dead since their attempt here; it is counted as ended, too."},
     dead_put},
    {{"culex_runs_retried", CULEX_METRIC_COUNTER, NULL,
      "Attempts here that are to be followed by another one, as they did not succeed."},
     retried_put},
    {{"culex_run_wait_seconds", CULEX_METRIC_HISTOGRAM, "seconds",
      "From the instant at which a run was due to the start of its handler here."},
     waited_put},
    {{"culex_run_duration_seconds", CULEX_METRIC_HISTOGRAM, "seconds",
      "How long the handlers of runs took here, however they ended."},
     ran_put},
};

static void jobs_put(struct culex_exposition *out, const culex_worker *worker)
{
    for (size_t i = 0; i < sizeof of_jobs / sizeof of_jobs[0]; i++) {
        culex__exposition_family(out, &of_jobs[i].metric);
        for (const struct culex_queue_counted *queue = queue_first(worker); queue != NULL;
             queue = queue_next(queue))
            queue_jobs_put(out, queue, of_jobs[i].put);
    }
}

static void queues_put(struct culex_exposition *out, const culex_worker *worker)
{
    static const struct culex_metric expired = {
        "culex_runs_expired", CULEX_METRIC_COUNTER, NULL,
        "Runs that had expired when this worker came for them, and are dead."};
    static const struct culex_metric lost = {
        "culex_leases_lost", CULEX_METRIC_COUNTER, NULL,
        "Runs whose lease was over while this worker had them: others may run them again."};
    const struct culex_queue_counted *queue;
    culex__exposition_family(out, &expired);
    for (queue = queue_first(worker); queue != NULL; queue = queue_next(queue))
        culex__exposition_put(out, &(struct culex_metric_label){"queue", queue->name}, 1,
                              counter_get(&queue->expired));
    culex__exposition_family(out, &lost);
    for (queue = queue_first(worker); queue != NULL; queue = queue_next(queue))
        culex__exposition_put(out, &(struct culex_metric_label){"queue", queue->name}, 1,
                              counter_get(&queue->leases_lost));
}

/* Older figures would pass for what is there now. */
static bool is_fresh(const culex_worker *worker, const struct culex_queue_counted *queue)
{
    uint64_t at_ms = atomic_load_explicit(&queue->seen.at_ms, memory_order_acquire);
    uint64_t now_ms = (uint64_t)(culex__worker_now_ns(worker) / CULEX_MS_NS);
    return at_ms > 0 && now_ms - at_ms < FRESH_MS;
}

static void states_put(struct culex_exposition *out, const struct culex_queue_counted *queue)
{
    for (size_t i = 0; i < CULEX_RUN_STATE_COUNT; i++) {
        const struct culex_metric_label labels[] = {
            {"queue", queue->name}, {"state", culex_run_state_name((culex_run_state)i)}};
        culex__exposition_put(out, labels, 2, counter_get(&queue->seen.count[i]));
    }
}

static void paused_put(struct culex_exposition *out, const struct culex_queue_counted *queue)
{
    culex__exposition_put(out, &(struct culex_metric_label){"queue", queue->name}, 1,
                          counter_get(&queue->seen.paused));
}

static void oldest_put(struct culex_exposition *out, const struct culex_queue_counted *queue)
{
    uint64_t oldest_ms = counter_get(&queue->seen.oldest_ms);
    if (oldest_ms != UINT64_MAX)
        culex__exposition_put_us(out, &(struct culex_metric_label){"queue", queue->name}, 1,
                                 oldest_ms * 1000);
}

static void seen_put(struct culex_exposition *out, const culex_worker *worker,
                     const struct culex_metric *metric,
                     void (*put)(struct culex_exposition *out,
                                 const struct culex_queue_counted *queue))
{
    culex__exposition_family(out, metric);
    for (const struct culex_queue_counted *queue = queue_first(worker); queue != NULL;
         queue = queue_next(queue)) {
        if (is_fresh(worker, queue))
            put(out, queue);
    }
}

static void queues_seen_put(struct culex_exposition *out, const culex_worker *worker)
{
    static const struct culex_metric runs = {
        "culex_queue_runs", CULEX_METRIC_GAUGE, NULL,
        "Runs in the queue, whoever has them, as the store told some seconds ago."};
    static const struct culex_metric paused = {"culex_queue_paused", CULEX_METRIC_GAUGE, NULL,
                                               "1 while the queue is paused, else 0."};
    static const struct culex_metric oldest = {
        "culex_queue_oldest_waiting_seconds", CULEX_METRIC_GAUGE, "seconds",
        "Since the enqueue of the oldest run that waits to be begun for the first time, 0 when "
        "none does."};
    seen_put(out, worker, &runs, states_put);
    seen_put(out, worker, &paused, paused_put);
    seen_put(out, worker, &oldest, oldest_put);
}

/* --- what there is of the worker ----------------------------------------------------- */

static void build_put(struct culex_exposition *out)
{
    static const struct culex_metric build = {"culex_build", CULEX_METRIC_INFO, NULL,
                                              "The version of the Culex library."};
    culex__exposition_family(out, &build);
    culex__exposition_put(out, &(struct culex_metric_label){"version", culex_version()}, 1, 1);
}

static void runs_put(struct culex_exposition *out, const struct culex_metrics *metrics)
{
    number_put(out, "culex_runs_active", CULEX_METRIC_GAUGE, NULL,
               "Runs whose handlers are at work here.", counter_get(&metrics->active));
    number_put(out, "culex_runs_held", CULEX_METRIC_GAUGE, NULL,
               "Runs that this worker has claimed ahead and not begun.",
               counter_get(&metrics->held));
    number_put(out, "culex_concurrency", CULEX_METRIC_GAUGE, NULL,
               "Runs that this worker may have at work at a time.",
               counter_get(&metrics->concurrency));
    number_put(out, "culex_handlers", CULEX_METRIC_GAUGE, NULL,
               "Handlers that can be at work now: fewer than the concurrency while child "
               "processes cannot be started or set up.",
               counter_get(&metrics->handlers));
}

static void memory_put(struct culex_exposition *out, const culex_worker *worker)
{
    struct culex_process_facts facts = culex__env_process_facts(worker->env);
    number_put(out, "culex_worker_memory_bytes", CULEX_METRIC_GAUGE, "bytes",
               "Resident memory of the worker's own process.", (uint64_t)facts.memory_bytes);
    number_put(out, "culex_children_memory_bytes", CULEX_METRIC_GAUGE, "bytes",
               "Resident memory of its child processes, with what they share counted in each.",
               (uint64_t)facts.descendants_bytes);
}

static void store_put(struct culex_exposition *out, const struct culex_metrics *metrics)
{
    static const struct culex_metric steps = {
        "culex_store_step_seconds", CULEX_METRIC_HISTOGRAM, "seconds",
        "Round trips to the store that claim runs and tell of their ends, until the answer."};
    culex__exposition_family(out, &steps);
    times_put(out, NULL, 0, &metrics->steps);
    number_put(out, "culex_store_failed_calls", CULEX_METRIC_COUNTER, NULL,
               "Calls of the store that failed and are tried again.",
               counter_get(&metrics->failed_calls));
    number_put(out, "culex_store_outages", CULEX_METRIC_COUNTER, NULL,
               "How often there was trouble with the store, of however many calls.",
               counter_get(&metrics->outages));
    number_put(out, "culex_store_up", CULEX_METRIC_GAUGE, NULL,
               "1 while there is no trouble with the store, else 0.",
               counter_get(&metrics->is_away) == 0);
}

char *culex__metrics_text(const culex_worker *worker, bool is_plain, size_t *ret_len)
{
    struct culex_exposition out;
    culex_buf buf;
    atomic_store_explicit(&worker->metrics->asked_ns, (uint64_t)culex__worker_now_ns(worker),
                          memory_order_relaxed);
    culex_buf_init(&buf, TEXT_MAX);
    culex__exposition_begin(&out, &buf, is_plain);
    build_put(&out);
    jobs_put(&out, worker);
    queues_put(&out, worker);
    queues_seen_put(&out, worker);
    runs_put(&out, worker->metrics);
    memory_put(&out, worker);
    store_put(&out, worker->metrics);
    if (!culex__exposition_end(&out)) {
        culex_buf_release(&buf);
        return NULL;
    }
    *ret_len = buf.len;
    return buf.data;
}
