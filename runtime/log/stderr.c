#include "log/stderr.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/uptime.h"
#include "platform/file_limit.h"

#ifndef PIPE_BUF
#define PIPE_BUF 4096
#endif

enum { WAIT_MS = 100, WAIT_EVERY_MS = 1000 };

static atomic_uint_fast64_t dropped;
static atomic_int_fast64_t wait_from_ms; /* nobody waits before */
static atomic_bool is_cut;               /* the last line lacks its end */

static bool has_room(int timeout_ms)
{
    struct pollfd fd = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&fd, 1, timeout_ms) > 0 && fd.revents == POLLOUT;
}

/* The first line of a second that finds no room may wait for it. */
static bool room_await(void)
{
    if (has_room(0))
        return true;
    int64_t now = culex__uptime_ms();
    int_fast64_t from = atomic_load(&wait_from_ms);
    return now >= from &&
           atomic_compare_exchange_strong(&wait_from_ms, &from, now + WAIT_EVERY_MS) &&
           has_room(WAIT_MS);
}

/* Between the look for room and the write another process may take it: a pipe or socket is told not
 * to wait. Kernels that cannot do so for a pipe are left with the look, and so are terminals. */
static ssize_t piece_write(const char *bytes, size_t len)
{
#ifdef RWF_NOWAIT
    struct iovec piece = {(void *)(uintptr_t)bytes, len};
    ssize_t put = pwritev2(STDERR_FILENO, &piece, 1, -1, RWF_NOWAIT);
    if (put >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL))
        return put;
#endif
    return write(STDERR_FILENO, bytes, len);
}

static size_t pieces_write(const char *bytes, size_t len)
{
    struct stat file;
    bool is_file = fstat(STDERR_FILENO, &file) == 0 && S_ISREG(file.st_mode);
    size_t at = 0;
    while (at < len && room_await()) {
        size_t left = len - at;
        ssize_t put = is_file ? write(STDERR_FILENO, bytes + at, left)
                              : piece_write(bytes + at, left < PIPE_BUF ? left : PIPE_BUF);
        if (put > 0)
            at += (size_t)put;
        else if (put == 0 || errno != EINTR)
            break;
    }
    return at;
}

/* A log in a file that may not grow loses lines, not the program. */
static size_t bytes_write(const char *bytes, size_t len)
{
    struct culex_file_limit held = culex__file_limit_enter();
    size_t put = pieces_write(bytes, len);
    culex__file_limit_leave(held);
    return put;
}

void culex__stderr_write(const char *line, size_t len)
{
    if (atomic_load(&is_cut) && bytes_write("\n", 1) == 1)
        atomic_store(&is_cut, false);
    size_t put = atomic_load(&is_cut) ? 0 : bytes_write(line, len);
    if (put == len)
        return;
    atomic_fetch_add(&dropped, 1);
    if (put > 0)
        atomic_store(&is_cut, true);
}

uint64_t culex__stderr_take_dropped(void)
{
    return atomic_load(&dropped) > 0 && has_room(0) ? atomic_exchange(&dropped, 0) : 0;
}

bool culex__stderr_is_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    struct stat file;
    char its[64];
    if (stream == NULL || fstat(STDERR_FILENO, &file) != 0)
        return false;
    snprintf(its, sizeof its, "%llu:%llu", (unsigned long long)file.st_dev,
             (unsigned long long)file.st_ino);
    return strcmp(stream, its) == 0;
}
