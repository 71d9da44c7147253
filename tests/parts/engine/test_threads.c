/* Handler threads in the real world: heartbeats, cancel, timeout, stop, stuck handlers. */
#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "worker/pace.h"
#include "world.h"

/* Shared by the test, the worker's thread and its handlers. */
struct scene {
    char url[64];
    culex_client *client;
    culex_worker *worker;
    pthread_t thread;
    atomic_uint started, ended, cancelled;
    atomic_bool may_end, ignores_cancel;
    culex_outcome outcome;
    pthread_mutex_t lock;
    char log[65536];
    size_t log_len;
    culex_status status;
};

static int64_t now_ms(void)
{
    return culex__env_boottime_ms(culex__env_system());
}

static void nap(void)
{
    struct timespec ms = {0, 1000000};
    nanosleep(&ms, NULL);
}

/* Threads of this process. */
static unsigned thread_count(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;)
        count += task->d_name[0] != '.';
    if (tasks != NULL)
        closedir(tasks);
    return count;
}

/* Waits for a condition; only what hangs takes a minute. */
#define AWAIT(condition)                                                                           \
    do {                                                                                           \
        int64_t until_ms = now_ms() + 60000;                                                       \
        while (!(condition) && now_ms() < until_ms)                                                \
            nap();                                                                                 \
        assert_true(condition);                                                                    \
    } while (0)

static void scene_sink(void *self, const char *line, size_t len)
{
    struct scene *scene = self;
    pthread_mutex_lock(&scene->lock);
    if (len < sizeof scene->log - scene->log_len) {
        memcpy(scene->log + scene->log_len, line, len);
        scene->log_len += len;
    }
    pthread_mutex_unlock(&scene->lock);
}

static bool scene_log_has(struct scene *scene, const char *text)
{
    pthread_mutex_lock(&scene->lock);
    bool has = strstr(scene->log, text) != NULL;
    pthread_mutex_unlock(&scene->lock);
    return has;
}

static culex_outcome scene_call(culex_run *run, culex_handler_fn handler, const void *params,
                                void *user)
{
    struct scene *scene = user;
    (void)handler;
    (void)params;
    atomic_fetch_add(&scene->started, 1);
    while (!atomic_load(&scene->may_end)) {
        if (culex_run_cancelled(run) && !atomic_load(&scene->ignores_cancel)) {
            atomic_fetch_add(&scene->cancelled, 1);
            atomic_fetch_add(&scene->ended, 1);
            return culex_run_fail(run, "asked to stop");
        }
        nap();
    }
    atomic_fetch_add(&scene->ended, 1);
    return CULEX_DONE;
}

static struct scene *scene_open(void **state)
{
    static unsigned number;
    struct scene *scene = calloc(1, sizeof *scene);
    culex_error error = {0};
    snprintf(scene->url, sizeof scene->url, "memory:threads%u", ++number);
    pthread_mutex_init(&scene->lock, NULL);
    assert_int_equal(culex_client_open(scene->url, NULL, &scene->client, &error), CULEX_OK);
    *state = scene;
    return scene;
}

static void *scene_main(void *argument)
{
    struct scene *scene = argument;
    scene->status = culex_worker_run(scene->worker, NULL);
    return NULL;
}

static void scene_start_with(struct scene *scene, culex_worker_options options,
                             culex_job_type *type, culex_handler_call call)
{
    options.url = scene->url;
    options.isolation = CULEX_ISOLATION_NONE;
    if (options.concurrency == 0)
        options.concurrency = 2;
    assert_int_equal(culex_worker_create(&options, &scene->worker, NULL), CULEX_OK);
    culex__worker_set_sink(scene->worker,
                           (struct culex_log_sink){.write = scene_sink, .self = scene});
    assert_int_equal(culex_worker_register(scene->worker, type, call, number_handler, scene),
                     CULEX_OK);
    assert_int_equal(pthread_create(&scene->thread, NULL, scene_main, scene), 0);
}

static void scene_start(struct scene *scene, culex_worker_options options, culex_job_type *type)
{
    scene_start_with(scene, options, type, scene_call);
}

static void scene_join(struct scene *scene)
{
    pthread_join(scene->thread, NULL);
    assert_int_equal(scene->status, CULEX_OK);
    culex_worker_free(scene->worker);
    scene->worker = NULL;
}

static int scene_close(void **state)
{
    struct scene *scene = *state;
    culex_client_close(scene->client);
    pthread_mutex_destroy(&scene->lock);
    free(scene);
    return 0;
}

static culex_uuid scene_enqueue(struct scene *scene, const culex_job_type *type)
{
    culex_uuid id;
    struct number params = {1};
    assert_int_equal(culex_client_enqueue(scene->client, type, &params, NULL, &id, NULL), CULEX_OK);
    return id;
}

static culex_run_info *scene_get(struct scene *scene, culex_uuid id)
{
    culex_run_info *run = NULL;
    assert_int_equal(culex_client_get(scene->client, "numbers", id, &run, NULL), CULEX_OK);
    return run;
}

static void assert_state(struct scene *scene, culex_uuid id, culex_run_state state)
{
    culex_run_info *run = scene_get(scene, id);
    culex_run_state actual = run->state;
    culex_run_info_free(run);
    assert_string_equal(culex_run_state_name(actual), culex_run_state_name(state));
}

static void test_heartbeats_keep_a_long_run(void **state)
{
    struct scene *scene = scene_open(state);
    culex_job_type type = number_type();
    culex_uuid id = scene_enqueue(scene, &type);
    scene_start(scene, (culex_worker_options){.lease_ms = 1500}, &type);
    AWAIT(atomic_load(&scene->started) == 1);
    int64_t leases_ms =
        now_ms() + 3200; /* more than two leases, each longer than a busy machine stalls */
    while (now_ms() < leases_ms)
        nap();
    atomic_store(&scene->may_end, true);
    AWAIT(atomic_load(&scene->ended) == 1);
    culex_worker_stop(scene->worker);
    scene_join(scene);
    culex_run_info *run = scene_get(scene, id);
    assert_int_equal(run->state, CULEX_RUN_DONE);
    assert_int_equal(run->attempt, 1);
    assert_int_equal(run->losses, 0);
    culex_run_info_free(run);
}

static void test_cancel_reaches_the_handler(void **state)
{
    struct scene *scene = scene_open(state);
    culex_job_type type = number_type();
    culex_uuid id = scene_enqueue(scene, &type);
    scene_start(scene, (culex_worker_options){.lease_ms = 300}, &type);
    AWAIT(atomic_load(&scene->started) == 1);
    assert_int_equal(culex_client_cancel(scene->client, "numbers", id, NULL, NULL), CULEX_OK);
    AWAIT(atomic_load(&scene->cancelled) == 1);
    culex_worker_stop(scene->worker);
    scene_join(scene);
    assert_state(scene, id, CULEX_RUN_CANCELLED);
    assert_true(scene_log_has(scene, "cancellation requested"));
    assert_true(scene_log_has(scene, "attempt 1 cancelled"));
}

static void test_timeout_is_told_while_the_handler_is_stuck(void **state)
{
    struct scene *scene = scene_open(state);
    culex_job_type type = number_type();
    type.timeout_ms = 400;
    type.retry.max = 0;
    atomic_store(&scene->ignores_cancel, true);
    culex_uuid id = scene_enqueue(scene, &type);
    scene_start(scene, (culex_worker_options){.lease_ms = 600}, &type);
    AWAIT(scene_log_has(scene, "dead: timed out after 400ms"));
    assert_int_equal(atomic_load(&scene->ended), 0);
    assert_state(scene, id, CULEX_RUN_DEAD);
    atomic_store(&scene->may_end, true);
    culex_worker_stop(scene->worker);
    scene_join(scene);
    assert_state(scene, id, CULEX_RUN_DEAD); /* the late result changed nothing */
}

static culex_outcome extend_call(culex_run *run, culex_handler_fn handler, const void *params,
                                 void *user)
{
    struct scene *scene = user;
    (void)handler;
    (void)params;
    atomic_fetch_add(&scene->started, 1);
    for (int i = 0; !atomic_load(&scene->may_end) && !culex_run_cancelled(run); i++) {
        culex_run_extend(run, 1500 * CULEX_MILLISECOND);
        culex_run_progress(run, i % 101, "step %d", i);
        nap();
    }
    atomic_fetch_add(&scene->ended, 1);
    return CULEX_DONE;
}

/* The handler's thread reports while the supervisor beats. */
static void test_reports_of_a_thread_reach_the_store(void **state)
{
    struct scene *scene = scene_open(state);
    culex_job_type type = number_type();
    type.timeout_ms = 700;
    culex_uuid id = scene_enqueue(scene, &type);
    scene_start_with(scene, (culex_worker_options){.lease_ms = 600}, &type, extend_call);
    AWAIT(atomic_load(&scene->started) == 1);
    int64_t long_ms = now_ms() + 2000; /* more than the timeout */
    culex_run_info *run = NULL;
    while (now_ms() < long_ms)
        nap();
    run = scene_get(scene, id);
    assert_int_equal(run->state, CULEX_RUN_ACTIVE);
    assert_int_equal(strncmp(run->progress_text, "step ", 5), 0);
    assert_in_range(run->progress, 0, 100);
    culex_run_info_free(run);
    atomic_store(&scene->may_end, true);
    AWAIT(atomic_load(&scene->ended) == 1);
    culex_worker_stop(scene->worker);
    scene_join(scene);
    assert_state(scene, id, CULEX_RUN_DONE);
}

static void test_stop_lets_handlers_finish(void **state)
{
    struct scene *scene = scene_open(state);
    culex_job_type type = number_type();
    culex_uuid id = scene_enqueue(scene, &type);
    scene_start(scene, (culex_worker_options){.grace_ms = 10000}, &type);
    AWAIT(atomic_load(&scene->started) == 1);
    culex_worker_stop(scene->worker);
    AWAIT(scene_log_has(scene, "stopping: 1 runs still active"));
    atomic_store(&scene->may_end, true);
    scene_join(scene);
    assert_state(scene, id, CULEX_RUN_DONE);
    assert_int_equal(atomic_load(&scene->cancelled), 0);
}

static void test_second_stop_skips_the_grace(void **state)
{
    enum { GRACE_MS = 60000 };
    struct scene *scene = scene_open(state);
    culex_job_type type = number_type();
    culex_uuid id = scene_enqueue(scene, &type);
    scene_start(scene, (culex_worker_options){.grace_ms = GRACE_MS}, &type);
    AWAIT(atomic_load(&scene->started) == 1);
    int64_t since_ms = now_ms();
    culex_worker_stop(scene->worker);
    culex_worker_stop(scene->worker);
    scene_join(scene);
    assert_true(now_ms() - since_ms < GRACE_MS);
    assert_int_equal(atomic_load(&scene->cancelled), 1);
    culex_run_info *run = scene_get(scene, id); /* its handler said that it failed */
    assert_int_equal(run->state, CULEX_RUN_WAITING);
    assert_int_equal(run->failures, 0);
    culex_run_info_free(run);
}

static void test_stuck_handler_is_abandoned_and_its_run_given_back(void **state)
{
    struct scene *scene = scene_open(state);
    culex_job_type type = number_type();
    type.expires_ms = 3600000;
    atomic_store(&scene->ignores_cancel, true);
    culex_uuid id = scene_enqueue(scene, &type);
    unsigned threads_before = thread_count();
    scene_start(scene, (culex_worker_options){.grace_ms = -1}, &type);
    AWAIT(atomic_load(&scene->started) == 1);
    culex_worker_stop(scene->worker);
    scene_join(scene); /* returns although the handler does not, and frees the worker */
    culex_run_info *run = scene_get(scene, id);
    assert_int_equal(run->state, CULEX_RUN_WAITING);
    assert_int_equal(run->failures + run->losses + run->crashes, 0);
    assert_int_equal(run->expires_at_ms, 0); /* it has begun */
    culex_run_info_free(run);
    assert_true(scene_log_has(scene, "handlers did not return"));
    atomic_store(&scene->may_end, true);
    AWAIT(atomic_load(&scene->ended) == 1);
    AWAIT(thread_count() == threads_before); /* the detached thread frees what is left and goes */
}

static void test_enqueue_wakes_an_idle_worker(void **state)
{
    struct scene *scene = scene_open(state);
    culex_job_type type = number_type();
    atomic_store(&scene->may_end, true);
    scene_start(scene, (culex_worker_options){.idle_wait_ms = CULEX_LOOK_MS}, &type);
    AWAIT(scene_log_has(scene, "serves 1 queue(s)"));
    int64_t least_ms = INT64_MAX;
    for (unsigned i = 0; i < 20; i++) {
        struct timespec idle = {0, 20000000}; /* not luck: any length will do */
        nanosleep(&idle, NULL);
        int64_t since_ms = now_ms();
        scene_enqueue(scene, &type);
        AWAIT(atomic_load(&scene->ended) == i + 1);
        if (now_ms() - since_ms < least_ms)
            least_ms = now_ms() - since_ms;
    }
    assert_true(least_ms < CULEX_LOOK_MS / 2); /* one that is not woken looks that seldom */
    culex_worker_stop(scene->worker);
    scene_join(scene);
}

/* The same fleet of numbers through four threads and two workers: each exactly once. */
static void test_two_workers_share_a_queue(void **state)
{
    struct scene *scene = scene_open(state);
    culex_job_type type = number_type();
    enum { MANY = 5000 };
    static struct number numbers[MANY];
    struct scene *second = calloc(1, sizeof *second);
    memcpy(second->url, scene->url, sizeof second->url);
    pthread_mutex_init(&second->lock, NULL);
    atomic_store(&scene->may_end, true);
    atomic_store(&second->may_end, true);
    assert_int_equal(culex_client_enqueue_many(scene->client, &type, numbers, sizeof numbers[0],
                                               MANY, NULL, NULL, NULL, NULL),
                     CULEX_OK);
    culex_worker_options options = {.drain = true, .concurrency = 2, .log_level = 2};
    scene_start(scene, options, &type);
    scene_start(second, options, &type);
    scene_join(scene);
    scene_join(second);
    assert_int_equal(atomic_load(&scene->ended) + atomic_load(&second->ended), MANY);
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(scene->client, "numbers", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.done, MANY);
    assert_int_equal(stats.stale + stats.lost + stats.failed, 0);
    pthread_mutex_destroy(&second->lock);
    free(second);
}

#define UNIT(test) cmocka_unit_test_teardown(test, scene_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(test_heartbeats_keep_a_long_run),
        UNIT(test_cancel_reaches_the_handler),
        UNIT(test_timeout_is_told_while_the_handler_is_stuck),
        UNIT(test_reports_of_a_thread_reach_the_store),
        UNIT(test_stop_lets_handlers_finish),
        UNIT(test_second_stop_skips_the_grace),
        UNIT(test_stuck_handler_is_abandoned_and_its_run_given_back),
        UNIT(test_enqueue_wakes_an_idle_worker),
        UNIT(test_two_workers_share_a_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
