/* sim/wait.c - waits for ends of runs: what is told must have been so while the call lasted. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "books.h"

struct wait {
    culex_uuid id;
    const struct sim_process *process;
    bool is_open, has_news;
    char states[8];             /* in which the run was since the call began */
    int64_t begun_ns, ended_ns; /* when it was first seen as ended; -1: not yet */
};

static void state_note(const struct sim_oracle *oracle, struct wait *wait, char state)
{
    state = sim_is_live(state) ? 'W' : state;
    wait->has_news = wait->has_news || state != 'W';
    if (state != 'W' && wait->ended_ns < 0)
        wait->ended_ns = oracle->world->now_ns;
    if (strchr(wait->states, state) == NULL)
        wait->states[strlen(wait->states)] = state;
}

size_t sim_wait_begin(struct sim_oracle *oracle, const struct sim_process *process, culex_uuid id)
{
    const struct run *run = sim_run_find(oracle, id);
    size_t place = 0;
    while (place < oracle->wait_count && oracle->waits[place].is_open)
        place++;
    if (place == oracle->wait_count) {
        oracle->waits = realloc(oracle->waits, (place + 1) * sizeof *oracle->waits);
        if (oracle->waits == NULL)
            abort();
        oracle->wait_count++;
    }
    oracle->waits[place] = (struct wait){.id = id,
                                         .process = process,
                                         .is_open = true,
                                         .begun_ns = oracle->world->now_ns,
                                         .ended_ns = -1};
    state_note(oracle, &oracle->waits[place], run == NULL ? '-' : run->record.state);
    return place;
}

void sim_wait_look(const struct sim_oracle *oracle, const struct run *run, char state)
{
    for (size_t i = 0; i < oracle->wait_count; i++) {
        struct wait *wait = &oracle->waits[i];
        if (wait->is_open && memcmp(&wait->id, &run->id, sizeof run->id) == 0)
            state_note(oracle, wait, state);
    }
}

bool sim_wait_take_news(struct sim_oracle *oracle, const struct sim_process *process)
{
    bool has_news = false;
    for (size_t i = 0; i < oracle->wait_count; i++) {
        struct wait *wait = &oracle->waits[i];
        if (!wait->is_open || wait->process != process)
            continue;
        has_news = has_news || wait->has_news;
        wait->has_news = false;
    }
    return has_news;
}

static void end_count(const struct wait *wait, int64_t late_ns, culex_wait_end end)
{
    if (end == CULEX_WAIT_PENDING)
        SOMETIMES(WAIT_PENDING);
    if (end == CULEX_WAIT_DONE)
        SOMETIMES(WAIT_DONE);
    if (end == CULEX_WAIT_DEAD)
        SOMETIMES(WAIT_DEAD);
    if (end == CULEX_WAIT_FORGOTTEN)
        SOMETIMES(WAIT_FORGOTTEN);
    if (end != CULEX_WAIT_PENDING && wait->ended_ns > wait->begun_ns && late_ns < SIM_SECOND / 5)
        SOMETIMES(WAIT_WOKEN);
}

void sim_wait_told(struct sim_oracle *oracle, size_t place, culex_wait_end end)
{
    static const char states[] = {[CULEX_WAIT_PENDING] = 'W',
                                  [CULEX_WAIT_DONE] = 'D',
                                  [CULEX_WAIT_DEAD] = 'X',
                                  [CULEX_WAIT_CANCELLED] = 'C',
                                  [CULEX_WAIT_FORGOTTEN] = '-'};
    const struct wait *wait = &oracle->waits[place];
    int64_t late_ns = oracle->world->now_ns - wait->ended_ns;
    if (strchr(wait->states, states[end]) == NULL)
        sim_violation(oracle, &wait->id, "who waits for it is told %s, and it was %s",
                      culex_wait_end_name(end), wait->states);
    end_count(wait, late_ns, end);
}

int64_t sim_wait_end(struct sim_oracle *oracle, size_t place)
{
    struct wait *wait = &oracle->waits[place];
    wait->is_open = false;
    return wait->ended_ns;
}
