/* json.c - what both readers of JSON take and refuse: RFC 8259, and the choices that it leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "json_in.h"
#include "json_tree.h"

/* A text and its length: it may hold a NUL. */
#define TEXT(literal) (literal), sizeof(literal) - 1

struct text {
    const char *text;
    size_t len;
};

static const struct text good[] = {
    /* Any value may stand alone, and white space around every token. */
    {TEXT("null")},
    {TEXT("true")},
    {TEXT("false")},
    {TEXT("\"\"")},
    {TEXT("[]")},
    {TEXT("{}")},
    {TEXT(" \t\r\n[ \t\r\n1 \t\r\n, \t\r\n2 \t\r\n] \t\r\n")},
    {TEXT(" { \"a\" : { \"b\" : [ ] } , \"c\" : null } ")},
    /* Numbers. */
    {TEXT("0")},
    {TEXT("-0")},
    {TEXT("10")},
    {TEXT("-1")},
    {TEXT("0.0")},
    {TEXT("1.50")},
    {TEXT("-0.5")},
    {TEXT("0e0")},
    {TEXT("1e5")},
    {TEXT("1E5")},
    {TEXT("1e+05")},
    {TEXT("1.25E-12")},
    {TEXT("9223372036854775807")},
    {TEXT("99999999999999999999999999999999999999999999999999999")},
    {TEXT("1e99999")},
    /* Strings: every byte but control characters, quote and backslash stands for itself. */
    {TEXT("\" !#$[]{}~\x7f/:,\"")},
    {TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")},
    {TEXT("\"\\u0000\"")},
    {TEXT("\"\\u00e9\\u00E9\"")},
    {TEXT("\"\\ud83d\\ude00\"")},
    {TEXT("\"\\uDBFF\\uDFFF\"")},
    {TEXT("\"\\uffff\"")},
    {TEXT("\"\xc3\xa9\xf0\x9f\x98\x80\"")},
    {TEXT("{\"\":1}")},
    {TEXT("{\"\\u0061\":1}")},
    /* Left to the callers: members of one name, bytes that are not UTF-8. */
    {TEXT("{\"a\":1,\"a\":2}")},
    {TEXT("\"\xff\xc3(\xed\xa0\x80\"")},
};

static const struct text bad[] = {
    /* Nothing, or not one value. */
    {TEXT("")},
    {TEXT(" ")},
    {TEXT("1 2")},
    {TEXT("{}{}")},
    {TEXT("[]]")},
    {TEXT("{}}")},
    {TEXT("null\0")},
    {TEXT("\0")},
    {TEXT("\xef\xbb\xbf{}")},
    {TEXT("1//")},
    {TEXT("/**/1")},
    {TEXT("\f1")},
    {TEXT("\xc2\xa0"
          "1")},
    /* Words. */
    {TEXT("nul")},
    {TEXT("nulll")},
    {TEXT("NULL")},
    {TEXT("True")},
    {TEXT("truefalse")},
    {TEXT("fals")},
    {TEXT("NaN")},
    {TEXT("Infinity")},
    {TEXT("-Infinity")},
    {TEXT("undefined")},
    {TEXT("e")},
    {TEXT("u")},
    {TEXT("a")},
    /* Numbers. */
    {TEXT("01")},
    {TEXT("-01")},
    {TEXT("00")},
    {TEXT("1.")},
    {TEXT("-1.")},
    {TEXT("1.e5")},
    {TEXT(".5")},
    {TEXT("-.5")},
    {TEXT("+1")},
    {TEXT("++1")},
    {TEXT("-")},
    {TEXT("--1")},
    {TEXT("- 1")},
    {TEXT("-a")},
    {TEXT("1e")},
    {TEXT("1e+")},
    {TEXT("1E-")},
    {TEXT("1e1.5")},
    {TEXT("1e5e5")},
    {TEXT("1.2.3")},
    {TEXT("1-2")},
    {TEXT("1+2")},
    {TEXT("0x1F")},
    {TEXT("1_000")},
    {TEXT("1a")},
    {TEXT("1\0")},
    {TEXT("1eE2")},
    {TEXT("12 3")},
    {TEXT("\xef\xbc\x91")},
    /* Strings. */
    {TEXT("\"")},
    {TEXT("\"a")},
    {TEXT("\"\\")},
    {TEXT("\"\\\"")},
    {TEXT("'a'")},
    {TEXT("\"a\"b\"")},
    {TEXT("\"\n\"")},
    {TEXT("\"\t\"")},
    {TEXT("\"\r\"")},
    {TEXT("\"a\0b\"")},
    {TEXT("\"\x1f\"")},
    {TEXT("\"\\\n\"")},
    {TEXT("\"\\a\"")},
    {TEXT("\"\\'\"")},
    {TEXT("\"\\0\"")},
    {TEXT("\"\\x41\"")},
    {TEXT("\"\\U00000041\"")},
    {TEXT("\"\\u\"")},
    {TEXT("\"\\u12\"")},
    {TEXT("\"\\u12g4\"")},
    {TEXT("\"\\u+123\"")},
    {TEXT("\"\\u 123\"")},
    /* Half a pair of surrogates, in each way. */
    {TEXT("\"\\ud83d\"")},
    {TEXT("\"\\ude00\"")},
    {TEXT("\"\\ude00\\ud83d\"")},
    {TEXT("\"\\ud83d\\ud83d\"")},
    {TEXT("\"\\ud83dx\"")},
    {TEXT("\"\\ud83d\\n\"")},
    {TEXT("\"\\ud83d\\u0041\"")},
    {TEXT("\"\\ud83d\\u12\"")},
    /* Lists. */
    {TEXT("[")},
    {TEXT("]")},
    {TEXT("[1")},
    {TEXT("[1,")},
    {TEXT("[1,]")},
    {TEXT("[,]")},
    {TEXT("[,1]")},
    {TEXT("[1,,2]")},
    {TEXT("[1 2]")},
    {TEXT("[1;2]")},
    {TEXT("[1}")},
    {TEXT("[1:2]")},
    {TEXT("[01]")},
    {TEXT("[\"\n\"]")},
    /* Objects. */
    {TEXT("{")},
    {TEXT("}")},
    {TEXT("{\"a\"")},
    {TEXT("{\"a\"}")},
    {TEXT("{\"a\":")},
    {TEXT("{\"a\":}")},
    {TEXT("{\"a\":1")},
    {TEXT("{\"a\":1,")},
    {TEXT("{\"a\":1,}")},
    {TEXT("{,}")},
    {TEXT("{\"a\" 1}")},
    {TEXT("{\"a\"::1}")},
    {TEXT("{\"a\":1 \"b\":2}")},
    {TEXT("{\"a\",\"b\"}")},
    {TEXT("{a:1}")},
    {TEXT("{'a':1}")},
    {TEXT("{1:1}")},
    {TEXT("{null:1}")},
    {TEXT("{\"a\":1]")},
    {TEXT("{\"\\ud83d\":1}")},
    {TEXT("{\"\t\":1}")},
    {TEXT("{\"a\":1}#")},
};

static struct json_in reader_of(const char *text, size_t len)
{
    return json_in_text(text, len);
}

static bool is_skipped(const char *text, size_t len)
{
    struct json_in in = reader_of(text, len);
    return json_in_skip(&in) && json_in_at_end(&in);
}

static bool is_parsed(const char *text, size_t len)
{
    struct arena arena = {0};
    struct json_fault fault;
    bool is_json = json_parse(&arena, text, len, &fault) != NULL;
    arena_release(&arena);
    return is_json;
}

static unsigned cases_run(const struct text *cases, size_t count, bool is_good)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_in = is_skipped(cases[i].text, cases[i].len) == is_good;
        bool is_tree = is_parsed(cases[i].text, cases[i].len) == is_good;
        if (!is_in || !is_tree)
            print_error("%s:%s%s %s\n", is_good ? "refused" : "taken", is_in ? "" : " json_in",
                        is_tree ? "" : " json_tree", cases[i].text);
        wrong += !is_in || !is_tree;
    }
    return wrong;
}

static void test_json__good_texts_are_taken(void **state)
{
    (void)state;
    assert_int_equal(cases_run(good, sizeof(good) / sizeof(good[0]), true), 0);
}

static void test_json__malformed_texts_are_refused(void **state)
{
    (void)state;
    assert_int_equal(cases_run(bad, sizeof(bad) / sizeof(bad[0]), false), 0);
}

/* `depth` lists or objects inside each other. */
static size_t nest(char *text, bool is_object, unsigned depth)
{
    size_t len = 0;
    for (unsigned i = 0; i < depth; i++)
        len += (size_t)sprintf(text + len, is_object && i + 1 < depth ? "{\"a\":"
                                           : is_object                ? "{"
                                                                      : "[");
    memset(text + len, is_object ? '}' : ']', depth);
    return len + depth;
}

static void test_json__64_levels_are_taken_and_65_refused(void **state)
{
    char text[1000];
    (void)state;
    for (int is_object = 0; is_object < 2; is_object++) {
        size_t len = nest(text, is_object, 64);
        assert_true(is_skipped(text, len) && is_parsed(text, len));
        len = nest(text, is_object, 65);
        assert_false(is_skipped(text, len));
        assert_false(is_parsed(text, len));
    }
}

/* ---- what is read ---- */

static void test_json__strings_are_read(void **state)
{
    static const struct {
        struct text json, value;
    } cases[] = {
        {{TEXT("\"\"")}, {TEXT("")}},
        {{TEXT("\"a\\n\\u00e9\"")}, {TEXT("a\n\xc3\xa9")}},
        {{TEXT("\"\\ud83d\\ude00\"")}, {TEXT("\xf0\x9f\x98\x80")}},
        {{TEXT("\"a\\u0000b\"")}, {TEXT("a\0b")}},
        {{TEXT("\"\\uffff\"")}, {TEXT("\xef\xbf\xbf")}},
        {{TEXT("\"a\xff\xc3(\"")}, {TEXT("a\xff\xc3(")}},
        {{TEXT("\"\\\"\\\\\\/\\b\\f\\r\\t\"")}, {TEXT("\"\\/\b\f\r\t")}},
    };
    struct arena arena = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct json_fault fault;
        struct json_in in = json_in_text(cases[i].json.text, cases[i].json.len);
        const struct json *tree = json_parse(&arena, cases[i].json.text, cases[i].json.len, &fault);
        char *value;
        size_t len;
        assert_true(json_in_string(&in, &arena, &value, &len) && json_in_at_end(&in));
        assert_int_equal(len, cases[i].value.len);
        assert_memory_equal(value, cases[i].value.text, len + 1);
        assert_int_equal(tree->len, cases[i].value.len);
        assert_memory_equal(tree->text, cases[i].value.text, len + 1);
    }
    arena_release(&arena);
}

static void test_json__numbers_are_whole_and_fit_or_are_not_read(void **state)
{
    static const struct {
        struct text json;
        int64_t number; /* 0: refused, and in a tree not whole */
    } cases[] = {
        {{TEXT("7")}, 7},
        {{TEXT("-1")}, -1},
        {{TEXT("9223372036854775807")}, INT64_MAX},
        {{TEXT("-9223372036854775808")}, INT64_MIN},
        {{TEXT("9223372036854775808")}, 0},
        {{TEXT("-9223372036854775809")}, 0},
        {{TEXT("99999999999999999999")}, 0},
        {{TEXT("1.0")}, 0},
        {{TEXT("1e2")}, 0},
        {{TEXT("-0")}, 0},
    };
    struct arena arena = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct json_fault fault;
        struct json_in in = json_in_text(cases[i].json.text, cases[i].json.len);
        const struct json *tree = json_parse(&arena, cases[i].json.text, cases[i].json.len, &fault);
        int64_t number = 0;
        bool is_whole = cases[i].number != 0;
        assert_int_equal(json_in_number(&in, &number), is_whole);
        assert_true(number == cases[i].number &&
                    json_in_offset(&in) == (is_whole ? cases[i].json.len : 0));
        assert_true(tree->is_whole == is_whole && tree->number == cases[i].number);
    }
    arena_release(&arena);
}

static void test_json_in__words_and_numbers_follow_each_other(void **state)
{
    struct json_in in = json_in_text(TEXT(" 7 true false null "));
    int64_t number;
    bool value;
    (void)state;
    assert_true(json_in_number(&in, &number) && number == 7);
    assert_true(json_in_bool(&in, &value) && value);
    assert_true(json_in_bool(&in, &value) && !value);
    assert_false(json_in_at_end(&in));
    assert_false(json_in_bool(&in, &value));
    assert_string_equal(in.fault, "neither true nor false where one must be");
    assert_false(json_in_word(&in, "null")); /* after a fault nothing is read */
}

static void test_json_tree__members_are_found_by_their_whole_name_and_the_first_counts(void **state)
{
    struct arena arena = {0};
    struct json_fault fault;
    const struct json *tree =
        json_parse(&arena, TEXT("{\"a\\u0000b\":1,\"ab\":2,\"a\":{\"b\":3},\"a\":4}"), &fault);
    (void)state;
    assert_true(json_get(tree, "a.b")->number == 3);
    assert_true(json_get(tree, "ab")->number == 2);
    assert_int_equal(json_get(tree, "a.c")->kind, JSON_NULL);
    arena_release(&arena);
}

/* ---- what is said ---- */

static void test_json__fault_has_words_and_a_place(void **state)
{
    static const struct {
        struct text json;
        size_t offset;
        const char *fault;
    } cases[] = {
        {{TEXT("[01]")}, 3, "malformed number"},
        {{TEXT("[\"a\n\"]")}, 3, "raw control character in a string"},
        {{TEXT("\"a\\ud83d\"")}, 2, "malformed escape in a string"},
        {{TEXT("\"a")}, 2, "string without an end"},
        {{TEXT(" nul")}, 1, "no value where one must be"},
        {{TEXT("[1,]")}, 3, "no value where one must be"},
        {{TEXT("[1 2]")}, 3, "no ',' and no end of the object or list"},
        {{TEXT("{\"a\" 1}")}, 5, "no ':' after a name"},
        {{TEXT("{} {}")}, 3, "more behind the end"},
        {{TEXT("")}, 0, "no value where one must be"},
    };
    struct arena arena = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct json_fault fault;
        assert_null(json_parse(&arena, cases[i].json.text, cases[i].json.len, &fault));
        assert_string_equal(fault.text, cases[i].fault);
        assert_int_equal(fault.offset, cases[i].offset);
    }
    arena_release(&arena);
}

static void test_json__too_deep_is_said_at_the_bracket_too_many(void **state)
{
    static const char words[] = "too many objects and lists inside each other";
    char text[1000];
    size_t len = nest(text, false, 65);
    struct json_in in = json_in_text(text, len);
    struct arena arena = {0};
    struct json_fault fault;
    (void)state;
    assert_false(json_in_skip(&in));
    assert_string_equal(in.fault, words);
    assert_int_equal(json_in_offset(&in), 64);
    assert_null(json_parse(&arena, text, len, &fault));
    assert_string_equal(fault.text, words);
    assert_int_equal(fault.offset, 64);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json__good_texts_are_taken),
        cmocka_unit_test(test_json__malformed_texts_are_refused),
        cmocka_unit_test(test_json__64_levels_are_taken_and_65_refused),
        cmocka_unit_test(test_json__strings_are_read),
        cmocka_unit_test(test_json__numbers_are_whole_and_fit_or_are_not_read),
        cmocka_unit_test(test_json_in__words_and_numbers_follow_each_other),
        cmocka_unit_test(
            test_json_tree__members_are_found_by_their_whole_name_and_the_first_counts),
        cmocka_unit_test(test_json__fault_has_words_and_a_place),
        cmocka_unit_test(test_json__too_deep_is_said_at_the_bracket_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
