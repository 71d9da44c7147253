#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *text_read_fd(int fd, size_t limit, struct buf *buf)
{
    char chunk[65536];
    buf_text(buf, "");
    for (;;) {
        ssize_t got = read(fd, chunk, sizeof(chunk));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 ? NULL : strerror(errno);
        if ((size_t)got > limit - buf->len)
            return "too large";
        buf_append(buf, chunk, (size_t)got);
    }
}

const char *text_read(const char *path, size_t limit, struct buf *buf)
{
    struct stat info;
    if (strcmp(path, "-") == 0)
        return text_read_fd(STDIN_FILENO, limit, buf);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return strerror(errno);
    const char *fault = fstat(fd, &info) != 0   ? strerror(errno)
                        : S_ISDIR(info.st_mode) ? "a folder"
                                                : text_read_fd(fd, limit, buf);
    close(fd);
    return fault;
}
