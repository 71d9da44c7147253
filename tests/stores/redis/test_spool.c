/* A client's spool, with a server that is killed and comes back: no run is lost, none comes twice,
 * and all come in their order, also when whoever forwards them dies at any of its calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <culex/spool.h>

#include "client/client_private.h"
#include "client/spooling.h"
#include "redis_server.h"
#include "world.h"

enum { SOME = 30, MANY = 450, PROCESSES = 4, PATIENT_MS = 8000, HASTY_MS = 1000 };

struct scene {
    struct redis_server server;
    char spool[128];
    culex_client *client;
};

/* --- the scene ------------------------------------------------------------------------------ */

/* A busy machine has time to answer in half of PATIENT_MS; who waits for no answer is HASTY_MS. */
static culex_client *client_open_for(struct scene *scene, int64_t timeout_ms, uint64_t runs_max)
{
    culex_client *client = NULL;
    culex_error error = {0};
    const culex_client_options options = {
        .timeout_ms = timeout_ms, .spool = scene->spool, .spool_runs = runs_max};
    if (culex_client_open(scene->server.url, &options, &client, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return client;
}

static culex_client *client_open(struct scene *scene, uint64_t runs_max)
{
    return client_open_for(scene, PATIENT_MS, runs_max);
}

static int scene_begin(void **state)
{
    static const char *const lasting[] = {"--appendonly", "yes", "--appendfsync", "always", NULL};
    struct scene *scene = calloc(1, sizeof *scene);
    if (scene == NULL || !redis_server_start(&scene->server, lasting))
        return -1;
    snprintf(scene->spool, sizeof scene->spool, "%s/spool", scene->server.folder);
    *state = scene;
    return 0;
}

static int scene_end(void **state)
{
    struct scene *scene = *state;
    culex_client_close(scene->client);
    redis_server_stop(&scene->server);
    free(scene);
    return 0;
}

static culex_status number_try(culex_client *client, const char *queue, int64_t n,
                               culex_enqueue_outcome *ret_outcome, culex_error *error)
{
    const culex_job_type type = number_type();
    const struct number number = {n};
    culex_enqueue_options options = culex_enqueue_options_make();
    options.queue = queue;
    options.ret_outcomes = ret_outcome;
    return culex_client_enqueue(client, &type, &number, &options, NULL, error);
}

static void number_add(culex_client *client, int64_t n, culex_enqueue_outcome expected)
{
    culex_error error = {0};
    culex_enqueue_outcome outcome = CULEX_ENQUEUE_NEW;
    if (number_try(client, "q", n, &outcome, &error) != CULEX_OK)
        fail_msg("%lld: %s", (long long)n, error.text);
    assert_int_equal(outcome, expected);
}

static void forward_all(culex_client *client)
{
    culex_forward_counts counts = {.left = 1};
    culex_error error = {0};
    while (counts.left > 0) {
        if (culex_client_forward(client, 0, &counts, &error) != CULEX_OK)
            fail_msg("%s", error.text);
    }
}

/* Claims all of a queue, and asserts that they are first, first + 1 ... in this order. */
static void claims_expect(struct scene *scene, const char *queue, int64_t first, size_t count)
{
    culex_client *client = NULL;
    culex_error error = {0};
    assert_int_equal(culex_client_open(scene->server.url, NULL, &client, &error), CULEX_OK);
    struct culex_store *store = client->store;
    struct culex_step step = {
        .queue = queue, .session = "aaaaaaaaaaaaaaaa", .nonce = 1, .lease_ms = 60000, .want = 100};
    size_t met = 0;
    for (bool is_over = false; !is_over; step.nonce++) {
        struct culex_step_reply reply;
        if (store->ops->step(store, &step, &reply, &error) != CULEX_OK)
            fail_msg("%s", error.text);
        for (size_t i = 0; i < reply.grant_count; i++, met++) {
            char expected[32];
            int len = snprintf(expected, sizeof expected, "{\"n\":%lld}",
                               (long long)first + (long long)met);
            if ((size_t)len != reply.grants[i].payload_len ||
                memcmp(expected, reply.grants[i].payload, (size_t)len) != 0)
                fail_msg("place %zu: %.*s, not %s", met, (int)reply.grants[i].payload_len,
                         (const char *)reply.grants[i].payload, expected);
        }
        is_over = reply.grant_count == 0;
        store->ops->step_release(store, &reply);
    }
    assert_int_equal(met, count);
    culex_client_close(client);
}

static culex_spool_stats stats_of(culex_client *client)
{
    culex_spool_stats stats;
    culex_error error = {0};
    if (culex_client_spool_stats(client, &stats, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return stats;
}

/* --- a server that goes and comes ------------------------------------------------------------ */

static void test_runs_wait_for_the_server_and_come_in_order(void **state)
{
    struct scene *scene = *state;
    scene->client = client_open(scene, 0);
    number_add(scene->client, 0, CULEX_ENQUEUE_NEW);
    assert_int_equal(stats_of(scene->client).runs, 0);
    redis_server_kill(&scene->server);
    for (int64_t n = 1; n <= MANY; n++)
        number_add(scene->client, n, CULEX_ENQUEUE_SPOOLED);
    assert_int_equal(stats_of(scene->client).runs, MANY);
    assert_true(stats_of(scene->client).oldest_ms > 0);
    assert_true(redis_server_restart(&scene->server));
    forward_all(scene->client);
    number_add(scene->client, MANY + 1, CULEX_ENQUEUE_NEW);
    assert_int_equal(stats_of(scene->client).runs, 0);
    assert_int_equal(stats_of(scene->client).bytes, 0);
    claims_expect(scene, "q", 0, MANY + 2);
}

/* Without anybody who asks for it; a call that comes before the line is empty stands behind it. */
static void test_enqueues_forward_what_waits(void **state)
{
    struct scene *scene = *state;
    redis_server_kill(&scene->server);
    scene->client = client_open(scene, 0);
    for (int64_t n = 0; n < MANY; n++)
        number_add(scene->client, n, CULEX_ENQUEUE_SPOOLED);
    assert_true(redis_server_restart(&scene->server));
    scene->client->spooling->away_until_ns = 0;
    number_add(scene->client, MANY, CULEX_ENQUEUE_SPOOLED);
    assert_int_equal(stats_of(scene->client).runs, MANY + 1 - 400);
    number_add(scene->client, MANY + 1, CULEX_ENQUEUE_NEW);
    claims_expect(scene, "q", 0, MANY + 2);
}

static void test_many_go_in_one_call(void **state)
{
    struct scene *scene = *state;
    const culex_job_type type = number_type();
    static struct number numbers[MANY];
    static culex_uuid ids[MANY];
    const culex_uuid none = {{0}};
    size_t count = 0;
    culex_enqueue_options options = culex_enqueue_options_make();
    options.queue = "q";
    for (int64_t n = 0; n < MANY; n++)
        numbers[n].n = n;
    redis_server_kill(&scene->server);
    scene->client = client_open(scene, 0);
    assert_int_equal(culex_client_enqueue_many(scene->client, &type, numbers, sizeof *numbers, MANY,
                                               &options, ids, &count, NULL),
                     CULEX_OK);
    assert_int_equal(count, MANY);
    assert_memory_equal(&ids[MANY - 1], &none, sizeof none);
    assert_true(redis_server_restart(&scene->server));
    forward_all(scene->client);
    claims_expect(scene, "q", 0, MANY);
}

/* Whether a call that got no answer has brought its run, the store knows by the call's ticket. */
static void test_a_call_without_an_answer_brings_one_run(void **state)
{
    struct scene *scene = *state;
    scene->client = client_open(scene, 0);
    number_add(scene->client, 0, CULEX_ENQUEUE_NEW);
    culex_client *hasty = client_open_for(scene, HASTY_MS, 0);
    culex_uuid ticket;
    assert_int_equal(culex_client_new_ticket(hasty, &ticket, NULL), CULEX_OK); /* it is connected */
    assert_int_equal(kill(scene->server.pid, SIGSTOP), 0);
    number_add(hasty, 1, CULEX_ENQUEUE_SPOOLED);
    number_add(hasty, 2, CULEX_ENQUEUE_SPOOLED);
    assert_int_equal(kill(scene->server.pid, SIGCONT), 0);
    culex_client_close(hasty);
    forward_all(scene->client);
    claims_expect(scene, "q", 0, 3);
}

static void add_and_leave(struct scene *scene, int place)
{
    char queue[16];
    culex_client *client = NULL;
    culex_error error = {0};
    const culex_client_options options = {.timeout_ms = PATIENT_MS, .spool = scene->spool};
    if (culex_client_open(scene->server.url, &options, &client, &error) != CULEX_OK) {
        fprintf(stderr, "%s\n", error.text);
        _exit(1);
    }
    snprintf(queue, sizeof queue, "q%d", place);
    for (int64_t n = 0; n < SOME; n++) {
        if (number_try(client, queue, n, NULL, &error) != CULEX_OK) {
            fprintf(stderr, "%s\n", error.text);
            _exit(1);
        }
    }
    culex_client_close(client);
    _exit(0);
}

static void test_processes_share_a_spool(void **state)
{
    struct scene *scene = *state;
    pid_t children[PROCESSES];
    redis_server_kill(&scene->server);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0)
            add_and_leave(scene, i);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int ended = 1;
        assert_int_equal(waitpid(children[i], &ended, 0), children[i]);
        assert_int_equal(ended, 0);
    }
    assert_true(redis_server_restart(&scene->server));
    scene->client = client_open(scene, 0);
    assert_int_equal(stats_of(scene->client).runs, PROCESSES * SOME);
    forward_all(scene->client);
    for (int i = 0; i < PROCESSES; i++) {
        char queue[16];
        snprintf(queue, sizeof queue, "q%d", i);
        claims_expect(scene, queue, 0, SOME);
    }
}

/* --- who dies while it forwards --------------------------------------------------------------- */

/* The system's effects, of which one is the last. */
static struct culex_env mortal;
static unsigned steps_left;

static void step_take(void)
{
    if (steps_left-- == 0)
        kill(getpid(), SIGKILL);
}

static int64_t mortal_boottime_ns(void *self)
{
    step_take();
    return culex__env_system()->boottime_ns(self);
}

static int64_t mortal_clock_ms(void *self)
{
    step_take();
    return culex__env_system()->clock_ms(self);
}

static ssize_t mortal_send(void *self, int fd, const void *bytes, size_t len)
{
    step_take();
    ssize_t sent = culex__env_system()->send(self, fd, bytes, len);
    step_take();
    return sent;
}

static ssize_t mortal_recv(void *self, int fd, void *ret_bytes, size_t len, int timeout_ms)
{
    step_take();
    ssize_t got = culex__env_system()->recv(self, fd, ret_bytes, len, timeout_ms);
    step_take();
    return got;
}

static void forward_mortally(struct scene *scene, unsigned steps)
{
    mortal = *culex__env_system();
    mortal.boottime_ns = mortal_boottime_ns;
    mortal.clock_ms = mortal_clock_ms;
    mortal.send = mortal_send;
    mortal.recv = mortal_recv;
    steps_left = UINT32_MAX;
    const struct culex_store_options options = {.timeout_ms = 2000};
    const culex_client_options told = {.spool = scene->spool};
    struct culex_store *store = NULL;
    culex_client *client = NULL;
    if (culex__store_open(scene->server.url, &options, &mortal, &store, NULL) != CULEX_OK ||
        culex__client_create(store, 2000, &mortal, &client, NULL) != CULEX_OK ||
        culex__spooling_open(&told, store, &mortal, &client->spooling, NULL) != CULEX_OK)
        _exit(2);
    steps_left = steps;
    culex_status status = culex_client_forward(client, 7, NULL, NULL);
    steps_left = UINT32_MAX;
    _exit(status == CULEX_OK ? 0 : 1);
}

/* Each of its calls is the last of one process, and the next goes on with what that left. */
static void test_who_dies_while_forwarding_loses_and_doubles_nothing(void **state)
{
    struct scene *scene = *state;
    unsigned deaths = 0, lives = 0;
    redis_server_kill(&scene->server);
    culex_client *client = client_open(scene, 0);
    for (int64_t n = 0; n < SOME; n++)
        number_add(client, n, CULEX_ENQUEUE_SPOOLED);
    culex_client_close(client); /* children inherit none */
    assert_true(redis_server_restart(&scene->server));
    for (unsigned steps = 0; lives < SOME / 7 + 1; steps++) {
        int ended = 0;
        pid_t child = fork();
        if (child == 0)
            forward_mortally(scene, steps);
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_true(WIFSIGNALED(ended) || WEXITSTATUS(ended) == 0);
        deaths += WIFSIGNALED(ended);
        lives += WIFEXITED(ended);
    }
    assert_true(deaths > 10);
    scene->client = client_open(scene, 0);
    assert_int_equal(stats_of(scene->client).runs, 0);
    assert_int_equal(stats_of(scene->client).aside, 0);
    claims_expect(scene, "q", 0, SOME);
}

/* --- what the store will not take ------------------------------------------------------------- */

static bool aside_note(const culex_spool_run *run, void *user)
{
    snprintf(user, CULEX_ERROR_TEXT_SIZE, "%s: %s", run->queue, run->reason);
    return true;
}

static void test_a_full_queue_keeps_its_runs_and_holds_up_no_other(void **state)
{
    struct scene *scene = *state;
    culex_forward_counts counts;
    culex_error error = {0};
    scene->client = client_open(scene, 0);
    number_add(scene->client, 0, CULEX_ENQUEUE_NEW);
    assert_int_equal(culex_client_limit(scene->client, "q", 2, NULL), CULEX_OK);
    redis_server_kill(&scene->server);
    for (int64_t n = 1; n < 4; n++)
        number_add(scene->client, n, CULEX_ENQUEUE_SPOOLED);
    assert_int_equal(number_try(scene->client, "r", 0, NULL, NULL), CULEX_OK);
    assert_true(redis_server_restart(&scene->server));
    assert_int_equal(culex_client_forward(scene->client, 0, &counts, &error), CULEX_EFULL);
    assert_non_null(strstr(error.text, "queue 'q' is full"));
    assert_int_equal(counts.forwarded, 2);
    assert_int_equal(counts.left, 2);
    assert_int_equal(counts.aside, 0);
    claims_expect(scene, "r", 0, 1);
    assert_int_equal(culex_client_limit(scene->client, "q", 0, NULL), CULEX_OK);
    forward_all(scene->client);
    claims_expect(scene, "q", 0, 4);
}

/* Marks what waits as sent long ago: whoever sent it died, and comes back too late. */
static void test_what_the_store_may_have_forgotten_stands_aside(void **state)
{
    struct scene *scene = *state;
    char seen[CULEX_ERROR_TEXT_SIZE] = "";
    uint64_t count = 0;
    redis_server_kill(&scene->server);
    scene->client = client_open(scene, 0);
    number_add(scene->client, 0, CULEX_ENQUEUE_SPOOLED);
    const struct culex_spool_change old = {
        .number = 1, .fate = CULEX_SPOOL_TRIED, .tried_ms = 1000};
    assert_int_equal(culex__spool_change(scene->client->spooling->file, &old, 1, NULL), CULEX_OK);
    assert_true(redis_server_restart(&scene->server));
    forward_all(scene->client);
    assert_int_equal(stats_of(scene->client).aside, 1);
    assert_int_equal(culex_client_spool_aside(scene->client, aside_note, seen, NULL), CULEX_OK);
    assert_non_null(strstr(seen, "q: it may be in the store"));
    number_add(scene->client, 1, CULEX_ENQUEUE_NEW); /* nothing waits for it */
    assert_int_equal(culex_client_spool_again(scene->client, 2, &count, NULL), CULEX_ENOTFOUND);
    assert_int_equal(culex_client_spool_again(scene->client, 1, &count, NULL), CULEX_OK);
    assert_int_equal(count, 1);
    forward_all(scene->client);
    assert_int_equal(stats_of(scene->client).aside, 0);
    redisReply *reply = redis_server_command(&scene->server, "PING");
    freeReplyObject(reply);
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(scene->client, "q", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.count[CULEX_RUN_WAITING], 2);
}

/* --- the file --------------------------------------------------------------------------------- */

static void test_a_full_spool_refuses_and_loses_nothing(void **state)
{
    struct scene *scene = *state;
    culex_error error = {0};
    redis_server_kill(&scene->server);
    scene->client = client_open(scene, 2);
    number_add(scene->client, 0, CULEX_ENQUEUE_SPOOLED);
    number_add(scene->client, 1, CULEX_ENQUEUE_SPOOLED);
    assert_int_equal(number_try(scene->client, "q", 2, NULL, &error), CULEX_EFULL);
    assert_non_null(strstr(error.text, "is full, with 2 runs"));
    assert_true(redis_server_restart(&scene->server));
    forward_all(scene->client);
    claims_expect(scene, "q", 0, 2);
}

/* The limit of a file's size, at which a write fails as on a full disk. */
static void test_a_full_disk_refuses_and_loses_nothing(void **state)
{
    struct scene *scene = *state;
    struct rlimit before, tight;
    struct stat info;
    culex_error error = {0};
    int64_t n = 0;
    redis_server_kill(&scene->server);
    scene->client = client_open(scene, 0);
    for (; n < SOME; n++)
        number_add(scene->client, n, CULEX_ENQUEUE_SPOOLED);
    assert_int_equal(stat(scene->spool, &info), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    tight = before;
    tight.rlim_cur = (rlim_t)info.st_size;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    culex_status status = CULEX_OK;
    for (; status == CULEX_OK && n < 10000; n += status == CULEX_OK)
        status = number_try(scene->client, "q", n, NULL, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, CULEX_EFULL);
    assert_non_null(strstr(error.text, "make room"));
    assert_int_equal(stats_of(scene->client).runs, n);
    assert_true(redis_server_restart(&scene->server));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    forward_all(scene->client); /* the journal has its space */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    claims_expect(scene, "q", 0, (size_t)n);
}

static culex_status open_try(struct scene *scene, const char *path, culex_error *error)
{
    culex_client *client = NULL;
    const culex_client_options options = {.timeout_ms = 2000, .spool = path};
    culex_status status = culex_client_open(scene->server.url, &options, &client, error);
    culex_client_close(client);
    return status;
}

static void file_write(const char *path, const char *text, size_t len)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static void test_files_that_are_no_spool_are_refused(void **state)
{
    struct scene *scene = *state;
    culex_error error = {0};
    char path[160], url[200], noise[8192];
    culex_client *other = NULL;
    memset(noise, 'x', sizeof noise);
    snprintf(path, sizeof path, "%s/noise", scene->server.folder);
    file_write(path, noise, sizeof noise);
    assert_int_equal(open_try(scene, path, &error), CULEX_ECORRUPT);
    assert_non_null(strstr(error.text, "noise"));
    snprintf(path, sizeof path, "%s/store", scene->server.folder);
    snprintf(url, sizeof url, "sqlite:%s", path);
    assert_int_equal(culex_client_open(url, NULL, &other, NULL), CULEX_OK);
    culex_client_close(other);
    assert_int_equal(open_try(scene, path, &error), CULEX_ECORRUPT);
    assert_non_null(strstr(error.text, "is a store, not a spool"));
    assert_int_equal(open_try(scene, scene->server.folder, &error), CULEX_EINVAL);
    assert_int_equal(open_try(scene, "/nowhere/spool", &error), CULEX_ECONNECT);
    assert_int_equal(open_try(scene, "", &error), CULEX_OK + CULEX_EINVAL);
}

static void test_a_damaged_spool_is_told(void **state)
{
    struct scene *scene = *state;
    culex_error error = {0};
    redis_server_kill(&scene->server);
    culex_client *client = client_open(scene, 0);
    for (int64_t n = 0; n < SOME; n++)
        number_add(client, n, CULEX_ENQUEUE_SPOOLED);
    culex_client_close(client);
    assert_true(redis_server_restart(&scene->server));
    assert_int_equal(truncate(scene->spool, 6000), 0);
    assert_int_equal(open_try(scene, scene->spool, &error), CULEX_ECORRUPT);
}

static void test_a_spool_that_was_removed_takes_nothing(void **state)
{
    struct scene *scene = *state;
    culex_error error = {0};
    redis_server_kill(&scene->server);
    scene->client = client_open(scene, 0);
    assert_int_equal(unlink(scene->spool), 0);
    assert_int_equal(number_try(scene->client, "q", 0, NULL, &error), CULEX_EMOVED);
}

static void test_a_spool_serves_one_store(void **state)
{
    struct scene *scene = *state;
    culex_error error = {0};
    culex_client *other = NULL;
    redis_server_kill(&scene->server);
    scene->client = client_open(scene, 0);
    number_add(scene->client, 0, CULEX_ENQUEUE_SPOOLED);
    const culex_client_options options = {.spool = scene->spool, .prefix = "other"};
    assert_int_equal(culex_client_open(scene->server.url, &options, &other, &error), CULEX_EINVAL);
    assert_non_null(strstr(error.text, "for another store"));
}

static void test_a_store_in_memory_has_no_use_for_it(void **state)
{
    struct scene *scene = *state;
    const culex_client_options options = {.spool = scene->spool};
    culex_spool_stats stats;
    assert_int_equal(culex_client_open("memory:", &options, &scene->client, NULL), CULEX_OK);
    assert_int_equal(culex_client_spool_stats(scene->client, &stats, NULL), CULEX_EINVAL);
    assert_int_equal(access(scene->spool, F_OK), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_begin, scene_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_runs_wait_for_the_server_and_come_in_order),
        TEST(test_enqueues_forward_what_waits),
        TEST(test_many_go_in_one_call),
        TEST(test_a_call_without_an_answer_brings_one_run),
        TEST(test_processes_share_a_spool),
        TEST(test_who_dies_while_forwarding_loses_and_doubles_nothing),
        TEST(test_a_full_queue_keeps_its_runs_and_holds_up_no_other),
        TEST(test_what_the_store_may_have_forgotten_stands_aside),
        TEST(test_a_full_spool_refuses_and_loses_nothing),
        TEST(test_a_full_disk_refuses_and_loses_nothing),
        TEST(test_files_that_are_no_spool_are_refused),
        TEST(test_a_damaged_spool_is_told),
        TEST(test_a_spool_that_was_removed_takes_nothing),
        TEST(test_a_spool_serves_one_store),
        TEST(test_a_store_in_memory_has_no_use_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
