#include "backend/sqlite_reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "backend/sqlite.h"
#include "base/error.h"
#include "platform/descriptor.h"

enum {
    WHOLE = CULEX__SQLITE_RESERVE_BYTES,
    HALF = WHOLE / 2,
    /* Beside the reserve, or the next commit would need it again. */
    AIR = HALF,
    RETRY_MS = 1000, /* after room was there and could not be had: a quota */
    LOCK_TRIES = 200,
    STEP_TRIES = 6,
};

/* --- the file -------------------------------------------------------------------------- */

static enum culex_sqlite_reserve_level level_of(int64_t size)
{
    if (size >= WHOLE)
        return CULEX__SQLITE_RESERVE_WHOLE;
    return size >= HALF ? CULEX__SQLITE_RESERVE_HALF : CULEX__SQLITE_RESERVE_NONE;
}

enum culex_sqlite_reserve_level culex__sqlite_reserve_level(const struct culex_sqlite *store)
{
    struct stat info;
    if (store->reserve.fd < 0 || fstat(store->reserve.fd, &info) != 0)
        return CULEX__SQLITE_RESERVE_WHOLE;
    return level_of(info.st_size);
}

enum culex_sqlite_reserve_level culex__sqlite_reserve_level_at(const char *path)
{
    struct stat info;
    char *name = path != NULL ? malloc(strlen(path) + sizeof "-reserve") : NULL;
    if (name == NULL)
        return CULEX__SQLITE_RESERVE_WHOLE;
    strcpy(stpcpy(name, path), "-reserve");
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
    for (int tries = 0; flock(store->reserve.fd, LOCK_EX | LOCK_NB) != 0; tries++) {
        if (tries == LOCK_TRIES || !culex__sqlite_pause(store, tries))
            return false;
    }
    return true;
}

static bool has_room(const struct culex_sqlite *store, int64_t missing)
{
    struct statvfs info;
    return fstatvfs(store->reserve.fd, &info) == 0 &&
           (uint64_t)info.f_bavail * info.f_frsize >= (uint64_t)missing + AIR;
}

static int64_t missing(const struct culex_sqlite *store)
{
    struct stat info;
    if (store->reserve.fd < 0 || fstat(store->reserve.fd, &info) != 0 || info.st_size >= WHOLE)
        return 0;
    return WHOLE - info.st_size;
}

/* With what could not be had given back at once: somebody may be about to need it. */
static bool take(struct culex_sqlite *store, int64_t size)
{
    int64_t before = WHOLE - missing(store);
    bool is_taken = grow(store->reserve.fd, size);
    if (!is_taken && ftruncate(store->reserve.fd, before) != 0)
        return false;
    return is_taken;
}

static void open_file(struct culex_sqlite *store)
{
    store->reserve.fd = culex__sqlite_open_beside(store, "-reserve");
}

void culex__sqlite_reserve_open(struct culex_sqlite *store)
{
    if (store->is_memory || store->options.has_no_reserve ||
        sqlite3_db_readonly(store->db, "main") == 1)
        return;
    open_file(store);
    if (missing(store) == 0 || !lock(store))
        return;
    if (missing(store) > 0 && !take(store, WHOLE))
        take(store, HALF);
    flock(store->reserve.fd, LOCK_UN);
}

void culex__sqlite_reserve_close(struct culex_sqlite *store)
{
    culex__descriptor_close(store->reserve.fd);
    store->reserve.fd = -1;
}

/* --- making it whole again ------------------------------------------------------------- */

/* What stands in the log may need room in the file first. */
static void refill(struct culex_sqlite *store)
{
    culex__sqlite_start(store);
    culex__sqlite_checkpoint(store);
    if (!lock(store))
        return;
    int64_t wanted = missing(store);
    if (wanted > 0 && has_room(store, wanted) && !take(store, WHOLE))
        store->reserve.next_try_ns =
            culex__env_boottime_ns(store->base.env) + (int64_t)RETRY_MS * 1000000;
    flock(store->reserve.fd, LOCK_UN);
}

/* Before an operation: how much there is, after a look whether it can be more. Somebody may have
 * deleted the file. */
static enum culex_sqlite_reserve_level renew(struct culex_sqlite *store)
{
    struct stat info;
    if (store->reserve.fd < 0)
        return CULEX__SQLITE_RESERVE_WHOLE;
    if (fstat(store->reserve.fd, &info) == 0 && info.st_nlink == 0) {
        culex__sqlite_reserve_close(store);
        open_file(store);
    }
    if (missing(store) > 0 && has_room(store, missing(store)) &&
        culex__env_boottime_ns(store->base.env) >= store->reserve.next_try_ns)
        refill(store);
    return culex__sqlite_reserve_level(store);
}

/* --- spending it ----------------------------------------------------------------------- */

/* After `status`, in an operation that began when `seen` was left and may go down to `least`: true
 * when another try is worth while. */
static bool spend(struct culex_sqlite *store, culex_status status,
                  enum culex_sqlite_reserve_level seen, enum culex_sqlite_reserve_level least)
{
    if (status != CULEX_EFULL || store->reserve.fd < 0 || seen <= least)
        return false;
    culex__sqlite_start(store);
    if (lock(store)) {
        /* Another process may have done it meanwhile. */
        int64_t left = seen == CULEX__SQLITE_RESERVE_WHOLE ? HALF : 0;
        bool is_stuck =
            culex__sqlite_reserve_level(store) == seen && ftruncate(store->reserve.fd, left) != 0;
        flock(store->reserve.fd, LOCK_UN);
        if (is_stuck)
            return false;
    }
    culex__sqlite_checkpoint(store);
    return true;
}

static bool reuse_log(struct culex_sqlite *store)
{
    culex__sqlite_start(store);
    return store->reserve.fd >= 0 && culex__sqlite_checkpoint(store);
}

culex_status culex__sqlite_reserve_refuse(const char *path, culex_error *error)
{
    return culex__fail(error, CULEX_EFULL,
                       "%s: the disk is full; the reserve of %d MiB (%s-reserve) is being used so "
                       "that running jobs can report. Nothing was changed; make room, and enqueues "
                       "go on once %d MiB are free",
                       path, WHOLE >> 20, path, (WHOLE + AIR) >> 20);
}

/* --- operations ------------------------------------------------------------------------ */

culex_status culex__sqlite_reserved_step(struct culex_backend *backend,
                                         const struct culex_step *step,
                                         struct culex_step_reply *ret_reply, culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(backend);
    struct culex_step request = *step;
    enum culex_sqlite_reserve_level level = renew(store);
    culex_status status = CULEX_EFULL;
    for (int tries = 0; tries < STEP_TRIES; tries++) {
        if (level == CULEX__SQLITE_RESERVE_NONE)
            request.want = 0;
        status = culex__sqlite_step(backend, &request, ret_reply, error);
        /* A log that is all written back makes room by itself. */
        if (status == CULEX_EFULL && tries == 0 && reuse_log(store))
            continue;
        if (!spend(store, status, level, CULEX__SQLITE_RESERVE_NONE))
            break;
        level = culex__sqlite_reserve_level(store);
    }
    return status;
}

culex_status culex__sqlite_reserved_enqueue(struct culex_backend *backend, const char *queue,
                                            const struct culex_new_run *runs, size_t count,
                                            struct culex_enqueue_result *results,
                                            culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(backend);
    if (renew(store) != CULEX__SQLITE_RESERVE_WHOLE)
        return culex__sqlite_reserve_refuse(store->path, error);
    return culex__sqlite_enqueue(backend, queue, runs, count, results, error);
}

culex_status culex__sqlite_reserved_tick(struct culex_backend *backend,
                                         const struct culex_tick *tick,
                                         struct culex_tick_reply *ret_reply, culex_error *error)
{
    struct culex_sqlite *store = culex__sqlite_of(backend);
    if (renew(store) != CULEX__SQLITE_RESERVE_WHOLE)
        return culex__sqlite_reserve_refuse(store->path, error);
    return culex__sqlite_tick(backend, tick, ret_reply, error);
}

/* What a worker says at its start, and an operator does to make room, may use the first half. */
#define RESERVED(CALL)                                                                             \
    struct culex_sqlite *store = culex__sqlite_of(backend);                                        \
    enum culex_sqlite_reserve_level level = renew(store);                                          \
    culex_status status = CALL;                                                                    \
    return spend(store, status, level, CULEX__SQLITE_RESERVE_HALF) ? CALL : status

culex_status culex__sqlite_reserved_hello(struct culex_backend *backend, const char *queue,
                                          const char *worker, const char *session,
                                          size_t *ret_released, int64_t *ret_now_ms,
                                          culex_error *error)
{
    RESERVED(culex__sqlite_hello(backend, queue, worker, session, ret_released, ret_now_ms, error));
}

culex_status culex__sqlite_reserved_cancel(struct culex_backend *backend, const char *queue,
                                           culex_uuid id, culex_run_state *ret_state,
                                           culex_error *error)
{
    RESERVED(culex__sqlite_cancel(backend, queue, id, ret_state, error));
}

culex_status culex__sqlite_reserved_forget(struct culex_backend *backend, const char *queue,
                                           culex_uuid id, culex_error *error)
{
    RESERVED(culex__sqlite_forget(backend, queue, id, error));
}

culex_status culex__sqlite_reserved_pause(struct culex_backend *backend, const char *queue,
                                          bool is_paused, culex_error *error)
{
    RESERVED(culex__sqlite_pause_queue(backend, queue, is_paused, error));
}

culex_status culex__sqlite_reserved_limit(struct culex_backend *backend, const char *queue,
                                          uint64_t most, culex_error *error)
{
    RESERVED(culex__sqlite_limit_queue(backend, queue, most, error));
}

culex_status culex__sqlite_reserved_purge(struct culex_backend *backend, const char *queue,
                                          culex_run_state state, size_t limit, size_t *ret_deleted,
                                          culex_error *error)
{
    RESERVED(culex__sqlite_purge(backend, queue, state, limit, ret_deleted, error));
}
