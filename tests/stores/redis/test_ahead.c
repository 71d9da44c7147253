/* Steps that were sent ahead: each is done once, and its answer belongs to it, whatever else is
 * said to the server meanwhile, and whatever becomes of the connection. */
#include "fixture.h"

#include "core/run_id.h"
#include "store/redis/redis.h"

enum { RUNS = 12, EACH = 4 };

struct claims {
    culex_uuid id[RUNS];
    size_t count;
};

static void runs_make(struct fixture *f, struct claims *ret_claims)
{
    struct culex_new_run run = fixture_run();
    for (size_t i = 0; i < RUNS; i++)
        ret_claims->id[i] = fixture_enqueue(f, &run);
    ret_claims->count = 0;
}

/* The grants of the reply are the next runs, in their order; releases it. */
static void grants_expect(struct fixture *f, struct culex_step_reply *reply, struct claims *claims,
                          size_t count)
{
    assert_int_equal(reply->grant_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_memory_equal(&reply->grants[i].facts.id, &claims->id[claims->count++],
                            sizeof(culex_uuid));
        assert_int_equal(reply->grants[i].facts.attempt, 1);
    }
    f->store->ops->step_release(f->store, reply);
}

static void step_expect(struct fixture *f, const struct culex_step *step, struct claims *claims)
{
    struct culex_step_reply reply;
    fixture_run_step(f, step, &reply);
    grants_expect(f, &reply, claims, step->want);
}

/* After two steps the next one is tried fast. */
static void calm_make(struct fixture *f, struct claims *claims)
{
    for (int i = 0; i < 2; i++) {
        struct culex_step step = fixture_step(f, SESSION_A, 1);
        step_expect(f, &step, claims);
    }
}

static struct culex_step send(struct fixture *f, const char *session, uint32_t want)
{
    struct culex_step step = fixture_step(f, session, want);
    assert_true(f->store->ops->step_send(f->store, &step));
    return step;
}

static void counts_expect(struct fixture *f, uint64_t waiting, uint64_t active, uint64_t done)
{
    culex_queue_stats stats;
    assert_ok(f->store->ops->stats(f->store, "q", &stats, &call_error));
    assert_int_equal(stats.count[CULEX_RUN_WAITING], waiting);
    assert_int_equal(stats.count[CULEX_RUN_ACTIVE], active);
    assert_int_equal(stats.count[CULEX_RUN_DONE], done);
}

static void test_step_sent_ahead__is_done_before_its_answer_is_asked_for(void **state)
{
    struct fixture *f = *state;
    struct claims claims;
    runs_make(f, &claims);
    calm_make(f, &claims);
    struct culex_step step = send(f, SESSION_A, EACH);
    struct culex_store *other = fixture_open(f, f->server.url);
    culex_queue_stats stats = {0};
    for (int tries = 0; stats.count[CULEX_RUN_ACTIVE] < EACH + 2 && tries < 10000; tries++)
        assert_ok(other->ops->stats(other, "q", &stats, &call_error));
    assert_int_equal(stats.count[CULEX_RUN_ACTIVE], EACH + 2);
    other->ops->close(other);
    step_expect(f, &step, &claims);
    counts_expect(f, RUNS - EACH - 2, EACH + 2, 0);
}

static void test_ends_and_claims__of_many_steps_sent_ahead(void **state)
{
    struct fixture *f = *state;
    struct claims claims;
    struct culex_ack ack = {.attempt = 1, .event = CULEX_EVENT_DONE};
    runs_make(f, &claims);
    struct culex_step first = fixture_step(f, SESSION_A, 1);
    step_expect(f, &first, &claims);
    for (size_t i = 1; i < RUNS; i++) {
        struct culex_step_reply reply;
        struct culex_step step = fixture_step(f, SESSION_A, 1);
        ack.id = claims.id[claims.count - 1];
        ack.claim_ms = f->now_ms;
        step.acks = &ack, step.ack_count = 1;
        assert_true(f->store->ops->step_send(f->store, &step));
        fixture_run_step(f, &step, &reply);
        assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
        grants_expect(f, &reply, &claims, 1);
    }
    counts_expect(f, 0, 1, RUNS - 1);
}

/* Each of them has its own answer, and so has the step. */
static void test_other_verbs__between(void **state)
{
    struct fixture *f = *state;
    struct claims claims;
    struct culex_step_reply reply;
    struct culex_new_run run = fixture_run();
    size_t released;
    int64_t now_ms;
    runs_make(f, &claims);
    calm_make(f, &claims);
    struct culex_step step = send(f, SESSION_A, EACH);
    counts_expect(f, RUNS - EACH - 2, EACH + 2, 0);
    fixture_enqueue(f, &run);
    assert_ok(
        f->store->ops->hello(f->store, "other", "w", SESSION_A, &released, &now_ms, &call_error));
    assert_ok(f->store->ops->now(f->store, &now_ms, &call_error));
    assert_int_equal(now_ms, f->now_ms);
    struct culex_step others = fixture_step(f, SESSION_A, 1);
    others.queue = "other";
    fixture_run_step(f, &others, &reply);
    assert_int_equal(reply.grant_count, 0);
    f->store->ops->step_release(f->store, &reply);
    others.nonce = ++f->nonce;
    assert_false(f->store->ops->step_send(f->store, &others)); /* one at a time */
    counts_expect(f, RUNS + 1 - EACH - 2, EACH + 2, 0);        /* by a call that only reads */
    step_expect(f, &step, &claims);
    assert_true(f->store->ops->step_send(f->store, &others));
    fixture_run_step(f, &others, &reply);
    f->store->ops->step_release(f->store, &reply);
    step = fixture_step(f, SESSION_A, EACH);
    step_expect(f, &step, &claims);
}

/* The step was done; its answer is had by repeating it. */
static void lost_expect(struct fixture *f, const struct culex_step *step, struct claims *claims)
{
    struct culex_step_reply reply;
    culex_error error;
    assert_int_equal(f->store->ops->step(f->store, step, &reply, &error), CULEX_EUNKNOWN);
    assert_non_null(strstr(error.text, "the connection has ended"));
    step_expect(f, step, claims);
    counts_expect(f, RUNS - claims->count, claims->count, 0);
}

static void test_connection_that_ends__between(void **state)
{
    struct fixture *f = *state;
    struct claims claims;
    runs_make(f, &claims);
    calm_make(f, &claims);
    struct culex_step step = send(f, SESSION_A, EACH);
    /* Its own answer is there by then, in a socket at its end. */
    struct culex_store *other = fixture_open(f, f->server.url);
    culex_queue_stats stats = {0};
    for (int tries = 0; stats.count[CULEX_RUN_ACTIVE] < EACH + 2 && tries < 10000; tries++)
        assert_ok(other->ops->stats(other, "q", &stats, &call_error));
    other->ops->close(other);
    culex__redis_conn_close(&culex__redis_of(f->store)->conn);
    lost_expect(f, &step, &claims);
}

/* A verb that comes between opens a new connection and succeeds. */
static void test_connection_that_ends__before_another_verb(void **state)
{
    struct fixture *f = *state;
    struct claims claims;
    runs_make(f, &claims);
    calm_make(f, &claims);
    fixture_say(f, "CLIENT PAUSE 60000 %s", "WRITE");
    struct culex_step step = send(f, SESSION_A, EACH);
    fixture_say(f, "CLIENT KILL TYPE normal SKIPME %s", "yes");
    fixture_say(f, "CLIENT %s", "UNPAUSE");
    counts_expect(f, RUNS - 2, 2, 0); /* the request went with it */
    lost_expect(f, &step, &claims);
}

static void test_script_that_the_server_forgot__is_sent_again(void **state)
{
    struct fixture *f = *state;
    struct claims claims;
    runs_make(f, &claims);
    calm_make(f, &claims);
    fixture_say(f, "SCRIPT %s", "FLUSH");
    struct culex_step step = send(f, SESSION_A, EACH);
    step_expect(f, &step, &claims);
    counts_expect(f, RUNS - EACH - 2, EACH + 2, 0);
}

/* The fast script leaves it to the full one. */
static void test_step_that_is_not_plain__is_done_in_full(void **state)
{
    struct fixture *f = *state;
    struct claims claims;
    struct culex_step_reply reply;
    struct culex_new_run urgent = fixture_run();
    urgent.priority = 9;
    runs_make(f, &claims);
    calm_make(f, &claims);
    struct culex_store *other = fixture_open(f, f->server.url);
    struct culex_enqueue_result result;
    assert_ok(other->ops->enqueue(other, "q", NULL, &urgent, 1, &result, &call_error));
    other->ops->close(other);
    struct culex_step step = send(f, SESSION_A, 1);
    fixture_run_step(f, &step, &reply);
    assert_int_equal(reply.grant_count, 1);
    assert_memory_equal(&reply.grants[0].facts.id, &result.id, sizeof result.id);
    f->store->ops->step_release(f->store, &reply);
}

/* Whoever goes on to another step does not get the first one's answer. */
static void test_another_step_of_the_queue__has_its_own_answer(void **state)
{
    struct fixture *f = *state;
    struct claims claims;
    runs_make(f, &claims);
    calm_make(f, &claims);
    send(f, SESSION_A, EACH);
    claims.count += EACH; /* nobody hears of these until their lease ends */
    struct culex_step step = fixture_step(f, SESSION_A, EACH);
    step_expect(f, &step, &claims);
    struct culex_step sent = send(f, SESSION_A, 1);
    step = fixture_step(f, SESSION_B, 1);
    step.nonce = sent.nonce; /* of another worker */
    claims.count++;
    step_expect(f, &step, &claims);
}

static void test_right_that_is_withdrawn__is_noticed(void **state)
{
    struct fixture *f = *state;
    struct claims claims;
    char url[256];
    struct culex_step_reply reply;
    culex_error error;
    fixture_say(f, "ACL SETUSER bob reset on >pw ~* &* +@all%s", "");
    snprintf(url, sizeof url, "%s?user=bob&password=pw", f->server.url);
    f->store->ops->close(f->store);
    f->store = fixture_open(f, url);
    runs_make(f, &claims);
    calm_make(f, &claims);
    fixture_say(f, "ACL SETUSER bob -%s", "evalsha");
    struct culex_step step = send(f, SESSION_A, 1);
    assert_int_equal(f->store->ops->step(f->store, &step, &reply, &error), CULEX_EDENIED);
    assert_non_null(strcasestr(error.text, "evalsha"));
    /* As of any other call: the rights are tried anew before anything is sent. */
    step = fixture_step(f, SESSION_A, 1);
    assert_false(f->store->ops->step_send(f->store, &step));
    fixture_say(f, "ACL SETUSER bob +%s", "evalsha");
    step_expect(f, &step, &claims);
    fixture_say(f, "ACL DELUSER %s", "bob");
}

/* Nothing is written to a queue whose rights were not tried, and nothing to no connection. */
static void test_unknown_queue_or_no_connection__sends_nothing(void **state)
{
    struct fixture *f = *state;
    struct claims claims;
    struct culex_step step = fixture_step(f, SESSION_A, 1);
    assert_false(f->store->ops->step_send(f->store, &step));
    runs_make(f, &claims);
    calm_make(f, &claims);
    culex__redis_conn_close(&culex__redis_of(f->store)->conn);
    step = fixture_step(f, SESSION_A, 1);
    assert_false(f->store->ops->step_send(f->store, &step));
    step_expect(f, &step, &claims);
}

/* The queue's name is put to the others again now and then, by a call that waits for it. */
static void test_queue_whose_name_is_due__is_named_first(void **state)
{
    struct fixture *f = *state;
    struct claims claims;
    runs_make(f, &claims);
    calm_make(f, &claims);
    size_t released;
    int64_t now_ms;
    assert_ok(f->store->ops->hello(f->store, "q", "w", SESSION_A, &released, &now_ms, &call_error));
    assert_int_equal(fixture_say(f, "DEL %s", "culex:queues"), 1);
    culex__redis_queue_find(culex__redis_of(f->store), "q")->named_until_ns = 1;
    struct culex_step step = fixture_step(f, SESSION_A, EACH);
    assert_false(f->store->ops->step_send(f->store, &step));
    step_expect(f, &step, &claims);
    assert_int_equal(fixture_say(f, "SISMEMBER culex:queues %s", "q"), 1);
}

/* Whoever checks for leaks finds none. */
static void test_store_that_is_closed__with_an_answer_owed_or_kept(void **state)
{
    struct fixture *f = *state;
    struct claims claims;
    runs_make(f, &claims);
    calm_make(f, &claims);
    send(f, SESSION_A, 1);
    f->store->ops->close(f->store);
    f->store = fixture_open(f, f->server.url);
    struct culex_step step = fixture_step(f, SESSION_A, 1);
    claims.count++;
    step_expect(f, &step, &claims);
    send(f, SESSION_A, 1);
    counts_expect(f, RUNS - 5, 5, 0); /* which keeps the answer */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_step_sent_ahead__is_done_before_its_answer_is_asked_for),
        TEST(test_ends_and_claims__of_many_steps_sent_ahead),
        TEST(test_other_verbs__between),
        TEST(test_connection_that_ends__between),
        TEST(test_connection_that_ends__before_another_verb),
        TEST(test_script_that_the_server_forgot__is_sent_again),
        TEST(test_step_that_is_not_plain__is_done_in_full),
        TEST(test_another_step_of_the_queue__has_its_own_answer),
        TEST(test_right_that_is_withdrawn__is_noticed),
        TEST(test_unknown_queue_or_no_connection__sends_nothing),
        TEST(test_queue_whose_name_is_due__is_named_first),
        TEST(test_store_that_is_closed__with_an_answer_owed_or_kept),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
