#include "zoo.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child/child_message.h"
#include "child/mailbox.h"

typedef culex_outcome (*zoo_handler)(culex_run *run, const struct zoo_params *params);

struct zoo_board *zoo_board;
FILE *zoo_file;

/* Faults on purpose are no findings. */
#if defined(__clang__) || defined(__GNUC__)
#define FAULTY __attribute__((no_sanitize("undefined")))
#else
#define FAULTY
#endif

enum { DESCRIPTORS = 1100 /* numbers that ours are below */ };

/* The compiler must not know what is wrong with these. */
static int *volatile no_where = NULL;
static volatile int zero = 0;

static void nap_ms(int64_t ms)
{
    struct timespec wait = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&wait, &wait) < 0 && errno == EINTR) {
    }
}

static _Noreturn void rest(void)
{
    for (;;)
        pause();
}

/* --- behaved --------------------------------------------------------------------------- */

static culex_outcome nothing(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    (void)params;
    return CULEX_DONE;
}

static culex_outcome sleeps(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    nap_ms(params->n);
    return CULEX_DONE;
}

/* Runs until the test lets it go, or it is cancelled. */
static culex_outcome gate(culex_run *run, const struct zoo_params *params)
{
    (void)params;
    while (!atomic_load(&zoo_board->may_end)) {
        if (culex_run_cancelled(run))
            return culex_run_fail(run, "cancelled");
        nap_ms(1);
    }
    return CULEX_DONE;
}

static culex_outcome fails(culex_run *run, const struct zoo_params *params)
{
    return culex_run_fail(run, "no: %s", params->text);
}

static culex_outcome fails_long(culex_run *run, const struct zoo_params *params)
{
    char text[CULEX_ERROR_TEXT_MAX + 100];
    (void)params;
    memset(text, 'x', sizeof text);
    text[10] = '\x01';
    text[20] = '\xff';
    text[sizeof text - 1] = '\0';
    return culex_run_fail(run, "%s", text);
}

static culex_outcome discards(culex_run *run, const struct zoo_params *params)
{
    return culex_run_discard(run, "never: %s", params->text);
}

static culex_outcome snoozes(culex_run *run, const struct zoo_params *params)
{
    return culex_run_snooze(run, params->n * CULEX_MILLISECOND);
}

static culex_outcome echoes(culex_run *run, const struct zoo_params *params)
{
    culex_error error;
    if (culex_run_set_result(run, run->job.type->result, params, &error) != CULEX_OK)
        return culex_run_fail(run, "%s", error.text);
    return CULEX_DONE;
}

static culex_outcome knows_itself(culex_run *run, const struct zoo_params *params)
{
    char id[CULEX_UUID_TEXT_SIZE];
    (void)params;
    culex_uuid_format(culex_run_id(run), id);
    return culex_run_fail(run, "%s %u %u %s %s %s %lld %s", id, culex_run_attempt(run),
                          culex_run_failures(run), culex_run_job(run), culex_run_queue(run),
                          culex_run_fence(run), (long long)culex_run_enqueued_at(run),
                          getenv("ZOO_SECRET") != NULL ? "secret" : "no secret");
}

static culex_outcome reports(culex_run *run, const struct zoo_params *params)
{
    culex_run_progress(run, 40, "%s", params->text);
    culex_run_extend(run, params->n * CULEX_MILLISECOND);
    while (!atomic_load(&zoo_board->may_end))
        nap_ms(1);
    return CULEX_DONE;
}

static culex_outcome logs(culex_run *run, const struct zoo_params *params)
{
    for (int64_t i = 0; i < params->n; i++)
        culex_log(run, "line %lld\nof \x1b[31m %s", (long long)i, params->text);
    return CULEX_DONE;
}

static culex_outcome stamps(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    (void)params;
    atomic_store(&zoo_board->first_ns, culex__env_boottime_ns(culex__env_system()));
    return CULEX_DONE;
}

/* Names of our descriptors, the folder's own left out; n: those of the zygote. */
static culex_outcome lists_descriptors(culex_run *run, const struct zoo_params *params)
{
    char text[512] = "";
    char path[64] = "/proc/self/fd";
    if (params->n != 0)
        snprintf(path, sizeof path, "/proc/%d/fd", (int)getppid());
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] != '.' && (params->n != 0 || atoi(entry->d_name) != dirfd(folder)) &&
            strlen(text) < sizeof text - 40)
            sprintf(text + strlen(text), "%.20s ", entry->d_name);
    }
    if (folder != NULL)
        closedir(folder);
    return culex_run_fail(run, "%s", text);
}

/* Into what the program opened before it had handlers. */
static culex_outcome writes_down(culex_run *run, const struct zoo_params *params)
{
    if (zoo_file == NULL || fprintf(zoo_file, "%s", params->text) < 0 || fflush(zoo_file) != 0)
        return culex_run_fail(run, "%s", strerror(errno));
    return CULEX_DONE;
}

/* --- faults ---------------------------------------------------------------------------- */

FAULTY static culex_outcome null_write(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    (void)params;
    *no_where = 1;
    return CULEX_DONE;
}

static culex_outcome wild_write(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    (void)params;
    volatile uintptr_t wild = 0x5a5a5a5a5000;
    *(volatile int *)wild = 1;
    return CULEX_DONE;
}

FAULTY static culex_outcome wild_jump(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    (void)params;
    void (*volatile where)(void) = NULL;
    where();
    return CULEX_DONE;
}

static culex_outcome double_free(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    (void)params;
    void *volatile block = malloc(4000);
    void *again = block;
    free(block);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuse-after-free"
#endif
    free(again);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
    abort(); /* an allocator that does not mind */
}

static int overflow_deeper(volatile char *above, int64_t depth)
{
    volatile char here[4096];
    here[0] = above != NULL ? above[0] : 0;
    if (depth == INT64_MAX)
        return 0;
    return overflow_deeper(here, depth + 1) + here[0];
}

static culex_outcome stack_overflow(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    return overflow_deeper(NULL, params->n) == 77 ? CULEX_FAILED : CULEX_DONE;
}

static culex_outcome aborts(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    (void)params;
    abort();
}

FAULTY static culex_outcome divides(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    return params->n / zero == 3 ? CULEX_FAILED : CULEX_DONE;
}

static culex_outcome exits(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    exit((int)params->n);
}

static culex_outcome exits_quickly(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    _exit((int)params->n);
}

static culex_outcome raises(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    raise((int)params->n);
    return CULEX_DONE;
}

/* Writes to a file that may not grow. */
static culex_outcome outgrows(culex_run *run, const struct zoo_params *params)
{
    struct rlimit limit;
    FILE *file = tmpfile();
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = (rlim_t)params->n;
    setrlimit(RLIMIT_FSIZE, &limit);
    if (file == NULL || pwrite(fileno(file), "x", 1, (off_t)params->n) < 0)
        return culex_run_fail(run, "%s", strerror(errno));
    fclose(file);
    return CULEX_DONE;
}

static culex_outcome memory_bomb(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    for (int64_t i = 0; i < params->n; i++) {
        volatile char *block = malloc(1 << 20);
        for (size_t at = 0; at < 1 << 20; at += 4096)
            block[at] = 1; /* NULL in the end */
    }
    return CULEX_DONE;
}

static culex_outcome memory_fails(culex_run *run, const struct zoo_params *params)
{
    for (int64_t i = 0; i < params->n; i++) {
        volatile char *block = malloc(1 << 20);
        if (block == NULL)
            return culex_run_fail(run, "no memory");
        block[0] = 1;
    }
    return CULEX_DONE;
}

/* Leaves `n` MiB behind. */
static culex_outcome leaks(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    size_t size = (size_t)params->n << 20;
    volatile char *block = malloc(size);
    for (size_t at = 0; block != NULL && at < size; at += 4096)
        block[at] = 1;
    return CULEX_DONE;
}

/* --- those that do not end -------------------------------------------------------------- */

static culex_outcome spins(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    (void)params;
    while (zero == 0) {
    }
    return CULEX_DONE;
}

static culex_outcome sleeps_for_ever(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    (void)params;
    rest();
    return CULEX_DONE;
}

static culex_outcome spins_deaf(culex_run *run, const struct zoo_params *params)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    return spins(run, params);
}

/* For 10 s at most. */
static ssize_t term_await(void *cookie, const char *text, size_t len)
{
    sigset_t pending, none;
    (void)cookie;
    (void)text;
    sigemptyset(&none);
    for (int i = 0; i < 10000; i++) {
        sigpending(&pending);
        if (sigismember(&pending, SIGTERM) == 1)
            break;
        nap_ms(1);
    }
    sigprocmask(SIG_SETMASK, &none, NULL);
    return (ssize_t)len;
}

/* Returns in time; what it has written is flushed when SIGTERM has come. */
static culex_outcome ends_as_asked(culex_run *run, const struct zoo_params *params)
{
    sigset_t term;
    (void)run;
    (void)params;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL);
    FILE *slow = fopencookie(NULL, "w", (cookie_io_functions_t){.write = term_await});
    if (slow != NULL)
        fputs("written", slow);
    return slow != NULL ? CULEX_DONE : CULEX_DISCARDED;
}

/* --- those with children ---------------------------------------------------------------- */

/* Every process forks twice, `n` deep, and sleeps: 2^(n+1) of them. */
static culex_outcome fork_bomb(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    for (int64_t depth = 0; depth < params->n; depth++) {
        fork();
        if (fork() == 0)
            continue;
        break;
    }
    rest();
    return CULEX_DONE;
}

/* A grandchild that leaves our group and session. n: 1 crashes then, 2 stays. */
FAULTY static culex_outcome leaves_daemon(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        if (fork() != 0)
            _exit(0);
        atomic_store(&zoo_board->other, (int)getpid());
        for (;;)
            pause();
    }
    while (atomic_load(&zoo_board->other) == 0)
        nap_ms(1);
    siginfo_t info; /* its parent is over, though nobody has buried it: who lives is a daemon */
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    if (params->n == 1)
        *no_where = 1;
    if (params->n == 2)
        rest();
    return CULEX_DONE;
}

/* A daemon that was never a child of its run's process, but is a sibling of it. n: 1 crashes then,
 * 2 stays, more is a process group to hide in before it crashes. */
FAULTY static culex_outcome leaves_sibling(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0) == 0) {
        if (params->n > 2)
            setpgid(0, (pid_t)params->n);
        else
            setsid();
        atomic_store(&zoo_board->other, (int)getpid());
        rest();
    }
    do
        nap_ms(1); /* what is over in no time is looked after a little later */
    while (atomic_load(&zoo_board->other) == 0);
    if (params->n == 2)
        rest();
    if (params->n != 0)
        *no_where = 1;
    return CULEX_DONE;
}

/* A file of `n` MiB that stays in memory. */
static culex_outcome stores(culex_run *run, const struct zoo_params *params)
{
    static const char block[1 << 20];
    FILE *file = fopen(params->text, "w");
    if (file == NULL)
        return culex_run_fail(run, "%s: %s", params->text, strerror(errno));
    for (int64_t i = 0; i < params->n; i++)
        fwrite(block, 1, sizeof block, file);
    return fclose(file) == 0 ? CULEX_DONE : CULEX_FAILED;
}

/* `n` processes that hold 50 MiB each, all at a time. */
static culex_outcome crowds(culex_run *run, const struct zoo_params *params)
{
    enum { HELD = 50 << 20 };
    atomic_store(&zoo_board->other, 0);
    for (int64_t i = 0; i < params->n; i++) {
        pid_t pid = fork();
        if (pid < 0)
            return culex_run_fail(run, "cannot fork");
        if (pid != 0)
            continue;
        volatile char *block = malloc(HELD);
        for (size_t at = 0; block != NULL && at < HELD; at += 4096)
            block[at] = 1;
        atomic_fetch_add(&zoo_board->other, block != NULL ? 1 : 1000);
        rest();
    }
    while (atomic_load(&zoo_board->other) < params->n)
        nap_ms(1);
    if (atomic_load(&zoo_board->other) > params->n)
        return culex_run_fail(run, "a process had no memory");
    return CULEX_DONE;
}

static culex_outcome kills_zygote(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    kill(getppid(), (int)params->n);
    rest();
    return CULEX_DONE;
}

/* --- those that meddle ------------------------------------------------------------------ */

/* Our end of the channel to the supervisor, found as one that tries all numbers would meet it. */
static int channel_find(void)
{
    for (int fd = 3; fd < DESCRIPTORS; fd++) {
        int type = 0;
        socklen_t size = sizeof type;
        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET)
            return fd;
    }
    _exit(98);
}

/* n: it has something to say at its end. */
static culex_outcome closes_all(culex_run *run, const struct zoo_params *params)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        close(fd);
    return params->n > 0 ? culex_run_fail(run, "as one who daemonises") : CULEX_DONE;
}

static culex_outcome writes_everywhere(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    (void)params;
    int null_fd = fileno(fopen("/dev/null", "w"));
    dup2(null_fd, 1); /* not to litter the test's output */
    dup2(null_fd, 2);
    signal(SIGPIPE, SIG_IGN); /* nobody may read from an inherited pipe any more */
    for (int fd = 0; fd <= channel_find(); fd++) {
        ssize_t put = write(fd, "garbage garbage garbage", 23);
        (void)put;
    }
    return CULEX_DONE;
}

static jmp_buf nowhere;

static culex_outcome jumps_out(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    (void)params;
    memset(&nowhere, 0x11, sizeof nowhere);
    longjmp(nowhere, 1);
}

static culex_outcome ends_thread(culex_run *run, const struct zoo_params *params)
{
    (void)run;
    (void)params;
    pthread_exit(NULL);
}

static void environment_meddle(void)
{
    setenv("ZOO_TRACE", "1", 1);
    unsetenv("HOME");
}

static void limit_meddle(rlim_t soft, bool is_hard)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = soft;
    if (is_hard)
        limit.rlim_max = soft;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void timer_meddle(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    struct itimerspec hour = {.it_value = {3600, 0}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        timer_settime(timer, 0, &hour, NULL);
}

/* n: what of its process it changes, and leaves so. The first seven can always be put back; of
 * those that are not looked at after each short run it makes a longer one. */
static culex_outcome meddles(culex_run *run, const struct zoo_params *params)
{
    bool is_done = true;
    switch (params->n) {
    case 0:
        is_done = chdir("/proc") == 0;
        break;
    case 1:
        umask(0777);
        break;
    case ZOO_MEDDLES_SHORTLY:
    case 2:
        signal(SIGUSR1, SIG_IGN);
        break;
    case 3:
        environment_meddle();
        break;
    case 4:
        limit_meddle(64, false);
        break;
    case 5:
        alarm(1);
        break;
    case 6:
        memset(getenv("PATH"), 'x', 1);
        break;
    case 7:
        is_done = nice(5) != -1;
        break;
    case 8:
        limit_meddle(128, true);
        break;
    case 9:
        is_done = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
        break;
    default:
        timer_meddle();
        break;
    }
    if (params->n != 0 && params->n != 1 && params->n != 3 && params->n != 5 &&
        params->n != ZOO_MEDDLES_SHORTLY)
        nap_ms(1);
    return is_done ? CULEX_DONE : culex_run_fail(run, "%s", strerror(errno));
}

/* What meddles changes, in words. */
static culex_outcome tells_traces(culex_run *run, const struct zoo_params *params)
{
    char cwd[256] = "";
    struct rlimit limit;
    struct sigaction action;
    (void)params;
    mode_t mask = umask(022);
    umask(mask);
    getrlimit(RLIMIT_NOFILE, &limit);
    sigaction(SIGUSR1, NULL, &action);
    const char *trace = getenv("ZOO_TRACE"), *home = getenv("HOME");
    return culex_run_fail(run, "%s %o %s %s %s %.40s %llu %llu %u %d %d", getcwd(cwd, sizeof cwd),
                          (unsigned)mask, action.sa_handler == SIG_DFL ? "default" : "ignored",
                          trace != NULL ? trace : "-", home != NULL ? home : "-", getenv("PATH"),
                          (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max,
                          alarm(0), getpriority(PRIO_PROCESS, 0),
                          prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
}

/* --- liars ------------------------------------------------------------------------------ */

/* The page that we share with the supervisor, found as a broken pointer might find it. */
static struct culex_mailbox *mailbox_find(void)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    struct culex_mailbox *found = NULL;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long begin, end;
        /* Both are shared and anonymous; the zoo's own board is the other one. */
        if (strstr(line, "rw-s") != NULL && sscanf(line, "%lx-%lx", &begin, &end) == 2 &&
            begin != (unsigned long)(uintptr_t)zoo_board)
            found = (struct culex_mailbox *)begin;
    }
    if (maps != NULL)
        fclose(maps);
    if (found == NULL)
        _exit(99);
    return found;
}

static void record_lie(uint32_t type, uint32_t len, uint64_t seq, const void *bytes, size_t size)
{
    char packet[40000];
    struct culex_record record = {type, len, seq};
    memcpy(packet, &record, sizeof record);
    if (size > 0)
        memcpy(packet + sizeof record, bytes, size);
    send(channel_find(), packet, sizeof record + size, MSG_NOSIGNAL);
}

static void result_lie(uint64_t seq, uint32_t total, uint32_t offset, size_t size)
{
    char bytes[30000] = {0};
    struct culex_record_part part = {total, offset};
    memcpy(bytes, &part, sizeof part);
    record_lie(CULEX_RECORD_RESULT, (uint32_t)(sizeof part + size), seq, bytes, sizeof part + size);
}

static void message_lie(int64_t which, uint64_t seq)
{
    static char bytes[36000];
    int64_t negative = -1;
    switch (which) {
    case 0:
        send(channel_find(), "x", 1, MSG_NOSIGNAL);
        return;
    case 1:
        record_lie(CULEX_RECORD_WAKE, 5, seq, NULL, 0);
        return;
    case 2:
        record_lie(77, 0, seq, NULL, 0);
        return;
    case 3:
        record_lie(CULEX_RECORD_LOG, 6, seq, "ab\ncd\n", 6);
        return;
    case 4:
        record_lie(CULEX_RECORD_LOG, 3, seq, "\xff\xfe\n", 3);
        return;
    case 5:
        record_lie(CULEX_RECORD_TEXT, 5000, seq, bytes, 5000);
        return;
    case 6:
        record_lie(CULEX_RECORD_TEXT, 3, seq + 9, "abc", 3);
        return;
    case 7:
        record_lie(CULEX_RECORD_PROGRESS, 300, seq, bytes, 300);
        return;
    case 8:
        record_lie(CULEX_RECORD_EXTEND, 8, seq, &negative, 8);
        return;
    case 9:
        result_lie(seq, 0xffffffffu, 0, 100);
        return;
    case 10:
        result_lie(seq, 1000, 900, 200);
        return;
    case 11:
        result_lie(seq, 1000, 500, 100);
        return;
    case 12:
        record_lie(CULEX_RECORD_RUN, 0, seq, NULL, 0);
        return;
    default:
        record_lie(CULEX_RECORD_LOG, sizeof bytes, seq, bytes, sizeof bytes);
        return;
    }
}

FAULTY static void mailbox_lie(int64_t which, struct culex_mailbox *mailbox, uint64_t seq)
{
    switch (which) {
    case 100:
        atomic_store(&mailbox->finished, seq + 1000);
        return;
    case 101:
        atomic_store(&mailbox->finished, UINT64_MAX);
        return;
    case 102:
        atomic_store(&mailbox->finished, seq); /* an end that is not there */
        mailbox->ends[culex__mailbox_index(seq)].seq = seq + 1;
        return;
    case 103:
        mailbox->ends[culex__mailbox_index(seq)] =
            (struct culex_mailbox_end){.seq = seq, .event = 4711};
        atomic_store(&mailbox->finished, seq);
        return;
    case 104:
        mailbox->ends[culex__mailbox_index(seq)] =
            (struct culex_mailbox_end){.seq = seq, .event = CULEX_EVENT_RELEASE, .delay_ms = -5};
        atomic_store(&mailbox->finished, seq);
        return;
    case 105:
        mailbox->ends[culex__mailbox_index(seq)] = (struct culex_mailbox_end){
            .seq = seq, .event = CULEX_EVENT_FAIL, .flags = CULEX_END_TEXT};
        atomic_store(&mailbox->finished, seq); /* a text that was never sent */
        return;
    case 106:
        atomic_store(&mailbox->started, UINT64_MAX);
        *no_where = 1;
        return;
    default:
        memset((void *)mailbox, 0xee, sizeof *mailbox);
        *no_where = 1;
        return;
    }
}

/* n: which lie; from 100 on in the mailbox. Then waits to be killed. */
static culex_outcome lies(culex_run *run, const struct zoo_params *params)
{
    struct culex_mailbox *mailbox = mailbox_find();
    uint64_t seq = atomic_load(&mailbox->started);
    (void)run;
    if (params->n < 100)
        message_lie(params->n, seq);
    else {
        struct culex_record wake = {CULEX_RECORD_WAKE, 0, seq};
        mailbox_lie(params->n, mailbox, seq);
        send(channel_find(), &wake, sizeof wake, MSG_NOSIGNAL);
    }
    rest();
    return CULEX_DONE;
}

/* --- the table --------------------------------------------------------------------------- */

#define ZOO(X)                                                                                     \
    X(nothing)                                                                                     \
    X(sleeps)                                                                                      \
    X(gate)                                                                                        \
    X(fails)                                                                                       \
    X(fails_long)                                                                                  \
    X(discards)                                                                                    \
    X(snoozes)                                                                                     \
    X(echoes)                                                                                      \
    X(knows_itself)                                                                                \
    X(reports)                                                                                     \
    X(logs)                                                                                        \
    X(stamps)                                                                                      \
    X(lists_descriptors)                                                                           \
    X(writes_down)                                                                                 \
    X(null_write)                                                                                  \
    X(wild_write)                                                                                  \
    X(wild_jump)                                                                                   \
    X(double_free)                                                                                 \
    X(stack_overflow)                                                                              \
    X(aborts)                                                                                      \
    X(divides)                                                                                     \
    X(exits)                                                                                       \
    X(exits_quickly)                                                                               \
    X(raises)                                                                                      \
    X(outgrows)                                                                                    \
    X(memory_bomb)                                                                                 \
    X(memory_fails)                                                                                \
    X(leaks)                                                                                       \
    X(spins)                                                                                       \
    X(sleeps_for_ever)                                                                             \
    X(spins_deaf)                                                                                  \
    X(ends_as_asked)                                                                               \
    X(fork_bomb)                                                                                   \
    X(leaves_daemon)                                                                               \
    X(leaves_sibling)                                                                              \
    X(stores)                                                                                      \
    X(crowds)                                                                                      \
    X(kills_zygote)                                                                                \
    X(meddles)                                                                                     \
    X(tells_traces)                                                                                \
    X(closes_all)                                                                                  \
    X(writes_everywhere)                                                                           \
    X(jumps_out)                                                                                   \
    X(ends_thread)                                                                                 \
    X(lies)

static const culex_field zoo_fields[] = {
    {.name = "n", .wire = "n", .kind = CULEX_KIND_INT64, .offset = offsetof(struct zoo_params, n)},
    {.name = "text",
     .wire = "text",
     .kind = CULEX_KIND_STRING,
     .offset = offsetof(struct zoo_params, text)},
};

static const culex_struct_type zoo_params_type = {"zoo.params", sizeof(struct zoo_params),
                                                  zoo_fields, 2};

#define ZOO_TYPE(animal)                                                                           \
    static const culex_job_type animal##_type = {.descriptor_version = CULEX_DESCRIPTOR_VERSION,   \
                                                 .name = "zoo." #animal,                           \
                                                 .wire = "zoo." #animal,                           \
                                                 .queue = "zoo",                                   \
                                                 .params = &zoo_params_type,                       \
                                                 .result = &zoo_params_type};
ZOO(ZOO_TYPE)

static const culex_job_type bounded_types[] = {
    {.descriptor_version = CULEX_DESCRIPTOR_VERSION,
     .name = "zoo.bounded_bomb",
     .wire = "zoo.bounded_bomb",
     .queue = "zoo",
     .params = &zoo_params_type,
     .memory_bytes = 64 << 20},
    {.descriptor_version = CULEX_DESCRIPTOR_VERSION,
     .name = "zoo.bounded_fails",
     .wire = "zoo.bounded_fails",
     .queue = "zoo",
     .params = &zoo_params_type,
     .memory_bytes = 64 << 20},
    {.descriptor_version = CULEX_DESCRIPTOR_VERSION,
     .name = "zoo.bounded_crowds",
     .wire = "zoo.bounded_crowds",
     .queue = "zoo",
     .params = &zoo_params_type,
     .memory_bytes = 64 << 20},
    {.descriptor_version = CULEX_DESCRIPTOR_VERSION,
     .name = "zoo.bounded_stores",
     .wire = "zoo.bounded_stores",
     .queue = "zoo",
     .params = &zoo_params_type,
     .memory_bytes = 64 << 20},
};

static culex_outcome zoo_call(culex_run *run, culex_handler_fn handler, const void *params,
                              void *user)
{
    (void)user;
    atomic_store(&zoo_board->pid, (int)getpid());
    atomic_fetch_add(&zoo_board->starts, 1);
    culex_outcome outcome = ((zoo_handler)handler)(run, params);
    atomic_fetch_add(&zoo_board->ends, 1);
    return outcome;
}

#define ZOO_JOB(animal) {&animal##_type, zoo_call, (culex_handler_fn)animal, NULL, NULL},
static const struct culex_job jobs[] = {
    ZOO(ZOO_JOB){&bounded_types[0], zoo_call, (culex_handler_fn)memory_bomb, NULL, NULL},
    {&bounded_types[1], zoo_call, (culex_handler_fn)memory_fails, NULL, NULL},
    {&bounded_types[2], zoo_call, (culex_handler_fn)crowds, NULL, NULL},
    {&bounded_types[3], zoo_call, (culex_handler_fn)stores, NULL, NULL},
};

const struct culex_job *zoo_jobs(void)
{
    return jobs;
}

size_t zoo_count(void)
{
    return sizeof jobs / sizeof jobs[0];
}

size_t zoo_unbounded_count(void)
{
    return zoo_count() - sizeof bounded_types / sizeof bounded_types[0];
}

const struct culex_job *zoo_find(const char *name)
{
    for (size_t i = 0; i < zoo_count(); i++) {
        if (strcmp(jobs[i].type->name + 4, name) == 0)
            return &jobs[i];
    }
    fprintf(stderr, "no %s in the zoo\n", name);
    abort();
}

void zoo_open(void)
{
    if (zoo_board != NULL)
        return; /* a test's own, shared with the supervisors that it forks */
    zoo_board =
        mmap(NULL, sizeof *zoo_board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (zoo_board == MAP_FAILED)
        abort();
}

void zoo_close(void)
{
    munmap(zoo_board, sizeof *zoo_board);
    zoo_board = NULL;
}
