/* No child can be started, or fewer than are wanted: runs go back at once and no more are wanted
 * than there are children, until others can be had. */
#include "pen.h"

#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Shared with the zygote, which forks by the same table. */
struct supply {
    atomic_int forks; /* that still succeed */
    atomic_int tries;
};

static struct supply *supply;

static int refuse(void *self, const char *call)
{
    (void)self;
    if (strcmp(call, "fork") != 0 || supply == NULL)
        return 0;
    atomic_fetch_add(&supply->tries, 1);
    return atomic_fetch_sub(&supply->forks, 1) > 0 ? 0 : EAGAIN;
}

enum { PLENTY = 1000000, MARGIN = 2 /* tries that were asked for before a failure was heard */ };

static struct pen *pen_prepare(void **state, unsigned count, culex_isolation isolation)
{
    struct pen *pen = malloc(sizeof *pen);
    assert_non_null(pen);
    *state = pen;
    supply = mmap(NULL, sizeof *supply, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(supply != MAP_FAILED);
    atomic_store(&supply->forks, PLENTY);
    pen_init(pen, count);
    pen->logger.level = CULEX_LOG_INFO;
    pen->config.isolation = isolation;
    pen->effects = (struct culex_process_effects){NULL, refuse};
    return pen;
}

static struct pen *pen_new(void **state, unsigned count, culex_isolation isolation)
{
    struct pen *pen = pen_prepare(state, count, isolation);
    pen_open(pen);
    return pen;
}

static int finish(void **state)
{
    struct pen *pen = *state;
    pen_close(pen);
    free(pen);
    munmap(supply, sizeof *supply);
    supply = NULL;
    return 0;
}

static size_t capacity(const struct pen *pen)
{
    return pen->executor->ops->capacity(pen->executor);
}

static int64_t stranded_ns(const struct pen *pen)
{
    return pen->executor->ops->stranded_ns(pen->executor);
}

static unsigned told_count(const struct pen *pen, const char *words)
{
    unsigned count = 0;
    for (const char *at = pen->log; (at = strstr(at, words)) != NULL; at++)
        count++;
    return count;
}

static void expect_given_back(const struct culex_run *run)
{
    assert_int_equal(run->end.event, CULEX_EVENT_RELEASE);
    assert_int_equal(run->end.delay_ms, 0);
}

static void submit_and_get_back(struct pen *pen, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pen_submit(pen, "nothing", 0, NULL);
    PEN_AWAIT(pen, pen->ended_count == count);
    for (size_t i = 0; i < count; i++)
        expect_given_back(pen->ended[i]);
    pen_forget(pen);
}

/* Nobody hands a run over meanwhile: it tries by itself. */
static void expect_recovery(struct pen *pen, size_t count)
{
    PEN_AWAIT(pen, capacity(pen) == count);
    assert_int_equal(stranded_ns(pen), INT64_MAX);
    assert_int_equal(told_count(pen, "child processes can be started again"), 1);
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
}

/* By its own timer: nobody looks in meanwhile. */
static void await_tries(struct pen *pen, int count)
{
    int tries = atomic_load(&supply->tries);
    while (atomic_load(&supply->tries) < tries + count) {
        struct pollfd wait = {.fd = pen->executor->ops->fd(pen->executor), .events = POLLIN};
        assert_int_equal(poll(&wait, 1, PEN_WAIT_MS), 1);
        pen_turn(pen, 0);
    }
}

static void check_no_forks(void **state, culex_isolation isolation)
{
    struct pen *pen = pen_new(state, 2, isolation);
    int64_t begun_ns = pen_now_ns();
    atomic_store(&supply->forks, 0);
    assert_int_equal(stranded_ns(pen), INT64_MAX);
    submit_and_get_back(pen, 5);
    int64_t since_ns = stranded_ns(pen);
    assert_in_range(since_ns, begun_ns, pen_now_ns());
    assert_int_equal(capacity(pen), 0);
    await_tries(pen, 3);
    assert_int_equal(capacity(pen), 0);
    assert_int_equal(stranded_ns(pen), since_ns); /* a try is no process */
    assert_int_equal(told_count(pen, "trying again: cannot fork: Resource temporarily"), 1);
    assert_int_equal(told_count(pen, "runs given back: cannot start a child process"), 1);
    atomic_store(&supply->forks, PLENTY);
    expect_recovery(pen, 2);
}

static void test_refused_forks_give_runs_back_at_once(void **state)
{
    check_no_forks(state, CULEX_ISOLATION_PROCESS);
}

static void test_refused_forks_of_one_run_each_give_runs_back_at_once(void **state)
{
    check_no_forks(state, CULEX_ISOLATION_JOB);
}

/* The pause between tries doubles, up to a second. */
static void test_tries_become_rare(void **state)
{
    struct pen *pen = pen_new(state, 8, CULEX_ISOLATION_PROCESS);
    atomic_store(&supply->forks, 0);
    submit_and_get_back(pen, 1);
    int64_t since_ns = pen_now_ns();
    int tries = atomic_load(&supply->tries);
    PEN_AWAIT(pen, atomic_load(&supply->tries) >= tries + MARGIN + 6);
    assert_true(pen_now_ns() - since_ns >= (10 + 20 + 40 + 80 + 160) * INT64_C(1000000));
}

/* What cannot have a process of its own is not kept waiting for that of a long run. */
static void test_one_process_of_three_takes_one_run_at_a_time(void **state)
{
    struct pen *pen = pen_new(state, 3, CULEX_ISOLATION_PROCESS);
    atomic_store(&supply->forks, 1);
    const struct culex_run *gate = pen_submit(pen, "gate", 0, NULL);
    pen_submit(pen, "nothing", 0, NULL);
    pen_submit(pen, "nothing", 0, NULL);
    PEN_AWAIT(pen, pen->ended_count == 2);
    expect_given_back(pen->ended[0]);
    expect_given_back(pen->ended[1]);
    assert_false(pen_has_ended(pen, gate));
    assert_int_equal(capacity(pen), 1);
    assert_int_equal(stranded_ns(pen), INT64_MAX);
    atomic_store(&zoo_board->may_end, 1);
    pen_await(pen, gate);
    assert_int_equal(gate->end.event, CULEX_EVENT_DONE);
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
    assert_int_equal(capacity(pen), 1);
    atomic_store(&supply->forks, 1);
    PEN_AWAIT(pen, capacity(pen) == 2); /* and no further one */
    assert_int_equal(told_count(pen, "started again"), 0);
    atomic_store(&supply->forks, PLENTY);
    expect_recovery(pen, 3);
}

/* The last child dies, and no other can be had. */
static void test_dead_child_that_is_not_followed_takes_no_more_runs(void **state)
{
    struct pen *pen = pen_new(state, 1, CULEX_ISOLATION_PROCESS);
    atomic_store(&supply->forks, 1);
    pen_expect(pen, "null_write", 0, CULEX_EVENT_CRASH);
    pen_forget(pen);
    submit_and_get_back(pen, 1);
    assert_int_equal(capacity(pen), 0);
    atomic_store(&supply->forks, PLENTY);
    expect_recovery(pen, 1);
}

/* What waits behind the only child goes back when that is gone. */
static void test_run_behind_the_last_child_goes_back(void **state)
{
    struct pen *pen = pen_new(state, 2, CULEX_ISOLATION_PROCESS);
    atomic_store(&supply->forks, 1);
    struct culex_run *first = pen_submit(pen, "sleeps_for_ever", 0, NULL);
    PEN_AWAIT(pen, atomic_load(&zoo_board->starts) == 1);
    submit_and_get_back(pen, 1);
    const struct culex_run *behind = pen_submit(pen, "nothing", 0, NULL);
    int tries = atomic_load(&supply->tries);
    PEN_AWAIT(pen, atomic_load(&supply->tries) >= tries + 1);
    assert_false(pen_has_ended(pen, behind));
    pen->executor->ops->cancel(pen->executor, first, pen_now_ns(), pen_now_ns());
    pen_await(pen, first);
    pen_await(pen, behind);
    assert_int_equal(first->end.event, CULEX_EVENT_CRASH);
    expect_given_back(behind);
    assert_int_equal(capacity(pen), 0);
}

static culex_status open_late(void *user, void **ret_process, culex_error *error)
{
    (void)user;
    (void)ret_process;
    (void)error;
    while (!atomic_load(&zoo_board->may_end))
        usleep(1000);
    return CULEX_OK;
}

/* A process that takes its time for the program's set-up has been started. */
static void test_slow_set_up_is_no_want_of_processes(void **state)
{
    struct pen *pen = pen_prepare(state, 1, CULEX_ISOLATION_PROCESS);
    pen->config.handler.hooks.open = open_late;
    pen_open(pen);
    atomic_store(&supply->forks, 0);
    PEN_AWAIT(pen, stranded_ns(pen) != INT64_MAX);
    atomic_store(&supply->forks, PLENTY);
    PEN_AWAIT(pen, stranded_ns(pen) == INT64_MAX);
    assert_int_equal(capacity(pen), 0);
    atomic_store(&zoo_board->may_end, 1);
    expect_recovery(pen, 1);
}

static void test_no_descriptor_for_a_channel_is_the_same(void **state)
{
    struct pen *pen = pen_new(state, 1, CULEX_ISOLATION_PROCESS);
    struct rlimit full, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &full), 0);
    none = full;
    none.rlim_cur = 3; /* numbers that are taken */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    submit_and_get_back(pen, 2);
    size_t left = capacity(pen);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &full), 0);
    assert_int_equal(left, 0);
    assert_int_equal(told_count(pen, "trying again: no channel to it: Too many open files"), 1);
    expect_recovery(pen, 1);
}

#define START_TEST(name) cmocka_unit_test_teardown(name, finish)

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        START_TEST(test_refused_forks_give_runs_back_at_once),
        START_TEST(test_refused_forks_of_one_run_each_give_runs_back_at_once),
        START_TEST(test_tries_become_rare),
        START_TEST(test_one_process_of_three_takes_one_run_at_a_time),
        START_TEST(test_dead_child_that_is_not_followed_takes_no_more_runs),
        START_TEST(test_run_behind_the_last_child_goes_back),
        START_TEST(test_slow_set_up_is_no_want_of_processes),
        START_TEST(test_no_descriptor_for_a_channel_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
