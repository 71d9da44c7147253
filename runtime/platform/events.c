#include "platform/events.h"

#include <assert.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "platform/descriptor.h"

/* --- bell, alarm, signals, writes ----------------------------------------------------------------
 */

int culex__bell_open(void)
{
    return culex__descriptor_own(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

bool culex__bell_ring(int bell_fd)
{
    uint64_t one = 1;
    return write(bell_fd, &one, sizeof one) == sizeof one;
}

uint64_t culex__bell_take(int bell_fd)
{
    uint64_t count;
    return read(bell_fd, &count, sizeof count) == sizeof count ? count : 0;
}

int culex__alarm_open(void)
{
    return culex__descriptor_own(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
}

bool culex__alarm_set(int alarm_fd, int64_t at_ns)
{
    if (at_ns <= 0)
        at_ns = 1; /* zero would stop it */
    struct itimerspec when = {
        .it_value = {(time_t)(at_ns / 1000000000), (long)(at_ns % 1000000000)}};
    return timerfd_settime(alarm_fd, TFD_TIMER_ABSTIME, &when, NULL) == 0;
}

bool culex__alarm_take(int alarm_fd)
{
    uint64_t expired;
    return read(alarm_fd, &expired, sizeof expired) == sizeof expired;
}

int culex__signals_open(const sigset_t *awaited)
{
    return culex__descriptor_own(signalfd(-1, awaited, SFD_CLOEXEC | SFD_NONBLOCK));
}

void culex__signals_take(int signals_fd)
{
    struct signalfd_siginfo info[8];
    ssize_t got = read(signals_fd, info, sizeof info);
    (void)got;
}

static int inotify_open(const char *path, uint32_t mask)
{
    int fd = culex__descriptor_own(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (fd < 0 || inotify_add_watch(fd, path, mask) >= 0)
        return fd;
    culex__descriptor_close(fd);
    return -1;
}

int culex__writes_open(const char *path)
{
    return inotify_open(path, IN_MODIFY);
}

int culex__closes_open(const char *folder)
{
    return inotify_open(folder, IN_CLOSE_WRITE | IN_ONLYDIR);
}

void culex__closes_take(int closes_fd)
{
    char events[4096];
    while (read(closes_fd, events, sizeof events) > 0) {
    }
}

/* --- the set ----------------------------------------------------------------------------- */

static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT, "epoll takes the bits of poll");

static bool watch_control(int watch_fd, int action, int fd, short events, uint64_t about)
{
    struct epoll_event event = {.events = (uint32_t)events, .data.u64 = about};
    return epoll_ctl(watch_fd, action, fd, &event) == 0;
}

int culex__watch_open(void)
{
    return culex__descriptor_own(epoll_create1(EPOLL_CLOEXEC));
}

bool culex__watch_add(int watch_fd, int fd, short events, uint64_t about)
{
    return watch_control(watch_fd, EPOLL_CTL_ADD, fd, events, about);
}

bool culex__watch_change(int watch_fd, int fd, short events, uint64_t about)
{
    return watch_control(watch_fd, EPOLL_CTL_MOD, fd, events, about);
}

void culex__watch_remove(int watch_fd, int fd)
{
    watch_control(watch_fd, EPOLL_CTL_DEL, fd, 0, 0);
}

size_t culex__watch_take(int watch_fd, uint64_t *ret_about, size_t max)
{
    enum { EVENTS_MAX = 64 };
    struct epoll_event events[EVENTS_MAX];
    assert(max > 0);
    int count = epoll_wait(watch_fd, events, max < EVENTS_MAX ? (int)max : EVENTS_MAX, 0);
    for (int i = 0; i < count; i++)
        ret_about[i] = events[i].data.u64;
    return count > 0 ? (size_t)count : 0;
}
