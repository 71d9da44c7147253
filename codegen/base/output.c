#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena.h"

static bool fd_is_same(int fd, const char *content, size_t len)
{
    char chunk[8192];
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || (size_t)info.st_size != len)
        return false;
    for (size_t at = 0; at < len;) {
        ssize_t got = read(fd, chunk, sizeof(chunk));
        if (got <= 0 || (size_t)got > len - at || memcmp(chunk, content + at, (size_t)got) != 0)
            return false;
        at += (size_t)got;
    }
    return true;
}

bool output_is_same(const char *path, const char *content, size_t len)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool same = fd_is_same(fd, content, len);
    close(fd);
    return same;
}

static bool fd_write(int fd, const char *content, size_t len)
{
    while (len > 0) {
        ssize_t put = write(fd, content, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        content += put;
        len -= (size_t)put;
    }
    return true;
}

static mode_t mask_read(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return mask;
}

static bool fd_own(int fd, const struct stat *like)
{
    if (like == NULL)
        return fchmod(fd, 0666 & ~mask_read()) == 0;
    bool is_kept = fchown(fd, like->st_uid, like->st_gid) == 0 || geteuid() != 0;
    return is_kept && fchmod(fd, like->st_mode & 07777) == 0;
}

/* Mode and owner are those of `like`; NULL: as of any new file. */
static bool put(const char *path, const char *content, size_t len, const struct stat *like)
{
    struct arena arena = {0};
    bool is_done = true;
    char *temporary = arena_printf(&arena, "%s.XXXXXX", path);
    int fd = mkstemp(temporary);
    if (fd >= 0) {
        is_done = fd_write(fd, content, len) && fd_own(fd, like);
        is_done = close(fd) == 0 && is_done;
        is_done = is_done && rename(temporary, path) == 0;
    }
    if (fd < 0 || !is_done) {
        int fault = errno;
        if (fd >= 0)
            unlink(temporary);
        errno = fault;
        is_done = false;
    }
    arena_release(&arena);
    return is_done;
}

bool output_write(const char *path, const char *content, size_t len)
{
    return output_is_same(path, content, len) || put(path, content, len, NULL);
}

static bool is_to_stay(const char *path)
{
    struct stat info, target;
    return lstat(path, &info) == 0 && stat(path, &target) == 0 &&
           (S_ISLNK(info.st_mode) || S_ISCHR(info.st_mode) || S_ISFIFO(info.st_mode));
}

/* A pipe that nobody reads is an error and not waited for. */
static bool write_in_place(const char *path, const char *content, size_t len)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool is_done = fcntl(fd, F_SETFL, 0) == 0 && fd_write(fd, content, len);
    int fault = errno;
    is_done = close(fd) == 0 && is_done;
    errno = fault;
    return is_done;
}

bool output_send(const char *path, const char *content, size_t len)
{
    return is_to_stay(path) ? write_in_place(path, content, len) : output_write(path, content, len);
}

bool output_replace(const char *path, const char *content, size_t len)
{
    struct stat info;
    char *real = realpath(path, NULL);
    bool is_done = real != NULL && stat(real, &info) == 0 && access(real, W_OK) == 0 &&
                   (output_is_same(real, content, len) || put(real, content, len, &info));
    int fault = errno;
    free(real);
    errno = fault;
    return is_done;
}
