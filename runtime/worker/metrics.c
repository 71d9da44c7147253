#include "worker/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "worker/crew.h"
#include "worker/flight.h"
#include "worker/lane.h"
#include "worker/worker_private.h"

/* --- counting ------------------------------------------------------------------------ */

/* There is one writer, so the sum needs no locked instruction. */
static void counter_add(culex_counter *counter, uint64_t more)
{
    uint64_t sum = atomic_load_explicit(counter, memory_order_relaxed) + more;
    atomic_store_explicit(counter, sum, memory_order_relaxed);
}

static void counter_set(culex_counter *counter, uint64_t value)
{
    atomic_store_explicit(counter, value, memory_order_relaxed);
}

static void times_add(struct culex_times_counted *times, int64_t us)
{
    counter_add(&times->of[culex__metric_bucket(us)], 1);
    counter_add(&times->sum_us, us > 0 ? (uint64_t)us : 0);
}

/* --- what is counted apart ----------------------------------------------------------- */

/* A reader sees the whole of it or nothing. NULL when out of memory: it is not counted then. */
static struct culex_queue_counted *queue_of(const struct culex_lane *lane)
{
    struct culex_metrics *metrics = lane->worker->metrics;
    struct culex_queue_counted *first =
        atomic_load_explicit(&metrics->queues, memory_order_relaxed);
    for (struct culex_queue_counted *queue = first; queue != NULL;
         queue = atomic_load_explicit(&queue->next, memory_order_relaxed)) {
        if (strcmp(queue->name, lane->name) == 0)
            return queue;
    }
    struct culex_queue_counted *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return NULL;
    memcpy(queue->name, lane->name, sizeof queue->name);
    atomic_store_explicit(&queue->next, first, memory_order_relaxed);
    atomic_store_explicit(&metrics->queues, queue, memory_order_release);
    return queue;
}

static struct culex_job_counted *job_make(struct culex_queue_counted *queue,
                                          const culex_job_type *type, bool is_rest)
{
    struct culex_job_counted *job = calloc(1, sizeof *job);
    if (job == NULL)
        return NULL;
    job->type = type;
    job->is_rest = is_rest;
    atomic_store_explicit(&job->next, atomic_load_explicit(&queue->jobs, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&queue->jobs, job, memory_order_release);
    return job;
}

static struct culex_job_counted *job_find(const struct culex_queue_counted *queue,
                                          const culex_job_type *type, bool is_rest)
{
    struct culex_job_counted *job = atomic_load_explicit(&queue->jobs, memory_order_relaxed);
    while (job != NULL && (job->type != type || job->is_rest != is_rest))
        job = atomic_load_explicit(&job->next, memory_order_relaxed);
    return job;
}

/* Each queue may have one more than the bound, for the rest of its jobs. */
static struct culex_job_counted *
job_of(struct culex_metrics *metrics, struct culex_queue_counted *queue, const culex_job_type *type)
{
    struct culex_job_counted *job = job_find(queue, type, false);
    if (job != NULL)
        return job;
    if (metrics->pair_count < CULEX_METRICS_PAIRS_MAX) {
        metrics->pair_count++;
        return job_make(queue, type, false);
    }
    job = job_find(queue, NULL, true);
    return job != NULL ? job : job_make(queue, NULL, true);
}

/* --- runs ---------------------------------------------------------------------------- */

/* It is told by the one of these rows of the tally that has grown. */
enum culex_metric_end culex__metric_end_of(const struct culex_flight *flight,
                                           const struct culex_tally *before)
{
    static const struct {
        enum culex_tally_row row;
        enum culex_metric_end end;
    } ends[] = {
        {CULEX_TALLY_STALE, CULEX_METRIC_END_REFUSED},
        {CULEX_TALLY_DONE, CULEX_METRIC_END_DONE},
        {CULEX_TALLY_CANCELLED, CULEX_METRIC_END_CANCELLED},
        {CULEX_TALLY_CRASHED, CULEX_METRIC_END_CRASHED},
        {CULEX_TALLY_LOST, CULEX_METRIC_END_LOST},
        {CULEX_TALLY_SNOOZED, CULEX_METRIC_END_SNOOZED},
        {CULEX_TALLY_RELEASED, CULEX_METRIC_END_RELEASED},
    };
    const uint64_t *now = flight->lane->worker->tally.counts;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (now[ends[i].row] > before->counts[ends[i].row])
            return ends[i].end;
    }
    return flight->has_timed_out ? CULEX_METRIC_END_TIMED_OUT : CULEX_METRIC_END_FAILED;
}

/* Follow-ups that the store has refused end an attempt in a way that it alone knows. */
static bool is_retried(enum culex_metric_end end, bool is_dead, enum culex_answer answer)
{
    return !is_dead && answer != CULEX_ANSWER_FAILED &&
           (end == CULEX_METRIC_END_FAILED || end == CULEX_METRIC_END_TIMED_OUT ||
            end == CULEX_METRIC_END_CRASHED || end == CULEX_METRIC_END_LOST);
}

static void run_times_add(struct culex_job_counted *job, const struct culex_flight *flight)
{
    const culex_worker *worker = flight->lane->worker;
    const struct culex_run *run = &flight->run;
    int64_t started_ns = atomic_load_explicit(&run->started_ns, memory_order_relaxed);
    if (started_ns == 0)
        return;
    int64_t begun_ms = started_ns / CULEX_MS_NS + worker->clock.offset_ms;
    if (run->facts.due_ms > 0 && worker->clock.is_known)
        times_add(&job->waited, (begun_ms - run->facts.due_ms) * 1000);
    times_add(&job->ran, run->end.duration_ns / 1000);
}

void culex__metrics_note(const struct culex_flight *flight, const struct culex_tally *before,
                         enum culex_answer answer)
{
    const culex_worker *worker = flight->lane->worker;
    if (worker->metrics == NULL)
        return;
    struct culex_queue_counted *queue = queue_of(flight->lane);
    struct culex_job_counted *job =
        queue != NULL ? job_of(worker->metrics, queue, flight->run.job.type) : NULL;
    if (job == NULL)
        return;
    bool is_dead = worker->tally.counts[CULEX_TALLY_DEAD] > before->counts[CULEX_TALLY_DEAD];
    enum culex_metric_end end = culex__metric_end_of(flight, before);
    counter_add(&job->ends[end], 1);
    counter_add(&job->dead, is_dead);
    counter_add(&job->retried, is_retried(end, is_dead, answer));
    run_times_add(job, flight);
}

void culex__metrics_note_expired(const struct culex_lane *lane, uint32_t count)
{
    struct culex_queue_counted *queue =
        lane->worker->metrics != NULL && count > 0 ? queue_of(lane) : NULL;
    if (queue != NULL)
        counter_add(&queue->expired, count);
}

void culex__metrics_note_lost_lease(const struct culex_lane *lane)
{
    struct culex_queue_counted *queue = lane->worker->metrics != NULL ? queue_of(lane) : NULL;
    if (queue != NULL)
        counter_add(&queue->leases_lost, 1);
}

/* The instant last: whoever reads it finds what belongs to it, or newer. */
void culex__metrics_note_queue(const struct culex_lane *lane, const culex_queue_stats *stats,
                               int64_t oldest_ms, int64_t now_ns)
{
    struct culex_queue_counted *queue = lane->worker->metrics != NULL ? queue_of(lane) : NULL;
    if (queue == NULL)
        return;
    for (size_t i = 0; i < CULEX_RUN_STATE_COUNT; i++)
        counter_set(&queue->seen.count[i], stats->count[i]);
    counter_set(&queue->seen.paused, stats->paused);
    counter_set(&queue->seen.oldest_ms, (uint64_t)oldest_ms);
    atomic_store_explicit(&queue->seen.at_ms, (uint64_t)(now_ns / CULEX_MS_NS),
                          memory_order_release);
}

int64_t culex__metrics_asked_ns(const culex_worker *worker)
{
    return (int64_t)atomic_load_explicit(&worker->metrics->asked_ns, memory_order_relaxed);
}

/* --- the store ----------------------------------------------------------------------- */

void culex__metrics_note_step(const culex_worker *worker, int64_t took_ns)
{
    if (worker->metrics != NULL)
        times_add(&worker->metrics->steps, took_ns / 1000);
}

void culex__metrics_note_failure(const culex_worker *worker, bool is_first)
{
    if (worker->metrics == NULL)
        return;
    counter_add(&worker->metrics->failed_calls, 1);
    counter_add(&worker->metrics->outages, is_first);
    counter_set(&worker->metrics->is_away, 1);
}

/* --- once a turn, beginning and end -------------------------------------------------- */

void culex__metrics_turn(culex_worker *worker)
{
    struct culex_metrics *metrics = worker->metrics;
    if (metrics == NULL)
        return;
    unsigned wished = worker->presence.concurrency;
    size_t queued = culex__crew_queued(worker);
    size_t held = queued < worker->crew.count ? queued : worker->crew.count;
    counter_set(&metrics->held, held);
    counter_set(&metrics->active, worker->crew.count - held);
    counter_set(&metrics->concurrency, wished > 0 ? wished : worker->options.concurrency);
    counter_set(&metrics->handlers, culex__crew_capacity(worker));
    counter_set(&metrics->is_away, worker->outage.is_on);
}

bool culex__metrics_begin(culex_worker *worker)
{
    worker->metrics = calloc(1, sizeof *worker->metrics);
    if (worker->metrics == NULL)
        return false;
    counter_set(&worker->metrics->concurrency, worker->options.concurrency);
    counter_set(&worker->metrics->asked_ns, (uint64_t)culex__worker_now_ns(worker));
    return true;
}

static void queue_free(struct culex_queue_counted *queue)
{
    struct culex_job_counted *job = atomic_load_explicit(&queue->jobs, memory_order_relaxed);
    while (job != NULL) {
        struct culex_job_counted *next = atomic_load_explicit(&job->next, memory_order_relaxed);
        free(job);
        job = next;
    }
    free(queue);
}

void culex__metrics_free(culex_worker *worker)
{
    struct culex_metrics *metrics = worker->metrics;
    if (metrics == NULL)
        return;
    struct culex_queue_counted *queue =
        atomic_load_explicit(&metrics->queues, memory_order_relaxed);
    while (queue != NULL) {
        struct culex_queue_counted *next = atomic_load_explicit(&queue->next, memory_order_relaxed);
        queue_free(queue);
        queue = next;
    }
    free(metrics);
    worker->metrics = NULL;
}
