/* forget/forget.c - no set that nobody empties.
 *
 *   forget STORE [RUNS]      2: wrong usage
 *
 * RUNS runs (200) come to each of their ends, twice; after each time only a worker's steps are
 * left, idle ones and busy ones. Then every set of sets.def must be empty, or as small as it says,
 * and the store no larger than one that has seen a handful of runs; what it took from the disk for
 * the first time must do for the second. */
#include "ends.h"
#include "sets.h"

#include "stores.h"

enum {
    FEW = 8,
    HELLOS = 300,
    PASS_MS = 3 * 3600 * 1000, /* a session is known for an hour, a lease and a minute */
    BURST_CALLS = 6000,
    BURST_WORKERS = 3000,
    BURST_GAP_MS = 100,    /* between steps, where it counts how soon they are */
    BURST_OVER_MS = 30000, /* far less than at a portion a second */
    USED_SLACK = 16384,    /* bytes: places of hashes and pages that are filled by a tenth */
};

static struct suite suite;
static size_t runs_each = 200;

static void look(void)
{
    if (!sets_look())
        fail_msg("there is a set that sets.def does not tell of");
}

/* A handful is watched all the way: what is filled and emptied again counts as filled. */
static void ends_all(size_t count)
{
    const struct ends_end *end;
    for (size_t i = 0; (end = ends_at(i)) != NULL; i++) {
        print_message("%s\n", ends_name(end));
        ends_run(&suite, end, count, count == FEW ? look : NULL);
        look();
    }
}

typedef void (*pass_fn)(struct suite *suite, int64_t ms);

static void pass_busy(struct suite *its, int64_t ms)
{
    ends_pass_busy(its, ms, SUITE_SECOND_MS);
}

/* One round of `count` runs to each end, and the time after it. */
static struct sets_size round_make(size_t count, pass_fn pass, const char *when)
{
    ends_all(count);
    pass(&suite, PASS_MS);
    look();
    bool is_good = sets_judge(when);
    struct sets_size size = sets_size();
    printf("%s: %lld bytes in use, %lld taken\n", when, (long long)size.used,
           (long long)size.taken);
    assert_true(is_good);
    return size;
}

static void used_judge(struct sets_size fresh, struct sets_size now)
{
    if (now.used > fresh.used + USED_SLACK)
        fail_msg("%lld bytes in use, and %lld when the store was fresh", (long long)now.used,
                 (long long)fresh.used);
}

/* An hour's work needs room; a second one just as much, and a tenth for chance. */
static void taken_judge(struct sets_size first, struct sets_size second)
{
    if (second.taken > first.taken + first.taken / 10 + USED_SLACK)
        fail_msg("%lld bytes taken after the second round, %lld after the first",
                 (long long)second.taken, (long long)first.taken);
}

static void test_table_is_about_the_store(void **state)
{
    (void)state;
    assert_true(sets_begin(suite.kind, suite.name, suite.queue));
}

/* Nothing was ever claimed there. */
static void test_queue_without_runs_forgets(void **state)
{
    (void)state;
    ends_hello(&suite, HELLOS);
    ends_pass_idle(&suite, PASS_MS);
    look();
    assert_true(sets_judge("without runs"));
}

static void test_every_set_is_emptied(void **state)
{
    (void)state;
    struct sets_size fresh = round_make(FEW, ends_pass_idle, "fresh");
    struct sets_size first = round_make(runs_each, pass_busy, "after busy steps");
    struct sets_size second = round_make(runs_each, ends_pass_idle, "after idle steps");
    sets_print();
    assert_true(sets_were_filled());
    used_judge(fresh, first);
    used_judge(fresh, second);
    taken_judge(first, second);
}

/* From now on in steps of a second, and in many a second once `until_ms` is there. */
static void pass_over(int64_t until_ms)
{
    ends_pass_busy(&suite, until_ms - suite.now_ms, SUITE_SECOND_MS);
    ends_pass_busy(&suite, BURST_OVER_MS, BURST_GAP_MS);
}

/* What came in a moment goes soon after its time is over, although no worker is ever idle. */
static void test_busy_steps_are_not_behind(void **state)
{
    (void)state;
    int64_t begun_ms = suite.now_ms;
    ends_hello(&suite, BURST_WORKERS);
    ends_burst(&suite, BURST_CALLS);
    pass_over(begun_ms + CULEX_TICKET_HORIZON_MS + SUITE_MINUTE_MS);
    assert_true(suite_remembered(&suite) <= 2);
    pass_over(begun_ms + CULEX_SESSION_TTL_MS);
    look();
    assert_true(sets_judge("after a burst"));
}

/* From 1 to 9 digits, which are no 0. */
static bool runs_read(const char *text, size_t *ret_runs)
{
    size_t len = strlen(text);
    if (len == 0 || len > 9 || strspn(text, "0123456789") != len)
        return false;
    *ret_runs = strtoul(text, NULL, 10);
    return *ret_runs > 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_is_about_the_store),
        cmocka_unit_test(test_queue_without_runs_forgets),
        cmocka_unit_test(test_every_set_is_emptied),
        cmocka_unit_test(test_busy_steps_are_not_behind),
    };
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: forget STORE [RUNS]\n");
        return 2;
    }
    if (argc > 2 && !runs_read(argv[2], &runs_each)) {
        fprintf(stderr, "forget: RUNS is '%s': a number from 1 to 999999999\n", argv[2]);
        return 2;
    }
    int code = stores_start(argv[1], false);
    if (code != 0)
        return code;
    suite_open(&suite, argv[1], 0);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    suite_close(&suite);
    stores_stop();
    return failed;
}
