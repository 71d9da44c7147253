#include "crew.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ledger.h"
#include "proc.h"

enum { POLL_US = 2000, RESTART_US = 20000 };

void crew_fault(struct crew *crew, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("storm: FAULT: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    crew->faults++;
}

static void deed_write(const struct crew *crew, const char *verb, const char *kind, pid_t pid,
                       const char *name)
{
    ledger_write(crew->folder, LEDGER_DRIVER, "%s %s %ld %s %lld", verb, kind, (long)pid, name,
                 (long long)ledger_now_us());
}

static const char *kind_name(enum crew_kind kind)
{
    return kind == CREW_WORKER ? "worker" : "producer";
}

static void rest(void)
{
    const struct timespec length = {.tv_nsec = POLL_US * 1000};
    nanosleep(&length, NULL);
}

/* --- starting -----------------------------------------------------------------------------------
 */

static void output_to(const char *folder, const char *name, int descriptor)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (fd < 0 || dup2(fd, descriptor) < 0)
        _exit(126);
    if (fd != descriptor)
        close(fd);
}

static void program_exec(const struct crew *crew, pid_t driver, const char *const *words,
                         const char *log, const char *out)
{
    char path[PATH_MAX + 32];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != driver)
        _exit(126);
    if (log != NULL)
        output_to(crew->folder, log, STDERR_FILENO);
    if (out != NULL)
        output_to(crew->folder, out, STDOUT_FILENO);
    snprintf(path, sizeof path, "%s/%s", crew->programs, words[0]);
    execv(path, (char *const *)(void *)words);
    perror(path);
    _exit(126);
}

static pid_t program_start(struct crew *crew, const char *const *words, const char *log,
                           const char *out)
{
    pid_t driver = getpid();
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        program_exec(crew, driver, words, log, out);
    if (pid < 0) {
        perror("storm: fork");
        abort();
    }
    return pid;
}

void crew_worker_words(const struct crew *crew, const char *name, const char *extra,
                       const char *ret_words[CREW_ARGUMENTS_MAX])
{
    const char *const words[] = {"storm_worker",    crew->folder,
                                 "--url",           crew->url,
                                 "--queues",        "calm,calm2,wild",
                                 "--isolation",     crew->isolation,
                                 "--concurrency",   "2",
                                 "--log-level",     "warn",
                                 "--lease",         "400ms",
                                 "--batch",         "8",
                                 "--store-timeout", "1s"};
    size_t count = sizeof words / sizeof words[0];
    memcpy(ret_words, words, sizeof words);
    if (name != NULL) {
        ret_words[count++] = "--name";
        ret_words[count++] = name;
    }
    if (extra != NULL)
        ret_words[count++] = extra;
    ret_words[count] = NULL;
}

struct member *crew_add(struct crew *crew, enum crew_kind kind, const char *name)
{
    if (crew->member_count == CREW_MAX)
        abort();
    struct member *member = &crew->members[crew->member_count++];
    memset(member, 0, sizeof *member);
    member->kind = kind;
    snprintf(member->name, sizeof member->name, "%s", name);
    return member;
}

void member_start(struct crew *crew, struct member *member)
{
    char log[64], seed[32];
    const char *words[CREW_ARGUMENTS_MAX] = {"storm_producer", crew->url,       crew->folder, seed,
                                             member->rate,     crew->isolation, NULL};
    snprintf(log, sizeof log, "%s.log", member->name);
    snprintf(seed, sizeof seed, "%llu",
             (unsigned long long)(crew->seed * 1000003 + member->lives * 97 +
                                  (uint64_t)(member - crew->members)));
    if (member->kind == CREW_WORKER)
        crew_worker_words(crew, member->is_named ? member->name : NULL, NULL, words);
    member->pid = program_start(crew, words, log, log);
    member->lives++;
    member->born_us = ledger_now_us();
    member->is_bereft = false;
    deed_write(crew, "born", kind_name(member->kind), member->pid, member->name);
}

/* --- ending -------------------------------------------------------------------------------------
 */

static void pauses_forget(struct crew *crew, pid_t pid)
{
    for (size_t i = crew->pause_count; i-- > 0;) {
        if (crew->pauses[i].pid == pid)
            crew->pauses[i] = crew->pauses[--crew->pause_count];
    }
}

static void child_wait(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static void doomed_unguard(struct crew *crew, const struct member *member)
{
    for (size_t i = 0; i < member->doomed_count; i++) {
        if (crew->unguarded_count < CREW_UNGUARDED_MAX)
            crew->unguarded[crew->unguarded_count++] = member->doomed[i];
    }
}

bool crew_is_unguarded(const struct crew *crew, pid_t pid)
{
    pid_t group = getpgid(pid);
    for (size_t i = 0; i < crew->unguarded_count; i++) {
        if (crew->unguarded[i] == group)
            return true;
    }
    return false;
}

void member_kill(struct crew *crew, struct member *member, int64_t back_us)
{
    kill(member->pid, SIGKILL);
    child_wait(member->pid);
    if (member->is_bereft)
        doomed_unguard(crew, member);
    deed_write(crew, "killed", kind_name(member->kind), member->pid, member->name);
    pauses_forget(crew, member->pid);
    member->pid = 0;
    member->back_us = back_us;
}

bool crew_kill_child(struct crew *crew, pid_t pid, pid_t parent)
{
    if (!proc_signal(pid, parent, SIGKILL))
        return false;
    deed_write(crew, "killed", "child", pid, "child");
    pauses_forget(crew, pid);
    return true;
}

/* Its children are noted first: afterwards nobody can tell them from others. */
bool crew_kill_zygote(struct crew *crew, pid_t pid, struct member *worker)
{
    struct proc_list list;
    proc_descendants(pid, &list);
    if (!proc_signal(pid, worker->pid, SIGKILL))
        return false;
    worker->is_bereft = true;
    deed_write(crew, "killed", "zygote", pid, "zygote");
    worker->doomed_count = 0;
    for (size_t i = 0; i < list.count; i++) {
        deed_write(crew, "doomed", "child", list.entries[i].pid, "child");
        if (worker->doomed_count < CREW_DOOMED_MAX)
            worker->doomed[worker->doomed_count++] = list.entries[i].pid;
    }
    pauses_forget(crew, pid);
    return true;
}

bool crew_stop(struct crew *crew, const char *kind, pid_t pid, pid_t parent, int64_t until_us)
{
    for (size_t i = 0; i < crew->pause_count; i++) {
        if (crew->pauses[i].pid == pid)
            return false;
    }
    if (crew->pause_count == CREW_PAUSES_MAX || !proc_signal(pid, parent, SIGSTOP))
        return false;
    crew->pauses[crew->pause_count++] = (struct crew_pause){pid, parent, until_us};
    deed_write(crew, "stopped", kind, pid, kind);
    return true;
}

void crew_server_kill(struct crew *crew, int64_t back_us)
{
    pid_t pid = crew->server.pid;
    redis_server_kill(&crew->server);
    deed_write(crew, "killed", "server", pid, "server");
    pauses_forget(crew, pid);
    crew->server_back_us = back_us;
}

/* --- looking after ------------------------------------------------------------------------------
 */

static struct member *member_find(struct crew *crew, pid_t pid)
{
    for (size_t i = 0; i < crew->member_count; i++) {
        if (crew->members[i].pid == pid)
            return &crew->members[i];
    }
    return NULL;
}

/* A worker cannot replace its zygote: it gives everything back and ends, to be started anew. */
static bool is_expected(const struct member *member, int status)
{
    return member->is_bereft && WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

static void member_end_notice(struct crew *crew, struct member *member, int status)
{
    pauses_forget(crew, member->pid);
    if (is_expected(member, status)) {
        deed_write(crew, "ended", "worker", member->pid, member->name);
        member->back_us = ledger_now_us() + RESTART_US;
    } else {
        crew_fault(crew, "%s %ld ended by itself, %s %d; see its log", member->name,
                   (long)member->pid, WIFEXITED(status) ? "exit code" : "signal",
                   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
        member->is_lost = true;
    }
    member->pid = 0;
}

static void end_notice(struct crew *crew, pid_t pid, int status)
{
    struct member *member = member_find(crew, pid);
    if (member != NULL)
        member_end_notice(crew, member, status);
    else if (pid == crew->server.pid) {
        crew_fault(crew, "the server ended by itself");
        crew->server.pid = 0;
    }
    /* Else an orphan: a child of a killed process, whose parent the driver has become. */
}

void crew_collect(struct crew *crew)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        end_notice(crew, pid, status);
}

/* A stopped child of a worker that died meanwhile has another parent now; its death signal comes
 * through even while it is stopped. */
static void pauses_end(struct crew *crew, int64_t now_us)
{
    for (size_t i = crew->pause_count; i-- > 0;) {
        const struct crew_pause pause = crew->pauses[i];
        if (pause.until_us > now_us)
            continue;
        crew->pauses[i] = crew->pauses[--crew->pause_count];
        if (!proc_signal(pause.pid, pause.parent, SIGCONT))
            proc_signal(pause.pid, getpid(), SIGCONT);
    }
}

static void server_tend(struct crew *crew, int64_t now_us)
{
    if (!crew->is_redis || crew->server.pid != 0 || now_us < crew->server_back_us)
        return;
    if (!redis_server_restart(&crew->server)) {
        crew_fault(crew, "the server does not come up again");
        return;
    }
    deed_write(crew, "born", "server", crew->server.pid, "server");
}

void crew_tend(struct crew *crew, int64_t now_us)
{
    crew_collect(crew);
    pauses_end(crew, now_us);
    server_tend(crew, now_us);
    for (size_t i = 0; i < crew->member_count; i++) {
        struct member *member = &crew->members[i];
        if (member->pid == 0 && !member->is_lost && now_us >= member->back_us)
            member_start(crew, member);
    }
}

static bool is_steady(const struct crew *crew, int64_t since_us)
{
    for (size_t i = 0; i < crew->member_count; i++) {
        const struct member *member = &crew->members[i];
        if (!member->is_lost &&
            (member->pid == 0 || member->is_bereft || member->born_us > since_us))
            return false;
    }
    return true;
}

void crew_heal(struct crew *crew, int64_t age_us, int64_t limit_us)
{
    int64_t until_us = ledger_now_us() + limit_us;
    for (crew_tend(crew, INT64_MAX); !is_steady(crew, ledger_now_us() - age_us); rest()) {
        if (ledger_now_us() > until_us) {
            crew_fault(crew, "the crew does not come to rest");
            return;
        }
        crew_tend(crew, ledger_now_us());
    }
}

/* --- to the end ---------------------------------------------------------------------------------
 */

/* False when it takes longer. */
static bool end_wait(pid_t pid, int64_t limit_us, int *ret_status)
{
    int64_t until_us = ledger_now_us() + limit_us;
    while (ledger_now_us() < until_us) {
        if (waitpid(pid, ret_status, WNOHANG) == pid)
            return true;
        rest();
    }
    return false;
}

/* A producer may be too young yet to have a handler for SIGTERM. */
static bool is_ended_well(const struct member *member, int status)
{
    if (member->kind == CREW_PRODUCER && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM)
        return true;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void member_dismiss(struct crew *crew, struct member *member, int64_t limit_us)
{
    int status = 0;
    pid_t pid = member->pid;
    member->pid = 0;
    if (pid == 0)
        return;
    if (!end_wait(pid, limit_us, &status)) {
        crew_fault(crew, "%s %ld does not heed SIGTERM", member->name, (long)pid);
        kill(pid, SIGKILL);
        child_wait(pid);
    } else if (!is_ended_well(member, status))
        crew_fault(crew, "%s %ld ended with status %d after SIGTERM", member->name, (long)pid,
                   status);
}

void crew_dismiss(struct crew *crew, enum crew_kind kind, int64_t limit_us)
{
    for (size_t i = 0; i < crew->member_count; i++) {
        if (crew->members[i].kind == kind && crew->members[i].pid != 0)
            kill(crew->members[i].pid, SIGTERM);
    }
    for (size_t i = 0; i < crew->member_count; i++) {
        if (crew->members[i].kind == kind)
            member_dismiss(crew, &crew->members[i], limit_us);
    }
}

int crew_run(struct crew *crew, const char *const *arguments, const char *out, const char *log,
             int64_t limit_us)
{
    int status = 0;
    pid_t pid = program_start(crew, arguments, log, out);
    if (strcmp(arguments[0], "storm_worker") == 0)
        deed_write(crew, "born", "worker", pid, "drainer");
    if (!end_wait(pid, limit_us, &status)) {
        kill(pid, SIGKILL);
        child_wait(pid);
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void crew_folder_remove(struct crew *crew)
{
    const char *const words[] = {"rm", "-r", "--", crew->folder, NULL};
    pid_t pid = fork();
    if (pid == 0) {
        execvp(words[0], (char *const *)(void *)words);
        _exit(127);
    }
    if (pid > 0)
        child_wait(pid);
}
