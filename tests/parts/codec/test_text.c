/* Texts of single values: numbers, floats, times, durations, UUIDs, base64, UTF-8. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "core/base64.h"
#include "core/duration.h"
#include "core/float.h"
#include "core/number.h"
#include "core/timestamp.h"
#include "core/uuid.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void assert_text(const char *expected, const char *text, size_t len)
{
    if (strlen(expected) != len || memcmp(expected, text, len) != 0)
        fail_msg("expected %s, found %.*s", expected, (int)len, text);
}

static void test_integers__boundaries_print_and_read_back(void **state)
{
    static const int64_t values[] = {0,         1,         -1,        9,         10,       99,
                                     100,       101,       999,       -100,      INT8_MIN, INT8_MAX,
                                     INT16_MIN, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    char text[CULEX_NUMBER_TEXT_MAX];
    char expected[CULEX_NUMBER_TEXT_MAX];
    (void)state;
    for (size_t at = 0; at < COUNT(values); at++) {
        int64_t back = 0;
        size_t len = culex__int64_format(values[at], text);
        snprintf(expected, sizeof expected, "%lld", (long long)values[at]);
        assert_text(expected, text, len);
        assert_true(culex__int64_parse(text, len, &back));
        assert_true(back == values[at]);
    }
    uint64_t top = 0;
    assert_text("18446744073709551615", text, culex__uint64_format(UINT64_MAX, text));
    assert_true(culex__uint64_parse("18446744073709551615", 20, &top));
    assert_true(top == UINT64_MAX);
}

static void test_integers__every_other_form_is_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "-",
                                      "+1",
                                      "01",
                                      "-0",
                                      "00",
                                      "1.0",
                                      "1e3",
                                      " 1",
                                      "1 ",
                                      "0x1",
                                      "--1",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "18446744073709551616",
                                      "99999999999999999999999",
                                      "1a"};
    int64_t value = 42;
    (void)state;
    for (size_t at = 0; at < COUNT(bad); at++) {
        if (culex__int64_parse(bad[at], strlen(bad[at]), &value))
            fail_msg("accepted %s", bad[at]);
    }
    uint64_t positive = 42;
    assert_false(culex__uint64_parse("-1", 2, &positive));
    assert_false(culex__uint64_parse("18446744073709551616", 20, &positive));
    assert_true(value == 42 && positive == 42);
}

static void test_int128__boundaries_print_and_read_back(void **state)
{
    static const struct {
        culex_int128 value;
        const char *text;
    } rows[] = {
        {{0, 0}, "0"},
        {{UINT64_MAX, -1}, "-1"},
        {{0, 1}, "18446744073709551616"},
        {{UINT64_MAX, INT64_MAX}, "170141183460469231731687303715884105727"},
        {{0, INT64_MIN}, "-170141183460469231731687303715884105728"},
        {{UINT64_C(10000000000000000000), 0}, "10000000000000000000"},
        {{UINT64_C(687399551400673280), UINT64_C(5421010862427522170)},
         "100000000000000000000000000000000000000"},
    };
    char text[CULEX_NUMBER_TEXT_MAX];
    (void)state;
    for (size_t at = 0; at < COUNT(rows); at++) {
        culex_int128 back;
        assert_text(rows[at].text, text, culex__int128_format(rows[at].value, text));
        assert_true(culex__int128_parse(rows[at].text, strlen(rows[at].text), &back));
        assert_true(back.lo == rows[at].value.lo && back.hi == rows[at].value.hi);
    }
    culex_uint128 top = {UINT64_MAX, UINT64_MAX};
    assert_text("340282366920938463463374607431768211455", text, culex__uint128_format(top, text));
}

static void test_int128__out_of_range_is_refused(void **state)
{
    static const char *const bad[] = {"170141183460469231731687303715884105728",
                                      "-170141183460469231731687303715884105729",
                                      "340282366920938463463374607431768211456",
                                      "-0",
                                      "",
                                      "-"};
    culex_int128 value;
    culex_uint128 positive;
    (void)state;
    for (size_t at = 0; at < COUNT(bad); at++)
        assert_false(culex__int128_parse(bad[at], strlen(bad[at]), &value));
    assert_false(culex__uint128_parse(bad[2], strlen(bad[2]), &positive));
    assert_false(culex__uint128_parse("9999999999999999999999999999999999999999", 40, &positive));
    assert_true(culex__uint128_parse("340282366920938463463374607431768211455", 39, &positive));
}

static const struct {
    double value;
    const char *text;
} float64_rows[] = {
    {0.0, "0"},
    {-0.0, "-0"},
    {1.0, "1"},
    {-1.5, "-1.5"},
    {0.1, "0.1"},
    {0.3, "0.3"},
    {0x1.3333333333334p-2, "0.30000000000000004"}, /* 0.1 + 0.2 */
    {1.0 / 3, "0.3333333333333333"},
    {100, "100"},
    {123456789012345680.0, "123456789012345680"},
    {9007199254740993.0, "9007199254740992"},
    {1e20, "100000000000000000000"},
    {1e21, "1e21"},
    {1e22, "1e22"},
    {1.25e-7, "1.25e-7"},
    {1e-6, "0.000001"},
    {0.000123, "0.000123"},
    {1e-5, "0.00001"},
    {5e-324, "5e-324"},
    {DBL_MIN, "2.2250738585072014e-308"},
    {DBL_MAX, "1.7976931348623157e308"},
    {4.35, "4.35"},
    {1e15, "1000000000000000"},
    {999999.5, "999999.5"},
};

static void check_floats(void)
{
    char text[CULEX_FLOAT_TEXT_MAX];
    for (size_t at = 0; at < COUNT(float64_rows); at++) {
        double back = NAN;
        double value = float64_rows[at].value;
        size_t len = culex__float64_format(value, text);
        assert_text(float64_rows[at].text, text, len);
        assert_true(culex__float64_parse(text, len, &back));
        assert_memory_equal(&back, &value, sizeof back);
    }
}

static void test_float64__prints_shortest_and_reads_back(void **state)
{
    (void)state;
    check_floats();
}

/* libc of a process whose decimal point is two bytes of another script. Wrapped by the linker,
 * because such locales are rarely installed where tests run. */
static bool is_foreign;
static int foreign_reads;

double __real_strtod(const char *text, char **ret_end);
double __wrap_strtod(const char *text, char **ret_end);
int __wrap_snprintf(char *text, size_t size, const char *format, ...) CULEX_PRINTF(3, 4);

double __wrap_strtod(const char *text, char **ret_end)
{
    char whole[64];
    if (!is_foreign)
        return __real_strtod(text, ret_end);
    foreign_reads++;
    snprintf(whole, sizeof whole, "%.*s", (int)strcspn(text, "."), text);
    return __real_strtod(whole, NULL);
}

int __wrap_snprintf(char *text, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, size, format, args);
    va_end(args);
    char *point = is_foreign && len > 0 && (size_t)len + 1 < size ? strchr(text, '.') : NULL;
    if (point == NULL)
        return len;
    memmove(point + 2, point + 1, strlen(point + 1) + 1);
    point[0] = (char)0xD9;
    point[1] = (char)0xAB;
    return len + 1;
}

static void test_float64__decimal_point_of_the_process_changes_nothing(void **state)
{
    (void)state;
    foreign_reads = 0;
    is_foreign = true;
    check_floats();
    is_foreign = false;
    assert_true(foreign_reads > 0);
}

static void test_float32__prints_shortest_of_its_own_width(void **state)
{
    static const struct {
        float value;
        const char *text;
    } rows[] = {{0.1F, "0.1"},     {0.17F, "0.17"},           {16777216.0F, "16777216"},
                {1e-45F, "1e-45"}, {FLT_MAX, "3.4028235e38"}, {FLT_MIN, "1.1754944e-38"},
                {-0.0F, "-0"},     {1.0F / 3, "0.33333334"},  {1e10F, "10000000000"}};
    char text[CULEX_FLOAT_TEXT_MAX];
    (void)state;
    for (size_t at = 0; at < COUNT(rows); at++) {
        float back = NAN;
        size_t len = culex__float32_format(rows[at].value, text);
        assert_text(rows[at].text, text, len);
        assert_true(culex__float32_parse(text, len, &back));
        assert_memory_equal(&back, &rows[at].value, sizeof back);
    }
}

static void test_floats__random_bits_read_back(void **state)
{
    uint64_t seed = 88172645463325252;
    char text[CULEX_FLOAT_TEXT_MAX];
    (void)state;
    for (int round = 0; round < 50000; round++) {
        double value;
        double back;
        float narrow;
        float narrow_back;
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        memcpy(&value, &seed, sizeof value);
        memcpy(&narrow, &seed, sizeof narrow);
        if (isfinite(value)) {
            assert_true(culex__float64_parse(text, culex__float64_format(value, text), &back));
            assert_memory_equal(&back, &value, sizeof back);
        }
        if (isfinite(narrow)) {
            size_t len = culex__float32_format(narrow, text);
            assert_true(culex__float32_parse(text, len, &narrow_back));
            assert_memory_equal(&narrow_back, &narrow, sizeof narrow);
        }
    }
}

static void test_floats__text_means_what_libc_says(void **state)
{
    static const char *const texts[] = {"1e400000000000000000000000",
                                        "-1e400",
                                        "1e309",
                                        "1.7976931348623159e308",
                                        "3.5e38",
                                        "1e-400000000000000000000000",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "0e999999999999999999",
                                        "0.000000000000000000000000000001e30",
                                        "179769313486231580793728971405301e276",
                                        "1E5",
                                        "1e+5",
                                        "123456789.123456789e-5",
                                        "9007199254740993",
                                        "9007199254740993.00000000000000000000000000000001",
                                        "8388609.5",
                                        "16777217",
                                        "16777219.0",
                                        "1.00000005960464477539062500000001",
                                        "1.000000059604644775390625",
                                        "0.1e1",
                                        "100000e-5",
                                        "565561105501317e-8"};
    (void)state;
    for (size_t at = 0; at < COUNT(texts); at++) {
        double wide = 42;
        float narrow = 42;
        double wide_libc = strtod(texts[at], NULL);
        float narrow_libc = strtof(texts[at], NULL);
        assert_int_equal(culex__float64_parse(texts[at], strlen(texts[at]), &wide),
                         isfinite(wide_libc) != 0);
        assert_int_equal(culex__float32_parse(texts[at], strlen(texts[at]), &narrow),
                         isfinite(narrow_libc) != 0);
        if (isfinite(wide_libc))
            assert_memory_equal(&wide, &wide_libc, sizeof wide);
        if (isfinite(narrow_libc))
            assert_memory_equal(&narrow, &narrow_libc, sizeof narrow);
    }
}

/* Halfway between two doubles in the first 800 digits and not in the last. */
static void test_floats__a_very_late_digit_still_decides(void **state)
{
    char text[3000] = "9007199254740993.";
    double value = 0;
    (void)state;
    memset(text + 17, '0', 2900);
    assert_true(culex__float64_parse(text, 2900, &value));
    assert_true(value == 9007199254740992.0);
    text[2899] = '1';
    assert_true(culex__float64_parse(text, 2900, &value));
    assert_true(value == 9007199254740994.0);
}

static void test_timestamp__prints_and_reads_back(void **state)
{
    static const struct {
        culex_time time;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00Z"},
        {-1, "1969-12-31T23:59:59.999999999Z"},
        {1, "1970-01-01T00:00:00.000000001Z"},
        {INT64_C(1500000000), "1970-01-01T00:00:01.5Z"},
        {INT64_C(951782400000000000), "2000-02-29T00:00:00Z"},
        {INT64_C(1795234800120000000), "2026-11-21T04:20:00.12Z"},
        {INT64_C(-2203891200000000000), "1900-03-01T00:00:00Z"},
        {INT64_MAX, "2262-04-11T23:47:16.854775807Z"},
        {INT64_MIN, "1677-09-21T00:12:43.145224192Z"},
    };
    char text[CULEX_TIMESTAMP_TEXT_MAX];
    (void)state;
    for (size_t at = 0; at < COUNT(rows); at++) {
        culex_time back = 42;
        assert_text(rows[at].text, text, culex__timestamp_format(rows[at].time, text));
        assert_true(culex__timestamp_parse(rows[at].text, strlen(rows[at].text), &back));
        assert_true(back == rows[at].time);
    }
}

static void test_timestamp__offsets_are_taken_into_account(void **state)
{
    static const char *const same[] = {"2026-11-21T04:20:00Z", "2026-11-21T06:20:00+02:00",
                                       "2026-11-20T22:50:00-05:30", "2026-11-21T04:20:00.000-00:00",
                                       "2026-11-21T04:20:00.000000000Z"};
    (void)state;
    for (size_t at = 0; at < COUNT(same); at++) {
        culex_time time = 0;
        assert_true(culex__timestamp_parse(same[at], strlen(same[at]), &time));
        assert_true(time == INT64_C(1795234800000000000));
    }
}

static void test_timestamp__what_does_not_exist_is_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "2026-11-21",
                                      "2026-11-21T04:20:00",
                                      "2026-11-21 04:20:00Z",
                                      "2026-13-01T00:00:00Z",
                                      "2026-00-01T00:00:00Z",
                                      "2026-02-29T00:00:00Z",
                                      "1900-02-29T00:00:00Z",
                                      "2026-04-31T00:00:00Z",
                                      "2026-01-00T00:00:00Z",
                                      "2026-01-01T24:00:00Z",
                                      "2026-01-01T00:60:00Z",
                                      "2026-01-01T00:00:60Z",
                                      "2026-01-01T00:00:00.Z",
                                      "2026-01-01T00:00:00.1234567890Z",
                                      "2026-01-01T00:00:00+2:00",
                                      "2026-01-01T00:00:00+24:00",
                                      "2026-01-01T00:00:00+02:60",
                                      "2026-01-01T00:00:00ZZ",
                                      "2026-01-01T00:00:00z",
                                      "+026-01-01T00:00:00Z",
                                      "2262-04-11T23:47:16.854775808Z",
                                      "1677-09-21T00:12:43.145224191Z",
                                      "9999-12-31T23:59:59Z",
                                      "0000-01-01T00:00:00Z",
                                      "2026-1-01T00:00:00Z"};
    culex_time time;
    (void)state;
    for (size_t at = 0; at < COUNT(bad); at++) {
        if (culex__timestamp_parse(bad[at], strlen(bad[at]), &time))
            fail_msg("accepted %s", bad[at]);
    }
}

/* The calendar against libc's, a day at a time over the whole range. */
static void test_timestamp__every_day_is_the_day_libc_says(void **state)
{
    char text[CULEX_TIMESTAMP_TEXT_MAX];
    char expected[32];
    (void)state;
    for (int64_t day = -106751; day <= 106751; day++) {
        time_t seconds = (time_t)(day * 86400);
        struct tm tm;
        culex_time back = 0;
        if (seconds != day * 86400)
            continue; /* of 32 bits: libc has no such day */
        gmtime_r(&seconds, &tm);
        strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%SZ", &tm);
        size_t len = culex__timestamp_format(day * 86400 * CULEX_SECOND, text);
        assert_text(expected, text, len);
        assert_true(culex__timestamp_parse(text, len, &back));
        assert_true(back == day * 86400 * CULEX_SECOND);
    }
}

static void test_duration__prints_and_reads_back(void **state)
{
    static const struct {
        culex_duration duration;
        const char *text;
    } rows[] = {{0, "0s"},
                {CULEX_SECOND, "1s"},
                {1500 * CULEX_MILLISECOND, "1.5s"},
                {-1500 * CULEX_MILLISECOND, "-1.5s"},
                {-1, "-0.000000001s"},
                {CULEX_HOUR, "3600s"},
                {INT64_MAX, "9223372036.854775807s"},
                {INT64_MIN, "-9223372036.854775808s"}};
    char text[CULEX_DURATION_TEXT_MAX];
    (void)state;
    for (size_t at = 0; at < COUNT(rows); at++) {
        culex_duration back = 42;
        assert_text(rows[at].text, text, culex__duration_format(rows[at].duration, text));
        assert_true(culex__duration_parse(rows[at].text, strlen(rows[at].text), &back));
        assert_true(back == rows[at].duration);
    }
}

static void test_duration__other_forms_are_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "s",
                                      "1",
                                      "1.s",
                                      ".5s",
                                      "+1s",
                                      "01s",
                                      "-0s",
                                      "-0.0s",
                                      "1h",
                                      "1e3s",
                                      "1.5 s",
                                      "1s ",
                                      "1.1234567891s",
                                      "--1s",
                                      "9223372036.854775808s",
                                      "-9223372036.854775809s",
                                      "18446744073709551615s",
                                      "99999999999999999999s"};
    culex_duration duration;
    (void)state;
    for (size_t at = 0; at < COUNT(bad); at++) {
        if (culex__duration_parse(bad[at], strlen(bad[at]), &duration))
            fail_msg("accepted %s", bad[at]);
    }
}

static void test_uuid__prints_lower_and_reads_either_case(void **state)
{
    static const char text[] = "0190f3a1-7c4e-7bcd-8e11-00ffa5b6c7d8";
    char back[CULEX_UUID_TEXT_SIZE];
    culex_uuid id;
    culex_uuid upper;
    (void)state;
    assert_true(culex_uuid_parse(text, &id));
    assert_true(culex_uuid_parse("0190F3A1-7C4E-7BCD-8E11-00FFA5B6C7D8", &upper));
    assert_memory_equal(&id, &upper, sizeof id);
    culex_uuid_format(id, back);
    assert_string_equal(back, text);
}

static void test_uuid__anything_else_is_refused_and_leaves_the_id_alone(void **state)
{
    static const char *const bad[] = {"",
                                      "0190f3a1",
                                      "0190f3a1-7c4e-7bcd-8e11-00ffa5b6c7d",
                                      "0190f3a1-7c4e-7bcd-8e11-00ffa5b6c7d8a",
                                      "0190f3a1x7c4e-7bcd-8e11-00ffa5b6c7d8",
                                      "0190f3a1-7c4e-7bcd-8e11-00ffa5b6c7dg",
                                      "{190f3a1-7c4e-7bcd-8e11-00ffa5b6c7d}",
                                      "0190f3a17c4e7bcd8e1100ffa5b6c7d80000"};
    culex_uuid id = {{7}};
    (void)state;
    for (size_t at = 0; at < COUNT(bad); at++)
        assert_false(culex_uuid_parse(bad[at], &id));
    assert_int_equal(id.b[0], 7);
}

static void test_base64__known_texts_come_out_and_back(void **state)
{
    static const struct {
        const char *bytes;
        const char *text;
    } rows[] = {{"", ""},
                {"f", "Zg=="},
                {"fo", "Zm8="},
                {"foo", "Zm9v"},
                {"foob", "Zm9vYg=="},
                {"fooba", "Zm9vYmE="},
                {"\xff\xfe\xfb", "//77"}};
    char text[16];
    uint8_t bytes[16];
    (void)state;
    for (size_t at = 0; at < COUNT(rows); at++) {
        size_t len = strlen(rows[at].bytes);
        size_t back = 99;
        culex__base64_format((const uint8_t *)rows[at].bytes, len, text);
        assert_text(rows[at].text, text, culex__base64_size(len));
        assert_true(culex__base64_parse(rows[at].text, strlen(rows[at].text), bytes, &back));
        assert_int_equal(back, len);
        assert_memory_equal(bytes, rows[at].bytes, len);
    }
}

static void test_base64__loose_forms_are_refused(void **state)
{
    static const char *const bad[] = {"Z",    "Zg",   "Zg=",   "Zh==", "Zm9=",   "Zg==Zg==", "=Zg=",
                                      "Z===", "====", "Zm 9v", "Zm-_", "Zm9v\n", "Zg=a"};
    uint8_t bytes[16];
    size_t len;
    (void)state;
    for (size_t at = 0; at < COUNT(bad); at++) {
        if (culex__base64_parse(bad[at], strlen(bad[at]), bytes, &len))
            fail_msg("accepted %s", bad[at]);
    }
}

static void test_utf8__only_well_formed_characters_count(void **state)
{
    static const char *const good[] = {"",           "abc",        "\u00e9",         "\u20ac",
                                       "\U0001F600", "\U0010FFFF", "12345678\u00e9", "\u0800",
                                       "\uFFFF"};
    static const char *const bad[] = {"\x80",
                                      "\xC0\x80",
                                      "\xC1\xBF",
                                      "\xC3",
                                      "\xE0\x80\x80",
                                      "\xE2\x82",
                                      "\xED\xA0\x80",
                                      "\xED\xBF\xBF",
                                      "\xF0\x80\x80\x80",
                                      "\xF4\x90\x80\x80",
                                      "\xF5\x80\x80\x80",
                                      "\xFF",
                                      "12345678\xE9",
                                      "\xC3\x28"};
    (void)state;
    for (size_t at = 0; at < COUNT(good); at++)
        assert_true(culex__utf8_is_valid(good[at], strlen(good[at])));
    for (size_t at = 0; at < COUNT(bad); at++)
        assert_false(culex__utf8_is_valid(bad[at], strlen(bad[at])));
}

static void test_utf8__each_character_is_written_as_it_is_read(void **state)
{
    char bytes[4];
    (void)state;
    for (uint32_t code = 0; code <= 0x10FFFF; code += code == 0xD7FF ? 0x801 : 1) {
        size_t len = culex__utf8_write(code, bytes);
        if (culex__utf8_char(bytes, len) != len || culex__utf8_code(bytes, len) != code)
            fail_msg("U+%04X", (unsigned)code);
    }
}

static void test_utf8__prefix_ends_at_the_first_malformed_byte(void **state)
{
    (void)state;
    assert_int_equal(culex__utf8_prefix("a\u20ac\U0001F600", 8), 8);
    assert_int_equal(culex__utf8_prefix("a\u20ac\U0001F600", 7), 4);
    assert_int_equal(culex__utf8_prefix("12345678\u00e9\xE9\u00e9", 13), 10);
    assert_int_equal(culex__utf8_prefix("1234567\xE9", 8), 7);
    assert_int_equal(culex__utf8_prefix("\xff", 1), 0);
}

static void test_utf8__clean_text_is_valid_and_cut_at_a_border(void **state)
{
    char clean[8];
    (void)state;
    assert_int_equal(culex__utf8_clean(clean, sizeof clean,
                                       "a\xFF\x01"
                                       "b",
                                       4),
                     4);
    assert_string_equal(clean, "a??b");
    assert_int_equal(culex__utf8_clean(clean, sizeof clean, "abcdef\u20ac", 9), 6);
    assert_string_equal(clean, "abcdef");
    assert_int_equal(culex__utf8_clean(clean, 1, "abc", 3), 0);
    assert_string_equal(clean, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers__boundaries_print_and_read_back),
        cmocka_unit_test(test_integers__every_other_form_is_refused),
        cmocka_unit_test(test_int128__boundaries_print_and_read_back),
        cmocka_unit_test(test_int128__out_of_range_is_refused),
        cmocka_unit_test(test_float64__prints_shortest_and_reads_back),
        cmocka_unit_test(test_float64__decimal_point_of_the_process_changes_nothing),
        cmocka_unit_test(test_float32__prints_shortest_of_its_own_width),
        cmocka_unit_test(test_floats__random_bits_read_back),
        cmocka_unit_test(test_floats__text_means_what_libc_says),
        cmocka_unit_test(test_floats__a_very_late_digit_still_decides),
        cmocka_unit_test(test_timestamp__prints_and_reads_back),
        cmocka_unit_test(test_timestamp__offsets_are_taken_into_account),
        cmocka_unit_test(test_timestamp__what_does_not_exist_is_refused),
        cmocka_unit_test(test_timestamp__every_day_is_the_day_libc_says),
        cmocka_unit_test(test_duration__prints_and_reads_back),
        cmocka_unit_test(test_duration__other_forms_are_refused),
        cmocka_unit_test(test_uuid__prints_lower_and_reads_either_case),
        cmocka_unit_test(test_uuid__anything_else_is_refused_and_leaves_the_id_alone),
        cmocka_unit_test(test_base64__known_texts_come_out_and_back),
        cmocka_unit_test(test_base64__loose_forms_are_refused),
        cmocka_unit_test(test_utf8__only_well_formed_characters_count),
        cmocka_unit_test(test_utf8__each_character_is_written_as_it_is_read),
        cmocka_unit_test(test_utf8__prefix_ends_at_the_first_malformed_byte),
        cmocka_unit_test(test_utf8__clean_text_is_valid_and_cut_at_a_border),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
