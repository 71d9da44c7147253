/* platform/posix.c - the real world behind struct culex_env, on Linux and POSIX. */
#include "platform/env.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "platform/clock.h"
#include "platform/descriptor.h"
#include "platform/resolve.h"
#include "platform/self.h"

static int64_t system_clock_ms(void *self)
{
    (void)self;
    return culex__clock_wall_ms();
}

static int64_t system_boottime_ns(void *self)
{
    (void)self;
    return culex__clock_boottime_ns();
}

/* getrandom without flags fails only before the kernel's pool is ready and a signal
 * comes; going on with predictable bits would break fencing, so that is fatal. */
static void system_random(void *self, void *ret_bytes, size_t len)
{
    (void)self;
    unsigned char *at = ret_bytes;
    while (len > 0) {
        ssize_t got = getrandom(at, len, 0);
        if (got < 0 && errno != EINTR)
            abort();
        if (got > 0) {
            at += got;
            len -= (size_t)got;
        }
    }
}

static ssize_t system_recv(void *self, int fd, void *ret_bytes, size_t len, int timeout_ms)
{
    (void)self;
    if (timeout_ms <= 0)
        return recv(fd, ret_bytes, len, MSG_DONTWAIT);
    struct timeval wait = {.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000};
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) < 0)
        return -1;
    return recv(fd, ret_bytes, len, 0);
}

static ssize_t system_send(void *self, int fd, const void *bytes, size_t len)
{
    (void)self;
    return send(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int system_poll(void *self, struct pollfd *fds, nfds_t count, int timeout_ms)
{
    (void)self;
    return poll(fds, count, timeout_ms);
}

static void system_close(void *self, int fd)
{
    (void)self;
    culex__descriptor_close(fd);
}

/* Waits until the non-blocking connect on `fd` has ended; 0 or an errno. */
static int connect_finish(int fd, const struct culex_deadline *deadline)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    for (;;) {
        int wait_ms = culex__deadline_wait_ms(deadline, culex__clock_boottime_ns());
        if (wait_ms == 0)
            return ETIMEDOUT;
        int ready = poll(&wait, 1, wait_ms);
        if (ready < 0 && errno != EINTR)
            return errno;
        if (ready > 0)
            break;
    }
    int failure = 0;
    socklen_t size = sizeof failure;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) < 0)
        return errno;
    return failure;
}

/* A connected socket, or -1 with the reason in errno. */
static int socket_open(const struct sockaddr *address, socklen_t size,
                       const struct culex_deadline *deadline)
{
    int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    int fd = culex__descriptor_own(socket(address->sa_family, type, 0));
    if (fd < 0)
        return -1;
    int failure = connect(fd, address, size) < 0 ? errno : 0;
    if (failure == EINPROGRESS || failure == EINTR)
        failure = connect_finish(fd, deadline);
    int flags = failure == 0 ? fcntl(fd, F_GETFL) : -1;
    if (flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0)
        return fd; /* recv and send say themselves whether they wait */
    failure = failure != 0 ? failure : errno;
    culex__descriptor_close(fd);
    errno = failure;
    return -1;
}

static culex_status connect_path(const char *path, const struct culex_deadline *deadline,
                                 int *ret_fd, culex_error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return culex__fail(error, CULEX_EURL, "socket path is longer than %zu bytes: %s",
                           sizeof address.sun_path - 1, path);
    strcpy(address.sun_path, path);
    int fd = socket_open((const struct sockaddr *)&address, sizeof address, deadline);
    if (fd < 0)
        return culex__fail(error, CULEX_ECONNECT, "cannot connect to %s: %s", path,
                           strerror(errno));
    *ret_fd = fd;
    return CULEX_OK;
}

/* Small requests must not wait for more to come, and a peer that vanished without a
 * word must be noticed while we block. */
static void socket_tune(int fd)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
#ifdef TCP_KEEPIDLE
    int idle_s = 15, interval_s = 5, count = 3;
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
#endif
}

static culex_status connect_host(const char *host, int port, const struct culex_deadline *deadline,
                                 int *ret_fd, culex_error *error)
{
    struct addrinfo *found = NULL;
    culex_status status = culex__resolve(host, port, deadline, &found, error);
    if (status != CULEX_OK)
        return status;
    int fd = -1;
    for (struct addrinfo *at = found; at != NULL && fd < 0; at = at->ai_next)
        fd = socket_open(at->ai_addr, at->ai_addrlen, deadline);
    int reason = errno;
    freeaddrinfo(found);
    if (fd < 0)
        return culex__fail(error, CULEX_ECONNECT, "cannot connect to %s port %d: %s", host, port,
                           strerror(reason));
    socket_tune(fd);
    *ret_fd = fd;
    return CULEX_OK;
}

static culex_status system_connect(void *self, const struct culex_address *address,
                                   const struct culex_deadline *deadline, int *ret_fd,
                                   culex_error *error)
{
    (void)self;
    if (address->path != NULL)
        return connect_path(address->path, deadline, ret_fd, error);
    return connect_host(address->host, address->port, deadline, ret_fd, error);
}

static void system_process_facts(void *self, struct culex_process_facts *ret_facts)
{
    struct culex_memory_use use = {0};
    (void)self;
    (void)culex__self_memory(&use);
    *ret_facts =
        (struct culex_process_facts){.pid = getpid(),
                                     .memory_bytes = use.resident,
                                     .descendants_bytes = culex__self_descendants_memory()};
    if (gethostname(ret_facts->host, sizeof ret_facts->host - 1) < 0)
        ret_facts->host[0] = '\0';
}

static void system_hang_up(void *self, int fd)
{
    (void)self;
    shutdown(fd, SHUT_WR);
}

static const struct culex_env system_env = {
    .clock_ms = system_clock_ms,
    .boottime_ns = system_boottime_ns,
    .random = system_random,
    .process_facts = system_process_facts,
    .connect = system_connect,
    .recv = system_recv,
    .send = system_send,
    .poll = system_poll,
    .hang_up = system_hang_up,
    .close = system_close,
};

const struct culex_env *culex__env_system(void)
{
    return &system_env;
}
