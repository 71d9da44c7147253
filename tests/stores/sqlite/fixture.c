#include "fixture.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int64_t driven_clock(void *self)
{
    return *(int64_t *)self;
}

void fixture_init(struct fixture *fixture)
{
    memset(fixture, 0, sizeof *fixture);
    strcpy(fixture->folder, "/tmp/culex-sqlite-XXXXXX");
    assert_non_null(mkdtemp(fixture->folder));
    snprintf(fixture->path, sizeof fixture->path, "%s/q.db", fixture->folder);
    fixture->env = *culex__env_system();
    fixture->now_ms = 1700000000000;
    fixture->timeout_ms = FIXTURE_PATIENT_MS;
    fixture->env.self = &fixture->now_ms;
    fixture->env.store_clock_ms = driven_clock;
}

static void remove_tree(const char *folder)
{
    char path[512];
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (unlink(path) != 0)
            remove_tree(path);
    }
    if (dir != NULL)
        closedir(dir);
    rmdir(folder);
}

void fixture_release(struct fixture *fixture)
{
    if (fixture->store != NULL)
        fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
    remove_tree(fixture->folder);
}

int fixture_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture_init(fixture);
    *state = fixture;
    return 0;
}

int fixture_teardown(void **state)
{
    fixture_release(*state);
    free(*state);
    return 0;
}

pid_t fixture_fork(void)
{
    pid_t parent = getpid(), child = fork();
    assert_true(child >= 0);
    if (child != 0)
        return child;
    if (setenv("CMOCKA_TEST_ABORT", "1", 1) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
        getppid() != parent)
        _exit(125);
    return 0;
}

static culex_status open_as(struct fixture *fixture, int version, struct culex_store **ret_store,
                            culex_error *error)
{
    struct culex_store_options options = {.timeout_ms = fixture->timeout_ms,
                                          .synchronous = "normal"};
    return culex__sqlite_open_as(version, fixture->path, false, &options, &fixture->env, ret_store,
                                 error);
}

struct culex_store *fixture_open(struct fixture *fixture, int version)
{
    culex_error error = {.text = ""};
    struct culex_store *store = NULL;
    if (open_as(fixture, version, &store, &error) != CULEX_OK)
        fail_msg("open: %s", error.text);
    return store;
}

culex_status fixture_try_open(struct fixture *fixture, culex_error *error)
{
    struct culex_store *store = NULL;
    culex_status status = open_as(fixture, sqlite3_libversion_number(), &store, error);
    if (status == CULEX_OK)
        store->ops->close(store);
    return status;
}

struct culex_new_run fixture_run(const void *payload, size_t len)
{
    struct culex_new_run run = {.job = "test.job",
                                .priority = 5,
                                .attempts_max = 5,
                                .keep_success_ms = 1000,
                                .keep_failure_ms = 86400000,
                                .content = 7,
                                .tags = "",
                                .payload = payload,
                                .payload_len = len};
    return run;
}

struct culex_new_run fixture_own_run(const void *payload, size_t len)
{
    struct culex_new_run run = fixture_run(payload, len);
    run.expires_ms = INT64_C(3650) * 86400000;
    return run;
}

int64_t fixture_place(culex_uuid id)
{
    int64_t place = 0;
    for (int i = 10; i < 16; i++)
        place = place << 8 | id.b[i];
    return place;
}

enum culex_enqueued fixture_enqueue(struct culex_store *store, const char *queue,
                                    const struct culex_new_run *run)
{
    struct culex_enqueue_result result;
    culex_error error = {.text = ""};
    if (store->ops->enqueue(store, queue, NULL, run, 1, &result, &error) != CULEX_OK)
        fail_msg("enqueue: %s", error.text);
    return result.outcome;
}

culex_uuid fixture_put(struct culex_store *store, const char *queue,
                       const struct culex_new_run *run)
{
    struct culex_enqueue_result result;
    culex_error error = {.text = ""};
    if (store->ops->enqueue(store, queue, NULL, run, 1, &result, &error) != CULEX_OK)
        fail_msg("enqueue: %s", error.text);
    assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
    return result.id;
}

uint64_t fixture_nonce(void)
{
    static _Atomic uint64_t nonce;
    return ++nonce;
}

struct culex_step_reply fixture_step(struct culex_store *store, const char *queue,
                                     const char *session, uint32_t want,
                                     const struct culex_ack *acks, size_t ack_count)
{
    struct culex_step_reply reply;
    culex_error error = {.text = ""};
    struct culex_step step = {.queue = queue,
                              .session = session,
                              .nonce = fixture_nonce(),
                              .want = want,
                              .max_bytes = 1 << 20,
                              .offers = "gpu:9",
                              .lease_ms = 30000,
                              .acks = acks,
                              .ack_count = ack_count};
    if (store->ops->step(store, &step, &reply, &error) != CULEX_OK)
        fail_msg("step: %s", error.text);
    return reply;
}

static sqlite3 *raw_open(struct fixture *fixture)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_busy_timeout(db, FIXTURE_PATIENT_MS);
    sqlite3_exec(db, FIXTURE_RUNS, NULL, NULL, NULL);
    return db;
}

void fixture_sql(struct fixture *fixture, const char *sql)
{
    sqlite3 *db = raw_open(fixture);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

int64_t fixture_ask(struct fixture *fixture, const char *sql)
{
    sqlite3 *db = raw_open(fixture);
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    int64_t value = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

/* The file is whole, and the queues' counters agree with the rows. */
void assert_sound(struct fixture *fixture)
{
    assert_int_equal(
        fixture_ask(fixture, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
    assert_int_equal(
        fixture_ask(
            fixture,
            "SELECT count(*) FROM queues AS q WHERE"
            " pending <> (SELECT count(*) FROM runs AS r WHERE r.queue = q.queue AND state = 'W') "
            "OR"
            " active <> (SELECT count(*) FROM runs AS r WHERE r.queue = q.queue AND state = 'A') OR"
            " kept_done <> (SELECT count(*) FROM runs AS r WHERE r.queue = q.queue AND state = "
            "'D') "
            "OR"
            " kept_dead <> (SELECT count(*) FROM runs AS r WHERE r.queue = q.queue AND state = "
            "'X') "
            "OR"
            " kept_cancelled <> (SELECT count(*) FROM runs AS r WHERE r.queue = q.queue AND state "
            "= "
            "'C')"),
        0);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM payload WHERE seq NOT IN"
                                          " (SELECT seq FROM run WHERE payload_len > 1024)"),
                     0);
}
