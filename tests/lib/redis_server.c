#include "redis_server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void child_exec(const struct redis_server *server, pid_t parent)
{
    const char *argv[REDIS_SERVER_ARGS_MAX + 16];
    size_t count = 0;
    const char *const fixed[] = {
        "redis-server", "--port", "0",     "--unixsocket", server->socket, "--save", "",
        "--appendonly", "no",     "--dir", server->folder};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        argv[count++] = fixed[i];
    for (size_t i = 0; i < server->extra_count; i++)
        argv[count++] = server->extra[i];
    argv[count] = NULL;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    int nowhere = open("/dev/null", O_RDWR);
    if (nowhere >= 0) {
        dup2(nowhere, STDIN_FILENO);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    execvp(argv[0], (char *const *)(void *)argv);
    _exit(127);
}

static bool has_ended(struct redis_server *server)
{
    if (waitpid(server->pid, NULL, WNOHANG) != server->pid)
        return false;
    server->pid = 0;
    return true;
}

/* It answers PING, or refuses it for a reason of its own: either way it is up. */
static bool is_up(const struct redis_server *server)
{
    redisReply *reply = redis_server_command(server, "PING");
    bool is_up = reply != NULL &&
                 (reply->type != REDIS_REPLY_ERROR || strncmp(reply->str, "LOADING", 7) != 0);
    freeReplyObject(reply);
    return is_up;
}

static bool server_run(struct redis_server *server)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    pid_t parent = getpid();
    unlink(server->socket);
    server->pid = fork();
    if (server->pid == 0)
        child_exec(server, parent);
    if (server->pid < 0) {
        server->pid = 0;
        return false;
    }
    for (int i = 0; i < 2000; i++) {
        if (is_up(server))
            return true;
        if (has_ended(server))
            return false;
        nanosleep(&pause, NULL);
    }
    redis_server_kill(server);
    return false;
}

bool redis_server_start(struct redis_server *server, const char *const *extra)
{
    memset(server, 0, sizeof *server);
    for (; extra != NULL && extra[server->extra_count] != NULL; server->extra_count++) {
        if (server->extra_count == REDIS_SERVER_ARGS_MAX)
            return false;
        server->extra[server->extra_count] = extra[server->extra_count];
    }
    snprintf(server->folder, sizeof server->folder, "/tmp/culex-redis-XXXXXX");
    if (mkdtemp(server->folder) == NULL) {
        server->folder[0] = '\0';
        return false;
    }
    snprintf(server->socket, sizeof server->socket, "%s/redis.sock", server->folder);
    snprintf(server->url, sizeof server->url, "redis+unix://%s", server->socket);
    if (server_run(server))
        return true;
    redis_server_stop(server);
    return false;
}

void redis_server_kill(struct redis_server *server)
{
    if (server->pid == 0)
        return;
    kill(server->pid, SIGKILL);
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    server->pid = 0;
}

bool redis_server_restart(struct redis_server *server)
{
    redis_server_kill(server);
    return server_run(server);
}

/* The server makes files and at most one level of folders (its append-only files). */
static void folder_remove(const char *folder, int depth)
{
    DIR *open_folder = opendir(folder);
    if (open_folder == NULL)
        return;
    struct dirent *entry;
    while ((entry = readdir(open_folder)) != NULL) {
        char path[512];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (unlink(path) < 0 && depth > 0)
            folder_remove(path, depth - 1);
    }
    closedir(open_folder);
    rmdir(folder);
}

void redis_server_stop(struct redis_server *server)
{
    redis_server_kill(server);
    if (server->folder[0] != '\0')
        folder_remove(server->folder, 1);
    server->folder[0] = '\0';
}

redisReply *redis_server_command(const struct redis_server *server, const char *format, ...)
{
    const struct timeval limit = {.tv_sec = 5};
    redisContext *context = redisConnectUnixWithTimeout(server->socket, limit);
    redisReply *reply = NULL;
    if (context != NULL && context->err == 0 && redisSetTimeout(context, limit) == REDIS_OK) {
        va_list arguments;
        va_start(arguments, format);
        reply = redisvCommand(context, format, arguments);
        va_end(arguments);
    }
    if (context != NULL)
        redisFree(context);
    return reply;
}
