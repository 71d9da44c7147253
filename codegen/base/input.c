#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arena.h"
#include "limits.h"

static const char *read_all(int fd, struct input *input)
{
    while (input->size <= LIMIT_FILE_BYTES) {
        ssize_t got = read(fd, input->bytes + input->size, LIMIT_FILE_BYTES + 1 - input->size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return strerror(errno);
        if (got == 0)
            return NULL;
        input->size += (size_t)got;
    }
    return "larger than 1 MiB";
}

const char *input_read_open(int fd, struct input *ret_input)
{
    *ret_input = (struct input){.bytes = memory_resize(NULL, LIMIT_FILE_BYTES + 1)};
    const char *fault = read_all(fd, ret_input);
    if (fault != NULL) {
        free(ret_input->bytes);
        ret_input->bytes = NULL;
    }
    return fault;
}

static const char *regular_read(int fd, struct input *ret_input)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return strerror(errno);
    if (!S_ISREG(info.st_mode))
        return "not a regular file";
    const char *fault = input_read_open(fd, ret_input);
    ret_input->device = (uint64_t)info.st_dev;
    ret_input->inode = (uint64_t)info.st_ino;
    return fault;
}

const char *input_read(const char *path, struct input *ret_input)
{
    *ret_input = (struct input){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return strerror(errno);
    const char *fault = regular_read(fd, ret_input);
    close(fd);
    return fault;
}
