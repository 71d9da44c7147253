/* torn_sqlite/guard.c - checkpoints of a SQLite that must not run them beside a writer. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim.h"
#include "store/sqlite/checkpoint.h"

enum { GUARDED = 3040001, PROCESSES = 4, ROUNDS = 500 };

/* --- who holds the lock file at every write ------------------------------------------------ */

struct watch {
    int fd; /* the lock file, opened once more */
    long checkpointed, logged;
};

/* A page goes to the database only under the exclusive lock, to the log only under the shared one;
 * and both under SQLite's own write lock, which keeps writers away that know nothing of ours. */
static void watch_look(void *user)
{
    struct watch *watch = user;
    const struct shim_op *op = shim_op(shim_op_count() - 1);
    if (op->kind != SHIM_WRITE)
        return;
    bool is_checkpoint = op->part == SHIM_DB;
    if (flock(watch->fd, (is_checkpoint ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0)
        fail_msg("a write to the %s at %lld without the lock", is_checkpoint ? "database" : "log",
                 (long long)op->offset);
    assert_int_equal(errno, EWOULDBLOCK);
    assert_true(shim_has_write_lock());
    watch->checkpointed += is_checkpoint;
    watch->logged += !is_checkpoint;
}

static void test_wal_reset__no_checkpoint_and_no_write_runs_outside_the_lock(void **state)
{
    struct fixture *fixture = *state;
    char path[128], payload[1000];
    struct watch watch = {.fd = -1};
    memset(payload, 'p', sizeof payload);
    fixture->store = fixture_open(fixture, GUARDED);
    snprintf(path, sizeof path, "%s-lock", fixture->path);
    watch.fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(watch.fd >= 0);
    shim_record(true);
    shim_notify(watch_look, &watch);
    for (int i = 0; i < 1500; i++) {
        struct culex_new_run run = fixture_run(payload, sizeof payload);
        fixture_enqueue(fixture->store, "q", &run);
    }
    assert_true(watch.checkpointed > 100); /* while it grew, not only at the end */
    fixture->store->ops->close(fixture->store);
    fixture->store = fixture_open(fixture, GUARDED);
    culex__sqlite_checkpoint(culex__sqlite_of(fixture->store), false);
    fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
    shim_notify(NULL, NULL);
    shim_record(false);
    assert_true(watch.logged > 1500);
    close(watch.fd);
    assert_sound(fixture);
}

/* --- many at once -------------------------------------------------------------------------- */

static void hammer(struct fixture *fixture, int number)
{
    char session[17];
    struct culex_store_options options = {.timeout_ms = 20000, .synchronous = "off"};
    struct culex_store *store = NULL;
    culex_error error;
    snprintf(session, sizeof session, "%016d", number);
    if (culex__sqlite_open_as(GUARDED, fixture->path, false, &options, &fixture->env, &store,
                              &error) != CULEX_OK)
        _exit(2);
    for (int i = 0; i < ROUNDS; i++) {
        struct culex_ack acks[4];
        struct culex_new_run run = fixture_run("payload", 7);
        run.keep_success_ms = 86400000;
        fixture_enqueue(store, "q", &run);
        struct culex_step_reply reply = fixture_step(store, "q", session, 2, NULL, 0);
        size_t count = reply.grant_count;
        for (size_t k = 0; k < count; k++)
            acks[k] = (struct culex_ack){.id = reply.grants[k].facts.id,
                                         .attempt = reply.grants[k].facts.attempt,
                                         .event = CULEX_EVENT_DONE};
        store->ops->step_release(store, &reply);
        reply = fixture_step(store, "q", session, 0, acks, count);
        store->ops->step_release(store, &reply);
        if (i % 3 == number % 3)
            culex__sqlite_checkpoint(culex__sqlite_of(store), false);
    }
    store->ops->close(store);
    _exit(0);
}

static void test_wal_reset__processes_write_and_checkpoint_at_once(void **state)
{
    struct fixture *fixture = *state;
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fixture_fork();
        if (children[i] == 0)
            hammer(fixture, i);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int how;
        assert_int_equal(waitpid(children[i], &how, 0), children[i]);
        assert_int_equal(how, 0);
    }
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), PROCESSES * ROUNDS);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs WHERE attempt > 1"), 0);
    assert_sound(fixture);
}

/* --- runner -------------------------------------------------------------------------------- */

static int teardown(void **state)
{
    shim_notify(NULL, NULL);
    return fixture_teardown(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, teardown)

int main(void)
{
    shim_install();
    const struct CMUnitTest tests[] = {
        TEST(test_wal_reset__no_checkpoint_and_no_write_runs_outside_the_lock),
        TEST(test_wal_reset__processes_write_and_checkpoint_at_once),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    shim_record(true); /* frees the log */
    shim_record(false);
    return failed;
}
