#include "executor/zygote_link.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "platform/descriptor.h"

enum { CLOSE_ROUNDS = 5000 };

/* What the program has not written yet must not be written twice. */
static pid_t zygote_fork(struct culex_zygote_link *link, struct culex_zygote_config *config)
{
    sigset_t all, before;
    sigfillset(&all);
    fflush(NULL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    config->supervisor_pid = getpid();
    pid_t pid = culex__process_fork(link->effects);
    if (pid == 0)
        culex__zygote_main(config);
    int failure = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = failure;
    return pid;
}

culex_status culex__zygote_link_open(struct culex_zygote_link *link,
                                     struct culex_zygote_config *config, culex_error *error)
{
    int fds[2];
    assert(link->fd < 0 && link->pid == 0);
    if (culex__process_socketpair(link->effects, fds) < 0)
        return culex__fail(error, CULEX_ENOMEM, "cannot make a socket for child processes: %s",
                           strerror(errno));
    config->socket_fd = fds[1];
    pid_t pid = zygote_fork(link, config);
    culex__descriptor_close(fds[1]);
    if (pid < 0) {
        culex__descriptor_close(fds[0]);
        return culex__fail(error, CULEX_ENOMEM, "cannot fork for child processes: %s",
                           strerror(errno));
    }
    link->fd = fds[0];
    link->pid = pid;
    return CULEX_OK;
}

bool culex__zygote_link_fork(struct culex_zygote_link *link, size_t slot, uint32_t generation,
                             int channel_fd)
{
    struct culex_zygote_request request = {CULEX_ZYGOTE_FORK, (uint32_t)slot, generation, 0};
    return culex__process_send(link->effects, link->fd, &request, sizeof request, channel_fd) >= 0;
}

bool culex__zygote_link_signal(struct culex_zygote_link *link, size_t slot, uint32_t generation,
                               int signal)
{
    struct culex_zygote_request request = {CULEX_ZYGOTE_SIGNAL, (uint32_t)slot, generation, signal};
    return culex__process_send(link->effects, link->fd, &request, sizeof request, -1) >= 0;
}

enum culex_zygote_word culex__zygote_link_read(struct culex_zygote_link *link,
                                               struct culex_zygote_report *ret_report)
{
    struct culex_zygote_report report;
    ssize_t got = recv(link->fd, &report, sizeof report, MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOMEM || errno == ENOBUFS))
        return CULEX_ZYGOTE_SILENT;
    if (got != sizeof report)
        return CULEX_ZYGOTE_GONE;
    *ret_report = report;
    return CULEX_ZYGOTE_TOLD;
}

static void death_describe(int status, char *ret_text, size_t size)
{
    if (WIFSIGNALED(status))
        snprintf(ret_text, size, "killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(ret_text, size, "ended with status %d", WEXITSTATUS(status));
}

/* The program may reap our zygote itself, or have the kernel do it: then it has no status. */
void culex__zygote_link_bury(struct culex_zygote_link *link, char *ret_text, size_t size)
{
    int status = 0;
    snprintf(ret_text, size, "ended");
    culex__descriptor_close(link->fd);
    link->fd = -1;
    if (link->pid == 0)
        return;
    pid_t got = waitpid(link->pid, &status, WNOHANG);
    if (got == 0) {
        kill(link->pid, SIGKILL);
        while ((got = waitpid(link->pid, &status, 0)) < 0 && errno == EINTR) {
        }
    }
    if (got == link->pid)
        death_describe(status, ret_text, size);
    link->pid = 0;
}

void culex__zygote_link_close(struct culex_zygote_link *link)
{
    char text[64];
    culex__descriptor_close(link->fd);
    link->fd = -1;
    for (int round = 0; link->pid != 0 && round < CLOSE_ROUNDS; round++) {
        if (waitpid(link->pid, NULL, WNOHANG) != 0)
            link->pid = 0;
        else
            poll(NULL, 0, 1);
    }
    culex__zygote_link_bury(link, text, sizeof text);
}
