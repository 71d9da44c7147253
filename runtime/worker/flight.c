#include "worker/flight.h"

#include <assert.h>
#include <string.h>

#include "worker/acks.h"
#include "worker/appetite.h"
#include "worker/crew.h"
#include "worker/flight_pool.h"
#include "worker/metrics.h"
#include "worker/overstay.h"
#include "worker/solitude.h"
#include "worker/verdict.h"
#include "worker/worker_private.h"

enum {
    TIMEOUT_TERM_MS = 1000, /* from the timeout's flag to SIGTERM */
    CANCEL_TERM_MS = 5000,  /* from the flag of a user's cancellation to SIGTERM */
    TERM_KILL_MS = 2000,    /* from SIGTERM to SIGKILL; 1 s after a timeout and a lost lease */
    HURRY_KILL_MS = 1000,
    /* The store takes nothing from a run after its timeout and this. */
    SLACK_SAFE_MS = CULEX_TIMEOUT_SLACK_MS - CULEX_TIMEOUT_SLACK_MS / 10,
};

/* --- what is due next ------------------------------------------------------------------- */

/* Without a beat granted until then the store is taken to be out of reach, and the handler is cut
 * off. */
static int64_t cut_off_ns(const struct culex_flight *flight)
{
    int64_t lease_ns = flight->lane->worker->options.lease_ms * CULEX_MS_NS;
    return flight->is_cut_off ? INT64_MAX : flight->beat_ns + lease_ns - lease_ns / 4;
}

static int64_t timeout_ns(const struct culex_flight *flight)
{
    return flight->is_timed_out ? INT64_MAX : flight->deadline_ns;
}

/* Its lease, its timeout or the patience with a silent store ends. */
static int64_t flight_next_ns(const struct culex_flight *flight)
{
    return culex__min_ns(culex__min_ns(flight->run.lease_ns, cut_off_ns(flight)),
                         timeout_ns(flight));
}

/* Asks the handler to stop; see executor.h about the times. */
static void flight_ask(struct culex_flight *flight, int64_t term_ns, int64_t kill_ns)
{
    flight->term_ns = culex__min_ns(flight->term_ns, term_ns);
    culex__overstay_begin(flight);
    culex__crew_cancel(flight->lane->worker, &flight->run, term_ns, kill_ns);
}

void culex__flight_renew(struct culex_flight *flight, int64_t sent_ns, int64_t told_ns)
{
    int64_t lease_ns = flight->lane->worker->options.lease_ms * CULEX_MS_NS;
    int64_t over_ns = sent_ns + lease_ns - lease_ns / 10;
    if (told_ns > flight->told_ns)
        flight->told_ns = told_ns;
    if (flight->told_ns < over_ns - SLACK_SAFE_MS * CULEX_MS_NS)
        over_ns = flight->told_ns + SLACK_SAFE_MS * CULEX_MS_NS;
    flight->beat_ns = sent_ns;
    atomic_store_explicit(&flight->run.lease_ns, over_ns, memory_order_relaxed);
}

void culex__flight_claim(struct culex_flight *flight, int64_t sent_ns)
{
    int64_t timeout_ms = flight->run.facts.timeout_ms;
    int64_t now_ns = culex__worker_now_ns(flight->lane->worker);
    flight->claimed_ns = sent_ns;
    flight->told_ns = timeout_ms > 0 ? culex__after_ms(sent_ns, timeout_ms) : INT64_MAX;
    flight->deadline_ns =
        now_ns < flight->told_ns ? flight->told_ns : culex__after_ms(now_ns, timeout_ms);
    culex__flight_renew(flight, sent_ns, flight->told_ns);
}

void culex__flight_launch(struct culex_flight *flight)
{
    struct culex_lane *lane = flight->lane;
    int64_t pause_ns = culex__worker_beat_pause_ns(lane->worker);
    culex__flight_add(flight);
    lane->end_ns = culex__min_ns(lane->end_ns, flight_next_ns(flight));
    lane->beat_ns = culex__min_ns(lane->beat_ns, flight->beat_ns + pause_ns);
}

/* --- ends --------------------------------------------------------------------------------- */

/* Copies a report that the store has not been told yet. */
static void progress_copy(struct culex_flight *flight, struct culex_flight *stand_in)
{
    char text[CULEX_PROGRESS_MAX + 1];
    if (culex__news_take_progress(&flight->run.news, flight->progress_told, text) !=
        flight->progress_told)
        culex__news_progress(&stand_in->run.news, text);
}

/* What the handler says from now on nobody keeps. */
static void lines_move(struct culex_flight *flight, struct culex_flight *stand_in)
{
    if (culex__run_keeps_lines(&flight->run))
        culex__news_take_lines(&flight->run.news, &stand_in->run.news.lines);
}

/* What a span is made of. Without memory there is none. */
static void trace_copy(const struct culex_flight *flight, struct culex_flight *stand_in)
{
    memcpy(stand_in->run.terms.fence, flight->run.terms.fence, sizeof flight->run.terms.fence);
    if (!culex__run_set_payload(&stand_in->run, flight->run.payload, flight->run.payload_len))
        stand_in->run.payload_len = 0;
}

/* A flight that carries the end of this one to the store, while the handler still uses this one's
 * run. */
static struct culex_flight *stand_in_make(struct culex_flight *flight)
{
    struct culex_flight *stand_in = culex__flight_begin(flight->lane);
    if (stand_in == NULL)
        return NULL;
    if (flight->run.terms.is_suspect)
        culex__solitude_hold(stand_in);
    stand_in->run.job = flight->run.job;
    stand_in->run.facts = flight->run.facts;
    atomic_store_explicit(&stand_in->run.started_ns,
                          atomic_load_explicit(&flight->run.started_ns, memory_order_relaxed),
                          memory_order_relaxed);
    if (flight->lane->worker->spans != NULL)
        trace_copy(flight, stand_in);
    stand_in->has_cancel = flight->has_cancel;
    progress_copy(flight, stand_in);
    lines_move(flight, stand_in);
    return stand_in;
}

/* From now on the handler's answer means nothing. */
static void flight_give_up(struct culex_flight *flight)
{
    int64_t now_ns = culex__worker_now_ns(flight->lane->worker);
    culex__flight_set_aside(flight);
    culex__solitude_let_go(flight);
    flight_ask(flight, now_ns, now_ns + HURRY_KILL_MS * CULEX_MS_NS);
}

/* A thread cannot be killed, and the store takes no result for ever. So the failure is told at
 * once, while the handler is asked to stop. */
static void flight_leave_timed_out(struct culex_flight *flight)
{
    struct culex_flight *stand_in = stand_in_make(flight);
    flight_give_up(flight);
    if (stand_in == NULL)
        return;
    if (atomic_load_explicit(&flight->run.started_ns, memory_order_relaxed) == 0) {
        culex__acks_release(stand_in, 0);
        return;
    }
    culex__verdict_time_out(stand_in, "");
    culex__acks_settle(stand_in);
}

static void flight_time_out(struct culex_flight *flight, int64_t now_ns)
{
    if (!culex__crew_can_kill(flight->lane->worker)) {
        flight_leave_timed_out(flight);
        return;
    }
    int64_t term_ns = now_ns + TIMEOUT_TERM_MS * CULEX_MS_NS;
    flight->is_timed_out = true;
    flight_ask(flight, term_ns, term_ns + HURRY_KILL_MS * CULEX_MS_NS);
}

static void lease_log(const struct culex_flight *flight, const char *text)
{
    struct culex_log_subject subject = culex__run_subject(&flight->run);
    subject.outcome = "lost";
    culex__tally_add(flight->lane->worker, CULEX_TALLY_LOST, 1);
    culex__metrics_note_lost_lease(flight->lane);
    culex__spans_note(flight, CULEX_METRIC_END_LOST, false);
    culex__log_write(&flight->lane->worker->log, CULEX_LOG_WARNING, &subject, "lease lost; %s",
                     text);
}

void culex__flight_lose(struct culex_flight *flight)
{
    lease_log(flight, "the handler is asked to stop and its result will be discarded");
    flight_give_up(flight);
}

/* It has ended, and the store takes its end no more. */
static void flight_discard(struct culex_flight *flight)
{
    lease_log(flight, "the result came too late and is discarded");
    culex__flight_recycle(flight->lane->worker, flight);
}

void culex__flight_lose_all(struct culex_lane *lane)
{
    while (lane->flight_count > 0)
        culex__flight_lose(lane->flights[lane->flight_count - 1]);
    for (struct culex_flight *ended; (ended = culex__acks_pop(lane)) != NULL;)
        flight_discard(ended);
}

/* Another worker may get the run when the lease is over: the handler must have ended by then. */
static void flight_cut_off(struct culex_flight *flight, int64_t now_ns)
{
    struct culex_log_subject subject = culex__run_subject(&flight->run);
    flight->is_cut_off = true;
    culex__log_write(&flight->lane->worker->log, CULEX_LOG_WARNING, &subject,
                     "no heartbeat has reached the store; the handler is asked to stop before "
                     "its lease is over");
    flight_ask(flight, now_ns, flight->run.lease_ns);
}

/* Its time counts from its start, which may be some while after its claim; 0: it has not begun. */
static int64_t timeout_from_start_ns(const struct culex_flight *flight)
{
    int64_t started_ns = atomic_load_explicit(&flight->run.started_ns, memory_order_relaxed);
    int64_t now_ns = culex__worker_now_ns(flight->lane->worker); /* a child may tell anything */
    return started_ns > 0
               ? culex__after_ms(culex__min_ns(started_ns, now_ns), flight->run.facts.timeout_ms)
               : 0;
}

/* Moves its deadline if the handler began later than the claim, or has asked for more time before
 * that struck. False when that changes nothing. */
static bool flight_move(struct culex_flight *flight)
{
    if (flight->run.facts.timeout_ms <= 0)
        return false;
    int64_t asked_ns = flight->is_timed_out ? 0 : culex__news_until_ns(&flight->run.news);
    int64_t full_ns = timeout_from_start_ns(flight);
    int64_t until_ns = asked_ns > full_ns ? asked_ns : full_ns;
    if (until_ns <= flight->deadline_ns)
        return false;
    flight->deadline_ns = until_ns;
    return true;
}

/* The store is told soon, or it would take nothing from the run beyond the time that it knows. */
static void flight_hear(struct culex_flight *flight)
{
    if (flight_move(flight))
        flight->lane->beat_ns = 0;
}

static void flight_attend(struct culex_flight *flight, int64_t now_ns)
{
    if (now_ns >= timeout_ns(flight))
        flight_hear(flight);
    if (now_ns >= flight->run.lease_ns)
        culex__flight_lose(flight);
    else if (now_ns >= timeout_ns(flight))
        flight_time_out(flight, now_ns);
    else if (now_ns >= cut_off_ns(flight))
        flight_cut_off(flight, now_ns);
}

/* Its run is back from the crew. False when its end means nothing any more. */
static bool flight_return(struct culex_flight *flight)
{
    assert(flight->state == CULEX_FLIGHT_ALOFT || flight->state == CULEX_FLIGHT_GIVEN_UP);
    culex__overstay_end(flight);
    if (flight->state == CULEX_FLIGHT_GIVEN_UP) {
        culex__flight_recycle(flight->lane->worker, flight);
        return false;
    }
    culex__flight_remove(flight);
    culex__units_let_go(flight);
    return true;
}

static void flight_land(struct culex_flight *flight)
{
    culex_worker *worker = flight->lane->worker;
    culex__pace_note_end(worker);
    if (!flight_return(flight))
        return;
    if (atomic_load_explicit(&flight->run.started_ns, memory_order_relaxed) > 0)
        culex__appetite_learn(flight->lane, flight->run.end.duration_ns);
    flight_move(flight);
    if (culex__verdict_reach(flight)) {
        culex__acks_settle(flight);
        return;
    }
    flight_discard(flight);
}

static size_t batch_collect(culex_worker *worker)
{
    struct culex_run *ended[CULEX_BATCH_MAX];
    size_t count = culex__crew_collect(worker, ended);
    for (size_t i = 0; i < count; i++)
        flight_land(culex__flight_of(ended[i]));
    return count;
}

/* No more than the crew holds by now: nothing is handed over meanwhile. */
size_t culex__flight_collect(culex_worker *worker)
{
    size_t count = 0;
    size_t batch;
    do {
        batch = batch_collect(worker);
        count += batch;
    } while (batch == CULEX_BATCH_MAX);
    if (count > 0)
        culex__pace_note_progress(worker);
    return count;
}

void culex__flight_withdraw(culex_worker *worker)
{
    struct culex_run *queued[CULEX_BATCH_MAX];
    size_t count;
    do {
        count = culex__crew_withdraw(worker, queued);
        for (size_t i = 0; i < count; i++) {
            struct culex_flight *flight = culex__flight_of(queued[i]);
            if (flight_return(flight))
                culex__acks_release(flight, 0);
        }
    } while (count == CULEX_BATCH_MAX);
}

/* Its timeout strikes, and it is not known to have begun. */
static bool is_overdue(const struct culex_flight *flight, int64_t now_ns)
{
    return now_ns >= timeout_ns(flight) &&
           atomic_load_explicit(&flight->run.started_ns, memory_order_relaxed) == 0;
}

/* To ask such a run to stop could hit a handler that is beginning just now. So it is taken back
 * with all that wait; what cannot be has begun, and the second look says when. */
static void overdue_take_back(struct culex_lane *lane, int64_t now_ns)
{
    bool is_any = false;
    for (size_t i = 0; i < lane->flight_count && !is_any; i++)
        is_any = is_overdue(lane->flights[i], now_ns);
    if (!is_any)
        return;
    culex__flight_withdraw(lane->worker);
    culex__flight_collect(lane->worker);
}

/* The turn may have lasted since it collected: each call of the store can. */
void culex__flight_attend(struct culex_lane *lane, int64_t now_ns)
{
    if (now_ns < lane->end_ns || lane->flight_count == 0)
        return;
    culex__flight_collect(lane->worker);
    overdue_take_back(lane, now_ns);
    lane->end_ns = INT64_MAX;
    for (size_t i = lane->flight_count; i-- > 0;) {
        struct culex_flight *flight = lane->flights[i];
        flight_attend(flight, now_ns);
        if (flight->state == CULEX_FLIGHT_ALOFT)
            lane->end_ns = culex__min_ns(lane->end_ns, flight_next_ns(flight));
    }
}

int64_t culex__flights_next_ns(const struct culex_lane *lane)
{
    return lane->flight_count > 0 ? lane->end_ns : INT64_MAX;
}

static void flights_each(culex_worker *worker, void (*visit)(struct culex_flight *flight))
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        for (size_t k = worker->lanes[i].flight_count; k-- > 0;)
            visit(worker->lanes[i].flights[k]);
    }
}

void culex__flight_hear_all(culex_worker *worker)
{
    if (culex__crew_take_news(worker))
        flights_each(worker, flight_hear);
}

void culex__flight_cancel(struct culex_flight *flight)
{
    int64_t term_ns = culex__worker_now_ns(flight->lane->worker) + CANCEL_TERM_MS * CULEX_MS_NS;
    struct culex_log_subject subject = culex__run_subject(&flight->run);
    if (flight->has_cancel)
        return;
    flight->has_cancel = true;
    flight_ask(flight, term_ns, term_ns + TERM_KILL_MS * CULEX_MS_NS);
    culex__log_write(&flight->lane->worker->log, CULEX_LOG_INFO, &subject,
                     "cancellation requested");
}

static void flight_stop(struct culex_flight *flight)
{
    int64_t now_ns = culex__worker_now_ns(flight->lane->worker);
    flight_ask(flight, now_ns, now_ns + TERM_KILL_MS * CULEX_MS_NS);
}

void culex__flight_cancel_all(culex_worker *worker)
{
    flights_each(worker, flight_stop);
}

static void flight_abandon(struct culex_flight *flight)
{
    struct culex_flight *stand_in = stand_in_make(flight);
    struct culex_log_subject subject = culex__run_subject(&flight->run);
    culex__log_write(&flight->lane->worker->log, CULEX_LOG_WARNING, &subject,
                     "the handler does not return; the run is given back while it goes on");
    flight_give_up(flight);
    culex__overstay_end(flight);
    if (stand_in != NULL)
        culex__acks_release(stand_in, 0);
}

void culex__flight_abandon_all(culex_worker *worker)
{
    /* The runs of killed processes come back, unless the crew is broken. */
    if (culex__crew_can_kill(worker) && !worker->crew.is_broken)
        return;
    flights_each(worker, flight_abandon);
}
