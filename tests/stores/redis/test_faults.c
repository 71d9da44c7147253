/* What goes wrong with a server, and that nothing is lost, doubled or hidden by it. */
#include "fixture.h"

#include <errno.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "store/redis/reply.h"
#include "platform/env.h"

static culex_status enqueue_status(struct fixture *f, const struct culex_new_run *run,
                                   culex_error *error)
{
    struct culex_enqueue_result result;
    return f->store->ops->enqueue(f->store, "q", NULL, run, 1, &result, error);
}

/* A repeat of the call that brought the run `id`. */
static void repeat_expect(struct fixture *f, const struct culex_ticket *ticket,
                          const struct culex_new_run *run, culex_uuid id)
{
    struct culex_enqueue_result result = fixture_offer(f, ticket, run);
    assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
    assert_memory_equal(&result.id, &id, sizeof id);
    assert_int_equal(fixture_say(f, "HLEN %s", "culex:{q}:bodies"), 1);
}

static culex_status open_status(struct fixture *f, const char *url, int64_t timeout_ms,
                                culex_error *error)
{
    struct culex_store *store = NULL;
    struct culex_store_options options = {.timeout_ms = timeout_ms};
    culex_status status = culex__store_open(url, &options, &f->env, &store, error);
    if (status == CULEX_OK)
        store->ops->close(store);
    return status;
}

static void url_with(struct fixture *f, const char *params, char *ret_url, size_t size)
{
    snprintf(ret_url, size, "%s?%s", f->server.url, params);
}

/* --- the server forgets or refuses ---------------------------------------------------- */

static void test_noscript__script_is_sent_again(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    struct culex_ticket ticket = fixture_ticket(f, 7);
    culex_uuid run_id = fixture_offer(f, &ticket, &run).id;
    fixture_say(f, "SCRIPT %s", "FLUSH");
    repeat_expect(f, &ticket, &run, run_id);
    fixture_say(f, "SCRIPT %s", "FLUSH");
    uint32_t attempt = fixture_claim(f, run_id);
    fixture_say(f, "SCRIPT %s", "FLUSH");
    assert_int_equal(fixture_ack(f, SESSION_A, run_id, attempt, CULEX_EVENT_DONE), CULEX_ANSWER_OK);
}

static void test_oom__enqueue_is_refused_whole_and_acks_pass(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run first = fixture_run(), second = fixture_run(), third = fixture_run();
    culex_uuid first_id = fixture_enqueue(f, &first);
    culex_uuid second_id = fixture_enqueue(f, &second);
    fixture_claim(f, first_id);
    fixture_claim(f, second_id);
    fixture_say(f, "CONFIG SET maxmemory %s", "1");
    culex_error error;
    assert_int_equal(enqueue_status(f, &third, &error), CULEX_EFULL);
    assert_non_null(strstr(error.text, "maxmemory"));

    struct culex_ack ack = {.id = first_id, .attempt = 1, .event = CULEX_EVENT_DONE};
    struct culex_beat beat = {.id = second_id, .attempt = 1};
    struct culex_step step = fixture_step(f, SESSION_A, 0);
    struct culex_step_reply reply;
    step.acks = &ack, step.ack_count = 1;
    step.beats = &beat, step.beat_count = 1;
    fixture_run_step(f, &step, &reply);
    assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
    assert_int_equal(reply.beats[0], CULEX_ANSWER_OK);
    f->store->ops->step_release(f->store, &reply);

    /* A beat alone: its first effect needs memory, so only the primer lets it pass. */
    step = fixture_step(f, SESSION_A, 0);
    step.beats = &beat, step.beat_count = 1;
    fixture_run_step(f, &step, &reply);
    assert_int_equal(reply.beats[0], CULEX_ANSWER_OK);
    f->store->ops->step_release(f->store, &reply);

    fixture_say(f, "CONFIG SET maxmemory %s", "0");
    culex_queue_stats stats;
    assert_ok(f->store->ops->stats(f->store, "q", &stats, &call_error));
    assert_int_equal(stats.enqueued, 2);
    assert_int_equal(stats.count[CULEX_RUN_WAITING], 0);
    /* A block of two would be another matter: a beat of one of them adopts it. */
    assert_int_equal(fixture_say(f, "ZCARD %s", "culex:{q}:block_leases"), 1);
    fixture_enqueue(f, &third);
}

static void test_replica__is_busy_until_it_leads_again(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    culex_error error;
    fixture_enqueue(f, &run);
    fixture_say(f, "REPLICAOF 127.0.0.1 %s", "1");
    struct culex_new_run other = fixture_run();
    culex_status status = enqueue_status(f, &other, &error);
    fixture_say(f, "REPLICAOF NO %s", "ONE");
    assert_int_equal(status, CULEX_EBUSY);
    assert_non_null(strstr(error.text, "READONLY"));
    fixture_enqueue(f, &other);
}

static void test_eviction_policy__allkeys_is_refused(void **state)
{
    struct fixture *f = *state;
    culex_error error;
    fixture_say(f, "CONFIG SET maxmemory-policy %s", "allkeys-lru");
    culex_status status = open_status(f, f->server.url, 0, &error);
    fixture_say(f, "CONFIG SET maxmemory-policy %s", "noeviction");
    assert_int_equal(status, CULEX_EUNSUPPORTED);
    assert_non_null(strstr(error.text, "allkeys-lru"));
    assert_int_equal(open_status(f, f->server.url, 0, &error), CULEX_OK);
}

/* --- who may ---------------------------------------------------------------------------- */

static void test_password__wrong_one_is_denied_and_not_shown(void **state)
{
    struct fixture *f = *state;
    char url[256];
    culex_error error;
    fixture_say(f, "ACL SETUSER ann on >right ~* &* +@all%s", "");
    url_with(f, "user=ann&password=wr0ngsecret", url, sizeof url);
    assert_int_equal(open_status(f, url, 0, &error), CULEX_EDENIED);
    assert_null(strstr(error.text, "wr0ngsecret"));
    assert_non_null(strstr(error.text, f->server.socket));
    url_with(f, "user=ann&password=right", url, sizeof url);
    assert_int_equal(open_status(f, url, 0, &error), CULEX_OK);
    /* A server without passwords, and a client that brings one. */
    url_with(f, "password=wr0ngsecret", url, sizeof url);
    assert_int_equal(open_status(f, url, 0, &error), CULEX_EDENIED);
    fixture_say(f, "ACL DELUSER %s", "ann");
}

/* What servers of several versions say, to scripts and to plain commands. */
static void test_refusals__each_wording_has_its_status(void **state)
{
    static const struct {
        const char *text;
        culex_status status;
    } rows[] = {
        {"READONLY You can't write against a read only replica.", CULEX_EBUSY},
        {"READONLY You can't write against a read only replica. script: 1f, on @user_script:1.",
         CULEX_EBUSY},
        {"ERR Error running script (call to f_1): @user_script:1: -READONLY You can't write",
         CULEX_EBUSY},
        {"LOADING Redis is loading the dataset in memory", CULEX_EBUSY},
        {"BUSY Redis is busy running a script.", CULEX_EBUSY},
        {"TRYAGAIN Multiple keys request during rehashing of slot", CULEX_EBUSY},
        {"OOM command not allowed when used memory > 'maxmemory'.", CULEX_EFULL},
        {"MISCONF Redis is configured to save RDB snapshots", CULEX_EREADONLY},
        {"NOPERM this user has no permissions to run the 'get' command", CULEX_EDENIED},
        {"NOAUTH Authentication required.", CULEX_EDENIED},
        {"WRONGPASS invalid username-password pair", CULEX_EDENIED},
        {"ERR The user executing the script can't run this command or subcommand", CULEX_EDENIED},
        {"ERR ACL failure in script: User u has no permissions to run the 'hdel' command",
         CULEX_EDENIED},
        {"ERR unknown command", CULEX_ESTORE},
        {"", CULEX_ESTORE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(culex__redis_refusal_status(rows[i].text), rows[i].status);
}

/* Takes one command at a time away: HELLO must notice before a script stops midway. */
static void test_permission__hello_notices_each_missing_command(void **state)
{
    static const char *const needed[] = {
        "zrem",  "hset",   "hdel",   "hmget", "lpop",    "rpush", "zadd",   "sadd",
        "zcard", "unlink", "lrange", "llen",  "hincrby", "hget",  "zrange", "zrangebyscore"};
    struct fixture *f = *state;
    char url[256];
    url_with(f, "user=bob&password=pw", url, sizeof url);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        fixture_say(f, "ACL SETUSER bob reset on >pw ~* &* +@all -%s", needed[i]);
        struct culex_store *store = fixture_open(f, url);
        size_t released;
        int64_t now_ms;
        culex_error error;
        culex_status status =
            store->ops->hello(store, "q", "w", SESSION_A, &released, &now_ms, &error);
        store->ops->close(store);
        assert_int_equal(status, CULEX_EDENIED);
        assert_non_null(strcasestr(error.text, needed[i]));
        assert_int_equal(fixture_say(f, "DBSIZE%s", ""), 0);
    }
    fixture_say(f, "ACL DELUSER %s", "bob");
}

/* --- the connection ---------------------------------------------------------------------- */

static void test_client_kill__next_call_reconnects(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    struct culex_ticket ticket = fixture_ticket(f, 7);
    culex_uuid id = fixture_offer(f, &ticket, &run).id;
    assert_int_equal(fixture_say(f, "CLIENT KILL TYPE normal SKIPME %s", "yes"), 1);
    repeat_expect(f, &ticket, &run, id);
}

static void test_server_killed__next_call_fails_then_works_again(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    culex_error error;
    fixture_enqueue(f, &run);
    redis_server_kill(&f->server);
    assert_int_equal(enqueue_status(f, &run, &error), CULEX_ECONNECT);
    assert_non_null(strstr(error.text, f->server.socket));
    assert_true(redis_server_restart(&f->server));
    /* It kept nothing: the run is new to it. */
    fixture_enqueue(f, &run);
}

static void test_unreachable__names_host_and_reason(void **state)
{
    struct fixture *f = *state;
    culex_error error;
    assert_int_equal(open_status(f, "redis://user:hunter2@127.0.0.1:1", 1000, &error),
                     CULEX_ECONNECT);
    assert_non_null(strstr(error.text, "127.0.0.1"));
    assert_non_null(strstr(error.text, "refused"));
    assert_null(strstr(error.text, "hunter2"));
}

/* As it is written of a host. */
static void test_database_in_the_path_of_a_socket__is_told_how_it_is_written(void **state)
{
    struct fixture *f = *state;
    culex_error error;
    assert_int_equal(open_status(f, "redis+unix:///nowhere/redis.sock/12", 1000, &error),
                     CULEX_ECONNECT);
    assert_non_null(strstr(error.text, "cannot connect to /nowhere/redis.sock/12"));
    assert_non_null(strstr(error.text, "(is 12 the database? Then write ?db=12 behind the path of "
                                       "the socket)"));
    assert_int_equal(open_status(f, "redis+unix:///nowhere/redis.sock", 1000, &error),
                     CULEX_ECONNECT);
    assert_null(strstr(error.text, "?db="));
}

/* A listener that accepts in its backlog and never speaks. */
static int silent_listener(char *ret_url, size_t size, char *ret_path, size_t path_size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(ret_path, path_size, "/tmp/culex-silent-%d", (int)getpid());
    snprintf(address.sun_path, sizeof address.sun_path, "%s", ret_path);
    snprintf(ret_url, size, "redis+unix://%s", ret_path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 4), 0);
    return fd;
}

/* The longest that the store was ready to wait for bytes. */
static int longest_wait_ms;

static ssize_t measured_recv(void *self, int fd, void *ret_bytes, size_t len, int timeout_ms)
{
    const struct culex_env *system = culex__env_system();
    (void)self;
    if (timeout_ms < 0 || timeout_ms > longest_wait_ms)
        longest_wait_ms = timeout_ms < 0 ? INT_MAX : timeout_ms;
    return system->recv(system->self, fd, ret_bytes, len, timeout_ms);
}

static void test_silent_server__gives_up_in_time(void **state)
{
    struct fixture *f = *state;
    char url[128], path[96];
    culex_error error;
    int fd = silent_listener(url, sizeof url, path, sizeof path);
    int64_t before_ms = culex__env_boottime_ms(&f->env);
    f->env.recv = measured_recv;
    longest_wait_ms = 0;
    culex_status status = open_status(f, url, 100, &error);
    int64_t took_ms = culex__env_boottime_ms(&f->env) - before_ms;
    f->env.recv = culex__env_system()->recv;
    close(fd);
    unlink(path);
    assert_int_equal(status, CULEX_ECONNECT);
    assert_non_null(strstr(error.text, "timed out"));
    assert_true(took_ms >= 100);
    assert_in_range(longest_wait_ms, 1, 100);
}

/* --- replies that break off ---------------------------------------------------------------- */

/* Bytes that may still be received; then the connection is gone. Negative: no limit. */
static int64_t receive_left = -1;

static ssize_t limited_recv(void *self, int fd, void *ret_bytes, size_t len, int timeout_ms)
{
    const struct culex_env *system = culex__env_system();
    (void)self;
    if (receive_left == 0)
        return 0;
    if (receive_left > 0 && (size_t)receive_left < len)
        len = (size_t)receive_left;
    ssize_t got = system->recv(system->self, fd, ret_bytes, len, timeout_ms);
    if (receive_left > 0 && got > 0)
        receive_left -= got;
    return got;
}

/* Whatever part of a step's reply is lost, the same step again brings the same grants. */
static void test_cut_reply__same_nonce_brings_the_same_grants(void **state)
{
    struct fixture *f = *state;
    struct culex_step_reply reply;
    culex_error error;
    f->env.recv = limited_recv;
    int cuts = 0;
    for (int64_t cut = 0;; cut++) {
        struct culex_new_run run = fixture_run();
        struct culex_step step = fixture_step(f, SESSION_A, 1);
        culex_uuid run_id = fixture_enqueue(f, &run);
        receive_left = cut;
        culex_status status = f->store->ops->step(f->store, &step, &reply, &error);
        receive_left = -1;
        if (status != CULEX_OK) {
            assert_int_equal(status, CULEX_EUNKNOWN);
            cuts++;
            fixture_run_step(f, &step, &reply);
        }
        assert_int_equal(reply.grant_count, 1);
        assert_memory_equal(&reply.grants[0].facts.id, &run_id, sizeof run_id);
        assert_int_equal(reply.grants[0].facts.attempt, 1);
        f->store->ops->step_release(f->store, &reply);
        fixture_ack(f, SESSION_A, run_id, 1, CULEX_EVENT_DONE);
        if (status == CULEX_OK)
            break;
    }
    assert_true(cuts > 100); /* the reply is longer than that */
    f->env.recv = culex__env_system()->recv;
}

/* --- damage and size ------------------------------------------------------------------------ */

static void test_damaged_record__is_set_aside_and_never_granted(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run bad = fixture_run(), good = fixture_run();
    culex_run_info *info;
    bad.unique_key = "abc"; /* so that it has a record */
    bad.unique_while = CULEX_UNIQUE_LIVE;
    culex_uuid bad_id = fixture_enqueue(f, &bad);
    culex_uuid good_id = fixture_enqueue(f, &good);
    freeReplyObject(redis_server_command(&f->server, "HSET culex:{q}:runs %b 3|W|what", bad_id.b,
                                         sizeof bad_id.b));
    fixture_claim(f, good_id);
    assert_ok(f->store->ops->get(f->store, "q", bad_id, &info, &call_error));
    assert_int_equal(info->state, CULEX_RUN_DEAD);
    culex_run_info_free(info);
    assert_int_equal(fixture_say(f, "ZCARD %s", "culex:{q}:dead"), 1);
    assert_ok(f->store->ops->forget(f->store, "q", bad_id, &call_error));
    assert_int_equal(fixture_say(f, "ZCARD %s", "culex:{q}:dead"), 0);
}

static int64_t used_memory(struct fixture *f)
{
    redisReply *reply = redis_server_command(&f->server, "INFO memory");
    assert_non_null(reply);
    int64_t used = strtoll(strstr(reply->str, "used_memory:") + strlen("used_memory:"), NULL, 10);
    freeReplyObject(reply);
    return used;
}

static void test_memory__waiting_run_takes_300_bytes_beside_its_payload(void **state)
{
    enum { RUNS = 50000, BATCH = 200, PAYLOAD = 100, BYTES_MAX = 300 };
    static char payload[PAYLOAD];
    struct fixture *f = *state;
    struct culex_new_run runs[BATCH];
    struct culex_enqueue_result results[BATCH];
    memset(payload, 'x', sizeof payload);
    int64_t before = used_memory(f);
    for (int done = 0; done < RUNS; done += BATCH) {
        for (int i = 0; i < BATCH; i++) {
            runs[i] = fixture_run();
            runs[i].payload = payload;
            runs[i].payload_len = PAYLOAD;
        }
        assert_ok(f->store->ops->enqueue(f->store, "q", NULL, runs, BATCH, results, &call_error));
    }
    int64_t each = (used_memory(f) - before) / RUNS - PAYLOAD;
    printf("a waiting run takes %lld bytes beside its payload\n", (long long)each);
    assert_true(each <= BYTES_MAX);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_noscript__script_is_sent_again),
        TEST(test_oom__enqueue_is_refused_whole_and_acks_pass),
        TEST(test_replica__is_busy_until_it_leads_again),
        TEST(test_eviction_policy__allkeys_is_refused),
        TEST(test_password__wrong_one_is_denied_and_not_shown),
        cmocka_unit_test(test_refusals__each_wording_has_its_status),
        TEST(test_permission__hello_notices_each_missing_command),
        TEST(test_client_kill__next_call_reconnects),
        TEST(test_server_killed__next_call_fails_then_works_again),
        TEST(test_unreachable__names_host_and_reason),
        TEST(test_database_in_the_path_of_a_socket__is_told_how_it_is_written),
        TEST(test_silent_server__gives_up_in_time),
        TEST(test_cut_reply__same_nonce_brings_the_same_grants),
        TEST(test_damaged_record__is_set_aside_and_never_granted),
        TEST(test_memory__waiting_run_takes_300_bytes_beside_its_payload),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
