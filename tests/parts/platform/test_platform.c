/* What the rest of the runtime takes for granted of the system, as the platform's headers promise
 * it. A port to another system passes this before anything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/zone.h"
#include "platform/clock.h"
#include "platform/descriptor.h"
#include "platform/door.h"
#include "platform/events.h"
#include "platform/file_limit.h"
#include "platform/filesystem.h"
#include "platform/packet.h"
#include "platform/pages.h"
#include "platform/runtime_folder.h"
#include "platform/secret_file.h"
#include "platform/self.h"
#include "platform/stack.h"
#include "platform/zone_file.h"

enum { PATIENCE_MS = 60000, MEBI = 1024 * 1024 };

static bool is_readable(int fd, int timeout_ms)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    return poll(&wait, 1, timeout_ms) == 1;
}

/* The exit status of a child, 128 and more for one that a signal killed. */
static int status_await(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* --- events.h ---------------------------------------------------------------------------- */

static void test_bell_counts_its_rings_until_they_are_taken(void **state)
{
    (void)state;
    int bell = culex__bell_open();
    assert_false(is_readable(bell, 0));
    assert_int_equal(culex__bell_take(bell), 0);
    assert_true(culex__bell_ring(bell));
    assert_true(culex__bell_ring(bell));
    assert_true(is_readable(bell, 0));
    assert_int_equal(culex__bell_take(bell), 2);
    assert_false(is_readable(bell, 0));
    culex__descriptor_close(bell);
}

static void test_alarm_of_the_past_goes_off_once(void **state)
{
    (void)state;
    int alarm = culex__alarm_open();
    assert_true(culex__alarm_set(alarm, 0));
    assert_true(is_readable(alarm, PATIENCE_MS));
    assert_true(culex__alarm_take(alarm));
    assert_false(culex__alarm_take(alarm));
    culex__descriptor_close(alarm);
}

static void test_alarm_goes_off_at_its_last_time(void **state)
{
    (void)state;
    int alarm = culex__alarm_open();
    int64_t now_ns = culex__clock_boottime_ns();
    assert_true(culex__alarm_set(alarm, now_ns + INT64_C(3600000000000)));
    assert_false(is_readable(alarm, 0));
    assert_true(culex__alarm_set(alarm, now_ns + 20000000));
    assert_true(is_readable(alarm, PATIENCE_MS));
    assert_true(culex__clock_boottime_ns() >= now_ns + 20000000);
    culex__descriptor_close(alarm);
}

static void test_blocked_signal_is_told_and_forgotten(void **state)
{
    (void)state;
    sigset_t awaited, before;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGUSR1);
    sigprocmask(SIG_BLOCK, &awaited, &before);
    int signals = culex__signals_open(&awaited);
    assert_false(is_readable(signals, 0));
    raise(SIGUSR1);
    assert_true(is_readable(signals, PATIENCE_MS));
    culex__signals_take(signals);
    assert_false(is_readable(signals, 0));
    sigprocmask(SIG_SETMASK, &before, NULL);
    culex__descriptor_close(signals);
}

static void test_write_to_a_file_is_told(void **state)
{
    (void)state;
    char path[] = "/tmp/culex-platform-XXXXXX";
    int file = mkstemp(path);
    int writes = culex__writes_open(path);
    assert_true(file >= 0 && writes >= 0);
    assert_false(is_readable(writes, 0));
    assert_int_equal(write(file, "x", 1), 1);
    assert_true(is_readable(writes, PATIENCE_MS));
    culex__descriptor_close(writes);
    close(file);
    unlink(path);
    assert_int_equal(culex__writes_open(path), -1);
}

static void test_memory_of_descendants_counts_grandchildren(void **state)
{
    (void)state;
    int ready[2], go[2];
    char byte = 'x';
    assert_true(pipe(ready) == 0 && pipe(go) == 0);
    int64_t before = culex__self_descendants_memory();
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0) {
            char *block = malloc(16 * MEBI);
            memset(block, 1, 16 * MEBI);
            bool is_told = write(ready[1], &byte, 1) == 1;
            close(go[1]);
            _exit(is_told && read(go[0], &byte, 1) == 0 && block[MEBI] == 1 ? 0 : 1);
        }
        close(go[1]);
        _exit(waitpid(grandchild, NULL, 0) != grandchild);
    }
    close(go[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_true(culex__self_descendants_memory() - before > 16 * MEBI);
    close(go[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(culex__self_descendants_memory(), before);
    close(ready[0]);
    close(ready[1]);
}

/* The file stays open in a fork, as the lock of a worker does. */
static void test_last_close_of_a_file_is_told(void **state)
{
    (void)state;
    char folder[] = "/tmp/culex-platform-XXXXXX", path[sizeof folder + 2];
    int go[2];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/f", folder);
    int closes = culex__closes_open(folder);
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(closes >= 0 && file >= 0 && pipe(go) == 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(go[1]);
        _exit(read(go[0], &byte, 1) != 0);
    }
    close(file);
    close(open(path, O_RDONLY | O_CLOEXEC));
    assert_false(is_readable(closes, 0));
    close(go[0]);
    close(go[1]);
    assert_true(is_readable(closes, PATIENCE_MS));
    culex__closes_take(closes);
    assert_false(is_readable(closes, 0));
    assert_int_equal(waitpid(child, NULL, 0), child);
    culex__descriptor_close(closes);
    unlink(path);
    rmdir(folder);
    assert_int_equal(culex__closes_open(folder), -1);
}

static void test_watch_names_who_has_news(void **state)
{
    (void)state;
    uint64_t about[4];
    int watch = culex__watch_open(), first = culex__bell_open(), second = culex__bell_open();
    assert_true(culex__watch_add(watch, first, POLLIN, 7));
    assert_true(culex__watch_add(watch, second, POLLIN, UINT64_MAX));
    assert_false(is_readable(watch, 0));
    assert_int_equal(culex__watch_take(watch, about, 4), 0);
    culex__bell_ring(second);
    assert_true(is_readable(watch, 0));
    assert_int_equal(culex__watch_take(watch, about, 4), 1);
    assert_true(about[0] == UINT64_MAX);
    culex__bell_ring(first);
    assert_int_equal(culex__watch_take(watch, about, 4), 2);
    assert_int_equal(culex__watch_take(watch, about, 1), 1);
    assert_true(culex__watch_change(watch, first, POLLIN | POLLOUT, 8));
    culex__bell_take(first); /* a bell that is silent can still be written */
    culex__watch_remove(watch, second);
    assert_int_equal(culex__watch_take(watch, about, 4), 1);
    assert_int_equal(about[0], 8);
    culex__descriptor_close(first);
    assert_false(is_readable(watch, 0));
    culex__descriptor_close(second);
    culex__descriptor_close(watch);
}

/* --- door.h ------------------------------------------------------------------------------ */

static bool knocks_take(int door)
{
    char knocks[16];
    return read(door, knocks, sizeof knocks) > 0;
}

static void door_is_shut_while_busy(const char *address)
{
    int door = culex__door_open(), visitor = culex__door_open();
    assert_true(culex__door_place(door, address));
    assert_false(is_readable(door, 0));
    assert_int_equal(culex__door_knock(visitor, address), CULEX_KNOCK_HEARD);
    assert_true(is_readable(door, 0));
    assert_true(knocks_take(door));
    culex__door_become_busy(door, address);
    assert_int_equal(culex__door_knock(visitor, address), CULEX_KNOCK_UNHEARD);
    assert_false(is_readable(door, 0));
    culex__door_become_idle(door);
    assert_int_equal(culex__door_knock(door, address), CULEX_KNOCK_HEARD);
    assert_true(knocks_take(door));
    assert_false(knocks_take(door));
    culex__descriptor_close(door);
    assert_int_equal(culex__door_knock(visitor, address), CULEX_KNOCK_DEAD);
    culex__descriptor_close(visitor);
}

static void test_busy_door_turns_knocks_away(void **state)
{
    (void)state;
    char folder[] = "/tmp/culex-platform-XXXXXX", address[64];
    assert_non_null(mkdtemp(folder));
    snprintf(address, sizeof address, "%s/door", folder);
    door_is_shut_while_busy(address);
    assert_int_equal(access(address, F_OK), 0);
    culex__door_remove(address);
    assert_int_equal(rmdir(folder), 0);
    snprintf(address, sizeof address, "@%s", folder);
    door_is_shut_while_busy(address);
}

static void test_full_door_has_heard(void **state)
{
    (void)state;
    char address[64];
    snprintf(address, sizeof address, "@culex-platform-%ld", (long)getpid());
    int door = culex__door_open(), visitor = culex__door_open();
    assert_true(culex__door_place(door, address));
    for (int i = 0; i < 10000; i++)
        assert_int_equal(culex__door_knock(visitor, address), CULEX_KNOCK_HEARD);
    culex__descriptor_close(door);
    culex__descriptor_close(visitor);
}

static void test_door_needs_an_address_that_fits(void **state)
{
    (void)state;
    char address[CULEX_DOOR_ADDRESS_SIZE + 1] = "";
    int door = culex__door_open();
    assert_false(culex__door_place(door, address));
    memset(address, 'x', sizeof address - 1);
    assert_false(culex__door_place(door, address));
    assert_int_equal(culex__door_knock(door, address), CULEX_KNOCK_UNHEARD);
    culex__descriptor_close(door);
}

/* --- packet.h ---------------------------------------------------------------------------- */

/* What is printed to one that is closed goes to nobody, then. Exits with what is wrong. */
static void standard_try(void)
{
    const struct rlimit few = {.rlim_cur = 3, .rlim_max = 3};
    for (int number = 0; number < 3; number++)
        close(number);
    for (int i = 0; i < 3; i++) {
        if (culex__descriptor_own(open("/dev/null", O_RDONLY | O_CLOEXEC)) < 3)
            _exit(10 + i);
    }
    for (int number = 0; number < 3; number++) {
        if (fcntl(number, F_GETFD) >= 0)
            _exit(20 + number);
    }
    if (setrlimit(RLIMIT_NOFILE, &few) != 0)
        _exit(30);
    errno = 0;
    int fd = culex__descriptor_own(open("/dev/null", O_RDONLY | O_CLOEXEC));
    _exit(fd != -1 ? 31 : errno == 0 ? 32 : fcntl(0, F_GETFD) >= 0 ? 33 : 0);
}

static void test_standard_descriptors_are_left_to_the_program(void **state)
{
    int status = -1;
    (void)state;
    pid_t child = fork();
    if (child == 0)
        standard_try();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_packet_brings_a_descriptor_of_the_same_file(void **state)
{
    (void)state;
    int ends[2], got_fd, pipe_fds[2];
    char bytes[8];
    struct stat sent, got;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    assert_int_equal(pipe(pipe_fds), 0);
    assert_int_equal(culex__packet_receive(ends[1], bytes, sizeof bytes, &got_fd), -1);
    assert_int_equal(culex__packet_send(ends[0], "with", 4, pipe_fds[0]), 4);
    assert_int_equal(culex__packet_send(ends[0], "none", 4, -1), 4);
    assert_int_equal(culex__packet_receive(ends[1], bytes, sizeof bytes, &got_fd), 4);
    assert_true(fstat(pipe_fds[0], &sent) == 0 && fstat(got_fd, &got) == 0);
    assert_true(got_fd != pipe_fds[0] && got.st_dev == sent.st_dev && got.st_ino == sent.st_ino);
    assert_true((fcntl(got_fd, F_GETFD) & FD_CLOEXEC) != 0);
    culex__descriptor_close(got_fd);
    assert_int_equal(fcntl(got_fd, F_GETFD), -1); /* it was the library's to close */
    assert_int_equal(culex__packet_receive(ends[1], bytes, sizeof bytes, &got_fd), 4);
    assert_int_equal(got_fd, -1);
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(pipe_fds[i]);
    }
}

static void test_several_packets_come_each_by_itself(void **state)
{
    (void)state;
    int ends[2];
    char bytes[3][4];
    struct culex_packet packets[3];
    for (size_t i = 0; i < 3; i++)
        packets[i] = (struct culex_packet){.bytes = bytes[i], .room = sizeof bytes[i]};
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    assert_int_equal(culex__packets_receive(ends[1], packets, 3), -1);
    culex__packet_send(ends[0], "one", 3, -1);
    culex__packet_send(ends[0], "longer", 6, -1);
    assert_int_equal(culex__packets_receive(ends[1], packets, 3), 2);
    assert_true(packets[0].len == 3 && !packets[0].is_cut && memcmp(bytes[0], "one", 3) == 0);
    assert_true(packets[1].is_cut);
    close(ends[0]);
    assert_true(culex__packets_receive(ends[1], packets, 3) >= 1);
    assert_int_equal(packets[0].len, 0);
    close(ends[1]);
}

/* --- pages.h ----------------------------------------------------------------------------- */

static void test_shared_pages_are_one_and_kept_ones_are_wiped(void **state)
{
    (void)state;
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *shared = culex__pages_share(size), *kept = culex__pages_keep(size);
    assert_true(shared != NULL && kept != NULL && shared[0] == 0 && kept[0] == 0);
    *kept = 1;
    pid_t pid = fork();
    if (pid == 0) {
        *shared = 5;
        _exit(*kept == 0 ? 0 : 1);
    }
    assert_int_equal(status_await(pid), 0);
    assert_true(*shared == 5 && *kept == 1);
    culex__pages_free(shared, size);
    culex__pages_free(kept, size);
    culex__pages_free(NULL, size);
}

static void test_withheld_pages_are_not_there_in_a_fork(void **state)
{
    (void)state;
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = culex__pages_share(2 * size);
    culex__pages_withhold(memory, size);
    pid_t pid = fork();
    if (pid == 0) {
        bool is_gone = msync(memory, size, MS_ASYNC) < 0;
        bool is_there = msync(memory + size, size, MS_ASYNC) == 0;
        _exit(is_gone && is_there ? 0 : 1);
    }
    assert_int_equal(status_await(pid), 0);
    culex__pages_free(memory, 2 * size);
}

/* --- self.h ------------------------------------------------------------------------------ */

struct search {
    pid_t wanted;
    bool is_found;
};

static bool child_look(void *user, pid_t pid)
{
    struct search *search = user;
    search->is_found = search->is_found || pid == search->wanted;
    return !search->is_found;
}

static bool one_is_enough(void *user, pid_t pid)
{
    (void)pid;
    ++*(size_t *)user;
    return false;
}

static bool is_our_child(pid_t pid)
{
    struct search search = {.wanted = pid};
    assert_true(culex__self_visit_children(child_look, &search));
    return search.is_found;
}

/* Waits until the other end of the pipe is closed. */
static _Noreturn void stay(int fd)
{
    char byte;
    ssize_t got = read(fd, &byte, 1);
    _exit(got == 0 ? 0 : 1);
}

static void test_orphan_becomes_our_child(void **state)
{
    (void)state;
    int told[2], held[2];
    pid_t orphan = 0;
    assert_true(pipe(told) == 0 && pipe(held) == 0);
    assert_true(culex__self_adopt_orphans());
    pid_t parent = fork();
    if (parent == 0) {
        close(held[1]);
        orphan = fork();
        if (orphan == 0)
            stay(held[0]);
        _exit(write(told[1], &orphan, sizeof orphan) == sizeof orphan ? 0 : 1);
    }
    assert_int_equal(read(told[0], &orphan, sizeof orphan), sizeof orphan);
    assert_int_equal(status_await(parent), 0);
    assert_true(is_our_child(orphan));
    close(held[1]);
    assert_int_equal(status_await(orphan), 0);
    assert_false(is_our_child(orphan));
    close(held[0]);
    close(told[0]);
    close(told[1]);
}

static void test_children_are_visited_until_one_is_enough(void **state)
{
    (void)state;
    int held[2];
    pid_t pids[3];
    assert_int_equal(pipe(held), 0);
    for (size_t i = 0; i < 3; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            close(held[1]);
            stay(held[0]);
        }
    }
    size_t visited = 0;
    assert_true(culex__self_visit_children(one_is_enough, &visited));
    assert_int_equal(visited, 1);
    assert_true(is_our_child(pids[0]) && is_our_child(pids[1]) && is_our_child(pids[2]));
    close(held[1]);
    for (size_t i = 0; i < 3; i++)
        status_await(pids[i]);
    close(held[0]);
}

/* The parent ends as soon as its child is ready; that one tells by its exit whether it was told,
 * and comes to us as an orphan. */
static void test_end_of_the_parent_is_a_signal(void **state)
{
    (void)state;
    int ready[2];
    char byte;
    sigset_t awaited, before;
    const struct timespec patience = {.tv_sec = PATIENCE_MS / 1000};
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGUSR1);
    sigprocmask(SIG_BLOCK, &awaited, &before);
    assert_int_equal(pipe(ready), 0);
    assert_true(culex__self_adopt_orphans());
    pid_t parent = fork();
    if (parent == 0) {
        if (fork() != 0)
            _exit(read(ready[0], &byte, 1) == 1 ? 0 : 1);
        bool is_set = culex__self_follow_parent(SIGUSR1) && write(ready[1], "r", 1) == 1;
        _exit(is_set && sigtimedwait(&awaited, NULL, &patience) == SIGUSR1 ? 0 : 1);
    }
    assert_int_equal(status_await(parent), 0);
    int status = 0;
    assert_true(wait(&status) > 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ready[0]);
    close(ready[1]);
}

static void test_memory_in_use_grows_with_what_is_mapped(void **state)
{
    (void)state;
    struct culex_memory_use before, after;
    assert_true(culex__self_memory(&before));
    assert_true(before.resident > 0 && before.unshared > 0 && before.unshared <= before.resident);
    char *memory = mmap(NULL, 8 * MEBI, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    memset(memory, 1, 8 * MEBI);
    assert_true(culex__self_memory(&after));
    assert_true(after.data >= before.data + 8 * MEBI);
    assert_true(after.resident >= before.resident + 7 * MEBI); /* the kernel counts in batches */
    munmap(memory, 8 * MEBI);
}

static void test_list_of_timers_shows_a_new_one(void **state)
{
    (void)state;
    char before[256], after[256];
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    culex__self_list_timers(before, sizeof before);
    culex__self_list_timers(after, sizeof after);
    assert_memory_equal(before, after, sizeof before);
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    culex__self_list_timers(after, sizeof after);
    assert_memory_not_equal(before, after, sizeof before);
    timer_delete(timer);
}

/* --- stack.h ----------------------------------------------------------------------------- */

static uint64_t struck_pc, struck_sp, struck_frames[32];
static size_t struck_count;

static void struck(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    culex__stack_registers(context, &struck_pc, &struck_sp);
    struck_count = culex__stack_frames(struck_frames, 32);
}

static void test_signal_tells_where_it_struck(void **state)
{
    (void)state;
    bool is_there = false;
    struct sigaction before, action = {.sa_flags = SA_SIGINFO, .sa_sigaction = struck};
    culex__stack_prepare();
    sigaction(SIGUSR2, &action, &before);
    raise(SIGUSR2);
    sigaction(SIGUSR2, &before, NULL);
    for (size_t i = 0; i < struck_count; i++)
        is_there = is_there || struck_frames[i] == struck_pc;
    assert_true(is_there && struck_sp != 0);
    assert_string_equal(culex__stack_signal_name(SIGSEGV), "SEGV");
}

/* --- filesystem.h ------------------------------------------------------------------------- */

static void test_file_system_of_a_folder_has_a_name(void **state)
{
    (void)state;
    struct culex_filesystem system;
    assert_true(culex__filesystem_read("/", &system));
    assert_true(system.name[0] != '\0');
    assert_false(culex__filesystem_read("/no such folder", &system));
}

/* --- file_limit.h ------------------------------------------------------------------------ */

enum { FILE_LIMIT = 64 };

/* A file that cannot take one byte more; signals do what they do by default. */
static int full_file(void)
{
    struct rlimit limit = {FILE_LIMIT, FILE_LIMIT};
    char name[] = "/tmp/platform-XXXXXX";
    int fd = mkstemp(name);
    unlink(name);
    signal(SIGXFSZ, SIG_DFL);
    return ftruncate(fd, FILE_LIMIT) == 0 && lseek(fd, 0, SEEK_END) == FILE_LIMIT &&
                   setrlimit(RLIMIT_FSIZE, &limit) == 0
               ? fd
               : -1;
}

static bool write_fails(int fd)
{
    return write(fd, "x", 1) < 0 && errno == EFBIG;
}

static bool is_pending(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

static void test_write_beyond_the_file_limit_is_an_error_while_held(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        int fd = full_file();
        struct culex_file_limit held = culex__file_limit_enter();
        bool is_told = write_fails(fd) && write_fails(fd);
        errno = EFBIG;
        culex__file_limit_leave(held);
        _exit(is_told && errno == EFBIG && !is_pending() ? 0 : 1);
    }
    assert_int_equal(status_await(pid), 0);
}

static void test_write_beyond_the_file_limit_ends_the_program_afterwards(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        int fd = full_file();
        culex__file_limit_leave(culex__file_limit_enter());
        write_fails(fd);
        _exit(0);
    }
    assert_int_equal(status_await(pid), 128 + SIGXFSZ);
}

static void test_program_that_holds_the_signal_back_itself_still_gets_it(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        int fd = full_file();
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
        struct culex_file_limit held = culex__file_limit_enter();
        write_fails(fd);
        culex__file_limit_leave(held);
        _exit(is_pending() ? 0 : 1);
    }
    assert_int_equal(status_await(pid), 0);
}

/* --- zone_file.h ------------------------------------------------------------------------- */

/* A tz database of this test's own; its zone "Here/There" has `len` bytes. */
static void database_make(size_t len)
{
    char folder[] = "/tmp/culex-zones-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/Here", folder);
    assert_return_code(mkdir(path, 0755), errno);
    snprintf(path, sizeof path, "%s/Here/There", folder);
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    assert_return_code(ftruncate(fd, (off_t)len), errno);
    close(fd);
    assert_return_code(setenv("TZDIR", folder, 1), errno);
}

static void database_remove(void)
{
    char path[64];
    const char *folder = getenv("TZDIR");
    snprintf(path, sizeof path, "%s/Here/There", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/Here", folder);
    rmdir(path);
    rmdir(folder);
    unsetenv("TZDIR");
}

static void assert_zone_refused(const char *name, culex_status status, const char *text)
{
    uint8_t *bytes;
    size_t len;
    culex_error error;
    assert_int_equal(culex__zone_file_read(name, &bytes, &len, &error), status);
    if (strstr(error.text, text) == NULL)
        fail_msg("%s", error.text);
}

static void test_zone_is_read_whole_from_the_database(void **state)
{
    (void)state;
    uint8_t *bytes;
    size_t len;
    database_make(64 * 1024);
    assert_int_equal(culex__zone_file_read("Here/There", &bytes, &len, NULL), CULEX_OK);
    assert_int_equal(len, 64 * 1024);
    free(bytes);
    database_remove();
}

static void test_zone_that_is_none_is_refused_with_the_cause(void **state)
{
    (void)state;
    database_make(64 * 1024 + 1);
    assert_zone_refused("Here/There", CULEX_ECORRUPT, "larger");
    assert_zone_refused("Here/Here", CULEX_ENOTFOUND, "none of this name");
    assert_zone_refused("Here/There/Now", CULEX_ENOTFOUND, "none of this name");
    assert_zone_refused("Here", CULEX_ENOTFOUND, "no file");
    assert_zone_refused("../etc/passwd", CULEX_EINVAL, "Europe/Rome");
    assert_zone_refused("/etc/passwd", CULEX_EINVAL, "Europe/Rome");
    database_remove();
}

static void test_machine_without_a_tz_database_has_utc(void **state)
{
    (void)state;
    struct culex__zone zone;
    uint8_t *bytes;
    size_t len;
    setenv("TZDIR", "/nonexistent", 1);
    assert_zone_refused("Europe/Rome", CULEX_EUNSUPPORTED, "tzdata");
    assert_int_equal(culex__zone_file_read("UTC", &bytes, &len, NULL), CULEX_OK);
    assert_null(culex__zone_read(bytes, len, &zone));
    assert_int_equal(culex__zone_span_at(&zone, 0).offset_s, 0);
    assert_true(culex__zone_span_at(&zone, 0).until_s == INT64_MAX);
    free(bytes);
    unsetenv("TZDIR");
}

/* Makes $XDG_RUNTIME_DIR anew in `ret_base`, and asks; the answer goes into `ret_path`. */
static bool folder_is_found_in(const char *base, char ret_path[CULEX_RUNTIME_FOLDER_SIZE],
                               char ret_why[CULEX_RUNTIME_FOLDER_WHY_SIZE])
{
    setenv("XDG_RUNTIME_DIR", base, 1);
    bool is_found = culex__runtime_folder_find(ret_path, ret_why);
    unsetenv("XDG_RUNTIME_DIR");
    return is_found && strncmp(ret_path, base, strlen(base)) == 0;
}

static void test_runtime_folder_is_made_for_us_alone(void **state)
{
    (void)state;
    struct stat info;
    char base[] = "/tmp/culex-platform-XXXXXX", path[CULEX_RUNTIME_FOLDER_SIZE],
         why[CULEX_RUNTIME_FOLDER_WHY_SIZE];
    assert_non_null(mkdtemp(base));
    for (int i = 0; i < 2; i++) {
        assert_true(folder_is_found_in(base, path, why));
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 07777, 0700);
    }
    rmdir(path);
    rmdir(base);
}

static void test_runtime_folder_that_others_can_enter_is_not_used(void **state)
{
    (void)state;
    char base[] = "/tmp/culex-platform-XXXXXX", path[CULEX_RUNTIME_FOLDER_SIZE],
         made[sizeof base + 8], why[CULEX_RUNTIME_FOLDER_WHY_SIZE];
    assert_non_null(mkdtemp(base));
    snprintf(made, sizeof made, "%s/culex", base);
    assert_int_equal(mkdir(made, 0700), 0);
    assert_int_equal(chmod(made, 0770), 0);
    assert_false(folder_is_found_in(base, path, why));
    assert_int_equal(chmod(made, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(made, 12345, 12345), 0);
        assert_false(folder_is_found_in(base, path, why));
    }
    rmdir(made);
    assert_int_equal(symlink("/tmp", made), 0);
    assert_false(folder_is_found_in(base, path, why));
    unlink(made);
    rmdir(base);
}

/* --- files of secrets ---------------------------------------------------------------------- */

static culex_status secret_check(uid_t uid, gid_t gid, mode_t mode, culex_error *error)
{
    struct stat file = {.st_uid = uid, .st_gid = gid, .st_mode = mode};
    return culex__secret_file_check("file", "/x", &file, CULEX_EUSAGE, error);
}

static void assert_own_secrets(uid_t me, gid_t ours)
{
    culex_error error = {0};
    assert_int_equal(secret_check(me, ours + 1, S_IFREG | 0600, NULL), CULEX_OK);
    assert_int_equal(secret_check(me, ours + 1, S_IFREG | 0400, NULL), CULEX_OK);
    assert_int_equal(secret_check(me, ours, S_IFREG | 0640, &error), CULEX_EUSAGE);
    assert_string_equal(error.text, "file /x has mode 0640, which lets others at it: chmod 600 /x");
    assert_int_equal(secret_check(me, ours, S_IFREG | 0604, NULL), CULEX_EUSAGE);
    assert_int_equal(secret_check(me + 1, ours, S_IFREG | 0400, &error), CULEX_EUSAGE);
    assert_non_null(strstr(error.text, "file /x belongs to user "));
    assert_int_equal(secret_check(me, ours, S_IFDIR | 0600, &error), CULEX_EUSAGE);
    assert_string_equal(error.text, "file /x is not a regular file");
}

static void assert_lent_secrets(gid_t ours)
{
    culex_error error = {0};
    assert_int_equal(secret_check(0, ours, S_IFREG | 0440, NULL), CULEX_OK);
    assert_int_equal(secret_check(0, ours, S_IFREG | 0640, NULL), CULEX_OK);
    assert_int_equal(secret_check(0, 0, S_IFREG | 0440, NULL), CULEX_OK);
    assert_int_equal(secret_check(0, ours + 4321, S_IFREG | 0440, &error), CULEX_EUSAGE);
    assert_non_null(strstr(error.text, "with mode 0440, which lets others at it: give it a group"));
    assert_int_equal(secret_check(0, ours, S_IFREG | 0444, NULL), CULEX_EUSAGE);
    assert_int_equal(secret_check(0, ours, S_IFREG | 0460, NULL), CULEX_EUSAGE);
}

/* Root looks as itself, and as somebody else. */
static void test_secrets_are_of_the_user_or_lent_by_root(void **state)
{
    (void)state;
    const uid_t me = geteuid();
    const gid_t ours = getegid();
    assert_own_secrets(me, ours);
    if (me == 0) {
        assert_int_equal(setegid(54321), 0);
        assert_int_equal(seteuid(54321), 0);
        assert_own_secrets(54321, 54321);
    }
    assert_lent_secrets(getegid());
    if (me == 0) {
        assert_int_equal(seteuid(me), 0);
        assert_int_equal(setegid(ours), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secrets_are_of_the_user_or_lent_by_root),
        cmocka_unit_test(test_bell_counts_its_rings_until_they_are_taken),
        cmocka_unit_test(test_alarm_of_the_past_goes_off_once),
        cmocka_unit_test(test_alarm_goes_off_at_its_last_time),
        cmocka_unit_test(test_blocked_signal_is_told_and_forgotten),
        cmocka_unit_test(test_write_to_a_file_is_told),
        cmocka_unit_test(test_last_close_of_a_file_is_told),
        cmocka_unit_test(test_watch_names_who_has_news),
        cmocka_unit_test(test_busy_door_turns_knocks_away),
        cmocka_unit_test(test_full_door_has_heard),
        cmocka_unit_test(test_door_needs_an_address_that_fits),
        cmocka_unit_test(test_standard_descriptors_are_left_to_the_program),
        cmocka_unit_test(test_packet_brings_a_descriptor_of_the_same_file),
        cmocka_unit_test(test_several_packets_come_each_by_itself),
        cmocka_unit_test(test_shared_pages_are_one_and_kept_ones_are_wiped),
        cmocka_unit_test(test_withheld_pages_are_not_there_in_a_fork),
        cmocka_unit_test(test_orphan_becomes_our_child),
        cmocka_unit_test(test_children_are_visited_until_one_is_enough),
        cmocka_unit_test(test_end_of_the_parent_is_a_signal),
        cmocka_unit_test(test_memory_in_use_grows_with_what_is_mapped),
        cmocka_unit_test(test_memory_of_descendants_counts_grandchildren),
        cmocka_unit_test(test_list_of_timers_shows_a_new_one),
        cmocka_unit_test(test_signal_tells_where_it_struck),
        cmocka_unit_test(test_file_system_of_a_folder_has_a_name),
        cmocka_unit_test(test_write_beyond_the_file_limit_is_an_error_while_held),
        cmocka_unit_test(test_write_beyond_the_file_limit_ends_the_program_afterwards),
        cmocka_unit_test(test_program_that_holds_the_signal_back_itself_still_gets_it),
        cmocka_unit_test(test_zone_is_read_whole_from_the_database),
        cmocka_unit_test(test_zone_that_is_none_is_refused_with_the_cause),
        cmocka_unit_test(test_machine_without_a_tz_database_has_utc),
        cmocka_unit_test(test_runtime_folder_is_made_for_us_alone),
        cmocka_unit_test(test_runtime_folder_that_others_can_enter_is_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
