/* sim/process.c - processes as coroutines: their clocks, waits, pauses and deaths. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

enum { LAST_CALLS_MAX = 2000000, SPINS_MAX = 20000 };

/* --- turns --------------------------------------------------------------------------------- */

static void turn_give(struct sim_process *process)
{
    struct sim_world *world = process->world;
    process->is_waiting = false;
    world->current = process;
    swapcontext(&world->main, &process->context);
    world->current = NULL;
}

static void process_enter(unsigned high, unsigned low)
{
    struct sim_process *process = (struct sim_process *)((uintptr_t)high << 32 | (uintptr_t)low);
    if (!process->is_killed)
        process->body(process);
    process->is_done = true;
    swapcontext(&process->context, &process->world->main);
}

static void resume_event(struct sim_world *world, void *subject, uint64_t token,
                         struct sim_bytes *bytes)
{
    struct sim_process *process = subject;
    (void)bytes;
    if (process->is_done || !process->is_waiting || process->wait_token != token) {
        world->steps--; /* a wait that ended otherwise */
        return;
    }
    if (sim_process_is_paused(process)) {
        sim_at(world, process->paused_until_ns, resume_event, process, token, NULL);
        return;
    }
    turn_give(process);
}

void sim_process_wait(struct sim_process *process, int64_t timeout_ns)
{
    struct sim_world *world = process->world;
    if (process->is_killed) {
        if (++process->last_calls > LAST_CALLS_MAX)
            sim_violation(world->oracle, NULL, "a killed process does not come to an end");
        process->drift_ns += timeout_ns > 0 ? timeout_ns : 0;
        return;
    }
    process->is_waiting = true;
    process->wait_token++;
    if (timeout_ns >= 0)
        sim_at(world, world->now_ns + timeout_ns, resume_event, process, process->wait_token, NULL);
    swapcontext(&process->context, &world->main);
}

void sim_process_poke(struct sim_process *process)
{
    struct sim_world *world = process->world;
    if (!process->is_done && process->is_waiting && !process->is_killed)
        sim_at(world, world->now_ns + sim_below(&world->random, 20) * SIM_US, resume_event, process,
               process->wait_token, NULL);
}

/* --- the table of effects ------------------------------------------------------------------ */

static int64_t env_boottime_ns(void *self)
{
    const struct sim_process *process = self;
    return process->world->now_ns + process->drift_ns;
}

static int64_t env_clock_ms(void *self)
{
    const struct sim_process *process = self;
    return sim_store_ms(process->world) + process->clock_off_ms;
}

static void env_random(void *self, void *ret_bytes, size_t len)
{
    struct sim_process *process = self;
    unsigned char *at = ret_bytes;
    while (len > 0) {
        uint64_t bits = sim_draw(&process->random);
        size_t part = len < sizeof bits ? len : sizeof bits;
        memcpy(at, &bits, part);
        at += part;
        len -= part;
    }
}

/* Of a machine of this world's own: what is told of it takes more or fewer bytes, and is at times
 * as before. */
static void env_process_facts(void *self, struct culex_process_facts *ret_facts)
{
    struct sim_process *process = self;
    int64_t grown = sim_below(&process->random, 3);
    *ret_facts = (struct culex_process_facts){
        .host = "sim", .pid = 10, .memory_bytes = (INT64_C(1) << 23) << grown};
}

static int fds_look(struct sim_process *process, struct pollfd *fds, nfds_t count)
{
    int ready = 0;
    for (nfds_t i = 0; i < count; i++) {
        fds[i].revents = 0;
        if (fds[i].fd < 0)
            continue;
        if (fds[i].fd == SIM_FD_HANDS)
            fds[i].revents = sim_hands_are_full(process->hands) ? POLLIN : 0;
        else if (fds[i].fd == SIM_FD_WAKE)
            fds[i].revents = process->is_woken ? POLLIN : 0;
        else if (fds[i].fd >= SIM_FD_FIRST)
            fds[i].revents = sim_conn_events(process->world, fds[i].fd, fds[i].events);
        else if (process->stops_pending > 0 || (process->is_killed && count == 1)) {
            process->stops_pending = 0;
            fds[i].revents = POLLIN;
        }
        ready += fds[i].revents != 0;
    }
    return ready;
}

static int env_poll(void *self, struct pollfd *fds, nfds_t count, int timeout_ms)
{
    struct sim_process *process = self;
    int ready = fds_look(process, fds, count);
    if (process->is_killed && ready == 0) /* time hurries, even where nobody waits */
        sim_process_wait(process, (timeout_ms > 0 ? timeout_ms : 1) * SIM_MS);
    if (timeout_ms == 0 && process->spun_ns == process->world->now_ns &&
        ++process->spins > SPINS_MAX)
        sim_violation(process->world->oracle, NULL, "%s spins", process->name);
    if (process->spun_ns != process->world->now_ns)
        process->spins = 0;
    process->spun_ns = process->world->now_ns;
    if (process->is_killed || ready > 0 || timeout_ms == 0)
        return ready;
    sim_process_wait(process, timeout_ms < 0 ? -1 : timeout_ms * SIM_MS);
    return fds_look(process, fds, count);
}

/* --- life ---------------------------------------------------------------------------------- */

struct sim_process *sim_process_start(struct sim_world *world, const char *name,
                                      void (*body)(struct sim_process *process))
{
    struct sim_process *process = calloc(1, sizeof *process);
    if (process == NULL || (process->stack = malloc(SIM_STACK)) == NULL)
        abort();
    process->world = world;
    snprintf(process->name, sizeof process->name, "%s", name);
    process->random.state = sim_draw(&world->random);
    process->env = (struct culex_env){.self = process,
                                      .clock_ms = env_clock_ms,
                                      .boottime_ns = env_boottime_ns,
                                      .random = env_random,
                                      .process_facts = env_process_facts,
                                      .connect = sim_connect,
                                      .recv = sim_recv,
                                      .send = sim_send,
                                      .poll = env_poll,
                                      .hang_up = sim_hang_up,
                                      .close = sim_close,
                                      .is_simulated = true};
    process->body = body;
    getcontext(&process->context);
    process->context.uc_stack.ss_sp = process->stack;
    process->context.uc_stack.ss_size = SIM_STACK;
    process->context.uc_link = NULL;
    uintptr_t address = (uintptr_t)process;
    makecontext(&process->context, (void (*)(void))process_enter, 2, (unsigned)(address >> 32),
                (unsigned)address);
    process->next = world->processes;
    world->processes = process;
    process->is_waiting = true;
    sim_at(world, world->now_ns, resume_event, process, process->wait_token, NULL);
    return process;
}

void sim_process_free(struct sim_process *process)
{
    free(process->stack);
    free(process);
}

/* Its connections are gone from one moment to the next. Whether the server hears of it depends:
 * a process that dies closes them, a machine that dies does not. */
static void conns_lose(struct sim_process *process)
{
    struct sim_world *world = process->world;
    bool is_heard = sim_chance(&world->random, 700);
    for (size_t i = 0; i < world->conn_count; i++) {
        struct sim_conn *conn = world->conns[i];
        if (conn->process != process || !conn->is_open)
            continue;
        if (is_heard)
            sim_conn_reset(conn);
        else
            conn->is_silent = true;
    }
}

void sim_process_kill(struct sim_process *process)
{
    if (process->is_done)
        return;
    conns_lose(process);
    process->is_killed = true;
    if (process->worker != NULL) {
        culex_worker_stop(process->worker);
        culex_worker_stop(process->worker);
        process->stops_pending = 2;
    }
    turn_give(process);
    if (!process->is_done)
        sim_violation(process->world->oracle, NULL, "a killed process waits");
}

void sim_process_pause(struct sim_process *process, int64_t for_ns)
{
    int64_t until_ns = process->world->now_ns + for_ns;
    if (until_ns > process->paused_until_ns)
        process->paused_until_ns = until_ns;
}

void sim_process_stop(struct sim_process *process)
{
    if (process->is_done || process->worker == NULL)
        return;
    culex_worker_stop(process->worker);
    process->stops_pending++;
    sim_process_poke(process);
}
