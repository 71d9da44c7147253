#include "store/sqlite/reserve.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "store/sqlite/beside.h"
#include "store/sqlite/checkpoint.h"
#include "store/sqlite/clock.h"
#include "store/sqlite/sqlite.h"
#include "base/instant.h"
#include "platform/descriptor.h"

enum {
    WHOLE = CULEX__SQLITE_RESERVE_BYTES,
    HALF = WHOLE / 2,
    /* What the log needs beside a whole reserve, or the next commit would spend it again; and
     * beside half of one. */
    LOG_AIR = CULEX__SQLITE_AIR_BYTES,
    LOG_LEAST = 1024 * 1024,
    RETRY_MS = 1000, /* after room was there and could not be had: a quota, a reader in the log */
    LOCK_TRIES = 200,
};

/* --- the file -------------------------------------------------------------------------- */

static enum culex_sqlite_reserve_level level_of(int64_t size)
{
    if (size >= WHOLE)
        return CULEX__SQLITE_RESERVE_WHOLE;
    return size >= HALF ? CULEX__SQLITE_RESERVE_HALF : CULEX__SQLITE_RESERVE_NONE;
}

static int64_t size_of(const struct culex_sqlite *store)
{
    struct stat info;
    if (store->reserve.fd < 0 || fstat(store->reserve.fd, &info) != 0)
        return WHOLE;
    return info.st_size;
}

enum culex_sqlite_reserve_level culex__sqlite_reserve_level(const struct culex_sqlite *store)
{
    return level_of(size_of(store));
}

enum culex_sqlite_reserve_level culex__sqlite_reserve_level_at(const char *path)
{
    struct stat info;
    char *name = path != NULL ? culex__sqlite_beside_name(path, "-reserve") : NULL;
    if (name == NULL)
        return CULEX__SQLITE_RESERVE_WHOLE;
    int failed = lstat(name, &info);
    free(name);
    return failed ? CULEX__SQLITE_RESERVE_WHOLE : level_of(info.st_size);
}

/* Takes blocks until the file has `size` bytes. */
static bool grow(int fd, int64_t size)
{
    struct rlimit most;
    /* Beyond this limit the kernel sends a signal that ends the program. */
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < (rlim_t)size)
        return false;
    return posix_fallocate(fd, 0, size) == 0;
}

static bool lock(struct culex_sqlite *store)
{
    assert(store->reserve.fd >= 0);
    for (int tries = 0; flock(store->reserve.fd, LOCK_EX | LOCK_NB) != 0; tries++) {
        if (tries == LOCK_TRIES || !culex__sqlite_clock_pause(store, tries))
            return false;
    }
    return true;
}

/* With what could not be had given back at once: somebody may be about to need it. */
static bool take(struct culex_sqlite *store, int64_t size)
{
    int64_t before = size_of(store);
    bool is_taken = grow(store->reserve.fd, size);
    if (!is_taken && ftruncate(store->reserve.fd, before) != 0)
        return false;
    return is_taken;
}

static void open_file(struct culex_sqlite *store)
{
    store->reserve.fd = culex__sqlite_beside_open(store->path, "-reserve");
}

void culex__sqlite_reserve_open(struct culex_sqlite *store)
{
    if (store->is_memory || store->options.has_no_reserve ||
        sqlite3_db_readonly(store->db, "main") == 1)
        return;
    if (store->reserve.fd < 0)
        open_file(store);
    if (size_of(store) >= WHOLE || !lock(store))
        return;
    if (size_of(store) < WHOLE && !take(store, WHOLE) && size_of(store) < HALF)
        take(store, HALF);
    flock(store->reserve.fd, LOCK_UN);
}

void culex__sqlite_reserve_close(struct culex_sqlite *store)
{
    culex__descriptor_close(store->reserve.fd);
    store->reserve.fd = -1;
}

/* --- making it whole again ------------------------------------------------------------- */

static int64_t free_bytes(const struct culex_sqlite *store)
{
    struct statvfs info;
    if (fstatvfs(store->reserve.fd, &info) != 0)
        return 0;
    return (int64_t)info.f_bavail * (int64_t)info.f_frsize;
}

static int64_t log_bytes(const struct culex_sqlite *store)
{
    struct stat info;
    const char *name = sqlite3_filename_wal(sqlite3_db_filename(store->db, "main"));
    return name != NULL && stat(name, &info) == 0 ? info.st_size : 0;
}

/* How large it can be, out of what is free and of the log once that is written back. */
static int64_t goal(const struct culex_sqlite *store, int64_t size)
{
    int64_t room = size + free_bytes(store) + log_bytes(store);
    if (room >= WHOLE + LOG_AIR)
        return WHOLE;
    return room >= HALF + LOG_LEAST ? HALF : 0;
}

/* What stands in the log may need room in the file first. */
static void refill(struct culex_sqlite *store, int64_t wanted)
{
    culex__sqlite_clock_start(store);
    bool is_tight = free_bytes(store) < wanted - size_of(store) + LOG_AIR;
    culex__sqlite_checkpoint(store, is_tight);
    if (!lock(store))
        return;
    if (size_of(store) < wanted)
        take(store, wanted);
    flock(store->reserve.fd, LOCK_UN);
    if (size_of(store) < wanted)
        store->reserve.next_try_ns =
            culex__env_boottime_ns(store->base.env) + RETRY_MS * CULEX_MS_NS;
}

/* Somebody may have deleted the file. */
enum culex_sqlite_reserve_level culex__sqlite_reserve_renew(struct culex_sqlite *store)
{
    struct stat info;
    if (store->reserve.fd < 0 || fstat(store->reserve.fd, &info) != 0)
        return CULEX__SQLITE_RESERVE_WHOLE;
    if (info.st_nlink > 0 && info.st_size >= WHOLE)
        return CULEX__SQLITE_RESERVE_WHOLE;
    if (info.st_nlink == 0) {
        culex__sqlite_reserve_close(store);
        open_file(store);
    }
    int64_t size = size_of(store), wanted = size < WHOLE ? goal(store, size) : size;
    if (wanted > size && culex__env_boottime_ns(store->base.env) >= store->reserve.next_try_ns)
        refill(store, wanted);
    return culex__sqlite_reserve_level(store);
}

/* --- spending it ----------------------------------------------------------------------- */

bool culex__sqlite_reserve_give(struct culex_sqlite *store, enum culex_sqlite_reserve_level seen)
{
    if (store->reserve.fd < 0 || seen == CULEX__SQLITE_RESERVE_NONE)
        return false;
    culex__sqlite_clock_start(store);
    if (!lock(store))
        return true; /* whoever has it is doing the same */
    int64_t left = seen == CULEX__SQLITE_RESERVE_WHOLE ? HALF : 0;
    bool is_stuck =
        culex__sqlite_reserve_level(store) == seen && ftruncate(store->reserve.fd, left) != 0;
    flock(store->reserve.fd, LOCK_UN);
    return !is_stuck;
}

bool culex__sqlite_reserve_lend(struct culex_sqlite *store)
{
    struct stat info;
    if (store->is_memory || store->options.has_no_reserve)
        return false;
    if (store->reserve.fd < 0)
        open_file(store);
    if (store->reserve.fd < 0 || fstat(store->reserve.fd, &info) != 0 || info.st_size == 0)
        return false;
    return culex__sqlite_reserve_give(store, level_of(info.st_size));
}
