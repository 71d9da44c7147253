/* sim/change.c - what may become of a record: each change is judged by the call that made it. */
#include "books.h"

#include <string.h>

/* --- what may change ----------------------------------------------------------------------- */

static void counters_check(struct sim_oracle *oracle, const struct run *run,
                           const struct sim_record *after)
{
    const struct sim_record *before = &run->record;
    const struct sim_call *call = &oracle->call;
    if (call->verb == SIM_RETRY)
        return;
    if (after->failures < before->failures || after->losses < before->losses ||
        after->crashes < before->crashes || after->attempt < before->attempt)
        sim_violation(oracle, &run->id, "a counter went back");
    if (after->failures + after->crashes > after->attempts_max ||
        after->crash_streak > CULEX_CRASH_STREAK_MAX || after->losses > CULEX_LOSSES_MAX)
        sim_violation(oracle, &run->id, "a counter is above its limit");
    bool is_exhausted = after->failures + after->crashes >= after->attempts_max ||
                        after->crash_streak >= CULEX_CRASH_STREAK_MAX ||
                        after->losses >= CULEX_LOSSES_MAX;
    if (is_exhausted && sim_is_live(after->state))
        sim_violation(oracle, &run->id, "an exhausted run lives on");
}

bool sim_is_sure_holder(const struct sim_record *record)
{
    bool is_fresh = record->attempt == 0 && (record->state == 'S' || record->state == 'W');
    return record->unique_key[0] == SIM_UNIQUE_LIVE
               ? sim_is_live(record->state)
               : record->unique_key[0] == SIM_UNIQUE_REPLACED && is_fresh;
}

/* The same run, or another one with its key, which must not be. */
static void unique_check(struct sim_oracle *oracle, const struct run *run,
                         const struct sim_record *after)
{
    if (!sim_is_sure_holder(after))
        return;
    for (size_t i = 0; i < oracle->run_count; i++) {
        const struct run *other = oracle->runs[i];
        if (other != run && sim_is_sure_holder(&other->record) &&
            strcmp(other->record.unique_key, after->unique_key) == 0)
            sim_violation(oracle, &run->id, "the unique key %s has two runs", after->unique_key);
    }
}

static void change_new(struct sim_oracle *oracle, struct run *run, const struct sim_record *after)
{
    enum sim_verb verb = oracle->call.verb;
    bool is_follow_up = verb == SIM_STEP || verb == SIM_FOLLOW;
    if (verb != SIM_ENQUEUE && verb != SIM_EACH && verb != SIM_TICK && verb != SIM_SCHEDULE_RUN &&
        !is_follow_up)
        sim_violation(oracle, &run->id, "a run comes out of nowhere");
    if (run->was_created)
        sim_violation(oracle, &run->id, "an id is given a second time");
    if ((after->state != 'S' && after->state != 'W') || after->attempt != 0 ||
        after->failures + after->crashes + after->losses != 0)
        sim_violation(oracle, &run->id, "a new run is not new");
    /* After a roll-back an id may have a second life, which counts its attempts from 1 again. */
    for (size_t i = 0; i < run->grant_count; i++)
        run->grants[i].epoch = UINT64_MAX;
    run->was_created = true;
    run->completions = 0;
    run->birth = oracle->calls;
    oracle->call.births++;
    snprintf(run->queue, sizeof run->queue, "%.7s",
             after->queue[0] != '\0' ? after->queue : oracle->call.queue);
    memcpy(run->payload, after->payload, sizeof run->payload);
    if (sim_batch_is_callback(run->payload))
        sim_batch_came(oracle, run);
    else if (is_follow_up || sim_follow_asking(run->payload, strlen(run->payload)) > 0)
        sim_follow_came(oracle, run, after);
    if (verb == SIM_ENQUEUE && oracle->call.has_batch)
        sim_batch_joined(oracle, run->id);
}

static void change_claimed(struct sim_oracle *oracle, const struct run *run,
                           const struct sim_record *after)
{
    const struct sim_call *call = &oracle->call;
    if (call->verb != SIM_STEP || call->want == 0)
        sim_violation(oracle, &run->id, "claimed by nobody who asked");
    if (run->record.state == 'S' && run->record.at_ms > call->now_ms)
        sim_violation(oracle, &run->id, "claimed before it is due");
    if (after->attempt != run->record.attempt + 1)
        sim_violation(oracle, &run->id, "a claim does not count its attempt");
    if (strcmp(after->owner, call->session) != 0)
        sim_violation(oracle, &run->id, "claimed for somebody else");
    if (after->has_cancel)
        sim_violation(oracle, &run->id, "claimed although cancelled");
    bool is_doubtful = run->record.is_started || run->record.losses >= CULEX_SUSPECT_LOSSES;
    if (is_doubtful && !after->is_started)
        sim_violation(oracle, &run->id, "granted ahead of its start although it is in doubt");
    if (after->limit_ms !=
        (after->timeout_ms > 0 ? call->now_ms + after->timeout_ms + CULEX_TIMEOUT_SLACK_MS : 0))
        sim_violation(oracle, &run->id, "a claim's limit is wrong");
}

static bool is_charged(const struct sim_record *record)
{
    return record->failures + record->crashes + record->losses > 0;
}

/* Only what nobody has ever begun expires, as far as the store was told, and then for ever; but for
 * a time for retries, which the first charge begins and nothing moves. */
static bool keeps_its_expiry(const struct sim_oracle *oracle, const struct sim_record *before,
                             const struct sim_record *after, bool has_begun)
{
    int64_t expected = has_begun ? 0 : before->expires_at_ms;
    if (after->retry_for_ms > 0 && is_charged(after))
        expected =
            is_charged(before) ? before->expires_at_ms : oracle->call.now_ms + after->retry_for_ms;
    return !sim_is_live(after->state) || after->expires_at_ms == expected;
}

/* No retry is planned for when the time for them is over. */
static void retry_check(struct sim_oracle *oracle, const struct run *run,
                        const struct sim_record *after)
{
    bool is_retry = after->failures + after->crashes > run->record.failures + run->record.crashes;
    if (after->retry_for_ms > 0 && is_retry && after->state == 'S' &&
        after->at_ms >= after->expires_at_ms)
        sim_violation(oracle, &run->id, "a retry is planned when its time will be over");
}

/* The call carries an ack of its holder that leads to `after`, charges included. */
static bool ack_explains(struct sim_oracle *oracle, const struct run *run,
                         const struct sim_record *after)
{
    struct sim_call *call = &oracle->call;
    const struct sim_record *before = &run->record;
    if (call->verb != SIM_STEP || strcmp(before->owner, call->session) != 0)
        return false;
    for (size_t i = 0; i < call->ack_count; i++) {
        if (memcmp(&call->acks[i].id, &run->id, sizeof run->id) != 0 ||
            call->acks[i].attempt != before->attempt || call->acks[i].is_settled)
            continue;
        enum culex_run_event event = call->acks[i].event;
        bool is_fit = event == CULEX_EVENT_DONE      ? after->state == 'D'
                      : event == CULEX_EVENT_DISCARD ? after->state == 'X'
                      : event == CULEX_EVENT_RELEASE
                          ? after->state == 'W' || after->state == 'S' || after->state == 'C'
                          : after->state == 'S' || after->state == 'W' || after->state == 'X' ||
                                after->state == 'C';
        if (!is_fit)
            continue;
        if (after->failures !=
                before->failures + (event == CULEX_EVENT_FAIL || event == CULEX_EVENT_DISCARD) ||
            after->crashes != before->crashes + (event == CULEX_EVENT_CRASH) ||
            after->losses != before->losses + (event == CULEX_EVENT_LOSS) ||
            !keeps_its_expiry(oracle, before, after,
                              event != CULEX_EVENT_RELEASE || call->acks[i].has_begun))
            continue;
        retry_check(oracle, run, after);
        call->acks[i].is_settled = true;
        return true;
    }
    return false;
}

/* The beat that its holder sent for it; NULL when there is none. */
static const struct sim_beat *beat_find(const struct sim_oracle *oracle, const struct run *run)
{
    const struct sim_call *call = &oracle->call;
    const struct sim_record *before = &run->record;
    if (call->verb != SIM_STEP || strcmp(call->session, before->owner) != 0)
        return NULL;
    for (size_t i = 0; i < call->beat_count; i++) {
        if (memcmp(&call->beats[i].id, &run->id, sizeof run->id) == 0 &&
            call->beats[i].attempt == before->attempt)
            return &call->beats[i];
    }
    return NULL;
}

/* As the store knows after the beat, which may be NULL. */
static bool is_at_work(const struct sim_record *before, const struct sim_beat *beat)
{
    return beat == NULL ? before->is_started
                        : !beat->is_excused && (before->is_started || beat->is_started);
}

/* A beat brings the lease's end to a lease from now, not past the limit; and that, if it asks for
 * more time, to as far as it asks. */
static void beat_check(struct sim_oracle *oracle, const struct run *run,
                       const struct sim_record *after)
{
    const struct sim_call *call = &oracle->call;
    int64_t limit_ms = run->record.limit_ms, at_ms = call->now_ms + call->lease_ms;
    const struct sim_beat *beat = beat_find(oracle, run);
    if (beat == NULL)
        sim_violation(oracle, &run->id, "a lease is extended for somebody else");
    int64_t extend_ms = beat != NULL ? beat->extend_ms : 0;
    if (beat != NULL && after->is_started != is_at_work(&run->record, beat))
        sim_violation(oracle, &run->id, "a beat tells of a start, or not, and the record does not");
    int64_t wanted_ms = call->now_ms + extend_ms + CULEX_TIMEOUT_SLACK_MS;
    if (extend_ms > 0 && limit_ms > 0 && wanted_ms > limit_ms) {
        SOMETIMES(TIMEOUT_EXTENDED);
        limit_ms = wanted_ms;
    }
    if (limit_ms > 0 && at_ms > limit_ms)
        at_ms = limit_ms;
    if (after->limit_ms != limit_ms || after->at_ms != at_ms)
        sim_violation(oracle, &run->id, "a beat extends the lease to a wrong time");
}

/* A holder has vanished: what had started is charged, and nothing else is. */
static bool is_charged_rightly(const struct sim_oracle *oracle, const struct run *run,
                               const struct sim_record *after, bool was_started)
{
    const struct sim_record *before = &run->record;
    if (after->failures != before->failures || after->crashes != before->crashes ||
        after->losses != before->losses + was_started ||
        !keeps_its_expiry(oracle, before, after, was_started))
        return false;
    if (after->state == 'X')
        SOMETIMES(DEAD_BY_LOSSES);
    return after->state == 'W' || after->state == 'C' || (was_started && after->state == 'X');
}

/* Others that its holder got with it have ended well. */
static bool was_claim_ended(const struct sim_oracle *oracle, const struct run *lost)
{
    const struct sim_record *record = &lost->record;
    const struct grant *mine = sim_grant_find((struct run *)lost, record->attempt, record->owner);
    if (mine == NULL)
        return false;
    for (size_t i = 0; i < oracle->run_count; i++) {
        const struct run *run = oracle->runs[i];
        for (size_t at = 0; at < run->grant_count; at++) {
            const struct grant *grant = &run->grants[at];
            if (grant->nonce == mine->nonce && grant->is_accepted &&
                strcmp(grant->session, mine->session) == 0)
                return true;
        }
    }
    return false;
}

static bool loss_explains(struct sim_oracle *oracle, const struct run *run,
                          const struct sim_record *after)
{
    const struct sim_record *before = &run->record;
    const struct sim_beat *beat = beat_find(oracle, run);
    bool was_started = is_at_work(before, beat);
    /* A beat may have brought the lease's end forward, to the end of the timeout. */
    if (oracle->call.verb != SIM_STEP || (before->at_ms > oracle->call.now_ms && beat == NULL))
        return false;
    if (oracle->world->faults + oracle->world->kills == 0 && !oracle->world->is_healing &&
        before->timeout_ms == 0)
        sim_violation(oracle, &run->id, "a lease is lost in calm weather");
    oracle->call.dues++;
    if (was_started)
        SOMETIMES(LEASE_LOST);
    else
        SOMETIMES(LEASE_LOST_UNCHARGED);
    if (was_claim_ended(oracle, run))
        SOMETIMES(CLAIM_ENDED_IN_PART_AND_LOST);
    return is_charged_rightly(oracle, run, after, was_started);
}

static bool hello_explains(struct sim_oracle *oracle, const struct run *run,
                           const struct sim_record *after)
{
    const struct sim_call *call = &oracle->call;
    if (call->verb != SIM_HELLO)
        return false;
    const struct named *worker = sim_worker_find(oracle, call->queue, call->worker);
    if (strcmp(worker->session, run->record.owner) != 0 ||
        strcmp(worker->session, call->session) == 0)
        return false;
    if (run->record.is_started)
        SOMETIMES(FORMER_LIFE_CHARGED);
    else
        SOMETIMES(FORMER_LIFE_RELEASED);
    return is_charged_rightly(oracle, run, after, run->record.is_started);
}

static void change_left(struct sim_oracle *oracle, struct run *run, const struct sim_record *after)
{
    if (!ack_explains(oracle, run, after) && !hello_explains(oracle, run, after) &&
        !loss_explains(oracle, run, after))
        sim_violation(oracle, &run->id,
                      "taken from its holder without a reason, or charged wrongly");
    if (after->state == 'D' && ++run->completions > 1)
        sim_violation(oracle, &run->id, "a second completion is recorded");
    if (run->record.has_cancel && after->state == 'C')
        SOMETIMES(CANCELLED_AT_BEAT);
}

static bool is_dead_bounded(const struct sim_oracle *oracle, const struct run *run)
{
    return oracle->world->dead_bounded[run->queue[0] == 'b'] >= SIM_MAYBE_BOUNDED;
}

/* What is kept for no time leaves no record: a success at its ack, a cancelled run in the step that
 * took it from its holder, a dead one in the step in which there were enough of them. It is judged
 * as if the record were there, by each way in which it may have ended. */
static void change_unkept(struct sim_oracle *oracle, struct run *run)
{
    static const struct {
        char state;
        uint32_t failures, crashes, losses;
    } ends[] = {{'D', 0, 0, 0}, {'C', 0, 0, 0}, {'C', 1, 0, 0}, {'C', 0, 1, 0},
                {'C', 0, 0, 1}, {'X', 1, 0, 0}, {'X', 0, 1, 0}, {'X', 0, 0, 1}};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct sim_record after = run->record;
        after.state = ends[i].state;
        after.failures += ends[i].failures;
        after.crashes += ends[i].crashes;
        after.losses += ends[i].losses;
        after.crash_streak = ends[i].crashes > 0 ? after.crash_streak + 1 : 0;
        if ((after.state == 'C' && !after.has_cancel) ||
            (after.state == 'X' && !is_dead_bounded(oracle, run)) ||
            (!ack_explains(oracle, run, &after) && !hello_explains(oracle, run, &after) &&
             !loss_explains(oracle, run, &after)))
            continue;
        if (after.state == 'D' && ++run->completions > 1)
            sim_violation(oracle, &run->id, "a second completion is recorded");
        if (after.state == 'D')
            SOMETIMES(DONE_UNKEPT);
        run->unkept_as = after.state;
        return;
    }
    sim_violation(oracle, &run->id, "taken from its holder and forgotten without a reason");
}

static void change_gone(struct sim_oracle *oracle, struct run *run)
{
    const struct sim_record *before = &run->record;
    switch (oracle->call.verb) {
    case SIM_PURGE:
        if (before->state == 'A')
            sim_violation(oracle, &run->id, "an active run is purged");
        SOMETIMES(PURGED_BY_OPERATOR);
        return;
    case SIM_FORGET:
        if (!sim_is_final(before->state))
            sim_violation(oracle, &run->id, "a run that is not final is deleted");
        SOMETIMES(DELETED_BY_OPERATOR);
        return;
    default:
        if (before->state == 'A') {
            change_unkept(oracle, run);
            return;
        }
        if (before->state == 'X' && before->at_ms > oracle->call.now_ms &&
            is_dead_bounded(oracle, run)) {
            SOMETIMES(FORGOTTEN_FOR_THEIR_NUMBER);
            return;
        }
        if (!sim_is_final(before->state) || before->at_ms > oracle->call.now_ms)
            sim_violation(oracle, &run->id, "a run is forgotten before its time");
        SOMETIMES(FORGOTTEN);
    }
}

/* An end that no lease can have was given before the clock was set back. */
static bool cut_explains(const struct sim_oracle *oracle, const struct run *run,
                         const struct sim_record *after)
{
    const struct sim_call *call = &oracle->call;
    const struct sim_record *before = &run->record;
    int64_t last_ms = call->now_ms + call->lease_ms; /* the same for all workers of a world */
    if (call->verb != SIM_STEP || before->at_ms <= last_ms + CULEX_LEASE_LOOK_MS ||
        after->at_ms != last_ms || after->limit_ms != before->limit_ms ||
        after->is_started != before->is_started)
        return false;
    SOMETIMES(LEASE_OF_A_CLOCK_AHEAD);
    return true;
}

static void change_held(struct sim_oracle *oracle, const struct run *run,
                        const struct sim_record *after)
{
    const struct sim_record *before = &run->record;
    if (after->attempt != before->attempt || strcmp(after->owner, before->owner) != 0)
        sim_violation(oracle, &run->id, "an active run changes hands");
    if (oracle->call.verb == SIM_CANCEL && after->has_cancel) {
        SOMETIMES(CANCEL_OF_ACTIVE);
        return;
    }
    if (after->has_cancel != before->has_cancel)
        sim_violation(oracle, &run->id, "a cancel flag changes by itself");
    if (beat_find(oracle, run) != NULL || !cut_explains(oracle, run, after))
        beat_check(oracle, run, after);
}

static bool is_same_record(const struct sim_record *a, const struct sim_record *b)
{
    return a->state == b->state && a->attempt == b->attempt && a->failures == b->failures &&
           a->crashes == b->crashes && a->crash_streak == b->crash_streak &&
           a->losses == b->losses && a->has_cancel == b->has_cancel &&
           a->is_started == b->is_started && a->at_ms == b->at_ms && a->limit_ms == b->limit_ms &&
           a->expires_at_ms == b->expires_at_ms && strcmp(a->owner, b->owner) == 0;
}

/* To another time: nothing but that is changed, and the expiry of what was never started. */
static void move_check(struct sim_oracle *oracle, const struct run *run,
                       const struct sim_record *after)
{
    struct sim_record same = *after;
    const struct sim_record *before = &run->record;
    bool is_to_time = after->state == 'S' && after->at_ms > oracle->call.now_ms;
    same.state = before->state;
    same.at_ms = before->at_ms;
    if (!is_charged(before))
        same.expires_at_ms = before->expires_at_ms;
    if ((after->state != 'W' && !is_to_time) || !is_same_record(&same, before))
        sim_violation(oracle, &run->id, "a move changes more than the time");
    SOMETIMES(MOVED_BY_OPERATOR);
}

/* Somebody else wants it otherwise, who has its key: of what a record tells its time is changed. */
static bool is_replaced(struct sim_call *call, const struct run *run,
                        const struct sim_record *after)
{
    struct sim_record same = *after;
    const struct sim_record *before = &run->record;
    same.state = before->state;
    same.at_ms = before->at_ms;
    if (call->verb != SIM_ENQUEUE || before->unique_key[0] != SIM_UNIQUE_REPLACED ||
        before->attempt > 0 || (after->state != 'S' && after->state != 'W') ||
        !is_same_record(&same, before))
        return false;
    call->replacements++;
    call->first = run->id;
    return true;
}

/* It was its turn: it stands behind those that came in before it, and in SQLite as if it had become
 * ready with them. */
static bool is_let_in(const struct sim_call *call, const struct sim_record *before,
                      const struct sim_record *after)
{
    struct sim_record same = *after;
    same.at_ms = before->at_ms;
    return call->verb == SIM_STEP && before->is_limited && after->at_ms >= before->at_ms &&
           is_same_record(&same, before);
}

static void change_waiting(struct sim_oracle *oracle, struct run *run,
                           const struct sim_record *after)
{
    const struct sim_record *before = &run->record;
    const struct sim_call *call = &oracle->call;
    if (call->verb == SIM_MOVE) {
        move_check(oracle, run, after);
        return;
    }
    if (is_replaced(&oracle->call, run, after))
        return;
    switch (after->state) {
    case 'A':
        change_claimed(oracle, run, after);
        if (before->expires_at_ms != 0 && call->now_ms >= before->expires_at_ms)
            sim_violation(oracle, &run->id, "claimed although expired");
        return;
    case 'C':
        if (call->verb != SIM_CANCEL)
            sim_violation(oracle, &run->id, "cancelled by nobody");
        SOMETIMES(CANCEL_OF_WAITING);
        return;
    case 'X':
        if (call->verb != SIM_STEP || before->expires_at_ms == 0 ||
            call->now_ms < before->expires_at_ms)
            sim_violation(oracle, &run->id, "expired without a reason");
        SOMETIMES(EXPIRED);
        if (is_charged(before))
            SOMETIMES(OUT_OF_TIME_FOR_RETRIES);
        if (before->attempt > 0)
            SOMETIMES(EXPIRED_AFTER_A_GRANT);
        return;
    case 'W':
        if (before->state == 'S' && call->verb == SIM_STEP && before->at_ms <= call->now_ms) {
            oracle->call.dues++;
            return;
        }
        if (is_let_in(call, before, after))
            return;
        break;
    default:
        break;
    }
    sim_violation(oracle, &run->id, "a waiting run changes without a reason");
}

static void change_final(struct sim_oracle *oracle, struct run *run, const struct sim_record *after)
{
    if (run->record.state == 'X' && after->state == 'W' && oracle->call.verb == SIM_RETRY) {
        SOMETIMES(RETRIED_BY_OPERATOR);
        return;
    }
    sim_violation(oracle, &run->id, "a final run changes");
}

static void death_count(const struct sim_record *before, const struct sim_record *after)
{
    if (after->state != 'X' || before->state == 'X')
        return;
    if (after->crash_streak >= CULEX_CRASH_STREAK_MAX)
        SOMETIMES(DEAD_BY_CRASHES);
    else if (after->failures + after->crashes >= after->attempts_max)
        SOMETIMES(DEAD_BY_FAILURES);
    else if (after->losses < CULEX_LOSSES_MAX && before->state == 'A' && after->retry_for_ms == 0)
        SOMETIMES(DEAD_BY_DISCARD);
}

void sim_change_check(struct sim_oracle *oracle, struct run *run, const struct sim_record *after)
{
    char from = run->record.state;
    /* SQLite: what has come due since then comes in behind any step. */
    bool is_callback = from == '-' && sim_batch_is_callback(after->payload);
    if (oracle->call.is_repeat && !is_callback)
        sim_violation(oracle, &run->id, "a repeated step changes something");
    if (oracle->call.is_late)
        sim_violation(oracle, &run->id, "a step that comes late changes something");
    if (from == '-')
        change_new(oracle, run, after);
    else if (after->state == '-')
        change_gone(oracle, run);
    else if (sim_is_final(from))
        change_final(oracle, run, after);
    else if (from == 'A' && after->state == 'A')
        change_held(oracle, run, after);
    else if (from == 'A')
        change_left(oracle, run, after);
    else
        change_waiting(oracle, run, after);
    if (!sim_is_live(from))
        unique_check(oracle, run, after);
    if (after->state != '-' && from != '-') {
        counters_check(oracle, run, after);
        death_count(&run->record, after);
    }
}

/* Runs of one call that have one priority have ids in their order. */
static void first_note(struct sim_call *call, culex_uuid id)
{
    static const culex_uuid none;
    if (memcmp(&call->first, &none, sizeof none) == 0 || memcmp(&id, &call->first, sizeof id) < 0)
        call->first = id;
}

/* As a batch counts it: what is purged before it ends is cancelled. */
static char end_of(const struct sim_oracle *oracle, const struct run *run,
                   const struct sim_record *after)
{
    if (after->state != '-')
        return after->state;
    return oracle->call.verb == SIM_PURGE ? 'C' : run->unkept_as;
}

void sim_oracle_change(struct sim_oracle *oracle, culex_uuid id, const struct sim_record *after)
{
    struct run *run = sim_run_get(oracle, id);
    if (is_same_record(&run->record, after))
        return;
    struct entry *entry = sim_entry_add(oracle, run, NOTE_CHANGE);
    entry->before = run->record;
    entry->after = *after;
    if (!oracle->is_in_call)
        sim_violation(oracle, &id, "a record changes outside of any call");
    oracle->call.changes++;
    if (run->record.state == '-')
        first_note(&oracle->call, id);
    sim_change_check(oracle, run, after);
    oracle->live += (size_t)sim_is_live(after->state);
    oracle->live -= (size_t)sim_is_live(run->record.state);
    if (sim_is_live(run->record.state) && !sim_is_live(after->state))
        sim_batch_member_ended(oracle, run, end_of(oracle, run, after));
    run->record = *after;
    sim_wait_look(oracle, run, after->state);
}
