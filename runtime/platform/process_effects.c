#include "platform/process_effects.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/descriptor.h"
#include "platform/events.h"
#include "platform/packet.h"
#include "platform/pages.h"

static bool is_refused(const struct culex_process_effects *effects, const char *call)
{
    int failure = effects->refuse != NULL ? effects->refuse(effects->self, call) : 0;
    if (failure != 0)
        errno = failure;
    return failure != 0;
}

pid_t culex__process_fork(const struct culex_process_effects *effects)
{
    return is_refused(effects, "fork") ? -1 : fork();
}

int culex__process_socketpair(const struct culex_process_effects *effects, int ret_fds[2])
{
    if (is_refused(effects, "socketpair"))
        return -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_fds) < 0)
        return -1;
    ret_fds[0] = culex__descriptor_own(ret_fds[0]);
    ret_fds[1] = culex__descriptor_own(ret_fds[1]);
    if (ret_fds[0] >= 0 && ret_fds[1] >= 0)
        return 0;
    culex__descriptor_close(ret_fds[0]);
    culex__descriptor_close(ret_fds[1]);
    return -1;
}

void *culex__process_share(const struct culex_process_effects *effects, size_t size)
{
    return is_refused(effects, "mmap") ? NULL : culex__pages_share(size);
}

int culex__process_watch_open(const struct culex_process_effects *effects)
{
    return is_refused(effects, "epoll_create1") ? -1 : culex__watch_open();
}

bool culex__process_watch_add(const struct culex_process_effects *effects, int watch_fd, int fd,
                              short events, uint64_t about)
{
    return !is_refused(effects, "epoll_ctl") && culex__watch_add(watch_fd, fd, events, about);
}

int culex__process_bell_open(const struct culex_process_effects *effects)
{
    return is_refused(effects, "eventfd") ? -1 : culex__bell_open();
}

int culex__process_alarm_open(const struct culex_process_effects *effects)
{
    return is_refused(effects, "timerfd_create") ? -1 : culex__alarm_open();
}

int culex__process_mkdir(const struct culex_process_effects *effects, const char *path)
{
    return is_refused(effects, "mkdir") ? -1 : mkdir(path, 0755);
}

int culex__process_open(const struct culex_process_effects *effects, const char *path, int flags)
{
    if (is_refused(effects, "open"))
        return -1;
    return culex__descriptor_own(open(path, flags | O_CLOEXEC));
}

ssize_t culex__process_read_file(const struct culex_process_effects *effects, const char *path,
                                 char *ret_text, size_t size)
{
    assert(size > 0);
    ret_text[0] = '\0';
    int fd = culex__process_open(effects, path, O_RDONLY);
    if (fd < 0)
        return -1;
    ssize_t got = read(fd, ret_text, size - 1);
    ret_text[got > 0 ? got : 0] = '\0';
    culex__descriptor_close(fd);
    return got;
}

int culex__process_write_file(const struct culex_process_effects *effects, const char *path,
                              const char *text)
{
    int fd = culex__process_open(effects, path, O_WRONLY);
    if (fd < 0)
        return -1;
    ssize_t put = write(fd, text, strlen(text));
    culex__descriptor_close(fd);
    return put < 0 ? -1 : 0;
}

ssize_t culex__process_send(const struct culex_process_effects *effects, int socket_fd,
                            const void *bytes, size_t len, int fd)
{
    return is_refused(effects, "sendmsg") ? -1 : culex__packet_send(socket_fd, bytes, len, fd);
}
