/* sim/books.c - runs, grants and the history of each run. */
#include "books.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

uint64_t sim_situations[SIM_SITUATION_COUNT];

/* --- books --------------------------------------------------------------------------------- */

bool sim_is_final(char state)
{
    return state == 'D' || state == 'X' || state == 'C';
}

bool sim_is_live(char state)
{
    return state != '-' && !sim_is_final(state);
}

struct run *sim_run_find(const struct sim_oracle *oracle, culex_uuid id)
{
    const struct sim_entry *entry = sim_dict_find(&oracle->index, id.b, sizeof id.b);
    return entry == NULL ? NULL : oracle->runs[(size_t)entry->slot.score];
}

struct run *sim_run_get(struct sim_oracle *oracle, culex_uuid id)
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

struct entry *sim_entry_add(struct sim_oracle *oracle, struct run *run, enum note note)
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

struct grant *sim_grant_find(const struct run *run, uint32_t attempt, const char *session)
{
    for (size_t i = run == NULL ? 0 : run->grant_count; i-- > 0;) {
        struct grant *grant = &run->grants[i];
        if (grant->attempt == attempt && strcmp(grant->session, session) == 0)
            return grant;
    }
    return NULL;
}

struct named *sim_worker_find(struct sim_oracle *oracle, const char *queue, const char *worker)
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

/* --- printing ------------------------------------------------------------------------------ */

const char *const sim_verbs[] = {"OTHER",  "ENQUEUE",      "EACH",         "STEP",   "HELLO",
                                 "TICK",   "SCHEDULE_SET", "SCHEDULE_RUN", "CANCEL", "RETRY",
                                 "FORGET", "PURGE",        "MOVE",         "FOLLOW", "BATCH"};
static const char *const events[] = {
#define EVENT(name, failures, crashes, losses, teller) #name,
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
            (double)entry->now_ns / 1e9, entry->store_ms - SIM_START_MS, sim_verbs[entry->verb],
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
    const struct run *run = id == NULL ? NULL : sim_run_find(oracle, *id);
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
