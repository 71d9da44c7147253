/* sim/order.c - what producers know of their orders, and what they may be told of them. */
#include "cast.h"

struct known *sim_known_pick(struct sim_cast *cast, struct sim_random *random)
{
    size_t count = cast->known_count < SIM_KNOWN ? cast->known_count : SIM_KNOWN;
    return count == 0 ? NULL : &cast->known[sim_below(random, (int64_t)count)];
}

struct known *sim_known_add(struct sim_cast *cast, int job, int64_t n)
{
    struct known *known = &cast->known[cast->known_count++ % SIM_KNOWN];
    *known = (struct known){.job = job, .n = n, .count = 1, .key = -1};
    return known;
}

void sim_known_id(struct known *known, culex_uuid id)
{
    known->id = id;
    known->has_id = true;
}

void sim_known_ticket(struct known *known, culex_uuid ticket)
{
    known->ticket = ticket;
    known->has_ticket = true;
}

const char *sim_queue_of(const struct sim_cast *cast, const struct known *order)
{
    return cast->jobs[order->job].queue;
}

/* --- idempotency keys */

const char *sim_key_of(int key)
{
    static const char *const names[SIM_KEYS] = {"order 0", "order|1", "{2}", "order 3",
                                                "\xe2\x82\xac 4"};
    return key < 0 ? NULL : names[key];
}

int64_t sim_window_of(int key)
{
    static const int64_t windows_ms[SIM_KEYS] = {100, 3000, 20000, 300000, 1200000};
    return windows_ms[key];
}

/* --- what is told */

bool sim_order_is_known(const struct sim_process *process, const struct known *order,
                        culex_uuid *ret_first)
{
    const struct sim_world *world = process->world;
    return order->has_ticket &&
           sim_oracle_must_know(world->oracle, sim_queue_of(world->cast, order), order->ticket,
                                ret_first);
}

struct known *sim_order_told(struct sim_process *process, const struct known *order,
                             culex_status status, culex_uuid id)
{
    struct sim_oracle *oracle = process->world->oracle;
    struct known *known = sim_known_add(process->world->cast, order->job, order->n);
    culex_uuid first;
    *known = *order;
    if (status == CULEX_EUNKNOWN) {
        SOMETIMES(ENQUEUE_UNKNOWN);
        sim_known_ticket(known, id);
        return known;
    }
    sim_known_id(known, id);
    if (sim_order_is_known(process, order, &first) && !sim_is_same_id(first, id))
        sim_violation(oracle, &id, "a call brings one run and is answered with another");
    sim_oracle_acknowledged(oracle, id);
    if (order->key >= 0)
        sim_oracle_keyed(oracle, sim_key_of(order->key), id, sim_window_of(order->key));
    return known;
}

void sim_order_refused(struct sim_process *process, const struct known *order, culex_status status)
{
    struct sim_oracle *oracle = process->world->oracle;
    if (order->has_ticket)
        sim_oracle_refused(oracle, sim_queue_of(process->world->cast, order), order->ticket);
    if (status == CULEX_ECONFLICT && order->key < 0)
        sim_violation(oracle, NULL, "a fresh ticket is said to have come before");
    if (status == CULEX_ECONFLICT)
        SOMETIMES(KEY_CAME_WITH_OTHER_CONTENT);
    if (status == CULEX_EFULL)
        SOMETIMES(ENQUEUE_REFUSED_FULL);
    if (status == CULEX_EUNIQUE)
        SOMETIMES(UNIQUE_KEY_TAKEN);
}

void sim_again_told(struct sim_process *process, const struct known *order, const culex_uuid *first,
                    culex_status status, const culex_uuid *ids)
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
    if (is_known && !sim_is_same_id(*first, ids[0]))
        sim_violation(oracle, &ids[0], "a repeat is answered with another run");
    const struct sim_record *record = sim_oracle_find(oracle, ids[0]);
    if (is_known)
        SOMETIMES(ENQUEUE_REPEATED_BY_ANOTHER_CLIENT);
    if (is_known && record != NULL && record->state == '-')
        SOMETIMES(ENQUEUE_REPEATED_AFTER_ITS_RUN);
    for (size_t i = 0; i < order->count; i++)
        sim_oracle_acknowledged(oracle, ids[i]);
}

/* --- calls that only a store takes */

culex_status sim_status_of(enum culex_enqueued outcome)
{
    static const culex_status statuses[] = {[CULEX_ENQUEUED_NEW] = CULEX_OK,
                                            [CULEX_ENQUEUED_DUPLICATE] = CULEX_OK,
                                            [CULEX_ENQUEUED_CONFLICT] = CULEX_ECONFLICT,
                                            [CULEX_ENQUEUED_FULL] = CULEX_EFULL,
                                            [CULEX_ENQUEUED_UNIQUE_TAKEN] = CULEX_EUNIQUE,
                                            [CULEX_ENQUEUED_REPLACED] = CULEX_OK,
                                            [CULEX_ENQUEUED_HELD] = CULEX_ESTATE};
    return statuses[outcome];
}

culex_status sim_call_make(culex_client *client, const char *queue,
                           const struct culex_ticket *ticket, const struct culex_new_run *run,
                           bool is_unknown, struct culex_enqueue_result *ret_result)
{
    struct culex_effort effort;
    culex_status status = culex__effort_begin(client, &effort, NULL);
    if (status != CULEX_OK)
        return status;
    effort.is_unknown = is_unknown;
    do
        status =
            client->store->ops->enqueue(client->store, queue, ticket, run, 1, ret_result, NULL);
    while (culex__effort_again(&effort, status));
    status = culex__effort_end(&effort, status, NULL);
    if (status == CULEX_OK)
        status = sim_status_of(ret_result->outcome);
    return status != CULEX_OK && effort.is_unknown ? CULEX_EUNKNOWN : status;
}
