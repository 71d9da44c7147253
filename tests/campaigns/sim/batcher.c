/* sim/batcher.c - producers of batches: they open one, give it callbacks and members, and close it,
 * each again after an answer that was lost; or they forget to. */
#include <culex/batch.h>
#include <culex/maintain.h>

#include "cast.h"

enum { QUEUE_JOBS = 3, MEMBERS = 8, TRIES = 4 };

struct batcher {
    struct sim_process *process;
    culex_client *client;
    culex_batch batch;
    int64_t numbers[CULEX_BATCH_ON_DEATH + 1];
    int jobs[CULEX_BATCH_ON_DEATH + 1];
};

static bool goes_on(const struct batcher *batcher, culex_status status, int *tries)
{
    const struct sim_world *world = batcher->process->world;
    return !batcher->process->is_killed && !world->is_healing && ++*tries < TRIES &&
           (status == CULEX_EUNKNOWN || status == CULEX_ECONNECT || status == CULEX_EBUSY);
}

static bool batch_open(struct batcher *batcher)
{
    struct sim_random *random = &batcher->process->world->random;
    culex_batch_options options = {.open_for = culex_milliseconds(sim_between(random, 500, 20000))};
    int tries = 0;
    culex_status status;
    do {
        status = culex_batch_open(batcher->client, "alpha", &options, &batcher->batch, NULL);
        if (status == CULEX_EUNKNOWN)
            options.again = &batcher->batch;
    } while (goes_on(batcher, status, &tries));
    return status == CULEX_OK && !batcher->process->is_killed;
}

/* Its callback of one kind, the same one however often. */
static void callback_give(struct batcher *batcher, int kind)
{
    static const int choice[] = {0, 1, 4};
    struct sim_world *world = batcher->process->world;
    culex_enqueue_options options = culex_enqueue_options_make();
    culex_uuid id;
    int tries = 0;
    culex_status status;
    if (batcher->numbers[kind] == 0) {
        batcher->numbers[kind] = sim_batch_number(world->oracle);
        batcher->jobs[kind] = choice[sim_below(&world->random, 3)];
    }
    const struct number params = {batcher->numbers[kind]};
    options.batch = &batcher->batch;
    options.batch_when = (culex_batch_when)kind;
    do
        status = culex_client_enqueue(batcher->client, &world->cast->jobs[batcher->jobs[kind]],
                                      &params, &options, &id, NULL);
    while (goes_on(batcher, status, &tries));
}

/* Those that are not given yet, or some once more. */
static void callbacks_give(struct batcher *batcher, int chance)
{
    for (int kind = CULEX_BATCH_ON_COMPLETE; kind <= CULEX_BATCH_ON_DEATH; kind++) {
        if (!batcher->process->is_killed && sim_chance(&batcher->process->world->random, chance))
            callback_give(batcher, kind);
    }
}

/* In one call, by a ticket of its own. */
static void members_add(struct batcher *batcher, size_t count)
{
    struct sim_cast *cast = batcher->process->world->cast;
    int job = (int)sim_below(&batcher->process->world->random, QUEUE_JOBS);
    struct number params[MEMBERS];
    culex_uuid ids[MEMBERS];
    culex_enqueue_options options = culex_enqueue_options_make();
    size_t enqueued = 0;
    int tries = 0;
    culex_status status;
    for (size_t i = 0; i < count; i++)
        params[i].n = cast->numbers++;
    options.batch = &batcher->batch;
    options.has_delay = sim_chance(&batcher->process->world->random, 250);
    options.delay = options.has_delay ? culex_milliseconds(500) : 0;
    options.has_ticket =
        culex_client_new_ticket(batcher->client, &options.ticket, NULL) == CULEX_OK;
    if (!options.has_ticket)
        return;
    do
        status = culex_client_enqueue_many(batcher->client, &cast->jobs[job], params,
                                           sizeof params[0], count, &options, ids, &enqueued, NULL);
    while (goes_on(batcher, status, &tries));
    for (size_t i = 0; i < enqueued && !batcher->process->is_killed && status == CULEX_OK; i++) {
        sim_oracle_acknowledged(batcher->process->world->oracle, ids[i]);
        sim_known_id(sim_known_add(cast, job, params[i].n), ids[i]);
    }
}

/* Somebody takes what waits away, members and others. */
static void members_purge(const struct batcher *batcher)
{
    struct sim_random *random = &batcher->process->world->random;
    size_t deleted;
    if (sim_chance(random, 150) && !batcher->process->is_killed)
        sim_may_fail(culex_client_purge(
            batcher->client, "alpha",
            sim_chance(random, 500) ? CULEX_RUN_SCHEDULED : CULEX_RUN_WAITING, 3, &deleted, NULL));
}

static void rest(const struct batcher *batcher)
{
    struct sim_world *world = batcher->process->world;
    if (sim_chance(&world->random, 500))
        sim_sleep(batcher->process, sim_between(&world->random, 0, 4000) * SIM_MS);
}

static void batch_close(struct batcher *batcher)
{
    int tries = 0;
    culex_status status;
    do
        status = culex_batch_close(batcher->client, &batcher->batch, NULL);
    while (goes_on(batcher, status, &tries));
}

static bool is_over(const struct batcher *batcher)
{
    return batcher->process->is_killed || batcher->process->world->is_healing;
}

void sim_batch_make(struct sim_process *process, culex_client *client)
{
    struct sim_random *random = &process->world->random;
    struct batcher batcher = {.process = process, .client = client};
    if (!batch_open(&batcher))
        return;
    callbacks_give(&batcher, 700);
    for (int64_t rounds = sim_below(random, 4); rounds > 0 && !is_over(&batcher); rounds--) {
        members_add(&batcher,
                    (size_t)sim_between(random, 1, sim_chance(random, 500) ? 1 : MEMBERS));
        members_purge(&batcher);
        rest(&batcher);
    }
    if (!is_over(&batcher) && sim_chance(random, 850))
        batch_close(&batcher);
    if (!is_over(&batcher) && sim_chance(random, 400)) {
        rest(&batcher);
        members_add(&batcher, 1);
    }
    if (!is_over(&batcher))
        callbacks_give(&batcher, 300);
}
