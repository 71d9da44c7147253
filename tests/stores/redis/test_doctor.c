/* What the doctor says about servers of every setting: each finding, and the promise. */
#include "fixture.h"

#include <arpa/inet.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proxy.h"

static culex_doctor_report *examine_url(struct fixture *f, const char *url)
{
    f->env.store_clock_ms = NULL; /* the server's clock is looked at too */
    struct culex_store *store = fixture_open(f, url);
    struct culex_report *report = culex__report_create();
    assert_ok(store->ops->doctor(store, report, &call_error));
    store->ops->close(store);
    culex_doctor_report *finished = culex__report_finish(report);
    assert_non_null(finished);
    return finished;
}

static culex_doctor_report *examine(struct fixture *f)
{
    return examine_url(f, f->server.url);
}

static const culex_finding *finding_of(const culex_doctor_report *report, const char *id)
{
    for (size_t i = 0; i < report->finding_count; i++) {
        if (strcmp(report->findings[i].id, id) == 0)
            return &report->findings[i];
    }
    return NULL;
}

static void assert_finding(const culex_doctor_report *report, const char *id,
                           culex_severity severity, const char *says)
{
    const culex_finding *finding = finding_of(report, id);
    char *text = culex_doctor_report_text(report);
    if (finding == NULL || finding->severity != severity || strstr(finding->text, says) == NULL)
        fail_msg("no %s '%s' that says '%s' in\n%s", culex_severity_name(severity), id, says, text);
    if (severity == CULEX_SEVERITY_ERROR || severity == CULEX_SEVERITY_WARNING)
        assert_true(finding->advice[0] != '\0');
    free(text);
}

static void show(const char *title, const culex_doctor_report *report)
{
    char *text = culex_doctor_report_text(report);
    if (getenv("CULEX_SHOW") != NULL)
        printf("--- %s\n%s\n", title, text);
    free(text);
}

/* --- one setting, one finding ------------------------------------------------------------- */

struct row {
    const char *set, *undo; /* what to say to the server; NULL: nothing */
    const char *id;
    culex_severity severity;
    const char *says;
};

static void test_each_setting_has_its_finding(void **state)
{
    static const struct row rows[] = {
        {NULL, NULL, "redis-version", CULEX_SEVERITY_OK, "version"},
        {NULL, NULL, "redis-role", CULEX_SEVERITY_OK, "primary"},
        {NULL, NULL, "redis-tls", CULEX_SEVERITY_OK, "this machine"},
        {NULL, NULL, "redis-replicas", CULEX_SEVERITY_NOTE, "no replica"},
        {NULL, NULL, "redis-latency", CULEX_SEVERITY_OK, "round trip"},
        {NULL, NULL, "redis-appendonly", CULEX_SEVERITY_WARNING, "loses runs"},
        {NULL, NULL, "redis-save", CULEX_SEVERITY_NOTE, "no snapshots"},
        {"SAVE", "", "redis-save", CULEX_SEVERITY_NOTE, "3600 1"},
        {"appendonly yes", "appendonly no", "redis-appendonly", CULEX_SEVERITY_OK, "is on"},
        {"maxmemory-policy volatile-lru", "maxmemory-policy noeviction", "redis-eviction",
         CULEX_SEVERITY_OK, "volatile-lru"},
        {"maxmemory 0", NULL, "redis-maxmemory", CULEX_SEVERITY_NOTE, "no maxmemory"},
        {"maxmemory 1000000000", "maxmemory 0", "redis-maxmemory", CULEX_SEVERITY_OK, "enqueues"},
        {"maxmemory 900000", "maxmemory 0", "redis-maxmemory", CULEX_SEVERITY_WARNING, "%"},
        {"min-replicas-to-write 1", "min-replicas-to-write 0", "redis-min-replicas",
         CULEX_SEVERITY_ERROR, "refused"},
        {"timeout 100", "timeout 0", "redis-timeout", CULEX_SEVERITY_NOTE, "100 s"},
        {"lua-time-limit 0", "lua-time-limit 5000", "redis-lua-time-limit", CULEX_SEVERITY_WARNING,
         "SCRIPT KILL"},
        {"maxclients 6", "maxclients 1000", "redis-clients", CULEX_SEVERITY_WARNING, "of 6"},
        {NULL, NULL, "redis-default-user", CULEX_SEVERITY_NOTE, "no password"},
    };
    struct fixture *f = *state;
    /* Beside the store and the doctor. One place is free, for a connection that is being closed. */
    redisContext *idle[3];
    for (size_t i = 0; i < 3; i++)
        idle[i] = redisConnectUnix(f->server.socket);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        char command[128];
        bool is_save = row->set != NULL && strcmp(row->set, "SAVE") == 0;
        if (is_save) {
            freeReplyObject(redis_server_command(&f->server, "CONFIG SET save %s", "3600 1"));
        } else if (row->set != NULL) {
            snprintf(command, sizeof command, "CONFIG SET %s%%s", row->set);
            fixture_say(f, command, "");
        }
        culex_doctor_report *report = examine(f);
        assert_finding(report, row->id, row->severity, row->says);
        culex_doctor_report_free(report);
        if (is_save) {
            freeReplyObject(redis_server_command(&f->server, "CONFIG SET save %s", ""));
        } else if (row->undo != NULL) {
            snprintf(command, sizeof command, "CONFIG SET %s%%s", row->undo);
            fixture_say(f, command, "");
        }
    }
    for (size_t i = 0; i < 3; i++)
        redisFree(idle[i]);
}

/* --- promises ------------------------------------------------------------------------------ */

static void assert_promise(struct fixture *f, const char *title, const char *says)
{
    culex_doctor_report *report = examine(f);
    if (strstr(report->promise, says) == NULL)
        fail_msg("%s: %s", title, report->promise);
    show(title, report);
    culex_doctor_report_free(report);
}

static void test_promise_follows_persistence(void **state)
{
    struct fixture *f = *state;
    assert_promise(f, "nothing", "loses every run");
    freeReplyObject(redis_server_command(&f->server, "CONFIG SET save %s", "3600 1"));
    assert_promise(f, "snapshots", "since the last snapshot");
    fixture_say(f, "CONFIG SET appendonly %s", "yes");
    assert_promise(f, "everysec", "about the last 2 s");
    fixture_say(f, "CONFIG SET appendfsync %s", "always");
    assert_promise(f, "always", "a power cut, on a disk that does not lie");
    fixture_say(f, "CONFIG SET appendfsync %s", "no");
    assert_promise(f, "no sync", "half a minute");
    culex_doctor_report *report = examine(f);
    assert_finding(report, "redis-appendfsync", CULEX_SEVERITY_WARNING, "appendfsync is no");
    culex_doctor_report_free(report);
    fixture_say(f, "CONFIG SET no-appendfsync-on-rewrite %s", "yes");
    report = examine(f);
    assert_finding(report, "redis-appendfsync-on-rewrite", CULEX_SEVERITY_WARNING, "synced");
    culex_doctor_report_free(report);
    fixture_say(f, "CONFIG SET no-appendfsync-on-rewrite %s", "no");
    fixture_say(f, "CONFIG SET appendfsync %s", "everysec");
    fixture_say(f, "CONFIG SET appendonly %s", "no");
    freeReplyObject(redis_server_command(&f->server, "CONFIG SET save %s", ""));
}

static void test_replica_is_an_error(void **state)
{
    struct fixture *f = *state;
    fixture_say(f, "REPLICAOF 127.0.0.1 %s", "1");
    culex_doctor_report *report = examine(f);
    fixture_say(f, "REPLICAOF NO %s", "ONE");
    assert_finding(report, "redis-role", CULEX_SEVERITY_ERROR, "replica");
    assert_non_null(strstr(report->promise, "replica"));
    show("replica", report);
    culex_doctor_report_free(report);
}

static void test_eviction_is_an_error_for_who_accepts_it(void **state)
{
    struct fixture *f = *state;
    char url[192];
    fixture_say(f, "CONFIG SET maxmemory-policy %s", "allkeys-lru");
    snprintf(url, sizeof url, "%s?accept-eviction=1", f->server.url);
    culex_doctor_report *report = examine_url(f, url);
    fixture_say(f, "CONFIG SET maxmemory-policy %s", "noeviction");
    assert_finding(report, "redis-eviction", CULEX_SEVERITY_ERROR, "deletes queues");
    culex_doctor_report_free(report);
}

static void test_expire_on_our_keys_is_found(void **state)
{
    struct fixture *f = *state;
    struct culex_new_run run = fixture_run();
    fixture_enqueue(f, &run);
    culex_doctor_report *report = examine(f);
    assert_finding(report, "redis-expire", CULEX_SEVERITY_OK, "1 queue");
    culex_doctor_report_free(report);
    fixture_say(f, "EXPIRE culex:{q}:bodies %s", "1000");
    report = examine(f);
    assert_finding(report, "redis-expire", CULEX_SEVERITY_ERROR, "culex:{q}:bodies");
    culex_doctor_report_free(report);
}

static void test_failed_snapshot_is_found(void **state)
{
    struct fixture *f = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/dump.rdb", f->server.folder);
    assert_int_equal(mkdir(path, 0700), 0);
    fixture_say(f, "BGSAVE%s", "");
    bool is_found = false;
    for (int i = 0; i < 2000 && !is_found; i++) {
        culex_doctor_report *report = examine(f);
        is_found = finding_of(report, "redis-bgsave") != NULL;
        if (is_found)
            assert_finding(report, "redis-bgsave", CULEX_SEVERITY_ERROR, "snapshot failed");
        culex_doctor_report_free(report);
    }
    assert_int_equal(rmdir(path), 0);
    fixture_say(f, "SAVE%s", "");
    assert_true(is_found);
}

/* --- who may ------------------------------------------------------------------------------- */

static void test_denied_info_and_config_are_notes(void **state)
{
    struct fixture *f = *state;
    char url[192];
    fixture_say(f, "ACL SETUSER eve on >pw ~* &* +@all -info -config -acl%s", "");
    snprintf(url, sizeof url, "%s?user=eve&password=pw", f->server.url);
    culex_doctor_report *report = examine_url(f, url);
    fixture_say(f, "ACL DELUSER %s", "eve");
    assert_finding(report, "redis-info", CULEX_SEVERITY_NOTE, "INFO");
    assert_finding(report, "redis-config", CULEX_SEVERITY_NOTE, "CONFIG");
    assert_finding(report, "redis-default-user", CULEX_SEVERITY_NOTE, "unknown");
    assert_non_null(strstr(report->promise, "unknown"));
    show("nothing may be read", report);
    culex_doctor_report_free(report);
}

static void test_right_that_is_lacking_is_named(void **state)
{
    static const struct {
        const char *lacks;
        culex_severity severity;
        const char *says;
    } rows[] = {{"", CULEX_SEVERITY_OK, "may enqueue, run and repair"},
                {"-hscan", CULEX_SEVERITY_OK, "refused: HSCAN"},
                {"-lpop", CULEX_SEVERITY_NOTE, "refused: LPOP"},
                {"-@write", CULEX_SEVERITY_ERROR, "refused: UNLINK"}};
    struct fixture *f = *state;
    char url[192];
    snprintf(url, sizeof url, "%s?user=eve&password=pw", f->server.url);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture_say(f, "ACL SETUSER eve reset on >pw ~* &* +@all %s", rows[i].lacks);
        culex_doctor_report *report = examine_url(f, url);
        assert_finding(report, "redis-rights", rows[i].severity, rows[i].says);
        culex_doctor_report_free(report);
        assert_int_equal(fixture_say(f, "EXISTS culex:{doctor}:%s", "probe"), 0);
    }
    fixture_say(f, "ACL DELUSER %s", "eve");
}

/* The user may do anything. */
static void test_queue_of_another_layout_is_no_lack_of_rights(void **state)
{
    struct fixture *f = *state;
    fixture_say(f, "HSET culex:{q}:meta enqueued 2 layout %s", "2");
    fixture_say(f, "SADD culex:queues %s", "q");
    culex_doctor_report *report = examine(f);
    assert_null(finding_of(report, "redis-rights"));
    assert_finding(
        report, "redis-layout", CULEX_SEVERITY_ERROR,
        "queue q is laid out in another way, so that this user's rights are not known: ");
    assert_finding(report, "redis-layout", CULEX_SEVERITY_ERROR,
                   "the queue is of layout version 2, this program of version 8");
    assert_string_equal(finding_of(report, "redis-layout")->advice,
                        "let programs of that version empty the queue, or choose another prefix");
    show("another layout", report);
    culex_doctor_report_free(report);
}

static void test_password_makes_the_default_user_fine(void **state)
{
    struct fixture *f = *state;
    char url[192];
    fixture_say(f, "ACL SETUSER eve on >pw ~* &* +@all%s", "");
    fixture_say(f, "CONFIG SET requirepass %s", "pw");
    snprintf(url, sizeof url, "%s?user=eve&password=pw", f->server.url);
    culex_doctor_report *report = examine_url(f, url);
    redisContext *context = redisConnectUnix(f->server.socket);
    freeReplyObject(redisCommand(context, "AUTH pw"));
    freeReplyObject(redisCommand(context, "CONFIG SET requirepass %s", ""));
    freeReplyObject(redisCommand(context, "ACL DELUSER eve"));
    redisFree(context);
    assert_finding(report, "redis-default-user", CULEX_SEVERITY_OK, "without a password");
    culex_doctor_report_free(report);
}

/* --- servers of their own -------------------------------------------------------------------- */

static void free_port(char *ret_text, size_t size)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    snprintf(ret_text, size, "%d", (int)ntohs(address.sin_port));
    close(fd);
}

static culex_doctor_report *examine_server(struct fixture *f, const char *const *words)
{
    struct redis_server server;
    assert_true(redis_server_start(&server, words));
    culex_doctor_report *report = examine_url(f, server.url);
    redis_server_stop(&server);
    return report;
}

static void test_server_that_is_open_to_the_world_is_an_error(void **state)
{
    char port[24];
    free_port(port, sizeof port);
    /* It listens on loopback all the same, so that the test opens nothing: "-" excuses the other
     * address, which no machine has. */
    const char *words[] = {"--port",           port, "--bind", "127.0.0.1", "-192.0.2.77",
                           "--protected-mode", "no", NULL};
    culex_doctor_report *report = examine_server(*state, words);
    assert_finding(report, "redis-default-user", CULEX_SEVERITY_ERROR, "192.0.2.77");
    assert_finding(report, "redis-bind", CULEX_SEVERITY_NOTE, port);
    show("open to the world", report);
    culex_doctor_report_free(report);
}

static void test_server_on_loopback_is_only_noted(void **state)
{
    char port[24];
    free_port(port, sizeof port);
    const char *words[] = {"--port", port, "--bind", "127.0.0.1", "::1", NULL};
    culex_doctor_report *report = examine_server(*state, words);
    assert_finding(report, "redis-default-user", CULEX_SEVERITY_NOTE, "no password");
    assert_finding(report, "redis-bind", CULEX_SEVERITY_OK, "own machine");
    culex_doctor_report_free(report);
}

static void test_replicas_without_a_minimum_are_a_warning(void **state)
{
    struct fixture *f = *state;
    struct redis_server primary, replica;
    char port[24];
    free_port(port, sizeof port);
    const char *words[] = {"--port", port, "--bind", "127.0.0.1", "--repl-diskless-sync-delay",
                           "0",      NULL};
    assert_true(redis_server_start(&primary, words));
    assert_true(redis_server_start(&replica, NULL));
    freeReplyObject(redis_server_command(&replica, "REPLICAOF 127.0.0.1 %s", port));
    culex_doctor_report *report = NULL;
    bool is_found = false;
    for (int i = 0; i < 2000 && !is_found; i++) {
        culex_doctor_report_free(report);
        report = examine_url(f, primary.url);
        is_found = finding_of(report, "redis-min-replicas") != NULL;
        usleep(is_found ? 0 : 5000);
    }
    assert_finding(report, "redis-replicas", CULEX_SEVERITY_NOTE, "1 replica");
    assert_finding(report, "redis-min-replicas", CULEX_SEVERITY_WARNING, "cut off");
    assert_non_null(strstr(report->promise, "failover"));
    show("a replica", report);
    culex_doctor_report_free(report);
    freeReplyObject(redis_server_command(&primary, "CONFIG SET min-replicas-to-write 1"));
    report = examine_url(f, primary.url);
    assert_finding(report, "redis-min-replicas", CULEX_SEVERITY_OK, "is 1");
    culex_doctor_report_free(report);
    redis_server_stop(&replica);
    redis_server_stop(&primary);
}

static void test_cluster_is_noted(void **state)
{
    char port[24];
    free_port(port, sizeof port);
    if (strtol(port, NULL, 10) > 55000) /* the cluster's own port is 10000 above */
        snprintf(port, sizeof port, "%ld", strtol(port, NULL, 10) - 20000);
    const char *words[] = {"--port", port, "--bind", "127.0.0.1", "--cluster-enabled", "yes", NULL};
    culex_doctor_report *report = examine_server(*state, words);
    assert_finding(report, "redis-cluster", CULEX_SEVERITY_NOTE, "node");
    culex_doctor_report_free(report);
}

/* --- clocks and versions that no server here has: injected ------------------------------------ */

static culex_doctor_report *examine_injected(struct fixture *f, const char *match, const char *text)
{
    struct proxy *proxy = proxy_start(f->server.socket);
    struct culex_store *store = fixture_open(f, proxy_url(proxy));
    struct culex_report *report = culex__report_create();
    proxy_set(proxy, &(struct proxy_fault){.action = PROXY_ANSWER, .match = match, .text = text});
    assert_ok(store->ops->doctor(store, report, &call_error));
    store->ops->close(store);
    proxy_stop(proxy);
    return culex__report_finish(report);
}

static void test_injected_clock_far_ahead_is_a_warning(void **state)
{
    struct fixture *f = *state;
    f->env.store_clock_ms = NULL;
    culex_doctor_report *report =
        examine_injected(f, "TIME", "*2\r\n$10\r\n4000000000\r\n$1\r\n0\r\n");
    assert_finding(report, "redis-clock", CULEX_SEVERITY_WARNING, "ahead of");
    culex_doctor_report_free(report);
    report = examine(f);
    assert_finding(report, "redis-clock", CULEX_SEVERITY_OK, "ours");
    culex_doctor_report_free(report);
}

static void test_server_that_cannot_write_its_log_is_an_error(void **state)
{
    static const char info[] =
        "redis_version:6.0.16\r\nrole:master\r\naof_enabled:1\r\naof_last_write_status:err\r\n"
        "aof_last_bgrewrite_status:err\r\nrdb_last_bgsave_status:ok\r\nmaxmemory:0\r\n";
    char text[512];
    snprintf(text, sizeof text, "$%zu\r\n%s\r\n", strlen(info), info);
    culex_doctor_report *report = examine_injected(*state, "INFO", text);
    assert_finding(report, "redis-version", CULEX_SEVERITY_ERROR, "6.0.16");
    assert_finding(report, "redis-aof-write", CULEX_SEVERITY_ERROR, "refused");
    assert_finding(report, "redis-aof-rewrite", CULEX_SEVERITY_WARNING, "grow");
    assert_int_equal(report->worst, CULEX_SEVERITY_ERROR);
    culex_doctor_report_free(report);
}

static void test_server_that_goes_away_fails_the_doctor(void **state)
{
    struct fixture *f = *state;
    struct proxy *proxy = proxy_start(f->server.socket);
    culex_status status = CULEX_EUNKNOWN;
    uint64_t k = 0;
    for (; status != CULEX_OK; k += 5) {
        struct culex_store *store = fixture_open(f, proxy_url(proxy));
        struct culex_report *report = culex__report_create();
        proxy_set(proxy, &(struct proxy_fault){.action = PROXY_CUT, .after = k});
        culex_error error;
        status = store->ops->doctor(store, report, &error);
        assert_true(status == CULEX_OK || status == CULEX_EUNKNOWN || status == CULEX_ECONNECT);
        culex__report_free(report);
        store->ops->close(store);
        proxy_set(proxy, NULL);
    }
    assert_true(k > 300);
    proxy_stop(proxy);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_each_setting_has_its_finding),
        TEST(test_promise_follows_persistence),
        TEST(test_replica_is_an_error),
        TEST(test_eviction_is_an_error_for_who_accepts_it),
        TEST(test_expire_on_our_keys_is_found),
        TEST(test_failed_snapshot_is_found),
        TEST(test_denied_info_and_config_are_notes),
        TEST(test_right_that_is_lacking_is_named),
        TEST(test_queue_of_another_layout_is_no_lack_of_rights),
        TEST(test_password_makes_the_default_user_fine),
        TEST(test_server_that_is_open_to_the_world_is_an_error),
        TEST(test_server_on_loopback_is_only_noted),
        TEST(test_replicas_without_a_minimum_are_a_warning),
        TEST(test_cluster_is_noted),
        TEST(test_injected_clock_far_ahead_is_a_warning),
        TEST(test_server_that_cannot_write_its_log_is_an_error),
        TEST(test_server_that_goes_away_fails_the_doctor),
    };
    return cmocka_run_group_tests(tests, fixture_group_setup, fixture_group_teardown);
}
