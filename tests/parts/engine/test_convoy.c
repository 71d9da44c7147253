/* Enqueue calls of several threads on one client: which go together, and what each is told. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/error.h"
#include "client/convoy.h"
#include "world.h"

/* BRIEF_MS: of calls that come to its end; threads have time enough to line up before. */
enum { TRACE_MAX = 400, TIMEOUT_MS = 20000, BRIEF_MS = 1200, TEXT_MAX = 900 * 1024 };

/* What the store does with the tries that carry several calls, or with all that come alone. */
enum fault {
    NONE,
    LOSE_REPLY, /* applied, then EUNKNOWN */
    LOSE_TRY,   /* EUNKNOWN, not applied */
    REFUSE      /* with the fault's status, not applied */
};

/* A store in memory behind a gate, which lets the threads line up before the first call ends. */
struct gate {
    struct culex_store base; /* first */
    struct culex_store *inner;
    culex_client *client;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_shut;
    unsigned inside; /* calls that have come to the gate */
    enum fault each_fault, alone_fault;
    culex_status each_status;
    int each_ms;            /* that they take */
    bool each_shuts;        /* the gate behind it */
    int64_t until_ns;       /* when the last of them was to end */
    unsigned fault_percent; /* of those, at random; 0: all */
    unsigned seed;
    /* In its turn: what the store was asked. */
    size_t sizes[TRACE_MAX]; /* calls that were carried at a time; 0 for an enqueue alone */
    struct culex_ticket tickets[TRACE_MAX];             /* of what came alone */
    struct culex_ticket together[CULEX_STORE_EACH_MAX]; /* of the last that were carried */
    size_t asked, alone;
};

static void nap_ms(int ms)
{
    struct timespec some = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&some, NULL);
}

static struct gate *gate_of(struct culex_store *store)
{
    return (struct gate *)store;
}

static void gate_pass(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->inside++;
    pthread_cond_broadcast(&gate->changed);
    while (gate->is_shut)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static void gate_set(struct gate *gate, bool is_shut)
{
    pthread_mutex_lock(&gate->lock);
    gate->is_shut = is_shut;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

static void gate_await_calls(struct gate *gate, unsigned count)
{
    pthread_mutex_lock(&gate->lock);
    while (gate->inside < count)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static bool fault_happens(struct gate *gate)
{
    gate->seed = gate->seed * 1103515245 + 12345;
    return gate->fault_percent == 0 || gate->seed / 65536 % 100 < gate->fault_percent;
}

static culex_status gate_enqueue(struct culex_store *store, const char *queue,
                                 const struct culex_ticket *ticket,
                                 const struct culex_new_run *runs, size_t count,
                                 struct culex_enqueue_result *results, culex_error *error)
{
    struct gate *gate = gate_of(store);
    enum fault fault = fault_happens(gate) ? gate->alone_fault : NONE;
    gate->sizes[gate->asked++ % TRACE_MAX] = 0;
    gate->tickets[gate->alone++ % TRACE_MAX] = *ticket;
    gate_pass(gate);
    if (fault == LOSE_TRY || fault == REFUSE)
        return culex__fail(error, fault == REFUSE ? CULEX_ECONNECT : CULEX_EUNKNOWN, "lost");
    culex_status status =
        gate->inner->ops->enqueue(gate->inner, queue, ticket, runs, count, results, error);
    return fault == LOSE_REPLY ? culex__fail(error, CULEX_EUNKNOWN, "lost") : status;
}

static culex_status gate_enqueue_each(struct culex_store *store, const char *queue,
                                      const struct culex_ticket *tickets,
                                      const struct culex_new_run *runs, size_t count,
                                      struct culex_enqueue_result *results, culex_error *error)
{
    struct gate *gate = gate_of(store);
    enum fault fault = fault_happens(gate) ? gate->each_fault : NONE;
    gate->sizes[gate->asked++ % TRACE_MAX] = count;
    memcpy(gate->together, tickets, count * sizeof *tickets);
    gate->until_ns = atomic_load(store->until_ns);
    gate_pass(gate);
    nap_ms(gate->each_ms);
    if (gate->each_shuts)
        gate_set(gate, true);
    if (fault == LOSE_TRY || fault == REFUSE)
        return culex__fail(error, fault == REFUSE ? gate->each_status : CULEX_EUNKNOWN, "lost");
    culex_status status =
        gate->inner->ops->enqueue_each(gate->inner, queue, tickets, runs, count, results, error);
    return fault == LOSE_REPLY ? culex__fail(error, CULEX_EUNKNOWN, "lost") : status;
}

static culex_status gate_now(struct culex_store *store, int64_t *ret_now_ms, culex_error *error)
{
    struct gate *gate = gate_of(store);
    return gate->inner->ops->now(gate->inner, ret_now_ms, error);
}

static culex_status gate_get(struct culex_store *store, const char *queue, culex_uuid id,
                             culex_run_info **ret_run, culex_error *error)
{
    struct gate *gate = gate_of(store);
    return gate->inner->ops->get(gate->inner, queue, id, ret_run, error);
}

static culex_status gate_stats(struct culex_store *store, const char *queue,
                               culex_queue_stats *ret_stats, culex_error *error)
{
    struct gate *gate = gate_of(store);
    return gate->inner->ops->stats(gate->inner, queue, ret_stats, error);
}

static culex_status gate_limit(struct culex_store *store, const char *queue, uint64_t most,
                               culex_error *error)
{
    struct gate *gate = gate_of(store);
    return gate->inner->ops->limit(gate->inner, queue, most, error);
}

static void gate_leave(struct culex_store *store)
{
    (void)store; /* the test closes the inner one */
}

static const struct culex_store_ops gate_ops = {
    .name = "gate",
    .enqueue = gate_enqueue,
    .enqueue_each = gate_enqueue_each,
    .now = gate_now,
    .get = gate_get,
    .stats = gate_stats,
    .limit = gate_limit,
    .close = gate_leave,
};

/* --- threads that call -------------------------------------------------------------------- */

struct text {
    const char *text;
};

static const culex_field text_fields[] = {
    {.name = "text", .wire = "text", .kind = CULEX_KIND_STRING, .flags = CULEX_FIELD_REQUIRED},
};

static const culex_struct_type text_struct = {"t.text", sizeof(struct text), text_fields, 1};

struct caller {
    struct gate *gate;
    culex_job_type type;
    culex_enqueue_options options;
    struct number number;
    struct text text; /* in place of the number when there is one */
    size_t count;     /* 2: a bulk of so many */
    pthread_t thread;
    culex_uuid ids[2];
    culex_error error;
    culex_status status;
};

static void *caller_run(void *user)
{
    struct caller *caller = user;
    struct number two[2] = {caller->number, caller->number};
    const void *params = caller->text.text != NULL ? (void *)&caller->text : &caller->number;
    if (caller->count == 2)
        caller->status =
            culex_client_enqueue_many(caller->gate->client, &caller->type, two, sizeof two[0], 2,
                                      &caller->options, caller->ids, NULL, &caller->error);
    else
        caller->status = culex_client_enqueue(caller->gate->client, &caller->type, params,
                                              &caller->options, caller->ids, &caller->error);
    return NULL;
}

static struct caller caller_make(struct gate *gate, int64_t n)
{
    return (struct caller){.gate = gate,
                           .type = number_type(),
                           .options = culex_enqueue_options_make(),
                           .number = {n},
                           .count = 1};
}

static size_t line_length(struct gate *gate)
{
    struct culex_turn *turn = &gate->client->turn;
    size_t length = 0;
    pthread_mutex_lock(&turn->lock);
    for (struct culex_turn_waiter *at = turn->first; at != NULL; at = at->next)
        length++;
    pthread_mutex_unlock(&turn->lock);
    return length;
}

static void line_await(struct gate *gate, size_t length)
{
    while (line_length(gate) != length)
        nap_ms(1);
}

static void caller_start(struct caller *caller)
{
    assert_int_equal(pthread_create(&caller->thread, NULL, caller_run, caller), 0);
}

static void callers_join(struct caller *callers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pthread_join(callers[i].thread, NULL);
}

/* The first goes to the store and stays there until all others stand in the line, in their order.
 */
static void callers_line_up(struct gate *gate, struct caller *callers, size_t count)
{
    gate_set(gate, true);
    caller_start(&callers[0]);
    gate_await_calls(gate, 1);
    for (size_t i = 1; i < count; i++) {
        caller_start(&callers[i]);
        line_await(gate, i);
    }
}

static void callers_meet(struct gate *gate, struct caller *callers, size_t count)
{
    callers_line_up(gate, callers, count);
    gate_set(gate, false);
    callers_join(callers, count);
}

static struct gate *gate_open(void **state, int64_t timeout_ms)
{
    static int serial;
    char url[40];
    struct gate *gate = calloc(1, sizeof *gate);
    snprintf(url, sizeof url, "memory:convoy%d", serial++);
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->changed, NULL);
    assert_int_equal(
        culex__store_open(url, NULL, culex__env_system(), &gate->inner, &(culex_error){0}),
        CULEX_OK);
    culex__store_init(&gate->base, &gate_ops, culex__env_system(), NULL);
    assert_int_equal(
        culex__client_create(&gate->base, timeout_ms, culex__env_system(), &gate->client, NULL),
        CULEX_OK);
    *state = gate;
    return gate;
}

static int gate_close(void **state)
{
    struct gate *gate = *state;
    culex_client_close(gate->client);
    gate->inner->ops->close(gate->inner);
    pthread_mutex_destroy(&gate->lock);
    pthread_cond_destroy(&gate->changed);
    free(gate);
    return 0;
}

static uint64_t enqueued_in(struct gate *gate, const char *queue)
{
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(gate->client, queue, &stats, NULL), CULEX_OK);
    return stats.enqueued;
}

/* The run has the number that its caller gave. */
static void assert_his(const struct caller *caller)
{
    char text[64];
    culex_run_info *run = NULL;
    const char *queue = caller->options.queue != NULL ? caller->options.queue : caller->type.queue;
    assert_int_equal(caller->status, CULEX_OK);
    assert_int_equal(culex_client_get(caller->gate->client, queue, caller->ids[0], &run, NULL),
                     CULEX_OK);
    snprintf(text, sizeof text, "{\"n\":%lld}", (long long)caller->number.n);
    if (caller->text.text == NULL)
        assert_memory_equal(run->payload.data, text, strlen(text));
    culex_run_info_free(run);
}

static void assert_all_his(const struct caller *callers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_his(&callers[i]);
}

/* --- who goes with whom -------------------------------------------------------------------- */

static void test_those_who_wait_go_together(void **state)
{
    enum { COUNT = 8 };
    struct gate *gate = gate_open(state, TIMEOUT_MS);
    struct caller callers[COUNT];
    for (int i = 0; i < COUNT; i++)
        callers[i] = caller_make(gate, i);
    callers_meet(gate, callers, COUNT);
    assert_all_his(callers, COUNT);
    assert_int_equal(gate->asked, 2);
    assert_int_equal(gate->sizes[1], COUNT - 1);
    assert_int_equal(enqueued_in(gate, "numbers"), COUNT);
}

/* They are in the store in the order in which they came. */
static void test_order_of_coming_is_kept(void **state)
{
    enum { COUNT = 6 };
    struct gate *gate = gate_open(state, TIMEOUT_MS);
    struct caller callers[COUNT];
    for (int i = 0; i < COUNT; i++)
        callers[i] = caller_make(gate, i);
    callers_meet(gate, callers, COUNT);
    for (int i = 1; i < COUNT; i++)
        assert_true(memcmp(&callers[i].ids[0], &callers[i - 1].ids[0], sizeof(culex_uuid)) > 0);
}

static void test_other_queues_tickets_and_bulks_go_apart(void **state)
{
    enum { COUNT = 8 };
    struct gate *gate = gate_open(state, TIMEOUT_MS);
    struct caller callers[COUNT];
    for (int i = 0; i < COUNT; i++)
        callers[i] = caller_make(gate, i);
    callers[2].options.queue = callers[4].options.queue = "others";
    callers[3].count = 2;
    callers[5].options.has_ticket = true;
    assert_int_equal(culex_client_new_ticket(gate->client, &callers[5].options.ticket, NULL),
                     CULEX_OK);
    callers_meet(gate, callers, COUNT);
    assert_all_his(callers, COUNT);
    assert_int_equal(gate->asked, 5);
    assert_int_equal(gate->sizes[1], 3); /* 1, 6 and 7 */
    assert_int_equal(enqueued_in(gate, "numbers"), COUNT - 1);
    assert_int_equal(enqueued_in(gate, "others"), 2);
}

static void test_more_than_a_store_takes_go_in_several(void **state)
{
    enum { COUNT = CULEX_STORE_EACH_MAX + 6 };
    struct gate *gate = gate_open(state, TIMEOUT_MS);
    static struct caller callers[COUNT];
    for (int i = 0; i < COUNT; i++)
        callers[i] = caller_make(gate, i);
    callers_meet(gate, callers, COUNT);
    assert_all_his(callers, COUNT);
    assert_int_equal(gate->asked, 3);
    assert_int_equal(gate->sizes[1], CULEX_STORE_EACH_MAX);
    assert_int_equal(gate->sizes[2], 5);
}

/* 2 MiB of payload go together. */
static void test_long_payloads_go_in_several(void **state)
{
    enum { COUNT = 6 };
    struct gate *gate = gate_open(state, TIMEOUT_MS);
    static char text[TEXT_MAX + 1];
    struct caller callers[COUNT];
    memset(text, 'x', TEXT_MAX);
    for (int i = 0; i < COUNT; i++) {
        callers[i] = caller_make(gate, i);
        callers[i].type.params = &text_struct;
        callers[i].text.text = text;
    }
    callers_meet(gate, callers, COUNT);
    assert_all_his(callers, COUNT);
    assert_int_equal(gate->asked, 4); /* 1, 2, 2 and 1 */
    assert_int_equal(gate->sizes[1], 2);
    assert_int_equal(gate->sizes[2], 2);
}

/* --- what each is told ----------------------------------------------------------------------- */

static void test_what_does_not_encode_concerns_its_caller_alone(void **state)
{
    enum { COUNT = 5 };
    struct gate *gate = gate_open(state, TIMEOUT_MS);
    struct caller callers[COUNT];
    for (int i = 0; i < COUNT; i++)
        callers[i] = caller_make(gate, i);
    callers[4].type.params = &text_struct;
    callers[4].text.text = "\xff";
    gate_set(gate, true);
    caller_start(&callers[0]);
    gate_await_calls(gate, 1);
    for (int i = 1; i < COUNT; i++)
        caller_start(&callers[i]);
    pthread_join(callers[4].thread, NULL); /* it does not even wait */
    assert_int_not_equal(callers[4].status, CULEX_OK);
    assert_int_equal(callers[4].status, callers[4].error.code);
    line_await(gate, 3);
    gate_set(gate, false);
    callers_join(callers, 4);
    assert_all_his(callers, 4);
    assert_int_equal(gate->sizes[1], 3);
}

/* Of a queue that may not be there yet. */
static void queue_limit(struct gate *gate, uint64_t limit)
{
    const struct culex_store_ops *ops = gate->inner->ops;
    assert_int_equal(ops->hello(gate->inner, "numbers", "w", "aaaaaaaaaaaaaaaa", &(size_t){0},
                                &(int64_t){0}, NULL),
                     CULEX_OK);
    assert_int_equal(ops->limit(gate->inner, "numbers", limit, NULL), CULEX_OK);
}

static void test_each_has_his_own_outcome(void **state)
{
    enum { COUNT = 6 };
    struct gate *gate = gate_open(state, TIMEOUT_MS);
    struct caller callers[COUNT];
    for (int i = 0; i < COUNT; i++)
        callers[i] = caller_make(gate, i);
    callers[1].options.idempotency_key = callers[2].options.idempotency_key =
        callers[3].options.idempotency_key = "order 7";
    callers[3].number.n = callers[2].number.n = callers[1].number.n;
    callers[2].number.n = 99;
    callers_line_up(gate, callers, COUNT);
    queue_limit(gate, 3);
    gate_set(gate, false);
    callers_join(callers, COUNT);
    assert_int_equal(gate->sizes[1], 5);
    assert_his(&callers[0]);
    assert_his(&callers[1]);
    assert_int_equal(callers[2].status, CULEX_ECONFLICT);
    assert_non_null(strstr(callers[2].error.text, "with this idempotency key"));
    assert_his(&callers[3]);
    assert_memory_equal(&callers[3].ids[0], &callers[1].ids[0], sizeof(culex_uuid));
    assert_his(&callers[4]);
    assert_int_equal(callers[5].status, CULEX_EFULL);
    assert_non_null(strstr(callers[5].error.text, "queue 'numbers' is full"));
}

/* Whatever the reason: each goes on alone, and has the answer to his own call. */
static void test_refused_convoy_is_made_call_by_call(void **state)
{
    enum { COUNT = 5 };
    static const culex_status reasons[] = {CULEX_ECONNECT, CULEX_EBUSY,     CULEX_EFULL,
                                           CULEX_EINVAL,   CULEX_ECONFLICT, CULEX_EEXPIRED,
                                           CULEX_ESTORE,   CULEX_ENOMEM,    CULEX_EUNSUPPORTED};
    for (size_t r = 0; r < sizeof reasons / sizeof reasons[0]; r++) {
        struct gate *gate = gate_open(state, TIMEOUT_MS);
        struct caller callers[COUNT];
        for (int i = 0; i < COUNT; i++)
            callers[i] = caller_make(gate, i);
        gate->each_fault = REFUSE;
        gate->each_status = reasons[r];
        callers_meet(gate, callers, COUNT);
        assert_all_his(callers, COUNT);
        assert_int_equal(gate->sizes[1], COUNT - 1);
        assert_int_equal(enqueued_in(gate, "numbers"), COUNT);
        if (r + 1 < sizeof reasons / sizeof reasons[0])
            gate_close(state);
    }
}

/* As a handler's client, which asks by way of the supervisor. */
static void test_store_without_convoys_is_asked_once(void **state)
{
    enum { COUNT = 4 };
    struct gate *gate = gate_open(state, TIMEOUT_MS);
    gate->each_fault = REFUSE;
    gate->each_status = CULEX_EUNSUPPORTED;
    for (int round = 0; round < 2; round++) {
        struct caller callers[COUNT];
        for (int i = 0; i < COUNT; i++)
            callers[i] = caller_make(gate, i);
        gate->inside = 0;
        callers_meet(gate, callers, COUNT);
        assert_all_his(callers, COUNT);
    }
    assert_int_equal(gate->alone, 2 * COUNT);
    assert_int_equal(gate->asked, 2 * COUNT + 1);
    assert_int_equal(enqueued_in(gate, "numbers"), 2 * COUNT);
}

/* With the ticket that it had in the convoy. */
static void assert_tickets_again(const struct gate *gate, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool is_found = false;
        for (size_t j = 1; j < gate->alone; j++)
            is_found |= memcmp(&gate->tickets[j], &gate->together[i], sizeof gate->tickets[j]) == 0;
        assert_true(is_found);
    }
}

static void lost_convoy_play(void **state, enum fault fault)
{
    enum { COUNT = 5 };
    struct gate *gate = gate_open(state, TIMEOUT_MS);
    struct caller callers[COUNT];
    for (int i = 0; i < COUNT; i++)
        callers[i] = caller_make(gate, i);
    gate->each_fault = fault;
    callers_meet(gate, callers, COUNT);
    assert_all_his(callers, COUNT);
    assert_int_equal(gate->sizes[1], COUNT - 1);
    assert_tickets_again(gate, COUNT - 1);
    assert_int_equal(enqueued_in(gate, "numbers"), COUNT);
}

static void test_lost_reply_is_asked_for_by_each(void **state)
{
    lost_convoy_play(state, LOSE_REPLY);
}

static void test_lost_try_is_made_by_each(void **state)
{
    lost_convoy_play(state, LOSE_TRY);
}

/* Each has a ticket with which he, and nobody else, repeats his call; in any order. */
static void unknown_convoy_play(void **state, enum fault fault, enum fault alone_fault)
{
    enum { COUNT = 4 };
    struct gate *gate = gate_open(state, BRIEF_MS);
    struct caller callers[COUNT];
    for (int i = 0; i < COUNT; i++)
        callers[i] = caller_make(gate, i);
    callers_line_up(gate, callers, COUNT);
    gate->each_fault = fault;
    gate->alone_fault = alone_fault;
    gate_set(gate, false);
    callers_join(callers, COUNT);
    gate->alone_fault = gate->each_fault = NONE;
    for (int i = COUNT - 1; i > 0; i--) {
        assert_int_equal(callers[i].status, CULEX_EUNKNOWN);
        assert_int_equal(callers[i].error.code, CULEX_EUNKNOWN);
        callers[i].options.has_ticket = true;
        callers[i].options.ticket = callers[i].ids[0];
        caller_run(&callers[i]);
        assert_his(&callers[i]);
        culex_uuid id = callers[i].ids[0];
        caller_run(&callers[i]);
        assert_memory_equal(&id, &callers[i].ids[0], sizeof id);
        callers[i].number.n = 1000;
        caller_run(&callers[i]);
        assert_int_equal(callers[i].status, CULEX_ECONFLICT);
    }
    assert_int_equal(enqueued_in(gate, "numbers"), COUNT);
}

static void test_unknown_convoy_is_repeated_by_each(void **state)
{
    unknown_convoy_play(state, LOSE_REPLY, LOSE_TRY);
}

static void test_unknown_convoy_stays_unknown_when_the_store_then_goes_away(void **state)
{
    unknown_convoy_play(state, LOSE_REPLY, REFUSE);
}

static void test_unknown_convoy_that_never_came_is_repeated_by_each(void **state)
{
    unknown_convoy_play(state, LOSE_TRY, LOSE_TRY);
}

/* The convoy may still be under way, and none of those who are refused now is remembered. */
static void test_refusal_after_a_lost_convoy_is_unknown(void **state)
{
    enum { COUNT = 4 };
    struct gate *gate = gate_open(state, TIMEOUT_MS);
    struct caller callers[COUNT];
    for (int i = 0; i < COUNT; i++)
        callers[i] = caller_make(gate, i);
    callers_line_up(gate, callers, COUNT);
    queue_limit(gate, 1);
    gate->each_fault = LOSE_TRY;
    gate_set(gate, false);
    callers_join(callers, COUNT);
    gate->each_fault = NONE;
    assert_his(&callers[0]);
    queue_limit(gate, 0);
    for (int i = 1; i < COUNT; i++) {
        assert_int_equal(callers[i].status, CULEX_EUNKNOWN);
        assert_non_null(strstr(callers[i].error.text, "queue 'numbers' is full"));
        callers[i].options.has_ticket = true;
        callers[i].options.ticket = callers[i].ids[0];
        caller_run(&callers[i]);
        assert_his(&callers[i]);
    }
    assert_int_equal(enqueued_in(gate, "numbers"), COUNT);
}

/* --- time ------------------------------------------------------------------------------------ */

static void test_who_gives_up_takes_his_run_along(void **state)
{
    enum { COUNT = 4 };
    struct gate *gate = gate_open(state, 100);
    struct caller callers[COUNT];
    gate_set(gate, true);
    for (int i = 0; i < COUNT; i++)
        callers[i] = caller_make(gate, i);
    caller_start(&callers[0]);
    gate_await_calls(gate, 1);
    for (int i = 1; i < COUNT; i++)
        caller_start(&callers[i]);
    callers_join(&callers[1], COUNT - 1);
    assert_int_equal(line_length(gate), 0);
    gate_set(gate, false);
    callers_join(callers, 1);
    for (int i = 1; i < COUNT; i++) {
        assert_int_equal(callers[i].status, CULEX_EBUSY);
        assert_non_null(strstr(callers[i].error.text, "other threads used this client"));
    }
    assert_int_equal(enqueued_in(gate, "numbers"), 1);
}

/* A store that takes longer than it may: nobody leaves while his run is on its way. */
static void test_who_is_on_the_way_waits(void **state)
{
    enum { COUNT = 4 };
    struct gate *gate = gate_open(state, BRIEF_MS);
    struct caller callers[COUNT];
    for (int i = 0; i < COUNT; i++)
        callers[i] = caller_make(gate, i);
    gate->each_ms = BRIEF_MS + 200;
    callers_line_up(gate, callers, COUNT);
    gate_set(gate, false);
    callers_join(callers, COUNT);
    assert_all_his(callers, COUNT);
    assert_int_equal(gate->sizes[1], COUNT - 1);
}

enum { LATE_COUNT = 4, LATE_FIRST = 2 /* whose time is up */ };

/* The try fails, and its leader goes to the store alone for all of the time that the others have.
 */
static struct gate *late_play(void **state, enum fault fault, culex_status each_status,
                              struct caller callers[LATE_COUNT])
{
    struct gate *gate = gate_open(state, BRIEF_MS);
    for (int i = 0; i < LATE_COUNT; i++)
        callers[i] = caller_make(gate, i);
    callers_line_up(gate, callers, LATE_COUNT);
    gate->each_fault = fault;
    gate->each_status = each_status;
    gate->each_shuts = true;
    gate_set(gate, false);
    callers_join(&callers[LATE_FIRST], LATE_COUNT - LATE_FIRST);
    gate_set(gate, false);
    callers_join(callers, LATE_FIRST);
    return gate;
}

static void test_unknown_convoy_stays_unknown_to_who_waits_again(void **state)
{
    struct caller callers[LATE_COUNT];
    struct gate *gate = late_play(state, LOSE_REPLY, CULEX_OK, callers);
    assert_his(&callers[1]);
    for (int i = LATE_FIRST; i < LATE_COUNT; i++) {
        assert_int_equal(callers[i].status, CULEX_EUNKNOWN);
        callers[i].options.has_ticket = true;
        callers[i].options.ticket = callers[i].ids[0];
        caller_run(&callers[i]);
        assert_his(&callers[i]);
    }
    assert_int_equal(enqueued_in(gate, "numbers"), LATE_COUNT);
}

static void late_expect(void **state, enum fault fault, culex_status each_status,
                        culex_status expected, const char *text)
{
    struct caller callers[LATE_COUNT];
    late_play(state, fault, each_status, callers);
    for (int i = LATE_FIRST; i < LATE_COUNT; i++) {
        assert_int_equal(callers[i].status, expected);
        assert_int_equal(callers[i].error.code, expected);
        assert_non_null(strstr(callers[i].error.text, text));
    }
}

/* No answer, or no connection: that is why, and not that another thread then tried again. */
static void test_who_has_no_time_to_try_again_is_told_of_the_convoy(void **state)
{
    late_expect(state, LOSE_TRY, CULEX_OK, CULEX_EUNKNOWN, ": lost");
}

static void test_who_was_refused_with_the_convoy_is_told_so(void **state)
{
    late_expect(state, REFUSE, CULEX_ECONNECT, CULEX_ECONNECT, "lost");
}

/* What was refused for good may be another's run. */
static void test_who_went_with_a_run_that_was_refused_is_told_of_the_turn(void **state)
{
    late_expect(state, REFUSE, CULEX_EINVAL, CULEX_EBUSY, "other threads used this client");
}

/* The leader has come later than those whom he takes along, and has more time. */
static void test_convoy_ends_with_the_first_of_its_calls(void **state)
{
    struct gate *gate = gate_open(state, TIMEOUT_MS);
    struct caller caller = caller_make(gate, 1);
    struct culex_effort effort;
    const culex_job_type type = number_type();
    struct culex_new_run run = {.job = type.wire, .attempts_max = 1, .tags = ""};
    struct culex_convoy_call call = {.queue = "numbers", .run = &run};
    assert_true(culex__turn_try(&gate->client->turn));
    caller_start(&caller);
    line_await(gate, 1);
    nap_ms(20);
    assert_int_equal(culex__effort_start(gate->client, &effort, NULL), CULEX_OK);
    atomic_store(&gate->client->until_ns, effort.deadline_ns);
    culex__convoy_go(&effort, &call);
    assert_true(call.is_answered);
    assert_true(gate->until_ns <= effort.deadline_ns - 20 * INT64_C(1000000));
    assert_int_equal(culex__effort_end(&effort, CULEX_OK, NULL), CULEX_OK);
    callers_join(&caller, 1);
    assert_his(&caller);
}

/* The try would end with the time of the first whose time is up. */
static void test_who_has_little_time_left_goes_alone(void **state)
{
    enum { COUNT = 4, TIME_MS = 3000 };
    struct gate *gate = gate_open(state, TIME_MS);
    struct caller callers[COUNT];
    for (int i = 0; i < COUNT; i++)
        callers[i] = caller_make(gate, i);
    gate_set(gate, true);
    caller_start(&callers[0]);
    gate_await_calls(gate, 1);
    caller_start(&callers[1]);
    line_await(gate, 1);
    nap_ms(TIME_MS - TIME_MS / 4 + 100);
    caller_start(&callers[2]);
    caller_start(&callers[3]);
    line_await(gate, 3);
    gate_set(gate, false);
    callers_join(callers, COUNT);
    assert_all_his(callers, COUNT);
    assert_int_equal(gate->asked, 3);
    assert_int_equal(gate->sizes[1], 0);
    assert_int_equal(gate->sizes[2], 2);
}

/* --- many ------------------------------------------------------------------------------------ */

enum { CROWD = 8, CROWD_CALLS = 400 };

struct member {
    struct gate *gate;
    pthread_t thread;
    int64_t number;
    culex_uuid ids[CROWD_CALLS];
    size_t id_count, expected;
    unsigned failed;
};

static void member_enqueue(struct member *member, int64_t n)
{
    struct caller caller = caller_make(member->gate, n);
    if (n % 13 == 0)
        caller.count = 2;
    caller_run(&caller);
    while (caller.status == CULEX_EUNKNOWN) {
        caller.options.has_ticket = true;
        caller.options.ticket = caller.ids[0];
        caller_run(&caller);
    }
    member->expected += caller.count;
    member->failed += caller.status != CULEX_OK;
    member->ids[member->id_count++] = caller.ids[0];
}

static void *member_run(void *user)
{
    struct member *member = user;
    culex_queue_stats stats;
    for (int64_t n = 1; n <= CROWD_CALLS; n++) {
        member_enqueue(member, n);
        if (n % 17 == 0 &&
            culex_client_stats(member->gate->client, "numbers", &stats, NULL) != CULEX_OK)
            member->failed++;
    }
    return NULL;
}

static int id_compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(culex_uuid));
}

static void assert_distinct(culex_uuid *ids, size_t count)
{
    qsort(ids, count, sizeof *ids, id_compare);
    for (size_t i = 1; i < count; i++)
        assert_memory_not_equal(&ids[i - 1], &ids[i], sizeof ids[i]);
}

static void crowd_play(struct gate *gate)
{
    static struct member members[CROWD];
    static culex_uuid ids[CROWD * CROWD_CALLS];
    size_t count = 0, expected = 0;
    for (int i = 0; i < CROWD; i++) {
        members[i] = (struct member){.gate = gate, .number = i};
        assert_int_equal(pthread_create(&members[i].thread, NULL, member_run, &members[i]), 0);
    }
    for (int i = 0; i < CROWD; i++) {
        pthread_join(members[i].thread, NULL);
        assert_int_equal(members[i].failed, 0);
        for (size_t k = 0; k < members[i].id_count; k++)
            ids[count++] = members[i].ids[k];
        expected += members[i].expected;
    }
    assert_distinct(ids, count);
    assert_int_equal(enqueued_in(gate, "numbers"), expected);
    assert_int_equal(line_length(gate), 0);
}

static void test_crowd_has_a_run_for_each_call(void **state)
{
    struct gate *gate = gate_open(state, TIMEOUT_MS);
    crowd_play(gate);
}

static void test_crowd_has_a_run_for_each_call_whatever_is_lost(void **state)
{
    static const enum fault faults[] = {LOSE_REPLY, LOSE_TRY, REFUSE};
    for (int i = 0; i < 3; i++) {
        struct gate *gate = gate_open(state, TIMEOUT_MS);
        gate->fault_percent = 10;
        gate->each_fault = faults[i];
        gate->each_status = CULEX_ECONNECT;
        crowd_play(gate);
        if (i < 2)
            gate_close(state);
    }
}

#define UNIT(test) cmocka_unit_test_teardown(test, gate_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(test_those_who_wait_go_together),
        UNIT(test_order_of_coming_is_kept),
        UNIT(test_other_queues_tickets_and_bulks_go_apart),
        UNIT(test_more_than_a_store_takes_go_in_several),
        UNIT(test_long_payloads_go_in_several),
        UNIT(test_what_does_not_encode_concerns_its_caller_alone),
        UNIT(test_each_has_his_own_outcome),
        UNIT(test_refused_convoy_is_made_call_by_call),
        UNIT(test_store_without_convoys_is_asked_once),
        UNIT(test_lost_reply_is_asked_for_by_each),
        UNIT(test_lost_try_is_made_by_each),
        UNIT(test_unknown_convoy_is_repeated_by_each),
        UNIT(test_unknown_convoy_stays_unknown_when_the_store_then_goes_away),
        UNIT(test_unknown_convoy_that_never_came_is_repeated_by_each),
        UNIT(test_refusal_after_a_lost_convoy_is_unknown),
        UNIT(test_who_gives_up_takes_his_run_along),
        UNIT(test_who_is_on_the_way_waits),
        UNIT(test_unknown_convoy_stays_unknown_to_who_waits_again),
        UNIT(test_who_has_no_time_to_try_again_is_told_of_the_convoy),
        UNIT(test_who_was_refused_with_the_convoy_is_told_so),
        UNIT(test_who_went_with_a_run_that_was_refused_is_told_of_the_turn),
        UNIT(test_convoy_ends_with_the_first_of_its_calls),
        UNIT(test_who_has_little_time_left_goes_alone),
        UNIT(test_crowd_has_a_run_for_each_call),
        UNIT(test_crowd_has_a_run_for_each_call_whatever_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
