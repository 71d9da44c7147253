/* Store URLs: what they mean, and what is said about bad ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/redis/conn.h"

struct good {
    const char *url, *host;
    int port;
    const char *path, *user, *password;
    int database;
};

static const struct good goods[] = {
    {"redis://", "127.0.0.1", 6379, NULL, NULL, NULL, 0},
    {"redis://host", "host", 6379, NULL, NULL, NULL, 0},
    {"redis://host:1/", "host", 1, NULL, NULL, NULL, 0},
    {"redis://host/3", "host", 6379, NULL, NULL, NULL, 3},
    {"redis://:pw@host:65535/15", "host", 65535, NULL, NULL, "pw", 15},
    {"redis://ann:p%40w%3a%2F@host", "host", 6379, NULL, "ann", "p@w:/", 0},
    {"redis://a:b@c@host", "host", 6379, NULL, "a", "b@c", 0},
    {"redis://[::1]", "::1", 6379, NULL, NULL, NULL, 0},
    {"redis://u:p@[fe80::1]:7000/2", "fe80::1", 7000, NULL, "u", "p", 2},
    {"redis+unix:///run/r.sock", NULL, 0, "/run/r.sock", NULL, NULL, 0},
    {"redis+unix:///a%20b?db=4&user=x&password=y%26z", NULL, 0, "/a b", "x", "y&z", 4},
};

static void assert_text(const char *found, const char *wanted)
{
    if (wanted == NULL)
        assert_null(found);
    else
        assert_string_equal(found, wanted);
}

static void test_url__each_part_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof goods / sizeof goods[0]; i++) {
        struct culex__redis_target target;
        culex_error error;
        if (culex__redis_target_parse(goods[i].url, &target, &error) != CULEX_OK)
            fail_msg("%s: %s", goods[i].url, error.text);
        assert_text(target.address.host, goods[i].host);
        assert_int_equal(target.address.port, goods[i].port);
        assert_text(target.address.path, goods[i].path);
        assert_text(target.user, goods[i].user);
        assert_text(target.password, goods[i].password);
        assert_int_equal(target.database, goods[i].database);
        culex__redis_target_release(&target);
    }
}

static const struct {
    const char *url, *says;
} bads[] = {
    {"redis", "scheme"},
    {"://host", "scheme"},
    {"redis://host:", "port"},
    {"redis://host:0", "port"},
    {"redis://host:65536", "port"},
    {"redis://host:12x", "port"},
    {"redis://host:99999999999999999999", "port"},
    {"redis://::1", "brackets"},
    {"redis://[::1", "[::1]"},
    {"redis://[::1]x", "[::1]"},
    {"redis://host/x", "database"},
    {"redis://host/-1", "database"},
    {"redis://host/1/2", "database"},
    {"redis://sEcret@host", "password"},
    {"redis://:sEcret%@host", "password"},
    {"redis://:sEcret%zz@host", "password"},
    {"redis://:sEcret%00@host", "NUL"},
    {"redis://:sEcret@host:port", "port"},
    {"redis://:sEcret@ho st", "position"},
    {"redis://:sEcret@host?x=1", "'x'"},
    {"redis://host?db=1", "'db'"},
    {"redis://host?x", "name=value"},
    {"redis://host?=1", "name=value"},
    {"redis+unix://host/path", "three slashes"},
    {"redis+unix://", "three slashes"},
    {"redis+unix:///p?db=x", "database"},
    {"redis://h?user=ann", "a user without a password; write user:password@host"},
    {"redis+unix:///s?user=ann&db=1", "a user without a password; write ?user=USER&password="},
    {"redis://h?user=1&user=2&user=3&user=4&user=5&user=6&user=7&user=8&user=9", "parameters"},
};

static void test_url__bad_ones_say_what_and_never_the_password(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        struct culex_store *store;
        culex_error error;
        if (culex__store_open(bads[i].url, NULL, culex__env_system(), &store, &error) != CULEX_EURL)
            fail_msg("%s was taken", bads[i].url);
        if (strstr(error.text, bads[i].says) == NULL || strstr(error.text, "sEcret") != NULL)
            fail_msg("%s: %s", bads[i].url, error.text);
    }
}

static void test_url__tls_says_what_to_do(void **state)
{
    (void)state;
    struct culex_store *store;
    culex_error error;
    assert_int_equal(
        culex__store_open("rediss://:sEcret@host", NULL, culex__env_system(), &store, &error),
        CULEX_EUNSUPPORTED);
    assert_non_null(strstr(error.text, "tunnel"));
    assert_null(strstr(error.text, "sEcret"));
}

static void test_url__long_one_is_refused(void **state)
{
    (void)state;
    struct culex__redis_target target;
    char *url = malloc(100001);
    memset(url, 'a', 100000);
    memcpy(url, "redis://", 8);
    url[100000] = '\0';
    assert_int_equal(culex__redis_target_parse(url, &target, NULL), CULEX_EURL);
    free(url);
}

static void test_store_open__unknown_scheme_is_refused_with_those_known(void **state)
{
    (void)state;
    struct culex_store *store;
    culex_error error;
    assert_int_equal(
        culex__store_open("mysql://u:sEcret@h", NULL, culex__env_system(), &store, &error),
        CULEX_EURL);
    assert_string_equal(error.text, "store URL has the unknown scheme 'mysql'; known are sqlite:, "
                                    "memory:, redis:// and redis+unix://");
    assert_int_equal(culex__store_open("sEcret@h:6379", NULL, culex__env_system(), &store, &error),
                     CULEX_EURL);
    assert_non_null(strstr(error.text, "store URL has no scheme"));
    assert_int_equal(culex__store_open("", NULL, culex__env_system(), &store, &error), CULEX_EURL);
    assert_string_equal(error.text, "store URL has no scheme; write sqlite:PATH, memory: or "
                                    "redis://HOST[:PORT][/DB]");
}

/* Every prefix and every changed byte of good ones: no crash, and under ASan no overrun. */
static void test_url__no_changed_byte_breaks_the_parser(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof goods / sizeof goods[0]; i++) {
        size_t len = strlen(goods[i].url);
        for (size_t at = 0; at < len; at++) {
            for (int byte = 0; byte < 256; byte++) {
                char *url = strdup(goods[i].url);
                struct culex__redis_target target;
                url[at] = (char)byte;
                if (culex__redis_target_parse(url, &target, NULL) == CULEX_OK)
                    culex__redis_target_release(&target);
                free(url);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_url__each_part_is_read),
        cmocka_unit_test(test_url__bad_ones_say_what_and_never_the_password),
        cmocka_unit_test(test_url__tls_says_what_to_do),
        cmocka_unit_test(test_url__long_one_is_refused),
        cmocka_unit_test(test_store_open__unknown_scheme_is_refused_with_those_known),
        cmocka_unit_test(test_url__no_changed_byte_breaks_the_parser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
