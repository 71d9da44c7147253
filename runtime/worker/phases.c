#include "worker/phases.h"

#include <assert.h>

#include "platform/events.h"
#include "worker/drain.h"
#include "worker/flight.h"
#include "worker/tick.h"
#include "worker/wake.h"
#include "worker/worker_private.h"

enum {
    CANCEL_MS = 2000, /* from asking handlers to stop to giving them up */
    REAP_MS = 1000,   /* and to wait for those that were killed then */
    ANSWER_MS = 500,  /* and for each call after that, while the store answers */
};

void culex__until_set(culex_worker *worker, int64_t wait_ms)
{
    int64_t now_ns = culex__worker_now_ns(worker);
    atomic_store(&worker->until_ns, wait_ms > 0 ? now_ns + wait_ms * CULEX_MS_NS : now_ns);
}

void culex__phases_reset(culex_worker *worker)
{
    worker->phases = (struct culex_phases){
        .current = CULEX_WORKER_RUNNING, .end_ns = INT64_MAX, .patient_ns = INT64_MAX};
}

void culex__phase_enter(culex_worker *worker, enum culex_worker_phase phase, int64_t now_ns)
{
    assert(phase > worker->phases.current); /* there is no way back */
    culex__outage_hurry(worker);
    worker->phases.current = phase;
    culex__wake_leave(worker);
    switch (phase) {
    case CULEX_WORKER_RUNNING:
        break; /* which is how a worker begins */
    case CULEX_WORKER_STOPPING:
        if (atomic_load(&worker->until_ns) == 0) /* asked before the run began */
            culex__until_set(worker, atomic_load(&worker->grace_ms));
        culex__lanes_hand_on(worker);
        culex__flight_withdraw(worker);
        worker->phases.end_ns = atomic_load(&worker->until_ns);
        culex__log_write(&worker->log, CULEX_LOG_INFO, NULL, "stopping: %zu runs still active",
                         worker->flight_count);
        break;
    case CULEX_WORKER_CANCELLING:
        culex__until_set(worker, CANCEL_MS);
        worker->phases.patient_ns = atomic_load(&worker->until_ns);
        culex__flight_cancel_all(worker);
        worker->phases.end_ns = now_ns + CANCEL_MS * CULEX_MS_NS;
        if (culex__crew_can_kill(worker))
            worker->phases.end_ns += REAP_MS * CULEX_MS_NS;
        break;
    case CULEX_WORKER_ABANDONING:
        culex__flight_abandon_all(worker);
        worker->phases.end_ns = now_ns + worker->store_settings.timeout_ms * CULEX_MS_NS;
        break;
    }
}

/* The store does not answer, and its time is over. */
static bool store_is_given_up(const culex_worker *worker, int64_t now_ns)
{
    return now_ns >= worker->phases.patient_ns && worker->outage.is_on;
}

void culex__phases_advance(culex_worker *worker, int64_t now_ns)
{
    for (uint64_t stops = culex__bell_take(worker->stop_fd); stops > 0; stops--) {
        if (worker->phases.current == CULEX_WORKER_RUNNING)
            culex__phase_enter(worker, CULEX_WORKER_STOPPING, now_ns);
        else if (worker->phases.current == CULEX_WORKER_STOPPING)
            culex__phase_enter(worker, CULEX_WORKER_CANCELLING, now_ns);
        else
            break;
    }
    if (worker->phases.current == CULEX_WORKER_STOPPING && now_ns >= worker->phases.end_ns)
        culex__phase_enter(worker, CULEX_WORKER_CANCELLING, now_ns);
    if (worker->phases.current == CULEX_WORKER_CANCELLING && now_ns >= worker->phases.end_ns)
        culex__phase_enter(worker, CULEX_WORKER_ABANDONING, now_ns);
    bool is_late = worker->phases.current >= CULEX_WORKER_CANCELLING &&
                   now_ns >= (int64_t)atomic_load(&worker->until_ns);
    if (is_late && !store_is_given_up(worker, now_ns))
        culex__until_set(worker, ANSWER_MS);
}

int64_t culex__phases_next_ns(const culex_worker *worker, int64_t now_ns)
{
    bool is_patient = worker->phases.patient_ns > now_ns;
    return culex__min_ns(worker->phases.end_ns, is_patient ? worker->phases.patient_ns : INT64_MAX);
}

size_t culex__worker_unsent(const culex_worker *worker)
{
    size_t count = 0;
    for (size_t i = 0; i < worker->lane_count; i++)
        count += worker->lanes[i].acks.ends.count + worker->lanes[i].acks.count;
    return count;
}

/* The answer to some step is still needed: the store may have granted runs that only the answer
 * names. */
static bool grants_are_in_doubt(const culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        const struct culex_lane_step *step = &worker->lanes[i].step;
        if (step->is_pending && step->want > 0 && step->may_be_applied)
            return true;
    }
    return false;
}

static bool is_drained(culex_worker *worker, int64_t now_ns)
{
    bool is_empty = true;
    if (!worker->options.drain || atomic_load(&worker->is_fed) || worker->crew.count > 0 ||
        culex__worker_unsent(worker) > 0 || !culex__discovery_is_done(worker))
        return false;
    for (size_t i = 0; i < worker->lane_count; i++) {
        const struct culex_lane *lane = &worker->lanes[i];
        if (lane->greeting.is_barred)
            continue;
        if (!lane->greeting.is_done || lane->outlook.is_likely)
            return false;
        is_empty = is_empty && lane->outlook.is_empty;
    }
    if (culex__ticks_are_due(worker, now_ns))
        return false;
    if (is_empty || culex__drain_is_stuck(worker, now_ns))
        return true;
    culex__drain_tell_paused(worker, now_ns);
    culex__drain_tell_scheduled(worker, now_ns);
    return false;
}

bool culex__worker_is_finished(culex_worker *worker, int64_t now_ns)
{
    if (worker->phases.current == CULEX_WORKER_RUNNING)
        return is_drained(worker, now_ns);
    if (worker->phases.current == CULEX_WORKER_ABANDONING && now_ns >= worker->phases.end_ns)
        return true;
    if (store_is_given_up(worker, now_ns))
        return true; /* the store has had its time */
    bool is_told = culex__worker_unsent(worker) == 0 && !grants_are_in_doubt(worker);
    bool is_quiet = worker->crew.count == 0 || worker->phases.current == CULEX_WORKER_ABANDONING;
    return is_told && is_quiet && worker->flight_count == 0;
}
