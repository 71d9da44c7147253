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

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/client_private.h"
#include "client/spooling.h"
#include "spool_scene.h"

enum { SOME = 30, MANY = 450, PROCESSES = 4 };

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
    number_add(hasty, 1, CULEX_ENQUEUE_NEW); /* the server knows the queue from it */
    assert_int_equal(kill(scene->server.pid, SIGSTOP), 0);
    number_add(hasty, 2, CULEX_ENQUEUE_SPOOLED);
    number_add(hasty, 3, CULEX_ENQUEUE_SPOOLED);
    assert_int_equal(kill(scene->server.pid, SIGCONT), 0);
    culex_client_close(hasty);
    forward_all(scene->client);
    claims_expect(scene, "q", 0, 4);
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

/* --- who goes behind others ------------------------------------------------------------------- */

/* While another client forwards, which this one knows nothing else of. */
static void test_who_goes_behind_others_says_so(void **state)
{
    struct scene *scene = *state;
    bool is_ours = false;
    scene->client = client_open(scene, 0);
    culex_client *other = client_open(scene, 0);
    redis_server_kill(&scene->server);
    number_add(scene->client, 0, CULEX_ENQUEUE_SPOOLED);
    assert_true(redis_server_restart(&scene->server));
    struct culex_spool *file = scene->client->spooling->file;
    assert_int_equal(culex__spool_lock(file, &is_ours, NULL), CULEX_OK);
    assert_true(is_ours);
    other->spooling->reason = (culex_error){.code = CULEX_ECONNECT, .text = "of an hour ago"};
    number_add(other, 1, CULEX_ENQUEUE_SPOOLED);
    assert_string_equal(other->spooling->reason.text, "queue 'q' has others before it");
    assert_int_equal(culex_client_forward(other, 0, NULL, NULL), CULEX_EBUSY);
    culex__spool_unlock(file);
    forward_all(other);
    claims_expect(scene, "q", 0, 2);
    culex_client_close(other);
}

/* The system's effects, with a clock that goes on by as much with each message. */
static struct culex_env slow;
static int64_t slow_ns;

static int64_t slow_boottime_ns(void *self)
{
    return culex__env_system()->boottime_ns(self) + slow_ns;
}

static ssize_t slow_send(void *self, int fd, const void *bytes, size_t len)
{
    slow_ns += INT64_C(200000000);
    return culex__env_system()->send(self, fd, bytes, len);
}

static void test_who_forwards_has_time_for_its_own(void **state)
{
    struct scene *scene = *state;
    const struct culex_store_options options = {.timeout_ms = PATIENT_MS / 2};
    const culex_client_options told = {.spool = scene->spool};
    struct culex_store *store = NULL;
    culex_enqueue_outcome outcome = CULEX_ENQUEUE_SPOOLED;
    char queue[16];
    redis_server_kill(&scene->server);
    culex_client *away = client_open(scene, 0);
    for (int i = 0; i < SOME; i++) {
        snprintf(queue, sizeof queue, "q%d", i);
        assert_int_equal(number_try(away, queue, 0, NULL, NULL), CULEX_OK);
    }
    culex_client_close(away);
    assert_true(redis_server_restart(&scene->server));
    slow = *culex__env_system();
    slow.boottime_ns = slow_boottime_ns;
    slow.send = slow_send;
    slow_ns = 0;
    assert_int_equal(culex__store_open(scene->server.url, &options, &slow, &store, NULL), CULEX_OK);
    assert_int_equal(culex__client_create(store, PATIENT_MS, &slow, &scene->client, NULL),
                     CULEX_OK);
    assert_int_equal(culex__spooling_open(&told, store, &slow, &scene->client->spooling, NULL),
                     CULEX_OK);
    assert_int_equal(number_try(scene->client, "own", 0, &outcome, NULL), CULEX_OK);
    assert_int_equal(outcome, CULEX_ENQUEUE_NEW);
    assert_in_range(stats_of(scene->client).runs, 1, SOME - 1);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_begin, scene_end)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_runs_wait_for_the_server_and_come_in_order),
        TEST(test_enqueues_forward_what_waits),
        TEST(test_many_go_in_one_call),
        TEST(test_a_call_without_an_answer_brings_one_run),
        TEST(test_who_goes_behind_others_says_so),
        TEST(test_who_forwards_has_time_for_its_own),
        TEST(test_processes_share_a_spool),
        TEST(test_who_dies_while_forwarding_loses_and_doubles_nothing),
        TEST(test_a_full_queue_keeps_its_runs_and_holds_up_no_other),
        TEST(test_what_the_store_may_have_forgotten_stands_aside),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
