/* Every verb of the Redis store and every outcome, on a real server. */
#include "fixture.h"

#include "platform/env.h"

static void test_step__claims_and_acks(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run(f);
    struct culex_step step = fixture_step(f, SESSION_A, 5);
    struct culex_step_reply reply;
    assert_int_equal(fixture_enqueue(f, &run), CULEX_ENQUEUED_NEW);
    fixture_run_step(f, &step, &reply);
    assert_int_equal(reply.grant_count, 1);
    assert_memory_equal(&reply.grants[0].facts.id, &run.id, sizeof run.id);
    assert_int_equal(reply.grants[0].facts.attempt, 1);
    assert_string_equal(reply.grants[0].job, "shop.send_email");
    assert_int_equal(reply.grants[0].payload_len, 10);
    assert_memory_equal(reply.grants[0].payload, run.payload, 10);
    assert_true(reply.grants[0].facts.fingerprint == run.fingerprint);
    assert_int_equal(reply.grants[0].facts.created_at_ms, f->now_ms);
    assert_int_equal(reply.due_in_ms, 1000);
    assert_int_equal(reply.now_ms, f->now_ms);
    assert_false(reply.is_empty);
    f->store->ops->step_release(f->store, &reply);
    assert_int_equal(fixture_state(f, run.id), CULEX_RUN_ACTIVE);
    assert_int_equal(fixture_ack(f, SESSION_A, run.id, 1, CULEX_EVENT_DONE), CULEX_ANSWER_OK);
    assert_int_equal(fixture_state(f, run.id), CULEX_RUN_DONE);
}

static void test_clock__is_the_servers(void **state)
{
    struct fixture *f = *state;
    int64_t now_ms, here_ms = culex__env_clock_ms(&f->env);
    f->env.store_clock_ms = NULL;
    f->now_ms = here_ms; /* ids carry it */
    struct culex_new_run run = fixture_run(f);
    assert_int_equal(fixture_enqueue(f, &run), CULEX_ENQUEUED_NEW);
    assert_ok(f->store->ops->now(f->store, &now_ms, &call_error));
    assert_true(now_ms >= here_ms && now_ms < here_ms + 60000);
    assert_int_equal(fixture_claim(f, run.id), 1);
}

static void test_cancel__ghosts_are_neither_counted_nor_granted(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run runs[3];
    culex_queue_stats stats;
    culex_run_state after;
    for (int i = 0; i < 3; i++) {
        runs[i] = fixture_run(f);
        fixture_enqueue(f, &runs[i]);
    }
    assert_ok(f->store->ops->cancel(f->store, "q", runs[0].id, &after, &call_error));
    assert_ok(f->store->ops->cancel(f->store, "q", runs[1].id, &after, &call_error));
    assert_ok(f->store->ops->stats(f->store, "q", &stats, &call_error));
    assert_int_equal(stats.count[CULEX_RUN_WAITING], 1);
    assert_int_equal(fixture_say(f, "LLEN %s", "culex:{q}:ready"), 3);
    fixture_claim(f, runs[2].id);
    assert_int_equal(fixture_say(f, "LLEN %s", "culex:{q}:ready"), 0);
    assert_ok(f->store->ops->stats(f->store, "q", &stats, &call_error));
    assert_int_equal(stats.count[CULEX_RUN_WAITING], 0);
}

/* The claim that drops them leaves a token for the worker who takes what stood behind them. */
static void test_cancel__ghosts_hide_no_work(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run runs[5];
    culex_run_state after;
    for (int i = 0; i < 5; i++) {
        runs[i] = fixture_run(f);
        fixture_enqueue(f, &runs[i]);
    }
    for (int i = 0; i < 3; i++)
        assert_ok(f->store->ops->cancel(f->store, "q", runs[i].id, &after, &call_error));
    fixture_say(f, "DEL %s", "culex:{q}:wake");
    fixture_claim(f, runs[3].id);
    assert_int_equal(fixture_say(f, "LLEN %s", "culex:{q}:wake"), 1);
}

static void pause_queue(struct fixture *f, bool is_paused)
{
    assert_ok(f->store->ops->pause(f->store, "q", is_paused, &call_error));
    fixture_say(f, "DEL %s", "culex:{q}:wake");
}

/* Nor does a repair; the end of the pause does. */
static void test_wake__paused_queue_wakes_nobody(void **state)
{
    struct fixture *f = *state;
    struct culex_fsck_reply reply = {.cursor = 0};
    struct culex_new_run runs[] = {fixture_run(f), fixture_run(f), fixture_run(f)};
    struct culex_tick tick = {
        .queue = "q", .schedule = "nightly", .interval_ms = 1000, .run = &runs[2]};
    struct culex_tick_reply ticked;
    size_t released;
    int64_t now_ms;
    assert_ok(f->store->ops->hello(f->store, "q", "host/1", "00000000000000aa", &released, &now_ms,
                                   &call_error));
    pause_queue(f, true);
    runs[1].priority = 5;
    fixture_enqueue(f, &runs[0]);
    fixture_enqueue(f, &runs[1]);
    assert_ok(f->store->ops->tick(f->store, &tick, &ticked, &call_error));
    assert_true(ticked.is_enqueued);
    fixture_say(f, "LPOP %s", "culex:{q}:ready");
    fixture_say(f, "DEL %s", "culex:{q}:urgent");
    do
        assert_ok(f->store->ops->fsck(f->store, "q", reply.cursor, true, &reply, &call_error));
    while (reply.cursor != 0);
    assert_int_equal(fixture_say(f, "LLEN %s", "culex:{q}:ready"), 2);
    assert_int_equal(fixture_say(f, "LLEN %s", "culex:{q}:wake"), 0);
    assert_ok(f->store->ops->pause(f->store, "q", false, &call_error));
    assert_int_equal(fixture_say(f, "LLEN %s", "culex:{q}:wake"), 1);
}

static void worker_hello(struct fixture *f, const char *name, const char *session)
{
    size_t released;
    int64_t now_ms;
    assert_ok(f->store->ops->hello(f->store, "q", name, session, &released, &now_ms, &call_error));
}

/* A name for every worker that ever started would fill `meta`, for each start may bring a new one.
 */
static void test_hello__names_of_silent_workers_are_forgotten(void **state)
{
    struct fixture *f = *state;
    char name[32], session[32];
    worker_hello(f, "ann", SESSION_A);
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "w%d", i);
        snprintf(session, sizeof session, "%016d", i);
        worker_hello(f, name, session);
    }
    for (int minutes = 0; minutes < 90; minutes++) {
        struct culex_step step = fixture_step(f, SESSION_A, 0);
        struct culex_step_reply reply;
        fixture_run_step(f, &step, &reply);
        f->store->ops->step_release(f->store, &reply);
        f->now_ms += 60001;
    }
    assert_int_equal(fixture_say(f, "HEXISTS culex:{q}:meta %s", "worker:ann"), 1);
    assert_int_equal(fixture_say(f, "HEXISTS culex:{q}:meta %s", "worker:w199"), 0);
    assert_true(fixture_say(f, "HLEN %s", "culex:{q}:meta") < 10);
    assert_int_equal(fixture_say(f, "ZCARD %s", "culex:{q}:sessions_seen"), 2);
}

static void record_damage(struct fixture *f, culex_uuid id)
{
    freeReplyObject(
        redis_server_command(&f->server, "HSET culex:{q}:runs %b damaged", id.b, sizeof id.b));
}

static void time_step(struct fixture *f, int64_t ms, uint32_t want)
{
    struct culex_step step = fixture_step(f, SESSION_B, want);
    struct culex_step_reply reply;
    f->now_ms += ms;
    fixture_run_step(f, &step, &reply);
    assert_int_equal(reply.grant_count, 0);
    f->store->ops->step_release(f->store, &reply);
}

static size_t dead_count(struct fixture *f)
{
    struct culex_list_reply list;
    assert_ok(f->store->ops->list(f->store, "q", CULEX_RUN_DEAD, 0, 100, &list, &call_error));
    size_t count = list.count;
    f->store->ops->list_release(f->store, &list);
    return count;
}

/* Wherever STEP meets it: leased, scheduled, waiting in the list or among the urgent. It is listed
 * as dead for good, its bytes are kept, and nothing is left for FSCK. */
static void test_damaged__step_puts_it_aside_for_good(void **state)
{
    struct fixture *f = *state;
    struct culex_fsck_reply reply = {.cursor = 0};
    struct culex_new_run runs[4];
    for (int i = 0; i < 4; i++) {
        runs[i] = fixture_run(f);
        runs[i].priority = i == 3 ? 5 : 0;
        runs[i].delay_ms = i == 1 ? 1000 : 0;
        fixture_enqueue(f, &runs[i]);
        if (i == 0)
            fixture_claim(f, runs[i].id);
    }
    for (int i = 0; i < 4; i++)
        record_damage(f, runs[i].id);
    time_step(f, 1000, 10);
    assert_int_equal(dead_count(f), 4);
    time_step(f, INT64_C(90000000), 10); /* more than a day */
    assert_int_equal(dead_count(f), 4);
    assert_int_equal(fixture_say(f, "HLEN %s", "culex:{q}:damaged"), 4);
    assert_int_equal(fixture_say(f, "HINCRBY culex:{q}:meta %s 0", "damaged"), 4);
    do {
        assert_ok(f->store->ops->fsck(f->store, "q", reply.cursor, false, &reply, &call_error));
        assert_int_equal(reply.counts.wrong + reply.counts.damaged, 0);
    } while (reply.cursor != 0);
    for (int i = 0; i < 4; i++)
        assert_ok(f->store->ops->forget(f->store, "q", runs[i].id, &call_error));
    assert_int_equal(dead_count(f), 0);
}

static long long seen_total(struct fixture *f)
{
    long long total = 0;
    for (int i = 0; i < 6; i++) {
        char key[32];
        snprintf(key, sizeof key, "culex:{q}:seen%d", i);
        total += fixture_say(f, "SCARD %s", key);
    }
    return total;
}

/* Twenty slots of one run each: the ids within the horizon are known, the others are gone. */
static int64_t later_boottime(void *self)
{
    (void)self;
    return culex__env_system()->boottime_ns(NULL) + INT64_C(11000000000);
}

/* A server that was emptied under a worker and a producer lists their queues again. */
static void test_queues__are_announced_again(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run(f);
    struct culex_step step = fixture_step(f, SESSION_A, 0);
    struct culex_step_reply reply;
    size_t released;
    int64_t now_ms;
    for (int is_worker = 0; is_worker < 2; is_worker++) {
        f->env.boottime_ns = culex__env_system()->boottime_ns;
        fixture_enqueue(f, &run);
        assert_ok(
            f->store->ops->hello(f->store, "q", "w", SESSION_A, &released, &now_ms, &call_error));
        fixture_say(f, "FLUSHALL %s", "SYNC");
        f->env.boottime_ns = later_boottime;
        if (is_worker) {
            fixture_run_step(f, &step, &reply);
            f->store->ops->step_release(f->store, &reply);
        } else {
            fixture_enqueue(f, &run);
        }
        assert_int_equal(fixture_say(f, "SISMEMBER culex:queues %s", "q"), 1);
        f->store->ops->close(f->store);
        f->env.boottime_ns = culex__env_system()->boottime_ns;
        f->store = fixture_open(f, f->server.url);
    }
}

static void test_seen__slots_are_dropped_when_their_time_is_over(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run;
    for (int i = 0; i < 20; i++) {
        f->now_ms += CULEX_ID_HORIZON_MS / 2;
        run = fixture_run(f);
        assert_int_equal(fixture_enqueue(f, &run), CULEX_ENQUEUED_NEW);
        fixture_claim(f, run.id);
        fixture_ack(f, SESSION_A, run.id, 1, CULEX_EVENT_DONE);
        assert_true(seen_total(f) <= 4);
    }
    assert_ok(f->store->ops->forget(f->store, "q", run.id, &call_error));
    f->now_ms += CULEX_ID_HORIZON_MS;
    assert_int_equal(fixture_enqueue(f, &run), CULEX_ENQUEUED_DUPLICATE);
    f->now_ms += 1;
    assert_int_equal(fixture_enqueue(f, &run), CULEX_ENQUEUED_EXPIRED);
}

/* Keys that are not declared, or that expire, would be lost in a cluster or under eviction. */
static void test_keys__share_a_slot_and_never_expire(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run(f);
    fixture_enqueue(f, &run);
    fixture_claim(f, run.id);
    fixture_ack(f, SESSION_A, run.id, 1, CULEX_EVENT_DONE);
    redisReply *keys = redis_server_command(&f->server, "KEYS *");
    assert_non_null(keys);
    assert_true(keys->elements > 4);
    for (size_t i = 0; i < keys->elements; i++) {
        const char *key = keys->element[i]->str;
        assert_true(strncmp(key, "culex:{q}:", 10) == 0 || strcmp(key, "culex:queues") == 0);
        assert_int_equal(fixture_say(f, "TTL %s", key), -1);
    }
    freeReplyObject(keys);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_step__claims_and_acks),
        TEST(test_clock__is_the_servers),
        TEST(test_cancel__ghosts_are_neither_counted_nor_granted),
        TEST(test_cancel__ghosts_hide_no_work),
        TEST(test_wake__paused_queue_wakes_nobody),
        TEST(test_hello__names_of_silent_workers_are_forgotten),
        TEST(test_damaged__step_puts_it_aside_for_good),
        TEST(test_queues__are_announced_again),
        TEST(test_seen__slots_are_dropped_when_their_time_is_over),
        TEST(test_keys__share_a_slot_and_never_expire),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
