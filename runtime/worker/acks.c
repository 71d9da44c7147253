#include "worker/acks.h"

#include <stdio.h>
#include <string.h>

#include "core/backoff.h"
#include "worker/flight_pool.h"
#include "worker/worker_private.h"

/* The error text of a crash, which is also that of the dead run, tells how it came to that. */
static void crash_explain(struct culex_run *run)
{
    struct culex_run_counters counters = run->facts.counters;
    culex_run_state to = CULEX_RUN_DEAD;
    culex__run_apply(CULEX_RUN_ACTIVE, CULEX_EVENT_CRASH, run->has_cancel, false, &counters, &to);
    const char *text = run->end.text != NULL ? run->end.text : "no reason is known";
    if (to == CULEX_RUN_DEAD && counters.crash_streak >= CULEX_CRASH_STREAK_MAX)
        culex__run_set_text(run, "crashed %u times in a row: %s", (unsigned)counters.crash_streak,
                            text);
    else if (to == CULEX_RUN_DEAD && counters.failures > 0)
        culex__run_set_text(run, "crashed after %u failures and %u other crashes: %s",
                            (unsigned)counters.failures, (unsigned)counters.crashes - 1, text);
    else
        culex__run_set_text(run, "crashed: %s", text);
}

void culex__acks_settle(struct culex_run *run)
{
    struct culex_lane *lane = run->lane;
    if (run->end.event == CULEX_EVENT_CRASH)
        crash_explain(run);
    run->last_progress[0] = '\0';
    culex__run_take_progress(run, run->last_progress); /* which no beat will tell any more */
    run->next = NULL;
    if (lane->ack_last != NULL)
        lane->ack_last->next = run;
    else {
        lane->ack_first = run;
        lane->ack_ns = culex__worker_now_ns(lane->worker);
    }
    lane->ack_last = run;
    lane->ack_count++;
}

void culex__acks_release(struct culex_run *run, int64_t delay_ms)
{
    run->end = (struct culex_execution_end){.event = CULEX_EVENT_RELEASE, .delay_ms = delay_ms};
    culex__acks_settle(run);
}

void culex__acks_unsettle(struct culex_lane *lane, culex_uuid id, uint32_t attempt)
{
    struct culex_run **link = &lane->ack_first, *before = NULL;
    while (*link != NULL) {
        struct culex_run *run = *link;
        if (run->facts.attempt != attempt || memcmp(&run->facts.id, &id, sizeof id) != 0) {
            before = run;
            link = &run->next;
            continue;
        }
        *link = run->next;
        if (lane->ack_last == run)
            lane->ack_last = before;
        lane->ack_count--;
        culex__flight_recycle(lane->worker, run);
    }
}

static struct culex_ack ack_make(const culex_worker *worker, const struct culex_run *run)
{
    struct culex_ack ack = {.id = run->facts.id,
                            .attempt = run->facts.attempt,
                            .event = run->end.event,
                            .delay_ms = run->end.delay_ms,
                            .progress = run->last_progress};
    switch (run->end.event) {
    case CULEX_EVENT_DONE:
        if (run->has_result) {
            ack.result = run->result.data;
            ack.result_len = run->result.len;
        }
        ack.delay_ms = 0;
        break;
    case CULEX_EVENT_FAIL:
    case CULEX_EVENT_CRASH:
        ack.text = run->end.text;
        ack.delay_ms = culex__backoff_delay_ms(
            &run->job.type->retry, run->facts.counters.failures + run->facts.counters.crashes + 1,
            culex__env_random(worker->env));
        break;
    case CULEX_EVENT_LOSS:
    case CULEX_EVENT_DISCARD:
        ack.text = run->end.text;
        ack.delay_ms = 0;
        break;
    case CULEX_EVENT_RELEASE:
        if (run->job.type == NULL || run->end.is_not_understood)
            ack.text = run->end.text;
        break;
    default:
        break;
    }
    return ack;
}

void culex__acks_add(struct culex_lane *lane)
{
    struct culex_lane_step *step = &lane->step;
    step->ack_count = 0;
    while (lane->ack_first != NULL && step->ack_count < CULEX_BATCH_MAX) {
        struct culex_run *run = lane->ack_first;
        lane->ack_first = run->next;
        step->acks[step->ack_count] = ack_make(lane->worker, run);
        step->ack_runs[step->ack_count++] = run;
        lane->ack_count--;
    }
    if (lane->ack_first == NULL)
        lane->ack_last = NULL;
    else
        lane->ack_ns = 0;
}

/* --- log lines ------------------------------------------------------------------------- */

static void log_done(const struct culex_run *run, struct culex_log_subject *subject)
{
    subject->outcome = "done";
    culex__log_write(&run->lane->worker->log, CULEX_LOG_INFO, subject, "done in %.1f ms",
                     (double)run->end.duration_ns / 1000000);
}

static void log_cancelled(const struct culex_run *run, struct culex_log_subject *subject)
{
    subject->outcome = "cancelled";
    culex__log_write(&run->lane->worker->log, CULEX_LOG_INFO, subject, "cancelled");
}

static void log_retry(const struct culex_run *run, struct culex_log_subject *subject,
                      const struct culex_ack *ack)
{
    bool is_crash = ack->event == CULEX_EVENT_CRASH;
    char span[CULEX_LOG_SPAN_SIZE];
    char at[CULEX_LOG_TIME_SIZE];
    culex__log_format_span(ack->delay_ms, span);
    culex__log_format_time(subject->next_ms, at);
    subject->outcome = is_crash ? "crashed" : "failed";
    culex__log_write(&run->lane->worker->log, CULEX_LOG_WARNING, subject,
                     "%s%s; next at %s (in %s)", is_crash ? "" : "failed: ", run->end.text, at,
                     span);
}

static void log_loss(const struct culex_run *run, struct culex_log_subject *subject)
{
    subject->outcome = "lost";
    culex__log_write(&run->lane->worker->log, CULEX_LOG_WARNING, subject, "lost: %s",
                     run->end.text);
}

static void log_dead(const struct culex_run *run, struct culex_log_subject *subject)
{
    subject->outcome = "dead";
    subject->next_ms = 0;
    run->lane->worker->counts.dead++;
    culex__log_write(&run->lane->worker->log, CULEX_LOG_ERROR, subject, "dead: %s", run->end.text);
}

static void log_fail(struct culex_run *run, struct culex_log_subject *subject,
                     const struct culex_ack *ack)
{
    culex_worker *worker = run->lane->worker;
    culex_run_state to = CULEX_RUN_DEAD;
    culex__run_apply(CULEX_RUN_ACTIVE, ack->event, run->has_cancel, ack->delay_ms > 0,
                     &run->facts.counters, &to);
    subject->error = run->end.text;
    subject->next_ms = culex__storeclock_now_ms(&worker->clock, worker->env) + ack->delay_ms;
    worker->counts.crashed += ack->event == CULEX_EVENT_CRASH;
    worker->counts.lost += ack->event == CULEX_EVENT_LOSS;
    worker->counts.failed += ack->event == CULEX_EVENT_FAIL || ack->event == CULEX_EVENT_DISCARD;
    if (to == CULEX_RUN_DEAD)
        log_dead(run, subject);
    else if (to == CULEX_RUN_CANCELLED)
        log_cancelled(run, subject);
    else if (ack->event == CULEX_EVENT_LOSS)
        log_loss(run, subject);
    else
        log_retry(run, subject, ack);
}

static void log_given_back(struct culex_run *run, const struct culex_log_subject *subject,
                           const char *span)
{
    culex_worker *worker = run->lane->worker;
    worker->counts.released++;
    if (run->job.type == NULL)
        return; /* told when it came */
    if (run->end.is_not_understood) {
        worker->counts.not_understood++;
        culex__log_write(&worker->log, CULEX_LOG_WARNING, subject, "given back for %s: %s", span,
                         run->end.text);
    } else if (run->end.text != NULL)
        culex__log_write(&worker->log, CULEX_LOG_INFO, subject, "given back: %s", run->end.text);
    else
        culex__log_write(&worker->log, CULEX_LOG_INFO, subject, "given back");
}

static void log_release(struct culex_run *run, struct culex_log_subject *subject)
{
    culex_worker *worker = run->lane->worker;
    char span[CULEX_LOG_SPAN_SIZE];
    if (run->has_cancel) {
        log_cancelled(run, subject);
        return;
    }
    culex__log_format_span(run->end.delay_ms, span);
    subject->outcome = run->end.is_snoozed ? "snoozed" : "released";
    subject->next_ms = culex__storeclock_now_ms(&worker->clock, worker->env) + run->end.delay_ms;
    if (!run->end.is_snoozed) {
        subject->error = run->end.text;
        log_given_back(run, subject, span);
        return;
    }
    worker->counts.snoozed++;
    culex__log_write(&worker->log, CULEX_LOG_INFO, subject, "snoozed for %s", span);
}

static void log_refused(const struct culex_run *run, struct culex_log_subject *subject)
{
    culex_worker *worker = run->lane->worker;
    worker->counts.stale++;
    subject->outcome = "refused";
    culex__log_write(&worker->log, CULEX_LOG_WARNING, subject,
                     "result refused: the lease is over, another worker may hold the run");
}

static void ack_log(struct culex_run *run, enum culex_answer answer, const struct culex_ack *ack)
{
    culex_worker *worker = run->lane->worker;
    struct culex_log_subject subject = culex__run_subject(run);
    subject.duration_ns = run->end.duration_ns;
    if (answer == CULEX_ANSWER_STALE || answer == CULEX_ANSWER_GONE) {
        log_refused(run, &subject);
        return;
    }
    switch (ack->event) {
    case CULEX_EVENT_DONE:
        worker->counts.done++;
        if (culex__log_wants(&worker->log, CULEX_LOG_INFO))
            log_done(run, &subject);
        break;
    case CULEX_EVENT_RELEASE:
        log_release(run, &subject);
        break;
    default:
        log_fail(run, &subject, ack);
        break;
    }
}

void culex__acks_take(struct culex_lane *lane, const enum culex_answer *answers)
{
    struct culex_lane_step *step = &lane->step;
    for (size_t i = 0; i < step->ack_count; i++) {
        ack_log(step->ack_runs[i], answers[i], &step->acks[i]);
        culex__flight_recycle(lane->worker, step->ack_runs[i]);
    }
    step->ack_count = 0;
}
