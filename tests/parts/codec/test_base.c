/* Arena, buffer, error texts, and names that are secrets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/distance.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/secret_name.h"
#include "base/utf8.h"

static void test_arena__memory_is_aligned_zeroed_and_apart(void **state)
{
    culex_arena *arena = culex_arena_create();
    unsigned char *last = NULL;
    (void)state;
    for (size_t size = 0; size < 700; size++) {
        unsigned char *taken = culex_arena_alloc(arena, size);
        assert_non_null(taken);
        assert_int_equal((uintptr_t)taken % _Alignof(max_align_t), 0);
        for (size_t at = 0; at < size; at++)
            assert_int_equal(taken[at], 0);
        memset(taken, 0xA5, size);
        if (last != NULL && size > 1)
            assert_int_equal(last[size - 2], 0xA5);
        last = taken;
    }
    culex_arena_free(arena);
}

static void test_arena__after_a_reset_memory_is_zero_again(void **state)
{
    culex_arena *arena = culex_arena_create();
    (void)state;
    memset(culex_arena_alloc(arena, 100), 0xFF, 100);
    culex_arena_reset(arena);
    const unsigned char *taken = culex_arena_alloc(arena, 100);
    for (size_t at = 0; at < 100; at++)
        assert_int_equal(taken[at], 0);
    culex_arena_free(arena);
}

static void test_arena__text_and_objects_mix(void **state)
{
    culex_arena *arena = culex_arena_create();
    (void)state;
    char *text = culex__arena_bytes(arena, 3);
    void *object = culex_arena_alloc(arena, 8);
    char *large = culex_arena_alloc(arena, 1 << 20);
    assert_true(text != NULL && object != NULL && large != NULL);
    assert_int_equal((uintptr_t)object % _Alignof(max_align_t), 0);
    if (large != NULL)
        large[(1 << 20) - 1] = 'x';
    culex_arena_reset(arena);
    culex_arena_reset(arena);
    assert_non_null(culex_arena_alloc(arena, 8));
    culex_arena_free(arena);
    culex_arena_free(NULL);
}

static void test_arena__impossible_sizes_fail(void **state)
{
    culex_arena *arena = culex_arena_create();
    (void)state;
    assert_null(culex_arena_alloc(arena, SIZE_MAX));
    assert_null(culex_arena_alloc(arena, SIZE_MAX - 8));
    assert_non_null(culex_arena_alloc(arena, 8));
    assert_null(culex_arena_alloc(arena, SIZE_MAX));
    culex_arena_free(arena);
}

static void test_buf__grows_to_its_bound_and_not_beyond(void **state)
{
    culex_buf buf;
    (void)state;
    culex_buf_init(&buf, 1000);
    assert_null(buf.data);
    for (int at = 0; at < 100; at++)
        assert_int_equal(culex__buf_append(&buf, "0123456789", 10), CULEX_OK);
    assert_int_equal(culex__buf_append(&buf, "x", 1), CULEX_ELIMIT);
    assert_int_equal(culex__buf_append(&buf, NULL, 0), CULEX_OK);
    assert_int_equal(strlen(buf.data), 1000);
    assert_true(buf.cap <= 1001);
    assert_int_equal(culex__buf_reserve(&buf, SIZE_MAX), CULEX_ELIMIT);
    culex__buf_cut(&buf, 3);
    assert_string_equal(buf.data, "012");
    culex_buf_release(&buf);
    assert_null(buf.data);
    assert_int_equal(culex__buf_append(&buf, "again", 5), CULEX_OK);
    culex_buf_release(&buf);
}

static void test_buf__no_bound_means_the_payload_limit(void **state)
{
    culex_buf buf;
    (void)state;
    culex_buf_init(&buf, 0);
    assert_int_equal(buf.max, CULEX_PAYLOAD_MAX);
    culex_buf_init(&buf, SIZE_MAX);
    assert_int_equal(culex__buf_reserve(&buf, SIZE_MAX / 2), CULEX_ELIMIT);
    culex_buf_release(&buf);
}

static void test_error__text_is_cut_at_a_character(void **state)
{
    culex_error error;
    char longer[CULEX_ERROR_TEXT_SIZE * 2];
    (void)state;
    memset(longer, 'a', sizeof longer);
    memcpy(longer + CULEX_ERROR_TEXT_SIZE - 2, "\xC3\xA9", 2);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(culex__fail(&error, CULEX_EURL, "%s", longer), CULEX_EURL);
    assert_int_equal(strlen(error.text), CULEX_ERROR_TEXT_SIZE - 2);
    assert_true(culex__utf8_is_valid(error.text, strlen(error.text)));
    assert_string_equal(error.field, "");
}

static void test_error__hostile_bytes_become_question_marks(void **state)
{
    culex_error error;
    (void)state;
    culex__fail_field(&error, CULEX_EDECODE, "f\xFF", "caf\xE9 %d\x1b[0m", 7);
    assert_string_equal(error.text, "caf? 7?[0m");
    assert_string_equal(error.field, "f?");
}

static void test_error__names_begin_no_line(void **state)
{
    culex_error error;
    (void)state;
    culex__fail(&error, CULEX_EINVAL, "queue '%s'", "a\nb\tc\rd");
    assert_string_equal(error.text, "queue 'a\\nb\\tc\\rd'");
    culex__error_context(&error, "in\n%d", 1);
    assert_string_equal(error.text, "in\\n1: queue 'a\\nb\\tc\\rd'");
}

static void test_error__context_goes_before_the_text(void **state)
{
    culex_error error;
    (void)state;
    culex__fail_field(&error, CULEX_EBUSY, "to", "no answer");
    culex__error_context(&error, "queue %s", "mail");
    assert_int_equal(error.code, CULEX_EBUSY);
    assert_string_equal(error.text, "queue mail: no answer");
    assert_string_equal(error.field, "to");
    assert_int_equal(culex__fail(NULL, CULEX_EBUSY, "x"), CULEX_EBUSY);
    culex__error_context(NULL, "x"); /* accepts NULL */
}

static void test_status__every_code_has_a_name_and_a_text(void **state)
{
    (void)state;
    for (int code = 0; code >= -25; code--) {
        assert_string_not_equal(culex_status_text((culex_status)code), "unknown status");
        assert_string_not_equal(culex_status_name((culex_status)code), "unknown");
    }
    assert_string_equal(culex_status_name(CULEX_EINVAL), "EINVAL");
    assert_string_equal(culex_status_text((culex_status)-99), "unknown status");
    assert_string_equal(culex_status_text((culex_status)1), "unknown status");
}

static void test_distance__counts_swaps_as_one(void **state)
{
    char word[66];
    (void)state;
    memset(word, 'a', 65);
    word[65] = '\0';
    assert_int_equal(culex__edit_distance("sting", "string"), 1);
    assert_int_equal(culex__edit_distance("monye", "money"), 1);
    assert_int_equal(culex__edit_distance("", "abc"), 3);
    assert_int_equal(culex__edit_distance("abc", ""), 3);
    assert_int_equal(culex__edit_distance("abc", "xyz"), 3);
    assert_int_equal(culex__edit_distance(word + 1, ""), 64);
    assert_true(culex__edit_distance(word, word) == SIZE_MAX);
    assert_true(culex__edit_distance("", word) == SIZE_MAX);
}

#define KEY     "//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA"
#define URL_KEY "__79_Pv6-fj39vX08_Lx8O_u7ezr6uno5-bl5OPi4eA"
#define HEX     "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0efeeedecebeae9e8e7e6e5e4e3e2e1e0"

static void test_secret_name__keys_and_urls_are_told_from_texts(void **state)
{
    static const char *const secrets[] = {
        KEY "=",
        "2026-10 " KEY "=",
        "2026-10 " KEY "=\nold " KEY "=",
        ("a\t" KEY),
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", /* its '=' lost */
        URL_KEY,
        HEX,
        "k1=" KEY "=",
        "k1:" KEY "=",
        "k1=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
        "k1=" KEY,
        "k1=" URL_KEY,
        "k1:" URL_KEY "=",
        "k1-" URL_KEY,
        "k1 = '" URL_KEY "'",
        "a,k1=" KEY "=",
        "keys = 2026-10 " KEY "=",
        "/etc/x/" KEY "=",
        "redis://u:hunter2@h/0",
        "redis+unix:///run/redis.sock?password=hunter2",
        "rediss://hunter2@h",
        "url=redis://u:hunter2@h",
        "u:hunter2@h",
        "u:hunter2@10.0.0.1:6379",
        ":hunter2@h:6379",
        "u:hunter2@",
        "u:hun,ter2@h",
        "mail:3@8,u:hunter2@h",
        "u:hunter2@h,mail:3@8",
        "--u:hunter2@h",
        "redis:hunter2",
        "Redis:2hunter",
        "url=redis:hunter2",
        "rediss:/u:hunter2",
    };
    static const char *const texts[] = {
        "",
        "keys",
        "mail",
        "mail:3@8,reports@2",
        "mail:x@8",
        "mail:3@",
        "mail:3,redis:2",
        "127.0.0.1:6379",
        "redis:6379",
        "redis:6379/0",
        "redis:",
        "[::1]:6379",
        "redis://127.0.0.1:6379/0",
        "redis+unix:///run/redis.sock",
        "worker@host",
        "one two",
        "10 s",
        "gpu=2,tape=1",
        "/etc/shop/keys",
        "/home/u/My Shop/keys",
        "/srv/a:b@c/keys",
        "./My Shop/keys",
        "../a b",
        "/var/lib/some/application/configured/secrets", /* 44 letters of base64 */
        "var/lib/Some/Application/Configured/In/Words/secrets",
        "/run/user/1000/2f9c0e1d-6a8b-4b52-9d57-0f5a7be1c3aa/keys",
        "keys-2f9c0e1d-6a8b-4b52-9d57-0f5a7be1c3aa-2026",
        "The-Worker-Of-The-Shop-In-The-Second-House_And-Its-Name",
        "keys=of=shop"};
    (void)state;
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
        if (!culex__text_is_secret(secrets[i]) || !culex__name_is_secret(secrets[i]))
            fail_msg("'%s' is shown", secrets[i]);
        assert_string_equal(culex__text_shown(secrets[i]), CULEX_SECRET_UNSHOWN);
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (culex__text_is_secret(texts[i]))
            fail_msg("'%s' is not shown", texts[i]);
        assert_ptr_equal(culex__text_shown(texts[i]), texts[i]);
    }
}

/* Where a secret is likelier than such a name. */
static void test_secret_name__names_of_files_of_secrets_are_judged_harder(void **state)
{
    static const char *const secrets[] = {"2026-10 hunter2", "hunter2\n", "/etc/x\n", " a",
                                          "redis://h/0"};
    static const char *const paths[] = {"",       "keys",           "/etc/shop/keys",
                                        "../a b", "./My Shop/keys", "/home/u/My Shop/keys"};
    (void)state;
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
        assert_true(culex__name_is_secret(secrets[i]));
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        assert_false(culex__name_is_secret(paths[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secret_name__keys_and_urls_are_told_from_texts),
        cmocka_unit_test(test_secret_name__names_of_files_of_secrets_are_judged_harder),
        cmocka_unit_test(test_arena__memory_is_aligned_zeroed_and_apart),
        cmocka_unit_test(test_arena__after_a_reset_memory_is_zero_again),
        cmocka_unit_test(test_arena__text_and_objects_mix),
        cmocka_unit_test(test_arena__impossible_sizes_fail),
        cmocka_unit_test(test_buf__grows_to_its_bound_and_not_beyond),
        cmocka_unit_test(test_buf__no_bound_means_the_payload_limit),
        cmocka_unit_test(test_error__text_is_cut_at_a_character),
        cmocka_unit_test(test_error__hostile_bytes_become_question_marks),
        cmocka_unit_test(test_error__names_begin_no_line),
        cmocka_unit_test(test_error__context_goes_before_the_text),
        cmocka_unit_test(test_distance__counts_swaps_as_one),
        cmocka_unit_test(test_status__every_code_has_a_name_and_a_text),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
