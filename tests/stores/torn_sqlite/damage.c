/* torn_sqlite/damage.c - files that were changed behind our back.
 *
 * usage: damage [FLIPS [SEED]]
 *
 * Every bit of one run's row is flipped, one at a time; then FLIPS random bits of the database and
 * of its log. The store may say that the file is damaged, may put the run aside, may not notice
 * where nothing of the run was hit; but whatever it grants is what was enqueued, to the byte. */
#include "fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/sqlite/checkpoint.h"

enum { GUARDED = 3040001, FLIPS = 400, RUNS = 40, NOBODY = 65534 };

#define ONE     "aaaaaaaaaaaaaaaa"
#define PAYLOAD "a payload that is easy to find"

static long flips = FLIPS;
static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
    seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % below;
}

/* --- files --------------------------------------------------------------------------------- */

struct bytes {
    unsigned char *at;
    size_t len;
};

static const char *beside(const struct fixture *fixture, const char *suffix)
{
    static char path[160];
    snprintf(path, sizeof path, "%s%s", fixture->path, suffix);
    return path;
}

static struct bytes file_read(const char *path)
{
    struct bytes bytes = {NULL, 0};
    struct stat info;
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &info), 0);
    bytes.len = (size_t)info.st_size;
    bytes.at = malloc(bytes.len + 1);
    assert_non_null(bytes.at);
    assert_int_equal(read(fd, bytes.at, bytes.len), bytes.len);
    close(fd);
    return bytes;
}

static void file_write(const char *path, const void *at, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, at, len), len);
    close(fd);
}

/* The file with everything written back, and no log. */
static struct bytes file_alone(struct fixture *fixture)
{
    fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
    unlink(beside(fixture, "-wal"));
    unlink(beside(fixture, "-shm"));
    return file_read(fixture->path);
}

/* --- what may happen ----------------------------------------------------------------------- */

static culex_status open_store(struct fixture *fixture, struct culex_store **ret_store,
                               culex_error *error)
{
    char url[128];
    struct culex_store_options options = {.timeout_ms = 300, .synchronous = "off"};
    snprintf(url, sizeof url, "%s?reserve=0", fixture->path);
    return culex__sqlite_open_as(GUARDED, url, false, &options, &fixture->env, ret_store, error);
}

static bool is_told(culex_status status, const culex_error *error)
{
    bool is_fit = status == CULEX_ECORRUPT || status == CULEX_ESTORE || status == CULEX_EVERSION;
    if (!is_fit || strstr(error->text, "q.db") == NULL)
        fail_msg("%s: %s", culex_status_name(status), error->text);
    return true;
}

struct outcome {
    long refused, granted, aside, unnoticed;
};

/* Runs that were put aside with a text that says why. */
static long count_aside(struct culex_store *store)
{
    sqlite3_stmt *statement;
    long count = 0;
    if (sqlite3_prepare_v2(culex__sqlite_of(store)->db,
                           "SELECT count(*) FROM run WHERE state = 'X' AND attempt = 0 AND"
                           " error_text LIKE 'damaged%'",
                           -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        count = (long)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return count;
}

/* Claims all there is and compares it with `payload`. */
static void claim_all(struct fixture *fixture, const culex_uuid *ids, size_t count,
                      struct outcome *outcome)
{
    struct culex_store *store = NULL;
    culex_error error = {.text = ""};
    culex_status status = open_store(fixture, &store, &error);
    struct culex_step step = {.queue = "q",
                              .session = ONE,
                              .nonce = 1,
                              .want = RUNS,
                              .max_bytes = 1 << 20,
                              .lease_ms = 60000};
    struct culex_step_reply reply;
    if (status == CULEX_OK)
        status = store->ops->step(store, &step, &reply, &error);
    if (status != CULEX_OK) {
        outcome->refused += is_told(status, &error);
        if (store != NULL)
            store->ops->close(store);
        assert_int_equal(access(fixture->path, F_OK), 0);
        return;
    }
    for (size_t i = 0; i < reply.grant_count; i++) {
        const struct culex_grant *grant = &reply.grants[i];
        bool is_known = false;
        for (size_t k = 0; k < count; k++)
            is_known |= memcmp(&grant->facts.id, &ids[k], sizeof ids[k]) == 0;
        assert_true(is_known);
        assert_string_equal(grant->job, "test.job");
        assert_int_equal(grant->payload_len, sizeof PAYLOAD);
        assert_memory_equal(grant->payload, PAYLOAD, sizeof PAYLOAD);
    }
    outcome->granted += (long)reply.grant_count;
    outcome->unnoticed += reply.grant_count == count;
    store->ops->step_release(store, &reply);
    outcome->aside += count_aside(store);
    store->ops->close(store);
}

/* --- one row, bit by bit ------------------------------------------------------------------- */

static size_t find(const struct bytes *file, const void *what, size_t len)
{
    const unsigned char *at = memmem(file->at, file->len, what, len);
    assert_non_null(at);
    return (size_t)(at - file->at);
}

/* What the store says about the run after the flip of bit `bit`. */
static void flip_in_row(struct fixture *fixture, const struct bytes *file, const culex_uuid *id,
                        size_t bit, bool must_notice, struct outcome *outcome)
{
    long granted = outcome->granted;
    file->at[bit / 8] ^= (unsigned char)(1u << bit % 8);
    file_write(fixture->path, file->at, file->len);
    file->at[bit / 8] ^= (unsigned char)(1u << bit % 8);
    unlink(beside(fixture, "-wal"));
    unlink(beside(fixture, "-shm"));
    claim_all(fixture, id, 1, outcome);
    if (must_notice && outcome->granted != granted)
        fail_msg("a run whose byte %zu was changed is given out", bit / 8);
}

static void test_bit_flips__no_bit_of_a_row_changes_what_runs(void **state)
{
    struct fixture *fixture = *state;
    struct outcome outcome = {0};
    culex_error error;
    assert_int_equal(open_store(fixture, &fixture->store, &error), CULEX_OK);
    struct culex_new_run run = fixture_own_run(PAYLOAD, sizeof PAYLOAD);
    culex_uuid run_id = fixture_put(fixture->store, "q", &run);
    struct bytes file = file_alone(fixture);
    size_t payload = find(&file, PAYLOAD, sizeof PAYLOAD);
    size_t row = payload - 160, end = payload + sizeof PAYLOAD;
    size_t job = find(&file, "test.job", 8);
    assert_true(job > row && job < payload);
    /* In the row of the table, not in the index. */
    struct bytes near_row = {file.at + row, end - row};
    size_t id = row + find(&near_row, &run_id, sizeof run_id);
    long bits = 0;
    for (size_t bit = 8 * row; bit < 8 * end; bit++, bits++) {
        size_t at = bit / 8;
        bool must_notice =
            at >= payload || (at >= job && at < job + 8) || (at >= id && at < id + sizeof run_id);
        flip_in_row(fixture, &file, &run_id, bit, must_notice, &outcome);
    }
    printf("%ld bits of a row: %ld refused, %ld put aside, %ld granted unchanged\n", bits,
           outcome.refused, outcome.aside, outcome.granted);
    assert_true(outcome.aside >= (long)(8 * sizeof PAYLOAD));
    free(file.at);
}

/* Its time, its checksum and its payload, and the job's name in its kind. */
static void test_bit_flips__no_bit_of_an_ordinary_row_changes_what_runs(void **state)
{
    enum { NUMBERS = 14 };
    struct fixture *fixture = *state;
    struct outcome outcome = {0};
    culex_error error;
    assert_int_equal(open_store(fixture, &fixture->store, &error), CULEX_OK);
    struct culex_new_run run = fixture_run(PAYLOAD, sizeof PAYLOAD);
    culex_uuid id = fixture_put(fixture->store, "q", &run);
    struct bytes file = file_alone(fixture);
    size_t payload = find(&file, PAYLOAD, sizeof PAYLOAD), job = find(&file, "test.job", 8);
    assert_true(job + 8 < payload - NUMBERS || job > payload + sizeof PAYLOAD);
    for (size_t bit = 8 * (payload - NUMBERS); bit < 8 * (payload + sizeof PAYLOAD); bit++)
        flip_in_row(fixture, &file, &id, bit, true, &outcome);
    for (size_t bit = 8 * job; bit < 8 * (job + 8); bit++)
        flip_in_row(fixture, &file, &id, bit, true, &outcome);
    assert_int_equal(outcome.granted, 0);
    free(file.at);
}

/* --- anywhere ------------------------------------------------------------------------------ */

static void flip_anywhere(struct fixture *fixture, const struct bytes *file,
                          const struct bytes *log, bool is_log, const culex_uuid *ids,
                          struct outcome *outcome)
{
    const struct bytes *victim = is_log ? log : file;
    size_t bit = (size_t)draw(8 * victim->len);
    victim->at[bit / 8] ^= (unsigned char)(1u << bit % 8);
    file_write(fixture->path, file->at, file->len);
    unlink(beside(fixture, "-wal"));
    if (log != NULL)
        file_write(beside(fixture, "-wal"), log->at, log->len);
    victim->at[bit / 8] ^= (unsigned char)(1u << bit % 8);
    unlink(beside(fixture, "-shm"));
    claim_all(fixture, ids, RUNS, outcome);
}

static void enqueue_all(struct fixture *fixture, culex_uuid ids[RUNS])
{
    culex_error error;
    assert_int_equal(open_store(fixture, &fixture->store, &error), CULEX_OK);
    for (int i = 0; i < RUNS; i++) {
        struct culex_new_run run = fixture_run(PAYLOAD, sizeof PAYLOAD);
        culex_uuid id = fixture_put(fixture->store, "q", &run);
        ids[i] = id;
    }
}

static void test_bit_flips__any_bit_of_the_database_is_noticed_or_harmless(void **state)
{
    struct fixture *fixture = *state;
    struct outcome outcome = {0};
    culex_uuid ids[RUNS];
    enqueue_all(fixture, ids);
    struct bytes file = file_alone(fixture);
    for (long i = 0; i < flips; i++)
        flip_anywhere(fixture, &file, NULL, false, ids, &outcome);
    printf("%ld bits of the database: %ld refused, %ld put aside, %ld without harm\n", flips,
           outcome.refused, outcome.aside, outcome.unnoticed);
    assert_true(outcome.refused + outcome.aside > 0);
    free(file.at);
}

static void test_bit_flips__what_came_before_the_bit_of_the_log_stays(void **state)
{
    struct fixture *fixture = *state;
    struct outcome outcome = {0};
    culex_uuid ids[RUNS];
    enqueue_all(fixture, ids);
    struct bytes file = file_read(fixture->path), log = file_read(beside(fixture, "-wal"));
    fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
    for (long i = 0; i < flips; i++)
        flip_anywhere(fixture, &file, &log, true, ids, &outcome);
    /* A frame that does not fit its checksum ends the log: what came before it stays. */
    printf("%ld bits of the log: %ld refused, %ld of %ld runs granted\n", flips, outcome.refused,
           outcome.granted, flips * RUNS);
    assert_true(outcome.granted > 0);
    free(file.at);
    free(log.at);
}

static void test_truncated__is_refused_at_any_length(void **state)
{
    struct fixture *fixture = *state;
    struct outcome outcome = {0};
    culex_uuid ids[RUNS];
    enqueue_all(fixture, ids);
    struct bytes file = file_alone(fixture);
    for (size_t len = 1; len < file.len; len += 499) {
        file_write(fixture->path, file.at, len);
        unlink(beside(fixture, "-wal"));
        unlink(beside(fixture, "-shm"));
        claim_all(fixture, ids, RUNS, &outcome);
    }
    assert_int_equal(outcome.unnoticed, 0);
    assert_true(outcome.refused > 0);
    free(file.at);
}

/* Without its log a file is as old as its last checkpoint, but sound. */
static void test_removed_log__leaves_a_sound_older_file(void **state)
{
    struct fixture *fixture = *state;
    struct outcome outcome = {0};
    culex_uuid ids[RUNS];
    culex_error error;
    assert_int_equal(open_store(fixture, &fixture->store, &error), CULEX_OK);
    culex__sqlite_checkpoint(culex__sqlite_of(fixture->store), false);
    fixture->store->ops->close(fixture->store);
    struct bytes file = file_read(fixture->path);
    enqueue_all(fixture, ids);
    fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
    file_write(fixture->path, file.at, file.len);
    unlink(beside(fixture, "-wal"));
    unlink(beside(fixture, "-shm"));
    claim_all(fixture, ids, RUNS, &outcome);
    assert_int_equal(outcome.granted, 0);
    assert_int_equal(outcome.refused, 0);
    assert_sound(fixture);
    free(file.at);
}

/* --- files that cannot be opened ----------------------------------------------------------- */

static void expect_open(struct fixture *fixture, const char *path, culex_status wanted,
                        const char *text)
{
    struct culex_store *store = NULL;
    culex_error error = {.text = ""};
    culex_status status = culex__sqlite_open(path, false, NULL, &fixture->env, &store, &error);
    if (status == CULEX_OK)
        store->ops->close(store);
    if (status != wanted || (text != NULL && strstr(error.text, text) == NULL)) {
        fprintf(stderr, "%s: %s: %s\n", path, culex_status_name(status), error.text);
        fail_msg("expected %s", culex_status_name(wanted));
    }
}

static void test_open__paths_that_are_no_files(void **state)
{
    struct fixture *fixture = *state;
    char path[160];
    snprintf(path, sizeof path, "%s/none/q.db", fixture->folder);
    expect_open(fixture, path, CULEX_ECONNECT, "No such file");
    expect_open(fixture, fixture->folder, CULEX_EURL, "is a folder: name a file in it");
    expect_open(fixture, "/dev/null", CULEX_EURL, "not a regular file");
    expect_open(fixture, ":memory:", CULEX_EURL, "memory:NAME");
    snprintf(path, sizeof path, "%s/dangling.db", fixture->folder);
    assert_int_equal(symlink("none/q.db", path), 0);
    expect_open(fixture, path, CULEX_ECONNECT, "dangling.db");
}

/* "file:" is no URI to us, whatever SQLite was told elsewhere in the program. */
static void test_open__odd_names_are_names(void **state)
{
    static const char *const names[] = {"file:x.db", "a b%20c.db", "%41.db", "-q.db"};
    struct fixture *fixture = *state;
    char before[256];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(fixture->folder), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        expect_open(fixture, names[i], CULEX_OK, NULL);
        assert_int_equal(access(names[i], F_OK), 0);
    }
    assert_int_equal(chdir(before), 0);
}

/* Both names use one lock file, one log and one reserve. */
static void test_open__symbolic_link_is_the_same_store(void **state)
{
    struct fixture *fixture = *state;
    char path[160];
    culex_error error;
    assert_int_equal(open_store(fixture, &fixture->store, &error), CULEX_OK);
    snprintf(path, sizeof path, "%s/link.db", fixture->folder);
    assert_int_equal(symlink("q.db", path), 0);
    struct culex_store *store = NULL;
    assert_int_equal(
        culex__sqlite_open_as(GUARDED, path, false, NULL, &fixture->env, &store, &error), CULEX_OK);
    assert_string_equal(culex__sqlite_of(store)->path, culex__sqlite_of(fixture->store)->path);
    struct culex_new_run run = fixture_run("x", 1);
    fixture_enqueue(store, "q", &run);
    store->ops->close(store);
    snprintf(path, sizeof path, "%s/link.db-lock", fixture->folder);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 1);
}

static int as_nobody(struct fixture *fixture, void (*test)(struct fixture *fixture))
{
    pid_t child = fixture_fork();
    if (child == 0) {
        if (getuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
            _exit(3);
        test(fixture);
        _exit(0);
    }
    int how = -1;
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

static void no_rights_at_all(struct fixture *fixture)
{
    expect_open(fixture, fixture->path, CULEX_EDENIED, "q.db");
}

static void no_right_to_write(struct fixture *fixture)
{
    struct culex_store *store = NULL;
    culex_error error = {.text = ""};
    struct culex_enqueue_result result;
    struct culex_new_run run = fixture_run("x", 1);
    culex_status status = open_store(fixture, &store, &error);
    if (status == CULEX_OK)
        status = store->ops->enqueue(store, "q", NULL, &run, 1, &result, &error);
    if (status != CULEX_EREADONLY && status != CULEX_EDENIED && status != CULEX_ECONNECT)
        fail_msg("%s: %s", culex_status_name(status), error.text);
    assert_non_null(strstr(error.text, "q.db"));
}

static void test_rights__missing_ones_are_told(void **state)
{
    struct fixture *fixture = *state;
    culex_error error;
    assert_int_equal(open_store(fixture, &fixture->store, &error), CULEX_OK);
    struct bytes file = file_alone(fixture);
    assert_int_equal(chmod(fixture->folder, 0755), 0);
    assert_int_equal(chmod(fixture->path, 0000), 0);
    assert_int_equal(as_nobody(fixture, no_rights_at_all), 0);
    assert_int_equal(chmod(fixture->path, 0644), 0);
    assert_int_equal(chmod(fixture->folder, 0555), 0);
    if (getuid() == 0) /* else the owner may write */
        assert_int_equal(as_nobody(fixture, no_right_to_write), 0);
    assert_int_equal(chmod(fixture->folder, 0700), 0);
    struct bytes after = file_read(fixture->path);
    assert_int_equal(after.len, file.len);
    assert_memory_equal(after.at, file.at, file.len);
    free(file.at);
    free(after.at);
}

/* --- runner -------------------------------------------------------------------------------- */

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(int argc, char **argv)
{
    flips = argc > 1 ? strtol(argv[1], NULL, 10) : FLIPS;
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const struct CMUnitTest tests[] = {
        TEST(test_bit_flips__no_bit_of_a_row_changes_what_runs),
        TEST(test_bit_flips__no_bit_of_an_ordinary_row_changes_what_runs),
        TEST(test_bit_flips__any_bit_of_the_database_is_noticed_or_harmless),
        TEST(test_bit_flips__what_came_before_the_bit_of_the_log_stays),
        TEST(test_truncated__is_refused_at_any_length),
        TEST(test_removed_log__leaves_a_sound_older_file),
        TEST(test_open__paths_that_are_no_files),
        TEST(test_open__odd_names_are_names),
        TEST(test_open__symbolic_link_is_the_same_store),
        TEST(test_rights__missing_ones_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
