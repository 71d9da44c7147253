/* suite/differential.c - random operations on a store and on the model, replies and content
 * compared.
 *
 *     differential STORE [--seed N] [--ops N] [--faults N] [--follow] [--bound]
 *                        [--wait] [--figures] [--batch] [--after] [--events] [--find]
 *                        [--log] [--trace]
 *
 * The seed of a failure is printed; with it and --ops the same run happens again.
 * --faults N (Redis): about one fault in N operations. A fault breaks the connection, drops
 * the scripts, or kills and restarts the server; a call that ends in CULEX_EUNKNOWN is repeated. */
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compare.h"
#include "core/figures.h"
#include "store/event_entry.h"
#include "store/figure_list.h"
#include "store/limit_list.h"
#include "store/metadata_list.h"
#include "store/schema_list.h"
#include "store/schedule_list.h"
#include "store/worker_list.h"
#include "stores.h"

enum {
    SESSIONS = 4,
    QUEUES = 2,
    IDS = 512,
    GRANTS = 128,
    STEP_MAX = 8,
    LIVE_MAX = 60,
    ACTIVE_MAX = 30,
    WAITS_MAX = 6,
    BATCHES = 12,
    PRODUCERS = 4,
    CALLS = 24,
    LIMITS_POOL = 1024, /* more than there are in known calls */
    OPS_PER_COMPARE = 150
};

struct known_id {
    culex_uuid id;
    int queue;
};

/* An enqueue call with a ticket. */
struct known_call {
    struct culex_ticket ticket;
    int queue;
    struct culex_new_run runs[STEP_MAX];
    size_t count;
};

struct known_grant {
    culex_uuid id;
    uint32_t attempt;
    int session, queue;
};

struct last_step {
    struct culex_step step;
    struct culex_ack acks[STEP_MAX];
    struct culex_beat beats[STEP_MAX];
    struct culex_follow_up follow_ups[STEP_MAX]; /* each is the only one of its ack */
    char keys[STEP_MAX][24];                     /* what the store knows them by */
    int64_t at_ms;
    bool is_repeatable;
    bool has_followed; /* the model has them */
};

/* The last step of a session in a queue that had something to do, so that every store remembers
 * it. */
struct last_act {
    uint64_t nonce;
    int64_t at_ms;
};

struct world {
    struct culex_env env;
    int64_t now_ms, newest_ms; /* the clock, and the furthest it has been */
    struct compare compare;
    struct culex_store *handles[SESSIONS]; /* each session steps on its own */
    uint64_t random;
    culex_uuid newcomer; /* id that the model is to give */
    unsigned long op;
    size_t limits_made;
    bool has_limits;         /* the store keeps them */
    bool has_follow_ups;     /* some of the successes have */
    bool has_bound;          /* some of the calls are */
    bool has_waits;          /* somebody waits for ends */
    bool has_events;         /* and queues keep some */
    uint64_t events[QUEUES]; /* up to here they were compared */
    bool has_figures;        /* and sessions tell what they count */
    bool has_batches;        /* a third of the calls are of one */
    bool has_after;          /* runs wait for the ends of others */
    bool has_filters;        /* listings have filters */
    bool is_crowded;         /* most runs have some, so that shares are full: by the seed */
    bool is_traced;
    bool is_doubtful; /* a fault hit this operation: without a ticket or a nonce, it may have been
                         applied more than once */
    unsigned long fault_every;
    char sessions[SESSIONS][17];
    struct known_id ids[IDS];
    size_t id_count;
    struct culex_ticket producers[PRODUCERS]; /* newest ticket of each */
    struct known_call calls[CALLS];
    size_t call_count;
    struct known_id batches[BATCHES];
    size_t batch_count;
    struct known_grant grants[GRANTS];
    size_t grant_count;
    uint64_t figures[SESSIONS]; /* number of the newest call that told some */
    struct last_step last[SESSIONS];
    struct last_act acts[SESSIONS][QUEUES];
    uint64_t nonce;
    int told_fd; /* of the first handle, which is told of ends */
    struct {
        int queue;
        culex_list_filter filter;
        culex_list_cursor cursor; /* its place is 0: none is under way */
        int64_t last_ms;          /* with the newest first: of the run that was shown last */
    } listing;
};

#define STORE_NAME "differential"

static const char *const queues[QUEUES] = {"jobs", "a:b"};

static uint64_t random_next(struct world *world)
{
    uint64_t z = world->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int64_t below(struct world *world, int64_t limit)
{
    return (int64_t)(random_next(world) % (uint64_t)limit);
}

static bool chance(struct world *world, int percent)
{
    return below(world, 100) < percent;
}

static int64_t driven_clock(void *self)
{
    return ((struct world *)self)->now_ms;
}

static struct culex_store *handle_pick(struct world *world)
{
    return world->handles[below(world, SESSIONS)];
}

#define TRACE(world, ...)                                                                          \
    do {                                                                                           \
        if ((world)->is_traced)                                                                    \
            fprintf(stderr, "%lu: ", (world)->op), fprintf(stderr, __VA_ARGS__),                   \
                fputc('\n', stderr);                                                               \
    } while (0)

/* Calls `call` until the store answers, at most 50 times; sets `status`. */
#define PERSIST(world, status, call)                                                               \
    do {                                                                                           \
        for (int tries_ = 0; tries_ < 50; tries_++) {                                              \
            (status) = (call);                                                                     \
            if ((status) != CULEX_EUNKNOWN && (status) != CULEX_ECONNECT &&                        \
                (status) != CULEX_EBUSY)                                                           \
                break;                                                                             \
            (world)->is_doubtful = true;                                                           \
            stores_wait();                                                                         \
        }                                                                                          \
    } while (0)

/* --- ENQUEUE, TICK ---------------------------------------------------------------------------- */

static const char payload_bytes[4096] = "{\"text\":\"it's 50% \\\" | \xe2\x82\xac\"}";

/* States, a window, or both. */
static void unique_give(struct world *world, struct culex_new_run *run)
{
    static const int64_t windows[] = {1, 500, 3000, 20000, 200000};
    static const unsigned states[] = {CULEX_UNIQUE_LIVE, CULEX_UNIQUE_LIVE, 3, 1, 2, 4, 5, 6};
    run->unique_while = states[below(world, 8)];
    if (chance(world, 40)) {
        run->unique_for_ms = windows[below(world, 5)];
        run->unique_while = chance(world, 50) ? 0 : run->unique_while;
    }
    run->unique_replaces = chance(world, 40);
}

/* One number for each name most of the time, so that runs meet at it. Often with a share, that of
 * one tenant mostly, first or last. */
static void limits_give(struct world *world, struct culex_new_run *run)
{
    static const char *const keys[] = {"a", "b", "", "a,'b"};
    static const struct culex_run_limit kinds[] = {
        {CULEX_LIMIT_CONCURRENCY, "shop.send:concurrency", NULL, 2, 0, 0},
        {CULEX_LIMIT_RATE, "shop.send:rate", NULL, 3, 7000, 2},
        {CULEX_LIMIT_CONCURRENCY, "it's:hosts", NULL, 3, 0, 0}};
    static const struct culex_run_limit share = {CULEX_LIMIT_FAIR, "shop.send:fair", NULL, 0, 0, 0};
    static const char *const needs[] = {"needs gpu:1", "needs gpu:1", "needs gpu:2",
                                        "needs gpu:1,tape:1", "needs tape:2"};
    static struct culex_run_limit pool[LIMITS_POOL][4];
    struct culex_run_limit *limits = pool[world->limits_made++ % LIMITS_POOL];
    size_t first = (size_t)below(world, 3);
    bool is_needy = chance(world, 40);
    run->limit_count = is_needy && chance(world, 60) ? 0 : 1 + (size_t)below(world, 2);
    for (size_t i = 0; i < run->limit_count; i++) {
        limits[i] = kinds[(first + i) % 3];
        limits[i].key = keys[below(world, 4)];
        limits[i].count += chance(world, 3);
    }
    if (chance(world, 60)) {
        size_t at = chance(world, 50) ? 0 : run->limit_count;
        memmove(&limits[at + 1], &limits[at], (run->limit_count++ - at) * sizeof limits[0]);
        limits[at] = share;
        limits[at].key = chance(world, 60) ? "a" : keys[below(world, 4)];
    }
    if (is_needy)
        limits[run->limit_count++] =
            (struct culex_run_limit){CULEX_LIMIT_NEEDS, needs[below(world, 5)], NULL, 0, 0, 0};
    run->limits = limits;
}

static struct culex_new_run run_make(struct world *world)
{
    static const int priorities[] = {0, 0, 0, 1, 5, 5, 9, 3};
    static const char *const keys[] = {NULL, "", "aa", "bb", "00ff00ff", NULL, NULL, NULL};
    static const char *const jobs[] = {"shop.send", "shop.sweep", "it's"};
    struct culex_new_run run = {.tags = "", .payload = payload_bytes};
    run.job = jobs[below(world, 3)];
    run.priority = priorities[below(world, 8)];
    run.delay_ms = chance(world, 25) ? below(world, 30000) - 1000 : 0;
    run.at_ms = chance(world, 10) ? world->now_ms + below(world, 40000) - 5000 : 0;
    run.attempts_max = 1 + (uint32_t)below(world, 5);
    run.expires_ms = chance(world, 25) ? 1 + below(world, 20000) : 0;
    run.retry_for_ms = chance(world, 25) ? 1 + below(world, 40000) : 0;
    run.timeout_ms = chance(world, 25) ? 1000 + below(world, 30000) : 0;
    run.keep_success_ms = chance(world, 20) ? 0 : below(world, 60000);
    run.keep_failure_ms = 1000 + below(world, 120000);
    run.fingerprint = random_next(world);
    run.content = random_next(world);
    run.unique_key = keys[below(world, 8)];
    unique_give(world, &run);
    run.tags = chance(world, 20) ? "a,b'c" : "";
    if (world->has_limits && chance(world, world->is_crowded ? 80 : 20))
        limits_give(world, &run);
    run.payload_len = (size_t)(chance(world, 10) ? below(world, 4096) : below(world, 40));
    return run;
}

/* The clock has left the time of forgetting behind and come back to before it: whether it is
 * still remembered is nobody's promise. */
static bool was_left(const struct world *world, int64_t last_ms)
{
    return last_ms >= world->now_ms && last_ms < world->newest_ms;
}

static bool key_was_left(const struct world *world, int queue, const char *text)
{
    const struct model *model = world->compare.model;
    for (size_t i = 0; i < model->key_count; i++) {
        const struct model_key *key = model->keys[i];
        if (strcmp(key->queue->name, queues[queue]) == 0 && strcmp(key->text, text) == 0 &&
            was_left(world, key->until_ms - 1))
            return true;
    }
    return false;
}

static bool window_was_left(const struct world *world, int queue, const char *text)
{
    const struct model *model = world->compare.model;
    for (size_t i = 0; i < model->unique_count && text != NULL; i++) {
        const struct model_unique *unique = model->uniques[i];
        if (strcmp(unique->queue->name, queues[queue]) == 0 && unique->until_ms != 0 &&
            strcmp(unique->text, text) == 0 && was_left(world, unique->until_ms - 1))
            return true;
    }
    return false;
}

static bool producer_was_left(const struct world *world, int queue, uint64_t name)
{
    const struct model *model = world->compare.model;
    for (size_t i = 0; i < model->producer_count; i++) {
        const struct model_producer *producer = model->producers[i];
        if (strcmp(producer->queue->name, queues[queue]) == 0 &&
            producer->ticket.producer == name && was_left(world, producer->last_ms))
            return true;
    }
    return false;
}

/* Few keys and contents, so that they meet. */
static void key_give(struct world *world, int queue, struct culex_new_run *run)
{
    static const char *const keys[] = {"order 7", "a|b:{c}", "\xe2\x82\xac 'x'", "k", "%d\\"};
    static const int64_t windows[] = {1, 700, 20000, 300000, 2000000};
    const char *key = keys[below(world, 5)];
    if (key_was_left(world, queue, key))
        return;
    run->idempotency_key = key;
    run->window_ms = windows[below(world, 5)];
    run->content = chance(world, 80) ? 7 : 8;
}

/* Of a producer that may be new, and may go by another clock. */
static struct culex_ticket ticket_make(struct world *world)
{
    struct culex_ticket *last = &world->producers[below(world, PRODUCERS)];
    static const int64_t ends[] = {-600001, -600000, 600000, 600001};
    int64_t off_ms = chance(world, 80)   ? 0
                     : chance(world, 50) ? below(world, 400000) - 200000
                     : chance(world, 80) ? ends[below(world, 4)]
                                         : below(world, 4000000) - 2000000;
    if (last->producer == 0 || chance(world, 15))
        *last = (struct culex_ticket){.producer = 1 + (random_next(world) >> 3)};
    if (off_ms == 0)
        return culex__ticket_next(last, world->now_ms);
    return (struct culex_ticket){last->producer, (uint64_t)(world->now_ms + off_ms) << 12};
}

/* One that asks for nothing: stores have a way of their own for calls of none but those. */
static void run_plain(struct culex_new_run *run)
{
    run->priority = 0;
    run->delay_ms = run->at_ms = run->expires_ms = 0;
    run->unique_key = NULL;
    run->limit_count = 0;
}

static struct known_call call_make(struct world *world, int queue)
{
    struct known_call call = {.ticket = ticket_make(world), .queue = queue};
    bool is_plain = chance(world, 30);
    call.count = 1 + (size_t)below(world, STEP_MAX);
    for (size_t i = 0; i < call.count; i++) {
        call.runs[i] = run_make(world);
        if (is_plain)
            run_plain(&call.runs[i]);
        else if (chance(world, 25))
            key_give(world, queue, &call.runs[i]);
    }
    return call;
}

static bool call_was_left(const struct world *world, const struct known_call *call)
{
    for (size_t i = 0; i < call->count; i++) {
        if (call->runs[i].idempotency_key != NULL &&
            key_was_left(world, call->queue, call->runs[i].idempotency_key))
            return true;
        if (window_was_left(world, call->queue, call->runs[i].unique_key))
            return true;
    }
    return producer_was_left(world, call->queue, call->ticket.producer);
}

/* A call that was made before, mostly one of the newest; sometimes with other content, or in
 * another queue. */
static struct known_call call_repeat(struct world *world)
{
    size_t count = world->call_count < CALLS ? world->call_count : CALLS;
    size_t back = (size_t)below(world, (int64_t)(count < 3 || chance(world, 30) ? count : 3));
    struct known_call call = world->calls[(world->call_count - 1 - back) % CALLS];
    if (chance(world, 10))
        call.runs[below(world, (int64_t)call.count)].content ^= 1;
    if (chance(world, 10))
        call.queue = (int)below(world, QUEUES);
    if (chance(world, 5))
        call.count = 1 + (size_t)below(world, (int64_t)call.count);
    for (size_t i = 0; i < call.count; i++)
        call.runs[i].delay_ms = chance(world, 50) ? below(world, 30000) : call.runs[i].delay_ms;
    return call;
}

static bool same_result(struct culex_enqueue_result store, struct culex_enqueue_result model)
{
    if (store.outcome != model.outcome)
        return differs("ENQUEUE: outcome %d, model %d", (int)store.outcome, (int)model.outcome);
    if (memcmp(&store.id, &model.id, sizeof store.id) != 0)
        return differs("ENQUEUE: outcome %d with another id", (int)store.outcome);
    return true;
}

/* One that was replaced may stand elsewhere by now: it may be shown or not, and twice. */
static void replaced_forget(struct world *world, int queue,
                            const struct culex_enqueue_result *result)
{
    struct model_run *run = model_find(world->compare.model, queues[queue], result->id);
    if (result->outcome == CULEX_ENQUEUED_REPLACED && run != NULL)
        run->is_listed = false;
}

static bool same_results(struct world *world, const struct known_call *call, culex_status status,
                         const struct culex_enqueue_result *results)
{
    struct culex_store *model = &world->compare.model->base;
    struct culex_enqueue_result mine[STEP_MAX];
    culex_uuid ids[STEP_MAX];
    const struct culex_ticket *ticket = call->ticket.producer != 0 ? &call->ticket : NULL;
    for (size_t i = 0; i < call->count; i++) {
        ids[i] = results[i].id;
        if (status == CULEX_OK && results[i].outcome == CULEX_ENQUEUED_NEW)
            world->ids[world->id_count++ % IDS] = (struct known_id){results[i].id, call->queue};
    }
    model_give_ids(world->compare.model, ids);
    culex_status expected = model->ops->enqueue(model, queues[call->queue], ticket, call->runs,
                                                call->count, mine, NULL);
    if (status != expected)
        return differs("ENQUEUE: status %d, model %d", (int)status, (int)expected);
    for (size_t i = 0; i < call->count && status == CULEX_OK; i++) {
        if (!same_result(results[i], mine[i]))
            return false;
        replaced_forget(world, call->queue, &results[i]);
    }
    return world->compare.model->id_fault == NULL ||
           differs("ENQUEUE: %s", world->compare.model->id_fault);
}

/* With a ticket it does not matter how often the store is asked. */
static bool call_apply(struct world *world, const struct known_call *call)
{
    struct culex_store *store = handle_pick(world);
    struct culex_enqueue_result results[STEP_MAX] = {{CULEX_ENQUEUED_NEW, {{0}}}};
    const struct culex_ticket *ticket = call->ticket.producer != 0 ? &call->ticket : NULL;
    culex_status status;
    TRACE(world, "enqueue %zu queue %d producer %" PRIx64 " sequence %" PRIx64, call->count,
          call->queue, call->ticket.producer, call->ticket.sequence);
    PERSIST(world, status,
            store->ops->enqueue(store, queues[call->queue], ticket, call->runs, call->count,
                                results, NULL));
    return same_results(world, call, status, results);
}

static void call_bind(struct world *world, struct known_call *call)
{
    bool refuses = chance(world, 50);
    for (size_t i = 0; i < call->count; i++) {
        call->runs[i].is_bound = true;
        call->runs[i].unique_refuses = refuses && !call->runs[i].unique_replaces;
    }
}

/* One that was opened: it may have ended or be forgotten by now. */
static const struct known_id *batch_pick(struct world *world)
{
    size_t known = world->batch_count < BATCHES ? world->batch_count : BATCHES;
    return known > 0 ? &world->batches[below(world, (int64_t)known)] : NULL;
}

static void call_batch(struct world *world, struct known_call *call)
{
    const struct known_id *batch = batch_pick(world);
    for (size_t i = 0; batch != NULL && batch->queue == call->queue && i < call->count; i++) {
        call->runs[i].has_batch = true;
        call->runs[i].batch = batch->id;
    }
}

static bool op_enqueue(struct world *world, int queue)
{
    bool is_repeat = world->call_count > 0 && chance(world, 20);
    struct known_call call = is_repeat ? call_repeat(world) : call_make(world, queue);
    if (world->has_bound && !is_repeat && chance(world, 40))
        call_bind(world, &call);
    if (world->has_batches && !is_repeat && !call.runs[0].is_bound && chance(world, 60))
        call_batch(world, &call);
    if (call_was_left(world, &call))
        return true;
    if (!is_repeat)
        world->calls[world->call_count++ % CALLS] = call;
    if (!is_repeat && world->fault_every == 0 && chance(world, 10))
        call.ticket = (struct culex_ticket){0};
    return call_apply(world, &call);
}

/* --- ENQUEUE_EACH --------------------------------------------------------------------------- */

struct known_calls {
    int queue;
    size_t count;
    struct known_call calls[PRODUCERS];
};

/* Of one run each and of different producers; now and then one that was made before. */
static struct known_calls calls_make(struct world *world, int queue)
{
    struct known_calls made = {.queue = queue};
    size_t wanted = 1 + (size_t)below(world, PRODUCERS);
    for (int tries = 0; tries < 2 * PRODUCERS && made.count < wanted; tries++) {
        bool is_repeat = world->call_count > 0 && chance(world, 5);
        struct known_call call = is_repeat ? call_repeat(world) : call_make(world, queue);
        bool is_among = false;
        call.queue = queue;
        call.count = 1;
        call.runs[0].is_bound = call.runs[0].has_batch = false;
        for (size_t i = 0; i < made.count; i++)
            is_among |= made.calls[i].ticket.producer == call.ticket.producer;
        if (!is_among && !call_was_left(world, &call))
            made.calls[made.count++] = call;
    }
    return made;
}

static bool same_each(struct world *world, const struct known_calls *made, culex_status status,
                      const struct culex_ticket *tickets, const struct culex_new_run *runs,
                      const struct culex_enqueue_result *results)
{
    struct culex_store *model = &world->compare.model->base;
    struct culex_enqueue_result mine[PRODUCERS];
    culex_uuid ids[PRODUCERS];
    for (size_t i = 0; i < made->count; i++) {
        ids[i] = results[i].id;
        if (status == CULEX_OK && results[i].outcome == CULEX_ENQUEUED_NEW)
            world->ids[world->id_count++ % IDS] = (struct known_id){results[i].id, made->queue};
    }
    model_give_ids(world->compare.model, ids);
    culex_status expected = model->ops->enqueue_each(model, queues[made->queue], tickets, runs,
                                                     made->count, mine, NULL);
    if (status != expected)
        return differs("ENQUEUE_EACH: status %d, model %d", (int)status, (int)expected);
    for (size_t i = 0; i < made->count && status == CULEX_OK; i++) {
        if (!same_result(results[i], mine[i]))
            return false;
    }
    return world->compare.model->id_fault == NULL ||
           differs("ENQUEUE_EACH: %s", world->compare.model->id_fault);
}

/* As a client does: one try, and without an answer each call by itself. */
static bool op_enqueue_each(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world);
    struct culex_ticket tickets[PRODUCERS];
    struct culex_new_run runs[PRODUCERS];
    struct culex_enqueue_result results[PRODUCERS] = {{CULEX_ENQUEUED_NEW, {{0}}}};
    struct known_calls made = calls_make(world, queue);
    bool is_same = true;
    if (made.count == 0)
        return true;
    for (size_t i = 0; i < made.count; i++) {
        tickets[i] = made.calls[i].ticket;
        runs[i] = made.calls[i].runs[0];
        world->calls[world->call_count++ % CALLS] = made.calls[i];
    }
    TRACE(world, "enqueue each %zu queue %d", made.count, queue);
    culex_status status =
        store->ops->enqueue_each(store, queues[queue], tickets, runs, made.count, results, NULL);
    if (status != CULEX_EUNKNOWN && status != CULEX_ECONNECT && status != CULEX_EBUSY)
        return same_each(world, &made, status, tickets, runs, results);
    world->is_doubtful = true;
    stores_wait();
    for (size_t i = 0; i < made.count && is_same; i++)
        is_same = call_apply(world, &made.calls[i]);
    return is_same;
}

static bool same_status(const struct world *world, const char *verb, culex_status store,
                        culex_status model)
{
    if (store == model || (world->is_doubtful && model == CULEX_OK &&
                           (store == CULEX_ESTATE || store == CULEX_ENOTFOUND)))
        return true;
    return differs("%s: status %d, model %d", verb, (int)store, (int)model);
}

/* The run of `queue` that the model does not know; false when there is none. */
static bool stranger_find(struct world *world, int queue, culex_uuid *ret_id)
{
    struct culex_store *store = world->compare.store;
    culex_list_cursor cursor = CULEX_LIST_START;
    bool is_found = false;
    do {
        struct culex_list_reply page = {0};
        culex_status status;
        PERSIST(world, status,
                store->ops->list(store, queues[queue], CULEX_LIST_OF(CULEX_LIST_ANY), cursor, 100,
                                 &page, NULL));
        if (status != CULEX_OK)
            return false;
        for (size_t i = 0; i < page.count && !is_found; i++) {
            is_found = model_find(world->compare.model, queues[queue], page.runs[i].id) == NULL;
            *ret_id = page.runs[i].id;
        }
        cursor = page.cursor;
        store->ops->list_release(store, &page);
    } while (cursor.place != 0 && !is_found);
    return is_found;
}

static const char *schedule_pick(struct world *world)
{
    return chance(world, 50) ? "shop.sweep" : "it's";
}

/* Of a run that the store may have made: the model gives it the same id. */
static void newcomer_note(struct world *world, int queue)
{
    culex_uuid id;
    if (!stranger_find(world, queue, &id))
        return;
    world->ids[world->id_count++ % IDS] = (struct known_id){id, queue};
    world->newcomer = id;
    model_give_ids(world->compare.model, &world->newcomer);
}

static bool op_tick(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    struct culex_new_run run = run_make(world);
    struct culex_tick_reply mine, theirs;
    struct culex_tick tick = {
        .queue = queues[queue], .schedule = schedule_pick(world), .interval_ms = 7000, .run = &run};
    culex_status status;
    culex_error error = {0};
    run.at_ms = 0;
    run.unique_key = NULL;
    tick.tick_ms = chance(world, 50) ? 0 : world->now_ms + below(world, 20000) - 10000;
    tick.is_of_calendar = chance(world, 50);
    tick.may_overlap = chance(world, 30);
    tick.template = "template";
    tick.template_len = (size_t)below(world, 9);
    if (chance(world, 15))
        tick.run = NULL;
    TRACE(world, "tick");
    PERSIST(world, status, store->ops->tick(store, &tick, &theirs, &error));
    if (status != CULEX_OK)
        return differs("TICK: %s", error.text);
    newcomer_note(world, queue);
    model->ops->tick(model, &tick, &mine, NULL);
    if ((mine.is_enqueued != theirs.is_enqueued && !(world->is_doubtful && mine.is_enqueued)) ||
        mine.mark_ms != theirs.mark_ms || mine.now_ms != theirs.now_ms)
        return differs("TICK: enqueued %d mark %" PRId64 ", model %d %" PRId64, theirs.is_enqueued,
                       theirs.mark_ms, mine.is_enqueued, mine.mark_ms);
    return world->compare.model->id_fault == NULL ||
           differs("TICK: %s", world->compare.model->id_fault);
}

static bool op_schedule_set(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    const char *name = schedule_pick(world);
    enum culex_schedule_act act = (enum culex_schedule_act)below(world, CULEX_SCHEDULE_FORGET + 1);
    culex_status status;
    TRACE(world, "schedule_set %d", (int)act);
    PERSIST(world, status, store->ops->schedule_set(store, queues[queue], name, act, NULL));
    return same_status(world, "SCHEDULE_SET", status,
                       model->ops->schedule_set(model, queues[queue], name, act, NULL));
}

static bool op_schedule_run(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    const char *name = schedule_pick(world);
    struct culex_new_run run = run_make(world);
    struct culex_enqueue_result mine = {0}, theirs = {0};
    int64_t asking = world->now_ms - below(world, 3);
    culex_status status;
    run.at_ms = 0;
    run.unique_key = NULL;
    TRACE(world, "schedule_run");
    PERSIST(world, status,
            store->ops->schedule_run(store, queues[queue], name, asking, &run, &theirs, NULL));
    if (status == CULEX_OK)
        newcomer_note(world, queue);
    culex_status expected =
        model->ops->schedule_run(model, queues[queue], name, asking, &run, &mine, NULL);
    if (status == CULEX_OK && status == expected &&
        (mine.outcome != theirs.outcome || memcmp(&mine.id, &theirs.id, sizeof mine.id) != 0))
        return differs("SCHEDULE_RUN: outcome %d, model %d", (int)theirs.outcome,
                       (int)mine.outcome);
    return same_status(world, "SCHEDULE_RUN", status, expected);
}

static bool same_row(const struct culex_schedule_row *theirs, const struct culex_schedule_row *mine)
{
    if (theirs == NULL)
        return differs("SCHEDULES: %s is missing", mine->name);
    if (theirs->mark_ms != mine->mark_ms || theirs->next_ms != mine->next_ms)
        return differs("SCHEDULES: mark %" PRId64 " next %" PRId64 ", model %" PRId64 " %" PRId64,
                       theirs->mark_ms, theirs->next_ms, mine->mark_ms, mine->next_ms);
    if (theirs->is_paused != mine->is_paused || theirs->is_of_calendar != mine->is_of_calendar ||
        theirs->may_overlap != mine->may_overlap)
        return differs("SCHEDULES: %s has other words", mine->name);
    if (theirs->template_len != mine->template_len ||
        (mine->template_len > 0 &&
         memcmp(theirs->template, mine->template, mine->template_len) != 0))
        return differs("SCHEDULES: %s has another template", mine->name);
    return memcmp(&theirs->newest, &mine->newest, sizeof mine->newest) == 0 ||
           differs("SCHEDULES: %s has another newest run", mine->name);
}

static bool op_schedules(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    struct culex_schedule_list theirs = {0}, mine = {0};
    culex_status status;
    bool is_same = true;
    TRACE(world, "schedules");
    PERSIST(world, status, store->ops->schedules(store, queues[queue], &theirs, NULL));
    if (status != CULEX_OK)
        return differs("SCHEDULES: status %d", (int)status);
    model->ops->schedules(model, queues[queue], &mine, NULL);
    if (mine.count != theirs.count)
        is_same = differs("SCHEDULES: %zu, model %zu", theirs.count, mine.count);
    for (size_t i = 0; i < mine.count && is_same; i++)
        is_same = same_row(culex__schedule_list_find(&theirs, mine.rows[i].name), &mine.rows[i]);
    culex__schedule_list_release(&theirs);
    culex__schedule_list_release(&mine);
    return is_same;
}

/* --- the registry of workers ------------------------------------------------------------------ */

static const char *const worker_ids[] = {"a1", "B2", "c3", "d4"};

/* The entry of one of them: told, set and listed are all of them together. */
static bool worker_was_left(const struct world *world)
{
    const struct model *model = world->compare.model;
    for (size_t i = 0; i < model->presence_count; i++) {
        const struct culex_worker_row *row = &model->presences[i]->row;
        if (row->id != NULL && was_left(world, row->told_ms + CULEX_WORKER_GONE_MS))
            return true;
    }
    return false;
}

static const char *worker_pick(struct world *world)
{
    return worker_ids[below(world, sizeof worker_ids / sizeof worker_ids[0])];
}

static bool same_wish(const char *verb, const struct culex_worker_wish *theirs,
                      const struct culex_worker_wish *mine)
{
    return (theirs->number == mine->number && theirs->quiet == mine->quiet &&
            theirs->is_stop == mine->is_stop && theirs->concurrency == mine->concurrency) ||
           differs("%s: wish %" PRIu64 " quiet %d stop %d concurrency %u, model %" PRIu64
                   " %d %d %u",
                   verb, theirs->number, (int)theirs->quiet, theirs->is_stop, theirs->concurrency,
                   mine->number, (int)mine->quiet, mine->is_stop, mine->concurrency);
}

static bool op_worker_tell(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    struct culex_worker_wish theirs = {0}, mine = {0};
    struct culex_worker_tell tell = {.id = worker_pick(world),
                                     .is_leaving = chance(world, 10),
                                     .heard = (uint64_t)below(world, 3),
                                     .concurrency = 1 + (uint32_t)below(world, 4),
                                     .sheet = "n a|b\nc 1",
                                     .sheet_len = (size_t)below(world, 10)};
    culex_status status;
    (void)queue;
    if (worker_was_left(world))
        return true;
    TRACE(world, "worker_tell");
    PERSIST(world, status, store->ops->worker_tell(store, &tell, &theirs, NULL));
    return same_status(world, "WORKER_TELL", status,
                       model->ops->worker_tell(model, &tell, &mine, NULL)) &&
           same_wish("WORKER_TELL", &theirs, &mine);
}

static bool op_worker_set(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    const char *id = chance(world, 20) ? NULL : worker_pick(world);
    struct culex_worker_wish wish = {.quiet = (culex_switch)below(world, CULEX_SWITCH_OFF + 1),
                                     .is_stop = chance(world, 10),
                                     .concurrency = (uint32_t)below(world, 5)};
    size_t theirs = 0, mine = 0;
    culex_status status;
    (void)queue;
    if (worker_was_left(world))
        return true;
    TRACE(world, "worker_set");
    PERSIST(world, status, store->ops->worker_set(store, id, &wish, &theirs, NULL));
    if (!same_status(world, "WORKER_SET", status,
                     model->ops->worker_set(model, id, &wish, &mine, NULL)))
        return false;
    return theirs == mine || differs("WORKER_SET: for %zu, model %zu", theirs, mine);
}

static bool same_worker(const struct culex_worker_row *theirs, const struct culex_worker_row *mine)
{
    if (theirs == NULL)
        return differs("WORKERS: %s is missing", mine->id);
    if (theirs->told_ms != mine->told_ms || theirs->heard != mine->heard ||
        theirs->concurrency != mine->concurrency)
        return differs("WORKERS: %s tells something else", mine->id);
    if (theirs->sheet_len != mine->sheet_len ||
        (mine->sheet_len > 0 && memcmp(theirs->sheet, mine->sheet, mine->sheet_len) != 0))
        return differs("WORKERS: %s has another sheet", mine->id);
    return same_wish("WORKERS", &theirs->wish, &mine->wish);
}

static bool op_workers(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    struct culex_worker_list theirs = {0}, mine = {0};
    culex_status status;
    bool is_same = true;
    (void)queue;
    if (worker_was_left(world))
        return true;
    TRACE(world, "workers");
    PERSIST(world, status, store->ops->workers(store, &theirs, NULL));
    if (status != CULEX_OK)
        return differs("WORKERS: status %d", (int)status);
    model->ops->workers(model, &mine, NULL);
    if (mine.count != theirs.count)
        is_same = differs("WORKERS: %zu, model %zu", theirs.count, mine.count);
    for (size_t i = 0; i < mine.count && is_same; i++)
        is_same = same_worker(culex__worker_list_find(&theirs, mine.rows[i].id), &mine.rows[i]);
    culex__worker_list_release(&theirs);
    culex__worker_list_release(&mine);
    return is_same;
}

/* --- STEP ------------------------------------------------------------------------------ */

/* A run that has come in as a follow-up, which its key tells; the model takes it in, whatever its
 * queue's bound is. */
static bool follow_up_apply(struct world *world, const struct culex_follow_up *follow_up)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    struct culex_enqueue_result theirs = {0}, mine = {0};
    culex_queue_stats stats = {.limit = 0};
    culex_status status;
    PERSIST(world, status,
            store->ops->enqueue(store, follow_up->queue, NULL, &follow_up->run, 1, &theirs, NULL));
    if (status != CULEX_OK || theirs.outcome != CULEX_ENQUEUED_DUPLICATE)
        return differs("STEP: a follow-up has not come in: status %d, outcome %d", (int)status,
                       (int)theirs.outcome);
    model->ops->stats(model, follow_up->queue, &stats, NULL);
    model->ops->limit(model, follow_up->queue, 0, NULL);
    model_give_ids(world->compare.model, &theirs.id);
    model->ops->enqueue(model, follow_up->queue, NULL, &follow_up->run, 1, &mine, NULL);
    model->ops->limit(model, follow_up->queue, stats.limit, NULL);
    return mine.outcome == CULEX_ENQUEUED_NEW && memcmp(&mine.id, &theirs.id, sizeof mine.id) == 0
               ? world->compare.model->id_fault == NULL ||
                     differs("follow-up: %s", world->compare.model->id_fault)
               : differs("STEP: a follow-up in the model has outcome %d", (int)mine.outcome);
}

/* Those of the acks that were taken, once. */
static bool follow_ups_apply(struct world *world, struct last_step *last,
                             const enum culex_answer *answers)
{
    bool is_same = true;
    for (size_t i = 0; i < last->step.ack_count && is_same && !last->has_followed; i++) {
        if (last->acks[i].follow_up_count > 0 && answers[i] == CULEX_ANSWER_OK)
            is_same = follow_up_apply(world, last->acks[i].follow_ups);
    }
    last->has_followed = true;
    return is_same;
}

/* `last`: what the session remembers of it; NULL for a step that has no follow-ups. */
static bool step_apply(struct world *world, const struct culex_step *step, struct last_step *last,
                       struct culex_store *store, int session, int queue)
{
    struct culex_step_reply reply = {0};
    culex_error error = {0};
    culex_status status;
    PERSIST(world, status, store->ops->step(store, step, &reply, &error));
    if (status != CULEX_OK)
        return differs("STEP: %s", error.text);
    if (step->ack_count + step->beat_count + reply.grant_count > 0 &&
        step->session == world->sessions[session] &&
        step->nonce > world->acts[session][queue].nonce)
        world->acts[session][queue] = (struct last_act){step->nonce, world->now_ms};
    for (size_t i = 0; i < reply.grant_count; i++)
        world->grants[world->grant_count++ % GRANTS] = (struct known_grant){
            reply.grants[i].facts.id, reply.grants[i].facts.attempt, session, queue};
    world->compare.is_doubtful = world->is_doubtful;
    world->compare.is_followed = last != NULL;
    bool is_same = compare_step(&world->compare, step, &reply) &&
                   (last == NULL || follow_ups_apply(world, last, reply.acks));
    store->ops->step_release(store, &reply);
    return is_same;
}

static const struct known_grant *grant_pick(struct world *world, int session, int queue)
{
    size_t count = world->grant_count < GRANTS ? world->grant_count : GRANTS;
    for (int tries = 0; tries < 8 && count > 0; tries++) {
        /* The newest ones are those that are held. */
        size_t back = (size_t)below(world, (int64_t)(chance(world, 80) && count > 24 ? 24 : count));
        const struct known_grant *grant = &world->grants[(world->grant_count - 1 - back) % GRANTS];
        if (grant->queue == queue && (grant->session == session || chance(world, 8)))
            return grant;
    }
    return NULL;
}

static bool is_named(const struct culex_ack *acks, size_t count, culex_uuid id)
{
    for (size_t i = 0; i < count; i++) {
        if (memcmp(&acks[i].id, &id, sizeof id) == 0)
            return true;
    }
    return false;
}

static bool is_beaten(const struct culex_beat *beats, size_t count, culex_uuid id)
{
    for (size_t i = 0; i < count; i++) {
        if (memcmp(&beats[i].id, &id, sizeof id) == 0)
            return true;
    }
    return false;
}

/* Up to five lines, of which a run may keep no more than three. */
static struct culex_log_lines log_make(struct world *world)
{
    static const char lines[] = "0|1|4|\n1800000000001|1|3|a | b\n1800000000002|4294967295|2|it's "
                                "\xe2\x82\xac\n1800000000003|2|1|%s\n5|3|3|last\n";
    size_t at = 0;
    if (!world->compare.has_logs || !chance(world, 40))
        return (struct culex_log_lines){.bytes = NULL};
    for (int64_t n = below(world, 6); n > 0; n--)
        at += strcspn(lines + at, "\n") + 1;
    return (struct culex_log_lines){lines, at, 1 + (uint32_t)below(world, 3)};
}

static void ack_make(struct world *world, const struct known_grant *grant, struct culex_ack *ack)
{
    static const enum culex_run_event events[] = {
        CULEX_EVENT_DONE,    CULEX_EVENT_DONE,    CULEX_EVENT_DONE,
        CULEX_EVENT_FAIL,    CULEX_EVENT_FAIL,    CULEX_EVENT_CRASH,
        CULEX_EVENT_RELEASE, CULEX_EVENT_DISCARD, CULEX_EVENT_LOSS};
    static const char *const texts[] = {NULL, "no answer", "it's \"50%\" | \xe2\x82\xac\n", ""};
    *ack = (struct culex_ack){.id = grant->id, .attempt = grant->attempt};
    ack->event = events[below(world, 9)];
    ack->attempt += chance(world, 4) ? 1u : 0u; /* forged */
    ack->attempt -= chance(world, 4) && ack->attempt > 0 ? 1u : 0u;
    ack->delay_ms = chance(world, 60) ? below(world, 10000) : 0;
    ack->has_begun = chance(world, 30);
    ack->progress = chance(world, 20) ? "99 nearly | there" : NULL;
    ack->log = log_make(world);
    if (ack->event == CULEX_EVENT_DONE) {
        ack->delay_ms = 0;
        ack->result = chance(world, 30) ? payload_bytes : NULL;
        ack->result_len = ack->result != NULL ? (size_t)below(world, 30) : 0;
    } else {
        ack->text = texts[below(world, 4)];
    }
}

/* How many more runs may be claimed. The bounds of one step (32 reaped, 64 promoted) stay out of
 * reach: which runs they leave for the next step is the store's affair. */
static int64_t claims_left(const struct world *world, int queue)
{
    culex_queue_stats stats = {.limit = 0};
    struct culex_store *model = &world->compare.model->base;
    model->ops->stats(model, queues[queue], &stats, NULL);
    int64_t left = ACTIVE_MAX - (int64_t)stats.count[CULEX_RUN_ACTIVE];
    return left < 0 ? 0 : left < STEP_MAX ? left : STEP_MAX;
}

static struct culex_beat beat_make(struct world *world, const struct known_grant *grant)
{
    static const char *const words[] = {NULL, NULL, NULL, "0 begun", "50 half | way", "-1 soon"};
    return (struct culex_beat){.id = grant->id,
                               .attempt = grant->attempt + (chance(world, 5) ? 1u : 0u),
                               .is_started = chance(world, 50),
                               .is_excused = chance(world, 10),
                               .extend_ms = chance(world, 20) ? below(world, 60000) : 0,
                               .progress = words[below(world, 6)],
                               .log = log_make(world)};
}

/* Without a unique key, by which it might be kept out, and without limits: the conformance suite
 * has such. */
static void follow_up_give(struct world *world, struct last_step *last, size_t at)
{
    struct culex_follow_up *follow_up = &last->follow_ups[at];
    last->acks[at].follow_ups = NULL;
    last->acks[at].follow_up_count = 0;
    if (!world->has_follow_ups || last->acks[at].event != CULEX_EVENT_DONE || !chance(world, 25))
        return;
    *follow_up = (struct culex_follow_up){queues[below(world, QUEUES)], run_make(world)};
    snprintf(last->keys[at], sizeof last->keys[at], "f%" PRIx64, random_next(world));
    follow_up->run.unique_key = NULL;
    follow_up->run.idempotency_key = last->keys[at];
    follow_up->run.window_ms = 10000000;
    last->acks[at].follow_ups = follow_up;
    last->acks[at].follow_up_count = 1;
}

/* A step on another queue does nothing, and is not remembered. */
static bool is_used(struct world *world, int queue)
{
    culex_queue_stats stats;
    struct culex_store *model = &world->compare.model->base;
    return model->ops->stats(model, queues[queue], &stats, NULL) == CULEX_OK;
}

static bool op_step(struct world *world, int queue)
{
    int session = (int)below(world, SESSIONS);
    struct last_step *last = &world->last[session];
    struct culex_step *step = &last->step;
    static const int64_t leases[] = {500, 3000, 10000, 20000};
    static const uint32_t bytes[] = {0, 100, 2000, 1 << 20};
    static const char *const offers[] = {NULL,          "", "gpu:1", "gpu:3", "gpu:2,tape:2",
                                         "gpu:0,tape:9"};
    *step = (struct culex_step){.queue = queues[queue],
                                .session = world->sessions[session],
                                .nonce = world->nonce += 1 + (uint64_t)below(world, 20),
                                .want = (uint32_t)below(world, claims_left(world, queue) + 1),
                                .in_company = chance(world, 25),
                                .max_bytes = bytes[below(world, 4)],
                                .lease_ms = leases[below(world, 4)],
                                .acks = last->acks,
                                .beats = last->beats};
    step->offers = offers[below(world, 6)];
    step->ahead = chance(world, 50) ? (uint32_t)below(world, STEP_MAX) : 0;
    for (int64_t n = below(world, STEP_MAX); n > 0; n--) {
        const struct known_grant *grant = grant_pick(world, session, queue);
        if (grant == NULL || is_named(last->acks, step->ack_count, grant->id))
            continue;
        ack_make(world, grant, &last->acks[step->ack_count]);
        follow_up_give(world, last, step->ack_count++);
    }
    for (int64_t n = below(world, 4); n > 0; n--) {
        const struct known_grant *grant = grant_pick(world, session, queue);
        if (grant != NULL && !is_beaten(last->beats, step->beat_count, grant->id))
            last->beats[step->beat_count++] = beat_make(world, grant);
    }
    last->at_ms = world->now_ms;
    last->is_repeatable = is_used(world, queue);
    last->has_followed = false;
    TRACE(world, "step session %d queue %d want %u acks %zu beats %zu", session, queue, step->want,
          step->ack_count, step->beat_count);
    return step_apply(world, step, last, world->handles[session], session, queue);
}

/* The very same step again, as after a lost reply. */
static bool op_repeat(struct world *world, int queue)
{
    int session = (int)below(world, SESSIONS);
    struct last_step *last = &world->last[session];
    int64_t age = world->now_ms - last->at_ms;
    (void)queue;
    if (!last->is_repeatable || age > 1800000 || age < -1800000)
        return true;
    TRACE(world, "repeat session %d", session);
    return step_apply(world, &last->step, last, world->handles[session], session,
                      strcmp(last->step.queue, queues[0]) != 0);
}

/* A request that comes after the session's next one: as from a connection that was closed. Bumping
 * the nonce leaves room for it. */
static bool op_late(struct world *world, int queue)
{
    int session = (int)below(world, SESSIONS);
    const struct last_act *act = &world->acts[session][queue];
    int64_t age = world->now_ms - act->at_ms;
    if (act->nonce == 0 || age > 1800000 || age < -1800000)
        return true;
    const struct known_grant *grant = grant_pick(world, session, queue);
    struct culex_ack ack;
    struct culex_beat beat;
    struct culex_step step = {.queue = queues[queue],
                              .session = world->sessions[session],
                              .nonce = act->nonce - 1 - (uint64_t)below(world, 40),
                              .want = (uint32_t)below(world, STEP_MAX),
                              .max_bytes = 1000,
                              .lease_ms = 1000,
                              .acks = &ack,
                              .beats = &beat};
    if (grant != NULL) {
        ack_make(world, grant, &ack);
        beat = beat_make(world, grant);
        step.ack_count = step.beat_count = 1;
    }
    TRACE(world, "late step session %d queue %d", session, queue);
    return step_apply(world, &step, NULL, handle_pick(world), session, queue);
}

/* Lets the time have its effects on both, and claims nothing. */
static bool settle_down(struct world *world, int queue)
{
    for (int i = 0; i < 4; i++) {
        struct culex_step step = {.queue = queues[queue],
                                  .session = "00000000000000ff",
                                  .nonce = ++world->nonce,
                                  .lease_ms = 1000};
        if (!step_apply(world, &step, NULL, world->compare.store, 0, queue))
            return false;
    }
    return true;
}

/* --- operators ------------------------------------------------------------------------- */

static culex_uuid id_pick(struct world *world, int queue)
{
    size_t count = world->id_count < IDS ? world->id_count : IDS;
    for (int tries = 0; tries < 16 && count > 0; tries++) {
        const struct known_id *known = &world->ids[below(world, (int64_t)count)];
        if (known->queue == queue &&
            (chance(world, 10) || model_find(world->compare.model, queues[queue], known->id)))
            return known->id;
    }
    return (culex_uuid){{(uint8_t)random_next(world)}};
}

/* --- what jobs keep from run to run --------------------------------------------------------------
 */

static const char *const keepers[] = {"shop.send", "it's", "b"};

static const char *keeper_pick(struct world *world)
{
    return keepers[below(world, sizeof keepers / sizeof keepers[0])];
}

static uint64_t version_of(struct world *world, const char *queue, const char *job)
{
    struct culex_metadata_list mine = {0};
    struct culex_store *model = &world->compare.model->base;
    model->ops->metadata(model, queue, job, &mine, NULL);
    uint64_t version = mine.count > 0 ? mine.rows[0].version : 0;
    culex__metadata_list_release(&mine);
    return version;
}

/* By somebody who has a run, or had it, or by nobody. */
static bool op_metadata_set(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    int session = (int)below(world, SESSIONS);
    const struct known_grant *grant = chance(world, 60) ? grant_pick(world, session, queue) : NULL;
    struct culex_holder holder = {.session = world->sessions[session]};
    struct culex_metadata_set set = {.job = keeper_pick(world),
                                     .version = 1 + (uint64_t)below(world, INT64_C(1) << 50),
                                     .bytes = payload_bytes,
                                     .len = (size_t)below(world, 60)};
    uint64_t version = version_of(world, queues[queue], set.job);
    set.before = chance(world, 75) ? version : chance(world, 50) ? 0 : CULEX_METADATA_ANY;
    set.version = chance(world, 10) ? 0 : set.version;
    if (grant != NULL) {
        holder.id = grant->id;
        holder.attempt = grant->attempt + (chance(world, 5) ? 1 : 0);
        set.holder = &holder;
    }
    culex_status status;
    TRACE(world, "metadata_set %s", set.job);
    PERSIST(world, status, store->ops->metadata_set(store, queues[queue], &set, NULL));
    return same_status(world, "METADATA_SET", status,
                       model->ops->metadata_set(model, queues[queue], &set, NULL));
}

static bool same_metadata(const struct culex_metadata_row *theirs,
                          const struct culex_metadata_row *mine)
{
    if (strcmp(theirs->job, mine->job) != 0 || theirs->version != mine->version)
        return differs("METADATA: %s version %" PRIu64 ", model %s %" PRIu64, theirs->job,
                       theirs->version, mine->job, mine->version);
    if (theirs->set_ms != mine->set_ms)
        return differs("METADATA: %s was set at %" PRId64 ", model %" PRId64, theirs->job,
                       theirs->set_ms, mine->set_ms);
    return (theirs->len == mine->len && memcmp(theirs->bytes, mine->bytes, mine->len) == 0) ||
           differs("METADATA: %s has other bytes", theirs->job);
}

static bool op_metadata(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    struct culex_metadata_list theirs = {0}, mine = {0};
    const char *job = chance(world, 50) ? keeper_pick(world) : NULL;
    culex_status status;
    bool is_same = true;
    TRACE(world, "metadata %s", job != NULL ? job : "of all");
    PERSIST(world, status, store->ops->metadata(store, queues[queue], job, &theirs, NULL));
    if (status != CULEX_OK)
        return differs("METADATA: status %d", (int)status);
    model->ops->metadata(model, queues[queue], job, &mine, NULL);
    if (mine.count != theirs.count)
        is_same = differs("METADATA: %zu, model %zu", theirs.count, mine.count);
    for (size_t i = 0; i < mine.count && is_same; i++)
        is_same = same_metadata(&theirs.rows[i], &mine.rows[i]);
    culex__metadata_list_release(&theirs);
    culex__metadata_list_release(&mine);
    return is_same;
}

/* --- the texts of schemas ------------------------------------------------------------------------
 */

static uint64_t fingerprint_pick(struct world *world)
{
    static const uint64_t fingerprints[] = {1, 0x8000000000000001, UINT64_MAX, 0x00c0ffee00000000};
    return fingerprints[below(world, sizeof fingerprints / sizeof fingerprints[0])];
}

/* High and low ones: they are not in the order of signed numbers. */
static uint64_t digest_pick(const char *text)
{
    return strlen(text) << (strlen(text) % 2 == 0 ? 0 : 61);
}

static bool op_schema_publish(struct world *world, int queue)
{
    static const char *const texts[] = {"{}", "{\"a\":1}", "|7|8|"};
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    const char *text = texts[chance(world, 90) ? 0 : below(world, 3)];
    struct culex_schema_text schema = {
        .id = {.job = keeper_pick(world)}, .text = text, .len = strlen(text)};
    culex_status status;
    schema.id.fingerprint = fingerprint_pick(world);
    schema.id.digest = digest_pick(text);
    TRACE(world, "schema_publish %s", schema.id.job);
    PERSIST(world, status, store->ops->schema_publish(store, queues[queue], &schema, NULL));
    return same_status(world, "SCHEMA_PUBLISH", status,
                       model->ops->schema_publish(model, queues[queue], &schema, NULL));
}

static bool same_schema(const struct culex_schema_row *theirs, const struct culex_schema_row *mine)
{
    return (strcmp(theirs->id.job, mine->id.job) == 0 &&
            theirs->id.fingerprint == mine->id.fingerprint &&
            theirs->id.digest == mine->id.digest && theirs->told_ms == mine->told_ms &&
            theirs->len == mine->len) ||
           differs("SCHEMAS: %s %016" PRIx64 " at %" PRId64 ", model %s %016" PRIx64 " at %" PRId64,
                   theirs->id.job, theirs->id.fingerprint, theirs->told_ms, mine->id.job,
                   mine->id.fingerprint, mine->told_ms);
}

static bool op_schemas(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    struct culex_schema_list theirs = {0}, mine = {0};
    culex_status status;
    bool is_same = true;
    TRACE(world, "schemas of %s", queues[queue]);
    PERSIST(world, status, store->ops->schemas(store, queues[queue], &theirs, NULL));
    if (status != CULEX_OK)
        return differs("SCHEMAS: status %d", (int)status);
    model->ops->schemas(model, queues[queue], &mine, NULL);
    if (mine.count != theirs.count)
        is_same = differs("SCHEMAS: %zu, model %zu", theirs.count, mine.count);
    for (size_t i = 0; i < mine.count && is_same; i++)
        is_same = same_schema(&theirs.rows[i], &mine.rows[i]);
    culex__schema_list_release(&theirs);
    culex__schema_list_release(&mine);
    return is_same;
}

static bool op_schema_text(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    struct culex_schema_id id = {.job = keeper_pick(world)};
    culex_buf theirs, mine;
    culex_status status;
    culex_buf_init(&theirs, 0);
    culex_buf_init(&mine, 0);
    id.fingerprint = chance(world, 50) ? fingerprint_pick(world) : 0;
    id.digest = chance(world, 50) ? digest_pick("{}") : 0;
    TRACE(world, "schema_text %s", id.job);
    PERSIST(world, status, store->ops->schema_text(store, queues[queue], &id, &theirs, NULL));
    bool is_same = same_status(world, "SCHEMA_TEXT", status,
                               model->ops->schema_text(model, queues[queue], &id, &mine, NULL));
    if (is_same &&
        (theirs.len != mine.len || (mine.len > 0 && memcmp(theirs.data, mine.data, mine.len) != 0)))
        is_same = differs("SCHEMA_TEXT: %s has another text", id.job);
    culex_buf_release(&theirs);
    culex_buf_release(&mine);
    return is_same;
}

static bool op_cancel(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    culex_uuid id = id_pick(world, queue);
    culex_run_state mine = CULEX_RUN_STATE_COUNT, theirs = CULEX_RUN_STATE_COUNT;
    culex_status status;
    TRACE(world, "cancel");
    PERSIST(world, status, store->ops->cancel(store, queues[queue], id, &theirs, NULL));
    culex_status expected = model->ops->cancel(model, queues[queue], id, &mine, NULL);
    if (status == expected && mine != theirs)
        return differs("CANCEL: state %d, model %d", (int)theirs, (int)mine);
    return same_status(world, "CANCEL", status, expected);
}

/* --- WAIT ------------------------------------------------------------------------------ */

/* The model knows of one who waits: the first handle. */
static struct culex_store *waiting_handle(struct world *world)
{
    return world->handles[0];
}

static bool waiting_arm(struct world *world)
{
    struct culex_store *store = waiting_handle(world);
    culex_status status;
    PERSIST(world, status,
            store->ops->wait_arm(store, queues, QUEUES, 60000, &world->told_fd, NULL));
    return same_status(world, "WAIT_ARM", status, CULEX_OK);
}

/* One that is due may be told as scheduled. */
static bool is_same_state(const struct model_run *run, culex_run_state mine, culex_run_state theirs)
{
    return mine == theirs || (mine == CULEX_RUN_WAITING && theirs == CULEX_RUN_SCHEDULED &&
                              run != NULL && run->is_delayed);
}

/* Some twice, some that nobody knows. Most of the notes are over before the run ends. */
static bool op_wait(struct world *world, int queue)
{
    struct culex_store *store = waiting_handle(world), *model = &world->compare.model->base;
    culex_uuid ids[WAITS_MAX];
    culex_run_state mine[WAITS_MAX], theirs[WAITS_MAX];
    culex_status status;
    size_t count = 1 + (size_t)below(world, WAITS_MAX);
    int64_t note_ms = chance(world, 25) ? 0 : 1 + below(world, chance(world, 50) ? 2000 : 60000);
    for (size_t i = 0; i < count; i++)
        ids[i] = i > 0 && chance(world, 20) ? ids[i - 1] : id_pick(world, queue);
    TRACE(world, "wait for %zu, %" PRId64 " ms, queue %d", count, note_ms, queue);
    if (!waiting_arm(world))
        return false;
    PERSIST(world, status,
            store->ops->wait(store, queues[queue], ids, count, note_ms, theirs, NULL));
    culex_status expected = model->ops->wait(model, queues[queue], ids, count, note_ms, mine, NULL);
    for (size_t i = 0; i < count && status == expected; i++) {
        if (!is_same_state(model_find(world->compare.model, queues[queue], ids[i]), mine[i],
                           theirs[i]))
            return differs("WAIT: state %d, model %d", (int)theirs[i], (int)mine[i]);
    }
    return same_status(world, "WAIT", status, expected);
}

/* Of the ends that the operation has brought, the handle has heard. Faults lose such words. */
static bool told_check(struct world *world)
{
    struct culex_store *store = waiting_handle(world);
    struct pollfd word = {.fd = world->told_fd, .events = POLLIN};
    bool is_woken = false, is_wanted = world->compare.model->told > 0;
    world->compare.model->told = 0;
    if (!is_wanted)
        return true;
    poll(&word, 1, world->fault_every > 0 ? 0 : 10000);
    culex_status status = store->ops->wake_take(store, &is_woken, NULL);
    if (world->fault_every == 0 && (status != CULEX_OK || !is_woken))
        return differs("nobody is told of an end that is waited for");
    return waiting_arm(world);
}

static bool op_retry(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    culex_uuid id = id_pick(world, queue);
    culex_status status;
    const struct model_run *run = model_find(world->compare.model, queues[queue], id);
    if (run != NULL && model_key_is_doubtful(world->compare.model, run))
        return true;
    TRACE(world, "retry");
    PERSIST(world, status, store->ops->retry(store, queues[queue], id, NULL));
    return same_status(world, "RETRY", status, model->ops->retry(model, queues[queue], id, NULL));
}

static bool op_forget(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    culex_uuid id = id_pick(world, queue);
    culex_status status;
    TRACE(world, "forget");
    PERSIST(world, status, store->ops->forget(store, queues[queue], id, NULL));
    return same_status(world, "DELETE", status, model->ops->forget(model, queues[queue], id, NULL));
}

static bool op_move(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    culex_uuid id = id_pick(world, queue);
    struct culex_place place = {.priority = chance(world, 50) ? (int)below(world, 10) : -1};
    culex_status status;
    place.has_time = place.priority < 0 || chance(world, 40);
    place.delay_ms = chance(world, 50) ? below(world, 30000) - 2000 : 0;
    place.at_ms = chance(world, 30) ? world->now_ms + below(world, 30000) - 5000 : 0;
    TRACE(world, "move to priority %d, delay %d: %" PRId64 " at %" PRId64, place.priority,
          place.has_time, place.delay_ms, place.at_ms);
    PERSIST(world, status, store->ops->move(store, queues[queue], id, &place, NULL));
    struct model_run *run = model_find(world->compare.model, queues[queue], id);
    if (run != NULL)
        run->is_listed = false; /* it may be shown or not, and twice */
    return same_status(world, "MOVE", status,
                       model->ops->move(model, queues[queue], id, &place, NULL));
}

static bool op_purge(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    culex_run_state state = (culex_run_state)below(world, CULEX_RUN_STATE_COUNT);
    struct culex_purge_reply mine = {0}, theirs = {0};
    culex_status status;
    TRACE(world, "purge %d", (int)state);
    PERSIST(world, status, store->ops->purge(store, queues[queue], state, 500, &theirs, NULL));
    culex_status expected = model->ops->purge(model, queues[queue], state, 500, &mine, NULL);
    if (mine.deleted != theirs.deleted && !world->is_doubtful)
        return differs("PURGE: %zu deleted, model %zu", theirs.deleted, mine.deleted);
    if (mine.is_more && !theirs.is_more && !world->is_doubtful)
        return differs("PURGE: says that nothing is left");
    return (status < 0) == (expected < 0) || differs("PURGE: status %d", (int)status);
}

static bool op_pause(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    bool is_paused = chance(world, 30);
    culex_status status;
    TRACE(world, "pause %d", is_paused);
    PERSIST(world, status, store->ops->pause(store, queues[queue], is_paused, NULL));
    return same_status(world, "PAUSE", status,
                       model->ops->pause(model, queues[queue], is_paused, NULL));
}

static bool op_pause_for(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    int64_t for_ms = 1 + below(world, chance(world, 50) ? 100 : 10000);
    culex_status status;
    TRACE(world, "pause for %" PRId64, for_ms);
    PERSIST(world, status, store->ops->pause_for(store, queues[queue], for_ms, NULL));
    return same_status(world, "PAUSE_FOR", status,
                       model->ops->pause_for(model, queues[queue], for_ms, NULL));
}

static bool op_limit(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    uint64_t most = chance(world, 40) ? (uint64_t)below(world, 60) : 0;
    culex_status status;
    TRACE(world, "limit %d", (int)most);
    PERSIST(world, status, store->ops->limit(store, queues[queue], most, NULL));
    return same_status(world, "LIMIT", status, model->ops->limit(model, queues[queue], most, NULL));
}

static bool op_dead_limit(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    uint64_t most = chance(world, 60) ? (uint64_t)below(world, 20) : 0;
    culex_status status;
    TRACE(world, "dead limit %d", (int)most);
    PERSIST(world, status, store->ops->dead_limit(store, queues[queue], most, NULL));
    return same_status(world, "DEAD_LIMIT", status,
                       model->ops->dead_limit(model, queues[queue], most, NULL));
}

static const char *limit_name(struct world *world)
{
    static const char *const names[] = {"shop.send:concurrency", "shop.send:rate", "it's:hosts",
                                        "shop.send:fair", "no:body"};
    return names[below(world, 5)];
}

static bool op_limit_set(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    const char *name = limit_name(world);
    culex_limit_value value = {.count = 1 + (uint32_t)below(world, 5)};
    bool is_rate = strcmp(name, "shop.send:rate") == 0;
    if (chance(world, is_rate ? 50 : 5)) {
        value.per_ms = 1 + below(world, 20000);
        value.burst = (uint32_t)below(world, 4);
    }
    const culex_limit_value *set = chance(world, 40) ? NULL : &value;
    culex_status status;
    TRACE(world, "limit_set %s %d", name, set != NULL ? (int)value.count : 0);
    if (!world->has_limits)
        return true;
    PERSIST(world, status, store->ops->limit_set(store, queues[queue], name, set, NULL));
    return same_status(world, "LIMIT_SET", status,
                       model->ops->limit_set(model, queues[queue], name, set, NULL));
}

static bool same_value(const culex_limit_value *one, const culex_limit_value *other)
{
    return one->count == other->count && one->per_ms == other->per_ms && one->burst == other->burst;
}

static bool same_limit(const struct culex_limit_row *one, const struct culex_limit_row *other)
{
    return one != NULL && one->kind == other->kind && one->active == other->active &&
           same_value(&one->declared, &other->declared) && same_value(&one->set, &other->set);
}

static bool op_limits(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    struct culex_limit_list theirs = {0}, mine = {0};
    culex_status status;
    if (!world->has_limits)
        return true;
    PERSIST(world, status, store->ops->limits(store, queues[queue], &theirs, NULL));
    bool is_same = status == CULEX_OK &&
                   model->ops->limits(model, queues[queue], &mine, NULL) == CULEX_OK &&
                   theirs.count == mine.count;
    for (size_t i = 0; i < mine.count && is_same; i++)
        is_same = same_limit(culex__limit_list_find(&theirs, mine.rows[i].name), &mine.rows[i]);
    culex__limit_list_release(&theirs);
    culex__limit_list_release(&mine);
    return is_same || differs("LIMITS: status %d, or other limits", (int)status);
}

/* --- figures --------------------------------------------------------------------------------- */

static size_t draw(struct world *world, size_t limit)
{
    return (size_t)below(world, (int64_t)limit);
}

static void figure_draw(struct world *world, char ret_text[CULEX_FIGURE_TEXT_SIZE])
{
    struct culex_figure figure = {.counts = {0}};
    for (size_t i = 0; i < CULEX_FIGURE_COUNTS; i++)
        figure.counts[i] = draw(world, 5);
    for (size_t i = draw(world, 6); i > 0; i--) {
        figure.waited.of[draw(world, CULEX_FIGURE_BUCKETS)] += 1 + draw(world, 100);
        figure.ran.of[draw(world, 12)] = chance(world, 5) ? CULEX_FIGURE_MAX - 1 : 1;
    }
    culex__figure_write(&figure, ret_text);
}

/* Now and then a call that was made before, or a later one of the session. */
static bool op_figures_add(struct world *world, int queue)
{
    static const char *const jobs[] = {"a", "a.b", "shop.send_email", "\xc3\xa9"};
    enum { JOBS = sizeof jobs / sizeof jobs[0] };
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    char texts[JOBS][CULEX_FIGURE_TEXT_SIZE];
    struct culex_figure_row rows[JOBS];
    size_t first = draw(world, JOBS), count = 1 + draw(world, JOBS);
    int session = (int)draw(world, SESSIONS);
    uint64_t number = world->figures[session];
    culex_status status;
    if (number == 0 || !chance(world, 20))
        number = world->figures[session] += 1 + draw(world, 3);
    for (size_t i = 0; i < count; i++) {
        figure_draw(world, texts[i]);
        rows[i] = (struct culex_figure_row){.job = jobs[(first + i) % JOBS], .text = texts[i]};
    }
    TRACE(world, "figures of session %d, call %d, %zu rows", session, (int)number, count);
    PERSIST(world, status,
            store->ops->figures_add(store, queues[queue], world->sessions[session], number, rows,
                                    count, NULL));
    return same_status(world, "FIGURES_ADD", status,
                       model->ops->figures_add(model, queues[queue], world->sessions[session],
                                               number, rows, count, NULL));
}

static bool same_figures(const struct culex_figure_list *theirs,
                         const struct culex_figure_list *mine)
{
    bool is_same = theirs->count == mine->count && theirs->is_more == mine->is_more;
    for (size_t i = 0; i < mine->count && is_same; i++)
        is_same = culex__figure_order(&theirs->rows[i], &mine->rows[i]) == 0 &&
                  strcmp(theirs->rows[i].text, mine->rows[i].text) == 0;
    return is_same;
}

static bool op_figures(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    const char *job = chance(world, 30) ? "a.b" : NULL;
    unsigned hours = 1 + (unsigned)draw(world, CULEX_FIGURES_HOURS);
    size_t most = 1 + draw(world, 6);
    struct culex_figure_list theirs = {0}, mine = {0}, last = {0};
    bool is_same = true, goes_on = true;
    culex_status status;
    TRACE(world, "figures of %u hours, %zu a page", hours, most);
    while (is_same && goes_on) {
        const struct culex_figure_row *after = last.count > 0 ? &last.rows[last.count - 1] : NULL;
        PERSIST(world, status,
                store->ops->figures(store, queues[queue], job, hours, after, most, &theirs, NULL));
        is_same = status == CULEX_OK &&
                  model->ops->figures(model, queues[queue], job, hours, after, most, &mine, NULL) ==
                      CULEX_OK &&
                  same_figures(&theirs, &mine);
        goes_on = mine.is_more;
        culex__figure_list_release(&last);
        culex__figure_list_release(&theirs);
        last = mine;
        mine = (struct culex_figure_list){.rows = NULL};
    }
    culex__figure_list_release(&last);
    return is_same || differs("FIGURES: status %d, or others", (int)status);
}

static bool op_hello(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    int session = (int)below(world, SESSIONS);
    char worker[16];
    size_t mine = 0, theirs = 0;
    int64_t now_ms;
    culex_status status;
    snprintf(worker, sizeof worker, "host/%d", session);
    if (chance(world, 60)) { /* a new process under the old name */
        snprintf(world->sessions[session], sizeof world->sessions[session], "%016" PRIx64,
                 random_next(world));
        world->last[session].is_repeatable = false;
        memset(world->acts[session], 0, sizeof world->acts[session]);
    }
    TRACE(world, "hello %d", session);
    PERSIST(world, status,
            store->ops->hello(store, queues[queue], worker, world->sessions[session], &theirs,
                              &now_ms, NULL));
    if (status != CULEX_OK)
        return differs("HELLO: status %d", (int)status);
    model->ops->hello(model, queues[queue], worker, world->sessions[session], &mine, &now_ms, NULL);
    if (mine != theirs && !world->is_doubtful)
        return differs("HELLO: %zu released, model %zu", theirs, mine);
    return true;
}

/* Whatever has happened, every index agrees with the records; a repair finds nothing to do. */
static bool op_fsck(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world);
    struct culex_fsck_reply reply = {.cursor = 0};
    bool is_repairing = chance(world, 50);
    uint64_t bad = 0;
    TRACE(world, "fsck queue %d", queue);
    do {
        culex_status status;
        PERSIST(world, status,
                store->ops->fsck(store, queues[queue], reply.cursor, is_repairing, &reply, NULL));
        if (status != CULEX_OK)
            return differs("FSCK: status %d", (int)status);
        bad += reply.counts.wrong + reply.counts.damaged;
    } while (reply.cursor != 0);
    return bad == 0 || differs("FSCK: %" PRIu64 " wrong or damaged", bad);
}

/* --- a listing over many operations --------------------------------------------------------- */

static bool is_in_listing(const struct world *world, const struct model_run *run)
{
    return strcmp(run->queue->name, queues[world->listing.queue]) == 0 && !run->is_gone &&
           model_takes(world->compare.model, &world->listing.filter, run);
}

/* A filter beside the state, or beside none or several. */
static void filter_draw(struct world *world, culex_list_filter *filter)
{
    static const char *const jobs[] = {NULL, NULL, "shop.send", "it's", "shop.sweep"};
    static const char *const parts[] = {"no answer", "50%", "| \xe2\x82\xac\n", "answers"};
    if (chance(world, 30))
        filter->states = (unsigned)below(world, CULEX_LIST_STATE(CULEX_RUN_STATE_COUNT));
    filter->job = jobs[below(world, 5)];
    filter->tag = chance(world, 30) ? (chance(world, 80) ? "b'c" : "b'") : NULL;
    filter->error_part = chance(world, 30) ? parts[below(world, 4)] : NULL;
    filter->has_since = chance(world, 30);
    filter->since =
        filter->has_since ? (world->now_ms - below(world, 60000)) * CULEX_MILLISECOND : 0;
    filter->has_before = chance(world, 30);
    filter->before = filter->has_before
                         ? (filter->has_since ? filter->since : world->now_ms * CULEX_MILLISECOND) +
                               1 + below(world, 60000) * CULEX_MILLISECOND
                         : 0;
}

/* One state, so that a run is shown once; active ones are left out of these: beats move them. */
static bool is_exact(const culex_list_filter *filter)
{
    return filter->states != 0 && (filter->states & (filter->states - 1)) == 0;
}

static bool may_be_newest(const culex_list_filter *filter)
{
    return filter->states == CULEX_LIST_STATE(CULEX_RUN_DEAD) ||
           filter->states == CULEX_LIST_STATE(CULEX_RUN_CANCELLED);
}

/* Active ones are left out: beats move them. Each other listing that may is of the newest first. */
static void listing_begin(struct world *world, int queue)
{
    static const culex_run_state states[] = {CULEX_RUN_SCHEDULED, CULEX_RUN_WAITING, CULEX_RUN_DONE,
                                             CULEX_RUN_CANCELLED, CULEX_RUN_DEAD};
    struct model *model = world->compare.model;
    world->listing.filter = (culex_list_filter){
        .states = CULEX_LIST_STATE(states[below(world, sizeof states / sizeof states[0])])};
    if (world->has_filters)
        filter_draw(world, &world->listing.filter);
    world->listing.filter.newest_first =
        may_be_newest(&world->listing.filter) && model->run_count % 2 == 1;
    world->listing.last_ms = INT64_MAX;
    world->listing.queue = queue;
    for (size_t i = 0; i < model->run_count; i++) {
        model->runs[i]->shown = 0;
        model->runs[i]->is_listed = is_in_listing(world, model->runs[i]);
    }
}

/* After each operation: what has left the state for a while may be shown or not. */
static void listing_look(struct world *world)
{
    struct model *model = world->compare.model;
    for (size_t i = 0; i < model->run_count; i++)
        model->runs[i]->is_listed &= is_in_listing(world, model->runs[i]);
}

/* Those that wait may be shown twice: a STEP makes them ready, or puts them off. */
static bool listing_end(struct world *world)
{
    const struct model *model = world->compare.model;
    const culex_list_filter *filter = &world->listing.filter;
    const unsigned moving =
        CULEX_LIST_STATE(CULEX_RUN_WAITING) | CULEX_LIST_STATE(CULEX_RUN_ACTIVE);
    int most = !is_exact(filter) || (filter->states & moving) != 0 ? INT_MAX : 1;
    for (size_t i = 0; i < model->run_count; i++) {
        const struct model_run *run = model->runs[i];
        if (run->is_listed && (run->shown < 1 || run->shown > most))
            return differs("LIST of states %x has shown a run %d times", filter->states,
                           run->shown);
    }
    return true;
}

/* The next page of the listing under way, or the first of another. */
static bool op_list(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world);
    struct culex_list_reply page = {0};
    culex_status status;
    if (world->listing.cursor.place == 0)
        listing_begin(world, queue);
    const char *name = queues[world->listing.queue];
    TRACE(world, "list %s %x %s", name, world->listing.filter.states,
          world->listing.filter.job != NULL ? world->listing.filter.job : "");
    PERSIST(world, status,
            store->ops->list(store, name, &world->listing.filter, world->listing.cursor,
                             1 + (size_t)below(world, 8), &page, NULL));
    if (status != CULEX_OK)
        return status == CULEX_ENOTFOUND || differs("LIST: status %d", (int)status);
    for (size_t i = 0; i < page.count; i++) {
        struct model_run *run = model_find(world->compare.model, name, page.runs[i].id);
        if (run != NULL)
            run->shown++;
        /* A page is of this moment. */
        if (run != NULL && !is_in_listing(world, run))
            return differs("LIST has shown a run that its filter does not take");
        if (world->listing.filter.newest_first && page.runs[i].at_ms > world->listing.last_ms)
            return differs("LIST has shown a run behind one that is forgotten sooner");
        world->listing.last_ms = page.runs[i].at_ms;
    }
    world->listing.cursor = page.cursor;
    store->ops->list_release(store, &page);
    listing_look(world); /* the clock has gone on since the operation before */
    return world->listing.cursor.place != 0 || listing_end(world);
}

static void clock_advance(struct world *world, int64_t by_ms)
{
    world->now_ms += by_ms;
    if (world->now_ms > world->newest_ms)
        world->newest_ms = world->now_ms;
    world->compare.model->newest_ms = world->newest_ms;
}

/* How far it may go back: to no time before the end of a note that stores may have forgotten. */
static int64_t clock_room(const struct world *world)
{
    const struct model *model = world->compare.model;
    int64_t room = 4999;
    for (size_t i = 0; i < model->run_count; i++) {
        int64_t over_ms = world->now_ms - model->runs[i]->awaited_ms;
        if (over_ms >= 0 && over_ms < room)
            room = over_ms;
    }
    return room;
}

static bool op_clock(struct world *world, int queue)
{
    (void)queue;
    if (chance(world, 15))
        clock_advance(world, -below(world, 1 + clock_room(world)));
    else if (chance(world, 3))
        clock_advance(world, below(world, 900000));
    else
        clock_advance(world, below(world, chance(world, 30) ? 40000 : 2000));
    if (stores_have_one_ready_state())
        model_unpromote(world->compare.model);
    TRACE(world, "clock %" PRId64, world->now_ms);
    return true;
}

/* --- batches -------------------------------------------------------------------------------- */

/* By culex_batch_when: nothing but callbacks goes there, so that their number tells what came in.
 */
static const char *const call_queues[] = {"", "on:complete", "on:success", "on:death"};

static bool batch_give(struct world *world, const char *act, const struct culex_batch_order *order)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    culex_status status;
    TRACE(world, "batch %s %02x%02x", act, order->id.b[0], order->id.b[1]);
    PERSIST(world, status, store->ops->batch(store, order, NULL));
    return same_status(world, act, status, model->ops->batch(model, order, NULL));
}

static bool batch_open(struct world *world, int queue)
{
    const struct known_id *parent = chance(world, 40) ? batch_pick(world) : NULL;
    struct culex_batch_order order = {.act = CULEX_BATCH_OPEN,
                                      .queue = queues[queue],
                                      .open_ms =
                                          1 + below(world, chance(world, 30) ? 5000 : 900000),
                                      .keep_ms = 1 + below(world, 100000)};
    const uint64_t words[2] = {random_next(world), random_next(world)};
    memcpy(order.id.b, words, sizeof order.id.b);
    if (parent != NULL && parent->queue == queue)
        order.parent = parent->id;
    world->batches[world->batch_count++ % BATCHES] = (struct known_id){order.id, queue};
    return batch_give(world, "open", &order);
}

/* One that may be there, in the batch that it is in or in another one. */
static bool batch_reopen(struct world *world, const struct known_id *batch)
{
    const struct known_id *parent = chance(world, 50) ? batch_pick(world) : NULL;
    struct culex_batch_order order = {.act = CULEX_BATCH_OPEN,
                                      .queue = queues[batch->queue],
                                      .id = batch->id,
                                      .open_ms = 1 + below(world, 900000),
                                      .keep_ms = 1 + below(world, 100000)};
    if (parent != NULL && parent->queue == batch->queue && parent != batch)
        order.parent = parent->id;
    return batch_give(world, "open again", &order);
}

static bool batch_call(struct world *world, const struct known_id *batch)
{
    culex_batch_when when = (culex_batch_when)(1 + below(world, CULEX_BATCH_ON_DEATH));
    struct culex_follow_up call = {call_queues[when], run_make(world)};
    struct culex_batch_order order = {.act = CULEX_BATCH_CALL,
                                      .queue = queues[batch->queue],
                                      .id = batch->id,
                                      .when = when,
                                      .call = &call};
    call.run.idempotency_key = call.run.unique_key = NULL;
    call.run.delay_ms = call.run.at_ms = call.run.expires_ms = 0;
    call.run.limits = NULL;
    call.run.limit_count = 0;
    return batch_give(world, "call", &order);
}

static bool batch_close(struct world *world, const struct known_id *batch)
{
    const struct culex_batch_order order = {
        .act = CULEX_BATCH_CLOSE, .queue = queues[batch->queue], .id = batch->id};
    return batch_give(world, "close", &order);
}

static bool batch_compare(struct world *world, const struct known_id *batch)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    culex_batch_info mine = {0}, theirs = {0};
    culex_status status;
    PERSIST(world, status,
            store->ops->batch_look(store, queues[batch->queue], batch->id, &theirs, NULL));
    culex_status expected =
        model->ops->batch_look(model, queues[batch->queue], batch->id, &mine, NULL);
    bool is_same = mine.added == theirs.added && mine.done == theirs.done &&
                   mine.dead == theirs.dead && mine.cancelled == theirs.cancelled &&
                   mine.is_closed == theirs.is_closed && mine.is_ended == theirs.is_ended &&
                   mine.is_expired == theirs.is_expired;
    if (status != expected || !is_same)
        return differs("BATCH_LOOK: status %d, model %d; %" PRIu64 " added, %" PRIu64
                       " done, %" PRIu64 " dead, %" PRIu64 " cancelled, %d%d%d; model %" PRIu64
                       ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %d%d%d",
                       (int)status, (int)expected, theirs.added, theirs.done, theirs.dead,
                       theirs.cancelled, theirs.is_closed, theirs.is_ended, theirs.is_expired,
                       mine.added, mine.done, mine.dead, mine.cancelled, mine.is_closed,
                       mine.is_ended, mine.is_expired);
    return true;
}

static bool review_compare(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    struct culex_batch_review mine = {0}, theirs = {0};
    culex_status status;
    PERSIST(world, status, store->ops->batch_review(store, queues[queue], &theirs, NULL));
    model->ops->batch_review(model, queues[queue], &mine, NULL);
    return (mine.open == theirs.open && mine.open_since_ms == theirs.open_since_ms) ||
           differs("BATCH_REVIEW of %s: %" PRIu64 " open since %" PRId64 ", model %" PRIu64
                   ", %" PRId64,
                   queues[queue], theirs.open, theirs.open_since_ms, mine.open, mine.open_since_ms);
}

/* Each as often as it was to, and then they go. A step that the model knows nothing of, as it is
 * late, brings some all the same: those that are to come are brought first. */
static bool calls_compare(struct world *world)
{
    for (int queue = 0; queue < QUEUES; queue++) {
        if (!settle_down(world, queue))
            return false;
    }
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    for (int when = CULEX_BATCH_ON_COMPLETE; when <= CULEX_BATCH_ON_DEATH; when++) {
        struct culex_purge_reply mine = {0}, theirs = {0};
        culex_status status;
        PERSIST(world, status,
                store->ops->purge(store, call_queues[when], CULEX_RUN_WAITING, 500, &theirs, NULL));
        model->ops->purge(model, call_queues[when], CULEX_RUN_WAITING, 500, &mine, NULL);
        if (mine.deleted != theirs.deleted)
            return differs("%zu callbacks came in %s, model %zu", theirs.deleted, call_queues[when],
                           mine.deleted);
    }
    return true;
}

static bool batch_after(struct world *world, int queue)
{
    struct culex_store *model = &world->compare.model->base;
    culex_batch_when when = chance(world, 60)
                                ? CULEX_BATCH_ON_SUCCESS
                                : (culex_batch_when)(1 + below(world, CULEX_BATCH_ON_DEATH));
    struct culex_follow_up call = {call_queues[when], run_make(world)};
    struct culex_batch_order order = {.act = CULEX_BATCH_AFTER,
                                      .queue = queues[queue],
                                      .run = id_pick(world, queue),
                                      .keep_ms = 1 + below(world, 100000),
                                      .when = when,
                                      .call = &call};
    const uint64_t words[2] = {random_next(world), random_next(world)};
    culex_batch_info info;
    memcpy(order.id.b, words, sizeof order.id.b);
    call.run.idempotency_key = call.run.unique_key = NULL;
    call.run.delay_ms = call.run.at_ms = call.run.expires_ms = 0;
    call.run.limits = NULL;
    call.run.limit_count = 0;
    if (!batch_give(world, "after", &order))
        return false;
    if (model->ops->batch_look(model, order.queue, order.id, &info, NULL) == CULEX_OK)
        world->batches[world->batch_count++ % BATCHES] = (struct known_id){order.id, queue};
    return !chance(world, 20) || batch_give(world, "after", &order);
}

/* An option of its own, so that the courses of the other seeds stay what they are. */
static bool after_operate(struct world *world, int queue)
{
    const struct known_id *batch = world->has_after ? batch_pick(world) : NULL;
    if (!world->has_after || !chance(world, 15))
        return true;
    return batch == NULL || chance(world, 70) ? batch_after(world, queue)
                                              : batch_compare(world, batch) && calls_compare(world);
}

static bool batch_operate(struct world *world, int queue)
{
    const struct known_id *batch = world->has_batches ? batch_pick(world) : NULL;
    if (!world->has_batches || !chance(world, 15))
        return true;
    if (batch == NULL || chance(world, 20))
        return batch_open(world, queue);
    if (chance(world, 10))
        return batch_reopen(world, batch);
    if (chance(world, 40))
        return batch_call(world, batch);
    if (chance(world, 40))
        return batch_close(world, batch);
    return batch_compare(world, batch) && review_compare(world, batch->queue) &&
           calls_compare(world);
}

/* --- the run --------------------------------------------------------------------------- */

struct operation {
    int weight;
    bool (*run)(struct world *world, int queue);
};

/* What each verb of store/verbs.def is called by. A new verb has no row here yet, and does not
 * compile before it has one: empty for a verb that changes nothing, with what looks at it. */
#define OPERATION_enqueue        {24, op_enqueue},
#define OPERATION_enqueue_each   {4, op_enqueue_each},
#define OPERATION_step           {37, op_step}, {6, op_repeat}, {2, op_late},
#define OPERATION_hello          {2, op_hello},
#define OPERATION_tick           {3, op_tick},
#define OPERATION_schedules      {1, op_schedules},
#define OPERATION_schedule_set   {2, op_schedule_set},
#define OPERATION_schedule_run   {1, op_schedule_run},
#define OPERATION_cancel         {4, op_cancel},
#define OPERATION_retry          {4, op_retry},
#define OPERATION_forget         {3, op_forget},
#define OPERATION_move           {6, op_move},
#define OPERATION_pause          {2, op_pause},
#define OPERATION_pause_for      {1, op_pause_for},
#define OPERATION_limit          {1, op_limit},
#define OPERATION_dead_limit     {1, op_dead_limit},
#define OPERATION_limit_set      {2, op_limit_set},
#define OPERATION_limits         {2, op_limits},
#define OPERATION_limit_keys     /* conformance */
#define OPERATION_metadata       {1, op_metadata},
#define OPERATION_metadata_set   {3, op_metadata_set},
#define OPERATION_schema_publish {2, op_schema_publish},
#define OPERATION_schemas        {1, op_schemas},
#define OPERATION_schema_text    {1, op_schema_text},
#define OPERATION_schema_sweep   /* conformance: who repeats it is told of none */
#define OPERATION_schema_drop    /* conformance */
#define OPERATION_purge          {1, op_purge},
#define OPERATION_fsck           {1, op_fsck},
#define OPERATION_stats                        /* compare_queue */
#define OPERATION_get                          /* compare_queue */
#define OPERATION_run_log                      /* compare_queue, with --log */
#define OPERATION_list           {8, op_list}, /* and compare_queue */
#define OPERATION_worker_tell    {2, op_worker_tell},
#define OPERATION_workers        {1, op_workers},
#define OPERATION_worker_set     {1, op_worker_set},
#define OPERATION_queues         /* conformance */
#define OPERATION_doctor         /* each store's own tests */
#define OPERATION_now            /* the clock is driven */
#define OPERATION_wake_arm       /* conformance, wake__each_verb_that_makes_a_run_due */
#define OPERATION_wake_take      /* as wake_arm */
#define OPERATION_events_keep    /* events_operate, with --events */
#define OPERATION_events         /* as events_keep */
#define OPERATION_figures_add    /* figures_operate, with --figures */
#define OPERATION_figures        /* as figures_add */
#define OPERATION_wait           /* wait_operate, with --wait */
#define OPERATION_wait_arm       /* op_wait */
#define OPERATION_batch          /* batch_operate, with --batch */
#define OPERATION_batch_look     /* as batch */
#define OPERATION_batch_review   /* as batch */

static const struct operation operations[] = {
#define VERB(name, effect, parameters, arguments, check) OPERATION_##name
#include "store/verbs.def"
#undef VERB
    {11, op_clock},
};

enum { OPERATION_COUNT = sizeof operations / sizeof operations[0] };

static const struct operation *operation_pick(struct world *world)
{
    int sum = 0;
    for (size_t i = 0; i < OPERATION_COUNT; i++)
        sum += operations[i].weight;
    int64_t pick = below(world, sum);
    const struct operation *operation = operations;
    while (pick >= operation->weight)
        pick -= operation++->weight;
    return operation;
}

static size_t live_count(const struct model *model)
{
    size_t live = 0;
    for (size_t i = 0; i < model->run_count; i++)
        live += !model->runs[i]->is_gone && model->runs[i]->state <= CULEX_RUN_ACTIVE;
    return live;
}

/* Apart from the others, whose seeds are chosen for what comes about there. */
/* An option of its own, so that the courses of the other seeds stay what they are. */
static bool wait_operate(struct world *world, int queue)
{
    return !world->has_waits || !chance(world, 4) || op_wait(world, queue);
}

static bool figures_operate(struct world *world, int queue)
{
    if (!world->has_figures || !chance(world, 10))
        return true;
    return op_figures_add(world, queue) && op_figures(world, queue);
}

static int event_order(const void *left, const void *right)
{
    const culex_event *one = left, *other = right;
    if (one->kind != other->kind)
        return one->kind < other->kind ? -1 : 1;
    int order = memcmp(&one->id, &other->id, sizeof one->id);
    return order != 0 ? order : (one->attempt > other->attempt) - (one->attempt < other->attempt);
}

/* What one operation has brought comes in any order. */
static bool same_events(struct culex_event_list *theirs, struct culex_event_list *mine)
{
    bool is_same = theirs->count == mine->count && theirs->position == mine->position &&
                   theirs->is_gap == mine->is_gap && theirs->newest == mine->newest &&
                   theirs->kept == mine->kept;
    if (mine->count > 1 && is_same) {
        qsort(theirs->of, theirs->count, sizeof *theirs->of, event_order);
        qsort(mine->of, mine->count, sizeof *mine->of, event_order);
    }
    for (size_t i = 0; i < mine->count && is_same; i++)
        is_same = event_order(&theirs->of[i], &mine->of[i]) == 0 &&
                  theirs->of[i].count == mine->of[i].count &&
                  theirs->of[i].at_ms == mine->of[i].at_ms &&
                  strcmp(theirs->of[i].job, mine->of[i].job) == 0;
    return is_same;
}

static void events_show(const char *whose, const struct culex_event_list *list)
{
    printf("%s: up to %" PRIu64 "%s\n", whose, list->position, list->is_gap ? ", a gap" : "");
    for (size_t i = 0; i < list->count; i++)
        printf("  %s %02x%02x %u\n", culex_events_kind_name(list->of[i].kind), list->of[i].id.b[14],
               list->of[i].id.b[15], list->of[i].attempt);
}

/* What the last operation has brought; never more than are kept, for which of them stay would go by
 * their order. */
static bool events_look(struct world *world, int queue)
{
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    struct culex_event_list theirs = {0}, mine = {0};
    uint64_t *after = &world->events[queue];
    culex_status status;
    PERSIST(world, status,
            store->ops->events(store, queues[queue], *after, CULEX_EVENTS_PAGE_MAX, &theirs, NULL));
    bool is_same =
        status == CULEX_OK && model->ops->events(model, queues[queue], *after,
                                                 CULEX_EVENTS_PAGE_MAX, &mine, NULL) == CULEX_OK;
    is_same = is_same && same_events(&theirs, &mine);
    if (!is_same) {
        events_show("theirs", &theirs);
        events_show("mine", &mine);
    }
    *after = mine.position;
    culex__event_list_release(&theirs);
    culex__event_list_release(&mine);
    return is_same || differs("EVENTS of %s: status %d, or others", queues[queue], (int)status);
}

static bool op_events_keep(struct world *world, int queue)
{
    static const uint64_t mosts[] = {0, 2000, 100000};
    struct culex_store *store = handle_pick(world), *model = &world->compare.model->base;
    uint64_t most = mosts[draw(world, sizeof mosts / sizeof mosts[0])];
    culex_status status;
    TRACE(world, "%d events are kept", (int)most);
    PERSIST(world, status, store->ops->events_keep(store, queues[queue], most, NULL));
    return same_status(world, "EVENTS_KEEP", status,
                       model->ops->events_keep(model, queues[queue], most, NULL));
}

static bool events_operate(struct world *world)
{
    if (!world->has_events)
        return true;
    for (int queue = 0; queue < QUEUES; queue++) {
        if (!events_look(world, queue))
            return false;
    }
    return world->op % 100 != 1 || op_events_keep(world, (int)(world->op / 100 % QUEUES));
}

static bool operate(struct world *world)
{
    int queue = chance(world, 20);
    if (!wait_operate(world, queue) || !figures_operate(world, queue) ||
        !batch_operate(world, queue) || !after_operate(world, queue))
        return false;
    const struct operation *operation = operation_pick(world);
    if ((operation->run == op_enqueue || operation->run == op_enqueue_each) &&
        live_count(world->compare.model) > LIVE_MAX)
        return op_step(world, queue) && told_check(world);
    return operation->run(world, queue) && told_check(world);
}

static bool compare_all(struct world *world)
{
    for (int queue = 0; queue < QUEUES; queue++) {
        /* As readers find it before a step has moved what is due, or after. */
        if (!op_fsck(world, queue) || (chance(world, 50) && !settle_down(world, queue)) ||
            !compare_queue(&world->compare, queues[queue], 1 + (size_t)below(world, 30)) ||
            !stores_check(STORE_NAME, queues[queue]))
            return false;
    }
    model_shrink(world->compare.model);
    return true;
}

static bool nobody_holds(struct world *world)
{
    culex_queue_stats stats;
    for (int queue = 0; queue < QUEUES; queue++) {
        if (world->compare.store->ops->stats(world->compare.store, queues[queue], &stats, NULL) !=
                CULEX_OK ||
            stats.count[CULEX_RUN_ACTIVE] != 0)
            return differs("runs are held after the last lease has ended");
    }
    return true;
}

static bool world_run(struct world *world, unsigned long ops)
{
    world->nonce = UINT32_MAX / 2;
    for (int i = 0; i < SESSIONS; i++)
        snprintf(world->sessions[i], sizeof world->sessions[i], "%016" PRIx64, random_next(world));
    for (world->op = 1; world->op <= ops; world->op++) {
        world->is_doubtful = false;
        clock_advance(world, below(world, 20));
        model_doubt(world->compare.model);
        if (world->fault_every > 0 && below(world, (int64_t)world->fault_every) == 0)
            world->is_doubtful = stores_fault((unsigned)random_next(world));
        if (!operate(world) || !events_operate(world))
            return false;
        listing_look(world);
        if (world->op % OPS_PER_COMPARE == 0 && !compare_all(world))
            return false;
    }
    /* A minute after the last call no lease is left. */
    clock_advance(world, 60000);
    for (int queue = 0; queue < QUEUES; queue++) {
        if (!settle_down(world, queue))
            return false;
    }
    return compare_all(world) && nobody_holds(world);
}

static bool handles_open(struct world *world)
{
    for (int i = 0; i < SESSIONS; i++) {
        if ((world->handles[i] = stores_open(&world->env, STORE_NAME)) == NULL)
            return false;
    }
    struct culex_limit_list list = {0};
    world->has_limits = world->handles[0]->ops->limits(world->handles[0], queues[0], &list, NULL) !=
                        CULEX_EUNSUPPORTED;
    culex__limit_list_release(&list);
    return true;
}

static uint64_t number_of(const char *text)
{
    return text != NULL ? strtoull(text, NULL, 0) : 0;
}

int main(int argc, char **argv)
{
    static struct world world;
    uint64_t seed = (uint64_t)time(NULL) * 1000 + (uint64_t)getpid();
    unsigned long ops = 20000;
    if (argc < 2)
        return 2;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--trace") == 0)
            world.is_traced = true;
        else if (strcmp(argv[i], "--follow") == 0)
            world.has_follow_ups = true;
        else if (strcmp(argv[i], "--bound") == 0)
            world.has_bound = true;
        else if (strcmp(argv[i], "--figures") == 0)
            world.has_figures = true;
        else if (strcmp(argv[i], "--batch") == 0)
            world.has_batches = true;
        else if (strcmp(argv[i], "--after") == 0)
            world.has_after = true;
        else if (strcmp(argv[i], "--events") == 0)
            world.has_events = true;
        else if (strcmp(argv[i], "--log") == 0)
            world.compare.has_logs = true;
        else if (strcmp(argv[i], "--find") == 0)
            world.has_filters = true;
        else if (strcmp(argv[i], "--wait") == 0)
            world.has_waits = true;
        else if (strcmp(argv[i], "--seed") == 0)
            seed = number_of(argv[++i]);
        else if (strcmp(argv[i], "--ops") == 0)
            ops = (unsigned long)number_of(argv[++i]);
        else if (strcmp(argv[i], "--faults") == 0)
            world.fault_every = (unsigned long)number_of(argv[++i]);
        else
            return 2;
    }
    int refused = stores_start(argv[1], world.fault_every > 0);
    if (refused != 0)
        return refused;
    world.env = *culex__env_system();
    world.env.self = &world;
    world.env.store_clock_ms = driven_clock;
    world.now_ms = world.newest_ms = INT64_C(1800000000000);
    world.random = seed;
    world.is_crowded = seed % 2 == 1;
    world.compare.store = stores_open(&world.env, STORE_NAME);
    world.compare.model = (struct model *)model_open(&world.env);
    world.compare.model->has_ties_by_id = strcmp(argv[1], "redis") == 0;
    bool is_good = world.compare.store != NULL && handles_open(&world) && world_run(&world, ops);
    if (!is_good)
        fprintf(stderr, "differential %s --seed %" PRIu64 " --ops %lu failed at operation %lu\n",
                argv[1], seed, ops, world.op);
    else
        printf("%s: %lu operations, seed %" PRIu64 ": equal\n", argv[1], ops, seed);
    for (int i = 0; i < SESSIONS; i++) {
        if (world.handles[i] != NULL)
            world.handles[i]->ops->close(world.handles[i]);
    }
    if (world.compare.store != NULL)
        world.compare.store->ops->close(world.compare.store);
    world.compare.model->base.ops->close(&world.compare.model->base);
    stores_stop();
    return is_good ? 0 : 1;
}
