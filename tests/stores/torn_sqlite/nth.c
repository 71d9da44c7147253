/* torn_sqlite/nth.c - every call that SQLite makes to the system fails once, and from then on. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "client/client_private.h"
#include "shim.h"
#include "store/sqlite/checkpoint.h"

enum { GUARDED = 3040001, CALLS_MAX = 2000 };

#define ONE "aaaaaaaaaaaaaaaa"

struct failure {
    enum shim_call call;
    int code;
    const char *name;
};

static const struct failure failures[] = {
    {SHIM_CALL_OPEN, SQLITE_CANTOPEN, "open: CANTOPEN"},
    {SHIM_CALL_READ, SQLITE_IOERR_READ, "read: IOERR"},
    {SHIM_CALL_READ, SQLITE_IOERR_NOMEM, "read: NOMEM"},
    {SHIM_CALL_WRITE, SQLITE_IOERR_WRITE, "write: IOERR"},
    {SHIM_CALL_WRITE, SQLITE_FULL, "write: FULL"},
    {SHIM_CALL_TRUNCATE, SQLITE_IOERR_TRUNCATE, "truncate: IOERR"},
    {SHIM_CALL_SYNC, SQLITE_IOERR_FSYNC, "sync: IOERR"},
    {SHIM_CALL_SIZE, SQLITE_IOERR_FSTAT, "size: IOERR"},
    {SHIM_CALL_LOCK, SQLITE_BUSY, "lock: BUSY"},
    {SHIM_CALL_LOCK, SQLITE_IOERR_LOCK, "lock: IOERR"},
    {SHIM_CALL_SHM_MAP, SQLITE_IOERR_SHMMAP, "shm map: IOERR"},
    {SHIM_CALL_SHM_MAP, SQLITE_NOMEM, "shm map: NOMEM"},
    {SHIM_CALL_SHM_LOCK, SQLITE_BUSY, "shm lock: BUSY"},
    {SHIM_CALL_SHM_LOCK, SQLITE_IOERR_SHMLOCK, "shm lock: IOERR"},
    {SHIM_CALL_DELETE, SQLITE_IOERR_DELETE, "delete: IOERR"},
    {SHIM_CALL_ACCESS, SQLITE_IOERR_ACCESS, "access: IOERR"},
};

enum { CALLS = 4 };

/* What was acknowledged in one pass of the scenario, and what was tried. */
struct pass {
    struct fixture fixture;
    int version;
    const struct failure *failure;
    long n;
    bool is_sticky;
    culex_uuid enqueued[CALLS];
    size_t enqueued_count;
    struct culex_ticket tickets[CALLS];
    bool is_answered[CALLS];
    size_t ticket_count;
    culex_uuid done[CALLS];
    size_t done_count;
    culex_status worst;
};

/* --- one call, and what it may answer ------------------------------------------------------ */

static bool is_fit(const struct pass *pass, culex_status status)
{
    switch (pass->failure->code) {
    case SQLITE_BUSY:
        return status == CULEX_EBUSY;
    case SQLITE_FULL:
        return status == CULEX_EFULL;
    case SQLITE_IOERR_WRITE:
        return status == CULEX_EFULL || status == CULEX_ESTORE;
    case SQLITE_IOERR_SHMMAP:
    case SQLITE_IOERR_TRUNCATE:
        return status == CULEX_EFULL || status == CULEX_ESTORE || status == CULEX_ECONNECT;
    case SQLITE_NOMEM:
    case SQLITE_IOERR_NOMEM:
        return status == CULEX_ENOMEM;
    case SQLITE_IOERR_FSYNC:
        return status == CULEX_EUNKNOWN;
    case SQLITE_CANTOPEN:
        return status == CULEX_ECONNECT || status == CULEX_EDENIED;
    default:
        return status == CULEX_ESTORE || status == CULEX_ECONNECT;
    }
}

static bool judge(struct pass *pass, culex_status status, const culex_error *error)
{
    if (status == CULEX_OK)
        return true;
    if (!is_fit(pass, status))
        fail_msg("%s at %ld%s: %s, %s", pass->failure->name, pass->n,
                 pass->is_sticky ? " and on" : "", culex_status_name(status), error->text);
    if (status != CULEX_ENOMEM && strstr(error->text, "q.db") == NULL)
        fail_msg("%s at %ld: no file in \"%s\"", pass->failure->name, pass->n, error->text);
    pass->worst = status;
    return false;
}

static bool call(struct pass *pass, struct culex_store *store, size_t number, size_t len,
                 culex_error *error)
{
    static const char payload[4000];
    struct culex_new_run run = fixture_run(payload, len);
    struct culex_enqueue_result result;
    run.keep_success_ms = 86400000;
    if (!judge(pass,
               store->ops->enqueue(store, "q", &pass->tickets[number], &run, 1, &result, error),
               error))
        return false;
    assert_int_equal(result.outcome, CULEX_ENQUEUED_NEW);
    pass->enqueued[pass->enqueued_count++] = result.id;
    pass->is_answered[number] = true;
    return true;
}

/* By one producer, until a call fails: then another goes on. */
static bool enqueue(struct pass *pass, struct culex_store *store, size_t len, culex_error *error)
{
    size_t number = pass->ticket_count++;
    bool has_failed = number > 0 && !pass->is_answered[number - 1];
    assert_true(number < CALLS);
    struct culex_ticket *ticket = &pass->tickets[number];
    *ticket = number > 0 ? pass->tickets[number - 1] : (struct culex_ticket){.producer = 1};
    ticket->producer += has_failed;
    culex__ticket_next(ticket, pass->fixture.now_ms);
    return call(pass, store, number, len, error);
}

/* What got no answer is repeated: there is one run for each ticket. */
static void repeat_all(struct pass *pass, struct culex_store *store, culex_error *error)
{
    for (size_t i = 0; i < pass->ticket_count; i++) {
        if (!pass->is_answered[i] && !call(pass, store, i, 20, error))
            fail_msg("%s at %ld: call %zu cannot be repeated: %s", pass->failure->name, pass->n, i,
                     error->text);
    }
    assert_int_equal(pass->enqueued_count, pass->ticket_count);
}

static void work(struct pass *pass, struct culex_store *store, culex_error *error)
{
    struct culex_step step = {
        .queue = "q", .session = ONE, .nonce = 1, .want = 1, .lease_ms = 60000};
    struct culex_step_reply reply;
    if (!judge(pass, store->ops->step(store, &step, &reply, error), error))
        return;
    struct culex_ack ack = {.event = CULEX_EVENT_DONE};
    size_t count = reply.grant_count;
    if (count > 0) {
        ack.id = reply.grants[0].facts.id;
        ack.attempt = reply.grants[0].facts.attempt;
    }
    store->ops->step_release(store, &reply);
    step.nonce = 2;
    step.want = 0;
    step.acks = &ack;
    step.ack_count = count;
    if (!judge(pass, store->ops->step(store, &step, &reply, error), error))
        return;
    if (count > 0) {
        assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
        pass->done[pass->done_count++] = ack.id;
    }
    store->ops->step_release(store, &reply);
}

static culex_status open_store(struct pass *pass, struct culex_store **ret_store,
                               culex_error *error)
{
    char url[128];
    struct culex_store_options options = {.timeout_ms = 5, .synchronous = "full"};
    snprintf(url, sizeof url, "%s?reserve=0", pass->fixture.path);
    return culex__sqlite_open_as(pass->version, url, false, &options, &pass->fixture.env, ret_store,
                                 error);
}

/* --- the scenario -------------------------------------------------------------------------- */

static void check_left(struct pass *pass)
{
    char sql[128];
    assert_sound(&pass->fixture);
    assert_int_equal(fixture_ask(&pass->fixture, "SELECT count(*) FROM runs"), pass->ticket_count);
    for (size_t i = 0; i < pass->enqueued_count; i++) {
        const unsigned char *b = pass->enqueued[i].b;
        bool is_done = false;
        for (size_t k = 0; k < pass->done_count; k++)
            is_done |= memcmp(&pass->done[k], b, 16) == 0;
        snprintf(sql, sizeof sql, "SELECT count(*) FROM runs WHERE place = %lld%s",
                 (long long)fixture_place(pass->enqueued[i]), is_done ? " AND state = 'D'" : "");
        if (fixture_ask(&pass->fixture, sql) != 1)
            fail_msg("%s at %ld: acknowledged run %zu is gone", pass->failure->name, pass->n, i);
    }
}

/* True when a call was made to fail. */
static bool pass_run(struct pass *pass)
{
    struct culex_store *store = NULL;
    culex_error error = {.text = ""};
    fixture_init(&pass->fixture);
    shim_fail(pass->failure->call, pass->n, pass->failure->code, pass->is_sticky);
    if (judge(pass, open_store(pass, &store, &error), &error)) {
        enqueue(pass, store, 20, &error);
        enqueue(pass, store, 4000, &error);
        work(pass, store, &error);
        culex__sqlite_checkpoint(culex__sqlite_of(store), false);
        enqueue(pass, store, 20, &error);
    }
    long failed = shim_heal();
    /* The very same handle is good again. */
    if (store == NULL && open_store(pass, &store, &error) != CULEX_OK)
        fail_msg("%s at %ld: cannot be opened again: %s", pass->failure->name, pass->n, error.text);
    if (!enqueue(pass, store, 20, &error))
        fail_msg("%s at %ld: the handle stays unusable: %s", pass->failure->name, pass->n,
                 error.text);
    repeat_all(pass, store, &error);
    store->ops->close(store);
    check_left(pass);
    fixture_release(&pass->fixture);
    return failed > 0;
}

static void all_of(const struct failure *failure, int version, bool is_sticky)
{
    long n = 0;
    bool has_failed = true, has_shown = false;
    for (; has_failed && n < CALLS_MAX; n += STRIDE) {
        struct pass pass = {.version = version, .failure = failure, .n = n, .is_sticky = is_sticky};
        has_failed = pass_run(&pass);
        has_shown |= pass.worst != CULEX_OK;
    }
    assert_true(n < CALLS_MAX);
    printf("%-18s %s %ld calls%s\n", failure->name,
           is_sticky ? "from the n-th on:" : "the n-th:", n - STRIDE,
           has_shown ? "" : ", never shown");
}

static void all(int version)
{
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        all_of(&failures[i], version, false);
        all_of(&failures[i], version, true);
    }
}

static void test_nth_failure__loses_nothing_with_our_checkpoints(void **state)
{
    (void)state;
    all(GUARDED);
}

static void test_nth_failure__loses_nothing_with_checkpoints_by_sqlite(void **state)
{
    (void)state;
    all(CULEX__SQLITE_WAL_RESET_FIXED);
}

/* --- what cannot be read for the moment ---------------------------------------------------- */

/* What is done to a run by a handle that has nothing in its cache. */
typedef culex_status (*reading_fn)(struct culex_store *store, uint64_t number, culex_error *error);

static culex_status read_by_claim(struct culex_store *store, uint64_t number, culex_error *error)
{
    struct culex_step step = {
        .queue = "q", .session = ONE, .nonce = number + 1, .want = 1, .lease_ms = 60000};
    struct culex_step_reply reply;
    culex_status status = store->ops->step(store, &step, &reply, error);
    if (status == CULEX_OK)
        store->ops->step_release(store, &reply);
    return status;
}

static culex_status read_by_fsck(struct culex_store *store, uint64_t number, culex_error *error)
{
    struct culex_fsck_reply reply = {.cursor = 0};
    culex_status status;
    (void)number;
    do {
        status = store->ops->fsck(store, "q", reply.cursor, true, &reply, error);
    } while (status == CULEX_OK && reply.cursor != 0);
    return status;
}

/* True when a read was made to fail. */
static bool reading_fails(struct fixture *fixture, reading_fn reading, long n, int code)
{
    struct culex_store_options options = {.timeout_ms = 500};
    struct culex_store *store;
    culex_error error = {.text = ""};
    assert_int_equal(
        culex__sqlite_open(fixture->path, false, &options, &fixture->env, &store, &error),
        CULEX_OK);
    shim_fail(SHIM_CALL_READ, n, code, false);
    reading(store, (uint64_t)n, &error);
    bool has_failed = shim_heal() > 0;
    store->ops->close(store);
    return has_failed;
}

static void condemns_no_run(struct fixture *fixture, reading_fn reading, int code)
{
    long n = 0;
    for (; n < CALLS_MAX && reading_fails(fixture, reading, n, code); n++) {
        if (fixture_ask(fixture, "SELECT count(*) FROM runs WHERE state = 'X'") != 0)
            fail_msg("read %ld, SQLite code %d: the run is dead", n, code);
    }
    assert_in_range(n, 3, CALLS_MAX - 1);
}

/* A payload in a row of its own that cannot be read says nothing about its run. */
static void test_failed_read__condemns_no_run(void **state)
{
    struct fixture *fixture = *state;
    struct pass pass = {.fixture = *fixture, .failure = &failures[0]};
    culex_error error;
    struct culex_store *store = fixture_open(fixture, GUARDED);
    assert_true(enqueue(&pass, store, 4000, &error));
    store->ops->close(store);
    condemns_no_run(fixture, read_by_fsck, SQLITE_IOERR_READ);
    condemns_no_run(fixture, read_by_fsck, SQLITE_IOERR_NOMEM);
    condemns_no_run(fixture, read_by_claim, SQLITE_IOERR_READ);
}

/* --- an opening that fails ----------------------------------------------------------------- */

static size_t count_writes(enum shim_part part)
{
    size_t count = 0;
    for (size_t i = 0; i < shim_op_count(); i++)
        count += shim_op(i)->kind == SHIM_WRITE && shim_op(i)->part == part;
    return count;
}

/* SQLite before 3.38 crashes in a checkpoint after an opening that could not map the log's index.
 */
static void test_failed_opening__writes_no_log_back(void **state)
{
    struct fixture *fixture = *state;
    struct culex_store_options options = {.timeout_ms = 500, .synchronous = "sometimes"};
    struct culex_store *store = fixture_open(fixture, GUARDED), *second;
    struct culex_new_run run = fixture_run("p", 1);
    assert_int_equal(fixture_enqueue(store, "q", &run), CULEX_ENQUEUED_NEW);
    shim_record(true);
    assert_int_equal(culex__sqlite_open_as(GUARDED, fixture->path, false, &options, &fixture->env,
                                           &second, NULL),
                     CULEX_EINVAL);
    assert_int_equal(count_writes(SHIM_DB), 0);
    store->ops->close(store);
    assert_true(count_writes(SHIM_DB) > 0);
    shim_record(false);
}

/* --- a lock held for long ------------------------------------------------------------------ */

/* A world in which waiting costs no time, and in which another program ends its transaction when
 * `end_ns` is over. */
struct waiting {
    int64_t now_ns, end_ns;
    sqlite3 *other;
};

static int64_t waiting_now(void *self)
{
    return ((struct waiting *)self)->now_ns;
}

static int64_t waiting_clock(void *self)
{
    return 1700000000000 + waiting_now(self) / 1000000;
}

static int waiting_poll(void *self, struct pollfd *fds, nfds_t count, int timeout_ms)
{
    struct waiting *waiting = self;
    (void)fds;
    (void)count;
    waiting->now_ns += (int64_t)timeout_ms * 1000000;
    if (waiting->now_ns >= waiting->end_ns)
        sqlite3_exec(waiting->other, "COMMIT", NULL, NULL, NULL);
    return 0;
}

static void waiting_random(void *self, void *ret_bytes, size_t len)
{
    (void)self;
    memset(ret_bytes, 0x5a, len);
}

static culex_status pause_through(struct fixture *fixture, int64_t held_ms, int64_t *ret_took_ms)
{
    struct waiting waiting = {.now_ns = 0, .end_ns = held_ms * 1000000};
    struct culex_env env = fixture->env;
    struct culex_store_options options = {.timeout_ms = 500};
    struct culex_store *store;
    culex_client *client;
    culex_error error = {.text = ""};
    size_t released;
    int64_t now_ms;
    env.self = &waiting;
    env.boottime_ns = waiting_now;
    env.clock_ms = env.store_clock_ms = waiting_clock;
    env.poll = waiting_poll;
    env.random = waiting_random;
    assert_int_equal(culex__sqlite_open(fixture->path, false, &options, &env, &store, &error),
                     CULEX_OK);
    assert_int_equal(culex__client_create(store, 1000, &env, &client, &error), CULEX_OK);
    assert_int_equal(
        store->ops->hello(store, "q", "host/1", "00000000000000aa", &released, &now_ms, &error),
        CULEX_OK);
    assert_int_equal(sqlite3_open(fixture->path, &waiting.other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(waiting.other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    waiting.now_ns = 0;
    culex_status status = culex_client_pause(client, "q", &error);
    *ret_took_ms = waiting.now_ns / 1000000;
    if (status != CULEX_OK)
        assert_non_null(strstr(error.text, "another program holds its lock"));
    sqlite3_close(waiting.other);
    culex_client_close(client);
    return status;
}

/* Longer than the store waits, shorter than the caller: the engine asks again. */
static void test_lock_held_for_long__engine_asks_again(void **state)
{
    int64_t took_ms;
    assert_int_equal(pause_through(*state, 700, &took_ms), CULEX_OK);
    assert_in_range(took_ms, 700, 1000);
}

static void test_lock_held_for_ever__gives_up_in_time(void **state)
{
    int64_t took_ms;
    assert_int_equal(pause_through(*state, 3600000, &took_ms), CULEX_EBUSY);
    assert_in_range(took_ms, 500, 1100);
}

int main(void)
{
    shim_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nth_failure__loses_nothing_with_our_checkpoints),
        cmocka_unit_test(test_nth_failure__loses_nothing_with_checkpoints_by_sqlite),
        cmocka_unit_test_setup_teardown(test_failed_read__condemns_no_run, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_failed_opening__writes_no_log_back, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_lock_held_for_long__engine_asks_again, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_lock_held_for_ever__gives_up_in_time, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
