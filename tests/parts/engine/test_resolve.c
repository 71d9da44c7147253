/* Host names: a resolver that hangs holds no call beyond its timeout, and what waits for it does
 * not grow. The linker puts a resolver of our own in getaddrinfo's place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <culex/client.h>
#include <culex/worker.h>

#include "world.h"

/* A question to "hangs.test" is answered when the test says so, or after this. */
enum { HANG_S = 60, TIMEOUT_MS = 200, BOUND_MS = 20000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_released = PTHREAD_COND_INITIALIZER;
static bool is_hanging;
static atomic_int hangs; /* questions without an answer */
static atomic_int names_asked, lists_made, lists_freed;

int __real_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret_found);
int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret_found);
void __real_freeaddrinfo(struct addrinfo *found);
void __wrap_freeaddrinfo(struct addrinfo *found);

static void hang(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += HANG_S;
    pthread_mutex_lock(&lock);
    int waited = 0;
    hangs = is_hanging;
    while (is_hanging && waited == 0)
        waited = pthread_cond_timedwait(&is_released, &lock, &until);
    pthread_mutex_unlock(&lock);
}

/* Every name is this machine's, where nothing listens on the port. */
int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret_found)
{
    bool is_name = (hints->ai_flags & AI_NUMERICHOST) == 0;
    if (is_name) {
        names_asked++;
        if (strcmp(host, "hangs.test") == 0)
            hang();
        host = "127.0.0.1";
    }
    int failure = __real_getaddrinfo(host, service, hints, ret_found);
    if (failure == 0)
        lists_made++;
    return failure;
}

void __wrap_freeaddrinfo(struct addrinfo *found)
{
    lists_freed++;
    __real_freeaddrinfo(found);
}

static void hanging_set(bool is)
{
    pthread_mutex_lock(&lock);
    is_hanging = is;
    pthread_cond_broadcast(&is_released);
    pthread_mutex_unlock(&lock);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int thread_count(void)
{
    int count = -2; /* "." and ".." */
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    while (readdir(tasks) != NULL)
        count++;
    closedir(tasks);
    return count;
}

/* How long an open took that must fail with these words. */
static int64_t open_ms(const char *host, int64_t timeout_ms, const char *words)
{
    char url[64];
    culex_client *client = NULL;
    culex_error error;
    culex_client_options options = {.timeout_ms = timeout_ms};
    snprintf(url, sizeof url, "redis://%s:1", host);
    int64_t began_ms = now_ms();
    assert_int_equal(culex_client_open(url, &options, &client, &error), CULEX_ECONNECT);
    if (strstr(error.text, words) == NULL)
        fail_msg("no '%s' in: %s", words, error.text);
    return now_ms() - began_ms;
}

static int setup(void **state)
{
    (void)state;
    names_asked = lists_made = lists_freed = hangs = 0;
    hanging_set(true);
    return 0;
}

/* What was left behind goes by itself, to the last byte. */
static int teardown(void **state)
{
    (void)state;
    hanging_set(false);
    int64_t began_ms = now_ms();
    while (thread_count() > 1 && now_ms() - began_ms < 60000)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return thread_count() == 1 && lists_made == lists_freed ? 0 : -1;
}

static void test_resolver_that_hangs__each_call_is_bounded(void **state)
{
    (void)state;
    assert_in_range(open_ms("hangs.test", TIMEOUT_MS, "cannot resolve host 'hangs.test'"), 0,
                    BOUND_MS);
    for (int i = 0; i < 5; i++)
        assert_in_range(open_ms("hangs.test", TIMEOUT_MS, "cannot resolve"), 0, BOUND_MS);
    assert_int_equal(names_asked, 1);
    assert_in_range(thread_count(), 2, 2);
}

static void test_resolver_that_hangs__addresses_go_without_it(void **state)
{
    (void)state;
    open_ms("hangs.test", TIMEOUT_MS, "has not answered in time");
    open_ms("127.0.0.1", TIMEOUT_MS, "cannot connect to 127.0.0.1 port 1");
    open_ms("[::1]", TIMEOUT_MS, "cannot connect to ::1 port 1");
    assert_int_equal(names_asked, 1);
}

static void *release(void *unused)
{
    hanging_set(false);
    return unused;
}

static void test_resolver_that_hangs__the_next_name_has_its_turn(void **state)
{
    (void)state;
    pthread_t thread;
    open_ms("hangs.test", TIMEOUT_MS, "has not answered in time");
    open_ms("other.test", TIMEOUT_MS, "the question before");
    assert_int_equal(pthread_create(&thread, NULL, release, NULL), 0);
    open_ms("other.test", 60000, "cannot connect to other.test port 1");
    pthread_join(thread, NULL);
}

static void wait_for(atomic_int *count)
{
    while (atomic_load(count) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void *stop_when_asked(void *worker)
{
    wait_for(&names_asked);
    culex_worker_stop(worker);
    return NULL;
}

/* The first try is refused, and a later one is cut short by the stop. */
static void *stop_when_refused(void *worker)
{
    wait_for(&lists_freed);
    hanging_set(true);
    wait_for(&hangs);
    culex_worker_stop(worker);
    return NULL;
}

/* The worker's error once `stop` has stopped it. */
static void worker_stopped(void *(*stop)(void *worker), culex_error *error)
{
    pthread_t thread;
    culex_worker *worker;
    culex_job_type type = number_type();
    culex_worker_options options = {.url = "redis://hangs.test:1",
                                    .isolation = CULEX_ISOLATION_NONE,
                                    .concurrency = 1,
                                    .log_level = 1,
                                    .store_timeout_ms = 60000};
    assert_int_equal(culex_worker_create(&options, &worker, NULL), CULEX_OK);
    assert_int_equal(culex_worker_register(worker, &type, number_call, number_handler, NULL),
                     CULEX_OK);
    int64_t began_ms = now_ms();
    assert_int_equal(pthread_create(&thread, NULL, stop, worker), 0);
    assert_int_equal(culex_worker_run(worker, error), CULEX_ECONNECT);
    assert_in_range(now_ms() - began_ms, 0, BOUND_MS);
    assert_non_null(strstr(error->text, "stopped before"));
    pthread_join(thread, NULL);
    culex_worker_free(worker);
}

static void test_resolver_that_hangs__a_worker_can_be_stopped(void **state)
{
    (void)state;
    culex_error error;
    worker_stopped(stop_when_asked, &error);
    assert_non_null(strstr(error.text, "cannot resolve"));
}

static void test_stopped_worker__tells_of_the_try_that_was_not_cut(void **state)
{
    (void)state;
    culex_error error;
    hanging_set(false);
    worker_stopped(stop_when_refused, &error);
    assert_non_null(strstr(error.text, "cannot connect to hangs.test port 1"));
}

static void test_forked_process_asks_anew(void **state)
{
    (void)state;
    open_ms("hangs.test", TIMEOUT_MS, "has not answered in time");
    pid_t child = fork();
    if (child == 0) {
        culex_error error = {0};
        culex_client *client = NULL;
        culex_client_options options = {.timeout_ms = TIMEOUT_MS};
        culex_status status = culex_client_open("redis://other.test:1", &options, &client, &error);
        _exit(status == CULEX_ECONNECT &&
                      strstr(error.text, "cannot connect to other.test port 1") != NULL
                  ? 0
                  : 1);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
}

static void test_names_are_resolved(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        open_ms("other.test", BOUND_MS, "cannot connect to other.test port 1");
    assert_in_range(names_asked, 20, INT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_resolver_that_hangs__each_call_is_bounded, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_resolver_that_hangs__addresses_go_without_it, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_resolver_that_hangs__the_next_name_has_its_turn, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_resolver_that_hangs__a_worker_can_be_stopped, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_stopped_worker__tells_of_the_try_that_was_not_cut,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_forked_process_asks_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names_are_resolved, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
