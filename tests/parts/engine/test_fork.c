/* fork() with a client or a worker at hand: the child gets an error at every call, the parent goes
 * on as if there were no child, and nothing that was acknowledged is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <culex/maintain.h>

#include "redis_server.h"
#include "platform/descriptor.h"
#include "world.h"

enum { EACH = 6, DEADLINE_S = 30 };

/* Shared with children. */
struct counts {
    unsigned acknowledged;
    unsigned wrong;   /* answers that should have been another */
    unsigned touched; /* effects on the store by a process that must have none */
    bool is_child;    /* it is the child's turn */
    char text[CULEX_ERROR_TEXT_SIZE];
};

struct scene {
    struct redis_server server;
    char folder[32];
    char url[160];
    culex_client *client;
    struct counts *counts;
};

static culex_job_type type;

static int scene_open(void **state, const char *url)
{
    struct scene *scene = *state;
    type = number_type();
    snprintf(scene->url, sizeof scene->url, "%s", url);
    scene->counts = mmap(NULL, sizeof *scene->counts, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return scene->counts == MAP_FAILED ? -1 : culex_client_open(url, NULL, &scene->client, NULL);
}

static int sqlite_setup(void **state)
{
    char url[64];
    struct scene *scene = *state = calloc(1, sizeof *scene);
    strcpy(scene->folder, "/tmp/culex-fork-XXXXXX");
    if (mkdtemp(scene->folder) == NULL)
        return -1;
    snprintf(url, sizeof url, "sqlite:%s/s.db", scene->folder);
    return scene_open(state, url);
}

static int redis_setup(void **state)
{
    struct scene *scene = *state = calloc(1, sizeof *scene);
    return redis_server_start(&scene->server, NULL) ? scene_open(state, scene->server.url) : -1;
}

static int teardown(void **state)
{
    char command[64];
    struct scene *scene = *state;
    culex_client_close(scene->client);
    redis_server_stop(&scene->server);
    if (scene->folder[0] != '\0') {
        snprintf(command, sizeof command, "rm -r %s", scene->folder);
        assert_int_equal(system(command), 0);
    }
    munmap(scene->counts, sizeof *scene->counts);
    free(scene);
    return 0;
}

/* Runs `play` in a child, which must come to its end by itself. */
static void in_child(struct scene *scene, void (*play)(struct scene *scene))
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(DEADLINE_S);
        play(scene);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void enqueue_each(struct scene *scene)
{
    const struct number params = {7};
    for (int i = 0; i < EACH; i++) {
        if (culex_client_enqueue(scene->client, &type, &params, NULL, NULL, NULL) == CULEX_OK)
            scene->counts->acknowledged++;
    }
}

static uint64_t enqueued(culex_client *client)
{
    culex_queue_stats stats;
    assert_int_equal(culex_client_stats(client, "numbers", &stats, NULL), CULEX_OK);
    return stats.enqueued;
}

static void expect(struct scene *scene, culex_status wanted, culex_status got)
{
    scene->counts->wrong += got != wanted;
}

/* Ids come from a stock of random bits: both processes have the same one. */
static void test_what_is_acknowledged_in_either_process_is_there(void **state)
{
    struct scene *scene = *state;
    enqueue_each(scene);
    in_child(scene, enqueue_each);
    enqueue_each(scene);
    assert_int_equal(enqueued(scene->client), scene->counts->acknowledged);
    assert_int_equal(scene->counts->acknowledged, 2 * EACH);
}

static bool no_run(const culex_run_info *run, void *user)
{
    (void)run;
    (void)user;
    return true;
}

static bool no_queue(const char *queue, void *user)
{
    (void)queue;
    (void)user;
    return true;
}

static void call_everything(struct scene *scene)
{
    culex_client *client = scene->client;
    const struct number params = {1};
    culex_error error = {0};
    culex_uuid id = {{1}};
    culex_run_info *run;
    culex_queue_stats stats;
    culex_doctor_report *report;
    culex_fsck_counts fsck;
    culex_list_cursor cursor = {.place = 0};
    const culex_status no = CULEX_EINVAL;
    expect(scene, no, culex_client_enqueue(client, &type, &params, NULL, NULL, &error));
    memcpy(scene->counts->text, error.text, sizeof error.text);
    expect(scene, no,
           culex_client_enqueue_many(client, &type, &params, sizeof params, 1, NULL, NULL, NULL,
                                     NULL));
    expect(scene, no, culex_client_new_ticket(client, &id, NULL));
    expect(scene, no, culex_client_get(client, "numbers", id, &run, NULL));
    expect(scene, no,
           culex_client_list(client, "numbers", CULEX_RUN_WAITING, &cursor, 1, no_run, NULL, NULL));
    expect(scene, no, culex_client_cancel(client, "numbers", id, NULL, NULL));
    expect(scene, no, culex_client_retry(client, "numbers", id, NULL));
    expect(scene, no, culex_client_delete(client, "numbers", id, NULL));
    expect(scene, no, culex_client_pause(client, "numbers", NULL));
    expect(scene, no, culex_client_resume(client, "numbers", NULL));
    expect(scene, no, culex_client_limit(client, "numbers", 1, NULL));
    expect(scene, no, culex_client_purge(client, "numbers", CULEX_RUN_DEAD, 1, NULL, NULL));
    expect(scene, no, culex_client_stats(client, "numbers", &stats, NULL));
    expect(scene, no, culex_client_queues(client, no_queue, NULL, NULL));
    expect(scene, no, culex_client_doctor(client, &report, NULL));
    expect(scene, no, culex_client_fsck(client, "numbers", false, &fsck, NULL));
    culex_client_close(client);
}

static void test_every_call_in_the_child_says_whose_client_it_is(void **state)
{
    char whose[32];
    struct scene *scene = *state;
    in_child(scene, call_everything);
    assert_int_equal(scene->counts->wrong, 0);
    snprintf(whose, sizeof whose, "process %ld", (long)getpid());
    assert_non_null(strstr(scene->counts->text, whose));
    assert_non_null(strstr(scene->counts->text, "after fork()"));
    assert_non_null(strstr(scene->counts->text, "a handler has culex_run_client(run)"));
    enqueue_each(scene);
    assert_int_equal(enqueued(scene->client), EACH);
}

/* As a thread of the parent may hold it at the time of the fork. */
static void test_turn_that_nobody_will_give_does_not_stop_the_child(void **state)
{
    struct scene *scene = *state;
    struct culex_effort effort;
    assert_int_equal(culex__effort_begin(scene->client, &effort, NULL), CULEX_OK);
    pthread_mutex_lock(&scene->client->turn.lock);
    in_child(scene, call_everything);
    pthread_mutex_unlock(&scene->client->turn.lock);
    culex__effort_end(&effort, CULEX_OK, NULL);
    assert_int_equal(scene->counts->wrong, 0);
}

static void close_after_the_drop(struct scene *scene)
{
    struct stat file;
    culex__descriptors_drop(-1);
    int numbers[64], count = 0;
    while (count < 64 && (numbers[count] = dup(STDOUT_FILENO)) >= 0)
        count++;
    culex_client_close(scene->client);
    while (count > 0)
        scene->counts->wrong += fstat(numbers[--count], &file) != 0;
}

/* As in the process of a handler, which begins by closing what was ours. */
static void test_close_in_the_child_spares_numbers_that_it_uses_by_now(void **state)
{
    struct scene *scene = *state;
    in_child(scene, close_after_the_drop);
    assert_int_equal(scene->counts->wrong, 0);
}

/* --- the connection ---------------------------------------------------------------------- */

static struct counts *watched;
static ssize_t (*real_send)(void *self, int fd, const void *bytes, size_t len);

static ssize_t watched_send(void *self, int fd, const void *bytes, size_t len)
{
    watched->touched += watched->is_child;
    return real_send(self, fd, bytes, len);
}

static void call_everything_watched(struct scene *scene)
{
    scene->counts->is_child = true;
    call_everything(scene);
}

static void test_child_sends_nothing(void **state)
{
    struct scene *scene = *state;
    struct culex_env env = *culex__env_system();
    struct culex_store *store;
    watched = scene->counts;
    real_send = env.send;
    env.send = watched_send;
    culex_client_close(scene->client);
    scene->client = NULL;
    assert_int_equal(culex__store_open(scene->url, NULL, &env, &store, NULL), CULEX_OK);
    assert_int_equal(culex__client_create(store, 5000, &env, &scene->client, NULL), CULEX_OK);
    in_child(scene, call_everything_watched);
    assert_int_equal(scene->counts->touched, 0);
    scene->counts->is_child = false;
    enqueue_each(scene);
    assert_int_equal(enqueued(scene->client), EACH);
    culex_client_close(scene->client); /* before its env goes */
    scene->client = NULL;
}

/* --- SQLite's locks ------------------------------------------------------------------------ */

static void open_own(struct scene *scene)
{
    culex_client *own = NULL;
    culex_error error = {0};
    expect(scene, CULEX_EUNSUPPORTED, culex_client_open(scene->url, NULL, &own, &error));
    memcpy(scene->counts->text, error.text, sizeof error.text);
    culex_client_close(own);
}

static void open_own_and_enqueue(struct scene *scene)
{
    culex_client_close(scene->client);
    scene->client = NULL;
    if (culex_client_open(scene->url, NULL, &scene->client, NULL) == CULEX_OK)
        enqueue_each(scene);
    culex_client_close(scene->client);
}

/* SQLite would believe the child to have its parent's locks. */
static void test_file_that_the_parent_has_open_is_refused_to_the_child(void **state)
{
    struct scene *scene = *state;
    in_child(scene, open_own);
    assert_int_equal(scene->counts->wrong, 0);
    assert_non_null(strstr(scene->counts->text, "fork() before the store"));
}

static void test_file_that_was_closed_before_the_fork_is_opened(void **state)
{
    struct scene *scene = *state;
    culex_client_close(scene->client);
    scene->client = NULL;
    in_child(scene, open_own_and_enqueue);
    assert_int_equal(scene->counts->acknowledged, EACH);
    assert_int_equal(culex_client_open(scene->url, NULL, &scene->client, NULL), CULEX_OK);
    assert_int_equal(enqueued(scene->client), EACH);
}

static void test_redis_is_opened_again_beside_the_parents(void **state)
{
    struct scene *scene = *state;
    in_child(scene, open_own_and_enqueue);
    enqueue_each(scene);
    assert_int_equal(scene->counts->acknowledged, 2 * EACH);
    assert_int_equal(enqueued(scene->client), 2 * EACH);
}

/* A store in memory would be a copy. */
static void test_memory_of_the_parent_is_refused_to_the_child(void **state)
{
    struct scene *scene = *state;
    culex_client_close(scene->client);
    strcpy(scene->url, "memory:fork");
    assert_int_equal(culex_client_open(scene->url, NULL, &scene->client, NULL), CULEX_OK);
    in_child(scene, open_own);
    assert_int_equal(scene->counts->wrong, 0);
}

static void close_only(struct scene *scene)
{
    culex_client_close(scene->client);
}

static void visit_and_close(struct scene *scene)
{
    culex_client *own;
    expect(scene, CULEX_OK, culex_client_open(scene->url, NULL, &own, NULL));
    culex_client_close(own);
}

/* Closing writes the log back into the file, which is the parent's to do. */
static void test_close_in_the_child_writes_nothing(void **state)
{
    struct scene *scene = *state;
    char file[64];
    struct stat before, after;
    snprintf(file, sizeof file, "%s/s.db", scene->folder);
    enqueue_each(scene);
    assert_int_equal(stat(file, &before), 0);
    in_child(scene, close_only);
    assert_int_equal(stat(file, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);
    assert_int_equal(enqueued(scene->client), EACH);
}

/* The last one to close a file removes its log: another process must still see that the parent has
 * it open, whatever a child did. */
static void test_close_in_the_child_leaves_the_parents_locks(void **state)
{
    struct scene *scene = *state;
    char log[64];
    struct stat before, after;
    snprintf(log, sizeof log, "%s/s.db-wal", scene->folder);
    int go[2];
    char byte;
    assert_int_equal(pipe(go), 0);
    culex_client_close(scene->client);
    pid_t stranger = fork();
    assert_true(stranger >= 0);
    if (stranger == 0) {
        alarm(DEADLINE_S);
        if (read(go[0], &byte, 1) == 1)
            visit_and_close(scene);
        _exit(0);
    }
    assert_int_equal(culex_client_open(scene->url, NULL, &scene->client, NULL), CULEX_OK);
    in_child(scene, close_only);
    enqueue_each(scene);
    assert_int_equal(stat(log, &before), 0);
    assert_int_equal(write(go[1], "x", 1), 1);
    assert_int_equal(waitpid(stranger, NULL, 0), stranger);
    assert_int_equal(scene->counts->wrong, 0);
    assert_int_equal(stat(log, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(enqueued(scene->client), EACH);
    close(go[0]);
    close(go[1]);
}

/* --- a worker ---------------------------------------------------------------------------- */

static culex_worker *worker;

static void run_and_stop(struct scene *scene)
{
    culex_error error = {0};
    culex_worker_stop(worker);
    expect(scene, CULEX_EINVAL, culex_worker_run(worker, &error));
    memcpy(scene->counts->text, error.text, sizeof error.text);
    culex_worker_free(worker);
}

/* A signal handler that the child inherits would stop the parent's worker. */
static void test_worker_is_neither_run_nor_stopped_by_the_child(void **state)
{
    struct scene *scene = *state;
    uint64_t stops;
    assert_int_equal(culex_worker_create(NULL, &worker, NULL), CULEX_OK);
    assert_int_equal(culex_worker_register(worker, &type, number_call, number_handler, NULL),
                     CULEX_OK);
    in_child(scene, run_and_stop);
    assert_int_equal(scene->counts->wrong, 0);
    assert_non_null(strstr(scene->counts->text, "after fork()"));
    assert_int_equal(read(worker->stop_fd, &stops, sizeof stops), -1);
    culex_worker_free(worker);
}

#define ON_BOTH(test)                                                                              \
    {#test " (sqlite)", test, sqlite_setup, teardown, NULL},                                       \
    {                                                                                              \
#test " (redis)", test, redis_setup, teardown, NULL                                        \
    }
#define ON_SQLITE(test) cmocka_unit_test_setup_teardown(test, sqlite_setup, teardown)
#define ON_REDIS(test)  cmocka_unit_test_setup_teardown(test, redis_setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(test_what_is_acknowledged_in_either_process_is_there),
        ON_BOTH(test_every_call_in_the_child_says_whose_client_it_is),
        ON_BOTH(test_turn_that_nobody_will_give_does_not_stop_the_child),
        ON_BOTH(test_close_in_the_child_spares_numbers_that_it_uses_by_now),
        ON_REDIS(test_child_sends_nothing),
        ON_REDIS(test_redis_is_opened_again_beside_the_parents),
        ON_SQLITE(test_file_that_the_parent_has_open_is_refused_to_the_child),
        ON_SQLITE(test_file_that_was_closed_before_the_fork_is_opened),
        ON_SQLITE(test_memory_of_the_parent_is_refused_to_the_child),
        ON_SQLITE(test_close_in_the_child_writes_nothing),
        ON_SQLITE(test_close_in_the_child_leaves_the_parents_locks),
        ON_SQLITE(test_worker_is_neither_run_nor_stopped_by_the_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
