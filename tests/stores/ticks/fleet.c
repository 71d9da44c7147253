/* fleet.c - many workers whose clocks differ, on one schedule: each tick brings one run.
 *
 *   fleet redis|sqlite
 *
 * 64 workers of one process, each with a handle of its own on a real store, with a wall clock that
 * is hours off and a monotonic one that runs up to a tenth too fast or too slow. Whatever TICK they
 * send is written down. When enough ticks have passed they stop; then no tick may have brought two
 * runs, each of its runs is one of the store's, and a handler has begun each. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "redis_server.h"
#include "store/store.h"
#include "ticks_job.h"
#include "worker/worker_private.h"

enum { WORKERS = 64, TICKS = 15, TAKEN_MAX = 4096, PATIENCE_S = 100 };

struct member {
    struct culex_env env;
    int64_t wall_off_ms;
    int64_t began_ns;
    double pace; /* of its monotonic clock */
    struct culex_store *store;
    culex_worker *worker;
    pthread_t thread;
    culex_status status;
    culex_error error;
};

static struct {
    char url[160];
    struct redis_server server;
    struct member members[WORKERS];
    pthread_mutex_t lock; /* of what follows */
    struct culex_store_ops ops;
    const struct culex_store_ops *shipped;
    int64_t taken[TAKEN_MAX]; /* ticks that brought a run */
    size_t taken_count, asked_count;
    atomic_uint begun;
} fleet = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- clocks ------------------------------------------------------------------------------------
 */

static int64_t wall_ms(void *self)
{
    const struct member *member = self;
    return culex__env_clock_ms(culex__env_system()) + member->wall_off_ms;
}

static int64_t store_ms(void *self)
{
    (void)self;
    return culex__env_clock_ms(culex__env_system());
}

static int64_t monotonic_ns(void *self)
{
    const struct member *member = self;
    int64_t passed_ns = culex__env_boottime_ns(culex__env_system()) - member->began_ns;
    return member->began_ns + (int64_t)((double)passed_ns * member->pace);
}

static void clocks_set(struct member *member, int index, bool is_sqlite)
{
    member->wall_off_ms = (index - WORKERS / 2) * INT64_C(3600000);
    member->pace = 0.9 + 0.2 * index / (WORKERS - 1);
    member->began_ns = culex__env_boottime_ns(culex__env_system());
    member->env = *culex__env_system();
    member->env.self = member;
    member->env.clock_ms = wall_ms;
    member->env.boottime_ns = monotonic_ns;
    if (is_sqlite) /* whose store has this machine's clock, which is not to jump */
        member->env.store_clock_ms = store_ms;
}

/* --- what is asked for -------------------------------------------------------------------------
 */

static culex_status tick_noted(struct culex_store *store, const struct culex_tick *tick,
                               struct culex_tick_reply *ret_reply, culex_error *error)
{
    culex_status status = fleet.shipped->tick(store, tick, ret_reply, error);
    pthread_mutex_lock(&fleet.lock);
    fleet.asked_count++;
    if (status == CULEX_OK && ret_reply->is_enqueued && fleet.taken_count < TAKEN_MAX)
        fleet.taken[fleet.taken_count++] = ret_reply->mark_ms;
    pthread_mutex_unlock(&fleet.lock);
    return status;
}

static size_t taken_count(void)
{
    pthread_mutex_lock(&fleet.lock);
    size_t count = fleet.taken_count;
    pthread_mutex_unlock(&fleet.lock);
    return count;
}

static culex_outcome beat(culex_run *run, const beat_job *job, void *user)
{
    (void)run;
    (void)job;
    (void)user;
    atomic_fetch_add(&fleet.begun, 1);
    return CULEX_DONE;
}

/* --- the fleet ---------------------------------------------------------------------------------
 */

static void *member_run(void *argument)
{
    struct member *member = argument;
    member->status = culex_worker_run(member->worker, &member->error);
    return NULL;
}

static void nobody_listens(void *self, const char *line, size_t len)
{
    (void)self;
    (void)line;
    (void)len;
}

static void member_start(struct member *member)
{
    culex_error error = {0};
    culex_worker_options options = {.concurrency = 1, .isolation = CULEX_ISOLATION_NONE};
    if (culex__store_open(fleet.url, NULL, &member->env, &member->store, &error) != CULEX_OK ||
        culex_worker_create(&options, &member->worker, &error) != CULEX_OK ||
        beat_job_register(member->worker, beat, NULL) != CULEX_OK)
        fail_msg("%s", error.text);
    fleet.shipped = member->store->ops;
    fleet.ops = *fleet.shipped;
    fleet.ops.tick = tick_noted;
    member->store->ops = &fleet.ops;
    culex__worker_set_env(member->worker, &member->env);
    culex__worker_set_store(member->worker, member->store);
    culex__worker_set_sink(member->worker, (struct culex_log_sink){.write = nobody_listens});
}

static void member_end(struct member *member)
{
    culex_worker_stop(member->worker);
    pthread_join(member->thread, NULL);
    if (member->status != CULEX_OK)
        fail_msg("%s", member->error.text);
    /* The store first, whose calls end by the worker's deadlines. */
    member->store->ops->close(member->store);
    culex_worker_free(member->worker);
}

static void await(size_t ticks)
{
    struct timespec nap = {0, 10000000};
    for (int left = PATIENCE_S * 100; taken_count() < ticks; left--) {
        if (left == 0)
            fail_msg("%zu ticks in %d s", taken_count(), PATIENCE_S);
        nanosleep(&nap, NULL);
    }
}

static culex_queue_stats stats(void)
{
    culex_error error = {0};
    culex_client *client;
    culex_queue_stats stats = {0};
    if (culex_client_open(fleet.url, NULL, &client, &error) != CULEX_OK ||
        culex_client_stats(client, "beat", &stats, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    culex_client_close(client);
    return stats;
}

/* A worker that stops gives back what it has not begun. */
static void test_tick_of_64_workers_with_skewed_clocks_brings_one_run(void **state)
{
    (void)state;
    for (int i = 0; i < WORKERS; i++)
        member_start(&fleet.members[i]);
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(
            pthread_create(&fleet.members[i].thread, NULL, member_run, &fleet.members[i]), 0);
    await(TICKS);
    for (int i = 0; i < WORKERS; i++)
        member_end(&fleet.members[i]);

    for (size_t i = 1; i < fleet.taken_count; i++)
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(fleet.taken[i], fleet.taken[k]);
    culex_queue_stats told = stats();
    assert_int_equal(told.enqueued, fleet.taken_count);
    assert_int_equal(told.done + told.count[CULEX_RUN_WAITING], fleet.taken_count);
    assert_int_equal(atomic_load(&fleet.begun), told.done);
    assert_true(fleet.asked_count > fleet.taken_count); /* so somebody was refused */
    printf("%zu ticks asked for, %zu brought a run\n", fleet.asked_count, fleet.taken_count);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tick_of_64_workers_with_skewed_clocks_brings_one_run),
    };
    bool is_sqlite = argc == 2 && strcmp(argv[1], "sqlite") == 0;
    char folder[] = "/tmp/culex-fleet-XXXXXX";
    if (!is_sqlite && !redis_server_start(&fleet.server, NULL))
        return 1;
    if (mkdtemp(folder) == NULL)
        return 1;
    if (is_sqlite)
        snprintf(fleet.url, sizeof fleet.url, "sqlite:%s/jobs.db", folder);
    else
        snprintf(fleet.url, sizeof fleet.url, "%s", fleet.server.url);
    for (int i = 0; i < WORKERS; i++)
        clocks_set(&fleet.members[i], i, is_sqlite);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    redis_server_stop(&fleet.server);
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? failed : 1;
}
