#include "worker/grants.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/end_text.h"
#include "worker/acks.h"
#include "worker/flight.h"
#include "worker/flight_pool.h"
#include "worker/jobs.h"
#include "worker/roster.h"
#include "worker/solitude.h"
#include "worker/worker_private.h"

/* As culex_run_fence promises: texts of one length, which the attempt orders within a run. */
static void fence_write(struct culex_flight *flight)
{
    struct culex_run *run = &flight->run;
    char id[CULEX_UUID_TEXT_SIZE];
    culex_uuid_format(run->facts.id, id);
    snprintf(run->terms.fence, sizeof run->terms.fence, "%s-%010u-%s", id,
             (unsigned)run->facts.attempt, flight->lane->greeting.session);
}

static void grant_copy(struct culex_flight *flight, const struct culex_grant *grant,
                       int64_t sent_ns)
{
    flight->run.facts = grant->facts;
    flight->run.terms.store_timeout_ms = flight->lane->worker->store_settings.timeout_ms;
    if (culex__run_is_suspect(&grant->facts.counters))
        culex__solitude_hold(flight);
    fence_write(flight);
    culex__flight_claim(flight, sent_ns);
}

/* ", and N ..." or nothing. */
static void more_format(uint64_t count, const char *what, char ret_text[64])
{
    ret_text[0] = '\0';
    if (count > 0)
        snprintf(ret_text, 64, ", and %llu %s", (unsigned long long)count, what);
}

static void unknown_tell(const struct culex_flight *flight, const char *wire, int64_t delay_ms)
{
    culex_worker *worker = flight->lane->worker;
    struct culex_log_subject subject = culex__run_subject(&flight->run);
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

/* In a rolling deploy a producer may be newer than this worker: the run is charged nothing. */
static void settle_unknown(struct culex_flight *flight, const char *wire)
{
    int64_t delay_ms = culex__run_unknown_delay_ms(flight->run.facts.attempt);
    culex__tally_add(flight->lane->worker, CULEX_TALLY_NOT_UNDERSTOOD, 1);
    unknown_tell(flight, wire, delay_ms);
    flight->run.end = (struct culex_execution_end){
        .event = CULEX_EVENT_RELEASE, .delay_ms = delay_ms, .text = CULEX__UNKNOWN_JOB_TEXT};
    culex__acks_settle(flight);
}

/* No worker is ever going to run it. */
static void settle_retired(struct culex_flight *flight)
{
    flight->run.end =
        (struct culex_execution_end){.event = CULEX_EVENT_DISCARD, .text = "the job is retired"};
    culex__acks_settle(flight);
}

/* No producer of ours can have written it, so no worker will ever run it. `text` is constant. */
static void settle_damaged(struct culex_flight *flight, const char *text)
{
    flight->run.end = (struct culex_execution_end){.event = CULEX_EVENT_DISCARD, .text = text};
    culex__acks_settle(flight);
}

static_assert(CULEX_JOB_NAME_MAX == 255 && CULEX_PAYLOAD_MAX == 1048576,
              "the texts below and in core/end_text.h name other limits");

/* NULL, or which part of the grant is longer than any producer of ours writes it. */
static const char *grant_check(const struct culex_grant *grant)
{
    if (strnlen(grant->job, CULEX_JOB_NAME_MAX + 1) > CULEX_JOB_NAME_MAX)
        return CULEX__DAMAGED_TEXT "the name of the job is longer than 255 bytes";
    if (grant->payload_len > CULEX_PAYLOAD_MAX)
        return CULEX__LONG_PAYLOAD_TEXT;
    return NULL;
}

/* False when the run went back instead of to the crew. */
static bool grant_accept(struct culex_flight *flight, const struct culex_grant *grant,
                         int64_t sent_ns)
{
    culex_worker *worker = flight->lane->worker;
    grant_copy(flight, grant, sent_ns);
    const struct culex_job *job = culex__jobs_find(worker, grant->job);
    const char *damage = grant_check(grant);
    if (job != NULL)
        flight->run.job = *job;
    if (damage != NULL) {
        settle_damaged(flight, damage);
        return false;
    }
    if (job == NULL) {
        settle_unknown(flight, grant->job);
        return false;
    }
    if (job->call == NULL) {
        settle_retired(flight);
        return false;
    }
    if (worker->phases.current != CULEX_WORKER_RUNNING || culex__solitude_is_over(flight)) {
        culex__acks_release(flight, 0);
        return false;
    }
    if (!culex__run_set_payload(&flight->run, grant->payload, grant->payload_len)) {
        culex__acks_release(flight, culex__run_unknown_delay_ms(1));
        return false;
    }
    return true;
}

static void twin_forget(struct culex_lane *lane, culex_uuid id, uint32_t attempt)
{
    struct culex_flight *twin;
    while ((twin = culex__roster_find(lane, id, attempt)) != NULL) {
        if (twin->state == CULEX_FLIGHT_ALOFT)
            culex__flight_lose(twin);
        else
            culex__acks_unsettle(twin);
    }
}

void culex__grants_forget_twins(struct culex_lane *lane, const struct culex_grant *grants,
                                size_t count)
{
    assert(!lane->step.is_pending); /* which might have their ends already */
    for (size_t i = 0; i < count; i++)
        twin_forget(lane, grants[i].facts.id, grants[i].facts.attempt);
}

bool culex__grants_take(struct culex_lane *lane, const struct culex_grant *grants, size_t count,
                        int64_t sent_ns)
{
    culex_worker *worker = lane->worker;
    struct culex_run *runs[CULEX_BATCH_MAX];
    size_t accepted = 0;
    assert(count <= CULEX_BATCH_MAX);
    for (size_t i = 0; i < count; i++) {
        struct culex_flight *flight = culex__flight_begin(lane);
        if (flight == NULL)
            break; /* the lease ends by itself, charged as a loss */
        if (!grant_accept(flight, &grants[i], sent_ns))
            continue;
        culex__units_hold(flight, grants[i].needs);
        culex__flight_launch(flight);
        runs[accepted++] = &flight->run;
    }
    if (accepted == 0)
        return false;
    /* The stall of queued runs is measured from now: until now none was queued. */
    if (culex__crew_queued(worker) == 0)
        culex__pace_note_progress(worker);
    culex__crew_submit(worker, runs, accepted);
    return true;
}
