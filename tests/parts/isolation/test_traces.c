/* What a run changes of its process is not there for the next one. */
#include "pen.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child/offspring.h"

/* Those from here on the kernel does not let us put back, to most users. */
enum { MEDDLERS = 11, FIRST_LASTING = 9 };

static int finish(void **state)
{
    struct pen *pen = *state;
    pen_close(pen);
    free(pen);
    return 0;
}

static struct pen *pen_begin(void **state, unsigned count)
{
    struct pen *pen = malloc(sizeof *pen);
    assert_non_null(pen);
    pen_init(pen, count);
    pen_open(pen);
    *state = pen;
    return pen;
}

static void traces_expect(const char *found, const char *before, int64_t which)
{
    if (strcmp(found, before) != 0)
        fail_msg("meddler %d left a trace:\n%s\n%s", (int)which, before, found);
}

/* One at a time; the process is kept where it can be. */
static void test_no_run_finds_what_another_changed(void **state)
{
    char before[512];
    struct pen *pen = pen_begin(state, 1);
    snprintf(before, sizeof before, "%s", pen_expect(pen, "tells_traces", 0, CULEX_EVENT_FAIL));
    int first = atomic_load(&zoo_board->pid);
    for (int64_t which = 0; which < MEDDLERS; which++) {
        pen_expect(pen, "meddles", which, CULEX_EVENT_DONE);
        traces_expect(pen_expect(pen, "tells_traces", 0, CULEX_EVENT_FAIL), before, which);
        if (which < 7)
            assert_int_equal(atomic_load(&zoo_board->pid), first);
    }
}

/* A privilege that was dropped for good, a timer that would go off. */
static void test_what_cannot_be_put_back_costs_the_process(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    for (int64_t which = FIRST_LASTING; which < MEDDLERS; which++) {
        if (which == MEDDLERS - 1 && access("/proc/self/timers", R_OK) != 0)
            continue;
        pen_expect(pen, "meddles", which, CULEX_EVENT_DONE);
        int first = atomic_load(&zoo_board->pid);
        pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
        assert_int_not_equal(atomic_load(&zoo_board->pid), first);
    }
}

/* An alarm that one run set does not kill the next. */
static void test_alarm_ends_with_its_run(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    pen_expect(pen, "meddles", 5, CULEX_EVENT_DONE);
    pen_expect(pen, "sleeps", 1200, CULEX_EVENT_DONE);
}

/* Runs so short that a child has several at once: directory, umask, environment, alarm. */
static void test_short_runs_in_a_row_find_no_traces(void **state)
{
    static const int64_t meddlers[] = {0, 1, 3, 5};
    struct pen *pen = pen_begin(state, 1);
    struct culex_run *runs[8];
    char before[512];
    snprintf(before, sizeof before, "%s", pen_expect(pen, "tells_traces", 0, CULEX_EVENT_FAIL));
    for (int i = 0; i < 200; i++)
        pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
    pen_forget(pen);
    for (int i = 0; i < 8; i++)
        runs[i] = pen_make(pen, i % 2 == 0 ? "meddles" : "tells_traces", meddlers[i / 2], NULL);
    pen->executor->ops->submit(pen->executor, runs, 8);
    PEN_AWAIT(pen, pen->ended_count == 8);
    for (int i = 1; i < 8; i += 2)
        traces_expect(runs[i]->end.text, before, meddlers[i / 2]);
}

static bool is_ignoring(pid_t pid, int number)
{
    char path[64], line[256];
    unsigned long long ignored = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL && sscanf(line, "SigIgn: %llx", &ignored) != 1)
        ;
    fclose(file);
    return (ignored >> (number - 1) & 1) != 0;
}

/* The rest of what a short run left is put back when nothing follows it. */
static void test_pause_puts_everything_back(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    pen_expect(pen, "meddles", ZOO_MEDDLES_SHORTLY, CULEX_EVENT_DONE);
    int first = atomic_load(&zoo_board->pid);
    PEN_AWAIT(pen, !is_ignoring(first, SIGUSR1));
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
    assert_int_equal(atomic_load(&zoo_board->pid), first);
}

static pid_t sleeper_fork(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    return pid;
}

/* A helper that the program started before any run is not the run's. */
static void test_helpers_of_the_program_outlive_its_runs(void **state)
{
    struct culex_offspring offspring;
    bool is_left = true;
    (void)state;
    pid_t helper = sleeper_fork();
    culex__offspring_adopt(&offspring);
    pid_t stray = sleeper_fork();
    assert_int_equal(culex__offspring_end(&offspring, &is_left), 1);
    assert_false(is_left);
    assert_int_equal(kill(stray, 0), -1);
    assert_int_equal(kill(helper, 0), 0);
    assert_int_equal(culex__offspring_end(&offspring, &is_left), 0);
    kill(helper, SIGKILL);
    assert_int_equal(waitpid(helper, NULL, 0), helper);
}

#define TRACE_TEST(name) cmocka_unit_test_teardown(name, finish)

/* An argument is a pattern: only tests with such a name run. */
int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        TRACE_TEST(test_no_run_finds_what_another_changed),
        TRACE_TEST(test_what_cannot_be_put_back_costs_the_process),
        TRACE_TEST(test_alarm_ends_with_its_run),
        TRACE_TEST(test_short_runs_in_a_row_find_no_traces),
        TRACE_TEST(test_pause_puts_everything_back),
        cmocka_unit_test(test_helpers_of_the_program_outlive_its_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
