/* Types of the user's own: what their functions say goes into the payload and comes out of it, and
 * what they do wrong is told with the field. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "core/secret.h"
#include "workbench.h"

/* What the format function does, and the number that it writes. */
enum trick { HONEST, NO_TEXT, TOO_LONG, LONGEST, LIES, NUL_INSIDE, NOT_UTF8, EMPTY, QUOTES };

struct span {
    char trick;
    int32_t number; /* padding before it */
};

static bool span_parse(const char *text, size_t len, void *ret_value)
{
    struct span *span = ret_value;
    assert_int_equal(text[len], '\0');
    assert_int_equal(strlen(text), len);
    assert_int_equal(span->number, 0);
    if (strcmp(text, "a \"b\"\n") == 0) {
        span->trick = QUOTES;
        return true;
    }
    char *end;
    span->number = (int32_t)strtol(text, &end, 10);
    return *end == '\0' && (len > 0 || span->number == 0) && span->number != 13;
}

static int span_format(const void *value, char *ret_text, size_t size)
{
    const struct span *span = value;
    int longest = CULEX_USER_TEXT_MAX;
    switch (span->trick) {
    case NO_TEXT:
        return -1;
    case TOO_LONG:
        return snprintf(ret_text, size, "%0*d", longest + 1, 7);
    case LONGEST:
        return snprintf(ret_text, size, "%0*d", longest, 7);
    case LIES:
        return snprintf(ret_text, size, "7") + 500;
    case NUL_INSIDE:
        memcpy(ret_text, "7\0007", 4);
        return 3;
    case NOT_UTF8:
        return snprintf(ret_text, size, "\xff");
    case EMPTY:
        return 0;
    case QUOTES:
        return snprintf(ret_text, size, "a \"b\"\n");
    default:
        return snprintf(ret_text, size, "%d", span->number);
    }
}

static const culex_user_type span_user = {"shop.span", sizeof(struct span), span_parse,
                                          span_format};

struct tour {
    struct span first;
    bool has_second;
    struct span second;
    const struct span *more;
    size_t more_len;
    struct span both[2];
    struct span hidden;
};

#define USER(id, ...)                                                                              \
    {                                                                                              \
        .name = #id, .wire = #id, .kind = CULEX_KIND_USER, .user_type = &span_user,                \
        .offset = offsetof(struct tour, id), __VA_ARGS__                                           \
    }
static const culex_field tour_fields[] = {
    USER(first, .flags = CULEX_FIELD_REQUIRED),
    USER(second, .flags = CULEX_FIELD_OPTIONAL, .has_offset = offsetof(struct tour, has_second)),
    USER(more, .shape = CULEX_SHAPE_LIST, .len_offset = offsetof(struct tour, more_len)),
    USER(both, .shape = CULEX_SHAPE_ARRAY, .count = 2),
    USER(hidden, .flags = CULEX_FIELD_SECRET),
};
static const culex_struct_type tour_type = {"shop.tour", sizeof(struct tour), tour_fields,
                                            COUNT(tour_fields)};

static const struct tour *decode(struct workbench *bench, const char *text)
{
    return workbench_decode_as(bench, &tour_type, text, strlen(text));
}

static void test_user__every_shape_comes_back(void **state)
{
    struct workbench *bench = *state;
    const struct span more[] = {{HONEST, 2}, {QUOTES, 0}, {EMPTY, 0}};
    struct tour tour = {.first = {HONEST, -1},
                        .has_second = true,
                        .second = {HONEST, 5},
                        .more = more,
                        .more_len = COUNT(more),
                        .both = {{HONEST, 3}, {HONEST, 4}},
                        .hidden = {HONEST, 6}};
    const char *text = workbench_encode_as(bench, &tour_type, &tour);
    assert_string_equal(text, "{\"first\":\"-1\",\"second\":\"5\",\"more\":[\"2\",\"a "
                              "\\\"b\\\"\\n\",\"\"],\"both\":[\"3\",\"4\"],\"hidden\":\"6\"}");
    const struct tour *back = decode(bench, text);
    assert_non_null(back);
    assert_int_equal(back->first.number, -1);
    assert_true(back->has_second && back->second.number == 5);
    assert_int_equal(back->more_len, 3);
    assert_true(back->more[0].number == 2 && back->more[1].trick == QUOTES);
    assert_true(back->both[0].number == 3 && back->both[1].number == 4);
    assert_int_equal(back->hidden.number, 6);
}

static void test_user__absent_one_is_zeroed_and_its_padding_not_looked_at(void **state)
{
    struct workbench *bench = *state;
    struct tour tour = {0};
    memset(&tour.second, 0x55, sizeof tour.second);
    const char *text = workbench_encode_as(bench, &tour_type, &tour);
    assert_string_equal(text, "{\"first\":\"0\",\"both\":[\"0\",\"0\"],\"hidden\":\"0\"}");
    const struct tour *back = decode(bench, text);
    assert_true(back != NULL && !back->has_second && back->second.number == 0);
}

static void test_user__longest_text_goes_and_comes(void **state)
{
    struct workbench *bench = *state;
    struct tour tour = {.first = {LONGEST, 0}};
    const char *text = workbench_encode_as(bench, &tour_type, &tour);
    assert_non_null(text);
    assert_int_equal(strlen(text), CULEX_USER_TEXT_MAX +
                                       strlen("{\"first\":\"\",\"both\":[\"0\",\"0\"],\"hidden\":"
                                              "\"0\"}"));
    const struct tour *back = decode(bench, text);
    assert_true(back != NULL && back->first.number == 7);
}

static void test_user__what_format_does_wrong_is_told(void **state)
{
    static const struct {
        enum trick trick;
        const char *text;
    } rows[] = {
        {NO_TEXT, "expected a shop.span, but its format function has no text for the value"},
        {TOO_LONG, "its format function made a text of more than 1023 bytes"},
        {LIES, "its format function made a text with a NUL in it"},
        {NUL_INSIDE, "its format function made a text with a NUL in it"},
        {NOT_UTF8, "its format function made a text that is not UTF-8"},
    };
    struct workbench *bench = *state;
    for (size_t at = 0; at < COUNT(rows); at++) {
        struct tour tour = {.both = {{HONEST, 1}, {(char)rows[at].trick, 0}}};
        assert_null(workbench_encode_as(bench, &tour_type, &tour));
        assert_int_equal(bench->error.code, CULEX_EENCODE);
        assert_string_equal(bench->error.field, "both[1]");
        assert_contains(bench->error.text, rows[at].text);
    }
}

static void test_user__what_parse_refuses_is_told(void **state)
{
    static const struct {
        const char *payload, *field, *text;
    } rows[] = {
        {"{\"first\":\"x\"}", "first", "expected a text of shop.span, found x"},
        {"{\"first\":13}", "first", "expected a text of shop.span, found a number at byte 9"},
        {"{\"first\":null}", "first", "required, but not in the payload"},
        {"{\"first\":\"1\\u0000\"}", "first", "found one with U+0000 in it"},
        {"{\"first\":\"1\",\"more\":[\"1\",\"13\"]}", "more[1]", "found 13"},
        {"{\"first\":\"1\",\"hidden\":\"13\"}", "hidden",
         "expected a text of shop.span, found another value (secret)"},
    };
    struct workbench *bench = *state;
    for (size_t at = 0; at < COUNT(rows); at++) {
        assert_null(decode(bench, rows[at].payload));
        assert_int_equal(bench->error.code, CULEX_EDECODE);
        assert_string_equal(bench->error.field, rows[at].field);
        assert_contains(bench->error.text, rows[at].text);
    }
}

static void test_user__longer_text_never_reaches_parse(void **state)
{
    struct workbench *bench = *state;
    char text[CULEX_USER_TEXT_MAX + 64];
    snprintf(text, sizeof text, "{\"first\":\"%0*d\"}", CULEX_USER_TEXT_MAX + 1, 7);
    assert_null(decode(bench, text));
    assert_contains(bench->error.text, "expected at most 1023 bytes, found 1024");
}

static void test_user__secret_is_scrubbed_as_it_is_written(void **state)
{
    (void)state;
    static const char told[] = "hidden was 123456, not a \"b\"\n or a \\\"b\\\"\\n";
    const struct tour plain = {.hidden = {HONEST, 123456}}, quoted = {.hidden = {QUOTES, 0}};
    char scrubbed[sizeof told];
    culex_buf secrets;
    culex_buf_init(&secrets, 0);
    assert_true(culex__secrets_collect(&tour_type, &plain, &secrets));
    assert_true(culex__secrets_collect(&tour_type, &quoted, &secrets));
    culex__secrets_scrub(&secrets, told, strlen(told), false, scrubbed, sizeof scrubbed);
    assert_null(strstr(scrubbed, "123456"));
    assert_null(strstr(scrubbed, "b\""));
    assert_null(strstr(scrubbed, "b\\\""));
    culex_buf_release(&secrets);
}

/* Nobody knows what its text was: the handler says nothing that might be it. */
static void test_user__secret_without_a_text_hides_all_that_is_said(void **state)
{
    static const char told[] = "hidden was 123456";
    const struct tour untold = {.hidden = {NO_TEXT, 123456}};
    char scrubbed[sizeof told];
    culex_buf secrets;
    (void)state;
    culex_buf_init(&secrets, 0);
    assert_true(culex__secrets_collect(&tour_type, &untold, &secrets));
    size_t len =
        culex__secrets_scrub(&secrets, told, strlen(told), false, scrubbed, sizeof scrubbed);
    assert_string_equal(scrubbed, CULEX_SECRET_SHOWN);
    assert_int_equal(len, strlen(scrubbed));
    assert_int_equal(culex__secrets_scrub(&secrets, told, strlen(told), true, scrubbed, 5), 4);
    assert_string_equal(scrubbed, "[sec");
    assert_int_equal(culex__secrets_scrub(&secrets, "", 0, false, scrubbed, 5), 0);
    assert_string_equal(scrubbed, "");
    culex_buf_release(&secrets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORKBENCH_TEST(test_user__every_shape_comes_back),
        WORKBENCH_TEST(test_user__absent_one_is_zeroed_and_its_padding_not_looked_at),
        WORKBENCH_TEST(test_user__longest_text_goes_and_comes),
        WORKBENCH_TEST(test_user__what_format_does_wrong_is_told),
        WORKBENCH_TEST(test_user__what_parse_refuses_is_told),
        WORKBENCH_TEST(test_user__longer_text_never_reaches_parse),
        WORKBENCH_TEST(test_user__secret_is_scrubbed_as_it_is_written),
        WORKBENCH_TEST(test_user__secret_without_a_text_hides_all_that_is_said),
    };
    return cmocka_run_group_tests_name("codec_user", tests, NULL, NULL);
}
