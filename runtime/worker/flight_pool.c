#include "worker/flight_pool.h"

#include <assert.h>
#include <string.h>

#include "worker/roster.h"
#include "worker/share.h"
#include "worker/solitude.h"
#include "worker/worker_private.h"

/* Forgets whatever the struct has carried before. */
static void flight_reset(struct culex_flight *flight, struct culex_lane *lane)
{
    flight->lane = lane;
    memcpy(flight->run.terms.queue, lane->name, sizeof flight->run.terms.queue);
    atomic_store_explicit(&flight->run.is_cancelled, false, memory_order_relaxed);
    atomic_store_explicit(&flight->run.started_ns, 0, memory_order_relaxed);
    flight->run.end = (struct culex_execution_end){0};
    flight->run.has_result = false;
    flight->has_cancel = flight->is_timed_out = flight->has_timed_out = flight->is_cut_off =
        flight->run.terms.is_suspect = flight->is_excused = false;
    flight->term_ns = INT64_MAX;
    flight->run.job = (struct culex_job){0};
    culex__run_forget_secrets(&flight->run);
    culex__run_forget_follow_ups(&flight->run);
    culex__crew_bind(lane->worker, &flight->run);
    flight->progress_told = 0;
    culex__kept_lines_reset(&flight->run.last_lines);
}

struct culex_flight *culex__flight_begin(struct culex_lane *lane)
{
    struct culex_run *run = culex__run_list_pop(&lane->worker->pool);
    if (run == NULL)
        run = culex__run_create_within(sizeof(struct culex_flight));
    if (run == NULL)
        return NULL;
    struct culex_flight *flight = culex__flight_of(run);
    assert(flight->state == CULEX_FLIGHT_POOLED && flight->overstay.asked_ns == 0);
    flight_reset(flight, lane);
    flight->state = CULEX_FLIGHT_GROUNDED;
    return flight;
}

void culex__flight_recycle(culex_worker *worker, struct culex_flight *flight)
{
    assert(flight->state != CULEX_FLIGHT_POOLED && flight->state != CULEX_FLIGHT_ALOFT);
    if (flight->state == CULEX_FLIGHT_ENDED)
        culex__roster_remove(flight);
    if (flight->state == CULEX_FLIGHT_GIVEN_UP)
        culex__share_note_return(flight->lane);
    culex__units_let_go(flight);
    assert(flight->overstay.asked_ns == 0); /* or the list of overstay.c would hold it */
    culex__solitude_let_go(flight);
    flight->state = CULEX_FLIGHT_POOLED;
    culex__run_list_push_front(&worker->pool, &flight->run);
}

void culex__flight_add(struct culex_flight *flight)
{
    struct culex_lane *lane = flight->lane;
    assert(flight->state == CULEX_FLIGHT_GROUNDED);
    /* The store grants no more than was wanted, and no more is wanted than the list takes. */
    assert(lane->flight_count < lane->flight_room);
    flight->state = CULEX_FLIGHT_ALOFT;
    flight->place = lane->flight_count;
    lane->flights[lane->flight_count++] = flight;
    lane->worker->flight_count++;
    culex__roster_add(flight);
}

void culex__flight_remove(struct culex_flight *flight)
{
    struct culex_lane *lane = flight->lane;
    assert(flight->state == CULEX_FLIGHT_ALOFT && lane->flights[flight->place] == flight);
    flight->state = CULEX_FLIGHT_GROUNDED;
    struct culex_flight *last = lane->flights[--lane->flight_count];
    lane->flights[flight->place] = last;
    last->place = flight->place;
    lane->worker->flight_count--;
    culex__roster_remove(flight);
}

void culex__flight_set_aside(struct culex_flight *flight)
{
    culex__flight_remove(flight);
    flight->state = CULEX_FLIGHT_GIVEN_UP;
    culex__share_note_aside(flight->lane);
}

void culex__flight_settle(struct culex_flight *flight)
{
    assert(flight->state == CULEX_FLIGHT_GROUNDED);
    flight->state = CULEX_FLIGHT_ENDED;
    culex__roster_add(flight);
}

void culex__flight_pool_free(culex_worker *worker)
{
    worker->flight_count = 0;
    culex__run_list_free(&worker->pool);
}
