/* sim/producer.c - producers: orders of one run or of many, and their repeats. */
#include <string.h>

#include "client/newrun.h"

#include "cast.h"

enum {
    MANY = 40,
    PAYLOAD_SIZE = 40,
    NOT_BEGUN = 1 << CULEX_RUN_SCHEDULED | 1 << CULEX_RUN_WAITING
};

culex_status sim_client_open(struct sim_process *process, culex_client **ret_client)
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

culex_client *sim_client_await(struct sim_process *process)
{
    culex_client *client = NULL;
    while (!process->is_killed && !process->world->is_healing &&
           sim_client_open(process, &client) != CULEX_OK)
        sim_sleep(process, sim_between(&process->world->random, 1, 300) * SIM_MS);
    return client;
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

static void key_choose(struct sim_random *random, culex_enqueue_options *options, int *ret_key)
{
    *ret_key = (int)sim_below(random, SIM_KEYS);
    options->idempotency_key = sim_key_of(*ret_key);
    options->has_idempotency_window = true;
    options->idempotency_window = sim_window_of(*ret_key) * CULEX_MILLISECOND;
}

static void enqueue_one(struct sim_process *process, culex_client *client)
{
    struct sim_cast *cast = process->world->cast;
    struct sim_random *random = &process->world->random;
    static const int choice[] = {0, 0, 0, 1, 1, 2, 4};
    struct known order = {.count = 1, .key = -1};
    culex_enqueue_options options =
        sim_is_plain(process->world) ? culex_enqueue_options_make() : options_draw(random);
    culex_uuid id = {{0}};
    culex_error error = {0};
    order.job = sim_is_plain(process->world)
                    ? 0
                    : choice[sim_below(random, sizeof choice / sizeof choice[0])];
    order.n = cast->numbers++;
    if (!sim_is_plain(process->world) && sim_chance(random, 200)) {
        key_choose(random, &options, &order.key);
        order.job = 0;
        order.n = sim_chance(random, 900) ? -1 - order.key : order.n;
    }
    options.has_ticket = sim_chance(random, 500);
    if (options.has_ticket && culex_client_new_ticket(client, &options.ticket, &error) != CULEX_OK)
        return;
    if (options.has_ticket)
        sim_known_ticket(&order, options.ticket);
    struct number params = {order.n};
    culex_status status =
        culex_client_enqueue(client, &cast->jobs[order.job], &params, &options, &id, &error);
    if (process->is_killed)
        return;
    if (status == CULEX_OK || status == CULEX_EUNKNOWN)
        sim_order_told(process, &order, status, id);
    else
        sim_order_refused(process, &order, status);
}

/* As a call that the producer made before this one, and that was long on its way. */
static void past_call_make(culex_client *client, struct culex_ticket ticket,
                           struct culex_new_run run)
{
    struct culex_enqueue_result result;
    ticket.sequence--;
    run.content++;
    run.unique_key = NULL;
    sim_may_fail(sim_call_make(client, "alpha", &ticket, &run, false, &result));
}

/* A run of this number, its payload written to `payload`; some are delayed. */
static struct culex_new_run run_draw(struct sim_process *process, int64_t n,
                                     char payload[PAYLOAD_SIZE])
{
    struct sim_random *random = &process->world->random;
    struct culex_new_run run = culex__new_run_make(&process->world->cast->jobs[0]);
    snprintf(payload, PAYLOAD_SIZE, "{\"n\":%lld}", (long long)n);
    run.payload = payload;
    run.payload_len = strlen(payload);
    run.delay_ms = sim_chance(random, 250) ? sim_between(random, 1, 3000) : 0;
    run.content = culex__content_hash(run.job, run.payload, run.payload_len);
    return run;
}

static void enqueue_unique(struct sim_process *process, culex_client *client)
{
    struct sim_cast *cast = process->world->cast;
    struct sim_random *random = &process->world->random;
    char key[8], payload[PAYLOAD_SIZE];
    struct known order = {.count = 1, .key = -1, .n = cast->numbers++};
    struct culex_new_run run = run_draw(process, order.n, payload);
    struct culex_enqueue_result result;
    struct culex_ticket ticket;
    order.unique = (int)sim_between(random, 1, 4);
    snprintf(key, sizeof key, "%c%d", SIM_UNIQUE_LIVE, order.unique - 1);
    run.unique_key = key;
    run.unique_while = CULEX_UNIQUE_LIVE;
    if (culex_client_new_ticket(client, &order.ticket, NULL) != CULEX_OK ||
        !culex__ticket_parse(order.ticket, &ticket))
        return;
    order.has_ticket = true;
    culex_status status = sim_call_make(client, "alpha", &ticket, &run, false, &result);
    if (process->is_killed)
        return;
    if (status == CULEX_OK || status == CULEX_EUNKNOWN)
        sim_order_told(process, &order, status, status == CULEX_OK ? result.id : order.ticket);
    else
        sim_order_refused(process, &order, status);
    if (status == CULEX_OK && sim_chance(random, 200))
        past_call_make(client, ticket, run);
}

/* Of a key that is kept for a time, or of one whose run is replaced until it begins; some calls are
 * made twice, as after an answer that was lost. */
static void enqueue_kept(struct sim_process *process, culex_client *client)
{
    enum { KEYS = 2, FOR_MS = 3000 };
    struct sim_random *random = &process->world->random;
    char key[8], payload[PAYLOAD_SIZE];
    struct culex_new_run run = run_draw(process, process->world->cast->numbers++, payload);
    struct culex_enqueue_result result;
    struct culex_ticket ticket;
    culex_uuid own;
    run.unique_replaces = sim_chance(random, 500);
    run.unique_while = run.unique_replaces ? NOT_BEGUN : 0;
    run.unique_for_ms = run.unique_replaces ? 0 : FOR_MS;
    if (run.unique_replaces && sim_chance(random, 700))
        run.delay_ms = sim_between(random, FOR_MS / 2, 2 * FOR_MS);
    snprintf(key, sizeof key, "%c%d", run.unique_replaces ? SIM_UNIQUE_REPLACED : SIM_UNIQUE_WINDOW,
             (int)sim_below(random, KEYS));
    run.unique_key = key;
    if (culex_client_new_ticket(client, &own, NULL) != CULEX_OK ||
        !culex__ticket_parse(own, &ticket))
        return;
    culex_status status = sim_call_make(client, "alpha", &ticket, &run, false, &result);
    if (!process->is_killed && sim_chance(random, 300))
        status = sim_call_make(client, "alpha", &ticket, &run, status == CULEX_EUNKNOWN, &result);
    if (!process->is_killed && status == CULEX_OK)
        sim_oracle_acknowledged(process->world->oracle, result.id);
}

/* Of few slots; some with a token too, or of a fair share; some need units of a worker. */
static void enqueue_limited(struct sim_process *process, culex_client *client)
{
    static const char *const keys[SIM_LIMIT_KEYS] = {"a", "b"};
    struct sim_cast *cast = process->world->cast;
    struct sim_random *random = &process->world->random;
    struct culex_run_limit limits[] = {
        {CULEX_LIMIT_CONCURRENCY, SIM_LIMIT, keys[sim_below(random, SIM_LIMIT_KEYS)], .count = 2},
        {CULEX_LIMIT_RATE, "sim:rate", "", .count = 20, .per_ms = 1000, .burst = 3},
        {.kind = CULEX_LIMIT_NEEDS}};
    char payload[PAYLOAD_SIZE];
    int64_t n = cast->numbers++;
    struct culex_new_run run = run_draw(process, n, payload);
    struct culex_enqueue_result result;
    culex_uuid own;
    struct culex_ticket ticket;
    run.priority = sim_chance(random, 200) ? 5 : 0;
    run.limits = limits;
    run.limit_count = sim_chance(random, 500) ? 2 : 1;
    if (sim_chance(random, 200))
        limits[1] = (struct culex_run_limit){CULEX_LIMIT_FAIR, "sim:fair", "t", .count = 0};
    if (sim_chance(random, 400)) {
        limits[2].name = sim_chance(random, 700) ? SIM_NEEDS ":1" : SIM_NEEDS ":2";
        run.limit_count = (size_t)sim_below(random, (int64_t)run.limit_count + 1);
        limits[run.limit_count++] = limits[2];
    }
    if (culex_client_new_ticket(client, &own, NULL) != CULEX_OK ||
        !culex__ticket_parse(own, &ticket))
        return;
    culex_status status = sim_call_make(client, "alpha", &ticket, &run, false, &result);
    if (process->is_killed || status != CULEX_OK)
        return;
    sim_oracle_acknowledged(process->world->oracle, result.id);
    sim_known_id(sim_known_add(cast, 0, n), result.id);
}

/* Now and then so many that they are in each other's way. */
static void enqueue_limited_some(struct sim_process *process, culex_client *client)
{
    int count = sim_chance(&process->world->random, 200) ? 5 : 1;
    for (int i = 0; i < count && !process->is_killed; i++)
        enqueue_limited(process, client);
}

static void enqueue_many(struct sim_process *process, culex_client *client)
{
    struct sim_cast *cast = process->world->cast;
    struct sim_random *random = &process->world->random;
    struct number params[MANY];
    culex_uuid ids[MANY];
    culex_error error = {0};
    size_t count = (size_t)sim_between(random, 2, MANY), enqueued = 0;
    int job = sim_is_plain(process->world) ? 0 : (int)sim_below(random, 3);
    for (size_t i = 0; i < count; i++)
        params[i].n = cast->numbers++;
    culex_status status = culex_client_enqueue_many(
        client, &cast->jobs[job], params, sizeof params[0], count, NULL, ids, &enqueued, &error);
    if (process->is_killed)
        return;
    for (size_t i = 0; i < enqueued; i++) {
        sim_oracle_acknowledged(process->world->oracle, ids[i]);
        sim_known_id(sim_known_add(cast, job, params[i].n), ids[i]);
    }
    if (status != CULEX_EUNKNOWN)
        return;
    struct known *rest = sim_known_add(cast, job, params[enqueued].n);
    rest->count = count - enqueued;
    sim_known_ticket(rest, ids[enqueued]);
}

/* The same order once more, by whichever client: after an uncertain answer, or out of
 * forgetfulness. */
static void enqueue_again(struct sim_process *process, culex_client *client)
{
    struct sim_cast *cast = process->world->cast;
    struct known *picked = sim_known_pick(cast, &process->world->random);
    if (picked == NULL || !picked->has_ticket)
        return;
    if (picked->unique > 0 || (picked->count == 1 && sim_chance(&process->world->random, 400))) {
        sim_convoy_again(process, client, picked);
        return;
    }
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
        options.idempotency_key = sim_key_of(order.key);
        options.has_idempotency_window = true;
        options.idempotency_window = sim_window_of(order.key) * CULEX_MILLISECOND;
    }
    culex_uuid first, still;
    bool is_known = sim_order_is_known(process, &order, &first);
    culex_status status = culex_client_enqueue_many(client, type, params, sizeof params[0],
                                                    order.count, &options, ids, &enqueued, &error);
    if (process->is_killed)
        return;
    is_known =
        is_known && sim_order_is_known(process, &order, &still) && sim_is_same_id(first, still);
    sim_again_told(process, &order, is_known ? &first : NULL, status, ids);
    /* The place may be another order's by now. */
    if (status == CULEX_OK && picked->has_ticket && !picked->has_id &&
        memcmp(&picked->ticket, &order.ticket, sizeof order.ticket) == 0)
        sim_known_id(picked, ids[0]);
}

/* In a world of plain runs nothing is wanted with a key. */
static void enqueue_somehow(struct sim_process *process, culex_client *client)
{
    struct sim_random *random = &process->world->random;
    bool is_plain = sim_is_plain(process->world);
    int64_t draw = sim_below(random, 100);
    if (sim_chance(random, is_plain ? 10 : 50))
        sim_wait_some(process, client);
    else if (sim_chance(random, is_plain ? 10 : 60))
        sim_batch_make(process, client);
    else if (!is_plain && draw < 20)
        enqueue_limited_some(process, client);
    else if (draw < 52)
        enqueue_one(process, client);
    else if (draw < (is_plain ? 70 : 59))
        enqueue_many(process, client);
    else if (draw < 65)
        enqueue_unique(process, client);
    else if (draw < 70)
        enqueue_kept(process, client);
    else if (draw < 88)
        sim_convoy_send(process, client);
    else
        enqueue_again(process, client);
}

void sim_producer_body(struct sim_process *process)
{
    struct sim_world *world = process->world;
    struct sim_random *random = &world->random;
    culex_client *client = sim_client_await(process);
    while (client != NULL && !process->is_killed && !world->is_healing) {
        sim_sleep(process, sim_between(random, 0, 2 * world->cast->pace_ms) * SIM_MS);
        if (!process->is_killed && !world->is_healing && sim_oracle_live(world->oracle) <= 150)
            enqueue_somehow(process, client);
    }
    culex_client_close(client);
}
