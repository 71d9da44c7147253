/* sim/cast.c - who is there: workers, producers and an operator, and what befalls them. */
#include <stdlib.h>
#include <string.h>

#include <culex/maintain.h>

#include "client/newrun.h"

#include "hands.h"

enum { WORKERS_MAX = 4, PRODUCERS_MAX = 2, KNOWN_MAX = 64, PENDING_MAX = 16, JOBS = 5, MANY = 40 };

enum role { ROLE_WORKER, ROLE_PRODUCER, ROLE_OPERATOR };

struct number {
    int64_t n;
};

static const culex_field number_fields[] = {
    {.name = "n", .wire = "n", .kind = CULEX_KIND_INT64, .offset = offsetof(struct number, n)}};
static const culex_struct_type number_struct = {"sim.number", sizeof(struct number), number_fields,
                                                1};

/* What producers know of an order: its run, the ticket with which it is repeated, or both. */
struct known {
    culex_uuid id, ticket;
    bool has_id, has_ticket;
    int job;
    int64_t n;    /* of the first run */
    size_t count; /* the others have the next numbers */
    int key;      /* -1: none */
};

struct seat { /* of a worker: its lives follow one another */
    struct sim_process *process;
    unsigned lives;
};

struct sim_cast {
    culex_job_type jobs[JOBS];
    struct seat seats[WORKERS_MAX];
    size_t worker_count, producer_count;
    struct sim_process *producers[PRODUCERS_MAX + 1];
    struct known known[KNOWN_MAX];
    size_t known_count; /* ever; the ring keeps the last ones */
    int64_t numbers;
    int64_t lease_ms;
    int64_t pace_ms; /* of producers */
    bool is_ending;
};

static const char *queue_of(const culex_job_type *type)
{
    return type->queue;
}

/* --- jobs ---------------------------------------------------------------------------------- */

static void jobs_make(struct sim_world *world)
{
    static const char *const names[JOBS] = {"sim.plain", "sim.timed", "sim.rare", "sim.tick",
                                            "sim.late"};
    struct sim_cast *cast = world->cast;
    struct sim_random *random = &world->random;
    for (int i = 0; i < JOBS; i++) {
        cast->jobs[i] = (culex_job_type){
            .descriptor_version = CULEX_DESCRIPTOR_VERSION,
            .name = names[i],
            .wire = names[i],
            .queue = i < 3 ? "alpha" : "beta",
            .params = &number_struct,
            .result = &number_struct,
            .fingerprint = 1,
            .keep_success_ms = sim_between(random, 0, 3) == 0 ? 0 : sim_between(random, 1, 4000),
            .keep_failure_ms = sim_between(random, world->options.is_sqlite, 8000),
            .retry = {.max = (uint32_t)sim_between(random, 0, 4),
                      .backoff = CULEX_BACKOFF_CONSTANT,
                      .base_ms = sim_between(random, 0, 800)}};
    }
    cast->jobs[1].timeout_ms = sim_between(random, 500, 4000);
    cast->jobs[1].priority = 5;
    cast->jobs[3].every_ms = sim_between(random, 200, 3000);
    cast->jobs[3].every_jitter_ms = sim_between(random, 0, 200);
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
    culex_worker_options options = {.url = "redis://sim",
                                    .name = process->name,
                                    .concurrency = (unsigned)sim_between(random, 1, 4),
                                    .batch = (unsigned)sim_between(random, 1, 8),
                                    .isolation = CULEX_ISOLATION_NONE,
                                    .lease_ms = cast->lease_ms,
                                    .grace_ms = sim_between(random, 100, 5000),
                                    .idle_wait_ms = 100,
                                    .log_level =
                                        world->options.is_loud ? CULEX_LOG_DEBUG : CULEX_LOG_ERROR,
                                    .store_timeout_ms = sim_between(random, 500, 4000)};
    bool has_rare = world->is_healing || sim_chance(random, 700);
    culex_worker *worker = NULL;
    if (culex_worker_create(&options, &worker, &error) != CULEX_OK)
        abort();
    culex__worker_set_env(worker, &process->env);
    culex__worker_set_executor(worker, sim_hands_create);
    culex__worker_set_sink(worker, (struct culex_log_sink){log_write, process, NULL});
    for (int i = 0; i < JOBS; i++) {
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

/* --- producers and the operator ------------------------------------------------------------ */

static struct known *known_pick(struct sim_cast *cast, struct sim_random *random)
{
    size_t count = cast->known_count < KNOWN_MAX ? cast->known_count : KNOWN_MAX;
    return count == 0 ? NULL : &cast->known[sim_below(random, (int64_t)count)];
}

static struct known *known_add(struct sim_cast *cast, int job, int64_t n)
{
    struct known *known = &cast->known[cast->known_count++ % KNOWN_MAX];
    *known = (struct known){.job = job, .n = n, .count = 1, .key = -1};
    return known;
}

static void known_id(struct known *known, culex_uuid id)
{
    known->id = id;
    known->has_id = true;
}

static void known_ticket(struct known *known, culex_uuid ticket)
{
    known->ticket = ticket;
    known->has_ticket = true;
}

/* A dead one, when there is one among some that are picked. */
static struct known *known_pick_dead(struct sim_world *world)
{
    struct known *known = NULL;
    for (int tries = 0; tries < 32; tries++) {
        known = known_pick(world->cast, &world->random);
        const struct sim_record *record =
            known == NULL || !known->has_id ? NULL : sim_oracle_find(world->oracle, known->id);
        if (record != NULL && record->state == 'X')
            break;
    }
    return known;
}

static culex_status client_open(struct sim_process *process, culex_client **ret_client)
{
    struct sim_world *world = process->world;
    struct culex_store *store = NULL;
    culex_error error = {0};
    int64_t timeout_ms = sim_between(&world->random, 300, 5000);
    struct culex_store_options options = {.timeout_ms = timeout_ms / 2 + 1};
    culex_status status =
        world->options.is_sqlite
            ? sim_store_open(process, timeout_ms / 2 + 1, &store, &error)
            : culex__store_open("redis://sim", &options, &process->env, &store, &error);
    if (status == CULEX_OK)
        status = culex__client_create(store, timeout_ms, &process->env, ret_client, &error);
    return status;
}

static culex_client *client_await(struct sim_process *process)
{
    culex_client *client = NULL;
    while (!process->is_killed && !process->world->is_healing &&
           client_open(process, &client) != CULEX_OK)
        sim_sleep(process, sim_between(&process->world->random, 1, 300) * SIM_MS);
    return client;
}

/* In some worlds nothing is wanted for a run beyond its kind: there is a line of them. */
static bool is_plain(const struct sim_world *world)
{
    return !world->options.is_sqlite && world->options.seed % 4 == 3;
}

static culex_enqueue_options options_draw(struct sim_random *random)
{
    culex_enqueue_options options = culex_enqueue_options_make();
    if (sim_chance(random, 250)) {
        options.has_delay = true;
        options.delay = sim_between(random, 0, 3000) * CULEX_MILLISECOND;
    }
    if (sim_chance(random, 200)) {
        options.has_priority = true;
        options.priority = (int)sim_between(random, 0, 9);
    }
    return options;
}

/* --- idempotency keys */

enum { KEYS = 5 };

static const char *key_of(int key)
{
    static const char *const names[KEYS] = {"order 0", "order|1", "{2}", "order 3",
                                            "\xe2\x82\xac 4"};
    return key < 0 ? NULL : names[key];
}

/* The same for all who use it. */
static int64_t window_of(int key)
{
    static const int64_t windows_ms[KEYS] = {100, 3000, 20000, 300000, 1200000};
    return windows_ms[key];
}

static void key_choose(struct sim_random *random, culex_enqueue_options *options, int *ret_key)
{
    *ret_key = (int)sim_below(random, KEYS);
    options->idempotency_key = key_of(*ret_key);
    options->has_idempotency_window = true;
    options->idempotency_window = window_of(*ret_key) * CULEX_MILLISECOND;
}

/* --- orders */

static bool is_same_id(culex_uuid a, culex_uuid b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* sim_oracle_must_know of the order's ticket. */
static bool order_is_known(const struct sim_process *process, const struct known *order,
                           culex_uuid *ret_first)
{
    const struct sim_world *world = process->world;
    return order->has_ticket &&
           sim_oracle_must_know(world->oracle, queue_of(&world->cast->jobs[order->job]),
                                order->ticket, ret_first);
}

/* What was told of an order with one run; `id` is as the call left it. */
static void order_told(struct sim_process *process, const struct known *order, culex_status status,
                       culex_uuid id)
{
    struct sim_oracle *oracle = process->world->oracle;
    struct known *known = known_add(process->world->cast, order->job, order->n);
    culex_uuid first;
    *known = *order;
    if (status == CULEX_EUNKNOWN) {
        SOMETIMES(ENQUEUE_UNKNOWN);
        known_ticket(known, id);
        return;
    }
    known_id(known, id);
    if (order_is_known(process, order, &first) && !is_same_id(first, id))
        sim_violation(oracle, &id, "a call brings one run and is answered with another");
    sim_oracle_acknowledged(oracle, id);
    if (order->key >= 0)
        sim_oracle_keyed(oracle, key_of(order->key), id, window_of(order->key));
}

/* For certain nothing came of it. */
static void order_refused(struct sim_process *process, const struct known *order,
                          culex_status status)
{
    struct sim_oracle *oracle = process->world->oracle;
    if (order->has_ticket)
        sim_oracle_refused(oracle, queue_of(&process->world->cast->jobs[order->job]),
                           order->ticket);
    if (status == CULEX_ECONFLICT && order->key < 0)
        sim_violation(oracle, NULL, "a fresh ticket is said to have come before");
    if (status == CULEX_ECONFLICT)
        SOMETIMES(KEY_CAME_WITH_OTHER_CONTENT);
    if (status == CULEX_EFULL)
        SOMETIMES(ENQUEUE_REFUSED_FULL);
}

static void enqueue_one(struct sim_process *process, culex_client *client)
{
    struct sim_cast *cast = process->world->cast;
    struct sim_random *random = &process->world->random;
    static const int choice[] = {0, 0, 0, 1, 1, 2, 4};
    struct known order = {.count = 1, .key = -1};
    culex_enqueue_options options =
        is_plain(process->world) ? culex_enqueue_options_make() : options_draw(random);
    culex_uuid id = {{0}};
    culex_error error = {0};
    order.job =
        is_plain(process->world) ? 0 : choice[sim_below(random, sizeof choice / sizeof choice[0])];
    order.n = cast->numbers++;
    if (!is_plain(process->world) && sim_chance(random, 200)) {
        key_choose(random, &options, &order.key);
        order.job = 0;
        order.n = sim_chance(random, 900) ? -1 - order.key : order.n;
    }
    options.has_ticket = sim_chance(random, 500);
    if (options.has_ticket && culex_client_new_ticket(client, &options.ticket, &error) != CULEX_OK)
        return;
    if (options.has_ticket)
        known_ticket(&order, options.ticket);
    struct number params = {order.n};
    culex_status status =
        culex_client_enqueue(client, &cast->jobs[order.job], &params, &options, &id, &error);
    if (process->is_killed)
        return;
    if (status == CULEX_OK || status == CULEX_EUNKNOWN)
        order_told(process, &order, status, id);
    else
        order_refused(process, &order, status);
}

struct unique_call {
    struct culex_ticket ticket;
    struct culex_new_run run;
    struct culex_enqueue_result result;
};

static culex_status unique_call(struct culex_store *store, void *arg, culex_error *error)
{
    struct unique_call *call = arg;
    return store->ops->enqueue(store, "alpha", &call->ticket, &call->run, 1, &call->result, error);
}

/* Schemas cannot ask for a unique key yet; stores know them. */
static void enqueue_unique(struct sim_process *process, culex_client *client)
{
    struct sim_cast *cast = process->world->cast;
    struct sim_random *random = &process->world->random;
    char key[8], payload[40];
    struct unique_call call = {.run = culex__new_run_make(&cast->jobs[0])};
    snprintf(key, sizeof key, "a%d", (int)sim_below(random, 4));
    snprintf(payload, sizeof payload, "{\"n\":%lld}", (long long)cast->numbers++);
    call.run.unique_key = key;
    call.run.payload = payload;
    call.run.payload_len = strlen(payload);
    call.run.delay_ms = sim_chance(random, 250) ? sim_between(random, 1, 3000) : 0;
    call.run.content = culex__content_hash(call.run.job, call.run.payload, call.run.payload_len);
    culex_uuid ticket;
    if (culex_client_new_ticket(client, &ticket, NULL) != CULEX_OK ||
        !culex__ticket_parse(ticket, &call.ticket) ||
        culex__client_perform(client, unique_call, &call, NULL) != CULEX_OK || process->is_killed)
        return;
    if (call.result.outcome == CULEX_ENQUEUED_NEW)
        sim_oracle_acknowledged(process->world->oracle, call.result.id);
    else
        sim_oracle_refused(process->world->oracle, "alpha", ticket);
    if (call.result.outcome == CULEX_ENQUEUED_UNIQUE_TAKEN)
        SOMETIMES(UNIQUE_KEY_TAKEN);
    if (!sim_chance(random, 200))
        return;
    /* As a call that the producer made before this one, and that was long on its way. */
    call.ticket.sequence--;
    call.run.content++;
    call.run.unique_key = NULL;
    sim_may_fail(culex__client_perform(client, unique_call, &call, NULL));
}

static void enqueue_many(struct sim_process *process, culex_client *client)
{
    struct sim_cast *cast = process->world->cast;
    struct sim_random *random = &process->world->random;
    struct number params[MANY];
    culex_uuid ids[MANY];
    culex_error error = {0};
    size_t count = (size_t)sim_between(random, 2, MANY), enqueued = 0;
    int job = is_plain(process->world) ? 0 : (int)sim_below(random, 3);
    for (size_t i = 0; i < count; i++)
        params[i].n = cast->numbers++;
    culex_status status = culex_client_enqueue_many(
        client, &cast->jobs[job], params, sizeof params[0], count, NULL, ids, &enqueued, &error);
    if (process->is_killed)
        return;
    for (size_t i = 0; i < enqueued; i++) {
        sim_oracle_acknowledged(process->world->oracle, ids[i]);
        known_id(known_add(cast, job, params[i].n), ids[i]);
    }
    if (status != CULEX_EUNKNOWN)
        return;
    struct known *rest = known_add(cast, job, params[enqueued].n);
    rest->count = count - enqueued;
    known_ticket(rest, ids[enqueued]);
}

/* What its repeat was answered. Where the store must know the call, whose first run is `first` then
 * and NULL otherwise, there is one answer only, if any. */
static void again_told(struct sim_process *process, const struct known *order,
                       const culex_uuid *first, culex_status status, const culex_uuid *ids)
{
    struct sim_oracle *oracle = process->world->oracle;
    bool is_known = first != NULL;
    if (is_known && (status == CULEX_ECONFLICT || status == CULEX_EEXPIRED))
        sim_violation(oracle, order->has_id ? &order->id : NULL,
                      "the repeat of a call that is remembered is refused: %d", (int)status);
    if (status == CULEX_ECONFLICT && order->key < 0)
        sim_violation(oracle, order->has_id ? &order->id : NULL,
                      "the ticket that a client gave out was used for another call");
    if (status != CULEX_OK)
        return;
    if (is_known && !is_same_id(*first, ids[0]))
        sim_violation(oracle, &ids[0], "a repeat is answered with another run");
    const struct sim_record *record = sim_oracle_find(oracle, ids[0]);
    if (is_known)
        SOMETIMES(ENQUEUE_REPEATED_BY_ANOTHER_CLIENT);
    if (is_known && record != NULL && record->state == '-')
        SOMETIMES(ENQUEUE_REPEATED_AFTER_ITS_RUN);
    for (size_t i = 0; i < order->count; i++)
        sim_oracle_acknowledged(oracle, ids[i]);
}

/* The same order once more, by whichever client: after an uncertain answer, or out of
 * forgetfulness. */
static void enqueue_again(struct sim_process *process, culex_client *client)
{
    struct sim_cast *cast = process->world->cast;
    struct known *picked = known_pick(cast, &process->world->random);
    if (picked == NULL || !picked->has_ticket)
        return;
    struct known order = *picked;
    const culex_job_type *type = &cast->jobs[order.job];
    struct number params[MANY];
    culex_uuid ids[MANY];
    culex_enqueue_options options = culex_enqueue_options_make();
    culex_error error = {0};
    size_t enqueued = 0;
    for (size_t i = 0; i < order.count; i++)
        params[i].n = order.n + (int64_t)i;
    options.has_ticket = true;
    options.ticket = order.ticket;
    if (order.key >= 0) {
        options.idempotency_key = key_of(order.key);
        options.has_idempotency_window = true;
        options.idempotency_window = window_of(order.key) * CULEX_MILLISECOND;
    }
    culex_uuid first, still;
    bool is_known = order_is_known(process, &order, &first);
    culex_status status = culex_client_enqueue_many(client, type, params, sizeof params[0],
                                                    order.count, &options, ids, &enqueued, &error);
    if (process->is_killed)
        return;
    is_known = is_known && order_is_known(process, &order, &still) && is_same_id(first, still);
    again_told(process, &order, is_known ? &first : NULL, status, ids);
    /* The place may be another order's by now. */
    if (status == CULEX_OK && picked->has_ticket && !picked->has_id &&
        memcmp(&picked->ticket, &order.ticket, sizeof order.ticket) == 0)
        known_id(picked, ids[0]);
}

static void producer_body(struct sim_process *process)
{
    struct sim_world *world = process->world;
    struct sim_random *random = &world->random;
    culex_client *client = client_await(process);
    while (client != NULL && !process->is_killed && !world->is_healing) {
        sim_sleep(process, sim_between(random, 0, 2 * world->cast->pace_ms) * SIM_MS);
        int64_t draw = is_plain(world) ? 60 + sim_below(random, 18) : sim_below(random, 100);
        if (process->is_killed || world->is_healing || sim_oracle_live(world->oracle) > 150)
            continue;
        if (draw < 70)
            enqueue_one(process, client);
        else if (draw < 78)
            enqueue_many(process, client);
        else if (draw < 86)
            enqueue_unique(process, client);
        else
            enqueue_again(process, client);
    }
    culex_client_close(client);
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

static void operate_queue(struct sim_process *process, culex_client *client)
{
    struct sim_random *random = &process->world->random;
    const char *queue = sim_chance(random, 500) ? "alpha" : "beta";
    culex_queue_stats stats;
    uint64_t cursor = 0;
    size_t deleted;
    switch (sim_below(random, 9)) {
    case 6:
        sim_may_fail(culex_client_limit(
            client, queue, sim_chance(random, 500) ? (uint64_t)sim_between(random, 1, 40) : 0,
            NULL));
        break;
    case 7:
    case 8:
        fsck(process, client, queue, sim_chance(random, 500));
        break;
    case 0:
        if (culex_client_pause(client, queue, NULL) == CULEX_OK)
            SOMETIMES(QUEUE_PAUSED);
        sim_sleep(process, sim_between(random, 1, 3000) * SIM_MS);
        sim_may_fail(culex_client_resume(client, queue, NULL));
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
    int64_t verb = sim_below(random, 4);
    const struct known *known =
        verb == 1 ? known_pick_dead(process->world) : known_pick(cast, random);
    culex_run_state state;
    culex_run_info *info = NULL;
    if (known == NULL || !known->has_id)
        return;
    culex_uuid id = known->id;
    const char *queue = queue_of(&cast->jobs[known->job]);
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
    culex_client *client = client_await(process);
    while (client != NULL && !process->is_killed && !world->is_healing) {
        sim_sleep(process, sim_between(random, 0, 6 * world->cast->pace_ms) * SIM_MS);
        if (process->is_killed || world->is_healing)
            break;
        if (sim_chance(random, 300))
            operate_queue(process, client);
        else
            operate_run(process, client);
    }
    culex_client_close(client);
}

/* The last one, when everything is healed: no queue stays paused or limited. */
static void healer_body(struct sim_process *process)
{
    culex_client *client = NULL;
    while (!process->is_killed && client_open(process, &client) != CULEX_OK)
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
    if (draw < 35) {
        bool is_back = world->may_roll_back && sim_chance(random, 800);
        sim_note(world, "the server restarts%s", is_back ? " from its snapshot" : "");
        world->faults++;
        world->kills++;
        SOMETIMES(SERVER_RESTARTS);
        if (is_back)
            SOMETIMES(SERVER_ROLLS_BACK);
        sim_server_restart(world, is_back, sim_between(random, 1, is_back ? 300 : 5000) * SIM_MS,
                           sim_chance(random, 500) ? sim_between(random, 1, 1000) * SIM_MS : 0);
    } else if (draw < 55) {
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
    struct sim_random *random = &world->random;
    (void)subject;
    (void)bytes;
    if (world->is_healing)
        return;
    int64_t draw = sim_below(random, 100) + (world->may_roll_back ? 30 : 0);
    if (draw < 60 || world->is_murderous)
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
    if (is_plain(world))
        cast->pace_ms = 1 + cast->pace_ms / 10; /* or the line would be empty mostly */
    cast->worker_count = (size_t)sim_between(random, 1, WORKERS_MAX);
    cast->producer_count = (size_t)sim_between(random, 1, PRODUCERS_MAX);
    for (size_t i = 0; i < cast->worker_count; i++)
        sim_after(world, sim_between(random, 0, 500) * SIM_MS, worker_event, &cast->seats[i], 0);
    for (size_t i = 0; i < cast->producer_count; i++)
        cast->producers[i] = sim_process_start(world, "producer", producer_body);
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
    struct sim_cast *cast = world->cast;
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
    /* One worker that knows every job, beside those that are left. */
    for (size_t i = 0; i < cast->worker_count; i++) {
        if (cast->seats[i].process != NULL && !cast->seats[i].process->is_done && i == 0)
            sim_process_kill(cast->seats[i].process);
        if (cast->seats[i].process == NULL || cast->seats[i].process->is_done)
            worker_start(world, &cast->seats[i]);
    }
    sim_process_start(world, "healer", healer_body);
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
