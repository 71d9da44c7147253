#include "store/sqlite/glance.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "platform/descriptor.h"

#ifdef STATX_SIZE
static bool look(int fd, const char *path, int flags, struct culex_sqlite_glance *ret_glance)
{
    struct statx info;
    if (statx(fd, path, flags, STATX_INO | STATX_SIZE, &info) != 0)
        return false;
    ret_glance->device = (uint64_t)info.stx_dev_major << 32 | info.stx_dev_minor;
    ret_glance->number = info.stx_ino;
    ret_glance->bytes = (int64_t)info.stx_size;
    return true;
}
#else
enum { AT_EMPTY_PATH = 1 };

static bool look(int fd, const char *path, int flags, struct culex_sqlite_glance *ret_glance)
{
    struct stat info;
    if ((flags == AT_EMPTY_PATH ? fstat(fd, &info) : stat(path, &info)) != 0)
        return false;
    ret_glance->device = info.st_dev;
    ret_glance->number = info.st_ino;
    ret_glance->bytes = info.st_size;
    return true;
}
#endif

bool culex__sqlite_glance_at(const char *path, struct culex_sqlite_glance *ret_glance)
{
    return look(AT_FDCWD, path, 0, ret_glance);
}

bool culex__sqlite_glance_in(int fd, struct culex_sqlite_glance *ret_glance)
{
    return look(fd, "", AT_EMPTY_PATH, ret_glance);
}

bool culex__sqlite_glance_is_same(const struct culex_sqlite_glance *one,
                                  const struct culex_sqlite_glance *other)
{
    return one->device == other->device && one->number == other->number;
}

/* Only a file's owner may leave its times alone. */
int culex__sqlite_glance_open(const char *path)
{
    int fd = -1;
#ifdef O_NOATIME
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOATIME);
#endif
    if (fd < 0)
        fd = open(path, O_RDONLY | O_CLOEXEC);
    return culex__descriptor_own(fd);
}
