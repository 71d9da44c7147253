/* The file of a spool: whose it is, when it is full, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/client_private.h"
#include "client/spooling.h"
#include "spool_scene.h"

enum { SOME = 30, MANY = 1000 };

static void test_a_full_spool_refuses_and_loses_nothing(void **state)
{
    struct scene *scene = *state;
    culex_error error = {0};
    redis_server_kill(&scene->server);
    scene->client = client_open(scene, 2);
    number_add(scene->client, 0, CULEX_ENQUEUE_SPOOLED);
    number_add(scene->client, 1, CULEX_ENQUEUE_SPOOLED);
    assert_int_equal(number_try(scene->client, "q", 2, NULL, &error), CULEX_EFULL);
    assert_non_null(strstr(error.text, "is full, with 2 runs"));
    assert_true(redis_server_restart(&scene->server));
    forward_all(scene->client);
    claims_expect(scene, "q", 0, 2);
}

/* Of this program, SQLite's included. */
static bool disk_confirms = true;

static int sync_or_fail(long call, int fd)
{
    if (disk_confirms)
        return (int)syscall(call, fd);
    errno = EIO;
    return -1;
}

int fsync(int fd)
{
    return sync_or_fail(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return sync_or_fail(SYS_fdatasync, fd);
}

static void test_what_the_disk_does_not_confirm_may_be_there(void **state)
{
    struct scene *scene = *state;
    culex_error error = {0};
    redis_server_kill(&scene->server);
    scene->client = client_open(scene, 0);
    number_add(scene->client, 0, CULEX_ENQUEUE_SPOOLED);
    disk_confirms = false;
    culex_status status = number_try(scene->client, "q", 1, NULL, &error);
    disk_confirms = true;
    assert_int_equal(status, CULEX_ESTORE);
    assert_non_null(strstr(error.text, "may be so or not"));
    assert_null(strstr(error.text, "nothing was"));
    uint64_t runs = stats_of(scene->client).runs;
    assert_in_range(runs, 1, 2);
    assert_true(redis_server_restart(&scene->server));
    forward_all(scene->client);
    claims_expect(scene, "q", 0, (size_t)runs);
}

/* The limit of a file's size, at which a write fails as on a full disk. */
static void test_a_full_disk_refuses_and_loses_nothing(void **state)
{
    struct scene *scene = *state;
    struct rlimit before, tight;
    struct stat info;
    culex_error error = {0};
    int64_t n = 0;
    redis_server_kill(&scene->server);
    scene->client = client_open(scene, 0);
    for (; n < SOME; n++)
        number_add(scene->client, n, CULEX_ENQUEUE_SPOOLED);
    assert_int_equal(stat(scene->spool, &info), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    tight = before;
    tight.rlim_cur = (rlim_t)info.st_size;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    culex_status status = CULEX_OK;
    for (; status == CULEX_OK && n < 10000; n += status == CULEX_OK)
        status = number_try(scene->client, "q", n, NULL, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, CULEX_EFULL);
    assert_non_null(strstr(error.text, "make room"));
    assert_int_equal(stats_of(scene->client).runs, n);
    assert_true(redis_server_restart(&scene->server));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    forward_all(scene->client); /* the journal has its space */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    claims_expect(scene, "q", 0, (size_t)n);
}

/* --- a disk of its own, which is full --------------------------------------------------------- */

static void text_put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    if (fd >= 0 && write(fd, text, strlen(text)) < 0)
        perror(path);
    if (fd >= 0)
        close(fd);
}

/* A small disk for the spool; false where nothing may be mounted. */
static bool disk_mount(struct scene *scene)
{
    char folder[100], map[64];
    uid_t user = getuid();
    if (unshare(CLONE_NEWNS) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            return false;
        snprintf(map, sizeof map, "0 %u 1", user);
        text_put("/proc/self/uid_map", map);
    }
    snprintf(folder, sizeof folder, "%s/disk", scene->server.folder);
    if (mkdir(folder, 0700) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", folder, "tmpfs", 0, "size=2m") != 0)
        return false;
    snprintf(scene->spool, sizeof scene->spool, "%s/spool", folder);
    return true;
}

static void disk_name(const struct scene *scene, const char *name, char ret_path[160])
{
    snprintf(ret_path, 160, "%s/disk/%s", scene->server.folder, name);
}

/* With a file that takes all that is left. */
static void disk_fill(const struct scene *scene)
{
    char path[160], bytes[4096] = {1};
    disk_name(scene, "rest", path);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    while (write(fd, bytes, sizeof bytes) > 0)
        ;
    assert_int_equal(errno, ENOSPC);
    close(fd);
}

static void disk_unmount(struct scene *scene)
{
    char folder[160];
    culex_client_close(scene->client);
    scene->client = NULL;
    disk_name(scene, "", folder);
    assert_int_equal(umount2(folder, MNT_DETACH), 0);
}

/* Runs that wait on a full disk; false where there can be none. */
static bool disk_scene_begin(struct scene *scene)
{
    if (!disk_mount(scene))
        return false;
    redis_server_kill(&scene->server);
    scene->client = client_open(scene, 0);
    for (int64_t n = 0; n < MANY; n++)
        number_add(scene->client, n, CULEX_ENQUEUE_SPOOLED);
    return true;
}

static void test_a_full_disk_forwards_all_that_it_has__where_it_may_mount(void **state)
{
    struct scene *scene = *state;
    if (!disk_scene_begin(scene))
        skip();
    disk_fill(scene);
    culex_status status = CULEX_OK;
    int64_t count = MANY;
    for (; status == CULEX_OK && count < 20000; count += status == CULEX_OK)
        status = number_try(scene->client, "q", count, NULL, NULL);
    assert_int_equal(status, CULEX_EFULL);
    assert_true(redis_server_restart(&scene->server));
    forward_all(scene->client);
    claims_expect(scene, "q", 0, (size_t)count);
    disk_unmount(scene);
}

typedef culex_status (*settle_fn)(culex_client *client, uint64_t number, uint64_t *ret_count,
                                  culex_error *error);

static void aside_settle(struct scene *scene, settle_fn settle)
{
    uint64_t count = 0;
    culex_error error = {0};
    struct culex_spool *file = scene->client->spooling->file;
    for (int64_t n = 1; n <= MANY; n++) {
        const struct culex_spool_change aside = {
            .number = n, .fate = CULEX_SPOOL_ASIDE, .text = "for this test"};
        assert_int_equal(culex__spool_change(file, &aside, 1, NULL), CULEX_OK);
    }
    assert_int_equal(stats_of(scene->client).aside, MANY);
    disk_fill(scene);
    if (settle(scene->client, 0, &count, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(count, MANY);
    assert_int_equal(stats_of(scene->client).aside, 0);
}

static void test_a_full_disk_puts_all_back__where_it_may_mount(void **state)
{
    struct scene *scene = *state;
    if (!disk_scene_begin(scene))
        skip();
    aside_settle(scene, culex_client_spool_again);
    assert_int_equal(stats_of(scene->client).runs, MANY);
    disk_unmount(scene);
}

static void test_a_full_disk_drops_all__where_it_may_mount(void **state)
{
    struct scene *scene = *state;
    if (!disk_scene_begin(scene))
        skip();
    aside_settle(scene, culex_client_spool_drop);
    assert_int_equal(stats_of(scene->client).bytes, 0);
    disk_unmount(scene);
}

static void test_a_disk_that_is_read_only_is_told__where_it_may_mount(void **state)
{
    struct scene *scene = *state;
    culex_client *other = NULL;
    culex_error error = {0};
    char folder[160];
    const culex_client_options options = {.spool = scene->spool};
    if (!disk_mount(scene))
        skip();
    redis_server_kill(&scene->server);
    scene->client = client_open(scene, 0);
    number_add(scene->client, 0, CULEX_ENQUEUE_SPOOLED);
    disk_name(scene, "", folder);
    culex_client_close(scene->client);
    scene->client = NULL;
    assert_int_equal(mount(NULL, folder, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    assert_int_equal(culex_client_open(scene->server.url, &options, &other, &error),
                     CULEX_EREADONLY);
    assert_non_null(strstr(error.text, "cannot be written"));
    assert_int_equal(mount(NULL, folder, NULL, MS_REMOUNT, NULL), 0);
    assert_true(redis_server_restart(&scene->server));
    scene->client = client_open(scene, 0);
    forward_all(scene->client);
    claims_expect(scene, "q", 0, 1);
    disk_unmount(scene);
}

/* --- files that are none ---------------------------------------------------------------------- */

static culex_status open_try(struct scene *scene, const char *path, culex_error *error)
{
    culex_client *client = NULL;
    const culex_client_options options = {.timeout_ms = 2000, .spool = path};
    culex_status status = culex_client_open(scene->server.url, &options, &client, error);
    culex_client_close(client);
    return status;
}

static void file_write(const char *path, const char *text, size_t len)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static void test_files_that_are_no_spool_are_refused(void **state)
{
    struct scene *scene = *state;
    culex_error error = {0};
    char path[160], url[200], noise[8192];
    culex_client *other = NULL;
    memset(noise, 'x', sizeof noise);
    snprintf(path, sizeof path, "%s/noise", scene->server.folder);
    file_write(path, noise, sizeof noise);
    assert_int_equal(open_try(scene, path, &error), CULEX_ECORRUPT);
    assert_non_null(strstr(error.text, "noise"));
    assert_int_equal(open_try(scene, "redis://u:hunter2@h/0", &error), CULEX_EUSAGE);
    assert_non_null(strstr(error.text, "is given as the spool looks like a key or a URL"));
    snprintf(path, sizeof path, "%s/store", scene->server.folder);
    snprintf(url, sizeof url, "sqlite:%s", path);
    assert_int_equal(culex_client_open(url, NULL, &other, NULL), CULEX_OK);
    culex_client_close(other);
    assert_int_equal(open_try(scene, path, &error), CULEX_ECORRUPT);
    assert_non_null(strstr(error.text, "is a store, not a spool"));
    assert_int_equal(open_try(scene, scene->server.folder, &error), CULEX_EINVAL);
    assert_int_equal(open_try(scene, "/nowhere/spool", &error), CULEX_ECONNECT);
    assert_int_equal(open_try(scene, "", &error), CULEX_OK + CULEX_EINVAL);
}

static void test_a_damaged_spool_is_told(void **state)
{
    struct scene *scene = *state;
    culex_error error = {0};
    redis_server_kill(&scene->server);
    culex_client *client = client_open(scene, 0);
    for (int64_t n = 0; n < SOME; n++)
        number_add(client, n, CULEX_ENQUEUE_SPOOLED);
    culex_client_close(client);
    assert_true(redis_server_restart(&scene->server));
    assert_int_equal(truncate(scene->spool, 6000), 0);
    assert_int_equal(open_try(scene, scene->spool, &error), CULEX_ECORRUPT);
}

static void test_a_spool_that_was_removed_takes_nothing(void **state)
{
    struct scene *scene = *state;
    culex_error error = {0};
    redis_server_kill(&scene->server);
    scene->client = client_open(scene, 0);
    assert_int_equal(unlink(scene->spool), 0);
    assert_int_equal(number_try(scene->client, "q", 0, NULL, &error), CULEX_EMOVED);
}

static void test_a_spool_serves_one_store(void **state)
{
    struct scene *scene = *state;
    culex_error error = {0};
    culex_client *other = NULL;
    redis_server_kill(&scene->server);
    scene->client = client_open(scene, 0);
    number_add(scene->client, 0, CULEX_ENQUEUE_SPOOLED);
    const culex_client_options options = {.spool = scene->spool, .prefix = "other"};
    assert_int_equal(culex_client_open(scene->server.url, &options, &other, &error), CULEX_EINVAL);
    assert_non_null(strstr(error.text, "for another store"));
}

static culex_client *client_open_prefixed(struct scene *scene, const char *prefix)
{
    culex_client *client = NULL;
    culex_error error = {0};
    const culex_client_options options = {
        .timeout_ms = PATIENT_MS, .spool = scene->spool, .prefix = prefix};
    if (culex_client_open(scene->server.url, &options, &client, &error) != CULEX_OK)
        fail_msg("%s", error.text);
    return client;
}

/* Both were opened while the file was empty. */
static void test_clients_of_two_stores_never_take_each_others_runs(void **state)
{
    struct scene *scene = *state;
    culex_error error = {0};
    redis_server_kill(&scene->server);
    scene->client = client_open(scene, 0);
    culex_client *other = client_open_prefixed(scene, "other");
    number_add(scene->client, 0, CULEX_ENQUEUE_SPOOLED);
    assert_int_equal(number_try(other, "q", 7, NULL, &error), CULEX_EINVAL);
    assert_non_null(strstr(error.text, "1 runs for another store"));
    culex_spool_stats stats;
    assert_int_equal(culex_client_spool_stats(other, &stats, NULL), CULEX_EINVAL);
    assert_true(redis_server_restart(&scene->server));
    assert_int_equal(culex_client_forward(other, 0, NULL, NULL), CULEX_EINVAL);
    forward_all(scene->client);
    claims_expect(scene, "q", 0, 1);
    redis_server_kill(&scene->server);
    number_add(other, 7, CULEX_ENQUEUE_SPOOLED); /* it is empty, and whose who comes first */
    assert_int_equal(number_try(scene->client, "q", 1, NULL, NULL), CULEX_EINVAL);
    culex_client_close(other);
}

/* What another client asks of it between a look and what follows from that. */
static void test_a_spool_that_changes_its_store_gives_out_nothing(void **state)
{
    struct scene *scene = *state;
    static struct culex_spool_batch batch;
    const struct culex_spool_change gone = {.number = 1, .fate = CULEX_SPOOL_GONE};
    uint64_t count = 0;
    redis_server_kill(&scene->server);
    scene->client = client_open(scene, 0);
    culex_client *other = client_open_prefixed(scene, "other");
    number_add(scene->client, 0, CULEX_ENQUEUE_SPOOLED);
    struct culex_spool *file = other->spooling->file;
    int64_t oldest_ms;
    assert_int_equal(culex__spool_next(file, "", 1, &batch, NULL), CULEX_EINVAL);
    assert_int_equal(culex__spool_next_aside(file, 0, &batch, NULL), CULEX_EINVAL);
    assert_int_equal(culex__spool_oldest(file, &oldest_ms, NULL), CULEX_EINVAL);
    assert_int_equal(culex__spool_change(file, &gone, 1, NULL), CULEX_EINVAL);
    assert_int_equal(culex__spool_again(file, 0, &count, NULL), CULEX_EINVAL);
    assert_int_equal(culex__spool_drop(file, 0, &count, NULL), CULEX_EINVAL);
    assert_int_equal(stats_of(scene->client).runs, 1);
    culex_client_close(other);
}

static void test_a_variable_that_is_misspelt_is_told(void **state)
{
    struct scene *scene = *state;
    culex_error error = {0};
    assert_int_equal(setenv("CULEX_SPOL", scene->spool, 1), 0);
    culex_status status = culex_client_open(scene->server.url, NULL, &scene->client, &error);
    culex_status in_memory = culex_client_open("memory:", NULL, &scene->client, NULL);
    assert_int_equal(unsetenv("CULEX_SPOL"), 0);
    assert_int_equal(status, CULEX_EUSAGE);
    assert_non_null(strstr(error.text, "did you mean CULEX_SPOOL?"));
    assert_int_equal(in_memory, CULEX_OK);
}

static void test_a_store_in_memory_has_no_use_for_it(void **state)
{
    struct scene *scene = *state;
    const culex_client_options options = {.spool = scene->spool};
    culex_spool_stats stats;
    assert_int_equal(culex_client_open("memory:", &options, &scene->client, NULL), CULEX_OK);
    assert_int_equal(culex_client_spool_stats(scene->client, &stats, NULL), CULEX_EINVAL);
    assert_int_equal(access(scene->spool, F_OK), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_begin, scene_end)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_full_spool_refuses_and_loses_nothing),
        TEST(test_what_the_disk_does_not_confirm_may_be_there),
        TEST(test_a_full_disk_refuses_and_loses_nothing),
        TEST(test_a_full_disk_forwards_all_that_it_has__where_it_may_mount),
        TEST(test_a_full_disk_puts_all_back__where_it_may_mount),
        TEST(test_a_full_disk_drops_all__where_it_may_mount),
        TEST(test_a_disk_that_is_read_only_is_told__where_it_may_mount),
        TEST(test_files_that_are_no_spool_are_refused),
        TEST(test_a_damaged_spool_is_told),
        TEST(test_a_spool_that_was_removed_takes_nothing),
        TEST(test_a_spool_serves_one_store),
        TEST(test_clients_of_two_stores_never_take_each_others_runs),
        TEST(test_a_spool_that_changes_its_store_gives_out_nothing),
        TEST(test_a_variable_that_is_misspelt_is_told),
        TEST(test_a_store_in_memory_has_no_use_for_it),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
