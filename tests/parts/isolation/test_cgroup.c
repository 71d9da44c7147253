/* Control groups around children: what a run's processes hold together is bounded,
 * what a run leaves behind dies however it was started, and no group outlives its worker for long.
 *
 *     test_cgroup [memory]
 *
 * Works below $TEST_CGROUP, else below the cgroup v2 hierarchy of this machine; tests that need
 * more than the machine has are skipped. With `memory`: those for which the kernel must count
 * memory there, status 77 where it does not. */
#include "pen.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sanitizer.h"
#include "platform/cgroup.h"
#include "platform/cgroup_dir.h"

#define MS INT64_C(1000000)

enum { NOBODY = 65534 };

static const struct culex_process_effects kernel = {NULL, NULL};

/* --- a directory to work in -------------------------------------------------------------- */

struct place {
    struct pen pen;
    bool is_open;
    char dir[256]; /* made for the test */
};

static const char *root; /* where such directories can be made; NULL: nowhere */
static bool has_memory;  /* and the kernel counts memory in them */

static bool file_write(const char *dir, const char *name, const char *text)
{
    char file[512];
    snprintf(file, sizeof file, "%s/%s", dir, name);
    return culex__process_write_file(&kernel, file, text) == 0;
}

static void file_read(const char *dir, const char *name, char *ret_text, size_t size)
{
    char file[512];
    snprintf(file, sizeof file, "%s/%s", dir, name);
    culex__process_read_file(&kernel, file, ret_text, size);
}

static bool is_usable(const char *dir)
{
    struct statfs fs;
    char sample[256];
    snprintf(sample, sizeof sample, "%s/sample-%ld", dir, (long)getpid());
    return statfs(dir, &fs) == 0 && (unsigned long)fs.f_type == CGROUP2_SUPER_MAGIC &&
           mkdir(sample, 0755) == 0 && rmdir(sample) == 0;
}

static void root_find(void)
{
    const char *const places[] = {getenv("TEST_CGROUP"), "/sys/fs/cgroup",
                                  "/sys/fs/cgroup/unified"};
    for (size_t i = 0; i < 3 && root == NULL; i++) {
        if (places[i] != NULL && is_usable(places[i]))
            root = places[i];
    }
    has_memory = root != NULL && culex__cgroup_dir_count_memory(&kernel, root, NULL) == CULEX_OK;
}

static int place_setup(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    assert_non_null(place);
    pen_init(&place->pen, 2);
    if (!has_memory)
        place->pen.config.handler.job_count = zoo_unbounded_count();
    snprintf(place->dir, sizeof place->dir, "%s/test-%ld", root != NULL ? root : "",
             (long)getpid());
    if (root != NULL)
        assert_return_code(mkdir(place->dir, 0755), errno);
    place->pen.config.cgroup = place->dir;
    *state = place;
    return 0;
}

/* Entries that are folders: groups. */
static size_t groups_count(const char *dir)
{
    size_t count = 0;
    DIR *folder = opendir(dir);
    if (folder == NULL)
        return 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_type == DT_DIR && entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static int place_teardown(void **state)
{
    struct place *place = *state;
    if (place->is_open)
        pen_close(&place->pen);
    else
        free(place->pen.log);
    size_t left = root != NULL ? groups_count(place->dir) : 0;
    if (root != NULL)
        culex__cgroup_dir_remove(&kernel, place->dir);
    assert_int_equal(left, 0);
    free(place);
    return 0;
}

static struct place *place_needed(void **state)
{
    if (root == NULL)
        skip(); /* no cgroup v2 that we may write to */
    return *state;
}

static struct pen *place_open(void **state)
{
    struct place *place = place_needed(state);
    pen_open(&place->pen);
    place->is_open = true;
    return &place->pen;
}

/* The worker's group, which is the only one in the directory. */
static void worker_group(const struct place *place, char ret_path[512])
{
    DIR *folder = opendir(place->dir);
    assert_non_null(folder);
    ret_path[0] = '\0';
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strncmp(entry->d_name, "culex-", 6) == 0)
            snprintf(ret_path, 512, "%s/%s", place->dir, entry->d_name);
    }
    closedir(folder);
    assert_true(ret_path[0] != '\0');
}

static void refusal_expect(const char *dir, bool needs_memory, const char *text)
{
    struct culex_cgroup group;
    culex_error error = {0};
    assert_int_equal(
        culex__cgroup_open(&group, dir, needs_memory, &kernel, culex__env_system(), &error),
        CULEX_EUSAGE);
    if (strstr(error.text, text) == NULL)
        print_message("%s\n", error.text);
    assert_non_null(strstr(error.text, text));
    assert_non_null(strstr(error.text, dir));
}

/* One that is dead and not buried does nothing any more. */
static bool is_alive(int pid)
{
    char dir[64], text[512];
    snprintf(dir, sizeof dir, "/proc/%d", pid);
    file_read(dir, "stat", text, sizeof text);
    const char *after = strrchr(text, ')');
    return after != NULL && strncmp(after, ") Z", 3) != 0 && strncmp(after, ") X", 3) != 0;
}

/* --- directories that will not do -------------------------------------------------------- */

static void test_directory_that_is_none_is_refused(void **state)
{
    (void)state;
    refusal_expect("/no/such/directory", false, "No such file or directory");
    refusal_expect("/tmp", false, "not a directory of cgroup v2");
}

static void test_directory_of_cgroup_v1_is_refused(void **state)
{
    struct statfs fs;
    (void)state;
    if (statfs("/sys/fs/cgroup/memory", &fs) < 0 || (unsigned long)fs.f_type != CGROUP_SUPER_MAGIC)
        skip(); /* no cgroup v1 here */
    refusal_expect("/sys/fs/cgroup/memory", true, "not a directory of cgroup v2 but of v1");
}

static void test_directory_without_the_memory_controller_is_refused(void **state)
{
    struct place *place = place_needed(state);
    char below[300];
    snprintf(below, sizeof below, "%s/below", place->dir);
    assert_return_code(mkdir(below, 0755), errno);
    refusal_expect(below, true, "no memory in its cgroup.controllers");
    assert_return_code(rmdir(below), errno);
}

static bool nobody_become(void)
{
    return setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0;
}

/* As nobody: `is_given` says whether the directory is. */
static void as_nobody_expect(const struct place *place, bool is_given, const char *text)
{
    fflush(NULL);
    if (is_given) {
        assert_return_code(chown(place->dir, NOBODY, NOBODY), errno);
    }
    pid_t pid = fork();
    if (pid == 0) {
        if (!nobody_become())
            _exit(77);
        refusal_expect(place->dir, false, text);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WEXITSTATUS(status) == 77)
        skip(); /* not ours to become another user */
    assert_int_equal(status, 0);
}

static void test_directory_of_another_user_is_refused(void **state)
{
    as_nobody_expect(place_needed(state), false, "must belong to the worker's user");
}

/* The group above both the worker and the directory is root's. */
static void test_worker_outside_of_the_directory_is_refused(void **state)
{
    as_nobody_expect(place_needed(state), true, "start the worker in a group below the directory");
}

static void give_to_nobody(const char *dir, const char *name)
{
    char file[512];
    snprintf(file, sizeof file, "%s/%s", dir, name);
    assert_return_code(chown(file, NOBODY, NOBODY), errno);
}

/* As systemd does it: the directory and a group below it, where the worker is, are its user's. */
static void test_delegated_directory_is_enough(void **state)
{
    struct place *place = place_needed(state);
    if (geteuid() != 0)
        skip(); /* cannot become another user */
    static const char *const given[] = {"", "cgroup.procs", "cgroup.subtree_control", "worker",
                                        "worker/cgroup.procs"};
    char own[300];
    snprintf(own, sizeof own, "%s/worker", place->dir);
    assert_return_code(mkdir(own, 0755), errno);
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
        give_to_nobody(place->dir, given[i]);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (!file_write(own, "cgroup.procs", "0") || !nobody_become())
            _exit(77);
        pen_open(&place->pen);
        pen_expect(&place->pen, "leaves_sibling", 0, CULEX_EVENT_DONE);
        assert_false(is_alive(atomic_load(&zoo_board->other)));
        if (has_memory)
            pen_expect(&place->pen, "bounded_crowds", 6, CULEX_EVENT_CRASH);
        pen_close(&place->pen);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_return_code(rmdir(own), errno);
    assert_int_equal(status, 0);
}

static void test_directory_that_is_removed_under_way_is_told_once(void **state)
{
    struct pen *pen = place_open(state);
    char group[512];
    worker_group(*state, group);
    assert_true(culex__cgroup_dir_remove(&kernel, group));
    for (int i = 0; i < 3; i++) {
        pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
        pen_expect(pen, "null_write", 0, CULEX_EVENT_CRASH);
    }
    const char *told = strstr(pen->log, "cannot make a control group in ");
    assert_non_null(told);
    assert_null(strstr(told + 30, "control group"));
}

/* --- what a run leaves behind ------------------------------------------------------------- */

static void test_sibling_dies_with_its_run(void **state)
{
    struct pen *pen = place_open(state);
    pen_expect(pen, "leaves_sibling", 0, CULEX_EVENT_DONE);
    assert_false(is_alive(atomic_load(&zoo_board->other)));
    assert_non_null(strstr(pen->log, "processes that the handler left behind were killed: 1"));
    int first = atomic_load(&zoo_board->pid);
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
    assert_int_equal(atomic_load(&zoo_board->pid), first);
}

static void test_sibling_dies_with_the_child_that_crashed(void **state)
{
    struct pen *pen = place_open(state);
    pen_expect(pen, "leaves_sibling", 1, CULEX_EVENT_CRASH);
    PEN_AWAIT(pen, !is_alive(atomic_load(&zoo_board->other)));
}

/* The zygote spares what is in the process group of a child that lives. */
static void test_sibling_that_hides_dies_with_the_child_that_crashed(void **state)
{
    struct pen *pen = place_open(state);
    const struct culex_run *neighbour = pen_submit(pen, "gate", 0, NULL);
    PEN_AWAIT(pen, atomic_load(&zoo_board->pid) != 0);
    pen_expect(pen, "leaves_sibling", atomic_load(&zoo_board->pid), CULEX_EVENT_CRASH);
    PEN_AWAIT(pen, !is_alive(atomic_load(&zoo_board->other)));
    assert_false(pen_has_ended(pen, neighbour));
    atomic_store(&zoo_board->may_end, 1);
    pen_await(pen, neighbour);
    assert_int_equal(neighbour->end.event, CULEX_EVENT_DONE);
}

static void test_sibling_dies_with_the_zygote(void **state)
{
    struct pen *pen = place_open(state);
    pen_submit(pen, "leaves_sibling", 2, NULL);
    PEN_AWAIT(pen, atomic_load(&zoo_board->other) != 0);
    pen_expect(pen, "kills_zygote", SIGKILL, CULEX_EVENT_CRASH);
    PEN_AWAIT(pen, !is_alive(atomic_load(&zoo_board->other)));
}

static void test_handlers_are_inside_and_the_worker_is_not(void **state)
{
    struct pen *pen = place_open(state);
    char group[512], text[512], own[512];
    file_read("/proc/self", "cgroup", own, sizeof own);
    worker_group(*state, group);
    pen_submit(pen, "gate", 0, NULL);
    PEN_AWAIT(pen, atomic_load(&zoo_board->pid) != 0);
    char proc[64];
    snprintf(proc, sizeof proc, "/proc/%d", atomic_load(&zoo_board->pid));
    file_read(proc, "cgroup", text, sizeof text);
    assert_non_null(strstr(text, strrchr(group, '/')));
    assert_null(strstr(own, strrchr(group, '/')));
    atomic_store(&zoo_board->may_end, 1);
    PEN_AWAIT(pen, pen->ended_count == 1);
}

/* --- whose worker died -------------------------------------------------------------------- */

/* A supervisor in a process of its own, at a run that does not end. */
static pid_t supervisor_fork(struct place *place)
{
    fflush(NULL);
    zoo_open();
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct pen *pen = &place->pen;
    if (pen_try_open(pen, NULL) != CULEX_OK)
        _exit(1);
    pen_submit(pen, "leaves_sibling", 2, NULL);
    for (;;)
        pen_turn(pen, 1000);
}

#define AWAIT(condition)                                                                           \
    do {                                                                                           \
        int64_t until_ns = pen_now_ns() + PEN_WAIT_MS * MS;                                        \
        while (!(condition) && pen_now_ns() < until_ns)                                            \
            poll(NULL, 0, 1);                                                                      \
        assert_true(condition);                                                                    \
    } while (0)

/* The zygote cleans up when it sees that the worker is gone. */
static void test_killed_worker_leaves_no_group(void **state)
{
    struct place *place = place_needed(state);
    pid_t pid = supervisor_fork(place);
    AWAIT(atomic_load(&zoo_board->other) != 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    AWAIT(groups_count(place->dir) == 0);
    AWAIT(!is_alive(atomic_load(&zoo_board->other)));
    zoo_close();
}

/* A process that stays in the group `dir`, and holds its lock if `is_holding`. */
static pid_t inmate_fork(const char *dir, bool is_holding)
{
    char text[64];
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (is_holding && flock(open(dir, O_RDONLY | O_DIRECTORY), LOCK_EX) < 0)
            _exit(1);
        _exit(file_write(dir, "cgroup.procs", "0") ? pause() : 1);
    }
    AWAIT((file_read(dir, "cgroup.procs", text, sizeof text), text[0] != '\0'));
    return pid;
}

/* Nobody was left to clean up when the worker and its zygote died: the next worker does, and
 * leaves the groups of the living alone. */
static void test_next_worker_ends_what_a_dead_one_left(void **state)
{
    struct place *place = place_needed(state);
    char group[300], held[300], sleeper[400];
    snprintf(held, sizeof held, "%s/culex-of-a-living-one", place->dir);
    snprintf(group, sizeof group, "%s/culex-1-deadbeef", place->dir);
    snprintf(sleeper, sizeof sleeper, "%s/3", group);
    assert_return_code(mkdir(held, 0755), errno);
    assert_return_code(mkdir(group, 0755), errno);
    assert_return_code(mkdir(sleeper, 0755), errno);
    pid_t holder = inmate_fork(held, true);
    pid_t left = inmate_fork(sleeper, false);
    place_open(state);
    assert_int_equal(waitpid(left, NULL, WNOHANG), left);
    assert_int_equal(waitpid(holder, NULL, WNOHANG), 0);
    assert_int_equal(groups_count(place->dir), 2);
    assert_int_not_equal(access(group, F_OK), 0);
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    assert_return_code(rmdir(held), errno);
}

static void test_group_ends_with_the_worker(void **state)
{
    struct pen *pen = place_open(state);
    struct place *place = *state;
    pen_submit(pen, "leaves_sibling", 2, NULL);
    PEN_AWAIT(pen, atomic_load(&zoo_board->other) != 0);
    assert_int_equal(groups_count(place->dir), 1);
    int other = atomic_load(&zoo_board->other);
    pen_close(pen);
    place->is_open = false;
    place->pen.log = NULL;
    assert_int_equal(groups_count(place->dir), 0);
    assert_false(is_alive(other));
}

/* --- memory ------------------------------------------------------------------------------ */

static const char together[] = "killed by SIGKILL (out of memory: its processes together exceeded "
                               "the job's limit, 67108864 bytes)";

static void test_processes_together_exceed_the_limit(void **state)
{
    struct pen *pen = place_open(state);
    const struct culex_run *neighbour = pen_submit(pen, "gate", 0, NULL);
    assert_string_equal(pen_expect(pen, "bounded_crowds", 6, CULEX_EVENT_CRASH), together);
    assert_false(pen_has_ended(pen, neighbour));
    atomic_store(&zoo_board->may_end, 1);
    pen_await(pen, neighbour);
    assert_int_equal(neighbour->end.event, CULEX_EVENT_DONE);
    pen_expect(pen, "bounded_crowds", 1, CULEX_EVENT_DONE);
}

/* The process is told by malloc, and by its own limit, as it is without a group. */
static void test_one_process_meets_its_own_limit_first(void **state)
{
    struct pen *pen = place_open(state);
    assert_non_null(strstr(pen_expect(pen, "bounded_fails", 100, CULEX_EVENT_FAIL),
                           "no memory (out of memory: the job's limit is 67108864 bytes)"));
    assert_non_null(strstr(pen_expect(pen, "bounded_bomb", 100, CULEX_EVENT_CRASH),
                           "(out of memory: the job's limit is 67108864 bytes)"));
}

static void test_limit_follows_the_job(void **state)
{
    struct pen *pen = place_open(state);
    pen->config.count = 1;
    for (int i = 0; i < 4; i++) {
        pen_expect(pen, "crowds", 3, CULEX_EVENT_DONE);
        pen_expect(pen, "bounded_crowds", 1, CULEX_EVENT_DONE);
        assert_string_equal(pen_expect(pen, "bounded_crowds", 3, CULEX_EVENT_CRASH), together);
    }
}

/* Or the kernel would kill the process, and the run with it, for what the run before has left. */
static void test_run_is_not_charged_for_what_another_left(void **state)
{
    struct pen *pen = place_open(state);
    pen_expect(pen, "nothing", 0, CULEX_EVENT_DONE);
    for (int i = 0; i < 4; i++) {
        pen_expect(pen, "leaks", 100, CULEX_EVENT_DONE);
        int first = atomic_load(&zoo_board->pid);
        pen_expect(pen, "bounded_fails", 40, CULEX_EVENT_DONE);
        assert_int_not_equal(atomic_load(&zoo_board->pid), first);
    }
}

static enum culex_run_event stored(struct pen *pen, const char *path)
{
    struct culex_run *run = pen_submit(pen, "bounded_stores", 50, path);
    pen_await(pen, run);
    if (run->end.event == CULEX_EVENT_CRASH)
        assert_string_equal(run->end.text, together);
    return run->end.event;
}

/* Files in memory are charged to the group they were written in, for as long as they are there. */
static void test_files_in_memory_fail_one_run_and_not_all(void **state)
{
    struct pen *pen = place_open(state);
    enum { COUNT = 4 };
    enum culex_run_event ends[COUNT];
    char path[64];
    for (int i = 0; i < COUNT; i++) {
        snprintf(path, sizeof path, "/dev/shm/culex-%ld-%d", (long)getpid(), i);
        ends[i] = stored(pen, path);
    }
    for (int i = 0; i < COUNT; i++) {
        snprintf(path, sizeof path, "/dev/shm/culex-%ld-%d", (long)getpid(), i);
        unlink(path);
    }
    assert_int_equal(ends[0], CULEX_EVENT_DONE);
    assert_int_equal(ends[1], CULEX_EVENT_CRASH);
    assert_int_equal(ends[2], CULEX_EVENT_DONE);
    assert_int_equal(ends[3], CULEX_EVENT_CRASH);
}

static void test_limit_above_the_worker_is_not_the_jobs(void **state)
{
    struct pen *pen = place_open(state);
    struct place *place = *state;
    assert_true(file_write(place->dir, "memory.swap.max", "0") || errno == ENOENT);
    static const char text[] = "killed by SIGKILL (out of memory: not for a limit of the job";
    assert_true(file_write(place->dir, "memory.max", "100M"));
    assert_non_null(strstr(pen_expect(pen, "crowds", 6, CULEX_EVENT_CRASH), text));
    assert_true(file_write(place->dir, "memory.max", "40M"));
    assert_non_null(strstr(pen_expect(pen, "bounded_crowds", 1, CULEX_EVENT_CRASH), text));
    assert_true(file_write(place->dir, "memory.max", "max"));
    pen_expect(pen, "crowds", 2, CULEX_EVENT_DONE);
}

static void test_directory_with_processes_in_it_is_refused(void **state)
{
    struct place *place = place_needed(state);
    pid_t pid = inmate_fork(place->dir, false);
    refusal_expect(place->dir, true, "processes are in the directory itself");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, place_setup, place_teardown)

static int test_memory(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_processes_together_exceed_the_limit),
        CASE(test_one_process_meets_its_own_limit_first),
        CASE(test_limit_follows_the_job),
        CASE(test_run_is_not_charged_for_what_another_left),
        CASE(test_files_in_memory_fail_one_run_and_not_all),
        CASE(test_limit_above_the_worker_is_not_the_jobs),
        CASE(test_directory_with_processes_in_it_is_refused),
    };
    if (has_memory && !CULEX_HAS_ASAN)
        return cmocka_run_group_tests(tests, NULL, NULL);
    fprintf(stderr, "skipped: no cgroup v2 here in which memory is counted, or AddressSanitizer's "
                    "own memory is in the way\n");
    return 77;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        CASE(test_directory_that_is_none_is_refused),
        CASE(test_directory_of_cgroup_v1_is_refused),
        CASE(test_directory_without_the_memory_controller_is_refused),
        CASE(test_directory_of_another_user_is_refused),
        CASE(test_worker_outside_of_the_directory_is_refused),
        CASE(test_delegated_directory_is_enough),
        CASE(test_directory_that_is_removed_under_way_is_told_once),
        CASE(test_sibling_dies_with_its_run),
        CASE(test_sibling_dies_with_the_child_that_crashed),
        CASE(test_sibling_that_hides_dies_with_the_child_that_crashed),
        CASE(test_sibling_dies_with_the_zygote),
        CASE(test_handlers_are_inside_and_the_worker_is_not),
        CASE(test_killed_worker_leaves_no_group),
        CASE(test_next_worker_ends_what_a_dead_one_left),
        CASE(test_group_ends_with_the_worker),
    };
    root_find();
    if (argc > 1 && strcmp(argv[1], "memory") == 0)
        return test_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
