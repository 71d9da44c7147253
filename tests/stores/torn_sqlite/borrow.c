/* torn_sqlite/borrow.c - enqueueing in a transaction of the caller's: a run exists if and only if
 * its row does, wherever the program is killed. */
#include "fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <culex/sqlite.h>
#include <culex/worker.h>

#include "shim.h"
#include "store/sqlite/borrow.h"

enum { GUARDED = 3040001 };

#define ONE "aaaaaaaaaaaaaaaa"

struct order {
    int64_t n;
};

static const culex_field order_fields[] = {{.name = "n",
                                            .wire = "n",
                                            .kind = CULEX_KIND_INT64,
                                            .flags = CULEX_FIELD_REQUIRED,
                                            .offset = offsetof(struct order, n)}};
static const culex_struct_type order_struct = {"shop.ship", sizeof(struct order), order_fields, 1};

static const culex_job_type order_type = {.descriptor_version = CULEX_DESCRIPTOR_VERSION,
                                          .name = "shop.ship",
                                          .wire = "shop.ship",
                                          .queue = "q",
                                          .params = &order_struct,
                                          .fingerprint = 1,
                                          .priority = 5,
                                          .keep_success_ms = 3600000,
                                          .keep_failure_ms = 86400000};

static void run_sql(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

static sqlite3 *shop_open(const char *path)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    run_sql(db, "PRAGMA wal_autocheckpoint=0");
    run_sql(db, "CREATE TABLE IF NOT EXISTS orders (n INTEGER PRIMARY KEY)");
    return db;
}

static culex_status ship(sqlite3 *db, const char *schema, int64_t n, culex_uuid *ret_id,
                         culex_error *error)
{
    struct order order = {n};
    return culex_sqlite_enqueue(db, schema, &order_type, &order, NULL, ret_id, error);
}

static void ship_ok(sqlite3 *db, const char *schema, int64_t n, culex_uuid *ret_id)
{
    culex_error error = {.text = ""};
    if (ship(db, schema, n, ret_id, &error) != CULEX_OK)
        fail_msg("enqueue: %s", error.text);
}

static void expect_refusal(sqlite3 *db, const char *schema, culex_status status, const char *text)
{
    culex_error error = {.text = ""};
    assert_int_equal(ship(db, schema, 1, NULL, &error), status);
    if (strstr(error.text, text) == NULL)
        fail_msg("'%s' is not in '%s'", text, error.text);
}

static void clock_is_real(struct fixture *fixture)
{
    fixture->env = *culex__env_system();
    fixture->now_ms = culex__env_clock_ms(&fixture->env);
}

/* --- commit and rollback ------------------------------------------------------------------- */

static void test_transaction__commit_shows_the_run_and_rollback_does_not(void **state)
{
    struct fixture *fixture = *state;
    culex_uuid id;
    culex_run_info *info;
    sqlite3 *db = shop_open(fixture->path);
    run_sql(db, "BEGIN IMMEDIATE; INSERT INTO orders VALUES (1)");
    ship_ok(db, NULL, 1, &id);
    run_sql(db, "ROLLBACK");
    assert_int_equal(fixture->store->ops->get(fixture->store, "q", id, &info, NULL),
                     CULEX_ENOTFOUND);
    run_sql(db, "BEGIN IMMEDIATE; INSERT INTO orders VALUES (2)");
    ship_ok(db, "main", 2, &id);
    run_sql(db, "COMMIT");
    assert_int_equal(fixture->store->ops->get(fixture->store, "q", id, &info, NULL), CULEX_OK);
    assert_int_equal(info->state, CULEX_RUN_WAITING);
    assert_string_equal(info->job, "shop.ship");
    culex_run_info_free(info);
    struct culex_step_reply reply = fixture_step(fixture->store, "q", ONE, 4, NULL, 0);
    assert_int_equal(reply.grant_count, 1);
    assert_memory_equal(&reply.grants[0].facts.id, &id, sizeof id);
    fixture->store->ops->step_release(fixture->store, &reply);
    sqlite3_close(db);
    assert_sound(fixture);
}

static culex_status ship_with(sqlite3 *db, int64_t n, const culex_enqueue_options *options,
                              culex_uuid *ret_id)
{
    struct order order = {n};
    culex_error error;
    run_sql(db, "BEGIN IMMEDIATE");
    return culex_sqlite_enqueue(db, NULL, &order_type, &order, options, ret_id, &error);
}

/* The same key again, in another transaction, is the same run; one that was rolled back was never
 * there. */
static void test_transaction__idempotency_key_enqueues_once(void **state)
{
    struct fixture *fixture = *state;
    sqlite3 *db = shop_open(fixture->path);
    culex_enqueue_options options = culex_enqueue_options_make();
    culex_uuid first, second;
    options.idempotency_key = "order 1";
    assert_int_equal(ship_with(db, 2, &options, &first), CULEX_OK);
    run_sql(db, "ROLLBACK");
    assert_int_equal(ship_with(db, 1, &options, &first), CULEX_OK);
    run_sql(db, "COMMIT");
    assert_int_equal(ship_with(db, 1, &options, &second), CULEX_OK);
    run_sql(db, "COMMIT");
    assert_memory_equal(&first, &second, sizeof first);
    assert_int_equal(ship_with(db, 2, &options, NULL), CULEX_ECONFLICT);
    run_sql(db, "INSERT INTO orders VALUES (7); COMMIT"); /* it goes on */
    sqlite3_close(db);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 1);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM orders"), 1);
}

static culex_uuid put_through(struct culex_store *store, const char *queue)
{
    struct culex_new_run run = fixture_run("x", 1);
    return fixture_put(store, queue, &run);
}

/* What the handle knows of a queue's row is not true any more once a part of the transaction was
 * undone, and the row itself may be gone. */
static void test_transaction__row_of_the_queue_is_not_taken_from_before(void **state)
{
    struct fixture *fixture = *state;
    struct culex_store *store;
    sqlite3 *db = shop_open(fixture->path);
    culex_uuid ids[2];
    run_sql(db, "BEGIN IMMEDIATE");
    assert_int_equal(culex__sqlite_borrow_as(GUARDED, db, NULL, &fixture->env, &store, NULL),
                     CULEX_OK);
    ids[0] = put_through(store, "q");
    run_sql(db, "SAVEPOINT part");
    put_through(store, "q");
    put_through(store, "new");
    run_sql(db, "ROLLBACK TO part");
    put_through(store, "new");
    ids[1] = put_through(store, "q");
    run_sql(db, "COMMIT");
    store->ops->close(store);
    sqlite3_close(db);
    assert_memory_not_equal(&ids[0], &ids[1], sizeof ids[0]);
    assert_int_equal(fixture_ask(fixture, "SELECT number FROM queues WHERE name = 'q'"), 2);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs JOIN queue USING (queue)"), 3);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM bodies JOIN kind USING (kind)"), 3);
    assert_sound(fixture);
}

/* The transaction itself says whether the call took place. */
static void test_transaction__takes_no_ticket(void **state)
{
    struct fixture *fixture = *state;
    struct culex_store *store;
    const struct culex_ticket ticket = {1, (uint64_t)fixture->now_ms << 12};
    struct culex_new_run run = fixture_run("x", 1);
    struct culex_enqueue_result result;
    culex_error error;
    sqlite3 *db = shop_open(fixture->path);
    run_sql(db, "BEGIN IMMEDIATE");
    assert_int_equal(culex__sqlite_borrow_as(GUARDED, db, NULL, &fixture->env, &store, NULL),
                     CULEX_OK);
    assert_int_equal(store->ops->enqueue(store, "q", &ticket, &run, 1, &result, &error),
                     CULEX_EUNSUPPORTED);
    assert_non_null(strstr(error.text, "takes no ticket"));
    run_sql(db, "COMMIT");
    store->ops->close(store);
    sqlite3_close(db);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 0);
}

static void test_transaction__attached_store_is_found_by_its_name_only(void **state)
{
    struct fixture *fixture = *state;
    char path[128], sql[256];
    snprintf(path, sizeof path, "%s/shop.db", fixture->folder);
    sqlite3 *db = shop_open(path);
    /* Tables of the same name in front of the store's must not be taken for them. */
    run_sql(db, "CREATE TABLE run (x); CREATE TEMP TABLE queue (y)");
    snprintf(sql, sizeof sql, "ATTACH '%s' AS \"my \"\"jobs\"", fixture->path);
    run_sql(db, sql);
    run_sql(db, "BEGIN IMMEDIATE; INSERT INTO orders VALUES (1)");
    expect_refusal(db, NULL, CULEX_ECORRUPT, "not a Culex file");
    expect_refusal(db, "jobs", CULEX_EINVAL, "no database 'jobs'");
    ship_ok(db, "my \"jobs", 1, NULL);
    run_sql(db, "COMMIT");
    run_sql(db, "BEGIN IMMEDIATE");
    ship_ok(db, "my \"jobs", 2, NULL);
    run_sql(db, "ROLLBACK");
    sqlite3_close(db);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 1);
    assert_sound(fixture);
}

/* --- refusals ------------------------------------------------------------------------------ */

static void test_transaction__is_asked_for(void **state)
{
    struct fixture *fixture = *state;
    sqlite3 *db = shop_open(fixture->path);
    expect_refusal(db, NULL, CULEX_EINVAL, "not in a transaction");
    expect_refusal(NULL, NULL, CULEX_EINVAL, "no database handle");
    sqlite3_close(db);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 0);
}

static void test_transaction__other_version_is_refused(void **state)
{
    struct fixture *fixture = *state;
    sqlite3 *db = shop_open(fixture->path);
    run_sql(db, "BEGIN IMMEDIATE; PRAGMA user_version=99");
    expect_refusal(db, NULL, CULEX_EVERSION, "format 99");
    run_sql(db, "ROLLBACK");
    sqlite3_close(db);
}

static void test_transaction__own_checkpoints_are_refused_where_they_do_harm(void **state)
{
    struct fixture *fixture = *state;
    struct culex_store *store;
    culex_error error = {.text = ""};
    sqlite3 *db = shop_open(fixture->path);
    run_sql(db, "PRAGMA wal_autocheckpoint=1000; BEGIN IMMEDIATE");
    assert_int_equal(culex__sqlite_borrow_as(GUARDED, db, NULL, &fixture->env, &store, &error),
                     CULEX_EUNSUPPORTED);
    assert_non_null(strstr(error.text, "wal_autocheckpoint=0"));
    assert_int_equal(culex__sqlite_borrow_as(CULEX__SQLITE_WAL_RESET_FIXED, db, NULL, &fixture->env,
                                             &store, &error),
                     CULEX_OK);
    store->ops->close(store);
    run_sql(db, "ROLLBACK");
    sqlite3_close(db);
}

static void test_transaction__lock_of_another_is_busy(void **state)
{
    struct fixture *fixture = *state;
    sqlite3 *db = shop_open(fixture->path), *other = shop_open(fixture->path);
    run_sql(other, "BEGIN IMMEDIATE");
    run_sql(db, "BEGIN; SELECT count(*) FROM orders");
    expect_refusal(db, NULL, CULEX_EBUSY, "q.db");
    run_sql(other, "ROLLBACK");
    run_sql(db, "ROLLBACK");
    sqlite3_close(db);
    sqlite3_close(other);
}

static void test_transaction__full_disk_is_told(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    sqlite3 *db = shop_open(fixture->path);
    snprintf(path, sizeof path, "%s-reserve", fixture->path);
    assert_int_equal(truncate(path, 0), 0);
    run_sql(db, "BEGIN IMMEDIATE");
    expect_refusal(db, NULL, CULEX_EFULL, "reserve of 8 MiB");
    run_sql(db, "ROLLBACK");
    sqlite3_close(db);
}

/* What fails within the call leaves nothing of the run, and the transaction as it was. */
static void test_transaction__failed_call_leaves_no_half_a_run(void **state)
{
    struct fixture *fixture = *state;
    sqlite3 *db = shop_open(fixture->path);
    culex_error error;
    run_sql(db, "CREATE TRIGGER no_counting BEFORE UPDATE ON queue BEGIN"
                " SELECT raise(ABORT, 'no'); END");
    run_sql(db, "BEGIN IMMEDIATE; INSERT INTO orders VALUES (1)");
    assert_int_not_equal(ship(db, NULL, 1, NULL, &error), CULEX_OK);
    assert_false(sqlite3_get_autocommit(db));
    run_sql(db, "DROP TRIGGER no_counting; COMMIT");
    sqlite3_close(db);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 0);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM orders"), 1);
    assert_sound(fixture);
}

/* --- waking -------------------------------------------------------------------------------- */

/* The worker's descriptor becomes readable by the commit alone. */
static void test_transaction__commit_wakes_an_idle_worker(void **state)
{
    static const char *const queues[] = {"q"};
    struct fixture *fixture = *state;
    struct culex_store *store = fixture->store;
    sqlite3 *db = shop_open(fixture->path);
    int fd = -1;
    bool is_woken = false;
    assert_int_equal(store->ops->wake_arm(store, queues, 1, 5000, &fd, NULL), CULEX_OK);
    run_sql(db, "BEGIN IMMEDIATE");
    ship_ok(db, NULL, 1, NULL);
    run_sql(db, "COMMIT");
    for (int i = 0; i < 100 && !is_woken; i++) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&ready, 1, 10000), 1);
        assert_int_equal(store->ops->wake_take(store, &is_woken, NULL), CULEX_OK);
    }
    assert_true(is_woken);
    sqlite3_close(db);
}

/* --- killed in between --------------------------------------------------------------------- */

static void file_copy(const char *from, const char *to)
{
    static char bytes[1 << 20];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t len;
    assert_true(out >= 0);
    while (in >= 0 && (len = read(in, bytes, sizeof bytes)) > 0)
        assert_int_equal(write(out, bytes, (size_t)len), len);
    if (in >= 0)
        close(in);
    close(out);
}

struct murder {
    struct fixture *fixture;
    struct fixture victim; /* what it leaves */
    int64_t looked, with, without;
};

/* What the file would be if the program died right now. */
static void murder_look(void *user)
{
    struct murder *murder = user;
    char from[128], to[128];
    shim_notify(NULL, NULL);
    file_copy(murder->fixture->path, murder->victim.path);
    snprintf(from, sizeof from, "%s-wal", murder->fixture->path);
    snprintf(to, sizeof to, "%s-wal", murder->victim.path);
    file_copy(from, to);
    snprintf(to, sizeof to, "%s-shm", murder->victim.path);
    unlink(to);
    sqlite3 *db = shop_open(murder->victim.path);
    sqlite3_close(db);
    int64_t orders = fixture_ask(&murder->victim, "SELECT count(*) FROM orders WHERE n = 5");
    assert_int_equal(fixture_ask(&murder->victim, "SELECT count(*) FROM runs"), orders);
    assert_sound(&murder->victim);
    murder->looked++;
    murder->with += orders == 1;
    murder->without += orders == 0;
    shim_notify(murder_look, murder);
}

static void test_killed_at_every_write__run_exists_iff_its_row_does(void **state)
{
    struct fixture *fixture = *state;
    struct murder murder = {.fixture = fixture};
    fixture_init(&murder.victim);
    sqlite3 *db = shop_open(fixture->path);
    run_sql(db, "PRAGMA cache_size=1"); /* so that pages go to the log before the commit too */
    shim_record(true);
    shim_notify(murder_look, &murder);
    run_sql(db, "BEGIN IMMEDIATE; INSERT INTO orders VALUES (5)");
    ship_ok(db, NULL, 5, NULL);
    murder_look(&murder);
    run_sql(db, "COMMIT");
    murder_look(&murder);
    shim_notify(NULL, NULL);
    shim_record(false);
    sqlite3_close(db);
    assert_true(murder.looked > 8);
    assert_true(murder.without > 3);
    assert_true(murder.with > 0);
    fixture_release(&murder.victim);
}

/* --- runner -------------------------------------------------------------------------------- */

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture_init(fixture);
    clock_is_real(fixture);
    fixture->store = fixture_open(fixture, GUARDED);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    shim_notify(NULL, NULL);
    fixture_release(*state);
    free(*state);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    shim_install();
    const struct CMUnitTest tests[] = {
        TEST(test_transaction__commit_shows_the_run_and_rollback_does_not),
        TEST(test_transaction__idempotency_key_enqueues_once),
        TEST(test_transaction__row_of_the_queue_is_not_taken_from_before),
        TEST(test_transaction__takes_no_ticket),
        TEST(test_transaction__attached_store_is_found_by_its_name_only),
        TEST(test_transaction__is_asked_for),
        TEST(test_transaction__other_version_is_refused),
        TEST(test_transaction__own_checkpoints_are_refused_where_they_do_harm),
        TEST(test_transaction__lock_of_another_is_busy),
        TEST(test_transaction__full_disk_is_told),
        TEST(test_transaction__failed_call_leaves_no_half_a_run),
        TEST(test_transaction__commit_wakes_an_idle_worker),
        TEST(test_killed_at_every_write__run_exists_iff_its_row_does),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    shim_record(true); /* frees the log */
    shim_record(false);
    return failed;
}
