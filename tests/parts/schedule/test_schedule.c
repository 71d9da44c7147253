/* Cron texts, time zones, and when the ones fire in the others: each rule of core/cron.h,
 * core/zone.h and core/cron_time.h at instants with names. The zones are made here, so that no test
 * depends on a database. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <stdbool.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/bigendian.h"
#include "base/zone_name.h"
#include "core/cron_time.h"
#include "core/date.h"
#include "core/timestamp.h"

#define ROME      "CET-1CEST,M3.5.0,M10.5.0/3"
#define DUBLIN    "IST-1GMT0,M10.5.0,M3.5.0/1"
#define LORD_HOWE "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"
#define NUUK      "<-02>2<-01>,M3.5.0/-1,M10.5.0/0"

/* --- files of zones ------------------------------------------------------------------------ */

enum { FILE_SIZE = 1024, MOVES_MAX = 8 };

/* A file as it is made here: moves, of which the n-th leads to type n + 1, and a rule. */
struct file {
    int64_t moves[MOVES_MAX];
    int32_t offsets[MOVES_MAX + 1]; /* the first one holds before all moves */
    size_t count;
    const char *rule;
    uint8_t bytes[FILE_SIZE];
    size_t len;
};

static void put(struct file *file, int width, int64_t value)
{
    culex__bigendian_put(file->bytes + file->len, width, (uint64_t)value);
    file->len += (size_t)width;
}

static void put_part(struct file *file, char version, int width)
{
    const int64_t counts[] = {0, 0, 0, (int64_t)file->count, (int64_t)file->count + 1, 4};
    memcpy(file->bytes + file->len, "TZif", 4);
    file->bytes[file->len + 4] = (uint8_t)version;
    file->len += 20;
    for (int i = 0; i < 6; i++)
        put(file, 4, counts[i]);
    for (size_t i = 0; i < file->count; i++)
        put(file, width, file->moves[i]);
    for (size_t i = 0; i < file->count; i++)
        put(file, 1, (int64_t)i + 1);
    for (size_t i = 0; i <= file->count; i++) {
        put(file, 4, file->offsets[i]);
        put(file, 2, 0);
    }
    put(file, 4, 0x4c4d5400);
}

/* Of version 2 when it has a rule, else of version 1. */
static void file_make(struct file *file)
{
    memset(file->bytes, 0, sizeof file->bytes);
    file->len = 0;
    put_part(file, file->rule != NULL ? '2' : 0, 4);
    if (file->rule == NULL)
        return;
    put_part(file, '2', 8);
    file->len += (size_t)snprintf((char *)file->bytes + file->len, FILE_SIZE - file->len, "\n%s\n",
                                  file->rule);
}

static struct culex__zone zone_of(struct file *file)
{
    struct culex__zone zone;
    file_make(file);
    const char *fault = culex__zone_read(file->bytes, file->len, &zone);
    assert_string_equal(fault == NULL ? "" : fault, "");
    return zone;
}

/* --- instants by name ---------------------------------------------------------------------- */

static int64_t ms_of(const char *text)
{
    culex_time time;
    assert_true(culex__timestamp_parse(text, strlen(text), &time));
    return time / 1000000;
}

static void assert_instant(int64_t ms, const char *text)
{
    char shown[CULEX_TIMESTAMP_TEXT_MAX + 1] = "";
    culex__timestamp_format(ms * 1000000, shown);
    if (ms != ms_of(text))
        fail_msg("%s, and not %s", shown, text);
}

static struct culex__cron cron_of(const char *text)
{
    struct culex__cron cron;
    const char *fault = culex__cron_read(text, &cron);
    assert_string_equal(fault == NULL ? "" : fault, "");
    return cron;
}

/* After `from` the text fires at exactly these times first; and looked for backwards too. */
static void assert_fires(const char *rule, const char *fields, const char *from,
                         const char *const *times)
{
    struct file file = {.rule = rule};
    struct culex__zone zone = zone_of(&file);
    struct culex__cron cron = cron_of(fields);
    int64_t at_ms = ms_of(from), last_ms;
    for (size_t i = 0; times[i] != NULL; i++) {
        assert_true(culex__cron_time_next(&cron, &zone, at_ms, &at_ms));
        assert_instant(at_ms, times[i]);
        assert_true(culex__cron_time_last(&cron, &zone, at_ms, &last_ms));
        assert_instant(last_ms, times[i]);
        assert_true(i == 0 || culex__cron_time_last(&cron, &zone, at_ms - 1, &last_ms));
        assert_instant(last_ms, times[i > 0 ? i - 1 : 0]);
    }
}

#define FIRES(rule, fields, from, ...)                                                             \
    assert_fires(rule, fields, from, (const char *const[]){__VA_ARGS__, NULL})

/* --- cron.h -------------------------------------------------------------------------------- */

static void test_fields_choose_lists_ranges_steps_and_names(void **state)
{
    (void)state;
    struct culex__cron cron = cron_of("1,5-9/2,*/30 22-23 31 JAN,mar-May 0,fri");
    assert_true(cron.sets[CULEX_CRON_MINUTE] ==
                (1u << 1 | 1u << 5 | 1u << 7 | 1u << 9 | 1u << 0 | 1u << 30));
    assert_true(cron.sets[CULEX_CRON_HOUR] == (1u << 22 | 1u << 23));
    assert_true(cron.sets[CULEX_CRON_DAY] == 1u << 31);
    assert_true(cron.sets[CULEX_CRON_MONTH] == (1u << 1 | 1u << 3 | 1u << 4 | 1u << 5));
    assert_true(cron.sets[CULEX_CRON_WEEKDAY] == (1u << 0 | 1u << 5));
}

static void test_step_of_a_value_goes_on_and_of_a_range_ends_with_it(void **state)
{
    (void)state;
    assert_true(cron_of("50/4 * * * *").sets[CULEX_CRON_MINUTE] ==
                (UINT64_C(1) << 50 | UINT64_C(1) << 54 | UINT64_C(1) << 58));
    assert_true(cron_of("50-50/4 * * * *").sets[CULEX_CRON_MINUTE] == UINT64_C(1) << 50);
}

static void test_sunday_is_0_and_7(void **state)
{
    (void)state;
    const char *const texts[] = {"0 0 * * 0", "0 0 * * 7", "0 0 * * SUN", "@weekly"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_true(cron_of(texts[i]).sets[CULEX_CRON_WEEKDAY] == 1);
    assert_true(cron_of("0 0 * * 5-7").sets[CULEX_CRON_WEEKDAY] == (1u << 5 | 1u << 6 | 1u << 0));
}

static void test_words_stand_for_fields(void **state)
{
    (void)state;
    static const char *const words[][2] = {
        {"@hourly", "0 * * * *"},   {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
        {"@weekly", "0 0 * * 0"},   {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"},
        {"@annually", "0 0 1 1 *"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct culex__cron word = cron_of(words[i][0]), fields = cron_of(words[i][1]);
        assert_memory_equal(&word, &fields, sizeof word);
    }
}

static void test_fault_names_the_field(void **state)
{
    (void)state;
    static const char *const faults[][2] = {
        {"60 * * * *", "minute"},   {"* 24 * * *", "hour"},         {"* * 0 * *", "day"},
        {"* * 32 * *", "day"},      {"* * * 13 *", "month"},        {"* * * foo *", "month"},
        {"* * * * 8", "weekday"},   {"* * * * monday", "weekday"},  {"*/0 * * * *", "behind '/'"},
        {"5-1 * * * *", "upward"},  {"1, * * * *", "minute"},       {"001 * * * *", "minute"},
        {"* * * *", "five"},        {"* * * * * *", "seconds"},     {"", "five"},
        {"@reboot", "@midnight"},   {"* * ? * *", "there is no ?"}, {"* * * * 2#1", "no ?"},
        {"*/60 * * * *", "behind"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct culex__cron cron;
        const char *fault = culex__cron_read(faults[i][0], &cron);
        if (fault == NULL || strstr(fault, faults[i][1]) == NULL)
            fail_msg("'%s': %s", faults[i][0], fault == NULL ? "no fault" : fault);
    }
}

static bool never(const char *text)
{
    struct culex__cron cron = cron_of(text);
    return culex__cron_never_fires(&cron);
}

static void test_days_that_no_month_has_never_fire(void **state)
{
    (void)state;
    assert_true(never("0 0 30 2 *"));
    assert_true(never("0 0 31 4,6,9,11 *"));
    assert_true(never("0 0 30-31 2 0-6"));
    assert_false(never("0 0 29 2 *"));
    assert_false(never("0 0 31 2,3 *"));
    assert_false(never("0 0 31 2 mon")); /* Mondays of February */
}

static void test_day_or_weekday_is_enough_when_both_are_chosen(void **state)
{
    (void)state;
    FIRES("UTC0", "0 9 13 * 5", "2026-11-01T00:00:00Z", "2026-11-06T09:00:00Z",
          "2026-11-13T09:00:00Z", "2026-11-20T09:00:00Z", "2026-11-27T09:00:00Z",
          "2026-12-04T09:00:00Z", "2026-12-11T09:00:00Z", "2026-12-13T09:00:00Z");
    FIRES("UTC0", "0 9 1-31 * 5", "2026-11-01T00:00:00Z", "2026-11-06T09:00:00Z",
          "2026-11-13T09:00:00Z");
    FIRES("UTC0", "0 9 13 * 0-6", "2026-11-01T00:00:00Z", "2026-11-13T09:00:00Z",
          "2026-12-13T09:00:00Z");
}

/* --- zone.h, zone_rule.h ------------------------------------------------------------------- */

static void assert_offset(const struct culex__zone *zone, const char *at, int32_t offset_s)
{
    struct culex__zone_span span = culex__zone_span_at(zone, ms_of(at) / 1000);
    assert_int_equal(span.offset_s, offset_s);
    assert_true(span.from_s <= ms_of(at) / 1000 && ms_of(at) / 1000 < span.until_s);
}

static void test_rule_moves_the_clock_to_the_second(void **state)
{
    (void)state;
    struct file file = {.rule = ROME};
    struct culex__zone zone = zone_of(&file);
    assert_offset(&zone, "2026-03-29T00:59:59Z", 3600);
    assert_offset(&zone, "2026-03-29T01:00:00Z", 7200);
    assert_offset(&zone, "2026-10-25T00:59:59Z", 7200);
    assert_offset(&zone, "2026-10-25T01:00:00Z", 3600);
    struct culex__zone_span span = culex__zone_span_at(&zone, ms_of("2026-07-01T00:00:00Z") / 1000);
    assert_instant(span.from_s * 1000, "2026-03-29T01:00:00Z");
    assert_instant(span.until_s * 1000, "2026-10-25T01:00:00Z");
}

static void test_rule_has_days_in_three_forms_and_hours_of_other_days(void **state)
{
    (void)state;
    struct file julian = {.rule = "A0B,J60/0,J300/0"}, count = {.rule = "A0B,59/0,299/0"};
    struct culex__zone zone = zone_of(&julian);
    assert_offset(&zone, "2028-02-29T23:59:59Z", 0); /* J60 is 1 March also in a leap year */
    assert_offset(&zone, "2028-03-01T00:00:00Z", 3600);
    zone = zone_of(&count);
    assert_offset(&zone, "2028-02-28T23:59:59Z", 0);
    assert_offset(&zone, "2028-02-29T00:00:00Z", 3600);
    assert_offset(&zone, "2027-03-01T00:00:00Z", 3600);
    struct file nuuk = {.rule = NUUK}; /* on the Saturday, at 23:00 */
    zone = zone_of(&nuuk);
    assert_offset(&zone, "2026-03-29T00:59:59Z", -7200);
    assert_offset(&zone, "2026-03-29T01:00:00Z", -3600);
}

static void test_summer_that_ends_as_it_begins_lasts_for_ever(void **state)
{
    (void)state;
    struct file file = {.rule = "XXX3EDT4,0/0,J365/23"};
    struct culex__zone zone = zone_of(&file);
    assert_offset(&zone, "2026-01-01T02:59:59Z", -4 * 3600);
    assert_offset(&zone, "2026-01-01T03:00:00Z", -4 * 3600);
    assert_offset(&zone, "2026-07-01T00:00:00Z", -4 * 3600);
}

static void test_rule_of_another_form_is_refused(void **state)
{
    (void)state;
    static const char *const rules[] = {
        "",
        "CET",
        "CET-1CEST",
        "CET-25",
        "-1",
        "CET-1 ",
        "<+03-3",
        "CET-1CEST,M3.5.0",
        "CET-1:60",
        "CET-1CEST,M13.5.0,M10.5.0",
        "A0B,J0,J1",
        "A0B,366,1",
        "A0B,M3.6.0,M10.5.0",
        "A0B,M3.5.7,M1.1.1",
        "A0B,J1/168,J2",
        "A0B,J1,J2,",
        "A0B,J1/,J2",
        "A0000B,J1,J2",
        "A0B,M3.0.0,M1.1.1",
        "A0B,J1;J2",
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        struct culex__zone_rule rule;
        if (culex__zone_rule_read(rules[i], strlen(rules[i]), &rule))
            fail_msg("'%s' was read", rules[i]);
    }
}

static void test_table_counts_until_its_end_and_then_the_rule(void **state)
{
    (void)state;
    struct file file = {.moves = {0, 86400}, .offsets = {60, 120, 3600}, .count = 2, .rule = ROME};
    struct culex__zone zone = zone_of(&file);
    struct culex__zone_span span = culex__zone_span_at(&zone, -1);
    assert_true(span.from_s == INT64_MIN && span.until_s == 0 && span.offset_s == 60);
    span = culex__zone_span_at(&zone, 0);
    assert_true(span.from_s == 0 && span.until_s == 86400 && span.offset_s == 120);
    span = culex__zone_span_at(&zone, 86400);
    assert_true(span.from_s == 86400 && span.offset_s == 3600);
    assert_instant(span.until_s * 1000, "1970-03-29T01:00:00Z");
    assert_offset(&zone, "2026-07-01T00:00:00Z", 7200);
}

static void test_without_a_rule_the_last_offset_goes_on(void **state)
{
    (void)state;
    struct file first = {.moves = {-5, 7}, .offsets = {60, 120, -3600}, .count = 2};
    struct file second = first;
    second.rule = "";
    for (int i = 0; i < 2; i++) {
        struct culex__zone zone = zone_of(i == 0 ? &first : &second);
        assert_int_equal(culex__zone_span_at(&zone, -6).offset_s, 60);
        assert_int_equal(culex__zone_span_at(&zone, -5).offset_s, 120);
        assert_int_equal(culex__zone_span_at(&zone, INT64_MAX).offset_s, -3600);
        assert_true(culex__zone_span_at(&zone, 8).until_s == INT64_MAX);
    }
}

static void test_zeros_are_utc(void **state)
{
    (void)state;
    struct culex__zone zone = {0};
    struct culex__zone_span span = culex__zone_span_at(&zone, 0);
    assert_true(span.from_s == INT64_MIN && span.until_s == INT64_MAX && span.offset_s == 0);
}

/* In memory of exactly its size, so that a sanitizer sees a read behind the end. */
static bool is_read(const uint8_t *bytes, size_t len)
{
    struct culex__zone zone;
    uint8_t *copy = malloc(len + (len == 0));
    assert_non_null(copy);
    memcpy(copy, bytes, len);
    bool is_good = culex__zone_read(copy, len, &zone) == NULL;
    free(copy);
    return is_good;
}

static void test_file_that_is_cut_off_is_refused_at_every_byte(void **state)
{
    (void)state;
    struct file first = {.moves = {-5, 7}, .offsets = {60, 120, -3600}, .count = 2};
    struct file second = first;
    second.rule = ROME;
    file_make(&first);
    file_make(&second);
    for (size_t len = 0; len < first.len; len++)
        assert_false(is_read(first.bytes, len));
    for (size_t len = 0; len < second.len; len++)
        assert_false(is_read(second.bytes, len));
    assert_true(is_read(first.bytes, first.len) && is_read(second.bytes, second.len));
}

/* The file with one byte changed: what is wrong with it. */
static const char *fault_with(struct file file, size_t at, uint8_t byte)
{
    struct culex__zone zone;
    file_make(&file);
    file.bytes[at] = byte;
    const char *fault = culex__zone_read(file.bytes, file.len, &zone);
    return fault == NULL ? "" : fault;
}

static void test_file_out_of_form_is_refused_with_what_is_wrong(void **state)
{
    (void)state;
    struct file file = {.moves = {-5, 7}, .offsets = {60, 120, -3600}, .count = 2};
    struct file turned = {.moves = {7, 7}, .count = 2}, far = {.offsets = {26 * 3600}};
    struct file ruled = {.rule = "CET-1CEST"};
    file_make(&file);
    size_t kinds = 44 + 2 * 4;
    assert_string_equal(fault_with(file, 0, 'X'), "it is no file of the tz database");
    assert_string_equal(fault_with(file, 20, 1), "it is cut off");
    assert_string_equal(fault_with(file, kinds, 3), "it has a time without a type");
    assert_string_equal(fault_with(file, 39, 0), "it has no types, or too many");
    assert_string_equal(fault_with(turned, 0, 'T'), "its times are not in order");
    assert_string_equal(fault_with(far, 0, 'T'), "it is more than a day off UTC");
    assert_string_equal(fault_with(ruled, 0, 'T'), "its rule for later years cannot be read");
}

static void test_leap_seconds_are_refused(void **state)
{
    (void)state;
    uint8_t bytes[128] = "TZif";
    bytes[31] = 1; /* a leap second: eight bytes */
    bytes[39] = 1;
    struct culex__zone zone;
    assert_string_equal(culex__zone_read(bytes, 44 + 8 + 6, &zone), "it counts leap seconds");
}

static void test_name_does_not_lead_out_of_the_database(void **state)
{
    (void)state;
    static const char *const good[] = {"UTC", "Europe/Rome", "America/Argentina/Buenos_Aires",
                                       "Etc/GMT+12", "Etc/GMT-14"};
    static const char *const bad[] = {"",       "/UTC", "UTC/", "a//b", "..",      "../x",
                                      "a/../b", "a.b",  "a b",  "a\\b", "\xc3\xa9"};
    char name[65];
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(culex__zone_name_is_good(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(culex__zone_name_is_good(bad[i], strlen(bad[i])));
    memset(name, 'a', sizeof name);
    assert_true(culex__zone_name_is_good(name, 64));
    assert_false(culex__zone_name_is_good(name, 65));
    assert_false(culex__zone_name_is_good("UTC\0x", 5));
}

/* --- cron_time.h --------------------------------------------------------------------------- */

static void test_time_in_a_gap__fires_at_its_end(void **state)
{
    (void)state;
    FIRES(ROME, "30 2 * * *", "2026-03-28T00:00:00Z", "2026-03-28T02:30:00+01:00",
          "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00");
    FIRES(LORD_HOWE, "15 2 * * *", "2026-10-03T00:00:00Z", "2026-10-04T02:30:00+11:00",
          "2026-10-05T02:15:00+11:00");
}

static void test_several_times_of_one_gap__fire_once(void **state)
{
    (void)state;
    FIRES(ROME, "0,15,30 2,3 29 3 *", "2026-01-01T00:00:00Z", "2026-03-29T03:00:00+02:00",
          "2026-03-29T03:15:00+02:00", "2026-03-29T03:30:00+02:00", "2027-03-29T02:00:00+02:00");
}

static void test_time_that_comes_twice__fires_the_first_time(void **state)
{
    (void)state;
    FIRES(ROME, "30 2 * * *", "2026-10-24T12:00:00Z", "2026-10-25T02:30:00+02:00",
          "2026-10-26T02:30:00+01:00");
    FIRES(ROME, "0,30 2,3 25 10 *", "2026-01-01T00:00:00Z", "2026-10-25T02:00:00+02:00",
          "2026-10-25T02:30:00+02:00", "2026-10-25T03:00:00+01:00");
    /* Asked in the second pass, of which no time counts. */
    FIRES(ROME, "30 2 * * *", "2026-10-25T02:10:00+01:00", "2026-10-26T02:30:00+01:00");
    FIRES(DUBLIN, "30 1 * * *", "2026-10-24T12:00:00Z", "2026-10-25T01:30:00+01:00",
          "2026-10-26T01:30:00Z");
}

static void test_last_in_the_second_pass__is_of_the_first(void **state)
{
    (void)state;
    struct file file = {.rule = ROME};
    struct culex__zone zone = zone_of(&file);
    struct culex__cron cron = cron_of("45 2 * * *");
    int64_t last_ms;
    assert_true(culex__cron_time_last(&cron, &zone, ms_of("2026-10-25T02:10:00+01:00"), &last_ms));
    assert_instant(last_ms, "2026-10-25T02:45:00+02:00");
}

static void test_every_hour__no_time_is_made_up_for_a_gap(void **state)
{
    (void)state;
    FIRES(ROME, "30 * * * *", "2026-03-29T00:00:00+01:00", "2026-03-29T00:30:00+01:00",
          "2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00");
    FIRES(LORD_HOWE, "0 0-23 * * *", "2026-10-04T00:30:00+10:30", "2026-10-04T01:00:00+10:30",
          "2026-10-04T03:00:00+11:00");
}

static void test_every_hour__both_passes_count(void **state)
{
    (void)state;
    FIRES(ROME, "30 */1 * * *", "2026-10-25T02:00:00+02:00", "2026-10-25T02:30:00+02:00",
          "2026-10-25T02:30:00+01:00", "2026-10-25T03:30:00+01:00");
    FIRES(LORD_HOWE, "45 * * * *", "2026-04-05T01:00:00+11:00", "2026-04-05T01:45:00+11:00",
          "2026-04-05T01:45:00+10:30", "2026-04-05T02:45:00+10:30");
}

/* From -10:00 to +14:00 at the end of 2011-12-29, as in Apia: 24 hours are left out. */
static struct file apia(void)
{
    return (struct file){.moves = {1325239200}, .offsets = {-36000, 50400}, .count = 1, .rule = ""};
}

static void test_day_that_is_left_out__times_fire_at_its_end_and_the_clock_at_none(void **state)
{
    (void)state;
    struct file file = apia();
    struct culex__zone zone = zone_of(&file);
    struct culex__cron times = cron_of("0 9 30 12 *"), running = cron_of("0 * 30 12 *");
    int64_t from_ms = ms_of("2011-12-01T00:00:00Z"), at_ms;
    assert_true(culex__cron_time_next(&times, &zone, from_ms, &at_ms));
    assert_instant(at_ms, "2011-12-31T00:00:00+14:00");
    assert_true(culex__cron_time_next(&running, &zone, from_ms, &at_ms));
    assert_instant(at_ms, "2012-12-30T00:00:00+14:00");
    assert_true(culex__cron_time_last(&running, &zone, ms_of("2012-01-01T00:00:00Z"), &at_ms));
    assert_instant(at_ms, "2010-12-30T23:00:00-10:00");
}

static void test_leap_day_is_found_over_a_century(void **state)
{
    (void)state;
    FIRES("UTC0", "0 0 29 2 *", "2091-01-01T00:00:00Z", "2092-02-29T00:00:00Z",
          "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z");
    FIRES(ROME, "15 * 29 2 *", "2096-02-29T23:15:00+01:00", "2104-02-29T00:15:00+01:00");
}

static void test_text_that_never_fires__is_not_looked_for_for_ever(void **state)
{
    (void)state;
    struct culex__zone zone = {0};
    static const char *const texts[] = {"0 0 30 2 *", "0 * 30 2 *"};
    for (int i = 0; i < 2; i++) {
        struct culex__cron cron = cron_of(texts[i]);
        int64_t at_ms = -1;
        assert_false(culex__cron_time_next(&cron, &zone, 0, &at_ms));
        assert_false(culex__cron_time_last(&cron, &zone, 0, &at_ms));
        assert_int_equal(at_ms, -1);
    }
}

static void test_instants_count_to_the_millisecond_and_below_0(void **state)
{
    (void)state;
    FIRES("UTC0", "0 0 * * *", "1969-12-31T00:00:00.001Z", "1970-01-01T00:00:00Z");
    FIRES("UTC0", "0 0 * * *", "1969-12-30T23:59:59.999Z", "1969-12-31T00:00:00Z",
          "1970-01-01T00:00:00Z");
    struct culex__zone zone = {0};
    struct culex__cron cron = cron_of("* * * * *");
    int64_t at_ms;
    assert_true(culex__cron_time_last(&cron, &zone, -1, &at_ms));
    assert_int_equal(at_ms, -60000);
}

static void test_instants_that_no_time_holds_have_none(void **state)
{
    (void)state;
    static const int64_t instants[] = {INT64_MIN, INT64_MAX, INT64_MAX / 1000000 + 1000};
    struct culex__zone zone = {0};
    struct culex__cron times = cron_of("0 0 1 1 *"), running = cron_of("* * * * *");
    int64_t at_ms;
    for (size_t i = 0; i < sizeof instants / sizeof instants[0]; i++) {
        assert_false(culex__cron_time_next(&times, &zone, instants[i], &at_ms));
        assert_false(culex__cron_time_last(&running, &zone, instants[i], &at_ms));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_choose_lists_ranges_steps_and_names),
        cmocka_unit_test(test_step_of_a_value_goes_on_and_of_a_range_ends_with_it),
        cmocka_unit_test(test_sunday_is_0_and_7),
        cmocka_unit_test(test_words_stand_for_fields),
        cmocka_unit_test(test_fault_names_the_field),
        cmocka_unit_test(test_days_that_no_month_has_never_fire),
        cmocka_unit_test(test_day_or_weekday_is_enough_when_both_are_chosen),
        cmocka_unit_test(test_rule_moves_the_clock_to_the_second),
        cmocka_unit_test(test_rule_has_days_in_three_forms_and_hours_of_other_days),
        cmocka_unit_test(test_summer_that_ends_as_it_begins_lasts_for_ever),
        cmocka_unit_test(test_rule_of_another_form_is_refused),
        cmocka_unit_test(test_table_counts_until_its_end_and_then_the_rule),
        cmocka_unit_test(test_without_a_rule_the_last_offset_goes_on),
        cmocka_unit_test(test_zeros_are_utc),
        cmocka_unit_test(test_file_that_is_cut_off_is_refused_at_every_byte),
        cmocka_unit_test(test_file_out_of_form_is_refused_with_what_is_wrong),
        cmocka_unit_test(test_leap_seconds_are_refused),
        cmocka_unit_test(test_name_does_not_lead_out_of_the_database),
        cmocka_unit_test(test_time_in_a_gap__fires_at_its_end),
        cmocka_unit_test(test_several_times_of_one_gap__fire_once),
        cmocka_unit_test(test_time_that_comes_twice__fires_the_first_time),
        cmocka_unit_test(test_last_in_the_second_pass__is_of_the_first),
        cmocka_unit_test(test_every_hour__no_time_is_made_up_for_a_gap),
        cmocka_unit_test(test_every_hour__both_passes_count),
        cmocka_unit_test(test_day_that_is_left_out__times_fire_at_its_end_and_the_clock_at_none),
        cmocka_unit_test(test_leap_day_is_found_over_a_century),
        cmocka_unit_test(test_text_that_never_fires__is_not_looked_for_for_ever),
        cmocka_unit_test(test_instants_count_to_the_millisecond_and_below_0),
        cmocka_unit_test(test_instants_that_no_time_holds_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
