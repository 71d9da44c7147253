#include "worker/overstay.h"

#include <assert.h>

#include "worker/worker_private.h"

enum { PATIENCE_MS = 2000 };

void culex__overstay_begin(struct culex_flight *flight)
{
    culex_worker *worker = flight->lane->worker;
    if (culex__crew_can_kill(worker) || flight->overstay.asked_ns != 0)
        return;
    flight->overstay.asked_ns = culex__worker_now_ns(worker);
    flight->overstay.is_told = false;
    flight->overstay.next = worker->asked;
    worker->asked = flight;
}

void culex__overstay_end(struct culex_flight *flight)
{
    struct culex_flight **link = &flight->lane->worker->asked;
    if (flight->overstay.asked_ns == 0)
        return;
    while (*link != flight) {
        assert(*link != NULL); /* asked_ns says that it is in there */
        link = &(*link)->overstay.next;
    }
    *link = flight->overstay.next;
    flight->overstay.asked_ns = 0;
}

void culex__overstay_forget_all(culex_worker *worker)
{
    worker->asked = NULL;
}

static void overstay_log(const struct culex_flight *flight, int64_t now_ns)
{
    char span[CULEX_LOG_SPAN_SIZE];
    struct culex_log_subject subject = culex__run_subject(&flight->run);
    culex__log_format_span((now_ns - flight->overstay.asked_ns) / CULEX_MS_NS, span);
    culex__log_write(&flight->lane->worker->log, CULEX_LOG_WARNING, &subject,
                     "the handler was asked to stop %s ago and goes on; it keeps its thread until "
                     "it returns",
                     span);
}

/* No warning for a run that has not started: it comes back without being run. */
void culex__overstay_tell(culex_worker *worker, int64_t now_ns)
{
    for (struct culex_flight *flight = worker->asked; flight != NULL;
         flight = flight->overstay.next) {
        if (flight->overstay.is_told ||
            now_ns - flight->overstay.asked_ns < PATIENCE_MS * CULEX_MS_NS)
            continue;
        flight->overstay.is_told = true;
        if (atomic_load_explicit(&flight->run.started_ns, memory_order_relaxed) != 0)
            overstay_log(flight, now_ns);
    }
}

int64_t culex__overstay_next_ns(const culex_worker *worker)
{
    int64_t next_ns = INT64_MAX;
    for (const struct culex_flight *flight = worker->asked; flight != NULL;
         flight = flight->overstay.next) {
        int64_t due_ns = flight->overstay.asked_ns + PATIENCE_MS * CULEX_MS_NS;
        if (!flight->overstay.is_told && due_ns < next_ns)
            next_ns = due_ns;
    }
    return next_ns;
}
