/* Options in a file: settings/config_file.h. Every cut, every damaged byte, every allocation. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "failing_malloc.h"
#include "log/log_line.h"
#include "settings/settings.h"

static const char *variables[4][2];

static const char *variable_get(const char *name)
{
    for (int i = 0; i < 4 && variables[i][0] != NULL; i++) {
        if (strcmp(variables[i][0], name) == 0)
            return variables[i][1];
    }
    return NULL;
}

/* --- allocations that fail ------------------------------------------------------------------- */

static long countdown = -1; /* allocations until one fails; negative: none does */

bool malloc_fails(void)
{
    return countdown >= 0 && countdown-- == 0;
}

/* --- a file ---------------------------------------------------------------------------------- */

static char folder[] = "/tmp/culex-config-XXXXXX";

static int setup(void **state)
{
    (void)state;
    memset(variables, 0, sizeof variables);
    return mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    unlink("w.conf");
    bool is_gone = rmdir(folder) == 0;
    memset(folder + strlen(folder) - 6, 'X', 6);
    return is_gone && chdir("/") == 0 ? 0 : -1;
}

static void file_write(const char *text, size_t len)
{
    FILE *file = fopen("w.conf", "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static culex_status settings_read(const char *word, struct culex_settings *settings,
                                  culex_error *error)
{
    char *argv[] = {(char *)(uintptr_t) "worker", (char *)(uintptr_t) "--config=w.conf",
                    (char *)(uintptr_t)word, NULL};
    return culex__settings_read(CULEX_PROGRAM_WORKER, word != NULL ? 3 : 2, argv, variable_get,
                                settings, error);
}

static culex_status text_read(const char *text, const char *word, struct culex_settings *settings,
                              culex_error *error)
{
    file_write(text, strlen(text));
    return settings_read(word, settings, error);
}

/* --- what it says ---------------------------------------------------------------------------- */

static const char whole[] = "\xef\xbb\xbf; comment\n"
                            "# another\n"
                            "url = sqlite:there.db\r\n"
                            "concurrency: 7\n"
                            "  batch=9   ; indented\n"
                            "lease = 1.5s\n"
                            "grace = 0\n"
                            "idle-wait = 3s\n"
                            "isolation = none\n"
                            "order = weighted\n"
                            "name = one two\n"
                            "log-format = json\n"
                            "log-level = warn\n"
                            "drain = yes\n"
                            "unlisted = on\n"
                            "uncounted = on\n"
                            "core-dumps = 1\n"
                            "cgroup = /sys/fs/cgroup/x\n"
                            "metrics = [::1]:9464\n"
                            "on-death = tell somebody\n"
                            "on-death-timeout = 5s\n"
                            "traces = /var/log/spans.jsonl\n"
                            "trace-all = on\n"
                            "queues = mail, \n"
                            "\n"
                            "[queue mail]\n"
                            "\tweight = 3\n"
                            "[queue news.*] ; all of them\n"
                            "concurrency = 12\n"
                            "weight = 1000\n"
                            "[queue none]\n";

static void test_file_says_every_option(void **state)
{
    (void)state;
    struct culex_settings settings;
    char text[sizeof whole];
    strcpy(text, whole);
    memcpy(strstr(text, "mail, "), "a,b:2 ", 6);
    assert_int_equal(text_read(text, NULL, &settings, NULL), CULEX_OK);
    const culex_worker_options *options = &settings.options;
    assert_string_equal(options->url, "sqlite:there.db");
    assert_int_equal(options->concurrency, 7);
    assert_int_equal(options->batch, 9);
    assert_int_equal(options->lease_ms, 1500);
    assert_int_equal(options->grace_ms, -1);
    assert_int_equal(options->idle_wait_ms, 3000);
    assert_int_equal(options->isolation, CULEX_ISOLATION_NONE);
    assert_int_equal(options->order, CULEX_ORDER_WEIGHTED);
    assert_string_equal(options->name, "one two");
    assert_int_equal(options->log_format, CULEX_LOG_JSON);
    assert_int_equal(options->log_level, 2);
    assert_true(options->drain && options->unlisted && options->uncounted && options->core_dumps);
    assert_string_equal(options->cgroup, "/sys/fs/cgroup/x");
    assert_string_equal(options->metrics, "[::1]:9464");
    assert_string_equal(options->on_death, "tell somebody");
    assert_int_equal(options->on_death_timeout_ms, 5000);
    assert_string_equal(options->traces, "/var/log/spans.jsonl");
    assert_true(options->trace_all);
    assert_int_equal(options->queue_count, 2);
    assert_string_equal(options->queues[1], "b:2");
    assert_int_equal(options->queue_option_count, 3);
    assert_string_equal(options->queue_options[0].queue, "mail");
    assert_int_equal(options->queue_options[0].weight, 3);
    assert_int_equal(options->queue_options[0].concurrency, 0);
    assert_string_equal(options->queue_options[1].queue, "news.*");
    assert_int_equal(options->queue_options[1].weight, 1000);
    assert_int_equal(options->queue_options[1].concurrency, 12);
    assert_int_equal(options->queue_options[2].weight, 0);
    culex__settings_release(&settings);
}

static void test_items_of_a_list_have_blanks_around_them(void **state)
{
    (void)state;
    struct culex_settings settings;
    assert_int_equal(
        text_read("queues = mail, reports.* ,c:3\noffer = gpu=2, tape=1\n", NULL, &settings, NULL),
        CULEX_OK);
    assert_int_equal(settings.options.queue_count, 3);
    assert_string_equal(settings.options.queues[0], "mail");
    assert_string_equal(settings.options.queues[1], "reports.*");
    assert_string_equal(settings.options.queues[2], "c:3");
    assert_string_equal(settings.options.offers[1], "tape=1");
    culex__settings_release(&settings);
}

/* One of libinih's lines is short. */
static void test_lists_stand_on_several_lines(void **state)
{
    (void)state;
    struct culex_settings settings;
    assert_int_equal(
        text_read("queues = a,b\noffer = gpu=2\nqueues=c:3\noffer=tape=1\n", NULL, &settings, NULL),
        CULEX_OK);
    assert_int_equal(settings.options.queue_count, 3);
    assert_string_equal(settings.options.queues[2], "c:3");
    assert_int_equal(settings.options.offer_count, 2);
    assert_string_equal(settings.options.offers[1], "tape=1");
    culex__settings_release(&settings);
}

static void test_variable_and_command_line_overrule_the_file(void **state)
{
    (void)state;
    struct culex_settings settings;
    static const char text[] = "concurrency = 2\nbatch = 3\nqueues = a,b\ngrace = 1s\n"
                               "[queue mail]\nweight = 2\n";
    variables[0][0] = "CULEX_BATCH";
    variables[0][1] = "4";
    variables[1][0] = "CULEX_QUEUES";
    variables[1][1] = "c";
    assert_int_equal(text_read(text, "--concurrency=5", &settings, NULL), CULEX_OK);
    assert_int_equal(settings.options.concurrency, 5);
    assert_int_equal(settings.options.batch, 4);
    assert_int_equal(settings.options.grace_ms, 1000);
    assert_int_equal(settings.options.queue_count, 1);
    assert_string_equal(settings.options.queues[0], "c");
    assert_int_equal(settings.options.queue_option_count, 1);
    culex__settings_release(&settings);
}

/* Else both would be named, and neither be meant. */
static void test_store_is_where_the_strongest_of_the_three_says(void **state)
{
    (void)state;
    struct culex_settings settings;
    variables[0][0] = "CULEX_URL_FILE";
    variables[0][1] = "secret";
    assert_int_equal(text_read("url = sqlite:a.db\n", NULL, &settings, NULL), CULEX_OK);
    assert_null(settings.options.url);
    assert_string_equal(settings.options.url_file, "secret");
    culex__settings_release(&settings);
    assert_int_equal(text_read("url-file = b\n", "--url=sqlite:c.db", &settings, NULL), CULEX_OK);
    assert_string_equal(settings.options.url, "sqlite:c.db");
    assert_null(settings.options.url_file);
    culex__settings_release(&settings);
}

static void test_variable_names_the_file_and_the_command_line_another(void **state)
{
    (void)state;
    struct culex_settings settings;
    culex_error error = {0};
    char *argv[] = {(char *)(uintptr_t) "worker", NULL};
    file_write("batch = 3\n", 10);
    variables[0][0] = "CULEX_CONFIG";
    variables[0][1] = "w.conf";
    assert_int_equal(
        culex__settings_read(CULEX_PROGRAM_WORKER, 1, argv, variable_get, &settings, NULL),
        CULEX_OK);
    assert_int_equal(settings.options.batch, 3);
    assert_string_equal(settings.config, "w.conf");
    culex__settings_release(&settings);
    variables[0][1] = "nowhere";
    assert_int_equal(settings_read(NULL, &settings, NULL), CULEX_OK);
    culex__settings_release(&settings);
    assert_int_equal(
        culex__settings_read(CULEX_PROGRAM_WORKER, 1, argv, variable_get, &settings, &error),
        CULEX_EUSAGE);
    assert_string_equal(error.text, "configuration file nowhere: No such file or directory");
    culex__settings_release(&settings);
}

/* --- what is wrong with it ------------------------------------------------------------------- */

static void assert_refused(const char *text, const char *says, const char *shows)
{
    struct culex_settings settings;
    struct culex_log_line line;
    culex_error error = {0};
    assert_int_equal(text_read(text, NULL, &settings, &error), CULEX_EUSAGE);
    assert_int_equal(error.code, CULEX_EUSAGE);
    assert_string_equal(error.text, says);
    culex__config_spot_put(&line, &settings.spot);
    line.text[line.len] = '\0';
    assert_string_equal(line.text, shows);
    culex__settings_release(&settings);
}

static void test_every_mistake_is_shown_where_it_stands(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says, *shows;
    } rows[] = {
        {"\nconcurency = 4\n", "w.conf:2: unknown option 'concurency'; did you mean concurrency?",
         "concurency = 4\n^~~~~~~~~~\n"},
        {"help = 1\n", "w.conf:1: unknown option 'help'", "help = 1\n^~~~\n"},
        {"config = x\n", "w.conf:1: unknown option 'config'", "config = x\n^~~~~~\n"},
        {"  batch = \xc3\xa4h ; x\n",
         "w.conf:1: batch: '\xc3\xa4h' is not a whole number from 1 to 256",
         "batch = \xc3\xa4h ; x\n        ^~\n"},
        {"batch =\n", "w.conf:1: batch: '' is not a whole number from 1 to 256",
         "batch =\n       ^\n"},
        {"lease = 1ms\n",
         "w.conf:1: lease: '1ms' is not a time from 200ms to 1d, written like 500ms, 30s or 5m",
         "lease = 1ms\n        ^~~\n"},
        {"drain = maybe\n",
         "w.conf:1: drain: 'maybe' is not one of: 1, true, yes, on, 0, false, no, off",
         "drain = maybe\n        ^~~~~\n"},
        {"grace=1s\n\ngrace=2s\n", "w.conf:3: grace is given twice, first in line 1; leave one",
         "grace=2s\n^~~~~\n"},
        {"name = \"x\"\n", "w.conf:1: name: write the value without quotes",
         "name = \"x\"\n       ^~~\n"},
        {"store-timeout = 1s\n",
         "w.conf:1: store-timeout belongs into the store's URL: ...?store-timeout=TIME",
         "store-timeout = 1s\n^~~~~~~~~~~~~\n"},
        {"name = 'x'\n", "w.conf:1: name: write the value without quotes",
         "name = 'x'\n       ^~~\n"},
        {"name = x # y\n", "w.conf:1: name: a comment behind a value begins with ';'",
         "name = x # y\n       ^~~~~\n"},
        {"\f[queue a] ; b=c\nlease = 1s\n",
         "w.conf:2: lease is an option of the worker, not of a queue: write it before the first "
         "section",
         "lease = 1s\n^~~~~\n"},
        {"password = hunter2\n", "w.conf:1: unknown option 'password'", ""},
        {"CULEX_PASSWORD = hunter2\n", "w.conf:1: unknown option 'CULEX_PASSWORD'", ""},
        {"url = redis:/u:hunter2@h/0\n",
         "w.conf:1: url: a password does not belong here: put the URL into a file of its own "
         "(url-file, mode 0600), or the password into CULEX_PASSWORD",
         ""},
        {"url-file = redis://:hunter2@h/0\n",
         "w.conf:1: url-file: that looks like a URL or a key, and not like the path of a file that "
         "holds one (write ./ in front where a path looks so)",
         ""},
        {"keys = 2026-10 //79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA=\n",
         "w.conf:1: keys: that looks like a URL or a key, and not like the path of a file that "
         "holds one (write ./ in front where a path looks so)",
         ""},
        {"keys = '2026-10 hunter2'\n", "w.conf:1: keys: write the value without quotes", ""},
        {"concurrency = redis://:hunter2@h/0\n",
         "w.conf:1: concurrency does not take this value, which is not shown: it may hold a "
         "password",
         ""},
        {"queues = redis://:hunter2@h/0\n",
         "w.conf:1: queues does not take this value, which is not shown: it may hold a password",
         ""},
        {"offer = gpu=2\noffer = tape\n",
         "w.conf:2: offer 'tape' does not say how many units: write NAME=UNITS, as gpu=2",
         "offer = tape\n        ^~~~\n"},
        {"\nmetrics = here:9464\n",
         "w.conf:2: metrics: 'here:9464' is no address to listen at: the host is no IPv4 address; "
         "write PORT, HOST:PORT or [V6]:PORT with numbers, or unix:PATH",
         "metrics = here:9464\n          ^~~~~~~~~\n"},
        {"offer = gpu=2\noffer = cpu=1,gpu=1\n", "w.conf:2: offer 'gpu' is there twice",
         "offer = cpu=1,gpu=1\n        ^~~~~~~~~~~\n"},
        {"offer = redis://:hunter2@h/0\n",
         "w.conf:1: offer does not take this value, which is not shown: it may hold a password",
         ""},
        {"[queue a]\nweight = redis://:hunter2@h/0\n",
         "w.conf:2: weight does not take this value, which is not shown: it may hold a password",
         ""},
        {"url = redis://:secret@h/0\n",
         "w.conf:1: url: a password does not belong here: put the URL into a file of its own "
         "(url-file, mode 0600), or the password into CULEX_PASSWORD",
         ""},
        {"urll = redis://:secret@h/0\n", "w.conf:1: unknown option 'urll'; did you mean url?", ""},
        {"words\n", "w.conf:1: a line is NAME = VALUE, or [queue NAME]", "words\n^~~~~\n"},
        {"grace ; = 4\n", "w.conf:1: a line is NAME = VALUE, or [queue NAME]", ""},
        {"= 4\n", "w.conf:1: a line is NAME = VALUE, or [queue NAME]", "= 4\n^~~\n"},
        {"[worker]\n", "w.conf:1: a section is [queue NAME], and nothing else",
         "[worker]\n^~~~~~~~\n"},
        {"[queue mail\nweight = 3\n", "w.conf:1: a section is [queue NAME], and nothing else",
         "[queue mail\n^~~~~~~~~~~\n"},
        {"[queue mail] weight = 3\n", "w.conf:1: a section is [queue NAME], and nothing else",
         "[queue mail] weight = 3\n^~~~~~~~~~~~~~~~~~~~~~~\n"},
        {"[queue a]\n[queue b]\n[queue a]\n", "w.conf:3: queue 'a' has two sections",
         "[queue a]\n^~~~~~~~~\n"},
        {"[queue a]\nwight = 3\n",
         "w.conf:2: unknown option 'wight' of a queue; did you mean weight? (there are weight and "
         "concurrency)",
         "wight = 3\n^~~~~\n"},
        {"[queue a]\nlease = 3s\n",
         "w.conf:2: lease is an option of the worker, not of a queue: write it before the first "
         "section",
         "lease = 3s\n^~~~~\n"},
        {"[queue a]\nweight = 1001\n",
         "w.conf:2: weight: '1001' is not a whole number from 1 to "
         "1000",
         "weight = 1001\n         ^~~~\n"},
        {"[queue a]\nconcurrency = -1\n",
         "w.conf:2: concurrency: '-1' is not a whole number from 1 to 1024",
         "concurrency = -1\n              ^~\n"},
        {"[queue a]\nweight = 1\nweight = 1\n",
         "w.conf:3: weight is given twice, first in line 2; leave one", "weight = 1\n^~~~~~\n"},
        {"url = sqlite:a\nurl-file = b\n", "w.conf: url and url-file exclude each other", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_refused(rows[i].text, rows[i].says, rows[i].shows);
}

/* Its end would be cut off, and the rest be a name of its own. */
static void test_line_that_is_too_long_is_refused(void **state)
{
    (void)state;
    struct culex_settings settings;
    culex_error error = {0};
    char text[512] = "name = ";
    size_t head = strlen(text);
    for (size_t len = 100; len < 300; len++) {
        memset(text + head, 'x', len);
        strcpy(text + head + len, "\n");
        culex_status status = text_read(text, NULL, &settings, &error);
        assert_int_equal(status, head + len > 198 ? CULEX_EUSAGE : CULEX_OK);
        if (status == CULEX_OK)
            assert_int_equal(strlen(settings.options.name), len);
        else
            assert_string_equal(error.text, "w.conf:1: a line has at most 198 bytes; `queues` and "
                                            "`offer` may stand on several lines");
        culex__settings_release(&settings);
    }
}

static void test_what_is_no_plain_text_is_refused(void **state)
{
    (void)state;
    struct culex_settings settings;
    culex_error error = {0};
    file_write("batch\0 = 3\n", 11);
    assert_int_equal(settings_read(NULL, &settings, &error), CULEX_EUSAGE);
    assert_string_equal(error.text, "w.conf:1: there is a zero byte in the line");
    culex__settings_release(&settings);
    static const char zeros[64];
    file_write(zeros, sizeof zeros);
    assert_int_equal(settings_read(NULL, &settings, &error), CULEX_EUSAGE);
    assert_string_equal(error.text, "w.conf:1: there is a zero byte in the line");
    culex__settings_release(&settings);
    file_write("batch = 3\0\n", 11);
    assert_int_equal(settings_read(NULL, &settings, &error), CULEX_EUSAGE);
    culex__settings_release(&settings);
    unlink("w.conf");
    assert_int_equal(mkfifo("w.conf", 0600), 0);
    assert_int_equal(settings_read(NULL, &settings, &error), CULEX_EUSAGE);
    assert_string_equal(error.text, "configuration file w.conf: it is no regular file");
    culex__settings_release(&settings);
    unlink("w.conf");
    file_write("", 0);
    assert_int_equal(truncate("w.conf", 1024 * 1024 + 1), 0);
    assert_int_equal(settings_read(NULL, &settings, &error), CULEX_EUSAGE);
    assert_string_equal(error.text, "configuration file w.conf: it is larger than 1 MiB");
    culex__settings_release(&settings);
}

/* --- sweeps ---------------------------------------------------------------------------------- */

/* Whatever it says: a verdict with a reason, and nothing is leaked or read beyond its end. */
static bool is_judged(const char *text, size_t len)
{
    struct culex_settings settings;
    culex_error error = {0};
    file_write(text, len);
    culex_status status = settings_read(NULL, &settings, &error);
    assert_true(status == CULEX_OK || error.text[0] != '\0');
    culex__settings_release(&settings);
    return status == CULEX_OK;
}

static void test_every_cut_and_every_damaged_byte_has_a_verdict(void **state)
{
    (void)state;
    static const char bytes[] = {0, '\n', '[', ']', '=', ';', ' ', '*', '\xff'};
    char text[sizeof whole];
    size_t good = 0;
    for (size_t len = 0; len < sizeof whole; len++)
        good += is_judged(whole, len);
    assert_in_range(good, 20, sizeof whole / 2);
    for (size_t i = 0; i + 1 < sizeof whole; i++) {
        for (size_t k = 0; k < sizeof bytes; k++) {
            memcpy(text, whole, sizeof whole);
            text[i] = bytes[k];
            is_judged(text, sizeof whole - 1);
        }
    }
}

static void test_every_allocation_fails_once(void **state)
{
    (void)state;
    static const char text[] = "name = x\nqueues = a\nqueues = b\noffer = g=1\noffer = h=2\n"
                               "[queue a]\nweight = 3\n[queue b]\n";
    long n = 0, refusals = 0;
    bool is_over = false;
    file_write(text, sizeof text - 1);
    for (; !is_over && n < 200; n++) {
        struct culex_settings settings;
        culex_error error = {0};
        countdown = n;
        culex_status status = settings_read(NULL, &settings, &error);
        is_over = countdown >= 0;
        countdown = -1;
        assert_true(status == CULEX_OK || error.text[0] != '\0');
        assert_true(!is_over || status == CULEX_OK);
        refusals += status != CULEX_OK;
        if (status == CULEX_OK) {
            assert_int_equal(settings.options.queue_count, 2);
            assert_int_equal(settings.options.queue_option_count, 2);
        }
        culex__settings_release(&settings);
    }
    assert_true(is_over);
    assert_in_range(n, 10, 100);
    assert_in_range(refusals, 10, n - 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_file_says_every_option),
        TEST(test_lists_stand_on_several_lines),
        TEST(test_items_of_a_list_have_blanks_around_them),
        TEST(test_variable_and_command_line_overrule_the_file),
        TEST(test_store_is_where_the_strongest_of_the_three_says),
        TEST(test_variable_names_the_file_and_the_command_line_another),
        TEST(test_every_mistake_is_shown_where_it_stands),
        TEST(test_line_that_is_too_long_is_refused),
        TEST(test_what_is_no_plain_text_is_refused),
        TEST(test_every_cut_and_every_damaged_byte_has_a_verdict),
        TEST(test_every_allocation_fails_once),
    };
    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
