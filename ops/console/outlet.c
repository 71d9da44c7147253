#include "console/outlet.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "console/clock.h"

enum {
    PIECE_MAX = 4096, /* a pipe that poll() says has room takes so much at once */
    WAIT_MS = 100,
    WAIT_EVERY_MS = 1000
};

struct outlet outlet_make(int fd)
{
    return (struct outlet){.fd = fd, .lock = PTHREAD_MUTEX_INITIALIZER};
}

static bool has_room(const struct outlet *outlet, int timeout_ms)
{
    struct pollfd fd = {.fd = outlet->fd, .events = POLLOUT};
    return poll(&fd, 1, timeout_ms) > 0 && fd.revents == POLLOUT;
}

/* The first line of a second that finds no room may wait for it. */
static bool room_await(struct outlet *outlet)
{
    int64_t now_ms = ms_now();
    if (has_room(outlet, 0))
        return true;
    if (now_ms < outlet->wait_from_ms)
        return false;
    outlet->wait_from_ms = now_ms + WAIT_EVERY_MS;
    return has_room(outlet, WAIT_MS);
}

/* Between the look for room and the write another process may take it, so a pipe or socket is told
 * not to wait; kernels that cannot do so are left with the look. */
static ssize_t piece_write(const struct outlet *outlet, const char *bytes, size_t len, bool is_file)
{
#ifdef RWF_NOWAIT
    struct iovec piece = {(void *)(uintptr_t)bytes, len};
    ssize_t put = is_file ? -1 : pwritev2(outlet->fd, &piece, 1, -1, RWF_NOWAIT);
    if (put >= 0 || (!is_file && errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL))
        return put;
#endif
    return write(outlet->fd, bytes, len);
}

static size_t bytes_write(struct outlet *outlet, const char *bytes, size_t len)
{
    struct stat file;
    bool is_file = fstat(outlet->fd, &file) == 0 && S_ISREG(file.st_mode);
    size_t at = 0;
    while (at < len && room_await(outlet)) {
        size_t left = len - at;
        ssize_t put = piece_write(outlet, bytes + at,
                                  is_file || left < PIECE_MAX ? left : PIECE_MAX, is_file);
        if (put > 0)
            at += (size_t)put;
        else if (put == 0 || errno != EINTR)
            break;
    }
    return at;
}

void outlet_write(struct outlet *outlet, const char *line, size_t len, uint64_t *ret_dropped)
{
    *ret_dropped = 0;
    pthread_mutex_lock(&outlet->lock);
    if (outlet->is_cut)
        outlet->is_cut = bytes_write(outlet, "\n", 1) == 0;
    size_t put = outlet->is_cut ? 0 : bytes_write(outlet, line, len);
    outlet->is_cut = outlet->is_cut || (put > 0 && put < len);
    if (put == len) {
        *ret_dropped = outlet->dropped;
        outlet->dropped = 0;
    } else {
        outlet->dropped++;
    }
    pthread_mutex_unlock(&outlet->lock);
}
