/* sweep_network - every call on the network, and every allocation, fails once, in every way it
 * can, while runs are enqueued into and drained from a real Redis: no run is lost, none runs
 * twice, no attempt is charged. And every call fails from then on: the caller is told so. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "failing_malloc.h"
#include "redis_server.h"
#include "world.h"

enum way { WAY_RESET, WAY_END, WAY_SHORT, WAY_MEMORY };
enum { CALLS_MAX = 400, RUNS = 3 };

static const char *const way_names[] = {"reset", "end of stream", "short", "memory"};

/* The system's effects, one call of which goes wrong. Its members take no state of their own. */
static struct {
    long countdown; /* calls until it goes wrong; negative: none does */
    enum way way;
    bool is_sticky;
} fault;

static struct redis_server server;

static bool fails(bool is_memory)
{
    if (fault.countdown < 0 || is_memory != (fault.way == WAY_MEMORY))
        return false;
    if (fault.countdown > 0) {
        fault.countdown--;
        return false;
    }
    if (!fault.is_sticky)
        fault.countdown = -1;
    return true;
}

bool malloc_fails(void)
{
    return fails(true);
}

static culex_status faulty_connect(void *self, const struct culex_address *address,
                                   const struct culex_deadline *deadline, int *ret_fd,
                                   culex_error *error)
{
    if (fails(false))
        return culex__fail(error, CULEX_ECONNECT, "no route, says the sweep");
    return culex__env_system()->connect(self, address, deadline, ret_fd, error);
}

static ssize_t faulty_recv(void *self, int fd, void *ret_bytes, size_t len, int timeout_ms)
{
    if (!fails(false))
        return culex__env_system()->recv(self, fd, ret_bytes, len, timeout_ms);
    if (fault.way == WAY_SHORT)
        return culex__env_system()->recv(self, fd, ret_bytes, 1, timeout_ms);
    errno = ECONNRESET;
    return fault.way == WAY_END ? 0 : -1;
}

static ssize_t faulty_send(void *self, int fd, const void *bytes, size_t len)
{
    if (!fails(false))
        return culex__env_system()->send(self, fd, bytes, len);
    if (fault.way == WAY_SHORT)
        return culex__env_system()->send(self, fd, bytes, 1);
    errno = fault.way == WAY_END ? EPIPE : ECONNRESET;
    return -1;
}

static int faulty_poll(void *self, struct pollfd *fds, nfds_t count, int timeout_ms)
{
    if (!fails(false))
        return culex__env_system()->poll(self, fds, count, timeout_ms);
    errno = EINTR;
    return fault.way == WAY_SHORT ? 0 : -1;
}

static struct culex_env faulty_env(void)
{
    struct culex_env env = *culex__env_system();
    env.connect = faulty_connect;
    env.recv = faulty_recv;
    env.send = faulty_send;
    env.poll = faulty_poll;
    return env;
}

/* --- a course: enqueue, drain ------------------------------------------------------------- */

struct course {
    struct culex_env env;
    struct world *world;
    culex_job_type type;
    culex_uuid tickets[RUNS], ids[RUNS];
    long refusals; /* calls that tell of the failure */
};

static culex_client *client_open(const struct course *course, int64_t timeout_ms)
{
    struct culex_store_options options = {.timeout_ms = timeout_ms};
    struct culex_store *store = NULL;
    culex_client *client = NULL;
    culex_error error = {0};
    if (culex__store_open(server.url, &options, &course->env, &store, &error) != CULEX_OK)
        return NULL;
    if (culex__client_create(store, timeout_ms, &course->env, &client, &error) != CULEX_OK)
        return NULL;
    return client;
}

/* As a careful producer does: tickets before the first try, the same ones until it is certain. */
static void runs_enqueue(struct course *course)
{
    for (int tries = 0; tries < 10; tries++) {
        culex_client *client = client_open(course, 2000);
        size_t done = 0;
        for (; client != NULL && done < RUNS; done++) {
            struct number params = {(int64_t)done};
            culex_enqueue_options options = {.has_ticket = true, .ticket = course->tickets[done]};
            if (culex_client_enqueue(client, &course->type, &params, &options, &course->ids[done],
                                     NULL) != CULEX_OK)
                break;
        }
        culex_client_close(client);
        if (done == RUNS)
            return;
        course->refusals++;
    }
    fail_msg("the runs cannot be enqueued although only one call fails");
}

static culex_status worker_drain(struct course *course, culex_error *error)
{
    culex_worker_options options = {.url = server.url,
                                    .drain = true,
                                    .concurrency = 1,
                                    .lease_ms = fault.way == WAY_MEMORY ? 300 : 15000,
                                    .isolation = CULEX_ISOLATION_NONE};
    culex_worker *worker = NULL;
    culex_status status = culex_worker_create(&options, &worker, error);
    if (status != CULEX_OK)
        return status;
    culex__worker_set_env(worker, &course->env);
    culex__worker_set_executor(worker, executor_inline_create);
    culex__worker_set_sink(worker,
                           (struct culex_log_sink){.write = world_sink, .self = course->world});
    status =
        culex_worker_register(worker, &course->type, number_call, number_handler, course->world);
    if (status == CULEX_OK)
        status = culex_worker_run(worker, error);
    culex_worker_free(worker);
    return status;
}

/* Only a lack of memory may end a worker; the next one goes on where it stopped. */
static void runs_drain(struct course *course)
{
    culex_error error = {0};
    culex_status status = worker_drain(course, &error);
    if (status == CULEX_ENOMEM && fault.way == WAY_MEMORY) {
        course->refusals++;
        status = worker_drain(course, &error);
    }
    if (status != CULEX_OK)
        fail_msg("the worker gives up: %s\n%s", error.text, course->world->log);
}

static void course_prepare(struct course *course)
{
    redisReply *reply = redis_server_command(&server, "FLUSHALL");
    assert_non_null(reply);
    freeReplyObject(reply);
    *course = (struct course){.env = faulty_env(), .world = world_open(), .type = number_type()};
    course->type.keep_success_ms = 600000;
    culex_client *client = client_open(course, 5000);
    assert_non_null(client);
    for (int i = 0; i < RUNS; i++)
        assert_int_equal(culex_client_new_ticket(client, &course->tickets[i], NULL), CULEX_OK);
    culex_client_close(client);
}

static void runs_check(struct course *course, const char *what, long n)
{
    culex_client *client = client_open(course, 5000);
    assert_non_null(client);
    for (int i = 0; i < RUNS; i++) {
        culex_run_info *run = NULL;
        culex_error error = {0};
        if (culex_client_get(client, "numbers", course->ids[i], &run, &error) != CULEX_OK)
            fail_msg("%s of call %ld: run %d is lost: %s", what, n, i, error.text);
        /* A grant that finds no memory goes back, or is left to its lease: never charged. */
        uint32_t attempts_max = fault.way == WAY_MEMORY ? 2 : 1;
        if (run->state != CULEX_RUN_DONE || run->attempt > attempts_max || run->failures > 0 ||
            run->crashes > 0)
            fail_msg("%s of call %ld: run %d is %s after %u attempts, %u losses\n%s", what, n, i,
                     culex_run_state_name(run->state), run->attempt, run->losses,
                     course->world->log);
        culex_run_info_free(run);
    }
    culex_client_close(client);
    if (course->world->calls != RUNS)
        fail_msg("%s of call %ld: %u handlers were called for %d runs", what, n,
                 course->world->calls, RUNS);
}

/* True when the countdown outlived the whole course. */
static bool course_run(enum way way, long n, long *refusals)
{
    struct course course;
    course_prepare(&course);
    fault.way = way;
    fault.is_sticky = false;
    fault.countdown = n;
    runs_enqueue(&course);
    runs_drain(&course);
    bool is_over = fault.countdown >= 0;
    fault.countdown = -1;
    runs_check(&course, way_names[way], n);
    world_close(course.world);
    *refusals += course.refusals;
    return is_over;
}

static void way_sweep(enum way way)
{
    long n = 0, refusals = 0;
    while (n < CALLS_MAX && !course_run(way, n, &refusals))
        n++;
    printf("%s: %ld calls, %ld of them told\n", way_names[way], n, refusals);
    assert_in_range(n, 20, CALLS_MAX - 1);
    assert_true(way != WAY_MEMORY || refusals > 10);
}

static void test_every_network_call_fails_once(void **state)
{
    (void)state;
    for (enum way way = WAY_RESET; way <= WAY_SHORT; way++)
        way_sweep(way);
}

static void test_every_allocation_fails_once(void **state)
{
    (void)state;
    way_sweep(WAY_MEMORY);
}

struct outage {
    culex_status status;
    bool is_met;
};

static struct outage outage_run(struct course *course, enum way way, long n, int timeout_ms)
{
    struct number params = {7};
    culex_uuid id;
    fault.way = way;
    fault.is_sticky = true;
    fault.countdown = n;
    culex_client *client = client_open(course, timeout_ms);
    struct outage outage = {.status = CULEX_ECONNECT};
    if (client != NULL)
        outage.status = culex_client_enqueue(client, &course->type, &params, NULL, &id, NULL);
    outage.is_met = fault.countdown <= 0;
    culex_client_close(client);
    fault.countdown = -1;
    return outage;
}

/* True when the fault was never met. What ends by it takes the whole of its time, so that is short;
 * where a slow machine needs longer for what meets none, it is given that. */
static bool outage_check(struct course *course, enum way way, long n)
{
    struct outage outage = outage_run(course, way, n, 50);
    if (!outage.is_met && outage.status != CULEX_OK)
        outage = outage_run(course, way, n, 10000);
    assert_true(outage.status == CULEX_OK || outage.status == CULEX_ECONNECT ||
                outage.status == CULEX_EUNKNOWN);
    assert_true(outage.status == CULEX_OK || outage.is_met);
    return !outage.is_met;
}

static void test_every_network_call_fails_for_ever(void **state)
{
    struct course course;
    (void)state;
    course_prepare(&course);
    for (enum way way = 0; way < WAY_SHORT; way++) {
        long n = 0;
        while (n < CALLS_MAX && !outage_check(&course, way, n))
            n++;
        assert_in_range(n, 5, CALLS_MAX - 1);
    }
    world_close(course.world);
}

static int server_begin(void **state)
{
    (void)state;
    fault.countdown = -1;
    return redis_server_start(&server, NULL) ? 0 : -1;
}

static int server_end(void **state)
{
    (void)state;
    redis_server_stop(&server);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_network_call_fails_once),
        cmocka_unit_test(test_every_allocation_fails_once),
        cmocka_unit_test(test_every_network_call_fails_for_ever),
    };
    return cmocka_run_group_tests(tests, server_begin, server_end);
}
