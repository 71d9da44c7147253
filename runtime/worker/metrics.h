/* worker/metrics.h - what a worker counts for whoever asks it for metrics (`--metrics`).
 *
 * The supervisor alone counts, and does so in atomics that any thread may read at any time, without
 * a lock: a scrape never holds up a run. What a thread reads of several counters may be of
 * different moments, but no counter ever goes back. Queues and pairs of queue and job are only
 * added, and stay until all is freed.
 *
 * A worker that nobody asks has none of this (`worker->metrics` is NULL): each call here is one
 * comparison then. */
#ifndef CULEX_WORKER_METRICS_H
#define CULEX_WORKER_METRICS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <culex/worker.h>

#include "core/exposition.h"
#include "store/store.h"
#include "worker/tally.h"

struct culex_flight;
struct culex_lane;

typedef atomic_uint_fast64_t culex_counter;

/* ORDER METRIC_END: how an attempt may end here, of which each ends in one way. */
enum culex_metric_end {
    CULEX_METRIC_END_DONE,
    CULEX_METRIC_END_FAILED,
    CULEX_METRIC_END_TIMED_OUT,
    CULEX_METRIC_END_CRASHED,
    CULEX_METRIC_END_LOST, /* with the process that starts children */
    CULEX_METRIC_END_CANCELLED,
    CULEX_METRIC_END_RELEASED, /* given back, uncharged */
    CULEX_METRIC_END_SNOOZED,
    CULEX_METRIC_END_REFUSED, /* the store took its result no more */
    CULEX_METRIC_ENDS
};

struct culex_times_counted {
    culex_counter of[CULEX_METRIC_BUCKETS];
    culex_counter sum_us;
};

/* Of the runs of a job in a queue. */
struct culex_job_counted {
    const culex_job_type *type; /* NULL: of jobs that have no handler here, */
    bool is_rest;               /* or of those beyond the bound */
    culex_counter ends[CULEX_METRIC_ENDS];
    culex_counter dead, retried;
    struct culex_times_counted waited, ran;
    _Atomic(struct culex_job_counted *) next;
};

/* What the store has told of a queue. */
struct culex_queue_seen {
    culex_counter count[CULEX_RUN_STATE_COUNT];
    culex_counter paused;
    culex_counter oldest_ms; /* age of the run that waits longest; UINT64_MAX: not known */
    culex_counter at_ms;     /* boot time; 0: nothing yet */
};

struct culex_queue_counted {
    char name[CULEX_QUEUE_NAME_MAX + 1];
    culex_counter expired, leases_lost;
    struct culex_queue_seen seen;
    _Atomic(struct culex_job_counted *) jobs;
    _Atomic(struct culex_queue_counted *) next;
};

enum { CULEX_METRICS_PAIRS_MAX = 1024 /* of queue and job; what is beyond counts as one job */ };

struct culex_metrics {
    _Atomic(struct culex_queue_counted *) queues;
    size_t pair_count;
    culex_counter active, held, concurrency, handlers;
    struct culex_times_counted steps;
    culex_counter failed_calls, outages, is_away;
    culex_counter asked_ns; /* boot time of the newest scrape, which its thread writes */
};

/* False when out of memory. */
bool culex__metrics_begin(culex_worker *worker);

/* No other thread reads it any more. */
void culex__metrics_free(culex_worker *worker);

/* "done", "failed", ... */
const char *culex__metric_end_name(enum culex_metric_end end);

/* How the attempt has ended. `before`: the worker's tally before that was counted there. */
enum culex_metric_end culex__metric_end_of(const struct culex_flight *flight,
                                           const struct culex_tally *before);

/* The store has given this answer to the end of the run. `before` as above. */
void culex__metrics_note(const struct culex_flight *flight, const struct culex_tally *before,
                         enum culex_answer answer);

/* Runs of the lane have expired before anybody came for them. */
void culex__metrics_note_expired(const struct culex_lane *lane, uint32_t count);

void culex__metrics_note_lost_lease(const struct culex_lane *lane);

/* What the store tells of the lane's queue now. `oldest_ms`: so long ago the oldest run was
 * enqueued that waits to be begun for the first time; 0 when there is none, -1 when it is not
 * known. */
void culex__metrics_note_queue(const struct culex_lane *lane, const culex_queue_stats *stats,
                               int64_t oldest_ms, int64_t now_ns);

/* Boot time of the newest scrape, or of the begin. */
int64_t culex__metrics_asked_ns(const culex_worker *worker);

/* A step was answered after this time. */
void culex__metrics_note_step(const culex_worker *worker, int64_t took_ns);

/* A call to the store has failed; it is the first of an outage, or not. */
void culex__metrics_note_failure(const culex_worker *worker, bool is_first);

/* Once a turn: what there is of it now. */
void culex__metrics_turn(culex_worker *worker);

/* All of it as text, by any thread while the worker runs. NULL when out of memory; to be freed. */
char *culex__metrics_text(const culex_worker *worker, bool is_plain, size_t *ret_len);

#endif
