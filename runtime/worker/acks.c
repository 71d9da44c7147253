#include "worker/acks.h"

#include <assert.h>

#include "core/backoff.h"
#include "core/run_log.h"
#include "handler/follow_up.h"
#include "worker/ack_log.h"
#include "worker/figures.h"
#include "worker/flight_pool.h"
#include "worker/metrics.h"
#include "worker/worker_private.h"

enum { STEP_BYTES = 4 * 1024 * 1024 }; /* of follow-ups, but for the last end's */

/* The error text of a crash, which is also that of the dead run, tells how it came to that. */
static void crash_explain(struct culex_flight *flight)
{
    struct culex_run_counters counters = flight->run.facts.counters;
    culex_run_state to = CULEX_RUN_DEAD;
    culex__run_apply(CULEX_RUN_ACTIVE, CULEX_EVENT_CRASH, flight->has_cancel, false, false,
                     &counters, &to);
    const char *text = flight->run.end.text != NULL ? flight->run.end.text : "no reason is known";
    if (to == CULEX_RUN_DEAD && counters.crash_streak >= CULEX_CRASH_STREAK_MAX)
        culex__run_set_text(&flight->run, "crashed %u times in a row: %s",
                            (unsigned)counters.crash_streak, text);
    else if (to == CULEX_RUN_DEAD && counters.failures > 0)
        culex__run_set_text(&flight->run, "crashed after %u failures and %u other crashes: %s",
                            (unsigned)counters.failures, (unsigned)counters.crashes - 1, text);
    else
        culex__run_set_text(&flight->run, "crashed: %s", text);
}

/* Without its follow-ups a run is not done. */
static void follow_ups_take(struct culex_flight *flight)
{
    const culex_buf *bytes = &flight->run.follow_ups;
    culex_error error = {0};
    if (flight->run.end.event != CULEX_EVENT_DONE || bytes->len == 0 ||
        flight->run.followed != NULL)
        return;
    if (culex__follow_ups_read(bytes->data, bytes->len, &flight->run.followed,
                               &flight->run.followed_count, &error) == CULEX_OK)
        return;
    flight->run.end.event = CULEX_EVENT_FAIL;
    culex__run_set_text(&flight->run, "%s", error.text);
}

/* The next attempt's end takes the place of this one's text: a line of it stays. */
static void failure_keep(struct culex_flight *flight)
{
    char line[CULEX_KEPT_LINE_SIZE];
    const struct culex_execution_end *end = &flight->run.end;
    const bool is_failure = end->event == CULEX_EVENT_FAIL || end->event == CULEX_EVENT_CRASH ||
                            end->event == CULEX_EVENT_LOSS || end->event == CULEX_EVENT_DISCARD;
    if (!is_failure || end->text == NULL)
        return;
    size_t len = culex__failure_line_write(line, culex__env_clock_ms(flight->lane->worker->env),
                                           flight->run.facts.attempt, end->event, end->text);
    culex__kept_lines_add(&flight->run.last_lines, line, len);
}

void culex__acks_settle(struct culex_flight *flight)
{
    struct culex_lane *lane = flight->lane;
    culex__flight_settle(flight);
    if (flight->run.end.delay_ms > CULEX_DELAY_MAX_MS)
        flight->run.end.delay_ms = CULEX_DELAY_MAX_MS; /* stores differ in what they make of more */
    if (flight->run.end.event == CULEX_EVENT_CRASH)
        crash_explain(flight);
    follow_ups_take(flight);
    flight->last_progress[0] = '\0';
    /* No beat will tell it any more. */
    culex__news_take_progress(&flight->run.news, flight->progress_told, flight->last_progress);
    if (culex__run_keeps_lines(&flight->run))
        culex__news_take_lines(&flight->run.news, &flight->run.last_lines);
    failure_keep(flight);
    if (lane->acks.ends.count == 0)
        lane->acks.since_ns = culex__worker_now_ns(lane->worker);
    culex__run_list_push(&lane->acks.ends, &flight->run);
}

void culex__acks_release(struct culex_flight *flight, int64_t delay_ms)
{
    flight->run.end =
        (struct culex_execution_end){.event = CULEX_EVENT_RELEASE, .delay_ms = delay_ms};
    culex__acks_settle(flight);
}

void culex__acks_unsettle(struct culex_flight *flight)
{
    bool was_there = culex__run_list_remove(&flight->lane->acks.ends, &flight->run);
    assert(was_there);
    (void)was_there;
    culex__flight_recycle(flight->lane->worker, flight);
}

static struct culex_log_lines log_make(struct culex_run *run)
{
    const culex_buf *bytes = &run->last_lines.bytes;
    if (bytes->len == 0)
        return (struct culex_log_lines){.bytes = NULL};
    uint32_t most = culex__kept_lines_most(run->job.type != NULL ? run->job.type->keep_log : 0);
    culex__kept_lines_cut(&run->last_lines, most);
    return (struct culex_log_lines){bytes->data, bytes->len, most};
}

static struct culex_ack ack_make(const culex_worker *worker, struct culex_flight *flight)
{
    struct culex_ack ack = {.id = flight->run.facts.id,
                            .attempt = flight->run.facts.attempt,
                            .claim_ms = flight->run.facts.claim_ms,
                            .event = flight->run.end.event,
                            .delay_ms = flight->run.end.delay_ms,
                            .progress = flight->last_progress,
                            .log = log_make(&flight->run)};
    switch (flight->run.end.event) {
    case CULEX_EVENT_DONE:
        if (flight->run.has_result) {
            ack.result = flight->run.result.data;
            ack.result_len = flight->run.result.len;
        }
        ack.follow_ups = flight->run.followed;
        ack.follow_up_count = flight->run.followed_count;
        ack.delay_ms = 0;
        break;
    case CULEX_EVENT_FAIL:
    case CULEX_EVENT_CRASH:
        ack.text = flight->run.end.text;
        ack.delay_ms = culex__backoff_delay_ms(&flight->run.job.type->retry,
                                               flight->run.facts.counters.failures +
                                                   flight->run.facts.counters.crashes + 1,
                                               culex__env_random(worker->env));
        break;
    case CULEX_EVENT_LOSS:
    case CULEX_EVENT_DISCARD:
        ack.text = flight->run.end.text;
        ack.delay_ms = 0;
        break;
    case CULEX_EVENT_RELEASE:
        ack.has_begun = atomic_load_explicit(&flight->run.started_ns, memory_order_relaxed) > 0;
        if (flight->run.job.type == NULL || flight->run.end.is_not_understood)
            ack.text = flight->run.end.text;
        break;
    default:
        break;
    }
    return ack;
}

void culex__acks_tell_lines(struct culex_lane *lane, culex_uuid id, uint32_t attempt, uint64_t end)
{
    for (struct culex_run *run = lane->acks.ends.first; run != NULL; run = run->next) {
        if (culex__run_facts_match(&run->facts, id, attempt))
            culex__kept_lines_told(&run->last_lines, end);
    }
}

struct culex_flight *culex__acks_pop(struct culex_lane *lane)
{
    struct culex_run *run = culex__run_list_pop(&lane->acks.ends);
    return run != NULL ? culex__flight_of(run) : NULL;
}

void culex__acks_add(struct culex_lane *lane)
{
    struct culex_acks *acks = &lane->acks;
    size_t bytes = 0; /* a step must not be endless */
    acks->count = acks->line_bytes = 0;
    while (acks->ends.count > 0 && acks->count < CULEX_BATCH_MAX && bytes < STEP_BYTES &&
           acks->line_bytes < CULEX_STEP_LINE_BYTES) {
        struct culex_flight *flight = culex__acks_pop(lane);
        bytes += flight->run.followed_count > 0 ? flight->run.follow_ups.len : 0;
        acks->sent[acks->count] = ack_make(lane->worker, flight);
        acks->line_bytes += acks->sent[acks->count].log.len;
        acks->flights[acks->count++] = flight;
    }
    if (acks->ends.count > 0)
        acks->since_ns = 0; /* they have waited for company already */
}

static void span_note(const struct culex_flight *flight, const struct culex_tally *before)
{
    const culex_worker *worker = flight->lane->worker;
    if (worker->spans != NULL)
        culex__spans_note(flight, culex__metric_end_of(flight, before),
                          worker->tally.counts[CULEX_TALLY_DEAD] >
                              before->counts[CULEX_TALLY_DEAD]);
}

void culex__acks_take(struct culex_lane *lane, const enum culex_answer *answers)
{
    struct culex_acks *acks = &lane->acks;
    for (size_t i = 0; i < acks->count; i++) {
        assert(acks->flights[i]->state == CULEX_FLIGHT_ENDED);
        struct culex_tally before = lane->worker->tally;
        culex__ack_log(acks->flights[i], answers[i], &acks->sent[i]);
        if (answers[i] != CULEX_ANSWER_STALE && answers[i] != CULEX_ANSWER_GONE)
            culex__figures_note(acks->flights[i], &before);
        culex__metrics_note(acks->flights[i], &before, answers[i]);
        span_note(acks->flights[i], &before);
        if (acks->flights[i]->run.end.is_not_understood && lane->worker->options.drain)
            culex__unread_note(lane, acks->sent[i].id);
        culex__flight_recycle(lane->worker, acks->flights[i]);
    }
    acks->count = 0;
}

void culex__acks_free(struct culex_lane *lane)
{
    culex__run_list_free(&lane->acks.ends);
    for (size_t i = 0; i < lane->acks.count; i++)
        culex__run_free(&lane->acks.flights[i]->run);
    lane->acks.count = 0;
}
