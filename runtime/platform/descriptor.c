#include "platform/descriptor.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

enum {
    KNOWN = 65536, /* higher numbers are not noted, and so inherited */
    HIGH = 1000,   /* within 1024, where a process without a higher limit can still have it */
    LOW = 3        /* the first that is not a standard one */
};

static _Atomic uint64_t owned[KNOWN / 64];

static void note(int fd)
{
    if (fd >= 0 && fd < KNOWN)
        atomic_fetch_or(&owned[fd / 64], UINT64_C(1) << fd % 64);
}

/* Whoever prints or logs where standard output or error was closed would write into it. */
static int standard_leave(int fd)
{
    if (fd < 0 || fd >= LOW)
        return fd;
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, LOW), failure = errno;
    close(fd);
    errno = failure;
    return higher;
}

int culex__descriptor_own(int fd)
{
    fd = standard_leave(fd);
    note(fd);
    return fd;
}

/* Before it is closed: then another thread may have the number. False when it was not ours. */
static bool disown(int fd)
{
    uint64_t bit = UINT64_C(1) << fd % 64;
    return fd >= KNOWN || (atomic_fetch_and(&owned[fd / 64], ~bit) & bit) != 0;
}

void culex__descriptor_close(int fd)
{
    int failure = errno;
    if (fd < 0)
        return;
    if (disown(fd))
        close(fd);
    errno = failure;
}

void culex__descriptor_forget(int fd)
{
    int failure = errno;
    if (fd >= 0 && fcntl(fd, F_GETFD) < 0)
        disown(fd);
    errno = failure;
}

/* A low RLIMIT_NOFILE, or one used up, refuses high numbers: then half as high will do. */
int culex__descriptor_raise(int fd)
{
    assert(fd >= 0);
    note(fd); /* or it would not be closed */
    for (int from = HIGH; from > fd && from >= LOW; from /= 2) {
        int high = fcntl(fd, F_DUPFD_CLOEXEC, from);
        if (high < 0)
            continue;
        culex__descriptor_close(fd);
        return culex__descriptor_own(high);
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

void culex__descriptors_drop(int kept)
{
    for (int word = 0; word < KNOWN / 64; word++) {
        uint64_t left = atomic_load(&owned[word]);
        for (int bit = 0; left != 0; bit++, left >>= 1) {
            int fd = word * 64 + bit;
            if ((left & 1) != 0 && fd != kept)
                culex__descriptor_close(fd);
        }
    }
}
