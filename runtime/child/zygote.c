#include "child/zygote.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child/child.h"
#include "platform/descriptor.h"
#include "platform/events.h"
#include "platform/packet.h"
#include "platform/self.h"
#include "platform/stack.h"

enum { BURIALS = 64, STRAYS = 256, LAST_ROUNDS = 2000 };

/* A child as its parent knows it; its slot is its place in `children`. */
struct zygote_child {
    pid_t pid; /* 0: none */
    uint32_t generation;
    bool is_overtime;
    bool has_report; /* still to be sent */
    struct culex_zygote_report report;
};

struct zygote {
    const struct culex_zygote_config *config;
    pid_t pid;
    int socket_fd; /* config->socket_fd, at a high number */
    int signal_fd;
    bool has_dead;   /* there may be more of them than one turn buries */
    bool has_strays; /* something may have been re-parented to us */
    struct zygote_child *children;
};

static int64_t now_ns(const struct zygote *zygote)
{
    return culex__env_boottime_ns(zygote->config->handler->env);
}

/* --- reports --------------------------------------------------------------------------- */

/* Never waits: the supervisor may be stopped, and leases end all the same. */
static bool reports_send(struct zygote *zygote)
{
    bool is_done = true;
    for (size_t i = 0; i < zygote->config->mailboxes.count; i++) {
        struct zygote_child *child = &zygote->children[i];
        if (!child->has_report)
            continue;
        ssize_t put = send(zygote->socket_fd, &child->report, sizeof child->report,
                           MSG_NOSIGNAL | MSG_DONTWAIT);
        child->has_report = put < 0;
        is_done = is_done && put >= 0;
    }
    return is_done;
}

static void child_report(const struct zygote *zygote, struct zygote_child *child, uint32_t type,
                         int code, int status)
{
    child->report = (struct culex_zygote_report){.type = type,
                                                 .slot = (uint32_t)(child - zygote->children),
                                                 .generation = child->generation,
                                                 .code = code,
                                                 .status = status,
                                                 .is_overtime = child->is_overtime,
                                                 .at_ns = now_ns(zygote)};
    child->has_report = true;
}

/* --- requests -------------------------------------------------------------------------- */

static _Noreturn void child_begin(const struct zygote *zygote, size_t slot, int channel_fd)
{
    const struct culex_zygote_config *config = zygote->config;
    struct culex_child_start start = {.handler = config->handler,
                                      .mailboxes = &config->mailboxes,
                                      .cgroup = config->cgroup,
                                      .slot = slot,
                                      .channel_fd = channel_fd,
                                      .zygote_pid = zygote->pid};
    culex__child_main(&start);
}

static void child_fork(struct zygote *zygote, const struct culex_zygote_request *request, int fd)
{
    struct zygote_child *child = &zygote->children[request->slot];
    if (child->pid != 0)
        return;
    assert(!child->has_report); /* the slot was not free before the supervisor had it */
    *child = (struct zygote_child){.generation = request->generation};
    if (fd < 0) { /* the kernel had no number left for it */
        child_report(zygote, child, CULEX_ZYGOTE_NOT_FORKED, EMFILE, 0);
        return;
    }
    pid_t pid = culex__process_fork(zygote->config->effects);
    if (pid == 0)
        child_begin(zygote, request->slot, fd);
    if (pid < 0) {
        child_report(zygote, child, CULEX_ZYGOTE_NOT_FORKED, errno, 0);
        return;
    }
    setpgid(pid, pid); /* the child does so too; the first one wins, and a kill finds the group */
    child->pid = pid;
    atomic_store(&culex__mailbox_of(&zygote->config->mailboxes, request->slot)->group, pid);
}

static void child_signal(struct zygote *zygote, const struct culex_zygote_request *request)
{
    const struct zygote_child *child = &zygote->children[request->slot];
    if (child->pid == 0 || child->generation != request->generation)
        return;
    if (kill(-child->pid, request->signal) < 0)
        kill(child->pid, request->signal);
}

/* False when the supervisor is gone. */
static bool request_take(struct zygote *zygote)
{
    struct culex_zygote_request request;
    int fd;
    ssize_t got = culex__packet_receive(zygote->socket_fd, &request, sizeof request, &fd);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR || errno == ENOMEM || errno == ENOBUFS;
    if (got != sizeof request)
        return false;
    if (request.slot < zygote->config->mailboxes.count) {
        if (request.type == CULEX_ZYGOTE_FORK)
            child_fork(zygote, &request, fd);
        else if (request.type == CULEX_ZYGOTE_SIGNAL)
            child_signal(zygote, &request);
    }
    culex__descriptor_close(fd);
    return true;
}

/* --- the dead and the lost ------------------------------------------------------------- */

static struct zygote_child *child_of(struct zygote *zygote, pid_t pid)
{
    assert(pid > 0); /* or an empty slot would be found */
    for (size_t i = 0; i < zygote->config->mailboxes.count; i++) {
        if (zygote->children[i].pid == pid)
            return &zygote->children[i];
    }
    return NULL;
}

static void child_bury(struct zygote *zygote, struct zygote_child *child, const siginfo_t *info)
{
    assert(child->pid == info->si_pid && !child->has_report);
    child_report(zygote, child, CULEX_ZYGOTE_ENDED, info->si_code, info->si_status);
    child->pid = 0;
    zygote->has_strays = true;
}

/* Looks before it reaps: while the dead process keeps its pid, its group can be killed without
 * the danger of hitting another one. */
static bool death_take(struct zygote *zygote)
{
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
        return false;
    struct zygote_child *child = child_of(zygote, info.si_pid);
    if (child != NULL) {
        kill(-info.si_pid, SIGKILL);
        culex__cgroup_slot_kill(zygote->config->cgroup, (size_t)(child - zygote->children));
        atomic_store(
            &culex__mailbox_of(&zygote->config->mailboxes, (size_t)(child - zygote->children))
                 ->group,
            0);
        child_bury(zygote, child, &info);
    }
    zygote->has_strays = true; /* the dead one's own children are ours now */
    waitid(P_PID, (id_t)info.si_pid, &info, WEXITED | WNOHANG);
    return true;
}

static bool group_is_alive(struct zygote *zygote, pid_t pid)
{
    pid_t group = getpgid(pid);
    return group > 0 && child_of(zygote, group) != NULL;
}

struct strays {
    struct zygote *zygote;
    bool is_last; /* everything is to go */
    size_t count;
};

/* A process of ours that has no slot was left by one that has. While the child that it came from
 * lives it may stay, if its group still tells. */
static bool stray_kill(void *user, pid_t pid)
{
    struct strays *strays = user;
    struct zygote *zygote = strays->zygote;
    if (child_of(zygote, pid) != NULL || (!strays->is_last && group_is_alive(zygote, pid)))
        return true;
    kill(pid, SIGKILL);
    return ++strays->count < STRAYS;
}

/* Returns how many there were. */
static size_t strays_kill(struct zygote *zygote, bool is_last)
{
    struct strays strays = {zygote, is_last, 0};
    culex__self_visit_children(stray_kill, &strays);
    return strays.count;
}

static void deaths_take(struct zygote *zygote)
{
    int buried = 0;
    while (buried < BURIALS && death_take(zygote))
        buried++;
    zygote->has_dead = buried == BURIALS;
    if (zygote->has_strays)
        zygote->has_strays = strays_kill(zygote, false) == STRAYS;
}

/* --- leases ---------------------------------------------------------------------------- */

/* When the run that the child is at must be over. A `started` that makes no sense means a
 * broken mailbox: then the earliest lease counts. */
static int64_t lease_of(struct culex_mailbox *mailbox)
{
    uint64_t started = atomic_load(&mailbox->started);
    int64_t lease_ns = atomic_load(&mailbox->lease_ns[culex__mailbox_index(started)]);
    if (lease_ns != 0)
        return lease_ns;
    if (atomic_load(&mailbox->lease_count) == 0)
        return INT64_MAX;
    int64_t first_ns = INT64_MAX;
    for (size_t i = 0; i < CULEX_WINDOW; i++) {
        lease_ns = atomic_load(&mailbox->lease_ns[i]);
        if (lease_ns != 0 && lease_ns < first_ns)
            first_ns = lease_ns;
    }
    return first_ns;
}

/* Kills what is over its lease. Returns when to look again: leases come and move without a
 * word, so at least ten times a lease, which is the margin that the supervisor leaves. */
static int64_t leases_guard(struct zygote *zygote)
{
    int64_t now = now_ns(zygote);
    int64_t next_ns = now + zygote->config->handler->lease_ms * 100000;
    bool is_any = false;
    for (size_t i = 0; i < zygote->config->mailboxes.count; i++) {
        struct zygote_child *child = &zygote->children[i];
        if (child->pid == 0)
            continue;
        is_any = true;
        int64_t lease_ns = lease_of(culex__mailbox_of(&zygote->config->mailboxes, i));
        if (lease_ns <= now) {
            child->is_overtime = true;
            kill(-child->pid, SIGKILL);
            kill(child->pid, SIGKILL);
        } else if (lease_ns < next_ns)
            next_ns = lease_ns;
    }
    return is_any ? next_ns : INT64_MAX;
}

/* --- the loop -------------------------------------------------------------------------- */

static int wait_ms(struct zygote *zygote, int64_t next_ns)
{
    if (next_ns == INT64_MAX)
        return -1;
    int64_t left_ns = next_ns - now_ns(zygote);
    int64_t left_ms = left_ns > 0 ? (left_ns + 999999) / 1000000 : 0;
    return left_ms > 60000 ? 60000 : (int)left_ms;
}

static bool zygote_turn(struct zygote *zygote)
{
    bool is_told = reports_send(zygote);
    struct pollfd fds[2] = {
        {.fd = zygote->socket_fd, .events = (short)(POLLIN | (is_told ? 0 : POLLOUT))},
        {.fd = zygote->signal_fd, .events = POLLIN},
    };
    int64_t next_ns = leases_guard(zygote);
    if (zygote->has_dead || zygote->has_strays)
        next_ns = 0;
    if (poll(fds, 2, wait_ms(zygote, next_ns)) < 0)
        return errno == EINTR;
    if (fds[1].revents != 0) {
        culex__signals_take(zygote->signal_fd);
        deaths_take(zygote);
    }
    if (zygote->has_dead || zygote->has_strays)
        deaths_take(zygote);
    if (getppid() != zygote->config->supervisor_pid)
        return false;
    return (fds[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0 || request_take(zygote);
}

/* Everything that came from us dies with us. Bounded, should something not die. */
static void zygote_kill_all(struct zygote *zygote)
{
    for (size_t i = 0; i < zygote->config->mailboxes.count; i++) {
        if (zygote->children[i].pid != 0)
            kill(-zygote->children[i].pid, SIGKILL);
        if (zygote->children[i].pid != 0)
            kill(zygote->children[i].pid, SIGKILL);
    }
    for (int round = 0; round < LAST_ROUNDS; round++) {
        strays_kill(zygote, true);
        while (death_take(zygote)) {
        }
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD)
            return;
        poll(NULL, 0, 1);
    }
}

static void signals_reset(void)
{
    for (int number = 1; number < NSIG; number++) {
        if (number != SIGKILL && number != SIGSTOP)
            signal(number, SIG_DFL);
    }
}

/* A program that was started with standard input closed gets that number for what it opens next. A
 * regular file that can be written is such; all else is what standard input ordinarily is. */
static bool input_is_programs(void)
{
    struct stat status;
    int flags = fcntl(STDIN_FILENO, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(STDIN_FILENO, &status) == 0 &&
           S_ISREG(status.st_mode);
}

/* What the program opened stays, for its handlers; nothing is read from its terminal. Our own go
 * where none of the program's numbers, and none that a handler is given, comes near. */
static void descriptors_prepare(struct zygote *zygote)
{
    culex__descriptors_drop(zygote->config->socket_fd);
    zygote->socket_fd = culex__descriptor_raise(zygote->config->socket_fd);
    if (input_is_programs())
        return;
    int null_fd = open("/dev/null", O_RDONLY);
    if (null_fd > 0) {
        dup2(null_fd, STDIN_FILENO);
        close(null_fd);
    }
}

/* SIGTERM and the like may reach every process of a service at once: they are for the supervisor
 * to act on, and stay blocked here. SIGUSR1 only wakes us to see that it is gone. */
static bool zygote_prepare(struct zygote *zygote)
{
    const struct culex_zygote_config *config = zygote->config;
    struct rlimit no_core = {0, 0};
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGUSR1);
    signals_reset();
    setpgid(0, 0);
    setrlimit(RLIMIT_CORE, &no_core);
    culex__self_rename("culex-zygote");
    if (!culex__self_follow_parent(SIGUSR1) || !culex__self_adopt_orphans())
        return false;
    descriptors_prepare(zygote);
    zygote->signal_fd = culex__signals_open(&awaited);
    if (zygote->signal_fd >= 0)
        zygote->signal_fd = culex__descriptor_raise(zygote->signal_fd);
    zygote->children = calloc(config->mailboxes.count, sizeof *zygote->children);
    return zygote->signal_fd >= 0 && zygote->children != NULL;
}

_Noreturn void culex__zygote_main(const struct culex_zygote_config *config)
{
    assert(config->socket_fd >= 0 && config->mailboxes.count > 0);
    struct zygote zygote = {.config = config, .pid = getpid(), .signal_fd = -1};
    if (config->handler->forget != NULL)
        config->handler->forget(config->handler->forget_user);
    if (!zygote_prepare(&zygote))
        _exit(1);
    culex__stack_prepare();
    while (zygote_turn(&zygote)) {
    }
    zygote_kill_all(&zygote);
    culex__cgroup_remove(config->cgroup); /* the supervisor may have been killed */
    _exit(0);
}
