#include "platform/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>

static int attributes_set(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                             POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    return posix_spawnattr_setpgroup(attributes, 0);
}

static int spawn(const char *command, char *const *environment,
                 const posix_spawn_file_actions_t *files, pid_t *ret_pid)
{
    char *words[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c", (char *)(uintptr_t)command,
                     NULL};
    posix_spawnattr_t attributes;
    int failure = posix_spawnattr_init(&attributes);
    if (failure != 0)
        return failure;
    failure = attributes_set(&attributes);
    if (failure == 0)
        failure = posix_spawn(ret_pid, "/bin/sh", files, &attributes, words, environment);
    posix_spawnattr_destroy(&attributes);
    return failure;
}

int culex__command_start(const char *command, char *const *environment, pid_t *ret_pid)
{
    posix_spawn_file_actions_t files;
    int failure = posix_spawn_file_actions_init(&files);
    if (failure != 0)
        return failure;
    failure = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (failure == 0)
        failure = spawn(command, environment, &files, ret_pid);
    posix_spawn_file_actions_destroy(&files);
    return failure;
}

bool culex__command_has_ended(pid_t pid, int *ret_status)
{
    int status = 0;
    pid_t got = waitpid(pid, &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR))
        return false;
    *ret_status = got < 0               ? -1
                  : WIFEXITED(status)   ? WEXITSTATUS(status)
                  : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                        : -1;
    return true;
}

void culex__command_kill(pid_t pid)
{
    kill(-pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}
