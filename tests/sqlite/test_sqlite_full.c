/* A disk that is really full: a small tmpfs in a mount namespace of this test's own. Acks, beats
 * and releases go on, enqueues are refused, and when there is room again all goes on by itself. */
#include "fixture.h"

#include <culex/worker.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ONE "aaaaaaaaaaaaaaaa"
#define TWO "bbbbbbbbbbbbbbbb"

enum { GUARDED = 3040001, MIB = 1024 * 1024, DISK_MIB = 22, SKIPPED = 77 /* to meson */ };

static bool may_mount;

/* --- the disk -------------------------------------------------------------------------- */

static void write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    if (fd >= 0 && write(fd, text, strlen(text)) < 0)
        perror(path);
    if (fd >= 0)
        close(fd);
}

/* As root, or as anybody where the kernel lets anybody have a namespace. */
static bool enter_namespace(void)
{
    char map[64];
    uid_t user = getuid();
    gid_t group = getgid();
    if (unshare(CLONE_NEWNS) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            return false;
        snprintf(map, sizeof map, "0 %u 1", user);
        write_text("/proc/self/uid_map", map);
        write_text("/proc/self/setgroups", "deny");
        snprintf(map, sizeof map, "0 %u 1", group);
        write_text("/proc/self/gid_map", map);
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* A namespace is not always worth a mount: containers may forbid it all the same. */
static bool try_mount(void)
{
    char folder[] = "/tmp/culex-sqlite-XXXXXX";
    assert_non_null(mkdtemp(folder));
    bool is_mounted = mount("tmpfs", folder, "tmpfs", 0, "size=1m") == 0;
    int cause = errno;
    if (is_mounted)
        umount2(folder, MNT_DETACH);
    rmdir(folder);
    errno = cause;
    return is_mounted;
}

static int filler_open(struct fixture *fixture)
{
    char path[128];
    snprintf(path, sizeof path, "%s/filler", fixture->folder);
    return open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
}

static void disk_fill(struct fixture *fixture)
{
    static char bytes[65536];
    int fd = filler_open(fixture);
    assert_true(fd >= 0);
    for (size_t size = sizeof bytes; size >= 512; size /= 2) {
        while (write(fd, bytes, size) > 0)
            ;
        assert_int_equal(errno, ENOSPC);
    }
    close(fd);
}

static void disk_relieve(struct fixture *fixture)
{
    char path[128];
    snprintf(path, sizeof path, "%s/filler", fixture->folder);
    assert_int_equal(unlink(path), 0);
}

static int64_t reserve_size(struct fixture *fixture)
{
    struct stat info;
    char path[128];
    snprintf(path, sizeof path, "%s-reserve", fixture->path);
    return stat(path, &info) == 0 ? info.st_size : -1;
}

/* --- runs ------------------------------------------------------------------------------ */

static culex_status try_enqueue(struct fixture *fixture, struct culex_backend *store, size_t len,
                                culex_error *error)
{
    static const char payload[3000];
    struct culex_new_run run = fixture_run(fixture, payload, len);
    struct culex_enqueue_result result;
    run.keep_success_ms = 86400000;
    return store->ops->enqueue(store, "q", &run, 1, &result, error);
}

static int64_t enqueue_some(struct fixture *fixture, struct culex_backend *store, int most)
{
    culex_error error = {.text = ""};
    int64_t stored = 0;
    culex_status status = CULEX_OK;
    for (int i = 0; i < most && status == CULEX_OK; i++) {
        status = try_enqueue(fixture, store, i % 2 == 0 ? 700 : 20, &error);
        stored += status == CULEX_OK;
    }
    if (status != CULEX_OK && status != CULEX_EFULL)
        fail_msg("enqueue: %s", error.text);
    return stored;
}

/* Claims up to eight and settles them as `event`: how many there were. */
static size_t work_off(struct culex_backend *store, const char *session, enum culex_run_event event)
{
    struct culex_ack acks[8];
    struct culex_step_reply reply = fixture_step(store, "q", session, 8, NULL, 0);
    size_t count = reply.grant_count;
    for (size_t i = 0; i < count; i++)
        acks[i] = (struct culex_ack){
            .id = reply.grants[i].id, .attempt = reply.grants[i].attempt, .event = event};
    store->ops->step_release(store, &reply);
    reply = fixture_step(store, "q", session, 0, acks, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(reply.acks[i], CULEX_ANSWER_OK);
    store->ops->step_release(store, &reply);
    return count;
}

/* --- one process ----------------------------------------------------------------------- */

static void beat_and_release(struct culex_backend *store)
{
    struct culex_step_reply reply = fixture_step(store, "q", TWO, 1, NULL, 0);
    assert_int_equal(reply.grant_count, 1);
    struct culex_beat beat = {.id = reply.grants[0].id, .attempt = reply.grants[0].attempt};
    struct culex_ack ack = {.id = beat.id, .attempt = beat.attempt, .event = CULEX_EVENT_RELEASE};
    store->ops->step_release(store, &reply);
    struct culex_step step = {.queue = "q",
                              .session = TWO,
                              .nonce = fixture_nonce(),
                              .lease_ms = 60000,
                              .beats = &beat,
                              .beat_count = 1};
    culex_error error = {.text = ""};
    if (store->ops->step(store, &step, &reply, &error) != CULEX_OK)
        fail_msg("beat: %s", error.text);
    assert_int_equal(reply.beats[0], CULEX_ANSWER_OK);
    store->ops->step_release(store, &reply);
    reply = fixture_step(store, "q", TWO, 0, &ack, 1);
    assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
    store->ops->step_release(store, &reply);
}

static void drain_on_full_disk(struct fixture *fixture, int version)
{
    culex_error error;
    fixture->store = fixture_open(fixture, version);
    struct culex_backend *store = fixture->store;
    assert_int_equal(reserve_size(fixture), CULEX__SQLITE_RESERVE_BYTES);
    int64_t stored = enqueue_some(fixture, store, 600);
    assert_int_equal(stored, 600);
    disk_fill(fixture);
    stored += enqueue_some(fixture, store, 5000);
    assert_int_equal(reserve_size(fixture),
                     CULEX__SQLITE_RESERVE_BYTES); /* no producer spends it */
    int64_t done = 0;
    for (int i = 0; i < 30; i++) {
        beat_and_release(store);
        done += (int64_t)work_off(store, ONE, CULEX_EVENT_DONE);
    }
    assert_int_equal(done, 240);
    assert_true(reserve_size(fixture) < CULEX__SQLITE_RESERVE_BYTES);
    assert_int_equal(try_enqueue(fixture, store, 20, &error), CULEX_EFULL);
    assert_non_null(strstr(error.text, "reserve of 8 MiB"));
    assert_non_null(strstr(error.text, "q.db"));
    disk_relieve(fixture);
    assert_int_equal(try_enqueue(fixture, store, 20, &error), CULEX_OK);
    assert_int_equal(reserve_size(fixture), CULEX__SQLITE_RESERVE_BYTES);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM run"), stored + 1);
    assert_int_equal(fixture_ask(fixture, "SELECT count(*) FROM run WHERE state = 'D'"), done);
    assert_sound(fixture);
}

static void test_disk_full__workers_drain_and_enqueues_go_on_after_relief(void **state)
{
    drain_on_full_disk(*state, GUARDED);
}

static void test_disk_full__the_same_with_checkpoints_by_sqlite(void **state)
{
    drain_on_full_disk(*state, CULEX__SQLITE_WAL_RESET_FIXED);
}

static void reserve_set(struct fixture *fixture, int64_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s-reserve", fixture->path);
    assert_int_equal(truncate(path, size), 0);
}

/* With the last of the reserve in use, what runs may still report, but nothing new is begun. */
static void test_disk_full__nothing_is_claimed_from_the_last_half(void **state)
{
    struct fixture *fixture = *state;
    fixture->store = fixture_open(fixture, GUARDED);
    struct culex_backend *store = fixture->store;
    enqueue_some(fixture, store, 4);
    struct culex_step_reply reply = fixture_step(store, "q", ONE, 1, NULL, 0);
    assert_int_equal(reply.grant_count, 1);
    struct culex_ack ack = {.id = reply.grants[0].id, .attempt = 1, .event = CULEX_EVENT_DONE};
    store->ops->step_release(store, &reply);
    disk_fill(fixture);
    reserve_set(fixture, CULEX__SQLITE_RESERVE_BYTES / 2);
    reply = fixture_step(store, "q", ONE, 1, NULL, 0);
    assert_int_equal(reply.grant_count, 1);
    store->ops->step_release(store, &reply);
    reserve_set(fixture, 0);
    reply = fixture_step(store, "q", ONE, 1, &ack, 1);
    assert_int_equal(reply.acks[0], CULEX_ANSWER_OK);
    assert_int_equal(reply.grant_count, 0);
    store->ops->step_release(store, &reply);
    disk_relieve(fixture);
    reply = fixture_step(store, "q", ONE, 1, NULL, 0);
    assert_int_equal(reply.grant_count, 1);
    store->ops->step_release(store, &reply);
    assert_int_equal(reserve_size(fixture), CULEX__SQLITE_RESERVE_BYTES);
}

/* --- several processes ----------------------------------------------------------------- */

/* Works until nothing is left; tells over `out` how many were done. */
static void work_in_child(struct fixture *fixture, int number, int in, int out)
{
    char session[17], go;
    snprintf(session, sizeof session, "%016d", number);
    struct culex_backend *store = fixture_open(fixture, GUARDED);
    int64_t done = 0;
    size_t count = 0;
    if (read(in, &go, 1) != 1)
        _exit(2);
    do {
        count = work_off(store, session, CULEX_EVENT_DONE);
        done += (int64_t)count;
    } while (count > 0);
    if (write(out, &done, sizeof done) != (ssize_t)sizeof done)
        _exit(3);
    store->ops->close(store);
    _exit(0);
}

static void test_disk_full__several_processes_lose_nothing(void **state)
{
    enum { WORKERS = 3 };
    struct fixture *fixture = *state;
    int in[2], out[2];
    pid_t children[WORKERS];
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    for (int i = 0; i < WORKERS; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0)
            work_in_child(fixture, i, in[0], out[1]);
    }
    fixture->store = fixture_open(fixture, GUARDED);
    int64_t stored = enqueue_some(fixture, fixture->store, 400);
    disk_fill(fixture);
    stored += enqueue_some(fixture, fixture->store, 5000);
    assert_int_equal(write(in[1], "123", WORKERS), WORKERS);
    int64_t done = 0, part = 0;
    for (int i = 0; i < WORKERS; i++) {
        int how;
        assert_int_equal(waitpid(children[i], &how, 0), children[i]);
        assert_int_equal(how, 0);
        assert_int_equal(read(out[0], &part, sizeof part), sizeof part);
        done += part;
    }
    for (int i = 0; i < 2; i++) {
        close(in[i]);
        close(out[i]);
    }
    /* They may have come to the last half of the reserve, from which nothing is claimed. */
    assert_in_range(done, 1, stored);
    disk_relieve(fixture);
    while ((part = (int64_t)work_off(fixture->store, ONE, CULEX_EVENT_DONE)) > 0)
        done += part;
    assert_int_equal(done, stored);
    culex_error error;
    assert_int_equal(try_enqueue(fixture, fixture->store, 20, &error), CULEX_OK);
    assert_int_equal(
        fixture_ask(fixture, "SELECT count(*) FROM run WHERE state = 'D' AND attempt = 1"), stored);
    assert_sound(fixture);
}

/* --- a whole worker -------------------------------------------------------------------- */

struct parcel {
    int64_t n; /* below zero: the worker is to stop */
};

static const culex_field parcel_fields[] = {{.name = "n",
                                             .wire = "n",
                                             .kind = CULEX_KIND_INT64,
                                             .flags = CULEX_FIELD_REQUIRED,
                                             .offset = offsetof(struct parcel, n)}};
static const culex_struct_type parcel_struct = {"t.parcel", sizeof(struct parcel), parcel_fields,
                                                1};
static const culex_job_type parcel_type = {.descriptor_version = CULEX_DESCRIPTOR_VERSION,
                                           .name = "t.parcel",
                                           .wire = "t.parcel",
                                           .queue = "q",
                                           .params = &parcel_struct,
                                           .fingerprint = 1,
                                           .priority = 5,
                                           .keep_success_ms = 86400000,
                                           .keep_failure_ms = 86400000};

/* A handler says that it has begun, and waits until it may end. */
struct gate {
    culex_worker *worker;
    int begun, may_end;
};

static void parcel_handler(void)
{
}

static culex_outcome parcel_call(culex_run *run, culex_handler_fn handler, const void *params,
                                 void *user)
{
    const struct gate *gate = user;
    char byte = 0;
    (void)handler;
    if (((const struct parcel *)params)->n < 0) {
        culex_worker_stop(gate->worker);
        return CULEX_DONE;
    }
    if (write(gate->begun, &byte, 1) != 1 || read(gate->may_end, &byte, 1) < 0)
        return culex_run_fail(run, "the pipes are closed");
    return CULEX_DONE;
}

static void worker_in_child(const char *url, int begun, int may_end)
{
    culex_error error = {.text = ""};
    culex_worker_options options = {.url = url,
                                    .concurrency = 4,
                                    .batch = 4,
                                    .isolation = CULEX_ISOLATION_NONE,
                                    .lease_ms = 3000,
                                    .log_level = 1};
    struct gate gate = {.begun = begun, .may_end = may_end};
    if (culex_worker_create(&options, &gate.worker, &error) == CULEX_OK &&
        culex_worker_register(gate.worker, &parcel_type, parcel_call, parcel_handler, &gate) ==
            CULEX_OK &&
        culex_worker_run(gate.worker, &error) == CULEX_OK) {
        culex_worker_free(gate.worker);
        _exit(0);
    }
    fprintf(stderr, "worker: %s\n", error.text);
    _exit(2);
}

static culex_status send_parcel(culex_client *client, int64_t n, culex_error *error)
{
    struct parcel parcel = {n};
    return culex_client_enqueue(client, &parcel_type, &parcel, NULL, NULL, error);
}

static culex_queue_stats wait_until_done(culex_client *client, uint64_t count)
{
    culex_queue_stats stats = {.done = 0};
    culex_error error = {.text = ""};
    for (int i = 0; i < 6000 && stats.done < count; i++) {
        if (culex_client_stats(client, "q", &stats, &error) != CULEX_OK)
            fail_msg("stats: %s", error.text);
        if (stats.done < count)
            poll(NULL, 0, 10);
    }
    assert_true(stats.done >= count);
    return stats;
}

/* Four handlers run when the disk becomes full; they come to their end on it, and when there is
 * room the same producer and worker go on. */
static void test_disk_full__worker_reports_all_and_goes_on_after_relief(void **state)
{
    struct fixture *fixture = *state;
    int begun[2], may_end[2];
    char url[128], bytes[4];
    culex_client *client = NULL;
    culex_error error = {.text = ""};
    uint64_t sent = 0;
    snprintf(url, sizeof url, "sqlite:%s", fixture->path);
    assert_int_equal(pipe(begun), 0);
    assert_int_equal(pipe(may_end), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(may_end[1]);
        worker_in_child(url, begun[1], may_end[0]);
    }
    assert_int_equal(culex_client_open(url, NULL, &client, &error), CULEX_OK);
    for (; sent < 4; sent++)
        assert_int_equal(send_parcel(client, 1, &error), CULEX_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(read(begun[0], bytes, 1), 1);
    disk_fill(fixture);
    culex_status status;
    while ((status = send_parcel(client, 1, &error)) == CULEX_OK && sent < 5000)
        sent++;
    assert_int_equal(status, CULEX_EFULL);
    close(may_end[1]); /* all may end */
    wait_until_done(client, 4);
    disk_relieve(fixture);
    /* The worker may be at it in the same moment. */
    for (int i = 0; i < 1000 && (status = send_parcel(client, 1, &error)) == CULEX_EFULL; i++)
        poll(NULL, 0, 10);
    assert_int_equal(status, CULEX_OK);
    culex_queue_stats stats = wait_until_done(client, sent + 1);
    assert_int_equal(stats.done, sent + 1);
    assert_int_equal(stats.failed, 0);
    assert_int_equal(reserve_size(fixture), CULEX__SQLITE_RESERVE_BYTES);
    assert_int_equal(send_parcel(client, -1, &error), CULEX_OK);
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    culex_client_close(client);
    close(begun[0]);
    close(begun[1]);
    close(may_end[0]);
    assert_sound(fixture);
}

/* --- without a full disk --------------------------------------------------------------- */

static void test_reserve__deleted_file_is_made_again(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    snprintf(path, sizeof path, "%s-reserve", fixture->path);
    fixture->store = fixture_open(fixture, GUARDED);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(enqueue_some(fixture, fixture->store, 1), 1);
    assert_int_equal(reserve_size(fixture), CULEX__SQLITE_RESERVE_BYTES);
}

static void test_reserve__none_when_told_so(void **state)
{
    struct fixture *fixture = *state;
    struct culex_backend *store;
    culex_error error = {.text = ""};
    char url[128];
    snprintf(url, sizeof url, "%s?reserve=0", fixture->path);
    assert_int_equal(culex__sqlite_open(url, false, NULL, &fixture->env, &store, &error), CULEX_OK);
    store->ops->close(store);
    assert_int_equal(reserve_size(fixture), -1);
    snprintf(url, sizeof url, "%s?reserve=3", fixture->path);
    assert_int_equal(culex__sqlite_open(url, false, NULL, &fixture->env, &store, &error),
                     CULEX_EURL);
    assert_non_null(strstr(error.text, "'reserve=3'"));
}

/* --- runner ---------------------------------------------------------------------------- */

static int setup_disk(void **state)
{
    char size[32];
    fixture_setup(state);
    struct fixture *fixture = *state;
    snprintf(size, sizeof size, "size=%dm", DISK_MIB);
    if (may_mount && mount("tmpfs", fixture->folder, "tmpfs", 0, size) == 0)
        return 0;
    fprintf(stderr, "no disk of our own may be mounted here: %s\n", strerror(errno));
    fixture_release(fixture);
    free(fixture);
    *state = NULL;
    return -1;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    if (fixture == NULL)
        return 0;
    if (fixture->store != NULL)
        fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
    umount2(fixture->folder, MNT_DETACH);
    fixture_release(fixture);
    free(fixture);
    return 0;
}

#define ON_DISK(name) cmocka_unit_test_setup_teardown(name, setup_disk, teardown)
#define TEST(name)    cmocka_unit_test_setup_teardown(name, fixture_setup, teardown)

int main(void)
{
    const struct CMUnitTest everywhere[] = {
        TEST(test_reserve__deleted_file_is_made_again),
        TEST(test_reserve__none_when_told_so),
    };
    const struct CMUnitTest on_disk[] = {
        ON_DISK(test_disk_full__workers_drain_and_enqueues_go_on_after_relief),
        ON_DISK(test_disk_full__the_same_with_checkpoints_by_sqlite),
        ON_DISK(test_disk_full__nothing_is_claimed_from_the_last_half),
        ON_DISK(test_disk_full__several_processes_lose_nothing),
        ON_DISK(test_disk_full__worker_reports_all_and_goes_on_after_relief),
    };
    int failed = cmocka_run_group_tests(everywhere, NULL, NULL);
    may_mount = enter_namespace() && try_mount();
    if (!may_mount) {
        fprintf(stderr, "nothing may be mounted here (%s): full disks are not tested\n",
                strerror(errno));
        return failed != 0 ? failed : SKIPPED;
    }
    return failed + cmocka_run_group_tests(on_disk, NULL, NULL);
}
