#include "worker/flight_pool.h"

#include <string.h>

#include "worker/solitude.h"
#include "worker/worker_private.h"

struct culex_flight *culex__flight_alloc(culex_worker *worker)
{
    struct culex_run *run = culex__run_list_pop(&worker->pool);
    return culex__flight_of(run != NULL ? run
                                        : culex__run_create_within(sizeof(struct culex_flight)));
}

void culex__flight_recycle(culex_worker *worker, struct culex_flight *flight)
{
    culex__solitude_let_go(flight);
    culex__run_list_push_front(&worker->pool, &flight->run);
}

void culex__flight_add(struct culex_flight *flight)
{
    struct culex_lane *lane = flight->lane;
    flight->place = lane->flight_count;
    lane->flights[lane->flight_count++] = flight;
    lane->worker->flight_count++;
}

void culex__flight_remove(struct culex_flight *flight)
{
    struct culex_lane *lane = flight->lane;
    struct culex_flight *last = lane->flights[--lane->flight_count];
    lane->flights[flight->place] = last;
    last->place = flight->place;
    lane->worker->flight_count--;
}

void culex__flight_begin(struct culex_flight *flight, struct culex_lane *lane)
{
    const culex_worker *worker = lane->worker;
    flight->lane = lane;
    flight->run.log = &worker->executor->log;
    memcpy(flight->run.terms.queue, lane->name, sizeof flight->run.terms.queue);
    atomic_store_explicit(&flight->run.is_cancelled, false, memory_order_relaxed);
    atomic_store_explicit(&flight->run.started_ns, 0, memory_order_relaxed);
    flight->run.end = (struct culex_execution_end){0};
    flight->run.has_result = false;
    flight->is_in_executor = flight->is_settled = flight->has_cancel = false;
    flight->is_timed_out = flight->is_cut_off = flight->run.terms.is_suspect = flight->is_excused =
        false;
    flight->term_ns = INT64_MAX;
    flight->run.job = (struct culex_job){0};
    culex__run_forget_secrets(&flight->run);
    culex__run_reset_news(&flight->run, &worker->executor->has_news);
    flight->progress_told = 0;
}
