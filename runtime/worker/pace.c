#include "worker/pace.h"

#include <assert.h>

#include "worker/crew.h"
#include "worker/worker_private.h"

enum {
    SHORT_NS = 1000000, /* runs below this are short */
    STALL_MS = 200, /* queued runs go back when the handlers before them stand still this long */
    LATE_MS = 2000, /* the same where each has a handler, whose process is slow to begin */
    SLOW_MS = 1000, /* and take that long from then on, as far as we know */
};

/* Taken for the time of handlers until some have ended: too long to fetch runs ahead. */
#define FIRST_AVERAGE_NS INT64_C(2000000)

void culex__pace_reset(culex_worker *worker)
{
    worker->pace = (struct culex_pace){.average_ns = FIRST_AVERAGE_NS};
}

void culex__pace_learn(culex_worker *worker, int64_t duration_ns)
{
    worker->pace.average_ns += (duration_ns - worker->pace.average_ns) / 8;
}

void culex__pace_note_end(culex_worker *worker)
{
    worker->pace.careful_count -= worker->pace.careful_count > 0;
}

void culex__pace_note_progress(culex_worker *worker)
{
    worker->pace.progress_ns = culex__worker_now_ns(worker);
}

void culex__pace_note_released(culex_worker *worker, size_t count)
{
    worker->pace.careful_count += count;
}

/* The most runs in flight with so many handlers. */
static size_t flights_ahead(const culex_worker *worker, size_t handlers)
{
    return handlers + 2 * (size_t)worker->options.batch;
}

void culex__pace_note_uncounted(culex_worker *worker)
{
    size_t most = flights_ahead(worker, worker->options.concurrency);
    if (worker->pace.careful_count < most)
        worker->pace.careful_count = most;
}

void culex__pace_set_held(struct culex_lane *lane, bool is_held)
{
    struct culex_pace *pace = &lane->worker->pace;
    assert(!lane->is_held || pace->held_count > 0);
    pace->held_count += is_held;
    pace->held_count -= lane->is_held;
    lane->is_held = is_held;
}

int64_t culex__pace_stall_ns(const culex_worker *worker, size_t queued)
{
    bool is_behind = worker->crew.count > culex__crew_capacity(worker);
    int64_t patience_ms = is_behind ? STALL_MS : LATE_MS;
    return queued > 0 ? worker->pace.progress_ns + patience_ms * CULEX_MS_NS : INT64_MAX;
}

void culex__pace_note_stall(culex_worker *worker, int64_t now_ns)
{
    worker->pace.average_ns = SLOW_MS * CULEX_MS_NS;
    worker->pace.progress_ns = now_ns;
}

bool culex__pace_is_gathering(const culex_worker *worker, size_t queued)
{
    return queued > 0 && culex__worker_runs_are_short(worker);
}

bool culex__worker_runs_are_short(const culex_worker *worker)
{
    return worker->pace.average_ns < SHORT_NS;
}

size_t culex__worker_limit(const culex_worker *worker)
{
    size_t handlers = culex__crew_capacity(worker);
    bool is_exact = worker->pace.careful_count > 0 || worker->pace.held_count > 0;
    return culex__worker_runs_are_short(worker) && !is_exact && handlers > 0
               ? flights_ahead(worker, handlers)
               : handlers;
}

bool culex__worker_has_room(const culex_worker *worker)
{
    return worker->phases.current == CULEX_WORKER_RUNNING &&
           worker->crew.count < culex__worker_limit(worker);
}
