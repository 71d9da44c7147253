/* store/sqlite/doctor.c - what a file, its settings and its place promise. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "store/sqlite/beside.h"
#include "store/sqlite/clock.h"
#include "store/sqlite/error.h"
#include "store/sqlite/reserve.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/transaction.h"
#include "store/sqlite/verbs.h"
#include "base/error.h"
#include "base/instant.h"
#include "platform/filesystem.h"
#include "platform/path.h"

enum {
    MIB = 1024 * 1024,
    STORE_PAGE = 2048,
    WAL_LARGE = 64 * MIB, /* twice of what a busy store lets it grow to */
    FREE_LOW = 12 * MIB,  /* below it a spent reserve would stay so */
    CHECK_MS = 2000,      /* longest integrity check */
    CHECK_STEPS = 10000,  /* of SQLite's machine between looks at the clock */
    LIBRARIES_MAX = 8,
};

/* --- settings -------------------------------------------------------------------------- */

static culex_status add_synchronous(struct culex_sqlite *store, struct culex_report *report,
                                    culex_error *error)
{
    int64_t level = 0;
    culex_status status = culex__sqlite_ask(store, "PRAGMA synchronous", &level, error);
    if (status != CULEX_OK)
        return status;
    if (level >= 2) {
        culex__report_promise(report, "An acknowledged enqueue survives the end of any program, a "
                                      "crash of the system and a power cut, if the disk keeps what "
                                      "it has confirmed.");
        culex__report_add(report, CULEX_SEVERITY_OK, "sqlite-synchronous", NULL,
                          "synchronous is full: every commit waits for the disk");
    } else if (level == 1) {
        culex__report_promise(report, "An acknowledged enqueue survives the end of any program; a "
                                      "crash of the system or a power cut may take back the last "
                                      "ones, and results with them, but does not damage the file.");
        culex__report_add(report, CULEX_SEVERITY_WARNING, "sqlite-synchronous",
                          "open the store with synchronous=full",
                          "synchronous is normal: a power cut may take back the last commits; runs "
                          "whose results are gone run again");
    } else {
        culex__report_promise(report, "An acknowledged enqueue survives the end of any program; a "
                                      "crash of the system or a power cut may lose everything.");
        culex__report_add(report, CULEX_SEVERITY_WARNING, "sqlite-synchronous",
                          "open the store with synchronous=full",
                          "synchronous is off: a power cut may damage the whole file");
    }
    return CULEX_OK;
}

static culex_status add_journal(struct culex_sqlite *store, struct culex_report *report,
                                culex_error *error)
{
    int64_t is_wal = 0;
    culex_status status = culex__sqlite_ask(
        store, "SELECT journal_mode = 'wal' FROM pragma_journal_mode", &is_wal, error);
    if (status != CULEX_OK)
        return status;
    if (is_wal)
        culex__report_add(report, CULEX_SEVERITY_OK, "sqlite-journal-mode", NULL,
                          "the journal is a write-ahead log");
    else
        culex__report_add(report, CULEX_SEVERITY_ERROR, "sqlite-journal-mode",
                          "open the store once with write permission, with nobody else using it",
                          "the journal is no write-ahead log: workers and producers keep each "
                          "other waiting, and an idle worker is not woken");
    return CULEX_OK;
}

static culex_status add_page_size(struct culex_sqlite *store, struct culex_report *report,
                                  culex_error *error)
{
    int64_t size = 0;
    culex_status status = culex__sqlite_ask(store, "PRAGMA page_size", &size, error);
    if (status != CULEX_OK)
        return status;
    if (size == STORE_PAGE)
        culex__report_add(report, CULEX_SEVERITY_OK, "sqlite-page-size", NULL,
                          "pages have %d bytes", STORE_PAGE);
    else
        culex__report_add(report, CULEX_SEVERITY_NOTE, "sqlite-page-size",
                          "VACUUM with that page size set, when nobody uses the file",
                          "pages have %lld bytes, new files get %d: each small change writes more "
                          "than it has to",
                          (long long)size, STORE_PAGE);
    return CULEX_OK;
}

/* --- the library ----------------------------------------------------------------------- */

static void add_version(const struct culex_sqlite *store, struct culex_report *report)
{
    if (!store->is_guarded)
        culex__report_add(report, CULEX_SEVERITY_OK, "sqlite-version", NULL,
                          "SQLite %s; the fault in resetting the log is mended there",
                          sqlite3_libversion());
    else
        culex__report_add(report, CULEX_SEVERITY_NOTE, "sqlite-version",
                          "other programs that write this file should set PRAGMA "
                          "wal_autocheckpoint=0; or use SQLite 3.51.3 or later",
                          "SQLite %s can damage a file when one program writes while another "
                          "resets the log; Culex keeps the two apart with %s-lock",
                          sqlite3_libversion(), store->path);
}

struct libraries {
    void *bases[LIBRARIES_MAX];
    char names[LIBRARIES_MAX][64];
    size_t count;
};

static void libraries_add(struct libraries *libraries, void *symbol)
{
    Dl_info info;
    if (symbol == NULL || libraries->count == LIBRARIES_MAX || dladdr(symbol, &info) == 0)
        return;
    for (size_t i = 0; i < libraries->count; i++) {
        if (libraries->bases[i] == info.dli_fbase)
            return;
    }
    const char *slash = info.dli_fname != NULL ? strrchr(info.dli_fname, '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : info.dli_fname;
    snprintf(libraries->names[libraries->count], sizeof libraries->names[0], "%s",
             name != NULL ? name : "?");
    libraries->bases[libraries->count++] = info.dli_fbase;
}

static int visit_object(struct dl_phdr_info *object, size_t size, void *user)
{
    (void)size;
    if (object->dlpi_name == NULL || object->dlpi_name[0] == '\0')
        return 0;
    void *handle = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL)
        return 0;
    libraries_add(user, dlsym(handle, "sqlite3_libversion_number"));
    dlclose(handle);
    return 0;
}

/* Copies that hide their symbols are not seen. */
static void add_libraries(struct culex_report *report)
{
    struct libraries libraries = {.count = 0};
    int (*ours)(void) = sqlite3_libversion_number;
    void *symbol;
    memcpy(&symbol, &ours, sizeof symbol);
    libraries_add(&libraries, symbol);
    dl_iterate_phdr(visit_object, &libraries);
    if (libraries.count < 2)
        culex__report_add(report, CULEX_SEVERITY_OK, "sqlite-two-libraries", NULL,
                          "this process has one SQLite library");
    else
        culex__report_add(report, CULEX_SEVERITY_WARNING, "sqlite-two-libraries",
                          "link everything with the same shared SQLite, or open this file through "
                          "one of them only",
                          "this process has %zu SQLite libraries (%s, %s): when both use one file, "
                          "each drops the other's locks, which damages it",
                          libraries.count, libraries.names[0], libraries.names[1]);
}

/* --- the place ------------------------------------------------------------------------- */

static void add_file_system(const struct culex_sqlite *store, const char *folder,
                            struct culex_report *report)
{
    struct culex_filesystem system;
    if (!culex__filesystem_read(folder, &system))
        culex__report_add(report, CULEX_SEVERITY_NOTE, "sqlite-file-system", NULL,
                          "the file system of %s does not tell what it is: %s", folder,
                          strerror(errno));
    else if (system.is_network)
        culex__report_add(report, CULEX_SEVERITY_WARNING, "sqlite-file-system",
                          "use a local disk, or Redis",
                          "%s is on a network file system (%s), accepted by the URL: used from a "
                          "second machine the file gets damaged",
                          store->path, system.name);
    else if (system.is_fuse)
        culex__report_add(report, CULEX_SEVERITY_NOTE, "sqlite-file-system",
                          "make sure that this is no remote disk",
                          "%s is on a file system in user space (%s)", store->path, system.name);
    else
        culex__report_add(report, CULEX_SEVERITY_OK, "sqlite-file-system", NULL,
                          "%s is on a local file system (%s)", store->path, system.name);
}

static void add_free_space(const char *folder, struct culex_report *report)
{
    struct statvfs info;
    if (statvfs(folder, &info) != 0)
        return;
    uint64_t mib = (uint64_t)info.f_bavail * info.f_frsize / MIB;
    if (mib >= FREE_LOW / MIB)
        culex__report_add(report, CULEX_SEVERITY_OK, "sqlite-free-space", NULL, "%llu MiB are free",
                          (unsigned long long)mib);
    else
        culex__report_add(report, CULEX_SEVERITY_WARNING, "sqlite-free-space",
                          "make room on the disk, or purge finished runs",
                          "only %llu MiB are free: enqueues will soon be refused",
                          (unsigned long long)mib);
}

static void add_reserve(const struct culex_sqlite *store, struct culex_report *report)
{
    int mib = CULEX__SQLITE_RESERVE_BYTES / MIB;
    enum culex_sqlite_reserve_level level = culex__sqlite_reserve_level(store);
    if (store->reserve.fd < 0)
        culex__report_add(report, CULEX_SEVERITY_NOTE, "sqlite-reserve",
                          "open the store without reserve=0",
                          "there is no reserve: on a full disk finished runs cannot be recorded, "
                          "and run again");
    else if (level == CULEX__SQLITE_RESERVE_WHOLE)
        culex__report_add(report, CULEX_SEVERITY_OK, "sqlite-reserve", NULL,
                          "%d MiB are set aside so that running jobs can report on a full disk",
                          mib);
    else
        culex__report_add(
            report, CULEX_SEVERITY_ERROR, "sqlite-reserve",
            "make room on the disk: all goes on once 12 MiB are free",
            level == CULEX__SQLITE_RESERVE_HALF
                ? "half of the reserve of %d MiB is used: enqueues are refused, but for what fits "
                  "into the room of ended runs"
                : "the reserve of %d MiB is used up: enqueues are refused, but for what fits into "
                  "the room of ended runs, and soon nothing new is started",
            mib);
}

static void add_permissions(const struct culex_sqlite *store, const char *folder,
                            struct culex_report *report)
{
    struct stat file, place;
    if (stat(store->path, &file) != 0 || stat(folder, &place) != 0)
        return;
    if (file.st_nlink > 1)
        culex__report_add(report, CULEX_SEVERITY_WARNING, "sqlite-hard-links",
                          "remove all names but one",
                          "%s has %llu names: Culex opens it by this one, and other programs "
                          "that use another do not share its log and locks, which damages it",
                          store->path, (unsigned long long)file.st_nlink);
    unsigned mode = file.st_mode & 0777;
    bool is_open_folder = (place.st_mode & S_IWOTH) != 0 && (place.st_mode & S_ISVTX) == 0;
    if ((mode & 077) != 0)
        culex__report_add(report, CULEX_SEVERITY_WARNING, "sqlite-permissions",
                          "chmod go-rwx the file and those beside it, unless they share it",
                          "%s has mode %03o: %s can %s all payloads", store->path, mode,
                          (mode & 07) != 0 ? "everybody" : "its group",
                          (mode & 022) != 0 ? "change" : "read");
    else if (is_open_folder)
        culex__report_add(
            report, CULEX_SEVERITY_WARNING, "sqlite-permissions", "chmod o-w the folder",
            "everybody can replace or delete %s, as its folder is open for writing", store->path);
    else
        culex__report_add(report, CULEX_SEVERITY_OK, "sqlite-permissions", NULL, "%s has mode %03o",
                          store->path, mode);
}

/* A transaction that would write, and does not. */
static void add_rights(struct culex_sqlite *store, struct culex_report *report)
{
    culex_error refusal = {0};
    culex_status status = culex__sqlite_begin(store, &refusal);
    if (status == CULEX_OK) {
        culex__sqlite_end_transaction(store, CULEX_EINVAL, NULL);
        culex__report_add(report, CULEX_SEVERITY_OK, "sqlite-rights", NULL,
                          "this user may write the file");
    } else {
        bool is_busy = status == CULEX_EBUSY;
        culex__report_add(
            report, is_busy ? CULEX_SEVERITY_NOTE : CULEX_SEVERITY_ERROR, "sqlite-rights",
            is_busy ? NULL : "give this user the file, those beside it and its folder",
            "nothing can be enqueued or run: %s", refusal.text);
    }
}

static void add_log(const struct culex_sqlite *store, struct culex_report *report)
{
    struct stat info;
    bool is_there = culex__sqlite_beside_look(store->path, "-wal", &info);
    long long size = is_there ? (long long)info.st_size : 0;
    if (size < WAL_LARGE)
        culex__report_add(report, CULEX_SEVERITY_OK, "sqlite-wal", NULL, "the log has %lld KiB",
                          (size + 1023) / 1024);
    else
        culex__report_add(report, CULEX_SEVERITY_WARNING, "sqlite-wal",
                          "end programs that keep a transaction on this file open, also reading "
                          "ones (backups, the sqlite3 shell)",
                          "the log has grown to %lld MiB: something keeps it from being written "
                          "back",
                          size / MIB);
}

/* --- the data -------------------------------------------------------------------------- */

static int is_over(void *user)
{
    const struct culex_sqlite *store = user;
    return culex__env_boottime_ns(store->base.env) >= store->deadline_ns;
}

static void add_check_result(struct culex_sqlite *store, struct culex_report *report,
                             sqlite3_stmt *statement)
{
    int rc = sqlite3_step(statement);
    const char *text = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (text != NULL && strcmp(text, "ok") == 0)
        culex__report_add(report, CULEX_SEVERITY_OK, "sqlite-quick-check", NULL,
                          "the file's structure is sound");
    else if (text != NULL || rc == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_CORRUPT)
        culex__report_add(report, CULEX_SEVERITY_ERROR, "sqlite-quick-check",
                          "stop all programs that use it, keep a copy of the file and its -wal, "
                          "then restore a backup or save the rows with the sqlite3 shell's "
                          ".recover; Culex deletes nothing",
                          "the file is damaged: %.200s",
                          text != NULL ? text : sqlite3_errmsg(store->db));
    else
        culex__report_add(report, CULEX_SEVERITY_NOTE, "sqlite-quick-check",
                          "run PRAGMA quick_check at a quiet time",
                          "the check of the file's structure was not finished: %s",
                          (rc & 0xff) == SQLITE_INTERRUPT ? "it takes too long"
                                                          : sqlite3_errmsg(store->db));
}

/* It reads the whole file, but for no longer than CHECK_MS, as its snapshot holds up the log. */
static void add_check(struct culex_sqlite *store, struct culex_report *report)
{
    sqlite3_stmt *statement = NULL;
    int64_t longest_ns = culex__env_boottime_ns(store->base.env) + CHECK_MS * CULEX_MS_NS;
    store->deadline_ns = store->deadline_ns < longest_ns ? store->deadline_ns : longest_ns;
    sqlite3_progress_handler(store->db, CHECK_STEPS, is_over, store);
    sqlite3_prepare_v2(store->db, "PRAGMA quick_check(1)", -1, &statement, NULL);
    add_check_result(store, report, statement);
    sqlite3_finalize(statement);
    sqlite3_progress_handler(store->db, 0, NULL, NULL);
}

/* --- all of it ------------------------------------------------------------------------- */

static culex_status examine_file(struct culex_sqlite *store, struct culex_report *report,
                                 culex_error *error)
{
    char *folder = culex__path_folder(store->path);
    if (folder == NULL)
        return culex__sqlite_no_memory(error);
    culex_status status = add_synchronous(store, report, error);
    if (status == CULEX_OK)
        status = add_journal(store, report, error);
    if (status == CULEX_OK)
        status = add_page_size(store, report, error);
    if (status == CULEX_OK) {
        add_version(store, report);
        add_file_system(store, folder, report);
        add_free_space(folder, report);
        add_reserve(store, report);
        add_permissions(store, folder, report);
        add_rights(store, report);
        add_log(store, report);
    }
    free(folder);
    return status;
}

culex_status culex__sqlite_doctor(struct culex_store *base, struct culex_report *report,
                                  culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(base);
    culex__sqlite_clock_start(store);
    if (store->is_memory) {
        culex__report_promise(report, "Nothing survives: the runs live in this process's memory "
                                      "and end with it.");
        culex__report_add(report, CULEX_SEVERITY_WARNING, "sqlite-memory",
                          "use sqlite:PATH or redis:// for anything that matters",
                          "%s is for tests and trials: no other process sees it, and all of it is "
                          "gone when this one ends",
                          store->path);
        return CULEX_OK;
    }
    culex_status status = examine_file(store, report, error);
    if (status != CULEX_OK)
        return status;
    add_libraries(report);
    add_check(store, report);
    return CULEX_OK;
}
