/* culex_worker_on_process: once in each process or thread of handlers, with real workers. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/sanitizer.h"
#include "quiet_thread.h"
#include "world.h"

enum { RUNS = 30, FAILURES = 3, AWAITED = 2 };
/* What hangs is killed soon; what is slow because its machine is busy is never killed. */
enum { HUNG_SETUP_MS = 5000, SETUP_MS = 60000, PATIENCE_MS = 120000 };

/* Shared with handlers. */
struct board {
    _Atomic unsigned opens, closes, calls, wrong, claimed_early;
    _Atomic bool is_working; /* a set-up has come to a good end */
    _Atomic unsigned told;   /* how much of what the scene waits for is in the log */
    _Atomic bool is_killed;  /* the one run that kills its process has done so */
};

/* How set-ups end until the log has what is awaited, and the first FAILURES at least; with PARTLY
 * all but the first fail, and with CHANGING for another reason when the first has been told. With
 * TOGETHER all end well, and no run ends before two have; with SLOW_CLOSE too, and what they made
 * takes its time to be given back. */
enum manner { WELL, REFUSED, CRASHED, EXITED, HUNG, PARTLY, CHANGING, TOGETHER, SLOW_CLOSE };

struct scene {
    culex_isolation isolation;
    enum manner manner;
    const char *awaited[AWAITED]; /* words in the log, one after the other; NULL: no more */
    culex_client *client;
    char *log;
    size_t log_len;
};

static culex_job_type type;
static struct board *board;

static long self(void)
{
    return syscall(SYS_gettid);
}

static bool is_all_told(const struct scene *scene)
{
    unsigned told = atomic_load(&board->told);
    return told == AWAITED || scene->awaited[told] == NULL;
}

static bool is_to_fail(const struct scene *scene, unsigned before)
{
    if (scene->manner == PARTLY)
        return before > 0;
    if (scene->manner == WELL || scene->manner == TOGETHER || scene->manner == SLOW_CLOSE)
        return false;
    return !is_all_told(scene) || (scene->manner != HUNG && before < FAILURES);
}

static culex_status thing_open(void *user, void **ret_process, culex_error *error)
{
    const struct scene *scene = user;
    unsigned before = atomic_fetch_add(&board->opens, 1);
    if (is_to_fail(scene, before)) {
        if (scene->manner == CRASHED)
            raise(SIGSEGV);
        if (scene->manner == EXITED)
            exit(0);
        while (scene->manner == HUNG)
            pause();
        snprintf(error->text, sizeof error->text, "%s",
                 atomic_load(&board->told) == 1 && scene->manner == CHANGING
                     ? "the password is wrong"
                     : "the database\nis away");
        return CULEX_ECONNECT;
    }
    long *owner = malloc(sizeof *owner);
    *owner = self();
    *ret_process = owner;
    atomic_store(&board->is_working, true);
    return CULEX_OK;
}

static void thing_close(void *process, void *user)
{
    if (((const struct scene *)user)->manner == SLOW_CLOSE)
        usleep(300000); /* more than handlers are waited for at the end */
    atomic_fetch_add(&board->wrong, *(long *)process != self());
    atomic_fetch_add(&board->closes, 1);
    free(process);
}

/* Else one thread may have done all before the other has begun. */
static void await_two_opens(void)
{
    for (int ms = 0; ms < PATIENCE_MS && atomic_load(&board->opens) < 2; ms++)
        usleep(1000);
}

static culex_outcome call(culex_run *run, culex_handler_fn handler, const void *params, void *user)
{
    const long *owner = culex_run_process(run);
    (void)handler;
    if (((const struct scene *)user)->manner == PARTLY)
        usleep(20000); /* claims go on while set-ups fail */
    if (((const struct scene *)user)->manner == TOGETHER)
        await_two_opens();
    atomic_fetch_add(&board->calls, 1);
    atomic_fetch_add(&board->wrong, owner == NULL || *owner != self());
    if (((const struct number *)params)->n == 1 && !atomic_exchange(&board->is_killed, true))
        raise(SIGKILL);
    return CULEX_DONE;
}

static void log_take(void *user, const char *line, size_t len)
{
    struct scene *scene = user;
    char *grown = realloc(scene->log, scene->log_len + len + 1);
    assert_non_null(grown);
    memcpy(grown + scene->log_len, line, len);
    scene->log = grown;
    scene->log_len += len;
    grown[scene->log_len] = '\0';
    unsigned told = atomic_load(&board->told);
    if (!is_all_told(scene) && strstr(grown, scene->awaited[told]) != NULL)
        atomic_store(&board->told, told + 1);
}

static int setup(void **state)
{
    struct scene *scene = *state = calloc(1, sizeof *scene);
    type = number_type();
    type.retry.base_ms = 1;
    type.retry.backoff = CULEX_BACKOFF_CONSTANT;
    scene->log = strdup("");
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return culex_client_open("memory:on-process", NULL, &scene->client, NULL);
}

static int teardown(void **state)
{
    struct scene *scene = *state;
    culex_client_close(scene->client);
    munmap(board, sizeof *board);
    free(scene->log);
    free(scene);
    return 0;
}

static void send(struct scene *scene, int64_t n)
{
    struct number params = {n};
    assert_int_equal(culex_client_enqueue(scene->client, &type, &params, NULL, NULL, NULL),
                     CULEX_OK);
}

static _Atomic bool is_over;

/* So that a drain which does not come to its end fails its test. */
static void *stop_late(void *user)
{
    for (int ms = 0; ms < PATIENCE_MS && !atomic_load(&is_over); ms++)
        usleep(1000);
    culex_worker_stop(user);
    return NULL;
}

static void work(struct scene *scene, culex_isolation isolation)
{
    culex_worker *worker;
    pthread_t guard;
    scene->isolation = isolation;
    culex_worker_options options = {.url = "memory:on-process",
                                    .isolation = isolation,
                                    /* Of two at once the second reason may be told first. */
                                    .concurrency = scene->manner == CHANGING ? 1 : 2,
                                    .drain = true,
                                    .log_level = 2};
    assert_int_equal(culex_worker_create(&options, &worker, NULL), CULEX_OK);
    culex__worker_set_sink(worker, (struct culex_log_sink){.write = log_take, .self = scene});
    worker->setup_ms = scene->manner == HUNG ? HUNG_SETUP_MS : SETUP_MS;
    assert_int_equal(culex_worker_register(worker, &type, call, number_handler, scene), CULEX_OK);
    assert_int_equal(culex_worker_on_process(worker, NULL, thing_close, scene), CULEX_EINVAL);
    assert_int_equal(culex_worker_on_process(worker, thing_open, thing_close, scene), CULEX_OK);
    fflush(NULL); /* a set-up that exits would write it as well */
    atomic_store(&is_over, false);
    quiet_thread_start(&guard, stop_late, worker);
    assert_int_equal(culex_worker_run(worker, NULL), CULEX_OK);
    atomic_store(&is_over, true);
    pthread_join(guard, NULL);
    culex_worker_free(worker);
}

static culex_queue_stats stats_of(struct scene *scene)
{
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(scene->client, "numbers", &stats, NULL), CULEX_OK);
    return stats;
}

static void expect_all_done(struct scene *scene, unsigned runs)
{
    culex_queue_stats stats = stats_of(scene);
    if (stats.done != runs)
        fail_msg("%u of %u are done: %s", (unsigned)stats.done, runs, scene->log);
    assert_int_equal(board->wrong, 0);
}

/* A run that waits for a busy machine may be given back: another attempt, and no charge. */
static void expect_none_charged(struct scene *scene)
{
    culex_queue_stats stats = stats_of(scene);
    if (stats.failed + stats.crashed + stats.lost > 0)
        fail_msg("a run was charged: %s", scene->log);
}

static void check_once_each(struct scene *scene, culex_isolation isolation)
{
    for (int i = 0; i < RUNS; i++)
        send(scene, 0);
    work(scene, isolation);
    expect_all_done(scene, RUNS);
    assert_int_equal(board->calls, RUNS);
    expect_none_charged(scene);
    assert_true(board->opens >= 1);
    assert_int_equal(board->closes, board->opens);
}

static void test_each_process_has_its_own_and_gives_it_back(void **state)
{
    check_once_each(*state, CULEX_ISOLATION_PROCESS);
    assert_true(board->opens <= 4);
}

static void test_each_process_of_one_run_has_its_own(void **state)
{
    check_once_each(*state, CULEX_ISOLATION_JOB);
    assert_true(board->opens >= RUNS);
}

static void test_each_thread_has_its_own(void **state)
{
    struct scene *scene = *state;
    scene->manner = TOGETHER;
    check_once_each(scene, CULEX_ISOLATION_NONE);
    assert_int_equal(board->opens, 2);
}

static void test_thread_has_time_to_give_back_what_it_has(void **state)
{
    struct scene *scene = *state;
    scene->manner = SLOW_CLOSE;
    check_once_each(scene, CULEX_ISOLATION_NONE);
    assert_null(strstr(scene->log, "did not return"));
}

static void test_killed_process_is_followed_by_one_that_is_set_up(void **state)
{
    struct scene *scene = *state;
    send(scene, 1);
    work(scene, CULEX_ISOLATION_PROCESS);
    expect_all_done(scene, 1);
    assert_int_equal(board->calls, 2);
    assert_true(board->closes < board->opens);
}

/* --- failures ------------------------------------------------------------------------------------
 */

static void *claims_watch(void *user)
{
    struct scene *scene = user;
    while (!atomic_load(&is_over) && atomic_load(&board->opens) == 0)
        usleep(1000);
    while (!atomic_load(&is_over) && !atomic_load(&board->is_working)) {
        culex_queue_stats stats;
        bool is_early = culex_client_stats(scene->client, "numbers", &stats, NULL) == CULEX_OK &&
                        stats.count[CULEX_RUN_ACTIVE] > 0 && !atomic_load(&board->is_working);
        atomic_fetch_add(&board->claimed_early, is_early);
        usleep(1000);
    }
    return NULL;
}

static void check_failures(struct scene *scene, culex_isolation isolation, const char *told)
{
    pthread_t watcher;
    scene->awaited[0] = told;
    atomic_store(&is_over, false);
    for (int i = 0; i < RUNS; i++)
        send(scene, 0);
    quiet_thread_start(&watcher, claims_watch, scene);
    work(scene, isolation);
    atomic_store(&is_over, true);
    pthread_join(watcher, NULL);
    expect_all_done(scene, RUNS);
    assert_int_equal(board->calls, RUNS);
    assert_int_equal(board->claimed_early, 0);
    expect_none_charged(scene);
    assert_true(board->opens > (scene->manner == HUNG ? 1 : FAILURES));
    assert_non_null(strstr(scene->log, told));
    assert_null(strstr(scene->log, "given back"));
}

static void test_failure_is_told_and_tried_again(void **state)
{
    ((struct scene *)*state)->manner = REFUSED;
    check_failures(*state, CULEX_ISOLATION_PROCESS, "set-up of its process failed: the database");
}

static void test_failure_in_a_thread_is_told_and_tried_again(void **state)
{
    ((struct scene *)*state)->manner = REFUSED;
    check_failures(*state, CULEX_ISOLATION_NONE, "cannot set up a handler thread");
}

static void test_crash_is_told_and_charges_no_run(void **state)
{
    ((struct scene *)*state)->manner = CRASHED;
    check_failures(*state, CULEX_ISOLATION_PROCESS, "killed by signal 11");
}

static void test_set_up_that_exits_is_told_as_that(void **state)
{
    ((struct scene *)*state)->manner = EXITED;
    /* LSan now and then believes in leaks on a busy machine, and makes a number of its own of it.
     */
    check_failures(*state, CULEX_ISOLATION_PROCESS,
                   CULEX_HAS_ASAN ? "the set-up of its process called exit("
                                  : "the set-up of its process called exit(0)");
}

static unsigned told_count(const struct scene *scene, const char *words)
{
    unsigned count = 0;
    for (const char *at = scene->log; (at = strstr(at, words)) != NULL; at++)
        count++;
    return count;
}

static void check_other_reason(struct scene *scene, culex_isolation isolation)
{
    scene->manner = CHANGING;
    scene->awaited[0] = "the database";
    scene->awaited[1] = "the password is wrong";
    send(scene, 0);
    work(scene, isolation);
    expect_all_done(scene, 1);
    expect_none_charged(scene);
    assert_int_equal(told_count(scene, "the database"), 1);
    assert_int_equal(told_count(scene, "the password is wrong"), 1);
}

static void test_other_reason_is_told_too(void **state)
{
    check_other_reason(*state, CULEX_ISOLATION_PROCESS);
}

static void test_other_reason_in_a_thread_is_told_too(void **state)
{
    check_other_reason(*state, CULEX_ISOLATION_NONE);
}

/* The one process that could be set up does all the work. */
static void check_neighbour(struct scene *scene, culex_isolation isolation)
{
    scene->manner = PARTLY;
    for (int i = 0; i < RUNS; i++)
        send(scene, 0);
    work(scene, isolation);
    expect_all_done(scene, RUNS);
    assert_int_equal(board->calls, RUNS);
    expect_none_charged(scene);
    assert_true(board->opens > 1);
    assert_int_equal(told_count(scene, "the database"), 1);
}

static void test_processes_that_are_set_up_do_not_wait_for_one_that_is_not(void **state)
{
    check_neighbour(*state, CULEX_ISOLATION_PROCESS);
}

static void test_threads_that_are_set_up_do_not_wait_for_one_that_is_not(void **state)
{
    check_neighbour(*state, CULEX_ISOLATION_NONE);
}

static void test_set_up_that_hangs_is_killed(void **state)
{
    ((struct scene *)*state)->manner = HUNG;
    check_failures(*state, CULEX_ISOLATION_JOB, "it took too long");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_each_process_has_its_own_and_gives_it_back),
        TEST(test_each_process_of_one_run_has_its_own),
        TEST(test_each_thread_has_its_own),
        TEST(test_thread_has_time_to_give_back_what_it_has),
        TEST(test_killed_process_is_followed_by_one_that_is_set_up),
        TEST(test_failure_is_told_and_tried_again),
        TEST(test_failure_in_a_thread_is_told_and_tried_again),
        TEST(test_crash_is_told_and_charges_no_run),
        TEST(test_set_up_that_exits_is_told_as_that),
        TEST(test_other_reason_is_told_too),
        TEST(test_other_reason_in_a_thread_is_told_too),
        TEST(test_processes_that_are_set_up_do_not_wait_for_one_that_is_not),
        TEST(test_threads_that_are_set_up_do_not_wait_for_one_that_is_not),
        TEST(test_set_up_that_hangs_is_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
