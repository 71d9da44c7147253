#include "shim.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    bool is_recording;
    struct shim_op *ops;
    size_t count, room;
    void (*after)(void *user);
    void *user;
    enum shim_call call;
    long left, failed;
    int code;
    bool is_failing, is_sticky, has_write_lock;
} shim;

struct shim_file {
    sqlite3_file base;
    enum shim_part part;
    sqlite3_file *real; /* follows in the same block */
};

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct shim_file *)file)->real;
}

static enum shim_part part_of(const char *name)
{
    size_t len = name != NULL ? strlen(name) : 0;
    if (len > 4 && strcmp(name + len - 4, "-wal") == 0)
        return SHIM_WAL;
    if (len > 8 && strcmp(name + len - 8, "-journal") == 0)
        return SHIM_JOURNAL;
    return SHIM_DB;
}

/* --- log and failures ---------------------------------------------------------------------- */

static void append(struct shim_op op, const void *bytes)
{
    if (!shim.is_recording)
        return;
    if (shim.count == shim.room) {
        shim.room = shim.room == 0 ? 256 : 2 * shim.room;
        shim.ops = realloc(shim.ops, shim.room * sizeof *shim.ops);
        if (shim.ops == NULL)
            abort();
    }
    if (op.kind == SHIM_WRITE) {
        op.bytes = malloc(op.len + 1);
        if (op.bytes == NULL)
            abort();
        memcpy(op.bytes, bytes, op.len);
    }
    shim.ops[shim.count++] = op;
    if (shim.after != NULL)
        shim.after(shim.user);
}

void shim_record(bool is_on)
{
    if (is_on) {
        for (size_t i = 0; i < shim.count; i++)
            free(shim.ops[i].bytes);
        shim.count = 0;
    }
    shim.is_recording = is_on;
}

size_t shim_op_count(void)
{
    return shim.count;
}

const struct shim_op *shim_op(size_t index)
{
    return &shim.ops[index];
}

void shim_notify(void (*after)(void *user), void *user)
{
    shim.after = after;
    shim.user = user;
}

void shim_fail(enum shim_call call, long n, int code, bool is_sticky)
{
    shim.call = call;
    shim.left = n;
    shim.code = code;
    shim.is_sticky = is_sticky;
    shim.is_failing = true;
    shim.failed = 0;
}

long shim_heal(void)
{
    shim.is_failing = false;
    return shim.failed;
}

/* SQLITE_OK, or what the call is to return. */
static int fate(enum shim_call call)
{
    if (!shim.is_failing || shim.call != call)
        return SQLITE_OK;
    if (shim.left > 0) {
        shim.left--;
        return SQLITE_OK;
    }
    shim.failed++;
    if (!shim.is_sticky)
        shim.is_failing = false;
    return shim.code;
}

/* --- files --------------------------------------------------------------------------------- */

static int file_close(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int file_read(sqlite3_file *file, void *bytes, int len, sqlite3_int64 offset)
{
    int rc = fate(SHIM_CALL_READ);
    return rc != SQLITE_OK ? rc : real_of(file)->pMethods->xRead(real_of(file), bytes, len, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 offset)
{
    int rc = fate(SHIM_CALL_WRITE);
    if (rc == SQLITE_OK)
        rc = real_of(file)->pMethods->xWrite(real_of(file), bytes, len, offset);
    if (rc == SQLITE_OK)
        append((struct shim_op){.kind = SHIM_WRITE,
                                .part = ((struct shim_file *)file)->part,
                                .offset = offset,
                                .len = (size_t)len},
               bytes);
    return rc;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int rc = fate(SHIM_CALL_TRUNCATE);
    if (rc == SQLITE_OK)
        rc = real_of(file)->pMethods->xTruncate(real_of(file), size);
    if (rc == SQLITE_OK)
        append((struct shim_op){.kind = SHIM_TRUNCATE,
                                .part = ((struct shim_file *)file)->part,
                                .offset = size},
               NULL);
    return rc;
}

/* The system's own sync would only cost time. */
static int file_sync(sqlite3_file *file, int flags)
{
    (void)flags;
    int rc = fate(SHIM_CALL_SYNC);
    if (rc == SQLITE_OK)
        append((struct shim_op){.kind = SHIM_SYNC, .part = ((struct shim_file *)file)->part}, NULL);
    return rc;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
    int rc = fate(SHIM_CALL_SIZE);
    return rc != SQLITE_OK ? rc : real_of(file)->pMethods->xFileSize(real_of(file), ret_size);
}

static int file_lock(sqlite3_file *file, int level)
{
    int rc = fate(SHIM_CALL_LOCK);
    return rc != SQLITE_OK ? rc : real_of(file)->pMethods->xLock(real_of(file), level);
}

static int file_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int file_reserved(sqlite3_file *file, int *ret_is_reserved)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), ret_is_reserved);
}

static int file_control(sqlite3_file *file, int op, void *arg)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), op, arg);
}

static int file_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int file_characteristics(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int file_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **ret_at)
{
    int rc = fate(SHIM_CALL_SHM_MAP);
    if (rc != SQLITE_OK) {
        *ret_at = NULL;
        return rc;
    }
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, ret_at);
}

static int file_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    int rc = (flags & SQLITE_SHM_LOCK) != 0 ? fate(SHIM_CALL_SHM_LOCK) : SQLITE_OK;
    if (rc == SQLITE_OK)
        rc = real_of(file)->pMethods->xShmLock(real_of(file), offset, n, flags);
    if (rc == SQLITE_OK && offset == 0) /* WAL_WRITE_LOCK of SQLite's file format */
        shim.has_write_lock = (flags & SQLITE_SHM_LOCK) != 0;
    return rc;
}

bool shim_has_write_lock(void)
{
    return shim.has_write_lock;
}

static void file_shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int file_shm_unmap(sqlite3_file *file, int is_deleting)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), is_deleting);
}

/* Version 2: no memory-mapped reads and writes past us. */
static const sqlite3_io_methods file_methods = {.iVersion = 2,
                                                .xClose = file_close,
                                                .xRead = file_read,
                                                .xWrite = file_write,
                                                .xTruncate = file_truncate,
                                                .xSync = file_sync,
                                                .xFileSize = file_size,
                                                .xLock = file_lock,
                                                .xUnlock = file_unlock,
                                                .xCheckReservedLock = file_reserved,
                                                .xFileControl = file_control,
                                                .xSectorSize = file_sector,
                                                .xDeviceCharacteristics = file_characteristics,
                                                .xShmMap = file_shm_map,
                                                .xShmLock = file_shm_lock,
                                                .xShmBarrier = file_shm_barrier,
                                                .xShmUnmap = file_shm_unmap};

/* --- the VFS ------------------------------------------------------------------------------- */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                    int *ret_flags)
{
    (void)vfs;
    struct shim_file *mine = (struct shim_file *)file;
    mine->base.pMethods = NULL;
    mine->part = part_of(name);
    mine->real = (sqlite3_file *)(mine + 1);
    int rc = fate(SHIM_CALL_OPEN);
    if (rc == SQLITE_OK)
        rc = shim.real->xOpen(shim.real, name, mine->real, flags, ret_flags);
    if (rc == SQLITE_OK)
        mine->base.pMethods = &file_methods;
    return rc;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int is_synced)
{
    (void)vfs;
    int rc = fate(SHIM_CALL_DELETE);
    if (rc == SQLITE_OK)
        rc = shim.real->xDelete(shim.real, name, is_synced);
    if (rc == SQLITE_OK)
        append((struct shim_op){.kind = SHIM_DELETE, .part = part_of(name)}, NULL);
    return rc;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret_result)
{
    (void)vfs;
    int rc = fate(SHIM_CALL_ACCESS);
    return rc != SQLITE_OK ? rc : shim.real->xAccess(shim.real, name, flags, ret_result);
}

/* While calls are made to fail nobody else is at work whom a pause could help. */
static int vfs_sleep(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    return shim.is_failing ? microseconds : shim.real->xSleep(shim.real, microseconds);
}

void shim_install(void)
{
    if (shim.real != NULL)
        return;
    shim.real = sqlite3_vfs_find(NULL);
    shim.vfs = *shim.real;
    shim.vfs.pNext = NULL;
    shim.vfs.zName = "shim";
    shim.vfs.szOsFile = (int)sizeof(struct shim_file) + shim.real->szOsFile;
    shim.vfs.xOpen = vfs_open;
    shim.vfs.xDelete = vfs_delete;
    shim.vfs.xAccess = vfs_access;
    shim.vfs.xSleep = vfs_sleep;
    if (sqlite3_vfs_register(&shim.vfs, 1) != SQLITE_OK)
        abort();
}
