/* engine/test_kept_lines.c - log lines that a run keeps: their form, and how they wait for the
 * store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/run_log.h"
#include "handler/kept_lines.h"

/* --- form ---------------------------------------------------------------------------------- */

static void assert_written(const char *text, size_t len, const char *line)
{
    char bytes[CULEX_KEPT_LINE_SIZE];
    const struct culex_kept_line from = {
        .ms = 1800000000123, .attempt = 7, .level = 2, .text = text, .len = len};
    struct culex_kept_line back;
    size_t size = culex__kept_line_write(bytes, &from);
    assert_int_equal(size, strlen(line));
    assert_memory_equal(bytes, line, size);
    assert_int_equal(culex__kept_line_read(bytes, size, &back), size);
    assert_true(back.ms == from.ms && back.attempt == 7 && back.level == 2);
}

static void test_whatever_is_written_is_one_line(void **state)
{
    (void)state;
    assert_written("", 0, "1800000000123|7|2|\n");
    assert_written("a | b", 5, "1800000000123|7|2|a | b\n");
    assert_written("two\nlines\ttab", 13, "1800000000123|7|2|two lines tab\n");
    assert_written("\x1b[31m\0 \xff\xc3", 9, "1800000000123|7|2|?[31m? ??\n");
    assert_written("caf\xc3\xa9", 5, "1800000000123|7|2|caf\xc3\xa9\n");
}

static void test_a_long_text_is_cut_between_characters(void **state)
{
    char text[2002], bytes[CULEX_KEPT_LINE_SIZE];
    struct culex_kept_line line = {
        .ms = INT64_MAX / 1000000, .attempt = UINT32_MAX, .level = 4, .text = text, .len = 2001};
    (void)state;
    text[0] = 'x';
    for (size_t i = 1; i < 2001; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    size_t size = culex__kept_line_write(bytes, &line);
    assert_int_equal(culex__kept_line_read(bytes, size, &line), size);
    assert_int_equal(line.len, 999);
    assert_memory_equal(line.text, text, 999);
}

static void test_what_is_no_line_is_not_read(void **state)
{
    static const char *const bad[] = {"",
                                      "\n",
                                      "1|1|3|a",
                                      "1|1|0|a\n",
                                      "1|1|5|a\n",
                                      "-1|1|3|a\n",
                                      "|1|3|a\n",
                                      "1|1|a\n",
                                      "1|1|3\n",
                                      "1|1|3|\x7f\n",
                                      "x|1|3|\n",
                                      "1|4294967296|3|\n",
                                      "9999999999999999|1|3|a\n"};
    struct culex_kept_line line;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(culex__kept_line_read(bad[i], strlen(bad[i]), &line), 0);
}

static void assert_stays(const char *bytes, uint32_t most, const char *rest)
{
    size_t len = strlen(bytes);
    assert_string_equal(bytes + culex__run_log_excess(bytes, len, most), rest);
}

static void test_the_last_lines_stay(void **state)
{
    (void)state;
    assert_stays("", 1, "");
    assert_stays("a\n", 1, "a\n");
    assert_stays("a\nb\nc\n", 1, "c\n");
    assert_stays("a\nb\nc\n", 2, "b\nc\n");
    assert_stays("a\nb\nc\n", 9, "a\nb\nc\n");
    assert_stays("\n\n\n", 2, "\n\n");
    assert_stays("damaged", 1, "damaged");
}

/* --- on their way --------------------------------------------------------------------------- */

static void add(struct culex_kept_lines *lines, const char *line)
{
    culex__kept_lines_add(lines, line, strlen(line));
}

static void assert_left(const struct culex_kept_lines *lines, const char *text)
{
    assert_string_equal(lines->bytes.len > 0 ? lines->bytes.data : "", text);
}

static void test_what_the_store_was_told_of_goes(void **state)
{
    struct culex_kept_lines lines;
    (void)state;
    culex__kept_lines_init(&lines);
    add(&lines, "a\n");
    uint64_t first = culex__kept_lines_end(&lines);
    add(&lines, "b\n");
    culex__kept_lines_told(&lines, first);
    assert_left(&lines, "b\n");
    culex__kept_lines_told(&lines, first); /* a second answer says nothing new */
    assert_left(&lines, "b\n");
    culex__kept_lines_told(&lines, culex__kept_lines_end(&lines));
    assert_left(&lines, "");
    culex__kept_lines_release(&lines);
}

/* A beat is under way while the run ends: what it brings is no part of the end. */
static void test_the_first_lines_fit(void **state)
{
    struct culex_kept_lines lines;
    (void)state;
    culex__kept_lines_init(&lines);
    assert_int_equal(culex__kept_lines_fit(&lines, 9), 0);
    add(&lines, "aa\n");
    add(&lines, "bb\n");
    for (size_t room = 0; room < 9; room++)
        assert_int_equal(culex__kept_lines_fit(&lines, room), room < 3 ? 0 : room < 6 ? 3 : 6);
    culex__kept_lines_release(&lines);
}

static void test_lines_that_moved_are_told_all_the_same(void **state)
{
    struct culex_kept_lines lines, last;
    (void)state;
    culex__kept_lines_init(&lines);
    culex__kept_lines_init(&last);
    add(&lines, "a\n");
    uint64_t first = culex__kept_lines_end(&lines);
    add(&lines, "b\n");
    culex__kept_lines_move(&lines, &last);
    assert_left(&lines, "");
    culex__kept_lines_told(&last, first);
    assert_left(&last, "b\n");
    culex__kept_lines_release(&lines);
    culex__kept_lines_release(&last);
}

static void test_lines_that_are_cut_meanwhile_are_told_once(void **state)
{
    struct culex_kept_lines lines;
    (void)state;
    culex__kept_lines_init(&lines);
    add(&lines, "a\n");
    add(&lines, "b\n");
    uint64_t first = culex__kept_lines_end(&lines);
    add(&lines, "c\n");
    culex__kept_lines_cut(&lines, 1);
    culex__kept_lines_told(&lines, first);
    assert_left(&lines, "c\n");
    culex__kept_lines_release(&lines);
}

static void test_a_flood_is_bounded_and_ends_with_the_last_line(void **state)
{
    struct culex_kept_lines lines;
    char line[1001];
    (void)state;
    memset(line, 'x', sizeof line);
    line[1000] = '\n';
    culex__kept_lines_init(&lines);
    for (int i = 0; i < 5000; i++) {
        line[0] = (char)('0' + i % 10);
        culex__kept_lines_add(&lines, line, sizeof line);
        assert_true(lines.bytes.len <= 2 * CULEX_RUN_LOG_BYTES_MAX);
    }
    assert_int_equal(culex__kept_lines_end(&lines), 5000 * 1001);
    assert_int_equal(lines.bytes.data[lines.bytes.len - 1001], '9');
    culex__kept_lines_release(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whatever_is_written_is_one_line),
        cmocka_unit_test(test_a_long_text_is_cut_between_characters),
        cmocka_unit_test(test_what_is_no_line_is_not_read),
        cmocka_unit_test(test_the_last_lines_stay),
        cmocka_unit_test(test_what_the_store_was_told_of_goes),
        cmocka_unit_test(test_the_first_lines_fit),
        cmocka_unit_test(test_lines_that_moved_are_told_all_the_same),
        cmocka_unit_test(test_lines_that_are_cut_meanwhile_are_told_once),
        cmocka_unit_test(test_a_flood_is_bounded_and_ends_with_the_last_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
