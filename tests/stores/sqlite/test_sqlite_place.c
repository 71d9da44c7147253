/* A store's file that is removed, replaced, emptied or cut off while it is open: every call says
 * so, and nothing is written into a file that nobody reads. */
#include "fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite/borrow.h"
#include "store/sqlite/clock.h"
#include "store/sqlite/checkpoint.h"
#include "store/sqlite/transaction.h"

enum { GUARDED = 3040001 };

static const char *named(const struct fixture *fixture, const char *suffix)
{
    static char name[2][160];
    static int turn;
    turn = !turn;
    snprintf(name[turn], sizeof name[turn], "%s%s", fixture->path, suffix);
    return name[turn];
}

static void move(const struct fixture *fixture, const char *from, const char *to)
{
    assert_int_equal(rename(named(fixture, from), named(fixture, to)), 0);
}

static culex_status enqueue_to(struct culex_store *store, size_t len, culex_error *error)
{
    static const char payload[4096] = "{}";
    struct culex_new_run run = fixture_run(payload, len);
    struct culex_enqueue_result result;
    return store->ops->enqueue(store, "q", NULL, &run, 1, &result, error);
}

static culex_status try_enqueue(struct fixture *fixture, culex_error *error)
{
    return enqueue_to(fixture->store, 2, error);
}

static void expect_text(const culex_error *error, const char *says)
{
    if (strstr(error->text, says) == NULL)
        fail_msg("%s", error->text);
}

/* Of all that a worker and a client do. */
static void expect_moved(struct fixture *fixture, const char *says)
{
    culex_error error = {.text = ""};
    culex_queue_stats stats;
    struct culex_step_reply reply;
    struct culex_step step = {.queue = "q",
                              .session = "aaaaaaaaaaaaaaaa",
                              .nonce = fixture_nonce(),
                              .want = 1,
                              .lease_ms = 1000};
    const struct culex_store_ops *ops = fixture->store->ops;
    assert_int_equal(try_enqueue(fixture, &error), CULEX_EMOVED);
    expect_text(&error, says);
    assert_int_equal(ops->step(fixture->store, &step, &reply, &error), CULEX_EMOVED);
    assert_int_equal(ops->stats(fixture->store, "q", &stats, &error), CULEX_EMOVED);
}

static void begin_as(struct fixture *fixture, int version)
{
    culex_error error = {.text = ""};
    fixture->store = fixture_open(fixture, version);
    assert_int_equal(try_enqueue(fixture, &error), CULEX_OK);
}

static void begin(struct fixture *fixture)
{
    begin_as(fixture, GUARDED);
}

static void end(struct fixture *fixture)
{
    fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
}

static void test_removed__is_told_and_put_back_goes_on(void **state)
{
    struct fixture *fixture = *state;
    culex_error error = {.text = ""};
    begin(fixture);
    move(fixture, "", ".away");
    expect_moved(fixture, "was removed while it was open");
    move(fixture, ".away", "");
    assert_int_equal(try_enqueue(fixture, &error), CULEX_OK);
    end(fixture);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 2);
}

static void test_replaced__is_told_until_it_is_opened_anew(void **state)
{
    struct fixture *fixture = *state;
    struct fixture other;
    culex_error error = {.text = ""};
    fixture_init(&other);
    begin(&other);
    end(&other);
    begin(fixture);
    assert_int_equal(rename(other.path, fixture->path), 0);
    expect_moved(fixture, "was replaced by another file");
    end(fixture);
    unlink(named(fixture, "-wal"));
    unlink(named(fixture, "-shm"));
    begin(fixture);
    assert_int_equal(try_enqueue(fixture, &error), CULEX_OK);
    end(fixture);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 3);
    fixture_release(&other);
}

static void test_emptied__is_told(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture);
    assert_int_equal(truncate(fixture->path, 0), 0);
    expect_moved(fixture, "was emptied while it was open");
}

/* --- cut off ----------------------------------------------------------------------------- */

static const int versions[] = {GUARDED, 3051003};

static int64_t length_beside(const struct fixture *fixture, const char *suffix)
{
    struct stat info;
    assert_int_equal(stat(named(fixture, suffix), &info), 0);
    return info.st_size;
}

static int64_t length_of(const struct fixture *fixture)
{
    return length_beside(fixture, "");
}

static void fill(struct fixture *fixture, int runs)
{
    culex_error error = {.text = ""};
    for (int i = 0; i < runs; i++)
        assert_int_equal(enqueue_to(fixture->store, 4096, &error), CULEX_OK);
}

static void write_back(struct fixture *fixture)
{
    struct culex_sqlite *store = culex__sqlite_of(fixture->store);
    culex__sqlite_clock_start(store);
    assert_int_equal(culex__sqlite_checkpoint(store, false), CULEX__SQLITE_WRITTEN_BACK);
}

/* A store with pages in the file, in the log and in both. */
static void begin_filled(struct fixture *fixture, int version)
{
    begin_as(fixture, version);
    fill(fixture, 50);
    write_back(fixture);
    fill(fixture, 10);
}

/* Neither who has it open nor who opens it beside them. */
static void expect_cut(int version, int64_t length)
{
    struct fixture fixture;
    culex_error error = {.text = ""};
    fixture_init(&fixture);
    begin_filled(&fixture, version);
    length = length > 0 ? length : length_of(&fixture) + length;
    assert_int_equal(truncate(fixture.path, length), 0);
    expect_moved(&fixture, "was cut off while it was open here at");
    assert_int_equal(fixture_try_open(&fixture, &error), CULEX_ECORRUPT);
    expect_text(&error, "is cut off at");
    end(&fixture);
    assert_int_equal(length_of(&fixture), length);
    fixture_release(&fixture);
}

static void test_cut__is_told_at_any_length(void **state)
{
    static const int64_t lengths[] = {512, 2048, 2049, 50000, 65536, -1, -2048, -2049, -65536};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        for (size_t k = 0; k < 2; k++)
            expect_cut(versions[k], lengths[i]);
    }
}

/* All is in the file, and still in the log's file, which nobody would read any more. */
static void test_cut__of_what_is_written_back_is_told(void **state)
{
    struct fixture *fixture = *state;
    begin_filled(fixture, GUARDED);
    write_back(fixture);
    struct culex_store *other = fixture_open(fixture, GUARDED);
    culex_error error = {.text = ""};
    assert_int_equal(truncate(fixture->path, length_of(fixture) - 8192), 0);
    expect_moved(fixture, "was cut off while it was open here at");
    assert_int_equal(enqueue_to(other, 2, &error), CULEX_EMOVED);
    other->ops->close(other);
}

/* A log longer than one region of its index. */
static void test_grown__in_the_log_is_no_cut(void **state)
{
    struct fixture *fixture = *state;
    culex_error error = {.text = ""};
    for (size_t k = 0; k < 2; k++) {
        begin_as(fixture, versions[k]);
        struct culex_store *reader = fixture_open(fixture, versions[k]);
        struct culex_sqlite *idle = culex__sqlite_of(reader);
        assert_int_equal(culex__sqlite_begin_read(idle, &error), CULEX_OK);
        assert_int_equal(sqlite3_exec(idle->db, "SELECT count(*) FROM run", NULL, NULL, NULL), 0);
        fill(fixture, 1500);
        assert_true(culex__sqlite_of(fixture->store)->wal_pages > 4096);
        assert_int_equal(fixture_try_open(fixture, &error), CULEX_OK);
        assert_int_equal(culex__sqlite_end_transaction(idle, CULEX_OK, &error), CULEX_OK);
        reader->ops->close(reader);
        end(fixture);
        assert_int_equal(fixture_try_open(fixture, &error), CULEX_OK);
    }
}

/* Who was idle meanwhile finds a file that is shorter than before, and than its database. */
static void test_vacuumed__is_no_cut(void **state)
{
    struct fixture *fixture = *state;
    culex_error error = {.text = ""};
    begin_filled(fixture, GUARDED);
    write_back(fixture);
    struct culex_store *idle = fixture_open(fixture, GUARDED);
    int64_t before = length_of(fixture);
    fixture_sql(fixture,
                "DELETE FROM payload; DELETE FROM run; DELETE FROM body WHERE " FIXTURE_BODY
                "; VACUUM");
    write_back(fixture);
    assert_true(length_of(fixture) < before);
    fill(fixture, 5);
    assert_int_equal(enqueue_to(idle, 2, &error), CULEX_OK);
    idle->ops->close(idle);
    end(fixture);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 6);
}

/* --- copies ------------------------------------------------------------------------------ */

static void begin_copied(struct fixture *other, int runs)
{
    fixture_init(other);
    begin(other);
    fill(other, runs);
    write_back(other);
}

/* As cp(1) does, into the same inode; longer than what was there. */
static void test_overwritten__by_another_store_is_told(void **state)
{
    struct fixture *fixture = *state;
    struct fixture other;
    char command[400];
    begin_copied(&other, 90);
    begin_filled(fixture, GUARDED);
    struct culex_store *second = fixture_open(fixture, GUARDED);
    snprintf(command, sizeof command, "cp %s %s", other.path, fixture->path);
    assert_int_equal(system(command), 0);
    int64_t length = length_of(fixture);
    culex_error error = {.text = ""};
    expect_moved(fixture, "was overwritten by a copy of another store");
    assert_int_equal(enqueue_to(second, 2, &error), CULEX_EMOVED);
    assert_int_equal(fixture_try_open(fixture, &error), CULEX_ECORRUPT);
    second->ops->close(second);
    end(fixture);
    assert_int_equal(length_of(fixture), length);
    end(&other);
    fixture_release(&other);
}

/* After a crash: the log is still to be written back, into whatever stands there. */
static void test_stale_log__of_another_store_is_told(void **state)
{
    struct fixture *fixture = *state;
    struct fixture other;
    culex_error error = {.text = ""};
    char command[400];
    begin_filled(fixture, GUARDED);
    begin_copied(&other, 90);
    end(&other);
    snprintf(command, sizeof command, "cp %s-wal %s.log", fixture->path, fixture->path);
    assert_int_equal(system(command), 0);
    end(fixture);
    unlink(named(fixture, "-shm"));
    move(fixture, ".log", "-wal");
    assert_int_equal(rename(other.path, fixture->path), 0);
    assert_int_equal(fixture_try_open(fixture, &error), CULEX_ECORRUPT);
    if (strstr(error.text, "belong to two stores") == NULL)
        fail_msg("%s", error.text);
    unlink(named(fixture, "-shm"));
    unlink(named(fixture, "-wal"));
    assert_int_equal(fixture_try_open(fixture, &error), CULEX_OK);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 91);
    fixture_release(&other);
}

/* --- the log ------------------------------------------------------------------------------ */

static void log_cut(const struct fixture *fixture, int64_t length)
{
    assert_int_equal(truncate(named(fixture, "-wal"), length), 0);
}

static int64_t log_length(const struct fixture *fixture)
{
    return length_beside(fixture, "-wal");
}

/* A log in which all frames count. */
static void begin_logged(struct fixture *fixture, int version)
{
    begin_as(fixture, version);
    fill(fixture, 30);
    fixture_sql(fixture, "PRAGMA wal_checkpoint(TRUNCATE)");
    fill(fixture, 20);
}

/* Neither who has it open nor who opens it beside them; and nobody writes to the log any more. */
static void expect_log_told(struct fixture *fixture)
{
    culex_error error = {.text = ""};
    int64_t file = length_of(fixture), log = log_length(fixture);
    expect_moved(fixture, "q.db-wal, the log of the store, was emptied, cut off or overwritten");
    assert_int_equal(fixture_try_open(fixture, &error), CULEX_ECORRUPT);
    expect_text(&error, "q.db-wal, the log of the store, is emptied, cut off or overwritten");
    end(fixture);
    assert_int_equal(length_of(fixture), file);
    assert_int_equal(log_length(fixture), log);
}

static void expect_log_cut(int version, int64_t length)
{
    struct fixture fixture;
    fixture_init(&fixture);
    begin_logged(&fixture, version);
    log_cut(&fixture, length >= 0 ? length : log_length(&fixture) + length);
    expect_log_told(&fixture);
    fixture_release(&fixture);
}

static void test_cut_log__is_told_at_any_length(void **state)
{
    static const int64_t lengths[] = {0, 1, 32, 56, 2104, 50000, -2072, -2073};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        for (size_t k = 0; k < 2; k++)
            expect_log_cut(versions[k], lengths[i]);
    }
}

/* By a program that does not look, or looked just before: where the log was is a hole. */
static void expect_hole_told(int64_t length)
{
    struct fixture fixture;
    culex_error error = {.text = ""};
    fixture_init(&fixture);
    begin_logged(&fixture, GUARDED);
    struct culex_store *blind = fixture_open(&fixture, GUARDED);
    for (int i = 0; i < 10; i++) /* it has the pages in memory that it is to write */
        assert_int_equal(enqueue_to(blind, 2, &error), CULEX_OK);
    int64_t before = log_length(&fixture);
    log_cut(&fixture, length);
    culex__sqlite_of(blind)->place.file.number = 0;
    assert_int_equal(enqueue_to(blind, 2, &error), CULEX_OK);
    assert_true(log_length(&fixture) > before);
    expect_moved(&fixture, "q.db-wal, the log of the store, was emptied, cut off or overwritten");
    culex__sqlite_of(blind)->place.is_lost = true;
    blind->ops->close(blind);
    end(&fixture);
    fixture_release(&fixture);
}

static void test_cut_log__that_was_written_on_is_told(void **state)
{
    (void)state;
    expect_hole_told(0);
    expect_hole_told(20000);
}

/* Longer than this one, and sound by itself. */
static void test_overwritten_log__is_told(void **state)
{
    struct fixture *fixture = *state;
    struct fixture other;
    char command[400];
    begin_copied(&other, 90);
    fill(&other, 90);
    begin_filled(fixture, GUARDED);
    snprintf(command, sizeof command, "cp %s-wal %s-wal", other.path, fixture->path);
    assert_int_equal(system(command), 0);
    expect_log_told(fixture);
    end(&other);
    fixture_release(&other);
}

/* Who was idle meanwhile finds it shorter than before, or with other frames. */
static void test_written_back_log__is_no_cut(void **state)
{
    static const char *const modes[] = {"PASSIVE", "FULL", "RESTART", "TRUNCATE"};
    struct fixture *fixture = *state;
    culex_error error = {.text = ""};
    char sql[64];
    begin_filled(fixture, GUARDED);
    struct culex_store *idle = fixture_open(fixture, GUARDED);
    for (int i = 0; i < 32; i++) {
        snprintf(sql, sizeof sql, "PRAGMA wal_checkpoint(%s)", modes[i % 4]);
        fixture_sql(fixture, sql);
        fill(fixture, i % 3);
        assert_int_equal(enqueue_to(i % 5 == 0 ? fixture->store : idle, 2, &error), CULEX_OK);
        assert_int_equal(fixture_try_open(fixture, &error), CULEX_OK);
    }
    idle->ops->close(idle);
    end(fixture);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 61 + 32 + 31);
    assert_sound(fixture);
}

/* A log of which all is in the file holds nothing. */
static void test_emptied_log__that_begins_anew_harms_nobody(void **state)
{
    struct fixture *fixture = *state;
    culex_error error = {.text = ""};
    begin_filled(fixture, GUARDED);
    fixture_sql(fixture, "PRAGMA wal_checkpoint(TRUNCATE)");
    log_cut(fixture, 0);
    assert_int_equal(try_enqueue(fixture, &error), CULEX_OK);
    end(fixture);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 62);
}

/* A borrowed handle has no names to compare: SQLite is asked. */
static void test_borrowed__is_told_as_well(void **state)
{
    struct fixture *fixture = *state;
    culex_error error = {.text = ""};
    struct culex_store *borrowed = NULL;
    sqlite3 *db = NULL;
    begin(fixture);
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "PRAGMA wal_autocheckpoint=0; BEGIN IMMEDIATE", NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(culex__sqlite_borrow(db, NULL, &fixture->env, &borrowed, &error), CULEX_OK);
    assert_int_equal(enqueue_to(borrowed, 2, &error), CULEX_OK);
    move(fixture, "", ".away");
    assert_int_equal(enqueue_to(borrowed, 2, &error), CULEX_EMOVED);
    assert_non_null(strstr(error.text, "q.db was removed or replaced"));
    move(fixture, ".away", "");
    assert_int_equal(enqueue_to(borrowed, 2, &error), CULEX_OK);
    borrowed->ops->close(borrowed);
    assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    end(fixture);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 3);
}

/* What was committed before comes into the file when its users close it. */
static void test_removed_log__is_told_and_saved_at_the_end(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture);
    assert_int_equal(unlink(named(fixture, "-wal")), 0);
    expect_moved(fixture, "q.db-wal, the log of the store");
    end(fixture);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 1);
    assert_sound(fixture);
}

/* The log holds all that was committed, and must outlive whoever cannot see its other users. */
static void test_removed_index__is_told_and_the_log_is_kept(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture);
    assert_int_equal(unlink(named(fixture, "-shm")), 0);
    expect_moved(fixture, "q.db-shm, by which those");
    end(fixture);
    assert_int_equal(access(named(fixture, "-wal"), F_OK), 0);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 1);
    assert_sound(fixture);
}

static culex_status open_named(struct fixture *fixture, const char *name, const char *folder,
                               struct culex_store **ret_store, culex_error *error)
{
    struct culex_store_options options = {
        .timeout_ms = fixture->timeout_ms, .synchronous = "normal", .folder = folder};
    return culex__sqlite_open_as(GUARDED, name, false, &options, &fixture->env, ret_store, error);
}

/* --- without the file -------------------------------------------------------------------- */

static bool is_there(const struct fixture *fixture, const char *suffix)
{
    return access(named(fixture, suffix), F_OK) == 0;
}

static void remove_all(const struct fixture *fixture)
{
    unlink(named(fixture, ""));
    unlink(named(fixture, "-wal"));
    unlink(named(fixture, "-shm"));
}

static void expect_refused(struct fixture *fixture, const char *says)
{
    culex_error error = {.text = ""};
    assert_int_equal(fixture_try_open(fixture, &error), CULEX_ECORRUPT);
    if (strstr(error.text, says) == NULL || strstr(error.text, named(fixture, "")) == NULL)
        fail_msg("%s", error.text);
}

static void expect_missing(struct fixture *fixture, const char *name, const char *says)
{
    const struct culex_store_options options = {.folder = fixture->folder, .must_exist = true};
    struct culex_store *store = NULL;
    culex_error error = {.text = ""};
    assert_int_equal(
        culex__sqlite_open_as(GUARDED, name, false, &options, &fixture->env, &store, &error),
        CULEX_ECONNECT);
    if (strstr(error.text, says) == NULL || strstr(error.text, fixture->path) == NULL)
        fail_msg("%s", error.text);
}

static size_t count_files(const struct fixture *fixture)
{
    size_t count = 0;
    DIR *folder = opendir(fixture->folder);
    assert_non_null(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count - 2; /* "." and ".." */
}

/* Who only looks makes nothing: no file, no lock, no reserve. A link may lead there. */
static void test_missing__is_not_made_where_it_must_exist(void **state)
{
    struct fixture *fixture = *state;
    expect_missing(fixture, "q.db", "q.db does not exist; nothing was created");
    assert_int_equal(count_files(fixture), 0);
    assert_int_equal(symlink("q.db", named(fixture, ".link")), 0);
    expect_missing(fixture, "q.db.link", "q.db does not exist; nothing was created");
    assert_int_equal(count_files(fixture), 1);
    close(creat(fixture->path, 0600));
    expect_missing(fixture, "q.db", "q.db is empty; nothing was created");
    assert_int_equal(length_of(fixture), 0);
    assert_int_equal(count_files(fixture), 2);
    fixture->store = fixture_open(fixture, GUARDED);
    end(fixture);
}

static void test_present__is_opened_where_it_must_exist(void **state)
{
    struct fixture *fixture = *state;
    const struct culex_store_options options = {.must_exist = true};
    begin(fixture);
    end(fixture);
    assert_int_equal(culex__sqlite_open_as(GUARDED, fixture->path, false, &options, &fixture->env,
                                           &fixture->store, NULL),
                     CULEX_OK);
    end(fixture);
}

/* SQLite removes a log beside an empty file, with all that was not written back. */
static void test_removed__nobody_begins_a_store_beside_its_log(void **state)
{
    struct fixture *fixture = *state;
    culex_error error = {.text = ""};
    begin(fixture);
    move(fixture, "", ".away");
    expect_refused(fixture, "is gone, but");
    assert_false(is_there(fixture, ""));
    move(fixture, ".away", "");
    assert_int_equal(try_enqueue(fixture, &error), CULEX_OK);
    end(fixture);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 2);
}

/* After the last user's end, too: what nobody wrote back is in the log alone. */
static void test_removed__a_log_that_was_left_is_kept(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(symlink("q.db", named(fixture, ".link")), 0);
    begin(fixture);
    move(fixture, "", ".away");
    end(fixture);
    expect_refused(fixture, "is gone, but");
    close(creat(fixture->path, 0600));
    expect_refused(fixture, "is empty, but");
    assert_int_equal(open_named(fixture, "q.db.link", fixture->folder, &fixture->store, NULL),
                     CULEX_ECORRUPT);
    move(fixture, ".away", "");
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 1);
}

static void test_emptied__nobody_begins_a_store_beside_its_log(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture);
    assert_int_equal(truncate(fixture->path, 0), 0);
    expect_refused(fixture, "is empty, but");
    assert_int_equal(length_of(fixture), 0);
    assert_true(is_there(fixture, "-wal"));
}

/* Who has the old one open shares the index with whoever comes. */
static void test_removed__nobody_begins_a_store_beside_its_index(void **state)
{
    struct fixture *fixture = *state;
    culex_error error = {.text = ""};
    begin(fixture);
    unlink(named(fixture, ""));
    unlink(named(fixture, "-wal"));
    expect_refused(fixture, "is gone, but");
    end(fixture);
    unlink(named(fixture, "-shm"));
    assert_int_equal(fixture_try_open(fixture, &error), CULEX_OK);
}

/* Who still has the old one open closes it, and what carries its names by now is another's. */
static void test_removed__the_next_store_outlives_the_last_user_of_the_old_one(void **state)
{
    struct fixture *fixture = *state;
    struct culex_store *next;
    culex_error error = {.text = ""};
    for (size_t k = 0; k < 2; k++) {
        begin_as(fixture, versions[k]);
        remove_all(fixture);
        next = fixture_open(fixture, versions[k]);
        assert_int_equal(enqueue_to(next, 2, &error), CULEX_OK);
        end(fixture);
        assert_true(is_there(fixture, "-wal"));
        assert_true(is_there(fixture, "-shm"));
        assert_int_equal(enqueue_to(next, 2, &error), CULEX_OK);
        next->ops->close(next);
        assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 2);
        remove_all(fixture);
    }
}

/* --- relative paths ----------------------------------------------------------------------- */

static void enter(const char *folder)
{
    assert_int_equal(chdir(folder), 0);
}

/* Whatever is opened late: log, index, lock, reserve, door, and a second connection. */
static void test_relative__means_one_file_wherever_the_program_goes(void **state)
{
    struct fixture *fixture = *state;
    struct culex_store *second = NULL;
    culex_error error = {.text = ""};
    const char *const queues[] = {"q"};
    int fd;
    assert_int_equal(mkdir(named(fixture, ".elsewhere"), 0700), 0);
    enter(fixture->folder);
    assert_int_equal(open_named(fixture, "q.db", NULL, &fixture->store, &error), CULEX_OK);
    enter(named(fixture, ".elsewhere"));
    assert_int_equal(open_named(fixture, "q.db", fixture->folder, &second, &error), CULEX_OK);
    assert_int_equal(try_enqueue(fixture, &error), CULEX_OK);
    assert_int_equal(enqueue_to(second, 2, &error), CULEX_OK);
    assert_int_equal(fixture->store->ops->wake_arm(fixture->store, queues, 1, 10, &fd, &error),
                     CULEX_OK);
    write_back(fixture);
    second->ops->close(second);
    end(fixture);
    enter("/");
    assert_int_equal(rmdir(named(fixture, ".elsewhere")), 0); /* nothing was made there */
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 2);
}

/* Nothing that is waited for brings it back. */
static void test_relative__to_a_removed_folder_is_refused_for_good(void **state)
{
    struct fixture *fixture = *state;
    culex_error error = {.text = ""};
    assert_int_equal(mkdir(named(fixture, ".gone"), 0700), 0);
    enter(named(fixture, ".gone"));
    assert_int_equal(rmdir(named(fixture, ".gone")), 0);
    assert_int_equal(open_named(fixture, "q.db", NULL, &fixture->store, &error), CULEX_EURL);
    assert_non_null(strstr(error.text, "q.db: the folder that this path counts from"));
    enter("/");
}

/* --- links ---------------------------------------------------------------------------------- */

static void link_to(const struct fixture *fixture, const char *target)
{
    assert_int_equal(symlink(target, named(fixture, ".new")), 0);
    move(fixture, ".new", ".link");
}

static void store_make(struct fixture *fixture, const char *name)
{
    struct culex_store *store = NULL;
    culex_error error = {.text = ""};
    assert_int_equal(open_named(fixture, name, fixture->folder, &store, &error), CULEX_OK);
    store->ops->close(store);
}

/* The store is reached by a link to `target`, which is then another one to `other`. Without the
 * link nobody can be elsewhere by that name. */
static void expect_retargeted(struct fixture *fixture, const char *name, const char *target,
                              const char *other)
{
    culex_error error = {.text = ""};
    link_to(fixture, other);
    store_make(fixture, name);
    link_to(fixture, target);
    assert_int_equal(open_named(fixture, name, fixture->folder, &fixture->store, &error), CULEX_OK);
    assert_int_equal(try_enqueue(fixture, &error), CULEX_OK);
    link_to(fixture, other);
    expect_moved(fixture, "leads to another file since it was opened");
    assert_int_equal(unlink(named(fixture, ".link")), 0);
    assert_int_equal(try_enqueue(fixture, &error), CULEX_OK);
    link_to(fixture, target);
    assert_int_equal(try_enqueue(fixture, &error), CULEX_OK);
    end(fixture);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 3);
}

static void test_retargeted_link__to_the_file_is_told(void **state)
{
    struct fixture *fixture = *state;
    store_make(fixture, "q.db");
    store_make(fixture, "other.db");
    expect_retargeted(fixture, "q.db.link", "q.db", "other.db");
}

static void test_retargeted_link__to_the_folder_is_told(void **state)
{
    struct fixture *fixture = *state;
    char name[160];
    assert_int_equal(mkdir(named(fixture, ".other"), 0700), 0);
    snprintf(name, sizeof name, "%s/q.db", named(fixture, ".link"));
    expect_retargeted(fixture, name, ".", "q.db.other");
}

/* Links to links, and to a folder on the way. */
static void test_link_to_nothing__makes_the_store_where_it_leads(void **state)
{
    struct fixture *fixture = *state;
    struct culex_store *second = NULL;
    culex_error error = {.text = ""};
    assert_int_equal(symlink(".", named(fixture, ".folder")), 0);
    assert_int_equal(symlink("q.db.folder/q.db", named(fixture, ".far")), 0);
    link_to(fixture, named(fixture, ".far"));
    assert_int_equal(open_named(fixture, "q.db.link", fixture->folder, &fixture->store, &error),
                     CULEX_OK);
    assert_int_equal(open_named(fixture, "q.db", fixture->folder, &second, &error), CULEX_OK);
    assert_string_equal(culex__sqlite_of(fixture->store)->path, culex__sqlite_of(second)->path);
    assert_int_equal(try_enqueue(fixture, &error), CULEX_OK);
    second->ops->close(second);
    end(fixture);
    assert_false(is_there(fixture, ".link-lock"));
    assert_false(is_there(fixture, ".far-lock"));
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 1);
}

static void expect_link_refused(struct fixture *fixture, const char *target, culex_status code,
                                const char *says)
{
    culex_error error = {.text = ""};
    link_to(fixture, target);
    assert_int_equal(open_named(fixture, "q.db.link", fixture->folder, &fixture->store, &error),
                     code);
    if (strstr(error.text, says) == NULL || strstr(error.text, named(fixture, ".link")) == NULL)
        fail_msg("%s", error.text);
}

static void test_link_to_nothing__where_no_store_can_be_names_both(void **state)
{
    struct fixture *fixture = *state;
    expect_link_refused(fixture, "away/q.db", CULEX_ECONNECT, "away/q.db: its folder cannot be");
    expect_link_refused(fixture, "q.db.link", CULEX_ECONNECT, "leads nowhere");
    close(creat(named(fixture, "-wal"), 0600));
    assert_int_equal(truncate(named(fixture, "-wal"), 1), 0);
    expect_link_refused(fixture, "q.db", CULEX_ECORRUPT, "q.db is gone, but");
    assert_false(is_there(fixture, ""));
}

/* --- several names ------------------------------------------------------------------------- */

static const char *twin_of(const struct fixture *fixture)
{
    return named(fixture, ".twin");
}

static void twin_make(const struct fixture *fixture)
{
    assert_int_equal(link(fixture->path, twin_of(fixture)), 0);
}

/* Of an opening by `name`, which leaves nothing there. */
static void expect_name_refused(struct fixture *fixture, const char *name, const char *says)
{
    struct culex_store *store = NULL;
    culex_error error = {.text = ""};
    assert_int_equal(open_named(fixture, name, fixture->folder, &store, &error), CULEX_ECORRUPT);
    if (strstr(error.text, says) == NULL || strstr(error.text, name) == NULL)
        fail_msg("%s", error.text);
}

static void expect_twin_untouched(const struct fixture *fixture)
{
    static const char *const suffixes[] = {".twin-lock", ".twin-reserve", ".twin-wal", ".twin-shm"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        assert_false(is_there(fixture, suffixes[i]));
}

/* While it is in use and when it is not; and a link that was made for a backup stops nobody. */
static void test_second_name__is_refused_and_the_first_goes_on(void **state)
{
    struct fixture *fixture = *state;
    culex_error error = {.text = ""};
    for (size_t k = 0; k < 2; k++) {
        begin_as(fixture, versions[k]);
        twin_make(fixture);
        expect_name_refused(fixture, "q.db.twin", "is one of several names (hard links)");
        assert_int_equal(try_enqueue(fixture, &error), CULEX_OK);
        end(fixture);
        expect_name_refused(fixture, "q.db.twin", "is one of several names (hard links)");
        expect_twin_untouched(fixture);
        begin_as(fixture, versions[k]);
        end(fixture);
        assert_int_equal(unlink(twin_of(fixture)), 0);
    }
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 6);
}

static void test_second_name__alone_is_the_name(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture);
    end(fixture);
    twin_make(fixture);
    remove_all(fixture);
    store_make(fixture, "q.db.twin");
    move(fixture, ".twin", "");
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM runs"), 1);
}

/* Both were in use, one after the other: what the one's log holds the other does not see. */
static void test_second_name__with_a_log_of_its_own_is_told(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture);
    end(fixture);
    move(fixture, "", ".twin");
    assert_int_equal(open_named(fixture, "q.db.twin", fixture->folder, &fixture->store, NULL),
                     CULEX_OK);
    assert_int_equal(try_enqueue(fixture, NULL), CULEX_OK);
    end(fixture);
    assert_int_equal(link(twin_of(fixture), fixture->path), 0);
    expect_name_refused(fixture, "q.db.twin", "q.db-wal, which may hold runs");
    expect_name_refused(fixture, "q.db", "q.db.twin-wal, which may hold runs");
    remove_all(fixture);
    store_make(fixture, "q.db.twin");
}

/* The application has opened it by that name; its own commits there make a log. */
static void test_second_name__of_a_borrowed_handle_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct culex_store *borrowed = NULL;
    culex_error error = {.text = ""};
    sqlite3 *db = NULL;
    begin(fixture);
    end(fixture);
    twin_make(fixture);
    assert_int_equal(sqlite3_open(twin_of(fixture), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "PRAGMA wal_autocheckpoint=0; CREATE TABLE a(b); BEGIN IMMEDIATE",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(culex__sqlite_borrow(db, NULL, &fixture->env, &borrowed, &error),
                     CULEX_ECORRUPT);
    assert_non_null(strstr(error.text, "q.db.twin is one of several names"));
    sqlite3_close(db);
}

/* --- a file system of somebody else's ------------------------------------------------------- */

/* SQLite's own, but for the log, of which each byte is another one in the file. */
static struct {
    sqlite3_vfs vfs, *system;
    sqlite3_io_methods log;
    const sqlite3_io_methods *plain;
} veil;

static int veiled_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
    unsigned char other[65536];
    assert_in_range(count, 0, sizeof other);
    for (int i = 0; i < count; i++)
        other[i] = (unsigned char)~((const unsigned char *)bytes)[i];
    return veil.plain->xWrite(file, other, count, at);
}

static int veiled_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 at)
{
    int rc = veil.plain->xRead(file, bytes, count, at);
    for (int i = 0; i < count && rc == SQLITE_OK; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)~((unsigned char *)bytes)[i];
    return rc;
}

static int veiled_open(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags, int *out)
{
    (void)self;
    int rc = veil.system->xOpen(veil.system, name, file, flags, out);
    if (rc != SQLITE_OK || (flags & SQLITE_OPEN_WAL) == 0)
        return rc;
    veil.plain = file->pMethods;
    veil.log = *file->pMethods;
    veil.log.xRead = veiled_read;
    veil.log.xWrite = veiled_write;
    file->pMethods = &veil.log;
    return rc;
}

static int veil_setup(void **state)
{
    veil.system = sqlite3_vfs_find(NULL);
    veil.vfs = *veil.system;
    veil.vfs.zName = "veil";
    veil.vfs.xOpen = veiled_open;
    return sqlite3_vfs_register(&veil.vfs, 1) + fixture_setup(state);
}

static int veil_teardown(void **state)
{
    return fixture_teardown(state) + sqlite3_vfs_unregister(&veil.vfs);
}

/* What is in the log is asked of whoever wrote it. */
static void test_log__in_another_form_is_no_cut(void **state)
{
    struct fixture *fixture = *state;
    culex_error error = {.text = ""};
    fixture->store = fixture_open(fixture, GUARDED);
    for (int i = 0; i < 3; i++) {
        if (try_enqueue(fixture, &error) != CULEX_OK)
            fail_msg("%s", error.text);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_removed__is_told_and_put_back_goes_on),
        cmocka_unit_test_setup_teardown(test_log__in_another_form_is_no_cut, veil_setup,
                                        veil_teardown),
        TEST(test_replaced__is_told_until_it_is_opened_anew),
        TEST(test_emptied__is_told),
        TEST(test_cut__is_told_at_any_length),
        TEST(test_cut__of_what_is_written_back_is_told),
        TEST(test_grown__in_the_log_is_no_cut),
        TEST(test_vacuumed__is_no_cut),
        TEST(test_overwritten__by_another_store_is_told),
        TEST(test_stale_log__of_another_store_is_told),
        TEST(test_cut_log__is_told_at_any_length),
        TEST(test_cut_log__that_was_written_on_is_told),
        TEST(test_overwritten_log__is_told),
        TEST(test_written_back_log__is_no_cut),
        TEST(test_emptied_log__that_begins_anew_harms_nobody),
        TEST(test_borrowed__is_told_as_well),
        TEST(test_removed_log__is_told_and_saved_at_the_end),
        TEST(test_removed_index__is_told_and_the_log_is_kept),
        TEST(test_missing__is_not_made_where_it_must_exist),
        TEST(test_present__is_opened_where_it_must_exist),
        TEST(test_removed__nobody_begins_a_store_beside_its_log),
        TEST(test_removed__a_log_that_was_left_is_kept),
        TEST(test_emptied__nobody_begins_a_store_beside_its_log),
        TEST(test_removed__nobody_begins_a_store_beside_its_index),
        TEST(test_removed__the_next_store_outlives_the_last_user_of_the_old_one),
        TEST(test_relative__means_one_file_wherever_the_program_goes),
        TEST(test_relative__to_a_removed_folder_is_refused_for_good),
        TEST(test_retargeted_link__to_the_file_is_told),
        TEST(test_retargeted_link__to_the_folder_is_told),
        TEST(test_link_to_nothing__makes_the_store_where_it_leads),
        TEST(test_link_to_nothing__where_no_store_can_be_names_both),
        TEST(test_second_name__is_refused_and_the_first_goes_on),
        TEST(test_second_name__alone_is_the_name),
        TEST(test_second_name__with_a_log_of_its_own_is_told),
        TEST(test_second_name__of_a_borrowed_handle_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
