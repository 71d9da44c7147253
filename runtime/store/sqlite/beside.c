#include "store/sqlite/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/descriptor.h"

char *culex__sqlite_beside_name(const char *path, const char *suffix)
{
    char *name = malloc(strlen(path) + strlen(suffix) + 1);
    if (name == NULL)
        errno = ENOMEM;
    else
        strcpy(stpcpy(name, path), suffix);
    return name;
}

bool culex__sqlite_beside_look(const char *path, const char *suffix, struct stat *ret_info)
{
    char name[PATH_MAX];
    int len = snprintf(name, sizeof name, "%s%s", path, suffix);
    if (len > 0 && (size_t)len < sizeof name)
        return stat(name, ret_info) == 0;
    errno = ENAMETOOLONG;
    return false;
}

int culex__sqlite_beside_open(const char *path, const char *suffix)
{
    enum { MODES = 0666 };
    struct stat info;
    char *name = culex__sqlite_beside_name(path, suffix);
    if (name == NULL)
        return -1;
    bool has_mode = stat(path, &info) == 0;
    int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    /* Whoever may use the database needs this file as well, whatever the umask says. */
    if (fd >= 0 && has_mode && (info.st_mode & MODES) != 0600)
        (void)!fchmod(fd, info.st_mode & MODES);
    if (fd < 0)
        fd = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && (errno == EROFS || errno == EACCES))
        fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int cause = errno;
    free(name);
    errno = cause;
    return culex__descriptor_own(fd);
}
