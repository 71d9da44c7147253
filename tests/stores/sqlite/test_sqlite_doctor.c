/* The doctor's findings, each brought about; and file systems that are refused. What statfs and
 * statvfs say is faked by the linker's --wrap. */
#include "fixture.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "store/report.h"
#include "platform/filesystem.h"

enum { GUARDED = 3040001, NFS = 0x6969, EXT4 = 0xef53, FUSE = 0x65735546, OVERLAY = 0x794c7630 };

static const char *other_library;

/* --- another disk ---------------------------------------------------------------------- */

static long fake_magic;        /* 0: the true one */
static int64_t fake_free = -1; /* bytes; -1: what is true */

int __real_statfs64(const char *path, struct statfs *ret_info);
int __wrap_statfs64(const char *path, struct statfs *ret_info);
int __real_statvfs64(const char *path, struct statvfs *ret_info);
int __wrap_statvfs64(const char *path, struct statvfs *ret_info);

int __wrap_statfs64(const char *path, struct statfs *ret_info)
{
    int result = __real_statfs64(path, ret_info);
    if (result == 0 && fake_magic != 0)
        ret_info->f_type = fake_magic;
    return result;
}

int __wrap_statvfs64(const char *path, struct statvfs *ret_info)
{
    int result = __real_statvfs64(path, ret_info);
    if (result == 0 && fake_free >= 0)
        ret_info->f_bavail = (unsigned long)fake_free / ret_info->f_frsize;
    return result;
}

/* --- reports --------------------------------------------------------------------------- */

static culex_doctor_report *examine(struct culex_store *store)
{
    culex_error error = {.text = ""};
    struct culex_report *report = culex__report_create();
    assert_non_null(report);
    if (store->ops->doctor(store, report, &error) != CULEX_OK)
        fail_msg("doctor: %s", error.text);
    culex_doctor_report *finished = culex__report_finish(report);
    assert_non_null(finished);
    return finished;
}

static const culex_finding *find(const culex_doctor_report *report, const char *id)
{
    for (size_t i = 0; i < report->finding_count; i++) {
        if (strcmp(report->findings[i].id, id) == 0)
            return &report->findings[i];
    }
    fail_msg("no finding %s", id);
    return NULL;
}

static void expect(struct culex_store *store, const char *id, culex_severity severity,
                   const char *text)
{
    culex_doctor_report *report = examine(store);
    const culex_finding *finding = find(report, id);
    if (finding->severity != severity || strstr(finding->text, text) == NULL)
        fail_msg("%s: %s, %s", id, culex_severity_name(finding->severity), finding->text);
    assert_true(severity <= CULEX_SEVERITY_OK || finding->advice[0] != '\0');
    assert_true(report->worst >= severity);
    culex_doctor_report_free(report);
}

static struct culex_store *open_with(struct fixture *fixture, const char *options_of_url,
                                     const char *synchronous)
{
    char url[160];
    struct culex_store_options options = {.timeout_ms = 5000, .synchronous = synchronous};
    struct culex_store *store = NULL;
    culex_error error = {.text = ""};
    snprintf(url, sizeof url, "%s%s", fixture->path, options_of_url);
    if (culex__sqlite_open(url, false, &options, &fixture->env, &store, &error) != CULEX_OK)
        fail_msg("open: %s", error.text);
    return store;
}

/* --- promises -------------------------------------------------------------------------- */

static void expect_promise(struct culex_store *store, const char *text, culex_severity severity)
{
    culex_doctor_report *report = examine(store);
    if (strstr(report->promise, text) == NULL)
        fail_msg("promise: %s", report->promise);
    assert_int_equal(find(report, "sqlite-synchronous")->severity, severity);
    culex_doctor_report_free(report);
    store->ops->close(store);
}

static void test_promise__follows_synchronous(void **state)
{
    expect_promise(open_with(*state, "", NULL), "and a power cut, if the disk", CULEX_SEVERITY_OK);
    expect_promise(open_with(*state, "", "normal"), "does not damage the file",
                   CULEX_SEVERITY_WARNING);
    expect_promise(open_with(*state, "", "off"), "may lose everything", CULEX_SEVERITY_WARNING);
}

static void test_promise__memory_survives_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct culex_store *store = NULL;
    assert_int_equal(culex__sqlite_open("doctor", true, NULL, &fixture->env, &store, NULL),
                     CULEX_OK);
    culex_doctor_report *report = examine(store);
    assert_non_null(strstr(report->promise, "Nothing survives"));
    assert_int_equal(find(report, "sqlite-memory")->severity, CULEX_SEVERITY_WARNING);
    culex_doctor_report_free(report);
    store->ops->close(store);
}

static void test_report__sound_file_has_all_findings_and_no_warning(void **state)
{
    static const char *const ids[] = {
        "sqlite-synchronous", "sqlite-journal-mode", "sqlite-page-size",     "sqlite-version",
        "sqlite-file-system", "sqlite-free-space",   "sqlite-reserve",       "sqlite-permissions",
        "sqlite-rights",      "sqlite-wal",          "sqlite-two-libraries", "sqlite-quick-check"};
    struct fixture *fixture = *state;
    fixture->store = open_with(fixture, "", NULL);
    culex_doctor_report *report = examine(fixture->store);
    assert_int_equal(report->finding_count, sizeof ids / sizeof ids[0]);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        const culex_finding *finding = find(report, ids[i]);
        if (finding->severity > CULEX_SEVERITY_NOTE)
            fail_msg("%s: %s", finding->id, finding->text);
    }
    char *text = culex_doctor_report_text(report);
    assert_non_null(text);
    printf("%s", text);
    free(text);
    culex_doctor_report_free(report);
}

/* --- settings -------------------------------------------------------------------------- */

static void test_finding__journal_that_is_no_log(void **state)
{
    struct fixture *fixture = *state;
    fixture->store = open_with(fixture, "", NULL);
    expect(fixture->store, "sqlite-journal-mode", CULEX_SEVERITY_OK, "write-ahead log");
    sqlite3 *db = culex__sqlite_of(fixture->store)->db;
    assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL), SQLITE_OK);
    expect(fixture->store, "sqlite-journal-mode", CULEX_SEVERITY_ERROR, "no write-ahead log");
}

static void test_finding__version_with_the_fault_is_a_note(void **state)
{
    struct fixture *fixture = *state;
    fixture->store = fixture_open(fixture, GUARDED);
    expect(fixture->store, "sqlite-version", CULEX_SEVERITY_NOTE, "q.db-lock");
    fixture->store->ops->close(fixture->store);
    fixture->store = fixture_open(fixture, CULEX__SQLITE_WAL_RESET_FIXED);
    expect(fixture->store, "sqlite-version", CULEX_SEVERITY_OK, "mended");
}

static void test_finding__page_size_of_an_old_file_is_a_note(void **state)
{
    struct fixture *fixture = *state;
    fixture_sql(fixture, "PRAGMA page_size=8192; VACUUM");
    fixture->store = open_with(fixture, "", NULL);
    expect(fixture->store, "sqlite-page-size", CULEX_SEVERITY_NOTE, "8192");
}

static void test_finding__two_libraries_in_one_process_are_a_warning(void **state)
{
    struct fixture *fixture = *state;
    fixture->store = open_with(fixture, "", NULL);
    expect(fixture->store, "sqlite-two-libraries", CULEX_SEVERITY_OK, "one SQLite");
    void *handle = dlopen(other_library, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    expect(fixture->store, "sqlite-two-libraries", CULEX_SEVERITY_WARNING, "other_library");
    dlclose(handle);
    expect(fixture->store, "sqlite-two-libraries", CULEX_SEVERITY_OK, "one SQLite");
}

/* --- the place ------------------------------------------------------------------------- */

static void test_network__is_refused_unless_accepted(void **state)
{
    static const long refused[] = {NFS, 0xff534d42, 0xfe534d42, 0x517b, 0x01021997, 0x00c36400};
    struct fixture *fixture = *state;
    culex_error error;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        fake_magic = refused[i];
        assert_int_equal(fixture_try_open(fixture, &error), CULEX_EUNSUPPORTED);
        assert_non_null(strstr(error.text, "network file system"));
        assert_non_null(strstr(error.text, "?accept-network=1"));
        assert_int_equal(access(fixture->path, F_OK), -1);
    }
    fixture->store = open_with(fixture, "?accept-network=1&reserve=0", NULL);
    expect(fixture->store, "sqlite-file-system", CULEX_SEVERITY_WARNING, "Ceph");
    expect(fixture->store, "sqlite-reserve", CULEX_SEVERITY_NOTE, "no reserve");
    fake_magic = OVERLAY;
    expect(fixture->store, "sqlite-file-system", CULEX_SEVERITY_OK, "overlayfs");
    assert_int_equal(fixture_try_open(fixture, &error), CULEX_OK);
}

/* One number for all of FUSE: local ones are taken, with a note. */
static void test_network__fuse_is_told_apart_by_its_name(void **state)
{
    static const char mounts[] =
        "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
        "35 22 0:51 / /mnt/a rw,nosuid shared:9 master:1 - fuse.sshfs me@there: rw,user_id=0\n"
        "36 22 0:52 / /mnt/b rw - fuse.fuse-overlayfs fuse-overlayfs rw\n";
    struct fixture *fixture = *state;
    char type[CULEX_FILESYSTEM_NAME_SIZE], path[128];
    snprintf(path, sizeof path, "%s/mountinfo", fixture->folder);
    FILE *file = fopen(path, "w");
    fputs(mounts, file);
    fclose(file);
    assert_true(culex__filesystem_of_device(path, 51, type)); /* 0:51 */
    assert_string_equal(type, "fuse.sshfs");
    assert_true(culex__filesystem_is_network_fuse(type));
    assert_true(culex__filesystem_of_device(path, 52, type));
    assert_false(culex__filesystem_is_network_fuse(type));
    assert_false(culex__filesystem_of_device(path, 53, type));
    assert_false(culex__filesystem_is_network_fuse("sshfs"));
    fake_magic = FUSE;
    fixture->store = open_with(fixture, "", NULL);
    expect(fixture->store, "sqlite-file-system", CULEX_SEVERITY_NOTE, "in user space");
}

static void test_finding__disk_nearly_full_is_a_warning(void **state)
{
    struct fixture *fixture = *state;
    fixture->store = open_with(fixture, "", NULL);
    fake_free = 3 * 1024 * 1024;
    expect(fixture->store, "sqlite-free-space", CULEX_SEVERITY_WARNING, "only 3 MiB");
    fake_free = -1;
    expect(fixture->store, "sqlite-free-space", CULEX_SEVERITY_OK, "MiB are free");
}

static void test_finding__reserve_in_use_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    fixture->store = open_with(fixture, "", NULL);
    expect(fixture->store, "sqlite-reserve", CULEX_SEVERITY_OK, "8 MiB are set aside");
    snprintf(path, sizeof path, "%s-reserve", fixture->path);
    assert_int_equal(truncate(path, CULEX__SQLITE_RESERVE_BYTES / 2), 0);
    expect(fixture->store, "sqlite-reserve", CULEX_SEVERITY_ERROR, "half of the reserve");
    assert_int_equal(truncate(path, 0), 0);
    expect(fixture->store, "sqlite-reserve", CULEX_SEVERITY_ERROR, "soon nothing new is started");
}

static void test_finding__file_that_others_may_read_or_replace_is_a_warning(void **state)
{
    struct fixture *fixture = *state;
    fixture->store = open_with(fixture, "", NULL);
    expect(fixture->store, "sqlite-permissions", CULEX_SEVERITY_OK, "mode 600");
    chmod(fixture->path, 0640);
    expect(fixture->store, "sqlite-permissions", CULEX_SEVERITY_WARNING, "its group can read");
    chmod(fixture->path, 0666);
    expect(fixture->store, "sqlite-permissions", CULEX_SEVERITY_WARNING, "everybody can change");
    chmod(fixture->path, 0600);
    chmod(fixture->folder, 0777);
    expect(fixture->store, "sqlite-permissions", CULEX_SEVERITY_WARNING, "replace or delete");
    chmod(fixture->folder, 01777);
    expect(fixture->store, "sqlite-permissions", CULEX_SEVERITY_OK, "mode 600");
}

/* Tests may run as root, whom no file mode stops: query_only gives the same answer. */
static void test_finding__file_that_may_not_be_written(void **state)
{
    struct fixture *fixture = *state;
    fixture->store = open_with(fixture, "", NULL);
    expect(fixture->store, "sqlite-rights", CULEX_SEVERITY_OK, "may write");
    sqlite3 *db = culex__sqlite_of(fixture->store)->db;
    sqlite3_exec(db, "PRAGMA query_only=1", NULL, NULL, NULL);
    expect(fixture->store, "sqlite-rights", CULEX_SEVERITY_ERROR, "nothing can be enqueued");
    sqlite3_exec(db, "PRAGMA query_only=0", NULL, NULL, NULL);
    expect(fixture->store, "sqlite-rights", CULEX_SEVERITY_OK, "may write");
}

static void test_finding__second_name_of_the_file_is_a_warning(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    fixture->store = open_with(fixture, "", NULL);
    snprintf(path, sizeof path, "%s/other.db", fixture->folder);
    assert_int_equal(link(fixture->path, path), 0);
    expect(fixture->store, "sqlite-hard-links", CULEX_SEVERITY_WARNING,
           "has 2 names: Culex opens it by this one");
}

/* Whoever may use a file that was opened to a group needs what lies beside it as well. */
static void test_files_beside_the_database_have_its_mode(void **state)
{
    static const char *const suffixes[] = {"-lock", "-reserve"};
    struct fixture *fixture = *state;
    struct stat info;
    char path[128];
    fixture->store = fixture_open(fixture, GUARDED);
    fixture->store->ops->close(fixture->store);
    chmod(fixture->path, 0660);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s%s", fixture->path, suffixes[i]);
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0600);
        unlink(path);
    }
    mode_t old = umask(077);
    fixture->store = fixture_open(fixture, GUARDED);
    umask(old);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s%s", fixture->path, suffixes[i]);
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0660);
    }
}

static void test_finding__log_that_cannot_be_written_back(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    fixture->store = open_with(fixture, "", NULL);
    struct culex_new_run run = fixture_run("x", 1);
    fixture_enqueue(fixture->store, "q", &run);
    expect(fixture->store, "sqlite-wal", CULEX_SEVERITY_OK, "KiB");
    snprintf(path, sizeof path, "%s-wal", fixture->path);
    assert_int_equal(truncate(path, 100 * 1024 * 1024), 0); /* sparse */
    expect(fixture->store, "sqlite-wal", CULEX_SEVERITY_WARNING, "100 MiB");
}

/* --- the data -------------------------------------------------------------------------- */

static void test_finding__damage_of_the_file_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    char bytes[2048];
    fixture->store = open_with(fixture, "", NULL);
    for (int i = 0; i < 50; i++) {
        struct culex_new_run run = fixture_run("some payload", 12);
        fixture_enqueue(fixture->store, "q", &run);
    }
    expect(fixture->store, "sqlite-quick-check", CULEX_SEVERITY_OK, "sound");
    fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
    /* All of it is in the file by now; the log would hide the damage. */
    char wal[128];
    snprintf(wal, sizeof wal, "%s-wal", fixture->path);
    unlink(wal);
    int fd = open(fixture->path, O_RDWR);
    memset(bytes, 0xee, sizeof bytes);
    int64_t page =
        fixture_ask(fixture, "SELECT rootpage FROM sqlite_schema WHERE name = 'run_ready'");
    assert_int_equal(pwrite(fd, bytes, sizeof bytes, (page - 1) * 2048), sizeof bytes);
    close(fd);
    fixture->store = open_with(fixture, "", NULL);
    expect(fixture->store, "sqlite-quick-check", CULEX_SEVERITY_ERROR, "damaged");
}

static int64_t hasty_now(void *self)
{
    (void)self;
    static int64_t now_ns;
    return now_ns += 1000000000;
}

/* A file too large to be looked at in time is a note, not a wait. */
static void test_finding__check_that_takes_too_long(void **state)
{
    struct fixture *fixture = *state;
    fixture->store = open_with(fixture, "", NULL);
    char payload[1000] = {0};
    for (int i = 0; i < 300; i++) {
        struct culex_new_run run = fixture_own_run(payload, sizeof payload);
        fixture_enqueue(fixture->store, "q", &run);
    }
    fixture->env.boottime_ns = hasty_now;
    expect(fixture->store, "sqlite-quick-check", CULEX_SEVERITY_NOTE, "takes too long");
    fixture->env.boottime_ns = culex__env_system()->boottime_ns;
    struct culex_new_run run = fixture_run("x", 1);
    assert_int_equal(fixture_enqueue(fixture->store, "q", &run), CULEX_ENQUEUED_NEW);
}

/* --- runner ---------------------------------------------------------------------------- */

static int teardown(void **state)
{
    fake_magic = 0;
    fake_free = -1;
    return fixture_teardown(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, teardown)

int main(int argc, char **argv)
{
    other_library = argc > 1 ? argv[1] : "";
    const struct CMUnitTest tests[] = {
        TEST(test_promise__follows_synchronous),
        TEST(test_promise__memory_survives_nothing),
        TEST(test_report__sound_file_has_all_findings_and_no_warning),
        TEST(test_finding__journal_that_is_no_log),
        TEST(test_finding__version_with_the_fault_is_a_note),
        TEST(test_finding__page_size_of_an_old_file_is_a_note),
        TEST(test_finding__two_libraries_in_one_process_are_a_warning),
        TEST(test_network__is_refused_unless_accepted),
        TEST(test_network__fuse_is_told_apart_by_its_name),
        TEST(test_finding__disk_nearly_full_is_a_warning),
        TEST(test_finding__reserve_in_use_is_an_error),
        TEST(test_finding__file_that_others_may_read_or_replace_is_a_warning),
        TEST(test_finding__file_that_may_not_be_written),
        TEST(test_finding__second_name_of_the_file_is_a_warning),
        TEST(test_files_beside_the_database_have_its_mode),
        TEST(test_finding__log_that_cannot_be_written_back),
        TEST(test_finding__damage_of_the_file_is_an_error),
        TEST(test_finding__check_that_takes_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
