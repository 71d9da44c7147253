/* What goes wrong around a store: full disks, locks, damage, foreign files, no memory. Each is told
 * apart, names the file, changes nothing, and is over when its cause is. */
#include "fixture.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sha256.h"
#include "failing_malloc.h"
#include "store/sqlite/checkpoint.h"
#include "platform/filesystem.h"
#include "store/sqlite/transaction.h"

#define ONE "aaaaaaaaaaaaaaaa"

/* --- memory that runs out: SQLite's, by its own hooks, and ours ----------------------------- */

static long allocations_left = -1; /* -1: no limit */
static bool is_once;               /* only the one at the limit fails */
static culex_error last_error;

bool malloc_fails(void)
{
    if (allocations_left < 0)
        return false;
    if (allocations_left == 0) {
        if (is_once)
            allocations_left = -1;
        return true;
    }
    allocations_left--;
    return false;
}

static sqlite3_mem_methods system_memory;

static void *counted_malloc(int size)
{
    return malloc_fails() ? NULL : system_memory.xMalloc(size);
}

static void *counted_realloc(void *block, int size)
{
    return malloc_fails() ? NULL : system_memory.xRealloc(block, size);
}

static void count_sqlite_memory(void)
{
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_memory);
    sqlite3_mem_methods counted = system_memory;
    counted.xMalloc = counted_malloc;
    counted.xRealloc = counted_realloc;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &counted), SQLITE_OK);
}

static culex_status open_enqueue_step(struct fixture *fixture, const struct culex_new_run *run)
{
    struct culex_store_options options = {.timeout_ms = fixture->timeout_ms, .synchronous = "off"};
    struct culex_store *store = NULL;
    struct culex_enqueue_result result;
    struct culex_step_reply reply;
    struct culex_run_info *info;
    struct culex_step step = {
        .queue = "q", .session = ONE, .nonce = 1, .want = 4, .lease_ms = 1000};
    culex_status status =
        culex__sqlite_open(fixture->path, false, &options, &fixture->env, &store, &last_error);
    if (status != CULEX_OK)
        return status;
    status = store->ops->enqueue(store, "q", NULL, run, 1, &result, &last_error);
    if (status == CULEX_OK)
        status = store->ops->step(store, &step, &reply, &last_error);
    if (status == CULEX_OK)
        store->ops->step_release(store, &reply);
    if (status == CULEX_OK)
        status = store->ops->get(store, "q", result.id, &info, &last_error);
    if (status == CULEX_OK)
        culex_run_info_free(info);
    store->ops->close(store);
    return status;
}

static void fail_allocations(struct fixture *fixture)
{
    bool has_failed = false;
    long n = 0;
    long passed = 0;
    culex_status status = CULEX_ENOMEM;
    /* One that fails alone may be made good for by SQLite itself: not every pass shows it. */
    for (; passed < 60 && n < 40000; n += n < 400 ? 1 : 7) {
        struct culex_new_run run = fixture_run("payload", 7);
        allocations_left = n;
        status = open_enqueue_step(fixture, &run);
        allocations_left = -1;
        if (status != CULEX_OK && status != CULEX_ENOMEM)
            fail_msg("allocation %ld: %s: %s", n, culex_status_name(status), last_error.text);
        has_failed = has_failed || status == CULEX_ENOMEM;
        passed = status == CULEX_OK ? passed + 1 : 0;
    }
    assert_true(has_failed);
    assert_int_equal(status, CULEX_OK);
    assert_sound(fixture);
}

static void test_memory__every_nth_allocation_fails(void **state)
{
    is_once = false;
    fail_allocations(*state);
}

static void test_memory__one_allocation_fails_and_no_other(void **state)
{
    is_once = true;
    fail_allocations(*state);
}

/* --- full ------------------------------------------------------------------------------ */

static void test_full__says_so_and_goes_on_when_there_is_room(void **state)
{
    struct fixture *fixture = *state;
    struct rlimit old, tight;
    char big[3000];
    memset(big, 'x', sizeof big);
    fixture->store = fixture_open(fixture, 3040001);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tight = old;
    tight.rlim_cur = 200 * 1024;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    culex_error error = {.text = ""};
    struct culex_enqueue_result result;
    culex_status status = CULEX_OK;
    int64_t stored = 0;
    for (int i = 0; i < 1000; i++) {
        struct culex_new_run run = fixture_run(big, sizeof big);
        status = fixture->store->ops->enqueue(fixture->store, "q", NULL, &run, 1, &result, &error);
        if (status != CULEX_OK)
            break;
        stored++;
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, CULEX_EFULL);
    assert_non_null(strstr(error.text, "q.db"));
    struct culex_new_run run = fixture_run("x", 1);
    assert_int_equal(fixture_enqueue(fixture->store, "q", &run), CULEX_ENQUEUED_NEW);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), stored + 1);
    assert_sound(fixture);
}

static void test_full__at_its_page_count_refuses_new_runs_only(void **state)
{
    struct fixture *fixture = *state;
    char big[3000], bound[60];
    memset(big, 'x', sizeof big);
    fixture->store = fixture_open(fixture, CULEX__SQLITE_WAL_RESET_FIXED);
    sqlite3 *db = culex__sqlite_of(fixture->store)->db;
    snprintf(bound, sizeof bound, "PRAGMA max_page_count=%" PRId64,
             fixture_ask(fixture, "PRAGMA page_count") + 14);
    sqlite3_exec(db, bound, NULL, NULL, NULL);
    culex_status status = CULEX_OK;
    struct culex_enqueue_result result;
    for (int i = 0; i < 100 && status == CULEX_OK; i++) {
        struct culex_new_run run = fixture_run(big, sizeof big);
        status = fixture->store->ops->enqueue(fixture->store, "q", NULL, &run, 1, &result, NULL);
    }
    assert_int_equal(status, CULEX_EFULL);
    /* What is there can still be worked off: done runs give their pages back. */
    for (int i = 0; i < 3; i++) {
        struct culex_step_reply reply = fixture_step(fixture->store, "q", ONE, 1, NULL, 0);
        assert_int_equal(reply.grant_count, 1);
        struct culex_ack ack = {
            .id = reply.grants[0].facts.id, .attempt = 1, .event = CULEX_EVENT_DONE};
        fixture->store->ops->step_release(fixture->store, &reply);
        reply = fixture_step(fixture->store, "q", ONE, 0, &ack, 1);
        assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
        fixture->store->ops->step_release(fixture->store, &reply);
    }
    struct culex_new_run run = fixture_run("x", 1);
    assert_int_equal(fixture_enqueue(fixture->store, "q", &run), CULEX_ENQUEUED_NEW);
}

/* --- read-only, locked ----------------------------------------------------------------- */

/* Tests may run as root, whom no file mode stops: query_only gives the same answer. */
static void test_readonly__refuses_writes_and_still_reads(void **state)
{
    struct fixture *fixture = *state;
    fixture->store = fixture_open(fixture, sqlite3_libversion_number());
    struct culex_new_run run = fixture_run("x", 1);
    fixture_enqueue(fixture->store, "q", &run);
    sqlite3 *db = culex__sqlite_of(fixture->store)->db;
    sqlite3_exec(db, "PRAGMA query_only=1", NULL, NULL, NULL);
    struct culex_new_run other = fixture_run("x", 1);
    struct culex_enqueue_result result;
    culex_error error;
    culex_queue_stats stats;
    assert_int_equal(
        fixture->store->ops->enqueue(fixture->store, "q", NULL, &other, 1, &result, &error),
        CULEX_EREADONLY);
    assert_non_null(strstr(error.text, "q.db"));
    assert_int_equal(fixture->store->ops->stats(fixture->store, "q", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.enqueued, 1);
    sqlite3_exec(db, "PRAGMA query_only=0", NULL, NULL, NULL);
    assert_int_equal(fixture_enqueue(fixture->store, "q", &other), CULEX_ENQUEUED_NEW);
}

static void test_locked__waits_no_longer_than_the_timeout(void **state)
{
    struct fixture *fixture = *state;
    fixture->timeout_ms = FIXTURE_BRIEF_MS;
    fixture->store = fixture_open(fixture, sqlite3_libversion_number());
    sqlite3 *other;
    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    struct culex_new_run run = fixture_run("x", 1);
    struct culex_enqueue_result result;
    culex_error error;
    int64_t before = culex__env_boottime_ms(&fixture->env);
    assert_int_equal(
        fixture->store->ops->enqueue(fixture->store, "q", NULL, &run, 1, &result, &error),
        CULEX_EBUSY);
    int64_t waited = culex__env_boottime_ms(&fixture->env) - before;
    assert_in_range(waited, FIXTURE_BRIEF_MS, 20000); /* it did wait, and it came back */
    assert_non_null(strstr(error.text, "q.db"));
    sqlite3_exec(other, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(other);
    assert_int_equal(fixture_enqueue(fixture->store, "q", &run), CULEX_ENQUEUED_NEW);
}

/* The same bound holds for our own lock file. */
static void test_locked__by_a_checkpoint_is_busy_and_names_the_file(void **state)
{
    struct fixture *fixture = *state;
    fixture->timeout_ms = FIXTURE_BRIEF_MS;
    fixture->store = fixture_open(fixture, 3040001);
    struct culex_store *other = fixture_open(fixture, 3040001);
    int fd = culex__sqlite_of(other)->lock_fd;
    assert_true(fd >= 0);
    struct culex_new_run run = fixture_run("x", 1);
    struct culex_enqueue_result result;
    culex_error error;
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(
        fixture->store->ops->enqueue(fixture->store, "q", NULL, &run, 1, &result, &error),
        CULEX_EBUSY);
    assert_non_null(strstr(error.text, "q.db-lock"));
    assert_int_equal(flock(fd, LOCK_UN), 0);
    assert_int_equal(fixture_enqueue(fixture->store, "q", &run), CULEX_ENQUEUED_NEW);
    other->ops->close(other);
}

/* --- checkpoints ----------------------------------------------------------------------- */

static int64_t size_of(const char *path, const char *suffix)
{
    char name[256];
    struct stat info;
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return stat(name, &info) == 0 ? info.st_size : -1;
}

/* Both schemes keep the log from growing without end, and bring the pages home. */
static void check_log_is_bounded(struct fixture *fixture, int version)
{
    char big[1000];
    memset(big, 'x', sizeof big);
    fixture->store = fixture_open(fixture, version);
    for (int i = 0; i < 1500; i++) {
        struct culex_new_run run = fixture_run(big, sizeof big);
        fixture_enqueue(fixture->store, "q", &run);
    }
    assert_in_range(size_of(fixture->path, "-wal"), 1, 8 * 1024 * 1024);
    assert_true(size_of(fixture->path, "") > 500000);
    fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
    char wal[256];
    snprintf(wal, sizeof wal, "%s-wal", fixture->path);
    unlink(wal); /* everything is in the file by now */
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 1500);
    assert_sound(fixture);
}

static void test_checkpoint__guarded_bounds_the_log(void **state)
{
    check_log_is_bounded(*state, 3040001);
}

static void test_checkpoint__by_sqlite_bounds_the_log(void **state)
{
    check_log_is_bounded(*state, CULEX__SQLITE_WAL_RESET_FIXED);
}

/* A guarded checkpoint stays away while any writer is inside. */
static void test_checkpoint__never_beside_a_writer(void **state)
{
    struct fixture *fixture = *state;
    fixture->store = fixture_open(fixture, 3040001);
    struct culex_store *writer = fixture_open(fixture, 3040001);
    struct culex_new_run run = fixture_run("x", 1);
    fixture_enqueue(fixture->store, "q", &run);
    assert_int_equal(culex__sqlite_begin(culex__sqlite_of(writer), NULL), CULEX_OK);
    culex__sqlite_of(fixture->store)->wal_pages = 5000;
    culex__sqlite_guard_checkpoint(culex__sqlite_of(fixture->store), true);
    assert_int_equal(culex__sqlite_of(fixture->store)->wal_pages, 5000);
    assert_int_equal(culex__sqlite_end_transaction(culex__sqlite_of(writer), CULEX_OK, NULL),
                     CULEX_OK);
    culex__sqlite_guard_checkpoint(culex__sqlite_of(fixture->store), true);
    assert_int_equal(culex__sqlite_of(fixture->store)->wal_pages, 0);
    writer->ops->close(writer);
}

/* --- damage and foreign files ---------------------------------------------------------- */

static void check_damaged(struct fixture *fixture, const char *sql, size_t payload_len)
{
    char payload[4000];
    memset(payload, 'p', sizeof payload);
    struct culex_new_run bad = fixture_own_run(payload, payload_len);
    struct culex_new_run good = fixture_run("good", 4);
    culex_uuid bad_id = fixture_put(fixture->store, "q", &bad);
    fixture_sql(fixture, sql);
    culex_uuid good_id = fixture_put(fixture->store, "q", &good);
    struct culex_step_reply reply = fixture_step(fixture->store, "q", ONE, 4, NULL, 0);
    assert_int_equal(reply.grant_count, 1);
    assert_memory_equal(&reply.grants[0].facts.id, &good_id, sizeof good_id);
    fixture->store->ops->step_release(fixture->store, &reply);
    culex_run_info *info;
    assert_int_equal(fixture->store->ops->get(fixture->store, "q", bad_id, &info, NULL), CULEX_OK);
    assert_int_equal(info->state, CULEX_RUN_DEAD);
    assert_int_equal(info->attempt, 0);
    assert_non_null(strstr(info->error_text, "damaged"));
    culex_run_info_free(info);
}

static void test_damage__row_never_runs(void **state)
{
    struct fixture *fixture = *state;
    fixture->store = fixture_open(fixture, sqlite3_libversion_number());
    check_damaged(fixture, "UPDATE run SET payload = CAST('pq' AS BLOB) WHERE state = 'W'", 2);
    check_damaged(fixture, "UPDATE run SET job = 'tesu.job' WHERE state = 'W'", 2);
    check_damaged(fixture, "UPDATE run SET payload_len = 1 WHERE state = 'W'", 2);
    check_damaged(fixture, "UPDATE payload SET bytes = zeroblob(4000)", 4000);
    check_damaged(fixture, "DELETE FROM payload", 4000);
}

static size_t step_of(struct fixture *fixture, struct culex_step step)
{
    static uint64_t nonce;
    struct culex_step_reply reply;
    culex_error error = {0};
    step.queue = "q";
    step.session = ONE;
    step.lease_ms = 1000;
    step.nonce = ++nonce;
    if (fixture->store->ops->step(fixture->store, &step, &reply, &error) != CULEX_OK)
        fail_msg("a step fails over one row: %s", error.text);
    size_t granted = reply.grant_count;
    fixture->store->ops->step_release(fixture->store, &reply);
    return granted;
}

static void assert_aside(struct fixture *fixture, culex_uuid id)
{
    culex_run_info *info = NULL;
    assert_int_equal(fixture->store->ops->get(fixture->store, "q", id, &info, NULL), CULEX_OK);
    assert_int_equal(info->state, CULEX_RUN_DEAD);
    assert_non_null(strstr(info->error_text, "damaged"));
    assert_non_null(strstr(info->error_text, "losses -1"));
    culex_run_info_free(info);
}

/* Neither a claim nor an ack, a beat, the reaper or a list stumbles over it for ever. */
static void test_damage__row_out_of_range_is_put_aside(void **state)
{
    struct fixture *fixture = *state;
    fixture->store = fixture_open(fixture, sqlite3_libversion_number());
    struct culex_new_run bad = fixture_own_run("x", 1), good = fixture_own_run("y", 1);
    culex_uuid bad_id = fixture_put(fixture->store, "q", &bad);
    culex_uuid good_id = fixture_put(fixture->store, "q", &good);
    fixture_sql(fixture, "UPDATE run SET losses = -1 WHERE seq % 16 = 1");
    culex_run_info *info;
    assert_int_equal(fixture->store->ops->get(fixture->store, "q", bad_id, &info, NULL),
                     CULEX_ECORRUPT);
    assert_int_equal(step_of(fixture, (struct culex_step){.want = 5}), 1);
    assert_aside(fixture, bad_id);

    fixture_sql(fixture, "UPDATE run SET losses = -1 WHERE seq % 16 = 2");
    struct culex_ack ack = {.id = good_id, .attempt = 1, .event = CULEX_EVENT_DONE};
    assert_int_equal(step_of(fixture, (struct culex_step){.acks = &ack, .ack_count = 1}), 0);
    assert_aside(fixture, good_id);

    struct culex_new_run lost = fixture_own_run("z", 1);
    culex_uuid lost_id = fixture_put(fixture->store, "q", &lost);
    assert_int_equal(step_of(fixture, (struct culex_step){.want = 5}), 1);
    fixture_sql(fixture, "UPDATE run SET losses = -1 WHERE seq % 16 = 3");
    fixture->now_ms += 5000;
    assert_int_equal(step_of(fixture, (struct culex_step){.want = 5}), 0);
    assert_aside(fixture, lost_id);
    culex_queue_stats stats;
    assert_int_equal(fixture->store->ops->stats(fixture->store, "q", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.count[CULEX_RUN_DEAD], 3);
    assert_int_equal(stats.count[CULEX_RUN_ACTIVE] + stats.count[CULEX_RUN_WAITING], 0);
}

static size_t purge_of(struct fixture *fixture, culex_run_state state)
{
    struct culex_purge_reply purged = {0};
    culex_error error = {.text = ""};
    if (fixture->store->ops->purge(fixture->store, "q", state, 10, &purged, &error) != CULEX_OK)
        fail_msg("a purge fails over one row: %s", error.text);
    assert_false(purged.is_more);
    return purged.deleted;
}

/* The others go at once; it becomes a dead one, which goes as those do. */
static void test_damage__purge_puts_a_row_aside_and_goes_on(void **state)
{
    struct fixture *fixture = *state;
    fixture->store = fixture_open(fixture, sqlite3_libversion_number());
    culex_uuid ids[3];
    for (int i = 0; i < 3; i++) {
        struct culex_new_run run = fixture_run("x", 1);
        run.delay_ms = 60000;
        culex_uuid id = fixture_put(fixture->store, "q", &run);
        ids[i] = id;
    }
    fixture_sql(fixture, "UPDATE run SET losses = -1 WHERE seq % 16 = 2");
    assert_int_equal(purge_of(fixture, CULEX_RUN_SCHEDULED), 2);
    assert_aside(fixture, ids[1]);
    culex_queue_stats stats;
    assert_int_equal(fixture->store->ops->stats(fixture->store, "q", &stats, NULL), CULEX_OK);
    assert_int_equal(stats.count[CULEX_RUN_DEAD], 1);
    assert_int_equal(stats.count[CULEX_RUN_SCHEDULED] + stats.count[CULEX_RUN_WAITING], 0);
    fixture_sql(fixture, "UPDATE run SET losses = -1 WHERE seq % 16 = 2");
    assert_int_equal(purge_of(fixture, CULEX_RUN_DEAD), 0);
    assert_int_equal(purge_of(fixture, CULEX_RUN_DEAD), 1);
}

/* A verb on the one run tells what repairs it. */
static void test_damage__refusal_names_what_puts_the_row_aside(void **state)
{
    struct fixture *fixture = *state;
    fixture->store = fixture_open(fixture, sqlite3_libversion_number());
    struct culex_new_run run = fixture_own_run("x", 1);
    culex_error error = {.text = ""};
    culex_run_info *info;
    culex_uuid id = fixture_put(fixture->store, "q", &run);
    fixture_sql(fixture, "UPDATE run SET losses = -1 WHERE seq % 16 = 1");
    assert_int_equal(fixture->store->ops->get(fixture->store, "q", id, &info, &error),
                     CULEX_ECORRUPT);
    assert_non_null(strstr(error.text, "culex_client_fsck"));
    assert_int_equal(fixture->store->ops->retry(fixture->store, "q", id, &error), CULEX_ECORRUPT);
    assert_non_null(strstr(error.text, "culex_client_fsck"));
}

/* The bytes of a run are whole, and too many: nobody but another program can have put them there.
 */
static void check_too_long(struct fixture *fixture, const char *sql, size_t len)
{
    culex_run_info *info;
    char *payload = calloc(1, len + 1);
    assert_non_null(payload);
    struct culex_new_run bad = fixture_own_run(payload, 1), good;
    bad.payload_len = len;
    culex_uuid bad_id = fixture_put(fixture->store, "q", &bad);
    if (sql != NULL)
        fixture_sql(fixture, sql);
    good = fixture_run("fine", 4);
    fixture_enqueue(fixture->store, "q", &good);
    assert_int_equal(step_of(fixture, (struct culex_step){.want = 5}), 1);
    assert_int_equal(fixture->store->ops->get(fixture->store, "q", bad_id, &info, NULL), CULEX_OK);
    assert_int_equal(info->state, CULEX_RUN_DEAD);
    assert_int_equal(info->attempt, 0);
    assert_int_equal(info->payload.len, 0);
    assert_non_null(strstr(info->error_text, "the payload is longer than 1048576 bytes"));
    culex_run_info_free(info);
    free(payload);
}

static void test_damage__payload_over_the_limit_is_put_aside(void **state)
{
    struct fixture *fixture = *state;
    fixture->store = fixture_open(fixture, sqlite3_libversion_number());
    check_too_long(fixture,
                   "UPDATE run SET payload_len = 1048577 WHERE state = 'W';"
                   "UPDATE payload SET bytes = zeroblob(1048577)",
                   4000);
    check_too_long(fixture, "UPDATE run SET payload_len = 9000000000 WHERE state = 'W'", 4000);
    check_damaged(fixture, "UPDATE run SET payload = zeroblob(90000000) WHERE state = 'W'", 2);
    check_damaged(fixture, "UPDATE payload SET bytes = zeroblob(90000000)", 4000);
}

/* What is shown of a run is cut to what a run may have. */
static void test_damage__get_shows_no_more_than_a_run_may_have(void **state)
{
    struct fixture *fixture = *state;
    fixture->store = fixture_open(fixture, sqlite3_libversion_number());
    struct culex_new_run run = fixture_own_run("x", 1);
    culex_uuid id = fixture_put(fixture->store, "q", &run);
    fixture_sql(fixture, "UPDATE run SET error_text = hex(zeroblob(9000000)), result = "
                         "zeroblob(90000000), progress = hex(zeroblob(9000000)), tags = "
                         "hex(zeroblob(9000000))");
    culex_run_info *info = NULL;
    assert_int_equal(fixture->store->ops->get(fixture->store, "q", id, &info, NULL), CULEX_OK);
    assert_int_equal(strlen(info->error_text), 4096);
    assert_int_equal(info->result.len, 0);
    assert_int_equal(strlen(info->progress_text), 0);
    assert_true(strlen(info->tags) < 2000);
    culex_run_info_free(info);
}

static void write_file(const char *path, const char *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_int_equal(write(fd, bytes, len), len);
    close(fd);
}

static void test_foreign__file_that_is_no_database_is_refused_untouched(void **state)
{
    struct fixture *fixture = *state;
    static const char text[] =
        "Dear diary, this is longer than one hundred bytes, for SQLite looks "
        "at the first hundred. Is it now?";
    char after[sizeof text];
    culex_error error;
    write_file(fixture->path, text, sizeof text);
    assert_int_equal(fixture_try_open(fixture, &error), CULEX_ECORRUPT);
    assert_non_null(strstr(error.text, "q.db"));
    int fd = open(fixture->path, O_RDONLY);
    assert_int_equal(read(fd, after, sizeof after), sizeof text);
    close(fd);
    assert_memory_equal(text, after, sizeof text);
}

static void test_foreign__another_programs_database_is_refused_untouched(void **state)
{
    struct fixture *fixture = *state;
    culex_error error;
    fixture_sql(fixture, "CREATE TABLE diary (day TEXT); PRAGMA user_version=1");
    assert_int_equal(fixture_try_open(fixture, &error), CULEX_ECORRUPT);
    assert_non_null(strstr(error.text, "not a Culex file"));
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM sqlite_schema"), 1);
    assert_int_equal(
        fixture_ask(fixture, "SELECT journal_mode = 'delete' FROM pragma_journal_mode"), 1);
}

/* A checksum over names and bytes of all files in the folder but for the index of the log, which is
 * no data and made anew by whoever opens the file. */
static uint64_t folder_hash(const struct fixture *fixture)
{
    char command[256], text[64] = "";
    snprintf(command, sizeof command,
             "cd %s && { ls -s --hide='*-shm'; cat $(ls --hide='*-shm'); } | cksum",
             fixture->folder);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(text, sizeof text, pipe));
    pclose(pipe);
    return strtoull(text, NULL, 10);
}

/* A file as a process that was killed leaves it: with a log. */
static void leave_as_format(struct fixture *fixture, int format)
{
    char sql[64];
    pid_t child = fixture_fork();
    snprintf(sql, sizeof sql, "PRAGMA user_version=%d", format);
    if (child == 0) {
        struct culex_store *store = fixture_open(fixture, sqlite3_libversion_number());
        struct culex_new_run run = fixture_run("x", 1);
        fixture_put(store, "q", &run);
        fixture_sql(fixture, sql);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Of whatever format, the file, its log and its reserve stay as they are, and the text names both
 * formats. */
static void test_foreign__other_format_is_refused_untouched(void **state)
{
    static const int formats[] = {CULEX_RECORD_VERSION - 1, CULEX_RECORD_VERSION + 1};
    struct fixture *fixture = *state;
    culex_error error;
    char text[64];
    for (int i = 0; i < 2; i++) {
        leave_as_format(fixture, formats[i]);
        uint64_t before = folder_hash(fixture);
        assert_int_equal(fixture_try_open(fixture, &error), CULEX_EVERSION);
        snprintf(text, sizeof text, "format %d,", formats[i]);
        assert_non_null(strstr(error.text, text));
        snprintf(text, sizeof text, "format %d;", CULEX_RECORD_VERSION);
        assert_non_null(strstr(error.text, text));
        assert_non_null(strstr(error.text, fixture->path));
        assert_true(folder_hash(fixture) == before);
        snprintf(text, sizeof text, "PRAGMA user_version=%d", CULEX_RECORD_VERSION);
        fixture_sql(fixture, text);
        assert_int_equal(fixture_try_open(fixture, &error), CULEX_OK);
    }
}

static int text_add(void *hash, int count, char **texts, char **names)
{
    (void)names;
    for (int i = 0; i < count; i++) {
        for (const char *at = texts[i] != NULL ? texts[i] : ""; *at != '\0'; at++) {
            if (*at != ' ' && *at != '\n')
                culex__sha256_add(hash, at, 1);
        }
    }
    return 0;
}

/* A file that lacks a column or an index is of another format: else a build that asks for it would
 * open the file and fail, or be slow, with the first run. Whoever changes schema.sql raises
 * RECORD_VERSION, and writes both numbers here. */
static void test_format__of_columns_and_indexes_is_told_by_its_number(void **state)
{
    static const char columns[] =
        "SELECT t.name, c.name, c.type, c.\"notnull\", c.dflt_value, c.pk FROM sqlite_schema AS t,"
        " pragma_table_xinfo(t.name) AS c WHERE t.type = 'table' ORDER BY t.name, c.cid";
    static const char indexes[] =
        "SELECT sql FROM sqlite_schema WHERE type = 'index' ORDER BY name";
    struct fixture *fixture = *state;
    unsigned char digest[CULEX_SHA256_BYTES];
    struct culex_sha256 hash;
    sqlite3 *db;
    fixture_open(fixture, sqlite3_libversion_number());
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    culex__sha256_begin(&hash);
    assert_int_equal(sqlite3_exec(db, columns, text_add, &hash, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, indexes, text_add, &hash, NULL), SQLITE_OK);
    culex__sha256_end(&hash, digest);
    sqlite3_close(db);
    uint32_t sum = (uint32_t)digest[0] << 24 | (uint32_t)digest[1] << 16 |
                   (uint32_t)digest[2] << 8 | (uint32_t)digest[3];
    if (CULEX_RECORD_VERSION != 8 || sum != 0xfcbb4ce9)
        fail_msg("format %d has the columns and indexes of sum %08x", CULEX_RECORD_VERSION, sum);
}

static void test_open__what_cannot_be_opened_is_told_apart(void **state)
{
    struct fixture *fixture = *state;
    struct culex_store *store;
    struct culex_store_options odd = {.synchronous = "sometimes"};
    culex_error error;
    char path[128];
    snprintf(path, sizeof path, "%s/no/such/q.db", fixture->folder);
    assert_int_equal(culex__sqlite_open(path, false, NULL, &fixture->env, &store, &error),
                     CULEX_ECONNECT);
    assert_non_null(strstr(error.text, "No such file"));
    assert_int_equal(
        culex__sqlite_open(fixture->folder, false, NULL, &fixture->env, &store, &error),
        CULEX_EURL);
    assert_non_null(strstr(error.text, "is a folder"));
    assert_int_equal(culex__sqlite_open("", false, NULL, &fixture->env, &store, &error),
                     CULEX_EURL);
    assert_int_equal(culex__sqlite_open(fixture->path, false, &odd, &fixture->env, &store, &error),
                     CULEX_EINVAL);
}

static void test_open__without_a_descriptor_says_so(void **state)
{
    struct fixture *fixture = *state;
    struct culex_store *store;
    struct rlimit before, none;
    culex_error error;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    culex_status status =
        culex__sqlite_open(fixture->path, false, NULL, &fixture->env, &store, &error);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(status, CULEX_ECONNECT);
    assert_non_null(strstr(error.text, "this process has no descriptors left"));
}

static void test_open__new_file_is_private(void **state)
{
    struct fixture *fixture = *state;
    struct stat info;
    mode_t old = umask(0);
    fixture->store = fixture_open(fixture, 3040001);
    umask(old);
    assert_int_equal(stat(fixture->path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void test_open__network_file_systems_are_told_by_their_number(void **state)
{
    (void)state;
    assert_true(culex__filesystem_is_network(0x6969));                /* NFS */
    assert_true(culex__filesystem_is_network((long)(int)0xff534d42)); /* CIFS, sign-extended */
    assert_false(culex__filesystem_is_network(0xef53));               /* ext4 */
    assert_false(culex__filesystem_is_network(0x01021994));           /* tmpfs */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    count_sqlite_memory();
    const struct CMUnitTest tests[] = {
        TEST(test_memory__every_nth_allocation_fails),
        TEST(test_memory__one_allocation_fails_and_no_other),
        TEST(test_full__says_so_and_goes_on_when_there_is_room),
        TEST(test_full__at_its_page_count_refuses_new_runs_only),
        TEST(test_readonly__refuses_writes_and_still_reads),
        TEST(test_locked__waits_no_longer_than_the_timeout),
        TEST(test_locked__by_a_checkpoint_is_busy_and_names_the_file),
        TEST(test_checkpoint__guarded_bounds_the_log),
        TEST(test_checkpoint__by_sqlite_bounds_the_log),
        TEST(test_checkpoint__never_beside_a_writer),
        TEST(test_damage__row_never_runs),
        TEST(test_damage__row_out_of_range_is_put_aside),
        TEST(test_damage__purge_puts_a_row_aside_and_goes_on),
        TEST(test_damage__refusal_names_what_puts_the_row_aside),
        TEST(test_damage__payload_over_the_limit_is_put_aside),
        TEST(test_damage__get_shows_no_more_than_a_run_may_have),
        TEST(test_foreign__file_that_is_no_database_is_refused_untouched),
        TEST(test_foreign__another_programs_database_is_refused_untouched),
        TEST(test_foreign__other_format_is_refused_untouched),
        TEST(test_format__of_columns_and_indexes_is_told_by_its_number),
        TEST(test_open__what_cannot_be_opened_is_told_apart),
        TEST(test_open__without_a_descriptor_says_so),
        TEST(test_open__new_file_is_private),
        TEST(test_open__network_file_systems_are_told_by_their_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
