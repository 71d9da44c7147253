/* Several processes on one file: nothing lost, nothing twice, also when they are killed midway. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SESSION "5e55"

enum { PRODUCERS = 2, WORKERS = 2, RUNS_EACH = 400, KILLS = 20, DEADLINE_MS = 20000 };

/* The children's stores: patient, real clock. */
static struct culex_store *open_patient(struct fixture *fixture, int version)
{
    struct culex_store_options options = {.timeout_ms = 20000, .synchronous = "normal"};
    struct culex_store *store = NULL;
    culex_error error;
    if (culex__sqlite_open_as(version, fixture->path, false, &options, culex__env_system(), &store,
                              &error) != CULEX_OK) {
        fprintf(stderr, "open: %s\n", error.text);
        _exit(2);
    }
    return store;
}

static int64_t real_now(void)
{
    return culex__env_clock_ms(culex__env_system());
}

static struct culex_new_run real_run(void)
{
    struct culex_new_run run = fixture_run("payload", 7);
    run.keep_success_ms = 3600000; /* so that they can be counted */
    return run;
}

/* --- producers and workers ------------------------------------------------------------- */

/* Writes each id that was acknowledged into the pipe. */
static void produce(struct fixture *fixture, int version, int out, int count)
{
    struct culex_store *store = open_patient(fixture, version);
    for (int i = 0; i < count; i++) {
        struct culex_new_run run = real_run();
        struct culex_enqueue_result result;
        culex_error error;
        if (store->ops->enqueue(store, "q", NULL, &run, 1, &result, &error) != CULEX_OK) {
            fprintf(stderr, "enqueue: %s\n", error.text);
            _exit(3);
        }
        if (out >= 0 && write(out, &result.id, sizeof result.id) != (ssize_t)sizeof result.id)
            _exit(4);
    }
    store->ops->close(store);
    _exit(0);
}

/* Claims and reports until `count` runs are done, whoever did them. */
static void work(struct fixture *fixture, int version, uint64_t name, int64_t lease_ms,
                 uint64_t count)
{
    struct culex_store *store = open_patient(fixture, version);
    struct culex_ack acks[8];
    char session[17];
    snprintf(session, sizeof session, "%016llx", (unsigned long long)name);
    struct culex_step step = {.queue = "q",
                              .session = session,
                              .want = 8,
                              .max_bytes = 1 << 20,
                              .lease_ms = lease_ms,
                              .acks = acks};
    culex_queue_stats stats = {.done = 0};
    int64_t end = real_now() + DEADLINE_MS;
    while (stats.done < count && real_now() < end) {
        struct culex_step_reply reply;
        culex_error error;
        step.nonce++;
        culex_status status = store->ops->step(store, &step, &reply, &error);
        if (status == CULEX_OK)
            status = store->ops->stats(store, "q", &stats, &error);
        if (status != CULEX_OK && status != CULEX_ENOTFOUND) { /* no run has come yet */
            fprintf(stderr, "step: %s\n", error.text);
            _exit(3);
        }
        step.ack_count = reply.grant_count;
        for (size_t i = 0; i < reply.grant_count; i++)
            acks[i] = (struct culex_ack){.id = reply.grants[i].facts.id,
                                         .attempt = reply.grants[i].facts.attempt,
                                         .event = CULEX_EVENT_DONE};
        if (reply.grant_count == 0)
            poll(NULL, 0, 2);
        store->ops->step_release(store, &reply);
    }
    store->ops->close(store);
    _exit(stats.done < count ? 5 : 0);
}

static void expect_success(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void hammer(struct fixture *fixture, int version)
{
    pid_t children[PRODUCERS + WORKERS];
    for (int i = 0; i < PRODUCERS + WORKERS; i++) {
        children[i] = fixture_fork();
        if (children[i] == 0 && i < PRODUCERS)
            produce(fixture, version, -1, RUNS_EACH);
        if (children[i] == 0)
            work(fixture, version, (uint64_t)i, 60000, PRODUCERS * RUNS_EACH);
    }
    for (int i = 0; i < PRODUCERS + WORKERS; i++)
        expect_success(children[i]);
    assert_int_equal(
        fixture_ask(fixture, "SELECT count(*) FROM runs WHERE state = 'D' AND attempt = 1"),
        PRODUCERS * RUNS_EACH);
    assert_int_equal(fixture_ask(fixture, "SELECT done + stale * 1000000 FROM queue"),
                     PRODUCERS * RUNS_EACH);
    assert_sound(fixture);
}

static void test_hammer__processes_with_guarded_checkpoints_lose_nothing(void **state)
{
    hammer(*state, 3040001);
}

static void test_hammer__processes_with_checkpoints_by_sqlite_lose_nothing(void **state)
{
    hammer(*state, CULEX__SQLITE_WAL_RESET_FIXED);
}

/* --- checkpoints of others --------------------------------------------------------------- */

/* As another program does it that keeps to the lock file; a byte for each, until it is killed. */
static void write_back(struct fixture *fixture, int out)
{
    static const char *const texts[] = {
        "PRAGMA wal_checkpoint(PASSIVE)", "PRAGMA wal_checkpoint(FULL)",
        "PRAGMA wal_checkpoint(RESTART)", "PRAGMA wal_checkpoint(TRUNCATE)"};
    char name[128];
    sqlite3 *db;
    snprintf(name, sizeof name, "%s-lock", fixture->path);
    int lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0 || sqlite3_open(fixture->path, &db) != SQLITE_OK)
        _exit(2);
    sqlite3_busy_timeout(db, 20);
    for (unsigned i = (unsigned)getpid();; i++) {
        flock(lock, LOCK_EX);
        sqlite3_exec(db, texts[i % 4], NULL, NULL, NULL);
        flock(lock, LOCK_UN);
        if (write(out, "", 1) != 1)
            _exit(0);
    }
}

static void write_back_and_be_killed(struct fixture *fixture)
{
    enum { CHECKPOINTS = 6 };
    int pipes[2];
    char byte;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fixture_fork();
    if (child == 0)
        write_back(fixture, pipes[1]);
    for (int i = 0; i < CHECKPOINTS; i++)
        assert_int_equal(read(pipes[0], &byte, 1), 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(pipes[0]);
    close(pipes[1]);
}

static bool is_over(pid_t child)
{
    siginfo_t info = {.si_pid = 0};
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    return info.si_pid != 0;
}

/* Until it is killed, or finds the log cut. */
static void look(struct fixture *fixture)
{
    culex_error error;
    struct culex_store *store = open_patient(fixture, 3040001);
    while (culex__sqlite_place_check(culex__sqlite_of(store), &error) == CULEX_OK)
        ;
    fprintf(stderr, "look: %s\n", error.text);
    _exit(3);
}

/* Whoever looks at the log meets every state of it: none may be taken for a log that was cut. */
static void test_log__written_back_by_others_at_any_moment_is_no_cut(void **state)
{
    enum { LOOKERS = 2, RUNS = 1500 };
    struct fixture *fixture = *state;
    pid_t lookers[LOOKERS], producers[PRODUCERS];
    for (int i = 0; i < LOOKERS; i++) {
        lookers[i] = fixture_fork();
        if (lookers[i] == 0)
            look(fixture);
    }
    for (int i = 0; i < PRODUCERS; i++) {
        producers[i] = fixture_fork();
        if (producers[i] == 0)
            produce(fixture, 3040001, -1, RUNS);
    }
    while (!is_over(producers[0]))
        write_back_and_be_killed(fixture);
    for (int i = 0; i < PRODUCERS; i++)
        expect_success(producers[i]);
    for (int i = 0; i < LOOKERS; i++) {
        assert_false(is_over(lookers[i]));
        kill(lookers[i], SIGKILL);
        waitpid(lookers[i], NULL, 0);
    }
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), PRODUCERS * RUNS);
    assert_sound(fixture);
}

/* --- openings ---------------------------------------------------------------------------- */

/* Opening creates: the file is met in every state between empty and ready. */
static void test_open__many_at_once_create_one_file(void **state)
{
    enum { OPENERS = 6, ROUNDS = 15 };
    struct fixture *fixture = *state;
    for (int round = 0; round < ROUNDS; round++) {
        pid_t children[OPENERS];
        snprintf(fixture->path, sizeof fixture->path, "%s/%d.db", fixture->folder, round);
        for (int i = 0; i < OPENERS; i++) {
            children[i] = fixture_fork();
            if (children[i] == 0)
                produce(fixture, 3040001, -1, 1);
        }
        int failed = 0;
        for (int i = 0; i < OPENERS; i++) {
            int status;
            assert_int_equal(waitpid(children[i], &status, 0), children[i]);
            failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
        }
        assert_int_equal(failed, 0);
        assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), OPENERS);
    }
}

/* --- kills ----------------------------------------------------------------------------- */

static void check_acknowledged(struct fixture *fixture, int in)
{
    struct culex_store *store = open_patient(fixture, sqlite3_libversion_number());
    culex_uuid id;
    size_t count = 0;
    while (read(in, &id, sizeof id) == (ssize_t)sizeof id) {
        culex_run_info *info;
        assert_int_equal(store->ops->get(store, "q", id, &info, NULL), CULEX_OK);
        culex_run_info_free(info);
        count++;
    }
    assert_true(count > 0);
    store->ops->close(store);
}

static bool is_readable(int fd, int timeout_ms)
{
    struct pollfd watched = {.fd = fd, .events = POLLIN};
    return poll(&watched, 1, timeout_ms) == 1;
}

/* Half of the victims produce, half work; leases are short, so the next ones take over. */
static void test_kill__no_acknowledged_run_is_lost(void **state)
{
    struct fixture *fixture = *state;
    int acknowledged[2];
    assert_int_equal(pipe(acknowledged), 0);
    uint64_t random = culex__env_random(culex__env_system()) % 256 + 1;
    for (int i = 0; i < KILLS; i++) {
        pid_t child = fixture_fork();
        if (child == 0 && i % 2 == 0)
            produce(fixture, 3040001, acknowledged[1],
                    150); /* fits into the pipe, with its peers */
        if (child == 0)
            work(fixture, 3040001, 100 + (uint64_t)i, 50, UINT64_MAX);
        if (i == 0) /* one at least is killed that has acknowledged something */
            assert_true(is_readable(acknowledged[0], DEADLINE_MS));
        random = random * 6364136223846793005u + 1442695040888963407u;
        poll(NULL, 0, 2 + (int)(random >> 33) % 30);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    close(acknowledged[1]);
    check_acknowledged(fixture, acknowledged[0]);
    close(acknowledged[0]);
    assert_sound(fixture);
    uint64_t enqueued = (uint64_t)fixture_ask(fixture, "SELECT enqueued FROM queues");
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), enqueued);
    fixture_sql(fixture,
                "UPDATE run SET losses = 0 WHERE state IN ('W', 'A')"); /* let all finish */
    pid_t child = fixture_fork();
    if (child == 0)
        work(fixture, 3040001, 7, 5000,
             enqueued - (uint64_t)fixture_ask(fixture, "SELECT dead FROM queue"));
    expect_success(child);
    assert_sound(fixture);
}

/* --- wake-ups -------------------------------------------------------------------------- */

static int arm(struct culex_store *store)
{
    const char *queues[] = {"q", "r"};
    int fd = -1;
    culex_error error = {.text = ""};
    if (store->ops->wake_arm(store, queues, 2, 1000, &fd, &error) != CULEX_OK)
        fail_msg("arm: %s", error.text);
    assert_true(fd >= 0);
    return fd;
}

static bool take(struct culex_store *store)
{
    bool is_woken = false;
    assert_int_equal(store->ops->wake_take(store, &is_woken, NULL), CULEX_OK);
    return is_woken;
}

/* A process that has the file open for itself, and was forked before this one opened it. */
struct elsewhere {
    pid_t pid;
    int fd;
};

static void elsewhere_work(struct fixture *fixture, int fd)
{
    char byte;
    while (read(fd, &byte, 1) == 1) {
        struct culex_store *store = open_patient(fixture, 3040001);
        struct culex_new_run run = real_run();
        fixture_enqueue(store, "q", &run);
        store->ops->close(store);
        if (write(fd, &byte, 1) != 1)
            _exit(6);
    }
    _exit(0);
}

static struct elsewhere elsewhere_begin(struct fixture *fixture)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    pid_t child = fixture_fork();
    close(fds[child == 0 ? 0 : 1]);
    if (child == 0)
        elsewhere_work(fixture, fds[1]);
    return (struct elsewhere){child, fds[0]};
}

static void elsewhere_enqueue(const struct elsewhere *elsewhere)
{
    char byte;
    assert_int_equal(write(elsewhere->fd, "x", 1), 1);
    assert_int_equal(read(elsewhere->fd, &byte, 1), 1);
}

static void elsewhere_end(const struct elsewhere *elsewhere)
{
    close(elsewhere->fd);
    expect_success(elsewhere->pid);
}

static void test_wake__enqueue_of_another_process_wakes(void **state)
{
    struct fixture *fixture = *state;
    struct elsewhere elsewhere = elsewhere_begin(fixture);
    struct culex_store *store = open_patient(fixture, 3040001);
    int fd = arm(store);
    assert_false(is_readable(fd, 0) && take(store)); /* nothing there */
    elsewhere_enqueue(&elsewhere);
    assert_true(is_readable(fd, DEADLINE_MS));
    assert_true(take(store));
    assert_false(is_readable(fd, 0));
    struct culex_step_reply reply = fixture_step(store, "q", SESSION, 1, NULL, 0);
    assert_int_equal(reply.grant_count, 1);
    store->ops->step_release(store, &reply);
    /* Again, without being registered anew. */
    assert_int_equal(arm(store), fd);
    elsewhere_enqueue(&elsewhere);
    assert_true(is_readable(fd, DEADLINE_MS));
    store->ops->close(store);
    elsewhere_end(&elsewhere);
}

static void test_wake__work_that_came_before_arming_wakes_at_once(void **state)
{
    struct fixture *fixture = *state;
    struct elsewhere elsewhere = elsewhere_begin(fixture);
    struct culex_store *store = open_patient(fixture, 3040001);
    elsewhere_enqueue(&elsewhere);
    int fd = arm(store);
    assert_true(is_readable(fd, 0));
    assert_true(take(store));
    store->ops->close(store);
    elsewhere_end(&elsewhere);
}

/* Two idle workers: one enqueue wakes one of them; its step leaves a run and wakes the other. */
static void test_wake__wakes_one_worker_and_that_one_the_next(void **state)
{
    struct fixture *fixture = *state;
    struct culex_store *stores[3];
    int fds[2];
    for (int i = 0; i < 3; i++) {
        struct culex_store_options options = {.timeout_ms = 20000};
        assert_int_equal(culex__sqlite_open(fixture->folder, true, &options, culex__env_system(),
                                            &stores[i], NULL),
                         CULEX_OK);
    }
    for (int i = 0; i < 2; i++) {
        fds[i] = arm(stores[i]);
    }
    struct culex_new_run runs[] = {real_run(), real_run()};
    struct culex_enqueue_result results[2];
    assert_int_equal(stores[2]->ops->enqueue(stores[2], "q", NULL, runs, 2, results, NULL),
                     CULEX_OK);
    int woken = is_readable(fds[0], 0) ? 0 : 1;
    assert_true(is_readable(fds[woken], 0));
    assert_false(is_readable(fds[1 - woken], 0));
    assert_true(take(stores[woken]));
    struct culex_step_reply reply = fixture_step(stores[woken], "q", SESSION, 1, NULL, 0);
    assert_int_equal(reply.grant_count, 1);
    stores[woken]->ops->step_release(stores[woken], &reply);
    assert_true(is_readable(fds[1 - woken], 0));
    for (int i = 0; i < 3; i++)
        stores[i]->ops->close(stores[i]);
}

/* A worker that was woken is busy until it arms again, and not knocked at meanwhile. */
static void test_wake__busy_worker_is_passed_over(void **state)
{
    struct fixture *fixture = *state;
    struct culex_store *busy = open_patient(fixture, 3040001);
    struct culex_store *idle = open_patient(fixture, 3040001);
    struct culex_new_run run = real_run();
    int busy_fd = arm(busy);
    fixture_enqueue(idle, "q", &run);
    assert_true(is_readable(busy_fd, DEADLINE_MS));
    assert_true(take(busy));
    struct culex_step_reply reply = fixture_step(busy, "q", SESSION, 1, NULL, 0);
    busy->ops->step_release(busy, &reply);
    arm(idle);
    for (int i = 0; i < 8; i++) { /* the first to be tried is drawn by lot */
        run = real_run();
        fixture_enqueue(busy, "q", &run);
    }
    char byte;
    assert_int_equal(read(culex__sqlite_of(busy)->wake.door_fd, &byte, 1), -1);
    assert_int_equal(read(culex__sqlite_of(idle)->wake.door_fd, &byte, 1), 1);
    busy->ops->close(busy);
    idle->ops->close(idle);
}

/* inotify finds a writer that knocks at no door; commits without work are no wake-up. */
static void test_wake__foreign_write_wakes_only_when_a_run_is_due(void **state)
{
    struct fixture *fixture = *state;
    struct culex_store *store = open_patient(fixture, 3040001);
    struct culex_new_run run = real_run();
    run.delay_ms = 3600000;
    fixture_enqueue(store, "q", &run);
    struct culex_step_reply reply = fixture_step(store, "q", SESSION, 1, NULL, 0);
    store->ops->step_release(store, &reply);
    int fd = arm(store);
    while (is_readable(fd, 0))
        assert_false(take(store));
    fixture_sql(fixture, "UPDATE queue SET stale = stale + 1");
    assert_true(is_readable(fd, DEADLINE_MS));
    assert_false(take(store));
    fixture_sql(fixture, "UPDATE run SET at_ms = at_ms - 1800000");
    assert_true(is_readable(fd, DEADLINE_MS));
    assert_true(take(store));
    store->ops->close(store);
}

/* The registration of a killed worker goes, and costs nobody his wake-up. */
static void test_wake__dead_sockets_are_removed(void **state)
{
    struct fixture *fixture = *state;
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fixture_fork();
    if (child == 0) {
        struct culex_store *own = open_patient(fixture, 3040001);
        arm(own);
        assert_int_equal(write(ready[1], "x", 1), 1);
        pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
    struct culex_store *store = open_patient(fixture, 3040001);
    assert_int_equal(fixture_ask(fixture, "SELECT count(DISTINCT address) FROM waker"), 1);
    for (int i = 0; i < 2; i++) {
        struct culex_new_run run = real_run();
        fixture_enqueue(store, "q", &run);
    }
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM waker"), 0);
    store->ops->close(store);
}

/* A handle keeps the row of its queue and the list of doors from one transaction to the next, but
 * not past another handle's write. */
static void test_recent__another_writers_change_is_seen(void **state)
{
    struct fixture *fixture = *state;
    struct culex_store *one = open_patient(fixture, 3040001);
    struct culex_store *other = open_patient(fixture, 3040001);
    for (int i = 0; i < 4; i++) {
        struct culex_new_run run = real_run();
        fixture_enqueue(i % 2 == 0 ? one : other, "q", &run);
    }
    assert_int_equal(fixture_ask(fixture, "SELECT pending FROM queues"), 4);
    struct culex_step_reply reply = fixture_step(one, "q", SESSION, 4, NULL, 0);
    assert_int_equal(reply.grant_count, 4);
    one->ops->step_release(one, &reply);
    int fd = arm(other);
    assert_false(is_readable(fd, 0) && take(other));
    struct culex_new_run run = real_run();
    fixture_enqueue(one, "q", &run);
    char byte; /* a knock, not inotify's notice */
    assert_int_equal(read(culex__sqlite_of(other)->wake.door_fd, &byte, 1), 1);
    assert_int_equal(other->ops->pause(other, "q", true, NULL), CULEX_OK);
    reply = fixture_step(one, "q", SESSION, 1, NULL, 0);
    assert_int_equal(reply.grant_count, 0);
    assert_true(reply.is_paused);
    one->ops->step_release(one, &reply);
    one->ops->close(one);
    other->ops->close(other);
    assert_sound(fixture);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_hammer__processes_with_guarded_checkpoints_lose_nothing),
        TEST(test_hammer__processes_with_checkpoints_by_sqlite_lose_nothing),
        TEST(test_log__written_back_by_others_at_any_moment_is_no_cut),
        TEST(test_open__many_at_once_create_one_file),
        TEST(test_kill__no_acknowledged_run_is_lost),
        TEST(test_wake__enqueue_of_another_process_wakes),
        TEST(test_wake__work_that_came_before_arming_wakes_at_once),
        TEST(test_wake__wakes_one_worker_and_that_one_the_next),
        TEST(test_wake__busy_worker_is_passed_over),
        TEST(test_wake__foreign_write_wakes_only_when_a_run_is_due),
        TEST(test_wake__dead_sockets_are_removed),
        TEST(test_recent__another_writers_change_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
