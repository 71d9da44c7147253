/* sim/oracle.c - what engine and producers say, snapshots, and the life of the books. */
#include "books.h"

#include <stdlib.h>
#include <string.h>

/* --- engine and producers ------------------------------------------------------------------ */

void sim_oracle_started(struct sim_oracle *oracle, culex_uuid id, uint32_t attempt,
                        const char *session)
{
    struct run *run = sim_run_get(oracle, id);
    struct entry *entry = sim_entry_add(oracle, run, NOTE_STARTED);
    struct grant *grant = sim_grant_find(run, attempt, session);
    entry->attempt = attempt;
    strcpy(entry->session, session);
    if (grant == NULL)
        sim_violation(oracle, &id, "a run is executed that was never granted");
    if (grant->is_started && grant->epoch == oracle->epoch && oracle->epoch == 0)
        sim_violation(oracle, &id, "one grant is executed twice");
    grant->is_started = true;
    sim_company_check(oracle, session, id);
}

void sim_oracle_begun(struct sim_oracle *oracle, culex_uuid id, uint32_t attempt,
                      const char *session)
{
    struct grant *grant = sim_grant_find(sim_run_get(oracle, id), attempt, session);
    if (grant != NULL)
        grant->has_begun = true;
}

void sim_oracle_ended(struct sim_oracle *oracle, culex_uuid id, uint32_t attempt,
                      const char *session, enum culex_run_event event, bool is_late)
{
    struct run *run = sim_run_get(oracle, id);
    struct entry *entry = sim_entry_add(oracle, run, NOTE_ENDED);
    struct grant *grant = sim_grant_find(run, attempt, session);
    entry->attempt = attempt;
    entry->event = (int)event;
    strcpy(entry->session, session);
    if (grant == NULL)
        sim_violation(oracle, &id, "an execution ends that was never granted");
    grant->is_ended = true;
    grant->is_dropped = is_late;
    if (is_late)
        SOMETIMES(END_AFTER_THE_LEASE);
    grant->ended_as = event;
}

void sim_oracle_given_up(struct sim_oracle *oracle, culex_uuid id, uint32_t attempt,
                         const char *session)
{
    struct grant *grant = sim_grant_find(sim_run_get(oracle, id), attempt, session);
    if (grant != NULL)
        grant->is_given_up = true;
}

/* Who was charged twice for the company that it was in is so no more. */
void sim_oracle_murder(struct sim_oracle *oracle, culex_uuid killer, const char *session)
{
    if (sim_run_get(oracle, killer)->record.losses >= CULEX_SUSPECT_LOSSES)
        SOMETIMES(SUSPECT_TAKES_ITS_WORKER);
    for (size_t i = 0; i < oracle->run_count; i++) {
        const struct run *run = oracle->runs[i];
        const struct sim_record *record = &run->record;
        if (record->state != 'A' || !record->is_started || record->losses < CULEX_SUSPECT_LOSSES ||
            strcmp(record->owner, session) != 0 || memcmp(&run->id, &killer, sizeof killer) == 0)
            continue;
        sim_violation(oracle, &run->id,
                      "a suspect stands beside a run that takes its worker along");
    }
}

void sim_oracle_worker_ended(struct sim_oracle *oracle, const char *session)
{
    for (size_t i = 0; i < oracle->run_count && oracle->epoch == 0; i++) {
        struct run *run = oracle->runs[i];
        for (size_t k = 0; k < run->grant_count; k++) {
            const struct grant *grant = &run->grants[k];
            if (grant->is_ended && !grant->is_dropped && !grant->is_acked &&
                strcmp(grant->session, session) == 0)
                sim_violation(oracle, &run->id,
                              "the engine took attempt %u's end and never told the store",
                              grant->attempt);
        }
    }
}

bool sim_oracle_is_overdue(const struct sim_oracle *oracle, culex_uuid id, uint32_t attempt,
                           const char *session, int64_t slack_ns)
{
    const struct grant *grant = sim_grant_find(sim_run_find(oracle, id), attempt, session);
    return grant != NULL && oracle->world->now_ns > grant->lease_end_ns + slack_ns;
}

void sim_oracle_acknowledged(struct sim_oracle *oracle, culex_uuid id)
{
    struct run *run = sim_run_get(oracle, id);
    sim_entry_add(oracle, run, NOTE_ACKNOWLEDGED);
    run->is_acknowledged = true;
    if (!run->was_created && oracle->epoch == 0)
        sim_violation(oracle, &id, "an enqueue is acknowledged that never happened");
}

void sim_oracle_clock_seen(struct sim_oracle *oracle)
{
    int64_t now_ms = sim_store_ms(oracle->world);
    oracle->clock_min_ms = now_ms < oracle->clock_min_ms ? now_ms : oracle->clock_min_ms;
    oracle->clock_max_ms = now_ms > oracle->clock_max_ms ? now_ms : oracle->clock_max_ms;
}

struct keyed *sim_keyed_find(struct keys *keys, const char *key)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (strcmp(keys->list[i].key, key) == 0)
            return &keys->list[i];
    }
    keys->list = realloc(keys->list, (keys->count + 1) * sizeof *keys->list);
    if (keys->list == NULL)
        abort();
    struct keyed *made = &keys->list[keys->count++];
    *made = (struct keyed){.until_ms = INT64_MIN};
    snprintf(made->key, sizeof made->key, "%s", key);
    return made;
}

static int64_t time_of(culex_uuid id)
{
    int64_t ms = 0;
    for (int i = 0; i < 6; i++)
        ms = ms << 8 | id.b[i];
    return ms;
}

/* The run that the key has brought tells when that was. One that came before is told late, after an
 * answer that was lost: enqueue.c has judged it as it came. */
void sim_oracle_keyed(struct sim_oracle *oracle, const char *key, culex_uuid id, int64_t window_ms)
{
    struct keyed *keyed = sim_keyed_find(&oracle->told, key);
    bool is_same = memcmp(&keyed->id, &id, sizeof id) == 0;
    bool is_late = !is_same && time_of(id) < time_of(keyed->id);
    if (is_same)
        SOMETIMES(KEY_HELD_OFF_A_SECOND_RUN);
    if (is_same || is_late)
        return;
    if (keyed->epoch == oracle->epoch && keyed->until_ms > oracle->clock_max_ms)
        sim_violation(oracle, &id, "a second run of the key %s within its window", key);
    if (keyed->until_ms != INT64_MIN)
        SOMETIMES(KEY_FREE_AGAIN);
    keyed->id = id;
    keyed->epoch = oracle->epoch;
    keyed->until_ms = time_of(id) + window_ms;
}

/* --- snapshots ----------------------------------------------------------------------------- */

void sim_oracle_mark(struct sim_oracle *oracle)
{
    for (size_t i = 0; i < oracle->run_count; i++) {
        oracle->runs[i]->marked = oracle->runs[i]->record;
        oracle->runs[i]->is_marked = true;
    }
    sim_follow_mark(oracle);
    sim_batch_mark(oracle);
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
        struct entry *entry = sim_entry_add(oracle, run, NOTE_ROLLED_BACK);
        entry->before = run->record;
        if (run->record.state != '-' && (!run->is_marked || run->marked.state == '-'))
            oracle->lost++;
        run->record = run->is_marked ? run->marked : empty;
        run->was_created = run->was_created && run->record.state != '-';
        run->completions = run->record.state == 'D';
        /* The store does not know any more that it took a result, so it may come once more. */
        for (size_t k = 0; k < run->grant_count && run->record.state == 'A'; k++)
            run->grants[k].is_accepted = false;
        entry->after = run->record;
        sim_wait_look(oracle, run, run->record.state);
        oracle->live += sim_is_live(run->record.state);
    }
    sim_follow_roll_back(oracle);
    sim_batch_roll_back(oracle);
    for (size_t i = 0; i < oracle->schedule_count; i++)
        oracle->schedules[i] = (struct schedule){.mark_ms = oracle->schedules[i].marked_ms,
                                                 .marked_ms = oracle->schedules[i].marked_ms};
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

struct sim_world *sim_oracle_world(const struct sim_oracle *oracle)
{
    return oracle->world;
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
    free(oracle->orders);
    free(oracle->askings);
    free(oracle->batches);
    free(oracle->waits);
    free(oracle->told.list);
    free(oracle->kept.list);
    free(oracle->windows.list);
    free(oracle->left.list);
    free(oracle->refused.list);
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
    const struct run *run = sim_run_find(oracle, id);
    return run == NULL ? NULL : &run->record;
}

void sim_oracle_check_live(struct sim_oracle *oracle)
{
    for (size_t i = 0; i < oracle->run_count; i++) {
        if (sim_is_live(oracle->runs[i]->record.state))
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
