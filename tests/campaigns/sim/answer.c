/* sim/answer.c - what a call may be answered: acks, beats, grants, ticks. */
#include "books.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- calls --------------------------------------------------------------------------------- */

static struct session *session_find(struct sim_oracle *oracle, const char *name, const char *queue)
{
    for (size_t i = oracle->session_count; i-- > 0;) {
        if (strcmp(oracle->sessions[i].name, name) == 0 &&
            strcmp(oracle->sessions[i].queue, queue) == 0)
            return &oracle->sessions[i];
    }
    oracle->sessions =
        realloc(oracle->sessions, (oracle->session_count + 1) * sizeof *oracle->sessions);
    if (oracle->sessions == NULL)
        abort();
    struct session *made = &oracle->sessions[oracle->session_count++];
    *made = (struct session){0};
    strcpy(made->name, name);
    strcpy(made->queue, queue);
    return made;
}

struct sim_call *sim_oracle_begin(struct sim_oracle *oracle)
{
    oracle->call.verb = SIM_OTHER;
    memset(&oracle->call, 0, offsetof(struct sim_call, acks));
    oracle->call.ack_answers[0] = oracle->call.beat_answers[0] = '\0';
    oracle->call.grant_count = 0;
    oracle->call.is_enqueued = oracle->call.is_failed = false;
    oracle->call.is_refused = oracle->call.is_too_old = false;
    oracle->call.is_repeat = oracle->call.is_late = false;
    oracle->call.is_fast = false;
    oracle->call.changes = oracle->call.dues = 0;
    oracle->calls++;
    oracle->call.first = (culex_uuid){{0}};
    oracle->is_in_call = true;
    sim_oracle_clock_seen(oracle);
    return &oracle->call;
}

static bool is_held(const struct run *run, uint32_t attempt, const char *session)
{
    return run != NULL && run->record.state == 'A' && run->record.attempt == attempt &&
           strcmp(run->record.owner, session) == 0;
}

void sim_oracle_asked(struct sim_oracle *oracle)
{
    struct sim_call *call = &oracle->call;
    if (call->verb != SIM_STEP)
        return;
    const struct session *session = session_find(oracle, call->session, call->queue);
    call->is_repeat = session->has_nonce && session->nonce == call->nonce &&
                      !session->is_replaced &&
                      !(session->was_idle && oracle->world->options.is_sqlite);
    call->is_late = session->has_nonce && call->nonce < session->nonce;
    for (size_t i = 0; i < call->ack_count; i++) {
        struct run *run = sim_run_find(oracle, call->acks[i].id);
        call->acks[i].is_mine = is_held(run, call->acks[i].attempt, call->session);
        call->acks[i].is_settled = false;
    }
    for (size_t i = 0; i < call->beat_count; i++)
        call->beats[i].is_mine =
            is_held(sim_run_find(oracle, call->beats[i].id), call->beats[i].attempt, call->session);
}

/* A repeat may be told OK of a run that has failed for its follow-ups. */
static bool is_same_answer(const char *answers, const char *before)
{
    size_t i = 0;
    while (answers[i] != '\0' &&
           (answers[i] == before[i] || (answers[i] == 'O' && before[i] == 'F')))
        i++;
    return answers[i] == before[i];
}

static void acks_check(struct sim_oracle *oracle, const struct session *session)
{
    struct sim_call *call = &oracle->call;
    if (strlen(call->ack_answers) != call->ack_count)
        sim_violation(oracle, NULL, "a step answers another number of acks");
    if (call->is_repeat && !is_same_answer(call->ack_answers, session->acks))
        sim_violation(oracle, NULL, "a repeated step answers otherwise: %s, before %s",
                      call->ack_answers, session->acks);
    for (size_t i = 0; i < call->ack_count; i++) {
        const culex_uuid *id = &call->acks[i].id;
        struct run *run = sim_run_find(oracle, *id);
        char answer = call->ack_answers[i];
        bool is_accepted = answer == 'O' || answer == 'F';
        if (run == NULL)
            sim_violation(oracle, NULL, "an ack of a run that never was");
        struct entry *entry = sim_entry_add(oracle, run, NOTE_ACK);
        strcpy(entry->session, call->session);
        entry->attempt = call->acks[i].attempt;
        entry->event = (int)call->acks[i].event;
        entry->answer = answer;
        struct grant *grant = sim_grant_find(run, call->acks[i].attempt, call->session);
        if (grant == NULL)
            sim_violation(oracle, id, "an ack of what was never granted");
        /* What was sent once is sent again as it was, or a lost answer would cost something. A
         * store that is rolled back may grant one session the same attempt again, though. */
        if (oracle->epoch == 0 && grant->is_acked && grant->ack_nonce != call->nonce)
            sim_violation(oracle, id, "an ack is repeated in another step");
        if (oracle->epoch == 0 && grant->is_dropped)
            sim_violation(oracle, id, "the store is told of an end that came after the lease");
        grant->is_acked = true;
        grant->ack_nonce = call->nonce;
        if (call->is_repeat)
            sim_follow_repeated(oracle, i);
        if (call->is_repeat)
            continue;
        if (call->acks[i].is_mine && !is_accepted)
            sim_violation(oracle, id, "the holder's result is refused");
        if (!call->acks[i].is_mine && is_accepted)
            sim_violation(oracle, id, "a result of somebody who does not hold the run is accepted");
        if (is_accepted && !call->acks[i].is_settled)
            sim_violation(oracle, id, "an accepted result changes nothing");
        if (is_accepted && grant->is_accepted)
            sim_violation(oracle, id, "two results of one attempt are accepted");
        grant->is_accepted |= is_accepted;
        if (is_accepted)
            sim_follow_accepted(oracle, i);
        if (is_accepted && call->acks[i].has_progress)
            SOMETIMES(PROGRESS_TOLD_WITH_THE_END);
        if (is_accepted && call->acks[i].event == CULEX_EVENT_RELEASE &&
            call->acks[i].has_begun != grant->has_begun)
            sim_violation(oracle, id, "a run is given back as begun, or not, and was not, or was");
        if (is_accepted && !grant->is_started && call->acks[i].event == CULEX_EVENT_RELEASE)
            SOMETIMES(UNKNOWN_JOB_GIVEN_BACK);
        if (answer == 'S' || answer == 'G')
            SOMETIMES(STALE_ACK_REFUSED);
    }
}

/* A lease is taken for over some time before its end. Who beats once more has heard the answer to
 * the beat before, or the same step would have come again. */
static void lease_begin(const struct sim_oracle *oracle, struct grant *grant)
{
    int64_t lease_ns = oracle->call.lease_ms * SIM_MS;
    grant->lease_end_ns = oracle->world->now_ns + lease_ns;
    grant->sure_ns = grant->promised_ns;
    grant->promised_ns = grant->lease_end_ns - lease_ns / 5;
}

static void beats_check(struct sim_oracle *oracle, const struct session *session)
{
    struct sim_call *call = &oracle->call;
    if (strlen(call->beat_answers) != call->beat_count)
        sim_violation(oracle, NULL, "a step answers another number of beats");
    if (call->is_repeat && strcmp(call->beat_answers, session->beats) != 0)
        sim_violation(oracle, NULL, "a repeated step answers its beats otherwise");
    for (size_t i = 0; i < call->beat_count && !call->is_repeat; i++) {
        struct run *run = sim_run_find(oracle, call->beats[i].id);
        char answer = call->beat_answers[i];
        bool is_granted = answer == 'O' || answer == 'C';
        if (is_granted != call->beats[i].is_mine)
            sim_violation(oracle, &call->beats[i].id, "a beat is answered %c", answer);
        if (!is_granted)
            SOMETIMES(STALE_BEAT_REFUSED);
        struct grant *grant = sim_grant_find(run, call->beats[i].attempt, call->session);
        if (grant != NULL && grant->refused_nonce != 0 && call->nonce > grant->refused_nonce)
            sim_violation(oracle, &call->beats[i].id, "the engine goes on with a lost run");
        if (grant != NULL && !is_granted && call->nonce > session->newest_nonce)
            grant->refused_nonce = call->nonce;
        if (is_granted && call->beats[i].has_progress)
            SOMETIMES(PROGRESS_TOLD);
        if (grant != NULL && is_granted)
            lease_begin(oracle, grant);
    }
}

static void grant_new(struct sim_oracle *oracle, struct run *run, uint32_t attempt)
{
    const struct sim_call *call = &oracle->call;
    run->grants = realloc(run->grants, (run->grant_count + 1) * sizeof *run->grants);
    if (run->grants == NULL)
        abort();
    struct grant *grant = &run->grants[run->grant_count++];
    *grant = (struct grant){.attempt = attempt, .epoch = oracle->epoch, .nonce = call->nonce};
    lease_begin(oracle, grant);
    grant->sure_ns = grant->promised_ns;
    strcpy(grant->session, call->session);
}

/* The grant by which the session holds the run and has surely not given it up; NULL for none. What
 * a timeout has left of a lease is taken for over, too. A store that is rolled back shows what has
 * ended as held. */
static const struct grant *grant_at_work(const struct sim_oracle *oracle, const struct run *run,
                                         const char *session)
{
    const struct sim_record *record = &run->record;
    if (record->state != 'A' || record->timeout_ms > 0 || strcmp(record->owner, session) != 0)
        return NULL;
    const struct grant *grant = sim_grant_find(run, record->attempt, session);
    if (grant == NULL || grant->is_dropped || grant->is_given_up || grant->refused_nonce != 0 ||
        oracle->world->now_ns >= grant->sure_ns ||
        (grant->is_ended && grant->epoch != oracle->epoch))
        return NULL;
    return grant;
}

/* A suspect whose grant was never heard of is at nobody's work yet: should others have begun when
 * it is, it is given back. */
void sim_company_check(struct sim_oracle *oracle, const char *session, culex_uuid id)
{
    size_t count = 0, suspects = 0;
    for (size_t i = 0; i < oracle->run_count; i++) {
        const struct run *run = oracle->runs[i];
        const struct grant *grant = grant_at_work(oracle, run, session);
        count += grant != NULL;
        suspects += grant != NULL && grant->is_started && run->record.is_started &&
                    run->record.losses >= CULEX_SUSPECT_LOSSES;
    }
    if (suspects > 0 && count > 1)
        sim_violation(oracle, &id, "%zu runs are held, %zu of them suspects", count, suspects);
}

static void grants_check(struct sim_oracle *oracle)
{
    struct sim_call *call = &oracle->call;
    if (call->grant_count > call->want)
        sim_violation(oracle, NULL, "%zu runs granted to one who wanted %u", call->grant_count,
                      call->want);
    for (size_t i = 0; i < call->grant_count; i++) {
        const culex_uuid *id = &call->grants[i].id;
        uint32_t attempt = call->grants[i].attempt;
        struct run *run = sim_run_get(oracle, *id);
        struct grant *grant = sim_grant_find(run, attempt, call->session);
        struct entry *entry =
            sim_entry_add(oracle, run, call->is_repeat ? NOTE_GRANT_AGAIN : NOTE_GRANT);
        entry->attempt = attempt;
        strcpy(entry->session, call->session);
        if (!is_held(run, attempt, call->session))
            sim_violation(oracle, id, "granted to one who does not hold it");
        if (call->is_repeat && grant == NULL)
            sim_violation(oracle, id, "a repeated step grants something new");
        if (!call->is_repeat && grant != NULL && grant->epoch == oracle->epoch)
            sim_violation(oracle, id, "one attempt is granted twice");
        if (call->is_repeat)
            SOMETIMES(CLAIM_REPEATED_BY_NONCE);
        if (call->grants[i].losses >= CULEX_SUSPECT_LOSSES) {
            if (call->grant_count != 1)
                sim_violation(oracle, id, "a suspect is granted in company");
            SOMETIMES(SUSPECT_ALONE);
        }
        /* Rolled back, the store may grant again what nobody else ever got. */
        if (grant != NULL && !call->is_repeat)
            grant->attempt = 0;
        if (grant == NULL || !call->is_repeat)
            grant_new(oracle, run, attempt);
    }
    if (call->grant_count > 0)
        sim_company_check(oracle, call->session, call->grants[0].id);
}

/* A worker that has nothing to say asks a few hundred times a second at most. */
static void idle_count(struct sim_oracle *oracle, struct session *session)
{
    enum { IDLE_MAX = 600 };
    int64_t now_ns = oracle->world->now_ns;
    if (!session->was_idle || now_ns - session->idle_since_ns > SIM_SECOND) {
        session->idle_since_ns = now_ns;
        session->idle_count = 0;
    }
    if (++session->idle_count > IDLE_MAX)
        sim_violation(oracle, NULL, "session %s floods the store", session->name);
}

/* Whoever sent it has gone on: nobody would hear of a grant. */
static void late_check(struct sim_oracle *oracle)
{
    const struct sim_call *call = &oracle->call;
    SOMETIMES(STEP_COMES_LATE);
    if (call->grant_count > 0 || strlen(call->ack_answers) != call->ack_count ||
        strlen(call->beat_answers) != call->beat_count ||
        strspn(call->ack_answers, "S") != call->ack_count ||
        strspn(call->beat_answers, "S") != call->beat_count)
        sim_violation(oracle, call->grant_count > 0 ? &call->grants[0].id : NULL,
                      "a step that comes late is answered acks %s, beats %s, %zu grants",
                      call->ack_answers, call->beat_answers, call->grant_count);
    if (!call->says_late)
        sim_violation(oracle, NULL, "a step that comes late is not told so");
}

static void step_answered(struct sim_oracle *oracle)
{
    struct sim_call *call = &oracle->call;
    struct session *session = session_find(oracle, call->session, call->queue);
    if (call->is_late) {
        late_check(oracle);
        return;
    }
    if (call->is_repeat)
        SOMETIMES(STEP_REPEATED_BY_NONCE);
    if (call->is_repeat && session->was_fast)
        SOMETIMES(FAST_STEP_REPEATED_BY_NONCE);
    if (call->is_fast)
        SOMETIMES(FAST_STEP);
    if (call->dues > 0 && session->was_fast)
        SOMETIMES(DUE_AFTER_FAST_STEPS);
    if (call->dues > 0 && call->is_fast)
        sim_violation(oracle, NULL, "a fast step does what has come due");
    session->was_fast = call->is_fast;
    acks_check(oracle, session);
    beats_check(oracle, session);
    grants_check(oracle);
    sim_follow_step_check(oracle);
    session->nonce = call->nonce;
    if (call->nonce > session->newest_nonce)
        session->newest_nonce = call->nonce;
    session->was_idle = call->ack_count + call->beat_count + call->grant_count == 0;
    session->has_nonce = true;
    idle_count(oracle, session);
    memcpy(session->acks, call->ack_answers, sizeof session->acks);
    memcpy(session->beats, call->beat_answers, sizeof session->beats);
}

static struct schedule *schedule_find(struct sim_oracle *oracle, const char *name)
{
    for (size_t i = 0; i < oracle->schedule_count; i++) {
        if (strcmp(oracle->schedules[i].name, name) == 0)
            return &oracle->schedules[i];
    }
    oracle->schedules =
        realloc(oracle->schedules, (oracle->schedule_count + 1) * sizeof *oracle->schedules);
    if (oracle->schedules == NULL)
        abort();
    struct schedule *schedule = &oracle->schedules[oracle->schedule_count++];
    *schedule = (struct schedule){0};
    snprintf(schedule->name, sizeof schedule->name, "%s", name);
    return schedule;
}

/* By the interval a tick is taken so long after the one before, or later; by the calendar after it.
 * A mark of a clock that was ahead holds nobody back. */
static void tick_answered(struct sim_oracle *oracle)
{
    const struct sim_call *call = &oracle->call;
    struct schedule *schedule = schedule_find(oracle, call->worker);
    bool is_moved = !schedule->has_mark || call->mark_ms != schedule->mark_ms;
    bool was_ahead = schedule->has_mark && schedule->mark_ms > call->now_ms + call->interval_ms;
    if (was_ahead && is_moved)
        SOMETIMES(TICK_MARK_FROM_A_CLOCK_AHEAD);
    if (!call->is_enqueued && is_moved && !schedule->is_paused)
        SOMETIMES(TICK_STOOD_FOR_BY_A_LIVE_RUN);
    if (is_moved && schedule->is_paused)
        SOMETIMES(TICK_PASSED_WHILE_PAUSED);
    if (call->is_enqueued && call->is_of_calendar)
        SOMETIMES(TICK_BY_THE_CALENDAR);
    if (call->is_enqueued && schedule->is_paused)
        sim_violation(oracle, NULL, "schedule %s ticks while it is paused", schedule->name);
    if (call->births != call->is_enqueued)
        sim_violation(oracle, NULL, "a tick brings %zu runs", call->births);
    if (!call->is_enqueued && !is_moved)
        SOMETIMES(TICK_LOST_THE_RACE);
    if (call->is_enqueued)
        SOMETIMES(TICK_TAKEN);
    if (schedule->has_mark && is_moved && !was_ahead &&
        call->mark_ms < schedule->mark_ms + (call->is_of_calendar ? 1 : call->interval_ms))
        sim_violation(oracle, NULL, "schedule %s: tick %" PRId64 " is taken after %" PRId64,
                      schedule->name, call->mark_ms - SIM_START_MS,
                      schedule->mark_ms - SIM_START_MS);
    schedule->has_mark = call->mark_ms != 0;
    schedule->mark_ms = call->mark_ms;
}

static void schedule_set_answered(struct sim_oracle *oracle)
{
    const struct sim_call *call = &oracle->call;
    struct schedule *schedule = schedule_find(oracle, call->worker);
    if (call->act == 'p')
        SOMETIMES(SCHEDULE_PAUSED);
    /* By the calendar a resume moves the mark. */
    if (call->act != 'p')
        schedule->has_mark = false;
    if (call->act == 'f')
        schedule->asking = 0;
    schedule->is_paused = call->act == 'p';
}

/* Asked again it brings nothing. */
static void schedule_run_answered(struct sim_oracle *oracle)
{
    const struct sim_call *call = &oracle->call;
    struct schedule *schedule = schedule_find(oracle, call->worker);
    if (call->births > 1)
        sim_violation(oracle, NULL, "schedule %s: %zu runs out of turn", schedule->name,
                      call->births);
    bool is_again = schedule->asking == call->asking;
    if (is_again && call->births > 0)
        sim_violation(oracle, NULL, "schedule %s: the run of asking %" PRId64 " comes again",
                      schedule->name, call->asking);
    if (is_again)
        SOMETIMES(RUN_OUT_OF_TURN_ASKED_AGAIN);
    if (call->births == 0)
        return;
    SOMETIMES(RUN_OUT_OF_TURN);
    schedule->asking = call->asking;
}

/* What the session before sends again is answered as to somebody who came late. */
static void hello_answered(struct sim_oracle *oracle)
{
    const struct sim_call *call = &oracle->call;
    struct named *worker = sim_worker_find(oracle, call->queue, call->worker);
    if (worker->session[0] != '\0' && strcmp(worker->session, call->session) != 0)
        session_find(oracle, worker->session, call->queue)->is_replaced = true;
    strcpy(worker->session, call->session);
}

void sim_oracle_answered(struct sim_oracle *oracle)
{
    struct sim_call *call = &oracle->call;
    oracle->is_in_call = false;
    if (call->is_failed) {
        if (call->changes > 0)
            sim_violation(oracle, NULL, "a refused %s has changed something",
                          sim_verbs[call->verb]);
        return;
    }
    if (call->births > 0)
        sim_batch_call_check(oracle);
    if (call->verb == SIM_ENQUEUE && call->has_batch)
        sim_batch_enqueued(oracle);
    if (call->verb == SIM_STEP)
        step_answered(oracle);
    else if (call->verb == SIM_TICK)
        tick_answered(oracle);
    else if (call->verb == SIM_SCHEDULE_SET)
        schedule_set_answered(oracle);
    else if (call->verb == SIM_SCHEDULE_RUN)
        schedule_run_answered(oracle);
    else if (call->verb == SIM_HELLO)
        hello_answered(oracle);
    else if (call->verb == SIM_BATCH)
        sim_batch_ordered(oracle);
    else if (call->verb == SIM_ENQUEUE || call->verb == SIM_EACH)
        sim_enqueue_check(oracle);
}
