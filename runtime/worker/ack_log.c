#include "worker/ack_log.h"

#include "worker/flight.h"
#include "worker/on_death.h"
#include "worker/worker_private.h"

static void log_done(const struct culex_flight *flight, struct culex_log_subject *subject)
{
    subject->outcome = "done";
    culex__log_write(&flight->lane->worker->log, CULEX_LOG_INFO, subject, "done in %.1f ms",
                     (double)flight->run.end.duration_ns / 1000000);
}

static void log_cancelled(const struct culex_flight *flight, struct culex_log_subject *subject)
{
    subject->outcome = "cancelled";
    culex__tally_add(flight->lane->worker, CULEX_TALLY_CANCELLED, 1);
    culex__log_write(&flight->lane->worker->log, CULEX_LOG_INFO, subject, "cancelled");
}

static void log_retry(const struct culex_flight *flight, struct culex_log_subject *subject,
                      const struct culex_ack *ack)
{
    bool is_crash = ack->event == CULEX_EVENT_CRASH;
    char span[CULEX_LOG_SPAN_SIZE];
    char at[CULEX_LOG_TIME_SIZE];
    culex__log_format_span(ack->delay_ms, span);
    culex__log_format_time(subject->next_ms, at);
    subject->outcome = is_crash ? "crashed" : "failed";
    culex__log_write(&flight->lane->worker->log, CULEX_LOG_WARNING, subject,
                     "%s%s; next at %s (in %s)", is_crash ? "" : "failed: ", flight->run.end.text,
                     at, span);
}

static void log_loss(const struct culex_flight *flight, struct culex_log_subject *subject)
{
    subject->outcome = "lost";
    culex__log_write(&flight->lane->worker->log, CULEX_LOG_WARNING, subject, "lost: %s",
                     flight->run.end.text);
}

static void log_dead(const struct culex_flight *flight, struct culex_log_subject *subject,
                     bool is_late)
{
    subject->outcome = "dead";
    subject->next_ms = 0;
    culex__tally_add(flight->lane->worker, CULEX_TALLY_DEAD, 1);
    culex__log_write(&flight->lane->worker->log, CULEX_LOG_ERROR, subject, "dead: %s%s",
                     is_late ? CULEX_LATE_TEXT : "", flight->run.end.text);
    culex__on_death_note(flight, is_late);
}

static void log_fail(struct culex_flight *flight, struct culex_log_subject *subject,
                     const struct culex_ack *ack)
{
    culex_worker *worker = flight->lane->worker;
    culex_run_state to = CULEX_RUN_DEAD;
    int64_t now_ms = culex__storeclock_now_ms(&worker->clock, worker->env);
    bool is_late = culex__run_is_late(&flight->run.facts.counters, ack->event,
                                      flight->run.facts.expires_at_ms, now_ms, ack->delay_ms);
    culex__run_apply(CULEX_RUN_ACTIVE, ack->event, flight->has_cancel, ack->delay_ms > 0, is_late,
                     &flight->run.facts.counters, &to);
    subject->error = flight->run.end.text;
    subject->next_ms = now_ms + ack->delay_ms;
    culex__tally_add(worker, CULEX_TALLY_LOST, ack->event == CULEX_EVENT_LOSS);
    if (to == CULEX_RUN_CANCELLED) {
        log_cancelled(flight, subject);
        return;
    }
    culex__tally_add(worker, CULEX_TALLY_CRASHED, ack->event == CULEX_EVENT_CRASH);
    culex__tally_add(worker, CULEX_TALLY_FAILED,
                     ack->event == CULEX_EVENT_FAIL || ack->event == CULEX_EVENT_DISCARD);
    if (to == CULEX_RUN_DEAD)
        log_dead(flight, subject, is_late);
    else if (ack->event == CULEX_EVENT_LOSS)
        log_loss(flight, subject);
    else
        log_retry(flight, subject, ack);
}

static void log_given_back(struct culex_flight *flight, const struct culex_log_subject *subject,
                           const char *span)
{
    culex_worker *worker = flight->lane->worker;
    culex__tally_add(worker, CULEX_TALLY_RELEASED, 1);
    if (flight->run.job.type == NULL)
        return; /* told when it came */
    if (flight->run.end.is_not_understood) {
        culex__tally_add(worker, CULEX_TALLY_NOT_UNDERSTOOD, 1);
        culex__log_write(&worker->log, CULEX_LOG_WARNING, subject, "given back for %s: %s", span,
                         flight->run.end.text);
    } else if (flight->run.end.text != NULL)
        culex__log_write(&worker->log, CULEX_LOG_INFO, subject, "given back: %s",
                         flight->run.end.text);
    else
        culex__log_write(&worker->log, CULEX_LOG_INFO, subject, "given back");
}

static void log_release(struct culex_flight *flight, struct culex_log_subject *subject)
{
    culex_worker *worker = flight->lane->worker;
    char span[CULEX_LOG_SPAN_SIZE];
    if (flight->has_cancel) {
        log_cancelled(flight, subject);
        return;
    }
    culex__log_format_span(flight->run.end.delay_ms, span);
    subject->outcome = flight->run.end.is_snoozed ? "snoozed" : "released";
    subject->next_ms =
        culex__storeclock_now_ms(&worker->clock, worker->env) + flight->run.end.delay_ms;
    if (!flight->run.end.is_snoozed) {
        subject->error = flight->run.end.text;
        log_given_back(flight, subject, span);
        return;
    }
    culex__tally_add(worker, CULEX_TALLY_SNOOZED, 1);
    culex__log_write(&worker->log, CULEX_LOG_INFO, subject, "snoozed for %s", span);
}

/* Runs that wait for a handler here are lost by the hundred, and no work with them. */
static void log_refused(const struct culex_flight *flight, struct culex_log_subject *subject)
{
    culex_worker *worker = flight->lane->worker;
    bool has_begun = atomic_load_explicit(&flight->run.started_ns, memory_order_relaxed) > 0;
    culex__tally_add(worker, CULEX_TALLY_STALE, 1);
    subject->outcome = "refused";
    if (flight->run.end.event == CULEX_EVENT_RELEASE && !has_begun) {
        culex__log_write(&worker->log, CULEX_LOG_INFO, subject,
                         "not started here: the lease is over, the run was given to another worker "
                         "before it started");
        return;
    }
    culex__log_write(&worker->log, CULEX_LOG_WARNING, subject,
                     "result refused: the lease is over, another worker may hold the run");
}

void culex__ack_log(struct culex_flight *flight, enum culex_answer answer,
                    const struct culex_ack *ack)
{
    culex_worker *worker = flight->lane->worker;
    struct culex_log_subject subject = culex__run_subject(&flight->run);
    subject.duration_ns = flight->run.end.duration_ns;
    if (answer == CULEX_ANSWER_STALE || answer == CULEX_ANSWER_GONE) {
        log_refused(flight, &subject);
        return;
    }
    if (answer == CULEX_ANSWER_FAILED) {
        subject.outcome = "failed";
        culex__tally_add(worker, CULEX_TALLY_FAILED, 1);
        culex__log_write(&worker->log, CULEX_LOG_WARNING, &subject,
                         "failed: its follow-ups were refused");
        return;
    }
    switch (ack->event) {
    case CULEX_EVENT_DONE:
        culex__tally_add(worker, CULEX_TALLY_DONE, 1);
        if (culex__log_wants(&worker->log, CULEX_LOG_INFO))
            log_done(flight, &subject);
        break;
    case CULEX_EVENT_RELEASE:
        log_release(flight, &subject);
        break;
    default:
        log_fail(flight, &subject, ack);
        break;
    }
}
