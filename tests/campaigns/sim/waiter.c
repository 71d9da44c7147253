/* sim/waiter.c - producers that wait for the end of a run that they know. */
#include "cast.h"

enum { LOOK_MS = 5000, SLACK_MS = 1500 }; /* of client/wait.c; and of what a call may take beside */

/* Nobody stays longer than that. */
static void length_check(const struct sim_process *process, const culex_client *client,
                         int64_t begun_ns, int64_t timeout_ms, culex_uuid id)
{
    int64_t most_ms = timeout_ms + client->timeout_ms + SLACK_MS;
    int64_t ms = (process->world->now_ns - begun_ns) / SIM_MS;
    if (ms > most_ms)
        sim_violation(process->world->oracle, &id, "a wait of %lld ms takes %lld ms",
                      (long long)timeout_ms, (long long)ms);
}

/* In good weather an end is heard of soon, and the record is there still. Over SQLite nobody notes
 * that he waits, as that takes a door of the real system: see on_wait_arm. */
static void late_check(const struct sim_process *process, int64_t begun_ns, int64_t ended_ns,
                       culex_wait wait)
{
    struct sim_world *world = process->world;
    if (!world->options.is_sqlite && wait.end == CULEX_WAIT_FORGOTTEN &&
        ended_ns > begun_ns + SLACK_MS * SIM_MS)
        sim_violation(world->oracle, &wait.id, "a run is forgotten for whose end somebody waits");
    if (wait.end == CULEX_WAIT_PENDING)
        sim_violation(world->oracle, &wait.id, "a wait does not hear of the end");
    if (world->now_ns - ended_ns > (LOOK_MS + SLACK_MS) * SIM_MS)
        sim_violation(world->oracle, &wait.id, "a wait hears of the end %lld ms late",
                      (long long)((world->now_ns - ended_ns) / SIM_MS));
    SOMETIMES(WAIT_AFTER_HEALING);
}

static void wait_for(struct sim_process *process, culex_client *client, const struct known *known,
                     int64_t timeout_ms)
{
    struct sim_world *world = process->world;
    culex_wait wait = {.queue = sim_queue_of(world->cast, known), .id = known->id};
    int64_t begun_ns = world->now_ns;
    bool is_healed = world->is_healing;
    size_t place = sim_wait_begin(world->oracle, process, wait.id);
    culex_status status =
        culex_client_wait(client, &wait, 1, 1, culex_milliseconds(timeout_ms), NULL);
    culex_run_info_free(wait.run);
    if (!process->is_killed) {
        length_check(process, client, begun_ns, timeout_ms, wait.id);
        if (status == CULEX_OK || wait.end != CULEX_WAIT_PENDING)
            sim_wait_told(world->oracle, place, wait.end);
        else
            SOMETIMES(WAIT_FAILED);
    }
    int64_t ended_ns = sim_wait_end(world->oracle, place);
    if (is_healed && !process->is_killed && status == CULEX_OK)
        late_check(process, begun_ns, ended_ns > begun_ns ? ended_ns : begun_ns, wait);
}

void sim_wait_some(struct sim_process *process, culex_client *client)
{
    struct sim_random *random = &process->world->random;
    const struct sim_cast *cast = process->world->cast;
    const struct known *known = sim_known_pick(process->world->cast, random);
    if (known != NULL && sim_chance(random, 600)) /* the newest */
        known = &cast->known[(cast->known_count - 1) % SIM_KNOWN];
    if (known == NULL || !known->has_id)
        return;
    const struct known copy = *known;
    wait_for(process, client, &copy,
             sim_chance(random, 100)
                 ? 0
                 : sim_between(random, 1, sim_chance(random, 500) ? 500 : 12000));
}

/* One that is live, if there is one. */
void sim_wait_healed(struct sim_process *process, culex_client *client)
{
    enum { LONG_MS = 3600000 };
    const struct sim_world *world = process->world;
    for (size_t i = 0; i < SIM_KNOWN && i < world->cast->known_count; i++) {
        const struct known copy = world->cast->known[i];
        const struct sim_record *record =
            copy.has_id ? sim_oracle_find(world->oracle, copy.id) : NULL;
        if (record == NULL || strchr("SWA", record->state) == NULL)
            continue;
        wait_for(process, client, &copy, LONG_MS);
        return;
    }
}
