/* sim/convoy.c - orders that go to the store in one, as client/convoy.c does for threads that share
 * a client: one try, in which each is a call of its own; who gets no answer goes on alone. Those
 * who ride may have made their calls before, and do not know what became of them. */
#include <stdlib.h>
#include <string.h>

#include "client/newrun.h"

#include "cast.h"

/* RIDERS: more than a queue's rear has room for, in SQLite. */
enum { FEW = 8, RIDERS = 20 };

struct rider {
    struct known order;   /* its ticket is that of this ride */
    struct known *before; /* it made its call before, and that is what it knows; else NULL */
    bool is_own;          /* the ticket is its own, and nobody else's later */
    bool was_known;       /* to the store, when it set out: */
    culex_uuid first;     /* by this run */
    char payload[SIM_PAYLOAD_SIZE], unique_key[16];
};

struct convoy {
    struct sim_process *process;
    culex_client *client;
    size_t count;
    struct rider riders[RIDERS];
    struct culex_ticket tickets[RIDERS];
    struct culex_new_run runs[RIDERS];
    struct culex_enqueue_result results[RIDERS];
};

/* --- who rides ----------------------------------------------------------------------------- */

/* What the job, the number and the keys of its order say, which is all that a repeat has to say
 * again. */
static void rider_dress(struct convoy *convoy, size_t index)
{
    const struct sim_cast *cast = convoy->process->world->cast;
    struct rider *rider = &convoy->riders[index];
    struct culex_new_run *run = &convoy->runs[index];
    *run = culex__new_run_make(&cast->jobs[rider->order.job]);
    snprintf(rider->payload, sizeof rider->payload, "{\"n\":%lld}", (long long)rider->order.n);
    run->payload = rider->payload;
    run->payload_len = strlen(rider->payload);
    run->content = culex__content_hash(run->job, run->payload, run->payload_len);
    run->idempotency_key = sim_key_of(rider->order.key);
    run->window_ms = rider->order.key >= 0 ? sim_window_of(rider->order.key) : 0;
    snprintf(rider->unique_key, sizeof rider->unique_key, "a%d", rider->order.unique - 1);
    run->unique_key = rider->order.unique > 0 ? rider->unique_key : NULL;
    run->unique_while = CULEX_UNIQUE_LIVE;
}

static struct rider *rider_add(struct convoy *convoy, const struct known *order)
{
    struct rider *rider = &convoy->riders[convoy->count];
    *rider = (struct rider){.order = *order};
    rider_dress(convoy, convoy->count++);
    return rider;
}

/* Only the first job is asked for with keys, as of orders that go alone. */
static struct known order_draw(struct sim_world *world, bool is_beta)
{
    static const int choice[] = {0, 0, 0, 0, 1, 2};
    struct sim_random *random = &world->random;
    struct known order = {.count = 1, .key = -1, .n = world->cast->numbers++};
    order.job = is_beta ? 4 : choice[sim_below(random, sizeof choice / sizeof choice[0])];
    if (order.job == 0 && sim_chance(random, 250)) {
        order.key = (int)sim_below(random, SIM_KEYS);
        order.n = sim_chance(random, 800) ? -1 - order.key : order.n;
    } else if (order.job == 0 && sim_chance(random, 250)) {
        order.unique = (int)sim_between(random, 1, 4);
    }
    return order;
}

static void rider_add_new(struct convoy *convoy, bool is_beta)
{
    struct sim_world *world = convoy->process->world;
    struct sim_random *random = &world->random;
    struct known order = order_draw(world, is_beta);
    struct culex_new_run *run = &convoy->runs[convoy->count];
    rider_add(convoy, &order);
    if (sim_chance(random, 250))
        run->delay_ms = sim_between(random, 1, 3000);
    if (sim_chance(random, 200))
        run->priority = (int)sim_between(random, 0, 9);
}

/* Nothing is wanted for it beyond its kind. */
static void rider_add_plain(struct convoy *convoy)
{
    const struct known order = {
        .count = 1, .key = -1, .n = convoy->process->world->cast->numbers++};
    rider_add(convoy, &order);
}

static bool is_aboard(const struct convoy *convoy, culex_uuid ticket)
{
    struct culex_ticket mine, other;
    if (!culex__ticket_parse(ticket, &mine))
        return true;
    for (size_t i = 0; i < convoy->count; i++) {
        if (convoy->riders[i].before != NULL &&
            culex__ticket_parse(convoy->riders[i].order.ticket, &other) &&
            other.producer == mine.producer)
            return true;
    }
    return false;
}

static void rider_add_before(struct convoy *convoy, struct known *before)
{
    struct sim_process *process = convoy->process;
    if (before == NULL || !before->has_ticket || before->count != 1 ||
        is_aboard(convoy, before->ticket) ||
        (convoy->count > 0 &&
         strcmp(sim_queue_of(process->world->cast, before),
                sim_queue_of(process->world->cast, &convoy->riders[0].order)) != 0))
        return;
    struct rider *rider = rider_add(convoy, before);
    rider->before = before;
    rider->is_own = true;
    rider->was_known = sim_order_is_known(process, before, &rider->first);
}

static void riders_add(struct convoy *convoy, size_t count)
{
    struct sim_world *world = convoy->process->world;
    struct sim_random *random = &world->random;
    bool is_plain = sim_is_plain(world) || sim_chance(random, 300);
    bool is_beta = convoy->count > 0
                       ? strcmp(sim_queue_of(world->cast, &convoy->riders[0].order), "beta") == 0
                       : !is_plain && sim_chance(random, 150);
    while (convoy->count < count) {
        if (is_plain && !is_beta)
            rider_add_plain(convoy);
        else
            rider_add_new(convoy, is_beta);
    }
}

/* --- the try ------------------------------------------------------------------------------- */

/* In its turn, and with the store's clock known. Who has none yet takes one of the client's. */
static void tickets_take(struct convoy *convoy)
{
    for (size_t i = 0; i < convoy->count; i++) {
        struct rider *rider = &convoy->riders[i];
        if (!rider->is_own)
            sim_known_ticket(&rider->order,
                             culex__ticket_format(culex__client_next_ticket_of(convoy->client, i)));
        if (!culex__ticket_parse(rider->order.ticket, &convoy->tickets[i]))
            abort();
    }
}

static culex_status convoy_call(struct convoy *convoy)
{
    struct culex_store *store = convoy->client->store;
    const struct known *order = &convoy->riders[0].order;
    return store->ops->enqueue_each(store, sim_queue_of(convoy->process->world->cast, order),
                                    convoy->tickets, convoy->runs, convoy->count, convoy->results,
                                    NULL);
}

static culex_status convoy_try(struct convoy *convoy)
{
    culex_client *client = convoy->client;
    struct culex_effort effort;
    culex_status status = culex__effort_begin(client, &effort, NULL);
    if (status != CULEX_OK)
        return status;
    status = culex__client_know_clock(&effort, NULL);
    if (status == CULEX_OK) {
        tickets_take(convoy);
        status = convoy_call(convoy);
        if (status != CULEX_OK)
            culex__client_leave_producers(client);
    }
    sim_may_fail(culex__effort_end(&effort, CULEX_OK, NULL));
    return status;
}

/* Once more all together, though a client would not. */
static culex_status convoy_try_again(struct convoy *convoy)
{
    struct culex_effort effort;
    culex_status status = culex__effort_begin(convoy->client, &effort, NULL);
    if (status != CULEX_OK)
        return status;
    status = convoy_call(convoy);
    sim_may_fail(culex__effort_end(&effort, CULEX_OK, NULL));
    return status;
}

static size_t known_count(const struct convoy *convoy)
{
    size_t count = 0;
    culex_uuid first;
    for (size_t i = 0; i < convoy->count; i++)
        count += sim_order_is_known(convoy->process, &convoy->riders[i].order, &first);
    return count;
}

static void try_count(const struct convoy *convoy, culex_status status)
{
    if (convoy->process->is_killed)
        SOMETIMES(EACH_OF_A_KILLED_PRODUCER);
    else if (status == CULEX_EUNKNOWN && known_count(convoy) > 0)
        SOMETIMES(EACH_REPLY_LOST);
    else if (status == CULEX_EUNKNOWN)
        SOMETIMES(EACH_REQUEST_LOST);
    else if (status != CULEX_OK && status != CULEX_ECONFLICT && status != CULEX_EEXPIRED)
        SOMETIMES(EACH_FAILED);
}

/* --- what each is told --------------------------------------------------------------------- */

static void new_told(struct convoy *convoy, const struct rider *rider, culex_status status,
                     culex_uuid id)
{
    if (status != CULEX_OK && status != CULEX_EUNKNOWN) {
        sim_order_refused(convoy->process, &rider->order, status);
        return;
    }
    struct known *known = sim_order_told(convoy->process, &rider->order, status,
                                         status == CULEX_OK ? id : rider->order.ticket);
    /* The client's next call may be of the same producer. */
    known->has_ticket = status == CULEX_EUNKNOWN || rider->is_own;
}

/* Of a call that was made before, maybe. The place of what is known of it may be another's by
 * now. */
static void again_told(struct convoy *convoy, const struct rider *rider, culex_status status,
                       culex_uuid id)
{
    struct known *before = rider->before;
    culex_uuid still;
    bool is_known = rider->was_known &&
                    sim_order_is_known(convoy->process, &rider->order, &still) &&
                    sim_is_same_id(rider->first, still);
    sim_again_told(convoy->process, &rider->order, is_known ? &rider->first : NULL, status, &id);
    if (status == CULEX_OK && before->has_ticket && !before->has_id &&
        sim_is_same_id(before->ticket, rider->order.ticket))
        sim_known_id(before, id);
}

/* It may have ended by now, and be forgotten. */
static void holder_check(const struct convoy *convoy, const struct rider *rider, culex_uuid id)
{
    struct sim_oracle *oracle = convoy->process->world->oracle;
    const struct sim_record *record = sim_oracle_find(oracle, id);
    if (record == NULL ||
        (record->state != '-' && strcmp(record->unique_key, rider->unique_key) != 0))
        sim_violation(oracle, &id, "it is said to hold the key %s", rider->unique_key);
}

static void rider_told(struct convoy *convoy, size_t index, culex_status status)
{
    const struct rider *rider = &convoy->riders[index];
    const struct culex_enqueue_result *result = &convoy->results[index];
    if (status == CULEX_EUNIQUE)
        holder_check(convoy, rider, result->id);
    if (rider->before == NULL)
        new_told(convoy, rider, status, result->id);
    else
        again_told(convoy, rider, status, result->id);
}

/* Where a try got no answer and none is new now, that try may still be under way; else the store
 * knows one of them, and will refuse it as a whole. */
static void riders_told(struct convoy *convoy, bool is_unknown)
{
    for (size_t i = 0; i < convoy->count; i++)
        is_unknown = is_unknown && convoy->results[i].outcome != CULEX_ENQUEUED_NEW;
    for (size_t i = 0; i < convoy->count; i++) {
        culex_status status = sim_status_of(convoy->results[i].outcome);
        rider_told(convoy, i, status != CULEX_OK && is_unknown ? CULEX_EUNKNOWN : status);
    }
}

/* --- alone --------------------------------------------------------------------------------- */

static void rider_go_alone(struct convoy *convoy, size_t index, bool is_unknown)
{
    culex_uuid first;
    bool was_known = sim_order_is_known(convoy->process, &convoy->riders[index].order, &first);
    culex_status status = sim_call_make(
        convoy->client, sim_queue_of(convoy->process->world->cast, &convoy->riders[index].order),
        &convoy->tickets[index], &convoy->runs[index], is_unknown, &convoy->results[index]);
    if (convoy->process->is_killed)
        return;
    if (status == CULEX_OK && is_unknown && was_known)
        SOMETIMES(EACH_REPEATED_ALONE);
    if (status == CULEX_OK && !was_known)
        SOMETIMES(EACH_MADE_ALONE);
    rider_told(convoy, index, status);
}

/* The program that sent it has come to its end; what it noted before is all that others know. */
static void convoy_leave(struct convoy *convoy)
{
    SOMETIMES(EACH_LEFT_BY_ITS_SENDER);
    for (size_t i = 0; i < convoy->count; i++) {
        const struct rider *rider = &convoy->riders[i];
        if (rider->before == NULL)
            sim_order_told(convoy->process, &rider->order, CULEX_EUNKNOWN, rider->order.ticket);
    }
}

static void riders_go_alone(struct convoy *convoy, bool is_unknown)
{
    sim_oracle_left(convoy->process->world->oracle, convoy->tickets[0]);
    for (size_t i = 0; i < convoy->count && !convoy->process->is_killed; i++)
        rider_go_alone(convoy, i, is_unknown);
}

static void convoy_part(struct convoy *convoy, culex_status status)
{
    struct sim_random *random = &convoy->process->world->random;
    bool is_unknown = status == CULEX_EUNKNOWN;
    if (sim_chance(random, 150)) {
        convoy_leave(convoy);
        return;
    }
    if (sim_chance(random, 250)) {
        status = convoy_try_again(convoy);
        try_count(convoy, status);
        is_unknown = is_unknown || status == CULEX_EUNKNOWN;
    }
    if (convoy->process->is_killed)
        return;
    if (status == CULEX_OK)
        SOMETIMES(EACH_BROUGHT_BY_A_REPEAT);
    if (status == CULEX_OK)
        riders_told(convoy, is_unknown);
    else
        riders_go_alone(convoy, is_unknown);
}

static void convoy_go(struct convoy *convoy)
{
    culex_status status = convoy_try(convoy);
    bool has_tickets = convoy->tickets[0].producer != 0;
    if (!has_tickets)
        return;
    try_count(convoy, status);
    if (convoy->process->is_killed)
        return;
    if (status == CULEX_OK)
        riders_told(convoy, false);
    else
        convoy_part(convoy, status);
}

/* --- calls --------------------------------------------------------------------------------- */

/* Some have tickets of their own, which they may show again whatever the client does meanwhile. */
static void tickets_own(struct convoy *convoy)
{
    struct sim_random *random = &convoy->process->world->random;
    for (size_t i = 0; i < convoy->count; i++) {
        struct rider *rider = &convoy->riders[i];
        culex_uuid ticket;
        if (rider->is_own || !sim_chance(random, 400) ||
            culex_client_new_ticket(convoy->client, &ticket, NULL) != CULEX_OK)
            continue;
        sim_known_ticket(&rider->order, ticket);
        rider->is_own = true;
    }
}

static void convoy_gather(struct convoy *convoy, size_t befores, size_t count)
{
    struct sim_world *world = convoy->process->world;
    for (size_t i = 0; i < befores && convoy->count < count; i++)
        rider_add_before(convoy, sim_known_pick(world->cast, &world->random));
    riders_add(convoy, count);
    tickets_own(convoy);
}

static size_t count_draw(struct sim_world *world, int64_t least)
{
    return (size_t)sim_between(&world->random, least, world->options.is_sqlite ? RIDERS : FEW);
}

void sim_convoy_send(struct sim_process *process, culex_client *client)
{
    struct convoy convoy = {.process = process, .client = client};
    struct sim_random *random = &process->world->random;
    size_t befores = sim_chance(random, 150) ? (size_t)sim_between(random, 1, 4) : 0;
    convoy_gather(&convoy, befores, count_draw(process->world, 2));
    if (sim_chance(random, 30))
        sim_cast_doom(process);
    convoy_go(&convoy);
}

void sim_convoy_again(struct sim_process *process, culex_client *client, struct known *picked)
{
    struct convoy convoy = {.process = process, .client = client};
    struct sim_random *random = &process->world->random;
    rider_add_before(&convoy, picked);
    if (sim_chance(random, 400)) {
        tickets_take(&convoy);
        rider_go_alone(&convoy, 0, false);
        return;
    }
    size_t befores = (size_t)sim_between(random, 0, 4);
    convoy_gather(&convoy, befores, count_draw(process->world, 1));
    convoy_go(&convoy);
}
