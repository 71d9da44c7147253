/* The pure rules beside the engine: backoff, schedule, ids, tickets, who may tell what befell a
 * run. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "core/backoff.h"
#include "core/run.h"
#include "core/schedule.h"
#include "core/run_id.h"
#include "core/ticket.h"

static const int64_t steps[] = {5, 7, 11};

static void test_backoff_delays_by_kind(void **state)
{
    (void)state;
    static const struct {
        culex_retry_policy policy;
        int64_t expected[6]; /* after failures 1, 2, 3, 4, 5, 100 */
    } rows[] = {
        {{.backoff = CULEX_BACKOFF_POLYNOMIAL, .base_ms = 2000, .factor = 2},
         {2000, 8000, 18000, 32000, 50000, 20000000}},
        {{.backoff = CULEX_BACKOFF_CONSTANT, .base_ms = 30}, {30, 30, 30, 30, 30, 30}},
        {{.backoff = CULEX_BACKOFF_LINEAR, .base_ms = 30}, {30, 60, 90, 120, 150, 3000}},
        {{.backoff = CULEX_BACKOFF_LINEAR, .base_ms = 30, .cap_ms = 100},
         {30, 60, 90, 100, 100, 100}},
        {{.backoff = CULEX_BACKOFF_EXPONENTIAL, .base_ms = 10, .factor = 2},
         {10, 20, 40, 80, 160, CULEX_BACKOFF_MAX_MS}},
        {{.backoff = CULEX_BACKOFF_EXPONENTIAL, .base_ms = 10, .factor = 1.5, .cap_ms = 1000},
         {10, 15, 23, 34, 51, 1000}},
        {{.backoff = CULEX_BACKOFF_POLYNOMIAL, .base_ms = 1000, .factor = 0.5},
         {1000, 1414, 1732, 2000, 2236, 10000}},
        {{.backoff = CULEX_BACKOFF_STEPS, .steps_ms = steps, .step_count = 3},
         {5, 7, 11, 11, 11, 11}},
        {{.backoff = CULEX_BACKOFF_STEPS}, {0, 0, 0, 0, 0, 0}},
        {{.backoff = CULEX_BACKOFF_CONSTANT, .base_ms = -5}, {0, 0, 0, 0, 0, 0}},
        {{.backoff = CULEX_BACKOFF_CONSTANT, .base_ms = INT64_MAX},
         {CULEX_BACKOFF_MAX_MS, CULEX_BACKOFF_MAX_MS, CULEX_BACKOFF_MAX_MS, CULEX_BACKOFF_MAX_MS,
          CULEX_BACKOFF_MAX_MS, CULEX_BACKOFF_MAX_MS}},
        {{.backoff = CULEX_BACKOFF_EXPONENTIAL, .base_ms = 10, .factor = NAN}, {10, 0, 0, 0, 0, 0}},
    };
    static const uint32_t failures[] = {1, 2, 3, 4, 5, 100};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t k = 0; k < 6; k++)
            assert_int_equal(culex__backoff_delay_ms(&rows[i].policy, failures[k], 12345),
                             rows[i].expected[k]);
    }
}

static void test_time_for_retries_ends_a_run_alone(void **state)
{
    (void)state;
    const struct culex_run_counters none = {.attempts_max = 9, .retry_for_ms = 100};
    const struct culex_run_counters last = {.attempts_max = 1, .retry_for_ms = 100};
    const struct culex_run_counters once = {.attempts_max = 9, .failures = 1, .retry_for_ms = 100};
    const struct culex_run_counters unbound = {.attempts_max = 9};

    assert_false(culex__run_is_late(&none, CULEX_EVENT_FAIL, 0, 1000, 99));
    assert_true(culex__run_is_late(&none, CULEX_EVENT_FAIL, 0, 1000, 100));
    assert_false(culex__run_is_late(&last, CULEX_EVENT_FAIL, 0, 1000, 100));
    assert_true(culex__run_is_late(&once, CULEX_EVENT_CRASH, 1050, 1000, 50));
    assert_false(culex__run_is_late(&once, CULEX_EVENT_LOSS, 1050, 1000, 50)); /* has no delay */
    assert_true(culex__run_is_late(&once, CULEX_EVENT_LOSS, 1000, 1000, 0));
    assert_false(culex__run_is_late(&once, CULEX_EVENT_RELEASE, 1050, 1000, 50));
    assert_false(culex__run_is_late(&once, CULEX_EVENT_DISCARD, 1050, 1000, 50));
    assert_false(culex__run_is_late(&unbound, CULEX_EVENT_FAIL, 0, 1000, INT64_MAX));
    assert_int_equal(culex__run_retry_until_ms(&none, CULEX_EVENT_FAIL, 0, INT64_MAX - 1),
                     INT64_MAX / 4);
}

static void test_backoff_zero_failures_count_as_one(void **state)
{
    (void)state;
    culex_retry_policy policy = {.backoff = CULEX_BACKOFF_LINEAR, .base_ms = 30};
    assert_int_equal(culex__backoff_delay_ms(&policy, 0, 0), 30);
}

static void test_backoff_jitter_stays_in_its_range(void **state)
{
    (void)state;
    static const struct {
        culex_jitter_kind jitter;
        double ratio;
        int64_t low, high;
    } rows[] = {
        {CULEX_JITTER_NONE, 0, 1000, 1000}, {CULEX_JITTER_FULL, 0, 0, 1000},
        {CULEX_JITTER_EQUAL, 0, 500, 1000}, {CULEX_JITTER_RATIO, 0.1, 900, 1100},
        {CULEX_JITTER_RATIO, 9, 0, 2000},   {CULEX_JITTER_RATIO, NAN, 1000, 1000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        culex_retry_policy policy = {.backoff = CULEX_BACKOFF_CONSTANT,
                                     .base_ms = 1000,
                                     .jitter = rows[i].jitter,
                                     .jitter_ratio = rows[i].ratio};
        assert_int_equal(culex__backoff_delay_ms(&policy, 1, 0), rows[i].low);
        assert_int_equal(culex__backoff_delay_ms(&policy, 1, UINT64_MAX), rows[i].high);
        int64_t middle = culex__backoff_delay_ms(&policy, 1, UINT64_MAX / 2);
        assert_in_range(middle, (rows[i].low + rows[i].high) / 2 - 1,
                        (rows[i].low + rows[i].high) / 2 + 1);
        policy.cap_ms = 800;
        assert_true(culex__backoff_delay_ms(&policy, 1, UINT64_MAX) <= 800);
    }
}

static void test_next_tick_is_the_first_after_now_on_the_grid_of_the_mark(void **state)
{
    (void)state;
    static const struct {
        int64_t mark, interval, now, expected;
    } rows[] = {
        {1000, 100, 1000, 1100},
        {1000, 100, 1099, 1100},
        {1000, 100, 1100, 1100},
        {1000, 100, 1199, 1100},
        {1000, 100, 1200, 1200},
        {1000, 100, 99999, 99900},
        {1000, 100, 0, 1100}, /* the clock went back */
        {1000, 0, 1005, 1005},
        {INT64_MAX - 1, 100, 5, INT64_MAX},
        {INT64_MIN, 1, INT64_MAX - 1, INT64_MAX - 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(culex__schedule_next_tick(rows[i].mark, rows[i].interval, rows[i].now),
                         rows[i].expected);
}

/* --- ids and tickets ----------------------------------------------------------------------- */

static void test_run_id_holds_its_parts(void **state)
{
    (void)state;
    const struct {
        struct culex_run_id_parts parts;
        const char *text;
    } rows[] = {
        {{0, 0, 0, 0}, "00000000-0000-7000-8000-000000000000"},
        {{INT64_C(0x0123456789ab), 0x2aaaaaa, 5, 1}, "01234567-89ab-7aaa-aaaa-500000000001"},
        {{INT64_C(0x0123456789ab), 0x1555555, 10, UINT64_C(0xfedcba98765)},
         "01234567-89ab-7555-9555-afedcba98765"},
        {{(INT64_C(1) << 48) - 1, CULEX_RUN_SALT_MAX, CULEX_RUN_LANE_MAX, CULEX_RUN_NUMBER_MAX},
         "ffffffff-ffff-7fff-bfff-ffffffffffff"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[CULEX_UUID_TEXT_SIZE];
        struct culex_run_id_parts parts;
        culex_uuid id = culex__run_id_make(rows[i].parts);
        culex_uuid_format(id, text);
        assert_string_equal(text, rows[i].text);
        assert_true(culex__run_id_read(id, &parts));
        assert_true(parts.ms == rows[i].parts.ms && parts.salt == rows[i].parts.salt &&
                    parts.lane == rows[i].parts.lane && parts.number == rows[i].parts.number);
    }
}

static void test_ticket_holds_its_parts(void **state)
{
    (void)state;
    const struct {
        struct culex_ticket ticket;
        const char *text;
    } rows[] = {
        {{1, 0}, "00000000-0000-8000-8000-000000000001"},
        {{UINT64_C(0x2123456789abcdef), UINT64_C(0x123456789abdef)},
         "01234567-89ab-8def-a123-456789abcdef"},
        {{CULEX_TICKET_PRODUCER_MAX, (UINT64_C(1) << 60) - 1},
         "ffffffff-ffff-8fff-bfff-ffffffffffff"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[CULEX_UUID_TEXT_SIZE];
        struct culex_ticket ticket;
        culex_uuid id = culex__ticket_format(rows[i].ticket);
        culex_uuid_format(id, text);
        assert_string_equal(text, rows[i].text);
        assert_true(culex__ticket_parse(id, &ticket));
        assert_true(ticket.producer == rows[i].ticket.producer &&
                    ticket.sequence == rows[i].ticket.sequence);
    }
}

static bool text_is_run_id(const char *text)
{
    struct culex_run_id_parts parts;
    culex_uuid id;
    assert_true(culex_uuid_parse(text, &id));
    return culex__run_id_read(id, &parts);
}

static bool text_is_ticket(const char *text)
{
    struct culex_ticket ticket;
    culex_uuid id;
    assert_true(culex_uuid_parse(text, &id));
    return culex__ticket_parse(id, &ticket);
}

/* By version and variant alone; a ticket has a producer besides. */
static void test_run_id_and_ticket_are_never_taken_for_each_other(void **state)
{
    static const struct {
        const char *text;
        bool is_run_id, is_ticket;
    } rows[] = {
        {"01234567-89ab-7def-8123-456789abcdef", true, false},
        {"01234567-89ab-7def-b123-456789abcdef", true, false},
        {"01234567-89ab-8def-8123-456789abcdef", false, true},
        {"01234567-89ab-8def-b123-456789abcdef", false, true},
        {"01234567-89ab-8def-8000-000000000000", false, false},
        {"01234567-89ab-4def-8123-456789abcdef", false, false},
        {"01234567-89ab-9def-8123-456789abcdef", false, false},
        {"01234567-89ab-7def-4123-456789abcdef", false, false},
        {"01234567-89ab-7def-c123-456789abcdef", false, false},
        {"01234567-89ab-8def-4123-456789abcdef", false, false},
        {"01234567-89ab-8def-c123-456789abcdef", false, false},
        {"00000000-0000-0000-0000-000000000000", false, false},
        {"ffffffff-ffff-ffff-ffff-ffffffffffff", false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(text_is_run_id(rows[i].text), rows[i].is_run_id);
        assert_int_equal(text_is_ticket(rows[i].text), rows[i].is_ticket);
    }
}

/* So do their texts, by which a person sorts them. */
static void test_tickets_only_grow_whatever_the_clock_does(void **state)
{
    struct culex_ticket last = {.producer = 7};
    char before[CULEX_UUID_TEXT_SIZE] = "", text[CULEX_UUID_TEXT_SIZE];
    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t sequence = last.sequence;
        struct culex_ticket next = culex__ticket_next(&last, i % 7 == 0 ? i / 100 : -i);
        assert_true(next.sequence > sequence);
        assert_true(next.sequence == last.sequence && next.producer == 7);
        culex_uuid_format(culex__ticket_format(next), text);
        assert_true(strcmp(before, text) < 0);
        memcpy(before, text, sizeof text);
    }
}

static void test_ticket_has_the_ms_of_its_making(void **state)
{
    struct culex_ticket last = {.producer = 7};
    (void)state;
    for (int64_t ms = 1000; ms < 1003; ms++) {
        for (uint64_t count = 0; count < 4096; count++) {
            struct culex_ticket next = culex__ticket_next(&last, ms);
            assert_int_equal(culex__ticket_ms(next), ms);
            assert_int_equal(next.sequence & 0xfff, count);
        }
    }
    /* More of them than a ms holds are ahead of it, until it has caught up. */
    for (int i = 0; i < 10; i++)
        assert_int_equal(culex__ticket_ms(culex__ticket_next(&last, 1002)), 1003);
    assert_int_equal(culex__ticket_next(&last, 1003).sequence, (1003 << 12) + 10);
    assert_int_equal(culex__ticket_next(&last, 1004).sequence, 1004 << 12);
}

/* --- events ------------------------------------------------------------------------------ */

static void test_who_may_tell_of_an_event(void **state)
{
    (void)state;
    static const struct {
        int64_t event;
        bool is_childs, is_workers;
    } rows[] = {
        {CULEX_EVENT_DONE, true, true},
        {CULEX_EVENT_FAIL, true, true},
        {CULEX_EVENT_RELEASE, true, true},
        {CULEX_EVENT_DISCARD, true, true},
        {CULEX_EVENT_CRASH, false, true},
        {CULEX_EVENT_LOSS, false, true},
        {CULEX_EVENT_DUE, false, false},
        {CULEX_EVENT_CLAIM, false, false},
        {CULEX_EVENT_EXPIRE, false, false},
        {CULEX_EVENT_CANCEL, false, false},
        {CULEX_EVENT_RETRY, false, false},
        {CULEX_EVENT_COUNT, false, false},
        {-1, false, false},
        {UINT32_MAX, false, false},
    };
    assert_int_equal(sizeof rows / sizeof rows[0], CULEX_EVENT_COUNT + 3);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(culex__run_event_is_childs(rows[i].event), rows[i].is_childs);
        assert_int_equal(culex__run_event_is_workers(rows[i].event), rows[i].is_workers);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_backoff_delays_by_kind),
        cmocka_unit_test(test_time_for_retries_ends_a_run_alone),
        cmocka_unit_test(test_backoff_zero_failures_count_as_one),
        cmocka_unit_test(test_backoff_jitter_stays_in_its_range),
        cmocka_unit_test(test_next_tick_is_the_first_after_now_on_the_grid_of_the_mark),
        cmocka_unit_test(test_run_id_holds_its_parts),
        cmocka_unit_test(test_ticket_holds_its_parts),
        cmocka_unit_test(test_run_id_and_ticket_are_never_taken_for_each_other),
        cmocka_unit_test(test_tickets_only_grow_whatever_the_clock_does),
        cmocka_unit_test(test_ticket_has_the_ms_of_its_making),
        cmocka_unit_test(test_who_may_tell_of_an_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
