/* A worker in a loop of its program: culex_worker_start, _fd and _process. In a driven world, for
 * what it costs; and with real stores, handlers and processes, under each isolation, for what must
 * not be lost when the program comes late, stops it, blocks, or frees it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "redis_server.h"
#include "world.h"

enum {
    SOON_MS = 2000, /* a wake-up that was lost is made good after CULEX_LOOK_MS, which is later */
    PATIENT_MS = 60000 /* only what hangs takes as long */
};

static_assert((int)SOON_MS < (int)CULEX_LOOK_MS, "else a lost wake-up passes for one that came");

/* --- in a driven world -------------------------------------------------------------------------
 */

static struct world *driven_start(void **state, culex_worker_options options)
{
    static culex_job_type type;
    struct world *world = *state = world_open();
    type = number_type();
    world_worker(world, options, &type);
    assert_int_equal(culex_worker_start(world->worker, NULL), CULEX_OK);
    return world;
}

static int driven_close(void **state)
{
    struct world *world = *state;
    culex_worker_free(world->worker);
    world->worker = NULL;
    world_close(world);
    return 0;
}

static void driven_process(struct world *world)
{
    assert_int_equal(culex_worker_process(world->worker, PATIENT_MS, NULL), CULEX_OK);
}

static int64_t (*boottime_of_world)(void *self);
static unsigned boottime_calls;

static int64_t boottime_count(void *self)
{
    boottime_calls++;
    return boottime_of_world(self);
}

static void test_nothing_is_asked_while_nothing_is_due(void **state)
{
    struct world *world = driven_start(state, (culex_worker_options){.url = "memory:driven"});
    driven_process(world);
    size_t steps = world->step_count;
    unsigned polls = world->polls;
    boottime_of_world = world->env.boottime_ns;
    world->env.boottime_ns = boottime_count;
    for (int i = 0; i < 1000; i++) {
        world_pass(world, 1); /* a second in all */
        boottime_calls = 0;
        driven_process(world);
        assert_true(boottime_calls <= 2); /* a turn asks for the time more often */
    }
    assert_int_equal(world->step_count, steps);
    assert_int_equal(world->polls, polls);
    world_pass(world, CULEX_LOOK_MS); /* for the look that has to be, and its neighbours */
    driven_process(world);
    assert_in_range(world->step_count - steps, 1, 2);
    assert_int_equal(world->polls, polls); /* it never waits */
}

static void test_what_is_due_is_done_by_the_call_after_that(void **state)
{
    struct world *world = driven_start(state, (culex_worker_options){.url = "memory:driven"});
    culex_job_type type = number_type();
    culex_enqueue_options later = culex_enqueue_options_make();
    struct number params = {1};
    culex_uuid id;
    driven_process(world);
    later.has_delay = true;
    later.delay = 3 * CULEX_SECOND;
    assert_int_equal(culex_client_enqueue(world->client, &type, &params, &later, &id, NULL),
                     CULEX_OK);
    driven_process(world);
    assert_int_equal(world_state(world, id), CULEX_RUN_SCHEDULED);
    world_pass(world, 2900);
    driven_process(world);
    assert_int_equal(world_state(world, id), CULEX_RUN_SCHEDULED);
    world_pass(world, 100);
    driven_process(world);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
}

/* What is left keeps the descriptor readable. */
static void test_a_budget_of_nothing_is_one_turn(void **state)
{
    struct world *world = driven_start(state, (culex_worker_options){.url = "memory:driven"});
    struct pollfd fd = {.fd = culex_worker_fd(world->worker), .events = POLLIN};
    culex_job_type type = number_type();
    culex_uuid id = world_enqueue(world, &type, 1);
    size_t calls = 0;
    for (; world_state(world, id) != CULEX_RUN_DONE; calls++) {
        size_t steps = world->step_count;
        assert_int_equal(poll(&fd, 1, 0), 1);
        assert_int_equal(culex_worker_process(world->worker, 0, NULL), CULEX_OK);
        assert_true(world->step_count <= steps + 1);
        assert_true(calls < 100);
    }
    assert_true(calls > 1);
}

static void test_a_drain_ends_as_told(void **state)
{
    struct world *world =
        driven_start(state, (culex_worker_options){.url = "memory:driven", .drain = true});
    culex_job_type type = number_type();
    culex_error error = {0};
    culex_uuid id = world_enqueue(world, &type, 1);
    int fd = culex_worker_fd(world->worker);
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    assert_int_equal(culex_worker_process(world->worker, PATIENT_MS, &error), CULEX_EOVER);
    assert_string_equal(error.text, "the worker has drained its queues");
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
    assert_int_equal(poll(&wait, 1, 0), 0); /* open, and quiet */
    assert_int_equal(culex_worker_process(world->worker, 0, &error), CULEX_EINVAL);
    id = world_enqueue(world, &type, 2);
    assert_int_equal(culex_worker_start(world->worker, NULL), CULEX_OK);
    assert_int_equal(culex_worker_fd(world->worker), fd);
    assert_int_equal(poll(&wait, 1, 0), 1);
    assert_int_equal(culex_worker_process(world->worker, PATIENT_MS, &error), CULEX_EOVER);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
    id = world_enqueue(world, &type, 3);
    assert_int_equal(culex_worker_run(world->worker, NULL), CULEX_OK);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
}

static void test_what_ends_a_run_ends_this_too(void **state)
{
    struct world *world = driven_start(state, (culex_worker_options){.url = "memory:driven"});
    culex_error error = {0};
    world->hello_queue = "numbers";
    world->hello_status = CULEX_EDENIED;
    assert_int_equal(culex_worker_process(world->worker, PATIENT_MS, &error), CULEX_EDENIED);
    assert_non_null(strstr(error.text, "injected refusal"));
    assert_int_equal(culex_worker_process(world->worker, 0, NULL), CULEX_EINVAL);
}

static void test_calls_out_of_order_are_refused(void **state)
{
    static culex_job_type type;
    struct world *world = *state = world_open();
    culex_error error = {0};
    type = number_type();
    culex_worker *worker =
        world_worker(world, (culex_worker_options){.url = "memory:driven"}, &type);
    assert_int_equal(culex_worker_fd(worker), -1);
    assert_int_equal(culex_worker_process(worker, 0, &error), CULEX_EINVAL);
    assert_non_null(strstr(error.text, "was not started"));
    assert_int_equal(culex_worker_start(worker, NULL), CULEX_OK);
    assert_int_equal(culex_worker_start(worker, &error), CULEX_EINVAL);
    assert_int_equal(culex_worker_run(worker, &error), CULEX_EINVAL);
    assert_string_equal(error.text, "this worker is running already");
    assert_int_equal(culex_worker_process(worker, -1, &error), CULEX_EINVAL);
    assert_int_equal(culex_worker_register(worker, &type, number_call, number_handler, world),
                     CULEX_EINVAL);
    pid_t child = fork();
    if (child == 0) {
        bool is_refused = culex_worker_fd(worker) == -1 &&
                          culex_worker_process(worker, 0, NULL) == CULEX_EINVAL &&
                          culex_worker_start(worker, NULL) == CULEX_EINVAL;
        culex_worker_stop(worker);
        culex_worker_free(worker);
        _exit(is_refused ? 0 : 1);
    }
    int end = -1;
    assert_int_equal(waitpid(child, &end, 0), child);
    assert_int_equal(end, 0);
    driven_process(world); /* the other process has stopped nothing */
}

/* One before the first start is heard by that; one after the end has nothing to stop. */
static void test_a_stop_after_the_end_stops_nothing(void **state)
{
    static culex_job_type type;
    struct world *world = *state = world_open();
    type = number_type();
    culex_worker *worker =
        world_worker(world, (culex_worker_options){.url = "memory:driven"}, &type);
    culex_worker_stop(worker);
    assert_int_equal(culex_worker_start(worker, NULL), CULEX_OK);
    assert_int_equal(culex_worker_process(worker, PATIENT_MS, NULL), CULEX_EOVER);
    culex_worker_stop(worker);
    assert_int_equal(culex_worker_start(worker, NULL), CULEX_OK);
    driven_process(world);
    culex_uuid id = world_enqueue(world, &type, 1);
    world_pass(world, CULEX_LOOK_MS);
    driven_process(world);
    assert_int_equal(world_state(world, id), CULEX_RUN_DONE);
    culex_worker_stop(worker);
    assert_int_equal(culex_worker_process(worker, PATIENT_MS, NULL), CULEX_EOVER);
}

/* Stops the worker, by another thread as it were, just before or after its bell is taken. */
static culex_worker *to_stop_before, *to_stop_after;

uint64_t __real_culex__bell_take(int fd);
uint64_t __wrap_culex__bell_take(int fd);

uint64_t __wrap_culex__bell_take(int fd)
{
    culex_worker *before = to_stop_before, *after = to_stop_after;
    to_stop_before = to_stop_after = NULL;
    culex_worker_stop(before);
    uint64_t rings = __real_culex__bell_take(fd);
    culex_worker_stop(after);
    return rings;
}

/* One stops it, or was before its time: none is heard by half, which would take its grace. */
static void test_a_stop_in_the_midst_of_a_start_is_heard_or_not(void **state)
{
    struct world *world = driven_start(state, (culex_worker_options){.url = "memory:driven"});
    culex_worker *worker = world->worker;
    culex_worker_stop(worker);
    assert_int_equal(culex_worker_process(worker, PATIENT_MS, NULL), CULEX_EOVER);
    to_stop_before = worker;
    assert_int_equal(culex_worker_start(worker, NULL), CULEX_OK);
    assert_null(to_stop_before);
    driven_process(world);
    assert_int_equal(atomic_load(&worker->until_ns), 0);
    culex_worker_stop(worker);
    assert_int_equal(culex_worker_process(worker, PATIENT_MS, NULL), CULEX_EOVER);
    to_stop_after = worker;
    assert_int_equal(culex_worker_start(worker, NULL), CULEX_OK);
    assert_int_equal(culex_worker_process(worker, PATIENT_MS, NULL), CULEX_EOVER);
}

static void test_a_url_of_no_store_is_refused_at_start(void **state)
{
    static culex_job_type type;
    struct world *world = *state = world_open();
    culex_error error = {0};
    type = number_type();
    culex_worker *worker = world_worker(world, (culex_worker_options){.url = "redsi:/x"}, &type);
    assert_int_equal(culex_worker_start(worker, &error), CULEX_EURL);
    assert_non_null(strstr(error.text, "redsi"));
    assert_int_equal(culex_worker_fd(worker), -1);
}

static void test_nothing_is_left_of_a_start_that_failed(void **state)
{
    struct world *world = *state = world_open();
    culex_worker *worker =
        world_worker(world, (culex_worker_options){.url = "memory:driven"}, NULL);
    int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(before);
    assert_int_equal(culex_worker_start(worker, NULL), CULEX_EINVAL);
    assert_int_equal(culex_worker_fd(worker), -1);
    int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(after);
    assert_int_equal(after, before);
}

/* --- a descriptor that is not the worker's any more ---------------------------------------------
 */

static void assert_told_of_the_close(struct world *world)
{
    culex_error error = {0};
    assert_int_equal(culex_worker_process(world->worker, PATIENT_MS, &error), CULEX_EBROKEN);
    assert_string_equal(error.text, "the program has closed the descriptor of culex_worker_fd");
    assert_int_equal(culex_worker_fd(world->worker), -1);
    assert_int_equal(culex_worker_process(world->worker, 0, NULL), CULEX_EINVAL);
}

static void test_a_closed_descriptor_is_noticed(void **state)
{
    struct world *world = driven_start(state, (culex_worker_options){.url = "memory:driven"});
    driven_process(world);
    close(culex_worker_fd(world->worker));
    assert_told_of_the_close(world);
    assert_int_equal(culex_worker_start(world->worker, NULL), CULEX_OK);
    driven_process(world);
}

/* Closes the worker's descriptor and puts `other`, or a copy, at its number. */
static int number_take(struct world *world, int other)
{
    int fd = culex_worker_fd(world->worker);
    close(fd);
    assert_int_equal(dup2(other, fd), fd);
    close(other);
    return fd;
}

static void assert_open_then_close(int fd)
{
    assert_true(fcntl(fd, F_GETFD) >= 0);
    close(fd);
}

static void test_a_file_of_that_number_stays_open(void **state)
{
    struct world *world = driven_start(state, (culex_worker_options){.url = "memory:driven"});
    driven_process(world);
    int fd = number_take(world, open("/dev/null", O_RDONLY));
    assert_told_of_the_close(world);
    culex_worker_free(world->worker);
    world->worker = NULL;
    assert_open_then_close(fd);
}

/* Which epoll_wait takes for ours. */
static void test_a_set_of_that_number_is_told_from_ours(void **state)
{
    struct world *world = driven_start(state, (culex_worker_options){.url = "memory:driven"});
    driven_process(world);
    int fd = number_take(world, epoll_create1(0));
    assert_told_of_the_close(world);
    assert_open_then_close(fd);
}

static void test_a_worker_that_is_freed_leaves_it_too(void **state)
{
    struct world *world = driven_start(state, (culex_worker_options){.url = "memory:driven"});
    int fd = number_take(world, open("/dev/null", O_RDONLY));
    culex_worker_free(world->worker);
    world->worker = NULL;
    assert_open_then_close(fd);
}

static void test_a_start_after_that_has_a_new_one(void **state)
{
    struct world *world =
        driven_start(state, (culex_worker_options){.url = "memory:driven", .drain = true});
    assert_int_equal(culex_worker_process(world->worker, PATIENT_MS, NULL), CULEX_EOVER);
    int fd = number_take(world, open("/dev/null", O_RDONLY));
    assert_int_equal(culex_worker_start(world->worker, NULL), CULEX_OK);
    assert_int_not_equal(culex_worker_fd(world->worker), fd);
    assert_int_equal(culex_worker_process(world->worker, PATIENT_MS, NULL), CULEX_EOVER);
    assert_open_then_close(fd);
}

/* --- in the real one ---------------------------------------------------------------------------
 */

enum act {
    QUICK,
    HANG, /* until it is told that it may end */
    DIE,  /* the first time */
    NAP   /* 50 ms */
};

/* Shared with handlers. */
struct board {
    _Atomic unsigned begun, ended, cancelled;
    _Atomic bool may_end;
    _Atomic pid_t pid; /* of the newest that began */
};

struct scene {
    struct redis_server server;
    char folder[40];
    char url[160];
    culex_isolation isolation;
    culex_client *client;
    culex_worker *worker;
    culex_job_type type;
    culex_status status; /* of the newest call of culex_worker_process */
    culex_error error;
    size_t wakes; /* times that the loop was woken */
};

static struct board *board;

static int64_t now_ms(void)
{
    return culex__env_boottime_ms(culex__env_system());
}

static void nap(int ms)
{
    struct timespec span = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&span, NULL);
}

static culex_outcome hang(culex_run *run)
{
    while (!atomic_load(&board->may_end)) {
        if (culex_run_cancelled(run)) {
            atomic_fetch_add(&board->cancelled, 1);
            return culex_run_fail(run, "asked to stop");
        }
        nap(1);
    }
    return CULEX_DONE;
}

static culex_outcome scene_call(culex_run *run, culex_handler_fn handler, const void *params,
                                void *user)
{
    enum act act = (enum act)((const struct number *)params)->n;
    culex_outcome outcome = CULEX_DONE;
    (void)handler, (void)user;
    atomic_store(&board->pid, getpid());
    atomic_fetch_add(&board->begun, 1);
    if (act == HANG)
        outcome = hang(run);
    if (act == DIE && culex_run_attempt(run) == 1)
        raise(SIGKILL);
    if (act == NAP)
        nap(50);
    atomic_fetch_add(&board->ended, 1);
    return outcome;
}

static void sink(void *self, const char *line, size_t len)
{
    (void)self, (void)line, (void)len;
}

static int setup(void **state, const char *store, culex_isolation isolation)
{
    struct scene *scene = *state = calloc(1, sizeof *scene);
    bool is_redis = strcmp(store, "redis") == 0;
    scene->isolation = isolation;
    scene->type = number_type();
    scene->type.retry.base_ms = 1;
    scene->type.retry.backoff = CULEX_BACKOFF_CONSTANT;
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    strcpy(scene->folder, "/tmp/culex-embedded-XXXXXX");
    if (board == MAP_FAILED || mkdtemp(scene->folder) == NULL ||
        (is_redis && !redis_server_start(&scene->server, NULL)))
        return -1;
    if (is_redis)
        strcpy(scene->url, scene->server.url);
    else
        snprintf(scene->url, sizeof scene->url, "sqlite:%s/jobs.db", scene->folder);
    return culex_client_open(scene->url, NULL, &scene->client, NULL);
}

#define SETUP(name, store, isolation)                                                              \
    static int name(void **state)                                                                  \
    {                                                                                              \
        return setup(state, store, isolation);                                                     \
    }
SETUP(sqlite_process, "sqlite", CULEX_ISOLATION_PROCESS)
SETUP(sqlite_none, "sqlite", CULEX_ISOLATION_NONE)
SETUP(redis_process, "redis", CULEX_ISOLATION_PROCESS)
SETUP(redis_none, "redis", CULEX_ISOLATION_NONE)

static int teardown(void **state)
{
    char command[64];
    struct scene *scene = *state;
    culex_worker_free(scene->worker);
    culex_client_close(scene->client);
    redis_server_stop(&scene->server);
    snprintf(command, sizeof command, "rm -r %s", scene->folder);
    assert_int_equal(system(command), 0);
    munmap(board, sizeof *board);
    free(scene);
    return 0;
}

static void scene_start(struct scene *scene, culex_worker_options options)
{
    options.url = scene->url;
    options.isolation = scene->isolation;
    options.concurrency = 2;
    assert_int_equal(culex_worker_create(&options, &scene->worker, NULL), CULEX_OK);
    culex__worker_set_sink(scene->worker, (struct culex_log_sink){.write = sink});
    assert_int_equal(
        culex_worker_register(scene->worker, &scene->type, scene_call, number_handler, NULL),
        CULEX_OK);
    assert_int_equal(culex_worker_start(scene->worker, &scene->error), CULEX_OK);
    scene->status = CULEX_OK;
}

static bool is_readable(const struct scene *scene, int timeout_ms)
{
    struct pollfd fd = {.fd = culex_worker_fd(scene->worker), .events = POLLIN};
    return poll(&fd, 1, timeout_ms) == 1;
}

/* One round of a program's loop. */
static void scene_turn(struct scene *scene, int timeout_ms)
{
    if (!is_readable(scene, timeout_ms))
        return;
    scene->wakes++;
    scene->status = culex_worker_process(scene->worker, 5, &scene->error);
}

/* Goes round until the condition holds; only what hangs takes a minute. */
#define AWAIT(scene, condition)                                                                    \
    do {                                                                                           \
        int64_t await_until_ms = now_ms() + PATIENT_MS;                                            \
        while (!(condition) && (scene)->status == CULEX_OK && now_ms() < await_until_ms)           \
            scene_turn(scene, 10);                                                                 \
        assert_true(condition);                                                                    \
    } while (0)

/* Until nothing has happened for a while: the worker waits for runs. */
static void scene_settle(struct scene *scene)
{
    int64_t until_ms = now_ms() + PATIENT_MS;
    while (is_readable(scene, 500)) {
        scene_turn(scene, 0);
        assert_int_equal(scene->status, CULEX_OK);
        assert_true(now_ms() < until_ms);
    }
}

static void scene_finish(struct scene *scene)
{
    int64_t until_ms = now_ms() + PATIENT_MS;
    while (scene->status == CULEX_OK && now_ms() < until_ms)
        scene_turn(scene, SOON_MS);
    if (scene->status != CULEX_EOVER)
        fail_msg("%d: %s", scene->status, scene->error.text);
}

static culex_uuid scene_enqueue(struct scene *scene, enum act act)
{
    culex_uuid id;
    struct number params = {act};
    assert_int_equal(culex_client_enqueue(scene->client, &scene->type, &params, NULL, &id, NULL),
                     CULEX_OK);
    return id;
}

static culex_run_info scene_get(struct scene *scene, culex_uuid id)
{
    culex_run_info *run = NULL;
    assert_int_equal(culex_client_get(scene->client, "numbers", id, &run, NULL), CULEX_OK);
    culex_run_info copy = *run;
    culex_run_info_free(run);
    return copy;
}

static bool is_done(struct scene *scene, culex_uuid id)
{
    return scene_get(scene, id).state == CULEX_RUN_DONE;
}

static void assert_gone(pid_t pid)
{
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
}

static culex_queue_stats scene_stats(struct scene *scene)
{
    culex_queue_stats stats = {0};
    assert_int_equal(culex_client_stats(scene->client, "numbers", &stats, NULL), CULEX_OK);
    return stats;
}

/* --- wake-ups ----------------------------------------------------------------------------------
 */

static void test_no_wake_up_is_lost(void **state)
{
    enum { TIMES = 40 };
    struct scene *scene = *state;
    scene_start(scene, (culex_worker_options){.lease_ms = 0});
    scene_settle(scene);
    for (int i = 0; i < TIMES; i++) {
        /* At any moment of the worker: right behind a call, and after more and more of them. */
        for (int turns = i % 8; turns > 0; turns--)
            scene_turn(scene, 0);
        culex_uuid id = scene_enqueue(scene, QUICK);
        int64_t since_ms = now_ms();
        while (!is_done(scene, id)) {
            assert_true(is_readable(scene, SOON_MS));
            scene_turn(scene, 0);
            assert_true(now_ms() - since_ms < PATIENT_MS);
        }
    }
}

static void test_who_comes_late_finds_it_readable(void **state)
{
    struct scene *scene = *state;
    scene_start(scene, (culex_worker_options){.lease_ms = 0});
    scene_settle(scene);
    culex_uuid first = scene_enqueue(scene, QUICK);
    assert_true(is_readable(scene, SOON_MS));
    nap(300);
    culex_uuid second = scene_enqueue(scene, QUICK);
    nap(300);
    assert_true(is_readable(scene, 0));
    assert_int_equal(atomic_load(&board->begun), 0); /* nothing goes on without the program */
    AWAIT(scene, is_done(scene, first) && is_done(scene, second));
}

static culex_worker *to_stop;

static void *stop_main(void *unused)
{
    culex_worker_stop(to_stop);
    return unused;
}

static void stop_signal(int number)
{
    (void)number;
    culex_worker_stop(to_stop);
}

static void test_a_stop_by_another_thread_is_heard(void **state)
{
    struct scene *scene = *state;
    pthread_t thread;
    scene_start(scene, (culex_worker_options){.lease_ms = 0});
    scene_settle(scene);
    to_stop = scene->worker;
    assert_int_equal(pthread_create(&thread, NULL, stop_main, NULL), 0);
    pthread_join(thread, NULL);
    assert_true(is_readable(scene, 0));
    scene_finish(scene);
    assert_string_equal(scene->error.text, "the worker has stopped as asked");
    assert_false(is_readable(scene, 0));
}

static void test_a_stop_by_a_signal_handler_is_heard(void **state)
{
    struct scene *scene = *state;
    scene_start(scene, (culex_worker_options){.lease_ms = 0});
    scene_settle(scene);
    to_stop = scene->worker;
    signal(SIGUSR2, stop_signal);
    raise(SIGUSR2);
    signal(SIGUSR2, SIG_DFL);
    assert_true(is_readable(scene, 0));
    scene_finish(scene);
}

/* A process that holds the worker's connection, as a program's fork without exec does, must not
 * keep its end of it in the set: it would be readable for ever. */
static void test_a_connection_that_a_fork_holds_does_not_stay_watched(void **state)
{
    struct scene *scene = *state;
    scene_start(scene, (culex_worker_options){.lease_ms = 0});
    scene_settle(scene);
    pid_t holder = fork();
    if (holder == 0) {
        pause();
        _exit(0);
    }
    redis_server_kill(&scene->server);
    assert_true(redis_server_restart(&scene->server));
    culex_uuid id;
    struct number params = {QUICK};
    int64_t until_ms = now_ms() + PATIENT_MS;
    while (culex_client_enqueue(scene->client, &scene->type, &params, NULL, &id, NULL) != CULEX_OK)
        assert_true(now_ms() < until_ms);
    AWAIT(scene, is_done(scene, id));
    scene_settle(scene);
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
}

/* Each call leaves work, and comes only after an edge. */
static void test_edges_are_enough(void **state)
{
    enum { COUNT = 50 };
    struct scene *scene = *state;
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    int loop_fd = epoll_create1(EPOLL_CLOEXEC);
    scene_start(scene, (culex_worker_options){.lease_ms = 0});
    assert_int_equal(epoll_ctl(loop_fd, EPOLL_CTL_ADD, culex_worker_fd(scene->worker), &event), 0);
    for (int i = 0; i < COUNT; i++)
        scene_enqueue(scene, QUICK);
    for (int64_t until_ms = now_ms() + PATIENT_MS; scene_stats(scene).done < COUNT;) {
        assert_int_equal(epoll_wait(loop_fd, &event, 1, SOON_MS), 1);
        assert_int_equal(culex_worker_process(scene->worker, 0, NULL), CULEX_OK);
        assert_true(now_ms() < until_ms);
    }
    close(loop_fd);
}

/* --- the worker's life -------------------------------------------------------------------------
 */

static void test_a_drain_takes_all_runs(void **state)
{
    enum { COUNT = 200 };
    struct scene *scene = *state;
    for (int i = 0; i < COUNT; i++)
        scene_enqueue(scene, QUICK);
    scene_start(scene, (culex_worker_options){.drain = true});
    scene_finish(scene);
    assert_string_equal(scene->error.text, "the worker has drained its queues");
    assert_int_equal(scene_stats(scene).done, COUNT);
}

static void test_a_stop_in_the_middle_loses_no_run(void **state)
{
    enum { COUNT = 40 };
    struct scene *scene = *state;
    for (int i = 0; i < COUNT; i++)
        scene_enqueue(scene, NAP);
    scene_start(scene, (culex_worker_options){.lease_ms = 0});
    AWAIT(scene, atomic_load(&board->begun) >= 3);
    culex_worker_stop(scene->worker);
    scene_finish(scene);
    culex_queue_stats stats = scene_stats(scene);
    assert_int_equal(stats.count[CULEX_RUN_ACTIVE], 0);
    assert_int_equal(stats.count[CULEX_RUN_WAITING] + stats.done, COUNT);
    assert_true(stats.done >= 3 && stats.count[CULEX_RUN_WAITING] > 0);
    assert_int_equal(stats.done,
                     atomic_load(&board->begun)); /* none that had begun was cut short */
    culex_worker_free(scene->worker);
    scene->worker = NULL;
    scene_start(scene, (culex_worker_options){.drain = true});
    scene_finish(scene);
    assert_int_equal(scene_stats(scene).done, COUNT);
}

static void test_a_killed_child_costs_one_attempt(void **state)
{
    struct scene *scene = *state;
    scene_start(scene, (culex_worker_options){.lease_ms = 0});
    culex_uuid dies = scene_enqueue(scene, DIE), lives = scene_enqueue(scene, QUICK);
    AWAIT(scene, is_done(scene, dies) && is_done(scene, lives));
    assert_int_equal(scene_get(scene, dies).attempt, 2);
    assert_int_equal(scene_get(scene, dies).crashes, 1);
}

static void test_a_freed_worker_gives_back_what_it_has(void **state)
{
    struct scene *scene = *state;
    scene_start(scene, (culex_worker_options){.lease_ms = 0});
    culex_uuid id = scene_enqueue(scene, HANG);
    AWAIT(scene, atomic_load(&board->begun) == 1);
    culex_worker_free(scene->worker);
    scene->worker = NULL;
    assert_int_equal(scene_get(scene, id).state, CULEX_RUN_WAITING);
    assert_int_equal(scene_get(scene, id).failures + scene_get(scene, id).losses, 0);
    if (scene->isolation == CULEX_ISOLATION_NONE)
        assert_int_equal(atomic_load(&board->cancelled), 1);
    else
        assert_gone(atomic_load(&board->pid));
}

static void test_a_store_that_is_away_is_waited_for(void **state)
{
    struct scene *scene = *state;
    culex_uuid id = {0};
    redis_server_kill(&scene->server);
    scene_start(scene, (culex_worker_options){.lease_ms = 0});
    for (int i = 0; i < 20; i++)
        scene_turn(scene, 50);
    assert_int_equal(scene->status, CULEX_OK);
    assert_true(redis_server_restart(&scene->server));
    culex_client_close(scene->client);
    assert_int_equal(culex_client_open(scene->url, NULL, &scene->client, NULL), CULEX_OK);
    id = scene_enqueue(scene, QUICK);
    AWAIT(scene, is_done(scene, id));
}

static void test_a_stop_ends_the_wait_for_a_store(void **state)
{
    struct scene *scene = *state;
    redis_server_kill(&scene->server);
    scene_start(scene, (culex_worker_options){.lease_ms = 0});
    scene_turn(scene, SOON_MS);
    assert_int_equal(scene->status, CULEX_OK);
    culex_worker_stop(scene->worker);
    assert_true(is_readable(scene, 0));
    scene_turn(scene, 0);
    assert_int_equal(scene->status, CULEX_ECONNECT);
    assert_non_null(strstr(scene->error.text, "stopped before"));
    assert_true(redis_server_restart(&scene->server)); /* for the client's farewell */
}

/* --- a program that is busy --------------------------------------------------------------------
 */

static void test_beats_go_on_though_the_program_is_busy(void **state)
{
    enum { LEASE_MS = 4000, BUSY_MS = 1000 };
    struct scene *scene = *state;
    scene_start(scene, (culex_worker_options){.lease_ms = LEASE_MS});
    culex_uuid id = scene_enqueue(scene, HANG);
    AWAIT(scene, atomic_load(&board->begun) == 1);
    for (int busy_ms = 0; busy_ms < LEASE_MS + 2 * BUSY_MS; busy_ms += BUSY_MS) {
        nap(BUSY_MS);
        while (is_readable(scene, 0))
            scene_turn(scene, 0);
        assert_int_equal(scene->status, CULEX_OK);
    }
    atomic_store(&board->may_end, true);
    AWAIT(scene, is_done(scene, id));
    assert_int_equal(scene_get(scene, id).attempt, 1);
    assert_int_equal(scene_get(scene, id).losses, 0);
}

/* As worker.h says: the run is lost, nothing of it is at work twice, and it is done in the end. */
static void test_a_program_that_blocks_for_a_lease_loses_its_runs(void **state)
{
    enum { LEASE_MS = 500 };
    struct scene *scene = *state;
    scene_start(scene, (culex_worker_options){.lease_ms = LEASE_MS});
    culex_uuid id = scene_enqueue(scene, HANG);
    AWAIT(scene, atomic_load(&board->begun) == 1);
    pid_t first = atomic_load(&board->pid);
    nap(3 * LEASE_MS);
    if (scene->isolation == CULEX_ISOLATION_NONE)
        assert_int_equal(atomic_load(&board->cancelled), 0); /* nobody was there to tell it */
    else
        assert_gone(first);
    atomic_store(&board->may_end, true);
    AWAIT(scene, is_done(scene, id));
    assert_int_equal(scene_get(scene, id).attempt, 2);
    assert_int_equal(atomic_load(&board->begun), 2);
}

/* --- what an idle one costs --------------------------------------------------------------------
 */

/* Processor time of so many calls, in ns a call. */
static int64_t calls_time(struct scene *scene, int calls)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (int i = 0; i < calls; i++)
        assert_int_equal(culex_worker_process(scene->worker, 0, NULL), CULEX_OK);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return ((end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec) / calls;
}

/* Of its rounds the one counts that others on the machine disturbed least. */
static void test_an_idle_worker_wakes_nobody(void **state)
{
    enum { IDLE_MS = 4000, ROUNDS = 20, CALLS = 1000 };
    struct scene *scene = *state;
    int64_t least_ns = INT64_MAX;
    scene_start(scene, (culex_worker_options){.lease_ms = 0});
    scene_settle(scene);
    scene->wakes = 0;
    for (int64_t until_ms = now_ms() + IDLE_MS, left_ms; (left_ms = until_ms - now_ms()) > 0;)
        scene_turn(scene, (int)left_ms);
    print_message("%zu wake-ups in %d idle ms", scene->wakes, IDLE_MS);
    assert_true(scene->wakes <= 12); /* one look has to be, and what the store answers it */
    for (int i = 0; i < ROUNDS; i++) {
        int64_t ns = calls_time(scene, CALLS);
        least_ns = ns < least_ns ? ns : least_ns;
    }
    print_message(", and a call that finds nothing takes %lld ns\n", (long long)least_ns);
    assert_true(least_ns < 50000); /* slow machines and sanitizers included */
}

#define DRIVEN(test) cmocka_unit_test_setup_teardown(test, NULL, driven_close)
#define ON(test, where)                                                                            \
    {                                                                                              \
#test " " #where, test, where, teardown, NULL                                              \
    }
#define ON_ALL(test)                                                                               \
    ON(test, sqlite_process), ON(test, sqlite_none), ON(test, redis_process), ON(test, redis_none)

/* test_embedded [PATTERN]: those tests that it fits */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        DRIVEN(test_nothing_is_asked_while_nothing_is_due),
        DRIVEN(test_what_is_due_is_done_by_the_call_after_that),
        DRIVEN(test_a_budget_of_nothing_is_one_turn),
        DRIVEN(test_a_drain_ends_as_told),
        DRIVEN(test_what_ends_a_run_ends_this_too),
        DRIVEN(test_calls_out_of_order_are_refused),
        DRIVEN(test_a_stop_after_the_end_stops_nothing),
        DRIVEN(test_a_stop_in_the_midst_of_a_start_is_heard_or_not),
        DRIVEN(test_a_url_of_no_store_is_refused_at_start),
        DRIVEN(test_nothing_is_left_of_a_start_that_failed),
        DRIVEN(test_a_closed_descriptor_is_noticed),
        DRIVEN(test_a_file_of_that_number_stays_open),
        DRIVEN(test_a_set_of_that_number_is_told_from_ours),
        DRIVEN(test_a_worker_that_is_freed_leaves_it_too),
        DRIVEN(test_a_start_after_that_has_a_new_one),
        ON_ALL(test_no_wake_up_is_lost),
        ON_ALL(test_who_comes_late_finds_it_readable),
        ON_ALL(test_a_stop_by_another_thread_is_heard),
        ON_ALL(test_a_stop_by_a_signal_handler_is_heard),
        ON(test_a_connection_that_a_fork_holds_does_not_stay_watched, redis_process),
        ON_ALL(test_edges_are_enough),
        ON_ALL(test_a_drain_takes_all_runs),
        ON_ALL(test_a_stop_in_the_middle_loses_no_run),
        ON(test_a_killed_child_costs_one_attempt, sqlite_process),
        ON(test_a_killed_child_costs_one_attempt, redis_process),
        ON_ALL(test_a_freed_worker_gives_back_what_it_has),
        ON(test_a_store_that_is_away_is_waited_for, redis_process),
        ON(test_a_store_that_is_away_is_waited_for, redis_none),
        ON(test_a_stop_ends_the_wait_for_a_store, redis_process),
        ON(test_beats_go_on_though_the_program_is_busy, sqlite_process),
        ON(test_beats_go_on_though_the_program_is_busy, redis_none),
        ON_ALL(test_a_program_that_blocks_for_a_lease_loses_its_runs),
        ON_ALL(test_an_idle_worker_wakes_nobody),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
