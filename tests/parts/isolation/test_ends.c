/* How handlers end that do not end by themselves, and what is left of them: nothing. */
#include "pen.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS INT64_C(1000000)

static struct pen *pen_new(void **state, unsigned count)
{
    struct pen *pen = malloc(sizeof *pen);
    assert_non_null(pen);
    pen_init(pen, count);
    *state = pen;
    return pen;
}

static struct pen *pen_begin(void **state, unsigned count)
{
    struct pen *pen = pen_new(state, count);
    pen_open(pen);
    return pen;
}

static int finish(void **state)
{
    struct pen *pen = *state;
    pen_close(pen);
    free(pen);
    return 0;
}

static struct culex_run *begin(struct pen *pen, const char *name, int64_t n)
{
    int before = atomic_load(&zoo_board->starts);
    struct culex_run *run = pen_submit(pen, name, n, NULL);
    PEN_AWAIT(pen, atomic_load(&zoo_board->starts) > before);
    return run;
}

static void cancel(struct pen *pen, struct culex_run *run, int64_t term_ms, int64_t kill_ms)
{
    int64_t now_ns = pen_now_ns();
    pen->executor->ops->cancel(pen->executor, run, term_ms < 0 ? INT64_MAX : now_ns + term_ms * MS,
                               kill_ms < 0 ? INT64_MAX : now_ns + kill_ms * MS);
}

/* Row 29: the ladder, first step. */
static void test_endless_loop_is_terminated_and_named(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    struct culex_run *run = begin(pen, "spins", 0);
    cancel(pen, run, 1, 60000);
    pen_await(pen, run);
    assert_int_equal(run->end.event, CULEX_EVENT_CRASH);
    assert_non_null(strstr(run->end.text, "killed by SIGTERM (the handler was asked to stop) in "));
    assert_non_null(strstr(run->end.text, "spins+"));
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
}

static void test_sleeping_handler_is_terminated_and_named(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    struct culex_run *run = begin(pen, "sleeps_for_ever", 0);
    cancel(pen, run, 0, 60000);
    pen_await(pen, run);
    assert_int_equal(run->end.event, CULEX_EVENT_CRASH);
    assert_non_null(strstr(run->end.text, "sleeps_for_ever+"));
}

/* Row 29: the ladder, last step. */
static void test_deaf_loop_is_killed(void **state)
{
    struct pen *pen = pen_begin(state, 2);
    struct culex_run *run = begin(pen, "spins_deaf", 0);
    struct culex_run *neighbour = begin(pen, "gate", 0);
    cancel(pen, run, 1, 30);
    pen_await(pen, run);
    assert_int_equal(run->end.event, CULEX_EVENT_CRASH);
    assert_string_equal(run->end.text,
                        "killed by SIGKILL (the handler did not stop when asked to)");
    assert_false(pen_has_ended(pen, neighbour));
    atomic_store(&zoo_board->may_end, 1);
    pen_await(pen, neighbour);
}

static void test_later_cancel_may_only_hurry(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    struct culex_run *run = begin(pen, "spins_deaf", 0);
    cancel(pen, run, -1, 20);
    cancel(pen, run, -1, -1);
    pen_await(pen, run);
    assert_int_equal(run->end.event, CULEX_EVENT_CRASH);
}

static void test_ended_run_is_not_killed_later(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    struct culex_run *run = begin(pen, "gate", 0);
    cancel(pen, run, 300, 300);
    pen_await(pen, run);
    int first = atomic_load(&zoo_board->pid);
    run = begin(pen, "sleeps", 500);
    assert_int_equal(atomic_load(&zoo_board->pid), first);
    pen_await(pen, run);
    assert_int_equal(run->end.event, CULEX_EVENT_DONE);
}

/* The signal may come when the handler has returned, and its end is not told yet. */
static void test_handler_that_ends_as_it_is_asked_to_is_believed(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    int before = atomic_load(&zoo_board->ends);
    struct culex_run *run = pen_submit(pen, "ends_as_asked", 0, NULL);
    PEN_AWAIT(pen, atomic_load(&zoo_board->ends) > before);
    int first = atomic_load(&zoo_board->pid);
    cancel(pen, run, 0, 60000);
    pen_await(pen, run);
    assert_int_equal(run->end.event, CULEX_EVENT_DONE);
    /* Its child may die of the signal yet: it gets no other run. */
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
    assert_int_not_equal(atomic_load(&zoo_board->pid), first);
}

/* A service manager may send SIGTERM to every process: only the supervisor decides. */
static void test_foreign_sigterm_stops_no_handler(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    struct culex_run *run = begin(pen, "gate", 0);
    kill(atomic_load(&zoo_board->pid), SIGTERM);
    atomic_store(&zoo_board->may_end, 1);
    pen_await(pen, run);
    assert_int_equal(run->end.event, CULEX_EVENT_DONE);
}

static void test_fork_bomb_dies_with_its_child(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    struct culex_run *run = begin(pen, "fork_bomb", 5);
    PEN_AWAIT(pen, pen_descendants() > 30);
    cancel(pen, run, -1, 0);
    pen_await(pen, run);
    assert_int_equal(run->end.event, CULEX_EVENT_CRASH);
    PEN_AWAIT(pen, pen_descendants() == 1);
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
}

static bool is_alive(int pid)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    size_t len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[len] = '\0';
    const char *after = strrchr(text, ')');
    return after != NULL && after[2] != 'Z' && after[2] != 'X';
}

/* It left group and session, and its parent is gone: the zygote is its parent now. */
static void test_daemon_dies_with_the_child_that_crashed(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    pen_expect(pen, "leaves_daemon", 1, CULEX_EVENT_CRASH);
    PEN_AWAIT(pen, !is_alive(atomic_load(&zoo_board->other)));
}

/* A daemon may outlive its parent, not the run: it ends before that is told. */
static void test_daemon_dies_with_its_run(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    pen_expect(pen, "leaves_daemon", 0, CULEX_EVENT_DONE);
    assert_false(is_alive(atomic_load(&zoo_board->other)));
    assert_non_null(strstr(pen->log, "processes that the handler left behind were killed: 1"));
    int first = atomic_load(&zoo_board->pid);
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
    assert_int_equal(atomic_load(&zoo_board->pid), first);
}

static void test_daemon_dies_with_the_executor(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    pen_submit(pen, "leaves_daemon", 2, NULL);
    PEN_AWAIT(pen, atomic_load(&zoo_board->other) != 0);
}

static void test_suspect_runs_alone_in_a_fresh_child(void **state)
{
    struct pen *pen = pen_begin(state, 2);
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
    int first = atomic_load(&zoo_board->pid);
    struct culex_run *run = pen_make(pen, "nothing", 0, NULL);
    run->terms.is_suspect = true;
    pen_hand_over(pen, run);
    pen_await(pen, run);
    int second = atomic_load(&zoo_board->pid);
    assert_int_not_equal(second, first);
    for (int i = 0; i < 20; i++) {
        pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
        assert_int_not_equal(atomic_load(&zoo_board->pid), second);
    }
}

static void test_suspect_gets_its_child_among_idle_ones(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    for (int i = 0; i < 10; i++) {
        pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
        struct culex_run *run = pen_make(pen, "null_write", 0, NULL);
        run->terms.is_suspect = true;
        pen_hand_over(pen, run);
        pen_await(pen, run);
        assert_int_equal(run->end.event, CULEX_EVENT_CRASH);
    }
}

static void test_job_isolation_gives_each_run_a_child(void **state)
{
    struct pen *pen = pen_new(state, 2);
    int seen[60];
    pen->config.isolation = CULEX_ISOLATION_JOB;
    pen_open(pen);
    for (int i = 0; i < 60; i++) {
        pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
        seen[i] = atomic_load(&zoo_board->pid);
        for (int k = 0; k < i; k++)
            assert_int_not_equal(seen[i], seen[k]);
    }
}

/* Row 34: no zygote, no handlers: what ran is charged, the rest is given back, all of it at once.
 */
static void test_lost_zygote_loses_no_run(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    struct culex_run *run = pen_submit(pen, "kills_zygote", SIGKILL, NULL);
    struct culex_run *behind = pen_submit(pen, "nothing", 0, NULL);
    pen_await(pen, run);
    pen_await(pen, behind);
    assert_int_equal(run->end.event, CULEX_EVENT_CRASH);
    assert_non_null(strstr(run->end.text, "the process that starts handlers is gone"));
    assert_int_equal(behind->end.event, CULEX_EVENT_RELEASE);
    assert_int_equal(behind->end.delay_ms, 0);
    assert_true(pen->executor->ops->is_broken(pen->executor));
    pen_expect(pen, "nothing", 0, CULEX_EVENT_RELEASE);
    assert_non_null(strstr(pen->log, "the process that starts handlers is gone"));
}

/* Row 34, hung instead of dead: TERM and the like do nothing to it. */
static void test_zygote_ignores_signals_of_others(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct culex_run *run = begin(pen, "kills_zygote", signals[i]);
        cancel(pen, run, 0, 60000);
        pen_await(pen, run);
        assert_non_null(strstr(run->end.text, "killed by SIGTERM"));
    }
    assert_false(pen->executor->ops->is_broken(pen->executor));
}

static void test_stop_kills_what_does_not_end(void **state)
{
    struct pen *pen = pen_begin(state, 2);
    begin(pen, "spins_deaf", 0);
    begin(pen, "fork_bomb", 3);
}

static void lease_move(struct pen *pen, struct culex_run *run, int64_t end_ns)
{
    atomic_store(&run->lease_ns, end_ns);
    pen->executor->ops->renew(pen->executor, run);
}

static void test_overtime_is_ended_by_the_zygote(void **state)
{
    struct pen *pen = pen_new(state, 1);
    pen->config.handler.lease_ms = 200;
    pen_open(pen);
    struct culex_run *run =
        begin(pen, "spins", 0); /* whose lease would else end before it begins */
    lease_move(pen, run, pen_now_ns() + 150 * MS);
    pen_await(pen, run);
    assert_int_equal(run->end.event, CULEX_EVENT_CRASH);
    assert_true(run->end.is_overtime);
    assert_string_equal(run->end.text, "killed by SIGKILL (its lease was over)");
}

/* Renewed by a second, and by much more once that second has begun: the run outlives both ends. The
 * child is there already, so that its run begins well within its first lease. */
static void test_renewed_lease_keeps_the_run_alive(void **state)
{
    struct pen *pen = pen_new(state, 1);
    pen->config.handler.lease_ms = 200;
    pen_open(pen);
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
    struct culex_run *run = pen_make(pen, "gate", 0, NULL);
    int64_t end_ns = pen_now_ns() + 1000 * MS;
    atomic_store(&run->lease_ns, end_ns);
    pen_hand_over(pen, run);
    for (int64_t now_ns; (now_ns = pen_now_ns()) < end_ns + 1200 * MS;) {
        lease_move(pen, run, end_ns + (now_ns < end_ns ? 1000 : 600000) * MS);
        pen_turn(pen, 10);
    }
    atomic_store(&zoo_board->may_end, 1);
    pen_await(pen, run);
    assert_int_equal(run->end.event, CULEX_EVENT_DONE);
}

/* --- supervisors that die or stand still ------------------------------------------------- */

/* A supervisor in a process of its own, with one run of `name` under a lease of `lease_ms`. */
static pid_t supervisor_fork(const char *name, int64_t n, int64_t lease_ms)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct pen *pen = malloc(sizeof *pen);
    pen_init(pen, 1);
    pen->config.handler.lease_ms = lease_ms;
    if (pen_try_open(pen, NULL) != CULEX_OK)
        _exit(1);
    struct culex_run *run = pen_make(pen, name, n, NULL);
    atomic_store(&run->lease_ns, pen_now_ns() + lease_ms * MS);
    pen_hand_over(pen, run);
    for (;;)
        pen_turn(pen, 1000);
}

static void reap_all(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
}

#define AWAIT(condition)                                                                           \
    do {                                                                                           \
        int64_t until_ns = pen_now_ns() + PEN_WAIT_MS * MS;                                        \
        while (!(condition) && pen_now_ns() < until_ns) {                                          \
            poll(NULL, 0, 1);                                                                      \
            reap_all();                                                                            \
        }                                                                                          \
        assert_true(condition);                                                                    \
    } while (0)

/* Row 9: all of them go, grandchildren and daemons too. */
static void test_killed_supervisor_takes_everything_along(void **state)
{
    static const char *const animals[] = {"spins_deaf", "fork_bomb", "leaves_daemon"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        zoo_open();
        pid_t pid = supervisor_fork(animals[i], i == 1 ? 4 : 2, 600000);
        AWAIT(atomic_load(&zoo_board->starts) == 1 && pen_descendants() >= 3);
        if (i == 2)
            AWAIT(atomic_load(&zoo_board->other) != 0);
        kill(pid, SIGKILL);
        assert_int_equal(pen_descendants_end(), 0);
        zoo_close();
    }
}

/* Row 10: side effects end with the lease, though nobody looks. */
static void test_stopped_supervisor_does_not_stretch_the_lease(void **state)
{
    (void)state;
    zoo_open();
    pid_t pid = supervisor_fork("spins_deaf", 0, 1000);
    AWAIT(atomic_load(&zoo_board->starts) == 1);
    int child = atomic_load(&zoo_board->pid);
    kill(pid, SIGSTOP);
    assert_true(is_alive(child));
    AWAIT(!is_alive(child));
    kill(pid, SIGKILL);
    assert_int_equal(pen_descendants_end(), 0);
    zoo_close();
}

/* The zygote saw it die while the supervisor was kept waiting: the run took no longer for that. */
static void test_death_that_is_heard_of_late_was_when_it_was(void **state)
{
    struct pen *pen = pen_begin(state, 1);
    struct culex_run *run = begin(pen, "gate", 0);
    int64_t begun_ns = pen_now_ns();
    PEN_AWAIT(pen, atomic_load(&run->started_ns) > 0);
    int child = atomic_load(&zoo_board->pid);
    kill(child, SIGKILL);
    while (kill(child, 0) == 0 && pen_now_ns() < begun_ns + PEN_WAIT_MS * MS)
        poll(NULL, 0, 1); /* until the zygote has buried it */
    int64_t gone_ns = pen_now_ns();
    while (pen_now_ns() < gone_ns + 50 * MS)
        poll(NULL, 0, 10);
    pen_await(pen, run);
    assert_int_equal(run->end.event, CULEX_EVENT_CRASH);
    assert_true(atomic_load(&run->started_ns) + run->end.duration_ns <= gone_ns);
    assert_true(run->end.ended_ns > begun_ns && run->end.ended_ns <= gone_ns);
}

#define END_TEST(name)    cmocka_unit_test_teardown(name, finish)
#define ORPHAN_TEST(name) cmocka_unit_test_teardown(name, orphans_end)

/* Whatever a test leaves behind comes to this process, which sees it then. */
static int orphans_adopt(void **state)
{
    (void)state;
    return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static int orphans_end(void **state)
{
    (void)state;
    pen_descendants_end();
    return 0;
}

/* An argument is a pattern: only tests with such a name run. */
int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        END_TEST(test_endless_loop_is_terminated_and_named),
        END_TEST(test_sleeping_handler_is_terminated_and_named),
        END_TEST(test_deaf_loop_is_killed),
        END_TEST(test_later_cancel_may_only_hurry),
        END_TEST(test_ended_run_is_not_killed_later),
        END_TEST(test_handler_that_ends_as_it_is_asked_to_is_believed),
        END_TEST(test_foreign_sigterm_stops_no_handler),
        END_TEST(test_fork_bomb_dies_with_its_child),
        END_TEST(test_daemon_dies_with_the_child_that_crashed),
        END_TEST(test_daemon_dies_with_its_run),
        END_TEST(test_daemon_dies_with_the_executor),
        END_TEST(test_suspect_runs_alone_in_a_fresh_child),
        END_TEST(test_suspect_gets_its_child_among_idle_ones),
        END_TEST(test_job_isolation_gives_each_run_a_child),
        END_TEST(test_lost_zygote_loses_no_run),
        END_TEST(test_zygote_ignores_signals_of_others),
        END_TEST(test_stop_kills_what_does_not_end),
        END_TEST(test_overtime_is_ended_by_the_zygote),
        END_TEST(test_renewed_lease_keeps_the_run_alive),
        END_TEST(test_death_that_is_heard_of_late_was_when_it_was),
        ORPHAN_TEST(test_killed_supervisor_takes_everything_along),
        ORPHAN_TEST(test_stopped_supervisor_does_not_stretch_the_lease),
    };
    return cmocka_run_group_tests(tests, orphans_adopt, NULL);
}
