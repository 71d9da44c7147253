/* engine/test_figures.c - figures by themselves: buckets, sums, percentiles, and their text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "core/figures.h"

static void bound_check(int64_t us)
{
    size_t bucket = culex__figure_bucket(us);
    int64_t told = culex__figure_bucket_us(bucket);
    assert_true(bucket < CULEX_FIGURE_BUCKETS);
    assert_true(told >= us && (told - us) * 4 < us + (us == 0));
    assert_int_equal(culex__figure_bucket(told), bucket);
    assert_int_equal(culex__figure_bucket(told + 1), bucket + 1);
}

/* Up to 100 years. */
static void test_what_is_told_of_a_time_is_within_its_bound(void **state)
{
    const int64_t most = INT64_C(100) * 366 * 86400 * 1000000;
    (void)state;
    for (int64_t us = 0; us < 5000; us++)
        bound_check(us);
    for (int64_t us = 5000; us < most; us += us / 37) {
        bound_check(us - 1);
        bound_check(us);
    }
    bound_check(most);
    for (int64_t two = 4; two < most; two *= 2) {
        bound_check(two - 1);
        bound_check(two);
    }
}

static void test_times_beyond_the_buckets_fall_into_the_outer_ones(void **state)
{
    (void)state;
    assert_int_equal(culex__figure_bucket(-1), 0);
    assert_int_equal(culex__figure_bucket(INT64_MIN), 0);
    assert_int_equal(culex__figure_bucket(INT64_MAX), CULEX_FIGURE_BUCKETS - 1);
}

static struct culex_figure_times times_of(size_t count)
{
    struct culex_figure_times times = {.of = {0}};
    for (size_t us = 1; us <= count; us++)
        times.of[culex__figure_bucket((int64_t)us)]++;
    return times;
}

static void test_percentiles_are_no_less_than_so_many(void **state)
{
    (void)state;
    for (size_t count = 1; count <= 1000; count++) {
        const struct culex_figure_times times = times_of(count);
        assert_int_equal(culex__figure_times_count(&times), count);
        for (unsigned percent = 1; percent <= 100; percent++) {
            int64_t wanted = (int64_t)((count * percent + 99) / 100);
            assert_int_equal(culex__figure_percentile(&times, percent),
                             culex__figure_bucket_us(culex__figure_bucket(wanted)));
        }
    }
    const struct culex_figure_times none = {.of = {0}};
    assert_int_equal(culex__figure_percentile(&none, 50), 0);
}

static void test_sums_have_one_text_in_any_order(void **state)
{
    static const char *const parts[] = {"1,0,2,0,0,0;;3:1 207:9", "0,5,0,0,1,0;0:1;",
                                        "9007199254740992,0,0,7,0,1;0:3 1:1;3:1"};
    static const char sum[] = "9007199254740992,5,2,7,1,1;0:4 1:1;3:2 207:9";
    char text[CULEX_FIGURE_TEXT_SIZE];
    (void)state;
    for (size_t first = 0; first < 3; first++) {
        struct culex_figure total = {.counts = {0}}, part;
        for (size_t i = 0; i < 3; i++) {
            assert_true(culex__figure_read(parts[(first + i) % 3], &part));
            culex__figure_add(&total, &part);
        }
        assert_int_equal(culex__figure_write(&total, text), strlen(sum));
        assert_string_equal(text, sum);
    }
}

static void test_the_longest_text_has_room(void **state)
{
    struct culex_figure figure, again;
    char text[CULEX_FIGURE_TEXT_SIZE];
    (void)state;
    for (size_t i = 0; i < CULEX_FIGURE_COUNTS; i++)
        figure.counts[i] = CULEX_FIGURE_MAX;
    for (size_t i = 0; i < CULEX_FIGURE_BUCKETS; i++)
        figure.waited.of[i] = figure.ran.of[i] = CULEX_FIGURE_MAX;
    assert_true(culex__figure_write(&figure, text) < sizeof text);
    assert_true(culex__figure_read(text, &again));
    assert_memory_equal(&figure, &again, sizeof figure);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_told_of_a_time_is_within_its_bound),
        cmocka_unit_test(test_times_beyond_the_buckets_fall_into_the_outer_ones),
        cmocka_unit_test(test_percentiles_are_no_less_than_so_many),
        cmocka_unit_test(test_sums_have_one_text_in_any_order),
        cmocka_unit_test(test_the_longest_text_has_room),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
