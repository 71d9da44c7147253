/* Servers in trouble of every kind, and a worker that lives through each: its handlers go on, it
 * says what is wrong, tries again, and is back when the trouble is over. Nothing is lost, and no
 * attempt is charged. Real troubles of a real server, except where a test says "injected". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "client/client_private.h"
#include "worker/worker_private.h"
#include "proxy.h"
#include "redis_server.h"
#include "world.h"

enum { LOG_SIZE = 1 << 16, WAIT_TURNS = 6000, TURN_NS = 5000000 }; /* 30 s at most */
enum { HASTY_MS = 300, HASTY_TRIES = 60 };

struct theatre {
    struct redis_server server;
    struct proxy *proxy;
    redisContext *direct; /* stays open through every trouble */
    culex_worker *worker;
    pthread_t thread;
    culex_status ended;
    pthread_mutex_t lock; /* of what follows */
    char log[LOG_SIZE];
    size_t log_len;
    unsigned started, done;
    bool is_held; /* handlers do not return meanwhile */
};

/* --- words with the server ------------------------------------------------------------------ */

static void say(struct theatre *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    redisReply *reply = redisvCommand(t->direct, format, list);
    va_end(list);
    if (reply == NULL || reply->type == REDIS_REPLY_ERROR)
        fail_msg("%s: %s", format, reply != NULL ? reply->str : t->direct->errstr);
    freeReplyObject(reply);
}

static void direct_open(struct theatre *t)
{
    const struct timeval limit = {.tv_sec = 20};
    if (t->direct != NULL)
        redisFree(t->direct);
    t->direct = redisConnectUnixWithTimeout(t->server.socket, limit);
    assert_true(t->direct != NULL && t->direct->err == 0);
}

/* --- the worker ------------------------------------------------------------------------------ */

static void pause_short(void)
{
    const struct timespec turn = {.tv_nsec = TURN_NS};
    nanosleep(&turn, NULL);
}

static culex_outcome act(culex_run *run, culex_handler_fn handler, const void *params, void *user)
{
    struct theatre *t = user;
    (void)handler;
    (void)params;
    assert_int_equal(culex_run_attempt(run), 1);
    pthread_mutex_lock(&t->lock);
    t->started++;
    for (int i = 0; t->is_held && i < WAIT_TURNS && !culex_run_cancelled(run); i++) {
        pthread_mutex_unlock(&t->lock);
        pause_short();
        pthread_mutex_lock(&t->lock);
    }
    t->done++;
    pthread_mutex_unlock(&t->lock);
    return CULEX_DONE;
}

static void sink(void *self, const char *line, size_t len)
{
    struct theatre *t = self;
    pthread_mutex_lock(&t->lock);
    if (len < LOG_SIZE - t->log_len) {
        memcpy(t->log + t->log_len, line, len);
        t->log_len += len;
        t->log[t->log_len] = '\0';
    }
    pthread_mutex_unlock(&t->lock);
}

static void *worker_main(void *arg)
{
    struct theatre *t = arg;
    t->ended = culex_worker_run(t->worker, NULL);
    return NULL;
}

static void worker_start_on(struct theatre *t, const char *url, const char *const *queues,
                            size_t queue_count)
{
    const culex_worker_options options = {.url = url,
                                          .name = "w",
                                          .concurrency = 2,
                                          .isolation = CULEX_ISOLATION_NONE,
                                          .lease_ms = 60000,
                                          .store_timeout_ms = 400,
                                          .queues = queues,
                                          .queue_count = queue_count};
    static culex_job_type type;
    culex_error error;
    type = number_type();
    if (culex_worker_create(&options, &t->worker, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    culex__worker_set_sink(t->worker, (struct culex_log_sink){.write = sink, .self = t});
    assert_int_equal(culex_worker_register(t->worker, &type, act, number_handler, t), CULEX_OK);
    assert_int_equal(pthread_create(&t->thread, NULL, worker_main, t), 0);
}

static void worker_start(struct theatre *t, const char *url)
{
    worker_start_on(t, url, NULL, 0);
}

static void worker_finish(struct theatre *t)
{
    culex_worker_stop(t->worker);
    pthread_join(t->thread, NULL);
    culex_worker_free(t->worker);
    assert_int_equal(t->ended, CULEX_OK);
}

static bool log_has(struct theatre *t, const char *text)
{
    pthread_mutex_lock(&t->lock);
    bool has = strstr(t->log, text) != NULL;
    pthread_mutex_unlock(&t->lock);
    return has;
}

static void log_await(struct theatre *t, const char *text)
{
    for (int i = 0; i < WAIT_TURNS; i++) {
        if (log_has(t, text))
            return;
        pause_short();
    }
    fail_msg("the log never says '%s':\n%.4000s", text, t->log);
}

static void count_await(struct theatre *t, const unsigned *counter, unsigned wanted)
{
    for (int i = 0; i < WAIT_TURNS; i++) {
        pthread_mutex_lock(&t->lock);
        bool is_there = *counter >= wanted;
        pthread_mutex_unlock(&t->lock);
        if (is_there)
            return;
        pause_short();
    }
    fail_msg("%u instead of %u:\n%.4000s", *counter, wanted, t->log);
}

static void hold(struct theatre *t, bool is_held)
{
    pthread_mutex_lock(&t->lock);
    t->is_held = is_held;
    pthread_mutex_unlock(&t->lock);
}

/* --- producers --------------------------------------------------------------------------- */

static culex_client *client_open(const char *url, int64_t timeout_ms)
{
    const culex_client_options options = {.timeout_ms = timeout_ms};
    culex_client *client = NULL;
    culex_error error;
    if (culex_client_open(url, &options, &client, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return client;
}

static culex_status enqueue_to(culex_client *client, const char *queue, culex_uuid *ret_id,
                               culex_error *error)
{
    static culex_job_type type;
    const struct number params = {1};
    type = number_type();
    type.queue = queue;
    return culex_client_enqueue(client, &type, &params, NULL, ret_id, error);
}

static culex_status enqueue(culex_client *client, culex_uuid *ret_id, culex_error *error)
{
    return enqueue_to(client, "numbers", ret_id, error);
}

static culex_uuid enqueue_ok(const char *url)
{
    culex_client *client = client_open(url, 20000);
    culex_error error;
    culex_uuid id;
    if (enqueue(client, &id, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    culex_client_close(client);
    return id;
}

static void assert_done_once(const char *url, culex_uuid id)
{
    culex_client *client = client_open(url, 20000);
    culex_run_info *run = NULL;
    for (int i = 0; i < WAIT_TURNS; i++) {
        assert_int_equal(culex_client_get(client, "numbers", id, &run, NULL), CULEX_OK);
        if (run->state == CULEX_RUN_DONE || i + 1 == WAIT_TURNS)
            break;
        culex_run_info_free(run);
        run = NULL;
        pause_short();
    }
    assert_int_equal(run->state, CULEX_RUN_DONE);
    assert_int_equal(run->attempt, 1);
    assert_int_equal(run->failures + run->crashes + run->losses, 0);
    culex_run_info_free(run);
    culex_client_close(client);
}

/* --- the play ----------------------------------------------------------------------------- */

struct trouble {
    const char *says, *advises; /* in the worker's log */
    culex_status enqueue;       /* what a producer gets meanwhile; CULEX_OK: not asked */
    void (*begin)(struct theatre *t);
    void (*end)(struct theatre *t);
};

/* A producer that does not wait a trouble out. On a busy machine its time may be over before the
 * answer comes: then it asks again. */
static culex_client *hasty_open(const char *url)
{
    const culex_client_options options = {.timeout_ms = HASTY_MS};
    culex_client *client = NULL;
    culex_error error = {.text = ""};
    for (int i = 0; i < HASTY_TRIES; i++) {
        if (culex_client_open(url, &options, &client, &error) == CULEX_OK)
            return client;
    }
    fail_msg("%s", error.text);
    return NULL;
}

static void producer_meets(culex_client *producer, const struct trouble *trouble)
{
    culex_error error = {.text = "timed out"};
    culex_uuid id;
    for (int i = 0; i < HASTY_TRIES && strstr(error.text, "timed out") != NULL; i++)
        enqueue(producer, &id, &error);
    if (error.code != trouble->enqueue || strstr(error.text, trouble->says) == NULL ||
        strstr(error.text, trouble->advises) == NULL)
        fail_msg("%s: %s", culex_status_name(error.code), error.text);
}

/* A run is in a handler when the trouble begins, ends in the middle of it, and is recorded once it
 * is over; another one comes after it. */
static void play(struct theatre *t, const char *url, const struct trouble *trouble)
{
    culex_client *producer = hasty_open(t->server.url);
    culex_uuid held = enqueue_ok(t->server.url);
    hold(t, true);
    worker_start(t, url);
    count_await(t, &t->started, 1);
    trouble->begin(t);
    if (trouble->enqueue != CULEX_OK)
        producer_meets(producer, trouble);
    hold(t, false);
    count_await(t, &t->done, 1); /* handlers do not care */
    log_await(t, trouble->says);
    log_await(t, trouble->advises);
    trouble->end(t);
    log_await(t, "the store is back");
    culex_client_close(producer);
    culex_uuid later = enqueue_ok(t->server.url);
    assert_done_once(t->server.url, held);
    assert_done_once(t->server.url, later);
    worker_finish(t);
}

/* --- real troubles ------------------------------------------------------------------------ */

static void replica_begin(struct theatre *t)
{
    say(t, "REPLICAOF 127.0.0.1 1");
}

static void replica_end(struct theatre *t)
{
    say(t, "REPLICAOF NO ONE");
}

static void test_readonly_replica_is_waited_out(void **state)
{
    struct theatre *t = *state;
    play(
        t, t->server.url,
        &(struct trouble){"READONLY", "name the primary", CULEX_EBUSY, replica_begin, replica_end});
}

static void masterdown_begin(struct theatre *t)
{
    say(t, "CONFIG SET replica-serve-stale-data no");
    replica_begin(t);
}

static void test_masterdown_is_waited_out(void **state)
{
    struct theatre *t = *state;
    play(t, t->server.url,
         &(struct trouble){"MASTERDOWN", "without its primary", CULEX_EBUSY, masterdown_begin,
                           replica_end});
}

static void noreplicas_begin(struct theatre *t)
{
    say(t, "CONFIG SET min-replicas-to-write 1");
}

static void noreplicas_end(struct theatre *t)
{
    say(t, "CONFIG SET min-replicas-to-write 0");
}

static void test_noreplicas_is_waited_out(void **state)
{
    struct theatre *t = *state;
    play(t, t->server.url,
         &(struct trouble){"NOREPLICAS", "min-replicas-to-write", CULEX_EBUSY, noreplicas_begin,
                           noreplicas_end});
}

static void obstacle(const struct theatre *t, char *ret_path, size_t size)
{
    snprintf(ret_path, size, "%s/dump.rdb", t->server.folder);
}

/* A folder where the snapshot should go: no snapshot can be written. */
static void misconf_begin(struct theatre *t)
{
    char path[128];
    obstacle(t, path, sizeof path);
    assert_int_equal(mkdir(path, 0700), 0);
    say(t, "CONFIG SET save %s", "3600 1");
    say(t, "BGSAVE");
    for (int i = 0; i < WAIT_TURNS; i++) {
        redisReply *reply = redisCommand(t->direct, "INFO persistence");
        bool is_bad = strstr(reply->str, "rdb_last_bgsave_status:err") != NULL;
        freeReplyObject(reply);
        if (is_bad)
            return;
        pause_short();
    }
    fail_msg("the snapshot did not fail");
}

static void misconf_end(struct theatre *t)
{
    char path[128];
    obstacle(t, path, sizeof path);
    assert_int_equal(rmdir(path), 0);
    say(t, "SAVE");
}

static void test_misconf_is_waited_out(void **state)
{
    struct theatre *t = *state;
    play(t, t->server.url,
         &(struct trouble){"MISCONF", "make room on the disk", CULEX_EREADONLY, misconf_begin,
                           misconf_end});
}

static void *script_main(void *arg)
{
    struct theatre *t = arg;
    freeReplyObject(redis_server_command(&t->server, "EVAL %s 0", "while true do end"));
    return NULL;
}

static pthread_t script_thread;

static void busy_begin(struct theatre *t)
{
    say(t, "CONFIG SET lua-time-limit 10");
    assert_int_equal(pthread_create(&script_thread, NULL, script_main, t), 0);
    for (int i = 0; i < WAIT_TURNS; i++) {
        redisReply *reply = redisCommand(t->direct, "PING");
        bool is_busy = reply->type == REDIS_REPLY_ERROR;
        freeReplyObject(reply);
        if (is_busy)
            return;
        pause_short();
    }
    fail_msg("the script does not block");
}

static void busy_end(struct theatre *t)
{
    say(t, "SCRIPT KILL");
    pthread_join(script_thread, NULL);
}

static void test_busy_script_is_waited_out(void **state)
{
    struct theatre *t = *state;
    play(t, t->server.url,
         &(struct trouble){"BUSY", "SCRIPT KILL", CULEX_EBUSY, busy_begin, busy_end});
}

static void noperm_begin(struct theatre *t)
{
    say(t, "ACL SETUSER default -eval -evalsha");
}

static void noperm_end(struct theatre *t)
{
    say(t, "ACL SETUSER default +eval +evalsha");
}

static void test_noperm_in_mid_life_is_waited_out(void **state)
{
    struct theatre *t = *state;
    play(t, t->server.url,
         &(struct trouble){"NOPERM", "SECURITY.md", CULEX_EDENIED, noperm_begin, noperm_end});
}

/* The worker loses a right and gets it back; meanwhile a payload without a run has come, as a
 * refused script can leave one. Steps never meet it. */
static culex_uuid right_lost_and_back(struct theatre *t)
{
    culex_uuid id = enqueue_ok(t->server.url);
    hold(t, true);
    worker_start(t, t->server.url);
    count_await(t, &t->started, 1);
    say(t, "HSET culex:{numbers}:payloads 0123456789abcdef {}");
    say(t, "ACL SETUSER default -zrem");
    hold(t, false);
    log_await(t, "in trouble");
    say(t, "ACL SETUSER default +zrem");
    log_await(t, "the store is back");
    return id;
}

static void test_withdrawn_right_is_repaired_afterwards(void **state)
{
    struct theatre *t = *state;
    culex_uuid id = right_lost_and_back(t);
    log_await(t, "repaired after refused calls");
    assert_done_once(t->server.url, id);
    redisReply *left = redisCommand(t->direct, "HLEN culex:{numbers}:payloads");
    assert_non_null(left);
    long long payloads = left->integer;
    freeReplyObject(left);
    worker_finish(t);
    assert_int_equal(payloads, 0);
}

/* The first half of a refused ack: the run is in its new index already. */
static void torn_await(struct theatre *t, const char *queue)
{
    for (int i = 0; i < WAIT_TURNS; i++) {
        redisReply *reply = redisCommand(t->direct, "ZCARD culex:{%s}:done", queue);
        assert_non_null(reply);
        bool is_torn = reply->integer > 0;
        freeReplyObject(reply);
        if (is_torn)
            return;
        pause_short();
    }
    fail_msg("no ack came to the queue %s", queue);
}

static unsigned log_count(struct theatre *t, const char *text)
{
    unsigned count = 0;
    pthread_mutex_lock(&t->lock);
    for (const char *at = t->log; (at = strstr(at, text)) != NULL; at++)
        count++;
    pthread_mutex_unlock(&t->lock);
    return count;
}

/* What the store keeps of a search is of one queue at a time. */
static void test_repairs_of_two_queues_take_turns(void **state)
{
    static const char *const queues[] = {"numbers", "others"};
    struct theatre *t = *state;
    culex_client *client = client_open(t->server.url, 20000);
    culex_uuid id;
    hold(t, true);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(enqueue_to(client, queues[i], &id, NULL), CULEX_OK);
        say(t, "HSET culex:{%s}:payloads 0123456789abcdef {}", queues[i]);
    }
    worker_start_on(t, t->server.url, queues, 2);
    count_await(t, &t->started, 2);
    say(t, "ACL SETUSER default -hdel");
    hold(t, false);
    for (size_t i = 0; i < 2; i++)
        torn_await(t, queues[i]);
    say(t, "ACL SETUSER default +hdel");
    log_await(t, "queue numbers: repaired after refused calls");
    log_await(t, "queue others: repaired after refused calls");
    assert_int_equal(log_count(t, "the store is back"), 1);
    worker_finish(t);
    culex_client_close(client);
}

static void test_worker_that_may_not_repair_says_so(void **state)
{
    struct theatre *t = *state;
    say(t, "ACL SETUSER default -hscan");
    culex_uuid id = right_lost_and_back(t);
    log_await(t, "culex_client_fsck does it");
    log_await(t, "HSCAN");
    assert_done_once(t->server.url, id);
    worker_finish(t);
}

static void noauth_begin(struct theatre *t)
{
    say(t, "CONFIG SET requirepass s3cret");
    say(t, "CLIENT KILL TYPE normal");
}

static void noauth_end(struct theatre *t)
{
    say(t, "CONFIG SET requirepass %s", "");
}

static void test_noauth_is_waited_out(void **state)
{
    struct theatre *t = *state;
    play(t, t->server.url,
         &(struct trouble){"NOAUTH", "user:password@", CULEX_EDENIED, noauth_begin, noauth_end});
}

static void wrongpass_begin(struct theatre *t)
{
    say(t, "ACL SETUSER ann resetpass >another");
    say(t, "CLIENT KILL TYPE normal");
}

static void wrongpass_end(struct theatre *t)
{
    say(t, "ACL SETUSER ann >hunter2");
}

static void test_wrongpass_is_waited_out_and_never_shown(void **state)
{
    struct theatre *t = *state;
    char url[192];
    say(t, "ACL SETUSER ann on >hunter2 ~* &* +@all");
    snprintf(url, sizeof url, "%s?user=ann&password=hunter2", t->server.url);
    play(t, url,
         &(struct trouble){"WRONGPASS", "is wrong", CULEX_OK, wrongpass_begin, wrongpass_end});
    assert_null(strstr(t->log, "hunter2"));
}

static void maxclients_begin(struct theatre *t)
{
    say(t, "CONFIG SET maxclients 1");
    say(t, "CLIENT KILL TYPE normal");
}

static void maxclients_end(struct theatre *t)
{
    say(t, "CONFIG SET maxclients 100");
}

static void test_max_clients_is_waited_out(void **state)
{
    struct theatre *t = *state;
    play(t, t->server.url,
         &(struct trouble){"max number of clients", "raise maxclients", CULEX_EBUSY,
                           maxclients_begin, maxclients_end});
}

static void *loading_witness(void *arg)
{
    struct theatre *t = arg;
    for (int i = 0; i < WAIT_TURNS; i++) {
        struct culex_store *store = NULL;
        culex_error error = {.text = ""};
        culex_queue_stats stats;
        if (culex__store_open(t->server.url, NULL, culex__env_system(), &store, &error) ==
            CULEX_OK) {
            culex_status status = store->ops->stats(store, "numbers", &stats, &error);
            store->ops->close(store);
            if (status == CULEX_EBUSY && strstr(error.text, "LOADING") != NULL &&
                strstr(error.text, "reading its data") != NULL)
                return t;
        }
        pause_short();
    }
    return NULL;
}

/* 3000 keys that take a millisecond each to load; meanwhile whoever asks is told so. The worker's
 * first line may be about the moment before, in which nobody listens. The server would end with
 * the thread that starts it, so the witness gets a thread of its own. */
static void loading_begin(struct theatre *t)
{
    pthread_t thread;
    void *told = NULL;
    for (int i = 0; i < 3000; i++)
        say(t, "SET filler:%d x", i);
    say(t, "SAVE");
    redis_server_kill(&t->server);
    assert_int_equal(pthread_create(&thread, NULL, loading_witness, t), 0);
    bool is_up = redis_server_restart(&t->server); /* returns when it has loaded */
    pthread_join(thread, &told);
    assert_true(is_up);
    direct_open(t);
    assert_non_null(told);
}

static void loading_end(struct theatre *t)
{
    say(t, "PING");
}

static void test_loading_is_waited_out(void **state)
{
    struct theatre *t = *state;
    play(t, t->server.url,
         &(struct trouble){"in trouble", "redis.sock", CULEX_OK, loading_begin, loading_end});
}

static void killed_begin(struct theatre *t)
{
    say(t, "SAVE");
    redis_server_kill(&t->server);
}

static void killed_end(struct theatre *t)
{
    assert_true(redis_server_restart(&t->server));
    direct_open(t);
}

static void test_killed_server_is_waited_out(void **state)
{
    struct theatre *t = *state;
    play(t, t->server.url,
         &(struct trouble){"cannot connect to", "redis.sock", CULEX_ECONNECT, killed_begin,
                           killed_end});
}

/* --- troubles that must not be noticed ------------------------------------------------------ */

static void work(struct theatre *t, unsigned wanted)
{
    culex_uuid id = enqueue_ok(t->server.url);
    count_await(t, &t->done, wanted);
    assert_done_once(t->server.url, id);
}

static void test_noscript_and_client_kill_reach_no_user(void **state)
{
    struct theatre *t = *state;
    worker_start(t, t->server.url);
    for (unsigned i = 1; i <= 20; i++) {
        say(t, "SCRIPT FLUSH");
        if (i % 2 == 0)
            say(t, "CLIENT KILL TYPE normal");
        work(t, i);
    }
    worker_finish(t);
    assert_null(strstr(t->log, "denied"));
}

static void test_oom_refuses_producers_and_lets_workers_drain(void **state)
{
    struct theatre *t = *state;
    culex_client *producer = client_open(t->server.url, 20000);
    culex_uuid ids[4], refused;
    culex_error error;
    for (int i = 0; i < 4; i++)
        ids[i] = enqueue_ok(t->server.url);
    say(t, "CONFIG SET maxmemory 1");
    redisReply *before = redisCommand(t->direct, "DBSIZE");
    assert_int_equal(enqueue(producer, &refused, &error), CULEX_EFULL);
    assert_non_null(strstr(error.text, "raise maxmemory"));
    redisReply *after = redisCommand(t->direct, "DBSIZE");
    assert_int_equal(before->integer, after->integer);
    freeReplyObject(before);
    freeReplyObject(after);
    worker_start(t, t->server.url); /* hello, claims, acks: all of it without memory */
    count_await(t, &t->done, 4);
    for (int i = 0; i < 4; i++)
        assert_done_once(t->server.url, ids[i]);
    say(t, "CONFIG SET maxmemory 0");
    assert_int_equal(enqueue(producer, &refused, &error), CULEX_OK);
    assert_done_once(t->server.url, refused);
    culex_client_close(producer);
    worker_finish(t);
}

/* --- injected troubles ---------------------------------------------------------------------- */

static struct proxy_fault injected;

static void injected_begin(struct theatre *t)
{
    proxy_set(t->proxy, &injected);
}

static void injected_end(struct theatre *t)
{
    proxy_set(t->proxy, NULL);
}

static void inject(struct theatre *t, struct proxy_fault fault, const char *says,
                   const char *advises)
{
    injected = fault;
    play(t, proxy_url(t->proxy),
         &(struct trouble){says, advises, CULEX_OK, injected_begin, injected_end});
}

static void answer(struct theatre *t, const char *text, const char *says, const char *advises)
{
    inject(t, (struct proxy_fault){.action = PROXY_ANSWER, .match = "EVALSHA", .text = text}, says,
           advises);
}

static void test_injected_ask_is_waited_out(void **state)
{
    answer(*state, "-ASK 3999 127.0.0.1:6381\r\n", "ASK", "slot is moving");
}

static void test_injected_garbage_is_waited_out(void **state)
{
    answer(*state, "HTTP/1.1 400 Bad Request\r\n\r\n", "not understood", "Protocol error");
}

static void test_injected_protected_mode_is_waited_out(void **state)
{
    struct theatre *t = *state;
    answer(t, "-DENIED Redis is running in protected mode because it is enabled\r\n", "DENIED",
           "protected mode: give");
}

static void test_black_hole_is_waited_out(void **state)
{
    inject(*state, (struct proxy_fault){.action = PROXY_HOLD, .direction = PROXY_REPLY},
           "timed out", "no answer from");
}

static void test_slow_drip_is_waited_out(void **state)
{
    inject(*state, (struct proxy_fault){.action = PROXY_DRIP, .direction = PROXY_REPLY, .ms = 100},
           "timed out", "no answer from");
}

static void test_half_closed_connection_is_waited_out(void **state)
{
    inject(*state, (struct proxy_fault){.action = PROXY_HALF, .direction = PROXY_REPLY},
           "closed the connection", "no answer from");
}

/* --- one queue of two ---------------------------------------------------------------------- */

static culex_job_type sick_type(void)
{
    culex_job_type type = number_type();
    type.name = type.wire = "t.sick";
    type.queue = "sick";
    return type;
}

/* The end of the lease of the only run that is active in queue "numbers". */
static double lease_end(struct theatre *t)
{
    redisReply *reply = redisCommand(t->direct, "ZRANGE culex:{numbers}:active 0 0 WITHSCORES");
    double end = reply->elements == 2 ? strtod(reply->element[1]->str, NULL) : 0;
    freeReplyObject(reply);
    return end;
}

static void beats_await(struct theatre *t, unsigned wanted)
{
    double before = lease_end(t);
    assert_true(before > 0);
    for (int i = 0; wanted > 0 && i < WAIT_TURNS; i++) {
        double now = lease_end(t);
        wanted -= now > before;
        before = now;
        pause_short();
    }
    assert_int_equal(wanted, 0);
}

static void sleeper_await(struct theatre *t)
{
    for (int i = 0; i < WAIT_TURNS; i++) {
        redisReply *reply = redisCommand(t->direct, "INFO clients");
        bool is_there = strstr(reply->str, "blocked_clients:1") != NULL;
        freeReplyObject(reply);
        if (is_there)
            return;
        pause_short();
    }
    fail_msg("the worker waits for no wake-up");
}

/* A worker of both queues; what it says about "sick" can be answered in the server's place. */
static void worker_start_beside_sick(struct theatre *t, int64_t lease_ms)
{
    const culex_worker_options options = {.url = proxy_url(t->proxy),
                                          .name = "w",
                                          .concurrency = 2,
                                          .isolation = CULEX_ISOLATION_NONE,
                                          .lease_ms = lease_ms};
    static culex_job_type well, sick;
    culex_error error;
    well = number_type();
    sick = sick_type();
    if (culex_worker_create(&options, &t->worker, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    culex__worker_set_sink(t->worker, (struct culex_log_sink){.write = sink, .self = t});
    assert_int_equal(culex_worker_register(t->worker, &well, act, number_handler, t), CULEX_OK);
    assert_int_equal(culex_worker_register(t->worker, &sick, act, number_handler, t), CULEX_OK);
    assert_int_equal(pthread_create(&t->thread, NULL, worker_main, t), 0);
}

static void sicken(struct theatre *t, const char *match)
{
    proxy_set(t->proxy, &(struct proxy_fault){.action = PROXY_ANSWER,
                                              .match = match,
                                              .text = "-TRYAGAIN Multiple keys request during "
                                                      "rehashing of slot\r\n"});
}

/* Injected: every step of queue "sick" is answered by TRYAGAIN. The other queue's run keeps its
 * lease far beyond its first length, and the worker sleeps until it is woken as ever. */
static void test_sick_queue_does_not_delay_the_other(void **state)
{
    struct theatre *t = *state;
    culex_uuid held = enqueue_ok(t->server.url);
    hold(t, true);
    worker_start_beside_sick(t, 600);
    count_await(t, &t->started, 1);
    sicken(t, "{sick}:runs");
    log_await(t, "TRYAGAIN");
    beats_await(t, 8);
    sleeper_await(t);
    hold(t, false);
    culex_uuid next = enqueue_ok(t->server.url);
    count_await(t, &t->done, 2);
    assert_done_once(t->server.url, held);
    assert_done_once(t->server.url, next);
    assert_false(log_has(t, "the store is back"));
    proxy_set(t->proxy, NULL);
    log_await(t, "the store is back");
    worker_finish(t);
}

/* Injected: every word about queue "sick" is answered by TRYAGAIN once a run of it has started, so
 * that its end finds no ear. The worker is woken for the other queue meanwhile, not by a look now
 * and then. */
static void test_end_in_a_sick_queue_does_not_keep_the_other_waiting(void **state)
{
    struct theatre *t = *state;
    culex_client *client = client_open(t->server.url, 20000);
    culex_uuid id;
    hold(t, true);
    assert_int_equal(enqueue_to(client, "sick", &id, NULL), CULEX_OK);
    worker_start_beside_sick(t, 60000);
    count_await(t, &t->started, 1);
    sicken(t, "{sick}:");
    hold(t, false);
    log_await(t, "TRYAGAIN");
    for (unsigned i = 0; i < 3; i++) {
        sleeper_await(t);
        assert_int_equal(enqueue(client, &id, NULL), CULEX_OK);
        count_await(t, &t->done, i + 2);
    }
    proxy_set(t->proxy, NULL);
    log_await(t, "the store is back");
    assert_int_equal(enqueue_to(client, "sick", &id, NULL), CULEX_OK);
    count_await(t, &t->done, 5);
    worker_finish(t);
    culex_client_close(client);
}

/* --- life ------------------------------------------------------------------------------------ */

static int theatre_open(void **state)
{
    static const char *const words[] = {"--key-load-delay", "1000",
                                        "--loading-process-events-interval-bytes", "1024", NULL};
    struct theatre *t = calloc(1, sizeof *t);
    *state = t;
    pthread_mutex_init(&t->lock, NULL);
    if (!redis_server_start(&t->server, words))
        return -1;
    direct_open(t);
    t->proxy = proxy_start(t->server.socket);
    return t->proxy != NULL ? 0 : -1;
}

static int theatre_close(void **state)
{
    struct theatre *t = *state;
    redisFree(t->direct);
    proxy_stop(t->proxy);
    redis_server_stop(&t->server);
    pthread_mutex_destroy(&t->lock);
    free(t);
    return 0;
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, theatre_open, theatre_close)
    const struct CMUnitTest tests[] = {
        TEST(test_readonly_replica_is_waited_out),
        TEST(test_masterdown_is_waited_out),
        TEST(test_noreplicas_is_waited_out),
        TEST(test_misconf_is_waited_out),
        TEST(test_busy_script_is_waited_out),
        TEST(test_noperm_in_mid_life_is_waited_out),
        TEST(test_withdrawn_right_is_repaired_afterwards),
        TEST(test_repairs_of_two_queues_take_turns),
        TEST(test_worker_that_may_not_repair_says_so),
        TEST(test_noauth_is_waited_out),
        TEST(test_wrongpass_is_waited_out_and_never_shown),
        TEST(test_max_clients_is_waited_out),
        TEST(test_loading_is_waited_out),
        TEST(test_killed_server_is_waited_out),
        TEST(test_noscript_and_client_kill_reach_no_user),
        TEST(test_oom_refuses_producers_and_lets_workers_drain),
        TEST(test_injected_ask_is_waited_out),
        TEST(test_injected_garbage_is_waited_out),
        TEST(test_injected_protected_mode_is_waited_out),
        TEST(test_black_hole_is_waited_out),
        TEST(test_slow_drip_is_waited_out),
        TEST(test_half_closed_connection_is_waited_out),
        TEST(test_sick_queue_does_not_delay_the_other),
        TEST(test_end_in_a_sick_queue_does_not_keep_the_other_waiting),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
