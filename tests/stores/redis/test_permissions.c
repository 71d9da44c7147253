/* Who may do what. The users are made from the lines of SECURITY.md, word for word; and for each
 * command that the scripts call, a user without it is turned away before anything is changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <culex/claims.h>

#include "store/redis/redis.h"
#include "commands.h"
#include "client/client_private.h"
#include "worker/worker_private.h"
#include "redis_server.h"
#include "world.h"

struct stage {
    struct redis_server server;
    redisContext *direct;
    unsigned done;
    unsigned unlisted; /* warnings of a worker that it is not listed */
};

static const char *security_path;

/* --- the server ------------------------------------------------------------------------------ */

static redisReply *say(struct stage *s, const char *command)
{
    redisReply *reply = redisCommand(s->direct, command);
    assert_non_null(reply);
    if (reply->type == REDIS_REPLY_ERROR)
        fail_msg("%s: %s", command, reply->str);
    return reply;
}

static void tell(struct stage *s, const char *format, const char *argument)
{
    char command[256];
    snprintf(command, sizeof command, format, argument);
    freeReplyObject(say(s, command));
}

static long long keys_count(struct stage *s)
{
    redisReply *reply = say(s, "DBSIZE");
    long long count = reply->integer;
    freeReplyObject(reply);
    return count;
}

/* Every line of SECURITY.md that begins with "ACL SETUSER"; returns how many. */
static int users_make(struct stage *s)
{
    char line[2048];
    int count = 0;
    FILE *file = fopen(security_path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "ACL SETUSER", 11) != 0 || strstr(line, "default") != NULL)
            continue;
        freeReplyObject(say(s, line));
        count++;
    }
    fclose(file);
    return count;
}

static const char *url_of(const struct stage *s, const char *user, const char *password)
{
    static char url[320];
    snprintf(url, sizeof url, "%s?user=%s&password=%s", s->server.url, user, password);
    return url;
}

static culex_client *client_open(struct stage *s, const char *role)
{
    char user[64], password[64];
    culex_client *client = NULL;
    culex_error error;
    snprintf(user, sizeof user, "culex-%s", role);
    snprintf(password, sizeof password, "%s-password", role);
    if (culex_client_open(url_of(s, user, password), NULL, &client, &error) != CULEX_OK)
        fail_msg("%s: %s", role, error.text);
    return client;
}

static struct culex_store *store_open(const char *url)
{
    struct culex_store *store = NULL;
    culex_error error;
    if (culex__store_open(url, NULL, culex__env_system(), &store, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return store;
}

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        culex_error call_error = {.code = CULEX_OK};                                               \
        if ((call) != CULEX_OK)                                                                    \
            fail_msg("%s: %s", culex_status_name(call_error.code), call_error.text);               \
    } while (0)

static culex_uuid enqueue(culex_client *client)
{
    const culex_job_type type = number_type();
    const struct number params = {1};
    culex_uuid id;
    assert_ok(culex_client_enqueue(client, &type, &params, NULL, &id, &call_error));
    return id;
}

/* --- the document ---------------------------------------------------------------------------- */

static culex_outcome act(culex_run *run, culex_handler_fn handler, const void *params, void *user)
{
    struct stage *s = user;
    (void)handler;
    (void)params;
    s->done++;
    return s->done == 1 ? CULEX_DONE : culex_run_discard(run, "enough");
}

static void log_look(void *self, const char *line, size_t len)
{
    static const char wanted[] = "not listed in its store, and takes no orders";
    struct stage *s = self;
    s->unlisted += memmem(line, len, wanted, sizeof wanted - 1) != NULL;
}

static void worker_drain(struct stage *s)
{
    const culex_job_type type = number_type();
    culex_worker_options options = {.name = "w", .concurrency = 1, .drain = true};
    culex_worker *worker = NULL;
    options.isolation = CULEX_ISOLATION_NONE;
    options.url = url_of(s, "culex-worker", "worker-password");
    assert_ok(culex_worker_create(&options, &worker, &call_error));
    culex__worker_set_sink(worker, (struct culex_log_sink){.write = log_look, .self = s});
    assert_int_equal(culex_worker_register(worker, &type, act, number_handler, s), CULEX_OK);
    assert_ok(culex_worker_run(worker, &call_error));
    culex_worker_free(worker);
}

static bool visit_run(const culex_run_info *run, void *user)
{
    (void)run;
    ++*(unsigned *)user;
    return true;
}

static bool visit_schema(const culex_live_schema *schema, void *user)
{
    *(uint64_t *)user += schema->runs;
    return true;
}

static bool visit_queue(const char *name, void *user)
{
    assert_string_equal(name, "numbers");
    ++*(unsigned *)user;
    return true;
}

static void operate(culex_client *client, culex_uuid dead, culex_uuid waiting)
{
    culex_queue_stats stats;
    culex_doctor_report *report = NULL;
    unsigned runs = 0, queues = 0;
    culex_list_cursor cursor = {.place = 0};
    size_t deleted;
    assert_ok(culex_client_stats(client, "numbers", &stats, &call_error));
    assert_ok(culex_client_queues(client, visit_queue, &queues, &call_error));
    assert_ok(culex_client_list(client, "numbers", CULEX_RUN_DEAD, &cursor, 0, visit_run, &runs,
                                &call_error));
    assert_int_equal(runs, 1);
    assert_int_equal(queues, 1);
    uint64_t live = 0;
    assert_ok(culex_client_live(client, NULL, false, visit_schema, &live, &call_error));
    assert_int_equal(live, 2);
    assert_ok(culex_client_pause(client, "numbers", &call_error));
    assert_ok(culex_client_retry(client, "numbers", dead, &call_error));
    assert_ok(culex_client_cancel(client, "numbers", dead, NULL, &call_error));
    assert_ok(culex_client_delete(client, "numbers", dead, &call_error));
    assert_ok(culex_client_cancel(client, "numbers", waiting, NULL, &call_error));
    assert_ok(
        culex_client_purge(client, "numbers", CULEX_RUN_CANCELLED, 10, &deleted, &call_error));
    assert_ok(culex_client_resume(client, "numbers", &call_error));
    assert_ok(culex_client_limit(client, "numbers", 1000, &call_error));
    culex_fsck_counts counts;
    for (int is_repairing = 0; is_repairing < 2; is_repairing++) {
        assert_ok(culex_client_fsck(client, "numbers", is_repairing != 0, &counts, &call_error));
        assert_int_equal(counts.wrong + counts.damaged, 0);
    }
    assert_ok(culex_client_doctor(client, &report, &call_error));
    for (size_t i = 0; i < report->finding_count; i++) {
        assert_string_not_equal(report->findings[i].id, "redis-config");
        assert_string_not_equal(report->findings[i].id, "redis-info");
    }
    culex_doctor_report_free(report);
}

/* A gateway has the rights of a worker. */
static void claim_and_complete(culex_client *client)
{
    const culex_claim_failure at_once = {.has_delay = true};
    culex_claim *claim = NULL;
    culex_claim_pulse pulse;
    char *text = NULL;
    for (int i = 0; i < 3; i++) {
        assert_ok(culex_client_claim(client, "numbers", NULL, &claim, &call_error));
        assert_non_null(claim);
        assert_ok(culex_claim_heartbeat(client, claim->token, NULL, &pulse, &call_error));
        assert_ok(culex_claim_params(client, claim, &text, NULL, &call_error));
        free(text);
        if (i == 0)
            assert_ok(culex_claim_release(client, claim->token, 0, &call_error));
        else if (i == 1)
            assert_ok(culex_claim_fail(client, claim->token, &at_once, &call_error));
        else
            assert_ok(culex_claim_complete(client, claim->token, NULL, 0, &call_error));
        culex_claim_free(claim);
    }
}

static void test_documented_users_suffice_for_their_programs(void **state)
{
    struct stage *s = *state;
    assert_int_equal(users_make(s), 3);
    freeReplyObject(say(s, "SCRIPT FLUSH")); /* so that each loads its scripts itself */
    culex_client *producer = client_open(s, "producer");
    enqueue(producer);
    culex_uuid second = enqueue(producer);
    worker_drain(s);
    assert_int_equal(s->done, 2);
    enqueue(producer);
    culex_client *gateway = client_open(s, "worker");
    claim_and_complete(gateway);
    culex_client_close(gateway);
    culex_uuid third = enqueue(producer);
    culex_run_info *run = NULL;
    assert_ok(culex_client_get(producer, "numbers", second, &run, &call_error));
    assert_int_equal(run->state, CULEX_RUN_DEAD);
    culex_run_info_free(run);
    freeReplyObject(say(s, "SCRIPT FLUSH"));
    culex_client *operator= client_open(s, "operator");
    operate(operator, second, third);
    culex_client_close(operator);
    culex_client_close(producer);
}

static struct culex_new_run new_run(void)
{
    return (struct culex_new_run){.job = "j",
                                  .attempts_max = 1,
                                  .keep_success_ms = 1000,
                                  .keep_failure_ms = 1000,
                                  .tags = "",
                                  .payload = "{}",
                                  .payload_len = 2};
}

/* The registry of workers is in no queue. Without it a worker works, but is not listed. */
static void test_users_of_one_queue_reach_no_other_and_workers_need_the_registry(void **state)
{
    struct stage *s = *state;
    users_make(s);
    for (int is_listed = 1; is_listed >= 0; is_listed--) {
        static const char *const roles[] = {"producer", "worker"};
        for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
            tell(s, "ACL SETUSER culex-%s resetkeys ~culex:queues ~culex:{numbers}:*", roles[i]);
        if (is_listed)
            tell(s, "ACL SETUSER culex-%s ~culex:{#}:*", "worker");
        culex_client *producer = client_open(s, "producer");
        enqueue(producer);
        culex_client_close(producer);
        s->done = s->unlisted = 0;
        worker_drain(s);
        assert_int_equal(s->done, 1);
        assert_int_equal(s->unlisted, !is_listed);
    }
    struct culex_store *store = store_open(url_of(s, "culex-producer", "producer-password"));
    struct culex_new_run run = new_run();
    struct culex_enqueue_result result;
    culex_error error;
    assert_int_equal(store->ops->enqueue(store, "other", NULL, &run, 1, &result, &error),
                     CULEX_EDENIED);
    store->ops->close(store);
}

static void test_producer_cannot_claim_cancel_or_delete(void **state)
{
    struct stage *s = *state;
    users_make(s);
    culex_client *producer = client_open(s, "producer");
    culex_uuid id = enqueue(producer);
    long long keys = keys_count(s);
    culex_error error;
    size_t count;
    int64_t now_ms;
    struct culex_store *store = store_open(url_of(s, "culex-producer", "producer-password"));
    assert_int_equal(
        store->ops->hello(store, "numbers", "w", "aaaaaaaaaaaaaaaa", &count, &now_ms, &error),
        CULEX_EDENIED);
    struct culex_step step = {.queue = "numbers",
                              .session = "aaaaaaaaaaaaaaaa",
                              .nonce = 1,
                              .want = 1,
                              .max_bytes = 1000,
                              .lease_ms = 1000};
    struct culex_step_reply reply;
    assert_int_equal(store->ops->step(store, &step, &reply, &error), CULEX_EDENIED);
    store->ops->close(store);
    assert_int_equal(culex_client_cancel(producer, "numbers", id, NULL, &error), CULEX_EDENIED);
    assert_int_equal(culex_client_delete(producer, "numbers", id, &error), CULEX_EDENIED);
    assert_int_equal(culex_client_purge(producer, "numbers", CULEX_RUN_WAITING, 10, &count, &error),
                     CULEX_EDENIED);
    assert_int_equal(culex_client_pause(producer, "numbers", &error), CULEX_EDENIED);
    assert_non_null(strstr(error.text, "SECURITY.md"));
    culex_run_info *run = NULL;
    assert_ok(culex_client_get(producer, "numbers", id, &run, &call_error));
    assert_int_equal(run->state, CULEX_RUN_WAITING);
    assert_int_equal(run->attempt, 0);
    culex_run_info_free(run);
    culex_client_close(producer);
    assert_int_equal(keys_count(s), keys);
}

static void test_only_an_operator_lists_live_schemas(void **state)
{
    static const char *const roles[] = {"producer", "worker"};
    struct stage *s = *state;
    users_make(s);
    culex_client *producer = client_open(s, "producer");
    enqueue(producer);
    culex_client_close(producer);
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        culex_client *client = client_open(s, roles[i]);
        uint64_t live = 0;
        culex_error error;
        assert_int_equal(culex_client_live(client, "numbers", false, visit_schema, &live, &error),
                         CULEX_EDENIED);
        assert_non_null(strstr(error.text, "SECURITY.md"));
        assert_int_equal(live, 0);
        culex_client_close(client);
    }
}

static void test_nobody_flushes_configures_or_leaves_the_prefix(void **state)
{
    static const char *const roles[] = {"producer", "worker", "operator"};
    static const char *const commands[] = {"FLUSHALL",
                                           "FLUSHDB",
                                           "CONFIG SET maxmemory 1",
                                           "SCRIPT FLUSH",
                                           "KEYS *",
                                           "SCAN 0",
                                           "ACL LIST",
                                           "ACL SETUSER x on",
                                           "MONITOR",
                                           "REPLICAOF NO ONE",
                                           "DEBUG SLEEP 0",
                                           "CLIENT KILL TYPE normal",
                                           "SAVE",
                                           "SET culex:{q}:x 1",
                                           "GET other",
                                           "HSET other f 1",
                                           "HGET other f",
                                           "LLEN culexx",
                                           "UNLINK other",
                                           "PUBLISH c m",
                                           "SUBSCRIBE c",
                                           "EVAL return{redis.call('hset',KEYS[1],'f',1)} 1 other",
                                           "EVAL return{redis.call('flushall')} 0"};
    struct stage *s = *state;
    users_make(s);
    freeReplyObject(say(s, "HSET other g 1"));
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        redisContext *context = redisConnectUnix(s->server.socket);
        redisReply *reply = redisCommand(context, "AUTH culex-%s %s-password", roles[i], roles[i]);
        assert_string_equal(reply->str, "OK");
        freeReplyObject(reply);
        for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++) {
            reply = redisCommand(context, commands[k]);
            assert_non_null(reply);
            if (reply->type != REDIS_REPLY_ERROR)
                fail_msg("%s may %s", roles[i], commands[k]);
            freeReplyObject(reply);
        }
        redisFree(context);
    }
    assert_int_equal(keys_count(s), 1);
}

/* --- every command --------------------------------------------------------------------------- */

static void assert_denied(const struct stage *s, culex_status status, const culex_error *error,
                          const char *verb, const char *command)
{
    (void)s;
    if (status != CULEX_EDENIED || strcasestr(error->text, command) == NULL)
        fail_msg("%s without %s: %s %s", verb, command, culex_status_name(status),
                 status != CULEX_OK ? error->text : "");
}

static struct culex_store *without(struct stage *s, const char *command)
{
    tell(s, "ACL SETUSER bob reset on >pw ~* &* +@all -%s", command);
    return store_open(url_of(s, "bob", "pw"));
}

static void test_permission_worker_is_refused_without_each_command(void **state)
{
    struct stage *s = *state;
    struct commands commands = {.count = 0};
    commands_collect(&commands, &culex__redis_script_hello);
    commands_collect(&commands, &culex__redis_script_step);
    commands_collect(&commands, &culex__redis_script_tick);
    command_add(&commands, "blpop");
    command_add(&commands, "evalsha");
    assert_true(commands.count > 20);
    for (size_t i = 0; i < commands.count; i++) {
        struct culex_store *store = without(s, commands.names[i]);
        culex_error error;
        size_t released;
        int64_t now_ms;
        culex_status status =
            store->ops->hello(store, "q", "w", "aaaaaaaaaaaaaaaa", &released, &now_ms, &error);
        assert_denied(s, status, &error, "hello", commands.names[i]);
        store->ops->close(store);
        assert_int_equal(keys_count(s), 0);
    }
    printf("%zu commands\n", commands.count);
}

static void test_permission_producer_is_refused_without_each_command(void **state)
{
    struct stage *s = *state;
    struct commands commands = {.count = 0};
    commands_collect(&commands, &culex__redis_script_enqueue);
    commands_collect(&commands, &culex__redis_script_enqueue_plain);
    assert_true(commands.count > 10);
    for (size_t i = 0; i < commands.count; i++) {
        struct culex_store *store = without(s, commands.names[i]);
        struct culex_new_run run = new_run();
        struct culex_enqueue_result result;
        culex_error error;
        culex_status status = store->ops->enqueue(store, "q", NULL, &run, 1, &result, &error);
        assert_denied(s, status, &error, "enqueue", commands.names[i]);
        store->ops->close(store);
        assert_int_equal(keys_count(s), 0);
    }
}

/* Operators' verbs, each on a handle that has done nothing else. */
static culex_status operate_once(struct culex_store *store, size_t verb, culex_uuid id,
                                 culex_error *error)
{
    culex_run_state state;
    struct culex_fsck_reply checked;
    struct culex_purge_reply purged;
    switch (verb) {
    case 0:
        return store->ops->cancel(store, "q", id, &state, error);
    case 1:
        return store->ops->retry(store, "q", id, error);
    case 2:
        return store->ops->forget(store, "q", id, error);
    case 3:
        return store->ops->purge(store, "q", CULEX_RUN_WAITING, 10, &purged, error);
    case 4:
        return store->ops->fsck(store, "q", 0, true, &checked, error);
    default:
        return store->ops->pause(store, "q", true, error);
    }
}

static void test_permission_operator_is_refused_without_each_command(void **state)
{
    static const struct culex__redis_script *const scripts[] = {
        &culex__redis_script_cancel, &culex__redis_script_retry, &culex__redis_script_forget,
        &culex__redis_script_purge,  &culex__redis_script_fsck,  &culex__redis_script_pause};
    static const char *const names[] = {"cancel", "retry", "delete", "purge", "fsck", "pause"};
    struct stage *s = *state;
    struct culex_store *owner = store_open(s->server.url);
    struct culex_new_run run = new_run();
    struct culex_enqueue_result result;
    assert_ok(owner->ops->enqueue(owner, "q", NULL, &run, 1, &result, &call_error));
    for (size_t verb = 0; verb < sizeof scripts / sizeof scripts[0]; verb++) {
        struct commands commands = {.count = 0};
        commands_collect(&commands, scripts[verb]);
        for (size_t i = 0; i < commands.count; i++) {
            struct culex_store *store = without(s, commands.names[i]);
            culex_error error;
            culex_status status = operate_once(store, verb, result.id, &error);
            assert_denied(s, status, &error, names[verb], commands.names[i]);
            store->ops->close(store);
        }
    }
    culex_queue_stats stats;
    assert_ok(owner->ops->stats(owner, "q", &stats, &call_error));
    assert_int_equal(stats.count[CULEX_RUN_WAITING], 1);
    owner->ops->close(owner);
}

/* A right that is lost between two connections is noticed on the second one. */
static void test_permission_is_asked_again_on_a_new_connection(void **state)
{
    struct stage *s = *state;
    struct culex_store *store = without(s, "flushall");
    struct culex_new_run run = new_run();
    struct culex_enqueue_result result;
    culex_run_state after;
    culex_error error;
    assert_ok(store->ops->enqueue(store, "q", NULL, &run, 1, &result, &call_error));
    assert_ok(store->ops->pause(store, "q", false, &call_error)); /* all is tried by now */
    /* A cancel without ZADD would take the run off its queue and put it nowhere. */
    tell(s, "ACL SETUSER bob -%s", "zadd");
    freeReplyObject(say(s, "CLIENT KILL TYPE normal"));
    culex_status status = store->ops->cancel(store, "q", result.id, &after, &error);
    assert_denied(s, status, &error, "cancel", "zadd");
    tell(s, "ACL SETUSER bob +%s", "zadd");
    assert_ok(store->ops->cancel(store, "q", result.id, &after, &call_error));
    assert_int_equal(after, CULEX_RUN_CANCELLED);
    store->ops->close(store);
}

/* --- life ------------------------------------------------------------------------------------ */

static struct stage stage;

static int group_open(void **state)
{
    (void)state;
    if (!redis_server_start(&stage.server, NULL))
        return -1;
    stage.direct = redisConnectUnix(stage.server.socket);
    return stage.direct != NULL && stage.direct->err == 0 ? 0 : -1;
}

static int group_close(void **state)
{
    (void)state;
    redisFree(stage.direct);
    redis_server_stop(&stage.server);
    return 0;
}

static int stage_open(void **state)
{
    freeReplyObject(redisCommand(stage.direct, "FLUSHALL"));
    stage.done = 0;
    *state = &stage;
    return 0;
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup(name, stage_open)
    const struct CMUnitTest tests[] = {
        TEST(test_documented_users_suffice_for_their_programs),
        TEST(test_users_of_one_queue_reach_no_other_and_workers_need_the_registry),
        TEST(test_producer_cannot_claim_cancel_or_delete),
        TEST(test_only_an_operator_lists_live_schemas),
        TEST(test_nobody_flushes_configures_or_leaves_the_prefix),
        TEST(test_permission_worker_is_refused_without_each_command),
        TEST(test_permission_producer_is_refused_without_each_command),
        TEST(test_permission_operator_is_refused_without_each_command),
        TEST(test_permission_is_asked_again_on_a_new_connection),
    };
    if (argc < 2)
        return 2;
    security_path = argv[1];
    return cmocka_run_group_tests(tests, group_open, group_close);
}
