/* sim/world.c - events in their order, the seed's weather, and the course of one world. */
#include "world.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "hands.h"

enum { STILL_MAX = 300000 };

/* --- events: a binary heap ----------------------------------------------------------------- */

static bool is_before(const struct sim_event *a, const struct sim_event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

void sim_at(struct sim_world *world, int64_t at_ns, sim_event_fn run, void *subject, uint64_t token,
            struct sim_bytes *bytes)
{
    struct sim_event event = {
        at_ns < world->now_ns ? world->now_ns : at_ns, world->order++, run, subject, token, {0}};
    if (bytes != NULL)
        event.bytes = *bytes;
    if (world->event_count == world->event_cap) {
        world->event_cap = world->event_cap * 2 + 256;
        world->heap = realloc(world->heap, world->event_cap * sizeof *world->heap);
        if (world->heap == NULL)
            abort();
    }
    size_t at = world->event_count++;
    for (; at > 0 && is_before(&event, &world->heap[(at - 1) / 2]); at = (at - 1) / 2)
        world->heap[at] = world->heap[(at - 1) / 2];
    world->heap[at] = event;
}

void sim_after(struct sim_world *world, int64_t delay_ns, sim_event_fn run, void *subject,
               uint64_t token)
{
    sim_at(world, world->now_ns + delay_ns, run, subject, token, NULL);
}

static struct sim_event event_take(struct sim_world *world)
{
    struct sim_event first = world->heap[0], last = world->heap[--world->event_count];
    size_t at = 0, count = world->event_count;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count)
            break;
        if (child + 1 < count && is_before(&world->heap[child + 1], &world->heap[child]))
            child++;
        if (!is_before(&world->heap[child], &last))
            break;
        world->heap[at] = world->heap[child];
        at = child;
    }
    if (count > 0)
        world->heap[at] = last;
    return first;
}

/* --- the trace ----------------------------------------------------------------------------- */

void sim_hash_add(struct sim_world *world, const void *data, size_t len)
{
    const unsigned char *at = data;
    uint64_t hash = world->hash;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    world->hash = hash;
}

void sim_note(struct sim_world *world, const char *format, ...)
{
    char text[200];
    va_list list;
    va_start(list, format);
    int len = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    sim_hash_add(world, text, (size_t)len < sizeof text ? (size_t)len : sizeof text - 1);
    if (world->options.is_loud)
        fprintf(stderr, "%12.6f s  step %" PRIu64 "  %s\n", (double)world->now_ns / 1e9,
                world->steps, text);
}

/* --- checks -------------------------------------------------------------------------------- */

static void hands_check(struct sim_world *world)
{
    for (struct sim_process *process = world->processes; process != NULL; process = process->next) {
        if (process->hands == NULL || process->is_done ||
            world->now_ns < process->paused_until_ns + 20 * SIM_SECOND)
            continue;
        sim_hands_check(process->hands, 40 * SIM_SECOND);
    }
}

static void world_check(struct sim_world *world)
{
    if (world->options.is_sqlite)
        sim_store_check(world);
    else
        sim_check_keys(world);
    hands_check(world);
}

/* A world in which steps are made and no time passes has fallen into a loop. */
static void still_check(struct sim_world *world, int64_t before_ns)
{
    if (world->now_ns != before_ns) {
        world->still_steps = 0;
        return;
    }
    if (++world->still_steps > STILL_MAX)
        sim_violation(world->oracle, NULL, "steps are made and no time passes");
}

static void step(struct sim_world *world)
{
    struct sim_event event = event_take(world);
    int64_t before_ns = world->now_ns;
    world->now_ns = event.at_ns;
    world->steps++;
    sim_hash_add(world, &event.at_ns, sizeof event.at_ns);
    event.run(world, event.subject, event.token, &event.bytes);
    sim_bytes_free(&event.bytes);
    still_check(world, before_ns);
    if (world->steps >= world->check_at) {
        world_check(world);
        world->check_at = world->steps + (uint64_t)sim_between(&world->random, 1, 128);
    }
}

/* --- life ---------------------------------------------------------------------------------- */

static void weather_draw(struct sim_world *world)
{
    static const int levels[] = {0, 2, 8, 25, 60};
    struct sim_random *random = &world->random;
    int level = levels[sim_below(random, 5)];
    struct sim_weather *weather = &world->weather;
    int *const chances[] = {&weather->refuse,       &weather->cut_request, &weather->lose_request,
                            &weather->cut_reply,    &weather->cut_midway,  &weather->drip,
                            &weather->delay,        &weather->silence,     &weather->short_send,
                            &weather->store_busy,   &weather->store_full,  &weather->store_broken,
                            &weather->store_unknown};
    for (size_t i = 0; i < sizeof chances / sizeof chances[0]; i++)
        *chances[i] = level * (int)sim_below(random, 4) / 2;
    weather->silence /= 4;
}

struct sim_world *sim_world_create(const struct sim_options *options, struct sim_scripts *scripts)
{
    struct sim_world *world = calloc(1, sizeof *world);
    if (world == NULL)
        abort();
    world->options = *options;
    world->random.state = options->seed * UINT64_C(0xd1342543de82ef95) + options->is_sqlite;
    world->hash = UINT64_C(0xcbf29ce484222325);
    world->now_ns = SIM_SECOND;
    world->may_roll_back = !options->is_sqlite && sim_chance(&world->random, 250);
    world->is_murderous = sim_chance(&world->random, 120);
    weather_draw(world);
    world->oracle = sim_oracle_create(world);
    if (options->is_sqlite)
        sim_store_init(world);
    else
        sim_server_init(world, scripts);
    sim_cast_init(world);
    return world;
}

/* The workers that are there bring the follow-ups that are left: one that comes anew would bring
 * what they have forgotten. */
static void follow_ups_await(struct sim_world *world)
{
    const int64_t until_ns = world->now_ns + 60 * SIM_SECOND;
    while (world->event_count > 0 && world->now_ns < until_ns &&
           sim_oracle_has_follow_ups(world->oracle) && sim_cast_has_workers(world))
        step(world);
    if (sim_cast_has_workers(world))
        sim_oracle_check_follow_ups(world->oracle, "while no worker comes anew");
}

/* After healing all must end well, within bounds. */
static void heal(struct sim_world *world)
{
    enum { STEPS_MAX = 500000 };
    const int64_t until_ns = world->now_ns + 7200 * SIM_SECOND;
    uint64_t steps_max = world->steps + STEPS_MAX;
    sim_note(world, "healing, %zu runs live", sim_oracle_live(world->oracle));
    world->is_healing = true;
    world->weather = world->calm;
    sim_cast_heal(world);
    follow_ups_await(world);
    sim_cast_help(world);
    while (world->event_count > 0 && world->now_ns < until_ns && world->steps < steps_max &&
           (sim_oracle_live(world->oracle) > 0 || sim_oracle_has_follow_ups(world->oracle) ||
            sim_oracle_has_callbacks(world->oracle) || !sim_cast_is_quiet(world)))
        step(world);
    world_check(world);
    sim_oracle_check_live(world->oracle);
    sim_oracle_check_follow_ups(world->oracle, "after healing");
    sim_oracle_check_callbacks(world->oracle);
    sim_cast_end(world);
    while (world->event_count > 0 && world->now_ns < until_ns + 3600 * SIM_SECOND &&
           !sim_cast_is_over(world))
        step(world);
    sim_cast_check(world);
    world_check(world);
}

void sim_world_run(struct sim_world *world)
{
    while (world->steps < world->options.steps && world->event_count > 0)
        step(world);
    heal(world);
}

void sim_world_free(struct sim_world *world)
{
    for (struct sim_process *process = world->processes; process != NULL; process = process->next)
        sim_process_kill(process);
    sim_cast_release(world);
    while (world->processes != NULL) {
        struct sim_process *next = world->processes->next;
        sim_hands_free(world->processes->hands);
        sim_process_free(world->processes);
        world->processes = next;
    }
    while (world->event_count > 0) {
        struct sim_event event = event_take(world);
        sim_bytes_free(&event.bytes);
    }
    free(world->heap);
    for (size_t i = 0; i < world->conn_count; i++)
        sim_conn_free(world->conns[i]);
    free(world->conns);
    if (world->options.is_sqlite)
        sim_store_release(world);
    else
        sim_server_release(world);
    sim_oracle_free(world->oracle);
    free(world);
}
