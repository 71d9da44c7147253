/* How a store is opened: default, variable, URL and program, in this order, for whoever opens one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "redis_server.h"
#include "settings/storesettings.h"
#include "world.h"

static const char *const variables[] = {"CULEX_PREFIX", "CULEX_STORE_TIMEOUT", "CULEX_SYNCHRONOUS",
                                        "CULEX_URL"};

static int setup(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    return 0;
}

static void variables_set(const char *prefix, const char *timeout, const char *synchronous)
{
    setup(NULL);
    if (prefix != NULL)
        setenv("CULEX_PREFIX", prefix, 1);
    if (timeout != NULL)
        setenv("CULEX_STORE_TIMEOUT", timeout, 1);
    if (synchronous != NULL)
        setenv("CULEX_SYNCHRONOUS", synchronous, 1);
}

/* --- the rule -------------------------------------------------------------------------------- */

static void test_later_source_wins(void **state)
{
    (void)state;
    static const struct {
        const char *prefix, *timeout, *synchronous; /* variables */
        const char *url;
        culex_client_options told;
        struct culex_store_settings expected;
    } rows[] = {
        {NULL, NULL, NULL, "redis://h", {0}, {"culex", 5000, "full"}},
        {"shop", "2s", "off", "redis://h", {0}, {"shop", 2000, "off"}},
        {"shop",
         "2s",
         NULL,
         "redis://h?prefix=mall&store-timeout=300ms",
         {0},
         {"mall", 300, "full"}},
        {"shop", "2s", NULL, "redis://h/1?prefix=a%3Ab", {.prefix = "x"}, {"x", 2000, "full"}},
        {NULL, NULL, NULL, "redis+unix:///s?db=2&prefix=a%20b", {0}, {"a b", 5000, "full"}},
        {NULL, NULL, NULL, "redis://h?store-timeout=1m", {.timeout_ms = 70}, {"culex", 70, "full"}},
        {NULL, NULL, "off", "sqlite:x.db?synchronous=normal", {0}, {"culex", 5000, "normal"}},
        {NULL, NULL, NULL, "sqlite:x.db?reserve=0&synchronous=off", {0}, {"culex", 5000, "off"}},
        {NULL,
         NULL,
         NULL,
         "sqlite:x?synchronous=off",
         {.synchronous = "full"},
         {"culex", 5000, "full"}},
        {"shop", NULL, NULL, "sqlite:x.db?store-timeout=1s", {0}, {"shop", 1000, "full"}},
        {NULL, NULL, NULL, "memory:m?store-timeout=1s", {0}, {"culex", 1000, "full"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct culex_store_settings settings;
        culex_error error = {0};
        variables_set(rows[i].prefix, rows[i].timeout, rows[i].synchronous);
        if (culex__store_settings_read(rows[i].url, &rows[i].told, &settings, &error) != CULEX_OK)
            fail_msg("%s: %s", rows[i].url, error.text);
        assert_string_equal(settings.prefix, rows[i].expected.prefix);
        assert_int_equal(settings.timeout_ms, rows[i].expected.timeout_ms);
        assert_string_equal(settings.synchronous, rows[i].expected.synchronous);
    }
}

static void expect_refused(const char *url, const culex_client_options *told, culex_status status,
                           const char *text)
{
    culex_client *client = NULL;
    culex_error error = {0};
    assert_int_equal(culex_client_open(url, told, &client, &error), status);
    assert_null(client);
    assert_int_equal(error.code, status);
    if (strstr(error.text, text) == NULL)
        fail_msg("%s: '%s' does not say '%s'", url, error.text, text);
    assert_null(strstr(error.text, "hunter2"));
}

static void expect_opened(const char *url)
{
    culex_client *client = NULL;
    culex_error error = {0};
    if (culex_client_open(url, NULL, &client, &error) != CULEX_OK)
        fail_msg("%s: %s", url, error.text);
    culex_client_close(client);
}

static void test_wrong_parameter_is_refused_with_what_to_write(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"sqlite:x?prefix=shop", "'prefix' means nothing to sqlite:, leave it out; it takes "
                                 "synchronous, store-timeout, reserve, accept-network"},
        {"memory:m?synchronous=off", "'synchronous' means nothing to memory:"},
        {"redis://h?synchronous=off", "'synchronous' means nothing to redis://"},
        {"redis://h?db=1", "'db' means nothing to redis://"},
        {"redis://:hunter2@h?prefx=shop", "unknown parameter 'prefx', did you mean 'prefix'?"},
        {"sqlite:x?timeout=1s", "unknown parameter 'timeout'"},
        {"redis://h?prefix=a&prefix=b", "'prefix' stands there twice; leave one"},
        {"sqlite:x?synchronous=often", "synchronous: 'often' is not one of: full, normal, off"},
        {"sqlite:x?store-timeout=5", "store-timeout: '5' is not a time from 10ms"},
        {"redis://h?prefix=", "prefix: the value is empty"},
        {"redis://h?prefix=%7Bx%7D", "store URL: prefix: the name of a key prefix holds"},
        {"sqlite:x?synchronous", "write name=value"},
        {"sqlite:x?reserve=2", "reserve must be a number of 0 to 1"},
        {"memory:m?", NULL},
    };
    for (size_t i = 0; rows[i][1] != NULL; i++)
        expect_refused(rows[i][0], NULL, CULEX_EURL, rows[i][1]);
}

/* What a script or a file adds to a path would be another file, made in silence. */
static void test_path_with_what_a_script_adds_is_refused(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"sqlite:x\r", "the control character 0x0D at position 9"},
        {"sqlite:x\n", "the control character 0x0A at position 9"},
        {"sqlite:a\tb/x", "the control character 0x09 at position 9"},
        {"sqlite:x?reserve=0\r", "the control character 0x0D at position 19"},
        {"memory:x\x7f", "the control character 0x7F at position 9"},
        {"sqlite:x ", "the path ends with a blank"},
        {"sqlite:x ?reserve=0", "the path ends with a blank"},
        {"sqlite: x", "the path begins with a blank"},
        {"memory:x ", "the path ends with a blank"},
        {"sqlite:\"x\"", "the path stands in quotes"},
        {"sqlite:'x'?reserve=0", "the path stands in quotes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_refused(rows[i][0], NULL, CULEX_EURL, rows[i][1]);
    static const char *const fine[] = {"memory:a b", "memory:it's", "memory:'", "memory:\xc3\xa9"};
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++)
        expect_opened(fine[i]);
}

/* The password would become a part of the prefix, in the name of every key. */
static void test_password_goes_into_no_parameter(void **state)
{
    (void)state;
    setenv("CULEX_PASSWORD", "hunter2", 1);
    expect_refused("redis://h?prefix=a@b", NULL, CULEX_EURL, "an '@' behind '?'; write %40");
    expect_refused("redis://h:1?prefix=a@b", NULL, CULEX_EURL, "an '@' behind '?'");
    unsetenv("CULEX_PASSWORD");
}

/* Whoever would win over it. */
static void test_wrong_variable_is_refused(void **state)
{
    (void)state;
    const culex_client_options told = {.prefix = "x", .timeout_ms = 10, .synchronous = "off"};
    variables_set(NULL, NULL, "often");
    expect_refused("memory:m", &told, CULEX_EUSAGE, "CULEX_SYNCHRONOUS: 'often' is not one of");
    variables_set(NULL, "5", NULL);
    expect_refused("memory:m", &told, CULEX_EUSAGE, "CULEX_STORE_TIMEOUT: '5' is not a time");
    variables_set("", NULL, NULL);
    expect_refused("memory:m", &told, CULEX_EUSAGE, "CULEX_PREFIX is set but empty");
    variables_set("a|b", NULL, NULL);
    expect_refused("memory:m", &told, CULEX_EUSAGE, "CULEX_PREFIX: the name of a key prefix");
}

/* Only where the default would count, and of a store that has a use for it. */
static void test_misspelt_variable_is_refused(void **state)
{
    (void)state;
    static const char *const rows[][4] = {
        {"CULEX_PREFX", "redis://h", "redis://h?prefix=a",
         "prefix is not given, but the variable CULEX_PREFX is set, which means nothing; did you "
         "mean CULEX_PREFIX?"},
        {"CULEX_STORE_TIMOUT", "memory:m", "memory:m?store-timeout=1s",
         "did you mean CULEX_STORE_TIMEOUT?"},
        {"CULEX_SYNCHRONOS", "sqlite:/nowhere/x", "sqlite:/nowhere/x?synchronous=off",
         "did you mean CULEX_SYNCHRONOUS?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct culex_store_settings settings;
        const culex_client_options all = {.prefix = "x", .timeout_ms = 10, .synchronous = "off"};
        setenv(rows[i][0], "hunter2", 1);
        expect_refused(rows[i][1], NULL, CULEX_EUSAGE, rows[i][3]);
        assert_int_equal(culex__store_settings_read(rows[i][1], &all, &settings, NULL), CULEX_OK);
        assert_int_equal(
            culex__store_settings_read(rows[i][2], &(culex_client_options){0}, &settings, NULL),
            CULEX_OK);
        unsetenv(rows[i][0]);
    }
    setenv("CULEX_PREFX", "shop", 1);
    expect_opened("memory:m");
    unsetenv("CULEX_PREFX");
    setenv("CULEX_SYNCHRONOS", "off", 1);
    expect_opened("memory:m");
    unsetenv("CULEX_SYNCHRONOS");
}

static void test_wrong_option_is_refused(void **state)
{
    (void)state;
    const culex_client_options braces = {.prefix = "{x}"}, often = {.synchronous = "often"};
    expect_refused("redis://h", &braces, CULEX_EINVAL, "the name of a key prefix holds");
    expect_refused("memory:m", &often, CULEX_EINVAL, "synchronous is \"often\"");
    static const int64_t times[] = {-1, 5, 9, 86400001};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        const culex_client_options told = {.timeout_ms = times[i]};
        const culex_worker_options same = {.url = "memory:m", .store_timeout_ms = times[i]};
        culex_worker *worker = NULL;
        expect_refused("memory:m", &told, CULEX_EINVAL, "milliseconds, from 10 to 86400000");
        assert_int_equal(culex_worker_create(&same, &worker, NULL), CULEX_EUSAGE);
    }
}

/* --- who opens a store ----------------------------------------------------------------------- */

struct scene {
    struct redis_server server;
    char url[200];
};

static int redis_setup(void **state)
{
    struct scene *scene = *state = calloc(1, sizeof *scene);
    setup(NULL);
    return redis_server_start(&scene->server, NULL) ? 0 : -1;
}

static int redis_teardown(void **state)
{
    struct scene *scene = *state;
    redis_server_stop(&scene->server);
    free(scene);
    return setup(NULL);
}

static bool has_key(const struct scene *scene, const char *key)
{
    redisReply *reply = redis_server_command(&scene->server, "EXISTS %s", key);
    assert_non_null(reply);
    bool is_there = reply->integer == 1;
    freeReplyObject(reply);
    return is_there;
}

static void produce(const char *url)
{
    struct number number = {.n = 1};
    culex_job_type type = number_type();
    culex_client *client;
    culex_error error = {0};
    if (culex_client_open(url, NULL, &client, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(culex_client_enqueue(client, &type, &number, NULL, NULL, &error), CULEX_OK);
    culex_client_close(client);
}

/* It opens the default store itself, under the same prefix as its worker. */
static culex_outcome open_again(culex_run *run, culex_handler_fn handler, const void *params,
                                void *user)
{
    culex_client *client = NULL;
    culex_error error = {0};
    (void)handler;
    (void)params;
    (void)user;
    if (culex_client_open(NULL, NULL, &client, &error) != CULEX_OK)
        return culex_run_discard(run, "%s", error.text);
    culex_client_close(client);
    return CULEX_DONE;
}

static void consume(const char *url, culex_isolation isolation)
{
    culex_job_type type = number_type();
    culex_worker *worker;
    culex_worker_options options = {
        .url = url, .isolation = isolation, .drain = true, .concurrency = 1, .log_level = 1};
    culex_error error = {0};
    assert_int_equal(culex_worker_create(&options, &worker, NULL), CULEX_OK);
    assert_int_equal(culex_worker_register(worker, &type, open_again, number_handler, NULL),
                     CULEX_OK);
    if (culex_worker_run(worker, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    culex_worker_free(worker);
}

static void expect_done(const char *url, const char *prefix, uint64_t done)
{
    const culex_client_options told = {.prefix = prefix};
    culex_queue_stats stats;
    culex_client *client;
    assert_int_equal(culex_client_open(url, &told, &client, NULL), CULEX_OK);
    assert_int_equal(culex_client_stats(client, number_type().queue, &stats, NULL), CULEX_OK);
    assert_int_equal(stats.done, done);
    culex_client_close(client);
}

static void test_producer_and_worker_meet_under_the_variables_prefix(void **state)
{
    struct scene *scene = *state;
    setenv("CULEX_PREFIX", "shop", 1);
    setenv("CULEX_URL", scene->server.url, 1);
    produce(scene->server.url);
    assert_true(has_key(scene, "shop:queues"));
    assert_false(has_key(scene, "culex:queues"));
    consume(scene->server.url, CULEX_ISOLATION_PROCESS);
    produce(NULL);
    consume(NULL, CULEX_ISOLATION_NONE);
    assert_false(has_key(scene, "culex:queues"));
    expect_done(scene->server.url, "shop", 2);
}

static void test_producer_and_worker_meet_under_the_urls_prefix(void **state)
{
    struct scene *scene = *state;
    snprintf(scene->url, sizeof scene->url, "%s?prefix=shop&store-timeout=4s", scene->server.url);
    setenv("CULEX_PREFIX", "mall", 1);
    setenv("CULEX_URL", scene->url, 1);
    produce(NULL);
    consume(NULL, CULEX_ISOLATION_PROCESS);
    produce(scene->url);
    consume(scene->url, CULEX_ISOLATION_NONE);
    assert_false(has_key(scene, "mall:queues"));
    expect_done(scene->server.url, "shop", 2);
}

static const char *synchronous_found(const char *url, const culex_client_options *told)
{
    static char text[200];
    culex_doctor_report *report;
    text[0] = '\0';
    assert_int_equal(culex_doctor(url, told, &report, NULL), CULEX_OK);
    for (size_t i = 0; i < report->finding_count; i++) {
        if (strcmp(report->findings[i].id, "sqlite-synchronous") == 0)
            snprintf(text, sizeof text, "%s", report->findings[i].text);
    }
    culex_doctor_report_free(report);
    return text;
}

static void test_producer_goes_by_the_variable_for_sqlite(void **state)
{
    (void)state;
    char folder[] = "/tmp/culex-settings-XXXXXX", url[64], command[64];
    const culex_client_options off = {.synchronous = "off"};
    assert_non_null(mkdtemp(folder));
    snprintf(url, sizeof url, "sqlite:%s/x.db", folder);
    produce(url);
    assert_non_null(strstr(synchronous_found(url, NULL), "is full"));
    setenv("CULEX_SYNCHRONOUS", "normal", 1);
    assert_non_null(strstr(synchronous_found(url, NULL), "is normal"));
    assert_non_null(strstr(synchronous_found(url, &off), "is off"));
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

#define TEST(name)     cmocka_unit_test_setup_teardown(name, setup, setup)
#define ON_REDIS(name) cmocka_unit_test_setup_teardown(name, redis_setup, redis_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_later_source_wins),
        TEST(test_wrong_parameter_is_refused_with_what_to_write),
        TEST(test_path_with_what_a_script_adds_is_refused),
        TEST(test_password_goes_into_no_parameter),
        TEST(test_wrong_variable_is_refused),
        TEST(test_misspelt_variable_is_refused),
        TEST(test_wrong_option_is_refused),
        ON_REDIS(test_producer_and_worker_meet_under_the_variables_prefix),
        ON_REDIS(test_producer_and_worker_meet_under_the_urls_prefix),
        TEST(test_producer_goes_by_the_variable_for_sqlite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
