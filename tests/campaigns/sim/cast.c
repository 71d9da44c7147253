/* sim/cast.c - who is there: workers, producers and an operator, and what befalls them. */
#include <stdlib.h>

#include <culex/bulk.h>
#include <culex/limits.h>
#include <culex/maintain.h>
#include <culex/schedules.h>

#include "cast.h"
#include "hands.h"

static const culex_field number_fields[] = {
    {.name = "n", .wire = "n", .kind = CULEX_KIND_INT64, .offset = offsetof(struct number, n)}};
static const culex_struct_type number_struct = {"sim.number", sizeof(struct number), number_fields,
                                                1};

/* --- jobs ---------------------------------------------------------------------------------- */

static void jobs_make(struct sim_world *world)
{
    static const char *const names[SIM_JOBS] = {"sim.plain", "sim.timed", "sim.rare", "sim.tick",
                                                "sim.late"};
    struct sim_cast *cast = world->cast;
    struct sim_random *random = &world->random;
    for (int i = 0; i < SIM_JOBS; i++) {
        bool is_kept = sim_between(random, 0, 3) != 0;
        int64_t success_ms = sim_between(random, 1, 4000);
        int64_t failure_ms = sim_between(random, world->options.is_sqlite, 8000);
        uint32_t retries = (uint32_t)sim_between(random, 0, 4);
        cast->jobs[i] = (culex_job_type){.descriptor_version = CULEX_DESCRIPTOR_VERSION,
                                         .name = names[i],
                                         .wire = names[i],
                                         .queue = i < 3 ? "alpha" : "beta",
                                         .params = &number_struct,
                                         .result = &number_struct,
                                         .fingerprint = 1,
                                         .keep_success_ms = is_kept ? success_ms : 0,
                                         .keep_failure_ms = failure_ms,
                                         .retry = {.max = retries,
                                                   .backoff = CULEX_BACKOFF_CONSTANT,
                                                   .base_ms = sim_between(random, 0, 800)}};
    }
    cast->jobs[1].timeout_ms = sim_between(random, 500, 4000);
    cast->jobs[1].priority = 5;
    cast->jobs[1].retry.for_ms = cast->jobs[2].retry.for_ms = sim_between(random, 0, 2) * 700;
    cast->jobs[3].schedule.every_ms = sim_between(random, 200, 3000);
    cast->jobs[3].schedule.jitter_ms = sim_between(random, 0, 200);
    cast->jobs[4].schedule = (culex_schedule){.cron = "* * * * *", .zone = "UTC"};
    /* The rare one is given back by workers that do not know it. */
    cast->jobs[2].expires_ms = cast->jobs[4].expires_ms = sim_between(random, 100, 3000);
}

static void handler(void)
{
}

/* --- workers ------------------------------------------------------------------------------- */

static void log_write(void *self, const char *line, size_t len)
{
    const struct sim_process *process = self;
    if (process->world->options.is_loud)
        fprintf(stderr, "    %s: %.*s", process->name, (int)len, line);
}

static void worker_body(struct sim_process *process)
{
    struct sim_world *world = process->world;
    struct sim_cast *cast = world->cast;
    struct sim_random *random = &world->random;
    culex_error error = {0};
    struct culex_store *store = NULL;
    unsigned concurrency = (unsigned)sim_between(random, 1, 4);
    unsigned batch = (unsigned)sim_between(random, 1, 8);
    int64_t grace_ms = sim_between(random, 100, 5000);
    culex_worker_options options = {.url = "redis://sim",
                                    .name = process->name,
                                    .concurrency = concurrency,
                                    .batch = batch,
                                    .isolation = CULEX_ISOLATION_NONE,
                                    .lease_ms = cast->lease_ms,
                                    .grace_ms = grace_ms,
                                    .idle_wait_ms = 100,
                                    .log_level =
                                        world->options.is_loud ? CULEX_LOG_DEBUG : CULEX_LOG_ERROR,
                                    .store_timeout_ms = sim_between(random, 500, 4000)};
    bool has_rare = world->is_healing || sim_chance(random, 700);
    char offer[16];
    const char *const offers[] = {offer};
    process->units = world->is_healing ? 2 : sim_between(random, 0, 2);
    snprintf(offer, sizeof offer, "gpu=%d", (int)process->units);
    options.offers = offers;
    options.offer_count = process->units > 0;
    culex_worker *worker = NULL;
    if (culex_worker_create(&options, &worker, &error) != CULEX_OK)
        abort();
    culex__worker_set_env(worker, &process->env);
    culex__worker_set_executor(worker, sim_hands_create);
    culex__worker_set_sink(worker, (struct culex_log_sink){.write = log_write, .self = process});
    for (int i = 0; i < SIM_JOBS; i++) {
        if (i == 2 && !has_rare)
            continue;
        sim_may_fail(
            culex_worker_register(worker, &cast->jobs[i], sim_handler_call, handler, process));
    }
    while (world->options.is_sqlite && store == NULL && !process->is_killed) {
        if (sim_store_open(process, options.store_timeout_ms, &store, &error) != CULEX_OK)
            sim_sleep(process, sim_between(random, 1, 500) * SIM_MS);
    }
    if (store != NULL)
        culex__worker_set_store(worker, store);
    process->worker = worker;
    culex_status status = CULEX_OK;
    if (!process->is_killed && (!world->options.is_sqlite || store != NULL))
        status = culex_worker_run(worker, &error);
    if (worker->tally.counts[CULEX_TALLY_TIMED_OUT] > 0)
        SOMETIMES(TIMED_OUT);
    if (worker->tally.counts[CULEX_TALLY_LOST] > 0)
        SOMETIMES(GIVEN_UP_AT_LEASE);
    process->is_ended_well = !process->is_killed && world->is_healing;
    if (status != CULEX_OK && !process->is_killed && world->options.is_loud)
        fprintf(stderr, "    %s ends: %s\n", process->name, error.text);
    if (process->is_ended_well && cast->is_ending)
        sim_oracle_worker_ended(world->oracle, worker->identity.session);
    process->worker = NULL;
    culex_worker_free(worker);
    if (store != NULL)
        store->ops->close(store);
}

/* Redis: a machine's own clock is up to a day wrong, and nobody minds. The machine of a file has
 * one clock. */
static int64_t clock_off_ms(const struct sim_world *world, size_t place)
{
    struct sim_random random = {world->options.seed * SIM_WORKERS_MAX + place};
    const int64_t day_ms = 86400000;
    return world->options.is_sqlite ? 0 : sim_between(&random, -day_ms, day_ms);
}

static void worker_start(struct sim_world *world, struct seat *seat)
{
    char name[24];
    size_t place = (size_t)(seat - world->cast->seats);
    /* A restarted worker mostly keeps its name. */
    if (seat->lives == 0 || world->is_murderous || sim_chance(&world->random, 300))
        seat->lives++;
    snprintf(name, sizeof name, "worker%zu.%u", place, seat->lives);
    sim_note(world, "%s starts", name);
    seat->process = sim_process_start(world, name, worker_body);
    seat->process->clock_off_ms = clock_off_ms(world, place);
}

static void worker_event(struct sim_world *world, void *subject, uint64_t token,
                         struct sim_bytes *bytes)
{
    struct seat *seat = subject;
    (void)token;
    (void)bytes;
    if ((seat->process == NULL || seat->process->is_done) && !world->cast->is_ending)
        worker_start(world, seat);
}

/* --- the operator -------------------------------------------------------------------------- */

/* A dead one, when there is one among some that are picked. */
static struct known *known_pick_dead(struct sim_world *world)
{
    struct known *known = NULL;
    for (int tries = 0; tries < 32; tries++) {
        known = sim_known_pick(world->cast, &world->random);
        const struct sim_record *record =
            known == NULL || !known->has_id ? NULL : sim_oracle_find(world->oracle, known->id);
        if (record != NULL && record->state == 'X')
            break;
    }
    return known;
}

static bool run_visit(const culex_run_info *run, void *user)
{
    (void)run;
    (void)user;
    return true;
}

/* Whatever has happened, the indexes agree with the records: a report counts nothing, and a repair
 * finds nothing to do. */
static bool fsck(struct sim_process *process, culex_client *client, const char *queue,
                 bool is_repairing)
{
    culex_fsck_counts counts = {0};
    culex_error error = {0};
    culex_status status = culex_client_fsck(client, queue, is_repairing, &counts, &error);
    if (process->is_killed)
        return false;
    if (counts.wrong > 0 || counts.damaged > 0)
        sim_violation(process->world->oracle, NULL, "fsck of %s finds %llu wrong, %llu damaged",
                      queue, (unsigned long long)counts.wrong, (unsigned long long)counts.damaged);
    if (status == CULEX_OK && is_repairing)
        SOMETIMES(FSCK_REPAIRS_NOTHING);
    return status == CULEX_OK;
}

/* That of the interval, or by the calendar. */
static void operate_schedule(struct sim_process *process, culex_client *client)
{
    struct sim_random *random = &process->world->random;
    const char *name = process->world->cast->jobs[sim_chance(random, 500) ? 3 : 4].wire;
    switch (sim_below(random, 8)) {
    case 0:
        sim_may_fail(culex_client_schedule_delete(client, "beta", name, NULL));
        break;
    case 1:
    case 2:
        sim_may_fail(culex_client_schedule_pause(client, "beta", name, NULL));
        sim_sleep(process, sim_between(random, 1, 6000) * SIM_MS);
        sim_may_fail(culex_client_schedule_resume(client, "beta", name, NULL));
        break;
    default:
        sim_may_fail(culex_client_schedule_run(client, "beta", name, NULL, NULL));
    }
}

/* Some pauses end by themselves. */
static void queue_pause(struct sim_process *process, culex_client *client, const char *queue,
                        int64_t ms)
{
    if (ms % 3 == 0) {
        if (culex_client_pause_for(client, queue, culex_milliseconds(ms), NULL) == CULEX_OK)
            SOMETIMES(QUEUE_PAUSED_FOR);
        return;
    }
    if (culex_client_pause(client, queue, NULL) == CULEX_OK)
        SOMETIMES(QUEUE_PAUSED);
    sim_sleep(process, ms * SIM_MS);
    sim_may_fail(culex_client_resume(client, queue, NULL));
}

/* For a while, as chance hardly ever finds the moment. */
static void two_await(struct sim_process *process)
{
    const struct sim_world *world = process->world;
    for (int i = 0; i < 600 && !process->is_killed && !world->is_healing; i++) {
        if (world->slots.at_work[0] > 1 || world->slots.at_work[1] > 1)
            return;
        sim_sleep(process, 50 * SIM_MS);
    }
}

/* Less than are at work; or more or less than runs declare, or what they declare again. */
static void limit_set(struct sim_process *process, culex_client *client)
{
    struct sim_random *random = &process->world->random;
    bool is_tight = sim_chance(random, 500);
    const culex_limit_value value = {.count = is_tight ? 1 : (uint32_t)sim_between(random, 1, 4)};
    const culex_limit_value *set = sim_chance(random, 300) ? NULL : &value;
    if (is_tight)
        two_await(process);
    if (!process->is_killed &&
        culex_client_limit_set(client, "alpha", SIM_LIMIT, set, NULL) == CULEX_OK)
        SOMETIMES(LIMIT_SET_BY_OPERATOR);
}

/* Few dead ones are kept from now on, or as many as die. A call that fails may happen yet, and what
 * was taken back is there again after a snapshot: then nobody knows any more. */
static void dead_limit(struct sim_process *process, culex_client *client, const char *queue)
{
    struct sim_random *random = &process->world->random;
    enum sim_bounded *bounded = &process->world->dead_bounded[queue[0] == 'b'];
    uint64_t most = sim_chance(random, 500) ? (uint64_t)sim_between(random, 1, 4) : 0;
    if (most > 0 && *bounded != SIM_MAYBE_BOUNDED)
        *bounded = SIM_BOUNDED;
    culex_status status = culex_client_dead_limit(client, queue, most, NULL);
    if (process->is_killed || status != CULEX_OK)
        *bounded = most > 0 ? SIM_MAYBE_BOUNDED : *bounded;
    else if (*bounded != SIM_MAYBE_BOUNDED)
        *bounded = most > 0 ? SIM_BOUNDED : SIM_NO_MORE_BOUNDED;
}

/* Dead ones are tried again or deleted, and now and then all that live are cancelled. */
static void many_operate(struct sim_process *process, culex_client *client, const char *queue)
{
    struct sim_random *random = &process->world->random;
    culex_bulk bulk = {.action = sim_chance(random, 500) ? CULEX_BULK_RETRY : CULEX_BULK_DELETE,
                       .filter.states = CULEX_LIST_STATE(CULEX_RUN_DEAD)};
    culex_bulk_cursor cursor = {0};
    culex_bulk_counts counts = {0};
    if (sim_chance(random, 100))
        bulk = (culex_bulk){.action = CULEX_BULK_CANCEL};
    while (!process->is_killed && !cursor.is_over &&
           culex_client_bulk(client, queue, &bulk, &cursor, 10, NULL, NULL, &counts, NULL) ==
               CULEX_OK) {
        if (counts.done > 0)
            SOMETIMES(MANY_OPERATED);
    }
}

static void run_move(struct sim_process *process, culex_client *client, const char *queue,
                     culex_uuid id)
{
    struct sim_random *random = &process->world->random;
    culex_move move = {.has_priority = sim_chance(random, 600)};
    move.priority = (int)sim_below(random, 10);
    move.has_delay = sim_chance(random, 500);
    if (move.has_delay && sim_chance(random, 500))
        move.delay = culex_milliseconds(sim_between(random, 1, 4000));
    if (move.has_priority || move.has_delay)
        sim_may_fail(culex_client_move(client, queue, id, &move, NULL));
}

static void operate_queue(struct sim_process *process, culex_client *client)
{
    struct sim_random *random = &process->world->random;
    const char *queue = sim_chance(random, 500) ? "alpha" : "beta";
    culex_queue_stats stats;
    culex_list_cursor cursor = {.place = 0};
    size_t deleted;
    switch (sim_below(random, 11)) {
    case 9:
        dead_limit(process, client, queue);
        break;
    case 10:
        many_operate(process, client, queue);
        break;
    case 6:
        sim_may_fail(culex_client_limit(
            client, queue,
            sim_chance(random, 500)
                ? (uint64_t)sim_between(random, 1, sim_chance(random, 500) ? 8 : 40)
                : 0,
            NULL));
        break;
    case 7:
    case 8:
        fsck(process, client, queue, sim_chance(random, 500));
        break;
    case 0:
        queue_pause(process, client, queue, sim_between(random, 1, 3000));
        break;
    case 1: {
        culex_run_state state = (culex_run_state)sim_below(random, CULEX_RUN_STATE_COUNT);
        bool is_live = state == CULEX_RUN_WAITING || state == CULEX_RUN_SCHEDULED;
        if (!is_live || sim_chance(random, 100))
            sim_may_fail(culex_client_purge(client, queue, state,
                                            (size_t)sim_between(random, 1, 20), &deleted, NULL));
        break;
    }
    case 2:
        sim_may_fail(culex_client_list(client, queue,
                                       (culex_run_state)sim_below(random, CULEX_RUN_STATE_COUNT),
                                       &cursor, 10, run_visit, NULL, NULL));
        break;
    default:
        sim_may_fail(culex_client_stats(client, queue, &stats, NULL));
    }
}

static void operate_run(struct sim_process *process, culex_client *client)
{
    struct sim_cast *cast = process->world->cast;
    struct sim_random *random = &process->world->random;
    int64_t verb = sim_below(random, 6);
    const struct known *known =
        verb == 1 ? known_pick_dead(process->world) : sim_known_pick(cast, random);
    culex_run_state state;
    culex_run_info *info = NULL;
    if (known == NULL || !known->has_id)
        return;
    culex_uuid id = known->id;
    const char *queue = sim_queue_of(cast, known);
    switch (verb) {
    case 0:
        sim_may_fail(culex_client_cancel(client, queue, id, &state, NULL));
        break;
    case 1:
        sim_may_fail(culex_client_retry(client, queue, id, NULL));
        break;
    case 2:
        sim_may_fail(culex_client_delete(client, queue, id, NULL));
        break;
    case 4:
    case 5:
        run_move(process, client, queue, id);
        break;
    default:
        if (culex_client_get(client, queue, id, &info, NULL) == CULEX_OK)
            culex_run_info_free(info);
    }
}

/* Nothing holds the queue back any more; one that nobody has used is not there. */
static bool queue_resume(culex_client *client, const char *queue)
{
    culex_status resumed = culex_client_resume(client, queue, NULL);
    culex_status lifted = culex_client_limit(client, queue, 0, NULL);
    culex_status set = culex_client_limit_set(client, queue, SIM_LIMIT, NULL, NULL);
    if (set != CULEX_OK && set != CULEX_ENOTFOUND)
        return false;
    return (resumed == CULEX_OK || resumed == CULEX_ENOTFOUND) &&
           (lifted == CULEX_OK || lifted == CULEX_ENOTFOUND);
}

static void queues_resume(struct sim_process *process, culex_client *client)
{
    while (!process->is_killed && (!queue_resume(client, "alpha") || !queue_resume(client, "beta")))
        sim_sleep(process, 10 * SIM_MS);
}

static void operator_body(struct sim_process *process)
{
    struct sim_world *world = process->world;
    struct sim_random *random = &world->random;
    culex_client *client = sim_client_await(process);
    while (client != NULL && !process->is_killed && !world->is_healing) {
        sim_sleep(process, sim_between(random, 0, 6 * world->cast->pace_ms) * SIM_MS);
        if (process->is_killed || world->is_healing)
            break;
        if (sim_chance(random, 300))
            operate_queue(process, client);
        else if (sim_chance(random, 150))
            limit_set(process, client);
        else if (sim_chance(random, 450))
            operate_schedule(process, client);
        else
            operate_run(process, client);
    }
    culex_client_close(client);
}

/* Somebody who only waits for what there still is. */
static void last_waiter_body(struct sim_process *process)
{
    culex_client *client = NULL;
    while (!process->is_killed && sim_client_open(process, &client) != CULEX_OK)
        sim_sleep(process, 100 * SIM_MS);
    if (client != NULL && !process->is_killed)
        sim_wait_healed(process, client);
    culex_client_close(client);
}

/* The last one, when everything is healed: no queue stays paused or limited. */
static void healer_body(struct sim_process *process)
{
    culex_client *client = NULL;
    while (!process->is_killed && sim_client_open(process, &client) != CULEX_OK)
        sim_sleep(process, 100 * SIM_MS);
    /* Again and again: a pause may still be under way on some old connection. */
    for (int i = 0; i < 3 && client != NULL; i++) {
        queues_resume(process, client);
        sim_sleep(process, 15 * SIM_SECOND);
    }
    while (client != NULL && !process->is_killed &&
           (!fsck(process, client, "alpha", false) || !fsck(process, client, "beta", false)))
        sim_sleep(process, 100 * SIM_MS);
    culex_client_close(client);
}

/* --- what befalls them --------------------------------------------------------------------- */

/* It comes back under its name. */
static void worker_die(struct sim_world *world, struct seat *seat, int64_t most_ms)
{
    int64_t away_ms = sim_between(&world->random, 0, most_ms);
    world->kills++;
    SOMETIMES(WORKER_KILLED);
    if (sim_hands_busy(seat->process->hands) > 0)
        SOMETIMES(WORKER_KILLED_WITH_RUNS);
    sim_process_kill(seat->process);
    sim_after(world, away_ms * SIM_MS, worker_event, seat, 0);
}

void sim_cast_poison(struct sim_world *world, const struct sim_process *process)
{
    for (size_t i = 0; i < world->cast->worker_count; i++) {
        if (world->cast->seats[i].process != process)
            continue;
        sim_note(world, "%s dies of a run", process->name);
        SOMETIMES(WORKER_KILLED_BY_RUN);
        worker_die(world, &world->cast->seats[i], 100);
        return;
    }
}

static void worker_befall(struct sim_world *world)
{
    struct sim_cast *cast = world->cast;
    struct sim_random *random = &world->random;
    struct seat *seat = &cast->seats[sim_below(random, (int64_t)cast->worker_count)];
    struct sim_process *process = seat->process;
    if (process == NULL || process->is_done)
        return;
    int64_t draw = world->is_murderous ? 0 : sim_below(random, 100);
    if (draw < 45) {
        sim_note(world, "%s is killed", process->name);
        worker_die(world, seat, world->is_murderous ? 100 : 4000);
    } else if (draw < 80) {
        int64_t ms = sim_between(random, 1, 4 * cast->lease_ms);
        sim_note(world, "%s is paused for %lld ms", process->name, (long long)ms);
        world->faults++;
        SOMETIMES(WORKER_PAUSED);
        sim_process_pause(process, ms * SIM_MS);
    } else {
        sim_note(world, "%s is asked to stop", process->name);
        SOMETIMES(WORKER_STOPPED);
        sim_process_stop(process);
        sim_after(world, sim_between(random, 5000, 15000) * SIM_MS, worker_event, seat, 0);
    }
}

static void producer_start(struct sim_world *world, struct sim_process **place)
{
    *place = sim_process_start(world, "producer", sim_producer_body);
}

static void producer_event(struct sim_world *world, void *subject, uint64_t token,
                           struct sim_bytes *bytes)
{
    (void)token;
    (void)bytes;
    if (!world->is_healing)
        producer_start(world, subject);
}

/* Nobody knows what it was about to do. */
static void producer_die(struct sim_world *world, struct sim_process **place)
{
    if ((*place)->is_done)
        return;
    sim_note(world, "a producer is killed");
    world->kills++;
    SOMETIMES(PRODUCER_KILLED);
    sim_process_kill(*place);
    sim_after(world, sim_between(&world->random, 0, 1000) * SIM_MS, producer_event, place, 0);
}

static void doom_event(struct sim_world *world, void *subject, uint64_t token,
                       struct sim_bytes *bytes)
{
    struct sim_cast *cast = world->cast;
    (void)token;
    (void)bytes;
    for (size_t i = 0; i < cast->producer_count; i++) {
        if (cast->producers[i] == subject)
            producer_die(world, &cast->producers[i]);
    }
}

void sim_cast_doom(struct sim_process *producer)
{
    struct sim_world *world = producer->world;
    sim_after(world, sim_between(&world->random, 0, 2000) * SIM_US, doom_event, producer, 0);
}

static void clock_befall(struct sim_world *world)
{
    struct sim_random *random = &world->random;
    int64_t most_ms = sim_chance(random, 100) ? 1500000 : sim_chance(random, 500) ? 2000 : 60000;
    int64_t ms = sim_between(random, -most_ms, most_ms);
    sim_note(world, "the store's clock jumps by %lld ms", (long long)ms);
    world->faults++;
    if (ms > 0)
        SOMETIMES(CLOCK_JUMPS_AHEAD);
    else
        SOMETIMES(CLOCK_JUMPS_BACK);
    sim_oracle_clock_seen(world->oracle);
    world->skew_ms += ms;
    if (world->skew_ms > world->skew_most_ms)
        world->skew_most_ms = world->skew_ms;
}

static void mode_over_event(struct sim_world *world, void *subject, uint64_t token,
                            struct sim_bytes *bytes)
{
    (void)subject;
    (void)token;
    (void)bytes;
    if (world->now_ns >= world->server.mode_until_ns)
        world->server.redis.mode = SIM_MODE_OK;
}

static void mode_befall(struct sim_world *world)
{
    struct sim_random *random = &world->random;
    struct sim_server *server = &world->server;
    enum sim_mode mode = (enum sim_mode)sim_between(random, SIM_MODE_LOADING, SIM_MODE_OOM);
    sim_note(world, "the server refuses in mode %d", (int)mode);
    world->faults++;
    SOMETIMES(SERVER_REFUSES);
    server->redis.mode = mode;
    server->mode_until_ns = world->now_ns + sim_between(random, 1, 3000) * SIM_MS;
    sim_at(world, server->mode_until_ns, mode_over_event, NULL, 0, NULL);
}

static void server_befall(struct sim_world *world)
{
    struct sim_random *random = &world->random;
    struct sim_server *server = &world->server;
    int64_t draw = sim_below(random, 100);
    if (draw < (world->may_roll_back ? 50 : 35)) {
        bool is_back = world->may_roll_back && sim_chance(random, 800);
        sim_note(world, "the server restarts%s", is_back ? " from its snapshot" : "");
        world->faults++;
        world->kills++;
        SOMETIMES(SERVER_RESTARTS);
        if (is_back)
            SOMETIMES(SERVER_ROLLS_BACK);
        int64_t down_ns = sim_between(random, 1, is_back ? 300 : 5000) * SIM_MS;
        bool is_loading = sim_chance(random, 500);
        sim_server_restart(world, is_back, down_ns,
                           is_loading ? sim_between(random, 1, 1000) * SIM_MS : 0);
    } else if (draw < 60) {
        sim_note(world, "the server's scripts are flushed");
        SOMETIMES(SCRIPTS_FLUSHED);
        server->redis.script_epoch++;
    } else {
        mode_befall(world);
    }
}

/* As a server that saves its data now and then: what came since is lost when it dies. */
static void snapshot_event(struct sim_world *world, void *subject, uint64_t token,
                           struct sim_bytes *bytes)
{
    struct sim_server *server = &world->server;
    (void)subject;
    (void)bytes;
    if (world->is_healing)
        return;
    sim_space_clear(&server->snapshot);
    sim_space_copy(&server->redis.space, &server->snapshot);
    sim_oracle_mark(world->oracle);
    sim_after(world, sim_between(&world->random, 1, 2 * (int64_t)token) * SIM_MS, snapshot_event,
              NULL, token);
}

static void befall_event(struct sim_world *world, void *subject, uint64_t token,
                         struct sim_bytes *bytes)
{
    struct sim_cast *cast = world->cast;
    struct sim_random *random = &world->random;
    (void)subject;
    (void)bytes;
    if (world->is_healing)
        return;
    int64_t draw = sim_below(random, 100) + (world->may_roll_back ? 30 : 0);
    if (draw < 6)
        producer_die(world, &cast->producers[sim_below(random, (int64_t)cast->producer_count)]);
    else if (draw < 60 || world->is_murderous)
        worker_befall(world);
    else if (draw < 80)
        clock_befall(world);
    else if (!world->options.is_sqlite)
        server_befall(world);
    sim_after(world, sim_between(random, 1, 2 * (int64_t)token) * SIM_MS, befall_event, NULL,
              token);
}

/* --- life ---------------------------------------------------------------------------------- */

void sim_cast_init(struct sim_world *world)
{
    struct sim_random *random = &world->random;
    struct sim_cast *cast = world->cast = calloc(1, sizeof *cast);
    if (cast == NULL)
        abort();
    jobs_make(world);
    cast->lease_ms = world->is_murderous ? 300 : sim_between(random, 300, 4000);
    /* Runs die of losses where a suspect soon finds its worker idle. */
    cast->pace_ms =
        world->is_murderous ? sim_between(random, 300, 3000) : sim_between(random, 5, 300);
    if (sim_is_plain(world))
        cast->pace_ms = 1 + cast->pace_ms / 10; /* or the line would be empty mostly */
    cast->worker_count = world->options.workers > 0 ? world->options.workers
                                                    : (size_t)sim_between(random, 1, SIM_WORKERS);
    cast->producer_count = (size_t)sim_between(random, 1, SIM_PRODUCERS);
    for (size_t i = 0; i < cast->worker_count; i++)
        sim_after(world, sim_between(random, 0, 500) * SIM_MS, worker_event, &cast->seats[i], 0);
    for (size_t i = 0; i < cast->producer_count; i++)
        producer_start(world, &cast->producers[i]);
    cast->producers[cast->producer_count] = sim_process_start(world, "operator", operator_body);
    if (world->may_roll_back && sim_chance(random, 900))
        sim_after(world, SIM_SECOND, snapshot_event, NULL, (uint64_t)sim_between(random, 20, 1000));
    if (sim_chance(random, 900)) {
        uint64_t pace_ms = (uint64_t)(world->is_murderous ? sim_between(random, 20, 150)
                                                          : sim_between(random, 200, 4000));
        sim_after(world, (int64_t)pace_ms * SIM_MS, befall_event, NULL, pace_ms);
    }
}

void sim_cast_heal(struct sim_world *world)
{
    struct sim_server *server = &world->server;
    server->redis.mode = SIM_MODE_OK;
    server->is_down = false;
    if (world->options.is_sqlite)
        sim_store_heal(world);
    /* What was put off while the clock was ahead need not be waited for. */
    world->skew_ms = world->skew_most_ms;
    for (size_t i = 0; i < world->conn_count; i++) {
        if (world->conns[i]->is_silent && world->conns[i]->is_open)
            sim_conn_reset(world->conns[i]);
        world->conns[i]->is_silent = false;
    }
    for (struct sim_process *process = world->processes; process != NULL; process = process->next) {
        process->paused_until_ns = 0;
        sim_process_poke(process);
        if (process->hands != NULL && !process->is_done)
            sim_hands_heal(process->hands);
    }
}

bool sim_cast_has_workers(const struct sim_world *world)
{
    for (size_t i = 0; i < world->cast->worker_count; i++) {
        const struct sim_process *process = world->cast->seats[i].process;
        if (process != NULL && !process->is_done && !process->is_killed)
            return true;
    }
    return false;
}

/* One worker that knows every job, beside those that are left. */
void sim_cast_help(struct sim_world *world)
{
    struct sim_cast *cast = world->cast;
    for (size_t i = 0; i < cast->worker_count; i++) {
        if (cast->seats[i].process != NULL && !cast->seats[i].process->is_done && i == 0)
            sim_process_kill(cast->seats[i].process);
        if (cast->seats[i].process == NULL || cast->seats[i].process->is_done)
            worker_start(world, &cast->seats[i]);
    }
    sim_process_start(world, "healer", healer_body);
    sim_process_start(world, "waiter", last_waiter_body);
}

/* Producers, the operator and the healer have nothing left to do. */
bool sim_cast_is_quiet(const struct sim_world *world)
{
    for (const struct sim_process *process = world->processes; process != NULL;
         process = process->next) {
        if (process->body != worker_body && !process->is_done)
            return false;
    }
    return true;
}

void sim_cast_end(struct sim_world *world)
{
    struct sim_cast *cast = world->cast;
    cast->is_ending = true;
    for (size_t i = 0; i < cast->worker_count; i++)
        sim_process_stop(cast->seats[i].process);
}

bool sim_cast_is_over(const struct sim_world *world)
{
    for (const struct sim_process *process = world->processes; process != NULL;
         process = process->next) {
        if (!process->is_done)
            return false;
    }
    return true;
}

void sim_cast_check(const struct sim_world *world)
{
    for (const struct sim_process *process = world->processes; process != NULL;
         process = process->next) {
        if (!process->is_done)
            sim_violation(world->oracle, NULL, "%s does not come to an end", process->name);
    }
}

void sim_cast_release(struct sim_world *world)
{
    free(world->cast);
}
