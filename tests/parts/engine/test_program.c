/* Options, variables, help text, log lines. */
#include <locale.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "log/log.h"
#include "settings/option.h"
#include "settings/settings.h"
#include "settings/value.h"

/* What was written last. */
static char line[65536];
static size_t line_len;

/* --- options -------------------------------------------------------------------------------- */

static const char *variables[8][2];

static const char *variable_get(const char *name)
{
    for (int i = 0; i < 8 && variables[i][0] != NULL; i++) {
        if (strcmp(variables[i][0], name) == 0)
            return variables[i][1];
    }
    return NULL;
}

static culex_status read_words_for(enum culex_program program, const char *const *words,
                                   struct culex_settings *settings, culex_error *error)
{
    char *argv[16] = {(char *)(uintptr_t) "worker"};
    int argc = 1;
    for (; words[argc - 1] != NULL; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    return culex__settings_read(program, argc, argv, variable_get, settings, error);
}

static culex_status read_words(const char *const *words, struct culex_settings *settings,
                               culex_error *error)
{
    return read_words_for(CULEX_PROGRAM_WORKER, words, settings, error);
}

static void test_every_wrong_option_is_named_and_explained(void **state)
{
    (void)state;
    static const struct {
        const char *words[5];
        const char *text;
    } rows[] = {
        {{"--url", "a", "--url=b"}, "--url is given twice, as arguments 1 and 3; leave one"},
        {{"--batch=2", "--drain", "--batch", "2"}, "--batch is given twice, as arguments 1 and 3"},
        {{"--queues=a", "--queues=b"}, "arguments 1 and 2; write one list like a,b"},
        {{"--lease=5x"}, "--lease: '5x' is not a time from 200ms to 1d"},
        {{"--lease=100ms"}, "--lease: '100ms' is not a time from 200ms to 1d"},
        {{"--lease="}, "--lease: '' is not a time"},
        {{"--lease=2d"}, "--lease: '2d' is not a time"},
        {{"--grace=-1s"}, "--grace: '-1s' is not a time from 0ms to 1d"},
        {{"--idle-wait=0"}, "--idle-wait: '0' is not a time from 1ms"},
        {{"--store-timeout=1"}, "--store-timeout: '1' is not a time from 10ms"},
        {{"--concurrency=0"}, "--concurrency: '0' is not a whole number from 1 to 1024"},
        {{"--concurrency=two"}, "--concurrency: 'two' is not a whole number"},
        {{"--concurrency=99999999999999999999"}, "is not a whole number"},
        {{"--batch", "257"}, "--batch: '257' is not a whole number from 1 to 256"},
        {{"--batch", ""}, "--batch: '' is not a whole number"},
        {{"--isolation=fork"}, "--isolation: 'fork' is not one of: none, process, job"},
        {{"--url=redis://:hunter2@host"}, "every user of this machine can read a password"},
        {{"--url=sqlite:a", "--url-file=b"}, "--url and --url-file exclude each other"},
        {{"--url-file="}, "--url-file: the value is empty"},
        {{"--core-dumps=1"}, "--core-dumps takes no value"},
        {{"--log-format=xml"}, "--log-format: 'xml' is not one of: text, json"},
        {{"--log-level=loud"}, "--log-level: 'loud' is not one of: error, warn, info, debug"},
        {{"--synchronous=maybe"}, "--synchronous: 'maybe' is not one of: full, normal, off"},
        {{"--queues=a,,b"}, "--queues: 'a,,b' is not a list of queues"},
        {{"--queues=a b"}, "--queues: 'a b' is not a list of queues"},
        {{"--queues="}, "--queues: '' is not a list of queues"},
        {{"--queues=a,b:2,a@3"},
         "--queues: 'a,b:2,a@3' is not a list of queues like a,b: queue 'a' is"},
        {{"--queues=a:0"}, "--queues: 'a:0' is not a list of queues like a,b: the weight of queue"},
        {{"--queues=a@x"}, "queue 'a' may have 'x' runs at a time"},
        {{"--queues=a.*,b?"}, "queue name 'b?'"},
        {{"--order=random"}, "--order: 'random' is not one of: turns, strict, weighted"},
        {{"--url="}, "--url: the value is empty"},
        {{"--name="}, "--name: the value is empty"},
        {{"--prefix="}, "--prefix: the value is empty"},
        {{"--prefix=a{b}"}, "--prefix: the name of a key prefix holds"},
        {{"--drain=1"}, "--drain takes no value"},
        {{"--url"}, "--url needs a value"},
        {{"--bogus"}, "unknown option '--bogus'; --help lists all"},
        {{"--concurency"}, "unknown option '--concurency', did you mean '--concurrency'? --help"},
        {{"--isolatoin=none"}, "unknown option '--isolatoin', did you mean '--isolation'?"},
        {{"--ulr=redis://:hunter2@host"}, "unknown option '--ulr', did you mean '--url'?"},
        {{"-x"}, "unknown option '-x'"},
        {{"word"}, "unexpected argument 'word'"},
        {{"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="},
         "unexpected argument, which looks like a URL or a key and is not shown"},
        {{"redis://u:hunter2@h/0"},
         "unexpected argument, which looks like a URL or a key and is not shown"},
        {{"u:hunter2@h"}, "unexpected argument, which looks like a URL or a key and is not shown"},
        {{"127.0.0.1:6379"}, "unexpected argument '127.0.0.1:6379'"},
        {{"--concurrency=redis://u:hunter2@h"},
         "--concurrency does not take this value, which looks like a URL or a key and is not "
         "shown"},
        {{"--queues=mail:x@8"}, "the weight of queue 'mail' is 'x', and not"},
        {{"--queues=redis:6379/0"}, "the weight of queue 'redis' is '6379/0'"},
        {{"--config=keys"}, "configuration file keys: No such file or directory"},
        {{"--config=redis://u:hunter2@h"},
         "configuration file (not shown: it looks like a URL or a key): No such file"},
        {{"--u:hunter2@h"}, "unknown option '(not shown: it looks like a URL or a key)'"},
        {{"--name", "word", "-xh"}, "unknown option '-xh'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct culex_settings settings;
        culex_error error = {0};
        assert_int_equal(read_words(rows[i].words, &settings, &error), CULEX_EUSAGE);
        assert_int_equal(error.code, CULEX_EUSAGE);
        if (strstr(error.text, rows[i].text) == NULL)
            fail_msg("'%s' does not say '%s'", error.text, rows[i].text);
        assert_null(strstr(error.text, "hunter2"));
        culex__settings_release(&settings);
    }
}

static void test_every_wrong_variable_is_named(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"CULEX_LEASE", "soon"},      {"CULEX_GRACE", "1y"},       {"CULEX_IDLE_WAIT", "x"},
        {"CULEX_STORE_TIMEOUT", "x"}, {"CULEX_CONCURRENCY", "-1"}, {"CULEX_BATCH", "1.5"},
        {"CULEX_ISOLATION", "fork"},  {"CULEX_LOG_FORMAT", "x"},   {"CULEX_LOG_LEVEL", "4"},
        {"CULEX_SYNCHRONOUS", "x"},   {"CULEX_QUEUES", ","},       {"CULEX_DRAIN", "perhaps"},
        {"CULEX_ORDER", "first"},
    };
    static const char *const none[] = {NULL};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct culex_settings settings;
        culex_error error = {0};
        variables[0][0] = wrong[i][0];
        variables[0][1] = wrong[i][1];
        assert_int_equal(read_words(none, &settings, &error), CULEX_EUSAGE);
        assert_ptr_equal(strstr(error.text, wrong[i][0]), error.text);
        culex__settings_release(&settings);
    }
    variables[0][0] = NULL;
}

static void expect_empty_refused(const char *name, culex_status code)
{
    static const char *const none[] = {NULL};
    struct culex_settings settings;
    culex_error error = {0};
    char text[64];
    variables[0][0] = name;
    variables[0][1] = "";
    snprintf(text, sizeof text, "%s is set but empty", name);
    assert_int_equal(read_words(none, &settings, &error), code);
    if (strstr(error.text, text) != error.text)
        fail_msg("'%s' does not say '%s'", error.text, text);
    culex__settings_release(&settings);
    variables[0][0] = NULL;
}

/* All but the password, which is no option. */
static void test_every_empty_variable_is_named(void **state)
{
    (void)state;
    const char *name;
    for (size_t i = 0; (name = culex__settings_variable(i)) != NULL; i++) {
        bool is_store = strncmp(name, "CULEX_URL", 9) == 0;
        if (strcmp(name, "CULEX_PASSWORD") != 0)
            expect_empty_refused(name, is_store ? CULEX_EURL : CULEX_EUSAGE);
    }
}

static void test_options_win_over_variables_over_defaults(void **state)
{
    (void)state;
    struct culex_settings settings;
    static const char *const words[] = {
        "--lease",        "1.5s", "--queues=a,b", "--log-format=json", "--grace=0",
        "--order=strict", NULL};
    variables[0][0] = "CULEX_LEASE";
    variables[0][1] = "20s";
    variables[1][0] = "CULEX_BATCH";
    variables[1][1] = "8";
    variables[2][0] = "CULEX_DRAIN";
    variables[2][1] = "yes";
    variables[3][0] = "CULEX_QUEUES";
    variables[3][1] = "c";
    assert_int_equal(read_words(words, &settings, NULL), CULEX_OK);
    assert_int_equal(settings.options.lease_ms, 1500);
    assert_int_equal(settings.options.grace_ms, -1);
    assert_int_equal(settings.options.batch, 8);
    assert_int_equal(settings.options.concurrency, 0);
    assert_int_equal(settings.options.log_format, CULEX_LOG_JSON);
    assert_true(settings.options.drain);
    assert_null(settings.options.name);
    assert_int_equal(settings.options.order, CULEX_ORDER_STRICT);
    assert_int_equal(settings.options.queue_count, 2);
    assert_string_equal(settings.options.queues[1], "b");
    culex__settings_release(&settings);
    memset(variables, 0, sizeof variables);
}

static void test_url_on_the_command_line_wins_over_both_variables(void **state)
{
    (void)state;
    struct culex_settings settings;
    culex_error error = {0};
    static const char *const file[] = {"--url-file=there", NULL};
    static const char *const url[] = {"--url=sqlite:there", NULL};
    static const char *const none[] = {NULL};
    variables[0][0] = "CULEX_URL";
    variables[0][1] = "sqlite:here";
    variables[1][0] = "CULEX_URL_FILE";
    variables[1][1] = "here";
    assert_int_equal(read_words(file, &settings, NULL), CULEX_OK);
    assert_null(settings.options.url);
    assert_string_equal(settings.options.url_file, "there");
    culex__settings_release(&settings);
    assert_int_equal(read_words(url, &settings, NULL), CULEX_OK);
    assert_null(settings.options.url_file);
    assert_string_equal(settings.options.url, "sqlite:there");
    culex__settings_release(&settings);
    assert_int_equal(read_words(none, &settings, &error), CULEX_EUSAGE);
    assert_string_equal(error.text, "CULEX_URL and CULEX_URL_FILE exclude each other");
    culex__settings_release(&settings);
    variables[0][1] = variables[1][1] = "";
    assert_int_equal(read_words(url, &settings, NULL), CULEX_OK);
    assert_string_equal(settings.options.url, "sqlite:there");
    culex__settings_release(&settings);
    memset(variables, 0, sizeof variables);
}

static void test_each_isolation_word_is_understood(void **state)
{
    (void)state;
    static const char *const words[][2] = {
        {"--isolation=none", NULL}, {"--isolation=process", NULL}, {"--isolation=job", NULL}};
    for (int i = 0; i < 3; i++) {
        struct culex_settings settings;
        assert_int_equal(read_words(words[i], &settings, NULL), CULEX_OK);
        assert_int_equal(settings.options.isolation, CULEX_ISOLATION_NONE + i);
        culex__settings_release(&settings);
    }
}

static void test_isolation_of_an_embedded_worker_is_not_empty(void **state)
{
    (void)state;
    culex_worker *worker = NULL;
    culex_error error = {0};
    setenv("CULEX_ISOLATION", "", 1);
    assert_int_equal(culex_worker_create(NULL, &worker, &error), CULEX_EUSAGE);
    assert_non_null(strstr(error.text, "CULEX_ISOLATION: '' is not one of"));
    unsetenv("CULEX_ISOLATION");
}

static void test_cgroup_without_processes_is_refused(void **state)
{
    (void)state;
    culex_worker *worker = NULL;
    culex_error error = {0};
    culex_worker_options options = {.cgroup = "/some/group", .isolation = CULEX_ISOLATION_NONE};
    assert_int_equal(culex_worker_create(&options, &worker, &error), CULEX_EUSAGE);
    assert_non_null(strstr(error.text, "with isolation none there are none"));
    options.isolation = CULEX_ISOLATION_JOB;
    assert_int_equal(culex_worker_create(&options, &worker, &error), CULEX_OK);
    culex_worker_free(worker);
}

static void test_name_that_no_text_can_carry_is_refused(void **state)
{
    (void)state;
    char longest[102];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    const char *const names[] = {longest, "mail\xff", "mail\n1", "mail \u202e1"};
    culex_worker *worker = NULL;
    culex_error error = {0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        culex_worker_options options = {.name = names[i]};
        assert_int_equal(culex_worker_create(&options, &worker, &error), CULEX_EUSAGE);
        assert_non_null(strstr(error.text, "name"));
    }
    culex_worker_options options = {.name = longest + 1};
    assert_int_equal(culex_worker_create(&options, &worker, &error), CULEX_OK);
    culex_worker_free(worker);
}

/* It would stand in the first and the last line of each log. */
static void test_name_that_looks_like_a_secret_is_refused(void **state)
{
    static const char *const names[] = {"redis://u:hunter2@h", "u:hunter2@h", "redis:hunter2",
                                        "k1=//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA="};
    static const char *const good[] = {
        "worker@host", "mail on host:6379",
        "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0efeeedecebeae9e8e7e6e5e4e3e2e1e0"};
    culex_worker *worker = NULL;
    culex_error error = {0};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        culex_worker_options options = {.name = names[i]};
        assert_int_equal(culex_worker_create(&options, &worker, &error), CULEX_EUSAGE);
        assert_non_null(strstr(error.text, "name of the worker looks like a key or a URL"));
        assert_null(strstr(error.text, "hunter2"));
    }
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        culex_worker_options options = {.name = good[i]};
        assert_int_equal(culex_worker_create(&options, &worker, &error), CULEX_OK);
        culex_worker_free(worker);
    }
}

static void test_options_of_queues_are_checked(void **state)
{
    (void)state;
    static const struct {
        culex_queue_options rows[2];
        size_t count;
        culex_order order;
        const char *says;
    } cases[] = {
        {{{NULL, 1, 1}}, 1, CULEX_ORDER_DEFAULT, "options of a queue without its name"},
        {{{"two words", 1, 1}}, 1, CULEX_ORDER_DEFAULT, "are allowed"},
        {{{"t w*", 1, 1}}, 1, CULEX_ORDER_DEFAULT, "and '*' for any of them"},
        {{{"mail", 1001, 1}}, 1, CULEX_ORDER_DEFAULT, "queue 'mail': a weight is 1 to 1000"},
        {{{"mail", 1, 1025}}, 1, CULEX_ORDER_DEFAULT, "queue 'mail': concurrency is 1 to 1024"},
        {{{"mail", 1, 1}, {"mail", 2, 1}}, 2, CULEX_ORDER_DEFAULT, "has options twice"},
        {{{"mail", 1, 1}}, 1, CULEX_ORDER_STRICT, "queue 'mail' has a weight, which means nothing"},
    };
    culex_worker *worker = NULL;
    culex_error error = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        culex_worker_options options = {.queue_options = cases[i].rows,
                                        .queue_option_count = cases[i].count,
                                        .order = cases[i].order};
        assert_true(culex_worker_create(&options, &worker, &error) != CULEX_OK);
        assert_non_null(strstr(error.text, cases[i].says));
    }
    culex_worker_options options = {.queue_option_count = 1};
    assert_int_equal(culex_worker_create(&options, &worker, &error), CULEX_EUSAGE);
    assert_string_equal(error.text, "a queue_option_count of 1, and no options");
}

static void test_help_works_whatever_the_variables_say(void **state)
{
    (void)state;
    struct culex_settings settings;
    static const char *const words[] = {"--help", NULL};
    variables[0][0] = "CULEX_LEASE";
    variables[0][1] = "nonsense";
    assert_int_equal(read_words(words, &settings, NULL), CULEX_OK);
    assert_true(settings.wants_help);
    culex__settings_release(&settings);
    variables[0][0] = NULL;
}

/* Free it. */
static char *help_text(enum culex_program program)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    culex__settings_help(out, program, "worker");
    fclose(out);
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1)
        assert_true(strcspn(at, "\n") <= 80);
    return text;
}

static void test_each_program_has_its_own_options(void **state)
{
    (void)state;
    static const char *const live[] = {"--queue=b,a", "--ended", "--prefix=p", "--allow-empty",
                                       NULL};
    static const char *const foreign[][2] = {
        {"--lease", NULL}, {"--queues", NULL}, {"--drain", NULL}, {"--doctor", NULL}};
    static const char *const ended[] = {"--ended", NULL}, *const secret[] = {"--url=redis://:pw@h",
                                                                             NULL};
    struct culex_settings settings;
    culex_error error = {0};
    variables[0][0] = "CULEX_LEASE"; /* none of its business */
    variables[0][1] = "nonsense";
    variables[1][0] = "CULEX_QUEUES";
    variables[1][1] = "c";
    assert_int_equal(read_words_for(CULEX_PROGRAM_LIVE, live, &settings, &error), CULEX_OK);
    assert_int_equal(settings.options.queue_count, 2);
    assert_string_equal(settings.options.prefix, "p");
    assert_true(settings.wants_ended);
    assert_true(settings.allows_empty);
    culex__settings_release(&settings);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        assert_int_equal(read_words_for(CULEX_PROGRAM_LIVE, foreign[i], &settings, &error),
                         CULEX_EUSAGE);
        assert_non_null(strstr(error.text, foreign[i][0]));
        culex__settings_release(&settings);
    }
    assert_int_equal(read_words_for(CULEX_PROGRAM_LIVE, secret, &settings, &error), CULEX_EUSAGE);
    culex__settings_release(&settings);
    variables[0][0] = variables[1][0] = NULL;
    assert_int_equal(read_words(ended, &settings, &error), CULEX_EUSAGE);
    assert_non_null(strstr(error.text, "--ended"));
    culex__settings_release(&settings);

    char *text = help_text(CULEX_PROGRAM_LIVE);
    assert_non_null(strstr(text, "--queue A,B"));
    assert_null(strstr(text, "--lease"));
    free(text);
}

static void test_help_fits_80_columns_and_names_every_variable(void **state)
{
    (void)state;
    char *text = help_text(CULEX_PROGRAM_WORKER);
    assert_null(strstr(text, "--ended"));
    static const char *const names[] = {
        "--url",        "--queues",    "--name",   "--concurrency",   "--batch",      "--url-file",
        "--core-dumps", "--isolation", "--lease",  "--grace",         "--idle-wait",  "--drain",
        "--log-format", "--log-level", "--prefix", "--store-timeout", "--synchronous"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_non_null(strstr(text, names[i]));
    free(text);
}

static void test_main_returns_2_on_wrong_usage_and_1_when_setup_fails(void **state)
{
    (void)state;
    char *wrong[] = {(char *)(uintptr_t) "worker", (char *)(uintptr_t) "--lease=never", NULL};
    char *right[] = {(char *)(uintptr_t) "worker",
                     (char *)(uintptr_t) "--url=memory:", (char *)(uintptr_t) "--core-dumps", NULL};
    assert_int_equal(culex_worker_main(2, wrong, NULL, NULL), 2);
    assert_int_equal(culex_worker_main(3, right, NULL, NULL), 1); /* no job registered */
}

static int setup_twice(culex_worker *worker, void *user)
{
    static const culex_struct_type params = {.name = "t.twice"};
    static const culex_job_type type = {.descriptor_version = CULEX_DESCRIPTOR_VERSION,
                                        .name = "t.twice",
                                        .wire = "t.twice",
                                        .params = &params};
    *(culex_worker **)user = worker;
    return culex_worker_retire(worker, &type) != CULEX_OK ||
           culex_worker_retire(worker, &type) != CULEX_OK;
}

/* Two schema files, each generated by a call of its own. */
static int setup_stored_alike(culex_worker *worker, void *user)
{
    static const culex_struct_type params = {.name = "t.old"};
    static const culex_job_type types[] = {{.descriptor_version = CULEX_DESCRIPTOR_VERSION,
                                            .name = "t.new",
                                            .wire = "t.old",
                                            .params = &params},
                                           {.descriptor_version = CULEX_DESCRIPTOR_VERSION,
                                            .name = "t.old",
                                            .wire = "t.old",
                                            .params = &params}};
    (void)user;
    return culex_worker_retire(worker, &types[0]) != CULEX_OK ||
           culex_worker_retire(worker, &types[1]) != CULEX_OK;
}

static int setup_silently(culex_worker *worker, void *user)
{
    (void)worker, (void)user;
    return 1;
}

static int setup_loudly(culex_worker *worker, void *user)
{
    (void)user;
    return culex_worker_setup_failed(worker, "no %s", "bed\u202e");
}

/* What is written to descriptor 2 meanwhile, in `line`. */
static int argv_listen(int argc, char **argv, culex_worker_setup call, void *user)
{
    int fds[2], before = dup(2);
    assert_int_equal(pipe(fds), 0);
    dup2(fds[1], 2);
    int code = culex_worker_main(argc, argv, call, user);
    dup2(before, 2);
    close(before);
    close(fds[1]);
    ssize_t got = read(fds[0], line, sizeof line - 1);
    line[got > 0 ? got : 0] = '\0';
    close(fds[0]);
    return code;
}

static int main_listen(culex_worker_setup call, void *user)
{
    char *argv[] = {(char *)(uintptr_t) "worker",
                    (char *)(uintptr_t) "--url=memory:", (char *)(uintptr_t) "--core-dumps", NULL};
    return argv_listen(3, argv, call, user);
}

static void test_main_tells_why_the_setup_failed(void **state)
{
    (void)state;
    culex_worker *worker = NULL;
    assert_int_equal(main_listen(setup_twice, &worker), 1);
    assert_string_equal(line, "worker: setup failed: job t.twice is registered already\n");
    assert_int_equal(main_listen(setup_stored_alike, NULL), 1);
    assert_string_equal(line,
                        "worker: setup failed: job t.old is stored as t.old, and so is t.new, "
                        "which is registered already\n");
    assert_int_equal(main_listen(setup_silently, NULL), 1);
    assert_string_equal(line, "worker: setup failed: it returned without a reason\n");
    assert_int_equal(main_listen(setup_loudly, NULL), 1);
    assert_string_equal(line, "worker: setup failed: no bed\\u{202E}\n");
}

static int setup_hung_up(culex_worker *worker, void *user)
{
    (void)worker;
    (void)user;
    return raise(SIGHUP) == 0 ? 0 : 1;
}

/* Whoever deploys may ask for it at once. */
static void test_hangup_before_the_worker_runs_ends_no_program_with_a_file(void **state)
{
    (void)state;
    char *argv[] = {(char *)(uintptr_t) "worker", NULL, (char *)(uintptr_t) "--check-config", NULL};
    char path[] = "/tmp/culex-program-XXXXXX", option[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(option, sizeof option, "--config=%s", path);
    argv[1] = option;
    assert_int_equal(culex_worker_main(3, argv, setup_hung_up, NULL), 1); /* without a job */
    unlink(path);
    signal(SIGHUP, SIG_DFL);
}

static int setup_of_segments(culex_worker *worker, void *user)
{
    static const culex_struct_type params = {.name = "t.cut"};
    static const culex_job_type type = {.descriptor_version = CULEX_DESCRIPTOR_VERSION,
                                        .name = "t.cut",
                                        .wire = "t.cut",
                                        .queue = "segments",
                                        .params = &params};
    (void)user;
    return culex_worker_retire(worker, &type) != CULEX_OK;
}

/* As the start does, which asks the store, too. */
static void test_check_warns_of_queues_that_nothing_feeds(void **state)
{
    (void)state;
    static const char said[] = "queues = segments, segment, reel.*\n[queue films.*]\nweight = 2\n";
    char *argv[] = {(char *)(uintptr_t) "worker", NULL, (char *)(uintptr_t) "--check-config",
                    (char *)(uintptr_t) "--core-dumps", NULL};
    char path[] = "/tmp/culex-program-XXXXXX", option[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, said, sizeof said - 1), sizeof said - 1);
    close(fd);
    snprintf(option, sizeof option, "--config=%s", path);
    argv[1] = option;
    assert_int_equal(argv_listen(4, argv, setup_of_segments, NULL), 0);
    unlink(path);
    assert_non_null(strstr(line, " warn  queue segment: no job that is registered here goes there "
                                 "by its schema; did you mean segments?\n"));
    assert_null(strstr(line, "queue segments:"));
    assert_non_null(strstr(line,
                           " warn  there are options for queue 'films.*', and no such queue is "
                           "served so far\n"));
}

static void test_main_warns_of_a_variable_that_means_nothing(void **state)
{
    (void)state;
    setenv("CULEX_CONCURENCY", "4", 1);
    setenv("CULEX_COLOUR_OF_THE_BIKE_SHED", "blue", 1);
    setenv("CULEX_PASSWORD", "x", 1);
    assert_int_equal(main_listen(setup_silently, NULL), 1);
    unsetenv("CULEX_CONCURENCY");
    unsetenv("CULEX_COLOUR_OF_THE_BIKE_SHED");
    unsetenv("CULEX_PASSWORD");
    assert_non_null(strstr(line, " warn  the variable CULEX_CONCURENCY means nothing; did you mean "
                                 "CULEX_CONCURRENCY?\n"));
    assert_non_null(
        strstr(line, " warn  the variable CULEX_COLOUR_OF_THE_BIKE_SHED means nothing\n"));
    assert_null(strstr(line, "blue"));
    assert_null(strstr(line, "CULEX_PASSWORD"));
}

/* --- secrets in the wrong place ----------------------------------------------------------------
 */

#define KEY "//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA="

static const struct {
    const char *text, *tell; /* what must not be seen of it */
} secrets[] = {
    {"redis://u:hunter2@h/0", "hunter2"},
    {"rediss://h?password=hunter2", "hunter2"},
    {"u:hunter2@h", "hunter2"},
    {":hunter2@h:6379", "hunter2"},
    {"u:hun,ter2@h", "ter2"},
    {"redis:hunter2", "hunter2"},
    {KEY, "39vX08"},
    {"k1 " KEY, "39vX08"},
    {"k1=" KEY, "39vX08"},
    {"k1:" KEY, "39vX08"},
    {"k1:__79_Pv6-fj39vX08_Lx8O_u7ezr6uno5-bl5OPi4eA", "39vX08"},
    {"fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0efeeedecebeae9e8e7e6e5e4e3e2e1e0=", "f7f6f5"},
};

static int setup_with_a_job(culex_worker *worker, void *user)
{
    static const culex_struct_type params = {.name = "t.old"};
    static const culex_job_type type = {.descriptor_version = CULEX_DESCRIPTOR_VERSION,
                                        .name = "t.old",
                                        .wire = "t.old",
                                        .params = &params};
    (void)user;
    return culex_worker_retire(worker, &type) != CULEX_OK;
}

/* All that is written, to either descriptor, in `line`. */
static void main_overhear(int argc, char **argv)
{
    FILE *heard = tmpfile();
    int out = dup(1), err = dup(2);
    assert_non_null(heard);
    fflush(stdout);
    dup2(fileno(heard), 1);
    dup2(fileno(heard), 2);
    int code = culex_worker_main(argc, argv, setup_with_a_job, NULL);
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    assert_in_range(code, 0, 5);
    rewind(heard);
    line[fread(line, 1, sizeof line - 1, heard)] = '\0';
    fclose(heard);
}

static void assert_kept(const struct culex_option *option, const char *how, size_t secret)
{
    if (line[0] == '\0')
        fail_msg("%s %s says nothing", option->name, how);
    if (strstr(line, secrets[secret].tell) != NULL)
        fail_msg("%s %s shows '%s': %s", option->name, how, secrets[secret].text, line);
}

/* As the program is asked to look at its options, to look at what they name, and to work. */
static void value_try(const struct culex_option *option, const char *how, const char *word,
                      size_t secret)
{
    static const char *const asked[] = {"--check-config", "--doctor", "--drain"};
    bool is_url = option->kind == CULEX_OPTION_TEXT && option->offset == CULEX_OPTION_AT(url);
    size_t count = is_url ? 1 : sizeof asked / sizeof asked[0]; /* nobody is looked for at a URL */
    for (size_t i = 0; i < count; i++) {
        char *argv[7] = {(char *)(uintptr_t) "worker", (char *)(uintptr_t)asked[i]};
        int argc = 2;
        if (!culex__option_is_store(option))
            argv[argc++] = (char *)(uintptr_t) "--url=memory:";
        if (option->offset != CULEX_OPTION_AT(isolation))
            argv[argc++] = (char *)(uintptr_t) "--isolation=none";
        if (option->offset == CULEX_OPTION_AT(cgroup) && option->kind == CULEX_OPTION_TEXT)
            argv[argc - 1] = (char *)(uintptr_t) "--isolation=process";
        if (word != NULL)
            argv[argc++] = (char *)(uintptr_t)word;
        main_overhear(argc, argv);
        assert_kept(option, how, secret);
    }
}

static void by_word(const struct culex_option *option, size_t secret)
{
    char word[256];
    snprintf(word, sizeof word, "--%s=%s", option->name, secrets[secret].text);
    value_try(option, "as an option", word, secret);
}

static void by_variable(const struct culex_option *option, size_t secret)
{
    if (option->variable == NULL)
        return;
    setenv(option->variable, secrets[secret].text, 1);
    value_try(option, "as a variable", NULL, secret);
    unsetenv(option->variable);
}

static void by_file(const struct culex_option *option, size_t secret)
{
    char path[] = "/tmp/culex-program-XXXXXX", word[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    dprintf(fd, "%s = %s\n", option->name, secrets[secret].text);
    close(fd);
    snprintf(word, sizeof word, "--config=%s", path);
    value_try(option, "in a file", word, secret);
    unlink(path);
}

static void by_live(const struct culex_option *option, size_t secret)
{
    char word[256];
    struct culex_settings settings;
    culex_error error = {0};
    const char *const words[] = {word, NULL};
    snprintf(word, sizeof word, "--%s=%s", option->name, secrets[secret].text);
    read_words_for(CULEX_PROGRAM_LIVE, words, &settings, &error);
    snprintf(line, sizeof line, "culex-live: %s", error.text);
    assert_kept(option, "of culex-live", secret);
    culex__settings_release(&settings);
}

static void test_no_option_shows_a_secret(void **state)
{
    (void)state;
    for (size_t i = 0; i < culex__option_count; i++) {
        const struct culex_option *option = &culex__options[i];
        if (!culex__option_takes_value(option))
            continue;
        for (size_t k = 0; k < sizeof secrets / sizeof secrets[0]; k++) {
            by_word(option, k);
            by_variable(option, k);
            by_file(option, k);
            by_live(option, k);
        }
    }
    signal(SIGHUP, SIG_DFL);
}

/* A line of the file of keys or of that of the URL, in the file of options. */
static void test_no_line_of_a_file_and_no_argument_shows_a_secret(void **state)
{
    static const struct culex_option none = {.name = "nothing", .kind = CULEX_OPTION_NUMBER};
    static const char *const forms[] = {"%s\n", "%s = 1\n", "[queue %s]\n", "[queue a]\n%s\n",
                                        "[queue a]\nweight = %s\n"};
    char path[] = "/tmp/culex-program-XXXXXX", word[256];
    (void)state;
    assert_true(close(mkstemp(path)) == 0);
    for (size_t k = 0; k < sizeof secrets / sizeof secrets[0]; k++) {
        for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
            FILE *file = fopen(path, "w");
            fprintf(file, forms[i], secrets[k].text);
            fclose(file);
            snprintf(word, sizeof word, "--config=%s", path);
            value_try(&none, forms[i], word, k);
        }
        value_try(&none, "alone", secrets[k].text, k);
        snprintf(word, sizeof word, "--%s", secrets[k].text);
        value_try(&none, "as an option's name", word, k);
    }
    unlink(path);
}

static void test_durations__read_or_refused_by_table(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms; /* -1: refused */
    } rows[] = {
        {"0", 0},
        {"0s", 0},
        {"500ms", 500},
        {"30s", 30000},
        {"1.5s", 1500},
        {"0.25s", 250},
        {"5m", 300000},
        {"2h", 7200000},
        {"1d", 86400000},
        {"", -1},
        {"5", -1},
        {"s", -1},
        {"1.s", -1},
        {".5s", -1},
        {"1.2345s", -1},
        {"1 s", -1},
        {"-1s", -1},
        {"1sec", -1},
        {"99999999999999999999d", -1},
        {"999999d", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t ms = -1;
        assert_int_equal(culex__span_parse(rows[i].text, &ms), rows[i].ms >= 0);
        assert_int_equal(ms, rows[i].ms);
    }
}

/* --- log -------------------------------------------------------------------------------------- */

static void sink_write(void *self, const char *text, size_t len)
{
    (void)self;
    memcpy(line, text, len);
    line[len] = '\0';
    line_len = len;
}

static int64_t clock_ms(void *self)
{
    (void)self;
    return INT64_C(1795233600123);
}

static const char *log_line(culex_log_format format, const char *text)
{
    static const culex_uuid id = {{0x01, 0x92, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 1}};
    struct culex_env env = *culex__env_system();
    env.clock_ms = clock_ms;
    struct culex_log log = {
        .sink = {.write = sink_write}, .env = &env, .format = format, .level = 3};
    struct culex_log_subject subject = {.job = "shop.send_email", .id = &id, .attempt = 2};
    culex__log_write(&log, CULEX_LOG_INFO, &subject, "%s", text);
    return line;
}

static void test_log_line_in_text_has_job_run_and_attempt(void **state)
{
    (void)state;
    assert_string_equal(log_line(CULEX_LOG_TEXT, "done in 12.3 ms"),
                        "2026-11-21T04:00:00.123Z info  shop.send_email "
                        "01920000-0000-7000-8000-000000000001 attempt 2 done in 12.3 ms\n");
}

static void test_log_line_in_json_is_one_object(void **state)
{
    (void)state;
    assert_string_equal(log_line(CULEX_LOG_JSON, "a \"b\" \\ c"),
                        "{\"time\":\"2026-11-21T04:00:00.123Z\",\"level\":\"info\","
                        "\"job\":\"shop.send_email\","
                        "\"run\":\"01920000-0000-7000-8000-000000000001\",\"attempt\":2,"
                        "\"message\":\"a \\\"b\\\" \\\\ c\"}\n");
}

/* What programs need is a member, not a part of the text. */
static void test_log_json_line_has_how_it_ended(void **state)
{
    (void)state;
    struct culex_env env = *culex__env_system();
    env.clock_ms = clock_ms;
    const struct culex_log log = {
        .sink = {.write = sink_write}, .env = &env, .format = CULEX_LOG_JSON, .level = 3};
    const struct culex_log_subject subject = {.queue = "mail",
                                              .job = "shop.send",
                                              .outcome = "failed",
                                              .duration_ns = INT64_C(1002003456),
                                              .error = "no \"route\"",
                                              .next_ms = INT64_C(1795233600123)};
    setlocale(LC_NUMERIC, "de_DE.UTF-8"); /* where it exists: with a comma */
    culex__log_write(&log, CULEX_LOG_INFO, &subject, "x");
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(line, "{\"time\":\"2026-11-21T04:00:00.123Z\",\"level\":\"info\","
                              "\"queue\":\"mail\",\"job\":\"shop.send\",\"outcome\":\"failed\","
                              "\"duration_ms\":1002.003,\"error\":\"no \\\"route\\\"\","
                              "\"next_at\":\"2026-11-21T04:00:00.123Z\",\"message\":\"x\"}\n");
}

static void test_log_escapes_hostile_text(void **state)
{
    (void)state;
    assert_non_null(strstr(log_line(CULEX_LOG_TEXT, "a\nb\x1b[0m\xff\xc2\x9b"
                                                    "31m"),
                           " a\\x0ab\\x1b[0m?\\x9b31m\n"));
    assert_non_null(strstr(log_line(CULEX_LOG_JSON, "a\nb\x01\xff"), "\"a\\u000ab\\u0001?\"}\n"));
}

/* Right-to-left overrides, line separators and blanks that nobody sees, in both formats. */
static void test_log_shows_what_is_invisible(void **state)
{
    (void)state;
    static const char hostile[] =
        "a\u202eb\u2028c\u200bd\u2066e\ufefff\u00ad\u061c\U000e0041g \u00e9";
    assert_non_null(strstr(log_line(CULEX_LOG_TEXT, hostile),
                           " a\\u{202E}b\\u{2028}c\\u{200B}d\\u{2066}e\\u{FEFF}f\\u{00AD}"
                           "\\u{061C}\\u{E0041}g \u00e9\n"));
    assert_non_null(strstr(log_line(CULEX_LOG_JSON, hostile), "\"a\\\\u{202E}b\\\\u{2028}c"));
    assert_null(strstr(line, "\u202e"));
}

static void test_log_cuts_a_huge_text_and_stays_one_line(void **state)
{
    (void)state;
    static char huge[20000];
    memset(huge, '\n', sizeof huge - 1);
    log_line(CULEX_LOG_TEXT, huge);
    assert_true(line_len < 32000);
    assert_ptr_equal(strchr(line, '\n'), line + line_len - 1);
    log_line(CULEX_LOG_JSON, huge);
    assert_true(line_len < 32000); /* what a child may send in one packet */
    assert_non_null(strstr(line, "\\u000a\"}\n"));
}

static void test_log_drops_lines_above_its_level(void **state)
{
    (void)state;
    struct culex_log log = {.sink = {.write = sink_write}, .env = culex__env_system(), .level = 2};
    line_len = 0;
    culex__log_write(&log, CULEX_LOG_INFO, NULL, "x");
    assert_int_equal(line_len, 0);
    culex__log_write(&log, CULEX_LOG_WARNING, NULL, "x");
    assert_true(line_len > 0);
}

static void test_log_times_are_utc_to_the_millisecond(void **state)
{
    (void)state;
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {INT64_C(951782400000), "2000-02-29T00:00:00.000Z"},
        {INT64_C(253402300799999), "9999-12-31T23:59:59.999Z"},
        {INT64_MAX, "9999-12-31T23:59:59.999Z"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[CULEX_LOG_TIME_SIZE];
        culex__log_format_time(rows[i].ms, text);
        assert_string_equal(text, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_wrong_option_is_named_and_explained),
        cmocka_unit_test(test_every_wrong_variable_is_named),
        cmocka_unit_test(test_every_empty_variable_is_named),
        cmocka_unit_test(test_options_win_over_variables_over_defaults),
        cmocka_unit_test(test_url_on_the_command_line_wins_over_both_variables),
        cmocka_unit_test(test_each_isolation_word_is_understood),
        cmocka_unit_test(test_isolation_of_an_embedded_worker_is_not_empty),
        cmocka_unit_test(test_cgroup_without_processes_is_refused),
        cmocka_unit_test(test_name_that_no_text_can_carry_is_refused),
        cmocka_unit_test(test_name_that_looks_like_a_secret_is_refused),
        cmocka_unit_test(test_options_of_queues_are_checked),
        cmocka_unit_test(test_help_works_whatever_the_variables_say),
        cmocka_unit_test(test_each_program_has_its_own_options),
        cmocka_unit_test(test_help_fits_80_columns_and_names_every_variable),
        cmocka_unit_test(test_main_returns_2_on_wrong_usage_and_1_when_setup_fails),
        cmocka_unit_test(test_main_tells_why_the_setup_failed),
        cmocka_unit_test(test_hangup_before_the_worker_runs_ends_no_program_with_a_file),
        cmocka_unit_test(test_check_warns_of_queues_that_nothing_feeds),
        cmocka_unit_test(test_main_warns_of_a_variable_that_means_nothing),
        cmocka_unit_test(test_no_option_shows_a_secret),
        cmocka_unit_test(test_no_line_of_a_file_and_no_argument_shows_a_secret),
        cmocka_unit_test(test_durations__read_or_refused_by_table),
        cmocka_unit_test(test_log_line_in_text_has_job_run_and_attempt),
        cmocka_unit_test(test_log_line_in_json_is_one_object),
        cmocka_unit_test(test_log_json_line_has_how_it_ended),
        cmocka_unit_test(test_log_escapes_hostile_text),
        cmocka_unit_test(test_log_shows_what_is_invisible),
        cmocka_unit_test(test_log_cuts_a_huge_text_and_stays_one_line),
        cmocka_unit_test(test_log_drops_lines_above_its_level),
        cmocka_unit_test(test_log_times_are_utc_to_the_millisecond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
