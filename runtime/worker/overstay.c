#include "worker/overstay.h"

#include "worker/worker_private.h"

enum { PATIENCE_MS = 2000 };
#define MS INT64_C(1000000)

void culex__overstay_begin(struct culex_run *run)
{
    culex_worker *worker = run->lane->worker;
    if (worker->executor->ops->can_kill || run->asked_ns != 0)
        return;
    run->asked_ns = culex__worker_now_ns(worker);
    run->is_overstay_told = false;
    run->next_asked = worker->asked;
    worker->asked = run;
}

void culex__overstay_end(struct culex_run *run)
{
    struct culex_run **link = &run->lane->worker->asked;
    if (run->asked_ns == 0)
        return;
    while (*link != run)
        link = &(*link)->next_asked;
    *link = run->next_asked;
    run->asked_ns = 0;
}

static void overstay_log(const struct culex_run *run, int64_t now_ns)
{
    char span[CULEX_LOG_SPAN_SIZE];
    struct culex_log_subject subject = culex__run_subject(run);
    culex__log_format_span((now_ns - run->asked_ns) / MS, span);
    culex__log_write(&run->lane->worker->log, CULEX_LOG_WARNING, &subject,
                     "the handler was asked to stop %s ago and goes on; it keeps its thread until "
                     "it returns",
                     span);
}

/* What has not started comes back without being run: nothing to tell. */
void culex__overstay_tell(culex_worker *worker, int64_t now_ns)
{
    for (struct culex_run *run = worker->asked; run != NULL; run = run->next_asked) {
        if (run->is_overstay_told || now_ns - run->asked_ns < PATIENCE_MS * MS)
            continue;
        run->is_overstay_told = true;
        if (atomic_load_explicit(&run->started_ns, memory_order_relaxed) != 0)
            overstay_log(run, now_ns);
    }
}

int64_t culex__overstay_next_ns(const culex_worker *worker)
{
    int64_t next_ns = INT64_MAX;
    for (const struct culex_run *run = worker->asked; run != NULL; run = run->next_asked) {
        int64_t due_ns = run->asked_ns + PATIENCE_MS * MS;
        if (!run->is_overstay_told && due_ns < next_ns)
            next_ns = due_ns;
    }
    return next_ns;
}
