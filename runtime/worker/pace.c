#include "worker/pace.h"

#include <assert.h>

#include "worker/crew.h"
#include "worker/worker_private.h"

enum {
    STALL_MS = 200, /* queued runs go back when the handlers before them stand still this long */
    LATE_MS = 2000, /* the same where each has a handler, whose process is slow to begin */
};

void culex__pace_reset(culex_worker *worker)
{
    worker->pace = (struct culex_pace){0};
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

size_t culex__pace_flights_max(const culex_worker *worker)
{
    size_t batch = worker->options.batch > 0 ? worker->options.batch : CULEX_BATCH_MAX;
    return worker->options.concurrency + 2 * batch;
}

void culex__pace_note_uncounted(culex_worker *worker)
{
    size_t most = culex__pace_flights_max(worker);
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
    worker->pace.progress_ns = now_ns;
}

bool culex__pace_is_exact(const culex_worker *worker)
{
    unsigned most = worker->presence.concurrency;
    return worker->pace.careful_count > 0 || worker->pace.held_count > 0 ||
           (most > 0 && most < worker->options.concurrency);
}
