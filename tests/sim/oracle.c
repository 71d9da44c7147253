/* sim/oracle.c - the books: who was granted what, what may change, and the history of each run. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

uint64_t sim_situations[SIM_SITUATION_COUNT];

/* --- books --------------------------------------------------------------------------------- */

enum note {
    NOTE_CHANGE,
    NOTE_GRANT,
    NOTE_GRANT_AGAIN,
    NOTE_ACK,
    NOTE_BEAT,
    NOTE_STARTED,
    NOTE_ENDED,
    NOTE_ACKNOWLEDGED,
    NOTE_ROLLED_BACK
};

struct entry {
    uint64_t step;
    int64_t now_ns, store_ms;
    enum note note;
    enum sim_verb verb;
    struct sim_record before, after;
    uint32_t attempt;
    int event;
    char answer;
    char session[SIM_SESSION_SIZE];
};

/* One execution that was granted. */
struct grant {
    uint32_t attempt;
    char session[SIM_SESSION_SIZE];
    uint64_t epoch;
    int64_t lease_end_ns; /* boot time by which the worker has surely lost it */
    bool is_started, is_ended, is_acked, is_accepted;
    enum culex_run_event ended_as;
    uint64_t ack_nonce, refused_nonce; /* of the step that answered a beat with STALE */
};

struct run {
    culex_uuid id;
    struct sim_record record; /* state '-': not in the store */
    struct sim_record marked; /* when the last snapshot was taken */
    bool is_marked;
    bool was_created;
    bool is_acknowledged;
    unsigned completions; /* in this life */
    struct grant *grants;
    size_t grant_count;
    struct entry *entries;
    size_t entry_count, entry_cap;
};

struct session {
    char name[SIM_SESSION_SIZE], queue[64];
    uint64_t nonce, newest_nonce; /* requests of closed connections may come late */
    bool has_nonce, was_idle;     /* it had nothing to do: a store need not remember that */
    char acks[SIM_CALL_MAX + 1], beats[SIM_CALL_MAX + 1];
};

struct schedule {
    char name[96];
    int64_t mark_ms, marked_ms;
    bool has_mark;
};

struct named {
    char name[128], session[SIM_SESSION_SIZE], marked[SIM_SESSION_SIZE];
};

struct sim_oracle {
    struct sim_world *world;
    struct sim_dict index; /* id to run's place, as a score */
    struct run **runs;
    size_t run_count, run_cap, live;
    struct session *sessions, *marked_sessions;
    size_t session_count, marked_count;
    struct schedule *schedules;
    size_t schedule_count;
    struct named *workers;
    size_t worker_count;
    struct sim_call call;
    bool is_in_call;
    uint64_t epoch;
    size_t lost;
    int64_t clock_min_ms, clock_max_ms;
};

static bool is_final(char state)
{
    return state == 'D' || state == 'X' || state == 'C';
}

static bool is_live(char state)
{
    return state != '-' && !is_final(state);
}

static struct run *run_find(const struct sim_oracle *oracle, culex_uuid id)
{
    const struct sim_entry *entry = sim_dict_find(&oracle->index, id.b, sizeof id.b);
    return entry == NULL ? NULL : oracle->runs[(size_t)entry->slot.score];
}

static struct run *run_get(struct sim_oracle *oracle, culex_uuid id)
{
    bool is_new;
    struct sim_entry *entry = sim_dict_put(&oracle->index, id.b, sizeof id.b, &is_new);
    if (!is_new)
        return oracle->runs[(size_t)entry->slot.score];
    if (oracle->run_count == oracle->run_cap) {
        oracle->run_cap = oracle->run_cap * 2 + 64;
        oracle->runs = realloc(oracle->runs, oracle->run_cap * sizeof(struct run *));
    }
    struct run *run = calloc(1, sizeof *run);
    if (run == NULL || oracle->runs == NULL)
        abort();
    run->id = id;
    run->record.state = run->marked.state = '-';
    entry->slot.score = (double)oracle->run_count;
    oracle->runs[oracle->run_count++] = run;
    return run;
}

static struct entry *entry_add(struct sim_oracle *oracle, struct run *run, enum note note)
{
    if (run->entry_count == run->entry_cap) {
        run->entry_cap = run->entry_cap * 2 + 8;
        run->entries = realloc(run->entries, run->entry_cap * sizeof *run->entries);
        if (run->entries == NULL)
            abort();
    }
    struct entry *entry = &run->entries[run->entry_count++];
    *entry = (struct entry){.step = oracle->world->steps,
                            .now_ns = oracle->world->now_ns,
                            .store_ms = sim_store_ms(oracle->world),
                            .note = note,
                            .verb = oracle->call.verb};
    return entry;
}

static struct grant *grant_find(const struct run *run, uint32_t attempt, const char *session)
{
    for (size_t i = run == NULL ? 0 : run->grant_count; i-- > 0;) {
        struct grant *grant = &run->grants[i];
        if (grant->attempt == attempt && strcmp(grant->session, session) == 0)
            return grant;
    }
    return NULL;
}

/* --- printing ------------------------------------------------------------------------------ */

static const char *const verbs[] = {"OTHER",  "ENQUEUE", "STEP",   "HELLO", "TICK",
                                    "CANCEL", "RETRY",   "FORGET", "PURGE"};
static const char *const events[] = {
#define EVENT(name, failures, crashes, losses) #name,
#include "core/run_rules.def"
};

static void record_print(const struct sim_record *record)
{
    if (record->state == '-') {
        fputs("(none)", stderr);
        return;
    }
    fprintf(stderr, "%c attempt %u failures %u crashes %u/%u losses %u%s at %" PRId64 " owner %s",
            record->state, record->attempt, record->failures, record->crashes, record->crash_streak,
            record->losses, record->has_cancel ? " cancel" : "", record->at_ms - SIM_START_MS,
            record->owner[0] != '\0' ? record->owner : "-");
}

static void entry_print(const struct entry *entry)
{
    static const char *const notes[] = {"change",  "granted", "granted again", "ack",        "beat",
                                        "started", "ended",   "acknowledged",  "rolled back"};
    fprintf(stderr, "  step %8" PRIu64 "  %12.6f s  store %10" PRId64 " ms  %-8s %s ", entry->step,
            (double)entry->now_ns / 1e9, entry->store_ms - SIM_START_MS, verbs[entry->verb],
            notes[entry->note]);
    if (entry->note == NOTE_CHANGE || entry->note == NOTE_ROLLED_BACK) {
        record_print(&entry->before);
        fputs("\n      -> ", stderr);
        record_print(&entry->after);
    } else if (entry->note != NOTE_ACKNOWLEDGED) {
        fprintf(stderr, "attempt %u session %s", entry->attempt, entry->session);
        if (entry->note == NOTE_ACK || entry->note == NOTE_ENDED)
            fprintf(stderr, " %s", events[entry->event]);
        if (entry->answer != '\0')
            fprintf(stderr, " answered %c", entry->answer);
    }
    fputc('\n', stderr);
}

void sim_violation(struct sim_oracle *oracle, const culex_uuid *id, const char *format, ...)
{
    const struct sim_world *world = oracle->world;
    va_list list;
    fprintf(stderr, "sim: VIOLATION seed %" PRIu64 " store %s step %" PRIu64 " at %.6f s: ",
            world->options.seed, world->options.is_sqlite ? "sqlite" : "redis", world->steps,
            (double)world->now_ns / 1e9);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    const struct run *run = id == NULL ? NULL : run_find(oracle, *id);
    if (run != NULL) {
        char text[CULEX_UUID_TEXT_SIZE];
        culex_uuid_format(run->id, text);
        fprintf(stderr, "history of run %s:\n", text);
        for (size_t i = 0; i < run->entry_count; i++)
            entry_print(&run->entries[i]);
    }
    fprintf(
        stderr, "again: ./dev sim --store %s --seed %" PRIu64 " --world-steps %" PRIu64 " --loud\n",
        world->options.is_sqlite ? "sqlite" : "redis", world->options.seed, world->options.steps);
    exit(3);
}

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
    if (is_exhausted && is_live(after->state))
        sim_violation(oracle, &run->id, "an exhausted run lives on");
}

/* Ids are remembered by the store's clock: where that was once further off than the horizon, and
 * came back, an id may have been forgotten that is young again. */
static bool is_forgetting_allowed(const struct sim_oracle *oracle, culex_uuid id)
{
    int64_t id_ms = 0;
    for (int i = 0; i < 6; i++)
        id_ms = id_ms << 8 | id.b[i];
    return oracle->clock_max_ms > id_ms + CULEX_ID_HORIZON_MS ||
           oracle->clock_min_ms < id_ms - CULEX_ID_HORIZON_MS;
}

static void change_new(struct sim_oracle *oracle, struct run *run, const struct sim_record *after)
{
    enum sim_verb verb = oracle->call.verb;
    if (verb != SIM_ENQUEUE && verb != SIM_TICK)
        sim_violation(oracle, &run->id, "a run comes out of nowhere");
    if (run->was_created && !is_forgetting_allowed(oracle, run->id))
        sim_violation(oracle, &run->id, "a known id is enqueued a second time");
    if ((after->state != 'S' && after->state != 'W') || after->attempt != 0 ||
        after->failures + after->crashes + after->losses != 0)
        sim_violation(oracle, &run->id, "a new run is not new");
    run->was_created = true;
    run->completions = 0;
}

static void change_gone(struct sim_oracle *oracle, const struct run *run)
{
    const struct sim_record *before = &run->record;
    switch (oracle->call.verb) {
    case SIM_PURGE:
        if (before->state == 'A')
            sim_violation(oracle, &run->id, "an active run is purged");
        SOMETIMES(PURGED_BY_OPERATOR);
        return;
    case SIM_FORGET:
        if (!is_final(before->state))
            sim_violation(oracle, &run->id, "a run that is not final is deleted");
        SOMETIMES(DELETED_BY_OPERATOR);
        return;
    default:
        if (!is_final(before->state) || before->at_ms > oracle->call.now_ms)
            sim_violation(oracle, &run->id, "a run is forgotten before its time");
        SOMETIMES(FORGOTTEN);
    }
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
}

/* The ack of the call that its holder sent for this run; NULL when there is none. */
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
            after->losses != before->losses)
            sim_violation(oracle, &run->id, "an ack is charged wrongly");
        call->acks[i].is_settled = true;
        return true;
    }
    return false;
}

static bool beat_explains(const struct sim_oracle *oracle, const struct run *run)
{
    const struct sim_call *call = &oracle->call;
    const struct sim_record *before = &run->record;
    if (call->verb != SIM_STEP || strcmp(call->session, before->owner) != 0)
        return false;
    for (size_t i = 0; i < call->beat_count; i++) {
        if (memcmp(&call->beats[i].id, &run->id, sizeof run->id) == 0 &&
            call->beats[i].attempt == before->attempt)
            return true;
    }
    return false;
}

static bool loss_explains(struct sim_oracle *oracle, const struct run *run,
                          const struct sim_record *after)
{
    const struct sim_record *before = &run->record;
    /* A beat may have brought the lease's end forward, to the end of the timeout. */
    if (oracle->call.verb != SIM_STEP || after->losses != before->losses + 1 ||
        (before->at_ms > oracle->call.now_ms && !beat_explains(oracle, run)))
        return false;
    if (oracle->world->faults + oracle->world->kills == 0 && !oracle->world->is_healing &&
        before->timeout_ms == 0)
        sim_violation(oracle, &run->id, "a lease is lost in calm weather");
    SOMETIMES(LEASE_LOST);
    if (after->state == 'X')
        SOMETIMES(DEAD_BY_LOSSES);
    return after->state == 'W' || after->state == 'X' || after->state == 'C';
}

static struct named *worker_find(struct sim_oracle *oracle, const char *queue, const char *worker)
{
    char name[128];
    snprintf(name, sizeof name, "%.62s|%.62s", queue, worker);
    for (size_t i = 0; i < oracle->worker_count; i++) {
        if (strcmp(oracle->workers[i].name, name) == 0)
            return &oracle->workers[i];
    }
    oracle->workers =
        realloc(oracle->workers, (oracle->worker_count + 1) * sizeof *oracle->workers);
    if (oracle->workers == NULL)
        abort();
    struct named *made = &oracle->workers[oracle->worker_count++];
    *made = (struct named){0};
    strcpy(made->name, name);
    return made;
}

static bool hello_explains(struct sim_oracle *oracle, const struct run *run,
                           const struct sim_record *after)
{
    const struct sim_call *call = &oracle->call;
    if (call->verb != SIM_HELLO)
        return false;
    const struct named *worker = worker_find(oracle, call->queue, call->worker);
    if (strcmp(worker->session, run->record.owner) != 0 ||
        strcmp(worker->session, call->session) == 0)
        return false;
    SOMETIMES(FORMER_LIFE_RELEASED);
    return (after->state == 'W' || after->state == 'C') && after->losses == run->record.losses &&
           after->failures == run->record.failures && after->crashes == run->record.crashes;
}

static void change_left(struct sim_oracle *oracle, struct run *run, const struct sim_record *after)
{
    if (!ack_explains(oracle, run, after) && !hello_explains(oracle, run, after) &&
        !loss_explains(oracle, run, after))
        sim_violation(oracle, &run->id, "taken from its holder without a reason");
    if (after->state == 'D' && ++run->completions > 1)
        sim_violation(oracle, &run->id, "a second completion is recorded");
    if (run->record.has_cancel && after->state == 'C')
        SOMETIMES(CANCELLED_AT_BEAT);
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
    if (after->has_cancel != before->has_cancel || !beat_explains(oracle, run))
        sim_violation(oracle, &run->id, "a lease is extended for somebody else");
}

static bool is_same_record(const struct sim_record *a, const struct sim_record *b)
{
    return a->state == b->state && a->attempt == b->attempt && a->failures == b->failures &&
           a->crashes == b->crashes && a->crash_streak == b->crash_streak &&
           a->losses == b->losses && a->has_cancel == b->has_cancel && a->at_ms == b->at_ms &&
           strcmp(a->owner, b->owner) == 0;
}

static void change_waiting(struct sim_oracle *oracle, struct run *run,
                           const struct sim_record *after)
{
    const struct sim_record *before = &run->record;
    const struct sim_call *call = &oracle->call;
    switch (after->state) {
    case 'A':
        change_claimed(oracle, run, after);
        return;
    case 'C':
        if (call->verb != SIM_CANCEL)
            sim_violation(oracle, &run->id, "cancelled by nobody");
        SOMETIMES(CANCEL_OF_WAITING);
        return;
    case 'X':
        if (call->verb != SIM_STEP || before->attempt != 0 || before->expires_at_ms == 0 ||
            call->now_ms < before->expires_at_ms)
            sim_violation(oracle, &run->id, "expired without a reason");
        SOMETIMES(EXPIRED);
        return;
    case 'W':
        if (before->state == 'S' && call->verb == SIM_STEP && before->at_ms <= call->now_ms)
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
    else if (after->losses < CULEX_LOSSES_MAX && before->state == 'A')
        SOMETIMES(DEAD_BY_DISCARD);
}

static void change_check(struct sim_oracle *oracle, struct run *run, const struct sim_record *after)
{
    char from = run->record.state;
    if (oracle->call.is_repeat)
        sim_violation(oracle, &run->id, "a repeated step changes something");
    if (from == '-')
        change_new(oracle, run, after);
    else if (after->state == '-')
        change_gone(oracle, run);
    else if (is_final(from))
        change_final(oracle, run, after);
    else if (from == 'A' && after->state == 'A')
        change_held(oracle, run, after);
    else if (from == 'A')
        change_left(oracle, run, after);
    else
        change_waiting(oracle, run, after);
    if (after->state != '-' && from != '-') {
        counters_check(oracle, run, after);
        death_count(&run->record, after);
    }
}

void sim_oracle_change(struct sim_oracle *oracle, culex_uuid id, const struct sim_record *after)
{
    struct run *run = run_get(oracle, id);
    if (is_same_record(&run->record, after))
        return;
    struct entry *entry = entry_add(oracle, run, NOTE_CHANGE);
    entry->before = run->record;
    entry->after = *after;
    if (!oracle->is_in_call)
        sim_violation(oracle, &id, "a record changes outside of any call");
    oracle->call.changes++;
    change_check(oracle, run, after);
    oracle->live += (size_t)is_live(after->state);
    oracle->live -= (size_t)is_live(run->record.state);
    run->record = *after;
}

/* --- calls --------------------------------------------------------------------------------- */

static struct session *session_find(struct sim_oracle *oracle, const struct sim_call *call)
{
    for (size_t i = oracle->session_count; i-- > 0;) {
        if (strcmp(oracle->sessions[i].name, call->session) == 0 &&
            strcmp(oracle->sessions[i].queue, call->queue) == 0)
            return &oracle->sessions[i];
    }
    oracle->sessions =
        realloc(oracle->sessions, (oracle->session_count + 1) * sizeof *oracle->sessions);
    if (oracle->sessions == NULL)
        abort();
    struct session *made = &oracle->sessions[oracle->session_count++];
    *made = (struct session){0};
    strcpy(made->name, call->session);
    strcpy(made->queue, call->queue);
    return made;
}

struct sim_call *sim_oracle_begin(struct sim_oracle *oracle)
{
    oracle->call.verb = SIM_OTHER;
    memset(&oracle->call, 0, offsetof(struct sim_call, acks));
    oracle->call.ack_answers[0] = oracle->call.beat_answers[0] = '\0';
    oracle->call.grant_count = 0;
    oracle->call.is_enqueued = oracle->call.is_failed = oracle->call.is_repeat = false;
    oracle->call.changes = 0;
    oracle->is_in_call = true;
    int64_t now_ms = sim_store_ms(oracle->world);
    oracle->clock_min_ms = now_ms < oracle->clock_min_ms ? now_ms : oracle->clock_min_ms;
    oracle->clock_max_ms = now_ms > oracle->clock_max_ms ? now_ms : oracle->clock_max_ms;
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
    const struct session *session = session_find(oracle, call);
    call->is_repeat = session->has_nonce && session->nonce == call->nonce &&
                      !(session->was_idle && oracle->world->options.is_sqlite);
    for (size_t i = 0; i < call->ack_count; i++) {
        struct run *run = run_find(oracle, call->acks[i].id);
        call->acks[i].is_mine = is_held(run, call->acks[i].attempt, call->session);
        call->acks[i].is_settled = false;
    }
    for (size_t i = 0; i < call->beat_count; i++)
        call->beats[i].is_mine =
            is_held(run_find(oracle, call->beats[i].id), call->beats[i].attempt, call->session);
}

static void acks_check(struct sim_oracle *oracle, const struct session *session)
{
    struct sim_call *call = &oracle->call;
    if (strlen(call->ack_answers) != call->ack_count)
        sim_violation(oracle, NULL, "a step answers another number of acks");
    if (call->is_repeat && strcmp(call->ack_answers, session->acks) != 0)
        sim_violation(oracle, NULL, "a repeated step answers otherwise: %s, before %s",
                      call->ack_answers, session->acks);
    for (size_t i = 0; i < call->ack_count; i++) {
        const culex_uuid *id = &call->acks[i].id;
        struct run *run = run_find(oracle, *id);
        char answer = call->ack_answers[i];
        if (run == NULL)
            sim_violation(oracle, NULL, "an ack of a run that never was");
        struct entry *entry = entry_add(oracle, run, NOTE_ACK);
        strcpy(entry->session, call->session);
        entry->attempt = call->acks[i].attempt;
        entry->event = (int)call->acks[i].event;
        entry->answer = answer;
        struct grant *grant = grant_find(run, call->acks[i].attempt, call->session);
        if (grant == NULL)
            sim_violation(oracle, id, "an ack of what was never granted");
        /* What was sent once is sent again as it was, or a lost answer would cost something. */
        if (grant->is_acked && grant->ack_nonce != call->nonce)
            sim_violation(oracle, id, "an ack is repeated in another step");
        grant->is_acked = true;
        grant->ack_nonce = call->nonce;
        if (call->is_repeat)
            continue;
        if (call->acks[i].is_mine && answer != 'O')
            sim_violation(oracle, id, "the holder's result is refused");
        if (!call->acks[i].is_mine && answer == 'O')
            sim_violation(oracle, id, "a result of somebody who does not hold the run is accepted");
        if (answer == 'O' && !call->acks[i].is_settled)
            sim_violation(oracle, id, "an accepted result changes nothing");
        if (answer == 'O' && grant->is_accepted)
            sim_violation(oracle, id, "two results of one attempt are accepted");
        grant->is_accepted |= answer == 'O';
        if (answer == 'O' && !grant->is_started && call->acks[i].event == CULEX_EVENT_RELEASE)
            SOMETIMES(UNKNOWN_JOB_GIVEN_BACK);
        if (answer == 'S' || answer == 'G')
            SOMETIMES(STALE_ACK_REFUSED);
        if (answer == 'R')
            SOMETIMES(DONE_REPEATED);
    }
}

static void beats_check(struct sim_oracle *oracle, const struct session *session)
{
    struct sim_call *call = &oracle->call;
    if (strlen(call->beat_answers) != call->beat_count)
        sim_violation(oracle, NULL, "a step answers another number of beats");
    if (call->is_repeat && strcmp(call->beat_answers, session->beats) != 0)
        sim_violation(oracle, NULL, "a repeated step answers its beats otherwise");
    for (size_t i = 0; i < call->beat_count && !call->is_repeat; i++) {
        struct run *run = run_find(oracle, call->beats[i].id);
        char answer = call->beat_answers[i];
        bool is_granted = answer == 'O' || answer == 'C';
        if (is_granted != call->beats[i].is_mine)
            sim_violation(oracle, &call->beats[i].id, "a beat is answered %c", answer);
        if (!is_granted)
            SOMETIMES(STALE_BEAT_REFUSED);
        struct grant *grant = grant_find(run, call->beats[i].attempt, call->session);
        if (grant != NULL && grant->refused_nonce != 0 && call->nonce > grant->refused_nonce)
            sim_violation(oracle, &call->beats[i].id, "the engine goes on with a lost run");
        if (grant != NULL && !is_granted && call->nonce > session->newest_nonce)
            grant->refused_nonce = call->nonce;
        if (grant != NULL && is_granted)
            grant->lease_end_ns = oracle->world->now_ns + call->lease_ms * SIM_MS;
    }
}

static void grant_new(struct sim_oracle *oracle, struct run *run, uint32_t attempt)
{
    const struct sim_call *call = &oracle->call;
    run->grants = realloc(run->grants, (run->grant_count + 1) * sizeof *run->grants);
    if (run->grants == NULL)
        abort();
    struct grant *grant = &run->grants[run->grant_count++];
    *grant = (struct grant){.attempt = attempt,
                            .epoch = oracle->epoch,
                            .lease_end_ns = oracle->world->now_ns + call->lease_ms * SIM_MS};
    strcpy(grant->session, call->session);
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
        struct run *run = run_get(oracle, *id);
        struct grant *grant = grant_find(run, attempt, call->session);
        struct entry *entry =
            entry_add(oracle, run, call->is_repeat ? NOTE_GRANT_AGAIN : NOTE_GRANT);
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
}

static void step_answered(struct sim_oracle *oracle)
{
    struct sim_call *call = &oracle->call;
    struct session *session = session_find(oracle, call);
    if (call->is_repeat)
        SOMETIMES(STEP_REPEATED_BY_NONCE);
    acks_check(oracle, session);
    beats_check(oracle, session);
    grants_check(oracle);
    session->nonce = call->nonce;
    if (call->nonce > session->newest_nonce)
        session->newest_nonce = call->nonce;
    session->was_idle = call->ack_count + call->beat_count + call->grant_count == 0;
    session->has_nonce = true;
    memcpy(session->acks, call->ack_answers, sizeof session->acks);
    memcpy(session->beats, call->beat_answers, sizeof session->beats);
}

static void tick_answered(struct sim_oracle *oracle)
{
    const struct sim_call *call = &oracle->call;
    struct schedule *schedule = NULL;
    for (size_t i = 0; i < oracle->schedule_count; i++) {
        if (strcmp(oracle->schedules[i].name, call->worker) == 0)
            schedule = &oracle->schedules[i];
    }
    if (schedule == NULL) {
        oracle->schedules =
            realloc(oracle->schedules, (oracle->schedule_count + 1) * sizeof *oracle->schedules);
        if (oracle->schedules == NULL)
            abort();
        schedule = &oracle->schedules[oracle->schedule_count++];
        *schedule = (struct schedule){0};
        snprintf(schedule->name, sizeof schedule->name, "%s", call->worker);
    }
    if (!call->is_enqueued) {
        SOMETIMES(TICK_LOST_THE_RACE);
        return;
    }
    SOMETIMES(TICK_TAKEN);
    if (schedule->has_mark && call->mark_ms < schedule->mark_ms + call->interval_ms)
        sim_violation(oracle, NULL, "schedule %s: tick %" PRId64 " is taken after %" PRId64,
                      schedule->name, call->mark_ms - SIM_START_MS,
                      schedule->mark_ms - SIM_START_MS);
    schedule->has_mark = true;
    schedule->mark_ms = call->mark_ms;
}

void sim_oracle_answered(struct sim_oracle *oracle)
{
    struct sim_call *call = &oracle->call;
    oracle->is_in_call = false;
    if (call->is_failed) {
        if (call->changes > 0)
            sim_violation(oracle, NULL, "a refused %s has changed something", verbs[call->verb]);
        return;
    }
    if (call->verb == SIM_STEP)
        step_answered(oracle);
    else if (call->verb == SIM_TICK)
        tick_answered(oracle);
    else if (call->verb == SIM_HELLO)
        strcpy(worker_find(oracle, call->queue, call->worker)->session, call->session);
}

/* --- engine and producers ------------------------------------------------------------------ */

void sim_oracle_started(struct sim_oracle *oracle, culex_uuid id, uint32_t attempt,
                        const char *session)
{
    struct run *run = run_get(oracle, id);
    struct entry *entry = entry_add(oracle, run, NOTE_STARTED);
    struct grant *grant = grant_find(run, attempt, session);
    entry->attempt = attempt;
    strcpy(entry->session, session);
    if (grant == NULL)
        sim_violation(oracle, &id, "a run is executed that was never granted");
    if (grant->is_started && grant->epoch == oracle->epoch && oracle->epoch == 0)
        sim_violation(oracle, &id, "one grant is executed twice");
    grant->is_started = true;
}

void sim_oracle_ended(struct sim_oracle *oracle, culex_uuid id, uint32_t attempt,
                      const char *session, enum culex_run_event event)
{
    struct run *run = run_get(oracle, id);
    struct entry *entry = entry_add(oracle, run, NOTE_ENDED);
    struct grant *grant = grant_find(run, attempt, session);
    entry->attempt = attempt;
    entry->event = (int)event;
    strcpy(entry->session, session);
    if (grant == NULL)
        sim_violation(oracle, &id, "an execution ends that was never granted");
    grant->is_ended = true;
    grant->ended_as = event;
}

void sim_oracle_worker_ended(struct sim_oracle *oracle, const char *session)
{
    for (size_t i = 0; i < oracle->run_count && oracle->epoch == 0; i++) {
        struct run *run = oracle->runs[i];
        for (size_t k = 0; k < run->grant_count; k++) {
            const struct grant *grant = &run->grants[k];
            if (grant->is_ended && !grant->is_acked && strcmp(grant->session, session) == 0)
                sim_violation(oracle, &run->id,
                              "the engine took attempt %u's end and never told the store",
                              grant->attempt);
        }
    }
}

bool sim_oracle_is_overdue(const struct sim_oracle *oracle, culex_uuid id, uint32_t attempt,
                           const char *session, int64_t slack_ns)
{
    const struct grant *grant = grant_find(run_find(oracle, id), attempt, session);
    return grant != NULL && oracle->world->now_ns > grant->lease_end_ns + slack_ns;
}

void sim_oracle_acknowledged(struct sim_oracle *oracle, culex_uuid id)
{
    struct run *run = run_get(oracle, id);
    entry_add(oracle, run, NOTE_ACKNOWLEDGED);
    run->is_acknowledged = true;
    if (!run->was_created && oracle->epoch == 0)
        sim_violation(oracle, &id, "an enqueue is acknowledged that never happened");
}

void sim_oracle_refused(struct sim_oracle *oracle, culex_uuid id)
{
    const struct run *run = run_find(oracle, id);
    if (run != NULL && run->was_created && oracle->epoch == 0)
        sim_violation(oracle, &id, "an enqueue that happened is refused for certain");
}

/* --- snapshots ----------------------------------------------------------------------------- */

void sim_oracle_mark(struct sim_oracle *oracle)
{
    for (size_t i = 0; i < oracle->run_count; i++) {
        oracle->runs[i]->marked = oracle->runs[i]->record;
        oracle->runs[i]->is_marked = true;
    }
    for (size_t i = 0; i < oracle->schedule_count; i++)
        oracle->schedules[i].marked_ms = oracle->schedules[i].mark_ms;
    for (size_t i = 0; i < oracle->worker_count; i++)
        strcpy(oracle->workers[i].marked, oracle->workers[i].session);
    free(oracle->marked_sessions);
    size_t size = oracle->session_count * sizeof *oracle->sessions;
    oracle->marked_sessions = malloc(size + 1);
    if (oracle->marked_sessions == NULL)
        abort();
    if (size > 0)
        memcpy(oracle->marked_sessions, oracle->sessions, size);
    oracle->marked_count = oracle->session_count;
}

void sim_oracle_roll_back(struct sim_oracle *oracle)
{
    oracle->epoch++;
    oracle->live = 0;
    for (size_t i = 0; i < oracle->run_count; i++) {
        struct run *run = oracle->runs[i];
        struct sim_record empty = {.state = '-'};
        struct entry *entry = entry_add(oracle, run, NOTE_ROLLED_BACK);
        entry->before = run->record;
        if (run->record.state != '-' && (!run->is_marked || run->marked.state == '-'))
            oracle->lost++;
        run->record = run->is_marked ? run->marked : empty;
        run->was_created = run->was_created && run->record.state != '-';
        run->completions = run->record.state == 'D';
        entry->after = run->record;
        oracle->live += is_live(run->record.state);
    }
    for (size_t i = 0; i < oracle->schedule_count; i++)
        oracle->schedules[i].has_mark = false;
    for (size_t i = 0; i < oracle->worker_count; i++)
        strcpy(oracle->workers[i].session, oracle->workers[i].marked);
    for (size_t i = 0; i < oracle->session_count; i++)
        oracle->sessions[i].has_nonce = false;
    if (oracle->marked_count > 0) /* sessions are only ever added, so places agree */
        memcpy(oracle->sessions, oracle->marked_sessions,
               oracle->marked_count * sizeof *oracle->sessions);
}

struct sim_call *sim_oracle_call_now(struct sim_oracle *oracle)
{
    return &oracle->call;
}

int64_t sim_oracle_now_ms(const struct sim_oracle *oracle)
{
    return sim_store_ms(oracle->world);
}

/* --- life ---------------------------------------------------------------------------------- */

struct sim_oracle *sim_oracle_create(struct sim_world *world)
{
    struct sim_oracle *oracle = calloc(1, sizeof *oracle);
    if (oracle == NULL)
        abort();
    oracle->world = world;
    oracle->clock_min_ms = INT64_MAX;
    return oracle;
}

void sim_oracle_free(struct sim_oracle *oracle)
{
    for (size_t i = 0; i < oracle->run_count; i++) {
        free(oracle->runs[i]->grants);
        free(oracle->runs[i]->entries);
        free(oracle->runs[i]);
    }
    for (size_t i = 0; i < oracle->index.cap; i++)
        sim_text_drop(oracle->index.entries[i].key);
    free(oracle->index.entries);
    free(oracle->runs);
    free(oracle->sessions);
    free(oracle->marked_sessions);
    free(oracle->schedules);
    free(oracle->workers);
    free(oracle);
}

size_t sim_oracle_live(const struct sim_oracle *oracle)
{
    return oracle->live;
}

size_t sim_oracle_count(const struct sim_oracle *oracle)
{
    return oracle->run_count;
}

size_t sim_oracle_lost(const struct sim_oracle *oracle)
{
    return oracle->lost;
}

const struct sim_record *sim_oracle_find(const struct sim_oracle *oracle, culex_uuid id)
{
    const struct run *run = run_find(oracle, id);
    return run == NULL ? NULL : &run->record;
}

void sim_oracle_check_live(struct sim_oracle *oracle)
{
    for (size_t i = 0; i < oracle->run_count; i++) {
        if (is_live(oracle->runs[i]->record.state))
            sim_violation(oracle, &oracle->runs[i]->id, "not final after healing");
    }
}

void sim_oracle_each(const struct sim_oracle *oracle,
                     void (*visit)(void *user, culex_uuid id, const struct sim_record *record),
                     void *user)
{
    for (size_t i = 0; i < oracle->run_count; i++) {
        if (oracle->runs[i]->record.state != '-')
            visit(user, oracle->runs[i]->id, &oracle->runs[i]->record);
    }
}
