/* unit.c - the small parts of the front end, each by a table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "diag_print.h"
#include "duration.h"
#include "lexer.h"
#include "literal.h"
#include "setting.h"
#include "suggest.h"
#include "wide.h"

static void test_duration__takes_units_from_large_to_small_only(void **state)
{
    static const struct {
        const char *text;
        int64_t ns; /* of another sign: refused */
    } below[] = {{"-1ns", -1},
                 {"-0s", 0},
                 {"-9223372036854775807ns", -INT64_MAX},
                 {"-15250w1d23h47m16s854ms775us808ns", INT64_MIN},
                 {"-9223372036854775808ns", INT64_MIN},
                 {"-9223372036854775809ns", 1},
                 {"-18446744073709551616ns", 1}},
      cases[] = {{"1ns", 1},
                 {"1us", 1000},
                 {"1ms", 1000000},
                 {"1s", 1000000000},
                 {"1m30s", INT64_C(90000000000)},
                 {"1w2d3h4m5s6ms7us8ns", INT64_C(788645006007008)},
                 {"0s", 0},
                 {"9223372036s", INT64_C(9223372036000000000)},
                 {"9223372036854775807ns", INT64_MAX},
                 {"9223372036854775808ns", -1},
                 {"15251w", -1},
                 {"5s1m", -1},
                 {"1s1s", -1}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ns = -1;
        const char *fault = duration_read(cases[i].text, strlen(cases[i].text), false, &ns);
        assert_int_equal(ns, cases[i].ns);
        assert_int_equal(fault == NULL, cases[i].ns >= 0);
    }
    for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
        int64_t ns = 1;
        const char *text = below[i].text + 1;
        const char *fault = duration_read(text, strlen(text), true, &ns);
        assert_int_equal(ns, below[i].ns);
        assert_int_equal(fault == NULL, below[i].ns <= 0);
    }
}

static void test_wide__reads_and_prints_128_bits(void **state)
{
    static const struct {
        const char *text, *decimal; /* NULL: does not fit */
    } cases[] = {
        {"0", "0"},
        {"1_000", "1000"},
        {"0xFF", "255"},
        {"0b101", "5"},
        {"18446744073709551616", "18446744073709551616"},
        {"340282366920938463463374607431768211455", "340282366920938463463374607431768211455"},
        {"340282366920938463463374607431768211456", NULL},
        {"0xffffffffffffffffffffffffffffffff", "340282366920938463463374607431768211455"}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wide wide;
        char text[WIDE_TEXT_BYTES];
        bool fits = wide_parse(cases[i].text, strlen(cases[i].text), &wide);
        assert_int_equal(fits, cases[i].decimal != NULL);
        if (fits) {
            wide_format(wide, text);
            assert_string_equal(text, cases[i].decimal);
        }
    }
}

static void test_wide__holds_the_least_and_the_most_of_each_type(void **state)
{
    char text[WIDE_TEXT_BYTES];
    int64_t value;
    (void)state;
    wide_format(wide_type_min(128, true), text);
    assert_string_equal(text, "-170141183460469231731687303715884105728");
    wide_format(wide_type_max(64, false), text);
    assert_string_equal(text, "18446744073709551615");
    assert_true(wide_to_int64(wide_from(INT64_MIN), &value));
    assert_true(value == INT64_MIN);
    assert_false(wide_to_int64(wide_type_max(64, false), &value));
    assert_true(wide_compare(wide_from(-2), wide_from(-1)) < 0);
    struct wide wide = wide_from(-1);
    assert_true(wide_increment(&wide));
    assert_int_equal(wide_compare(wide, wide_from(0)), 0);
}

static void test_suggest__near_is_not_plain(void **state)
{
    static const char *const cases[][3] = {{"return", "retry", "returns"}, /* two are near */
                                           {"que", "queue", "queue"},      /* cut short */
                                           {"jb", "job", "job"},           /* too short */
                                           {"quuuee", "queue", "queue"}};  /* two edits */
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct suggestion suggestion = suggestion_start(cases[i][0]);
        suggestion_offer(&suggestion, cases[i][1]);
        suggestion_offer(&suggestion, cases[i][2]);
        assert_string_equal(suggestion.best, cases[i][2]);
        assert_false(suggestion_is_plain(&suggestion));
    }
}

static void test_place__columns_are_code_points(void **state)
{
    struct arena arena = {0};
    const char text[] = "\xef\xbb\xbf"
                        "a\r\n\t\xc3\xa9 b";
    struct source *source = source_create(&arena, "x.job", text, sizeof(text) - 1);
    struct place place = span_place((struct span){source, 7, 1});
    size_t len;
    (void)state;
    assert_int_equal(place.line, 2);
    assert_int_equal(place.column, 4);
    source_line(source, 1, &len);
    assert_int_equal(len, 1);
    arena_release(&arena);
}

static void test_lexer__tells_kind_fault_and_place_of_each_token(void **state)
{
    static const char text[] =
        "a 1m30s 512M 0.5 1e3 [[x]] <= \"s\\\"\" x\"00\" 'c' /* */ // c\n90x";
    static const struct token expected[] = {
        {TOKEN_WORD, FAULT_NONE, 0, 1},     {TOKEN_DURATION, FAULT_NONE, 2, 5},
        {TOKEN_SIZE, FAULT_NONE, 8, 4},     {TOKEN_FLOAT, FAULT_NONE, 13, 3},
        {TOKEN_FLOAT, FAULT_NONE, 17, 3},   {TOKEN_LEFT_ATTRS, FAULT_NONE, 21, 2},
        {TOKEN_WORD, FAULT_NONE, 23, 1},    {TOKEN_RIGHT_ATTRS, FAULT_NONE, 24, 2},
        {TOKEN_AT_MOST, FAULT_NONE, 27, 2}, {TOKEN_STRING, FAULT_NONE, 30, 5},
        {TOKEN_BYTES, FAULT_NONE, 36, 5},   {TOKEN_CHAR, FAULT_NONE, 42, 3},
        {TOKEN_INT, FAULT_NUMBER, 57, 3},   {TOKEN_END, FAULT_NONE, 60, 0}};
    struct arena arena = {0};
    struct lexer lexer;
    (void)state;
    lexer_init(&lexer, source_create(&arena, "x.job", text, sizeof(text) - 1));
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        struct token token = lexer_next(&lexer);
        assert_int_equal(token.kind, expected[i].kind);
        assert_int_equal(token.fault, expected[i].fault);
        assert_int_equal(token.offset, expected[i].offset);
        assert_int_equal(token.length, expected[i].length);
    }
    arena_release(&arena);
}

static void test_lexer__nul_is_an_ordinary_byte(void **state)
{
    struct arena arena = {0};
    struct lexer lexer;
    (void)state;
    lexer_init(&lexer, source_create(&arena, "x.job", "a\0b", 3));
    assert_int_equal(lexer_next(&lexer).kind, TOKEN_WORD);
    assert_int_equal(lexer_next(&lexer).kind, TOKEN_STRAY);
    assert_int_equal(lexer_next(&lexer).kind, TOKEN_WORD);
    assert_int_equal(lexer_next(&lexer).kind, TOKEN_END);
    arena_release(&arena);
}

/* The compiler as a whole, on a text in memory: the number of errors. */
static unsigned compile(const char *text, size_t size)
{
    struct compilation compilation;
    compilation_init(&compilation);
    struct module *module = compilation_load_text(&compilation, "fuzz.job", text, size);
    check_module(&compilation, module);
    diag_sort(&compilation.sink);
    FILE *nowhere = fopen("/dev/null", "w");
    assert_non_null(nowhere);
    diag_print_human(&compilation.sink, nowhere, false);
    diag_print_json(&compilation.sink, nowhere);
    fclose(nowhere);
    unsigned errors = compilation.sink.errors;
    compilation_release(&compilation);
    return errors;
}

static void test_names__equal_c_names_are_refused(void **state)
{
    static const char bad[] = "enum a_b { C } enum a { B_C }";
    static const char good[] = "enum a_b { C } enum a { B_D }";
    (void)state;
    assert_int_equal(compile(bad, sizeof(bad) - 1), 1);
    assert_int_equal(compile(good, sizeof(good) - 1), 0);
}

/* Errors of a job with this setting, which is `number` in the scalar's smallest step. */
static unsigned compile_scalar(const struct scalar *scalar, int64_t number)
{
    static const char *const units[] = {
        [FORM_COUNT] = "", [FORM_DURATION] = "ms", [FORM_SIZE] = "K"};
    const char *part = strcmp(scalar->key, "keep_success_ns") == 0   ? "success "
                       : strcmp(scalar->key, "keep_failure_ns") == 0 ? "failure "
                       : strcmp(scalar->key, "keep_log") == 0        ? "log "
                                                                     : "";
    char text[100];
    int len = snprintf(text, sizeof(text), "job a { %s %s%lld%s; }", setting_word(scalar->setting),
                       part, (long long)number, units[scalar->form]);
    return compile(text, (size_t)len);
}

static void test_settings__numbers_keep_their_bounds(void **state)
{
    static const int64_t steps[] = {
        [FORM_COUNT] = 1, [FORM_DURATION] = NS_PER_MS, [FORM_SIZE] = 1024};
    (void)state;
    for (const struct scalar *scalar = scalars; scalar->key != NULL; scalar++) {
        int64_t least = scalar->least / steps[scalar->form];
        int64_t most = scalar->most / steps[scalar->form];
        assert_int_equal(compile_scalar(scalar, least), 0);
        assert_int_equal(compile_scalar(scalar, most), 0);
        assert_int_equal(compile_scalar(scalar, least - 1), 1);
        assert_int_equal(compile_scalar(scalar, most + 1), 1);
        assert_true(scalar->unset == -1 || (scalar->unset == 0 && scalar->least == 1) ||
                    (scalar->unset >= scalar->least && scalar->unset <= scalar->most));
    }
}

static void test_overlay__is_read_instead_of_a_file(void **state)
{
    struct compilation compilation;
    const char *fault;
    (void)state;
    compilation_init(&compilation);
    static const char inner[] = "enum e { A }";
    static const char outer[] = "import \"unsaved_b.job\"; job a { params { e x = A; } }";
    struct overlay b = {.path = path_resolve(&compilation.arena, "unsaved_b.job"),
                        .text = inner,
                        .size = sizeof(inner) - 1};
    struct overlay a = {.path = path_resolve(&compilation.arena, "unsaved_a.job"),
                        .text = outer,
                        .size = sizeof(outer) - 1,
                        .next = &b};
    compilation.overlays = &a;
    struct module *module = compilation_load(&compilation, "./unsaved_a.job", &fault);
    assert_non_null(module);
    assert_ptr_equal(module->overlay, &a);
    assert_non_null(module->imports);
    assert_ptr_equal(module->imports->module->overlay, &b);
    check_module(&compilation, module);
    assert_int_equal(compilation.sink.errors, 0);
    assert_null(compilation_load(&compilation, "unsaved_c.job", &fault));
    assert_null(path_resolve(&compilation.arena, "no such folder/a.job"));
    compilation_release(&compilation);
}

static void test_hostile__100000_bytes_of_one_part_cost_few_reports(void **state)
{
    static char text[1000000];
    static const char *const parts[] = {"{",     "[[",          "job a {", "struct s { int32 x;",
                                        "a.",    "\"",          "'",       "/*",
                                        "-",     "enum e { A,", "job a; ", "\n",
                                        "///<\n"};
    (void)state;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        size_t len = strlen(parts[i]);
        for (size_t at = 0; at + len <= 100000; at += len)
            memcpy(text + at, parts[i], len);
        assert_in_range(compile(text, 100000 / len * len), 0, 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_duration__takes_units_from_large_to_small_only),
        cmocka_unit_test(test_wide__reads_and_prints_128_bits),
        cmocka_unit_test(test_wide__holds_the_least_and_the_most_of_each_type),
        cmocka_unit_test(test_suggest__near_is_not_plain),
        cmocka_unit_test(test_place__columns_are_code_points),
        cmocka_unit_test(test_lexer__tells_kind_fault_and_place_of_each_token),
        cmocka_unit_test(test_lexer__nul_is_an_ordinary_byte),
        cmocka_unit_test(test_names__equal_c_names_are_refused),
        cmocka_unit_test(test_settings__numbers_keep_their_bounds),
        cmocka_unit_test(test_overlay__is_read_instead_of_a_file),
        cmocka_unit_test(test_hostile__100000_bytes_of_one_part_cost_few_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
