/* Bounds of payloads, and that writer and reader agree on them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "core/codec_decode.h"
#include "workbench.h"

/* `count` times `part`, between `before` and `after`; owned. */
static char *repeat(const char *before, const char *part, size_t count, const char *after)
{
    size_t len = strlen(part);
    char *text = calloc(1, strlen(before) + len * count + strlen(after) + 1);
    char *at = text + strlen(before);
    strcpy(text, before);
    for (size_t n = 0; n < count; n++, at += len)
        memcpy(at, part, len);
    memcpy(at, after, strlen(after) + 1);
    return text;
}

static void test_limits__seventeenth_level_is_refused(void **state)
{
    struct workbench *bench = *state;
    char *fits = repeat("{\"new\":", "[", CULEX_PAYLOAD_DEPTH_MAX - 1, "]]]]]]]]]]]]]]]}");
    char *deep = repeat("{\"new\":", "[", CULEX_PAYLOAD_DEPTH_MAX, "]]]]]]]]]]]]]]]]}");
    char *tree = repeat("{\"tree\":{", "\"below\":[{", 8, "");
    char *storm = repeat("{\"new\":", "[", CULEX_PAYLOAD_MAX - 16, "");
    assert_non_null(workbench_decode(bench, fits));
    assert_null(workbench_decode(bench, deep));
    assert_contains(bench->error.text, "inside each other");
    assert_null(workbench_decode(bench, tree));
    assert_contains(bench->error.text, "inside each other");
    assert_null(workbench_decode(bench, storm));
    free(fits);
    free(deep);
    free(tree);
    free(storm);
}

static void test_limits__encoder_counts_levels_like_the_decoder(void **state)
{
    struct workbench *bench = *state;
    struct kitchen_tree trees[9] = {{0}};
    struct kitchen kitchen = kitchen_make();
    for (size_t level = 0; level + 1 < COUNT(trees); level++) {
        trees[level].below = &trees[level + 1];
        trees[level].below_len = 1;
    }
    kitchen.tree = trees[1]; /* 2 + 2 * 7 levels */
    assert_non_null(workbench_encode(bench, &kitchen));
    assert_non_null(workbench_decode(bench, bench->buf.data));
    kitchen.tree = trees[0];
    assert_null(workbench_encode(bench, &kitchen));
    assert_int_equal(bench->error.code, CULEX_EENCODE);
    assert_contains(bench->error.text, "inside each other");
}

static void test_limits__one_byte_more_than_a_payload_is_refused(void **state)
{
    struct workbench *bench = *state;
    char *fits = repeat("{", " ", CULEX_PAYLOAD_MAX - 2, "}");
    char *large = repeat("{", " ", CULEX_PAYLOAD_MAX - 1, "}");
    assert_non_null(workbench_decode(bench, fits));
    assert_null(workbench_decode(bench, large));
    assert_int_equal(bench->error.code, CULEX_ELIMIT);
    free(fits);
    free(large);
}

static void test_limits__a_list_has_at_most_65535_elements(void **state)
{
    struct workbench *bench = *state;
    char *fits = repeat("{\"numbers\":[0", ",1", CULEX_LIST_MAX - 1, "]}");
    char *large = repeat("{\"numbers\":[0", ",1", CULEX_LIST_MAX, "]}");
    const struct kitchen *kitchen = workbench_decode(bench, fits);
    assert_non_null(kitchen);
    assert_int_equal(kitchen->numbers_len, CULEX_LIST_MAX);
    assert_int_equal(kitchen->numbers[CULEX_LIST_MAX - 1], 1);
    assert_null(workbench_decode(bench, large));
    assert_contains(bench->error.text, "at most 65535 elements");
    free(fits);
    free(large);
}

static void test_limits__payload_limit_holds_in_a_larger_buffer_too(void **state)
{
    struct workbench *bench = *state;
    struct kitchen kitchen = kitchen_make();
    char *text = calloc(1, CULEX_PAYLOAD_MAX + 1);
    memset(text, 'x', CULEX_PAYLOAD_MAX);
    kitchen.text = text;
    culex_buf_release(&bench->buf);
    culex_buf_init(&bench->buf, 8 * CULEX_PAYLOAD_MAX);
    assert_null(workbench_encode(bench, &kitchen));
    assert_int_equal(bench->error.code, CULEX_ELIMIT);
    free(text);
}

/* ---- what the kitchen does not have ---- */

struct sparse {
    bool has_numbers;
    int64_t numbers[512];
};

struct pantry {
    culex_bytes blob;          /* no bound of its own */
    struct kitchen_money safe; /* secret as a whole */
    const struct kitchen_tree *trees;
    size_t trees_len;
    const struct sparse *list; /* "{}" is four kilobytes */
    size_t list_len;
};

static const culex_field sparse_fields[] = {{.name = "numbers",
                                             .wire = "numbers",
                                             .kind = CULEX_KIND_INT64,
                                             .shape = CULEX_SHAPE_ARRAY,
                                             .count = 512,
                                             .flags = CULEX_FIELD_OPTIONAL,
                                             .offset = offsetof(struct sparse, numbers),
                                             .has_offset = offsetof(struct sparse, has_numbers)}};
static const culex_struct_type sparse_type = {"sparse", sizeof(struct sparse), sparse_fields, 1};
static const culex_field pantry_fields[] = {{.name = "blob",
                                             .wire = "blob",
                                             .kind = CULEX_KIND_BYTES,
                                             .offset = offsetof(struct pantry, blob)},
                                            {.name = "safe",
                                             .wire = "safe",
                                             .kind = CULEX_KIND_STRUCT,
                                             .flags = CULEX_FIELD_SECRET | CULEX_FIELD_REQUIRED,
                                             .offset = offsetof(struct pantry, safe),
                                             .struct_type = &kitchen_money_type},
                                            {.name = "trees",
                                             .wire = "trees",
                                             .kind = CULEX_KIND_STRUCT,
                                             .shape = CULEX_SHAPE_LIST,
                                             .offset = offsetof(struct pantry, trees),
                                             .len_offset = offsetof(struct pantry, trees_len),
                                             .struct_type = &kitchen_tree_type},
                                            {.name = "list",
                                             .wire = "list",
                                             .kind = CULEX_KIND_STRUCT,
                                             .shape = CULEX_SHAPE_LIST,
                                             .offset = offsetof(struct pantry, list),
                                             .len_offset = offsetof(struct pantry, list_len),
                                             .struct_type = &sparse_type}};
static const culex_struct_type pantry_type = {"pantry", sizeof(struct pantry), pantry_fields, 4};

static const struct pantry pantry_empty = {.safe = {1, "EUR"}};
#define PANTRY_SAFE "\"safe\":{\"minor\":1,\"currency\":\"EUR\"}"

static void test_limits__two_bytes_cannot_ask_for_kilobytes_for_ever(void **state)
{
    struct workbench *bench = *state;
    char *few = repeat("{" PANTRY_SAFE ",\"list\":[{}", ",{}", 200, "]}");
    char *bomb = repeat("{" PANTRY_SAFE ",\"list\":[{}", ",{}", CULEX_LIST_MAX - 1, "]}");
    assert_non_null(workbench_decode_as(bench, &pantry_type, few, strlen(few)));
    assert_null(workbench_decode_as(bench, &pantry_type, bomb, strlen(bomb)));
    assert_int_equal(bench->error.code, CULEX_ELIMIT);
    assert_string_equal(bench->error.field, "list");
    free(few);
    free(bomb);
}

/* The writer must not accept what no reader will: both count the same bytes. */
static void test_limits__writer_and_reader_grant_lists_the_same_memory(void **state)
{
    enum { COUNT_MAX = 400 };
    struct workbench *bench = *state;
    struct pantry pantry = pantry_empty;
    struct sparse *list = calloc(COUNT_MAX, sizeof *list);
    size_t refused = 0;
    pantry.list = list;
    for (pantry.list_len = 0; pantry.list_len < COUNT_MAX; pantry.list_len += 3) {
        bool is_written = workbench_encode_as(bench, &pantry_type, &pantry) != NULL;
        char *text = repeat("{\"blob\":\"\"," PANTRY_SAFE ",\"list\":[{}", ",{}",
                            pantry.list_len > 0 ? pantry.list_len - 1 : 0, "]}");
        bool is_read = pantry.list_len == 0 ||
                       workbench_decode_as(bench, &pantry_type, text, strlen(text)) != NULL;
        free(text);
        culex_arena_reset(bench->arena);
        assert_int_equal(is_written, is_read);
        refused += is_written ? 0 : 1;
    }
    assert_in_range(refused, 1, COUNT_MAX - 1);
    free(list);
}

static void test_limits__absurd_length_of_bytes_does_not_wrap_around(void **state)
{
    struct workbench *bench = *state;
    struct pantry pantry = pantry_empty;
    pantry.blob = (culex_bytes){(const uint8_t *)"x", SIZE_MAX};
    assert_null(workbench_encode_as(bench, &pantry_type, &pantry));
    assert_int_equal(bench->error.code, CULEX_ELIMIT);
}

static void test_limits__objects_in_lists_count_too(void **state)
{
    struct workbench *bench = *state;
    struct kitchen_tree trees[9] = {{0}};
    struct pantry pantry = pantry_empty;
    for (size_t level = 0; level + 1 < COUNT(trees); level++) {
        trees[level].below = &trees[level + 1];
        trees[level].below_len = 1;
    }
    pantry.trees = &trees[2]; /* an object, then seven lists with an object each */
    pantry.trees_len = 1;
    assert_non_null(workbench_encode_as(bench, &pantry_type, &pantry));
    assert_non_null(workbench_decode_as(bench, &pantry_type, bench->buf.data, bench->buf.len));
    pantry.trees = &trees[1]; /* the last object would be the seventeenth level */
    assert_null(workbench_encode_as(bench, &pantry_type, &pantry));
    assert_contains(bench->error.text, "inside each other");
}

static void test_secrets__hold_for_all_that_is_inside(void **state)
{
    static const char text[] = "{\"safe\":{\"minor\":\"73219x\",\"currency\":\"EUR\"}}";
    struct workbench *bench = *state;
    assert_null(workbench_decode_as(bench, &pantry_type, text, sizeof text - 1));
    assert_string_equal(bench->error.field, "safe.minor");
    assert_null(strstr(bench->error.text, "73219"));
}

/* What some schema may read, and what none does. */
static void test_payload__is_told_from_what_no_schema_writes(void **state)
{
    static const struct {
        const char *text;
        bool is_well_formed;
    } rows[] = {
        {"{}", true},
        {"{\"i8\":\"x\",\"new\":[{}]}  ", true},
        {"{\"i8\":340282366920938463463374607431768211456}", true},
        {"{\"f64\":1e400}", true},
        {"{\"i8\":1000,\"new\":[{]}", false},
        {"{\"i8\":1000} x", false},
        {"{\"i8\":1000", false},
        {"[1]", false},
        {"1", false},
        {"", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (culex__payload_is_well_formed(rows[i].text, strlen(rows[i].text)) !=
            rows[i].is_well_formed)
            fail_msg("%s", rows[i].text);
    }
}

static void test_limits__too_many_fields_are_refused_not_overrun(void **state)
{
    static const culex_struct_type huge = {"huge", 8, pantry_fields, CULEX_FIELDS_MAX + 1};
    struct workbench *bench = *state;
    const void *value;
    assert_int_equal(culex_decode(&huge, bench->arena, "{}", 2, &value, NULL), CULEX_EINVAL);
    assert_int_equal(culex_encode(&huge, &value, &bench->buf, NULL), CULEX_EINVAL);
}

/* ---- times and durations ---- */

struct term {
    culex_time at;
    culex_duration wait;
};

#define TERM_FIELD(member, kind_)                                                                  \
    {                                                                                              \
        .name = #member, .wire = #member, .kind = CULEX_KIND_##kind_,                              \
        .flags = CULEX_FIELD_REQUIRED | CULEX_FIELD_MIN | CULEX_FIELD_MAX,                         \
        .offset = offsetof(struct term, member), .min = -2 * CULEX_SECOND, .max = 3 * CULEX_SECOND \
    }

static const culex_field term_fields[] = {TERM_FIELD(at, TIMESTAMP), TERM_FIELD(wait, DURATION)};
static const culex_struct_type term_type = {"shop.term", sizeof(struct term), term_fields, 2};

static void test_limits__of_times_and_durations_hold_both_ways(void **state)
{
    static const struct {
        struct term term;
        const char *text, *field; /* NULL: it is good */
        const char *wrong;
    } rows[] = {
        {{-2 * CULEX_SECOND, 3 * CULEX_SECOND},
         "{\"at\":\"1969-12-31T23:59:58Z\",\"wait\":\"3s\"}",
         NULL,
         NULL},
        {{-2 * CULEX_SECOND - 1, 0},
         "{\"at\":\"1969-12-31T23:59:57.999999999Z\",\"wait\":\"0s\"}",
         "at",
         "expected at least 1969-12-31T23:59:58Z, found "},
        {{3 * CULEX_SECOND + 1, 0},
         "{\"at\":\"1970-01-01T00:00:03.000000001Z\",\"wait\":\"0s\"}",
         "at",
         "expected at most 1970-01-01T00:00:03Z, found "},
        {{0, -3 * CULEX_SECOND},
         "{\"at\":\"1970-01-01T00:00:00Z\",\"wait\":\"-3s\"}",
         "wait",
         "expected at least -2s, found "},
        {{0, 3 * CULEX_SECOND + 1},
         "{\"at\":\"1970-01-01T00:00:00Z\",\"wait\":\"3.000000001s\"}",
         "wait",
         "expected at most 3s, found "},
    };
    struct workbench *bench = *state;
    for (size_t at = 0; at < COUNT(rows); at++) {
        const char *text = workbench_encode_as(bench, &term_type, &rows[at].term);
        assert_int_equal(text == NULL, rows[at].field != NULL);
        if (rows[at].field == NULL)
            assert_string_equal(text, rows[at].text);
        else
            assert_contains(bench->error.text, rows[at].wrong);
        const void *term =
            workbench_decode_as(bench, &term_type, rows[at].text, strlen(rows[at].text));
        assert_int_equal(term == NULL, rows[at].field != NULL);
        if (rows[at].field != NULL) {
            assert_string_equal(bench->error.field, rows[at].field);
            assert_contains(bench->error.text, rows[at].wrong);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORKBENCH_TEST(test_limits__of_times_and_durations_hold_both_ways),
        WORKBENCH_TEST(test_limits__seventeenth_level_is_refused),
        WORKBENCH_TEST(test_limits__encoder_counts_levels_like_the_decoder),
        WORKBENCH_TEST(test_limits__one_byte_more_than_a_payload_is_refused),
        WORKBENCH_TEST(test_limits__a_list_has_at_most_65535_elements),
        WORKBENCH_TEST(test_limits__payload_limit_holds_in_a_larger_buffer_too),
        WORKBENCH_TEST(test_limits__two_bytes_cannot_ask_for_kilobytes_for_ever),
        WORKBENCH_TEST(test_limits__writer_and_reader_grant_lists_the_same_memory),
        WORKBENCH_TEST(test_limits__absurd_length_of_bytes_does_not_wrap_around),
        WORKBENCH_TEST(test_limits__objects_in_lists_count_too),
        WORKBENCH_TEST(test_secrets__hold_for_all_that_is_inside),
        WORKBENCH_TEST(test_payload__is_told_from_what_no_schema_writes),
        WORKBENCH_TEST(test_limits__too_many_fields_are_refused_not_overrun),
    };
    return cmocka_run_group_tests_name("codec_limits", tests, NULL, NULL);
}
