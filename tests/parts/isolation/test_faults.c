/* The zoo: whatever a handler does to its process, its own run fails with a text that says what
 * happened, and the next run works. */
#include "pen.h"

#include <signal.h>
#include <unistd.h>

#include "base/sanitizer.h"

static struct pen *pen_new(void **state, unsigned count)
{
    struct pen *pen = malloc(sizeof *pen);
    assert_non_null(pen);
    pen_init(pen, count);
    pen_open(pen);
    *state = pen;
    return pen;
}

static int finish(void **state)
{
    struct pen *pen = *state;
    pen_close(pen);
    free(pen);
    return 0;
}

/* Runs the handler; its text must have all the parts, and a neighbour must not notice. */
static void crash_expect(void **state, const char *name, int64_t n, const char *part,
                         const char *other)
{
    struct pen *pen = pen_new(state, 2);
    const struct culex_run *neighbour = pen_submit(pen, "gate", 0, NULL);
    const char *text = pen_expect(pen, name, n, CULEX_EVENT_CRASH);
    bool is_right = strstr(text, part) != NULL && (other == NULL || strstr(text, other) != NULL);
    if (!is_right)
        print_message("%s: %s\n", name, text);
    assert_true(is_right);
    assert_false(pen_has_ended(pen, neighbour));
    atomic_store(&zoo_board->may_end, 1);
    pen_await(pen, neighbour);
    assert_int_equal(neighbour->end.event, CULEX_EVENT_DONE);
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
}

static void test_null_write_is_named(void **state)
{
    crash_expect(state, "null_write", 0,
                 "killed by SIGSEGV (address not mapped) at 0x0 in null_write+",
                 "called from zoo_call+");
}

static void test_wild_write_is_named(void **state)
{
    crash_expect(state, "wild_write", 0, "at 0x5a5a5a5a5000 in wild_write+", NULL);
}

static void test_wild_jump_is_named(void **state)
{
    crash_expect(state, "wild_jump", 0, "killed by SIGSEGV (address not mapped) at 0x0", NULL);
}

static void test_double_free_is_a_crash(void **state)
{
    if (CULEX_HAS_ASAN)
        crash_expect(state, "double_free", 0, "the handler called exit(", NULL);
    else
        crash_expect(state, "double_free", 0, "killed by SIGABRT", "double_free+");
}

static void test_stack_overflow_is_named(void **state)
{
    crash_expect(state, "stack_overflow", 0, "killed by SIGSEGV (stack overflow)",
                 "overflow_deeper");
}

static void test_abort_is_named(void **state)
{
    crash_expect(state, "aborts", 0, "killed by SIGABRT", "aborts+");
}

static void test_division_by_zero_is_named(void **state)
{
    crash_expect(state, "divides", 1, "killed by SIGFPE (integer divided by zero)", "divides+");
}

static void test_exit_in_a_handler_is_a_crash(void **state)
{
    crash_expect(state, "exits", 0, "the handler called exit(0)", NULL);
}

static void test_quick_exit_in_a_handler_is_a_crash(void **state)
{
    crash_expect(state, "exits_quickly", 3, "the handler called exit(3)", NULL);
}

static void test_foreign_kill_is_a_crash(void **state)
{
    crash_expect(state, "raises", SIGKILL,
                 "killed by SIGKILL (not by us: kill -9 or the kernel's memory killer)", NULL);
}

static void test_raised_fault_is_named(void **state)
{
    crash_expect(state, "raises", SIGSEGV, "killed by SIGSEGV (sent by process", "raises+");
}

static void test_write_beyond_the_file_limit_is_named(void **state)
{
    crash_expect(state, "outgrows", 100, "killed by SIGXFSZ (a file beyond the limit of its size)",
                 "outgrows+");
}

static void test_signal_without_report_is_named(void **state)
{
    crash_expect(state, "raises", SIGUSR1, "killed by SIGUSR1", NULL);
}

static void test_jump_out_is_a_crash(void **state)
{
    crash_expect(state, "jumps_out", 0, "killed by SIG", NULL);
}

static void test_ended_thread_is_a_crash(void **state)
{
    /* Exit code 0, unless LeakSanitizer has its say. */
    crash_expect(state, "ends_thread", 0, "the handler called exit(", NULL);
}

#if !CULEX_HAS_ASAN /* whose own memory would count */
static void test_memory_bomb_names_the_limit(void **state)
{
    crash_expect(state, "bounded_bomb", 100000, "the job's limit is 67108864 bytes", "SIGSEGV");
}

static void test_failure_at_the_memory_limit_names_it(void **state)
{
    struct pen *pen = pen_new(state, 1);
    const char *text = pen_expect(pen, "bounded_fails", 100000, CULEX_EVENT_FAIL);
    assert_string_equal(text, "no memory (out of memory: the job's limit is 67108864 bytes)");
    /* The limit holds for runs of that job only. */
    pen_expect(pen, "leaks", 100, CULEX_EVENT_DONE);
}

static void test_leaking_child_is_replaced(void **state)
{
    struct pen *pen = pen_new(state, 1);
    pen_expect(pen, "leaks", 1, CULEX_EVENT_DONE);
    int first = atomic_load(&zoo_board->pid);
    pen_expect(pen, "leaks", 200, CULEX_EVENT_DONE);
    assert_int_equal(atomic_load(&zoo_board->pid), first);
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
    assert_int_not_equal(atomic_load(&zoo_board->pid), first);
}
#endif

/* What it wrote to its channel is no message; the run did it. */
static void test_garbage_everywhere_fails_the_run(void **state)
{
    int broken[2]; /* as the runner may leave it to us; stays open, for a pen counts descriptors */
    assert_int_equal(pipe(broken), 0);
    close(broken[0]);
    struct pen *pen = pen_new(state, 1);
    const struct culex_run *run = pen_submit(pen, "writes_everywhere", 0, NULL);
    pen_await(pen, run);
    if (run->end.event == CULEX_EVENT_CRASH)
        assert_non_null(strstr(run->end.text, "its memory is damaged"));
    else
        assert_int_equal(run->end.event, CULEX_EVENT_DONE); /* it was done before we read that */
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
}

/* Its end stands in the mailbox, and the next run gets another child. */
static void test_closed_descriptors_lose_no_end(void **state)
{
    struct pen *pen = pen_new(state, 1);
    pen_expect(pen, "closes_all", 0, CULEX_EVENT_DONE);
    int first = atomic_load(&zoo_board->pid);
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
    assert_int_not_equal(atomic_load(&zoo_board->pid), first);
}

static void test_closed_descriptors_are_named_when_words_are_lost(void **state)
{
    struct pen *pen = pen_new(state, 1);
    const char *text = pen_expect(pen, "closes_all", 1, CULEX_EVENT_CRASH);
    assert_non_null(strstr(text, "closed or wrote to a descriptor that it did not open"));
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
}

static void test_many_crashes_leave_nothing_behind(void **state)
{
    struct pen *pen = pen_new(state, 2);
    enum { CRASHES = 300 };
    pen_expect(pen, "null_write", 0, CULEX_EVENT_CRASH);
    size_t descriptors = pen_descriptors();
    for (int i = 0; i < CRASHES; i++) {
        pen_expect(pen, "null_write", 0, CULEX_EVENT_CRASH);
        pen_forget(pen);
    }
    PEN_AWAIT(pen, culex__executor_children_count(pen->executor) == 0);
    assert_true(pen_descriptors() <= descriptors);
    assert_int_equal(pen_descendants(), 1); /* the zygote, no zombies */
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
}

/* Behind the run that crashes wait others in the same child: they are not charged. */
static void test_crash_hits_exactly_its_run(void **state)
{
    struct pen *pen = pen_new(state, 1);
    enum { COUNT = 400 };
    struct culex_run *runs[COUNT];
    for (int i = 0; i < COUNT; i++) {
        runs[i] = pen_make(pen, i % 50 == 49 ? "null_write" : "nothing", i, NULL);
    }
    pen->executor->ops->submit(pen->executor, runs, COUNT);
    PEN_AWAIT(pen, pen->ended_count == COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(runs[i]->end.event, i % 50 == 49 ? CULEX_EVENT_CRASH : CULEX_EVENT_DONE);
    assert_int_equal(atomic_load(&zoo_board->starts), COUNT); /* none ran twice */
}

#define ZOO_TEST(name) cmocka_unit_test_teardown(name, finish)

/* An argument is a pattern: only tests with such a name run. */
int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        ZOO_TEST(test_null_write_is_named),
        ZOO_TEST(test_wild_write_is_named),
        ZOO_TEST(test_wild_jump_is_named),
        ZOO_TEST(test_double_free_is_a_crash),
        ZOO_TEST(test_stack_overflow_is_named),
        ZOO_TEST(test_abort_is_named),
        ZOO_TEST(test_division_by_zero_is_named),
        ZOO_TEST(test_exit_in_a_handler_is_a_crash),
        ZOO_TEST(test_quick_exit_in_a_handler_is_a_crash),
        ZOO_TEST(test_foreign_kill_is_a_crash),
        ZOO_TEST(test_raised_fault_is_named),
        ZOO_TEST(test_write_beyond_the_file_limit_is_named),
        ZOO_TEST(test_signal_without_report_is_named),
        ZOO_TEST(test_jump_out_is_a_crash),
        ZOO_TEST(test_ended_thread_is_a_crash),
        ZOO_TEST(test_garbage_everywhere_fails_the_run),
        ZOO_TEST(test_closed_descriptors_lose_no_end),
        ZOO_TEST(test_closed_descriptors_are_named_when_words_are_lost),
        ZOO_TEST(test_many_crashes_leave_nothing_behind),
        ZOO_TEST(test_crash_hits_exactly_its_run),
#if !CULEX_HAS_ASAN
        ZOO_TEST(test_memory_bomb_names_the_limit),
        ZOO_TEST(test_failure_at_the_memory_limit_names_it),
        ZOO_TEST(test_leaking_child_is_replaced),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
