/* bounds/bounds_sqlite.c - what one call of the SQLite store costs beside very many runs that do
 * not concern it.
 *
 * Counted are the instructions of SQLite's machine, over all statements of the handle: a row that
 * is walked past costs some, and no two machines count otherwise. Never time.
 *
 *   bounds_sqlite [RUNS]   so many are parked, and hold keys, instead of 100000 */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "stores.h"
#include "store/sqlite/sqlite.h"
#include "base/limits.h"

enum {
    RUNS = 20000, /* beside */
    PRODUCERS = 8000,
    SESSIONS = 4000,
    FORGET_WORK_MAX = 6000, /* far less than one a producer and one a key */
    WORK_MAX = 4000, /* instructions: far less than one a run, somewhat more than is needed */
    HOUR_MS = 3600000,
};

static struct suite suite;
static int crowd = 100000; /* parked runs, keys */

static int setup(void **state)
{
    (void)state;
    suite_open(&suite, "memory", 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    suite_close(&suite);
    return 0;
}

/* Since the last call. */
static int64_t work_take(void)
{
    const struct culex_sqlite *store = culex__sqlite_of(suite.store);
    int64_t work = 0;
    for (int i = 0; i < CULEX__SQLITE_STATEMENT_COUNT; i++) {
        if (store->statements[i] != NULL)
            work += sqlite3_stmt_status(store->statements[i], SQLITE_STMTSTATUS_VM_STEP, 1);
    }
    return work;
}

static void assert_work_below(const char *verb, int64_t most)
{
    int64_t work = work_take();
    printf("%-40s %lld instructions\n", verb, (long long)work);
    assert_true(work > 0);
    assert_true(work < most);
}

static void assert_little_work(const char *verb)
{
    assert_work_below(verb, WORK_MAX);
}

static void put_many(int count, int64_t delay_ms)
{
    struct culex_new_run runs[CULEX_ENQUEUE_BATCH_MAX];
    struct culex_enqueue_result results[CULEX_ENQUEUE_BATCH_MAX];
    for (int done = 0; done < count; done += CULEX_ENQUEUE_BATCH_MAX) {
        for (int i = 0; i < CULEX_ENQUEUE_BATCH_MAX; i++) {
            runs[i] = suite_run(&suite);
            runs[i].delay_ms = delay_ms;
        }
        assert_int_equal(suite.store->ops->enqueue(suite.store, suite.queue, NULL, runs,
                                                   CULEX_ENQUEUE_BATCH_MAX, results, NULL),
                         CULEX_OK);
    }
}

/* Claims all and ends them by `event`. */
static void end_all(enum culex_run_event event)
{
    struct culex_ack acks[CULEX_BATCH_MAX];
    size_t count = 0;
    do {
        struct culex_step step = suite_step_make(&suite, "00000000000000aa", CULEX_BATCH_MAX);
        step.acks = acks;
        step.ack_count = count;
        count = suite_step(&suite, &step);
        for (size_t i = 0; i < count; i++)
            acks[i] = (struct culex_ack){.id = suite.reply.grants[i].facts.id,
                                         .attempt = suite.reply.grants[i].facts.attempt,
                                         .event = event};
    } while (count > 0);
}

static void purge_one(culex_run_state state)
{
    assert_int_equal(suite_purge(&suite, state, 10), 1);
}

/* Under the write lock, which nobody else gets meanwhile. */
static void test_purge_of_one_state_walks_no_other(void **state)
{
    (void)state;
    put_many(RUNS, 0);
    end_all(CULEX_EVENT_DISCARD);
    suite_put(&suite);
    end_all(CULEX_EVENT_DONE);
    work_take();
    purge_one(CULEX_RUN_DONE);
    assert_little_work("PURGE of done beside dead ones");
}

static void test_purge_of_waiting_walks_no_scheduled(void **state)
{
    (void)state;
    put_many(RUNS, HOUR_MS);
    suite_put(&suite);
    work_take();
    purge_one(CULEX_RUN_WAITING);
    assert_little_work("PURGE of waiting beside scheduled ones");
}

/* The places of immediate runs go on where they were, and those of delayed ones lie among them. */
static void test_clock_set_back_makes_steps_walk_nothing(void **state)
{
    (void)state;
    suite_put(&suite);
    suite.now_ms -= HOUR_MS;
    put_many(RUNS, HOUR_MS / 2);
    suite_put(&suite);
    work_take();
    assert_int_equal(suite_claim(&suite, "00000000000000aa", 10), 2);
    assert_little_work("STEP after the clock was set back");
}

static void test_steps_walk_nothing_that_is_not_due(void **state)
{
    (void)state;
    put_many(RUNS, 0);
    end_all(CULEX_EVENT_DISCARD);
    put_many(RUNS, HOUR_MS / 2);
    work_take();
    suite_put(&suite);
    assert_little_work("ENQUEUE beside dead and scheduled ones");
    assert_int_equal(suite_claim(&suite, "00000000000000aa", 10), 1);
    assert_little_work("STEP beside dead and scheduled ones");
}

/* Each of another producer, and with a key. */
static void call_many(int count)
{
    for (int i = 0; i < count; i++) {
        struct culex_new_run run = suite_run(&suite);
        struct culex_ticket ticket = suite_ticket(&suite);
        struct culex_enqueue_result result;
        char key[32];
        snprintf(key, sizeof key, "%d", (int)suite.serial);
        run.idempotency_key = key;
        run.window_ms = HOUR_MS;
        assert_int_equal(suite_call(&suite, &ticket, &run, 1, &result), CULEX_OK);
        assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
    }
}

/* Beside calls and keys that are remembered, and then beside as many that are to be forgotten: one
 * call takes a portion of them. */
static void test_calls_walk_no_producers_and_keys(void **state)
{
    (void)state;
    call_many(PRODUCERS);
    work_take();
    call_many(1);
    assert_little_work("ENQUEUE beside producers and keys");
    suite_claim(&suite, "00000000000000aa", 1);
    assert_little_work("STEP beside producers and keys");
    suite.now_ms += 2 * HOUR_MS;
    call_many(1);
    assert_work_below("ENQUEUE that forgets some", FORGET_WORK_MAX);
    suite_claim(&suite, "00000000000000aa", 1);
    assert_work_below("STEP that forgets some", FORGET_WORK_MAX);
}

static void hello_many(int count)
{
    for (int i = 0; i < count; i++) {
        char worker[32], session[17];
        suite.serial++;
        snprintf(worker, sizeof worker, "worker-%d", (int)suite.serial);
        snprintf(session, sizeof session, "%016llx",
                 (unsigned long long)(suite.serial * UINT64_C(0x9e3779b97f4a7c15)));
        suite_hello(&suite, worker, session);
    }
}

static int64_t sessions_count(void)
{
    int64_t memos = 0, workers = 0;
    struct culex_sqlite *store = culex__sqlite_of(suite.store);
    assert_ok(culex__sqlite_ask(store, "SELECT count(*) FROM memo", &memos, NULL));
    assert_ok(culex__sqlite_ask(store, "SELECT count(*) FROM worker", &workers, NULL));
    return memos + workers;
}

/* Those that are over go by the HELLOs that bring others, a portion with each. */
static void test_hello_walks_few_sessions(void **state)
{
    (void)state;
    hello_many(SESSIONS);
    work_take();
    hello_many(1);
    assert_work_below("HELLO beside sessions", FORGET_WORK_MAX);
    suite.now_ms += 2 * HOUR_MS;
    hello_many(1);
    assert_work_below("HELLO that forgets some", FORGET_WORK_MAX);
    hello_many(SESSIONS / 16);
    assert_true(sessions_count() < SESSIONS / 4);
}

static void list_none(culex_run_state state)
{
    struct culex_list_reply page;
    culex_list_cursor cursor = CULEX_LIST_START;
    do {
        assert_ok(suite.store->ops->list(suite.store, suite.queue, CULEX_LIST_OF(state), cursor,
                                         100, &page, NULL));
        assert_int_equal(page.count, 0);
        cursor = page.cursor;
        suite.store->ops->list_release(suite.store, &page);
    } while (cursor.place != 0);
}

/* As a drain does it again and again that waits for some run of later. */
static void test_list_of_what_is_left_walks_no_kept_successes(void **state)
{
    static const culex_run_state states[] = {CULEX_RUN_WAITING, CULEX_RUN_SCHEDULED, CULEX_RUN_DEAD,
                                             CULEX_RUN_CANCELLED};
    (void)state;
    put_many(RUNS, 0);
    end_all(CULEX_EVENT_DONE);
    work_take();
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        list_none(states[i]);
        assert_little_work("LIST of a state beside kept successes");
    }
}

static void put_limited(int count, const struct culex_run_limit *limit)
{
    struct culex_new_run runs[CULEX_ENQUEUE_BATCH_MAX];
    struct culex_enqueue_result results[CULEX_ENQUEUE_BATCH_MAX];
    for (int done = 0; done < count; done += CULEX_ENQUEUE_BATCH_MAX) {
        for (int i = 0; i < CULEX_ENQUEUE_BATCH_MAX; i++) {
            runs[i] = suite_run(&suite);
            runs[i].limits = limit;
            runs[i].limit_count = 1;
        }
        assert_int_equal(suite.store->ops->enqueue(suite.store, suite.queue, NULL, runs,
                                                   CULEX_ENQUEUE_BATCH_MAX, results, NULL),
                         CULEX_OK);
    }
}

/* Behind one key, of each kind. */
static void test_steps_walk_no_parked_runs(void **state)
{
    static const struct culex_run_limit limits[] = {
        {CULEX_LIMIT_CONCURRENCY, "job:concurrency", "a", 1, 0, 0},
        {CULEX_LIMIT_RATE, "job:rate", "a", 1, 3600000, 1},
        {CULEX_LIMIT_FAIR, "job:fair", "a", 0, 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        snprintf(suite.queue, sizeof suite.queue, "parked%zu", i);
        put_limited(crowd, &limits[i]);
        assert_true(suite_claim(&suite, ANN, 1) == 1);
        culex_uuid parked = suite.reply.grants[0].facts.id;
        work_take();
        culex_uuid id = suite_put(&suite);
        assert_little_work("ENQUEUE beside parked runs");
        bool is_met = false;
        for (int claims = 0; claims < 20 && !is_met; claims++) {
            suite.now_ms++;
            assert_int_equal(suite_claim(&suite, BOB, 1), 1);
            assert_little_work("STEP beside parked runs");
            is_met = suite_same_id(suite.reply.grants[0].facts.id, id);
        }
        assert_true(is_met);
        suite_end(&suite, ANN, parked, 1, CULEX_EVENT_DONE, 0);
        assert_little_work("STEP that frees a slot before parked runs");
    }
}

/* Who offers something else, or nothing, meets none of them; who comes with it has one at once. */
static void test_steps_walk_no_runs_that_nobody_serves(void **state)
{
    static const struct culex_run_limit fpga = {CULEX_LIMIT_NEEDS, "needs fpga:1", NULL, 0, 0, 0};
    static const struct culex_run_limit gpu = {CULEX_LIMIT_NEEDS, "needs gpu:1", NULL, 0, 0, 0};
    (void)state;
    put_limited(crowd, &fpga);
    work_take();
    struct culex_new_run run = suite_run(&suite);
    run.limits = &gpu;
    run.limit_count = 1;
    culex_uuid plain = suite_put(&suite), own = suite_put_run(&suite, &run);
    assert_little_work("ENQUEUE beside runs that nobody serves");
    assert_int_equal(suite_claim(&suite, ANN, 4), 1);
    assert_little_work("STEP beside runs that nobody serves");
    assert_true(suite_same_id(suite.reply.grants[0].facts.id, plain));
    struct culex_step step = suite_step_make(&suite, ANN, 4);
    step.offers = "gpu:2";
    assert_int_equal(suite_step(&suite, &step), 1);
    assert_little_work("STEP with another offer");
    assert_true(suite_same_id(suite.reply.grants[0].facts.id, own));
    step = suite_step_make(&suite, ANN, 4);
    step.offers = "fpga:2";
    assert_int_equal(suite_step(&suite, &step), 2);
    assert_work_below("STEP with the offer", 2 * WORK_MAX);
    step = suite_step_make(&suite, ANN, 4);
    step.offers = "fpga:0";
    assert_int_equal(suite_step(&suite, &step), 0);
    assert_little_work("STEP of which nothing is free");
}

/* Of two tenants. */
static void test_crowd_of_one_share_delays_another_by_two_batches(void **state)
{
    static const struct culex_run_limit crowded = {CULEX_LIMIT_FAIR, "job:fair", "a", 0, 0, 0};
    static const struct culex_run_limit rare = {CULEX_LIMIT_FAIR, "job:fair", "b", 0, 0, 0};
    enum { BATCH = 16 };
    (void)state;
    put_limited(crowd, &crowded);
    struct culex_new_run run = suite_run(&suite);
    run.limits = &rare;
    run.limit_count = 1;
    work_take();
    culex_uuid id = suite_put_run(&suite, &run);
    assert_little_work("ENQUEUE beside a crowded share");
    bool is_met = false;
    for (int batch = 0; batch < 2 && !is_met; batch++) {
        suite.now_ms++; /* of one moment any may be first */
        size_t count = suite_claim(&suite, ANN, BATCH);
        assert_work_below("STEP of 16 beside a crowded share", BATCH * WORK_MAX);
        assert_int_equal(count, BATCH);
        for (size_t i = 0; i < count; i++)
            is_met = is_met || suite_same_id(suite.reply.grants[i].facts.id, id);
    }
    assert_true(is_met);
}

enum { UNIQUE_FOREVER, UNIQUE_WINDOW };

static enum culex_enqueued put_unique(int number, int kind)
{
    struct culex_new_run run = suite_run(&suite);
    struct culex_enqueue_result result;
    char key[32];
    snprintf(key, sizeof key, "%08x", (unsigned)number);
    run.unique_key = key;
    run.unique_while = kind == UNIQUE_FOREVER ? CULEX_UNIQUE_LIVE : 0;
    run.unique_for_ms = kind == UNIQUE_WINDOW ? HOUR_MS : 0;
    assert_ok(suite.store->ops->enqueue(suite.store, suite.queue, NULL, &run, 1, &result, NULL));
    return result.outcome;
}

/* Held by runs that live, and for a time; then free again by that, a portion at a time. */
static void test_enqueues_walk_no_unique_keys(void **state)
{
    (void)state;
    for (int kind = UNIQUE_FOREVER; kind <= UNIQUE_WINDOW; kind++) {
        snprintf(suite.queue, sizeof suite.queue, "unique%d", kind);
        for (int i = 0; i < crowd; i++)
            assert_int_equal(put_unique(i, kind), CULEX_ENQUEUED_NEW);
        work_take();
        assert_int_equal(put_unique(crowd, kind), CULEX_ENQUEUED_NEW);
        assert_little_work("ENQUEUE beside unique keys");
        assert_int_equal(put_unique(crowd / 2, kind), CULEX_ENQUEUED_UNIQUE_TAKEN);
        assert_little_work("ENQUEUE of a key that is held");
        assert_int_equal(suite_claim(&suite, ANN, 1), 1);
        assert_little_work("STEP beside unique keys");
    }
    suite.now_ms += 2 * HOUR_MS;
    assert_int_equal(put_unique(crowd / 2, UNIQUE_WINDOW), CULEX_ENQUEUED_NEW);
    assert_work_below("ENQUEUE that forgets windows", FORGET_WORK_MAX);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        crowd = (int)strtol(argv[1], NULL, 10);
    if (crowd < 1000 || crowd % CULEX_ENQUEUE_BATCH_MAX != 0) {
        fprintf(stderr, "usage: bounds_sqlite [RUNS], a multiple of %d\n", CULEX_ENQUEUE_BATCH_MAX);
        return 2;
    }
#define UNIT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        UNIT(test_purge_of_one_state_walks_no_other),
        UNIT(test_purge_of_waiting_walks_no_scheduled),
        UNIT(test_clock_set_back_makes_steps_walk_nothing),
        UNIT(test_steps_walk_nothing_that_is_not_due),
        UNIT(test_calls_walk_no_producers_and_keys),
        UNIT(test_hello_walks_few_sessions),
        UNIT(test_steps_walk_no_parked_runs),
        UNIT(test_steps_walk_no_runs_that_nobody_serves),
        UNIT(test_crowd_of_one_share_delays_another_by_two_batches),
        UNIT(test_enqueues_walk_no_unique_keys),
        UNIT(test_list_of_what_is_left_walks_no_kept_successes),
    };
    if (stores_start("memory", false) != 0)
        return STORES_SKIP;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    stores_stop();
    return failed;
}
