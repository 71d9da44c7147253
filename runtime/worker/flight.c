#include "worker/worker_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/end_text.h"
#include "worker/overstay.h"
#include "worker/solitude.h"

enum {
    TIMEOUT_TERM_MS = 1000, /* from the timeout's flag to SIGTERM */
    CANCEL_TERM_MS = 5000,  /* from the flag of a user's cancellation to SIGTERM */
    TERM_KILL_MS = 2000,    /* from SIGTERM to SIGKILL; 1 s after a timeout and a lost lease */
    HURRY_KILL_MS = 1000,
    /* The store takes nothing from a run after its timeout and this. */
    SLACK_SAFE_MS = CULEX_TIMEOUT_SLACK_MS - CULEX_TIMEOUT_SLACK_MS / 10,
};
#define MS INT64_C(1000000)

/* --- pool ------------------------------------------------------------------------------ */

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

/* --- the lane's list --------------------------------------------------------------------- */

static void flight_add(struct culex_lane *lane, struct culex_run *run)
{
    run->slot = lane->flight_count;
    lane->flights[lane->flight_count++] = run;
    lane->worker->flight_count++;
}

static void flight_remove(struct culex_run *run)
{
    struct culex_lane *lane = run->lane;
    struct culex_run *last = lane->flights[--lane->flight_count];
    lane->flights[run->slot] = last;
    last->slot = run->slot;
    lane->worker->flight_count--;
}

static int64_t min_ns(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* --- what is due next ------------------------------------------------------------------- */

/* Without a heartbeat granted until then the store is taken to be out of reach. */
static int64_t fence_ns(const struct culex_run *run)
{
    int64_t lease_ns = run->lane->worker->options.lease_ms * MS;
    return run->is_fenced ? INT64_MAX : run->beat_ns + lease_ns - lease_ns / 4;
}

static int64_t timeout_ns(const struct culex_run *run)
{
    return run->is_timed_out ? INT64_MAX : run->deadline_ns;
}

static int64_t flight_next_ns(const struct culex_run *run)
{
    return min_ns(min_ns(run->lease_ns, fence_ns(run)), timeout_ns(run));
}

/* Asks the handler to stop; see executor.h about the times. */
static void flight_ask(struct culex_run *run, int64_t term_ns, int64_t kill_ns)
{
    struct culex_executor *executor = run->lane->worker->executor;
    run->term_ns = min_ns(run->term_ns, term_ns);
    culex__overstay_begin(run);
    executor->ops->cancel(executor, run, term_ns, kill_ns);
}

/* --- grants ------------------------------------------------------------------------------- */

const struct culex_job *culex__worker_job_find(const culex_worker *worker, const char *wire)
{
    for (size_t i = 0; i < worker->job_count; i++) {
        if (strcmp(worker->jobs[i].type->wire, wire) == 0)
            return &worker->jobs[i];
    }
    return NULL;
}

static void run_reset(struct culex_run *run, struct culex_lane *lane)
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

void culex__flight_renew(struct culex_run *run, int64_t sent_ns)
{
    int64_t lease_ns = run->lane->worker->options.lease_ms * MS;
    int64_t over_ns = sent_ns + lease_ns - lease_ns / 10;
    if (run->told_ns < over_ns - SLACK_SAFE_MS * MS)
        over_ns = run->told_ns + SLACK_SAFE_MS * MS;
    run->beat_ns = sent_ns;
    atomic_store_explicit(&run->lease_ns, over_ns, memory_order_relaxed);
}

static void run_fill(struct culex_run *run, const struct culex_grant *grant, int64_t sent_ns)
{
    run->facts = grant->facts;
    run->terms.store_timeout_ms = run->lane->worker->store_settings.timeout_ms;
    if (culex__run_is_suspect(&grant->facts.counters))
        culex__solitude_hold(run);
    snprintf(run->terms.fence, sizeof run->terms.fence, "%s-%u", run->lane->session,
             (unsigned)grant->facts.attempt);
    run->claimed_ns = sent_ns;
    run->deadline_ns = grant->facts.timeout_ms > 0 && grant->facts.timeout_ms < INT64_MAX / 2000000
                           ? sent_ns + grant->facts.timeout_ms * MS
                           : INT64_MAX;
    run->told_ns = run->deadline_ns;
    culex__flight_renew(run, sent_ns);
}

static void settle_release(struct culex_run *run, int64_t delay_ms)
{
    run->end = (struct culex_execution_end){.event = CULEX_EVENT_RELEASE, .delay_ms = delay_ms};
    culex__lane_settle(run->lane, run);
}

/* ", and N ..." or nothing. */
static void more_format(uint64_t count, const char *what, char ret_text[64])
{
    ret_text[0] = '\0';
    if (count > 0)
        snprintf(ret_text, 64, ", and %llu %s", (unsigned long long)count, what);
}

static void unknown_tell(const struct culex_run *run, const char *wire, int64_t delay_ms)
{
    culex_worker *worker = run->lane->worker;
    struct culex_log_subject subject = culex__run_subject(run);
    struct culex_unknown_news news;
    char more[64], others[64];
    if (!culex__unknown_jobs_note(&worker->unknown_jobs, wire, culex__worker_now_ns(worker), &news))
        return;
    subject.job = wire;
    subject.outcome = "released";
    subject.next_ms = culex__storeclock_now_ms(&worker->clock, worker->env) + delay_ms;
    more_format(news.more, "times more since the last line", more);
    more_format(news.others, "runs of yet other jobs", others);
    culex__log_write(&worker->log, CULEX_LOG_WARNING, &subject,
                     CULEX__UNKNOWN_JOB_TEXT "; given back for %d s%s%s", (int)(delay_ms / 1000),
                     more, others);
}

/* A newer producer may be ahead of us in a rolling deploy: not the run's fault. */
static void settle_unknown(struct culex_run *run, const char *wire)
{
    int64_t delay_ms = culex__run_unknown_delay_ms(run->facts.attempt);
    run->lane->worker->counts.not_understood++;
    unknown_tell(run, wire, delay_ms);
    run->end = (struct culex_execution_end){
        .event = CULEX_EVENT_RELEASE, .delay_ms = delay_ms, .text = CULEX__UNKNOWN_JOB_TEXT};
    culex__lane_settle(run->lane, run);
}

/* Trying again is pointless, and so is waiting for another worker. */
static void settle_retired(struct culex_run *run)
{
    run->end =
        (struct culex_execution_end){.event = CULEX_EVENT_DISCARD, .text = "the job is retired"};
    culex__lane_settle(run->lane, run);
}

/* No producer of ours can have written it, so no worker will ever run it. `text` is constant. */
static void settle_damaged(struct culex_run *run, const char *text)
{
    run->end = (struct culex_execution_end){.event = CULEX_EVENT_DISCARD, .text = text};
    culex__lane_settle(run->lane, run);
}

/* What is longer than it can be, NULL for nothing. */
static const char *grant_check(const struct culex_grant *grant)
{
    if (strnlen(grant->job, CULEX_JOB_NAME_MAX + 1) > CULEX_JOB_NAME_MAX)
        return "damaged in the store: the name of the job is longer than 255 bytes";
    if (grant->payload_len > CULEX_PAYLOAD_MAX)
        return "damaged in the store: the payload is longer than 1048576 bytes";
    return NULL;
}

/* False when the run went back instead of to the executor. */
static bool grant_accept(struct culex_run *run, const struct culex_grant *grant, int64_t sent_ns)
{
    culex_worker *worker = run->lane->worker;
    run_fill(run, grant, sent_ns);
    const struct culex_job *job = culex__worker_job_find(worker, grant->job);
    const char *damage = grant_check(grant);
    if (job != NULL)
        run->job = *job;
    if (damage != NULL) {
        settle_damaged(run, damage);
        return false;
    }
    if (job == NULL) {
        settle_unknown(run, grant->job);
        return false;
    }
    if (job->call == NULL) {
        settle_retired(run);
        return false;
    }
    if (worker->phase != CULEX_WORKER_RUNNING || culex__solitude_is_over(run)) {
        settle_release(run, 0);
        return false;
    }
    if (!culex__run_set_payload(run, grant->payload, grant->payload_len)) {
        settle_release(run, culex__run_unknown_delay_ms(1));
        return false;
    }
    return true;
}

/* A store that was set back to an older state grants runs anew which this worker still has, with
 * the very same attempt. What the older execution says would be taken for the newer one's. */
static void twin_forget(struct culex_lane *lane, culex_uuid id, uint32_t attempt)
{
    for (size_t i = lane->flight_count; i-- > 0;) {
        struct culex_run *run = lane->flights[i];
        if (run->facts.attempt == attempt && memcmp(&run->facts.id, &id, sizeof id) == 0)
            culex__flight_lose(run);
    }
    culex__lane_unsettle(lane, id, attempt);
}

void culex__flight_take(struct culex_lane *lane, const struct culex_grant *grants, size_t count,
                        int64_t sent_ns)
{
    culex_worker *worker = lane->worker;
    size_t accepted = 0;
    for (size_t i = 0; i < count; i++) {
        twin_forget(lane, grants[i].facts.id, grants[i].facts.attempt);
        struct culex_run *run = culex__flight_alloc(worker);
        if (run == NULL)
            break; /* the lease ends by itself, charged as a loss */
        run_reset(run, lane);
        if (!grant_accept(run, &grants[i], sent_ns))
            continue;
        flight_add(lane, run);
        run->is_in_executor = true;
        lane->end_ns = min_ns(lane->end_ns, flight_next_ns(run));
        lane->beat_ns = min_ns(lane->beat_ns, sent_ns + culex__worker_beat_pause_ns(worker));
        worker->scratch[accepted++] = run;
    }
    if (accepted == 0)
        return;
    /* Nothing waited for a handler until now, however long the ones at work take. */
    if (worker->executor->ops->queued(worker->executor) == 0)
        worker->progress_ns = culex__worker_now_ns(worker);
    worker->executor_count += accepted;
    worker->executor->ops->submit(worker->executor, worker->scratch, accepted);
}

/* --- ends --------------------------------------------------------------------------------- */

/* What the handler has reported so far and the store does not know. */
static void progress_copy(struct culex_run *run, struct culex_run *ghost)
{
    char text[CULEX_PROGRESS_MAX + 1];
    if (culex__run_take_progress(run, text) != run->progress_told)
        culex__run_report_progress(ghost, text);
}

/* A struct that carries the end of `run` to the store while the handler still uses `run`. */
static struct culex_run *ghost_make(struct culex_run *run)
{
    culex_worker *worker = run->lane->worker;
    struct culex_run *ghost = culex__flight_alloc(worker);
    if (ghost == NULL)
        return NULL;
    run_reset(ghost, run->lane);
    if (run->terms.is_suspect)
        culex__solitude_hold(ghost);
    ghost->job = run->job;
    ghost->facts = run->facts;
    ghost->has_cancel = run->has_cancel;
    progress_copy(run, ghost);
    return ghost;
}

/* From now on the handler's answer means nothing. */
static void flight_give_up(struct culex_run *run)
{
    int64_t now_ns = culex__worker_now_ns(run->lane->worker);
    run->is_settled = true;
    flight_remove(run);
    culex__solitude_let_go(run);
    flight_ask(run, now_ns, now_ns + HURRY_KILL_MS * MS);
}

/* A failure in place of however it ended: `how` tells that. */
static void end_set_timed_out(struct culex_run *run, const char *how)
{
    char span[CULEX_LOG_SPAN_SIZE];
    culex__log_format_span(run->facts.timeout_ms, span);
    culex__run_set_text(run, "timed out after %s%s%s", span, how[0] != '\0' ? "; " : "", how);
    run->end.event = CULEX_EVENT_FAIL;
    run->end.is_snoozed = run->end.is_not_understood = false;
    run->lane->worker->counts.timed_out++;
}

/* A thread cannot be killed, and the store takes no result for ever. So the failure is told at
 * once, while the handler is asked to stop. */
static void flight_leave_timed_out(struct culex_run *run)
{
    struct culex_run *ghost = ghost_make(run);
    flight_give_up(run);
    if (ghost == NULL)
        return;
    if (atomic_load_explicit(&run->started_ns, memory_order_relaxed) == 0) {
        settle_release(ghost, 0);
        return;
    }
    end_set_timed_out(ghost, "");
    culex__lane_settle(ghost->lane, ghost);
}

static void flight_time_out(struct culex_run *run, int64_t now_ns)
{
    if (!run->lane->worker->executor->ops->can_kill) {
        flight_leave_timed_out(run);
        return;
    }
    int64_t term_ns = now_ns + TIMEOUT_TERM_MS * MS;
    run->is_timed_out = true;
    flight_ask(run, term_ns, term_ns + HURRY_KILL_MS * MS);
}

static void lease_log(const struct culex_run *run, const char *text)
{
    struct culex_log_subject subject = culex__run_subject(run);
    subject.outcome = "lost";
    run->lane->worker->counts.lost++;
    culex__log_write(&run->lane->worker->log, CULEX_LOG_WARNING, &subject, "lease lost; %s", text);
}

void culex__flight_lose(struct culex_run *run)
{
    lease_log(run, "the handler is asked to stop and its result will be discarded");
    flight_give_up(run);
}

void culex__flight_lose_all(struct culex_lane *lane)
{
    while (lane->flight_count > 0)
        culex__flight_lose(lane->flights[lane->flight_count - 1]);
}

/* Another worker may get the run when the lease is over: the handler must have ended by then. */
static void flight_fence(struct culex_run *run, int64_t now_ns)
{
    struct culex_log_subject subject = culex__run_subject(run);
    run->is_fenced = true;
    culex__log_write(&run->lane->worker->log, CULEX_LOG_WARNING, &subject,
                     "no heartbeat has reached the store; the handler is asked to stop before "
                     "its lease is over");
    flight_ask(run, now_ns, run->lease_ns);
}

static void flight_hear(struct culex_run *run)
{
    int64_t until_ns = run->facts.timeout_ms > 0 ? culex__run_extended_ns(run) : 0;
    if (run->is_timed_out || until_ns <= run->deadline_ns)
        return;
    run->deadline_ns = until_ns;
    run->lane->beat_ns = 0;
}

static void flight_attend(struct culex_run *run, int64_t now_ns)
{
    if (now_ns >= timeout_ns(run))
        flight_hear(run);
    if (now_ns >= run->lease_ns)
        culex__flight_lose(run);
    else if (now_ns >= timeout_ns(run))
        flight_time_out(run, now_ns);
    else if (now_ns >= fence_ns(run))
        flight_fence(run, now_ns);
}

void culex__flight_attend(struct culex_lane *lane, int64_t now_ns)
{
    if (now_ns < lane->end_ns)
        return;
    lane->end_ns = INT64_MAX;
    for (size_t i = lane->flight_count; i-- > 0;) {
        struct culex_run *run = lane->flights[i];
        flight_attend(run, now_ns);
        if (!run->is_settled)
            lane->end_ns = min_ns(lane->end_ns, flight_next_ns(run));
    }
}

static void worker_learn_duration(culex_worker *worker, const struct culex_run *run)
{
    worker->average_ns += (run->end.duration_ns - worker->average_ns) / 8;
}

/* When the handler came to its end. */
static int64_t ended_ns(const struct culex_run *run)
{
    int64_t started_ns = atomic_load_explicit(&run->started_ns, memory_order_relaxed);
    return started_ns > 0 ? started_ns + run->end.duration_ns
                          : culex__worker_now_ns(run->lane->worker);
}

static void end_time_out(struct culex_run *run)
{
    char how[CULEX_ERROR_TEXT_MAX], span[CULEX_LOG_SPAN_SIZE];
    int64_t late_ns = ended_ns(run) - run->deadline_ns;
    culex__log_format_span(late_ns > 0 ? late_ns / MS : 0, span);
    if (run->end.event == CULEX_EVENT_CRASH)
        snprintf(how, sizeof how, "%s", run->end.text);
    else
        snprintf(how, sizeof how, "the handler returned by itself %s later", span);
    end_set_timed_out(run, how);
}

/* The handler was asked to stop for a reason that is not the run's, and its process died of that,
 * or it says that it has not come to its end. A cancelled run ends in any case, with what was said.
 */
static bool end_is_ours(const struct culex_run *run)
{
    bool is_unfinished = run->end.event == CULEX_EVENT_CRASH ||
                         (run->end.event == CULEX_EVENT_FAIL && !run->has_cancel);
    return is_unfinished && ended_ns(run) >= run->term_ns;
}

static bool is_executor_gone(const struct culex_run *run)
{
    struct culex_executor *executor = run->lane->worker->executor;
    return executor->ops->is_broken != NULL && executor->ops->is_broken(executor);
}

static void end_release(struct culex_run *run)
{
    const char *why = run->has_cancel         ? "cancelled"
                      : run->is_fenced        ? "cut off from the store"
                      : is_executor_gone(run) ? "its process died with the one that starts them"
                                              : "shutdown";
    if (run->end.event == CULEX_EVENT_FAIL)
        culex__run_set_text(run, "%s; %s", why, run->end.text);
    else
        run->end.text = why;
    run->end.event = CULEX_EVENT_RELEASE;
    run->end.delay_ms = 0;
}

/* It was at work when the process that starts handlers was killed, and may have done that itself.
 */
static bool end_is_loss(const struct culex_run *run)
{
    return run->end.event == CULEX_EVENT_CRASH && run->term_ns == INT64_MAX &&
           is_executor_gone(run);
}

static void end_lose(struct culex_run *run)
{
    unsigned losses = (unsigned)run->facts.counters.losses + 1;
    culex__run_set_text(run, "its process died with the one that starts them (loss %u of %d)",
                        losses, CULEX_LOSSES_MAX);
    run->end.event = CULEX_EVENT_LOSS;
}

/* Makes of how the handler ended what the store is told. False: nothing, the lease is over. */
static bool end_judge(struct culex_run *run)
{
    bool has_begun = atomic_load_explicit(&run->started_ns, memory_order_relaxed) > 0;
    flight_hear(run);
    if (has_begun && ended_ns(run) >= run->lease_ns) {
        lease_log(run, "the result came too late and is discarded");
        return false;
    }
    if (has_begun && (run->is_timed_out || ended_ns(run) >= run->deadline_ns))
        end_time_out(run);
    else if (end_is_loss(run) && !run->is_excused)
        end_lose(run);
    else if (end_is_loss(run) || end_is_ours(run))
        end_release(run);
    return true;
}

static void executor_leave(struct culex_run *run)
{
    culex_worker *worker = run->lane->worker;
    run->is_in_executor = false;
    culex__overstay_end(run);
    worker->executor_count--;
}

static void flight_land(struct culex_run *run)
{
    culex_worker *worker = run->lane->worker;
    executor_leave(run);
    worker->careful_count -= worker->careful_count > 0;
    if (run->is_settled) {
        culex__flight_recycle(worker, run);
        return;
    }
    flight_remove(run);
    worker_learn_duration(worker, run);
    if (end_judge(run))
        culex__lane_settle(run->lane, run);
    else
        culex__flight_recycle(worker, run);
}

size_t culex__flight_collect(culex_worker *worker)
{
    struct culex_run *ended[CULEX_BATCH_MAX];
    size_t count = worker->executor->ops->collect(worker->executor, ended, CULEX_BATCH_MAX);
    for (size_t i = 0; i < count; i++)
        flight_land(ended[i]);
    if (count > 0)
        worker->progress_ns = culex__worker_now_ns(worker);
    return count;
}

void culex__flight_withdraw(culex_worker *worker)
{
    size_t count =
        worker->executor->ops->withdraw(worker->executor, worker->scratch, worker->executor_count);
    for (size_t i = 0; i < count; i++) {
        struct culex_run *run = worker->scratch[i];
        executor_leave(run);
        if (run->is_settled) {
            culex__flight_recycle(worker, run);
            continue;
        }
        flight_remove(run);
        settle_release(run, 0);
    }
}

static void flights_each(culex_worker *worker, void (*visit)(struct culex_run *run))
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        for (size_t k = worker->lanes[i].flight_count; k-- > 0;)
            visit(worker->lanes[i].flights[k]);
    }
}

void culex__flight_hear_all(culex_worker *worker)
{
    if (atomic_exchange_explicit(&worker->executor->has_news, false, memory_order_acquire))
        flights_each(worker, flight_hear);
}

void culex__flight_cancel(struct culex_run *run)
{
    int64_t term_ns = culex__worker_now_ns(run->lane->worker) + CANCEL_TERM_MS * MS;
    struct culex_log_subject subject = culex__run_subject(run);
    if (run->has_cancel)
        return;
    run->has_cancel = true;
    flight_ask(run, term_ns, term_ns + TERM_KILL_MS * MS);
    culex__log_write(&run->lane->worker->log, CULEX_LOG_INFO, &subject, "cancellation requested");
}

static void flight_stop(struct culex_run *run)
{
    int64_t now_ns = culex__worker_now_ns(run->lane->worker);
    flight_ask(run, now_ns, now_ns + TERM_KILL_MS * MS);
}

void culex__flight_cancel_all(culex_worker *worker)
{
    flights_each(worker, flight_stop);
}

static void flight_abandon(struct culex_run *run)
{
    struct culex_run *ghost = ghost_make(run);
    struct culex_log_subject subject = culex__run_subject(run);
    culex__log_write(&run->lane->worker->log, CULEX_LOG_WARNING, &subject,
                     "the handler does not return; the run is given back while it goes on");
    flight_give_up(run);
    culex__overstay_end(run);
    if (ghost != NULL)
        settle_release(ghost, 0);
}

void culex__flight_abandon_all(culex_worker *worker)
{
    /* Processes that were killed come back; only a broken executor may not notice. */
    if (worker->executor->ops->can_kill && !worker->is_executor_broken)
        return;
    flights_each(worker, flight_abandon);
}
