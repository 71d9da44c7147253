/* test/open.c - a kit's life. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "client/client_private.h"
#include "settings/option.h"
#include "test/kit.h"
#include "worker/setup.h"
#include "worker/worker_private.h"

enum { CALL_MS = 5000, CALLS_MOST = 10000 };

/* --- making --------------------------------------------------------------------------------------
 */

static culex_status options_take(culex_test *test, const culex_test_options *options,
                                 culex_error *error)
{
    if (options != NULL)
        test->options = *options;
    culex_test_options *own = &test->options;
    own->start = own->start != 0 ? own->start : CULEX_TEST_START;
    own->most = own->most > 0 ? own->most : CALLS_MOST;
    if (!culex__frozen_takes(own->start))
        return culex__fail(error, CULEX_EINVAL,
                           "options.start is before 2001 or after 2149: a culex_time is in "
                           "nanoseconds; culex_time_from_unix(seconds) makes one");
    if (own->log_level < 0 || own->log_level > CULEX_LOG_DEBUG)
        return culex__fail(error, CULEX_EINVAL, "options.log_level is 0 to %d", CULEX_LOG_DEBUG);
    test->frozen.now_ms = own->start / CULEX_MS_NS;
    test->frozen.seed = own->seed;
    return CULEX_OK;
}

static void line_drop(void *self, const char *line, size_t len)
{
    (void)self, (void)line, (void)len;
}

/* Children are what a worker has that is told nothing of its store before its handlers run; the
 * executor is the kit's. What the environment could say is said. What would make it look at the
 * store from time to time, or write itself down there, is off: what is due tells it when. */
static culex_status worker_open(culex_test *test, culex_error *error)
{
    const struct culex_log_sink silence = {.write = line_drop};
    const culex_worker_options options = {.url = test->url,
                                          .name = "culex-test",
                                          .concurrency = 1,
                                          .batch = 1,
                                          .isolation = CULEX_ISOLATION_PROCESS,
                                          .lease_ms = CULEX_OPTION_SPAN_MS_MAX,
                                          .idle_wait_ms = CULEX_OPTION_SPAN_MS_MAX,
                                          .log_level = test->options.log_level,
                                          .store_timeout_ms = CALL_MS,
                                          .synchronous = "off",
                                          .unlisted = true};
    culex_status status = culex_worker_create(&options, &test->worker, error);
    if (status != CULEX_OK)
        return status;
    culex__worker_set_env(test->worker, &test->env);
    culex__worker_set_store(test->worker, &test->workers.base);
    culex__worker_set_executor(test->worker, culex__hands_make);
    culex__worker_set_lent(test->worker);
    culex__worker_set_keys(test->worker, &test->keys);
    if (!test->options.schedules)
        culex__worker_set_unscheduled(test->worker);
    if (test->options.log_level == 0)
        culex__worker_set_sink(test->worker, silence);
    return CULEX_OK;
}

/* All passages lead to the one store; the observer has the passage that nobody else uses. */
static culex_status clients_open(culex_test *test, culex_error *error)
{
    test->client = culex__client_lend(&test->users.base, CALL_MS, &test->env);
    test->observer = culex__client_lend(&test->observers.base, CALL_MS, &test->env);
    if (test->client == NULL || test->observer == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for a client");
    test->client->keys = test->observer->keys = &test->keys;
    return CULEX_OK;
}

/* Stores of one name are one store; no two kits are at one place. */
static void url_choose(culex_test *test)
{
    snprintf(test->url, sizeof test->url, "memory:culex_test.%llx",
             (unsigned long long)(uintptr_t)test);
}

static culex_status test_fill(culex_test *test, culex_error *error)
{
    test->arena = culex_arena_create();
    if (!culex__hands_init(test) || test->arena == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for a test kit");
    url_choose(test);
    culex_status status = culex__store_open(test->url, NULL, &test->env, &test->store, error);
    if (status != CULEX_OK)
        return status;
    culex__passage_open(&test->users, test, true);
    culex__passage_open(&test->observers, test, true);
    culex__passage_open(&test->workers, test, false);
    status = clients_open(test, error);
    return status == CULEX_OK ? worker_open(test, error) : status;
}

culex_status culex_test_open(const culex_test_options *options, culex_test **ret_test,
                             culex_error *error)
{
    if (ret_test == NULL)
        return culex__fail(error, CULEX_EINVAL, "no place for the test kit");
    *ret_test = NULL;
    culex_test *test = calloc(1, sizeof *test);
    if (test == NULL)
        return culex__fail(error, CULEX_ENOMEM, "no memory for a test kit");
    culex__frozen_env(test);
    test->keys = (struct culex_keys){.count = 1, .of = {{.id = "test"}}};
    culex__key_mark(&test->keys.of[0]);
    culex_status status = options_take(test, options, error);
    if (status == CULEX_OK)
        status = test_fill(test, error);
    if (status == CULEX_OK)
        *ret_test = test;
    else
        culex_test_close(test);
    return status;
}

/* --- end -----------------------------------------------------------------------------------------
 */

/* Somebody has jumped out of a handler, past the end of the loop. */
static void drain_leave(culex_test *test)
{
    if (test->worker == NULL || atomic_load(&test->worker->life) == CULEX_LIFE_NONE)
        return;
    culex__worker_end(test->worker);
    culex__service_end(test);
    culex__home_store_enter(NULL);
}

static void client_free(culex_client *client)
{
    if (client != NULL)
        culex__client_free(client);
}

void culex_test_close(culex_test *test)
{
    if (test == NULL)
        return;
    drain_leave(test);
    culex__hands_end(test);
    if (test->worker != NULL)
        culex__worker_free(test->worker);
    client_free(test->client);
    client_free(test->observer);
    if (test->store != NULL)
        test->store->ops->close(test->store);
    for (size_t i = 0; i < test->infos.count; i++)
        culex_run_info_free(test->infos.rows[i]);
    free(test->infos.rows);
    culex__calls_free(&test->calls);
    culex__scripts_free(&test->scripts);
    culex_arena_free(test->arena);
    free(test);
}

/* --- what is lent --------------------------------------------------------------------------------
 */

culex_client *culex_test_client(culex_test *test)
{
    return test != NULL ? test->client : NULL;
}

culex_worker *culex_test_worker(culex_test *test)
{
    return test != NULL ? test->worker : NULL;
}
