#include "plugin.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/uptime.h"
#include "json_in.h"
#include "limits.h"
#include "relay.h"
#include "say.h"

struct plugin plugin_renderer(struct arena *arena, const struct installation *installation)
{
    return (struct plugin){.what = "the renderer",
                           .seconds = LIMIT_PLUGIN_SECONDS,
                           .argv = {installation->python, "-I",
                                    arena_printf(arena, "%s/render.py", installation->renderer)}};
}

bool plugin_find(struct arena *arena, const struct installation *installation, const char *name,
                 struct plugin *ret_plugin)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const char *own = arena_printf(arena, "%s/%s.py", installation->plugins, name);
    bool is_path = strchr(name, '/') != NULL;
    if (!is_path && strspn(name, allowed) != strlen(name)) {
        say("no name of a plug-in: '%s'; write ./%s for a file", name, name);
        return false;
    }
    *ret_plugin = (struct plugin){.what = arena_printf(arena, "the plug-in '%s'", name),
                                  .seconds = LIMIT_PLUGIN_SECONDS,
                                  .path = is_path ? name : NULL,
                                  .argv = {name}};
    if (!is_path && access(own, R_OK) == 0) {
        ret_plugin->path = own;
        ret_plugin->argv[0] = installation->python;
        ret_plugin->argv[1] = "-I";
        ret_plugin->argv[2] = own;
    } else if (!is_path) {
        ret_plugin->argv[0] = arena_printf(arena, "culexc-gen-%s", name);
    }
    return true;
}

/* --- the process ------------------------------------------------------------------------- */

struct exchange {
    const struct plugin *plugin;
    pid_t pid;
    int64_t deadline_ms;
    bool is_late;
    bool is_over; /* before the end of what it says */
};

static bool complain(const char *what, const char *detail)
{
    say("%s: %s", what, detail);
    return false;
}

/* The question in a file without a name: the plug-in can read it at its own pace. */
static FILE *question_file(const struct buf *question)
{
    FILE *file = tmpfile();
    if (file == NULL)
        return NULL;
    fcntl(fileno(file), F_SETFD, FD_CLOEXEC);
    if (fwrite(question->data, 1, question->len, file) == question->len && fflush(file) == 0 &&
        lseek(fileno(file), 0, SEEK_SET) == 0)
        return file;
    fclose(file);
    return NULL;
}

/* In a group of its own, so that what it starts can be ended with it. */
static bool plugin_spawn(struct exchange *exchange, int input, int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    const struct plugin *plugin = exchange->plugin;
    char *argv[4];
    memcpy(argv, plugin->argv, sizeof(argv));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    int fault = posix_spawnp(&exchange->pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (fault != 0)
        say("cannot run '%s': %s", argv[0], strerror(fault));
    return fault == 0;
}

/* Nothing more is to come: it has failed, or it has ended behind a whole answer, and whoever still
 * holds the pipe is a child that it left. Such a child may be a filter that is yet to write. */
static bool answer_is_over(const struct exchange *exchange, const struct buf *answer)
{
    siginfo_t info = {0};
    struct json_in in = json_in_text(answer->data, answer->len);
    if (waitid(P_PID, (id_t)exchange->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0)
        return false;
    bool is_good = info.si_code == CLD_EXITED && info.si_status == 0;
    return !is_good || (json_in_skip(&in) && json_in_at_end(&in));
}

enum { LOOK_MS = 50 };

/* False when there will be nothing to read, or not in time. */
static bool answer_await(struct exchange *exchange, int fd, const struct buf *answer)
{
    struct pollfd slot = {.fd = fd, .events = POLLIN};
    for (;;) {
        int64_t left = exchange->deadline_ms - culex__uptime_ms();
        if (left > 0 && poll(&slot, 1, left < LOOK_MS ? (int)left : LOOK_MS) != 0)
            return true; /* also when a signal came: read() then tells */
        if (answer_is_over(exchange, answer)) {
            exchange->is_over = true;
            return false;
        }
        if (left <= 0) {
            exchange->is_late = true;
            return false;
        }
    }
}

static bool answer_read(struct exchange *exchange, int fd, struct buf *answer)
{
    static char chunk[65536];
    while (answer_await(exchange, fd, answer)) {
        ssize_t got = read(fd, chunk, sizeof(chunk));
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            return got == 0;
        buf_append(answer, chunk, (size_t)got);
        if (answer->len > LIMIT_ANSWER_BYTES)
            return false;
    }
    return exchange->is_over;
}

/* Waits until the deadline for one that has said all, and not at all for one that may not go on:
 * that one is ended with all that it started and that is still in its group. */
static int plugin_end(struct exchange *exchange, bool is_wanted)
{
    int status = 0;
    while (is_wanted) {
        pid_t ended = waitpid(exchange->pid, &status, WNOHANG);
        if (ended == exchange->pid || (ended < 0 && errno != EINTR))
            return status;
        exchange->is_late = culex__uptime_ms() >= exchange->deadline_ms;
        is_wanted = !exchange->is_late;
        poll(NULL, 0, 1);
    }
    assert(exchange->pid > 1); /* kill(-1) would reach every process, kill(0) our own group. */
    kill(-exchange->pid, SIGKILL);
    while (waitpid(exchange->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

static bool exchange_judge(const struct exchange *exchange, bool is_read, int status)
{
    const char *what = exchange->plugin->what;
    if (exchange->is_late)
        say("%s took more than %u seconds", what, exchange->plugin->seconds);
    else if (!is_read)
        say("%s answered more than %u bytes, or nothing that can be read", what,
            LIMIT_ANSWER_BYTES);
    else if (WIFSIGNALED(status))
        say("%s was ended by signal %d", what, WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        say("%s failed with exit status %d", what, WEXITSTATUS(status));
    else
        return true;
    return false;
}

static bool exchange_run(struct exchange *exchange, FILE *question, struct buf *ret_answer)
{
    int ends[2], status = 0;
    struct relay relay;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return complain("cannot make a pipe", strerror(errno));
    bool is_running = plugin_spawn(exchange, fileno(question), ends[1]);
    close(ends[1]);
    bool is_read = false;
    if (is_running) {
        relay_begin(&relay, exchange->pid);
        is_read = answer_read(exchange, ends[0], ret_answer);
        status = plugin_end(exchange, is_read);
        relay_end(&relay);
    }
    close(ends[0]);
    return is_running && exchange_judge(exchange, is_read, status);
}

bool plugin_ask(const struct plugin *plugin, const struct buf *question, struct buf *ret_answer)
{
    struct exchange exchange = {
        .plugin = plugin, .deadline_ms = culex__uptime_ms() + (int64_t)plugin->seconds * 1000};
    assert(plugin->seconds > 0); /* or it would be late before it begins */
    FILE *file = question_file(question);
    if (file == NULL)
        return complain("cannot make a temporary file", strerror(errno));
    bool is_done = exchange_run(&exchange, file, ret_answer);
    fclose(file);
    return is_done;
}
