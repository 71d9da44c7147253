/* Where the store's URL comes from, and that its password goes nowhere else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <culex/client.h>
#include <culex/worker.h>

#include "store/storeurl.h"

static char folder[] = "/tmp/culex-storeurl-XXXXXX";
static char path[64];

static int group_setup(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/url", folder);
    return 0;
}

static int group_teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static int setup(void **state)
{
    (void)state;
    unsetenv("CULEX_URL");
    unsetenv("CULEX_URL_FILE");
    unsetenv("CULEX_PASSWORD");
    return 0;
}

static void file_write(const char *text, size_t len, mode_t mode)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void assert_url(const char *url, const char *url_file, const char *expected)
{
    char *chosen = NULL;
    culex_error error = {0};
    if (culex__store_url_choose(url, url_file, &chosen, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    assert_string_equal(chosen, expected);
    culex__store_url_free(chosen);
}

static void assert_refused(const char *url_file, const char *text)
{
    char *chosen = NULL;
    culex_error error = {0};
    assert_int_equal(culex__store_url_choose(NULL, url_file, &chosen, &error), CULEX_EURL);
    assert_null(chosen);
    if (strstr(error.text, text) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, text);
    assert_null(strstr(error.text, "hunter2"));
}

static void test_given_source_wins_and_two_of_a_kind_are_refused(void **state)
{
    (void)state;
    static const char in_file[] = "redis://:hunter2@host/1\n";
    file_write(in_file, sizeof in_file - 1, 0600);
    assert_url(NULL, NULL, "sqlite:culex.db");
    setenv("CULEX_URL_FILE", path, 1);
    assert_url(NULL, NULL, "redis://:hunter2@host/1");
    assert_url("sqlite:given", NULL, "sqlite:given");
    setenv("CULEX_URL", "sqlite:variable", 1);
    assert_url(NULL, path, "redis://:hunter2@host/1");
    char *chosen = NULL;
    culex_error error = {0};
    assert_int_equal(culex__store_url_choose(NULL, NULL, &chosen, &error), CULEX_EUSAGE);
    assert_int_equal(culex__store_url_choose("sqlite:x", path, &chosen, &error), CULEX_EUSAGE);
    unsetenv("CULEX_URL_FILE");
    assert_url(NULL, NULL, "sqlite:variable");
}

/* As CULEX_URL_FILE="$(cat url)" has it. */
static void test_url_in_place_of_its_file_is_not_shown(void **state)
{
    (void)state;
    assert_refused("redis://u:hunter2@h/0", "looks like a URL or a key, and is not shown");
    setenv("CULEX_URL_FILE", "redis://u:hunter2@h/0", 1);
    assert_refused(NULL, "name the file that holds the URL");
    unsetenv("CULEX_URL_FILE");
    assert_refused("u:hunter2@h", "looks like a URL or a key, and is not shown");
    assert_refused(":hunter2@h:6379", "looks like a URL or a key, and is not shown");
    assert_refused("redis:hunter2", "looks like a URL or a key, and is not shown");
    assert_refused("url:6379", "URL file url:6379: No such file or directory");
}

/* What a script's variable that is not set leaves behind; the default would be another store. */
static void test_empty_source_is_refused(void **state)
{
    (void)state;
    char *chosen = NULL;
    culex_error error = {0};
    file_write("sqlite:x", 8, 0600);
    setenv("CULEX_URL", "", 1);
    assert_refused(NULL, "CULEX_URL is set but empty");
    assert_url("sqlite:given", NULL, "sqlite:given");
    assert_url(NULL, path, "sqlite:x");
    setenv("CULEX_URL_FILE", path, 1);
    assert_refused(NULL, "CULEX_URL is set but empty");
    setenv("CULEX_URL", "sqlite:variable", 1);
    setenv("CULEX_URL_FILE", "", 1);
    assert_refused(NULL, "CULEX_URL_FILE is set but empty");
    unsetenv("CULEX_URL_FILE");
    assert_int_equal(culex__store_url_choose("", NULL, &chosen, &error), CULEX_EURL);
    assert_string_equal(error.text, "the store's URL is empty");
    assert_int_equal(culex__store_url_choose(NULL, "", &chosen, &error), CULEX_EURL);
    assert_string_equal(error.text, "the name of the URL file is empty");
}

/* The default would be another store; only a worker has a log to warn in. */
static void test_misspelt_variable_is_refused_where_the_default_would_count(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"CULEX_ULR", "did you mean CULEX_URL?"},
                                          {"CULEX_URI", "did you mean CULEX_URL?"},
                                          {"CULEX_URLFILE", "did you mean CULEX_URL_FILE?"}};
    for (size_t i = 0; i < 3; i++) {
        setenv(rows[i][0], "sqlite:hunter2", 1);
        assert_refused(NULL, rows[i][1]);
        assert_url("sqlite:given", NULL, "sqlite:given");
        unsetenv(rows[i][0]);
    }
    setenv("CULEX_BIN", "x", 1);
    assert_url(NULL, NULL, "sqlite:culex.db");
    unsetenv("CULEX_BIN");
}

/* The server could let us in as its default user, which is another one. */
static void test_misspelt_password_is_refused_where_none_is_given(void **state)
{
    (void)state;
    setenv("CULEX_PASWORD", "hunter2", 1);
    setenv("CULEX_URL", "redis://host", 1);
    assert_refused(NULL, "no password is given, but the variable CULEX_PASWORD is set, which means "
                         "nothing; did you mean CULEX_PASSWORD?");
    assert_url("redis://:own@host", NULL, "redis://:own@host");
    assert_url("sqlite:given", NULL, "sqlite:given");
    setenv("CULEX_PASSWORD", "", 1);
    assert_url(NULL, NULL, "redis://host");
    unsetenv("CULEX_PASWORD");
}

static void test_file_that_others_may_read_is_refused(void **state)
{
    (void)state;
    static const mode_t modes[] = {0640, 0604, 0644, 0660, 0610, 0601};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        char text[128];
        file_write("redis://:hunter2@host", 21, modes[i]);
        snprintf(text, sizeof text, "has mode %04o, which lets others at it: chmod 600 %s",
                 (unsigned)modes[i], path);
        assert_refused(path, text);
    }
    file_write("sqlite:x", 8, 0400);
    assert_url(NULL, path, "sqlite:x");
}

static void test_file_that_is_no_url_is_refused(void **state)
{
    (void)state;
    static char huge[5000];
    memset(huge, 'x', sizeof huge);
    file_write("", 0, 0600);
    assert_refused(path, "is empty");
    file_write("\n\n", 2, 0600);
    assert_refused(path, "is empty");
    file_write("redis://:hunter2@host\nmore\n", 27, 0600);
    assert_refused(path, "must hold one line");
    file_write("redis://:hunter2@h\0st", 22, 0600);
    assert_refused(path, "must hold one line");
    file_write(huge, sizeof huge, 0600);
    assert_refused(path, "is longer than 2048 bytes");
    assert_refused(folder, "is not a regular file");
    assert_refused("/dev/null", "is not a regular file");
    assert_refused("/nowhere/url", "No such file or directory");
}

static void test_file_of_another_user_is_refused_if_root_can_make_one(void **state)
{
    (void)state;
    file_write("sqlite:x", 8, 0600);
    if (geteuid() != 0 || chown(path, 65534, 65534) != 0)
        skip();
    assert_refused(path, "belongs to user 65534, this process runs as user 0");
    assert_int_equal(chown(path, 0, 0), 0);
}

static void test_password_of_its_own_goes_into_a_redis_url(void **state)
{
    (void)state;
    setenv("CULEX_PASSWORD", "p@ss:w/%?", 1);
    assert_url("redis://host:1/2", NULL, "redis://:p%40ss%3Aw%2F%25%3F@host:1/2");
    assert_url("redis://ann@host", NULL, "redis://ann:p%40ss%3Aw%2F%25%3F@host");
    assert_url("redis+unix:///run/r.sock?db=1", NULL,
               "redis+unix://:p%40ss%3Aw%2F%25%3F@/run/r.sock?db=1");
    assert_url("redis://ann:own@host", NULL, "redis://ann:own@host");
    assert_url("sqlite:jobs.db", NULL, "sqlite:jobs.db");
}

static void test_forgotten_environment_holds_no_password(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"redis://ann:hunter2hunter2@host:1/2", "redis://***"},
        {"redis+unix:///r.sock?password=hunter2&db=1", "redis+unix://***"},
        {"redis+unix:///r.sock?p%61ssword=hunter2", "redis+unix://***"},
        {"redis:hunter2@host", "***"},
        {"redis://@", "redis://*"},
        {"redis://host:1/2", "redis://host:1/2"},
        {"redis+unix:///r.sock?db=1", "redis+unix:///r.sock?db=1"},
        {"sqlite:/a@b?password=c", "sqlite:/a@b?password=c"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        setenv("CULEX_URL", rows[i][0], 1);
        setenv("CULEX_PASSWORD", "hunter2", 1);
        const char *url = getenv("CULEX_URL"), *password = getenv("CULEX_PASSWORD");
        culex__environment_forget();
        assert_string_equal(url, rows[i][1]);
        for (size_t k = strlen(url); k <= strlen(rows[i][0]); k++)
            assert_int_equal(url[k], 0);
        assert_string_equal(password, "***");
        for (size_t k = strlen(password); k < sizeof "hunter2"; k++)
            assert_int_equal(password[k], 0);
    }
}

static void assert_forgotten(const char *url)
{
    char *chosen = NULL;
    culex_error error = {0};
    assert_int_equal(culex__store_url_choose(url, NULL, &chosen, &error), CULEX_EURL);
    assert_null(chosen);
    assert_non_null(strstr(error.text, "taken out of the environment"));
    assert_non_null(strstr(error.text, "culex_run_client"));
}

/* In a handler, and in a program that it starts. */
static void test_forgotten_password_is_told_where_it_is_missed(void **state)
{
    (void)state;
    static const char *const urls[] = {"redis://ann:hunter2@host", "redis:hunter2@host",
                                       "redis+unix:///r.sock?password=hunter2", "redis://@"};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        setenv("CULEX_URL", urls[i], 1);
        culex__environment_forget();
        assert_forgotten(NULL);
        assert_forgotten(getenv("CULEX_URL"));
    }
    static const char *const passwords[] = {"hunter2", "abc", "a"};
    for (size_t i = 0; i < sizeof passwords / sizeof passwords[0]; i++) {
        setenv("CULEX_URL", "redis://host", 1);
        setenv("CULEX_PASSWORD", passwords[i], 1);
        culex__environment_forget();
        assert_forgotten(NULL);
        assert_forgotten("redis+unix:///r.sock");
    }
    assert_url("redis://ann:own@host", NULL, "redis://ann:own@host");
    assert_url("sqlite:***", NULL, "sqlite:***");
    assert_url("sqlite://***", NULL, "sqlite://***");
    setenv("CULEX_PASSWORD", "", 1);
    culex__environment_forget();
    assert_url(NULL, NULL, "redis://host");
}

static void test_client_takes_a_url_file(void **state)
{
    (void)state;
    culex_client *client = NULL;
    culex_error error = {0};
    culex_client_options options = {.url_file = path};
    file_write("memory:storeurl\n", 16, 0600);
    assert_int_equal(culex_client_open(NULL, &options, &client, &error), CULEX_OK);
    culex_client_close(client);
    assert_int_equal(culex_client_open("memory:", &options, &client, &error), CULEX_EUSAGE);
    file_write("redis://:hunter2@127.0.0.1:1", 28, 0600);
    assert_int_equal(culex_client_open(NULL, &options, &client, &error), CULEX_ECONNECT);
    assert_null(strstr(error.text, "hunter2"));
}

#define UNIT(test) cmocka_unit_test_setup(test, setup)

static void test_log_line_shows_no_password(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"redis://ann:se:cr@et@host:1/2", "redis://ann:***@host:1/2"},
        {"redis://:secret@host", "redis://:***@host"},
        {"redis://host:1/2", "redis://host:1/2"},
        {"redis://secret@host:1/2", "redis://***@host:1/2"},
        {"redis:secret@host:1/2", "redis:***@host:1/2"},
        {"secret@host", "***@host"},
        {"redis+unix:///r.sock?password=a%40b", "redis+unix:///r.sock?password=***"},
        {"redis+unix:///r.sock?password=a@b", "redis+unix://***"},
        {"redis+unix:///r.sock?db=1&password=ab&x=1", "redis+unix:///r.sock?db=1&password=***&x=1"},
        {"redis://:a?b=c@h?db=1", "redis://:***"},
        {"redis://:a@h?p%61ssword=d&db=1", "redis://:***@h?p%61ssword=***&db=1"},
        {"redis://h?passwords&password", "redis://h?passwords&password"},
        {"sqlite:a@b:c", "sqlite:a@b:c"},
        {"redis+unix:///s?user=ann&password=se", "redis+unix:///s?user=ann&password=***"},
        {"redis+unix:///s?password=secret&db=1", "redis+unix:///s?password=***&db=1"},
        {"redis://ann:x@host?password=secret", "redis://ann:***@host?password=***"},
        {"redis+unix:///s?password=se@cret", "redis+unix://***"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64];
        culex__store_url_mask(rows[i][0], text, sizeof text);
        assert_string_equal(text, rows[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(test_given_source_wins_and_two_of_a_kind_are_refused),
        UNIT(test_empty_source_is_refused),
        UNIT(test_misspelt_variable_is_refused_where_the_default_would_count),
        UNIT(test_misspelt_password_is_refused_where_none_is_given),
        UNIT(test_file_that_others_may_read_is_refused),
        UNIT(test_file_that_is_no_url_is_refused),
        UNIT(test_file_of_another_user_is_refused_if_root_can_make_one),
        UNIT(test_password_of_its_own_goes_into_a_redis_url),
        UNIT(test_forgotten_environment_holds_no_password),
        UNIT(test_forgotten_password_is_told_where_it_is_missed),
        UNIT(test_url_in_place_of_its_file_is_not_shown),
        UNIT(test_client_takes_a_url_file),
        UNIT(test_log_line_shows_no_password),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
