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
    struct stat file;
    return (struct outlet){.fd = fd,
                           .is_file = fstat(fd, &file) == 0 && S_ISREG(file.st_mode),
                           .lock = PTHREAD_MUTEX_INITIALIZER};
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
    if (outlet->is_file || now_ms < outlet->wait_from_ms)
        return false;
    outlet->wait_from_ms = now_ms + WAIT_EVERY_MS;
    return has_room(outlet, WAIT_MS);
}

/* What there is room for at once; 0: none, or nobody can tell. A pipe or socket is told not to
 * wait; kernels that cannot do so, and terminals, are left with a look before, behind which another
 * process may take the room. */
static size_t piece_write(const struct outlet *outlet, const char *bytes, size_t len)
{
    ssize_t put = -1;
#ifdef RWF_NOWAIT
    struct iovec piece = {(void *)(uintptr_t)bytes, len};
    put = outlet->is_file ? -1 : pwritev2(outlet->fd, &piece, 1, -1, RWF_NOWAIT);
    if (put < 0 && !outlet->is_file && errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL)
        return 0;
#endif
    if (put < 0 && (outlet->is_file || has_room(outlet, 0)))
        put = write(outlet->fd, bytes, len);
    return put > 0 ? (size_t)put : 0;
}

static size_t bytes_write(struct outlet *outlet, const char *bytes, size_t len)
{
    size_t at = 0, put = 1;
    while (at < len && put > 0) {
        size_t left = len - at, most = outlet->is_file || left < PIECE_MAX ? left : PIECE_MAX;
        put = piece_write(outlet, bytes + at, most);
        if (put == 0 && room_await(outlet))
            put = piece_write(outlet, bytes + at, most);
        at += put;
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
