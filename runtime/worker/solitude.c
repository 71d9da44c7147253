#include "worker/solitude.h"

#include <assert.h>

#include "worker/pace.h"
#include "worker/worker_private.h"

enum {
    OTHERS_MS = 1000,   /* what others have for themselves at least */
    PATIENCE_MS = 1000, /* at first */
    VAIN_FACTOR = 4,    /* others have so much more than what was waited in vain */
    ALONE_MS = 60000,   /* that a suspect is alone at most, in its first attempt as one */
    DOUBLINGS_MAX = 6,  /* of that */
};

void culex__solitude_reset(culex_worker *worker)
{
    worker->solitude = (struct culex_solitude){.since_ns = culex__worker_now_ns(worker),
                                               .others_ns = OTHERS_MS * CULEX_MS_NS,
                                               .patience_ns = PATIENCE_MS * CULEX_MS_NS};
}

/* A handler on a thread was given up and goes on, nobody knows how long: a solitude would wait for
 * its end in vain, again and again, while others could be started. */
static bool has_deaf(const culex_worker *worker)
{
    return !culex__crew_can_kill(worker) && worker->crew.count > worker->flight_count;
}

static bool is_wanted(const culex_worker *worker)
{
    if (has_deaf(worker))
        return false;
    for (size_t i = 0; i < worker->lane_count; i++) {
        if (worker->lanes[i].outlook.has_suspects)
            return true;
    }
    return false;
}

/* Nothing of the lane is on its way to the store or back. */
static bool is_quiet(const struct culex_lane *lane)
{
    return lane->acks.ends.count == 0 && !lane->step.is_pending;
}

/* A solitude would delay no other run: no lane has one, or may have one. */
static bool is_idle(const culex_worker *worker)
{
    bool is_idle = worker->crew.count == 0;
    for (size_t i = 0; i < worker->lane_count; i++)
        is_idle = is_idle && !worker->lanes[i].outlook.is_likely && is_quiet(&worker->lanes[i]);
    return is_idle;
}

/* False while a queue in trouble has ends of runs to hear: a solitude would wait for them as long
 * as the trouble lasts. */
static bool is_reachable(const culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        if (worker->lanes[i].trouble.failures > 0 && !is_quiet(&worker->lanes[i]))
            return false;
    }
    return true;
}

bool culex__solitude_is_reached(const struct culex_lane *lane)
{
    const culex_worker *worker = lane->worker;
    const struct culex_solitude *solitude = &worker->solitude;
    bool is_reached = solitude->is_on && !solitude->had_suspect && solitude->count == 0 &&
                      lane->outlook.has_suspects && lane->acks.ends.count == 0 &&
                      worker->crew.count + lane->granted == 0;
    for (size_t i = 0; i < worker->lane_count; i++)
        is_reached = is_reached && (&worker->lanes[i] == lane || is_quiet(&worker->lanes[i]));
    return is_reached;
}

bool culex__solitude_lets_claim(const struct culex_lane *lane)
{
    return !lane->worker->solitude.is_on || culex__solitude_is_reached(lane);
}

static void solitude_begin(culex_worker *worker, int64_t now_ns)
{
    assert(!worker->solitude.is_on);
    worker->solitude.is_on = true;
    worker->solitude.had_suspect = false;
    worker->solitude.since_ns = now_ns;
    culex__lanes_set_likely(worker);
}

static void solitude_end(culex_worker *worker, int64_t now_ns)
{
    struct culex_solitude *solitude = &worker->solitude;
    int64_t took_ns = now_ns - solitude->since_ns;
    bool was_in_vain = !solitude->had_suspect && is_wanted(worker);
    solitude->is_on = false;
    solitude->since_ns = now_ns;
    int64_t others_ns = was_in_vain ? VAIN_FACTOR * took_ns : took_ns;
    solitude->others_ns = others_ns > OTHERS_MS * CULEX_MS_NS ? others_ns : OTHERS_MS * CULEX_MS_NS;
    solitude->patience_ns = was_in_vain ? 2 * solitude->patience_ns : PATIENCE_MS * CULEX_MS_NS;
    culex__lanes_set_likely(worker);
}

/* How long the run has its worker for itself, counted from its claim. */
static int64_t alone_ns(const struct culex_flight *flight)
{
    uint32_t before = flight->run.facts.attempt > CULEX_SUSPECT_LOSSES
                          ? flight->run.facts.attempt - CULEX_SUSPECT_LOSSES - 1
                          : 0;
    return ALONE_MS * CULEX_MS_NS << (before < DOUBLINGS_MAX ? before : DOUBLINGS_MAX);
}

/* The suspect at work that is not excused yet; NULL for none. */
static struct culex_flight *suspect_find(const culex_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count && worker->solitude.count > 0; i++) {
        for (size_t k = 0; k < worker->lanes[i].flight_count; k++) {
            struct culex_flight *flight = worker->lanes[i].flights[k];
            if (flight->run.terms.is_suspect && !flight->is_excused)
                return flight;
        }
    }
    return NULL;
}

/* The next beat tells the store; when that was granted, the suspect is let go. */
static void suspect_excuse(struct culex_flight *flight)
{
    const struct culex_log_subject subject = culex__run_subject(&flight->run);
    flight->is_excused = true;
    culex__log_write(&flight->lane->worker->log, CULEX_LOG_INFO, &subject,
                     "has had the worker for itself for long; others are started again");
}

void culex__solitude_turn(culex_worker *worker, int64_t now_ns)
{
    struct culex_solitude *solitude = &worker->solitude;
    if (worker->phases.current != CULEX_WORKER_RUNNING)
        return;
    int64_t age_ns = now_ns - solitude->since_ns;
    struct culex_flight *suspect = suspect_find(worker);
    if (suspect != NULL && now_ns - suspect->claimed_ns >= alone_ns(suspect))
        suspect_excuse(suspect);
    solitude->had_suspect |= solitude->count > 0;
    bool may_begin = age_ns >= solitude->others_ns || is_idle(worker);
    if (!solitude->is_on && may_begin && is_wanted(worker) && is_reachable(worker))
        solitude_begin(worker, now_ns);
    else if (solitude->is_on && solitude->count == 0 &&
             (solitude->had_suspect || !is_wanted(worker) || age_ns >= solitude->patience_ns))
        solitude_end(worker, now_ns);
}

int64_t culex__solitude_next_ns(const culex_worker *worker)
{
    const struct culex_solitude *solitude = &worker->solitude;
    const struct culex_flight *suspect = suspect_find(worker);
    if (worker->phases.current != CULEX_WORKER_RUNNING || (solitude->count > 0 && suspect == NULL))
        return INT64_MAX;
    if (suspect != NULL)
        return suspect->claimed_ns + alone_ns(suspect);
    if (solitude->is_on)
        return solitude->since_ns + solitude->patience_ns;
    bool may_begin = is_wanted(worker) && is_reachable(worker);
    return may_begin ? solitude->since_ns + solitude->others_ns : INT64_MAX;
}

void culex__solitude_hold(struct culex_flight *flight)
{
    assert(!flight->run.terms.is_suspect); /* held once, counted once */
    flight->run.terms.is_suspect = true;
    flight->lane->worker->solitude.count++;
}

void culex__solitude_let_go(struct culex_flight *flight)
{
    if (!flight->run.terms.is_suspect)
        return;
    assert(flight->lane->worker->solitude.count > 0);
    flight->run.terms.is_suspect = false;
    flight->lane->worker->solitude.count--;
}

bool culex__solitude_is_over(const struct culex_flight *flight)
{
    const culex_worker *worker = flight->lane->worker;
    return flight->run.terms.is_suspect &&
           !(worker->solitude.is_on && worker->solitude.count == 1 && worker->crew.count == 0);
}
