#include "worker/worker_private.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "core/backoff.h"
#include "worker/solitude.h"

enum {
    CLAIM_BYTES = 4 * 1024 * 1024, /* of payload in one step */
    SHORT_NS = 1000000,            /* runs below this are worth collecting for a common step */
    GATHER_NS = 1000000,           /* how long results may wait for company */
    RESTEP_NS = 2000000            /* between steps that the store wants at once */
};
#define EXPIRED_LOG_NS INT64_C(60000000000) /* between lines about runs that expire */

/* Of a beat that carries no progress. */
#define NO_TEXT SIZE_MAX

static void ack_log(struct culex_run *run, enum culex_answer answer, const struct culex_ack *ack);

/* --- what to send --------------------------------------------------------------------------- */

static void crash_explain(struct culex_run *run);

void culex__lane_settle(struct culex_lane *lane, struct culex_run *run)
{
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

void culex__lane_unsettle(struct culex_lane *lane, culex_uuid id, uint32_t attempt)
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

static size_t lane_room(const struct culex_lane *lane)
{
    const culex_worker *worker = lane->worker;
    size_t limit = culex__worker_limit(worker);
    if (worker->phase != CULEX_WORKER_RUNNING || worker->executor_count >= limit ||
        !culex__solitude_lets_claim(lane))
        return 0;
    size_t room = limit - worker->executor_count;
    return room < worker->options.batch ? room : worker->options.batch;
}

/* Short runs come back by the dozen: while the handlers have more to do anyway, it pays to
 * wait for half a batch before the next round trip. */
static bool lane_should_gather(const struct culex_lane *lane, size_t queued, size_t room,
                               int64_t now_ns)
{
    const culex_worker *worker = lane->worker;
    size_t half = (worker->options.batch + 1) / 2;
    return worker->phase == CULEX_WORKER_RUNNING && worker->average_ns < SHORT_NS && queued > 0 &&
           worker->careful_count == 0 && room < half && lane->ack_count < half &&
           (lane->ack_count == 0 || now_ns - lane->ack_ns < GATHER_NS);
}

bool culex__lane_may_call(const struct culex_lane *lane, int64_t now_ns)
{
    const struct culex_outage *outage = &lane->worker->outage;
    return now_ns >= lane->retry_ns && (!outage->is_on || now_ns >= outage->until_ns);
}

bool culex__lane_wants_step(struct culex_lane *lane, size_t queued, int64_t now_ns)
{
    if (!lane->has_hello || !culex__lane_may_call(lane, now_ns))
        return false;
    if (lane->step.is_pending)
        return true;
    if (lane->is_hinting || (lane->flight_count > 0 && now_ns >= lane->beat_ns))
        return true;
    size_t room = lane_room(lane);
    bool is_claiming = room > 0 && (lane->is_likely || now_ns >= lane->due_ns ||
                                    now_ns >= culex__worker_look_ns(lane));
    if (lane->ack_count == 0 && !is_claiming)
        return false;
    return !lane_should_gather(lane, queued, room, now_ns);
}

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

static void step_add_acks(struct culex_lane *lane)
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

/* The texts go into the step's own buffer: it may be sent again long after the run has ended. A
 * text for which there is no memory is told by the next beat. */
static size_t beat_add_progress(struct culex_lane_step *step, struct culex_run *run, size_t i)
{
    char text[CULEX_PROGRESS_MAX + 1];
    size_t at = step->texts.len;
    unsigned tag = culex__run_take_progress(run, text);
    step->beat_progress_tag[i] = run->progress_told;
    if (tag == run->progress_told ||
        culex__buf_append(&step->texts, text, strlen(text) + 1) != CULEX_OK)
        return NO_TEXT;
    step->beat_progress_tag[i] = tag;
    return at;
}

/* How much longer than the store knows the handler may run, from now; 0 for none. */
static int64_t extension_ns(const struct culex_run *run, int64_t now_ns)
{
    return run->deadline_ns > run->told_ns && run->deadline_ns > now_ns ? run->deadline_ns - now_ns
                                                                        : 0;
}

static void step_add_beat(struct culex_lane_step *step, struct culex_run *run, int64_t now_ns,
                          size_t *ret_text_at)
{
    size_t i = step->beat_count++;
    int64_t more_ns = extension_ns(run, now_ns);
    step->beats[i] = (struct culex_beat){
        .id = run->facts.id,
        .attempt = run->facts.attempt,
        .is_started = atomic_load_explicit(&run->started_ns, memory_order_relaxed) > 0,
        .is_excused = run->is_excused,
        .extend_ms = (more_ns + 999999) / 1000000};
    step->beat_runs[i] = run;
    step->beat_told_ns[i] = more_ns > 0 ? run->deadline_ns : run->told_ns;
    *ret_text_at = beat_add_progress(step, run, i);
}

/* Runs whose turn it is, and those whose handlers asked for more time. Whatever is half-way to its
 * next beat comes along, so that runs that began apart soon beat together. Those that do not fit
 * come next time. */
static void step_add_beats(struct culex_lane *lane, int64_t now_ns)
{
    struct culex_lane_step *step = &lane->step;
    int64_t pause_ns = culex__worker_beat_pause_ns(lane->worker);
    size_t texts_at[CULEX_BATCH_MAX] = {NO_TEXT};
    step->beat_count = 0;
    culex__buf_cut(&step->texts, 0);
    if (now_ns < lane->beat_ns)
        return;
    lane->beat_ns = INT64_MAX;
    for (size_t i = 0; i < lane->flight_count; i++) {
        struct culex_run *run = lane->flights[i];
        int64_t due_ns = extension_ns(run, now_ns) > 0 ? now_ns : run->beat_ns + pause_ns;
        if (due_ns - pause_ns / 2 <= now_ns && step->beat_count < CULEX_BATCH_MAX) {
            step_add_beat(step, run, now_ns, &texts_at[step->beat_count]);
            due_ns = now_ns + pause_ns;
        }
        if (due_ns < lane->beat_ns)
            lane->beat_ns = due_ns;
    }
    for (size_t i = 0; i < step->beat_count; i++)
        step->beats[i].progress = texts_at[i] != NO_TEXT ? step->texts.data + texts_at[i] : NULL;
}

/* Handlers that nothing is meant for yet, not even what an unanswered step may bring. */
static uint32_t free_handlers(const culex_worker *worker)
{
    size_t busy = worker->executor_count;
    for (size_t i = 0; i < worker->lane_count; i++) {
        const struct culex_lane_step *step = &worker->lanes[i].step;
        busy += step->is_pending ? step->want - step->ahead : 0;
    }
    size_t handlers = culex__worker_capacity(worker);
    return busy < handlers ? (uint32_t)(handlers - busy) : 0;
}

/* Before the step is pending itself; after its acks, for which a suspect may have to wait. */
static void step_add_claims(struct culex_lane *lane)
{
    struct culex_lane_step *step = &lane->step;
    uint32_t starts = free_handlers(lane->worker);
    step->want = (uint32_t)lane_room(lane);
    step->ahead = step->want > starts ? step->want - starts : 0;
}

static void step_prepare(struct culex_lane *lane, int64_t now_ns)
{
    culex_worker *worker = lane->worker;
    struct culex_lane_step *step = &lane->step;
    step->nonce = worker->nonce++;
    step->sent_ns = now_ns;
    step_add_acks(lane);
    step_add_claims(lane);
    step_add_beats(lane, now_ns);
    step->is_pending = true;
}

/* --- what the answers mean ------------------------------------------------------------- */

/* False when it has ended meanwhile, and its struct may carry another run. */
static bool beat_is_current(const struct culex_run *run, const struct culex_beat *beat)
{
    return run->is_in_executor && !run->is_settled && run->facts.attempt == beat->attempt &&
           memcmp(&run->facts.id, &beat->id, sizeof run->facts.id) == 0;
}

static void beat_take_granted(struct culex_lane_step *step, size_t i)
{
    struct culex_run *run = step->beat_runs[i];
    struct culex_executor *executor = run->lane->worker->executor;
    if (step->beat_told_ns[i] > run->told_ns)
        run->told_ns = step->beat_told_ns[i];
    run->progress_told = step->beat_progress_tag[i];
    if (step->beats[i].is_excused)
        culex__solitude_let_go(run);
    culex__flight_renew(run, step->sent_ns);
    if (executor->ops->renew != NULL)
        executor->ops->renew(executor, run);
}

static void step_take_beats(struct culex_lane *lane, const enum culex_answer *answers)
{
    struct culex_lane_step *step = &lane->step;
    for (size_t i = 0; i < step->beat_count; i++) {
        struct culex_run *run = step->beat_runs[i];
        if (!beat_is_current(run, &step->beats[i]))
            continue;
        if (answers[i] == CULEX_ANSWER_STALE || answers[i] == CULEX_ANSWER_GONE) {
            culex__flight_lose(run);
            continue;
        }
        beat_take_granted(step, i);
        if (answers[i] == CULEX_ANSWER_CANCEL)
            culex__flight_cancel(run);
    }
}

static void step_take_acks(struct culex_lane *lane, const enum culex_answer *answers)
{
    struct culex_lane_step *step = &lane->step;
    for (size_t i = 0; i < step->ack_count; i++) {
        ack_log(step->ack_runs[i], answers[i], &step->acks[i]);
        culex__flight_recycle(lane->worker, step->ack_runs[i]);
    }
    step->ack_count = 0;
}

/* More than was granted may wait when a bound of the step, and not the store, ended the list. */
static bool step_was_cut(const struct culex_lane_step *step, const struct culex_step_reply *reply)
{
    size_t bytes = 0;
    if (reply->grant_count == 0)
        return false;
    for (size_t i = 0; i < reply->grant_count; i++)
        bytes += reply->grants[i].payload_len;
    return reply->grant_count >= step->want || bytes >= CLAIM_BYTES / 4;
}

static void lane_set_held(struct culex_lane *lane, bool is_held)
{
    lane->worker->held_count += is_held;
    lane->worker->held_count -= lane->is_held;
    lane->is_held = is_held;
}

/* A backlog that expires does so by the thousand. */
static void lane_tell_expired(struct culex_lane *lane, uint32_t count, int64_t now_ns)
{
    const struct culex_log_subject subject = {.queue = lane->name};
    lane->worker->counts.expired += count;
    lane->expired_untold += count;
    if (lane->expired_untold == 0 ||
        (lane->expired_told_ns != 0 && now_ns - lane->expired_told_ns < EXPIRED_LOG_NS))
        return;
    culex__log_write(&lane->worker->log, CULEX_LOG_WARNING, &subject,
                     "queue %s: %llu runs expired before a worker came for them and are dead",
                     lane->name, (unsigned long long)lane->expired_untold);
    lane->expired_untold = 0;
    lane->expired_told_ns = now_ns;
}

/* The first lane that notices: the others still live under the old name. */
static void worker_rename(struct culex_lane *lane)
{
    culex_worker *worker = lane->worker;
    char old[sizeof worker->name];
    strcpy(old, worker->name);
    snprintf(worker->name, sizeof worker->name, "%.100s-%08llx", old,
             (unsigned long long)(culex__env_random(worker->env) & UINT32_MAX));
    worker->name_count++;
    culex__log_write(&worker->log, CULEX_LOG_ERROR, NULL,
                     "another worker has started under the name %s and was given the runs that "
                     "this one held; this one goes on as %s. Give each worker its own name",
                     old, worker->name);
}

/* What it held has gone to its namesake. It says HELLO again as somebody else: two that take the
 * name from each other would lose each other's runs for ever. */
static void lane_begin_anew(struct culex_lane *lane)
{
    if (lane->name_count == lane->worker->name_count)
        worker_rename(lane);
    culex__flight_lose_all(lane);
    snprintf(lane->session, sizeof lane->session, "%016llx",
             (unsigned long long)culex__env_random(lane->worker->env));
    lane->has_hello = false;
}

static void step_take_reply(struct culex_lane *lane, const struct culex_step_reply *reply)
{
    culex_worker *worker = lane->worker;
    struct culex_lane_step *step = &lane->step;
    int64_t now_ns = culex__worker_now_ns(worker);
    culex__worker_learn_clock(worker, reply->now_ms, step->sent_ns);
    culex__worker_learn_room(worker, reply->room);
    step->is_pending = false;
    lane->is_hinting = false;
    lane->asked_ns = now_ns;
    if (step->want > 0) {
        lane->is_likely = reply->is_held || step_was_cut(step, reply);
        lane_set_held(lane, reply->is_held);
        lane->has_suspects = reply->has_passed;
    }
    lane->is_empty = reply->is_empty;
    lane->is_paused = reply->is_paused;
    lane->due_ns = INT64_MAX;
    if (reply->due_in_ms >= 0 && reply->due_in_ms < INT64_MAX / 2000000) {
        int64_t wait_ns = reply->due_in_ms * 1000000;
        lane->due_ns = now_ns + (wait_ns > RESTEP_NS ? wait_ns : RESTEP_NS);
    }
    step_take_acks(lane, reply->acks);
    step_take_beats(lane, reply->beats);
    lane_tell_expired(lane, reply->expired_count, now_ns);
    if (reply->is_replaced)
        lane_begin_anew(lane);
    culex__flight_take(lane, reply->grants, reply->grant_count, step->sent_ns);
}

/* --- calls ----------------------------------------------------------------------------- */

static culex_status lane_send(struct culex_lane *lane, culex_error *error)
{
    culex_worker *worker = lane->worker;
    struct culex_lane_step *state = &lane->step;
    if (!state->is_pending)
        step_prepare(lane, culex__worker_now_ns(worker));
    struct culex_step step = {.queue = lane->name,
                              .session = lane->session,
                              .nonce = state->nonce,
                              .want = state->want,
                              .ahead = state->ahead,
                              .in_company = !culex__solitude_is_reached(lane),
                              .max_bytes = CLAIM_BYTES,
                              .lease_ms = worker->options.lease_ms,
                              .acks = state->acks,
                              .ack_count = state->ack_count,
                              .beats = state->beats,
                              .beat_count = state->beat_count};
    struct culex_step_reply reply = {0};
    culex_status status = worker->store->ops->step(worker->store, &step, &reply, error);
    if (status != CULEX_OK)
        return status;
    step_take_reply(lane, &reply);
    worker->store->ops->step_release(worker->store, &reply);
    return CULEX_OK;
}

culex_status culex__lane_step(struct culex_lane *lane, culex_error *error)
{
    culex_status status = lane_send(lane, error);
    if (status == CULEX_OK) {
        culex__worker_call_succeeded(lane->worker, lane);
        return CULEX_OK;
    }
    if (status == CULEX_EMOVED)
        return status;
    culex__worker_call_failed(lane->worker, lane, status, error);
    return CULEX_OK;
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
