/* engine/test_exposition.c - the text of metrics by itself, in both of its formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "core/exposition.h"

static const struct culex_metric ended = {"x_ended", CULEX_METRIC_COUNTER, NULL, "Ends."};
static const struct culex_metric build = {"x_build", CULEX_METRIC_INFO, NULL, "Version."};
static const struct culex_metric memory = {"x_memory_bytes", CULEX_METRIC_GAUGE, "bytes", "Size."};
static const struct culex_metric took = {"x_took_seconds", CULEX_METRIC_HISTOGRAM, "seconds",
                                         "Times."};

static void all_put(struct culex_exposition *out)
{
    const struct culex_metric_label labels[] = {{"job_name", "a.b"}, {"queue", "mail"}};
    culex__exposition_family(out, &build);
    culex__exposition_put(out, &(struct culex_metric_label){"version", "1.2"}, 1, 1);
    culex__exposition_family(out, &ended);
    culex__exposition_put(out, labels, 2, UINT64_MAX);
    culex__exposition_family(out, &memory);
    culex__exposition_put(out, NULL, 0, 4096);
}

static void text_check(bool is_plain, const char *expected)
{
    struct culex_exposition out;
    culex_buf buf;
    culex_buf_init(&buf, 1 << 20);
    culex__exposition_begin(&out, &buf, is_plain);
    all_put(&out);
    assert_true(culex__exposition_end(&out));
    assert_string_equal(buf.data, expected);
    culex_buf_release(&buf);
}

static void test_each_format_names_families_its_way(void **state)
{
    (void)state;
    text_check(false, "# TYPE x_build info\n# HELP x_build Version.\n"
                      "x_build_info{version=\"1.2\"} 1\n"
                      "# TYPE x_ended counter\n# HELP x_ended Ends.\n"
                      "x_ended_total{job_name=\"a.b\",queue=\"mail\"} 18446744073709551615\n"
                      "# TYPE x_memory_bytes gauge\n# UNIT x_memory_bytes bytes\n"
                      "# HELP x_memory_bytes Size.\nx_memory_bytes 4096\n"
                      "# EOF\n");
    text_check(true, "# TYPE x_build_info gauge\n# HELP x_build_info Version.\n"
                     "x_build_info{version=\"1.2\"} 1\n"
                     "# TYPE x_ended_total counter\n# HELP x_ended_total Ends.\n"
                     "x_ended_total{job_name=\"a.b\",queue=\"mail\"} 18446744073709551615\n"
                     "# TYPE x_memory_bytes gauge\n# HELP x_memory_bytes Size.\n"
                     "x_memory_bytes 4096\n");
}

static void test_labels_are_escaped(void **state)
{
    struct culex_exposition out;
    culex_buf buf;
    (void)state;
    culex_buf_init(&buf, 1 << 20);
    culex__exposition_begin(&out, &buf, true);
    out.family = &memory;
    culex__exposition_put(&out, &(struct culex_metric_label){"q", "\"a\\b\nc\\\\"}, 1, 0);
    culex__exposition_put(&out, &(struct culex_metric_label){"q", ""}, 1, 0);
    assert_string_equal(buf.data, "x_memory_bytes{q=\"\\\"a\\\\b\\nc\\\\\\\\\"} 0\n"
                                  "x_memory_bytes{q=\"\"} 0\n");
    culex_buf_release(&buf);
}

static void test_buckets_add_up_to_the_count(void **state)
{
    struct culex_metric_times times = {.sum_us = 12000345};
    struct culex_exposition out;
    culex_buf buf;
    (void)state;
    times.of[culex__metric_bucket(100)] += 2;
    times.of[culex__metric_bucket(101)] += 3;
    times.of[culex__metric_bucket(INT64_MAX)] += 1;
    culex_buf_init(&buf, 1 << 20);
    culex__exposition_begin(&out, &buf, false);
    culex__exposition_family(&out, &took);
    culex__exposition_put_times(&out, &(struct culex_metric_label){"q", "a"}, 1, &times);
    static const char *const lines[] = {
        "x_took_seconds_bucket{q=\"a\",le=\"0.0001\"} 2\n",
        "x_took_seconds_bucket{q=\"a\",le=\"0.0005\"} 5\n",
        "x_took_seconds_bucket{q=\"a\",le=\"1.0\"} 5\n",
        "x_took_seconds_bucket{q=\"a\",le=\"7200.0\"} 5\n",
        "x_took_seconds_bucket{q=\"a\",le=\"+Inf\"} 6\n",
        "x_took_seconds_count{q=\"a\"} 6\nx_took_seconds_sum{q=\"a\"} 12.000345\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_non_null(strstr(buf.data, lines[i]));
    culex_buf_release(&buf);
}

static void test_a_time_is_in_the_first_bucket_that_has_it(void **state)
{
    (void)state;
    assert_int_equal(culex__metric_bucket(INT64_MIN), 0);
    assert_int_equal(culex__metric_bucket(0), 0);
    assert_int_equal(culex__metric_bucket(100), 0);
    assert_int_equal(culex__metric_bucket(101), 1);
    assert_int_equal(culex__metric_bucket(INT64_C(7200000000)), CULEX_METRIC_BUCKETS - 2);
    assert_int_equal(culex__metric_bucket(INT64_C(7200000001)), CULEX_METRIC_BUCKETS - 1);
}

/* A part of the text would pass for all of it. */
static void test_a_text_that_has_no_room_is_refused(void **state)
{
    struct culex_exposition out;
    culex_buf buf;
    (void)state;
    culex_buf_init(&buf, 64);
    culex__exposition_begin(&out, &buf, false);
    all_put(&out);
    assert_false(culex__exposition_end(&out));
    culex_buf_release(&buf);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_format_names_families_its_way),
        cmocka_unit_test(test_labels_are_escaped),
        cmocka_unit_test(test_buckets_add_up_to_the_count),
        cmocka_unit_test(test_a_time_is_in_the_first_bucket_that_has_it),
        cmocka_unit_test(test_a_text_that_has_no_room_is_refused),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
