/* torn_redis/torn_aof.c - a Redis whose append-only file was cut anywhere.
 *
 *     torn_aof [CUTS [SEED]]
 *
 * A session of every verb writes the file, with appendfsync always. Then, for each cut, the server
 * starts on the first so many bytes. What it holds must be some moment between two operations: the
 * offline checker finds no half transition, FSCK counts nothing, every enqueue that was answered
 * before that byte was written is there, and none that began after it. Some are drained, and
 * every run that is left ends once. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store.h"
#include "redis_check.h"

enum { OPERATIONS = 500, RUNS_MAX = 2000, GRANTS_MAX = 64, DRAIN_EVERY = 10, BATCH_MAX = 6 };

#define QUEUE "q"

struct known_run {
    culex_uuid id;
    int64_t before, after; /* size of the file when its enqueue began and was answered */
};

/* An enqueue call, to be repeated. Its contents count up from `content`. */
struct known_call {
    struct culex_ticket ticket;
    uint64_t content;
    size_t count;
    struct culex_enqueue_result results[BATCH_MAX];
    int64_t before, after, now_ms;
};

struct world {
    struct redis_server server;
    struct culex_env env;
    struct culex_store *store;
    int64_t now_ms;
    uint64_t random, serial, nonce;
    struct culex_ticket ticket; /* the newest */
    struct known_run runs[RUNS_MAX];
    size_t run_count;
    struct known_call calls[OPERATIONS];
    size_t call_count, repeated;
    struct culex_ack grants[GRANTS_MAX];
    size_t grant_count;
    char path[512]; /* of the file */
    char *bytes;
    int64_t size;
};

static int64_t driven_clock(void *self)
{
    return ((struct world *)self)->now_ms;
}

static uint64_t random_next(struct world *world)
{
    uint64_t z = world->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int64_t below(struct world *world, int64_t limit)
{
    return (int64_t)(random_next(world) % (uint64_t)limit);
}

static bool complain(const char *what, culex_status status)
{
    fprintf(stderr, "torn_aof: %s (%s)\n", what, culex_status_name(status));
    return false;
}

/* --- the session ------------------------------------------------------------------------ */

static int64_t file_size(const struct world *world)
{
    struct stat stat_buffer;
    return stat(world->path, &stat_buffer) == 0 ? (int64_t)stat_buffer.st_size : -1;
}

static struct culex_new_run run_make(struct world *world)
{
    static const char payload[300] = "{\"to\":\"somebody\"}";
    static const char *const keys[] = {NULL, NULL, NULL, "aa", "bb", "cc"};
    struct culex_new_run run = {.job = "shop.send",
                                .attempts_max = 3,
                                .keep_success_ms = 86400000,
                                .keep_failure_ms = 86400000,
                                .content = ++world->serial,
                                .tags = "",
                                .payload = payload};
    run.priority = below(world, 3) == 0 ? (int)below(world, 10) : 0;
    run.delay_ms = below(world, 4) == 0 ? below(world, 3000) : 0;
    run.unique_key = keys[below(world, 6)];
    run.unique_while = CULEX_UNIQUE_LIVE;
    run.payload_len = (size_t)below(world, (int64_t)sizeof payload);
    return run;
}

static bool op_enqueue(struct world *world)
{
    struct culex_new_run runs[BATCH_MAX];
    struct known_call *call = &world->calls[world->call_count++];
    struct culex_enqueue_result *results = call->results;
    size_t count = 1 + (size_t)below(world, BATCH_MAX);
    int64_t before = file_size(world);
    call->ticket = culex__ticket_next(&world->ticket, world->now_ms);
    call->content = world->serial + 1;
    call->count = count;
    call->before = before;
    call->now_ms = world->now_ms;
    for (size_t i = 0; i < count; i++)
        runs[i] = run_make(world);
    culex_status status =
        world->store->ops->enqueue(world->store, QUEUE, &call->ticket, runs, count, results, NULL);
    call->after = file_size(world);
    if (status != CULEX_OK)
        return complain("enqueue", status);
    for (size_t i = 0; i < count && world->run_count < RUNS_MAX; i++) {
        if (results[i].outcome == CULEX_ENQUEUED_NEW)
            world->runs[world->run_count++] =
                (struct known_run){results[i].id, before, call->after};
    }
    return true;
}

static void ack_make(struct world *world, struct culex_ack *ack)
{
    static const enum culex_run_event events[] = {
        CULEX_EVENT_DONE, CULEX_EVENT_DONE,    CULEX_EVENT_DONE,    CULEX_EVENT_FAIL,
        CULEX_EVENT_FAIL, CULEX_EVENT_RELEASE, CULEX_EVENT_DISCARD, CULEX_EVENT_CRASH};
    ack->event = events[below(world, 8)];
    ack->delay_ms = ack->event == CULEX_EVENT_FAIL ? below(world, 2000) : 0;
    ack->text = ack->event == CULEX_EVENT_FAIL ? "no answer" : NULL;
    ack->result = ack->event == CULEX_EVENT_DONE ? "{}" : NULL;
    ack->result_len = ack->event == CULEX_EVENT_DONE ? 2 : 0;
}

static void grants_keep(struct world *world, const struct culex_step_reply *reply)
{
    for (size_t i = 0; i < reply->grant_count && world->grant_count < GRANTS_MAX; i++)
        world->grants[world->grant_count++] = (struct culex_ack){
            .id = reply->grants[i].facts.id, .attempt = reply->grants[i].facts.attempt};
}

/* Reports some of what is held, beats the rest, claims. */
static bool op_step(struct world *world)
{
    struct culex_beat beats[GRANTS_MAX];
    struct culex_step_reply reply;
    size_t acked =
        world->grant_count > 0 ? (size_t)below(world, (int64_t)world->grant_count + 1) : 0;
    size_t beaten = world->grant_count - acked;
    for (size_t i = 0; i < acked; i++)
        ack_make(world, &world->grants[beaten + i]);
    for (size_t i = 0; i < beaten; i++)
        beats[i] =
            (struct culex_beat){.id = world->grants[i].id, .attempt = world->grants[i].attempt};
    struct culex_step step = {.queue = QUEUE,
                              .session = "aaaaaaaaaaaaaaaa",
                              .nonce = ++world->nonce,
                              .want = (uint32_t)below(world, 6),
                              .max_bytes = 1 << 20,
                              .lease_ms = 1000,
                              .acks = world->grants + beaten,
                              .ack_count = acked,
                              .beats = beats,
                              .beat_count = beaten};
    culex_status status = world->store->ops->step(world->store, &step, &reply, NULL);
    if (status != CULEX_OK)
        return complain("step", status);
    world->grant_count = beaten;
    grants_keep(world, &reply);
    world->store->ops->step_release(world->store, &reply);
    return true;
}

/* Refusals are as good as successes here: the run may be anything by now. */
static bool op_operate(struct world *world)
{
    struct culex_store *store = world->store;
    culex_run_state state;
    size_t released;
    int64_t now_ms;
    if (world->run_count == 0)
        return true;
    culex_uuid id = world->runs[below(world, (int64_t)world->run_count)].id;
    switch (below(world, 4)) {
    case 0:
        store->ops->hello(store, QUEUE, "host/1",
                          below(world, 2) ? "aaaaaaaaaaaaaaaa" : "bbbbbbbbbbbbbbbb", &released,
                          &now_ms, NULL);
        return true;
    case 1:
        store->ops->retry(store, QUEUE, id, NULL);
        return true;
    default:
        store->ops->cancel(store, QUEUE, id, &state, NULL);
        return true;
    }
}

static bool session_run(struct world *world)
{
    for (int i = 0; i < OPERATIONS; i++) {
        int64_t pick = below(world, 10);
        world->now_ms += below(world, 300);
        if (!(pick < 4 ? op_enqueue(world) : pick < 8 ? op_step(world) : op_operate(world)))
            return false;
    }
    return true;
}

/* --- the file --------------------------------------------------------------------------- */

/* The part that the server appends to. */
static bool file_find(struct world *world)
{
    char folder[128];
    struct dirent *entry;
    snprintf(folder, sizeof folder, "%s/appendonlydir", world->server.folder);
    DIR *open_folder = opendir(folder);
    while (open_folder != NULL && (entry = readdir(open_folder)) != NULL) {
        if (strstr(entry->d_name, ".incr.aof") != NULL)
            snprintf(world->path, sizeof world->path, "%s/%s", folder, entry->d_name);
    }
    if (open_folder != NULL)
        closedir(open_folder);
    return world->path[0] != '\0' || complain("no append-only file", CULEX_OK);
}

static bool file_load(struct world *world)
{
    int fd = open(world->path, O_RDONLY | O_CLOEXEC);
    world->size = file_size(world);
    world->bytes = world->size > 0 ? malloc((size_t)world->size) : NULL;
    bool is_read = fd >= 0 && world->bytes != NULL &&
                   read(fd, world->bytes, (size_t)world->size) == world->size;
    if (fd >= 0)
        close(fd);
    return is_read || complain("the append-only file cannot be read", CULEX_OK);
}

static bool file_cut(struct world *world, int64_t size)
{
    int fd = open(world->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    bool is_written = fd >= 0 && write(fd, world->bytes, (size_t)size) == size;
    if (fd >= 0)
        close(fd);
    return is_written || complain("the append-only file cannot be cut", CULEX_OK);
}

/* --- what the server makes of it ---------------------------------------------------------- */

static bool fsck_is_clean(struct world *world, bool is_repairing)
{
    struct culex_fsck_reply reply = {.cursor = 0};
    uint64_t bad = 0;
    do {
        culex_status status =
            world->store->ops->fsck(world->store, QUEUE, reply.cursor, is_repairing, &reply, NULL);
        if (status != CULEX_OK)
            return complain("fsck", status);
        bad += reply.counts.wrong + reply.counts.damaged;
    } while (reply.cursor != 0);
    return bad == 0 || complain("fsck finds something wrong", CULEX_OK);
}

/* Those answered by then are there; those that began later are not. In between, nobody knows. */
static bool runs_are_there(struct world *world, int64_t size)
{
    for (size_t i = 0; i < world->run_count; i++) {
        const struct known_run *known = &world->runs[i];
        culex_run_info *info = NULL;
        bool is_near = known->after > size - 4096 && known->before < size + 4096;
        if (!is_near && below(world, 20) != 0)
            continue;
        culex_status status = world->store->ops->get(world->store, QUEUE, known->id, &info, NULL);
        culex_run_info_free(info);
        if (status != CULEX_OK && status != CULEX_ENOTFOUND)
            return complain("get", status);
        if (known->after <= size && status != CULEX_OK)
            return complain("an acknowledged run is gone", status);
        if (known->before >= size && status == CULEX_OK)
            return complain("a run is there before it was enqueued", status);
    }
    return true;
}

/* The first run that the call brought, NULL for none. */
static const culex_uuid *run_brought(const struct known_call *call)
{
    for (size_t i = 0; i < call->count; i++) {
        if (call->results[i].outcome == CULEX_ENQUEUED_NEW)
            return &call->results[i].id;
    }
    return NULL;
}

static bool run_is_there(struct world *world, const culex_uuid *id)
{
    culex_run_info *info = NULL;
    culex_status status = world->store->ops->get(world->store, QUEUE, *id, &info, NULL);
    culex_run_info_free(info);
    return status == CULEX_OK;
}

/* The newest call that brought a run and is in the file; NULL for none. */
static const struct known_call *call_last(struct world *world, int64_t size)
{
    for (size_t i = world->call_count; i > 0; i--) {
        const culex_uuid *id = run_brought(&world->calls[i - 1]);
        if (id != NULL && world->calls[i - 1].before < size && run_is_there(world, id))
            return &world->calls[i - 1];
    }
    return NULL;
}

/* Its producer got no answer, let us say, and asks once more: it gets the same. */
static bool call_is_repeated(struct world *world, int64_t size)
{
    const struct known_call *call = call_last(world, size);
    struct culex_new_run runs[BATCH_MAX];
    struct culex_enqueue_result results[BATCH_MAX];
    int64_t now_ms = world->now_ms;
    for (size_t i = 0; call != NULL && i < call->count; i++)
        runs[i] = (struct culex_new_run){.job = "shop.send",
                                         .attempts_max = 1,
                                         .content = call->content + i,
                                         .tags = "",
                                         .payload = "{}",
                                         .payload_len = 2};
    if (call == NULL)
        return true;
    world->now_ms = call->now_ms;
    culex_status status = world->store->ops->enqueue(world->store, QUEUE, &call->ticket, runs,
                                                     call->count, results, NULL);
    world->now_ms = now_ms;
    world->repeated++;
    if (status != CULEX_OK || memcmp(results, call->results, call->count * sizeof *results) != 0)
        return complain("a repeated call is answered in another way", status);
    return true;
}

/* Claims and ends everything; the number of runs done so. False when there is no end to it. */
static bool drain(struct world *world, uint64_t *ret_done)
{
    struct culex_ack acks[16];
    size_t ack_count = 0;
    uint64_t done = 0;
    world->now_ms += 3600000;
    for (int calls = 0; calls < 1000; calls++) {
        struct culex_step_reply reply;
        struct culex_step step = {.queue = QUEUE,
                                  .session = "cccccccccccccccc",
                                  .nonce = ++world->nonce,
                                  .want = 16,
                                  .max_bytes = 1 << 20,
                                  .lease_ms = 60000,
                                  .acks = acks,
                                  .ack_count = ack_count};
        if (world->store->ops->step(world->store, &step, &reply, NULL) != CULEX_OK)
            return false;
        bool is_empty = reply.is_empty;
        ack_count = reply.grant_count;
        for (size_t i = 0; i < ack_count; i++)
            acks[i] = (struct culex_ack){.id = reply.grants[i].facts.id,
                                         .attempt = reply.grants[i].facts.attempt,
                                         .event = CULEX_EVENT_DONE};
        done += ack_count;
        world->store->ops->step_release(world->store, &reply);
        if (is_empty) {
            *ret_done = done;
            return true;
        }
    }
    return false;
}

/* A run whose cancellation was asked for ends cancelled when its lease is over. */
/* Zeroes when the cut has left nothing of the queue. */
static bool stats_read(struct world *world, culex_queue_stats *ret_stats)
{
    *ret_stats = (culex_queue_stats){.enqueued = 0};
    culex_status status = world->store->ops->stats(world->store, QUEUE, ret_stats, NULL);
    return status == CULEX_OK || status == CULEX_ENOTFOUND ||
           complain("the queue cannot be counted", status);
}

static bool drain_is_whole(struct world *world)
{
    culex_queue_stats before, after;
    int64_t now_ms = world->now_ms;
    uint64_t done = 0;
    if (!stats_read(world, &before))
        return false;
    if (!drain(world, &done))
        return complain("the queue cannot be drained", CULEX_OK);
    if (!stats_read(world, &after))
        return false;
    world->now_ms = now_ms;
    uint64_t live = before.count[CULEX_RUN_SCHEDULED] + before.count[CULEX_RUN_WAITING] +
                    before.count[CULEX_RUN_ACTIVE];
    uint64_t ended = done + (after.cancelled - before.cancelled) + (after.dead - before.dead);
    if (ended != live)
        return complain("a drain lost runs, or ended some twice", CULEX_OK);
    return redis_check(&world->server, "culex", QUEUE);
}

static bool store_open(struct world *world)
{
    culex_error error = {.text = ""};
    struct culex_store_options options = {.timeout_ms = 5000};
    if (culex__store_open(world->server.url, &options, &world->env, &world->store, &error) ==
        CULEX_OK)
        return true;
    return complain(error.text, error.code);
}

static void store_close(struct world *world)
{
    if (world->store != NULL)
        world->store->ops->close(world->store);
    world->store = NULL;
}

static bool cut_is_survived(struct world *world, int64_t size, bool is_drained)
{
    redis_server_kill(&world->server);
    if (!file_cut(world, size))
        return false;
    if (!redis_server_restart(&world->server))
        return complain("the server does not start", CULEX_OK);
    bool is_good = store_open(world) && redis_check(&world->server, "culex", QUEUE) &&
                   fsck_is_clean(world, false) && runs_are_there(world, size) &&
                   call_is_repeated(world, size) && fsck_is_clean(world, true) &&
                   (!is_drained || drain_is_whole(world));
    store_close(world);
    return is_good;
}

static bool world_run(struct world *world, long cuts)
{
    if (!file_find(world) || !store_open(world) || !session_run(world))
        return false;
    store_close(world);
    redis_server_kill(&world->server);
    if (!file_load(world))
        return false;
    for (long i = 0; i < cuts; i++) {
        int64_t size = i == 0 ? world->size : i == 1 ? 0 : below(world, world->size + 1);
        if (!cut_is_survived(world, size, i % DRAIN_EVERY == 0)) {
            fprintf(stderr, "torn_aof: cut %ld at byte %" PRId64 " of %" PRId64 "\n", i, size,
                    world->size);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    static const char *const words[] = {"--appendonly",
                                        "yes",
                                        "--appendfsync",
                                        "always",
                                        "--aof-load-truncated",
                                        "yes",
                                        "--auto-aof-rewrite-percentage",
                                        "0",
                                        NULL};
    static struct world world;
    long cuts = argc > 1 ? strtol(argv[1], NULL, 10) : 150;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    if (!redis_server_start(&world.server, words)) {
        fprintf(stderr, "skipped: no redis-server can be started here\n");
        return 77;
    }
    world.env = *culex__env_system();
    world.env.self = &world;
    world.env.store_clock_ms = driven_clock;
    world.now_ms = INT64_C(1800000000000);
    world.ticket.producer = 7;
    world.random = seed;
    bool is_good = world_run(&world, cuts);
    if (is_good && world.repeated < (size_t)cuts / 2)
        is_good = complain("hardly any call was repeated", CULEX_OK);
    store_close(&world);
    redis_server_stop(&world.server);
    free(world.bytes);
    if (is_good)
        printf("torn_aof: seed %" PRIu64 ": %zu runs, %ld cuts of %" PRId64
               " bytes survived, %zu calls repeated\n",
               seed, world.run_count, cuts, world.size, world.repeated);
    else
        fprintf(stderr, "torn_aof: seed %" PRIu64 " failed\n", seed);
    return is_good ? 0 : 1;
}
