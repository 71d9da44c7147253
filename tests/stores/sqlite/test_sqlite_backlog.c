/* A backlog that fills its disk: workers empty it, whatever the sizes, and then the queue takes in
 * again, time after time and by itself. */
#include "disk.h"
#include "fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    GUARDED = 3040001,
    SKIPPED = 77, /* to meson */
    PAYLOAD_MAX = 300000,
    FILLS = 3,
    RUNS_MAX = 400000,
    CLAIM = 32,
    LEASE_MS = 30000,
    STEPS_IN_VAIN = 3,
};

#define WORKER "aaaaaaaaaaaaaaaa"

struct world {
    const char *name;
    enum disk_kind disk;
    int mib;
    size_t payload; /* 0: of all sizes */
    size_t batch;
    bool is_late; /* the worker comes when the disk is full, and the producer has gone */
    int version;
    bool keeps_deleted; /* deleted pages are not overwritten, so that deleting writes little */
};

static size_t payload_size(const struct world *world, int64_t number)
{
    static const size_t mixed[] = {20, 700, 3000, 20, 60000};
    return world->payload > 0 ? world->payload
                              : mixed[(size_t)number % (sizeof mixed / sizeof mixed[0])];
}

/* --- filling ------------------------------------------------------------------------------- */

static culex_status add_batch(struct culex_store *store, const struct world *world, int64_t number,
                              culex_error *error)
{
    static const char payload[PAYLOAD_MAX];
    struct culex_new_run runs[100];
    struct culex_enqueue_result results[100];
    for (size_t i = 0; i < world->batch; i++)
        runs[i] = fixture_run(payload, payload_size(world, number + (int64_t)i));
    culex_status status = store->ops->enqueue(store, "q", NULL, runs, world->batch, results, error);
    for (size_t i = 0; i < world->batch && status == CULEX_OK; i++)
        assert_int_equal(results[i].outcome, CULEX_ENQUEUED_NEW);
    return status;
}

/* A worker that is there meanwhile takes a run now and then. */
static int64_t work_a_little(struct culex_store *store)
{
    struct culex_step_reply reply = fixture_step(store, "q", WORKER, 1, NULL, 0);
    int64_t count = (int64_t)reply.grant_count;
    struct culex_ack ack = {.event = CULEX_EVENT_DONE};
    if (count > 0) {
        ack.id = reply.grants[0].facts.id;
        ack.attempt = reply.grants[0].facts.attempt;
    }
    store->ops->step_release(store, &reply);
    reply = fixture_step(store, "q", WORKER, 0, &ack, (size_t)count);
    store->ops->step_release(store, &reply);
    return count;
}

/* Until the disk is full: how many are there in the end. */
static int64_t fill(struct culex_store *store, struct culex_store *worker,
                    const struct world *world)
{
    enum { BETWEEN = 40 };
    culex_error error = {.text = ""};
    culex_status status = CULEX_OK;
    int64_t stored = 0, taken = 0;
    while ((status = add_batch(store, world, stored, &error)) == CULEX_OK && stored < RUNS_MAX) {
        stored += (int64_t)world->batch;
        if (worker != NULL && stored / (int64_t)world->batch % BETWEEN == 0)
            taken += work_a_little(worker);
    }
    if (status != CULEX_EFULL)
        fail_msg("%s: enqueue: %s", world->name, error.text);
    return stored - taken;
}

/* --- draining ------------------------------------------------------------------------------ */

static culex_status work_batch(struct culex_store *store, struct culex_ack acks[CLAIM],
                               size_t *count, culex_error *error)
{
    struct culex_step_reply reply;
    struct culex_step step = {.queue = "q",
                              .session = WORKER,
                              .nonce = fixture_nonce(),
                              .want = CLAIM,
                              .max_bytes = 4 << 20,
                              .lease_ms = LEASE_MS,
                              .acks = acks,
                              .ack_count = *count};
    culex_status status = store->ops->step(store, &step, &reply, error);
    if (status != CULEX_OK)
        return status;
    for (size_t i = 0; i < *count; i++)
        assert_int_equal(reply.acks[i], CULEX_ANSWER_OK);
    *count = reply.grant_count;
    for (size_t i = 0; i < *count; i++)
        acks[i] = (struct culex_ack){.id = reply.grants[i].facts.id,
                                     .attempt = reply.grants[i].facts.attempt,
                                     .event = CULEX_EVENT_DONE};
    store->ops->step_release(store, &reply);
    return CULEX_OK;
}

/* As long as there are any; the clock goes on, so that those that are done are forgotten. */
static int64_t drain(struct fixture *fixture, struct culex_store *store, const struct world *world)
{
    struct culex_ack acks[CLAIM];
    culex_error error = {.text = ""};
    size_t count = 0;
    int64_t done = 0;
    for (int in_vain = 0; in_vain < STEPS_IN_VAIN;) {
        fixture->now_ms += 20;
        size_t before = count;
        culex_status status = work_batch(store, acks, &count, &error);
        if (status != CULEX_OK && status != CULEX_EFULL)
            fail_msg("%s: step: %s", world->name, error.text);
        done += status == CULEX_OK ? (int64_t)before : 0;
        in_vain = status == CULEX_OK && count > 0 ? 0 : in_vain + 1;
    }
    return done;
}

/* Past every retention. */
static void forget_all(struct fixture *fixture, struct culex_store *store)
{
    fixture->now_ms += 60000 + LEASE_MS;
    for (int i = 0; i < 4000; i++) {
        struct culex_step_reply reply = fixture_step(store, "q", WORKER, 1, NULL, 0);
        store->ops->step_release(store, &reply);
    }
}

static struct culex_store *open_store(struct fixture *fixture, const struct world *world)
{
    struct culex_store *store = fixture_open(fixture, world->version);
    sqlite3 *db = culex__sqlite_of(store)->db;
    if (world->keeps_deleted)
        assert_int_equal(sqlite3_exec(db, "PRAGMA secure_delete=OFF", NULL, NULL, NULL), SQLITE_OK);
    return store;
}

static struct culex_store *hire(struct fixture *fixture, const struct world *world)
{
    size_t released;
    int64_t now_ms;
    culex_error error = {.text = ""};
    struct culex_store *store = open_store(fixture, world);
    if (store->ops->hello(store, "q", "w", WORKER, &released, &now_ms, &error) != CULEX_OK)
        fail_msg("%s: hello: %s", world->name, error.text);
    return store;
}

/* So that there is room to look at the file from outside. */
static void reserve_remove(struct fixture *fixture)
{
    char path[128];
    snprintf(path, sizeof path, "%s-reserve", fixture->path);
    unlink(path);
}

static void fill_and_drain(struct fixture *fixture, const struct world *world)
{
    int64_t first = 0;
    struct culex_store *producer = NULL, *worker = world->is_late ? NULL : hire(fixture, world);
    for (int i = 0; i < FILLS; i++) {
        if (producer == NULL)
            producer = open_store(fixture, world);
        int64_t stored = fill(producer, worker, world);
        first = first > 0 ? first : stored;
        if (world->is_late) {
            producer->ops->close(producer);
            producer = NULL;
            worker = hire(fixture, world);
        }
        int64_t done = drain(fixture, worker, world);
        print_message("%s: %lld stored, %lld done\n", world->name, (long long)stored,
                      (long long)done);
        if (done != stored)
            fail_msg("%s: of %lld runs %lld were done", world->name, (long long)stored,
                     (long long)done);
        if (stored < first / 2)
            fail_msg("%s: took in %lld runs, then only %lld", world->name, (long long)first,
                     (long long)stored);
        forget_all(fixture, worker);
        if (world->is_late) {
            worker->ops->close(worker);
            worker = NULL;
        }
    }
    if (producer != NULL)
        producer->ops->close(producer);
    if (worker != NULL)
        worker->ops->close(worker);
    reserve_remove(fixture);
    assert_sound(fixture);
}

static const struct world worlds[] = {
    {"tmpfs 22 MiB, 20 bytes", DISK_TMPFS, 22, 20, 1, false, GUARDED, false},
    {"tmpfs 22 MiB, 700 bytes, late", DISK_TMPFS, 22, 700, 1, true, GUARDED, false},
    {"tmpfs 22 MiB, 700 bytes, late, batches", DISK_TMPFS, 22, 700, 100, true, GUARDED, false},
    {"tmpfs 24 MiB, mixed", DISK_TMPFS, 24, 0, 1, false, GUARDED, false},
    {"tmpfs 24 MiB, mixed, late", DISK_TMPFS, 24, 0, 1, true, CULEX__SQLITE_WAL_RESET_FIXED, false},
    {"tmpfs 40 MiB, 300 kB, late", DISK_TMPFS, 40, 300000, 1, true, GUARDED, false},
    {"tmpfs 40 MiB, 300 kB, batches", DISK_TMPFS, 40, 300000, 8, false, GUARDED, false},
    {"tmpfs 40 MiB, 300 kB, batches, late", DISK_TMPFS, 40, 300000, 8, true, GUARDED, false},
    {"ext4 32 MiB, 3000 bytes", DISK_EXT4, 32, 3000, 1, false, GUARDED, false},
    {"ext4 32 MiB, 3000 bytes, late", DISK_EXT4, 32, 3000, 1, true, GUARDED, false},
    {"ext4 40 MiB, mixed, batches", DISK_EXT4, 40, 0, 100, false, CULEX__SQLITE_WAL_RESET_FIXED,
     false},
    {"ext4 40 MiB, mixed, batches, late", DISK_EXT4, 40, 0, 100, true, GUARDED, false},
    {"tmpfs 40 MiB, 300 kB, batches, deleted pages kept", DISK_TMPFS, 40, 300000, 8, false, GUARDED,
     true},
    {"ext4 40 MiB, mixed, batches, deleted pages kept", DISK_EXT4, 40, 0, 100, false, GUARDED,
     true},
};

/* -1: all of them. */
static int only_world = -1;

static void test_backlog__fills_its_disk_drains_and_takes_in_again(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < (int)(sizeof worlds / sizeof worlds[0]); i++) {
        if (only_world >= 0 && i != only_world)
            continue;
        if (!disk_mount(fixture, worlds[i].disk, worlds[i].mib)) {
            fprintf(stderr, "%s: cannot be mounted here, left out\n", worlds[i].name);
            continue;
        }
        fill_and_drain(fixture, &worlds[i]);
        disk_unmount(fixture);
    }
}

/* --- runner ---------------------------------------------------------------------------- */

/* usage: test_sqlite_backlog [NUMBER OF A WORLD] */
int main(int argc, char **argv)
{
    if (argc > 1)
        only_world = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_backlog__fills_its_disk_drains_and_takes_in_again,
                                        fixture_setup, fixture_teardown),
    };
    if (disk_begin())
        return cmocka_run_group_tests(tests, NULL, NULL);
    fprintf(stderr, "nothing may be mounted here (%s): full disks are not tested\n",
            strerror(errno));
    return SKIPPED;
}
