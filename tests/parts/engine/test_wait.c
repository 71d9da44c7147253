/* culex_client_wait: what it tells and how often it asks, in the driven world; threads that share a
 * client; and real workers, on real stores. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "redis_server.h"
#include "world.h"

enum { THREADS = 8, MANY = 450, LOOK_MS = 5000 };

static int setup(void **state)
{
    *state = world_open();
    return 0;
}

/* Whatever has come of a wait, the desk is told of no run for longer. */
static int teardown(void **state)
{
    struct world *world = *state;
    const struct culex_wait_desk *desk = &world->client->desk;
    for (size_t i = 0; i < desk->queue_count; i++)
        assert_int_equal(desk->queue_waits[i], 0);
    world_close(world);
    return 0;
}

/* --- ends that are brought while somebody waits ------------------------------------------------
 */

#define SESSION "00000000000000aa"

static culex_uuid wanted[2];
static size_t wanted_count;
static enum culex_run_event wanted_event;
static const char *wanted_text;
static int64_t wanted_delay_ms;

/* By the worker of another process: past the table that the client has. */
static void bring_end(struct culex_store *store)
{
    static uint64_t nonce;
    struct culex_step_reply reply;
    struct culex_ack acks[2];
    struct culex_step step = {.queue = "numbers",
                              .session = SESSION,
                              .nonce = ++nonce,
                              .want = 2,
                              .max_bytes = 1 << 20,
                              .lease_ms = 60000};
    assert_int_equal(store->ops->step(store, &step, &reply, NULL), CULEX_OK);
    assert_int_equal(reply.grant_count, wanted_count);
    for (size_t i = 0; i < wanted_count; i++)
        acks[i] = (struct culex_ack){.id = reply.grants[i].facts.id,
                                     .attempt = reply.grants[i].facts.attempt,
                                     .event = wanted_event,
                                     .delay_ms = wanted_delay_ms,
                                     .text = wanted_text,
                                     .result = "{\"n\":7}",
                                     .result_len = wanted_event == CULEX_EVENT_DONE ? 7 : 0};
    store->ops->step_release(store, &reply);
    step.nonce = ++nonce;
    step.want = 0;
    step.acks = acks;
    step.ack_count = wanted_count;
    assert_int_equal(store->ops->step(store, &step, &reply, NULL), CULEX_OK);
    store->ops->step_release(store, &reply);
}

static void then_end(struct world *world)
{
    bring_end(world->store);
}

static void then_cancel(struct world *world)
{
    culex_run_state state;
    assert_int_equal(world->store->ops->cancel(world->store, "numbers", wanted[0], &state, NULL),
                     CULEX_OK);
}

static void then_purge(struct world *world)
{
    struct culex_purge_reply reply;
    assert_int_equal(
        world->store->ops->purge(world->store, "numbers", CULEX_RUN_WAITING, 9, &reply, NULL),
        CULEX_OK);
}

static culex_wait enqueue(struct world *world)
{
    culex_job_type type = number_type();
    type.keep_success_ms = 0;
    wanted_count = 1;
    wanted_event = CULEX_EVENT_DONE;
    wanted_text = NULL;
    wanted_delay_ms = 0;
    wanted[0] = world_enqueue(world, &type, 1);
    return (culex_wait){.queue = "numbers", .id = wanted[0]};
}

static void later(struct world *world, int64_t ms, void (*then)(struct world *world))
{
    world->then = then;
    world->then_ms = world_ms(world) + ms;
}

static void wait_ok(struct world *world, culex_wait *waits, size_t count, size_t enough,
                    int64_t timeout_ms)
{
    culex_error error = {0};
    if (culex_client_wait(world->client, waits, count, enough, culex_milliseconds(timeout_ms),
                          &error) != CULEX_OK)
        fail_msg("%s", error.text);
}

static void test_end_is_told_at_once(void **state)
{
    struct world *world = *state;
    culex_wait wait = enqueue(world);
    int64_t begin_ms = world_ms(world);
    later(world, 61234, then_end);
    wait_ok(world, &wait, 1, 1, 3600000);
    assert_int_equal(world_ms(world) - begin_ms, 61234);
    assert_int_equal(wait.end, CULEX_WAIT_DONE);
    assert_int_equal(wait.run->result.len, 7);
    assert_in_range(world->waits, 2, 61234 / LOOK_MS + 2); /* a look now and again */
    culex_run_info_free(wait.run);
}

static void assert_end(struct world *world, void (*then)(struct world *world), culex_wait wait,
                       culex_wait_end end, const char *text)
{
    later(world, 100, then);
    wait_ok(world, &wait, 1, 1, 3600000);
    assert_string_equal(culex_wait_end_name(wait.end), culex_wait_end_name(end));
    assert_int_equal(wait.run != NULL, end != CULEX_WAIT_FORGOTTEN);
    if (wait.run != NULL)
        assert_string_equal(wait.run->error_text, text);
    culex_run_info_free(wait.run);
}

static void test_ends_are_told_apart(void **state)
{
    struct world *world = *state;
    culex_wait wait = enqueue(world);
    wanted_event = CULEX_EVENT_DISCARD;
    wanted_text = "no such customer";
    assert_end(world, then_end, wait, CULEX_WAIT_DEAD, "no such customer");
    assert_end(world, then_cancel, enqueue(world), CULEX_WAIT_CANCELLED, "");
    assert_end(world, then_purge, enqueue(world), CULEX_WAIT_FORGOTTEN, "");
    assert_string_equal(culex_wait_end_name((culex_wait_end)77), "unknown");
}

static void test_run_that_has_ended_needs_no_wait(void **state)
{
    struct world *world = *state;
    culex_wait wait = enqueue(world);
    then_cancel(world);
    int64_t begin_ms = world_ms(world);
    wait_ok(world, &wait, 1, 1, 0);
    assert_int_equal(wait.end, CULEX_WAIT_CANCELLED);
    assert_int_equal(world->waits, 1);
    assert_int_equal(world_ms(world), begin_ms);
    culex_run_info_free(wait.run);
}

static void test_timeout_is_no_failure(void **state)
{
    struct world *world = *state;
    culex_wait wait = enqueue(world);
    int64_t begin_ms = world_ms(world);
    wait_ok(world, &wait, 1, 1, 12000);
    assert_int_equal(wait.end, CULEX_WAIT_PENDING);
    assert_null(wait.run);
    assert_in_range(world_ms(world) - begin_ms, 12000, 12001);
    assert_in_range(world->waits, 3, 4);
    begin_ms = world_ms(world);
    world->waits = 0;
    wait_ok(world, &wait, 1, 1, 0);
    assert_int_equal(world->waits, 1);
    assert_int_equal(world_ms(world), begin_ms);
}

/* The second attempt is the end. */
static void then_fail(struct world *world)
{
    wanted_event = CULEX_EVENT_FAIL;
    wanted_delay_ms = 2000;
    bring_end(world->store);
    wanted_event = CULEX_EVENT_DONE;
    later(world, 3000, then_end);
}

static void test_retry_to_come_is_no_end(void **state)
{
    struct world *world = *state;
    culex_wait wait = enqueue(world);
    int64_t begin_ms = world_ms(world);
    later(world, 100, then_fail);
    wait_ok(world, &wait, 1, 1, 3600000);
    assert_int_equal(wait.end, CULEX_WAIT_DONE);
    assert_int_equal(world_ms(world) - begin_ms, 3100);
    culex_run_info_free(wait.run);
}

static void test_first_of_many_then_all(void **state)
{
    struct world *world = *state;
    culex_wait waits[] = {enqueue(world), enqueue(world), enqueue(world)};
    wanted[0] = waits[1].id;
    later(world, 100, then_cancel);
    wait_ok(world, waits, 3, 1, 3600000);
    assert_int_equal(waits[0].end, CULEX_WAIT_PENDING);
    assert_int_equal(waits[1].end, CULEX_WAIT_CANCELLED);
    wanted_count = 2;
    later(world, 100, then_end);
    wait_ok(world, waits, 3, 3, 3600000);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(waits[i].end, i == 1 ? CULEX_WAIT_CANCELLED : CULEX_WAIT_DONE);
        culex_run_info_free(waits[i].run);
    }
    world->waits = 0;
    wait_ok(world, waits, 3, 1, 3600000); /* none is pending */
    wait_ok(world, NULL, 0, 1, 3600000);
    assert_int_equal(world->waits, 0);
}

static void test_many_of_two_queues_are_few_questions(void **state)
{
    struct world *world = *state;
    static culex_wait waits[MANY];
    culex_job_type type = number_type();
    for (size_t i = 0; i < MANY; i++) {
        struct number params = {(int64_t)i};
        culex_enqueue_options options = culex_enqueue_options_make();
        waits[i] = (culex_wait){.queue = i % 2 == 0 ? "numbers" : "others"};
        options.queue = waits[i].queue;
        assert_int_equal(
            culex_client_enqueue(world->client, &type, &params, &options, &waits[i].id, NULL),
            CULEX_OK);
    }
    wanted[0] = waits[448].id;
    later(world, 100, then_cancel);
    wait_ok(world, waits, MANY, 1, 3600000);
    assert_int_equal(world->waits, 2 * 4);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(waits[i].end, i == 448 ? CULEX_WAIT_CANCELLED : CULEX_WAIT_PENDING);
    culex_run_info_free(waits[448].run);
}

static void test_store_that_is_away_is_waited_for(void **state)
{
    struct world *world = *state;
    culex_wait wait = enqueue(world);
    then_end(world);
    wait = enqueue(world);
    then_cancel(world);
    world->wait_status = CULEX_ECONNECT;
    world->wait_failures = 100;
    wait_ok(world, &wait, 1, 1, 3600000);
    assert_int_equal(wait.end, CULEX_WAIT_CANCELLED);
    assert_int_equal(world->wait_failures, 0);
    culex_run_info_free(wait.run);
}

static void test_store_that_stays_away_fails_the_call(void **state)
{
    struct world *world = *state;
    culex_wait wait = enqueue(world);
    int64_t begin_ms = world_ms(world);
    world->wait_status = CULEX_EUNKNOWN;
    world->wait_failures = 1000000;
    assert_int_equal(culex_client_wait(world->client, &wait, 1, 1, culex_minutes(1), NULL),
                     CULEX_EUNKNOWN);
    assert_in_range(world_ms(world) - begin_ms, 60000 - LOOK_MS, 60000 + LOOK_MS);
    assert_int_equal(wait.end, CULEX_WAIT_PENDING);
    world->wait_status = CULEX_ECORRUPT;
    assert_int_equal(culex_client_wait(world->client, &wait, 1, 1, culex_minutes(1), NULL),
                     CULEX_ECORRUPT);
    assert_in_range(world_ms(world) - begin_ms, 60000 - LOOK_MS, 60000 + LOOK_MS);
}

/* The call fails because of it, and not before the others have ended that it is to wait for. */
static void test_damaged_run_holds_up_no_other(void **state)
{
    struct world *world = *state;
    culex_wait waits[] = {enqueue(world), enqueue(world), enqueue(world)};
    int64_t begin_ms = world_ms(world);
    culex_error error = {0};
    world->damaged = waits[0].id;
    wanted[0] = waits[1].id;
    later(world, 100, then_cancel);
    wait_ok(world, waits, 3, 1, 3600000);
    assert_int_equal(waits[0].end, CULEX_WAIT_PENDING);
    assert_int_equal(waits[1].end, CULEX_WAIT_CANCELLED);
    wanted[0] = waits[2].id;
    later(world, 100, then_cancel);
    assert_int_equal(culex_client_wait(world->client, waits, 3, 3, culex_hours(1), &error),
                     CULEX_ECORRUPT);
    assert_string_equal(error.text, "waits[0]: the run's record is damaged");
    assert_int_equal(waits[0].end, CULEX_WAIT_PENDING);
    assert_int_equal(waits[2].end, CULEX_WAIT_CANCELLED);
    assert_int_equal(world_ms(world) - begin_ms, 200);
    assert_int_equal(culex_client_wait(world->client, waits, 1, 1, 0, &error), CULEX_ECORRUPT);
    culex_run_info_free(waits[1].run);
    culex_run_info_free(waits[2].run);
}

/* Notes are refused, words get lost, or the store has none to give: then only time is. */
static void test_lost_word_costs_seconds(void **state)
{
    struct world *world = *state;
    for (int way = 0; way < 2; way++) {
        culex_wait wait = enqueue(world);
        world->is_full = way == 0;
        world->has_no_wake = way == 1;
        int64_t begin_ms = world_ms(world);
        later(world, 7000, then_cancel);
        wait_ok(world, &wait, 1, 1, 3600000);
        assert_int_equal(wait.end, CULEX_WAIT_CANCELLED);
        assert_in_range(world_ms(world) - begin_ms, 7000, 7000 + LOOK_MS);
        culex_run_info_free(wait.run);
    }
}

/* A client that was for the timeout's whole length without an end leaves nothing that is told. */
static void test_nobody_waits_then(void **state)
{
    struct world *world = *state;
    culex_wait wait = enqueue(world);
    wait_ok(world, &wait, 1, 1, 1000);
    world_pass(world, 60000);
    then_end(world);
    wait_ok(world, &wait, 1, 1, 0);
    assert_int_equal(wait.end, CULEX_WAIT_FORGOTTEN); /* kept for no time */
}

static void test_what_is_out_of_form_is_refused(void **state)
{
    struct world *world = *state;
    static culex_wait many[1001];
    culex_wait wait = enqueue(world), odd = wait;
    culex_error error = {0};
    odd.queue = "no queue";
    assert_int_equal(culex_client_wait(world->client, &odd, 1, 1, 0, &error), CULEX_EINVAL);
    assert_int_equal(culex_client_wait(world->client, many, 1001, 1, 0, &error), CULEX_ELIMIT);
    assert_int_equal(culex_client_wait(world->client, &wait, 1, 1, 30, &error), CULEX_EINVAL);
    assert_non_null(strstr(error.text, "culex_seconds"));
    assert_int_equal(culex_client_new_ticket(world->client, &odd.id, NULL), CULEX_OK);
    odd.queue = "numbers";
    assert_int_equal(culex_client_wait(world->client, &odd, 1, 1, 0, &error), CULEX_ENOTFOUND);
    assert_non_null(strstr(error.text, "ticket"));
    assert_int_equal(world->waits, 0);
}

/* --- results ------------------------------------------------------------------------------- */

static culex_status wait_result(struct world *world, const culex_job_type *type, culex_uuid id,
                                culex_wait_end *ret_end, int64_t *ret_n, culex_error *error)
{
    culex_arena *arena = culex_arena_create();
    const void *result = NULL;
    assert_non_null(arena);
    culex_status status = culex_client_wait_result(world->client, type, id, culex_seconds(1), arena,
                                                   ret_end, &result, error);
    *ret_n = result != NULL ? ((const struct number *)result)->n : -1;
    culex_arena_free(arena);
    return status;
}

static void test_result_is_read_by_its_type(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type(), other = number_type();
    culex_wait_end end;
    culex_error error = {0};
    int64_t n;
    type.result = other.result = &number_struct;
    other.wire = "t.other";
    culex_wait wait = enqueue(world);
    later(world, 100, then_end);
    assert_int_equal(wait_result(world, &type, wait.id, &end, &n, &error), CULEX_OK);
    assert_int_equal(end, CULEX_WAIT_DONE);
    assert_int_equal(n, 7);
    assert_int_equal(wait_result(world, &other, wait.id, &end, &n, &error), CULEX_EINVAL);
    assert_int_equal(end, CULEX_WAIT_PENDING);
    other.result = NULL;
    assert_int_equal(wait_result(world, &other, wait.id, &end, &n, &error), CULEX_EINVAL);
    assert_non_null(strstr(error.text, "culex_client_wait"));
}

static void test_no_result_is_told_apart(void **state)
{
    struct world *world = *state;
    culex_job_type type = number_type();
    culex_wait_end end;
    culex_error error = {0};
    int64_t n;
    type.result = &number_struct;
    culex_wait wait = enqueue(world);
    assert_int_equal(wait_result(world, &type, wait.id, &end, &n, &error), CULEX_ESTATE);
    assert_int_equal(end, CULEX_WAIT_PENDING);
    wanted_event = CULEX_EVENT_DISCARD;
    wanted_text = "no such customer";
    then_end(world);
    assert_int_equal(wait_result(world, &type, wait.id, &end, &n, &error), CULEX_ESTATE);
    assert_int_equal(end, CULEX_WAIT_DEAD);
    assert_string_equal(error.text, "the run is dead: no such customer");
    wait = enqueue(world);
    then_cancel(world);
    assert_int_equal(wait_result(world, &type, wait.id, NULL, &n, &error), CULEX_ESTATE);
    assert_string_equal(error.text, "the run is cancelled");
    wait = enqueue(world);
    then_purge(world);
    assert_int_equal(wait_result(world, &type, wait.id, &end, &n, &error), CULEX_ENOTFOUND);
    assert_int_equal(end, CULEX_WAIT_FORGOTTEN);
}

/* --- real stores --------------------------------------------------------------------------- */

struct place {
    struct redis_server server;
    char folder[32];
    char url[160];
};

static int place_setup(void **state, bool is_redis)
{
    struct place *place = calloc(1, sizeof *place);
    assert_non_null(place);
    *state = place;
    strcpy(place->folder, "/tmp/culex-wait-XXXXXX");
    assert_non_null(mkdtemp(place->folder));
    snprintf(place->url, sizeof place->url, "sqlite:%s/w.db", place->folder);
    if (is_redis) {
        if (!redis_server_start(&place->server, NULL))
            skip();
        snprintf(place->url, sizeof place->url, "%s", place->server.url);
    }
    return 0;
}

static int setup_sqlite(void **state)
{
    return place_setup(state, false);
}

static int setup_redis(void **state)
{
    return place_setup(state, true);
}

static int place_teardown(void **state)
{
    struct place *place = *state;
    char command[64];
    redis_server_stop(&place->server);
    snprintf(command, sizeof command, "rm -rf %s", place->folder);
    assert_int_equal(system(command), 0);
    free(place);
    return 0;
}

static culex_client *client_open(const struct place *place)
{
    culex_client *client = NULL;
    culex_error error = {0};
    if (culex_client_open(place->url, NULL, &client, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return client;
}

static culex_job_type real_type(void)
{
    culex_job_type type = number_type();
    type.result = &number_struct;
    type.retry.base_ms = 100;
    return type;
}

static pid_t worker_pid; /* in the worker, and in its children */

static culex_outcome double_it(culex_run *run, culex_handler_fn handler, const void *params,
                               void *user)
{
    struct number result = *(const struct number *)params;
    (void)handler, (void)user;
    if (result.n < 0)
        return culex_run_discard(run, "no number below 0");
    if (result.n == 9 && culex_run_attempt(run) == 1)
        return culex_run_fail(run, "not yet");
    if (result.n == 13 && culex_run_attempt(run) == 1)
        kill(worker_pid, SIGKILL);
    result.n *= 2;
    return culex_run_set_result(run, &number_struct, &result, NULL) == CULEX_OK ? CULEX_DONE
                                                                                : CULEX_FAILED;
}

/* A worker in a process of its own, until it is killed. */
static pid_t worker_start(const struct place *place)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    worker_pid = getpid();
    const char *queues[] = {"numbers"};
    culex_worker_options options = {.url = place->url,
                                    .queues = queues,
                                    .queue_count = 1,
                                    .concurrency = 2,
                                    .lease_ms = 500,
                                    .log_level = 1};
    culex_job_type type = real_type();
    culex_worker *worker = NULL;
    if (culex_worker_create(&options, &worker, NULL) != CULEX_OK ||
        culex_worker_register(worker, &type, double_it, number_handler, NULL) != CULEX_OK)
        _exit(1);
    _exit(culex_worker_run(worker, NULL) == CULEX_OK ? 0 : 1);
}

static void worker_end(pid_t pid)
{
    int status;
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

static culex_uuid put(culex_client *client, int64_t n)
{
    culex_job_type type = real_type();
    struct number params = {n};
    culex_uuid id;
    culex_error error = {0};
    if (culex_client_enqueue(client, &type, &params, NULL, &id, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return id;
}

static culex_status ask(culex_client *client, culex_uuid id, int64_t *ret_n, culex_error *error)
{
    culex_job_type type = real_type();
    culex_arena *arena = culex_arena_create();
    const void *result = NULL;
    culex_status status =
        culex_client_wait_result(client, &type, id, culex_minutes(1), arena, NULL, &result, error);
    *ret_n = result != NULL ? ((const struct number *)result)->n : -1;
    culex_arena_free(arena);
    return status;
}

static void test_worker_of_another_process(void **state)
{
    const struct place *place = *state;
    pid_t worker = worker_start(place);
    culex_client *client = client_open(place);
    static const int64_t numbers[] = {1, 9, 0, 21};
    culex_error error = {0};
    int64_t n;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (ask(client, put(client, numbers[i]), &n, &error) != CULEX_OK)
            fail_msg("%s", error.text);
        assert_int_equal(n, 2 * numbers[i]);
    }
    assert_int_equal(ask(client, put(client, -1), &n, &error), CULEX_ESTATE);
    assert_string_equal(error.text, "the run is dead: no number below 0");
    culex_client_close(client);
    worker_end(worker);
}

/* Another one takes the run over, and its end is the one that is waited for. */
static void test_killed_worker(void **state)
{
    const struct place *place = *state;
    pid_t first = worker_start(place), second = worker_start(place);
    culex_client *client = client_open(place);
    culex_error error = {0};
    int64_t n;
    if (ask(client, put(client, 13), &n, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(n, 26);
    culex_client_close(client);
    worker_end(first);
    worker_end(second);
}

struct asker {
    pthread_t thread;
    culex_client *client;
    culex_wait wait;
    culex_status status;
};

static void *ask_in_thread(void *arg)
{
    struct asker *asker = arg;
    asker->status = culex_client_wait(asker->client, &asker->wait, 1, 1, culex_minutes(1), NULL);
    return NULL;
}

/* Each waits for another run, in one of two queues; they end one after the other, and meanwhile the
 * client takes calls. */
static void test_threads_share_a_client(void **state)
{
    const struct place *place = *state;
    culex_client *client = client_open(place), *other = client_open(place);
    culex_job_type type = real_type();
    struct asker askers[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        struct number params = {(int64_t)i};
        culex_enqueue_options options = culex_enqueue_options_make();
        askers[i] = (struct asker){.client = client};
        askers[i].wait.queue = options.queue = i % 2 == 0 ? "numbers" : "others";
        assert_int_equal(
            culex_client_enqueue(client, &type, &params, &options, &askers[i].wait.id, NULL),
            CULEX_OK);
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_in_thread, &askers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        size_t at = THREADS - 1 - i;
        culex_queue_stats stats;
        assert_int_equal(culex_client_stats(client, "numbers", &stats, NULL), CULEX_OK);
        assert_int_equal(
            culex_client_cancel(other, askers[at].wait.queue, askers[at].wait.id, NULL, NULL),
            CULEX_OK);
        assert_int_equal(pthread_join(askers[at].thread, NULL), 0);
        assert_int_equal(askers[at].status, CULEX_OK);
        assert_int_equal(askers[at].wait.end, CULEX_WAIT_CANCELLED);
        culex_run_info_free(askers[at].wait.run);
    }
    culex_client_close(other);
    culex_client_close(client);
}

/* The server goes and comes back, empty: the run is not there any more. */
static void test_server_that_dies_meanwhile(void **state)
{
    struct place *place = *state;
    culex_client *client = client_open(place);
    struct asker asker = {.client = client, .wait = {.queue = "numbers", .id = put(client, 1)}};
    assert_int_equal(pthread_create(&asker.thread, NULL, ask_in_thread, &asker), 0);
    redis_server_kill(&place->server);
    assert_true(redis_server_restart(&place->server));
    assert_int_equal(pthread_join(asker.thread, NULL), 0);
    assert_int_equal(asker.status, CULEX_OK);
    assert_int_equal(asker.wait.end, CULEX_WAIT_FORGOTTEN);
    culex_client_close(client);
}

static long long blpops_refused(const struct place *place)
{
    redisReply *reply = redis_server_command(&place->server, "INFO commandstats");
    assert_non_null(reply);
    const char *row = strstr(reply->str, "cmdstat_blpop:");
    const char *refused = row != NULL ? strstr(row, "rejected_calls=") : NULL;
    long long count = refused != NULL ? atoll(refused + strlen("rejected_calls=")) : 0;
    freeReplyObject(reply);
    return count;
}

/* A user who may not: the look of every second finds the end, and the server is left in peace. */
static void test_refused_blocking_read_is_no_spin(void **state)
{
    const struct place *place = *state;
    culex_client *client = client_open(place), *other = client_open(place);
    struct asker asker = {.client = client, .wait = {.queue = "numbers", .id = put(client, 1)}};
    redisReply *reply = redis_server_command(&place->server, "ACL SETUSER default -blpop");
    assert_non_null(reply);
    assert_int_equal(reply->type, REDIS_REPLY_STATUS);
    freeReplyObject(reply);
    int64_t begin_ns = culex__env_boottime_ns(culex__env_system());
    assert_int_equal(pthread_create(&asker.thread, NULL, ask_in_thread, &asker), 0);
    while (blpops_refused(place) < 3) {
        assert_true(culex__env_boottime_ns(culex__env_system()) - begin_ns < 60 * CULEX_SECOND);
        usleep(100000);
    }
    assert_int_equal(culex_client_cancel(other, "numbers", asker.wait.id, NULL, NULL), CULEX_OK);
    assert_int_equal(pthread_join(asker.thread, NULL), 0);
    assert_int_equal(asker.status, CULEX_OK);
    assert_int_equal(asker.wait.end, CULEX_WAIT_CANCELLED);
    int64_t seconds = (culex__env_boottime_ns(culex__env_system()) - begin_ns) / CULEX_SECOND;
    assert_in_range(blpops_refused(place), 3, 3 + 2 * seconds); /* however long it took */
    culex_run_info_free(asker.wait.run);
    culex_client_close(other);
    culex_client_close(client);
}

static void test_forked_process_cannot_wait(void **state)
{
    const struct place *place = *state;
    culex_client *client = client_open(place);
    culex_wait wait = {.queue = "numbers", .id = put(client, 1)};
    assert_int_equal(culex_client_wait(client, &wait, 1, 1, culex_milliseconds(1), NULL), CULEX_OK);
    pid_t pid = fork();
    if (pid == 0) {
        bool is_refused =
            culex_client_wait(client, &wait, 1, 1, culex_minutes(1), NULL) == CULEX_EINVAL;
        culex_client_close(client);
        _exit(is_refused ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    culex_client_close(client);
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
#define ON(store, test)                                                                            \
    {                                                                                              \
#test "_" #store, test, setup_##store, place_teardown, NULL                                \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(test_end_is_told_at_once),
        IN_WORLD(test_ends_are_told_apart),
        IN_WORLD(test_run_that_has_ended_needs_no_wait),
        IN_WORLD(test_timeout_is_no_failure),
        IN_WORLD(test_retry_to_come_is_no_end),
        IN_WORLD(test_first_of_many_then_all),
        IN_WORLD(test_many_of_two_queues_are_few_questions),
        IN_WORLD(test_store_that_is_away_is_waited_for),
        IN_WORLD(test_store_that_stays_away_fails_the_call),
        IN_WORLD(test_damaged_run_holds_up_no_other),
        IN_WORLD(test_lost_word_costs_seconds),
        IN_WORLD(test_nobody_waits_then),
        IN_WORLD(test_what_is_out_of_form_is_refused),
        IN_WORLD(test_result_is_read_by_its_type),
        IN_WORLD(test_no_result_is_told_apart),
        ON(sqlite, test_worker_of_another_process),
        ON(redis, test_worker_of_another_process),
        ON(sqlite, test_killed_worker),
        ON(redis, test_killed_worker),
        ON(sqlite, test_threads_share_a_client),
        ON(redis, test_threads_share_a_client),
        ON(redis, test_server_that_dies_meanwhile),
        ON(redis, test_refused_blocking_read_is_no_spin),
        ON(sqlite, test_forked_process_cannot_wait),
        ON(redis, test_forked_process_cannot_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
