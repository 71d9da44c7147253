/* Threads that share a client while its store does not answer: none waits longer than one call may
 * take, and those that never got their turn are told so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <culex/client.h>

#include "platform/env.h"
#include "redis_server.h"

/* One after the other, they would take half a minute. */
enum { THREADS = 24, CALLS = 2, TIMEOUT_MS = 700, BOUND_MS = 10000 };

struct caller {
    culex_client *client;
    int64_t longest_ms;
    culex_status statuses[CALLS];
    culex_error error; /* of a call that had no turn */
};

static void *caller_main(void *user)
{
    struct caller *caller = user;
    for (int i = 0; i < CALLS; i++) {
        culex_queue_stats stats;
        culex_error error = {0};
        int64_t begin_ms = culex__env_boottime_ms(culex__env_system());
        caller->statuses[i] = culex_client_stats(caller->client, "q", &stats, &error);
        int64_t spent_ms = culex__env_boottime_ms(culex__env_system()) - begin_ms;
        if (spent_ms > caller->longest_ms)
            caller->longest_ms = spent_ms;
        if (caller->statuses[i] == CULEX_EBUSY)
            caller->error = error;
    }
    return NULL;
}

static void callers_run(culex_client *client, struct caller callers[THREADS])
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (struct caller){.client = client};
        pthread_create(&threads[i], NULL, caller_main, &callers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static culex_client *client_open(const char *url)
{
    const culex_client_options options = {.timeout_ms = TIMEOUT_MS};
    culex_client *client = NULL;
    assert_int_equal(culex_client_open(url, &options, &client, NULL), CULEX_OK);
    return client;
}

static void test_frozen_server__every_call_of_every_thread_is_bounded(void **state)
{
    struct redis_server *server = *state;
    struct caller callers[THREADS];
    culex_client *client = client_open(server->url);
    kill(server->pid, SIGSTOP);
    callers_run(client, callers);
    kill(server->pid, SIGCONT);
    int without_turn = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_in_range(callers[i].longest_ms, 0, BOUND_MS);
        for (int k = 0; k < CALLS; k++) {
            assert_int_not_equal(callers[i].statuses[k], CULEX_OK);
            without_turn += callers[i].statuses[k] == CULEX_EBUSY;
        }
        if (callers[i].error.code != CULEX_OK)
            assert_non_null(strstr(callers[i].error.text, "other threads used this client"));
    }
    assert_in_range(without_turn, 1, THREADS * CALLS - 1);
    culex_client_close(client);
}

static void test_sound_server__every_thread_gets_its_turn(void **state)
{
    struct redis_server *server = *state;
    struct caller callers[THREADS];
    culex_client *client = client_open(server->url);
    callers_run(client, callers);
    for (int i = 0; i < THREADS; i++) {
        for (int k = 0; k < CALLS; k++)
            assert_int_equal(callers[i].statuses[k], CULEX_ENOTFOUND); /* nobody has used it */
    }
    culex_client_close(client);
}

static int server_start(void **state)
{
    struct redis_server *server = calloc(1, sizeof *server);
    *state = server;
    return redis_server_start(server, NULL) ? 0 : -1;
}

static int server_stop(void **state)
{
    redis_server_stop(*state);
    free(*state);
    return 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, server_start, server_stop)
    const struct CMUnitTest tests[] = {
        TEST(test_frozen_server__every_call_of_every_thread_is_bounded),
        TEST(test_sound_server__every_thread_gets_its_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
