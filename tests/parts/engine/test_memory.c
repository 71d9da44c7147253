/* Every allocation of an enqueue and a drain fails once: no crash, no leak, no run lost. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <culex/transfer.h>

#include "failing_malloc.h"
#include "world.h"

static _Thread_local long countdown = -1; /* allocations until one fails; negative: none does */

bool malloc_fails(void)
{
    return countdown >= 0 && countdown-- == 0;
}

static culex_outcome act_mixed(struct world *world, culex_run *run, int64_t n)
{
    struct number result = {n};
    (void)world;
    if (n == 1 && culex_run_attempt(run) == 1)
        return culex_run_fail(run, "once");
    return culex_run_set_result(run, &number_struct, &result, NULL) == CULEX_OK ? CULEX_DONE
                                                                                : CULEX_FAILED;
}

static culex_outcome after(culex_run *run, const void *params, culex_outcome outcome,
                           const char *text, void *user)
{
    (void)params, (void)user;
    return outcome == CULEX_FAILED ? culex_run_fail(run, "after: %s", text) : outcome;
}

static culex_status tag(culex_enqueue_call *call, void *user, culex_error *error)
{
    (void)user;
    return culex_enqueue_tag(call, "hooked", error);
}

static bool drain(struct world *world, culex_job_type *type)
{
    culex_worker_options options = {.drain = true, .concurrency = 1, .lease_ms = 1000};
    culex_status status = culex_worker_create(&options, &world->worker, NULL);
    if (status == CULEX_OK) {
        culex__worker_set_env(world->worker, &world->env);
        culex__worker_set_store(world->worker, &world->base);
        culex__worker_set_executor(world->worker, executor_inline_create);
        culex__worker_set_sink(world->worker,
                               (struct culex_log_sink){.write = world_sink, .self = world});
        status = culex_worker_register(world->worker, type, number_call, number_handler, world);
    }
    if (status == CULEX_OK)
        status = culex_worker_add_hook(world->worker, type,
                                       &(culex_hook){.name = "after", .after = after});
    if (status == CULEX_OK)
        status = culex_worker_run(world->worker, NULL);
    culex_worker_free(world->worker);
    world->worker = NULL;
    assert_true(status == CULEX_OK || status == CULEX_ENOMEM);
    return status == CULEX_OK;
}

/* True when the countdown outlived the whole course: nothing is left to fail. Counts the calls that
 * tell of it. */
static bool course_run(long n, long *refusals)
{
    struct world *world = world_open();
    culex_job_type type = number_type();
    type.result = &number_struct;
    struct number params[] = {{1}, {2}, {3}};
    size_t enqueued = 0;
    world->act = act_mixed;
    assert_int_equal(culex_client_on_enqueue(world->client, tag, NULL, NULL), CULEX_OK);
    countdown = n;
    culex_status status = culex_client_enqueue_many(world->client, &type, params, sizeof params[0],
                                                    3, NULL, NULL, &enqueued, NULL);
    assert_int_equal(status == CULEX_OK, enqueued == 3);
    *refusals += status != CULEX_OK;
    *refusals += !drain(world, &type);
    bool is_over = countdown >= 0;
    countdown = -1;
    assert_true(drain(world, &type));
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.done, stats.enqueued);
    assert_true(stats.enqueued >= enqueued);
    world_close(world);
    return is_over;
}

static void test_every_allocation_fails_once(void **state)
{
    long n = 0, refusals = 0;
    (void)state;
    while (n < 5000 && !course_run(n, &refusals))
        n++;
    assert_in_range(n, 20, 4999);
    assert_in_range(refusals, 10, n);
}

/* --- threads that wait for each other -------------------------------------------------------- */

struct caller {
    struct world *world;
    long countdown;
    pthread_t thread;
    atomic_bool has_ended;
    culex_status status;
    long left;
};

static void *caller_run(void *user)
{
    struct caller *caller = user;
    culex_job_type type = number_type();
    struct number params = {7};
    countdown = caller->countdown;
    caller->status = culex_client_enqueue(caller->world->client, &type, &params, NULL, NULL, NULL);
    caller->left = countdown;
    atomic_store(&caller->has_ended, true);
    return NULL;
}

static size_t line_length(struct culex_turn *turn)
{
    size_t length = 0;
    pthread_mutex_lock(&turn->lock);
    for (struct culex_turn_waiter *at = turn->first; at != NULL; at = at->next)
        length++;
    pthread_mutex_unlock(&turn->lock);
    return length;
}

static void caller_start(struct caller *caller)
{
    struct culex_turn *turn = &caller->world->client->turn;
    size_t before = line_length(turn);
    assert_int_equal(pthread_create(&caller->thread, NULL, caller_run, caller), 0);
    while (line_length(turn) == before && !atomic_load(&caller->has_ended))
        sched_yield();
}

/* Two wait for the third, which is this one; allocation `n` of caller `which` fails. */
static bool convoy_run(long n, int which)
{
    struct world *world = world_open();
    struct caller callers[2] = {{.world = world, .countdown = -1},
                                {.world = world, .countdown = -1}};
    callers[which].countdown = n;
    assert_true(culex__turn_try(&world->client->turn));
    for (int i = 0; i < 2; i++)
        caller_start(&callers[i]);
    culex__turn_give(&world->client->turn);
    for (int i = 0; i < 2; i++)
        pthread_join(callers[i].thread, NULL);
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    assert_int_equal(callers[1 - which].status, CULEX_OK);
    assert_true(callers[which].status == CULEX_OK || callers[which].status == CULEX_ENOMEM);
    assert_int_equal(stats.enqueued, 1 + (callers[which].status == CULEX_OK));
    world_close(world);
    return callers[which].left >= 0;
}

static void test_every_allocation_of_a_convoy_fails_once(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        long n = 0;
        while (n < 1000 && !convoy_run(n, which))
            n++;
        assert_in_range(n, 1, 999);
    }
}

/* One has ended, the other is noted. True when no allocation failed. */
static bool wait_run(long n)
{
    struct world *world = world_open();
    culex_job_type type = number_type();
    culex_wait waits[2] = {{.queue = "numbers"}, {.queue = "numbers"}};
    waits[0].id = world_enqueue(world, &type, 1);
    waits[1].id = world_enqueue(world, &type, 2);
    assert_int_equal(culex_client_cancel(world->client, "numbers", waits[0].id, NULL, NULL),
                     CULEX_OK);
    countdown = n;
    culex_status status =
        culex_client_wait(world->client, waits, 2, 1, culex_milliseconds(10), NULL);
    bool is_whole = countdown >= 0;
    countdown = -1;
    assert_true(status == CULEX_OK || status == CULEX_ENOMEM);
    if (status != CULEX_OK)
        status = culex_client_wait(world->client, waits, 2, 1, culex_milliseconds(10), NULL);
    assert_int_equal(status, CULEX_OK);
    assert_int_equal(waits[0].end, CULEX_WAIT_CANCELLED);
    assert_int_equal(waits[1].end, CULEX_WAIT_PENDING);
    culex_run_info_free(waits[0].run);
    world_close(world);
    return is_whole;
}

static void test_every_allocation_of_a_wait_fails_once(void **state)
{
    long n = 0;
    (void)state;
    while (n < 1000 && !wait_run(n))
        n++;
    assert_in_range(n, 1, 999);
}

/* --- runs of another store ---------------------------------------------------------------------
 */

/* As above. What fails is made again, and brings each once; what was read is whole. */
static bool transfer_run(long n)
{
    struct world *world = world_open();
    const culex_transfer_limit limit = {CULEX_LIMIT_CONCURRENCY, "t:one", "k", {2, 0, 0}};
    culex_transfer_run runs[] = {{.key = "one"}, {.key = "two"}};
    culex_run_info *info = NULL;
    for (size_t i = 0; i < 2; i++) {
        runs[i].job = "t.strange";
        runs[i].attempts_max = 1;
        runs[i].limits = &limit;
        runs[i].limit_count = 1;
    }
    countdown = n;
    culex_status status =
        culex_client_transfer(world->client, "numbers", runs, 2, CULEX_DAY, NULL, NULL);
    assert_true(status == CULEX_OK || status == CULEX_ENOMEM);
    if (status == CULEX_OK)
        status = culex_client_get(world->client, "numbers", runs[1].id, &info, NULL);
    bool is_over = countdown >= 0;
    countdown = -1;
    assert_int_equal(status == CULEX_OK, info != NULL);
    if (info != NULL)
        assert_string_equal(info->limits, "t:one=k");
    culex_run_info_free(info);
    culex_queue_stats stats;
    assert_int_equal(
        culex_client_transfer(world->client, "numbers", runs, 2, CULEX_DAY, NULL, NULL), CULEX_OK);
    assert_int_equal(culex_client_stats(world->client, "numbers", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.count[CULEX_RUN_WAITING], 2);
    world_close(world);
    return is_over;
}

static void test_every_allocation_of_a_transfer_fails_once(void **state)
{
    long n = 0;
    (void)state;
    while (n < 1000 && !transfer_run(n))
        n++;
    assert_in_range(n, 10, 999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_fails_once),
        cmocka_unit_test(test_every_allocation_of_a_convoy_fails_once),
        cmocka_unit_test(test_every_allocation_of_a_wait_fails_once),
        cmocka_unit_test(test_every_allocation_of_a_transfer_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
