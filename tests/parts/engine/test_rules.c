/* The pure rules beside the engine: backoff, schedule, ids, who may tell what befell a run. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "core/backoff.h"
#include "core/run.h"
#include "core/schedule.h"
#include "core/uuid7.h"

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

static void test_ids_carry_time_version_and_variant(void **state)
{
    (void)state;
    struct culex_uuid7 maker = {0};
    const uint64_t random[2] = {UINT64_MAX, UINT64_MAX};
    culex_uuid id = culex__uuid7_next(&maker, INT64_C(0x0123456789ab), random);
    static const uint8_t time[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab};
    assert_memory_equal(id.b, time, sizeof time);
    assert_int_equal(id.b[6] >> 4, 7);
    assert_int_equal(id.b[8] >> 6, 2);
}

static void test_ids_only_grow_whatever_the_clock_does(void **state)
{
    (void)state;
    struct culex_uuid7 maker = {0};
    culex_uuid before = {{0}};
    uint64_t seed = 1;
    for (int i = 0; i < 100000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        const uint64_t random[2] = {seed, ~seed};
        int64_t now = 1000000 + (i % 7 == 0 ? i / 100 : -i);
        culex_uuid id = culex__uuid7_next(&maker, now, random);
        assert_true(memcmp(&before, &id, sizeof id) < 0);
        before = id;
    }
}

static void test_ids_go_to_the_next_ms_when_one_is_full(void **state)
{
    (void)state;
    struct culex_uuid7 maker = {.ms = 5, .hi = 0xfff, .lo = (UINT64_C(1) << 62) - 1};
    const uint64_t random[2] = {0, 0};
    static const uint8_t six[] = {0, 0, 0, 0, 0, 6};
    assert_memory_equal(culex__uuid7_next(&maker, 5, random).b, six, sizeof six);
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
        cmocka_unit_test(test_backoff_zero_failures_count_as_one),
        cmocka_unit_test(test_backoff_jitter_stays_in_its_range),
        cmocka_unit_test(test_next_tick_is_the_first_after_now_on_the_grid_of_the_mark),
        cmocka_unit_test(test_ids_carry_time_version_and_variant),
        cmocka_unit_test(test_ids_only_grow_whatever_the_clock_does),
        cmocka_unit_test(test_ids_go_to_the_next_ms_when_one_is_full),
        cmocka_unit_test(test_who_may_tell_of_an_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
