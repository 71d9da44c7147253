/* Every verb of the Redis store and every outcome, on a real server. */
#include "fixture.h"
#include "redis_check.h"

#include "platform/env.h"

static void test_step__claims_and_acks(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    struct culex_step step = fixture_step(f, SESSION_A, 5);
    struct culex_step_reply reply;
    culex_uuid run_id = fixture_enqueue(f, &run);
    fixture_run_step(f, &step, &reply);
    assert_int_equal(reply.grant_count, 1);
    assert_memory_equal(&reply.grants[0].facts.id, &run_id, sizeof run_id);
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
    assert_int_equal(fixture_state(f, run_id), CULEX_RUN_ACTIVE);
    assert_int_equal(fixture_ack(f, SESSION_A, run_id, 1, CULEX_EVENT_DONE), CULEX_ANSWER_OK);
    assert_int_equal(fixture_state(f, run_id), CULEX_RUN_DONE);
}

static void test_clock__is_the_servers(void **state)
{
    struct fixture *f = *state;
    int64_t now_ms, here_ms = culex__env_clock_ms(&f->env);
    f->env.store_clock_ms = NULL;
    f->now_ms = here_ms; /* ids carry it */
    struct culex_new_run run = fixture_run();
    culex_uuid run_id = fixture_enqueue(f, &run);
    assert_ok(f->store->ops->now(f->store, &now_ms, &call_error));
    assert_true(now_ms >= here_ms && now_ms < here_ms + 60000);
    assert_int_equal(fixture_claim(f, run_id), 1);
}

/* No ordinary run. */
static struct culex_new_run odd_run(void)
{
    struct culex_new_run run = fixture_run();
    run.expires_ms = INT64_C(1000000000);
    return run;
}

static void test_cancel__ghosts_are_neither_counted_nor_granted(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run runs[3];
    culex_uuid ids[3];
    culex_queue_stats stats;
    culex_run_state after;
    for (int i = 0; i < 3; i++) {
        runs[i] = odd_run();
        ids[i] = fixture_enqueue(f, &runs[i]);
    }
    assert_ok(f->store->ops->cancel(f->store, "q", ids[0], &after, &call_error));
    assert_ok(f->store->ops->cancel(f->store, "q", ids[1], &after, &call_error));
    assert_ok(f->store->ops->stats(f->store, "q", &stats, &call_error));
    assert_int_equal(stats.count[CULEX_RUN_WAITING], 1);
    assert_int_equal(fixture_say(f, "LLEN %s", "culex:{q}:ready"), 3);
    fixture_claim(f, ids[2]);
    assert_int_equal(fixture_say(f, "LLEN %s", "culex:{q}:ready"), 0);
    assert_ok(f->store->ops->stats(f->store, "q", &stats, &call_error));
    assert_int_equal(stats.count[CULEX_RUN_WAITING], 0);
}

/* The claim that drops them leaves a token for the worker who takes what stood behind them. */
static void test_cancel__ghosts_hide_no_work(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run runs[5];
    culex_uuid ids[5];
    culex_run_state after;
    for (int i = 0; i < 5; i++) {
        runs[i] = odd_run();
        ids[i] = fixture_enqueue(f, &runs[i]);
    }
    for (int i = 0; i < 3; i++)
        assert_ok(f->store->ops->cancel(f->store, "q", ids[i], &after, &call_error));
    fixture_say(f, "DEL %s", "culex:{q}:wake");
    fixture_claim(f, ids[3]);
    assert_int_equal(fixture_say(f, "LLEN %s", "culex:{q}:wake"), 1);
}

/* What an ordinary run leaves is a hole in the line, which nobody counts and no claim stops at. */
static void test_cancel__holes_are_neither_counted_nor_granted(void **state)
{
    enum { RUNS = 700 };
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    culex_uuid ids[RUNS];
    culex_queue_stats stats;
    culex_run_state after;
    for (int i = 0; i < RUNS; i++)
        ids[i] = fixture_enqueue(f, &run);
    for (int i = 0; i < RUNS - 1; i++)
        assert_ok(f->store->ops->cancel(f->store, "q", ids[i], &after, &call_error));
    assert_ok(f->store->ops->stats(f->store, "q", &stats, &call_error));
    assert_int_equal(stats.count[CULEX_RUN_WAITING], 1);
    assert_int_equal(fixture_say(f, "LLEN %s", "culex:{q}:ready"), 0);
    fixture_say(f, "DEL %s", "culex:{q}:wake");
    size_t grants = 0;
    for (int steps = 0; steps < 4 && grants == 0; steps++) {
        struct culex_step step = fixture_step(f, SESSION_A, 10);
        struct culex_step_reply reply;
        fixture_run_step(f, &step, &reply);
        grants = reply.grant_count;
        assert_true(grants > 0 || reply.due_in_ms == 0);
        f->store->ops->step_release(f->store, &reply);
    }
    assert_int_equal(grants, 1);
    assert_int_equal(fixture_state(f, ids[RUNS - 1]), CULEX_RUN_ACTIVE);
}

/* A queue that was emptied and began anew gives out the same numbers, under another salt: what a
 * worker tells of the runs before counts for nobody. */
static void test_ack__of_another_life_of_the_queue_is_gone(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    culex_uuid id = fixture_enqueue(f, &run), other = id;
    fixture_claim(f, id);
    other.b[9] ^= 1;
    struct culex_ack acks[] = {{.id = other, .attempt = 1, .event = CULEX_EVENT_DONE},
                               {.id = other, .attempt = 1, .event = CULEX_EVENT_FAIL}};
    struct culex_beat beat = {.id = other, .attempt = 1};
    struct culex_step step = fixture_step(f, SESSION_A, 0);
    struct culex_step_reply reply;
    step.acks = acks, step.ack_count = 2;
    step.beats = &beat, step.beat_count = 1;
    fixture_run_step(f, &step, &reply);
    assert_int_equal(reply.acks[0], CULEX_ANSWER_GONE);
    assert_int_equal(reply.acks[1], CULEX_ANSWER_GONE);
    assert_int_equal(reply.beats[0], CULEX_ANSWER_GONE);
    f->store->ops->step_release(f->store, &reply);
    assert_int_equal(fixture_state(f, id), CULEX_RUN_ACTIVE);
    assert_int_equal(fixture_ack(f, SESSION_A, id, 1, CULEX_EVENT_DONE), CULEX_ANSWER_OK);
}

/* A server that comes back older gives out the same numbers under the same salt: an end, or a beat,
 * of the run before is not for the one that has its number now, though the same session holds both.
 */
static void test_ack__of_a_number_that_was_given_again_is_gone(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    struct culex_step_reply reply;
    struct culex_ack acks[2] = {{.attempt = 1, .event = CULEX_EVENT_DONE}};
    struct culex_beat beat = {.attempt = 1};
    struct culex_step step = fixture_step(f, SESSION_A, 1);
    beat.id = acks[0].id = fixture_enqueue(f, &run);
    fixture_run_step(f, &step, &reply);
    acks[0].claim_ms = reply.grants[0].facts.claim_ms;
    assert_int_equal(acks[0].claim_ms, f->now_ms);
    f->store->ops->step_release(f->store, &reply);
    acks[1] = acks[0];
    acks[1].claim_ms = 0;

    fixture_say(f, "FLUSHALL %s", "SYNC");
    f->now_ms += 1;
    culex_uuid id = fixture_enqueue(f, &run);
    assert_memory_equal(id.b + 6, beat.id.b + 6, 10);
    assert_int_equal(fixture_claim(f, id), 1);
    for (size_t i = 0; i < 2; i++) {
        step = fixture_step(f, SESSION_A, 0);
        step.acks = &acks[i], step.ack_count = 1;
        step.beats = &beat, step.beat_count = 1;
        fixture_run_step(f, &step, &reply);
        assert_int_equal(reply.acks[0], CULEX_ANSWER_GONE);
        assert_int_equal(reply.beats[0], CULEX_ANSWER_GONE);
        f->store->ops->step_release(f->store, &reply);
    }
    assert_int_equal(fixture_state(f, id), CULEX_RUN_ACTIVE);
}

/* Payloads of kept successes stay while they are short: GET hides them. One long payload in a block
 * is enough for all of it to lose theirs, each with its success. */
static void test_ack__long_payloads_of_a_block_go(void **state)
{
    static char payload[1000];
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    culex_uuid ids[2];
    memset(payload, '1', sizeof payload);
    ids[0] = fixture_enqueue(f, &run);
    run.payload = payload, run.payload_len = sizeof payload;
    ids[1] = fixture_enqueue(f, &run);
    struct culex_step step = fixture_step(f, SESSION_A, 2);
    struct culex_step_reply reply;
    fixture_run_step(f, &step, &reply);
    assert_int_equal(reply.grant_count, 2);
    f->store->ops->step_release(f->store, &reply);
    assert_int_equal(fixture_ack(f, SESSION_A, ids[1], 1, CULEX_EVENT_DONE), CULEX_ANSWER_OK);
    redisReply *body = redis_server_command(&f->server, "HGET culex:{q}:bodies 2");
    assert_non_null(body);
    assert_int_equal(body->type, REDIS_REPLY_STRING);
    assert_int_equal(body->str[body->len - 1], '\n');
    freeReplyObject(body);
    culex_run_info *info;
    assert_ok(f->store->ops->get(f->store, "q", ids[1], &info, &call_error));
    assert_int_equal(info->state, CULEX_RUN_DONE);
    culex_run_info_free(info);
    assert_ok(f->store->ops->get(f->store, "q", ids[0], &info, &call_error));
    assert_int_equal(info->payload.len, fixture_run().payload_len);
    culex_run_info_free(info);
}

static size_t claim_count(struct fixture *f, const char *session, uint32_t want)
{
    struct culex_step step = fixture_step(f, session, want);
    struct culex_step_reply reply;
    fixture_run_step(f, &step, &reply);
    size_t count = reply.grant_count;
    f->store->ops->step_release(f->store, &reply);
    return count;
}

/* A script that was stopped in its middle has left a block behind what `meta` says is taken: its
 * runs are claimed again only when nobody was told of them. */
static void test_claim__stopped_in_its_middle_is_mended(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    culex_queue_stats stats;
    for (int i = 0; i < 3; i++)
        fixture_enqueue(f, &run);
    assert_int_equal(claim_count(f, SESSION_A, 2), 2);
    fixture_say(f, "HSET culex:{q}:meta taken 0 held %s", "0");
    assert_int_equal(claim_count(f, SESSION_B, 3), 1);
    assert_ok(f->store->ops->stats(f->store, "q", &stats, &call_error));
    assert_int_equal(stats.count[CULEX_RUN_ACTIVE], 3);
    fixture_say(f, "HSET culex:{q}:meta taken 0 held %s", "0");
    fixture_say(f, "HDEL culex:{q}:sessions %s", SESSION_A);
    assert_int_equal(claim_count(f, SESSION_B, 2), 2);
}

/* Whatever has called the queue calm, a step that finds it otherwise says so. */
static void test_step__calls_no_queue_calm_that_is_not(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    fixture_enqueue(f, &run);
    assert_int_equal(claim_count(f, SESSION_A, 0), 0);
    assert_int_equal(fixture_say(f, "HEXISTS culex:{q}:meta %s", "calm"), 1);
    fixture_say(f, "HSET culex:{q}:meta paused 1 calm %s", "9999999999999");
    assert_int_equal(claim_count(f, SESSION_A, 0), 0);
    assert_int_equal(fixture_say(f, "HEXISTS culex:{q}:meta %s", "calm"), 0);
}

/* An entry of the list that comes behind more than there is of the line does not wait for it. */
static void test_claim__line_that_lost_its_end_holds_nobody_up(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run(), odd = fixture_run();
    odd.expires_ms = 600000;
    fixture_enqueue(f, &run);
    fixture_enqueue(f, &run);
    fixture_enqueue(f, &odd);
    assert_int_equal(claim_count(f, SESSION_A, 2), 2);
    fixture_say(f, "HSET culex:{q}:meta taken 1 line %s", "1");
    assert_int_equal(claim_count(f, SESSION_A, 2), 1);
}

static void pause_queue(struct fixture *f, bool is_paused)
{
    assert_ok(f->store->ops->pause(f->store, "q", is_paused, &call_error));
    fixture_say(f, "DEL %s", "culex:{q}:wake");
}

/* Nor does a repair; the end of the pause does. */
/* Numbers that began anew would be those of runs that wait. */
static void test_enqueue__writes_over_no_body(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    struct culex_enqueue_result result;
    struct culex_fsck_reply reply = {.cursor = 0};
    culex_error error = {.code = CULEX_OK};
    for (int i = 0; i < 3; i++)
        fixture_enqueue(f, &run);
    fixture_say(f, "DEL %s", "culex:{q}:meta");
    assert_int_equal(f->store->ops->enqueue(f->store, "q", NULL, &run, 1, &result, &error),
                     CULEX_ECORRUPT);
    assert_non_null(strstr(error.text, "FSCK repairs it"));
    do
        assert_ok(f->store->ops->fsck(f->store, "q", reply.cursor, true, &reply, &call_error));
    while (reply.cursor != 0);
    fixture_enqueue(f, &run);
    assert_int_equal(fixture_say(f, "HLEN %s", "culex:{q}:bodies"), 4);
}

static void test_wake__paused_queue_wakes_nobody(void **state)
{
    struct fixture *f = *state;
    struct culex_fsck_reply reply = {.cursor = 0};
    struct culex_new_run runs[] = {odd_run(), odd_run(), odd_run()};
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
    assert_int_equal(fixture_say(f, "LLEN %s", "culex:{q}:ready"), 1);
    assert_int_equal(fixture_say(f, "ZCARD %s", "culex:{q}:urgent"), 2);
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
/* What redis/lib_single.lua does; the first call of a producer is not its. */
static void test_single__wakes_one(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    for (int i = 0; i < 5; i++) {
        struct culex_ticket ticket = fixture_ticket(f, 7);
        fixture_offer(f, &ticket, &run);
        assert_int_equal(fixture_say(f, "LLEN %s", "culex:{q}:wake"), i < 3);
        if (i != 1)
            fixture_say(f, "DEL %s", "culex:{q}:wake");
        if (i == 2)
            pause_queue(f, true);
    }
}

static void test_single__leaves_what_is_damaged_to_others(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    struct culex_enqueue_result result;
    static const char *const layouts[] = {"9", "9|1", "33|1"};
    struct culex_ticket ticket = fixture_ticket(f, 7);
    culex_error error = {.code = CULEX_OK};
    fixture_offer(f, &ticket, &run);
    fixture_say(f, "HSET culex:{q}:meta salt 67108864 layout %s", "8|67108864");
    ticket = fixture_ticket(f, 7);
    assert_int_equal(fixture_offer(f, &ticket, &run).outcome, CULEX_ENQUEUED_NEW);
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        fixture_say(f, "HSET culex:{q}:meta layout %s", layouts[i]);
        ticket = fixture_ticket(f, 7);
        assert_int_equal(f->store->ops->enqueue(f->store, "q", &ticket, &run, 1, &result, &error),
                         CULEX_EVERSION);
    }
    assert_int_equal(fixture_say(f, "HLEN %s", "culex:{q}:bodies"), 2);
}

/* The numbers would begin anew, over bodies that wait. */
static void test_single__in_a_queue_that_lost_its_count_is_refused(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    struct culex_enqueue_result result;
    struct culex_ticket ticket = fixture_ticket(f, 7);
    culex_error error = {.code = CULEX_OK};
    fixture_offer(f, &ticket, &run);
    fixture_say(f, "HDEL culex:{q}:meta %s", "line");
    for (int i = 0; i < 2; i++) {
        ticket = fixture_ticket(f, 7);
        assert_int_equal(f->store->ops->enqueue(f->store, "q", &ticket, &run, 1, &result, &error),
                         CULEX_ECORRUPT);
    }
    assert_int_equal(fixture_say(f, "HLEN %s", "culex:{q}:bodies"), 1);
}

/* What stands in the indexes of runs with limits and unique keys. */
struct standing {
    long long runs, keys, urgent, ready, slots, parked, limited, tokens;
};

static struct standing standing_read(struct fixture *f)
{
    return (struct standing){
        .runs = fixture_say(f, "HLEN %s", "culex:{q}:runs"),
        .keys = fixture_say(f, "HLEN %s", "culex:{q}:unique"),
        .urgent = fixture_say(f, "ZCARD %s", "culex:{q}:urgent"),
        .ready = fixture_say(f, "LLEN %s", "culex:{q}:ready"),
        .slots = fixture_say(f, "ZCARD %s", "culex:{q}:slots"),
        .parked = fixture_say(f, "ZLEXCOUNT culex:{q}:slots %s (Q", "[P"),
        .limited = fixture_say(f, "ZCARD %s", "culex:{q}:limited"),
        .tokens = fixture_say(f, "ZCARD %s", "culex:{q}:buckets"),
    };
}

/* Grants one and ends the one before it. */
static void standing_step(struct fixture *f, struct culex_step_reply *reply)
{
    struct culex_ack ack = {.event = CULEX_EVENT_DONE};
    struct culex_step step = fixture_step(f, SESSION_A, 1);
    if (reply->grant_count > 0) {
        ack.id = reply->grants[0].facts.id;
        ack.attempt = reply->grants[0].facts.attempt;
        step.acks = &ack;
        step.ack_count = 1;
    }
    f->store->ops->step_release(f->store, reply);
    fixture_run_step(f, &step, reply);
}

/* Runs with limits and keys of a producer that is known, or of none: six of two tenants, one with a
 * key that is taken; a step between them. */
static void lone_play(struct fixture *f, bool has_tickets, enum culex_limit_kind kind,
                      bool is_keyed, struct standing *ret_standing)
{
    struct culex_step_reply reply = {.grant_count = 0};
    static const char *const keys[] = {"a1", "a2", "a3", "a2", "a4", "a5", "a6", "a7"};
    fixture_say(f, "FLUSHALL%s", "");
    for (size_t i = 0; i < 8; i++) {
        struct culex_run_limit limits[] = {
            {.kind = kind, .name = "j:l", .key = i % 4 < 3 ? "x" : "y", .count = 2},
            {.kind = CULEX_LIMIT_CONCURRENCY, .name = "j:m", .key = "", .count = 6}};
        struct culex_new_run run = fixture_run();
        struct culex_ticket ticket = fixture_ticket(f, 7);
        if (kind == CULEX_LIMIT_RATE)
            limits[0].per_ms = 60000, limits[0].burst = 2;
        if (kind == CULEX_LIMIT_FAIR)
            limits[0].count = 0;
        run.limits = limits;
        run.limit_count = 2;
        run.unique_key = is_keyed ? keys[i] : "";
        run.unique_while = is_keyed ? 1u << CULEX_RUN_WAITING | 1u << CULEX_RUN_ACTIVE : 0;
        enum culex_enqueued outcome = fixture_offer(f, has_tickets ? &ticket : NULL, &run).outcome;
        assert_int_equal(outcome,
                         is_keyed && i == 3 ? CULEX_ENQUEUED_UNIQUE_TAKEN : CULEX_ENQUEUED_NEW);
        assert_true(redis_check(&f->server, "culex", "q"));
        ret_standing[i] = standing_read(f);
        if (i % 2 == 1)
            standing_step(f, &reply);
    }
    f->store->ops->step_release(f->store, &reply);
}

/* What redis/lib_lone.lua does is what the others do. */
static void test_lone__stands_where_others_stand(void **state)
{
    struct fixture *f = *state;
    struct standing lone[8], others[8];
    for (int kind = CULEX_LIMIT_CONCURRENCY; kind <= CULEX_LIMIT_FAIR; kind++) {
        for (int is_keyed = 0; is_keyed < 2; is_keyed++) {
            lone_play(f, true, (enum culex_limit_kind)kind, is_keyed, lone);
            lone_play(f, false, (enum culex_limit_kind)kind, is_keyed, others);
            assert_memory_equal(lone, others, sizeof lone);
        }
    }
}

static void test_lone__wakes_one(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    run.unique_while = 1u << CULEX_RUN_WAITING;
    for (int i = 0; i < 5; i++) {
        char key[8];
        struct culex_ticket ticket = fixture_ticket(f, 7);
        snprintf(key, sizeof key, "a%d", i);
        run.unique_key = key;
        fixture_offer(f, &ticket, &run);
        assert_int_equal(fixture_say(f, "LLEN %s", "culex:{q}:wake"), i < 3);
        if (i != 1)
            fixture_say(f, "DEL %s", "culex:{q}:wake");
        if (i == 2)
            pause_queue(f, true);
    }
    assert_int_equal(fixture_say(f, "ZCARD %s", "culex:{q}:urgent"), 5);
}

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
    assert_ok(f->store->ops->list(f->store, "q", CULEX_LIST_OF(CULEX_RUN_DEAD), CULEX_LIST_START,
                                  100, &list, &call_error));
    size_t count = list.count;
    f->store->ops->list_release(f->store, &list);
    return count;
}

static size_t found_count(struct fixture *f, unsigned states)
{
    const culex_list_filter filter = {.states = states, .job = "mail.found", .tag = "red"};
    culex_list_cursor cursor = CULEX_LIST_START;
    size_t count = 0;
    do {
        struct culex_list_reply page;
        assert_ok(f->store->ops->list(f->store, "q", &filter, cursor, 3, &page, &call_error));
        cursor = page.cursor;
        count += page.count;
        f->store->ops->list_release(f->store, &page);
    } while (cursor.place != 0);
    return count;
}

/* Of records, and of ordinary runs on the line: what cannot be read is on no page, and hides none.
 */
static void test_find__what_is_damaged_hides_no_other(void **state)
{
    static const char *const bodies[] = {"damaged", "", "1|2|3|4|mail.found|5|6|red",
                                         "x|2|3|4|mail.found|5|0000000000000006|red\n{}"};
    enum { RUNS = 12 };
    struct fixture *f = *state;
    culex_uuid ids[RUNS];
    for (int i = 0; i < RUNS; i++) {
        struct culex_new_run run = i < RUNS / 2 ? odd_run() : fixture_run();
        run.job = "mail.found";
        run.tags = "blue,red";
        run.delay_ms = 0;
        ids[i] = fixture_enqueue(f, &run);
    }
    assert_int_equal(found_count(f, 0), RUNS);
    assert_int_equal(found_count(f, CULEX_LIST_STATE(CULEX_RUN_WAITING)), RUNS);
    record_damage(f, ids[0]);
    record_damage(f, ids[3]);
    for (int i = 0; i < 4; i++)
        freeReplyObject(
            redis_server_command(&f->server, "HSET culex:{q}:bodies %d %s", 1 + i, bodies[i]));
    assert_int_equal(fixture_say(f, "HLEN %s", "culex:{q}:bodies"), RUNS / 2);
    assert_int_equal(found_count(f, CULEX_LIST_STATE(CULEX_RUN_WAITING)), RUNS - 6);
    assert_int_equal(found_count(f, 0), RUNS - 6);
}

/* Wherever STEP meets it: leased, scheduled, waiting in the list or among the urgent. It is listed
 * as dead for good, its bytes are kept, and nothing is left for FSCK. */
static void test_damaged__step_puts_it_aside_for_good(void **state)
{
    struct fixture *f = *state;
    struct culex_fsck_reply reply = {.cursor = 0};
    struct culex_new_run runs[4];
    culex_uuid ids[4];
    for (int i = 0; i < 4; i++) {
        runs[i] = odd_run();
        runs[i].priority = i == 3 ? 5 : 0;
        runs[i].delay_ms = i == 1 ? 1000 : 0;
        ids[i] = fixture_enqueue(f, &runs[i]);
        if (i == 0)
            fixture_claim(f, ids[i]);
    }
    for (int i = 0; i < 4; i++)
        record_damage(f, ids[i]);
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
        assert_ok(f->store->ops->forget(f->store, "q", ids[i], &call_error));
    assert_int_equal(dead_count(f), 0);
}

static int64_t later_boottime(void *self)
{
    (void)self;
    return culex__env_system()->boottime_ns(NULL) + INT64_C(31000000000);
}

/* A server that was emptied under a worker and a producer lists their queues again. */
static void test_queues__are_announced_again(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
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

static void ticket_use(struct fixture *f, uint64_t producer, const char *key)
{
    struct culex_new_run run = fixture_run();
    struct culex_ticket ticket = fixture_ticket(f, producer);
    run.idempotency_key = key;
    run.window_ms = key != NULL ? 1000 : 0;
    assert_int_equal(fixture_offer(f, &ticket, &run).outcome, CULEX_ENQUEUED_NEW);
}

static void entries_expect(struct fixture *f, const char *hash, const char *times, long long count)
{
    assert_int_equal(fixture_say(f, "HLEN culex:{q}:%s", hash), count);
    assert_int_equal(fixture_say(f, "ZCARD culex:{q}:%s", times), count);
}

/* Long enough for all that is remembered of calls made until now. */
static void calls_pass(struct fixture *f)
{
    f->now_ms += 2 * CULEX_TICKET_HORIZON_MS;
}

/* Nobody but producers comes by: those that are new drop old ones, a few each. */
static void test_producers__are_forgotten_by_new_ones(void **state)
{
    struct fixture *f = *state;
    for (uint64_t producer = 1; producer <= 100; producer++)
        ticket_use(f, producer, NULL);
    entries_expect(f, "producers", "producers_until", 100);
    calls_pass(f);
    for (uint64_t producer = 101; producer <= 150; producer++)
        ticket_use(f, producer, NULL);
    entries_expect(f, "producers", "producers_until", 50);
}

static void test_producers__one_that_goes_on_is_one_entry(void **state)
{
    struct fixture *f = *state;
    for (int calls = 0; calls < 100; calls++) {
        ticket_use(f, 7, NULL);
        f->now_ms += 10000;
    }
    entries_expect(f, "producers", "producers_until", 1);
    calls_pass(f);
    ticket_use(f, 7, NULL);
    entries_expect(f, "producers", "producers_until", 1);
}

/* One that calls on and on is listed for later again, before its time is over. */
static void test_producers__one_that_goes_on_is_never_forgotten(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    struct culex_ticket ticket;
    culex_uuid id;
    for (int minutes = 0; minutes < 30; minutes++) {
        ticket = fixture_ticket(f, 7);
        id = fixture_offer(f, &ticket, &run).id;
        f->now_ms += 60000;
        ticket_use(f, 100 + (uint64_t)minutes, NULL); /* drops what is old */
        time_step(f, 0, 0);
    }
    f->now_ms += CULEX_TICKET_HORIZON_MS - 60000;
    for (uint64_t producer = 200; producer < 220; producer++)
        ticket_use(f, producer, NULL); /* drops all that is old by now */
    struct culex_enqueue_result again = fixture_offer(f, &ticket, &run);
    assert_memory_equal(&again.id, &id, sizeof id);
}

static void test_keys__are_forgotten_by_new_ones(void **state)
{
    struct fixture *f = *state;
    char key[16];
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "old %d", i);
        ticket_use(f, 7, key);
    }
    entries_expect(f, "keys", "keys_until", 100);
    f->now_ms += 1001;
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "new %d", i);
        ticket_use(f, 7, key);
    }
    entries_expect(f, "keys", "keys_until", 100);
}

/* Nobody enqueues any more: workers without anything to do clear up. */
static void test_calls__are_forgotten_by_idle_workers(void **state)
{
    struct fixture *f = *state;
    char key[16];
    for (uint64_t i = 1; i <= 200; i++) {
        snprintf(key, sizeof key, "key %d", (int)i);
        ticket_use(f, i, key);
    }
    assert_ok(f->store->ops->pause(f->store, "q", true, &call_error));
    time_step(f, 0, 1);
    entries_expect(f, "producers", "producers_until", 200);
    calls_pass(f);
    struct culex_step step = fixture_step(f, SESSION_B, 1);
    struct culex_step_reply reply;
    fixture_run_step(f, &step, &reply);
    assert_int_equal(reply.due_in_ms, 0); /* there is more to be forgotten */
    f->store->ops->step_release(f->store, &reply);
    for (int steps = 0; steps < 4; steps++)
        time_step(f, 0, 1);
    entries_expect(f, "producers", "producers_until", 0);
    entries_expect(f, "keys", "keys_until", 0);
}

/* Keys that are not declared, or that expire, would be lost in a cluster or under eviction. */
/* No more entries stay than there may be events, but for those that wait for the next look. */
static void test_events__that_are_too_many_are_dropped(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    fixture_enqueue(f, &run);
    assert_ok(f->store->ops->events_keep(f->store, "q", 10, &call_error));
    for (int i = 0; i < 600; i++)
        fixture_enqueue(f, &run);
    assert_true(fixture_say(f, "ZCARD culex:{q}:%s", "events") <= 10 + CULEX_EVENTS_TRIM);
    assert_int_equal(fixture_say(f, "EXISTS culex:{q}:%s", "events"), 1);
    assert_ok(f->store->ops->events_keep(f->store, "q", 0, &call_error));
    assert_int_equal(fixture_say(f, "EXISTS culex:{q}:%s", "events"), 0);
}

static void test_keys__share_a_slot_and_never_expire(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    culex_uuid run_id = fixture_enqueue(f, &run);
    fixture_claim(f, run_id);
    fixture_ack(f, SESSION_A, run_id, 1, CULEX_EVENT_DONE);
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

/* The least of several timeouts ends the lease of the one run that has it. */
static void test_beat__is_not_cut_short_by_the_timeout_of_another(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run hasty = fixture_run(), patient = fixture_run();
    struct culex_beat beats[2] = {{.attempt = 1}, {.attempt = 1}};
    struct culex_step_reply reply;
    culex_run_info *info;
    hasty.timeout_ms = 1000;
    patient.timeout_ms = 600000;
    beats[0].id = fixture_enqueue(f, &hasty);
    beats[1].id = fixture_enqueue(f, &patient);
    struct culex_step step = fixture_step(f, SESSION_A, 2);
    step.lease_ms = 20000;
    fixture_run_step(f, &step, &reply);
    assert_int_equal(reply.grant_count, 2);
    f->store->ops->step_release(f->store, &reply);
    f->now_ms += 15000;
    step = fixture_step(f, SESSION_A, 0);
    step.lease_ms = 20000;
    step.beats = beats;
    step.beat_count = 2;
    fixture_run_step(f, &step, &reply);
    f->store->ops->step_release(f->store, &reply);
    assert_int_equal(f->store->ops->get(f->store, step.queue, beats[1].id, &info, NULL), CULEX_OK);
    assert_int_equal(info->at_ms, f->now_ms + 20000);
    culex_run_info_free(info);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_step__claims_and_acks),
        TEST(test_clock__is_the_servers),
        TEST(test_cancel__ghosts_are_neither_counted_nor_granted),
        TEST(test_cancel__ghosts_hide_no_work),
        TEST(test_cancel__holes_are_neither_counted_nor_granted),
        TEST(test_claim__stopped_in_its_middle_is_mended),
        TEST(test_claim__line_that_lost_its_end_holds_nobody_up),
        TEST(test_step__calls_no_queue_calm_that_is_not),
        TEST(test_ack__of_another_life_of_the_queue_is_gone),
        TEST(test_ack__of_a_number_that_was_given_again_is_gone),
        TEST(test_ack__long_payloads_of_a_block_go),
        TEST(test_enqueue__writes_over_no_body),
        TEST(test_wake__paused_queue_wakes_nobody),
        TEST(test_single__wakes_one),
        TEST(test_single__leaves_what_is_damaged_to_others),
        TEST(test_single__in_a_queue_that_lost_its_count_is_refused),
        TEST(test_lone__stands_where_others_stand),
        TEST(test_lone__wakes_one),
        TEST(test_hello__names_of_silent_workers_are_forgotten),
        TEST(test_find__what_is_damaged_hides_no_other),
        TEST(test_damaged__step_puts_it_aside_for_good),
        TEST(test_queues__are_announced_again),
        TEST(test_producers__are_forgotten_by_new_ones),
        TEST(test_producers__one_that_goes_on_is_one_entry),
        TEST(test_producers__one_that_goes_on_is_never_forgotten),
        TEST(test_keys__are_forgotten_by_new_ones),
        TEST(test_calls__are_forgotten_by_idle_workers),
        TEST(test_events__that_are_too_many_are_dropped),
        TEST(test_keys__share_a_slot_and_never_expire),
        TEST(test_beat__is_not_cut_short_by_the_timeout_of_another),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
