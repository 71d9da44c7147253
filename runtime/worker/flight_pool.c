#include "worker/flight_pool.h"

#include <string.h>

#include "worker/solitude.h"
#include "worker/worker_private.h"

struct culex_run *culex__flight_alloc(culex_worker *worker)
{
    struct culex_run *run = worker->free_runs;
    if (run == NULL)
        return culex__run_create();
    worker->free_runs = run->next;
    run->next = NULL;
    return run;
}

void culex__flight_recycle(culex_worker *worker, struct culex_run *run)
{
    culex__solitude_let_go(run);
    run->next = worker->free_runs;
    worker->free_runs = run;
}

void culex__flight_add(struct culex_run *run)
{
    struct culex_lane *lane = run->lane;
    run->slot = lane->flight_count;
    lane->flights[lane->flight_count++] = run;
    lane->worker->flight_count++;
}

void culex__flight_remove(struct culex_run *run)
{
    struct culex_lane *lane = run->lane;
    struct culex_run *last = lane->flights[--lane->flight_count];
    lane->flights[run->slot] = last;
    last->slot = run->slot;
    lane->worker->flight_count--;
}

void culex__flight_begin(struct culex_run *run, struct culex_lane *lane)
{
    const culex_worker *worker = lane->worker;
    run->lane = lane;
    run->log = &worker->executor->log;
    memcpy(run->terms.queue, lane->name, sizeof run->terms.queue);
    atomic_store_explicit(&run->is_cancelled, false, memory_order_relaxed);
    atomic_store_explicit(&run->started_ns, 0, memory_order_relaxed);
    run->end = (struct culex_execution_end){0};
    run->has_result = false;
    run->is_in_executor = run->is_settled = run->has_cancel = false;
    run->is_timed_out = run->is_fenced = run->terms.is_suspect = run->is_excused = false;
    run->term_ns = INT64_MAX;
    run->job = (struct culex_job){0};
    culex__run_forget_secrets(run);
    culex__run_reset_news(run, &worker->executor->has_news);
}
